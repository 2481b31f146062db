/* radam.c -- Adam whose adaptive rate is held back while its second moment is that of few
 * gradients (Liu et al. 2020).
 *
 *   R = 2 / (1 - beta2) - 1,  r = R - 2 t beta2^t / (1 - beta2^t)
 *   q = sqrt((r - 4) (r - 2) R / ((R - 4) (R - 2) r))
 *   x <- x - lr m / (1 - beta1^t)                                            while r <= 5
 *   x <- x - lr m / (1 - beta1^t) q sqrt(1 - beta2^t) / (sqrt(s) + epsilon)  from then on
 *
 * One formula stands for both: m (adaptive / (sqrt(s) + epsilon) + plain), where one of the
 * two scalars is 0.  r is the difference of large numbers, hence in float64. */
#include "optim/modern_internal.h"

typedef struct radam_state {
    eddy_tensor learning_rate, beta1, beta2, epsilon;
    eddy_tensor adaptive, plain;     /* of this step */
} radam_state;

static void radam_prepare(eddy_optimizer *o)
{
    radam_state *a = eddy_optimizer_state(o);
    eddy_tensor  t = eddy_step_number(o), beta2 = eddy_exact(a->beta2);
    eddy_tensor  rate = Div(eddy_exact(a->learning_rate), eddy_one_less_power(a->beta1, t));
    eddy_tensor  left = eddy_one_less_power(beta2, t), most = Sub(Div(2, Sub(1, beta2)), 1);
    eddy_tensor  r = Sub(most, Div(Mul(Mul(2, t), Sub(1, left)), left));
    eddy_tensor  above = Mul(Mul(Sub(r, 4), Sub(r, 2)), most);
    eddy_tensor  below = Mul(Mul(Sub(most, 4), Sub(most, 2)), r);
    eddy_tensor  trusted = Greater(r, 5);
    a->adaptive = Where(trusted, Mul(rate, Sqrt(Mul(Div(above, below), left))), 0);
    a->plain = Where(trusted, 0, rate);
}

static void radam_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const radam_state *a = eddy_optimizer_state(o);
    x[1] = eddy_moving(x[1], g, a->beta1);
    x[2] = eddy_moving(x[2], Square(g), a->beta2);
    eddy_tensor rate = Div(eddy_hyper(a->adaptive, g),
                           Add(Sqrt(x[2]), eddy_hyper(a->epsilon, g)));
    x[0] = Sub(x[0], Mul(x[1], Add(rate, eddy_hyper(a->plain, g))));
}

static const eddy_optimizer_def radam = {
    .name = "RAdam", .state_size = sizeof(radam_state), .create_slots = eddy_counted_slots,
    .prepare = radam_prepare, .finish = eddy_count_step,
    .step = radam_step, .slots = { "m", "v" },
};

eddy_optimizer *eddy_radam_with(eddy_radam_args a)
{
    eddy_graph *g = a.graph ? a.graph : a.learning_rate.graph;
    radam_state s = { .learning_rate = a.learning_rate, .beta1 = a.beta1, .beta2 = a.beta2,
                      .epsilon = a.epsilon };
    const eddy_hyper_row rows[] = { { "RAdam: learning_rate", &s.learning_rate, 0.001 },
                                    { "RAdam: beta1", &s.beta1, 0.9 },
                                    { "RAdam: beta2", &s.beta2, 0.999 },
                                    { "RAdam: epsilon", &s.epsilon, 1e-8 } };
    const eddy_optimizer_def def = a.lazy ? radam : eddy_made_dense(radam);
    if (!eddy_hypers_settle(g, rows, sizeof rows / sizeof *rows)) return NULL;
    return eddy_optimizer_new(g, &def, &s, a.name);
}
