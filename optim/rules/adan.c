/* adan.c -- Adan: Adam with Nesterov momentum, from differences of gradients (Xie et al. 2022).
 *
 *   d  = g - the gradient of the previous step, 0 in the first
 *   m <- m + (1 - beta1) (g - m)
 *   v <- v + (1 - beta2) (d - v)
 *   n <- n + (1 - beta3) ((g + beta2 d)^2 - n)
 *   u  = (m / (1 - beta1^t) + beta2 v / (1 - beta2^t)) / (sqrt(n / (1 - beta3^t)) + epsilon)
 *   x <- (x - lr u) / (1 + lr decay) */
#include "optim/rules/rule_formulas.h"
#include "graph/call_options.h"

typedef struct adan_state {
    eddy_adan_args a;
    eddy_tensor    of_m, of_v, root, below, seen;    /* of this step */
} adan_state;

static void adan_prepare(eddy_optimizer *o)
{
    adan_state *s = eddy_optimizer_state(o);
    eddy_tensor t = eddy__step_number(o), lr = eddy__exact(s->a.learning_rate);
    s->of_m = Div(lr, eddy__one_less_power(s->a.beta1, t));
    s->of_v = Div(Mul(lr, eddy__exact(s->a.beta2)), eddy__one_less_power(s->a.beta2, t));
    s->root = Rsqrt(eddy__one_less_power(s->a.beta3, t));
    s->seen = Where(Equal(t, 1), 0, NumberLike(1, t));
    if (s->a.weight_decay.node != 0)
        s->below = Add(1, Mul(lr, eddy__exact(s->a.weight_decay)));
}

static void adan_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const adan_state *s = eddy_optimizer_state(o);
    eddy_tensor d = Mul(Sub(g, x[4]), eddy_hyper(s->seen, g));
    eddy_tensor ahead = Add(g, Mul(eddy_hyper(s->a.beta2, g), d));
    x[1] = eddy__moving(x[1], g, s->a.beta1);
    x[2] = eddy__moving(x[2], d, s->a.beta2);
    x[3] = eddy__moving(x[3], Square(ahead), s->a.beta3);
    x[4] = g;
    eddy_tensor root = Mul(Sqrt(x[3]), eddy_hyper(s->root, g));
    eddy_tensor u = Add(Mul(eddy_hyper(s->of_m, g), x[1]), Mul(eddy_hyper(s->of_v, g), x[2]));
    x[0] = Sub(x[0], Div(u, Add(root, eddy_hyper(s->a.epsilon, g))));
    if (s->a.weight_decay.node != 0 && !eddy__picks(&s->a.without_decay, o->variable))
        x[0] = Div(x[0], eddy_hyper(s->below, g));
}

static const eddy_option_row options[] = {
    TENSOR(eddy_adan_args, learning_rate),
    TENSOR(eddy_adan_args, beta1),
    TENSOR(eddy_adan_args, beta2),
    TENSOR(eddy_adan_args, beta3),
    TENSOR(eddy_adan_args, epsilon),
    OPTIONAL(eddy_adan_args, weight_decay),
    { 0 },
};

static const eddy_optimizer_rule adan = {
    { .name = "Adan", .state_size = sizeof(adan_state), .create_slots = eddy__counted_slots,
      .prepare = adan_prepare, .finish = eddy__count_step, .step = adan_step,
      .slots = { "m", "v", "n", "g" } },
    sizeof(eddy_adan_args), options,
};

eddy_optimizer *eddy_adan_with(const eddy_adan_args *given)
{
    eddy_adan_args a = EDDY_TAKE(eddy_adan_args, given);
    return eddy__optimizer_make_lazy(&adan, &a, a.name, false);
}
