/* stabilize.c -- numerically stable forms that neither overflow nor lose digits: log(1 + x),
 * log(softmax(x)), log(sum(exp(x))), 1 / (1 + exp(-x)) and similar functions.
 *
 * A part may have other readers here: it is kept for them, and correct digits justify computing
 * an exponential twice. A part is left alone if another node makes up for its rounding error. */
#include "session/passes/stabilize.h"
#include "ops/weak_ops.h"

static eddy_tensor input(const rewrite *r, int i) { return r->node->inputs[i]; }

/* ------------------------------------------------------------- shared -- */

bool eddy__is_one_plus(const rewrite *r, const ir_node *n, eddy_tensor *a)
{
    return n->op == &eddy_op_add && eddy__match_with(r, n, 1, a);
}

/* The tensor from which m selects or repeats elements. */
static eddy_tensor selected_from(const rewrite *r, eddy_tensor m)
{
    static const eddy_op_def *const repeats[] = {
        &eddy_op_broadcast_along, &eddy_op_broadcast_to, &eddy_op_broadcast_like,
    };
    m = eddy__match_elements(r, m);
    const ir_node *n = eddy__match(r, m, &eddy_op_where);
    if (n) return n->inputs[1];
    for (int i = 0; i < 3; i++)
        if ((n = eddy__match(r, m, repeats[i])) != NULL) return n->inputs[0];
    return m;
}

bool eddy__is_shifted(const rewrite *r, eddy_tensor x)
{
    enum { STEPS = 4 };
    const ir_node *n = eddy__match(r, x, &eddy_op_sub);
    if (!n) return false;
    eddy_tensor m = n->inputs[1];
    for (int i = 0; i < STEPS; i++) {
        const ir_node *top = eddy__match(r, m, &eddy_op_max);
        if (top) return eddy__match_same(top->inputs[0], n->inputs[0]);
        m = selected_from(r, m);
    }
    return false;
}

eddy_tensor eddy__make_top(rewrite *r, eddy_tensor x, unsigned axes)
{
    const eddy_tensor top = eddy__make_fold(r, &eddy_op_max, x, axes);
    if (!eddy__ir_valid(top)) return top;
    const eddy_tensor choice[] = { eddy__make1(r, &eddy_op_is_finite, top), top,
                                   eddy__make_number(r, 0, x) };
    return eddy__rewrite_add(r, &eddy_op_where, NULL, 3, choice);
}

/* ---------------------------------------------------------- logarithms -- */

/* ln sigmoid(x) = -softplus(-x). */
static bool log_of_sigmoid(rewrite *r, eddy_tensor x, bool negated)
{
    const eddy_tensor a = negated ? x : eddy__make_negative(r, x);
    return eddy__give(r, eddy__make_negative(r, eddy__make1(r, &eddy_op_softplus, a)));
}

static bool log_of_sum(rewrite *r, const ir_node *sum)
{
    eddy_tensor x;
    if (sum->corrected || !eddy__is_one_plus(r, sum, &x)) return false;
    const ir_node *e = eddy__match(r, x, &eddy_op_exp);
    if (e) return eddy__give(r, eddy__make1(r, &eddy_op_softplus, e->inputs[0]));
    return eddy__give(r, eddy__make1(r, &eddy_op_log1p, x));
}

static bool log_of_difference(rewrite *r, const ir_node *n)
{
    if (n->corrected || !eddy__match_is(r, n->inputs[0], 1)) return false;
    const ir_node *s = eddy__match(r, n->inputs[1], &eddy_op_sigmoid);
    if (s) return log_of_sigmoid(r, s->inputs[0], true);
    return eddy__give(r, eddy__make1(r, &eddy_op_log1p, eddy__make_negative(r, n->inputs[1])));
}

/* ln sum e^x = m + ln sum e^(x - m), with m the largest x. */
static bool log_of_exps(rewrite *r, const ir_node *sum)
{
    const ir_node *e = eddy__match(r, sum->inputs[0], &eddy_op_exp);
    const unsigned axes = eddy__match_axes(r, sum);
    if (!e || axes == 0 || eddy__is_shifted(r, e->inputs[0])) return false;
    const eddy_tensor m = eddy__make_top(r, e->inputs[0], axes);
    const eddy_tensor less = eddy__make2(r, &eddy_op_sub, e->inputs[0], m);
    const eddy_tensor s =
        eddy__make_fold(r, &eddy_op_sum, eddy__make1(r, &eddy_op_exp, less), axes);
    const eddy_tensor y = eddy__make2(r, &eddy_op_add, eddy__make1(r, &eddy_op_log, s), m);
    return eddy__ir_valid(y) &&
           eddy__give(r, eddy__rewrite_reshaped(r, y, r->node->outputs[0].shape));
}

static bool log_rule(rewrite *r)
{
    const eddy_tensor x = input(r, 0), elements = eddy__match_elements(r, x);
    const ir_node    *n;
    if ((n = eddy__match(r, x, &eddy_op_add)) != NULL) return log_of_sum(r, n);
    if ((n = eddy__match(r, x, &eddy_op_sub)) != NULL) return log_of_difference(r, n);
    if ((n = eddy__match(r, x, &eddy_op_sigmoid)) != NULL)
        return log_of_sigmoid(r, n->inputs[0], false);
    if ((n = eddy__match(r, elements, &eddy_op_sum)) != NULL) return log_of_exps(r, n);
    if (!(n = eddy__match(r, elements, &eddy_op_softmax))) return false;
    const eddy_tensor y = eddy__rewrite_add(r, &eddy_op_log_softmax, n->attrs, 1, n->inputs);
    return eddy__ir_valid(y) &&
           eddy__give(r, eddy__rewrite_reshaped(r, y, r->node->outputs[0].shape));
}

