/* scatters.c -- adding, multiplying and assigning rows and elements at indices. */
#include "indexing.h"
#include "subgraphs.h"

#include <string.h>

/* ------------------------------------------------------------------ scatter -- */

/* How an operation changes the elements: it adds, multiplies, or assigns. */
static const char *reduction_of(const char *op)
{
    return strstr(op, "Add") || strstr(op, "Sub") || strstr(op, "Like") ? "add"
         : strstr(op, "Mul") || strstr(op, "Div") ? "mul" : "";
}

static bool is_extreme(const char *op) { return strstr(op, "Max") || strstr(op, "Min"); }

/* [a, b, ...] with the first n axes as one. */
static const char *flattened(onnx_part *p, const char *x, int n)
{
    onnx_call before = eddy__call(p, "Shape", 1, &x), after = eddy__call(p, "Shape", 1, &x);
    eddy__call_int(&before, "end", n);
    eddy__call_int(&after, "start", n);
    const char *sizes = eddy__call_end(&before);
    const char *const parts[] = { eddy__part_unary(p, "ReduceProd", sizes),
                                  eddy__call_end(&after) };
    return eddy__part_reshape(p, x, eddy__part_concat(p, 0, 2, parts));
}

static eddy_type of_rank(eddy_dtype d, int rank)
{
    eddy_type t = { d, { .rank = rank } };
    for (int i = 0; i < rank; i++) t.shape.dim[i] = EDDY_ANY;
    return t;
}

/* Operator set 17 has no scatters of extremes: a Scan takes in one row after the other. */
const char *eddy__scatter_extremes(onnx_part *p, const char *to, int rank, const char *at,
                                   int at_rank, const char *what, int what_rank, eddy_dtype d,
                                   bool largest)
{
    const eddy_dtype as = d == EDDY_UINT8 ? EDDY_INT32 : d;
    message          head = { 0 };
    to = eddy__part_cast(p, to, d, as);
    what = flattened(p, eddy__part_cast(p, what, d, as), at_rank - 1);
    at = flattened(p, at, at_rank - 1);
    const message kept = eddy__inner_graph_begin(p);
    const char *so_far = eddy__inner_graph_input(p, &head, "so_far", of_rank(as, rank));
    const char *place = eddy__inner_graph_input(p, &head, "place", of_rank(EDDY_INT64, 1));
    const char *row = eddy__inner_graph_input(p, &head, "row",
                                              of_rank(as, what_rank - at_rank + 1));
    row = eddy__part_binary(p, largest ? "Max" : "Min",
                            eddy__part_binary(p, "GatherND", so_far, place), row);
    eddy__inner_graph_output(p, &head, eddy__indices_scatter(p, so_far, place, row, ""),
                             of_rank(as, rank));
    message body = eddy__inner_graph_end(p, &head, kept);
    const char *const in[] = { to, at, what };
    onnx_call c = eddy__call(p, "Scan", 3, in);
    eddy__call_graph(&c, "body", &body);
    eddy__call_int(&c, "num_scan_inputs", 2);
    return eddy__part_cast(p, eddy__call_end(&c), as, d);
}

/* Of the inputs of an operation (tensor, indices, updates), where at are tuples of indices. */
static bool put_scattered(onnx_part *p, const char *at, int at_rank, const char *updates)
{
    const char *op = p->node->op->name, *to = eddy__part_in(p, 0);
    int         rank, what_rank;
    if (is_extreme(op) && eddy_shape_count(eddy__part_type(p, 2).shape) == 0)
        return eddy__part_put(p, 0, to);
    if (!is_extreme(op))
        return eddy__part_put(p, 0, eddy__indices_scatter(p, to, at, updates, reduction_of(op)));
    return eddy__part_known_rank(p, 0, &rank) && eddy__part_known_rank(p, 2, &what_rank) &&
           eddy__part_put(p, 0,
                          eddy__scatter_extremes(p, to, rank, at, at_rank, updates, what_rank,
                                                 eddy__part_dtype(p, 2),
                                                 strstr(op, "Max") != NULL));
}

static const char *changed(onnx_part *p, const char *updates, eddy_dtype d)
{
    const char *op = p->node->op->name;
    if (strstr(op, "Sub")) return eddy__part_unary(p, "Neg", updates);
    if (strstr(op, "Div")) return eddy__part_formula(p, d, "Div(1, a)", updates);
    return updates;
}

