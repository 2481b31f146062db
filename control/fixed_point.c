/* fixed_point.c -- x = f(x): a loop of f, and a gradient that is a fixed point too.
 *
 * With J = df/dx at the solution, dx = J dx + df, so that the gradient of f is u = dy + J' u. The
 * rule solves this in the same way, as the fixed point of a function that captures J by the nodes
 * of a vector-Jacobian product; the gradient of that fixed point is the next one, and so on. */
#include "control/solver_parts.h"
#include "graph/call_options.h"
#include "ops/ops.h"
#include "ops/short_names.h"
#include "control/trace_functions.h"

#include <string.h>

enum { N_X, TOLERANCE, ITERATIONS };    /* options of the closure */

/* A fixed point, with the excess relative to max(max |x|, least). */
typedef struct fixed_point {
    const char          *what, *scope;
    const eddy_function *f;
    eddy_list            x0, theta;
    double               tolerance, least;
    int64_t              maximum_iterations;
} fixed_point;

/* ------------------------------------------------------------------ loop -- */

/* The loop variables are x and its excess. */
typedef struct iteration {
    const closure *c;
    double         tolerance, least;
} iteration;

static int next_values(eddy_list v, eddy_tensor *y, void *context)
{
    const iteration *i = context;
    const int        n = v.count - 1;
    if (!eddy__closure_build(i->c, v.at, NULL, y)) return 0;
    y[n] = eddy__solver_excess(n, v.at, y, i->tolerance, i->least);
    return v.count;
}

static void gradient_rule(eddy_rule *r);

static bool iterate(const closure *c, const fixed_point *p, eddy_tensor *out)
{
    const int           n = p->x0.count;
    iteration           i = { c, p->tolerance, p->least };
    const eddy_function cond = { .build = eddy__solver_goes_on },
                        body = { .build = next_values, .context = &i };
    eddy_tensor         v[EDDY_MAX_RESULTS], y[EDDY_MAX_RESULTS];
    memcpy(v, p->x0.at, (size_t)n * sizeof *v);
    v[n] = eddy_number(c->graph, eddy_dtype_of(v[0]), 1);
    if (eddy_while_loop(cond, body, ((eddy_list){ n + 1, v }), y, .no_back_prop = true,
                        .maximum_iterations = p->maximum_iterations) == 0)
        return false;
    eddy__solver_converged(n, y, y[n], p->what, p->maximum_iterations);
    eddy__solver_attach(c, (eddy_list){ n, y }, p->x0, "eddy_fixed_point", gradient_rule, out);
    return eddy__graph_ready(c->graph);
}

static bool solve(eddy_graph *g, const fixed_point *p, eddy_tensor *out)
{
    closure     c = { .graph = g, .options = { [TOLERANCE] = p->tolerance,
                                               [ITERATIONS] = (double)p->maximum_iterations } };
    eddy_tensor x[EDDY_MAX_RESULTS];
    if (!eddy__solver_room(g, p->what, "x0", p->x0, EDDY_SOLVER_MOST)) return false;
    eddy_scope_begin(g, p->scope);
    eddy__solver_copies(p->x0.count, p->x0.at, x);
    const bool ok =
        eddy__closure_begin(&c, p->what, p->f, (eddy_list){ p->x0.count, x }, p->theta) &&
        eddy__solver_results_fit(&c, p->what, p->x0) && iterate(&c, p, out);
    eddy_scope_end(g);
    return ok;
}

/* -------------------------------------------------------------- gradient -- */

typedef struct transposed {
    const linearized  *l;
    const eddy_tensor *dy;
} transposed;

/* dy + J' u */
static int add_vjp(eddy_list u, eddy_tensor *y, void *context)
{
    const transposed *t = context;
    if (!eddy__linearized_vjp(t->l, u.at, y)) return 0;
    for (int k = 0; k < u.count; k++)
        y[k] = eddy_is_valid(y[k]) ? Add(t->dy[k], y[k]) : eddy_identity(t->dy[k]);
    return u.count;
}

static void gradient_rule(eddy_rule *r)
{
    closure     c;
    linearized  l;
    eddy_tensor x[EDDY_MAX_RESULTS], u[EDDY_MAX_RESULTS];
    if (!eddy__closure_of(&c, r, r->n_out)) return;
    eddy__solver_copies(r->n_out, r->y, x);
    if (eddy__linearize(&l, &c, x)) {
        transposed          t = { &l, r->dy };
        const eddy_function f = { .build = add_vjp, .context = &t };
        const fixed_point   p = {
              .what = "the gradient of fixed_point", .scope = "fixed_point", .f = &f,
              .x0 = { r->n_out, r->dy }, .tolerance = c.options[TOLERANCE],
              .maximum_iterations = (int64_t)c.options[ITERATIONS],
        };
        if (solve(r->graph, &p, u))
            eddy__linearized_vjp_captured(&l, u, r->dx + r->n_out);
    }
    eddy__linearized_end(&l);
}

/* ------------------------------------------------------------------ call -- */

int eddy_fixed_point_with(const eddy_fixed_point_args *given)
{
    static const char what[] = "fixed_point";
    eddy_fixed_point_args a = EDDY_TAKE(eddy_fixed_point_args, given);
    eddy_graph *g = eddy__function_graph(what, &a.f, a.x0, "x0 is empty");
    if (!eddy__graph_ready(g) || !eddy__solver_takes(g, what, "x0", a.x0) ||
        !eddy__list_is_of(g, what, "theta", a.theta) ||
        !eddy__solver_out(g, what, a.out) ||
        !eddy__solver_tolerance(g, what, "tolerance", eddy_dtype_of(a.x0.at[0]), 1e-5, 1e-10,
                                &a.tolerance) ||
        !eddy__solver_count(g, what, "maximum_iterations", &a.maximum_iterations))
        return 0;
    const fixed_point p = {
        .what = what, .scope = eddy__name_or(a.name, "fixed_point"), .f = &a.f, .x0 = a.x0,
        .theta = a.theta, .tolerance = a.tolerance, .least = 1,
        .maximum_iterations = a.maximum_iterations,
    };
    return solve(g, &p, a.out) ? a.x0.count : 0;
}
