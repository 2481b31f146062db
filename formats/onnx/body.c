/* body.c -- see body.h. */
#include "body.h"

int eddy__onnx_build_body(onnx_body *c, onnx_value *const *in, eddy_tensor *y)
{
    onnx_value **out = eddy__region_take(c->b->memory, c->g->n_outputs + 1, sizeof *out);
    c->failed = true;
    if (!out || !eddy__onnx_subgraph(c->b, c->g, c->what, in, out)) return 0;
    for (size_t i = 0; i < c->g->n_outputs; i++) {
        y[i] = eddy__onnx_tensor_of(c->b, out[i]);
        c->out_types[i] = out[i]->type;
        if (!eddy_is_valid(y[i])) return 0;
    }
    c->failed = c->b->reason != NULL || eddy_graph_status(c->b->graph) != EDDY_OK;
    return c->failed ? 0 : (int)c->g->n_outputs;
}
