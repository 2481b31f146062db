/* linear_system.c -- A x = b: arguments, scaling, and the gradient.
 *
 * With dx = A^-1 (db - dA x), the gradient of b is u = (A')^-1 dy, and that of theta is
 * -(d(A x)/dtheta)' u. The rule finds u by the same method, whose operator captures A again, so
 * that its gradient is the next one, and so on. A and M are one closure: the rule needs both. */
#include "control/linear_system.h"
#include "control/trace_functions.h"
#include "ops/ops.h"
#include "ops/short_names.h"

#include <stdio.h>
#include <string.h>

/* -------------------------------------------------------------- operators -- */

static eddy_tensor product(const linear_operator *a, eddy_tensor v, int first)
{
    eddy_tensor x[EDDY_MAX_RESULTS], y[EDDY_MAX_RESULTS];
    eddy__solver_parted(v, a->n, a->like, x);
    if (!eddy__closure_build(&a->c, x, NULL, y)) return eddy_none(a->c.graph);
    return eddy__solver_joined(a->n, y + first);
}

eddy_tensor eddy__operator_product(const linear_operator *a, eddy_tensor v)
{
    return product(a, v, 0);
}

eddy_tensor eddy__operator_precondition(const linear_operator *a, eddy_tensor v)
{
    return a->preconditioned ? product(a, v, a->n) : v;
}

eddy_tensor eddy__vector_length(eddy_tensor v) { return Sqrt(eddy_dot(v, v)); }

/* ------------------------------------------------------------------- solving -- */

typedef struct linear_system {
    const linear_method *m;
    const char          *what, *scope;
    const eddy_function *f;             /* the operator, and then the preconditioner */
    eddy_list            b, x0, theta;
    bool                 preconditioned;
    double               options[EDDY_CLOSURE_OPTIONS];
} linear_system;

/* b is divided by its largest element, so that its norm neither overflows nor underflows. For b = 0
 * the solution is 0, whatever the guess. */
static bool solve_scaled(const linear_system *s, const linear_operator *a, eddy_tensor *out)
{
    eddy_graph       *g = a->c.graph;
    const eddy_tensor whole = eddy__solver_joined(a->n, s->b.at), size = Max(Abs(whole));
    const eddy_tensor given = Greater(size, 0), scale = Where(given, size, 1);
    const eddy_tensor b = Div(whole, scale);
    const eddy_tensor limit = Mul(s->options[SYSTEM_TOLERANCE], eddy__vector_length(b));
    eddy_tensor       x = ZerosLike(b), r = b, y[2], parts[EDDY_MAX_RESULTS];
    char              message[200];
    if (s->x0.count > 0) {
        x = Where(given, Div(eddy__solver_joined(a->n, s->x0.at), scale), 0);
        r = Sub(b, eddy__operator_product(a, x));
    }
    if (!eddy__graph_ready(g) || !s->m->iterate(a, b, limit, x, r, y)) return false;
    eddy__solver_parted(Mul(y[0], scale), a->n, a->like, parts);
    snprintf(message, sizeof message,
             "%s: no convergence in %lld iterations%s, or a value is not finite", s->what,
             (long long)s->options[SYSTEM_ITERATIONS], s->m->failure);
    eddy__solver_ensure(a->n, parts, LessEqual(y[1], 0), message);
    eddy__solver_attach(&a->c, (eddy_list){ a->n, parts }, s->b, s->m->rule_name, s->m->rule, out);
    return eddy__graph_ready(g);
}

static bool solve(eddy_graph *g, const linear_system *s, eddy_tensor *out)
{
    const int       n = s->b.count;
    linear_operator a = { .c = { .graph = g }, .n = n, .like = s->b.at,
                          .preconditioned = s->preconditioned };
    eddy_tensor     x[EDDY_MAX_RESULTS], twice[2 * EDDY_OPERATOR_MOST];
    memcpy(a.c.options, s->options, sizeof s->options);
    for (int k = 0; k < 2 * n; k++) twice[k] = s->b.at[k % n];
    eddy_scope_begin(g, s->scope);
    eddy__solver_copies(n, s->b.at, x);
    const eddy_list results = { s->preconditioned ? 2 * n : n, twice };
    const bool      ok = eddy__closure_begin(&a.c, s->what, s->f, (eddy_list){ n, x }, s->theta) &&
                    eddy__solver_results_fit(&a.c, s->what, results) && solve_scaled(s, &a, out);
    eddy_scope_end(g);
    return ok;
}

/* ------------------------------------------------------------------ gradient -- */

/* A and M again. */
static int again(eddy_list x, eddy_tensor *y, void *context)
{
    const linearized *l = context;
    const closure    *c = &l->c;
    return eddy__closure_build(c, x.at, NULL, y) ? c->n_y : 0;
}

/* A' u and M' u. */
static int transposed(eddy_list u, eddy_tensor *y, void *context)
{
    const linearized *l = context;
    for (int first = 0; first < l->c.n_y; first += u.count) {
        const eddy_list results = { u.count, l->y + first }, x = { u.count, l->x };
        if (eddy_gradients(results, x, y + first, .grad_ys = u,
                           .unconnected_gradients = EDDY_UNCONNECTED_ZERO) != EDDY_OK)
            return 0;
    }
    return l->c.n_y;
}

