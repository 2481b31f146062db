/* jacobian.c -- Jacobians: the gradient of one row, batched over the unit vectors of y or repeated
 * for them in a loop. */
#include "autodiff/internal.h"
#include "autodiff/jacobians/jacobians.h"
#include "control/control.h"
#include "graph/call_options.h"
#include "ops/ops.h"

#include <string.h>

/* ------------------------------------------------------- all rows together -- */

/* dx[k] = the gradients of y for each of the seeds [n, ...y]: [n, ...x], invalid if there is
 * none. */
static void vjp_of_rows(eddy_tensor y, eddy_tensor seeds, eddy_list xs, const eddy_recording *r,
                        eddy_tensor *dx)
{
    eddy_graph  *g = y.graph;
    eddy_tensor  dy = eddy_example(seeds), *one = eddy__tensors_new(g, xs.count);
    if (!one) return;
    eddy_gradients_args a = { .ys = EDDY_LIST(y), .xs = xs, .grad_ys = EDDY_LIST(dy), .out = one };
    if (eddy__sweep(&a, r) == EDDY_OK) eddy__vectorize(g, 1, &dy, &seeds, xs.count, one, dx);
    for (int k = 0; k < xs.count && eddy__graph_ready(g); k++)
        if (eddy_is_valid(one[k]) && !eddy_is_valid(dx[k])) dx[k] = eddy_batch_like(one[k], seeds);
    eddy__tensors_free(g, one, xs.count);
}

static bool ranks_fit(eddy_tensor y, eddy_tensor x, const char *who)
{
    const int ry = eddy_shape_of(y).rank, rx = eddy_shape_of(x).rank;
    if (ry < 0 || rx < 0)
        eddy_fail(y.graph, EDDY_BAD_SHAPE, "%s: the rank of '%.200s' is unknown", who,
                  eddy_name_of(ry < 0 ? y : x));
    else if (ry + rx > EDDY_MAX_RANK)
        eddy_fail(y.graph, EDDY_LIMIT,
                  "%s: the Jacobian of '%.200s' with respect to '%.200s' would have rank %d; the "
                  "limit is %d",
                  who, eddy_name_of(y), eddy_name_of(x), ry + rx, EDDY_MAX_RANK);
    return eddy__graph_ready(y.graph);
}

/* -------------------------------------------------------------- row by row -- */

/* The gradients of y with respect to xs, at most EDDY_MAX_RESULTS. */
typedef struct row_gradients {
    eddy_tensor           y;
    eddy_list             xs;
    const eddy_recording *recording;
    bool                  has[EDDY_MAX_RESULTS];    /* those that there are */
} row_gradients;

/* From a unit vector of y to the gradients that there are. A loop needs a result, so if there are
 * none, it is the vector. */
static int vjp_of_row(eddy_list dy, eddy_tensor *dx, void *context)
{
    row_gradients *w = context;
    eddy_tensor    one[EDDY_MAX_RESULTS];
    eddy_gradients_args a = { .ys = EDDY_LIST(w->y), .xs = w->xs, .grad_ys = dy, .out = one };
    int            n = 0;
    if (eddy__sweep(&a, w->recording) != EDDY_OK) return 0;
    for (int k = 0; k < w->xs.count; k++) {
        w->has[k] = eddy_is_valid(one[k]);
        if (w->has[k]) dx[n++] = one[k];
    }
    if (n == 0) dx[n++] = dy.at[0];
    return n;
}

/* dx[k] as vjp_of_rows has it, by a loop. */
static void vjp_row_by_row(eddy_tensor y, eddy_tensor seeds, eddy_list xs, const eddy_recording *r,
                           eddy_tensor *dx)
{
    for (int first = 0; first < xs.count && eddy__graph_ready(y.graph);) {
        const int     left = xs.count - first;
        const int     n = left < EDDY_MAX_RESULTS ? left : EDDY_MAX_RESULTS;
        eddy_tensor   rows[EDDY_MAX_RESULTS];
        row_gradients w = { .y = y, .xs = { n, xs.at + first }, .recording = r };
        const eddy_function f = { .build = vjp_of_row, .context = &w, .name = "row" };
        if (eddy_map_fn(f, EDDY_LIST(seeds), rows, .name = "rows") == 0) return;
        for (int k = 0, next = 0; k < n; k++)
            if (w.has[k]) dx[first + k] = rows[next++];
        first += n;
    }
}

