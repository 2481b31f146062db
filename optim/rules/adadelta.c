/* adadelta.c -- Adadelta: steps scaled by the RMS of earlier steps, which has the units of the
 * variable (Zeiler 2012).
 *
 *   a <- rho a + (1 - rho) g^2
 *   u =  g sqrt(d + epsilon) / sqrt(a + epsilon)      with the old d
 *   d <- rho d + (1 - rho) u^2
 *   v <- v - lr u
 *
 * d does not include the learning rate. */
#include "optim/option_table.h"
#include "graph/call_options.h"
#include "optim/rules/tf_train.h"
#include "ops/short_names.h"

/* x moved toward the square of g. */
static eddy_tensor decayed(eddy_tensor x, eddy_tensor rho, eddy_tensor g)
{
    return Add(Mul(rho, x), Mul(Sub(1, rho), Square(g)));
}

static void adadelta_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const eddy_adadelta_args *s = eddy_optimizer_state(o);
    eddy_tensor rho = eddy_hyper(s->rho, g), epsilon = eddy_hyper(s->epsilon, g);
    x[1] = decayed(x[1], rho, g);
    eddy_tensor u = Mul(g, Div(Sqrt(Add(x[2], epsilon)), Sqrt(Add(x[1], epsilon))));
    x[2] = decayed(x[2], rho, u);
    x[0] = Sub(x[0], Mul(eddy_hyper(s->learning_rate, g), u));
}

static const eddy_option_row options[] = {
    TENSOR(eddy_adadelta_args, learning_rate),
    TENSOR(eddy_adadelta_args, rho),
    TENSOR(eddy_adadelta_args, epsilon),
    { 0 },
};

static const eddy_optimizer_rule adadelta = {
    { .name = "Adadelta", .state_size = sizeof(eddy_adadelta_args), .step = adadelta_step,
      .slots = { "accum", "accum_update" } },
    sizeof(eddy_adadelta_args), options,
};

eddy_optimizer *eddy_adadelta_with(const eddy_adadelta_args *given)
{
    eddy_adadelta_args a = EDDY_TAKE(eddy_adadelta_args, given);
    return eddy__optimizer_make(&adadelta, &a, a.name);
}
