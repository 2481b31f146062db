/* vector_elementary.h -- vectorized float32 functions, in the style of vector_math.h:
 * trigonometric functions and their inverses, hyperbolic functions, powers and logarithms to
 * other bases, the tails of the normal distribution.
 *
 * tests/ops/math/test_vector_math.c compares them with double precision. */
#ifndef EDDY_OPS_KERNELS_ELEMENTWISE_VECTOR_ELEMENTARY_H
#define EDDY_OPS_KERNELS_ELEMENTWISE_VECTOR_ELEMENTARY_H

#include "ops/kernels/elementwise/vector_math.h"

/* ------------------------------------------------------------ trigonometry -- */

/* pi / 2, rounded, and the remainder. */
#define EDDY_HALF_PI_HIGH 1.57079637050628662f
#define EDDY_HALF_PI_LOW  -4.37113882867e-8f

/* Both circular functions share all steps except the last, so the compiler reduces once. */
EDDY_INLINE float eddy__tan_f32(float x)
{
    const float u = fabsf(x), y = eddy__circular(u, 0) / eddy__circular(u, 1);
    return eddy__f32_of_bits(eddy__bits_of_f32(y) ^ (eddy__bits_of_f32(x) & EDDY_SIGN_BIT));
}

/* The arc tangent of t, for t from 0 to 1. */
EDDY_INLINE float eddy__atan_unit(float t)
{
    const float z = t * t;
    float p = -0.00179362721524f;
    p = p * z + 0.010914633086f;
    p = p * z - 0.0311779028252f;
    p = p * z + 0.0579576584105f;
    p = p * z - 0.0840345470819f;
    p = p * z + 0.109521875524f;
    p = p * z - 0.14264242093f;
    p = p * z + 0.199985483316f;
    p = p * z - 0.333332990908f;
    return t + t * (z * p);
}

EDDY_INLINE float eddy__atan_f32(float x)
{
    const float u = fabsf(x);
    const int   far = u > 1.0f;
    const float r = eddy__atan_unit((far ? 1.0f : u) / (far ? u : 1.0f));
    return eddy__with_sign(far ? (EDDY_HALF_PI_HIGH - r) + EDDY_HALF_PI_LOW : r, x);
}

/* The angle of the point (x, y); at (0, 0) and at infinity as in C. */
EDDY_INLINE float eddy__atan2_f32(float y, float x)
{
    const float u = fabsf(x), v = fabsf(y), most = u > v ? u : v, least = u > v ? v : u;
    const float ratio = most == 0.0f ? 0.0f : least == INFINITY ? 1.0f : least / most;
    float r = eddy__atan_unit(ratio);
    r = v > u ? (EDDY_HALF_PI_HIGH - r) + EDDY_HALF_PI_LOW : r;
    const float back = (2 * EDDY_HALF_PI_HIGH - r) + 2 * EDDY_HALF_PI_LOW;
    r = eddy__bits_of_f32(x) & EDDY_SIGN_BIT ? back : r;
    return u == u && v == v ? eddy__with_sign(r, y) : u + v;
}

/* The root of a^2 + b^2: squares of floats neither overflow nor underflow as doubles.  Infinity if
 * either is infinite, even if the other is NaN. */
EDDY_INLINE float eddy__hypot_f32(float a, float b)
{
    const float y = (float)sqrt((double)a * (double)a + (double)b * (double)b);
    return fabsf(a) == INFINITY || fabsf(b) == INFINITY ? INFINITY : y;
}

/* The arc sine of s where s*s is z, up to 1/4. */
EDDY_INLINE float eddy__asin_half(float s, float z)
{
    float p = 0.037516482009f;
    p = p * z + 0.0144385920795f;
    p = p * z + 0.0318077186437f;
    p = p * z + 0.0445169556005f;
    p = p * z + 0.0750050417967f;
    p = p * z + 0.166666599914f;
    return s + s * (z * p);
}

