/* unsorted_segment.c -- reductions of the rows that share a segment id, in any order: sum, mean,
 * sum divided by the square root of the number, product, min and max. */
#include "graph/base/min_max.h"
#include "graph/base/stop.h"
#include "graph/internal.h"
#include "ops/reduce/segment.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/reduction/reduce_engine.h"
#include "graph/base/dtype.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

static bool ids_begin(eddy_infer *c)
{
    const eddy_shape x = c->in[0].shape, ids = c->in[1].shape;
    char a[128], b[128];
    bool fits = x.rank < 0 || ids.rank <= x.rank;
    for (int i = 0; fits && x.rank >= 0 && i < ids.rank; i++) {
        int64_t d = x.dim[i];
        fits = eddy__dim_unify(&d, ids.dim[i]);
    }
    if (fits) return true;
    return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                           "the shape %s of x does not begin with that of ids, %s",
                           eddy_shape_print(x, a, sizeof a), eddy_shape_print(ids, b, sizeof b));
}

static bool unsorted_infer(eddy_infer *c)
{
    const eddy_shape x = c->in[0].shape, ids = c->in[1].shape;
    const int64_t    number = c->value[2] ? eddy__array_integer(c->value[2], 0) : EDDY_ANY;
    if (!ids_begin(c)) return false;
    if (c->value[2] && number < 0)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "num_segments is %lld; it must not be negative",
                               (long long)number);
    if (x.rank < 0 || ids.rank < 0)
        return eddy__infer_yield(c, 0, c->in[0].dtype, EDDY_UNKNOWN_SHAPE);
    eddy_shape y = { .rank = x.rank - ids.rank + 1, .dim = { number } };
    if (y.rank > EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_LIMIT, "the result would have rank %d; the limit is %d",
                               y.rank, EDDY_MAX_RANK);
    for (int i = 1; i < y.rank; i++) y.dim[i] = x.dim[ids.rank + i - 1];
    return eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

/* Accumulators are in y itself if they have its type. */
static eddy_status unsorted_prepare(eddy_kernel *k)
{
    const eddy_buffer  *y = k->out[0];
    const eddy_reducer *r = eddy__reducer_of(k->op->fold, y->type.dtype);
    if (r->acc_size != r->size) k->scratch_size = (uint64_t)y->count * r->acc_size;
    return EDDY_OK;
}

/* Extremes of real numbers are initialized to a finite number, which segments without rows keep. */
static void begin_finite(eddy_dtype d, double sign, void *acc, int64_t n)
{
    if (!eddy__dtype_is_float(d)) return;
    const double first = sign * eddy__dtype_largest(d);
    for (int64_t i = 0; i < n; i++) eddy__float_put(d, acc, i, first);
}

enum { COLUMNS = 16 };

typedef struct folding {
    eddy_kernel        *k;
    const eddy_reducer *r;
    const eddy_fold    *fold;
    int64_t             segments, inner;
    char               *acc;
} folding;

/* Initializes n accumulators from element `at`; and finishes them. */
static void begin_part(const folding *f, int64_t at, int64_t n)
{
    const eddy_dtype d = f->k->out[0]->type.dtype;
    char *acc = f->acc + (size_t)at * f->r->acc_size;
    f->r->start(acc, n);
    if (f->fold == &eddy__fold_min) begin_finite(d, 1, acc, n);
    if (f->fold == &eddy__fold_max) begin_finite(d, -1, acc, n);
}

static void finish_part(const folding *f, int64_t at, int64_t n)
{
    char *y = (char *)f->k->out[0]->data + (size_t)at * f->r->size;
    f->r->finish(y, f->acc + (size_t)at * f->r->acc_size, n, 1);
}

/* For `rows` rows of n accumulators, the first of which is element `at`; false if the run stops. */
static bool for_rows(const folding *f, void (*part)(const folding *, int64_t, int64_t), int64_t at,
                     int64_t rows, int64_t n)
{
    enum { PART = 1 << 16 };
    int64_t until_look = 0;
    for (int64_t i = 0; i < rows; i++, at += f->inner)
        for (int64_t j = 0; j < n; j += PART) {
            const int64_t many = eddy__min(PART, n - j);
            if (until_look <= 0 && eddy__stopped(f->k->stop)) return false;
            until_look = until_look <= 0 ? PART : until_look - many;
            part(f, at + j, many);
        }
    return true;
}

