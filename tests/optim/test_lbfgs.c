/* test_lbfgs.c -- the line search on functions of one number, and L-BFGS on valleys, least squares
 * and a network; how it ends, and the state that it leaves. */
#include "graph/internal.h"
#include "optim/minimizers/line_search.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"

#include <math.h>

Suite *lbfgs_suite(void);

static eddy_graph   *g;
static eddy_session *s;
static eddy_lbfgs_report r;

static void setup(void)
{
    g = eddy_graph_new();
    s = eddy_session_new(g);
    r = (eddy_lbfgs_report){ 0 };
}

static void teardown(void)
{
    eddy_session_free(s);
    eddy_graph_free(g);
}

/* ------------------------------------------------------------ the line search -- */

/* Functions 1 to 3 of More and Thuente, Line search algorithms with guaranteed sufficient
 * decrease (1994), section 5, and one that is not finite from 2 on. */
static bool rational(void *data, double a, line_point *out)
{
    (void)data;
    out->value = -a / (a * a + 2);
    out->slope = (a * a - 2) / ((a * a + 2) * (a * a + 2));
    return true;
}

static bool fifth(void *data, double a, line_point *out)
{
    (void)data;
    const double b = a + 0.004;
    out->value = pow(b, 5) - 2 * pow(b, 4);
    out->slope = 5 * pow(b, 4) - 8 * pow(b, 3);
    return true;
}

static bool waves(void *data, double a, line_point *out)
{
    (void)data;
    const double beta = 0.01, l = 39, w = l * acos(-1) / 2;
    const double base = a <= 1 - beta ? 1 - a : a >= 1 + beta ? a - 1
                        : (a - 1) * (a - 1) / (2 * beta) + beta / 2;
    const double tilt = a <= 1 - beta ? -1 : a >= 1 + beta ? 1 : (a - 1) / beta;
    out->value = base + 2 * (1 - beta) / (l * acos(-1)) * sin(w * a);
    out->slope = tilt + 2 * (1 - beta) / (l * acos(-1)) * w * cos(w * a);
    return true;
}

static bool cliff(void *data, double a, line_point *out)
{
    (void)data;
    out->value = a < 2 ? (a - 1) * (a - 1) : NAN;
    out->slope = a < 2 ? 2 * (a - 1) : INFINITY;
    return true;
}

