/* copy_bodies.c -- the attributes of copied nodes: bodies of loops and branches are graphs of their
 * own, which are copied as a whole, with the same ids.
 *
 * Arguments of a body have the shapes that its node's inputs had when it was built. If a copy has
 * inputs of other shapes, the arguments of its body follow. Nodes of the body that no node reads,
 * such as gradients of which a backward loop got a copy, cannot follow, and are left out. */
#include "graph/copy.h"

#include <string.h>

/* The type of an input of a Loop or Case as the body gets it: one row of a sliced input. */
static eddy_type type_inside(const eddy_node *node, int i, eddy_type t)
{
    if (node->op->flags & EDDY_OP_CASE) return t;
    const eddy_loop_attrs *a = node->attrs;
    const int64_t          slice = i - a->counted - a->n_carried;
    if (slice < 0 || slice >= a->n_sliced || t.shape.rank <= 0) return t;
    for (int d = 1; d < t.shape.rank; d++) t.shape.dim[d - 1] = t.shape.dim[d];
    t.shape.rank--;
    return t;
}

/* The input that argument `id` of the body stands for; -1 for the number of the iteration. */
static int input_of(const eddy_node *node, int id)
{
    if (node->op->flags & EDDY_OP_CASE) return id;
    return id - 2 + (id > 1 ? ((const eddy_loop_attrs *)node->attrs)->counted : 0);
}

/* A dimension follows where it was that of the input. */
static eddy_shape follow(eddy_shape arg, eddy_shape was, eddy_shape now)
{
    if (arg.rank < 0 || was.rank != arg.rank || now.rank != arg.rank) return arg;
    for (int d = 0; d < arg.rank; d++)
        if (arg.dim[d] == was.dim[d]) arg.dim[d] = now.dim[d];
    return arg;
}

/* The arguments of a body, nodes 1 to n, and their shapes by id. */
typedef struct arguments {
    int         n;
    eddy_shape *shapes;
    uint8_t    *read;       /* by id of the body: what its nodes read; NULL: everything */
} arguments;

static bool fits(const arguments *a, const eddy_graph *body)
{
    for (int id = 1; id <= a->n; id++)
        if (!eddy_shape_equal(body->nodes[id]->outputs[0].shape, a->shapes[id])) return false;
    return true;
}

/* Those of a copy whose inputs are `in`; without shapes if out of memory. */
static arguments arguments_of(eddy_copy *c, const eddy_node *node, const eddy_graph *body,
                              const eddy_tensor *in)
{
    arguments a = { .n = node->op->flags & EDDY_OP_BODY ? eddy__body_args(node) : 0 };
    a.shapes = eddy__copy_room(c, (int64_t)a.n + 1, sizeof *a.shapes);
    for (int id = 1; a.shapes && id <= a.n; id++) {
        const int        i = input_of(node, id);
        const eddy_node *now = i < 0 ? NULL : eddy_node_of(in[i]);
        a.shapes[id] = body->nodes[id]->outputs[0].shape;
        if (!now) continue;
        const eddy_tensor was = node->inputs[i];
        const eddy_type   before = c->from->nodes[was.node]->outputs[was.output];
        a.shapes[id] = follow(a.shapes[id], type_inside(node, i, before).shape,
                              type_inside(node, i, now->outputs[in[i].output]).shape);
    }
    return a;
}

/* The node with the attributes in the place of another one. */
static eddy_tensor put_argument(eddy_copy *c, const eddy_node *node, const eddy_op_def *op,
                                const void *attrs)
{
    return eddy__append((eddy_append_args){
        .graph = c->to, .op = op, .attrs = attrs, .name = node->name });
}

/* An argument of another shape than in the body that is copied. */
static void copy_argument(eddy_copy *c, const eddy_node *node, const eddy_shape *shape)
{
    const eddy_attr_field *f = node->op->attrs;
    while (f && f->name && f->kind != EDDY_ATTR_SHAPE) f++;
    char *attrs = eddy__copy_room(c, (int64_t)node->op->attrs_size, 1);
    if (!attrs || !f || !f->name) return;
    memcpy(attrs, node->attrs, node->op->attrs_size);
    memcpy(attrs + f->offset, shape, sizeof *shape);
    c->changed[node->id] = 1;
    eddy__copy_set_image(c, eddy__tensor_at(c->from, node->id, 0),
                         put_argument(c, node, node->op, attrs));
}

/* The copies have the ids of the originals, so an argument without readers takes the place of what
 * is left out. */
static bool copy_inside(eddy_copy *c, const eddy_node *node)
{
    const arguments *a = c->context;
    const eddy_node *first = c->from->nodes[1];
    if (node->id <= a->n) {
        if (eddy_shape_equal(a->shapes[node->id], node->outputs[0].shape)) return false;
        copy_argument(c, node, &a->shapes[node->id]);
        return true;
    }
    if (a->read && !a->read[node->id]) {
        put_argument(c, node, first->op, first->attrs);
        return true;
    }
    return c->inside && c->inside(c, node);
}