/* The gradient for each of the seeds, which are the unit vectors of one row of y, or of y. */
static void rows_of(eddy_tensor y, eddy_tensor seeds, eddy_list xs, bool loop,
                    const eddy_recording *r, eddy_tensor *dx)
{
    if (loop) vjp_row_by_row(y, seeds, xs, r, dx);
    else vjp_of_rows(y, seeds, xs, r, dx);
}

/* ---------------------------------------------------------------- the calls -- */

static eddy_graph *graph_of(eddy_tensor y, eddy_list xs)
{
    return eddy__graph_alive(y.graph) ? y.graph : eddy__graph_of_any(xs);
}

static bool options_fit(eddy_graph *g, const char *who, eddy_unconnected u, int parallel)
{
    if ((unsigned)u > EDDY_UNCONNECTED_ZERO)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "Unknown value for unconnected_gradients: '%d'",
                  (int)u);
    else if (parallel < 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "%s: parallel_iterations is %d; it must not be negative", who, parallel);
    return eddy__graph_ready(g);
}

/* Reshapes [n, ...x] to y.shape + x.shape; zeros if y does not depend on x. */
static eddy_tensor reshape_rows(const eddy_jacobian_args *a, eddy_tensor x, eddy_tensor dx,
                                eddy_tensor seeds)
{
    if (!eddy_is_valid(dx) && a->unconnected_gradients == EDDY_UNCONNECTED_ZERO)
        dx = eddy_batch_like(eddy_zeros_like(x), seeds);
    return eddy_is_valid(dx) ? eddy_unflatten_like(dx, a->y, 0, 0) : dx;
}

static eddy_status jacobian_of(const eddy_jacobian_args *a, const eddy_recording *r)
{
    eddy_graph *g = graph_of(a->y, a->xs);
    eddy__tensors_clear(g, a->out, eddy__list_length(a->xs));
    if (!eddy__graph_ready(g)) return eddy__status_of(g);
    if (!eddy__list_is_of(g, "jacobian", "y", EDDY_LIST(a->y)) ||
        !eddy__list_is_of(g, "jacobian", "xs", a->xs) ||
        !options_fit(g, "jacobian", a->unconnected_gradients, a->parallel_iterations))
        return eddy_graph_status(g);
    if (!a->out && a->xs.count > 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "jacobian: out is NULL");
    for (int k = 0; k < a->xs.count && eddy__graph_ready(g); k++)
        ranks_fit(a->y, a->xs.at[k], "jacobian");
    if (!eddy__graph_ready(g) || a->xs.count == 0) return eddy_graph_status(g);
    eddy_tensor *dx = eddy__tensors_new(g, a->xs.count);
    eddy_scope_begin(g, a->name && *a->name ? a->name : "jacobian");
    eddy_tensor seeds = eddy_basis_like(a->y);
    const bool smooth = eddy_dtype_is_differentiable(eddy_dtype_of(a->y));
    if (dx && smooth && eddy__graph_ready(g))
        rows_of(a->y, seeds, a->xs, a->no_pfor, r, dx);
    for (int k = 0; dx && k < a->xs.count && eddy__graph_ready(g); k++)
        a->out[k] = reshape_rows(a, a->xs.at[k], dx[k], seeds);
    eddy_scope_end(g);
    eddy__tensors_free(g, dx, a->xs.count);
    return eddy_graph_status(g);
}

eddy_status eddy_jacobian_with(const eddy_jacobian_args *given)
{
    eddy_jacobian_args a = EDDY_TAKE(eddy_jacobian_args, given);
    return jacobian_of(&a, NULL);
}

static bool rows_match(eddy_tensor y, eddy_tensor x)
{
    eddy_shape sy = eddy_shape_of(y), sx = eddy_shape_of(x);
    char       a[100], b[100];
    if (!ranks_fit(y, x, "batch_jacobian")) return false;
    if (sy.rank < 2 || sx.rank < 2)
        eddy_fail(y.graph, EDDY_BAD_SHAPE,
                  "batch_jacobian: target %s and source %s must have rank at least 2",
                  eddy_shape_print(sy, a, sizeof a), eddy_shape_print(sx, b, sizeof b));
    else if (sy.dim[0] != EDDY_ANY && sx.dim[0] != EDDY_ANY && sy.dim[0] != sx.dim[0])
        eddy_fail(y.graph, EDDY_BAD_SHAPE,
                  "Need first dimension of target shape (%s) and source shape (%s) to match.",
                  eddy_shape_print(sy, a, sizeof a), eddy_shape_print(sx, b, sizeof b));
    return eddy__graph_ready(y.graph);
}

