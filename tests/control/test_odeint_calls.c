/* test_odeint_calls.c -- differential equations of float32, of batches and examples, in loops, with
 * layers; the order of the methods, the control of the step, and where a step fails. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"

BODY(decay, Neg(Mul(c[0], x[1])))
BODY(falling_root, Neg(Sqrt(x[1])))
BODY(relaxing, Mul(-50, Sub(x[1], Cos(x[0]))))
BODY(van_der_pol, x[2], Sub(Mul(c[0], Mul(Sub(1, Square(x[1])), x[2])), x[1]))

static eddy_tensor times_of(eddy_graph *g, eddy_dtype d, double a, double b)
{
    const eddy_tensor at[2] = { eddy_number(g, d, a), eddy_number(g, d, b) };
    return eddy_stack(((eddy_list){ 2, at }));
}

/* ------------------------------------------------------------ accuracy -- */

/* One step of Runge and Kutta for y' = -y is the series of exp(-h) to the fourth power. */
START_TEST(one_step)
{
    trial             t = trial_begin((unsigned)_i);
    const double      h = 0.3, series = 1 - h + h * h / 2 - h * h * h / 6 + h * h * h * h / 24;
    const eddy_tensor y0 = fed_real(&t, 1), p = fed_real(&t, 1);
    eddy_tensor       y[EDDY_MAX_RESULTS];
    ck_assert_int_eq(eddy_odeint(FUNCTION(decay, p), EDDY_LIST(y0), times_of(t.graph, F64, 0, h), y,
                                 EDDY_RK4), 1);
    is(&t, y[0], V(1, series));
    is(&t, slope(y[0], y0), V(1 + series));
    is(&t, slope(y[0], p), V(-h + h * h - h * h * h / 2 + h * h * h * h / 6));
    trial_end(&t);
}
END_TEST

static double error_of(trial *t, eddy_odeint_args a)
{
    const eddy_tensor p = constant(t, 1);
    eddy_tensor       y[EDDY_MAX_RESULTS];
    a.size_ = sizeof a;
    a.f = FUNCTION(decay, p);
    a.y0 = EDDY_LIST(constant(t, 1));
    a.t = times_of(t->graph, F64, 0, 2);
    a.out = y;
    ck_assert_msg(eddy_odeint_with(&a) == 1, "%s", eddy_graph_message(t->graph));
    eddy_array  *v = value(t, y[0]);
    const double error = fabs(eddy_array_get(v, 1) - exp(-2));
    eddy_array_free(v);
    return error;
}

/* Half the step: a sixteenth of the error. A stricter tolerance: a smaller error, below it. */
START_TEST(order)
{
    trial        t = trial_begin((unsigned)_i);
    const eddy_odeint_args common = { .method = EDDY_RK4, .rtol = 1, .atol = 1, .max_steps = 1000 };
    eddy_odeint_args coarse = common, fine = common;
    coarse.steps = 10, fine.steps = 20;
    const double ratio = error_of(&t, coarse) / error_of(&t, fine);
    ck_assert_msg(ratio > 15 && ratio < 18, "%g", ratio);
    double last = 1;
    for (double tolerance = 1e-3; tolerance > 1e-12; tolerance /= 100) {
        const eddy_odeint_args a = {
            .rtol = tolerance, .atol = tolerance, .max_steps = 1000, .steps = 1
        };
        const double error = error_of(&t, a);
        ck_assert_msg(error < tolerance && error < last, "%g at %g", error, tolerance);
        last = error;
    }
    trial_end(&t);
}
END_TEST

static int calls;
static void count_line(void *user, const char *line)
{
    (void)user, (void)line;
    calls++;
}
BODY(counted, Mul(c[0], Sub(Cos(eddy_print(x[0], .write = count_line)), x[1])))

static int calls_of(eddy_ode_gradient gradient, double rate, double first_step)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor y[EDDY_MAX_RESULTS], p = eddy_number(g, F64, rate);
    ck_assert_msg(eddy_odeint(FUNCTION(counted, p), EDDY_LIST(eddy_number(g, F64, 1)),
                              times_of(g, F64, 0, 2), y, .gradient = gradient, .rtol = 1e-6,
                              .atol = 1e-6, .first_step = first_step) == 1,
                  "%s", eddy_graph_message(g));
    eddy_session *s = eddy_session_new(g);
    calls = 0;
    eddy_array *a = eddy_fetch(s, y[0]);
    ck_assert_msg(a != NULL, "%s", eddy_session_message(s));
    eddy_array_free(a);
    eddy_session_free(s);
    eddy_graph_free(g);
    return calls;
}

