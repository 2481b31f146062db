/* stage_walk.c -- the analysis of a graph for a run in stages: which nodes are needed, which run
 * outside of plans, which stage computes each, and what later stages read. */
#include "session/stages/stage_walk.h"
#include "session/compile/program.h"
#include "session/stages/rows_ops.h"
#include "session/stages/run_body.h"

#include <string.h>

bool eddy__stages_full(eddy_error *error)
{
    return eddy__error_set(error, EDDY_NO_MEMORY, "out of memory for the stages of a run");
}

void *eddy__stages_zeroed(eddy_arena *a, int64_t n, size_t size)
{
    void *p = eddy__arena_alloc(a, (size_t)n * size);
    if (p) memset(p, 0, (size_t)n * size);
    return p;
}

bool eddy__may_be_dynamic(const eddy_node *node)
{
    const eddy_op_def *op = node->op;
    return (op->flags & EDDY_OP_DYNAMIC) && !(op->settled && op->settled(node->attrs));
}

bool eddy__walk_is_fed(const stage_walk *w, eddy_tensor t)
{
    if (!w->fed[t.node]) return false;
    for (int i = 0; i < w->feeds.count; i++)
        if (eddy_same(w->feeds.at[i].tensor, t)) return true;
    return false;
}

/* The node has sizes that depend on data. A dynamic node whose input is a constant that is not fed
 * has none. */
bool eddy__walk_is_dynamic(const stage_walk *w, int32_t id)
{
    const eddy_node *node = w->graph->nodes[id];
    if (w->size[id] || w->uncompiled[id]) return true;
    return eddy__may_be_dynamic(node) &&
           (eddy__walk_is_fed(w, node->inputs[0]) || !eddy_constant_value(node->inputs[0]));
}

/* Input i of the node is one of which each iteration gets a row. */
static bool is_sliced(const eddy_node *node, int i)
{
    if (!(node->op->flags & EDDY_OP_LOOP)) return false;
    const eddy_loop_attrs *a = node->attrs;
    const int64_t          slice = i - a->counted - a->n_carried;
    return slice >= 0 && slice < a->n_sliced;
}

static bool is_rows(const stage_walk *w, eddy_tensor t)
{
    return w->uncompiled[t.node] && !eddy__walk_is_fed(w, t) &&
           w->rows[w->first[t.node] + t.output];
}

/* The node reads a stack of one that runs uncompiled. */
static bool reads_rows(const stage_walk *w, const eddy_node *node)
{
    const bool every = node->n_outputs == 1 && eddy__reads_rows(node);
    for (int i = 0; i < node->n_inputs; i++)
        if (is_rows(w, node->inputs[i]) && (every || is_sliced(node, i))) return true;
    return false;
}

/* The node does the same as one that runs uncompiled. */
static bool shares_run_with_uncompiled(const stage_walk *w, const eddy_node *node)
{
    for (int32_t id = 1; eddy__walk_has_body(node) && id <= w->last; id++)
        if (w->uncompiled[id] && eddy__walk_has_body(w->graph->nodes[id]) &&
            eddy__may_share(w->graph->nodes[id], node))
            return true;
    return false;
}

static void set_alone(stage_walk *w, int32_t id)
{
    const eddy_node       *node = w->graph->nodes[id];
    const eddy_loop_attrs *a = node->op->flags & EDDY_OP_LOOP ? node->attrs : NULL;
    bool                   in[2] = { false, false };
    w->uncompiled[id] = 1;
    for (int64_t k = 0; a && k < a->n_stacked; k++)
        w->rows[w->first[id] + a->n_carried + k] = true;
    if (eddy__walk_has_body(node)) return;
    for (int i = 0; i < node->n_inputs; i++)
        if (is_rows(w, node->inputs[i])) in[i > 0] = true;
    w->rows[w->first[id]] = eddy__yields_rows(node, in);
}

/* Marks the nodes that run uncompiled; true if any does. */
static bool find_uncompiled(stage_walk *w)
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
            if (w->uncompiled[id]) continue;
            if (!shares_run_with_uncompiled(w, node) && !reads_rows(w, node)) continue;
            set_alone(w, id);
            again = true;
        }
    }
    return any;
}

/* The node needs the value or the type of input i. */
static bool needs_input(const stage_walk *w, int32_t id, int i)
{
    return !w->uncompiled[id] || w->takes[id][i];
}

