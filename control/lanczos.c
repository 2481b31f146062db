/* lanczos.c -- eigenpairs of a symmetric A by Lanczos's method with thick restarts: Wu and Simon
 * 2000.
 *
 * V [m + 1, n] is orthonormal, and T = V A V'. A cycle extends both from j rows to m, and replaces
 * them by the best p eigenvectors of T, the Ritz vectors, and the last row of V, which is the
 * direction of all their residuals. So the next row of T has what couples them, and needs no case
 * of its own: V A v is computed in whole in any iteration. */
#include "control/krylov.h"
#include "control/lanczos.h"
#include "control/trace_functions.h"
#include "graph/call_options.h"
#include "ops/ops.h"
#include "ops/short_names.h"

#include <stdio.h>

enum { MOST_BASIS = 2000 };

/* -------------------------------------------------------------------- a cycle -- */

/* Loop variables: V [m + 1, n]; the lower triangle of T [m, m]; the number of rows of T; the length
 * of the residual. */
enum { BASIS, FACTOR, COUNT, LENGTH, IN_CYCLE };

typedef struct lanczos {
    linear_operator a;
    int64_t         n, k, m, p;         /* elements; wanted, in the basis, kept in a restart */
    bool            smallest;
    double          tolerance;
} lanczos;

static int cycle_goes_on(eddy_list v, eddy_tensor *y, void *context)
{
    const lanczos *l = context;
    y[0] = Less(v.at[COUNT], (double)l->m);
    return 1;
}

/* A vector of no special direction, another one for each j. */
static eddy_tensor some_vector(const lanczos *l, eddy_dtype type, eddy_tensor j)
{
    const eddy_tensor zero = eddy_number(j.graph, EDDY_INT32, 0), one = NumberLike(1, zero);
    const eddy_tensor i = eddy_range(one, NumberLike((double)l->n + 1, zero), one);
    const eddy_tensor phase = Mul(0.7, Cast(Add(j, 1), EDDY_FLOAT64));
    const eddy_tensor x = Mul(Sqrt(Cast(i, EDDY_FLOAT64)), Add(12.9898, phase));
    return Cast(Sin(Mul(x, x)), type);
}

/* The next row of V: the residual, or, if that is only rounding, another vector. */
static int leave_space(eddy_list x, eddy_tensor *y, void *context)
{
    const eddy_tensor z = some_vector(context, eddy_dtype_of(x.at[0]), x.at[2]);
    const eddy_tensor rest = eddy__krylov_rest(x.at[0], z, NULL);
    y[0] = DivNoNan(rest, eddy__vector_length(rest));
    return 1;
}

static int stay(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Div(x.at[1], x.at[3]);
    return 1;
}

static eddy_tensor next_direction(const lanczos *l, eddy_tensor none_left, eddy_tensor basis,
                                  eddy_tensor rest, eddy_tensor j, eddy_tensor length)
{
    const eddy_function leave = { .build = leave_space, .context = (void *)l },
                        keep = { .build = stay };
    eddy_tensor         y = eddy_none(basis.graph);
    eddy_cond(none_left, leave, keep, &y, EDDY_LIST(basis, rest, j, length), .name = "direction");
    return y;
}

/* w without its parts along the last two rows of V, j and j - 1: in exact arithmetic, A v has no
 * others, except after a restart. `along` is V w for these parts. */
static eddy_tensor without_last(eddy_tensor basis, eddy_tensor j, eddy_tensor w, eddy_tensor *along)
{
    const int64_t     rows = eddy_shape_of(basis).dim[0];
    const eddy_dtype  type = eddy_dtype_of(w);
    const eddy_tensor i = Maximum(Sub(j, 1), 0), v = Gather(basis, j), u = Gather(basis, i);
    const eddy_tensor a = Sum(Mul(v, w)), b = Where(Greater(j, 0), Sum(Mul(u, w)), 0);
    *along = Add(Mul(a, OneHot(j, rows, .dtype = type)), Mul(b, OneHot(i, rows, .dtype = type)));
    return Sub(Sub(w, Mul(a, v)), Mul(b, u));
}

