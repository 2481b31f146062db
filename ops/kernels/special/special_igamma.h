/* special_igamma.h -- the regularized incomplete gamma functions and their derivatives with
 * respect to the first argument, in double precision, for kernels.
 *
 * P(a, x) below x = a by its power series, Q = 1 - P above it by Legendre's continued fraction;
 * where both take many steps, for a large a near x, by Temme's uniform expansion. A derivative is
 * the coefficient of a power series in the change of a, which is computed by the same
 * recurrences. */
#ifndef EDDY_OPS_KERNELS_SPECIAL_SPECIAL_IGAMMA_H
#define EDDY_OPS_KERNELS_SPECIAL_SPECIAL_IGAMMA_H

#include "ops/kernels/special/special_gamma.h"

#include <float.h>
#include <stdbool.h>

enum { EDDY_IGAMMA_STEPS = 20000 };

/* x^a e^-x / gamma(a + 1) for a between 1/2 and 10, without branches. */
EDDY_INLINE double eddy__igamma_usual_factor(double a, double x)
{
    return eddy__exp_f64(a * eddy__log_f64(x) - x - eddy__lgamma_right_f64(1 + a));
}

/* The same for all a. */
static inline double eddy__igamma_factor(double a, double x)
{
    if (a < 10) return eddy__exp_f64(a * eddy__log_f64(x) - x - eddy__lgamma1p(a));
    const bool   near = fabs(x - a) < 0.4 * a;
    const double power =
        near ? a * eddy__log1p_minus((x - a) / a) : a * eddy__log_f64(x / a) + (a - x);
    return eddy__exp_f64(power - eddy__stirling_rest(a)) / sqrt(2 * EDDY_PI * a);
}

static inline double eddy__igamma_series(double a, double x, double least, double factor)
{
    double term = 1, sum = 1;
    for (int n = 1; n < EDDY_IGAMMA_STEPS && term > least * sum; n++) {
        term *= x / (a + n);
        sum += term;
    }
    return factor * sum;
}

/* By Lentz's method, which evaluates a continued fraction from its beginning. */
static inline double eddy__igammac_fraction(double a, double x, double least, double factor)
{
    double b = x + 1 - a, c = 1e300, d = 1 / b, y = d;
    for (int n = 1; n < EDDY_IGAMMA_STEPS; n++) {
        const double up = -n * (n - a);
        b += 2;
        d = 1 / (up * d + b);
        c = b + up / c;
        y *= c * d;
        if (fabs(c * d - 1) < 4 * least) break;
    }
    return factor * a * y;
}

/* Q for small x and a: 1 - x^a / gamma(1 + a), and a series, without cancellation. */
static inline double eddy__igammac_small(double a, double x)
{
    double term = 1, sum = 0;
    for (int n = 1; n < 100 && fabs(term) > DBL_EPSILON / 4 * fabs(sum); n++) {
        term *= -x / n;
        sum += term / (a + n);
    }
    const double log_part = a * eddy__log_f64(x) - eddy__lgamma1p(a);
    return -eddy__expm1_f64(log_part) - eddy__exp_f64(log_part) * a * sum;
}

/* ------------------------------------------------------------ large a -- */

