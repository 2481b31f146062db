/* losses_pairwise.c -- losses of pairs and triplets of vectors: cosine similarity, margin
 * ranking, contrastive and triplet losses; composed of other operations, with the weights of
 * ops/formulas/loss_weights.c. */
#include "ops/formulas/losses.h"
#include "graph/call_options.h"
#include "ops/short_names.h"

#include <math.h>

static eddy_dims or_last(eddy_dims axis) { return eddy_dims_or(axis, EDDY_AXES(-1)); }

/* ------------------------------------------------------------------ angles -- */

#ifdef EDDY_HEADER
typedef struct eddy_cosine_similarity_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_cosine_similarity_args));
    eddy_tensor a, b;
    eddy_dims   axis;                 /* of the vectors, EDDY_AXES(0); default: the last */
    double      epsilon EDDY_DEFAULT(1e-12);
} eddy_cosine_similarity_args;
#endif

/** y = a b / (|a| |b|) for vectors along `axis`: the cosine of the angle between them.
 *
 *  a, b     float32, float64, complex64 or complex128, of one type, shapes that broadcast;
 *           a complex b is conjugated
 *  axis     of the vectors, as a list; default: the last
 *  epsilon  lower bound of the squared lengths, so that a zero vector gives 0
 *
 *  y has the broadcast shape without the axis.
 *  Errors: those of eddy_l2_normalize, eddy_mul and eddy_sum.
 *  Gradient: that of the formula.
 *  TensorFlow: tf.keras.losses.cosine_similarity, which has the other sign. */
eddy_tensor eddy_cosine_similarity_with(const eddy_cosine_similarity_args *given)
{
    eddy_cosine_similarity_args a = EDDY_TAKE(eddy_cosine_similarity_args, given);
    const eddy_dims   axis = or_last(a.axis);
    const eddy_tensor p = eddy_l2_normalize(a.a, .axes = axis, .epsilon = a.epsilon);
    const eddy_tensor q = eddy_l2_normalize(a.b, .axes = axis, .epsilon = a.epsilon);
    return Sum(Mul(p, Conj(q)), axis);
}

#ifdef EDDY_HEADER
typedef struct eddy_cosine_distance_args {
    size_t              size_ EDDY_DEFAULT(sizeof(eddy_cosine_distance_args));
    eddy_tensor         labels, predictions;
    eddy_dims           axis;         /* of the vectors, EDDY_AXES(0); default: the last */
    eddy_tensor         weights;      /* default: 1 */
    eddy_loss_reduction reduction;
    const char         *collection;   /* default: EDDY_LOSSES; "": none */
} eddy_cosine_distance_args;
#endif

/** y = 1 - the sum of labels predictions along `axis`, weighted and reduced: the cosine distance
 *  of vectors that are assumed to have length 1.
 *
 *  labels                          numbers, cast to the type of the predictions; same shape
 *  predictions                     float32 or float64; see eddy_l2_normalize
 *  axis                            as a list; default: the last
 *  weights, reduction, collection  as for eddy_compute_weighted_loss; the losses keep the axis,
 *                                  with size 1
 *
 *  Errors: EDDY_BAD_DTYPE for other predictions; EDDY_BAD_SHAPE if the shapes differ; those of
 *  eddy_sum and eddy_compute_weighted_loss.
 *  Gradient: that of the formula.  TensorFlow: tf.losses.cosine_distance. */
eddy_tensor eddy_cosine_distance_with(const eddy_cosine_distance_args *given)
{
    eddy_cosine_distance_args a = EDDY_TAKE(eddy_cosine_distance_args, given);
    const char *who = "cosine_distance";
    const eddy_tensor labels = eddy__loss_labels(who, a.labels, a.predictions);
    const eddy_tensor near = Sum(Mul(a.predictions, labels), or_last(a.axis), .keepdims = true);
    return eddy__loss_weigh(who, Sub(1, near), a.weights, a.reduction, a.collection);
}

#ifdef EDDY_HEADER
/* Arguments of the losses of two tensors with labels that state their relation. */
typedef struct eddy_pair_loss_args {
    size_t              size_ EDDY_DEFAULT(sizeof(eddy_pair_loss_args));
    eddy_tensor         a, b, labels;
    eddy_tensor         weights;      /* default: 1 */
    double              margin;
    eddy_loss_reduction reduction;
    const char         *collection;   /* default: EDDY_LOSSES; "": none */
} eddy_pair_loss_args;
#endif

/** y = 1 - c where the label is 1, and max(0, c - margin) elsewhere, where c is the cosine of the
 *  angle between vectors of a and of b along the last axis; weighted and reduced.
 *
 *  a, b                            float32 or float64, of one type, [..., d]
 *  labels                          1 or -1, [...], cast to their type
 *  margin                          default: 0
 *  weights, reduction, collection  as for eddy_compute_weighted_loss, with losses [...]
 *
 *  Errors: as for eddy_cosine_similarity and eddy_cosine_distance.
 *  Gradient: that of the formula.  TensorFlow: none; PyTorch's cosine_embedding_loss. */
