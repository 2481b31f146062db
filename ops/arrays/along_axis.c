/* along_axis.c -- gather and scatter along an axis, as in take_along_axis and put_along_axis:
 * each row has its own indices. The gradients of sorting, top-k and cumulative maxima use
 * them. */
#include "graph/base/thread_pool.h"
#include "ops/arrays/along_axis.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "ops/kernels/reduction/reduce_engine.h"
#include "build/gen/table.h"

#include <stdio.h>
#include <string.h>

typedef struct along_attrs {
    int64_t axis;
} along_attrs;

static const eddy_attr_field along_fields[] = EDDY_FIELDS(along_attrs, axis);

enum { WORK = 1 << 14 };

/* *at = the axis of input 0 counted from the front, if its rank is known; reports an error if
 * there is no such axis. */
static bool infer_along(eddy_infer *c, int64_t axis, int *at)
{
    const int rank = c->in[0].shape.rank;
    return eddy__infer_axis(c, axis, rank < 0 ? EDDY_MAX_RANK : rank, at);
}

bool eddy__infer_with_indices(eddy_infer *c, int64_t axis)
{
    const eddy_type x = c->in[0];
    int at;
    if (!infer_along(c, axis, &at)) return false;
    if (x.shape.rank >= 0 && x.shape.dim[at] > INT32_MAX)
        return eddy_infer_fail(c, EDDY_LIMIT, "axis %d has %lld elements, too many for int32", at,
                               (long long)x.shape.dim[at]);
    return eddy__infer_yield(c, 0, x.dtype, x.shape) &&
           eddy__infer_yield(c, 1, EDDY_INT32, x.shape);
}

/** y = the number of elements of x along `axis`, an int64 scalar.
 *
 *  x     any element type and shape; only its shape is used
 *  axis  in [-rank, rank)
 *
 *  Errors: EDDY_BAD_SHAPE if x has no such axis.
 *  Gradient: none.  TensorFlow: tf.shape(x)[axis]. */
eddy_tensor eddy_size_along(eddy_tensor x, int64_t axis)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)axis);
    return eddy_index(eddy_shape_tensor(x, EDDY_INT64), text);
}

/* Merges known dimensions of the other shape into *s, which keeps its size along the axis. */
static bool unify_others(eddy_infer *c, eddy_shape *s, eddy_shape with, int64_t axis)
{
    char a[128], b[128];
    if (with.rank < 0) return true;
    if (s->rank < 0) {
        int at;
        if (!eddy__infer_axis(c, axis, with.rank, &at)) return false;
        *s = with;
        s->dim[at] = EDDY_ANY;
        return true;
    }
    bool fits = s->rank == with.rank;
    for (int i = 0; fits && i < s->rank; i++)
        if (i != eddy__axis_of(axis, s->rank)) fits = eddy__dim_unify(&s->dim[i], with.dim[i]);
    return fits || eddy_infer_fail(c, EDDY_BAD_SHAPE, "%s and %s differ on an axis other than %lld",
                                   eddy_shape_print(*s, a, sizeof a),
                                   eddy_shape_print(with, b, sizeof b), (long long)axis);
}

static void along_batch(eddy_batch *b)
{
    const along_attrs *a = b->attrs;
    eddy_batch_apply(b, &(along_attrs){ eddy__batch_axis(a->axis) });
}

/* ------------------------------------------------------------- take_along -- */

static bool take_infer(eddy_infer *c)
{
    const along_attrs *a = c->attrs;
    eddy_shape y = c->in[1].shape;
    int at;
    return infer_along(c, a->axis, &at) &&
           unify_others(c, &y, c->in[0].shape, a->axis) &&
           eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

typedef struct gathering {
    const eddy_kernel *k;
    eddy_lanes x, y;
} gathering;

/* Input 1 as indices of their type. A local copy need not be reloaded after each store. */
typedef struct index_list {
    const int32_t *narrow;
    const int64_t *wide;
} index_list;

static index_list indices_of(const gathering *t)
{
    const eddy_buffer *b = t->k->in[1];
    const bool narrow = b->type.dtype == EDDY_INT32;
    return (index_list){ narrow ? b->data : NULL, narrow ? NULL : b->data };
}

static inline int64_t index_at(index_list l, int64_t i)
{
    return l.narrow ? l.narrow[i] : l.wide[i];
}

#define TEMPLATE "ops/kernels/arrays/take_along_loops.h"
#include "ops/kernels/for_sizes.h"

static eddy_status take_kernel(eddy_kernel *k)
{
    const along_attrs *a = k->attrs;
    gathering t = { k, eddy__lanes_of(k->in[0]->type.shape, a->axis),
                 eddy__lanes_of(k->out[0]->type.shape, a->axis) };
    const size_t size = eddy_dtype_size(k->out[0]->type.dtype);
    if (k->out[0]->count == 0) return EDDY_OK;
    eddy__parallel_or_stop(k, t.y.outer * t.y.n, WORK / t.y.inner + 1, EDDY_FOR_SIZE(take, size),
                           &t);
    return EDDY_OK;
}

static void take_gradient(eddy_rule *r)
{
    const along_attrs *a = r->attrs;
    r->dx[0] = eddy_put_along(r->dy[0], r->x[1], r->x[0], a->axis);
}

const eddy_op_def eddy_op_take_along = {
    .name = "TakeAlong", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_ANY_TYPE }, { "indices", EDDY_TAKES_INDICES }),
    .flags = EDDY_OP_MOVES, .attrs_size = sizeof(along_attrs), .attrs = along_fields,
    .infer = take_infer, .kernel = take_kernel, .gradient = take_gradient, .batch = along_batch,
};

