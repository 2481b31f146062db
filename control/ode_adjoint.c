/* ode_adjoint.c -- the gradient of a differential equation by the adjoint equation.
 *
 * With y' = f(t, y) and the gradient a(t) of the loss with respect to y(t), a' = -(df/dy)' a, and
 * the gradient of captured tensors p is the integral of (df/dp)' a: g' = -(df/dp)' a, backward in
 * time. The rule solves y, a and g from each time to the one before, adds the gradient of y at that
 * time to a, and starts y again from its computed value. The system is solved by the same call,
 * whose gradient is the second derivative. The gradient of a time is that of the value there, dy
 * f(t, y); that of the first one is -a f(t, y). */
#include "control/ode_steps.h"
#include "ops/ops.h"
#include "ops/short_names.h"

#include <string.h>

/* Options of the closure. */
enum { N_X, METHOD, RTOL, ATOL, MAX_STEPS, STEPS, FIRST_STEP };

static void gradient_rule(eddy_rule *r);

/* Solves the equation and gives it its gradient. */
static bool solve(ode *o, const eddy_tensor *y0, eddy_tensor t, eddy_tensor *out)
{
    eddy_tensor y[EDDY_MAX_RESULTS], more[EDDY_MAX_RESULTS];
    if (o->unrolled) return eddy__ode_solve(o, y0, t, out);
    if (!eddy__ode_solve(o, y0, t, y)) return false;
    memcpy(more, y0, (size_t)o->n * sizeof *more);
    more[o->n] = t;
    eddy__solver_attach(&o->c, (eddy_list){ o->n, y }, (eddy_list){ o->n + 1, more }, "eddy_odeint",
                        gradient_rule, out);
    return eddy__graph_ready(o->c.graph);
}

/* Calls f on new nodes at the first time, and solves. */
bool eddy__ode_trace_and_solve(ode *o, const eddy_function *f, const eddy_tensor *y0, eddy_tensor t,
                            eddy_tensor *out)
{
    eddy_tensor     x[EDDY_MAX_RESULTS];
    const eddy_list y = { o->n, y0 };
    const double    options[EDDY_CLOSURE_OPTIONS] = {
        [METHOD] = o->method, [RTOL] = o->rtol, [ATOL] = o->atol,
        [MAX_STEPS] = (double)o->max_steps, [STEPS] = (double)o->steps,
        [FIRST_STEP] = o->first_step,
    };
    memcpy(o->c.options, options, sizeof options);
    x[0] = eddy_index(t, "0");
    eddy__solver_copies(o->n, y0, x + 1);
    return eddy__closure_begin(&o->c, o->what, f, (eddy_list){ o->n + 1, x },
                               (eddy_list){ 0, NULL }) &&
           eddy__solver_results_fit(&o->c, o->what, y) && solve(o, y0, t, out);
}

/* --------------------------------------------------------------- adjoint -- */

/* The augmented system has the tensors of y, of a and of g. Those of g that have a known shape are
 * one vector, the last tensor except those of unknown shape. */
typedef struct adjoint {
    ode          o;                     /* of y alone */
    int          n_g;                   /* tensors of g */
    eddy_dtype   dtype;
    bool        *wanted;                /* by captured tensor: it has a gradient */
    eddy_tensor *dx;                    /* room of one each */
} adjoint;

static bool is_known(const adjoint *a, int i)
{
    return eddy_shape_count(eddy_shape_of(eddy__closure_captured(&a->o.c, i))) >= 0;
}

/* The tensors of g, from gradients of the captured tensors: zeros where one is invalid. Returns
 * their number. */
static int pack(const adjoint *a, const eddy_tensor *dx, eddy_tensor *g)
{
    const int    n = a->o.c.n_captured;
    eddy_tensor *flat = eddy__tensors_new(a->o.c.graph, n);
    int          n_flat = 0, n_g = 0;
    for (int i = 0; flat && i < n; i++) {
        if (!a->wanted[i]) continue;
        const eddy_tensor x = eddy__closure_captured(&a->o.c, i);
        const eddy_tensor d = Cast(eddy_is_valid(dx[i]) ? dx[i] : ZerosLike(x), a->dtype);
        if (is_known(a, i)) flat[n_flat++] = eddy_reshape(d, EDDY_SHAPE(EDDY_ANY));
        else if (n_g < EDDY_SOLVER_MOST) g[1 + n_g++] = d;
    }
    if (n_flat > 0) g[0] = eddy_concat(((eddy_list){ n_flat, flat }));
    else if (n_g > 0) memmove(g, g + 1, (size_t)n_g * sizeof *g);
    eddy__tensors_free(a->o.c.graph, flat, n);
    return n_g + (n_flat > 0);
}

