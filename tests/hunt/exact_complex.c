/* exact_complex.c -- see exact_complex.h: each function from real ones of both parts. */
#include "tests/hunt/exact_complex.h"

#include <string.h>

typedef complex_num cnum;

static num number(double x) { return exact_number(x); }
static num add(num a, num b) { return exact_add(a, b); }
static num sub(num a, num b) { return exact_sub(a, b); }
static num mul(num a, num b) { return exact_mul(a, b); }
static num divided(num a, num b) { return exact_div(a, b); }

typedef int mpfr_one(mpfr_t, mpfr_srcptr, mpfr_rnd_t);
typedef int mpfr_two(mpfr_t, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);
static num one(mpfr_one *call, num x)
{
    const num y = number(0);
    call(y, x, MPFR_RNDN);
    return y;
}
static num two(mpfr_two *call, num a, num b)
{
    const num y = number(0);
    call(y, a, b, MPFR_RNDN);
    return y;
}
static int negate(mpfr_t y, mpfr_srcptr x, mpfr_rnd_t r) { return mpfr_neg(y, x, r); }
static num neg(num x) { return one(negate, x); }

/* -------------------------------------------------------------- arithmetic -- */

static cnum of(num re, num im) { return (cnum){ re, im }; }
static cnum real(double x) { return of(number(x), number(0)); }
static cnum sum(cnum a, cnum b) { return of(add(a.re, b.re), add(a.im, b.im)); }
static cnum less(cnum a, cnum b) { return of(sub(a.re, b.re), sub(a.im, b.im)); }
static cnum opposite(cnum a) { return of(neg(a.re), neg(a.im)); }
static cnum product(cnum a, cnum b)
{
    return of(sub(mul(a.re, b.re), mul(a.im, b.im)), add(mul(a.re, b.im), mul(a.im, b.re)));
}
static cnum scaled(double c, cnum a) { return of(mul(number(c), a.re), mul(number(c), a.im)); }
static bool is_zero(cnum a) { return mpfr_zero_p(a.re) && mpfr_zero_p(a.im); }
static cnum quotient(cnum a, cnum b)
{
    const num  size = add(mul(b.re, b.re), mul(b.im, b.im));
    const cnum y = product(a, of(b.re, neg(b.im)));
    return of(divided(y.re, size), divided(y.im, size));
}
/* i a and -i a. */
static cnum turned(cnum a) { return of(neg(a.im), a.re); }
static cnum turned_back(cnum a) { return of(a.im, neg(a.re)); }

/* --------------------------------------------------------------- functions -- */

static num length(cnum a) { return two(mpfr_hypot, a.re, a.im); }
static num angle(cnum a) { return two(mpfr_atan2, a.im, a.re); }

static cnum exponential(cnum a)
{
    const num size = exact_exp(a.re);
    if (mpfr_zero_p(a.im)) return of(size, a.im);
    return of(mul(size, one(mpfr_cos, a.im)), mul(size, one(mpfr_sin, a.im)));
}
static cnum logarithm(cnum a) { return of(exact_log(length(a)), angle(a)); }

/* Of the root with the larger part, so that nothing cancels. */
static cnum root(cnum a)
{
    if (is_zero(a)) return of(number(0), a.im);
    const num size = length(a), positive = one(mpfr_abs, a.re);
    const num large = exact_sqrt(divided(add(size, positive), number(2)));
    const num small = divided(one(mpfr_abs, a.im), mul(number(2), large));
    const bool right = mpfr_sgn(a.re) >= 0;
    const num im = right ? small : large;
    return of(right ? large : small, mpfr_signbit(a.im) ? neg(im) : im);
}

static cnum hyperbolic_sine(cnum a)
{
    return of(mul(one(mpfr_sinh, a.re), one(mpfr_cos, a.im)),
              mul(one(mpfr_cosh, a.re), one(mpfr_sin, a.im)));
}
static cnum hyperbolic_cosine(cnum a)
{
    return of(mul(one(mpfr_cosh, a.re), one(mpfr_cos, a.im)),
              mul(one(mpfr_sinh, a.re), one(mpfr_sin, a.im)));
}
/* (sinh 2x + i sin 2y) / (cosh 2x + cos 2y); beyond, of the exponentials. */
static cnum hyperbolic_tangent(cnum a)
{
    const cnum twice = scaled(2, a);
    if (mpfr_cmpabs(a.re, number(1e6)) > 0)
        return of(number(mpfr_sgn(a.re)), number(0));
    const num below = add(one(mpfr_cosh, twice.re), one(mpfr_cos, twice.im));
    return of(divided(one(mpfr_sinh, twice.re), below), divided(one(mpfr_sin, twice.im), below));
}

/* (ln(1 + a) - ln(1 - a)) / 2 */
static cnum area_tangent(cnum a)
{
    const cnum above = of(add(number(1), a.re), a.im), below = of(sub(number(1), a.re), neg(a.im));
    return scaled(0.5, less(logarithm(above), logarithm(below)));
}
/* ln(a + sqrt(a^2 + 1)), of the side where the sum does not cancel. */
static cnum area_sine(cnum a)
{
    const bool left = mpfr_sgn(a.re) < 0 || (mpfr_zero_p(a.re) && mpfr_signbit(a.re));
    const cnum x = left ? opposite(a) : a, square = product(x, x);
    const cnum y = logarithm(sum(x, root(of(add(square.re, number(1)), square.im))));
    return left ? opposite(y) : y;
}
/* 2 ln(sqrt((a + 1) / 2) + sqrt((a - 1) / 2)) */
static cnum area_cosine(cnum a)
{
    const cnum above = root(scaled(0.5, of(add(a.re, number(1)), a.im)));
    const cnum below = root(scaled(0.5, of(sub(a.re, number(1)), a.im)));
    return scaled(2, logarithm(sum(above, below)));
}
static cnum arc_sine(cnum a) { return turned_back(area_sine(turned(a))); }
static cnum arc_cosine(cnum a)
{
    const num half = number(0);
    mpfr_const_pi(half, MPFR_RNDN);
    mpfr_div_2ui(half, half, 1, MPFR_RNDN);
    return less(of(half, number(0)), arc_sine(a));
}
static cnum power(cnum a, cnum b)
{
    if (is_zero(b)) return real(1);
    if (is_zero(a)) return real(0);
    return exponential(product(b, logarithm(a)));
}
static cnum sigmoid(cnum a)
{
    if (mpfr_sgn(a.re) >= 0) return quotient(real(1), sum(real(1), exponential(opposite(a))));
    const cnum e = exponential(a);
    return quotient(e, sum(real(1), e));
}