static int next_row(eddy_list v, eddy_tensor *y, void *context)
{
    const lanczos    *l = context;
    const eddy_tensor j = v.at[COUNT], next = Add(j, 1), basis = v.at[BASIS];
    const eddy_tensor w = eddy__operator_product(&l->a, Gather(basis, j));
    const double      rounding = eddy_dtype_of(w) == EDDY_FLOAT32 ? 1e-6 : 1e-14;
    eddy_tensor       last, others;
    const eddy_tensor near = without_last(basis, j, w, &last);
    const eddy_tensor rest = eddy__krylov_rest(basis, near, &others), along = Add(last, others);
    const eddy_tensor length = eddy__vector_length(rest);
    const eddy_tensor none_left =
        LessEqual(length, Mul(rounding, eddy__vector_length(along)));
    const eddy_tensor direction = next_direction(l, none_left, basis, rest, next, length);
    y[BASIS] = eddy__krylov_put(basis, next, direction);
    y[FACTOR] = eddy__krylov_put(v.at[FACTOR], j, eddy_index(along, ":-1"));
    y[COUNT] = next;
    y[LENGTH] = Where(none_left, 0, length);
    return IN_CYCLE;
}

/* ------------------------------------------------------------------- restarts -- */

/* Loop variables: V, T, the number of rows of T, the excess of the residuals. */
enum { EXCESS = 3, VARIABLES };

/* The best p eigenvalues of T, and their eigenvectors as columns; `largest` is the largest |e|. */
static void ritz(const lanczos *l, eddy_tensor t, eddy_tensor *e, eddy_tensor *s,
                 eddy_tensor *largest)
{
    char              part[64];
    const eddy_tensor all = eddy_eigh(t), vectors = eddy_output(all, 1);
    *largest = Max(Abs(all));
    snprintf(part, sizeof part, l->smallest ? ":%lld" : "-%lld:", (long long)l->p);
    *e = eddy_index(all, part);
    snprintf(part, sizeof part, l->smallest ? ":, :%lld" : ":, -%lld:", (long long)l->p);
    *s = eddy_index(vectors, part);
    if (l->smallest) return;
    *e = eddy_index(*e, "::-1");
    *s = eddy_index(*s, ":, ::-1");
}

static int restart(eddy_list v, eddy_tensor *y, void *context)
{
    const lanczos      *l = context;
    const eddy_function cond = { .build = cycle_goes_on, .context = context },
                        body = { .build = next_row, .context = context };
    eddy_tensor in[IN_CYCLE] = { v.at[BASIS], v.at[FACTOR], v.at[COUNT] }, e, s, largest;
    in[LENGTH] = NumberLike(0, v.at[BASIS]);
    if (eddy_while_loop(cond, body, ((eddy_list){ IN_CYCLE, in }), in, .no_back_prop = true,
                        .maximum_iterations = l->m, .name = "cycle") == 0)
        return 0;
    ritz(l, in[FACTOR], &e, &s, &largest);
    const eddy_tensor vectors = eddy_matmul(s, eddy_index(in[BASIS], ":-1"), .transpose_a = true);
    const int64_t     empty = l->m - l->p;
    const eddy_tensor zeros = eddy_zeros(e.graph, eddy_dtype_of(e), EDDY_SHAPE(empty, l->n));
    const eddy_tensor none = eddy_zeros(e.graph, eddy_dtype_of(e), EDDY_SHAPE(empty));
    const eddy_tensor wanted = eddy_slice(eddy_index(s, "-1"), EDDY_DIMS(0), EDDY_DIMS(l->k));
    y[BASIS] = eddy_concat(EDDY_LIST(vectors, eddy_index(in[BASIS], "-1:"), zeros), 0);
    y[FACTOR] = eddy_matrix_diag(eddy_concat(EDDY_LIST(e, none), 0));
    y[COUNT] = eddy_number(e.graph, EDDY_INT32, (double)l->p);
    y[EXCESS] = Sub(Mul(in[LENGTH], Max(Abs(wanted))), Mul(l->tolerance, largest));
    return VARIABLES;
}

/* The first vector of length 1. */
static eddy_tensor first_vector(const lanczos *l, eddy_tensor v)
{
    const eddy_tensor zero = eddy_number(v.graph, EDDY_INT32, 0);
    const eddy_tensor x = Where(Greater(Max(Abs(v)), 0), v,
                                some_vector(l, eddy_dtype_of(v), zero));
    const eddy_tensor scaled = Div(x, Max(Abs(x)));
    return Div(scaled, eddy__vector_length(scaled));
}

