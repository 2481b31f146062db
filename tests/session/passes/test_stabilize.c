/* test_stabilize.c -- the pass for numerically safer forms: where each form applies, its values at
 * the extremes, by itself and in gradients, and where it must not apply. */
#include "tests/lib/graph_fixture.h"

#include <math.h>

Suite *stabilize_suite(void);

enum { PASS = 3 };             /* the number of EDDY_PASS_STABILIZE */

/* y for this value of x, in a session without these passes; how much the pass changed. */
static eddy_array *value(eddy_tensor y, eddy_tensor x, const eddy_array *v, unsigned without,
                         int *changes)
{
    eddy_session *s = eddy_session_new(g, .without = without);
    eddy_array   *out = NULL;
    ck_assert_msg(eddy_run(s, EDDY_FEED({ x, v }), EDDY_FETCH(y), &out) == EDDY_OK, "%s",
                  eddy_session_message(s));
    if (changes) *changes = eddy_session_plan_info(s).changes[PASS];
    eddy_session_free(s);
    return out;
}

static bool near(double a, double b, double rel)
{
    return a == b || fabs(a - b) <= rel * fabs(b) || (isnan(a) && isnan(b));
}

/* ---------------------------------------------------------- elementwise -- */

typedef struct form {
    const char  *name;
    eddy_tensor (*of)(eddy_tensor x);
    double      (*f)(double x), (*slope)(double x);
    double      rest;         /* of the slope that may be wrong: y - y^2 where y is near 1 */
} form;

static double logistic(double x) { return x > 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x)); }
static double hill(double x) { return logistic(x) * logistic(-x); }
static double soft(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }
static double over1p(double x) { return 1 / (1 + x); }
static double minus_over1m(double x) { return -1 / (1 - x); }
static double log1m(double x) { return log1p(-x); }
static double one_less(double x) { return -expm1(x); }
static double minus_exp(double x) { return -exp(x); }
static double log_logistic(double x) { return -soft(-x); }
static double minus_soft(double x) { return -soft(x); }
static double logistic_of_minus(double x) { return logistic(-x); }
static double minus_logistic(double x) { return -logistic(x); }
static double minus_hill(double x) { return -hill(x); }
/* -(z ln p + (1 - z) ln(1 - p)) with p = sigmoid(x), z = 0.25 */
static double entropy(double x) { return 0.25 * soft(-x) + 0.75 * soft(x); }
static double entropy_slope(double x) { return 0.75 * logistic(x) - 0.25 * logistic(-x); }

static eddy_tensor log_one_plus(eddy_tensor x) { return Log(Add(1, x)); }
static eddy_tensor log_plus_one(eddy_tensor x) { return Log(Add(x, 1)); }
static eddy_tensor log_one_less(eddy_tensor x) { return Log(Sub(1, x)); }
static eddy_tensor exp_less_one(eddy_tensor x) { return Sub(Exp(x), 1); }
static eddy_tensor exp_plus_minus(eddy_tensor x) { return Add(-1, Exp(x)); }
static eddy_tensor one_less_exp(eddy_tensor x) { return Sub(1, Exp(x)); }
static eddy_tensor log_one_exp(eddy_tensor x) { return Log(Add(1, Exp(x))); }
static eddy_tensor log1p_exp(eddy_tensor x) { return Log1p(Exp(x)); }
static eddy_tensor log_sigmoid(eddy_tensor x) { return Log(Sigmoid(x)); }
static eddy_tensor log_not_sigmoid(eddy_tensor x) { return Log(Sub(1, Sigmoid(x))); }
static eddy_tensor sigmoid_parts(eddy_tensor x) { return Div(1, Add(1, Exp(Neg(x)))); }
static eddy_tensor sigmoid_over(eddy_tensor x) { return Reciprocal(Add(Exp(x), 1)); }
static eddy_tensor sigmoid_exps(eddy_tensor x) { return Div(Exp(x), Add(1, Exp(x))); }
static eddy_tensor log_sigmoid_parts(eddy_tensor x) { return Log(sigmoid_parts(x)); }
static eddy_tensor entropy_parts(eddy_tensor x)
{
    const eddy_tensor p = Sigmoid(x);
    return Neg(Add(Mul(0.25, Log(p)), Mul(0.75, Log(Sub(1, p)))));
}

