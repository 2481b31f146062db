/* dynamic_shapes.c -- staged runs, for shapes that depend on data.
 *
 * All shapes of a plan are known. Where the length of an operation's outputs depends on data
 * (EDDY_OP_DYNAMIC: where, unique), a run is split: a plan of its own computes these outputs in
 * buffers of the largest possible size, and they are fed to the plan of the remaining nodes,
 * which is compiled for their actual shapes and cached as usual. The same is done with sizes:
 * tensors whose elements decide a shape (the dimensions of fill, the limit of range) and that the
 * compiler cannot compute from constants, shapes and a few fed integers. They are found when a
 * compilation lacks their elements. A run with several of these in sequence takes several
 * stages. */
#include "session/dynamic_shapes.h"

#include <string.h>

enum { MAX_KEPT = 256 };

/* True if the length of the outputs depends on data. The static shapes of the outputs do not
 * matter: they may have been narrowed, or be open for another reason. */
static bool may_be_dynamic(const eddy_node *node)
{
    const eddy_op_def *op = node->op;
    return (op->flags & EDDY_OP_DYNAMIC) && !(op->settled && op->settled(node->attrs));
}

void eddy__stages_free(eddy_session *s, stages *t)
{
    if (!t) return;
    eddy__arena_free(&t->arena);
    eddy__release(&s->allocator, t, sizeof *t);
}

/* ------------------------------------------------- analysis of the graph -- */

/* By node id up to `last`: whether the node is needed; its level, the number of dynamic nodes
 * in sequence before it; a node with a side effect on which it depends. */
typedef struct walk {
    eddy_graph *graph;
    int32_t     last;
    eddy_feeds  feeds;
    eddy_list   sizes;
    uint8_t    *needed, *fed, *given, *crosses, *size;
    int32_t    *first,
        *stage; /* by node id: index of its output 0 in `crosses`; stage, from 1, or 0 */
    int32_t    *level, *effect;     /* effect: a node's id, or 0 */
} walk;

static bool is_fed(const walk *w, eddy_tensor t)
{
    for (int i = 0; w->fed[t.node] && i < w->feeds.count; i++)
        if (eddy_same(w->feeds.at[i].tensor, t)) return true;
    return false;
}

/* True if what follows the node can be compiled only after it has run. The length of a dynamic
 * node is known if the input is a constant that is not fed. */
static bool is_dynamic(const walk *w, int32_t id)
{
    const eddy_node *node = w->graph->nodes[id];
    if (w->size[id]) return true;
    return may_be_dynamic(node) &&
           (is_fed(w, node->inputs[0]) || !eddy_constant_value(node->inputs[0]));
}

static void mark_needed(walk *w, eddy_list fetches)
{
    for (int i = 0; i < w->feeds.count; i++) w->fed[w->feeds.at[i].tensor.node] = 1;
    for (int i = 0; i < w->sizes.count; i++)
        if (!is_fed(w, w->sizes.at[i])) w->size[w->sizes.at[i].node] = 1;
    for (int i = 0; i < fetches.count; i++)
        if (!is_fed(w, fetches.at[i])) w->needed[fetches.at[i].node] = 1;
    for (int32_t id = w->last; id >= 1; id--) {
        const eddy_node *node = w->graph->nodes[id];
        for (int i = 0; w->needed[id] && i < node->n_inputs; i++)
            if (!is_fed(w, node->inputs[i])) w->needed[node->inputs[i].node] = 1;
        for (int i = 0; w->needed[id] && i < node->n_controls; i++)
            w->needed[node->controls[i]] = 1;
    }
}

static void raise_level(const walk *w, int32_t id, int32_t from)
{
    const int32_t behind = w->level[from] + is_dynamic(w, from);
    if (behind > w->level[id]) w->level[id] = behind;
    if (!w->effect[id]) w->effect[id] = w->effect[from];
}

/* Returns the number of levels that dynamic nodes have. */
static int32_t find_levels(walk *w)
{
    int32_t levels = 0;
    for (int32_t id = 1; id <= w->last; id++) {
        const eddy_node *node = w->graph->nodes[id];
        if (!w->needed[id]) continue;
        if (node->op->flags & EDDY_OP_SIDE_EFFECT) w->effect[id] = id;
        for (int i = 0; i < node->n_inputs; i++)
            if (!is_fed(w, node->inputs[i])) raise_level(w, id, node->inputs[i].node);
        for (int i = 0; i < node->n_controls; i++) raise_level(w, id, node->controls[i]);
        if (is_dynamic(w, id) && w->level[id] >= levels) levels = w->level[id] + 1;
    }
    return levels;
}

