/* lamb.c -- Adam's step, as long for each variable as the variable itself (You et al. 2020).
 *
 *   m <- m + (1 - beta1) (g - m)
 *   s <- s + (1 - beta2) (g^2 - s)
 *   u  = m / (1 - beta1^t) / (sqrt(s / (1 - beta2^t)) + epsilon) + decay x
 *   x <- x - lr |x| / |u| u */
#include "optim/modern_internal.h"

typedef struct lamb_state {
    eddy_tensor          learning_rate, beta1, beta2, epsilon, weight_decay;
    eddy_variable_filter without_decay, without_adaptation;
    eddy_tensor          scale, root;            /* of this step */
} lamb_state;

static void lamb_prepare(eddy_optimizer *o)
{
    lamb_state *a = eddy_optimizer_state(o);
    eddy_tensor t = eddy_step_number(o);
    a->scale = Div(1, eddy_one_less_power(a->beta1, t));
    a->root = Rsqrt(eddy_one_less_power(a->beta2, t));
}

static eddy_tensor lamb_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    const lamb_state *a = eddy_optimizer_state(o);
    eddy_tensor m = eddy_get_slot(o, v, "m"), s = eddy_get_slot(o, v, "v");
    m = eddy_assign(m, eddy_moving(m, g, a->beta1));
    s = eddy_assign(s, eddy_moving(s, Square(g), a->beta2));
    eddy_tensor below = Add(Mul(Sqrt(s), eddy_hyper(a->root, v)), eddy_hyper(a->epsilon, v));
    eddy_tensor u = Div(Mul(m, eddy_hyper(a->scale, v)), below);
    eddy_tensor lr = eddy_hyper(a->learning_rate, v);
    if (a->weight_decay.node != 0 && !eddy_picks(&a->without_decay, v))
        u = Add(u, Mul(eddy_hyper(a->weight_decay, v), v));
    if (!eddy_picks(&a->without_adaptation, v)) {
        eddy_tensor of_v = eddy_euclidean_norm(v), of_u = eddy_euclidean_norm(u);
        lr = Mul(lr, eddy_trust(of_v, of_u, Div(of_v, of_u)));
    }
    return eddy_group(o->graph, EDDY_LIST(m, s, eddy_assign_sub(v, Mul(lr, u))), NULL);
}

static const eddy_optimizer_def lamb = {
    .name = "LAMB", .state_size = sizeof(lamb_state), .create_slots = eddy_counted_slots,
    .prepare = lamb_prepare, .apply_dense = lamb_dense, .finish = eddy_count_step,
    .slots = { "m", "v" },
};

eddy_optimizer *eddy_lamb_with(eddy_lamb_args a)
{
    eddy_graph *g = a.graph ? a.graph : a.learning_rate.graph;
    lamb_state  s = { .learning_rate = a.learning_rate, .beta1 = a.beta1, .beta2 = a.beta2,
                      .epsilon = a.epsilon, .weight_decay = a.weight_decay,
                      .without_decay = a.without_decay,
                      .without_adaptation = a.without_adaptation };
    const eddy_hyper_row rows[] = { { "LAMB: learning_rate", &s.learning_rate, 0.001 },
                                    { "LAMB: beta1", &s.beta1, 0.9 },
                                    { "LAMB: beta2", &s.beta2, 0.999 },
                                    { "LAMB: epsilon", &s.epsilon, 1e-6 },
                                    { "LAMB: weight_decay", &s.weight_decay, INFINITY } };
    if (!eddy_hypers_settle(g, rows, sizeof rows / sizeof *rows)) return NULL;
    return eddy_optimizer_new(g, &lamb, &s, a.name);
}
