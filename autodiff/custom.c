/* custom.c -- custom gradients: parts of a graph whose gradient is not that of their operations;
 * recompute_grad (gradient checkpointing).
 *
 * Such a part ends in one IdentityN over [its values, its differentiable inputs], and a
 * registered gradient overrides that of the IdentityN. After TensorFlow's custom_gradient and
 * recompute_grad. */
#include "autodiff/internal.h"
#include "graph/call_options.h"
#include "ops/ops.h"

#include <string.h>

/* The context of a wrapped user rule, which sees only x and the variables. */
typedef struct wrapped {
    eddy_allocator allocator;
    void         (*rule)(eddy_rule *r);
    void          *context;
} wrapped;

static void release_wrapped(void *object)
{
    wrapped       *w = object;
    eddy_allocator memory = w->allocator;
    eddy__release(&memory, w, sizeof *w);
}

static void call_wrapped(eddy_rule *r)
{
    const wrapped *w = r->context;
    r->graph->custom = eddy__custom_rule_of(r->graph, r->node);
    eddy_rule inner = *r;
    inner.x += r->n_out;
    inner.dx += r->n_out;
    inner.n_in = inner.n_dx = r->n_in - r->n_out;
    inner.context = w->context;
    w->rule(&inner);
    r->n_dx = inner.n_dx + r->n_out;
}

eddy_custom_rule eddy__custom_rule_of(const eddy_graph *g, const eddy_node *node)
{
    const eddy_named_rule *r = node->gradient ? eddy__rule_named(g, node->gradient) : NULL;
    if (!r) return (eddy_custom_rule){ 0 };
    if (r->rule != call_wrapped) return eddy__mapped_rule_of(g, node, r);
    return (eddy_custom_rule){ node, node->gradient, eddy_name_of(node->inputs[0]),
                               node->n_outputs };
}

bool eddy_register_custom_gradient(eddy_graph *g, const char *name,
                                   void (*gradient)(eddy_rule *r), void *context)
{
    if (!eddy__graph_ready(g)) return false;
    if (!gradient) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "custom_gradient: no gradient function is given");
        return false;
    }
    const eddy_named_rule *known = name ? eddy__rule_named(g, name) : NULL;
    if (known && known->rule == call_wrapped) {
        const wrapped *same = known->context;
        if (same->rule == gradient && same->context == context) return true;
    }
    wrapped *w = eddy__allocate_zeroed(eddy__graph_allocator(g), 1, sizeof *w);
    if (!w) {
        eddy_fail(g, EDDY_NO_MEMORY, "custom_gradient: out of memory");
        return false;
    }
    *w = (wrapped){ *eddy__graph_allocator(g), gradient, context };
    return eddy_graph_own(g, w, release_wrapped) &&
           eddy_register_gradient(g, name, call_wrapped, w);
}

/* ------------------------------------------------- nodes between y and x -- */

static bool contains(eddy_list l, eddy_tensor t)
{
    for (int i = 0; i < l.count; i++)
        if (l.at[i].node == t.node && l.at[i].output == t.output) return true;
    return false;
}

/* Nodes that y was built from, x and older than the oldest x left out: marks by
 * id; from the allocator, NULL with the error set. */
static uint8_t *ancestors(eddy_graph *g, eddy_list y, eddy_list x)
{
    uint8_t *marks = eddy__allocate_zeroed(eddy__graph_allocator(g), (size_t)g->size + 1, 1);
    if (!marks) {
        eddy_fail(g, EDDY_NO_MEMORY, "custom_gradient: out of memory (nodes: %d)", (int)g->size);
        return NULL;
    }
    for (int k = 0; k < y.count; k++)
        if (!contains(x, y.at[k])) marks[y.at[k].node] = 1;
    for (int32_t id = g->size; id > 0; id--) {
        const eddy_node *node = g->nodes[id];
        for (int i = 0; marks[id] && i < node->n_inputs; i++)
            if (!eddy__input_is_in(node->op->shape_inputs, i) && !contains(x, node->inputs[i]))
                marks[node->inputs[i].node] = 1;
    }
    return marks;
}

