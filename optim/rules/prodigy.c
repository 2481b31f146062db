/* prodigy.c -- Prodigy: Adam that estimates its learning rate (Mishchenko and Defazio 2023).
 *
 *   b = sqrt(beta2),  w = d / d0 d lr
 *   s <- b s + w g,  r <- b r + w sum(g (p - x))          p: the initial x
 *   e  = max(d, d_coef r / sum|s|)
 *   m <- beta1 m + d (1 - beta1) g
 *   v <- beta2 v + d^2 (1 - beta2) g^2
 *   x <- x - d lr decay x - d lr m / (sqrt(v) + e epsilon)
 *   d <- e
 *
 * The sums are over all variables, so they are computed before the first update. */
#include "optim/rules/rule_formulas.h"
#include "graph/call_options.h"

typedef struct prodigy_state {
    eddy_prodigy_args a;
    eddy_tensor       d, rate, weight, next, numerator;  /* of this step: d, d lr, w, e, r */
} prodigy_state;

static void prodigy_slots(eddy_optimizer *o, eddy_tensor v)
{
    const prodigy_state *s = eddy_optimizer_state(o);
    eddy__step_slots(o, v);
    eddy_make_slot(o, v, "p0", eddy_initialized_value(v));
    eddy_make_shared_slot(o, "d", eddy_number(o->graph, EDDY_FLOAT64, s->a.d0));
    eddy_make_shared_slot(o, "d_numerator", eddy_number(o->graph, EDDY_FLOAT64, 0));
}

static void prodigy_prepare(eddy_optimizer *o)
{
    prodigy_state *s = eddy_optimizer_state(o);
    s->d = s->next = eddy__shared_slot(o, "d");
    s->rate = Mul(s->d, eddy__exact(s->a.learning_rate));
    s->weight = Mul(Div(s->d, s->a.d0), s->rate);
    s->numerator = Mul(Sqrt(eddy__exact(s->a.beta2)), eddy__shared_slot(o, "d_numerator"));
}

/* The new s of a variable, or of its slot. */
static eddy_tensor summed(const prodigy_state *s, eddy_tensor sum, eddy_tensor g)
{
    eddy_tensor b = Sqrt(eddy__exact(s->a.beta2));
    return Add(Mul(eddy_hyper(b, g), sum), Mul(eddy_hyper(s->weight, g), g));
}

static void prodigy_transform(eddy_optimizer *o, eddy_gradient_pair *pairs, int count)
{
    prodigy_state *s = eddy_optimizer_state(o);
    eddy_tensor    below = eddy_number(o->graph, EDDY_FLOAT64, 0);
    for (int i = 0; i < count; i++) {
        if (pairs[i].gradient.node == 0) continue;
        const eddy_tensor v = pairs[i].variable, g = eddy__shaped(pairs[i].gradient, v);
        eddy_tensor movement = Sum(Mul(g, Sub(eddy_get_slot(o, v, "p0"), v)));
        s->numerator = Add(s->numerator, Mul(s->weight, eddy__exact(movement)));
        below = Add(below, eddy__exact(Sum(Abs(summed(s, eddy_get_slot(o, v, "s"), g)))));
    }
    eddy_tensor estimate = DivNoNan(Mul(eddy__exact(s->a.d_coef), s->numerator), below);
    s->next = Maximum(s->d, estimate);
}

static void prodigy_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const prodigy_state *s = eddy_optimizer_state(o);
    eddy_tensor d = eddy_hyper(s->d, g), rate = eddy_hyper(s->rate, g);
    eddy_tensor share1 = eddy__share(s->a.beta1, g), share2 = eddy__share(s->a.beta2, g);
    x[1] = Add(Mul(eddy_hyper(s->a.beta1, g), x[1]), Mul(Mul(d, share1), g));
    x[2] = Add(Mul(eddy_hyper(s->a.beta2, g), x[2]), Mul(Mul(Square(d), share2), Square(g)));
    x[3] = summed(s, x[3], g);
    eddy_tensor epsilon = eddy_hyper(Mul(s->next, eddy__exact(s->a.epsilon)), g);
    eddy_tensor step = Div(x[1], Add(Sqrt(x[2]), epsilon));
    if (s->a.weight_decay.node != 0 && !eddy__picks(&s->a.without_decay, o->variable))
        step = Add(step, Mul(eddy_hyper(s->a.weight_decay, g), x[0]));
    x[0] = Sub(x[0], Mul(rate, step));
}

static eddy_tensor prodigy_finish(eddy_optimizer *o, eddy_list updates)
{
    const prodigy_state *s = eddy_optimizer_state(o);
    eddy_control_begin(o->graph, updates);
    eddy_tensor d = eddy_assign(eddy__shared_slot(o, "d"), s->next);
    eddy_tensor numerator = eddy_assign(eddy__shared_slot(o, "d_numerator"), s->numerator);
    eddy_control_end(o->graph);
    return eddy_group(o->graph, EDDY_LIST(d, numerator), NULL);
}

static const eddy_option_row options[] = {
    TENSOR(eddy_prodigy_args, learning_rate),
    TENSOR(eddy_prodigy_args, beta1),
    TENSOR(eddy_prodigy_args, beta2),
    TENSOR(eddy_prodigy_args, epsilon),
    OPTIONAL(eddy_prodigy_args, weight_decay),
    TENSOR(eddy_prodigy_args, d_coef),
    POSITIVE(eddy_prodigy_args, d0),
    { 0 },
};

static const eddy_optimizer_rule prodigy = {
    { .name = "Prodigy", .state_size = sizeof(prodigy_state), .create_slots = prodigy_slots,
      .prepare = prodigy_prepare, .transform = prodigy_transform, .finish = prodigy_finish,
      .step = prodigy_step, .slots = { "m", "v", "s" } },
    sizeof(eddy_prodigy_args), options,
};

eddy_optimizer *eddy_prodigy_with(const eddy_prodigy_args *given)
{
    eddy_prodigy_args a = EDDY_TAKE(eddy_prodigy_args, given);
    eddy_optimizer *o = eddy__optimizer_make_lazy(&prodigy, &a, a.name, false);
    if (o) o->combines = true;
    return o;
}
