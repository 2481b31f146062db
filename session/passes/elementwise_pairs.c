/* elementwise_pairs.c -- fuses two elementwise operations into one loop if only the second reads
 * the first, also a comparison and the choice by it (ops/math/fused_elementwise_pairs.c). */
#include "session/passes/passes.h"
#include "graph/base/dtype.h"
#include "ops/math/fused_elementwise_pairs.h"
#include "ops/weak_ops.h"

/* The number of an operation as the second of a pair whose first result is its operand `side`; -1:
 * none. Of zeros with different signs a minimum and a maximum yield operand 0. */
static int64_t pair_second(const eddy_op_def *op, int side)
{
    if (op == &eddy_op_add) return EDDY_PAIR_ADD;
    if (op == &eddy_op_mul) return EDDY_PAIR_MUL;
    if (op == &eddy_op_minimum && side == 0) return EDDY_PAIR_MIN;
    if (op == &eddy_op_maximum && side == 0) return EDDY_PAIR_MAX;
    if (op == &eddy_op_sub) return side == 0 ? EDDY_PAIR_SUB : EDDY_PAIR_SUB_FROM;
    if (op == &eddy_op_div) return side == 0 ? EDDY_PAIR_DIV : EDDY_PAIR_DIV_INTO;
    return -1;
}

static int64_t pair_first(const eddy_op_def *op)
{
    if (op == &eddy_op_add) return EDDY_PAIR_ADD;
    if (op == &eddy_op_sub) return EDDY_PAIR_SUB;
    if (op == &eddy_op_minimum) return EDDY_PAIR_MIN;
    if (op == &eddy_op_maximum) return EDDY_PAIR_MAX;
    return op == &eddy_op_mul || op == &eddy_op_square ? EDDY_PAIR_MUL : -1;
}

static bool pair_with(rewrite *r, int side)
{
    const ir_node *n = r->node, *g = eddy__ir_node(r->ir, n->inputs[side]);
    const eddy_pair_attrs p = { pair_first(g->op), pair_second(n->op, side) };
    if (!eddy__pair_exists(p) || g->values || g->readers != 1 || g->n_controls > 0 ||
        !eddy_shape_equal(g->outputs[0].shape, n->outputs[0].shape))
        return false;
    const eddy_tensor x[] = { g->inputs[0], g->inputs[g->n_inputs - 1], n->inputs[1 - side] };
    r->y[0] = eddy__rewrite_add(r, &eddy_op_pair, &p, 3, x);
    return eddy__ir_valid(r->y[0]);
}

/* The number of a comparison whose result chooses, and whether its operands, or the two choices,
 * change places; false for another operation. */
static bool choice_of(const eddy_op_def *op, eddy_choice_attrs *p, bool *swap, bool *invert)
{
    *swap = op == &eddy_op_greater || op == &eddy_op_greater_equal;
    *invert = op == &eddy_op_not_equal;
    if (op == &eddy_op_less || op == &eddy_op_greater) p->test = EDDY_CHOICE_LESS;
    else if (op == &eddy_op_less_equal || op == &eddy_op_greater_equal)
        p->test = EDDY_CHOICE_AT_MOST;
    else if (op == &eddy_op_equal || op == &eddy_op_not_equal) p->test = EDDY_CHOICE_EQUAL;
    else return false;
    return true;
}

static bool choose(rewrite *r)
{
    const ir_node    *n = r->node, *g = eddy__ir_node(r->ir, n->inputs[0]);
    eddy_choice_attrs p;
    bool              swap, invert;
    if (!choice_of(g->op, &p, &swap, &invert) || g->values || g->readers != 1 ||
        g->n_controls > 0 || !eddy_shape_equal(g->outputs[0].shape, n->outputs[0].shape) ||
        eddy__ir_type(r->ir, g->inputs[0]).dtype != n->outputs[0].dtype)
        return false;
    const eddy_tensor x[] = { g->inputs[swap], g->inputs[!swap], n->inputs[1 + invert],
                              n->inputs[2 - invert] };
    r->y[0] = eddy__rewrite_add(r, &eddy_op_choice, &p, 4, x);
    return eddy__ir_valid(r->y[0]);
}

bool eddy__pair_up(rewrite *r)
{
    if (!eddy__dtype_is_float(r->node->outputs[0].dtype)) return false;
    if (r->node->op == &eddy_op_where) return choose(r);
    return r->node->n_inputs == 2 && (pair_with(r, 0) || pair_with(r, 1));
}
