/* adamw.c -- Adam with weight decay beside the gradient and not in it (Loshchilov and Hutter
 * 2019).
 *
 *   m <- m + (1 - beta1) (g - m)
 *   s <- s + (1 - beta2) (g^2 - s)
 *   x <- x - lr decay x - lr m / (1 - beta1^t) / (sqrt(s / (1 - beta2^t)) + epsilon)
 *
 * With AMSGrad (Reddi et al. 2018) the largest s so far is in the root. */
#include "optim/modern_internal.h"

typedef struct adamw_state {
    eddy_tensor          learning_rate, beta1, beta2, epsilon, weight_decay;
    bool                 amsgrad;
    eddy_variable_filter without_decay;
    eddy_tensor          rate, root, decay;      /* of this step */
    bool                 decays;                 /* the variable that is being updated */
} adamw_state;

static void adamw_prepare(eddy_optimizer *o)
{
    adamw_state *a = eddy_optimizer_state(o);
    eddy_tensor  t = eddy_step_number(o), lr = eddy_exact(a->learning_rate);
    a->rate = Div(lr, eddy_one_less_power(a->beta1, t));
    a->root = Rsqrt(eddy_one_less_power(a->beta2, t));
    a->decay = Mul(lr, eddy_exact(a->weight_decay));
}

static void adamw_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const adamw_state *a = eddy_optimizer_state(o);
    x[1] = eddy_moving(x[1], g, a->beta1);
    x[2] = eddy_moving(x[2], Square(g), a->beta2);
    if (a->amsgrad) x[3] = Maximum(x[3], x[2]);
    eddy_tensor root = Mul(Sqrt(x[a->amsgrad ? 3 : 2]), eddy_hyper(a->root, g));
    eddy_tensor step = Div(Mul(eddy_hyper(a->rate, g), x[1]), Add(root, eddy_hyper(a->epsilon, g)));
    if (a->decays) step = Add(step, Mul(eddy_hyper(a->decay, g), x[0]));
    x[0] = Sub(x[0], step);
}

static eddy_tensor adamw_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    adamw_state *a = eddy_optimizer_state(o);
    a->decays = !eddy_picks(&a->without_decay, v);
    return eddy_step_all(o, g, v);
}

static eddy_tensor adamw_sparse(eddy_optimizer *o, eddy_tensor g, eddy_tensor indices,
                                eddy_tensor v)
{
    adamw_state *a = eddy_optimizer_state(o);
    a->decays = !eddy_picks(&a->without_decay, v);
    return eddy_step_rows(o, g, indices, v);
}

static const eddy_optimizer_def adamw = {
    .name = "AdamW", .state_size = sizeof(adamw_state), .create_slots = eddy_counted_slots,
    .prepare = adamw_prepare, .apply_dense = adamw_dense, .apply_sparse = adamw_sparse,
    .finish = eddy_count_step, .step = adamw_step, .slots = { "m", "v", "vhat" },
};

eddy_optimizer *eddy_adamw_with(eddy_adamw_args a)
{
    eddy_graph *g = a.graph ? a.graph : a.learning_rate.graph;
    adamw_state s = { .learning_rate = a.learning_rate, .beta1 = a.beta1, .beta2 = a.beta2,
                      .epsilon = a.epsilon, .weight_decay = a.weight_decay, .amsgrad = a.amsgrad,
                      .without_decay = a.without_decay };
    const eddy_hyper_row rows[] = { { "AdamW: learning_rate", &s.learning_rate, 0.001 },
                                    { "AdamW: beta1", &s.beta1, 0.9 },
                                    { "AdamW: beta2", &s.beta2, 0.999 },
                                    { "AdamW: epsilon", &s.epsilon, 1e-8 },
                                    { "AdamW: weight_decay", &s.weight_decay, 0.01 } };
    eddy_optimizer_def def = a.lazy ? adamw : eddy_made_dense(adamw);
    if (!a.amsgrad) def.slots[2] = NULL;
    if (!eddy_hypers_settle(g, rows, sizeof rows / sizeof *rows)) return NULL;
    return eddy_optimizer_new(g, &def, &s, a.name);
}
