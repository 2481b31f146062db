/* weight_decay.c -- an optimizer around another one, whose variables also decay.
 *
 *   x <- x - step - decay x
 *
 * Both are of the x from before: a variable as a tensor is that, whatever updates come
 * first.  The decay comes last, so that it is not lost where the step replaces x. */
#include "optim/modern_internal.h"
#include "optim/wrappers_internal.h"

typedef struct decay_state {
    eddy_optimizer      *inner;
    eddy_tensor          weight_decay;
    eddy_variable_filter without_decay;
} decay_state;

static void decay_slots(eddy_optimizer *o, eddy_tensor v)
{
    const decay_state *s = eddy_optimizer_state(o);
    eddy_inner_slots(s->inner, v);
}

static void decay_prepare(eddy_optimizer *o)
{
    const decay_state *s = eddy_optimizer_state(o);
    eddy_inner_prepare(s->inner);
}

static eddy_tensor decay_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    const decay_state *s = eddy_optimizer_state(o);
    eddy_tensor decay = Mul(eddy_hyper(s->weight_decay, v), v);
    eddy_tensor step = eddy_inner_dense(s->inner, g, v);
    if (eddy_picks(&s->without_decay, v)) return step;
    return eddy_group(o->graph, EDDY_LIST(step, eddy_assign_sub(v, decay)), NULL);
}

static eddy_tensor decay_sparse(eddy_optimizer *o, eddy_tensor g, eddy_tensor indices,
                                eddy_tensor v)
{
    const decay_state *s = eddy_optimizer_state(o);
    eddy_tensor decay = Mul(eddy_hyper(s->weight_decay, v), Gather(v, Maximum(indices, 0)));
    eddy_tensor step = eddy_inner_sparse(o, s->inner, g, indices, v);
    if (eddy_picks(&s->without_decay, v)) return step;
    eddy_tensor decayed = eddy_scatter_sub(v, indices, decay, .skip_negative = true);
    return eddy_group(o->graph, EDDY_LIST(step, decayed), NULL);
}

static eddy_tensor decay_finish(eddy_optimizer *o, eddy_list updates)
{
    const decay_state *s = eddy_optimizer_state(o);
    return eddy_inner_finish(s->inner, updates);
}

static const eddy_optimizer_def decaying = {
    .name = "DecoupledWeightDecay", .state_size = sizeof(decay_state),
    .create_slots = decay_slots, .prepare = decay_prepare, .apply_dense = decay_dense,
    .apply_sparse = decay_sparse, .finish = decay_finish,
};

eddy_optimizer *eddy_decoupled_weight_decay_with(eddy_decoupled_weight_decay_args a)
{
    eddy_graph *g = eddy_inner_graph(a.weight_decay.graph, "DecoupledWeightDecay", a.optimizer);
    decay_state s = { a.optimizer, a.weight_decay, a.without_decay };
    if (!g || !eddy_hyper_settle(g, "DecoupledWeightDecay: weight_decay", &s.weight_decay, NAN))
        return NULL;
    eddy_optimizer_def def = decaying;
    def.takes_complex = a.optimizer->def.takes_complex;
    return eddy_optimizer_new(g, &def, &s, a.name);
}
