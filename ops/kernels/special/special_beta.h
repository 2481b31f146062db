/* special_beta.h -- the regularized incomplete beta function in double precision, for kernels. */
#ifndef EDDY_OPS_KERNELS_SPECIAL_SPECIAL_BETA_H
#define EDDY_OPS_KERNELS_SPECIAL_SPECIAL_BETA_H

#include "ops/kernels/special/special_gamma.h"

#include <float.h>

/* a (ln(x / mean) - (x / mean - 1)) for x and the mean a / sum, which differ by off / sum. */
static inline double eddy__beta_power(double a, double sum, double x, double off)
{
    if (off > -0.5 * a) return a * eddy__log1p_minus(off / a);
    return a * eddy__log_f64(x * (sum / a)) - off;
}

/* x^a y^b / B(a, b) with y = 1 - x.  Written with off = b x - a y, which is proportional to the
 * distance of x from a / (a + b), the large parts of the logarithms cancel before they are
 * taken. */
static inline double eddy__beta_factor(double a, double b, double x, double off)
{
    const double sum = a + b;
    const double power = eddy__beta_power(a, sum, x, off) + eddy__beta_power(b, sum, 1 - x, -off);
    const double rest = eddy__stirling_rest(sum) - eddy__stirling_rest(a) - eddy__stirling_rest(b);
    return sqrt(a * (b / sum) / (2 * EDDY_PI)) * eddy__exp_f64(power + rest);
}

/* The factor divided by I, by a continued fraction in which every other step is contracted
 * (Didonato and Morris, 1992), evaluated by Lentz's method; converges fast for x < (a + 1) / (a + b
 * + 2).  off is b x - a (1 - x). */
static inline double eddy__beta_fraction(double a, double b, double x, double off)
{
    enum { STEPS = 10000 };
    double y = a * (1 - off) / (a + 1), c = y, d = 0;
    for (int n = 1; n < STEPS; n++) {
        const double from = a + 2 * n - 1, part = n * (b - n) * x / from;
        const double up = (a + n - 1) * (a + b + n - 1) / from * x * part;
        const double down = n + part + (a + n) * (1 - off + n * (2 - x)) / (a + 2 * n + 1);
        d = 1 / (down + up * d);
        c = down + up / c;
        y *= c * d;
        if (fabs(c * d - 1) < DBL_EPSILON) break;
    }
    return y;
}

static inline double eddy__betainc_of(double a, double b, double x)
{
    if (!(a > 0 && b > 0 && x >= 0 && x <= 1) || a == INFINITY || b == INFINITY) return NAN;
    if (x == 0 || x == 1) return x;
    const double y = 1 - x, off = x * b - a * y;
    const double factor = eddy__beta_factor(a, b, x, off);
    if (x < (a + 1) / (a + b + 2)) return factor / eddy__beta_fraction(a, b, x, off);
    return 1 - factor / eddy__beta_fraction(b, a, y, -off);
}

#endif
