/* distributions.c -- Bernoulli, exponential, geometric, Laplace, Gumbel, logistic, Cauchy and
 * log-normal samples: functions of a uniform or normal sample. */
#include "ops/random/random.h"
#include "graph/take.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#ifdef EDDY_HEADER
/* Numbers of many distributions.  The parameters are tensors, float32 or float64, and each
 * element gets a number of its own, of the parameters' type; `sample_shape` asks for more of
 * them, along axes in front.  Where the distribution has one, the gradient with respect to the
 * parameters is that of the formula, the random part standing still. */

/* Of distributions with one parameter. */
typedef struct eddy_random_of_one_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_random_of_one_args));
    eddy_tensor x;
    eddy_dims   sample_shape;    /* axes in front; default none */
    int64_t     seed;
    eddy_tensor stateless_seed;  /* two integers; default none: `seed` counts */
    const char *name;
} eddy_random_of_one_args;

/* Of distributions with two, the shapes of which broadcast. */
typedef struct eddy_random_of_two_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_random_of_two_args));
    eddy_tensor a, b;
    eddy_dims   sample_shape;    /* axes in front; default none */
    int64_t     seed;
    eddy_tensor stateless_seed;  /* two integers; default none: `seed` counts */
    const char *name;
} eddy_random_of_two_args;

typedef struct eddy_random_bernoulli_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_random_bernoulli_args));
    eddy_tensor probs;
    eddy_tensor logits;          /* in place of probs: their logarithmic odds */
    eddy_dtype  dtype;           /* default int32 */
    eddy_dims   sample_shape;    /* axes in front; default none */
    int64_t     seed;
    eddy_tensor stateless_seed;  /* two integers; default none: `seed` counts */
    const char *name;
} eddy_random_bernoulli_args;
#endif

/** 1 with probability `probs`, else 0, for each element.
 *
 *  probs   float32 or float64, in [0,1], any shape
 *  logits  in place of probs: probs = sigmoid(logits)
 *  dtype   of the result: any type that eddy_cast makes of bool; default int32
 *  sample_shape, seed, stateless_seed  as in eddy_random_poisson
 *
 *  0 where probs is NaN.
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE if sample_shape does not fit.
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
    p = Cast(p, EDDY_FLOAT64);           /* a uniform of float32 has steps of 2^-24 */
    const eddy_tensor y = Cast(Less(eddy__uniform_source(from, p, 0), p),
                               a.dtype ? a.dtype : EDDY_INT32);
    eddy_scope_end(p.graph);
    return y;
}

/* ------------------------------------------------------- one parameter -- */

/* log(1 - u), not 0 but with u. */
static eddy_tensor log_of_rest(eddy_tensor u) { return eddy_log1p(Neg(u)); }

static eddy_tensor exponential_of(eddy_tensor u, eddy_tensor rate)
{
    return Div(Neg(log_of_rest(u)), rate);
}

static eddy_tensor geometric_of(eddy_tensor u, eddy_tensor probs)
{
    return Floor(Div(log_of_rest(u), log_of_rest(probs)));
}

static eddy_tensor of_one(const char *who, const eddy_random_of_one_args *a,
                          eddy_tensor (*formula)(eddy_tensor u, eddy_tensor x))
{
    const eddy_source from = { a->seed, a->stateless_seed };
    eddy_graph *g = a->x.graph;
    eddy_tensor x = a->x;
    if (!eddy__draw_operands(who, 1, &x, a->sample_shape)) return eddy_none(g);
    eddy_scope_begin(g, a->name ? a->name : who);
    const eddy_tensor y = formula(eddy__uniform_source(from, x, 0), x);
    eddy_scope_end(g);
    return y;
}

/** y with the density rate e^(-rate y), y >= 0.
 *
 *  rate (x)  float32 or float64, above 0, any shape
 *  sample_shape, seed, stateless_seed  as in eddy_random_poisson
 *
 *  -log(1 - u) / rate, u uniform in [0,1).
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE if sample_shape does not fit.
 *  Gradient: drate = -dy y / rate.  TensorFlow: distributions.Exponential. */
eddy_tensor eddy_random_exponential_with(const eddy_random_of_one_args *given)
{
    eddy_random_of_one_args a = EDDY_TAKE(eddy_random_of_one_args, given);
    return of_one("random_exponential", &a, exponential_of);
}

