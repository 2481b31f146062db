/* test_newton_cg.c -- Newton's method with conjugate gradients: valleys, saddles and a network; how
 * it ends, and the state that it leaves. tests/optim/test_minimizer_problems.c has more
 * functions. */
#include "graph/internal.h"
#include "ops/short_names.h"
#include "optim/minimizers/damped_step.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"

#include <math.h>

Suite *newton_cg_suite(void);

static eddy_graph   *g;
static eddy_session *s;
static eddy_newton_cg_report r;

static void setup(void)
{
    g = eddy_graph_new();
    s = eddy_session_new(g);
    r = (eddy_newton_cg_report){ 0 };
}

static void teardown(void)
{
    eddy_session_free(s);
    eddy_graph_free(g);
}

/* ------------------------------------------------------------------- the step -- */

/* The matrix diag(data[0], data[1]). */
static bool by_diagonal(void *data, const double *x, double *y)
{
    const double *d = data;
    y[0] = d[0] * x[0];
    y[1] = d[1] * x[1];
    return true;
}

static bool no_product(void *data, const double *x, double *y)
{
    (void)data, (void)x, (void)y;
    return false;
}

START_TEST(steps)
{
    static const double g0[] = { -2, -3 };
    double              p[2], rest[2], room[4], bowl[] = { 1, 2 }, saddle[] = { 1, -2 };
    double              unknown[] = { NAN, 1 };
    ck_assert(eddy__conjugate_step(2, by_diagonal, bowl, g0, 0, 10, 1e-12, 50, p, rest, room));
    ck_assert_double_eq_tol(p[0], 2, 1e-12);
    ck_assert_double_eq_tol(p[1], 1.5, 1e-12);
    ck_assert_double_le(fabs(rest[0]) + fabs(rest[1]), 1e-11);
    /* to the edge: too far, along negative curvature, and where there is no curvature at all */
    for (int k = 0; k < 3; k++) {
        double *matrix = k == 0 ? bowl : k == 1 ? saddle : unknown;
        ck_assert(eddy__conjugate_step(2, by_diagonal, matrix, g0, 0, 0.5, 1e-12, 50, p, rest,
                                       room));
        ck_assert_double_eq_tol(hypot(p[0], p[1]), 0.5, 1e-12);
        ck_assert_double_lt(p[0] * g0[0] + p[1] * g0[1], 0);
    }
    ck_assert(eddy__conjugate_step(2, by_diagonal, saddle, g0, 3, INFINITY, 1e-12, 50, p, rest,
                                   room));
    ck_assert_double_eq_tol(p[0], 0.5, 1e-12);
    ck_assert_double_eq_tol(p[1], 3, 1e-12);
    ck_assert(eddy__conjugate_step(2, by_diagonal, saddle, g0, 0, INFINITY, 1e-12, 50, p, rest,
                                   room));
    ck_assert_double_eq(p[0], 0);
    ck_assert(!eddy__conjugate_step(2, no_product, NULL, g0, 0, 1, 1e-12, 50, p, rest, room));
}
END_TEST

/* ------------------------------------------------------------------ functions -- */

static eddy_tensor valley(eddy_tensor v)
{
    const eddy_tensor x = eddy_read(v), a = eddy_index(x, ":-1"), b = eddy_index(x, "1:");
    return Sum(Add(Mul(100, Square(Sub(b, Square(a)))), Square(Sub(1, a))));
}

/* In both types, of two variables of which one is a matrix. */
START_TEST(types_and_shapes)
{
    const eddy_dtype  type = _i ? EDDY_FLOAT32 : EDDY_FLOAT64;
    const eddy_tensor a = eddy_variable(g, eddy_ones(g, type, EDDY_SHAPE(2, 2)));
    const eddy_tensor b = eddy_variable(g, eddy_zeros(g, type, EDDY_SHAPE(2)));
    const eddy_tensor target = eddy_fill(eddy_constant(g, EDDY_INTS(2)), eddy_number(g, type, 3));
    const eddy_tensor y = Add(eddy_matvec(eddy_read(a), eddy_read(b)), eddy_read(b));
    const eddy_tensor loss = Add(Sum(Square(Sub(y, target))), Sum(Square(Sub(eddy_read(a), 2))));
    const eddy_tensor other = eddy_variable(g, real(g, 7));
    runs(s, eddy_initializer(g));
    ck_assert_int_eq(eddy_newton_cg(s, loss, EDDY_LIST(a, b), .report = &r), EDDY_OK);
    ck_assert_msg(r.end == EDDY_NEWTON_CG_GRADIENT || r.end == EDDY_NEWTON_CG_LOSS, "%s",
                  r.message);
    ck_assert_double_le(r.loss, 1e-8);
    ck_assert_double_eq(number(s, other), 7);
    ck_assert_int_gt(r.products, 0);
}
END_TEST

