/* gradients.c -- reverse-mode differentiation: the sweep behind eddy_gradients.
 *
 * Ids are a topological order, because a node is built only from existing nodes. So one pass in
 * ascending order marks the nodes that depend on some x, one pass in descending order marks the
 * nodes that some y depends on, and another descending pass gives each marked node its complete
 * gradient and calls the operation's rule for the gradients of its inputs. After TensorFlow's
 * gradients_util, which reaches the same nodes by means of queues. */
#include "autodiff/again.h"
#include "autodiff/internal.h"
#include "graph/call_options.h"
#include "ops/ops.h"

#include <stdlib.h>
#include <string.h>

/* A contribution to the gradient of one output of a node. */
typedef struct term {
    struct term *next;
    eddy_tensor  value;
    int32_t      output;
} term;

typedef struct sweep {
    const eddy_gradients_args *args;
    const eddy_recording *recording;    /* the recording of a tape, or NULL */
    eddy_graph *graph;
    int32_t     size, first;        /* largest id, smallest id of an x */
    uint8_t    *marks;              /* by id: REACHED, BETWEEN, STOP, AGAIN */
    term      **terms;           /* by id: a list, newest first; after aggregation one per output */
    struct repeated *repeated;      /* tensors that are computed again */
    eddy_arena  arena;
    char        scope[EDDY_MAX_NAME];
} sweep;

/* A tensor that rules see in place of another one with its value (compute_again.h). */
typedef struct repeated {
    struct repeated *next;
    eddy_tensor      of, tensor;
} repeated;

enum { REACHED = 1, BETWEEN = 2, STOP = 4, AGAIN = 8, COPY = 16 };

static bool ready(const sweep *s) { return s->graph->error.status == EDDY_OK; }
static bool is_between(const sweep *s, eddy_tensor t) { return (s->marks[t.node] & BETWEEN) != 0; }

/* -------------------------------------------------------------- marking -- */

/* True if gradients flow from the node to its input i. */
static bool gradient_flows(const sweep *s, const eddy_node *node, int i)
{
    const eddy_recording *r = s->recording;
    eddy_tensor           x = node->inputs[i];
    if (!r) return true;
    return node->id <= r->size && (r->marks[node->id] & EDDY_RECORDED) &&
           eddy__on_tape(r, x, node->id);
}

/* The tensor that the node computed again, if that depends on some x; otherwise no tensor. */
static eddy_tensor copied_by(const sweep *s, int32_t id)
{
    if (!(s->marks[id] & COPY)) return EDDY_NO_TENSOR;
    const eddy__again_copy *c = eddy__again_copies(s->graph);
    while (c->tensor.node != id) c = c->next;
    return s->marks[c->of.node] & REACHED ? c->of : EDDY_NO_TENSOR;
}

static void mark_copies(sweep *s)
{
    for (const eddy__again_copy *c = eddy__again_copies(s->graph); c; c = c->next)
        if (c->tensor.node <= s->size) s->marks[c->tensor.node] |= COPY;
}

static void mark_reached(sweep *s)
{
    for (int i = 0; i < s->args->xs.count; i++) s->marks[s->args->xs.at[i].node] |= REACHED;
    for (int32_t id = s->first; id <= s->size; id++) {
        const eddy_node *node = s->graph->nodes[id];
        if (eddy_is_valid(copied_by(s, id))) s->marks[id] |= REACHED;
        for (int i = 0; i < node->n_inputs && !(s->marks[id] & REACHED); i++)
            if ((s->marks[node->inputs[i].node] & REACHED) && gradient_flows(s, node, i) &&
                eddy_dtype_is_differentiable(eddy_dtype_of(node->inputs[i])))
                s->marks[id] |= REACHED;
    }
}

static void mark_between(sweep *s)
{
    for (int i = 0; i < s->args->ys.count; i++)
        if (s->marks[s->args->ys.at[i].node] & REACHED) s->marks[s->args->ys.at[i].node] |= BETWEEN;
    for (int32_t id = s->size; id >= s->first; id--) {
        if (!(s->marks[id] & BETWEEN)) continue;
        const eddy_node  *node = s->graph->nodes[id];
        const eddy_tensor of = copied_by(s, id);
        if (eddy_is_valid(of)) {
            s->marks[of.node] |= BETWEEN;
            continue;
        }
        for (int i = 0; i < node->n_inputs; i++)
            if ((s->marks[node->inputs[i].node] & REACHED) && gradient_flows(s, node, i))
                s->marks[node->inputs[i].node] |= BETWEEN;
    }
}

