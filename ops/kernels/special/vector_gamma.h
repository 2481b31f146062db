/* vector_gamma.h -- ln |gamma|, digamma and its derivative in double precision, without branches,
 * so that a compiler vectorizes them.
 *
 * Each consists of a quotient of polynomials up to 6.5 or 7 and an asymptotic series beyond, with
 * one division for both. Below 1/2, recurrences and reflections lead there. The coefficients, found
 * by interpolation at Chebyshev nodes in 60 digits, have relative errors below 2^-55. The quotients of
 * digamma and its derivative correct terms that are larger, and that have two parts. */
#ifndef EDDY_OPS_KERNELS_SPECIAL_VECTOR_GAMMA_H
#define EDDY_OPS_KERNELS_SPECIAL_VECTOR_GAMMA_H

#include "ops/kernels/elementwise/vector_math_f64.h"

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
 * product is the largest term; the first bits of its factors are multiplied exactly, and half of it does not
 * overflow before the sum does. */
EDDY_INLINE double eddy__lgamma_far_f64(double z, double r, double log_high, double log_low)
{
    static const double c[] = {
        0.08333333333333293, -0.0027777777765338216, 0.0007936501760822151,
        -0.000595125102155557, 0.0008322766080680144, -0.0015391316200399393,
    };
    const double a = 0.5 * z - 0.25, b = log_high - 1, a_high = eddy__high_bits_f64(a);
    const double b_high = eddy__high_bits_f64(b), b_low = log_low + (b - b_high);
    const double constant = 0.5 * EDDY_HALF_LN_2_PI - 0.25;
    return 2 * (a_high * b_high +
                ((a - a_high) * b_high + a * b_low + (constant + 0.5 * r * EDDY_POWERS(c, r * r))));
}

/* a (a - 1) f for a polynomial f in w = (a - 3/4) / (a + 9/4), a from -1/2 to 5/2: products of first
 * bits are exact, w is corrected by its remainder times 1 / (a + 9/4) = (1 - w) / 3, and the first
 * two terms of f and their sums have two parts. */
EDDY_INLINE double eddy__lgamma_near_f64(double a, double w)
{
    static const double c[] = {
        0.04223926491085943, -0.07153357171953582, 0.011122734679033606,
        -0.025870984013478617, 0.0020851301494772536, -0.011543848684123845, -0.0006303507067690194,
        -0.005947751736779888, -0.0013328549844110094, -0.00345335977350542, -0.0013841241275484065,
        -0.00221350983235452, -0.0012168131230272734, -0.0015599077864760765,
        -0.0011912382796085046, -0.0012353288862072195, -0.00046299193573674167,
        -0.0001905538284185494, -0.0009987967458445345, -0.00225615050361787,
        -0.0019301138679899145, -0.0006609933776911644,
    };
    const double first = 0.4501393121092563, slope = -0.35844475987572744, second = w * slope;
    const double sum = first + second, g = w * w * EDDY_POWERS(c, w), f = sum + g;
    const double sum_low = ((first - sum) + second) - eddy__less_product_f64(second, w, slope);
    const double by = a + 2.25, by_low = 2.25 - (by - a), top = a - 0.75, top_low = a - (top + 0.75);
    const double left = eddy__less_product_f64(top, w, by) + (top_low - w * by_low);
    const double f_low = ((sum - f) + g) + (sum_low + (left * (1 - w) * (slope / 3) +
                                                       1.3213392163300129e-17));
    const double b = a - 1, b_low = a - (b + 1);
    const double a_high = eddy__high_bits_f64(a), b_high = eddy__high_bits_f64(b);
    const double high = a_high * b_high;
    const double low = (a - a_high) * b + a_high * (b - b_high) + a * b_low;
    const double y = high * f;
    return y + ((high * f_low + low * f) - eddy__less_product_f64(y, high, f));
}

