/* log_probs.c -- log-probabilities, cumulative distribution functions and entropies of scalar
 * distributions; composed of other operations. ops/random/distributions.c and its neighbors draw
 * samples. */
#include "ops/formulas/log_probs.h"
#include "graph/base/dtype.h"
#include "ops/short_names.h"

#include <math.h>

static const double half_log_2pi = 0x1.d67f1c864beb5p-1;
static const double log_2 = 0x1.62e42fefa39efp-1;

static eddy_graph *graph_of(int n, const eddy_tensor *x)
{
    for (int i = 0; i < n; i++)
        if (x[i].graph) return x[i].graph;
    return NULL;
}

bool eddy__are_floats(const char *who, int n, const eddy_tensor *x)
{
    for (int i = 0; i < n; i++) {
        const eddy_dtype d = eddy_dtype_of(x[i]);
        if (!eddy_is_valid(x[i])) return (void)eddy_fail(graph_of(n, x), EDDY_INVALID_ARGUMENT,
                                      "%s: operand %d is not a valid tensor", who, i), false;
        if (eddy_dtype_is_floating(d)) continue;
        eddy_fail(x[i].graph, EDDY_BAD_DTYPE, "%s: operand %d is %s; float32 or float64 expected",
                  who, i, eddy_dtype_name(d));
        return false;
    }
    return true;
}

/* The operands of a formula as an array. */
#define FLOATS(who, n, ...) (eddy__are_floats(who, n, (const eddy_tensor[]){ __VA_ARGS__ }))

static eddy_tensor none(eddy_tensor x) { return eddy_none(x.graph); }

static eddy_tensor half_square(eddy_tensor z) { return Mul(0.5, Square(z)); }

static eddy_tensor standard(eddy_tensor x, eddy_tensor loc, eddy_tensor scale)
{
    return Div(Sub(x, loc), scale);
}

/* x inside the support, otherwise 1, so that values computed from it are finite. */
static eddy_tensor inside_or_1(eddy_tensor inside, eddy_tensor x)
{
    return Where(inside, x, OnesLike(x));
}

/* y inside the support; outside, the logarithm of a density of 0. */
static eddy_tensor or_never(eddy_tensor inside, eddy_tensor y)
{
    return Where(inside, y, -(double)INFINITY);
}

/* ------------------------------------------------------------------ normal -- */

/** y = ln of the normal density: -((x - loc) / scale)^2 / 2 - ln scale - ln(2 pi) / 2.
 *
 *  x, loc, scale  float32 or float64, of one type; the shapes broadcast; scale positive
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE if the shapes do not match.
 *  Gradient: that of the formula.  TensorFlow: distributions.Normal.log_prob. */
eddy_tensor eddy_normal_log_prob(eddy_tensor x, eddy_tensor loc, eddy_tensor scale)
{
    if (!FLOATS("normal_log_prob", 3, x, loc, scale)) return none(x);
    return Sub(Neg(half_square(standard(x, loc, scale))), Add(Log(scale), half_log_2pi));
}

/** y = the probability that a normal variable is below x: ndtr((x - loc) / scale).
 *
 *  x, loc, scale  as for eddy_normal_log_prob
 *
 *  Errors: as for eddy_normal_log_prob.
 *  Gradient: that of the formula.  TensorFlow: distributions.Normal.cdf. */
eddy_tensor eddy_normal_cdf(eddy_tensor x, eddy_tensor loc, eddy_tensor scale)
{
    if (!FLOATS("normal_cdf", 3, x, loc, scale)) return none(x);
    return eddy_ndtr(standard(x, loc, scale));
}

/** y = ln of the probability that a normal variable is below x, accurate far into the tail.
 *
 *  x, loc, scale  as for eddy_normal_log_prob
 *
 *  Errors: as for eddy_normal_log_prob.
 *  Gradient: that of the formula.  TensorFlow: distributions.Normal.log_cdf. */
eddy_tensor eddy_normal_log_cdf(eddy_tensor x, eddy_tensor loc, eddy_tensor scale)
{
    if (!FLOATS("normal_log_cdf", 3, x, loc, scale)) return none(x);
    return eddy_log_ndtr(standard(x, loc, scale));
}

