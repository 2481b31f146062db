/* simplify.c -- algebraic simplification: replaces nodes whose value exists already, or is
 * cheaper to compute in another form.
 *
 * No rule here changes a result by more than its last bits, or the sign of a zero, and NaN stays
 * NaN: x 0 is not 0, and x - x is not 0. */
#include "session/passes/match.h"
#include "ops/arrays/transpose.h"
#include "ops/kernels/elementwise/elementwise.h"
#include "ops/reduce/reductions.h"
#include "ops/weak_ops.h"

#include <string.h>

static eddy_tensor input(const rewrite *r, int i) { return r->node->inputs[i]; }

/* The node that computes input i. */
static const ir_node *producer(const rewrite *r, int i)
{
    return eddy__ir_node(r->ir, input(r, i));
}

/* If input i is the output of `op`, the input of that node; else invalid. A node that waits for
 * an update is not skipped, because it reads the updated value. */
static eddy_tensor argument(const rewrite *r, int i, const eddy_op_def *op)
{
    const ir_node *n = eddy__match(r, input(r, i), op);
    return n ? n->inputs[0] : EDDY_NO_TENSOR;
}

static bool replace_unary(rewrite *r, const eddy_op_def *op, eddy_tensor a)
{
    return eddy__give(r, eddy__make1(r, op, a));
}

static bool replace_binary(rewrite *r, const eddy_op_def *op, eddy_tensor a, eddy_tensor b)
{
    return eddy__give(r, eddy__make2(r, op, a, b));
}

static bool is_storage(const rewrite *r, int i)
{
    return producer(r, i)->variable >= 0 && input(r, i).output == STORAGE;
}

/* True if all elements of input i equal v. */
static bool is_constant_number(const rewrite *r, int i, double v)
{
    return eddy__ir_is_filled(r->ir, input(r, i), v);
}

/* ------------------------------------------------------------- arithmetic -- */

static bool add_rule(rewrite *r)
{
    if (is_constant_number(r, 1, 0) && eddy__give(r, input(r, 0))) return true;
    if (is_constant_number(r, 0, 0) && eddy__give(r, input(r, 1))) return true;
    for (int i = 1; i >= 0; i--)
        if (replace_binary(r, &eddy_op_sub, input(r, 1 - i), argument(r, i, &eddy_op_neg)))
            return true;
    return false;
}

static bool sub_rule(rewrite *r)
{
    if (is_constant_number(r, 1, 0)) return eddy__give(r, input(r, 0));
    return replace_binary(r, &eddy_op_add, input(r, 0), argument(r, 1, &eddy_op_neg));
}

static bool mul_rule(rewrite *r)
{
    for (int i = 0; i < 2; i++) {
        if (is_constant_number(r, i, 1) && eddy__give(r, input(r, 1 - i))) return true;
        if (is_constant_number(r, i, -1) && replace_unary(r, &eddy_op_neg, input(r, 1 - i)))
            return true;
        if (eddy_dtype_is_floating(r->node->outputs[0].dtype) &&
            replace_binary(r, &eddy_op_div, input(r, 1 - i), argument(r, i, &eddy_op_reciprocal)))
            return true;
    }
    return replace_binary(r, &eddy_op_mul, argument(r, 0, &eddy_op_neg),
                          argument(r, 1, &eddy_op_neg));
}

/* 1 / c is exact for a power of two. */
static bool is_power_of_two(double v)
{
    union { double d; uint64_t bits; } u = { .d = v };
    const int exponent = (int)(u.bits >> 52 & 0x7ff);
    return (u.bits & 0xfffffffffffffu) == 0 && exponent > 1023 - 100 && exponent < 1023 + 100;
}

static bool div_rule(rewrite *r)
{
    const eddy_dtype d = r->node->outputs[0].dtype;
    if (is_constant_number(r, 1, 1)) return eddy__give(r, input(r, 0));
    if (!eddy_dtype_is_floating(d)) return false;
    const eddy_tensor divided = argument(r, 1, &eddy_op_reciprocal);
    if (eddy__ir_valid(divided)) return replace_binary(r, &eddy_op_mul, input(r, 0), divided);
    if (is_constant_number(r, 0, 1)) return replace_unary(r, &eddy_op_reciprocal, input(r, 1));
    const eddy_array *c = eddy__ir_value(r->ir, input(r, 1));
    if (!c || eddy_array_count(c) != 1 || !is_power_of_two(eddy_array_get(c, 0))) return false;
    return replace_binary(r, &eddy_op_mul, input(r, 0),
                          eddy__ir_scalar(r->ir, r->node->source, d, 1 / eddy_array_get(c, 0)));
}

