/* vmap.c -- from one example to all of them.
 *
 * A function is built once, on tensors that stand for one example.  Then the
 * nodes between those and the results are built again with the examples along
 * a new axis 0, each by its op's batching rule, in the order of their ids.  What
 * does not depend on an example stays as it is and is shared. */
#include "autodiff/internal.h"
#include "ops/batch.h"
#include "ops/ops.h"

#include <string.h>

typedef struct mapping {
    eddy_span   span;
    eddy_graph *graph;
    eddy_tensor examples;
    int         n;
    const eddy_tensor *stands, *batches;        /* n of each */
} mapping;

enum { MOST_LOOPS = 1 << 14 };

/* ------------------------------------------------------------- one node -- */

/* The op on example e alone; its outputs to y. */
static void apply_to_example(const eddy_batch *b, int64_t e, eddy_tensor *x, eddy_tensor *y)
{
    for (int i = 0; i < b->n_in; i++) {
        x[i] = b->x[i];
        if (!b->batched[i]) continue;
        int       rank = eddy_shape_of(x[i]).rank;
        eddy_dims begin = { .count = rank }, size = { .count = rank };
        for (int d = 0; d < rank; d++) size.at[d] = d == 0 ? 1 : -1;
        begin.at[0] = e;
        x[i] = eddy_squeeze(eddy_slice(x[i], begin, size), EDDY_AXES(0));
    }
    eddy_tensor t =
        eddy_apply(b->node->op, b->attrs, b->n_in, x, (eddy_apply_args){ .graph = b->graph });
    for (int k = 0; k < b->n_out; k++) y[k] = eddy_output(t, k);
}

/* Without a rule: example by example. */
static void loop(mapping *m, eddy_batch *b)
{
    eddy_shape examples = eddy_shape_of(b->examples);
    int64_t    n = examples.rank > 0 ? examples.dim[0] : EDDY_ANY;
    bool       ranked = true;
    for (int i = 0; i < b->n_in; i++)
        ranked = ranked && (!b->batched[i] || eddy_shape_of(b->x[i]).rank >= 0);
    if (n <= 0 || n > MOST_LOOPS || !ranked) {
        eddy_fail(b->graph, EDDY_UNIMPLEMENTED,
                  "vmap: op %s has no batching rule for these inputs, and a loop needs a known "
                  "number of examples from 1 to %d and known ranks [node '%.200s']",
                  b->node->op->name, MOST_LOOPS, b->node->name);
        return;
    }
    eddy_tensor *x = eddy_span_room(&m->span, b->n_in, sizeof *x),
                *y = eddy_span_room(&m->span, n * b->n_out, sizeof *y);
    eddy_tensor *column = eddy_span_room(&m->span, n, sizeof *column);
    for (int64_t e = 0; x && y && column && e < n && eddy_graph_ready(b->graph); e++)
        apply_to_example(b, e, x, y + e * b->n_out);
    for (int k = 0; k < b->n_out && eddy_graph_ready(b->graph); k++) {
        for (int64_t e = 0; e < n; e++) column[e] = y[e * b->n_out + k];
        b->y[k] = eddy_stack((eddy_list){ (int)n, column }, 0);
    }
}

static bool is_whole(const eddy_batch *b)
{
    for (int k = 0; k < b->n_out; k++)
        if (!eddy_is_valid(b->y[k])) return false;
    return true;
}

static void map_node(mapping *m, const eddy_node *node)
{
    eddy_tensor *x = eddy_span_room(&m->span, node->n_inputs, sizeof *x),
                *y = eddy_span_room(&m->span, node->n_outputs, sizeof *y);
    bool        *batched = eddy_span_room(&m->span, node->n_inputs, sizeof *batched);
    if (!x || !y || !batched) return;
    for (int i = 0; i < node->n_inputs; i++) {
        batched[i] = eddy_span_differs(&m->span, node, i);
        x[i] = batched[i] ? eddy_span_image(&m->span, node->inputs[i]) : node->inputs[i];
    }
    const unsigned acts = node->op->batch ? 0 : EDDY_OP_SIDE_EFFECT;
    if (node->op->flags & (EDDY_OP_REFERENCE | EDDY_OP_UPDATES | acts)) {
        eddy_fail(m->graph, EDDY_UNIMPLEMENTED,
                  "vmap: op %s acts on a state, not on each example [node '%.200s']",
                  node->op->name, node->name);
        return;
    }
    eddy_batch b = {
        .graph = m->graph, .node = node, .attrs = node->attrs, .x = x, .batched = batched, .y = y,
        .n_in = node->n_inputs, .n_out = node->n_outputs, .examples = m->examples,
    };
    for (int k = 0; k < b.n_out; k++) y[k] = eddy_none(m->graph);
    if (node->op->batch) node->op->batch(&b);
    else if (node->op->flags & EDDY_OP_ELEMENTWISE) eddy_batch_elementwise(&b);
    if (eddy_graph_ready(m->graph) && !is_whole(&b)) loop(m, &b);
    if (eddy_graph_ready(m->graph) && node->gradient)
        eddy_vmap_keep_gradient(&b, m->n, m->stands, m->batches);
    m->span.images[node->id - m->span.first] = y;
}

