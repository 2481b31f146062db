/* ode.c -- fits the parameters of a differential equation to a noisy trace, by the adjoint method.
 *
 *   prey'    = prey (p0 - p1 hunters)
 *   hunters' = hunters (p2 prey - p3)
 *
 * The solver is a loop inside the graph that chooses the length of its steps. The gradient of the
 * squared distance from the trace solves the adjoint equation backward, so that no step is kept;
 * Adam uses it to fit the logarithms of the four parameters and of the two initial values.
 *
 * The program fails unless the gradient agrees with that through the steps and with differences,
 * and the parameters are found. */
#include <eddy/eddy.h>
#include <eddy/ops/short_names.h>

#include <math.h>
#include <stdio.h>

enum { TIMES = 25, PARAMETERS = 6, STEPS = 300 };
static const double TRUE_VALUES[PARAMETERS] = { 1.1, 0.5, 0.4, 0.9, 2, 1 };  /* p, then y(0) */
static const double GUESS[PARAMETERS] = { 0.9, 0.6, 0.5, 0.7, 1.5, 1.3 };

/* The same numbers everywhere, in [-1, 1). */
static double noise(void)
{
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / (1 << 23) - 1;
}

/* Arguments: the time, prey, hunters; the parameters are captured. */
static int lotka_volterra(eddy_list x, eddy_tensor *slope, void *context)
{
    const eddy_tensor *p = context, prey = x.at[1], hunters = x.at[2];
    slope[0] = Mul(prey, Sub(p[0], Mul(p[1], hunters)));
    slope[1] = Mul(hunters, Sub(Mul(p[2], prey), p[3]));
    return 2;
}

/* Both species at all times, [2, TIMES]. */
static eddy_tensor simulate(eddy_tensor logarithms, eddy_tensor t, eddy_ode_gradient gradient)
{
    eddy_tensor p[PARAMETERS], y[2], all = Exp(logarithms);
    for (int i = 0; i < PARAMETERS; i++)
        p[i] = eddy_gather(all, eddy_number(t.graph, EDDY_INT32, i));
    const eddy_function f = { .build = lotka_volterra, .context = p, .name = "lotka_volterra" };
    if (eddy_odeint(f, EDDY_LIST(p[4], p[5]), t, y, .gradient = gradient, .rtol = 1e-8,
                    .atol = 1e-8) != 2)
        return eddy_none(t.graph);
    return eddy_stack(EDDY_LIST(y[0], y[1]));
}

/* A vector of the logarithms of these values. */
static eddy_array *logarithms_of(const double *values)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(PARAMETERS));
    for (int i = 0; a && i < PARAMETERS; i++) eddy_array_set(a, i, log(values[i]));
    return a;
}

/* The graph, which is complete before anything runs. */
typedef struct model {
    eddy_tensor given, trace;               /* placeholders: logarithms, what was observed */
    eddy_tensor y, loss, adjoint, unrolled; /* of those: the solution, the loss, its gradients */
    eddy_tensor fitted, fit, step, init;    /* of the variable: its values, the loss, a step */
} model;

static model build(eddy_graph *g, const eddy_array *guess)
{
    const eddy_tensor t = eddy_linspace(eddy_number(g, EDDY_FLOAT64, 0),
                                        eddy_number(g, EDDY_FLOAT64, 10), TIMES);
    const eddy_tensor v = eddy_variable(g, eddy_constant(g, guess), .name = "logarithms");
    model m = { .given = eddy_placeholder(g, "given", EDDY_FLOAT64, EDDY_SHAPE(PARAMETERS)),
                .trace = eddy_placeholder(g, "trace", EDDY_FLOAT64, EDDY_SHAPE(2, TIMES)) };
    m.y = simulate(m.given, t, EDDY_ODE_ADJOINT);
    m.loss = Mean(SquaredDifference(m.y, m.trace));
    m.adjoint = eddy_gradient(m.loss, m.given);
    const eddy_tensor steps = simulate(m.given, t, EDDY_ODE_UNROLLED);
    m.unrolled = eddy_gradient(Mean(SquaredDifference(steps, m.trace)), m.given);
    m.fitted = Exp(v);
    m.fit = Mean(SquaredDifference(simulate(v, t, EDDY_ODE_ADJOINT), m.trace));
    m.step = eddy_minimize(eddy_adam(g, eddy_scalar(g, 0.02)), m.fit);
    m.init = eddy_initializer(g);
    return m;
}