START_TEST(conditions_hold)
{
    static const struct {
        line_fn f;
        double  decrease, curvature;
    } cases[] = { { rational, 1e-3, 0.1 }, { fifth, 0.1, 0.1 }, { waves, 0.1, 0.1 },
                  { cliff, 1e-4, 0.9 },    { fifth, 1e-4, 0.9 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (double first = 1e-3; first < 2e3; first *= 100) {
            line_search l = { .evaluate_at = cases[i].f, .decrease = cases[i].decrease,
                              .curvature = cases[i].curvature, .most = 60,
                              .longest = INFINITY };
            line_point  start = { 0 }, found;
            l.evaluate_at(NULL, 0, &start);
            ck_assert_int_eq(eddy__line_search(&l, start, first, &found), LINE_FOUND);
            ck_assert(found.value <= start.value + l.decrease * found.at * start.slope);
            ck_assert(fabs(found.slope) <= l.curvature * fabs(start.slope));
        }
}
END_TEST

static bool falls_for_ever(void *data, double a, line_point *out)
{
    *(int *)data += 1;
    *out = (line_point){ a, -a, -1 };
    return true;
}

static bool no_way_down(void *data, double a, line_point *out)
{
    (void)data;
    *out = (line_point){ a, 1 + a, -1 };       /* the slope is wrong */
    return true;
}

static bool stops(void *data, double a, line_point *out)
{
    (void)data, (void)a, (void)out;
    return false;
}

START_TEST(no_such_point)
{
    int         looks = 0;
    line_point  found;
    line_search l = { falls_for_ever, &looks, 1e-4, 0.9, 20, INFINITY };
    ck_assert_int_eq(eddy__line_search(&l, (line_point){ 0, 0, -1 }, 1, &found), LINE_LOWER);
    ck_assert_int_eq(looks, 20);
    ck_assert_double_gt(found.at, 1000);
    l.evaluate_at = no_way_down;
    l.most = 100;
    ck_assert_int_eq(eddy__line_search(&l, (line_point){ 0, 1, -1 }, 1, &found), LINE_NONE);
    ck_assert_double_eq(found.at, 0);
    l.evaluate_at = stops;
    ck_assert_int_eq(eddy__line_search(&l, (line_point){ 0, 1, -1 }, 1, &found), LINE_STOPPED);
}
END_TEST

/* -------------------------------------------------------------------- valleys -- */

/* The sum over pairs of 100 (b - a^2)^2 + (1 - a)^2. */
static eddy_tensor valley(eddy_tensor v, int64_t n)
{
    const eddy_tensor x = eddy_read(v);
    const eddy_tensor a = eddy_slice(x, EDDY_DIMS(0), EDDY_DIMS(n - 1));
    const eddy_tensor b = eddy_slice(x, EDDY_DIMS(1), EDDY_DIMS(n - 1));
    return Sum(Add(Mul(100, Square(Sub(b, Square(a)))), Square(Sub(1, a))));
}

static eddy_tensor zigzag(eddy_dtype d, int64_t n)
{
    eddy_array *a = eddy_array_new(d, EDDY_SHAPE(n));
    for (int64_t i = 0; i < n; i++) eddy_array_set(a, i, i % 2 ? 1 : -1.2);
    const eddy_tensor start = eddy_constant(g, a, NULL);
    eddy_array_free(a);
    return eddy_variable(g, start);
}

START_TEST(rosenbrock)
{
    static const struct {
        eddy_dtype dtype;
        int64_t    n;
        double     within;
        int        most;
    } cases[] = { { EDDY_FLOAT64, 2, 1e-6, 60 }, { EDDY_FLOAT64, 100, 1e-5, 700 },
                  { EDDY_FLOAT32, 2, 2e-3, 200 } };
    const eddy_tensor v = zigzag(cases[_i].dtype, cases[_i].n), loss = valley(v, cases[_i].n);
    runs(s, eddy_initializer(g));
    ck_assert_int_eq(eddy_minimize_lbfgs(s, loss, .loss_tolerance = -1, .report = &r), EDDY_OK);
    eddy_array *at = eddy_variable_value(s, v);
    for (int64_t i = 0; i < cases[_i].n; i++)
        ck_assert_double_eq_tol(eddy_array_get(at, i), 1, cases[_i].within);
    eddy_array_free(at);
    ck_assert_int_le(r.evaluations, cases[_i].most);
    ck_assert_double_eq(r.loss, number(s, loss));
    if (cases[_i].dtype != EDDY_FLOAT64) return;
    ck_assert_int_eq(r.end, EDDY_LBFGS_GRADIENT);
    ck_assert_double_le(r.gradient, 1e-5);
}
END_TEST

/* ------------------------------------------------------------- least squares -- */

START_TEST(a_line_through_points)
{
    static const double xs[] = { 0, 1, 2, 3, 4 }, ys[] = { 1.1, 2.9, 5.2, 6.8, 9.1 };
    const eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    const eddy_tensor   slope = eddy_variable(g, real(g, 0)), level = eddy_variable(g, real(g, 0));
    const eddy_tensor   other = eddy_variable(g, real(g, 7));
    const eddy_tensor   y = Add(Mul(eddy_read(slope), x), eddy_read(level));
    const eddy_tensor   loss = Sum(Square(Sub(y, vector(g, 5, ys))));
    eddy_array *points = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(5), xs);
    eddy_tensor dx[2];
    runs(s, eddy_initializer(g));
    eddy_gradients(EDDY_LIST(loss), EDDY_LIST(slope, level), dx);
    const int nodes = (int)g->size;
    ck_assert_int_eq(eddy_minimize_lbfgs(s, loss, EDDY_LIST(slope, level), EDDY_FEED({ x, points }),
                                         EDDY_LIST(dx[0], dx[1]), .report = &r,
                                         .gradient_tolerance = 1e-9, .loss_tolerance = -1),
                     EDDY_OK);
    ck_assert_int_eq((int)g->size, nodes);
    ck_assert_double_eq_tol(number(s, slope), 1.99, 1e-9);       /* by the normal equations */
    ck_assert_double_eq_tol(number(s, level), 1.04, 1e-9);
    ck_assert_double_eq(number(s, other), 7);
    ck_assert_int_le(r.iterations, 8);
    eddy_array_free(points);
}
END_TEST

START_TEST(a_network_learns)
{
    const network n = network_build(g);
    eddy_array   *batch = network_batch(7), *out = NULL;
    runs(s, n.init);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ n.x, batch }), EDDY_FETCH(n.loss), &out), EDDY_OK);
    const double before = eddy_array_item(out);
    ck_assert_int_eq(eddy_minimize_lbfgs(s, n.loss, .feeds = EDDY_FEED({ n.x, batch }),
                                         .max_iterations = 60, .report = &r), EDDY_OK);
    ck_assert_double_lt(r.loss, 1e-3 * before);
    eddy_array_free(out);
    eddy_array_free(batch);
}
END_TEST

