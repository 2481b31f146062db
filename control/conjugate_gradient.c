/* conjugate_gradient.c -- A x = b for a symmetric and positive definite A; Saad, Iterative methods
 * for sparse linear systems (2003), algorithm 9.1. */
#include "control/linear_system.h"
#include "graph/call_options.h"
#include "ops/ops.h"
#include "ops/short_names.h"

#include <math.h>

/* Loop variables: x, the residual b - A x and the direction; r'M r; the excess of the residual. */
enum { X, RESIDUAL, DIRECTION, SQUARE, EXCESS, VARIABLES };

typedef struct iteration {
    const linear_operator *a;
    eddy_tensor            limit;
} iteration;

/* If the curvature along the direction is not positive, all is NaN from here on. */
static int next_values(eddy_list v, eddy_tensor *y, void *context)
{
    const iteration  *i = context;
    const eddy_tensor p = v.at[DIRECTION], image = eddy__operator_product(i->a, p);
    const eddy_tensor bend = eddy_dot(p, image);
    const eddy_tensor step = Div(v.at[SQUARE], Where(Greater(bend, 0), bend, NAN));
    y[X] = Add(v.at[X], Mul(step, p));
    y[RESIDUAL] = Sub(v.at[RESIDUAL], Mul(step, image));
    const eddy_tensor z = eddy__operator_precondition(i->a, y[RESIDUAL]);
    y[SQUARE] = eddy_dot(y[RESIDUAL], z);
    y[DIRECTION] = Add(z, Mul(Div(y[SQUARE], v.at[SQUARE]), p));
    y[EXCESS] = Sub(eddy__vector_length(y[RESIDUAL]), i->limit);
    return VARIABLES;
}

static bool iterate(const linear_operator *a, eddy_tensor b, eddy_tensor limit, eddy_tensor x,
                    eddy_tensor r, eddy_tensor *y)
{
    iteration           i = { a, limit };
    const eddy_function cond = { .build = eddy__solver_goes_on },
                        body = { .build = next_values, .context = &i };
    const eddy_tensor   z = eddy__operator_precondition(a, r);
    const eddy_tensor   v[] = { x, r, z, eddy_dot(r, z), Sub(eddy__vector_length(r), limit) };
    eddy_tensor         last[VARIABLES];
    (void)b;
    if (eddy_while_loop(cond, body, ((eddy_list){ VARIABLES, v }), last, .no_back_prop = true,
                        .maximum_iterations = (int64_t)a->c.options[SYSTEM_ITERATIONS]) == 0)
        return false;
    y[0] = last[X];
    y[1] = last[EXCESS];
    return true;
}

static void gradient_rule(eddy_rule *r);

static const linear_method method = {
    .what = "conjugate_gradient", .of_gradient = "the gradient of conjugate_gradient",
    .scope = "conjugate_gradient", .rule_name = "eddy_conjugate_gradient",
    .failure = ", or A is not positive definite", .symmetric = true, .iterate = iterate,
    .rule = gradient_rule,
};

static void gradient_rule(eddy_rule *r) { eddy__linear_rule(r, &method); }

int eddy_conjugate_gradient_with(const eddy_conjugate_gradient_args *given)
{
    eddy_conjugate_gradient_args a = EDDY_TAKE(eddy_conjugate_gradient_args, given);
    linear_call call = {
        .a = a.a, .preconditioner = a.preconditioner, .b = a.b, .x0 = a.x0, .theta = a.theta,
        .out = a.out, .tolerance = a.tolerance, .iterations = a.maximum_iterations, .name = a.name,
    };
    return eddy__linear_call(&method, &call);
}
