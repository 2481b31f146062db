/* adamax.c -- Adam with the largest gradient, slowly forgotten, in the place of the root of
 * the second moment (Kingma and Ba 2014, section 7.1).
 *
 *   m <- m + (1 - beta1) (g - m)
 *   u <- max(beta2 u, |g| + epsilon)
 *   x <- x - lr / (1 - beta1^t) m / u */
#include "optim/modern_internal.h"

typedef struct adamax_state {
    eddy_tensor learning_rate, beta1, beta2, epsilon;
    eddy_tensor rate;                /* of this step */
} adamax_state;

static void adamax_prepare(eddy_optimizer *o)
{
    adamax_state *a = eddy_optimizer_state(o);
    a->rate = Div(eddy_exact(a->learning_rate), eddy_one_less_power(a->beta1, eddy_step_number(o)));
}

static void adamax_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const adamax_state *a = eddy_optimizer_state(o);
    x[1] = eddy_moving(x[1], g, a->beta1);
    x[2] = Maximum(Mul(eddy_hyper(a->beta2, g), x[2]), Add(Abs(g), eddy_hyper(a->epsilon, g)));
    x[0] = Sub(x[0], Mul(eddy_hyper(a->rate, g), Div(x[1], x[2])));
}

static const eddy_optimizer_def adamax = {
    .name = "Adamax", .state_size = sizeof(adamax_state), .create_slots = eddy_counted_slots,
    .prepare = adamax_prepare, .finish = eddy_count_step,
    .step = adamax_step, .slots = { "m", "u" },
};

eddy_optimizer *eddy_adamax_with(eddy_adamax_args a)
{
    eddy_graph  *g = a.graph ? a.graph : a.learning_rate.graph;
    adamax_state s = { a.learning_rate, a.beta1, a.beta2, a.epsilon, eddy_none(g) };
    const eddy_hyper_row rows[] = { { "Adamax: learning_rate", &s.learning_rate, 0.002 },
                                    { "Adamax: beta1", &s.beta1, 0.9 },
                                    { "Adamax: beta2", &s.beta2, 0.999 },
                                    { "Adamax: epsilon", &s.epsilon, 1e-8 } };
    const eddy_optimizer_def def = a.lazy ? adamax : eddy_made_dense(adamax);
    if (!eddy_hypers_settle(g, rows, sizeof rows / sizeof *rows)) return NULL;
    return eddy_optimizer_new(g, &def, &s, a.name);
}
