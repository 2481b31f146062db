/* reduce.c -- reductions, softmax, sorting and cumulative sums. */
#include "../build.h"
#include "../../../ops/short_names.h"

typedef enum reduction {
    SUM = 1, MEAN, MAX, MIN, PROD, L1, L2, LOG_SUM, LOG_SUM_EXP, SUM_SQUARE
} reduction;

/* The axes: numbers, or a tensor of which only a run tells the elements. */
typedef struct reduced_axes {
    eddy_dims   known;
    eddy_tensor computed;
    bool        keep;
} reduced_axes;

static eddy_tensor reduce_by(eddy_reduce_fn f, eddy_tensor x, const reduced_axes *a)
{
    return eddy_is_valid(a->computed)
               ? eddy_reduce_to(f, x, a->computed, a->keep)
               : f(EDDY_ARGS(eddy_reduce_args, x, a->known, a->keep));
}

static eddy_tensor reduced(reduction kind, eddy_tensor x, const reduced_axes *a)
{
    switch (kind) {
    case SUM: return reduce_by(eddy_sum_with, x, a);
    case MEAN: return reduce_by(eddy_mean_with, x, a);
    case MAX: return reduce_by(eddy_max_with, x, a);
    case MIN: return reduce_by(eddy_min_with, x, a);
    case PROD: return reduce_by(eddy_prod_with, x, a);
    case L1: return reduce_by(eddy_sum_with, Abs(x), a);
    case L2: return reduce_by(eddy_euclidean_norm_with, x, a);
    case LOG_SUM: return Log(reduce_by(eddy_sum_with, x, a));
    case LOG_SUM_EXP: return reduce_by(eddy_logsumexp_with, x, a);
    case SUM_SQUARE:
    default: return reduce_by(eddy_sum_with, Square(x), a);
    }
}

/* The largest of bools is whether any is true. */
static eddy_tensor of_bools(reduction kind, eddy_tensor x, const reduced_axes *a)
{
    return reduce_by(kind == MAX ? eddy_any_with : eddy_all_with, x, a);
}

