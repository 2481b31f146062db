/* test_elementwise_gradients.c -- gradients of elementwise functions against finite differences,
 * and at all singular points where TensorFlow's rules define them.
 *
 * Cases called M-01 and so on, and what is marked "corner", restate TensorFlow's
 * behavior in small numbers. */
#include "tests/lib/element_checks.h"

Suite *elementwise_gradients_suite(void);

/* ------------------------------------------------ gradients, differences -- */

static const struct unary_slope {
    const char *name;
    unary_fn    fn;
    double      low, high;
} unary_slopes[] = {
    { "neg", eddy_neg, -2, 2 },         { "abs", eddy_abs, 0.1, 2 },
    { "square", eddy_square, -2, 2 },   { "reciprocal", eddy_reciprocal, 0.5, 2 },
    { "sqrt", eddy_sqrt, 0.5, 3 },      { "rsqrt", eddy_rsqrt, 0.5, 3 },
    { "exp", eddy_exp, -2, 2 },         { "expm1", eddy_expm1, -2, 2 },
    { "log", eddy_log, 0.5, 3 },        { "log1p", eddy_log1p, -0.5, 3 },
    { "sin", eddy_sin, -3, 3 },         { "cos", eddy_cos, -3, 3 },
    { "tanh", eddy_tanh, -2, 2 },       { "sigmoid", eddy_sigmoid, -3, 3 },
    { "softplus", eddy_softplus, -3, 3 }, { "relu", eddy_relu, 0.1, 3 },
};
enum { UNARY_SLOPES = sizeof unary_slopes / sizeof *unary_slopes };

/* dy agrees with differences of y, both functions of the elements of x. */
static void against_differences(const char *what, eddy_tensor y, eddy_tensor dy, eddy_tensor x,
                                const double *at)
{
    enum { N = 6 };
    const double h = 1e-5;
    double below[N], above[N], low[ROOM], high[ROOM], got[ROOM];
    for (int i = 0; i < N; i++) below[i] = at[i] - h, above[i] = at[i] + h;
    values_fed(y, 1, &(feed){ x, below, N }, low);
    values_fed(y, 1, &(feed){ x, above, N }, high);
    ck_assert_int_eq(values_fed(dy, 1, &(feed){ x, at, N }, got), N);
    for (int i = 0; i < N; i++)
        ck_assert_msg(close_to(got[i], (high[i] - low[i]) / (2 * h), 1e-8),
                      "%s at %g: %.10g, differences give %.10g", what, at[i], got[i],
                      (high[i] - low[i]) / (2 * h));
}

START_TEST(unary_gradients)
{
    const struct unary_slope *r = &unary_slopes[_i];
    double at[6];
    for (int i = 0; i < 6; i++) at[i] = uniform(r->low, r->high);
    eddy_tensor x = eddy_placeholder(g, "x", F64, EDDY_SHAPE(6));
    eddy_tensor y = Mul(r->fn(x), vec(F64, V(1, -2, 0.5, 3, -1, 2)));
    eddy_tensor d1 = slope(y, x);
    against_differences(r->name, y, d1, x, at);
    eddy_tensor d2 = slope(Mul(d1, x), x);
    against_differences(r->name, Mul(d1, x), d2, x, at);
}
END_TEST

static const struct binary_slope {
    const char *name;
    binary_fn   fn;
    double      low_a, high_a, low_b, high_b;
} binary_slopes[] = {
    { "add", eddy_add, -2, 2, -2, 2 },
    { "sub", eddy_sub, -2, 2, -2, 2 },
    { "mul", eddy_mul, -2, 2, -2, 2 },
    { "div", eddy_div, -2, 2, 0.5, 2 },
    { "squared_difference", eddy_squared_difference, -2, 2, -2, 2 },
    { "maximum", eddy_maximum, 1, 2, -2, 0.5 },
    { "maximum", eddy_maximum, -2, 0.5, 1, 2 },
    { "minimum", eddy_minimum, 1, 2, -2, 0.5 },
    { "minimum", eddy_minimum, -2, 0.5, 1, 2 },
    { "div_no_nan", eddy_div_no_nan, -2, 2, 0.5, 2 },
    { "mul_no_nan", eddy_mul_no_nan, -2, 2, 0.5, 2 },
    { "xlogy", eddy_xlogy, 0.5, 2, 0.5, 2 },
    { "xdivy", eddy_xdivy, 0.5, 2, 0.5, 2 },
    { "pow", eddy_pow, 0.5, 2, -2, 2 },
    { "floormod", eddy_floormod, 2.1, 2.9, 0.8, 0.95 },
    { "relu_grad", eddy_relu_grad, -2, 2, 0.5, 2 },
};
enum { BINARY_SLOPES = sizeof binary_slopes / sizeof *binary_slopes, N_A = 3, N_B = 4 };

