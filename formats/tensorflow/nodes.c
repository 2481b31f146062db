/* nodes.c -- the nodes that a value depends on, in order: finds the operator of each, builds it,
 * and says why it cannot be built. */
#include "reader.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool eddy__tf_error(tf_reader *r, eddy_status s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    eddy__reading_error(&r->base, s, format, args);
    va_end(args);
    return false;
}

/* ---------------------------------------------------------------- entries -- */

static bool add_entry(tf_reader *r, const tf_build *b, const char *place)
{
    const eddy_model_entry e = { .op = b->node->op, .domain = "", .place = place,
                                 .offset = b->node->offset, .support = b->support,
                                 .reason = b->reason ? b->reason : "" };
    return eddy__report_add(&r->base.entries, e) || eddy__reading_no_memory(&r->base);
}

/* -------------------------------------------------------------------- node -- */

/* The values of the data inputs. */
static bool find_inputs(tf_build *b, bool *unknown)
{
    b->in = eddy__region_take(b->memory, b->node->n_inputs, sizeof *b->in);
    if (!b->in) return eddy__reading_no_memory(&b->reader->base);
    for (size_t i = 0; i < b->node->n_inputs; i++) {
        const char *input = b->node->inputs[i];
        if (input[0] == '^') continue;
        tf_value *v = eddy__tf_lookup(b->scope, input);
        if (!v) return eddy__tf_invalid(b, "input '%.200s' is not defined", input);
        b->in[b->n_in++] = v;
        *unknown = *unknown || v->unknown;
    }
    return true;
}

/* Errors of builders. Without memory, what an operator says of its tensors is wrong. */
static bool check_graph(tf_build *b)
{
    const eddy_status status = eddy_graph_status(b->graph);
    if (status == EDDY_OK) return true;
    if (!b->reason || status == EDDY_NO_MEMORY) {
        b->reason = eddy__region_print(b->memory, "%s", eddy_graph_message(b->graph));
        b->status = status;
        b->support = EDDY_MODEL_MISSING;
    }
    if (!b->reason) b->reason = "out of memory";
    return false;
}

static bool is_random(const tf_build *b)
{
    return strstr(b->node->op, "Random") || strcmp(b->node->op, "TruncatedNormal") == 0;
}

static void mark_constants(tf_build *b)
{
    bool constant = !is_random(b);
    for (int i = 0; i < b->n_in; i++)
        constant = constant && b->in[i]->kind == TF_VALUE && b->in[i]->constant;
    for (int i = 0; i < b->n_out; i++)
        if (b->out[i]->kind == TF_VALUE &&
            (constant || eddy_constant_value(b->out[i]->t)))
            b->out[i]->constant = true;
}

static bool call_row(tf_build *b)
{
    if (b->op->build) return b->op->build(b);
    if (b->op->one) return eddy__tf_put(b, 0, b->op->one(eddy__tf_in(b, 0)));
    const eddy_tensor x = eddy__tf_in(b, 0), y = eddy__tf_in(b, 1);
    return eddy__tf_put(b, 0, b->op->two(x, y));
}

/* Weights and inputs, which have the name of the node; others get a scope of that name. */
static bool names_itself(const char *op)
{
    static const char *const ops[] = { "Const", "Placeholder", "PlaceholderV2", "VarHandleOp",
                                       "PlaceholderWithDefault", "Variable", "VariableV2" };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(op, ops[i]) == 0) return true;
    return false;
}

/* Operators that are built with the loop or branch around them. */
static bool is_of_control(const char *op)
{
    return strcmp(op, "Switch") == 0 || strcmp(op, "NextIteration") == 0;
}

static void build(tf_build *b)
{
    tf_reader    *r = b->reader;
    const int32_t before = eddy_graph_size(r->base.graph);
    if (!b->op) {
        eddy__tf_missing(b, is_of_control(b->node->op) ? "a %s outside of loops and branches"
                                                       : "operator %s is not known", b->node->op);
        return;
    }
    const bool scoped = !names_itself(b->node->op);
    if (scoped) eddy_scope_begin(r->base.graph, eddy__name_clean(&r->base.memory, b->node->name));
    const bool ok = call_row(b) && !b->reason;
    if (scoped) eddy_scope_end(r->base.graph);
    if (!check_graph(b)) return;
    if (!ok) {
        eddy__tf_missing(b, "it cannot be built");
        return;
    }
    b->support = eddy_graph_size(r->base.graph) - before > 1 ? EDDY_MODEL_COMPOSED
                                                        : EDDY_MODEL_NATIVE;
    mark_constants(b);
    eddy__tf_propagate(b);
}

