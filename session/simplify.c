/* simplify.c -- nodes whose value is there already, or costs less another way.
 *
 * Nothing here changes a result by more than its last bits, or the sign of a zero, and
 * what is not a number stays so: x 0 is not 0, and x - x is not 0. */
#include "session/passes.h"
#include "ops/elementwise.h"
#include "build/gen/table.h"

#include <string.h>

/* Input i of the node. */
static eddy_tensor in(const rewrite *r, int i) { return r->node->inputs[i]; }

/* The node that gives input i. */
static const flow_node *from(const rewrite *r, int i)
{
    return eddy_flow_node(r->flow, in(r, i));
}

static bool same_type(eddy_type a, eddy_type b)
{
    return a.dtype == b.dtype && eddy_shape_equal(a.shape, b.shape);
}

/* t stands for the node if it has the node's type. */
static bool give(rewrite *r, eddy_tensor t)
{
    if (!eddy_flow_valid(t) || !same_type(eddy_flow_type(r->flow, t), r->node->outputs[0]))
        return false;
    r->y[0] = t;
    return true;
}

static bool give1(rewrite *r, const eddy_op_def *op, eddy_tensor a)
{
    return give(r, eddy_rewrite_add(r, op, NULL, 1, &a));
}

static bool give2(rewrite *r, const eddy_op_def *op, eddy_tensor a, eddy_tensor b)
{
    const eddy_tensor x[] = { a, b };
    return give(r, eddy_rewrite_add(r, op, NULL, 2, x));
}

/* A node that reads what an update left waits for it, and is not looked through. */
static bool is_op(const flow_node *n, const eddy_op_def *op)
{
    return n->op == op && !n->values && n->n_controls == 0;
}

static bool is_storage(const rewrite *r, int i)
{
    return from(r, i)->variable >= 0 && in(r, i).output == STORAGE;
}

/* A number in every element, which need not be looked at again in others. */
static bool filled(const rewrite *r, int i, double v)
{
    return eddy_flow_is_filled(r->flow, in(r, i), v);
}

/* ------------------------------------------------------------- arithmetic -- */

static bool add_rule(rewrite *r)
{
    if (filled(r, 1, 0) && give(r, in(r, 0))) return true;
    if (filled(r, 0, 0) && give(r, in(r, 1))) return true;
    for (int i = 1; i >= 0; i--)
        if (is_op(from(r, i), &eddy_op_neg))
            return give2(r, &eddy_op_sub, in(r, 1 - i), from(r, i)->inputs[0]);
    return false;
}

static bool sub_rule(rewrite *r)
{
    if (filled(r, 1, 0)) return give(r, in(r, 0));
    return is_op(from(r, 1), &eddy_op_neg) &&
           give2(r, &eddy_op_add, in(r, 0), from(r, 1)->inputs[0]);
}

static bool mul_rule(rewrite *r)
{
    for (int i = 0; i < 2; i++) {
        if (filled(r, i, 1) && give(r, in(r, 1 - i))) return true;
        if (filled(r, i, -1) && give1(r, &eddy_op_neg, in(r, 1 - i))) return true;
        const flow_node *n = from(r, i);
        if (is_op(n, &eddy_op_reciprocal) && eddy_dtype_is_floating(n->outputs[0].dtype) &&
            give2(r, &eddy_op_div, in(r, 1 - i), n->inputs[0]))
            return true;
    }
    return is_op(from(r, 0), &eddy_op_neg) && is_op(from(r, 1), &eddy_op_neg) &&
           give2(r, &eddy_op_mul, from(r, 0)->inputs[0], from(r, 1)->inputs[0]);
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
    if (filled(r, 1, 1)) return give(r, in(r, 0));
    if (!eddy_dtype_is_floating(d)) return false;
    if (is_op(from(r, 1), &eddy_op_reciprocal))
        return give2(r, &eddy_op_mul, in(r, 0), from(r, 1)->inputs[0]);
    if (filled(r, 0, 1)) return give1(r, &eddy_op_reciprocal, in(r, 1));
    const eddy_array *c = eddy_flow_value(r->flow, in(r, 1));
    if (!c || eddy_array_count(c) != 1 || !is_power_of_two(eddy_array_get(c, 0))) return false;
    return give2(r, &eddy_op_mul, in(r, 0),
                 eddy_flow_scalar(r->flow, r->node->source, d, 1 / eddy_array_get(c, 0)));
}

