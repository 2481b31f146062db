/* divided_variables.c -- variables of layers that are divided among the ranks and gathered where
 * they are used (ZeRO, Rajbhandari et al. 2020, stage 3).
 *
 * A layer gets the parts of all ranks, gathered. Gradients that need them gather them again, so
 * that no rank keeps whole variables from the forward to the backward pass; and the gradient of
 * gathering is the sum of the ranks' gradients, of which each rank gets its part. */
#include "distributed/collectives.h"
#include "distributed/division.h"
#include "distributed/training.h"

#include "autodiff/compute_again.h"
#include "ops/short_names.h"

#include <stdlib.h>

/* The graph owns it. */
typedef struct dividing {
    int64_t communicator;
    int     ranks, me;
    int64_t least;
} dividing;

static eddy_tensor gathered(eddy_tensor variable, const eddy_division *d)
{
    eddy_graph        *g = variable.graph;
    eddy_communicator *c = eddy__communicator_take(d->communicator);
    if (!c)
        return eddy_fail(g, EDDY_CLOSED, "divide_variables: the communicator has been freed");
    const int64_t count = eddy_shape_count(d->whole);
    eddy_tensor   y = eddy_all_gather(c, variable);
    eddy__communicator_give(c);
    if (eddy_is_valid(y) && eddy_shape_count(eddy_shape_of(y)) > count)
        y = eddy_slice(y, EDDY_DIMS(0), EDDY_DIMS(count));
    return eddy_reshape(y, d->whole);
}

/* `context` is the variable. */
static eddy_tensor gather_again(void *context, eddy_tensor t, eddy_tensor after)
{
    const eddy_tensor *variable = context;
    eddy_control_begin(t.graph, EDDY_LIST(after));
    const eddy_tensor y = gathered(*variable, eddy__division_of(*variable));
    eddy_control_end(t.graph);
    return y;
}

static eddy_tensor create(void *context, const eddy_variable_request *r)
{
    const dividing *d = context;
    eddy_graph     *g = r->graph;
    const int64_t   count = eddy_shape_count(r->shape);
    if (r->not_trainable || count < d->least || count < d->ranks) return eddy_create_variable(r);
    const eddy_division division = { .communicator = d->communicator, .ranks = d->ranks,
                                     .rank = d->me, .axis = -1, .groups = 1, .whole = r->shape };
    const eddy_tensor   v = eddy__create_part(r, &division);
    eddy_tensor        *kept = malloc(sizeof *kept);
    if (!kept) eddy_fail(g, EDDY_NO_MEMORY, "divide_variables: out of memory");
    if (!kept || !eddy_is_valid(v)) {
        free(kept);
        return eddy_none(g);
    }
    *kept = v;
    if (!eddy_graph_own(g, kept, free)) return eddy_none(g);
    eddy_scope_begin(g, r->name);
    const eddy_tensor whole = gathered(v, &division);
    eddy_scope_end(g);
    if (eddy_is_valid(whole)) eddy_compute_again(whole, gather_again, kept);
    return whole;
}

void eddy_divide_variables_begin(eddy_communicator *c, eddy_graph *g, int64_t least)
{
    if (!g || eddy_graph_status(g) != EDDY_OK) return;
    dividing *d = c && least >= 0 ? malloc(sizeof *d) : NULL;
    if (!c)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "divide_variables: there is no communicator");
    else if (least < 0)
        eddy_fail(g, EDDY_OUT_OF_RANGE, "divide_variables: least is %lld; it must not be negative",
                  (long long)least);
    else if (!d) eddy_fail(g, EDDY_NO_MEMORY, "divide_variables: out of memory");
    if (!d) return;
    *d = (dividing){ c->id, c->n, c->me, least };
    if (eddy_graph_own(g, d, free)) eddy_variable_creator_begin(g, create, d);
}

void eddy_divide_variables_end(eddy_graph *g) { eddy_variable_creator_end(g); }
