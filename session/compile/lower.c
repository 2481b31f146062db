/* lower.c -- lowering: builds the IR of a plan from the live part of the user's graph, and
 * resolves everything that depends on the graph as a whole. */
#include "session/compile/lower.h"
#include "session/compile/program.h"
#include "build/gen/table.h"
#include "session/state/watches.h"

#include <string.h>

typedef struct lowering {
    compile  *c;
    ir_graph *ir;
    int32_t  *node;             /* by node id: its id in the IR; 0: none */
    int32_t  *constant;         /* by node id: the IR id of its folded value; 0: none */
    int32_t  *feed;             /* by feed: its IR id; 0: none */
    int32_t  *last_update;      /* by variable: IR id of its last update so far; 0: none */
} lowering;

static ir_node *new_node(lowering *l, const eddy_op_def *op, const eddy_node *source)
{
    ir_node *n = eddy__ir_alloc(l->c, 1, sizeof *n);
    if (n) *n = (ir_node){ .op = op, .source = source, .feed = -1, .variable = -1 };
    return n;
}

static int32_t append(lowering *l, ir_node *n, bool merge)
{
    l->ir->merge = merge;       /* constants and types, which equal no other nodes */
    n = n ? eddy__ir_append(l->ir, n) : NULL;
    return n ? n->id : 0;
}

static int32_t feed_node(lowering *l, int feed, const eddy_node *source)
{
    if (l->feed[feed]) return l->feed[feed];
    ir_node *n = new_node(l, &eddy_op_fed, source);
    if (!n) return 0;
    n->outputs = &l->c->plan->feeds[feed].type;
    n->n_outputs = 1;
    n->feed = feed;
    return l->feed[feed] = append(l, n, false);
}

static int32_t constant_node(lowering *l, const eddy_node *source)
{
    int32_t *known = &l->constant[source->id];
    if (*known) return *known;
    ir_node *n = new_node(l, source->op, source);
    if (!n) return 0;
    n->outputs = l->c->info[source->id].types;
    n->values = l->c->info[source->id].folded;
    n->n_outputs = source->n_outputs;
    return *known = append(l, n, true);
}

/* The tensor that a reader of t gets; number 0 if memory is out. */
static eddy_tensor value_of(lowering *l, eddy_tensor t)
{
    const compile   *c = l->c;
    const eddy_node *node = c->graph->nodes[t.node];
    const int        feed = eddy__feed_of(c, t);
    if (feed >= 0) return eddy__ir_tensor(feed_node(l, feed, node), 0);
    if (is_folded(c, t.node)) return eddy__ir_tensor(constant_node(l, node), t.output);
    if (c->plain_read[t.node])
        return eddy__ir_tensor(l->node[node->inputs[0].node], BEFORE_RUN);
    if (eddy__has_body(node)) {
        const body_use *use = c->bodies[t.node];
        return eddy__ir_tensor(l->node[use->leader], use->output[t.output]);
    }
    return eddy__ir_tensor(l->node[t.node], t.output);
}

/* An input of which only the type matters. */
static eddy_tensor type_of(lowering *l, eddy_tensor t)
{
    ir_node *n = new_node(l, &eddy_op_type_only, l->c->graph->nodes[t.node]);
    eddy_type *type = eddy__ir_alloc(l->c, 1, sizeof *type);
    if (!n || !type) return EDDY_NO_TENSOR;
    *type = eddy__concrete_type(l->c, t);
    n->outputs = type;
    n->n_outputs = 1;
    return eddy__ir_tensor(append(l, n, true), 0);
}

static void add_control(ir_node *n, int32_t id)
{
    enum { MAX_SEARCH = 64 };       /* duplicates are harmless; a full search is quadratic */
    for (int i = n->n_controls - 1; i >= 0 && i >= n->n_controls - MAX_SEARCH; i--)
        if (n->controls[i] == id) return;
    if (id > 0) n->controls[n->n_controls++] = id;
}

