/* operators.c -- operations that the caller says how to write: as functions of the model, or as
 * operators of a domain of the caller's. */
#include "writer.h"

#include <string.h>

/* Fields of FunctionProto. */
enum { FUNCTION_NAME = 1, FUNCTION_INPUT = 4, FUNCTION_OUTPUT, FUNCTION_NODE = 7,
       FUNCTION_IMPORT = 9, FUNCTION_DOMAIN };

static const char *domain_of(const eddy_onnx_operator *o) { return o->domain ? o->domain : "eddy"; }

bool eddy__writer_check_operators(onnx_writer *w)
{
    if (w->operator_count < 0 || (w->operator_count && !w->operators))
        return eddy__writer_fail(w, EDDY_INVALID_ARGUMENT, "the list of operators is invalid");
    for (int i = 0; i < w->operator_count; i++) {
        const eddy_onnx_operator *o = &w->operators[i];
        if (!o->op || !*o->op)
            return eddy__writer_fail(w, EDDY_INVALID_ARGUMENT, "operator %d has no name", i);
        if (!o->domain && !o->compose)
            return eddy__writer_fail(w, EDDY_INVALID_ARGUMENT, "operator %d, '%.200s', has "
                                     "neither a function nor a domain", i, o->op);
        if (o->domain && (!*o->domain || strcmp(o->domain, "ai.onnx") == 0))
            return eddy__writer_fail(w, EDDY_INVALID_ARGUMENT, "operator %d, '%.200s', is in "
                                     "ONNX's own domain", i, o->op);
    }
    w->used = eddy__region_take(&w->memory, (size_t)w->operator_count, sizeof *w->used);
    return w->used || eddy__writer_no_memory(w);
}

const eddy_onnx_operator *eddy__writer_operator(const onnx_writer *w, const char *op)
{
    for (int i = 0; i < w->operator_count; i++)
        if (strcmp(w->operators[i].op, op) == 0) return &w->operators[i];
    return NULL;
}

/* -------------------------------------------------------------------- calls -- */

/* ONNX's checker refuses a list without elements. */
static void put_ints(onnx_call *c, const char *name, int64_t n, const int64_t *v)
{
    if (n > 0) eddy__call_ints(c, name, (int)n, v);
}

static void put_attribute(onnx_call *c, const eddy_attr_field *f, const void *at)
{
    switch (f->kind) {
    case EDDY_ATTR_INT: eddy__call_int(c, f->name, *(const int64_t *)at); break;
    case EDDY_ATTR_FLOAT: eddy__call_float(c, f->name, *(const double *)at); break;
    case EDDY_ATTR_BOOL: eddy__call_int(c, f->name, *(const bool *)at); break;
    case EDDY_ATTR_STRING: {
        const char *text = *(const char *const *)at;
        eddy__call_text(c, f->name, text ? text : "");
        break;
    }
    case EDDY_ATTR_DTYPE:
        eddy__call_int(c, f->name, eddy__onnx_type_of(*(const eddy_dtype *)at));
        break;
    case EDDY_ATTR_SHAPE: {
        const eddy_shape *s = at;
        put_ints(c, f->name, s->rank, s->dim);
        break;
    }
    case EDDY_ATTR_DIMS: {
        const eddy_dims *d = at;
        put_ints(c, f->name, d->count, d->at);
        break;
    }
    case EDDY_ATTR_INTS: {
        const eddy_ints *d = at;
        put_ints(c, f->name, d->count, d->at);
        break;
    }
    case EDDY_ATTR_ARRAY: {
        const eddy_array *a = *(eddy_array *const *)at;
        if (a) eddy__call_tensor(c, f->name, a);
        break;
    }
    case EDDY_ATTR_GRAPH:
    case EDDY_ATTR_END: break;
    }
}

/* The node, with its attributes unless a function has them in its body. */
static bool put_call(onnx_part *p, const eddy_onnx_operator *o, const char *name)
{
    const eddy_node       *node = p->node;
    const eddy_attr_field *f = o->compose || !node->attrs ? NULL : node->op->attrs;
    region      *memory = &p->writer->memory;
    const char **in = eddy__region_take(memory, (size_t)node->n_inputs, sizeof *in);
    if (!in) return eddy__writer_no_memory(p->writer);
    for (int i = 0; i < node->n_inputs; i++) in[i] = eddy__part_in(p, i);
    if (p->failed || p->writer->failed) return false;
    for (const eddy_attr_field *each = f; each && each->name; each++)
        if (each->kind == EDDY_ATTR_GRAPH)
            return eddy__part_missing(p, "its attribute %s is a graph", each->name);
    onnx_call c = eddy__call(p, name, node->n_inputs, in);
    c.domain = domain_of(o);
    for (; f && f->name; f++) put_attribute(&c, f, (const char *)node->attrs + f->offset);
    eddy__call_outputs(&c, node->n_outputs, p->out);
    return true;
}

