/* special.h -- special functions of float64 tensors, as nodes. */
#ifndef EDDY_FORMATS_ONNX_SPECIAL_H
#define EDDY_FORMATS_ONNX_SPECIAL_H

#include "../rules.h"

/* A function of t in (-1, 1), in Eddy's nodes. */
typedef eddy_tensor onnx_fit(eddy_tensor t);

/* The function at a tensor of numbers in [-1, 1], by Clenshaw's recurrence (fit.c). */
const char *eddy__special_fitted(onnx_part *p, const char *t, onnx_fit *f, int n);
/* A formula of numbers of float64. */
const char *eddy__special_formula(onnx_part *p, const char *text, const char *a, const char *b);

/* The gamma function's relatives (gamma.c). */
const char *eddy__special_lgamma(onnx_part *p, const char *x);
const char *eddy__special_digamma(onnx_part *p, const char *x);
const char *eddy__special_zeta(onnx_part *p, const char *s, const char *a);
const char *eddy__special_polygamma(onnx_part *p, const char *n, const char *x);

#endif