/* The rules of the outermost xs and of stop_gradients are not called. */
static void mark_stops(sweep *s)
{
    for (int k = 0; k < s->args->xs.count; k++) {
        const eddy_node *node = s->graph->nodes[s->args->xs.at[k].node];
        bool inside = false;
        for (int i = 0; i < node->n_inputs; i++)
            inside = inside || (is_between(s, node->inputs[i]) && gradient_flows(s, node, i));
        if (!inside) s->marks[node->id] |= STOP;
    }
    for (int k = 0; k < s->args->stop_gradients.count; k++)
        s->marks[s->args->stop_gradients.at[k].node] |= STOP;
}

/* Marks nodes with an output that is computed again for rules. */
static void mark_again(sweep *s)
{
    for (const eddy__again_item *i = eddy__again_first(s->graph); i; i = i->next)
        if (i->tensor.node <= s->size) s->marks[i->tensor.node] |= AGAIN;
}

/* ---------------------------------------------------------------- terms -- */

static void add_term(sweep *s, eddy_tensor to, eddy_tensor value)
{
    if (!eddy_is_valid(value)) return;
    term *t = eddy__arena_alloc(&s->arena, sizeof *t);
    if (!t) {
        eddy_fail(s->graph, EDDY_NO_MEMORY, "gradients: out of memory");
        return;
    }
    *t = (term){ .next = s->terms[to.node], .value = value, .output = to.output };
    s->terms[to.node] = t;
}

static eddy_tensor add_in_order(sweep *s, const eddy_node *node, int n, const eddy_tensor *v)
{
    char scope[EDDY_MAX_NAME + 32];
    if (snprintf(scope, sizeof scope, "%s_gradient_sum", node->name) < 0) return v[0];
    eddy_scope_begin(s->graph, scope);
    eddy_tensor sum = v[0];
    for (int i = 1; i < n; i++) sum = eddy_add_n(EDDY_LIST(sum, v[i]), NULL);
    eddy_scope_end(s->graph);
    return sum;
}

/* A node has at most EDDY_MAX_INPUTS inputs, so more terms are added in groups. */
static eddy_tensor add_all(int n, eddy_tensor *v)
{
    while (n > EDDY_MAX_INPUTS) {
        int groups = 0;
        for (int i = 0, m; i < n; i += m) {
            m = n - i < EDDY_MAX_INPUTS ? n - i : EDDY_MAX_INPUTS;
            v[groups++] = m > 1 ? eddy_add_n((eddy_list){ m, v + i }, NULL) : v[i];
        }
        n = groups;
    }
    return eddy_add_n((eddy_list){ n, v }, NULL);
}

static eddy_tensor add_terms(sweep *s, const eddy_node *node, int32_t output, int n, eddy_tensor *v)
{
    int slices = 0;
    for (int i = 0; i < n; i++) slices += eddy_slices_parts(v[i], NULL, NULL);
    if (n == 1) return v[0];
    /* A tape's mixture of dense and sparse is dense, and so is that of a body, where nobody takes
     * it apart; tf.gradients' is sparse. */
    const bool dense = s->recording || s->graph->is_body;
    if (slices == n || (slices > 0 && !dense)) return eddy_slices_add((eddy_list){ n, v });
    eddy_aggregation method = s->args->aggregation_method;
    bool             accumulate = method == EDDY_EXPERIMENTAL_ACCUMULATE_N && n > 2 &&
                      eddy_shape_is_known(node->outputs[output].shape);
    if (method == EDDY_ADD_N || accumulate) return add_all(n, v);
    return add_in_order(s, node, n, v);
}

