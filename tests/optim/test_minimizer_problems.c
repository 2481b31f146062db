/* test_minimizer_problems.c -- all minimizers on the test functions of More, Garbow and Hillstrom,
 * and those with bounds on problems of Hock and Schittkowski. */
#include "build/gen/suites.h"
#include "ops/short_names.h"
#include "tests/optim/mgh_problems.h"

#include <math.h>
#include <string.h>


/* A value near one of the minima; a minimum of 0 is reached only up to rounding in double. */
static bool is_minimum(const double *minima, double sum, double more)
{
    for (int k = 0; k < 2; k++) {
        const double want = minima[k];
        if (want == 0 && k == 0 && sum <= 1e-10 + more) return true;
        if (want != 0 && fabs(sum - want) <= 1e-5 * fabs(want) + more) return true;
    }
    return false;
}

enum { LEAST_SQUARES, LEAST_SQUARES_CG, NEWTON, LBFGS, METHODS };
static const char *const method_names[] = { "least squares", "least squares, CG", "Newton-CG",
                                            "L-BFGS" };

typedef struct outcome {
    double      sum;
    int         evaluations, products;
    eddy_status status;
    char        message[1012];
} outcome;

static outcome minimized(int method, eddy_session *s, eddy_tensor residuals)
{
    const eddy_tensor sum = Sum(Square(residuals));
    outcome           o = { 0 };
    if (method <= LEAST_SQUARES_CG) {
        eddy_least_squares_report r;
        o.status = eddy_least_squares(s, EDDY_LIST(residuals), .report = &r, .max_iterations = 1000,
                                      .max_evaluations = 2000, .gradient_tolerance = 1e-12,
                                      .loss_tolerance = 1e-12, .step_tolerance = 1e-14,
                                      .method = method == LEAST_SQUARES ? EDDY_LEAST_SQUARES_QR
                                                                        : EDDY_LEAST_SQUARES_CG);
        o.evaluations = r.evaluations;
        snprintf(o.message, sizeof o.message, "%s", r.message);
        o.sum = 2 * r.loss;
    } else if (method == NEWTON) {
        eddy_newton_cg_report r;
        o.status = eddy_newton_cg(s, sum, .report = &r, .gradient_tolerance = 1e-12,
                                  .loss_tolerance = 1e-15);
        o.evaluations = r.evaluations;
        o.products = r.products;
        snprintf(o.message, sizeof o.message, "%s", r.message);
        o.sum = r.loss;
    } else {
        eddy_lbfgs_report r;
        o.status = eddy_minimize_lbfgs(s, sum, .report = &r, .gradient_tolerance = 1e-12,
                                       .loss_tolerance = 0, .max_iterations = 5000);
        o.evaluations = r.evaluations;
        snprintf(o.message, sizeof o.message, "%s", r.message);
        o.sum = r.loss;
    }
    return o;
}

START_TEST(more_garbow_hillstrom)
{
    const mgh_problem *p = &mgh_problems[_i / METHODS];
    const int          method = _i % METHODS;
    double             x[MGH_MOST];
    memcpy(x, p->x, sizeof x);
    if (p->begin) p->begin(p->n, x);
    eddy_graph       *g = eddy_graph_new();
    const eddy_tensor v = eddy_variable(g, eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(p->n), x));
    const eddy_tensor r = p->residuals(eddy_read(v), p->n);
    eddy_session     *s = eddy_session_new(g);
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s: %s", p->name, eddy_graph_message(g));
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL), EDDY_OK);
    const outcome o = minimized(method, s, r);
    const double      more = method == LBFGS ? p->lbfgs_leaves : 0;
    ck_assert_msg(o.status == EDDY_OK && is_minimum(p->minima, o.sum, more),
                  "%s, %d variables, %s: %.9g after %d evaluations: %s", p->name, p->n,
                  method_names[method], o.sum, o.evaluations, o.message);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* ----------------------------------------------------------------------- bounds -- */

