/* odeint.c -- the solution of an ordinary differential equation at given times: checks of the
 * arguments, and the call of the function. */
#include "control/ode_steps.h"
#include "control/segments.h"
#include "control/trace_functions.h"
#include "graph/call_options.h"
#include "ops/ops.h"

#include <math.h>
#include <string.h>

static const char what[] = "odeint";

static bool times_are_valid(eddy_graph *g, eddy_tensor t, eddy_dtype dtype)
{
    char            text[120];
    const eddy_type type = eddy__type_of(t);
    if (!eddy_is_valid(t) || t.graph != g)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: t is not a tensor of the graph", what);
    else if (type.dtype != dtype)
        eddy_fail(g, EDDY_BAD_DTYPE, "%s: t is %s; %s expected, as y0 [tensor '%.200s']", what,
                  eddy_dtype_name(type.dtype), eddy_dtype_name(dtype), eddy_name_of(t));
    else if (type.shape.rank >= 0 && (type.shape.rank != 1 || type.shape.dim[0] == 0))
        eddy_fail(g, EDDY_BAD_SHAPE,
                  "%s: t has shape %s; a vector of at least 1 time expected [tensor '%.200s']",
                  what, eddy_shape_print(type.shape, text, sizeof text), eddy_name_of(t));
    return eddy__graph_ready(g);
}

static bool options_are_valid(eddy_graph *g, eddy_odeint_args *a)
{
    const eddy_dtype d = eddy_dtype_of(a->y0.at[0]);
    if (a->method != EDDY_DOPRI5 && a->method != EDDY_RK4)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: there is no method %d", what, (int)a->method);
    else if (a->gradient != EDDY_ODE_UNROLLED && a->gradient != EDDY_ODE_ADJOINT)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: there is no kind of gradient %d", what,
                  (int)a->gradient);
    else if (!(a->first_step >= 0 && isfinite(a->first_step)))
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "%s: first_step is %g; expected a positive number, or 0", what, a->first_step);
    else if (a->gradient == EDDY_ODE_ADJOINT && (a->recompute != EDDY_RECOMPUTE_NONE || a->segment))
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "%s: recompute has no effect, because the adjoint gradient keeps no steps",
                  what);
    else eddy__segments_check(g, &(loop_spec){ .what = what, .recompute = a->recompute,
                                               .segment = a->segment });
    return eddy__graph_ready(g) &&
           eddy__solver_tolerance(g, what, "rtol", d, 1e-4, 1e-7, &a->rtol) &&
           eddy__solver_tolerance(g, what, "atol", d, 1e-6, 1e-9, &a->atol) &&
           eddy__solver_count(g, what, "max_steps", &a->max_steps) &&
           eddy__solver_count(g, what, "steps", &a->steps);
}

int eddy_odeint_with(const eddy_odeint_args *given)
{
    eddy_odeint_args a = EDDY_TAKE(eddy_odeint_args, given);
    eddy_graph      *g = eddy__function_graph(what, &a.f, a.y0, "y0 is empty");
    if (!eddy__graph_ready(g) || !eddy__solver_takes(g, what, "y0", a.y0) ||
        !eddy__solver_room(g, what, "y0", a.y0, EDDY_SOLVER_MOST) ||
        !eddy__solver_out(g, what, a.out) ||
        !times_are_valid(g, a.t, eddy_dtype_of(a.y0.at[0])) || !options_are_valid(g, &a))
        return 0;
    ode o = {
        .what = what, .c = { .graph = g }, .n = a.y0.count, .method = a.method,
        .unrolled = a.gradient == EDDY_ODE_UNROLLED, .rtol = a.rtol, .atol = a.atol,
        .max_steps = a.max_steps, .steps = a.steps, .first_step = a.first_step,
        .recompute = a.recompute, .segment = a.segment,
    };
    eddy_scope_begin(g, eddy__name_or(a.name, what));
    const bool ok = eddy__ode_trace_and_solve(&o, &a.f, a.y0.at, a.t, a.out);
    eddy_scope_end(g);
    return ok ? a.y0.count : 0;
}