static bool one_node(tf_reader *r, tf_scope *s, size_t index)
{
    const tf_node *n = &s->graph->nodes[index];
    tf_build       b = { .reader = r,
                         .scope = s,
                         .graph = r->base.graph,
                         .memory = &r->base.memory,
                         .node = n,
                         .support = EDDY_MODEL_UNKNOWN,
                         .op = eddy__tf_find(n->op) };
    bool unknown = false;
    if (++r->base.nodes > TF_MAX_NODES) return eddy__tf_error(r, EDDY_LIMIT, "too many nodes");
    const bool own_order = b.op && b.op->variant == TF_OWN_ORDER;
    if ((own_order || find_inputs(&b, &unknown)) && !unknown) build(&b);
    if (unknown && !b.reason) b.reason = "it depends on a node that cannot be built";
    if (r->base.failed) return false;
    const char *place = b.reason || r->base.reporting
        ? eddy__region_print(&r->base.memory, "%snode '%.200s'", s->place, n->name) : "";
    if (!place) return eddy__reading_no_memory(&r->base);
    if (b.reason) {
        if (b.status == EDDY_OK) b.status = EDDY_UNIMPLEMENTED;
        if (!r->base.reporting || b.status == EDDY_NO_MEMORY)
            return eddy__tf_error(r, b.status, "%s (%.100s): %s", place, n->op, b.reason);
        eddy_graph_clear_error(r->base.graph);
    }
    if (r->base.reporting && !add_entry(r, &b, place)) return false;
    tf_slot *slot = &s->slots[index];
    *slot = (tf_slot){ TF_DONE, b.out, b.n_out };
    if (!b.reason) return true;
    tf_value **out = eddy__region_take(&r->base.memory, EDDY_MAX_RESULTS, sizeof *out);
    tf_value  *none = eddy__tf_new_value(&b, TF_VALUE);
    if (!out || !none) return eddy__reading_no_memory(&r->base);
    none->unknown = true;
    for (int i = 0; i < EDDY_MAX_RESULTS; i++) out[i] = none;
    slot->out = out;
    slot->n_out = EDDY_MAX_RESULTS;
    return true;
}

/* ------------------------------------------------------------------- order -- */

typedef struct visit {
    int32_t node;
    size_t  next;               /* input to look at */
} visit;

static bool is_done(const tf_scope *s, int32_t node)
{
    for (; s; s = s->outer)
        if (s->slots[node].progress == TF_DONE) return true;
    return false;
}

/* The next node that an input of v needs; -1: none. */
static int32_t next_needed(const tf_scope *s, visit *v)
{
    const tf_node     *n = &s->graph->nodes[v->node];
    const tf_operator *op = eddy__tf_find(n->op);
    int                output;
    while (!(op && op->variant == TF_OWN_ORDER) && v->next < n->n_inputs) {
        const char *input = n->inputs[v->next++];
        if (input[0] == '^') continue;
        const int32_t at = eddy__tf_resolve(s, input, &output);
        if (at > 0 && !is_done(s, at - 1)) return at - 1;
    }
    return -1;
}

/* Depth first, with a stack of its own: graphs are deep. */
static bool need(tf_reader *r, tf_scope *s, int32_t node)
{
    if (is_done(s, node)) return true;
    visit *stack = malloc(s->graph->n_nodes * sizeof *stack);
    size_t top = 0;
    if (!stack) return eddy__reading_no_memory(&r->base);
    if (s->slots[node].progress == TF_OPEN)
        eddy__tf_error(r, EDDY_INVALID_ARGUMENT, "%snode '%.300s' depends on itself", s->place,
                       s->graph->nodes[node].name);
    else stack[top++] = (visit){ node, 0 };
    s->slots[node].progress = TF_OPEN;
    while (top && !r->base.failed) {
        const int32_t next = next_needed(s, &stack[top - 1]);
        if (next < 0) {
            one_node(r, s, (size_t)stack[--top].node);
        } else if (s->slots[next].progress == TF_OPEN) {
            eddy__tf_error(r, EDDY_INVALID_ARGUMENT, "%snode '%.300s' depends on itself", s->place,
                           s->graph->nodes[next].name);
        } else {
            s->slots[next].progress = TF_OPEN;
            stack[top++] = (visit){ next, 0 };
        }
    }
    free(stack);
    return !r->base.failed;
}

tf_value *eddy__tf_value_of(tf_reader *r, tf_scope *s, const char *input)
{
    int           output;
    const int32_t at = eddy__tf_resolve(s, input, &output);
    if (at > 0 && !need(r, s, at - 1)) return NULL;
    tf_value *v = eddy__tf_lookup(s, input);
    if (!v)
        eddy__tf_error(r, EDDY_INVALID_ARGUMENT, "%sthere is no value '%.300s'", s->place, input);
    return v;
}

/* --------------------------------------------------------------- functions -- */

bool eddy__tf_call(tf_build *b, const tf_graph *g, const char *what, tf_value *const *in,
                   tf_value **out)
{
    tf_reader *r = b->reader;
    if (b->scope->depth >= TF_MAX_DEPTH)
        return eddy__tf_missing(b, "functions are nested too deeply");
    const char *place = eddy__region_print(&r->base.memory, "%.300snode '%.100s' %s ",
                                           b->scope->place, b->node->name, what);
    tf_scope   *s = eddy__tf_scope(r, g, place, b->scope->depth + 1);
    if (!s) return false;
    s->args = eddy__region_take(&r->base.memory, g->n_args, sizeof *s->args);
    if (!s->args) return eddy__reading_no_memory(&r->base);
    for (size_t i = 0; i < g->n_args; i++) s->args[i] = in[i];
    for (size_t i = 0; i < g->n_results; i++) {
        out[i] = eddy__tf_value_of(r, s, g->results[i]);
        if (!out[i]) return false;
        if (out[i]->unknown) return eddy__tf_missing(b, "a node of the %s cannot be built", what);
    }
    return true;
}
