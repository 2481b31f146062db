/* test_patterns.c -- operations made of parts that a session computes as one: every way of writing
 * them is recognized and gives the same values; similar graphs are left unchanged. */
#include "tests/lib/checks.h"

#include <math.h>

Suite *patterns_suite(void);

static eddy_graph *g;

static eddy_tensor last_scale;         /* that a form has made; node 0: none */

static void setup(void)
{
    g = eddy_graph_new();
    last_scale = EDDY_NO_TENSOR;
}
static void teardown(void) { eddy_graph_free(g); }

enum { PASS = 4 };             /* the number of EDDY_PASS_PATTERNS */

static double some_number(int64_t i) { return 3 * sin(1.7 * (double)i + 0.3) - 0.25; }

static eddy_array *numbers(eddy_dtype d, eddy_shape s)
{
    eddy_array *a = eddy_array_new(d, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++) eddy_array_set(a, i, some_number(i));
    return a;
}

static eddy_tensor constant(eddy_dtype d, int64_t n, double first)
{
    eddy_array *a = eddy_array_new(d, EDDY_SHAPE(n));
    for (int64_t i = 0; i < n; i++) eddy_array_set(a, i, first + 0.5 * cos((double)i));
    const eddy_tensor t = eddy_constant(g, a, NULL);
    eddy_array_free(a);
    return eddy_placeholder_with_default(t, "v", EDDY_SHAPE(n));
}

typedef struct outcome {
    eddy_array *y;
    int         changes;
    char        report[1 << 16];
} outcome;

/* y, with the report of the passes. */
static void run(outcome *o, eddy_tensor y, eddy_tensor x, const eddy_array *v, unsigned without)
{
    FILE         *f = fmemopen(o->report, sizeof o->report, "w");
    eddy_session *s = eddy_session_new(g, .without = without, .report = f, .report_nodes = true);
    o->y = NULL;
    ck_assert_msg(eddy_run(s, EDDY_FEED({ x, v }), EDDY_FETCH(y), &o->y) == EDDY_OK, "%s",
                  eddy_session_message(s));
    o->changes = eddy_session_plan_info(s).changes[PASS];
    eddy_session_free(s);
    fclose(f);
}

static outcome on, off;

static void same_values(double tolerance)
{
    ck_assert(eddy_shape_equal(eddy_array_shape(on.y), eddy_array_shape(off.y)));
    for (int64_t i = 0; i < eddy_array_count(on.y); i++) {
        const double a = eddy_array_get(on.y, i), b = eddy_array_get(off.y, i);
        ck_assert_msg(fabs(a - b) <= tolerance * (1 + fabs(b)) || (isnan(a) && isnan(b)),
                      "%d: %.9g with, %.9g without", (int)i, a, b);
    }
    eddy_array_free(on.y);
    eddy_array_free(off.y);
}

/* Whether the last list of nodes has one of this op. */
static bool has_op(const outcome *o, const char *op)
{
    const char *last = strstr(o->report, "scheduled:");
    char        text[80];
    snprintf(text, sizeof text, " = %s(", op);
    return last && strstr(last, text) != NULL;
}

/* ---------------------------------------------------------------- norms -- */

/* Scale and offset of the last axis. */
enum { CHANNELS = 5 };
static eddy_tensor scale_of(eddy_tensor x)
{
    return last_scale = constant(eddy_dtype_of(x), CHANNELS, 1.5);
}
static eddy_tensor offset_of(eddy_tensor x) { return constant(eddy_dtype_of(x), CHANNELS, -0.5); }