/* Evaluations of the function: 6 a step, 13 if the steps are to be differentiated, and three. */
START_TEST(evaluations)
{
    const int n = calls_of(EDDY_ODE_ADJOINT, 1, 0), twice = calls_of(EDDY_ODE_UNROLLED, 1, 0);
    ck_assert_msg(n > 20 && n < 120 && (n - 3) % 6 == 0, "%d", n);
    ck_assert_int_eq(twice, 3 + (n - 3) / 6 * 12);
    ck_assert_int_lt(n, calls_of(EDDY_ODE_ADJOINT, 40, 0));
    ck_assert_int_eq((calls_of(EDDY_ODE_ADJOINT, 1, 1e-4) - 1) % 6, 0);
}
END_TEST

/* Stiff equations within max_steps; steps that leave the domain of the function are repeated, and
 * do not make the gradient NaN. */
START_TEST(rejected_steps)
{
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor y0 = fed_real(&t, 1);
    eddy_tensor       y[EDDY_MAX_RESULTS], mu = fed_real(&t, 2);
    /* sqrt(y) = 1 - t / 2; the first attempt of length 50 is beyond y = 0 */
    ck_assert_int_eq(eddy_odeint(PLAIN(falling_root), EDDY_LIST(y0), times_of(t.graph, F64, 0, 1),
                                 y, .first_step = 50, .rtol = 1e-10, .atol = 1e-12),
                     1);
    eddy_array *v = value(&t, eddy_index(y[0], "1")),
               *d = value(&t, slope(eddy_index(y[0], "1"), y0));
    ck_assert_double_eq_tol(eddy_array_item(v), 0.25, 1e-9);
    ck_assert_double_eq_tol(eddy_array_item(d), 0.5, 1e-8);
    eddy_array_free(v), eddy_array_free(d);
    ck_assert_int_eq(eddy_odeint(PLAIN(relaxing), EDDY_LIST(y0), times_of(t.graph, F64, 0, 3), y,
                                 .first_step = 1), 1);
    v = value(&t, eddy_index(y[0], "1"));
    ck_assert_double_eq_tol(eddy_array_item(v), (2500 * cos(3) + 50 * sin(3)) / 2501, 1e-6);
    eddy_array_free(v);
    eddy_tensor z[EDDY_MAX_RESULTS];
    ck_assert_int_eq(eddy_odeint(FUNCTION(van_der_pol, mu),
                                 EDDY_LIST(constant(&t, 2), constant(&t, 0)),
                                 times_of(t.graph, F64, 0, 3), z,
                                 .gradient = (eddy_ode_gradient)(_i % 2)),
                     2);
    v = value(&t, slope(z[0], mu));
    ck_assert(isfinite(eddy_array_item(v)));
    eddy_array_free(v);
    trial_end(&t);
}
END_TEST

/* --------------------------------------------------------- types and shapes -- */

START_TEST(single_precision)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor y0 = eddy_placeholder(g, "y0", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 2)),
                y[EDDY_MAX_RESULTS];
    eddy_tensor rates = eddy_placeholder(g, "p", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 2));
    eddy_tensor t = times_of(g, EDDY_FLOAT32, 0, 1);
    ck_assert_msg(eddy_odeint(FUNCTION(decay, rates), EDDY_LIST(y0), t, y,
                              .gradient = (eddy_ode_gradient)_i) == 1,
                  "%s", eddy_graph_message(g));
    eddy_tensor   d = slope(eddy_index(y[0], "1"), y0), dp = slope(y[0], rates);
    eddy_session *s = eddy_session_new(g);
    for (int rows = 1; rows < 4; rows++) {
        const float ones[6] = { 1, 1, 1, 1, 1, 1 },
                    half[6] = { 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f };
        eddy_array *a[2] = { NULL };
        ck_assert_msg(eddy_run(s, EDDY_FEED({ y0, EDDY_VIEW(ones, rows, 2) },
                                            { rates, EDDY_VIEW(half, rows, 2) }),
                               EDDY_FETCH(d, dp), a) == EDDY_OK, "%s", eddy_session_message(s));
        ck_assert_int_eq(eddy_array_count(a[0]), 2 * rows);
        for (int i = 0; i < 2 * rows; i++) {
            ck_assert_double_eq_tol(eddy_array_get(a[0], i), exp(-0.5), 1e-4);
            ck_assert_double_eq_tol(eddy_array_get(a[1], i), -exp(-0.5), 1e-3);
        }
        eddy_array_free(a[0]), eddy_array_free(a[1]);
    }
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

static eddy_ode_gradient gradient;
static eddy_tensor decayed(eddy_tensor p)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    ck_assert_msg(eddy_odeint(FUNCTION(decay, p), EDDY_LIST(OnesLike(p)),
                              times_of(p.graph, F64, 0, 1), y, .gradient = gradient, .rtol = 1e-10,
                              .atol = 1e-12) == 1,
                  "%s", eddy_graph_message(p.graph));
    return eddy_index(y[0], "1");
}
BODY(decay_of, decayed(x[0]))
BODY(slope_of, slope(decayed(x[0]), x[0]))

