/* distributions.c -- Bernoulli, exponential, geometric, Laplace, Gumbel, logistic, Cauchy and
 * log-normal samples: functions of a uniform or normal sample. */
#include "ops/random/random.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#ifdef EDDY_HEADER
/* Samples of many distributions. The parameters are tensors, float32 or float64. One sample, of
 * the same type, is drawn for each element; `sample_shape` requests more of them, along leading
 * axes. Where a distribution has a gradient with respect to its parameters, it is that of the
 * formula, with the random part held constant. */

/* Options of distributions with one parameter. */
typedef struct eddy_random_of_one_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_random_of_one_args));
    eddy_tensor x;
    eddy_dims   sample_shape;    /* leading axes; default none */
    int64_t     seed;
    eddy_tensor stateless_seed;  /* two integers; default none: `seed` is used */
    const char *name;
} eddy_random_of_one_args;

/* Options of distributions with two parameters, whose shapes broadcast. */
typedef struct eddy_random_of_two_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_random_of_two_args));
    eddy_tensor a, b;
    eddy_dims   sample_shape;    /* leading axes; default none */
    int64_t     seed;
    eddy_tensor stateless_seed;  /* two integers; default none: `seed` is used */
    const char *name;
} eddy_random_of_two_args;

typedef struct eddy_random_bernoulli_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_random_bernoulli_args));
    eddy_tensor probs;
    eddy_tensor logits;          /* instead of probs: the log-odds */
    eddy_dtype  dtype;           /* default int32 */
    eddy_dims   sample_shape;    /* leading axes; default none */
    int64_t     seed;
    eddy_tensor stateless_seed;  /* two integers; default none: `seed` is used */
    const char *name;
} eddy_random_bernoulli_args;
#endif

/** 1 with probability `probs`, else 0, for each element.
 *
 *  probs   float32 or float64, in [0,1], any shape
 *  logits  instead of probs: probs = sigmoid(logits)
 *  dtype   of the result: any type to which eddy_cast casts bool; default int32
 *  sample_shape, seed, stateless_seed  as for eddy_random_poisson
 *
 *  0 where probs is NaN.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE for an invalid sample_shape.
 *  Gradient: none.  TensorFlow: distributions.Bernoulli. */
eddy_tensor eddy_random_bernoulli_with(const eddy_random_bernoulli_args *given)
{
    eddy_random_bernoulli_args a = EDDY_TAKE(eddy_random_bernoulli_args, given);
    const eddy_source from = { a.seed, a.stateless_seed };
    const bool        is_logit = a.logits.graph != NULL;
    eddy_tensor p = is_logit ? a.logits : a.probs;
    if (!eddy__draw_operands("random_bernoulli", 1, &p, a.sample_shape))
        return eddy_none(p.graph);
    eddy_scope_begin(p.graph, a.name ? a.name : "random_bernoulli");
    if (is_logit) p = Sigmoid(p);
    p = Cast(p, EDDY_FLOAT64);           /* a uniform float32 is a multiple of 2^-24 */
    const eddy_tensor y = Cast(Less(eddy__uniform_source(from, p, 0), p),
                               a.dtype ? a.dtype : EDDY_INT32);
    eddy_scope_end(p.graph);
    return y;
}

/* ------------------------------------------------------- one parameter -- */

/* log(1 - u), which is 0 only if u is 0. */
static eddy_tensor log_of_rest(eddy_tensor u) { return eddy_log1p(Neg(u)); }

static eddy_tensor exponential_of(eddy_tensor u, eddy_tensor rate)
{
    return Div(Neg(log_of_rest(u)), rate);
}

static eddy_tensor geometric_of(eddy_tensor u, eddy_tensor probs)
{
    return Floor(Div(log_of_rest(u), log_of_rest(probs)));
}

static eddy_tensor of_one(const char *who, const eddy_random_of_one_args *given,
                          eddy_tensor (*formula)(eddy_tensor u, eddy_tensor x))
{
    const eddy_random_of_one_args a = EDDY_TAKE(eddy_random_of_one_args, given);
    const eddy_source from = { a.seed, a.stateless_seed };
    eddy_graph *g = a.x.graph;
    eddy_tensor x = a.x;
    if (!eddy__draw_operands(who, 1, &x, a.sample_shape)) return eddy_none(g);
    eddy_scope_begin(g, a.name ? a.name : who);
    const eddy_tensor y = formula(eddy__uniform_source(from, x, 0), x);
    eddy_scope_end(g);
    return y;
}

/** Samples of the exponential distribution, with density rate e^(-rate y) for y >= 0.
 *
 *  rate (x)  float32 or float64, positive, any shape
 *  sample_shape, seed, stateless_seed  as for eddy_random_poisson
 *
 *  Computed as y = -log(1 - u) / rate, with u uniform in [0,1).
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE for an invalid sample_shape.
 *  Gradient: drate = -dy y / rate.  TensorFlow: distributions.Exponential. */
eddy_tensor eddy_random_exponential_with(const eddy_random_of_one_args *given)
{
    return of_one("random_exponential", given, exponential_of);
}

