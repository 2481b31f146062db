/* rmsprop.c -- RMSProp: steps divided by the RMS of recent gradients (Tieleman and Hinton 2012),
 * with momentum; the centered version divides by their standard deviation (Graves 2013).
 *
 *   r <- r + (g^2 - r)(1 - decay)
 *   m <- m + (g - m)(1 - decay)                       if centered
 *   q <- momentum q + lr g / sqrt(r + epsilon)        centered: sqrt(r - m^2 + epsilon)
 *   v <- v - q
 *
 * r starts at one, epsilon is inside the root, and the learning rate is inside the momentum. */
#include "optim/option_table.h"
#include "graph/call_options.h"
#include "optim/rules/tf_train.h"
#include "ops/short_names.h"

/* TensorFlow's order, which determines the names of the variables. */
static void rmsprop_slots(eddy_optimizer *o, eddy_tensor v)
{
    const eddy_rmsprop_args *s = eddy_optimizer_state(o);
    eddy__filled_slot(o, v, "rms", 1, NULL);
    if (s->centered) eddy__zero_slot(o, v, "mg");
    eddy__zero_slot(o, v, "momentum");
}

/* x[1] is rms, x[2] momentum, x[3] mg. */
static void rmsprop_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const eddy_rmsprop_args *s = eddy_optimizer_state(o);
    eddy_tensor lr = eddy_hyper(s->learning_rate, g), fresh = Sub(1, eddy_hyper(s->decay, g));
    x[1] = Add(x[1], Mul(Sub(Square(g), x[1]), fresh));
    eddy_tensor spread = x[1];
    if (s->centered) {
        x[3] = Add(x[3], Mul(Sub(g, x[3]), fresh));
        spread = Sub(x[1], Square(x[3]));
    }
    eddy_tensor root = Sqrt(Add(spread, eddy_hyper(s->epsilon, g)));
    x[2] = Add(Mul(eddy_hyper(s->momentum, g), x[2]), Div(Mul(lr, g), root));
    x[0] = Sub(x[0], x[2]);
}

static const eddy_option_row options[] = {
    REQUIRED(eddy_rmsprop_args, learning_rate),
    TENSOR(eddy_rmsprop_args, decay),
    TENSOR(eddy_rmsprop_args, momentum),
    TENSOR(eddy_rmsprop_args, epsilon),
    { 0 },
};

static const eddy_optimizer_rule rmsprop = {
    { .name = "RMSProp", .state_size = sizeof(eddy_rmsprop_args), .create_slots = rmsprop_slots,
      .step = rmsprop_step, .slots = { "rms", "momentum", "mg" } },
    sizeof(eddy_rmsprop_args), options,
};

eddy_optimizer *eddy_rmsprop_with(const eddy_rmsprop_args *given)
{
    eddy_rmsprop_args a = EDDY_TAKE(eddy_rmsprop_args, given);
    eddy_optimizer *o = eddy__optimizer_make(&rmsprop, &a, a.name);
    if (o && !a.centered) o->def.slots[2] = NULL;
    return o;
}