/* dz [n] agrees with differences of the scalar z when element i of v moves. */
static void against_moves(const char *what, eddy_tensor z, eddy_tensor dz, feed *x, double *v,
                          int n)
{
    const double h = 1e-5;
    double got[ROOM], low, high;
    ck_assert_int_eq(values_fed(dz, 2, x, got), n);
    for (int i = 0; i < n; i++) {
        double at = v[i];
        v[i] = at - h, values_fed(z, 2, x, &low);
        v[i] = at + h, values_fed(z, 2, x, &high);
        v[i] = at;
        ck_assert_msg(close_to(got[i], (high - low) / (2 * h), 1e-7),
                      "%s, element %d: %.10g, differences give %.10g", what, i, got[i],
                      (high - low) / (2 * h));
    }
}

/* [3,1] with [4]: both are summed back; then the second order, mixed. */
START_TEST(binary_gradients)
{
    const struct binary_slope *r = &binary_slopes[_i];
    double a_at[N_A], b_at[N_B], weight[N_A * N_B];
    for (int i = 0; i < N_A; i++) a_at[i] = uniform(r->low_a, r->high_a);
    for (int i = 0; i < N_B; i++) b_at[i] = uniform(r->low_b, r->high_b);
    for (int i = 0; i < N_A * N_B; i++) weight[i] = uniform(-1, 1);
    eddy_tensor a = eddy_placeholder(g, "a", F64, EDDY_SHAPE(N_A, 1));
    eddy_tensor b = eddy_placeholder(g, "b", F64, EDDY_SHAPE(EDDY_ANY));
    feed x[2] = { { a, a_at, N_A }, { b, b_at, N_B } };
    eddy_tensor z = Sum(Mul(r->fn(a, b), shaped(F64, EDDY_SHAPE(N_A, N_B), weight)));
    eddy_tensor da = slope(z, a), db = slope(z, b);
    against_moves(r->name, z, da, x, a_at, N_A);
    against_moves(r->name, z, db, x, b_at, N_B);
    eddy_tensor w = Add(Sum(Mul(Square(da), a)), Sum(Mul(Square(db), b)));
    against_moves(r->name, w, slope(w, a), x, a_at, N_A);
    against_moves(r->name, w, slope(w, b), x, b_at, N_B);
}
END_TEST

/* ------------------------------------------------------ gradient corners -- */

START_TEST(M_01_squared_difference)
{
    eddy_tensor l = shaped(F32, EDDY_SHAPE(2, 2), (double[]){ 1, 2, 3, 4 }), r = vec(F32, V(1, 1));
    eddy_tensor y = SquaredDifference(l, r);
    IS(slope(y, l), 0, 2, 4, 6);
    IS(slope(y, r), -4, -8);
}
END_TEST

/* corner: ties of maximum and minimum go to the first argument */
START_TEST(M_05_maximum)
{
    eddy_tensor x = vec(F32, V(1, 2, 3, 4)), three = num(F32, 3);
    IS(slope(Maximum(x, three), x), 0, 0, 1, 1);
    IS(slope(Maximum(x, three), three), 2);
    IS(slope(Maximum(three, x), x), 0, 0, 0, 1);
    IS(slope(Maximum(three, x), three), 3);
    IS(slope(Minimum(x, three), x), 1, 1, 1, 0);
    IS(slope(Minimum(x, three), three), 1);
    IS(slope(Minimum(three, x), three), 2);
}
END_TEST

