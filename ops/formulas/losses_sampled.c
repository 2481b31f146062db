/* losses_sampled.c -- sampled losses for many classes: sampled softmax and noise-contrastive
 * estimation (NCE), which evaluate the true classes and a sample of the others; composed of other
 * operations. */
#include "ops/ops.h"
#include "graph/call_options.h"
#include "ops/short_names.h"

#include <float.h>

#ifdef EDDY_HEADER
typedef struct eddy_sampled_softmax_loss_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_sampled_softmax_loss_args));
    eddy_tensor weights, biases, labels, inputs;
    int64_t     num_sampled, num_classes;
    eddy_tensor sampled_values;    /* of a candidate sampler; default: the log-uniform one */
    bool        keep_accidental_hits;
    int64_t     seed;              /* of the sampler; 0: a seed of the op's own */
    const char *name;
} eddy_sampled_softmax_loss_args;

typedef struct eddy_nce_loss_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_nce_loss_args));
    eddy_tensor weights, biases, labels, inputs;
    int64_t     num_sampled, num_classes;
    eddy_tensor sampled_values;    /* of a candidate sampler; default: the log-uniform one */
    bool        remove_accidental_hits;
    int64_t     seed;              /* of the sampler; 0: a seed of the op's own */
    const char *name;
} eddy_nce_loss_args;
#endif

/* The terms of both losses. */
typedef struct sample {
    eddy_tensor weights, biases, labels, inputs, values;
    int64_t     num_sampled, num_classes, seed;
} sample;

/* Checks the operands of `who` before ops are built. */
static bool fits(const char *who, const sample *a)
{
    const eddy_shape labels = eddy_shape_of(a->labels), inputs = eddy_shape_of(a->inputs);
    char x[128], y[128];
    if (!eddy_is_valid(a->inputs) || !eddy_is_valid(a->labels)) {
        eddy_fail(a->inputs.graph, EDDY_INVALID_ARGUMENT, "%s: the %s are not a valid tensor", who,
                  eddy_is_valid(a->inputs) ? "labels" : "inputs");
        return false;
    }
    if (labels.rank == 2 && inputs.rank == 2 && labels.dim[1] > 0) return true;
    eddy_fail(a->inputs.graph, EDDY_BAD_SHAPE,
              "%s: labels has shape %s and inputs %s; expected [batch,num_true], with num_true "
              "known and positive, and [batch,dim]",
              who, eddy_shape_print(labels, x, sizeof x), eddy_shape_print(inputs, y, sizeof y));
    return false;
}

static eddy_tensor candidates_of(const sample *a)
{
    if (a->values.graph) return a->values;
    return eddy_log_uniform_candidate_sampler(a->labels, a->num_sampled, true, a->num_classes,
                                              a->seed);
}

/* True where a sampled class is one of the true ones: [batch, num_sampled]. */
static eddy_tensor hits_of(eddy_tensor labels, eddy_tensor sampled)
{
    const eddy_tensor wide = ExpandDims(Cast(labels, EDDY_INT64), -1);
    return eddy_any(Equal(wide, sampled), EDDY_AXES(1));
}

/* Logits of the true and the sampled classes, [batch, num_true + num_sampled], each minus the
 * logarithm of the expected count of its class. */
static eddy_tensor logits_of(const sample *a, bool remove_hits)
{
    const eddy_tensor values = candidates_of(a), sampled = eddy_output(values, 0);
    const eddy_tensor q_true = CastLike(eddy_output(values, 1), a->inputs);
    const eddy_tensor q_sampled = CastLike(eddy_output(values, 2), a->inputs);
    const eddy_tensor w_true = Gather(a->weights, a->labels);
    eddy_tensor yes = Sum(Mul(ExpandDims(a->inputs, 1), w_true), EDDY_AXES(-1));
    eddy_tensor no = MatMul(a->inputs, Gather(a->weights, sampled), .transpose_b = true);
    yes = Sub(Add(yes, Gather(a->biases, a->labels)), Log(StopGradient(q_true)));
    no = Sub(Add(no, Gather(a->biases, sampled)), Log(StopGradient(q_sampled)));
    if (remove_hits) no = Add(no, Mul(CastLike(hits_of(a->labels, sampled), no), -FLT_MAX));
    return eddy_concat(EDDY_LIST(yes, no), 1);
}

