/* test_least_squares.c -- least squares on NIST's reference data, with both methods; how a fit
 * ends, and the state that it leaves. */
#include "graph/internal.h"
#include "ops/short_names.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"
#include "tests/optim/nist_regression.h"

#include <math.h>

Suite *least_squares_suite(void);

static eddy_graph   *g;
static eddy_session *s;
static eddy_least_squares_report r;

static void setup(void)
{
    g = eddy_graph_new();
    s = eddy_session_new(g);
    r = (eddy_least_squares_report){ 0 };
}

static void teardown(void)
{
    eddy_session_free(s);
    eddy_graph_free(g);
}

static double value_of(eddy_tensor v, int i)
{
    eddy_array  *a = eddy_fetch(s, eddy_read(v));
    const double x = a ? eddy_array_get(a, i) : NAN;
    eddy_array_free(a);
    return x;
}

static bool is_near(double x, double want, double tolerance)
{
    return fabs(x - want) <= tolerance * fabs(want);
}

/* --------------------------------------------------------------------- NIST -- */

static eddy_tensor counted(int n)
{
    const eddy_tensor one = vector(g, 1, (double[]){ 1 }), start = eddy_reshape(one, EDDY_SCALAR);
    return eddy_range(start, NumberLike(n + 1, start), start);
}

/* From both starting values to the certified parameters, their standard deviations and the sum of
 * squares. The sum cannot tell parameters apart that are closer than about 1e-6 of their
 * deviations: where it rounds (Lanczos3, Bennett5), it depends on the BLAS where the fit stops. */
START_TEST(certified)
{
    const nist_problem *p = &nist_problems[_i / 2];
    const double       *start = p->start[_i % 2];
    const int           n = p->observations * (p->predictors ? p->predictors : 1);
    const eddy_tensor   x = p->x ? vector(g, n, p->x) : counted(n);
    const eddy_tensor   y = vector(g, p->observations, p->y);
    const eddy_tensor   measured = p->of_logarithm ? eddy_log(y) : y;
    eddy_tensor         b[NIST_PARAMETERS];
    eddy_array         *covariance = NULL;
    for (int i = 0; i < p->parameters; i++)
        b[i] = eddy_variable(g, eddy_const(g, EDDY_FLOAT64, EDDY_SCALAR, &start[i]));
    runs(s, eddy_initializer(g));
    ck_assert_int_eq(eddy_least_squares(s, EDDY_LIST(eddy_sub(p->model(x, b), measured)),
                                        .max_iterations = 2000, .max_evaluations = 5000,
                                        .gradient_tolerance = 0, .loss_tolerance = 1e-16,
                                        .step_tolerance = 1e-14, .covariance = &covariance,
                                        .report = &r),
                     EDDY_OK);
    ck_assert_msg(p->exact ? r.loss < 1e-22 : is_near(2 * r.loss, p->sum_of_squares, 1e-9),
                  "%s: sum of squares %.12g after %d evaluations: %s", p->name, 2 * r.loss,
                  r.evaluations, r.message);
    for (int i = 0; i < p->parameters; i++) {
        const double deviation = sqrt(eddy_array_get(covariance, i * (p->parameters + 1)));
        const double error = fabs(value_of(b[i], 0) - p->b[i]);
        const double most = fmax(1e-7 * fabs(p->b[i]), 1e-5 * p->deviation[i]);
        ck_assert_msg(error <= most, "%s: b%d is %.12g", p->name, i + 1, value_of(b[i], 0));
        ck_assert_msg(p->exact || is_near(deviation, p->deviation[i], 1e-5),
                      "%s: deviation %d is %.12g", p->name, i + 1, deviation);
    }
    ck_assert_int_eq(r.residuals, p->observations);
    ck_assert_int_eq(r.parameters, p->parameters);
    eddy_array_free(covariance);
}
END_TEST

/* ------------------------------------------------------------------ methods -- */