static bool pow_rule(rewrite *r)
{
    if (!eddy_dtype_is_floating(r->node->outputs[0].dtype)) return false;
    if (filled(r, 1, 1)) return give(r, in(r, 0));
    if (filled(r, 1, 2)) return give1(r, &eddy_op_square, in(r, 0));
    return filled(r, 1, -1) && give1(r, &eddy_op_reciprocal, in(r, 0));
}

/* f(f(x)) = x. */
static bool twice_rule(rewrite *r)
{
    return is_op(from(r, 0), r->node->op) && give(r, from(r, 0)->inputs[0]);
}

static bool square_rule(rewrite *r)
{
    const flow_node *n = from(r, 0);
    if (!is_op(n, &eddy_op_neg) && !is_op(n, &eddy_op_abs)) return false;
    return give1(r, &eddy_op_square, n->inputs[0]);
}

static bool reciprocal_rule(rewrite *r)
{
    if (twice_rule(r)) return true;
    return is_op(from(r, 0), &eddy_op_sqrt) && give1(r, &eddy_op_rsqrt, from(r, 0)->inputs[0]);
}

/* A sum of few as sums of two, which join loops with others; zeros are left out. */
static bool add_n_rule(rewrite *r)
{
    enum { FEW = 8 };
    const flow_node *n = r->node;
    eddy_tensor      sum = { 0 };
    if (n->n_inputs > FEW) return false;
    for (int i = 0; i < n->n_inputs; i++) {
        if (filled(r, i, 0)) continue;
        const eddy_tensor two[] = { sum, in(r, i) };
        sum = eddy_flow_valid(sum) ? eddy_rewrite_add(r, &eddy_op_add, NULL, 2, two) : in(r, i);
        if (!eddy_flow_valid(sum)) return false;
    }
    return give(r, eddy_flow_valid(sum) ? sum : in(r, 0));
}

/* ----------------------------------------------------------------- shapes -- */

/* The same elements as a constant of another shape. */
static bool constant_rule(rewrite *r, const eddy_array *a)
{
    enum { FEW_BYTES = 4096 };
    eddy_array *copy = NULL;
    if (eddy_array_bytes(a) > FEW_BYTES) return false;
    copy = eddy_array_new_in(&r->flow->c->session->allocator, eddy_array_dtype(a),
                             r->node->outputs[0].shape);
    if (copy && eddy_array_bytes(a) > 0)
        memcpy(eddy_array_data(copy), eddy_array_data(a), eddy_array_bytes(a));
    return give(r, eddy_flow_constant(r->flow, r->node->source, copy));
}

/* Its input under another shape: none at all, or that of the input's input. */
static bool alias_rule(rewrite *r)
{
    const flow_node *n = r->node;
    if (is_storage(r, 0)) return false;
    if (same_type(eddy_flow_type(r->flow, in(r, 0)), n->outputs[0])) return give(r, in(r, 0));
    const flow_node *x = from(r, 0);
    if (x->values) return constant_rule(r, x->values[in(r, 0).output]);
    if (!x->alias || x->n_controls > 0) return false;
    return give(r, eddy_rewrite_reshaped(r, x->inputs[0], n->outputs[0].shape));
}

static bool identity_n_rule(rewrite *r)
{
    for (int i = 0; i < r->node->n_inputs; i++)
        if (is_storage(r, i)) return false;
    for (int k = 0; k < r->node->n_outputs; k++) r->y[k] = in(r, k);
    return r->node->n_inputs == r->node->n_outputs;
}

/* Folding one element an element of the result. */
static bool reduction_rule(rewrite *r)
{
    const eddy_type x = eddy_flow_type(r->flow, in(r, 0)), y = r->node->outputs[0];
    if (eddy_shape_count(x.shape) != eddy_shape_count(y.shape) || x.dtype != y.dtype) return false;
    return give(r, eddy_rewrite_reshaped(r, in(r, 0), y.shape));
}