/* Columns [from, to) of all segments, in units of COLUMNS: one thread computes each result, in
 * the order of the rows. */
static void fold_columns(void *arg, int64_t from, int64_t to, int worker)
{
    const folding *f = arg;
    const eddy_buffer *ids = f->k->in[1];
    const int64_t first = from * COLUMNS;
    const int64_t n = (to * COLUMNS < f->inner ? to * COLUMNS : f->inner) - first;
    const bool    all = n == f->inner;
    const int64_t rows = all ? 1 : f->segments, width = all ? n * f->segments : n;
    const char   *row = (const char *)f->k->in[0]->data + (size_t)first * f->r->size;
    (void)worker;
    if (!for_rows(f, begin_part, first, rows, width)) return;
    for (int64_t i = 0; i < ids->count;) {
        if (eddy__stopped(f->k->stop)) return;
        const int64_t end = eddy__min(ids->count, i + eddy__turns_per_look(n));
        for (; i < end; i++, row += (size_t)f->inner * f->r->size) {
            const int64_t id = eddy__index_at(ids, i), at = (id < 0 ? 0 : id) * f->inner + first;
            if (id >= 0) f->r->fold(f->acc + (size_t)at * f->r->acc_size, row, 1, n, n);
        }
    }
    for_rows(f, finish_part, first, rows, width);
}

static eddy_status unsorted_kernel(eddy_kernel *k)
{
    enum { WORK = 1 << 16 };
    const eddy_buffer  *y = k->out[0];
    const eddy_reducer *r = eddy__reducer_of(k->op->fold, y->type.dtype);
    const int64_t       segments = y->type.shape.dim[0];
    const eddy_status   s = eddy__check_indices(k, k->in[1], segments, true);
    if (s != EDDY_OK || y->count == 0) return s;
    folding f = { k, r, k->op->fold, segments, y->count / segments,
                  r->acc_size == r->size ? y->data : k->scratch };
    const int64_t rows = k->in[1]->count + segments;
    eddy_parallel(k, (f.inner + COLUMNS - 1) / COLUMNS, WORK / (COLUMNS * rows) + 1,
                           fold_columns, &f);
    return EDDY_OK;
}

/* n times the number of examples; a constant if both are known. */
static eddy_tensor segments_of_all(eddy_tensor n, eddy_tensor examples)
{
    const eddy_array *known = eddy_constant_value(n);
    const eddy_shape  s = eddy_shape_of(examples);
    int64_t           all;
    if (!known || s.rank < 1 || s.dim[0] < 0 ||
        __builtin_mul_overflow(eddy__array_integer(known, 0), s.dim[0], &all))
        return Mul(n, eddy_size_along(examples, 0));
    return eddy_const(n.graph, EDDY_INT64, EDDY_SCALAR, &all);
}

/* Each example has its own ids: the segments of example e begin at e num_segments. */
static void batch_of_ids(eddy_batch *b, int rank)
{
    const eddy_tensor ids = Cast(b->x[1], EDDY_INT64), n = Cast(b->x[2], EDDY_INT64);
    const eddy_tensor all = segments_of_all(n, b->examples);
    const eddy_tensor first = Mul(eddy_row_numbers(ids, EDDY_INT64), n);
    const eddy_tensor place = Add(ids, eddy__batch_widen(first, 1, rank));
    const eddy_tensor at = Where(Less(ids, 0), -1, Where(Less(ids, n), place, all));
    const eddy_tensor y = eddy__segment_apply(b->node->op, eddy_batch_input(b, 0), at, all);
    b->y[0] = eddy_reshape_like(y, eddy__batch_result_like(b));
}

/* With shared ids, the axis of examples is moved behind the dimensions of ids. */
static void unsorted_batch(eddy_batch *b)
{
    const int rank = eddy__batch_rank(b, 0), own = eddy__batch_rank(b, 1);
    eddy_dims perm = { .count = rank + 1 };
    if (rank < 0 || own < 0 || b->batched[2]) return;
    if (b->batched[1]) {
        batch_of_ids(b, own);
        return;
    }
    for (int i = 0; i <= rank; i++) perm.at[i] = i < own ? i + 1 : i == own ? 0 : i;
    const eddy_tensor x = eddy_transpose(b->x[0], perm);
    b->y[0] = eddy__batch_swap(eddy__segment_apply(b->node->op, x, b->x[1], b->x[2]), 0, 1);
}

