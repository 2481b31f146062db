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
#include "graph/take.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/ops.h"

#include <string.h>

typedef struct mapping {
    eddy_span   span;
    eddy_graph *graph;
    eddy_tensor examples;
    eddy_stand_ins *all;                        /* the last stand for what was drawn */
} mapping;

enum { MOST_LOOPS = 1 << 14 };

/* ---------------------------------------------------------- side effects -- */

/* A mark beside those of the span: to run the node is to run one that has a side
 * effect and depends on an example. */
enum { ACTS = 8 };

static bool acts(const mapping *m, int32_t id)
{
    return id >= m->span.first && id <= m->span.last && m->span.marks[id - m->span.first] & ACTS;
}

/* The results need an image of the node. */
static bool is_mapped(const mapping *m, int32_t id)
{
    const int marks = m->span.marks[id - m->span.first];
    return marks & EDDY_NEEDED && marks & (EDDY_DEPENDS | ACTS) &&
           !m->span.images[id - m->span.first];
}

static bool has_effect(const mapping *m, const eddy_node *node)
{
    const unsigned effects = EDDY_OP_SIDE_EFFECT | EDDY_OP_UPDATES;
    if (m->span.marks[node->id - m->span.first] & EDDY_DEPENDS && node->op->flags & effects)
        return true;
    for (int i = 0; i < node->n_inputs; i++)
        if (!eddy__input_is_in(node->op->shape_inputs, i) && acts(m, node->inputs[i].node))
            return true;
    for (int i = 0; i < node->n_controls; i++)
        if (acts(m, node->controls[i])) return true;
    return false;
}

/* Side effects hang on the function by control edges too: one pass up marks what
 * waits for one, one down what the results need of that. */
static void mark_effects(mapping *m, int n_ys, const eddy_tensor *ys)
{
    eddy_span *s = &m->span;
    for (int32_t id = s->first; id <= s->last; id++)
        if (has_effect(m, s->graph->nodes[id])) s->marks[id - s->first] |= ACTS;
    for (int k = 0; k < n_ys; k++)
        if (acts(m, ys[k].node)) s->marks[ys[k].node - s->first] |= EDDY_NEEDED;
    for (int32_t id = s->last; id >= s->first; id--) {
        const eddy_node *node = s->graph->nodes[id];
        if (!is_mapped(m, id)) continue;
        for (int i = 0; i < node->n_inputs; i++)
            if (eddy__span_differs(s, node, i) ||
                (!eddy__input_is_in(node->op->shape_inputs, i) && acts(m, node->inputs[i].node)))
                s->marks[node->inputs[i].node - s->first] |= EDDY_NEEDED;
        for (int i = 0; i < node->n_controls; i++)
            if (acts(m, node->controls[i])) s->marks[node->controls[i] - s->first] |= EDDY_NEEDED;
    }
}

/* What stands for t, for all examples or shared by them; or t itself. */
static eddy_tensor image_of(const mapping *m, eddy_tensor t)
{
    const eddy_span *s = &m->span;
    if (t.node < s->first || t.node > s->last || !s->images[t.node - s->first]) return t;
    const eddy_tensor y = s->images[t.node - s->first][t.output];
    return eddy_is_valid(y) ? y : t;
}

/* What is built next waits as the node does: for images, and for what is shared.
 * An order among nodes without side effects is not kept. */