eddy_tensor eddy_cosine_embedding_loss_with(const eddy_pair_loss_args *given)
{
    eddy_pair_loss_args a = EDDY_TAKE(eddy_pair_loss_args, given);
    const char *who = "cosine_embedding_loss";
    const eddy_tensor c = eddy_cosine_similarity(a.a, a.b);
    const eddy_tensor labels = eddy__loss_labels(who, a.labels, c);
    const eddy_tensor losses = Where(Equal(labels, 1), Sub(1, c), Relu(Sub(c, a.margin)));
    return eddy__loss_weigh(who, losses, a.weights, a.reduction, a.collection);
}

/* ---------------------------------------------------------------- distances -- */

/** y = max(0, margin - labels (a - b)), weighted and reduced: a should be above b where
 *  the label is 1, and below it where it is -1.
 *
 *  a, b                            float32 or float64, of one type, shapes that broadcast
 *  labels                          1 or -1, cast to their type, with their common shape
 *  margin                          default: 0
 *  weights, reduction, collection  as for eddy_compute_weighted_loss
 *
 *  Errors: as for eddy_sub and eddy_cosine_distance.
 *  Gradient: that of the formula.  TensorFlow: none; PyTorch's margin_ranking_loss. */
eddy_tensor eddy_margin_ranking_loss_with(const eddy_pair_loss_args *given)
{
    eddy_pair_loss_args a = EDDY_TAKE(eddy_pair_loss_args, given);
    const char *who = "margin_ranking_loss";
    const eddy_tensor above = Sub(a.a, a.b), labels = eddy__loss_labels(who, a.labels, above);
    const eddy_tensor losses = Relu(Sub(a.margin, Mul(labels, above)));
    return eddy__loss_weigh(who, losses, a.weights, a.reduction, a.collection);
}

#ifdef EDDY_HEADER
typedef struct eddy_contrastive_loss_args {
    size_t              size_ EDDY_DEFAULT(sizeof(eddy_contrastive_loss_args));
    eddy_tensor         a, b, labels;
    eddy_tensor         weights;      /* default: 1 */
    double              margin EDDY_DEFAULT(1);
    eddy_loss_reduction reduction;
    const char         *collection;   /* default: EDDY_LOSSES; "": none */
} eddy_contrastive_loss_args;
#endif

/** y = d^2 where the label is 1, max(0, margin - d)^2 where it is 0, where d is the distance
 *  between vectors of a and of b along the last axis; weighted and reduced.
 *
 *  a, b                            float32 or float64, of one type, [..., d]
 *  labels                          0 or 1, [...], cast to their type
 *  weights, reduction, collection  as for eddy_compute_weighted_loss, with losses [...]
 *
 *  Errors: as for eddy_sub and eddy_cosine_distance.
 *  Gradient: that of the formula, with 0 at a distance of 0, where TensorFlow's is NaN.
 *  TensorFlow: tf.contrib.losses.metric_learning.contrastive_loss. */
eddy_tensor eddy_contrastive_loss_with(const eddy_contrastive_loss_args *given)
{
    eddy_contrastive_loss_args a = EDDY_TAKE(eddy_contrastive_loss_args, given);
    const char *who = "contrastive_loss";
    const eddy_tensor d = eddy_norm(Sub(a.a, a.b), .axes = EDDY_AXES(-1));
    const eddy_tensor same = eddy__loss_labels(who, a.labels, d);
    const eddy_tensor squares = Sum(SquaredDifference(a.a, a.b), EDDY_AXES(-1));
    const eddy_tensor apart = Square(Relu(Sub(a.margin, d)));
    const eddy_tensor losses = Add(Mul(same, squares), Mul(Sub(1, same), apart));
    return eddy__loss_weigh(who, losses, a.weights, a.reduction, a.collection);
}

#ifdef EDDY_HEADER
typedef struct eddy_triplet_margin_loss_args {
    size_t              size_ EDDY_DEFAULT(sizeof(eddy_triplet_margin_loss_args));
    eddy_tensor         anchor, positive, negative;
    eddy_tensor         weights;      /* default: 1 */
    double              margin EDDY_DEFAULT(1);
    bool                swap, squared;
    eddy_loss_reduction reduction;
    const char         *collection;   /* default: EDDY_LOSSES; "": none */
} eddy_triplet_margin_loss_args;
#endif

/* Along the last axis; as in PyTorch, 1e-6 is added to avoid a root of 0. */
static eddy_tensor distance(eddy_tensor a, eddy_tensor b, bool squared)
{
    if (squared) return Sum(SquaredDifference(a, b), EDDY_AXES(-1));
    return eddy_norm(Add(Sub(a, b), 1e-6), .axes = EDDY_AXES(-1));
}