/* -------------------------------------------------------------- the whole -- */

bool eddy_vectorize(eddy_graph *g, int n, const eddy_tensor *stands, const eddy_tensor *batches,
                    int n_ys, const eddy_tensor *ys, eddy_tensor *out)
{
    mapping m = { .graph = g, .n = n, .stands = stands, .batches = batches };
    for (int k = 0; k < n_ys; k++) out[k] = eddy_none(g);
    if (n == 0) return eddy_graph_ready(g);
    bool ok = eddy_span_begin(&m.span, g, n, stands, n_ys, ys);
    m.examples = batches[0];
    for (int i = 0; ok && i < n; i++) eddy_span_set_image(&m.span, stands[i], batches[i]);
    for (int32_t id = m.span.first; ok && id <= m.span.last && eddy_graph_ready(g); id++)
        if (m.span.marks[id - m.span.first] == EDDY_BETWEEN && !m.span.images[id - m.span.first])
            map_node(&m, g->nodes[id]);
    for (int k = 0; ok && k < n_ys && eddy_graph_ready(g); k++)
        if (eddy_span_has(&m.span, ys[k], EDDY_DEPENDS)) out[k] = eddy_span_image(&m.span, ys[k]);
    eddy_span_end(&m.span);
    return eddy_graph_ready(g);
}

static bool args_are_valid(eddy_graph *g, const eddy_vmap_args *a)
{
    if (!eddy_list_is_of(g, "vmap", "x", a->x)) return false;
    if (!a->out) eddy_fail(g, EDDY_INVALID_ARGUMENT, "vmap: nowhere to put the results (out)");
    for (int i = 0; i < a->x.count && eddy_graph_ready(g); i++) {
        int rank = eddy_shape_of(a->x.at[i]).rank, axis = a->axes ? a->axes[i] : 0;
        if (axis == EDDY_SHARED) continue;
        if (rank < 0)
            eddy_fail(g, EDDY_BAD_SHAPE, "vmap: the rank of x[%d], '%.200s', is not known", i,
                      eddy_name_of(a->x.at[i]));
        else if (axis < -rank || axis >= rank)
            eddy_fail(g, EDDY_BAD_SHAPE, "vmap: x[%d], '%.200s' of rank %d, has no axis %d", i,
                      eddy_name_of(a->x.at[i]), rank, axis);
    }
    return eddy_graph_ready(g);
}

/* x with the examples in front. */
static eddy_tensor to_front(eddy_tensor x, int axis)
{
    int       rank = eddy_shape_of(x).rank;
    eddy_dims perm = { .count = rank };
    if (axis < 0) axis += rank;
    if (axis == 0) return x;
    for (int i = 0; i < rank; i++) perm.at[i] = i == 0 ? axis : i <= axis ? i - 1 : i;
    return eddy_transpose(x, perm);
}

static int vmap(eddy_graph *g, const eddy_vmap_args *a, eddy_tensor *t)
{
    eddy_tensor *stands = t, *batches = t + a->x.count, *inputs = t + 2 * (size_t)a->x.count;
    eddy_tensor  y[EDDY_MAX_RESULTS];
    int          n = 0;
    for (int i = 0; i < a->x.count && eddy_graph_ready(g); i++) {
        inputs[i] = a->x.at[i];
        if (a->axes && a->axes[i] == EDDY_SHARED) continue;
        batches[n] = to_front(a->x.at[i], a->axes ? a->axes[i] : 0);
        stands[n] = inputs[i] = eddy_example(batches[n]);
        n++;
    }
    if (n == 0 && eddy_graph_ready(g))
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "vmap: no x has examples to map over");
    if (!eddy_graph_ready(g)) return 0;
    int results = eddy_function_build(g, &a->f, (eddy_list){ a->x.count, inputs }, y);
    if (results == 0 || !eddy_vectorize(g, n, stands, batches, results, y, a->out)) return 0;
    for (int k = 0; k < results; k++)
        if (!eddy_is_valid(a->out[k])) a->out[k] = eddy_batch_like(y[k], batches[0]);
    return results;
}

int eddy_vmap_with(eddy_vmap_args a)
{
    eddy_graph *g = a.x.at && a.x.count > 0 ? a.x.at[0].graph : NULL;
    if (!eddy_graph_ready(g) || !args_are_valid(g, &a)) return 0;
    int64_t      n = 3 * (int64_t)a.x.count;
    eddy_tensor *t = eddy_tensors_new(g, n);
    int          results = 0;
    if (t) {
        eddy_scope_begin(g, a.name && *a.name ? a.name : "vmap");
        results = vmap(g, &a, t);
        eddy_scope_end(g);
        eddy_tensors_free(g, t, n);
    }
    return eddy_graph_ready(g) ? results : 0;
}
