/* loss_scale.c -- loss scaling: gradients of a loss multiplied by a factor (Micikevicius et al.
 * 2018), after TensorFlow 1's tf.train.experimental. */
#include "optim/wrappers/finite_step.h"
#include "graph/call_options.h"
#include "ops/short_names.h"

typedef struct scale_state {
    eddy_optimizer  *inner;
    eddy_tensor      scale, multiplier;
    int64_t          period;
    bool             fixed;
    eddy_finite_step step;
} scale_state;

static void scale_prepare(eddy_optimizer *o)
{
    scale_state *s = eddy_optimizer_state(o);
    eddy__finite_begin(&s->step, o->graph);
    eddy__inner_prepare(s->inner);
}

/* The gradient of the unscaled loss: gradients that were computed for the optimizer are already
 * divided, those of a loss that the program has scaled are not. Also records whether it is
 * finite. */
static eddy_tensor unscaled(const eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    scale_state *s = o->state;
    if (!s->fixed) eddy__finite_watch(o, &s->step, g, v);
    return o->takes_scaled && !o->takes_unscaled ? Div(g, eddy_hyper(s->scale, g)) : g;
}

/* If the inner optimizer has a `transform`, the gradients are unscaled before it. */
static void scale_transform(eddy_optimizer *o, eddy_gradient_pair *pairs, int count)
{
    for (int i = 0; i < count; i++) {
        eddy_tensor *g = &pairs[i].gradient, v = pairs[i].variable, values;
        if (eddy_slices_parts(*g, &values, NULL))
            *g = eddy_slices_with_values(*g, unscaled(o, values, v));
        else if (g->node != 0) *g = unscaled(o, *g, v);
    }
    eddy__inner_transform(o, pairs, count);
}

/* The gradient as the one inside gets it. */
static eddy_tensor handed_on(const eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    return o->def.transform ? g : unscaled(o, g, v);
}

/* Records the id range of an update, whose nodes are those above `from`. */
static eddy_tensor noted(eddy_optimizer *o, int32_t from, eddy_tensor update)
{
    scale_state *s = eddy_optimizer_state(o);
    return s->fixed ? update : eddy__finite_note(o, &s->step, from, update);
}

static eddy_tensor scale_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    scale_state  *s = eddy_optimizer_state(o);
    const int32_t from = eddy_graph_size(o->graph);
    return noted(o, from, eddy__inner_dense(s->inner, handed_on(o, g, v), v));
}

static eddy_tensor scale_sparse(eddy_optimizer *o, eddy_tensor values, eddy_tensor indices,
                                eddy_tensor v)
{
    scale_state  *s = eddy_optimizer_state(o);
    const int32_t from = eddy_graph_size(o->graph);
    return noted(o, from, eddy__inner_sparse(o, s->inner, handed_on(o, values, v), indices, v));
}

/* The next scale and the next count of consecutive successful steps. */
static eddy_tensor follow(eddy_optimizer *o)
{
    const scale_state *s = eddy_optimizer_state(o);
    eddy_tensor finite = s->step.finite;
    eddy_tensor good = eddy__shared_slot(o, "good_steps"), by = eddy_hyper(s->multiplier, s->scale);
    eddy_tensor more = Add(good, 1), full = GreaterEqual(more, (double)s->period);
    eddy_tensor higher = Mul(s->scale, by), lower = Maximum(Div(s->scale, by), 1);
    higher = Where(LogicalAnd(full, IsFinite(higher)), higher, s->scale);
    more = Where(LogicalOr(full, LogicalNot(finite)), 0, more);
    return eddy_group(o->graph, EDDY_LIST(eddy_assign(s->scale, Where(finite, higher, lower)),
                                          eddy_assign(good, more)), NULL);
}

static eddy_tensor scale_finish(eddy_optimizer *o, eddy_list updates)
{
    scale_state *s = eddy_optimizer_state(o);
    if (s->fixed) return eddy__inner_finish(s->inner, updates);
    eddy_tensor done = eddy__finite_finish(o, &s->step, s->inner, updates);
    eddy_control_begin(o->graph, EDDY_LIST(done));
    done = follow(o);
    eddy_control_end(o->graph);
    return done;
}

static const eddy_optimizer_def loss_scale = {
    .name = "LossScale", .state_size = sizeof(scale_state), .prepare = scale_prepare,
    .apply_dense = scale_dense, .apply_sparse = scale_sparse, .finish = scale_finish,
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
    /* A constant may be part of the loss, which must not look scaled. */
    else s->scale = eddy_identity(s->scale);
    eddy_scope_end(o->graph);
    eddy_control_end(o->graph);
    o->loss_scale = s->scale;
    return eddy__graph_ready(o->graph);
}

eddy_optimizer *eddy_loss_scale_with(const eddy_loss_scale_args *given)
{
    eddy_loss_scale_args a = EDDY_TAKE(eddy_loss_scale_args, given);
    eddy_graph *g = eddy__inner_graph(a.loss_scale.graph, "LossScale", a.optimizer);
    if (!g) return NULL;
    scale_state s = { a.optimizer, a.loss_scale, a.multiplier, a.increment_period, a.fixed,
                      { .finite = eddy_none(g) } };
    if (!eddy__hyper_settle(g, "LossScale: loss_scale", &s.scale,
                            EDDY_DEFAULT_OF(eddy_loss_scale_args, loss_scale)) ||
        !eddy__hyper_settle(g, "LossScale: multiplier", &s.multiplier,
                            EDDY_DEFAULT_OF(eddy_loss_scale_args, multiplier)))
        return NULL;
    if (s.period < 1) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "LossScale: increment_period is %lld; it must be positive", (long long)s.period);
        return NULL;
    }
    eddy_optimizer_def def = loss_scale;
    def.sums_duplicates = a.optimizer->def.sums_duplicates;
    if (a.optimizer->def.transform) def.transform = scale_transform;
    eddy_optimizer *o = eddy__outer_new(g, &def, &s, a.name);
    if (o) o->combines = !s.fixed;
    if (o) o->takes_parts = true;
    return o && make_scale(o) ? o : NULL;
}

eddy_tensor eddy_loss_scale_of(eddy_optimizer *o)
{
    eddy_graph *g = eddy__optimizer_ready(o);
    if (!g) return eddy_none(eddy_optimizer_graph(o));
    const scale_state *s = eddy_optimizer_state(o);
    return o->def.finish == scale_finish ? s->scale
         : eddy_fail(g, EDDY_INVALID_ARGUMENT, "loss_scale_of: '%.200s' does not scale the loss",
                     o->name);
}

eddy_tensor eddy_scale_loss(eddy_optimizer *o, eddy_tensor loss)
{
    eddy_tensor scale = eddy_loss_scale_of(o);
    if (eddy_is_valid(scale)) o->takes_scaled = true;
    return eddy_is_valid(scale) ? Mul(loss, eddy_hyper(scale, loss)) : scale;
}
