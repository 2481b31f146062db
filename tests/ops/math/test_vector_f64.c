/* test_vector_f64.c -- float64 functions against long double, for random bits, for numbers where
 * the function is interesting, and at the edges. `make accuracy` compares them with MPFR. */
#include "build/gen/table.h"
#include "tests/lib/long_double.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "build/gen/suites.h"

enum { BLOCK = 4096 };

static long double sigmoid(long double x)  { return 1 / (1 + expl(-x)); }
static long double logit(long double x)
{
    const long double y = log1pl(fabsl(2 * x - 1) / (x < 0.5L ? x + 0.0L : 1 - x));
    return x < 0.5L ? -y : y;
}
static long double softplus(long double x) { return x > 60 ? x : log1pl(expl(x)); }
static long double ndtr(long double x)     { return 0.5L * erfcl(-sqrtl(0.5L) * x); }
static long double gelu(long double x)     { return x * ndtr(x); }
/* musl's gives numbers for large negative arguments. */
static long double arcosh(long double x)   { return x < 1 ? NAN : acoshl(x); }

static const struct function {
    const eddy_op_def *op;
    long double (*exact)(long double x);
    double low, high;              /* where uniform arguments are */
    double most;                   /* units in the last place */
} functions[] = {
    { &eddy_op_exp, expl, -750, 715, 1 },
    { &eddy_op_expm1, expm1l, -40, 50, 1.5 },
    { &eddy_op_exp2, exp2l, -1080, 1030, 1.1 },
    { &eddy_op_log, logl, 0, 3, 1 },
    { &eddy_op_log1p, log1pl, -1, 3, 1 },
    { &eddy_op_log2, log2l, 0, 3, 1 },
    { &eddy_op_log10, log10l, 0, 3, 1 },
    { &eddy_op_sigmoid, sigmoid, -45, 45, 2 },
    { &eddy_op_softplus, softplus, -45, 45, 2 },
    { &eddy_op_tanh, tanhl, -3, 3, 2 },
    { &eddy_op_sinh, sinhl, -25, 25, 2 },
    { &eddy_op_cosh, coshl, -25, 25, 1.5 },
    { &eddy_op_asinh, asinhl, -5, 5, 2 },
    { &eddy_op_acosh, arcosh, 1, 5, 2 },
    { &eddy_op_atanh, atanhl, -1, 1, 2 },
    { &eddy_op_logit, logit, 0, 1, 2 },
    { &eddy_op_sin, sinl, -1000, 1000, 1 },
    { &eddy_op_cos, cosl, -1000, 1000, 1 },
    { &eddy_op_tan, tanl, -1000, 1000, 2 },
    { &eddy_op_asin, asinl, -1, 1, 1 },
    { &eddy_op_acos, acosl, -1, 1, 1 },
    { &eddy_op_atan, atanl, -5, 5, 1.5 },
    { &eddy_op_cbrt, cbrtl, 1, 8, 1.1 },
    { &eddy_op_erf, erfl, -6, 6, 1.1 },
    { &eddy_op_erfc, erfcl, -6, 27, 2 },
    { &eddy_op_ndtr, ndtr, -37, 9, 2 },
    { &eddy_op_gelu, gelu, -37, 9, 2 },
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static const double edges[] = {
    0, 0x1p-1074, 0x1p-1022, 0x1p-54, 0x1p-27, 0.5, 0.55, 0.85, 1, 0x1.fffffffffffffp-1, 709.78,
    710, 745.13, 746, 0x1p20, 0x1.0000000000001p20, 0x1p28, 0x1p60, DBL_MAX, INFINITY, NAN,
};
enum { EDGES = sizeof edges / sizeof *edges };

static const eddy_type f64 = { EDDY_FLOAT64, { .rank = 0 } };

static uint64_t next(uint64_t *seed)
{
    return *seed = *seed * 6364136223846793005u + 1442695040888963407u;
}

static double argument(const struct function *f, int i, uint64_t *seed)
{
    if (i < 2 * EDGES) return i % 2 ? -edges[i / 2] : edges[i / 2];
    const uint64_t bits = next(seed) ^ next(seed) >> 32;
    double x;
    memcpy(&x, &bits, sizeof x);
    return i % 2 ? x : f->low + (f->high - f->low) * ((double)(bits >> 11) * 0x1p-53);
}

/* In units in the last place of the exact value; the sign of 0 counts. */
static double error_of(double y, long double exact)
{
    const double near = (double)exact;
    if (isnan(near) || isnan(y)) return isnan(near) && isnan(y) ? 0 : INFINITY;
    if (isinf(near) || isinf(y)) return near == y || fabs(near) == DBL_MAX ? 0 : INFINITY;
    if (!signbit(near) != !signbit(y)) return INFINITY;
    int exponent;
    frexp(near, &exponent);
    exponent = exponent - 53 < -1074 ? -1074 : exponent - 53;
    return (double)fabsl(ldexpl((long double)y - exact, -exponent));
}

START_TEST(is_near_the_exact_value)
{
    static double x[BLOCK], y[BLOCK];
    const struct function *f = &functions[_i];
    const void            *in = x;
    uint64_t seed = 3;
    for (int block = 0; block < 10; block++) {
        for (int i = 0; i < BLOCK; i++)
            x[i] = argument(f, block ? i + 2 * EDGES : i, &seed);
        ck_assert_int_eq(f->op->tile(&f64, &f64)(BLOCK, y, &in, NULL), EDDY_OK);
        if (!long_double_has_its_digits()) continue;
        for (int i = 0; i < BLOCK; i++) {
            const double error = error_of(y[i], f->exact(x[i]));
            ck_assert_msg(error <= f->most, "%s(%a) is %a, wrong by %g units in the last place",
                          f->op->name, x[i], y[i], error);
        }
    }
}
END_TEST

/* Where errors were found to be larger. */
START_TEST(single_arguments)
{
    const struct { const char *name; double x; } cases[] = {
        { "Tan", 0x1.f54e26558f3acp+1 }, { "Gelu", -0x1.d1898c81b5be9p-17 },
        { "Gelu", -0x1.19a0fca64bbdp+1 }, { "Acosh", 0x1.01ef2aeefcd15p+0 },
        { "Sinh", -0x1.ffe78ceeddd3dp-12 },
    };
    enum { CASES = sizeof cases / sizeof *cases };
    for (int i = 0; i < FUNCTIONS * CASES; i++) {
        const struct function *f = &functions[i / CASES];
        const double           x = cases[i % CASES].x;
        const void            *in = &x;
        double                 y;
        if (strcmp(f->op->name, cases[i % CASES].name) != 0) continue;
        ck_assert_int_eq(f->op->tile(&f64, &f64)(1, &y, &in, NULL), EDDY_OK);
        if (long_double_has_its_digits()) ck_assert_double_le(error_of(y, f->exact(x)), f->most);
    }
}
END_TEST

static const eddy_op_def *const binary[] = { &eddy_op_atan2, &eddy_op_hypot, &eddy_op_pow };
static long double (*const exact_binary[])(long double, long double) = { atan2l, hypotl, powl };

/* All pairs of edges, and random pairs of similar and of very different size. */
START_TEST(functions_of_two_operands)
{
    static double a[BLOCK], b[BLOCK], y[BLOCK];
    const struct function any = { .low = -3, .high = 3 };
    const void *in[2] = { a, b };
    uint64_t    seed = 5;
    for (int i = 0; i < BLOCK; i++) {
        const bool edge = i < 4 * EDGES * EDGES;
        a[i] = edge ? argument(&any, i % (2 * EDGES), &seed) : argument(&any, i, &seed);
        b[i] = edge ? argument(&any, i / (2 * EDGES), &seed) : argument(&any, i, &seed);
    }
    ck_assert_int_eq(binary[_i]->tile(&f64, &f64)(BLOCK, y, in, NULL), EDDY_OK);
    if (!long_double_has_its_digits()) return;
    for (int i = 0; i < BLOCK; i++) {
        const double error = error_of(y[i], exact_binary[_i](a[i], b[i]));
        ck_assert_msg(error <= 1.6, "%s(%a, %a) is %a, wrong by %g units in the last place",
                      binary[_i]->name, a[i], b[i], y[i], error);
    }
}
END_TEST

static long double exp_real(long double x, long double y) { return expl(x) * cosl(y); }
static long double exp_imag(long double x, long double y) { return y == 0 ? y : expl(x) * sinl(y); }
/* Near the unit circle, |x + iy|^2 - 1 is exact to the last digits. */
static long double log_real(long double x, long double y)
{
    const long double u = fmaxl(fabsl(x), fabsl(y)), v = fminl(fabsl(x), fabsl(y));
    const long double p = u * u, q = v * v;
    if (fabsl(hypotl(x, y) - 1) > 0.25L) return logl(hypotl(x, y));
    return 0.5L * log1pl(((p - 1) + q) + (fmal(u, u, -p) + fmal(v, v, -q)));
}
static long double log_imag(long double x, long double y) { return atan2l(y, x); }
static const struct complex_function {
    const eddy_op_def *op;
    long double (*exact[2])(long double x, long double y);
} complex_functions[] = {
    { &eddy_op_exp, { exp_real, exp_imag } },
    { &eddy_op_log, { log_real, log_imag } },
};

/* Finite numbers, near each other and far apart, and some near the unit circle, where most digits
 * of the logarithm cancel. The number of elements is not a multiple of a block. */
START_TEST(functions_of_complex_numbers)
{
    enum { PAIRS = BLOCK / 2 - 3 };
    static double z[BLOCK], y[BLOCK];
    const struct complex_function *f = &complex_functions[_i];
    const struct function any = { .low = -3, .high = 3 };
    const eddy_type c128 = { EDDY_COMPLEX128, { .rank = 0 } };
    const void *in = z;
    uint64_t    seed = 7;
    for (int i = 0; i < BLOCK; i++) {
        z[i] = argument(&any, i < 512 ? i : i / 2, &seed);
        if (!isfinite(z[i])) z[i] = 0.5;
        if (f->op == &eddy_op_exp) z[i] = fmod(z[i], 1e4);
    }
    for (int i = 0; i < 200; i++) {
        const double r = 1 + (i & 1 ? -1 : 1) * ldexp(1, -i / 4);
        z[1024 + 2 * i] = r * cos(i), z[1025 + 2 * i] = r * sin(i);
        z[2048 + 2 * i] = 7.5 * i, z[2049 + 2 * i] = ldexp(1.7, -1074 + i / 4);
    }
    ck_assert_int_eq(f->op->tile(&c128, &c128)(PAIRS, y, &in, NULL), EDDY_OK);
    if (!long_double_has_its_digits()) return;
    for (int i = 0; i < 2 * PAIRS; i++) {
        const double re = z[i & ~1], im = z[i | 1];
        const double error = error_of(y[i], f->exact[i & 1](re, im));
        ck_assert_msg(error <= 2,
                      "part %d of %s(%a, %a) is %a, wrong by %g units in the last place", i & 1,
                      f->op->name, re, im, y[i], error);
    }
}
END_TEST

/* Vectors and elements one by one have the same bits, and neighbors do not matter. */
START_TEST(tiles_of_any_size_agree)
{
    enum { ALL = 200 };
    const struct { const eddy_op_def *op; eddy_dtype dtype; int width; } cases[] = {
        { &eddy_op_exp, EDDY_COMPLEX128, 2 }, { &eddy_op_log, EDDY_COMPLEX128, 2 },
        { &eddy_op_pow, EDDY_FLOAT64, 1 },
    };
    static double a[2 * ALL], b[2 * ALL], y[2 * ALL], one[2];
    const eddy_type     t = { cases[_i].dtype, { .rank = 0 } };
    const eddy_tile_fn  tile = cases[_i].op->tile(&t, &t);
    const struct function any = { .low = -3, .high = 3 };
    const int width = cases[_i].width;
    uint64_t  seed = 9;
    for (int i = 0; i < 2 * ALL; i++) {
        a[i] = argument(&any, 1000 + i, &seed);
        b[i] = i % 3 == 0 ? i % 12 - 5 : argument(&any, 1000 + i / 4, &seed);
    }
    for (int i = 0; i < 2 * EDGES; i++)         /* of a in the first blocks, of b in the last */
        a[3 * i] = b[2 * ALL - 1 - 3 * i] = b[ALL - 1 - 2 * i] = argument(&any, i, &seed);
    ck_assert_int_eq(tile(ALL, y, (const void *[]){ a, b }, NULL), EDDY_OK);
    for (int i = 0; i < ALL; i++) {
        const void *const in[] = { &a[i * width], &b[i * width] };
        ck_assert_int_eq(tile(1, one, in, NULL), EDDY_OK);
        for (int k = 0; k < width; k++)
            ck_assert_msg(memcmp(&one[k], &y[i * width + k], sizeof *y) == 0 ||
                          (isnan(one[k]) && isnan(y[i * width + k])), "%s, element %d: %a, %a",
                          cases[_i].op->name, i, one[k], y[i * width + k]);
    }
}
END_TEST

Suite *vector_f64_suite(void)
{
    Suite *s = suite_create("vector_f64");
    TCase *t = tcase_create("vector_f64");
    tcase_add_loop_test(t, is_near_the_exact_value, 0, FUNCTIONS);
    tcase_add_test(t, single_arguments);
    tcase_add_loop_test(t, functions_of_two_operands, 0, 3);
    tcase_add_loop_test(t, functions_of_complex_numbers, 0, 2);
    tcase_add_loop_test(t, tiles_of_any_size_agree, 0, 3);
    suite_add_tcase(s, t);
    return s;
}
