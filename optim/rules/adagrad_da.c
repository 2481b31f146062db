/* adagrad_da.c -- AdagradDA: Adagrad with dual averaging (Duchi, Hazan and Singer 2011).
 *
 *   T = global_step + 1
 *   G <- G + g
 *   Q <- Q + g^2
 *   v <- -lr shrink(G, l1 T) / (l2 T lr + sqrt(Q))
 *
 * The new value follows from the sums alone and does not depend on the old value. The global
 * step belongs to the caller, who passes it to apply_gradients as well. */
#include "optim/option_table.h"
#include "graph/call_options.h"
#include "graph/internal.h"
#include "optim/rules/tf_train.h"
#include "ops/short_names.h"

static void da_slots(eddy_optimizer *o, eddy_tensor v)
{
    const eddy_adagrad_da_args *s = eddy_optimizer_state(o);
    eddy__zero_slot(o, v, "gradient_accumulator");
    eddy__filled_slot(o, v, "gradient_squared_accumulator",
                      s->initial_gradient_squared_accumulator_value, NULL);
}

static void da_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const eddy_adagrad_da_args *s = eddy_optimizer_state(o);
    eddy_tensor lr = eddy_hyper(s->learning_rate, g);
    eddy_tensor steps = Add(eddy_hyper(s->global_step, g), 1);
    x[1] = Add(x[1], g);
    x[2] = Add(x[2], Square(g));
    const double l1 = s->l1_regularization_strength, l2 = s->l2_regularization_strength;
    eddy_tensor  sum = l1 > 0 ? eddy__shrink(x[1], Mul(l1, steps)) : x[1];
    x[0] = Neg(Div(Mul(lr, sum), Add(Mul(Mul(l2, steps), lr), Sqrt(x[2]))));
}

static bool step_fits(eddy_graph *g, eddy_tensor step)
{
    char text[128];
    if (!eddy__graph_ready(g)) return false;
    if (!eddy_is_valid(step) || step.graph != g)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "AdagradDA: global_step is %s",
                  step.node == 0 ? "required" : "not a tensor of this graph");
    else if (eddy__expect_type(g, "AdagradDA", "global_step", eddy_dtype_of(step),
                               EDDY_TAKES_INTEGERS) &&
             eddy_shape_of(step).rank > 0)
        eddy_fail(g, EDDY_BAD_SHAPE, "AdagradDA: global_step has shape %s; expected a scalar",
                  eddy_shape_print(eddy_shape_of(step), text, sizeof text));
    return eddy__graph_ready(g);
}

static const eddy_option_row options[] = {
    REQUIRED(eddy_adagrad_da_args, learning_rate),
    POSITIVE(eddy_adagrad_da_args, initial_gradient_squared_accumulator_value),
    NOT_NEGATIVE(eddy_adagrad_da_args, l1_regularization_strength),
    NOT_NEGATIVE(eddy_adagrad_da_args, l2_regularization_strength),
    { 0 },
};

static const eddy_optimizer_rule da = {
    { .name = "AdagradDA", .state_size = sizeof(eddy_adagrad_da_args), .create_slots = da_slots,
      .step = da_step, .slots = { "gradient_accumulator", "gradient_squared_accumulator" } },
    sizeof(eddy_adagrad_da_args), options,
};

eddy_optimizer *eddy_adagrad_da_with(const eddy_adagrad_da_args *given)
{
    eddy_adagrad_da_args a = EDDY_TAKE(eddy_adagrad_da_args, given);
    eddy_optimizer *o = eddy__optimizer_make(&da, &a, a.name);
    return o && step_fits(o->graph, a.global_step) ? o : NULL;
}
