/* tanh.c -- tanh, the hyperbolic tangent: one row (ops/math/unary.c); related functions are in
 * ops/math/hyperbolic.c. */
#include "ops/fusion_targets.h"
#include "ops/kernels/elementwise/complex_numbers.h"
#include "ops/math/elementwise_rows.h"

/* gelu_tanh is 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))). */
EDDY_FUSION_TARGETS(&eddy_op_gelu_tanh)

/** y = tanh x.
 *
 *  Gradient: dx = dy (1 - y*y).  TensorFlow: Tanh. */
UNARY(tanh, "Tanh", "Tanh", FLOATS_COMPLEX, EDDY_MATH(tanh, x, tanh(x)),
      Mul(dy, Conj(Sub(1, Square(y)))))
