/* test_powers.c -- further elementwise functions against plain formulas in double precision,
 * singular points, integers and bit operations, closeness. */
#include "tests/lib/element_checks.h"

Suite *powers_suite(void);

static double relu6_of(double x) { return fmin(fmax(x, 0), 6); }
static double elu_of(double x) { return x > 0 ? x : expm1(x); }
static double selu_of(double x)
{
    return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * expm1(x));
}
static double celu_of(double x) { return fmax(0, x) + fmin(0, 1.5 * expm1(x / 1.5)); }
static double leaky_of(double x) { return x > 0 ? x : 0.2 * x; }
static double softsign_of(double x) { return x / (1 + fabs(x)); }
static double log_sigmoid_of(double x) { return -log1p(exp(-x)); }
static double swish_of(double x) { return x / (1 + exp(-x)); }
static double mish_of(double x) { return x * tanh(log1p(exp(x))); }
static double hard_swish_of(double x) { return x * relu6_of(x + 3) / 6; }
static double hard_sigmoid_of(double x) { return fmin(fmax(0.2 * x + 0.5, 0), 1); }
static double hard_tanh_of(double x) { return fmin(fmax(x, -1), 1); }
static double soft_shrink_of(double x) { return x > 0.5 ? x - 0.5 : x < -0.5 ? x + 0.5 : 0; }
static double hard_shrink_of(double x) { return x > 0.5 || x < -0.5 ? x : 0; }
static double tanh_shrink_of(double x) { return x - tanh(x); }
static double threshold_of(double x) { return x > 0.5 ? x : -1; }
static double relu_2_of(double x) { return fmin(fmax(x, 0), 2); }
static double frac_of(double x) { return x - trunc(x); }
static double sinc_of(double x)
{
    const double t = 3.141592653589793 * x;
    return x == 0 ? 1 : sin(t) / t;
}
static double entr_of(double x) { return x > 0 ? -x * log(x) : x == 0 ? 0 : -INFINITY; }
static double logit_of(double x) { return log(x / (1 - x)); }
static double degrees_of(double x) { return x * (180 / 3.141592653589793); }
static double radians_of(double x) { return x * (3.141592653589793 / 180); }

static eddy_tensor celu(eddy_tensor x) { return eddy_celu(x, .alpha = 1.5); }
static eddy_tensor leaky(eddy_tensor x) { return eddy_leaky_relu(x); }
static eddy_tensor hard_sigmoid(eddy_tensor x) { return eddy_hard_sigmoid(x); }
static eddy_tensor hard_tanh(eddy_tensor x) { return eddy_hard_tanh(x); }
static eddy_tensor soft_shrink(eddy_tensor x) { return eddy_soft_shrink(x); }
static eddy_tensor hard_shrink(eddy_tensor x) { return eddy_hard_shrink(x); }
static eddy_tensor threshold(eddy_tensor x) { return eddy_threshold(x, 0.5, -1); }
static eddy_tensor relu_2(eddy_tensor x) { return eddy_relu_n(x, 2); }

