/* gather.c -- gather: selecting elements along an axis by index, and its adjoint. */
#include "graph/base/min_max.h"
#include "graph/base/stop.h"
#include "graph/base/thread_pool.h"
#include "graph/base/cpu.h"
#include "ops/arrays/gather.h"
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <stdio.h>
#include <string.h>

typedef eddy_gather_attrs gather_attrs;

static const eddy_attr_field gather_fields[] =
    EDDY_FIELDS(gather_attrs, axis, skip_negative, batch_dims);

/* A tensor as [batch, outer, rows, inner] around the axis; each element of the batch has
 * `count` indices of its own. */
typedef struct layout {
    int64_t batch, outer, rows, inner, count;
} layout;

static layout layout_of(eddy_shape s, const gather_attrs *a, const eddy_buffer *indices)
{
    const int at = eddy__axis_of(a->axis, s.rank), own = (int)a->batch_dims;
    const eddy_shape i = indices->type.shape;
    return (layout){ eddy__shape_product(s, 0, own), eddy__shape_product(s, own, at), s.dim[at],
                     eddy__shape_product(s, at + 1, s.rank), eddy__shape_product(i, own, i.rank) };
}

/* A negative batch_dims counts from the end of the indices. */
static bool settle_batch_dims(const char *op, eddy_tensor indices, int64_t *batch_dims)
{
    const int rank = eddy_shape_of(indices).rank;
    char text[16] = "unknown";
    if (*batch_dims >= 0 || !eddy_is_valid(indices)) return true;
    if (rank >= 0 && *batch_dims >= -rank) return *batch_dims += rank, true;
    if (rank >= 0) snprintf(text, sizeof text, "%d", rank);
    eddy_fail(indices.graph, EDDY_INVALID_ARGUMENT,
              "%s: batch_dims = %lld is out of range; the rank of indices is %s", op,
              (long long)*batch_dims, text);
    return false;
}

/* Checks that the leading dimensions agree, and stores the known ones in *params. */
static bool batches_fit(eddy_infer *c, int axis, eddy_shape *params, eddy_shape indices)
{
    const int64_t n = ((const gather_attrs *)c->attrs)->batch_dims;
    char p[128], i[128];
    if (n > axis || n > indices.rank)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "batch_dims = %lld exceeds axis = %d or the rank %d of indices",
                               (long long)n, axis, indices.rank);
    for (int d = 0; d < n; d++)
        if (!eddy__dim_unify(&params->dim[d], indices.dim[d]))
            return eddy_infer_fail(
                c, EDDY_BAD_SHAPE,
                "params %s and indices %s differ in dimension %d, which is one of "
                "batch_dims = %lld",
                eddy_shape_print(*params, p, sizeof p), eddy_shape_print(indices, i, sizeof i), d,
                (long long)n);
    return true;
}

/* The shape of `params` with `axis` replaced by the dimensions of `indices`. */
static bool gathered_shape(eddy_infer *c, eddy_shape params, eddy_shape indices, eddy_shape *out)
{
    const gather_attrs *a = c->attrs;
    int axis;
    *out = EDDY_UNKNOWN_SHAPE;
    if (a->batch_dims < 0)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "batch_dims = %lld is negative",
                               (long long)a->batch_dims);
    if (params.rank < 0) return true;
    if (!eddy__infer_axis(c, a->axis, params.rank, &axis)) return false;
    if (indices.rank < 0) return true;
    if (!batches_fit(c, axis, &params, indices)) return false;
    const int own = (int)a->batch_dims, more = indices.rank - own;
    const int rank = params.rank + more - 1;
    if (rank > EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_LIMIT, "the result would have rank %d; the limit is %d",
                               rank, EDDY_MAX_RANK);
    out->rank = rank;
    for (int i = 0; i < rank; i++)
        out->dim[i] = i < axis          ? params.dim[i]
                      : i < axis + more ? indices.dim[own + i - axis]
                                        : params.dim[i - more + 1];
    return true;
}

/* ---------------------------------------------------------------- gather -- */

/** y = the elements of params at `indices` along `axis`: y[..., i, ...] = params[...,
 *  indices[i], ...].
 *
 *  params         any element type, rank at least 1
 *  indices        int32 or int64, any shape, which replaces `axis` in the shape of y;
 *                 0 <= index < the dimension there
 *  axis           -rank <= axis < rank; default: the first after batch_dims
 *  skip_negative  negative indices give zeros instead of an error
 *  batch_dims     the number of leading dimensions that params and indices share: each batch
 *                 element has its own indices.  At most axis.  If negative, it counts from the
 *                 end of indices, whose rank must then be known
 *
 *  Errors: EDDY_BAD_DTYPE, EDDY_BAD_SHAPE or EDDY_INVALID_ARGUMENT for indices
 *  of another type, scalar params, an invalid axis or batch_dims; at run time,
 *  EDDY_OUT_OF_RANGE for an index out of range.
 *  Gradient: for the first axis, the rows of dy as eddy_indexed_slices, where repeated
 *  indices are not summed; otherwise a dense sum.  `indices` has none.
 *  TensorFlow: GatherV2. */