/* Residuals x[i] - i / n, and 10 (x[i]^2 - x[i+1]) between neighbors, in two lists. */
static eddy_list chain(eddy_tensor x, int n, eddy_tensor *to)
{
    double line[50];
    for (int i = 0; i < n; i++) line[i] = (double)i / n;
    to[0] = Sub(x, vector(g, n, line));
    to[1] = Mul(10, Sub(Square(eddy_index(x, ":-1")), eddy_index(x, "1:")));
    return (eddy_list){ 2, to };
}

/* Both methods find the same minimum of 50 variables in two of 25. */
START_TEST(methods_agree)
{
    enum { N = 50 };
    double found[2][N], zeros[N] = { 0 };
    for (int m = 0; m < 2; m++) {
        const eddy_tensor a = eddy_variable(g, vector(g, N / 2, zeros));
        const eddy_tensor b = eddy_variable(g, vector(g, N / 2, zeros));
        eddy_tensor       parts[2];
        const eddy_tensor x = eddy_concat(EDDY_LIST(eddy_read(a), eddy_read(b)), 0);
        const eddy_list   rs = chain(x, N, parts);
        runs(s, eddy_initializer(g));
        ck_assert_int_eq(eddy_least_squares(s, rs, EDDY_LIST(a, b), .report = &r,
                                            .method = m ? EDDY_LEAST_SQUARES_CG
                                                        : EDDY_LEAST_SQUARES_QR,
                                            .loss_tolerance = 1e-14, .gradient_tolerance = 1e-9),
                         EDDY_OK);
        ck_assert_msg(r.end < EDDY_LEAST_SQUARES_ITERATIONS, "%s", r.message);
        ck_assert_int_eq(r.residuals, 2 * N - 1);
        ck_assert_int_lt(r.iterations, 60);
        for (int i = 0; i < N; i++) found[m][i] = value_of(i < N / 2 ? a : b, i % (N / 2));
    }
    for (int i = 0; i < N; i++) ck_assert_double_le(fabs(found[0][i] - found[1][i]), 1e-7);
}
END_TEST

/* A line through points, in float32 and by fed data, in a few steps. */
START_TEST(a_fed_line)
{
    const float       xs[] = { 0, 1, 2, 3 }, ys[] = { 1, 3, 5, 7 };
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(-1));
    const eddy_tensor y = eddy_placeholder(g, "y", EDDY_FLOAT32, EDDY_SHAPE(-1));
    const eddy_tensor slope = eddy_variable(g, eddy_scalar(g, 0));
    const eddy_tensor level = eddy_variable(g, eddy_scalar(g, 0));
    const eddy_tensor line = eddy_add(eddy_mul(x, eddy_read(slope)), eddy_read(level));
    for (int m = EDDY_LEAST_SQUARES_AUTO; m <= EDDY_LEAST_SQUARES_CG; m++) {
        runs(s, eddy_initializer(g));
        ck_assert_int_eq(eddy_least_squares(s, EDDY_LIST(eddy_sub(line, y)),
                                            .method = (eddy_least_squares_method)m, .report = &r,
                                            .feeds = EDDY_FEED({ x, EDDY_VIEW(xs, 4) },
                                                               { y, EDDY_VIEW(ys, 4) })),
                         EDDY_OK);
        ck_assert_int_le(r.iterations, 8);
        ck_assert_double_le(fabs(value_of(slope, 0) - 2), 1e-5);
        ck_assert_double_le(fabs(value_of(level, 0) - 1), 1e-5);
    }
}
END_TEST

