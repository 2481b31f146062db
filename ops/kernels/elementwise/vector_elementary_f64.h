/* vector_elementary_f64.h -- vectorized float64 functions, in the style of vector_math_f64.h:
 * trigonometric functions and their inverses, hyperbolic functions, logarithms to other bases,
 * roots. */
#ifndef EDDY_OPS_KERNELS_ELEMENTWISE_VECTOR_ELEMENTARY_F64_H
#define EDDY_OPS_KERNELS_ELEMENTWISE_VECTOR_ELEMENTARY_F64_H

#include "ops/kernels/elementwise/vector_elementary.h"
#include "ops/kernels/elementwise/vector_math_f64.h"

/* ------------------------------------------------------------ trigonometry -- */

/* *sum + *lost = a + b, exactly: Knuth, The Art of Computer Programming 2, 4.2.2. */
EDDY_INLINE void eddy__exact_sum_f64(double a, double b, double *sum, double *lost)
{
    const double s = a + b, of_b = s - a;
    *lost = (a - (s - of_b)) + (b - of_b);
    *sum = s;
}

/* x modulo pi/2 as r + low; the multiple is in the low bits of the result. pi/2 has four parts, of
 * 33 bits except the last, so that multiples up to 2^20 are exact (Cody and Waite, Software Manual
 * for the Elementary Functions, 1980). A difference that is smaller than what is subtracted from it
 * is exact, or so near 0 that the next part is larger. */
EDDY_INLINE uint64_t eddy__quarters_f64(double x, double *r, double *low)
{
    const double shifted = x * 0.63661977236758134308 + EDDY_ROUND_F64;
    const double n = shifted - EDDY_ROUND_F64, a = x - n * 1.5707963267341256142;
    const double second = n * 6.0771005063039659766e-11, third = n * 2.0222662487111664558e-21;
    const double b = a - second, lost = (a - b) - second;
    *r = b - third;
    *low = (lost + ((b - *r) - third)) - n * 8.47842766036889957e-32;
    return eddy__bits_of_f64(shifted);
}

/* The sine of x + turn pi/2, for 0 <= x <= EDDY_CIRCULAR_MOST, and *more, what its rounding lost. */
EDDY_INLINE double eddy__circular_parts_f64(double x, uint64_t turn, double *more)
{
    static const double sine_powers[] = {
        -0.16666666666666666, 0.0083333333333333315, -0.0001984126984126506,
        2.7557319219335453e-06, -2.5052106231157904e-08, 1.6058531414589011e-10,
        -7.5866850700912671e-13,
    };
    static const double cosine_powers[] = {
        0.041666666666666664, -0.0013888888888887395, 2.4801587298763433e-05,
        -2.7557317270560326e-07, 2.0876146024689747e-09, -1.1382614868556325e-11,
    };
    double r, low;
    const uint64_t quarter = eddy__quarters_f64(x, &r, &low) + turn, sign = (quarter & 2) << 62;
    const double   z = r * r, half = 0.5 * z, w = 1.0 - half;
    const double   of_sine = z * r * EDDY_POWERS(sine_powers, z) + low * w, sine = r + of_sine;
    const double   rest = z * z * EDDY_POWERS(cosine_powers, z) - r * low;
    const double   of_cosine = ((1.0 - w) - half) + rest, cosine = w + of_cosine;
    const double   lost = quarter & 1 ? (w - cosine) + of_cosine : (r - sine) + of_sine;
    *more = eddy__f64_of_bits(eddy__bits_of_f64(lost) ^ sign);
    return eddy__f64_of_bits(eddy__bits_of_f64(quarter & 1 ? cosine : sine) ^ sign);
}

EDDY_INLINE double eddy__circular_f64(double x, uint64_t turn)
{
    double more;
    return eddy__circular_parts_f64(x, turn, &more);
}

EDDY_INLINE double eddy__sin_f64(double x)
{
    const uint64_t sign = eddy__bits_of_f64(x) & EDDY_SIGN_BIT_F64;
    return eddy__f64_of_bits(eddy__bits_of_f64(eddy__circular_f64(fabs(x), 0)) ^ sign);
}

