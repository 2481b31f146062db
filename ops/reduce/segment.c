/* segment.c -- segment reductions: sum, mean, product, min and max of the rows that share a
 * segment id. The ids are sorted, and the last one gives the number of segments; or they are
 * unsorted, and the number is given.
 *
 * The rules below serve both: a row whose id is negative belongs to no segment, gathers zeros,
 * and is excluded from sums; sorted ids are never negative. */
#include "ops/arrays/arrays.h"
#include "graph/base/dtype.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "ops/kernels/reduction/reduce_engine.h"
#include "build/gen/table.h"


/* ---------------------------------------------------------- shared code -- */

/* For each row, the row of t that belongs to its segment. */
static eddy_tensor gathered(const eddy_rule *r, eddy_tensor t)
{
    return eddy_gather(t, r->x[1], .skip_negative = true);
}

/* The sums of t, which has the shape of x, over the segments. */
static eddy_tensor summed(const eddy_rule *r, eddy_tensor t)
{
    return eddy_gather_grad(t, r->x[1], r->y[0], .skip_negative = true);
}

/* t [n], to be broadcast against x [n,tail...]. For an unknown rank, the only way is to repeat t
 * for each element of a row and to transpose the result. */
static eddy_tensor by_row(eddy_tensor t, eddy_tensor x)
{
    const int rank = eddy_shape_of(x).rank;
    if (rank >= 0) return eddy__batch_widen(t, 1, rank - 1);
    const eddy_tensor row = eddy_reshape(eddy_example(x), EDDY_SHAPE(EDDY_ANY));
    return eddy_unflatten_like(eddy_transpose(eddy_batch_like(t, row)), x, 1, 1);
}

static void sum_gradient(eddy_rule *r) { r->dx[0] = gathered(r, r->dy[0]); }

/* dx = dy / n where x equals y, and 0 elsewhere, for n elements of the segment that equal y. */
static void extreme_gradient(eddy_rule *r)
{
    const eddy_tensor x = r->x[0], y = r->y[0], dy = r->dy[0];
    const eddy_tensor is_y = eddy_equal(x, gathered(r, y));
    const eddy_tensor n = summed(r, CastLike(is_y, dy));
    r->dx[0] = Where(is_y, DivNoNan(gathered(r, dy), gathered(r, n)), 0);
}

/* For each element, the product of the others in its segment, depending on how many are 0: y / x
 * for a nonzero element; otherwise the product of the nonzero elements, times the other 0 if
 * there is one, written so that it has a derivative; and 0 if there are more. */
static eddy_tensor product_of_others(const eddy_rule *r)
{
    const eddy_tensor x = r->x[0], is_zero = Equal(x, 0);
    const eddy_tensor factor = Where(is_zero, 1, x), zero = Where(is_zero, x, 0);
    const eddy_tensor rest = gathered(r, eddy_apply2(r->node->op, r->attrs, factor, r->x[1]));
    const eddy_tensor zeros = gathered(r, summed(r, Cast(is_zero, EDDY_INT32)));
    const eddy_tensor other = Where(Equal(zeros, 2), Sub(gathered(r, summed(r, zero)), zero), 0);
    const eddy_tensor of_zero = Where(Equal(zeros, 1), rest, Mul(rest, other));
    return Where(is_zero, of_zero, Div(gathered(r, r->y[0]), factor));
}

static void prod_gradient(eddy_rule *r)
{
    r->dx[0] = Mul(gathered(r, r->dy[0]), Conj(product_of_others(r)));
}

/* -------------------------------------------------------------- sorted ids -- */

/* The last id plus 1. The kernel refuses a negative id. */
static int64_t segments_of(const eddy_array *ids)
{
    const int64_t n = eddy_array_count(ids), last = n > 0 ? eddy__array_integer(ids, n - 1) : -1;
    return last < 0 ? 0 : last == INT64_MAX ? last : last + 1;
}

static bool segment_infer(eddy_infer *c)
{
    const eddy_shape ids = c->in[1].shape;
    eddy_shape y = c->in[0].shape;
    if (y.rank < 0) return eddy__infer_yield(c, 0, c->in[0].dtype, y);
    if (ids.rank == 1 && !eddy__dim_unify(&y.dim[0], ids.dim[0]))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the number of rows of x is %lld, but the number "
                               "of ids is %lld", (long long)y.dim[0], (long long)ids.dim[0]);
    y.dim[0] = c->value[1] ? segments_of(c->value[1]) : EDDY_ANY;
    return eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