static bool pow_rule(rewrite *r)
{
    if (!eddy_dtype_is_floating(r->node->outputs[0].dtype)) return false;
    if (is_constant_number(r, 1, 1)) return eddy__give(r, input(r, 0));
    if (is_constant_number(r, 1, 2)) return replace_unary(r, &eddy_op_square, input(r, 0));
    return is_constant_number(r, 1, -1) && replace_unary(r, &eddy_op_reciprocal, input(r, 0));
}

/* f(f(x)) = x. */
static bool twice_rule(rewrite *r)
{
    return eddy__give(r, argument(r, 0, r->node->op));
}

static bool square_rule(rewrite *r)
{
    return replace_unary(r, &eddy_op_square, argument(r, 0, &eddy_op_neg)) ||
           replace_unary(r, &eddy_op_square, argument(r, 0, &eddy_op_abs));
}

static bool reciprocal_rule(rewrite *r)
{
    return twice_rule(r) || replace_unary(r, &eddy_op_rsqrt, argument(r, 0, &eddy_op_sqrt));
}

/* A sum of at most 8 tensors becomes sums of two, which fuse with other elementwise operations;
 * zeros are omitted. */
static bool add_n_rule(rewrite *r)
{
    enum { FEW = 8 };
    const ir_node *n = r->node;
    eddy_tensor    sum = { 0 };
    if (n->n_inputs > FEW) return false;
    for (int i = 0; i < n->n_inputs; i++) {
        if (is_constant_number(r, i, 0)) continue;
        sum = eddy__ir_valid(sum) ? eddy__make2(r, &eddy_op_add, sum, input(r, i)) : input(r, i);
        if (!eddy__ir_valid(sum)) return false;
    }
    return eddy__give(r, eddy__ir_valid(sum) ? sum : input(r, 0));
}

/* ----------------------------------------------------------------- shapes -- */

/* The same elements as a constant of another shape. */
static bool constant_rule(rewrite *r, const eddy_array *a)
{
    enum { FEW_BYTES = 4096 };
    eddy_array *copy = NULL;
    if (eddy_array_bytes(a) > FEW_BYTES) return false;
    copy = eddy_array_new_in(&r->ir->c->session->allocator, eddy_array_dtype(a),
                             r->node->outputs[0].shape);
    if (copy && eddy_array_bytes(a) > 0)
        memcpy(eddy_array_data(copy), eddy_array_data(a), eddy_array_bytes(a));
    return eddy__give(r, eddy__ir_constant(r->ir, r->node->source, copy));
}

/* Its input under another shape: none at all, or that of the input's input. */
static bool alias_rule(rewrite *r)
{
    const ir_node *n = r->node;
    if (is_storage(r, 0)) return false;
    if (eddy__give(r, input(r, 0))) return true;
    const ir_node *x = producer(r, 0);
    if (x->values) return constant_rule(r, x->values[input(r, 0).output]);
    if (!x->alias || x->n_controls > 0) return false;
    return eddy__give(r, eddy__rewrite_reshaped(r, x->inputs[0], n->outputs[0].shape));
}

static bool identity_n_rule(rewrite *r)
{
    for (int i = 0; i < r->node->n_inputs; i++)
        if (is_storage(r, i)) return false;
    for (int k = 0; k < r->node->n_outputs; k++) r->y[k] = input(r, k);
    return r->node->n_inputs == r->node->n_outputs;
}

/* Folding one element an element of the result. */
static bool reduction_rule(rewrite *r)
{
    const eddy_type x = eddy__ir_type(r->ir, input(r, 0)), y = r->node->outputs[0];
    if (eddy_shape_count(x.shape) != eddy_shape_count(y.shape) || x.dtype != y.dtype) return false;
    return eddy__give(r, eddy__rewrite_reshaped(r, input(r, 0), y.shape));
}