/* ------------------------------------------------------------------- its end -- */

static bool until_third(void *data, int iteration, double loss)
{
    *(double *)data = loss;
    return iteration < 3;
}

START_TEST(ends)
{
    double            last = 0;
    const eddy_tensor v = zigzag(EDDY_FLOAT64, 4), loss = valley(v, 4);
    const eddy_tensor kink = eddy_variable(g, real(g, 1));
    runs(s, eddy_initializer(g));
    const eddy_list vars = EDDY_LIST(v);
    eddy_minimize_lbfgs(s, loss, vars, .callback = until_third, .data = &last, .report = &r);
    ck_assert_int_eq(r.end, EDDY_LBFGS_CALLBACK);
    ck_assert_int_eq(r.iterations, 3);
    ck_assert_double_eq(r.loss, last);
    eddy_minimize_lbfgs(s, loss, vars, .max_iterations = 2, .report = &r);
    ck_assert_int_eq(r.end, EDDY_LBFGS_ITERATIONS);
    eddy_minimize_lbfgs(s, loss, vars, .max_evaluations = 5, .report = &r);
    ck_assert_int_eq(r.end, EDDY_LBFGS_EVALUATIONS);
    ck_assert_int_eq(r.evaluations, 5);
    eddy_minimize_lbfgs(s, loss, vars, .loss_tolerance = 0.5, .report = &r);
    ck_assert_int_eq(r.end, EDDY_LBFGS_LOSS);
    eddy_minimize_lbfgs(s, Abs(eddy_read(kink)), EDDY_LIST(kink), .loss_tolerance = -1,
                        .report = &r);
    ck_assert_int_ne(r.end, EDDY_LBFGS_FAILED);
    ck_assert_double_le(fabs(number(s, kink)), 1e-6);
}
END_TEST

static void refused(eddy_minimize_lbfgs_args a, eddy_status status)
{
    a.report = &r;
    ck_assert_int_eq(eddy_minimize_lbfgs_with(&a), status);
    ck_assert_int_eq(r.end, EDDY_LBFGS_FAILED);
    golden_line(r.message);
}

static void bounds_are_refused(eddy_tensor loss, eddy_list vars, eddy_tensor whole,
                               eddy_tensor foreign)
{
    const eddy_tensor zero = real(g, 0), one = real(g, 1), not_a_number = real(g, NAN);
    const eddy_tensor three = vector(g, 3, (double[]){ 0, 0, 0 });
    const eddy_tensor top = real(g, INFINITY);
    const eddy_list   lists[] = { EDDY_LIST(zero, zero), EDDY_LIST(whole), EDDY_LIST(foreign),
                                  EDDY_LIST(three),      { 1, NULL },      EDDY_LIST(not_a_number),
                                  EDDY_LIST(top) };
    const eddy_status expected[] = { EDDY_INVALID_ARGUMENT, EDDY_BAD_DTYPE, EDDY_INVALID_ARGUMENT,
                                     EDDY_BAD_SHAPE, EDDY_INVALID_ARGUMENT, EDDY_INVALID_ARGUMENT,
                                     EDDY_INVALID_ARGUMENT };
    for (int i = 0; i < 7; i++)
        refused(*EDDY_ARGS(eddy_minimize_lbfgs_args, .session = s, .loss = loss, .var_list = vars,
                           .lower = lists[i]), expected[i]);
    refused(*EDDY_ARGS(eddy_minimize_lbfgs_args, .session = s, .loss = loss, .var_list = vars,
                       .lower = EDDY_LIST(one), .upper = EDDY_LIST(zero)), EDDY_INVALID_ARGUMENT);
}

