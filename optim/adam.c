/* adam.c -- Adam (Kingma and Ba 2014), in the form of its section 2's end.
 *
 *   alpha = lr sqrt(1 - beta2^t) / (1 - beta1^t)
 *   m <- m + (1 - beta1) (g - m)
 *   s <- s + (1 - beta2) (g^2 - s)
 *   v <- v - alpha m / (sqrt(s) + epsilon)
 *
 * With AMSGrad (Reddi, Kale and Kumar 2018) the largest s so far is in the root.
 *
 * The powers of the betas are two variables shared by all that the optimizer
 * updates; every step ends with one more multiplication of them. */
#include "optim/internal.h"
#include "ops/math.h"

typedef struct adam_state {
    eddy_tensor learning_rate, beta1, beta2, epsilon;
    bool        amsgrad;
    eddy_tensor alpha;               /* of this step, for the dtype last asked for */
} adam_state;

static void adam_slots(eddy_optimizer *o, eddy_tensor v)
{
    const adam_state *a = eddy_optimizer_state(o);
    eddy_make_shared_slot(o, "beta1_power", a->beta1);
    eddy_make_shared_slot(o, "beta2_power", a->beta2);
    eddy_zero_slot(o, v, "m");
    eddy_zero_slot(o, v, "v");
    if (a->amsgrad) eddy_zero_slot(o, v, "vhat");
}

static void adam_prepare(eddy_optimizer *o)
{
    adam_state *a = eddy_optimizer_state(o);
    a->alpha = eddy_none(eddy_optimizer_graph(o));
}

/* The step's length with both corrections for the start at zero. */
static eddy_tensor adam_alpha(eddy_optimizer *o, eddy_tensor v)
{
    adam_state *a = eddy_optimizer_state(o);
    if (eddy_is_valid(a->alpha) && eddy_dtype_of(a->alpha) == eddy_dtype_of(v)) return a->alpha;
    eddy_tensor lr = eddy_hyper(a->learning_rate, v);
    eddy_tensor beta1_power = eddy_hyper(eddy_shared_slot(o, "beta1_power"), v);
    eddy_tensor beta2_power = eddy_hyper(eddy_shared_slot(o, "beta2_power"), v);
    return a->alpha = Div(Mul(lr, Sqrt(Sub(1, beta2_power))), Sub(1, beta1_power));
}

static eddy_tensor adam_update(eddy_optimizer *o, eddy_tensor m, eddy_tensor s, eddy_tensor v)
{
    const adam_state *a = eddy_optimizer_state(o);
    eddy_tensor epsilon = eddy_hyper(a->epsilon, v), alpha = adam_alpha(o, v);
    if (a->amsgrad) {
        eddy_tensor most = eddy_get_slot(o, v, "vhat");
        s = eddy_assign(most, Maximum(most, s));
    }
    return eddy_assign_sub(v, Div(Mul(alpha, m), Add(Sqrt(s), epsilon)));
}

static eddy_tensor adam_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    const adam_state *a = eddy_optimizer_state(o);
    eddy_tensor m = eddy_get_slot(o, v, "m"), s = eddy_get_slot(o, v, "v");
    eddy_tensor beta1 = eddy_hyper(a->beta1, v), beta2 = eddy_hyper(a->beta2, v);
    m = eddy_assign_add(m, Mul(Sub(g, m), Sub(1, beta1)));
    s = eddy_assign_add(s, Mul(Sub(Square(g), s), Sub(1, beta2)));
    return adam_update(o, m, s, v);
}

/* The moment decays everywhere; then the listed rows get their share. */
static eddy_tensor adam_decay_and_add(eddy_tensor moment, eddy_tensor beta, eddy_tensor rows,
                                      eddy_tensor indices)
{
    eddy_tensor share = Mul(rows, Sub(1, beta)), decayed = eddy_assign(moment, Mul(moment, beta));
    eddy_control_begin(moment.graph, EDDY_LIST(decayed));
    eddy_tensor sum = eddy_scatter_add(moment, indices, share, .skip_negative = true);
    eddy_control_end(moment.graph);
    return sum;
}

/* Every row of v moves: the same as a dense gradient of zeros elsewhere. */
static eddy_tensor adam_sparse(eddy_optimizer *o, eddy_tensor g, eddy_tensor indices, eddy_tensor v)
{
    const adam_state *a = eddy_optimizer_state(o);
    eddy_tensor beta1 = eddy_hyper(a->beta1, v), beta2 = eddy_hyper(a->beta2, v);
    eddy_tensor m = adam_decay_and_add(eddy_get_slot(o, v, "m"), beta1, g, indices);
    eddy_tensor s = adam_decay_and_add(eddy_get_slot(o, v, "v"), beta2, Square(g), indices);
    return adam_update(o, m, s, v);
}

/* All updates read the powers of before the step; then both advance, once. */
static eddy_tensor adam_finish(eddy_optimizer *o, eddy_list updates)
{
    const adam_state *a = eddy_optimizer_state(o);
    eddy_graph *g = eddy_optimizer_graph(o);
    eddy_tensor power1 = eddy_shared_slot(o, "beta1_power");
    eddy_tensor power2 = eddy_shared_slot(o, "beta2_power");
    eddy_tensor next1 = Mul(power1, a->beta1), next2 = Mul(power2, a->beta2);
    eddy_control_begin(g, updates);
    eddy_tensor done = eddy_group(g, EDDY_LIST(eddy_assign(power1, next1),
                                               eddy_assign(power2, next2)), NULL);
    eddy_control_end(g);
    return done;
}

static const eddy_optimizer_def adam = {
    .name = "Adam", .state_size = sizeof(adam_state), .create_slots = adam_slots,
    .prepare = adam_prepare, .apply_dense = adam_dense, .apply_sparse = adam_sparse,
    .finish = adam_finish,
};

eddy_optimizer *eddy_adam_with(eddy_adam_args a)
{
    eddy_graph *g = a.graph ? a.graph : a.learning_rate.graph;
    adam_state  s = { a.learning_rate, a.beta1, a.beta2, a.epsilon, a.amsgrad, eddy_none(g) };
    if (!eddy_hyper_settle(g, "Adam: learning_rate", &s.learning_rate, 0.001) ||
        !eddy_hyper_settle(g, "Adam: beta1", &s.beta1, 0.9) ||
        !eddy_hyper_settle(g, "Adam: beta2", &s.beta2, 0.999) ||
        !eddy_hyper_settle(g, "Adam: epsilon", &s.epsilon, 1e-8))
        return NULL;
    return eddy_optimizer_new(g, &adam, &s, a.name);
}
