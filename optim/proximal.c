/* proximal.c -- gradient descent and Adagrad, each step followed by the proximal operator
 * of l1 |v| + l2 v^2 / 2 (Duchi and Singer 2009).
 *
 *   e = lr, or with Adagrad  a <- a + g^2,  e = lr / sqrt(a)
 *   v <- shrink(v - e g, e l1) / (1 + e l2) */
#include "optim/internal.h"
#include "ops/math.h"

#include <math.h>

typedef struct proximal_state {
    eddy_tensor learning_rate;
    eddy_tensor rate;                /* the same, found to be above 0 where that matters */
    double      initial, l1, l2;
} proximal_state;

eddy_tensor eddy_shrink(eddy_tensor x, eddy_tensor by)
{
    return Mul(Sign(x), Maximum(Sub(Abs(x), by), 0));
}

/* One step of length e, which is a scalar or one for each element. */
static eddy_tensor proximal(const proximal_state *s, eddy_tensor v, eddy_tensor e, eddy_tensor g)
{
    eddy_tensor w = Sub(v, Mul(e, g));
    if (s->l1 > 0) w = eddy_shrink(w, Mul(e, s->l1));
    return s->l2 > 0 ? Div(w, Add(1, Mul(e, s->l2))) : w;
}

static bool proximal_fits(eddy_graph *g, const proximal_state *s, const char *l1, const char *l2)
{
    return eddy_setting_is_not_negative(g, l1, s->l1) && eddy_setting_is_not_negative(g, l2, s->l2);
}

/* ------------------------------------------------------- gradient descent -- */

static void descent_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const proximal_state *s = eddy_optimizer_state(o);
    x[0] = proximal(s, x[0], eddy_hyper(s->learning_rate, g), g);
}

static const eddy_optimizer_def descent = {
    .name = "ProximalGradientDescent", .state_size = sizeof(proximal_state), .step = descent_step,
};

eddy_optimizer *eddy_proximal_gradient_descent_with(eddy_proximal_gradient_descent_args a)
{
    eddy_graph    *g = a.graph ? a.graph : a.learning_rate.graph;
    proximal_state s = { .learning_rate = a.learning_rate, .l1 = a.l1_regularization_strength,
                         .l2 = a.l2_regularization_strength };
    if (!eddy_hyper_settle(g, "ProximalGradientDescent: learning_rate", &s.learning_rate, NAN) ||
        !proximal_fits(g, &s, "ProximalGradientDescent: l1_regularization_strength",
                       "ProximalGradientDescent: l2_regularization_strength"))
        return NULL;
    return eddy_optimizer_new(g, &descent, &s, a.name);
}

/* ----------------------------------------------------------------- Adagrad -- */

static void adagrad_slots(eddy_optimizer *o, eddy_tensor v)
{
    const proximal_state *s = eddy_optimizer_state(o);
    eddy_filled_slot(o, v, "accumulator", s->initial, NULL);
}

static void adagrad_prepare(eddy_optimizer *o)
{
    proximal_state *s = eddy_optimizer_state(o);
    s->rate = eddy_hyper_positive("ProximalAdagrad: learning_rate", s->learning_rate);
}

static void adagrad_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const proximal_state *s = eddy_optimizer_state(o);
    x[1] = Add(x[1], Square(g));
    x[0] = proximal(s, x[0], Div(eddy_hyper(s->rate, g), Sqrt(x[1])), g);
}

static const eddy_optimizer_def adagrad = {
    .name = "ProximalAdagrad", .state_size = sizeof(proximal_state),
    .create_slots = adagrad_slots, .prepare = adagrad_prepare, .step = adagrad_step,
    .slots = { "accumulator" },
};

eddy_optimizer *eddy_proximal_adagrad_with(eddy_proximal_adagrad_args a)
{
    eddy_graph    *g = a.graph ? a.graph : a.learning_rate.graph;
    proximal_state s = { .learning_rate = a.learning_rate,
                         .initial = eddy_setting(a.initial_accumulator_value, 0.1),
                         .l1 = a.l1_regularization_strength, .l2 = a.l2_regularization_strength };
    if (!eddy_hyper_settle(g, "ProximalAdagrad: learning_rate", &s.learning_rate, NAN) ||
        !eddy_setting_is_positive(g, "ProximalAdagrad: initial_accumulator_value", s.initial) ||
        !proximal_fits(g, &s, "ProximalAdagrad: l1_regularization_strength",
                       "ProximalAdagrad: l2_regularization_strength"))
        return NULL;
    return eddy_optimizer_new(g, &adagrad, &s, a.name);
}