/* Along negative curvature from a point where the gradient has only a small part in that direction;
 * minima at (0, 1) and (0, -1). */
START_TEST(a_saddle)
{
    const eddy_tensor v = eddy_variable(g, vector(g, 2, (double[]){ 1, 1e-7 }));
    const eddy_tensor x = eddy_index(eddy_read(v), "0"), y = eddy_index(eddy_read(v), "1");
    const eddy_tensor loss = Add(Square(x), Square(Sub(Square(y), 1)));
    runs(s, eddy_initializer(g));
    ck_assert_int_eq(eddy_newton_cg(s, loss, .gradient_tolerance = 1e-9, .report = &r), EDDY_OK);
    ck_assert_double_le(r.loss, 1e-10);
    ck_assert_int_le(r.iterations, 25);
}
END_TEST

/* In a valley of 50 variables it needs fewer evaluations than L-BFGS. */
START_TEST(beside_lbfgs)
{
    enum { N = 50 };
    double start[N];
    for (int i = 0; i < N; i++) start[i] = i % 2 ? 1 : -1.2;
    const eddy_tensor v = eddy_variable(g, vector(g, N, start)), loss = valley(v);
    eddy_lbfgs_report other;
    runs(s, eddy_initializer(g));
    ck_assert_int_eq(eddy_minimize_lbfgs(s, loss, .loss_tolerance = 0, .report = &other), EDDY_OK);
    runs(s, eddy_initializer(g));
    ck_assert_int_eq(eddy_newton_cg(s, loss, .loss_tolerance = 0, .report = &r), EDDY_OK);
    ck_assert_int_eq(r.end, EDDY_NEWTON_CG_GRADIENT);
    ck_assert_double_le(r.gradient, 1e-5);
    ck_assert_double_eq(r.loss, number(s, loss));
    ck_assert_int_lt(r.evaluations, other.evaluations);
}
END_TEST

START_TEST(a_network_learns)
{
    const network n = network_build(g);
    eddy_array   *batch = network_batch(7), *out = NULL;
    runs(s, n.init);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ n.x, batch }), EDDY_FETCH(n.loss), &out), EDDY_OK);
    const double before = eddy_array_item(out);
    ck_assert_int_eq(eddy_newton_cg(s, n.loss, .feeds = EDDY_FEED({ n.x, batch }),
                                    .max_iterations = 30, .report = &r), EDDY_OK);
    ck_assert_double_lt(r.loss, 1e-2 * before);
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
    const eddy_tensor v = eddy_variable(g, vector(g, 2, (double[]){ -1.2, 1 })), loss = valley(v);
    const eddy_tensor kink = eddy_variable(g, real(g, 1.3));
    const eddy_list   vars = EDDY_LIST(v);
    runs(s, eddy_initializer(g));
    eddy_newton_cg(s, loss, vars, .callback = until_third, .data = &last, .report = &r);
    ck_assert_int_eq(r.end, EDDY_NEWTON_CG_CALLBACK);
    ck_assert_int_eq(r.iterations, 3);
    ck_assert_double_eq(r.loss, last);
    eddy_newton_cg(s, loss, vars, .max_iterations = 2, .report = &r);
    ck_assert_int_eq(r.end, EDDY_NEWTON_CG_ITERATIONS);
    eddy_newton_cg(s, loss, vars, .max_evaluations = 4, .report = &r);
    ck_assert_int_eq(r.end, EDDY_NEWTON_CG_EVALUATIONS);
    ck_assert_int_eq(r.evaluations, 4);
    eddy_newton_cg(s, loss, vars, .loss_tolerance = 0.9, .report = &r);
    ck_assert_int_eq(r.end, EDDY_NEWTON_CG_LOSS);
    eddy_newton_cg(s, loss, vars, .loss_tolerance = 0, .report = &r);
    ck_assert_int_eq(r.end, EDDY_NEWTON_CG_GRADIENT);
    eddy_newton_cg(s, loss, vars, .loss_tolerance = 0, .report = &r);
    ck_assert_int_eq(r.iterations, 0);
    eddy_newton_cg(s, Add(Abs(eddy_read(kink)), 1), EDDY_LIST(kink), .loss_tolerance = 0,
                   .report = &r);
    ck_assert_int_eq(r.end, EDDY_NEWTON_CG_RADIUS);
    ck_assert_double_le(fabs(number(s, kink)), 1e-6);
}
END_TEST

