/* averages_exponential.c -- exponential moving averages (EMA) of variables, after TensorFlow 1's
 * moving_averages. */
#include "optim/wrappers/averages_internal.h"
#include "graph/call_options.h"
#include "graph/internal.h"
#include "ops/short_names.h"

#include <math.h>

/* ------------------------------------------------------------ one variable -- */

/* average -= (1 - decay) (average - value). */
static eddy_tensor update_average(eddy_tensor average, eddy_tensor value, eddy_tensor decay)
{
    return eddy_assign_sub(average, Mul(Sub(average, value), Sub(1, eddy_hyper(decay, average))));
}

/* "<variable>/<name>", zeros of that shape. */
static eddy_tensor zero_variable(eddy_tensor variable, const char *name, bool scalar)
{
    char scope[EDDY_MAX_NAME];
    eddy_graph *g = variable.graph;
    const eddy_dtype d = eddy_dtype_of(variable);
    const eddy_shape shape = scalar ? EDDY_SCALAR : eddy_shape_of(variable);
    snprintf(scope, sizeof scope, "%s/", eddy_name_of(variable));
    eddy_control_clear(g);
    eddy_scope_begin(g, scope);
    eddy_tensor zeros = eddy_shape_is_known(shape)
                            ? eddy_zeros(g, d, shape)
                            : eddy_zeros_like(eddy_initialized_value(variable));
    eddy_tensor v = eddy_variable(g, .initial_value = zeros, .not_trainable = true, .name = name);
    eddy_scope_end(g);
    eddy_control_end(g);
    return v;
}

/* The average of the values so far: the weights of all values add up to 1. */
static eddy_tensor move_debiased(eddy_tensor variable, eddy_tensor value, eddy_tensor decay)
{
    eddy_tensor biased = update_average(zero_variable(variable, "biased", false), value, decay);
    eddy_tensor n = eddy_assign_add(zero_variable(variable, "local_step", true),
                                    NumberLike(1, variable));
    eddy_tensor weight = Sub(1, Pow(eddy_hyper(decay, variable), n));
    return eddy_assign(variable, Div(biased, weight));
}

static bool moving_average_fits(eddy_graph *g, const eddy_assign_moving_average_args *a)
{
    char is[128], was[128];
    if (!eddy__is_variable(a->variable) || a->variable.graph != g)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "assign_moving_average: the variable is not a variable of this graph");
    else if (!eddy_is_valid(a->value) || a->value.graph != g)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "assign_moving_average: the value is not a tensor of this graph");
    else if (!eddy_dtype_is_floating(eddy_dtype_of(a->variable)) ||
             eddy_dtype_of(a->value) != eddy_dtype_of(a->variable))
        eddy_fail(g, EDDY_BAD_DTYPE, "assign_moving_average: '%s' is %s, but the value is %s",
                  eddy_name_of(a->variable), eddy_dtype_name(eddy_dtype_of(a->variable)),
                  eddy_dtype_name(eddy_dtype_of(a->value)));
    else if (!eddy_shape_compatible(eddy_shape_of(a->variable), eddy_shape_of(a->value)))
        eddy_fail(g, EDDY_BAD_SHAPE, "assign_moving_average: '%s' is %s, but the value is %s",
                  eddy_name_of(a->variable),
                  eddy_shape_print(eddy_shape_of(a->variable), was, sizeof was),
                  eddy_shape_print(eddy_shape_of(a->value), is, sizeof is));
    return eddy__graph_ready(g);
}

eddy_tensor eddy_assign_moving_average_with(const eddy_assign_moving_average_args *given)
{
    eddy_assign_moving_average_args a = EDDY_TAKE(eddy_assign_moving_average_args, given);
    eddy_graph *g = a.variable.graph ? a.variable.graph : a.value.graph;
    if (!eddy__graph_ready(g)) return eddy_none(g);
    if (!moving_average_fits(g, &a) ||
        !eddy__hyper_settle(g, "assign_moving_average: decay", &a.decay, NAN))
        return eddy_none(g);
    eddy_scope_begin(g, a.name && *a.name ? a.name : "AssignMovingAvg");
    const char *scope = eddy_scope_name(g);
    eddy_tensor value =
        eddy_shape_is_known(eddy_shape_of(a.value)) ? a.value : ReshapeLike(a.value, a.variable);
    eddy_tensor y = a.no_zero_debias ? update_average(a.variable, value, a.decay)
                                     : move_debiased(a.variable, value, a.decay);
    if (eddy_is_valid(y)) eddy_named(scope, y);
    eddy_scope_end(g);
    return y;
}

