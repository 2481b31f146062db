/* unary.c -- functions of one element, y[i] = f(x[i]), one row each.
 *
 * To add one, copy a row with its comment; ops/rows.h says what the columns
 * are.  A rule that divides by something that can be 0 goes through MulNoNan
 * where TensorFlow's kernel lets dy = 0 win.  Rules take the conjugate of the
 * derivative (ops/complex.c), which the comments leave out. */
#include "ops/complex.h"
#include "ops/rows.h"

/* ----------------------------------------------------------- arithmetic -- */

/** y = -x.
 *
 *  x  any type of numbers but half, any shape; y has its type
 *
 *  Integers wrap around: the least one is its own negative.
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = -dy.  TensorFlow: Neg. */
UNARY(neg, "Neg", "Neg", NUMBERS_COMPLEX, -x, Neg(dy))

DECLARE_NUMBERS(TILE_UNARY, abs, x > 0 ? x : 0 - x)
ROW_PICK(abs, NUMBERS)
static void abs_gradient(eddy_rule *r) { r->dx[0] = Mul(r->dy[0], Sign(r->x[0])); }
ROW_DEF(abs, "Abs", "Abs", 1, abs_gradient, eddy_infer_elementwise, 0)

/** y = |x|.
 *
 *  x  any type of numbers but half, any shape; y has its type, float32 for
 *     complex64, float64 for complex128
 *
 *  NaN stays NaN; the least int32 or int64 stays as it is.
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy sign(x), which is 0 at 0.  TensorFlow: Abs, ComplexAbs. */
eddy_tensor eddy_abs(eddy_tensor x)
{
    const bool is_complex = eddy_dtype_is_complex(eddy_dtype_of(x));
    return eddy_apply1(is_complex ? &eddy_op_complex_abs : &eddy_op_abs, NULL, x);
}

DECLARE_NUMBERS(TILE_UNARY, sign, x > 0 ? 1 : x < 0 ? -1 : x)
DECLARE_COMPLEX(TILE_UNARY, sign, x == 0 ? 0 : x / fabs(x))
ROW_PICK(sign, NUMBERS_COMPLEX)
static void sign_gradient(eddy_rule *r)
{
    const eddy_tensor x = r->x[0], y = r->y[0], dy = r->dy[0];
    if (!eddy_dtype_is_complex(eddy_dtype_of(x))) {
        r->dx[0] = ZerosLike(x);
        return;
    }
    /* What of dy is across x, not along it, turns y; the further out the less. */
    const eddy_tensor along = Mul(y, CastLike(Real(Mul(dy, Conj(y))), y));
    r->dx[0] = DivNoNan(Sub(dy, along), CastLike(Abs(x), y));
}
ROW_DEF(sign, "Sign", "Sign", 1, sign_gradient, eddy_infer_elementwise, 0)

/** y = sign(x): -1, 0 or 1 as x is below, at or above 0; for a complex x, x / |x| or 0.
 *
 *  x  any type of numbers but half, any shape; y has its type
 *
 *  NaN stays NaN.
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: zeros; x counts as connected.  For a complex x the true one, which
 *  is 0 at 0, where TensorFlow has zeros too.  TensorFlow: Sign. */
eddy_tensor eddy_sign(eddy_tensor x)
{
    return eddy_apply1(&eddy_op_sign, NULL, x);
}

/** y = x*x.
 *
 *  x  any type of numbers but half, any shape; y has its type
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy 2x.  TensorFlow: Square. */
UNARY(square, "Square", "Square", NUMBERS_COMPLEX, x * x, Mul(dy, Mul(2, Conj(x))))

/** y = 1 / x.
 *
 *  x  float32, float64, complex64 or complex128, any shape; y has its type
 *
 *  At 0 it is infinity with the sign of the zero.
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = -dy y*y, and 0 where dy is 0, even at x = 0.
 *  TensorFlow: Reciprocal. */
UNARY(reciprocal, "Reciprocal", "Reciprocal", FLOATS_COMPLEX, 1 / x,
      MulNoNan(Conj(Neg(Square(y))), dy))

