/* loss_weights.c -- weights and sums of losses, the collection of losses, and regularization;
 * composed of other operations. */
#include "ops/formulas/losses.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "ops/short_names.h"

#include <math.h>
#include <string.h>

#ifdef EDDY_HEADER
/* How weighted losses are reduced to one. */
typedef enum eddy_loss_reduction {
    EDDY_LOSS_SUM_BY_NONZERO_WEIGHTS, /* default: divided by the number of nonzero weights */
    EDDY_LOSS_NONE,                   /* no reduction */
    EDDY_LOSS_SUM,
    EDDY_LOSS_MEAN,                   /* the sum divided by the sum of the weights */
    EDDY_LOSS_SUM_OVER_BATCH_SIZE     /* the sum divided by the number of losses */
} eddy_loss_reduction;

typedef struct eddy_compute_weighted_loss_args {
    size_t              size_ EDDY_DEFAULT(sizeof(eddy_compute_weighted_loss_args));
    eddy_tensor         losses;
    eddy_tensor         weights;      /* default: 1 */
    eddy_loss_reduction reduction;
    const char         *collection;   /* default: EDDY_LOSSES; "": none */
} eddy_compute_weighted_loss_args;

/* Arguments of the losses that have no other options. */
typedef struct eddy_loss_args {
    size_t              size_ EDDY_DEFAULT(sizeof(eddy_loss_args));
    eddy_tensor         labels, predictions;
    eddy_tensor         weights;      /* default: 1 */
    eddy_loss_reduction reduction;
    const char         *collection;   /* default: EDDY_LOSSES; "": none */
} eddy_loss_args;
#endif

/** y = the losses times their weights, reduced.
 *
 *  losses      float32 or float64, any shape
 *  weights     numbers or bool: a scalar, or with the rank of the losses, where each dimension
 *              is that of the losses or 1; default: 1
 *  reduction   EDDY_LOSS_SUM_BY_NONZERO_WEIGHTS (default): the sum divided by the number of
 *              losses with a nonzero weight; EDDY_LOSS_MEAN: the sum divided by the sum of the
 *              weights; EDDY_LOSS_SUM_OVER_BATCH_SIZE: the sum divided by the number of losses;
 *              EDDY_LOSS_SUM: the sum; EDDY_LOSS_NONE: no sum, y has the shape of the losses
 *  collection  the collection to which y is added; default: EDDY_LOSSES; "": none
 *
 *  A division by 0 gives 0, so the loss of an empty batch is 0.  A loss that is NaN gives NaN,
 *  even with a weight of 0.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE if the weights do not match;
 *  EDDY_INVALID_ARGUMENT for an unknown reduction.
 *  Gradient: that of the formula; the number of nonzero weights has none.
 *  TensorFlow: tf.losses.compute_weighted_loss. */
eddy_tensor eddy_compute_weighted_loss_with(const eddy_compute_weighted_loss_args *given)
{
    eddy_compute_weighted_loss_args a = EDDY_TAKE(eddy_compute_weighted_loss_args, given);
    return eddy__loss_weigh("compute_weighted_loss", a.losses, a.weights, a.reduction,
                            a.collection);
}

/* ------------------------------------------------------------- collection -- */

/** Adds a loss to a collection, and returns the loss.
 *
 *  loss        any tensor; must be a scalar for eddy_get_total_loss
 *  collection  NULL: EDDY_LOSSES; "": none
 *
 *  TensorFlow: tf.losses.add_loss. */
eddy_tensor eddy_add_loss(eddy_tensor loss, const char *collection)
{
    const char *key = collection ? collection : EDDY_LOSSES;
    if (eddy_is_valid(loss) && key[0]) eddy_collection_add(loss.graph, key, loss);
    return loss;
}

/* total + the members of a collection whose names begin with `scope`. */
static eddy_tensor add_members(eddy_graph *g, const char *key, const char *scope,
                               eddy_tensor total)
{
    const size_t n = scope ? strlen(scope) : 0;
    for (int i = 0; i < eddy_collection_size(g, key); i++) {
        const eddy_tensor t = eddy_collection_at(g, key, i);
        if (n && strncmp(eddy_name_of(t), scope, n) != 0) continue;
        total = total.graph ? eddy_add_n(EDDY_LIST(total, t), NULL) : t;
    }
    return total;
}

/** y = the sum of the regularization losses, EDDY_REGULARIZATION_LOSSES.
 *
 *  g      the graph
 *  scope  only losses whose names begin with it; NULL: all
 *
 *  A float32 0 if there are none.
 *  Errors: EDDY_BAD_SHAPE or EDDY_BAD_DTYPE if the losses differ in shape or type.
 *  Gradient: 1 for each.  TensorFlow: tf.losses.get_regularization_loss. */
