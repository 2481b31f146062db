/* special_gamma.h -- log-gamma, polygamma and the zeta function in double precision, for kernels. */
#ifndef EDDY_OPS_KERNELS_SPECIAL_SPECIAL_GAMMA_H
#define EDDY_OPS_KERNELS_SPECIAL_SPECIAL_GAMMA_H

#include "ops/kernels/special/vector_gamma.h"

/* c[0] + c[1] x + ... */
static inline double eddy__polynomial(int n, const double *c, double x)
{
    double y = 0;
    while (n-- > 0) y = y * x + c[n];
    return y;
}

/* -------------------------------------------------------- logarithms -- */

/* In the C libraries of Linux, the BSDs and macOS; lgamma would write to a global variable. */
double lgamma_r(double x, int *sign);

/* ln |gamma(x)|. */
static inline double eddy__ln_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* ln(1 + t) - t without the cancellation at small t.  With r = t / (2 + t) the logarithm is 2 (r +
 * r^3 / 3 + ...). */
static inline double eddy__log1p_minus(double t)
{
    static const double c[] = {
        1. / 3, 1. / 5, 1. / 7, 1. / 9, 1. / 11, 1. / 13, 1. / 15, 1. / 17, 1. / 19, 1. / 21,
        1. / 23, 1. / 25, 1. / 27, 1. / 29, 1. / 31, 1. / 33, 1. / 35,
    };
    if (!(fabs(t) < 0.5)) return eddy__log1p_f64(t) - t;
    const double r = t / (2 + t), z = r * r;
    return r * (2 * z * eddy__polynomial(sizeof c / sizeof *c, c, z) - t);
}

/* ln gamma(x) - ((x - 1/2) ln x - x + ln(2 pi) / 2). */
static inline double eddy__stirling_rest(double x)
{
    static const double c[] = {
        0.083333333333333333, -0.0027777777777777778, 7.9365079365079365e-4,
        -5.9523809523809524e-4, 8.4175084175084175e-4, -0.0019175269175269175,
        0.0064102564102564103, -0.029550653594771242,
    };
    if (x < 10)
        return eddy__lgamma_right_f64(x) -
               ((x - 0.5) * eddy__log_f64(x) - x + EDDY_HALF_LN_2_PI);
    return eddy__polynomial(8, c, 1 / (x * x)) / x;
}

/* ln gamma(1 + x) for x >= 0, accurate also where it is small; the coefficients are (zeta(k) - 1) /
 * k. */
static inline double eddy__lgamma1p(double x)
{
    static const double c[] = {
        0.322467033424113218, -0.0673523010531980951, 0.0205808084277845479,
        -0.00738555102867398527, 0.00289051033074152329, -0.00119275391170326098,
        0.000509669524743042422, -0.00022315475845357938, 9.94575127818085337e-5,
        -4.49262367381331417e-5, 2.05072127756706916e-5, -9.4394882752683959e-6,
        4.3748667899074878e-6, -2.03921575380136624e-6, 9.55141213040741983e-7,
        -4.49246919876456604e-7, 2.12071848055546659e-7, -1.00432248239680996e-7,
        4.76981016936398057e-8, -2.27110946089431649e-8, 1.08386592148969541e-8,
        -5.18347504197004666e-9, 2.48367454380247832e-9, -1.19214014058609121e-9,
        5.73136724167886201e-10, -2.75952288512423315e-10,
    };
    const double one_less_euler = 0.42278433509846713940;
    if (x > 0.5) return eddy__lgamma_right_f64(1 + x);
    return x * (one_less_euler + x * eddy__polynomial(26, c, x)) - eddy__log1p_f64(x);
}

/* --------------------------------------------------------------- zeta -- */

/* The sum of ((q + k) / unit)^-s over k >= 0, for q > 0: nine terms, and the rest by the
 * Euler-Maclaurin formula. */
