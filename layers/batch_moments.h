/* batch_moments.h -- batch normalization with the caller's mean and variance: those of the examples of
 * several processes, for example. For those who write libraries; layers.h does not include it. */
#ifndef EDDY_LAYERS_BATCH_MOMENTS_H
#define EDDY_LAYERS_BATCH_MOMENTS_H

#include "layers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the type of x; mean and variance have 1 in place of the reduced axes, the count is a scalar. */
typedef struct eddy_batch_moments {
    eddy_tensor mean;
    eddy_tensor variance;            /* divided by the count */
    eddy_tensor count;               /* of elements of a channel */
} eddy_batch_moments;

/* The moments of x over `axes`. `context` is that of eddy_batch_norm_layer_by. */
typedef eddy_batch_moments (*eddy_moments_function)(void *context, eddy_tensor x, eddy_dims axes);

/* The layer eddy_batch_norm_layer, which asks `moments` for the mean and variance of the batch; without
 * training it does not. Errors: those of eddy_batch_norm_layer; EDDY_INVALID_ARGUMENT without a
 * function. */
EDDY_API eddy_tensor eddy_batch_norm_layer_by(eddy_moments_function moments, void *context,
                                              const eddy_batch_norm_layer_args *given);

#ifdef __cplusplus
}
#endif
#endif
