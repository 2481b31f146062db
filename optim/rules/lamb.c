/* lamb.c -- LAMB: Adam whose step is scaled to the norm of each variable (You et al. 2020).
 *
 *   m <- m + (1 - beta1) (g - m)
 *   s <- s + (1 - beta2) (g^2 - s)
 *   u  = m / (1 - beta1^t) / (sqrt(s / (1 - beta2^t)) + epsilon) + decay x
 *   x <- x - lr |x| / |u| u */
#include "optim/rules/rule_formulas.h"
#include "graph/call_options.h"

typedef struct lamb_state {
    eddy_lamb_args a;
    eddy_tensor    scale, root;    /* of this step */
} lamb_state;

static void lamb_prepare(eddy_optimizer *o)
{
    lamb_state *s = eddy_optimizer_state(o);
    eddy_tensor t = eddy__step_number(o);
    s->scale = Div(1, eddy__one_less_power(s->a.beta1, t));
    s->root = Rsqrt(eddy__one_less_power(s->a.beta2, t));
}

static eddy_tensor lamb_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    const lamb_state *s = eddy_optimizer_state(o);
    eddy_tensor m = eddy_get_slot(o, v, "m"), q = eddy_get_slot(o, v, "v");
    m = eddy_assign(m, eddy__moving(m, g, s->a.beta1));
    q = eddy_assign(q, eddy__moving(q, Square(g), s->a.beta2));
    eddy_tensor root = Mul(Sqrt(q), eddy_hyper(s->root, v));
    eddy_tensor below = Add(root, eddy_hyper(s->a.epsilon, v));
    eddy_tensor u = Div(Mul(m, eddy_hyper(s->scale, v)), below);
    eddy_tensor lr = eddy_hyper(s->a.learning_rate, v);
    if (s->a.weight_decay.node != 0 && !eddy__picks(&s->a.without_decay, v))
        u = Add(u, Mul(eddy_hyper(s->a.weight_decay, v), v));
    if (!eddy__picks(&s->a.without_adaptation, v)) {
        eddy_tensor of[] = { v, u };
        eddy__two_norms(o, v, of);
        lr = Mul(lr, eddy__trust(of[0], of[1], Div(of[0], of[1])));
    }
    return eddy_group(o->graph, EDDY_LIST(m, q, eddy_assign_sub(v, Mul(lr, u))), NULL);
}

static const eddy_option_row options[] = {
    TENSOR(eddy_lamb_args, learning_rate),
    TENSOR(eddy_lamb_args, beta1),
    TENSOR(eddy_lamb_args, beta2),
    TENSOR(eddy_lamb_args, epsilon),
    OPTIONAL(eddy_lamb_args, weight_decay),
    { 0 },
};

static const eddy_optimizer_rule lamb = {
    { .name = "LAMB", .state_size = sizeof(lamb_state), .create_slots = eddy__counted_slots,
      .prepare = lamb_prepare, .apply_dense = lamb_dense, .finish = eddy__count_step,
      .slots = { "m", "v" } },
    sizeof(eddy_lamb_args), options,
};

eddy_optimizer *eddy_lamb_with(const eddy_lamb_args *given)
{
    eddy_lamb_args a = EDDY_TAKE(eddy_lamb_args, given);
    return eddy__optimizer_make(&lamb, &a, a.name);
}