/* axes 0 and 1 exchanged */
static eddy_tensor swap_axes(eddy_tensor x)
{
    eddy_dims perm = { .count = eddy_shape_of(x).rank };
    for (int i = 0; i < perm.count; i++) perm.at[i] = i < 2 ? 1 - i : i;
    return eddy_transpose(x, perm);
}

/* [b, m, ...x]: unit vector j is used for every row at the same time. */
static eddy_tensor row_jacobians(const eddy_batch_jacobian_args *a, const eddy_recording *r)
{
    eddy_tensor seeds = eddy_basis_like(eddy_example(a->y)), dx = eddy_none(a->y.graph);
    eddy_tensor rows = swap_axes(eddy_batch_like(seeds, a->y));
    if (eddy_dtype_is_differentiable(eddy_dtype_of(a->y)) && eddy__graph_ready(a->y.graph))
        rows_of(a->y, rows, EDDY_LIST(a->x), a->no_pfor, r, &dx);
    if (!eddy_is_valid(dx) && a->unconnected_gradients == EDDY_UNCONNECTED_ZERO)
        dx = eddy_batch_like(eddy_zeros_like(a->x), rows);
    return eddy_is_valid(dx) ? eddy_unflatten_like(swap_axes(dx), a->y, 1, 1) : dx;
}

static eddy_tensor batch_jacobian_of(const eddy_batch_jacobian_args *a, const eddy_recording *r)
{
    eddy_graph *g = graph_of(a->y, EDDY_LIST(a->x));
    eddy_tensor none = eddy_none(g);
    if (!eddy__graph_ready(g) || !eddy__list_is_of(g, "batch_jacobian", "y", EDDY_LIST(a->y)) ||
        !eddy__list_is_of(g, "batch_jacobian", "x", EDDY_LIST(a->x)) ||
        !options_fit(g, "batch_jacobian", a->unconnected_gradients, a->parallel_iterations) ||
        !rows_match(a->y, a->x))
        return none;
    eddy_scope_begin(g, a->name && *a->name ? a->name : "batch_jacobian");
    eddy_tensor j = row_jacobians(a, r);
    eddy_scope_end(g);
    return eddy__graph_ready(g) ? j : none;
}

eddy_tensor eddy_batch_jacobian_with(const eddy_batch_jacobian_args *given)
{
    eddy_batch_jacobian_args a = EDDY_TAKE(eddy_batch_jacobian_args, given);
    return batch_jacobian_of(&a, NULL);
}

/* ------------------------------------------------------------- along a tape -- */

static void build_jacobian(const eddy_recording *r, void *args) { jacobian_of(args, r); }

eddy_status eddy_tape_jacobian_with(eddy_tape *t, const eddy_jacobian_args *given)
{
    eddy_jacobian_args a = EDDY_TAKE(eddy_jacobian_args, given);
    eddy__tensors_clear(eddy__tape_graph(t), a.out, eddy__list_length(a.xs));
    return eddy__tape_jacobian(t, "jacobian", &(eddy_tape_jacobian_call){
                                                  a.y, a.xs, build_jacobian, &a });
}

typedef struct batch_call {
    eddy_batch_jacobian_args args;
    eddy_tensor              out;
} batch_call;

static void build_batch_jacobian(const eddy_recording *r, void *context)
{
    batch_call *c = context;
    c->out = batch_jacobian_of(&c->args, r);
}

eddy_tensor eddy_tape_batch_jacobian_with(eddy_tape *t, const eddy_batch_jacobian_args *given)
{
    batch_call c = { EDDY_TAKE(eddy_batch_jacobian_args, given), eddy_none(eddy__tape_graph(t)) };
    c.args.unconnected_gradients = EDDY_UNCONNECTED_ZERO;
    eddy__tape_jacobian(t, "batch_jacobian", &(eddy_tape_jacobian_call){
                               c.args.y, EDDY_LIST(c.args.x), build_batch_jacobian, &c });
    return c.out;
}