static const form FORMS[] = {
    { "log(1 + x)", log_one_plus, log1p, over1p, 0 },
    { "log(x + 1)", log_plus_one, log1p, over1p, 0 },
    { "log(1 - x)", log_one_less, log1m, minus_over1m, 0 },
    { "exp(x) - 1", exp_less_one, expm1, exp, 0 },
    { "-1 + exp(x)", exp_plus_minus, expm1, exp, 0 },
    { "1 - exp(x)", one_less_exp, one_less, minus_exp, 0 },
    { "log(1 + exp(x))", log_one_exp, soft, logistic, 0 },
    { "log1p(exp(x))", log1p_exp, soft, logistic, 0 },
    { "log(sigmoid(x))", log_sigmoid, log_logistic, logistic_of_minus, 0 },
    { "log(1 - sigmoid(x))", log_not_sigmoid, minus_soft, minus_logistic, 0 },
    { "1 / (1 + exp(-x))", sigmoid_parts, logistic, hill, 0 },
    { "1 / (exp(x) + 1)", sigmoid_over, logistic_of_minus, minus_hill, 0 },
    { "exp(x) / (1 + exp(x))", sigmoid_exps, logistic, hill, 1e-7 },
    { "log(1 / (1 + exp(-x)))", log_sigmoid_parts, log_logistic, logistic_of_minus, 0 },
    { "cross entropy", entropy_parts, entropy, entropy_slope, 0 },
};
enum { N_FORMS = sizeof FORMS / sizeof *FORMS };

static const double POINTS[] = { 0,    1e-20, -1e-20, 1e-9, -1e-9, 1e-3, -1e-3, 0.5, -0.5,
                                 0.75, 1,     -1,     3,    -3,    10,   -10,   20,  -20,
                                 60,   -60,   1000,   -1000 };
enum { N_POINTS = sizeof POINTS / sizeof *POINTS };

/* The result at each point; only those where plain double arithmetic gets it right are
 * compared, and results that float32 does not hold to all digits are left out. */
static void check_form(const eddy_array *y, const eddy_array *x, const char *name,
                       double (*f)(double), const eddy_array *plain, double rest)
{
    const bool   single = eddy_array_dtype(y) == EDDY_FLOAT32;
    const double least = single ? 1.2e-38 : 2.3e-308, most = single ? 3e38 : 1e308;
    for (int i = 0; i < N_POINTS; i++) {
        const double got = eddy_array_get(y, i), want = f(eddy_array_get(x, i));
        const double off = eddy_array_get(plain, i);
        if (isnan(want)) ck_assert(isnan(got));
        else if (fabs(want) > most) ck_assert(isinf(got));
        else if (fabs(want) < least) ck_assert(fabs(got) <= 2 * least + rest);
        else
            ck_assert_msg(near(got, want, single ? 2e-6 : 1e-13) || fabs(got - want) < rest,
                          "%s at %g: %.17g, not %.17g", name, eddy_array_get(x, i), got, want);
        if (isfinite(off) && isfinite(want) && fabs(want) > 1e-3 && fabs(want) < 100)
            ck_assert_msg(fabs(off - got) < (single ? 1e-3 : 1e-8) * (1 + fabs(want)) ||
                          off == 0 || fabs(off) > 15,
                          "%s at %g: %g with, %g without", name, eddy_array_get(x, i), got, off);
    }
}

START_TEST(elementwise_forms)
{
    const form *f = &FORMS[_i / 2];
    const eddy_dtype d = _i % 2 ? EDDY_FLOAT64 : EDDY_FLOAT32;
    eddy_array *v = eddy_array_new(d, EDDY_SHAPE(N_POINTS));
    for (int i = 0; i < N_POINTS; i++) eddy_array_set(v, i, POINTS[i]);
    const eddy_tensor x = eddy_placeholder(g, "x", d, EDDY_SHAPE(EDDY_ANY)), y = f->of(x);
    const eddy_tensor all[] = { y, eddy_gradient(y, x), eddy_gradient(Sum(Mul(y, 3)), x) };
    for (int k = 0; k < 3; k++) {
        int         changes = 0, none = 0;
        eddy_array *on = value(all[k], x, v, 0, &changes);
        eddy_array *off = value(all[k], x, v, EDDY_PASS_STABILIZE, &none);
        if (k == 0) ck_assert_msg(changes > 0, "%s", f->name);
        ck_assert_int_eq(none, 0);
        if (k < 2) check_form(on, v, f->name, k == 0 ? f->f : f->slope, off,
                              k == 0 ? 0 : f->rest * (_i % 2 ? 1e-9 : 1));
        for (int i = 0; k == 2 && i < N_POINTS; i++) {
            const double got = eddy_array_get(on, i), want = 3 * f->slope(POINTS[i]);
            ck_assert(near(got, want, 2e-6) || fabs(got - want) < 3 * f->rest + 1e-37 ||
                      fabs(want) > 1e37);
        }
        eddy_array_free(on);
        eddy_array_free(off);
    }
    fits(g);
    eddy_array_free(v);
}
END_TEST

