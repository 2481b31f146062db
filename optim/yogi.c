/* yogi.c -- Adam whose second moment goes towards g^2 by steps as large as g^2, and not as the
 * difference, so that it does not forget at once (Zaheer et al. 2018).
 *
 *   m <- m + (1 - beta1) (g - m)
 *   s <- s - (1 - beta2) sign(s - g^2) g^2
 *   x <- x - lr m / (1 - beta1^t) / (sqrt(s / (1 - beta2^t)) + epsilon) */
#include "optim/modern_internal.h"

typedef struct yogi_state {
    eddy_tensor learning_rate, beta1, beta2, epsilon;
    double      first;               /* value of s */
    eddy_tensor rate, root;          /* of this step */
} yogi_state;

static void yogi_slots(eddy_optimizer *o, eddy_tensor v)
{
    const yogi_state *a = eddy_optimizer_state(o);
    eddy_zero_slot(o, v, "m");
    eddy_filled_slot(o, v, "v", a->first, NULL);
    eddy_counted_slots(o, v);
}

static void yogi_prepare(eddy_optimizer *o)
{
    yogi_state *a = eddy_optimizer_state(o);
    eddy_tensor t = eddy_step_number(o);
    a->rate = Div(eddy_exact(a->learning_rate), eddy_one_less_power(a->beta1, t));
    a->root = Rsqrt(eddy_one_less_power(a->beta2, t));
}

static void yogi_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const yogi_state *a = eddy_optimizer_state(o);
    eddy_tensor square = Square(g), share = Mul(eddy_share(a->beta2, g), square);
    x[1] = eddy_moving(x[1], g, a->beta1);
    x[2] = Sub(x[2], Mul(Sign(Sub(x[2], square)), share));
    eddy_tensor below = Add(Mul(Sqrt(x[2]), eddy_hyper(a->root, g)), eddy_hyper(a->epsilon, g));
    x[0] = Sub(x[0], Div(Mul(eddy_hyper(a->rate, g), x[1]), below));
}

static const eddy_optimizer_def yogi = {
    .name = "Yogi", .state_size = sizeof(yogi_state), .create_slots = yogi_slots,
    .prepare = yogi_prepare, .finish = eddy_count_step,
    .step = yogi_step, .slots = { "m", "v" },
};

eddy_optimizer *eddy_yogi_with(eddy_yogi_args a)
{
    eddy_graph *g = a.graph ? a.graph : a.learning_rate.graph;
    yogi_state  s = { .learning_rate = a.learning_rate, .beta1 = a.beta1, .beta2 = a.beta2,
                      .epsilon = a.epsilon,
                      .first = eddy_setting(a.initial_accumulator_value, 1e-6) };
    const eddy_hyper_row rows[] = { { "Yogi: learning_rate", &s.learning_rate, 0.01 },
                                    { "Yogi: beta1", &s.beta1, 0.9 },
                                    { "Yogi: beta2", &s.beta2, 0.999 },
                                    { "Yogi: epsilon", &s.epsilon, 0.001 } };
    const eddy_optimizer_def def = a.lazy ? yogi : eddy_made_dense(yogi);
    if (!eddy_hypers_settle(g, rows, sizeof rows / sizeof *rows) ||
        !eddy_setting_is_not_negative(g, "Yogi: initial_accumulator_value", s.first))
        return NULL;
    return eddy_optimizer_new(g, &def, &s, a.name);
}
