/* binary.c -- elementwise binary operations with broadcasting, y = f(a, b): add, sub, mul, div,
 * maximum, minimum, mod and others.
 *
 * Gradient rules return each gradient in y's shape; the sweep sums it to the operand's shape.
 * Most operations are rows of ops/math/elementwise_rows.h. Operations that have no result for
 * some integers (division by zero) have loops that report it, and are written as blocks. Rules
 * use the conjugate of the derivative (ops/math/complex.c); the comments omit it. */
#include "ops/kernels/elementwise/complex_numbers.h"
#include "ops/fusion_targets.h"
#include "ops/math/checked_integer_rows.h"

EDDY_FUSION_TARGETS(&eddy_op_chain, &eddy_op_square, &eddy_op_neg)

/* ----------------------------------------------------------- arithmetic -- */

/** y = a + b.
 *
 *  Integers wrap around.
 *  Gradient: da = dy, db = dy.  TensorFlow: Add. */
BINARY(add, "Add", "add", NUMBERS_COMPLEX, EDDY_OP_CHEAP, a + b, dy, dy)

/** y = a - b.
 *
 *  Integers wrap around.
 *  Gradient: da = dy, db = -dy.  TensorFlow: Sub. */
BINARY(sub, "Sub", "sub", NUMBERS_COMPLEX, EDDY_OP_CHEAP, a - b, dy, Neg(dy))

/** y = a b, elementwise.
 *
 *  Integers wrap around.
 *  Gradient: da = dy b, db = dy a.  TensorFlow: Mul. */
BINARY(mul, "Mul", "mul", NUMBERS_COMPLEX, EDDY_OP_CHEAP, a * b,
       Mul(dy, Conj(b)), Mul(dy, Conj(a)))

DECLARE_NUMBERS(TILE_BINARY, squared_difference, (a - b) * (a - b))
DECLARE_COMPLEX(TILE_BINARY, squared_difference, (a - b) * conj(a - b))
ROW_PICK(squared_difference, NUMBERS_COMPLEX)
static void squared_difference_gradient(eddy_rule *r)
{
    const eddy_tensor a = r->x[0], b = r->x[1];
    /* A squared distance is real, so the imaginary part of dy has no effect. */
    const eddy_tensor dy = CastLike(Real(r->dy[0]), r->dy[0]);
    r->dx[0] = Mul(dy, Mul(2, Sub(a, b)));
    r->dx[1] = Mul(dy, Mul(2, Sub(b, a)));
}
ROW_DEF(squared_difference, "SquaredDifference", "SquaredDifference", 2,
        ROW_INPUTS_2(NUMBERS_COMPLEX), squared_difference_gradient, eddy__infer_elementwise,
        EDDY_OP_CHEAP)

/** y = (a - b)^2; for complex types |a - b|^2.
 *
 *  a, b  any numeric type except float16 and bfloat16, the same for both, shapes that broadcast;
 *        y has their type
 *
 *  Integers wrap around.
 *  Errors: EDDY_BAD_DTYPE for other or unequal element types; EDDY_BAD_SHAPE if the shapes
 *  do not broadcast.
 *  Gradient: da = dy 2(a - b), db = -da; for complex types, with the real part of dy.
 *  TensorFlow: SquaredDifference. */
eddy_tensor eddy_squared_difference(eddy_tensor a, eddy_tensor b)
{
    return eddy_apply2(&eddy_op_squared_difference, NULL, a, b);
}

/** y = the larger of a and b.
 *
 *  y is NaN if either is NaN.
 *  Gradient: da = dy where a >= b, else db = dy; a tie goes to a.
 *  TensorFlow: Maximum. */
BINARY(maximum, "Maximum", "Maximum", NUMBERS, EDDY_OP_CHEAP, b == b ? b > a ? b : a : b,
       Where(GreaterEqual(a, b), dy, 0), Where(GreaterEqual(a, b), 0, dy))

/** y = the smaller of a and b.
 *
 *  y is NaN if either is NaN.
 *  Gradient: da = dy where a <= b, else db = dy; a tie goes to a.
 *  TensorFlow: Minimum. */
BINARY(minimum, "Minimum", "Minimum", NUMBERS, EDDY_OP_CHEAP, b == b ? b < a ? b : a : b,
       Where(LessEqual(a, b), dy, 0), Where(LessEqual(a, b), 0, dy))

/* ------------------------------------------------- zero operands -- */

/** y = a / b, and 0 where b is 0.
 *
 *  Gradient: da = dy / b, db = dy (-a / b) / b, both 0 where b is 0.
 *  TensorFlow: DivNoNan. */