#define UNSORTED(type, fold_, types, rule) \
    { \
        .name = type, .min_inputs = 3, .max_inputs = 3, .outputs = 1, .fold = fold_, \
        .inputs = EDDY_INPUTS({ "x", types }, { "ids", EDDY_TAKES_INDICES }, \
                              { "num_segments", EDDY_TAKES_INDICES | EDDY_RANK(0) }), \
        .value_inputs = 1u << 2, .flops = eddy_flops_per_input, .infer = unsorted_infer, \
        .prepare = unsorted_prepare, .kernel = unsorted_kernel, .gradient = rule, \
        .batch = unsorted_batch \
    }

static eddy_tensor number_of(eddy_tensor x, int64_t num_segments)
{
    return eddy_const(x.graph, EDDY_INT64, EDDY_SCALAR, &num_segments);
}

const eddy_op_def eddy_op_unsorted_segment_sum = UNSORTED(
    "UnsortedSegmentSum", &eddy__fold_sum, EDDY_TAKES_NUMBERS_COMPLEX, eddy__segment_sum_gradient);

/** y[s] = the sum of the rows x[i] with ids[i] = s, for s in [0, num_segments).
 *
 *  x             any numeric type except float16 and bfloat16; its shape begins with that of ids
 *  ids           int32 or int64, any shape, in any order; rows with a negative id are ignored
 *  num_segments  non-negative; y has the shape [num_segments,tail...], with tail the dimensions
 *                of x after those of ids
 *
 *  A segment without rows gives 0.  float32 is summed in float64 and rounded once.
 *  Errors: EDDY_BAD_DTYPE, EDDY_BAD_SHAPE or EDDY_INVALID_ARGUMENT if the arguments do not match;
 *  at run time, EDDY_OUT_OF_RANGE for an id >= num_segments.
 *  Gradient: dx[i] = dy[ids[i]], or 0 for a negative id; `ids` has none.
 *  TensorFlow: UnsortedSegmentSum. */
eddy_tensor eddy_unsorted_segment_sum(eddy_tensor x, eddy_tensor ids, int64_t num_segments)
{
    return eddy_unsorted_segment_sum_to(x, ids, number_of(x, num_segments));
}

/** Like eddy_unsorted_segment_sum, with the number of segments given by a tensor.
 *
 *  num_segments  int32 or int64 scalar
 *
 *  Errors: as for eddy_unsorted_segment_sum; EDDY_INVALID_ARGUMENT for a negative number.
 *  Gradient: as for eddy_unsorted_segment_sum.  TensorFlow: UnsortedSegmentSum. */
eddy_tensor eddy_unsorted_segment_sum_to(eddy_tensor x, eddy_tensor ids, eddy_tensor num_segments)
{
    return eddy__segment_apply(&eddy_op_unsorted_segment_sum, x, ids, num_segments);
}

const eddy_op_def eddy_op_unsorted_segment_prod =
    UNSORTED("UnsortedSegmentProd", &eddy__fold_prod, EDDY_TAKES_NUMBERS_COMPLEX,
             eddy__segment_prod_gradient);

/** y[s] = the product of the rows x[i] with ids[i] = s, for s in [0, num_segments).
 *
 *  x, ids, num_segments  as for eddy_unsorted_segment_sum
 *
 *  A segment without rows gives 1.
 *  Errors: as for eddy_unsorted_segment_sum.
 *  Gradient: as for eddy_segment_prod, 0 for a negative id.
 *  TensorFlow: UnsortedSegmentProd. */
eddy_tensor eddy_unsorted_segment_prod(eddy_tensor x, eddy_tensor ids, int64_t num_segments)
{
    return eddy_unsorted_segment_prod_to(x, ids, number_of(x, num_segments));
}

