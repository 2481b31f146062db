/* exact_graph.c -- see exact_graph.h: which nodes count, and their evaluation in order. */
#include "tests/hunt/exact_graph.h"
#include "tests/hunt/exact_nodes.h"

#include <stdlib.h>
#include <string.h>

struct exact_graph {
    eddy_graph   *graph;
    eddy_session *session;
    exact_node   *at;             /* by node id */
    int32_t       size;
    eddy_list     in, out;
    int           n_fetches;      /* what Eddy computes: all outputs of nodes that count */
    eddy_tensor  *fetches;
    eddy_array  **values;
};

static bool is_number(eddy_tensor t) { return eddy_dtype_is_differentiable(eddy_dtype_of(t)); }

static int index_of(eddy_list in, int32_t id)
{
    for (int i = 0; i < in.count; i++)
        if (in.at[i].node == id) return i;
    return -1;
}

/* Nodes whose floating-point outputs depend on the inputs through elements, and those needed. */
static void mark(exact_graph *e)
{
    for (int i = 0; i < e->in.count; i++) e->at[e->in.at[i].node].depends = true;
    for (int32_t id = 1; id <= e->size; id++) {
        const eddy_node *n = e->at[id].node;
        for (int i = 0; i < n->n_inputs; i++) {
            const bool of_shape = i < 31 && n->op->shape_inputs >> i & 1;
            const eddy_tensor t = n->inputs[i];
            if (!of_shape && is_number(t) && e->at[t.node].depends) e->at[id].depends = true;
        }
        bool any = false;
        for (int k = 0; k < n->n_outputs; k++)
            any |= eddy_dtype_is_differentiable(n->outputs[k].dtype);
        if (n->op->gradient == eddy_not_differentiable || !any)
            e->at[id].depends = index_of(e->in, id) >= 0;
    }
    for (int i = 0; i < e->out.count; i++) e->at[e->out.at[i].node].needed = true;
    for (int32_t id = e->size; id >= 1; id--) {
        const eddy_node *n = e->at[id].node;
        if (!e->at[id].needed || !e->at[id].depends) continue;
        for (int i = 0; i < n->n_inputs; i++) e->at[n->inputs[i].node].needed = true;
    }
}

static bool is_evaluated(const exact_graph *e, int32_t id)
{
    return e->at[id].needed && e->at[id].depends;
}

/* No more than the first ones of an operation that is not evaluated are of use. */
static int outputs_of(const exact_node *n)
{
    return n->node->n_outputs < EXACT_OUTPUTS ? n->node->n_outputs : EXACT_OUTPUTS;
}

static bool list_fetches(exact_graph *e)
{
    for (int pass = 0; pass < 2; pass++) {
        e->n_fetches = 0;
        for (int32_t id = 1; id <= e->size; id++)
            for (int k = 0; e->at[id].needed && k < outputs_of(&e->at[id]); k++) {
                if (pass == 0) e->n_fetches++;
                else {
                    e->at[id].fetch[k] = e->n_fetches;
                    e->fetches[e->n_fetches++] = eddy_output(eddy_node_at(e->graph, id), k);
                }
            }
        if (pass == 0) {
            e->fetches = calloc((size_t)e->n_fetches + 1, sizeof *e->fetches);
            e->values = calloc((size_t)e->n_fetches + 1, sizeof *e->values);
        }
    }
    return e->fetches && e->values;
}