static eddy_tensor by_moments(eddy_tensor x, eddy_dims axes, bool keep)
{
    const eddy_tensor mean = eddy_moments(x, .axes = axes, .keepdims = keep);
    return eddy_batch_normalization(x, mean, eddy_output(mean, 1), offset_of(x), scale_of(x), 1e-3);
}
static eddy_tensor by_moments_plain(eddy_tensor x, eddy_dims axes, bool keep)
{
    const eddy_tensor mean = eddy_moments(x, .axes = axes, .keepdims = keep);
    return eddy_batch_normalization(x, mean, eddy_output(mean, 1), .variance_epsilon = 1e-3);
}
static eddy_tensor centered(eddy_tensor x, eddy_dims axes, bool keep)
{
    return Sub(x, Mean(x, .axes = axes, .keepdims = keep));
}
static eddy_tensor variance(eddy_tensor x, eddy_dims axes, bool keep)
{
    return Mean(Square(centered(x, axes, keep)), .axes = axes, .keepdims = keep);
}
static eddy_tensor by_root(eddy_tensor x, eddy_dims axes, bool keep)
{
    const eddy_tensor z = Div(centered(x, axes, keep), Sqrt(Add(variance(x, axes, keep), 1e-3)));
    return Add(Mul(z, scale_of(x)), offset_of(x));
}
static eddy_tensor by_rsqrt(eddy_tensor x, eddy_dims axes, bool keep)
{
    const eddy_tensor z = Mul(Rsqrt(Add(1e-3, variance(x, axes, keep))), centered(x, axes, keep));
    return Add(offset_of(x), Mul(scale_of(x), z));
}
static eddy_tensor by_gain(eddy_tensor x, eddy_dims axes, bool keep)
{
    const eddy_tensor gain = Mul(scale_of(x), Rsqrt(Add(variance(x, axes, keep), 1e-3)));
    return BiasAdd(Mul(centered(x, axes, keep), gain), offset_of(x));
}
static eddy_tensor scaled_first(eddy_tensor x, eddy_dims axes, bool keep)
{
    const eddy_tensor root = Sqrt(Add(variance(x, axes, keep), 1e-3));
    return Div(Mul(scale_of(x), centered(x, axes, keep)), root);
}
static eddy_tensor by_squares(eddy_tensor x, eddy_dims axes, bool keep)
{
    const eddy_tensor mean = Mean(x, .axes = axes, .keepdims = keep);
    const eddy_tensor of_squares = Mean(Square(x), .axes = axes, .keepdims = keep);
    const eddy_tensor v = Sub(of_squares, Square(mean));
    return Mul(Mul(Sub(x, mean), Rsqrt(Add(v, 1e-3))), scale_of(x));
}

typedef eddy_tensor norm_form(eddy_tensor x, eddy_dims axes, bool keep);
static norm_form *const NORMS[] = {
    by_moments, by_moments_plain, by_root, by_rsqrt, by_gain, scaled_first, by_squares,
};
enum { N_NORMS = sizeof NORMS / sizeof *NORMS };

/* Rows, columns kept, columns dropped; both types. */
START_TEST(norms)
{
    const eddy_dtype d = _i % 2 ? EDDY_FLOAT64 : EDDY_FLOAT32;
    const int        how = _i / 2 % 3;
    const eddy_shape s = how == 0 ? EDDY_SHAPE(3, 4, CHANNELS)
                                         : EDDY_SHAPE(4, 2, 3, CHANNELS);
    const eddy_dims  axes = how == 0 ? EDDY_AXES(-1) : EDDY_AXES(0, 1, 2);
    const eddy_tensor x = eddy_placeholder(g, "x", d, s), y = NORMS[_i / 6](x, axes, how < 2);
    eddy_array *v = numbers(d, s);
    run(&on, y, x, v, 0);
    run(&off, y, x, v, EDDY_PASS_PATTERNS);
    ck_assert_int_gt(on.changes, 0);
    ck_assert(has_op(&on, how == 0 ? "LayerNorm" : "FusedBatchNormV3"));
    ck_assert(!has_op(&on, "Mean") && !has_op(&on, "Rsqrt") && !has_op(&on, "Add"));
    same_values(d == EDDY_FLOAT32 ? 2e-5 : 1e-11);
    eddy_array_free(v);
    fits(g);
}
END_TEST

