/* trigonometric.c -- trigonometric functions and their inverses, elementwise: sin, cos, tan,
 * asin, acos, atan, atan2, hypot, sinc.
 *
 * Rules use the conjugate of the derivative (ops/math/complex.c); the comments omit it. */
#include "ops/kernels/elementwise/complex_numbers.h"
#include "ops/math/elementwise_rows.h"
#include "ops/math/one_less_square.h"
#include "ops/math/sech_squared.h"
#include "ops/kernels/elementwise/vector_elementary_f64.h"

/* --------------------------------------------------------- sine, cosine -- */

#define TEMPLATE "ops/kernels/elementwise/circular_loops.h"
#include "ops/kernels/for_floats.h"

#define TILE_CIRCULAR(suffix, name, far)                                        \
    static eddy_status name##_##suffix(int64_t n, void *y, const void *const *x, \
                                       const void *attrs)                       \
    {                                                                           \
        (void)attrs;                                                            \
        return circular_##suffix(n, y, x[0], eddy__##name##_##suffix, far);     \
    }                                                                           \
    EDDY_CLONES(name##_##suffix)

TILE_CIRCULAR(f32, sin, sinf)
TILE_CIRCULAR(f64, sin, (sin))
DECLARE_COMPLEX(TILE_UNARY, sin, sin(x))
ROW_PICK(sin, FLOATS_COMPLEX)
static void sin_gradient(eddy_rule *r) { r->dx[0] = Mul(r->dy[0], Conj(Cos(r->x[0]))); }
ROW_DEF(sin, "Sin", "Sin", 1, ROW_INPUTS_1(FLOATS_COMPLEX),
        sin_gradient, eddy__infer_elementwise, 0)

TILE_CIRCULAR(f32, cos, cosf)
TILE_CIRCULAR(f64, cos, (cos))
DECLARE_COMPLEX(TILE_UNARY, cos, cos(x))
ROW_PICK(cos, FLOATS_COMPLEX)
static void cos_gradient(eddy_rule *r) { r->dx[0] = Mul(r->dy[0], Conj(Neg(Sin(r->x[0])))); }
ROW_DEF(cos, "Cos", "Cos", 1, ROW_INPUTS_1(FLOATS_COMPLEX),
        cos_gradient, eddy__infer_elementwise, 0)

/** y = sin x, x in radians.
 *
 *  x  float32, float64, complex64 or complex128, any shape; y has its type
 *
 *  NaN at infinity.
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy cos x.  TensorFlow: Sin. */
eddy_tensor eddy_sin(eddy_tensor x) { return eddy_apply1(&eddy_op_sin, NULL, x); }

/** y = cos x, x in radians.
 *
 *  x  float32, float64, complex64 or complex128, any shape; y has its type
 *
 *  NaN at infinity.
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = -dy sin x.  TensorFlow: Cos. */
eddy_tensor eddy_cos(eddy_tensor x) { return eddy_apply1(&eddy_op_cos, NULL, x); }

/* -------------------------------------------------------------- tangent -- */

TILE_CIRCULAR(f32, tan, tanf)
TILE_CIRCULAR(f64, tan, (tan))
DECLARE_COMPLEX(TILE_UNARY, tan, tan(x))
ROW_PICK(tan, FLOATS_COMPLEX)
/* 1 / cos^2 x. For complex x far from the real axis y differs from i or -i in digits that it does
 * not have, and the cosine overflows. */
static eddy_tensor tan_slope(eddy_tensor x, eddy_tensor y)
{
    if (!eddy_dtype_is_complex(eddy_dtype_of(x))) return Add(1, Square(y));
    return Where(Greater(Abs(Imag(x)), 1),
                 eddy__sech_squared(Complex(Neg(Imag(x)), Real(x))), Add(1, Square(y)));
}

static void tan_gradient(eddy_rule *r)
{
    r->dx[0] = Mul(r->dy[0], Conj(tan_slope(r->x[0], r->y[0])));
}
ROW_DEF(tan, "Tan", "Tan", 1, ROW_INPUTS_1(FLOATS_COMPLEX),
        tan_gradient, eddy__infer_elementwise, 0)

/** y = tan x, x in radians.
 *
 *  x  float32, float64, complex64 or complex128, any shape; y has its type
 *
 *  NaN at infinity.
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy (1 + y*y), with the conjugate for complex types; beyond an imaginary part of 1
 *  it is computed as dy / conj(cos(x)^2).
 *  TensorFlow: Tan. */
eddy_tensor eddy_tan(eddy_tensor x) { return eddy_apply1(&eddy_op_tan, NULL, x); }

/* ------------------------------------------------------------- inverses -- */

/** y = arcsin x, the angle from -pi/2 to pi/2 whose sine is x.
 *
 *  NaN where |x| > 1 and x is real.
 *  Gradient: dx = dy / sqrt(1 - x*x), infinite at -1 and 1.  TensorFlow: Asin. */
UNARY(asin, "Asin", "Asin", FLOATS_COMPLEX, EDDY_MATH(asin, x, asin(x)),
      Div(dy, Conj(Sqrt(eddy__one_less_square(x)))))

/** y = arccos x, the angle from 0 to pi whose cosine is x.
 *
 *  NaN where |x| > 1 and x is real.
 *  Gradient: dx = -dy / sqrt(1 - x*x), infinite at -1 and 1.  TensorFlow: Acos. */
UNARY(acos, "Acos", "Acos", FLOATS_COMPLEX, EDDY_MATH(acos, x, acos(x)),
      Neg(Div(dy, Conj(Sqrt(eddy__one_less_square(x))))))

/** y = arctan x, the angle from -pi/2 to pi/2 whose tangent is x.
 *
 *  Gradient: dx = dy / (1 + x*x).  TensorFlow: Atan. */
UNARY(atan, "Atan", "Atan", FLOATS_COMPLEX, EDDY_MATH(atan, x, atan(x)),
      Div(dy, Conj(Add(1, Square(x)))))

/* ------------------------------------------------------- functions of two operands -- */

DECLARE_FLOATS(TILE_BINARY, atan2,
               _Generic((a), float: eddy__atan2_f32((float)a, (float)b),
                             double: eddy__atan2_f64((double)a, (double)b)))
ROW_PICK(atan2, FLOATS)

/* A power of 2 by which x and y are multiplied before they are squared: 1 unless the squares
 * overflow or underflow. */
static eddy_tensor square_scale(eddy_tensor x, eddy_tensor y)
{
    const bool        single = eddy_dtype_of(x) != EDDY_FLOAT64;
    const eddy_tensor most = Maximum(Abs(x), Abs(y));
    const eddy_tensor up = Where(Less(most, single ? 0x1p-50 : 0x1p-450),
                                 single ? 0x1p100 : 0x1p600, eddy_number_like(1, most));
    return Where(Greater(most, single ? 0x1p60 : 0x1p500), single ? 0x1p-70 : 0x1p-600, up);
}

static void atan2_gradient(eddy_rule *r)
{
    const eddy_tensor scale = square_scale(r->x[1], r->x[0]);
    const eddy_tensor y = Mul(r->x[0], scale), x = Mul(r->x[1], scale);
    const eddy_tensor part = Div(r->dy[0], Add(Square(x), Square(y)));
    r->dx[0] = Mul(Mul(x, part), scale);
    r->dx[1] = Mul(Mul(Neg(y), part), scale);
}
ROW_DEF(atan2, "Atan2", "Atan2", 2, ROW_INPUTS_2(FLOATS),
        atan2_gradient, eddy__infer_elementwise, 0)

/** The angle of the point (x, y), from -pi to pi: arctan(y / x) in the correct quadrant.
 *
 *  y, x  float32 or float64, of the same type, shapes that broadcast; y comes first
 *
 *  Signs of zeros matter: the angle of the point (0, 0) is 0, and that of (-0, 0) is pi.
 *  Errors: EDDY_BAD_DTYPE for other or unequal element types; EDDY_BAD_SHAPE if the shapes
 *  do not broadcast.
 *  Gradient: with g the gradient of the result and q = g / (x*x + y*y), dy = q x and dx = -q y;
 *  NaN at (0, 0).
 *  TensorFlow: Atan2. */
eddy_tensor eddy_atan2(eddy_tensor y, eddy_tensor x)
{
    return eddy_apply2(&eddy_op_atan2, NULL, y, x);
}

/** y = sqrt(a^2 + b^2), computed without intermediate overflow.
 *
 *  Infinity if either operand is infinite, even if the other is NaN.
 *  Gradient: da = dy a / y, db = dy b / y, both 0 where y is 0.
 *  TensorFlow: none; NumPy's hypot. */
BINARY(hypot, "Hypot", "Hypot", FLOATS, 0,
       _Generic((a), float: eddy__hypot_f32((float)a, (float)b),
                     double: eddy__hypot_f64((double)a, (double)b)),
       Mul(dy, DivNoNan(a, y)), Mul(dy, DivNoNan(b, y)))

/* ----------------------------------------------------------------- sinc -- */

#define PI 3.14159265358979323846

/* sin(pi x) / (pi x).  The fraction of x is exact, so that integers give 0. */
static double sinc_of(double x)
{
    const double u = fabs(x);
    if (!(u < INFINITY)) return u == INFINITY ? 0 : x;
    if (u < 1e-9) return 1;
    const double n = rint(u), s = eddy__sin_f64(PI * (u - n)) / (PI * u);
    return fmod(n, 2) != 0 ? -s : s;
}

/* The same without branches: the sine of at most half a turn, by its power series. */
EDDY_INLINE float sinc_f32_of(float x)
{
    const double u = fabsf(x), n = rint(u), t = PI * (u - n), z = t * t;
    double p = -1.0 / 1307674368000;
    p = p * z + 1.0 / 6227020800;
    p = p * z - 1.0 / 39916800;
    p = p * z + 1.0 / 362880;
    p = p * z - 1.0 / 5040;
    p = p * z + 1.0 / 120;
    p = p * z - 1.0 / 6;
    const double s = (t + t * (z * p)) / (PI * u), y = n - 2 * rint(0.5 * n) != 0 ? -s : s;
    return (float)(u < 1e-9 ? 1 : u == INFINITY ? 0 : y);
}

/* The differentiated terms of the power series, (pi x)^(2k) / (2k + 1)!. */
static eddy_tensor sinc_slope_near(eddy_tensor x)
{
    enum { TERMS = 9 };
    double factor = 1, c[TERMS];
    for (int k = 1; k < TERMS; k++) {
        factor *= -PI * PI / (2.0 * k * (2.0 * k + 1));
        c[k] = 2 * k * factor;
    }
    const eddy_tensor z = Square(x);
    eddy_tensor y = Mul(c[TERMS - 1], z);
    for (int k = TERMS - 2; k > 1; k--) y = Mul(z, Add(c[k], y));
    return Mul(x, Add(c[1], y));
}

static void sinc_gradient(eddy_rule *r)
{
    const eddy_tensor x = r->x[0], near = Less(Abs(x), 0.25);
    const eddy_tensor inside = Where(near, x, 0), outside = Where(near, 1, x);
    /* The rest of x after whole turns of 2 is exact. */
    const eddy_tensor rest = Sub(outside, Mul(2, eddy_rint(Mul(0.5, outside))));
    const eddy_tensor slope = Div(Sub(Cos(Mul(PI, rest)), eddy_sinc(outside)), outside);
    r->dx[0] = Mul(r->dy[0], Where(near, sinc_slope_near(inside), slope));
}
DECLARE_FLOATS(TILE_UNARY, sinc,
               _Generic((x), float: sinc_f32_of((float)(x)), default: sinc_of(x)))
ROW_PICK(sinc, FLOATS)
ROW_DEF(sinc, "Sinc", "Sinc", 1, ROW_INPUTS_1(FLOATS),
        sinc_gradient, eddy__infer_elementwise, 0)

/** y = sin(pi x) / (pi x), and 1 at 0.
 *
 *  x  float32 or float64, any shape; y has its type
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy (cos(pi x) - sin(pi x) / (pi x)) / x, and 0 at 0.
 *  TensorFlow: none; NumPy's sinc. */
eddy_tensor eddy_sinc(eddy_tensor x) { return eddy_apply1(&eddy_op_sinc, NULL, x); }
