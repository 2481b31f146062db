/* emit_nodes.c -- nodes and constants of the model, and names for their values. */
#include "writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    ATTR_NAME = 1,
    ATTR_FLOAT,
    ATTR_INT,
    ATTR_STRING,
    ATTR_TENSOR,
    ATTR_GRAPH,
    ATTR_INTS = 8,
    ATTR_TYPE = 20
};
enum { TYPE_FLOAT = 1, TYPE_INT, TYPE_STRING, TYPE_TENSOR, TYPE_GRAPH, TYPE_INTS = 7 };

/* ------------------------------------------------------------------- nodes -- */

static const char *fresh_name(onnx_part *p)
{
    onnx_writer *w = p->writer;
    const char  *s = eddy__region_print(&w->memory, "%s%s:v%d", w->scope->prefix, p->node->name,
                                        w->values++);
    if (!s) eddy__writer_no_memory(w);
    return s ? s : "";
}

onnx_call eddy__call(onnx_part *p, const char *op, int n, const char *const *in)
{
    onnx_call c = { .part = p, .op = op };
    while (n > 0 && !*in[n - 1]) n--;
    for (int i = 0; i < n; i++) eddy__message_text(&c.node, NODE_INPUT, in[i]);
    return c;
}

static message attribute(const char *name, int64_t type)
{
    message m = { 0 };
    eddy__message_text(&m, ATTR_NAME, name);
    eddy__message_number(&m, ATTR_TYPE, type);
    return m;
}

void eddy__call_int(onnx_call *c, const char *name, int64_t v)
{
    message m = attribute(name, TYPE_INT);
    eddy__message_number(&m, ATTR_INT, v);
    eddy__message_inner(&c->node, NODE_ATTRIBUTE, &m);
}

void eddy__call_float(onnx_call *c, const char *name, double v)
{
    message m = attribute(name, TYPE_FLOAT);
    eddy__message_float(&m, ATTR_FLOAT, (float)v);
    eddy__message_inner(&c->node, NODE_ATTRIBUTE, &m);
}

void eddy__call_text(onnx_call *c, const char *name, const char *v)
{
    message m = attribute(name, TYPE_STRING);
    eddy__message_text(&m, ATTR_STRING, v);
    eddy__message_inner(&c->node, NODE_ATTRIBUTE, &m);
}

void eddy__call_ints(onnx_call *c, const char *name, int n, const int64_t *v)
{
    message m = attribute(name, TYPE_INTS);
    for (int i = 0; i < n; i++) eddy__message_number(&m, ATTR_INTS, v[i]);
    eddy__message_inner(&c->node, NODE_ATTRIBUTE, &m);
}

void eddy__call_tensor(onnx_call *c, const char *name, const eddy_array *v)
{
    message m = attribute(name, TYPE_TENSOR), tensor = eddy__writer_tensor_head("", v);
    eddy__message_bytes(&tensor, TENSOR_RAW, eddy_array_data(v), eddy_array_bytes(v));
    eddy__message_inner(&m, ATTR_TENSOR, &tensor);
    eddy__message_inner(&c->node, NODE_ATTRIBUTE, &m);
}

void eddy__call_graph(onnx_call *c, const char *name, message *graph)
{
    message m = attribute(name, TYPE_GRAPH);
    eddy__message_inner(&m, ATTR_GRAPH, graph);
    eddy__message_inner(&c->node, NODE_ATTRIBUTE, &m);
}

/* Names are of the caller's, or made here where they are NULL. */
static void finish(onnx_call *c, int n, const char **names)
{
    onnx_writer *w = c->part->writer;
    for (int i = 0; i < n; i++) eddy__message_text(&c->node, NODE_OUTPUT, names[i]);
    char label[512];
    snprintf(label, sizeof label, "%.200s%.200s:%s%d", w->scope->prefix, c->part->node->name, c->op,
             w->values++);
    eddy__message_text(&c->node, NODE_NAME, label);
    eddy__message_text(&c->node, NODE_OP, c->op);
    if (c->domain) eddy__message_text(&c->node, NODE_DOMAIN, c->domain);
    eddy__message_inner(&w->scope->nodes, GRAPH_NODE, &c->node);
    if (w->scope->nodes.full) eddy__writer_no_memory(w);
    c->part->nodes++;
}

const char *eddy__call_end(onnx_call *c)
{
    const char *name = fresh_name(c->part);
    finish(c, 1, &name);
    return name;
}

void eddy__call_outputs(onnx_call *c, int n, const char **names)
{
    for (int i = 0; i < n; i++) names[i] = fresh_name(c->part);
    finish(c, n, names);
}

const char *eddy__part_unary(onnx_part *p, const char *op, const char *a)
{
    onnx_call c = eddy__call(p, op, 1, &a);
    return eddy__call_end(&c);
}

const char *eddy__part_binary(onnx_part *p, const char *op, const char *a, const char *b)
{
    const char *const in[] = { a, b };
    onnx_call c = eddy__call(p, op, 2, in);
    return eddy__call_end(&c);
}

