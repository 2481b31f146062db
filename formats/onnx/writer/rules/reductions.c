/* reductions.c -- reductions, scans, sorting, and segments. */
#include "indexing.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const char *reduced(onnx_part *p, const char *op, const char *x)
{
    int64_t    axes[EDDY_MAX_RANK];
    const int  n = eddy__part_axes(p, eddy__part_type(p, 0).shape.rank, axes);
    const bool keep = eddy__part_bool(p, "keep_dims");
    return strcmp(op, "ReduceSum") == 0 ? eddy__part_sum(p, x, n, axes, keep)
                                        : eddy__part_reduce(p, op, x, n, axes, keep);
}

/* Of no elements, on which ONNX Runtime's operators fail or differ from each other. */
static bool reduce_nothing(onnx_part *p, double result)
{
    const eddy_shape s = p->node->outputs[0].shape;
    const char      *shape = eddy__part_ints(p, s.rank, s.dim);
    return eddy__part_put(p, 0, eddy__part_filled(p, p->node->outputs[0].dtype, result, shape));
}

static bool reduce(onnx_part *p)
{
    static const struct { const char *op, *onnx; double nothing; } ops[] = {
        { "Sum", "ReduceSum", 0 }, { "Mean", "ReduceMean", NAN },
        { "Max", "ReduceMax", -INFINITY }, { "Min", "ReduceMin", INFINITY },
        { "Prod", "ReduceProd", 1 },
    };
    int         rank;
    const char *op = "";
    double      nothing = 0;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(ops[i].op, p->node->op->name) == 0) op = ops[i].onnx, nothing = ops[i].nothing;
    const char      *x = eddy__part_in(p, 0);
    const eddy_dtype d = eddy__part_dtype(p, 0);
    if (rank == 0) return eddy__part_put(p, 0, x);
    if (eddy_shape_count(eddy__part_type(p, 0).shape) == 0 && eddy_dtype_is_floating(d) &&
        eddy_shape_is_known(p->node->outputs[0].shape))
        return reduce_nothing(p, nothing);
    if (d != EDDY_UINT8) return eddy__part_put(p, 0, reduced(p, op, x));
    x = reduced(p, op, eddy__part_cast(p, x, d, EDDY_INT32));
    return eddy__part_put(p, 0, eddy__part_cast(p, x, EDDY_INT32, d));
}

/* Of booleans: the smallest or the largest. */
static bool all_or_any(onnx_part *p)
{
    int rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    if (rank == 0) return eddy__part_put(p, 0, eddy__part_in(p, 0));
    const char *x = eddy__part_cast(p, eddy__part_in(p, 0), EDDY_BOOL, EDDY_INT32);
    x = reduced(p, p->node->op->name[1] == 'l' ? "ReduceMin" : "ReduceMax", x);
    return eddy__part_put(p, 0, eddy__part_cast(p, x, EDDY_INT32, EDDY_BOOL));
}

static bool euclidean_norm(onnx_part *p)
{
    int rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    const char *x = eddy__part_in(p, 0);
    if (rank == 0) return eddy__part_put(p, 0, eddy__part_unary(p, "Abs", x));
    const char *sum = reduced(p, "ReduceSum", eddy__part_binary(p, "Mul", x, x));
    return eddy__part_put(p, 0, eddy__part_unary(p, "Sqrt", sum));
}

static bool arg_max(onnx_part *p)
{
    int rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    const eddy_dtype d = eddy__part_dtype(p, 0);
    const bool       narrow = d == EDDY_BOOL || d == EDDY_INT64 || d == EDDY_UINT8;
    const char *x = eddy__part_cast(p, eddy__part_in(p, 0), d, narrow ? EDDY_INT32 : d);
    if (d == EDDY_INT64) x = eddy__part_in(p, 0);
    onnx_call c = eddy__call(p, p->node->op->name, 1, &x);
    eddy__call_int(&c, "axis", eddy__part_axis(p, rank));
    eddy__call_int(&c, "keepdims", 0);
    return eddy__part_put(p, 0, eddy__part_cast(p, eddy__call_end(&c), EDDY_INT64,
                                                p->node->outputs[0].dtype));
}

