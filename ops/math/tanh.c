/* tanh.c -- tanh, the hyperbolic tangent: one row (ops/math/unary.c); related functions are in
 * ops/math/hyperbolic.c. */
#include "ops/fusion_targets.h"
#include "ops/kernels/elementwise/complex_numbers.h"
#include "ops/math/elementwise_rows.h"
#include "ops/math/sech_squared.h"

/* gelu_tanh is 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))). */
EDDY_FUSION_TARGETS(&eddy_op_gelu_tanh)

/* 1 - y^2. For complex x far from the imaginary axis y differs from 1 or -1 in digits that it does
 * not have. */
static eddy_tensor tanh_slope(eddy_tensor x, eddy_tensor y)
{
    const eddy_tensor slope = Sub(1, Square(y));
    if (!eddy_dtype_is_complex(eddy_dtype_of(x))) return slope;
    return Where(Greater(Abs(Real(x)), 1), eddy__sech_squared(x), slope);
}

/** y = tanh x.
 *
 *  Gradient: dx = dy (1 - y*y), with the conjugate for complex types; beyond a real part of 1 it is
 *  computed as dy / conj(cosh(x)^2).  TensorFlow: Tanh. */
UNARY(tanh, "Tanh", "Tanh", FLOATS_COMPLEX, EDDY_MATH(tanh, x, tanh(x)),
      Mul(dy, Conj(tanh_slope(x, y))))