/* Fewer residuals than parameters, a parameter that no residual has, and none at all. */
START_TEST(undetermined)
{
    const eddy_tensor v = eddy_variable(g, vector(g, 3, (double[]){ 1, 2, 3 }));
    const eddy_tensor unused = eddy_variable(g, vector(g, 1, (double[]){ 5 }));
    const eddy_tensor sum = eddy_sum(eddy_read(v));
    eddy_array       *covariance = NULL;
    for (int m = EDDY_LEAST_SQUARES_QR; m <= EDDY_LEAST_SQUARES_CG; m++) {
        runs(s, eddy_initializer(g));
        ck_assert_int_eq(eddy_least_squares(s, EDDY_LIST(sum), .report = &r,
                                            .method = (eddy_least_squares_method)m), EDDY_OK);
        ck_assert_double_le(r.loss, 1e-12);
        for (int i = 0; i < 3; i++) ck_assert_double_le(fabs(value_of(v, i) - (i - 1)), 1e-6);
        ck_assert_double_eq(value_of(unused, 0), 5);
    }
    ck_assert_int_eq(eddy_least_squares(s, EDDY_LIST(sum), .covariance = &covariance), EDDY_OK);
    ck_assert(!isfinite(eddy_array_get(covariance, 0)));
    eddy_array_free(covariance);
    const eddy_tensor none = eddy_slice(eddy_read(v), EDDY_DIMS(0), EDDY_DIMS(0));
    ck_assert_int_eq(eddy_least_squares(s, EDDY_LIST(none), .report = &r), EDDY_OK);
    ck_assert_int_eq(r.end, EDDY_LEAST_SQUARES_GRADIENT);
    ck_assert_int_eq(r.residuals, 0);
}
END_TEST

/* From a point without a second derivative: the least of (v - 2)^2 + |v|^3. */
START_TEST(a_corner)
{
    const eddy_tensor v = eddy_variable(g, vector(g, 1, (double[]){ 0 })), x = eddy_read(v);
    const eddy_tensor corner = Pow(Abs(x), 1.5);
    runs(s, eddy_initializer(g));
    ck_assert_int_eq(eddy_least_squares(s, EDDY_LIST(Sub(x, 2), corner), .report = &r), EDDY_OK);
    ck_assert_double_le(fabs(value_of(v, 0) - (sqrt(13) - 1) / 3), 1e-5);
}
END_TEST

/* The first step from 3 is too long: damping begins where there was none. */
START_TEST(without_damping)
{
    const eddy_tensor v = eddy_variable(g, vector(g, 1, (double[]){ 3 }));
    runs(s, eddy_initializer(g));
    ck_assert_int_eq(eddy_least_squares(s, EDDY_LIST(eddy_atan(eddy_read(v))), .damping = 0,
                                        .report = &r), EDDY_OK);
    ck_assert_double_le(fabs(value_of(v, 0)), 1e-6);
}
END_TEST

/* --------------------------------------------------------------------- ends -- */

/* Rosenbrock's valley, 10 (y - x^2) and 1 - x. */
static eddy_tensor valley(eddy_tensor v)
{
    const eddy_tensor x = eddy_index(eddy_read(v), "0"), y = eddy_index(eddy_read(v), "1");
    return eddy_stack(EDDY_LIST(Mul(10, Sub(y, Square(x))), Sub(1, x)), 0);
}

static bool until_third(void *data, int iteration, double loss)
{
    *(double *)data = loss;
    return iteration < 3;
}