static bool cumsum(onnx_part *p)
{
    int rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    const char *axis = eddy__part_number(p, EDDY_INT64, (double)eddy__part_axis(p, rank));
    return eddy__part_put(p, 0,
                          eddy__part_formula(p, EDDY_INT64,
                                             "CumSum[exclusive=#exclusive,reverse=#reverse](a, b)",
                                             eddy__part_in(p, 0), axis));
}

/* ------------------------------------------------------------------ sorting -- */

static bool top(onnx_part *p, const char *k, int64_t axis, bool largest)
{
    const char *const in[] = { eddy__part_in(p, 0), k };
    const char       *out[2];
    onnx_call c = eddy__call(p, "TopK", 2, in);
    eddy__call_int(&c, "axis", axis);
    eddy__call_int(&c, "largest", largest);
    eddy__call_outputs(&c, 2, out);
    eddy__part_put(p, 0, out[0]);
    return eddy__part_put(p, 1, eddy__part_cast(p, out[1], EDDY_INT64, p->node->outputs[1].dtype));
}

static bool top_k(onnx_part *p)
{
    return top(p, eddy__part_one(p, eddy__part_int(p, "k")), -1, true);
}

static bool sort(onnx_part *p)
{
    int rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    const int64_t axis = eddy__part_axis(p, rank);
    const char *n = eddy__part_size(p, eddy__part_in(p, 0), eddy__part_type(p, 0).shape, (int)axis);
    return top(p, n, axis, eddy__part_bool(p, "descending"));
}

/* The number of elements of the sorted row that are less than a value. */
static bool search_sorted(onnx_part *p)
{
    const char *one = eddy__part_one(p, -1), *two = eddy__part_one(p, -2);
    const char *a = eddy__part_binary(p, "Unsqueeze", eddy__part_in(p, 0), two);
    const char *b = eddy__part_binary(p, "Unsqueeze", eddy__part_in(p, 1), one);
    const char *less =
        eddy__part_binary(p, eddy__part_bool(p, "right") ? "LessOrEqual" : "Less", a, b);
    const char *n =
        eddy__part_formula(p, EDDY_INT64, "ReduceSum[keepdims=0](int64(a), b)", less, one);
    return eddy__part_put(p, 0, eddy__part_cast(p, n, EDDY_INT64, p->node->outputs[0].dtype));
}

/* ----------------------------------------------------------------- segments -- */

/* The value of segments without rows: 0 in place of extremes if they are sorted. */
static const char *beginning(onnx_part *p, eddy_dtype d, const char *shape)
{
    const char *op = p->node->op->name;
    const bool  largest = strstr(op, "Max") != NULL;
    if (!largest && !strstr(op, "Min"))
        return eddy__part_filled(p, d, strstr(op, "Prod") != NULL, shape);
    if (d == EDDY_INT64) {
        const char *end = eddy__part_one(p, largest ? INT64_MIN : INT64_MAX);
        return eddy__part_binary(p, "Expand", end, shape);
    }
    const double most = d == EDDY_FLOAT64 ? DBL_MAX : d == EDDY_FLOAT32 ? (double)FLT_MAX
                      : d == EDDY_INT32 ? INT32_MAX : UINT8_MAX;
    const double least = d == EDDY_INT32 ? INT32_MIN : d == EDDY_UINT8 ? 0 : -most;
    return eddy__part_filled(p, d, largest ? least : most, shape);
}

/* Rows are added to (multiplied with, compared to) those of a tensor; rows of negative ids are left
 * out. */
static const char *scattered(onnx_part *p, const char *x, const char *start, const char *ids,
                             eddy_dtype d, int rank, int ids_rank)
{
    const char *op = p->node->op->name, *at = eddy__indices_last(p, ids);
    const bool  largest = strstr(op, "Max") != NULL;
    if (!largest && !strstr(op, "Min"))
        return eddy__indices_scatter(p, start, at, x, strstr(op, "Prod") ? "mul" : "add");
    return eddy__scatter_extremes(p, start, rank - ids_rank + 1, at, ids_rank + 1, x, rank, d,
                                  largest);
}

