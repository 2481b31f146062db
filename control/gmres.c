/* gmres.c -- A x = b by GMRES with restarts: Saad and Schultz 1986; preconditioned from the right,
 * as in Saad, Iterative methods for sparse linear systems (2003), algorithm 9.5, so that residuals
 * are those of A x = b.
 *
 * A cycle computes A M V' = V' H with V orthonormal, and the QR decomposition of H by a rotation in
 * each iteration: Q H = R. The length of the residual is then an element of Q. */
#include "control/krylov.h"
#include "control/linear_system.h"
#include "graph/call_options.h"
#include "ops/ops.h"
#include "ops/short_names.h"

#include <math.h>

enum { MOST_RESTART = 1000 };

/* ------------------------------------------------------------------ a cycle -- */

/* Loop variables: V [m + 1, n]; R transposed [m, m]; Q [m + 1, m + 1]; the number of iterations;
 * the excess of the residual. */
enum { BASIS, FACTOR, TURN, COUNT, REST, IN_CYCLE };

typedef struct cycle {
    const linear_operator *a;
    int64_t                m;
    eddy_tensor            limit, first;        /* the length of the residual at the beginning */
} cycle;

static int cycle_goes_on(eddy_list v, eddy_tensor *y, void *context)
{
    const cycle *c = context;
    y[0] = LogicalAnd(Less(v.at[COUNT], (double)c->m), Greater(v.at[REST], 0));
    return 1;
}

static int next_column(eddy_list v, eddy_tensor *y, void *context)
{
    const cycle      *c = context;
    const eddy_tensor j = v.at[COUNT], next = Add(j, 1), basis = v.at[BASIS], turn = v.at[TURN];
    const eddy_dtype  type = eddy_dtype_of(basis);
    eddy_tensor       along;
    const eddy_tensor w = eddy__operator_product(
        c->a, eddy__operator_precondition(c->a, Gather(basis, j)));
    const eddy_tensor rest = eddy__krylov_rest(basis, w, &along);
    const eddy_tensor length = eddy__vector_length(rest);
    const eddy_tensor column = Add(along, Mul(length, OneHot(next, c->m + 1, .dtype = type)));
    const eddy_tensor turned = eddy_matvec(turn, column);
    const eddy_tensor a = Gather(turned, j), b = Gather(turned, next);
    const eddy_tensor diagonal = eddy_hypot(a, b);
    const eddy_tensor cosine = DivNoNan(a, diagonal), sine = DivNoNan(b, diagonal);
    const eddy_tensor above = Gather(turn, j), below = Gather(turn, next);
    const eddy_tensor pivot = Where(Greater(diagonal, 0), diagonal, NAN);   /* A is singular */
    const eddy_tensor row = Add(eddy__krylov_first(turned, c->m + 1, j),
                                Mul(pivot, OneHot(j, c->m + 1, .dtype = type)));
    y[BASIS] = eddy__krylov_put(basis, next, DivNoNan(rest, length));
    y[FACTOR] = eddy__krylov_put(v.at[FACTOR], j, eddy_index(row, ":-1"));
    y[TURN] = eddy__krylov_put(
        eddy__krylov_put(turn, j, Add(Mul(cosine, above), Mul(sine, below))), next,
        Sub(Mul(cosine, below), Mul(sine, above)));
    y[COUNT] = next;
    y[REST] = Sub(Mul(c->first, Abs(eddy_index(Gather(y[TURN], next), "0"))), c->limit);
    return IN_CYCLE;
}

static bool run_cycle(const cycle *c, eddy_tensor r, eddy_tensor *v)
{
    eddy_graph         *g = r.graph;
    const eddy_dtype    type = eddy_dtype_of(r);
    const eddy_function cond = { .build = cycle_goes_on, .context = (void *)c },
                        body = { .build = next_column, .context = (void *)c };
    v[BASIS] = eddy__krylov_begin(c->m + 1, Div(r, c->first));
    v[FACTOR] = eddy_eye(g, c->m, .dtype = type);
    v[TURN] = eddy_eye(g, c->m + 1, .dtype = type);
    v[COUNT] = eddy_number(g, EDDY_INT32, 0);
    v[REST] = Sub(c->first, c->limit);
    return eddy_while_loop(cond, body, ((eddy_list){ IN_CYCLE, v }), v, .no_back_prop = true,
                           .maximum_iterations = c->m, .name = "cycle") > 0;
}