static const struct plain {
    const char *name;
    unary_fn    fn;
    double    (*exact)(double x);
    double      low, high;
} plain[] = {
    { "tan", eddy_tan, tan, -20, 20 },
    { "asin", eddy_asin, asin, -1, 1 },
    { "acos", eddy_acos, acos, -1, 1 },
    { "atan", eddy_atan, atan, -9, 9 },
    { "sinh", eddy_sinh, sinh, -9, 9 },
    { "cosh", eddy_cosh, cosh, -9, 9 },
    { "asinh", eddy_asinh, asinh, -9, 9 },
    { "acosh", eddy_acosh, acosh, 1, 9 },
    { "atanh", eddy_atanh, atanh, -1, 1 },
    { "sinc", eddy_sinc, sinc_of, -4, 4 },
    { "exp2", eddy_exp2, exp2, -9, 9 },
    { "log2", eddy_log2, log2, 0, 9 },
    { "log10", eddy_log10, log10, 0, 9 },
    { "cbrt", eddy_cbrt, cbrt, -9, 9 },
    { "entr", eddy_entr, entr_of, -1, 9 },
    { "trunc", eddy_trunc, trunc, -9, 9 },
    { "frac", eddy_frac, frac_of, -9, 9 },
    { "logit", eddy_logit, logit_of, 0.01, 0.99 },
    { "rad2deg", eddy_rad2deg, degrees_of, -9, 9 },
    { "deg2rad", eddy_deg2rad, radians_of, -200, 200 },
    { "elu", eddy_elu, elu_of, -9, 9 },
    { "selu", eddy_selu, selu_of, -9, 9 },
    { "celu", celu, celu_of, -9, 9 },
    { "relu6", eddy_relu6, relu6_of, -9, 9 },
    { "relu_n", relu_2, relu_2_of, -9, 9 },
    { "leaky_relu", leaky, leaky_of, -9, 9 },
    { "softsign", eddy_softsign, softsign_of, -9, 9 },
    { "log_sigmoid", eddy_log_sigmoid, log_sigmoid_of, -40, 40 },
    { "swish", eddy_swish, swish_of, -40, 40 },
    { "mish", eddy_mish, mish_of, -30, 30 },
    { "hard_swish", eddy_hard_swish, hard_swish_of, -9, 9 },
    { "hard_sigmoid", hard_sigmoid, hard_sigmoid_of, -9, 9 },
    { "hard_tanh", hard_tanh, hard_tanh_of, -3, 3 },
    { "soft_shrink", soft_shrink, soft_shrink_of, -2, 2 },
    { "hard_shrink", hard_shrink, hard_shrink_of, -2, 2 },
    { "tanh_shrink", eddy_tanh_shrink, tanh_shrink_of, -3, 3 },
    { "threshold", threshold, threshold_of, -2, 2 },
};
enum { PLAIN = sizeof plain / sizeof *plain };

START_TEST(values_are_those_of_the_formula)
{
    const struct plain *p = &plain[_i];
    double x[ROOM], y[ROOM];
    for (int i = 0; i < ROOM; i++) {
        x[i] = (double)(float)uniform(p->low, p->high);
        y[i] = p->exact(x[i]);
    }
    near(p->name, 2e-14, p->fn(vec(F64, ROOM, x)), ROOM, y);
    near(p->name, 2e-6, p->fn(vec(F32, ROOM, x)), ROOM, y);
}
END_TEST

START_TEST(far_away)
{
    for (int single = 0; single < 2; single++) {
        const eddy_tensor far = vec(single ? F32 : F64, V(-INFINITY, INFINITY, NAN));
        IS(eddy_tan(far), NAN, NAN, NAN);
        IS(eddy_asin(far), NAN, NAN, NAN);
        IS(eddy_sinh(far), -INFINITY, INFINITY, NAN);
        IS(eddy_cosh(far), INFINITY, INFINITY, NAN);
        IS(eddy_asinh(far), -INFINITY, INFINITY, NAN);
        IS(eddy_acosh(far), NAN, INFINITY, NAN);
        IS(eddy_atanh(far), NAN, NAN, NAN);
        IS(eddy_exp2(far), 0, INFINITY, NAN);
        IS(eddy_log2(far), NAN, INFINITY, NAN);
        IS(eddy_cbrt(far), -INFINITY, INFINITY, NAN);
        IS(eddy_sinc(far), 0, 0, NAN);
        IS(eddy_elu(far), -1, INFINITY, NAN);
        IS(eddy_relu6(far), 0, 6, NAN);
        IS(eddy_leaky_relu(far), -INFINITY, INFINITY, NAN);
        IS(eddy_mish(far), NAN, INFINITY, NAN);
        IS(eddy_log_sigmoid(far), -INFINITY, 0, NAN);
        IS(eddy_hard_tanh(far), -1, 1, NAN);
        IS(eddy_soft_shrink(far), -INFINITY, INFINITY, NAN);
        IS(eddy_nan_to_num(far, .nan = 7, .posinf = 8, .neginf = 9), 9, 8, 7);
    }
    IS(eddy_nan_to_num(vec(F64, V(-INFINITY, INFINITY, NAN, 3))), -0x1.fffffffffffffp1023,
       0x1.fffffffffffffp1023, 0, 3);
    IS(eddy_sinc(vec(F64, V(0, 1, -2, 0.5, 1e17))), 1, 0, 0, 2 / 3.141592653589793, 0);
    IS(eddy_exp2(vec(F32, V(10, -3, 127, -149))), 1024, 0.125, 0x1p127, 0x1p-149);
    IS(eddy_log2(vec(F32, V(1024, 0.125, 0x1p-149, 0))), 10, -3, -149, -INFINITY);
}
END_TEST

