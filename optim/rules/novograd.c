/* novograd.c -- NovoGrad: momentum of gradients that are divided by their norm, one norm for
 * each variable (Ginsburg et al. 2019).
 *
 *   s <- s + (1 - beta2) (|g|^2 - s), except s <- |g|^2 in the first step
 *   m <- beta1 m + g / (sqrt(s) + epsilon) + decay x
 *   x <- x - lr m */
#include "optim/rules/rule_formulas.h"
#include "graph/call_options.h"

typedef struct novograd_state {
    eddy_novograd_args a;
    eddy_tensor        share;            /* of |g|^2 in this step */
} novograd_state;

static void novograd_slots(eddy_optimizer *o, eddy_tensor v)
{
    eddy__counted_slots(o, v);
    eddy_make_slot(o, v, "v", eddy_number(o->graph, eddy_dtype_of(v), 0));
}

static void novograd_prepare(eddy_optimizer *o)
{
    novograd_state *s = eddy_optimizer_state(o);
    eddy_tensor     first = Equal(eddy__step_number(o), 1);
    s->share = Where(first, 1, Sub(1, eddy__exact(s->a.beta2)));
}

static eddy_tensor novograd_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    const novograd_state *s = eddy_optimizer_state(o);
    eddy_tensor m = eddy_get_slot(o, v, "m"), n = eddy_get_slot(o, v, "v");
    n = eddy_assign(n, Add(n, Mul(Sub(eddy__sum_squares(o, v, g), n), eddy_hyper(s->share, v))));
    eddy_tensor d = Div(g, Add(Sqrt(n), eddy_hyper(s->a.epsilon, v)));
    if (s->a.weight_decay.node != 0 && !eddy__picks(&s->a.without_decay, v))
        d = Add(d, Mul(eddy_hyper(s->a.weight_decay, v), v));
    m = eddy_assign(m, Add(Mul(eddy_hyper(s->a.beta1, v), m), d));
    v = eddy_assign_sub(v, Mul(eddy_hyper(s->a.learning_rate, v), m));
    return eddy_group(o->graph, EDDY_LIST(n, m, v), NULL);
}

static const eddy_option_row options[] = {
    TENSOR(eddy_novograd_args, learning_rate),
    TENSOR(eddy_novograd_args, beta1),
    TENSOR(eddy_novograd_args, beta2),
    TENSOR(eddy_novograd_args, epsilon),
    OPTIONAL(eddy_novograd_args, weight_decay),
    { 0 },
};

static const eddy_optimizer_rule novograd = {
    { .name = "NovoGrad", .state_size = sizeof(novograd_state), .create_slots = novograd_slots,
      .prepare = novograd_prepare, .apply_dense = novograd_dense, .finish = eddy__count_step,
      .slots = { "m" } },
    sizeof(eddy_novograd_args), options,
};

eddy_optimizer *eddy_novograd_with(const eddy_novograd_args *given)
{
    eddy_novograd_args a = EDDY_TAKE(eddy_novograd_args, given);
    return eddy__optimizer_make(&novograd, &a, a.name);
}