/* The trace: the true values with noise. */
static eddy_array *observe(eddy_session *s, const model *m)
{
    eddy_array *x = logarithms_of(TRUE_VALUES), *seen = NULL;
    eddy_run(s, EDDY_FEED({ m->given, x }), EDDY_FETCH(m->y), &seen);
    for (int64_t i = 0; seen && i < eddy_array_count(seen); i++)
        eddy_array_set(seen, i, eddy_array_get(seen, i) + 0.05 * noise());
    eddy_array_free(x);
    return seen;
}

static double loss_at(eddy_session *s, const model *m, eddy_array *x, const eddy_array *seen)
{
    eddy_array *loss = NULL;
    const eddy_status status =
        eddy_run(s, EDDY_FEED({ m->given, x }, { m->trace, seen }), EDDY_FETCH(m->loss), &loss);
    const double value = status == EDDY_OK ? eddy_array_item(loss) : NAN;
    eddy_array_free(loss);
    return value;
}

/* The largest distance of the adjoint gradient from the other, and from central differences. */
static double gradient_error(eddy_session *s, const model *m, const eddy_array *seen)
{
    eddy_array  *x = logarithms_of(GUESS), *d[2] = { NULL };
    double       worst = 0;
    const double e = 1e-4;
    if (eddy_run(s, EDDY_FEED({ m->given, x }, { m->trace, seen }),
                 EDDY_FETCH(m->adjoint, m->unrolled), d) != EDDY_OK)
        worst = NAN;
    for (int i = 0; i < PARAMETERS && worst >= 0; i++) {
        const double at = eddy_array_get(x, i), got = eddy_array_get(d[0], i);
        eddy_array_set(x, i, at + e);
        const double up = loss_at(s, m, x, seen);
        eddy_array_set(x, i, at - e);
        const double difference = (up - loss_at(s, m, x, seen)) / (2 * e);
        eddy_array_set(x, i, at);
        worst = fmax(worst, fabs(got - eddy_array_get(d[1], i)));
        if (!(fabs(got - difference) <= worst)) worst = fabs(got - difference);
    }
    eddy_array_free(d[0]), eddy_array_free(d[1]), eddy_array_free(x);
    return worst;
}

/* Minimizes the loss; the largest relative error of a value. */
static double fit(eddy_session *s, const model *m, const eddy_array *seen)
{
    eddy_array *out[2] = { NULL };
    double      worst = 0, losses[STEPS + 1];
    int         n = 0;
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(m->init), NULL);
    while (n <= STEPS && eddy_run(s, EDDY_FEED({ m->trace, seen }), EDDY_FETCH(m->fit, m->step),
                                  out) == EDDY_OK)
        losses[n++] = eddy_array_item(out[0]);
    eddy_plot_print(&(eddy_curve){ .count = n, .y = losses }, 1, .title = "loss", .x_label = "step",
                    .log_y = true);
    eddy_array *found = eddy_fetch(s, m->fitted);
    for (int i = 0; i < PARAMETERS; i++) {
        const double got = found ? eddy_array_get(found, i) : NAN;
        const double off = fabs(got / TRUE_VALUES[i] - 1);
        printf("%s%d = %.4f, in truth %.4f\n", i < 4 ? "p" : "y", i < 4 ? i : i - 4, got,
               TRUE_VALUES[i]);
        if (!(off <= worst)) worst = off;
    }
    eddy_array_free(out[0]), eddy_array_free(out[1]), eddy_array_free(found);
    return worst;
}

int main(void)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_array   *guess = logarithms_of(GUESS);
    const model   m = build(g, guess);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *seen = observe(s, &m);
    const double  error = seen ? gradient_error(s, &m, seen) : NAN;
    printf("the gradients and the differences agree to %.0e\n", error);
    const double worst = seen ? fit(s, &m, seen) : NAN;
    if (eddy_session_status(s) != EDDY_OK) fprintf(stderr, "%s\n", eddy_session_message(s));
    eddy_array_free(seen), eddy_array_free(guess);
    eddy_session_free(s);
    eddy_graph_free(g);
    const bool ok = error < 1e-5 && worst < 0.05;
    printf("%s\n", ok ? "ok" : "FAILED");
    return !ok;
}
