/* vector_gamma.h -- ln |gamma|, digamma and its derivative in double precision, without branches,
 * so that a compiler vectorizes them.
 *
 * Each consists of a quotient of polynomials up to 6.5 or 7 and an asymptotic series beyond, with
 * one division for both. Below 1/2, recurrences and reflections lead there. The coefficients, found
 * by interpolation at Chebyshev nodes in 60 digits, have relative errors below 2^-55. */
#ifndef EDDY_OPS_KERNELS_SPECIAL_VECTOR_GAMMA_H
#define EDDY_OPS_KERNELS_SPECIAL_VECTOR_GAMMA_H

#include "ops/kernels/elementwise/vector_math_f64.h"
#include "ops/kernels/elementwise/vector_powers.h"

#include <math.h>
#include <stdbool.h>

#define EDDY_PI            3.14159265358979323846
#define EDDY_HALF_LN_2_PI  0.91893853320467274178

/* x less the nearest integer. The first step leads to numbers up to 1, also where x is too large to
 * be rounded by an addition. */
EDDY_INLINE double eddy__from_whole_f64(double x)
{
    const double half = 0.5 * x, y = 2 * (half - eddy__rounded_f64(half));
    return y - eddy__rounded_f64(y);
}

/* The sine of pi r for |r| <= 1/2. */
EDDY_INLINE double eddy__sin_pi_f64(double r)
{
    static const double c[] = {
        3.141592653589793, -5.167712780049969, 2.5501640398773007, -0.5992645293189447,
        0.0821458865731029, -0.007370430505916944, 0.0004662998161898394, -2.1903497074626018e-05,
        7.697826768224191e-07,
    };
    return r * EDDY_POWERS(c, r * r);
}

/* The first bits of x, so that products of two such numbers are exact. */
EDDY_INLINE double eddy__high_bits_f64(double x)
{
    return eddy__f64_of_bits(eddy__bits_of_f64(x) & 0xfffffffff8000000u);
}

/* ------------------------------------------------------------------- lgamma -- */

/* ln x = *high + the result for a normal x > 0, and 0 for 0; *high has at most 44 bits. */
EDDY_INLINE double eddy__log_low_f64(double x, double *high)
{
    double n;
    const double f = eddy__log_parts_of_any_f64(x, &n), half_square = 0.5 * f * f;
    *high = n * EDDY_LN2_HIGH_F64;
    return f - (half_square - (eddy__log_rest_f64(f, half_square) + n * EDDY_LN2_LOW_F64));
}

/* By Stirling's formula, (z - 1/2) (ln z - 1) + (ln(2 pi) - 1) / 2 + r p(r^2), r = 1 / z. The
 * product is the largest term; the first bits of its factors are multiplied exactly. */
EDDY_INLINE double eddy__lgamma_far_f64(double z, double r, double log_high, double log_low)
{
    static const double c[] = {
        0.08333333333333293, -0.0027777777765338216, 0.0007936501760822151,
        -0.000595125102155557, 0.0008322766080680144, -0.0015391316200399393,
    };
    const double a = z - 0.5, b = log_high - 1, a_high = eddy__high_bits_f64(a);
    const double b_high = eddy__high_bits_f64(b), b_low = log_low + (b - b_high);
    const double constant = EDDY_HALF_LN_2_PI - 0.5;
    return a_high * b_high +
           ((a - a_high) * b_high + a * b_low + (constant + r * EDDY_POWERS(c, r * r)));
}

/* a (a - 1) f for a polynomial f in w = (a - 3/4) / (a + 9/4), a from -1/2 to 5/2: the product of
 * the first bits is exact, and the constant of f and its sum with the rest have two parts. */
EDDY_INLINE double eddy__lgamma_near_f64(double a, double w)
{
    static const double c[] = {
        -0.35844475987572744, 0.04223926491085943, -0.07153357171953582, 0.011122734679033606,
        -0.025870984013478617, 0.0020851301494772536, -0.011543848684123845, -0.0006303507067690194,
        -0.005947751736779888, -0.0013328549844110094, -0.00345335977350542, -0.0013841241275484065,
        -0.00221350983235452, -0.0012168131230272734, -0.0015599077864760765,
        -0.0011912382796085046, -0.0012353288862072195, -0.00046299193573674167,
        -0.0001905538284185494, -0.0009987967458445345, -0.00225615050361787,
        -0.0019301138679899145, -0.0006609933776911644,
    };
    const double first = 0.4501393121092563, g = w * EDDY_POWERS(c, w), f = first + g;
    const double f_low = ((first - f) + g) + 1.3213392163300129e-17;
    const double b = a - 1, b_low = a - (b + 1);
    const double a_high = eddy__high_bits_f64(a), b_high = eddy__high_bits_f64(b);
    const double high = a_high * b_high;
    const double low = (a - a_high) * b + a_high * (b - b_high) + a * b_low;
    return high * f + (high * f_low + low * f);
}