const char *eddy__part_cast(onnx_part *p, const char *x, eddy_dtype from, eddy_dtype to)
{
    if (from == to) return x;
    onnx_call c = eddy__call(p, "Cast", 1, &x);
    eddy__call_int(&c, "to", eddy__onnx_type_of(to));
    return eddy__call_end(&c);
}

void eddy__writer_identity(message *nodes, const char *from, const char *to)
{
    message node = { 0 };
    eddy__message_text(&node, NODE_INPUT, from);
    eddy__message_text(&node, NODE_OUTPUT, to);
    eddy__message_text(&node, NODE_OP, "Identity");
    eddy__message_inner(nodes, GRAPH_NODE, &node);
}

/* --------------------------------------------------------------- constants -- */

static size_t hash_of(const eddy_array *a)
{
    const uint8_t *at = eddy_array_data(a);
    uint64_t       h = 1469598103934665603u + (uint64_t)eddy_array_dtype(a);
    for (size_t i = 0; i < eddy_array_bytes(a); i++) h = (h ^ at[i]) * 1099511628211u;
    return (size_t)(h >> 20) % CONSTANT_BUCKETS;
}

const char *eddy__writer_constant(onnx_writer *w, const char *name, eddy_array *a)
{
    const bool       small = !name && eddy_array_bytes(a) <= 128;
    writer_constant *c, **bucket = small ? &w->constants.buckets[hash_of(a)] : NULL;
    for (c = bucket ? *bucket : NULL; c; c = c->same_hash)
        if (eddy_array_equal(c->array, a)) return c->name;
    c = eddy__region_take(&w->memory, 1, sizeof *c);
    if (c && !name) name = eddy__region_print(&w->memory, "constant:v%d", w->values++);
    eddy_array *own = c && name ? eddy_array_retain(a) : NULL;
    if (!own) return eddy__writer_no_memory(w), "";
    *c = (writer_constant){ .name = name, .array = own, .offset = -1,
                            .same_hash = bucket ? *bucket : NULL };
    if (bucket) *bucket = c;
    *w->constants.last = c;
    w->constants.last = &c->next;
    return name;
}

void eddy__writer_begin_constants(writer_constants *c)
{
    *c = (writer_constants){ 0 };
    c->last = &c->first;
}

void eddy__writer_free_constants(writer_constants *c)
{
    for (writer_constant *at = c->first; at; at = at->next) eddy_array_free(at->array);
    eddy__writer_begin_constants(c);
}

const char *eddy__part_array(onnx_part *p, eddy_array *a)
{
    return eddy__writer_constant(p->writer, NULL, a);
}

static const char *give(onnx_part *p, eddy_array *a)
{
    if (!a) return eddy__writer_no_memory(p->writer), "";
    const char *name = eddy__part_array(p, a);
    eddy_array_free(a);
    return name;
}

const char *eddy__part_number(onnx_part *p, eddy_dtype d, double v)
{
    return give(p, eddy_array_of(d, v));
}

const char *eddy__part_ints(onnx_part *p, int n, const int64_t *v)
{
    return give(p, n ? eddy_array_copy_of(EDDY_INT64, EDDY_SHAPE(n), v)
                     : eddy_array_new(EDDY_INT64, EDDY_SHAPE(0)));
}

const char *eddy__part_one(onnx_part *p, int64_t v) { return eddy__part_ints(p, 1, &v); }

/* ------------------------------------------------------------------ shapes -- */

const char *eddy__part_shape_of(onnx_part *p, const char *x, eddy_shape s)
{
    if (eddy_shape_is_known(s)) return eddy__part_ints(p, s.rank, s.dim);
    return eddy__part_unary(p, "Shape", x);
}

const char *eddy__part_shape(onnx_part *p, int i)
{
    const eddy_shape s = eddy__part_type(p, i).shape;
    return eddy__part_shape_of(p, eddy_shape_is_known(s) ? "" : eddy__part_in(p, i), s);
}

const char *eddy__part_size(onnx_part *p, const char *x, eddy_shape s, int axis)
{
    if (s.rank > axis && s.dim[axis] != EDDY_ANY) return eddy__part_one(p, s.dim[axis]);
    onnx_call c = eddy__call(p, "Shape", 1, &x);
    eddy__call_int(&c, "start", axis);
    eddy__call_int(&c, "end", axis + 1);
    return eddy__call_end(&c);
}

void eddy__writer_value_info(message *m, uint32_t field, const char *name, eddy_type t)
{
    message shape = { 0 }, tensor = { 0 }, type = { 0 }, info = { 0 };
    for (int i = 0; i < t.shape.rank; i++) {
        message dim = { 0 };        /* an open dimension has neither a size nor a name */
        if (t.shape.dim[i] >= 0) eddy__message_number(&dim, 1, t.shape.dim[i]);
        eddy__message_inner(&shape, 1, &dim);
    }
    eddy__message_number(&tensor, 1, eddy__onnx_type_of(t.dtype));
    if (t.shape.rank >= 0) eddy__message_inner(&tensor, 2, &shape);
    eddy__message_inner(&type, 1, &tensor);
    eddy__message_text(&info, 1, name);
    eddy__message_inner(&info, 2, &type);
    eddy__message_inner(m, field, &info);
}
