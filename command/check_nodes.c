/* check_nodes.c -- each node in a graph of its own, in float64, with its inputs as placeholders. */
#include "command/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The values of all inputs of the nodes that are checked; by node and output. */
typedef struct values {
    int          *first;                /* by node: its first place in `at` */
    eddy_array  **at;
    eddy_tensor  *tensors;              /* those that are fetched */
    int          *places, count;
} values;

static bool differentiable(const eddy_node *node)
{
    bool in = false, out = false;
    for (int32_t i = 0; i < node->n_inputs; i++)
        in |= eddy_dtype_is_differentiable(eddy_dtype_of(node->inputs[i]));
    for (int32_t i = 0; i < node->n_outputs; i++)
        out |= eddy_dtype_is_differentiable(node->outputs[i].dtype);
    return in && out && !node->traced;
}

/* Why a node is not checked alone; NULL if it is. */
static const char *obstacle(const eddy_node *node)
{
    if (node->op->flags & (EDDY_OP_LOOP | EDDY_OP_CASE))
        return "not checked: it has a graph of its own";
    if (node->op->flags & EDDY_OP_STATEFUL) return "not checked: it draws random numbers";
    if (node->op->flags & (EDDY_OP_REFERENCE | EDDY_OP_UPDATES))
        return "not checked: it uses a variable";
    if (node->op->flags & EDDY_OP_UNSAVED) return "not checked: it calls a function";
    if (strcmp(node->op->name, "StopGradient") == 0)
        return "not checked: its gradient is zero by definition";
    return node->gradient ? "not checked: its gradient is registered by a program" : NULL;
}

static bool fetch_inputs(eddy_graph *g, const bool *needed, values *v, eddy_session *s,
                         eddy_feeds feeds)
{
    const int32_t size = eddy_graph_size(g);
    int           n = 0;
    v->first = room((size_t)size + 1, sizeof *v->first);
    for (int32_t id = 1; id <= size; id++) {
        v->first[id] = n;
        n += eddy_outputs_of(eddy_node_at(g, id));
    }
    bool *wanted = room((size_t)n, sizeof *wanted);
    v->at = room((size_t)n, sizeof(eddy_array *));
    v->tensors = room((size_t)n, sizeof *v->tensors);
    v->places = room((size_t)n, sizeof *v->places);
    eddy_array **out = room((size_t)n, sizeof(eddy_array *));
    for (int32_t id = 1; id <= size; id++) {
        const eddy_node *node = eddy_node_of(eddy_node_at(g, id));
        if (!needed[id] || !differentiable(node) || obstacle(node)) continue;
        for (int32_t i = 0; i < node->n_inputs; i++) {
            const int at = v->first[node->inputs[i].node] + node->inputs[i].output;
            if (wanted[at]) continue;
            wanted[at] = true;
            v->places[v->count] = at;
            v->tensors[v->count++] = node->inputs[i];
        }
    }
    const bool fine =
        v->count == 0 || eddy_run(s, feeds, (eddy_list){ v->count, v->tensors }, out) == EDDY_OK;
    for (int i = 0; i < v->count; i++) v->at[v->places[i]] = out[i];
    return fine;
}

static eddy_dtype widened(eddy_dtype d, bool widen)
{
    return !widen                ? d
           : d == EDDY_FLOAT32   ? EDDY_FLOAT64
           : d == EDDY_COMPLEX64 ? EDDY_COMPLEX128
                                 : d;
}

static eddy_array *widened_array(const eddy_array *a, bool widen)
{
    const eddy_dtype is = eddy_array_dtype(a), d = widened(is, widen);
    eddy_array      *b = d == is ? eddy_array_copy(a) : eddy_array_new(d, eddy_array_shape(a));
    for (int64_t i = 0; b && d != is && i < eddy_array_count(a); i++)
        if (eddy_dtype_is_complex(d))
            eddy_array_set_complex(b, i, eddy_array_get(a, i), eddy_array_get_imag(a, i));
        else eddy_array_set(b, i, eddy_array_get(a, i));
    return b;
}

/* Moves each element by a random part, at most `most`, of itself or of 1: away from ties and
 * corners. Inputs with different seeds move apart. */
