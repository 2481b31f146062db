/* body.c -- see body.h. */
#include "body.h"
#include "reader.h"

static void build_weight(onnx_build *b, const char *name)
{
    onnx_value *v = eddy__onnx_lookup(b->scope, name);
    if (v && v->weight && eddy__onnx_is_float(v->type)) eddy__onnx_tensor_of(b, v);
}

void eddy__onnx_build_captured(onnx_build *b, const onnx_graph *g)
{
    for (size_t i = 0; i < g->n_nodes; i++) {
        const onnx_node *n = &g->nodes[i];
        for (size_t k = 0; k < n->n_inputs; k++) build_weight(b, n->inputs[k]);
        for (size_t k = 0; k < n->n_attrs; k++)
            if (n->attrs[k].g) eddy__onnx_build_captured(b, n->attrs[k].g);
    }
    for (size_t i = 0; i < g->n_outputs; i++) build_weight(b, g->outputs[i].name);
}

int eddy__onnx_build_body(onnx_body *c, onnx_value *const *in, eddy_tensor *y)
{
    onnx_value **out = eddy__region_take(c->b->memory, c->g->n_outputs, sizeof *out);
    if (!out || !eddy__onnx_subgraph(c->b, c->g, c->what, in, out)) return 0;
    for (size_t i = 0; i < c->g->n_outputs; i++) {
        y[i] = eddy__onnx_tensor_of(c->b, out[i]);
        c->out_types[i] = out[i]->type;
        if (!eddy_is_valid(y[i])) return 0;
    }
    return (int)c->g->n_outputs;
}
