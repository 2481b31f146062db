/* log_probs_multivariate.c -- log-probabilities, entropies and KL divergences of discrete and
 * multivariate distributions: categorical, Dirichlet and multivariate normal, and samples of the
 * last; composed of other operations. */
#include "ops/linear/linear.h"
#include "graph/call_options.h"
#include "ops/formulas/log_probs.h"
#include "ops/short_names.h"
#include "ops/random/random.h"

static const double half_log_2pi = 0x1.d67f1c864beb5p-1;

static eddy_tensor none(eddy_tensor x) { return eddy_none(x.graph); }

/* ------------------------------------------------------------- categorical -- */

/** y = ln of the probability of class x, where classes have the probabilities softmax(logits).
 *
 *  x       int32 or int64 [...], in [0, n)
 *  logits  float32 or float64 [..., n]
 *
 *  Errors: EDDY_BAD_DTYPE, and those of eddy_sparse_softmax_cross_entropy.
 *  Gradient: dlogits = dy (1 at the class - softmax(logits)).
 *  TensorFlow: distributions.Categorical.log_prob. */
eddy_tensor eddy_categorical_log_prob(eddy_tensor x, eddy_tensor logits)
{
    if (!eddy__are_floats("categorical_log_prob", 1, &logits)) return none(logits);
    return Neg(eddy_sparse_softmax_cross_entropy(x, logits));
}

/** y = the entropy of classes with the probabilities softmax(logits).
 *
 *  logits  float32 or float64 [..., n]; y is [...]
 *
 *  A class with the logit -infinity has probability 0 and contributes 0.
 *  Errors: EDDY_BAD_DTYPE; those of eddy_softmax.
 *  Gradient: that of the formula.  TensorFlow: distributions.Categorical.entropy. */
eddy_tensor eddy_categorical_entropy(eddy_tensor logits)
{
    if (!eddy__are_floats("categorical_entropy", 1, &logits)) return none(logits);
    const eddy_tensor p = Softmax(logits), log = Where(Greater(p, 0), LogSoftmax(logits), 0);
    return Neg(Sum(Mul(log, p), EDDY_AXES(-1)));
}

/** y = the Kullback-Leibler divergence of one distribution of classes from another.
 *
 *  logits_a, logits_b  of the first and the second, float32 or float64 [..., n], of one type;
 *                      the shapes broadcast
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE if the shapes do not match.
 *  Gradient: that of the formula.
 *  TensorFlow: distributions.kl_divergence of two Categoricals. */
eddy_tensor eddy_categorical_kl(eddy_tensor logits_a, eddy_tensor logits_b)
{
    const eddy_tensor both[] = { logits_a, logits_b };
    if (!eddy__are_floats("categorical_kl", 2, both)) return none(logits_a);
    const eddy_tensor p = Softmax(logits_a);
    const eddy_tensor apart = Sub(LogSoftmax(logits_a), LogSoftmax(logits_b));
    return Sum(Mul(Where(Greater(p, 0), apart, 0), p), EDDY_AXES(-1));
}

/* --------------------------------------------------------------- dirichlet -- */

/** y = ln of the Dirichlet density: the sum of (c - 1) ln x, minus ln of the beta function of c.
 *
 *  x                  float32 or float64 [..., n], positive, with sum 1
 *  concentration (c)  same type, positive; the shapes broadcast; y is [...]
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE if the shapes do not match.
 *  Gradient: that of the formula.  TensorFlow: distributions.Dirichlet.log_prob. */
eddy_tensor eddy_dirichlet_log_prob(eddy_tensor x, eddy_tensor concentration)
{
    const eddy_tensor both[] = { x, concentration };
    if (!eddy__are_floats("dirichlet_log_prob", 2, both)) return none(x);
    const eddy_tensor power = eddy__times_log(Sub(concentration, 1), x);
    return Sub(Sum(power, EDDY_AXES(-1)), eddy_lbeta(concentration));
}

/** y = the entropy of a Dirichlet distribution.
 *
 *  concentration (c)  float32 or float64 [..., n], positive; y is [...]
 *
 *  ln of the beta function of c, plus (s - n) digamma(s), minus the sum of (c - 1) digamma(c),
 *  where s is the sum of c.
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE for a scalar.
 *  Gradient: that of the formula.  TensorFlow: distributions.Dirichlet.entropy. */
eddy_tensor eddy_dirichlet_entropy(eddy_tensor concentration)
{
    const eddy_tensor c = concentration;
    if (!eddy__are_floats("dirichlet_entropy", 1, &c)) return none(c);
    const eddy_tensor less = Sub(c, 1), sum = Sum(c, EDDY_AXES(-1));
    const eddy_tensor whole = Mul(Sum(less, EDDY_AXES(-1)), eddy_digamma(sum));
    return Add(eddy_lbeta(c), Sub(whole, Sum(Mul(less, eddy_digamma(c)), EDDY_AXES(-1))));
}

/* ------------------------------------------------------ normal vectors -- */

#ifdef EDDY_HEADER
typedef struct eddy_random_multivariate_normal_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_random_multivariate_normal_args));
    eddy_tensor loc;             /* [..., n] */
    eddy_tensor scale_tril;      /* [..., n, n] */
    eddy_dims    sample_shape;   /* leading axes; default: none */
    int64_t      seed;
    eddy_tensor  stateless_seed; /* two integers; default: none, `seed` is used */
    const char *name;
} eddy_random_multivariate_normal_args;
#endif

/* l z for each vector of z; if all share one matrix, as one product. */
static eddy_tensor times_each_vector(eddy_tensor l, eddy_tensor z)
{
    if (eddy_shape_of(l).rank == 2 && eddy_shape_of(z).rank >= 2) return eddy__times_adjoint(z, l);
    return Squeeze(eddy__times(l, ExpandDims(z, -1)), EDDY_AXES(-1));
}