#ifdef EDDY_HEADER
typedef struct eddy_gather_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_gather_args));
    eddy_tensor params;
    eddy_tensor indices;
    int64_t     axis;
    bool        skip_negative;
    int64_t     batch_dims;
    const char *name;
} eddy_gather_args;
#endif
static bool gather_infer(eddy_infer *c)
{
    eddy_shape s;
    if (!gathered_shape(c, c->in[0].shape, c->in[1].shape, &s)) return false;
    return eddy__infer_yield(c, 0, c->in[0].dtype, s);
}

typedef struct gathering {
    layout             l;
    const eddy_buffer *indices;
    size_t             bytes;          /* of a row */
    bool               zeros;          /* for negative indices, of which there are none otherwise */
    const char        *x;
    char              *y;
    eddy_row_fn        add;            /* of the adjoint */
    const eddy_stop   *stop;
} gathering;

/* Rows [from, to) of y. */
static void gather_rows(void *arg, int64_t from, int64_t to, int worker)
{
    const gathering *g = arg;
    const layout l = g->l;
    char *y = g->y + (size_t)from * g->bytes;
    int64_t o = from / l.count, i = from % l.count;
    (void)worker;
    for (int64_t row = from; row < to; o++, i = 0) {
        const char   *table = g->x + (size_t)(o * l.rows) * g->bytes;
        const int64_t first = o / l.outer * l.count;
        for (; i < l.count && row < to; i++, row++, y += g->bytes) {
            const int64_t at = eddy__index_at(g->indices, first + i);
            if (at < 0) memset(y, 0, g->bytes);
            else memcpy(y, table + (size_t)at * g->bytes, g->bytes);
        }
    }
}

/* The same for rows of the most common sizes, 4 and 8 bytes, which need not be aligned. */
typedef uint32_t __attribute__((may_alias, aligned(1))) bits32;
typedef uint64_t __attribute__((may_alias, aligned(1))) bits64;

#define TEMPLATE "ops/kernels/arrays/gather_loops.h"
#define TYPES    FOR_INDICES
#include "ops/kernels/for_types.h"

static eddy_parallel_fn gather_of(size_t bytes, eddy_dtype index)
{
    if (bytes == 4) return EDDY_FOR_TYPE(gather_4, FOR_INDICES, index);
    if (bytes == 8) return EDDY_FOR_TYPE(gather_8, FOR_INDICES, index);
    return gather_rows;
}

static eddy_status gather_kernel(eddy_kernel *k)
{
    enum { BYTES = 1 << 17 };
    const gather_attrs *a = k->attrs;
    const layout l = layout_of(k->in[0]->type.shape, a, k->in[1]);
    const size_t bytes = (size_t)l.inner * eddy_dtype_size(k->out[0]->type.dtype);
    gathering g = { l, k->in[1], bytes, a->skip_negative, k->in[0]->data, k->out[0]->data, NULL,
                    k->stop };
    eddy_status s = eddy__check_indices(k, k->in[1], l.rows, a->skip_negative);
    if (s != EDDY_OK || k->out[0]->count == 0) return s;
    eddy__parallel_or_stop(k, l.batch * l.outer * l.count, BYTES / (int64_t)(bytes + 16) + 1,
                           gather_of(bytes, k->in[1]->type.dtype), &g);
    return EDDY_OK;
}

static void gather_gradient(eddy_rule *r)
{
    const gather_attrs *a = r->attrs;
    const eddy_tensor params = r->x[0], indices = r->x[1], dy = r->dy[0];
    const int rank = eddy_shape_of(params).rank;
    if (a->batch_dims == 0 && (a->axis == 0 || (rank > 0 && a->axis == -rank))) {
        const bool flat = eddy_shape_of(indices).rank == 1;
        r->dx[0] = eddy_indexed_slices(flat ? dy : eddy_merge_leading(dy, indices),
                                       flat ? indices : eddy_reshape(indices, EDDY_SHAPE(EDDY_ANY)),
                                       params);
        if (a->skip_negative) r->dx[0] = eddy_slices_padded(r->dx[0]);
    } else {
        r->dx[0] = eddy_gather_grad(dy, indices, params, a->axis, a->skip_negative, a->batch_dims);
    }
}

