/* indexing.c -- gathering and scattering by computed indices. Indices may be negative, then they
 * count from the end. */
#include "../build.h"
#include "../../../ops/short_names.h"

#include <string.h>

/* True if the indices are known not to be negative. */
static bool none_negative(onnx_build *b, int i)
{
    const eddy_array *a = eddy__onnx_array_of(b, eddy__onnx_value_in(b, i));
    for (int64_t k = 0; a && k < eddy_array_count(a); k++)
        if (eddy_array_get(a, k) < 0) return false;
    return a != NULL;
}

/* Input i as indices along an axis of x. */
static eddy_tensor indices_in(onnx_build *b, int i, eddy_tensor x, int axis)
{
    const eddy_tensor at = eddy__onnx_in(b, i);
    if (none_negative(b, i)) return at;
    return Where(Less(at, 0), Add(at, CastLike(eddy_size_along(x, axis), at)), at);
}

static bool gather(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const int axis = eddy__onnx_axis(b, eddy__onnx_int(b, "axis", 0), eddy__onnx_rank(b, 0));
    if (axis < 0) return false;
    return eddy__onnx_put(b, 0, eddy_gather(x, indices_in(b, 1, x, axis), .axis = axis));
}

static bool gather_elements(onnx_build *b)
{
    eddy_tensor x = eddy__onnx_in(b, 0);
    const int   axis = eddy__onnx_axis(b, eddy__onnx_int(b, "axis", 0), eddy__onnx_rank(b, 0));
    if (axis < 0) return false;
    const eddy_tensor at = indices_in(b, 1, x, axis);
    const eddy_shape  sx = eddy_shape_of(x), sa = eddy_shape_of(at);
    eddy_dims begin = { .count = sx.rank }, size = { .count = sx.rank };
    bool      smaller = false;
    for (int i = 0; i < sx.rank; i++) {         /* indices of fewer rows take the first ones */
        size.at[i] = i != axis && sa.rank == sx.rank && sa.dim[i] >= 0 ? sa.dim[i] : -1;
        smaller = smaller || (size.at[i] >= 0 && size.at[i] != sx.dim[i]);
    }
    if (smaller) x = eddy_slice(x, begin, size);
    return eddy__onnx_put(b, 0, eddy_take_along_axis(x, at, axis));
}

/* Tuples of indices into the dimensions of x from `from` on. */
static eddy_tensor tuples_in(onnx_build *b, int i, eddy_tensor x, int from)
{
    const eddy_tensor at = eddy__onnx_in(b, i);
    const eddy_shape  s = eddy_shape_of(at);
    if (none_negative(b, i) || s.rank < 1 || s.dim[s.rank - 1] < 0) return at;
    const eddy_tensor size =
        eddy_slice(eddy_shape_tensor(x, EDDY_INT64), EDDY_DIMS(from), EDDY_DIMS(s.dim[s.rank - 1]));
    return Where(Less(at, 0), Add(at, CastLike(size, at)), at);
}

static bool gather_nd(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const int64_t     batch = eddy__onnx_int(b, "batch_dims", 0);
    return eddy__onnx_put(b, 0, eddy_gather_nd(x, tuples_in(b, 1, x, (int)batch), batch));
}

/* ------------------------------------------------------------------ scatter -- */

/* x times the product of the updates for each of its elements; flat are their positions. */
static eddy_tensor times_updates(eddy_tensor x, eddy_tensor flat, eddy_tensor updates)
{
    const eddy_tensor factors = eddy_unsorted_segment_prod_to(eddy_ravel(updates), eddy_ravel(flat),
                                                              eddy_size(x, EDDY_INT64));
    return Mul(x, ReshapeLike(factors, x));
}

/* The position in row-major order for tuples that index all or the first dimensions; rows that they
 * do not index are laid out behind each. */
