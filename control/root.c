/* root.c -- f(x) = 0 by Newton's method.
 *
 * All tensors of x form one vector v, and all results of f another one, so that the Jacobian is one
 * matrix. With J at the root, J dx + df = 0: the gradient of f is u = -(J')^-1 dy. The rule builds
 * J and u at the root from ordinary operations, which are differentiated again. */
#include "control/solver_parts.h"
#include "control/trace_functions.h"
#include "graph/call_options.h"
#include "ops/ops.h"
#include "ops/short_names.h"

static const char what[] = "root";

/* f' dy, for the vectors in `context`: f and v. */
static int vjp_of(eddy_list dy, eddy_tensor *dv, void *context)
{
    const eddy_tensor *fv = context;
    eddy_gradients(EDDY_LIST(fv[0]), EDDY_LIST(fv[1]), dv, .grad_ys = dy);
    if (!eddy_is_valid(dv[0]))
        eddy_fail(fv[1].graph, EDDY_INVALID_ARGUMENT,
                  "%s: the results of the function do not depend on x", what);
    return eddy_is_valid(dv[0]) ? 1 : 0;
}

/* df/dv of vectors, a map over the unit vectors; invalid with an error if f does not depend on v.
 * (eddy_jacobian is in a folder above this one.) */
static eddy_tensor jacobian_of(eddy_tensor f, eddy_tensor v)
{
    const eddy_function vjp = { .build = vjp_of, .context = (eddy_tensor[]){ f, v }, .name = what };
    eddy_tensor         j = eddy_none(v.graph);
    eddy_vmap(vjp, EDDY_LIST(eddy_basis_like(f)), &j, .name = "jacobian");
    return j;
}

static eddy_tensor solved(eddy_tensor j, eddy_tensor v, bool transposed)
{
    return eddy_squeeze(eddy_solve(j, eddy_expand_dims(v, 1), .adjoint = transposed), EDDY_AXES(1));
}

/* ------------------------------------------------------------------ loop -- */

typedef struct newton {
    const closure *c;
    eddy_list      x0;
    double         tolerance;
} newton;

static int newton_step(eddy_list v, eddy_tensor *next, void *context)
{
    const newton *n = context;
    eddy_tensor   x[EDDY_MAX_RESULTS], y[EDDY_MAX_RESULTS];
    eddy__solver_parted(v.at[0], n->x0.count, n->x0.at, x);
    if (!eddy__closure_build(n->c, x, NULL, y)) return 0;
    const eddy_tensor f = eddy__solver_joined(n->c->n_y, y), j = jacobian_of(f, v.at[0]);
    next[0] = Sub(v.at[0], solved(j, f, false));
    next[1] = eddy__solver_excess(1, v.at, next, n->tolerance, 1);
    return 2;
}

/* -------------------------------------------------------------- gradient -- */

static void gradient_rule(eddy_rule *r)
{
    closure     c;
    linearized  l;
    eddy_tensor x[EDDY_MAX_RESULTS];
    if (!eddy__closure_of(&c, r, r->n_out)) return;
    const eddy_tensor v = eddy__solver_joined(r->n_out, r->y);
    eddy__solver_parted(v, r->n_out, r->y, x);
    if (eddy__linearize(&l, &c, x)) {
        const eddy_tensor j = jacobian_of(eddy__solver_joined(c.n_y, l.y), v);
        const eddy_tensor u = Neg(solved(j, eddy__solver_joined(r->n_out, r->dy), true));
        eddy_tensor       parts[EDDY_MAX_RESULTS];
        eddy__solver_parted(u, c.n_y, l.y, parts);
        eddy__linearized_vjp_captured(&l, parts, r->dx + r->n_out);
    }
    eddy__linearized_end(&l);
}

/* ------------------------------------------------------------------ call -- */

static bool solve(const closure *c, const eddy_root_args *a, eddy_tensor *out)
{
    newton              n = { c, a->x0, a->tolerance };
    const eddy_function cond = { .build = eddy__solver_goes_on },
                        body = { .build = newton_step, .context = &n };
    const eddy_tensor   start = eddy__solver_joined(a->x0.count, a->x0.at);
    eddy_tensor         y[2], x[EDDY_MAX_RESULTS];
    if (eddy_while_loop(cond, body, EDDY_LIST(start, NumberLike(1, start)), y, .no_back_prop = true,
                        .maximum_iterations = a->maximum_iterations) == 0)
        return false;
    eddy__solver_converged(1, y, y[1], what, a->maximum_iterations);
    eddy__solver_parted(y[0], a->x0.count, a->x0.at, x);
    eddy__solver_attach(c, (eddy_list){ a->x0.count, x }, a->x0, "eddy_root", gradient_rule, out);
    return eddy__graph_ready(c->graph);
}

/* The shapes are known, and the function has as many elements as x. */
static bool sizes_fit(const closure *c, eddy_list x0)
{
    int64_t n = 0, m = 0;
    for (int k = 0; k < x0.count; k++) n += eddy_shape_count(eddy_shape_of(x0.at[k]));
    for (int k = 0; k < c->n_y; k++) {
        const eddy_type y = eddy__type_of(eddy__closure_result(c, k));
        if (eddy_shape_count(y.shape) < 0 || y.dtype != eddy_dtype_of(x0.at[0])) {
            char text[120];
            eddy_fail(c->graph, EDDY_BAD_SHAPE,
                      "%s: result %d of the function is %s; a known shape and %s expected", what, k,
                      eddy_type_print(y, text, sizeof text),
                      eddy_dtype_name(eddy_dtype_of(x0.at[0])));
            return false;
        }
        m += eddy_shape_count(y.shape);
    }
    if (n == m) return true;
    eddy_fail(c->graph, EDDY_BAD_SHAPE,
              "%s: the number of elements of x is %lld, but that of the results of the function is "
              "%lld", what, (long long)n, (long long)m);
    return false;
}

int eddy_root_with(const eddy_root_args *given)
{
    eddy_root_args a = EDDY_TAKE(eddy_root_args, given);
    eddy_graph    *g = eddy__function_graph(what, &a.f, a.x0, "x0 is empty");
    if (!eddy__graph_ready(g) || !eddy__solver_takes(g, what, "x0", a.x0) ||
        !eddy__list_is_of(g, what, "theta", a.theta) || !eddy__solver_out(g, what, a.out) ||
        !eddy__solver_tolerance(g, what, "tolerance", eddy_dtype_of(a.x0.at[0]), 1e-5, 1e-10,
                                &a.tolerance) ||
        !eddy__solver_count(g, what, "maximum_iterations", &a.maximum_iterations) ||
        !eddy__solver_shapes_are_known(g, what, "x0", a.x0))
        return 0;
    closure     c = { .graph = g };
    eddy_tensor x[EDDY_MAX_RESULTS];
    eddy_scope_begin(g, eddy__name_or(a.name, what));
    const bool fits = eddy__solver_room(g, what, "x0", a.x0, EDDY_SOLVER_MOST);
    if (fits) eddy__solver_copies(a.x0.count, a.x0.at, x);
    const bool ok = fits &&
                    eddy__closure_begin(&c, what, &a.f, (eddy_list){ a.x0.count, x }, a.theta) &&
                    sizes_fit(&c, a.x0) && solve(&c, &a, a.out);
    eddy_scope_end(g);
    return ok ? a.x0.count : 0;
}
