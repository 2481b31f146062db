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
#include "ops/kernels/elementwise/vector_powers.h"

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

/* The first bits of x, so that products of two such numbers are exact. */
EDDY_INLINE double eddy__high_bits_f64(double x)
{
    return eddy__f64_of_bits(eddy__bits_of_f64(x) & 0xfffffffff8000000u);
}

/* x - y z for y z near x: the products of the first bits are exact. */
EDDY_INLINE double eddy__less_product_f64(double x, double y, double z)
{
    const double y_high = eddy__high_bits_f64(y), y_low = y - y_high;
    const double z_high = eddy__high_bits_f64(z), z_low = z - z_high;
    return ((x - y_high * z_high) - y_high * z_low - y_low * z_high) - y_low * z_low;
}

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

/* x 2^n for a whole n up to 2 1023, in two steps, since 2^n may not be a normal number itself. */
EDDY_INLINE double eddy__scaled_f64(double x, double n)
{
    const uint64_t all = eddy__bits_of_f64(n + (EDDY_ROUND_F64 + 2046.0)), half = all >> 1;
    return x * eddy__f64_of_bits(half << 52) * eddy__f64_of_bits((all - half) << 52);
}

/* ln 2 in two parts, the first of 33 bits, so that multiples of it are exact. */
#define EDDY_LN2_HIGH_F64 0.69314718048553914
#define EDDY_LN2_LOW_F64  7.4406171100123968e-11

/* ------------------------------------------------------------ exponentials -- */

/* (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2. */
EDDY_INLINE double eddy__exp_curve_f64(double r)
{
    static const double powers[] = {
        0.5, 0.16666666666666669, 0.041666666666666664, 0.0083333333333300615,
        0.0013888888888886552, 0.00019841269863053618, 2.4801587317144498e-05,
        2.7557268459997064e-06, 2.7557282969549951e-07, 2.510038549551032e-08,
        2.0911236630261545e-09,
    };
    return EDDY_POWERS(powers, r);
}

/* e^r - 1 for r = high - low, |r| <= ln 2 / 2, where low is less than the rounding error of a few
 * operations on high. */
EDDY_INLINE double eddy__exp_rest_f64(double high, double low)
{
    const double r = high - low;
    return high - (low - r * r * eddy__exp_curve_f64(r));
}

/* x = n ln 2 + r with |r| <= ln 2 / 2; returns e^r - 1. */
EDDY_INLINE double eddy__exp_parts_f64(double x, double *n)
{
    *n = eddy__rounded_f64(x * 1.4426950408889634);
    return eddy__exp_rest_f64(x - *n * EDDY_LN2_HIGH_F64, *n * EDDY_LN2_LOW_F64);
}

/* e^x up to x = 710: 1 + r has two parts. */
EDDY_INLINE double eddy__exp_below_f64(double x)
{
    const double n = eddy__rounded_f64(x * 1.4426950408889634);
    const double high = x - n * EDDY_LN2_HIGH_F64, low = n * EDDY_LN2_LOW_F64, r = high - low;
    const double first = 1.0 + high, left = (high - (first - 1.0)) - low;
    const double y = first + (r * r * eddy__exp_curve_f64(r) + left);
    return x < -746.0 ? 0.0 : eddy__scaled_f64(y, n);
}

