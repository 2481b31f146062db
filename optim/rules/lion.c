/* lion.c -- Lion: the step is the sign of an interpolation between momentum and gradient (Chen
 * et al. 2023).
 *
 *   x <- x - lr (sign(beta1 m + (1 - beta1) g) + decay x)
 *   m <- beta2 m + (1 - beta2) g */
#include "optim/rules/rule_formulas.h"
#include "graph/call_options.h"

static void lion_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const eddy_lion_args *a = eddy_optimizer_state(o);
    eddy_tensor step = Sign(eddy__moving(x[1], g, a->beta1));
    if (a->weight_decay.node != 0 && !eddy__picks(&a->without_decay, o->variable))
        step = Add(step, Mul(eddy_hyper(a->weight_decay, g), x[0]));
    x[1] = eddy__moving(x[1], g, a->beta2);
    x[0] = Sub(x[0], Mul(eddy_hyper(a->learning_rate, g), step));
}

static const eddy_option_row options[] = {
    TENSOR(eddy_lion_args, learning_rate),
    TENSOR(eddy_lion_args, beta1),
    TENSOR(eddy_lion_args, beta2),
    OPTIONAL(eddy_lion_args, weight_decay),
    { 0 },
};

static const eddy_optimizer_rule lion = {
    { .name = "Lion", .state_size = sizeof(eddy_lion_args), .step = lion_step, .slots = { "m" } },
    sizeof(eddy_lion_args), options,
};

eddy_optimizer *eddy_lion_with(const eddy_lion_args *given)
{
    eddy_lion_args a = EDDY_TAKE(eddy_lion_args, given);
    return eddy__optimizer_make_lazy(&lion, &a, a.name, a.lazy);
}
