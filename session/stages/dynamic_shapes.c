/* dynamic_shapes.c -- staged runs, for shapes that depend on data.
 *
 * All shapes of a plan are known. Where the length of an operation's outputs depends on data
 * (EDDY_OP_DYNAMIC: where, unique), a run is split: a plan of its own computes these outputs in
 * buffers of the largest possible size, and they are fed to the plan of the remaining nodes,
 * which is compiled for their actual shapes and cached as usual. The same is done with sizes:
 * tensors whose elements decide a shape (the dimensions of fill, the limit of range) and that the
 * compiler cannot compute from constants, shapes and a few fed integers. They are found when a
 * compilation lacks their elements. A run with several of these in sequence takes several
 * stages.
 *
 * A Loop whose shapes only a run of its body tells is also found when it cannot be compiled. It
 * runs outside of plans (run_body.h), after the plan of its stage, and with it the loops that do
 * the same or that read its stacks: the rows of these may differ in shape. */
#include "session/compile/program.h"
#include "session/stages/dynamic_shapes.h"
#include "session/stages/stage_walk.h"

#include <string.h>

enum { MAX_KEPT = 256 };

void eddy__stages_free(eddy_session *s, stages *t)
{
    if (!t) return;
    eddy__arena_free(&t->arena);
    eddy__release(&s->allocator, t, sizeof *t);
}

/* The lists of a stages struct while they are made. */
typedef struct cut_list {
    stage_walk *w;
    stages *t;
    int     n_runs;
} cut_list;

static void add_cut(const cut_list *l, eddy_tensor t, cut_use use)
{
    l->t->cut[l->t->n_cut] = t;
    l->t->use[l->t->n_cut++] = (uint8_t)use;
}

static bool may_be_staged(const stage_walk *w, int32_t id, eddy_error *error)
{
    const eddy_node *node = w->graph->nodes[id];
    return !w->effect[id] ||
           eddy__error_set(error, EDDY_UNIMPLEMENTED,
                           "%s: the shape depends on data that waits for '%.200s', "
                           "which has a side effect [node '%.200s']",
                           node->op->name, w->graph->nodes[w->effect[id]]->name, node->name);
}

/* Lists the tensors that the plan of a stage computes. */
static bool list_planned(const cut_list *l, int32_t level, eddy_error *error)
{
    const stage_walk *w = l->w;
    for (int32_t id = 1; id <= w->last; id++) {
        const eddy_node *node = w->graph->nodes[id];
        if (!w->needed[id] || w->stage[id] != level + 1) continue;
        const bool dynamic = eddy__walk_is_dynamic(w, id);
        if (dynamic && !may_be_staged(w, id, error)) return false;
        for (int k = 0; k < node->n_outputs && !w->uncompiled[id]; k++) {
            const eddy_tensor y = eddy__tensor_at(w->graph, id, k);
            if ((dynamic || w->crosses[w->first[id] + k]) && !eddy__walk_is_fed(w, y))
                add_cut(l, y, CUT_FED);
        }
    }
    return true;
}

/* Lists the inputs of nodes that run uncompiled in the stage, except those computed for others. */
static void list_asked(const cut_list *l, int from, const eddy_node *node)
{
    const stage_walk *w = l->w;
    for (int i = 0; i < node->n_inputs; i++) {
        const eddy_tensor x = node->inputs[i];
        if (!w->takes[node->id][i] || eddy__walk_is_fed(w, x) || w->uncompiled[x.node] ||
            (w->stage[x.node] > 0 && w->crosses[w->first[x.node] + x.output]))
            continue;
        bool listed = false;
        for (int k = from; k < l->t->n_cut; k++) listed = listed || eddy_same(l->t->cut[k], x);
        if (!listed) add_cut(l, x, CUT_ASKED);
    }
}

static bool is_alone_in(const stage_walk *w, int32_t id, int32_t level)
{
    return w->needed[id] && w->uncompiled[id] && w->stage[id] == level + 1;
}

/* The nodes that run uncompiled in the stage; those that do the same are one. */
static void list_runs(cut_list *l, int32_t level)
{
    stage_walk *w = l->w;
    stages *t = l->t;
    for (int32_t id = 1; id <= w->last; id++) {
        if (!is_alone_in(w, id, level)) continue;
        const eddy_node *first = w->graph->nodes[id];
        stage_run       *r = &t->runs[l->n_runs++];
        *r = (stage_run){ t->n_members, 0 };
        for (int32_t other = id; other <= w->last; other++) {
            const eddy_node *node = w->graph->nodes[other];
            if (!is_alone_in(w, other, level)) continue;
            if (other != id && !(eddy__walk_has_body(node) && eddy__may_share(first, node)))
                continue;
            t->members[t->n_members++] = other;
            r->n++;
            t->acts = t->acts || (eddy__walk_has_body(node) && eddy__body_acts(node));
            if (other != id) w->stage[other] = -1;      /* listed */
            for (int k = 0; k < node->n_outputs; k++) {
                const uint8_t read = w->read[w->first[other] + k];
                if (read) add_cut(l, eddy__tensor_at(w->graph, other, k),
                                  read & READ_ARRAY ? CUT_RUN : CUT_ROWS);
            }
        }
    }
}

