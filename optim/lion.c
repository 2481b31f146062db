/* lion.c -- the sign of a mixture of momentum and gradient moves the variable (Chen et al.
 * 2023).
 *
 *   x <- x - lr (sign(beta1 m + (1 - beta1) g) + decay x)
 *   m <- beta2 m + (1 - beta2) g */
#include "optim/modern_internal.h"

typedef struct lion_state {
    eddy_tensor          learning_rate, beta1, beta2, weight_decay;
    eddy_variable_filter without_decay;
    bool                 decays;     /* the variable that is being updated */
} lion_state;

static void lion_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const lion_state *a = eddy_optimizer_state(o);
    eddy_tensor step = Sign(eddy_moving(x[1], g, a->beta1));
    if (a->decays) step = Add(step, Mul(eddy_hyper(a->weight_decay, g), x[0]));
    x[1] = eddy_moving(x[1], g, a->beta2);
    x[0] = Sub(x[0], Mul(eddy_hyper(a->learning_rate, g), step));
}

static void settle_decay(eddy_optimizer *o, eddy_tensor v)
{
    lion_state *a = eddy_optimizer_state(o);
    a->decays = a->weight_decay.node != 0 && !eddy_picks(&a->without_decay, v);
}

static eddy_tensor lion_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    settle_decay(o, v);
    return eddy_step_all(o, g, v);
}

static eddy_tensor lion_sparse(eddy_optimizer *o, eddy_tensor g, eddy_tensor indices, eddy_tensor v)
{
    settle_decay(o, v);
    return eddy_step_rows(o, g, indices, v);
}

static const eddy_optimizer_def lion = {
    .name = "Lion", .state_size = sizeof(lion_state), .apply_dense = lion_dense,
    .apply_sparse = lion_sparse, .step = lion_step, .slots = { "m" },
};

eddy_optimizer *eddy_lion_with(eddy_lion_args a)
{
    eddy_graph *g = a.graph ? a.graph : a.learning_rate.graph;
    lion_state  s = { a.learning_rate, a.beta1, a.beta2, a.weight_decay, a.without_decay, false };
    const eddy_hyper_row rows[] = { { "Lion: learning_rate", &s.learning_rate, 0.0001 },
                                    { "Lion: beta1", &s.beta1, 0.9 },
                                    { "Lion: beta2", &s.beta2, 0.99 },
                                    { "Lion: weight_decay", &s.weight_decay, INFINITY } };
    const eddy_optimizer_def def = a.lazy ? lion : eddy_made_dense(lion);
    if (!eddy_hypers_settle(g, rows, sizeof rows / sizeof *rows)) return NULL;
    return eddy_optimizer_new(g, &def, &s, a.name);
}
