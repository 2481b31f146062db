/* elementwise_pairs.c -- fuses two elementwise operations into one loop if only the second reads
 * the first (ops/math/fused_elementwise_pairs.c). */
#include "session/passes/passes.h"
#include "graph/base/dtype.h"
#include "ops/math/fused_elementwise_pairs.h"
#include "ops/weak_ops.h"

/* The number of an operation as the second of a pair whose result is its operand `side`; -1:
 * none. */
static int64_t pair_second(const eddy_op_def *op, int side)
{
    if (op == &eddy_op_add) return EDDY_PAIR_ADD;
    if (op == &eddy_op_mul) return EDDY_PAIR_MUL;
    if (op == &eddy_op_sub) return side == 0 ? EDDY_PAIR_SUB : EDDY_PAIR_SUB_FROM;
    if (op == &eddy_op_div) return side == 0 ? EDDY_PAIR_DIV : EDDY_PAIR_DIV_INTO;
    return -1;
}

static int64_t pair_first(const eddy_op_def *op)
{
    if (op == &eddy_op_add) return EDDY_PAIR_ADD;
    if (op == &eddy_op_sub) return EDDY_PAIR_SUB;
    return op == &eddy_op_mul || op == &eddy_op_square ? EDDY_PAIR_MUL : -1;
}

static bool pair_with(rewrite *r, int side)
{
    const ir_node *n = r->node, *g = eddy__ir_node(r->ir, n->inputs[side]);
    const eddy_pair_attrs p = { pair_first(g->op), pair_second(n->op, side) };
    if (p.first < 0 || p.second < 0 || g->values || g->readers != 1 || g->n_controls > 0 ||
        !eddy_shape_equal(g->outputs[0].shape, n->outputs[0].shape))
        return false;
    const eddy_tensor x[] = { g->inputs[0], g->inputs[g->n_inputs - 1], n->inputs[1 - side] };
    r->y[0] = eddy__rewrite_add(r, &eddy_op_pair, &p, 3, x);
    return eddy__ir_valid(r->y[0]);
}

bool eddy__pair_up(rewrite *r)
{
    const eddy_dtype d = r->node->outputs[0].dtype;
    if (r->node->n_inputs != 2 || !eddy__dtype_is_float(d)) return false;
    return pair_with(r, 0) || pair_with(r, 1);
}
