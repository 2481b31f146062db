/* losses_regression.c -- regression losses: absolute and squared error, Huber, log-cosh,
 * quantile, Poisson and Gaussian NLL; composed of other operations, with the weights of
 * ops/formulas/loss_weights.c. */
#include "ops/formulas/losses.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "ops/math/huber.h"
#include "ops/short_names.h"

#include <math.h>

/* -------------------------------------------- absolute and squared errors -- */

/** y = |predictions - labels|, weighted and reduced.
 *
 *  labels                          numbers, cast to the type of the predictions; same shape
 *  predictions                     float32 or float64, any shape
 *  weights, reduction, collection  as for eddy_compute_weighted_loss
 *
 *  Errors: EDDY_BAD_DTYPE for other predictions; EDDY_BAD_SHAPE if the shapes differ; those
 *  of eddy_compute_weighted_loss.
 *  Gradient: that of the formula, 0 where they are equal.
 *  TensorFlow: tf.losses.absolute_difference. */
eddy_tensor eddy_absolute_difference_with(const eddy_loss_args *given)
{
    eddy_loss_args a = EDDY_TAKE(eddy_loss_args, given);
    const char *who = "absolute_difference";
    const eddy_tensor labels = eddy__loss_labels(who, a.labels, a.predictions);
    const eddy_tensor losses = Abs(Sub(a.predictions, labels));
    return eddy__loss_weigh(who, losses, a.weights, a.reduction, a.collection);
}

/** y = (predictions - labels)^2, weighted and reduced.
 *
 *  labels, predictions, weights, reduction, collection  as for eddy_absolute_difference
 *
 *  Errors: as for eddy_absolute_difference.
 *  Gradient: that of the formula.  TensorFlow: tf.losses.mean_squared_error. */
eddy_tensor eddy_mean_squared_error_with(const eddy_loss_args *given)
{
    eddy_loss_args a = EDDY_TAKE(eddy_loss_args, given);
    const char *who = "mean_squared_error";
    const eddy_tensor labels = eddy__loss_labels(who, a.labels, a.predictions);
    const eddy_tensor losses = SquaredDifference(a.predictions, labels);
    return eddy__loss_weigh(who, losses, a.weights, a.reduction, a.collection);
}

#ifdef EDDY_HEADER
typedef struct eddy_huber_loss_args {
    size_t              size_ EDDY_DEFAULT(sizeof(eddy_huber_loss_args));
    eddy_tensor         labels, predictions;
    eddy_tensor         weights;      /* default: 1 */
    double              delta EDDY_DEFAULT(1);
    eddy_loss_reduction reduction;
    const char         *collection;   /* default: EDDY_LOSSES; "": none */
} eddy_huber_loss_args;
#endif

/** y = e^2 / 2 for each error e up to delta, and delta (|e| - delta / 2) above, weighted and
 *  reduced.
 *
 *  labels, predictions, weights, reduction, collection  as for eddy_absolute_difference
 *  delta                                                not negative
 *
 *  Errors: as for eddy_absolute_difference; EDDY_INVALID_ARGUMENT for a negative delta.
 *  Gradient: that of the formula.  TensorFlow: tf.losses.huber_loss. */
eddy_tensor eddy_huber_loss_with(const eddy_huber_loss_args *given)
{
    eddy_huber_loss_args a = EDDY_TAKE(eddy_huber_loss_args, given);
    const char *who = "huber_loss";
    const double delta = a.delta;
    const eddy_tensor labels = eddy__loss_labels(who, a.labels, a.predictions);
    if (!eddy__loss_option(a.predictions.graph, who, "delta", delta, 0, (double)INFINITY))
        return eddy_none(a.predictions.graph);
    const eddy_tensor losses = eddy__huber(a.predictions, labels, delta, 1);
    return eddy__loss_weigh(who, losses, a.weights, a.reduction, a.collection);
}

#ifdef EDDY_HEADER
typedef struct eddy_smooth_l1_loss_args {
    size_t              size_ EDDY_DEFAULT(sizeof(eddy_smooth_l1_loss_args));
    eddy_tensor         labels, predictions;
    eddy_tensor         weights;      /* default: 1 */
    double              beta EDDY_DEFAULT(1);
    eddy_loss_reduction reduction;
    const char         *collection;   /* default: EDDY_LOSSES; "": none */
} eddy_smooth_l1_loss_args;
#endif

