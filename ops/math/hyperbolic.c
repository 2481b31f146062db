/* hyperbolic.c -- hyperbolic functions (sinh, cosh) and their inverses, elementwise; tanh is in
 * ops/math/tanh.c.
 *
 * Rules use the conjugate of the derivative (ops/math/complex.c); the comments omit it. */
#include "ops/kernels/elementwise/complex_numbers.h"
#include "ops/math/elementwise_rows.h"
#include "ops/math/one_less_square.h"
#include "ops/kernels/elementwise/vector_elementary_f64.h"

/** y = sinh x.
 *
 *  Gradient: dx = dy cosh x.  TensorFlow: Sinh. */
UNARY(sinh, "Sinh", "Sinh", FLOATS_COMPLEX, EDDY_MATH(sinh, x, sinh(x)),
      Mul(dy, Conj(eddy_cosh(x))))

/** y = cosh x.
 *
 *  Gradient: dx = dy sinh x.  TensorFlow: Cosh. */
UNARY(cosh, "Cosh", "Cosh", FLOATS_COMPLEX, EDDY_MATH(cosh, x, cosh(x)),
      Mul(dy, Conj(eddy_sinh(x))))

/** y = the inverse hyperbolic sine of x.
 *
 *  Gradient: dx = dy / cosh y.  TensorFlow: Asinh. */
UNARY(asinh, "Asinh", "Asinh", FLOATS_COMPLEX, EDDY_MATH(asinh, x, asinh(x)),
      Div(dy, Conj(eddy_cosh(y))))

/** y = the inverse hyperbolic cosine of x, the non-negative one.
 *
 *  NaN where x < 1 and x is real.
 *  Gradient: dx = dy / sinh y, infinite at 1.  TensorFlow: Acosh. */
UNARY(acosh, "Acosh", "Acosh", FLOATS_COMPLEX, EDDY_MATH(acosh, x, acosh(x)),
      Div(dy, Conj(eddy_sinh(y))))

/** y = the inverse hyperbolic tangent of x.
 *
 *  Infinite at -1 and 1, NaN where |x| > 1 and x is real.
 *  Gradient: dx = dy / (1 - x*x).  TensorFlow: Atanh. */
UNARY(atanh, "Atanh", "Atanh", FLOATS_COMPLEX, EDDY_MATH(atanh, x, atanh(x)),
      Div(dy, Conj(eddy__one_less_square(x))))
