/* nadam.c -- NAdam: Adam with Nesterov momentum (Dozat 2016).
 *
 *   mu(t) = beta1 (1 - 0.96^(t psi) / 2),  P = mu(1) mu(2) ... mu(t)
 *   m <- m + (1 - beta1) (g - m)
 *   s <- s + (1 - beta2) (g^2 - s)
 *   x <- x - lr ((1 - mu(t)) / (1 - P) g + mu(t+1) / (1 - P mu(t+1)) m)
 *               / (sqrt(s / (1 - beta2^t)) + epsilon)
 *
 * P is a variable; the constant 0.96 is the paper's. */
#include "optim/rules/rule_formulas.h"
#include "graph/call_options.h"

typedef struct nadam_state {
    eddy_nadam_args a;
    eddy_tensor     of_gradient, of_moment, root, product;    /* of this step */
} nadam_state;

static const char product_name[] = "momentum_product";

static void nadam_slots(eddy_optimizer *o, eddy_tensor v)
{
    eddy__counted_slots(o, v);
    eddy_make_shared_slot(o, product_name, eddy_number(o->graph, EDDY_FLOAT64, 1));
}

/* mu(t) */
static eddy_tensor schedule(const nadam_state *s, eddy_tensor t)
{
    eddy_tensor half = Mul(0.5, Pow(0.96, Mul(t, eddy__exact(s->a.momentum_decay))));
    return Mul(eddy__exact(s->a.beta1), Sub(1, half));
}

static void nadam_prepare(eddy_optimizer *o)
{
    nadam_state *s = eddy_optimizer_state(o);
    eddy_tensor  t = eddy__step_number(o), lr = eddy__exact(s->a.learning_rate);
    eddy_tensor  mu = schedule(s, t), next = schedule(s, Add(t, 1));
    s->product = Mul(eddy__shared_slot(o, product_name), mu);
    s->of_gradient = Div(Mul(lr, Sub(1, mu)), Sub(1, s->product));
    s->of_moment = Div(Mul(lr, next), Sub(1, Mul(s->product, next)));
    s->root = Rsqrt(eddy__one_less_power(s->a.beta2, t));
}

static void nadam_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const nadam_state *s = eddy_optimizer_state(o);
    x[1] = eddy__moving(x[1], g, s->a.beta1);
    x[2] = eddy__moving(x[2], Square(g), s->a.beta2);
    eddy_tensor root = Mul(Sqrt(x[2]), eddy_hyper(s->root, g));
    eddy_tensor below = Add(root, eddy_hyper(s->a.epsilon, g));
    eddy_tensor above = Add(Mul(eddy_hyper(s->of_gradient, g), g),
                            Mul(eddy_hyper(s->of_moment, g), x[1]));
    x[0] = Sub(x[0], Div(above, below));
}

static eddy_tensor nadam_finish(eddy_optimizer *o, eddy_list updates)
{
    const nadam_state *s = eddy_optimizer_state(o);
    eddy_control_begin(o->graph, updates);
    eddy_tensor product = eddy_assign(eddy__shared_slot(o, product_name), s->product);
    eddy_control_end(o->graph);
    return eddy_group(o->graph, EDDY_LIST(product, eddy__count_step(o, updates)), NULL);
}

static const eddy_option_row options[] = {
    TENSOR(eddy_nadam_args, learning_rate),
    TENSOR(eddy_nadam_args, beta1),
    TENSOR(eddy_nadam_args, beta2),
    TENSOR(eddy_nadam_args, epsilon),
    TENSOR(eddy_nadam_args, momentum_decay),
    { 0 },
};

static const eddy_optimizer_rule nadam = {
    { .name = "Nadam", .state_size = sizeof(nadam_state), .create_slots = nadam_slots,
      .prepare = nadam_prepare, .finish = nadam_finish, .step = nadam_step,
      .slots = { "m", "v" } },
    sizeof(eddy_nadam_args), options,
};

eddy_optimizer *eddy_nadam_with(const eddy_nadam_args *given)
{
    eddy_nadam_args a = EDDY_TAKE(eddy_nadam_args, given);
    return eddy__optimizer_make_lazy(&nadam, &a, a.name, a.lazy);
}
