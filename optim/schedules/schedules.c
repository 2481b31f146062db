/* schedules.c -- learning rate schedules of TensorFlow 1's tf.train (exponential, polynomial,
 * cosine decay, ...), after its learning_rate_decay. */
#include "optim/schedules/schedules_internal.h"
#include "graph/call_options.h"
#include "graph/internal.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* --------------------------------------------------------- shared functions -- */

/* A scalar of numbers that casts to a rate. */
static bool operand_fits(eddy_graph *g, const char *what, const char *which, eddy_tensor t)
{
    char text[128];
    if (!eddy_is_valid(t) || t.graph != g || eddy_outputs_of(t) == 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s is not a tensor of this graph", what, which);
    else if (eddy__expect_type(g, what, which, eddy_dtype_of(t), EDDY_TAKES_NUMBERS) &&
             eddy_shape_of(t).rank > 0)
        eddy_fail(g, EDDY_BAD_SHAPE, "%s: %s has shape %s; expected a scalar", what, which,
                  eddy_shape_print(eddy_shape_of(t), text, sizeof text));
    return eddy__graph_ready(g);
}

static bool is_missing(eddy_tensor t) { return t.node == 0 && !t.graph; }

bool eddy__schedule_begin(eddy__schedule *s, eddy_tensor rate, eddy_tensor step, const char *name,
                          const char *otherwise)
{
    eddy_graph *g = eddy__graph_alive(rate.graph) ? rate.graph : step.graph;
    s->g = eddy__graph_alive(g) ? g : NULL;
    const char *which = s->rate_name ? s->rate_name : "learning_rate";
    const char *when = s->step_name ? s->step_name : "global_step";
    if (!eddy__graph_ready(g)) return false;
    if (is_missing(step)) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s is required for %s.", when, s->what);
        return false;
    }
    if (!operand_fits(g, s->what, when, step) || !operand_fits(g, s->what, which, rate) ||
        !eddy__expect_type(g, s->what, which, eddy_dtype_of(rate), EDDY_TAKES_FLOATS))
        return false;
    eddy_scope_begin(g, name && *name ? name : otherwise);
    s->rate = rate;
    s->step = CastLike(step, rate);
    return true;
}

eddy_tensor eddy__schedule_operand(const eddy__schedule *s, const char *which, eddy_tensor t,
                                   double fallback)
{
    if (is_missing(t))
        return !isnan(fallback) ? NumberLike(fallback, s->rate)
             : eddy_fail(s->g, EDDY_INVALID_ARGUMENT, "%s: %s is required", s->what, which);
    return operand_fits(s->g, s->what, which, t) ? CastLike(t, s->rate) : eddy_none(s->g);
}

eddy_tensor eddy__schedule_end(const eddy__schedule *s, eddy_tensor t)
{
    if (eddy_is_valid(t)) eddy_named(eddy_scope_name(s->g), t);
    eddy_scope_end(s->g);
    return t;
}

eddy_tensor eddy__half_cosine(eddy_tensor x)
{
    return Mul(0.5, Add(1, Cos(Mul(pi, x))));
}

/* ------------------------------------------------------- decay by a rate -- */

static bool decay_begin(eddy__schedule *s, const eddy_decay_args *a, const char *otherwise,
                        eddy_tensor *f, eddy_tensor *decay)
{
    if (!eddy__schedule_begin(s, a->learning_rate, a->global_step, a->name, otherwise))
        return false;
    *f = Div(s->step, eddy__schedule_operand(s, "decay_steps", a->decay_steps, NAN));
    *decay = eddy__schedule_operand(s, "decay_rate", a->decay_rate, NAN);
    if (a->staircase) *f = Floor(*f);
    return true;
}

eddy_tensor eddy_exponential_decay_with(const eddy_decay_args *given)
{
    eddy_decay_args a = EDDY_TAKE(eddy_decay_args, given);
    eddy__schedule s = { .what = "exponential_decay" };
    eddy_tensor   f, decay;
    if (!decay_begin(&s, &a, "ExponentialDecay", &f, &decay)) return eddy_none(s.g);
    return eddy__schedule_end(&s, Mul(s.rate, Pow(decay, f)));
}

