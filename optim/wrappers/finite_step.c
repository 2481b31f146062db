/* finite_step.c -- a step that is undone unless all of its gradients are finite.
 *
 * Whether they are is known only after the last one is computed; only then are the results of
 * the inner updates decided. */
#include "optim/wrappers/finite_step.h"
#include "autodiff/internal.h"
#include "ops/short_names.h"

void eddy__finite_begin(eddy_finite_step *s, eddy_graph *g)
{
    *s = (eddy_finite_step){ .finite = eddy_none(g) };
}

eddy_tensor eddy__finite_watch(const eddy_optimizer *o, eddy_finite_step *s, eddy_tensor gradient,
                               eddy_tensor v)
{
    eddy_tensor fine = eddy_all(IsFinite(gradient));
    s->finite = s->finite.node ? LogicalAnd(s->finite, fine) : fine;
    if (!eddy__is_part(v)) return fine;
    eddy_finite_part *part = eddy__arena_alloc(&o->graph->arena, sizeof *part);
    if (!part)
        return eddy_fail(o->graph, EDDY_NO_MEMORY, "%s: out of memory (updates: %d)", o->name, 1);
    *part = (eddy_finite_part){ v, fine, s->parts };
    s->parts = part;
    s->n_parts++;
    return fine;
}

/* Joins what other processes found in their parts. */
static void join_parts(const eddy_optimizer *o, eddy_finite_step *s)
{
    const int    most = s->n_parts;
    eddy_tensor *bad = most > 0 ? eddy__tensors_new(o->graph, 2 * (int64_t)most) : NULL;
    int          n = 0;
    if (!bad) return;
    for (const eddy_finite_part *p = s->parts; p; p = p->next) {
        bad[n] = eddy_cast(LogicalNot(p->fine), EDDY_FLOAT32);
        bad[most + n++] = p->variable;
    }
    eddy__sum_parts(o, n, bad + most, bad);
    for (int i = 0; i < n; i++) s->finite = LogicalAnd(s->finite, Equal(bad[i], 0));
    eddy__tensors_free(o->graph, bad, 2 * (int64_t)most);
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
    join_parts(o, s);
    const int32_t       from = eddy_graph_size(o->graph);
    eddy_tensor         done = eddy__inner_finish(inner, updates);
    const eddy_id_range last = { from, eddy_graph_size(o->graph), s->ranges };
    return eddy__keep_if(o, &last, done, s->finite);
}