START_TEST(ends)
{
    const eddy_tensor v = eddy_variable(g, vector(g, 2, (double[]){ -1.2, 1 }));
    const eddy_list   rs = EDDY_LIST(valley(v));
    double            last = 0;
    runs(s, eddy_initializer(g));
    eddy_least_squares(s, rs, .callback = until_third, .data = &last, .report = &r);
    ck_assert_int_eq(r.end, EDDY_LEAST_SQUARES_CALLBACK);
    ck_assert_int_eq(r.iterations, 3);
    ck_assert_double_eq(r.loss, last);
    runs(s, eddy_initializer(g));
    eddy_least_squares(s, rs, .max_iterations = 2, .report = &r);
    ck_assert_int_eq(r.end, EDDY_LEAST_SQUARES_ITERATIONS);
    runs(s, eddy_initializer(g));
    eddy_least_squares(s, rs, .max_evaluations = 4, .report = &r);
    ck_assert_int_eq(r.end, EDDY_LEAST_SQUARES_EVALUATIONS);
    ck_assert_int_eq(r.evaluations, 4);
    runs(s, eddy_initializer(g));
    eddy_least_squares(s, rs, .step_tolerance = 0.5, .report = &r);
    ck_assert_int_eq(r.end, EDDY_LEAST_SQUARES_STEP);
    eddy_least_squares(s, rs, .loss_tolerance = 0, .step_tolerance = 0, .report = &r);
    ck_assert_int_eq(r.end, EDDY_LEAST_SQUARES_GRADIENT);
    ck_assert_double_le(fabs(value_of(v, 0) - 1), 1e-8);
    /* The sum of squares of |x| + 1 is lowest at a kink. */
    const eddy_tensor kink = eddy_variable(g, vector(g, 1, (double[]){ 3 }));
    const eddy_tensor one = vector(g, 1, (double[]){ 1 });
    runs(s, eddy_initializer(g));
    eddy_least_squares(s, EDDY_LIST(eddy_add(eddy_abs(eddy_read(kink)), one)), EDDY_LIST(kink),
                       .loss_tolerance = 0, .step_tolerance = 0, .report = &r);
    ck_assert_int_eq(r.end, EDDY_LEAST_SQUARES_STEP);
    ck_assert_double_le(fabs(value_of(kink, 0)), 1e-6);
    runs(s, eddy_initializer(g));
    eddy_least_squares(s, EDDY_LIST(eddy_add(eddy_abs(eddy_read(kink)), one)), EDDY_LIST(kink),
                       .loss_tolerance = 0, .report = &r);
    ck_assert_int_eq(r.end, EDDY_LEAST_SQUARES_STEP);
    ck_assert_str_eq(r.message, "no step above step_tolerance decreases the loss enough");
}
END_TEST

static void refused(eddy_least_squares_args a, eddy_status status)
{
    eddy_array *covariance = (eddy_array *)&a;
    if (a.covariance) a.covariance = &covariance;
    a.report = &r;
    ck_assert_int_eq(eddy_least_squares_with(&a), status);
    ck_assert_int_eq(r.end, EDDY_LEAST_SQUARES_FAILED);
    if (a.covariance) ck_assert_ptr_null(covariance);
    golden_line(r.message);
}

#define GIVEN(...) *EDDY_ARGS(eddy_least_squares_args, .session = s, __VA_ARGS__)

