/* rmsprop.c -- steps divided by how large gradients are of late (Tieleman and Hinton 2012),
 * with momentum; centered, by how much they vary (Graves 2013).
 *
 *   r <- r + (g^2 - r)(1 - decay)
 *   m <- m + (g - m)(1 - decay)                       if centered
 *   q <- momentum q + lr g / sqrt(r + epsilon)        centered: sqrt(r - m^2 + epsilon)
 *   v <- v - q
 *
 * r begins at one, epsilon stands in the root, and the rate goes into the momentum. */
#include "optim/internal.h"
#include "ops/math.h"

#include <math.h>

typedef struct rmsprop_state {
    eddy_tensor learning_rate, decay, momentum, epsilon;
    bool        centered;
} rmsprop_state;

/* In TensorFlow's order, which gives the variables their names. */
static void rmsprop_slots(eddy_optimizer *o, eddy_tensor v)
{
    const rmsprop_state *s = eddy_optimizer_state(o);
    eddy_filled_slot(o, v, "rms", 1, NULL);
    if (s->centered) eddy_zero_slot(o, v, "mg");
    eddy_zero_slot(o, v, "momentum");
}

/* x[1] is rms, x[2] momentum, x[3] mg. */
static void rmsprop_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const rmsprop_state *s = eddy_optimizer_state(o);
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

static const eddy_optimizer_def plain = {
    .name = "RMSProp", .state_size = sizeof(rmsprop_state), .create_slots = rmsprop_slots,
    .step = rmsprop_step, .slots = { "rms", "momentum" },
};

static const eddy_optimizer_def centered = {
    .name = "RMSProp", .state_size = sizeof(rmsprop_state), .create_slots = rmsprop_slots,
    .step = rmsprop_step, .slots = { "rms", "momentum", "mg" },
};

eddy_optimizer *eddy_rmsprop_with(eddy_rmsprop_args a)
{
    eddy_graph   *g = a.graph ? a.graph : a.learning_rate.graph;
    rmsprop_state s = { a.learning_rate, a.decay, a.momentum, a.epsilon, a.centered };
    if (!eddy_hyper_settle(g, "RMSProp: learning_rate", &s.learning_rate, NAN) ||
        !eddy_hyper_settle(g, "RMSProp: decay", &s.decay, 0.9) ||
        !eddy_hyper_settle(g, "RMSProp: momentum", &s.momentum, 0) ||
        !eddy_hyper_settle(g, "RMSProp: epsilon", &s.epsilon, 1e-10))
        return NULL;
    return eddy_optimizer_new(g, a.centered ? &centered : &plain, &s, a.name);
}
