/* reduce_computed.c -- reductions over axes that are the elements of a tensor.
 *
 * x is reshaped so that each dimension becomes two: its size and 1 if it stays, 1 and its size if
 * it is reduced. Then the reduction is over every second dimension. As ranks are limited, this is
 * done for a few dimensions at a time where there are more than half of the limit. */
#include "ops/arrays/arrays.h"
#include "ops/arrays/computed_axes.h"
#include "ops/short_names.h"

enum { MOST_AT_ONCE = EDDY_MAX_RANK / 2, SOME = MOST_AT_ONCE - 1 };

#ifdef EDDY_HEADER
/* A function that reduces a tensor: eddy_sum_with, for example. */
typedef eddy_tensor (*eddy_reduce_fn)(const eddy_reduce_args *args);
#endif

static eddy_tensor reduced(eddy_reduce_fn f, eddy_tensor x, eddy_dims axes, bool keepdims)
{
    return f(EDDY_ARGS(eddy_reduce_args, x, axes, keepdims));
}

/* Entries [from, from + n) of a vector. */
static eddy_tensor part(eddy_tensor list, int from, int n)
{
    return eddy_slice(list, EDDY_DIMS(from), EDDY_DIMS(n));
}

/* kept[0], gone[0], kept[1] ... */
static eddy_tensor alternating(eddy_tensor kept, eddy_tensor gone, int n)
{
    return Reshape(eddy_stack(EDDY_LIST(kept, gone), 1), EDDY_SHAPE(2 * n));
}

static eddy_tensor product(eddy_tensor list) { return eddy_prod(list, .keepdims = true); }

/* Reduces dimensions [from, from + n) of x, in which those before are reduced already. Of the
 * others, those before and those after become one each. */
static eddy_tensor some_reduced(eddy_reduce_fn f, eddy_tensor x, eddy_tensor kept, eddy_tensor gone,
                                int from, int n, int rank)
{
    const int         rest = rank - from - n;
    const eddy_tensor sizes = Mul(part(kept, from + n, rest), part(gone, from + n, rest));
    const eddy_tensor shape =
        eddy_concat(EDDY_LIST(product(part(kept, 0, from)),
                              alternating(part(kept, from, n), part(gone, from, n), n),
                              product(sizes)));
    eddy_dims axes = { .count = n };
    for (int i = 0; i < n; i++) axes.at[i] = 2 + 2 * i;
    return reduced(f, eddy_reshape_to(x, shape), axes, true);
}

/* The result with the dimensions kept, as sizes of 1. */
static eddy_tensor all_reduced(eddy_reduce_fn f, eddy_tensor x, eddy_tensor kept, eddy_tensor gone,
                               int rank)
{
    eddy_dims axes = { .count = rank };
    for (int i = 0; i < rank; i++) axes.at[i] = 1 + 2 * i;
    if (rank <= MOST_AT_ONCE)
        return reduced(f, eddy_reshape_to(x, alternating(kept, gone, rank)), axes, false);
    for (int from = 0; from < rank; from += SOME)
        x = some_reduced(f, x, kept, gone, from, from + SOME > rank ? rank - from : SOME, rank);
    return eddy_reshape_to(x, kept);
}

/** y = a reduction of x over `axes`, which are the elements of a tensor.
 *
 *  reduce    eddy_sum_with, eddy_mean_with, eddy_max_with or any other function with the same
 *            arguments, for which it makes no difference whether axes are reduced together or one
 *            after the other
 *  x         what the reduction accepts, with a shape of known rank
 *  axes      int32 or int64, a vector or one number, each in [-rank, rank), without repetition; a
 *            run computes them first if they are not constant; of length 0: none
 *  keepdims  keeps reduced dimensions, with size 1
 *
 *  The rank of y is known while building if keepdims is set or the number of axes is known.  Runs
 *  with the same axes share a plan.  If x has more than 4 dimensions and the axes are not constant,
 *  the reduction is done in several steps, each of which rounds its results.
 *  Errors: EDDY_BAD_SHAPE or EDDY_BAD_DTYPE if the arguments do not match; at run time,
 *  EDDY_CHECK_FAILED for an invalid or repeated axis.
 *  Gradient: that of the reduction.
 *  TensorFlow: Sum, Mean, Max ... with computed reduction_indices. */
eddy_tensor eddy_reduce_to(eddy_reduce_fn reduce, eddy_tensor x, eddy_tensor axes, bool keepdims)
{
    eddy_dims list;
    axes = eddy__axes_checked("reduce_to", x, axes);
    if (!eddy_is_valid(axes)) return eddy_none(x.graph);
    if (!reduce)
        return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "reduce_to: reduce is NULL");
    if (eddy__axes_constant(axes, &list)) return reduced(reduce, x, list, keepdims);
    const int rank = eddy_shape_of(x).rank, n = eddy__axes_count(axes);
    if (n > rank)
        return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT,
                         "reduce_to: more axes are given than the rank, %d", rank);
    if (rank == 0) {
        x = eddy_ensure(x, Equal(eddy_size(axes, EDDY_INT64), 0),
                        "reduce_to: an axis is not within the rank");
        return reduced(reduce, x, EDDY_NO_DIMS, keepdims);
    }
    eddy_scope_begin(x.graph, "Reduce");
    const eddy_tensor marked = eddy__axes_marked("reduce_to", axes, rank);
    const eddy_tensor sizes = eddy_shape_tensor(x, EDDY_INT64), is = Equal(marked, 1);
    const eddy_tensor kept = Where(is, 1, sizes), gone = Where(is, sizes, 1);
    eddy_tensor       y = all_reduced(reduce, x, kept, gone, rank);
    if (!keepdims) y = eddy_reshape_to(y, eddy__axes_unmarked(sizes, marked, n));
    eddy_scope_end(x.graph);
    return y;
}