static void refused(eddy_newton_cg_args a, eddy_status status)
{
    a.report = &r;
    ck_assert_int_eq(eddy_newton_cg_with(&a), status);
    ck_assert_int_eq(r.end, EDDY_NEWTON_CG_FAILED);
    golden_line(r.message);
}

#define GIVEN(...) *EDDY_ARGS(eddy_newton_cg_args, .session = s, __VA_ARGS__)

START_TEST(errors)
{
    const double      start[] = { -1.2, 1 };
    const eddy_tensor v = eddy_variable(g, vector(g, 2, start)), loss = valley(v);
    const eddy_tensor whole = eddy_variable(g, eddy_cast(real(g, 1), EDDY_INT32));
    const eddy_tensor fed = eddy_placeholder(g, "fed", EDDY_FLOAT64, EDDY_SCALAR);
    const eddy_list   vars = EDDY_LIST(v);
    golden_begin("optim/newton_cg");
    refused(*EDDY_ARGS(eddy_newton_cg_args, .loss = loss), EDDY_INVALID_ARGUMENT);
    refused(GIVEN(.var_list = vars), EDDY_INVALID_ARGUMENT);
    refused(GIVEN(v, vars), EDDY_BAD_SHAPE);
    refused(GIVEN(whole, vars), EDDY_BAD_DTYPE);
    refused(GIVEN(loss, EDDY_LIST(whole)), EDDY_BAD_DTYPE);
    refused(GIVEN(loss, { 2, NULL }), EDDY_INVALID_ARGUMENT);
    refused(GIVEN(loss, vars, .max_products = 0), EDDY_INVALID_ARGUMENT);
    refused(GIVEN(loss, vars, .radius = 0), EDDY_INVALID_ARGUMENT);
    refused(GIVEN(loss, vars, .radius = INFINITY), EDDY_INVALID_ARGUMENT);
    refused(GIVEN(loss, vars, .loss_tolerance = NAN), EDDY_INVALID_ARGUMENT);
    refused(GIVEN(loss, vars), EDDY_UNINITIALIZED);
    ck_assert_int_eq(eddy_variable_set(s, v, EDDY_VIEW(start, 2)), EDDY_OK);
    refused(GIVEN(Mul(loss, fed), vars), EDDY_NOT_FED);
    refused(GIVEN(Log(Sub(loss, loss)), vars), EDDY_INVALID_ARGUMENT);
    golden_end();
    fits(g);
}
END_TEST

/* Whichever allocation no_product, the call ends and releases all memory. */
START_TEST(without_memory)
{
    for (long at = 1;; at += 3) {
        failing_allocator f;
        failing_allocator_init(&f);
        eddy_graph       *h = eddy_graph_new(&f.table);
        eddy_session     *t = eddy_session_new(h);
        const eddy_tensor v = eddy_variable(h, vector(h, 2, (double[]){ -1.2, 1 }));
        const eddy_tensor loss = valley(v);
        runs(t, eddy_initializer(h));
        const long stop = f.at = f.calls + at;
        const eddy_status status = eddy_newton_cg(t, loss, .max_iterations = 2, .report = &r);
        const bool failed = f.calls >= stop;
        if (status != EDDY_OK) ck_assert_ptr_nonnull(strstr(r.message, "memory"));
        else ck_assert_int_eq(r.end, EDDY_NEWTON_CG_ITERATIONS);
        f.at = 0;
        eddy_session_free(t);
        eddy_graph_free(h);
        ck_assert_int_eq(f.live, 0);
        if (!failed) break;
    }
}
END_TEST

Suite *newton_cg_suite(void)
{
    const TTest *const tests[] = { steps, a_saddle, beside_lbfgs, a_network_learns, ends, errors,
                                   without_memory };
    Suite *suite = suite_create("newton_cg");
    TCase *c = tcase_create("newton_cg");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, types_and_shapes, 0, 2);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(c, tests[i]);
    suite_add_tcase(suite, c);
    return suite;
}
