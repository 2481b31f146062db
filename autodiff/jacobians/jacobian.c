/* jacobian.c -- Jacobians: which way they are computed, and their calls. The rows and columns
 * themselves are in unit_vectors.c. */
#include "autodiff/internal.h"
#include "autodiff/jacobians/jacobians.h"
#include "autodiff/jacobians/unit_vectors.h"
#include "graph/call_options.h"
#include "ops/arrays/arrays.h"
#include "ops/ops.h"

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

/* ---------------------------------------------------------------- the calls -- */

static eddy_graph *graph_of(eddy_tensor y, eddy_list xs)
{
    return eddy__graph_alive(y.graph) ? y.graph : eddy__graph_of_any(xs);
}

typedef struct options {
    const char        *who;
    eddy_unconnected   unconnected;
    int                parallel;
    eddy_jacobian_mode mode;
    int64_t            max_bytes;
} options;

static bool options_fit(eddy_graph *g, options o)
{
    if ((unsigned)o.unconnected > EDDY_UNCONNECTED_ZERO)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "Unknown value for unconnected_gradients: '%d'",
                  (int)o.unconnected);
    else if (o.parallel < 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "%s: parallel_iterations is %d; it must not be negative", o.who, o.parallel);
    else if ((unsigned)o.mode > EDDY_JACOBIAN_REVERSE)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: the mode is %d; expected 0 to 2", o.who,
                  (int)o.mode);
    else if (o.max_bytes < 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: max_bytes is %lld; it must not be negative", o.who,
                  (long long)o.max_bytes);
    return eddy__graph_ready(g);
}

/* ----------------------------------------------------------------- the mode -- */

static bool all_real(eddy_tensor y, eddy_list xs)
{
    bool real = eddy_dtype_is_floating(eddy_dtype_of(y));
    for (int k = 0; k < xs.count; k++)
        real = real && eddy_dtype_is_floating(eddy_dtype_of(xs.at[k]));
    return real;
}

/* The number of elements, without the first dimension if `rows`; negative if it is unknown. */
static int64_t count_of(eddy_tensor t, bool rows)
{
    const eddy_shape s = eddy_shape_of(t);
    return eddy_shape_count(rows ? eddy__shape_without(s, 0) : s);
}

/* Whether y has so many more elements than the xs that columns take less time than rows. */
static bool is_tall(eddy_tensor y, eddy_list xs, bool rows)
{
    int64_t       columns = 0;
    const int64_t n = count_of(y, rows);
    for (int k = 0; k < xs.count; k++) {
        const int64_t more = count_of(xs.at[k], rows);
        if (more < 0 || __builtin_add_overflow(columns, more, &columns)) return false;
    }
    return n > 0 && columns < n / 2;
}

/* Reverse mode calls each gradient rule with the gradient at the node, as eddy_gradients does. */
static bool has_registered(eddy_tensor y, eddy_list xs)
{
    eddy_subgraph s;
    const bool    ok = eddy__subgraph_begin(&s, y.graph, xs.count, xs.at, 1, &y);
    const bool    has = ok && eddy__subgraph_has_registered(&s);
    eddy__subgraph_end(&s);
    return has;
}

/* False with the error set if forward mode does not suit the types or fails. */
static bool choose_mode(const char *who, eddy_jacobian_mode mode, eddy_unit_vectors *u, bool rows)
{
    const bool real = all_real(u->y, u->xs);
    if (mode == EDDY_JACOBIAN_FORWARD && !real) {
        eddy_fail(u->y.graph, EDDY_BAD_DTYPE,
                  "%s: forward mode requires real floating-point types for '%.200s' and xs", who,
                  eddy_name_of(u->y));
        return false;
    }
    const bool tall = mode == EDDY_JACOBIAN_AUTOMATIC && real && is_tall(u->y, u->xs, rows) &&
                      !has_registered(u->y, u->xs);
    return (mode != EDDY_JACOBIAN_FORWARD && !tall) || eddy__forward_begin(u, tall);
}

/* ---------------------------------------------------------------- jacobian -- */

/* [n, ...x] as y.shape + x.shape; zeros if y does not depend on x. */
static eddy_tensor from_rows(const eddy_jacobian_args *a, eddy_tensor x, eddy_tensor rows)
{
    if (!eddy_is_valid(rows) && a->unconnected_gradients == EDDY_UNCONNECTED_ZERO)
        rows = eddy_batch_like(eddy_zeros_like(x), eddy_basis_like(a->y));
    return eddy_is_valid(rows) ? eddy_unflatten_like(rows, a->y, 0, 0) : rows;
}

/* x with axis 0 after the next `count` axes. */
static eddy_tensor move_first(eddy_tensor x, int count)
{
    eddy_dims perm = { .count = eddy_shape_of(x).rank };
    for (int i = 0; i < perm.count; i++) perm.at[i] = i < count ? i + 1 : i == count ? 0 : i;
    return eddy_transpose(x, perm);
}

