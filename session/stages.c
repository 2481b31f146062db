/* stages.c -- runs in which the shape of something depends on data.
 *
 * A plan knows every shape.  Where an operation's outputs are as long as its data says
 * (EDDY_OP_DYNAMIC: where, unique), a run is cut there: a plan of its own computes
 * these outputs, with room for as much as there can be, and they are fed to the plan
 * of the rest, which is made for the shape that they have this time and kept as others
 * are.  What lies behind several such operations takes several stages. */
#include "session/stages.h"

#include <string.h>

enum { MOST_KEPT = 64 };

bool eddy_is_dynamic(const eddy_node *node)
{
    if (!(node->op->flags & EDDY_OP_DYNAMIC)) return false;
    for (int k = 0; k < node->n_outputs; k++)
        if (!eddy_shape_is_known(node->outputs[k].shape)) return true;
    return false;
}

void eddy_stages_free(eddy_session *s, stages *t)
{
    if (!t) return;
    eddy_arena_free(&t->arena);
    eddy_release(&s->allocator, t, sizeof *t);
}

/* -------------------------------------------------------------- the walk -- */

/* Of each node up to `size`: is it needed; how many dynamic ones it lies behind, one
 * after the other, itself not counted; whether it, or what it needs, has an effect. */
typedef struct walk {
    eddy_graph *graph;
    int32_t     size;
    eddy_feeds  feeds;
    uint8_t    *needed, *fed;
    int32_t    *level, *effect;     /* effect: a node's id, or 0 */
} walk;

static bool is_fed(const walk *w, eddy_tensor t)
{
    for (int i = 0; w->fed[t.node] && i < w->feeds.count; i++)
        if (eddy_same(w->feeds.at[i].tensor, t)) return true;
    return false;
}

static void mark(walk *w, eddy_list fetches)
{
    for (int i = 0; i < w->feeds.count; i++) w->fed[w->feeds.at[i].tensor.node] = 1;
    for (int i = 0; i < fetches.count; i++)
        if (!is_fed(w, fetches.at[i])) w->needed[fetches.at[i].node] = 1;
    for (int32_t id = w->size; id >= 1; id--) {
        const eddy_node *node = w->graph->nodes[id];
        for (int i = 0; w->needed[id] && i < node->n_inputs; i++)
            if (!is_fed(w, node->inputs[i])) w->needed[node->inputs[i].node] = 1;
        for (int i = 0; w->needed[id] && i < node->n_controls; i++)
            w->needed[node->controls[i]] = 1;
    }
}

static void raise(const walk *w, int32_t id, int32_t from)
{
    const int32_t behind = w->level[from] + eddy_is_dynamic(w->graph->nodes[from]);
    if (behind > w->level[id]) w->level[id] = behind;
    if (!w->effect[id]) w->effect[id] = w->effect[from];
}

/* Returns the number of levels that dynamic nodes have. */
static int32_t find_levels(walk *w)
{
    int32_t levels = 0;
    for (int32_t id = 1; id <= w->size; id++) {
        const eddy_node *node = w->graph->nodes[id];
        if (!w->needed[id]) continue;
        if (node->op->flags & EDDY_OP_SIDE_EFFECT) w->effect[id] = id;
        for (int i = 0; i < node->n_inputs; i++)
            if (!is_fed(w, node->inputs[i])) raise(w, id, node->inputs[i].node);
        for (int i = 0; i < node->n_controls; i++) raise(w, id, node->controls[i]);
        if (eddy_is_dynamic(node) && w->level[id] >= levels) levels = w->level[id] + 1;
    }
    return levels;
}

/* The outputs to compute, those of level 0 first. */
static bool cut(const walk *w, stages *t, eddy_error *error)
{
    int n = 0;
    for (int32_t level = 0; level < t->n; t->end[level++] = n)
        for (int32_t id = 1; id <= w->size; id++) {
            const eddy_node *node = w->graph->nodes[id];
            if (!w->needed[id] || w->level[id] != level || !eddy_is_dynamic(node)) continue;
            if (w->effect[id])
                return eddy_error_set(error, EDDY_UNIMPLEMENTED,
                                      "%s: the shape depends on data that waits for '%.200s', "
                                      "which has a side effect [node '%.200s']",
                                      node->op->name, w->graph->nodes[w->effect[id]]->name,
                                      node->name);
            for (int k = 0; k < node->n_outputs; k++) {
                const eddy_tensor y = eddy_tensor_at(w->graph, id, k);
                if (!is_fed(w, y)) t->cut[n++] = y;
            }
        }
    t->n_cut = n;
    return true;
}

