/* gather_nd.c -- gather_nd and scatter_nd: slices addressed by tuples of indices are gathered,
 * added into zeros, or written into a tensor. */
#include "graph/base/thread_pool.h"
#include "ops/arrays/batching.h"
#include "graph/call_options.h"
#include "ops/short_names.h"
#include "ops/arrays/nd_indices.h"
#include "build/gen/table.h"

#include <string.h>

/* ------------------------------------------------------------- gather_nd -- */

/** y[b..., i..., :] = params[b..., indices[b..., i..., 0], indices[b..., i..., 1], ..., :].
 *
 *  params      any element type and shape
 *  indices     int32 or int64, rank at least 1; its last dimension is the length of the
 *              tuples, at most the rank of params minus batch_dims; it must be known while
 *              building for y to have a known rank
 *  batch_dims  the number of leading dimensions that params and indices share; below the rank
 *              of indices
 *
 *  Errors: EDDY_BAD_DTYPE, EDDY_BAD_SHAPE or EDDY_INVALID_ARGUMENT if the arguments do not
 *  match; at run time, EDDY_OUT_OF_RANGE for an index out of range.
 *  Gradient: dparams = zeros with the rows of dy added at `indices`, which has none.
 *  TensorFlow: GatherNd. */
#ifdef EDDY_HEADER
typedef struct eddy_gather_nd_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_gather_nd_args));
    eddy_tensor params;
    eddy_tensor indices;
    int64_t     batch_dims;
    const char *name;
} eddy_gather_nd_args;
#endif
static bool gather_nd_infer(eddy_infer *c)
{
    eddy_shape s;
    return eddy__infer_tuples(c, c->in[0].shape, &s) && eddy__infer_yield(c, 0, c->in[0].dtype, s);
}

typedef struct gathering {
    eddy_tuples      l;
    const char *x;
    char       *y;
    size_t      bytes;          /* of a row */
} gathering;

static void gather_rows(void *arg, int64_t from, int64_t to, int worker)
{
    const gathering *g = arg;
    const eddy_tuples    *l = &g->l;
    (void)worker;
    for (int64_t t = from; t < to; t++) {
        const int64_t at = t / l->count * l->places + eddy__tuple_place(l, t);
        const char *row = g->x + (size_t)at * g->bytes;
        char       *y = g->y + (size_t)t * g->bytes;
        if (g->bytes == 4) memcpy(y, row, 4);
        else if (g->bytes == 8) memcpy(y, row, 8);
        else memcpy(y, row, g->bytes);
    }
}

static eddy_status gather_nd_kernel(eddy_kernel *k)
{
    enum { BYTES = 1 << 17 };
    const eddy_tuples l = eddy__tuples_of(k->in[0]->type.shape, k->in[1], k->attrs);
    const size_t bytes = (size_t)l.inner * eddy_dtype_size(k->out[0]->type.dtype);
    gathering    g = { l, k->in[0]->data, k->out[0]->data, bytes };
    eddy_status  s = eddy__check_tuples(k, &l);
    if (s != EDDY_OK || k->out[0]->count == 0) return s;
    eddy__parallel_or_stop(k, l.batch * l.count, BYTES / (int64_t)(bytes + 32) + 1, gather_rows,
                           &g);
    return EDDY_OK;
}

static void gather_nd_gradient(eddy_rule *r)
{
    const eddy_tuples_attrs *a = r->attrs;
    r->dx[0] = eddy_scatter_nd_like(r->x[1], r->dy[0], r->x[0], a->batch_dims);
}

/* The batch axis becomes another of the batch dimensions. */
static void nd_batch(eddy_batch *b)
{
    const eddy_tuples_attrs *a = b->attrs;
    eddy_batch_apply(b, &(eddy_tuples_attrs){ a->batch_dims + 1 });
}

static void gather_nd_batch(eddy_batch *b)
{
    const eddy_tuples_attrs *a = b->attrs;
    if (a->batch_dims == 0 && !b->batched[0]) b->y[0] = eddy_gather_nd(b->x[0], b->x[1]);
    else nd_batch(b);
}

const eddy_op_def eddy_op_gather_nd = {
    .name = "GatherNd", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "params", EDDY_ANY_TYPE },
                          { "indices", EDDY_TAKES_INDICES | EDDY_RANK_FROM(1) }),
    .flags = EDDY_OP_MOVES, .attrs_size = sizeof(eddy_tuples_attrs), .attrs = eddy__tuples_fields,
    .infer = gather_nd_infer, .kernel = gather_nd_kernel, .gradient = gather_nd_gradient,
    .batch = gather_nd_batch,
};

