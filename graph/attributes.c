/* attributes.c -- attributes of nodes: copying them into the graph, comparing and freeing them. */
#include "graph/internal.h"
#include "graph/call_options.h"

#include <string.h>

static void *member(const void *attrs, const eddy_attr_field *f)
{
    return (char *)(uintptr_t)attrs + f->offset;
}

bool eddy_refuse_number(eddy_graph *g, const char *what, const char *option, eddy_dims d)
{
    const long long first = (long long)(intptr_t)d.no_number_;
    if (d.count < -1 || d.count > EDDY_MAX_RANK) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: the number of entries of '%s' is %d; expected 0 "
                  "to %d", what, option, d.count, EDDY_MAX_RANK);
        return true;
    }
    if (!first || first == EDDY_OMITTED) return false;
    if (first == EDDY_IS_ZERO)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "%s: '%s' is 0 and not a list; write EDDY_AXES(0) or EDDY_DIMS(0), or leave it "
                  "out (EDDY_OMITTED_DIMS)", what, option);
    else
        eddy_fail(
            g, EDDY_INVALID_ARGUMENT,
            "%s: '%s' is the number %lld; write EDDY_AXES(%lld) or EDDY_DIMS(%lld) for a list",
            what, option, first, first, first);
    return true;
}

/* Replaces the target of a pointer member by a copy in the graph's arena. */
static bool own_member(eddy_graph *g, const eddy_op_def *op, const eddy_attr_field *f, void *attrs)
{
    void *p = member(attrs, f);
    switch (f->kind) {
    case EDDY_ATTR_STRING: {
        const char **s = p;
        if (*s) *s = eddy__arena_text(&g->arena, *s, strlen(*s));
        else *s = "";
        return *s != NULL;
    }
    case EDDY_ATTR_INTS: {
        eddy_ints *v = p;
        if (v->count < 0 || v->count > INT32_MAX || (v->count > 0 && !v->at)) {
            eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: the attribute '%s' is not a list of integers",
                      op->name, f->name);
            return false;
        }
        int64_t *copy = eddy__arena_alloc(&g->arena, (size_t)v->count * sizeof *copy);
        if (!copy) return false;
        if (v->count > 0) memcpy(copy, v->at, (size_t)v->count * sizeof *copy);
        v->at = copy;
        return true;
    }
    case EDDY_ATTR_ARRAY: {
        eddy_array **a = p;
        const bool   given = *a;
        *a = eddy_array_retain(*a);
        return *a || !given;
    }
    case EDDY_ATTR_END:
    case EDDY_ATTR_INT:
    case EDDY_ATTR_FLOAT:
    case EDDY_ATTR_BOOL:
    case EDDY_ATTR_DTYPE:
    case EDDY_ATTR_SHAPE:
        return true;
    case EDDY_ATTR_GRAPH: {
        eddy_graph *body = *(eddy_graph **)p;
        if (body && !body->outer) body->outer = g;
        return true;
    }
    case EDDY_ATTR_DIMS:
        return !eddy_refuse_number(g, op->name, f->name, *(const eddy_dims *)p);
    }
    return true;
}

void *eddy__attrs_copy(eddy_graph *g, const eddy_op_def *op, const void *attrs)
{
    void *copy = eddy__arena_alloc(&g->arena, op->attrs_size ? op->attrs_size : 1);
    if (!copy) {
        eddy_fail(g, EDDY_NO_MEMORY, "%s: out of memory for attributes", op->name);
        return NULL;
    }
    if (attrs) memcpy(copy, attrs, op->attrs_size);
    else memset(copy, 0, op->attrs_size);
    for (const eddy_attr_field *f = op->attrs; f && f->name; f++) {
        if (own_member(g, op, f, copy)) continue;
        for (const eddy_attr_field *done = op->attrs; done < f; done++)
            if (done->kind == EDDY_ATTR_ARRAY) eddy_array_free(*(eddy_array **)member(copy, done));
        eddy_fail(g, EDDY_NO_MEMORY, "%s: out of memory for the attribute '%s'", op->name, f->name);
        return NULL;
    }
    return copy;
}

void eddy__attrs_release_arrays(const eddy_op_def *op, const void *attrs)
{
    for (const eddy_attr_field *f = op->attrs; attrs && f && f->name; f++)
        if (f->kind == EDDY_ATTR_ARRAY) eddy_array_free(*(eddy_array **)member(attrs, f));
}

void eddy__attrs_share_graphs(const eddy_op_def *op, const void *attrs)
{
    for (const eddy_attr_field *f = op->attrs; attrs && f && f->name; f++)
        if (f->kind == EDDY_ATTR_GRAPH && *(eddy_graph **)member(attrs, f))
            eddy__graph_hold(*(eddy_graph **)member(attrs, f));
}

void eddy__attrs_release_graphs(const eddy_op_def *op, const void *attrs)
{
    for (const eddy_attr_field *f = op->attrs; attrs && f && f->name; f++)
        if (f->kind == EDDY_ATTR_GRAPH) eddy__graph_release(*(eddy_graph **)member(attrs, f));
}

void eddy__attrs_release(const eddy_op_def *op, const void *attrs)
{
    eddy__attrs_release_arrays(op, attrs);
    eddy__attrs_release_graphs(op, attrs);
}