/* It need not cross: fed, a variable, or the same in any plan. */
enum { COMPUTED, LEAF, CONSTANT };

static uint8_t kind_of(const walk *w, const eddy_node *node)
{
    if (node->op->flags & EDDY_OP_CONSTANT) return CONSTANT;
    if (node->op->flags & (EDDY_OP_PLACEHOLDER | EDDY_OP_VARIABLE)) return LEAF;
    if ((node->op->flags & EDDY_OP_STATEFUL) || node->n_inputs == 0) return COMPUTED;
    for (int i = 0; i < node->n_inputs; i++)
        if (!eddy__input_is_in(node->op->shape_inputs, i) &&
            (is_fed(w, node->inputs[i]) || w->given[node->inputs[i].node] != CONSTANT))
            return COMPUTED;
    return CONSTANT;
}

/* The stage of a node is the first that computes it. */
static void find_stages(walk *w, int32_t levels)
{
    for (int32_t id = 1; id <= w->last; id++)
        w->given[id] = kind_of(w, w->graph->nodes[id]);
    for (int32_t level = 0; level < levels; level++)
        for (int32_t id = w->last; id >= 1; id--) {
            const eddy_node *node = w->graph->nodes[id];
            if (!w->needed[id]) continue;
            if (is_dynamic(w, id) && w->level[id] == level) w->stage[id] = level + 1;
            for (int i = 0; w->stage[id] == level + 1 && i < node->n_inputs; i++) {
                const eddy_tensor x = node->inputs[i];
                if (!is_fed(w, x) && !w->given[x.node] && w->stage[x.node] == 0)
                    w->stage[x.node] = level + 1;
            }
        }
}

/* A value that one stage computes and a later one reads is computed once, because another plan
 * might compute other last bits than those that determined a shape. */
static void mark_crossing(walk *w, eddy_tensor x, int32_t reader)
{
    if (w->stage[x.node] > 0 && (reader == 0 || reader > w->stage[x.node]) && !is_fed(w, x))
        w->crosses[w->first[x.node] + x.output] = 1;
}

static void find_crossing(walk *w, eddy_list fetches)
{
    for (int i = 0; i < fetches.count; i++)
        if (eddy_outputs_of(fetches.at[i]) > 0) mark_crossing(w, fetches.at[i], 0);
    for (int32_t id = 1; id <= w->last; id++) {
        const eddy_node *node = w->graph->nodes[id];
        for (int i = 0; w->needed[id] && i < node->n_inputs; i++)
            if (!eddy__input_is_in(node->op->shape_inputs, i))
                mark_crossing(w, node->inputs[i], w->stage[id]);
    }
}

/* Lists the outputs that stages compute, those of level 0 first. */
static bool list_cut(const walk *w, stages *t, eddy_error *error)
{
    int n = 0;
    for (int32_t level = 0; level < t->n; t->end[level++] = n)
        for (int32_t id = 1; id <= w->last; id++) {
            const eddy_node *node = w->graph->nodes[id];
            if (!w->needed[id] || w->stage[id] != level + 1) continue;
            const bool dynamic = is_dynamic(w, id);
            if (dynamic && w->effect[id])
                return eddy__error_set(error, EDDY_UNIMPLEMENTED,
                                       "%s: the shape depends on data that waits for '%.200s', "
                                       "which has a side effect [node '%.200s']",
                                       node->op->name, w->graph->nodes[w->effect[id]]->name,
                                       node->name);
            for (int k = 0; k < node->n_outputs; k++) {
                const eddy_tensor y = eddy__tensor_at(w->graph, id, k);
                if ((dynamic || w->crosses[w->first[id] + k]) && !is_fed(w, y)) t->cut[n++] = y;
            }
        }
    t->n_cut = n;
    return true;
}

/* Numbers the outputs of all nodes. Returns how many there are. */
static int32_t number_outputs(walk *w)
{
    int32_t n = 0;
    for (int32_t id = 1; id <= w->last; id++) {
        w->first[id] = n;
        n += w->graph->nodes[id]->n_outputs;
    }
    return n;
}

/* ------------------------------------------------------------- the stages -- */

static bool no_memory(eddy_error *error)
{
    return eddy__error_set(error, EDDY_NO_MEMORY, "out of memory for the stages of a run");
}

static void *zeroed(eddy_arena *a, int64_t n, size_t size)
{
    void *p = eddy__arena_alloc(a, (size_t)n * size);
    if (p) memset(p, 0, (size_t)n * size);
    return p;
}

