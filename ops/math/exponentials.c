/* exponentials.c -- exp, expm1, log, log1p, sigmoid and softplus: one row each (ops/math/unary.c).
 * */
#include "ops/fusion_targets.h"
#include "ops/kernels/elementwise/vector_complex.h"
#include "ops/math/elementwise_rows.h"

/* Softmax, and the parts of log-sum-exp, which subtracts the largest element. */
EDDY_FUSION_TARGETS(&eddy_op_softmax, &eddy_op_log_softmax, &eddy_op_max, &eddy_op_sum,
                &eddy_op_is_finite, &eddy_op_where)

DECLARE_FLOATS(TILE_UNARY, exp, EDDY_REAL_MATH(exp, x))
ROW_PLAIN(c64, TILE_UNARY, exp, cexpf(x))
EDDY_COMPLEX_TILE(exp_c128, eddy__complex_exp_near, eddy__complex_exp_far)
/** y = e^x.
 *
 *  Overflows to infinity, underflows to 0.
 *  Gradient: dx = dy y.  TensorFlow: Exp. */
UNARY_OF(exp, "Exp", "Exp", FLOATS_COMPLEX128, 0, Mul(dy, Conj(y)))

/** y = e^x - 1, accurate to rounding near 0.
 *
 *  Gradient: dx = dy e^x.  TensorFlow: Expm1. */
UNARY(expm1, "Expm1", "Expm1", FLOATS_COMPLEX, EDDY_MATH(expm1, x, EDDY_EXPM1(x)),
      Mul(dy, Conj(Exp(x))))

DECLARE_FLOATS(TILE_UNARY, log, EDDY_REAL_MATH(log, x))
ROW_PLAIN(c64, TILE_UNARY, log, clogf(x))
EDDY_COMPLEX_TILE(log_c128, eddy__complex_log_near, clog)
/** y = ln x.
 *
 *  -infinity at 0, NaN below.
 *  Gradient: dx = dy / x; NaN where both are 0.  TensorFlow: Log. */
UNARY_OF(log, "Log", "Log", FLOATS_COMPLEX128, 0, Div(dy, Conj(x)))

/** y = ln(1 + x), accurate to rounding near 0.
 *
 *  -infinity at -1, NaN below.
 *  Gradient: dx = dy / (1 + x).  TensorFlow: Log1p. */
UNARY(log1p, "Log1p", "Log1p", FLOATS_COMPLEX, EDDY_MATH(log1p, x, EDDY_LOG1P(x)),
      Div(dy, Conj(Add(1, x))))

/** y = 1 / (1 + e^-x).
 *
 *  0 at -infinity and 1 at infinity; NaN only for NaN.
 *  Gradient: dx = dy y (1 - y).  TensorFlow: Sigmoid. */
UNARY(sigmoid, "Sigmoid", "Sigmoid", FLOATS_COMPLEX, EDDY_MATH(sigmoid, x, 1 / (1 + exp(-x))),
      Mul(dy, Conj(Mul(y, Sub(1, y)))))

/** y = ln(1 + e^x).
 *
 *  Does not overflow: for large x it is x itself.
 *  Gradient: dx = dy sigmoid(x).  TensorFlow: Softplus. */
UNARY(softplus, "Softplus", "Softplus", FLOATS, EDDY_REAL_MATH(softplus, x),
      Mul(dy, Sigmoid(x)))