static eddy_status check_sorted(eddy_kernel *k)
{
    const eddy_buffer *ids = k->in[1];
    int64_t before = 0;
    for (int64_t i = 0; i < ids->count; i++) {
        const int64_t id = eddy__index_at(ids, i);
        if (id < 0)
            return eddy_kernel_fail(k, EDDY_OUT_OF_RANGE,
                                    "segment ids must be >= 0: ids[%lld] = %lld", (long long)i,
                                    (long long)id);
        if (id < before)
            return eddy_kernel_fail(k, EDDY_INVALID_ARGUMENT,
                                    "segment ids are not increasing: ids[%lld] = %lld after %lld",
                                    (long long)i, (long long)id, (long long)before);
        before = id;
    }
    return EDDY_OK;
}

/* The rows of a segment are consecutive, so that each segment is one reduction. */
static eddy_status segment_kernel(eddy_kernel *k)
{
    const eddy_fold    *fold = k->op->fold;
    const eddy_buffer  *x = k->in[0], *ids = k->in[1], *y = k->out[0];
    const eddy_dtype    d = y->type.dtype;
    const eddy_reducer *some = eddy__reducer_of(fold, d);
    const eddy_reducer *none =
        fold == &eddy__fold_prod ? some : eddy__reducer_of(&eddy__fold_sum, d);
    const eddy_status   s = check_sorted(k);
    if (s != EDDY_OK || y->count == 0) return s;
    const int64_t inner = y->count / y->type.shape.dim[0];
    const size_t  bytes = (size_t)inner * eddy_dtype_size(d);
    const char   *from = x->data;
    char         *to = y->data;
    for (int64_t id = 0, i = 0, n = 0; i < ids->count; id++, i += n) {
        for (n = 0; i + n < ids->count && eddy__index_at(ids, i + n) == id;) n++;
        const eddy_reduction p = eddy__reduction_of_block(n > 0 ? some : none, 1, n, inner, inner);
        eddy__reduction_run(&p, to, from);
        from += (size_t)n * bytes;
        to += bytes;
    }
    return EDDY_OK;
}

/* The axis of examples is moved behind the rows. If each example has its own ids, each has its
 * own number of segments. */
static void segment_batch(eddy_batch *b)
{
    if (b->batched[1] || eddy__batch_rank(b, 0) < 0) return;
    b->y[0] = eddy__batch_swap(eddy_apply2(b->node->op, NULL, eddy__batch_swap(b->x[0], 0, 1),
                                           b->x[1]), 0, 1);
}

#define SEGMENT(type, fold_, types, rule)                                        \
    { .name = type, .min_inputs = 2, .max_inputs = 2, .outputs = 1, .fold = fold_, \
      .inputs = EDDY_INPUTS({ "x", (types) | EDDY_RANK_FROM(1) },               \
                            { "ids", EDDY_TAKES_INDICES | EDDY_RANK(1) }),            \
      .value_inputs = 1u << 1, .flops = eddy_flops_per_input, .infer = segment_infer, \
      .kernel = segment_kernel, .gradient = rule, .batch = segment_batch }

const eddy_op_def eddy_op_segment_sum =
    SEGMENT("SegmentSum", &eddy__fold_sum, EDDY_TAKES_NUMBERS_COMPLEX, sum_gradient);

/** y[s] = the sum of the rows x[i] with ids[i] = s.
 *
 *  x    any numeric type except float16 and bfloat16, [n,tail...]
 *  ids  int32 or int64 [n], non-negative and ascending; rows with equal ids form a segment; y has
 *       ids[n-1] + 1 rows
 *
 *  A segment without rows gives 0.  float32 is summed in float64 and rounded once.  The shape of
 *  y depends on the ids, which must be known while building, as constants, or when a run begins:
 *  a few integers that are fed, or computed from such integers, shapes and constants.  For any
 *  other ids the run fails with EDDY_UNIMPLEMENTED; use eddy_unsorted_segment_sum, which takes
 *  the number of segments as an argument.
 *  Errors: EDDY_BAD_DTYPE or EDDY_BAD_SHAPE if the arguments do not match; at run time,
 *  EDDY_OUT_OF_RANGE for a negative id, EDDY_INVALID_ARGUMENT if the ids are not ascending.
 *  Gradient: dx[i] = dy[ids[i]]; `ids` has none.  TensorFlow: SegmentSum. */