static void nudge(eddy_array *a, double most, uint32_t seed)
{
    const bool parts = eddy_dtype_is_complex(eddy_array_dtype(a));
    for (int64_t i = 0; i < eddy_array_count(a); i++) {
        seed = seed * 1664525u + 1013904223u;           /* Numerical Recipes, 7.1 */
        const double x = eddy_array_get(a, i), u = (double)(seed >> 8) / (1 << 24);
        const double by = (2 * u - 1) * most * (fabs(x) > 1 ? fabs(x) : 1);
        if (parts) eddy_array_set_complex(a, i, x + by, eddy_array_get_imag(a, i) - by);
        else eddy_array_set(a, i, x + by);
    }
}

/* A copy of the attributes, with the wider types; arrays are kept by the caller of eddy_apply. */
static void *attributes(const eddy_node *node, bool widen)
{
    if (!node->attrs) return NULL;
    char *copy = room(1, node->op->attrs_size);
    memcpy(copy, node->attrs, node->op->attrs_size);
    for (const eddy_attr_field *f = node->op->attrs; f && f->name; f++)
        if (f->kind == EDDY_ATTR_DTYPE) {
            eddy_dtype *d = (eddy_dtype *)(void *)(copy + f->offset);
            *d = widened(*d, widen);
        }
    return copy;
}

/* The node in a graph of its own: differentiable inputs are placeholders, the others constants. */
typedef struct lone_node {
    eddy_graph  *graph;
    eddy_tensor *ys, *xs;
    eddy_feed   *feeds;
    int          n_y, n_x;
} lone_node;

/* How a node is checked: in float64 or in its own type; and how far from its values. */
typedef struct check_way {
    bool   widen;
    double away;
} check_way;

/* Operations of symmetric matrices read one triangle and have gradients for both. They are checked
 * as functions of the symmetric part: a change of one element would contradict the gradient. */
static bool is_of_symmetric(const eddy_node *node)
{
    return strcmp(node->op->name, "Cholesky") == 0 ||
           strcmp(node->op->name, "SelfAdjointEigV2") == 0;
}

static eddy_tensor symmetric_part(eddy_tensor x)
{
    return eddy_mul(eddy_number(x.graph, eddy_dtype_of(x), 0.5), eddy_add(x, eddy_adjoint(x)));
}

static bool isolate(lone_node *l, const eddy_node *node, const values *v, check_way way)
{
    const size_t n = (size_t)node->n_inputs;
    eddy_tensor *in = room(n, sizeof *in);
    *l = (lone_node){ .graph = eddy_graph_new(), .xs = room(n, sizeof *l->xs),
                      .ys = room((size_t)node->n_outputs, sizeof *l->ys),
                      .feeds = room(n, sizeof *l->feeds) };
    for (int32_t i = 0; i < node->n_inputs; i++) {
        const eddy_tensor x = node->inputs[i];
        eddy_array *a = widened_array(v->at[v->first[x.node] + x.output], way.widen);
        if (eddy_dtype_is_differentiable(eddy_dtype_of(x))) {
            if (way.away > 0) nudge(a, way.away, (uint32_t)i * 0x9E3779B9u);
            in[i] = eddy_placeholder(l->graph, "x", eddy_array_dtype(a), eddy_array_shape(a));
            l->feeds[l->n_x] = (eddy_feed){ in[i], a };
            l->xs[l->n_x++] = in[i];
            if (is_of_symmetric(node)) in[i] = symmetric_part(in[i]);
        } else {
            in[i] = eddy_constant(l->graph, a);
            eddy_array_free(a);
        }
    }
    const eddy_tensor y = eddy_apply(node->op, attributes(node, way.widen), node->n_inputs, in,
                                     (eddy_apply_args){ l->graph, "node" });
    for (int i = 0; i < eddy_outputs_of(y); i++)
        if (eddy_dtype_is_differentiable(eddy_dtype_of(eddy_output(y, i))))
            l->ys[l->n_y++] = eddy_output(y, i);
    return eddy_is_valid(y) && l->n_y > 0;
}

