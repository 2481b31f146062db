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
 * A Loop whose shapes only a run of its body tells is also found when it cannot be compiled. It runs
 * outside of plans (run_body.h), after the plan of its stage, and with it the loops that do the same
 * or that read its stacks: the rows of these may differ in shape. */
#include "session/compile/program.h"
#include "session/dynamic_shapes.h"
#include "session/rows_ops.h"
#include "session/run_body.h"

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
    uint8_t    *alone;      /* the node runs outside of plans */
    uint8_t    *read;       /* as `crosses`, of such nodes: READ_ROWS, READ_ARRAY */
    bool       *rows;       /* as `crosses`, of such nodes: a stack */
    uint8_t   **takes;      /* of such nodes, by input */
    node_run    scratch;
    int32_t    *first,
        *stage; /* by node id: index of its output 0 in `crosses`; stage, from 1, or 0 */
    int32_t    *level, *effect;     /* effect: a node's id, or 0 */
} walk;

enum { READ_ROWS = 1, READ_ARRAY = 2 };

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
    if (w->size[id] || w->alone[id]) return true;
    return may_be_dynamic(node) &&
           (is_fed(w, node->inputs[0]) || !eddy_constant_value(node->inputs[0]));
}

static bool has_body(const eddy_node *node) { return node->op->flags & EDDY_OP_BODY; }

/* Input i of the node is one of which each iteration gets a row. */
static bool is_sliced(const eddy_node *node, int i)
{
    if (!(node->op->flags & EDDY_OP_LOOP)) return false;
    const eddy_loop_attrs *a = node->attrs;
    const int64_t          slice = i - a->counted - a->n_carried;
    return slice >= 0 && slice < a->n_sliced;
}

static bool is_rows(const walk *w, eddy_tensor t)
{
    return w->alone[t.node] && !is_fed(w, t) && w->rows[w->first[t.node] + t.output];
}

/* The node reads a stack of one that runs alone. */
static bool reads_rows(const walk *w, const eddy_node *node)
{
    const bool every = node->n_outputs == 1 && eddy__reads_rows(node);
    for (int i = 0; i < node->n_inputs; i++)
        if (is_rows(w, node->inputs[i]) && (every || is_sliced(node, i))) return true;
    return false;
}

/* The node does the same as one that runs alone. */
static bool goes_along(const walk *w, const eddy_node *node)
{
    for (int32_t id = 1; has_body(node) && id <= w->last; id++)
        if (w->alone[id] && has_body(w->graph->nodes[id]) &&
            eddy__may_share(w->graph->nodes[id], node))
            return true;
    return false;
}

static void set_alone(walk *w, int32_t id)
{
    const eddy_node       *node = w->graph->nodes[id];
    const eddy_loop_attrs *a = node->op->flags & EDDY_OP_LOOP ? node->attrs : NULL;
    bool                   in[2] = { false, false };
    w->alone[id] = 1;
    for (int64_t k = 0; a && k < a->n_stacked; k++)
        w->rows[w->first[id] + a->n_carried + k] = true;
    if (has_body(node)) return;
    for (int i = 0; i < node->n_inputs; i++)
        if (is_rows(w, node->inputs[i])) in[i > 0] = true;
    w->rows[w->first[id]] = eddy__yields_rows(node, in);
}

/* Marks the nodes that run alone; true if any does. */
static bool find_alone(walk *w)
{
    bool any = false;
    for (int i = 0; i < w->sizes.count; i++) {
        if (w->sizes.at[i].output != EDDY_NODE_ITSELF) continue;
        set_alone(w, w->sizes.at[i].node);
        any = true;
    }
    for (bool again = any; again;) {
        again = false;
        for (int32_t id = 1; id <= w->last; id++) {
            const eddy_node *node = w->graph->nodes[id];
            if (w->alone[id] || !(goes_along(w, node) || reads_rows(w, node))) continue;
            set_alone(w, id);
            again = true;
        }
    }
    return any;
}

/* The node needs the value or the type of input i. */
static bool takes(const walk *w, int32_t id, int i) { return !w->alone[id] || w->takes[id][i]; }

static void mark_output(walk *w, eddy_tensor t, uint8_t how)
{
    if (w->alone[t.node] && !is_fed(w, t)) w->read[w->first[t.node] + t.output] |= how;
}

