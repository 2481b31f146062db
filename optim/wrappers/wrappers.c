/* wrappers.c -- code shared by optimizers that wrap other optimizers. */
#include "optim/wrappers/wrappers_internal.h"
#include "ops/short_names.h"

/* ---------------------------------------------------- the inner optimizer -- */

eddy_graph *eddy__inner_graph(eddy_graph *g, const char *what, const eddy_optimizer *inner)
{
    eddy_graph *own = eddy_optimizer_graph(inner);
    if (own && (own == g || !eddy__graph_alive(g))) return own;
    eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: the inner optimizer does not belong to this graph",
              what);
    return NULL;
}

static eddy_optimizer *inner_of(eddy_optimizer *o) { return *(eddy_optimizer **)o->state; }

static void pass_slots(eddy_optimizer *o, eddy_tensor v) { eddy__inner_slots(inner_of(o), v); }
static void pass_prepare(eddy_optimizer *o) { eddy__inner_prepare(inner_of(o)); }
static eddy_tensor pass_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    return eddy__inner_dense(inner_of(o), g, v);
}
static eddy_tensor pass_sparse(eddy_optimizer *o, eddy_tensor values, eddy_tensor indices,
                               eddy_tensor v)
{
    return eddy__inner_sparse(o, inner_of(o), values, indices, v);
}
static eddy_tensor pass_finish(eddy_optimizer *o, eddy_list updates)
{
    return eddy__inner_finish(inner_of(o), updates);
}

eddy_optimizer *eddy__outer_new(eddy_graph *g, const eddy_optimizer_def *def, const void *state,
                                const char *name)
{
    eddy_optimizer_def whole = *def;
    if (!def->apply_dense) {
        whole.apply_dense = pass_dense;
        whole.apply_sparse = pass_sparse;
    }
    eddy_optimizer *o = eddy_optimizer_new(g, &whole, state, name);
    if (!o) return NULL;
    o->n_inside = 1;
    if (!o->def.create_slots) o->def.create_slots = pass_slots;
    if (!o->def.prepare) o->def.prepare = pass_prepare;
    if (!o->def.finish) o->def.finish = pass_finish;
    if (!o->def.transform && inner_of(o)->def.transform) o->def.transform = eddy__inner_transform;
    return o;
}

void eddy__inner_transform(eddy_optimizer *o, eddy_gradient_pair *pairs, int count)
{
    eddy_optimizer *inner = inner_of(o);
    if (inner->def.transform) inner->def.transform(inner, pairs, count);
}

void eddy__inner_slots(eddy_optimizer *inner, eddy_tensor variable)
{
    if (inner->def.create_slots) inner->def.create_slots(inner, variable);
}

void eddy__inner_prepare(eddy_optimizer *inner)
{
    if (inner->def.prepare) inner->def.prepare(inner);
}

eddy_tensor eddy__inner_dense(eddy_optimizer *inner, eddy_tensor g, eddy_tensor variable)
{
    return inner->def.apply_dense(inner, g, variable);
}

eddy_tensor eddy__inner_sparse(const eddy_optimizer *outer, eddy_optimizer *inner,
                               eddy_tensor values, eddy_tensor indices, eddy_tensor variable)
{
    /* Summing equal indices has made all of them negative except one. */
    inner->skip_negative = outer->skip_negative || !outer->def.sums_duplicates;
    if (inner->def.apply_sparse) return inner->def.apply_sparse(inner, values, indices, variable);
    return eddy__inner_dense(inner, eddy_indexed_slices(values, indices, variable), variable);
}

eddy_tensor eddy__inner_finish(eddy_optimizer *inner, eddy_list updates)
{
    return inner->def.finish ? inner->def.finish(inner, updates)
                             : eddy_group(inner->graph, updates, NULL);
}

/* --------------------------------------------------------- undoing a step -- */

/* The variable that node `id` updates; node 0 if it updates none. */
static eddy_tensor updated_by(eddy_graph *g, int32_t id)
{
    const eddy_node *node = eddy_node_of(eddy_node_at(g, id));
    const bool updates = node && (node->op->flags & EDDY_OP_UPDATES) != 0;
    return updates ? node->inputs[0] : eddy_none(g);
}

eddy_tensor eddy__latest(eddy_tensor variable, int32_t from)
{
    eddy_graph *g = variable.graph;
    for (int32_t id = eddy_graph_size(g); id > from; id--)
        if (eddy_same(updated_by(g, id), variable)) return eddy_node_at(g, id);
    return variable;
}

/* Stores each variable that nodes of the ranges update once. Returns their number. */
static int variables_of(eddy_graph *g, const eddy_id_range *ranges, eddy_tensor *out)
{
    int n = 0;
    for (const eddy_id_range *s = ranges; s; s = s->before)
        for (int32_t id = s->from + 1; id <= s->to; id++) {
            const eddy_tensor v = updated_by(g, id);
            bool known = v.node == 0;
            for (int i = 0; i < n && !known; i++) known = eddy_same(out[i], v);
            if (!known) out[n++] = v;
        }
    return n;
}

/* The id of the first node of the ranges. Its variables may have been updated since. */
static int32_t first_of(const eddy_id_range *ranges)
{
    int32_t first = INT32_MAX;
    for (const eddy_id_range *s = ranges; s; s = s->before)
        first = s->from < first ? s->from : first;
    return first;
}

/* Restores all variables that the ranges update unless `keep` is true. */
static eddy_tensor take_back(eddy_optimizer *o, const eddy_id_range *ranges, eddy_tensor step,
                             eddy_tensor keep)
{
    eddy_graph *g = o->graph;
    size_t      most = 1;
    for (const eddy_id_range *s = ranges; s; s = s->before) most += (size_t)(s->to - s->from);
    const size_t bytes = most * sizeof(eddy_tensor);
    eddy_tensor *all = eddy__allocate(&o->allocator, bytes);
    if (!all)
        return eddy_fail(g, EDDY_NO_MEMORY, "%s: out of memory (updates: %d)", o->name, (int)most);
    const int     n = variables_of(g, ranges, all);
    const int32_t first = first_of(ranges);
    /* A tensor that waits for no update has the value from before the run. */
    for (int i = 0; i < n; i++)
        all[i] = eddy_assign(all[i], Where(keep, eddy__latest(all[i], first), Identity(all[i])));
    all[n] = step;
    eddy_tensor done = eddy_group(g, (eddy_list){ n + 1, all }, NULL);
    eddy__release(&o->allocator, all, bytes);
    return done;
}

eddy_tensor eddy__keep_if(eddy_optimizer *o, const eddy_id_range *ranges, eddy_tensor step,
                          eddy_tensor keep)
{
    eddy_tensor done = eddy__replay_if(o->graph, ranges, keep);
    return eddy_is_valid(done) ? done : take_back(o, ranges, step, keep);
}