/* Problems with bounds alone of Hock and Schittkowski, Test examples for nonlinear programming
 * codes (1981), and the minima that the book states. */
typedef struct bounded_problem {
    int           number, n;
    eddy_tensor (*loss)(eddy_tensor x);
    eddy_tensor (*residuals)(eddy_tensor x, int n);     /* the loss is their sum of squares */
    double        start[10], lower[10], upper[10], minima[2];
} bounded_problem;

static eddy_tensor at(eddy_tensor x, int i)
{
    return Gather(x, eddy_number(x.graph, EDDY_INT32, i - 1));
}

static eddy_tensor valley(eddy_tensor x, int n)
{
    (void)n;
    return eddy_stack(EDDY_LIST(Mul(10, Sub(at(x, 2), Square(at(x, 1)))), Sub(1, at(x, 1))), 0);
}
static eddy_tensor hs1(eddy_tensor x) { return Sum(Square(valley(x, 2))); }
static eddy_tensor hs3(eddy_tensor x)
{
    return Add(at(x, 2), Mul(1e-5, Square(Sub(at(x, 2), at(x, 1)))));
}
static eddy_tensor hs4(eddy_tensor x) { return Add(Div(Pow(Add(at(x, 1), 1), 3), 3), at(x, 2)); }
static eddy_tensor hs5(eddy_tensor x)
{
    const eddy_tensor a = at(x, 1), b = at(x, 2);
    const eddy_tensor line = Add(Sub(Mul(2.5, b), Mul(1.5, a)), 1);
    return Add(Add(Sin(Add(a, b)), Square(Sub(a, b))), line);
}
static eddy_tensor wood(eddy_tensor x, int n)
{
    (void)n;
    const eddy_tensor a = at(x, 1), b = at(x, 2), c = at(x, 3), d = at(x, 4);
    return eddy_stack(EDDY_LIST(Mul(10, Sub(b, Square(a))), Sub(1, a),
                                Mul(sqrt(90), Sub(d, Square(c))), Sub(1, c),
                                Mul(sqrt(10), Sub(Add(b, d), 2)), Mul(sqrt(0.1), Sub(b, d))), 0);
}
static eddy_tensor hs38(eddy_tensor x) { return Sum(Square(wood(x, 4))); }
static eddy_tensor hs45(eddy_tensor x) { return Sub(2, Div(eddy_prod(x), 120)); }
static eddy_tensor hs110(eddy_tensor x)
{
    const eddy_tensor logs = Add(Square(Log(Sub(x, 2))), Square(Log(Sub(10, x))));
    return Sub(Sum(logs), Pow(eddy_prod(x), 0.2));
}

#define TEN(x) { x, x, x, x, x, x, x, x, x, x }

static const bounded_problem bounded_problems[] = {
    { 1, 2, hs1, valley, { -2, 1 }, { -INFINITY, -1.5 }, { INFINITY, INFINITY }, { 0, 0 } },
    { 2, 2, hs1, valley, { -2, 1 }, { -INFINITY, 1.5 }, { INFINITY, INFINITY },
      { 0.0504261879, 4.941229318 } },
    { 3, 2, hs3, NULL, { 10, 1 }, { -INFINITY, 0 }, { INFINITY, INFINITY }, { 0, 0 } },
    { 4, 2, hs4, NULL, { 1.125, 0.125 }, { 1, 0 }, { INFINITY, INFINITY }, { 8.0 / 3, 0 } },
    { 5, 2, hs5, NULL, { 0, 0 }, { -1.5, -3 }, { 4, 3 }, { -1.913222955, 0 } },
    { 38, 4, hs38, wood, { -3, -1, -3, -1 }, { -10, -10, -10, -10 }, { 10, 10, 10, 10 }, { 0, 0 } },
    { 45, 5, hs45, NULL, { 2, 2, 2, 2, 2 }, { 0 }, { 1, 2, 3, 4, 5 }, { 1, 0 } },
    { 110, 10, hs110, NULL, TEN(9), TEN(2.001), TEN(9.999), { -45.77846971, 0 } },
};
enum { BOUNDED = sizeof bounded_problems / sizeof *bounded_problems };

