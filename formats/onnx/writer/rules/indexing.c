/* indexing.c -- gathering rows and elements, and adding or assigning them. */
#include "../rules.h"

#include <string.h>

static const char *int64s(onnx_part *p, int i)
{
    return eddy__part_cast(p, eddy__part_in(p, i), eddy__part_dtype(p, i), EDDY_INT64);
}

static const char *last_axis(onnx_part *p, const char *x)
{
    return eddy__part_binary(p, "Unsqueeze", x, eddy__part_one(p, -1));
}

static const char *scatter(onnx_part *p, const char *to, const char *at, const char *what,
                           const char *reduction)
{
    const char *const in[] = { to, at, what };
    onnx_call c = eddy__call(p, "ScatterND", 3, in);
    if (*reduction) eddy__call_text(&c, "reduction", reduction);
    return eddy__call_end(&c);
}

/* x, where the index is negative `otherwise`. The indices have the first axes of x. */
static const char *masked(onnx_part *p, const char *x, eddy_dtype d, int rank, const char *indices,
                          int indices_rank, int first, double otherwise)
{
    int64_t     axes[EDDY_MAX_RANK];
    int         n = 0;
    for (int i = 0; i < rank; i++)
        if (i < first || i >= first + indices_rank) axes[n++] = i;
    const char *negative = eddy__part_formula(p, EDDY_INT64, "Less(a, 0)", indices);
    return eddy__part_formula(p, d, "Where(a, b, c)", eddy__part_unsqueeze(p, negative, n, axes),
                              eddy__part_number(p, d, otherwise), x);
}

static const char *clamped(onnx_part *p, const char *indices)
{
    return eddy__part_formula(p, EDDY_INT64, "Max(a, 0)", indices);
}

/* ------------------------------------------------------------------- gather -- */

/* Each element of a batch has its own indices: the axes of the batch lead, and the axis of the rows
 * follows them. */
static const char *gather_batch(onnx_part *p, const char *x, const char *indices, int rank,
                                int axis, int batch)
{
    int64_t order[EDDY_MAX_RANK], back[EDDY_MAX_RANK];
    const int more = eddy__part_type(p, 1).shape.rank - batch;
    for (int i = 0; i < rank; i++)
        order[i] = i < batch ? i : i == batch ? axis : i <= axis ? i - 1 : i;
    const char *const in[] = { eddy__part_transpose(p, x, rank, order), last_axis(p, indices) };
    onnx_call c = eddy__call(p, "GatherND", 2, in);
    eddy__call_int(&c, "batch_dims", batch);
    const char *y = eddy__call_end(&c);
    /* the batch, then the indices, then the others: to the batch, the others up to the axis, ... */
    for (int i = 0; i < rank - 1 + more; i++)
        back[i] = i < batch ? i : i < axis ? i + more : i < axis + more ? i - axis + batch : i;
    return eddy__part_transpose(p, y, rank - 1 + more, back);
}

static bool gather(onnx_part *p)
{
    const bool skip = eddy__part_bool(p, "skip_negative");
    const int  batch = (int)eddy__part_int(p, "batch_dims");
    int        rank, more;
    if (!eddy__part_known_rank(p, 0, &rank) || !eddy__part_known_rank(p, 1, &more)) return false;
    const int   axis = (int)eddy__part_axis(p, rank);
    const char *indices = int64s(p, 1), *x = eddy__part_in(p, 0), *y;
    const char *at = skip ? clamped(p, indices) : indices;
    if (batch > 0) {
        y = gather_batch(p, x, at, rank, axis, batch);
        if (skip && axis > batch)
            return eddy__part_missing(p, "negative indices are skipped behind other axes");
    } else {
        const char *const in[] = { x, at };
        onnx_call c = eddy__call(p, "Gather", 2, in);
        eddy__call_int(&c, "axis", axis);
        y = eddy__call_end(&c);
    }
    if (skip)
        y = masked(p, y, eddy__part_dtype(p, 0), rank - 1 + more - batch, indices, more,
                   batch > 0 ? 0 : axis, 0);
    return eddy__part_put(p, 0, y);
}