START_TEST(errors)
{
    const eddy_tensor v = zigzag(EDDY_FLOAT64, 4), loss = valley(v, 4);
    const eddy_tensor whole = eddy_variable(g, eddy_cast(real(g, 1), EDDY_INT32));
    const eddy_tensor fed = eddy_placeholder(g, "fed", EDDY_FLOAT64, EDDY_SCALAR);
    const eddy_tensor none = EDDY_ZERO_TENSOR;
    eddy_graph       *other = eddy_graph_new();
    const eddy_tensor foreign = eddy_variable(other, real(other, 1));
    eddy_session     *elsewhere = eddy_session_new(other);
    const eddy_list   vars = EDDY_LIST(v);
    golden_begin("optim/lbfgs");
    refused(*EDDY_ARGS(eddy_minimize_lbfgs_args, .loss = loss), EDDY_INVALID_ARGUMENT);
    refused(*EDDY_ARGS(eddy_minimize_lbfgs_args, .session = s), EDDY_INVALID_ARGUMENT);
    refused(*EDDY_ARGS(eddy_minimize_lbfgs_args, .session = s, .loss = v, .var_list = vars),
            EDDY_BAD_SHAPE);
    refused(*EDDY_ARGS(eddy_minimize_lbfgs_args, .session = s, .loss = whole, .var_list = vars),
            EDDY_BAD_DTYPE);
    refused(*EDDY_ARGS(eddy_minimize_lbfgs_args, .session = s, .loss = loss,
                       .var_list = EDDY_LIST(whole)),
            EDDY_BAD_DTYPE);
    refused(*EDDY_ARGS(eddy_minimize_lbfgs_args, .session = s, .loss = loss,
                       .var_list = EDDY_LIST(loss)),
            EDDY_INVALID_ARGUMENT);
    refused(*EDDY_ARGS(eddy_minimize_lbfgs_args, .session = s, .loss = loss,
                       .var_list = EDDY_LIST(foreign)),
            EDDY_INVALID_ARGUMENT);
    refused(*EDDY_ARGS(eddy_minimize_lbfgs_args, .session = s, .loss = loss, .var_list = vars,
                       .history = -1),
            EDDY_INVALID_ARGUMENT);
    refused(*EDDY_ARGS(eddy_minimize_lbfgs_args, .session = s, .loss = loss, .var_list = vars,
                       .gradients = EDDY_LIST(none)),
            EDDY_INVALID_ARGUMENT);
    refused(*EDDY_ARGS(eddy_minimize_lbfgs_args, .session = s, .loss = loss, .var_list = vars,
                       .gradients = EDDY_LIST(loss, loss)), EDDY_INVALID_ARGUMENT);
    refused(
        *EDDY_ARGS(eddy_minimize_lbfgs_args, .session = s, .loss = loss, .var_list = { 2, NULL }),
        EDDY_INVALID_ARGUMENT);
    refused(*EDDY_ARGS(eddy_minimize_lbfgs_args, .session = s, .loss = loss, .var_list = vars),
            EDDY_UNINITIALIZED);
    refused(
        *EDDY_ARGS(eddy_minimize_lbfgs_args, .session = elsewhere, .loss = loss, .var_list = vars),
        EDDY_INVALID_ARGUMENT);
    runs(s, eddy_initializer(g));
    refused(*EDDY_ARGS(eddy_minimize_lbfgs_args, .session = s, .loss = Mul(loss, fed),
                       .var_list = vars),
            EDDY_NOT_FED);
    refused(*EDDY_ARGS(eddy_minimize_lbfgs_args, .session = s, .loss = Log(Sub(loss, loss)),
                       .var_list = vars),
            EDDY_INVALID_ARGUMENT);
    refused(*EDDY_ARGS(eddy_minimize_lbfgs_args, .session = s, .loss = loss, .var_list = vars,
                       .gradients = EDDY_LIST(loss)),
            EDDY_BAD_SHAPE);
    bounds_are_refused(loss, vars, whole, foreign);
    golden_end();
    fits(g);
    eddy_session_free(elsewhere);
    eddy_graph_free(other);
}
END_TEST

