/* arrays.c -- helpers for the shape rules of array operations; see arrays.h. */
#include "ops/arrays/arrays.h"

bool eddy__infer_axis(eddy_infer *c, int64_t axis, int rank, int *out)
{
    if (axis < -rank || axis >= rank)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "axis %lld is not in [%d, %d)",
                               (long long)axis, -rank, rank);
    *out = eddy__axis_of(axis, rank);
    return true;
}

bool eddy__infer_yield(eddy_infer *c, int i, eddy_dtype d, eddy_shape s)
{
    c->out[i] = (eddy_type){ d, s };
    return true;
}

bool eddy__infer_dims(eddy_infer *c, const char *what, eddy_dims d, int *count)
{
    int rank = c->in[0].shape.rank;
    if (d.count < -1 || d.count > EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "the number of entries of %s is %d; "
                               "expected 0 to %d", what, d.count, EDDY_MAX_RANK);
    *count = d.count < 0 ? 0 : d.count > 0 ? d.count : rank;
    if (rank < 0 || *count == rank) return true;
    return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the number of entries of %s is %d; expected %d, one "
                           "per dimension", what, *count, rank);
}

bool eddy__infer_dims_pair(eddy_infer *c, const char *a, eddy_dims of_a, const char *b,
                           eddy_dims of_b, int *count)
{
    int other = 0;
    if (!eddy__infer_dims(c, a, of_a, count) || !eddy__infer_dims(c, b, of_b, &other)) return false;
    if (*count >= 0 && other >= 0 && *count != other)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "the number of entries of %s is %d; that of %s is "
                               "%d",
                               a, *count, b, other);
    if (*count < 0) *count = other;
    return true;
}

eddy_shape eddy__shape_open(int rank)
{
    eddy_shape s = { .rank = rank };
    for (int i = 0; i < rank; i++) s.dim[i] = EDDY_ANY;
    return rank < 0 ? EDDY_UNKNOWN_SHAPE : s;
}

eddy_shape eddy__shape_without(eddy_shape x, int axis)
{
    eddy_shape s = { .rank = x.rank - 1 };
    for (int i = 0; i < s.rank; i++) s.dim[i] = x.dim[i < axis ? i : i + 1];
    return s;
}

eddy_shape eddy__shape_with(eddy_shape x, int axis, int64_t dim)
{
    eddy_shape s = { .rank = x.rank + 1 };
    for (int i = 0; i < s.rank; i++) s.dim[i] = i == axis ? dim : x.dim[i < axis ? i : i - 1];
    return s;
}

int64_t eddy__shape_product(eddy_shape s, int first, int last)
{
    int64_t p = 1;
    for (int i = first; i < last; i++) p *= s.dim[i];
    return p;
}

int64_t eddy__array_integer(const eddy_array *a, int64_t i)
{
    const eddy_buffer b = { .data = eddy_array_data(a), .type = { .dtype = eddy_array_dtype(a) } };
    return eddy__index_at(&b, i);
}
