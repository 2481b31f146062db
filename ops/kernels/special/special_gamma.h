/* special_gamma.h -- log-gamma, digamma, polygamma and the zeta function in double precision, for
 * kernels.
 *
 * For large arguments: asymptotic series in the inverse of the argument with Bernoulli numbers;
 * for smaller ones, recurrences that lead to large ones. */
#ifndef EDDY_OPS_KERNELS_SPECIAL_SPECIAL_GAMMA_H
#define EDDY_OPS_KERNELS_SPECIAL_SPECIAL_GAMMA_H

#include <math.h>
#include <stdbool.h>

#define EDDY_PI            3.14159265358979323846
#define EDDY_HALF_LN_2_PI  0.91893853320467274178

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
    enum { TERMS = 17 };
    if (!(fabs(t) < 0.5)) return log1p(t) - t;
    const double r = t / (2 + t), z = r * r;
    double sum = 0;
    for (int k = TERMS; k > 0; k--) sum = sum * z + 1.0 / (2 * k + 1);
    return r * (2 * z * sum - t);
}

/* ln gamma(x) - ((x - 1/2) ln x - x + ln(2 pi) / 2). */
static inline double eddy__stirling_rest(double x)
{
    static const double c[] = {
        0.083333333333333333, -0.0027777777777777778, 7.9365079365079365e-4,
        -5.9523809523809524e-4, 8.4175084175084175e-4, -0.0019175269175269175,
        0.0064102564102564103, -0.029550653594771242,
    };
    if (x < 10) return eddy__ln_gamma(x) - ((x - 0.5) * log(x) - x + EDDY_HALF_LN_2_PI);
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
    if (x > 0.5) return eddy__ln_gamma(1 + x);
    return x * (one_less_euler + x * eddy__polynomial(26, c, x)) - log1p(x);
}

/* ------------------------------------------------------------ digamma -- */

/* For x from 1 to 2: the distance of x from the root, times a quotient of polynomials (those of
 * Boost). */
static inline double eddy__digamma_1_2(double x)
{
    static const double p[] = {
        0.25479851061131551, -0.32555031186804491, -0.65031853770896507,
        -0.28919126444774784, -0.045251321448739056, -0.0020713321167745952,
    };
    static const double q[] = {
        1, 2.0767117023730469, 1.4606242909763515, 0.43593529692665969,
        0.054151797245674225, 0.0021284987017821144, -0.55789841321675513e-6,
    };
    const double root[] = { 1569415565.0 / 1073741824, 381566830.0 / 1073741824 / 1073741824,
                            0.9016312093258695918615e-19 };
    const double from_root = ((x - root[0]) - root[1]) - root[2];
    const double bend = eddy__polynomial(6, p, x - 1) / eddy__polynomial(7, q, x - 1);
    const double slope = 0.99558162689208984 + bend;
    return from_root * slope;
}

/* The derivative of ln gamma(x); reflected for x < 0, where it has poles. */
static inline double eddy__digamma_of(double x)
{
    static const double c[] = {
        0.083333333333333333, -0.0083333333333333333, 0.0039682539682539683,
        -0.0041666666666666667, 0.0075757575757575758, -0.021092796092796093,
        0.083333333333333333,
    };
    double y = 0;
    if (x == 0) return copysign(INFINITY, -x);
    if (x < 0) {
        if (x == floor(x)) return NAN;
        const double turn = x - rint(x);
        y = -EDDY_PI / tan(EDDY_PI * turn);
        x = 1 - x;
    }
    if (x >= 10) {
        const double z = 1 / (x * x);
        return y + (log(x) - 0.5 / x - z * eddy__polynomial(7, c, z));
    }
    for (; x > 2; y += 1 / x) x -= 1;
    for (; x < 1; x += 1) y -= 1 / x;
    return y + eddy__digamma_1_2(x);
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
    return exp(eddy__ln_gamma(s) - s * log(unit)) * eddy__zeta_in(s, x, unit);
}

/* The derivative of digamma for x > 0: its asymptotic series from 10 on; below, the recurrence, two
 * steps per division. */
static inline double eddy__trigamma_of(double x)
{
    static const double c[] = {                    /* Bernoulli numbers 2, 4, ... */
        0.16666666666666667, -0.033333333333333333, 0.023809523809523810,
        -0.033333333333333333, 0.075757575757575758, -0.25311355311355311,
        1.1666666666666667, -7.0921568627450980,
    };
    double y = 0;
    for (int i = 0; i < 5 && x < 10; i++, x += 2) {
        const double a = x * x, b = (x + 1) * (x + 1);
        y += (a + b) / (a * b);
    }
    const double r = 1 / x, z = r * r;
    return y + (r + z * (0.5 + r * eddy__polynomial(8, c, z)));
}

/* The n-th derivative of digamma, which for n > 0 is n! zeta(n + 1, x) with a sign. */
static inline double eddy__polygamma_of(double n, double x)
{
    if (!(n >= 0) || n != floor(n)) return NAN;
    if (n == 0) return eddy__digamma_of(x);
    if (n == 1 && x > 0) return eddy__trigamma_of(x);
    const double zeta = eddy__zeta_of(n + 1, x);
    const bool   within = n < 170 && fabs(zeta) > 1e-280, pole = x <= 0 && x == floor(x);
    const double y = pole || isinf(x) || isinf(zeta) ? zeta
        : within ? tgamma(n + 1) * zeta : eddy__factorial_zeta(n, x);
    return eddy__is_even(n) ? -y : y;
}

#endif