/* ln |gamma(z)| for z > -1/2: from 0.7 to 7/2, z - 1 and z - 2 times a polynomial. */
EDDY_INLINE double eddy__lgamma_right_f64(double z)
{
    const int    low = z < 0.7, beyond = z >= 3.5, far = z >= 6.5;
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

/* (z - root) (first + g) / (z + 3/4), from 1/2 to 7. Each factor has a second part, and the quotient
 * is corrected by its remainder; by_both is 1 / (q(z) (z + 3/4)), where g = p(z) / q(z). */
EDDY_INLINE double eddy__digamma_near_f64(double z, double p, double q, double by_both)
{
    const double first = 2.375, b = z + 0.75, b_low = 0.75 - (b - z);
    const double a = z - 1.4616321449683622, g = p * (b * by_both), f = first + g;
    const double root = a + (((z - a) - 1.4616321449683622) - 9.549995429965697e-17);
    const double root_low = (((z - a) - 1.4616321449683622) - 9.549995429965697e-17) - (root - a);
    const double top = root * f;
    const double top_low = root * ((first - f) + g) + root_low * f -
                           eddy__less_product_f64(top, root, f);
    const double by = q * by_both, y = top * by;
    return y + (eddy__less_product_f64(top, y, b) + (top_low - y * b_low)) * by;
}

/* The derivative of ln |gamma(x)|. Beside its zeros below 0, the error is small beside 1 only. */
EDDY_INLINE double eddy__digamma_f64(double x)
{
    static const double p[] = {
        19780.36870277254, 3617.5460530459222, -36700.1547822915, -25754.042779620133,
        -3621.7755926162304, 1000.4636765633489, 297.1636377518432, 23.611401733423175,
        0.6025609282292211, 0.003352615750882878,
    };
    static const double q[] = {
        -9.5367431640625e-07, 38548.8303265281, 85450.10484195985, 67574.12566909051,
        24819.00149769262, 4536.730683221194, 406.47201452816915, 16.315284920463636,
        0.23759242205582656, 0.0007178141209145659,
    };
    static const double far_powers[] = {
        0.08333333333333115, -0.008333333325623658, 0.003968249529210889, -0.004165724708086818,
        0.007484156660064866, -0.016849904520829878,
    };
    const int    low = fabs(x) < 0.5, back = x <= -0.5;
    const double z = low ? 1 + x : back ? 1 - x : x;
    const int    far = z >= 7;
    const double q_z = EDDY_POWERS(q, z), r = 1 / (far ? z : q_z * (z + 0.75));
    const double near = eddy__digamma_near_f64(z, EDDY_POWERS(p, z), q_z, r);
    const double less = r * (0.5 + r * EDDY_POWERS(far_powers, r * r));
    double       n;
    const double f = eddy__log_parts_f64(z, &n), half = 0.5 * f * f;
    const double log_rest = eddy__log_rest_f64(f, half) + n * EDDY_LN2_LOW_F64;
    const double right = far ? n * EDDY_LN2_HIGH_F64 - (((half - log_rest) - f) + less) : near;
    const double turn = eddy__from_whole_f64(x), sine = eddy__sin_pi_f64(turn);
    const double cosine = eddy__sin_pi_f64(0.5 - fabs(turn));
    const double pole = (back ? EDDY_PI * cosine : 1) / (back ? sine : x);
    const double pole_low = fabs(x) > 0x1p-900 ? pole * eddy__less_product_f64(1, x, pole) : 0;
    const double y = low ? (right - pole_low) - pole : back ? right - pole : right;
    return back && sine == 0 ? (double)NAN : x == (double)INFINITY ? x : y;
}

/* ----------------------------------------------------------------- trigamma -- */

/* The derivative of digamma: with r = 1 / z, r + r^2 / 2 + ..., where the rest is a series from 7 on and
 * (r + r^2 / 2) p / q below. Up to 3/4, that at 1 + x and the pole 1 / x^2 are added. The errors of r
 * and of the pole are corrected. */
EDDY_INLINE double eddy__trigamma_f64(double x)
{
    static const double p[] = {
        0.9999999955889929, 2.4722639754724325, 2.8135059574104186, 1.8334457663893293,
        0.7156007773595662, 0.15916515065653258, 0.016064763380255722, -7.347980954398834e-12,
    };
    static const double q[] = {
        1.0, 6.472263890177843, 17.41269418768706, 25.801175594452364, 23.32556717800974,
        13.348126718828995, 4.790376738872074, 1.0031852600703055, 0.09638857776790596,
    };
    static const double far_powers[] = {
        0.16666666666666588, -0.033333333329578066, 0.023809520843535024,
        -0.033332448347928124, 0.07563038412232145, -0.24352274207487526, 0.7885465026066979,
    };
    const int    low = x > -0.5 && x < 0.75, back = x <= -0.5;
    const double z = low ? 1 + x : back ? 1 - x : x;
    const int    far = z >= 7;
    const double q_z = far ? 1 : EDDY_POWERS(q, z), by_both = 1 / (z * q_z), r = q_z * by_both;
    const double r_low = z < 0x1p1000 ? r * eddy__less_product_f64(1, z, r) : 0;
    const double half = 0.5 * r * r;
    const double g = EDDY_POWERS(p, z) * (z * by_both);
    const double more = r * r * (r * EDDY_POWERS(far_powers, r * r));
    const double right = r + (half + (far ? more + r_low
                                          : (r + half) * g + r_low * ((1 + r) * (1 + g))));
    const double sine = eddy__sin_pi_f64(eddy__from_whole_f64(x));
    const double at = back ? sine : x, root = (back ? EDDY_PI : 1) / at, pole = root * root;
    const double lost = pole * (2 * eddy__less_product_f64(1, at, root));
    const double y = low ? pole + (right + (pole < (double)INFINITY ? lost : 0)) : back ? pole - right : right;
    return x == -(double)INFINITY ? -x : y;
}

#endif