BINARY(div_no_nan, "DivNoNan", "div_no_nan", FLOATS_COMPLEX, 0, b == 0 ? 0 : a / b,
       DivNoNan(dy, Conj(b)), Mul(dy, Conj(DivNoNan(DivNoNan(Neg(a), b), b))))

/** y = a b, and 0 where b is 0, even if a is infinite or NaN.
 *
 *  Gradient: da = mul_no_nan(dy, b), db = mul_no_nan(a, dy).  TensorFlow: MulNoNan. */
BINARY(mul_no_nan, "MulNoNan", "multiply_no_nan", FLOATS_COMPLEX, 0, b == 0 ? 0 : a * b,
       MulNoNan(dy, Conj(b)), MulNoNan(Conj(a), dy))

/** y = a ln b, and 0 where a is 0, for every b.
 *
 *  Gradient: da = dy ln b, db = dy a / b, both 0 where a is 0.  TensorFlow: Xlogy. */
BINARY(xlogy, "Xlogy", "xlogy", FLOATS_COMPLEX, 0,
       a == 0 ? 0 : a * EDDY_MATH(log, b, log(b)),
       Mul(dy, Conj(Xlogy(CastLike(NotEqual(a, 0), a), b))), Mul(dy, Conj(Xdivy(a, b))))

/** y = a / b, and 0 where a is 0, for every b.
 *
 *  Gradient: da = dy / b, db = -dy y / b, both 0 where a is 0.  TensorFlow: Xdivy. */
BINARY(xdivy, "Xdivy", "xdivy", FLOATS_COMPLEX, 0, a == 0 ? 0 : a / b,
       Mul(dy, Conj(Xdivy(CastLike(NotEqual(a, 0), a), b))),
       Mul(dy, Conj(Neg(Xdivy(y, b)))))

/* ------------------------------------------------------------- division -- */

/* a / b rounded toward 0 and its remainder, for nonzero b; the processor traps on the smallest
 * integer divided by -1. */
static inline int64_t quotient(int64_t a, int64_t b) { return b == -1 ? -a : a / b; }
static inline int64_t rest(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }

