/* rprop.c -- Rprop, resilient backpropagation: step sizes depend on the signs of the gradients
 * alone (Riedmiller and Braun 1993).
 *
 *   d <- min(d eta_plus, most)     where g has the sign of the previous step,
 *        max(d eta_minus, least)   where it has the other sign; there g <- 0
 *   x <- x - sign(g) d
 *
 * The signs are multiplied instead of the gradients, whose products may underflow. */
#include "optim/option_table.h"
#include "graph/call_options.h"
#include "optim/rules/tf_train.h"
#include "ops/short_names.h"

static void rprop_slots(eddy_optimizer *o, eddy_tensor v)
{
    const eddy_rprop_args *s = eddy_optimizer_state(o);
    eddy__zero_slot(o, v, "prev");
    eddy_tensor zeros = ZerosLike(eddy_initialized_value(v));
    eddy_make_slot(o, v, "step_size", Add(zeros, eddy_hyper(s->learning_rate, v)));
}

static void rprop_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const eddy_rprop_args *s = eddy_optimizer_state(o);
    eddy_tensor turn = Mul(Sign(g), Sign(x[1])), back = Less(turn, 0);
    eddy_tensor factor = Where(back, eddy_hyper(s->eta_minus, g),
                               Where(Greater(turn, 0), eddy_hyper(s->eta_plus, g), 1));
    x[2] = Minimum(Maximum(Mul(x[2], factor), eddy_hyper(s->min_step, g)),
                   eddy_hyper(s->max_step, g));
    x[1] = Where(back, 0, g);
    x[0] = Sub(x[0], Mul(Sign(x[1]), x[2]));
}

static const eddy_option_row options[] = {
    TENSOR(eddy_rprop_args, learning_rate),
    TENSOR(eddy_rprop_args, eta_minus),
    TENSOR(eddy_rprop_args, eta_plus),
    TENSOR(eddy_rprop_args, min_step),
    TENSOR(eddy_rprop_args, max_step),
    { 0 },
};

static const eddy_optimizer_rule rprop = {
    { .name = "Rprop", .state_size = sizeof(eddy_rprop_args), .create_slots = rprop_slots,
      .step = rprop_step, .slots = { "prev", "step_size" } },
    sizeof(eddy_rprop_args), options,
};

eddy_optimizer *eddy_rprop_with(const eddy_rprop_args *given)
{
    eddy_rprop_args a = EDDY_TAKE(eddy_rprop_args, given);
    return eddy__optimizer_make_lazy(&rprop, &a, a.name, false);
}