/* -------------------------------------------------------------- softmax -- */

/* Of one lane of n numbers with weights w: ln sum e^x, softmax and its logarithm, and the
 * gradients of the sums of their products with w. */
enum { LANES = 5, N = 4 };
static const double LOGITS[LANES][N] = {
    { 1000, 0, -5, 999 }, { 0.5, -0.25, 3, 1 }, { -1e4, 1e4, 0, 12 }, { 700, 710, 705, -800 },
    { -200, -150, -170, -160 },
};
static const double WEIGHTS[LANES][N] = {
    { 1, 0.5, -1, 2 }, { 0, 1, 0, 0 }, { 0.25, 0.25, 0.5, 0 }, { 1, 2, 3, 4 }, { 0, 0, 0, 1 },
};

typedef struct lane { double x[N], w[N], log_sum, p[N], log_p[N]; } lane;

static lane lane_of(int l)
{
    lane   a;
    double top = LOGITS[l][0], sum = 0;
    for (int i = 1; i < N; i++) top = fmax(top, LOGITS[l][i]);
    for (int i = 0; i < N; i++) sum += exp(LOGITS[l][i] - top);
    a.log_sum = top + log(sum);
    for (int i = 0; i < N; i++) {
        a.x[i] = LOGITS[l][i], a.w[i] = WEIGHTS[l][i];
        a.p[i] = exp(a.x[i] - top) / sum;
        a.log_p[i] = a.x[i] - top - log(sum);
    }
    return a;
}

static double dot(const double *a, const double *b)
{
    double s = 0;
    for (int i = 0; i < N; i++) s += a[i] * b[i];
    return s;
}
static const double ONES[N] = { 1, 1, 1, 1 };

/* The expected value of each element, and of the gradient. */
static double log_p_at(const lane *a, int i) { return a->log_p[i]; }
static double log_p_slope(const lane *a, int i) { return a->w[i] - a->p[i] * dot(a->w, ONES); }
static double p_at(const lane *a, int i) { return a->p[i]; }
static double p_slope(const lane *a, int i) { return a->p[i] * (a->w[i] - dot(a->w, a->p)); }
static double sum_at(const lane *a, int i) { return (void)i, a->log_sum; }
static double sum_slope(const lane *a, int i) { return a->p[i] * dot(a->w, ONES); }

/* Forms along an axis; the results have all elements. */
typedef eddy_tensor along(eddy_tensor x, int axis);
static eddy_tensor log_of_softmax(eddy_tensor x, int axis)
{
    return Log(Softmax(x, .axis = EDDY_AXES(axis)));
}
static eddy_tensor log_of_parts(eddy_tensor x, int axis)
{
    const eddy_tensor e = Exp(x);
    return Log(Div(e, Sum(e, .axes = EDDY_AXES(axis), .keepdims = true)));
}
static eddy_tensor less_log_sum(eddy_tensor x, int axis)
{
    return Sub(x, Log(Sum(Exp(x), .axes = EDDY_AXES(axis), .keepdims = true)));
}
static eddy_tensor less_log_sum_expanded(eddy_tensor x, int axis)
{
    return Sub(x, ExpandDims(Log(Sum(Exp(x), .axes = EDDY_AXES(axis))), axis));
}
static eddy_tensor less_logsumexp(eddy_tensor x, int axis)
{
    return Sub(x, LogSumExp(x, .axes = EDDY_AXES(axis), .keepdims = true));
}
static eddy_tensor softmax_of_parts(eddy_tensor x, int axis)
{
    const eddy_tensor e = Exp(x);
    return Div(e, Sum(e, .axes = EDDY_AXES(axis), .keepdims = true));
}
static eddy_tensor softmax_expanded(eddy_tensor x, int axis)
{
    return Div(Exp(x), ExpandDims(Sum(Exp(x), .axes = EDDY_AXES(axis)), axis));
}
static eddy_tensor log_sum(eddy_tensor x, int axis)
{
    const eddy_tensor s = Log(Sum(Exp(x), .axes = EDDY_AXES(axis), .keepdims = true));
    return eddy_broadcast_like(s, x);
}
static eddy_tensor log_sum_dropped(eddy_tensor x, int axis)
{
    return eddy_broadcast_like(ExpandDims(Log(Sum(Exp(x), .axes = EDDY_AXES(axis))), axis), x);
}

