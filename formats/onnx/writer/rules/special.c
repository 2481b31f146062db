/* special.c -- special functions that ONNX does not have. Each is computed in float64. Where no
 * formula converges fast, it is a sum of Chebyshev polynomials, whose coefficients come from Eddy's
 * own function when the model is written: the results differ from Eddy's by a few roundings
 * (docs/inside/onnx.md has the figures). */
#include "special.h"
#include "../../../../ops/short_names.h"

#include <string.h>

/* ----------------------------------------------------------- error function -- */

/* z from 0 to infinity for t from -1 to 1, and (1 + 2z) e^(z z) erfc(z), which is smooth there. */
static eddy_tensor tail_of_t(eddy_tensor t)
{
    const eddy_tensor z = Div(Mul(3.75, Add(1, t)), Sub(1, t));
    return Mul(eddy_erfcx(z), Add(1, Mul(2, z)));
}

/* e^(z z) erfc(z) of numbers that are not negative. */
static const char *write_tail(onnx_part *p, const char *z)
{
    const char *most = eddy__special_formula(p, "Min(a, 1e15)", z, "");
    const char *t = eddy__special_formula(p, "Div(Sub(a, 3.75), Add(a, 3.75))", most, "");
    return eddy__special_formula(p, "Div(b, Add(1, Mul(2, a)))", z,
                                 eddy__special_fitted(p, t, tail_of_t, 32));
}

static const char *write_erfcx(onnx_part *p, const char *x)
{
    const char *y = write_tail(p, eddy__special_formula(p, "Abs(a)", x, ""));
    return eddy__special_formula(p, "Where(Less(a, 0), Sub(Mul(2, Exp(Mul(a, a))), b), b)", x, y);
}

static const char *write_erfc(onnx_part *p, const char *x)
{
    const char *y = write_tail(p, eddy__special_formula(p, "Abs(a)", x, ""));
    return eddy__special_formula(
        p, "u=Mul(Exp(Neg(Mul(a, a))), b); Where(Less(a, 0), Sub(2, u), u)", x, y);
}

static eddy_tensor erf_of_t(eddy_tensor t)
{
    const eddy_tensor z = Sqrt(Mul(0.5, Add(t, 1)));
    return Div(Erf(z), z);
}

/* Near 0 as x f(x x), so that small results keep their digits. */
static const char *write_erf(onnx_part *p, const char *x)
{
    const char *small = eddy__special_fitted(
        p, eddy__special_formula(p, "Sub(Mul(2, Min(Mul(a, a), 1)), 1)", x, ""), erf_of_t, 18);
    const char *y =
        eddy__special_formula(p, "Sub(1, b)", x, eddy__special_formula(p, "@Erfc(Abs(a))", x, ""));
    return eddy__part_formula(p, EDDY_FLOAT64,
                              "Where(Less(Abs(a), 1), Mul(a, b), Mul(Sign(a), c))", x, small, y);
}

static const char *write_log_ndtr(onnx_part *p, const char *x)
{
    const char *y =
        write_tail(p, eddy__special_formula(p, "Mul(0.70710678118654752, Abs(a))", x, ""));
    return eddy__special_formula(p,
                   "u=Mul(-0.5, Mul(a, a)); v=Mul(0.5, b); "
                   "Where(Less(a, 0), Add(u, Log(v)), @Log1p(Neg(Mul(v, Exp(u)))))",
                   x, y);
}

/* --------------------------------------------------------- inverse functions -- */

/* erfinv(x) / x where -log(1 - x x) is s s - 1. */
static eddy_tensor inverse_of_s(eddy_tensor s)
{
    const eddy_tensor e = Exp(Sub(1, Square(s))), x = Sqrt(Sub(1, e));
    return Div(eddy_erfcinv(Div(e, Add(1, x))), x);
}
static eddy_tensor near_inverse_of_t(eddy_tensor t)
{
    return inverse_of_s(Add(2.75, Mul(1.75, t)));
}
static eddy_tensor far_inverse_of_t(eddy_tensor t) { return inverse_of_s(Add(15.5, Mul(11, t))); }