/* dy is added to rows of zeros with the axis in front. */
static bool gather_grad(onnx_part *p)
{
    const bool       skip = eddy__part_bool(p, "skip_negative");
    const eddy_dtype d = eddy__part_dtype(p, 0);
    int              rank, more, dy_rank;
    if (!eddy__part_known_rank(p, 0, &dy_rank) || !eddy__part_known_rank(p, 1, &more) ||
        !eddy__part_known_rank(p, 2, &rank))
        return false;
    if (eddy__part_int(p, "batch_dims") > 0) return eddy__part_missing(p, "batch_dims is not 0");
    const int   axis = (int)eddy__part_axis(p, rank);
    const char *dy = eddy__part_in(p, 0), *indices = int64s(p, 1), *shape = eddy__part_shape(p, 2);
    if (skip) dy = masked(p, dy, d, dy_rank, indices, more, axis, 0);
    int64_t order[EDDY_MAX_RANK], front[EDDY_MAX_RANK], back[EDDY_MAX_RANK];
    for (int i = 0; i < dy_rank; i++)
        order[i] = i < more ? axis + i : i < more + axis ? i - more : i;
    for (int i = 0; i < rank; i++) {
        front[i] = i == 0 ? axis : i <= axis ? i - 1 : i;
        back[i] = i < axis ? i + 1 : i == axis ? 0 : i;
    }
    if (axis > 0)
        shape = eddy__part_binary(p, "Gather", shape, eddy__part_ints(p, rank, front));
    const char *zeros = eddy__part_filled(p, d, 0, shape);
    const char *y = scatter(p, zeros, last_axis(p, skip ? clamped(p, indices) : indices),
                            eddy__part_transpose(p, dy, dy_rank, order), "add");
    return eddy__part_put(p, 0, eddy__part_transpose(p, y, rank, back));
}

static bool gather_nd(onnx_part *p)
{
    const char *const in[] = { eddy__part_in(p, 0), int64s(p, 1) };
    onnx_call c = eddy__call(p, "GatherND", 2, in);
    eddy__call_int(&c, "batch_dims", eddy__part_int(p, "batch_dims"));
    return eddy__part_put(p, 0, eddy__call_end(&c));
}

/* Out of range: 0. */
static bool take_along(onnx_part *p)
{
    int rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    const int   axis = (int)eddy__part_axis(p, rank);
    const char *x = eddy__part_in(p, 0), *indices = int64s(p, 1);
    const char *n = eddy__part_size(p, x, eddy__part_type(p, 0).shape, axis);
    const char *valid = eddy__part_formula(p, EDDY_INT64, "And(Less(a, b), GreaterOrEqual(a, 0))",
                                           indices, n);
    const char *const in[] = { x, eddy__part_formula(p, EDDY_INT64, "Where(a, b, 0)", valid,
                                                     indices) };
    onnx_call c = eddy__call(p, "GatherElements", 2, in);
    eddy__call_int(&c, "axis", axis);
    return eddy__part_put(
        p, 0,
        eddy__part_formula(p, eddy__part_dtype(p, 0), "Where(a, b, 0)", valid, eddy__call_end(&c)));
}

static bool put_along(onnx_part *p)
{
    const eddy_dtype d = eddy__part_dtype(p, 0);
    int              rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    const int        axis = (int)eddy__part_axis(p, rank);
    const eddy_shape ref = eddy__part_type(p, 2).shape;
    const bool       known = ref.rank > axis && ref.dim[axis] != EDDY_ANY;
    const char      *indices = int64s(p, 1),
               *n = eddy__part_size(p, known ? "" : eddy__part_in(p, 2), ref, axis);
    const char *valid = eddy__part_formula(p, EDDY_INT64, "And(Less(a, b), GreaterOrEqual(a, 0))",
                                           indices, n);
    const char *const in[] = {
        eddy__part_filled(p, d, 0, eddy__part_shape(p, 2)),
        eddy__part_formula(p, EDDY_INT64, "Where(a, b, 0)", valid, indices),
        eddy__part_formula(p, d, "Where(a, b, 0)", valid, eddy__part_in(p, 0))
    };
    onnx_call c = eddy__call(p, "ScatterElements", 3, in);
    eddy__call_int(&c, "axis", axis);
    eddy__call_text(&c, "reduction", "add");
    return eddy__part_put(p, 0, eddy__call_end(&c));
}

/* ------------------------------------------------------------------ scatter -- */

/* What an operation does to the elements: it adds, multiplies, or assigns. */
static const char *reduction_of(const char *op)
{
    return strstr(op, "Add") || strstr(op, "Sub") || strstr(op, "Like") ? "add"
         : strstr(op, "Mul") || strstr(op, "Div") ? "mul" : "";
}

