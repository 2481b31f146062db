/* vector_math_f64.h -- float64 functions that a compiler vectorizes, in the style of vector_math.h:
 * exponentials, logarithms, the error function. The same bits on every processor, which those of a
 * C library are not.
 *
 * Polynomials interpolate at Chebyshev nodes; their relative error is below 2^-57 where nothing
 * else is said. tests/accuracy compares each function with MPFR, tests/ops/math/test_vector_f64.c
 * with long double. */
#ifndef EDDY_OPS_KERNELS_ELEMENTWISE_VECTOR_MATH_F64_H
#define EDDY_OPS_KERNELS_ELEMENTWISE_VECTOR_MATH_F64_H

#include "ops/kernels/elementwise/vector_math.h"

/* ------------------------------------------------------------------ parts -- */

EDDY_INLINE uint64_t eddy__bits_of_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

EDDY_INLINE double eddy__f64_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define EDDY_SIGN_BIT_F64 0x8000000000000000u
#define EDDY_FRACTION_F64 0x000fffffffffffffu

/* x with the sign of `sign`, for an x without a sign. */
EDDY_INLINE double eddy__with_sign_f64(double x, double sign)
{
    return eddy__f64_of_bits(eddy__bits_of_f64(x) | (eddy__bits_of_f64(sign) & EDDY_SIGN_BIT_F64));
}

/* 2^n of a whole n, for a normal result: instruction sets without conversions of 64-bit integers
 * have the integer in the low bits of a sum. */
EDDY_INLINE double eddy__power_of_2_f64(double n)
{
    return eddy__f64_of_bits(eddy__bits_of_f64(n + (EDDY_ROUND_F64 + 1023.0)) << 52);
}

EDDY_INLINE double eddy__rounded_f64(double x) { return (x + EDDY_ROUND_F64) - EDDY_ROUND_F64; }

/* x 2^n for a whole n up to 2 1023: 2^n may not be a normal number itself. */
EDDY_INLINE double eddy__scaled_f64(double x, double n)
{
    const double half = eddy__rounded_f64(0.5 * n);
    return x * eddy__power_of_2_f64(half) * eddy__power_of_2_f64(n - half);
}

/* ln 2 in two parts, the first of 33 bits, so that multiples of it are exact. */
#define EDDY_LN2_HIGH_F64 0.69314718048553914
#define EDDY_LN2_LOW_F64  7.4406171100123968e-11

/* ------------------------------------------------------------ exponentials -- */

/* e^r - 1 for r = high - low, |r| <= ln 2 / 2, where low is less than the rounding error of a few
 * operations on high. */
EDDY_INLINE double eddy__exp_rest_f64(double high, double low)
{
    const double r = high - low;
    double p = 2.0911236630261545e-09;
    p = p * r + 2.510038549551032e-08;
    p = p * r + 2.7557282969549951e-07;
    p = p * r + 2.7557268459997064e-06;
    p = p * r + 2.4801587317144498e-05;
    p = p * r + 0.00019841269863053618;
    p = p * r + 0.0013888888888886552;
    p = p * r + 0.0083333333333300615;
    p = p * r + 0.041666666666666664;
    p = p * r + 0.16666666666666669;
    return high - (low - r * r * (0.5 + r * p));
}

/* x = n ln 2 + r with |r| <= ln 2 / 2; returns e^r - 1. */
EDDY_INLINE double eddy__exp_parts_f64(double x, double *n)
{
    *n = eddy__rounded_f64(x * 1.4426950408889634);
    return eddy__exp_rest_f64(x - *n * EDDY_LN2_HIGH_F64, *n * EDDY_LN2_LOW_F64);
}

EDDY_INLINE double eddy__exp_f64(double x)
{
    double n;
    x = x > 710.0 ? 710.0 : x;
    x = x < -746.0 ? -746.0 : x;
    const double p = eddy__exp_parts_f64(x, &n) + 1.0;
    return eddy__scaled_f64(p, n);
}

/* e^x / 2, which overflows later than e^x. */
EDDY_INLINE double eddy__half_exp_f64(double x)
{
    double n;
    x = x > 711.0 ? 711.0 : x;
    x = x < -746.0 ? -746.0 : x;
    const double p = eddy__exp_parts_f64(x, &n) + 1.0;
    return eddy__scaled_f64(p, n - 1.0);
}

