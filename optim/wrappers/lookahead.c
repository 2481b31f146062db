/* lookahead.c -- lookahead: k steps forward, one step back (Zhang et al. 2019).
 *
 *   v <- the inner step
 *   at every k-th step  slow <- slow + alpha (v - slow),  v <- slow */
#include "optim/wrappers/wrappers_internal.h"
#include "graph/call_options.h"
#include "ops/short_names.h"

typedef struct lookahead_state {
    eddy_optimizer *inner;
    int64_t         period;
    eddy_tensor     alpha;
    eddy_tensor     sync;         /* true in every k-th step */
} lookahead_state;

static void lookahead_slots(eddy_optimizer *o, eddy_tensor v)
{
    const lookahead_state *s = eddy_optimizer_state(o);
    eddy__inner_slots(s->inner, v);
    eddy_make_shared_slot(o, "lookahead_step", eddy_number(o->graph, EDDY_INT64, 0));
    eddy_make_slot(o, v, "slow", eddy_initialized_value(v));
}

static void lookahead_prepare(eddy_optimizer *o)
{
    lookahead_state *s = eddy_optimizer_state(o);
    eddy_tensor step = Add(eddy__shared_slot(o, "lookahead_step"), 1);
    s->sync = Equal(FloorMod(step, (double)s->period), 0);
    eddy__inner_prepare(s->inner);
}

/* The operations after the inner step, whose nodes are those with ids above `from`. */
static eddy_tensor build_synchronization(eddy_optimizer *o, int32_t from, eddy_tensor step,
                                         eddy_tensor v)
{
    const lookahead_state *s = eddy_optimizer_state(o);
    eddy_tensor slow = eddy_get_slot(o, v, "slow"), fast = eddy__latest(v, from);
    eddy_tensor next = Add(slow, Mul(eddy_hyper(s->alpha, v), Sub(fast, slow)));
    slow = eddy_assign(slow, Where(s->sync, next, slow));
    v = eddy_assign(v, Where(s->sync, next, fast));
    const eddy_id_range range = { .from = from, .to = eddy_graph_size(o->graph) };
    eddy_tensor         done = eddy__replay_if(o->graph, &range, eddy_none(o->graph));
    return eddy_is_valid(done) ? done : eddy_group(o->graph, EDDY_LIST(step, slow, v), NULL);
}

static eddy_tensor lookahead_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    const lookahead_state *s = eddy_optimizer_state(o);
    const int32_t from = eddy_graph_size(o->graph);
    return build_synchronization(o, from, eddy__inner_dense(s->inner, g, v), v);
}

static eddy_tensor lookahead_sparse(eddy_optimizer *o, eddy_tensor values, eddy_tensor indices,
                                    eddy_tensor v)
{
    const lookahead_state *s = eddy_optimizer_state(o);
    const int32_t from = eddy_graph_size(o->graph);
    return build_synchronization(o, from, eddy__inner_sparse(o, s->inner, values, indices, v), v);
}

static eddy_tensor lookahead_finish(eddy_optimizer *o, eddy_list updates)
{
    const lookahead_state *s = eddy_optimizer_state(o);
    eddy_tensor done = eddy__inner_finish(s->inner, updates);
    eddy_tensor step = eddy__shared_slot(o, "lookahead_step"), next = Add(step, 1);
    eddy_control_begin(o->graph, EDDY_LIST(done));
    done = eddy_assign(step, next);
    eddy_control_end(o->graph);
    return done;
}

static const eddy_optimizer_def lookahead = {
    .name = "Lookahead", .state_size = sizeof(lookahead_state), .create_slots = lookahead_slots,
    .prepare = lookahead_prepare, .apply_dense = lookahead_dense,
    .apply_sparse = lookahead_sparse, .finish = lookahead_finish,
};

eddy_optimizer *eddy_lookahead_with(const eddy_lookahead_args *given)
{
    eddy_lookahead_args a = EDDY_TAKE(eddy_lookahead_args, given);
    eddy_graph *g = eddy__inner_graph(a.slow_step_size.graph, "Lookahead", a.optimizer);
    if (!g) return NULL;
    lookahead_state s = { a.optimizer, a.sync_period, a.slow_step_size,
                          eddy_none(g) };
    if (!eddy__hyper_settle(g, "Lookahead: slow_step_size", &s.alpha,
                            EDDY_DEFAULT_OF(eddy_lookahead_args, slow_step_size)))
        return NULL;
    if (s.period < 1) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "Lookahead: sync_period is %lld; it must be positive",
                  (long long)s.period);
        return NULL;
    }
    eddy_optimizer_def def = lookahead;
    def.sums_duplicates = a.optimizer->def.sums_duplicates;
    def.takes_complex = a.optimizer->def.takes_complex;
    return eddy__outer_new(g, &def, &s, a.name);
}
