/* stabilise.c -- the same functions in forms that neither overflow nor lose digits:
 * log(1 + x), log(softmax(x)), log(sum(exp(x))), 1 / (1 + exp(-x)) and their kin.
 *
 * Other readers of a part do not matter here: for them it stays, and right digits are
 * worth computing an exponential again. */
#include "session/stabilise.h"
#include "build/gen/table.h"

static eddy_tensor in(const rewrite *r, int i) { return r->node->inputs[i]; }

/* ------------------------------------------------------------- shared -- */

bool eddy_is_one_plus(const rewrite *r, const flow_node *n, eddy_tensor *a)
{
    return n->op == &eddy_op_add && eddy_match_with(r, n, 1, a);
}

/* What m is a selection or a repetition of. */
static eddy_tensor selected_from(const rewrite *r, eddy_tensor m)
{
    static const eddy_op_def *const repeats[] = {
        &eddy_op_broadcast_along, &eddy_op_broadcast_to, &eddy_op_broadcast_like,
    };
    m = eddy_match_elements(r, m);
    const flow_node *n = eddy_match(r, m, &eddy_op_where);
    if (n) return n->inputs[1];
    for (int i = 0; i < 3; i++)
        if ((n = eddy_match(r, m, repeats[i])) != NULL) return n->inputs[0];
    return m;
}

bool eddy_is_shifted(const rewrite *r, eddy_tensor x)
{
    enum { STEPS = 4 };
    const flow_node *n = eddy_match(r, x, &eddy_op_sub);
    if (!n) return false;
    eddy_tensor m = n->inputs[1];
    for (int i = 0; i < STEPS; i++) {
        const flow_node *top = eddy_match(r, m, &eddy_op_max);
        if (top) return eddy_match_same(top->inputs[0], n->inputs[0]);
        m = selected_from(r, m);
    }
    return false;
}

eddy_tensor eddy_make_top(rewrite *r, eddy_tensor x, unsigned axes)
{
    const eddy_tensor top = eddy_make_fold(r, &eddy_op_max, x, axes);
    if (!eddy_flow_valid(top)) return top;
    const eddy_tensor choice[] = { eddy_make1(r, &eddy_op_is_finite, top), top,
                                   eddy_make_number(r, 0, x) };
    return eddy_rewrite_add(r, &eddy_op_where, NULL, 3, choice);
}

/* ---------------------------------------------------------- logarithms -- */

/* ln sigmoid(x) = -softplus(-x). */
static bool log_of_sigmoid(rewrite *r, eddy_tensor x, bool negated)
{
    const eddy_tensor a = negated ? x : eddy_make_negative(r, x);
    return eddy_give(r, eddy_make_negative(r, eddy_make1(r, &eddy_op_softplus, a)));
}

static bool log_of_sum(rewrite *r, const flow_node *sum)
{
    eddy_tensor x;
    if (!eddy_is_one_plus(r, sum, &x)) return false;
    const flow_node *e = eddy_match(r, x, &eddy_op_exp);
    if (e) return eddy_give(r, eddy_make1(r, &eddy_op_softplus, e->inputs[0]));
    return eddy_give(r, eddy_make1(r, &eddy_op_log1p, x));
}

static bool log_of_difference(rewrite *r, const flow_node *n)
{
    if (!eddy_match_is(r, n->inputs[0], 1)) return false;
    const flow_node *s = eddy_match(r, n->inputs[1], &eddy_op_sigmoid);
    if (s) return log_of_sigmoid(r, s->inputs[0], true);
    return eddy_give(r, eddy_make1(r, &eddy_op_log1p, eddy_make_negative(r, n->inputs[1])));
}

/* ln sum e^x = m + ln sum e^(x - m), with m the largest x. */
static bool log_of_exps(rewrite *r, const flow_node *sum)
{
    const flow_node *e = eddy_match(r, sum->inputs[0], &eddy_op_exp);
    const unsigned   axes = eddy_match_axes(r, sum);
    if (!e || axes == 0 || eddy_is_shifted(r, e->inputs[0])) return false;
    const eddy_tensor m = eddy_make_top(r, e->inputs[0], axes);
    const eddy_tensor less = eddy_make2(r, &eddy_op_sub, e->inputs[0], m);
    const eddy_tensor s = eddy_make_fold(r, &eddy_op_sum, eddy_make1(r, &eddy_op_exp, less), axes);
    const eddy_tensor y = eddy_make2(r, &eddy_op_add, eddy_make1(r, &eddy_op_log, s), m);
    return eddy_flow_valid(y) &&
           eddy_give(r, eddy_rewrite_reshaped(r, y, r->node->outputs[0].shape));
}

static bool log_rule(rewrite *r)
{
    const eddy_tensor x = in(r, 0), elements = eddy_match_elements(r, x);
    const flow_node  *n;
    if ((n = eddy_match(r, x, &eddy_op_add)) != NULL) return log_of_sum(r, n);
    if ((n = eddy_match(r, x, &eddy_op_sub)) != NULL) return log_of_difference(r, n);
    if ((n = eddy_match(r, x, &eddy_op_sigmoid)) != NULL)
        return log_of_sigmoid(r, n->inputs[0], false);
    if ((n = eddy_match(r, elements, &eddy_op_sum)) != NULL) return log_of_exps(r, n);
    if (!(n = eddy_match(r, elements, &eddy_op_softmax))) return false;
    const eddy_tensor y = eddy_rewrite_add(r, &eddy_op_log_softmax, n->attrs, 1, n->inputs);
    return eddy_flow_valid(y) &&
           eddy_give(r, eddy_rewrite_reshaped(r, y, r->node->outputs[0].shape));
}

