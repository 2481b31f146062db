/* global_step.c -- the global step, a variable that counts training steps. */
#include "optim/internal.h"
#include "ops/ops.h"

static const char step_name[] = "global_step";

/* The one in the collection, or the tensor of the customary name. */
static eddy_tensor find(eddy_graph *g)
{
    const int n = eddy_collection_size(g, EDDY_GLOBAL_STEP);
    if (n == 1) return eddy_collection_at(g, EDDY_GLOBAL_STEP, 0);
    if (n == 0 && eddy_graph_has(g, "global_step:0")) return eddy_graph_tensor(g, "global_step:0");
    return eddy_none(g);
}

eddy_tensor eddy_get_global_step(eddy_graph *g)
{
    if (!eddy__graph_ready(g)) return eddy_none(g);
    eddy_tensor step = find(g);
    if (!eddy_is_valid(step)) return step;
    if (!eddy_dtype_is_integer(eddy_dtype_of(step)))
        return eddy_fail(g, EDDY_BAD_DTYPE,
                         "Existing \"global_step\" does not have integer type: %s",
                         eddy_dtype_name(eddy_dtype_of(step)));
    char       text[128];
    eddy_shape shape = eddy_shape_of(step);
    if (shape.rank > 0)
        return eddy_fail(g, EDDY_BAD_SHAPE, "Existing \"global_step\" is not scalar: %s",
                         eddy_shape_print(shape, text, sizeof text));
    return step;
}

eddy_tensor eddy_create_global_step(eddy_graph *g)
{
    if (!eddy__graph_ready(g)) return eddy_none(g);
    eddy_tensor step = eddy_get_global_step(g);
    if (!eddy__graph_ready(g)) return eddy_none(g);
    if (eddy_is_valid(step))
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "\"global_step\" already exists.");
    eddy_control_clear(g);
    eddy_scope_begin(g, NULL);
    step = eddy_variable(g, .initial_value = eddy_number(g, EDDY_INT64, 0), .not_trainable = true,
                         .name = step_name);
    eddy_scope_end(g);
    eddy_control_end(g);
    if (eddy_is_valid(step)) eddy_collection_add(g, EDDY_GLOBAL_STEP, step);
    return step;
}

eddy_tensor eddy_get_or_create_global_step(eddy_graph *g)
{
    eddy_tensor step = eddy_get_global_step(g);
    return eddy_is_valid(step) ? step : eddy_create_global_step(g);
}