START_TEST(angles)
{
    const double all[] = { 0, -0.0, 1, -1, 2.5, -3, INFINITY, -INFINITY };
    double y[ROOM], x[ROOM], want[ROOM];
    for (int i = 0; i < ROOM; i++) {
        y[i] = all[i / 8], x[i] = all[i % 8];
        want[i] = atan2(y[i], x[i]);
    }
    near("atan2", 1e-15, eddy_atan2(vec(F64, ROOM, y), vec(F64, ROOM, x)), ROOM, want);
    near("atan2", 1e-7, eddy_atan2(vec(F32, ROOM, y), vec(F32, ROOM, x)), ROOM, want);
    for (int i = 0; i < ROOM; i++) {
        y[i] = uniform(-1, 1), x[i] = uniform(-1, 1);
        want[i] = atan2(y[i] = (double)(float)y[i], x[i] = (double)(float)x[i]);
    }
    near("atan2", 2e-7, eddy_atan2(vec(F32, ROOM, y), vec(F32, ROOM, x)), ROOM, want);
    IS(eddy_atan2(vec(F32, V(NAN, 1)), vec(F32, V(1, NAN))), NAN, NAN);
}
END_TEST

static const struct binary_value {
    const char *name;
    binary_fn   fn;
    double      a[4], b[4], y[4];
} binary_values[] = {
    { "hypot", eddy_hypot, { 3, -1e30, INFINITY, 0 }, { 4, 1e30, NAN, 0 },
      { 5, 1.4142135623730951e30, INFINITY, 0 } },
    { "truncatemod", eddy_truncatemod, { 7, -7, 7.5, -7.5 }, { 2, 2, -2, -2 },
      { 1, -1, 1.5, -1.5 } },
    { "mod", eddy_mod, { 7, -7, 7, -7.5 }, { 2, 2, -2, -2 }, { 1, 1, -1, -1.5 } },
    { "truediv", eddy_truediv, { 1, -2, 0.5, 3 }, { 4, 5, -1, 0 }, { 0.25, -0.4, -0.5, INFINITY } },
    { "logaddexp", eddy_logaddexp, { 1000, -INFINITY, INFINITY, 0 },
      { 1000, 3, INFINITY, 1 },
      { 1000.6931471805599, 3, INFINITY, 1.3132616875182228 } },
    { "logaddexp2", eddy_logaddexp2, { 3, 10, -4, 0 }, { 3, 12, -4, 1 },
      { 4, 12.321928094887362, -3, 1.5849625007211562 } },
    { "copysign", eddy_copysign, { 1, -2, 3, 0 }, { -1, 5, -0.0, -1 }, { -1, 2, -3, -0.0 } },
    { "heaviside", eddy_heaviside, { -1, 0, 2, NAN }, { 5, 5, 5, 5 }, { 0, 5, 1, NAN } },
    { "ldexp", eddy_ldexp, { 1, -3, 0.5, 0 }, { 3, 1, -2, 9 }, { 8, -6, 0.125, 0 } },
};
enum { BINARY_VALUES = sizeof binary_values / sizeof *binary_values };

START_TEST(binary_values_are_right)
{
    const struct binary_value *r = &binary_values[_i];
    near(r->name, 1e-15, r->fn(vec(F64, 4, r->a), vec(F64, 4, r->b)), 4, r->y);
    near(r->name, 3e-7, r->fn(vec(F32, 4, r->a), vec(F32, 4, r->b)), 4, r->y);
}
END_TEST

/* Exactly C's, whatever the quotient. */
START_TEST(rests)
{
    double a[ROOM], b[ROOM], want[ROOM];
    for (int block = 0; block < 200; block++) {
        for (int i = 0; i < ROOM; i++) {
            a[i] = (double)(float)ldexp(uniform(-1, 1), (int)uniform(-20, 40));
            b[i] = (double)(float)ldexp(uniform(-1, 1), (int)uniform(-20, 20));
            if (i % 4 == 0) a[i] = (double)(float)(b[i] * rint(uniform(-1e5, 1e5)));
            if (i % 8 == 0) a[i] = (double)nextafterf((float)a[i], 0);
            want[i] = (double)fmodf((float)a[i], (float)b[i]);
        }
        near("truncatemod", 0, eddy_truncatemod(vec(F32, ROOM, a), vec(F32, ROOM, b)), ROOM, want);
        if (block % 20 == 19) teardown(), setup();
    }
    const eddy_tensor x = vec(F32, V(3, -3, INFINITY, 3, NAN, -0.0));
    IS(eddy_truncatemod(x, vec(F32, V(INFINITY, INFINITY, 2, 0, 2, 2))), 3, -3, NAN, NAN, NAN, 0);
}
END_TEST