/* With eta^2 / 2 = l - 1 - ln l, l = x / a, a power series in eta for each power of 1 / a. */
static inline double eddy__temme_sum(double a, double eta)
{
    static const double c0[] = {
        -0.33333333333333333, 0.083333333333333333, -0.014814814814814815,
        0.0011574074074074073, 0.0003527336860670194, -0.0001787551440329218,
        3.919263178522438e-05, -2.185448510679992e-06, -1.85406221071516e-06,
        8.296711340953087e-07, -1.7665952736826078e-07, 6.707853543401498e-09,
        1.0261809784240309e-08, -4.382036018453353e-09, 9.14769958223679e-10,
        -2.5514193994946248e-11, -5.830772132550426e-11, 2.4361948020667415e-11,
    };
    static const double c1[] = {
        -0.001851851851851852, -0.003472222222222222, 0.0026455026455026454,
        -0.0009902263374485596, 0.00020576131687242798, -4.018775720164609e-07,
        -1.8098550334489977e-05, 7.64916091608111e-06, -1.6120900894563446e-06,
        4.647127802807434e-09, 1.378633446915721e-07, -5.752545603517705e-08,
        1.1951628599778148e-08, -1.7543241719747647e-11, -1.0091543710600413e-09,
        4.162792991842583e-10,
    };
    static const double c2[] = {
        0.004133597883597883, -0.0026813271604938273, 0.0007716049382716049,
        2.0093878600823047e-06, -0.0001073665322636516, 5.2923448829120125e-05,
        -1.2760635188618728e-05, 3.423578734096138e-08, 1.3721957309062934e-06,
        -6.298992138380055e-07, 1.4280614206064242e-07, -2.0477098421990866e-10,
        -1.409252991086752e-08, 6.228974084922022e-09,
    };
    static const double c3[] = {
        0.0006494341563786008, 0.00022947209362139917, -0.0004691894943952557,
        0.00026772063206283885, -7.561801671883977e-05, -2.396505113867297e-07,
        1.1082654115347302e-05, -5.6749528269915965e-06, 1.4230900732435883e-06,
        -2.7861080291528143e-11, -1.6958404091930278e-07, 8.099464905388083e-08,
    };
    static const double c4[] = {
        -0.0008618882909167117, 0.0007840392217200666, -0.0002990724803031902,
        -1.4638452578843418e-06, 6.641498215465122e-05, -3.968365047179435e-05,
        1.1375726970678419e-05, 2.507497226237533e-10, -1.6954149536558305e-06,
        8.907507532205309e-07,
    };
    static const double c5[] = {
        -0.00033679855336635813, -6.972813758365857e-05, 0.0002772753244959392,
        -0.00019932570516188847, 6.797780477937208e-05, 1.419062920643967e-07,
        -1.3594048189768693e-05,
    };
    static const double c6[] = {
        0.0005313079364639922, -0.0005921664373536939, 0.0002708782096718045,
        7.902353232660328e-07, -8.153969367561969e-05,
    };
    const double c[] = {
        eddy__polynomial(18, c0, eta), eddy__polynomial(16, c1, eta), eddy__polynomial(14, c2, eta),
        eddy__polynomial(12, c3, eta), eddy__polynomial(10, c4, eta), eddy__polynomial(7, c5, eta),
        eddy__polynomial(5, c6, eta), 0.00034436760689237765,
    };
    return eddy__polynomial(8, c, 1 / a);
}

/* The smaller of P and Q: P if x < a. */
static inline double eddy__temme(double a, double x)
{
    const double change = (x - a) / a, half = -eddy__log1p_minus(change);
    const double eta = copysign(sqrt(2 * half), change), rest = eddy__temme_sum(a, eta);
    const double shared = eddy__exp_f64(-a * half), side = x < a ? -1 : 1;
    return 0.5 * eddy__erfc_f64(sqrt(a * half)) + side * shared * rest / sqrt(2 * EDDY_PI * a);
}

/* ------------------------------------------------------------ P and Q -- */

/* P, or Q if `upper`, for a result of `size` bytes, given eddy__igamma_usual_factor. Of one in
 * float32, smaller terms are left out; 1 less a sum may lose some of the bits. */
static inline double eddy__igamma_to(double a, double x, bool upper, size_t size, double usual)
{
    const double least = size == sizeof(float) ? 0x1p-32 : DBL_EPSILON / 4;
    if (!(a > 0) || !(x >= 0) || (a == INFINITY && x == INFINITY)) return NAN;
    if (x == 0 || a == INFINITY) return upper ? 1 : 0;
    if (x == INFINITY) return upper ? 0 : 1;
    if (a > 100 && fabs(x - a) < 0.4 * a) {
        const double y = eddy__temme(a, x);
        return (x < a) != upper ? y : 1 - y;
    }
    if (upper && x <= 1.1 && (x <= 0.5 ? a < -0.4 / eddy__log_f64(x) : a < 1.1 * x))
        return eddy__igammac_small(a, x);
    const bool   below = x < a + 1;
    const double factor = a > 0.5 && a < 10 ? usual : eddy__igamma_factor(a, x);
    const double y = below ? eddy__igamma_series(a, x, least, factor)
                           : eddy__igammac_fraction(a, x, least, factor);
    return below == upper ? 1 - y : y;
}

static inline double eddy__igamma_of(double a, double x, bool upper)
{
    return eddy__igamma_to(a, x, upper, sizeof(double), eddy__igamma_usual_factor(a, x));
}

/* -------------------------------------------- derivatives by a, up to 3 -- */

enum { EDDY_JET = 4 };

/* A power series in the change of a: the value and the next coefficients. */
typedef struct eddy_jet {
    double c[EDDY_JET];
} eddy_jet;