/* Gradients must not get lost in silence. */
static bool variables_are_named(eddy_graph *g, const eddy_custom_gradient_args *a)
{
    uint8_t  *marks = ancestors(g, a->y, a->x);
    const int n = eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES);
    for (int i = 0; marks && i < n && eddy__graph_ready(g); i++) {
        eddy_tensor v = eddy_collection_at(g, EDDY_TRAINABLE_VARIABLES, i);
        if (marks[v.node] && !contains(a->variables, v))
            eddy_fail(g, EDDY_INVALID_ARGUMENT,
                      "custom_gradient: the trainable variable '%.200s' is used; list it in "
                      ".variables and return its gradient after those of x",
                      eddy_name_of(v));
    }
    eddy__release(eddy__graph_allocator(g), marks, (size_t)g->size + 1);
    return eddy__graph_ready(g);
}

/* ---------------------------------------------------------------- custom -- */

/* One IdentityN over the lists, its gradient the registered one; outputs to out. */
static void add_identity(eddy_graph *g, const char *gradient, eddy_list y, eddy_list x,
                         eddy_list more, eddy_tensor *out)
{
    const int64_t n = (int64_t)y.count + x.count + more.count;
    eddy_tensor  *in = eddy__tensors_new(g, n);
    if (!in) return;
    if (y.count > 0) memcpy(in, y.at, (size_t)y.count * sizeof *in);
    if (x.count > 0) memcpy(in + y.count, x.at, (size_t)x.count * sizeof *in);
    if (more.count > 0)
        memcpy(in + y.count + x.count, more.at, (size_t)more.count * sizeof *in);
    eddy_gradient_override_begin(g, "IdentityN", gradient);
    eddy_tensor t = eddy_identity_n((eddy_list){ (int)n, in }, y.count);
    eddy_gradient_override_end(g);
    for (int k = 0; k < y.count; k++) out[k] = eddy_output(t, k);
    eddy__tensors_free(g, in, n);
}

/* "custom_gradient_7" of the next node. */
static const char *default_name(const eddy_graph *g, const char *what, char *buf, size_t size)
{
    snprintf(buf, size, "%s_%d", what, (int)g->size + 1);
    return buf;
}

static eddy_graph *graph_of(eddy_list y, eddy_list x)
{
    eddy_graph *g = eddy__graph_of_any(y);
    return g ? g : eddy__graph_of_any(x);
}

static bool lists_fit(eddy_graph *g, const char *who, eddy_list y, eddy_list x,
                      const eddy_tensor *out)
{
    if (!eddy__graph_ready(g)) return false;
    if (y.count == 0) eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: y is empty", who);
    else if (!out)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: out is NULL", who);
    return eddy__graph_ready(g) && eddy__list_is_of(g, who, "y", y) &&
           eddy__list_is_of(g, who, "x", x);
}

eddy_status eddy_custom_gradient_with(const eddy_custom_gradient_args *given)
{
    eddy_custom_gradient_args a = EDDY_TAKE(eddy_custom_gradient_args, given);
    char        buf[64];
    eddy_graph *g = graph_of(a.y, a.x);
    eddy__tensors_clear(g, a.out, eddy__list_length(a.y));
    if (!lists_fit(g, "custom_gradient", a.y, a.x, a.out) ||
        !eddy__list_is_of(g, "custom_gradient", "variables", a.variables) ||
        !variables_are_named(g, &a))
        return eddy__status_of(g);
    const char *name =
        a.name && *a.name ? a.name : default_name(g, "custom_gradient", buf, sizeof buf);
    if (eddy_register_custom_gradient(g, name, a.gradient, a.context))
        add_identity(g, name, a.y, a.x, a.variables, a.out);
    return eddy_graph_status(g);
}

/* ------------------------------------------------------------- recompute -- */

/* The tensors on which the nodes of the subgraph depend: x first, then others. */
typedef struct inputs_found {
    eddy_tensor *at;
    int          count, capacity;
} inputs_found;

static bool add_input(eddy_graph *g, inputs_found *e, eddy_tensor t)
{
    if (!eddy_dtype_is_differentiable(eddy_dtype_of(t)) ||
        contains((eddy_list){ e->count, e->at }, t))
        return true;
    if (e->count == e->capacity) {
        int bigger = e->capacity ? 2 * e->capacity : 16;
        if (!eddy__grow(eddy__graph_allocator(g), (void **)&e->at, (size_t)e->capacity,
                        (size_t)bigger, sizeof *e->at)) {
            eddy_fail(g, EDDY_NO_MEMORY, "recompute_grad: out of memory");
            return false;
        }
        e->capacity = bigger;
    }
    e->at[e->count++] = t;
    return true;
}

