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

static eddy_tensor loss_of(eddy_tensor logarithms, eddy_tensor t, eddy_tensor seen,
                           eddy_ode_gradient gradient)
{
    return Mean(SquaredDifference(simulate(logarithms, t, gradient), seen));
}

/* A vector of the logarithms of these values. */
static eddy_array *logarithms_of(const double *values)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(PARAMETERS));
    for (int i = 0; a && i < PARAMETERS; i++) eddy_array_set(a, i, log(values[i]));
    return a;
}

/* The largest distance between the gradients, and from central differences of the loss. */
static double gradient_error(eddy_session *s, eddy_tensor v, eddy_tensor loss, eddy_tensor adjoint,
                             eddy_tensor unrolled)
{
    eddy_array *x = logarithms_of(GUESS), *d[2] = { NULL };
    double      worst = 0;
    if (eddy_run(s, EDDY_FEED({ v, x }), EDDY_FETCH(adjoint, unrolled), d) != EDDY_OK) worst = NAN;
    for (int i = 0; i < PARAMETERS && worst >= 0; i++) {
        const double at = eddy_array_get(x, i), e = 1e-4;
        double       f[2];
        for (int k = 0; k < 2; k++) {
            eddy_array *l = NULL;
            eddy_array_set(x, i, k ? at + e : at - e);
            f[k] = eddy_run(s, EDDY_FEED({ v, x }), EDDY_FETCH(loss), &l) == EDDY_OK
                       ? eddy_array_item(l) : NAN;
            eddy_array_free(l);
        }
        eddy_array_set(x, i, at);
        const double got = eddy_array_get(d[0], i), other = eddy_array_get(d[1], i);
        const double off = fmax(fabs(got - other), fabs(got - (f[1] - f[0]) / (2 * e)));
        if (!(off <= worst)) worst = off;
    }
    eddy_array_free(d[0]), eddy_array_free(d[1]), eddy_array_free(x);
    return worst;
}

/* The trace: the true values with noise. */
static eddy_array *observe(eddy_session *s, eddy_tensor v, eddy_tensor y)
{
    eddy_array *x = logarithms_of(TRUE_VALUES), *seen = NULL;
    eddy_run(s, EDDY_FEED({ v, x }), EDDY_FETCH(y), &seen);
    for (int64_t i = 0; seen && i < eddy_array_count(seen); i++)
        eddy_array_set(seen, i, eddy_array_get(seen, i) + 0.05 * noise());
    eddy_array_free(x);
    return seen;
}

int main(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_array *guess = logarithms_of(GUESS);
    eddy_tensor v = eddy_variable(g, eddy_constant(g, guess), .name = "logarithms");
    eddy_tensor t = Mul(0.4, eddy_cast(eddy_range(eddy_number(g, EDDY_INT32, 0),
                                                  eddy_number(g, EDDY_INT32, TIMES),
                                                  eddy_number(g, EDDY_INT32, 1)), EDDY_FLOAT64));
    eddy_tensor given = eddy_placeholder(g, "given", EDDY_FLOAT64, EDDY_SHAPE(PARAMETERS));
    eddy_tensor y = simulate(given, t, EDDY_ODE_ADJOINT);

    eddy_session *s = eddy_session_new(g);
    eddy_array   *seen = observe(s, given, y), *out[2] = { NULL }, *found = NULL;
    eddy_tensor   known = eddy_constant(g, seen);
    eddy_tensor   l[2] = { loss_of(given, t, known, EDDY_ODE_ADJOINT),
                           loss_of(given, t, known, EDDY_ODE_UNROLLED) };
    const double  error = gradient_error(s, given, l[0], eddy_gradient(l[0], given),
                                         eddy_gradient(l[1], given));
    printf("the gradients and the differences agree to %.0e\n", error);

    eddy_tensor loss = loss_of(v, t, known, EDDY_ODE_ADJOINT);
    eddy_tensor step = eddy_minimize(eddy_adam(g, eddy_scalar(g, 0.02)), loss);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    for (int i = 0; i <= STEPS; i++) {
        if (eddy_run(s, EDDY_FEED(), EDDY_FETCH(loss, step), out) != EDDY_OK) break;
        if (i % 100 == 0) printf("step %3d, loss %.6f\n", i, eddy_array_item(out[0]));
    }
    double worst = 0;
    found = eddy_fetch(s, Exp(v));
    for (int i = 0; i < PARAMETERS; i++) {
        const double got = found ? eddy_array_get(found, i) : NAN;
        printf("%s%d = %.4f, in truth %.4f\n", i < 4 ? "p" : "y", i < 4 ? i : i - 4, got,
               TRUE_VALUES[i]);
        if (!(fabs(got / TRUE_VALUES[i] - 1) <= worst)) worst = fabs(got / TRUE_VALUES[i] - 1);
    }
    if (eddy_session_status(s) != EDDY_OK) fprintf(stderr, "%s\n", eddy_session_message(s));
    eddy_array_free(found), eddy_array_free(seen), eddy_array_free(guess);
    eddy_array_free(out[0]), eddy_array_free(out[1]);
    eddy_session_free(s);
    eddy_graph_free(g);
    const bool ok = error < 1e-5 && worst < 0.05;
    printf("%s\n", ok ? "ok" : "FAILED");
    return !ok;
}
