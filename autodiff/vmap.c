/* vmap.c -- vmap: maps a function of one example over a batch of examples.
 *
 * A function is built once, on tensors that represent one example. Then the nodes between those
 * tensors and the results are built again with the examples along a new axis 0, each by the
 * batching rule of its operation, in the order of their ids. Nodes that do not depend on an
 * example are unchanged and shared, unless they wait for a side effect that depends on one: then
 * they are built again, still shared.
 *
 * Random numbers that the function draws depend on the example: each example has its own. */
#include "autodiff/internal.h"
#include "graph/call_options.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/ops.h"

#include <string.h>

typedef struct mapping {
    eddy_subgraph   subgraph;
    eddy_graph     *graph;
    eddy_tensor     examples;
    eddy_placeholders *all;                        /* random tensors are appended to it */
} mapping;

enum { MAX_LOOPS = 1 << 14 };

/* ---------------------------------------------------------- side effects -- */

/* A mark besides those of the subgraph: running the node also runs a node that has a side
 * effect and depends on an example. */
enum { HAS_EFFECT = 8 };

static bool has_mapped_effect(const mapping *m, int32_t id)
{
    return id >= m->subgraph.first && id <= m->subgraph.last &&
           m->subgraph.marks[id - m->subgraph.first] & HAS_EFFECT;
}

/* The results need an image of the node. */
static bool is_mapped(const mapping *m, int32_t id)
{
    const int marks = m->subgraph.marks[id - m->subgraph.first];
    return marks & EDDY_NEEDED && marks & (EDDY_DEPENDS | HAS_EFFECT) &&
           !m->subgraph.replacements[id - m->subgraph.first];
}

static bool has_effect(const mapping *m, const eddy_node *node)
{
    const unsigned effects = EDDY_OP_SIDE_EFFECT | EDDY_OP_UPDATES;
    if (m->subgraph.marks[node->id - m->subgraph.first] & EDDY_DEPENDS && node->op->flags & effects)
        return true;
    for (int i = 0; i < node->n_inputs; i++)
        if (!eddy__input_is_in(node->op->shape_inputs, i) &&
            has_mapped_effect(m, node->inputs[i].node))
            return true;
    for (int i = 0; i < node->n_controls; i++)
        if (has_mapped_effect(m, node->controls[i])) return true;
    return false;
}

/* Side effects may depend on the function through control edges: an ascending pass marks the
 * nodes that wait for one, a descending pass those of them that the results need. */
static void mark_effects(mapping *m, int n_ys, const eddy_tensor *ys)
{
    eddy_subgraph *s = &m->subgraph;
    for (int32_t id = s->first; id <= s->last; id++)
        if (has_effect(m, s->graph->nodes[id])) s->marks[id - s->first] |= HAS_EFFECT;
    for (int k = 0; k < n_ys; k++)
        if (has_mapped_effect(m, ys[k].node)) s->marks[ys[k].node - s->first] |= EDDY_NEEDED;
    for (int32_t id = s->last; id >= s->first; id--) {
        const eddy_node *node = s->graph->nodes[id];
        if (!is_mapped(m, id)) continue;
        for (int i = 0; i < node->n_inputs; i++)
            if (eddy__subgraph_input_depends(s, node, i) ||
                (!eddy__input_is_in(node->op->shape_inputs, i) &&
                 has_mapped_effect(m, node->inputs[i].node)))
                s->marks[node->inputs[i].node - s->first] |= EDDY_NEEDED;
        for (int i = 0; i < node->n_controls; i++)
            if (has_mapped_effect(m, node->controls[i]))
                s->marks[node->controls[i] - s->first] |= EDDY_NEEDED;
    }
}

/* The tensor that represents t for all examples or is shared by them; or t itself. */
static eddy_tensor replacement_of(const mapping *m, eddy_tensor t)
{
    const eddy_subgraph *s = &m->subgraph;
    if (t.node < s->first || t.node > s->last || !s->replacements[t.node - s->first]) return t;
    const eddy_tensor y = s->replacements[t.node - s->first][t.output];
    return eddy_is_valid(y) ? y : t;
}

/* The next nodes wait for the same nodes as `node`, or for their replacements. An order among
 * nodes without side effects is not kept. */