void eddy__linear_rule(eddy_rule *r, const linear_method *m)
{
    const int   n = r->n_out;
    closure     c;
    linearized  l;
    eddy_tensor x[EDDY_MAX_RESULTS], u[EDDY_MAX_RESULTS];
    if (!eddy__closure_of(&c, r, n)) return;
    eddy__solver_copies(n, r->y, x);
    if (eddy__linearize(&l, &c, x)) {
        const eddy_function f = { .build = m->symmetric ? again : transposed, .context = &l };
        linear_system s = { .m = m, .what = m->of_gradient, .scope = m->scope, .f = &f,
                        .b = { n, r->dy }, .preconditioned = c.n_y > n };
        memcpy(s.options, c.options, sizeof s.options);
        if (solve(r->graph, &s, u)) {
            memcpy(r->dx, u, (size_t)n * sizeof *u);
            for (int k = 0; k < n; k++) u[k] = Neg(u[k]);
            l.c.n_y = n;
            eddy__linearized_vjp_captured(&l, u, r->dx + n);
        }
    }
    eddy__linearized_end(&l);
}

/* ---------------------------------------------------------------------- call -- */

typedef struct functions {
    const char          *what;
    const eddy_function *a, *preconditioner;    /* the second one may be NULL */
    int                  n;
} functions;

static bool call_one(const functions *p, const eddy_function *f, const char *role, eddy_list x,
                     eddy_tensor *y)
{
    trace     t = { .graph = x.at[0].graph, .what = p->what };
    const int count = eddy__trace_call(&t, f, role, x.count, x.at);
    if (count > 0 && count != p->n)
        eddy_fail(t.graph, EDDY_INVALID_ARGUMENT,
                  "%s: the number of results of %s is %d; expected %d", p->what, role, count, p->n);
    if (count != p->n) return false;
    memcpy(y, t.y, (size_t)count * sizeof *y);
    return true;
}

static int call_both(eddy_list x, eddy_tensor *y, void *context)
{
    const functions *p = context;
    if (!call_one(p, p->a, "the operator", x, y)) return 0;
    if (!p->preconditioner) return p->n;
    return call_one(p, p->preconditioner, "the preconditioner", x, y + p->n) ? 2 * p->n : 0;
}

static bool guess_fits(eddy_graph *g, const char *what, eddy_list x0, eddy_list b)
{
    char have[120], want[120];
    if (x0.count == 0) return true;
    if (!eddy__solver_takes(g, what, "x0", x0)) return false;
    if (x0.count != b.count) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: x0 has %d tensors; expected %d, as b", what,
                  x0.count, b.count);
        return false;
    }
    for (int k = 0; k < b.count; k++) {
        const eddy_type y = eddy__type_of(x0.at[k]), type = eddy__type_of(b.at[k]);
        if (y.dtype == type.dtype && eddy_shape_compatible(type.shape, y.shape)) continue;
        eddy_fail(g, y.dtype == type.dtype ? EDDY_BAD_SHAPE : EDDY_BAD_DTYPE,
                  "%s: x0[%d] is %s; expected %s, as b[%d]", what, k,
                  eddy_type_print(y, have, sizeof have), eddy_type_print(type, want, sizeof want),
                  k);
        return false;
    }
    return true;
}

int eddy__linear_call(const linear_method *m, linear_call *call)
{
    const char *what = m->what;
    eddy_graph *g = eddy__function_graph(what, &call->a, call->b, "b is empty");
    if (!eddy__graph_ready(g) || !eddy__solver_takes(g, what, "b", call->b) ||
        !eddy__solver_room(g, what, "b", call->b, EDDY_OPERATOR_MOST) ||
        !eddy__list_is_of(g, what, "theta", call->theta) ||
        !guess_fits(g, what, call->x0, call->b) || !eddy__solver_out(g, what, call->out) ||
        !eddy__solver_tolerance(g, what, "tolerance", eddy_dtype_of(call->b.at[0]), 1e-5, 1e-10,
                                &call->tolerance) ||
        !eddy__solver_count(g, what, "maximum_iterations", &call->iterations) ||
        (call->b.count > 1 && !eddy__solver_shapes_are_known(g, what, "b", call->b)))
        return 0;
    const bool    preconditioned = call->preconditioner.build != NULL;
    functions     both = { what, &call->a, preconditioned ? &call->preconditioner : NULL,
                           call->b.count };
    const eddy_function f = { .build = call_both, .context = &both };
    const linear_system     s = {
            .m = m, .what = what, .scope = eddy__name_or(call->name, m->scope), .f = &f,
            .b = call->b, .x0 = call->x0, .theta = call->theta, .preconditioned = preconditioned,
            .options = { [SYSTEM_TOLERANCE] = call->tolerance,
                         [SYSTEM_ITERATIONS] = (double)call->iterations,
                         [SYSTEM_RESTART] = (double)call->restart },
    };
    return solve(g, &s, call->out) ? call->b.count : 0;
}