/** Samples of the geometric distribution: the number of failures before the first success, which
 *  is k with probability probs (1 - probs)^k; an integer in the type of probs.
 *
 *  probs (x)  float32 or float64, in (0,1], any shape
 *  sample_shape, seed, stateless_seed  as for eddy_random_poisson
 *
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE for an invalid sample_shape.
 *  Gradient: none.  TensorFlow: distributions.Geometric. */
eddy_tensor eddy_random_geometric_with(const eddy_random_of_one_args *given)
{
    return of_one("random_geometric", given, geometric_of);
}

/* -------------------------------------------------- location and scale -- */

/* Uniform in (0,1): 0, which has no logarithm, is replaced by half a step. */
static eddy_tensor open_uniform(eddy_source from, eddy_tensor x)
{
    return eddy__uniform_source(from, x, eddy__dtype_epsilon(eddy_dtype_of(x)) / 4);
}

static eddy_tensor standard_laplace(eddy_source from, eddy_tensor x)
{
    const eddy_tensor v = Sub(open_uniform(from, x), 0.5);     /* above -1/2 */
    return Neg(Mul(Sign(v), eddy_log1p(Mul(-2, Abs(v)))));
}

static eddy_tensor standard_gumbel(eddy_source from, eddy_tensor x)
{
    return Neg(Log(Neg(Log(open_uniform(from, x)))));
}

static eddy_tensor standard_logistic(eddy_source from, eddy_tensor x)
{
    const eddy_tensor u = open_uniform(from, x);
    return Sub(Log(u), log_of_rest(u));
}

static eddy_tensor standard_cauchy(eddy_source from, eddy_tensor x)
{
    return eddy_tan(Mul(0x1.921fb54442d18p+1, Sub(eddy__uniform_source(from, x, 0), 0.5)));
}

/* loc + scale z; an omitted scale is 1. */
static eddy_tensor of_two(const char *who, const eddy_random_of_two_args *given,
                          eddy_tensor (*standard)(eddy_source from, eddy_tensor x))
{
    const eddy_random_of_two_args a = EDDY_TAKE(eddy_random_of_two_args, given);
    const eddy_source from = { a.seed, a.stateless_seed };
    const bool        scaled = a.b.graph != NULL;
    eddy_graph *g = a.a.graph;
    eddy_tensor x[2] = { a.a, a.b };
    if (!eddy__draw_operands(who, 1 + scaled, x, a.sample_shape)) return eddy_none(g);
    eddy_scope_begin(g, a.name ? a.name : who);
    const eddy_tensor z = standard(from, x[0]);
    const eddy_tensor y = Add(x[0], scaled ? Mul(x[1], z) : z);
    eddy_scope_end(g);
    return y;
}

/** Samples of the Laplace distribution, with density e^(-|y - loc| / scale) / (2 scale).
 *
 *  loc (a)    float32 or float64, any shape
 *  scale (b)  same type, positive; the shapes broadcast; default 1
 *  sample_shape, seed, stateless_seed  as for eddy_random_poisson
 *
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE if the shapes do not broadcast.
 *  Gradient: dloc = dy, dscale = dy (y - loc) / scale.  TensorFlow: distributions.Laplace. */
eddy_tensor eddy_random_laplace_with(const eddy_random_of_two_args *given)
{
    return of_two("random_laplace", given, standard_laplace);
}

/** Samples of the Gumbel distribution: y = loc - scale log(-log(u)), with u uniform in (0,1).
 *
 *  The argmax of logits plus Gumbel samples is distributed as softmax(logits).  Arguments, errors
 *  and gradient are as for eddy_random_laplace.  TensorFlow: distributions.Gumbel. */
eddy_tensor eddy_random_gumbel_with(const eddy_random_of_two_args *given)
{
    return of_two("random_gumbel", given, standard_gumbel);
}

/** Samples of the logistic distribution: y = loc + scale log(u / (1 - u)), with u uniform in
 *  (0,1).
 *
 *  Arguments, errors and gradient are as for eddy_random_laplace.
 *  TensorFlow: distributions.Logistic. */
eddy_tensor eddy_random_logistic_with(const eddy_random_of_two_args *given)
{
    return of_two("random_logistic", given, standard_logistic);
}

/** Samples of the Cauchy distribution, with density 1 / (pi scale (1 + ((y - loc) / scale)^2));
 *  it has no mean.
 *
 *  Arguments, errors and gradient are as for eddy_random_laplace.
 *  TensorFlow: distributions.Cauchy. */
eddy_tensor eddy_random_cauchy_with(const eddy_random_of_two_args *given)
{
    return of_two("random_cauchy", given, standard_cauchy);
}

/** Samples of the log-normal distribution: y = e^(loc + scale z), with z standard normal.
 *
 *  loc (a), scale (b)  the mean and the standard deviation of log(y), otherwise as for
 *                      eddy_random_laplace
 *
 *  Errors: as for eddy_random_laplace.
 *  Gradient: dloc = dy y, dscale = dy y z.  TensorFlow: distributions.LogNormal. */
eddy_tensor eddy_random_log_normal_with(const eddy_random_of_two_args *given)
{
    eddy_random_of_two_args a = EDDY_TAKE(eddy_random_of_two_args, given);
    return Exp(of_two("random_log_normal", &a, eddy__normal_source));
}
