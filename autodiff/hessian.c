/* hessian.c -- second derivatives by sweeping twice. */
#include "autodiff/autodiff.h"
#include "graph/internal.h"
#include "ops/math.h"

/* Temporary tensors, from the graph's allocator; NULL with the error set. */
static eddy_tensor *tensors(eddy_graph *g, int64_t n)
{
    eddy_tensor *t = eddy_allocate_zeroed(eddy_graph_allocator(g), (size_t)n, sizeof *t);
    if (!t) eddy_fail(g, EDDY_NO_MEMORY, "hessians: out of memory for %lld tensors", (long long)n);
    return t;
}
static void free_tensors(eddy_graph *g, eddy_tensor *t, int64_t n)
{
    eddy_release(eddy_graph_allocator(g), t, (size_t)n * sizeof *t);
}

eddy_status eddy_hessian_vector_product(eddy_tensor y, eddy_list xs, eddy_list vs, eddy_tensor *out)
{
    eddy_graph *g = y.graph;
    if (!eddy_graph_ready(g)) return eddy_graph_status(g);
    if (xs.count != vs.count || xs.count < 0 || !out || (xs.count > 0 && (!xs.at || !vs.at))) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "xs and v must have the same length.");
        return eddy_graph_status(g);
    }
    eddy_tensor *t = tensors(g, 2 * (int64_t)xs.count);
    if (!t) return eddy_graph_status(g);
    eddy_tensor *dx = t, *product = t + xs.count;
    int n = 0;
    eddy_gradients(EDDY_LIST(y), xs, dx);
    for (int i = 0; i < xs.count && eddy_graph_ready(g); i++)
        if (eddy_is_valid(dx[i])) product[n++] = Mul(dx[i], eddy_stop_gradient(vs.at[i]));
    if (eddy_graph_ready(g)) eddy_gradients((eddy_list){ n, product }, xs, out);
    free_tensors(g, t, 2 * (int64_t)xs.count);
    return eddy_graph_status(g);
}

/* Row i of the Hessian: the gradient of element i of the flat gradient. */
static eddy_tensor hessian_row(eddy_tensor flat, int64_t i, int64_t n, eddy_tensor x)
{
    eddy_tensor element = eddy_slice(flat, EDDY_DIMS(i), EDDY_DIMS(1));
    eddy_tensor row = eddy_gradient(element, x);
    if (!eddy_is_valid(row))
        return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT,
                         "hessians: the gradient with respect to '%.200s' does not depend on it",
                         eddy_name_of(x));
    return eddy_reshape(row, EDDY_SHAPE(n));
}

static eddy_tensor hessian(eddy_tensor y, eddy_tensor x)
{
    eddy_graph *g = y.graph;
    eddy_shape  s = eddy_shape_of(x), square = { .rank = 2 * s.rank };
    int64_t     n = eddy_shape_count(s);
    enum { MOST = 1 << 14 };
    if (n < 0 || n > MOST || 2 * s.rank > EDDY_MAX_RANK)
        return eddy_fail(
            g, EDDY_BAD_SHAPE,
            "hessians: '%.200s' must have a known shape of rank at most %d and at most %d elements",
            eddy_name_of(x), EDDY_MAX_RANK / 2, MOST);
    for (int i = 0; i < 2 * s.rank; i++) square.dim[i] = s.dim[i % s.rank];
    eddy_tensor dx = eddy_gradient(y, x);
    if (!eddy_is_valid(dx))
        return eddy_fail(g, EDDY_INVALID_ARGUMENT,
                         "hessians: no gradient of '%.200s' with respect to '%.200s'",
                         eddy_name_of(y), eddy_name_of(x));
    if (n == 0) return eddy_zeros(g, eddy_dtype_of(x), square);
    eddy_tensor *rows = tensors(g, n), flat = eddy_reshape(dx, EDDY_SHAPE(n));
    for (int64_t i = 0; rows && i < n && eddy_graph_ready(g); i++)
        rows[i] = hessian_row(flat, i, n, x);
    eddy_tensor h =
        rows ? eddy_reshape(eddy_stack((eddy_list){ (int)n, rows }, 0), square) : eddy_none(g);
    free_tensors(g, rows, n);
    return h;
}

eddy_status eddy_hessians(eddy_tensor y, eddy_list xs, eddy_tensor *out)
{
    eddy_graph *g = y.graph;
    for (int i = 0; out && i < xs.count; i++) out[i] = eddy_none(g);
    if (!eddy_graph_ready(g)) return eddy_graph_status(g);
    if (!out || xs.count < 0 || (xs.count > 0 && !xs.at))
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "hessians: no list of xs, or nowhere to put the results");
    for (int i = 0; i < xs.count && eddy_graph_ready(g); i++) out[i] = hessian(y, xs.at[i]);
    return eddy_graph_status(g);
}