static eddy_tensor smooth_l1(eddy_tensor predictions, eddy_tensor labels, double beta)
{
    const double least = eddy__dtype_smallest(eddy_dtype_of(predictions));
    if (beta < least) return Abs(Sub(predictions, labels));
    return eddy__huber(predictions, labels, beta, 1 / beta);
}

/** y = e^2 / (2 beta) for each error e up to beta, and |e| - beta / 2 above, weighted and
 *  reduced: eddy_huber_loss divided by its delta.
 *
 *  labels, predictions, weights, reduction, collection  as for eddy_absolute_difference
 *  beta                                                 not negative
 *
 *  A beta that underflows in the type, such as 1e-300 in float32, gives the absolute error, as 0
 *  does in PyTorch; an infinite one gives 0.
 *  Errors: as for eddy_huber_loss.
 *  Gradient: that of the formula.  TensorFlow: none; PyTorch's smooth_l1_loss. */
eddy_tensor eddy_smooth_l1_loss_with(const eddy_smooth_l1_loss_args *given)
{
    eddy_smooth_l1_loss_args a = EDDY_TAKE(eddy_smooth_l1_loss_args, given);
    const char *who = "smooth_l1_loss";
    const double beta = a.beta;
    const eddy_tensor labels = eddy__loss_labels(who, a.labels, a.predictions);
    if (!eddy__loss_option(a.predictions.graph, who, "beta", beta, 0, (double)INFINITY))
        return eddy_none(a.predictions.graph);
    const eddy_tensor losses = smooth_l1(a.predictions, labels, beta);
    return eddy__loss_weigh(who, losses, a.weights, a.reduction, a.collection);
}

/** y = ln cosh e for each error e, weighted and reduced.
 *
 *  labels, predictions, weights, reduction, collection  as for eddy_absolute_difference
 *
 *  No finite error overflows.
 *  Errors: as for eddy_absolute_difference.
 *  Gradient: tanh e for the predictions, -tanh e for the labels.
 *  TensorFlow: tf.keras.losses.logcosh. */
eddy_tensor eddy_log_cosh_loss_with(const eddy_loss_args *given)
{
    eddy_loss_args a = EDDY_TAKE(eddy_loss_args, given);
    const char *who = "log_cosh_loss";
    const eddy_tensor labels = eddy__loss_labels(who, a.labels, a.predictions);
    const eddy_tensor error = Sub(a.predictions, labels);
    const eddy_tensor size = Abs(error), small = Less(size, 1), near = Where(small, error, 0);
    const eddy_tensor part = Where(small, Square(eddy_sinh(near)), Exp(Mul(-2, size)));
    const eddy_tensor term = eddy_log1p(part), far = Sub(Add(size, term), 0.69314718055994531);
    const eddy_tensor losses = Where(small, Mul(0.5, term), far);
    return eddy__loss_weigh(who, losses, a.weights, a.reduction, a.collection);
}

#ifdef EDDY_HEADER
typedef struct eddy_quantile_loss_args {
    size_t              size_ EDDY_DEFAULT(sizeof(eddy_quantile_loss_args));
    eddy_tensor         labels, predictions;
    eddy_tensor         weights;      /* default: 1 */
    double              quantile EDDY_DEFAULT(0.5);     /* 0.5: the median */
    eddy_loss_reduction reduction;
    const char         *collection;   /* default: EDDY_LOSSES; "": none */
} eddy_quantile_loss_args;
#endif

/** y = max(q e, (q - 1) e) for each e = labels - predictions, weighted and reduced: minimal
 *  if the predictions are the quantile q of the labels.
 *
 *  labels, predictions, weights, reduction, collection  as for eddy_absolute_difference
 *  quantile                                             q, in [0, 1]
 *
 *  Errors: as for eddy_absolute_difference; EDDY_INVALID_ARGUMENT for an invalid quantile.
 *  Gradient: that of the formula; if e is 0, the limit from above.
 *  TensorFlow: none; also known as the pinball loss. */
