/* segment.c -- reductions of the rows that share a segment id: sum, mean, product, min and max. The
 * ids are sorted, and the last one gives the number of segments. */
#include "ops/reduce/segment.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/reduction/reduce_engine.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

/* The last id plus 1, or 0: the kernel refuses a negative id. */
static eddy_tensor count_segments(eddy_tensor ids)
{
    eddy_scope_begin(ids.graph, "Segments");
    const eddy_tensor last = eddy_index(eddy_reshape(ids, EDDY_SHAPE(EDDY_ANY)), "-1:");
    const eddy_tensor n = eddy_sum(Maximum(Add(Cast(last, EDDY_INT64), 1), 0));
    eddy_scope_end(ids.graph);
    return n;
}

static eddy_tensor segments_of(eddy_tensor ids)
{
    const eddy_array *known = eddy_constant_value(ids);
    if (!known || eddy_array_shape(known).rank != 1) return count_segments(ids);
    const int64_t n = eddy_array_count(known);
    const int64_t last = n > 0 ? eddy__array_integer(known, n - 1) : -1;
    const int64_t number = last < 0 ? 0 : last == INT64_MAX ? last : last + 1;
    return eddy_const(ids.graph, EDDY_INT64, EDDY_SCALAR, &number);
}

static bool segment_infer(eddy_infer *c)
{
    const eddy_shape ids = c->in[1].shape;
    eddy_shape y = c->in[0].shape;
    if (y.rank < 0) return eddy__infer_yield(c, 0, c->in[0].dtype, y);
    if (ids.rank == 1 && !eddy__dim_unify(&y.dim[0], ids.dim[0]))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the number of rows of x is %lld, but the number "
                               "of ids is %lld", (long long)y.dim[0], (long long)ids.dim[0]);
    y.dim[0] = c->value[2] ? eddy__array_integer(c->value[2], 0) : EDDY_ANY;
    return eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

static eddy_status check_sorted(eddy_kernel *k)
{
    const int64_t segments = k->out[0]->type.shape.dim[0];
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
    if (ids->count > 0 && before >= segments)
        return eddy_kernel_fail(k, EDDY_OUT_OF_RANGE,
                                "the last id is %lld, but num_segments is %lld", (long long)before,
                                (long long)segments);
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
    for (int64_t id = 0, i = 0, n = 0; id < y->type.shape.dim[0]; id++, i += n) {
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
    if (b->batched[1] || b->batched[2] || eddy__batch_rank(b, 0) < 0) return;
    const eddy_tensor x = eddy__batch_swap(b->x[0], 0, 1);
    b->y[0] = eddy__batch_swap(eddy__segment_apply(b->node->op, x, b->x[1], b->x[2]), 0, 1);
}

#define SEGMENT(type, fold_, types, rule)                                        \
    { .name = type, .min_inputs = 3, .max_inputs = 3, .outputs = 1, .fold = fold_, \
      .inputs = EDDY_INPUTS({ "x", (types) | EDDY_RANK_FROM(1) },               \
                            { "ids", EDDY_TAKES_INDICES | EDDY_RANK(1) },             \
                            { "num_segments", EDDY_TAKES_INDICES | EDDY_RANK(0) }),   \
      .value_inputs = 1u << 2, .flops = eddy_flops_per_input, .infer = segment_infer, \
      .kernel = segment_kernel, .gradient = rule, .batch = segment_batch }

static eddy_tensor sorted(const eddy_op_def *op, eddy_tensor x, eddy_tensor ids)
{
    const bool valid = eddy_is_valid(ids) && eddy__dtype_is_index(eddy_dtype_of(ids));
    return eddy__segment_apply(op, x, ids, valid ? segments_of(ids) : ids);
}

const eddy_op_def eddy_op_segment_sum =
    SEGMENT("SegmentSum", &eddy__fold_sum, EDDY_TAKES_NUMBERS_COMPLEX, eddy__segment_sum_gradient);

/** y[s] = the sum of the rows x[i] with ids[i] = s.
 *
 *  x    any numeric type except float16 and bfloat16, [n,tail...]
 *  ids  int32 or int64 [n], non-negative and ascending; rows with equal ids form a segment; y has
 *       ids[n-1] + 1 rows
 *
 *  A segment without rows gives 0.  float32 is summed in float64 and rounded once.  If the ids are
 *  not constant, a run computes them first, and the rest of it is compiled for each number of
 *  segments.
 *  Errors: EDDY_BAD_DTYPE or EDDY_BAD_SHAPE if the arguments do not match; at run time,
 *  EDDY_OUT_OF_RANGE for a negative id, EDDY_INVALID_ARGUMENT if the ids are not ascending.
 *  Gradient: dx[i] = dy[ids[i]]; `ids` has none.  TensorFlow: SegmentSum. */
eddy_tensor eddy_segment_sum(eddy_tensor x, eddy_tensor ids)
{
    return sorted(&eddy_op_segment_sum, x, ids);
}

static void segment_mean_gradient(eddy_rule *r)
{
    const eddy_tensor ids = r->x[1], dy = r->dy[0];
    const eddy_tensor ones = OnesLike(ids);
    const eddy_tensor n = eddy__segment_gathered(
        r, eddy__segment_apply(&eddy_op_segment_sum, ones, ids, r->x[2]));
    r->dx[0] = Div(eddy__segment_gathered(r, dy), eddy__segment_by_row(CastLike(n, dy), r->x[0]));
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
    return sorted(&eddy_op_segment_mean, x, ids);
}

const eddy_op_def eddy_op_segment_prod = SEGMENT(
    "SegmentProd", &eddy__fold_prod, EDDY_TAKES_NUMBERS_COMPLEX, eddy__segment_prod_gradient);

/** y[s] = the product of the rows x[i] with ids[i] = s.
 *
 *  x, ids  as for eddy_segment_sum
 *
 *  A segment without rows gives 1.
 *  Errors: as for eddy_segment_sum.
 *  Gradient: dx = dy times the product of the other elements of the segment: y / x where x is not
 *  0; the product of the nonzero elements where x is the only 0; 0 if there are more zeros.
 *  Differentiable again, from the third order on except where more than two elements are 0.
 *  `ids` has none.
 *  TensorFlow: SegmentProd. */
eddy_tensor eddy_segment_prod(eddy_tensor x, eddy_tensor ids)
{
    return sorted(&eddy_op_segment_prod, x, ids);
}

const eddy_op_def eddy_op_segment_min =
    SEGMENT("SegmentMin", &eddy__fold_min, EDDY_TAKES_NUMBERS, eddy__segment_extreme_gradient);

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
    return sorted(&eddy_op_segment_min, x, ids);
}

const eddy_op_def eddy_op_segment_max =
    SEGMENT("SegmentMax", &eddy__fold_max, EDDY_TAKES_NUMBERS, eddy__segment_extreme_gradient);

/** y[s] = the elementwise maximum of the rows x[i] with ids[i] = s.
 *
 *  x, ids  as for eddy_segment_min
 *
 *  y is NaN if any element is NaN; a segment without rows gives 0.
 *  Errors: as for eddy_segment_sum.
 *  Gradient: as for eddy_segment_min.  TensorFlow: SegmentMax. */
eddy_tensor eddy_segment_max(eddy_tensor x, eddy_tensor ids)
{
    return sorted(&eddy_op_segment_max, x, ids);
}