eddy_tensor eddy_segment_sum(eddy_tensor x, eddy_tensor ids)
{
    return eddy_apply2(&eddy_op_segment_sum, NULL, x, ids);
}

static void segment_mean_gradient(eddy_rule *r)
{
    const eddy_tensor ids = r->x[1], dy = r->dy[0];
    const eddy_tensor n = gathered(r, eddy_segment_sum(OnesLike(ids), ids));
    r->dx[0] = Div(gathered(r, dy), by_row(CastLike(n, dy), r->x[0]));
}

const eddy_op_def eddy_op_segment_mean =
    SEGMENT("SegmentMean", &eddy__fold_mean, EDDY_TAKES_NUMBERS_COMPLEX, segment_mean_gradient);

/** y[s] = the mean of the rows x[i] with ids[i] = s.
 *
 *  x, ids  as for eddy_segment_sum
 *
 *  A segment without rows gives 0.  Integers are summed in 64 bits, and the quotient is rounded
 *  toward 0.
 *  Errors: as for eddy_segment_sum.
 *  Gradient: dx[i] = dy[ids[i]] / n for the n rows of the segment; `ids` has none.
 *  TensorFlow: SegmentMean. */
eddy_tensor eddy_segment_mean(eddy_tensor x, eddy_tensor ids)
{
    return eddy_apply2(&eddy_op_segment_mean, NULL, x, ids);
}

const eddy_op_def eddy_op_segment_prod =
    SEGMENT("SegmentProd", &eddy__fold_prod, EDDY_TAKES_NUMBERS_COMPLEX, prod_gradient);

/** y[s] = the product of the rows x[i] with ids[i] = s.
 *
 *  x, ids  as for eddy_segment_sum
 *
 *  A segment without rows gives 1.
 *  Errors: as for eddy_segment_sum.
 *  Gradient: dx = dy times the product of the other elements of the segment: y / x where x is not
 *  0; the product of the nonzero elements where x is the only 0; 0 if there are more zeros.
 *  Differentiable again, but from the third order on not where more than two elements are 0.
 *  `ids` has none.
 *  TensorFlow: SegmentProd. */
eddy_tensor eddy_segment_prod(eddy_tensor x, eddy_tensor ids)
{
    return eddy_apply2(&eddy_op_segment_prod, NULL, x, ids);
}

const eddy_op_def eddy_op_segment_min =
    SEGMENT("SegmentMin", &eddy__fold_min, EDDY_TAKES_NUMBERS, extreme_gradient);

/** y[s] = the elementwise minimum of the rows x[i] with ids[i] = s.
 *
 *  x    float32, float64, int32, int64 or uint8, [n,tail...]
 *  ids  as for eddy_segment_sum
 *
 *  y is NaN if any element is NaN; a segment without rows gives 0.
 *  Errors: as for eddy_segment_sum.
 *  Gradient: dx = dy / n for the n elements that equal y, and 0 for the others.  `ids` has none.
 *  TensorFlow: SegmentMin. */
eddy_tensor eddy_segment_min(eddy_tensor x, eddy_tensor ids)
{
    return eddy_apply2(&eddy_op_segment_min, NULL, x, ids);
}

const eddy_op_def eddy_op_segment_max =
    SEGMENT("SegmentMax", &eddy__fold_max, EDDY_TAKES_NUMBERS, extreme_gradient);

/** y[s] = the elementwise maximum of the rows x[i] with ids[i] = s.
 *
 *  x, ids  as for eddy_segment_min
 *
 *  y is NaN if any element is NaN; a segment without rows gives 0.
 *  Errors: as for eddy_segment_sum.
 *  Gradient: as for eddy_segment_min.  TensorFlow: SegmentMax. */
eddy_tensor eddy_segment_max(eddy_tensor x, eddy_tensor ids)
{
    return eddy_apply2(&eddy_op_segment_max, NULL, x, ids);
}