eddy_tensor eddy_natural_exp_decay_with(const eddy_decay_args *given)
{
    eddy_decay_args a = EDDY_TAKE(eddy_decay_args, given);
    eddy__schedule s = { .what = "natural_exp_decay" };
    eddy_tensor   f, decay;
    if (!decay_begin(&s, &a, "NaturalExpDecay", &f, &decay)) return eddy_none(s.g);
    return eddy__schedule_end(&s, Mul(s.rate, Exp(Mul(Neg(decay), f))));
}

eddy_tensor eddy_inverse_time_decay_with(const eddy_decay_args *given)
{
    eddy_decay_args a = EDDY_TAKE(eddy_decay_args, given);
    eddy__schedule s = { .what = "inverse_time_decay" };
    eddy_tensor   f, decay;
    if (!decay_begin(&s, &a, "InverseTimeDecay", &f, &decay)) return eddy_none(s.g);
    return eddy__schedule_end(&s, Div(s.rate, Add(1, Mul(decay, f))));
}

eddy_tensor eddy_polynomial_decay_with(const eddy_polynomial_decay_args *given)
{
    eddy_polynomial_decay_args a = EDDY_TAKE(eddy_polynomial_decay_args, given);
    eddy__schedule s = { .what = "polynomial_decay" };
    if (!eddy__schedule_begin(&s, a.learning_rate, a.global_step, a.name, "PolynomialDecay"))
        return eddy_none(s.g);
    eddy_tensor steps = eddy__schedule_operand(&s, "decay_steps", a.decay_steps, NAN);
    eddy_tensor end = OPTION(&s, eddy_polynomial_decay_args, a, end_learning_rate);
    eddy_tensor power = OPTION(&s, eddy_polynomial_decay_args, a, power);
    if (a.cycle) steps = Mul(steps, Where(Equal(s.step, 0), 1, Ceil(Div(s.step, steps))));
    else s.step = Minimum(s.step, steps);
    eddy_tensor left = Sub(1, Div(s.step, steps));
    return eddy__schedule_end(&s, Add(Mul(Sub(s.rate, end), Pow(left, power)), end));
}

/* ------------------------------------------------------ piecewise constant -- */

/* Boundary i in the type of x; invalid with the error set. */
static eddy_tensor boundary(eddy_tensor x, eddy_tensor b, int i)
{
    char which[32];
    snprintf(which, sizeof which, "boundary %d", i);
    if (!operand_fits(x.graph, "piecewise_constant", which, b)) return eddy_none(x.graph);
    if (eddy_dtype_of(x) == EDDY_INT64 && eddy_dtype_of(b) == EDDY_INT32)
        return eddy_cast(b, EDDY_INT64);
    if (eddy_dtype_of(x) == eddy_dtype_of(b)) return b;
    return eddy_fail(x.graph, EDDY_BAD_DTYPE,
                     "Boundaries (%s) must have the same dtype as x (%s).",
                     eddy_dtype_name(eddy_dtype_of(b)), eddy_dtype_name(eddy_dtype_of(x)));
}

static bool values_fit(eddy_graph *g, eddy_list values)
{
    char which[32];
    for (int i = 0; i < values.count; i++) {
        snprintf(which, sizeof which, "value %d", i);
        if (!operand_fits(g, "piecewise_constant", which, values.at[i])) return false;
        if (eddy_dtype_of(values.at[i]) == eddy_dtype_of(values.at[0])) continue;
        eddy_fail(g, EDDY_BAD_DTYPE,
                  "Values must have elements all with the same dtype (%s vs %s).",
                  eddy_dtype_name(eddy_dtype_of(values.at[0])),
                  eddy_dtype_name(eddy_dtype_of(values.at[i])));
        return false;
    }
    return true;
}

