/* one_hot.c -- one-hot encoding: each class index becomes a row of zeros with a single 1. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "ops/kernels/reduction/reduce_engine.h"
#include "build/gen/table.h"

#include <string.h>

/** y[..., k] = on_value where k = indices[...], else off_value, for k in [0, depth).
 *
 *  indices    int32, int64 or uint8, any shape, rank below 8; an index outside
 *             [0, depth) gives off_value everywhere
 *  depth      >= 0, the size of the new dimension
 *  on_value   default: 1; saturated for integers
 *  off_value  likewise; default: 0
 *  axis       the position of the new dimension, EDDY_AXES(a) with
 *             -rank-1 <= a <= rank; default: the last
 *  dtype      of y; default: float32
 *
 *  Errors: EDDY_BAD_DTYPE for other indices, EDDY_INVALID_ARGUMENT if depth is
 *  negative or y has no such axis, EDDY_LIMIT if y is too large.
 *  Gradient: none.  TensorFlow: OneHot. */
#ifdef EDDY_HEADER
typedef struct eddy_one_hot_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_one_hot_args));
    eddy_tensor indices;
    int64_t     depth;
    double      on_value EDDY_DEFAULT(1);
    double      off_value;
    eddy_dims   axis;
    eddy_dtype  dtype;
    const char *name;
} eddy_one_hot_args;
#endif
typedef struct one_hot_attrs {
    int64_t    depth, axis;
    double     on_value, off_value;
    eddy_dtype dtype;
} one_hot_attrs;

static bool one_hot_infer(eddy_infer *c)
{
    const one_hot_attrs *a = c->attrs;
    const eddy_shape x = c->in[0].shape;
    int axis;
    if (eddy_dtype_size(a->dtype) == 0)
        return eddy_infer_fail(c, EDDY_BAD_DTYPE, "no such element type: %d", (int)a->dtype);
    if (a->depth < 0)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "depth is %lld; it must not be negative",
                               (long long)a->depth);
    if (x.rank < 0) return eddy__infer_yield(c, 0, a->dtype, x);
    if (x.rank == EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_LIMIT, "the result would have rank %d; the limit is %d",
                               x.rank + 1, EDDY_MAX_RANK);
    if (!eddy__infer_axis(c, a->axis, x.rank + 1, &axis)) return false;
    return eddy__infer_yield(c, 0, a->dtype, eddy__shape_with(x, axis, a->depth));
}

typedef struct one_hot_state {
    char on[16], off[16];
} one_hot_state;

static bool encode(eddy_dtype d, double value, char *to)
{
    eddy_array *v = eddy_array_of(d, value);
    if (v) memcpy(to, eddy_array_data(v), eddy_array_bytes(v));
    eddy_array_free(v);
    return v != NULL;
}

static eddy_status one_hot_prepare(eddy_kernel *k)
{
    const one_hot_attrs *a = k->attrs;
    one_hot_state *s = eddy_kernel_state(k, sizeof *s);
    if (s && encode(a->dtype, a->on_value, s->on) && encode(a->dtype, a->off_value, s->off))
        return EDDY_OK;
    return eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for the values");
}

static eddy_status one_hot_kernel(eddy_kernel *k)
{
    const one_hot_attrs *a = k->attrs;
    const one_hot_state *s = k->state;
    const eddy_buffer   *x = k->in[0], *y = k->out[0];
    const eddy_shape     shape = y->type.shape;
    const size_t         size = eddy_dtype_size(a->dtype);
    const int            axis = eddy__axis_of(a->axis, shape.rank);
    const int64_t        inner = eddy__shape_product(shape, axis + 1, shape.rank);
    eddy_box all = { .rank = 0 };
    eddy__box_add(&all, y->count, 1, 0);
    eddy__box_copy_parallel(k, &all, size, y->data, s->off);
    for (int64_t i = 0; i < x->count; i++) {
        const int64_t at = eddy__index_at(x, i);
        if (at < 0 || at >= a->depth) continue;
        const int64_t place = (i / inner * a->depth + at) * inner + i % inner;
        memcpy((char *)y->data + (size_t)place * size, s->on, size);
    }
    return EDDY_OK;
}

static void one_hot_batch(eddy_batch *b)
{
    one_hot_attrs a = *(const one_hot_attrs *)b->attrs;
    a.axis = eddy__batch_axis(a.axis);
    eddy_batch_apply(b, &a);
}

const eddy_op_def eddy_op_one_hot = {
    .name = "OneHot", .label = "one_hot", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "indices", EDDY_TAKES_INTEGERS }),
    .attrs_size = sizeof(one_hot_attrs),
    .attrs = EDDY_ATTRS(one_hot_attrs, depth, axis, on_value, off_value, dtype),
    .infer = one_hot_infer, .prepare = one_hot_prepare, .kernel = one_hot_kernel,
    .gradient = eddy_not_differentiable, .batch = one_hot_batch,
};

eddy_tensor eddy_one_hot_with(const eddy_one_hot_args *given)
{
    eddy_one_hot_args a = EDDY_TAKE(eddy_one_hot_args, given);
    one_hot_attrs attrs = {
        .depth = a.depth, .on_value = a.on_value, .off_value = a.off_value,
        .dtype = a.dtype ? a.dtype : EDDY_FLOAT32,
    };
    if (!eddy__take_axis(a.indices.graph, &eddy_op_one_hot, a.axis, &attrs.axis))
        return eddy_none(a.indices.graph);
    return eddy__apply_named(a.name, &eddy_op_one_hot, &attrs, 1, &a.indices);
}
