/* yogi.c -- Yogi: Adam whose second moment changes by steps of size g^2 and not by the
 * difference, so that it does not forget quickly (Zaheer et al. 2018).
 *
 *   m <- m + (1 - beta1) (g - m)
 *   s <- s - (1 - beta2) sign(s - g^2) g^2
 *   x <- x - lr m / (1 - beta1^t) / (sqrt(s / (1 - beta2^t)) + epsilon) */
#include "optim/rules/rule_formulas.h"
#include "graph/call_options.h"

typedef struct yogi_state {
    eddy_yogi_args a;
    eddy_tensor    rate, root;    /* of this step */
} yogi_state;

static void yogi_slots(eddy_optimizer *o, eddy_tensor v)
{
    const yogi_state *s = eddy_optimizer_state(o);
    eddy__zero_slot(o, v, "m");
    eddy__filled_slot(o, v, "v", s->a.initial_accumulator_value, NULL);
    eddy__counted_slots(o, v);
}

static void yogi_prepare(eddy_optimizer *o)
{
    yogi_state *s = eddy_optimizer_state(o);
    eddy_tensor t = eddy__step_number(o);
    s->rate = Div(eddy__exact(s->a.learning_rate), eddy__one_less_power(s->a.beta1, t));
    s->root = Rsqrt(eddy__one_less_power(s->a.beta2, t));
}

static void yogi_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const yogi_state *s = eddy_optimizer_state(o);
    eddy_tensor square = Square(g), share = Mul(eddy__share(s->a.beta2, g), square);
    x[1] = eddy__moving(x[1], g, s->a.beta1);
    x[2] = Sub(x[2], Mul(Sign(Sub(x[2], square)), share));
    eddy_tensor root = Mul(Sqrt(x[2]), eddy_hyper(s->root, g));
    eddy_tensor below = Add(root, eddy_hyper(s->a.epsilon, g));
    x[0] = Sub(x[0], Div(Mul(eddy_hyper(s->rate, g), x[1]), below));
}

static const eddy_option_row options[] = {
    TENSOR(eddy_yogi_args, learning_rate),
    TENSOR(eddy_yogi_args, beta1),
    TENSOR(eddy_yogi_args, beta2),
    TENSOR(eddy_yogi_args, epsilon),
    NOT_NEGATIVE(eddy_yogi_args, initial_accumulator_value),
    { 0 },
};

static const eddy_optimizer_rule yogi = {
    { .name = "Yogi", .state_size = sizeof(yogi_state), .create_slots = yogi_slots,
      .prepare = yogi_prepare, .finish = eddy__count_step, .step = yogi_step,
      .slots = { "m", "v" } },
    sizeof(eddy_yogi_args), options,
};

eddy_optimizer *eddy_yogi_with(const eddy_yogi_args *given)
{
    eddy_yogi_args a = EDDY_TAKE(eddy_yogi_args, given);
    return eddy__optimizer_make_lazy(&yogi, &a, a.name, a.lazy);
}
