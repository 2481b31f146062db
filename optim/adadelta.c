/* adadelta.c -- steps as long as the steps so far, in units of the variable (Zeiler 2012).
 *
 *   a <- rho a + (1 - rho) g^2
 *   u =  g sqrt(d + epsilon) / sqrt(a + epsilon)      with the old d
 *   d <- rho d + (1 - rho) u^2
 *   v <- v - lr u
 *
 * The rate is no part of what d remembers. */
#include "optim/internal.h"
#include "ops/math.h"

typedef struct adadelta_state {
    eddy_tensor learning_rate, rho, epsilon;
} adadelta_state;

/* x moved towards the square of g. */
static eddy_tensor decayed(eddy_tensor x, eddy_tensor rho, eddy_tensor g)
{
    return Add(Mul(rho, x), Mul(Sub(1, rho), Square(g)));
}

static void adadelta_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const adadelta_state *s = eddy_optimizer_state(o);
    eddy_tensor rho = eddy_hyper(s->rho, g), epsilon = eddy_hyper(s->epsilon, g);
    x[1] = decayed(x[1], rho, g);
    eddy_tensor u = Mul(g, Div(Sqrt(Add(x[2], epsilon)), Sqrt(Add(x[1], epsilon))));
    x[2] = decayed(x[2], rho, u);
    x[0] = Sub(x[0], Mul(eddy_hyper(s->learning_rate, g), u));
}

static const eddy_optimizer_def adadelta = {
    .name = "Adadelta", .state_size = sizeof(adadelta_state), .step = adadelta_step,
    .slots = { "accum", "accum_update" },
};

eddy_optimizer *eddy_adadelta_with(eddy_adadelta_args a)
{
    eddy_graph    *g = a.graph ? a.graph : a.learning_rate.graph;
    adadelta_state s = { a.learning_rate, a.rho, a.epsilon };
    if (!eddy_hyper_settle(g, "Adadelta: learning_rate", &s.learning_rate, 0.001) ||
        !eddy_hyper_settle(g, "Adadelta: rho", &s.rho, 0.95) ||
        !eddy_hyper_settle(g, "Adadelta: epsilon", &s.epsilon, 1e-8))
        return NULL;
    return eddy_optimizer_new(g, &adadelta, &s, a.name);
}
