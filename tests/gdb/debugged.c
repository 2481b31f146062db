/* debugged.c -- what the gdb session of docs/guide/seeing.md runs: a shape that does not fit, and a
 * handler in which a debugger stops. */
#include <eddy/eddy.h>

#include <stdio.h>

static void stop_here(void *user, eddy_status status, const char *message)
{
    (void)user;
    printf("%s: %s\n", eddy_status_name(status), message);
}

static eddy_tensor layer(eddy_tensor x, int units)
{
    eddy_tensor w = eddy_ones(x.graph, EDDY_FLOAT32, EDDY_SHAPE(784, units));
    return eddy_matmul(x, w);
}

int main(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_graph_on_error(g, stop_here, NULL);
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 784));
    eddy_tensor h = layer(x, 512);
    eddy_tensor y = layer(h, 10);
    const bool  wrong = !eddy_is_valid(y);
    eddy_graph_free(g);
    return wrong ? 0 : 1;
}
