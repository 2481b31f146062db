/* scope_blocks.c -- scopes that end with a C block: EDDY_SCOPE and its relatives. */
#include "graph/internal.h"

static eddy_graph_block block(eddy_graph *g, bool begun, void (*end)(eddy_graph *g))
{
    return (eddy_graph_block){ begun ? g : NULL, end, true };
}

eddy_graph_block eddy_scope_open(eddy_graph *g, const char *name)
{
    eddy_scope_begin(g, name);
    return block(g, eddy__graph_alive(g), eddy_scope_end);
}

eddy_graph_block eddy_control_open(eddy_graph *g, eddy_list after)
{
    eddy_control_begin(g, after);
    return block(g, eddy__graph_alive(g), eddy_control_end);
}

eddy_graph_block eddy_control_clear_open(eddy_graph *g)
{
    eddy_control_clear(g);
    return block(g, eddy__graph_alive(g), eddy_control_end);
}

eddy_graph_block eddy_device_open(eddy_graph *g, const char *device)
{
    eddy_device_begin(g, device);
    return block(g, eddy__graph_alive(g), eddy_device_end);
}

/* An override that is not valid, or has no memory, does not begin. */
eddy_graph_block eddy_gradient_override_open(eddy_graph *g, const char *op_type,
                                             const char *gradient)
{
    const int before = eddy__graph_alive(g) ? g->n_overrides : 0;
    eddy_gradient_override_begin(g, op_type, gradient);
    return block(g, eddy__graph_alive(g) && g->n_overrides > before, eddy_gradient_override_end);
}

void eddy_graph_block_end(eddy_graph_block *block)
{
    if (block && block->graph && block->end) block->end(block->graph);
}