static void mark_output(stage_walk *w, eddy_tensor t, uint8_t how)
{
    if (w->uncompiled[t.node] && !eddy__walk_is_fed(w, t))
        w->read[w->first[t.node] + t.output] |= how;
}

/* All readers of the node are known. */
static bool find_needed_inputs(stage_walk *w, eddy_arena *scratch, const eddy_node *node)
{
    uint8_t *takes = eddy__arena_alloc(scratch, (size_t)node->n_inputs + 1);
    w->takes[node->id] = takes;
    if (!takes) return eddy__stages_full(w->scratch.error);
    memset(takes, !eddy__walk_has_body(node), (size_t)node->n_inputs + 1);
    return !eddy__walk_has_body(node) ||
           eddy__body_inputs(&w->scratch, scratch, node, false, &w->read[w->first[node->id]],
                             takes);
}

static bool mark_inputs(stage_walk *w, eddy_arena *scratch, const eddy_node *node)
{
    if (w->uncompiled[node->id] && !find_needed_inputs(w, scratch, node)) return false;
    for (int i = 0; i < node->n_inputs; i++) {
        const eddy_tensor x = node->inputs[i];
        const bool rows = w->uncompiled[node->id] && is_rows(w, x) &&
                          (!eddy__walk_has_body(node) || is_sliced(node, i));
        if (eddy__walk_is_fed(w, x) || !needs_input(w, node->id, i)) continue;
        w->needed[x.node] = 1;
        mark_output(w, x, rows ? READ_ROWS : READ_ARRAY);
    }
    for (int i = 0; i < node->n_controls; i++) w->needed[node->controls[i]] = 1;
    return true;
}