EDDY_INLINE double eddy__cos_f64(double x) { return eddy__circular_f64(fabs(x), 1); }

/* The quotient of both, with what their roundings lost. They share all steps except the last, so the
 * compiler reduces once. */
EDDY_INLINE double eddy__tan_f64(double x)
{
    double         sine_low, cosine_low;
    const double   sine = eddy__circular_parts_f64(fabs(x), 0, &sine_low);
    const double   cosine = eddy__circular_parts_f64(fabs(x), 1, &cosine_low);
    const double   ratio = sine / cosine, y = ratio + (sine_low - ratio * cosine_low) / cosine;
    const uint64_t sign = eddy__bits_of_f64(x) & EDDY_SIGN_BIT_F64;
    return eddy__f64_of_bits(eddy__bits_of_f64(y) ^ sign);
}

/* pi / 2, rounded, and the remainder; pi / 4 has half of each. */
#define EDDY_HALF_PI_HIGH_F64 1.5707963267948966
#define EDDY_HALF_PI_LOW_F64  6.123233995736766e-17

/* atan t - t for |t| up to the root of 2, less 1. */
EDDY_INLINE double eddy__atan_rest_f64(double t)
{
    const double z = t * t;
    static const double p_powers[] = {
        -0.33333333333333331, 0.19999999999999804, -0.14285714285659779, 0.11111111105150588,
        -0.090909087532591124, 0.076922963680422965, -0.066664247602005205, 0.058789275544738069,
        -0.052304436406869478, 0.045515447340221615, -0.034569315063326091, 0.016284375050043393,
    };
    const double p = EDDY_POWERS(p_powers, z);
    return t * (z * p);
}

/* The arc tangent of y / x for 0 <= y <= x, x > 0 and both below 2^1020: beyond tan(pi/8), pi/4
 * plus that of (y - x) / (y + x), where the difference and the sum have two parts. */
EDDY_INLINE double eddy__atan_octant_f64(double y, double x, double *low)
{
    const int    far = y > 0.41421356237309505 * x;
    const double top = y - x, by = y + x, top_low = y - (top + x), by_low = y - (by - x);
    const double t = (far ? top : y) / (far ? by : x), rest = eddy__atan_rest_f64(t);
    const double lost = (top_low - t * by_low) / by + 0.5 * EDDY_HALF_PI_LOW_F64;
    const double base = far ? 0.5 * EDDY_HALF_PI_HIGH_F64 : 0.0, sum = base + t;
    *low = ((base - sum) + t) + (rest + (far ? lost : 0.0));
    return sum;
}

EDDY_INLINE double eddy__atan_f64(double x)
{
    const double u = fabs(x), v = u > 0x1p60 ? 0x1p60 : u;
    const int    far = v > 1.0;
    double       low;
    const double r = eddy__atan_octant_f64(far ? 1.0 : v, far ? v : 1.0, &low);
    const double back = EDDY_HALF_PI_HIGH_F64 - r;
    const double lost = (EDDY_HALF_PI_HIGH_F64 - back) - r;
    const double y = far ? back + ((lost - low) + EDDY_HALF_PI_LOW_F64) : r + low;
    return x == x ? eddy__with_sign_f64(y, x) : x;
}

/* The angle of the point (x, y); at (0, 0) and at infinity as in C. */
EDDY_INLINE double eddy__atan2_f64(double y, double x)
{
    const double u = fabs(x), v = fabs(y), most = u > v ? u : v, least = u > v ? v : u;
    const double scale = most > 0x1p1000 ? 0x1p-60 : 1.0, top = 0x1p1000;
    const double one = most == 0.0 ? 1.0 : most == (double)INFINITY ? top : most * scale;
    const double other = least == (double)INFINITY ? top
                         : most == (double)INFINITY ? 0.0 : least * scale;
    double r, low;
    r = eddy__atan_octant_f64(other, one, &low);
    const double back = EDDY_HALF_PI_HIGH_F64 - r, lost = (EDDY_HALF_PI_HIGH_F64 - back) - r;
    low = v > u ? (lost - low) + EDDY_HALF_PI_LOW_F64 : low;
    r = v > u ? back : r;
    const double pi = 2.0 * EDDY_HALF_PI_HIGH_F64, over = pi - r, less = (pi - over) - r;
    const int    left = (eddy__bits_of_f64(x) & EDDY_SIGN_BIT_F64) != 0;
    const double angle = left ? over + ((less - low) + 2.0 * EDDY_HALF_PI_LOW_F64) : r + low;
    return u == u && v == v ? eddy__with_sign_f64(angle, y) : u + v;
}

