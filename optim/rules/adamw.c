/* adamw.c -- AdamW: Adam with decoupled weight decay, outside the gradient (Loshchilov and
 * Hutter 2019).
 *
 *   m <- m + (1 - beta1) (g - m)
 *   s <- s + (1 - beta2) (g^2 - s)
 *   x <- x - lr decay x - lr m / (1 - beta1^t) / (sqrt(s / (1 - beta2^t)) + epsilon)
 *
 * With AMSGrad (Reddi et al. 2018) the root is taken of the largest s so far. */
#include "optim/rules/rule_formulas.h"
#include "graph/call_options.h"

typedef struct adamw_state {
    eddy_adamw_args a;
    eddy_tensor     rate, root, decay;    /* of this step */
} adamw_state;

static void adamw_prepare(eddy_optimizer *o)
{
    adamw_state *s = eddy_optimizer_state(o);
    eddy_tensor  t = eddy__step_number(o), lr = eddy__exact(s->a.learning_rate);
    s->rate = Div(lr, eddy__one_less_power(s->a.beta1, t));
    s->root = Rsqrt(eddy__one_less_power(s->a.beta2, t));
    s->decay = Mul(lr, eddy__exact(s->a.weight_decay));
}

static void adamw_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const adamw_state *s = eddy_optimizer_state(o);
    x[1] = eddy__moving(x[1], g, s->a.beta1);
    x[2] = eddy__moving(x[2], Square(g), s->a.beta2);
    if (s->a.amsgrad) x[3] = Maximum(x[3], x[2]);
    eddy_tensor root = Mul(Sqrt(x[s->a.amsgrad ? 3 : 2]), eddy_hyper(s->root, g));
    eddy_tensor step = Div(Mul(eddy_hyper(s->rate, g), x[1]),
                           Add(root, eddy_hyper(s->a.epsilon, g)));
    if (!eddy__picks(&s->a.without_decay, o->variable))
        step = Add(step, Mul(eddy_hyper(s->decay, g), x[0]));
    x[0] = Sub(x[0], step);
}

static const eddy_option_row options[] = {
    TENSOR(eddy_adamw_args, learning_rate),
    TENSOR(eddy_adamw_args, beta1),
    TENSOR(eddy_adamw_args, beta2),
    TENSOR(eddy_adamw_args, epsilon),
    TENSOR(eddy_adamw_args, weight_decay),
    { 0 },
};

static const eddy_optimizer_rule adamw = {
    { .name = "AdamW", .state_size = sizeof(adamw_state), .create_slots = eddy__counted_slots,
      .prepare = adamw_prepare, .finish = eddy__count_step, .step = adamw_step,
      .slots = { "m", "v", "vhat" } },
    sizeof(eddy_adamw_args), options,
};

eddy_optimizer *eddy_adamw_with(const eddy_adamw_args *given)
{
    eddy_adamw_args a = EDDY_TAKE(eddy_adamw_args, given);
    eddy_optimizer *o = eddy__optimizer_make_lazy(&adamw, &a, a.name, a.lazy);
    if (o && !a.amsgrad) o->def.slots[2] = NULL;
    return o;
}