/** y = the entropy of a normal distribution: ln scale + (1 + ln(2 pi)) / 2.
 *
 *  scale  float32 or float64, positive
 *
 *  Errors: EDDY_BAD_DTYPE.
 *  Gradient: dscale = dy / scale.  TensorFlow: distributions.Normal.entropy. */
eddy_tensor eddy_normal_entropy(eddy_tensor scale)
{
    if (!FLOATS("normal_entropy", 1, scale)) return none(scale);
    return Add(Log(scale), half_log_2pi + 0.5);
}

/** y = the Kullback-Leibler divergence of one normal distribution from another: the mean
 *  under the first of the logarithm of the first density divided by the second.
 *
 *  loc_a, scale_a  the first, float32 or float64, with a positive scale
 *  loc_b, scale_b  the second, of the same type; the shapes broadcast
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE if the shapes do not match.
 *  Gradient: that of the formula.  TensorFlow: distributions.kl_divergence of two Normals. */
eddy_tensor eddy_normal_kl(eddy_tensor loc_a, eddy_tensor scale_a, eddy_tensor loc_b,
                           eddy_tensor scale_b)
{
    if (!FLOATS("normal_kl", 4, loc_a, scale_a, loc_b, scale_b)) return none(loc_a);
    const eddy_tensor ratio = Square(Div(scale_a, scale_b));
    const eddy_tensor apart = half_square(standard(loc_a, loc_b, scale_b));
    return Add(apart, Mul(0.5, Sub(Sub(ratio, 1), Log(ratio))));
}

/* ----------------------------------------------------------------- uniform -- */

/** y = ln of the uniform density: -ln(high - low) for low <= x < high, else -infinity.
 *
 *  x, low, high  float32 or float64, of one type; the shapes broadcast; low below high
 *
 *  NaN for a NaN x.
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE if the shapes do not match.
 *  Gradient: dlow = dy / (high - low), dhigh = -dlow inside, and 0 outside; dx = 0.
 *  TensorFlow: distributions.Uniform.log_prob. */
eddy_tensor eddy_uniform_log_prob(eddy_tensor x, eddy_tensor low, eddy_tensor high)
{
    if (!FLOATS("uniform_log_prob", 3, x, low, high)) return none(x);
    const eddy_tensor outside = eddy_logical_or(Less(x, low), GreaterEqual(x, high));
    const eddy_tensor density = Add(Neg(Log(Sub(high, low))), Mul(0, x));
    return Where(outside, -(double)INFINITY, density);
}

/** y = the probability that a uniform variable is below x: (x - low) / (high - low), in [0, 1].
 *
 *  x, low, high  as for eddy_uniform_log_prob
 *
 *  Errors: as for eddy_uniform_log_prob.
 *  Gradient: that of the formula.  TensorFlow: distributions.Uniform.cdf. */
eddy_tensor eddy_uniform_cdf(eddy_tensor x, eddy_tensor low, eddy_tensor high)
{
    if (!FLOATS("uniform_cdf", 3, x, low, high)) return none(x);
    return Minimum(Maximum(standard(x, low, Sub(high, low)), 0), 1);
}

/** y = the entropy of a uniform distribution: ln(high - low).
 *
 *  low, high  as for eddy_uniform_log_prob
 *
 *  Errors: as for eddy_uniform_log_prob.
 *  Gradient: that of the formula.  TensorFlow: distributions.Uniform.entropy. */
eddy_tensor eddy_uniform_entropy(eddy_tensor low, eddy_tensor high)
{
    if (!FLOATS("uniform_entropy", 2, low, high)) return none(low);
    return Log(Sub(high, low));
}

/* --------------------------------------------------------------- bernoulli -- */

/** y = ln of the probability of x, 0 or 1, where `logits` is the log-odds of 1:
 *  x logits - softplus(logits).
 *
 *  x, logits  float32 or float64, of one type; the shapes broadcast
 *
 *  For x between 0 and 1 the formula interpolates, as in TensorFlow.
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE if the shapes do not match.
 *  Gradient: dlogits = dy (x - sigmoid(logits)), dx = dy logits.
 *  TensorFlow: distributions.Bernoulli.log_prob. */
