/* sync_batch_norm.h -- batch normalization over the examples of all ranks. */
#ifndef EDDY_DISTRIBUTED_SYNC_BATCH_NORM_H
#define EDDY_DISTRIBUTED_SYNC_BATCH_NORM_H

#include "communicator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* eddy_batch_norm_layer with the mean and variance of the examples of all ranks, in any numbers, 0 too:
 *
 *   y = eddy_sync_batch_norm_layer(c, EDDY_NO_TENSOR, x, .training = true);
 *   eddy_optimizer *o = eddy_distributed(eddy_adam(g), c);
 *
 * examples is that of eddy_distributed or eddy_sharded, a scalar, or EDDY_NO_TENSOR without it: then
 * ranks have equal numbers, or the loss is weighted. So the averaged gradients are those of one
 * process with all examples, and so are y and the moving averages, which are the same on all ranks. Without
 * training, this is the plain layer; variables have the same names, so that checkpoints serve both.
 *
 * In training, the ranks meet twice forward and twice backward, to sum 2 numbers for each channel; with
 * `training_when` they meet also where it is false, so all ranks run the graph. Not with
 * training whose bits do not depend on the number of ranks: sums are by rank.
 *
 * Errors: those of eddy_batch_norm_layer; EDDY_INVALID_ARGUMENT without a communicator; EDDY_BAD_SHAPE
 * if examples is not a scalar. tf.keras.layers.experimental.SyncBatchNormalization. */
EDDY_API eddy_tensor eddy_sync_batch_norm_layer_with(eddy_communicator *c, eddy_tensor examples,
                                                     const eddy_batch_norm_layer_args *given);
#define eddy_sync_batch_norm_layer(c, examples, ...) \
    eddy_sync_batch_norm_layer_with(c, examples, EDDY_ARGS(eddy_batch_norm_layer_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