/* With the gradients, which read the parts too: they are one op as well. */
START_TEST(norms_with_gradients)
{
    const eddy_dtype  d = _i % 2 ? EDDY_FLOAT64 : EDDY_FLOAT32;
    const bool        rows = _i / 2 % 2;
    const eddy_shape  s = EDDY_SHAPE(6, CHANNELS);
    const eddy_tensor x = eddy_placeholder(g, "x", d, s);
    const eddy_tensor y = NORMS[_i / 4](x, rows ? EDDY_AXES(1) : EDDY_AXES(0), true);
    const eddy_tensor loss = Sum(Mul(Square(y), Add(y, x))), dx = eddy_gradient(loss, x);
    eddy_tensor all = Add(dx, y);
    if (last_scale.node > 0) all = Add(all, eddy_gradient(loss, last_scale));
    eddy_array *v = numbers(d, s);
    run(&on, all, x, v, 0);
    run(&off, all, x, v, EDDY_PASS_PATTERNS | EDDY_PASS_STABILIZE | EDDY_PASS_SIMPLIFY);
    ck_assert(has_op(&on, rows ? "LayerNormGrad" : "FusedBatchNormGradV3"));
    ck_assert(!has_op(&on, "Rsqrt") && !has_op(&on, "Mean") && !has_op(&on, "Sqrt"));
    same_values(d == EDDY_FLOAT32 ? 1e-4 : 1e-10);
    eddy_array_free(v);
    fits(g);
}
END_TEST

/* With a residual around it, and the gradient of the scale alone. */
START_TEST(norms_in_a_block)
{
    const eddy_shape  s = EDDY_SHAPE(2, 3, CHANNELS);
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, s);
    const eddy_tensor z = by_moments(Tanh(x), EDDY_AXES(2), true);
    const eddy_tensor loss = Sum(Square(Add(Tanh(x), Relu(z))));
    const eddy_tensor all = Add(eddy_gradient(loss, x), eddy_gradient(loss, last_scale));
    eddy_array *v = numbers(EDDY_FLOAT64, s);
    run(&on, all, x, v, 0);
    run(&off, all, x, v, EDDY_PASS_PATTERNS);
    ck_assert(has_op(&on, "LayerNormGrad") && has_op(&on, "LayerNorm") && !has_op(&on, "Rsqrt"));
    same_values(1e-10);
    run(&on, eddy_gradient(loss, last_scale), x, v, 0);
    run(&off, eddy_gradient(loss, last_scale), x, v, EDDY_PASS_PATTERNS);
    ck_assert(has_op(&on, "LayerNormGrad") && !has_op(&on, "Rsqrt"));
    same_values(1e-10);
    eddy_array_free(v);
    fits(g);
}
END_TEST

/* Sums that only resemble the gradient: they leave out the variance or the mean, or go along other
 * axes. */
START_TEST(other_slopes)
{
    const bool        rows = _i % 2;
    const eddy_dims   axes = rows ? EDDY_AXES(1) : EDDY_AXES(0);
    const eddy_shape  s = EDDY_SHAPE(CHANNELS, CHANNELS);
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, s);
    eddy_tensor mean = Mean(x, .axes = axes, .keepdims = true), v = variance(x, axes, true);
    if (_i / 2 == 0) mean = StopGradient(mean);
    if (_i / 2 == 1) v = StopGradient(v);
    if (_i / 2 == 2) v = variance(x, rows ? EDDY_AXES(0) : EDDY_AXES(1), true);
    const eddy_tensor z = Mul(Sub(x, mean), Rsqrt(Add(v, 1e-3)));
    const eddy_tensor y = Add(Mul(z, scale_of(x)), offset_of(x));
    const eddy_tensor dx = Add(eddy_gradient(Sum(Exp(y)), x), y);
    eddy_array *a = numbers(EDDY_FLOAT64, s);
    run(&on, dx, x, a, 0);
    run(&off, dx, x, a, EDDY_PASS_PATTERNS);
    ck_assert(!has_op(&on, "LayerNormGrad") || _i / 2 == 0);
    same_values(1e-9);
    eddy_array_free(a);
    fits(g);
}
END_TEST

