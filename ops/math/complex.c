/* complex.c -- complex numbers: conj, real, imag, angle, complex.
 *
 * The gradient of a complex x is dL/dRe x + i dL/dIm x, TensorFlow's convention: the direction
 * in which the real L grows fastest. So a rule multiplies dy by the conjugate of the derivative.
 * Conj of a real tensor is that tensor, so one rule serves real and complex types. */
#include "ops/kernels/elementwise/complex_numbers.h"
#include "graph/base/dtype.h"
#include "ops/math/elementwise_rows.h"
#include "ops/kernels/elementwise/vector_elementary_f64.h"

static bool is_real(eddy_tensor x)
{
    const eddy_dtype d = eddy_dtype_of(x);
    return eddy_is_valid(x) && (eddy_dtype_is_floating(d) || eddy_dtype_is_integer(d));
}

/* ----------------------------------------------------------------- conj -- */

DECLARE_COMPLEX(TILE_UNARY, conj, conj(x))
ROW_PICK(conj, COMPLEX)
static void conj_gradient(eddy_rule *r) { r->dx[0] = Conj(r->dy[0]); }
ROW_DEF(conj, "Conj", NULL, 1, ROW_INPUTS_1(COMPLEX),
        conj_gradient, eddy__infer_elementwise, 0)

/** y = the complex conjugate of x: the sign of the imaginary part is changed.
 *
 *  x  complex64 or complex128, any shape; y has its type.  If x is real, y is x itself
 *
 *  Errors: EDDY_BAD_DTYPE for bool.
 *  Gradient: dx = the conjugate of dy.  TensorFlow: Conj. */
eddy_tensor eddy_conj(eddy_tensor x)
{
    return is_real(x) ? x : eddy_apply1(&eddy_op_conj, NULL, x);
}

/* ---------------------------------------------------------------- parts -- */

/* y = a real number for each complex element. */
static bool infer_part(eddy_infer *c)
{
    const eddy_type x = c->in[0];
    c->out[0] = (eddy_type){ eddy_dtype_real(x.dtype), x.shape };
    return true;
}

