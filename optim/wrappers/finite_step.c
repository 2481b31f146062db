/* finite_step.c -- a step that is undone unless all of its gradients are finite.
 *
 * Whether they are is known only after the last one is computed; only then are the results of
 * the inner updates decided. */
#include "optim/wrappers/finite_step.h"
#include "ops/short_names.h"

void eddy__finite_begin(eddy_finite_step *s, eddy_graph *g)
{
    *s = (eddy_finite_step){ eddy_none(g), NULL };
}

eddy_tensor eddy__finite_watch(eddy_finite_step *s, eddy_tensor gradient)
{
    eddy_tensor fine = eddy_all(IsFinite(gradient));
    s->finite = s->finite.node ? LogicalAnd(s->finite, fine) : fine;
    return fine;
}

eddy_tensor eddy__finite_note(eddy_optimizer *o, eddy_finite_step *s, int32_t from,
                              eddy_tensor update)
{
    eddy_id_range *range = eddy__arena_alloc(&o->graph->arena, sizeof *range);
    if (!range)
        return eddy_fail(o->graph, EDDY_NO_MEMORY, "%s: out of memory (updates: %d)", o->name, 1);
    *range = (eddy_id_range){ from, eddy_graph_size(o->graph), s->ranges };
    s->ranges = range;
    return update;
}

eddy_tensor eddy__finite_finish(eddy_optimizer *o, eddy_finite_step *s, eddy_optimizer *inner,
                                eddy_list updates)
{
    const int32_t       from = eddy_graph_size(o->graph);
    eddy_tensor         done = eddy__inner_finish(inner, updates);
    const eddy_id_range last = { from, eddy_graph_size(o->graph), s->ranges };
    return eddy__keep_if(o, &last, done, s->finite);
}
