/* proximal.c -- proximal gradient descent and proximal Adagrad: each step is followed by the
 * proximal operator of l1 |v| + l2 v^2 / 2 (Duchi and Singer 2009).
 *
 *   e = lr, or with Adagrad  a <- a + g^2,  e = lr / sqrt(a)
 *   v <- shrink(v - e g, e l1) / (1 + e l2) */
#include "optim/option_table.h"
#include "graph/call_options.h"
#include "optim/rules/tf_train.h"
#include "ops/short_names.h"

eddy_tensor eddy__shrink(eddy_tensor x, eddy_tensor by)
{
    return Mul(Sign(x), Maximum(Sub(Abs(x), by), 0));
}

/* One step of length e, which is a scalar or one for each element. */
static eddy_tensor proximal(eddy_tensor v, eddy_tensor e, eddy_tensor g, double l1, double l2)
{
    eddy_tensor w = Sub(v, Mul(e, g));
    if (l1 > 0) w = eddy__shrink(w, Mul(e, l1));
    return l2 > 0 ? Div(w, Add(1, Mul(e, l2))) : w;
}

/* ------------------------------------------------------- gradient descent -- */

static void descent_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const eddy_proximal_gradient_descent_args *s = eddy_optimizer_state(o);
    x[0] = proximal(x[0], eddy_hyper(s->learning_rate, g), g, s->l1_regularization_strength,
                    s->l2_regularization_strength);
}

static const eddy_option_row descent_options[] = {
    REQUIRED(eddy_proximal_gradient_descent_args, learning_rate),
    NOT_NEGATIVE(eddy_proximal_gradient_descent_args, l1_regularization_strength),
    NOT_NEGATIVE(eddy_proximal_gradient_descent_args, l2_regularization_strength),
    { 0 },
};

static const eddy_optimizer_rule descent = {
    { .name = "ProximalGradientDescent", .step = descent_step,
      .state_size = sizeof(eddy_proximal_gradient_descent_args) },
    sizeof(eddy_proximal_gradient_descent_args), descent_options,
};

eddy_optimizer *eddy_proximal_gradient_descent_with(
    const eddy_proximal_gradient_descent_args *given)
{
    eddy_proximal_gradient_descent_args a = EDDY_TAKE(eddy_proximal_gradient_descent_args, given);
    return eddy__optimizer_make(&descent, &a, a.name);
}

/* ----------------------------------------------------------------- Adagrad -- */

typedef struct adagrad_state {
    eddy_proximal_adagrad_args a;
    eddy_tensor                rate;     /* the learning rate, found to be above 0 */
} adagrad_state;

static void adagrad_slots(eddy_optimizer *o, eddy_tensor v)
{
    const adagrad_state *s = eddy_optimizer_state(o);
    eddy__filled_slot(o, v, "accumulator", s->a.initial_accumulator_value, NULL);
}

static void adagrad_prepare(eddy_optimizer *o)
{
    adagrad_state *s = eddy_optimizer_state(o);
    s->rate = eddy__hyper_positive("ProximalAdagrad: learning_rate", s->a.learning_rate);
}

static void adagrad_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const adagrad_state *s = eddy_optimizer_state(o);
    x[1] = Add(x[1], Square(g));
    x[0] = proximal(x[0], Div(eddy_hyper(s->rate, g), Sqrt(x[1])), g,
                    s->a.l1_regularization_strength, s->a.l2_regularization_strength);
}

static const eddy_option_row adagrad_options[] = {
    REQUIRED(eddy_proximal_adagrad_args, learning_rate),
    POSITIVE(eddy_proximal_adagrad_args, initial_accumulator_value),
    NOT_NEGATIVE(eddy_proximal_adagrad_args, l1_regularization_strength),
    NOT_NEGATIVE(eddy_proximal_adagrad_args, l2_regularization_strength),
    { 0 },
};

static const eddy_optimizer_rule adagrad = {
    { .name = "ProximalAdagrad", .state_size = sizeof(adagrad_state),
      .create_slots = adagrad_slots, .prepare = adagrad_prepare, .step = adagrad_step,
      .slots = { "accumulator" } },
    sizeof(eddy_proximal_adagrad_args), adagrad_options,
};

eddy_optimizer *eddy_proximal_adagrad_with(const eddy_proximal_adagrad_args *given)
{
    eddy_proximal_adagrad_args a = EDDY_TAKE(eddy_proximal_adagrad_args, given);
    return eddy__optimizer_make(&adagrad, &a, a.name);
}
