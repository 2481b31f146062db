/* elementwise_chains.c -- fuses elementwise operations into one loop if each is the only reader of
 * the one before, also a comparison and the choice by it (ops/math/fused_elementwise.c). */
#include "session/passes/passes.h"
#include "graph/base/dtype.h"
#include "ops/math/fused_elementwise.h"
#include "ops/weak_ops.h"

/* The number of an operation as a step that follows its operand `side`, or END. Of zeros with
 * different signs a minimum and a maximum yield operand 0. */
static int step_of(const eddy_op_def *op, int side)
{
    if (op == &eddy_op_add) return EDDY_CHAIN_ADD;
    if (op == &eddy_op_mul) return EDDY_CHAIN_MUL;
    if (op == &eddy_op_minimum && side == 0) return EDDY_CHAIN_MIN;
    if (op == &eddy_op_maximum && side == 0) return EDDY_CHAIN_MAX;
    if (op == &eddy_op_sub) return side == 0 ? EDDY_CHAIN_SUB : EDDY_CHAIN_SUB_FROM;
    if (op == &eddy_op_div) return side == 0 ? EDDY_CHAIN_DIV : EDDY_CHAIN_DIV_INTO;
    if (op == &eddy_op_neg) return EDDY_CHAIN_NEG;
    if (op == &eddy_op_square) return EDDY_CHAIN_SQUARE;
    return op == &eddy_op_sqrt ? EDDY_CHAIN_SQRT : EDDY_CHAIN_END;
}

typedef struct chain {
    uint64_t    steps;
    int         length, n;          /* steps and operands */
    eddy_tensor x[EDDY_CHAIN_OPERANDS];
} chain;

/* Adds a step, which reads as many of x as its operation has operands; false without room. */
static bool add_step(chain *c, int op, const eddy_tensor *x)
{
    chain    longer = *c;
    uint64_t step = (uint64_t)op;
    if (op == EDDY_CHAIN_END || c->length == EDDY_CHAIN_MOST) return false;
    for (int i = 0; i < eddy__chain_reads(op); i++) {
        int k = 0;
        while (k < longer.n && !eddy_same(longer.x[k], x[i])) k++;
        if (k == EDDY_CHAIN_OPERANDS) return false;
        if (k == longer.n) longer.x[longer.n++] = x[i];
        step |= (uint64_t)k << (4 + 3 * i);
    }
    longer.steps |= step << longer.length++ * EDDY_CHAIN_BITS;
    *c = longer;
    return true;
}

/* The node as a chain of its own; false if it cannot be one. */
static bool as_chain(const ir_node *n, chain *c)
{
    const int op = step_of(n->op, 0);
    *c = (chain){ 0 };
    if (n->op == &eddy_op_chain) {
        c->steps = (uint64_t)((const eddy_chain_attrs *)n->attrs)->steps;
        for (uint64_t s = c->steps; s > 0; s >>= EDDY_CHAIN_BITS) c->length++;
        for (; c->n < n->n_inputs; c->n++) c->x[c->n] = n->inputs[c->n];
        return true;
    }
    if (op == EDDY_CHAIN_END) return false;
    c->x[c->n++] = n->inputs[0];
    return add_step(c, op, &n->inputs[n->n_inputs - 1]);
}

/* The node of operand `side` of r->node, if it can become a part of r->node; else NULL. */
static const ir_node *part_of(const rewrite *r, int side)
{
    const ir_node *n = r->node, *g = eddy__ir_node(r->ir, n->inputs[side]);
    return !g->values && g->readers == 1 && g->n_controls == 0 && g->n_outputs == 1 &&
           eddy_shape_equal(g->outputs[0].shape, n->outputs[0].shape) ? g : NULL;
}

/* The chain of operand `side` of r->node and of r->node itself, and of a product that is its other
 * operand. */
static bool follow(const rewrite *r, int side, chain *c)
{
    const ir_node *n = r->node, *g = part_of(r, side);
    const int      op = step_of(n->op, side), other = n->n_inputs - 1 - side;
    if (!g || !as_chain(g, c)) return false;
    const bool     takes = op >= EDDY_CHAIN_ADD && op <= EDDY_CHAIN_DIV_INTO;
    const ir_node *by = takes ? part_of(r, other) : NULL;
    if (by && by->op == &eddy_op_mul &&
        add_step(c, op - EDDY_CHAIN_ADD + EDDY_CHAIN_ADD_PRODUCT, by->inputs))
        return true;
    return add_step(c, op, &n->inputs[other]);
}

/* Of two operands that can be chains, the longer one. */
static bool extend(rewrite *r)
{
    chain      c, other;
    const bool first = follow(r, 0, &c);
    const bool second = r->node->n_inputs == 2 && follow(r, 1, &other);
    if (!first && !second) return false;
    if (second && (!first || other.length > c.length)) c = other;
    const eddy_chain_attrs a = { (int64_t)c.steps };
    r->y[0] = eddy__rewrite_add(r, &eddy_op_chain, &a, c.n, c.x);
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

bool eddy__chain_up(rewrite *r)
{
    if (!eddy__dtype_is_float(r->node->outputs[0].dtype)) return false;
    if (r->node->op == &eddy_op_where) return choose(r);
    return step_of(r->node->op, 0) != EDDY_CHAIN_END && extend(r);
}