/* 1 / num_true at the true classes and 0 at the sampled ones. */
static eddy_tensor targets_of(eddy_tensor logits, int64_t num_true)
{
    const eddy_tensor column = eddy_row_numbers(Transpose(logits), EDDY_INT64);
    const eddy_tensor yes = CastLike(Less(column, (double)num_true), logits);
    return BroadcastLike(Div(yes, (double)num_true), logits);
}

/** loss[b] = eddy_softmax_cross_entropy over the true classes and a sample of the others, for
 *  training a softmax over many classes.
 *
 *  weights          float32 or float64 [num_classes, dim]
 *  biases           same type, [num_classes]
 *  labels           int32 or int64 [batch, num_true]: the true classes, with equal probabilities
 *  inputs           same type, [batch, dim]
 *  num_sampled      the number of classes that are drawn, without replacement, for the whole batch
 *  num_classes      the number of classes to draw from
 *  sampled_values   the outputs of eddy_log_uniform_candidate_sampler or of another sampler;
 *                   default: those of the former, without replacement
 *  keep_accidental_hits  keep sampled classes that are also true ones; the negation of
 *                   TensorFlow's remove_accidental_hits
 *  seed             of the draws
 *
 *  The logits are inputs . weights[class] + biases[class], minus the logarithm of the expected
 *  count of the class among those drawn (Jean, Cho, Memisevic, Bengio: "On using very large
 *  target vocabulary for neural machine translation", 2015).
 *  Errors: EDDY_BAD_SHAPE for labels and inputs of other ranks; those of the sampler and of the
 *  formula.
 *  Gradient: that of the formula; those of weights and biases are slices.
 *  TensorFlow: tf.nn.sampled_softmax_loss. */
eddy_tensor eddy_sampled_softmax_loss_with(const eddy_sampled_softmax_loss_args *given)
{
    eddy_sampled_softmax_loss_args a = EDDY_TAKE(eddy_sampled_softmax_loss_args, given);
    const sample s = { a.weights, a.biases, a.labels, a.inputs, a.sampled_values, a.num_sampled,
                       a.num_classes, a.seed };
    eddy_graph *g = a.inputs.graph;
    if (!fits("sampled_softmax_loss", &s)) return eddy_none(g);
    eddy_scope_begin(g, a.name ? a.name : "sampled_softmax_loss");
    const eddy_tensor logits = logits_of(&s, !a.keep_accidental_hits);
    const eddy_tensor targets = targets_of(logits, eddy_shape_of(a.labels).dim[1]);
    const eddy_tensor y = eddy_softmax_cross_entropy(targets, logits);
    eddy_scope_end(g);
    return y;
}

/** loss[b] = the sum of eddy_sigmoid_cross_entropy over the true classes, with label 1 / num_true,
 *  and a sample of all classes, with label 0: noise-contrastive estimation.
 *
 *  weights, biases, labels, inputs, num_sampled, num_classes, sampled_values, seed  as for
 *                   eddy_sampled_softmax_loss
 *  remove_accidental_hits  remove sampled classes that are also true ones
 *
 *  Gutmann, Hyvarinen: "Noise-contrastive estimation", 2010.
 *  Errors: as for eddy_sampled_softmax_loss.
 *  Gradient: that of the formula.  TensorFlow: tf.nn.nce_loss. */
eddy_tensor eddy_nce_loss_with(const eddy_nce_loss_args *given)
{
    eddy_nce_loss_args a = EDDY_TAKE(eddy_nce_loss_args, given);
    const sample s = { a.weights, a.biases, a.labels, a.inputs, a.sampled_values, a.num_sampled,
                       a.num_classes, a.seed };
    eddy_graph *g = a.inputs.graph;
    if (!fits("nce_loss", &s)) return eddy_none(g);
    eddy_scope_begin(g, a.name ? a.name : "nce_loss");
    const eddy_tensor logits = logits_of(&s, a.remove_accidental_hits);
    const eddy_tensor targets = targets_of(logits, eddy_shape_of(a.labels).dim[1]);
    const eddy_tensor y = Sum(eddy_sigmoid_cross_entropy(targets, logits), EDDY_AXES(1));
    eddy_scope_end(g);
    return y;
}