START_TEST(neighbors)
{
    const eddy_tensor a = vec(F32, V(1, 1, 0, -1, 2)), b = vec(F32, V(2, 0, 1, -1, NAN));
    IS(eddy_nextafter(a, b), 1 + 0x1p-23, 1 - 0x1p-24, 0x1p-149, -1, NAN);
    const eddy_tensor c = vec(F64, V(1, 1)), d = vec(F64, V(2, 0));
    IS(eddy_nextafter(c, d), 1 + 0x1p-52, 1 - 0x1p-53);
    const eddy_tensor far = vec(F32, V(INFINITY, -INFINITY, 3.40282347e38f, -0x1p-149));
    const eddy_tensor to = vec(F32, V(0, INFINITY, INFINITY, 0));
    IS(eddy_nextafter(far, to), 3.40282347e38f, -3.40282347e38f, INFINITY, -0.0);
    double p[ROOM], q[ROOM], want[ROOM];
    for (int i = 0; i < ROOM; i++) {
        p[i] = (double)(float)ldexp(uniform(-1, 1), (int)uniform(-149, 127));
        q[i] = (double)(float)ldexp(uniform(-1, 1), (int)uniform(-149, 127));
        want[i] = (double)nextafterf((float)p[i], (float)q[i]);
    }
    near("nextafter", 0, eddy_nextafter(vec(F32, ROOM, p), vec(F32, ROOM, q)), ROOM, want);
}
END_TEST

/* ---------------------------------------------------------------- slopes -- */

/* corner: TensorFlow's at the kinks; PyTorch's are not always the same */
START_TEST(slopes_at_bends)
{
    const eddy_tensor x = vec(F64, V(-1, 0, 1, NAN)), at = vec(F64, V(0, 6, 3, 7));
    IS(slope(eddy_relu6(at), at), 0, 0, 1, 0);
    IS(slope(eddy_leaky_relu(x, .alpha = 0.25), x), 0.25, 0.25, 1, 0.25);
    near("elu", 1e-15, slope(eddy_elu(x), x), V(exp(-1), 1, 1, 1));
    near("selu", 1e-15, slope(eddy_selu(x), x), V(1.7580993408473769 * exp(-1),
         1.0507009873554805, 1.0507009873554805, 1.0507009873554805));
    IS(slope(eddy_hard_tanh(at), at), 1, 0, 0, 0);
    IS(slope(eddy_hard_shrink(at), at), 0, 1, 1, 1);
    const eddy_tensor a = vec(F64, V(1, 2)), b = vec(F64, V(1, 2));
    IS(slope(eddy_logaddexp(a, b), a), 0.5, 0.5);
    const eddy_tensor zero = num(F64, 0), h = eddy_hypot(zero, zero);
    IS(slope(h, zero), 0);
    const eddy_tensor s = eddy_sinc(zero);
    IS(slope(s, zero), 0);
    near("sinc", 1e-15, slope(slope(s, zero), zero), V(-3.2898681336964528));
}
END_TEST

START_TEST(slopes_at_infinity)
{
    const eddy_tensor a = vec(F64, V(INFINITY, -INFINITY, INFINITY, -INFINITY, 0, 2));
    const eddy_tensor b = vec(F64, V(0, -0.0, -0.0, 3, INFINITY, -1));
    IS(slope(eddy_copysign(a, b), a), 1, 1, -1, -1, 0, -1);
    const eddy_tensor x = vec(F64, V(INFINITY, -2, 0, 3)), alpha = vec(F64, V(0.5, 0.5, 0.5, 0.5));
    IS(eddy_prelu(x, alpha), INFINITY, -1, 0, 3);
    IS(slope(eddy_prelu(x, alpha), alpha), 0, -2, 0, 0);
    IS(slope(eddy_prelu(x, alpha), x), 1, 0.5, 0.5, 1);
    const eddy_tensor e = vec(F64, V(-INFINITY, INFINITY, -INFINITY, 1, INFINITY));
    const eddy_tensor f = vec(F64, V(-INFINITY, INFINITY, 2, 1, 2)), y = eddy_logaddexp(e, f);
    IS(slope(y, e), 0.5, 0.5, 0, 0.5, 1);
    IS(slope(y, f), 0.5, 0.5, 1, 0.5, 0);
    IS(slope(slope(y, e), e), 0, 0, 0, 0.25, 0);
}
END_TEST