static bool has_extremes(onnx_part *p)
{
    const char *op = p->node->op->name;
    if (!strstr(op, "Max") && !strstr(op, "Min")) return false;
    eddy__part_missing(p, "scatters that take a maximum or a minimum are of operator set 18");
    return true;
}

static const char *changed(onnx_part *p, const char *updates, eddy_dtype d)
{
    const char *op = p->node->op->name;
    if (strstr(op, "Sub")) return eddy__part_unary(p, "Neg", updates);
    if (strstr(op, "Div")) return eddy__part_formula(p, d, "Div(1, a)", updates);
    return updates;
}

/* Rows of a tensor: (var, indices, updates). */
static bool scatter_rows(onnx_part *p)
{
    const char      *op = p->node->op->name, *reduction = reduction_of(op);
    const eddy_dtype d = eddy__part_dtype(p, 2);
    const bool       skip = eddy__part_bool(p, "skip_negative");
    int              rank, more;
    if (has_extremes(p) || !eddy__part_known_rank(p, 1, &more) ||
        !eddy__part_known_rank(p, 2, &rank))
        return false;
    if (strstr(op, "Div") && !eddy_dtype_is_floating(d))
        return eddy__part_missing(p, "integers are divided");
    const char *indices = int64s(p, 1), *updates = changed(p, eddy__part_in(p, 2), d);
    if (skip) {
        if (!*reduction) return eddy__part_missing(p, "negative indices are skipped");
        updates = masked(p, updates, d, rank, indices, more, 0, strcmp(reduction, "mul") == 0);
        indices = clamped(p, indices);
    }
    return eddy__part_put(p, 0, scatter(p, eddy__part_in(p, 0), last_axis(p, indices), updates,
                                        reduction));
}

/* Elements or slices of a tensor: (tensor, indices, updates). */
static bool scatter_nd(onnx_part *p)
{
    if (has_extremes(p)) return false;
    if (eddy__part_int(p, "batch_dims") > 0) return eddy__part_missing(p, "batch_dims is not 0");
    return eddy__part_put(p, 0, scatter(p, eddy__part_in(p, 0), int64s(p, 1),
                                        changed(p, eddy__part_in(p, 2), eddy__part_dtype(p, 2)),
                                        reduction_of(p->node->op->name)));
}

/* (updates, indices, ref) */
static bool scatter_nd_like(onnx_part *p)
{
    if (eddy__part_int(p, "batch_dims") > 0) return eddy__part_missing(p, "batch_dims is not 0");
    const char *zeros = eddy__part_filled(p, eddy__part_dtype(p, 0), 0, eddy__part_shape(p, 2));
    return eddy__part_put(p, 0, scatter(p, zeros, int64s(p, 1), eddy__part_in(p, 0), "add"));
}

/* Slices as a dense tensor: (values, indices), and perhaps a tensor of the shape. */
static bool indexed_slices(onnx_part *p)
{
    const eddy_dtype d = eddy__part_dtype(p, 0);
    const eddy_shape y = p->node->outputs[0].shape;
    int              rank, more;
    if (!eddy__part_known_rank(p, 0, &rank) || !eddy__part_known_rank(p, 1, &more)) return false;
    if (!eddy_shape_is_known(y) && p->node->n_inputs < 3)
        return eddy__part_missing(p, "the shape of the result must be known");
    const char *shape = eddy_shape_is_known(y) ? eddy__part_ints(p, y.rank, y.dim)
                                               : eddy__part_shape(p, 2);
    const char *values = eddy__part_in(p, 0), *indices = int64s(p, 1);
    if (eddy__part_bool(p, "skip_negative")) {
        values = masked(p, values, d, rank, indices, more, 0, 0);
        indices = clamped(p, indices);
    }
    return eddy__part_put(p, 0, scatter(p, eddy__part_filled(p, d, 0, shape), last_axis(p, indices),
                                        values, "add"));
}

/* The first position of each index: that of the first 1 in its row of a table of equal pairs. */
static const char *first_positions_of(onnx_part *p, const char *indices)
{
    const char *equal = eddy__part_formula(
        p, EDDY_INT64, "int32(Equal(Unsqueeze(a, b), Unsqueeze(a, c)))", indices,
        eddy__part_one(p, -1), eddy__part_one(p, -2));
    return eddy__part_formula(p, EDDY_INT64, "ArgMax[axis=-1,keepdims=0](a)", equal);
}