#define PART(cname, value)                                                      \
    TILE_UNARY(cname##_c64, float complex, float, value)                        \
    TILE_UNARY(cname##_c128, double complex, double, value)                     \
    ROW_PICK(cname, COMPLEX)

PART(real, creal(x))
static void real_gradient(eddy_rule *r) { r->dx[0] = Complex(r->dy[0], 0); }
ROW_DEF(real, "Real", NULL, 1, ROW_INPUTS_1(COMPLEX),
        real_gradient, infer_part, 0)

/** y = the real part of x.
 *
 *  x  complex64 or complex128, any shape; y is float32 or float64.  If x is real, y is x itself
 *
 *  Errors: EDDY_BAD_DTYPE for bool.
 *  Gradient: dx = dy + 0i.  TensorFlow: Real. */
eddy_tensor eddy_real(eddy_tensor x)
{
    return is_real(x) ? x : eddy_apply1(&eddy_op_real, NULL, x);
}

PART(imag, cimag(x))
static void imag_gradient(eddy_rule *r) { r->dx[0] = Complex(0, r->dy[0]); }
ROW_DEF(imag, "Imag", NULL, 1, ROW_INPUTS_1(COMPLEX),
        imag_gradient, infer_part, 0)

/** y = the imaginary part of x.
 *
 *  x  complex64 or complex128, any shape; y is float32 or float64.  If x is real, y is zeros of
 *     its type
 *
 *  Errors: EDDY_BAD_DTYPE for bool.
 *  Gradient: dx = 0 + dy i.  TensorFlow: Imag. */
eddy_tensor eddy_imag(eddy_tensor x)
{
    return is_real(x) ? ZerosLike(x) : eddy_apply1(&eddy_op_imag, NULL, x);
}

/* A part that needs arithmetic, with a version of complex64 for each instruction set. */
#define PART_BY_MATH(cname, single, value)                                      \
    CLONED(TILE_UNARY, cname##_c64, float complex, float, single)               \
    CLONED(TILE_UNARY, cname##_c128, double complex, double, value)             \
    static eddy_tile_fn cname##_tile(const eddy_type *in, const eddy_type *out) \
    {                                                                           \
        (void)out;                                                              \
        if (in->dtype == EDDY_COMPLEX64) return EDDY_BEST(cname##_c64);         \
        return in->dtype == EDDY_COMPLEX128 ? EDDY_BEST(cname##_c128) : NULL;   \
    }

PART_BY_MATH(complex_abs, eddy__hypot_f32(crealf(x), cimagf(x)),
             eddy__hypot_f64(creal(x), cimag(x)))
static void complex_abs_gradient(eddy_rule *r)
{
    const eddy_tensor x = r->x[0], y = r->y[0], dy = r->dy[0];
    r->dx[0] = DivNoNan(Mul(Complex(dy, 0), x), Complex(y, 0));
}
/* The builder is eddy_abs. */
ROW_DEF(complex_abs, "ComplexAbs", "Abs", 1, ROW_INPUTS_1(COMPLEX),
        complex_abs_gradient, infer_part, 0)

PART_BY_MATH(angle, eddy__atan2_f32(cimagf(x), crealf(x)),
             eddy__atan2_f64(cimag(x), creal(x)))
static void angle_gradient(eddy_rule *r)
{
    const eddy_tensor x = r->x[0], dy = r->dy[0];
    r->dx[0] = Mul(Complex(Neg(dy), 0), Reciprocal(Complex(Imag(x), Real(x))));
}
ROW_DEF(angle, "Angle", NULL, 1, ROW_INPUTS_1(COMPLEX),
        angle_gradient, infer_part, 0)

/** y = the angle of x, in radians from -pi to pi.
 *
 *  x  complex64 or complex128, any shape; y is float32 or float64.  For float32 and float64, y
 *     has the type of x; it is pi where x < 0 and 0 elsewhere
 *
 *  The angle of 0 is 0; on the negative real axis the sign of the imaginary zero decides between
 *  pi and -pi.
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = -dy / (Im x + i Re x); none for a real x.
 *  TensorFlow: Angle. */
eddy_tensor eddy_angle(eddy_tensor x)
{
    if (eddy_is_valid(x) && eddy_dtype_is_floating(eddy_dtype_of(x)))
        return Where(Less(x, 0), NumberLike(3.14159265358979323846, x), 0);
    return eddy_apply1(&eddy_op_angle, NULL, x);
}

/* ----------------------------------------------- from two parts to one -- */

CLONED(TILE_BINARY, join_f32, float, float complex, eddy__c64(a, b))
CLONED(TILE_BINARY, join_f64, double, double complex, eddy__c128(a, b))
ROW_PICK(join, FLOATS)

static bool join_infer(eddy_infer *c)
{
    if (!eddy__infer_elementwise(c)) return false;
    c->out[0].dtype = eddy__dtype_complex(c->in[0].dtype);
    return true;
}
static void join_gradient(eddy_rule *r)
{
    r->dx[0] = Real(r->dy[0]);
    r->dx[1] = Imag(r->dy[0]);
}
const eddy_op_def eddy_op_complex = {
    .name = "Complex", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "real", EDDY_TAKES_WIDE_FLOATS }, { "imag", EDDY_LIKE(0) }),
    .flags = EDDY_OP_ELEMENTWISE, .infer = join_infer, .tile = join_tile,
    .gradient = join_gradient,
};

/** y = real + imag i.
 *
 *  real, imag  float32 or float64, of the same type, shapes that broadcast; y is complex64 or
 *              complex128
 *
 *  Errors: EDDY_BAD_SHAPE if the shapes do not broadcast.
 *  Gradient: d real = Re dy, d imag = Im dy.  TensorFlow: Complex. */
eddy_tensor eddy_complex(eddy_tensor real, eddy_tensor imag)
{
    return eddy_apply2(&eddy_op_complex, NULL, real, imag);
}