/* A Jacobian by x has the type of x. */
static eddy_tensor in_type_of(eddy_tensor j, eddy_tensor x)
{
    const eddy_dtype d = eddy_dtype_of(x);
    return eddy_is_valid(j) && eddy_dtype_of(j) != d ? eddy_cast(j, d) : j;
}

/* [n, ...y] likewise. */
static eddy_tensor from_columns(const eddy_jacobian_args *a, eddy_tensor x, eddy_tensor columns)
{
    if (!eddy_is_valid(columns)) return from_rows(a, x, columns);
    const int rank = eddy_shape_of(columns).rank - 1;
    return in_type_of(eddy_unflatten_like(move_first(columns, rank), x, rank, 0), x);
}

static void derive(const eddy_jacobian_args *a, eddy_unit_vectors *v, eddy_tensor *out)
{
    const bool smooth = eddy_dtype_is_differentiable(eddy_dtype_of(a->y));
    if (smooth && !choose_mode("jacobian", a->mode, v, false)) return;
    if (smooth && !v->forward) eddy__for_unit_vectors(v, 0, out);
    for (int k = 0; k < a->xs.count && eddy__graph_ready(a->y.graph); k++) {
        if (v->forward) eddy__for_unit_vectors(v, k, &out[k]);
        a->out[k] = (v->forward ? from_columns : from_rows)(a, a->xs.at[k], out[k]);
    }
}

static eddy_status jacobian_of(const eddy_jacobian_args *a, const eddy_recording *r)
{
    eddy_graph *g = graph_of(a->y, a->xs);
    const options o = { "jacobian", a->unconnected_gradients, a->parallel_iterations, a->mode,
                        a->max_bytes };
    eddy__tensors_clear(g, a->out, eddy__list_length(a->xs));
    if (!eddy__graph_ready(g)) return eddy__status_of(g);
    if (!eddy__list_is_of(g, "jacobian", "y", EDDY_LIST(a->y)) ||
        !eddy__list_is_of(g, "jacobian", "xs", a->xs) || !options_fit(g, o))
        return eddy_graph_status(g);
    if (!a->out && a->xs.count > 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "jacobian: out is NULL");
    for (int k = 0; k < a->xs.count && eddy__graph_ready(g); k++)
        ranks_fit(a->y, a->xs.at[k], "jacobian");
    if (!eddy__graph_ready(g) || a->xs.count == 0) return eddy_graph_status(g);
    eddy_unit_vectors v = { .y = a->y, .xs = a->xs, .recording = r, .loop = a->no_pfor,
                            .max_bytes = a->max_bytes };
    eddy_tensor *parts = eddy__tensors_new(g, a->xs.count);
    eddy_scope_begin(g, a->name && *a->name ? a->name : "jacobian");
    if (parts) derive(a, &v, parts);
    eddy__forward_end(&v);
    eddy_scope_end(g);
    eddy__tensors_free(g, parts, a->xs.count);
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

/* [b, m, ...x]: unit vector j is used for every row at the same time. In forward mode the unit
 * vectors are those of a row of x, and the columns [n, b, ...y] become [b, ...y, n]. */
static eddy_tensor row_jacobians(const eddy_batch_jacobian_args *a, const eddy_recording *r)
{
    eddy_unit_vectors v = { .y = a->y, .xs = EDDY_LIST(a->x), .recording = r, .loop = a->no_pfor };
    const bool  smooth = eddy_dtype_is_differentiable(eddy_dtype_of(a->y));
    eddy_tensor dx = eddy_none(a->y.graph), of = a->y;
    if (!smooth || choose_mode("batch_jacobian", a->mode, &v, true)) {
        if (v.forward) of = a->x;
        const eddy_tensor seeds =
            move_first(eddy_batch_like(eddy_basis_like(eddy_example(of)), of), 1);
        if (smooth && eddy__graph_ready(of.graph)) eddy__for_seeds(&v, 0, seeds, &dx);
        if (!eddy_is_valid(dx) && a->unconnected_gradients == EDDY_UNCONNECTED_ZERO)
            dx = eddy_batch_like(eddy_zeros_like(v.forward ? a->y : a->x), seeds);
    }
    eddy__forward_end(&v);
    if (!eddy_is_valid(dx)) return dx;
    if (!v.forward) return eddy_unflatten_like(move_first(dx, 1), a->y, 1, 1);
    const int rank = eddy_shape_of(dx).rank - 1;
    return in_type_of(eddy_unflatten_like(move_first(dx, rank), a->x, rank, 1), a->x);
}

static eddy_tensor batch_jacobian_of(const eddy_batch_jacobian_args *a, const eddy_recording *r)
{
    eddy_graph *g = graph_of(a->y, EDDY_LIST(a->x));
    eddy_tensor none = eddy_none(g);
    const options o = { "batch_jacobian", a->unconnected_gradients, a->parallel_iterations, a->mode,
                        0 };
    if (!eddy__graph_ready(g) || !eddy__list_is_of(g, "batch_jacobian", "y", EDDY_LIST(a->y)) ||
        !eddy__list_is_of(g, "batch_jacobian", "x", EDDY_LIST(a->x)) ||
        !options_fit(g, o) || !rows_match(a->y, a->x))
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
