/* losses_classification.c -- classification losses: cross entropy of binary and of one-hot or
 * integer labels, hinge, focal, KL divergence and dice; composed of other operations, with the
 * weights of ops/formulas/loss_weights.c. */
#include "ops/formulas/losses.h"
#include "graph/call_options.h"
#include "ops/short_names.h"

#include <math.h>

/* ------------------------------------------------------------------ hinges -- */

/* 1 - s x with s = 2 label - 1: the shortfall from a margin of 1. */
static eddy_tensor shortfall(eddy_tensor labels, eddy_tensor x)
{
    return Relu(Sub(1, Mul(Sub(Mul(2, labels), 1), x)));
}

/** y = max(0, 1 - s x) of each prediction x, with s = -1 for label 0 and 1 for label 1,
 *  weighted and reduced.
 *
 *  labels                          0 or 1, cast to the type of the predictions; same shape
 *  predictions                     float32 or float64, any shape: logits, whose sign is the
 *                                  predicted class
 *  weights, reduction, collection  as for eddy_compute_weighted_loss
 *
 *  Errors: EDDY_BAD_DTYPE for other predictions; EDDY_BAD_SHAPE if the shapes differ; those
 *  of eddy_compute_weighted_loss.
 *  Gradient: that of the formula; 0 where 1 = s x.  TensorFlow: tf.losses.hinge_loss. */
eddy_tensor eddy_hinge_loss_with(const eddy_loss_args *given)
{
    eddy_loss_args a = EDDY_TAKE(eddy_loss_args, given);
    const char *who = "hinge_loss";
    const eddy_tensor labels = eddy__loss_labels(who, a.labels, a.predictions);
    const eddy_tensor losses = shortfall(labels, a.predictions);
    return eddy__loss_weigh(who, losses, a.weights, a.reduction, a.collection);
}

/** y = max(0, 1 - s x)^2, with s as for eddy_hinge_loss, weighted and reduced.
 *
 *  labels, predictions, weights, reduction, collection  as for eddy_hinge_loss
 *
 *  Errors: as for eddy_hinge_loss.
 *  Gradient: that of the formula.
 *  TensorFlow: tf.keras.losses.squared_hinge, which also takes labels of -1. */
eddy_tensor eddy_squared_hinge_loss_with(const eddy_loss_args *given)
{
    eddy_loss_args a = EDDY_TAKE(eddy_loss_args, given);
    const char *who = "squared_hinge_loss";
    const eddy_tensor labels = eddy__loss_labels(who, a.labels, a.predictions);
    const eddy_tensor losses = Square(shortfall(labels, a.predictions));
    return eddy__loss_weigh(who, losses, a.weights, a.reduction, a.collection);
}

/** y = max(0, 1 + max of (1 - labels) predictions - sum of labels predictions) along the last
 *  axis, weighted and reduced.
 *
 *  labels                          1 at the class, otherwise 0; cast to the type of the predictions
 *  predictions                     float32 or float64, [..., classes]
 *  weights, reduction, collection  as for eddy_compute_weighted_loss, with losses [...]
 *
 *  Errors: as for eddy_hinge_loss.
 *  Gradient: that of the formula.  TensorFlow: tf.keras.losses.categorical_hinge. */
eddy_tensor eddy_categorical_hinge_loss_with(const eddy_loss_args *given)
{
    eddy_loss_args a = EDDY_TAKE(eddy_loss_args, given);
    const char *who = "categorical_hinge_loss";
    const eddy_tensor labels = eddy__loss_labels(who, a.labels, a.predictions);
    const eddy_tensor right = Sum(Mul(labels, a.predictions), EDDY_AXES(-1));
    const eddy_tensor wrong = Max(Mul(Sub(1, labels), a.predictions), EDDY_AXES(-1));
    const eddy_tensor losses = Relu(Add(Sub(wrong, right), 1));
    return eddy__loss_weigh(who, losses, a.weights, a.reduction, a.collection);
}

/* -------------------------------------------------------- binary cross entropy -- */