static eddy_tensor unsteadied(eddy_tensor x)         /* the root, then epsilon */
{
    const eddy_dims axes = EDDY_AXES(1);
    return Div(centered(x, axes, true), Add(Sqrt(variance(x, axes, true)), 1e-3));
}
static eddy_tensor other_variance(eddy_tensor x)
{
    return Mul(centered(x, EDDY_AXES(1), true),
               Rsqrt(Add(variance(Square(x), EDDY_AXES(1), true), 1e-3)));
}
static eddy_tensor other_axis(eddy_tensor x)
{
    return Mul(centered(x, EDDY_AXES(1), true),
               Rsqrt(Add(variance(x, EDDY_AXES(0), true), 1e-3)));
}
static eddy_tensor transposed(eddy_tensor x)             /* the mean of rows from columns */
{
    const eddy_tensor z = Sub(x, Mean(x, .axes = EDDY_AXES(1)));
    return Mul(z, Rsqrt(Add(Mean(Square(z), .axes = EDDY_AXES(1)), 1e-3)));
}
static eddy_tensor without_epsilon(eddy_tensor x)
{
    return Mul(centered(x, EDDY_AXES(1), true), Rsqrt(variance(x, EDDY_AXES(1), true)));
}
static eddy_tensor gelu_of_other_number(eddy_tensor x)
{
    return Mul(Mul(0.5, x), Add(1, Erf(Mul(0.8, x))));
}
static eddy_tensor gelu_not_halved(eddy_tensor x)
{
    return Mul(x, Add(1, Erf(Mul(0.70710678118654752, x))));
}
static eddy_tensor gelu_of_other_x(eddy_tensor x)
{
    return Mul(Mul(0.5, Square(x)), Add(1, Erf(Mul(0.70710678118654752, x))));
}
static eddy_tensor softmax_of_other_axis(eddy_tensor x)
{
    const eddy_tensor e = Exp(Sub(x, Max(x, .axes = EDDY_AXES(0), .keepdims = true)));
    return Div(e, Sum(e, .axes = EDDY_AXES(1), .keepdims = true));
}
static eddy_tensor attention_over_rows(eddy_tensor x)
{
    return MatMul(Softmax(MatMul(x, x, .transpose_b = true), .axis = EDDY_AXES(0)), x);
}
static eddy_tensor attention_to_itself(eddy_tensor x)       /* no transpose of k */
{
    return MatMul(Softmax(MatMul(x, x)), x);
}
static eddy_tensor cross_entropy(eddy_tensor x)
{
    return Sum(Mul(Square(x), LogSoftmax(x)), .axes = EDDY_AXES(1));
}

static eddy_tensor (*const LEFT[])(eddy_tensor) = {
    unsteadied, other_variance, other_axis, transposed, without_epsilon, gelu_of_other_number,
    gelu_not_halved, gelu_of_other_x, softmax_of_other_axis, attention_over_rows,
    attention_to_itself, cross_entropy,
};
enum { N_LEFT = sizeof LEFT / sizeof *LEFT };

START_TEST(left_alone)
{
    const eddy_shape  s = EDDY_SHAPE(5, 5);
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, s), y = LEFT[_i](x);
    eddy_array *v = numbers(EDDY_FLOAT64, s);
    run(&on, y, x, v, 0);
    run(&off, y, x, v, EDDY_PASS_PATTERNS);
    ck_assert_int_eq(on.changes, 0);
    same_values(0);
    eddy_array_free(v);
}
END_TEST

/* ----------------------------------------------------------------- gelu -- */

#define HALF_ROOT 0.70710678118654752
#define ROOT      0.79788456080286536