/* erfinv(x) / x, of -log(1 - x x). */
static const char *inverse(onnx_part *p, const char *w)
{
    const char *s = eddy__special_formula(p, "Sqrt(Add(1, a))", w, "");
    const char *near = eddy__special_formula(p, "Div(Sub(Min(a, 4.5), 2.75), 1.75)", s, "");
    const char *far = eddy__special_formula(p, "Div(Sub(Max(Min(a, 26.5), 4.5), 15.5), 11)", s, "");
    near = eddy__special_fitted(p, near, near_inverse_of_t, 36);
    far = eddy__special_fitted(p, far, far_inverse_of_t, 36);
    return eddy__part_formula(p, EDDY_FLOAT64, "Where(Less(a, 4.5), b, c)", s, near, far);
}

static const char *write_erfinv(onnx_part *p, const char *x)
{
    const char *y = inverse(p, eddy__special_formula(p, "Neg(@Log1p(Neg(Mul(a, a))))", x, ""));
    return eddy__special_formula(p, "Where(Equal(Abs(a), 1), Div(a, 0), Mul(a, b))", x, y);
}

/* Of q below 1e-8, 1 - q loses nothing that counts. */
static const char *write_erfcinv(onnx_part *p, const char *q)
{
    const char *y = inverse(p, eddy__special_formula(p, "Neg(Log(Mul(a, Sub(2, a))))", q, "")), *x;
    x = eddy__special_formula(p, "Mul(Sub(1, a), b)", q, y);
    return eddy__special_formula(p, "Where(Equal(a, 0), Neg(-inf), Where(Equal(a, 2), -inf, b))", q,
                                 x);
}

static const char *write_ndtri(onnx_part *p, const char *x)
{
    return eddy__special_formula(p, "Mul(-1.4142135623730950, @Erfcinv(Mul(2, a)))", x, "");
}

/* ------------------------------------------------- Bessel and Dawson functions -- */

enum { BESSEL = 8, DAWSON = 5 };

static eddy_tensor near_zero(eddy_tensor t) { return Mul(BESSEL / 2, Add(t, 1)); }
static eddy_tensor beyond(eddy_tensor t) { return Div(2 * BESSEL, Add(t, 1)); }
static eddy_tensor near_i0(eddy_tensor t) { return eddy_bessel_i0e(near_zero(t)); }
static eddy_tensor near_i1(eddy_tensor t)
{
    const eddy_tensor x = near_zero(t);
    return Div(eddy_bessel_i1e(x), x);
}
static eddy_tensor far_i0(eddy_tensor t)
{
    return Mul(eddy_bessel_i0e(beyond(t)), Sqrt(beyond(t)));
}
static eddy_tensor far_i1(eddy_tensor t)
{
    return Mul(eddy_bessel_i1e(beyond(t)), Sqrt(beyond(t)));
}

/* e^-x I(x) of x that is not negative: near 0, over x if the function is odd; beyond, times its
 * root. */
static const char *bessel(onnx_part *p, const char *x, onnx_fit *near, onnx_fit *far, bool odd)
{
    const char *y = eddy__special_fitted(
        p, eddy__special_formula(p, "Sub(Div(Min(a, 8), 4), 1)", x, ""), near, 34);
    const char *z = eddy__special_fitted(
        p, eddy__special_formula(p, "Sub(Div(16, Max(a, 8)), 1)", x, ""), far, 28);
    if (odd) y = eddy__special_formula(p, "Mul(a, b)", x, y);
    return eddy__part_formula(p, EDDY_FLOAT64, "Where(Less(a, 8), b, Div(c, Sqrt(a)))", x, y, z);
}

static const char *write_i0e(onnx_part *p, const char *x)
{
    return bessel(p, eddy__special_formula(p, "Abs(a)", x, ""), near_i0, far_i0, false);
}

static const char *write_i1e(onnx_part *p, const char *x)
{
    return eddy__special_formula(p, "Mul(Sign(a), b)", x,
                   bessel(p, eddy__special_formula(p, "Abs(a)", x, ""), near_i1, far_i1, true));
}

static const char *write_i0(onnx_part *p, const char *x)
{
    return eddy__special_formula(p, "Mul(Exp(Abs(a)), @BesselI0e(a))", x, "");
}