/* The gradients of captured tensors from those of g. */
static void unpack(const adjoint *a, const eddy_tensor *g, eddy_tensor *dx)
{
    int64_t at = 0;
    int     other = 0;
    for (int i = 0; i < a->o.c.n_captured; i++)
        if (a->wanted[i] && is_known(a, i)) other = 1;
    for (int i = 0; i < a->o.c.n_captured; i++) {
        if (!a->wanted[i]) continue;
        const eddy_tensor x = eddy__closure_captured(&a->o.c, i);
        const eddy_shape  s = eddy_shape_of(x);
        const int64_t     count = eddy_shape_count(s);
        if (count < 0) dx[i] = CastLike(g[other++], x);
        else {
            dx[i] = CastLike(eddy_reshape(eddy_slice(g[0], EDDY_DIMS(at), EDDY_DIMS(count)), s), x);
            at += count;
        }
    }
}

/* Of t, y, a and g: f, -(df/dy)' a and -(df/dp)' a. */
static int augmented(eddy_list v, eddy_tensor *slope, void *context)
{
    const adjoint *a = context;
    const int      n = a->o.n;
    linearized     l;
    eddy_tensor    u[EDDY_MAX_RESULTS], dx[EDDY_MAX_RESULTS];
    bool           ok = eddy__linearize(&l, &a->o.c, v.at);
    for (int k = 0; ok && k < n; k++) u[k] = Neg(v.at[1 + n + k]);
    ok = ok && eddy__linearized_vjp(&l, u, dx) && eddy__linearized_vjp_captured(&l, u, a->dx);
    for (int k = 0; ok && k < n; k++) {
        slope[k] = l.y[k];
        slope[n + k] = eddy_is_valid(dx[1 + k]) ? dx[1 + k] : ZerosLike(v.at[1 + k]);
    }
    if (ok) pack(a, a->dx, slope + 2 * n);
    eddy__linearized_end(&l);
    return ok ? 2 * n + a->n_g : 0;
}

static eddy_tensor dot(int n, const eddy_tensor *x, const eddy_tensor *y)
{
    eddy_tensor sum = Sum(Mul(x[0], y[0]));
    for (int k = 1; k < n; k++) sum = Add(sum, Sum(Mul(x[k], y[k])));
    return sum;
}

/* Carried: a and g; rows: two times, and at the later one y and dy; stacked: the gradient of the
 * later time. */
static int to_time_before(eddy_list v, eddy_tensor *next, void *context)
{
    const adjoint     *a = context;
    const int          n = a->o.n, carried = n + a->n_g;
    const eddy_tensor *y = v.at + carried + 2, *dy = y + n;
    const eddy_tensor  before = v.at[carried], after = v.at[carried + 1];
    eddy_tensor        state[EDDY_MAX_RESULTS], solved[EDDY_MAX_RESULTS], k[EDDY_MAX_RESULTS];
    const eddy_function f = { .build = augmented, .context = (void *)(uintptr_t)a };
    ode                 o = a->o;
    o.c = (closure){ .graph = a->o.c.graph };
    o.n = 2 * n + a->n_g;
    if (!eddy__ode_slope(&a->o, after, y, false, k)) return 0;
    for (int i = 0; i < n; i++) {
        state[i] = y[i];
        state[n + i] = Add(v.at[i], dy[i]);
    }
    memcpy(state + 2 * n, v.at + n, (size_t)a->n_g * sizeof *state);
    if (!eddy__ode_trace_and_solve(&o, &f, state, eddy_stack(EDDY_LIST(after, before)), solved))
        return 0;
    for (int i = 0; i < carried; i++) next[i] = eddy_index(solved[n + i], "1");
    next[carried] = dot(n, dy, k);
    return carried + 1;
}

