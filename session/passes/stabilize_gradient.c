/* stabilize_gradient.c -- numerically stable gradients of the functions in stabilize.c.
 *
 * The gradient of a logarithm divides by its argument, and the gradient of the softmax, sigmoid
 * or exponential below it multiplies by the same value: 0 / 0 where it underflows, infinity
 * times 0 where it overflows. This pass cancels the division against that factor in every term,
 * and writes the remaining factor as a function that is finite. */
#include "session/passes/stabilize.h"
#include "ops/nets/softmax.h"
#include "ops/weak_ops.h"

static eddy_tensor input(const rewrite *r, int i) { return r->node->inputs[i]; }

/* ----------------------------------------------------------- canceling -- */

/* t / by is replaced by t times `times`, or by t if `times` is invalid. `is` is the tensor 1 /
 * by, if there is one. */
typedef struct divisor {
    eddy_tensor by, times, is;
} divisor;

typedef struct divisors {
    divisor        of[2];
    int            n;
    const ir_node *sum;            /* of[0].by, along axes that stay, with size 1; or NULL */
    bool           inner_divisors;  /* ... of the tensor that is reshaped to it */
} divisors;

enum { DEPTH = 8 };

/* The shape of d->sum with all axes. */
static eddy_shape folded_shape(const rewrite *r, const divisors *d)
{
    return eddy__match_folded(eddy__match_type(r, d->sum->inputs[0]).shape,
                              eddy__match_axes(r, d->sum));
}

static const divisor *divisor_of(const rewrite *r, const divisors *d, eddy_tensor t)
{
    if (d->sum && !d->inner_divisors &&
        !eddy_shape_equal(eddy__match_type(r, t).shape, folded_shape(r, d)))
        return NULL;
    for (int i = 0; i < d->n; i++)
        if (eddy__match_same(d->sum ? eddy__match_elements(r, t) : t, d->of[i].by))
            return &d->of[i];
    return NULL;
}

static bool waits(const ir_node *n) { return n->values || n->n_controls > 0 || n->n_inputs == 0; }

/* True if n sums over the same axes as d->sum and keeps them, so that a division by it can
 * follow the sum. */
static bool folds_alike(const rewrite *r, const divisors *d, const ir_node *n)
{
    if (!d->sum || (n->op != &eddy_op_sum && n->op != &eddy_op_sum_like)) return false;
    const eddy_shape all = eddy__match_type(r, d->sum->inputs[0]).shape;
    return eddy_shape_equal(eddy__match_type(r, n->inputs[0]).shape, all) &&
           eddy_shape_equal(n->outputs[0].shape, folded_shape(r, d));
}

static bool is_reshaped(const rewrite *r, const divisors *d, const ir_node *n)
{
    return d->sum && n->alias && eddy_shape_equal(n->outputs[0].shape, folded_shape(r, d));
}

static divisors inner_divisors(const divisors *d)
{
    divisors more = *d;
    more.inner_divisors = true;
    return more;
}

/* True if every term of t is divided by one of the divisors. */
static bool is_divided(const rewrite *r, const divisors *d, eddy_tensor t, int depth)
{
    const ir_node *n = eddy__ir_node(r->ir, t);
    if (eddy__match_same(t, d->of[0].is)) return true;
    if (depth == 0 || waits(n)) return false;
    if (is_reshaped(r, d, n)) {
        const divisors more = inner_divisors(d);
        return is_divided(r, &more, n->inputs[0], depth - 1);
    }
    const bool first = is_divided(r, d, n->inputs[0], depth - 1);
    if (n->op == &eddy_op_reciprocal) return divisor_of(r, d, n->inputs[0]) != NULL;
    if (n->op == &eddy_op_div) return first || divisor_of(r, d, n->inputs[1]);
    if (n->op == &eddy_op_neg || n->op == &eddy_op_square || folds_alike(r, d, n)) return first;
    if (n->op == &eddy_op_mul || n->op == &eddy_op_mul_no_nan)
        return first || is_divided(r, d, n->inputs[1], depth - 1);
    if (n->op != &eddy_op_add && n->op != &eddy_op_sub) return false;
    return first && is_divided(r, d, n->inputs[1], depth - 1);
}