eddy_tensor eddy_quantile_loss_with(const eddy_quantile_loss_args *given)
{
    eddy_quantile_loss_args a = EDDY_TAKE(eddy_quantile_loss_args, given);
    const char *who = "quantile_loss";
    const double q = a.quantile;
    const eddy_tensor labels = eddy__loss_labels(who, a.labels, a.predictions);
    if (!eddy__loss_option(a.predictions.graph, who, "quantile", q, 0, 1))
        return eddy_none(a.predictions.graph);
    const eddy_tensor error = Sub(labels, a.predictions);
    const eddy_tensor losses = Maximum(Mul(q, error), Mul(q - 1, error));
    return eddy__loss_weigh(who, losses, a.weights, a.reduction, a.collection);
}

/* ----------------------------------------------------------- log-likelihoods -- */

/** y = predictions - labels ln(predictions + 1e-7), weighted and reduced: the negative
 *  log-likelihood of the counts `labels` under Poisson distributions of mean `predictions`,
 *  without the terms that depend only on the labels.
 *
 *  labels, predictions, weights, reduction, collection  as for eddy_absolute_difference
 *
 *  Errors: as for eddy_absolute_difference.
 *  Gradient: that of the formula.  TensorFlow: tf.keras.losses.poisson. */
eddy_tensor eddy_poisson_loss_with(const eddy_loss_args *given)
{
    eddy_loss_args a = EDDY_TAKE(eddy_loss_args, given);
    const char *who = "poisson_loss";
    const eddy_tensor labels = eddy__loss_labels(who, a.labels, a.predictions);
    const eddy_tensor told = Mul(labels, Log(Add(a.predictions, 1e-7)));
    return eddy__loss_weigh(who, Sub(a.predictions, told), a.weights, a.reduction, a.collection);
}

#ifdef EDDY_HEADER
typedef struct eddy_log_poisson_loss_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_log_poisson_loss_args));
    eddy_tensor targets, log_input;
    bool        compute_full_loss;
} eddy_log_poisson_loss_args;
#endif

/** y = e^log_input - targets log_input, elementwise.
 *
 *  targets            counts, cast to the type of log_input; same shape
 *  log_input          float32 or float64, any shape; y has its type and shape
 *  compute_full_loss  add t ln t - t + ln(2 pi t) / 2, which is Stirling's formula for the
 *                     logarithm of a factorial, for targets t outside [0, 1]
 *
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE if the shapes differ.
 *  Gradient: that of the formula.  TensorFlow: tf.nn.log_poisson_loss. */
eddy_tensor eddy_log_poisson_loss_with(const eddy_log_poisson_loss_args *given)
{
    eddy_log_poisson_loss_args a = EDDY_TAKE(eddy_log_poisson_loss_args, given);
    const eddy_tensor t = eddy__loss_labels("log_poisson_loss", a.targets, a.log_input);
    const eddy_tensor y = Sub(Exp(a.log_input), Mul(t, a.log_input));
    if (!a.compute_full_loss) return y;
    const eddy_tensor small = LogicalAnd(GreaterEqual(t, 0), LessEqual(t, 1));
    const eddy_tensor n = Where(small, 1, t);       /* avoids the slope of ln 0 */
    const eddy_tensor half = Mul(0.5, Log(Mul(6.2831853071795865, n)));
    const eddy_tensor more = Add(Sub(Mul(n, Log(n)), n), half);
    return Add(y, Where(small, 0, more));
}

#ifdef EDDY_HEADER
typedef struct eddy_gaussian_nll_loss_args {
    size_t              size_ EDDY_DEFAULT(sizeof(eddy_gaussian_nll_loss_args));
    eddy_tensor         labels, predictions, variance;
    eddy_tensor         weights;      /* default: 1 */
    bool                full;
    double              epsilon EDDY_DEFAULT(1e-6);
    eddy_loss_reduction reduction;
    const char         *collection;   /* default: EDDY_LOSSES; "": none */
} eddy_gaussian_nll_loss_args;
#endif

/** y = (ln v + (predictions - labels)^2 / v) / 2 with v = max(variance, epsilon), weighted and
 *  reduced: the negative log-likelihood of the labels under normal distributions of these means
 *  and variances.
 *
 *  labels, predictions, weights, reduction, collection  as for eddy_absolute_difference
 *  variance                                             same type as the predictions, a shape that
 *                                                       broadcasts to theirs
 *  full                                                 add ln(2 pi) / 2
 *  epsilon                                              positive
 *
 *  Errors: as for eddy_absolute_difference; those of the operations that it is composed of.
 *  Gradient: that of the formula; a variance below epsilon has none.
 *  TensorFlow: none; PyTorch's gaussian_nll_loss. */
