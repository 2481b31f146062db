/* scope_blocks.c -- scopes that end with a C block: EDDY_SCOPE and its relatives. */
#include "graph/internal.h"

/* The block is open if the stack grew, which fails when memory is out. */
static eddy_graph_block block(eddy_graph *g, bool grew, void (*end)(eddy_graph *g))
{
    return (eddy_graph_block){ grew ? g : NULL, end, true };
}

eddy_graph_block eddy_scope_open(eddy_graph *g, const char *name)
{
    const int before = eddy__graph_alive(g) ? g->n_scopes : 0;
    eddy_scope_begin(g, name);
    return block(g, eddy__graph_alive(g) && g->n_scopes > before, eddy_scope_end);
}

eddy_graph_block eddy_control_open(eddy_graph *g, eddy_list after)
{
    const int before = eddy__graph_alive(g) ? g->n_controls : 0;
    eddy_control_begin(g, after);
    return block(g, eddy__graph_alive(g) && g->n_controls > before, eddy_control_end);
}

eddy_graph_block eddy_control_clear_open(eddy_graph *g)
{
    const int before = eddy__graph_alive(g) ? g->n_controls : 0;
    eddy_control_clear(g);
    return block(g, eddy__graph_alive(g) && g->n_controls > before, eddy_control_end);
}

eddy_graph_block eddy_device_open(eddy_graph *g, const char *device)
{
    const int before = eddy__graph_alive(g) ? g->n_devices : 0;
    eddy_device_begin(g, device);
    return block(g, eddy__graph_alive(g) && g->n_devices > before, eddy_device_end);
}

eddy_graph_block eddy_gradient_override_open(eddy_graph *g, const char *op_type,
                                             const char *gradient)
{
    const int before = eddy__graph_alive(g) ? g->n_overrides : 0;
    eddy_gradient_override_begin(g, op_type, gradient);
    return block(g, eddy__graph_alive(g) && g->n_overrides > before, eddy_gradient_override_end);
}

void eddy_graph_block_end(eddy_graph_block *block)
{
    if (block->graph) block->end(block->graph);
}