static void free_lone(lone_node *l)
{
    feeds_free(l->feeds, l->n_x);
    eddy_graph_free(l->graph);
}

static bool check_in(node_check *c, const eddy_node *node, const values *v, check_way way)
{
    eddy_gradient_report r = { 0 };
    lone_node            l;
    bool                 built = isolate(&l, node, v, way);
    eddy_session        *s = built ? eddy_session_new(l.graph) : NULL;
    const eddy_status    status =
        s ? eddy_gradient_check(s, { l.n_y, l.ys }, { l.n_x, l.xs }, .feeds = { l.n_x, l.feeds },
                                .report = &r) : EDDY_INVALID_ARGUMENT;
    c->dtype = l.n_x > 0 ? eddy_dtype_of(l.xs[0]) : EDDY_DEFAULT_DTYPE;
    c->absolute = r.absolute;
    c->relative = r.relative;
    if (status == EDDY_OK || status == EDDY_CHECK_FAILED) {
        c->result = status == EDDY_OK ? CHECK_AGREES : CHECK_WRONG;
        if (status != EDDY_OK && !isfinite(r.absolute)) {
            c->result = CHECK_SKIPPED;
            c->why = "not checked: a derivative or difference is not finite at these values";
        } else if (status != EDDY_OK && r.text)
            c->why = text("node '%s' (%s): %.*s", node->name, node->op->name,
                          (int)strcspn(r.text, "\n"), r.text);
    } else {
        built = false;
        c->result = status == EDDY_NO_GRADIENT ? CHECK_NONE : CHECK_SKIPPED;
        c->why =
            text("not checked: %s", !s ? eddy_graph_message(l.graph) : eddy_session_message(s));
    }
    eddy_string_free(r.text);
    eddy_session_free(s);
    free_lone(&l);
    return built;
}

/* The same at values nearby, if the gradient is wrong: at a tie or a corner the rule chooses one of
 * the slopes, and differences find another number. */
static void check_nearby(node_check *c, const eddy_node *node, const values *v, bool widen)
{
    if (c->result != CHECK_WRONG) return;
    if (node->op->gradient == eddy_not_differentiable) {
        c->result = CHECK_NONE;
        return;
    }
    node_check nearby = *c;
    check_in(&nearby, node, v, (check_way){ widen, 1.0 / 128 });
    if (nearby.result != CHECK_AGREES) return;
    c->result = CHECK_SKIPPED;
    c->why = "not checked: it has a tie, corner or step at these values; agrees at values nearby";
}

static node_check check_node(const eddy_node *node, const values *v)
{
    node_check c = { .name = node->name, .op = node->op->name };
    bool       widen = true;
    if (!node->op->gradient) c.result = CHECK_NONE;
    else if ((c.why = obstacle(node))) c.result = CHECK_SKIPPED;
    else if (!check_in(&c, node, v, (check_way){ widen, 0 }) && c.result == CHECK_SKIPPED) {
        const char *why = c.why;
        c.why = NULL;
        widen = false;
        if (!check_in(&c, node, v, (check_way){ widen, 0 }) && c.result == CHECK_SKIPPED)
            c.why = why;
    }
    check_nearby(&c, node, v, widen);
    return c;
}

bool nodes_check(const model *m, eddy_session *s, eddy_feeds feeds, node_checks *all)
{
    const int32_t size = eddy_graph_size(m->graph);
    const bool   *needed = needed_nodes(m->graph, m->outputs, m->n_outputs);
    values        v = { 0 };
    const bool    fine = fetch_inputs(m->graph, needed, &v, s, feeds);
    if (!fine) fail(m->path, "%s", eddy_session_message(s));
    all->at = room((size_t)size, sizeof *all->at);
    for (int32_t id = 1; fine && id <= size; id++) {
        const eddy_node *node = eddy_node_of(eddy_node_at(m->graph, id));
        if (!needed[id] || !differentiable(node)) continue;
        all->at[all->count] = check_node(node, &v);
        all->results[all->at[all->count++].result]++;
    }
    for (int i = 0; i < v.count; i++) eddy_array_free(v.at[v.places[i]]);
    return fine;
}
