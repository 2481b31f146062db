/* exact_special.c -- see exact.h: error functions and their inverses, gamma, beta and Bessel
 * functions. What MPFR lacks is a power series, or an asymptotic one far out. */
#include "tests/hunt/exact.h"

#include <math.h>
#include <string.h>

static num number(double x) { return exact_number(x); }
static num add(num a, num b) { return exact_add(a, b); }
static num sub(num a, num b) { return exact_sub(a, b); }
static num mul(num a, num b) { return exact_mul(a, b); }
static num divided(num a, num b) { return exact_div(a, b); }
static num times(double c, num x) { return mul(number(c), x); }
static num square(num x) { return mul(x, x); }
static num neg(num x) { return sub(number(0), x); }

#define CALLED(name, call)                                                      \
    static num name(num x)                                                      \
    {                                                                           \
        const num y = number(0);                                                \
        call(y, x, MPFR_RNDN);                                                  \
        return y;                                                               \
    }
CALLED(erf_, mpfr_erf)
CALLED(erfc_, mpfr_erfc)
CALLED(digamma_, mpfr_digamma)
CALLED(ln_gamma, mpfr_lngamma)
CALLED(log1p_, mpfr_log1p)

static num pi(void)
{
    const num y = number(0);
    mpfr_const_pi(y, MPFR_RNDN);
    return y;
}

/* Whether a term no longer counts. */
static bool is_small(num term, num sum)
{
    if (!mpfr_number_p(term) || !mpfr_number_p(sum) || mpfr_zero_p(term)) return true;
    return !mpfr_zero_p(sum) && mpfr_get_exp(term) < mpfr_get_exp(sum) - exact_bits() - 8;
}

/* --------------------------------------------------------- error functions -- */

/* e^(x^2) erfc x = (1 - 1 / (2 x^2) + 3 / (2 x^2)^2 - ...) / (x sqrt pi) */
static num erfcx(num x)
{
    if (mpfr_cmp_d(x, 300) < 0) return mul(exact_exp(square(x)), erfc_(x));
    const num t = divided(number(0.5), square(x));
    num sum = number(1), term = number(1);
    for (int k = 1; k < 20000 && !is_small(term, sum); k++) {
        term = mul(times(-(2.0 * k - 1), term), t);
        sum = add(sum, term);
    }
    return divided(sum, mul(x, exact_sqrt(pi())));
}

static num ndtr(num x) { return times(0.5, erfc_(neg(divided(x, exact_sqrt(number(2)))))); }
static num log_ndtr(num x)
{
    const num t = divided(x, exact_sqrt(number(2)));
    if (mpfr_sgn(x) >= 0) return log1p_(times(-0.5, erfc_(t)));
    return sub(exact_log(times(0.5, erfcx(neg(t)))), square(t));
}

/* The x with erfc x = p, by Newton's method from a number in double precision. */
static num erfc_inverse(num p)
{
    if (mpfr_sgn(p) <= 0 || mpfr_cmp_d(p, 2) >= 0)
        return number(mpfr_zero_p(p) ? INFINITY : mpfr_cmp_d(p, 2) == 0 ? -INFINITY : NAN);
    const double about = mpfr_get_d(p, MPFR_RNDN);
    double low = -28, high = 28;
    for (int i = 0; i < 60; i++) {
        const double at = 0.5 * (low + high);
        if (erfc(at) > about) low = at;
        else high = at;
    }
    num x = number(0.5 * (low + high));
    const int all = exact_set_bits(200);
    for (int bits = 200; bits < 4 * all; bits *= 2) {
        exact_set_bits(bits < all ? bits : all);
        const num error = sub(erfc_(x), p);
        const num slope = times(2, divided(exact_exp(neg(square(x))), exact_sqrt(pi())));
        x = add(x, divided(error, slope));
    }
    exact_set_bits(all);
    return x;
}
static num erf_inverse(num x) { return erfc_inverse(sub(number(1), x)); }
static num ndtr_inverse(num p)
{
    return neg(mul(exact_sqrt(number(2)), erfc_inverse(times(2, p))));
}

/* e^(-x^2) times the sum of x^(2k+1) / (k! (2k+1)); far out 1 / (2 x) (1 + 1 / (2 x^2) + ...). */
static num dawsn(num x)
{
    const bool far = mpfr_cmpabs(x, number(100)) > 0;
    const num  z = square(x), t = divided(number(0.5), z);
    num sum = number(1), term = number(1);
    for (int k = 1; k < 200000; k++) {
        term = far ? mul(times(2.0 * k - 1, term), t) : divided(mul(term, z), number(k));
        const num next = far ? term : divided(term, number(2.0 * k + 1));
        sum = add(sum, next);
        if (is_small(next, sum)) break;
    }
    return far ? divided(times(0.5, sum), x) : mul(mul(x, sum), exact_exp(neg(z)));
}

/* ------------------------------------------------------------ gamma, beta -- */