eddy_tensor eddy_gaussian_nll_loss_with(const eddy_gaussian_nll_loss_args *given)
{
    eddy_gaussian_nll_loss_args a = EDDY_TAKE(eddy_gaussian_nll_loss_args, given);
    const char *who = "gaussian_nll_loss";
    const eddy_tensor labels = eddy__loss_labels(who, a.labels, a.predictions);
    const eddy_tensor v = Maximum(a.variance, a.epsilon);
    const eddy_tensor squares = Div(SquaredDifference(a.predictions, labels), v);
    const eddy_tensor half = Mul(0.5, Add(Log(v), squares));
    const eddy_tensor losses = a.full ? Add(half, 0.91893853320467274) : half;
    return eddy__loss_weigh(who, losses, a.weights, a.reduction, a.collection);
}

/* ------------------------------------------------------------- differences -- */

#ifdef EDDY_HEADER
typedef struct eddy_mean_pairwise_squared_error_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_mean_pairwise_squared_error_args));
    eddy_tensor labels, predictions;
    eddy_tensor weights;              /* default: 1 */
    const char *collection;           /* default: EDDY_LOSSES; "": none */
} eddy_mean_pairwise_squared_error_args;
#endif

/* All axes except the first. */
static eddy_dims inner_axes(int rank)
{
    eddy_dims axes = EDDY_NO_DIMS;
    for (int i = 1; i < rank; i++) {
        axes.count = i;
        axes.at[i - 1] = i;
    }
    return axes;
}

/* The mean of (e_i - e_j)^2 over the pairs of n errors: 2 sum e^2 / (n - 1) minus
 * 2 (sum e)^2 / (n (n - 1)), for each example, after subtraction of their mean. */
static eddy_tensor pairwise(eddy_tensor e, eddy_tensor present, eddy_dims axes)
{
    const eddy_tensor n = Sum(present, axes, .keepdims = true);
    const eddy_tensor less = Maximum(Sub(n, 1), 0);
    const eddy_tensor error = Sub(e, StopGradient(Mean(e, axes, .keepdims = true)));
    const eddy_tensor squares = Sum(Square(error), axes, .keepdims = true);
    const eddy_tensor sum = Sum(error, axes, .keepdims = true);
    return Mul(2, Sub(DivNoNan(squares, less), DivNoNan(Square(sum), Mul(n, less))));
}

/** y = the mean over all pairs i, j of ((predictions_i - predictions_j) - (labels_i -
 *  labels_j))^2 within each example, times its weight, summed over the examples.
 *
 *  labels       numbers, cast to the type of the predictions; same shape
 *  predictions  float32 or float64, one example per row; the rank must be known
 *  weights      as for eddy_compute_weighted_loss, a scalar or of shape [n, 1, ...]
 *  collection   likewise
 *
 *  Examples with fewer than two values, or with weight 0, count as 0.
 *  Errors: as for eddy_absolute_difference; EDDY_BAD_SHAPE if the rank is unknown.
 *  Gradient: that of the formula.  TensorFlow: tf.losses.mean_pairwise_squared_error. */
eddy_tensor eddy_mean_pairwise_squared_error_with(
    const eddy_mean_pairwise_squared_error_args *given)
{
    eddy_mean_pairwise_squared_error_args a =
        EDDY_TAKE(eddy_mean_pairwise_squared_error_args, given);
    const char *who = "mean_pairwise_squared_error";
    const eddy_tensor labels = eddy__loss_labels(who, a.labels, a.predictions);
    const eddy_tensor error = Sub(a.predictions, labels);
    const eddy_shape s = eddy_shape_of(error);
    if (eddy_is_valid(error) && s.rank < 0)
        return eddy_fail(error.graph, EDDY_BAD_SHAPE, "%s: the rank is unknown", who);
    const eddy_tensor w = eddy__loss_weights(who, a.weights, error);
    const eddy_tensor present = w.graph ? CastLike(NotEqual(w, 0), error) : OnesLike(error);
    const eddy_tensor each = pairwise(error, present, inner_axes(s.rank));
    const eddy_tensor y = w.graph ? Mul(each, CastLike(a.weights, error)) : each;
    return eddy_add_loss(Sum(y), a.collection);
}