/* ---------------------------------------------------------------- functions -- */

static bool has_name(const onnx_writer *w, const eddy_onnx_operator *o, const char *name)
{
    for (const writer_function *f = w->functions; f; f = f->next)
        if (strcmp(domain_of(f->of), domain_of(o)) == 0 && strcmp(f->name, name) == 0) return true;
    for (int i = 0; i < w->operator_count; i++) {
        const eddy_onnx_operator *other = &w->operators[i];
        if (other != o && strcmp(domain_of(other), domain_of(o)) == 0 &&
            strcmp(other->op, name) == 0)
            return true;
    }
    return false;
}

/* The operation's, with a number if another function has that. */
static const char *free_name(onnx_writer *w, const eddy_onnx_operator *o)
{
    const char *name = eddy__region_print(&w->memory, "%s", o->op);
    for (int i = 2; name && has_name(w, o, name); i++)
        name = eddy__region_print(&w->memory, "%s_%d", o->op, i);
    return name;
}

/* The function with this body, which is taken over, and a name; NULL without memory. */
static const writer_function *function_of(onnx_writer *w, const eddy_onnx_operator *o,
                                          message *body)
{
    writer_function *f = w->functions;
    for (; f; f = f->next)
        if (f->of == o && f->body.size == body->size &&
            memcmp(f->body.at, body->at, body->size) == 0)
            break;
    if (f || body->full) {
        eddy__message_free(body);
        return f;
    }
    const char *name = free_name(w, o);
    f = eddy__region_take(&w->memory, 1, sizeof *f);
    if (!f || !name) {
        eddy__message_free(body);
        return NULL;
    }
    *f = (writer_function){ .next = w->functions, .of = o, .name = name, .body = *body };
    return w->functions = f;
}

/* Builds the body; its outputs have the types of the node's. */
static bool compose(onnx_part *p, const eddy_onnx_operator *o, eddy_onnx_body *b)
{
    onnx_writer *w = p->writer;
    eddy_tensor *x = eddy__region_take(&w->memory, (size_t)b->n_in, sizeof *x);
    b->y = eddy__region_take(&w->memory, (size_t)b->n_out, sizeof *b->y);
    b->graph = eddy_graph_new();
    if (!x || !b->y || !b->graph) return eddy__writer_no_memory(w);
    for (int i = 0; i < b->n_in; i++) {
        const eddy_type t = eddy__part_type(p, i);
        const char     *name = eddy__region_print(&w->memory, "x%d", i);
        x[i] = eddy_placeholder(b->graph, name ? name : "", t.dtype, t.shape);
    }
    b->x = x;
    o->compose(b);
    if (eddy_graph_status(b->graph) == EDDY_NO_MEMORY) return eddy__writer_no_memory(w);
    if (eddy_graph_status(b->graph) != EDDY_OK)
        return eddy__part_missing(p, "its function: %s", eddy_graph_message(b->graph));
    for (int k = 0; k < b->n_out; k++) {
        char            is[100], wanted[100];
        const eddy_type t = { eddy_dtype_of(b->y[k]), eddy_shape_of(b->y[k]) },
                        want = p->node->outputs[k];
        if (!eddy_is_valid(b->y[k]) || b->y[k].graph != b->graph)
            return eddy__part_missing(p, "its function does not set output %d", k);
        if (t.dtype != want.dtype || !eddy_shape_compatible(t.shape, want.shape))
            return eddy__part_missing(p, "output %d of its function is %s, not %s", k,
                                      eddy_type_print(t, is, sizeof is),
                                      eddy_type_print(want, wanted, sizeof wanted));
    }
    return true;
}

/* In a function, constants are nodes. */
static void put_constants(const onnx_writer *w, message *body)
{
    for (const writer_constant *at = w->constants.first; at; at = at->next) {
        onnx_call c = { 0 };
        eddy__message_text(&c.node, NODE_OUTPUT, at->name);
        eddy__message_text(&c.node, NODE_OP, "Constant");
        eddy__call_tensor(&c, "value", at->array);
        eddy__message_inner(body, FUNCTION_NODE, &c.node);
    }
}

/* The same fields with the number that they have in functions. */
static void put_nodes(const message *nodes, message *body)
{
    wire       in = eddy__wire_of((wire_bytes){ nodes->at, nodes->size });
    wire_field f;
    while (eddy__wire_next(&in, &f))
        eddy__message_bytes(body, FUNCTION_NODE, f.bytes.at, f.bytes.size);
    body->full = body->full || nodes->full;
}