/* The root of a^2 + b^2. Infinity if either is infinite, even if the other is NaN. */
EDDY_INLINE double eddy__hypot_f64(double a, double b)
{
    const double u = fabs(a), v = fabs(b), most = u > v ? u : v;
    const double scale = most > 0x1p500 ? 0x1p-600 : most < 0x1p-500 ? 0x1p600 : 1.0;
    const double back = most > 0x1p500 ? 0x1p600 : most < 0x1p-500 ? 0x1p-600 : 1.0;
    const double p = u * scale, q = v * scale, y = sqrt(p * p + q * q) * back;
    return u == (double)INFINITY || v == (double)INFINITY ? (double)INFINITY : y;
}

/* asin s - s where s*s is z, up to 1/4. */
EDDY_INLINE double eddy__asin_rest_f64(double s, double z)
{
    static const double p_powers[] = {
        0.16666666666666669, 0.074999999999984246, 0.04464285714637338, 0.030381944137085216,
        0.022372173002005596, 0.017352391265909227, 0.013971235301124539, 0.011478952690257387,
        0.010324318288744113, 0.0054508781877205502, 0.017419357964884856, -0.014881409392818066,
        0.02877844261259304,
    };
    const double p = EDDY_POWERS(p_powers, z);
    return s * (z * p);
}

/* The rounding error of the root of z. */
EDDY_INLINE double eddy__root_rest_f64(double z, double root)
{
    const double high = eddy__f64_of_bits(eddy__bits_of_f64(root) & 0xfffffffff8000000u);
    const double low = root - high, left = ((z - high * high) - 2.0 * high * low) - low * low;
    return root > 0.0 ? 0.5 * left / root : 0.0;
}

/* Beyond 1/2, pi/2 - 2 asin(sqrt((1 - |x|) / 2)). */
EDDY_INLINE double eddy__asin_f64(double x)
{
    const double u = fabs(x), half = 0.5 * (1.0 - u), s = sqrt(half);
    const int    far = u > 0.5;
    const double rest = eddy__asin_rest_f64(far ? s : u, far ? half : u * u);
    const double top = EDDY_HALF_PI_HIGH_F64 - 2.0 * s;
    const double lost = (EDDY_HALF_PI_HIGH_F64 - top) - 2.0 * s;
    const double low = EDDY_HALF_PI_LOW_F64 - 2.0 * (rest + eddy__root_rest_f64(half, s));
    const double y = far ? top + (lost + low) : u + rest;
    return x == x ? eddy__with_sign_f64(fabs(y), x) : x;
}

EDDY_INLINE double eddy__acos_f64(double x)
{
    const double u = fabs(x), half = 0.5 * (1.0 - u), s = sqrt(half);
    const int    far = u > 0.5;
    const double t = far ? s : x, rest = eddy__asin_rest_f64(t, far ? half : u * u);
    const double near = 2.0 * (s + (rest + eddy__root_rest_f64(half, s)));
    const double base = far ? 2.0 * EDDY_HALF_PI_HIGH_F64 : EDDY_HALF_PI_HIGH_F64;
    const double scale = far ? 2.0 : 1.0, top = base - scale * t;
    const double lost = (base - top) - scale * t;
    const double low = scale * EDDY_HALF_PI_LOW_F64 -
                       scale * (rest + (far ? eddy__root_rest_f64(half, s) : 0.0));
    return far && x > 0.0 ? near : top + (lost + low);
}

/* -------------------------------------------------------------- hyperbolic -- */