static bool no_memory(eddy_error *error)
{
    return eddy__error_set(error, EDDY_NO_MEMORY, "out of memory for the stages of a run");
}

/* All readers of the node are known. */
static bool find_takes(walk *w, eddy_arena *scratch, const eddy_node *node)
{
    uint8_t *takes = eddy__arena_alloc(scratch, (size_t)node->n_inputs + 1);
    w->takes[node->id] = takes;
    if (!takes) return no_memory(w->scratch.error);
    memset(takes, !has_body(node), (size_t)node->n_inputs + 1);
    return !has_body(node) ||
           eddy__body_inputs(&w->scratch, scratch, node, false, &w->read[w->first[node->id]],
                             takes);
}

static bool mark_inputs(walk *w, eddy_arena *scratch, const eddy_node *node)
{
    if (w->alone[node->id] && !find_takes(w, scratch, node)) return false;
    for (int i = 0; i < node->n_inputs; i++) {
        const eddy_tensor x = node->inputs[i];
        const bool rows = w->alone[node->id] && is_rows(w, x) &&
                          (!has_body(node) || is_sliced(node, i));
        if (is_fed(w, x) || !takes(w, node->id, i)) continue;
        w->needed[x.node] = 1;
        mark_output(w, x, rows ? READ_ROWS : READ_ARRAY);
    }
    for (int i = 0; i < node->n_controls; i++) w->needed[node->controls[i]] = 1;
    return true;
}

static bool mark_needed(walk *w, eddy_arena *scratch, eddy_list fetches)
{
    for (int i = 0; i < w->feeds.count; i++) w->fed[w->feeds.at[i].tensor.node] = 1;
    for (int i = 0; i < w->sizes.count; i++)
        if (w->sizes.at[i].output >= 0 && !is_fed(w, w->sizes.at[i]))
            w->size[w->sizes.at[i].node] = 1;
    find_alone(w);
    for (int i = 0; i < fetches.count; i++) {
        if (is_fed(w, fetches.at[i])) continue;
        w->needed[fetches.at[i].node] = 1;
        if (w->graph->nodes[fetches.at[i].node]->n_outputs > 0)
            mark_output(w, fetches.at[i], READ_ARRAY);
    }
    for (int i = 0; i < w->sizes.count; i++)
        if (w->sizes.at[i].output >= 0) mark_output(w, w->sizes.at[i], READ_ARRAY);
    for (int32_t id = w->last; id >= 1; id--)
        if (w->needed[id] && !mark_inputs(w, scratch, w->graph->nodes[id])) return false;
    return true;
}

static void raise_level(const walk *w, int32_t id, int32_t from)
{
    const int32_t behind = w->level[from] + is_dynamic(w, from);
    if (behind > w->level[id]) w->level[id] = behind;
    if (!w->effect[id]) w->effect[id] = w->effect[from];
}

/* The last update in the run that the node, which reads the value between two updates, waits for;
 * 0: none. */
static int32_t update_before(const walk *w, const eddy_node *node)
{
    const unsigned both = EDDY_OP_UPDATES | EDDY_OP_SIDE_EFFECT;
    if ((node->op->flags & both) != EDDY_OP_UPDATES || node->n_inputs < 1) return 0;
    for (int32_t id = node->id - 1; id >= 1; id--) {
        const eddy_node *other = w->graph->nodes[id];
        if (w->needed[id] && (other->op->flags & both) == both &&
            eddy_same(other->inputs[0], node->inputs[0]))
            return id;
    }
    return 0;
}

/* Returns the number of levels that dynamic nodes have. */
static int32_t find_levels(walk *w)
{
    int32_t levels = 0;
    for (int32_t id = 1; id <= w->last; id++) {
        const eddy_node *node = w->graph->nodes[id];
        if (!w->needed[id]) continue;
        w->effect[id] = node->op->flags & EDDY_OP_SIDE_EFFECT ? id : update_before(w, node);
        for (int i = 0; i < node->n_inputs; i++)
            if (!is_fed(w, node->inputs[i]) && takes(w, id, i))
                raise_level(w, id, node->inputs[i].node);
        for (int i = 0; i < node->n_controls; i++) raise_level(w, id, node->controls[i]);
        if (is_dynamic(w, id) && w->level[id] >= levels) levels = w->level[id] + 1;
    }
    return levels;
}

/* It need not cross: fed, a variable, or the same in any plan. */
enum { COMPUTED, LEAF, CONSTANT };