/* ----------------------------------------------------------------- unsorted ids -- */

typedef struct segment_attrs {
    int64_t num_segments;
} segment_attrs;

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
    const segment_attrs *a = c->attrs;
    const eddy_shape x = c->in[0].shape, ids = c->in[1].shape;
    if (!ids_begin(c)) return false;
    if (a->num_segments < 0)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "num_segments is %lld; it must not be negative",
                               (long long)a->num_segments);
    if (x.rank < 0 || ids.rank < 0)
        return eddy__infer_yield(c, 0, c->in[0].dtype, EDDY_UNKNOWN_SHAPE);
    eddy_shape y = { .rank = x.rank - ids.rank + 1, .dim = { a->num_segments } };
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
    if (r->acc_size != r->size) k->scratch_size = (size_t)y->count * r->acc_size;
    return EDDY_OK;
}

/* Extremes of real numbers are initialized to a finite number, which segments without rows keep. */
static void begin_finite(eddy_dtype d, double sign, void *acc, int64_t n)
{
    if (!eddy__dtype_is_float(d)) return;
    for (int64_t i = 0; i < n; i++) eddy__float_put(d, acc, i, sign * eddy__dtype_largest(d));
}

enum { COLUMNS = 16 };

typedef struct folding {
    eddy_kernel        *k;
    const eddy_reducer *r;
    const eddy_fold    *fold;
    int64_t             segments, inner;
    char               *acc;
} folding;

/* Initializes n columns of a row of accumulators, at element `at`; and finishes them. */
static void begin_row(const folding *f, int64_t at, int64_t n)
{
    const eddy_dtype d = f->k->out[0]->type.dtype;
    char *acc = f->acc + (size_t)at * f->r->acc_size;
    f->r->start(acc, n);
    if (f->fold == &eddy__fold_min) begin_finite(d, 1, acc, n);
    if (f->fold == &eddy__fold_max) begin_finite(d, -1, acc, n);
}

static void finish_row(const folding *f, int64_t at, int64_t n)
{
    char *y = (char *)f->k->out[0]->data + (size_t)at * f->r->size;
    f->r->finish(y, f->acc + (size_t)at * f->r->acc_size, n, 1);
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
    for (int64_t i = 0; i < rows; i++) begin_row(f, first + i * f->inner, width);
    for (int64_t i = 0; i < ids->count; i++, row += (size_t)f->inner * f->r->size) {
        const int64_t id = eddy__index_at(ids, i), at = (id < 0 ? 0 : id) * f->inner + first;
        if (id >= 0) f->r->fold(f->acc + (size_t)at * f->r->acc_size, row, 1, n, n);
    }
    for (int64_t i = 0; i < rows; i++) finish_row(f, first + i * f->inner, width);
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
    eddy_parallel(k, (f.inner + COLUMNS - 1) / COLUMNS, WORK / (COLUMNS * rows) + 1, fold_columns,
                  &f);
    return EDDY_OK;
}

/* Each example has its own ids: the segments of example e begin at e num_segments. */
static void batch_of_ids(eddy_batch *b, int rank)
{
    const int64_t own = ((const segment_attrs *)b->attrs)->num_segments;
    const eddy_shape examples = eddy_shape_of(b->examples);
    int64_t all;
    if (examples.rank < 1 || examples.dim[0] < 0) return;
    if (__builtin_mul_overflow(own, examples.dim[0], &all)) return;
    const eddy_tensor ids = Cast(b->x[1], EDDY_INT64);
    const eddy_tensor first = Mul(eddy_row_numbers(ids, EDDY_INT64), (double)own);
    const eddy_tensor place = Add(ids, eddy__batch_widen(first, 1, rank));
    const eddy_tensor at = Where(Less(ids, 0), -1, Where(Less(ids, (double)own), place,
                                                         (double)all));
    const eddy_tensor y = eddy_apply2(b->node->op, &(segment_attrs){ all }, eddy_batch_input(b, 0),
                                      at);
    b->y[0] = eddy_reshape_like(y, eddy__batch_result_like(b));
}

