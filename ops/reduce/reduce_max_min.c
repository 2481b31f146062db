/* reduce_max_min.c -- the reductions max and min. */
#include "ops/short_names.h"
#include "graph/call_options.h"
#include "ops/reduce/reductions.h"
#include "build/gen/table.h"

/* n, or 1 if x has no elements: then n, which is 0, divides no element of the gradient, only a
 * derivative along an empty direction, which is 0. */
static eddy_tensor count_of(eddy_tensor n, eddy_tensor x)
{
    const eddy_shape s = eddy_shape_of(x);
    const bool known = eddy_shape_is_known(s);
    if (known) return eddy_shape_count(s) > 0 ? n : OnesLike(n);
    return Add(n, CastLike(Equal(eddy_size(x, EDDY_INT64), 0), n));
}

/* dx = dy / n where x equals y, and 0 elsewhere, for n elements that equal y. */
static void extreme_gradient(eddy_rule *r)
{
    const eddy_tensor x = r->x[0], y = r->y[0], dy = r->dy[0];
    const eddy_reduce_attrs *a = r->attrs;
    const eddy_tensor is_y = CastLike(eddy_equal(x, eddy__reduce_spread(r, y)), dy);
    const eddy_tensor n = eddy_sum(is_y, .axes = a->axes, .keepdims = a->keep_dims);
    r->dx[0] = Mul(is_y, eddy__reduce_spread(r, Div(dy, count_of(n, x))));
}

const eddy_op_def eddy_op_max =
    REDUCTION("Max", &eddy__fold_max, EDDY_TAKES_NUMBERS, extreme_gradient, eddy__reduce_folds);

/** y = the largest element of x along `axes`.
 *
 *  x         float32, float64, int32, int64 or uint8, any shape
 *  axes      each in [-rank, rank), without repetition; default all; EDDY_NO_DIMS: none
 *  keepdims  keeps reduced dimensions, with size 1
 *
 *  y is NaN if any element is NaN.  The maximum over no elements is -infinity, or the smallest
 *  integer of the type.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_INVALID_ARGUMENT for an invalid or
 *  repeated axis.
 *  Gradient: dx = dy / n for the n elements that equal y, and 0 for the others; NaN if y is NaN.
 *  TensorFlow: Max (tf.reduce_max). */
eddy_tensor eddy_max_with(const eddy_reduce_args *given)
{
    return eddy__reduce_apply(&eddy_op_max, given);
}

const eddy_op_def eddy_op_min =
    REDUCTION("Min", &eddy__fold_min, EDDY_TAKES_NUMBERS, extreme_gradient, eddy__reduce_folds);

/** y = the smallest element of x along `axes`.
 *
 *  x         float32, float64, int32, int64 or uint8, any shape
 *  axes      each in [-rank, rank), without repetition; default all; EDDY_NO_DIMS: none
 *  keepdims  keeps reduced dimensions, with size 1
 *
 *  y is NaN if any element is NaN.  The minimum over no elements is infinity, or the largest
 *  integer of the type.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_INVALID_ARGUMENT for an invalid or
 *  repeated axis.
 *  Gradient: dx = dy / n for the n elements that equal y, and 0 for the others; NaN if y is NaN.
 *  TensorFlow: Min (tf.reduce_min). */
eddy_tensor eddy_min_with(const eddy_reduce_args *given)
{
    return eddy__reduce_apply(&eddy_op_min, given);
}