eddy_tensor eddy_bernoulli_log_prob(eddy_tensor x, eddy_tensor logits)
{
    if (!FLOATS("bernoulli_log_prob", 2, x, logits)) return none(x);
    return Sub(Mul(x, logits), Softplus(logits));
}

/** y = the entropy of a Bernoulli distribution, where `logits` is the log-odds of 1.
 *
 *  logits  float32 or float64, any shape
 *
 *  Errors: EDDY_BAD_DTYPE.
 *  Gradient: dlogits = -dy logits p (1 - p), p = sigmoid(logits).
 *  TensorFlow: distributions.Bernoulli.entropy. */
eddy_tensor eddy_bernoulli_entropy(eddy_tensor logits)
{
    if (!FLOATS("bernoulli_entropy", 1, logits)) return none(logits);
    /* The entropy is even, and 0 with all its derivatives beyond 1000, where an infinite factor
     * would meet a 0. */
    const eddy_tensor size = Where(Less(logits, 0), Neg(logits), logits);
    const eddy_tensor a = Where(Greater(size, 1000), 1000, size);
    return Add(Mul(a, Sigmoid(Neg(a))), Softplus(Neg(a)));
}

/* ------------------------------------------------- exponential and laplace -- */

/** y = ln of the exponential density: ln rate - rate x for x >= 0, else -infinity.
 *
 *  x, rate  float32 or float64, of one type; the shapes broadcast; rate positive
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE if the shapes do not match.
 *  Gradient: that of the formula.  TensorFlow: distributions.Exponential.log_prob. */
eddy_tensor eddy_exponential_log_prob(eddy_tensor x, eddy_tensor rate)
{
    if (!FLOATS("exponential_log_prob", 2, x, rate)) return none(x);
    return Where(Less(x, 0), -(double)INFINITY, Sub(Log(rate), Mul(rate, x)));
}

/** y = the probability that an exponential variable is below x: 1 - e^(-rate x), at least 0.
 *
 *  x, rate  as for eddy_exponential_log_prob
 *
 *  Errors: as for eddy_exponential_log_prob.
 *  Gradient: that of the formula.  TensorFlow: distributions.Exponential.cdf. */
eddy_tensor eddy_exponential_cdf(eddy_tensor x, eddy_tensor rate)
{
    if (!FLOATS("exponential_cdf", 2, x, rate)) return none(x);
    return Neg(eddy_expm1(Neg(Mul(rate, Maximum(x, 0)))));
}

/** y = the entropy of an exponential distribution: 1 - ln rate.
 *
 *  rate  float32 or float64, positive
 *
 *  Errors: EDDY_BAD_DTYPE.
 *  Gradient: drate = -dy / rate.  TensorFlow: distributions.Exponential.entropy. */
eddy_tensor eddy_exponential_entropy(eddy_tensor rate)
{
    if (!FLOATS("exponential_entropy", 1, rate)) return none(rate);
    return Sub(1, Log(rate));
}

/** y = ln of the Laplace density: -|x - loc| / scale - ln(2 scale).
 *
 *  x, loc, scale  float32 or float64, of one type; the shapes broadcast; scale positive
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE if the shapes do not match.
 *  Gradient: that of the formula.  TensorFlow: distributions.Laplace.log_prob. */
eddy_tensor eddy_laplace_log_prob(eddy_tensor x, eddy_tensor loc, eddy_tensor scale)
{
    if (!FLOATS("laplace_log_prob", 3, x, loc, scale)) return none(x);
    return Sub(Neg(Abs(standard(x, loc, scale))), Add(Log(scale), log_2));
}

/** y = the probability that a Laplace variable is below x: with z = (x - loc) / scale, e^z / 2
 *  for z up to 0, and 1 - e^-z / 2 above.
 *
 *  x, loc, scale  as for eddy_laplace_log_prob
 *
 *  Errors: as for eddy_laplace_log_prob.
 *  Gradient: that of the formula.  TensorFlow: distributions.Laplace.cdf. */
