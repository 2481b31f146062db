/* binary_formulas.c -- logaddexp, copysign, nextafter, heaviside, ldexp, is_close, lerp, addcmul
 * and addcdiv: rows, and compositions of other operations. */
#include "ops/math/elementwise_rows.h"
#include "graph/call_options.h"
#include "ops/kernels/elementwise/vector_elementary_f64.h"

#define LN2 0.69314718055994530942

/* --------------------------------------------------- sums of exponentials -- */

/* Equal numbers, which may be infinite, are not subtracted. */
EDDY_INLINE float logaddexp_f32_of(float a, float b)
{
    const float most = a > b ? a : b, y = most + eddy__log1p_exp_f32(-fabsf(a - b));
    return a == b ? a + (float)LN2 : y;
}
EDDY_INLINE double logaddexp_f64_of(double a, double b)
{
    const double most = a > b ? a : b, y = most + eddy__log1p_exp_f64(-fabs(a - b));
    return a == b ? a + LN2 : y;
}

/* a - b, and 0 for equal infinities. */
static eddy_tensor difference(eddy_tensor a, eddy_tensor b)
{
    const eddy_tensor same = LogicalAnd(Equal(a, b), eddy_is_inf(a));
    return Where(same, 0, Sub(a, b));
}

/** y = ln(e^a + e^b), computed without intermediate overflow.
 *
 *  Gradient: da = dy sigmoid(a - b), db = dy sigmoid(b - a); dy / 2 each for equal infinities,
 *  where PyTorch 1.13 gives NaN.
 *  TensorFlow: none; NumPy's logaddexp. */
BINARY(logaddexp, "LogAddExp", "LogAddExp", FLOATS, 0,
       _Generic((a), float: logaddexp_f32_of((float)a, (float)b), default: logaddexp_f64_of(a, b)),
       Mul(dy, Sigmoid(difference(a, b))), Mul(dy, Sigmoid(difference(b, a))))

/** y = the base-2 logarithm of 2^a + 2^b, computed without intermediate overflow.
 *
 *  a, b  float32 or float64, of the same type, shapes that broadcast; y has their type
 *
 *  Errors: EDDY_BAD_DTYPE for other or unequal element types; EDDY_BAD_SHAPE if the shapes
 *  do not broadcast.
 *  Gradient: that of the formula.  TensorFlow: none; NumPy's logaddexp2. */
eddy_tensor eddy_logaddexp2(eddy_tensor a, eddy_tensor b)
{
    return Mul(eddy_logaddexp(Mul(a, LN2), Mul(b, LN2)), 1 / LN2);
}

/* ------------------------------------------------------ signs, neighbors -- */

/* Neighboring numbers of the same sign have neighboring bit patterns. */
EDDY_INLINE float nextafter_f32_of(float a, float b)
{
    const uint32_t at = eddy__bits_of_f32(a);
    const uint32_t next = (b > a) == (a > 0.0f) ? at + 1 : at - 1;
    const uint32_t least = (eddy__bits_of_f32(b) & EDDY_SIGN_BIT) | 1;
    const float    y = eddy__f32_of_bits(a == 0.0f ? least : next);
    return a == b ? b : a != a || b != b ? a + b : y;
}

/** y = |a| with the sign of b, which may be a signed zero.
 *
 *  Gradient: da = dy sign(a) sign(y), 0 where a is 0; db = 0.
 *  TensorFlow: none; NumPy's copysign. */
BINARY(copysign, "CopySign", "CopySign", FLOATS, 0, copysign(a, b),
       Mul(dy, eddy_copysign(Sign(a), Mul(Sign(a), b))), ZerosLike(b))

/** y = the next representable number after a in the direction of b; b where they are equal.
 *
 *  Gradient: da = dy, db = 0.  TensorFlow: NextAfter. */
BINARY(nextafter, "NextAfter", "NextAfter", FLOATS, 0,
       _Generic((a), float: nextafter_f32_of((float)a, (float)b), default: nextafter(a, b)),
       dy, ZerosLike(b))

/** y = 0 where a < 0, 1 where a > 0, and b where a is 0.
 *
 *  NaN where a is NaN.
 *  Gradient: none, constant almost everywhere.  TensorFlow: none; NumPy's heaviside. */
BINARY_FLAT(heaviside, "Heaviside", "Heaviside", NUMBERS, 0,
            a > 0 ? 1 : a < 0 ? 0 : a == 0 ? b : a)

/** y = x 2^n.
 *
 *  x  float32 or float64; y has its type
 *  n  any real type; the shapes broadcast
 *
 *  2^n itself must neither overflow nor underflow.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE if the shapes
 *  do not broadcast.
 *  Gradient: that of the formula, also for n if it is floating-point.
 *  TensorFlow: none; PyTorch's ldexp. */
eddy_tensor eddy_ldexp(eddy_tensor x, eddy_tensor n)
{
    return Mul(x, eddy_exp2(CastLike(n, x)));
}

/* ------------------------------------------------------------- closeness -- */

#ifdef EDDY_HEADER
typedef struct eddy_approximate_equal_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_approximate_equal_args));
    eddy_tensor a, b;
    double      tolerance EDDY_DEFAULT(1e-5);
} eddy_approximate_equal_args;
#endif
/** y = (|a - b| < tolerance).
 *
 *  a, b       float32, float64, int32, int64 or uint8, of the same type, shapes that broadcast; y
 *             is bool
 *  tolerance  must be positive.  With a tolerance of at most 1, integers must be equal
 *
 *  False where either is NaN.
 *  Errors: EDDY_BAD_DTYPE for other or unequal element types; EDDY_BAD_SHAPE if the shapes
 *  do not broadcast.
 *  Gradient: none.  TensorFlow: ApproximateEqual. */