/* Lists the outputs that stages compute, those of level 0 first. */
static bool list_cut(stage_walk *w, stages *t, eddy_error *error)
{
    cut_list l = { .w = w, .t = t };
    for (int32_t level = 0; level < t->n; level++) {
        const int from = t->n_cut;
        if (!list_planned(&l, level, error)) return false;
        for (int32_t id = 1; id <= w->last; id++)
            if (is_alone_in(w, id, level)) list_asked(&l, from, w->graph->nodes[id]);
        t->planned[level] = t->n_cut;
        list_runs(&l, level);
        t->end[level] = t->n_cut;
        t->run_end[level] = l.n_runs;
    }
    return true;
}

/* ------------------------------------------------------------- the stages -- */

/* Nodes that run alone are among the sizes, so that no plan computes them. */
static bool copy_key(const stage_walk *w, stages *t, eddy_feeds feeds, eddy_list fetches)
{
    const eddy_list sizes = w->sizes;
    int             n = sizes.count;
    for (int32_t id = 1; id <= w->last; id++) n += w->uncompiled[id];
    t->n_feeds = feeds.count;
    t->n_fetches = fetches.count;
    t->feeds = eddy__stages_zeroed(&t->arena, feeds.count, sizeof *t->feeds);
    t->fetches = eddy__stages_zeroed(&t->arena, fetches.count, sizeof *t->fetches);
    t->sizes = eddy__stages_zeroed(&t->arena, n, sizeof *t->sizes);
    if (!t->feeds || !t->fetches || !t->sizes) return false;
    for (int i = 0; i < sizes.count; i++)
        if (sizes.at[i].output >= 0) t->sizes[t->n_sizes++] = sizes.at[i];
    for (int32_t id = 1; id <= w->last; id++)
        if (w->uncompiled[id])
            t->sizes[t->n_sizes++] = eddy__tensor_at(w->graph, id, EDDY_NODE_ITSELF);
    for (int i = 0; i < feeds.count; i++) t->feeds[i] = feeds.at[i].tensor;
    for (int i = 0; i < fetches.count; i++) t->fetches[i] = fetches.at[i];
    return true;
}

/* Room for the lists, before it is known how long they are. */
static bool make_lists(const stage_walk *w, stages *t, eddy_arena *scratch)
{
    int64_t asked = 0, alone = 0;
    for (int32_t id = 1; id <= w->last; id++) {
        alone += w->uncompiled[id];
        asked += w->uncompiled[id] ? w->graph->nodes[id]->n_inputs : 0;
    }
    t->end = eddy__stages_zeroed(&t->arena, t->n, sizeof *t->end);
    t->planned = eddy__stages_zeroed(&t->arena, t->n, sizeof *t->planned);
    t->run_end = eddy__stages_zeroed(&t->arena, t->n, sizeof *t->run_end);
    t->members = eddy__stages_zeroed(&t->arena, alone, sizeof *t->members);
    t->runs = eddy__stages_zeroed(&t->arena, alone, sizeof *t->runs);
    t->cut = eddy__stages_zeroed(scratch, w->outputs + asked, sizeof *t->cut);
    t->use = eddy__stages_zeroed(scratch, w->outputs + asked, sizeof *t->use);
    return t->end && t->planned && t->run_end && t->members && t->runs && t->cut && t->use;
}

/* Copies the lists of the scratch memory to that of the stages. */
static bool keep_lists(stages *t)
{
    eddy_tensor *cut = eddy__stages_zeroed(&t->arena, t->n_cut, sizeof *cut);
    uint8_t     *use = eddy__stages_zeroed(&t->arena, t->n_cut, sizeof *use);
    if (!cut || !use) return false;
    if (t->n_cut > 0) {
        memcpy(cut, t->cut, (size_t)t->n_cut * sizeof *cut);
        memcpy(use, t->use, (size_t)t->n_cut);
    }
    t->cut = cut;
    t->use = use;
    return true;
}