static bool log1p_rule(rewrite *r)
{
    const flow_node *e = eddy_match(r, in(r, 0), &eddy_op_exp);
    return e && eddy_give(r, eddy_make1(r, &eddy_op_softplus, e->inputs[0]));
}

/* -------------------------------------------------------- exponentials -- */

/* e^x - 1, as a difference or a sum, or its negative. */
static bool exp_less_one(rewrite *r, int i, bool negate)
{
    const flow_node *e = eddy_match(r, in(r, i), &eddy_op_exp);
    if (!e || !eddy_match_is(r, in(r, 1 - i), r->node->op == &eddy_op_add ? -1 : 1)) return false;
    const eddy_tensor y = eddy_make1(r, &eddy_op_expm1, e->inputs[0]);
    return eddy_give(r, negate ? eddy_make_negative(r, y) : y);
}

static bool add_rule(rewrite *r) { return exp_less_one(r, 0, false) || exp_less_one(r, 1, false); }

/* 1 / (1 + e^x) = sigmoid(-x). */
static bool reciprocal_rule(rewrite *r)
{
    const flow_node *d = eddy_match(r, in(r, 0), &eddy_op_add);
    eddy_tensor      x;
    if (!d || !eddy_is_one_plus(r, d, &x)) return false;
    const flow_node *e = eddy_match(r, x, &eddy_op_exp);
    if (!e) return false;
    return eddy_give(r, eddy_make1(r, &eddy_op_sigmoid, eddy_make_negative(r, e->inputs[0])));
}

/* --------------------------------------------------------- log softmax -- */

/* t is ln sum e^x over one axis, whose exponentials nothing else reads; which one. */
static int log_sum_of(const rewrite *r, eddy_tensor t, eddy_tensor x)
{
    const flow_node *l = eddy_match(r, eddy_match_elements(r, t), &eddy_op_log), *add = NULL;
    int i = 0;
    if (!l) add = eddy_match(r, eddy_match_elements(r, t), &eddy_op_add);
    for (; add && !l && i < 2; i++)
        l = eddy_match(r, eddy_match_elements(r, add->inputs[i]), &eddy_op_log);
    if (!l || l->readers != 1) return -1;
    const flow_node *s = eddy_match(r, eddy_match_elements(r, l->inputs[0]), &eddy_op_sum);
    const flow_node *e = s ? eddy_match(r, s->inputs[0], &eddy_op_exp) : NULL;
    if (!e || e->readers != 1) return -1;
    eddy_tensor shifted = e->inputs[0];
    if (add) {
        const flow_node  *less = eddy_match(r, shifted, &eddy_op_sub);
        const eddy_tensor m = eddy_match_elements(r, add->inputs[i == 1]);
        if (!less || !eddy_match_same(eddy_match_elements(r, less->inputs[1]), m)) return -1;
        const eddy_shape by = eddy_match_type(r, less->inputs[1]).shape;
        const eddy_shape left = eddy_match_folded(e->outputs[0].shape, eddy_match_axes(r, s));
        if (!eddy_shape_equal(by, left) && eddy_shape_count(by) != 1) return -1;
        shifted = less->inputs[0];
    }
    return eddy_match_same(shifted, x) ? eddy_match_axis(eddy_match_axes(r, s)) : -1;
}

/* x - ln sum e^x. */
static bool log_softmax_rule(rewrite *r)
{
    const int        axis = log_sum_of(r, in(r, 1), in(r, 0));
    const eddy_shape x = eddy_match_type(r, in(r, 0)).shape;
    const eddy_shape s = eddy_match_type(r, in(r, 1)).shape;
    if (axis < 0 || (!eddy_shape_equal(s, eddy_match_folded(x, 1u << axis)) &&
                     eddy_shape_count(s) != 1))
        return false;
    return eddy_give(r, eddy_make_along(r, &eddy_op_log_softmax, 1, &r->node->inputs[0], axis));
}

static bool sub_rule(rewrite *r)
{
    return exp_less_one(r, 0, false) || exp_less_one(r, 1, true) || log_softmax_rule(r);
}

bool eddy_stabilise(rewrite *r)
{
    const eddy_op_def *op = r->node->op;
    if (r->node->n_outputs != 1 || !eddy_match_real(r, in(r, 0))) return false;
    if (op == &eddy_op_log) return log_rule(r);
    if (op == &eddy_op_log1p) return log1p_rule(r);
    if (op == &eddy_op_add) return add_rule(r);
    if (op == &eddy_op_sub) return sub_rule(r);
    if (op == &eddy_op_reciprocal) return reciprocal_rule(r);
    if (op == &eddy_op_mul) return eddy_stabilise_product(r);
    return op == &eddy_op_div && eddy_stabilise_quotient(r);
}