/** y = loc + l z, where z are independent standard normal numbers: a normal vector with mean loc
 *  and covariance l l'.
 *
 *  loc             float32 or float64 [..., n]
 *  scale_tril (l)  same type, [..., n, n], the Cholesky factor of the covariance; only its
 *                  lower triangle is read; the leading dimensions broadcast
 *  sample_shape, seed, stateless_seed  as in eddy_random_poisson
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE if the shapes do not match.
 *  Gradient: dloc = dy, dl = the lower triangle of dy z', where z is held constant.
 *  TensorFlow: distributions.MultivariateNormalTriL.sample. */
eddy_tensor eddy_random_multivariate_normal_with(const eddy_random_multivariate_normal_args *given)
{
    eddy_random_multivariate_normal_args a = EDDY_TAKE(eddy_random_multivariate_normal_args, given);
    const eddy_source from = { a.seed, a.stateless_seed };
    const eddy_tensor both[] = { a.loc, a.scale_tril };
    if (!eddy__are_floats("random_multivariate_normal", 2, both)) return none(a.loc);
    eddy_scope_begin(a.loc.graph, a.name ? a.name : "random_multivariate_normal");
    const eddy_tensor l = eddy_tril(a.scale_tril, 0);
    eddy_tensor like = Add(a.loc, Sum(a.scale_tril, EDDY_AXES(-1))), y = none(a.loc);
    if (eddy__draw_operands("random_multivariate_normal", 1, &like, a.sample_shape))
        y = Add(a.loc, times_each_vector(l, eddy__normal_source(from, like)));
    eddy_scope_end(a.loc.graph);
    return y;
}

/* l^-1 x for each vector of x. */
static eddy_tensor whitened(eddy_tensor l, eddy_tensor x)
{
    return Squeeze(eddy_triangular_solve(l, ExpandDims(x, -1)), EDDY_AXES(-1));
}

static eddy_tensor log_diagonal(eddy_tensor l) { return Log(eddy_matrix_diag_part(l)); }

/** y = ln of the density of normal vectors: -|l^-1 (x - loc)|^2 / 2 - ln det l - n ln(2 pi) / 2.
 *
 *  x, loc          float32 or float64 [..., n], of one type
 *  scale_tril (l)  same type, [..., n, n], the Cholesky factor of the covariance, with a positive
 *                  diagonal; only its lower triangle is read; the leading dimensions
 *                  broadcast; y is [...]
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE if the shapes do not match; those of
 *  eddy_triangular_solve.
 *  Gradient: that of the formula.  TensorFlow: distributions.MultivariateNormalTriL.log_prob. */
eddy_tensor eddy_multivariate_normal_log_prob(eddy_tensor x, eddy_tensor loc,
                                              eddy_tensor scale_tril)
{
    const eddy_tensor all[] = { x, loc, scale_tril };
    if (!eddy__are_floats("multivariate_normal_log_prob", 3, all)) return none(x);
    const eddy_tensor z = whitened(scale_tril, Sub(x, loc));
    const eddy_tensor rest = Add(log_diagonal(scale_tril), half_log_2pi);
    return Neg(Sum(Add(Mul(0.5, Square(z)), rest), EDDY_AXES(-1)));
}

/** y = the entropy of normal vectors: ln det l + n (1 + ln(2 pi)) / 2.
 *
 *  scale_tril (l)  as for eddy_multivariate_normal_log_prob
 *
 *  Errors: as for eddy_multivariate_normal_log_prob.
 *  Gradient: that of the formula.  TensorFlow: distributions.MultivariateNormalTriL.entropy. */
eddy_tensor eddy_multivariate_normal_entropy(eddy_tensor scale_tril)
{
    if (!eddy__are_floats("multivariate_normal_entropy", 1, &scale_tril)) return none(scale_tril);
    return Sum(Add(log_diagonal(scale_tril), half_log_2pi + 0.5), EDDY_AXES(-1));
}

/** y = the Kullback-Leibler divergence of one multivariate normal distribution from another.
 *
 *  loc_a, scale_tril_a  the first, as for eddy_multivariate_normal_log_prob
 *  loc_b, scale_tril_b  the second, of the same type; the leading dimensions broadcast
 *
 *  (|l_b^-1 l_a|^2 + |l_b^-1 (loc_b - loc_a)|^2 - n) / 2 + ln det l_b - ln det l_a.
 *  Errors: as for eddy_multivariate_normal_log_prob.
 *  Gradient: that of the formula.
 *  TensorFlow: distributions.kl_divergence of two MultivariateNormalTriLs. */
eddy_tensor eddy_multivariate_normal_kl(eddy_tensor loc_a, eddy_tensor scale_tril_a,
                                        eddy_tensor loc_b, eddy_tensor scale_tril_b)
{
    const eddy_tensor all[] = { loc_a, scale_tril_a, loc_b, scale_tril_b };
    if (!eddy__are_floats("multivariate_normal_kl", 4, all)) return none(loc_a);
    const eddy_tensor ratio = eddy_triangular_solve(scale_tril_b, eddy_tril(scale_tril_a, 0));
    const eddy_tensor apart = whitened(scale_tril_b, Sub(loc_b, loc_a));
    const eddy_tensor squares = Add(Sum(Square(ratio), EDDY_AXES(-1)), Sub(Square(apart), 1));
    const eddy_tensor logs = Sub(log_diagonal(scale_tril_b), log_diagonal(scale_tril_a));
    return Sum(Add(Mul(0.5, squares), logs), EDDY_AXES(-1));
}