static bool mark_needed(stage_walk *w, eddy_arena *scratch, eddy_list fetches)
{
    for (int i = 0; i < w->feeds.count; i++) w->fed[w->feeds.at[i].tensor.node] = 1;
    for (int i = 0; i < w->sizes.count; i++)
        if (w->sizes.at[i].output >= 0 && !eddy__walk_is_fed(w, w->sizes.at[i]))
            w->size[w->sizes.at[i].node] = 1;
    find_uncompiled(w);
    for (int i = 0; i < fetches.count; i++) {
        if (eddy__walk_is_fed(w, fetches.at[i])) continue;
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

static void raise_level(const stage_walk *w, int32_t id, int32_t from)
{
    const int32_t behind = w->level[from] + eddy__walk_is_dynamic(w, from);
    if (behind > w->level[id]) w->level[id] = behind;
    if (!w->effect[id]) w->effect[id] = w->effect[from];
}

/* The last update in the run that the node, which reads the value between two updates, waits for;
 * 0: none. */
static int32_t update_before(const stage_walk *w, const eddy_node *node)
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

/* Whether the operation may not run once for a shape and again for the results. */
static bool acts(const eddy_op_def *op)
{
    return (op->flags & EDDY_OP_SIDE_EFFECT) && !(op->flags & EDDY_OP_ASSERTS);
}

/* Returns the number of levels that dynamic nodes have. */
static int32_t find_levels(stage_walk *w)
{
    int32_t levels = 0;
    for (int32_t id = 1; id <= w->last; id++) {
        const eddy_node *node = w->graph->nodes[id];
        if (!w->needed[id]) continue;
        w->effect[id] = acts(node->op) ? id : update_before(w, node);
        for (int i = 0; i < node->n_inputs; i++)
            if (!eddy__walk_is_fed(w, node->inputs[i]) && needs_input(w, id, i))
                raise_level(w, id, node->inputs[i].node);
        for (int i = 0; i < node->n_controls; i++) raise_level(w, id, node->controls[i]);
        if (eddy__walk_is_dynamic(w, id) && w->level[id] >= levels) levels = w->level[id] + 1;
    }
    return levels;
}

/* How a later stage gets a tensor: it must be COMPUTED; it is a LEAF, fed or a variable; or it is a
 * CONSTANT, the same in any plan. */
enum { COMPUTED, LEAF, CONSTANT };

static uint8_t kind_of(const stage_walk *w, const eddy_node *node)
{
    if (w->uncompiled[node->id]) return COMPUTED;
    if (node->op->flags & EDDY_OP_CONSTANT) return CONSTANT;
    if (node->op->flags & (EDDY_OP_PLACEHOLDER | EDDY_OP_VARIABLE)) return LEAF;
    if ((node->op->flags & EDDY_OP_STATEFUL) || node->n_inputs == 0) return COMPUTED;
    for (int i = 0; i < node->n_inputs; i++)
        if (!eddy__input_is_in(node->op->shape_inputs, i) &&
            (eddy__walk_is_fed(w, node->inputs[i]) || w->given[node->inputs[i].node] != CONSTANT))
            return COMPUTED;
    return CONSTANT;
}

/* The stage of a node is the first that computes it. */
static void find_stages(stage_walk *w, int32_t levels)
{
    for (int32_t id = 1; id <= w->last; id++)
        w->given[id] = kind_of(w, w->graph->nodes[id]);
    for (int32_t level = 0; level < levels; level++)
        for (int32_t id = w->last; id >= 1; id--) {
            const eddy_node *node = w->graph->nodes[id];
            if (!w->needed[id]) continue;
            if (eddy__walk_is_dynamic(w, id) && w->level[id] == level) w->stage[id] = level + 1;
            for (int i = 0; w->stage[id] == level + 1 && i < node->n_inputs; i++) {
                const eddy_tensor x = node->inputs[i];
                if (!eddy__walk_is_fed(w, x) && needs_input(w, id, i) && !w->given[x.node] &&
                    w->stage[x.node] == 0)
                    w->stage[x.node] = level + 1;
            }
        }
}

/* A value that one stage computes and a later one reads is computed once, because another plan
 * might compute other last bits than those that determined a shape. */
static void mark_crossing(stage_walk *w, eddy_tensor x, int32_t reader)
{
    if (w->stage[x.node] > 0 && (reader == 0 || reader > w->stage[x.node]) &&
        !eddy__walk_is_fed(w, x))
        w->crosses[w->first[x.node] + x.output] = 1;
}

static void find_crossing(stage_walk *w, eddy_list fetches)
{
    for (int i = 0; i < fetches.count; i++)
        if (eddy_outputs_of(fetches.at[i]) > 0) mark_crossing(w, fetches.at[i], 0);
    for (int32_t id = 1; id <= w->last; id++) {
        const eddy_node *node = w->graph->nodes[id];
        for (int i = 0; w->needed[id] && i < node->n_inputs; i++)
            if (w->uncompiled[id] ? w->takes[id][i] : !eddy__input_is_in(node->op->shape_inputs, i))
                mark_crossing(w, node->inputs[i], w->uncompiled[id] ? 0 : w->stage[id]);
    }
}

/* Numbers the outputs of all nodes. Returns how many there are. */
static int32_t number_outputs(stage_walk *w)
{
    int32_t n = 0;
    for (int32_t id = 1; id <= w->last; id++) {
        w->first[id] = n;
        n += w->graph->nodes[id]->n_outputs;
    }
    return n;
}


bool eddy__walk_graph(stage_walk *w, eddy_arena *scratch, eddy_list fetches, eddy_error *error)
{
    const int64_t n = (int64_t)w->last + 1;
    w->needed = eddy__stages_zeroed(scratch, n, sizeof *w->needed);
    w->fed = eddy__stages_zeroed(scratch, n, sizeof *w->fed);
    w->level = eddy__stages_zeroed(scratch, n, sizeof *w->level);
    w->effect = eddy__stages_zeroed(scratch, n, sizeof *w->effect);
    w->given = eddy__stages_zeroed(scratch, n, sizeof *w->given);
    w->first = eddy__stages_zeroed(scratch, n, sizeof *w->first);
    w->stage = eddy__stages_zeroed(scratch, n, sizeof *w->stage);
    w->size = eddy__stages_zeroed(scratch, n, sizeof *w->size);
    w->uncompiled = eddy__stages_zeroed(scratch, n, sizeof *w->uncompiled);
    w->takes = eddy__stages_zeroed(scratch, n, sizeof *w->takes);
    if (!w->uncompiled || !w->takes || !w->size || !w->needed || !w->fed || !w->level ||
        !w->effect || !w->given || !w->first || !w->stage)
        return eddy__stages_full(error);
    w->outputs = number_outputs(w);
    w->crosses = eddy__stages_zeroed(scratch, w->outputs, sizeof *w->crosses);
    w->read = eddy__stages_zeroed(scratch, w->outputs, sizeof *w->read);
    w->rows = eddy__stages_zeroed(scratch, w->outputs, sizeof *w->rows);
    if (!w->rows || !w->crosses || !w->read) return eddy__stages_full(error);
    if (!mark_needed(w, scratch, fetches)) return false;
    w->levels = find_levels(w);
    find_stages(w, w->levels);
    find_crossing(w, fetches);
    return true;
}