static eddy_tensor erf_1(eddy_tensor x) { return Mul(Mul(0.5, x), Add(1, Erf(Div(x, sqrt(2))))); }
static eddy_tensor erf_2(eddy_tensor x)
{
    return Mul(x, Mul(0.5, Add(Erf(Mul(HALF_ROOT, x)), 1)));
}
static eddy_tensor erf_3(eddy_tensor x)
{
    return Mul(Mul(x, Add(1, Erf(Mul(x, HALF_ROOT)))), 0.5);
}
static eddy_tensor tanh_1(eddy_tensor x)
{
    const eddy_tensor u = Mul(ROOT, Add(x, Mul(0.044715, Pow(x, 3))));
    return Mul(Mul(0.5, x), Add(1, Tanh(u)));
}
static eddy_tensor tanh_2(eddy_tensor x)
{
    const eddy_tensor u = Mul(Mul(x, ROOT), Add(1, Mul(0.044715, Mul(x, x))));
    return Mul(Mul(x, 0.5), Add(Tanh(u), 1));
}
static eddy_tensor tanh_3(eddy_tensor x)
{
    const eddy_tensor u = Mul(Add(Mul(Mul(Mul(0.044715, x), x), x), x), ROOT);
    return Mul(0.5, Mul(x, Add(1, Tanh(u))));
}
static eddy_tensor tanh_4(eddy_tensor x)
{
    const eddy_tensor u = Mul(ROOT, Add(x, Mul(0.044715, Mul(x, Square(x)))));
    return Mul(Mul(0.5, Add(1, Tanh(u))), x);
}
static eddy_tensor (*const GELUS[])(eddy_tensor) = { erf_1, erf_2, erf_3, tanh_1, tanh_2, tanh_3,
                                                     tanh_4 };
enum { N_GELUS = sizeof GELUS / sizeof *GELUS };

START_TEST(gelus)
{
    const eddy_dtype  d = _i % 2 ? EDDY_FLOAT64 : EDDY_FLOAT32;
    const eddy_shape  s = EDDY_SHAPE(7, 9);
    const eddy_tensor x = eddy_placeholder(g, "x", d, s), y = GELUS[_i / 2](x);
    eddy_array *v = numbers(d, s);
    run(&on, y, x, v, 0);
    run(&off, y, x, v, EDDY_PASS_PATTERNS);
    ck_assert(has_op(&on, _i / 2 < 3 ? "Gelu" : "GeluTanh") && !has_op(&on, "Mul"));
    same_values(d == EDDY_FLOAT32 ? 2e-6 : 1e-13);
    run(&on, eddy_gradient(y, x), x, v, 0);
    run(&off, eddy_gradient(y, x), x, v, EDDY_PASS_PATTERNS);
    same_values(d == EDDY_FLOAT32 ? 2e-6 : 1e-13);
    eddy_array_free(v);
    fits(g);
}
END_TEST

/* ------------------------------------------------- attention, softmax, loss -- */

static eddy_tensor swapped(eddy_tensor x)
{
    return Transpose(x, EDDY_AXES(0, 2, 1));
}
static eddy_tensor mask_of(eddy_tensor x)            /* [6] */
{
    return Mul(-1e9, CastLike(Greater(Mean(x, .axes = EDDY_AXES(0, 2)), 0), x));
}
static eddy_tensor heads_1(eddy_tensor x)
{
    const eddy_tensor a = Mul(MatMul(x, Add(x, 1), .transpose_b = true), 0.3);
    return MatMul(Softmax(a), Square(x));
}
static eddy_tensor heads_2(eddy_tensor x)
{
    const eddy_tensor a = Add(Div(MatMul(x, swapped(Neg(x))), 3), mask_of(x));
    return MatMul(Softmax(a), x);
}
static eddy_tensor heads_3(eddy_tensor x)
{
    return MatMul(Softmax(Add(mask_of(x), MatMul(Mul(x, 0.1), x, .transpose_b = true))), x);
}
static eddy_tensor heads_4(eddy_tensor x)            /* softmax by parts too */
{
    const eddy_tensor a = MatMul(x, x, .transpose_b = true);
    const eddy_tensor e = Exp(Sub(a, Max(a, .axes = EDDY_AXES(-1), .keepdims = true)));
    return MatMul(Div(e, Sum(e, .axes = EDDY_AXES(-1), .keepdims = true)), x);
}
static eddy_tensor softmax_parts(eddy_tensor x)
{
    const eddy_tensor e = Exp(Sub(x, StopGradient(Max(x, .axes = EDDY_AXES(1), .keepdims = true))));
    return Div(e, Sum(e, .axes = EDDY_AXES(1), .keepdims = true));
}
typedef struct whole { eddy_tensor (*of)(eddy_tensor); const char *op; } whole;
static const whole WHOLES[] = {
    { heads_1, "ScaledDotProductAttention" },
    { heads_2, "ScaledDotProductAttention" },
    { heads_3, "ScaledDotProductAttention" },
    { heads_4, "ScaledDotProductAttention" },
    { softmax_parts, "Softmax" },
};
enum { N_WHOLES = sizeof WHOLES / sizeof *WHOLES };

