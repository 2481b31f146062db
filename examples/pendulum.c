/* pendulum.c -- fits the damping of a pendulum to a noisy trace of its angle.
 *
 *   angle' = speed
 *   speed' = -(g / l) sin(angle) - damping speed
 *
 * A step of Runge-Kutta is the body of a loop, and the loop is a node of the graph: its angles are
 * stacked, and the squared distance from the trace is differentiated with respect to the damping,
 * which the body captures. The second derivative is computed in the same way, so each fit takes a
 * few steps of Newton's method.
 *
 * The program fails unless the loop agrees with a plain C loop and the damping is found. */
#include <eddy/eddy.h>
#include <eddy/ops/short_names.h>

#include <math.h>
#include <stdio.h>

enum { STEPS = 400, FITS = 8 };
static const double H = 0.025, G_OVER_L = 9.81, DAMPING = 0.3, START[2] = { 1.2, 0 };

/* ------------------------------------------------------------ as a plain loop -- */

static void slope_of(const double *s, double damping, double *d)
{
    d[0] = s[1];
    d[1] = -G_OVER_L * sin(s[0]) - damping * s[1];
}

static void simulate(double damping, double *angles)
{
    const double part[4] = { 0, 0.5, 0.5, 1 }, weight[4] = { 1, 2, 2, 1 };
    double       s[2] = { START[0], START[1] }, k[4][2];
    for (int i = 0; i < STEPS; i++) {
        for (int stage = 0; stage < 4; stage++) {
            double at[2];
            for (int n = 0; n < 2; n++)
                at[n] = s[n] + (stage ? H * part[stage] * k[stage - 1][n] : 0);
            slope_of(at, damping, k[stage]);
        }
        for (int stage = 0; stage < 4; stage++)
            for (int n = 0; n < 2; n++) s[n] += H / 6 * weight[stage] * k[stage][n];
        angles[i] = s[0];
    }
}

/* The same numbers everywhere, in [-1, 1). */
static double noise(void)
{
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / (1 << 23) - 1;
}

/* --------------------------------------------------------------- as a graph -- */

/* angle', speed' at (angle, speed) + h (k_angle, k_speed) */
typedef struct slope {
    eddy_tensor angle, speed;
} slope;
static slope slope_at(const eddy_tensor *s, double h, const slope *k, eddy_tensor damping)
{
    const eddy_tensor angle = k ? Add(s[0], Mul(h, k->angle)) : s[0];
    const eddy_tensor speed = k ? Add(s[1], Mul(h, k->speed)) : s[1];
    return (slope){ speed, Sub(Mul(-G_OVER_L, Sin(angle)), Mul(damping, speed)) };
}

static eddy_tensor moved(eddy_tensor x, eddy_tensor k1, eddy_tensor k2, eddy_tensor k3,
                         eddy_tensor k4)
{
    return Add(x, Mul(H / 6, Add(Add(k1, k4), Mul(2, Add(k2, k3)))));
}

/* The body: from the angle and the speed to the next ones, and the angle again for the stack. */
static int step(eddy_list state, eddy_tensor *next, void *context)
{
    const eddy_tensor *s = state.at, damping = *(eddy_tensor *)context;
    const slope        k1 = slope_at(s, 0, NULL, damping), k2 = slope_at(s, H / 2, &k1, damping);
    const slope        k3 = slope_at(s, H / 2, &k2, damping), k4 = slope_at(s, H, &k3, damping);
    next[0] = moved(s[0], k1.angle, k2.angle, k3.angle, k4.angle);
    next[1] = moved(s[1], k1.speed, k2.speed, k3.speed, k4.speed);
    next[2] = next[0];
    return 3;
}

static eddy_tensor angles_of(eddy_graph *g, eddy_tensor damping)
{
    eddy_tensor   y[3], angle = eddy_number(g, EDDY_FLOAT64, START[0]);
    eddy_tensor   speed = eddy_number(g, EDDY_FLOAT64, START[1]);
    eddy_function f = { .build = step, .context = &damping, .name = "step" };
    if (eddy_loop(f, EDDY_LIST(angle, speed), EDDY_LIST(), y, STEPS) != 3) return eddy_none(g);
    return y[2];
}

/* The largest distance of the loop's angles from the plain ones. */
static double distance(eddy_session *s, eddy_tensor angles, double damping)
{
    double      want[STEPS], worst = 0;
    eddy_array *got = eddy_fetch(s, angles);
    simulate(damping, want);
    for (int i = 0; i < STEPS; i++) {
        const double off = got ? fabs(eddy_array_get(got, i) - want[i]) : NAN;
        if (!(off <= worst)) worst = off;
    }
    eddy_array_free(got);
    return worst;
}

int main(void)
{
    double trace[STEPS];
    simulate(DAMPING, trace);
    for (int i = 0; i < STEPS; i++) trace[i] += 0.05 * noise();

    eddy_graph *g = eddy_graph_new();
    eddy_tensor damping = eddy_variable(g, eddy_number(g, EDDY_FLOAT64, 0.1), .name = "damping");
    eddy_tensor angles = angles_of(g, damping);
    eddy_tensor seen = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(STEPS), trace);
    eddy_tensor loss = Mean(Square(Sub(angles, seen)));
    eddy_tensor d1 = eddy_gradient(loss, damping), d2 = eddy_gradient(d1, damping);
    eddy_tensor newton = eddy_assign_sub(damping, Div(d1, Maximum(Abs(d2), 1e-3)));
    eddy_tensor init = eddy_initializer(g);

    eddy_session *s = eddy_session_new(g);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(init), NULL);
    const double off = distance(s, angles, 0.1);
    printf("%d steps in one loop: they are the plain ones to %.0e\n", STEPS, off);
    for (int i = 0; i < FITS; i++) {
        eddy_array *out[3] = { NULL };
        if (eddy_run(s, EDDY_FEED(), EDDY_FETCH(loss, d1, newton), out) == EDDY_OK)
            printf("loss %.6f, slope %9.6f, damping %.6f\n", eddy_array_item(out[0]),
                   eddy_array_item(out[1]), eddy_array_item(out[2]));
        for (int k = 0; k < 3; k++) eddy_array_free(out[k]);
    }
    eddy_array  *found = eddy_fetch(s, damping);
    const double fitted = found ? eddy_array_item(found) : NAN;
    if (eddy_session_status(s) != EDDY_OK) fprintf(stderr, "%s\n", eddy_session_message(s));
    eddy_array_free(found);
    eddy_session_free(s);
    eddy_graph_free(g);
    const bool ok = off < 1e-12 && fabs(fitted - DAMPING) < 0.01;
    printf("%s\n", ok ? "ok" : "FAILED");
    return !ok;
}
