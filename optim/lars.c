/* lars.c -- momentum with a rate for each variable, by the length of the variable and of its
 * gradient (You et al. 2017).
 *
 *   d  = lr eeta |x| / (|g| + decay |x| + epsilon) (g + decay x)
 *   a <- momentum a + d
 *   x <- x - a                      or, after Nesterov, x <- x - (d + momentum a) */
#include "optim/modern_internal.h"

typedef struct lars_state {
    eddy_tensor          learning_rate, momentum, weight_decay, eeta, epsilon;
    eddy_variable_filter skip;
    bool                 use_nesterov;
} lars_state;

static eddy_tensor lars_scaled(const lars_state *s, eddy_tensor g, eddy_tensor v)
{
    eddy_tensor lr = eddy_hyper(s->learning_rate, v), decay = eddy_hyper(s->weight_decay, v);
    if (eddy_picks(&s->skip, v)) return Mul(lr, g);
    eddy_tensor of_v = eddy_euclidean_norm(v), of_g = eddy_euclidean_norm(g);
    eddy_tensor below = Add(Add(of_g, Mul(decay, of_v)), eddy_hyper(s->epsilon, v));
    eddy_tensor ratio = Div(Mul(eddy_hyper(s->eeta, v), of_v), below);
    return Mul(Mul(lr, eddy_trust(of_v, of_g, ratio)), Add(g, Mul(decay, v)));
}

static eddy_tensor lars_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    const lars_state *s = eddy_optimizer_state(o);
    eddy_tensor a = eddy_get_slot(o, v, "momentum"), mu = eddy_hyper(s->momentum, v);
    eddy_tensor d = lars_scaled(s, g, v);
    a = eddy_assign(a, Add(Mul(mu, a), d));
    return eddy_assign_sub(v, s->use_nesterov ? Add(d, Mul(mu, a)) : a);
}

static const eddy_optimizer_def lars = {
    .name = "LARSOptimizer", .state_size = sizeof(lars_state), .create_slots = eddy_step_slots,
    .apply_dense = lars_dense, .slots = { "momentum" },
};

eddy_optimizer *eddy_lars_with(eddy_lars_args a)
{
    eddy_graph *g = a.graph ? a.graph : a.learning_rate.graph;
    lars_state  s = { a.learning_rate, a.momentum, a.weight_decay, a.eeta, a.epsilon, a.skip,
                      a.use_nesterov };
    const eddy_hyper_row rows[] = { { "LARS: learning_rate", &s.learning_rate, NAN },
                                    { "LARS: momentum", &s.momentum, 0.9 },
                                    { "LARS: weight_decay", &s.weight_decay, 0.0001 },
                                    { "LARS: eeta", &s.eeta, 0.001 },
                                    { "LARS: epsilon", &s.epsilon, 0 } };
    if (!eddy_hypers_settle(g, rows, sizeof rows / sizeof *rows)) return NULL;
    return eddy_optimizer_new(g, &lars, &s, a.name);
}
