/* erf.c -- erf, the error function: one row (ops/math/unary.c); related functions are in
 * ops/math/error_functions.c. */
#include "ops/fusion_targets.h"
#include "ops/math/elementwise_rows.h"
#include "ops/math/within.h"

/* gelu is 0.5 x (1 + erf(x / sqrt(2))). */
EDDY_FUSION_TARGETS(&eddy_op_gelu)

/** y = erf x, the integral of 2 e^(-t*t) / sqrt(pi) for t from 0 to x.
 *
 *  Gradient: dx = dy 2 e^(-x*x) / sqrt(pi).  TensorFlow: Erf. */
UNARY(erf, "Erf", "Erf", FLOATS, EDDY_REAL_MATH(erf, x),
      Mul(dy, Mul(1.1283791670955126, Exp(Neg(Square(eddy__within(x, 30)))))))