exact_graph *exact_graph_new(eddy_graph *g, eddy_list in, eddy_list out, const char **missing)
{
    exact_graph *e = calloc(1, sizeof *e);
    *e = (exact_graph){ .graph = g, .in = in, .out = out };
    for (int i = 0; i < out.count; i++)
        if (out.at[i].node > e->size) e->size = out.at[i].node;
    e->at = calloc((size_t)e->size + 1, sizeof *e->at);
    for (int32_t id = 1; id <= e->size; id++)
        e->at[id].node = eddy_node_of(eddy_node_at(g, id));
    mark(e);
    *missing = NULL;
    for (int32_t id = 1; id <= e->size && !*missing; id++) {
        if (!is_evaluated(e, id) || index_of(in, id) >= 0) continue;
        for (int i = 0; i < e->at[id].node->n_inputs; i++)
            if (e->at[id].node->inputs[i].output >= EXACT_OUTPUTS)
                *missing = e->at[id].node->op->name;
        if (*missing) break;
        if (e->at[id].node->n_outputs > EXACT_OUTPUTS || !exact_node_begin(&e->at[id]))
            *missing = e->at[id].node->op->name;
    }
    if (!*missing && list_fetches(e)) {
        e->session = eddy_session_new(g, .threads = 1);
        return e;
    }
    exact_graph_free(e);
    return NULL;
}

bool exact_graph_depends(const exact_graph *e, int k)
{
    return is_evaluated(e, e->out.at[k].node);
}

int exact_graph_operations(const exact_graph *e)
{
    int n = 0;
    for (int32_t id = 1; id <= e->size; id++)
        n += is_evaluated(e, id) && index_of(e->in, id) < 0;
    return n;
}

void exact_graph_free(exact_graph *e)
{
    if (!e) return;
    for (int32_t id = 1; id <= e->size; id++) exact_node_end(&e->at[id]);
    for (int i = 0; i < e->n_fetches; i++) eddy_array_free(e->values[i]);
    eddy_session_free(e->session);
    free(e->fetches);
    free(e->values);
    free(e->at);
    free(e);
}

/* The operands of a node: numbers that change, or arrays of Eddy. */
static exact_operand operand(const exact_graph *e, eddy_tensor t)
{
    const exact_node *from = &e->at[t.node];
    exact_operand     o = { .base = e->values[from->fetch[t.output]] };
    o.shape = eddy_array_shape(o.base);
    o.count = eddy_array_count(o.base);
    o.parts = exact_parts(eddy_array_dtype(o.base));
    o.x = is_evaluated(e, t.node) && is_number(t) ? from->y[t.output] : NULL;
    return o;
}

bool exact_graph_at(exact_graph *e, eddy_array *const *point)
{
    eddy_feed feeds[8];
    for (int i = 0; i < e->in.count; i++) feeds[i] = (eddy_feed){ e->in.at[i], point[i] };
    for (int i = 0; i < e->n_fetches; i++) eddy_array_free(e->values[i]), e->values[i] = NULL;
    if (eddy_run(e->session, (eddy_feeds){ e->in.count, feeds },
                 (eddy_list){ e->n_fetches, e->fetches }, e->values) != EDDY_OK) return false;
    for (int32_t id = 1; id <= e->size; id++) {
        exact_node *n = &e->at[id];
        for (int k = 0; is_evaluated(e, id) && k < n->node->n_outputs; k++) {
            const eddy_array *a = e->values[n->fetch[k]];
            n->shape[k] = eddy_array_shape(a);
            n->base[k] = a;
            n->count[k] = eddy_array_count(a);
            n->parts[k] = exact_parts(eddy_array_dtype(a));
            n->y[k] = realloc(n->y[k], ((size_t)(n->count[k] * n->parts[k]) + 1) *
                                       sizeof *n->y[k]);
        }
    }
    return true;
}

void exact_graph_run(exact_graph *e, const num *const *x)
{
    exact_operand in[EXACT_INPUTS];
    for (int32_t id = 1; id <= e->size; id++) {
        exact_node *n = &e->at[id];
        const int   fed = index_of(e->in, id);
        if (!is_evaluated(e, id)) continue;
        if (fed >= 0) {
            memcpy(n->y[0], x[fed], (size_t)n->count[0] * sizeof *n->y[0]);
            continue;
        }
        for (int i = 0; i < n->node->n_inputs; i++) in[i] = operand(e, n->node->inputs[i]);
        exact_node_run(n, in);
    }
}

const num *exact_graph_output(const exact_graph *e, int k, int64_t *count)
{
    const eddy_tensor t = e->out.at[k];
    const exact_node *n = &e->at[t.node];
    *count = n->count[t.output];
    return n->y[t.output];
}