static void begin_controls(mapping *m, const eddy_node *node)
{
    eddy_tensor *after = eddy__subgraph_alloc(&m->subgraph, node->n_controls, sizeof *after);
    int          n = 0;
    for (int i = 0; after && i < node->n_controls; i++) {
        const eddy_tensor t = eddy__tensor_at(m->graph, node->controls[i], 0);
        const bool differs = eddy__subgraph_has(&m->subgraph, t, EDDY_DEPENDS);
        if (has_mapped_effect(m, t.node) || !differs) after[n++] = replacement_of(m, t);
    }
    eddy_control_begin(m->graph, (eddy_list){ n, after });
}

/* ------------------------------------------------------------- one node -- */

/* The op applied to example e alone; its outputs are stored in y. */
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
    eddy__attrs_share_graphs(b->node->op, b->attrs);
    eddy_tensor t =
        eddy_apply(b->node->op, b->attrs, b->n_in, x, (eddy_apply_args){ .graph = b->graph });
    for (int k = 0; k < b->n_out; k++) y[k] = eddy_output(t, k);
}

/* Without a rule: example by example. */
static void map_by_loop(mapping *m, eddy_batch *b)
{
    eddy_shape examples = eddy_shape_of(b->examples);
    int64_t    n = examples.rank > 0 ? examples.dim[0] : EDDY_ANY;
    bool       ranked = true;
    for (int i = 0; i < b->n_in; i++)
        ranked = ranked && (!b->batched[i] || eddy_shape_of(b->x[i]).rank >= 0);
    if (n <= 0 || n > MAX_LOOPS || !ranked) {
        eddy_fail(b->graph, EDDY_UNIMPLEMENTED,
                  "vmap: op %s has no batching rule for these inputs; a loop requires a known "
                  "number of examples, 1 to %d, and known ranks [node '%.200s']",
                  b->node->op->name, MAX_LOOPS, b->node->name);
        return;
    }
    eddy_tensor *x = eddy__subgraph_alloc(&m->subgraph, b->n_in, sizeof *x),
                *y = eddy__subgraph_alloc(&m->subgraph, n * b->n_out, sizeof *y);
    eddy_tensor *column = eddy__subgraph_alloc(&m->subgraph, n, sizeof *column);
    for (int64_t e = 0; x && y && column && e < n && eddy__graph_ready(b->graph); e++)
        apply_to_example(b, e, x, y + e * b->n_out);
    for (int k = 0; k < b->n_out && eddy__graph_ready(b->graph); k++) {
        for (int64_t e = 0; e < n; e++) column[e] = y[e * b->n_out + k];
        b->y[k] = eddy_stack((eddy_list){ (int)n, column }, 0);
    }
}

static bool is_complete(const eddy_batch *b)
{
    for (int k = 0; k < b->n_out; k++)
        if (!eddy_is_valid(b->y[k])) return false;
    return true;
}

static void apply_rule(mapping *m, eddy_batch *b)
{
    const eddy_node *node = b->node;
    for (int k = 0; k < b->n_out; k++) b->y[k] = eddy_none(m->graph);
    if (node->op->batch) node->op->batch(b);
    else if (node->op->flags & EDDY_OP_ELEMENTWISE) {
        if (eddy__is_random(node)) eddy_batch_as_is(b);
        else eddy__batch_elementwise(b);
    }
    if (eddy__graph_ready(m->graph) && !is_complete(b)) map_by_loop(m, b);
    if (eddy__graph_ready(m->graph) && node->gradient && b->n_out > 0)
        eddy__vmap_keep_gradient(b, m->all);
}

/* The node on inputs that all examples share. */
static void rebuild_shared(const eddy_batch *b)
{
    const eddy_node  *node = b->node;
    eddy__attrs_share_graphs(node->op, node->attrs);
    const eddy_tensor t = eddy__append((eddy_append_args){
        .graph = b->graph, .op = node->op, .attrs = node->attrs, .n = node->n_inputs, .in = b->x,
        .n_controls = -1, .gradient = node->gradient,
    });
    for (int k = 0; k < b->n_out; k++) b->y[k] = eddy_output(t, k);
}

static bool is_refused(const eddy_node *node, bool differs)
{
    const unsigned effects = node->op->batch ? 0 : EDDY_OP_SIDE_EFFECT;
    return node->op->flags & (differs ? EDDY_OP_REFERENCE | EDDY_OP_UPDATES | effects
                                      : EDDY_OP_UPDATES);
}

