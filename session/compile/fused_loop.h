/* fused_loop.h -- several instructions as one loop over tiles: fuse.c builds it, fused_loop.c
 * runs it. */
#ifndef EDDY_SESSION_COMPILE_FUSED_LOOP_H
#define EDDY_SESSION_COMPILE_FUSED_LOOP_H

#include "session/state/internal.h"
#include "session/compile/loop_rules.h"
#include "ops/kernels/elementwise/elementwise.h"

/* Where elements are: in memory, or in the tile's registers. */
typedef struct place {
    const eddy_buffer *memory;      /* NULL: in registers */
    size_t             offset;      /* of the register */
    size_t             size;        /* of an element */
} place;

/* An operand with fewer elements, brought to the tile's. */
typedef struct spread {
    const eddy_buffer *from;
    eddy_shape         result;
    eddy_expansion     expansion;
    place              to;
    int64_t            period;      /* of its elements in the result; 0: they do not repeat */
    bool               once;        /* every tile has the same elements */
} spread;

/* One instruction: fn on a tile; or a sum, say, that takes the tile in. */
typedef struct part {
    eddy_tile_fn fn;                /* NULL: a fold */
    const void  *attrs;
    int          n;
    place        y, x[LOOP_OPERANDS];
    instruction *of;
    eddy_state  *updates;           /* of the variable that it updates; or NULL */
    eddy_blocks  blocks;            /* of a fold */
    size_t       acc, parts;        /* ... offsets: in a worker's scratch; in the common one */
} part;

/* Workers take chunks, of whole tiles and of whole blocks of all folds.  Scratch is
 * common_bytes and then worker_bytes for each worker. */
typedef struct fused {
    int     n_parts, n_spreads, n_folds;
    part   *parts;
    spread *spreads;
    int64_t count, tile, chunk;
    size_t  common_bytes, worker_bytes;
    bool    updates;                /* variables: then no part can fail on an element */
    place  *streams;                /* what lies in memory, each once, where it is long */
    int     n_streams;
} fused;

/* As the kernel of such an instruction; its state is a fused. */
eddy_status eddy__fused_kernel(eddy_kernel *k);

#endif
