/* clipped.c -- gradient clipping around any optimizer: the inner optimizer receives clipped
 * gradients. */
#include "optim/wrappers/wrappers_internal.h"
#include "graph/call_options.h"
#include "ops/short_names.h"

#include <math.h>

typedef struct clipped_state {
    eddy_optimizer *inner;
    eddy_tensor     value, norm, global_norm;    /* node 0: not clipped so */
} clipped_state;

static void clipped_transform(eddy_optimizer *o, eddy_gradient_pair *pairs, int count)
{
    const clipped_state *s = eddy_optimizer_state(o);
    if (s->value.node != 0) eddy_clip_gradients_by_value(pairs, count, Neg(s->value), s->value);
    if (s->norm.node != 0) eddy_clip_gradients_by_norm(pairs, count, s->norm);
    if (s->global_norm.node != 0)
        eddy_clip_gradients_by_global_norm(pairs, count, s->global_norm);
    eddy__inner_transform(o, pairs, count);
}

static const eddy_optimizer_def clipped = {
    .name = "ClippedGradients", .state_size = sizeof(clipped_state),
    .transform = clipped_transform,
};

/* A bound that is given is a hyper-parameter. */
static bool bound_fits(eddy_graph *g, const char *what, eddy_tensor *bound)
{
    return (bound->node == 0 && !bound->graph) || eddy__hyper_settle(g, what, bound, NAN);
}

eddy_optimizer *eddy_clipped_gradients_with(const eddy_clipped_gradients_args *given)
{
    eddy_clipped_gradients_args a = EDDY_TAKE(eddy_clipped_gradients_args, given);
    const eddy_tensor bound = a.value.graph ? a.value : a.norm.graph ? a.norm : a.global_norm;
    eddy_graph       *g = eddy__inner_graph(bound.graph, "ClippedGradients", a.optimizer);
    if (!g || !bound_fits(g, "ClippedGradients: value", &a.value) ||
        !bound_fits(g, "ClippedGradients: norm", &a.norm) ||
        !bound_fits(g, "ClippedGradients: global_norm", &a.global_norm))
        return NULL;
    const clipped_state s = { a.optimizer, a.value, a.norm, a.global_norm };
    eddy_optimizer_def  def = clipped;
    def.sums_duplicates = a.optimizer->def.sums_duplicates;
    def.takes_complex = a.optimizer->def.takes_complex && a.value.node == 0;
    eddy_optimizer *o = eddy__outer_new(g, &def, &s, a.name);
    if (o) o->combines = a.global_norm.node != 0;
    return o;
}