typedef struct lane_form {
    along  *of;
    double (*at)(const lane *a, int i), (*slope)(const lane *a, int i);
} lane_form;

static const lane_form LANE_FORMS[] = {
    { log_of_softmax, log_p_at, log_p_slope },
    { log_of_parts, log_p_at, log_p_slope },
    { less_log_sum, log_p_at, log_p_slope },
    { less_log_sum_expanded, log_p_at, log_p_slope },
    { less_logsumexp, log_p_at, log_p_slope },
    { softmax_of_parts, p_at, p_slope },
    { softmax_expanded, p_at, p_slope },
    { log_sum, sum_at, sum_slope },
    { log_sum_dropped, sum_at, sum_slope },
};
enum { N_LANE_FORMS = sizeof LANE_FORMS / sizeof *LANE_FORMS };

static eddy_array *lanes(eddy_dtype d, const double from[LANES][N], int axis)
{
    eddy_array *a = eddy_array_new(d, axis == 1 ? EDDY_SHAPE(LANES, N) : EDDY_SHAPE(N, LANES));
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i < N; i++)
            eddy_array_set(a, axis == 1 ? l * N + i : i * LANES + l, from[l][i]);
    return a;
}

static void check_lanes(const eddy_array *y, int axis, double (*want)(const lane *, int),
                        double tolerance)
{
    for (int l = 0; l < LANES; l++) {
        const lane a = lane_of(l);
        for (int i = 0; i < N; i++) {
            const double got = eddy_array_get(y, axis == 1 ? l * N + i : i * LANES + l);
            const double w = want(&a, i);
            ck_assert_msg(fabs(got - w) <= tolerance * (1 + fabs(w)), "lane %d, %d: %.9g not %.9g",
                          l, i, got, w);
        }
    }
}

START_TEST(forms_along_an_axis)
{
    const lane_form *f = &LANE_FORMS[_i / 4];
    const eddy_dtype d = _i % 2 ? EDDY_FLOAT64 : EDDY_FLOAT32;
    const int        axis = _i / 2 % 2;
    const double     tolerance = d == EDDY_FLOAT32 ? 3e-6 : 1e-12;
    eddy_array      *v = lanes(d, LOGITS, axis), *weight = lanes(d, WEIGHTS, axis);
    const eddy_tensor x = eddy_placeholder(g, "x", d, eddy_array_shape(v)), y = f->of(x, axis);
    const eddy_tensor loss = Sum(Mul(y, eddy_constant(g, weight, NULL)));
    int         changes = 0;
    eddy_array *a = value(y, x, v, 0, &changes), *b = value(eddy_gradient(loss, x), x, v, 0, NULL);
    ck_assert_int_gt(changes, 0);
    check_lanes(a, axis, f->at, tolerance);
    check_lanes(b, axis, f->slope, tolerance);
    fits(g);
    eddy_array_free(a);
    eddy_array_free(b);
    eddy_array_free(v);
    eddy_array_free(weight);
}
END_TEST

