/* concrete.c -- a copy of a model in which all dimensions of the inputs are known, and elements for
 * them: for numbers that depend on dimensions. */
#include "command/model.h"

#include <stdlib.h>
#include <string.h>

/* "1,3,224,224" for a tensor of this shape. */
static bool read_shape(const char *from, eddy_shape *s, const char *name, eddy_error *e)
{
    const text_list words = split(from);
    eddy_shape      given = { .rank = words.count };
    bool            fine = words.count <= EDDY_MAX_RANK;
    e->status = EDDY_BAD_SHAPE;
    for (int i = 0; fine && i < words.count; i++) {
        char *end;
        given.dim[i] = strtoll(words.at[i], &end, 10);
        fine = !*end && given.dim[i] >= 0;
    }
    if (!fine || !eddy_shape_is_valid(given)) {
        snprintf(e->message, sizeof e->message,
                 "the shape of '%.200s' is not a list of dimensions such as 1,3: '%.200s'", name,
                 from);
        return false;
    }
    if (eddy_shape_compatible(given, *s)) {
        *s = given;
        e->status = EDDY_OK;
        return true;
    }
    char is[200];
    snprintf(e->message, sizeof e->message, "the shape %.200s does not fit '%.200s', which is %s",
             *from ? from : "''", name, eddy_shape_print(*s, is, sizeof is));
    return false;
}

static bool shape_for(const named *input, text_list shapes, int64_t size, eddy_shape *s,
                      eddy_error *e)
{
    const size_t n = strlen(input->name);
    *s = eddy_shape_of(input->tensor);
    for (int i = 0; i < shapes.count; i++)
        if (strncmp(shapes.at[i], input->name, n) == 0 && shapes.at[i][n] == '=')
            return read_shape(shapes.at[i] + n + 1, s, input->name, e);
    if (s->rank < 0 && size > 0) *s = EDDY_SCALAR;
    for (int i = 0; size > 0 && i < s->rank; i++)
        if (s->dim[i] < 0) s->dim[i] = size;
    return true;
}

static bool known_names(const model *m, text_list shapes, eddy_error *e)
{
    for (int i = 0; i < shapes.count; i++) {
        bool found = false;
        for (int k = 0; !found && k < m->n_inputs; k++) {
            const size_t n = strlen(m->inputs[k].name);
            found = strncmp(shapes.at[i], m->inputs[k].name, n) == 0 && shapes.at[i][n] == '=';
        }
        if (found) continue;
        e->status = EDDY_NOT_FOUND;
        snprintf(e->message, sizeof e->message,
                 "--shape takes INPUT=DIMENSIONS, such as x=1,3%s'%.200s'%s",
                 strchr(shapes.at[i], '=') ? "; " : ", not ", shapes.at[i],
                 strchr(shapes.at[i], '=') ? " names no input" : "");
        return false;
    }
    return true;
}

bool concrete_make(concrete *c, const model *m, text_list shapes, int64_t unknown,
                   eddy_error *error)
{
    const int32_t     size = eddy_graph_size(m->graph);
    const bool       *needed = needed_nodes(m->graph, m->outputs, m->n_outputs);
    eddy_replacement *by = room((size_t)m->n_inputs, sizeof *by);
    eddy_tensor      *of = room((size_t)(size + m->n_outputs), sizeof *of),
                *is = room((size_t)(size + m->n_outputs), sizeof *is);
    int n = 0, replaced = 0;
    *c = (concrete){ .graph = eddy_graph_new(), .image = room((size_t)size + 1, sizeof *c->image),
                     .inputs = room((size_t)m->n_inputs, sizeof *c->inputs),
                     .outputs = room((size_t)m->n_outputs, sizeof *c->outputs) };
    if (!known_names(m, shapes, error)) return false;
    for (int i = 0; i < m->n_inputs; i++) {
        const named *in = &m->inputs[i];
        eddy_shape   s;
        if (!shape_for(in, shapes, unknown, &s, error)) return false;
        c->inputs[i] = (named){ in->name, eddy_placeholder(c->graph, eddy_name_of(in->tensor),
                                                           eddy_dtype_of(in->tensor), s) };
        if (needed[in->tensor.node])
            by[replaced++] = (eddy_replacement){ in->tensor, c->inputs[i].tensor };
    }
    for (int32_t id = 1; id <= size; id++)
        if (needed[id] && !eddy_node_of(eddy_node_at(m->graph, id))->traced)
            of[n++] = eddy_node_at(m->graph, id);
    for (int i = 0; i < m->n_outputs; i++) of[n++] = m->outputs[i].tensor;
    eddy_import(c->graph, m->graph, .inputs = { replaced, by }, .outputs = { n, of },
                .results = is);
    for (int i = 0; i < n - m->n_outputs; i++) c->image[of[i].node] = is[i];
    for (int i = 0; i < m->n_outputs; i++)
        c->outputs[i] = (named){ m->outputs[i].name, is[n - m->n_outputs + i] };
    if (eddy_graph_status(c->graph) == EDDY_OK) return true;
    error->status = eddy_graph_status(c->graph);
    snprintf(error->message, sizeof error->message, "%.1000s", eddy_graph_message(c->graph));
    return false;
}

void concrete_free(concrete *c)
{
    eddy_graph_free(c->graph);
    c->graph = NULL;
}

bool model_fix_shapes(model *m, text_list shapes, int64_t unknown)
{
    eddy_error e = { 0 };
    concrete   c;
    if (shapes.count == 0 && unknown == 0) return true;
    if (!concrete_make(&c, m, shapes, unknown, &e)) {
        concrete_free(&c);
        fail(m->path, "%s", e.message);
        return false;
    }
    eddy_onnx_free(m->onnx);
    eddy_tensorflow_free(m->tensorflow);
    eddy_graph_free(m->graph);
    m->onnx = NULL;
    m->tensorflow = NULL;
    m->graph = c.graph;
    m->inputs = c.inputs;
    m->outputs = c.outputs;
    return true;
}

/* The same numbers each time: in [-1, 1), and 0 and 1 for integers, which may be indices. */
static double draw(uint64_t *state, eddy_dtype d)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    const uint32_t bits = (uint32_t)(*state >> 33);
    return eddy_dtype_is_differentiable(d) ? bits / 1073741824.0 - 1 : (bits >> 30) & 1;
}

eddy_feed *feeds_made(const named *inputs, int count, bool random)
{
    eddy_feed *feeds = room((size_t)count, sizeof *feeds);
    uint64_t   state = 1;
    for (int i = 0; i < count; i++) {
        eddy_tensor t = inputs[i].tensor;
        eddy_array *a = eddy_array_new(eddy_dtype_of(t), eddy_shape_of(t));
        for (int64_t k = 0; random && k < eddy_array_count(a); k++)
            eddy_array_set(a, k, draw(&state, eddy_dtype_of(t)));
        feeds[i] = (eddy_feed){ t, a };
    }
    return feeds;
}

void feeds_free(eddy_feed *feeds, int count)
{
    for (int i = 0; feeds && i < count; i++)
        eddy_array_free((eddy_array *)(uintptr_t)feeds[i].value);
}