/* Adds the contributions to each output; terms[id] then has one per output. */
static void aggregate(sweep *s, const eddy_node *node)
{
    int32_t  id = node->id;
    term    *all = s->terms[id];
    int      n = 0;
    if (!all || !all->next) return;
    for (term *t = all; t; t = t->next) n++;
    eddy_tensor *v = eddy__arena_alloc(&s->arena, (size_t)n * sizeof *v);
    if (!v) {
        eddy_fail(s->graph, EDDY_NO_MEMORY, "gradients: out of memory");
        return;
    }
    s->terms[id] = NULL;
    for (int32_t k = 0; k < node->n_outputs && ready(s); k++) {
        int m = 0;
        for (term *t = all; t; t = t->next)
            if (t->output == k) v[m++] = t->value;
        for (int i = 0, j = m - 1; i < j; i++, j--) {          /* oldest first */
            eddy_tensor swap = v[i];
            v[i] = v[j];
            v[j] = swap;
        }
        if (m > 0) add_term(s, eddy__tensor_at(s->graph, id, k), add_terms(s, node, k, m, v));
    }
}

static eddy_tensor gradient_at(const sweep *s, eddy_tensor t)
{
    for (const term *k = s->terms[t.node]; k; k = k->next)
        if (k->output == t.output) return k->value;
    return eddy_none(s->graph);
}

/* ---------------------------------------------------------------- rules -- */

/* The number of input i of a rule's node, as the user counts: a custom gradient begins after y. */
static int number_of(const eddy_rule *r, int i)
{
    const eddy_custom_rule *custom = &r->graph->custom;
    return custom->node == r->node ? i - custom->first : i;
}

/* Brings the gradient of an input to the input's shape and checks it. */
static eddy_tensor fit_to_input(eddy_rule *r, int i)
{
    eddy_tensor x = r->x[i], dx = r->dx[i];
    eddy_shape  want = eddy_shape_of(x), have = eddy_shape_of(dx);
    char        a[100], b[100];
    if (!eddy_is_valid(dx)) return dx;
    if (eddy_dtype_of(dx) != eddy_dtype_of(x))
        eddy_rule_fail(r, EDDY_BAD_DTYPE,
                       "the gradient of input %d is %s; expected %s, like the input",
                       number_of(r, i), eddy_dtype_name(eddy_dtype_of(dx)),
                       eddy_dtype_name(eddy_dtype_of(x)));
    else if ((r->node->op->flags & EDDY_OP_ELEMENTWISE) && r->n_in > 1) {
        bool same = eddy_shape_is_known(want) && eddy_shape_equal(want, have);
        return same ? dx : eddy_sum_like(dx, x);
    } else if (!eddy_shape_compatible(want, have))
        eddy_rule_fail(r, EDDY_BAD_SHAPE,
                       "Incompatible shapes between op input and calculated input gradient: input "
                       "%d has shape %s and its gradient %s",
                       number_of(r, i), eddy_shape_print(want, a, sizeof a),
                       eddy_shape_print(have, b, sizeof b));
    return dx;
}

/* The op's own rule, or the registered rule that the node requests. .rule is NULL, with the
 * error set, if there is none. */
static eddy_named_rule rule_of(const sweep *s, const eddy_node *node)
{
    eddy_named_rule found = { node->op->name, node->op->gradient, NULL };
    if (node->gradient) {
        const eddy_named_rule *named = eddy__rule_named(s->graph, node->gradient);
        if (named) return *named;
        if (strcmp(node->gradient, eddy__recompute_rule.name) == 0) return eddy__recompute_rule;
        eddy_fail(
            s->graph, EDDY_NO_GRADIENT,
            "No gradient is registered as '%.200s', requested by operation '%.300s' (op type: %s)",
            node->gradient, node->name, node->op->name);
        found.rule = NULL;
    }
    return found;
}

static void call_rule(sweep *s, eddy_rule *r, const eddy_named_rule *rule)
{
    eddy_graph *g = s->graph;
    char        scope[2 * EDDY_MAX_NAME];
    bool        was = g->in_rule;
    int32_t     origin = g->origin, colocate = g->colocate;
    const eddy_custom_rule custom = g->custom;
    const char *of = eddy__custom_rule_of(g, r->node).of;  /* the user's node, not IdentityN */
    snprintf(scope, sizeof scope, "%s%s_grad/", s->scope, of ? of : r->node->name);
    if (!eddy__scope_enter(g, scope)) return;
    g->in_rule = true;
    g->origin = r->node->id;
    if (s->args->colocate_gradients_with_ops) g->colocate = r->node->id;
    r->context = rule->context;
    rule->rule(r);
    int valid = 0;
    for (int i = 0; i < r->n_in && ready(s); i++) {
        r->dx[i] = fit_to_input(r, i);
        valid += eddy_is_valid(r->dx[i]);
    }
    if (ready(s) && r->n_dx != r->n_in)
        eddy_rule_fail(r, EDDY_INVALID_ARGUMENT,
                       "Num gradients %d generated for op %s do not match num inputs %d",
                       number_of(r, r->n_dx),
                       g->custom.node == r->node ? g->custom.name : r->node->name,
                       number_of(r, r->n_in));
    if (s->args->gate_gradients && valid > 1 && ready(s))
        eddy_tuple(g, (eddy_list){ r->n_in, r->dx }, r->dx, NULL);
    g->custom = custom;
    g->in_rule = was;
    g->origin = origin;
    g->colocate = colocate;
    eddy_scope_end(g);
}