/* Above 1/2, computed from half the complement of the angle, whose sine is sqrt((1 - x) / 2). */
EDDY_INLINE float eddy__asin_f32(float x)
{
    const float u = fabsf(x), half = 0.5f * (1.0f - u);
    const int   far = u > 0.5f;
    const float r = eddy__asin_half(far ? sqrtf(half) : u, far ? half : u * u);
    return eddy__with_sign(far ? (EDDY_HALF_PI_HIGH - 2.0f * r) + EDDY_HALF_PI_LOW : r, x);
}

EDDY_INLINE float eddy__acos_f32(float x)
{
    const float u = fabsf(x), half = 0.5f * (1.0f - u);
    const int   far = u > 0.5f;
    const float r = eddy__asin_half(far ? sqrtf(half) : x, far ? half : u * u);
    const float back = (2 * EDDY_HALF_PI_HIGH - 2.0f * r) + 2 * EDDY_HALF_PI_LOW;
    return far ? (x < 0.0f ? back : 2.0f * r) : (EDDY_HALF_PI_HIGH - r) + EDDY_HALF_PI_LOW;
}

/* -------------------------------------------------------------- hyperbolic -- */

/* e^x / 2, which overflows later than e^x. */
EDDY_INLINE float eddy__half_exp(float x)
{
    int32_t k;
    x = x > 90.0f ? 90.0f : x;
    x = x < -104.0f ? -104.0f : x;
    const float p = eddy__exp_parts(x, &k) + 1.0f;
    const int32_t half = k >> 1;
    return p * eddy__power_of_2(half) * eddy__power_of_2(k - half - 1);
}

/* With t = e^|x| - 1, |sinh x| = (t + t / (t + 1)) / 2. */
EDDY_INLINE float eddy__sinh_f32(float x)
{
    const float u = fabsf(x), t = eddy__expm1_f32(u > 20.0f ? 20.0f : u);
    const float near = 0.5f * (t + t / (t + 1.0f));
    const float y = u > 9.5f ? eddy__half_exp(u) : near;
    return u < 0x1p-12f ? x : eddy__with_sign(y, x);
}

EDDY_INLINE float eddy__cosh_f32(float x)
{
    const float half = eddy__half_exp(fabsf(x));
    return half + 0.25f / half;
}

/* ln(2 u) for a large u > 0. */
EDDY_INLINE float eddy__log_of_double(float u)
{
    int32_t     k;
    const float f = eddy__log_parts(u, &k);
    return eddy__log_join(k + 1, f);
}

/* ln(1 + u + u*u / (1 + sqrt(u*u + 1))). */
EDDY_INLINE float eddy__asinh_f32(float x)
{
    const float u = fabsf(x), v = u > 4096.0f ? 4096.0f : u, z = v * v;
    const float near = eddy__log1p_f32(v + z / (1.0f + sqrtf(z + 1.0f)));
    const float far = u < INFINITY ? eddy__log_of_double(u) : u;
    return u < 0x1p-12f ? x : eddy__with_sign(u > 4096.0f ? far : near, x);
}

/* With t = x - 1, ln(1 + t + sqrt(t (2 + t))). */
EDDY_INLINE float eddy__acosh_f32(float x)
{
    const float v = x > 4096.0f ? 4096.0f : x, t = v - 1.0f;
    const float near = eddy__log1p_f32(t + sqrtf(t * (2.0f + t)));
    const float far = x < INFINITY ? eddy__log_of_double(x) : x;
    return x < 1.0f ? NAN : x > 4096.0f ? far : near;
}

/* ln(1 + 2u / (1 - u)) / 2. */
EDDY_INLINE float eddy__atanh_f32(float x)
{
    const float u = fabsf(x), y = 0.5f * eddy__log1p_f32(2.0f * u / (1.0f - u));
    return u < 0x1p-12f ? x : u > 1.0f ? NAN : eddy__with_sign(y, x);
}

/* ln(x / (1 - x)), with the sign of 2x - 1, as ln(1 + |2x - 1| / less), where less is the smaller one
 * of x and 1 - x, times 2^24 where the quotient could overflow. x + 0 is not -0. */
