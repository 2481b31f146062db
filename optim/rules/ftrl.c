/* ftrl.c -- FTRL-proximal, follow the regularized leader (McMahan et al. 2013).
 *
 *   p  = -learning_rate_power
 *   n' = n + g^2
 *   z  <- z + g + 2 shrinkage v - (n'^p - n^p) / lr v
 *   v  <- (l1 sign(z) - z) / ((n'^p + beta) / lr + 2 l2)   where |z| > l1, else 0
 *   n  <- n'
 *
 * Shrinkage affects z alone: n sums the squares of the gradients themselves. */
#include "optim/option_table.h"
#include "graph/call_options.h"
#include "optim/rules/tf_train.h"
#include "ops/short_names.h"

#include <string.h>

typedef struct ftrl_state {
    eddy_ftrl_args a;
    eddy_tensor    rate;             /* the learning rate, found to be above 0 */
} ftrl_state;

static void ftrl_slots(eddy_optimizer *o, eddy_tensor v)
{
    const ftrl_state *s = eddy_optimizer_state(o);
    eddy__filled_slot(o, v, "accum", s->a.initial_accumulator_value, s->a.accum_name);
    eddy__filled_slot(o, v, "linear", 0, s->a.linear_name);
}

static void ftrl_prepare(eddy_optimizer *o)
{
    ftrl_state *s = eddy_optimizer_state(o);
    s->rate = eddy__hyper_positive("Ftrl: learning_rate", s->a.learning_rate);
}

/* n^p. */
static eddy_tensor ftrl_power(const ftrl_state *s, eddy_tensor n)
{
    const double p = -s->a.learning_rate_power;
    if (p == 0.5) return Sqrt(n);
    return p == 0 ? NumberLike(1, n) : Pow(n, p);
}

static void ftrl_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const ftrl_state *s = eddy_optimizer_state(o);
    eddy_tensor lr = eddy_hyper(s->rate, g), before = ftrl_power(s, x[1]);
    x[1] = Add(x[1], Square(g));
    eddy_tensor now = ftrl_power(s, x[1]);
    const double shrinkage = s->a.l2_shrinkage_regularization_strength;
    const double l1 = s->a.l1_regularization_strength, l2 = s->a.l2_regularization_strength;
    eddy_tensor  pull = shrinkage > 0 ? Add(g, Mul(2 * shrinkage, x[0])) : g;
    x[2] = Add(x[2], Sub(pull, Mul(Div(Sub(now, before), lr), x[0])));
    eddy_tensor bend = Add(Div(Add(now, s->a.beta), lr), 2 * l2);
    eddy_tensor moved = Div(Sub(Mul(l1, Sign(x[2])), x[2]), bend);
    x[0] = Where(Greater(Abs(x[2]), l1), moved, 0);
}

/* A copy of a slot's name that lives as long as the graph; NULL stays NULL. */
static bool keep_name(eddy_graph *g, const char **name)
{
    if (!*name) return true;
    if (!eddy__name_is_valid(*name, true) || strlen(*name) >= EDDY_MAX_NAME / 2)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "Ftrl: '%.200s' is not a valid slot name", *name);
    else if (!(*name = eddy__arena_text(&g->arena, *name, strlen(*name))))
        eddy_fail(g, EDDY_NO_MEMORY, "Ftrl: out of memory for a slot name");
    return eddy__graph_ready(g);
}

static const eddy_option_row options[] = {
    REQUIRED(eddy_ftrl_args, learning_rate),
    NOT_NEGATIVE(eddy_ftrl_args, initial_accumulator_value),
    NOT_NEGATIVE(eddy_ftrl_args, l1_regularization_strength),
    NOT_NEGATIVE(eddy_ftrl_args, l2_regularization_strength),
    NOT_NEGATIVE(eddy_ftrl_args, l2_shrinkage_regularization_strength),
    NOT_NEGATIVE(eddy_ftrl_args, beta),
    { 0 },
};

static const eddy_optimizer_rule ftrl = {
    { .name = "Ftrl", .state_size = sizeof(ftrl_state), .create_slots = ftrl_slots,
      .prepare = ftrl_prepare, .step = ftrl_step, .slots = { "accum", "linear" } },
    sizeof(eddy_ftrl_args), options,
};

eddy_optimizer *eddy_ftrl_with(const eddy_ftrl_args *given)
{
    eddy_ftrl_args a = EDDY_TAKE(eddy_ftrl_args, given);
    eddy_optimizer *o = eddy__optimizer_make(&ftrl, &a, a.name);
    if (!o) return NULL;
    ftrl_state *s = eddy_optimizer_state(o);
    if (!(s->a.learning_rate_power <= 0))
        eddy_fail(o->graph, EDDY_INVALID_ARGUMENT,
                  "Ftrl: learning_rate_power %g needs to be negative or zero",
                  s->a.learning_rate_power);
    return eddy__graph_ready(o->graph) && keep_name(o->graph, &s->a.accum_name) &&
           keep_name(o->graph, &s->a.linear_name) ? o : NULL;
}
