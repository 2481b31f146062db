/* asgd.c -- ASGD, averaged stochastic gradient descent: a decaying rate, and the average of the
 * iterates (Polyak and Juditsky 1992).
 *
 *   e  = lr / (1 + lambda lr (t - 1))^alpha
 *   x <- x (1 - lambda e) - e g
 *   a <- a + (x - a) / max(1, t - 1 - t0) */
#include "optim/rules/rule_formulas.h"
#include "graph/call_options.h"

typedef struct asgd_state {
    eddy_asgd_args a;
    eddy_tensor    eta, kept, share;     /* of this step */
} asgd_state;

static void asgd_slots(eddy_optimizer *o, eddy_tensor v)
{
    eddy_make_slot(o, v, "ax", eddy_initialized_value(v));
    eddy__counted_slots(o, v);
}

static void asgd_prepare(eddy_optimizer *o)
{
    asgd_state *s = eddy_optimizer_state(o);
    eddy_tensor before = Sub(eddy__step_number(o), 1), lr = eddy__exact(s->a.learning_rate);
    eddy_tensor lambda = eddy__exact(s->a.lambda);
    eddy_tensor slower = Pow(Add(1, Mul(Mul(lambda, lr), before)), eddy__exact(s->a.alpha));
    s->eta = Div(lr, slower);
    s->kept = Sub(1, Mul(lambda, s->eta));
    s->share = Div(1, Maximum(1, Sub(before, eddy__exact(s->a.t0))));
}

/* Before the average begins it is x to the bit, which x - a + a need not be. */
static void asgd_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const asgd_state *s = eddy_optimizer_state(o);
    x[0] = Sub(Mul(x[0], eddy_hyper(s->kept, g)), Mul(eddy_hyper(s->eta, g), g));
    eddy_tensor mean = Add(x[1], Mul(Sub(x[0], x[1]), eddy_hyper(s->share, g)));
    x[1] = Where(Equal(s->share, 1), x[0], mean);
}

static const eddy_option_row options[] = {
    TENSOR(eddy_asgd_args, learning_rate),
    TENSOR(eddy_asgd_args, lambda),
    TENSOR(eddy_asgd_args, alpha),
    TENSOR(eddy_asgd_args, t0),
    { 0 },
};

static const eddy_optimizer_rule asgd = {
    { .name = "ASGD", .state_size = sizeof(asgd_state), .create_slots = asgd_slots,
      .prepare = asgd_prepare, .finish = eddy__count_step, .step = asgd_step,
      .slots = { "ax" } },
    sizeof(eddy_asgd_args), options,
};

eddy_optimizer *eddy_asgd_with(const eddy_asgd_args *given)
{
    eddy_asgd_args a = EDDY_TAKE(eddy_asgd_args, given);
    return eddy__optimizer_make_lazy(&asgd, &a, a.name, false);
}
