/* closure.c -- see closure.h. */
#include "control/closure.h"
#include "control/trace_functions.h"
#include "ops/ops.h"
#include "build/gen/table.h"

#include <string.h>

typedef struct call {
    const eddy_function *f;
    closure             *c;
    const char          *what;
    eddy_list            more;
} call;

/* The branch: calls f once and puts the options and the arguments before its results. */
static int call_function(eddy_list x, eddy_tensor *y, void *context)
{
    call        *m = context;
    closure     *c = m->c;
    eddy_graph  *g = c->graph;
    eddy_tensor  args[EDDY_MAX_RESULTS];
    trace        t = { .graph = g, .what = m->what };
    const int    n = x.count + m->more.count;
    memcpy(args, x.at, (size_t)x.count * sizeof *args);
    if (m->more.count > 0)
        memcpy(args + x.count, m->more.at, (size_t)m->more.count * sizeof *args);
    c->n_y = eddy__trace_call(&t, m->f, "the function", n, args);
    if (c->n_y == 0) return 0;
    if (1 + x.count + c->n_y > EDDY_MAX_RESULTS) {
        eddy_fail(g, EDDY_LIMIT, "%s: the number of arguments and results is %d; the limit is %d",
                  m->what, x.count + c->n_y, EDDY_MAX_RESULTS - 1);
        return 0;
    }
    y[0] = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(EDDY_CLOSURE_OPTIONS), c->options);
    memcpy(y + 1, x.at, (size_t)x.count * sizeof *y);
    memcpy(y + 1 + x.count, t.y, (size_t)c->n_y * sizeof *y);
    return 1 + x.count + c->n_y;
}

/* A function that draws or updates variables is another one each time that it is called. */
static bool body_is_pure(const closure *c, const char *what)
{
    if (!(c->node->op->flags & EDDY_OP_CASE)) {
        eddy_fail(c->graph, EDDY_UNIMPLEMENTED, "%s: the function updates a variable", what);
        return false;
    }
    const eddy_graph *body = eddy__body_of(c->node);
    for (int32_t id = 1; id <= body->size; id++) {
        if (!eddy__is_random(body->nodes[id])) continue;
        eddy_fail(c->graph, EDDY_UNIMPLEMENTED,
                  "%s: the function draws random numbers [node '%.200s']", what,
                  body->nodes[id]->name);
        return false;
    }
    return true;
}

bool eddy__closure_begin(closure *c, const char *what, const eddy_function *f, eddy_list x,
                         eddy_list more)
{
    eddy_graph         *g = c->graph;
    eddy_tensor         y[EDDY_MAX_RESULTS];
    call                m = { f, c, what, more };
    const eddy_function branch = { .build = call_function, .context = &m, .name = what };
    c->n_x = x.count;
    c->options[0] = c->n_x;
    if (x.count + more.count > EDDY_MAX_RESULTS) {
        eddy_fail(g, EDDY_LIMIT, "%s: %d arguments; the limit is %d", what, x.count + more.count,
                  EDDY_MAX_RESULTS);
        return false;
    }
    if (eddy__closure_case(g, &branch, x, y) == 0) return false;
    c->node = eddy_node_of(y[0]);
    c->n_captured = c->node->n_inputs - 1 - c->n_x;
    return body_is_pure(c, what);
}

static eddy_tensor body_result(const closure *c, int i)
{
    const eddy_case_attrs *a = c->node->attrs;
    return eddy__body_out(a->body, a->outs, i);
}

/* A graph file may claim anything. */
static bool is_closure(closure *c, const eddy_node *node)
{
    if (!node || !(node->op->flags & EDDY_OP_CASE)) return false;
    const eddy_case_attrs *a = node->attrs;
    c->node = node;
    const eddy_array *options = eddy_constant_value(body_result(c, 0));
    if (a->n_branches != 1 || !options || eddy_array_dtype(options) != EDDY_FLOAT64 ||
        eddy_array_count(options) != EDDY_CLOSURE_OPTIONS)
        return false;
    memcpy(c->options, eddy_array_data(options), sizeof c->options);
    const int    n_args = node->n_inputs - 1, n_results = node->n_outputs - 1;
    const double n_x = c->options[0];
    if (!(n_x >= 1 && n_x <= n_args && n_x < n_results)) return false;
    c->n_x = (int)n_x;
    c->n_captured = n_args - c->n_x;
    c->n_y = n_results - c->n_x;
    return true;
}