/* ---------------------------------------------------------------- weighted -- */

/* The moving average of t, which begins as zeros. */
static eddy_tensor average_from_zero(eddy_tensor t, eddy_tensor decay, const char *name)
{
    eddy_graph *g = t.graph;
    eddy_control_clear(g);
    eddy_tensor v = eddy_variable(g, .initial_value = eddy_zeros(g, eddy_dtype_of(t),
                                                                 eddy_shape_of(t)),
                                  .not_trainable = true, .name = name);
    eddy_control_end(g);
    return eddy_is_valid(v) ? update_average(v, t, decay) : v;
}

eddy_tensor eddy_weighted_moving_average_with(const eddy_weighted_moving_average_args *given)
{
    eddy_weighted_moving_average_args a = EDDY_TAKE(eddy_weighted_moving_average_args, given);
    eddy_graph *g = a.value.graph;
    char is[128], was[128];
    if (!eddy__graph_ready(g)) return eddy_none(g);
    if (!eddy_is_valid(a.weight) || a.weight.graph != g || !eddy_is_valid(a.value))
        return eddy_fail(g, EDDY_INVALID_ARGUMENT,
                         "weighted_moving_average: value and weight must be tensors of one graph");
    if (!eddy__expect_type(g, "weighted_moving_average", "value", eddy_dtype_of(a.value),
                           EDDY_TAKES_FLOATS))
        return eddy_none(g);
    if (!eddy_shape_is_known(eddy_shape_of(a.value)) ||
        !eddy_shape_is_known(eddy_shape_of(a.weight)))
        return eddy_fail(g, EDDY_BAD_SHAPE, "weighted_moving_average: the shapes of value, %s, and "
                         "weight, %s, must be known",
                         eddy_shape_print(eddy_shape_of(a.value), was, sizeof was),
                         eddy_shape_print(eddy_shape_of(a.weight), is, sizeof is));
    if (!eddy__hyper_settle(g, "weighted_moving_average: decay", &a.decay, NAN))
        return eddy_none(g);
    eddy_scope_begin(g, a.name && *a.name ? a.name : "WeightedMovingAvg");
    const char *scope = eddy_scope_name(g);
    eddy_tensor weight = CastLike(a.weight, a.value);
    eddy_tensor sum = average_from_zero(Mul(a.value, weight), a.decay, "value_x_weight");
    eddy_tensor y = Div(sum, average_from_zero(weight, a.decay, "weight"));
    if (eddy_is_valid(y)) eddy_named(scope, y);
    eddy_scope_end(g);
    return y;
}

/* ---------------------------------------------------------- many variables -- */

/* The decay of these updates: smaller at first, if their number is known. */
static void exponential_prepare(eddy_averages *a)
{
    a->decay = a->decay_given;
    if (a->num_updates.node == 0) return;
    eddy_tensor n = CastLike(a->num_updates, a->decay);
    a->decay = Minimum(a->decay, Div(Add(1, n), Add(10, n)));
}

static eddy_tensor exponential_update(eddy_averages *a, eddy_shadow s, eddy_tensor value)
{
    return eddy_assign_moving_average(s.shadow, value, a->decay,
        .no_zero_debias = !a->zero_debias || eddy__is_variable(s.of));
}

static const eddy_averages_kind exponential = {
    .name = "ExponentialMovingAverage", .prepare = exponential_prepare,
    .update = exponential_update,
};

eddy_averages *eddy_exponential_moving_average_with(
    const eddy_exponential_moving_average_args *given)
{
    eddy_exponential_moving_average_args a = EDDY_TAKE(eddy_exponential_moving_average_args, given);
    eddy_graph *g = a.graph ? a.graph : a.decay.graph;
    if (!eddy__hyper_settle(g, "ExponentialMovingAverage: decay", &a.decay, NAN)) return NULL;
    if (a.num_updates.node != 0 &&
        (!eddy_is_valid(a.num_updates) || a.num_updates.graph != g ||
         eddy_shape_of(a.num_updates).rank > 0)) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "ExponentialMovingAverage: num_updates is not a scalar of this graph");
        return NULL;
    }
    eddy_averages *y = eddy__averages_new(g, &exponential, a.name);
    if (!y) return NULL;
    y->decay_given = a.decay;
    y->num_updates = a.num_updates;
    y->zero_debias = a.zero_debias;
    return y;
}
