/* gamma_beta.c -- gamma samples, and the distributions derived from them: beta, Dirichlet,
 * chi-squared, Student's t. */
#include "ops/random/random.h"
#include "graph/call_options.h"
#include "ops/kernels/elementwise/vector_math_f64.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <math.h>

typedef struct gamma_attrs {
    bool    log;
    int64_t seed;
} gamma_attrs;

/* Marsaglia and Tsang, "A simple method for generating gamma variables" (2000), for alpha >= 1:
 * d v with d = alpha - 1/3, and v the cube of a scaled and shifted normal sample. */
static double of_one_or_more(eddy_element_stream *stream, double alpha)
{
    const double d = alpha - 1.0 / 3, c = 1 / sqrt(9 * d);
    double v = 1;
    while (stream->used < EDDY_MAX_ATTEMPTS) {
        const eddy_sample_pair t = eddy__normal_pair(stream);
        const double z = t.u, root = 1 + c * z;
        if (root <= 0) continue;
        v = root * root * root;
        if (t.v < 1 - 0.0331 * z * z * z * z ||
            eddy__log_f64(t.v) < 0.5 * z * z + d * (1 - v + eddy__log_f64(v))) break;
    }
    return d * v;
}

/* For alpha < 1, a sample for alpha + 1 is multiplied by u^(1/alpha). */
static double gamma_draw(eddy_element_stream *stream, const double *x, const void *attrs)
{
    const gamma_attrs *a = attrs;
    const double alpha = x[0];
    if (!(alpha >= 0)) return NAN;
    if (alpha == 0) return a->log ? -INFINITY : 0;
    if (isinf(alpha)) return INFINITY;
    const double v = of_one_or_more(stream, alpha < 1 ? alpha + 1 : alpha);
    if (alpha >= 1) return a->log ? eddy__log_f64(v) : v;
    stream->used = EDDY_MAX_ATTEMPTS;
    const double less = eddy__log1p_f64(-eddy__uniform_pair(stream).u) / alpha;
    return a->log ? eddy__log_f64(v) + less : v * eddy__exp_f64(less);
}

static const eddy_draw gamma_samples = { gamma_draw, 1, EDDY_GAMMA, true };

static eddy_status gamma_kernel(eddy_kernel *k)
{
    eddy__draw_all(k, &gamma_samples, ((const gamma_attrs *)k->attrs)->seed);
    return EDDY_OK;
}

/* d log(x) / d alpha, with x a function of alpha by P(alpha, x) = const: -P_alpha / (x p). Below
 * the floor, P is x^alpha / gamma(alpha + 1); for large alpha, x is nearly normal with variance
 * alpha. In float64, because the logarithm of the density is a small difference of large
 * numbers. */
static eddy_tensor log_slope(eddy_tensor of, eddy_tensor log_of)
{
    const double      floor = -500, most = 1e7;
    const eddy_tensor alpha = Cast(of, EDDY_FLOAT64), log_x = Cast(log_of, EDDY_FLOAT64);
    const eddy_tensor large = Greater(alpha, most), a = Where(large, 1, alpha);
    const eddy_tensor low = Where(large, 0, log_x);
    const eddy_tensor small = Less(low, floor), at = Maximum(low, floor), x = Exp(at);
    const eddy_tensor density = Exp(Sub(Sub(Mul(a, at), x), eddy_lgamma(a)));
    const eddy_tensor series = Div(Sub(eddy_digamma(Add(a, 1)), low), a);
    const eddy_tensor usual = Div(Neg(eddy_igamma_grad_a(a, x)), density);
    const eddy_tensor exact = Where(LogicalOr(small, LogicalNot(Greater(density, 0))), series,
                                    usual);
    const eddy_tensor limit = Mul(0.5, Add(Reciprocal(alpha), Exp(Neg(log_x))));
    return CastLike(Where(large, limit, exact), of);
}