START_TEST(wholes)
{
    const eddy_dtype  d = _i % 2 ? EDDY_FLOAT64 : EDDY_FLOAT32;
    const eddy_shape  s = EDDY_SHAPE(2, 6, 4);
    const eddy_tensor x = eddy_placeholder(g, "x", d, s), y = WHOLES[_i / 2].of(x);
    eddy_array *v = numbers(d, s);
    run(&on, y, x, v, 0);
    run(&off, y, x, v, EDDY_PASS_PATTERNS);
    ck_assert_msg(has_op(&on, WHOLES[_i / 2].op) && on.changes > 0, "%s", on.report);
    same_values(d == EDDY_FLOAT32 ? 3e-6 : 1e-12);
    run(&on, Add(y, Sum(eddy_gradient(y, x))), x, v, 0);
    run(&off, Add(y, Sum(eddy_gradient(y, x))), x, v, EDDY_PASS_PATTERNS);
    ck_assert(strcmp(WHOLES[_i / 2].op, "Softmax") == 0 || !has_op(&on, WHOLES[_i / 2].op));
    same_values(d == EDDY_FLOAT32 ? 1e-4 : 1e-10);
    eddy_array_free(v);
    fits(g);
}
END_TEST

/* A part that is fetched, or that waits for something, stays. */
START_TEST(parts_in_use)
{
    const eddy_shape  s = EDDY_SHAPE(4, 5);
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, s);
    const eddy_tensor e = Add(1, Erf(Mul(HALF_ROOT, x))), y = Mul(Mul(0.5, x), e);
    eddy_array   *v = numbers(EDDY_FLOAT64, s), *out[2] = { NULL, NULL };
    eddy_session *session = eddy_session_new(g);
    ck_assert(eddy_run(session, EDDY_FEED({ x, v }), EDDY_FETCH(y, e), out) == EDDY_OK);
    ck_assert_int_eq(eddy_session_plan_info(session).changes[PASS], 0);
    const eddy_tensor n = eddy_variable(g, eddy_number(g, EDDY_FLOAT64, 0));
    runs(session, eddy_initializer(g));
    eddy_control_begin(g, EDDY_LIST(eddy_assign_add(n, eddy_number(g, EDDY_FLOAT64, 1))));
    const eddy_tensor waits = Add(1, Erf(Mul(HALF_ROOT, x)));
    eddy_control_end(g);
    const eddy_tensor z = Mul(Mul(0.5, x), waits);
    ck_assert(eddy_run(session, EDDY_FEED({ x, v }), EDDY_FETCH(z), &out[1]) == EDDY_OK);
    ck_assert(eddy_array_equal(out[0], out[1]));
    ck_assert_double_eq(number(session, n), 1);
    eddy_array_free(v);
    eddy_array_free(out[0]);
    eddy_array_free(out[1]);
    eddy_session_free(session);
}
END_TEST

Suite *patterns_suite(void)
{
    Suite *suite = suite_create("patterns");
    TCase *c = tcase_create("patterns");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, norms, 0, 6 * N_NORMS);
    tcase_add_loop_test(c, norms_with_gradients, 0, 4 * N_NORMS);
    tcase_add_test(c, norms_in_a_block);
    tcase_add_loop_test(c, other_slopes, 0, 6);
    tcase_add_loop_test(c, left_alone, 0, N_LEFT);
    tcase_add_loop_test(c, gelus, 0, 2 * N_GELUS);
    tcase_add_loop_test(c, wholes, 0, 2 * N_WHOLES);
    tcase_add_test(c, parts_in_use);
    suite_add_tcase(suite, c);
    return suite;
}