eddy_tensor eddy_piecewise_constant_with(const eddy_piecewise_constant_args *given)
{
    eddy_piecewise_constant_args a = EDDY_TAKE(eddy_piecewise_constant_args, given);
    eddy_graph *g = a.x.graph;
    if (!eddy__graph_ready(g)) return eddy_none(g);
    if (!operand_fits(g, "piecewise_constant", "x", a.x)) return eddy_none(g);
    if (a.boundaries.count < 0 || !a.values.at || a.values.count != a.boundaries.count + 1)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT,
                         "The length of boundaries should be 1 less than the length of values");
    if (!values_fit(g, a.values)) return eddy_none(g);
    const eddy__schedule s = { .g = g };
    eddy_scope_begin(g, a.name && *a.name ? a.name : "PiecewiseConstant");
    eddy_tensor y = a.values.at[a.boundaries.count];
    for (int i = a.boundaries.count - 1; i >= 0; i--)
        y = Where(LessEqual(a.x, boundary(a.x, a.boundaries.at[i], i)), a.values.at[i], y);
    return eddy__schedule_end(&s, a.boundaries.count > 0 ? y : Identity(y));
}

/* -------------------------------------------------------------- cosines -- */

/* lr ((1 - alpha) cosine + alpha). */
static eddy_tensor with_floor(const eddy__schedule *s, eddy_tensor cosine, eddy_tensor alpha)
{
    return Mul(s->rate, Add(Mul(Sub(1, alpha), cosine), alpha));
}

eddy_tensor eddy_cosine_decay_with(const eddy_cosine_decay_args *given)
{
    eddy_cosine_decay_args a = EDDY_TAKE(eddy_cosine_decay_args, given);
    eddy__schedule s = { .what = "cosine_decay" };
    if (!eddy__schedule_begin(&s, a.learning_rate, a.global_step, a.name, "CosineDecay"))
        return eddy_none(s.g);
    eddy_tensor steps = eddy__schedule_operand(&s, "decay_steps", a.decay_steps, NAN);
    eddy_tensor alpha = OPTION(&s, eddy_cosine_decay_args, a, alpha);
    eddy_tensor over = Div(Minimum(s.step, steps), steps);
    return eddy__schedule_end(&s, with_floor(&s, eddy__half_cosine(over), alpha));
}

/* How long the periods before period i take, 1 + t + ... + t^(i - 1). */
static eddy_tensor before(eddy_tensor t_mul, eddy_tensor i)
{
    return Where(Equal(t_mul, 1), i, Div(Sub(1, Pow(t_mul, i)), Sub(1, t_mul)));
}

/* The number of the period and the position in it; f is in units of the first period. At the
 * beginning of a period, rounding may make the quotient of logarithms slightly smaller than the
 * number. */
static eddy_tensor period(eddy_tensor f, eddy_tensor t_mul, eddy_tensor *over)
{
    eddy_tensor grows = Floor(Div(Log(Sub(1, Mul(f, Sub(1, t_mul)))), Log(t_mul)));
    eddy_tensor i = Where(Equal(t_mul, 1), Floor(f), grows), next = Add(i, 1);
    i = Where(GreaterEqual(f, before(t_mul, next)), next, i);
    *over = Div(Sub(f, before(t_mul, i)), Pow(t_mul, i));
    return i;
}

eddy_tensor eddy_cosine_decay_restarts_with(const eddy_cosine_decay_restarts_args *given)
{
    eddy_cosine_decay_restarts_args a = EDDY_TAKE(eddy_cosine_decay_restarts_args, given);
    eddy__schedule s = { .what = "cosine_decay_restarts" };
    if (!eddy__schedule_begin(&s, a.learning_rate, a.global_step, a.name, "SGDRDecay"))
        return eddy_none(s.g);
    eddy_tensor first = eddy__schedule_operand(&s, "first_decay_steps", a.first_decay_steps, NAN);
    eddy_tensor t_mul = OPTION(&s, eddy_cosine_decay_restarts_args, a, t_mul);
    eddy_tensor m_mul = OPTION(&s, eddy_cosine_decay_restarts_args, a, m_mul);
    eddy_tensor alpha = OPTION(&s, eddy_cosine_decay_restarts_args, a, alpha), over;
    eddy_tensor i = period(Div(s.step, first), t_mul, &over);
    eddy_tensor height = Mul(Pow(m_mul, i), eddy__half_cosine(over));
    return eddy__schedule_end(&s, with_floor(&s, height, alpha));
}

