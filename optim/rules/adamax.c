/* adamax.c -- AdaMax: Adam with the exponentially decayed maximum of |g| instead of the root of
 * the second moment (Kingma and Ba 2014, section 7.1).
 *
 *   m <- m + (1 - beta1) (g - m)
 *   u <- max(beta2 u, |g| + epsilon)
 *   x <- x - lr / (1 - beta1^t) m / u */
#include "optim/rules/rule_formulas.h"
#include "graph/call_options.h"

typedef struct adamax_state {
    eddy_adamax_args a;
    eddy_tensor      rate;    /* of this step */
} adamax_state;

static void adamax_prepare(eddy_optimizer *o)
{
    adamax_state *s = eddy_optimizer_state(o);
    eddy_tensor   corrected = eddy__one_less_power(s->a.beta1, eddy__step_number(o));
    s->rate = Div(eddy__exact(s->a.learning_rate), corrected);
}

static void adamax_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const adamax_state *s = eddy_optimizer_state(o);
    x[1] = eddy__moving(x[1], g, s->a.beta1);
    x[2] = Maximum(Mul(eddy_hyper(s->a.beta2, g), x[2]),
                   Add(Abs(g), eddy_hyper(s->a.epsilon, g)));
    x[0] = Sub(x[0], Mul(eddy_hyper(s->rate, g), Div(x[1], x[2])));
}

static const eddy_option_row options[] = {
    TENSOR(eddy_adamax_args, learning_rate),
    TENSOR(eddy_adamax_args, beta1),
    TENSOR(eddy_adamax_args, beta2),
    TENSOR(eddy_adamax_args, epsilon),
    { 0 },
};

static const eddy_optimizer_rule adamax = {
    { .name = "Adamax", .state_size = sizeof(adamax_state), .create_slots = eddy__counted_slots,
      .prepare = adamax_prepare, .finish = eddy__count_step, .step = adamax_step,
      .slots = { "m", "u" } },
    sizeof(eddy_adamax_args), options,
};

eddy_optimizer *eddy_adamax_with(const eddy_adamax_args *given)
{
    eddy_adamax_args a = EDDY_TAKE(eddy_adamax_args, given);
    return eddy__optimizer_make_lazy(&adamax, &a, a.name, a.lazy);
}
