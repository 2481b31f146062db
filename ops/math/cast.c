/* cast.c -- cast: conversion of the element type. */
#include "graph/base/half.h"
#include "ops/math/elementwise_rows.h"

typedef struct cast_attrs {
    eddy_dtype dtype;
} cast_attrs;

static const eddy_attr_field cast_fields[] = {
    { "DstT", EDDY_ATTR_DTYPE, offsetof(cast_attrs, dtype) }, { 0 },
};

static bool cast_infer(eddy_infer *c)
{
    const cast_attrs *attrs = c->attrs;
    c->out[0] = (eddy_type){ attrs->dtype, c->in[0].shape };
    if (!c->op->tile(c->in, c->out))
        return eddy_infer_fail(c, EDDY_BAD_DTYPE, "cannot cast %s to %s",
                               eddy_dtype_name(c->in[0].dtype), eddy_dtype_name(attrs->dtype));
    return true;
}

/* Converts a float x of type F to an integer: rounded toward 0, clamped to the limits, 0 for
 * NaN. */
#define SATURATED(F, x, R, least, most) \
    ((x) >= (F)(most) ? (R)(most) : (x) <= (F)(least) ? (R)(least) : (x) == (x) ? (R)(x) : (R)0)

/* Loops from one type to each of the ten. A float or complex element of type T has the real part
 * `re`, of type F, and is `all` as a complex number. Loops to floats, to integers and to 16-bit
 * floats are CLONED, or PLAIN where they are rare or do not benefit from wider vectors. */