/* The mean cross entropy by parts, of labels that are given, at logits of 1e4. */
START_TEST(cross_entropy_by_parts)
{
    const eddy_dtype d = _i ? EDDY_FLOAT64 : EDDY_FLOAT32;
    eddy_array *v = lanes(d, LOGITS, 1), *w = lanes(d, WEIGHTS, 1);
    const eddy_tensor x = eddy_placeholder(g, "x", d, eddy_array_shape(v));
    const eddy_tensor all = Mul(eddy_constant(g, w, NULL), Log(Softmax(x)));
    const eddy_tensor each = Sum(all, .axes = EDDY_AXES(1));
    const eddy_tensor loss = Neg(Mean(each)), dx = eddy_gradient(loss, x);
    double want = 0;
    for (int l = 0; l < LANES; l++) {
        const lane a = lane_of(l);
        want -= dot(a.w, a.log_p) / LANES;
    }
    eddy_array *a = value(loss, x, v, 0, NULL), *b = value(dx, x, v, 0, NULL);
    eddy_array *off = value(dx, x, v, EDDY_PASS_STABILIZE, NULL);
    ck_assert(near(eddy_array_item(a), want, d == EDDY_FLOAT32 ? 1e-6 : 1e-14));
    bool broken = false;
    for (int l = 0; l < LANES; l++) {
        const lane at = lane_of(l);
        for (int i = 0; i < N; i++) {
            ck_assert_double_eq_tol(eddy_array_get(b, l * N + i), -log_p_slope(&at, i) / LANES,
                                    1e-5);
            broken = broken || !isfinite(eddy_array_get(off, l * N + i));
        }
    }
    ck_assert(broken);                     /* or the test proves nothing */
    eddy_array_free(a);
    eddy_array_free(b);
    eddy_array_free(off);
    eddy_array_free(v);
    eddy_array_free(w);
}
END_TEST

/* One lane with its numbers written down. */
START_TEST(written_down)
{
    const eddy_tensor x = vector(g, 2, (double[]){ 1000, 0 });
    eddy_tensor v = eddy_variable(g, x), y = Log(Softmax(v));
    eddy_session *s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    has(s, y, 2, (double[]){ 0, -1000 });
    has(s, eddy_gradient(y, v), 2, (double[]){ -1, 1 });
    y = Neg(eddy_slice(y, EDDY_AXES(1), EDDY_AXES(1)));
    has(s, eddy_gradient(y, v), 2, (double[]){ 1, -1 });
    eddy_session_free(s);
}
END_TEST

/* Sums over several axes. */
START_TEST(two_axes)
{
    eddy_array *v = lanes(EDDY_FLOAT64, LOGITS, 1);
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, eddy_array_shape(v));
    const eddy_tensor y = Log(Sum(Exp(x))), p = Div(Exp(x), Sum(Exp(x), .keepdims = true));
    eddy_array *a = value(y, x, v, 0, NULL), *b = value(eddy_gradient(y, x), x, v, 0, NULL);
    eddy_array *c = value(p, x, v, 0, NULL);
    ck_assert_double_eq_tol(eddy_array_item(a), 1e4, 1e-9);
    for (int i = 0; i < LANES * N; i++) {
        ck_assert_double_eq(eddy_array_get(b, i), i == 2 * N + 1);
        ck_assert_double_eq(eddy_array_get(c, i), i == 2 * N + 1);
    }
    eddy_array_free(a);
    eddy_array_free(b);
    eddy_array_free(c);
    eddy_array_free(v);
}
END_TEST

/* NaN and infinities remain. */
START_TEST(not_numbers)
{
    const double at[] = { NAN, INFINITY, -INFINITY };
    const double log1[] = { NAN, INFINITY, NAN }, plus[] = { NAN, INFINITY, 0 };
    const double less[] = { NAN, INFINITY, -1 }, half[] = { NAN, 1, 0 };
    const double log_half[] = { NAN, 0, -INFINITY };
    eddy_array *v = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(3), at);
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(3));
    const struct { eddy_tensor y; const double *want; } all[] = {
        { log_one_plus(x), log1 }, { log_one_exp(x), plus }, { exp_less_one(x), less },
        { sigmoid_parts(x), half }, { log_sigmoid(x), log_half },
    };
    for (int k = 0; k < 5; k++)
        for (int off = 0; off < 2; off++) {
            eddy_array *y = value(all[k].y, x, v, off ? EDDY_PASS_STABILIZE : 0, NULL);
            for (int i = 0; i < 3; i++)
                ck_assert_msg(near(eddy_array_get(y, i), all[k].want[i], 0), "%d %d %d: %g", k, off,
                              i, eddy_array_get(y, i));
            eddy_array_free(y);
        }
    /* Lanes of -infinity only, and one infinity. */
    const double lows[] = { -INFINITY, -INFINITY, INFINITY, 0 };
    eddy_array *w = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(2, 2), lows);
    const eddy_tensor m = eddy_placeholder(g, "m", EDDY_FLOAT64, EDDY_SHAPE(2, 2));
    eddy_array *y = value(Log(Sum(Exp(m), .axes = EDDY_AXES(1))), m, w, 0, NULL);
    ck_assert_double_eq(eddy_array_get(y, 0), -INFINITY);
    ck_assert_double_eq(eddy_array_get(y, 1), INFINITY);
    eddy_array_free(y);
    eddy_array_free(w);
    eddy_array_free(v);
}
END_TEST