/* All of the function except its name, with names that do not depend on the node. */
static bool put_body(onnx_part *p, const eddy_onnx_operator *o, const eddy_onnx_body *b,
                     message *body)
{
    onnx_writer *w = p->writer;
    const char  *prefix = w->reporting ? eddy__region_print(&w->memory, "%s%s function ",
                                                            w->scope->prefix, p->node->name) : "";
    if (!eddy__scope_begin(w, b->graph, prefix)) return false;
    bool ok = true;
    for (int i = 0; ok && i < b->n_in; i++) {
        const char *name = eddy__region_print(&w->memory, "x%d", i);
        ok = eddy__scope_bind(w, b->x[i], name);
        if (ok) eddy__message_text(body, FUNCTION_INPUT, name);
    }
    ok = ok && eddy__scope_mark(w, b->n_out, b->y) && eddy__scope_write_marked(w);
    for (int k = 0; ok && k < b->n_out; k++) {
        const char *name = eddy__region_print(&w->memory, "y%d", k);
        if (!name) ok = eddy__writer_no_memory(w);
        else {
            eddy__writer_identity(&w->scope->nodes, eddy__scope_name(w->scope, b->y[k]), name);
            eddy__message_text(body, FUNCTION_OUTPUT, name);
        }
    }
    put_constants(w, body);
    put_nodes(&w->scope->nodes, body);
    eddy__writer_put_imports(w, FUNCTION_IMPORT, body);
    eddy__message_text(body, FUNCTION_DOMAIN, domain_of(o));
    eddy__scope_end(w);
    return ok;
}

/* The state of the writer that a function has for itself is put aside while it is written. */
static bool write_body(onnx_part *p, const eddy_onnx_operator *o, message *body)
{
    onnx_writer           *w = p->writer;
    const writer_constants constants = w->constants;
    const char *const      in_function = w->in_function;
    const int              values = w->values;
    eddy_onnx_body         b = { .node = p->node, .attrs = p->node->attrs,
                                 .n_in = p->node->n_inputs, .n_out = p->node->n_outputs };
    eddy__writer_begin_constants(&w->constants);
    w->in_function = o->op;
    w->values = 0;
    w->depth++;
    const bool ok = compose(p, o, &b) && put_body(p, o, &b, body);
    eddy_graph_free(b.graph);
    eddy__writer_free_constants(&w->constants);
    w->depth--;
    w->values = values;
    w->in_function = in_function;
    w->constants = constants;
    return ok;
}

bool eddy__writer_call_operator(onnx_part *p, const eddy_onnx_operator *o)
{
    onnx_writer *w = p->writer;
    message      body = { 0 };
    if (p->node->n_outputs == 0) return true;
    w->used[o - w->operators] = true;
    if (!o->compose) return put_call(p, o, o->op);
    if (w->depth >= DEEPEST) return eddy__part_missing(p, "functions are nested too deeply");
    if (!write_body(p, o, &body)) {
        eddy__message_free(&body);
        return false;
    }
    const writer_function *f = function_of(w, o, &body);
    return f ? put_call(p, o, f->name) : eddy__writer_no_memory(w);
}

/* ---------------------------------------------------------------- the model -- */

static void put_import(message *m, uint32_t field, const char *domain, int64_t version)
{
    message import = { 0 };
    if (*domain) eddy__message_text(&import, 1, domain);
    eddy__message_number(&import, 2, version);
    eddy__message_inner(m, field, &import);
}

void eddy__writer_put_imports(const onnx_writer *w, uint32_t field, message *m)
{
    put_import(m, field, "", WRITER_OPSET);
    for (int i = 0; i < w->operator_count; i++) {
        const char *domain = domain_of(&w->operators[i]);
        bool        again = false;
        for (int j = 0; j < i; j++)
            again = again || (w->used[j] && strcmp(domain_of(&w->operators[j]), domain) == 0);
        if (w->used[i] && !again) put_import(m, field, domain, 1);
    }
}

void eddy__writer_put_functions(const onnx_writer *w, message *model)
{
    for (const writer_function *f = w->functions; f; f = f->next) {
        message whole = { 0 };
        eddy__message_text(&whole, FUNCTION_NAME, f->name);
        eddy__message_append(&whole, f->body.at, f->body.size);
        eddy__message_inner(model, MODEL_FUNCTION, &whole);
    }
}

void eddy__writer_free_functions(onnx_writer *w)
{
    for (writer_function *f = w->functions; f; f = f->next) eddy__message_free(&f->body);
    w->functions = NULL;
}