#ifdef EDDY_HEADER
typedef struct eddy_log_loss_args {
    size_t              size_ EDDY_DEFAULT(sizeof(eddy_log_loss_args));
    eddy_tensor         labels, predictions;
    eddy_tensor         weights;      /* default: 1 */
    double              epsilon EDDY_DEFAULT(1e-7);
    eddy_loss_reduction reduction;
    const char         *collection;   /* default: EDDY_LOSSES; "": none */
} eddy_log_loss_args;
#endif

/** y = -labels ln(p + epsilon) - (1 - labels) ln(1 - p + epsilon) of each prediction p,
 *  weighted and reduced.
 *
 *  labels                          in [0, 1], cast to the type of the predictions; same shape
 *  predictions                     float32 or float64 in [0, 1], any shape: probabilities
 *  weights, reduction, collection  as for eddy_compute_weighted_loss
 *
 *  For logits use eddy_sigmoid_cross_entropy_loss, which avoids cancellation.
 *  Errors: as for eddy_hinge_loss.
 *  Gradient: that of the formula.  TensorFlow: tf.losses.log_loss. */
eddy_tensor eddy_log_loss_with(const eddy_log_loss_args *given)
{
    eddy_log_loss_args a = EDDY_TAKE(eddy_log_loss_args, given);
    const char *who = "log_loss";
    const double epsilon = a.epsilon;
    const eddy_tensor p = a.predictions, labels = eddy__loss_labels(who, a.labels, p);
    const eddy_tensor yes = Mul(labels, Log(Add(p, epsilon)));
    const eddy_tensor no = Mul(Sub(1, labels), Log(Add(Sub(1, p), epsilon)));
    return eddy__loss_weigh(who, Neg(Add(yes, no)), a.weights, a.reduction, a.collection);
}

#ifdef EDDY_HEADER
/* Arguments of the losses of logits. */
typedef struct eddy_logits_loss_args {
    size_t              size_ EDDY_DEFAULT(sizeof(eddy_logits_loss_args));
    eddy_tensor         labels, logits;
    eddy_tensor         weights;      /* default: 1 */
    double              label_smoothing;
    eddy_loss_reduction reduction;
    const char         *collection;   /* default: EDDY_LOSSES; "": none */
} eddy_logits_loss_args;
#endif

/** y = eddy_sigmoid_cross_entropy, weighted and reduced.
 *
 *  labels                          in [0, 1], cast to the type of the logits; same shape
 *  logits                          float32 or float64, any shape
 *  weights, reduction, collection  as for eddy_compute_weighted_loss
 *  label_smoothing                 s moves the labels toward 1/2: labels (1 - s) + s / 2
 *
 *  Errors: as for eddy_hinge_loss; EDDY_INVALID_ARGUMENT for a smoothing outside [0, 1].
 *  Gradient: that of eddy_sigmoid_cross_entropy.
 *  TensorFlow: tf.losses.sigmoid_cross_entropy. */
eddy_tensor eddy_sigmoid_cross_entropy_loss_with(const eddy_logits_loss_args *given)
{
    eddy_logits_loss_args a = EDDY_TAKE(eddy_logits_loss_args, given);
    const char *who = "sigmoid_cross_entropy_loss";
    const double s = a.label_smoothing;
    eddy_tensor labels = eddy__loss_labels(who, a.labels, a.logits);
    if (!eddy__loss_option(a.logits.graph, who, "label_smoothing", s, 0, 1))
        return eddy_none(a.logits.graph);
    if (s > 0) labels = Add(Mul(labels, 1 - s), 0.5 * s);
    const eddy_tensor losses = eddy_sigmoid_cross_entropy(labels, a.logits);
    return eddy__loss_weigh(who, losses, a.weights, a.reduction, a.collection);
}