eddy_tensor eddy_gather_nd_with(const eddy_gather_nd_args *given)
{
    eddy_gather_nd_args a = EDDY_TAKE(eddy_gather_nd_args, given);
    return eddy__apply_named(a.name, &eddy_op_gather_nd, &(eddy_tuples_attrs){ a.batch_dims }, 2,
                             (eddy_tensor[]){ a.params, a.indices });
}

/* ------------------------------------------------------- scatter_nd_like -- */

static bool scatter_nd_infer(eddy_infer *c)
{
    return eddy__infer_tuple_rows(c, 0, c->in[2].shape) &&
           eddy__infer_yield(c, 0, c->in[0].dtype, c->in[2].shape);
}

static eddy_status scatter_nd_kernel(eddy_kernel *k)
{
    const eddy_buffer *y = k->out[0];
    const eddy_tuples l = eddy__tuples_of(y->type.shape, k->in[1], k->attrs);
    eddy_status  s = eddy__check_tuples(k, &l);
    if (s != EDDY_OK || y->count == 0) return s;
    memset(y->data, 0, (size_t)y->count * eddy_dtype_size(y->type.dtype));
    eddy__tuples_put(k, &l, k->in[0], y->data, eddy__row_add(y->type.dtype));
    return EDDY_OK;
}

static void scatter_nd_gradient(eddy_rule *r)
{
    const eddy_tuples_attrs *a = r->attrs;
    r->dx[0] = eddy_gather_nd(r->dy[0], r->x[1], a->batch_dims);
}

const eddy_op_def eddy_op_scatter_nd_like = {
    .name = "ScatterNdLike", .label = "ScatterNd", .min_inputs = 3, .max_inputs = 3, .outputs = 1,
    .inputs = EDDY_INPUTS({ "updates", EDDY_TAKES_NUMBERS_COMPLEX },
                          { "indices", EDDY_TAKES_INDICES | EDDY_RANK_FROM(1) },
                          { "ref", EDDY_ANY_TYPE }),
    .shape_inputs = 1u << 2, .attrs_size = sizeof(eddy_tuples_attrs), .attrs = eddy__tuples_fields,
    .flops = eddy_flops_per_input,
    .infer = scatter_nd_infer, .kernel = scatter_nd_kernel, .gradient = scatter_nd_gradient,
    .batch = nd_batch,
};

/** y = zeros like `ref` with the rows of `updates` added at `indices`.
 *
 *  indices     as for eddy_gather_nd; rows of repeated tuples are summed
 *  updates     any numeric type except float16 and bfloat16; the shape that gathering from ref
 *              returns
 *  ref         only its shape is used; it is not computed
 *  batch_dims  as for eddy_gather_nd
 *
 *  The gradient of eddy_gather_nd.
 *  Errors: EDDY_BAD_SHAPE or EDDY_INVALID_ARGUMENT if the arguments do not match; at run time,
 *  EDDY_OUT_OF_RANGE for an index out of range.
 *  Gradient: dupdates = dy gathered; the others have none.
 *  TensorFlow: ScatterNd(indices, updates, Shape(ref)). */
eddy_tensor eddy_scatter_nd_like(eddy_tensor indices, eddy_tensor updates, eddy_tensor ref,
                                 int64_t batch_dims)
{
    return eddy_apply(&eddy_op_scatter_nd_like, &(eddy_tuples_attrs){ batch_dims }, 3,
                      (eddy_tensor[]){ updates, indices, ref }, (eddy_apply_args){ .name = NULL });
}

/** y = zeros of the shape `shape` with the rows of `updates` added at `indices`.
 *
 *  indices  int32 or int64; tuples along its last dimension; rows of repeated tuples are summed
 *  updates  numeric, with the shape of indices without its last dimension, followed by the
 *           dimensions of `shape` that a tuple does not index
 *  shape    fully known; eddy_scatter_nd_like takes that of a tensor
 *
 *  Errors, Gradient: as for eddy_scatter_nd_like.  TensorFlow: ScatterNd. */
eddy_tensor eddy_scatter_nd(eddy_tensor indices, eddy_tensor updates, eddy_shape shape)
{
    const eddy_tensor ref = eddy_zeros(updates.graph, EDDY_FLOAT32, shape);
    return eddy_scatter_nd_like(indices, updates, ref, 0);
}

/* -------------------------------------------------------- tensor_scatter -- */

