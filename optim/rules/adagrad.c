/* adagrad.c -- Adagrad: a learning rate for each element, by the sum of its squared gradients
 * (Duchi, Hazan and Singer 2011).
 *
 *   a <- a + g^2
 *   v <- v - lr g / sqrt(a)
 *
 * There is no epsilon: a starts above zero. */
#include "optim/option_table.h"
#include "graph/call_options.h"
#include "optim/rules/tf_train.h"
#include "ops/short_names.h"

static void adagrad_slots(eddy_optimizer *o, eddy_tensor v)
{
    const eddy_adagrad_args *s = eddy_optimizer_state(o);
    eddy__filled_slot(o, v, "accumulator", s->initial_accumulator_value, NULL);
}

static void adagrad_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const eddy_adagrad_args *s = eddy_optimizer_state(o);
    x[1] = Add(x[1], Square(g));
    x[0] = Sub(x[0], Div(Mul(eddy_hyper(s->learning_rate, g), g), Sqrt(x[1])));
}

static const eddy_option_row options[] = {
    REQUIRED(eddy_adagrad_args, learning_rate),
    POSITIVE(eddy_adagrad_args, initial_accumulator_value),
    { 0 },
};

static const eddy_optimizer_rule adagrad = {
    { .name = "Adagrad", .state_size = sizeof(eddy_adagrad_args),
      .create_slots = adagrad_slots, .step = adagrad_step, .slots = { "accumulator" } },
    sizeof(eddy_adagrad_args), options,
};

eddy_optimizer *eddy_adagrad_with(const eddy_adagrad_args *given)
{
    eddy_adagrad_args a = EDDY_TAKE(eddy_adagrad_args, given);
    return eddy__optimizer_make(&adagrad, &a, a.name);
}