/* How many rows each segment has, as a tensor of this shape. */
static const char *counted(onnx_part *p, const char *x, const char *ids, eddy_dtype d,
                           const char *shape)
{
    const char *ones = eddy__part_filled(p, d, 1, eddy__part_unary(p, "Shape", x));
    return eddy__indices_scatter(p, eddy__part_filled(p, d, 0, shape), eddy__indices_last(p, ids),
                                 ones, "add");
}

static bool segment(onnx_part *p)
{
    const char      *op = p->node->op->name;
    const bool       sorted = op[0] == 'S';
    const eddy_dtype d = p->node->outputs[0].dtype;
    int              rank, ids_rank;
    if (!eddy__part_known_rank(p, 0, &rank) || !eddy__part_known_rank(p, 1, &ids_rank))
        return false;
    const char *x = eddy__part_in(p, 0);
    const char *ids = eddy__part_cast(p, eddy__part_in(p, 1), eddy__part_dtype(p, 1), EDDY_INT64);
    const char *n = eddy__part_cast(p, eddy__part_in(p, 2), eddy__part_dtype(p, 2), EDDY_INT64);
    n = eddy__part_reshape(p, n, eddy__part_one(p, 1));
    const char *shape = n;
    if (rank > ids_rank) {
        onnx_call c = eddy__call(p, "Shape", 1, &x);
        eddy__call_int(&c, "start", ids_rank);
        const char *const parts[] = { n, eddy__call_end(&c) };
        shape = eddy__part_concat(p, 0, 2, parts);
    }
    if (!sorted) {                      /* negative ids: to a row more, which is cut off */
        ids = eddy__part_formula(p, EDDY_INT64, "Where(Less(a, 0), b, a)", ids, n);
        if (ids_rank == 0) ids = eddy__part_reshape(p, ids, eddy__part_ints(p, 0, NULL));
        int64_t first[EDDY_MAX_RANK] = { 1 };
        shape = eddy__part_binary(p, "Add", shape, eddy__part_ints(p, rank - ids_rank + 1, first));
    }
    const char *y = scattered(p, x, beginning(p, d, shape), ids, d, rank, ids_rank);
    if (!sorted) {
        const char *const in[] = { y, eddy__part_one(p, 0), n, eddy__part_one(p, 0) };
        onnx_call c = eddy__call(p, "Slice", 4, in);
        y = eddy__call_end(&c);
    } else if (strstr(op, "Mean")) {
        y = eddy__part_formula(p, d, "Div(a, Max(b, 1))", y, counted(p, x, ids, d, shape));
    } else if (strstr(op, "Max") || strstr(op, "Min")) {
        y = eddy__part_formula(p, d, "Where(Equal(b, 0), 0, a)", y, counted(p, x, ids, d, shape));
    }
    return eddy__part_put(p, 0, y);
}

static const onnx_row rows[] = {
    { "Sum", reduce },
    { "Mean", reduce },
    { "Max", reduce },
    { "Min", reduce },
    { "Prod", reduce },
    { "All", all_or_any },
    { "Any", all_or_any },
    { "EuclideanNorm", euclidean_norm },
    { "L2Loss", .formula = "Mul(0.5, ReduceSum[keepdims=0](Mul(a, a)))" },
    { "ArgMax", arg_max },
    { "ArgMin", arg_max },
    { "Cumsum", cumsum },
    { "TopKV2", top_k },
    { "Sort", sort },
    { "SearchSorted", search_sorted },
    { "SegmentSum", segment },
    { "SegmentMean", segment },
    { "SegmentProd", segment },
    { "SegmentMax", segment },
    { "SegmentMin", segment },
    { "UnsortedSegmentMax", segment },
    { "UnsortedSegmentMin", segment },
    { "UnsortedSegmentSum", segment },
    { "UnsortedSegmentProd", segment },
};

const onnx_family eddy__write_reductions = FAMILY_OF(rows);