/* ------------------------------------------------------ computed again -- */

/* A gradient that is known when the rule is called, as a tensor with elements. */
static eddy_tensor known_gradient(int n, const eddy_tensor *dy)
{
    eddy_tensor values;
    for (int k = 0; k < n; k++)
        if (eddy_is_valid(dy[k])) return eddy_slices_parts(dy[k], &values, NULL) ? values : dy[k];
    return dy[0];
}

/* y, if it can stand for x. */
static eddy_tensor fit_to_again(const sweep *s, eddy_tensor x, eddy_tensor y)
{
    const eddy_type have = { eddy_dtype_of(y), eddy_shape_of(y) };
    const eddy_type want = { eddy_dtype_of(x), eddy_shape_of(x) };
    char            is[200], wanted[200];
    if (!ready(s) || (eddy_is_valid(y) && y.graph == s->graph && have.dtype == want.dtype &&
                      eddy_shape_equal(have.shape, want.shape)))
        return y;
    return eddy_fail(s->graph, EDDY_INVALID_ARGUMENT,
                     "compute_again: the function returns %s for '%.200s', which is %s",
                     eddy_is_valid(y) ? eddy_type_print(have, is, sizeof is) : "no tensor",
                     eddy_name_of(x), eddy_type_print(want, wanted, sizeof wanted));
}

/* x computed again, or x. */
static eddy_tensor again_of(sweep *s, eddy_tensor x, eddy_tensor after)
{
    const eddy__again_item *item = eddy__again_first(s->graph);
    for (const repeated *r = s->repeated; r; r = r->next)
        if (eddy_same(r->of, x)) return r->tensor;
    while (item && !eddy_same(item->tensor, x)) item = item->next;
    repeated *r = item ? eddy__arena_alloc(&s->arena, sizeof *r) : NULL;
    if (!item) return x;
    if (!r) {
        eddy_fail(s->graph, EDDY_NO_MEMORY, "gradients: out of memory");
        return x;
    }
    *r = (repeated){ s->repeated, x,
                     fit_to_again(s, x, item->again(item->context, x, after)) };
    s->repeated = r;
    const eddy_node *node = ready(s) ? eddy_node_of(r->tensor) : NULL;
    if (node && node->id > x.node && node->n_outputs == 1 && !eddy__again_add(r->tensor, x))
        eddy_fail(s->graph, EDDY_NO_MEMORY, "gradients: out of memory");
    return r->tensor;
}

/* The inputs that the rule of the node sees. */
static const eddy_tensor *seen_inputs(sweep *s, const eddy_node *node, const eddy_tensor *dy)
{
    const int    n = node->n_inputs;
    bool         any = false;
    eddy_tensor *x = NULL;
    for (int i = 0; i < n; i++) any = any || (s->marks[node->inputs[i].node] & AGAIN);
    if (!any) return node->inputs;
    x = eddy__arena_alloc(&s->arena, (size_t)n * sizeof *x);
    if (!x) {
        eddy_fail(s->graph, EDDY_NO_MEMORY, "gradients: out of memory");
        return node->inputs;
    }
    for (int i = 0; i < n; i++) {
        x[i] = node->inputs[i];
        if (s->marks[x[i].node] & AGAIN)
            x[i] = again_of(s, x[i], known_gradient(node->n_outputs, dy));
    }
    return x;
}

/* Gradients of the outputs: the sum of the contributions, zeros if there are none, and no
 * tensor if the output is not differentiable. False if no output has a contribution. */
