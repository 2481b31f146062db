/* tensor_array_rows.c -- arrays of tensors: many elements at once. */
#include "control/tensor_array_internal.h"
#include "ops/ops.h"
#include "ops/short_names.h"

#include <stdio.h>

/* The shape of a row of value, for which an error is recorded if it has none. */
static bool row_shape(eddy_tensor_array *a, eddy_tensor value, eddy_shape *row)
{
    *row = EDDY_UNKNOWN_SHAPE;
    if (!eddy_is_valid(value)) return true;             /* eddy__array_takes refuses it */
    const eddy_shape s = eddy_shape_of(value);
    if (s.rank == 0)
        eddy__array_fail(a, EDDY_BAD_SHAPE, "Expected value to be at least a vector, but received "
                         "a scalar, '%.200s'", eddy_name_of(value));
    if (s.rank <= 0) return s.rank < 0;
    row->rank = s.rank - 1;
    for (int d = 1; d < s.rank; d++) row->dim[d - 1] = s.dim[d];
    return true;
}

static int64_t rows_of(eddy_tensor value)
{
    const eddy_shape s = eddy_shape_of(value);
    return s.rank > 0 ? s.dim[0] : EDDY_ANY;
}

/* ---------------------------------------------------------------- writing -- */

eddy_tensor_array eddy_tensor_array_scatter(eddy_tensor_array a, eddy_tensor indices,
                                            eddy_tensor value)
{
    eddy_tensor_array b = a;
    eddy_shape        row;
    if (!eddy__array_is_ready(&b) || !eddy__array_is_index(&b, indices, 1) ||
        !row_shape(&b, value, &row) || !eddy__array_takes(&b, value, row))
        return a;
    const int64_t n = rows_of(indices), m = rows_of(value), most = eddy__array_largest(indices);
    if (n >= 0 && m >= 0 && n != m) {
        eddy__array_fail(&b, EDDY_BAD_SHAPE, "Expected len(indices) == values.shape[0], but saw: "
                         "%lld vs. %lld", (long long)n, (long long)m);
        return a;
    }
    if (most >= 0 || n == 0) eddy__array_grow(&b, most + 1);
    else b.used = EDDY_ANY;
    eddy__array_put(&b, indices, value);
    return eddy__graph_ready(a.graph) ? b : a;
}

/* A new array takes all rows as they are. */
static void take_rows(eddy_tensor_array *a, eddy_tensor value, int64_t n)
{
    a->values = value;
    a->written = eddy_ones(a->graph, EDDY_BOOL, EDDY_SHAPE(n));
    a->used = n;
    a->fresh = false;
}

eddy_tensor_array eddy_tensor_array_unstack(eddy_tensor_array a, eddy_tensor value)
{
    eddy_tensor_array b = a;
    eddy_shape        row;
    if (!eddy__array_is_ready(&b) || !row_shape(&b, value, &row) ||
        !eddy__array_takes(&b, value, row))
        return a;
    const int64_t n = rows_of(value), size = eddy__array_rows(&b);
    if (n > size && size >= 0 && !b.dynamic_size) {
        eddy__array_fail(&b, EDDY_OUT_OF_RANGE, "Tried to write to index %lld but array is not "
                         "resizeable and size is: %lld", (long long)n - 1, (long long)size);
        return a;
    }
    if (b.fresh && n >= 0 && (n == size || (b.dynamic_size && n > size)))
        take_rows(&b, value, n);
    else {
        if (n >= 0) eddy__array_grow(&b, n);
        else b.used = EDDY_ANY;
        eddy__array_put(&b, eddy_row_numbers(value, EDDY_INT32), value);
    }
    return eddy__graph_ready(a.graph) ? b : a;
}

/* The length that constant lengths have in common; -1 with an error. */
static int64_t common_length(eddy_tensor_array *a, eddy_tensor lengths)
{
    const eddy_array *v = eddy_constant_value(lengths);
    const int64_t     n = v ? eddy_array_count(v) : 0;
    if (!v) {
        eddy__array_fail(a, EDDY_UNIMPLEMENTED, "the lengths of a split must be constant");
        return -1;
    }
    const int64_t first = n > 0 ? (int64_t)eddy_array_get(v, 0) : 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t next = (int64_t)eddy_array_get(v, i);
        if (next == first && next >= 0) continue;
        eddy__array_fail(a, next < 0 ? EDDY_INVALID_ARGUMENT : EDDY_UNIMPLEMENTED,
                         "length %lld of a split is %lld and the first is %lld; all elements have "
                         "one shape", (long long)i, (long long)next, (long long)first);
        return -1;
    }
    return first;
}

/* [rows, tail...] as [n, length, tail...]. */
static eddy_tensor in_pieces(eddy_tensor value, int64_t n, int64_t length)
{
    const eddy_shape s = eddy_shape_of(value);
    const eddy_tensor head = eddy_const(value.graph, EDDY_INT64, EDDY_SHAPE(2),
                                        (const int64_t[]){ n, length });
    eddy_shape pieces = { .rank = s.rank + 1, .dim = { n, length } };
    for (int d = 1; d < s.rank; d++) pieces.dim[d + 1] = s.dim[d];
    if (eddy_shape_is_known(pieces)) return eddy_reshape(value, pieces);
    const eddy_tensor tail = eddy_index(eddy_shape_tensor(value, EDDY_INT64), "1:");
    return eddy_reshape_to(value, eddy_concat(EDDY_LIST(head, tail), 0));
}