/* True if the reader of input i may wait for another node than the one that computes it. */
static bool may_wait(const compile *c, const eddy_node *node, int i)
{
    return c->info[node->inputs[i].node].effect || by_reference(node->op, i) ||
           c->reads_now[node->id];
}

/* The nodes for which the node waits, besides its inputs. Has room for those of its inputs. */
static bool lower_controls(lowering *l, const eddy_node *node, ir_node *n)
{
    const compile *c = l->c;
    size_t         most = (size_t)node->n_controls;
    for (int i = 0; i < node->n_inputs; i++) most += may_wait(c, node, i);
    if (most == 0) return true;
    n->controls = eddy__ir_alloc(l->c, most, sizeof *n->controls);
    if (!n->controls) return false;
    for (int i = 0; i < node->n_controls; i++) {
        if (c->info[node->controls[i]].live) add_control(n, l->node[node->controls[i]]);
    }
    return true;
}

/* For a node without a value for which others wait: the nodes for which it waits. */
static bool lower_waiting(lowering *l, const eddy_node *node)
{
    ir_node *n = new_node(l, &eddy_op_no_op, node);
    if (!n || !lower_controls(l, node, n)) return false;
    for (int i = 0; i < node->n_inputs; i++)
        if (l->c->info[node->inputs[i].node].effect && l->node[node->inputs[i].node] > 0)
            add_control(n, l->node[node->inputs[i].node]);
    if (n->n_controls == 0) return true;
    n->effect = l->c->info[node->id].effect;
    l->node[node->id] = append(l, n, false);
    return l->node[node->id] > 0;
}

static bool lower_input(lowering *l, const eddy_node *node, ir_node *n, int i)
{
    const compile    *c = l->c;
    const eddy_tensor t = node->inputs[i];
    const bool        now = c->reads_now[node->id] && c->reads_now[node->id][i];
    if (by_reference(node->op, i) || now) {
        n->inputs[i] = eddy__ir_tensor(l->node[t.node], STORAGE);
        add_control(n, l->last_update[c->variable_of[t.node]]);
        return true;
    }
    const bool unread = eddy__has_body(node) && !c->bodies[node->id]->program->takes[i];
    n->inputs[i] = unread || type_only(node->op, i) ? type_of(l, t) : value_of(l, t);
    /* a node that waits for an update although its value exists before makes its readers wait */
    if (c->info[t.node].effect && c->info[t.node].live && n->inputs[i].node != l->node[t.node])
        add_control(n, l->node[t.node]);
    return n->inputs[i].node > 0;
}

static bool lower_executed(lowering *l, const eddy_node *node)
{
    compile *c = l->c;
    ir_node *n = new_node(l, node->op, node);
    if (!n || !lower_controls(l, node, n)) return false;
    n->attrs = node->attrs;
    n->outputs = c->info[node->id].types;
    n->n_outputs = node->n_outputs;
    if (eddy__has_body(node)) {
        n->program = c->bodies[node->id]->program;
        n->outputs = n->program->outputs;
        n->n_outputs = n->program->n_outputs;
    }
    n->alias = c->info[node->id].alias;
    n->kept = eddy__acts(c, node);
    /* A watch in a body is called in the thread of the run. */
    n->effect = c->info[node->id].effect ||
                (eddy__has_body(node) && eddy__watches_bodies(c->session));
    n->variable = c->variable_of[node->id];
    n->n_inputs = node->n_inputs;
    n->inputs = eddy__ir_alloc(c, (size_t)node->n_inputs, sizeof *n->inputs);
    if (!n->inputs) return false;
    for (int i = 0; i < node->n_inputs; i++)
        if (!lower_input(l, node, n, i)) return false;
    if (!eddy__ir_find_parts(l->ir, n)) return false;
    const int32_t id = l->node[node->id] = append(l, n, false);
    if (node->op->flags & EDDY_OP_UPDATES)
        l->last_update[c->variable_of[node->inputs[0].node]] = id;
    return id > 0;
}