static bool output_gradients(sweep *s, const eddy_node *node, eddy_tensor *y, eddy_tensor *dy)
{
    bool any = false;
    for (int k = 0; k < node->n_outputs; k++) {
        y[k] = eddy__tensor_at(s->graph, node->id, k);
        dy[k] = gradient_at(s, y[k]);
        any = any || eddy_is_valid(dy[k]);
    }
    for (int k = 0; any && k < node->n_outputs; k++)
        if (!eddy_is_valid(dy[k]) && eddy_dtype_is_differentiable(node->outputs[k].dtype))
            dy[k] = eddy_zeros_like(y[k]);
    return any;
}

static void visit(sweep *s, const eddy_node *node)
{
    enum { FEW = 16 };
    int          n = node->n_inputs, m = node->n_outputs;
    eddy_tensor  few[FEW], *t = few;
    aggregate(s, node);
    const eddy_tensor of = copied_by(s, node->id);
    if ((s->marks[node->id] & STOP) || !ready(s)) return;
    if (eddy_is_valid(of)) add_term(s, of, s->terms[node->id]->value);
    if (eddy_is_valid(of) || n == 0) return;
    const eddy_named_rule rule = rule_of(s, node);
    if (rule.rule == eddy_not_differentiable || !ready(s)) return;
    if (n + 2 * m > FEW) t = eddy__arena_alloc(&s->arena, (size_t)(n + 2 * m) * sizeof *t);
    if (!t) {
        eddy_fail(s->graph, EDDY_NO_MEMORY, "gradients: out of memory");
        return;
    }
    eddy_tensor *dx = t, *y = t + n, *dy = t + n + m;
    if (!output_gradients(s, node, y, dy)) return;
    if (!rule.rule) {
        eddy_fail(s->graph, EDDY_NO_GRADIENT,
                  "No gradient defined for operation '%.300s' (op type: %s)", node->name,
                  node->op->name);
        return;
    }
    for (int i = 0; i < n; i++) dx[i] = eddy_none(s->graph);
    eddy_rule r = {
        .graph = s->graph, .node = node, .attrs = node->attrs, .y = y, .dy = dy,
        .x = seen_inputs(s, node, dy),
        .dx = dx, .n_in = n, .n_out = m, .n_dx = n,
    };
    call_rule(s, &r, &rule);
    for (int i = 0; i < n && ready(s); i++)
        if (is_between(s, node->inputs[i]) && gradient_flows(s, node, i))
            add_term(s, node->inputs[i], dx[i]);
}

/* ---------------------------------------------------------------- seeds -- */

static bool is_numeric(eddy_dtype d)
{
    return eddy_dtype_is_floating(d) || eddy_dtype_is_integer(d) || eddy_dtype_is_complex(d);
}

static bool seeds_fit(eddy_graph *g, const eddy_gradients_args *a)
{
    const eddy_weighted w = { "gradients", "grad_ys", "ys", a->grad_ys, a->ys };
    for (int i = 0; i < a->ys.count && eddy__graph_ready(g); i++) {
        const eddy_tensor y = a->ys.at[i];
        const eddy_dtype  d = eddy_dtype_of(y);
        const bool        has = a->grad_ys.at && i < a->grad_ys.count &&
                         eddy_is_valid(a->grad_ys.at[i]);
        if (!is_numeric(d))
            eddy_fail(g, EDDY_BAD_DTYPE,
                      "Gradient type %s for '%.200s': it must be numeric to obtain a default "
                      "gradient", eddy_dtype_name(d), eddy_name_of(y));
        else if (!has && eddy_dtype_is_complex(d))
            eddy_fail(g, EDDY_BAD_DTYPE,
                      "Gradients of complex tensors must set grad_ys (y.dtype = %s)",
                      eddy_dtype_name(d));
    }
    return eddy__graph_ready(g) && eddy__weights_fit(g, &w);
}

static void seed(sweep *s, int i)
{
    eddy_tensor y = s->args->ys.at[i], given = eddy_none(s->graph);
    char        name[32];
    if (i < s->args->grad_ys.count) given = s->args->grad_ys.at[i];
    bool has = eddy_is_valid(given);
    bool sliced = has && eddy_slices_parts(given, NULL, NULL);
    snprintf(name, sizeof name, "grad_ys_%d", i);
    eddy_tensor dy =
        sliced ? given : eddy_named(name, has ? eddy_identity(given) : eddy_ones_like(y));
    if (s->marks[y.node] & BETWEEN) add_term(s, y, dy);
}