/* ln |gamma(z)| for z > -1/2: from 3/4 to 7/2, z - 1 and z - 2 times a polynomial. */
EDDY_INLINE double eddy__lgamma_right_f64(double z)
{
    const int    low = z < 0.75, beyond = z >= 3.5, far = z >= 6.5;
    const double a = low ? z : z - (beyond ? 4.0 : 1.0);
    const double steps = low ? fabs(z) : beyond ? (z - 1) * (z - 2) * (z - 3) : 1;
    const double ratio = (far ? 1 : a - 0.75) / (far ? z : a + 2.25);
    double       high;
    const double rest = eddy__log_low_f64(far ? z : steps, &high);
    const double part = eddy__lgamma_near_f64(a, ratio) + (low ? -rest : rest);
    const double near = (low ? -high : high) + part;
    const double y = far ? eddy__lgamma_far_f64(z, ratio, high, rest) : near;
    return z == 0 || z == (double)INFINITY ? (double)INFINITY : y;
}

/* ln |gamma(x)|. Beside its zeros below -2, the error is small beside 1 only. */
EDDY_INLINE double eddy__lgamma_f64(double x)
{
    const int    back = x <= -0.5;
    const double sine = fabs(eddy__sin_pi_f64(eddy__from_whole_f64(x))) * (1 / EDDY_PI);
    const double right = eddy__lgamma_right_f64(back ? 1 - x : x);
    double       high;
    const double rest = eddy__log_low_f64(back ? sine : 1, &high);
    const double y = back ? -(right + (high + rest)) : right;
    return (back && sine == 0) || x == -(double)INFINITY ? (double)INFINITY : y;
}

/* ------------------------------------------------------------------ digamma -- */

/* The derivative of ln |gamma(x)|: from 1/2 to 7, the distance from the root times p / q. Beside
 * its zeros below 0, the error is small beside 1 only. */
EDDY_INLINE double eddy__digamma_f64(double x)
{
    static const double p[] = {
        3907573007617.1255, 13994471392052.195, 16088435423318.973, 8392662531465.916,
        2218630717597.6504, 302556808333.05774, 20249492312.704758, 579557969.3186442,
        5059788.777203294, 2310.5146896390524,
    };
    static const double q[] = {
        1.0, 5711434316725.4375, 13250466874328.979, 11267458815139.727, 4605471501724.538,
        979838873593.1958, 108531420766.16333, 5869623658.961362, 132492262.14482266,
        845454.2824862122,
    };
    static const double far_powers[] = {
        0.08333333333333115, -0.008333333325623658, 0.003968249529210889, -0.004165724708086818,
        0.007484156660064866, -0.016849904520829878,
    };
    const int    low = fabs(x) < 0.5, back = x <= -0.5;
    const double z = low ? 1 + x : back ? 1 - x : x;
    const int    far = z >= 7;
    const double r = (far ? 1 : EDDY_POWERS(p, z)) / (far ? z : EDDY_POWERS(q, z));
    const double from_root = (z - 1.4616321449683622) - 9.549995429965697e-17;
    const double less = r * (0.5 + r * EDDY_POWERS(far_powers, r * r));
    double       n;
    const double f = eddy__log_parts_f64(z, &n), log = eddy__log_join_f64(n, f);
    const double right = far ? log - less : from_root * r;
    const double turn = eddy__from_whole_f64(x), sine = eddy__sin_pi_f64(turn);
    const double cosine = eddy__sin_pi_f64(0.5 - fabs(turn));
    const double pole = (back ? EDDY_PI * cosine : 1) / (back ? sine : x);
    const double y = low || back ? right - pole : right;
    return back && sine == 0 ? (double)NAN : x == (double)INFINITY ? x : y;
}

/* ----------------------------------------------------------------- trigamma -- */

/* The derivative of digamma: from 1/2 to 7, p / (z^2 q). */
EDDY_INLINE double eddy__trigamma_f64(double x)
{
    static const double p[] = {
        1.0000000002989562, 4.403143168632398, 9.820589776448134, 13.189903162993938,
        11.221583859783385, 6.12562635861693, 2.100253335367747, 0.41754278481451246,
        0.037467812935757065,
    };
    static const double q[] = {
        1.0, 4.403143173712831, 8.17565566834587, 8.351136976361282, 5.11185611461476,
        1.8946042587675067, 0.3988088784188624, 0.037467812934487414,
    };
    static const double far_powers[] = {
        0.16666666666666588, -0.033333333329578066, 0.023809520843535024,
        -0.033332448347928124, 0.07563038412232145, -0.24352274207487526, 0.7885465026066979,
    };
    const int    low = fabs(x) < 0.5, back = x <= -0.5;
    const double z = low ? 1 + x : back ? 1 - x : x;
    const int    far = z >= 7;
    const double r = (far ? 1 : EDDY_POWERS(p, z)) / (far ? z : z * z * EDDY_POWERS(q, z));
    const double more = r * r * (0.5 + r * EDDY_POWERS(far_powers, r * r));
    const double right = far ? r + more : r, sine = eddy__sin_pi_f64(eddy__from_whole_f64(x));
    const double pole = (back ? EDDY_PI * EDDY_PI : 1) / (back ? sine * sine : x * x);
    const double y = low ? pole + right : back ? pole - right : right;
    return x == -(double)INFINITY ? -x : y;
}

#endif