static int32_t outputs_of_dynamic(const walk *w)
{
    int32_t n = 0;
    for (int32_t id = 1; id <= w->size; id++)
        if (w->needed[id] && eddy_is_dynamic(w->graph->nodes[id]))
            n += w->graph->nodes[id]->n_outputs;
    return n;
}

/* ------------------------------------------------------------- the stages -- */

static bool no_memory(eddy_error *error)
{
    return eddy_error_set(error, EDDY_NO_MEMORY, "out of memory for the stages of a run");
}

static void *zeroed(eddy_arena *a, int64_t n, size_t size)
{
    void *p = eddy_arena_alloc(a, (size_t)n * size);
    if (p) memset(p, 0, (size_t)n * size);
    return p;
}

static bool copy_key(stages *t, eddy_feeds feeds, eddy_list fetches)
{
    t->n_feeds = feeds.count;
    t->n_fetches = fetches.count;
    t->feeds = zeroed(&t->arena, feeds.count, sizeof *t->feeds);
    t->fetches = zeroed(&t->arena, fetches.count, sizeof *t->fetches);
    if (!t->feeds || !t->fetches) return false;
    for (int i = 0; i < feeds.count; i++) t->feeds[i] = feeds.at[i].tensor;
    for (int i = 0; i < fetches.count; i++) t->fetches[i] = fetches.at[i];
    return true;
}

static bool plan_stages(walk *w, eddy_arena *scratch, stages *t, eddy_list fetches,
                        eddy_error *error)
{
    const int64_t n = (int64_t)w->size + 1;
    w->needed = zeroed(scratch, n, sizeof *w->needed);
    w->fed = zeroed(scratch, n, sizeof *w->fed);
    w->level = zeroed(scratch, n, sizeof *w->level);
    w->effect = zeroed(scratch, n, sizeof *w->effect);
    if (!w->needed || !w->fed || !w->level || !w->effect) return no_memory(error);
    mark(w, fetches);
    t->n = find_levels(w);
    t->end = zeroed(&t->arena, t->n, sizeof *t->end);
    t->cut = zeroed(&t->arena, outputs_of_dynamic(w), sizeof *t->cut);
    if (!t->end || !t->cut || !copy_key(t, w->feeds, fetches)) return no_memory(error);
    return cut(w, t, error);
}

static stages *new_stages(eddy_session *s, eddy_feeds feeds, eddy_list fetches, eddy_error *error)
{
    stages    *t = eddy_allocate_zeroed(&s->allocator, 1, sizeof *t);
    eddy_arena scratch = { .allocator = &s->allocator };
    walk       w = { .graph = s->graph, .size = s->graph->size, .feeds = feeds };
    if (!t) {
        no_memory(error);
        return NULL;
    }
    t->arena.allocator = &s->allocator;
    const bool ok = plan_stages(&w, &scratch, t, fetches, error);
    eddy_arena_free(&scratch);
    if (ok) return t;
    eddy_stages_free(s, t);
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

/* Nodes are looked at once. */
static bool graph_has_dynamic(eddy_session *s)
{
    while (!s->has_dynamic && s->seen < s->graph->size)
        s->has_dynamic = eddy_is_dynamic(s->graph->nodes[++s->seen]);
    return s->has_dynamic;
}

bool eddy_stages_of(eddy_session *s, eddy_feeds feeds, eddy_list fetches, stages **found,
                    eddy_error *error)
{
    *found = NULL;
    pthread_mutex_lock(&s->lock);
    const bool any = graph_has_dynamic(s);
    stages    *t = any ? s->stages : NULL;
    while (t && !is_of(t, feeds, fetches)) t = t->next;
    if (any && !t) {
        t = new_stages(s, feeds, fetches, error);
        if (t && s->n_stages < MOST_KEPT) {
            t->kept = true;
            t->next = s->stages;
            s->stages = t;
            s->n_stages++;
        }
    }
    pthread_mutex_unlock(&s->lock);
    *found = t;
    return t || !any;
}