/** y = -w labels ln sigmoid(x) - (1 - labels) ln(1 - sigmoid(x)), elementwise.
 *
 *  labels      in [0, 1], cast to the type of the logits x; same shape
 *  logits      float32 or float64, any shape; y has their type and shape
 *  pos_weight  w, same type, a shape that broadcasts to that of the logits; above 1 it increases
 *              recall
 *
 *  It is (1 - labels) x + (1 + (w - 1) labels) softplus(-x): no finite x overflows.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE if the shapes differ.
 *  Gradient: that of the formula.  TensorFlow: tf.nn.weighted_cross_entropy_with_logits. */
eddy_tensor eddy_weighted_cross_entropy_with_logits(eddy_tensor labels, eddy_tensor logits,
                                                    eddy_tensor pos_weight)
{
    const char *who = "weighted_cross_entropy_with_logits";
    const eddy_tensor z = eddy__loss_labels(who, labels, logits);
    const eddy_tensor w = Add(1, Mul(Sub(pos_weight, 1), z));
    return Add(Mul(Sub(1, z), logits), Mul(w, Softplus(Neg(logits))));
}

#ifdef EDDY_HEADER
typedef struct eddy_focal_loss_args {
    size_t              size_ EDDY_DEFAULT(sizeof(eddy_focal_loss_args));
    eddy_tensor         labels, logits;
    eddy_tensor         weights;      /* default: 1 */
    double              alpha EDDY_DEFAULT(0.25); /* of label 1; negative: no balance */
    double              gamma EDDY_DEFAULT(2);
    eddy_loss_reduction reduction;
    const char         *collection;   /* default: EDDY_LOSSES; "": none */
} eddy_focal_loss_args;
#endif

/** y = a (1 - p)^gamma times eddy_sigmoid_cross_entropy, where p is the predicted probability of
 *  the label, and a = alpha for label 1, 1 - alpha for label 0; weighted and reduced. Examples
 *  that are easily classified count little.
 *
 *  labels                          in [0, 1], cast to the type of the logits; same shape
 *  logits                          float32 or float64, any shape
 *  weights, reduction, collection  as for eddy_compute_weighted_loss
 *  alpha                           negative: a = 1
 *  gamma                           0 gives the unfocused loss
 *
 *  Errors: as for eddy_hinge_loss.
 *  Gradient: that of the formula.  TensorFlow: none; torchvision's sigmoid_focal_loss. */
eddy_tensor eddy_focal_loss_with(const eddy_focal_loss_args *given)
{
    eddy_focal_loss_args a = EDDY_TAKE(eddy_focal_loss_args, given);
    const char *who = "focal_loss";
    const double alpha = a.alpha, gamma = a.gamma;
    const eddy_tensor z = eddy__loss_labels(who, a.labels, a.logits), not_z = Sub(1, z);
    const eddy_tensor missed = Add(Mul(z, Sigmoid(Neg(a.logits))), Mul(not_z, Sigmoid(a.logits)));
    /* Positive, because a fractional power of 0 has no slope. */
    const eddy_tensor factor = gamma == 2 ? Square(missed) : Pow(Maximum(missed, 1e-37), gamma);
    eddy_tensor losses = Mul(factor, eddy_sigmoid_cross_entropy(z, a.logits));
    if (alpha > 0) losses = Mul(losses, Add(Mul(alpha, z), Mul(1 - alpha, not_z)));
    return eddy__loss_weigh(who, losses, a.weights, a.reduction, a.collection);
}

/* ---------------------------------------------------------------- multiclass -- */

/* The labels with the fraction s distributed equally over all classes. */
static eddy_tensor smooth(eddy_tensor labels, double s)
{
    const eddy_tensor classes = CastLike(eddy_size_along(labels, -1), labels);
    return Add(Mul(labels, 1 - s), Div(s, classes));
}

/** y = eddy_softmax_cross_entropy along the last axis, weighted and reduced.
 *
 *  labels                          distributions over the classes, cast to the type of the
 *                                  logits; same shape.  They have no gradient
 *  logits                          float32 or float64, [..., classes]
 *  weights, reduction, collection  as for eddy_compute_weighted_loss, with losses [...]
 *  label_smoothing                 s moves the labels toward a uniform distribution:
 *                                  labels (1 - s) + s / classes
 *
 *  Errors: as for eddy_hinge_loss; EDDY_INVALID_ARGUMENT for a smoothing outside [0, 1].
 *  Gradient: that of eddy_softmax_cross_entropy for the logits.
 *  TensorFlow: tf.losses.softmax_cross_entropy. */
