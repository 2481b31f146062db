/* diff_graphs.c -- nodes that were added, removed or changed, by their names. */
#include "command/diff.h"

#include <string.h>

static bool attribute_equal(const eddy_attr_field *f, const void *p, const void *q)
{
    switch (f->kind) {
    case EDDY_ATTR_INT:    return *(const int64_t *)p == *(const int64_t *)q;
    case EDDY_ATTR_FLOAT:  return memcmp(p, q, sizeof(double)) == 0;
    case EDDY_ATTR_BOOL:   return *(const bool *)p == *(const bool *)q;
    case EDDY_ATTR_DTYPE:  return *(const eddy_dtype *)p == *(const eddy_dtype *)q;
    case EDDY_ATTR_SHAPE:  return eddy_shape_equal(*(const eddy_shape *)p, *(const eddy_shape *)q);
    case EDDY_ATTR_STRING: {
        const char *x = *(const char *const *)p, *y = *(const char *const *)q;
        return strcmp(x ? x : "", y ? y : "") == 0;
    }
    case EDDY_ATTR_DIMS: {
        const eddy_dims *x = p, *y = q;
        return x->count == y->count &&
               (x->count <= 0 || memcmp(x->at, y->at, (size_t)x->count * sizeof *x->at) == 0);
    }
    case EDDY_ATTR_INTS: {
        const eddy_ints *x = p, *y = q;
        return x->count == y->count &&
               (x->count <= 0 || memcmp(x->at, y->at, (size_t)x->count * sizeof *x->at) == 0);
    }
    case EDDY_ATTR_ARRAY:
    case EDDY_ATTR_GRAPH:
    case EDDY_ATTR_END:    break;
    }
    return true;
}

static const char *integers(int64_t n, const int64_t *at)
{
    const char *s = "";
    for (int64_t i = 0; i < n && i < 16; i++)
        s = text("%s%s%lld", s, i > 0 ? "," : "", (long long)at[i]);
    return text("[%s%s]", s, n > 16 ? ",..." : "");
}

static const char *attribute_text(const eddy_attr_field *f, const void *p)
{
    char buffer[200];
    switch (f->kind) {
    case EDDY_ATTR_INT:    return text("%lld", (long long)*(const int64_t *)p);
    case EDDY_ATTR_FLOAT:  return text("%.17g", *(const double *)p);
    case EDDY_ATTR_BOOL:   return *(const bool *)p ? "true" : "false";
    case EDDY_ATTR_STRING: return *(const char *const *)p ? *(const char *const *)p : "";
    case EDDY_ATTR_DTYPE:  return eddy_dtype_name(*(const eddy_dtype *)p);
    case EDDY_ATTR_SHAPE:
        return text("%s", eddy_shape_print(*(const eddy_shape *)p, buffer, sizeof buffer));
    case EDDY_ATTR_DIMS: return integers(((const eddy_dims *)p)->count, ((const eddy_dims *)p)->at);
    case EDDY_ATTR_INTS: return integers(((const eddy_ints *)p)->count, ((const eddy_ints *)p)->at);
    case EDDY_ATTR_ARRAY:
    case EDDY_ATTR_GRAPH:
    case EDDY_ATTR_END:    break;
    }
    return "";
}

static void diff_arrays(const char *name, const char *attribute, const eddy_array *x,
                        const eddy_array *y)
{
    if (!x && !y) return;
    const char *was = x ? type_text(eddy_array_dtype(x), eddy_array_shape(x)) : "none",
               *is = y ? type_text(eddy_array_dtype(y), eddy_array_shape(y)) : "none";
    if (strcmp(was, is) != 0) difference(attribute, name, was, is);
    else if (arrays_differ(x, y)) difference(attribute, name, "", arrays_differ(x, y));
}

/* The graphs of the functions of loops: as texts. */
static void diff_bodies(const char *name, const char *attribute, const eddy_graph *x,
                        const eddy_graph *y)
{
    char      *was = eddy_graph_to_yaml(x), *is = eddy_graph_to_yaml(y);
    const bool same = was && is ? strcmp(was, is) == 0 : was == is;
    if (!same)
        difference(attribute, name, text("%d nodes", x ? (int)eddy_graph_size(x) : 0),
                   text("%d nodes", y ? (int)eddy_graph_size(y) : 0));
    eddy_string_free(was);
    eddy_string_free(is);
}

static void diff_attributes(const eddy_node *a, const eddy_node *b)
{
    for (const eddy_attr_field *f = a->op->attrs; a->attrs && b->attrs && f && f->name; f++) {
        const void *p = (const char *)a->attrs + f->offset, *q = (const char *)b->attrs + f->offset;
        if (f->kind == EDDY_ATTR_ARRAY)
            diff_arrays(a->name, f->name, *(eddy_array *const *)p, *(eddy_array *const *)q);
        else if (f->kind == EDDY_ATTR_GRAPH)
            diff_bodies(a->name, f->name, *(eddy_graph *const *)p, *(eddy_graph *const *)q);
        else if (!attribute_equal(f, p, q))
            difference(f->name, a->name, attribute_text(f, p), attribute_text(f, q));
    }
}

static const char *inputs_text(const eddy_node *node)
{
    const char *s = "";
    for (int32_t i = 0; i < node->n_inputs; i++)
        s = text("%s%s%s%s", s, i > 0 ? ", " : "", eddy_name_of(node->inputs[i]),
                 node->inputs[i].output > 0 ? text(":%d", (int)node->inputs[i].output) : "");
    return text("(%s)", s);
}

static const char *types_text(const eddy_node *node)
{
    const char *s = node->n_outputs == 0 ? "no value" : "";
    for (int32_t i = 0; i < node->n_outputs; i++)
        s = text("%s%s%s", s, i > 0 ? ", " : "",
                 type_text(node->outputs[i].dtype, node->outputs[i].shape));
    return s;
}

static void diff_nodes(const eddy_node *a, const eddy_node *b)
{
    if (strcmp(a->op->name, b->op->name) != 0) {
        difference("operation", a->name, a->op->name, b->op->name);
        return;
    }
    const char *was = inputs_text(a), *is = inputs_text(b);
    if (strcmp(was, is) != 0) difference("inputs", a->name, was, is);
    was = types_text(a);
    is = types_text(b);
    if (strcmp(was, is) != 0) difference("type", a->name, was, is);
    if (a->op == b->op) diff_attributes(a, b);
}

static const eddy_node *counterpart(const model *m, const char *name)
{
    return eddy_graph_has(m->graph, name) ? eddy_node_of(eddy_graph_operation(m->graph, name))
                                          : NULL;
}

static const char *summary(const eddy_node *node)
{
    return text("%s%s -> %s", node->op->name, inputs_text(node), types_text(node));
}

void diff_graphs(const model *a, const model *b)
{
    for (int32_t id = 1; id <= eddy_graph_size(a->graph); id++) {
        const eddy_node *x = eddy_node_of(eddy_node_at(a->graph, id)), *y = counterpart(b, x->name);
        if (y) diff_nodes(x, y);
        else difference("removed", x->name, summary(x), NULL);
    }
    for (int32_t id = 1; id <= eddy_graph_size(b->graph); id++) {
        const eddy_node *y = eddy_node_of(eddy_node_at(b->graph, id));
        if (!counterpart(a, y->name)) difference("added", y->name, NULL, summary(y));
    }
}