START_TEST(M_15_div_no_nan)
{
    eddy_tensor x = vec(F32, V(-3, -2, -1, 0, 1, 2));
    NEAR(slope(DivNoNan(x, Add(1, Abs(x))), x), 0.0625, 0.1111111, 0.25, 1, 0.25, 0.1111111);
    /* corner: both 0 where the divisor is */
    eddy_tensor a = vec(F32, V(0, 5, INFINITY)), zero = vec(F32, V(0, 0, 0));
    IS(slope(DivNoNan(a, zero), a), 0, 0, 0);
    IS(slope(DivNoNan(a, zero), zero), 0, 0, 0);
}
END_TEST

START_TEST(M_17_mul_no_nan)
{
    eddy_tensor x = vec(F32, V(0, 1, NAN, INFINITY, -INFINITY)), y = vec(F32, V(0, 0, 0, 0, 0));
    IS(slope(MulNoNan(x, y), x), 0, 0, 0, 0, 0);
    IS(slope(MulNoNan(x, y), y), 0, 1, NAN, INFINITY, -INFINITY);
}
END_TEST

START_TEST(M_19_xlogy)
{
    eddy_tensor x = vec(F32, V(0, 0.1, 0)), y = vec(F32, V(3.1, 0, 0));
    IS(slope(Xlogy(x, y), x), 0, -INFINITY, 0);
    IS(slope(Xlogy(x, y), y), 0, INFINITY, 0);
    /* corner: x log x has no such guard */
    IS(Mul(x, Log(x)), NAN, 0.1f * logf(0.1f), NAN);
    eddy_tensor zero = num(F32, 0);
    IS(slope(Mul(zero, Log(zero)), zero), NAN);
}
END_TEST

START_TEST(M_21_xdivy)
{
    eddy_tensor x = vec(F32, V(0.1, 0)), y = vec(F32, V(0, 0));
    IS(slope(Xdivy(x, y), x), INFINITY, 0);
    IS(slope(Xdivy(x, y), y), -INFINITY, 0);
}
END_TEST

START_TEST(M_23_abs_relu_sign)
{
    eddy_tensor x = vec(F32, V(-2, 0, 3)), r = vec(F32, V(-1, 0, 2, NAN));
    IS(slope(Abs(x), x), -1, 0, 1);
    IS(slope(Relu(r), r), 0, 0, 1, 0);
    IS(slope(Sign(x), x), 0, 0, 0);
    ck_assert(connected(Sign(x), x));
    /* The second derivative of relu: zeros, not none. */
    IS(slope(slope(Relu(r), r), r), 0, 0, 0, 0);
}
END_TEST

START_TEST(M_25_where)
{
    eddy_tensor x = vec(F32, V(5, 50));
    IS(slope(Where(Less(x, 10), x, Mul(x, x)), x), 1, 100);
    /* corner: both branches are masked, but a mask of 0 times infinity is NaN,
     * which the root's own guard avoids and the logarithm's lack does not */
    eddy_tensor z = vec(F32, V(0, 4));
    IS(slope(Where(Greater(z, 0), Sqrt(z), 0), z), 0, 0.25);
    IS(slope(Where(Greater(z, 0), Log(z), 0), z), NAN, 0.25);
    eddy_tensor safe = Where(Greater(z, 0), z, 1);
    IS(slope(Where(Greater(z, 0), Log(safe), 0), z), 0, 0.25);
    ck_assert(!connected(Cast(Less(z, 1), F32), z));
}
END_TEST

/* corner: where the incoming gradient is 0 it stays 0, even at x = 0 */
START_TEST(guarded_roots)
{
    eddy_tensor zero = num(F64, 0), off = num(F64, 0);
    IS(slope(Mul(Sqrt(zero), off), zero), 0);
    IS(slope(Mul(Rsqrt(zero), off), zero), 0);
    IS(slope(Mul(Reciprocal(zero), off), zero), 0);
    IS(slope(Sqrt(zero), zero), INFINITY);
    IS(slope(Rsqrt(zero), zero), -INFINITY);
    IS(slope(Reciprocal(zero), zero), -INFINITY);
    /* a norm at 0 is not guarded */
    eddy_tensor x = vec(F64, V(0, 0));
    IS(slope(Sqrt(Sum(Square(x))), x), NAN, NAN);
}
END_TEST

