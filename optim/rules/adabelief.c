/* adabelief.c -- AdaBelief: Adam whose second moment is that of the gradient's deviation from
 * its average (Zhuang et al. 2020).
 *
 *   m <- m + (1 - beta1) (g - m)
 *   s <- s + (1 - beta2) ((g - m)^2 - s) + epsilon
 *   x <- x - lr m / (1 - beta1^t) / (sqrt(s / (1 - beta2^t)) + epsilon) */
#include "optim/rules/rule_formulas.h"
#include "graph/call_options.h"

typedef struct adabelief_state {
    eddy_adabelief_args a;
    eddy_tensor         rate, root;      /* of this step */
} adabelief_state;

static void adabelief_prepare(eddy_optimizer *o)
{
    adabelief_state *s = eddy_optimizer_state(o);
    eddy_tensor      t = eddy__step_number(o);
    s->rate = Div(eddy__exact(s->a.learning_rate), eddy__one_less_power(s->a.beta1, t));
    s->root = Rsqrt(eddy__one_less_power(s->a.beta2, t));
}

static void adabelief_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const adabelief_state *s = eddy_optimizer_state(o);
    eddy_tensor epsilon = eddy_hyper(s->a.epsilon, g);
    x[1] = eddy__moving(x[1], g, s->a.beta1);
    x[2] = Add(eddy__moving(x[2], Square(Sub(g, x[1])), s->a.beta2), epsilon);
    eddy_tensor root = Mul(Sqrt(x[2]), eddy_hyper(s->root, g));
    x[0] = Sub(x[0], Div(Mul(eddy_hyper(s->rate, g), x[1]), Add(root, epsilon)));
}

static const eddy_option_row options[] = {
    TENSOR(eddy_adabelief_args, learning_rate),
    TENSOR(eddy_adabelief_args, beta1),
    TENSOR(eddy_adabelief_args, beta2),
    TENSOR(eddy_adabelief_args, epsilon),
    { 0 },
};

static const eddy_optimizer_rule adabelief = {
    { .name = "AdaBelief", .state_size = sizeof(adabelief_state),
      .create_slots = eddy__counted_slots, .prepare = adabelief_prepare,
      .finish = eddy__count_step, .step = adabelief_step, .slots = { "m", "v" } },
    sizeof(eddy_adabelief_args), options,
};

eddy_optimizer *eddy_adabelief_with(const eddy_adabelief_args *given)
{
    eddy_adabelief_args a = EDDY_TAKE(eddy_adabelief_args, given);
    return eddy__optimizer_make_lazy(&adabelief, &a, a.name, a.lazy);
}