static bool is_sampled_per_example(const mapping *m, const eddy_node *node)
{
    return node->id > m->subgraph.random_after && eddy__is_random(node);
}

/* True if random tensors must be recorded: a registered gradient may use them besides the
 * results. */
static bool needs_samples(mapping *m)
{
    eddy_subgraph *s = &m->subgraph;
    bool           asked = false;
    for (int32_t id = s->first; id <= s->last && !asked; id++)
        asked = s->graph->nodes[id]->gradient &&
                s->marks[id - s->first] & EDDY_DEPENDS;
    for (int32_t id = s->first; id <= s->last && asked; id++)
        if (is_sampled_per_example(m, s->graph->nodes[id])) s->marks[id - s->first] |= EDDY_NEEDED;
    return asked;
}

/* Records random tensors as placeholders of their examples for gradients that are mapped later,
 * which must not draw again. */
static void record_samples(mapping *m, const eddy_node *node, const eddy_tensor *y)
{
    for (int k = 0; k < node->n_outputs; k++, m->all->n++) {
        m->all->at[m->all->n] = eddy__tensor_at(m->graph, node->id, k);
        m->all->at[m->all->room + m->all->n] = y[k];
    }
}

static void release_placeholders(void *object)
{
    eddy_placeholders *all = object;
    eddy_allocator  memory = all->allocator;
    eddy__release(&memory, all, all->bytes);
}

/* Allocates the list of placeholders with room for all random tensors. It is kept with the
 * graph if a gradient will need it. */
static bool list_placeholders(mapping *m, const eddy_examples *e, bool kept)
{
    int64_t room = e->n;
    for (int32_t id = m->subgraph.first; id <= m->subgraph.last; id++)
        if (is_sampled_per_example(m, m->graph->nodes[id])) room += m->graph->nodes[id]->n_outputs;
    const size_t bytes = sizeof *m->all + 2 * (size_t)room * sizeof *m->all->at;
    m->all = kept ? eddy__allocate(eddy__graph_allocator(m->graph), bytes)
                  : eddy__subgraph_alloc(&m->subgraph, 1, bytes);
    if (!m->all) {
        eddy_fail(m->graph, EDDY_NO_MEMORY, "out of memory (nodes: %lld)", (long long)room);
        return false;
    }
    *m->all = (eddy_placeholders){ .allocator = *eddy__graph_allocator(m->graph), .bytes = bytes,
                                .n = e->n, .room = (int)room };
    memcpy(m->all->at, e->placeholders, (size_t)e->n * sizeof *e->placeholders);
    memcpy(m->all->at + room, e->batches, (size_t)e->n * sizeof *e->batches);
    return !kept || eddy_graph_own(m->graph, m->all, release_placeholders);
}

static void map_node(mapping *m, const eddy_node *node)
{
    const bool   valueless = node->n_outputs == 0;
    eddy_tensor *x = eddy__subgraph_alloc(&m->subgraph, node->n_inputs, sizeof *x),
                *y = eddy__subgraph_alloc(&m->subgraph, node->n_outputs + valueless, sizeof *y);
    bool *batched = eddy__subgraph_alloc(&m->subgraph, node->n_inputs, sizeof *batched);
    const bool draws = m->graph->is_body && eddy__is_random(node);
    void *room = eddy__subgraph_alloc(&m->subgraph, draws ? (int64_t)node->op->attrs_size : 0, 1);
    bool  differs = false;
    if (!x || !y || !batched || !room) return;
    for (int i = 0; i < node->n_inputs; i++) {
        batched[i] = eddy__subgraph_input_depends(&m->subgraph, node, i);
        differs = differs || batched[i];
        x[i] = eddy__input_is_in(node->op->shape_inputs, i) ? node->inputs[i]
                                                           : replacement_of(m, node->inputs[i]);
    }
    if (is_refused(node, differs)) {
        eddy_fail(m->graph, EDDY_UNIMPLEMENTED,
                  "vmap: op %s changes state and cannot be mapped over examples [node '%.200s']",
                  node->op->name, node->name);
        return;
    }
    eddy_batch b = {
        .graph = m->graph,
        .node = node,
        .attrs = draws ? eddy__seeded_attrs(node, room) : node->attrs,
        .x = x,
        .batched = batched,
        .y = y,
        .n_in = node->n_inputs,
        .n_out = node->n_outputs,
        .examples = m->examples,
    };
    if (node->n_controls > 0) begin_controls(m, node);
    if (differs || is_sampled_per_example(m, node)) apply_rule(m, &b);
    else rebuild_shared(&b);
    if (node->n_controls > 0) eddy_control_end(m->graph);
    if (is_sampled_per_example(m, node)) record_samples(m, node, y);
    if (valueless) y[0] = eddy_node_at(m->graph, eddy_graph_size(m->graph));
    m->subgraph.replacements[node->id - m->subgraph.first] = y;
}