static const char *write_i1(onnx_part *p, const char *x)
{
    return eddy__special_formula(p, "Mul(Exp(Abs(a)), @BesselI1e(a))", x, "");
}

static eddy_tensor near_dawsn(eddy_tensor t)
{
    const eddy_tensor x = Mul(DAWSON, Sqrt(Mul(0.5, Add(t, 1))));
    return Div(eddy_dawsn(x), x);
}
static eddy_tensor far_dawsn(eddy_tensor t)
{
    const eddy_tensor x = Div(DAWSON, Sqrt(Mul(0.5, Add(t, 1))));
    return Mul(eddy_dawsn(x), x);
}

static const char *write_dawsn(onnx_part *p, const char *x)
{
    const char *s = eddy__special_formula(p, "Mul(a, a)", x, "");
    const char *y = eddy__special_fitted(
        p, eddy__special_formula(p, "Sub(Div(Min(a, 25), 12.5), 1)", s, ""), near_dawsn, 48);
    const char *z = eddy__special_fitted(
        p, eddy__special_formula(p, "Sub(Div(50, Max(a, 25)), 1)", s, ""), far_dawsn, 36);
    return eddy__part_formula(p, EDDY_FLOAT64, "Where(Less(Abs(a), 5), Mul(a, b), Div(c, a))", x, y,
                              z);
}

/* ------------------------------------------------------------------ all -- */

const onnx_special *eddy__onnx_special(const char *op)
{
    static const onnx_special all[] = {
        { "Erf", write_erf },           { "Erfc", write_erfc },
        { "Erfcx", write_erfcx },       { "LogNdtr", write_log_ndtr },
        { "Erfinv", write_erfinv },     { "Erfcinv", write_erfcinv },
        { "Ndtri", write_ndtri },       { "Dawsn", write_dawsn },
        { "BesselI0", write_i0 },       { "BesselI0e", write_i0e },
        { "BesselI1", write_i1 },       { "BesselI1e", write_i1e },
        { "Lgamma", eddy__special_lgamma }, { "Digamma", eddy__special_digamma },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].op, op) == 0) return &all[i];
    return NULL;
}

static bool write_special(onnx_part *p)
{
    const eddy_dtype d = p->node->outputs[0].dtype;
    const char *x = eddy__part_cast(p, eddy__part_in(p, 0), d, EDDY_FLOAT64);
    const char *y = eddy__onnx_special(p->node->op->name)->write(p, x);
    return eddy__part_put(p, 0, eddy__part_cast(p, y, EDDY_FLOAT64, d));
}

static bool zeta(onnx_part *p)
{
    const eddy_dtype d = p->node->outputs[0].dtype;
    const char *s = eddy__part_cast(p, eddy__part_in(p, 0), d, EDDY_FLOAT64);
    const char *a = eddy__part_cast(p, eddy__part_in(p, 1), d, EDDY_FLOAT64);
    return eddy__part_put(p, 0,
                          eddy__part_cast(p, eddy__special_zeta(p, s, a), EDDY_FLOAT64, d));
}

static bool polygamma(onnx_part *p)
{
    const eddy_dtype d = p->node->outputs[0].dtype;
    const char *n = eddy__part_cast(p, eddy__part_in(p, 0), d, EDDY_FLOAT64);
    const char *x = eddy__part_cast(p, eddy__part_in(p, 1), d, EDDY_FLOAT64);
    return eddy__part_put(p, 0,
                          eddy__part_cast(p, eddy__special_polygamma(p, n, x), EDDY_FLOAT64, d));
}

static const onnx_row rows[] = {
    { "Erfc", write_special },      { "Erfcx", write_special },
    { "LogNdtr", write_special },   { "Erfinv", write_special },
    { "Erfcinv", write_special },   { "Ndtri", write_special },
    { "Dawsn", write_special },     { "BesselI0", write_special },
    { "BesselI0e", write_special }, { "BesselI1", write_special },
    { "BesselI1e", write_special }, { "Lgamma", write_special },
    { "Digamma", write_special },   { "Zeta", zeta },
    { "Polygamma", polygamma },
};

const onnx_family eddy__write_special = FAMILY_OF(rows);