EDDY_INLINE double eddy__exp_f64(double x)
{
    const double y = eddy__exp_below_f64(x);
    return x > 710.0 ? (double)INFINITY : y;
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

/* With t = e^(-2|x|) - 1, |tanh x| = -t / (2 + t), where the rounding errors of t and 2 + t are added
 * times the middle of 1 / (2 + t); beyond 0.55, 1 - 2 (1 + t) / (2 + t). */
EDDY_INLINE double eddy__tanh_f64(double x)
{
    double n;
    const double u = fabs(x), v = u > 20.0 ? 20.0 : u, p = eddy__exp_parts_f64(-2.0 * v, &n);
    const double half = eddy__power_of_2_f64(n - 1.0), a = p * half, b = half - 0.5, sum = a + b;
    const double t = 2.0 * sum, by = 2.0 + t, lost = 2.0 * (a - (sum - b)), by_lost = t - (by - 2.0);
    const int    far = u > 0.55;
    const double y = (far ? (4.0 * half) * (1.0 + p) : -t) / by;
    const double near = y - 0.62 * (lost + y * (by_lost + lost));
    return u < 0x1p-54 ? x : eddy__with_sign_f64(fabs(far ? 1.0 - y : near), x);
}

/* 1 / (1 + e^-x), from e^-|x|, which does not overflow. Below 0, where the quotient may have most of its
 * digits set, the rounding error of the sum is too large. */
EDDY_INLINE double eddy__sigmoid_f64(double x)
{
    const double e = eddy__exp_below_f64(-fabs(x)), sum = 1.0 + e, lost = e - (sum - 1.0);
    const double y = (x < 0.0 ? e : 1.0) / sum;
    return x < 0.0 ? y - y * lost : y;
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
    static const double p_powers[] = {
        0.66666666666666663, 0.40000000000000879, 0.28571428570803231, 0.2222222239180047,
        0.18181795630884753, 0.15386240205813478, 0.13268759668560612, 0.13086767009948175,
    };
    const double p = EDDY_POWERS(p_powers, z);
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

/* ln(u + low) for a low of some roundings of u, which is scaled like u and added to f. */
EDDY_INLINE double eddy__log_of_sum_f64(double u, double low)
{
    double n;
    const double f = eddy__log_parts_f64(u, &n);
    const double part = n > 60.0 ? 0.0 : low * eddy__power_of_2_f64(n > 60.0 ? 0.0 : -n);
    return eddy__log_edges_f64(u, eddy__log_join_f64(n, f + part));
}

/* The rounding error of u = 1 + x. */
EDDY_INLINE double eddy__less_sum_f64(double u, double x)
{
    return x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
}

EDDY_INLINE double eddy__log1p_f64(double x)
{
    const double u = 1.0 + x, y = eddy__log_of_sum_f64(u, eddy__less_sum_f64(u, x));
    return fabs(x) < 0x1p-54 ? x : y;
}

/* ln(1 + e^x) for x <= 0, where n is 0 or 1. */
EDDY_INLINE double eddy__log1p_exp_f64(double x)
{
    double n;
    const double e = eddy__exp_below_f64(x), u = 1.0 + e, lost = e - (u - 1.0);
    const double f = eddy__log_parts_f64(u, &n);
    return eddy__log_join_f64(n, f + lost * (1.0 - 0.5 * n));
}

/* ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|). */
EDDY_INLINE double eddy__softplus_f64(double x)
{
    return (x > 0.0 ? x : 0.0) + eddy__log1p_exp_f64(-fabs(x));
}

/* --------------------------------------------------- error function, gelu -- */

/* e^(-scale x*x) = (1 + the result) 2^n for a scale of 1 or 1/2 and |x| up to 40. The square of the
 * first 26 bits of x is exact, and the remainder of the square is added to the rest of the
 * reduction. */
EDDY_INLINE double eddy__gauss_parts_f64(double x, double scale, double *n)
{
    const double high = eddy__high_bits_f64(x), less = scale * (x - high) * (x + high);
    const double square = -scale * high * high;
    *n = eddy__rounded_f64(square * 1.4426950408889634);
    return eddy__exp_rest_f64(square - *n * EDDY_LN2_HIGH_F64, *n * EDDY_LN2_LOW_F64 + less);
}

/* (first + more) (1 + part) / (1 + v) as the result + *low. */
EDDY_INLINE double eddy__tail_quotient_f64(double first, double more, double part, double v,
                                           double *low)
{
    const double q = first + more, added = q * part, top = q + added;
    const double rest = ((first - q) + more) * (1.0 + part) - eddy__less_product_f64(added, q, part);
    const double by = 1.0 + v, by_low = v < 1.0 ? v - (by - 1.0) : 1.0 - (by - v);
    const double inverse = 1.0 / by, y = top * inverse;
    const double left = eddy__less_product_f64(top, y, by) - y * by_low;
    *low = (left + (((q - top) + added) + rest)) * inverse;
    return y;
}

/* For u >= 0, e^(u*u) (1 - erf u) is q / (1 + u), and q, between 0.56 and 1, a polynomial in
 * (3 - u) / (3 + u), whose relative error is below 2^-55: this and its first term. The curve is
 * steep near u = 0, where the argument has the rounding error of one difference. */
#define EDDY_ERFC_FIRST_F64 0.7160046047255598
EDDY_INLINE double eddy__erfc_more_f64(double u)
{
    static const double powers[] = {
        0.23092733308380903, 0.09902075367944152, 0.010235388899028329, -0.023803913108733823,
        -0.021957764013331795, -0.009750689291634421, -0.001618569116902844,
        0.0006458141928859357, 0.0003672883948538694, -2.0551546312810383e-05,
        -5.611893889965842e-05, -1.5146395561500665e-06, 8.988608999546634e-06,
        2.614321008432706e-07, -1.5854992547137853e-06, 5.910090751550517e-08,
        2.886393836341591e-07, -4.4428126680848246e-08, -4.650757569109732e-08,
        1.3663128832371395e-08, 4.6769086944930105e-09, -2.00667897005419e-09,
    };
    const double x = 1.0 - 2.0 * u / (3.0 + u);
    return x * EDDY_POWERS(powers, x) - 2.727671729816135e-17;
}

/* 1 - erf u for u up to 28 as (result + *low) 2^n. */
EDDY_INLINE double eddy__erfc_tail_f64(double u, double *low, double *n)
{
    const double part = eddy__gauss_parts_f64(u, 1.0, n);
    return eddy__tail_quotient_f64(EDDY_ERFC_FIRST_F64, eddy__erfc_more_f64(u), part, u, low);
}

/* e^(u*u) (1 - erf u) for u >= 0, as the result + *low. */
EDDY_INLINE double eddy__erfcx_f64(double u, double *low)
{
    return eddy__tail_quotient_f64(EDDY_ERFC_FIRST_F64, eddy__erfc_more_f64(u), 0.0, u, low);
}

/* In the same way, for v >= 0, e^(v*v/2) times half of 1 - erf(v / root 2) is q / (1 + v). */
EDDY_INLINE double eddy__ndtr_more_f64(double v)
{
    static const double powers[] = {
        0.08502536230577072, 0.03981142456242984, 0.004373386779593197, -0.01614151733219829,
        -0.022592467062781882, -0.019766479219951723, -0.013246864154033566,
        -0.0070598194212563095, -0.0029356555176917754, -0.0008689946645419919,
        -0.00011948965709109616, 3.779489802027894e-05, 2.6353398780145258e-05,
        4.412411864415075e-06, -1.7838238075215458e-06, -9.995976403454122e-07,
        4.4630193368829833e-10, 1.3237043956478682e-07, 2.0014677571310482e-08,
        -1.5637526236278354e-08, -2.9383804364896947e-09, 1.5678955663233563e-09,
    };
    const double x = 1.0 - 2.0 * v / (6.0 + v);
    return x * EDDY_POWERS(powers, x) - 1.126322663767428e-17;
}
#define EDDY_NDTR_FIRST_F64 0.45345520027112796

/* The normal distribution function at -v for v from 0 to 40, as (result + *low) 2^n. */
EDDY_INLINE double eddy__ndtr_tail_f64(double v, double *low, double *n)
{
    const double part = eddy__gauss_parts_f64(v, 0.5, n);
    return eddy__tail_quotient_f64(EDDY_NDTR_FIRST_F64, eddy__ndtr_more_f64(v), part, v, low);
}

/* erf x up to 0.85. */
EDDY_INLINE double eddy__erf_near_f64(double x)
{
    const double z = x * x;
    static const double p_powers[] = {
        0.12837916709551259, -0.37612638903183754, 0.11283791670955118, -0.026866170645128879,
        0.0052239776254045765, -0.00085483270199006062, 0.00012055332766501479,
        -1.4925641599796734e-05, 1.6461870018745888e-06, -1.6361150059788041e-07,
        1.4745948090565165e-08, -1.1769026546511048e-09, 6.7595192576037562e-11,
    };
    const double p = EDDY_POWERS(p_powers, z);
    return x + x * p;
}

/* erf x: from 0.85 on, 1 less what is small, so that simpler arithmetic suffices; 1 beyond 6. */
EDDY_INLINE double eddy__erf_f64(double x)
{
    static const double powers[] = {
        0.12235676308240431, -0.09902453957359833, -0.15762991902322648, -0.10296705603898737,
        -0.032760893267711796, 0.0009318928359610607, 0.004382078294964212,
        0.0004918654127404668, -0.0006321232666083335, -8.84747768334704e-05,
        0.00011350856155715798, 6.241346266481008e-06, -2.260182159443248e-05,
        2.652933806273037e-06, 3.858965768203223e-06, -1.4468406722681215e-06,
    };
    const double u = fabs(x), v = u > 6.0 ? 6.0 : u, y = (2.5 - v) / (2.5 + v);
    double n;
    const double part = eddy__gauss_parts_f64(v, 1.0, &n), q = 1.2648381843668615 + y * EDDY_POWERS(powers, y);
    const double tail = (q + q * part) / (1.0 + 2.0 * v) * eddy__power_of_2_f64(n);
    const double all = u < 0.85 ? eddy__erf_near_f64(x) : eddy__with_sign_f64(1.0 - tail, x);
    return x == x ? all : x;
}

/* 1 - erf x with a small relative error. */
EDDY_INLINE double eddy__erfc_f64(double x)
{
    double n, low;
    const double u = fabs(x), v = u > 28.0 ? 28.0 : u, high = eddy__erfc_tail_f64(v, &low, &n);
    const double tail = eddy__scaled_f64(high + low, n), y = x < 0.0 ? 2.0 - tail : tail;
    return x == x ? y : x;
}

/* The normal distribution function at x. */
EDDY_INLINE double eddy__ndtr_f64(double x)
{
    double n, low;
    const double u = fabs(x), v = u > 40.0 ? 40.0 : u, high = eddy__ndtr_tail_f64(v, &low, &n);
    const double tail = eddy__scaled_f64(high + low, n), y = x < 0.0 ? tail : 1.0 - tail;
    return x == x ? y : x;
}

/* x times the normal distribution function at x, an exact product; -infinity times 0 is NaN. */
EDDY_INLINE double eddy__gelu_f64(double x)
{
    double n, low;
    const double u = fabs(x), v = u > 40.0 ? 40.0 : u, high = eddy__ndtr_tail_f64(v, &low, &n);
    const double all = v * high, more = v * low - eddy__less_product_f64(all, v, high);
    const double part = eddy__scaled_f64(all + more, n), y = x < 0.0 ? -part : x - part;
    return x == x && x != -(double)INFINITY ? y : (double)NAN;
}

/* Its derivative: the distribution function plus x times the density. */
EDDY_INLINE double eddy__gelu_slope_f64(double x)
{
    double n;
    const double u = fabs(x), v = u > 40.0 ? 40.0 : u, part = eddy__gauss_parts_f64(v, 0.5, &n);
    const double bell = eddy__scaled_f64(1.0 + part, n);
    const double tail = (EDDY_NDTR_FIRST_F64 + eddy__ndtr_more_f64(v)) / (1.0 + v) * bell;
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
    const double e = eddy__exp_below_f64(-fabs(u)), s = 1.0 / (1.0 + e);
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