/* x^a e^-x times the sum of x^k / gamma(a + k + 1). */
static num igamma(num a, num x)
{
    if (mpfr_sgn(a) <= 0 || mpfr_sgn(x) < 0 || mpfr_cmp_d(x, 2000) > 0) return number(NAN);
    if (mpfr_zero_p(x)) return number(0);
    num term = divided(number(1), a), sum = term;
    for (int k = 1; k < 200000; k++) {
        term = divided(mul(term, x), add(a, number(k)));
        sum = add(sum, term);
        if (is_small(term, sum)) break;
    }
    return mul(sum, exact_exp(sub(sub(mul(a, exact_log(x)), x), ln_gamma(a))));
}

/* x^a (1 - x)^b / (a B(a, b)) (1 + sum of (a + b) ... (a + b + k - 1) / ((a + 1) ... (a + k))
 * x^k), of the smaller of x and 1 - x. */
static num betainc(num a, num b, num x)
{
    const num rest = sub(number(1), x);
    if (mpfr_sgn(x) < 0 || mpfr_sgn(rest) < 0) return number(NAN);
    if (mpfr_zero_p(x)) return number(0);
    if (mpfr_cmp_d(x, 0.5) > 0) return sub(number(1), betainc(b, a, rest));
    num term = number(1), sum = number(1);
    for (int k = 1; k < 200000; k++) {
        term = divided(mul(mul(term, x), add(add(a, b), number(k - 1))), add(a, number(k)));
        sum = add(sum, term);
        if (is_small(term, sum)) break;
    }
    const num beta = sub(add(ln_gamma(a), ln_gamma(b)), ln_gamma(add(a, b)));
    const num powers = add(mul(a, exact_log(x)), mul(b, exact_log(rest)));
    return divided(mul(sum, exact_exp(sub(powers, beta))), a);
}

/* ------------------------------------------------------------------ Bessel -- */

/* I of this order, times e^-|x| if scaled. */
static num bessel(num x, int order, bool scaled)
{
    const num u = number(0);
    mpfr_abs(u, x, MPFR_RNDN);
    const bool far = mpfr_cmp_d(u, 4000) > 0;
    const num  z = times(0.25, square(u));
    num term = order == 0 || far ? number(1) : times(0.5, u), sum = term;
    for (int k = 1; k < 200000; k++) {
        const double odd = 2.0 * k - 1;
        term = far ? divided(times(odd * odd - 4 * order, term), times(8.0 * k, u))
                   : divided(mul(term, z), number((double)k * (k + order)));
        sum = add(sum, term);
        if (is_small(term, sum)) break;
    }
    if (far) sum = divided(sum, exact_sqrt(mul(times(2, pi()), u)));
    if (far != scaled) sum = mul(sum, exact_exp(far ? u : neg(u)));
    return order == 1 && mpfr_sgn(x) < 0 ? neg(sum) : sum;
}

/* --------------------------------------------------------------- the table -- */

#define OF_X(name, formula)                                                     \
    static num name(const eddy_node *node, int n, const num *in)                \
    {                                                                           \
        const num x = in[0];                                                    \
        (void)node, (void)n;                                                    \
        return formula;                                                         \
    }
OF_X(f_erf, erf_(x))
OF_X(f_erfc, erfc_(x))
OF_X(f_erfcx, erfcx(x))
OF_X(f_ndtr, ndtr(x))
OF_X(f_log_ndtr, log_ndtr(x))
OF_X(f_ndtri, ndtr_inverse(x))
OF_X(f_erfinv, erf_inverse(x))
OF_X(f_erfcinv, erfc_inverse(x))
OF_X(f_dawsn, dawsn(x))
OF_X(f_digamma, digamma_(x))
OF_X(f_igamma, igamma(x, in[1]))
OF_X(f_igammac, sub(number(1), igamma(x, in[1])))
OF_X(f_betainc, betainc(x, in[1], in[2]))
OF_X(f_i0, bessel(x, 0, false))
OF_X(f_i0e, bessel(x, 0, true))
OF_X(f_i1, bessel(x, 1, false))
OF_X(f_i1e, bessel(x, 1, true))
static num f_lgamma(const eddy_node *node, int n, const num *in)
{
    const num y = number(0);
    int sign;
    (void)node, (void)n;
    mpfr_lgamma(y, &sign, in[0], MPFR_RNDN);
    return y;
}

static const struct {
    const char *op;
    exact_fn   *fn;
} functions[] = {
    { "Erf", f_erf }, { "Erfc", f_erfc }, { "Erfcx", f_erfcx }, { "Ndtr", f_ndtr },
    { "LogNdtr", f_log_ndtr }, { "Ndtri", f_ndtri }, { "Erfinv", f_erfinv },
    { "Erfcinv", f_erfcinv }, { "Dawsn", f_dawsn }, { "Lgamma", f_lgamma },
    { "Digamma", f_digamma }, { "Igamma", f_igamma }, { "Igammac", f_igammac },
    { "Betainc", f_betainc }, { "BesselI0", f_i0 }, { "BesselI0e", f_i0e },
    { "BesselI1", f_i1 }, { "BesselI1e", f_i1e },
};

exact_fn *exact_special_function(const char *op)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].op, op) == 0) return functions[i].fn;
    return NULL;
}