/* -------------------------------------------------------- roots, powers -- */

/** y = the square root of x.
 *
 *  x  float32, float64, complex64 or complex128, any shape; y has its type
 *
 *  NaN below 0.
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy 0.5 / y, infinite at 0, and 0 where dy is 0, even at
 *  x = 0.  TensorFlow: Sqrt. */
UNARY(sqrt, "Sqrt", "Sqrt", FLOATS_COMPLEX, sqrt(x), MulNoNan(Conj(Div(0.5, y)), dy))

/** y = 1 / sqrt(x).
 *
 *  x  float32, float64, complex64 or complex128, any shape; y has its type
 *
 *  Infinity at 0, NaN below.
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy (-0.5 y) y*y, and 0 where dy is 0, even at x = 0.
 *  TensorFlow: Rsqrt. */
UNARY(rsqrt, "Rsqrt", "Rsqrt", FLOATS_COMPLEX, 1 / sqrt(x),
      MulNoNan(Conj(Mul(Mul(-0.5, y), Square(y))), dy))

/** y = e^x.
 *
 *  x  float32, float64, complex64 or complex128, any shape; y has its type
 *
 *  Overflows to infinity, underflows to 0.
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy y.  TensorFlow: Exp. */
UNARY(exp, "Exp", "Exp", FLOATS_COMPLEX, EDDY_MATH(exp, x, exp(x)), Mul(dy, Conj(y)))

/** y = e^x - 1, exact to rounding near 0.
 *
 *  x  float32, float64, complex64 or complex128, any shape; y has its type
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy e^x.  TensorFlow: Expm1. */
UNARY(expm1, "Expm1", "Expm1", FLOATS_COMPLEX, EDDY_MATH(expm1, x, EDDY_EXPM1(x)),
      Mul(dy, Conj(Exp(x))))

/** y = ln x.
 *
 *  x  float32, float64, complex64 or complex128, any shape; y has its type
 *
 *  -infinity at 0, NaN below.
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy / x; NaN where both are 0.  TensorFlow: Log. */
UNARY(log, "Log", "Log", FLOATS_COMPLEX, EDDY_MATH(log, x, log(x)), Div(dy, Conj(x)))

/** y = ln(1 + x), exact to rounding near 0.
 *
 *  x  float32, float64, complex64 or complex128, any shape; y has its type
 *
 *  -infinity at -1, NaN below.
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy / (1 + x).  TensorFlow: Log1p. */
UNARY(log1p, "Log1p", "Log1p", FLOATS_COMPLEX, EDDY_MATH(log1p, x, EDDY_LOG1P(x)),
      Div(dy, Conj(Add(1, x))))

/* ---------------------------------------------------------- activations -- */

/** y = tanh x.
 *
 *  x  float32, float64, complex64 or complex128, any shape; y has its type
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy (1 - y*y).  TensorFlow: Tanh. */
UNARY(tanh, "Tanh", "Tanh", FLOATS_COMPLEX, EDDY_MATH(tanh, x, tanh(x)),
      Mul(dy, Conj(Sub(1, Square(y)))))

/** y = 1 / (1 + e^-x).
 *
 *  x  float32, float64, complex64 or complex128, any shape; y has its type
 *
 *  0 and 1 at the extremes, never NaN for a number.
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy y (1 - y).  TensorFlow: Sigmoid. */
UNARY(sigmoid, "Sigmoid", "Sigmoid", FLOATS_COMPLEX, EDDY_MATH(sigmoid, x, 1 / (1 + exp(-x))),
      Mul(dy, Conj(Mul(y, Sub(1, y)))))

/** y = erf x, the integral of 2 e^(-t*t) / sqrt(pi) for t from 0 to x.
 *
 *  x  float32 or float64, any shape; y has its type
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy 2 e^(-x*x) / sqrt(pi).  TensorFlow: Erf. */
UNARY(erf, "Erf", "Erf", FLOATS, EDDY_MATH(erf, x, erf(x)),
      Mul(dy, Mul(1.1283791670955126, Exp(Neg(Square(x))))))