eddy_tensor eddy_laplace_cdf(eddy_tensor x, eddy_tensor loc, eddy_tensor scale)
{
    if (!FLOATS("laplace_cdf", 3, x, loc, scale)) return none(x);
    const eddy_tensor z = standard(x, loc, scale);
    return Where(LessEqual(z, 0), Mul(0.5, Exp(Minimum(z, 0))),
                 Sub(1, Mul(0.5, Exp(Neg(Maximum(z, 0))))));
}

/** y = the entropy of a Laplace distribution: 1 + ln(2 scale).
 *
 *  scale  float32 or float64, positive
 *
 *  Errors: EDDY_BAD_DTYPE.
 *  Gradient: dscale = dy / scale.  TensorFlow: distributions.Laplace.entropy. */
eddy_tensor eddy_laplace_entropy(eddy_tensor scale)
{
    if (!FLOATS("laplace_entropy", 1, scale)) return none(scale);
    return Add(Log(scale), 1 + log_2);
}

/* ---------------------------------------------------------- gamma and beta -- */

/** y = ln of the gamma density: a ln rate + (a - 1) ln x - rate x - ln gamma(a) for x >= 0, else
 *  -infinity.
 *
 *  x, concentration (a), rate  float32 or float64, of one type; the shapes broadcast; the
 *                              parameters are positive
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE if the shapes do not match.
 *  Gradient: that of the formula.  TensorFlow: distributions.Gamma.log_prob. */
eddy_tensor eddy_gamma_log_prob(eddy_tensor x, eddy_tensor concentration, eddy_tensor rate)
{
    const eddy_tensor a = concentration;
    if (!FLOATS("gamma_log_prob", 3, x, a, rate)) return none(x);
    const eddy_tensor inside = eddy_logical_not(Less(x, 0)), at = inside_or_1(inside, x);
    const eddy_tensor power = Sub(eddy__times_log(Sub(a, 1), at), Mul(rate, at));
    return or_never(inside, Add(power, Sub(Mul(a, Log(rate)), eddy_lgamma(a))));
}

/** y = the probability that a gamma variable is below x: igamma(a, rate x), 0 for x < 0.
 *
 *  x, concentration (a), rate  as for eddy_gamma_log_prob
 *
 *  Errors: as for eddy_gamma_log_prob.
 *  Gradient: that of eddy_igamma.  TensorFlow: distributions.Gamma.cdf. */
eddy_tensor eddy_gamma_cdf(eddy_tensor x, eddy_tensor concentration, eddy_tensor rate)
{
    if (!FLOATS("gamma_cdf", 3, x, concentration, rate)) return none(x);
    return eddy_igamma(concentration, Mul(rate, Maximum(x, 0)));
}

/** y = the entropy of a gamma distribution: a - ln rate + ln gamma(a) + (1 - a) digamma(a).
 *
 *  concentration (a), rate  as for eddy_gamma_log_prob
 *
 *  Errors: as for eddy_gamma_log_prob.
 *  Gradient: that of the formula.  TensorFlow: distributions.Gamma.entropy. */
eddy_tensor eddy_gamma_entropy(eddy_tensor concentration, eddy_tensor rate)
{
    const eddy_tensor a = concentration;
    if (!FLOATS("gamma_entropy", 2, a, rate)) return none(a);
    const eddy_tensor rest = Add(eddy_lgamma(a), Mul(Sub(1, a), eddy_digamma(a)));
    return Add(Sub(a, Log(rate)), rest);
}

static eddy_tensor log_beta(eddy_tensor a, eddy_tensor b)
{
    return Sub(Add(eddy_lgamma(a), eddy_lgamma(b)), eddy_lgamma(Add(a, b)));
}

/** y = ln of the beta density: (a - 1) ln x + (b - 1) ln(1 - x) - ln B(a, b) for x in [0,1], else
 *  -infinity.
 *
 *  x, a, b  float32 or float64, of one type; the shapes broadcast; a and b are positive
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE if the shapes do not match.
 *  Gradient: that of the formula.  TensorFlow: distributions.Beta.log_prob. */
