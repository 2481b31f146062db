/* accuracy.c -- `make accuracy`: float64 functions beside MPFR, on random and boundary arguments.
 *
 *   accuracy [COUNT] [NAME]     COUNT arguments of each function, 200 000 if left out
 *
 * Half of the arguments are random bits, so that all exponents occur; half are uniform where the
 * function is interesting. Prints the largest error in units in the last place, and fails if one is
 * above its bound. */
#include "build/gen/table.h"
#include "graph/op.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRECISION = 160, BLOCK = 4096 };

typedef int exact_fn(mpfr_t y, const mpfr_t x, mpfr_rnd_t r);

/* y = 1 / (1 + e^-x). */
static int exact_sigmoid(mpfr_t y, const mpfr_t x, mpfr_rnd_t r)
{
    mpfr_neg(y, x, r);
    mpfr_exp(y, y, r);
    mpfr_add_ui(y, y, 1, r);
    return mpfr_ui_div(y, 1, y, r);
}

/* y = ln(1 + e^x). */
static int exact_softplus(mpfr_t y, const mpfr_t x, mpfr_rnd_t r)
{
    if (mpfr_cmp_si(x, 1000) > 0) return mpfr_set(y, x, r);
    mpfr_exp(y, x, r);
    return mpfr_log1p(y, y, r);
}

/* y = erfc(-x / sqrt 2) / 2. */
static int exact_ndtr(mpfr_t y, const mpfr_t x, mpfr_rnd_t r)
{
    mpfr_t root;
    mpfr_init2(root, PRECISION);
    mpfr_sqrt_ui(root, 2, r);
    mpfr_div(y, x, root, r);
    mpfr_neg(y, y, r);
    mpfr_erfc(y, y, r);
    mpfr_clear(root);
    return mpfr_div_ui(y, y, 2, r);
}

static int exact_gelu(mpfr_t y, const mpfr_t x, mpfr_rnd_t r)
{
    exact_ndtr(y, x, r);
    return mpfr_mul(y, y, x, r);
}

static int exact_lgamma(mpfr_t y, const mpfr_t x, mpfr_rnd_t r)
{
    int sign;
    return mpfr_lgamma(y, &sign, x, r);
}

/* y = the derivative of digamma at x > 0, by its asymptotic series from 40 on. */
static int exact_trigamma(mpfr_t y, const mpfr_t x, mpfr_rnd_t r)
{
    static const long above[] = { 1, -1, 1, -1, 5, -691, 7, -3617, 43867, -174611, 854513,
                                  -236364091, 8553103 };
    static const unsigned long below[] = { 6, 30, 42, 30, 66, 2730, 6, 510, 798, 330, 138, 2730,
                                           6 };
    mpfr_t z, part, power;
    mpfr_inits2(PRECISION, z, part, power, (mpfr_ptr)NULL);
    mpfr_set(z, x, r);
    mpfr_set_ui(y, 0, r);
    for (; mpfr_cmp_ui(z, 40) < 0; mpfr_add_ui(z, z, 1, r)) {
        mpfr_sqr(part, z, r);
        mpfr_ui_div(part, 1, part, r);
        mpfr_add(y, y, part, r);
    }
    mpfr_ui_div(power, 1, z, r);
    mpfr_add(y, y, power, r);
    mpfr_sqr(z, power, r);                         /* 1 / z^2 from here on */
    mpfr_div_ui(part, z, 2, r);
    mpfr_add(y, y, part, r);
    for (int k = 0; k < 13; k++) {
        mpfr_mul(power, power, z, r);
        mpfr_mul_si(part, power, above[k], r);
        mpfr_div_ui(part, part, below[k], r);
        mpfr_add(y, y, part, r);
    }
    mpfr_clears(z, part, power, (mpfr_ptr)NULL);
    return 0;
}