/* ---------------------------------------------------------------- integers -- */

START_TEST(bits)
{
    static const eddy_dtype types[] = { EDDY_INT32, EDDY_INT64, EDDY_UINT8 };
    const eddy_dtype  d = types[_i];
    const eddy_tensor a = vec(d, V(12, 255, 0, 7)), b = vec(d, V(10, 1, 9, 2));
    IS(eddy_bitwise_and(a, b), 8, 1, 0, 2);
    IS(eddy_bitwise_or(a, b), 14, 255, 9, 7);
    IS(eddy_bitwise_xor(a, b), 6, 254, 9, 5);
    IS(eddy_right_shift(a, vec(d, V(2, 4, 9, 1))), 3, 15, 0, 3);
    IS(eddy_population_count(a), 2, 8, 0, 3);
    ck_assert_int_eq(eddy_dtype_of(eddy_population_count(a)), EDDY_UINT8);
    if (d == EDDY_UINT8) {
        IS(eddy_invert(a), 243, 0, 255, 248);
        IS(eddy_left_shift(a, vec(d, V(1, 1, 1, 200))), 24, 254, 0, 128);
        return;
    }
    IS(eddy_invert(a), -13, -256, -1, -8);
    IS(eddy_left_shift(a, vec(d, V(1, -5, 1, 3))), 24, 255, 0, 56);
    IS(eddy_right_shift(vec(d, V(-8, -1, 8, -8)), vec(d, V(1, 100, 100, -2))), -4, -1, 0, -8);
    IS(eddy_population_count(vec(d, V(-1, -2))), d == EDDY_INT32 ? 32 : 64,
       d == EDDY_INT32 ? 31 : 63);
}
END_TEST

START_TEST(integers)
{
    const eddy_tensor a = vec(EDDY_INT32, V(7, -7, 7, -7, INT32_MIN));
    const eddy_tensor b = vec(EDDY_INT32, V(2, 2, -2, -2, -1));
    IS(eddy_truncatemod(a, b), 1, -1, 1, -1, 0);
    ck_assert_int_eq(run_status(eddy_truncatemod(a, Mul(b, 0))), EDDY_INVALID_ARGUMENT);
    IS(eddy_truediv(a, b), 3.5, -3.5, -3.5, 3.5, 2147483648.0);
    ck_assert_int_eq(eddy_dtype_of(eddy_truediv(a, b)), F64);
    const eddy_tensor u = vec(EDDY_UINT8, V(1, 7)), v = vec(EDDY_UINT8, V(0, 2));
    ck_assert_int_eq(eddy_dtype_of(eddy_truediv(u, v)), F32);
    IS(eddy_truediv(u, v), INFINITY, 3.5);
    IS(eddy_relu6(vec(EDDY_INT64, V(-3, 4, 9))), 0, 4, 6);
    IS(eddy_polyval(EDDY_LIST(num(EDDY_INT32, 2), num(EDDY_INT32, 0), num(EDDY_INT32, -1)), a), 97,
       97, 97, 97, -1);
    IS(eddy_approximate_equal(a, Add(a, vec(EDDY_INT32, V(0, 1, 2, 0, 0)))), 1, 0, 0, 1, 1);
    const eddy_tensor most = vec(EDDY_INT32, V(INT32_MAX, 1, 1, 5));
    const eddy_tensor least = vec(EDDY_INT32, V(INT32_MIN, 1, 2, 3));
    IS(eddy_approximate_equal(most, least), 0, 1, 0, 0);
    IS(eddy_approximate_equal(most, least, .tolerance = 1e-5), 0, 1, 0, 0);
    IS(eddy_approximate_equal(most, least, .tolerance = 1.5), 0, 1, 1, 0);
    IS(eddy_approximate_equal(most, least, .tolerance = 2), 0, 1, 1, 0);
    IS(eddy_approximate_equal(u, v, .tolerance = 2), 1, 0);
    IS(eddy_relu_n(a, 2), 2, 0, 2, 0, 0);
    IS(eddy_threshold(a, 0, -1), 7, -1, 7, -1, -1);
    refused(eddy_hard_tanh(a), EDDY_BAD_DTYPE, "float32, float64, float16 or bfloat16 expected");
    refused(eddy_relu_n(a, 2.5), EDDY_INVALID_ARGUMENT, "2.5 is not an integer");
    refused(eddy_threshold(a, 0, 0.5), EDDY_INVALID_ARGUMENT, "0.5 is not an integer");
}
END_TEST

