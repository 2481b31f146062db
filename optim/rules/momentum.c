/* momentum.c -- momentum and Nesterov momentum: a decaying sum of the gradients updates the
 * variable.
 *
 *   d  = g + decay v
 *   a <- mu a + (1 - dampening) d     except a <- d in the first step
 *   v <- v - lr a                     or, with Nesterov momentum,
 *   v <- v - (lr d + lr mu a)         with the new a
 *
 * The learning rate multiplies the sum, not its terms, so that changing the rate changes the
 * effect of past gradients too. */
#include "optim/rules/rule_formulas.h"
#include "graph/call_options.h"

typedef struct momentum_state {
    eddy_momentum_args a;
    eddy_tensor        share;        /* share of the gradient in this step; node 0: all of it */
} momentum_state;

static void momentum_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const momentum_state *s = eddy_optimizer_state(o);
    eddy_tensor lr = eddy_hyper(s->a.learning_rate, g), mu = eddy_hyper(s->a.momentum, g);
    if (s->a.weight_decay.node != 0) g = Add(g, Mul(eddy_hyper(s->a.weight_decay, g), x[0]));
    x[1] = Add(Mul(mu, x[1]), s->share.node != 0 ? Mul(eddy_hyper(s->share, g), g) : g);
    eddy_tensor step = Mul(lr, x[1]);
    if (s->a.use_nesterov) step = Add(Mul(lr, g), Mul(Mul(lr, mu), x[1]));
    x[0] = Sub(x[0], step);
}

static void damped_prepare(eddy_optimizer *o)
{
    momentum_state *s = eddy_optimizer_state(o);
    eddy_tensor     first = Equal(eddy__step_number(o), 1);
    s->share = Where(first, 1, Sub(1, eddy__exact(s->a.dampening)));
}

static const eddy_option_row options[] = {
    REQUIRED(eddy_momentum_args, learning_rate),
    REQUIRED(eddy_momentum_args, momentum),
    OPTIONAL(eddy_momentum_args, dampening),
    OPTIONAL(eddy_momentum_args, weight_decay),
    { 0 },
};

static const eddy_optimizer_rule momentum = {
    { .name = "Momentum", .state_size = sizeof(momentum_state), .step = momentum_step,
      .slots = { "momentum" }, .takes_complex = true },
    sizeof(eddy_momentum_args), options,
};

/* Only with dampening does it matter which step is the first. */
eddy_optimizer *eddy_momentum_with(const eddy_momentum_args *given)
{
    eddy_momentum_args a = EDDY_TAKE(eddy_momentum_args, given);
    eddy_optimizer *o = eddy__optimizer_make(&momentum, &a, a.name);
    if (!o || a.dampening.node == 0) return o;
    o->def.create_slots = eddy__counted_slots;
    o->def.prepare = damped_prepare;
    o->def.finish = eddy__count_step;
    return o;
}
