/* adam.c -- Adam and AMSGrad (Kingma and Ba 2014), in the form given at the end of their section
 * 2.
 *
 *   alpha = lr sqrt(1 - beta2^t) / (1 - beta1^t)
 *   m <- m + (1 - beta1) (g - m)
 *   s <- s + (1 - beta2) (g^2 - s)
 *   v <- v - alpha m / (sqrt(s) + epsilon)
 *
 * With AMSGrad (Reddi, Kale and Kumar 2018) the root is taken of the largest s so far.
 *
 * The powers of the betas are two variables shared by all variables that the optimizer updates;
 * every step ends with one more multiplication of them. */
#include "optim/option_table.h"
#include "graph/call_options.h"
#include "optim/rules/tf_train.h"
#include "ops/short_names.h"

typedef struct adam_state {
    eddy_adam_args a;
    eddy_tensor    alpha;            /* of this step, in the dtype of the last request */
} adam_state;

static void adam_slots(eddy_optimizer *o, eddy_tensor v)
{
    const adam_state *s = eddy_optimizer_state(o);
    eddy_make_shared_slot(o, "beta1_power", s->a.beta1);
    eddy_make_shared_slot(o, "beta2_power", s->a.beta2);
    eddy__step_slots(o, v);
}

static void adam_prepare(eddy_optimizer *o)
{
    adam_state *s = eddy_optimizer_state(o);
    s->alpha = eddy_none(o->graph);
}

/* The step's length with both corrections for the start at zero. */
static eddy_tensor adam_alpha(eddy_optimizer *o, eddy_tensor v)
{
    adam_state *s = eddy_optimizer_state(o);
    if (eddy_is_valid(s->alpha) && eddy_dtype_of(s->alpha) == eddy_dtype_of(v)) return s->alpha;
    eddy_tensor lr = eddy_hyper(s->a.learning_rate, v);
    eddy_tensor beta1_power = eddy_hyper(eddy__shared_slot(o, "beta1_power"), v);
    eddy_tensor beta2_power = eddy_hyper(eddy__shared_slot(o, "beta2_power"), v);
    return s->alpha = Div(Mul(lr, Sqrt(Sub(1, beta2_power))), Sub(1, beta1_power));
}

/* The decrease of the variable: m and s are the new moments; s is the one under the root. */
static eddy_tensor adam_length(eddy_optimizer *o, eddy_tensor m, eddy_tensor s)
{
    const adam_state *a = eddy_optimizer_state(o);
    eddy_tensor epsilon = eddy_hyper(a->a.epsilon, m), alpha = adam_alpha(o, m);
    return Div(Mul(alpha, m), Add(Sqrt(s), epsilon));
}

static void adam_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const adam_state *s = eddy_optimizer_state(o);
    eddy_tensor beta1 = eddy_hyper(s->a.beta1, g), beta2 = eddy_hyper(s->a.beta2, g);
    x[1] = Add(x[1], Mul(Sub(g, x[1]), Sub(1, beta1)));
    x[2] = Add(x[2], Mul(Sub(Square(g), x[2]), Sub(1, beta2)));
    if (s->a.amsgrad) x[3] = Maximum(x[3], x[2]);
    x[0] = Sub(x[0], adam_length(o, x[1], x[s->a.amsgrad ? 3 : 2]));
}

/* The moment decays everywhere; then the listed rows get their part of the gradient. */
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
    eddy_tensor beta1 = eddy_hyper(a->a.beta1, v), beta2 = eddy_hyper(a->a.beta2, v);
    eddy_tensor m = adam_decay_and_add(eddy_get_slot(o, v, "m"), beta1, g, indices);
    eddy_tensor s = adam_decay_and_add(eddy_get_slot(o, v, "v"), beta2, Square(g), indices);
    if (a->a.amsgrad) {
        eddy_tensor most = eddy_get_slot(o, v, "vhat");
        s = eddy_assign(most, Maximum(most, s));
    }
    return eddy_assign_sub(v, adam_length(o, m, s));
}

/* All updates read the powers from before the step; then both are multiplied once. */
static eddy_tensor adam_finish(eddy_optimizer *o, eddy_list updates)
{
    const adam_state *s = eddy_optimizer_state(o);
    eddy_graph *g = eddy_optimizer_graph(o);
    eddy_tensor power1 = eddy__shared_slot(o, "beta1_power");
    eddy_tensor power2 = eddy__shared_slot(o, "beta2_power");
    eddy_tensor next1 = Mul(power1, s->a.beta1), next2 = Mul(power2, s->a.beta2);
    eddy_control_begin(g, updates);
    eddy_tensor done = eddy_group(g, EDDY_LIST(eddy_assign(power1, next1),
                                               eddy_assign(power2, next2)), NULL);
    eddy_control_end(g);
    return done;
}

static const eddy_option_row options[] = {
    TENSOR(eddy_adam_args, learning_rate),
    TENSOR(eddy_adam_args, beta1),
    TENSOR(eddy_adam_args, beta2),
    TENSOR(eddy_adam_args, epsilon),
    { 0 },
};

static const eddy_optimizer_rule adam = {
    { .name = "Adam", .state_size = sizeof(adam_state), .create_slots = adam_slots,
      .prepare = adam_prepare, .apply_dense = eddy__step_all, .apply_sparse = adam_sparse,
      .finish = adam_finish, .step = adam_step, .slots = { "m", "v", "vhat" } },
    sizeof(eddy_adam_args), options,
};

eddy_optimizer *eddy_adam_with(const eddy_adam_args *given)
{
    eddy_adam_args a = EDDY_TAKE(eddy_adam_args, given);
    eddy_optimizer *o = eddy__optimizer_make(&adam, &a, a.name);
    if (o && !a.amsgrad) o->def.slots[2] = NULL;
    return o;
}
