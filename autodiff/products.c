/* products.c -- a matrix of derivatives times a vector, without the matrix.
 *
 * The reverse sweep is linear in its seed u, so its derivative with respect to
 * u is the Jacobian itself: sweeping over it once more, from J'u back to u,
 * gives J v.  What only depends on the value of u is pruned when it runs. */
#include "autodiff/internal.h"
#include "ops/math.h"

static bool same_count(eddy_graph *g, const char *who, const char *what, eddy_list a, eddy_list b)
{
    if (a.count != b.count)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %d tensors for %d %s", who, b.count, a.count,
                  what);
    return eddy_graph_ready(g);
}

static eddy_graph *graph_of(eddy_list a)
{
    return a.at && a.count > 0 && eddy_graph_alive(a.at[0].graph) ? a.at[0].graph : NULL;
}

/* As the lists of a call must be; what is invalid in `vs` is left out. */
static bool lists_fit(eddy_graph *g, const char *who, eddy_list ys, eddy_list xs, eddy_list vs,
                      const eddy_tensor *out)
{
    if (!out) eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: nowhere to put the results (out)", who);
    else if (vs.count > 0 && !vs.at)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: vs is not a list", who);
    return eddy_graph_ready(g) && eddy_list_is_of(g, who, "ys", ys) &&
           eddy_list_is_of(g, who, "xs", xs) && same_count(g, who, "xs", xs, vs);
}

/* The pairs of a[i] and v[i] that both are there, in front; how many. */
static int pair_up(eddy_graph *g, const char *who, int n, eddy_tensor *a, eddy_list vs,
                   eddy_tensor *v)
{
    int m = 0;
    for (int i = 0; i < n; i++) {
        if (!eddy_is_valid(a[i]) || !eddy_is_valid(vs.at[i])) continue;
        if (vs.at[i].graph != g || eddy_dtype_of(vs.at[i]) != eddy_dtype_of(a[i]) ||
            !eddy_shape_compatible(eddy_shape_of(vs.at[i]), eddy_shape_of(a[i]))) {
            char x[110], y[110];
            eddy_type want = { eddy_dtype_of(a[i]), eddy_shape_of(a[i]) };
            eddy_type have = { eddy_dtype_of(vs.at[i]), eddy_shape_of(vs.at[i]) };
            eddy_fail(g, EDDY_BAD_SHAPE, "%s: vector %d is %s, it must be %s", who, i,
                      eddy_type_print(have, x, sizeof x), eddy_type_print(want, y, sizeof y));
            return 0;
        }
        a[m] = a[i];
        v[m++] = vs.at[i];
    }
    return m;
}

/* ------------------------------------------------------------------- J v -- */

static void forward(eddy_graph *g, eddy_list ys, eddy_list xs, eddy_list vs, eddy_tensor *out,
                    eddy_tensor *t)
{
    eddy_tensor *u = t, *dx = t + ys.count, *v = dx + xs.count;
    for (int k = 0; k < ys.count; k++) u[k] = eddy_zeros_like(ys.at[k]);
    const eddy_list seeds = { ys.count, u };
    eddy_gradients(ys, xs, dx, .grad_ys = seeds);
    int m = eddy_graph_ready(g) ? pair_up(g, "jvp", xs.count, dx, vs, v) : 0;
    if (!eddy_graph_ready(g) || m == 0) return;
    const eddy_list rows = { m, dx };
    eddy_gradients(rows, seeds, out, .grad_ys = { m, v });
}

eddy_status eddy_jvp(eddy_list ys, eddy_list xs, eddy_list vs, eddy_tensor *out)
{
    eddy_graph *g = graph_of(ys);
    for (int k = 0; out && k < ys.count; k++) out[k] = eddy_none(g);
    if (!g) return EDDY_INVALID_ARGUMENT;
    if (!eddy_graph_ready(g) || !lists_fit(g, "jvp", ys, xs, vs, out)) return eddy_graph_status(g);
    const int64_t n = (int64_t)ys.count + 2 * (int64_t)xs.count;
    eddy_tensor  *t = eddy_tensors_new(g, n);
    if (t) {
        eddy_scope_begin(g, "jvp");
        forward(g, ys, xs, vs, out, t);
        eddy_scope_end(g);
        eddy_tensors_free(g, t, n);
    }
    return eddy_graph_status(g);
}

/* ------------------------------------------------------------------ J' u -- */

eddy_status eddy_vjp(eddy_list ys, eddy_list xs, eddy_list us, eddy_tensor *out)
{
    return eddy_gradients(ys, xs, out, .grad_ys = us, .name = "vjp");
}

/* ------------------------------------------------------------------- H v -- */

eddy_status eddy_hessian_vector_product(eddy_tensor y, eddy_list xs, eddy_list vs, eddy_tensor *out)
{
    eddy_graph *g = eddy_graph_alive(y.graph) ? y.graph : NULL;
    for (int k = 0; out && k < xs.count; k++) out[k] = eddy_none(g);
    if (!g) return EDDY_INVALID_ARGUMENT;
    if (!eddy_graph_ready(g) ||
        !lists_fit(g, "hessian_vector_product", EDDY_LIST(y), xs, vs, out))
        return eddy_graph_status(g);
    eddy_tensor *dx = eddy_tensors_new(g, 2 * (int64_t)xs.count), *v = dx + xs.count;
    if (!dx) return eddy_graph_status(g);
    eddy_gradients(EDDY_LIST(y), xs, dx);
    int m = eddy_graph_ready(g) ? pair_up(g, "hessian_vector_product", xs.count, dx, vs, v) : 0;
    const eddy_list gradient = { m, dx };
    if (eddy_graph_ready(g) && m > 0) eddy_gradients(gradient, xs, out, .grad_ys = { m, v });
    eddy_tensors_free(g, dx, 2 * (int64_t)xs.count);
    return eddy_graph_status(g);
}

/* -------------------------------------------------------------- J' H J v -- */

eddy_status eddy_gauss_newton_vector_product(eddy_tensor loss, eddy_list z, eddy_list xs,
                                             eddy_list vs, eddy_tensor *out)
{
    eddy_graph *g = eddy_graph_alive(loss.graph) ? loss.graph : NULL;
    for (int k = 0; out && k < xs.count; k++) out[k] = eddy_none(g);
    if (!g) return EDDY_INVALID_ARGUMENT;
    if (eddy_graph_ready(g) && z.count == 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "gauss_newton_vector_product: there is no z");
    if (!eddy_graph_ready(g) || !lists_fit(g, "gauss_newton_vector_product", z, xs, vs, out))
        return eddy_graph_status(g);
    eddy_tensor *dz = eddy_tensors_new(g, 3 * (int64_t)z.count);
    if (!dz) return eddy_graph_status(g);
    eddy_tensor *h = dz + z.count, *u = h + z.count;
    eddy_scope_begin(g, "gauss_newton");
    int m = 0;
    if (eddy_jvp(z, xs, vs, dz) == EDDY_OK &&
        eddy_hessian_vector_product(loss, z, (eddy_list){ z.count, dz }, h) == EDDY_OK)
        for (int i = 0; i < z.count; i++)
            if (eddy_is_valid(h[i])) u[m] = h[i], dz[m++] = z.at[i];
    if (m > 0 && eddy_graph_ready(g))
        eddy_gradients(((eddy_list){ m, dz }), xs, out, .grad_ys = { m, u });
    eddy_scope_end(g);
    eddy_tensors_free(g, dz, 3 * (int64_t)z.count);
    return eddy_graph_status(g);
}
