/* parallel_layers.h -- layers whose variables are divided among the ranks (Shoeybi et al., "Megatron-LM:
 * training multi-billion parameter language models using model parallelism", 2019).
 *
 * All ranks of the communicator have the same examples and compute the same loss; each has a part of the
 * columns, rows, words or heads, and computes with it. A pair of layers, such as a dense layer of divided
 * columns and one of divided rows, exchanges its values once forward and once backward:
 *
 *   h = eddy_column_dense(c, x, 4 * n, "up", .activation = eddy_gelu);
 *   y = eddy_row_dense(c, h, n, "down");
 *
 * Gradients are those of this one loss, not of the sum of the ranks' losses as with the other collectives:
 * whatever all ranks have alike, variables too, has the same gradient on all of them, and a part has the
 * gradient of that part. So each rank uses an optimizer of its own. With examples that are divided as well,
 * eddy_distributed takes a communicator (eddy_communicator_group) of the ranks that have the same parts.
 *
 * Options are those of the layer of one process, and so are names, and initial values for the same seed: each
 * rank takes its part of the whole. eddy_save_ranks saves variables whole. These are not possible:
 * EDDY_INVALID_ARGUMENT for `reuse`, and for regularizers, which would see a part. Other errors: those
 * of the layer; EDDY_INVALID_ARGUMENT without a communicator, or for a number that the number of ranks
 * does not divide. LAMB, LARS, NovoGrad, clipping by norms, loss scaling and eddy_apply_if_finite need
 * eddy_distributed around them, with the communicator of the layers or that of the ranks with other
 * examples: they sum over the parts. Optimizers that need a whole variable (Adafactor, Muon, Shampoo, SM3,
 * Prodigy) are refused. */
#ifndef EDDY_DISTRIBUTED_PARALLEL_LAYERS_H
#define EDDY_DISTRIBUTED_PARALLEL_LAYERS_H

#include "communicator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* y = x, which all ranks have alike, at the beginning of what each computes by itself. x: a floating or
 * complex type, any shape. Gradient: the sum of the ranks' dy (eddy_reduce_from_ranks). */
EDDY_API eddy_tensor eddy_copy_to_ranks(eddy_communicator *c, eddy_tensor x);
/* y = the sum of the ranks' x, on all of them, at the end of it. x: a floating or complex type, the same
 * shape on all ranks. Gradient: dy (eddy_copy_to_ranks), since all ranks have the same loss;
 * eddy_all_reduce is for losses that are summed. */
EDDY_API eddy_tensor eddy_reduce_from_ranks(eddy_communicator *c, eddy_tensor x);
/* y = the rows of all ranks, in the order of ranks, on all of them: x, of a floating or complex type and
 * rank at least 1, along axis 0. Ranks may have different numbers of rows, 0 too; they are exchanged first.
 * Gradient: the rank's rows of dy, since all ranks have the same loss; eddy_all_gather is for losses that
 * are summed. So minimizers take the same steps on all ranks, where each has some of the examples:
 *
 *   model = eddy_mul(eddy_copy_to_ranks(c, rate), times);
 *   eddy_least_squares(session, EDDY_LIST(eddy_gather_from_ranks(c, eddy_sub(model, y))));
 *   eddy_minimize_lbfgs(session, eddy_reduce_from_ranks(c, own_loss));
 */
EDDY_API eddy_tensor eddy_gather_from_ranks(eddy_communicator *c, eddy_tensor x);

/* eddy_dense with divided columns.
 *
 *  x      [..., in], the same on all ranks; y is [..., units / ranks], the columns of this rank
 *  units  the columns of all ranks, a multiple of their number
 *
 *  Variables: kernel [in, units / ranks], bias [units / ranks]. */
EDDY_API eddy_tensor eddy_column_dense_with(eddy_communicator *c, const eddy_dense_args *given);
#define eddy_column_dense(c, ...) eddy_column_dense_with(c, EDDY_ARGS(eddy_dense_args, __VA_ARGS__))

/* eddy_dense with divided rows.
 *
 *  x      [..., in / ranks], the columns of this rank, as from eddy_column_dense
 *  units  the columns of y [..., units], which is the same on all ranks
 *
 *  Variables: kernel [in / ranks, units]; bias [units], the same on all ranks. */
EDDY_API eddy_tensor eddy_row_dense_with(eddy_communicator *c, const eddy_dense_args *given);
#define eddy_row_dense(c, ...) eddy_row_dense_with(c, EDDY_ARGS(eddy_dense_args, __VA_ARGS__))

/* eddy_embedding_layer with a divided vocabulary: of n vectors, rank r has those from n r / ranks to
 * n (r + 1) / ranks; n is at least the number of ranks.
 *
 *  ids  int32 or int64, any shape, the same on all ranks; y [ids..., output_dim], too
 *
 *  Variables: embeddings, the rows of this rank. At run time EDDY_CHECK_FAILED on all ranks for an id outside
 *  [0, n). */
EDDY_API eddy_tensor eddy_parallel_embedding_with(eddy_communicator *c,
                                                  const eddy_embedding_layer_args *given);
#define eddy_parallel_embedding(c, ...) \
    eddy_parallel_embedding_with(c, EDDY_ARGS(eddy_embedding_layer_args, __VA_ARGS__))

/* eddy_multi_head_attention with divided heads. x, memory, values, lengths, mask and y are the same on all
 * ranks; the number of heads is a multiple of that of ranks. Dropout in training and a cache are
 * EDDY_INVALID_ARGUMENT, too.
 *
 *  Variables: the columns of this rank's heads of qkv/kernel or query/kernel, key_value/kernel, keys/kernel
 *  and values/kernel, and of their biases; the rows of attention_output/kernel; attention_output/bias,
 *  the same on all ranks. */
EDDY_API eddy_tensor eddy_parallel_attention_with(eddy_communicator *c,
                                                  const eddy_multi_head_attention_args *given);
#define eddy_parallel_attention(c, ...) \
    eddy_parallel_attention_with(c, EDDY_ARGS(eddy_multi_head_attention_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