static double value_of(eddy_session *s, eddy_tensor v, int64_t i)
{
    eddy_array  *a = eddy_fetch(s, eddy_read(v));
    const double x = a ? eddy_array_get(a, i) : NAN;
    eddy_array_free(a);
    return x;
}

START_TEST(hock_schittkowski)
{
    const bounded_problem *p = &bounded_problems[_i / 3];
    const int              method = _i % 3;     /* L-BFGS, least squares by QR and by CG */
    if (method > 0 && !p->residuals) return;
    const eddy_shape       shape = EDDY_SHAPE(p->n);
    eddy_graph            *g = eddy_graph_new();
    const eddy_tensor      v = eddy_variable(g, eddy_const(g, EDDY_FLOAT64, shape, p->start));
    const eddy_tensor      lower = eddy_const(g, EDDY_FLOAT64, shape, p->lower);
    const eddy_tensor      upper = eddy_const(g, EDDY_FLOAT64, shape, p->upper), x = eddy_read(v);
    eddy_session          *s = eddy_session_new(g);
    eddy_lbfgs_report      r = { 0 };
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL), EDDY_OK);
    if (method == 0)
        ck_assert_int_eq(eddy_minimize_lbfgs(s, p->loss(x), .report = &r, .loss_tolerance = 0,
                                             .gradient_tolerance = 1e-8,
                                             .lower = EDDY_LIST(lower), .upper = EDDY_LIST(upper)),
                         EDDY_OK);
    else {
        eddy_least_squares_report fit;
        ck_assert_int_eq(eddy_least_squares(s, EDDY_LIST(p->residuals(x, p->n)), .report = &fit,
                                            .method = method == 1 ? EDDY_LEAST_SQUARES_QR
                                                                  : EDDY_LEAST_SQUARES_CG,
                                            .loss_tolerance = 1e-14,
                                            .lower = EDDY_LIST(lower), .upper = EDDY_LIST(upper)),
                         EDDY_OK);
        r.loss = 2 * fit.loss;
        r.evaluations = fit.evaluations;
        snprintf(r.message, sizeof r.message, "%s", fit.message);
    }
    ck_assert_msg(is_minimum(p->minima, r.loss, 0), "HS%d: %.12g after %d evaluations: %s",
                  p->number, r.loss, r.evaluations, r.message);
    ck_assert_int_le(r.evaluations, 120);
    for (int i = 0; i < p->n; i++) {
        ck_assert_double_ge(value_of(s, v, i), p->lower[i]);
        ck_assert_double_le(value_of(s, v, i), p->upper[i]);
    }
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* A membrane that is pulled down onto a floor and up to a ceiling: a quadratic function of 400
 * elements, most of which end at a bound. At a minimum the gradient is 0 where an element is free,
 * and leads out of the bounds where it is not. */
