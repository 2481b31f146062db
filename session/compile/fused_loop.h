/* fused_loop.h -- several instructions as one loop over tiles: fuse.c builds it, fused_loop.c
 * runs it. */
#ifndef EDDY_SESSION_COMPILE_FUSED_LOOP_H
#define EDDY_SESSION_COMPILE_FUSED_LOOP_H

#include "session/state/internal.h"
#include "session/compile/loop_rules.h"
#include "ops/kernels/elementwise/elementwise.h"

/* Where elements are: in memory, or in the tile's registers, which take less than 4 GiB: a loop has
 * at most 2^14 parts, and long tiles only if it has few registers. */
typedef struct location {
    const eddy_buffer *memory;      /* NULL: in registers */
    uint32_t           offset;      /* of the register in a worker's memory */
    uint32_t           size;        /* of one element */
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

/* A reduction, and where it accumulates: offsets in a worker's scratch, and in the common one. */
typedef struct fold {
    eddy_blocks blocks;
    uint64_t    acc, parts;
} fold;

/* An update of a variable: its op, with the buffers of its operands and of its result. */
typedef struct loop_update {
    eddy_state          *variable;
    const eddy_op_def   *op;
    eddy_buffer *const  *at;
} loop_update;

/* One instruction of the loop: `fn` computes a tile, a reduction consumes it. A plan may have
 * millions, so a part holds only what every part needs. */
typedef struct part {
    eddy_tile_fn        fn;         /* NULL: a reduction */
    const eddy_op_def  *op;
    const void         *attrs;
    const eddy_node    *node;       /* for messages */
    eddy_buffer *const *at;         /* the op's n_in operands, and then its result */
    int                 n_in, n;    /* n: the operands of which the loop reads elements */
    location            y, x[LOOP_OPERANDS];
    loop_update        *update;     /* by the part, or, if its `at` is another's, by an Assign of
                                     * the result that was dropped; NULL: none */
    fold               *fold;       /* of a reduction; else NULL */
    const struct eddy_finite_test *tested;  /* how the result is tested in each tile; NULL: not */
} part;

/* Workers take chunks, which consist of whole tiles and of whole blocks of all reductions. The
 * scratch memory has common_bytes, followed by worker_bytes for each worker. */
typedef struct fused {
    int        n_parts, n_broadcasts, n_reductions;
    part      *parts;
    broadcast *broadcasts;
    int64_t    count, tile, chunk;
    uint64_t   common_bytes, worker_bytes;
    bool       updates;        /* it updates variables; then no part can fail because of its data */
    struct loop_checks *checks; /* of the results (fused_checks.h); NULL: none */
    location  *streams;          /* operands and results in memory that are prefetched, each once */
    int        n_streams;
} fused;

/* True if the part gives its variable a value, whether or not the variable had one. */
static inline bool eddy__part_replaces(const part *p)
{
    return p->update && (p->update->op->flags & EDDY_OP_REPLACES);
}
/* True if an Assign of the part's result was dropped: y is the variable's memory. */
static inline bool eddy__part_assigns(const part *p)
{
    return p->update && p->update->at != p->at;
}
static inline eddy_buffer *eddy__part_result(const part *p) { return p->at[p->n_in]; }

/* Makes the part an instruction of its own, as it was before it became part of the loop `k`. */
void eddy__part_alone(const part *p, const eddy_kernel *k, instruction *to);

/* Lets the parts whose results are assigned to variables, and are not needed after the loop,
 * write the variables themselves, and drops those Assigns. `end`: one more than the index of the
 * loop's last instruction. To be called while the offsets of registers are still their numbers. */
void eddy__assign_directly(const eddy_plan *p, fused *f, int32_t end);

/* The kernel of a fused instruction; kernel.state is a `fused`. */
eddy_status eddy__fused_kernel(eddy_kernel *k);

#endif