/* Integrates backward, and sets the gradients of y0, t and the captured tensors. */
static bool go_back(const adjoint *a, eddy_rule *r, const eddy_tensor *zeros)
{
    const int           n = a->o.n, carried = n + a->n_g;
    const eddy_tensor   t = r->x[n];
    const eddy_function f = { .build = to_time_before, .context = (void *)(uintptr_t)a };
    eddy_tensor         start[EDDY_MAX_RESULTS], rows[EDDY_MAX_RESULTS], y[EDDY_MAX_RESULTS];
    eddy_tensor         first[EDDY_MAX_RESULTS], k[EDDY_MAX_RESULTS];
    rows[0] = eddy_index(t, ":-1"), rows[1] = eddy_index(t, "1:");
    for (int i = 0; i < n; i++) {
        first[i] = eddy_index(r->y[i], "0");
        start[i] = ZerosLike(first[i]);
        rows[2 + i] = eddy_index(r->y[i], "1:");
        rows[2 + n + i] = eddy_index(r->dy[i], "1:");
    }
    memcpy(start + n, zeros, (size_t)a->n_g * sizeof *start);
    if (eddy_loop(f, ((eddy_list){ carried, start }), ((eddy_list){ 2 * n + 2, rows }), y,
                  .reverse = true) == 0 ||
        !eddy__ode_slope(&a->o, eddy_index(t, "0"), first, false, k))
        return false;
    for (int i = 0; i < n; i++) r->dx[i] = Add(y[i], eddy_index(r->dy[i], "0"));
    const eddy_tensor dt = eddy_expand_dims(Neg(dot(n, y, k)), 0);
    r->dx[n] = eddy_concat(EDDY_LIST(dt, y[carried]));
    unpack(a, y + n, r->dx + n + 1);
    return true;
}

/* Which of the captured tensors have a gradient: asked of the function at the first time. */
static bool find_wanted(adjoint *a, eddy_rule *r)
{
    const int   n = a->o.n;
    linearized  l;
    eddy_tensor x[EDDY_MAX_RESULTS];
    x[0] = eddy_index(r->x[n], "0");
    for (int i = 0; i < n; i++) x[1 + i] = eddy_index(r->y[i], "0");
    const bool ok =
        eddy__linearize(&l, &a->o.c, x) && eddy__linearized_vjp_captured(&l, x + 1, a->dx);
    for (int i = 0; ok && i < a->o.c.n_captured; i++) a->wanted[i] = eddy_is_valid(a->dx[i]);
    eddy__linearized_end(&l);
    return ok;
}

static bool begin(adjoint *a, eddy_rule *r, const closure *c)
{
    const double *options = c->options;
    const int     n = r->n_out;
    a->o = (ode){
        .what = "the gradient of odeint", .c = *c, .n = n,
        .method = options[METHOD] == EDDY_RK4 ? EDDY_RK4 : EDDY_DOPRI5, .rtol = options[RTOL],
        .atol = options[ATOL], .max_steps = (int64_t)options[MAX_STEPS],
        .steps = (int64_t)options[STEPS], .first_step = options[FIRST_STEP],
    };
    a->dtype = eddy_dtype_of(r->y[0]);
    return find_wanted(a, r);
}

static void gradient_rule(eddy_rule *r)
{
    closure     c;
    eddy_tensor zeros[EDDY_MAX_RESULTS];
    if (!eddy__closure_of(&c, r, r->n_out + 1)) return;
    adjoint a = { .dx = eddy__tensors_new(r->graph, c.n_captured),
                  .wanted = eddy__allocate_zeroed(eddy__graph_allocator(r->graph),
                                                  (size_t)c.n_captured + 1, sizeof *a.wanted) };
    if (!a.wanted) eddy_fail(r->graph, EDDY_NO_MEMORY, "out of memory for a gradient");
    if (a.dx && a.wanted && begin(&a, r, &c)) {
        eddy__tensors_clear(r->graph, a.dx, c.n_captured);
        a.n_g = pack(&a, a.dx, zeros);
        if (2 * a.o.n + a.n_g > EDDY_SOLVER_MOST)
            eddy_rule_fail(r, EDDY_LIMIT, "the adjoint equation has %d tensors; the limit is %d",
                           2 * a.o.n + a.n_g, EDDY_SOLVER_MOST);
        else go_back(&a, r, zeros);
    }
    eddy__tensors_free(r->graph, a.dx, c.n_captured);
    eddy__release(eddy__graph_allocator(r->graph), a.wanted,
                  ((size_t)c.n_captured + 1) * sizeof *a.wanted);
}