static eddy_tensor scattered_nd(onnx_build *b, eddy_tensor x, eddy_tensor at, eddy_tensor updates,
                                const char *how)
{
    if (strcmp(how, "none") == 0) return eddy_tensor_scatter_update(x, at, updates);
    if (strcmp(how, "add") == 0) return eddy_tensor_scatter_add(x, at, updates);
    if (strcmp(how, "min") == 0) return eddy_tensor_scatter_min(x, at, updates);
    if (strcmp(how, "max") == 0) return eddy_tensor_scatter_max(x, at, updates);
    if (strcmp(how, "mul") != 0)
        return eddy__onnx_missing(b, "the reduction '%s' is not known", how), x;
    const eddy_tensor number =
        Reshape(eddy_range(eddy_number(b->graph, EDDY_INT64, 0), eddy_size(x, EDDY_INT64),
                           eddy_number(b->graph, EDDY_INT64, 1)),
                EDDY_SHAPE(-1));
    return times_updates(x, eddy_gather_nd(ReshapeLike(number, x), at), updates);
}

static bool scatter_nd(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const char       *how = eddy__onnx_text(b, "reduction", "none");
    const eddy_tensor y = scattered_nd(b, x, tuples_in(b, 1, x, 0), eddy__onnx_in(b, 2), how);
    return eddy__onnx_put(b, 0, y);
}

/* As tuples: the index along the axis, and the position along all others. */
static eddy_tensor as_tuples(eddy_tensor at, int axis, int rank)
{
    eddy_tensor parts[EDDY_MAX_RANK];
    for (int i = 0; i < rank; i++)
        parts[i] = i == axis ? at : eddy_cumsum(OnesLike(at), i, .exclusive = true);
    return eddy_stack((eddy_list){ rank, parts }, -1);
}

static bool scatter_elements(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const int         rank = eddy__onnx_rank(b, 0),
              axis = eddy__onnx_axis(b, eddy__onnx_int(b, "axis", 0), rank);
    const char *how = eddy__onnx_text(b, "reduction", "none");
    if (axis < 0) return false;
    const eddy_tensor at = as_tuples(indices_in(b, 1, x, axis), axis, rank);
    const eddy_tensor y = scattered_nd(b, x, at, eddy__onnx_in(b, 2), how);
    return eddy__onnx_put(b, 0, y);
}

/* ------------------------------------------------------------------- others -- */

static bool computed_one_hot(onnx_build *b)
{
    eddy_tensor       at = Cast(eddy__onnx_in(b, 0), EDDY_INT64);
    const eddy_tensor depth = Reshape(Cast(eddy__onnx_in(b, 1), EDDY_INT64), EDDY_SCALAR);
    const eddy_tensor values = eddy__onnx_in(b, 2);
    if (eddy__onnx_rank(b, 0) < 0)
        return eddy__onnx_missing(b, "the rank of the input must be known");
    at = Where(Less(at, 0), Add(at, depth), at);
    const eddy_tensor off = eddy_gather(values, eddy_number(b->graph, EDDY_INT32, 0));
    const eddy_tensor on = eddy_gather(values, eddy_number(b->graph, EDDY_INT32, 1));
    return eddy__onnx_put_as(b, 0,
                             eddy_one_hot_to(at, depth, on, off, eddy__onnx_int(b, "axis", -1)),
                             eddy__onnx_type_in(b, 2));
}

static bool one_hot(onnx_build *b)
{
    int64_t depth[ONNX_MAX_LIST];
    if (eddy__onnx_is_computed(b, 1)) return computed_one_hot(b);
    const eddy_array *d = eddy__onnx_need(b, 1, "depth");
    if (!d) return false;
    if (eddy_array_count(d) != 1) return eddy__onnx_invalid(b, "depth is not a single number");
    depth[0] = eddy__element_integer(d, 0);
    eddy_tensor       at = Cast(eddy__onnx_in(b, 0), EDDY_INT64);
    const eddy_tensor values = eddy__onnx_in(b, 2);
    const int64_t     axis = eddy__onnx_int(b, "axis", -1);
    at = Where(Less(at, 0), Add(at, (double)depth[0]), at);
    const eddy_tensor hot = eddy_one_hot(at, depth[0], .axis = EDDY_AXES(axis), .dtype = EDDY_BOOL);
    const eddy_tensor off = eddy_gather(values, eddy_number(b->graph, EDDY_INT32, 0));
    const eddy_tensor on = eddy_gather(values, eddy_number(b->graph, EDDY_INT32, 1));
    return eddy__onnx_put_as(b, 0, Where(hot, on, off), eddy__onnx_type_in(b, 2));
}