/* With t = e^|x| - 1 and q = t / (1 + t), |sinh x| = (t + q) / 2, where the rounding errors of t,
 * 1 + t and t + q are added; 1 / (1 + t) is 1 - q. */
EDDY_INLINE double eddy__sinh_f64(double x)
{
    double n;
    const double u = fabs(x), p = eddy__exp_parts_f64(u > 40.0 ? 40.0 : u, &n);
    const double half = eddy__power_of_2_f64(n - 1.0), a = p * half, b = half - 0.5, sum = a + b;
    const double t = 2.0 * sum, lost = 2.0 * (a - (sum - b)), by = 1.0 + t, q = t / by, y2 = t + q;
    const double rest = lost + (lost - q * (eddy__less_sum_f64(by, t) + lost)) * (1.0 - q);
    const double near = 0.5 * (y2 + ((q - (y2 - t)) + rest));
    const double y = u > 20.0 ? eddy__half_exp_f64(u) : near;
    return u < 0x1p-27 ? x : x == x ? eddy__with_sign_f64(y, x) : x;
}

EDDY_INLINE double eddy__cosh_f64(double x)
{
    const double half = eddy__half_exp_f64(fabs(x));
    return half + 0.25 / half;
}

/* ln(2 u) for a large u > 0. */
EDDY_INLINE double eddy__log_of_double_f64(double u)
{
    double n;
    const double f = eddy__log_parts_f64(u, &n);
    return eddy__log_join_f64(n + 1.0, f);
}

/* ln(1 + u + u*u / (1 + sqrt(u*u + 1))). */
EDDY_INLINE double eddy__asinh_f64(double x)
{
    const double u = fabs(x), v = u > 0x1p28 ? 0x1p28 : u, z = v * v;
    const double near = eddy__log1p_f64(v + z / (1.0 + sqrt(z + 1.0)));
    const double far = u < (double)INFINITY ? eddy__log_of_double_f64(u) : u;
    const double y = eddy__with_sign_f64(u > 0x1p28 ? far : near, x);
    return u < 0x1p-27 || x != x ? x : y;
}

/* With t = x - 1, ln(1 + t + sqrt(t (2 + t))), where 2 + t = v + 1. */
EDDY_INLINE double eddy__acosh_f64(double x)
{
    const double v = x > 0x1p28 ? 0x1p28 : x, t = v - 1.0, by = v + 1.0, by_low = 1.0 - (by - v);
    const double square = t * by, s = sqrt(square), sum = t + s, u = 1.0 + sum;
    const double less = t * by_low - eddy__less_product_f64(square, t, by);
    const double low = eddy__root_rest_f64(square, s) + (s > 0.0 ? 0.5 * less / s : 0.0);
    const double lost = (t - (sum - s)) + low;
    const double near = eddy__log_of_sum_f64(u, eddy__less_sum_f64(u, sum) + lost);
    const double far = x < (double)INFINITY ? eddy__log_of_double_f64(x) : x;
    return x < 1.0 ? (double)NAN : x > 0x1p28 ? far : near;
}

/* ln(1 + 2u / (1 - u)) / 2. */
EDDY_INLINE double eddy__atanh_f64(double x)
{
    const double u = fabs(x), by = 1.0 - u, by_low = (1.0 - by) - u, q = 2.0 * u / by;
    const double low = (eddy__less_product_f64(2.0 * u, q, by) - q * by_low) / by;
    const double sum = 1.0 + q, lost = eddy__less_sum_f64(sum, q) + low;
    const double y = 0.5 * eddy__log_of_sum_f64(sum, lost);
    const double found = u > 1.0 ? (double)NAN : eddy__with_sign_f64(y, x);
    return u < 0x1p-27 || x != x ? x : found;
}

/* ln(x / (1 - x)), as in float32 (vector_elementary.h), with 2^54. */
EDDY_INLINE double eddy__logit_f64(double x)
{
    const double less = x < 0.5 ? x + 0.0 : 1.0 - x;
    const int    tiny = fabs(less) < 0x1p-960;
    const double y = eddy__log1p_f64(fabs(x + x - 1.0) / (tiny ? less * 0x1p54 : less));
    const double whole = tiny ? y + 37.429947750237047 : y;
    return x < 0.5 ? -whole : whole;
}

