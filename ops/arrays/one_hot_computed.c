/* one_hot_computed.c -- one-hot encoding with a depth and values that are tensors. */
#include "ops/arrays/computed_sizes.h"
#include "ops/short_names.h"

/** y[..., k] = on where k = indices[...], else off, for k in [0, depth); depth is a tensor.
 *
 *  indices  int32, int64 or uint8, known rank below 8; an index outside [0, depth) gives `off`
 *           everywhere
 *  depth    int32 or int64, one number >= 0, the size of the new dimension; a run computes it first
 *           if it is not constant
 *  on, off  one number each, of one element type, that of y
 *  axis     the position of the new dimension, in [-rank-1, rank]
 *
 *  Errors: EDDY_BAD_DTYPE or EDDY_BAD_SHAPE if the arguments do not match, EDDY_INVALID_ARGUMENT if
 *  y has no such axis; at run time, EDDY_CHECK_FAILED for a negative depth, EDDY_LIMIT if y is too
 *  large.
 *  Gradient: that of `on` is the sum of dy at the indices, that of `off` the sum of the others.
 *  TensorFlow: OneHot. */
eddy_tensor eddy_one_hot_to(eddy_tensor indices, eddy_tensor depth, eddy_tensor on,
                            eddy_tensor off, int64_t axis)
{
    const int rank = eddy_shape_of(indices).rank;
    depth = eddy__size_number("one_hot_to", "depth", depth, indices);
    if (!eddy_is_valid(depth)) return eddy_none(indices.graph);
    if (rank < 0)
        return eddy_fail(indices.graph, EDDY_BAD_SHAPE, "one_hot_to: the rank of '%.200s' is "
                         "unknown", eddy_name_of(indices));
    eddy_scope_begin(indices.graph, "one_hot");
    depth = eddy_ensure(depth, GreaterEqual(depth, 0), "one_hot_to: depth is negative");
    const eddy_tensor at = ExpandDims(Cast(indices, EDDY_INT64), axis);
    /* The dimensions after the new one broadcast. */
    eddy_shape column = { .rank = axis < 0 ? (int)-axis : rank + 1 - (int)axis, .dim = { -1 } };
    for (int i = 1; i < column.rank && i < EDDY_MAX_RANK; i++) column.dim[i] = 1;
    eddy_tensor y = at;
    if (eddy_is_valid(at)) {
        /* One after the other: the compiler may evaluate arguments in any order. */
        on = Reshape(on, EDDY_SCALAR);
        off = Reshape(off, EDDY_SCALAR);
        y = eddy_where(Equal(at, Reshape(eddy__size_positions(depth), column)), on, off);
    }
    eddy_scope_end(indices.graph);
    return y;
}
