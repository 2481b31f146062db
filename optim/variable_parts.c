/* variable_parts.c -- sums over variables of which this process has a part, and optimizers that
 * need the whole. */
#include "optim/internal.h"
#include "ops/short_names.h"

void eddy_optimizer_sum_parts(eddy_optimizer *o, eddy_sum_parts sum)
{
    if (!eddy__optimizer_ready(o)) return;
    eddy_optimizer *const *inside = o->state;
    o->sum_parts = sum;
    for (int i = 0; i < o->n_inside; i++) eddy_optimizer_sum_parts(inside[i], sum);
}

/* The node in the collection; NULL for a variable that is whole. */
static const eddy_node *mark_of(eddy_tensor variable)
{
    static const char key[] = EDDY_DIVIDED_VARIABLES;
    for (int i = eddy_collection_size(variable.graph, key) - 1; i >= 0; i--) {
        const eddy_node *mark = eddy_node_of(eddy_collection_at(variable.graph, key, i));
        if (mark && mark->n_inputs == 1 && eddy_same(mark->inputs[0], variable)) return mark;
    }
    return NULL;
}

bool eddy__is_part(eddy_tensor variable) { return mark_of(variable) != NULL; }

eddy_shape eddy__whole_shape(eddy_tensor variable)
{
    const eddy_node *mark = mark_of(variable);
    return mark && mark->n_outputs == 1 ? mark->outputs[0].shape : eddy_shape_of(variable);
}

void eddy__sum_parts(const eddy_optimizer *o, int n, const eddy_tensor *variables, eddy_tensor *x)
{
    if (o->sum_parts) o->sum_parts(n, variables, x);
    else if (n > 0)
        eddy_fail(o->graph, EDDY_INVALID_ARGUMENT,
                  "%s: needs a sum over the whole '%.200s', of which this process has only a part: "
                  "it belongs inside an optimizer of the ranks", o->name,
                  eddy_name_of(variables[0]));
}

eddy_tensor eddy__sum_squares(const eddy_optimizer *o, eddy_tensor v, eddy_tensor x)
{
    eddy_tensor sum = Sum(Square(x));
    if (eddy__is_part(v)) eddy__sum_parts(o, 1, &v, &sum);
    return sum;
}

bool eddy__requires_whole(const eddy_optimizer *o, eddy_tensor v)
{
    if (!eddy__is_part(v)) return true;
    eddy_fail(o->graph, EDDY_INVALID_ARGUMENT,
              "%s: needs the whole '%.200s', of which this process has only a part", o->name,
              eddy_name_of(v));
    return false;
}

/* ---------------------------------------------------------------- all variables -- */

static const eddy_optimizer *refusing(const eddy_optimizer *o)
{
    eddy_optimizer *const *inside = o->state;
    const eddy_optimizer  *found = o->combines && !(o->takes_parts && o->sum_parts) ? o : NULL;
    for (int i = 0; !found && i < o->n_inside; i++) found = refusing(inside[i]);
    return found;
}

/* Gradients of parts are combined only by optimizers that can sum over processes. */
bool eddy__parts_fit(const eddy_optimizer *o, const eddy_gradient_pair *pairs, int count)
{
    const eddy_optimizer *combining = refusing(o);
    for (int i = 0; combining && i < count; i++) {
        if (!eddy__is_part(pairs[i].variable)) continue;
        eddy_fail(o->graph, EDDY_INVALID_ARGUMENT,
                  "%s: combines the gradients of several variables, and this process has only "
                  "a part of '%.200s'%s", combining->name, eddy_name_of(pairs[i].variable),
                  combining->takes_parts ? ": it belongs inside an optimizer of the ranks" : "");
        return false;
    }
    return true;
}