EDDY_INLINE float eddy__logit_f32(float x)
{
    const float less = x < 0.5f ? x + 0.0f : 1.0f - x;
    const int   tiny = fabsf(less) < 0x1p-100f;
    const float y = eddy__log1p_f32(fabsf(x + x - 1.0f) / (tiny ? less * 0x1p24f : less));
    const float whole = tiny ? y + 16.635532333f : y;
    return x < 0.5f ? -whole : whole;
}

/* ------------------------------------------------------------- other bases -- */

EDDY_INLINE float eddy__exp2_f32(float x)
{
    x = x > 129.0f ? 129.0f : x;
    x = x < -151.0f ? -151.0f : x;
    const float shifted = x + EDDY_ROUND_F32, n = shifted - EDDY_ROUND_F32;
    const float p = eddy__exp_rest((x - n) * 0.69314718056f) + 1.0f;
    const int32_t k = (int32_t)(eddy__bits_of_f32(shifted) - eddy__bits_of_f32(EDDY_ROUND_F32));
    const int32_t half = k >> 1;
    return p * eddy__power_of_2(half) * eddy__power_of_2(k - half);
}

/* ln(1 + f) with f from eddy__log_parts, for any x > 0; *n is the power of 2. */
EDDY_INLINE float eddy__log_rest(float x, float *n)
{
    int32_t     k;
    const int   tiny = x < 0x1p-126f;
    const float f = eddy__log_parts(tiny ? x * 0x1p23f : x, &k);
    *n = (float)(tiny ? k - 23 : k);
    return eddy__log_join(0, f);
}

EDDY_INLINE float eddy__log2_f32(float x)
{
    float n;
    const float rest = eddy__log_rest(x, &n);
    return eddy__log_edges(x, n + rest * 1.44269504089f);
}

/* The first part of the logarithm of 2 has 11 bits, so that multiples of it are exact. */
EDDY_INLINE float eddy__log10_f32(float x)
{
    float n;
    const float rest = eddy__log_rest(x, &n);
    const float y = (rest * 0.434294481903f + n * 4.60503898119521e-6f) + n * 0.301025390625f;
    return eddy__log_edges(x, y);
}

/* The exponent divided by 3, and two steps of Halley's method, each of which triples the digits. */
EDDY_INLINE float eddy__cbrt_f32(float x)
{
    const float    u = fabsf(x);
    const int      tiny = u < 0x1p-126f;
    const float    v = tiny ? u * 0x1p24f : u;
    const double   wanted = (double)v;
    double t = (double)eddy__f32_of_bits(eddy__bits_of_f32(v) / 3 + 709958130u), cube = t * t * t;
    t *= (cube + 2.0 * wanted) / (2.0 * cube + wanted);
    cube = t * t * t;
    t *= (cube + 2.0 * wanted) / (2.0 * cube + wanted);
    const int plain = u > 0.0f && u < INFINITY;
    return plain ? eddy__with_sign((float)t * (tiny ? 0x1p-8f : 1.0f), x) : x;
}

/* ------------------------------------------------------- normal distribution -- */

/* 1 - erf x with a small relative error: far from 0, e^(-x*x) times a function that changes
 * slowly. */
EDDY_INLINE float eddy__erfc_f32(float x)
{
    const float u = fabsf(x), v = u > 10.6f ? 10.6f : u;
    const float density = eddy__large_gauss_f32(EDDY_INVERSE_ROOT_PI, v, 1);
    const float tail = eddy__mills_f32(EDDY_ROOT_HALF, v) * density * 0x1p-64f;
    const float far = x < 0.0f ? 2.0f - tail : tail;
    return u < 0.6f ? 1.0f - eddy__erf_near(x) : far;
}

/* The normal distribution function at x. */
EDDY_INLINE float eddy__ndtr_f32(float x)
{
    const float u = fabsf(x), v = eddy__below_15(u);
    const float tail = eddy__mills_f32(1, v) * eddy__large_density_f32(v) * 0x1p-64f;
    const float far = x < 0.0f ? tail : 1.0f - tail;
    return u < 0.85f ? 0.5f + 0.5f * eddy__erf_near(0.707106781187f * x) : far;
}

#endif