#define PLAIN(TILE, fn, T_, R_, value) TILE(fn, T_, R_, value)
#define BEST_CLONED(fn) EDDY_BEST(fn)
#define BEST_PLAIN(fn)  (fn)
#define CASTS_FROM_FLOAT(name, T, F, re, all, half, FLOATS, INTEGERS, HALVES)   \
    FLOATS(TILE_UNARY, name##_f32, T, float, re)                                \
    FLOATS(TILE_UNARY, name##_f64, T, double, re)                               \
    INTEGERS(TILE_UNARY, name##_i32, T, int32_t, SATURATED(F, re, int32_t, INT32_MIN, INT32_MAX)) \
    INTEGERS(TILE_UNARY, name##_i64, T, int64_t, SATURATED(F, re, int64_t, INT64_MIN, INT64_MAX)) \
    INTEGERS(TILE_UNARY, name##_u8, T, uint8_t, SATURATED(F, re, uint8_t, 0, UINT8_MAX)) \
    TILE_UNARY(name##_b8, T, uint8_t, re != 0)                                  \
    TILE_UNARY(name##_c64, T, float complex, all)                               \
    TILE_UNARY(name##_c128, T, double complex, all)                             \
    HALVES(TILE_UNARY, name##_f16, T, uint16_t, eddy__f16_of_##half(re))         \
    HALVES(TILE_UNARY, name##_bf16, T, uint16_t, eddy__bf16_of_##half(re))       \
    CAST_PICK(name, FLOATS, INTEGERS, HALVES)
#define CASTS_FROM_INTEGER(name, T)                                             \
    CLONED(TILE_UNARY, name##_f32, T, float, x)                                 \
    CLONED(TILE_UNARY, name##_f64, T, double, x)                                \
    CLONED(TILE_UNARY, name##_i32, T, int32_t, x)                               \
    CLONED(TILE_UNARY, name##_i64, T, int64_t, x)                               \
    CLONED(TILE_UNARY, name##_u8, T, uint8_t, x)                                \
    TILE_UNARY(name##_b8, T, uint8_t, x != 0)                                   \
    TILE_UNARY(name##_c64, T, float complex, x)                                 \
    TILE_UNARY(name##_c128, T, double complex, x)                               \
    TILE_UNARY(name##_f16, T, uint16_t, eddy__f16_of_f64((double)x))            \
    TILE_UNARY(name##_bf16, T, uint16_t, eddy__bf16_of_f64((double)x))          \
    CAST_PICK(name, CLONED, CLONED, PLAIN)
#define CAST_PICK(name, FLOATS, INTEGERS, HALVES)                               \
    static eddy_tile_fn name(eddy_dtype to)                                     \
    {                                                                           \
        switch ((int)to) {                                                      \
            case EDDY_FLOAT32: return BEST_##FLOATS(name##_f32);                \
            case EDDY_FLOAT64: return BEST_##FLOATS(name##_f64);                \
            case EDDY_INT32: return BEST_##INTEGERS(name##_i32);                \
            case EDDY_INT64: return BEST_##INTEGERS(name##_i64);                \
            case EDDY_UINT8: return BEST_##INTEGERS(name##_u8);                 \
            case EDDY_FLOAT16: return BEST_##HALVES(name##_f16);                \
            case EDDY_BFLOAT16: return BEST_##HALVES(name##_bf16);              \
            PICK_BOOLS(name)                                                    \
            PICK_COMPLEX(name)                                                  \
        }                                                                       \
        return NULL;                                                            \
    }
CASTS_FROM_FLOAT(from_f32, float, float, x, x, f32, CLONED, CLONED, CLONED)
CASTS_FROM_FLOAT(from_f64, double, double, x, x, f64, CLONED, CLONED, PLAIN)
CASTS_FROM_FLOAT(from_f16, uint16_t, float, eddy__f32_of_f16(x), eddy__f32_of_f16(x), f32, CLONED,
                 PLAIN, PLAIN)
CASTS_FROM_FLOAT(from_bf16, uint16_t, float, eddy__f32_of_bf16(x), eddy__f32_of_bf16(x), f32,
                 CLONED, PLAIN, PLAIN)
CASTS_FROM_FLOAT(from_c64, float complex, float, crealf(x), x, f32, PLAIN, PLAIN, PLAIN)
CASTS_FROM_FLOAT(from_c128, double complex, double, creal(x), x, f64, PLAIN, PLAIN, PLAIN)
CASTS_FROM_INTEGER(from_i32, int32_t)
CASTS_FROM_INTEGER(from_i64, int64_t)
CASTS_FROM_INTEGER(from_u8, uint8_t)

static eddy_tile_fn cast_tile(const eddy_type *in, const eddy_type *out)
{
    switch ((int)in->dtype) {
    case EDDY_FLOAT32: return from_f32(out->dtype);
    case EDDY_FLOAT64: return from_f64(out->dtype);
    case EDDY_FLOAT16: return from_f16(out->dtype);
    case EDDY_BFLOAT16: return from_bf16(out->dtype);
    case EDDY_COMPLEX64: return from_c64(out->dtype);
    case EDDY_COMPLEX128: return from_c128(out->dtype);
    case EDDY_INT32: return from_i32(out->dtype);
    case EDDY_INT64: return from_i64(out->dtype);
    case EDDY_UINT8: case EDDY_BOOL: return from_u8(out->dtype);
    }
    return NULL;
}

static void cast_gradient(eddy_rule *r)
{
    const eddy_tensor x = r->x[0], dy = r->dy[0];
    if (eddy_dtype_is_differentiable(eddy_dtype_of(x)) &&
        eddy_dtype_is_differentiable(eddy_dtype_of(dy)))
        r->dx[0] = CastLike(dy, x);
}

const eddy_op_def eddy_op_cast = {
    .name = "Cast", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_ELEMENTWISE, .attrs_size = sizeof(cast_attrs), .attrs = cast_fields,
    .infer = cast_infer, .tile = cast_tile, .gradient = cast_gradient,
};

/** y = x cast to `dtype`; x itself if it already has that type.
 *
 *  x      any element type, any shape
 *  dtype  any element type; float16 and bfloat16 are storage types, which few other operations
 *         take
 *
 *  Floats are rounded toward 0 to integers; values outside the range are clamped to it, and NaN
 *  becomes 0.  Integers are truncated to smaller integers by dropping their upper bits.  To bool,
 *  nonzero values are true; from bool, false is 0 and true is 1.  A cast from a complex to any
 *  other type keeps only the real part.  Casts to float16 and bfloat16 round once, ties to even.
 *  Errors: EDDY_BAD_DTYPE for an invalid dtype.
 *  Gradient: dx = dy cast to the type of x if both x and y are floating-point or complex, else
 *  none.
 *  TensorFlow: Cast. */
eddy_tensor eddy_cast(eddy_tensor x, eddy_dtype dtype)
{
    if (eddy_is_valid(x) && eddy_dtype_of(x) == dtype && dtype != EDDY_DEFAULT_DTYPE) return x;
    return eddy_apply1(&eddy_op_cast, &(cast_attrs){ dtype }, x);
}
