/* swa.c -- SWA, stochastic weight averaging: the mean of variables over some of the steps
 * (Izmailov et al. 2018), or over all of them (Polyak and Juditsky 1992). */
#include "optim/wrappers/averages_internal.h"
#include "graph/call_options.h"
#include "ops/short_names.h"

static eddy_tensor counter(eddy_averages *a, const char *name)
{
    char scope[EDDY_MAX_NAME];
    snprintf(scope, sizeof scope, "%s/%s", a->name, name);
    eddy_control_clear(a->graph);
    eddy_scope_begin(a->graph, NULL);
    eddy_tensor v = eddy_variable(a->graph, .initial_value = eddy_number(a->graph, EDDY_INT64, 0),
                                  .not_trainable = true, .name = scope);
    eddy_scope_end(a->graph);
    eddy_control_end(a->graph);
    return v;
}

/* Whether this run counts, and its number among those that count. */
static void stochastic_prepare(eddy_averages *a)
{
    if (a->runs.node == 0) {
        a->runs = counter(a, "runs");
        a->taken = counter(a, "taken");
    }
    eddy_tensor since = Sub(Add(a->runs, 1), (double)a->start);
    a->counts = LogicalAnd(Greater(since, 0), Equal(FloorMod(since, (double)a->every), 0));
    a->first = Equal(a->taken, 0);
    a->next = Add(a->taken, 1);
}

static eddy_tensor stochastic_update(eddy_averages *a, eddy_shadow s, eddy_tensor value)
{
    eddy_tensor mean = Add(s.shadow, Div(Sub(value, s.shadow), eddy_hyper(a->next, value)));
    return eddy_assign(s.shadow, Where(a->counts, Where(a->first, value, mean), s.shadow));
}

static eddy_tensor stochastic_finish(eddy_averages *a, eddy_list updates)
{
    eddy_tensor runs = Add(a->runs, 1), taken = Where(a->counts, a->next, a->taken);
    eddy_control_begin(a->graph, updates);
    eddy_tensor done = eddy_group(a->graph, EDDY_LIST(eddy_assign(a->runs, runs),
                                                      eddy_assign(a->taken, taken)), NULL);
    eddy_control_end(a->graph);
    return done;
}

static const eddy_averages_kind stochastic = {
    .name = "StochasticWeightAverage", .prepare = stochastic_prepare,
    .update = stochastic_update, .finish = stochastic_finish,
};

eddy_averages *eddy_stochastic_weight_average_with(const eddy_stochastic_weight_average_args *given)
{
    eddy_stochastic_weight_average_args a = EDDY_TAKE(eddy_stochastic_weight_average_args, given);
    if (!eddy__graph_ready(a.graph)) return NULL;
    if (a.start < 0 || a.every < 1) {
        eddy_fail(
            a.graph, EDDY_INVALID_ARGUMENT,
            "StochasticWeightAverage: start is %lld and every is %lld; expected at least 0 and 1",
            (long long)a.start, (long long)a.every);
        return NULL;
    }
    eddy_averages *y = eddy__averages_new(a.graph, &stochastic, a.name);
    if (!y) return NULL;
    y->start = a.start;
    y->every = a.every;
    return y;
}