/** Like eddy_unsorted_segment_prod, with the number of segments given by a tensor.
 *
 *  num_segments  int32 or int64 scalar
 *
 *  Errors: as for eddy_unsorted_segment_prod; EDDY_INVALID_ARGUMENT for a negative number.
 *  Gradient: as for eddy_unsorted_segment_prod.  TensorFlow: UnsortedSegmentProd. */
eddy_tensor eddy_unsorted_segment_prod_to(eddy_tensor x, eddy_tensor ids, eddy_tensor num_segments)
{
    return eddy__segment_apply(&eddy_op_unsorted_segment_prod, x, ids, num_segments);
}

const eddy_op_def eddy_op_unsorted_segment_min = UNSORTED(
    "UnsortedSegmentMin", &eddy__fold_min, EDDY_TAKES_WIDE_NUMBERS, eddy__segment_extreme_gradient);

/** y[s] = the elementwise minimum of the rows x[i] with ids[i] = s, for s in [0, num_segments).
 *
 *  x                  float32, float64, int32, int64 or uint8; its shape begins with
 *                     that of ids
 *  ids, num_segments  as for eddy_unsorted_segment_sum
 *
 *  y is NaN if any element is NaN.  A segment without rows, or in which all elements are infinity,
 *  gives the largest finite number of the type.
 *  Errors: as for eddy_unsorted_segment_sum.
 *  Gradient: as for eddy_segment_min, 0 for a negative id.
 *  TensorFlow: UnsortedSegmentMin. */
eddy_tensor eddy_unsorted_segment_min(eddy_tensor x, eddy_tensor ids, int64_t num_segments)
{
    return eddy_unsorted_segment_min_to(x, ids, number_of(x, num_segments));
}

/** Like eddy_unsorted_segment_min, with the number of segments given by a tensor.
 *
 *  num_segments  int32 or int64 scalar
 *
 *  Errors: as for eddy_unsorted_segment_min; EDDY_INVALID_ARGUMENT for a negative number.
 *  Gradient: as for eddy_unsorted_segment_min.  TensorFlow: UnsortedSegmentMin. */
eddy_tensor eddy_unsorted_segment_min_to(eddy_tensor x, eddy_tensor ids, eddy_tensor num_segments)
{
    return eddy__segment_apply(&eddy_op_unsorted_segment_min, x, ids, num_segments);
}

const eddy_op_def eddy_op_unsorted_segment_max = UNSORTED(
    "UnsortedSegmentMax", &eddy__fold_max, EDDY_TAKES_WIDE_NUMBERS, eddy__segment_extreme_gradient);

/** y[s] = the elementwise maximum of the rows x[i] with ids[i] = s, for s in [0, num_segments).
 *
 *  x, ids, num_segments  as for eddy_unsorted_segment_min
 *
 *  y is NaN if any element is NaN.  A segment without rows, or in which all elements are -infinity,
 *  gives the smallest finite number of the type.
 *  Errors: as for eddy_unsorted_segment_sum.
 *  Gradient: as for eddy_segment_min, 0 for a negative id.
 *  TensorFlow: UnsortedSegmentMax. */
eddy_tensor eddy_unsorted_segment_max(eddy_tensor x, eddy_tensor ids, int64_t num_segments)
{
    return eddy_unsorted_segment_max_to(x, ids, number_of(x, num_segments));
}

/** Like eddy_unsorted_segment_max, with the number of segments given by a tensor.
 *
 *  num_segments  int32 or int64 scalar
 *
 *  Errors: as for eddy_unsorted_segment_max; EDDY_INVALID_ARGUMENT for a negative number.
 *  Gradient: as for eddy_unsorted_segment_max.  TensorFlow: UnsortedSegmentMax. */
eddy_tensor eddy_unsorted_segment_max_to(eddy_tensor x, eddy_tensor ids, eddy_tensor num_segments)
{
    return eddy__segment_apply(&eddy_op_unsorted_segment_max, x, ids, num_segments);
}

/* ----------------------------------------------------------- mean, sqrt_n -- */

/* The divisor of `sum`: the number of rows of each segment, or 1 if it has none. */
static eddy_tensor sizes(eddy_tensor sum, eddy_tensor ids, eddy_tensor number)
{
    const eddy_tensor ones = OnesLike(ids);
    const eddy_tensor n = eddy__segment_apply(&eddy_op_unsorted_segment_sum, ones, ids, number);
    return eddy__segment_by_row(CastLike(Maximum(n, 1), sum), sum);
}

