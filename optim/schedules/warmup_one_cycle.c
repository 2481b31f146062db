/* warmup_one_cycle.c -- learning rate schedules: warm-up, one cycle, inverse square root. */
#include "optim/schedules/schedules_internal.h"
#include "graph/call_options.h"

#include <math.h>

eddy_tensor eddy_linear_warmup_with(const eddy_linear_warmup_args *given)
{
    eddy_linear_warmup_args a = EDDY_TAKE(eddy_linear_warmup_args, given);
    eddy__schedule s = { .what = "linear_warmup" };
    if (!eddy__schedule_begin(&s, a.learning_rate, a.global_step, a.name, "LinearWarmup"))
        return eddy_none(s.g);
    eddy_tensor steps = eddy__schedule_operand(&s, "warmup_steps", a.warmup_steps, NAN);
    eddy_tensor start = OPTION(&s, eddy_linear_warmup_args, a, start_factor);
    eddy_tensor part = Add(start, Mul(Sub(1, start), Div(s.step, steps)));
    eddy_tensor warm = GreaterEqual(s.step, steps);
    return eddy__schedule_end(&s, Where(warm, s.rate, Mul(s.rate, part)));
}

eddy_tensor eddy_inverse_square_root_decay_with(const eddy_inverse_square_root_args *given)
{
    eddy_inverse_square_root_args a = EDDY_TAKE(eddy_inverse_square_root_args, given);
    eddy__schedule s = { .what = "inverse_square_root_decay" };
    if (!eddy__schedule_begin(&s, a.learning_rate, a.global_step, a.name, "InverseSquareRootDecay"))
        return eddy_none(s.g);
    eddy_tensor steps = eddy__schedule_operand(&s, "warmup_steps", a.warmup_steps, NAN);
    steps = Maximum(steps, 1);
    /* At step 0 the second is infinite. */
    eddy_tensor up = Div(s.step, steps), down = Sqrt(Div(steps, s.step));
    return eddy__schedule_end(&s, Mul(s.rate, Minimum(up, down)));
}

/* -------------------------------------------------------------- one cycle -- */

/* From one value to another until step `end`. */
typedef struct phase {
    eddy_tensor end, from, to;
} phase;

/* Operands shared by the schedules of the rate and of its momentum. */
typedef struct cycle {
    eddy_tensor total, pct_start;
    bool        linear, three_phase;
} cycle;

static eddy_tensor along(const phase *p, eddy_tensor begin, eddy_tensor step, bool linear)
{
    eddy_tensor over = DivNoNan(Sub(step, begin), Sub(p->end, begin));    /* maybe of one step */
    if (linear) return Add(Mul(Sub(p->to, p->from), over), p->from);
    return Add(p->to, Mul(Sub(p->from, p->to), eddy__half_cosine(over)));
}

/* The phases of one cycle: `low` to `high`, back, and in the end `last`. */
static int phases_of(const cycle *c, const eddy_tensor levels[4], phase p[3])
{
    eddy_tensor part = Mul(c->pct_start, c->total), end = Sub(c->total, 1);
    p[0] = (phase){ Sub(part, 1), levels[0], levels[1] };
    p[1] = (phase){ end, levels[1], levels[3] };
    if (!c->three_phase) return 2;
    p[1] = (phase){ Sub(Mul(2, part), 2), levels[1], levels[2] };
    p[2] = (phase){ end, levels[2], levels[3] };
    return 3;
}

/* A cycle over these values, which stays at the last. */
static eddy_tensor cycle_over(eddy__schedule *s, const cycle *c, const eddy_tensor levels[4])
{
    phase       p[3];
    const int   n = phases_of(c, levels, p);
    eddy_tensor step = Minimum(s->step, p[n - 1].end);
    eddy_tensor y = along(&p[n - 1], p[n - 2].end, step, c->linear);
    for (int i = n - 2; i >= 0; i--) {
        eddy_tensor begin = i > 0 ? p[i - 1].end : NumberLike(0, step);
        y = Where(LessEqual(step, p[i].end), along(&p[i], begin, step, c->linear), y);
    }
    return eddy__schedule_end(s, y);
}

eddy_tensor eddy_one_cycle_with(const eddy_one_cycle_args *given)
{
    eddy_one_cycle_args a = EDDY_TAKE(eddy_one_cycle_args, given);
    eddy__schedule s = { .what = "one_cycle", .rate_name = "max_learning_rate" };
    if (!eddy__schedule_begin(&s, a.max_learning_rate, a.global_step, a.name, "OneCycle"))
        return eddy_none(s.g);
    eddy_tensor first = Div(s.rate, OPTION(&s, eddy_one_cycle_args, a, div_factor));
    eddy_tensor last = Div(first, OPTION(&s, eddy_one_cycle_args, a, final_div_factor));
    eddy_tensor total = eddy__schedule_operand(&s, "total_steps", a.total_steps, NAN);
    eddy_tensor pct_start = OPTION(&s, eddy_one_cycle_args, a, pct_start);
    const cycle c = { total, pct_start, a.linear, a.three_phase };
    return cycle_over(&s, &c, (const eddy_tensor[]){ first, s.rate, first, last });
}

eddy_tensor eddy_one_cycle_momentum_with(const eddy_one_cycle_momentum_args *given)
{
    eddy_one_cycle_momentum_args a = EDDY_TAKE(eddy_one_cycle_momentum_args, given);
    eddy__schedule s = { .what = "one_cycle_momentum", .rate_name = "max_momentum" };
    if (!eddy__schedule_begin(&s, a.max_momentum, a.global_step, a.name, "OneCycleMomentum"))
        return eddy_none(s.g);
    eddy_tensor base = OPTION(&s, eddy_one_cycle_momentum_args, a, base_momentum);
    eddy_tensor total = eddy__schedule_operand(&s, "total_steps", a.total_steps, NAN);
    eddy_tensor pct_start = OPTION(&s, eddy_one_cycle_momentum_args, a, pct_start);
    const cycle c = { total, pct_start, a.linear, a.three_phase };
    return cycle_over(&s, &c, (const eddy_tensor[]){ s.rate, base, s.rate, s.rate });
}