static void begin_waiting(mapping *m, const eddy_node *node)
{
    eddy_tensor *after = eddy__span_room(&m->span, node->n_controls, sizeof *after);
    int          n = 0;
    for (int i = 0; after && i < node->n_controls; i++) {
        const eddy_tensor t = eddy__tensor_at(m->graph, node->controls[i], 0);
        const bool differs = eddy__span_has(&m->span, t, EDDY_DEPENDS);
        if (acts(m, t.node) || !differs) after[n++] = image_of(m, t);
    }
    eddy_control_begin(m->graph, (eddy_list){ n, after });
}

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
                  "vmap: op %s has no batching rule for these inputs; a loop requires a known "
                  "number of examples, 1 to %d, and known ranks [node '%.200s']",
                  b->node->op->name, MOST_LOOPS, b->node->name);
        return;
    }
    eddy_tensor *x = eddy__span_room(&m->span, b->n_in, sizeof *x),
                *y = eddy__span_room(&m->span, n * b->n_out, sizeof *y);
    eddy_tensor *column = eddy__span_room(&m->span, n, sizeof *column);
    for (int64_t e = 0; x && y && column && e < n && eddy__graph_ready(b->graph); e++)
        apply_to_example(b, e, x, y + e * b->n_out);
    for (int k = 0; k < b->n_out && eddy__graph_ready(b->graph); k++) {
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

static void apply_rule(mapping *m, eddy_batch *b)
{
    const eddy_node *node = b->node;
    for (int k = 0; k < b->n_out; k++) b->y[k] = eddy_none(m->graph);
    if (node->op->batch) node->op->batch(b);
    else if (node->op->flags & EDDY_OP_ELEMENTWISE) {
        if (eddy__draws(node)) eddy_batch_as_is(b);     /* perhaps of nothing that differs */
        else eddy__batch_elementwise(b);
    }
    if (eddy__graph_ready(m->graph) && !is_whole(b)) loop(m, b);
    if (eddy__graph_ready(m->graph) && node->gradient && b->n_out > 0)
        eddy__vmap_keep_gradient(b, m->all);
}

/* The node on inputs that all examples share. */
static void build_again(const eddy_batch *b)
{
    const eddy_node  *node = b->node;
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

static bool draws_here(const mapping *m, const eddy_node *node)
{
    return node->id > m->span.drawn_after && eddy__draws(node);
}

/* A registered gradient may use what was drawn beside the results: they need it too then. */
static bool want_drawn(mapping *m)
{
    eddy_span *s = &m->span;
    bool       asked = false;
    for (int32_t id = s->first; id <= s->last && !asked; id++)
        asked = s->graph->nodes[id]->gradient &&
                s->marks[id - s->first] & EDDY_DEPENDS;
    for (int32_t id = s->first; id <= s->last && asked; id++)
        if (draws_here(m, s->graph->nodes[id])) s->marks[id - s->first] |= EDDY_NEEDED;
    return asked;
}

/* What was drawn stands for its examples in gradients that are mapped later: they must not draw
 * again. */
static void remember_drawn(mapping *m, const eddy_node *node, const eddy_tensor *y)
{
    for (int k = 0; k < node->n_outputs; k++, m->all->n++) {
        m->all->at[m->all->n] = eddy__tensor_at(m->graph, node->id, k);
        m->all->at[m->all->room + m->all->n] = y[k];
    }
}

static void release_stands(void *object)
{
    eddy_stand_ins *all = object;
    eddy_allocator  memory = all->allocator;
    eddy__release(&memory, all, all->bytes);
}

/* The stand-ins with room for all that is drawn, kept with the graph if a gradient will ask. */
static bool list_stands(mapping *m, const eddy_examples *e, bool kept)
{
    int64_t room = e->n;
    for (int32_t id = m->span.first; id <= m->span.last; id++)
        if (draws_here(m, m->graph->nodes[id])) room += m->graph->nodes[id]->n_outputs;
    const size_t bytes = sizeof *m->all + 2 * (size_t)room * sizeof *m->all->at;
    m->all = kept ? eddy__allocate(eddy__graph_allocator(m->graph), bytes)
                  : eddy__span_room(&m->span, 1, bytes);
    if (!m->all) {
        eddy_fail(m->graph, EDDY_NO_MEMORY, "out of memory for %lld nodes", (long long)room);
        return false;
    }
    *m->all = (eddy_stand_ins){ .allocator = *eddy__graph_allocator(m->graph), .bytes = bytes,
                                .n = e->n, .room = (int)room };
    memcpy(m->all->at, e->stands, (size_t)e->n * sizeof *e->stands);
    memcpy(m->all->at + room, e->batches, (size_t)e->n * sizeof *e->batches);
    return !kept || eddy_graph_own(m->graph, m->all, release_stands);
}

static void map_node(mapping *m, const eddy_node *node)
{
    const bool   valueless = node->n_outputs == 0;
    eddy_tensor *x = eddy__span_room(&m->span, node->n_inputs, sizeof *x),
                *y = eddy__span_room(&m->span, node->n_outputs + valueless, sizeof *y);
    bool        *batched = eddy__span_room(&m->span, node->n_inputs, sizeof *batched);
    bool         differs = false;
    if (!x || !y || !batched) return;
    for (int i = 0; i < node->n_inputs; i++) {
        batched[i] = eddy__span_differs(&m->span, node, i);
        differs = differs || batched[i];
        x[i] = eddy__input_is_in(node->op->shape_inputs, i) ? node->inputs[i]
                                                           : image_of(m, node->inputs[i]);
    }
    if (eddy__attrs_own_graph(node->op)) {
        eddy_fail(m->graph, EDDY_UNIMPLEMENTED,
                  "vmap: op %s owns a graph and cannot be copied [node '%.200s']",
                  node->op->name, node->name);
        return;
    }
    if (is_refused(node, differs)) {
        eddy_fail(m->graph, EDDY_UNIMPLEMENTED,
                  "vmap: op %s changes state and cannot be mapped over examples [node '%.200s']",
                  node->op->name, node->name);
        return;
    }
    eddy_batch b = {
        .graph = m->graph, .node = node, .attrs = node->attrs, .x = x, .batched = batched, .y = y,
        .n_in = node->n_inputs, .n_out = node->n_outputs, .examples = m->examples,
    };
    if (node->n_controls > 0) begin_waiting(m, node);
    if (differs || draws_here(m, node)) apply_rule(m, &b);
    else build_again(&b);
    if (node->n_controls > 0) eddy_control_end(m->graph);
    if (draws_here(m, node)) remember_drawn(m, node, y);
    if (valueless) y[0] = eddy_node_at(m->graph, eddy_graph_size(m->graph));
    m->span.images[node->id - m->span.first] = y;
}

/* -------------------------------------------------------------- the whole -- */

bool eddy__vectorize(eddy_graph *g, int n, const eddy_tensor *stands, const eddy_tensor *batches,
                     int n_ys, const eddy_tensor *ys, eddy_tensor *out)
{
    const eddy_examples none_drawn = { n, stands, batches, INT32_MAX };
    return eddy__vectorize_drawing(g, none_drawn, n_ys, ys, out);
}

bool eddy__vectorize_drawing(eddy_graph *g, eddy_examples e, int n_ys, const eddy_tensor *ys,
                             eddy_tensor *out)
{
    mapping m = { .graph = g };
    for (int k = 0; k < n_ys; k++) out[k] = eddy_none(g);
    if (e.n == 0) return eddy__graph_ready(g);
    bool ok = eddy__span_begin_drawing(&m.span, g, e.n, e.stands, n_ys, ys, e.after);
    ok = ok && list_stands(&m, &e, want_drawn(&m));
    m.examples = e.batches[0];
    for (int i = 0; ok && i < e.n; i++) eddy__span_set_image(&m.span, e.stands[i], e.batches[i]);
    if (ok) mark_effects(&m, n_ys, ys);
    for (int32_t id = m.span.first; ok && id <= m.span.last && eddy__graph_ready(g); id++)
        if (is_mapped(&m, id) && !(g->nodes[id]->op->flags & EDDY_OP_PLACEHOLDER))
            map_node(&m, g->nodes[id]);
    for (int k = 0; ok && k < n_ys && eddy__graph_ready(g); k++)
        if (eddy__span_has(&m.span, ys[k], EDDY_DEPENDS)) out[k] = image_of(&m, ys[k]);
        else if (acts(&m, ys[k].node)) out[k] = eddy_batch_like(image_of(&m, ys[k]), m.examples);
    eddy__span_end(&m.span);
    return eddy__graph_ready(g);
}

static int64_t examples_of(eddy_tensor x, int axis)
{
    const eddy_shape s = eddy_shape_of(x);
    return s.dim[eddy__axis_of(axis, s.rank)];
}

/* The arguments have equally many examples, as far as their numbers are known. */
static bool counts_agree(eddy_graph *g, const eddy_vmap_args *a)
{
    int64_t n = EDDY_ANY;
    int     known = 0;
    for (int i = 0; i < a->x.count; i++) {
        const int axis = a->axes ? a->axes[i] : 0;
        if (axis == EDDY_SHARED) continue;
        const bool first = n == EDDY_ANY;
        if (!eddy__dim_unify(&n, examples_of(a->x.at[i], axis))) {
            eddy_fail(g, EDDY_BAD_SHAPE,
                      "vmap: x[%d], '%.200s', has %lld examples, but x[%d], '%.200s', has %lld",
                      known, eddy_name_of(a->x.at[known]), (long long)n, i,
                      eddy_name_of(a->x.at[i]), (long long)examples_of(a->x.at[i], axis));
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
            eddy_fail(g, EDDY_BAD_SHAPE, "vmap: the rank of x[%d], '%.200s', is not known", i,
                      eddy_name_of(a->x.at[i]));
        else if (axis < -rank || axis >= rank)
            eddy_fail(g, EDDY_BAD_SHAPE, "vmap: x[%d], '%.200s' of rank %d, has no axis %d", i,
                      eddy_name_of(a->x.at[i]), rank, axis);
    }
    return eddy__graph_ready(g) && counts_agree(g, a);
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

/* x, argument i, after a check that it has as many examples as the first one; that
 * is left to a run where a number is not known. */
static eddy_tensor with_as_many(eddy_tensor x, int i, eddy_tensor first)
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
    eddy_tensor *stands = t, *batches = t + a->x.count, *inputs = t + 2 * (size_t)a->x.count;
    eddy_tensor  y[EDDY_MAX_RESULTS];
    int          n = 0;
    for (int i = 0; i < a->x.count && eddy__graph_ready(g); i++) {
        inputs[i] = a->x.at[i];
        if (a->axes && a->axes[i] == EDDY_SHARED) continue;
        batches[n] = to_front(a->x.at[i], a->axes ? a->axes[i] : 0);
        if (n > 0) batches[n] = with_as_many(batches[n], i, batches[0]);
        stands[n] = inputs[i] = eddy_example(batches[n]);
        n++;
    }
    if (n == 0 && eddy__graph_ready(g))
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "vmap: no input is mapped; at least one needs an axis of examples");
    if (!eddy__graph_ready(g)) return 0;
    const eddy_examples each = { n, stands, batches, eddy_graph_size(g) };
    int results = eddy__function_build(g, &a->f, (eddy_list){ a->x.count, inputs }, y);
    if (results == 0 || !eddy__vectorize_drawing(g, each, results, y, a->out)) return 0;
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
