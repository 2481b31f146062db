/* hessian.c -- second derivatives: the Jacobian of the gradient. */
#include "autodiff/internal.h"
#include "ops/math.h"

static eddy_tensor gradient_of(eddy_tensor y, eddy_tensor x)
{
    eddy_tensor dx = eddy_gradient(y, x);
    if (!eddy_is_valid(dx) && eddy_graph_ready(y.graph))
        eddy_fail(y.graph, EDDY_INVALID_ARGUMENT,
                  "hessians: no gradient of '%.200s' with respect to '%.200s'", eddy_name_of(y),
                  eddy_name_of(x));
    return dx;
}

static eddy_tensor hessian(eddy_tensor y, eddy_tensor x)
{
    eddy_tensor h = eddy_none(y.graph), dx = gradient_of(y, x);
    if (!eddy_is_valid(dx) || eddy_jacobian(dx, EDDY_LIST(x), &h, .name = "hessian") != EDDY_OK)
        return eddy_none(y.graph);
    if (!eddy_is_valid(h))
        eddy_fail(x.graph, EDDY_INVALID_ARGUMENT,
                  "hessians: the gradient with respect to '%.200s' does not depend on it",
                  eddy_name_of(x));
    return h;
}

eddy_status eddy_hessians(eddy_tensor y, eddy_list xs, eddy_tensor *out)
{
    eddy_graph *g = eddy_graph_alive(y.graph) ? y.graph : NULL;
    for (int i = 0; out && i < xs.count; i++) out[i] = eddy_none(g);
    if (!g) return EDDY_INVALID_ARGUMENT;
    if (!eddy_graph_ready(g) || !eddy_list_is_of(g, "hessians", "y", EDDY_LIST(y)) ||
        !eddy_list_is_of(g, "hessians", "xs", xs))
        return eddy_graph_status(g);
    if (!out && xs.count > 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "hessians: nowhere to put the results (out)");
    for (int i = 0; i < xs.count && eddy_graph_ready(g); i++) out[i] = hessian(y, xs.at[i]);
    return eddy_graph_status(g);
}

eddy_tensor eddy_hessian_diagonal(eddy_tensor y, eddy_tensor x)
{
    eddy_graph *g = eddy_graph_alive(y.graph) ? y.graph : NULL;
    eddy_tensor h = eddy_none(g);
    if (!eddy_graph_ready(g) || !eddy_list_is_of(g, "hessians", "y and x", EDDY_LIST(y, x)))
        return h;
    eddy_tensor dx = gradient_of(y, x);
    if (!eddy_graph_ready(g) ||
        eddy_jacobian(dx, EDDY_LIST(x), &h, .name = "hessian",
                      .unconnected_gradients = EDDY_UNCONNECTED_ZERO) != EDDY_OK)
        return eddy_none(g);
    eddy_tensor basis = eddy_basis_like(x), rows = eddy_reshape_like(h, basis);
    return eddy_sum(MulNoNan(rows, basis), EDDY_AXES(0));
}
