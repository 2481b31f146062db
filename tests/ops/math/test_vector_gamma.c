/* test_vector_gamma.c -- lgamma, digamma and trigamma (polygamma of order 1): all parts of the
 * range against long double, poles, and the same bits for each instruction set and each neighbor.
 * `make accuracy` compares them with MPFR. */
#include "build/gen/table.h"
#include "graph/base/cpu.h"
#include "tests/lib/long_double.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "build/gen/suites.h"

enum { BLOCK = 4096 };

static const long double pi = 3.14159265358979323846264338L;

/* By the asymptotic series from 20 on, and by recurrence and reflection. */
static long double series(bool second, long double x)
{
    static const long double bernoulli[] = {
        1 / 6.L, -1 / 30.L, 1 / 42.L, -1 / 30.L, 5 / 66.L, -691 / 2730.L, 7 / 6.L, -3617 / 510.L,
    };
    long double y = 0, p = 1;
    for (; x < 20; x++) y += second ? 1 / (x * x) : -1 / x;
    const long double z = 1 / (x * x);
    y += second ? 1 / x + z / 2 : logl(x) - 1 / (2 * x);
    for (int k = 0; k < 8; k++) {
        p *= z;
        y += second ? bernoulli[k] * p / x : -bernoulli[k] * p / (2 * (k + 1));
    }
    return y;
}

static long double digamma(long double x)
{
    const long double turn = pi * (x - rintl(x));
    return x < 0 ? series(false, 1 - x) - pi * cosl(turn) / sinl(turn) : series(false, x);
}

static long double trigamma(long double x)
{
    const long double sine = sinl(pi * (x - rintl(x)));
    return x < 0 ? pi * pi / (sine * sine) - series(true, 1 - x) : series(true, x);
}

