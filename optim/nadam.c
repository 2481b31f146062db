/* nadam.c -- Adam that looks ahead as Nesterov's momentum does (Dozat 2016).
 *
 *   mu(t) = beta1 (1 - 0.96^(t psi) / 2),  P = mu(1) mu(2) ... mu(t)
 *   m <- m + (1 - beta1) (g - m)
 *   s <- s + (1 - beta2) (g^2 - s)
 *   x <- x - lr ((1 - mu(t)) / (1 - P) g + mu(t+1) / (1 - P mu(t+1)) m)
 *               / (sqrt(s / (1 - beta2^t)) + epsilon)
 *
 * P is a variable; the constant 0.96 is the paper's. */
#include "optim/modern_internal.h"

typedef struct nadam_state {
    eddy_tensor learning_rate, beta1, beta2, epsilon, momentum_decay;
    eddy_tensor of_gradient, of_moment, root, product;       /* of this step */
} nadam_state;

static const char product_name[] = "momentum_product";

static void nadam_slots(eddy_optimizer *o, eddy_tensor v)
{
    eddy_counted_slots(o, v);
    eddy_make_shared_slot(o, product_name, eddy_number(o->graph, EDDY_FLOAT64, 1));
}

/* mu(t) */
static eddy_tensor schedule(const nadam_state *a, eddy_tensor t)
{
    eddy_tensor half = Mul(0.5, Pow(0.96, Mul(t, eddy_exact(a->momentum_decay))));
    return Mul(eddy_exact(a->beta1), Sub(1, half));
}

static void nadam_prepare(eddy_optimizer *o)
{
    nadam_state *a = eddy_optimizer_state(o);
    eddy_tensor  t = eddy_step_number(o), lr = eddy_exact(a->learning_rate);
    eddy_tensor  mu = schedule(a, t), next = schedule(a, Add(t, 1));
    a->product = Mul(eddy_shared_slot(o, product_name), mu);
    a->of_gradient = Div(Mul(lr, Sub(1, mu)), Sub(1, a->product));
    a->of_moment = Div(Mul(lr, next), Sub(1, Mul(a->product, next)));
    a->root = Rsqrt(eddy_one_less_power(a->beta2, t));
}

static void nadam_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const nadam_state *a = eddy_optimizer_state(o);
    x[1] = eddy_moving(x[1], g, a->beta1);
    x[2] = eddy_moving(x[2], Square(g), a->beta2);
    eddy_tensor below = Add(Mul(Sqrt(x[2]), eddy_hyper(a->root, g)), eddy_hyper(a->epsilon, g));
    eddy_tensor above = Add(Mul(eddy_hyper(a->of_gradient, g), g),
                            Mul(eddy_hyper(a->of_moment, g), x[1]));
    x[0] = Sub(x[0], Div(above, below));
}

static eddy_tensor nadam_finish(eddy_optimizer *o, eddy_list updates)
{
    const nadam_state *a = eddy_optimizer_state(o);
    eddy_control_begin(o->graph, updates);
    eddy_tensor product = eddy_assign(eddy_shared_slot(o, product_name), a->product);
    eddy_control_end(o->graph);
    return eddy_group(o->graph, EDDY_LIST(product, eddy_count_step(o, updates)), NULL);
}

static const eddy_optimizer_def nadam = {
    .name = "Nadam", .state_size = sizeof(nadam_state), .create_slots = nadam_slots,
    .prepare = nadam_prepare, .finish = nadam_finish,
    .step = nadam_step, .slots = { "m", "v" },
};

eddy_optimizer *eddy_nadam_with(eddy_nadam_args a)
{
    eddy_graph *g = a.graph ? a.graph : a.learning_rate.graph;
    nadam_state s = { .learning_rate = a.learning_rate, .beta1 = a.beta1, .beta2 = a.beta2,
                      .epsilon = a.epsilon, .momentum_decay = a.momentum_decay };
    const eddy_hyper_row rows[] = { { "Nadam: learning_rate", &s.learning_rate, 0.002 },
                                    { "Nadam: beta1", &s.beta1, 0.9 },
                                    { "Nadam: beta2", &s.beta2, 0.999 },
                                    { "Nadam: epsilon", &s.epsilon, 1e-8 },
                                    { "Nadam: momentum_decay", &s.momentum_decay, 0.004 } };
    const eddy_optimizer_def def = a.lazy ? nadam : eddy_made_dense(nadam);
    if (!eddy_hypers_settle(g, rows, sizeof rows / sizeof *rows)) return NULL;
    return eddy_optimizer_new(g, &def, &s, a.name);
}
