/* compute_again.h -- tensors that gradients compute again instead of keeping them from the forward pass.
 * For those who write libraries; autodiff.h does not include it. */
#ifndef EDDY_AUTODIFF_COMPUTE_AGAIN_H
#define EDDY_AUTODIFF_COMPUTE_AGAIN_H

#include "../graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Builds a tensor with the value, type and shape of t (eddy_gradients fails with EDDY_INVALID_ARGUMENT for
 * another type or shape). `after` is a gradient: with a control edge from it
 * (eddy_control_begin), the new nodes run when gradients need them, and not before. */
typedef eddy_tensor (*eddy_again)(void *context, eddy_tensor t, eddy_tensor after);

/* Where the gradient of an operation that takes t needs its value, it uses again(context, t, after) in its
 * place; the gradient of t itself stays that of t. Each call of eddy_gradients asks once, for the last
 * operation that took t. So the memory of t can be used again between the forward and the backward pass.
 * Gradients of such gradients treat again(...) as t.
 * False with an error on the graph: EDDY_INVALID_ARGUMENT without a function or for an invalid tensor,
 * EDDY_NO_MEMORY. eddy_recompute_grad does this for a part of a graph. */
EDDY_API bool eddy_compute_again(eddy_tensor t, eddy_again again, void *context);

#ifdef __cplusplus
}
#endif
#endif