eddy_tensor eddy_softmax_cross_entropy_loss_with(const eddy_logits_loss_args *given)
{
    eddy_logits_loss_args a = EDDY_TAKE(eddy_logits_loss_args, given);
    const char *who = "softmax_cross_entropy_loss";
    eddy_tensor labels = eddy__loss_labels(who, a.labels, a.logits);
    if (!eddy__loss_option(a.logits.graph, who, "label_smoothing", a.label_smoothing, 0, 1))
        return eddy_none(a.logits.graph);
    if (a.label_smoothing > 0) labels = smooth(labels, a.label_smoothing);
    const eddy_tensor losses = eddy_softmax_cross_entropy(StopGradient(labels), a.logits);
    return eddy__loss_weigh(who, losses, a.weights, a.reduction, a.collection);
}

#ifdef EDDY_HEADER
typedef struct eddy_sparse_softmax_cross_entropy_loss_args {
    size_t              size_ EDDY_DEFAULT(sizeof(eddy_sparse_softmax_cross_entropy_loss_args));
    eddy_tensor         labels, logits;
    eddy_tensor         weights;      /* default: 1 */
    eddy_dims           ignore;       /* labels that are ignored: EDDY_DIMS(-1) */
    eddy_loss_reduction reduction;
    const char         *collection;   /* default: EDDY_LOSSES; "": none */
} eddy_sparse_softmax_cross_entropy_loss_args;
#endif

/* True where the labels are among those to be ignored. */
static eddy_tensor ignored(eddy_tensor labels, eddy_dims ignore)
{
    eddy_tensor any = Equal(labels, (double)ignore.at[0]);
    for (int i = 1; i < ignore.count && i < EDDY_MAX_RANK; i++)
        any = LogicalOr(any, Equal(labels, (double)ignore.at[i]));
    return any;
}

/** y = eddy_sparse_softmax_cross_entropy, weighted and reduced.
 *
 *  labels                          int32 or int64, [...], class indices
 *  logits                          float32 or float64, [..., classes]
 *  weights, reduction, collection  as for eddy_compute_weighted_loss, with losses [...]
 *  ignore                          labels, valid classes or not, whose loss and weight are 0;
 *                                  default: none
 *
 *  Errors: as for eddy_sparse_softmax_cross_entropy and eddy_compute_weighted_loss.
 *  Gradient: that of eddy_sparse_softmax_cross_entropy for the logits.
 *  TensorFlow: tf.losses.sparse_softmax_cross_entropy; `ignore` is PyTorch's ignore_index. */
eddy_tensor eddy_sparse_softmax_cross_entropy_loss_with(
    const eddy_sparse_softmax_cross_entropy_loss_args *given)
{
    eddy_sparse_softmax_cross_entropy_loss_args a =
        EDDY_TAKE(eddy_sparse_softmax_cross_entropy_loss_args, given);
    const char *who = "sparse_softmax_cross_entropy_loss";
    if (eddy_refuse_number(a.logits.graph, who, "ignore", a.ignore))
        return eddy_none(a.logits.graph);
    if (a.ignore.count <= 0) {
        const eddy_tensor each = eddy_sparse_softmax_cross_entropy(a.labels, a.logits);
        return eddy__loss_weigh(who, each, a.weights, a.reduction, a.collection);
    }
    const eddy_tensor out = ignored(a.labels, a.ignore);
    const eddy_tensor each = eddy_sparse_softmax_cross_entropy(Where(out, 0, a.labels), a.logits);
    const eddy_tensor losses = Where(out, 0, each);     /* `each` may be infinite there */
    const eddy_tensor w = eddy__loss_weights(who, a.weights, losses);
    const eddy_tensor in = CastLike(LogicalNot(out), losses);
    return eddy__loss_weigh(who, losses, w.graph ? Mul(w, in) : in, a.reduction, a.collection);
}