static bool copy_key(stages *t, eddy_feeds feeds, eddy_list fetches, eddy_list sizes)
{
    t->n_feeds = feeds.count;
    t->n_fetches = fetches.count;
    t->n_sizes = sizes.count;
    t->feeds = zeroed(&t->arena, feeds.count, sizeof *t->feeds);
    t->fetches = zeroed(&t->arena, fetches.count, sizeof *t->fetches);
    t->sizes = zeroed(&t->arena, sizes.count, sizeof *t->sizes);
    if (!t->feeds || !t->fetches || !t->sizes) return false;
    for (int i = 0; i < sizes.count; i++) t->sizes[i] = sizes.at[i];
    for (int i = 0; i < feeds.count; i++) t->feeds[i] = feeds.at[i].tensor;
    for (int i = 0; i < fetches.count; i++) t->fetches[i] = fetches.at[i];
    return true;
}

static bool plan_stages(walk *w, eddy_arena *scratch, stages *t, eddy_list fetches,
                        eddy_error *error)
{
    const int64_t n = (int64_t)w->last + 1;
    w->needed = zeroed(scratch, n, sizeof *w->needed);
    w->fed = zeroed(scratch, n, sizeof *w->fed);
    w->level = zeroed(scratch, n, sizeof *w->level);
    w->effect = zeroed(scratch, n, sizeof *w->effect);
    w->given = zeroed(scratch, n, sizeof *w->given);
    w->first = zeroed(scratch, n, sizeof *w->first);
    w->stage = zeroed(scratch, n, sizeof *w->stage);
    w->size = zeroed(scratch, n, sizeof *w->size);
    if (!w->size || !w->needed || !w->fed || !w->level || !w->effect || !w->given || !w->first ||
        !w->stage)
        return no_memory(error);
    const int32_t outputs = number_outputs(w);
    w->crosses = zeroed(scratch, outputs, sizeof *w->crosses);
    if (!w->crosses) return no_memory(error);
    mark_needed(w, fetches);
    t->n = find_levels(w);
    find_stages(w, t->n);
    find_crossing(w, fetches);
    t->end = zeroed(&t->arena, t->n, sizeof *t->end);
    t->cut = zeroed(scratch, outputs, sizeof *t->cut);
    if (!t->end || !t->cut || !copy_key(t, w->feeds, fetches, w->sizes)) return no_memory(error);
    if (!list_cut(w, t, error)) return false;
    eddy_tensor *cut = zeroed(&t->arena, t->n_cut, sizeof *cut);
    if (!cut) return no_memory(error);
    if (t->n_cut > 0) memcpy(cut, t->cut, (size_t)t->n_cut * sizeof *cut);
    t->cut = cut;
    return true;
}

static stages *new_stages(eddy_session *s, eddy_feeds feeds, eddy_list fetches, eddy_list sizes,
                          eddy_error *error)
{
    stages    *t = eddy__allocate_zeroed(&s->allocator, 1, sizeof *t);
    eddy_arena scratch = { .allocator = &s->allocator };
    walk       w = { .graph = s->graph, .last = s->graph->size, .feeds = feeds, .sizes = sizes };
    if (!t) {
        no_memory(error);
        return NULL;
    }
    t->arena.allocator = &s->allocator;
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
        s->has_dynamic = may_be_dynamic(s->graph->nodes[++s->seen]);
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

bool eddy__stages_of(eddy_session *s, eddy_feeds feeds, eddy_list fetches, stages **found,
                     eddy_error *error)
{
    bool ok = true;
    pthread_mutex_lock(&s->lock);
    stages *t = s->stages;
    while (t && !is_of(t, feeds, fetches)) t = t->next;
    *found = t;
    if (!t && graph_has_dynamic(s))
        ok = keep(s, new_stages(s, feeds, fetches, (eddy_list){ 0 }, error), found);
    pthread_mutex_unlock(&s->lock);
    return ok;
}

bool eddy__stages_add_size(eddy_session *s, eddy_feeds feeds, eddy_list fetches, stages **found,
                           eddy_tensor size, eddy_error *error)
{
    stages   *before = *found;
    const int n = before ? before->n_sizes : 0;
    for (int i = 0; i < n; i++)
        if (eddy_same(before->sizes[i], size)) return false;
    const size_t bytes = ((size_t)n + 1) * sizeof(eddy_tensor);
    eddy_tensor *sizes = eddy__allocate(&s->allocator, bytes);
    if (!sizes) return no_memory(error);
    for (int i = 0; i < n; i++) sizes[i] = before->sizes[i];
    sizes[n] = size;
    *error = (eddy_error){ 0 };
    pthread_mutex_lock(&s->lock);
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