/* lr ((alpha + left) (1 + cos(2 pi num_periods over)) / 2 + beta). */
static eddy_tensor linear_cosine(const eddy__schedule *s, eddy_tensor left, eddy_tensor over,
                                 eddy_tensor num_periods, eddy_tensor alpha, eddy_tensor beta)
{
    eddy_tensor cosine = eddy__half_cosine(Mul(Mul(2, num_periods), over));
    return eddy__schedule_end(s, Mul(s->rate, Add(Mul(Add(alpha, left), cosine), beta)));
}

eddy_tensor eddy_linear_cosine_decay_with(const eddy_linear_cosine_decay_args *given)
{
    eddy_linear_cosine_decay_args a = EDDY_TAKE(eddy_linear_cosine_decay_args, given);
    eddy__schedule s = { .what = "linear_cosine_decay" };
    if (!eddy__schedule_begin(&s, a.learning_rate, a.global_step, a.name, "LinearCosineDecay"))
        return eddy_none(s.g);
    eddy_tensor steps = eddy__schedule_operand(&s, "decay_steps", a.decay_steps, NAN);
    eddy_tensor periods = OPTION(&s, eddy_linear_cosine_decay_args, a, num_periods);
    eddy_tensor alpha = OPTION(&s, eddy_linear_cosine_decay_args, a, alpha);
    eddy_tensor beta = OPTION(&s, eddy_linear_cosine_decay_args, a, beta);
    eddy_tensor step = Minimum(s.step, steps), left = Div(Sub(steps, step), steps);
    return linear_cosine(&s, left, Div(step, steps), periods, alpha, beta);
}

/* Noise like x for a step that is counted from 0. */
static eddy_tensor noise_like(const eddy__schedule *s, const eddy_noisy_linear_cosine_decay_args *a,
                              eddy_tensor x, eddy_tensor step)
{
    eddy_tensor first = OPTION(s, eddy_noisy_linear_cosine_decay_args, *a, initial_variance);
    eddy_tensor decay = OPTION(s, eddy_noisy_linear_cosine_decay_args, *a, variance_decay);
    eddy_tensor deviation = Sqrt(Div(first, Pow(Add(1, step), decay)));
    eddy_tensor noise = eddy_random_normal_like(x, .seed = a->seed);
    return Mul(deviation, CastLike(noise, x));
}

eddy_tensor eddy_noisy_linear_cosine_decay_with(const eddy_noisy_linear_cosine_decay_args *given)
{
    eddy_noisy_linear_cosine_decay_args a = EDDY_TAKE(eddy_noisy_linear_cosine_decay_args, given);
    eddy__schedule s = { .what = "noisy_linear_cosine_decay" };
    if (!eddy__schedule_begin(&s, a.learning_rate, a.global_step, a.name, "NoisyLinearCosineDecay"))
        return eddy_none(s.g);
    eddy_tensor steps = eddy__schedule_operand(&s, "decay_steps", a.decay_steps, NAN);
    eddy_tensor periods = OPTION(&s, eddy_noisy_linear_cosine_decay_args, a, num_periods);
    eddy_tensor alpha = OPTION(&s, eddy_noisy_linear_cosine_decay_args, a, alpha);
    eddy_tensor beta = OPTION(&s, eddy_noisy_linear_cosine_decay_args, a, beta);
    eddy_tensor step = Minimum(s.step, steps), left = Div(Sub(steps, step), steps);
    left = Add(left, noise_like(&s, &a, left, step));
    return linear_cosine(&s, left, Div(step, steps), periods, alpha, beta);
}