eddy_tensor_array eddy_tensor_array_split(eddy_tensor_array a, eddy_tensor value,
                                          eddy_tensor lengths)
{
    eddy_tensor_array b = a;
    eddy_shape        row;
    char              shape[128];
    if (!eddy__array_is_ready(&b) || !eddy__array_is_index(&b, lengths, 1) ||
        !row_shape(&b, value, &row))
        return a;
    const int64_t each = common_length(&b, lengths);
    if (each < 0 || !eddy__array_is_value(&b, value)) return a;
    const int64_t n = rows_of(lengths), rows = rows_of(value), size = eddy__array_rows(&b);
    const int64_t sum = each > 0 && n > INT64_MAX / each ? INT64_MAX : n * each;
    const int     rank = eddy_shape_of(value).rank;
    if (rank == EDDY_MAX_RANK)
        eddy__array_fail(&b, EDDY_LIMIT, "a split of a value of rank %d would have rank %d; the "
                         "limit is %d", rank, rank + 1, EDDY_MAX_RANK);
    else if (rows < 0)
        eddy__array_fail(&b, EDDY_BAD_SHAPE, "a split needs a value with a known number of rows");
    else if (rows != sum)
        eddy__array_fail(&b, EDDY_BAD_SHAPE, "Expected sum of lengths to be equal to "
                         "values.shape[0], but sum of lengths is %lld and value's shape is: %s",
                         (long long)sum,
                         eddy_shape_print(eddy_shape_of(value), shape, sizeof shape));
    else if (!b.dynamic_size && size >= 0 && size != n)
        eddy__array_fail(&b, EDDY_BAD_SHAPE, "TensorArray's size is not equal to the size of "
                         "lengths (%lld vs. %lld), and the TensorArray is not marked as "
                         "dynamically resizeable", (long long)size, (long long)n);
    if (!eddy__graph_ready(a.graph)) return a;
    return eddy_tensor_array_unstack(b, in_pieces(value, n, each));
}

/* ---------------------------------------------------------------- reading -- */

eddy_tensor eddy_tensor_array_size(eddy_tensor_array a)
{
    if (!eddy__array_is_ready(&a)) return eddy_none(a.graph);
    const int64_t rows = eddy__array_rows(&a);
    if (!a.dynamic_size)
        return rows >= 0 ? eddy_number(a.graph, EDDY_INT32, (double)rows)
                         : eddy_size(a.written, EDDY_INT32);
    if (a.used >= 0) return eddy_number(a.graph, EDDY_INT32, (double)a.used);
    const eddy_tensor number = eddy_row_numbers(a.written, EDDY_INT32);
    const eddy_tensor ends = Mul(Add(number, 1), Cast(a.written, EDDY_INT32));
    return Maximum(Max(ends), (double)a.least);
}

eddy_tensor eddy_tensor_array_stack(eddy_tensor_array a)
{
    char part[32];
    if (!eddy__array_has_values(&a)) return eddy_none(a.graph);
    if (!a.dynamic_size || a.used == eddy__array_rows(&a)) return a.values;
    snprintf(part, sizeof part, ":%lld", (long long)a.used);
    if (a.used >= 0) return eddy_index(a.values, part);
    const eddy_tensor number = eddy_row_numbers(a.written, EDDY_INT32);
    return eddy_boolean_mask(a.values, Less(number, eddy_tensor_array_size(a)));
}

eddy_tensor eddy_tensor_array_gather(eddy_tensor_array a, eddy_tensor indices)
{
    if (!eddy__array_has_values(&a) || !eddy__array_is_index(&a, indices, 1))
        return eddy_none(a.graph);
    return eddy__array_get(&a, indices);
}

eddy_tensor eddy_tensor_array_concat(eddy_tensor_array a)
{
    const eddy_tensor all = eddy_tensor_array_stack(a);
    const eddy_shape  s = eddy_shape_of(all);
    if (!eddy__graph_ready(a.graph)) return eddy_none(a.graph);
    if (s.rank >= 0 && s.rank < 2) {
        eddy__array_fail(&a, EDDY_BAD_SHAPE, "Concat requires elements to be at least vectors, "
                         "found scalars instead");
        return eddy_none(a.graph);
    }
    eddy_shape joined = { .rank = s.rank - 1, .dim = { -1 } };
    for (int d = 2; d < s.rank; d++) joined.dim[d - 1] = s.dim[d];
    bool known = s.rank > 0;
    for (int d = 2; d < s.rank; d++) known = known && s.dim[d] > 0;
    if (known) return eddy_reshape(all, joined);
    const eddy_tensor dims = eddy_shape_tensor(all, EDDY_INT64);
    const eddy_tensor rows = Mul(eddy_index(dims, "0:1"), eddy_index(dims, "1:2"));
    return eddy_reshape_to(all, eddy_concat(EDDY_LIST(rows, eddy_index(dims, "2:")), 0));
}
