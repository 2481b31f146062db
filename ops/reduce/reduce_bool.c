/* reduce_bool.c -- the reductions any and all. */
#include "ops/short_names.h"
#include "graph/take.h"
#include "ops/reduce/reductions.h"
#include "build/gen/table.h"

const eddy_op_def eddy_op_any =
    REDUCTION("Any", &eddy__fold_any, EDDY_TAKES_BOOLS, eddy_not_differentiable, NULL);

/** y = whether any element of x along `axes` is true.
 *
 *  x         bool, any shape
 *  axes      each axis once, in [-rank, rank); left out: all; EDDY_NO_DIMS: none
 *  keepdims  reduced dimensions stay, with size 1
 *
 *  Of nothing it is false.
 *  Errors: EDDY_BAD_DTYPE if x is not bool; EDDY_INVALID_ARGUMENT for an axis
 *  that x does not have or that is given twice.
 *  Gradient: none.  TensorFlow: Any (tf.reduce_any). */
eddy_tensor eddy_any_with(const eddy_reduce_args *given)
{
    eddy_reduce_args a = EDDY_TAKE(eddy_reduce_args, given);
    return eddy__reduce_apply(&eddy_op_any, a);
}

const eddy_op_def eddy_op_all =
    REDUCTION("All", &eddy__fold_all, EDDY_TAKES_BOOLS, eddy_not_differentiable, NULL);

/** y = whether all elements of x along `axes` are true.
 *
 *  x         bool, any shape
 *  axes      each axis once, in [-rank, rank); left out: all; EDDY_NO_DIMS: none
 *  keepdims  reduced dimensions stay, with size 1
 *
 *  Of nothing it is true.
 *  Errors: EDDY_BAD_DTYPE if x is not bool; EDDY_INVALID_ARGUMENT for an axis
 *  that x does not have or that is given twice.
 *  Gradient: none.  TensorFlow: All (tf.reduce_all). */
eddy_tensor eddy_all_with(const eddy_reduce_args *given)
{
    eddy_reduce_args a = EDDY_TAKE(eddy_reduce_args, given);
    return eddy__reduce_apply(&eddy_op_all, a);
}
