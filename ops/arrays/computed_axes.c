/* computed_axes.c -- axes that are the elements of a tensor: inserting and removing dimensions of
 * 1, and what reductions need (ops/reduce/reduce_computed.c). */
#include "ops/arrays/computed_axes.h"
#include "graph/internal.h"
#include "ops/arrays/arrays.h"
#include "ops/short_names.h"

/* ---------------------------------------------------------- shared code -- */

int eddy__axes_count(eddy_tensor axes)
{
    const int64_t n = eddy_shape_of(axes).dim[0];
    return n > EDDY_MAX_RANK ? EDDY_MAX_RANK + 1 : (int)n;
}

bool eddy__axes_constant(eddy_tensor axes, eddy_dims *list)
{
    const eddy_array *a = eddy_constant_value(axes);
    if (!a || eddy_array_count(a) > EDDY_MAX_RANK) return false;
    *list = eddy_array_count(a) ? (eddy_dims){ .count = (int)eddy_array_count(a) } : EDDY_NO_DIMS;
    for (int i = 0; i < eddy_array_count(a); i++) list->at[i] = eddy__array_integer(a, i);
    return true;
}

static eddy_tensor integers(eddy_graph *g, int n, const int64_t *v)
{
    return eddy_const(g, EDDY_INT64, EDDY_SHAPE(n), v);
}

eddy_tensor eddy__axes_checked(const char *called, eddy_tensor x, eddy_tensor axes)
{
    const eddy_shape s = eddy_shape_of(axes);
    eddy_graph      *g = x.graph ? x.graph : axes.graph;
    char             have[100];
    if (!eddy_is_valid(x) || !eddy_is_valid(axes) || x.graph != axes.graph)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s is not a tensor of this graph", called,
                         eddy_is_valid(x) ? "axes" : "x");
    if (eddy_shape_of(x).rank < 0)
        return eddy_fail(g, EDDY_BAD_SHAPE, "%s: the rank of '%.200s' is unknown", called,
                         eddy_name_of(x));
    if (!eddy__expect_type(g, called, "axes", eddy_dtype_of(axes), EDDY_TAKES_INDICES))
        return eddy_none(g);
    if (s.rank > 1)
        return eddy_fail(g, EDDY_BAD_SHAPE, "%s: axes has the shape %s; a vector or one number "
                         "expected", called, eddy_shape_print(s, have, sizeof have));
    eddy_dims list;
    if (eddy__axes_constant(axes, &list))
        return integers(g, list.count < 0 ? 0 : list.count, list.at);
    return eddy_reshape(Cast(axes, EDDY_INT64), s.rank == 1 ? s : EDDY_SHAPE(s.rank ? -1 : 1));
}

static const int64_t ascending[] = { 0, 1, 2, 3, 4, 5, 6, 7 };

eddy_tensor eddy__axes_marked(const char *called, eddy_tensor axes, int rank)
{
    char twice[100], outside[100];
    snprintf(twice, sizeof twice, "%s: an axis is given twice", called);
    snprintf(outside, sizeof outside, "%s: an axis is not within the rank", called);
    const eddy_tensor front = Where(Less(axes, 0), Add(axes, rank), axes);
    const eddy_tensor within = LogicalAnd(GreaterEqual(front, 0), Less(front, rank));
    const eddy_tensor same =
        Equal(eddy_expand_dims(front, 1), integers(axes.graph, rank, ascending));
    eddy_tensor marked = Sum(Cast(same, EDDY_INT64), EDDY_AXES(0));
    marked = eddy_ensure(marked, within, outside);
    return eddy_ensure(marked, LessEqual(marked, 1), twice);
}

eddy_tensor eddy__axes_unmarked(eddy_tensor list, eddy_tensor marked, int n)
{
    const int64_t     rank = eddy_shape_of(list).dim[0];
    const eddy_tensor stays = Equal(marked, 0);
    if (n == rank) return eddy_set_shape(eddy_boolean_mask(list, stays), EDDY_SHAPE(0));
    return eddy_boolean_mask(list, stays, .size = n < 0 ? EDDY_OMITTED : rank - n);
}