/* A factor that changes neither values nor shapes. */
static bool is_one(const rewrite *r, eddy_tensor t)
{
    return eddy_shape_count(eddy__match_type(r, t).shape) == 1 && eddy__match_is(r, t, 1);
}

static eddy_tensor times(rewrite *r, eddy_tensor a, eddy_tensor b)
{
    if (!eddy__ir_valid(b) || is_one(r, a)) return eddy__ir_valid(b) ? b : a;
    return eddy__make2(r, &eddy_op_mul, a, b);
}

/* The sum of t over an axis of the shape s, to which it broadcasts; the axis stays. */
static eddy_tensor sum_along(rewrite *r, eddy_tensor t, eddy_shape s, int axis)
{
    const eddy_shape own = eddy__match_type(r, t).shape;
    const int        at = axis - (s.rank - own.rank);
    if (at >= 0 && own.dim[at] == s.dim[axis])
        return eddy__make_fold(r, &eddy_op_sum, t, 1u << at);
    return eddy__make2(r, &eddy_op_mul, t, eddy__make_number(r, (double)s.dim[axis], t));
}

/* The sum of t over the axes of d->sum. The broadcast that gave t its full shape may have been
 * removed. */
static eddy_tensor sum_over_same_axes(rewrite *r, const divisors *d, eddy_tensor t)
{
    const eddy_shape s = eddy__match_type(r, d->sum->inputs[0]).shape;
    const unsigned   axes = eddy__match_axes(r, d->sum);
    if (!eddy__ir_valid(t)) return t;
    if (eddy_shape_equal(eddy__match_type(r, t).shape, s))
        return eddy__make_fold(r, &eddy_op_sum, t, axes);
    for (int i = 0; i < s.rank && eddy__ir_valid(t); i++)
        if (axes >> i & 1) t = sum_along(r, t, s, i);
    return t;
}

static eddy_tensor without_divisor(rewrite *r, const divisors *d, eddy_tensor t);

/* n, a product or a quotient, of which one operand is divided, or which divides itself. */
static eddy_tensor undivided_factor(rewrite *r, const divisors *d, const ir_node *n)
{
    const bool     quotient = n->op == &eddy_op_div;
    const divisor *own = quotient ? divisor_of(r, d, n->inputs[1]) : NULL;
    eddy_tensor    a = n->inputs[0], b = n->inputs[1];
    if (own) return times(r, a, own->times);
    if (is_divided(r, d, a, DEPTH)) a = without_divisor(r, d, a);
    else b = without_divisor(r, d, b);
    if (n->op != &eddy_op_mul || (!is_one(r, a) && !is_one(r, b)))
        return eddy__make2(r, n->op, a, b);
    return is_one(r, a) ? b : a;
}

static eddy_tensor undivided_reshape(rewrite *r, const divisors *d, const ir_node *n)
{
    const divisors    more = inner_divisors(d);
    const eddy_tensor a = without_divisor(r, &more, n->inputs[0]);
    if (!eddy__ir_valid(a) || eddy_shape_count(eddy__match_type(r, a).shape) == 1) return a;
    return eddy__rewrite_reshaped(r, a, n->outputs[0].shape);
}

