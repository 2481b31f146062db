/* widened.c -- see widened.h. */
#include "tests/models/widened.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INPUTS = 256 };

static void need(bool fine, const char *what)
{
    if (fine) return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

eddy_array *widened_array(const eddy_array *a)
{
    eddy_array *b = eddy_array_new(EDDY_FLOAT64, eddy_array_shape(a));
    need(b != NULL, "out of memory");
    for (int64_t i = 0; i < eddy_array_count(a); i++) eddy_array_set(b, i, eddy_array_get(a, i));
    return b;
}

/* Replaces float32 in a copy of a node's attributes; returns the array that was made, or NULL. */
static eddy_array *widen_attrs(const eddy_op_def *op, char *attrs)
{
    eddy_array *made = NULL;
    for (const eddy_attr_field *f = op->attrs; f && f->kind != EDDY_ATTR_END; f++) {
        void *at = attrs + f->offset;
        need(f->kind != EDDY_ATTR_GRAPH, "a loop or a branch has no copy in float64");
        if (f->kind == EDDY_ATTR_DTYPE && *(eddy_dtype *)at == EDDY_FLOAT32)
            *(eddy_dtype *)at = EDDY_FLOAT64;
        eddy_array **array = f->kind == EDDY_ATTR_ARRAY ? at : NULL;
        if (array && *array && eddy_array_dtype(*array) == EDDY_FLOAT32)
            *array = made = widened_array(*array);
    }
    return made;
}

static eddy_tensor widen(const eddy_node *n, eddy_graph *to, const eddy_tensor *copies)
{
    eddy_tensor in[MOST_INPUTS];
    char       *attrs = malloc(n->op->attrs_size + 1);
    need(attrs != NULL && n->n_inputs <= MOST_INPUTS, "out of memory");
    if (n->attrs) memcpy(attrs, n->attrs, n->op->attrs_size);
    eddy_array *made = widen_attrs(n->op, attrs);
    for (int i = 0; i < n->n_inputs; i++)
        in[i] = eddy_output(copies[n->inputs[i].node], n->inputs[i].output);
    const eddy_tensor t = eddy_apply(n->op, attrs, n->n_inputs, in,
                                     (eddy_apply_args){ .graph = to, .name = n->name });
    need(eddy_graph_status(to) == EDDY_OK, eddy_graph_message(to));
    eddy_array_free(made);
    free(attrs);
    return t;
}

eddy_graph *widened(eddy_graph *g, bool rounded, eddy_tensor *copies)
{
    eddy_graph *to = eddy_graph_new();
    for (int32_t id = 1; id <= eddy_graph_size(g); id++) {
        const eddy_node *n = eddy_node_of(eddy_node_at(g, id));
        eddy_tensor      t = widen(n, to, copies);
        const bool computed = n->n_inputs > 0 && n->n_outputs == 1;
        if (rounded && computed && eddy_dtype_of(t) == EDDY_FLOAT64)
            t = eddy_cast(eddy_cast(t, EDDY_FLOAT32), EDDY_FLOAT64);
        copies[id] = t;
    }
    return to;
}