/** y[..., j, ...] = x[..., indices[..., j, ...], ...] along `axis`; 0 if the index is out of range.
 *
 *  x        any element type, rank at least 1
 *  indices  int32 or int64, same shape as x except along `axis`
 *  axis     in [-rank, rank)
 *
 *  Like eddy_take_along_axis, but the rank may be unknown.
 *  Errors: EDDY_BAD_SHAPE or EDDY_INVALID_ARGUMENT if the arguments do not match.
 *  Gradient: dx = dy scattered to the indices, where repeated indices are summed; `indices` has
 *  none.
 *  TensorFlow: GatherV2 with batch_dims. */
eddy_tensor eddy_take_along(eddy_tensor x, eddy_tensor indices, int64_t axis)
{
    return eddy_apply2(&eddy_op_take_along, &(along_attrs){ axis }, x, indices);
}

/* -------------------------------------------------------------- put_along -- */

static bool put_infer(eddy_infer *c)
{
    const along_attrs *a = c->attrs;
    eddy_shape y = c->in[2].shape;
    char s[128], t[128];
    int at;
    if (!infer_along(c, a->axis, &at)) return false;
    if (!eddy_shape_compatible(c->in[0].shape, c->in[1].shape))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "values has shape %s; expected that of indices, %s",
                               eddy_shape_print(c->in[0].shape, s, sizeof s),
                               eddy_shape_print(c->in[1].shape, t, sizeof t));
    return unify_others(c, &y, c->in[0].shape, a->axis) &&
           unify_others(c, &y, c->in[1].shape, a->axis) &&
           eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

#define TEMPLATE "ops/kernels/arrays/put_along_loops.h"
#define TYPES    FOR_NUMBERS_COMPLEX
#include "ops/kernels/for_types.h"

static eddy_status put_kernel(eddy_kernel *k)
{
    const along_attrs *a = k->attrs;
    gathering t = { k, eddy__lanes_of(k->in[0]->type.shape, a->axis),
                 eddy__lanes_of(k->out[0]->type.shape, a->axis) };
    if (k->out[0]->count == 0) return EDDY_OK;
    eddy__parallel_or_stop(k, t.y.outer, WORK / ((t.x.n + t.y.n) * t.y.inner) + 1,
                           EDDY_FOR_TYPE(put, FOR_NUMBERS_COMPLEX, k->out[0]->type.dtype), &t);
    return EDDY_OK;
}

static void put_gradient(eddy_rule *r)
{
    const along_attrs *a = r->attrs;
    r->dx[0] = eddy_take_along(r->dy[0], r->x[1], a->axis);
}

const eddy_op_def eddy_op_put_along = {
    .name = "PutAlong", .min_inputs = 3, .max_inputs = 3, .outputs = 1, .shape_inputs = 1u << 2,
    .inputs = EDDY_INPUTS({ "values", EDDY_TAKES_NUMBERS_COMPLEX },
                          { "indices", EDDY_TAKES_INDICES }, { "ref", EDDY_ANY_TYPE }),
    .attrs_size = sizeof(along_attrs), .attrs = along_fields, .flops = eddy_flops_per_input,
    .infer = put_infer, .kernel = put_kernel, .gradient = put_gradient, .batch = along_batch,
};

/** y = zeros like `ref` with each value added at its index along `axis`.
 *
 *  values   any numeric type except float16 and bfloat16; rank at least 1
 *  indices  int32 or int64, same shape as values; values with an out-of-range index are dropped
 *  ref      same shape as values except along `axis`; only its shape is used
 *  axis     in [-rank, rank)
 *
 *  The gradient of eddy_take_along.
 *  Errors: EDDY_BAD_SHAPE or EDDY_INVALID_ARGUMENT if the arguments do not match.
 *  Gradient: dvalues = dy taken along the axis; the others have none.
 *  TensorFlow: ScatterNd; PyTorch's scatter_add. */
eddy_tensor eddy_put_along(eddy_tensor values, eddy_tensor indices, eddy_tensor ref, int64_t axis)
{
    return eddy_apply(&eddy_op_put_along, &(along_attrs){ axis }, 3,
                      (eddy_tensor[]){ values, indices, ref }, (eddy_apply_args){ .name = NULL });
}
