/* test_odeint.c -- ordinary differential equations: solutions and their derivatives against
 * formulas and finite differences, with both methods and both gradients. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"
#include "tests/lib/finite_differences.h"

/* Arguments are t, y. */
BODY(decay, Neg(Mul(c[0], x[1])))
BODY(oscillator, x[2], Neg(Mul(Square(c[0]), x[1])))
BODY(logistic, Mul(c[0], Mul(x[1], Sub(1, x[1]))))
/* y' = p cos(p t) + (sin(p t) - y): y = sin(p t) if y(0) = 0. */
BODY(driven, Add(Mul(c[0], Cos(Mul(c[0], x[0]))), Sub(Sin(Mul(c[0], x[0])), x[1])))
BODY(reciprocal, Reciprocal(x[0]))
BODY(coupled, Mul(Sin(Sum(x[2])), Sub(c[0], x[1])),
     Mul(0.4, Add(Tanh(Mul(c[1], x[2])), Mean(x[1]))))

/* A kind of solver: method, gradient. */
typedef struct kind {
    eddy_ode_method   method;
    eddy_ode_gradient gradient;
} kind;
static const kind kinds[] = {
    { EDDY_DOPRI5, EDDY_ODE_UNROLLED }, { EDDY_DOPRI5, EDDY_ODE_ADJOINT },
    { EDDY_RK4, EDDY_ODE_UNROLLED }, { EDDY_RK4, EDDY_ODE_ADJOINT },
};
enum { KINDS = 4 };

/* Solutions that are exact to about 1e-10. */
static eddy_tensor solved(kind k, eddy_function f, eddy_tensor y0, eddy_tensor t)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    ck_assert_msg(eddy_odeint(f, EDDY_LIST(y0), t, y, k.method, k.gradient, .rtol = 1e-11,
                              .atol = 1e-13, .steps = 200) == 1,
                  "%s", eddy_graph_message(t.graph));
    return y[0];
}

/* got is `want`, relative to the largest element. */
static void near(trial *t, const char *what, int k, eddy_tensor got, eddy_tensor want,
                 double relative)
{
    eddy_array *a = value(t, got), *b = value(t, want);
    double      size = 1;
    ck_assert_int_eq(eddy_array_count(a), eddy_array_count(b));
    for (int64_t i = 0; i < eddy_array_count(b); i++) size = fmax(size, fabs(eddy_array_get(b, i)));
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        ck_assert_msg(fabs(eddy_array_get(a, i) - eddy_array_get(b, i)) <= relative * size,
                      "%s %d, element %d: %.12g, not %.12g", what, k, (int)i, eddy_array_get(a, i),
                      eddy_array_get(b, i));
    eddy_array_free(a), eddy_array_free(b);
}