static void need_outs(eddy_copy *c, const eddy_node *node)
{
    const bool      cases = (node->op->flags & EDDY_OP_CASE) != 0;
    const eddy_ints none = { 0 };
    const eddy_ints outs = cases ? ((const eddy_case_attrs *)node->attrs)->outs
                                 : ((const eddy_loop_attrs *)node->attrs)->outs;
    const eddy_ints effects = cases ? ((const eddy_case_attrs *)node->attrs)->effects : none;
    for (int64_t i = 0; i < outs.count / 2; i++)
        eddy__copy_need(c, eddy__body_out(c->from, outs, i));
    for (int64_t i = 0; i < effects.count / 2; i++)
        eddy__copy_need(c, eddy__tensor_at(c->from, (int32_t)effects.at[2 * i + 1], 0));
}

/* Finds what the nodes that own the body, and that are copied by `outer`, read of it. */
static bool find_read(eddy_copy *c, const eddy_copy *outer, arguments *a)
{
    if (!eddy__copy_effects(c)) return false;
    for (int32_t id = 1; id <= outer->size; id++) {
        const eddy_node *node = outer->from->nodes[id];
        if (outer->needed[id] && (node->op->flags & EDDY_OP_BODY) &&
            eddy__body_of(node) == c->from)
            need_outs(c, node);
    }
    eddy__copy_find(c);
    a->read = eddy__copy_room(c, (int64_t)c->size + 1, 1);
    if (a->read) memcpy(a->read, c->needed, (size_t)c->size + 1);
    return a->read != NULL;
}

static bool fill_body(const eddy_copy *outer, const eddy_graph *from, eddy_graph *to, arguments *a)
{
    eddy_copy c;
    bool      ok = eddy__copy_begin(&c, (eddy_graph *)(uintptr_t)from, to);
    c.instead = copy_inside;
    c.inside = outer->inside;
    c.inside_context = outer->inside_context;
    c.context = a;
    if (ok && !fits(a, from)) ok = find_read(&c, outer, a);
    if (ok) memset(c.needed, 1, (size_t)from->size + 1);
    ok = ok && eddy__copy_nodes(&c) && eddy__copy_collections(&c, NULL);
    eddy__copy_end(&c);
    if (ok && from->finalized) eddy_graph_finalize(to);
    return ok;
}

static eddy_graph *copy_body(const eddy_copy *c, const eddy_graph *from, arguments *a)
{
    eddy_graph *outer = c->to;
    eddy_graph *to = eddy_graph_new(.allocator = &outer->allocator, .files = &outer->files,
                                    .seed = from->seed);
    if (!to) {
        eddy_fail(outer, EDDY_NO_MEMORY, "out of memory for a body");
        return NULL;
    }
    to->is_body = true;
    to->outer = outer->outer ? outer->outer : outer;
    if (fill_body(c, from, to, a)) return to;
    eddy_fail(outer, eddy_graph_status(to), "%s", eddy_graph_message(to));
    eddy_graph_free(to);
    return NULL;
}

/* The copy of a body, which is made once for all nodes that own it. */
static eddy_graph *body_for(eddy_copy *c, const eddy_node *node, const eddy_graph *body,
                            const eddy_tensor *in)
{
    if (!eddy__graph_ready(body)) {
        eddy_fail(c->to, EDDY_INVALID_ARGUMENT, "the graph of a node cannot be copied [node "
                  "'%.200s']", node->name);
        return NULL;
    }
    arguments a = arguments_of(c, node, body, in);
    if (!a.shapes) return NULL;
    for (const eddy_copied_body *b = c->bodies; b; b = b->next)
        if (b->from == body && fits(&a, b->to)) {
            eddy__graph_hold(b->to);
            return b->to;
        }
    eddy_copied_body *made = eddy__copy_room(c, 1, sizeof *made);
    if (!made) return NULL;
    *made = (eddy_copied_body){ body, copy_body(c, body, &a), c->bodies };
    if (made->to) c->bodies = made;
    return made->to;
}

/* A node has at most one graph. */
const void *eddy__copy_attrs(eddy_copy *c, const eddy_node *node, const eddy_tensor *in)
{
    const eddy_attr_field *f = node->op->attrs;
    while (f && f->name && f->kind != EDDY_ATTR_GRAPH) f++;
    const char *had = node->attrs;
    eddy_graph *body = NULL;
    if (f && f->name) memcpy(&body, had + f->offset, sizeof body);
    if (!body) return had;
    char *attrs = eddy__copy_room(c, (int64_t)node->op->attrs_size, 1);
    body = attrs ? body_for(c, node, body, in) : NULL;
    if (!body) return NULL;
    memcpy(attrs, had, node->op->attrs_size);
    memcpy(attrs + f->offset, &body, sizeof body);
    return attrs;
}
