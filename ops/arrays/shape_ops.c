/* shape_ops.c -- shape, size, rank and range as tensors. A session folds them to constants: it
 * never computes a tensor to learn its shape. */
#include "ops/arrays/arrays.h"
#include "graph/internal.h"
#include "ops/kernels/arrays/index_checks.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <math.h>

typedef struct shape_attrs {
    eddy_dtype dtype;
} shape_attrs;

static const eddy_attr_field shape_fields[] = EDDY_FIELDS(shape_attrs, dtype);

/* Checks that `dtype` is int32 or int64 and can represent `largest`. */
static bool dtype_holds(eddy_infer *c, int64_t largest)
{
    const shape_attrs *a = c->attrs;
    if (!eddy__infer_expects(c, "dtype", a->dtype, EDDY_TAKES_INDICES)) return false;
    if (a->dtype == EDDY_INT32 && largest > INT32_MAX)
        return eddy_infer_fail(c, EDDY_OUT_OF_RANGE, "%lld does not fit in int32; use int64",
                               (long long)largest);
    return true;
}

static eddy_tensor apply(const eddy_op_def *op, eddy_tensor x, eddy_dtype dtype)
{
    return eddy_apply1(op, &(shape_attrs){ dtype ? dtype : EDDY_INT32 }, x);
}

/* ----------------------------------------------------------------- shape -- */

/** y = the shape of x, [r] for x of rank r.
 *
 *  x      any element type and shape; it is not computed
 *  dtype  int32 or int64; 0 is int32
 *
 *  Errors: EDDY_BAD_DTYPE for any other dtype, EDDY_OUT_OF_RANGE if dtype cannot
 *  represent a dimension.
 *  Gradient: none.  TensorFlow: Shape. */
static bool shape_infer(eddy_infer *c)
{
    const shape_attrs *a = c->attrs;
    const eddy_shape x = c->in[0].shape;
    int64_t largest = 0;
    for (int i = 0; i < x.rank; i++) largest = x.dim[i] > largest ? x.dim[i] : largest;
    return dtype_holds(c, largest) &&
        eddy__infer_yield(c, 0, a->dtype, EDDY_SHAPE(x.rank < 0 ? EDDY_ANY : x.rank));
}

static eddy_status shape_kernel(eddy_kernel *k)
{
    const eddy_shape x = k->in[0]->type.shape;
    for (int i = 0; i < x.rank; i++) eddy__index_put(k->out[0], i, x.dim[i]);
    return EDDY_OK;
}

const eddy_op_def eddy_op_shape_tensor = {
    .name = "Shape", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .shape_inputs = 1,
    .attrs_size = sizeof(shape_attrs), .attrs = shape_fields,
    .infer = shape_infer, .kernel = shape_kernel, .gradient = eddy_not_differentiable,
};

eddy_tensor eddy_shape_tensor(eddy_tensor x, eddy_dtype dtype)
{
    return apply(&eddy_op_shape_tensor, x, dtype);
}

/* ------------------------------------------------------------------ size -- */

/** y = the number of elements of x, a scalar.
 *
 *  x      any element type and shape; it is not computed
 *  dtype  int32 or int64; 0 is int32
 *
 *  Errors: EDDY_BAD_DTYPE for any other dtype, EDDY_OUT_OF_RANGE if dtype cannot
 *  represent the number.
 *  Gradient: none.  TensorFlow: Size. */
static bool size_infer(eddy_infer *c)
{
    const shape_attrs *a = c->attrs;
    return dtype_holds(c, eddy_shape_count(c->in[0].shape)) &&
        eddy__infer_yield(c, 0, a->dtype, EDDY_SCALAR);
}

static eddy_status size_kernel(eddy_kernel *k)
{
    eddy__index_put(k->out[0], 0, eddy_shape_count(k->in[0]->type.shape));
    return EDDY_OK;
}

const eddy_op_def eddy_op_size = {
    .name = "Size", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .shape_inputs = 1,
    .attrs_size = sizeof(shape_attrs), .attrs = shape_fields,
    .infer = size_infer, .kernel = size_kernel, .gradient = eddy_not_differentiable,
};

eddy_tensor eddy_size(eddy_tensor x, eddy_dtype dtype)
{
    return apply(&eddy_op_size, x, dtype);
}

/* ------------------------------------------------------------------ rank -- */

/** y = the rank of x, an int32 scalar.
 *
 *  x  any element type and shape; it is not computed
 *
 *  Gradient: none.  TensorFlow: Rank. */
static bool rank_infer(eddy_infer *c)
{
    return eddy__infer_yield(c, 0, EDDY_INT32, EDDY_SCALAR);
}

static eddy_status rank_kernel(eddy_kernel *k)
{
    eddy__index_put(k->out[0], 0, k->in[0]->type.shape.rank);
    return EDDY_OK;
}

const eddy_op_def eddy_op_rank = {
    .name = "Rank", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .shape_inputs = 1,
    .infer = rank_infer, .kernel = rank_kernel, .gradient = eddy_not_differentiable,
};

eddy_tensor eddy_rank(eddy_tensor x)
{
    return eddy_apply1(&eddy_op_rank, NULL, x);
}

/* ----------------------------------------------------------- row_numbers -- */

