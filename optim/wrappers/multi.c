/* multi.c -- several optimizers in one step, each for the variables that are listed for it. */
#include "optim/wrappers/wrappers_internal.h"
#include "autodiff/internal.h"
#include "graph/call_options.h"
#include "ops/ops.h"

#include <string.h>

/* The state consists of `count` addresses of optimizers, followed by as many of these, and by the
 * updates. */
typedef struct multi_part {
    eddy_list variables;          /* in the graph's arena; none: all others */
    bool      used;               /* in this call of apply_gradients */
} multi_part;

/* The part of an update of this call of apply_gradients, in the graph's arena. */
typedef struct multi_update {
    int                  part;
    struct multi_update *next;
} multi_update;

typedef struct multi_updates {
    multi_update *first, *last;
} multi_updates;

static int parts_of(const eddy_optimizer *o)
{
    return (int)((o->def.state_size - sizeof(multi_updates)) /
                 (sizeof(eddy_optimizer *) + sizeof(multi_part)));
}

static multi_part *part_at(const eddy_optimizer *o, int i)
{
    multi_part *parts = (multi_part *)((eddy_optimizer **)o->state + parts_of(o));
    return &parts[i];
}

static multi_updates *updates_of(const eddy_optimizer *o)
{
    return (multi_updates *)part_at(o, parts_of(o));
}

static eddy_optimizer *inner_at(const eddy_optimizer *o, int i)
{
    return ((eddy_optimizer **)o->state)[i];
}

static bool lists(const multi_part *p, eddy_tensor v)
{
    for (int i = 0; i < p->variables.count; i++)
        if (eddy_same(p->variables.at[i], v)) return true;
    return false;
}

/* The number of v's part; -1 with the error set. */
static int part_of(const eddy_optimizer *o, eddy_tensor v)
{
    const int n = parts_of(o);
    int other = -1;
    for (int i = n - 1; i >= 0; i--)
        if (part_at(o, i)->variables.count == 0) other = i;
    for (int i = 0; i < n; i++)
        if (lists(part_at(o, i), v)) return i;
    if (other < 0)
        eddy_fail(o->graph, EDDY_INVALID_ARGUMENT, "%s: no part lists '%s'", o->name,
                  eddy_name_of(v));
    return other;
}

static void multi_slots(eddy_optimizer *o, eddy_tensor v)
{
    const int i = part_of(o, v);
    if (i < 0) return;
    int first = 0;                /* of the parts with this optimizer */
    while (inner_at(o, first) != inner_at(o, i)) first++;
    part_at(o, first)->used = true;
    eddy__inner_slots(inner_at(o, i), v);
}

static void multi_prepare(eddy_optimizer *o)
{
    *updates_of(o) = (multi_updates){ 0 };
    for (int i = 0; i < parts_of(o); i++)
        if (part_at(o, i)->used) eddy__inner_prepare(inner_at(o, i));
}

/* Calls the `transform` of each part that has one with the pairs of its own variables, in list
 * order; `some` has room for them. */
static void transform_part(eddy_optimizer *o, int part, eddy_gradient_pair *pairs, int count,
                           eddy_gradient_pair *some)
{
    int n = 0;
    for (int i = 0; i < count; i++)
        if (pairs[i].gradient.node != 0 &&
            inner_at(o, part_of(o, pairs[i].variable)) == inner_at(o, part))
            some[n++] = pairs[i];
    inner_at(o, part)->def.transform(inner_at(o, part), some, n);
    n = 0;
    for (int i = 0; i < count; i++)
        if (pairs[i].gradient.node != 0 &&
            inner_at(o, part_of(o, pairs[i].variable)) == inner_at(o, part))
            pairs[i] = some[n++];
}

static void multi_transform(eddy_optimizer *o, eddy_gradient_pair *pairs, int count)
{
    const size_t        bytes = (size_t)count * sizeof *pairs;
    eddy_gradient_pair *some = eddy__allocate(&o->allocator, bytes);
    if (!some)
        eddy_fail(o->graph, EDDY_NO_MEMORY, "%s: out of memory (gradients: %d)", o->name, count);
    for (int i = 0; some && eddy__graph_ready(o->graph) && i < parts_of(o); i++)
        if (part_at(o, i)->used && inner_at(o, i)->def.transform)
            transform_part(o, i, pairs, count, some);
    eddy__release(&o->allocator, some, bytes);
}

/* Records the part of the next update; -1 with the error set. */
static int part_of_update(eddy_optimizer *o, eddy_tensor v)
{
    const int      i = part_of(o, v);
    multi_updates *all = updates_of(o);
    multi_update  *u = i < 0 ? NULL : eddy__arena_alloc(&o->graph->arena, sizeof *u);
    if (i >= 0 && !u)
        eddy_fail(o->graph, EDDY_NO_MEMORY, "%s: out of memory (updates: %d)", o->name, 1);
    if (!u) return -1;
    *u = (multi_update){ .part = i };
    *(all->first ? &all->last->next : &all->first) = u;
    all->last = u;
    return i;
}