/** How many trials fail before the first that succeeds: k with probability
 *  probs (1 - probs)^k, a whole number of the type of probs.
 *
 *  probs (x)  float32 or float64, in (0,1], any shape
 *  sample_shape, seed, stateless_seed  as in eddy_random_poisson
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE if sample_shape does not fit.
 *  Gradient: none.  TensorFlow: distributions.Geometric. */
eddy_tensor eddy_random_geometric_with(const eddy_random_of_one_args *given)
{
    eddy_random_of_one_args a = EDDY_TAKE(eddy_random_of_one_args, given);
    return of_one("random_geometric", &a, geometric_of);
}

/* -------------------------------------------------- location and scale -- */

/* Uniform in (0,1): in the place of 0, of which there is no logarithm, is half a step. */
static eddy_tensor open_uniform(eddy_source from, eddy_tensor x)
{
    return eddy__uniform_source(from, x, eddy_dtype_of(x) == EDDY_FLOAT32 ? 0x1p-25 : 0x1p-54);
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

/* loc + scale z; without a scale it is 1. */
static eddy_tensor of_two(const char *who, const eddy_random_of_two_args *a,
                          eddy_tensor (*standard)(eddy_source from, eddy_tensor x))
{
    const eddy_source from = { a->seed, a->stateless_seed };
    const bool        scaled = a->b.graph != NULL;
    eddy_graph *g = a->a.graph;
    eddy_tensor x[2] = { a->a, a->b };
    if (!eddy__draw_operands(who, 1 + scaled, x, a->sample_shape)) return eddy_none(g);
    eddy_scope_begin(g, a->name ? a->name : who);
    const eddy_tensor z = standard(from, x[0]);
    const eddy_tensor y = Add(x[0], scaled ? Mul(x[1], z) : z);
    eddy_scope_end(g);
    return y;
}

/** y with the density e^(-|y - loc| / scale) / (2 scale).
 *
 *  loc (a)    float32 or float64, any shape
 *  scale (b)  of the same type, above 0; the shapes broadcast; default 1
 *  sample_shape, seed, stateless_seed  as in eddy_random_poisson
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE if the shapes do not fit.
 *  Gradient: dloc = dy, dscale = dy (y - loc) / scale.  TensorFlow: distributions.Laplace. */
eddy_tensor eddy_random_laplace_with(const eddy_random_of_two_args *given)
{
    eddy_random_of_two_args a = EDDY_TAKE(eddy_random_of_two_args, given);
    return of_two("random_laplace", &a, standard_laplace);
}

/** y = loc - scale log(-log(u)), u uniform in (0,1): the largest of many numbers.
 *
 *  Added to logits, its numbers are largest for a class as often as softmax says.  Arguments,
 *  errors and gradient are those of eddy_random_laplace.  TensorFlow: distributions.Gumbel. */
eddy_tensor eddy_random_gumbel_with(const eddy_random_of_two_args *given)
{
    eddy_random_of_two_args a = EDDY_TAKE(eddy_random_of_two_args, given);
    return of_two("random_gumbel", &a, standard_gumbel);
}

/** y = loc + scale log(u / (1 - u)), u uniform in (0,1).
 *
 *  Arguments, errors and gradient are those of eddy_random_laplace.
 *  TensorFlow: distributions.Logistic. */
eddy_tensor eddy_random_logistic_with(const eddy_random_of_two_args *given)
{
    eddy_random_of_two_args a = EDDY_TAKE(eddy_random_of_two_args, given);
    return of_two("random_logistic", &a, standard_logistic);
}

/** y with the density 1 / (pi scale (1 + ((y - loc) / scale)^2)), which has no mean.
 *
 *  Arguments, errors and gradient are those of eddy_random_laplace.
 *  TensorFlow: distributions.Cauchy. */
eddy_tensor eddy_random_cauchy_with(const eddy_random_of_two_args *given)
{
    eddy_random_of_two_args a = EDDY_TAKE(eddy_random_of_two_args, given);
    return of_two("random_cauchy", &a, standard_cauchy);
}

/** y = e^(loc + scale z), z a standard normal number.
 *
 *  loc (a), scale (b)  the mean and the standard deviation of log(y), as in
 *                      eddy_random_laplace
 *
 *  Errors: those of eddy_random_laplace.
 *  Gradient: dloc = dy y, dscale = dy y z.  TensorFlow: distributions.LogNormal. */
eddy_tensor eddy_random_log_normal_with(const eddy_random_of_two_args *given)
{
    eddy_random_of_two_args a = EDDY_TAKE(eddy_random_of_two_args, given);
    return Exp(of_two("random_log_normal", &a, eddy__normal_source));
}
