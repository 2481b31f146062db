/* lars.c -- LARS: momentum with a learning rate for each variable, by the norms of the variable
 * and of its gradient (You et al. 2017).
 *
 *   d  = lr eeta |x| / (|g| + decay |x| + epsilon) (g + decay x)
 *   a <- momentum a + d
 *   x <- x - a                      or, after Nesterov, x <- x - (d + momentum a) */
#include "optim/rules/rule_formulas.h"
#include "graph/call_options.h"

static eddy_tensor lars_scaled(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    const eddy_lars_args *s = eddy_optimizer_state(o);
    eddy_tensor lr = eddy_hyper(s->learning_rate, v), decay = eddy_hyper(s->weight_decay, v);
    if (eddy__picks(&s->skip, v)) return Mul(lr, g);
    eddy_tensor of[] = { v, g };
    eddy__two_norms(o, v, of);
    eddy_tensor below = Add(Add(of[1], Mul(decay, of[0])), eddy_hyper(s->epsilon, v));
    eddy_tensor ratio = Div(Mul(eddy_hyper(s->eeta, v), of[0]), below);
    return Mul(Mul(lr, eddy__trust(of[0], of[1], ratio)), Add(g, Mul(decay, v)));
}

static eddy_tensor lars_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    const eddy_lars_args *s = eddy_optimizer_state(o);
    eddy_tensor a = eddy_get_slot(o, v, "momentum"), mu = eddy_hyper(s->momentum, v);
    eddy_tensor d = lars_scaled(o, g, v);
    a = eddy_assign(a, Add(Mul(mu, a), d));
    return eddy_assign_sub(v, s->use_nesterov ? Add(d, Mul(mu, a)) : a);
}

static const eddy_option_row options[] = {
    REQUIRED(eddy_lars_args, learning_rate),
    TENSOR(eddy_lars_args, momentum),
    TENSOR(eddy_lars_args, weight_decay),
    TENSOR(eddy_lars_args, eeta),
    TENSOR(eddy_lars_args, epsilon),
    { 0 },
};

static const eddy_optimizer_rule lars = {
    { .name = "LARSOptimizer", .state_size = sizeof(eddy_lars_args),
      .create_slots = eddy__step_slots, .apply_dense = lars_dense, .slots = { "momentum" } },
    sizeof(eddy_lars_args), options,
};

eddy_optimizer *eddy_lars_with(const eddy_lars_args *given)
{
    eddy_lars_args a = EDDY_TAKE(eddy_lars_args, given);
    return eddy__optimizer_make(&lars, &a, a.name);
}
