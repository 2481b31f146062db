/* jacobian_products.c -- Jacobian-vector, vector-Jacobian and Hessian-vector products, without the
 * matrix.
 *
 * The reverse sweep is linear in its seed u, so its derivative with respect to u is the Jacobian
 * itself: another sweep over it, from J'u back to u, gives J v. Nodes that depend only on the
 * value of u are pruned when it runs. */
#include "autodiff/internal.h"
#include "graph/call_options.h"
#include "ops/short_names.h"

static eddy_graph *graph_of(eddy_list ys, eddy_list xs)
{
    eddy_graph *g = eddy__graph_of_any(ys);
    return g ? g : eddy__graph_of_any(xs);
}

/* True if the lists of a call are valid; entries of `vs` may be invalid tensors. */
static bool lists_are_valid(eddy_graph *g, const char *who, const char *y_name, eddy_list ys,
                            eddy_list xs, eddy_list vs, const eddy_tensor *out)
{
    const eddy_weighted w = { who, "vs", "xs", vs, xs };
    if (!eddy__graph_ready(g)) return false;
    if (!out) eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: out is NULL", who);
    else if (ys.count == 0) eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s is empty", who, y_name);
    else if (eddy__list_is_of(g, who, y_name, ys) && eddy__list_is_of(g, who, "xs", xs) &&
             vs.count != xs.count)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "%s: vs and xs must have the same length, not %d and %d", who, vs.count,
                  xs.count);
    return eddy__graph_ready(g) && eddy__weights_fit(g, &w);
}

/* Moves the pairs a[i], v[i] that are both valid to the front. Returns their number. */
static int keep_valid_pairs(int n, eddy_tensor *a, eddy_list vs, eddy_tensor *v)
{
    int m = 0;
    for (int i = 0; i < n; i++) {
        if (!eddy_is_valid(a[i]) || !eddy_is_valid(vs.at[i])) continue;
        a[m] = a[i];
        v[m++] = vs.at[i];
    }
    return m;
}

static const char *name_or(const char *name, const char *otherwise)
{
    return name && *name ? name : otherwise;
}

/* ------------------------------------------------------------------- J v -- */

static void jvp(eddy_graph *g, const eddy_jvp_args *a, eddy_tensor *t)
{
    eddy_tensor *u = t, *dx = t + a->ys.count, *v = dx + a->xs.count;
    for (int k = 0; k < a->ys.count; k++) u[k] = eddy_zeros_like(a->ys.at[k]);
    const eddy_list seeds = { a->ys.count, u };
    eddy_gradients(a->ys, a->xs, dx, .grad_ys = seeds);
    int m = eddy__graph_ready(g) ? keep_valid_pairs(a->xs.count, dx, a->vs, v) : 0;
    if (!eddy__graph_ready(g) || m == 0) return;
    const eddy_list rows = { m, dx };
    eddy_gradients(rows, seeds, a->out, .grad_ys = { m, v });
}

eddy_status eddy_jvp_with(const eddy_jvp_args *given)
{
    eddy_jvp_args a = EDDY_TAKE(eddy_jvp_args, given);
    eddy_graph *g = graph_of(a.ys, a.xs);
    eddy__tensors_clear(g, a.out, eddy__list_length(a.ys));
    if (!lists_are_valid(g, "jvp", "ys", a.ys, a.xs, a.vs, a.out)) return eddy__status_of(g);
    const int64_t n = (int64_t)a.ys.count + 2 * (int64_t)a.xs.count;
    eddy_tensor  *t = eddy__tensors_new(g, n);
    if (t) {
        eddy_scope_begin(g, name_or(a.name, "jvp"));
        jvp(g, &a, t);
        eddy_scope_end(g);
        eddy__tensors_free(g, t, n);
    }
    return eddy_graph_status(g);
}

/* ------------------------------------------------------------------ J' u -- */