/* corner: d/da is NaN at 0^0, d/db is 0 where a <= 0 */
START_TEST(pow_corners)
{
    eddy_tensor a = vec(F64, V(0, 0, 0, -2, 0.5)), b = vec(F64, V(0, 1, 2, 3, 3.5));
    NEAR(slope(Pow(a, b), a), NAN, 1, 0, 12, 3.5 * pow(0.5, 2.5));
    NEAR(slope(Pow(a, b), b), 0, 0, 0, 0, -0.0612661339667842);
    eddy_tensor c = vec(F64, V(-2, 0)), e = vec(F64, V(0.5, -1));
    IS(slope(Pow(c, e), e), 0, 0);
    /* and its own gradients there are numbers */
    NEAR(slope(slope(Pow(a, b), b), b), 0, 0, 0, 0, log(0.5) * log(0.5) * pow(0.5, 3.5));
    eddy_tensor low = vec(F64, V(0, -2)), two = vec(F64, V(2, 3));
    IS(slope(slope(Pow(low, two), two), low), 0, 0);
}
END_TEST

START_TEST(division_corners)
{
    eddy_tensor a = vec(F64, V(1, 0)), b = vec(F64, V(0, 0));
    IS(Div(a, b), INFINITY, NAN);
    IS(slope(Div(a, b), a), INFINITY, INFINITY);
    IS(slope(Div(a, b), b), -INFINITY, NAN);
    eddy_tensor x = vec(F64, V(7, -7)), y = vec(F64, V(-2, 2));
    IS(slope(FloorMod(x, y), x), 1, 1);
    IS(slope(FloorMod(x, y), y), 4, 4);
}
END_TEST

/* corner: constant almost everywhere, so there is no path */
START_TEST(paths_that_end)
{
    eddy_tensor x = vec(F32, V(1.5, -2.5)), two = num(F32, 2);
    ck_assert(!connected(Floor(x), x));
    ck_assert(!connected(Ceil(x), x));
    ck_assert(!connected(Round(x), x));
    ck_assert(!connected(eddy_rint(x), x));
    ck_assert(!connected(FloorDiv(x, two), x));
    ck_assert(!connected(TruncateDiv(x, two), x));
    ck_assert(!connected(Cast(IsNan(x), F32), x));
}
END_TEST

/* M-29, second half: the gradient of a cast there and back is float32. */
START_TEST(cast_gradient)
{
    eddy_tensor x = vec(F32, V(1, 2));
    eddy_tensor dx = slope(Square(Cast(Mul(Cast(x, F64), 3), F32)), x);
    ck_assert_int_eq(eddy_dtype_of(dx), F32);
    IS(dx, 18, 36);
    ck_assert(!connected(Cast(Cast(x, EDDY_INT32), F32), x));
    ck_assert(!connected(Cast(Cast(x, EDDY_BOOL), F32), x));
}
END_TEST

/* ----------------------------------------------------------------- suite -- */

Suite *elementwise_gradients_suite(void)
{
    Suite *s = suite_create("elementwise_gradients");
    TCase *c = tcase_create("all");
    tcase_add_checked_fixture(c, setup, teardown);
    suite_add_tcase(s, c);
    tcase_add_loop_test(c, unary_gradients, 0, UNARY_SLOPES);
    tcase_add_loop_test(c, binary_gradients, 0, BINARY_SLOPES);
    tcase_add_test(c, cast_gradient);
    tcase_add_test(c, M_01_squared_difference);
    tcase_add_test(c, M_05_maximum);
    tcase_add_test(c, M_15_div_no_nan);
    tcase_add_test(c, M_17_mul_no_nan);
    tcase_add_test(c, M_19_xlogy);
    tcase_add_test(c, M_21_xdivy);
    tcase_add_test(c, M_23_abs_relu_sign);
    tcase_add_test(c, M_25_where);
    tcase_add_test(c, guarded_roots);
    tcase_add_test(c, pow_corners);
    tcase_add_test(c, division_corners);
    tcase_add_test(c, paths_that_end);
    return s;
}