eddy_tensor eddy_get_regularization_loss(eddy_graph *g, const char *scope)
{
    const eddy_tensor none = EDDY_NO_TENSOR;
    const eddy_tensor sum = add_members(g, EDDY_REGULARIZATION_LOSSES, scope, none);
    return sum.graph ? sum : eddy_number(g, EDDY_FLOAT32, 0);
}

#ifdef EDDY_HEADER
typedef struct eddy_get_total_loss_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_get_total_loss_args));
    eddy_graph *graph;
    bool        without_regularization;
    const char *scope;                /* default: all losses */
} eddy_get_total_loss_args;
#endif

/** y = the sum of the losses in EDDY_LOSSES and in EDDY_REGULARIZATION_LOSSES.
 *
 *  graph                   the graph of the losses
 *  without_regularization  only EDDY_LOSSES
 *  scope                   only losses whose names begin with it; default: all
 *
 *  Errors: EDDY_INVALID_ARGUMENT if there are none; EDDY_BAD_SHAPE or EDDY_BAD_DTYPE if they
 *  differ in shape or type.
 *  Gradient: 1 for each.  TensorFlow: tf.losses.get_total_loss. */
eddy_tensor eddy_get_total_loss_with(const eddy_get_total_loss_args *given)
{
    eddy_get_total_loss_args a = EDDY_TAKE(eddy_get_total_loss_args, given);
    eddy_tensor sum = EDDY_NO_TENSOR;
    sum = add_members(a.graph, EDDY_LOSSES, a.scope, sum);
    if (!a.without_regularization)
        sum = add_members(a.graph, EDDY_REGULARIZATION_LOSSES, a.scope, sum);
    return sum.graph ? sum
         : eddy_fail(a.graph, EDDY_INVALID_ARGUMENT, "get_total_loss: there are no losses");
}

/* ------------------------------------------------------------- regularizers -- */

/** y = scale times the sum of |x|.
 *
 *  x      float32, float64, complex64 or complex128, any shape
 *  scale  at least 0
 *
 *  Errors: EDDY_INVALID_ARGUMENT for a negative scale.
 *  Gradient: dx = dy scale sign(x).  TensorFlow: tf.contrib.layers.l1_regularizer. */
eddy_tensor eddy_l1_regularizer(eddy_tensor x, double scale)
{
    if (!eddy__loss_option(x.graph, "l1_regularizer", "scale", scale, 0, (double)INFINITY))
        return eddy_none(x.graph);
    return Mul(scale, Sum(Abs(x)));
}

/** y = scale times half the sum of x^2.
 *
 *  x      float32 or float64, any shape
 *  scale  at least 0
 *
 *  Errors: EDDY_INVALID_ARGUMENT for a negative scale; EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy scale x.  TensorFlow: tf.contrib.layers.l2_regularizer. */
eddy_tensor eddy_l2_regularizer(eddy_tensor x, double scale)
{
    if (!eddy__loss_option(x.graph, "l2_regularizer", "scale", scale, 0, (double)INFINITY))
        return eddy_none(x.graph);
    return Mul(scale, eddy_l2_loss(x));
}

/** y = the sum of eddy_l1_regularizer and eddy_l2_regularizer.
 *
 *  x             float32 or float64, any shape
 *  scale_l1      at least 0
 *  scale_l2      at least 0
 *
 *  A term whose scale is 0 is omitted.
 *  Errors, gradient: those of the two.  TensorFlow: tf.contrib.layers.l1_l2_regularizer. */
eddy_tensor eddy_l1_l2_regularizer(eddy_tensor x, double scale_l1, double scale_l2)
{
    if (scale_l1 == 0) return eddy_l2_regularizer(x, scale_l2);
    if (scale_l2 == 0) return eddy_l1_regularizer(x, scale_l1);
    return Add(eddy_l1_regularizer(x, scale_l1), eddy_l2_regularizer(x, scale_l2));
}

/** y = the sum of eddy_l1_l2_regularizer over all weights, added to EDDY_REGULARIZATION_LOSSES.
 *
 *  weights   one or more, of one type
 *  scale_l1  at least 0
 *  scale_l2  at least 0
 *
 *  Errors, gradient: those of eddy_l1_l2_regularizer.
 *  TensorFlow: tf.contrib.layers.apply_regularization. */