static const struct function {
    const eddy_op_def *op;
    long double (*exact)(long double x);
    double most;                       /* units in the last place, of float64 above -1/2 */
} functions[] = {
    { &eddy_op_lgamma, lgammal, 2 },
    { &eddy_op_digamma, digamma, 2 },
    { &eddy_op_polygamma, trigamma, 2 },
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static const eddy_type f32 = { EDDY_FLOAT32, { .rank = 0 } }, f64 = { EDDY_FLOAT64, { .rank = 0 } };

static void run_f32(const struct function *f, const float *x, float *y)
{
    static float ones[BLOCK];
    for (int i = 0; i < BLOCK; i++) ones[i] = 1;
    const void *in[] = { f->op->max_inputs == 2 ? ones : x, x };
    ck_assert_int_eq(f->op->tile(&f32, &f32)(BLOCK, y, in, NULL), EDDY_OK);
}

static void run_f64(const struct function *f, const double *x, double *y)
{
    static double ones[BLOCK];
    for (int i = 0; i < BLOCK; i++) ones[i] = 1;
    const void *in[] = { f->op->max_inputs == 2 ? ones : x, x };
    ck_assert_int_eq(f->op->tile(&f64, &f64)(BLOCK, y, in, NULL), EDDY_OK);
}

/* Bits spread over all numbers of float32. */
static float spread(int i)
{
    const uint32_t bits = (uint32_t)i * 26214u * 4 + 12345;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

START_TEST(float32_is_rounded_correctly_nearly_everywhere)
{
    static float x[BLOCK], y[BLOCK];
    const struct function *f = &functions[_i];
    for (int block = 0; block < 10; block++) {
        for (int i = 0; i < BLOCK; i++) x[i] = spread(block * BLOCK + i);
        run_f32(f, x, y);
        if (!long_double_has_its_digits()) continue;
        for (int i = 0; i < BLOCK; i++) {
            const float u = x[i];
            if (isnan(u)) ck_assert(isnan(y[i]));
            if (!(fabsf(u) < 1e30f) || (u <= 0 && u == floorf(u))) continue;
            int exponent;
            const long double exact = f->exact(u);
            if (fabsl(exact) > FLT_MAX) continue;
            frexpl(exact, &exponent);
            exponent = exponent - 24 < -149 ? -149 : exponent - 24;
            const double error = (double)fabsl(ldexpl(y[i] - exact, -exponent));
            ck_assert_msg(error <= 0.51, "%s(%a) is %a, wrong by %g units in the last place",
                          f->op->name, (double)u, (double)y[i], error);
        }
    }
}
END_TEST

/* Near the roots of digamma, at -0.504 and 1.46, the error is small beside 1. */
START_TEST(float64_is_near_the_exact_value)
{
    static double x[BLOCK], y[BLOCK];
    const struct function *f = &functions[_i];
    uint64_t seed = 7;
    for (int block = 0; block < 10; block++) {
        for (int i = 0; i < BLOCK; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const double part = (double)(seed >> 11) * 0x1p-53;
            x[i] = i % 4 == 0 ? part - 0.5 : i % 4 == 1 ? 10 * part : i % 4 == 2 ? exp(600 * part)
                   : exp(-600 * part);
        }
        run_f64(f, x, y);
        if (!long_double_has_its_digits()) continue;
        for (int i = 0; i < BLOCK; i++) {
            const long double exact = f->exact(x[i]);
            const double      near = (double)exact, last = fabs(near) - nextafter(fabs(near), 0);
            const double      error = fabs((double)(y[i] - exact));
            const double      root = f->exact != digamma ? 0 : x[i] < 0 ? 1e-14 : 1e-17;
            if (isinf(near)) ck_assert(isinf(y[i]));
            else ck_assert_msg(error <= f->most * last + root,
                               "%s(%a) is %a, wrong by %g units in the last place", f->op->name,
                               x[i], y[i], error / last);
        }
    }
}
END_TEST

/* Where errors of 2.53 and 2.02 units were found; a unit is 2^-53 and 2^-55 there. */
START_TEST(lgamma_of_single_arguments)
{
    static double x[BLOCK] = { 0x1.a71aac155fde9p+1, 0x1.7a74c8bfc4719p-1 }, y[BLOCK];
    run_f64(&functions[0], x, y);
    if (!long_double_has_its_digits()) return;
    ck_assert_double_le(fabs((double)(y[0] - lgammal(x[0]))), 2 * 0x1p-53);
    ck_assert_double_le(fabs((double)(y[1] - lgammal(x[1]))), 2 * 0x1p-55);
}
END_TEST

START_TEST(lgamma_overflows_where_its_value_does)
{
    static double x[BLOCK], y[BLOCK];
    for (int i = 0; i < BLOCK; i++) x[i] = ldexp(1 + (i + 0.5) / BLOCK, 1014);
    run_f64(&functions[0], x, y);
    if (!long_double_has_its_digits()) return;
    for (int i = 0; i < BLOCK; i++) {
        const double near = (double)lgammal(x[i]);
        ck_assert_msg(y[i] == near || fabs(y[i] - near) <= 4e-16 * near, "at %a: %a", x[i], y[i]);
    }
}
END_TEST

/* Left of -1/2, relative to the value or to 1. */
START_TEST(float64_is_near_below)
{
    static double x[BLOCK], y[BLOCK];
    const struct function *f = &functions[_i];
    for (int i = 0; i < BLOCK; i++) x[i] = -0.5 - (i + 0.4) / 87.3;
    run_f64(f, x, y);
    if (!long_double_has_its_digits()) return;
    for (int i = 0; i < BLOCK; i++) {
        const long double exact = f->exact(x[i]);
        const double      error = fabs((double)(y[i] - exact));
        ck_assert_msg(error <= 1e-13 * (1 + fabs((double)exact)), "%s(%a) is %a, wrong by %g",
                      f->op->name, x[i], y[i], error);
    }
}
END_TEST

START_TEST(poles_and_ends)
{
    static const double at[] = {
        0, -0.0, -1, -4, -1e15, -0x1p52, -1e300, INFINITY, -INFINITY, NAN, DBL_MAX, 0x1p-1074,
    };
    static const double want[FUNCTIONS][12] = {
        { INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY,
          NAN, INFINITY, 744.44007192138122 },
        { -INFINITY, INFINITY, NAN, NAN, NAN, NAN, NAN, INFINITY, NAN, NAN, 709.78271289338397,
          -INFINITY },
        { INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, 0, INFINITY, NAN,
          0x1p-1024, INFINITY },
    };
    static double x[BLOCK], y[BLOCK];
    static float  narrow[BLOCK], z[BLOCK];
    for (int i = 0; i < BLOCK; i++) x[i] = at[i % 12], narrow[i] = (float)x[i];
    run_f64(&functions[_i], x, y);
    run_f32(&functions[_i], narrow, z);
    for (int i = 0; i < BLOCK; i++) {
        const double exact = want[_i][i % 12];
        ck_assert_msg(y[i] == exact || (isnan(y[i]) && isnan(exact)) ||
                      fabs(y[i] - exact) <= 2e-16 * exact, "at %a: %a", x[i], y[i]);
        if (i % 12 < 10) ck_assert_msg(z[i] == (float)exact || (isnan(z[i]) && isnan(exact)),
                                       "at %a: %a", x[i], (double)z[i]);
    }
}
END_TEST

/* The loop for numbers above -1/2 and that for any numbers, in each instruction set. */
START_TEST(bits_do_not_depend_on_neighbors_and_instructions)
{
    static double x[BLOCK], y[BLOCK], first[BLOCK];
    static float  narrow[BLOCK], z[BLOCK], first_narrow[BLOCK];
    for (int i = 0; i < BLOCK; i++) x[i] = i < BLOCK / 2 ? i * 0.007 - 0.49 : -i * 0.003;
    for (int all = 1; all >= 0; all--)
        for (int set = 0; set < EDDY_SETS; set++) {
            eddy__instructions_limit((eddy_instructions)set);
            if (!all)
                for (int i = BLOCK / 2; i < BLOCK; i++) x[i] = 1;
            for (int i = 0; i < BLOCK; i++) narrow[i] = (float)x[i];
            run_f64(&functions[_i], x, y);
            run_f32(&functions[_i], narrow, z);
            if (all && set == 0) memcpy(first, y, sizeof y), memcpy(first_narrow, z, sizeof z);
            const size_t compared = all ? 1 : 2;
            ck_assert_mem_eq(y, first, sizeof y / compared);
            ck_assert_mem_eq(z, first_narrow, sizeof z / compared);
        }
    eddy_limit_instructions(NULL);
}
END_TEST

/* Where an error of 2.11 units was found; a unit is 2^-51 there. */
START_TEST(trigamma_of_a_single_argument)
{
    static double x[BLOCK] = { 0x1.2422daf981d91p-1 }, y[BLOCK];
    run_f64(&functions[2], x, y);
    if (!long_double_has_its_digits()) return;
    ck_assert_double_le(fabs((double)(y[0] - trigamma(x[0]))), 2 * 0x1p-51);
}
END_TEST

Suite *vector_gamma_suite(void)
{
    Suite *s = suite_create("vector_gamma");
    TCase *t = tcase_create("vector_gamma");
    tcase_add_loop_test(t, float32_is_rounded_correctly_nearly_everywhere, 0, FUNCTIONS);
    tcase_add_loop_test(t, float64_is_near_the_exact_value, 0, FUNCTIONS);
    tcase_add_test(t, lgamma_of_single_arguments);
    tcase_add_test(t, trigamma_of_a_single_argument);
    tcase_add_test(t, lgamma_overflows_where_its_value_does);
    tcase_add_loop_test(t, float64_is_near_below, 0, FUNCTIONS);
    tcase_add_loop_test(t, poles_and_ends, 0, FUNCTIONS);
    tcase_add_loop_test(t, bits_do_not_depend_on_neighbors_and_instructions, 0, FUNCTIONS);
    suite_add_tcase(s, t);
    return s;
}