static bool can_divide(eddy_tensor x, const char *op)
{
    return eddy__expect_type(x.graph, op, "x", eddy_dtype_of(x), EDDY_TAKES_FLOATS_COMPLEX);
}

/** y[s] = the mean of the rows x[i] with ids[i] = s, for s in [0, num_segments).
 *
 *  x                  float32, float64, complex64 or complex128; its shape begins
 *                     with that of ids
 *  ids, num_segments  as for eddy_unsorted_segment_sum
 *
 *  A segment without rows gives 0.
 *  Errors: as for eddy_unsorted_segment_sum.
 *  Gradient: dx[i] = dy[ids[i]] / n for the n rows of the segment, or 0 for a negative id; `ids`
 *  has none.  TensorFlow: tf.math.unsorted_segment_mean. */
eddy_tensor eddy_unsorted_segment_mean(eddy_tensor x, eddy_tensor ids, int64_t num_segments)
{
    return eddy_unsorted_segment_mean_to(x, ids, number_of(x, num_segments));
}

/** Like eddy_unsorted_segment_mean, with the number of segments given by a tensor.
 *
 *  num_segments  int32 or int64 scalar
 *
 *  Errors: as for eddy_unsorted_segment_mean; EDDY_INVALID_ARGUMENT for a negative number.
 *  Gradient: as for eddy_unsorted_segment_mean.  TensorFlow: tf.math.unsorted_segment_mean. */
eddy_tensor eddy_unsorted_segment_mean_to(eddy_tensor x, eddy_tensor ids, eddy_tensor num_segments)
{
    if (!eddy_is_valid(x)) return eddy_unsorted_segment_sum_to(x, ids, num_segments);
    if (!can_divide(x, "unsorted_segment_mean")) return eddy_none(x.graph);
    eddy_scope_begin(x.graph, "UnsortedSegmentMean");
    const eddy_tensor sum = eddy_unsorted_segment_sum_to(x, ids, num_segments);
    const eddy_tensor y = Div(sum, sizes(sum, ids, num_segments));
    eddy_scope_end(x.graph);
    return y;
}

/** y[s] = the sum of the rows x[i] with ids[i] = s, divided by the square root of their number.
 *
 *  x, ids, num_segments  as for eddy_unsorted_segment_mean
 *
 *  A segment without rows gives 0.
 *  Errors: as for eddy_unsorted_segment_sum.
 *  Gradient: dx[i] = dy[ids[i]] / sqrt(n) for the n rows of the segment, or 0 for a negative id;
 *  `ids` has none.  TensorFlow: tf.math.unsorted_segment_sqrt_n. */
eddy_tensor eddy_unsorted_segment_sqrt_n(eddy_tensor x, eddy_tensor ids, int64_t num_segments)
{
    return eddy_unsorted_segment_sqrt_n_to(x, ids, number_of(x, num_segments));
}

/** Like eddy_unsorted_segment_sqrt_n, with the number of segments given by a tensor.
 *
 *  num_segments  int32 or int64 scalar
 *
 *  Errors: as for eddy_unsorted_segment_sqrt_n; EDDY_INVALID_ARGUMENT for a negative number.
 *  Gradient: as for eddy_unsorted_segment_sqrt_n.  TensorFlow: tf.math.unsorted_segment_sqrt_n. */
eddy_tensor eddy_unsorted_segment_sqrt_n_to(eddy_tensor x, eddy_tensor ids,
                                            eddy_tensor num_segments)
{
    if (!eddy_is_valid(x)) return eddy_unsorted_segment_sum_to(x, ids, num_segments);
    if (!can_divide(x, "unsorted_segment_sqrt_n")) return eddy_none(x.graph);
    eddy_scope_begin(x.graph, "UnsortedSegmentSqrtN");
    const eddy_tensor sum = eddy_unsorted_segment_sum_to(x, ids, num_segments);
    const eddy_tensor y = Div(sum, Sqrt(sizes(sum, ids, num_segments)));
    eddy_scope_end(x.graph);
    return y;
}
