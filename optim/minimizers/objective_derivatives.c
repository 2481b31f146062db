/* objective_derivatives.c -- see objective_derivatives.h. */
#include "optim/minimizers/objective_derivatives.h"
#include "autodiff/autodiff.h"
#include "graph/call_options.h"
#include "ops/ops.h"

#include <string.h>

/* ------------------------------------------------------------------- losses -- */

static bool check_loss(objective *o, eddy_tensor loss)
{
    char text[128];
    if (eddy_shape_of(loss).rank == 0) return true;
    return eddy__error_set(&o->error, EDDY_BAD_SHAPE,
                           "%s: the loss '%.200s' has shape %s; expected a scalar", o->who,
                           eddy_name_of(loss),
                           eddy_shape_print(eddy_shape_of(loss), text, sizeof text));
}

/* The gradients that are given, or built. */
static bool set_gradients(objective *o, eddy_tensor loss, eddy_list given, eddy_tensor *dx)
{
    if (!eddy__objective_list(o, "gradients", given)) return false;
    if (given.at && given.count != o->n_variables)
        return eddy__error_set(&o->error, EDDY_INVALID_ARGUMENT,
                               "%s: the number of gradients is %d; expected %d, one per variable",
                               o->who, given.count, o->n_variables);
    if (given.at) memcpy(dx, given.at, (size_t)given.count * sizeof *dx);
    else if (eddy_gradients(EDDY_LIST(loss), ((eddy_list){ o->n_variables, o->variables }), dx,
                            .unconnected_gradients = EDDY_UNCONNECTED_ZERO) != EDDY_OK)
        return eddy__objective_fail(o, eddy_graph_status(o->graph), eddy_graph_message(o->graph));
    for (int i = 0; i < o->n_variables; i++)
        if (!eddy_is_valid(dx[i]) || dx[i].graph != o->graph)
            return eddy__error_set(&o->error, EDDY_INVALID_ARGUMENT,
                                   "%s: gradients[%d] is not a tensor of the graph", o->who, i);
    return true;
}

bool eddy__loss_begin(objective *o, evaluation *e, eddy_tensor loss, eddy_list gradients)
{
    const int    n = o->n_variables + 1;
    eddy_tensor *fetches = eddy__objective_alloc(o, n, sizeof *fetches);
    if (!fetches || !check_loss(o, loss) || !set_gradients(o, loss, gradients, fetches + 1))
        return false;
    fetches[0] = loss;
    return eddy__objective_evaluation(o, e, n, fetches, (eddy_list){ 0 });
}

bool eddy__loss_at(objective *o, evaluation *e, double *x, double *loss, double *gradient)
{
    if (!eddy__objective_set(o, x) || !eddy__objective_run(o, e, NULL)) return false;
    *loss = eddy_array_get(e->out[0], 0);
    return eddy__objective_gather(o, e, 1, gradient);
}

/* ----------------------------------------------------------------- products -- */

bool eddy__products_begin(products *p, objective *o)
{
    *p = (products){ .o = o };
    p->direction = eddy__objective_alloc(o, o->n_variables, sizeof *p->direction);
    p->fed = eddy__objective_alloc(o, o->n_variables, sizeof *p->fed);
    if (!p->direction || !p->fed) return false;
    for (int i = 0; i < o->n_variables; i++) {
        const eddy_tensor v = o->variables[i];
        const eddy_shape  s = o->values ? eddy_array_shape(o->values[i]) : eddy_shape_of(v);
        p->direction[i] = eddy_placeholder(o->graph, "direction", eddy_dtype_of(v), s);
        p->fed[i] = eddy_array_new(eddy_dtype_of(v), s);
        if (!p->fed[i]) return eddy__objective_fail(o, EDDY_NO_MEMORY, "out of memory");
    }
    return true;
}

bool eddy__products_of(products *p, eddy_tensor *values)
{
    const int n = p->o->n_variables;
    return eddy__objective_evaluation(p->o, &p->e, n, values, (eddy_list){ n, p->direction });
}

bool eddy__products_run(void *data, const double *x, double *y)
{
    products *p = data;
    for (int v = 0; v < p->o->n_variables; v++)
        for (int64_t i = 0; i < eddy_array_count(p->fed[v]); i++)
            eddy_array_set(p->fed[v], i, *x++);
    return eddy__objective_run(p->o, &p->e, (const eddy_array *const *)p->fed) &&
           eddy__objective_gather(p->o, &p->e, 0, y);
}

void eddy__products_end(products *p)
{
    eddy__evaluation_end(&p->e);
    for (int v = 0; p->fed && v < p->o->n_variables; v++) eddy_array_free(p->fed[v]);
}