START_TEST(membrane)
{
    enum { N = 20 };
    eddy_graph       *g = eddy_graph_new();
    double            force[N * N];
    for (int i = 0; i < N * N; i++)
        force[i] = sin(3 * acos(-1) * (i % N) / N) * (i / N < 12 ? 1 : -1);
    const eddy_tensor v = eddy_variable(g, eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(N, N)));
    const eddy_tensor x = eddy_pad(eddy_read(v), EDDY_DIMS(1, 1), EDDY_DIMS(1, 1));
    const eddy_tensor down = Square(Sub(eddy_index(x, "1:"), eddy_index(x, ":-1")));
    const eddy_tensor along = Square(Sub(eddy_index(x, ":, 1:"), eddy_index(x, ":, :-1")));
    const eddy_tensor pull = Sum(Mul(eddy_read(v), eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(N, N),
                                                              force)));
    const eddy_tensor loss = Sub(Mul(0.5, Add(Sum(down), Sum(along))), pull);
    const eddy_tensor dx = eddy_gradient(loss, v);
    eddy_session     *s = eddy_session_new(g);
    eddy_lbfgs_report r;
    int               held = 0;
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL), EDDY_OK);
    ck_assert_int_eq(eddy_minimize_lbfgs(s, loss, .report = &r, .gradient_tolerance = 1e-7,
                                         .loss_tolerance = 0,
                                         .lower = EDDY_LIST(eddy_number(g, EDDY_FLOAT64, -0.5)),
                                         .upper = EDDY_LIST(eddy_number(g, EDDY_FLOAT32, 0.25))),
                     EDDY_OK);
    ck_assert_msg(r.end == EDDY_LBFGS_GRADIENT, "%s", r.message);
    eddy_array *at_end = eddy_fetch(s, eddy_read(v)), *slope = eddy_fetch(s, dx);
    for (int i = 0; i < N * N; i++) {
        const double a = eddy_array_get(at_end, i), d = eddy_array_get(slope, i);
        ck_assert(a >= -0.5 && a <= 0.25);
        ck_assert(a == -0.5 ? d >= 0 : a == 0.25 ? d <= 0 : fabs(d) <= 1e-7);
        held += a == -0.5 || a == 0.25;
    }
    ck_assert_int_gt(held, 150);
    ck_assert_int_lt(held, 390);
    eddy_array_free(at_end), eddy_array_free(slope);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* Nonnegative least squares: the conditions of Karush, Kuhn and Tucker hold, by both methods. */
START_TEST(nonnegative)
{
    enum { M = 30, N = 12 };
    eddy_graph       *g = eddy_graph_new();
    double            a[M * N], y[M];
    for (int i = 0; i < M * N; i++) a[i] = sin(1.7 * i * i + 0.3 * i);
    for (int i = 0; i < M; i++) y[i] = cos(2.1 * i);
    const eddy_tensor v = eddy_variable(g, eddy_ones(g, EDDY_FLOAT64, EDDY_SHAPE(N)));
    const eddy_tensor image = eddy_matvec(eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(M, N), a),
                                          eddy_read(v));
    const eddy_tensor r = Sub(image, eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(M), y));
    const eddy_tensor dx = eddy_gradient(Mul(0.5, Sum(Square(r))), v);
    eddy_session     *s = eddy_session_new(g);
    for (int m = EDDY_LEAST_SQUARES_QR; m <= EDDY_LEAST_SQUARES_CG; m++)
        for (int damped = 0; damped < 2; damped++) {
            int zeros = 0;
            ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL),
                             EDDY_OK);
            ck_assert_int_eq(eddy_least_squares(s, EDDY_LIST(r), .loss_tolerance = 0,
                                                .step_tolerance = 0, .damping = damped ? 1e-3 : 0,
                                                .method = (eddy_least_squares_method)m,
                                                .lower = EDDY_LIST(eddy_scalar(g, 0))),
                             EDDY_OK);
            eddy_array *at_end = eddy_fetch(s, eddy_read(v)), *slope = eddy_fetch(s, dx);
            for (int i = 0; i < N; i++) {
                const double x = eddy_array_get(at_end, i), d = eddy_array_get(slope, i);
                ck_assert(x >= 0);
                ck_assert_msg(x == 0 ? d >= -1e-8 : fabs(d) <= 1e-7, "%d: %g, %g", i, x, d);
                zeros += x == 0;
            }
            ck_assert_int_gt(zeros, 1);
            ck_assert_int_lt(zeros, N - 1);
            eddy_array_free(at_end), eddy_array_free(slope);
        }
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

Suite *minimizer_problems_suite(void)
{
    Suite *suite = suite_create("minimizer_problems");
    TCase *c = tcase_create("minimizer_problems");
    tcase_add_loop_test(c, more_garbow_hillstrom, 0, METHODS * mgh_problem_count);
    tcase_add_loop_test(c, hock_schittkowski, 0, 3 * BOUNDED);
    tcase_add_test(c, membrane);
    tcase_add_test(c, nonnegative);
    suite_add_tcase(suite, c);
    return suite;
}