static bool nonzero(onnx_build *b)
{
    return eddy__onnx_put_as(b, 0, Transpose(eddy_nonzero(eddy__onnx_in(b, 0))), ONNX_INT64);
}

/* A condition that is shorter than the axis takes nothing from the rest. */
static bool compress(onnx_build *b)
{
    eddy_tensor x = eddy__onnx_in(b, 0);
    const eddy_tensor mask = eddy__onnx_in(b, 1);
    if (!eddy__onnx_attr(b, "axis")) x = eddy_ravel(x);
    const int rank = eddy_shape_of(x).rank;
    const int axis = eddy__onnx_axis(b, eddy__onnx_int(b, "axis", 0), rank);
    if (axis < 0) return false;
    const eddy_tensor rows = Reshape(eddy_nonzero(mask), EDDY_SHAPE(-1));
    return eddy__onnx_put(b, 0, eddy_gather(x, rows, .axis = axis));
}

/* ------------------------------------------------------------------- unique -- */

/* The order of the rows of a matrix, by the first column, then the second ... */
static eddy_tensor order_of_rows(eddy_tensor rows, int64_t columns)
{
    eddy_tensor order = eddy_row_numbers(rows, EDDY_INT32);
    for (int64_t i = columns - 1; i >= 0; i--) {
        const eddy_tensor column =
            eddy_gather(rows, eddy_number(rows.graph, EDDY_INT32, (double)i), .axis = 1);
        order = eddy_gather(order, eddy_argsort(eddy_gather(column, order)));
    }
    return order;
}

/* Outputs of eddy_unique_along in the order of the values. */
static eddy_tensor unique_order(onnx_build *b, eddy_tensor y, int axis)
{
    const eddy_shape s = eddy_shape_of(y);
    if (s.rank == 1) return eddy_argsort(y);
    int64_t columns = 1;
    for (int i = 0; i < s.rank; i++)
        if (i != axis) columns = s.dim[i] < 0 || columns < 0 ? -1 : columns * s.dim[i];
    if (columns < 0 || columns > 1024) {
        eddy__onnx_missing(b, "the size of a slice must be known and at most 1024");
        return y;
    }
    return order_of_rows(Reshape(eddy_moveaxis(y, axis, 0), EDDY_SHAPE(-1, columns)), columns);
}

static bool unique(onnx_build *b)
{
    eddy_tensor x = eddy__onnx_in(b, 0);
    const bool  flat = !eddy__onnx_attr(b, "axis");
    if (flat) x = eddy_ravel(x);
    const int axis =
        eddy__onnx_axis(b, flat ? 0 : eddy__onnx_int(b, "axis", 0), eddy_shape_of(x).rank);
    if (axis < 0) return false;
    eddy_tensor y = flat ? eddy_unique(x, .out_idx = EDDY_INT64)
                         : eddy_unique_along(x, axis, .out_idx = EDDY_INT64);
    eddy_tensor inverse = eddy_output(y, 1), count = eddy_output(y, 2);
    eddy_tensor first = eddy_unique(eddy_first_equal(x, axis));
    if (eddy__onnx_int(b, "sorted", 1)) {
        const eddy_tensor order = unique_order(b, y, axis);
        if (b->reason) return false;
        y = eddy_gather(y, order, .axis = axis);
        first = eddy_gather(first, order);
        count = eddy_gather(count, order);
        inverse = eddy_gather(Cast(eddy_invert_permutation(order), EDDY_INT64), inverse);
    }
    eddy__onnx_put_as(b, 1, first, ONNX_INT64);
    eddy__onnx_put_as(b, 2, inverse, ONNX_INT64);
    eddy__onnx_put_as(b, 3, count, ONNX_INT64);
    return eddy__onnx_put(b, 0, y);
}

const onnx_operator eddy__onnx_indexing[] = {
    { "Gather", 1, gather },
    { "GatherElements", 11, gather_elements },
    { "GatherND", 11, gather_nd },
    { "Scatter", 9, scatter_elements },
    { "ScatterElements", 11, scatter_elements },
    { "ScatterND", 11, scatter_nd },
    { "OneHot", 9, one_hot },
    { "NonZero", 9, nonzero },
    { "Compress", 9, compress },
    { "Unique", 11, unique },
    { NULL },
};