/* --------------------------------------------------------------- the table -- */

#define OF_X(name, formula)                                                     \
    static cnum name(int n, const cnum *in)                                     \
    {                                                                           \
        const cnum x = in[0];                                                   \
        (void)n;                                                                \
        return formula;                                                         \
    }
OF_X(f_same, x)
OF_X(f_neg, opposite(x))
OF_X(f_square, product(x, x))
OF_X(f_reciprocal, quotient(real(1), x))
OF_X(f_sqrt, root(x))
OF_X(f_rsqrt, quotient(real(1), root(x)))
OF_X(f_exp, exponential(x))
OF_X(f_expm1, less(exponential(x), real(1)))
OF_X(f_log, logarithm(x))
OF_X(f_log1p, logarithm(of(add(x.re, number(1)), x.im)))
OF_X(f_sinh, hyperbolic_sine(x))
OF_X(f_cosh, hyperbolic_cosine(x))
OF_X(f_tanh, hyperbolic_tangent(x))
OF_X(f_sin, turned_back(hyperbolic_sine(turned(x))))
OF_X(f_cos, hyperbolic_cosine(turned(x)))
OF_X(f_tan, turned_back(hyperbolic_tangent(turned(x))))
OF_X(f_asinh, area_sine(x))
OF_X(f_acosh, area_cosine(x))
OF_X(f_atanh, area_tangent(x))
OF_X(f_asin, arc_sine(x))
OF_X(f_acos, arc_cosine(x))
OF_X(f_atan, turned_back(area_tangent(turned(x))))
OF_X(f_sigmoid, sigmoid(x))
OF_X(f_conj, of(x.re, neg(x.im)))
OF_X(f_real, of(x.re, number(0)))
OF_X(f_imag, of(x.im, number(0)))
OF_X(f_abs, of(length(x), number(0)))
OF_X(f_angle, of(angle(x), number(0)))
OF_X(f_sign, is_zero(x) ? real(0) : of(divided(x.re, length(x)), divided(x.im, length(x))))
OF_X(f_complex, of(x.re, in[1].re))
OF_X(f_add, sum(x, in[1]))
OF_X(f_sub, less(x, in[1]))
OF_X(f_mul, product(x, in[1]))
OF_X(f_div, quotient(x, in[1]))
OF_X(f_div_no_nan, is_zero(in[1]) ? real(0) : quotient(x, in[1]))
OF_X(f_mul_no_nan, is_zero(in[1]) ? real(0) : product(x, in[1]))
OF_X(f_xlogy, is_zero(x) ? real(0) : product(x, logarithm(in[1])))
OF_X(f_xdivy, is_zero(x) ? real(0) : quotient(x, in[1]))
OF_X(f_pow, power(x, in[1]))
/* a conj(a), of the difference. */
OF_X(f_squared_difference, product(less(x, in[1]), f_conj(1, (cnum[]){ less(x, in[1]) })))

static cnum f_add_n(int n, const cnum *x)
{
    cnum y = real(0);
    for (int i = 0; i < n; i++) y = sum(y, x[i]);
    return y;
}

exact_complex_fn *exact_complex_function(const char *op)
{
    static const struct {
        const char       *op;
        exact_complex_fn *fn;
    } functions[] = {
        { "Identity", f_same }, { "Cast", f_same }, { "StopGradient", f_same }, { "Neg", f_neg },
        { "Square", f_square }, { "Reciprocal", f_reciprocal }, { "Sqrt", f_sqrt },
        { "Rsqrt", f_rsqrt }, { "Exp", f_exp }, { "Expm1", f_expm1 }, { "Log", f_log },
        { "Log1p", f_log1p }, { "Sin", f_sin }, { "Cos", f_cos }, { "Tan", f_tan },
        { "Asin", f_asin }, { "Acos", f_acos }, { "Atan", f_atan }, { "Sinh", f_sinh },
        { "Cosh", f_cosh }, { "Tanh", f_tanh }, { "Asinh", f_asinh }, { "Acosh", f_acosh },
        { "Atanh", f_atanh }, { "Sigmoid", f_sigmoid }, { "Conj", f_conj }, { "Real", f_real },
        { "Imag", f_imag }, { "ComplexAbs", f_abs }, { "Abs", f_abs }, { "Angle", f_angle },
        { "Sign", f_sign }, { "Complex", f_complex }, { "Add", f_add }, { "Sub", f_sub },
        { "Mul", f_mul }, { "RealDiv", f_div }, { "DivNoNan", f_div_no_nan },
        { "MulNoNan", f_mul_no_nan }, { "Xlogy", f_xlogy }, { "Xdivy", f_xdivy },
        { "Pow", f_pow }, { "SquaredDifference", f_squared_difference }, { "AddN", f_add_n },
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].op, op) == 0) return functions[i].fn;
    return NULL;
}
