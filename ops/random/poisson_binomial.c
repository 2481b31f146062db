/* poisson_binomial.c -- Poisson and binomial samples. */
#include "ops/random/random.h"
#include "graph/call_options.h"
#include "ops/kernels/special/special_gamma.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <math.h>

typedef struct draw_attrs {
    int64_t seed;
} draw_attrs;

static const eddy_attr_field draw_fields[] = EDDY_FIELDS(draw_attrs, seed);

/* ------------------------------------------------------------- poisson -- */

/* The mean below which probabilities are summed until they exceed a uniform sample. */
enum { FEW = 10 };

/* p is the probability of 0, and ratio(k) the probability of k divided by that of k - 1: r / k -
 * s. */
static double by_inversion(double u, double p, double r, double s)
{
    double k = 0, sum = p;
    while (u >= sum && p > 0) {
        k++;
        p *= r / k - s;
        sum += p;
    }
    return k;
}

/* ln(x^k e^-x / k!) for k >= 0 and x > 0, without cancellation for large k and x. */
static double log_density(double k, double x)
{
    if (k < FEW) return k * eddy__log_f64(x) - x - eddy__lgamma_right_f64(k + 1);
    const double t = (x - k) / k, most = k * eddy__log1p_minus(t);
    return most - 0.5 * eddy__log_f64(2 * EDDY_PI * k) - eddy__stirling_rest(k);
}

/* Hoermann's PTRS: rejection from a table mountain, "The transformed rejection method for
 * generating Poisson random variables" (1993). */
static double many_events(eddy_element_stream *d, double rate)
{
    const double b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b;
    const double inverse = 1.1239 + 1.1328 / (b - 3.4), within = 0.9277 - 3.6224 / (b - 2);
    double k = floor(rate);
    while (d->used < EDDY_MAX_ATTEMPTS) {
        const eddy_sample_pair t = eddy__uniform_pair(d);
        const double u = t.u - 0.5, side = 0.5 - fabs(u);
        k = floor((2 * a / side + b) * u + rate + 0.43);
        if (side >= 0.07 && t.v <= within) return k;
        if (!(k >= 0) || (side < 0.013 && t.v > side)) continue;
        if (eddy__log_f64(t.v * inverse / (a / (side * side) + b)) <=
            log_density(k, rate)) return k;
    }
    return k;
}

static double poisson_draw(eddy_element_stream *d, const double *x, const void *attrs)
{
    const double rate = x[0];
    (void)attrs;
    if (!(rate >= 0) || isinf(rate)) return NAN;
    if (rate < FEW) return by_inversion(eddy__uniform_pair(d).u, eddy__exp_f64(-rate), rate, 0);
    return many_events(d, rate);
}

static const eddy_draw poisson = { poisson_draw, 1, EDDY_POISSON, false };

static eddy_status poisson_kernel(eddy_kernel *k)
{
    eddy__draw_all(k, &poisson, ((const draw_attrs *)k->attrs)->seed);
    return EDDY_OK;
}

const eddy_op_def eddy_op_random_poisson = {
    .name = "RandomPoissonV2", .label = "random_poisson", .min_inputs = 1, .max_inputs = 2,
    .inputs = EDDY_INPUTS({ "lam", EDDY_TAKES_FLOATS }, { "seed", EDDY_ANY_TYPE }),
    .outputs = 1, .flags = EDDY_OP_STATEFUL, .attrs_size = sizeof(draw_attrs),
    .attrs = draw_fields, .flops = eddy_flops_per_output, .infer = eddy__infer_draw,
    .kernel = poisson_kernel, .gradient = eddy_not_differentiable, .batch = eddy__batch_draw };

/** Samples of the Poisson distribution with mean lam: k with probability lam^k e^-lam / k!.
 *
 *  lam (x)         float32 or float64, any shape; the result has its type
 *  sample_shape    leading axes of the result, along which samples are independent; default none
 *  seed            default 0: the operation's own
 *  stateless_seed  two integers, int32 or int64; equal seeds give equal samples
 *
 *  NaN where lam is negative, infinite or NaN.
 *  Errors: EDDY_BAD_SHAPE for an invalid sample_shape; EDDY_INVALID_ARGUMENT for an invalid
 *  stateless_seed.
 *  Gradient: none.  TensorFlow: random.poisson, RandomPoissonV2. */
eddy_tensor eddy_random_poisson_with(const eddy_random_of_one_args *given)
{
    eddy_random_of_one_args a = EDDY_TAKE(eddy_random_of_one_args, given);
    const draw_attrs attrs = { a.seed };
    if (!eddy__draw_operands("random_poisson", 1, &a.x, a.sample_shape))
        return eddy_none(a.x.graph);
    return eddy__draw_apply(&eddy_op_random_poisson, &attrs, 1, &a.x, a.stateless_seed, a.name);
}