/* -------------------------------------------------------------- the call -- */

static bool args_are_valid(eddy_graph *g, const eddy_gradients_args *a)
{
    if (!eddy__list_is_of(g, "gradients", "ys", a->ys) ||
        !eddy__list_is_of(g, "gradients", "xs", a->xs) ||
        !eddy__list_is_of(g, "gradients", "stop_gradients", a->stop_gradients))
        return false;
    if (!a->out && a->xs.count > 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "gradients: out is NULL");
    else if ((unsigned)a->aggregation_method > EDDY_EXPERIMENTAL_ACCUMULATE_N)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "Invalid aggregation_method specified %d.",
                  (int)a->aggregation_method);
    else if ((unsigned)a->unconnected_gradients > EDDY_UNCONNECTED_ZERO)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "Unknown value for unconnected_gradients: '%d'",
                  (int)a->unconnected_gradients);
    else if (g->finalized)
        eddy_fail(g, EDDY_FINALIZED, "Graph is finalized and cannot be modified.");
    return eddy__graph_ready(g) && seeds_fit(g, a);
}

static void run_sweep(sweep *s)
{
    s->first = s->size;
    for (int i = 0; i < s->args->xs.count; i++)
        if (s->args->xs.at[i].node < s->first) s->first = s->args->xs.at[i].node;
    mark_copies(s);
    mark_reached(s);
    mark_between(s);
    mark_stops(s);
    mark_again(s);
    for (int i = 0; i < s->args->ys.count && ready(s); i++) seed(s, i);
    for (int32_t id = s->size; id >= s->first && ready(s); id--)
        if ((s->marks[id] & BETWEEN) && s->terms[id]) visit(s, s->graph->nodes[id]);
    for (int i = 0; i < s->args->xs.count && ready(s); i++) {
        eddy_tensor x = s->args->xs.at[i], dx = gradient_at(s, x);
        if (!eddy_is_valid(dx) && s->args->unconnected_gradients == EDDY_UNCONNECTED_ZERO)
            dx = eddy_zeros_like(x);
        s->args->out[i] = dx;
    }
}

eddy_status eddy__sweep(const eddy_gradients_args *a, const eddy_recording *recording)
{
    eddy_graph *g = eddy__graph_of_any(a->ys);
    if (!g) g = eddy__graph_of_any(a->xs);
    eddy__tensors_clear(g, a->out, eddy__list_length(a->xs));
    if (!g) return EDDY_INVALID_ARGUMENT;
    if (!eddy__graph_ready(g) || !args_are_valid(g, a)) return eddy_graph_status(g);

    size_t n = (size_t)g->size + 1;
    sweep  s = { .args = a, .recording = recording, .graph = g, .size = g->size,
                 .arena.allocator = &g->allocator };
    s.marks = eddy__allocate_zeroed(&g->allocator, n, sizeof *s.marks);
    s.terms = eddy__allocate_zeroed(&g->allocator, n, sizeof *s.terms);
    eddy_scope_begin(g, a->name && *a->name ? a->name : "gradients");
    snprintf(s.scope, sizeof s.scope, "%s", eddy_scope_name(g));
    if (!s.marks || !s.terms)
        eddy_fail(g, EDDY_NO_MEMORY, "gradients: out of memory (nodes: %zu)", n);
    else if (ready(&s)) run_sweep(&s);
    eddy_scope_end(g);
    eddy__release(&g->allocator, s.marks, n * sizeof *s.marks);
    eddy__release(&g->allocator, s.terms, n * sizeof *s.terms);
    eddy__arena_free(&s.arena);
    if (!ready(&s)) eddy__tensors_clear(g, a->out, eddy__list_length(a->xs));
    return eddy_graph_status(g);
}

eddy_status eddy_gradients_with(const eddy_gradients_args *given)
{
    eddy_gradients_args a = EDDY_TAKE(eddy_gradients_args, given);
    return eddy__sweep(&a, NULL);
}

eddy_tensor eddy_gradient(eddy_tensor y, eddy_tensor x)
{
    eddy_tensor dx = EDDY_NO_TENSOR;
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &dx);
    return dx;
}