static bool plan_stages(stage_walk *w, eddy_arena *scratch, stages *t, eddy_list fetches,
                        eddy_error *error)
{
    if (!eddy__walk_graph(w, scratch, fetches, error)) return false;
    t->n = w->levels;
    if (!copy_key(w, t, w->feeds, fetches) || !make_lists(w, t, scratch))
        return eddy__stages_full(error);
    return list_cut(w, t, error) && (keep_lists(t) || eddy__stages_full(error));
}

static stages *new_stages(eddy_session *s, eddy_feeds feeds, eddy_list fetches, eddy_list sizes,
                          eddy_error *error)
{
    stages    *t = eddy__allocate_zeroed(&s->allocator, 1, sizeof *t);
    eddy_arena scratch = { .allocator = &s->allocator };
    stage_walk w = { .graph = s->graph, .last = s->graph->size, .feeds = feeds, .sizes = sizes };
    if (!t) {
        eddy__stages_full(error);
        return NULL;
    }
    t->arena.allocator = &s->allocator;
    eddy__node_run_begin(&w.scratch, s, false, (eddy_stop){ 0 }, error);
    const bool ok = plan_stages(&w, &scratch, t, fetches, error);
    eddy__arena_free(&scratch);
    if (ok) return t;
    eddy__stages_free(s, t);
    return NULL;
}

static bool is_of(const stages *t, eddy_feeds feeds, eddy_list fetches)
{
    if (t->n_feeds != feeds.count || t->n_fetches != fetches.count) return false;
    for (int i = 0; i < t->n_fetches; i++)
        if (!eddy_same(t->fetches[i], fetches.at[i])) return false;
    for (int i = 0; i < t->n_feeds; i++)
        if (!eddy_same(t->feeds[i], feeds.at[i].tensor)) return false;
    return true;
}

/* Examines each node once. */
static bool graph_has_dynamic(eddy_session *s)
{
    while (!s->has_dynamic && s->seen < s->graph->size)
        s->has_dynamic = eddy__may_be_dynamic(s->graph->nodes[++s->seen]);
    return s->has_dynamic;
}

/* The session keeps the first ones; *found is NULL after an error. */
static bool keep(eddy_session *s, stages *t, stages **found)
{
    *found = t;
    if (!t || s->n_stages >= MAX_KEPT) return t != NULL;
    t->kept = true;
    t->next = s->stages;
    s->stages = t;
    s->n_stages++;
    return true;
}

bool eddy__stages_of(eddy_session *s, eddy_feeds feeds, eddy_list fetches, const eddy_stop *stop,
                     stages **found, eddy_error *error)
{
    bool ok = true;
    if (!eddy__lock_session(s, stop, error)) return false;
    stages *t = s->stages;
    while (t && !is_of(t, feeds, fetches)) t = t->next;
    *found = t;
    if (!t && graph_has_dynamic(s))
        ok = keep(s, new_stages(s, feeds, fetches, (eddy_list){ 0 }, error), found);
    pthread_mutex_unlock(&s->lock);
    return ok;
}

/* eddy_same is for tensors that exist. */
static bool is_size(eddy_tensor a, eddy_tensor b)
{
    return a.node == b.node && a.output == b.output;
}

bool eddy__stages_add_size(eddy_session *s, eddy_feeds feeds, eddy_list fetches,
                           const eddy_stop *stop, stages **found, eddy_tensor size,
                           eddy_error *error)
{
    stages   *before = *found;
    const int n = before ? before->n_sizes : 0;
    for (int i = 0; i < n; i++)
        if (is_size(before->sizes[i], size)) return false;
    const size_t bytes = ((size_t)n + 1) * sizeof(eddy_tensor);
    eddy_tensor *sizes = eddy__allocate(&s->allocator, bytes);
    if (!sizes) *error = (eddy_error){ 0 };
    if (!sizes) return eddy__stages_full(error);
    for (int i = 0; i < n; i++) sizes[i] = before->sizes[i];
    sizes[n] = size;
    *error = (eddy_error){ 0 };
    if (!eddy__lock_session(s, stop, error)) {
        eddy__release(&s->allocator, sizes, bytes);
        return false;
    }
    if (before && before->kept) s->n_stages--;      /* replaced; another run may still use it */
    const bool ok =
        keep(s, new_stages(s, feeds, fetches, (eddy_list){ n + 1, sizes }, error), found);
    pthread_mutex_unlock(&s->lock);
    eddy__release(&s->allocator, sizes, bytes);
    if (before && !before->kept) eddy__stages_free(s, before);
    return ok;
}

void eddy__stages_release(eddy_session *s, stages *t)
{
    if (t && !t->kept) eddy__stages_free(s, t);
}
