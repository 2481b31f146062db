/* subgraph_to_body.c -- copies part of a graph into a body. */
#include "control/internal.h"
#include "ops/ops.h"
#include "build/gen/table.h"

#include <string.h>

enum { MOST_CONSTANT = 1 << 16 };

eddy_tensor eddy__argument(eddy_graph *g, eddy_type t)
{
    return eddy_apply(&eddy_op_argument, &(eddy_argument_attrs){ t.dtype, t.shape }, 0, NULL,
                      (eddy_apply_args){ .graph = g });
}

void *eddy__extract_room(extraction *e, int64_t n, size_t size)
{
    void *p = eddy__arena_alloc(&e->arena, (size_t)(n > 0 ? n : 1) * size);
    if (p) memset(p, 0, (size_t)(n > 0 ? n : 1) * size);
    else eddy_fail(e->from, EDDY_NO_MEMORY, "out of memory for a body (nodes: %lld)", (long long)n);
    return p;
}

bool eddy__extract_begin_into(extraction *e, eddy_graph *from, eddy_graph *to)
{
    *e = (extraction){ .from = from,
                       .body = to,
                       .size = from->size,
                       .arena = { .allocator = eddy__graph_allocator(from) } };
    const int64_t n = (int64_t)from->size + 1;
    e->copies = eddy__extract_room(e, n, 1);
    e->needed = eddy__extract_room(e, n, 1);
    e->images = eddy__extract_room(e, n, sizeof *e->images);
    e->last_capture = eddy__extract_room(e, n, sizeof *e->last_capture);
    return e->copies && e->needed && e->images && e->last_capture;
}

bool eddy__extract_begin(extraction *e, eddy_graph *from)
{
    const bool  ok = eddy__extract_begin_into(e, from, NULL);
    eddy_graph *body = eddy_graph_new(.allocator = &from->allocator, .files = &from->files,
                                      .seed = from->seed * 31 + from->size + 1);
    if (!body) eddy_fail(from, EDDY_NO_MEMORY, "out of memory for a body");
    else {
        body->is_body = true;
        body->outer = from->outer ? from->outer : from;
    }
    e->body = body;
    return ok && body;
}

/* Small constants are copied, so that the body's own passes see their values. Others outside may
 * be what gradients are with respect to, if they are differentiable. */
static bool is_copied(const extraction *e, int32_t id)
{
    const eddy_node *node = e->from->nodes[id];
    if (e->copies[id]) return true;
    if (!(node->op->flags & EDDY_OP_CONSTANT)) return false;
    if (eddy_dtype_is_differentiable(node->outputs[0].dtype) && id < e->inside) return false;
    const eddy_array *value = eddy_constant_value(eddy__tensor_at(e->from, id, 0));
    return value && eddy_array_bytes(value) <= MOST_CONSTANT;
}

static bool more_captures(extraction *e)
{
    const int    bigger = e->capacity ? 2 * e->capacity : 16;
    eddy_tensor *more = eddy__extract_room(e, bigger, sizeof *more);
    uint8_t     *needs = eddy__extract_room(e, bigger, 1);
    int         *before = eddy__extract_room(e, bigger, sizeof *before);
    if (!more || !needs || !before) return false;
    if (e->n_captures > 0) {
        memcpy(more, e->captures, (size_t)e->n_captures * sizeof *more);
        memcpy(needs, e->capture_needs, (size_t)e->n_captures);
        memcpy(before, e->capture_before, (size_t)e->n_captures * sizeof *before);
    }
    e->captures = more;
    e->capture_needs = needs;
    e->capture_before = before;
    e->capacity = bigger;
    return true;
}

static bool capture(extraction *e, eddy_tensor t, uint8_t what)
{
    int *last = &e->last_capture[t.node], i = *last - 1;
    while (i >= 0 && !eddy_same(e->captures[i], t)) i = e->capture_before[i];
    if (i < 0) {
        if (e->n_captures == e->capacity && !more_captures(e)) return false;
        i = e->n_captures++;
        e->captures[i] = t;
        e->capture_before[i] = *last - 1;
        *last = i + 1;
    }
    e->capture_needs[i] |= what;
    return true;
}

