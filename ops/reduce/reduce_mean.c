/* reduce_mean.c -- the mean reduction. */
#include "ops/short_names.h"
#include "graph/call_options.h"
#include "ops/fusion_targets.h"
#include "ops/reduce/reductions.h"
#include "build/gen/table.h"

/* Normalizations, which contain a mean, a variance and a root. */
EDDY_FUSION_TARGETS(&eddy_op_layer_norm, &eddy_op_layer_norm_grad, &eddy_op_fused_batch_norm,
                &eddy_op_fused_batch_norm_grad)

/* The number of elements of x per element of y is computed even where it is known now: the graph
 * may be extracted for other numbers of examples. The divisor of nothing only matters to the
 * derivative along an empty direction: 0. */
static void mean_gradient(eddy_rule *r)
{
    const eddy_tensor x = r->x[0], y = r->y[0], dy = r->dy[0];
    const eddy_tensor whole = eddy_size(x, EDDY_INT64), parts = eddy_size(y, EDDY_INT64);
    const eddy_tensor count = Maximum(FloorDiv(whole, Maximum(parts, 1)), 1);
    r->dx[0] = eddy__reduce_spread(r, Div(dy, CastLike(count, dy)));
}

const eddy_op_def eddy_op_mean = REDUCTION("Mean", &eddy__fold_mean, EDDY_TAKES_NUMBERS_COMPLEX,
                                           mean_gradient, eddy__reduce_folds);

/** y = the mean of x over `axes`.
 *
 *  x         any numeric type except float16 and bfloat16, any shape
 *  axes      each in [-rank, rank), without repetition; default all; EDDY_NO_DIMS: none
 *  keepdims  keeps reduced dimensions, with size 1
 *
 *  The mean over no elements is NaN, or 0 for integers.  Integers are summed in 64 bits, and the
 *  quotient is rounded toward 0.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_INVALID_ARGUMENT for an invalid or
 *  repeated axis.
 *  Gradient: dx = dy / n broadcast along the axes, with n the number of elements of x per element
 *  of y.
 *  TensorFlow: Mean (tf.reduce_mean). */
eddy_tensor eddy_mean_with(const eddy_reduce_args *given)
{
    return eddy__reduce_apply(&eddy_op_mean, given);
}
