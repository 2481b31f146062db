/* adagrad_da.c -- Adagrad as dual averaging (Duchi, Hazan and Singer 2011).
 *
 *   T = global_step + 1
 *   G <- G + g
 *   Q <- Q + g^2
 *   v <- -lr shrink(G, l1 T) / (l2 T lr + sqrt(Q))
 *
 * The variable follows from the sums alone: what it was before is forgotten.  The count of
 * steps belongs to whoever calls, who passes it to apply_gradients as well. */
#include "optim/internal.h"
#include "ops/math.h"

#include <math.h>

typedef struct da_state {
    eddy_tensor learning_rate, global_step;
    double      initial, l1, l2;
} da_state;

static void da_slots(eddy_optimizer *o, eddy_tensor v)
{
    const da_state *s = eddy_optimizer_state(o);
    eddy_zero_slot(o, v, "gradient_accumulator");
    eddy_filled_slot(o, v, "gradient_squared_accumulator", s->initial, NULL);
}

static void da_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const da_state *s = eddy_optimizer_state(o);
    eddy_tensor lr = eddy_hyper(s->learning_rate, g);
    eddy_tensor steps = Add(eddy_hyper(s->global_step, g), 1);
    x[1] = Add(x[1], g);
    x[2] = Add(x[2], Square(g));
    eddy_tensor sum = s->l1 > 0 ? eddy_shrink(x[1], Mul(s->l1, steps)) : x[1];
    x[0] = Neg(Div(Mul(lr, sum), Add(Mul(Mul(s->l2, steps), lr), Sqrt(x[2]))));
}

static const eddy_optimizer_def da = {
    .name = "AdagradDA", .state_size = sizeof(da_state), .create_slots = da_slots,
    .step = da_step, .slots = { "gradient_accumulator", "gradient_squared_accumulator" },
};

static bool step_fits(eddy_graph *g, eddy_tensor step)
{
    char text[128];
    if (!eddy_graph_ready(g)) return false;
    if (!eddy_is_valid(step) || step.graph != g)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "AdagradDA: global_step is %s",
                  step.node == 0 ? "required" : "not a tensor of this graph");
    else if (!eddy_dtype_is_integer(eddy_dtype_of(step)))
        eddy_fail(g, EDDY_BAD_DTYPE, "AdagradDA: global_step has type %s; an integer is needed",
                  eddy_dtype_name(eddy_dtype_of(step)));
    else if (eddy_shape_of(step).rank > 0)
        eddy_fail(g, EDDY_BAD_SHAPE, "AdagradDA: global_step has shape %s and is no scalar",
                  eddy_shape_print(eddy_shape_of(step), text, sizeof text));
    return eddy_graph_ready(g);
}

eddy_optimizer *eddy_adagrad_da_with(eddy_adagrad_da_args a)
{
    eddy_graph *g = a.graph ? a.graph : a.learning_rate.graph;
    da_state    s = { a.learning_rate, a.global_step,
                      eddy_setting(a.initial_gradient_squared_accumulator_value, 0.1),
                      a.l1_regularization_strength, a.l2_regularization_strength };
    if (!eddy_hyper_settle(g, "AdagradDA: learning_rate", &s.learning_rate, NAN) ||
        !step_fits(g, s.global_step) ||
        !eddy_setting_is_positive(g, "AdagradDA: initial_gradient_squared_accumulator_value",
                                  s.initial) ||
        !eddy_setting_is_not_negative(g, "AdagradDA: l1_regularization_strength", s.l1) ||
        !eddy_setting_is_not_negative(g, "AdagradDA: l2_regularization_strength", s.l2))
        return NULL;
    return eddy_optimizer_new(g, &da, &s, a.name);
}
