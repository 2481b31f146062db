/* indexing.c -- gathering rows and elements, and the adjoints. */
#include "indexing.h"

const char *eddy__indices_of(onnx_part *p, int i)
{
    return eddy__part_cast(p, eddy__part_in(p, i), eddy__part_dtype(p, i), EDDY_INT64);
}

const char *eddy__indices_last(onnx_part *p, const char *x)
{
    return eddy__part_binary(p, "Unsqueeze", x, eddy__part_one(p, -1));
}

const char *eddy__indices_scatter(onnx_part *p, const char *to, const char *at, const char *what,
                                  const char *reduction)
{
    const char *const in[] = { to, at, what };
    onnx_call c = eddy__call(p, "ScatterND", 3, in);
    if (*reduction) eddy__call_text(&c, "reduction", reduction);
    return eddy__call_end(&c);
}

const char *eddy__indices_masked(onnx_part *p, const char *x, eddy_dtype d, int rank,
                                 const char *indices, int indices_rank, int batch, int first,
                                 double otherwise)
{
    int64_t   axes[EDDY_MAX_RANK];
    const int end = first + indices_rank - batch;
    int       n = 0;
    for (int i = 0; i < rank; i++)
        if (i >= batch && (i < first || i >= end)) axes[n++] = i;
    const char *negative = eddy__part_formula(p, EDDY_INT64, "Less(a, 0)", indices);
    return eddy__part_formula(p, d, "Where(a, b, c)", eddy__part_unsqueeze(p, negative, n, axes),
                              eddy__part_number(p, d, otherwise), x);
}

static const char *sizes(onnx_part *p, const char *x, int from, int to)
{
    onnx_call c = eddy__call(p, "Shape", 1, &x);
    eddy__call_int(&c, "start", from);
    eddy__call_int(&c, "end", to);
    return eddy__call_end(&c);
}

const char *eddy__indices_in_batch(onnx_part *p, const char *indices, int rank, int batch)
{
    const char *parts[EDDY_MAX_RANK + 1], *zero = eddy__part_one(p, 0);
    const char *one = eddy__part_one(p, 1);
    if (batch == 0) return indices;
    const char *const whole[] = { sizes(p, indices, 0, rank - 1), one };
    const char       *shape = eddy__part_concat(p, 0, 2, whole);
    for (int i = 0; i < batch; i++) {
        int64_t others[EDDY_MAX_RANK];
        int     n = 0;
        for (int k = 0; k < rank; k++)
            if (k != i) others[n++] = k;
        const char *own = eddy__part_formula(p, EDDY_INT64, "Range(0, Squeeze(a, b), 1)",
                                             sizes(p, indices, i, i + 1), zero);
        parts[i] = eddy__part_binary(p, "Expand", eddy__part_unsqueeze(p, own, n, others), shape);
    }
    parts[batch] = indices;
    return eddy__part_concat(p, -1, batch + 1, parts);
}

const char *eddy__indices_clamped(onnx_part *p, const char *indices)
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
    const char *const in[] = { eddy__part_transpose(p, x, rank, order),
                               eddy__indices_last(p, indices) };
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
    const char *indices = eddy__indices_of(p, 1), *x = eddy__part_in(p, 0), *y;
    const char *at = skip ? eddy__indices_clamped(p, indices) : indices;
    if (batch > 0) {
        y = gather_batch(p, x, at, rank, axis, batch);
    } else {
        const char *const in[] = { x, at };
        onnx_call c = eddy__call(p, "Gather", 2, in);
        eddy__call_int(&c, "axis", axis);
        y = eddy__call_end(&c);
    }
    if (skip)
        y = eddy__indices_masked(p, y, eddy__part_dtype(p, 0), rank - 1 + more - batch,
                                 indices, more, batch, axis, 0);
    return eddy__part_put(p, 0, y);
}

/* dy is added to rows of zeros in which the axis follows the batch. */
static bool gather_grad(onnx_part *p)
{
    const bool       skip = eddy__part_bool(p, "skip_negative");
    const int        batch = (int)eddy__part_int(p, "batch_dims");
    const eddy_dtype d = eddy__part_dtype(p, 0);
    int              rank, more, dy_rank;
    if (!eddy__part_known_rank(p, 0, &dy_rank) || !eddy__part_known_rank(p, 1, &more) ||
        !eddy__part_known_rank(p, 2, &rank))
        return false;
    const int   axis = (int)eddy__part_axis(p, rank), own = more - batch;
    const char *dy = eddy__part_in(p, 0), *indices = eddy__indices_of(p, 1);
    const char *shape = eddy__part_shape(p, 2);
    if (skip) dy = eddy__indices_masked(p, dy, d, dy_rank, indices, more, batch, axis, 0);
    int64_t order[EDDY_MAX_RANK], front[EDDY_MAX_RANK], back[EDDY_MAX_RANK];
    for (int i = 0; i < dy_rank; i++)
        order[i] = i < batch ? i : i < more ? axis + i - batch : i < own + axis ? i - own : i;
    for (int i = 0; i < rank; i++) {
        front[i] = i < batch ? i : i == batch ? axis : i <= axis ? i - 1 : i;
        back[i] = i < batch ? i : i < axis ? i + 1 : i == axis ? batch : i;
    }
    if (axis > batch)
        shape = eddy__part_binary(p, "Gather", shape, eddy__part_ints(p, rank, front));
    const char *at = eddy__indices_last(p, skip ? eddy__indices_clamped(p, indices) : indices);
    const char *y = eddy__indices_scatter(p, eddy__part_filled(p, d, 0, shape),
                                          eddy__indices_in_batch(p, at, more + 1, batch),
                                          eddy__part_transpose(p, dy, dy_rank, order), "add");
    return eddy__part_put(p, 0, eddy__part_transpose(p, y, rank, back));
}

static bool gather_nd(onnx_part *p)
{
    const char *const in[] = { eddy__part_in(p, 0), eddy__indices_of(p, 1) };
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
    const char *x = eddy__part_in(p, 0), *indices = eddy__indices_of(p, 1);
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
    const char      *indices = eddy__indices_of(p, 1),
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
    const char *equal = eddy__part_binary(
        p, "Equal", eddy__part_unsqueeze(p, eddy__indices_of(p, 0), 1, &axis), classes);
    return eddy__part_put(
        p, 0,
        eddy__part_formula(p, d, "Where(a, b, c)", equal,
                           eddy__part_number(p, d, eddy__part_float(p, "on_value")),
                           eddy__part_number(p, d, eddy__part_float(p, "off_value"))));
}

static bool invert_permutation(onnx_part *p)
{
    const char *x = eddy__indices_of(p, 0);
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
    { "OneHot", one_hot },
    { "InvertPermutation", invert_permutation },
};

const onnx_family eddy__write_indexing = FAMILY_OF(rows);
