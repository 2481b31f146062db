/* filter.c -- the functions of `make accuracy` in long double, where the C library has none, or not
 * of the accuracy that the filter needs. */
#include "tests/accuracy/accuracy.h"

#include <string.h>

#define PI_BY_4 0.78539816339744830962L

/* 2^n for a normal result. */
static double power_of_2(int n)
{
    const uint64_t bits = (uint64_t)(n + 1023) << 52;
    double         x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ------------------------------------------------------- exponentials, circles -- */

/* The sums of Taylor's series, even and odd terms apart, which take less time than the C library's
 * functions. */
long double exp_filter(long double x)
{
    static const long double c[] = {
        1, 1, 1 / 2.L, 1 / 6.L, 1 / 24.L, 1 / 120.L, 1 / 720.L, 1 / 5040.L, 1 / 40320.L,
        1 / 362880.L, 1 / 3628800.L, 1 / 39916800.L, 1 / 479001600.L, 1 / 6227020800.L,
        1 / 87178291200.L, 1 / 1307674368000.L, 1 / 20922789888000.L, 1 / 355687428096000.L,
        1 / 6402373705728000.L, 1 / 121645100408832000.L,
    };
    if (!(fabsl(x) < 1400)) return expl(x);
    const long double shifted = x * 1.44269504088896340736L + 0x1.8p63L, n = shifted - 0x1.8p63L;
    const long double r = (x - n * 0xb17217f7d1p-40L) - n * 0xcf79abc9e3b39804p-104L, z = r * r;
    long double       even = c[18], odd = c[19];
    for (int k = 16; k >= 0; k -= 2) even = even * z + c[k], odd = odd * z + c[k + 1];
    const int   e = (int)n, half = e / 2;
    const double powers[] = { power_of_2(half), power_of_2(e - half) };
    return (even + r * odd) * powers[0] * powers[1];
}

/* The sine of x + turn pi/2. Near a multiple of pi/2 and far out, by the C library. */
static long double circular(long double x, int turn)
{
    static const long double sine[] = {
        1, -1 / 6.L, 1 / 120.L, -1 / 5040.L, 1 / 362880.L, -1 / 39916800.L, 1 / 6227020800.L,
        -1 / 1307674368000.L, 1 / 355687428096000.L, -1 / 121645100408832000.L,
        1 / 51090942171709440000.L,
    };
    static const long double cosine[] = {
        1, -1 / 2.L, 1 / 24.L, -1 / 720.L, 1 / 40320.L, -1 / 3628800.L, 1 / 479001600.L,
        -1 / 87178291200.L, 1 / 20922789888000.L, -1 / 6402373705728000.L,
        1 / 2432902008176640000.L, -1 / 1124000727777607680000.L,
    };
    const long double shifted = x * 0.63661977236758134308L + 0x1.8p63L, n = shifted - 0x1.8p63L;
    const long double r = ((x - n * 0xc90fdaa22p-35L) - n * 0x168c234c4cp-75L) -
                          n * 0x6628b80dc1cd1290p-139L;
    if (!(fabsl(x) < 0x1p21L) || fabsl(r) < 0x1p-20L) return turn ? cosl(x) : sinl(x);
    const int         quarter = ((int)n + turn) & 3;
    const long double z = r * r;
    long double       y = 0;
    if (quarter & 1)
        for (int k = 12; k-- > 0;) y = y * z + cosine[k];
    else
        for (int k = 11; k-- > 0;) y = y * z + sine[k];
    y = quarter & 1 ? y : y * r;
    return quarter & 2 ? -y : y;
}

long double sin_filter(long double x) { return circular(x, 0); }
long double cos_filter(long double x) { return circular(x, 1); }
long double tan_filter(long double x) { return circular(x, 0) / circular(x, 1); }

long double sigmoid_filter(long double x) { return 1 / (1 + exp_filter(-x)); }
/* The quotient does not overflow, nor does 2x - 1 lose a digit near 1/2. */
long double logit_filter(long double x)
{
    const long double y = log1pl(fabsl(2 * x - 1) / (x < 0.5L ? x : 1 - x));
    return x < 0.5L ? -y : y;
}
long double softplus_filter(long double x)
{
    return x > 0 ? x + log1pl(exp_filter(-x)) : log1pl(exp_filter(x));
}

/* ------------------------------------------------------------- error function -- */

/* erfc(-x / sqrt 2) / 2, with a correction for the rounding error of the quotient. */
long double ndtr_filter(long double x)
{
    static const long double high = 0x1.6a09e667p-1L, low = 0xf.3bcc908b2fb1367p-37L;
    if (!(fabsl(x) < 50)) return x < 0 ? 0 : x > 0 ? 1 : x;
    const double      x_high = (float)x, x_low = (double)x - x_high;
    const long double u = -x * (high + low);
    const long double lost = ((-x_high * high - u) - x_low * high) - x * low;
    const long double y = 0.5L * erfcl(u);
    return u > 1 ? y - y * lost * (u + sqrtl(u * u + 1.5L)) : y;
}

long double gelu_filter(long double x) { return x * ndtr_filter(x); }

/* e^(x^2) erfc x, from 10 on by the asymptotic series. */
long double erfcx_filter(long double x)
{
    enum { TERMS = 25 };
    const long double square = x * x, t = 0.5L / square;
    if (x < 10) {
        const long double high = (float)x, low = x - high;
        const long double lost = ((high * high - square) + 2 * high * low) + low * low;
        const long double y = erfcl(x) * exp_filter(square);
        return isinf(y) ? y : y + y * lost;
    }
    long double sum = 1;
    for (int k = TERMS; k > 0; k--) sum = 1 - (2 * k - 1) * t * sum;
    return sum * 0.56418958354775628695L / x;
}

long double log_ndtr_filter(long double x)
{
    if (x >= 0) return log1pl(-ndtr_filter(-x));
    return logl(0.5L * erfcx_filter(-x * 0.70710678118654752440L)) - 0.5L * x * x;
}

/* -------------------------------------------------- digamma and its derivative -- */

/* Between 1 and 9, polynomials that interpolate MPFR's values, in Newton's form, for cells of the
 * width 1/2. Digamma is divided by x less its root, so that its relative error stays small. */
enum { CELLS = 16, NODES = 24 };
static long double node[NODES], digamma_cells[CELLS][NODES], trigamma_cells[CELLS][NODES];
static long double root_high, root_low;

static long double cell(long double c[CELLS][NODES], long double x)
{
    const int         k = x < 9 ? (int)(2 * (x - 1)) : CELLS - 1;
    const long double t = (x - 1) - (0.25L + 0.5L * k);
    long double       y = 0;
    for (int i = NODES; i-- > 0;) y = y * (t - node[i]) + c[k][i];
    return y;
}

long double digamma_filter(long double x)
{
    static const long double c[] = {                   /* B(2k) / 2k */
        1 / 12.L, -1 / 120.L, 1 / 252.L, -1 / 240.L, 5 / 660.L, -691 / 32760.L, 1 / 12.L,
        -3617 / 8160.L, 43867 / 14364.L, -174611 / 6600.L,
    };
    if (!(x > 0 && x < INFINITY)) return x == 0 ? -INFINITY : x;
    if (x < 1) return digamma_filter(1 + x) - 1 / x;
    if (x < 9) return ((x - root_high) - root_low) * cell(digamma_cells, x);
    const long double r = 1 / x, z = r * r;
    long double       sum = 0;
    for (int k = sizeof c / sizeof *c; k-- > 0;) sum = (sum + c[k]) * z;
    return logl(x) - (0.5L * r + sum);
}

long double trigamma_filter(long double x)
{
    static const long double c[] = {                   /* B(2k) */
        1 / 6.L, -1 / 30.L, 1 / 42.L, -1 / 30.L, 5 / 66.L, -691 / 2730.L, 7 / 6.L, -3617 / 510.L,
        43867 / 798.L, -174611 / 330.L, 854513 / 138.L, -236364091 / 2730.L, 8553103 / 6.L,
        -23749461029 / 870.L,
    };
    if (!(x > 0 && x < INFINITY)) return x == 0 ? INFINITY : 1 / x;
    if (x < 1) return trigamma_filter(1 + x) + 1 / (x * x);
    if (x < 9) return cell(trigamma_cells, x);
    const long double r = 1 / x, z = r * r;
    long double       sum = 0;
    for (int k = sizeof c / sizeof *c; k-- > 0;) sum = (sum + c[k]) * z;
    return r + (0.5L * z + r * sum);
}

/* Divided differences of one function in one cell. */
static void fill(long double c[NODES], exact_fn *exact, double middle, const mpfr_t root)
{
    mpfr_t x[NODES], y[NODES], part;
    mpfr_init2(part, 2 * PRECISION);
    for (int i = 0; i < NODES; i++) {
        mpfr_inits2(2 * PRECISION, x[i], y[i], (mpfr_ptr)NULL);
        mpfr_set_ld(x[i], node[i], MPFR_RNDN);
        mpfr_add_d(x[i], x[i], middle, MPFR_RNDN);
        exact(y[i], x[i], MPFR_RNDN);
        if (root == NULL) continue;
        mpfr_sub(part, x[i], root, MPFR_RNDN);
        mpfr_div(y[i], y[i], part, MPFR_RNDN);
    }
    for (int k = 1; k < NODES; k++)
        for (int i = NODES; i-- > k;) {
            mpfr_sub(y[i], y[i], y[i - 1], MPFR_RNDN);
            mpfr_sub(part, x[i], x[i - k], MPFR_RNDN);
            mpfr_div(y[i], y[i], part, MPFR_RNDN);
        }
    for (int i = 0; i < NODES; i++) {
        c[i] = mpfr_get_ld(y[i], MPFR_RNDN);
        mpfr_clears(x[i], y[i], (mpfr_ptr)NULL);
    }
    mpfr_clear(part);
}

/* The root of digamma, by bisection. */
static void find_root(mpfr_t root)
{
    mpfr_t y, step;
    mpfr_inits2(2 * PRECISION, y, step, (mpfr_ptr)NULL);
    mpfr_set_d(root, 1, MPFR_RNDN);
    mpfr_set_d(step, 0.5, MPFR_RNDN);
    for (int i = 0; i < 200; i++) {
        mpfr_add(root, root, step, MPFR_RNDN);
        mpfr_digamma(y, root, MPFR_RNDN);
        if (mpfr_sgn(y) > 0) mpfr_sub(root, root, step, MPFR_RNDN);
        mpfr_div_2ui(step, step, 1, MPFR_RNDN);
    }
    mpfr_clears(y, step, (mpfr_ptr)NULL);
}

void prepare_filters(void)
{
    mpfr_t root;
    mpfr_init2(root, 2 * PRECISION);
    find_root(root);
    root_high = mpfr_get_d(root, MPFR_RNDN);
    mpfr_t low;
    mpfr_init2(low, 2 * PRECISION);
    mpfr_sub_d(low, root, (double)root_high, MPFR_RNDN);
    root_low = mpfr_get_ld(low, MPFR_RNDN);
    for (int i = 0; i < NODES; i++)                /* nodes of Chebyshev, from all parts in turn */
        node[i] = 0.25L * cosl(PI_BY_4 * 2 * (2 * (i * 7 % NODES) + 1) / NODES);
    for (int k = 0; k < CELLS; k++) {
        fill(digamma_cells[k], mpfr_digamma, 1.25 + 0.5 * k, root);
        fill(trigamma_cells[k], exact_trigamma, 1.25 + 0.5 * k, NULL);
    }
    mpfr_clears(root, low, (mpfr_ptr)NULL);
}

/* ------------------------------------------------------------------ two numbers -- */

/* *size = ln |x + iy|: beside the unit circle, from the exact square less 1; false where that has
 * too few digits. */
static bool log_size(double x, double y, long double *size)
{
    const double      u = fabs(x) > fabs(y) ? x : y, v = fabs(x) > fabs(y) ? y : x;
    const long double square = (long double)u * u + (long double)v * v;
    if (!(square > 0.5L && square < 1.5L)) {
        *size = 0.5L * logl(square);
        return true;
    }
    const double      high = u * u, low = fma(u, u, -high);
    const double      small = v * v, small_low = fma(v, v, -small);
    const long double less = (((long double)high - 1) + small) + ((long double)low + small_low);
    *size = 0.5L * log1pl(less);
    return fabsl(less) > 0x1p-56L && small > 0x1p-960;
}

bool filter_parts(const function *f, const double x[2], long double y[2])
{
    bool known = true;
    if (f->filter != NULL) {
        y[0] = f->filter(x[0]);
    } else if (f->form == POWER) {
        y[0] = powl(x[0], x[1]);
    } else if (f->form == COMPLEX_EXP) {
        const long double size = exp_filter(x[0]);
        y[0] = size * circular(x[1], 1);
        y[1] = size * circular(x[1], 0);
    } else {
        known = log_size(x[0], x[1], &y[0]);
        y[1] = atan2l(x[1], x[0]);
    }
    return known;
}