/* Moves axis `from` to the front. */
static eddy_tensor to_front(eddy_tensor x, int from)
{
    eddy_dims perm = { .count = eddy_shape_of(x).rank };
    for (int i = 0; i < perm.count; i++) perm.at[i] = i == 0 ? from : i <= from ? i - 1 : i;
    return from > 0 ? eddy_transpose(x, perm) : x;
}

/* One table shared by the indices of all examples, one table per example with shared indices,
 * or one table and one set of indices per example. */
static void gather_batch(eddy_batch *b)
{
    const gather_attrs *a = b->attrs;
    const int rank = eddy__batch_rank(b, 0), axis = eddy__axis_of(a->axis, rank);
    const bool shared = a->batch_dims == 0;
    if (shared && !b->batched[1]) {
        b->y[0] = eddy_gather(b->x[0], b->x[1], eddy__batch_axis(a->axis), a->skip_negative);
    } else if (shared && !b->batched[0]) {
        if (a->axis != 0 && (rank < 0 || eddy_shape_of(b->x[1]).rank < 0)) return;
        b->y[0] = to_front(eddy_gather(b->x[0], b->x[1], a->axis, a->skip_negative),
                           a->axis != 0 ? axis : 0);
    } else {
        b->y[0] = eddy_gather(eddy_batch_input(b, 0), eddy_batch_input(b, 1),
                              eddy__batch_axis(a->axis), a->skip_negative, a->batch_dims + 1);
    }
}

const eddy_op_def eddy_op_gather = {
    .name = "GatherV2", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "params", EDDY_RANK_FROM(1) }, { "indices", EDDY_TAKES_INDICES }),
    .flags = EDDY_OP_MOVES, .attrs_size = sizeof(gather_attrs), .attrs = gather_fields,
    .infer = gather_infer, .kernel = gather_kernel, .gradient = gather_gradient,
    .batch = gather_batch,
};

eddy_tensor eddy_gather_with(const eddy_gather_args *given)
{
    eddy_gather_args a = EDDY_TAKE(eddy_gather_args, given);
    if (!settle_batch_dims("gather", a.indices, &a.batch_dims)) return eddy_none(a.params.graph);
    const gather_attrs attrs = { a.axis ? a.axis : a.batch_dims, a.skip_negative, a.batch_dims };
    return eddy__apply_named(a.name, &eddy_op_gather, &attrs, 2,
                             (eddy_tensor[]){ a.params, a.indices });
}

/* ----------------------------------------------------------- gather_grad -- */

/** y = zeros like `ref` with dy added at `indices` along `axis`.
 *
 *  The gradient of eddy_gather.
 *
 *  dy             any numeric type except float16 and bfloat16; the shape that gathering from
 *                 ref returns
 *  indices        int32 or int64, any shape; repeated indices are summed
 *  ref            only its shape is used; it is not computed
 *  axis           -rank <= axis < rank of ref; default: the first after batch_dims
 *  skip_negative  rows with a negative index are dropped instead of being an error
 *  batch_dims     as given to eddy_gather
 *
 *  Errors: EDDY_BAD_SHAPE if dy has another shape, EDDY_BAD_DTYPE for indices or
 *  dy of another type; at run time, EDDY_OUT_OF_RANGE for an index out of range.
 *  Gradient: ddy = the gradient gathered; the others have none.
 *  TensorFlow: UnsortedSegmentSum in the gradient of GatherV2. */
#ifdef EDDY_HEADER
typedef struct eddy_gather_grad_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_gather_grad_args));
    eddy_tensor dy;
    eddy_tensor indices;
    eddy_tensor ref;
    int64_t     axis;
    bool        skip_negative;
    int64_t     batch_dims;
    const char *name;
} eddy_gather_grad_args;
#endif
static bool gather_grad_infer(eddy_infer *c)
{
    char dy[128], text[128];
    eddy_shape s;
    if (!gathered_shape(c, c->in[2].shape, c->in[1].shape, &s)) return false;
    if (!eddy_shape_compatible(s, c->in[0].shape))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "dy has shape %s; expected %s",
                               eddy_shape_print(c->in[0].shape, dy, sizeof dy),
                               eddy_shape_print(s, text, sizeof text));
    return eddy__infer_yield(c, 0, c->in[0].dtype, c->in[2].shape);
}

#define TEMPLATE "ops/kernels/arrays/gather_grad_loops.h"
#define TYPES    FOR_NUMBERS_COMPLEX
#include "ops/kernels/for_types.h"