/** y = max(0, d(anchor, positive) - d(anchor, negative) + margin), where d is the distance along
 *  the last axis; weighted and reduced.
 *
 *  anchor, positive, negative      float32 or float64, of one type, [..., d]
 *  weights, reduction, collection  as for eddy_compute_weighted_loss, with losses [...]
 *  swap                            use d(positive, negative) where it is smaller than
 *                                  d(anchor, negative)
 *  squared                         d is the squared distance
 *
 *  Errors: as for eddy_sub and eddy_compute_weighted_loss.
 *  Gradient: that of the formula.  TensorFlow: none; PyTorch's triplet_margin_loss. */
eddy_tensor eddy_triplet_margin_loss_with(const eddy_triplet_margin_loss_args *given)
{
    eddy_triplet_margin_loss_args a = EDDY_TAKE(eddy_triplet_margin_loss_args, given);
    const double margin = a.margin;
    const eddy_tensor near = distance(a.anchor, a.positive, a.squared);
    eddy_tensor far = distance(a.anchor, a.negative, a.squared);
    if (a.swap) far = Minimum(far, distance(a.positive, a.negative, a.squared));
    const eddy_tensor losses = Relu(Add(Sub(near, far), margin));
    return eddy__loss_weigh("triplet_margin_loss", losses, a.weights, a.reduction, a.collection);
}

/* -------------------------------------------------------------------- triplets -- */

#ifdef EDDY_HEADER
typedef struct eddy_triplet_semihard_loss_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_triplet_semihard_loss_args));
    eddy_tensor labels, embeddings;
    double      margin EDDY_DEFAULT(1);
} eddy_triplet_semihard_loss_args;
#endif

/* y[i,j] = f(v[i], v[j]). */
static eddy_tensor across(eddy_tensor (*f)(eddy_tensor a, eddy_tensor b), eddy_tensor v)
{
    return f(ExpandDims(v, 1), ExpandDims(v, 0));
}

/* The squared distance of each row of x from each, [n, n]; not negative. */
static eddy_tensor squared_distances(eddy_tensor x)
{
    const eddy_tensor squares = Sum(Square(x), EDDY_AXES(1));
    const eddy_tensor twice = Mul(2, MatMul(x, x, .transpose_b = true));
    return Relu(Sub(across(eddy_add, squares), twice));
}

/* d[i,k] for the nearest k with another label that is farther from i than j is; if there is none,
 * for the farthest k with another label. */
static eddy_tensor semihard(eddy_tensor d, eddy_tensor other)
{
    const eddy_tensor ik = ExpandDims(d, 1), ij = ExpandDims(d, 2);
    const eddy_tensor further = LogicalAnd(ExpandDims(other, 1), Greater(ik, ij));
    const eddy_tensor nearest = Min(Where(further, ik, (double)INFINITY), EDDY_AXES(2));
    const eddy_tensor least = Min(d, EDDY_AXES(1), .keepdims = true);
    const eddy_tensor furthest = Max(Where(other, d, least), EDDY_AXES(1), .keepdims = true);
    return Where(eddy_any(further, EDDY_AXES(2)), nearest, furthest);
}

/** y = the mean of max(0, d(i, j) - d(i, k) + margin) over all pairs i, j with the same label,
 *  where d is the squared distance and k the nearest example with another label that is farther
 *  from i than j is; if there is none, the farthest with another label.
 *
 *  labels      [n], numbers
 *  embeddings  float32 or float64, [n, d], usually of length 1
 *
 *  Needs memory for n^3 distances.  Without pairs, it is 0.  It is not added to a collection.
 *  Errors: those of the operations that it is composed of.
 *  Gradient: that of the formula, with the choice of k held constant.
 *  TensorFlow: tf.contrib.losses.metric_learning.triplet_semihard_loss. */
eddy_tensor eddy_triplet_semihard_loss_with(const eddy_triplet_semihard_loss_args *given)
{
    eddy_triplet_semihard_loss_args a = EDDY_TAKE(eddy_triplet_semihard_loss_args, given);
    const double margin = a.margin;
    const eddy_tensor x = a.embeddings, rows = eddy_row_numbers(x, EDDY_INT32);
    const eddy_tensor apart = across(eddy_not_equal, rows);
    const eddy_tensor other = across(eddy_not_equal, a.labels);
    const eddy_tensor d = Mul(squared_distances(x), CastLike(apart, x));
    const eddy_tensor pair = CastLike(LogicalAnd(apart, LogicalNot(other)), x);
    const eddy_tensor each = Relu(Add(Sub(d, semihard(d, other)), margin));
    return DivNoNan(Sum(Mul(each, pair)), Sum(pair));
}
