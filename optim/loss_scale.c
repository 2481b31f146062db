/* loss_scale.c -- gradients of a larger loss (Micikevicius et al. 2018), after TensorFlow
 * 1's tf.train.experimental.
 *
 * Whether all gradients are finite is known when the last has come: only then it is settled
 * what the inner updates come to. */
#include "optim/wrappers_internal.h"
#include "ops/math.h"

typedef struct scale_state {
    eddy_optimizer  *inner;
    eddy_tensor      scale, multiplier;
    int64_t          period;
    bool             fixed;
    eddy_tensor      finite;      /* so far; no node: nothing has come */
    const eddy_span *spans;       /* of the updates so far, in the graph's arena */
} scale_state;

static void scale_slots(eddy_optimizer *o, eddy_tensor v)
{
    const scale_state *s = eddy_optimizer_state(o);
    eddy_inner_slots(s->inner, v);
}

static void scale_prepare(eddy_optimizer *o)
{
    scale_state *s = eddy_optimizer_state(o);
    s->finite = eddy_none(o->graph);
    s->spans = NULL;
    eddy_inner_prepare(s->inner);
}

/* The gradient of the loss itself; and notes whether it is finite. */
static eddy_tensor unscaled(scale_state *s, eddy_tensor g)
{
    if (!s->fixed) {
        eddy_tensor fine = eddy_all(IsFinite(g));
        s->finite = s->finite.node ? LogicalAnd(s->finite, fine) : fine;
    }
    return Div(g, eddy_hyper(s->scale, g));
}

/* The update whose nodes are those above `from`, noted. */
static eddy_tensor noted(eddy_optimizer *o, int32_t from, eddy_tensor update)
{
    scale_state *s = eddy_optimizer_state(o);
    eddy_span   *span = s->fixed ? NULL : eddy_arena_alloc(&o->graph->arena, sizeof *span);
    if (!s->fixed && !span)
        return eddy_fail(o->graph, EDDY_NO_MEMORY, "%s: out of memory for %d updates", o->name, 1);
    if (span) *span = (eddy_span){ from, eddy_graph_size(o->graph), s->spans };
    s->spans = span;
    return update;
}

static eddy_tensor scale_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    scale_state  *s = eddy_optimizer_state(o);
    const int32_t from = eddy_graph_size(o->graph);
    return noted(o, from, eddy_inner_dense(s->inner, unscaled(s, g), v));
}

static eddy_tensor scale_sparse(eddy_optimizer *o, eddy_tensor values, eddy_tensor indices,
                                eddy_tensor v)
{
    scale_state  *s = eddy_optimizer_state(o);
    const int32_t from = eddy_graph_size(o->graph);
    return noted(o, from, eddy_inner_sparse(o, s->inner, unscaled(s, values), indices, v));
}

/* The scale and the count of good steps in a row, as they go on. */
static eddy_tensor follow(eddy_optimizer *o)
{
    const scale_state *s = eddy_optimizer_state(o);
    eddy_tensor good = eddy_shared_slot(o, "good_steps"), by = eddy_hyper(s->multiplier, s->scale);
    eddy_tensor more = Add(good, 1), full = GreaterEqual(more, (double)s->period);
    eddy_tensor higher = Mul(s->scale, by), lower = Maximum(Div(s->scale, by), 1);
    higher = Where(LogicalAnd(full, IsFinite(higher)), higher, s->scale);
    more = Where(LogicalOr(full, LogicalNot(s->finite)), 0, more);
    return eddy_group(o->graph, EDDY_LIST(eddy_assign(s->scale, Where(s->finite, higher, lower)),
                                          eddy_assign(good, more)), NULL);
}

static eddy_tensor scale_finish(eddy_optimizer *o, eddy_list updates)
{
    const scale_state *s = eddy_optimizer_state(o);
    const int32_t      from = eddy_graph_size(o->graph);
    eddy_tensor        done = eddy_inner_finish(s->inner, updates);
    if (s->fixed) return done;
    const eddy_span    last = { from, eddy_graph_size(o->graph), s->spans };
    done = eddy_keep_if(o, &last, done, s->finite);
    eddy_control_begin(o->graph, EDDY_LIST(done));
    done = follow(o);
    eddy_control_end(o->graph);
    return done;
}

static const eddy_optimizer_def loss_scale = {
    .name = "LossScale", .state_size = sizeof(scale_state), .create_slots = scale_slots,
    .prepare = scale_prepare, .apply_dense = scale_dense, .apply_sparse = scale_sparse,
    .finish = scale_finish,
};

/* The scale of one that may change it is a variable; the loss needs it at once. */
static bool make_scale(eddy_optimizer *o)
{
    scale_state *s = eddy_optimizer_state(o);
    eddy_control_clear(o->graph);
    eddy_scope_begin(o->graph, o->name);
    s->scale = eddy_cast(s->scale, EDDY_FLOAT32);
    if (!s->fixed) {
        s->scale = eddy_make_shared_slot(o, "loss_scale", s->scale);
        eddy_make_shared_slot(o, "good_steps", eddy_number(o->graph, EDDY_INT64, 0));
    }
    eddy_scope_end(o->graph);
    eddy_control_end(o->graph);
    return eddy_graph_ready(o->graph);
}

eddy_optimizer *eddy_loss_scale_with(eddy_loss_scale_args a)
{
    eddy_graph *g = eddy_inner_graph(a.loss_scale.graph, "LossScale", a.optimizer);
    if (!g) return NULL;
    scale_state s = { a.optimizer, a.loss_scale, a.multiplier,
                      a.increment_period ? a.increment_period : 2000, a.fixed, eddy_none(g), NULL };
    if (!eddy_hyper_settle(g, "LossScale: loss_scale", &s.scale, 32768) ||
        !eddy_hyper_settle(g, "LossScale: multiplier", &s.multiplier, 2))
        return NULL;
    if (s.period < 0) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "LossScale: increment_period, %lld, is not positive",
                  (long long)s.period);
        return NULL;
    }
    eddy_optimizer_def def = loss_scale;
    def.sums_duplicates = a.optimizer->def.sums_duplicates;
    eddy_optimizer *o = eddy_optimizer_new(g, &def, &s, a.name);
    return o && make_scale(o) ? o : NULL;
}

eddy_tensor eddy_loss_scale_of(eddy_optimizer *o)
{
    eddy_graph *g = eddy_optimizer_ready(o);
    if (!g) return eddy_none(eddy_optimizer_graph(o));
    const scale_state *s = eddy_optimizer_state(o);
    return o->def.finish == scale_finish ? s->scale
         : eddy_fail(g, EDDY_INVALID_ARGUMENT, "'%.200s' is no optimizer that scales the loss",
                     o->name);
}

eddy_tensor eddy_scale_loss(eddy_optimizer *o, eddy_tensor loss)
{
    eddy_tensor scale = eddy_loss_scale_of(o);
    return eddy_is_valid(scale) ? Mul(loss, eddy_hyper(scale, loss)) : scale;
}
