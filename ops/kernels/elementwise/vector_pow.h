/* vector_pow.h -- a^b in float64, in the style of vector_math_f64.h: the logarithm has two parts, of
 * about 2^-64 relative error together. */
#ifndef EDDY_OPS_KERNELS_ELEMENTWISE_VECTOR_POW_H
#define EDDY_OPS_KERNELS_ELEMENTWISE_VECTOR_POW_H

#include "ops/kernels/elementwise/vector_math_f64.h"

/* y z = the result + *low, for a product that neither overflows nor is near 0. */
EDDY_INLINE double eddy__product_f64(double y, double z, double *low)
{
    const double product = y * z;
    *low = -eddy__less_product_f64(product, y, z);
    return product;
}

/* The logarithm of a normal x > 0: with s = f / (2 + f), that of 1 + f is s (2 + s^2 (2/3 + ...)). */
EDDY_INLINE double eddy__log_pair_f64(double x, double *low)
{
    static const double powers[] = {
        0.4, 0.2857142857142937, 0.22222222221654733, 0.1818181833565416,
        0.15384594934597912, 0.1333480621210081, 0.11706195689876644, 0.11723603622948171,
    };
    double n, z_low, more_low, all_low;
    const double f = eddy__log_parts_f64(x, &n), by = 2.0 + f, inverse = 1.0 / by;
    const double s = f * inverse, by_low = f - (by - 2.0);
    const double s_low = (eddy__less_product_f64(f, s, by) - s * by_low) * inverse;
    const double z = eddy__product_f64(s, s, &z_low), rest = z * EDDY_POWERS(powers, z);
    const double third = 2.0 / 3.0, w = third + rest;
    const double w_low = ((third - w) + rest) + 3.700743415417188e-17;
    const double more = eddy__product_f64(z, w, &more_low), sum = 2.0 + more;
    const double sum_low = ((2.0 - sum) + more) + (more_low + z * w_low + (z_low + 2.0 * s * s_low) * w);
    const double all = eddy__product_f64(s, sum, &all_low);
    const double whole = n * EDDY_LN2_HIGH_F64, high = whole + all;
    const double left = ((whole - high) + all) + (all_low + s * sum_low + s_low * sum);
    *low = left + n * EDDY_LN2_LOW_F64;
    return high;
}

/* a^b where a is neither 0 nor denormal, infinite or NaN, |b| < 2^51 and |b ln |a|| <= 707; elsewhere
 * *beyond is set. NaN for a < 0 if b is not an integer. */
EDDY_INLINE double eddy__pow_near_f64(double a, double b, int *beyond)
{
    double low, more, n;
    const double u = fabs(a), log_high = eddy__log_pair_f64(u, &low);
    const double high = eddy__product_f64(b, log_high, &more);
    *beyond = !(u >= 0x1p-1022) | !(u < (double)INFINITY) | !(fabs(b) < 0x1p51) | !(fabs(high) <= 707.0);
    n = eddy__rounded_f64(high * 1.4426950408889634);
    const double part = eddy__exp_rest_f64(high - n * EDDY_LN2_HIGH_F64,
                                           n * EDDY_LN2_LOW_F64 - (more + b * low));
    const double y = (1.0 + part) * eddy__power_of_2_f64(n);
    const double shifted = fabs(b) + 0x1p52;
    const double odd = eddy__f64_of_bits(eddy__bits_of_f64(shifted) << 63 | eddy__bits_of_f64(y));
    return a > 0.0 ? y : shifted - 0x1p52 == fabs(b) ? odd : (double)NAN;
}

#endif