/* V'y for the y with R y = the first elements of Q e1, times the length of the residual. */
static eddy_tensor combine(const cycle *c, const eddy_tensor *v)
{
    const eddy_tensor first = eddy_index(v[TURN], ":-1, 0");
    const eddy_tensor side = Mul(c->first, eddy__krylov_first(first, c->m, v[COUNT]));
    const eddy_tensor y = Squeeze(
        eddy_triangular_solve(v[FACTOR], ExpandDims(side, 1), .adjoint = true), EDDY_AXES(1));
    return eddy_matvec(eddy_index(v[BASIS], ":-1"), y, .transpose_a = true);
}

/* --------------------------------------------------------------------- cycles -- */

/* Loop variables: x, the residual, its excess. */
enum { X, RESIDUAL, EXCESS, VARIABLES };

typedef struct iteration {
    const linear_operator *a;
    eddy_tensor            b, limit;
} iteration;

static int next_values(eddy_list v, eddy_tensor *y, void *context)
{
    const iteration *i = context;
    const cycle c = { i->a, (int64_t)i->a->c.options[SYSTEM_RESTART], i->limit,
                      eddy__vector_length(v.at[RESIDUAL]) };
    eddy_tensor inner[IN_CYCLE];
    if (!run_cycle(&c, v.at[RESIDUAL], inner)) return 0;
    y[X] = Add(v.at[X], eddy__operator_precondition(i->a, combine(&c, inner)));
    y[RESIDUAL] = Sub(i->b, eddy__operator_product(i->a, y[X]));
    y[EXCESS] = Sub(eddy__vector_length(y[RESIDUAL]), i->limit);
    return VARIABLES;
}

static bool iterate(const linear_operator *a, eddy_tensor b, eddy_tensor limit, eddy_tensor x,
                    eddy_tensor r, eddy_tensor *y)
{
    iteration           i = { a, b, limit };
    const eddy_function cond = { .build = eddy__solver_goes_on },
                        body = { .build = next_values, .context = &i };
    const eddy_tensor   v[] = { x, r, Sub(eddy__vector_length(r), limit) };
    eddy_tensor         last[VARIABLES];
    if (eddy_while_loop(cond, body, ((eddy_list){ VARIABLES, v }), last, .no_back_prop = true,
                        .maximum_iterations = (int64_t)a->c.options[SYSTEM_ITERATIONS]) == 0)
        return false;
    y[0] = last[X];
    y[1] = last[EXCESS];
    return true;
}

static void gradient_rule(eddy_rule *r);

static const linear_method method = {
    .what = "gmres", .of_gradient = "the gradient of gmres", .scope = "gmres",
    .rule_name = "eddy_gmres", .failure = ", or A is singular", .iterate = iterate,
    .rule = gradient_rule,
};

static void gradient_rule(eddy_rule *r) { eddy__linear_rule(r, &method); }

int eddy_gmres_with(const eddy_gmres_args *given)
{
    eddy_gmres_args a = EDDY_TAKE(eddy_gmres_args, given);
    linear_call call = {
        .a = a.a, .preconditioner = a.preconditioner, .b = a.b, .x0 = a.x0, .theta = a.theta,
        .out = a.out, .tolerance = a.tolerance, .iterations = a.maximum_iterations,
        .restart = a.restart, .name = a.name,
    };
    eddy_graph *g = eddy__function_graph(method.what, &a.a, a.b, "b is empty");
    if (eddy__graph_ready(g) && (a.restart < 1 || a.restart > MOST_RESTART)) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "gmres: restart is %lld; expected 1 to %d",
                  (long long)a.restart, MOST_RESTART);
        return 0;
    }
    return eddy__linear_call(&method, &call);
}
