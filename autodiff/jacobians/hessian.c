/* hessian.c -- Hessians, second derivatives: the Jacobian of the gradient. */
#include "autodiff/internal.h"
#include "autodiff/jacobians/jacobians.h"
#include "graph/call_options.h"
#include "ops/short_names.h"

/* The rank of x, twice that of the result. */
static bool rank_fits(const char *who, eddy_tensor x)
{
    const int rank = eddy_shape_of(x).rank;
    if (rank < 0)
        eddy_fail(x.graph, EDDY_BAD_SHAPE, "%s: the rank of '%.200s' is unknown", who,
                  eddy_name_of(x));
    else if (2 * rank > EDDY_MAX_RANK)
        eddy_fail(x.graph, EDDY_LIMIT,
                  "%s: the Hessian with respect to '%.200s' would have rank %d; the limit is %d",
                  who, eddy_name_of(x), 2 * rank, EDDY_MAX_RANK);
    return eddy__graph_ready(x.graph);
}

static eddy_tensor gradient_of(const char *who, eddy_tensor y, eddy_tensor x)
{
    eddy_tensor dx = eddy_gradient(y, x);
    if (!eddy_is_valid(dx) && eddy__graph_ready(y.graph))
        eddy_fail(y.graph, EDDY_INVALID_ARGUMENT,
                  "%s: there is no gradient of '%.200s' with respect to '%.200s'", who,
                  eddy_name_of(y), eddy_name_of(x));
    return eddy_is_valid(dx) && eddy_shape_of(dx).rank < 0 ? eddy_reshape_like(dx, x) : dx;
}

static eddy_tensor hessian(const eddy_hessians_args *a, eddy_tensor x)
{
    const eddy_tensor none = eddy_none(x.graph);
    eddy_tensor       h = none, dx = none;
    if (!rank_fits("hessians", x)) return none;
    if (a->unconnected_gradients == EDDY_UNCONNECTED_NONE)
        dx = gradient_of("hessians", a->y, x);
    else eddy_gradients(EDDY_LIST(a->y), EDDY_LIST(x), &dx,
                        .unconnected_gradients = a->unconnected_gradients);
    if (!eddy_is_valid(dx) ||
        eddy_jacobian(dx, EDDY_LIST(x), &h, a->unconnected_gradients,
                      .name = a->name && *a->name ? a->name : "hessian",
                      .mode = EDDY_JACOBIAN_REVERSE, .max_bytes = a->max_bytes) != EDDY_OK)
        return none;
    if (!eddy_is_valid(h))
        eddy_fail(x.graph, EDDY_INVALID_ARGUMENT,
                  "hessians: there is no second derivative of '%.200s' with respect to '%.200s'",
                  eddy_name_of(a->y), eddy_name_of(x));
    return h;
}

static eddy_graph *graph_of(eddy_tensor y, eddy_list xs)
{
    return eddy__graph_alive(y.graph) ? y.graph : eddy__graph_of_any(xs);
}

eddy_status eddy_hessians_with(const eddy_hessians_args *given)
{
    eddy_hessians_args a = EDDY_TAKE(eddy_hessians_args, given);
    eddy_graph *g = graph_of(a.y, a.xs);
    eddy__tensors_clear(g, a.out, eddy__list_length(a.xs));
    if (!eddy__graph_ready(g) || !eddy__list_is_of(g, "hessians", "y", EDDY_LIST(a.y)) ||
        !eddy__list_is_of(g, "hessians", "xs", a.xs))
        return eddy__status_of(g);
    if (!a.out && a.xs.count > 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "hessians: out is NULL");
    for (int i = 0; i < a.xs.count && eddy__graph_ready(g); i++)
        a.out[i] = hessian(&a, a.xs.at[i]);
    return eddy_graph_status(g);
}

eddy_tensor eddy_hessian_diagonal(eddy_tensor y, eddy_tensor x)
{
    static const char who[] = "hessian_diagonal";
    eddy_graph *g = graph_of(y, EDDY_LIST(x));
    eddy_tensor h = eddy_none(g), dx = h;
    if (!eddy__graph_ready(g) || !eddy__list_is_of(g, who, "y", EDDY_LIST(y)) ||
        !eddy__list_is_of(g, who, "x", EDDY_LIST(x)))
        return h;
    if (rank_fits(who, x)) dx = gradient_of(who, y, x);
    if (!eddy__graph_ready(g) ||
        eddy_jacobian(dx, EDDY_LIST(x), &h, .name = "hessian",
                      .unconnected_gradients = EDDY_UNCONNECTED_ZERO) != EDDY_OK)
        return eddy_none(g);
    eddy_tensor basis = eddy_basis_like(x), rows = eddy_reshape_like(h, basis);
    return eddy_sum(MulNoNan(rows, basis), EDDY_AXES(0));
}