/* Only dimensions of one element move. */
static bool keeps_order(const rewrite *r)
{
    const eddy_shape x = eddy__ir_type(r->ir, input(r, 0)).shape;
    for (int i = 0, last = -1; i < x.rank; i++) {
        const int d = eddy__match_permuted(r->node, i);
        if (x.dim[d] == 1) continue;
        if (d < last) return false;
        last = d;
    }
    return true;
}

static bool transpose_rule(rewrite *r)
{
    const ir_node *n = r->node, *x = eddy__match(r, input(r, 0), n->op);
    if (keeps_order(r))
        return eddy__give(r, eddy__rewrite_reshaped(r, input(r, 0), n->outputs[0].shape));
    if (!x) return false;
    eddy_transpose_attrs a = { .perm.count = n->outputs[0].shape.rank };
    for (int i = 0; i < a.perm.count; i++)
        a.perm.at[i] = eddy__match_permuted(x, eddy__match_permuted(n, i));
    return eddy__give(r, eddy__rewrite_add(r, &eddy_op_transpose, &a, 1, x->inputs));
}

static bool cast_rule(rewrite *r) { return eddy__give(r, input(r, 0)); }

/* ----------------------------------------------------- repeated elements -- */

/* The tensor that x broadcasts, in a shape that can be broadcast to that of x; invalid if x is
 * no broadcast. */
static eddy_tensor narrower(rewrite *r, eddy_tensor x)
{
    const ir_node    *n = eddy__ir_node(r->ir, x);
    const eddy_tensor none = EDDY_NO_TENSOR;
    if (n->alias || n->n_controls > 0 || (n->variable >= 0)) return none;
    if (n->values) {
        const eddy_array *a = n->values[x.output];
        if (eddy_array_count(a) < 2 || !eddy_dtype_is_floating(eddy_array_dtype(a)) ||
            !eddy__ir_is_filled(r->ir, x, eddy_array_get(a, 0)))
            return none;
        return eddy__ir_scalar(r->ir, r->node->source, eddy_array_dtype(a),
                               eddy_array_get(a, 0));
    }
    if (n->op == &eddy_op_broadcast_to || n->op == &eddy_op_broadcast_like) return n->inputs[0];
    if (n->op == &eddy_op_fill) return n->inputs[1];
    if (n->op != &eddy_op_broadcast_along) return none;
    const eddy_shape s = n->outputs[0].shape;
    const unsigned   axes = eddy__axes_mask(((const eddy_reduce_attrs *)n->attrs)->axes, s.rank);
    return eddy__rewrite_reshaped(r, n->inputs[0], eddy__match_folded(s, axes));
}

/* f of broadcast operands is the broadcast of f of the smaller operands. */
static bool repeat_result(rewrite *r, eddy_tensor less)
{
    const eddy_shape s = r->node->outputs[0].shape;
    if (!eddy__ir_valid(less)) return false;
    return eddy__give(r, eddy__rewrite_add(r, &eddy_op_broadcast_to, &s, 1, &less));
}

/* Elementwise loops repeat operands themselves. */
static bool elementwise_rule(rewrite *r)
{
    enum { OPERANDS = 4 };
    const ir_node *n = r->node;
    eddy_tensor    x[OPERANDS];
    bool           changed = false;
    /* without elements no operation fails; with one, an integer operation may */
    if (n->n_inputs > OPERANDS || eddy_shape_count(n->outputs[0].shape) == 0) return false;
    for (int i = 0; i < n->n_inputs; i++) {
        const eddy_tensor less = narrower(r, input(r, i));
        x[i] = input(r, i);
        if (!eddy__ir_valid(less)) continue;
        x[i] = less;
        changed = true;
    }
    if (!changed) return false;
    const eddy_tensor y = eddy__rewrite_add(r, n->op, n->attrs, n->n_inputs, x);
    return eddy__give(r, y) || repeat_result(r, y);
}

/* ---------------------------------------------------------------- constants -- */