enum { COLUMNS = 16 };

/* Columns [from, to) of y, in units of COLUMNS: one thread computes each sum, in the
 * order of the indices. */
static void add_columns(void *arg, int64_t from, int64_t to, int worker)
{
    const gathering *g = arg;
    const layout l = g->l;
    const int64_t end = to * COLUMNS < l.inner ? to * COLUMNS : l.inner;
    const int64_t n = end - from * COLUMNS;
    const size_t  skip = (size_t)(from * COLUMNS) * (g->bytes / (size_t)l.inner);
    const char   *dy = g->x + skip;
    char         *y = g->y + skip;
    (void)worker;
    for (int64_t o = 0; o < l.batch * l.outer; o++, y += (size_t)l.rows * g->bytes)
        for (int64_t i = 0, first = o / l.outer * l.count; i < l.count;) {
            if (eddy__stopped(g->stop)) return;
            const int64_t last = eddy__min(l.count, i + eddy__turns_per_look(n));
            for (; i < last; i++, dy += g->bytes) {
                const int64_t at = eddy__index_at(g->indices, first + i);
                if (at >= 0) g->add(n, y + (size_t)at * g->bytes, dy);
            }
        }
}

static eddy_status gather_grad_kernel(eddy_kernel *k)
{
    enum { WORK = 1 << 16 };
    const gather_attrs *a = k->attrs;
    const layout l = layout_of(k->out[0]->type.shape, a, k->in[1]);
    const size_t size = eddy_dtype_size(k->out[0]->type.dtype);
    gathering g = { l, k->in[1], (size_t)l.inner * size, false, k->in[0]->data, k->out[0]->data,
                    eddy__row_add(k->out[0]->type.dtype), k->stop };
    eddy_status s = eddy__check_indices(k, k->in[1], l.rows, a->skip_negative);
    if (s != EDDY_OK || k->out[0]->count == 0) return s;
    memset(g.y, 0, (size_t)k->out[0]->count * size);
    const int64_t rows = l.batch * l.outer * l.count;
    if (l.inner == 1) {
        eddy_parallel(k, l.batch * l.outer, WORK / (l.count + 1) + 1,
                      EDDY_FOR_TYPE(add_numbers, FOR_NUMBERS_COMPLEX, k->out[0]->type.dtype), &g);
        return EDDY_OK;
    }
    eddy_parallel(k, (l.inner + COLUMNS - 1) / COLUMNS, WORK / (COLUMNS * (rows + 1)) + 1,
                           add_columns, &g);
    return EDDY_OK;
}

static void gather_grad_gradient(eddy_rule *r)
{
    const gather_attrs *a = r->attrs;
    r->dx[0] = eddy_gather(r->dy[0], r->x[1], a->axis, a->skip_negative, a->batch_dims);
}

static void gather_grad_batch(eddy_batch *b)
{
    const gather_attrs *a = b->attrs;
    const bool shared = a->batch_dims == 0 && !b->batched[1];
    b->y[0] = eddy_gather_grad(eddy_batch_input(b, 0), shared ? b->x[1] : eddy_batch_input(b, 1),
                               eddy__batch_result_like(b), eddy__batch_axis(a->axis),
                               a->skip_negative, shared ? 0 : a->batch_dims + 1);
}

const eddy_op_def eddy_op_gather_grad = {
    .name = "GatherGrad", .min_inputs = 3, .max_inputs = 3, .outputs = 1, .shape_inputs = 1u << 2,
    .inputs = EDDY_INPUTS({ "dy", EDDY_TAKES_NUMBERS_COMPLEX }, { "indices", EDDY_TAKES_INDICES },
                          { "params", EDDY_RANK_FROM(1) }),
    .attrs_size = sizeof(gather_attrs), .attrs = gather_fields,
    .flops = eddy_flops_per_input,
    .infer = gather_grad_infer, .kernel = gather_grad_kernel, .gradient = gather_grad_gradient,
    .batch = gather_grad_batch,
};

eddy_tensor eddy_gather_grad_with(const eddy_gather_grad_args *given)
{
    eddy_gather_grad_args a = EDDY_TAKE(eddy_gather_grad_args, given);
    if (!settle_batch_dims("gather_grad", a.indices, &a.batch_dims)) return eddy_none(a.dy.graph);
    const gather_attrs attrs = { a.axis ? a.axis : a.batch_dims, a.skip_negative, a.batch_dims };
    return eddy__apply_named(a.name, &eddy_op_gather_grad, &attrs, 3,
                             (eddy_tensor[]){ a.dy, a.indices, a.ref });
}
