/* part.c -- what a rule reads of the node that it writes. */
#include "writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *eddy__part_in(onnx_part *p, int i)
{
    if (p->failed || p->writer->failed) return "";
    const writer_scope *s = p->scope;
    const eddy_node    *node = p->node;
    if (i < 0 || i >= node->n_inputs) return "";
    const eddy_tensor x = node->inputs[i];
    writer_variable  *v = s->variables ? s->variables[x.node] : NULL;
    if (v) {
        const bool late = s->reads_now[node->id] && s->reads_now[node->id][i];
        const char *value =
            late || (i == 0 && (node->op->flags & EDDY_OP_UPDATES)) ? v->now : v->before;
        if (!value)
            eddy__writer_fail(p->writer, EDDY_UNINITIALIZED,
                              "the session has no value for variable '%.200s'", v->node->name);
        return value ? value : "";
    }
    const char *name = eddy__scope_name(s, x);
    if (name) return name;
    eddy__part_missing(p, "input %d was not written", i);
    return "";
}

eddy_type eddy__part_type(const onnx_part *p, int i)
{
    if (i < 0 || i >= p->node->n_inputs) return (eddy_type){ .shape = EDDY_UNKNOWN_SHAPE };
    const eddy_tensor x = p->node->inputs[i];
    return (eddy_type){ eddy_dtype_of(x), eddy_shape_of(x) };
}

eddy_dtype eddy__part_dtype(const onnx_part *p, int i) { return eddy__part_type(p, i).dtype; }

bool eddy__part_wants(const onnx_part *p, int k)
{
    return (p->scope->wanted[p->node->id] & eddy__output_bit(k)) != 0;
}

bool eddy__part_put(onnx_part *p, int k, const char *name)
{
    if (k < p->node->n_outputs) p->out[k] = name;
    return true;
}

bool eddy__part_missing(onnx_part *p, const char *reason, ...)
{
    if (p->failed) return false;
    char    text[400];
    va_list args;
    va_start(args, reason);
    vsnprintf(text, sizeof text, reason, args);
    va_end(args);
    p->failed = true;
    p->reason = eddy__region_print(&p->writer->memory, "%s", text);
    if (!p->reason) eddy__writer_no_memory(p->writer);
    return false;
}

bool eddy__part_known_rank(onnx_part *p, int i, int *rank)
{
    *rank = eddy__part_type(p, i).shape.rank;
    return *rank >= 0 || eddy__part_missing(p, "the rank of input %d must be known", i);
}

bool eddy__part_known_shape(onnx_part *p, int i, eddy_shape *s)
{
    char shape[100];
    *s = eddy__part_type(p, i).shape;
    return eddy_shape_is_known(*s) ||
           eddy__part_missing(p, "the shape of input %d must be known; it is %s", i,
                              eddy_shape_print(*s, shape, sizeof shape));
}

/* ------------------------------------------------------------- attributes -- */

/* Where the node has an attribute; NULL if it has none of this kind. */
static const void *find(const onnx_part *p, const char *name, eddy_attr_kind kind)
{
    const eddy_attr_field *f = p->node->attrs ? p->node->op->attrs : NULL;
    for (; f && f->name; f++)
        if (f->kind == kind && strcmp(f->name, name) == 0)
            return (const char *)p->node->attrs + f->offset;
    return NULL;
}

int64_t eddy__part_int(const onnx_part *p, const char *name)
{
    const int64_t *v = find(p, name, EDDY_ATTR_INT);
    return v ? *v : eddy__part_bool(p, name);
}

bool eddy__part_bool(const onnx_part *p, const char *name)
{
    const bool *v = find(p, name, EDDY_ATTR_BOOL);
    return v && *v;
}

double eddy__part_float(const onnx_part *p, const char *name)
{
    const double *v = find(p, name, EDDY_ATTR_FLOAT);
    return v ? *v : (double)eddy__part_int(p, name);
}

const char *eddy__part_text(const onnx_part *p, const char *name)
{
    const char *const *v = find(p, name, EDDY_ATTR_STRING);
    return v && *v ? *v : "";
}

eddy_dims eddy__part_dims(const onnx_part *p, const char *name)
{
    const eddy_dims *v = find(p, name, EDDY_ATTR_DIMS);
    return v ? *v : (eddy_dims){ 0 };
}

eddy_ints eddy__part_int_list(const onnx_part *p, const char *name)
{
    const eddy_ints *v = find(p, name, EDDY_ATTR_INTS);
    return v ? *v : (eddy_ints){ 0 };
}

eddy_graph *eddy__part_graph(const onnx_part *p, const char *name)
{
    eddy_graph *const *v = find(p, name, EDDY_ATTR_GRAPH);
    return v ? *v : NULL;
}

eddy_shape eddy__part_shape_attr(const onnx_part *p, const char *name)
{
    const eddy_shape *v = find(p, name, EDDY_ATTR_SHAPE);
    return v ? *v : eddy_shape_unknown();
}

eddy_dtype eddy__part_dtype_attr(const onnx_part *p, const char *name)
{
    const eddy_dtype *v = find(p, name, EDDY_ATTR_DTYPE);
    return v ? *v : EDDY_DEFAULT_DTYPE;
}

int64_t eddy__part_axis(const onnx_part *p, int rank)
{
    const int64_t axis = eddy__part_int(p, "axis");
    return axis < 0 ? axis + rank : axis;
}