/* ------------------------------------------------------------ binomial -- */

/* The probability of k divided by that of `top`: a product of few factors, or by logarithms. */
static double relative_density(double n, double p, double k, double top)
{
    enum { MOST_FACTORS = 20 };
    const double odds = p / (1 - p), s = (n + 1) * odds;
    const double low = k < top ? k : top, high = k < top ? top : k;
    double f = 1;
    if (high - low > MOST_FACTORS)
        return eddy__exp_f64(log_density(k, n * p) + log_density(n - k, n * (1 - p)) -
                             log_density(top, n * p) - log_density(n - top, n * (1 - p)));
    for (double i = low + 1; i <= high; i++) f *= s / i - odds;
    return k < top ? 1 / f : f;
}

/* Hoermann's BTRS, for p <= 1/2: "The generation of binomial random variates" (1993). */
static double many_successes(eddy_element_stream *d, double n, double p)
{
    const double spread = sqrt(n * p * (1 - p)), top = floor((n + 1) * p);
    const double b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p;
    const double within = 0.92 - 4.2 / b;
    double k = top;
    while (d->used < EDDY_MAX_ATTEMPTS) {
        const eddy_sample_pair t = eddy__uniform_pair(d);
        const double u = t.u - 0.5, side = 0.5 - fabs(u);
        k = floor((2 * a / side + b) * u + n * p + 0.5);
        if (!(k >= 0 && k <= n)) continue;
        if (side >= 0.07 && t.v <= within) return k;
        const double scale = (2.83 + 5.1 / b) * spread;
        if (t.v * scale / (a / (side * side) + b) <= relative_density(n, p, k, top)) return k;
    }
    return k;
}

static double successes(eddy_element_stream *d, double n, double p)
{
    if (n * p >= FEW) return many_successes(d, n, p);
    const double odds = p / (1 - p), none = eddy__exp_f64(n * eddy__log1p_f64(-p));
    return fmin(n, by_inversion(eddy__uniform_pair(d).u, none, (n + 1) * odds, odds));
}

static double binomial_draw(eddy_element_stream *d, const double *x, const void *attrs)
{
    const double n = floor(x[0]), p = x[1];
    (void)attrs;
    if (!(n >= 0 && p >= 0 && p <= 1) || isinf(n)) return NAN;
    return p <= 0.5 ? successes(d, n, p) : n - successes(d, n, 1 - p);
}

static const eddy_draw binomial = { binomial_draw, 2, EDDY_BINOMIAL, false };

static eddy_status binomial_kernel(eddy_kernel *k)
{
    eddy__draw_all(k, &binomial, ((const draw_attrs *)k->attrs)->seed);
    return EDDY_OK;
}

const eddy_op_def eddy_op_random_binomial = {
    .name = "RandomBinomial", .label = "random_binomial", .min_inputs = 2, .max_inputs = 3,
    .inputs = EDDY_INPUTS({ "counts", EDDY_TAKES_FLOATS }, { "probs", EDDY_LIKE(0) },
                          { "seed", EDDY_ANY_TYPE }),
    .outputs = 1, .flags = EDDY_OP_STATEFUL, .attrs_size = sizeof(draw_attrs),
    .attrs = draw_fields, .flops = eddy_flops_per_output, .infer = eddy__infer_draw,
    .kernel = binomial_kernel, .gradient = eddy_not_differentiable, .batch = eddy__batch_draw };

/** Samples of the binomial distribution: the number of successes in `counts` trials with
 *  probability `probs` each.
 *
 *  counts (a)      float32 or float64, any shape; the fractional part is ignored
 *  probs (b)       same type, in [0,1]; the shapes broadcast
 *  sample_shape, seed, stateless_seed  as for eddy_random_poisson
 *
 *  NaN where counts is negative or infinite, or probs is outside [0,1].
 *  Errors: EDDY_BAD_SHAPE if the shapes do not broadcast; EDDY_INVALID_ARGUMENT for an invalid
 *  stateless_seed.
 *  Gradient: none.  TensorFlow: stateless_random_binomial, RandomBinomial. */
eddy_tensor eddy_random_binomial_with(const eddy_random_of_two_args *given)
{
    eddy_random_of_two_args a = EDDY_TAKE(eddy_random_of_two_args, given);
    const draw_attrs attrs = { a.seed };
    eddy_tensor x[2] = { a.a, a.b };
    if (!eddy__draw_operands("random_binomial", 2, x, a.sample_shape)) return eddy_none(a.a.graph);
    return eddy__draw_apply(&eddy_op_random_binomial, &attrs, 2, x, a.stateless_seed, a.name);
}
