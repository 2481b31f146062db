/* adagrad.c -- a rate for each element, by the gradients that it has had (Duchi, Hazan and
 * Singer 2011).
 *
 *   a <- a + g^2
 *   v <- v - lr g / sqrt(a)
 *
 * There is no epsilon: a begins above zero. */
#include "optim/internal.h"
#include "ops/math.h"

#include <math.h>

typedef struct adagrad_state {
    eddy_tensor learning_rate;
    double      initial;
} adagrad_state;

static void adagrad_slots(eddy_optimizer *o, eddy_tensor v)
{
    const adagrad_state *s = eddy_optimizer_state(o);
    eddy_filled_slot(o, v, "accumulator", s->initial, NULL);
}

static void adagrad_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const adagrad_state *s = eddy_optimizer_state(o);
    x[1] = Add(x[1], Square(g));
    x[0] = Sub(x[0], Div(Mul(eddy_hyper(s->learning_rate, g), g), Sqrt(x[1])));
}

static const eddy_optimizer_def adagrad = {
    .name = "Adagrad", .state_size = sizeof(adagrad_state), .create_slots = adagrad_slots,
    .step = adagrad_step, .slots = { "accumulator" },
};

eddy_optimizer *eddy_adagrad_with(eddy_adagrad_args a)
{
    eddy_graph   *g = a.graph ? a.graph : a.learning_rate.graph;
    adagrad_state s = { a.learning_rate, eddy_setting(a.initial_accumulator_value, 0.1) };
    if (!eddy_hyper_settle(g, "Adagrad: learning_rate", &s.learning_rate, NAN) ||
        !eddy_setting_is_positive(g, "Adagrad: initial_accumulator_value", s.initial))
        return NULL;
    return eddy_optimizer_new(g, &adagrad, &s, a.name);
}