/* With shared ids, the axis of examples is moved behind the dimensions of ids. */
static void unsorted_batch(eddy_batch *b)
{
    const int rank = eddy__batch_rank(b, 0), own = eddy__batch_rank(b, 1);
    eddy_dims perm = { .count = rank + 1 };
    if (rank < 0 || own < 0) return;
    if (b->batched[1]) {
        batch_of_ids(b, own);
        return;
    }
    for (int i = 0; i <= rank; i++) perm.at[i] = i < own ? i + 1 : i == own ? 0 : i;
    const eddy_tensor x = eddy_transpose(b->x[0], perm);
    b->y[0] = eddy__batch_swap(eddy_apply2(b->node->op, b->attrs, x, b->x[1]), 0, 1);
}

#define UNSORTED(type, fold_, types, rule)                                       \
    { .name = type, .min_inputs = 2, .max_inputs = 2, .outputs = 1, .fold = fold_, \
      .inputs = EDDY_INPUTS({ "x", types }, { "ids", EDDY_TAKES_INDICES }),           \
      .attrs_size = sizeof(segment_attrs), .attrs = EDDY_ATTRS(segment_attrs, num_segments), \
      .flops = eddy_flops_per_input, .infer = unsorted_infer,                   \
      .prepare = unsorted_prepare, .kernel = unsorted_kernel, .gradient = rule, \
      .batch = unsorted_batch }

const eddy_op_def eddy_op_unsorted_segment_sum =
    UNSORTED("UnsortedSegmentSum", &eddy__fold_sum, EDDY_TAKES_NUMBERS_COMPLEX, sum_gradient);

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
    return eddy_apply2(&eddy_op_unsorted_segment_sum, &(segment_attrs){ num_segments }, x, ids);
}

const eddy_op_def eddy_op_unsorted_segment_prod =
    UNSORTED("UnsortedSegmentProd", &eddy__fold_prod, EDDY_TAKES_NUMBERS_COMPLEX, prod_gradient);

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
    return eddy_apply2(&eddy_op_unsorted_segment_prod, &(segment_attrs){ num_segments }, x, ids);
}

const eddy_op_def eddy_op_unsorted_segment_min =
    UNSORTED("UnsortedSegmentMin", &eddy__fold_min, EDDY_TAKES_NUMBERS, extreme_gradient);

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
    return eddy_apply2(&eddy_op_unsorted_segment_min, &(segment_attrs){ num_segments }, x, ids);
}

const eddy_op_def eddy_op_unsorted_segment_max =
    UNSORTED("UnsortedSegmentMax", &eddy__fold_max, EDDY_TAKES_NUMBERS, extreme_gradient);

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
    return eddy_apply2(&eddy_op_unsorted_segment_max, &(segment_attrs){ num_segments }, x, ids);
}

/* ----------------------------------------------------------- mean, sqrt_n -- */

/* The divisor of `sum`: the number of rows of each segment, or 1 if it has none. */
static eddy_tensor sizes(eddy_tensor sum, eddy_tensor ids, int64_t num_segments)
{
    const eddy_tensor n = eddy_unsorted_segment_sum(OnesLike(ids), ids, num_segments);
    return by_row(CastLike(Maximum(n, 1), sum), sum);
}

static bool can_divide(eddy_tensor x, const char *op)
{
    if (!eddy_is_valid(x)) return false;
    if (eddy_dtype_is_differentiable(eddy_dtype_of(x))) return true;
    eddy_fail(x.graph, EDDY_BAD_DTYPE,
              "%s: x is %s; float32, float64, complex64 or complex128 expected", op,
              eddy_dtype_name(eddy_dtype_of(x)));
    return false;
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
    if (!can_divide(x, "unsorted_segment_mean")) return eddy_none(x.graph);
    eddy_scope_begin(x.graph, "UnsortedSegmentMean");
    const eddy_tensor sum = eddy_unsorted_segment_sum(x, ids, num_segments);
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
    if (!can_divide(x, "unsorted_segment_sqrt_n")) return eddy_none(x.graph);
    eddy_scope_begin(x.graph, "UnsortedSegmentSqrtN");
    const eddy_tensor sum = eddy_unsorted_segment_sum(x, ids, num_segments);
    const eddy_tensor y = Div(sum, Sqrt(sizes(sum, ids, num_segments)));
    eddy_scope_end(x.graph);
    return y;
}
