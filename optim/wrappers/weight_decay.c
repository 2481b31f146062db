/* weight_decay.c -- decoupled weight decay around any optimizer.
 *
 *   x <- x - step - decay x
 *
 * Both terms use x from before the run: the tensor of a variable has that value, whatever
 * updates precede. The decay comes last, so that it is not lost if the step replaces x. */
#include "optim/rules/rule_formulas.h"
#include "graph/call_options.h"
#include "optim/wrappers/wrappers_internal.h"

typedef struct decay_state {
    eddy_optimizer      *inner;
    eddy_tensor          weight_decay;
    eddy_variable_filter without_decay;
} decay_state;

static eddy_tensor decay_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    const decay_state *s = eddy_optimizer_state(o);
    eddy_tensor decay = Mul(eddy_hyper(s->weight_decay, v), v);
    eddy_tensor step = eddy__inner_dense(s->inner, g, v);
    if (eddy__picks(&s->without_decay, v)) return step;
    return eddy_group(o->graph, EDDY_LIST(step, eddy_assign_sub(v, decay)), NULL);
}

static eddy_tensor decay_sparse(eddy_optimizer *o, eddy_tensor g, eddy_tensor indices,
                                eddy_tensor v)
{
    const decay_state *s = eddy_optimizer_state(o);
    eddy_tensor decay = Mul(eddy_hyper(s->weight_decay, v), Gather(v, Maximum(indices, 0)));
    eddy_tensor step = eddy__inner_sparse(o, s->inner, g, indices, v);
    if (eddy__picks(&s->without_decay, v)) return step;
    eddy_tensor decayed = eddy_scatter_sub(v, indices, decay, .skip_negative = true);
    return eddy_group(o->graph, EDDY_LIST(step, decayed), NULL);
}

/* Coupled: the gradient of the inner step has the decay in it. */
static eddy_tensor with_decay(const decay_state *s, eddy_tensor g, eddy_tensor v, eddy_tensor x)
{
    return eddy__picks(&s->without_decay, v) ? g : Add(g, Mul(eddy_hyper(s->weight_decay, x), x));
}

static eddy_tensor coupled_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    const decay_state *s = eddy_optimizer_state(o);
    return eddy__inner_dense(s->inner, o->def.transform ? g : with_decay(s, g, v, v), v);
}

static eddy_tensor coupled_sparse(eddy_optimizer *o, eddy_tensor g, eddy_tensor indices,
                                  eddy_tensor v)
{
    const decay_state *s = eddy_optimizer_state(o);
    eddy_tensor        rows = with_decay(s, g, v, Gather(v, Maximum(indices, 0)));
    return eddy__inner_sparse(o, s->inner, rows, indices, v);
}

/* If the inner optimizer has a `transform`, the decay is added before it. */
static void coupled_transform(eddy_optimizer *o, eddy_gradient_pair *pairs, int count)
{
    const decay_state *s = eddy_optimizer_state(o);
    for (int i = 0; i < count; i++) {
        const eddy_tensor g = pairs[i].gradient, v = pairs[i].variable;
        if (g.node != 0) pairs[i].gradient = with_decay(s, eddy__shaped(g, v), v, v);
    }
    eddy__inner_transform(o, pairs, count);
}

static const eddy_optimizer_def decaying = {
    .name = "DecoupledWeightDecay", .state_size = sizeof(decay_state),
    .apply_dense = decay_dense, .apply_sparse = decay_sparse,
};

static const eddy_optimizer_def coupled = {
    .name = "CoupledWeightDecay", .state_size = sizeof(decay_state),
    .apply_dense = coupled_dense, .apply_sparse = coupled_sparse,
};

static eddy_optimizer *make_decay(const eddy_optimizer_def        *kind,
                                  eddy_decoupled_weight_decay_args a)
{
    char        what[64];
    eddy_graph *g = eddy__inner_graph(a.weight_decay.graph, kind->name, a.optimizer);
    decay_state s = { a.optimizer, a.weight_decay, a.without_decay };
    snprintf(what, sizeof what, "%s: weight_decay", kind->name);
    if (!g || !eddy__hyper_settle(g, what, &s.weight_decay, NAN)) return NULL;
    eddy_optimizer_def def = *kind;
    def.takes_complex = a.optimizer->def.takes_complex;
    if (kind == &coupled && a.optimizer->def.transform) def.transform = coupled_transform;
    return eddy__outer_new(g, &def, &s, a.name);
}

eddy_optimizer *eddy_decoupled_weight_decay_with(const eddy_decoupled_weight_decay_args *given)
{
    eddy_decoupled_weight_decay_args a = EDDY_TAKE(eddy_decoupled_weight_decay_args, given);
    return make_decay(&decaying, a);
}

eddy_optimizer *eddy_coupled_weight_decay_with(const eddy_coupled_weight_decay_args *given)
{
    eddy_coupled_weight_decay_args a = EDDY_TAKE(eddy_coupled_weight_decay_args, given);
    return make_decay(&coupled, a);
}
