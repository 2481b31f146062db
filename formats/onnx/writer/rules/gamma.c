/* gamma.c -- the logarithm of the gamma function and its derivatives: asymptotic series from 10 on,
 * and the recurrence below. */
#include "special.h"

enum { SHIFT = 10 };

static const char *formula(onnx_part *p, const char *text, const char *a, const char *b)
{
    return eddy__special_formula(p, text, a, b);
}

/* x, or x + 10 below 10, where the series begin. */
static const char *shifted(onnx_part *p, const char *x)
{
    return formula(p, "Where(Less(a, 10), Add(a, 10), a)", x, "");
}

/* x + k, for numbers below 10 only, so that products of 10 of them are finite. */
static const char *factor(onnx_part *p, const char *x, int k)
{
    return formula(p, "Add(Min(a, 10), b)", x, eddy__part_number(p, EDDY_FLOAT64, k));
}

static const char *lgamma_positive(onnx_part *p, const char *x)
{
    const char *product = factor(p, x, 0);
    for (int k = 1; k < SHIFT; k++) product = formula(p, "Mul(a, b)", product, factor(p, x, k));
    const char *y = formula(
        p,
        "u=Div(1, Mul(a, a)); v=Sub(0.00059523809523809524, Mul(u, Sub(0.00084175084175084175, "
        "Mul(u, Sub(0.0019175269175269175, Mul(u, 0.0064102564102564103)))))); "
        "w=Div(Sub(0.083333333333333333, Mul(u, Sub(0.0027777777777777778, "
        "Mul(u, Sub(0.00079365079365079365, Mul(u, v)))))), a); "
        "Add(Add(Sub(Mul(Sub(a, 0.5), Log(a)), a), 0.91893853320467274), w)",
        shifted(p, x), "");
    y = eddy__part_formula(p, EDDY_FLOAT64, "Where(Less(a, 10), Sub(b, Log(c)), b)", x, y, product);
    return formula(p, "Where(IsInf(a), a, b)", x, y);
}

/* The distance to the nearest integer, with its sign. */
static const char REST[] = "Mul(3.1415926535897932, Sub(a, Round(a)))";

const char *eddy__special_lgamma(onnx_part *p, const char *x)
{
    const char *reflected = formula(p, "Less(a, 0.5)", x, "");
    const char *y = lgamma_positive(
        p, formula(p, "Where(b, Sub(1, a), a)", x, reflected));
    const char *z = formula(p, "Sub(Log(Div(3.1415926535897932, Abs(Sin(a)))), b)",
                            formula(p, REST, x, ""), y);
    z = formula(p, "Where(IsInf(a), Abs(a), b)", x, z);
    return eddy__part_formula(p, EDDY_FLOAT64, "Where(a, b, c)", reflected, z, y);
}

static const char *digamma_positive(onnx_part *p, const char *x)
{
    const char *sum = formula(p, "Reciprocal(a)", factor(p, x, 0), "");
    for (int k = 1; k < SHIFT; k++)
        sum = formula(p, "Add(a, Reciprocal(b))", sum, factor(p, x, k));
    const char *y = formula(
        p,
        "u=Div(1, Mul(a, a)); v=Sub(0.0041666666666666667, Mul(u, Sub(0.0075757575757575758, "
        "Mul(u, Sub(0.021092796092796093, Mul(u, 0.083333333333333333)))))); "
        "w=Mul(u, Sub(0.083333333333333333, Mul(u, Sub(0.0083333333333333333, "
        "Mul(u, Sub(0.0039682539682539683, Mul(u, v))))))); "
        "Sub(Sub(Log(a), Div(0.5, a)), w)",
        shifted(p, x), "");
    return eddy__part_formula(p, EDDY_FLOAT64, "Where(Less(a, 10), Sub(b, c), b)", x, y, sum);
}

const char *eddy__special_digamma(onnx_part *p, const char *x)
{
    const char *reflected = formula(p, "Less(a, 0.5)", x, "");
    const char *y = digamma_positive(p, formula(p, "Where(b, Sub(1, a), a)", x, reflected));
    const char *z = formula(p, "Sub(b, Div(3.1415926535897932, @Tan(a)))", formula(p, REST, x, ""),
                            y);
    return eddy__part_formula(p, EDDY_FLOAT64, "Where(a, b, c)", reflected, z, y);
}

/* Ten terms, and the formula of Euler and Maclaurin for the others. */
const char *eddy__special_zeta(onnx_part *p, const char *s, const char *a)
{
    static const double bernoulli[] = {     /* B(2j) / (2j)! */
        0.083333333333333333, -0.0013888888888888889, 3.3068783068783069e-05,
        -8.2671957671957672e-07, 2.0876756987868099e-08, -5.2841901386874932e-10,
        1.3382536530684679e-11, -3.3896802963225829e-13
    };
    const eddy_dtype d = EDDY_FLOAT64;
    const char *z = formula(p, "Add(a, 10)", a, "");
    const char *power = formula(p, "Pow(b, Neg(a))", s, z);
    const char *y = eddy__part_formula(p, d, "Add(Mul(c, 0.5), Div(Mul(c, b), Sub(a, 1)))", s, z,
                                       power);
    for (int k = SHIFT - 1; k >= 0; k--)
        y = eddy__part_formula(p, d, "Add(c, Pow(Add(b, d), Neg(a)))", s, a, y,
                               eddy__part_number(p, d, k));
    const char *term = eddy__part_formula(p, d, "Div(Mul(c, a), b)", s, z, power);
    for (int j = 0; j < 8; j++) {
        y = eddy__part_formula(p, d, "Add(a, Mul(b, c))", y, term,
                               eddy__part_number(p, d, bernoulli[j]));
        term = eddy__part_formula(p, d, "Div(Mul(c, Mul(Add(a, d), Add(a, e))), Mul(b, b))", s, z,
                                  term, eddy__part_number(p, d, 2 * j + 1),
                                  eddy__part_number(p, d, 2 * j + 2));
    }
    return formula(p, "Where(Equal(a, 1), Neg(-inf), b)", s, y);
}

/* (-1)^(n+1) n! zeta(n + 1, x); of n = 0 the digamma function. */
const char *eddy__special_polygamma(onnx_part *p, const char *n, const char *x)
{
    const char *z = eddy__special_zeta(p, formula(p, "Add(a, 1)", n, ""), x);
    const char *y = formula(p,
                            "Mul(Sub(Mul(4, Sub(Mul(a, 0.5), Floor(Mul(a, 0.5)))), 1), "
                            "Mul(Exp(@Lgamma(Add(a, 1))), b))",
                            n, z);
    return eddy__part_formula(p, EDDY_FLOAT64, "Where(Equal(a, 0), @Digamma(b), c)", n, x, y);
}