eddy_tensor eddy_approximate_equal_with(const eddy_approximate_equal_args *given)
{
    eddy_approximate_equal_args a = EDDY_TAKE(eddy_approximate_equal_args, given);
    const bool   integers = eddy_dtype_is_integer(eddy_dtype_of(a.a));
    const double tolerance = a.tolerance > 0 ? a.tolerance : 0;
    const eddy_tensor d = Sub(Maximum(a.a, a.b), Minimum(a.a, a.b));
    if (!integers) return Less(d, tolerance);
    /* A difference that overflows is negative. */
    return LogicalAnd(GreaterEqual(d, 0), Less(d, ceil(tolerance)));
}

#ifdef EDDY_HEADER
typedef struct eddy_is_close_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_is_close_args));
    eddy_tensor a, b;
    double      rtol EDDY_DEFAULT(1e-5);
    double      atol EDDY_DEFAULT(1e-8);
    bool        equal_nan;
} eddy_is_close_args;
#endif
/** y = (|a - b| <= atol + rtol |b|).
 *
 *  a, b       float32 or float64, of the same type, shapes that broadcast; y is bool
 *  rtol       relative tolerance; negative: none
 *  atol       absolute tolerance; negative: none
 *  equal_nan  treats NaN as close to NaN
 *
 *  An infinity is close only to itself.
 *  Errors: EDDY_BAD_DTYPE for other or unequal element types; EDDY_BAD_SHAPE if the shapes
 *  do not broadcast.
 *  Gradient: none.  TensorFlow: none; NumPy's isclose. */
eddy_tensor eddy_is_close_with(const eddy_is_close_args *given)
{
    eddy_is_close_args a = EDDY_TAKE(eddy_is_close_args, given);
    const double rtol = a.rtol > 0 ? a.rtol : 0;
    const double atol = a.atol > 0 ? a.atol : 0;
    const eddy_tensor near = LessEqual(Abs(Sub(a.a, a.b)), Add(atol, Mul(rtol, Abs(a.b))));
    const eddy_tensor finite = LogicalAnd(eddy_is_finite(a.a), eddy_is_finite(a.b));
    const eddy_tensor y = LogicalOr(Equal(a.a, a.b), LogicalAnd(finite, near));
    if (!a.equal_nan) return y;
    return LogicalOr(y, LogicalAnd(eddy_is_nan(a.a), eddy_is_nan(a.b)));
}

/* --------------------------------------------------------- interpolation -- */

/** y = a + weight (b - a), linear interpolation; exactly b for a weight of 1, because it is
 *  computed as b - (b - a) (1 - weight) where |weight| >= 1/2.
 *
 *  a, b, weight  any numeric type except float16 and bfloat16, the same for all, shapes that
 *                broadcast; y has their type
 *
 *  Errors: EDDY_BAD_DTYPE for other or unequal element types; EDDY_BAD_SHAPE if the shapes
 *  do not broadcast.
 *  Gradient: that of the formula.  TensorFlow: none; PyTorch's lerp. */
eddy_tensor eddy_lerp(eddy_tensor a, eddy_tensor b, eddy_tensor weight)
{
    const eddy_tensor d = Sub(b, a), from_a = Add(a, Mul(weight, d));
    if (!eddy_is_valid(from_a) || eddy_dtype_is_integer(eddy_dtype_of(from_a))) return from_a;
    return Where(Less(Abs(weight), 0.5), from_a, Sub(b, Mul(d, Sub(1, weight))));
}

#ifdef EDDY_HEADER
typedef struct eddy_addc_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_addc_args));
    eddy_tensor x, a, b;
    double      value EDDY_DEFAULT(1);
} eddy_addc_args;
#endif
/** y = x + value a b.
 *
 *  x, a, b  any numeric type except float16 and bfloat16, the same for all, shapes that
 *           broadcast; y has their type
 *
 *  Errors: EDDY_BAD_DTYPE for other or unequal element types; EDDY_BAD_SHAPE if the shapes
 *  do not broadcast.
 *  Gradient: that of the formula.  TensorFlow: none; PyTorch's addcmul. */
eddy_tensor eddy_addcmul_with(const eddy_addc_args *given)
{
    eddy_addc_args a = EDDY_TAKE(eddy_addc_args, given);
    const bool plain = a.value == 1;
    return Add(a.x, Mul(plain ? a.a : Mul(a.value, a.a), a.b));
}

/** y = x + value a / b.
 *
 *  x, a, b  any numeric type except float16 and bfloat16, the same for all, shapes that
 *           broadcast; y has their type
 *
 *  Errors: EDDY_BAD_DTYPE for other or unequal element types; EDDY_BAD_SHAPE if the shapes
 *  do not broadcast; at run time, EDDY_INVALID_ARGUMENT if an integer is divided by 0.
 *  Gradient: that of the formula.  TensorFlow: none; PyTorch's addcdiv. */
eddy_tensor eddy_addcdiv_with(const eddy_addc_args *given)
{
    eddy_addc_args a = EDDY_TAKE(eddy_addc_args, given);
    const bool plain = a.value == 1;
    return Add(a.x, Div(plain ? a.a : Mul(a.value, a.a), a.b));
}
