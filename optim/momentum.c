/* momentum.c -- a decaying sum of the gradients moves the variable.
 *
 *   a <- mu a + g
 *   v <- v - lr a                     or, after Nesterov,
 *   v <- v - (lr g + lr mu a)         with the new a
 *
 * The rate is applied to the sum, not to what goes into it, so that changing
 * the rate changes the effect of past gradients too. */
#include "optim/internal.h"
#include "ops/math.h"

#include <math.h>

typedef struct momentum_state {
    eddy_tensor learning_rate, momentum;
    bool        use_nesterov;
} momentum_state;

static void momentum_slots(eddy_optimizer *o, eddy_tensor v)
{
    eddy_zero_slot(o, v, "momentum");
}

/* By how much v goes down, a being the new sum. */
static eddy_tensor momentum_step(const momentum_state *s, eddy_tensor g, eddy_tensor a,
                                 eddy_tensor v)
{
    eddy_tensor lr = eddy_hyper(s->learning_rate, v), mu = eddy_hyper(s->momentum, v);
    if (!s->use_nesterov) return Mul(lr, a);
    return Add(Mul(lr, g), Mul(Mul(lr, mu), a));
}

static eddy_tensor momentum_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    const momentum_state *s = eddy_optimizer_state(o);
    eddy_tensor a = eddy_get_slot(o, v, "momentum"), mu = eddy_hyper(s->momentum, v);
    a = eddy_assign(a, Add(Mul(mu, a), g));
    return eddy_assign_sub(v, momentum_step(s, g, a, v));
}

/* Only the listed rows of v and of a change; there is no decay elsewhere. */
static eddy_tensor momentum_sparse(eddy_optimizer *o, eddy_tensor g, eddy_tensor indices,
                                   eddy_tensor v)
{
    const momentum_state *s = eddy_optimizer_state(o);
    eddy_tensor a = eddy_get_slot(o, v, "momentum"), mu = eddy_hyper(s->momentum, v);
    /* A row that is passed over reads some row, and is written nowhere. */
    eddy_tensor rows = Add(Mul(mu, Gather(a, Maximum(indices, 0))), g);
    eddy_tensor step = momentum_step(s, g, rows, v);
    a = eddy_scatter_update(a, indices, rows, .skip_negative = true);
    v = eddy_scatter_sub(v, indices, step, .skip_negative = true);
    return eddy_group(eddy_optimizer_graph(o), EDDY_LIST(a, v), NULL);
}

static const eddy_optimizer_def momentum = {
    .name = "Momentum", .state_size = sizeof(momentum_state), .create_slots = momentum_slots,
    .apply_dense = momentum_dense, .apply_sparse = momentum_sparse,
    .takes_complex = true,
};

eddy_optimizer *eddy_momentum_with(eddy_momentum_args a)
{
    eddy_graph    *g = a.graph ? a.graph : a.learning_rate.graph;
    momentum_state s = { a.learning_rate, a.momentum, a.use_nesterov };
    if (!eddy_hyper_settle(g, "Momentum: learning_rate", &s.learning_rate, NAN) ||
        !eddy_hyper_settle(g, "Momentum: momentum", &s.momentum, NAN))
        return NULL;
    return eddy_optimizer_new(g, &momentum, &s, a.name);
}