START_TEST(errors)
{
    const double      start[] = { -1.2, 1 };
    const eddy_tensor v = eddy_variable(g, vector(g, 2, start));
    const eddy_tensor whole = eddy_cast(eddy_read(v), EDDY_INT32);
    const eddy_tensor fed = eddy_placeholder(g, "fed", EDDY_FLOAT64, EDDY_SCALAR);
    const eddy_list   rs = EDDY_LIST(valley(v)), vars = EDDY_LIST(v);
    const eddy_tensor open = eddy_variable(g, eddy_placeholder(g, "start", EDDY_FLOAT64,
                                                               EDDY_SHAPE(-1)));
    const eddy_tensor empty = eddy_variable(g, vector(g, 0, (double[]){ 0 }));
    eddy_graph       *other = eddy_graph_new();
    const eddy_tensor foreign = eddy_variable(other, eddy_scalar(other, 1));
    eddy_array       *covariance = NULL;
    golden_begin("optim/least_squares");
    refused(*EDDY_ARGS(eddy_least_squares_args, .residuals = rs), EDDY_INVALID_ARGUMENT);
    refused(GIVEN(.var_list = vars), EDDY_INVALID_ARGUMENT);
    refused(GIVEN(.residuals = { 2, NULL }, .var_list = vars), EDDY_INVALID_ARGUMENT);
    refused(GIVEN(.residuals = EDDY_LIST(whole), .var_list = vars), EDDY_BAD_DTYPE);
    refused(GIVEN(.residuals = EDDY_LIST(rs.at[0], whole), .var_list = vars), EDDY_BAD_DTYPE);
    refused(GIVEN(.residuals = EDDY_LIST(rs.at[0], foreign), .var_list = vars),
            EDDY_INVALID_ARGUMENT);
    refused(GIVEN(rs, EDDY_LIST(foreign)), EDDY_INVALID_ARGUMENT);
    refused(GIVEN(rs, EDDY_LIST(open)), EDDY_BAD_SHAPE);
    refused(GIVEN(rs, EDDY_LIST(empty)), EDDY_INVALID_ARGUMENT);
    refused(GIVEN(rs, vars, .damping = NAN), EDDY_INVALID_ARGUMENT);
    refused(GIVEN(rs, vars, .step_tolerance = -1), EDDY_INVALID_ARGUMENT);
    refused(GIVEN(rs, vars, .max_evaluations = 0), EDDY_INVALID_ARGUMENT);
    refused(GIVEN(rs, vars, .method = (eddy_least_squares_method)7), EDDY_INVALID_ARGUMENT);
    refused(GIVEN(rs, vars, .method = EDDY_LEAST_SQUARES_CG, .covariance = &covariance),
            EDDY_INVALID_ARGUMENT);
    refused(GIVEN(rs, vars), EDDY_UNINITIALIZED);
    ck_assert_int_eq(eddy_variable_set(s, v, EDDY_VIEW(start, 2)), EDDY_OK);
    refused(GIVEN(rs, vars, .upper = EDDY_LIST(open)), EDDY_UNINITIALIZED);
    refused(GIVEN(rs, vars, .upper = EDDY_LIST(v, v)), EDDY_INVALID_ARGUMENT);
    refused(GIVEN(EDDY_LIST(eddy_mul(rs.at[0], fed)), vars), EDDY_NOT_FED);
    refused(GIVEN(EDDY_LIST(eddy_log(eddy_read(v))), vars), EDDY_INVALID_ARGUMENT);
    golden_end();
    fits(g);
    eddy_graph_free(other);
}
END_TEST

/* Whichever allocation fails, the call ends and releases all memory. */
START_TEST(without_memory)
{
    for (long at = 1;; at += 5) {
        failing_allocator f;
        failing_allocator_init(&f);
        eddy_graph       *h = eddy_graph_new(&f.table);
        eddy_session     *t = eddy_session_new(h);
        const eddy_tensor v = eddy_variable(h, vector(h, 2, (double[]){ -1.2, 1 }));
        const eddy_list   rs = EDDY_LIST(valley(v));
        const eddy_tensor top = eddy_read(v);
        runs(t, eddy_initializer(h));
        const long stop = f.at = f.calls + at;
        const eddy_status status =
            eddy_least_squares(t, rs, .max_iterations = 2, .report = &r,
                               .upper = _i ? EDDY_LIST(top) : (eddy_list){ 0, NULL },
                               .method = _i ? EDDY_LEAST_SQUARES_CG : EDDY_LEAST_SQUARES_QR);
        const bool failed = f.calls >= stop;
        if (status != EDDY_OK) ck_assert_ptr_nonnull(strstr(r.message, "memory"));
        else ck_assert_int_ne(r.end, EDDY_LEAST_SQUARES_FAILED);
        f.at = 0;
        eddy_session_free(t);
        eddy_graph_free(h);
        ck_assert_int_eq(f.live, 0);
        if (!failed) break;
    }
}
END_TEST

Suite *least_squares_suite(void)
{
    Suite *suite = suite_create("least_squares");
    TCase *c = tcase_create("least_squares");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, certified, 0, 2 * nist_problem_count);
    tcase_add_test(c, methods_agree);
    tcase_add_test(c, a_fed_line);
    tcase_add_test(c, undetermined);
    tcase_add_test(c, a_corner);
    tcase_add_test(c, without_damping);
    tcase_add_test(c, ends);
    tcase_add_test(c, errors);
    tcase_add_loop_test(c, without_memory, 0, 2);
    suite_add_tcase(suite, c);
    return suite;
}
