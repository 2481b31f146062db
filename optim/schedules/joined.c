/* joined.c -- cyclic learning rates, and sequences of schedules. */
#include "optim/schedules/schedules_internal.h"
#include "graph/call_options.h"

#include <math.h>

/* ------------------------------------------------------------------ cycles -- */

/* How high cycle i is, from 0, as a part of the first; i and the step are of the rate's type. */
static eddy_tensor cycle_height(const eddy__schedule *s, const eddy_cyclic_args *a, eddy_tensor i)
{
    if (a->mode == EDDY_CYCLIC_TRIANGULAR2) return Pow(0.5, i);
    if (a->mode == EDDY_CYCLIC_TRIANGULAR) return NumberLike(1, i);
    return Pow(OPTION(s, eddy_cyclic_args, *a, gamma), s->step);
}

eddy_tensor eddy_cyclic_with(const eddy_cyclic_args *given)
{
    eddy_cyclic_args a = EDDY_TAKE(eddy_cyclic_args, given);
    eddy__schedule s = { .what = "cyclic" };
    if (!eddy__schedule_begin(&s, a.learning_rate, a.global_step, a.name, "Cyclic"))
        return eddy_none(s.g);
    eddy_tensor most = eddy__schedule_operand(&s, "max_learning_rate", a.max_learning_rate, NAN);
    eddy_tensor up = OPTION(&s, eddy_cyclic_args, a, step_size_up), down = up;
    if (a.step_size_down.node != 0 || a.step_size_down.graph)
        down = eddy__schedule_operand(&s, "step_size_down", a.step_size_down, NAN);
    if ((unsigned)a.mode > EDDY_CYCLIC_EXP_RANGE)
        eddy_fail(s.g, EDDY_INVALID_ARGUMENT, "cyclic: unknown mode %d", (int)a.mode);
    eddy_tensor length = Add(up, down), i = Floor(Div(s.step, length));
    eddy_tensor over = Sub(s.step, Mul(i, length));
    eddy_tensor part = Where(LessEqual(over, up), Div(over, up), Div(Sub(length, over), down));
    eddy_tensor height = Mul(Mul(Sub(most, s.rate), part), cycle_height(&s, &a, i));
    return eddy__schedule_end(&s, Add(s.rate, height));
}

/* --------------------------------------------------------- joined schedules -- */

static bool schedules_fit(eddy_graph *g, const eddy_joined_schedules_args *a)
{
    char text[128];
    for (int i = 1; i < a->schedules.count; i++) {
        const eddy_tensor first = a->schedules.at[0], t = a->schedules.at[i];
        if (!eddy_is_valid(t) || t.graph != g)
            eddy_fail(g, EDDY_INVALID_ARGUMENT,
                      "joined_schedules: schedule %d is not a tensor of this graph", i);
        else if (eddy_dtype_of(t) != eddy_dtype_of(first))
            eddy_fail(g, EDDY_BAD_DTYPE,
                      "joined_schedules: schedule %d is %s, but the first is %s; cast one", i,
                      eddy_dtype_name(eddy_dtype_of(t)), eddy_dtype_name(eddy_dtype_of(first)));
        else if (eddy_shape_of(t).rank > 0)
            eddy_fail(g, EDDY_BAD_SHAPE,
                      "joined_schedules: schedule %d has shape %s; expected a scalar", i,
                      eddy_shape_print(eddy_shape_of(t), text, sizeof text));
    }
    return eddy__graph_ready(g);
}

/* Steps are compared as float64, which represents every count exactly. */
static eddy_tensor joined(const eddy__schedule *s, const eddy_joined_schedules_args *a)
{
    const eddy__schedule exact = { .g = s->g, .what = s->what,
                                  .rate = eddy_number(s->g, EDDY_FLOAT64, 0) };
    eddy_tensor step = eddy_cast(a->global_step, EDDY_FLOAT64), y = Identity(s->rate);
    for (int i = 0; i + 1 < a->schedules.count; i++) {
        eddy_tensor from = eddy__schedule_operand(&exact, "a boundary", a->boundaries.at[i], NAN);
        y = Where(GreaterEqual(step, from), a->schedules.at[i + 1], y);
    }
    return y;
}

eddy_tensor eddy_joined_schedules_with(const eddy_joined_schedules_args *given)
{
    eddy_joined_schedules_args a = EDDY_TAKE(eddy_joined_schedules_args, given);
    eddy__schedule s = { .what = "joined_schedules", .rate_name = "schedule 0" };
    const int     n = a.schedules.at ? a.schedules.count : 0;
    eddy_tensor   none = { 0 };
    if (!eddy__schedule_begin(&s, n > 0 ? a.schedules.at[0] : none, a.global_step, a.name,
                              "JoinedSchedules"))
        return eddy_none(s.g);
    const int boundaries = a.boundaries.at ? a.boundaries.count : 0;
    if (boundaries != n - 1)
        eddy_fail(
            s.g, EDDY_INVALID_ARGUMENT,
            "joined_schedules: the number of boundaries is %d; expected %d, one less than the "
            "number of schedules",
            boundaries, n - 1);
    return eddy__schedule_end(&s, schedules_fit(s.g, &a) ? joined(&s, &a) : eddy_none(s.g));
}