/* y and its derivatives with respect to x are those of `want`. */
static void agree(trial *t, eddy_tensor y, eddy_tensor want, eddy_list x, int order)
{
    near(t, "value", 0, y, want, 1e-9);
    for (int k = 1; k <= order; k++) {
        eddy_tensor dy[3], dw[3], sum = constant(t, 0), sum_w = sum;
        eddy_gradients(EDDY_LIST(Square(y)), x, dy, .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
        eddy_gradients(EDDY_LIST(Square(want)), x, dw,
                       .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
        for (int i = 0; i < x.count; i++) {
            near(t, "derivative", k, dy[i], dw[i], 1e-7);
            sum = Add(sum, Sum(Sin(dy[i])));
            sum_w = Add(sum_w, Sum(Sin(dw[i])));
        }
        y = sum, want = sum_w;
    }
}

static eddy_tensor since_start(eddy_tensor t) { return Sub(t, eddy_index(t, "0")); }

/* Rising times, falling ones, equal ones, in any order, only one. */
static const struct {
    int    n;
    double at[5];
} times[] = { { 3, { 0.2, 0.9, 1.4 } }, { 4, { 1, 0.5, 0.1, -0.3 } }, { 4, { 0, 0.7, 0.7, 1 } },
              { 3, { 0.5, 0.5, 0.5 } }, { 5, { 0, 1, 0.3, 0.3, 0.8 } }, { 1, { 0.4 } } };
enum { TIMES = 6 };

START_TEST(exponential_decay)
{
    trial             t = trial_begin((unsigned)_i);
    const int         i = _i / KINDS;
    const eddy_tensor y0 = fed_real(&t, 1.3), p = fed_real(&t, 0.8);
    const eddy_tensor at =
        eddy_set_shape(numbers(&t, times[i].n, times[i].at), EDDY_SHAPE(times[i].n));
    const eddy_tensor want = Mul(y0, Exp(Neg(Mul(p, since_start(at)))));
    agree(&t, solved(kinds[_i % KINDS], FUNCTION(decay, p), y0, at), want, EDDY_LIST(y0, p, at), 2);
    trial_end(&t);
}
END_TEST

START_TEST(logistic_growth)
{
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor y0 = fed_real(&t, 0.2), p = fed_real(&t, 1.5);
    const eddy_tensor at = eddy_set_shape(numbers(&t, V(0, 0.4, 2)), EDDY_SHAPE(3));
    const eddy_tensor odds = Mul(Sub(Reciprocal(y0), 1), Exp(Neg(Mul(p, since_start(at)))));
    agree(&t, solved(kinds[_i % KINDS], FUNCTION(logistic, p), y0, at), Reciprocal(Add(1, odds)),
          EDDY_LIST(y0, p, at), 2);
    trial_end(&t);
}
END_TEST

/* The right-hand side depends on the time. */
START_TEST(driven_by_time)
{
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor p = fed_real(&t, 2), zero = constant(&t, 0);
    const eddy_tensor at = eddy_set_shape(numbers(&t, V(0, 0.4, 2)), EDDY_SHAPE(3));
    const eddy_tensor later = eddy_concat(EDDY_LIST(eddy_zeros(t.graph, F64, EDDY_SHAPE(1)),
                                                    eddy_index(at, "1:")));
    agree(&t, solved(kinds[_i % KINDS], FUNCTION(driven, p), zero, later), Sin(Mul(p, later)),
          EDDY_LIST(p, at), 2);
    /* y(t) = y0 + log(t / t0), and its derivative by the first time is -1 / t0 */
    const eddy_tensor from = eddy_set_shape(numbers(&t, V(0.5, 1, 3)), EDDY_SHAPE(3));
    agree(&t, solved(kinds[_i % KINDS], PLAIN(reciprocal), zero, from),
          Log(Div(from, eddy_index(from, "0"))), EDDY_LIST(from), 2);
    trial_end(&t);
}
END_TEST

/* Two tensors; the energy stays the same. */
START_TEST(harmonic_oscillator)
{
    trial             t = trial_begin((unsigned)_i);
    const kind        k = kinds[_i % KINDS];
    const eddy_tensor w = fed_real(&t, 1.7), q0 = fed_real(&t, 0.4), v0 = fed_real(&t, -1);
    const eddy_tensor at = eddy_set_shape(numbers(&t, V(0, 1, 3)), EDDY_SHAPE(3)),
                      angle = Mul(w, at);
    eddy_tensor       y[EDDY_MAX_RESULTS];
    ck_assert_int_eq(eddy_odeint(FUNCTION(oscillator, w), EDDY_LIST(q0, v0), at, y, k.method,
                                 k.gradient, .rtol = 1e-11, .atol = 1e-13, .steps = 300), 2);
    agree(&t, y[0], Add(Mul(q0, Cos(angle)), Mul(Div(v0, w), Sin(angle))), EDDY_LIST(w, q0, v0), 2);
    agree(&t, y[1], Sub(Mul(v0, Cos(angle)), Mul(Mul(q0, w), Sin(angle))), EDDY_LIST(w, q0, v0), 1);
    trial_end(&t);
}
END_TEST

/* Tensors of different shapes, and parameters of different shapes. */
START_TEST(derivatives_are_differences)
{
    trial       t = trial_begin((unsigned)_i);
    const kind  k = kinds[_i % KINDS];
    eddy_tensor c[2] = { fed_numbers(&t, EDDY_SHAPE(2, 3), -1, 1),
                         fed_numbers(&t, EDDY_SCALAR, 0.5, 1) };
    eddy_tensor a = eddy_set_shape(c[0], EDDY_SHAPE(2, 3)), b = eddy_set_shape(c[1], EDDY_SCALAR);
    eddy_tensor y[EDDY_MAX_RESULTS], y0 = Mul(0.5, a);
    eddy_tensor z0 = eddy_set_shape(numbers(&t, V(0.3, -0.2)), EDDY_SHAPE(2));
    eddy_tensor at = eddy_constant(t.graph, EDDY_DOUBLES(0, 0.5, 1.5));
    ck_assert_msg(eddy_odeint(FUNCTION(coupled, a, b), EDDY_LIST(y0, z0), at, y, k.method,
                              k.gradient, .rtol = 1e-12, .atol = 1e-14, .steps = 200) == 2,
                  "%s", eddy_graph_message(t.graph));
    is_shaped(&t, y[0], EDDY_SHAPE(3, 2, 3));
    is_shaped(&t, y[1], EDDY_SHAPE(3, 2));
    check_slopes(&t, Add(Sum(y[1]), Mean(Square(y[0]))), 2, c, 2);
    trial_end(&t);
}
END_TEST

Suite *odeint_suite(void)
{
    Suite *suite = suite_create("odeint");
    TCase *c = tcase_create("odeint");
    tcase_add_loop_test(c, exponential_decay, 0, TIMES * KINDS);
    tcase_add_loop_test(c, logistic_growth, 0, 2 * KINDS);
    tcase_add_loop_test(c, driven_by_time, 0, 2 * KINDS);
    tcase_add_loop_test(c, harmonic_oscillator, 0, 2 * KINDS);
    tcase_add_loop_test(c, derivatives_are_differences, 0, KINDS);
    suite_add_tcase(suite, c);
    return suite;
}