/* Folds a few elements that rewriting has made constant. */
static bool fold_rule(rewrite *r)
{
    enum { FEW = 64, OPERANDS = 4 };
    compile       *c = r->ir->c;
    const ir_node *n = r->node;
    eddy_buffer    b[OPERANDS + 1];
    if (c->without & EDDY_PASS_FOLD) return false;
    if (n->n_inputs > OPERANDS || eddy_shape_count(n->outputs[0].shape) > FEW) return false;
    for (int i = 0; i < n->n_inputs; i++) {
        const eddy_array *a = eddy__ir_value(r->ir, input(r, i));
        if (!a) return false;
        b[i] = eddy__buffer_of(eddy__ir_type(r->ir, input(r, i)), eddy_array_data(a));
    }
    eddy_array *y = eddy_array_new_in(&c->session->allocator, n->outputs[0].dtype,
                                      n->outputs[0].shape);
    const eddy_node   node = { .op = n->op, .name = n->source->name, .attrs = n->attrs,
                               .outputs = n->outputs, .n_inputs = n->n_inputs, .n_outputs = 1 };
    eddy_error        failure = { 0 };
    b[n->n_inputs] = eddy__buffer_of(n->outputs[0], eddy_array_data(y));
    /* any other error that occurs here occurs again in the run, with the run's message */
    if (y && !eddy__run_single_op(c->plan, c->graph, &node, b, 0, &failure)) {
        eddy_array_free(y);
        c->plan->error = (eddy_error){ 0 };
        if (failure.status == EDDY_NO_MEMORY) *c->error = failure;
        return false;
    }
    /* only now: equal constants are one */
    return eddy__give(r, eddy__ir_constant(r->ir, n->source, y));
}

/* The mean, minimum and maximum of equal numbers. */
static bool equal_elements_rule(rewrite *r)
{
    if (reduction_rule(r)) return true;
    if (eddy_shape_count(eddy__ir_type(r->ir, input(r, 0)).shape) == 0) return false;
    const eddy_tensor less = narrower(r, input(r, 0));
    if (!eddy__ir_valid(less) || eddy_shape_count(eddy__ir_type(r->ir, less).shape) != 1 ||
        eddy_shape_count(r->node->outputs[0].shape) != 1)
        return false;
    return eddy__give(r, eddy__rewrite_reshaped(r, less, r->node->outputs[0].shape));
}

/* A sum of equal numbers. */
static bool sum_rule(rewrite *r)
{
    if (reduction_rule(r)) return true;
    const eddy_type   y = r->node->outputs[0];
    const double      n = (double)eddy_shape_count(eddy__ir_type(r->ir, input(r, 0)).shape);
    const eddy_tensor less = n > 0 ? narrower(r, input(r, 0)) : EDDY_NO_TENSOR;
    if (!eddy__ir_valid(less) || eddy_shape_count(eddy__ir_type(r->ir, less).shape) != 1 ||
        eddy_shape_count(y.shape) != 1 || !eddy_dtype_is_floating(y.dtype))
        return false;
    return replace_binary(r, &eddy_op_mul, eddy__rewrite_reshaped(r, less, y.shape),
                          eddy__ir_scalar(r->ir, r->node->source, y.dtype, n));
}

/* ------------------------------------------------------------- the rules -- */

typedef struct rule_of {
    const eddy_op_def *op;
    bool             (*rule)(rewrite *r);
} rule_of;

static const rule_of RULES[] = {
    { &eddy_op_add, add_rule },
    { &eddy_op_add, eddy__add_to_rows },
    { &eddy_op_sub, sub_rule },
    { &eddy_op_mul, mul_rule },
    { &eddy_op_div, div_rule },
    { &eddy_op_pow, pow_rule },
    { &eddy_op_neg, twice_rule },
    { &eddy_op_conj, twice_rule },
    { &eddy_op_logical_not, twice_rule },
    { &eddy_op_reciprocal, reciprocal_rule },
    { &eddy_op_square, square_rule },
    { &eddy_op_add_n, add_n_rule },
    { &eddy_op_identity_n, identity_n_rule },
    { &eddy_op_transpose, transpose_rule },
    { &eddy_op_cast, cast_rule },
    { &eddy_op_sum, sum_rule },
    { &eddy_op_sum_like, sum_rule },
    { &eddy_op_mean, equal_elements_rule },
    { &eddy_op_max, equal_elements_rule },
    { &eddy_op_min, equal_elements_rule },
    { &eddy_op_prod, reduction_rule },
};

bool eddy__simplify(rewrite *r)
{
    const eddy_op_def *op = r->node->op;
    if (r->node->alias) return alias_rule(r);
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++)
        if (RULES[i].op == op && RULES[i].rule(r)) return true;
    return (op->flags & EDDY_OP_ELEMENTWISE) && (fold_rule(r) || elementwise_rule(r));
}