/* -------------------------------------------------------------- all steps -- */

bool eddy__vectorize(eddy_graph *g, int n, const eddy_tensor *placeholders,
                     const eddy_tensor *batches,
                     int n_ys, const eddy_tensor *ys, eddy_tensor *out)
{
    const eddy_examples none_drawn = { n, placeholders, batches, INT32_MAX };
    return eddy__vectorize_random(g, none_drawn, n_ys, ys, out);
}

bool eddy__vectorize_random(eddy_graph *g, eddy_examples e, int n_ys, const eddy_tensor *ys,
                            eddy_tensor *out)
{
    mapping m = { .graph = g };
    for (int k = 0; k < n_ys; k++) out[k] = eddy_none(g);
    if (e.n == 0) return eddy__graph_ready(g);
    bool ok = eddy__subgraph_begin_random(&m.subgraph, g, e.n, e.placeholders, n_ys, ys, e.after);
    ok = ok && list_placeholders(&m, &e, needs_samples(&m));
    m.examples = e.batches[0];
    for (int i = 0; ok && i < e.n; i++)
        eddy__subgraph_replace(&m.subgraph, e.placeholders[i], e.batches[i]);
    if (ok) mark_effects(&m, n_ys, ys);
    /* the types of the nodes have been decided */
    void (*cast)(eddy_graph *, const eddy_op_def *, int, eddy_tensor *) = g->cast_inputs;
    g->cast_inputs = NULL;
    for (int32_t id = m.subgraph.first; ok && id <= m.subgraph.last && eddy__graph_ready(g); id++)
        if (is_mapped(&m, id) && !(g->nodes[id]->op->flags & EDDY_OP_PLACEHOLDER))
            map_node(&m, g->nodes[id]);
    g->cast_inputs = cast;
    for (int k = 0; ok && k < n_ys && eddy__graph_ready(g); k++)
        if (eddy__subgraph_has(&m.subgraph, ys[k], EDDY_DEPENDS))
            out[k] = replacement_of(&m, ys[k]);
        else if (has_mapped_effect(&m, ys[k].node))
            out[k] = eddy_batch_like(replacement_of(&m, ys[k]), m.examples);
    eddy__subgraph_end(&m.subgraph);
    return eddy__graph_ready(g);
}

static int64_t examples_of(eddy_tensor x, int axis)
{
    const eddy_shape s = eddy_shape_of(x);
    return s.dim[eddy__axis_of(axis, s.rank)];
}

/* Checks that all arguments have the same number of examples, where the numbers are known. */
static bool counts_are_equal(eddy_graph *g, const eddy_vmap_args *a)
{
    int64_t n = EDDY_ANY;
    int     known = 0;
    for (int i = 0; i < a->x.count; i++) {
        const int axis = a->axes ? a->axes[i] : 0;
        if (axis == EDDY_SHARED) continue;
        const bool first = n == EDDY_ANY;
        if (!eddy__dim_unify(&n, examples_of(a->x.at[i], axis))) {
            eddy_fail(g, EDDY_BAD_SHAPE,
                      "vmap: x[%d], '%.200s', and x[%d], '%.200s', differ in their number of "
                      "examples: %lld and %lld", known, eddy_name_of(a->x.at[known]), i,
                      eddy_name_of(a->x.at[i]), (long long)n,
                      (long long)examples_of(a->x.at[i], axis));
            return false;
        }
        if (first && n != EDDY_ANY) known = i;
    }
    return true;
}

