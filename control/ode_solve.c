/* ode_solve.c -- the loops of a solver of differential equations: one over the times, in each
 * iteration of which another makes the steps to the next time.
 *
 * Steps of adaptive length: an attempt is made with a length h, and its error decides whether it is
 * accepted and how long the next one is. To be differentiated, an accepted step is made again: the
 * attempt is constant to gradients, and the step that follows has the length 0 if the attempt was
 * rejected. So gradients do not pass through attempts that were rejected, whose values may be
 * infinite, and depend on time only through the times t: the last step ends there. */
#include "control/ode_steps.h"
#include "ops/ops.h"
#include "ops/short_names.h"

#include <string.h>

static void constants(int n, const eddy_tensor *x, eddy_tensor *y)
{
    for (int i = 0; i < n; i++) y[i] = eddy_stop_gradient(x[i]);
}

/* ----------------------------------------------------------- one interval -- */

/* Loop variables: y; the slope there; then these. */
enum { TIME, LENGTH, ATTEMPTS, DONE, OTHERS };

typedef struct interval {
    const ode  *o;
    eddy_tensor end, sign;
} interval;

static int goes_on(eddy_list v, eddy_tensor *y, void *context)
{
    const interval    *in = context;
    const eddy_tensor *other = v.at + 2 * in->o->n;
    y[0] = LogicalAnd(LogicalNot(other[DONE]), Less(other[ATTEMPTS], (double)in->o->max_steps));
    return 1;
}

/* The length of the next step after one of length h with this error; NaN is a large error. */
static eddy_tensor controlled(eddy_tensor h, eddy_tensor error)
{
    const eddy_tensor factor = Minimum(10, Maximum(0.2, Mul(0.9, Pow(error, -0.2))));
    return Mul(h, Where(IsFinite(error), factor, 0.2));
}

/* An attempt, and how it ends. */
typedef struct trial {
    eddy_tensor next[EDDY_MAX_RESULTS], slope[EDDY_MAX_RESULTS];
    eddy_tensor h, accepted, done, longest;
} trial;

static bool try_step(const interval *in, const eddy_tensor *v, trial *a)
{
    const ode  *o = in->o;
    const int   n = o->n;
    eddy_tensor y[EDDY_MAX_RESULTS], k[EDDY_MAX_RESULTS], error[EDDY_MAX_RESULTS];
    constants(n, v, y);
    constants(n, v + n, k);
    const eddy_tensor t = eddy_stop_gradient(v[2 * n + TIME]), most = v[2 * n + LENGTH];
    const eddy_tensor left = Abs(Sub(eddy_stop_gradient(in->end), t));
    const eddy_tensor last = GreaterEqual(Mul(1.01, most), left), h = Where(last, left, most);
    a->h = Mul(in->sign, h);
    if (!eddy__dopri5_step(o, t, a->h, y, k, true, a->next, a->slope, error)) return false;
    const eddy_tensor size = eddy__ode_error(o, error, y, a->next), other = controlled(h, size);
    a->accepted = LessEqual(size, 1);
    a->done = LogicalAnd(a->accepted, last);
    a->longest = Where(a->done, Maximum(most, other), other);
    return true;
}

static int attempt(eddy_list v, eddy_tensor *next, void *context)
{
    const interval   *in = context;
    const ode        *o = in->o;
    const int         n = o->n;
    const eddy_tensor t = v.at[2 * n + TIME];
    eddy_tensor       k[EDDY_MAX_RESULTS], *other = next + 2 * n;
    trial             a;
    if (!try_step(in, v.at, &a)) return 0;
    if (o->unrolled) {
        const eddy_tensor h = Where(a.accepted, a.h, 0.0);
        if (!eddy__ode_slope(o, t, v.at, false, k) ||
            !eddy__dopri5_step(o, t, Where(a.done, Sub(in->end, t), h), v.at, k, false, next, NULL,
                               NULL))
            return 0;
    }
    for (int i = 0; i < n; i++) {
        if (!o->unrolled) next[i] = Where(a.accepted, a.next[i], v.at[i]);
        next[n + i] = Where(a.accepted, a.slope[i], v.at[n + i]);
    }
    other[TIME] = Where(a.done, in->end, Where(a.accepted, Add(t, a.h), t));
    other[LENGTH] = a.longest;
    other[ATTEMPTS] = Add(v.at[2 * n + ATTEMPTS], 1);
    other[DONE] = a.done;
    return 2 * n + OTHERS;
}

/* y at the time `end` from that at `start`, and whether it was reached; *h is the length of the
 * next step. */
static eddy_tensor adaptive(const ode *o, eddy_tensor start, eddy_tensor end, eddy_tensor *h,
                            eddy_tensor *y)
{
    const int           n = o->n;
    eddy_graph         *g = o->c.graph;
    interval            in = { o, end, eddy_stop_gradient(Where(GreaterEqual(end, start),
                                                                NumberLike(1, end), -1.0)) };
    const eddy_function cond = { .build = goes_on, .context = &in },
                        body = { .build = attempt, .context = &in };
    eddy_tensor v[EDDY_MAX_RESULTS], last[EDDY_MAX_RESULTS], *other = v + 2 * n;
    memcpy(v, y, (size_t)n * sizeof *v);
    if (!eddy__ode_slope(o, start, y, true, v + n)) return eddy_none(g);
    constants(n, v + n, v + n);
    other[TIME] = start;
    other[LENGTH] = *h;
    other[ATTEMPTS] = eddy_number(g, EDDY_INT64, 0);
    other[DONE] = eddy_number(g, EDDY_BOOL, 0);
    const bool in_segments = o->recompute != EDDY_RECOMPUTE_NONE || o->segment > 0;
    if (eddy_while_loop(cond, body, ((eddy_list){ 2 * n + OTHERS, v }), last,
                        .maximum_iterations = in_segments ? o->max_steps : -1,
                        .recompute = o->recompute, .segment = o->segment) == 0)
        return eddy_none(g);
    memcpy(y, last, (size_t)n * sizeof *y);
    *h = last[2 * n + LENGTH];
    return last[2 * n + DONE];
}

