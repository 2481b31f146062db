/* rule_formulas.c -- what several optimizers share: the step counter, formulas, filters of
 * variables. */
#include "optim/rules/rule_formulas.h"

static const char iterations[] = "iterations";

/* ------------------------------------------------------ the count of steps -- */

void eddy__counted_slots(eddy_optimizer *o, eddy_tensor variable)
{
    eddy__step_slots(o, variable);
    eddy_make_shared_slot(o, iterations, eddy_number(o->graph, EDDY_INT64, 0));
}

eddy_tensor eddy__step_number(const eddy_optimizer *o)
{
    return Add(eddy__exact(eddy__shared_slot(o, iterations)), 1);
}

eddy_tensor eddy__one_less_power(eddy_tensor beta, eddy_tensor t)
{
    return Sub(1, Pow(eddy__exact(beta), t));
}

/* All updates read the count of before the step. */
eddy_tensor eddy__count_step(eddy_optimizer *o, eddy_list updates)
{
    eddy_graph *g = o->graph;
    eddy_tensor one = eddy_number(g, EDDY_INT64, 1);
    eddy_control_begin(g, updates);
    eddy_tensor done = eddy_assign_add(eddy__shared_slot(o, iterations), one);
    eddy_control_end(g);
    return done;
}

/* ---------------------------------------------------------------- formulas -- */

eddy_tensor eddy__share(eddy_tensor beta, eddy_tensor v)
{
    return eddy_hyper(Sub(1, eddy__exact(beta)), v);
}

eddy_tensor eddy__moving(eddy_tensor m, eddy_tensor x, eddy_tensor beta)
{
    return Add(m, Mul(Sub(x, m), eddy__share(beta, m)));
}

eddy_tensor eddy__trust(eddy_tensor a, eddy_tensor b, eddy_tensor ratio)
{
    return Where(LogicalAnd(Greater(a, 0), Greater(b, 0)), ratio, 1);
}

/* ----------------------------------------------------------------- options -- */

bool eddy_rank_below_2(eddy_tensor variable, void *context)
{
    const int rank = eddy__whole_shape(variable).rank;
    (void)context;
    return rank >= 0 && rank < 2;
}

bool eddy__picks(const eddy_variable_filter *f, eddy_tensor variable)
{
    return f->picks && f->picks(variable, f->context);
}