static inline eddy_jet eddy__jet_mul(eddy_jet x, eddy_jet y)
{
    eddy_jet z = { { 0 } };
    for (int i = 0; i < EDDY_JET; i++)
        for (int j = 0; i + j < EDDY_JET; j++) z.c[i + j] += x.c[i] * y.c[j];
    return z;
}

static inline eddy_jet eddy__jet_div(eddy_jet x, eddy_jet y)
{
    for (int i = 0; i < EDDY_JET; i++) {
        for (int j = 0; j < i; j++) x.c[i] -= x.c[j] * y.c[i - j];
        x.c[i] /= y.c[0];
    }
    return x;
}

/* x (s + t change). */
static inline eddy_jet eddy__jet_by(eddy_jet x, double s, double t)
{
    for (int i = EDDY_JET - 1; i >= 0; i--) x.c[i] = s * x.c[i] + (i > 0 ? t * x.c[i - 1] : 0);
    return x;
}

static inline eddy_jet eddy__jet_plus(eddy_jet x, double s, double t)
{
    x.c[0] += s;
    x.c[1] += t;
    return x;
}

static inline bool eddy__jet_is_small(eddy_jet x, eddy_jet beside)
{
    for (int i = 0; i < EDDY_JET; i++)
        if (!(fabs(x.c[i]) <= DBL_EPSILON / 4 * fabs(beside.c[i]))) return false;
    return true;
}

/* Near x = a, about 9 sqrt(a) terms are significant. */
enum { EDDY_JET_MOST = 100000000 };
static inline int eddy__jet_steps(double a) { return EDDY_IGAMMA_STEPS + (int)(10 * sqrt(a)); }

/* x^a e^-x / gamma(a + 1), the exponential of a jet. */
static inline eddy_jet eddy__igamma_factor_jet(double a, double x)
{
    const double e = eddy__igamma_factor(a, x), b = eddy__log_f64(x) - eddy__digamma_f64(a + 1);
    const double c = -eddy__polygamma_of(1, a + 1) / 2, d = -eddy__polygamma_of(2, a + 1) / 6;
    return (eddy_jet){ { e, e * b, e * (c + b * b / 2), e * (d + b * c + b * b * b / 6) } };
}

static inline eddy_jet eddy__igamma_series_jet(double a, double x)
{
    const int steps = eddy__jet_steps(a);
    eddy_jet  term = { { 1 } }, sum = term;
    for (int n = 1; n < steps; n++) {
        term = eddy__jet_div(term, (eddy_jet){ { (a + n) / x, 1 / x } });
        for (int i = 0; i < EDDY_JET; i++) sum.c[i] += term.c[i];
        if (n > 3 && eddy__jet_is_small(term, sum)) break;
    }
    return eddy__jet_mul(eddy__igamma_factor_jet(a, x), sum);
}

/* The power series of Q. */
static inline eddy_jet eddy__igammac_fraction_jet(double a, double x)
{
    const eddy_jet one = { { 1 } };
    const int steps = eddy__jet_steps(a);
    double   b = x + 1 - a;
    eddy_jet c = { { 1e300 } }, d = eddy__jet_div(one, (eddy_jet){ { b, -1 } }), y = d;
    for (int n = 1; n < steps; n++) {
        const double up = -n * (n - a);
        b += 2;
        d = eddy__jet_div(one, eddy__jet_plus(eddy__jet_by(d, up, n), b, -1));
        c = eddy__jet_plus(eddy__jet_div((eddy_jet){ { up, n } }, c), b, -1);
        const eddy_jet before = y;
        y = eddy__jet_mul(y, eddy__jet_mul(c, d));
        eddy_jet change = y;
        for (int i = 0; i < EDDY_JET; i++) change.c[i] -= before.c[i];
        if (n > 3 && eddy__jet_is_small(change, y)) break;
    }
    return eddy__jet_by(eddy__jet_mul(eddy__igamma_factor_jet(a, x), y), a, 1);
}

/* The derivative of P(a, x) with respect to a, of order 1, 2 or 3. */
static inline double eddy__igamma_grad_of(int order, double a, double x)
{
    const double factorial[EDDY_JET] = { 1, 1, 2, 6 };
    if (!(a > 0) || !(x >= 0) || a > EDDY_JET_MOST) return NAN;
    if (x == 0 || x == INFINITY) return 0;
    const bool     below = x < a + 1;
    const eddy_jet y = below ? eddy__igamma_series_jet(a, x) : eddy__igammac_fraction_jet(a, x);
    return (below ? 1 : -1) * factorial[order] * y.c[order];
}

#endif
