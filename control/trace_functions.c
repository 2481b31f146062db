/* trace_functions.c -- calls the functions of users that become bodies of loops and branches. */
#include "control/trace_functions.h"
#include "ops/ops.h"

#include <stdio.h>
#include <string.h>

const char *eddy__trace_scope(const eddy_graph *g, char *text, size_t size)
{
    const char  *scope = g->n_scopes > 0 ? g->scopes[g->n_scopes - 1] : "";
    const size_t n = strlen(scope);
    snprintf(text, size, "%.*s", n > 0 ? (int)n - 1 : 0, scope);
    return text;
}

int eddy__trace_call(trace *t, const eddy_function *f, const char *role, int n,
                     const eddy_tensor *args)
{
    eddy_graph *g = t->graph;
    const char *name = f->name ? f->name : role;
    char        scope[200];
    eddy__trace_scope(g, scope, sizeof scope);
    for (int k = 0; k < EDDY_MAX_RESULTS; k++) t->y[k] = eddy_none(g);
    if (!f->build) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %.200s has no build function [scope '%s']",
                  t->what, name, scope);
        return 0;
    }
    const int m = f->build((eddy_list){ n, args }, t->y, f->context);
    if (!eddy__graph_ready(g)) return 0;
    if (m <= 0 || m > EDDY_MAX_RESULTS) {
        eddy_fail(g, m > EDDY_MAX_RESULTS ? EDDY_LIMIT : EDDY_INVALID_ARGUMENT,
                  "%s: the number of results of %.200s is %d; expected 1 to %d [scope '%s']",
                  t->what, name, m, EDDY_MAX_RESULTS, scope);
        return 0;
    }
    for (int k = 0; k < m; k++) {
        if (t->y[k].graph == g && eddy_outputs_of(t->y[k]) > 0) continue;
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "%s: result %d of %.200s is not a tensor of the graph [scope '%s']", t->what, k,
                  name, scope);
        return 0;
    }
    return m;
}

/* An operation that acts or draws does so in every run of its body. */
static bool body_acts(const eddy_graph *body)
{
    for (int32_t id = 1; id <= body->size; id++) {
        const eddy_node *node = body->nodes[id];
        if ((node->op->flags & EDDY_OP_BODY) && body_acts(eddy__body_of(node))) return true;
        if (node->op->flags & EDDY_OP_PLACEHOLDER) continue;
        if (node->op->flags & (EDDY_OP_STATEFUL | EDDY_OP_SIDE_EFFECT)) return true;
    }
    return false;
}

bool eddy__trace_repeats(const eddy_node *node)
{
    const unsigned given = EDDY_OP_VARIABLE | EDDY_OP_PLACEHOLDER;
    if (node->op->flags & EDDY_OP_BODY) return body_acts(eddy__body_of(node));
    return !(node->op->flags & given) &&
           (node->op->flags & (EDDY_OP_STATEFUL | EDDY_OP_SIDE_EFFECT));
}

bool eddy__trace_acts(const eddy_graph *g, int32_t id)
{
    const eddy_node *node = g->nodes[id];
    if (node->traced) return false;
    if (node->op->flags & EDDY_OP_BODY) return eddy__body_acts(node);
    return (node->op->flags & EDDY_OP_SIDE_EFFECT) &&
           !eddy_collection_has(g, EDDY_INITIALIZERS,
                                eddy__tensor_at((eddy_graph *)(uintptr_t)g, id, 0));
}

void eddy__trace_mark(const trace *t, const extraction *e)
{
    for (int32_t id = t->first; id <= e->size; id++)
        if (e->needed[id]) t->graph->nodes[id]->traced = true;
}

eddy_type eddy__row_type(eddy_tensor x)
{
    eddy_type t = { eddy_dtype_of(x), eddy_shape_of(x) };
    if (t.shape.rank <= 0) return t;
    for (int d = 1; d < t.shape.rank; d++) t.shape.dim[d - 1] = t.shape.dim[d];
    t.shape.rank--;
    return t;
}
