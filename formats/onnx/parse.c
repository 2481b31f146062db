/* parse.c -- ModelProto, GraphProto, NodeProto, AttributeProto and FunctionProto. Each repeated
 * field is counted before it is read, so that its array is allocated once. */
#include "parse.h"

static onnx_graph *graph_of(parser *p, wire w);

static void attr_field(parser *p, wire *w, const wire_field *f, onnx_attr *a)
{
    switch (f->number) {
    case 1: a->name = eddy__parse_string(p, f); break;
    case 2: a->f = (double)eddy__wire_float(f->value); break;
    case 3: a->i = (int64_t)f->value; break;
    case 4: a->s = f->bytes; break;
    case 5:
        a->t = eddy__parse_take(p, 1, sizeof *a->t);
        if (a->t) eddy__onnx_tensor(p, eddy__wire_enter(w, f), a->t);
        break;
    case 6: a->g = graph_of(p, eddy__wire_enter(w, f)); break;
    case 21: a->ref = eddy__parse_string(p, f); break;
    case 22:
        a->sparse = eddy__parse_take(p, 1, sizeof *a->sparse);
        if (a->sparse) eddy__onnx_sparse(p, eddy__wire_enter(w, f), a->sparse);
        break;
    default: break;
    }
}

static void attr_of(parser *p, wire w, onnx_attr *a)
{
    *a = (onnx_attr){ .name = "" };
    const uint64_t *floats = eddy__parse_numbers(p, w, 7, WIRE_FIXED32, &a->n_floats);
    a->ints = (int64_t *)eddy__parse_numbers(p, w, 8, WIRE_VARINT, &a->n_ints);
    a->strings = eddy__onnx_byte_strings(p, w, 9, &a->n_strings);
    a->floats = eddy__parse_take(p, a->n_floats, sizeof *a->floats);
    for (size_t i = 0; !p->bad && i < a->n_floats; i++)
        a->floats[i] = (double)eddy__wire_float(floats[i]);
    wire_field f;
    while (!p->bad && eddy__wire_next(&w, &f)) attr_field(p, &w, &f, a);
    if (w.bad) eddy__parse_damaged(p, w.at);
}

static onnx_attr *attrs_of(parser *p, wire w, uint32_t number, size_t *count)
{
    onnx_attr *a = eddy__parse_take(p, eddy__wire_count(w, number), sizeof *a);
    wire_field f;
    for (*count = 0; !p->bad && eddy__wire_next(&w, &f);)
        if (f.number == number) attr_of(p, eddy__wire_enter(&w, &f), &a[(*count)++]);
    if (w.bad) eddy__parse_damaged(p, w.at);
    return a;
}

static void node_of(parser *p, wire w, onnx_node *n)
{
    *n = (onnx_node){ .op = "", .domain = "", .name = "", .at = w.at };
    n->inputs = eddy__parse_strings(p, w, 1, &n->n_inputs);
    n->outputs = eddy__parse_strings(p, w, 2, &n->n_outputs);
    n->attrs = attrs_of(p, w, 5, &n->n_attrs);
    wire_field f;
    while (!p->bad && eddy__wire_next(&w, &f))
        if (f.number == 3) n->name = eddy__parse_string(p, &f);
        else if (f.number == 4) n->op = eddy__parse_string(p, &f);
        else if (f.number == 7) n->domain = eddy__parse_string(p, &f);
    if (w.bad) eddy__parse_damaged(p, w.at);
}

static onnx_node *nodes_of(parser *p, wire w, uint32_t number, size_t *count)
{
    onnx_node *n = eddy__parse_take(p, eddy__wire_count(w, number), sizeof *n);
    wire_field f;
    for (*count = 0; !p->bad && eddy__wire_next(&w, &f);)
        if (f.number == number) node_of(p, eddy__wire_enter(&w, &f), &n[(*count)++]);
    return n;
}