/* ---------------------------------------------------------------- formulas -- */

START_TEST(closeness)
{
    const eddy_tensor a = vec(F64, V(1, 1, INFINITY, INFINITY, NAN, 1e10));
    const eddy_tensor b = vec(F64, V(1 + 1e-6, 1.1, INFINITY, -INFINITY, NAN, 1.00001e10));
    IS(eddy_is_close(a, b), 1, 0, 1, 0, 0, 1);
    IS(eddy_is_close(a, b, .equal_nan = true), 1, 0, 1, 0, 1, 1);
    IS(eddy_is_close(a, b, .rtol = -1, .atol = 0.2), 1, 1, 1, 0, 0, 0);
    IS(eddy_approximate_equal(a, b), 1, 0, 0, 0, 0, 0);
    IS(eddy_approximate_equal(a, b, .tolerance = 0.5), 1, 1, 0, 0, 0, 0);
}
END_TEST

START_TEST(formulas)
{
    const eddy_tensor x = vec(F64, V(1, 2)), a = vec(F64, V(3, 4)), b = vec(F64, V(5, 8));
    IS(eddy_lerp(x, a, num(F64, 0.25)), 1.5, 2.5);
    const eddy_tensor p = vec(F64, V(1e20, 0.1, 3, 3)), q = vec(F64, V(1, 0.7, 5, 5));
    const eddy_tensor w = vec(F64, V(1, 1, 0, -1));
    IS(eddy_lerp(p, q, w), 1, 0.7, 3, 1);
    IS(slope(eddy_lerp(p, q, w), w), 1 - 1e20, 0.7 - 0.1, 2, 2);
    IS(slope(eddy_lerp(p, q, w), p), 0, 0, 1, 2);
    IS(slope(eddy_lerp(p, q, w), q), 1, 1, 0, -1);
    IS(eddy_lerp(vec(EDDY_INT32, V(1, 2)), vec(EDDY_INT32, V(4, 7)), num(EDDY_INT32, 2)), 7, 12);
    IS(eddy_addcmul(x, a, b), 16, 34);
    IS(eddy_addcmul(x, a, b, .value = 2), 31, 66);
    IS(eddy_addcdiv(x, a, b, .value = 2), 2.2, 3);
    IS(eddy_reciprocal_no_nan(vec(F64, V(0, 4))), 0, 0.25);
    IS(eddy_polyval(EDDY_LIST(a, b, x), x), 9, 34);
    IS(eddy_polyval((eddy_list){ 0, NULL }, x), 0, 0);
    IS(eddy_prelu(vec(F64, V(-2, 3)), num(F64, 0.5)), -1, 3);
    IS(eddy_crelu(vec(F64, V(-1, 2))), 0, 2, 1, 0);
    const eddy_tensor m = shaped(F64, EDDY_SHAPE(2, 2), (double[]){ 1, 2, 0, 0 });
    IS(eddy_glu(m, .axis = EDDY_AXES(0)), 0.5, 1);
    IS(eddy_crelu(m, .axis = EDDY_AXES(0)), 1, 2, 0, 0, 0, 0, 0, 0);
    near("glu", 1e-15, eddy_glu(m), V(1 / (1 + exp(-2)), 0));
}
END_TEST

Suite *powers_suite(void)
{
    Suite *s = suite_create("powers");
    TCase *t = tcase_create("elementary");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, values_are_those_of_the_formula, 0, PLAIN);
    tcase_add_loop_test(t, binary_values_are_right, 0, BINARY_VALUES);
    tcase_add_test(t, far_away);
    tcase_add_test(t, angles);
    tcase_add_test(t, rests);
    tcase_add_test(t, neighbors);
    tcase_add_test(t, slopes_at_bends);
    tcase_add_test(t, slopes_at_infinity);
    tcase_add_loop_test(t, bits, 0, 3);
    tcase_add_test(t, integers);
    tcase_add_test(t, closeness);
    tcase_add_test(t, formulas);
    suite_add_tcase(s, t);
    return s;
}
