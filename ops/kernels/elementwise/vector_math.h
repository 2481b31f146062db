/* vector_math.h -- float32 functions that a compiler vectorizes (exp, log, tanh, ...): code
 * without branches, where alternatives are selected.
 *
 * The argument is reduced exactly, or in two steps, the first of which is exact; a polynomial
 * approximates the rest. Polynomials are minimax fits of the relative error, which is below 2^-27.
 * tests/ops/math/test_vector_math.c compares each function with its double precision version,
 * over all arguments. At infinity, NaN, both zeros and below the smallest normal number they agree
 * with libm.
 *
 * They rely on IEEE arithmetic, rounded to nearest, without contraction or reordering. */
#ifndef EDDY_OPS_KERNELS_ELEMENTWISE_VECTOR_MATH_H
#define EDDY_OPS_KERNELS_ELEMENTWISE_VECTOR_MATH_H

#include "graph/base/cpu.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* ------------------------------------------------------------------ parts -- */

EDDY_INLINE uint32_t eddy__bits_of_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

EDDY_INLINE float eddy__f32_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define EDDY_SIGN_BIT 0x80000000u

/* x with the sign of `sign`, for an x without a sign. */
EDDY_INLINE float eddy__with_sign(float x, float sign)
{
    return eddy__f32_of_bits(eddy__bits_of_f32(x) | (eddy__bits_of_f32(sign) & EDDY_SIGN_BIT));
}

/* 2^k for a normal result. */
EDDY_INLINE float eddy__power_of_2(int32_t k)
{
    return eddy__f32_of_bits((uint32_t)(k + 127) << 23);
}

/* Adding it leaves the nearest integer in the low bits. */
#define EDDY_ROUND_F32 12582912.0f            /* 1.5 * 2^23 */
#define EDDY_ROUND_F64 6755399441055744.0     /* 1.5 * 2^52 */

/* ln 2 in two parts; the first has so few bits that small multiples of it are exact. */
#define EDDY_LN2_HIGH 0.693115234375f
#define EDDY_LN2_LOW  3.19461849453e-5f

/* ------------------------------------------------------------ exponentials -- */

/* e^r - 1 for |r| <= ln 2 / 2. */
EDDY_INLINE float eddy__exp_rest(float r)
{
    float q = 0.00138712794312f;
    q = q * r + 0.00836857330128f;
    q = q * r + 0.0416674247308f;
    q = q * r + 0.166665239767f;
    q = q * r + 0.499999972127f;
    return r + r * r * q;
}

/* x = k ln 2 + r with |r| <= ln 2 / 2; returns e^r - 1. */
EDDY_INLINE float eddy__exp_parts(float x, int32_t *k)
{
    const float shifted = x * 1.44269504089f + EDDY_ROUND_F32, n = shifted - EDDY_ROUND_F32;
    const float r = (x - n * EDDY_LN2_HIGH) - n * EDDY_LN2_LOW;
    *k = (int32_t)(eddy__bits_of_f32(shifted) - eddy__bits_of_f32(EDDY_ROUND_F32));
    return eddy__exp_rest(r);
}

/* e^x.  2^k is split into two factors, since it may not be a normal number itself. */
EDDY_INLINE float eddy__exp_f32(float x)
{
    int32_t k;
    x = x > 89.0f ? 89.0f : x;
    x = x < -104.0f ? -104.0f : x;
    const float p = eddy__exp_parts(x, &k) + 1.0f;
    const int32_t half = k >> 1;
    return p * eddy__power_of_2(half) * eddy__power_of_2(k - half);
}

/* e^x - 1 = 2 (2^(k-1) (e^r - 1) + (2^(k-1) - 1/2)). */
EDDY_INLINE float eddy__expm1_f32(float x)
{
    int32_t k;
    float   y = x > 89.0f ? 89.0f : x;
    y = y < -18.0f ? -18.0f : y;
    const float p = eddy__exp_parts(y, &k), half = eddy__power_of_2(k - 1);
    const float result = 2.0f * (p * half + (half - 0.5f));
    return fabsf(x) < 0x1p-25f ? x : result;
}

/* With t = e^(-2|x|) - 1, |tanh x| = -t / (2 + t). */
EDDY_INLINE float eddy__tanh_f32(float x)
{
    const float t = eddy__expm1_f32(-2.0f * fabsf(x));
    return eddy__with_sign(fabsf(t) / (2.0f + t), x);
}