static bool args_are_valid(eddy_graph *g, const eddy_vmap_args *a)
{
    if (!eddy__list_is_of(g, "vmap", "x", a->x)) return false;
    if (!a->out) eddy_fail(g, EDDY_INVALID_ARGUMENT, "vmap: out is NULL");
    for (int i = 0; i < a->x.count && eddy__graph_ready(g); i++) {
        int rank = eddy_shape_of(a->x.at[i]).rank, axis = a->axes ? a->axes[i] : 0;
        if (axis == EDDY_SHARED) continue;
        if (rank < 0)
            eddy_fail(g, EDDY_BAD_SHAPE, "vmap: the rank of x[%d], '%.200s', is unknown", i,
                      eddy_name_of(a->x.at[i]));
        else if (axis < -rank || axis >= rank)
            eddy_fail(g, EDDY_BAD_SHAPE, "vmap: x[%d], '%.200s' of rank %d, has no axis %d", i,
                      eddy_name_of(a->x.at[i]), rank, axis);
    }
    return eddy__graph_ready(g) && counts_are_equal(g, a);
}

/* x with the examples in front. */
static eddy_tensor axis_to_front(eddy_tensor x, int axis)
{
    int       rank = eddy_shape_of(x).rank;
    eddy_dims perm = { .count = rank };
    if (axis < 0) axis += rank;
    if (axis == 0) return x;
    for (int i = 0; i < rank; i++) perm.at[i] = i == 0 ? axis : i <= axis ? i - 1 : i;
    return eddy_transpose(x, perm);
}

/* x, argument i, after a check that it has as many examples as `first`. If a number is unknown,
 * the run checks. */
static eddy_tensor check_count(eddy_tensor x, int i, eddy_tensor first)
{
    eddy_graph *g = x.graph;
    char        message[64];
    if (!eddy__graph_ready(g) ||
        (examples_of(x, 0) != EDDY_ANY && examples_of(first, 0) != EDDY_ANY))
        return x;
    snprintf(message, sizeof message, "vmap: x[%d] has more or fewer examples than others", i);
    const eddy_tensor n = eddy_size(eddy_row_numbers(x, EDDY_INT64), EDDY_INT64);
    const eddy_tensor want = eddy_size(eddy_row_numbers(first, EDDY_INT64), EDDY_INT64);
    const eddy_tensor same = eddy_assert(eddy_equal(n, want), EDDY_LIST(n, want), message);
    eddy_control_begin(g, EDDY_LIST(same));
    x = eddy_identity(x);
    eddy_control_end(g);
    return x;
}

static int vmap(eddy_graph *g, const eddy_vmap_args *a, eddy_tensor *t)
{
    eddy_tensor *placeholders = t, *batches = t + a->x.count, *inputs = t + 2 * (size_t)a->x.count;
    eddy_tensor  y[EDDY_MAX_RESULTS];
    int          n = 0;
    for (int i = 0; i < a->x.count && eddy__graph_ready(g); i++) {
        inputs[i] = a->x.at[i];
        if (a->axes && a->axes[i] == EDDY_SHARED) continue;
        batches[n] = axis_to_front(a->x.at[i], a->axes ? a->axes[i] : 0);
        if (n > 0) batches[n] = check_count(batches[n], i, batches[0]);
        placeholders[n] = inputs[i] = eddy_example(batches[n]);
        n++;
    }
    if (n == 0 && eddy__graph_ready(g))
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "vmap: no input is mapped; at least one needs an axis of examples");
    if (!eddy__graph_ready(g)) return 0;
    const eddy_examples each = { n, placeholders, batches, eddy_graph_size(g) };
    int results = eddy__function_build(g, "vmap", &a->f, (eddy_list){ a->x.count, inputs }, y);
    if (results == 0 || !eddy__vectorize_random(g, each, results, y, a->out)) return 0;
    for (int k = 0; k < results; k++)
        if (!eddy_is_valid(a->out[k])) a->out[k] = eddy_batch_like(y[k], batches[0]);
    return results;
}

int eddy_vmap_with(const eddy_vmap_args *given)
{
    eddy_vmap_args a = EDDY_TAKE(eddy_vmap_args, given);
    eddy_graph *g = eddy__function_graph("vmap", &a.f, a.x, "x is empty");
    if (!eddy__graph_ready(g) || !args_are_valid(g, &a)) return 0;
    int64_t      n = 3 * (int64_t)a.x.count;
    eddy_tensor *t = eddy__tensors_new(g, n);
    int          results = 0;
    if (t) {
        eddy_scope_begin(g, a.name && *a.name ? a.name : "vmap");
        results = vmap(g, &a, t);
        eddy_scope_end(g);
        eddy__tensors_free(g, t, n);
    }
    return eddy__graph_ready(g) ? results : 0;
}