/* A bound of 0.1 for float32 is the nearest float32, which is above it; the start is moved to the
 * bounds, and the kept variable stays where it is; fed bounds. */
START_TEST(bounds)
{
    const eddy_tensor v = zigzag(EDDY_FLOAT32, 4), loss = Add(valley(v, 4), Sum(eddy_read(v)));
    const eddy_tensor kept = eddy_variable(g, real(g, 7));
    const eddy_tensor fed = eddy_placeholder(g, "fed", EDDY_FLOAT64, EDDY_SHAPE(4));
    const double      least[] = { 0.1, 0.1, 0.1, -INFINITY };
    const eddy_list   vars = EDDY_LIST(v);
    runs(s, eddy_initializer(g));
    ck_assert_int_eq(eddy_minimize_lbfgs(s, loss, vars, EDDY_FEED({ fed, EDDY_VIEW(least, 4) }),
                                         .lower = EDDY_LIST(fed), .report = &r), EDDY_OK);
    eddy_array *at = eddy_variable_value(s, v);
    ck_assert_double_ge(eddy_array_get(at, 0), (double)0.1F);
    ck_assert_double_eq(number(s, kept), 7);
    ck_assert_double_le(r.gradient, 1e-2);
    eddy_array_free(at);
    runs(s, eddy_initializer(g));
    ck_assert_int_eq(eddy_minimize_lbfgs(s, loss, vars, .lower = EDDY_LIST(real(g, 0.1)),
                                         .upper = EDDY_LIST(real(g, 0.1)), .report = &r), EDDY_OK);
    ck_assert_int_eq(r.end, EDDY_LBFGS_GRADIENT);
    ck_assert_int_eq(r.evaluations, 1);
    at = eddy_variable_value(s, v);
    for (int i = 0; i < 4; i++) ck_assert_double_eq(eddy_array_get(at, i), (double)0.1F);
    eddy_array_free(at);
}
END_TEST

/* Whichever allocation fails, the call ends and releases all memory. */
START_TEST(without_memory)
{
    for (long at = 1;; at += 3) {
        failing_allocator f;
        failing_allocator_init(&f);
        eddy_graph       *h = eddy_graph_new(&f.table);
        eddy_session     *t = eddy_session_new(h);
        const eddy_tensor v = eddy_variable(h, vector(h, 2, (double[]){ -1.2, 1 }));
        const eddy_tensor loss = valley(v, 2), low = real(h, 0);
        runs(t, eddy_initializer(h));
        const long stop = f.at = f.calls + at;
        const eddy_status status =
            eddy_minimize_lbfgs(t, loss, .max_iterations = 2, .report = &r,
                                .lower = _i ? EDDY_LIST(low) : (eddy_list){ 0, NULL });
        const bool failed = f.calls >= stop;
        if (status != EDDY_OK) ck_assert_ptr_nonnull(strstr(r.message, "memory"));
        else ck_assert_int_eq(r.end, EDDY_LBFGS_ITERATIONS);
        f.at = 0;
        eddy_session_free(t);
        eddy_graph_free(h);
        ck_assert_int_eq(f.live, 0);
        if (!failed) break;
    }
}
END_TEST

Suite *lbfgs_suite(void)
{
    const TTest *const tests[] = {
        conditions_hold, no_such_point, a_line_through_points, a_network_learns, ends, bounds,
        errors,
    };
    Suite *suite = suite_create("lbfgs");
    TCase *c = tcase_create("lbfgs");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, rosenbrock, 0, 3);
    tcase_add_loop_test(c, without_memory, 0, 2);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(c, tests[i]);
    suite_add_tcase(suite, c);
    return suite;
}
