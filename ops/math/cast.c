/* cast.c -- cast: conversion of the element type. */
#include "graph/base/dtype.h"
#include "graph/base/half.h"
#include "ops/kernels/elementwise/half_casts.h"
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

/* The float r as an integer R: rounded toward 0, clamped to the limits, 0 for NaN. */
#define SATURATED(r, R, least, most)                                            \
    ((r) >= (__typeof__(r))(most) ? (R)(most) : (r) <= (__typeof__(r))(least) ? (R)(least) \
     : (r) == (r) ? (R)(r) : (R)0)
#define SATURATED_TO(to, r)                                                     \
    SATURATED(r, EDDY_COLUMN(ELEMENT, to), EDDY_COLUMN(LOWEST, to), EDDY_COLUMN(HIGHEST, to))
#define WRAPPED_TO(to, r) r

/* The loop that converts elements of T to the type `to`: each becomes `value`. */
#define CAST_TO(to, VERSIONS, value)                                            \
    VERSIONS(TILE_UNARY, EDDY_NAME(NAME(cast), to), EDDY_COLUMN(ELEMENT, SUFFIX), \
             EDDY_COLUMN(ELEMENT, to), value)
#define CAST_TO_INTEGER(to, VERSIONS, r) CAST_TO(to, VERSIONS, TO_INTEGER(to, r))
#define CAST_TO_HALF(to, VERSIONS, r)                                           \
    CAST_TO(to, VERSIONS, _Generic((r), float: eddy__##to##_of_f32((float)(r)), \
                                   default: eddy__##to##_of_f64((double)(r))))
#define CAST_CASE(to, VERSIONS)                                                 \
    case EDDY_COLUMN(DTYPE, to): return EDDY_NAME(BEST, VERSIONS)(EDDY_NAME(NAME(cast), to));
#define PLAIN(TILE, fn, T_, R_, value) TILE(fn, T_, R_, value)
#define BEST_CLONED(fn) EDDY_BEST(fn)
#define BEST_PLAIN(fn)  (fn)

#define FOR_CASTS(M, ...) FOR_NUMBERS_COMPLEX(M, __VA_ARGS__) FOR_HALVES(M, __VA_ARGS__)
#define TEMPLATE "ops/math/cast_rows.h"
#define TYPES    FOR_CASTS
#include "ops/kernels/for_types.h"

static eddy_tile_fn cast_tile(const eddy_type *in, const eddy_type *out)
{
    const bool single = (in->dtype == EDDY_FLOAT32) != (out->dtype == EDDY_FLOAT32);
    if (single && eddy__dtype_is_half(in->dtype)) return eddy__half_to_f32(in->dtype);
    if (single && eddy__dtype_is_half(out->dtype)) return eddy__f32_to_half(out->dtype);
    eddy_tile_fn (*from)(eddy_dtype) =
        EDDY_FOR_TYPE(cast, FOR_CASTS, eddy__dtype_as_number(in->dtype));
    return from ? from(out->dtype) : NULL;
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
    .flags = EDDY_OP_ELEMENTWISE | EDDY_OP_CHEAP,
    .attrs_size = sizeof(cast_attrs), .attrs = cast_fields,
    .infer = cast_infer, .tile = cast_tile, .gradient = cast_gradient,
};

/** y = x cast to `dtype`; x itself if it already has that type.
 *
 *  x      any element type, any shape
 *  dtype  any element type
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