/* Without axes, all of them. */
static eddy_tensor or_all(onnx_build *b, eddy_tensor axes, int rank)
{
    static const int64_t all[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    axes = Cast(axes, EDDY_INT64);
    const eddy_tensor n = eddy_shape_tensor(axes, EDDY_INT64);
    const eddy_tensor count = Where(Equal(n, 0), (double)rank, n);
    return eddy_slice_to(eddy_concat(EDDY_LIST(axes, eddy__onnx_int64s(b, all, rank))),
                         ZerosLike(n), count);
}

static bool find_computed_axes(onnx_build *b, int rank, bool noop, reduced_axes *a)
{
    if (rank < 0) return eddy__onnx_missing(b, "the rank of the input must be known");
    const eddy_tensor axes = eddy__onnx_in(b, 1);
    const eddy_shape  s = eddy_shape_of(axes);
    const int64_t     n = s.rank == 1 ? s.dim[0] : EDDY_ANY;
    if (noop || n > 0) a->computed = axes;
    else if (n != 0 && s.rank == 1) a->computed = or_all(b, axes, rank);
    else if (n != 0) return eddy__onnx_invalid(b, "axes is not a vector");
    return true;
}

/* Axes are an attribute up to operator set 17, 12 for ReduceSum. */
static bool find_axes(onnx_build *b, reduced_axes *a)
{
    int64_t    list[ONNX_MAX_LIST];
    const int  rank = eddy__onnx_rank(b, 0);
    const bool noop = eddy__onnx_int(b, "noop_with_empty_axes", 0);
    *a = (reduced_axes){ .known = EDDY_OMITTED_DIMS, .keep = eddy__onnx_int(b, "keepdims", 1) };
    if (eddy__onnx_is_computed(b, 1)) return find_computed_axes(b, rank, noop, a);
    const int n = eddy__onnx_axes(b, 1, "axes", rank, list);
    if (n > 0 || (n == 0 && noop)) a->known = eddy__onnx_dims(list, n);
    return n != ONNX_FAILED;
}

/* variant: the reduction. */
static bool reduce(onnx_build *b)
{
    reduced_axes a;
    if (!find_axes(b, &a)) return false;
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const reduction   kind = (reduction)b->op->variant;
    if (eddy_dtype_of(x) == EDDY_BOOL && (kind == MAX || kind == MIN))
        return eddy__onnx_put(b, 0, of_bools(kind, x, &a));
    const bool whole = eddy_dtype_is_integer(eddy_dtype_of(x)) && kind >= L2 && kind != SUM_SQUARE;
    const eddy_tensor y = reduced(kind, whole ? Cast(x, EDDY_FLOAT64) : x, &a);
    return eddy__onnx_put(b, 0, Cast(y, eddy_dtype_of(x)));
}

static bool arg_extreme(onnx_build *b)
{
    eddy_tensor   x = eddy__onnx_in(b, 0);
    const int     axis = eddy__onnx_axis(b, eddy__onnx_int(b, "axis", 0), eddy__onnx_rank(b, 0));
    const bool    last = eddy__onnx_int(b, "select_last_index", 0),
               max = b->node->op[4] == 'a';
    if (axis < 0) return false;
    if (last) x = eddy_reverse(x, EDDY_AXES(axis));
    eddy_tensor y = max ? eddy_argmax(x, axis) : eddy_argmin(x, axis);
    if (last) y = Sub(Sub(eddy_size_along(x, axis), eddy_number(b->graph, EDDY_INT64, 1)), y);
    if (eddy__onnx_int(b, "keepdims", 1)) y = ExpandDims(y, axis);
    return eddy__onnx_put_as(b, 0, y, ONNX_INT64);
}

/* Up to operator set 12, softmax is over all axes from `axis` on, as of a matrix. */
static eddy_tensor over(onnx_build *b, eddy_tensor x, eddy_tensor (*f)(eddy_tensor x, int axis))
{
    const bool flat = b->version < 13;
    const int  axis =
        eddy__onnx_axis(b, eddy__onnx_int(b, "axis", flat ? 1 : -1), eddy__onnx_rank(b, 0));
    if (axis < 0) return eddy_none(b->graph);
    if (!flat || axis == eddy_shape_of(x).rank - 1) return f(x, axis);
    const eddy_shape s = eddy_shape_of(x);
    eddy_shape       m = { .rank = axis + 1 };
    int64_t          inner = 1;
    for (int i = 0; i < axis; i++) m.dim[i] = s.dim[i];
    for (int i = axis; i < s.rank; i++)
        inner = s.dim[i] == EDDY_ANY || inner < 0 ? -1 : inner * s.dim[i];
    int open = inner < 0;
    m.dim[axis] = inner;
    for (int i = 0; i < axis; i++) open += m.dim[i] == EDDY_ANY;
    if (open > 1)
        return eddy__onnx_missing(b, "too many dimensions are unknown"), eddy_none(b->graph);
    return ReshapeLike(f(Reshape(x, m), axis), x);
}

static eddy_tensor softmax_at(eddy_tensor x, int axis) { return Softmax(x, EDDY_AXES(axis)); }
static eddy_tensor log_softmax_at(eddy_tensor x, int axis)
{
    return LogSoftmax(x, EDDY_AXES(axis));
}

/* 1 at the first maximum. */
static eddy_tensor hardmax_at(eddy_tensor x, int axis)
{
    const eddy_tensor at = ExpandDims(eddy_argmax(x, axis), axis);
    const eddy_tensor i = eddy_cumsum(Cast(OnesLike(x), EDDY_INT64), axis, .exclusive = true);
    return CastLike(Equal(i, at), x);
}

static bool softmax(onnx_build *b)
{
    const eddy_tensor y = over(b, eddy__onnx_in(b, 0), softmax_at);
    return eddy__onnx_put(b, 0, y);
}

static bool log_softmax(onnx_build *b)
{
    const eddy_tensor y = over(b, eddy__onnx_in(b, 0), log_softmax_at);
    return eddy__onnx_put(b, 0, y);
}

static bool hardmax(onnx_build *b)
{
    const eddy_tensor y = over(b, eddy__onnx_in(b, 0), hardmax_at);
    return eddy__onnx_put(b, 0, y);
}

/* With an axis that is computed: x as [dimensions before it, its own, those after it]. */
static bool computed_cumsum(onnx_build *b, int rank)
{
    static const int64_t places[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    if (rank < 0) return eddy__onnx_missing(b, "the rank of the input must be known");
    const eddy_tensor x = eddy__onnx_in(b, 0), s = eddy_shape_tensor(x, EDDY_INT64);
    const eddy_tensor axis = Reshape(eddy__onnx_axes_in(b, 1, rank), EDDY_SCALAR);
    const eddy_tensor at = eddy__onnx_int64s(b, places, rank);
    const eddy_tensor dims[] = { Prod(Where(Less(at, axis), s, 1)), eddy_gather(s, axis),
                                 Prod(Where(Greater(at, axis), s, 1)) };
    const eddy_tensor view = eddy_reshape_to(x, eddy_stack((eddy_list){ 3, dims }, 0));
    const eddy_scan_args *args =
        EDDY_ARGS(eddy_scan_args, view, 1, .exclusive = eddy__onnx_int(b, "exclusive", 0) != 0,
                  .reverse = eddy__onnx_int(b, "reverse", 0) != 0);
    const eddy_tensor y =
        b->node->op[3] == 'S' ? eddy_cumsum_with(args) : eddy_cumprod_with(args);
    return eddy__onnx_put(b, 0, ReshapeLike(y, x));
}

static bool cumsum(onnx_build *b)
{
    int64_t axis[ONNX_MAX_LIST];
    if (eddy__onnx_is_computed(b, 1)) return computed_cumsum(b, eddy__onnx_rank(b, 0));
    const int n = eddy__onnx_axes(b, 1, NULL, eddy__onnx_rank(b, 0), axis);
    if (n != 1) return eddy__onnx_invalid(b, "axis is not a single number");
    const eddy_scan_args *args = EDDY_ARGS(eddy_scan_args, eddy__onnx_in(b, 0), axis[0],
                                           .exclusive = eddy__onnx_int(b, "exclusive", 0) != 0,
                                           .reverse = eddy__onnx_int(b, "reverse", 0) != 0);
    return eddy__onnx_put(b, 0,
                          b->node->op[3] == 'S' ? eddy_cumsum_with(args) : eddy_cumprod_with(args));
}

/* The largest or smallest k along an axis, in order; equal elements by index. */
static bool computed_top_k(onnx_build *b, int axis)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    eddy_tensor       k = Reshape(Cast(eddy__onnx_in(b, 1), EDDY_INT64), EDDY_SCALAR);
    const eddy_tensor n = Cast(eddy_size_along(x, axis), EDDY_INT64);
    k = eddy_ensure(k, LogicalAnd(GreaterEqual(k, 0), LessEqual(k, n)),
                    "TopK: k is not within the size of the axis");
    const eddy_tensor s =
        eddy_sort(x, EDDY_AXES(axis), .descending = eddy__onnx_int(b, "largest", 1) != 0);
    const eddy_tensor zero = ZerosLike(k), one = OnesLike(k);
    const eddy_tensor index = eddy_slice_along(eddy_output(s, 1), zero, k, one, axis);
    eddy__onnx_put_as(b, 1, Cast(index, EDDY_INT64), ONNX_INT64);
    return eddy__onnx_put(b, 0, eddy_slice_along(s, zero, k, one, axis));
}

static bool top_k(onnx_build *b)
{
    const int axis = eddy__onnx_axis(b, eddy__onnx_int(b, "axis", -1), eddy__onnx_rank(b, 0));
    if (axis >= 0 && b->version >= 10 && eddy__onnx_is_computed(b, 1))
        return computed_top_k(b, axis);
    int64_t   list[ONNX_MAX_LIST] = { eddy__onnx_int(b, "k", -1) };
    const int n = b->version < 10 ? 1 : eddy__onnx_list(b, 1, NULL, list);
    if (axis < 0 || n == ONNX_FAILED) return false;
    if (n != 1 || list[0] < 0) return eddy__onnx_invalid(b, "k must be one non-negative number");
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const eddy_tensor s =
        eddy_sort(x, EDDY_AXES(axis), .descending = eddy__onnx_int(b, "largest", 1) != 0);
    eddy_dims begin = { .count = eddy_shape_of(x).rank }, size = { .count = eddy_shape_of(x).rank };
    for (int i = 0; i < size.count; i++) size.at[i] = i == axis ? list[0] : -1;
    const eddy_tensor index = Cast(eddy_slice(eddy_output(s, 1), begin, size), EDDY_INT64);
    eddy__onnx_put_as(b, 1, index, ONNX_INT64);
    return eddy__onnx_put(b, 0, eddy_slice(s, begin, size));
}

const onnx_operator eddy__onnx_reduce[] = {
    { "ReduceSum", 1, reduce, .variant = SUM },
    { "ReduceMean", 1, reduce, .variant = MEAN },
    { "ReduceMax", 1, reduce, .variant = MAX },
    { "ReduceMin", 1, reduce, .variant = MIN },
    { "ReduceProd", 1, reduce, .variant = PROD },
    { "ReduceL1", 1, reduce, .variant = L1 },
    { "ReduceL2", 1, reduce, .variant = L2 },
    { "ReduceLogSum", 1, reduce, .variant = LOG_SUM },
    { "ReduceLogSumExp", 1, reduce, .variant = LOG_SUM_EXP },
    { "ReduceSumSquare", 1, reduce, .variant = SUM_SQUARE },
    { "ArgMax", 1, arg_extreme },
    { "ArgMin", 1, arg_extreme },
    { "Softmax", 1, softmax },
    { "LogSoftmax", 1, log_softmax },
    { "Hardmax", 1, hardmax },
    { "CumSum", 11, cumsum },
    { "CumProd", 26, cumsum },
    { "TopK", 1, top_k },
    { NULL },
};