/* t, of which is_divided holds, without the divisions. */
static eddy_tensor without_divisor(rewrite *r, const divisors *d, eddy_tensor t)
{
    const ir_node *n = eddy__ir_node(r->ir, t);
    if (eddy__match_same(t, d->of[0].is)) return d->of[0].times;
    if (n->op == &eddy_op_reciprocal)
        return times(r, eddy__make_number(r, 1, t), divisor_of(r, d, n->inputs[0])->times);
    if (n->op == &eddy_op_mul || n->op == &eddy_op_mul_no_nan || n->op == &eddy_op_div)
        return undivided_factor(r, d, n);
    if (is_reshaped(r, d, n)) return undivided_reshape(r, d, n);
    const eddy_tensor a = without_divisor(r, d, n->inputs[0]);
    if (n->op == &eddy_op_square) return eddy__make2(r, &eddy_op_mul, n->inputs[0], a);
    if (n->op == &eddy_op_neg) return eddy__make_negative(r, a);
    if (folds_alike(r, d, n)) return sum_over_same_axes(r, d, a);
    return eddy__make2(r, n->op, a, without_divisor(r, d, n->inputs[1]));
}

/* ------------------------------------------------------------- softmax -- */

/* t is g y, or g -y. */
static bool is_product_of(const rewrite *r, eddy_tensor t, eddy_tensor g, eddy_tensor y, bool minus)
{
    const ir_node *over = eddy__match(r, g, &eddy_op_reciprocal);
    const ir_node *n = eddy__match(r, t, over ? &eddy_op_div : &eddy_op_mul);
    if (!n) return false;
    for (int i = 0; i < 2; i++) {
        eddy_tensor    a = n->inputs[i];
        const ir_node *neg = minus ? eddy__match(r, a, &eddy_op_neg) : NULL;
        if (minus && !neg) continue;
        if (neg) a = neg->inputs[0];
        if (eddy__match_same(a, y) &&
            eddy__match_same(n->inputs[1 - i], over ? over->inputs[0] : g))
            return true;
    }
    return false;
}

/* n is g - sum(g y), over the axis of the softmax y; its input i is g. */
static bool is_centered(const rewrite *r, const ir_node *n, eddy_tensor y, int axis, int i)
{
    const eddy_shape s = eddy__match_type(r, y).shape;
    const ir_node *sum = eddy__match(r, n->inputs[1 - i], &eddy_op_sum);
    if (n->op == &eddy_op_sub && i != 0) return false;
    if (!sum) sum = eddy__match(r, n->inputs[1 - i], &eddy_op_sum_like);
    if (!sum || !eddy_shape_equal(sum->outputs[0].shape, eddy__match_folded(s, 1u << axis)) ||
        !eddy_shape_equal(eddy__match_type(r, sum->inputs[0]).shape, s))
        return false;
    return is_product_of(r, sum->inputs[0], n->inputs[i], y, n->op == &eddy_op_add);
}

/* (g - sum(g y)) y = dy - y sum(dy), where g = dy / y. */
static bool softmax_gradient(rewrite *r, eddy_tensor centered, const ir_node *softmax)
{
    const eddy_tensor y = eddy__ir_tensor(softmax->id, 0);
    const divisors    d = { .of = { { .by = y } }, .n = 1 };
    const eddy_shape  s = softmax->outputs[0].shape;
    const int64_t     at = ((const eddy_softmax_attrs *)softmax->attrs)->axis;
    const int         axis = (int)(at < 0 ? at + s.rank : at);
    const ir_node    *n = eddy__match(r, centered, &eddy_op_sub);
    int               i = 0;
    if (!n) n = eddy__match(r, centered, &eddy_op_add);
    while (n && i < 2 && !is_centered(r, n, y, axis, i)) i++;
    if (!n || i == 2 || !is_divided(r, &d, n->inputs[i], DEPTH)) return false;
    const eddy_tensor dy = without_divisor(r, &d, n->inputs[i]);
    if (!eddy__ir_valid(dy)) return false;
    const eddy_tensor log = eddy__make_along(r, &eddy_op_log_softmax, 1, softmax->inputs, axis);
    const eddy_tensor back = eddy__make2(r, &eddy_op_mul, eddy__make1(r, &eddy_op_exp, log),
                                         sum_along(r, dy, s, axis));
    return eddy__give(r, eddy__make2(r, &eddy_op_sub, dy, back));
}