eddy_status eddy_vjp_with(const eddy_vjp_args *given)
{
    eddy_vjp_args a = EDDY_TAKE(eddy_vjp_args, given);
    eddy_graph         *g = graph_of(a.ys, a.xs);
    const eddy_weighted w = { "vjp", "us", "ys", a.us, a.ys };
    eddy__tensors_clear(g, a.out, eddy__list_length(a.xs));
    if (eddy__graph_ready(g) && !a.out && a.xs.count > 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "vjp: out is NULL");
    if (!eddy__graph_ready(g) || !eddy__list_is_of(g, "vjp", "ys", a.ys) ||
        !eddy__list_is_of(g, "vjp", "xs", a.xs) || !eddy__weights_fit(g, &w))
        return eddy__status_of(g);
    return eddy_gradients(a.ys, a.xs, a.out, .grad_ys = a.us, .name = name_or(a.name, "vjp"));
}

/* ------------------------------------------------------------------- H v -- */

static void hessian_vector(eddy_graph *g, const eddy_hessian_vector_args *a, eddy_tensor *dx)
{
    eddy_tensor *v = dx + a->xs.count;
    eddy_gradients(EDDY_LIST(a->y), a->xs, dx);
    int m = eddy__graph_ready(g) ? keep_valid_pairs(a->xs.count, dx, a->vs, v) : 0;
    const eddy_list gradient = { m, dx };
    if (eddy__graph_ready(g) && m > 0) eddy_gradients(gradient, a->xs, a->out, .grad_ys = { m, v });
}

eddy_status eddy_hessian_vector_product_with(const eddy_hessian_vector_args *given)
{
    eddy_hessian_vector_args a = EDDY_TAKE(eddy_hessian_vector_args, given);
    eddy_graph *g = graph_of(EDDY_LIST(a.y), a.xs);
    eddy__tensors_clear(g, a.out, eddy__list_length(a.xs));
    if (!lists_are_valid(g, "hessian_vector_product", "y", EDDY_LIST(a.y), a.xs, a.vs, a.out))
        return eddy__status_of(g);
    eddy_tensor *t = eddy__tensors_new(g, 2 * (int64_t)a.xs.count);
    const bool   named = a.name && *a.name;
    if (named) eddy_scope_begin(g, a.name);
    if (t) hessian_vector(g, &a, t);
    if (named) eddy_scope_end(g);
    eddy__tensors_free(g, t, 2 * (int64_t)a.xs.count);
    return eddy_graph_status(g);
}

/* -------------------------------------------------------------- J' H J v -- */

static void gauss_newton(eddy_graph *g, const eddy_gauss_newton_args *a, eddy_tensor *dz)
{
    eddy_tensor *h = dz + a->z.count, *u = h + a->z.count;
    int          m = 0;
    if (eddy_jvp(a->z, a->xs, a->vs, dz) == EDDY_OK &&
        eddy_hessian_vector_product(a->loss, a->z, { a->z.count, dz }, h) == EDDY_OK)
        for (int i = 0; i < a->z.count; i++)
            if (eddy_is_valid(h[i])) u[m] = h[i], dz[m++] = a->z.at[i];
    if (m > 0 && eddy__graph_ready(g))
        eddy_gradients({ m, dz }, a->xs, a->out, .grad_ys = { m, u });
}

eddy_status eddy_gauss_newton_vector_product_with(const eddy_gauss_newton_args *given)
{
    eddy_gauss_newton_args a = EDDY_TAKE(eddy_gauss_newton_args, given);
    static const char who[] = "gauss_newton_vector_product";
    eddy_graph *g = graph_of(EDDY_LIST(a.loss), a.xs);
    eddy__tensors_clear(g, a.out, eddy__list_length(a.xs));
    if (!lists_are_valid(g, who, "z", a.z, a.xs, a.vs, a.out) ||
        !eddy__list_is_of(g, who, "loss", EDDY_LIST(a.loss)))
        return eddy__status_of(g);
    eddy_tensor *dz = eddy__tensors_new(g, 3 * (int64_t)a.z.count);
    eddy_scope_begin(g, name_or(a.name, "gauss_newton"));
    if (dz) gauss_newton(g, &a, dz);
    eddy_scope_end(g);
    eddy__tensors_free(g, dz, 3 * (int64_t)a.z.count);
    return eddy_graph_status(g);
}