/* Computed again: between x and y, and the same every time. */
static bool is_inside(const eddy_subgraph *s, const eddy_node *node, eddy_list x)
{
    const unsigned kept = EDDY_OP_STATEFUL | EDDY_OP_VARIABLE | EDDY_OP_REFERENCE |
                          EDDY_OP_UPDATES | EDDY_OP_SIDE_EFFECT;
    if (s->marks[node->id - s->first] != EDDY_BETWEEN || (node->op->flags & kept))
        return false;
    for (int k = 0; k < node->n_outputs; k++)
        if (contains(x, eddy__tensor_at(s->graph, node->id, k))) return false;
    return true;
}

static bool find_inputs(eddy_subgraph *s, eddy_list x, inputs_found *e)
{
    for (int i = 0; i < x.count; i++)
        if (!add_input(s->graph, e, x.at[i])) return false;
    for (int32_t id = s->first; id <= s->last; id++) {
        const eddy_node *node = s->graph->nodes[id];
        if (!is_inside(s, node, x)) continue;
        for (int i = 0; i < node->n_inputs; i++) {
            eddy_tensor t = node->inputs[i];
            bool        own = t.node >= s->first && is_inside(s, s->graph->nodes[t.node], x);
            if (!own && !eddy__input_is_in(node->op->shape_inputs, i) && !add_input(s->graph, e, t))
                return false;
        }
    }
    return true;
}

/* r->x is [y, inputs]; the first inputs are x, `context` counts them. */
static void recompute(eddy_rule *r)
{
    eddy_graph     *g = r->graph;
    const int       n = r->n_in - r->n_out, n_y = r->n_out;
    const eddy_list entering = { n, r->x + n_y };
    eddy_tensor    *t = eddy__tensors_new(g, n + 2 * (int64_t)n_y);
    eddy_subgraph   s;
    if (!t) return;
    eddy_tensor *again = t, *y = t + n, *dy = y + n_y;
    bool ok = eddy__subgraph_begin(&s, g, n, r->x + n_y, n_y, r->x);
    eddy_control_begin(g, (eddy_list){ n_y, r->dy });      /* not before it is needed */
    for (int i = 0; ok && i < n; i++)
        eddy__subgraph_replace(&s, entering.at[i], again[i] = eddy_identity(entering.at[i]));
    eddy_control_end(g);
    for (int32_t id = s.first; ok && id <= s.last && eddy__graph_ready(g); id++)
        if (is_inside(&s, g->nodes[id], entering)) eddy__subgraph_rebuild(&s, g->nodes[id]);
    for (int k = 0; ok && k < n_y; k++)
        y[k] = eddy__subgraph_replacement(&s, r->x[k]), dy[k] = r->dy[k];
    if (ok && eddy__graph_ready(g)) {
        const eddy_list ys = { n_y, y }, xs = { n, again };
        eddy_gradients(ys, xs, r->dx + n_y, .grad_ys = { n_y, dy }, .stop_gradients = xs);
    }
    eddy__subgraph_end(&s);
    eddy__tensors_free(g, t, n + 2 * (int64_t)n_y);
}

const eddy_named_rule eddy__recompute_rule = { EDDY_RECOMPUTE, recompute, NULL };

eddy_status eddy_recompute_grad(eddy_list y, eddy_list x, eddy_tensor *out)
{
    eddy_graph   *g = graph_of(y, x);
    eddy_subgraph s;
    inputs_found  e = { 0 };
    eddy__tensors_clear(g, out, eddy__list_length(y));
    if (!lists_fit(g, "recompute_grad", y, x, out)) return eddy__status_of(g);
    if (x.count == 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "recompute_grad: x is empty");
    else if (eddy__subgraph_begin(&s, g, x.count, x.at, y.count, y.at) && find_inputs(&s, x, &e))
        add_identity(g, eddy__recompute_rule.name, y, (eddy_list){ e.count, e.at },
                     (eddy_list){ 0 }, out);
    if (x.count > 0) eddy__subgraph_end(&s);
    eddy__release(eddy__graph_allocator(g), e.at, (size_t)e.capacity * sizeof *e.at);
    return eddy_graph_status(g);
}