/* Where |x| is larger, ln(1 + e^x) is x, or e^x, to within rounding in float64, whose
 * epsilon has the logarithm -(edge + 2). */
#define SOFTPLUS_EDGE 34.04365338911715
#define SOFTPLUS(x) (x > SOFTPLUS_EDGE ? x : x < -SOFTPLUS_EDGE ? exp(x) : log1p(exp(x)))

/** y = ln(1 + e^x).
 *
 *  x  float32 or float64, any shape; y has its type
 *
 *  x itself where e^x would not matter beside it, so nothing overflows.
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy sigmoid(x).  TensorFlow: Softplus. */
UNARY(softplus, "Softplus", "Softplus", FLOATS, EDDY_MATH(softplus, x, SOFTPLUS(x)),
      Mul(dy, Sigmoid(x)))

/** y = max(x, 0).
 *
 *  x  float32, float64, int32, int64 or uint8, any shape; y has its type
 *
 *  NaN stays NaN.
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy (y > 0), so 0 at 0 and at NaN.  TensorFlow: Relu. */
UNARY(relu, "Relu", "Relu", NUMBERS, x < 0 ? 0 : x, ReluGrad(dy, y))

/** dx = a (b > 0): the gradient of relu, for the gradient a of its result b.
 *
 *  a, b  float32, float64, int32, int64 or uint8, of one type, shapes that
 *        broadcast; b may as well be the argument of relu
 *
 *  Errors: EDDY_BAD_DTYPE if the types differ or are others; EDDY_BAD_SHAPE if
 *  the shapes do not broadcast.
 *  Gradient: da = dy (b > 0), db = zeros.  TensorFlow: ReluGrad. */
BINARY(relu_grad, "ReluGrad", "ReluGrad", NUMBERS, 0, a * (b > 0),
       ReluGrad(dy, b), ZerosLike(b))

/* ------------------------------------------------------------- rounding -- */

/** y = the largest integer not above x.
 *
 *  x  float32 or float64, any shape; y has its type
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: none, constant almost everywhere.  TensorFlow: Floor. */
UNARY_FLAT(floor, "Floor", "Floor", FLOATS, floor(x))

/** y = the smallest integer not below x.
 *
 *  x  float32 or float64, any shape; y has its type
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: none, constant almost everywhere.  TensorFlow: Ceil. */
UNARY_FLAT(ceil, "Ceil", "Ceil", FLOATS, ceil(x))

/** y = the integer nearest to x, halves to the even one.
 *
 *  x  float32 or float64, any shape; y has its type
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: none, constant almost everywhere.  TensorFlow: Round. */
UNARY_FLAT(round, "Round", "Round", FLOATS, rint(x))

/** y = the integer nearest to x, halves to the even one; the same as round.
 *
 *  x  float32 or float64, any shape; y has its type
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: none, constant almost everywhere.  TensorFlow: Rint. */
UNARY_FLAT(rint, "Rint", "Rint", FLOATS, rint(x))

/* ---------------------------------------------------------------- tests -- */

/** y = true where x is not a number.
 *
 *  x  float32 or float64, any shape; y is bool
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: none.  TensorFlow: IsNan. */
UNARY_TEST(is_nan, "IsNan", "IsNan", FLOAT_TESTS, isnan(x))

/** y = true where x is infinite, of either sign.
 *
 *  x  float32 or float64, any shape; y is bool
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: none.  TensorFlow: IsInf. */
UNARY_TEST(is_inf, "IsInf", "IsInf", FLOAT_TESTS, isinf(x) != 0)

/** y = true where x is neither infinite nor NaN.
 *
 *  x  float32 or float64, any shape; y is bool
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: none.  TensorFlow: IsFinite. */
UNARY_TEST(is_finite, "IsFinite", "IsFinite", FLOAT_TESTS, isfinite(x))

/** y = not x.
 *
 *  x  bool, any shape; y is bool
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: none.  TensorFlow: LogicalNot. */
UNARY_TEST(logical_not, "LogicalNot", "LogicalNot", BOOLS, x == 0)
