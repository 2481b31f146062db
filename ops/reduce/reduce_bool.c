/* reduce_bool.c -- the reductions any and all. */
#include "ops/short_names.h"
#include "graph/call_options.h"
#include "ops/reduce/reductions.h"
#include "build/gen/table.h"

const eddy_op_def eddy_op_any =
    REDUCTION("Any", &eddy__fold_any, EDDY_TAKES_BOOLS, eddy_not_differentiable, NULL);

/** y = whether any element of x along `axes` is true.
 *
 *  x         bool, any shape
 *  axes      each in [-rank, rank), without repetition; default all; EDDY_NO_DIMS: none
 *  keepdims  keeps reduced dimensions, with size 1
 *
 *  False if there are no elements.
 *  Errors: EDDY_BAD_DTYPE if x is not bool; EDDY_INVALID_ARGUMENT for an invalid or repeated
 *  axis.
 *  Gradient: none.  TensorFlow: Any (tf.reduce_any). */
eddy_tensor eddy_any_with(const eddy_reduce_args *given)
{
    return eddy__reduce_apply(&eddy_op_any, given);
}

const eddy_op_def eddy_op_all =
    REDUCTION("All", &eddy__fold_all, EDDY_TAKES_BOOLS, eddy_not_differentiable, NULL);

/** y = whether all elements of x along `axes` are true.
 *
 *  x         bool, any shape
 *  axes      each in [-rank, rank), without repetition; default all; EDDY_NO_DIMS: none
 *  keepdims  keeps reduced dimensions, with size 1
 *
 *  True if there are no elements.
 *  Errors: EDDY_BAD_DTYPE if x is not bool; EDDY_INVALID_ARGUMENT for an invalid or repeated
 *  axis.
 *  Gradient: none.  TensorFlow: All (tf.reduce_all). */
eddy_tensor eddy_all_with(const eddy_reduce_args *given)
{
    return eddy__reduce_apply(&eddy_op_all, given);
}