static void gamma_gradient(eddy_rule *r)
{
    const gamma_attrs *a = r->attrs;
    const eddy_tensor  y = r->y[0], slope = log_slope(r->x[0], a->log ? y : Log(y));
    r->dx[0] = Mul(r->dy[0], a->log ? slope : eddy_mul_no_nan(slope, y));
}

const eddy_op_def eddy_op_random_gamma = {
    .name = "RandomGamma", .label = "random_gamma", .min_inputs = 1, .max_inputs = 2,
    .inputs = EDDY_INPUTS({ "alpha", EDDY_TAKES_FLOATS }, { "seed", EDDY_ANY_TYPE }),
    .outputs = 1, .flags = EDDY_OP_STATEFUL, .attrs_size = sizeof(gamma_attrs),
    .attrs = EDDY_ATTRS(gamma_attrs, log, seed),
    .flops = eddy_flops_per_output, .infer = eddy__infer_draw,
    .kernel = gamma_kernel, .gradient = gamma_gradient, .batch = eddy__batch_draw };

/* log(x), which is finite even where x underflows. */
static eddy_tensor log_gamma(eddy_tensor alpha, eddy_source from)
{
    const gamma_attrs attrs = { true, from.seed };
    return eddy__draw_apply(&eddy_op_random_gamma, &attrs, 1, &alpha, from.stateless_seed, NULL);
}

/** Samples of the gamma distribution: y = x / beta, where x has the density x^(alpha-1) e^-x /
 *  gamma(alpha).
 *
 *  alpha (a)       float32 or float64, positive, any shape
 *  beta (b)        same type, positive; the shapes broadcast; default 1
 *  sample_shape, seed, stateless_seed  as for eddy_random_poisson
 *
 *  Drawn by Marsaglia and Tsang's method, in double precision.  NaN where alpha is negative or
 *  NaN; 0 where alpha is 0.
 *  Errors: EDDY_BAD_SHAPE if the shapes do not broadcast; EDDY_INVALID_ARGUMENT for an invalid
 *  stateless_seed.
 *  Gradient: for alpha, that of the quantile: dx = -dalpha P_alpha(alpha, x) / density(x), with P
 *  the distribution function, up to the third order; dbeta = -dy y / beta.
 *  TensorFlow: random_gamma, RandomGamma. */
eddy_tensor eddy_random_gamma_with(const eddy_random_of_two_args *given)
{
    eddy_random_of_two_args a = EDDY_TAKE(eddy_random_of_two_args, given);
    const gamma_attrs attrs = { false, a.seed };
    const bool  scaled = a.b.graph != NULL;
    eddy_tensor x[2] = { a.a, a.b };
    if (!eddy__draw_operands("random_gamma", 1 + scaled, x, a.sample_shape))
        return eddy_none(a.a.graph);
    const eddy_tensor y = eddy__draw_apply(&eddy_op_random_gamma, &attrs, 1, x, a.stateless_seed,
                                           a.name);
    return scaled ? Div(y, x[1]) : y;
}

/** Samples of the beta distribution, with density y^(alpha-1) (1 - y)^(beta-1) / B(alpha, beta)
 *  on [0,1].
 *
 *  alpha (a), beta (b)  float32 or float64, of the same type, positive; the shapes broadcast
 *  sample_shape, seed, stateless_seed  as for eddy_random_poisson
 *
 *  Computed as the sigmoid of the difference of the logarithms of two gamma samples, which is
 *  accurate also for small alpha and beta.
 *  Errors: as for eddy_random_gamma.
 *  Gradient: through the gamma samples.
 *  TensorFlow: distributions.Beta. */
eddy_tensor eddy_random_beta_with(const eddy_random_of_two_args *given)
{
    eddy_random_of_two_args a = EDDY_TAKE(eddy_random_of_two_args, given);
    const eddy_source from = { a.seed, a.stateless_seed };
    eddy_tensor x[2] = { a.a, a.b };
    if (!eddy__draw_operands("random_beta", 2, x, a.sample_shape)) return eddy_none(a.a.graph);
    eddy_scope_begin(a.a.graph, a.name ? a.name : "random_beta");
    const eddy_tensor p = log_gamma(x[0], from), q = log_gamma(x[1], eddy__source_besides(from));
    const eddy_tensor y = Sigmoid(Sub(p, q));
    eddy_scope_end(a.a.graph);
    return y;
}