/* The types of the node's inputs decide those of its outputs. */
static bool is_typed_by_inputs(const eddy_node *node)
{
    const unsigned other = EDDY_OP_BODY | EDDY_OP_DYNAMIC | EDDY_OP_STATEFUL | EDDY_OP_SIDE_EFFECT |
                           EDDY_OP_PLACEHOLDER | EDDY_OP_REFERENCE | EDDY_OP_VARIABLE;
    return !(node->op->flags & other) && node->op->value_inputs == 0;
}

/* t is needed: its node, or itself as an argument. Only a loop beside it reads a stack of an open
 * loop, which is computed again there. Where a gradient needs the type alone of what the forward
 * iteration computes, the node is copied, so that no value is kept; no run executes it. */
static bool need(extraction *e, eddy_tensor t, uint8_t what)
{
    const eddy_node *node = e->from->nodes[t.node];
    if (eddy__extract_variable(e, t) >= 0) return true;
    const bool typed = e->gradient && what == NEEDS_TYPE && is_typed_by_inputs(node);
    if (typed || is_copied(e, t.node) || eddy__is_open_stack(node, t.output)) {
        e->needed[t.node] |= typed ? NEEDS_TYPE : NEEDS_VALUE;
        return true;
    }
    return capture(e, t, what);
}

static bool need_inputs(extraction *e, int32_t id)
{
    const eddy_node *node = e->from->nodes[id];
    const bool       typed = e->needed[id] == NEEDS_TYPE;
    for (int i = 0; i < node->n_inputs; i++) {
        const bool type = typed || eddy__input_is_in(node->op->shape_inputs, i);
        if (!need(e, node->inputs[i], type ? NEEDS_TYPE : NEEDS_VALUE)) return false;
    }
    for (int i = 0; i < node->n_controls && !typed; i++)
        if (e->copies[node->controls[i]]) e->needed[node->controls[i]] |= NEEDS_VALUE;
    return true;
}

void eddy__extract_also(extraction *e, int32_t id) { e->needed[id] |= NEEDS_VALUE; }

bool eddy__extract_find(extraction *e, int n, const eddy_tensor *roots)
{
    for (int i = 0; i < n; i++)
        if (!need(e, roots[i], NEEDS_VALUE)) return false;
    for (int32_t id = e->size; id >= 1; id--)
        if (e->needed[id] && !need_inputs(e, id)) return false;
    return true;
}

void eddy__extract_argument(extraction *e, eddy_tensor t, eddy_type type)
{
    const eddy_tensor arg = eddy__argument(e->body, type);
    if (t.node <= 0) return;
    eddy_tensor **at = &e->images[t.node];
    if (!*at) *at = eddy__extract_room(e, e->from->nodes[t.node]->n_outputs, sizeof **at);
    if (*at) (*at)[t.output] = arg;
}

eddy_tensor eddy__extract_image(const extraction *e, eddy_tensor t)
{
    return e->images[t.node] ? e->images[t.node][t.output] : eddy_none(e->body);
}

/* The node runs in the body although it also runs outside of it: a forward loop or branch that a
 * gradient needs, or one whose stack is needed. Its side effects happen outside. */
static bool is_repeated(const extraction *e, const eddy_node *node)
{
    return (node->op->flags & EDDY_OP_BODY) && (e->gradient || !e->copies[node->id]);
}

/* The attributes of a node without side effects. */
static const void *quiet_attrs(const eddy_node *node, eddy_loop_attrs *loop, eddy_case_attrs *cases)
{
    if (node->op->flags & EDDY_OP_CASE) {
        *cases = *(const eddy_case_attrs *)node->attrs;
        cases->quiet = true;
        return cases;
    }
    *loop = *(const eddy_loop_attrs *)node->attrs;
    loop->quiet = true;
    return loop;
}

/* The node yields the value of a variable as it is. */
static bool is_read(const eddy_node *node)
{
    return node->op == &eddy_op_read || node->op == &eddy_op_latest_value;
}

static bool set_image(extraction *e, const eddy_node *node, eddy_tensor t)
{
    eddy_tensor *y = eddy__extract_room(e, 1, sizeof *y);
    if (!y) return false;
    y[0] = t;
    e->images[node->id] = y;
    return true;
}

static const eddy_op_def *function_of(const extraction *e, const eddy_node *node)
{
    if (!(node->op->flags & EDDY_OP_UPDATES) || e->n_vars == 0) return node->op;
    return eddy__extract_function(node, eddy__type_of(node->inputs[0]));
}

