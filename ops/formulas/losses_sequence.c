/* losses_sequence.c -- sequence loss: softmax cross entropy of sequences of classes, weighted by
 * step. */
#include "ops/ops.h"
#include "graph/call_options.h"
#include "ops/short_names.h"

#ifdef EDDY_HEADER
typedef struct eddy_sequence_loss_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_sequence_loss_args));
    eddy_tensor logits, targets, weights;
    bool        keep_timesteps;    /* one result per step */
    bool        keep_batch;        /* one result per example */
    bool        over_count;        /* divide by the number of nonzero weights, not by their sum */
    const char *name;
} eddy_sequence_loss_args;
#endif

/** y = the sum of weights times eddy_sparse_softmax_cross_entropy, divided by the sum of the
 *  weights.
 *
 *  logits          float32 or float64 [batch, steps, classes]
 *  targets         int32 or int64 [batch, steps]
 *  weights         same type as the logits, [batch, steps]: 0 after the end of a sequence
 *  keep_timesteps  sum only over the examples, so that y is [steps]: the negation of TensorFlow's
 *                  average_across_timesteps
 *  keep_batch      sum only over the steps, so that y is [batch]; with both options it is
 *                  [batch, steps], and not divided
 *  over_count      divide by the number of nonzero weights: TensorFlow's sum_over_timesteps and
 *                  sum_over_batch
 *
 *  0 where all weights are 0.
 *  Errors: EDDY_BAD_SHAPE for other ranks, or if the shapes do not match; EDDY_BAD_DTYPE; those
 *  of eddy_sparse_softmax_cross_entropy.
 *  Gradient: that of the formula; with over_count the divisor has none.
 *  TensorFlow: tf.contrib.seq2seq.sequence_loss. */
eddy_tensor eddy_sequence_loss_with(const eddy_sequence_loss_args *given)
{
    eddy_sequence_loss_args a = EDDY_TAKE(eddy_sequence_loss_args, given);
    const eddy_shape logits = eddy_shape_of(a.logits), weights = eddy_shape_of(a.weights);
    const eddy_shape targets = eddy_shape_of(a.targets);
    eddy_graph *g = a.logits.graph;
    char x[128], w[128];
    if (!eddy_is_valid(a.logits)) return a.logits;
    if ((logits.rank >= 0 && logits.rank != 3) || (weights.rank >= 0 && weights.rank != 2) ||
        !eddy_shape_compatible(targets, weights))
        return eddy_fail(g, EDDY_BAD_SHAPE,
                         "sequence_loss: logits has shape %s and weights %s; expected "
                         "[batch,steps,classes] and [batch,steps], and targets like weights",
                         eddy_shape_print(logits, x, sizeof x),
                         eddy_shape_print(weights, w, sizeof w));
    eddy_scope_begin(g, a.name ? a.name : "sequence_loss");
    const eddy_tensor losses = Mul(eddy_sparse_softmax_cross_entropy(a.targets, a.logits),
                                   a.weights);
    eddy_tensor y = losses;
    if (!a.keep_timesteps || !a.keep_batch) {
        eddy_dims axes = { .count = 0 };
        if (!a.keep_batch) axes.at[axes.count++] = 0;
        if (!a.keep_timesteps) axes.at[axes.count++] = 1;
        const eddy_tensor part = a.over_count ? CastLike(NotEqual(a.weights, 0), losses)
                                              : a.weights;
        y = DivNoNan(Sum(losses, axes), Sum(part, axes));
    }
    eddy_scope_end(g);
    return y;
}