eddy_tensor eddy_beta_log_prob(eddy_tensor x, eddy_tensor a, eddy_tensor b)
{
    if (!FLOATS("beta_log_prob", 3, x, a, b)) return none(x);
    const eddy_tensor outside = eddy_logical_or(Less(x, 0), Greater(x, 1));
    const eddy_tensor inside = eddy_logical_not(outside), at = Where(inside, x, 0.5);
    const eddy_tensor rest = eddy__times_log(Sub(b, 1), Sub(1, at));
    return or_never(inside, Sub(Add(eddy__times_log(Sub(a, 1), at), rest), log_beta(a, b)));
}

/** y = the probability that a beta variable is below x: betainc(a, b, x), with x clipped to [0,1].
 *
 *  x, a, b  as for eddy_beta_log_prob
 *
 *  Errors: as for eddy_beta_log_prob.
 *  Gradient: that of eddy_betainc; a and b have none.  TensorFlow: distributions.Beta.cdf. */
eddy_tensor eddy_beta_cdf(eddy_tensor x, eddy_tensor a, eddy_tensor b)
{
    if (!FLOATS("beta_cdf", 3, x, a, b)) return none(x);
    return eddy_betainc(a, b, Minimum(Maximum(x, 0), 1));
}

/** y = the entropy of a beta distribution.
 *
 *  a, b  as for eddy_beta_log_prob
 *
 *  ln B(a, b) - (a - 1) digamma(a) - (b - 1) digamma(b) + (a + b - 2) digamma(a + b).
 *  Errors: as for eddy_beta_log_prob.
 *  Gradient: that of the formula.  TensorFlow: distributions.Beta.entropy. */
eddy_tensor eddy_beta_entropy(eddy_tensor a, eddy_tensor b)
{
    if (!FLOATS("beta_entropy", 2, a, b)) return none(a);
    const eddy_tensor sum = Add(a, b);
    const eddy_tensor own = Add(Mul(Sub(a, 1), eddy_digamma(a)), Mul(Sub(b, 1), eddy_digamma(b)));
    return Add(Sub(log_beta(a, b), own), Mul(Sub(sum, 2), eddy_digamma(sum)));
}

/* ------------------------------------------------- poisson and student's t -- */

/** y = ln of the probability of x in a Poisson distribution with mean `rate`:
 *  x ln rate - rate - ln gamma(x + 1).
 *
 *  x, rate  float32 or float64, of one type; the shapes broadcast; rate at least 0
 *
 *  -infinity for negative integers; between integers the formula interpolates, as in
 *  TensorFlow.
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE if the shapes do not match.
 *  Gradient: that of the formula.  TensorFlow: distributions.Poisson.log_prob. */
eddy_tensor eddy_poisson_log_prob(eddy_tensor x, eddy_tensor rate)
{
    if (!FLOATS("poisson_log_prob", 2, x, rate)) return none(x);
    return Sub(Sub(eddy__times_log(x, rate), rate), eddy_lgamma(Add(x, 1)));
}

/** y = the probability that a Poisson variable with mean `rate` is at most x:
 *  igammac(floor(x) + 1, rate), 0 for x < 0.
 *
 *  x, rate  as for eddy_poisson_log_prob, rate positive
 *
 *  Errors: as for eddy_poisson_log_prob.
 *  Gradient: that of eddy_igammac with respect to the rate; 0 for x.
 *  TensorFlow: distributions.Poisson.cdf. */
eddy_tensor eddy_poisson_cdf(eddy_tensor x, eddy_tensor rate)
{
    if (!FLOATS("poisson_cdf", 2, x, rate)) return none(x);
    const eddy_tensor count = StopGradient(Add(Floor(Maximum(x, 0)), 1));
    const eddy_tensor y = eddy_igammac(count, rate);
    return Where(Less(x, 0), ZerosLike(y), y);
}