/* Which dimension of x is dimension i of its transpose. */
static int permuted(const flow_node *n, int i)
{
    const eddy_dims *perm = eddy_flow_attr(n, "perm");
    const int        rank = n->outputs[0].shape.rank;
    if (!perm || perm->count <= 0) return rank - 1 - i;
    return (int)(perm->at[i] < 0 ? perm->at[i] + rank : perm->at[i]);
}

/* Only dimensions of one element move. */
static bool moves_nothing(const rewrite *r)
{
    const eddy_shape x = eddy_flow_type(r->flow, in(r, 0)).shape;
    for (int i = 0, last = -1; i < x.rank; i++) {
        const int d = permuted(r->node, i);
        if (x.dim[d] == 1) continue;
        if (d < last) return false;
        last = d;
    }
    return true;
}

static bool transpose_rule(rewrite *r)
{
    const flow_node *n = r->node, *x = from(r, 0);
    if (moves_nothing(r))
        return give(r, eddy_rewrite_reshaped(r, in(r, 0), n->outputs[0].shape));
    if (!is_op(x, &eddy_op_transpose)) return false;
    eddy_dims perm = { .count = n->outputs[0].shape.rank };
    for (int i = 0; i < perm.count; i++) perm.at[i] = permuted(x, permuted(n, i));
    return give(r, eddy_rewrite_add(r, &eddy_op_transpose, &perm, 1, x->inputs));
}

static bool cast_rule(rewrite *r) { return give(r, in(r, 0)); }

/* ----------------------------------------------------- repeated elements -- */

/* What x repeats, in a shape that broadcasts to that of x; invalid if x repeats nothing. */
static eddy_tensor narrower(rewrite *r, eddy_tensor x)
{
    const flow_node  *n = eddy_flow_node(r->flow, x);
    const eddy_tensor none = { 0 };
    if (n->alias || n->n_controls > 0 || (n->variable >= 0)) return none;
    if (n->values) {
        const eddy_array *a = n->values[x.output];
        if (eddy_array_count(a) < 2 || !eddy_dtype_is_floating(eddy_array_dtype(a)) ||
            !eddy_flow_is_filled(r->flow, x, eddy_array_get(a, 0)))
            return none;
        return eddy_flow_scalar(r->flow, r->node->source, eddy_array_dtype(a),
                                eddy_array_get(a, 0));
    }
    if (n->op == &eddy_op_broadcast_to || n->op == &eddy_op_broadcast_like) return n->inputs[0];
    if (n->op == &eddy_op_fill) return n->inputs[1];
    if (n->op != &eddy_op_broadcast_along) return none;
    const eddy_dims *axes = eddy_flow_attr(n, "axes");
    eddy_shape       s = n->outputs[0].shape;
    for (int i = 0; i < s.rank; i++) {
        bool folded = axes->count == 0;
        for (int k = 0; k < axes->count; k++)
            folded = folded || axes->at[k] == i || axes->at[k] + s.rank == i;
        if (folded) s.dim[i] = 1;
    }
    return eddy_rewrite_reshaped(r, n->inputs[0], s);
}

/* f of what repeats repeats f of it: of operands that all do, f(x) is the lesser one. */
static bool repeat_result(rewrite *r, eddy_tensor less)
{
    const eddy_shape s = r->node->outputs[0].shape;
    if (!eddy_flow_valid(less)) return false;
    return give(r, eddy_rewrite_add(r, &eddy_op_broadcast_to, &s, 1, &less));
}

/* Elementwise loops repeat operands themselves. */
static bool elementwise_rule(rewrite *r)
{
    enum { OPERANDS = 4 };
    const flow_node *n = r->node;
    eddy_tensor      x[OPERANDS];
    bool             changed = false;
    /* of no elements none can fail, of one an integer may */
    if (n->n_inputs > OPERANDS || eddy_shape_count(n->outputs[0].shape) == 0) return false;
    for (int i = 0; i < n->n_inputs; i++) {
        const eddy_tensor less = narrower(r, in(r, i));
        x[i] = in(r, i);
        if (!eddy_flow_valid(less)) continue;
        x[i] = less;
        changed = true;
    }
    if (!changed) return false;
    const eddy_tensor y = eddy_rewrite_add(r, n->op, n->attrs, n->n_inputs, x);
    return give(r, y) || repeat_result(r, y);
}