/** Samples of the Dirichlet distribution: non-negative y with sum 1 along the last axis and a
 *  density proportional to the product of y[i]^(alpha[i]-1).
 *
 *  alpha (x)  float32 or float64, positive, rank at least 1
 *  sample_shape, seed, stateless_seed  as for eddy_random_poisson
 *
 *  Computed as the softmax of the logarithms of gamma samples, which is accurate also for small
 *  alpha.
 *  Errors: as for eddy_random_gamma.
 *  Gradient: through the gamma samples.
 *  TensorFlow: distributions.Dirichlet. */
eddy_tensor eddy_random_dirichlet_with(const eddy_random_of_one_args *given)
{
    eddy_random_of_one_args a = EDDY_TAKE(eddy_random_of_one_args, given);
    const eddy_source from = { a.seed, a.stateless_seed };
    if (!eddy__draw_operands("random_dirichlet", 1, &a.x, a.sample_shape))
        return eddy_none(a.x.graph);
    eddy_scope_begin(a.x.graph, a.name ? a.name : "random_dirichlet");
    const eddy_tensor y = Softmax(log_gamma(a.x, from));
    eddy_scope_end(a.x.graph);
    return y;
}

/** Samples of the chi-squared distribution: y = the sum of the squares of `df` standard normal
 *  numbers; df need not be an integer.
 *
 *  df (x)  float32 or float64, positive, any shape
 *  sample_shape, seed, stateless_seed  as for eddy_random_poisson
 *
 *  Errors and gradient: as for eddy_random_gamma; y is twice a gamma sample with alpha = df / 2.
 *  TensorFlow: distributions.Chi2. */
eddy_tensor eddy_random_chi2_with(const eddy_random_of_one_args *given)
{
    eddy_random_of_one_args a = EDDY_TAKE(eddy_random_of_one_args, given);
    if (!eddy_is_valid(a.x)) return eddy_identity(a.x);
    eddy_scope_begin(a.x.graph, a.name ? a.name : "random_chi2");
    const eddy_tensor y = Mul(2, eddy_random_gamma(Mul(a.x, 0.5), .sample_shape = a.sample_shape,
                                                   .seed = a.seed,
                                                   .stateless_seed = a.stateless_seed));
    eddy_scope_end(a.x.graph);
    return y;
}

/** Samples of Student's t distribution: y = z / sqrt(c / df), with z standard normal and c a
 *  sample of eddy_random_chi2(df).
 *
 *  df (x)  float32 or float64, positive, any shape; for a location and a scale, compute loc +
 *          scale y
 *  sample_shape, seed, stateless_seed  as for eddy_random_poisson
 *
 *  Errors: as for eddy_random_gamma.
 *  Gradient: through the gamma sample.
 *  TensorFlow: distributions.StudentT. */
eddy_tensor eddy_random_student_t_with(const eddy_random_of_one_args *given)
{
    eddy_random_of_one_args a = EDDY_TAKE(eddy_random_of_one_args, given);
    const eddy_source from = { a.seed, a.stateless_seed };
    if (!eddy__draw_operands("random_student_t", 1, &a.x, a.sample_shape))
        return eddy_none(a.x.graph);
    eddy_scope_begin(a.x.graph, a.name ? a.name : "random_student_t");
    const eddy_tensor half = Mul(a.x, 0.5), z = eddy__normal_source(from, a.x);
    const eddy_tensor y = Mul(z, Exp(Mul(0.5, Sub(Log(half), log_gamma(half, from)))));
    eddy_scope_end(a.x.graph);
    return y;
}