static inline double eddy__zeta_sum(double s, double q, double unit)
{
    enum { FIRST = 9, REST = 12 };
    static const double c[REST] = {                /* (2k)! / Bernoulli number 2k */
        12, -720, 30240, -1209600, 47900160, -1.8924375803183791606e9, 7.47242496e10,
        -2.950130727918164224e12, 1.1646782814350067249e14, -4.5979787224074726105e15,
        1.8152105401943546773e17, -7.1661652561756670113e18,
    };
    double sum = 0;
    for (int k = 0; k < FIRST; k++) sum += pow((q + k) / unit, -s);
    const double a = q + FIRST, last = pow(a / unit, -s);
    if (!(last > 0)) return sum;
    sum += last * a / (s - 1) + 0.5 * last;
    double factor = s, term = last / a;
    for (int k = 0; k < REST; k++) {
        const double more = factor * term / c[k];
        sum += more;
        if (fabs(more) < 1e-17 * sum) break;
        factor *= (s + 2 * k + 1) * (s + 2 * k + 2);
        term /= a * a;
    }
    return sum;
}

static inline bool eddy__is_even(double s) { return fmod(s, 2) == 0; }

/* Whether q < 0 is half way between integers and s is odd: the two terms next to 0 then cancel. */
static inline bool eddy__zeta_cancels(double s, double q)
{
    return q < 0 && q - floor(q) == 0.5 && !eddy__is_even(s);
}

/* unit^s zeta(s, q) for any q that is not a pole; s must be an integer for q < 0. There the
 * negative terms are those of another such sum, except for their signs. */
static inline double eddy__zeta_in(double s, double q, double unit)
{
    if (q > 0) return eddy__zeta_sum(s, q, unit);
    const double from = q - floor(q), below = ceil(q) - q, sign = eddy__is_even(s) ? 1 : -1;
    const double up = eddy__zeta_sum(s, from, unit), down = sign * eddy__zeta_sum(s, below, unit);
    const double larger = from < below ? up : down;       /* if both are infinite */
    const double near = eddy__zeta_cancels(s, q) ? 0 : isinf(up) && isinf(down) ? larger : up + down;
    return near - sign * eddy__zeta_sum(s, 1 - q, unit);
}

static inline double eddy__zeta_of(double s, double q)
{
    if (isnan(q) || !(s >= 1)) return NAN;
    if (s == 1) return INFINITY;
    if (q <= 0 && s != floor(s)) return NAN;
    if (q <= 0 && q == floor(q)) return eddy__is_even(s) ? INFINITY : NAN;
    return eddy__zeta_in(s, q, 1);
}

/* n! zeta(n + 1, x) where a factor may overflow or underflow: computed in units of the largest
 * term. */
static inline double eddy__factorial_zeta(double n, double x)
{
    const double s = n + 1, least = fmin(x - floor(x), ceil(x) - x);
    const double unit = x > 0 ? x : eddy__zeta_cancels(s, x) ? 1 - x : least;
    const double log_factor = eddy__lgamma_right_f64(s) - s * eddy__log_f64(unit);
    return eddy__exp_f64(log_factor) * eddy__zeta_in(s, x, unit);
}

/* The n-th derivative of digamma, which for n > 0 is n! zeta(n + 1, x) with a sign. */
static inline double eddy__polygamma_of(double n, double x)
{
    if (!(n >= 0) || n != floor(n)) return NAN;
    if (n == 0) return eddy__digamma_f64(x);
    if (n == 1) return eddy__trigamma_f64(x);
    const double zeta = eddy__zeta_of(n + 1, x);
    const bool   within = n < 170 && fabs(zeta) > 1e-280, pole = x <= 0 && x == floor(x);
    const double y = pole || isinf(x) || isinf(zeta) ? zeta
        : within ? tgamma(n + 1) * zeta : eddy__factorial_zeta(n, x);
    return eddy__is_even(n) ? -y : y;
}

#endif