static void graph_arrays(parser *p, wire w, onnx_graph *g)
{
    g->nodes = nodes_of(p, w, 1, &g->n_nodes);
    g->initializers = eddy__parse_take(p, eddy__wire_count(w, 5), sizeof *g->initializers);
    g->sparse = eddy__parse_take(p, eddy__wire_count(w, 15), sizeof *g->sparse);
    g->inputs = eddy__parse_take(p, eddy__wire_count(w, 11), sizeof *g->inputs);
    g->outputs = eddy__parse_take(p, eddy__wire_count(w, 12), sizeof *g->outputs);
}

static onnx_graph *graph_of(parser *p, wire w)
{
    onnx_graph *g = eddy__parse_take(p, 1, sizeof *g);
    if (!g) return NULL;
    graph_arrays(p, w, g);
    wire_field f;
    while (!p->bad && eddy__wire_next(&w, &f)) {
        if (f.number == 5)
            eddy__onnx_tensor(p, eddy__wire_enter(&w, &f), &g->initializers[g->n_initializers++]);
        if (f.number == 15)
            eddy__onnx_sparse(p, eddy__wire_enter(&w, &f), &g->sparse[g->n_sparse++]);
        if (f.number == 11) eddy__onnx_info(p, eddy__wire_enter(&w, &f), &g->inputs[g->n_inputs++]);
        if (f.number == 12)
            eddy__onnx_info(p, eddy__wire_enter(&w, &f), &g->outputs[g->n_outputs++]);
    }
    if (w.bad) eddy__parse_damaged(p, w.at);
    return g;
}

static onnx_import *imports_of(parser *p, wire w, uint32_t number, size_t *count)
{
    onnx_import *all = eddy__parse_take(p, eddy__wire_count(w, number), sizeof *all);
    wire_field   f, e;
    for (*count = 0; !p->bad && eddy__wire_next(&w, &f);) {
        if (f.number != number) continue;
        onnx_import *one = &all[(*count)++];
        one->domain = "";
        wire inner = eddy__wire_enter(&w, &f);
        while (!p->bad && eddy__wire_next(&inner, &e))
            if (e.number == 1) one->domain = eddy__parse_string(p, &e);
            else if (e.number == 2) one->version = (int64_t)e.value;
        if (inner.bad) eddy__parse_damaged(p, inner.at);
    }
    return all;
}

static void function_of(parser *p, wire w, onnx_function *f)
{
    *f = (onnx_function){ .name = "", .domain = "" };
    f->inputs = eddy__parse_strings(p, w, 4, &f->n_inputs);
    f->outputs = eddy__parse_strings(p, w, 5, &f->n_outputs);
    f->defaults = attrs_of(p, w, 11, &f->n_defaults);
    f->nodes = nodes_of(p, w, 7, &f->n_nodes);
    f->imports = imports_of(p, w, 9, &f->n_imports);
    wire_field e;
    while (!p->bad && eddy__wire_next(&w, &e))
        if (e.number == 1) f->name = eddy__parse_string(p, &e);
        else if (e.number == 10) f->domain = eddy__parse_string(p, &e);
}

bool eddy__onnx_parse(region *r, wire_bytes b, onnx_file *file, const uint8_t **at)
{
    parser p = { .memory = r };
    wire   w = eddy__wire_of(b);
    *file = (onnx_file){ 0 };
    file->imports = imports_of(&p, w, 8, &file->n_imports);
    file->functions = eddy__parse_take(&p, eddy__wire_count(w, 25), sizeof *file->functions);
    wire_field f;
    while (!p.bad && eddy__wire_next(&w, &f))
        if (f.number == 7) file->graph = graph_of(&p, eddy__wire_enter(&w, &f));
        else if (f.number == 25)
            function_of(&p, eddy__wire_enter(&w, &f), &file->functions[file->n_functions++]);
    if (w.bad) eddy__parse_damaged(&p, w.at);
    *at = p.at;
    return !p.bad;
}