static uint8_t kind_of(const walk *w, const eddy_node *node)
{
    if (w->alone[node->id]) return COMPUTED;
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
                if (!is_fed(w, x) && takes(w, id, i) && !w->given[x.node] &&
                    w->stage[x.node] == 0)
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
            if (w->alone[id] ? w->takes[id][i] : !eddy__input_is_in(node->op->shape_inputs, i))
                mark_crossing(w, node->inputs[i], w->alone[id] ? 0 : w->stage[id]);
    }
}

/* The lists of a stages struct while they are made. */
typedef struct cut_list {
    walk   *w;
    stages *t;
    int     n_runs;
} cut_list;

static void add_cut(const cut_list *l, eddy_tensor t, cut_use use)
{
    l->t->cut[l->t->n_cut] = t;
    l->t->use[l->t->n_cut++] = (uint8_t)use;
}

static bool may_be_staged(const walk *w, int32_t id, eddy_error *error)
{
    const eddy_node *node = w->graph->nodes[id];
    return !w->effect[id] ||
           eddy__error_set(error, EDDY_UNIMPLEMENTED,
                           "%s: the shape depends on data that waits for '%.200s', "
                           "which has a side effect [node '%.200s']",
                           node->op->name, w->graph->nodes[w->effect[id]]->name, node->name);
}

/* What the plan of a stage computes. */
static bool list_planned(const cut_list *l, int32_t level, eddy_error *error)
{
    const walk *w = l->w;
    for (int32_t id = 1; id <= w->last; id++) {
        const eddy_node *node = w->graph->nodes[id];
        if (!w->needed[id] || w->stage[id] != level + 1) continue;
        const bool dynamic = is_dynamic(w, id);
        if (dynamic && !may_be_staged(w, id, error)) return false;
        for (int k = 0; k < node->n_outputs && !w->alone[id]; k++) {
            const eddy_tensor y = eddy__tensor_at(w->graph, id, k);
            if ((dynamic || w->crosses[w->first[id] + k]) && !is_fed(w, y)) add_cut(l, y, CUT_FED);
        }
    }
    return true;
}

/* What nodes read that run alone in the stage, and that no stage computes for others. */
static void list_asked(const cut_list *l, int from, const eddy_node *node)
{
    const walk *w = l->w;
    for (int i = 0; i < node->n_inputs; i++) {
        const eddy_tensor x = node->inputs[i];
        if (!w->takes[node->id][i] || is_fed(w, x) || w->alone[x.node] ||
            (w->stage[x.node] > 0 && w->crosses[w->first[x.node] + x.output]))
            continue;
        bool listed = false;
        for (int k = from; k < l->t->n_cut; k++) listed = listed || eddy_same(l->t->cut[k], x);
        if (!listed) add_cut(l, x, CUT_ASKED);
    }
}

static bool is_alone_in(const walk *w, int32_t id, int32_t level)
{
    return w->needed[id] && w->alone[id] && w->stage[id] == level + 1;
}

