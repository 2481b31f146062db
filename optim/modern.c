/* modern.c -- what the optimizers of modern.h share: hyper-parameters, the count of the
 * steps, filters of variables. */
#include "optim/modern_internal.h"

static const char iterations[] = "iterations";

bool eddy_hypers_settle(eddy_graph *g, const eddy_hyper_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const eddy_hyper_row *r = &rows[i];
        if (r->t->node == 0 && isinf(r->fallback)) continue;
        if (!eddy_hyper_settle(g, r->what, r->t, r->fallback)) return false;
    }
    return eddy_graph_ready(g);
}

/* ------------------------------------------------------ the count of steps -- */

void eddy_counted_slots(eddy_optimizer *o, eddy_tensor variable)
{
    eddy_step_slots(o, variable);
    eddy_make_shared_slot(o, iterations, eddy_number(o->graph, EDDY_INT64, 0));
}

eddy_tensor eddy_step_number(const eddy_optimizer *o)
{
    return Add(eddy_exact(eddy_shared_slot(o, iterations)), 1);
}

eddy_tensor eddy_one_less_power(eddy_tensor beta, eddy_tensor t)
{
    return Sub(1, Pow(eddy_exact(beta), t));
}

/* All updates read the count of before the step. */
eddy_tensor eddy_count_step(eddy_optimizer *o, eddy_list updates)
{
    eddy_graph *g = o->graph;
    eddy_tensor one = eddy_number(g, EDDY_INT64, 1);
    eddy_control_begin(g, updates);
    eddy_tensor done = eddy_assign_add(eddy_shared_slot(o, iterations), one);
    eddy_control_end(g);
    return done;
}

/* ---------------------------------------------------------------- formulas -- */

eddy_tensor eddy_share(eddy_tensor beta, eddy_tensor v)
{
    return eddy_hyper(Sub(1, eddy_exact(beta)), v);
}

eddy_tensor eddy_moving(eddy_tensor m, eddy_tensor x, eddy_tensor beta)
{
    return Add(m, Mul(Sub(x, m), eddy_share(beta, m)));
}

eddy_tensor eddy_trust(eddy_tensor a, eddy_tensor b, eddy_tensor ratio)
{
    return Where(LogicalAnd(Greater(a, 0), Greater(b, 0)), ratio, 1);
}

/* ----------------------------------------------------------------- options -- */

bool eddy_is_below_matrix(eddy_tensor variable, void *context)
{
    const int rank = eddy_shape_of(variable).rank;
    (void)context;
    return rank >= 0 && rank < 2;
}

bool eddy_picks(const eddy_variable_filter *f, eddy_tensor variable)
{
    return f->picks && f->picks(variable, f->context);
}

eddy_optimizer_def eddy_made_dense(eddy_optimizer_def def)
{
    if (!def.apply_dense) def.apply_dense = eddy_step_all;
    def.apply_sparse = NULL;
    return def;
}