/* Loop variables: y and t. */
static int fixed_step(eddy_list v, eddy_tensor *next, void *context)
{
    const interval *in = context;
    const int       n = in->o->n;
    if (!eddy__rk4_step(in->o, v.at[n], in->sign, v.at, next)) return 0;
    next[n] = Add(v.at[n], in->sign);
    return n + 1;
}

static bool fixed(const ode *o, eddy_tensor start, eddy_tensor end, eddy_tensor *y)
{
    interval            in = { o, end, Div(Sub(end, start), (double)o->steps) };
    const eddy_function f = { .build = fixed_step, .context = &in };
    eddy_tensor         v[EDDY_MAX_RESULTS], last[EDDY_MAX_RESULTS];
    memcpy(v, y, (size_t)o->n * sizeof *v);
    v[o->n] = start;
    if (eddy_iterate(o->steps, f, ((eddy_list){ o->n + 1, v }), last, .recompute = o->recompute,
                     .segment = o->segment) == 0)
        return false;
    memcpy(y, last, (size_t)o->n * sizeof *y);
    return true;
}

/* ------------------------------------------------------------ all of them -- */

/* Carried: y and the length of the next step; rows: the times at both ends; stacked: y, and
 * whether the end was reached. */
static int to_next_time(eddy_list v, eddy_tensor *next, void *context)
{
    const ode  *o = context;
    const int   n = o->n;
    eddy_tensor h = v.at[n], reached;
    memcpy(next, v.at, (size_t)n * sizeof *next);
    if (o->method == EDDY_RK4) {
        if (!fixed(o, v.at[n + 1], v.at[n + 2], next)) return 0;
        reached = eddy_number(o->c.graph, EDDY_BOOL, 1);
    } else {
        reached = adaptive(o, v.at[n + 1], v.at[n + 2], &h, next);
        if (!eddy_is_valid(reached)) return 0;
    }
    next[n] = h;
    memcpy(next + n + 1, next, (size_t)n * sizeof *next);
    next[2 * n + 1] = reached;
    return 2 * n + 2;
}

static eddy_tensor first_length(const ode *o, const eddy_tensor *y0, eddy_tensor t)
{
    eddy_tensor       y[EDDY_MAX_RESULTS], k[EDDY_MAX_RESULTS];
    const eddy_tensor first = eddy_stop_gradient(eddy_index(t, "0"));
    const eddy_tensor rises = GreaterEqual(eddy_stop_gradient(eddy_index(t, "-1")), first);
    if (o->method == EDDY_RK4 || o->first_step > 0) return eddy_number_like(o->first_step, t);
    constants(o->n, y0, y);
    if (!eddy__ode_slope(o, first, y, true, k)) return eddy_none(t.graph);
    const eddy_tensor sign = Where(rises, NumberLike(1, t), -1.0);
    return eddy_stop_gradient(eddy__ode_first_step(o, first, sign, y, k));
}

bool eddy__ode_solve(const ode *o, const eddy_tensor *y0, eddy_tensor t, eddy_tensor *out)
{
    const int           n = o->n;
    ode                 with = *o;
    const eddy_function f = { .build = to_next_time, .context = &with };
    eddy_tensor         v[EDDY_MAX_RESULTS], y[EDDY_MAX_RESULTS];
    eddy_tensor        *kept = eddy__tensors_new(o->c.graph, o->c.n_captured);
    char                message[200];
    if (!kept) return false;
    for (int i = 0; i < o->c.n_captured && o->unrolled; i++)
        kept[i] = eddy_stop_gradient(eddy__closure_captured(&o->c, i));
    if (o->unrolled) with.constants = kept;
    snprintf(message, sizeof message,
             "%s: %lld steps do not reach the next time; the equation may be stiff, or a value is "
             "not finite",
             o->what, (long long)o->max_steps);
    memcpy(v, y0, (size_t)n * sizeof *v);
    v[n] = first_length(&with, y0, t);
    const eddy_list rows = EDDY_LIST(eddy_index(t, ":-1"), eddy_index(t, "1:"));
    const bool ok = eddy_is_valid(v[n]) && eddy_loop(f, ((eddy_list){ n + 1, v }), rows, y) > 0;
    for (int i = 0; i < n && ok; i++)
        out[i] = eddy_concat(EDDY_LIST(eddy_expand_dims(y0[i], 0), y[n + 1 + i]));
    if (ok && o->method != EDDY_RK4) eddy__solver_ensure(n, out, y[2 * n + 1], message);
    eddy__tensors_free(o->c.graph, kept, o->c.n_captured);
    return ok && eddy__graph_ready(o->c.graph);
}