/* ------------------------------------------------------- left as it is -- */

static eddy_tensor other_number(eddy_tensor x) { return Log(Add(2, x)); }
static eddy_tensor other_function(eddy_tensor x) { return Log(Softplus(x)); }
static eddy_tensor two_less_exp(eddy_tensor x) { return Sub(Exp(x), 2); }
static eddy_tensor one_plus_exp(eddy_tensor x) { return Add(Exp(x), 1); }
static eddy_tensor two_over(eddy_tensor x) { return Div(2, Add(1, Exp(x))); }
static eddy_tensor other_exp(eddy_tensor x) { return Div(Exp(Mul(2, x)), Add(1, Exp(x))); }
static eddy_tensor over_sum_of_others(eddy_tensor x)
{
    return Div(Exp(x), Sum(Exp(Neg(x)), .axes = EDDY_AXES(0), .keepdims = true));
}
static eddy_tensor wider_one(eddy_tensor x)      /* the result is wider than x */
{
    return Log(Add(eddy_ones(g, EDDY_FLOAT64, EDDY_SHAPE(2, N)), x));
}
static eddy_tensor shifted_before(eddy_tensor x)
{
    return LogSumExp(x, .axes = EDDY_AXES(0));
}
static eddy_tensor shifted_by_hand(eddy_tensor x)
{
    const eddy_tensor m = Max(x, .axes = EDDY_AXES(0), .keepdims = true);
    return Add(Log(Sum(Exp(Sub(x, m)), .axes = EDDY_AXES(0), .keepdims = true)), m);
}

static eddy_tensor (*const LEFT[])(eddy_tensor) = {
    other_number, other_function, two_less_exp, one_plus_exp, two_over, other_exp,
    over_sum_of_others, shifted_before, shifted_by_hand, wider_one,
};
enum { N_LEFT = sizeof LEFT / sizeof *LEFT };

START_TEST(left_alone)
{
    eddy_array *v = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(N), LOGITS[1]);
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(N)), y = LEFT[_i](x);
    const bool  wide = LEFT[_i] == wider_one;
    int         changes = 1;
    eddy_array *on = value(y, x, v, wide ? EDDY_PASS_SIMPLIFY : 0, &changes);
    eddy_array *off = value(y, x, v, EDDY_PASS_STABILIZE, NULL);
    if (!wide) ck_assert_int_eq(changes, 0);
    ck_assert(eddy_array_equal(on, off));
    eddy_array_free(on);
    eddy_array_free(off);
    eddy_array_free(v);
}
END_TEST

/* A sum over the other axis is no softmax, even of a square matrix. */
START_TEST(other_axes)
{
    const double m[] = { 1, 2, 3, 5 };
    eddy_array *v = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(2, 2), m);
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(2, 2)), e = Exp(x);
    const eddy_tensor s = Sum(e, .axes = EDDY_AXES(_i)), other_axis = ExpandDims(s, 1 - _i);
    const eddy_tensor forms[] = {
        Div(e, other_axis), Sub(x, Log(other_axis)), Mul(Div(3, other_axis), e), Div(e, s),
        Sub(x, Log(s)),
        Mul(Reshape(Reciprocal(s), EDDY_SHAPE(1, 2)), e), Mul(Div(x, s), e),
    };
    for (int k = 0; k < 7; k++) {
        eddy_array *on = value(forms[k], x, v, 0, NULL);
        eddy_array *off = value(forms[k], x, v, EDDY_PASS_STABILIZE, NULL);
        for (int i = 0; i < 4; i++)
            ck_assert(near(eddy_array_get(on, i), eddy_array_get(off, i), 1e-13));
        eddy_array_free(on);
        eddy_array_free(off);
    }
    eddy_array_free(v);
}
END_TEST

/* A factor that does not have all axes, and is all that a division leaves of a term, is
 * summed as often as the term was. */