/* ln of the density of the t distribution at 0, without the term -ln scale. */
static eddy_tensor t_factor(eddy_tensor df)
{
    const double log_pi = 0x1.250d048e7a1bdp+0;
    const eddy_tensor half = Mul(0.5, df);
    return Sub(Sub(eddy_lgamma(Add(half, 0.5)), eddy_lgamma(half)),
               Mul(0.5, Add(Log(df), log_pi)));
}

/** y = ln of the density of Student's t: ln c - ln scale - (df + 1) / 2 ln(1 + z^2 / df), with
 *  z = (x - loc) / scale and c = gamma((df + 1) / 2) / (gamma(df / 2) sqrt(df pi)).
 *
 *  x, df, loc, scale  float32 or float64, of one type; the shapes broadcast; df and scale
 *                     are positive
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE if the shapes do not match.
 *  Gradient: that of the formula.  TensorFlow: distributions.StudentT.log_prob. */
eddy_tensor eddy_student_t_log_prob(eddy_tensor x, eddy_tensor df, eddy_tensor loc,
                                    eddy_tensor scale)
{
    if (!FLOATS("student_t_log_prob", 4, x, df, loc, scale)) return none(x);
    const eddy_tensor wide = Log1p(Div(Square(standard(x, loc, scale)), df));
    return Sub(Sub(t_factor(df), Log(scale)), Mul(Mul(0.5, Add(df, 1)), wide));
}

/** y = the probability that a variable with Student's t distribution is below x.
 *
 *  x, df, loc, scale  as for eddy_student_t_log_prob
 *
 *  betainc(df / 2, 1 / 2, df / (df + z^2)) / 2 for z up to 0, and 1 minus that above; for small z
 *  it is computed as 1 / 2 plus or minus betainc(1 / 2, df / 2, z^2 / (df + z^2)) / 2.
 *  Errors: as for eddy_student_t_log_prob.
 *  Gradient: dx, dloc, dscale are those of the formula, also at z = 0; df has none.
 *  TensorFlow: distributions.StudentT.cdf. */
eddy_tensor eddy_student_t_cdf(eddy_tensor x, eddy_tensor df, eddy_tensor loc, eddy_tensor scale)
{
    if (!FLOATS("student_t_cdf", 4, x, df, loc, scale)) return none(x);
    const eddy_tensor fixed = StopGradient(df), z = standard(x, loc, scale);
    const eddy_tensor middle = Less(Abs(z), 1e-10), off = Where(middle, OnesLike(z), z);
    const eddy_tensor square = Square(off), all = Add(fixed, square), near = Less(square, fixed);
    const eddy_tensor half = Mul(0.5, fixed), one_half = NumberLike(0.5, z);
    const eddy_tensor inner = Where(near, Div(square, all), 0.5);
    const eddy_tensor outer = Where(near, 0.5, Div(fixed, all));
    const eddy_tensor tail = Where(near, Sub(0.5, Mul(0.5, eddy_betainc(one_half, half, inner))),
                                   Mul(0.5, eddy_betainc(half, one_half, outer)));
    const eddy_tensor y = Where(Less(off, 0), tail, Sub(1, tail));
    return Where(middle, Add(0.5, Mul(z, Exp(t_factor(fixed)))), y);
}

/** y = the entropy of Student's t distribution.
 *
 *  df, scale  as for eddy_student_t_log_prob
 *
 *  (df + 1) / 2 (digamma((df + 1) / 2) - digamma(df / 2)) - ln c + ln scale.
 *  Errors: as for eddy_student_t_log_prob.
 *  Gradient: that of the formula.  TensorFlow: distributions.StudentT.entropy. */
eddy_tensor eddy_student_t_entropy(eddy_tensor df, eddy_tensor scale)
{
    if (!FLOATS("student_t_entropy", 2, df, scale)) return none(df);
    const eddy_tensor half = Mul(0.5, df), more = Add(half, 0.5);
    const eddy_tensor spread = Mul(more, Sub(eddy_digamma(more), eddy_digamma(half)));
    return Add(Sub(spread, t_factor(df)), Log(scale));
}