/* ---------------------------------------------------------------- constants -- */

/* A few elements that rewriting has made constant. */
static bool fold_rule(rewrite *r)
{
    enum { FEW = 64, OPERANDS = 4 };
    compile         *c = r->flow->c;
    const flow_node *n = r->node;
    eddy_buffer      b[OPERANDS + 1];
    if (c->session->options.without & EDDY_PASS_FOLD) return false;
    if (n->n_inputs > OPERANDS || eddy_shape_count(n->outputs[0].shape) > FEW) return false;
    for (int i = 0; i < n->n_inputs; i++) {
        const eddy_array *a = eddy_flow_value(r->flow, in(r, i));
        if (!a) return false;
        b[i] = eddy_buffer_of(eddy_flow_type(r->flow, in(r, i)), eddy_array_data(a));
    }
    eddy_array *y = eddy_array_new_in(&c->session->allocator, n->outputs[0].dtype,
                                      n->outputs[0].shape);
    const eddy_node   node = { .op = n->op, .name = n->source->name, .attrs = n->attrs,
                               .outputs = n->outputs, .n_inputs = n->n_inputs, .n_outputs = 1 };
    eddy_error        failure = { 0 };
    b[n->n_inputs] = eddy_buffer_of(n->outputs[0], eddy_array_data(y));
    /* what fails here fails in the run, with the message of the run */
    if (y && !eddy_run_alone(c->plan, &node, b, 0, &failure)) {
        eddy_array_free(y);
        c->plan->error = (eddy_error){ 0 };
        return false;
    }
    /* only now: equal constants are one */
    return give(r, eddy_flow_constant(r->flow, n->source, y));
}

/* The mean, the least and the largest of equal numbers. */
static bool equal_elements_rule(rewrite *r)
{
    if (reduction_rule(r)) return true;
    if (eddy_shape_count(eddy_flow_type(r->flow, in(r, 0)).shape) == 0) return false;
    const eddy_tensor less = narrower(r, in(r, 0));
    if (!eddy_flow_valid(less) || eddy_shape_count(eddy_flow_type(r->flow, less).shape) != 1 ||
        eddy_shape_count(r->node->outputs[0].shape) != 1)
        return false;
    return give(r, eddy_rewrite_reshaped(r, less, r->node->outputs[0].shape));
}

/* A sum of equal numbers. */
static bool sum_rule(rewrite *r)
{
    if (reduction_rule(r)) return true;
    const eddy_type   y = r->node->outputs[0];
    const double      n = (double)eddy_shape_count(eddy_flow_type(r->flow, in(r, 0)).shape);
    const eddy_tensor less = n > 0 ? narrower(r, in(r, 0)) : (eddy_tensor){ 0 };
    if (!eddy_flow_valid(less) || eddy_shape_count(eddy_flow_type(r->flow, less).shape) != 1 ||
        eddy_shape_count(y.shape) != 1 || !eddy_dtype_is_floating(y.dtype))
        return false;
    return give2(r, &eddy_op_mul, eddy_rewrite_reshaped(r, less, y.shape),
                 eddy_flow_scalar(r->flow, r->node->source, y.dtype, n));
}

/* ------------------------------------------------------------- the rules -- */

typedef struct rule_of {
    const eddy_op_def *op;
    bool             (*rule)(rewrite *r);
} rule_of;

static const rule_of RULES[] = {
    { &eddy_op_add, add_rule },
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

bool eddy_simplify(rewrite *r)
{
    const eddy_op_def *op = r->node->op;
    if (r->node->alias) return alias_rule(r);
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++)
        if (RULES[i].op == op && RULES[i].rule(r)) return true;
    return (op->flags & EDDY_OP_ELEMENTWISE) && (fold_rule(r) || elementwise_rule(r));
}