START_TEST(narrow_factors)
{
    static const double   numbers[] = { 1.5, 2, 0.25, -3, 0.5, 1.25, 4, -0.75, 2.5, 3, -2, 1.75 };
    const eddy_shape      narrow[] = { EDDY_SCALAR, EDDY_SHAPE(4), EDDY_SHAPE(3, 1),
                                       EDDY_SHAPE(1, 4), EDDY_SHAPE(3, 4), EDDY_SHAPE(2, 1, 1) };
    static const unsigned axes[] = { 1, 2, 4, 3, 6, 5 };
    eddy_array *v = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(2, 3, 4));
    for (int i = 0; i < 24; i++) eddy_array_set(v, i, sin(1.7 * i + 1));
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(2, 3, 4)), e = Exp(x);
    const eddy_tensor a = eddy_const(g, EDDY_FLOAT64, narrow[_i], numbers);
    for (int k = 0; k < 6; k++) {
        eddy_dims at = { .count = 0 };
        for (int i = 0; i < 3; i++)
            if (axes[k] >> i & 1) at.at[at.count++] = i;
        const eddy_tensor s = Sum(e, at, true);
        const eddy_tensor forms[] = {
            Mul(e, Sum(Mul(a, Div(x, Mul(x, s))), at, true)), Mul(e, Sum(Div(a, s), at, true)),
            Mul(e, Sum(Mul(a, Reciprocal(s)), at, true)),
            Mul(e, Sum(Add(Div(a, s), Div(x, s)), at, true)),
            Mul(e, Sum(Mul(x, Square(Mul(a, Reciprocal(s)))), at, true)),
            eddy_gradient(Sum(Mul(a, Log(Div(e, s)))), x), eddy_gradient(Sum(Div(a, s)), x),
        };
        for (int f = 0; f < 7; f++) {
            eddy_array *on = value(forms[f], x, v, 0, NULL);
            eddy_array *off = value(forms[f], x, v, EDDY_PASSES_ALL, NULL);
            for (int i = 0; i < 24; i++)
                ck_assert_msg(fabs(eddy_array_get(on, i) - eddy_array_get(off, i)) <= 1e-13,
                              "form %d, axes %u: %.17g, not %.17g", f, axes[k],
                              eddy_array_get(on, i), eddy_array_get(off, i));
            eddy_array_free(on);
            eddy_array_free(off);
        }
    }
    eddy_array_free(v);
}
END_TEST

/* No node moves before its control inputs; complex numbers and integers are left unchanged. */
START_TEST(waiting_and_other_types)
{
    eddy_tensor v = eddy_variable(g, .initial_value = vector(g, 2, (double[]){ 1, 2 }));
    eddy_tensor twice = eddy_assign_add(v, v);
    eddy_control_begin(g, EDDY_LIST(twice));
    eddy_tensor e = Exp(eddy_read(v));
    eddy_control_end(g);
    eddy_tensor y = Log(Add(1, e));
    eddy_session *s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    has(s, y, 2, (double[]){ log1p(exp(2)), log1p(exp(4)) });
    eddy_tensor i = eddy_cast(v, EDDY_INT32), z = Cast(v, EDDY_COMPLEX128);
    runs(s, Div(1, Add(1, i)));
    runs(s, Log(Add(1, Exp(z))));
    ck_assert_int_eq(eddy_session_plan_info(s).changes[PASS], 0);
    fits(g);
    eddy_session_free(s);
}
END_TEST

Suite *stabilize_suite(void)
{
    Suite *suite = suite_create("stabilize");
    TCase *c = tcase_create("stabilize");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, elementwise_forms, 0, 2 * N_FORMS);
    tcase_add_loop_test(c, forms_along_an_axis, 0, 4 * N_LANE_FORMS);
    tcase_add_loop_test(c, cross_entropy_by_parts, 0, 2);
    tcase_add_test(c, written_down);
    tcase_add_test(c, two_axes);
    tcase_add_test(c, not_numbers);
    tcase_add_loop_test(c, left_alone, 0, N_LEFT);
    tcase_add_loop_test(c, other_axes, 0, 2);
    tcase_add_loop_test(c, narrow_factors, 0, 6);
    tcase_add_test(c, waiting_and_other_types);
    suite_add_tcase(suite, c);
    return suite;
}