/* The nodes that run alone in the stage, those that do the same as one. */
static void list_runs(cut_list *l, int32_t level)
{
    walk   *w = l->w;
    stages *t = l->t;
    for (int32_t id = 1; id <= w->last; id++) {
        if (!is_alone_in(w, id, level)) continue;
        const eddy_node *first = w->graph->nodes[id];
        stage_run       *r = &t->runs[l->n_runs++];
        *r = (stage_run){ t->n_members, 0 };
        for (int32_t other = id; other <= w->last; other++) {
            const eddy_node *node = w->graph->nodes[other];
            if (!is_alone_in(w, other, level)) continue;
            if (other != id && !(has_body(node) && eddy__may_share(first, node))) continue;
            t->members[t->n_members++] = other;
            r->n++;
            t->acts = t->acts || (has_body(node) && eddy__body_acts(node));
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
static bool list_cut(walk *w, stages *t, eddy_error *error)
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

static void *zeroed(eddy_arena *a, int64_t n, size_t size)
{
    void *p = eddy__arena_alloc(a, (size_t)n * size);
    if (p) memset(p, 0, (size_t)n * size);
    return p;
}

/* Nodes that run alone are among the sizes, so that no plan computes them. */
static bool copy_key(const walk *w, stages *t, eddy_feeds feeds, eddy_list fetches)
{
    const eddy_list sizes = w->sizes;
    int             n = sizes.count;
    for (int32_t id = 1; id <= w->last; id++) n += w->alone[id];
    t->n_feeds = feeds.count;
    t->n_fetches = fetches.count;
    t->feeds = zeroed(&t->arena, feeds.count, sizeof *t->feeds);
    t->fetches = zeroed(&t->arena, fetches.count, sizeof *t->fetches);
    t->sizes = zeroed(&t->arena, n, sizeof *t->sizes);
    if (!t->feeds || !t->fetches || !t->sizes) return false;
    for (int i = 0; i < sizes.count; i++)
        if (sizes.at[i].output >= 0) t->sizes[t->n_sizes++] = sizes.at[i];
    for (int32_t id = 1; id <= w->last; id++)
        if (w->alone[id])
            t->sizes[t->n_sizes++] = eddy__tensor_at(w->graph, id, EDDY_NODE_ITSELF);
    for (int i = 0; i < feeds.count; i++) t->feeds[i] = feeds.at[i].tensor;
    for (int i = 0; i < fetches.count; i++) t->fetches[i] = fetches.at[i];
    return true;
}

/* Room for the lists, before it is known how long they are. */
static bool make_lists(const walk *w, stages *t, eddy_arena *scratch, int32_t outputs)
{
    int64_t asked = 0, alone = 0;
    for (int32_t id = 1; id <= w->last; id++) {
        alone += w->alone[id];
        asked += w->alone[id] ? w->graph->nodes[id]->n_inputs : 0;
    }
    t->end = zeroed(&t->arena, t->n, sizeof *t->end);
    t->planned = zeroed(&t->arena, t->n, sizeof *t->planned);
    t->run_end = zeroed(&t->arena, t->n, sizeof *t->run_end);
    t->members = zeroed(&t->arena, alone, sizeof *t->members);
    t->runs = zeroed(&t->arena, alone, sizeof *t->runs);
    t->cut = zeroed(scratch, outputs + asked, sizeof *t->cut);
    t->use = zeroed(scratch, outputs + asked, sizeof *t->use);
    return t->end && t->planned && t->run_end && t->members && t->runs && t->cut && t->use;
}

/* Copies the lists of the scratch memory to that of the stages. */
static bool keep_lists(stages *t)
{
    eddy_tensor *cut = zeroed(&t->arena, t->n_cut, sizeof *cut);
    uint8_t     *use = zeroed(&t->arena, t->n_cut, sizeof *use);
    if (!cut || !use) return false;
    if (t->n_cut > 0) {
        memcpy(cut, t->cut, (size_t)t->n_cut * sizeof *cut);
        memcpy(use, t->use, (size_t)t->n_cut);
    }
    t->cut = cut;
    t->use = use;
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
    w->alone = zeroed(scratch, n, sizeof *w->alone);
    w->takes = zeroed(scratch, n, sizeof *w->takes);
    if (!w->alone || !w->takes || !w->size || !w->needed || !w->fed || !w->level || !w->effect || !w->given || !w->first ||
        !w->stage)
        return no_memory(error);
    const int32_t outputs = number_outputs(w);
    w->crosses = zeroed(scratch, outputs, sizeof *w->crosses);
    w->read = zeroed(scratch, outputs, sizeof *w->read);
    w->rows = zeroed(scratch, outputs, sizeof *w->rows);
    if (!w->rows || !w->crosses || !w->read) return no_memory(error);
    if (!mark_needed(w, scratch, fetches)) return false;
    t->n = find_levels(w);
    find_stages(w, t->n);
    find_crossing(w, fetches);
    if (!copy_key(w, t, w->feeds, fetches) || !make_lists(w, t, scratch, outputs))
        return no_memory(error);
    return list_cut(w, t, error) && (keep_lists(t) || no_memory(error));
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
    eddy__node_run_begin(&w.scratch, s, false, error);
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

/* eddy_same is for tensors that exist. */
static bool is_size(eddy_tensor a, eddy_tensor b)
{
    return a.node == b.node && a.output == b.output;
}

bool eddy__stages_add_size(eddy_session *s, eddy_feeds feeds, eddy_list fetches, stages **found,
                           eddy_tensor size, eddy_error *error)
{
    stages   *before = *found;
    const int n = before ? before->n_sizes : 0;
    for (int i = 0; i < n; i++)
        if (is_size(before->sizes[i], size)) return false;
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