/* A node of the same operation, on the images of its inputs. */
static bool copy_node(extraction *e, const eddy_node *node)
{
    eddy_tensor *in = eddy__extract_room(e, node->n_inputs, sizeof *in);
    int32_t     *controls = eddy__extract_room(e, node->n_controls, sizeof *controls);
    int          n_controls = 0;
    if (!in || !controls) return false;
    for (int i = 0; i < node->n_inputs; i++) in[i] = eddy__extract_input(e, node, i);
    for (int i = 0; i < node->n_controls; i++) {
        eddy_tensor **at = &e->images[node->controls[i]];
        if (e->needed[node->controls[i]] && *at) controls[n_controls++] = (*at)[0].node;
    }
    if (is_read(node)) return set_image(e, node, in[0]);
    const eddy_op_def *op = function_of(e, node);
    const int          skip = op == &eddy_op_identity && node->op != op;    /* Assign */
    eddy_loop_attrs loop;
    eddy_case_attrs branches;
    const void     *attrs = node->attrs;
    if (is_repeated(e, node)) attrs = quiet_attrs(node, &loop, &branches);
    if (op != node->op) attrs = NULL;
    if (e->seeded && eddy__is_random(node)) {
        void *room = eddy__extract_room(e, (int64_t)op->attrs_size, 1);
        if (!room) return false;
        attrs = eddy__seeded_attrs(node, room);
    }
    eddy__attrs_share_graphs(op, attrs);
    const bool  taken = eddy__names_find(e->body, node->name, strlen(node->name)) != NULL;
    eddy_tensor t = eddy__append((eddy_append_args){
        .graph = e->body, .op = op, .attrs = attrs, .n = node->n_inputs - skip, .in = in + skip,
        .name = taken ? NULL : node->name, .n_controls = n_controls, .controls = controls,
        .gradient = node->gradient });
    if (t.node == 0 && eddy__graph_ready(e->body)) return false;
    if (!eddy__graph_ready(e->body)) return false;
    eddy_tensor *y = eddy__extract_room(e, node->n_outputs, sizeof *y);
    if (!y) return false;
    y[0] = eddy__tensor_at(e->body, e->body->size, 0);
    for (int k = 1; k < node->n_outputs; k++) y[k] = eddy__tensor_at(e->body, e->body->size, k);
    for (int k = 0; e->images[node->id] && k < node->n_outputs; k++)    /* captured outputs */
        if (eddy_is_valid(e->images[node->id][k])) y[k] = e->images[node->id][k];
    e->images[node->id] = y;
    return true;
}

bool eddy__extract_copy(extraction *e)
{
    for (int32_t id = 1; id <= e->size && eddy__graph_ready(e->from); id++) {
        if (!e->needed[id]) continue;
        const unsigned refers = EDDY_OP_REFERENCE | EDDY_OP_VARIABLE;
        const eddy_node *node = e->from->nodes[id];
        if ((node->op->flags & refers) && !(node->op->flags & EDDY_OP_UPDATES) && !is_read(node)) {
            eddy_fail(e->from, EDDY_UNIMPLEMENTED,
                      "%s: a body of a loop or branch cannot refer to a variable [node '%.200s']",
                      node->op->name, node->name);
            return false;
        }
        if (!copy_node(e, node)) return false;
    }
    return eddy__graph_ready(e->from) && eddy__graph_ready(e->body);
}

bool eddy__extract_end(extraction *e)
{
    if (e->body && !eddy__graph_ready(e->body) && eddy__graph_ready(e->from))
        eddy_fail(e->from, eddy_graph_status(e->body), "%s", eddy_graph_message(e->body));
    eddy__arena_free(&e->arena);
    if (eddy__graph_ready(e->from)) return true;
    eddy_graph_free(e->body);
    e->body = NULL;
    return false;
}

uint8_t *eddy__body_varying(extraction *e, const eddy_graph *body, int n_varying)
{
    uint8_t *varying = eddy__extract_room(e, (int64_t)body->size + 1, 1);
    if (!varying) return NULL;
    for (int32_t id = 1; id <= body->size; id++) {
        const eddy_node *node = body->nodes[id];
        const unsigned   acts = EDDY_OP_STATEFUL | EDDY_OP_SIDE_EFFECT;
        varying[id] = id <= n_varying || (node->op->flags & acts) != 0;
        for (int i = 0; i < node->n_inputs; i++)
            if (!eddy__input_is_in(node->op->shape_inputs, i) && varying[node->inputs[i].node])
                varying[id] = 1;
    }
    return varying;
}
