/* radam.c -- RAdam, rectified Adam: the adaptive rate is reduced while the second moment is an
 * average of few gradients (Liu et al. 2020).
 *
 *   R = 2 / (1 - beta2) - 1,  r = R - 2 t beta2^t / (1 - beta2^t)
 *   q = sqrt((r - 4) (r - 2) R / ((R - 4) (R - 2) r))
 *   x <- x - lr m / (1 - beta1^t)                                            while r <= 5
 *   x <- x - lr m / (1 - beta1^t) q sqrt(1 - beta2^t) / (sqrt(s) + epsilon)  from then on
 *
 * One formula covers both cases: m (adaptive / (sqrt(s) + epsilon) + plain), where one of the
 * two scalars is 0. r is the difference of large numbers and therefore in float64. */
#include "optim/rules/rule_formulas.h"
#include "graph/call_options.h"

typedef struct radam_state {
    eddy_radam_args a;
    eddy_tensor     adaptive, plain;    /* of this step */
} radam_state;

static void radam_prepare(eddy_optimizer *o)
{
    radam_state *s = eddy_optimizer_state(o);
    eddy_tensor  t = eddy__step_number(o), beta2 = eddy__exact(s->a.beta2);
    eddy_tensor  rate = Div(eddy__exact(s->a.learning_rate), eddy__one_less_power(s->a.beta1, t));
    eddy_tensor  left = eddy__one_less_power(beta2, t), most = Sub(Div(2, Sub(1, beta2)), 1);
    eddy_tensor  r = Sub(most, Div(Mul(Mul(2, t), Sub(1, left)), left));
    eddy_tensor  above = Mul(Mul(Sub(r, 4), Sub(r, 2)), most);
    eddy_tensor  below = Mul(Mul(Sub(most, 4), Sub(most, 2)), r);
    eddy_tensor  trusted = Greater(r, 5);
    s->adaptive = Where(trusted, Mul(rate, Sqrt(Mul(Div(above, below), left))), 0);
    s->plain = Where(trusted, 0, rate);
}

static void radam_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const radam_state *s = eddy_optimizer_state(o);
    x[1] = eddy__moving(x[1], g, s->a.beta1);
    x[2] = eddy__moving(x[2], Square(g), s->a.beta2);
    eddy_tensor rate = Div(eddy_hyper(s->adaptive, g),
                           Add(Sqrt(x[2]), eddy_hyper(s->a.epsilon, g)));
    x[0] = Sub(x[0], Mul(x[1], Add(rate, eddy_hyper(s->plain, g))));
}

static const eddy_option_row options[] = {
    TENSOR(eddy_radam_args, learning_rate),
    TENSOR(eddy_radam_args, beta1),
    TENSOR(eddy_radam_args, beta2),
    TENSOR(eddy_radam_args, epsilon),
    { 0 },
};

static const eddy_optimizer_rule radam = {
    { .name = "RAdam", .state_size = sizeof(radam_state), .create_slots = eddy__counted_slots,
      .prepare = radam_prepare, .finish = eddy__count_step, .step = radam_step,
      .slots = { "m", "v" } },
    sizeof(eddy_radam_args), options,
};

eddy_optimizer *eddy_radam_with(const eddy_radam_args *given)
{
    eddy_radam_args a = EDDY_TAKE(eddy_radam_args, given);
    return eddy__optimizer_make_lazy(&radam, &a, a.name, a.lazy);
}
