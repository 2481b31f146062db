/* plateau.c -- reduce-on-plateau: a learning rate that decreases when a metric stops improving. */
#include "optim/schedules/schedules_internal.h"
#include "graph/call_options.h"

#include <math.h>

/* The variables, their values of before the epoch. */
typedef struct plateau {
    eddy_tensor rate, best, bad, rest;
} plateau;

static eddy_tensor new_variable(eddy_graph *g, const char *name, eddy_tensor initial)
{
    return eddy_variable(g, .initial_value = initial, .not_trainable = true, .name = name);
}

/* Creates the variables in the state before the first metric, without control inputs. */
static plateau make_variables(const eddy__schedule *s, bool maximize)
{
    eddy_tensor zero = eddy_number(s->g, EDDY_INT64, 0);
    eddy_tensor worst = NumberLike(maximize ? -(double)INFINITY : (double)INFINITY, s->rate);
    eddy_control_clear(s->g);
    const plateau p = { new_variable(s->g, "learning_rate", s->rate),
                        new_variable(s->g, "best", worst), new_variable(s->g, "bad_epochs", zero),
                        new_variable(s->g, "cooldown", zero) };
    eddy_control_end(s->g);
    return p;
}

/* True if the metric is better than the best by the threshold. */
static eddy_tensor is_better(const eddy__schedule *s, const eddy_reduce_on_plateau_args *a,
                             eddy_tensor best)
{
    eddy_tensor by = OPTION(s, eddy_reduce_on_plateau_args, *a, threshold);
    eddy_tensor up = a->absolute_threshold ? Add(best, by) : Mul(best, Add(1, by));
    eddy_tensor down = a->absolute_threshold ? Sub(best, by) : Mul(best, Sub(1, by));
    return a->maximize ? Greater(s->step, up) : Less(s->step, down);
}

/* The rate one reduction lower, if that is worth the name. */
static eddy_tensor reduced(const eddy__schedule *s, const eddy_reduce_on_plateau_args *a,
                           eddy_tensor rate)
{
    eddy_tensor factor = OPTION(s, eddy_reduce_on_plateau_args, *a, factor);
    eddy_tensor least = OPTION(s, eddy_reduce_on_plateau_args, *a, min_learning_rate);
    eddy_tensor epsilon = OPTION(s, eddy_reduce_on_plateau_args, *a, epsilon);
    eddy_tensor lower = Maximum(Mul(rate, factor), least);
    return Where(Greater(Sub(rate, lower), epsilon), lower, rate);
}

/* The assignments of one epoch. The new rate is read after all of them. */
static eddy_tensor epoch(const eddy__schedule *s, const eddy_reduce_on_plateau_args *a, plateau p)
{
    const double patience = a->patience < 0 ? 0 : a->patience;
    eddy_tensor  better = is_better(s, a, p.best), resting = Greater(p.rest, 0);
    eddy_tensor  bad = Where(eddy_logical_or(better, resting), 0, Add(p.bad, 1));
    eddy_tensor  enough = Greater(bad, patience);
    eddy_tensor  rest = Where(enough, a->cooldown, Where(resting, Sub(p.rest, 1), p.rest));
    eddy_tensor  rate = Where(enough, reduced(s, a, p.rate), p.rate);
    eddy_control_begin(s->g, EDDY_LIST(eddy_assign(p.best, Where(better, s->step, p.best)),
                                       eddy_assign(p.bad, Where(enough, 0, bad)),
                                       eddy_assign(p.rest, rest)));
    eddy_tensor done = eddy_assign(p.rate, rate);
    eddy_control_end(s->g);
    return done;
}

eddy_plateau eddy_reduce_on_plateau_with(const eddy_reduce_on_plateau_args *given)
{
    eddy_reduce_on_plateau_args a = EDDY_TAKE(eddy_reduce_on_plateau_args, given);
    eddy__schedule s = { .what = "reduce_on_plateau", .step_name = "metric" };
    eddy_plateau  y = { eddy_none(a.learning_rate.graph), eddy_none(a.learning_rate.graph) };
    if (!eddy__schedule_begin(&s, a.learning_rate, a.metric, a.name, "ReduceOnPlateau")) return y;
    if (a.cooldown < 0) {
        eddy_fail(s.g, EDDY_INVALID_ARGUMENT,
                  "reduce_on_plateau: cooldown is %d; it must not be negative", a.cooldown);
        eddy_scope_end(s.g);
        return y;
    }
    const plateau p = make_variables(&s, a.maximize);
    y.learning_rate = p.rate;
    y.update = eddy__schedule_end(&s, epoch(&s, &a, p));
    return y;
}