/* e^x / sum e^x. */
static eddy_tensor make_softmax(rewrite *r, eddy_tensor x, const ir_node *sum)
{
    const unsigned axes = eddy__match_axes(r, sum);
    if (eddy__match_axis(axes) >= 0)
        return eddy__make_along(r, &eddy_op_softmax, 1, &x, eddy__match_axis(axes));
    const eddy_tensor less = eddy__make2(r, &eddy_op_sub, x, eddy__make_top(r, x, axes));
    const eddy_tensor e = eddy__make1(r, &eddy_op_exp, less);
    return eddy__make2(r, &eddy_op_div, e, eddy__make_fold(r, &eddy_op_sum, e, axes));
}

/* True if t, a divisor of a tensor with the shape of x, is the sum of e, the exponentials of x,
 * which are not known to be at most 1. */
static const ir_node *is_sum_of_exps(const rewrite *r, eddy_tensor t, const ir_node *e)
{
    const ir_node *sum = eddy__match(r, eddy__match_elements(r, t), &eddy_op_sum);
    if (!sum || sum->inputs[0].node != e->id || eddy__is_shifted(r, e->inputs[0])) return NULL;
    return eddy__match_axes(r, sum) != 0 ? sum : NULL;
}

/* -------------------------------------------------- products with e^x -- */

/* n is sigmoid(-x). */
static bool is_sigmoid_of_minus(const rewrite *r, const ir_node *n, eddy_tensor x)
{
    if (n->op != &eddy_op_sigmoid) return false;
    const ir_node *neg = eddy__match(r, n->inputs[0], &eddy_op_neg);
    if (neg && eddy__match_same(neg->inputs[0], x)) return true;
    neg = eddy__match(r, x, &eddy_op_neg);
    return neg && eddy__match_same(neg->inputs[0], n->inputs[0]);
}

/* The divisor of n, if it is a sum of the exponentials e, or 1 + e; else NULL. */
static const ir_node *divisor_of_node(const rewrite *r, const ir_node *n, const ir_node *e)
{
    const bool over = n->op == &eddy_op_div;
    if (!over && n->op != &eddy_op_reciprocal) return NULL;
    const ir_node *sum = is_sum_of_exps(r, n->inputs[over], e);
    const ir_node *add = eddy__match(r, n->inputs[over], &eddy_op_add);
    eddy_tensor    a;
    if (sum) return sum;
    return add && eddy__is_one_plus(r, add, &a) && a.node == e->id ? add : NULL;
}

static bool is_transparent(const ir_node *n)
{
    static const eddy_op_def *const ops[] = {
        &eddy_op_mul, &eddy_op_mul_no_nan, &eddy_op_div, &eddy_op_neg, &eddy_op_square,
        &eddy_op_add, &eddy_op_sub, &eddy_op_sum, &eddy_op_sum_like,
    };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (n->op == ops[i]) return true;
    return n->alias;
}

/* The divisor of a term of t (divisor_of_node), or of the factor sigmoid(-x), which is 1 / (1 +
 * e^x). */
static const ir_node *find_divisor(const rewrite *r, eddy_tensor t, const ir_node *e, int depth)
{
    const ir_node *n = eddy__ir_node(r->ir, t), *found = NULL;
    if (depth == 0 || waits(n)) return NULL;
    if (is_sigmoid_of_minus(r, n, e->inputs[0])) return n;
    if ((found = divisor_of_node(r, n, e)) != NULL || !is_transparent(n)) return found;
    for (int i = 0; i < n->n_inputs && i < 2 && !found; i++)
        found = find_divisor(r, n->inputs[i], e, depth - 1);
    return found;
}