static const struct function {
    const eddy_op_def *op;
    exact_fn *exact;
    double low, high;              /* where uniform arguments are */
    double most;                   /* units in the last place */
} functions[] = {
    { &eddy_op_exp, mpfr_exp, -750, 715, 1 },
    { &eddy_op_expm1, mpfr_expm1, -40, 50, 2 },
    { &eddy_op_exp2, mpfr_exp2, -1080, 1030, 2 },
    { &eddy_op_log, mpfr_log, 0, 3, 1 },
    { &eddy_op_log1p, mpfr_log1p, -1, 3, 2 },
    { &eddy_op_log2, mpfr_log2, 0, 3, 2 },
    { &eddy_op_log10, mpfr_log10, 0, 3, 2 },
    { &eddy_op_sigmoid, exact_sigmoid, -45, 45, 2 },
    { &eddy_op_softplus, exact_softplus, -45, 45, 2 },
    { &eddy_op_tanh, mpfr_tanh, -3, 3, 2 },
    { &eddy_op_sinh, mpfr_sinh, -25, 25, 2 },
    { &eddy_op_cosh, mpfr_cosh, -25, 25, 2 },
    { &eddy_op_asinh, mpfr_asinh, -5, 5, 2 },
    { &eddy_op_acosh, mpfr_acosh, 1, 5, 2 },
    { &eddy_op_atanh, mpfr_atanh, -1, 1, 2 },
    { &eddy_op_sin, mpfr_sin, -1100000, 1100000, 1 },
    { &eddy_op_cos, mpfr_cos, -7, 7, 1 },
    { &eddy_op_tan, mpfr_tan, -7, 7, 2 },
    { &eddy_op_asin, mpfr_asin, -1, 1, 2 },
    { &eddy_op_acos, mpfr_acos, -1, 1, 2 },
    { &eddy_op_atan, mpfr_atan, -5, 5, 2 },
    { &eddy_op_cbrt, mpfr_cbrt, 1, 8, 2 },
    { &eddy_op_erf, mpfr_erf, -6, 6, 2 },
    { &eddy_op_erfc, mpfr_erfc, -6, 27.3, 2 },
    { &eddy_op_ndtr, exact_ndtr, -38.5, 9, 2 },
    { &eddy_op_gelu, exact_gelu, -38, 9, 2 },
    { &eddy_op_lgamma, exact_lgamma, 0, 9, 2 },
    { &eddy_op_digamma, mpfr_digamma, 0, 9, 2 },
    { &eddy_op_polygamma, exact_trigamma, 0, 9, 2 },       /* of order 1 */
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* ------------------------------------------------------------- arguments -- */

/* SplitMix64. */
static uint64_t word(uint64_t i)
{
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static const double boundaries[] = {
    0.0, 0x1p-1074, 0x1p-1022, 0x0.fffffffffffffp-1022, 0x1.fffffffffffffp1023, 1.0, 0x1p-54,
    0x1p-53, 0x1p-27, 0.5, 0.41421356237309503, 0.41421356237309509, 0x1.fffffffffffffp-1,
    0x1.0000000000001p0, 0.85, 0.55, 0.34657359027997264, 0.34657359027997270, 709.78271289338397,
    709.78271289338409, 710.0, 710.5, 745.13321910194111, 745.13321910194122, 746.0, 1023.5, 1024.0,
    1074.5, 1075.0, 1.5707963267948966, 0.78539816339744828, 3.1415926535897931, 1048576.0, 1e22,
    0x1.921fb54442d18p19, 6.0, 27.226, 40.0, 0x1p28, 0x1p60, INFINITY,
};
enum { BOUNDARIES = sizeof boundaries / sizeof *boundaries };

static double argument_of_any_sign(const struct function *f, long i)
{
    if (i < 2 * BOUNDARIES) return i % 2 ? -boundaries[i / 2] : boundaries[i / 2];
    const uint64_t w = word((uint64_t)i);
    return i % 2 ? from_bits(w) : f->low + (f->high - f->low) * ((double)(w >> 11) * 0x1p-53);
}

/* Between poles, the bounds do not hold. */
static double argument(const struct function *f, long i)
{
    const double x = argument_of_any_sign(f, i);
    const bool   poles = f->exact == exact_lgamma || f->exact == mpfr_digamma ||
                         f->exact == exact_trigamma;
    return poles ? fabs(x) : x;
}

/* ------------------------------------------------------------------ errors -- */

/* The error of y beside the exact value, in units in the last place of the latter. */
static double error_of(double y, const mpfr_t exact)
{
    const double near = mpfr_get_d(exact, MPFR_RNDN);
    if (isnan(near) || isnan(y)) return isnan(near) && isnan(y) ? 0 : INFINITY;
    if (isinf(near) || isinf(y)) {
        const double top = 0x1.fffffffffffffp1023;
        return near == y || fabs(near) == top || fabs(y) == top ? (near == y ? 0 : 1) : INFINITY;
    }
    int exponent;
    frexp(near, &exponent);
    exponent = exponent - 53 < -1074 ? -1074 : exponent - 53;
    mpfr_t difference;
    mpfr_init2(difference, PRECISION);
    mpfr_sub_d(difference, exact, y, MPFR_RNDN);
    mpfr_mul_2si(difference, difference, -exponent, MPFR_RNDN);
    const double error = fabs(mpfr_get_d(difference, MPFR_RNDN));
    mpfr_clear(difference);
    return error;
}

static const eddy_type f64 = { EDDY_FLOAT64, { .rank = 0 } };

static bool measure(const struct function *f, long count)
{
    static double x[BLOCK], y[BLOCK], ones[BLOCK];
    const void   *operands[] = { f->op->max_inputs == 2 ? ones : x, x };
    double        worst = 0, at = 0;
    mpfr_t        in, out;
    mpfr_inits2(PRECISION, in, out, (mpfr_ptr)NULL);
    for (long from = 0; from < count; from += BLOCK) {
        for (long i = 0; i < BLOCK; i++) x[i] = argument(f, from + i), ones[i] = 1;
        if (f->op->tile(&f64, &f64)(BLOCK, y, operands, NULL) != EDDY_OK) return false;
        for (int i = 0; i < BLOCK; i++) {
            mpfr_set_d(in, x[i], MPFR_RNDN);
            f->exact(out, in, MPFR_RNDN);
            const double error = error_of(y[i], out);
            if (error > worst) worst = error, at = x[i];
        }
    }
    mpfr_clears(in, out, (mpfr_ptr)NULL);
    printf("%-10s %8.3f at %-24a bound %g%s\n", f->op->name, worst, at, f->most,
           worst <= f->most ? "" : "  ABOVE");
    return worst <= f->most;
}

int main(int argc, char **argv)
{
    const long count = argc > 1 ? atol(argv[1]) : 200000;
    bool       all = true;
    for (int i = 0; i < FUNCTIONS; i++)
        if (argc < 3 || strcmp(functions[i].op->name, argv[2]) == 0)
            all = measure(&functions[i], count) && all;
    mpfr_free_cache();
    return all ? 0 : 1;
}