/* ------------------------------------------------------------- other bases -- */

EDDY_INLINE double eddy__exp2_f64(double x)
{
    x = x > 1025.0 ? 1025.0 : x;
    x = x < -1076.0 ? -1076.0 : x;
    const double n = eddy__rounded_f64(x), d = x - n;
    const double high = d * 0.69314718055994531;
    const double p = eddy__exp_rest_f64(high, d * -2.3190468138462996e-17) + 1.0;
    return eddy__scaled_f64(p, n);
}

/* The logarithm of 1 + f as a part of 21 bits and the rest, so that its product with a constant of
 * as few bits is exact. */
EDDY_INLINE double eddy__log_high_f64(double f, double *low)
{
    const double half_square = 0.5 * f * f, rest = eddy__log_rest_f64(f, half_square);
    const double all = f - half_square;
    const double high = eddy__f64_of_bits(eddy__bits_of_f64(all) & 0xffffffff00000000u);
    *low = ((f - high) - half_square) + rest;
    return high;
}

/* n times a constant, exact, plus the logarithm of 1 + f times base_high + base_low. */
EDDY_INLINE double eddy__log_to_base_f64(double f, double n_high, double n_low, double base_high,
                                         double base_low)
{
    double low, sum, lost;
    const double high = eddy__log_high_f64(f, &low);
    const double part = low * base_high + (low + high) * base_low;
    eddy__exact_sum_f64(n_high, high * base_high, &sum, &lost);
    return sum + (lost + (part + n_low));
}

EDDY_INLINE double eddy__log2_f64(double x)
{
    double n;
    const double f = eddy__log_parts_of_any_f64(x, &n);
    const double y = eddy__log_to_base_f64(f, n, 0.0, 1.4426949024200439, 1.3846891946204741e-07);
    return eddy__log_edges_f64(x, y);
}

/* The first part of the logarithm of 2 has 40 bits. */
EDDY_INLINE double eddy__log10_f64(double x)
{
    double n;
    const double f = eddy__log_parts_of_any_f64(x, &n);
    const double y = eddy__log_to_base_f64(f, n * 0.30102999566315702, n * 8.241712586023572e-13,
                                           0.43429446220397949, 1.9699272335463627e-08);
    return eddy__log_edges_f64(x, y);
}

/* The fraction's root by a polynomial, one step of Halley's method, which triples its 19 bits, and
 * the root of a third of the exponent. */
EDDY_INLINE double eddy__cbrt_f64(double x)
{
    const double   u = fabs(x);
    const int      tiny = u < 0x1p-1022;
    const uint64_t bits = eddy__bits_of_f64(tiny ? u * 0x1p54 : u);
    const double   e = eddy__f64_of_bits(bits >> 52 | 0x4330000000000000u) - (0x1p52 + 1023.0);
    const double   third = eddy__rounded_f64((e - 1.0) * (1.0 / 3.0)), over = e - 3.0 * third;
    const double   m = eddy__f64_of_bits((bits & EDDY_FRACTION_F64) | 0x3ff0000000000000u);
    static const double y_powers[] = {
        0.47514693623890253, 0.83174314424793094, -0.46029772676962089, 0.19665479701360078,
        -0.048318320681661142, 0.0050729533252774914,
    };
    double y = EDDY_POWERS(y_powers, m);
    y *= over == 0.0 ? 1.0 : over == 1.0 ? 1.2599210498948732 : 1.5874010519681994;
    const double wanted = over == 0.0 ? m : over == 1.0 ? 2.0 * m : 4.0 * m, cube = y * y * y;
    y -= y * ((cube - wanted) / (2.0 * cube + wanted));
    const double power = eddy__power_of_2_f64(tiny ? third - 18.0 : third);
    return u > 0.0 && u < (double)INFINITY ? eddy__with_sign_f64(y * power, x) : x;
}

#endif
