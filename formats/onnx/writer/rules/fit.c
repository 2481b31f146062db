/* fit.c -- functions of one number as sums of Chebyshev polynomials. */
#include "special.h"
#include "../writer.h"

#include <math.h>

enum { MOST_TERMS = 64 };

/* The coefficients of n polynomials, from the values of the function at the nodes of the next. */
static bool coefficients(onnx_part *p, onnx_fit *f, int n, double *c)
{
    const double  step = acos(-1) / n;
    eddy_graph   *g = eddy_graph_new();
    eddy_session *s = eddy_session_new(g);
    eddy_array   *t = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(n)), *y = NULL;
    for (int k = 0; t && k < n; k++) eddy_array_set(t, k, cos(step * (k + 0.5)));
    if (t) y = eddy_fetch(s, f(eddy_constant(g, t, NULL)));
    for (int j = 0; y && j < n; j++) {
        c[j] = 0;
        for (int k = 0; k < n; k++)
            c[j] += 2.0 / n * eddy_array_get(y, k) * cos(step * j * (k + 0.5));
    }
    const bool ok = y != NULL;
    eddy_array_free(y);
    eddy_array_free(t);
    eddy_session_free(s);
    eddy_graph_free(g);
    return ok || eddy__writer_no_memory(p->writer);
}

/* The function at a tensor of numbers in [-1, 1], by Clenshaw's recurrence. */
const char *eddy__special_fitted(onnx_part *p, const char *t, onnx_fit *f, int n)
{
    const eddy_dtype d = EDDY_FLOAT64;
    double           c[MOST_TERMS];
    if (!coefficients(p, f, n, c)) return "";
    const char *twice = eddy__part_formula(p, d, "Mul(2, a)", t);
    const char *b = eddy__part_number(p, d, c[n - 1]), *before = eddy__part_number(p, d, 0);
    for (int j = n - 2; j >= 1; j--) {
        const char *next = eddy__part_formula(p, d, "Add(Sub(Mul(a, b), c), d)", twice, b, before,
                                              eddy__part_number(p, d, c[j]));
        before = b;
        b = next;
    }
    return eddy__part_formula(p, d, "Add(Sub(Mul(a, b), c), d)", t, b, before,
                              eddy__part_number(p, d, c[0] / 2));
}

const char *eddy__special_formula(onnx_part *p, const char *text, const char *a, const char *b)
{
    return eddy__part_formula(p, EDDY_FLOAT64, text, a, b);
}