/* e^x - 1 = 2 (2^(n-1) (e^r - 1) + (2^(n-1) - 1/2)). */
EDDY_INLINE double eddy__expm1_f64(double x)
{
    double n, y = x > 710.0 ? 710.0 : x;
    y = y < -40.0 ? -40.0 : y;
    const double p = eddy__exp_parts_f64(y, &n), half = eddy__power_of_2_f64(n - 1.0);
    const double result = 2.0 * (p * half + (half - 0.5));
    return fabs(x) < 0x1p-54 ? x : result;
}

/* With t = e^(-2|x|) - 1, |tanh x| = -t / (2 + t). */
EDDY_INLINE double eddy__tanh_f64(double x)
{
    const double t = eddy__expm1_f64(-2.0 * fabs(x));
    return eddy__with_sign_f64(fabs(t) / (2.0 + t), x);
}

/* 1 / (1 + e^-x), from e^-|x|, which does not overflow. */
EDDY_INLINE double eddy__sigmoid_f64(double x)
{
    const double e = eddy__exp_f64(-fabs(x));
    return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

/* -------------------------------------------------------------- logarithms -- */

/* For a normal x > 0, x = 2^n (1 + f) with 1 + f between the roots of 1/2 and 2. */
EDDY_INLINE double eddy__log_parts_f64(double x, double *n)
{
    const uint64_t root_half = 0x3fe6a09e667f3bcdu, one = 0x3ff0000000000000u;
    const uint64_t bits = eddy__bits_of_f64(x) + (one - root_half);
    *n = eddy__f64_of_bits(bits >> 52 | 0x4330000000000000u) - (0x1p52 + 1023.0);
    return eddy__f64_of_bits((bits & EDDY_FRACTION_F64) + root_half) - 1.0;
}

/* For any x >= 0. */
EDDY_INLINE double eddy__log_parts_of_any_f64(double x, double *n)
{
    const int    tiny = x < 0x1p-1022;
    const double f = eddy__log_parts_f64(tiny ? x * 0x1p54 : x, n);
    *n = tiny ? *n - 54.0 : *n;
    return f;
}

/* With s = f / (2 + f), ln(1 + f) = f - (f*f/2 - s (f*f/2 + r(s*s))). Returns s (f*f/2 + r). */
EDDY_INLINE double eddy__log_rest_f64(double f, double half_square)
{
    const double s = f / (2.0 + f), z = s * s;
    double p = 0.13086767009948175;
    p = p * z + 0.13268759668560612;
    p = p * z + 0.15386240205813478;
    p = p * z + 0.18181795630884753;
    p = p * z + 0.2222222239180047;
    p = p * z + 0.28571428570803231;
    p = p * z + 0.40000000000000879;
    p = p * z + 0.66666666666666663;
    return s * (half_square + z * p);
}

/* n ln 2 + ln(1 + f). */
EDDY_INLINE double eddy__log_join_f64(double n, double f)
{
    const double half_square = 0.5 * f * f, rest = eddy__log_rest_f64(f, half_square);
    return n * EDDY_LN2_HIGH_F64 - ((half_square - (rest + n * EDDY_LN2_LOW_F64)) - f);
}

/* `result`, or the logarithm at the ends of its domain, where x is 0, negative, infinite or NaN. */
EDDY_INLINE double eddy__log_edges_f64(double x, double result)
{
    result = x < (double)INFINITY ? result : x;
    result = x == 0.0 ? -(double)INFINITY : result;
    return x < 0.0 ? (double)NAN : result;
}

EDDY_INLINE double eddy__log_f64(double x)
{
    double n;
    const double f = eddy__log_parts_of_any_f64(x, &n);
    return eddy__log_edges_f64(x, eddy__log_join_f64(n, f));
}

/* ln(1 + x): the rounding error of u = 1 + x is scaled like u and added to f. */
EDDY_INLINE double eddy__log1p_f64(double x)
{
    double n;
    const double u = 1.0 + x, lost = x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
    const double f = eddy__log_parts_f64(u, &n);
    const double part = n > 60.0 ? 0.0 : lost * eddy__power_of_2_f64(n > 60.0 ? 0.0 : -n);
    const double y = eddy__log_join_f64(n, f + part);
    return fabs(x) < 0x1p-54 ? x : eddy__log_edges_f64(u, y);
}

/* ln(1 + e^x) for x <= 0, where n is 0 or 1. */
EDDY_INLINE double eddy__log1p_exp_f64(double x)
{
    double n;
    const double e = eddy__exp_f64(x), u = 1.0 + e, lost = e - (u - 1.0);
    const double f = eddy__log_parts_f64(u, &n);
    return eddy__log_join_f64(n, f + lost * (1.0 - 0.5 * n));
}

/* ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|). */
EDDY_INLINE double eddy__softplus_f64(double x)
{
    return (x > 0.0 ? x : 0.0) + eddy__log1p_exp_f64(-fabs(x));
}

/* --------------------------------------------------- error function, gelu -- */

/* e^(u*u) (1 - erf u) for u >= 0, given u/4: t = 1 / (1 + u/4) times a polynomial in x = t - 19/32,
 * as in float32. Its relative error is below 2^-52. */
EDDY_INLINE double eddy__erfcx_f64(double part)
{
    const double sum = 1.0 + part, lost = part - (sum - 1.0), inverse = 1.0 / sum;
    const double t = inverse - inverse * inverse * lost, x = 0.40625 - part * t;
    double q = 0.00066506754890057959;
    q = q * x + 4.6946339412352784e-05;
    q = q * x - 0.0019320648233477167;
    q = q * x + 0.00011810480468334077;
    q = q * x + 0.0036924935397816016;
    q = q * x - 0.00064639419283605431;
    q = q * x - 0.0065797311161568516;
    q = q * x + 0.0012805167071913515;
    q = q * x + 0.012318311152286682;
    q = q * x - 0.00049682998232556167;
    q = q * x - 0.024500289448599475;
    q = q * x - 0.0086087363821894993;
    q = q * x + 0.047636749319390263;
    q = q * x + 0.052620257864318044;
    q = q * x - 0.064099948009017665;
    q = q * x - 0.20174435246955175;
    q = q * x - 0.11532279387037425;
    q = q * x + 0.36338430170851443;
    q = q * x + 1.134800292874818;
    q = q * x + 1.8724388999401136;
    q = q * x + 2.2534280914491438;
    q = q * x + 2.1635297743685875;
    q = q * x + 1.7229173204953159;
    q = q * x + 1.1602503234468209;
    q = q * x + 0.6667293885444775;
    q = q * x + 0.3275749134094485;
    return q * t;
}

/* erf x up to 0.85. */
EDDY_INLINE double eddy__erf_near_f64(double x)
{
    const double z = x * x;
    double p = 6.7595192576037562e-11;
    p = p * z - 1.1769026546511048e-09;
    p = p * z + 1.4745948090565165e-08;
    p = p * z - 1.6361150059788041e-07;
    p = p * z + 1.6461870018745888e-06;
    p = p * z - 1.4925641599796734e-05;
    p = p * z + 0.00012055332766501479;
    p = p * z - 0.00085483270199006062;
    p = p * z + 0.0052239776254045765;
    p = p * z - 0.026866170645128879;
    p = p * z + 0.11283791670955118;
    p = p * z - 0.37612638903183754;
    p = p * z + 0.12837916709551259;
    return x + x * p;
}

/* e^(-scale x*x) for a scale of 1 or 1/2. The square of the first 26 bits of x is exact, and the
 * remainder of the square is added to the rest of the reduction. */
EDDY_INLINE double eddy__gauss_f64(double x, double scale)
{
    const double u = fabs(x), v = u > 40.0 ? 40.0 : u;
    const double high = eddy__f64_of_bits(eddy__bits_of_f64(v) & 0xfffffffff8000000u);
    const double less = scale * (v - high) * (v + high), all = -scale * high * high;
    const double square = all < -746.0 ? -746.0 : all;
    const double n = eddy__rounded_f64((square - less) * 1.4426950408889634);
    const double rest = square - n * EDDY_LN2_HIGH_F64;
    return eddy__scaled_f64(eddy__exp_rest_f64(rest, n * EDDY_LN2_LOW_F64 + less) + 1.0, n);
}

EDDY_INLINE double eddy__bell_f64(double x) { return eddy__gauss_f64(x, 0.5); }

/* erf x is 1 beyond 6. */
EDDY_INLINE double eddy__erf_f64(double x)
{
    const double u = fabs(x), v = u > 6.0 ? 6.0 : u;
    const double far = 1.0 - eddy__gauss_f64(v, 1.0) * eddy__erfcx_f64(0.25 * v);
    const double y = u < 0.85 ? eddy__erf_near_f64(x) : eddy__with_sign_f64(far, x);
    return x == x ? y : x;
}

/* 1 - erf x with a small relative error. */
EDDY_INLINE double eddy__erfc_f64(double x)
{
    const double u = fabs(x), v = u > 28.0 ? 28.0 : u;
    const double tail = eddy__gauss_f64(v, 1.0) * eddy__erfcx_f64(0.25 * v);
    const double far = x < 0.0 ? 2.0 - tail : tail;
    const double y = u < 0.55 ? 1.0 - eddy__erf_near_f64(x) : far;
    return x == x ? y : x;
}

/* 1 / (4 sqrt 2). */
#define EDDY_QUARTER_ROOT_HALF 0.17677669529663687

/* The normal distribution function at x. */
EDDY_INLINE double eddy__ndtr_f64(double x)
{
    const double u = fabs(x), v = u > 40.0 ? 40.0 : u;
    const double tail = 0.5 * eddy__erfcx_f64(EDDY_QUARTER_ROOT_HALF * v) * eddy__bell_f64(v);
    const double far = x < 0.0 ? tail : 1.0 - tail;
    const double near = 0.5 + 0.5 * eddy__erf_near_f64(0.70710678118654752 * x);
    const double y = u < 0.85 ? near : far;
    return x == x ? y : x;
}

/* x times the normal distribution function at x; -infinity times 0 is NaN. */
EDDY_INLINE double eddy__gelu_f64(double x)
{
    const double u = fabs(x), v = u > 40.0 ? 40.0 : u;
    const double tail = 0.5 * eddy__erfcx_f64(EDDY_QUARTER_ROOT_HALF * v) * (x < 0.0 ? u : v);
    const double part = tail * eddy__bell_f64(v);
    const double y = x < 0.0 ? -part : x - part;
    return x == x && x != -(double)INFINITY ? y : (double)NAN;
}

/* Its derivative: the distribution function plus x times the density. */
EDDY_INLINE double eddy__gelu_slope_f64(double x)
{
    const double u = fabs(x), v = u > 40.0 ? 40.0 : u, bell = eddy__bell_f64(v);
    const double tail = 0.5 * eddy__erfcx_f64(EDDY_QUARTER_ROOT_HALF * v) * bell;
    const double along = 0.39894228040143268 * v * bell;
    const double y = x < 0.0 ? tail - along : 1.0 - tail + along;
    return x == x ? y : x;
}

EDDY_INLINE double eddy__gelu_tanh_f64(double x)
{
    return x * eddy__sigmoid_f64(x * (EDDY_GELU_LINEAR + EDDY_GELU_CUBIC * (x * x)));
}

/* s + x s (1 - s) u', with s the sigmoid of u; beyond 40 the second term is 0. */
EDDY_INLINE double eddy__gelu_tanh_slope_f64(double x)
{
    double v = x > 40.0 ? 40.0 : x;
    v = v < -40.0 ? -40.0 : v;
    const double z = v * v, u = v * (EDDY_GELU_LINEAR + EDDY_GELU_CUBIC * z);
    const double e = eddy__exp_f64(-fabs(u)), s = 1.0 / (1.0 + e);
    return (u < 0.0 ? e * s : s) +
           v * (e * s * s) * (EDDY_GELU_LINEAR + 3.0 * EDDY_GELU_CUBIC * z);
}

/* The value of a function that has versions here and in vector_math.h, or in
 * vector_elementary_f64.h and vector_elementary.h; for a complex x, `otherwise`. */
#define EDDY_MATH(fn, x, otherwise)                                             \
    _Generic((x), float: eddy__##fn##_f32((float)(x)),                          \
                  double: eddy__##fn##_f64((double)(x)), default: (otherwise))
#define EDDY_REAL_MATH(fn, x)                                                   \
    _Generic((x), float: eddy__##fn##_f32((float)(x)), double: eddy__##fn##_f64((double)(x)))

#endif