#ifdef EDDY_HEADER
/* Options of eddy_tensor_scatter_update, _add, _sub, _min and _max. */
typedef struct eddy_tensor_scatter_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_tensor_scatter_args));
    eddy_tensor tensor;
    eddy_tensor indices;
    eddy_tensor updates;
    int64_t     batch_dims;
    const char *name;
} eddy_tensor_scatter_args;
#endif
static bool put_infer(eddy_infer *c)
{
    const eddy_type *x = &c->in[0];
    return eddy__infer_tuple_rows(c, 2, x->shape) && eddy__infer_yield(c, 0, x->dtype, x->shape);
}

static eddy_status put_rows(eddy_kernel *k)
{
    const eddy_buffer *x = k->in[0], *y = k->out[0];
    const eddy_tuples l = eddy__tuples_of(y->type.shape, k->in[1], k->attrs);
    eddy_status  s = eddy__check_tuples(k, &l);
    eddy_box     all = { .rank = 0 };
    if (s != EDDY_OK || y->count == 0) return s;
    eddy__box_add(&all, y->count, 1, 1);
    if (y->data != x->data)
        eddy__box_copy_parallel(k, &all, eddy_dtype_size(y->type.dtype), y->data, x->data);
    eddy__tuples_put(k, &l, k->in[2], y->data, eddy__row_of(k->op->variant, y->type.dtype));
    return EDDY_OK;
}

/* The rows of t at the indices of the updates. */
static eddy_tensor rows_of(const eddy_rule *r, eddy_tensor t)
{
    const eddy_tuples_attrs *a = r->attrs;
    return eddy_gather_nd(t, r->x[1], a->batch_dims);
}

static eddy_tensor tensor_scatter(const eddy_op_def *op, const eddy_tensor_scatter_args *given)
{
    const eddy_tensor_scatter_args a = EDDY_TAKE(eddy_tensor_scatter_args, given);
    return eddy__apply_named(a.name, op, &(eddy_tuples_attrs){ a.batch_dims }, 3,
                             (eddy_tensor[]){ a.tensor, a.indices, a.updates });
}

static double put_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs; (void)n_in; (void)out;
    return (double)eddy_shape_count(in[2].shape);
}

#define TENSOR_SCATTER(type, change, types, rule, flops_fn)                     \
    { .name = type, .min_inputs = 3, .max_inputs = 3, .outputs = 1, .variant = change, \
      .inputs = EDDY_INPUTS({ "tensor", types },                                \
                            { "indices", EDDY_TAKES_INDICES | EDDY_RANK_FROM(1) },    \
                            { "updates", EDDY_LIKE(0) }),                       \
      .flags = EDDY_OP_IN_PLACE, .attrs_size = sizeof(eddy_tuples_attrs),       \
      .attrs = eddy__tuples_fields, .infer = put_infer, .kernel = put_rows,     \
      .gradient = rule, .batch = nd_batch, .flops = flops_fn }

static void update_gradient(eddy_rule *r)
{
    const eddy_tuples_attrs *a = r->attrs;
    r->dx[0] = eddy_tensor_scatter_update(r->dy[0], r->x[1], ZerosLike(r->x[2]), a->batch_dims);
    r->dx[2] = rows_of(r, r->dy[0]);
}

const eddy_op_def eddy_op_tensor_scatter_update =
    TENSOR_SCATTER("TensorScatterUpdate", EDDY_ROW_PUT, EDDY_ANY_TYPE, update_gradient, NULL);

/** y = tensor with the rows that `indices` names replaced by those of `updates`.
 *
 *  tensor      any element type and shape
 *  indices     int32 or int64, rank at least 1; tuples along its last dimension, as for
 *              eddy_gather_nd
 *  updates     same type as tensor, with the shape that gathering from it returns
 *  batch_dims  the number of leading dimensions that tensor and indices share
 *
 *  If a tuple is repeated, the last row is kept.
 *  Errors: EDDY_BAD_DTYPE, EDDY_BAD_SHAPE or EDDY_INVALID_ARGUMENT if the arguments do not
 *  match; at run time, EDDY_OUT_OF_RANGE for an index out of range.
 *  Gradient: dtensor = dy with zeros in those rows; dupdates = those rows of dy, also for a
 *  row that was overwritten by another, as in TensorFlow; `indices` has none.
 *  TensorFlow: TensorScatterUpdate. */
eddy_tensor eddy_tensor_scatter_update_with(const eddy_tensor_scatter_args *given)
{
    return tensor_scatter(&eddy_op_tensor_scatter_update, given);
}