/* To rows of negative indices belongs one more, which is cut off. */
static bool scatter_some_rows(onnx_part *p, const char *indices, const char *updates, int rank)
{
    int64_t     pads[2 * EDDY_MAX_RANK] = { 0 };
    const char *to = eddy__part_in(p, 0), *zero = eddy__part_one(p, 0);
    const char *n = eddy__part_size(p, to, eddy__part_type(p, 0).shape, 0);
    pads[rank] = 1;
    const char *const in[] = { to, eddy__part_ints(p, 2 * rank, pads),
                               eddy__part_number(p, eddy__part_dtype(p, 0), 0) };
    onnx_call   c = eddy__call(p, "Pad", 3, in);
    const char *y = eddy__call_end(&c);
    indices = eddy__part_formula(p, EDDY_INT64, "Where(Less(a, 0), b, a)", indices, n);
    y = eddy__indices_scatter(p, y, eddy__indices_last(p, indices), updates, "");
    const char *const cut[] = { y, zero, n, zero };
    onnx_call   slice = eddy__call(p, "Slice", 4, cut);
    return eddy__part_put(p, 0, eddy__call_end(&slice));
}

/* Rows of a tensor: (var, indices, updates). */
static bool scatter_rows(onnx_part *p)
{
    const char      *op = p->node->op->name, *reduction = reduction_of(op);
    const eddy_dtype d = eddy__part_dtype(p, 2);
    int              rank, more, own_rank;
    if (!eddy__part_known_rank(p, 1, &more) || !eddy__part_known_rank(p, 2, &rank)) return false;
    if (strstr(op, "Div") && !eddy_dtype_is_floating(d))
        return eddy__part_missing(p, "integers are divided");
    const char *indices = eddy__indices_of(p, 1), *updates = changed(p, eddy__part_in(p, 2), d);
    if (eddy__part_bool(p, "skip_negative")) {
        if (!*reduction)
            return eddy__part_known_rank(p, 0, &own_rank) &&
                   scatter_some_rows(p, indices, updates, own_rank);
        updates = eddy__indices_masked(p, updates, d, rank, indices, more, 0, 0,
                                       strcmp(reduction, "mul") == 0);
        indices = eddy__indices_clamped(p, indices);
    }
    return put_scattered(p, eddy__indices_last(p, indices), more + 1, updates);
}

/* The indices, as tuples in the whole tensor. */
static const char *tuples(onnx_part *p, int *rank)
{
    const int batch = (int)eddy__part_int(p, "batch_dims");
    if (!eddy__part_known_rank(p, 1, rank)) return "";
    return eddy__indices_in_batch(p, eddy__indices_of(p, 1), *rank, batch);
}

/* Elements or slices of a tensor: (tensor, indices, updates). */
static bool scatter_nd(onnx_part *p)
{
    int         rank;
    const char *at = tuples(p, &rank);
    return !p->failed &&
           put_scattered(p, at, rank, changed(p, eddy__part_in(p, 2), eddy__part_dtype(p, 2)));
}

/* (updates, indices, ref) */
static bool scatter_nd_like(onnx_part *p)
{
    int         rank;
    const char *at = tuples(p, &rank);
    if (p->failed) return false;
    const char *zeros = eddy__part_filled(p, eddy__part_dtype(p, 0), 0, eddy__part_shape(p, 2));
    return eddy__part_put(p, 0,
                          eddy__indices_scatter(p, zeros, at, eddy__part_in(p, 0), "add"));
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
    const char *values = eddy__part_in(p, 0), *indices = eddy__indices_of(p, 1);
    if (eddy__part_bool(p, "skip_negative")) {
        values = eddy__indices_masked(p, values, d, rank, indices, more, 0, 0, 0);
        indices = eddy__indices_clamped(p, indices);
    }
    return eddy__part_put(p, 0,
                          eddy__indices_scatter(p, eddy__part_filled(p, d, 0, shape),
                                                eddy__indices_last(p, indices), values, "add"));
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
    return eddy__part_put(p, 0, first_positions_of(p, eddy__indices_of(p, 0)));
}

static bool sum_duplicates(onnx_part *p)
{
    const eddy_dtype d = eddy__part_dtype(p, 0), i = eddy__part_dtype(p, 1);
    const char *values = eddy__part_in(p, 0), *indices = eddy__indices_of(p, 1);
    const char *first = first_positions_of(p, indices);
    const char *zeros = eddy__part_filled(p, d, 0, eddy__part_unary(p, "Shape", values));
    eddy__part_put(p, 0,
                   eddy__indices_scatter(p, zeros, eddy__indices_last(p, first), values, "add"));
    const char *own = eddy__part_formula(p, EDDY_INT64, "Range(0, Squeeze(Shape(a), b), 1)",
                                         indices, eddy__part_one(p, 0));
    const char *unique =
        eddy__part_formula(p, EDDY_INT64, "Where(Equal(a, b), c, -1)", first, own, indices);
    return eddy__part_put(p, 1, eddy__part_cast(p, unique, EDDY_INT64, i));
}

static const onnx_row rows[] = {
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
};

const onnx_family eddy__write_scatters = FAMILY_OF(rows);