/* t e^x, where t is divided by 1 + e^x or by the sum of the e^x. */
static bool exp_gradient(rewrite *r, eddy_tensor t, const ir_node *e)
{
    const ir_node *by = find_divisor(r, t, e, DEPTH);
    if (!by) return false;
    const bool is_sum = by->op == &eddy_op_sum;
    divisors   d = { .n = 1, .sum = is_sum ? by : NULL };
    if (by->op == &eddy_op_sigmoid) d.of[0].is = eddy__ir_tensor(by->id, 0);
    else d.of[0].by = eddy__ir_tensor(by->id, 0);
    if (!is_divided(r, &d, t, DEPTH)) return false;
    if (!is_sum) d.of[0].times = eddy__make1(r, &eddy_op_sigmoid, e->inputs[0]);
    const eddy_tensor y = without_divisor(r, &d, t);
    if (!is_sum || !eddy__ir_valid(y)) return eddy__give(r, y);
    return eddy__give(r, times(r, y, make_softmax(r, e->inputs[0], by)));
}

/* ------------------------------------------------------------- sigmoid -- */

/* The x of a product s (1 - s) with s = sigmoid(x); *less is the factor 1 - s. */
static const ir_node *match_sigmoid_gradient(const rewrite *r, eddy_tensor t, eddy_tensor *less)
{
    const ir_node *n = eddy__match(r, t, &eddy_op_mul);
    int            i = 0;
    const ir_node *s = n ? eddy__match_either(r, n, &eddy_op_sigmoid, &i) : NULL;
    if (!s) return NULL;
    *less = n->inputs[1 - i];
    const ir_node *sub = eddy__match(r, *less, &eddy_op_sub);
    const bool fits = sub && eddy__match_is(r, sub->inputs[0], 1) && sub->inputs[1].node == s->id;
    return fits ? s : NULL;
}

/* t s (1 - s), where the terms of t are divided by s or by 1 - s. */
static bool sigmoid_gradient(rewrite *r, eddy_tensor t, eddy_tensor product)
{
    eddy_tensor    less;
    const ir_node *s = match_sigmoid_gradient(r, product, &less);
    if (!s) return false;
    const eddy_tensor y = eddy__ir_tensor(s->id, 0);
    divisors d = { .of = { { .by = y }, { .by = less, .times = y } }, .n = 2 };
    if (!is_divided(r, &d, t, DEPTH)) return false;
    d.of[0].times = eddy__make1(r, &eddy_op_sigmoid, eddy__make_negative(r, s->inputs[0]));
    return eddy__give(r, without_divisor(r, &d, t));
}

/* a t / s, where s = sigmoid(-x) and t is divided by 1 + e^x. */
static bool divided_by_sigmoid(rewrite *r, eddy_tensor a, eddy_tensor t, eddy_tensor s)
{
    const ir_node *sigmoid = eddy__match(r, s, &eddy_op_sigmoid);
    const ir_node *n = eddy__ir_node(r->ir, t), *e = NULL, *by = NULL;
    for (int i = 0; i < DEPTH && sigmoid && !e && n->n_inputs > 0; i++) {
        const ir_node *add = n->op == &eddy_op_div ? eddy__match(r, n->inputs[1], &eddy_op_add)
                                                     : NULL;
        eddy_tensor      x;
        if (add && eddy__is_one_plus(r, add, &x)) e = eddy__match(r, x, &eddy_op_exp), by = add;
        n = eddy__ir_node(r->ir, n->inputs[n->op == &eddy_op_mul]);
    }
    if (!e || !is_sigmoid_of_minus(r, sigmoid, e->inputs[0])) return false;
    const divisors d = { .of = { { .by = eddy__ir_tensor(by->id, 0) } }, .n = 1 };
    if (!is_divided(r, &d, t, DEPTH)) return false;
    const eddy_tensor y = without_divisor(r, &d, t);
    return eddy__give(r, eddy__ir_valid(a) ? eddy__make2(r, &eddy_op_mul, a, y) : y);
}