static bool first_positions(onnx_part *p)
{
    return eddy__part_put(p, 0, first_positions_of(p, int64s(p, 0)));
}

static bool sum_duplicates(onnx_part *p)
{
    const eddy_dtype d = eddy__part_dtype(p, 0), i = eddy__part_dtype(p, 1);
    const char *values = eddy__part_in(p, 0), *indices = int64s(p, 1);
    const char *first = first_positions_of(p, indices);
    const char *zeros = eddy__part_filled(p, d, 0, eddy__part_unary(p, "Shape", values));
    eddy__part_put(p, 0, scatter(p, zeros, last_axis(p, first), values, "add"));
    const char *own = eddy__part_formula(p, EDDY_INT64, "Range(0, Squeeze(Shape(a), b), 1)",
                                         indices, eddy__part_one(p, 0));
    const char *unique =
        eddy__part_formula(p, EDDY_INT64, "Where(Equal(a, b), c, -1)", first, own, indices);
    return eddy__part_put(p, 1, eddy__part_cast(p, unique, EDDY_INT64, i));
}

/* --------------------------------------------------------------- positions -- */

/* Equal to the numbers of the classes along a new axis. */
static bool one_hot(onnx_part *p)
{
    const eddy_dtype d = p->node->outputs[0].dtype;
    const int64_t    depth = eddy__part_int(p, "depth");
    int              rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    const int64_t axis = eddy__part_axis(p, rank + 1);
    int64_t       shape[EDDY_MAX_RANK + 1];
    for (int i = 0; i <= rank; i++) shape[i] = i == axis ? depth : 1;
    const char *classes = eddy__part_reshape(
        p, eddy__part_formula(p, EDDY_INT64, "Range(0, a, 1)",
                              eddy__part_number(p, EDDY_INT64, (double)depth)),
        eddy__part_ints(p, rank + 1, shape));
    const char *equal =
        eddy__part_binary(p, "Equal", eddy__part_unsqueeze(p, int64s(p, 0), 1, &axis), classes);
    return eddy__part_put(
        p, 0,
        eddy__part_formula(p, d, "Where(a, b, c)", equal,
                           eddy__part_number(p, d, eddy__part_float(p, "on_value")),
                           eddy__part_number(p, d, eddy__part_float(p, "off_value"))));
}

static bool invert_permutation(onnx_part *p)
{
    const char *x = int64s(p, 0);
    const char *rows = eddy__part_formula(p, EDDY_INT64, "Range(0, Squeeze(Shape(a), b), 1)", x,
                                          eddy__part_one(p, 0));
    const char *y = eddy__part_formula(p, EDDY_INT64, "ScatterElements(a, a, b)", x, rows);
    return eddy__part_put(p, 0, eddy__part_cast(p, y, EDDY_INT64, p->node->outputs[0].dtype));
}

static const onnx_row rows[] = {
    { "GatherV2", gather },
    { "GatherGrad", gather_grad },
    { "GatherNd", gather_nd },
    { "TakeAlong", take_along },
    { "PutAlong", put_along },
    { "InplaceAdd", scatter_rows },
    { "ScatterAdd", scatter_rows },
    { "ScatterSub", scatter_rows },
    { "ScatterMul", scatter_rows },
    { "ScatterDiv", scatter_rows },
    { "ScatterUpdate", scatter_rows },
    { "ScatterMax", scatter_rows },
    { "ScatterMin", scatter_rows },
    { "ScatterNdAdd", scatter_nd },
    { "ScatterNdSub", scatter_nd },
    { "ScatterNdUpdate", scatter_nd },
    { "ScatterNdMax", scatter_nd },
    { "ScatterNdMin", scatter_nd },
    { "TensorScatterAdd", scatter_nd },
    { "TensorScatterSub", scatter_nd },
    { "TensorScatterUpdate", scatter_nd },
    { "TensorScatterMax", scatter_nd },
    { "TensorScatterMin", scatter_nd },
    { "ScatterNdLike", scatter_nd_like },
    { "IndexedSlices", indexed_slices },
    { "FirstPositions", first_positions },
    { "SumDuplicates", sum_duplicates },
    { "OneHot", one_hot },
    { "InvertPermutation", invert_permutation },
};

const onnx_family eddy__write_indexing = FAMILY_OF(rows);
