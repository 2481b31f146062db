/* fused_loop.h -- several instructions as one loop over tiles: fuse.c builds it, fused_loop.c
 * runs it. */
#ifndef EDDY_SESSION_COMPILE_FUSED_LOOP_H
#define EDDY_SESSION_COMPILE_FUSED_LOOP_H

#include "session/state/internal.h"
#include "session/compile/loop_rules.h"
#include "ops/kernels/elementwise/elementwise.h"

/* Where elements are: in memory, or in the tile's registers. */
typedef struct location {
    const eddy_buffer *memory;      /* NULL: in registers */
    size_t             offset;      /* of the register in a worker's memory */
    size_t             size;        /* of one element */
} location;

/* An operand with fewer elements, brought to the tile's. */
typedef struct broadcast {
    const eddy_buffer *from;
    eddy_shape         result;
    eddy_expansion     expansion;
    location           to;
    int64_t            period;  /* number of elements after which the result repeats; 0: it does not */
    bool               once;        /* every tile has the same elements */
} broadcast;

/* One instruction of the loop: `fn` computes a tile, a reduction consumes it. */
typedef struct part {
    eddy_tile_fn fn;                /* NULL: a reduction */
    const void  *attrs;
    int          n;
    location     y, x[LOOP_OPERANDS];
    instruction *of;
    eddy_state  *updates;           /* the variable that the part updates; or NULL */
    const instruction *assign;      /* assigns the result to the variable whose memory y is; or NULL */
    eddy_blocks  blocks;            /* of a reduction */
    size_t       acc, parts;        /* ... offsets: in a worker's scratch; in the common one */
} part;

/* Workers take chunks, which consist of whole tiles and of whole blocks of all reductions. The
 * scratch memory has common_bytes, followed by worker_bytes for each worker. */
typedef struct fused {
    int        n_parts, n_broadcasts, n_reductions;
    part      *parts;
    broadcast *broadcasts;
    int64_t    count, tile, chunk;
    size_t     common_bytes, worker_bytes;
    bool       updates;        /* it updates variables; then no part can fail because of its data */
    location  *streams;          /* operands and results in memory that are prefetched, each once */
    int        n_streams;
} fused;

/* True if the part gives its variable a value, whether or not the variable had one. */
static inline bool eddy__part_replaces(const part *p)
{
    return p->updates && (p->assign || p->of->kernel.op->flags & EDDY_OP_REPLACES);
}

/* Lets the parts whose results are assigned to variables, and are not needed after the loop,
 * write the variables themselves, and drops those Assigns. `end`: one more than the index of the
 * loop's last instruction. To be called while the offsets of registers are still their numbers. */
void eddy__assign_directly(const eddy_plan *p, fused *f, int32_t end);

/* The kernel of a fused instruction; kernel.state is a `fused`. */
eddy_status eddy__fused_kernel(eddy_kernel *k);

#endif
