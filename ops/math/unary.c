/* unary.c -- elementwise unary operations, y[i] = f(x[i]): neg, abs, sign, square, sqrt, relu,
 * floor and others, one row each.
 *
 * To add one, copy a row with its comment; ops/math/elementwise_rows.h describes the columns.
 * Where TensorFlow's gradient is 0 for dy = 0 even if the derivative is infinite, a rule uses
 * MulNoNan. Rules use the conjugate of the derivative (ops/math/complex.c); the comments omit
 * it. */
#include "ops/kernels/elementwise/complex_numbers.h"
#include "ops/math/elementwise_rows.h"

/* ----------------------------------------------------------- arithmetic -- */

DECLARE_NUMBERS_COMPLEX(TILE_UNARY, neg, -x)
/** y = -x.
 *
 *  Integers wrap around: the smallest one is its own negative.
 *  Gradient: dx = -dy.  TensorFlow: Neg. */
UNARY_OF(neg, "Neg", "Neg", NUMBERS_COMPLEX, EDDY_OP_CHEAP, Neg(dy))

DECLARE_NUMBERS(TILE_UNARY, abs, x > 0 ? x : 0 - x)
ROW_PICK(abs, NUMBERS)
static void abs_gradient(eddy_rule *r) { r->dx[0] = Mul(r->dy[0], Sign(r->x[0])); }
ROW_DEF(abs, "Abs", "Abs", 1, ROW_INPUTS_1(NUMBERS),
        abs_gradient, eddy__infer_elementwise, EDDY_OP_CHEAP)

/** y = |x|.
 *
 *  x  any numeric type except float16 and bfloat16, any shape; y has its type, float32 for
 *     complex64, float64 for complex128
 *
 *  NaN stays NaN; the smallest int32 or int64 is unchanged.
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
    /* The component of dy perpendicular to x rotates y, the less the larger |x| is. */
    const eddy_tensor along = Mul(y, CastLike(Real(Mul(dy, Conj(y))), y));
    r->dx[0] = DivNoNan(Sub(dy, along), CastLike(Abs(x), y));
}
ROW_DEF(sign, "Sign", "Sign", 1, ROW_INPUTS_1(NUMBERS_COMPLEX),
        sign_gradient, eddy__infer_elementwise, 0)

/** y = sign(x): -1 where x < 0, 0 where x is 0, 1 where x > 0; for a complex x, x / |x|, and 0 at
 *  0.
 *
 *  x  any numeric type except float16 and bfloat16, any shape; y has its type
 *
 *  NaN stays NaN.
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = 0 for a real x, which counts as connected; for a complex x the derivative of x
 *  / |x|, and 0 at 0, where TensorFlow returns zeros.  TensorFlow: Sign. */
eddy_tensor eddy_sign(eddy_tensor x)
{
    return eddy_apply1(&eddy_op_sign, NULL, x);
}

DECLARE_NUMBERS_COMPLEX(TILE_UNARY, square, x * x)
/** y = x*x.
 *
 *  Gradient: dx = 2 (dy x), which is 0 where dy is, also where 2x overflows.
 *  TensorFlow: Square. */
UNARY_OF(square, "Square", "Square", NUMBERS_COMPLEX, EDDY_OP_CHEAP, Mul(2, Mul(dy, Conj(x))))

/** y = 1 / x.
 *
 *  At 0 it is infinity, with the sign of the zero.
 *  Gradient: dx = -dy y*y; 0 where dy is 0, even at x = 0.
 *  TensorFlow: Reciprocal. */
UNARY(reciprocal, "Reciprocal", "Reciprocal", FLOATS_COMPLEX, 1 / x,
      MulNoNan(Conj(Neg(Square(y))), dy))

/* -------------------------------------------------------- roots, powers -- */

/** y = the square root of x.
 *
 *  NaN below 0.
 *  Gradient: dx = dy 0.5 / y, infinite at 0; 0 where dy is 0, even at x = 0.  TensorFlow: Sqrt. */
