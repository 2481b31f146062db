/* powers.c -- exp2, log2, log10, cbrt, trunc, logit and other unary functions: powers and
 * logarithms to other bases, parts of numbers; rows, and compositions of other operations. */
#include "ops/math/elementwise_rows.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "ops/kernels/elementwise/vector_elementary_f64.h"


#define LN2  0.69314718055994530942
#define LN10 2.30258509299404568402
#define PI   3.14159265358979323846

/* ------------------------------------------------------- powers, logarithms -- */

/** y = 2^x.
 *
 *  Exact for integers.
 *  Gradient: dx = dy y ln 2.  TensorFlow: none; NumPy's exp2. */
UNARY(exp2, "Exp2", "Exp2", FLOATS, EDDY_REAL_MATH(exp2, x), Mul(dy, Mul(LN2, y)))

/** y = the base-2 logarithm of x.
 *
 *  Exact for powers of 2; -infinity at 0, NaN below.
 *  Gradient: dx = dy / (x ln 2).  TensorFlow: none; NumPy's log2. */
UNARY(log2, "Log2", "Log2", FLOATS, EDDY_REAL_MATH(log2, x), Div(dy, Mul(LN2, x)))

/** y = the base-10 logarithm of x.
 *
 *  -infinity at 0, NaN below.
 *  Gradient: dx = dy / (x ln 10).  TensorFlow: none; NumPy's log10. */
UNARY(log10, "Log10", "Log10", FLOATS, EDDY_REAL_MATH(log10, x), Div(dy, Mul(LN10, x)))

/** y = the cube root of x, with the sign of x.
 *
 *  Gradient: dx = dy / (3 y^2), infinite at 0.  TensorFlow: none; NumPy's cbrt. */
UNARY(cbrt, "Cbrt", "Cbrt", FLOATS, EDDY_REAL_MATH(cbrt, x), Div(dy, Mul(3, Square(y))))

/** y = -x ln x, the contribution of one outcome of probability x to an entropy, in nats.
 *
 *  0 at 0, -infinity below, NaN for NaN.
 *  Gradient: dx = -dy (1 + ln x), infinite at 0.  TensorFlow: none; PyTorch's special.entr. */
UNARY(entr, "Entr", "Entr", FLOATS,
      x > 0 ? -x * EDDY_MATH(log, x, log(x)) : x == 0 ? 0 : x < 0 ? -(T)INFINITY : x,
      Neg(Mul(dy, Add(1, Log(x)))))

/* --------------------------------------------------------- parts of numbers -- */

/** y = x rounded toward 0.
 *
 *  Gradient: none, constant almost everywhere.  TensorFlow: none; NumPy's trunc. */
UNARY_FLAT(trunc, "Trunc", "Trunc", FLOATS, trunc(x))

/** y = x - trunc(x), the fractional part, with the sign of x.
 *
 *  NaN at infinity.
 *  Gradient: dx = dy.  TensorFlow: none; PyTorch's frac. */
UNARY(frac, "Frac", "Frac", FLOATS, x - trunc(x), dy)

/* ------------------------------------------------------------------ degrees -- */

/** y = x pi / 180: degrees to radians.
 *
 *  Gradient: dx = dy pi / 180.  TensorFlow: none; NumPy's deg2rad. */
UNARY(deg2rad, "Deg2Rad", "Deg2Rad", FLOATS, x * (T)(PI / 180), eddy_deg2rad(dy))

/** y = x 180 / pi: radians to degrees.
 *
 *  Gradient: dx = dy 180 / pi.  TensorFlow: none; NumPy's rad2deg. */
UNARY(rad2deg, "Rad2Deg", "Rad2Deg", FLOATS, x * (T)(180 / PI), eddy_rad2deg(dy))

/* ----------------------------------------------------------------- formulas -- */

/** y = ln(x / (1 - x)), the inverse of sigmoid.
 *
 *  x  float32, float64, float16 or bfloat16, any shape; y has its type
 *
 *  -infinity at 0, infinity at 1, NaN outside.
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy / (x (1 - x)).  TensorFlow: none; PyTorch's logit. */
UNARY(logit, "Logit", "Logit", FLOATS, EDDY_REAL_MATH(logit, x), Div(dy, Mul(x, Sub(1, x))))

/** y = 1 / x, and 0 where x is 0.
 *
 *  x  float32, float64, complex64 or complex128, any shape; y has its type
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = -dy y*y, which is 0 at 0.
 *  TensorFlow: tf.math.reciprocal_no_nan. */
eddy_tensor eddy_reciprocal_no_nan(eddy_tensor x) { return DivNoNan(1, x); }

#ifdef EDDY_HEADER
typedef struct eddy_nan_to_num_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_nan_to_num_args));
    eddy_tensor x;
    double      nan;
    double      posinf EDDY_DEFAULT(EDDY_OMITTED); /* default the largest finite number */
    double      neginf EDDY_DEFAULT(EDDY_OMITTED); /* default the smallest finite number */
} eddy_nan_to_num_args;
#endif
/** y = x with NaN and the infinities replaced by finite numbers.
 *
 *  x       float32 or float64, any shape; y has its type
 *  nan     replaces NaN; default 0
 *  posinf  replaces infinity; default the largest finite number of the type
 *  neginf  replaces -infinity; default the smallest finite number of the type
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy where x is finite, else 0.  TensorFlow: none; NumPy's nan_to_num. */
eddy_tensor eddy_nan_to_num_with(const eddy_nan_to_num_args *given)
{
    eddy_nan_to_num_args a = EDDY_TAKE(eddy_nan_to_num_args, given);
    const double most = eddy__dtype_largest(eddy_dtype_of(a.x));
    const eddy_tensor    infinite =
        Where(Greater(a.x, 0), a.posinf != EDDY_OMITTED ? a.posinf : most,
              NumberLike(a.neginf != EDDY_OMITTED ? a.neginf : -most, a.x));
    return Where(eddy_is_finite(a.x), a.x, Where(eddy_is_nan(a.x), a.nan, infinite));
}

/** y = c[0] x^(n-1) + ... + c[n-2] x + c[n-1], by Horner's scheme.
 *
 *  coeffs  n tensors of the same type as x, highest power first; the shapes broadcast
 *  x       float32, float64, int32, int64, uint8, complex64 or complex128
 *
 *  Without coefficients, y is zeros like x.
 *  Errors: EDDY_BAD_DTYPE for other or unequal element types; EDDY_BAD_SHAPE if the shapes
 *  do not broadcast.
 *  Gradient: that of the formula.  TensorFlow: tf.math.polyval. */
eddy_tensor eddy_polyval(eddy_list coeffs, eddy_tensor x)
{
    if (coeffs.count < 1 || !coeffs.at) return ZerosLike(x);
    eddy_tensor y = coeffs.at[0];
    for (int i = 1; i < coeffs.count; i++) y = Add(coeffs.at[i], Mul(y, x));
    return y;
}
