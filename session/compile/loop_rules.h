/* loop_rules.h -- fusion rules: which kernels may follow each other in one loop over tiles.
 * fuse.c builds such loops from the instructions of a plan; recompute.c predicts them from its
 * IR. */
#ifndef EDDY_SESSION_COMPILE_LOOP_RULES_H
#define EDDY_SESSION_COMPILE_LOOP_RULES_H

#include "graph/op.h"
#include "ops/kernels/reduction/reduce_engine.h"

/* Operands of a kernel; operands of a loop that have fewer elements than the loop. */
enum { LOOP_OPERANDS = 5, LOOP_SPREADS = 24 };

/* Properties of the kernels in a loop so far; zero before the first. */
typedef struct tile_loop {
    int64_t count, block;           /* elements; length of a reduction's block, or 0 */
    int     broadcasts;             /* operands with fewer elements */
    bool    updated, fallible;      /* a variable is; an element may be impossible */
} tile_loop;

/* True if the loop can include this kernel; then updates `l`. Reads only its op, its
 * attributes, and the types and counts of its buffers. `in_variable`: the op is EDDY_OP_UPDATES
 * and its result is in the variable's memory. */
bool eddy__loop_takes(tile_loop *l, const eddy_kernel *k, bool in_variable);

/* The op can be part of a loop only as a reduction, whose result exists when the loop ends. */
static inline bool eddy__may_fold(const eddy_op_def *op)
{
    return op->folds && !(op->flags & (EDDY_OP_ELEMENTWISE | EDDY_OP_UPDATES));
}
/* True for a reduction of all elements of its operand, or of all of its rows; then sets its
 * blocks. */
bool eddy__is_fold(const eddy_kernel *k, eddy_blocks *b);

#endif