/* 1 / (1 + e^-x), from e^-|x|, which does not overflow. */
EDDY_INLINE float eddy__sigmoid_f32(float x)
{
    const float e = eddy__exp_f32(-fabsf(x));
    return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

/* -------------------------------------------------------------- logarithms -- */

/* For a normal x > 0, x = 2^k (1 + f) with 1 + f between the roots of 1/2 and 2. */
EDDY_INLINE float eddy__log_parts(float x, int32_t *k)
{
    const uint32_t root_half = 0x3f3504f3u, bits = eddy__bits_of_f32(x);
    *k = (int32_t)(bits - root_half) >> 23;
    return eddy__f32_of_bits(bits - ((uint32_t)*k << 23)) - 1.0f;
}

/* k ln 2 + ln(1 + f). */
EDDY_INLINE float eddy__log_join(int32_t k, float f)
{
    const float n = (float)k, z = f * f;
    float p = -0.0763419769393f;
    p = p * f + 0.127613868048f;
    p = p * f - 0.131602047328f;
    p = p * f + 0.142017872989f;
    p = p * f - 0.166233584412f;
    p = p * f + 0.20001225602f;
    p = p * f - 0.25000820967f;
    p = p * f + 0.333333317226f;
    return (f + (f * z * p + n * EDDY_LN2_LOW - 0.5f * z)) + n * EDDY_LN2_HIGH;
}

/* `result`, or the logarithm at the ends of its domain, where x is 0, negative, infinite or NaN. */
EDDY_INLINE float eddy__log_edges(float x, float result)
{
    result = x < INFINITY ? result : x;
    result = x == 0.0f ? -INFINITY : result;
    return x < 0.0f ? NAN : result;
}

EDDY_INLINE float eddy__log_f32(float x)
{
    int32_t     k;
    const int   tiny = x < 0x1p-126f;
    const float f = eddy__log_parts(tiny ? x * 0x1p23f : x, &k);
    return eddy__log_edges(x, eddy__log_join(tiny ? k - 23 : k, f));
}

/* ln(1 + x): the rounding error of u = 1 + x is scaled like u and added to f. */
EDDY_INLINE float eddy__log1p_f32(float x)
{
    int32_t     k;
    const float u = 1.0f + x, lost = x < 1.0f ? x - (u - 1.0f) : 1.0f - (u - x);
    const float f = eddy__log_parts(u, &k);
    const float y = eddy__log_join(k, f + (k > 30 ? 0.0f : lost * eddy__power_of_2(k > 30 ? 0 : -k)));
    return fabsf(x) < 0x1p-25f ? x : eddy__log_edges(u, y);
}

/* ln(1 + e^x) for x <= 0, where k is 0 or 1. */
EDDY_INLINE float eddy__log1p_exp_f32(float x)
{
    int32_t     k;
    const float e = eddy__exp_f32(x), u = 1.0f + e, lost = e - (u - 1.0f);
    const float f = eddy__log_parts(u, &k);
    return eddy__log_join(k, f + lost * (1.0f - 0.5f * (float)k));
}

/* ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|). */
EDDY_INLINE float eddy__softplus_f32(float x)
{
    return (x > 0.0f ? x : 0.0f) + eddy__log1p_exp_f32(-fabsf(x));
}

/* --------------------------------------------------- error function, gelu -- */

/* The tail of the normal distribution beyond v, divided by unit times its density at v, given u =
 * unit v from 0 to 15 unit: the quotient b / (u b + a) of polynomials with positive coefficients,
 * whose relative error is below 2^-25. Where u is large, rounding errors of b cancel. */
EDDY_INLINE float eddy__mills_f32(double unit, float u)
{
    const double square = unit * unit, fourth = square * square;
    float b = u + (float)(9.35363769531 * unit);
    b = b * u + (float)(40.5376472473 * square);
    b = b * u + (float)(93.7299423218 * square * unit);
    b = b * u + (float)(102.325630188 * fourth);
    float a = (float)(9.47544685914e-5 * unit);
    a = a * u + (float)(0.99566835165 * square);
    a = a * u + (float)(9.43806552887 * square * unit);
    a = a * u + (float)(37.602645874 * fourth);
    a = a * u + (float)(81.6440429688 * fourth * unit);
    return b / (u * b + a);
}

/* erf x up to 0.9. */
EDDY_INLINE float eddy__erf_near(float x)
{
    const float z = x * x;
    float p = 8.51310220865e-5f;
    p = p * z - 0.000817563884033f;
    p = p * z + 0.00520385911873f;
    p = p * z - 0.0268605084459f;
    p = p * z + 0.112837150325f;
    p = p * z - 0.376126349798f;
    p = p * z + 0.128379166764f;
    return x + x * p;
}

#define EDDY_ROOT_HALF       0.70710678118654752
#define EDDY_INVERSE_ROOT_PI 0.56418958354775629

/* erf x is 1 beyond 4. */
EDDY_INLINE float eddy__erf_f32(float x)
{
    const float u = fabsf(x), v = u > 4.0f ? 4.0f : u;
    const float density = (float)EDDY_INVERSE_ROOT_PI * eddy__exp_f32(-v * v);
    const float far = 1.0f - density * eddy__mills_f32(EDDY_ROOT_HALF, v);
    return u < 0.9f ? eddy__erf_near(x) : eddy__with_sign(far, x);
}

/* 2^64 times factor e^(-v*v / over), a normal number, for an `over` of 1 or 2, where v >= 0 and
 * v*v / over is at most 113. The square of the first 12 bits of v is exact, and the remainder of
 * the square is so small that it can be added to the rest of the reduction. The last lines are
 * eddy__exp_rest of r s, and the factor. */
EDDY_INLINE float eddy__large_gauss_f32(double factor, float v, double over)
{
    const float high = eddy__f32_of_bits(eddy__bits_of_f32(v) & 0xfffff000u);
    const float square = high * high, less = (v - high) * (v + high);
    const float shifted = (square + less) * (float)(-1.44269504089 / over) + EDDY_ROUND_F32;
    const float n = shifted - EDDY_ROUND_F32, ln2_high = (float)over * EDDY_LN2_HIGH;
    const float r = square + n * ln2_high + n * ((float)over * EDDY_LN2_LOW) + less;
    const float scale = eddy__f32_of_bits((eddy__bits_of_f32(shifted) << 23) + ((127u + 64) << 23));
    const double s = -1.0 / over;
    float p = (float)(0.00138712794312 * factor * s * s * s * s * s * s);
    p = p * r + (float)(0.00836857330128 * factor * s * s * s * s * s);
    p = p * r + (float)(0.0416674247308 * factor * s * s * s * s);
    p = p * r + (float)(0.166665239767 * factor * s * s * s);
    p = p * r + (float)(0.499999972127 * factor * s * s);
    p = p * r + (float)(factor * s);
    return (p * r + (float)factor) * scale;
}

/* The density of the normal distribution at v from 0 to 15, times 2^64. */
EDDY_INLINE float eddy__large_density_f32(float v)
{
    return eddy__large_gauss_f32(0.39894228040143268, v, 2);
}

EDDY_INLINE float eddy__below_15(float u) { return u > 15.0f ? 15.0f : u; }

/* x times the normal distribution function at x; -infinity times 0 is NaN. */
EDDY_INLINE float eddy__gelu_f32(float x)
{
    const float v = eddy__below_15(fabsf(x));
    const float part = v * eddy__mills_f32(1, v) * eddy__large_density_f32(v) * 0x1p-64f;
    return (x < 0.0f ? x * 0.0f : x) - part;
}

/* Its derivative: the distribution function plus x times the density. */
EDDY_INLINE float eddy__gelu_slope_f32(float x)
{
    const float v = eddy__below_15(fabsf(x));
    const float part = (eddy__mills_f32(1, v) - v) * eddy__large_density_f32(v) * 0x1p-64f;
    return x < 0.0f ? part : 1.0f - part;
}

/* 2 sqrt(2 / pi), and the same times 0.044715: the coefficients of gelu's tanh form, in which (1 +
 * tanh u) / 2 is the sigmoid of 2 u. */
#define EDDY_GELU_LINEAR 1.5957691216057308
#define EDDY_GELU_CUBIC  0.07135481627260025

EDDY_INLINE float eddy__gelu_tanh_f32(float x)
{
    const float u = x * ((float)EDDY_GELU_LINEAR + (float)EDDY_GELU_CUBIC * (x * x));
    return x * eddy__sigmoid_f32(u);
}

/* s + x s (1 - s) u', with s the sigmoid of u; beyond 40 the second term is 0. */
EDDY_INLINE float eddy__gelu_tanh_slope_f32(float x)
{
    float v = x > 40.0f ? 40.0f : x;
    v = v < -40.0f ? -40.0f : v;
    const float linear = (float)EDDY_GELU_LINEAR, cubic = (float)EDDY_GELU_CUBIC, z = v * v;
    const float u = v * (linear + cubic * z), e = eddy__exp_f32(-fabsf(u)), s = 1.0f / (1.0f + e);
    return (u < 0.0f ? e * s : s) + v * (e * s * s) * (linear + 3.0f * cubic * z);
}

/* ------------------------------------------------------------ trigonometry -- */

/* Up to this number, the reduction below is exact except for the last rounding. */
#define EDDY_CIRCULAR_MOST 0x1p20f

/* The sine of x + turn pi/2, for 0 <= x <= EDDY_CIRCULAR_MOST.  The high part of pi/2 has 33 bits,
 * so that its multiples are exact. */
EDDY_INLINE float eddy__circular(float x, uint32_t turn)
{
    const double shifted = (double)x * 0.63661977236758134308 + EDDY_ROUND_F64;
    const double n = shifted - EDDY_ROUND_F64;
    const float  r = (float)(((double)x - n * 1.5707963267341256142)
                             - n * 6.0771005065061926015e-11);
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    const uint32_t quarter = (uint32_t)bits + turn;
    const float z = r * r;
    const float s = ((-0.00019516977168f * z + 0.00833217584301f) * z - 0.166666549085f) * z;
    const float c = ((2.4438091352e-5f * z - 0.00138873644897f) * z + 0.0416666468073f) * z;
    const float sine = r + r * s, cosine = 1.0f + (c * z - 0.5f * z);
    return eddy__f32_of_bits(eddy__bits_of_f32(quarter & 1 ? cosine : sine) ^ (quarter & 2) << 30);
}

EDDY_INLINE float eddy__sin_f32(float x)
{
    const uint32_t sign = eddy__bits_of_f32(x) & EDDY_SIGN_BIT;
    return eddy__f32_of_bits(eddy__bits_of_f32(eddy__circular(fabsf(x), 0)) ^ sign);
}

EDDY_INLINE float eddy__cos_f32(float x) { return eddy__circular(fabsf(x), 1); }

#endif