bool eddy__closure_of(closure *c, eddy_rule *r, int n_x)
{
    *c = (closure){ .graph = r->graph };
    if (r->n_in > n_x && is_closure(c, eddy_node_of(r->x[r->n_in - 1])) && c->n_x == n_x &&
        n_x + c->n_captured + 1 == r->n_in)
        return true;
    eddy_rule_fail(r, EDDY_INVALID_ARGUMENT, "the function of the node is missing");
    return false;
}

eddy_tensor eddy__closure_tensor(const closure *c)
{
    return eddy__tensor_at(c->graph, c->node->id, 0);
}

eddy_tensor eddy__closure_result(const closure *c, int k)
{
    return eddy__tensor_at(c->graph, c->node->id, 1 + c->n_x + k);
}

eddy_tensor eddy__closure_captured(const closure *c, int i)
{
    return c->node->inputs[1 + c->n_x + i];
}

static bool set_arguments(const closure *c, extraction *e, const eddy_tensor *x,
                          const eddy_tensor *captured)
{
    for (int i = 0; i < c->n_x + c->n_captured; i++) {
        eddy_tensor *image = eddy__extract_room(e, 1, sizeof *image);
        if (!image) return false;
        *image = i < c->n_x ? x[i] : captured ? captured[i - c->n_x]
                                              : eddy__closure_captured(c, i - c->n_x);
        e->images[1 + i] = image;
    }
    return true;
}

bool eddy__closure_build(const closure *c, const eddy_tensor *x, const eddy_tensor *captured,
                         eddy_tensor *y)
{
    const int   first = 1 + c->n_x;
    eddy_graph *body = eddy__body_of(c->node);
    eddy_tensor roots[EDDY_MAX_RESULTS];
    extraction  e;
    for (int k = 0; k < c->n_y; k++) {
        roots[k] = body_result(c, first + k);
        y[k] = eddy_none(c->graph);
    }
    if (!eddy__graph_ready(c->graph)) return false;
    bool ok = eddy__extract_begin_into(&e, body, c->graph) && set_arguments(c, &e, x, captured);
    for (int32_t id = 1; ok && id <= body->size; id++)
        e.copies[id] = body->nodes[id]->op != &eddy_op_argument;
    ok = ok && eddy__extract_find(&e, c->n_y, roots) && eddy__extract_copy(&e);
    for (int k = 0; ok && k < c->n_y; k++) y[k] = eddy__extract_image(&e, roots[k]);
    eddy__arena_free(&e.arena);
    if (!ok && eddy__graph_ready(c->graph))
        eddy_fail(c->graph, EDDY_NO_MEMORY, "out of memory for a function");
    return ok;
}

/* ---------------------------------------------------------- derivatives -- */

bool eddy__linearize(linearized *l, const closure *c, const eddy_tensor *x)
{
    *l = (linearized){ .c = *c, .x = x, .captured = eddy__tensors_new(c->graph, c->n_captured) };
    if (!l->captured) return false;
    for (int i = 0; i < c->n_captured; i++)
        l->captured[i] = eddy_identity(eddy__closure_captured(c, i));
    return eddy__closure_build(c, x, l->captured, l->y);
}

void eddy__linearized_end(linearized *l)
{
    eddy__tensors_free(l->c.graph, l->captured, l->c.n_captured);
}

static bool vjp(const linearized *l, const eddy_tensor *u, int n, const eddy_tensor *x,
                eddy_tensor *dx)
{
    const eddy_list y = { l->c.n_y, l->y }, weights = { l->c.n_y, u };
    return eddy_gradients(y, ((eddy_list){ n, x }), dx, .grad_ys = weights) == EDDY_OK;
}

bool eddy__linearized_vjp(const linearized *l, const eddy_tensor *u, eddy_tensor *dx)
{
    return vjp(l, u, l->c.n_x, l->x, dx);
}

bool eddy__linearized_vjp_captured(const linearized *l, const eddy_tensor *u, eddy_tensor *dx)
{
    return l->c.n_captured == 0 || vjp(l, u, l->c.n_captured, l->captured, dx);
}