static void add_gradient(eddy_rule *r)
{
    r->dx[0] = r->dy[0];
    r->dx[2] = rows_of(r, r->dy[0]);
}

const eddy_op_def eddy_op_tensor_scatter_add = TENSOR_SCATTER(
    "TensorScatterAdd", EDDY_ROW_ADD, EDDY_TAKES_NUMBERS_COMPLEX, add_gradient, put_flops);

/** y = tensor with the rows of `updates` added to those that `indices` names.
 *
 *  tensor, indices, updates, batch_dims  as for eddy_tensor_scatter_update; any numeric type
 *                                        except float16 and bfloat16
 *
 *  Rows of repeated tuples are added one after the other.
 *  Errors: as for eddy_tensor_scatter_update.
 *  Gradient: dtensor = dy; dupdates = those rows of dy; `indices` has none.
 *  TensorFlow: TensorScatterAdd. */
eddy_tensor eddy_tensor_scatter_add_with(const eddy_tensor_scatter_args *given)
{
    return tensor_scatter(&eddy_op_tensor_scatter_add, given);
}

static void sub_gradient(eddy_rule *r)
{
    r->dx[0] = r->dy[0];
    r->dx[2] = Neg(rows_of(r, r->dy[0]));
}

const eddy_op_def eddy_op_tensor_scatter_sub = TENSOR_SCATTER(
    "TensorScatterSub", EDDY_ROW_SUB, EDDY_TAKES_NUMBERS_COMPLEX, sub_gradient, put_flops);

/** y = tensor with the rows of `updates` subtracted from those that `indices` names.
 *
 *  tensor, indices, updates, batch_dims  as for eddy_tensor_scatter_add
 *
 *  Errors: as for eddy_tensor_scatter_add.
 *  Gradient: dtensor = dy; dupdates = those rows of -dy; `indices` has none.
 *  TensorFlow: TensorScatterSub. */
eddy_tensor eddy_tensor_scatter_sub_with(const eddy_tensor_scatter_args *given)
{
    return tensor_scatter(&eddy_op_tensor_scatter_sub, given);
}

/* dy goes to the elements that are the extreme; ties share it equally. */
static void extreme_gradient(eddy_rule *r)
{
    const eddy_tuples_attrs *a = r->attrs;
    const eddy_tensor x = r->x[0], updates = r->x[2], y = r->y[0], dy = r->dy[0];
    const eddy_tensor x_is = CastLike(eddy_equal(x, y), dy);
    const eddy_tensor update_is = CastLike(eddy_equal(updates, rows_of(r, y)), dy);
    const eddy_tensor n = Add(x_is, eddy_scatter_nd_like(r->x[1], update_is, x, a->batch_dims));
    const eddy_tensor share = DivNoNan(dy, n);
    r->dx[0] = Mul(share, x_is);
    r->dx[2] = Mul(rows_of(r, share), update_is);
}

const eddy_op_def eddy_op_tensor_scatter_min = TENSOR_SCATTER(
    "TensorScatterMin", EDDY_ROW_MIN, EDDY_TAKES_NUMBERS, extreme_gradient, put_flops);

/** y = tensor with the minimum of its elements and those of `updates` in the rows named by
 *  `indices`.
 *
 *  tensor, indices, updates, batch_dims  as for eddy_tensor_scatter_update; real types
 *                                        except float16 and bfloat16
 *
 *  y is NaN if either is NaN.
 *  Errors: as for eddy_tensor_scatter_update.
 *  Gradient: dy goes to the elements equal to y, divided equally among them; `indices` has none.
 *  TensorFlow: TensorScatterMin. */
eddy_tensor eddy_tensor_scatter_min_with(const eddy_tensor_scatter_args *given)
{
    return tensor_scatter(&eddy_op_tensor_scatter_min, given);
}

const eddy_op_def eddy_op_tensor_scatter_max = TENSOR_SCATTER(
    "TensorScatterMax", EDDY_ROW_MAX, EDDY_TAKES_NUMBERS, extreme_gradient, put_flops);

/** y = tensor with the maximum of its elements and those of `updates` in the rows named by
 *  `indices`.
 *
 *  tensor, indices, updates, batch_dims  as for eddy_tensor_scatter_min
 *
 *  Errors, Gradient: as for eddy_tensor_scatter_min.  TensorFlow: TensorScatterMax. */
eddy_tensor eddy_tensor_scatter_max_with(const eddy_tensor_scatter_args *given)
{
    return tensor_scatter(&eddy_op_tensor_scatter_max, given);
}