static bool lower_node(lowering *l, const eddy_node *node)
{
    compile   *c = l->c;
    const bool fed =
        node->n_outputs == 1 && eddy__feed_of(c, eddy__tensor_at(c->graph, node->id, 0)) >= 0;
    if (c->plain_read[node->id]) {
        ir_node *variable = l->ir->nodes[l->node[node->inputs[0].node]];
        variable->must_read = variable->kept = true;
        return lower_waiting(l, node);
    }
    if (eddy__has_body(node) && c->bodies[node->id]->leader != node->id)
        return lower_waiting(l, node);
    if (is_folded(c, node->id) || (fed && (node->op->flags & EDDY_OP_PLACEHOLDER)) ||
        (fed && c->info[node->id].alias))
        return lower_waiting(l, node);
    return lower_executed(l, node);
}

/* A call of the watch with t, in the body of a loop also with the iteration, its first argument. */
static bool lower_watch(lowering *l, const watch *w, const eddy_node *node, eddy_tensor t)
{
    compile *c = l->c;
    ir_node *n = new_node(l, &eddy_op_watch, node);
    if (!n) return false;
    n->attrs = w;
    n->kept = n->effect = true;
    n->n_inputs = 1 + c->iterates;
    n->inputs = eddy__ir_alloc(c, 2, sizeof *n->inputs);
    if (!n->inputs) return false;
    n->inputs[0] = value_of(l, t);
    if (c->iterates) n->inputs[1] = eddy__ir_tensor(feed_node(l, 0, c->graph->nodes[1]), 0);
    for (int i = 0; i < n->n_inputs; i++)
        if (n->inputs[i].node == 0) return false;
    return append(l, n, false);
}

/* Calls the watches of the node's outputs, as far as the run has their values. */
static bool lower_watches(lowering *l, const eddy_node *node)
{
    compile *c = l->c;
    if (c->quiet || (c->part && strcmp(c->part, "condition") == 0)) return true;
    for (const watch *w = c->session->watches; w; w = w->next) {
        if (!eddy__is_watched(w, c->graph, node)) continue;
        const eddy_tensor t = eddy__tensor_at(c->graph, node->id, w->tensor.output);
        const bool        given = eddy__feed_of(c, t) >= 0 || is_folded(c, t.node);
        const bool        computed = l->node[t.node] > 0 &&
                              (!eddy__has_body(node) || c->bodies[t.node]->output[t.output] >= 0);
        if ((given || computed) && !lower_watch(l, w, node, t)) return false;
    }
    return true;
}

bool eddy__lower(compile *c)
{
    const size_t n = (size_t)c->size + 1;
    eddy__mark_live(c);
    if (!eddy__check_live(c) || !eddy__number_variables(c) || !eddy__order_reads(c)) return false;
    lowering l = { .c = c,
                   .ir = c->ir = eddy__ir_new(c, c->plan->info.nodes),
                   .node = eddy__stage_alloc(c, n, sizeof *l.node),
                   .constant = eddy__stage_alloc(c, n, sizeof *l.constant),
                   .feed = eddy__stage_alloc(c, (size_t)c->plan->n_feeds, sizeof *l.feed),
                   .last_update =
                       eddy__stage_alloc(c, (size_t)c->plan->n_variables, sizeof *l.last_update) };
    if (!l.ir || !l.node || !l.constant || !l.feed || !l.last_update) return false;
    l.ir->distinct = true;
    for (int32_t id = 1; id <= c->size; id++)
        if ((c->info[id].live && !lower_node(&l, c->graph->nodes[id])) ||
            ((c->info[id].needed || c->info[id].fed) && !lower_watches(&l, c->graph->nodes[id])))
            return false;
    for (int i = 0; i < c->plan->n_fetches; i++) {
        const eddy_tensor t = c->plan->fetches[i];
        const bool        value_needed = c->graph->nodes[t.node]->n_outputs > 0;
        l.ir->fetches[i] = value_needed ? value_of(&l, t) : eddy__ir_tensor(l.node[t.node], 0);
        if (l.ir->fetches[i].node == 0) return false;
    }
    return true;
}
