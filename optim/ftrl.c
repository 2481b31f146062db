/* ftrl.c -- follow the regularised leader, proximal (McMahan et al. 2013).
 *
 *   p  = -learning_rate_power
 *   n' = n + g^2
 *   z  <- z + g + 2 shrinkage v - (n'^p - n^p) / lr v
 *   v  <- (l1 sign(z) - z) / ((n'^p + beta) / lr + 2 l2)   where |z| > l1, else 0
 *   n  <- n'
 *
 * Shrinkage pulls at z alone: n sums the gradients themselves. */
#include "optim/internal.h"
#include "ops/math.h"

#include <math.h>
#include <string.h>

typedef struct ftrl_state {
    eddy_tensor learning_rate;
    eddy_tensor rate;                /* the same, found to be above 0 */
    double      power, initial, l1, l2, shrinkage, beta;
    const char *accum_name, *linear_name;
} ftrl_state;

static void ftrl_slots(eddy_optimizer *o, eddy_tensor v)
{
    const ftrl_state *s = eddy_optimizer_state(o);
    eddy_filled_slot(o, v, "accum", s->initial, s->accum_name);
    eddy_filled_slot(o, v, "linear", 0, s->linear_name);
}

static void ftrl_prepare(eddy_optimizer *o)
{
    ftrl_state *s = eddy_optimizer_state(o);
    s->rate = eddy_hyper_positive("Ftrl: learning_rate", s->learning_rate);
}

/* n^p. */
static eddy_tensor ftrl_power(const ftrl_state *s, eddy_tensor n)
{
    if (s->power == -0.5) return Sqrt(n);
    return s->power == 0 ? NumberLike(1, n) : Pow(n, -s->power);
}

static void ftrl_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const ftrl_state *s = eddy_optimizer_state(o);
    eddy_tensor lr = eddy_hyper(s->rate, g), before = ftrl_power(s, x[1]);
    x[1] = Add(x[1], Square(g));
    eddy_tensor now = ftrl_power(s, x[1]);
    eddy_tensor pull = s->shrinkage > 0 ? Add(g, Mul(2 * s->shrinkage, x[0])) : g;
    x[2] = Add(x[2], Sub(pull, Mul(Div(Sub(now, before), lr), x[0])));
    eddy_tensor bend = Add(Div(Add(now, s->beta), lr), 2 * s->l2);
    eddy_tensor moved = Div(Sub(Mul(s->l1, Sign(x[2])), x[2]), bend);
    x[0] = Where(Greater(Abs(x[2]), s->l1), moved, 0);
}

static const eddy_optimizer_def ftrl = {
    .name = "Ftrl", .state_size = sizeof(ftrl_state), .create_slots = ftrl_slots,
    .prepare = ftrl_prepare, .step = ftrl_step, .slots = { "accum", "linear" },
};

static bool ftrl_fits(eddy_graph *g, const ftrl_state *s)
{
    if (!eddy_setting_is_not_negative(g, "Ftrl: initial_accumulator_value", s->initial))
        return false;
    if (!(s->power <= 0)) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "Ftrl: learning_rate_power %g needs to be negative or zero", s->power);
        return false;
    }
    return eddy_setting_is_not_negative(g, "Ftrl: l1_regularization_strength", s->l1) &&
           eddy_setting_is_not_negative(g, "Ftrl: l2_regularization_strength", s->l2) &&
           eddy_setting_is_not_negative(g, "Ftrl: l2_shrinkage_regularization_strength",
                                        s->shrinkage) &&
           eddy_setting_is_not_negative(g, "Ftrl: beta", s->beta);
}

/* A copy of a slot's name that lives as long as the graph; NULL stays NULL. */
static bool keep_name(eddy_graph *g, const char **name)
{
    if (!*name) return true;
    if (!eddy_name_is_valid(*name, true) || strlen(*name) >= EDDY_MAX_NAME / 2)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "Ftrl: '%.200s' is not a valid name of a slot", *name);
    else if (!(*name = eddy_arena_text(&g->arena, *name, strlen(*name))))
        eddy_fail(g, EDDY_NO_MEMORY, "Ftrl: out of memory for the name of a slot");
    return eddy_graph_ready(g);
}

eddy_optimizer *eddy_ftrl_with(eddy_ftrl_args a)
{
    eddy_graph *g = a.graph ? a.graph : a.learning_rate.graph;
    ftrl_state  s = { .learning_rate = a.learning_rate,
                      .power = eddy_setting(a.learning_rate_power, -0.5),
                      .initial = eddy_setting(a.initial_accumulator_value, 0.1),
                      .l1 = a.l1_regularization_strength, .l2 = a.l2_regularization_strength,
                      .shrinkage = a.l2_shrinkage_regularization_strength, .beta = a.beta,
                      .accum_name = a.accum_name, .linear_name = a.linear_name };
    if (!eddy_hyper_settle(g, "Ftrl: learning_rate", &s.learning_rate, NAN) || !ftrl_fits(g, &s) ||
        !keep_name(g, &s.accum_name) || !keep_name(g, &s.linear_name))
        return NULL;
    return eddy_optimizer_new(g, &ftrl, &s, a.name);
}