eddy_tensor eddy_apply_regularization(eddy_list weights, double scale_l1, double scale_l2)
{
    eddy_tensor sum = EDDY_NO_TENSOR;
    for (int i = 0; weights.at && i < weights.count; i++) {
        const eddy_tensor y = eddy_l1_l2_regularizer(weights.at[i], scale_l1, scale_l2);
        sum = i ? Add(sum, y) : y;
    }
    return eddy_add_loss(sum, EDDY_REGULARIZATION_LOSSES);
}

/* ------------------------------------------------------------------ tools -- */

static bool floats(const char *who, eddy_tensor x)
{
    const eddy_dtype d = eddy_dtype_of(x);
    if (!eddy_is_valid(x) || eddy_dtype_is_floating(d)) return true;
    eddy_fail(x.graph, EDDY_BAD_DTYPE, "%s: losses are %s; float32 or float64 expected", who,
              eddy_dtype_name(d));
    return false;
}

eddy_tensor eddy__loss_labels(const char *who, eddy_tensor labels, eddy_tensor predictions)
{
    const eddy_shape a = eddy_shape_of(labels), b = eddy_shape_of(predictions);
    char first[128], second[128];
    if (!eddy_is_valid(labels) || !eddy_is_valid(predictions)) return labels;
    if (!floats(who, predictions)) return eddy_none(labels.graph);
    if (!eddy_shape_compatible(a, b))
        return eddy_fail(labels.graph, EDDY_BAD_SHAPE,
                         "%s: labels %s and predictions %s differ in shape", who,
                         eddy_shape_print(a, first, sizeof first),
                         eddy_shape_print(b, second, sizeof second));
    return CastLike(labels, predictions);
}

/* Whether the weights are scalar, or each dimension is that of the losses or 1, as far as known. */
static bool weights_fit(eddy_shape w, eddy_shape losses)
{
    if (w.rank <= 0 || losses.rank < 0) return true;
    bool fit = w.rank == losses.rank;
    for (int i = 0; fit && i < w.rank; i++)
        fit = w.dim[i] == 1 || w.dim[i] == EDDY_ANY || losses.dim[i] == EDDY_ANY ||
              w.dim[i] == losses.dim[i];
    return fit;
}

eddy_tensor eddy__loss_weights(const char *who, eddy_tensor weights, eddy_tensor losses)
{
    const eddy_shape w = eddy_shape_of(weights), s = eddy_shape_of(losses);
    char first[128], second[128];
    if (!eddy_is_valid(weights) || !eddy_is_valid(losses)) return weights;
    if (!weights_fit(w, s))
        return eddy_fail(losses.graph, EDDY_BAD_SHAPE,
                         "%s: weights %s do not broadcast to losses %s", who,
                         eddy_shape_print(w, first, sizeof first),
                         eddy_shape_print(s, second, sizeof second));
    return BroadcastLike(CastLike(weights, losses), losses);
}

bool eddy__loss_option(eddy_graph *g, const char *who, const char *what, double v, double least,
                       double most)
{
    if (v >= least && v <= most) return true;
    eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s is %g, which is not in [%g, %g]", who, what, v,
              least, most);
    return false;
}

/* The divisor of the sum. */
static eddy_tensor divisor(eddy_tensor losses, eddy_tensor w, eddy_loss_reduction reduction)
{
    if (w.graph && reduction == EDDY_LOSS_MEAN) return Sum(w);
    if (w.graph && reduction == EDDY_LOSS_SUM_BY_NONZERO_WEIGHTS)
        return Sum(CastLike(NotEqual(w, 0), losses));
    return CastLike(eddy_size(losses, EDDY_INT64), losses);
}

static eddy_tensor reduced(eddy_tensor losses, eddy_tensor w, eddy_loss_reduction reduction)
{
    const eddy_tensor each = w.graph ? Mul(losses, w) : losses;
    if (reduction == EDDY_LOSS_NONE) return each;
    const eddy_tensor sum = Sum(each);
    if (reduction == EDDY_LOSS_SUM) return sum;
    return DivNoNan(sum, divisor(losses, w, reduction));
}

eddy_tensor eddy__loss_weigh(const char *who, eddy_tensor losses, eddy_tensor weights,
                             eddy_loss_reduction reduction, const char *collection)
{
    if (!floats(who, losses)) return eddy_none(losses.graph);
    if ((unsigned)reduction > EDDY_LOSS_SUM_OVER_BATCH_SIZE)
        return eddy_fail(losses.graph, EDDY_INVALID_ARGUMENT, "%s: unknown reduction %d", who,
                         (int)reduction);
    const eddy_tensor w = eddy__loss_weights(who, weights, losses);
    return eddy_add_loss(reduced(losses, w, reduction), collection);
}