static bool iterate(const lanczos *l, eddy_tensor v0, int64_t iterations, eddy_tensor *y)
{
    const eddy_function cond = { .build = eddy__solver_goes_on },
                        body = { .build = restart, .context = (void *)l };
    const eddy_dtype    type = eddy_dtype_of(v0);
    const eddy_tensor   v[] = { eddy__krylov_begin(l->m + 1, first_vector(l, v0)),
                                eddy_zeros(v0.graph, type, EDDY_SHAPE(l->m, l->m)),
                                eddy_number(v0.graph, EDDY_INT32, 0), NumberLike(1, v0) };
    eddy_tensor         last[VARIABLES];
    if (eddy_while_loop(cond, body, ((eddy_list){ VARIABLES, v }), last, .no_back_prop = true,
                        .maximum_iterations = iterations) == 0)
        return false;
    const eddy_tensor e = eddy_slice(eddy_matrix_diag_part(last[FACTOR]), EDDY_DIMS(0),
                                     EDDY_DIMS(l->k));
    const eddy_tensor vectors = eddy_slice(last[BASIS], EDDY_DIMS(0, 0), EDDY_DIMS(l->k, l->n));
    y[0] = e;
    eddy__lanczos_parted(vectors, l->k, l->a.n, l->a.like, y + 1);
    eddy__solver_converged(1 + l->a.n, y, last[EXCESS], "lanczos", iterations);
    return true;
}

/* ----------------------------------------------------------------------- call -- */

static bool solve(lanczos *l, const eddy_lanczos_args *a)
{
    const int   n = l->a.n;
    closure    *c = &l->a.c;
    eddy_tensor x[EDDY_MAX_RESULTS], y[EDDY_MAX_RESULTS];
    eddy__solver_copies(n, a->v0.at, x);
    if (!eddy__closure_begin(c, "lanczos", &a->a, (eddy_list){ n, x }, a->theta) ||
        !eddy__solver_results_fit(c, "lanczos", a->v0) ||
        !iterate(l, eddy__solver_joined(n, a->v0.at), a->maximum_iterations, y))
        return false;
    eddy__solver_attach(c, (eddy_list){ 1 + n, y }, a->v0, "eddy_lanczos", eddy__lanczos_rule,
                        a->out);
    return eddy__graph_ready(c->graph);
}

/* The sizes of the basis. */
static bool choose_sizes(eddy_graph *g, lanczos *l, const eddy_lanczos_args *a)
{
    for (int t = 0; t < a->v0.count; t++) l->n += eddy_shape_count(eddy_shape_of(a->v0.at[t]));
    l->k = a->k;
    if (a->k < 1 || a->k > l->n) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "lanczos: k is %lld; expected 1 to %lld, the number of "
                  "elements of v0", (long long)a->k, (long long)l->n);
        return false;
    }
    if (a->basis != 0 && a->basis <= a->k) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "lanczos: basis is %lld; expected more than k, %lld",
                  (long long)a->basis, (long long)a->k);
        return false;
    }
    const int64_t usual = 2 * a->k + 1 > 20 ? 2 * a->k + 1 : 20, m = a->basis ? a->basis : usual;
    l->m = m < l->n ? m : l->n;
    l->p = l->k + (l->m - l->k) / 2;
    if (l->m <= MOST_BASIS) return true;
    eddy_fail(g, EDDY_LIMIT, "lanczos: a basis of %lld vectors; the limit is %d", (long long)l->m,
              MOST_BASIS);
    return false;
}

int eddy_lanczos_with(const eddy_lanczos_args *given)
{
    static const char what[] = "lanczos";
    eddy_lanczos_args a = EDDY_TAKE(eddy_lanczos_args, given);
    eddy_graph *g = eddy__function_graph(what, &a.a, a.v0, "v0 is empty");
    lanczos     l = { .a = { .c = { .graph = g }, .n = a.v0.count, .like = a.v0.at },
                      .smallest = a.smallest };
    if (!eddy__graph_ready(g) || !eddy__solver_takes(g, what, "v0", a.v0) ||
        !eddy__solver_room(g, what, "v0", a.v0, EDDY_OPERATOR_MOST) ||
        !eddy__list_is_of(g, what, "theta", a.theta) || !eddy__solver_out(g, what, a.out) ||
        !eddy__solver_tolerance(g, what, "tolerance", eddy_dtype_of(a.v0.at[0]), 1e-5, 1e-10,
                                &a.tolerance) ||
        !eddy__solver_count(g, what, "maximum_iterations", &a.maximum_iterations) ||
        !eddy__solver_shapes_are_known(g, what, "v0", a.v0) || !choose_sizes(g, &l, &a))
        return 0;
    l.tolerance = l.a.c.options[LANCZOS_TOLERANCE] = a.tolerance;
    l.a.c.options[LANCZOS_SMALLEST] = a.smallest;
    eddy_scope_begin(g, eddy__name_or(a.name, what));
    const bool ok = solve(&l, &a);
    eddy_scope_end(g);
    return ok ? 1 + a.v0.count : 0;
}