/* t (1 + e^x), or t a (1 + e^x), where t is divided by the sum. */
static bool times_divisor(rewrite *r, eddy_tensor t, eddy_tensor by)
{
    const ir_node *mul = eddy__match(r, by, &eddy_op_mul),
                    *add = eddy__match(r, by, &eddy_op_add);
    int              i = 0;
    if (mul) add = eddy__match_either(r, mul, &eddy_op_add, &i);
    eddy_tensor x;
    if (!add || !eddy__is_one_plus(r, add, &x) || !eddy__match(r, x, &eddy_op_exp)) return false;
    const divisors d = { .of = { { .by = eddy__ir_tensor(add->id, 0) } }, .n = 1 };
    if (!is_divided(r, &d, t, DEPTH)) return false;
    const eddy_tensor y = without_divisor(r, &d, t);
    return eddy__give(r, mul ? eddy__make2(r, &eddy_op_mul, mul->inputs[1 - i], y) : y);
}

/* --------------------------------------------------------------- rules -- */

bool eddy__stabilize_product(rewrite *r)
{
    for (int i = 0; i < 2; i++) {
        const ir_node *n = eddy__match(r, input(r, i), &eddy_op_softmax);
        if (n && softmax_gradient(r, input(r, 1 - i), n)) return true;
        n = eddy__match(r, input(r, i), &eddy_op_exp);
        if (n && exp_gradient(r, input(r, 1 - i), n)) return true;
        if (sigmoid_gradient(r, input(r, 1 - i), input(r, i))) return true;
        if (times_divisor(r, input(r, 1 - i), input(r, i))) return true;
        n = eddy__match(r, input(r, i), &eddy_op_div);
        if (n && divided_by_sigmoid(r, n->inputs[0], input(r, 1 - i), n->inputs[1])) return true;
    }
    return false;
}

/* e^x / (1 + e^x), -e^x / (1 + e^x), and s (1 - s) by s or by 1 - s. */
static bool sigmoid_quotient(rewrite *r, const ir_node *e, bool negative)
{
    const ir_node *add = eddy__match(r, input(r, 1), &eddy_op_add);
    eddy_tensor    a, less;
    if (e && add && eddy__is_one_plus(r, add, &a) && a.node == e->id) {
        const eddy_tensor y = eddy__make1(r, &eddy_op_sigmoid, e->inputs[0]);
        return eddy__give(r, negative ? eddy__make_negative(r, y) : y);
    }
    const ir_node *s = match_sigmoid_gradient(r, input(r, 0), &less);
    if (!s) return false;
    if (eddy__match_same(input(r, 1), less)) return eddy__give(r, eddy__ir_tensor(s->id, 0));
    if (input(r, 1).node != s->id) return false;
    return eddy__give(r, eddy__make1(r, &eddy_op_sigmoid, eddy__make_negative(r, s->inputs[0])));
}

/* a e^x / sum e^x; a may be -1 or a factor in a product. */
bool eddy__stabilize_quotient(rewrite *r)
{
    const ir_node *e = eddy__match(r, input(r, 0), &eddy_op_exp);
    const ir_node *neg = eddy__match(r, input(r, 0), &eddy_op_neg);
    const ir_node *mul = eddy__match(r, input(r, 0), &eddy_op_mul);
    int            i = 0;
    if (neg) e = eddy__match(r, neg->inputs[0], &eddy_op_exp);
    if (sigmoid_quotient(r, e, neg != NULL)) return true;
    if (divided_by_sigmoid(r, EDDY_NO_TENSOR, input(r, 0), input(r, 1))) return true;
    if (mul) e = eddy__match_either(r, mul, &eddy_op_exp, &i);
    const ir_node *sum = e ? is_sum_of_exps(r, input(r, 1), e) : NULL;
    if (!sum) return false;
    const eddy_shape left = eddy__match_folded(e->outputs[0].shape, eddy__match_axes(r, sum));
    const eddy_shape by = eddy__match_type(r, input(r, 1)).shape;
    if (!eddy_shape_equal(by, left) && eddy_shape_count(by) != 1) return false;
    const eddy_tensor y = make_softmax(r, e->inputs[0], sum);
    if (neg) return eddy__give(r, eddy__make_negative(r, y));
    return eddy__give(r, mul ? eddy__make2(r, &eddy_op_mul, mul->inputs[1 - i], y) : y);
}
