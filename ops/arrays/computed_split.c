/* computed_split.c -- a split at sizes that are the elements of a tensor. */
#include "ops/arrays/arrays.h"
#include "graph/internal.h"
#include "ops/short_names.h"

enum { MOST_PARTS = 256 };

/* The entries of `sizes`, of which one may be -1, for the rest of n. */
static eddy_tensor without_rest(eddy_tensor sizes, eddy_tensor n)
{
    const eddy_tensor is_rest = Equal(sizes, -1);
    const eddy_tensor rest = Sub(n, Sum(Where(is_rest, 0, sizes)));
    sizes = Where(is_rest, rest, sizes);
    return eddy_ensure(sizes, GreaterEqual(sizes, 0), "split_to: a size is out of range");
}

/* The shape of x with an entry replaced. */
static eddy_tensor with_entry(eddy_tensor shape, int axis, eddy_tensor entry)
{
    const int rank = (int)eddy_shape_of(shape).dim[0];
    return eddy_concat(EDDY_LIST(eddy_slice(shape, EDDY_DIMS(0), EDDY_DIMS(axis)), entry,
                                 eddy_slice(shape, EDDY_DIMS(axis + 1),
                                            EDDY_DIMS(rank - axis - 1))));
}

static eddy_tensor split_at(eddy_tensor x, eddy_tensor sizes, int n, int axis)
{
    eddy_tensor       like[MOST_PARTS];
    const eddy_tensor shape = eddy_shape_tensor(x, EDDY_INT64);
    sizes = without_rest(sizes, Cast(eddy_size_along(x, axis), EDDY_INT64));
    for (int i = 0; i < n; i++)
        like[i] = eddy_zeros_of(
            with_entry(shape, axis, eddy_slice(sizes, EDDY_DIMS(i), EDDY_DIMS(1))), EDDY_BOOL);
    return eddy_split_like(x, (eddy_list){ n, like }, axis);
}

/** y[i] = parts of x along an axis, whose sizes are the elements of a tensor.
 *
 *  x      any element type, a shape of known rank, at least 1
 *  sizes  int32 or int64 [n] with n known, from 1 to 256; one may be -1, for the rest; a run
 *         computes them first if they are not constant
 *  axis   in [-rank, rank)
 *
 *  Returns output 0; eddy_output(y, i) is part i.
 *  Errors: EDDY_BAD_SHAPE, EDDY_BAD_DTYPE or EDDY_INVALID_ARGUMENT if the arguments do not match;
 *  at run time, EDDY_CHECK_FAILED for a size out of range, EDDY_BAD_SHAPE if the sizes do not add
 *  up.
 *  Gradient: dx = the dy[i] concatenated.  TensorFlow: SplitV. */
eddy_tensor eddy_split_to(eddy_tensor x, eddy_tensor sizes, int64_t axis)
{
    const eddy_shape s = eddy_shape_of(sizes);
    const int        rank = eddy_shape_of(x).rank;
    char             have[100];
    if (!eddy_is_valid(sizes) || !eddy_is_valid(x) || sizes.graph != x.graph)
        return eddy_fail(x.graph ? x.graph : sizes.graph, EDDY_INVALID_ARGUMENT,
                         "split_to: %s is not a tensor of this graph",
                         eddy_is_valid(x) ? "sizes" : "x");
    if (!eddy__expect_type(x.graph, "split_to", "sizes", eddy_dtype_of(sizes), EDDY_TAKES_INDICES))
        return eddy_none(x.graph);
    if (s.rank != 1 || s.dim[0] < 1 || s.dim[0] > MOST_PARTS)
        return eddy_fail(x.graph, EDDY_BAD_SHAPE,
                         "split_to: sizes has the shape %s; a vector of 1 to %d elements expected",
                         eddy_shape_print(s, have, sizeof have), MOST_PARTS);
    if (rank < 0)
        return eddy_fail(x.graph, EDDY_BAD_SHAPE, "split_to: the rank of '%.200s' is unknown",
                         eddy_name_of(x));
    if (axis < -rank || axis >= rank)
        return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT,
                         "split_to: axis %lld is not within the rank, %d", (long long)axis, rank);
    eddy_scope_begin(x.graph, "split");
    const eddy_tensor y =
        split_at(x, Cast(sizes, EDDY_INT64), (int)s.dim[0], eddy__axis_of(axis, rank));
    eddy_scope_end(x.graph);
    return y;
}