UNARY(sqrt, "Sqrt", "Sqrt", FLOATS_COMPLEX, sqrt(x), MulNoNan(Conj(Div(0.5, y)), dy))

/** y = 1 / sqrt(x).
 *
 *  Infinity at 0, NaN below.
 *  Gradient: dx = dy (-0.5 y) y*y; 0 where dy is 0, even at x = 0.
 *  TensorFlow: Rsqrt. */
UNARY(rsqrt, "Rsqrt", "Rsqrt", FLOATS_COMPLEX, 1 / sqrt(x),
      MulNoNan(Conj(Mul(Mul(-0.5, y), Square(y))), dy))

/* ---------------------------------------------------------- activations -- */

DECLARE_NUMBERS(TILE_UNARY, relu, x < 0 ? 0 : x)
/** y = max(x, 0).
 *
 *  NaN stays NaN.
 *  Gradient: dx = dy (y > 0), which is 0 at 0 and at NaN.  TensorFlow: Relu. */
UNARY_OF(relu, "Relu", "Relu", NUMBERS, EDDY_OP_CHEAP, ReluGrad(dy, y))

/** dx = a (b > 0): the gradient of relu, given the gradient a of its result b.
 *
 *  a, b  float32, float64, int32, int64 or uint8, of the same type, shapes that broadcast; b may
 *        also be the argument of relu
 *
 *  Gradient: da = dy (b > 0), db = 0.  TensorFlow: ReluGrad. */
BINARY(relu_grad, "ReluGrad", "ReluGrad", NUMBERS, EDDY_OP_CHEAP, a * (b > 0),
       ReluGrad(dy, b), ZerosLike(b))

/* ------------------------------------------------------------- rounding -- */

/** y = the largest integer <= x.
 *
 *  Gradient: none, constant almost everywhere.  TensorFlow: Floor. */
UNARY_FLAT(floor, "Floor", "Floor", FLOATS, floor(x))

/** y = the smallest integer >= x.
 *
 *  Gradient: none, constant almost everywhere.  TensorFlow: Ceil. */
UNARY_FLAT(ceil, "Ceil", "Ceil", FLOATS, ceil(x))

DECLARE_FLOATS(TILE_UNARY, round, rint(x))
DECLARE_INTEGERS(TILE_UNARY, round, x)
ROW_PICK(round, NUMBERS)
ROW_DEF(round, "Round", "Round", 1, ROW_INPUTS_1(NUMBERS), eddy_not_differentiable,
        eddy__infer_elementwise, 0)
/** y = x rounded to the nearest integer, ties to even; integers are unchanged.
 *
 *  x  float32, float64, int32, int64 or uint8, any shape; y has its type
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: none, constant almost everywhere.  TensorFlow: Round. */
eddy_tensor eddy_round(eddy_tensor x) { return eddy_apply1(&eddy_op_round, NULL, x); }

/** y = x rounded to the nearest integer, ties to even; the same as round, for floats only.
 *
 *  Gradient: none, constant almost everywhere.  TensorFlow: Rint. */
UNARY_FLAT(rint, "Rint", "Rint", FLOATS, rint(x))

/* ---------------------------------------------------------------- tests -- */

/** y = true where x is not a number.
 *
 *  Gradient: none.  TensorFlow: IsNan. */
UNARY_TEST(is_nan, "IsNan", "IsNan", FLOAT_TESTS, 0, isnan(x))

/** y = true where x is infinite, of either sign.
 *
 *  Gradient: none.  TensorFlow: IsInf. */
UNARY_TEST(is_inf, "IsInf", "IsInf", FLOAT_TESTS, 0, isinf(x) != 0)

/** y = true where x is neither infinite nor NaN.
 *
 *  Gradient: none.  TensorFlow: IsFinite. */
UNARY_TEST(is_finite, "IsFinite", "IsFinite", FLOAT_TESTS, 0, isfinite(x))

/** y = not x.
 *
 *  Gradient: none.  TensorFlow: LogicalNot. */
UNARY_TEST(logical_not, "LogicalNot", "LogicalNot", BOOLS, EDDY_OP_CHEAP, x == 0)