/* Each example has its own steps; and derivatives inside a map, of a map, and of a loop. */
START_TEST(maps)
{
    trial             t = trial_begin((unsigned)_i);
    const double      p[3] = { 0.5, 2, 9 };
    const eddy_tensor x = eddy_set_shape(numbers(&t, 3, p), EDDY_SHAPE(3));
    eddy_tensor       y[EDDY_MAX_RESULTS], dy[EDDY_MAX_RESULTS], z[EDDY_MAX_RESULTS], j;
    gradient = (eddy_ode_gradient)(_i % 2);
    ck_assert_msg(eddy_vmap(PLAIN(decay_of), EDDY_LIST(x), y) == 1, "%s",
                  eddy_graph_message(t.graph));
    ck_assert_msg(eddy_vmap(PLAIN(slope_of), EDDY_LIST(x), dy) == 1, "%s",
                  eddy_graph_message(t.graph));
    ck_assert_msg(eddy_map_fn(PLAIN(slope_of), EDDY_LIST(x), z) == 1, "%s",
                  eddy_graph_message(t.graph));
    ck_assert_int_eq(eddy_jacobian(decayed(x), EDDY_LIST(x), &j), EDDY_OK);
    const eddy_tensor first[5] = { slope(y[0], x), dy[0], z[0], eddy_matrix_diag_part(j),
                                   slope(decayed(x), x) };
    /* a map over the loop of an adjoint has no further derivative */
    const eddy_tensor second[3] = { gradient == EDDY_ODE_UNROLLED ? slope(dy[0], x)
                                                                  : slope(z[0], x),
                                    slope(z[0], x), slope(first[4], x) };
    for (int i = 0; i < 3; i++) {
        eddy_array *a[8];
        for (int k = 0; k < 8; k++) a[k] = value(&t, k < 5 ? first[k] : second[k - 5]);
        for (int k = 0; k < 8; k++)
            ck_assert_double_eq_tol(eddy_array_get(a[k], i), k < 5 ? -exp(-p[i]) : exp(-p[i]),
                                    1e-7);
        for (int k = 0; k < 8; k++) eddy_array_free(a[k]);
    }
    trial_end(&t);
}
END_TEST

/* A network as the right-hand side: its variables are created once, and have gradients. */
static int network(eddy_list x, eddy_tensor *y, void *context)
{
    const char *const *reuse = context;
    y[0] = eddy_dense(Tanh(eddy_dense(x.at[1], 8, "hidden", .reuse = reuse[0])), 2, "slope",
                      .reuse = reuse[1]);
    return 1;
}

START_TEST(networks)
{
    eddy_graph *g = eddy_graph_new(.seed = 3);
    eddy_tensor y[2][EDDY_MAX_RESULTS], v[4], d[2][4],
        y0 = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(3, 2));
    const eddy_tensor t = times_of(g, EDDY_FLOAT32, 0, 1);
    const char *reused[2] = { "odeint/hidden", "odeint/slope" }, *new[2] = { NULL };
    const eddy_function f = { .build = network, .context = new },
                        again = { network, reused, "f", NULL };
    ck_assert_msg(eddy_odeint(f, EDDY_LIST(y0), t, y[0]) == 1, "%s", eddy_graph_message(g));
    ck_assert_int_eq(eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES), 4);
    ck_assert_msg(eddy_odeint(again, EDDY_LIST(y0), t, y[1], .gradient = EDDY_ODE_ADJOINT) == 1,
                  "%s", eddy_graph_message(g));
    eddy_session *s = eddy_session_new(g);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    for (int i = 0; i < 4; i++) v[i] = eddy_collection_at(g, EDDY_TRAINABLE_VARIABLES, i);
    for (int k = 0; k < 2; k++)
        ck_assert_int_eq(
            eddy_gradients(EDDY_LIST(Sum(Square(y[k][0]))), ((eddy_list){ 4, v }), d[k]), EDDY_OK);
    for (int i = 0; i < 4; i++) {
        eddy_array *a = eddy_fetch(s, d[0][i]), *b = eddy_fetch(s, d[1][i]);
        ck_assert_msg(a && b, "%s", eddy_session_message(s));
        for (int64_t e = 0; e < eddy_array_count(a); e++)
            ck_assert_double_eq_tol(eddy_array_get(a, e), eddy_array_get(b, e), 2e-3);
        eddy_array_free(a), eddy_array_free(b);
    }
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

Suite *odeint_calls_suite(void)
{
    Suite *suite = suite_create("odeint_calls");
    TCase *c = tcase_create("odeint_calls");
    tcase_add_loop_test(c, one_step, 0, SEEDS);
    tcase_add_loop_test(c, order, 0, SEEDS);
    tcase_add_test(c, evaluations);
    tcase_add_loop_test(c, rejected_steps, 0, SEEDS);
    tcase_add_loop_test(c, single_precision, 0, 2);
    tcase_add_loop_test(c, maps, 0, SEEDS);
    tcase_add_test(c, networks);
    suite_add_tcase(suite, c);
    return suite;
}