#ifdef EDDY_HEADER
typedef struct eddy_kl_divergence_loss_args {
    size_t              size_ EDDY_DEFAULT(sizeof(eddy_kl_divergence_loss_args));
    eddy_tensor         labels, predictions;
    eddy_tensor         weights;      /* default: 1 */
    bool                log_predictions;
    eddy_loss_reduction reduction;
    const char         *collection;   /* default: EDDY_LOSSES; "": none */
} eddy_kl_divergence_loss_args;
#endif

/** y = the sum of labels ln(labels / predictions) along the last axis, weighted and
 *  reduced: the Kullback-Leibler divergence of two distributions.
 *
 *  labels                          distributions, cast to the type of the predictions
 *  predictions                     float32 or float64, [..., classes]
 *  weights, reduction, collection  as for eddy_compute_weighted_loss, with losses [...]
 *  log_predictions                 the predictions are logarithms
 *
 *  A class with label 0 contributes 0; a positive label with prediction 0 makes the loss infinite,
 *  whereas TensorFlow raises both to 1e-7.
 *  Errors: as for eddy_hinge_loss.
 *  Gradient: that of the formula.
 *  TensorFlow: tf.keras.losses.kullback_leibler_divergence; PyTorch's kl_div. */
eddy_tensor eddy_kl_divergence_loss_with(const eddy_kl_divergence_loss_args *given)
{
    eddy_kl_divergence_loss_args a = EDDY_TAKE(eddy_kl_divergence_loss_args, given);
    const char *who = "kl_divergence_loss";
    const eddy_tensor t = eddy__loss_labels(who, a.labels, a.predictions);
    const eddy_tensor cross = a.log_predictions ? MulNoNan(a.predictions, t)
                                                : Xlogy(t, a.predictions);
    const eddy_tensor losses = Sum(Sub(Xlogy(t, t), cross), EDDY_AXES(-1));
    return eddy__loss_weigh(who, losses, a.weights, a.reduction, a.collection);
}

#ifdef EDDY_HEADER
typedef struct eddy_dice_loss_args {
    size_t              size_ EDDY_DEFAULT(sizeof(eddy_dice_loss_args));
    eddy_tensor         labels, predictions;
    eddy_tensor         weights;      /* default: 1 */
    eddy_dims           axes;         /* of one set; default: all */
    double              smooth EDDY_DEFAULT(1);
    eddy_loss_reduction reduction;
    const char         *collection;   /* default: EDDY_LOSSES; "": none */
} eddy_dice_loss_args;
#endif

/** y = 1 - (2 sum of p t + s) / (sum of p + sum of t + s), for labels t and predictions p over
 *  `axes`, weighted and reduced: 0 if two sets overlap completely.
 *
 *  labels                          in [0, 1], cast to the type of the predictions; same shape
 *  predictions                     float32 or float64 in [0, 1], any shape
 *  weights, reduction, collection  as for eddy_compute_weighted_loss, with losses of the shape
 *                                  that remains without `axes`
 *  axes                            of one set; default: all
 *  smooth                          s
 *
 *  Errors: as for eddy_hinge_loss and eddy_sum.
 *  Gradient: that of the formula.  TensorFlow: none; the soft Dice coefficient. */
eddy_tensor eddy_dice_loss_with(const eddy_dice_loss_args *given)
{
    eddy_dice_loss_args a = EDDY_TAKE(eddy_dice_loss_args, given);
    const char *who = "dice_loss";
    const double s = a.smooth;
    const eddy_tensor p = a.predictions, t = eddy__loss_labels(who, a.labels, p);
    const eddy_tensor common = Sum(Mul(p, t), a.axes), all = Sum(Add(p, t), a.axes);
    const eddy_tensor losses = Sub(1, Div(Add(Mul(2, common), s), Add(all, s)));
    return eddy__loss_weigh(who, losses, a.weights, a.reduction, a.collection);
}
