/* reduce.c -- reductions, softmax, sorting and cumulative sums. */
#include "../build.h"
#include "../../../ops/short_names.h"

typedef enum reduction {
    SUM = 1, MEAN, MAX, MIN, PROD, L1, L2, LOG_SUM, LOG_SUM_EXP, SUM_SQUARE
} reduction;

static eddy_tensor reduced(reduction kind, eddy_tensor x, eddy_dims axes, bool keep)
{
    switch (kind) {
    case SUM: return Sum(x, axes, keep);
    case MEAN: return Mean(x, axes, keep);
    case MAX: return Max(x, axes, keep);
    case MIN: return Min(x, axes, keep);
    case PROD: return Prod(x, axes, keep);
    case L1: return Sum(Abs(x), axes, keep);
    case L2: return eddy_euclidean_norm(x, axes, keep);
    case LOG_SUM: return Log(Sum(x, axes, keep));
    case LOG_SUM_EXP: return LogSumExp(x, axes, keep);
    case SUM_SQUARE: return Sum(Square(x), axes, keep);
    }
    return x;
}

/* The largest of bools is whether any is true. */
static eddy_tensor of_bools(reduction kind, eddy_tensor x, eddy_dims axes, bool keep)
{
    return kind == MAX ? eddy_any(x, axes, keep) : eddy_all(x, axes, keep);
}

/* variant: the reduction. Axes are an attribute up to operator set 17, 12 for ReduceSum. */
static bool reduce(onnx_build *b)
{
    int64_t    list[ONNX_MAX_LIST];
    const int  n = eddy__onnx_axes(b, 1, "axes", eddy__onnx_rank(b, 0), list);
    const bool keep = eddy__onnx_int(b, "keepdims", 1);
    const bool all = n == ONNX_ABSENT || (n == 0 && !eddy__onnx_int(b, "noop_with_empty_axes", 0));
    if (n == ONNX_FAILED) return false;
    const eddy_dims   axes = all ? EDDY_OMITTED_DIMS : eddy__onnx_dims(list, n);
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const reduction   kind = (reduction)b->op->variant;
    if (eddy_dtype_of(x) == EDDY_BOOL && (kind == MAX || kind == MIN))
        return eddy__onnx_put(b, 0, of_bools(kind, x, axes, keep));
    const bool whole = eddy_dtype_is_integer(eddy_dtype_of(x)) && kind >= L2 && kind != SUM_SQUARE;
    const eddy_tensor y = reduced(kind, whole ? Cast(x, EDDY_FLOAT64) : x, axes, keep);
    return eddy__onnx_put(b, 0, Cast(y, eddy_dtype_of(x)));
}

static bool arg_extreme(onnx_build *b)
{
    eddy_tensor   x = eddy__onnx_in(b, 0);
    const int     axis = eddy__onnx_axis(b, eddy__onnx_int(b, "axis", 0), eddy__onnx_rank(b, 0));
    const bool    last = eddy__onnx_int(b, "select_last_index", 0),
               max = b->node->op[3] == 'M' && b->node->op[4] == 'a';
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
    return !b->reason && eddy__onnx_put(b, 0, y);
}

static bool log_softmax(onnx_build *b)
{
    const eddy_tensor y = over(b, eddy__onnx_in(b, 0), log_softmax_at);
    return !b->reason && eddy__onnx_put(b, 0, y);
}

static bool hardmax(onnx_build *b)
{
    const eddy_tensor y = over(b, eddy__onnx_in(b, 0), hardmax_at);
    return !b->reason && eddy__onnx_put(b, 0, y);
}

static bool cumsum(onnx_build *b)
{
    int64_t   axis[ONNX_MAX_LIST];
    const int n = eddy__onnx_axes(b, 1, NULL, eddy__onnx_rank(b, 0), axis);
    if (n != 1) return n == ONNX_FAILED ? false : eddy__onnx_invalid(b, "axis is no single number");
    const eddy_scan_args *args = EDDY_ARGS(eddy_scan_args, eddy__onnx_in(b, 0), axis[0],
                                           .exclusive = eddy__onnx_int(b, "exclusive", 0) != 0,
                                           .reverse = eddy__onnx_int(b, "reverse", 0) != 0);
    return eddy__onnx_put(b, 0,
                          b->node->op[3] == 'S' ? eddy_cumsum_with(args) : eddy_cumprod_with(args));
}

/* The largest or smallest k along an axis, in order; equal elements by index. */
static bool top_k(onnx_build *b)
{
    const int axis = eddy__onnx_axis(b, eddy__onnx_int(b, "axis", -1), eddy__onnx_rank(b, 0));
    int64_t   list[ONNX_MAX_LIST] = { eddy__onnx_int(b, "k", -1) };
    const int n = b->version < 10 ? 1 : eddy__onnx_list(b, 1, NULL, list);
    if (axis < 0 || n == ONNX_FAILED) return false;
    if (n != 1 || list[0] < 0) return eddy__onnx_invalid(b, "k is no number");
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const eddy_tensor s =
        eddy_sort(x, EDDY_AXES(axis), .descending = eddy__onnx_int(b, "largest", 1) != 0);
    eddy_dims begin = { .count = eddy_shape_of(x).rank }, size = { .count = eddy_shape_of(x).rank };
    for (int i = 0; i < size.count; i++) size.at[i] = i == axis ? list[0] : -1;
    const eddy_tensor index = Cast(eddy_slice(eddy_output(s, 1), begin, size), EDDY_INT64);
    return eddy__onnx_put(b, 0, eddy_slice(s, begin, size)) &&
           eddy__onnx_put_as(b, 1, index, ONNX_INT64);
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