/* Likewise, rounded toward minus infinity; the remainder has the sign of b. */
static inline int64_t floor_rest(int64_t a, int64_t b)
{
    int64_t r = rest(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
static inline int64_t floor_quotient(int64_t a, int64_t b)
{
    int64_t r = rest(a, b);
    return quotient(a, b) - (r != 0 && (r < 0) != (b < 0));
}
/* The remainder of a / b rounded toward 0, for a finite b and a quotient below 2^28: in double
 * precision the quotient is then not rounded up to an integer, and its product with b is exact. */
EDDY_INLINE float rest_near(float a, float b)
{
    const double q = (double)(int32_t)((double)a / (double)b);
    return copysignf((float)((double)a - q * (double)b), a);
}

/* Remainders of floats, with the sign of b if `floored`. A large quotient slows down its
 * neighbors, but does not change them. */
EDDY_INLINE eddy_status rests(int64_t n, float *y, const float *a, const float *b, bool floored)
{
    enum { AT_ONCE = 512 };
    for (int64_t at = 0; at < n; at += AT_ONCE, a += AT_ONCE, b += AT_ONCE, y += AT_ONCE) {
        const int64_t m = n - at < AT_ONCE ? n - at : AT_ONCE;
        float r[AT_ONCE];
        int far = 0;
        for (int64_t i = 0; i < m; i++)
            far |= !(fabsf(a[i]) < 0x1p27f * fabsf(b[i])) | !(fabsf(b[i]) < INFINITY);
        if (far)
            for (int64_t i = 0; i < m; i++) r[i] = fmodf(a[i], b[i]);
        else
            for (int64_t i = 0; i < m; i++) r[i] = rest_near(a[i], b[i]);
        for (int64_t i = 0; i < m; i++) {
            const bool other = floored && r[i] != 0 && (r[i] < 0) != (b[i] < 0);
            y[i] = other ? r[i] + b[i] : r[i];
        }
    }
    return EDDY_OK;
}

#define TILE_RESTS(fn, floored)                                                 \
    static eddy_status fn(int64_t n, void *y, const void *const *x, const void *attrs) \
    {                                                                           \
        (void)attrs;                                                            \
        return rests(n, y, x[0], x[1], floored);                                \
    }                                                                           \
    EDDY_CLONES(fn)
static inline double floor_rest_f64(double a, double b)
{
    double r = fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

#define BY_0 "an integer is divided by 0"

CHECKED_LOOPS(div, a / b, b == 0, quotient(a, b))
DECLARE_COMPLEX(TILE_BINARY, div, a / b)
/** y = a / b.
 *
 *  Floats follow IEEE 754: 1/0 is infinity, 0/0 NaN.  Integers are divided toward 0; the
 *  smallest integer divided by -1 wraps around to itself.
 *  Errors: at run time, EDDY_INVALID_ARGUMENT if an integer is divided by 0.
 *  Gradient: da = dy / b, db = dy (-a / b) / b.  TensorFlow: RealDiv, Div for integers. */
BINARY_OF(div, "RealDiv", "truediv", NUMBERS_COMPLEX, 0, BY_0, Div(dy, Conj(b)),
          Mul(dy, Conj(Div(Div(Neg(a), b), b))))

CHECKED_LOOPS(floordiv, floor(a / b), b == 0, floor_quotient(a, b))
/** y = floor(a / b), the quotient rounded toward minus infinity.
 *
 *  Errors: at run time, EDDY_INVALID_ARGUMENT if an integer is divided by 0.
 *  Gradient: none, constant almost everywhere.  TensorFlow: FloorDiv. */
BINARY_FLAT_OF(floordiv, "FloorDiv", "floordiv", NUMBERS, 0, BY_0)

TILE_RESTS(floormod_f32, true)
CLONED(TILE_BINARY, floormod_f64, double, double, floor_rest_f64(a, b))
CHECKED_INTEGERS(floormod, b == 0, floor_rest(a, b))
/** y = a - b floor(a / b), the remainder of floordiv, with the sign of b.
 *
 *  Floats divided by 0 give NaN.
 *  Errors: at run time, EDDY_INVALID_ARGUMENT if an integer is divided by 0.
 *  Gradient: da = dy, db = -dy floor(a / b).  TensorFlow: FloorMod. */
BINARY_OF(floormod, "FloorMod", "FloorMod", NUMBERS, 0, BY_0, dy,
          Mul(dy, Neg(FloorDiv(a, b))))

CHECKED_LOOPS(truncatediv, trunc(a / b), b == 0, quotient(a, b))
/** y = trunc(a / b), the quotient rounded toward 0.
 *
 *  Errors: at run time, EDDY_INVALID_ARGUMENT if an integer is divided by 0.
 *  Gradient: none, constant almost everywhere.  TensorFlow: TruncateDiv. */
BINARY_FLAT_OF(truncatediv, "TruncateDiv", "TruncateDiv", NUMBERS, 0, BY_0)

TILE_RESTS(truncatemod_f32, false)
CLONED(TILE_BINARY, truncatemod_f64, double, double, fmod(a, b))
CHECKED_INTEGERS(truncatemod, b == 0, rest(a, b))
/** y = a - b trunc(a / b): the remainder of truncatediv, with the sign of a, as % in C.
 *
 *  Floats divided by 0 give NaN.
 *  Errors: at run time, EDDY_INVALID_ARGUMENT if an integer is divided by 0.
 *  Gradient: da = dy, db = -dy trunc(a / b).  TensorFlow: TruncateMod, tf.truncatemod. */
BINARY_OF(truncatemod, "TruncateMod", "TruncateMod", NUMBERS, 0, BY_0, dy,
          Mul(dy, Neg(TruncateDiv(a, b))))

/** y = a - b floor(a / b), with the sign of b; the same as floormod.
 *
 *  a, b  float32, float64, int32, int64 or uint8, of the same type, shapes that broadcast; y has
 *        their type
 *
 *  Errors and gradient: as for eddy_floormod.  TensorFlow: tf.mod. */
eddy_tensor eddy_mod(eddy_tensor a, eddy_tensor b) { return eddy_floormod(a, b); }

/** y = a / b, where integers are cast to float64 first, and uint8 to float32.
 *
 *  a, b  any numeric type except float16 and bfloat16, the same for both, shapes that broadcast
 *
 *  Floats follow IEEE 754: 1/0 is infinity, 0/0 NaN.
 *  Errors: EDDY_BAD_DTYPE for other or unequal element types; EDDY_BAD_SHAPE if the shapes
 *  do not broadcast.
 *  Gradient: as for eddy_div; none for integers.  TensorFlow: tf.truediv, tf.divide. */
eddy_tensor eddy_truediv(eddy_tensor a, eddy_tensor b)
{
    const eddy_dtype d = eddy_dtype_of(a);
    if (d != eddy_dtype_of(b) || !eddy_dtype_is_integer(d)) return Div(a, b);
    const eddy_dtype wide = eddy_dtype_size(d) < 4 ? EDDY_FLOAT32 : EDDY_FLOAT64;
    return Div(Cast(a, wide), Cast(b, wide));
}