static bool fits(const char *called, eddy_tensor x, int rank, int n)
{
    if (n <= rank) return true;
    eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "%s: more axes are given than the rank, %d", called,
              rank);
    return false;
}

/* ------------------------------------------------------------ operations -- */

/** y = x without the dimensions `axes`, which are the elements of a tensor and must be 1.
 *
 *  x     any element type, a shape of known rank
 *  axes  int32 or int64, a vector or one number, each in [-rank, rank), without repetition; a run
 *        computes them first if they are not constant
 *
 *  The rank of y is known while building if the number of axes is.
 *  Errors: EDDY_BAD_SHAPE or EDDY_BAD_DTYPE if the arguments do not match; at run time,
 *  EDDY_CHECK_FAILED for an invalid or repeated axis, or one of another size than 1.
 *  Gradient: dx = dy reshaped to the shape of x.  TensorFlow: Squeeze. */
eddy_tensor eddy_squeeze_to(eddy_tensor x, eddy_tensor axes)
{
    eddy_dims list;
    axes = eddy__axes_checked("squeeze_to", x, axes);
    if (!eddy_is_valid(axes)) return eddy_none(x.graph);
    if (eddy__axes_constant(axes, &list))
        return list.count < 0 ? Identity(x) : Squeeze(x, .axes = list);
    const int rank = eddy_shape_of(x).rank, n = eddy__axes_count(axes);
    if (!fits("squeeze_to", x, rank, n)) return eddy_none(x.graph);
    eddy_scope_begin(x.graph, "Squeeze");
    const eddy_tensor marked = eddy__axes_marked("squeeze_to", axes, rank);
    eddy_tensor       shape = eddy_shape_tensor(x, EDDY_INT64);
    shape = eddy_ensure(shape, LogicalOr(Equal(marked, 0), Equal(shape, 1)),
                        "squeeze_to: a dimension of axes is not 1");
    const eddy_tensor y = eddy_reshape_to(x, eddy__axes_unmarked(shape, marked, n));
    eddy_scope_end(x.graph);
    return y;
}

/** y = x with dimensions of 1 at `axes`, which are the elements of a tensor.
 *
 *  x     any element type, a shape of known rank
 *  axes  int32 or int64 [n] or one number: the positions in y, which has the rank of x plus n; each
 *        in [-rank, rank) of y, without repetition; a run computes them first if they are not
 *        constant, and n must be known while building
 *
 *  Errors: EDDY_BAD_SHAPE or EDDY_BAD_DTYPE if the arguments do not match, EDDY_LIMIT if y would
 *  have a rank above 8; at run time, EDDY_CHECK_FAILED for an invalid or repeated axis.
 *  Gradient: dx = dy reshaped to the shape of x.  TensorFlow: ExpandDims. */
eddy_tensor eddy_expand_dims_to(eddy_tensor x, eddy_tensor axes)
{
    axes = eddy__axes_checked("expand_dims_to", x, axes);
    if (!eddy_is_valid(axes)) return eddy_none(x.graph);
    const int n = eddy__axes_count(axes), rank = eddy_shape_of(x).rank + n;
    if (n < 0)
        return eddy_fail(x.graph, EDDY_BAD_SHAPE, "expand_dims_to: the number of axes is unknown");
    if (rank > EDDY_MAX_RANK)
        return eddy_fail(x.graph, EDDY_LIMIT,
                         "expand_dims_to: the result would have rank %d; the limit is %d", rank,
                         EDDY_MAX_RANK);
    eddy_scope_begin(x.graph, "ExpandDims");
    const eddy_tensor marked = eddy__axes_marked("expand_dims_to", axes, rank);
    const eddy_tensor one = integers(x.graph, 1, &(int64_t){ 1 });
    /* The 1 at the end stands for the dimension after the last one, which is always marked. */
    const eddy_tensor shape = eddy_concat(EDDY_LIST(eddy_shape_tensor(x, EDDY_INT64), one));
    const eddy_tensor at = eddy_cumsum(Sub(1, marked), .exclusive = true);
    const eddy_tensor y = eddy_reshape_to(x, Where(Equal(marked, 1), 1, Gather(shape, at)));
    eddy_scope_end(x.graph);
    return y;
}