/** y = 0, 1, ... n-1, where n is the first dimension of x.
 *
 *  x      any element type, rank at least 1; it is not computed
 *  dtype  int32 or int64; 0 is int32
 *
 *  Errors: EDDY_BAD_SHAPE for a scalar; EDDY_BAD_DTYPE for any other dtype; EDDY_OUT_OF_RANGE if
 *  dtype cannot represent n.
 *  Gradient: none.  TensorFlow: Range(0, Shape(x)[0], 1). */
static bool row_numbers_infer(eddy_infer *c)
{
    const shape_attrs *a = c->attrs;
    const eddy_shape x = c->in[0].shape;
    const int64_t n = x.rank < 0 ? EDDY_ANY : x.dim[0];
    return dtype_holds(c, n) && eddy__infer_yield(c, 0, a->dtype, EDDY_SHAPE(n));
}

static eddy_status row_numbers_kernel(eddy_kernel *k)
{
    for (int64_t i = 0; i < k->out[0]->count; i++) eddy__index_put(k->out[0], i, i);
    return EDDY_OK;
}

const eddy_op_def eddy_op_row_numbers = {
    .name = "RowNumbers", .label = "range", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .shape_inputs = 1, .inputs = EDDY_INPUTS({ "x", EDDY_RANK_FROM(1) }),
    .attrs_size = sizeof(shape_attrs), .attrs = shape_fields,
    .infer = row_numbers_infer, .kernel = row_numbers_kernel, .gradient = eddy_not_differentiable,
};

eddy_tensor eddy_row_numbers(eddy_tensor x, eddy_dtype dtype)
{
    return apply(&eddy_op_row_numbers, x, dtype);
}

/* ----------------------------------------------------------------- range -- */

/** y[i] = start + i delta, for all i with y[i] before `limit`.
 *
 *  start, limit, delta  scalars of one type: int32, int64, float32 or float64;
 *                       delta must not be 0 and must lead from start to limit
 *
 *  The length is known while building if all three are constants; otherwise a run computes it
 *  first.
 *  Errors: EDDY_BAD_DTYPE or EDDY_BAD_SHAPE for anything else,
 *  EDDY_INVALID_ARGUMENT for a delta of 0 or of the wrong sign or a number that is not
 *  finite, EDDY_LIMIT if y would be too long.
 *  Gradient: none.  TensorFlow: Range. */
static bool range_length(eddy_infer *c, int64_t *n)
{
    const double start = eddy_array_get(c->value[0], 0), limit = eddy_array_get(c->value[1], 0);
    const double delta = eddy_array_get(c->value[2], 0);
    if (!isfinite(start) || !isfinite(limit) || !isfinite(delta) || delta == 0)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "a range from %g to %g with step %g is not possible", start, limit,
                               delta);
    if (delta > 0 ? start > limit : start < limit)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "a step of %g does not lead from %g to %g",
                               delta, start, limit);
    if (eddy_dtype_is_integer(c->in[0].dtype)) {
        const int64_t a = eddy__array_integer(c->value[0], 0), b =
            eddy__array_integer(c->value[1], 0);
        const int64_t d = eddy__array_integer(c->value[2], 0);
        const uint64_t way = d > 0 ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
        const uint64_t step = d > 0 ? (uint64_t)d : 0 - (uint64_t)d;
        const uint64_t count = way / step + (way % step != 0);
        *n = count > INT64_MAX ? INT64_MAX : (int64_t)count;
        return true;
    }
    /* In the element type, as TensorFlow does: 0.3f / 0.1f is 3. */
    double count = c->in[0].dtype == EDDY_FLOAT32
        ? (double)ceilf(((float)limit - (float)start) / (float)delta)
                                                  : ceil((limit - start) / delta);
    *n = count < 0x1p62 ? (int64_t)count : INT64_MAX;
    return true;
}

static bool range_infer(eddy_infer *c)
{
    const eddy_dtype d = c->in[0].dtype;
    int64_t n = EDDY_ANY;
    if (c->value[0] && c->value[1] && c->value[2] && !range_length(c, &n)) return false;
    return eddy__infer_yield(c, 0, d, EDDY_SHAPE(n));
}

#define FOR_RANGES(M, ...) FOR_FLOATS(M, __VA_ARGS__) FOR_INDICES(M, __VA_ARGS__)
#define TEMPLATE "ops/kernels/arrays/range_loops.h"
#define TYPES    FOR_RANGES
#include "ops/kernels/for_types.h"

static eddy_status range_kernel(eddy_kernel *k)
{
    EDDY_FOR_TYPE(range, FOR_RANGES, k->out[0]->type.dtype)(k);
    return EDDY_OK;
}

const eddy_op_def eddy_op_range = {
    .name = "Range", .label = "range", .min_inputs = 3, .max_inputs = 3, .outputs = 1,
    .inputs = EDDY_INPUTS({ "start", EDDY_TAKES_WIDE_FLOATS | EDDY_TAKES_INDICES | EDDY_RANK(0) },
                          { "limit", EDDY_LIKE(0) | EDDY_RANK(0) },
                          { "delta", EDDY_LIKE(0) | EDDY_RANK(0) }),
    .value_inputs = 7,
    .infer = range_infer, .kernel = range_kernel, .gradient = eddy_not_differentiable,
};

eddy_tensor eddy_range(eddy_tensor start, eddy_tensor limit, eddy_tensor delta)
{
    return eddy_apply(&eddy_op_range, NULL, 3, (eddy_tensor[]){ start, limit, delta },
                      (eddy_apply_args){ .name = NULL });
}