static bool log1p_rule(rewrite *r)
{
    const ir_node *e = eddy__match(r, input(r, 0), &eddy_op_exp);
    return e && eddy__give(r, eddy__make1(r, &eddy_op_softplus, e->inputs[0]));
}

/* -------------------------------------------------------- exponentials -- */

/* e^x - 1, as a difference or a sum, or its negative. */
static bool exp_less_one(rewrite *r, int i, bool negate)
{
    const ir_node *e = eddy__match(r, input(r, i), &eddy_op_exp);
    const double   one = r->node->op == &eddy_op_add ? -1 : 1;
    if (!e || e->corrected || !eddy__match_is(r, input(r, 1 - i), one)) return false;
    const eddy_tensor y = eddy__make1(r, &eddy_op_expm1, e->inputs[0]);
    return eddy__give(r, negate ? eddy__make_negative(r, y) : y);
}

static bool add_rule(rewrite *r) { return exp_less_one(r, 0, false) || exp_less_one(r, 1, false); }

/* 1 / (1 + e^x) = sigmoid(-x). */
static bool reciprocal_rule(rewrite *r)
{
    const ir_node *d = eddy__match(r, input(r, 0), &eddy_op_add);
    eddy_tensor    x;
    if (!d || !eddy__is_one_plus(r, d, &x)) return false;
    const ir_node *e = eddy__match(r, x, &eddy_op_exp);
    if (!e) return false;
    return eddy__give(r, eddy__make1(r, &eddy_op_sigmoid, eddy__make_negative(r, e->inputs[0])));
}

/* --------------------------------------------------------- log softmax -- */

/* If t is ln sum e^x over one axis, and nothing else reads the exponentials, that axis. */
static int log_sum_of(const rewrite *r, eddy_tensor t, eddy_tensor x)
{
    const ir_node *l = eddy__match(r, eddy__match_elements(r, t), &eddy_op_log), *add = NULL;
    int i = 0;
    if (!l) add = eddy__match(r, eddy__match_elements(r, t), &eddy_op_add);
    for (; add && !l && i < 2; i++)
        l = eddy__match(r, eddy__match_elements(r, add->inputs[i]), &eddy_op_log);
    if (!l || l->readers != 1) return -1;
    const ir_node *s = eddy__match(r, eddy__match_elements(r, l->inputs[0]), &eddy_op_sum);
    const ir_node *e = s ? eddy__match(r, s->inputs[0], &eddy_op_exp) : NULL;
    if (!e || e->readers != 1) return -1;
    eddy_tensor shifted = e->inputs[0];
    if (add) {
        const ir_node    *less = eddy__match(r, shifted, &eddy_op_sub);
        const eddy_tensor m = eddy__match_elements(r, add->inputs[i == 1]);
        if (!less || !eddy__match_same(eddy__match_elements(r, less->inputs[1]), m)) return -1;
        const eddy_shape by = eddy__match_type(r, less->inputs[1]).shape;
        const eddy_shape left = eddy__match_folded(e->outputs[0].shape, eddy__match_axes(r, s));
        if (!eddy_shape_equal(by, left) && eddy_shape_count(by) != 1) return -1;
        shifted = less->inputs[0];
    }
    return eddy__match_same(shifted, x) ? eddy__match_axis(eddy__match_axes(r, s)) : -1;
}

/* x - ln sum e^x. */
static bool log_softmax_rule(rewrite *r)
{
    const int        axis = log_sum_of(r, input(r, 1), input(r, 0));
    const eddy_shape x = eddy__match_type(r, input(r, 0)).shape;
    const eddy_shape s = eddy__match_type(r, input(r, 1)).shape;
    if (axis < 0 || (!eddy_shape_equal(s, eddy__match_folded(x, 1u << axis)) &&
                     eddy_shape_count(s) != 1))
        return false;
    return eddy__give(r, eddy__make_along(r, &eddy_op_log_softmax, 1, &r->node->inputs[0], axis));
}

static bool sub_rule(rewrite *r)
{
    return exp_less_one(r, 0, false) || exp_less_one(r, 1, true) || log_softmax_rule(r);
}

bool eddy__stabilize(rewrite *r)
{
    const eddy_op_def *op = r->node->op;
    if (r->node->n_outputs != 1 || !eddy__match_real(r, input(r, 0))) return false;
    if (op == &eddy_op_log) return log_rule(r);
    if (op == &eddy_op_log1p) return log1p_rule(r);
    if (op == &eddy_op_add) return add_rule(r);
    if (op == &eddy_op_sub) return sub_rule(r);
    if (op == &eddy_op_reciprocal) return reciprocal_rule(r);
    if (op == &eddy_op_mul) return eddy__stabilize_product(r);
    return op == &eddy_op_div && eddy__stabilize_quotient(r);
}