static eddy_tensor multi_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    const int i = part_of_update(o, v);
    return i < 0 ? eddy_none(o->graph) : eddy__inner_dense(inner_at(o, i), g, v);
}

static eddy_tensor multi_sparse(eddy_optimizer *o, eddy_tensor values, eddy_tensor indices,
                                eddy_tensor v)
{
    const int i = part_of_update(o, v);
    return i < 0 ? eddy_none(o->graph)
                 : eddy__inner_sparse(o, inner_at(o, i), values, indices, v);
}

/* Each part finishes with its own updates, since it may undo them; `some` has room for all. */
static eddy_tensor finish_part(eddy_optimizer *o, int part, eddy_list updates, eddy_tensor *some)
{
    const multi_update *u = updates_of(o)->first;
    int n = 0;
    for (int i = 0; i < updates.count && u; i++, u = u->next)
        if (inner_at(o, u->part) == inner_at(o, part)) some[n++] = updates.at[i];
    return eddy__inner_finish(inner_at(o, part), (eddy_list){ n, some });
}

static eddy_tensor multi_finish(eddy_optimizer *o, eddy_list updates)
{
    const int    n = parts_of(o);
    const size_t bytes = (size_t)(updates.count + n) * sizeof(eddy_tensor);
    eddy_tensor *done = eddy__allocate(&o->allocator, bytes), step = eddy_none(o->graph);
    int          finished = 0;
    for (int i = 0; done && i < n; i++) {
        if (part_at(o, i)->used) done[finished++] = finish_part(o, i, updates, done + n);
        part_at(o, i)->used = false;
    }
    if (done) step = eddy_group(o->graph, (eddy_list){ finished, done }, NULL);
    else eddy_fail(o->graph, EDDY_NO_MEMORY, "%s: out of memory (updates: %d)", o->name,
                   updates.count);
    eddy__release(&o->allocator, done, bytes);
    return step;
}

static const eddy_optimizer_def multi = {
    .name = "MultiOptimizer", .create_slots = multi_slots, .prepare = multi_prepare,
    .apply_dense = multi_dense, .apply_sparse = multi_sparse, .finish = multi_finish,
};

/* A copy of a list that lives with the graph; false if memory is out. */
static bool keep_list(eddy_graph *g, eddy_list from, eddy_list *to)
{
    const size_t bytes = (size_t)from.count * sizeof *from.at;
    eddy_tensor *copy = eddy__arena_alloc(&g->arena, bytes + 1);
    if (copy && bytes > 0) memcpy(copy, from.at, bytes);
    *to = (eddy_list){ from.count, copy };
    return copy != NULL;
}

/* The parts as a state of `bytes`. */
static eddy_optimizer *build(eddy_graph *g, const eddy_multi_optimizer_args *a, void *state,
                             size_t bytes)
{
    eddy_optimizer   **inner = state;
    multi_part        *parts = (multi_part *)(inner + a->count);
    eddy_optimizer_def def = multi;
    def.state_size = bytes;
    def.sums_duplicates = def.takes_complex = true;
    for (int i = 0; i < a->count; i++) {
        inner[i] = a->parts[i].optimizer;
        def.sums_duplicates &= inner[i]->def.sums_duplicates;
        def.takes_complex &= inner[i]->def.takes_complex;
        if (inner[i]->def.transform) def.transform = multi_transform;
        if (keep_list(g, a->parts[i].variables, &parts[i].variables)) continue;
        eddy_fail(g, EDDY_NO_MEMORY, "MultiOptimizer: out of memory (parts: %d)", a->count);
        return NULL;
    }
    eddy_optimizer *o = eddy_optimizer_new(g, &def, state, a->name);
    if (o) o->n_inside = a->count;
    return o;
}

eddy_optimizer *eddy_multi_optimizer_with(const eddy_multi_optimizer_args *given)
{
    eddy_multi_optimizer_args a = EDDY_TAKE(eddy_multi_optimizer_args, given);
    eddy_graph *g = NULL;
    for (int i = 0; a.parts && i < a.count && !g; i++)
        g = eddy_optimizer_graph(a.parts[i].optimizer);
    if (!eddy__graph_ready(g)) return NULL;
    for (int i = 0; i < a.count; i++)
        if (!eddy__inner_graph(g, "MultiOptimizer", a.parts[i].optimizer) ||
            !eddy__list_is_of(g, "MultiOptimizer", "variables", a.parts[i].variables))
            return NULL;
    const size_t bytes = (size_t)a.count * (sizeof(eddy_optimizer *) + sizeof(multi_part)) +
                         sizeof(multi_updates);
    void *state = eddy__allocate_zeroed(eddy__graph_allocator(g), 1, bytes);
    if (!state) {
        eddy_fail(g, EDDY_NO_MEMORY, "MultiOptimizer: out of memory (parts: %d)", a.count);
        return NULL;
    }
    eddy_optimizer *o = build(g, &a, state, bytes);
    eddy__release(eddy__graph_allocator(g), state, bytes);
    return o;
}
