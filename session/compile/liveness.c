/* liveness.c -- liveness: finds the nodes of the user's graph that a run executes, or the reason
 * why it cannot run. */
#include "session/compile/lower.h"
#include "session/compile/program.h"

void eddy__mark_live(compile *c)
{
    for (int i = 0; i < c->plan->n_fetches; i++)
        if (eddy__feed_of(c, c->plan->fetches[i]) < 0)
            c->info[c->plan->fetches[i].node].live = true;
    for (int32_t id = c->size; id >= 1; id--) {
        if (!c->info[id].live || (is_folded(c, id) && !c->info[id].effect)) continue;
        const eddy_node *node = c->graph->nodes[id];
        const body_use  *use = eddy__has_body(node) ? c->bodies[id] : NULL;
        if (use) c->info[use->leader].live = true;
        for (int i = 0; i < node->n_inputs; i++)
            if (!type_only(node->op, i) && (!use || use->program->takes[i]) &&
                (by_reference(node->op, i) || eddy__feed_of(c, node->inputs[i]) < 0))
                c->info[node->inputs[i].node].live = true;
        /* A control edge keeps side effects alive; for other nodes it only defines an order. */
        for (int i = 0; i < node->n_controls; i++)
            if (c->info[node->controls[i]].effect) c->info[node->controls[i]].live = true;
    }
}

bool eddy__not_fed(const eddy_node *placeholder, eddy_error *error)
{
    char            shape[100];
    const eddy_type t = placeholder->outputs[0];
    if (t.shape.rank <= 0)
        return eddy__error_set(error, EDDY_NOT_FED,
                               "You must feed a value for placeholder tensor '%s' with dtype %s",
                               placeholder->name, eddy_dtype_name(t.dtype));
    return eddy__error_set(
        error, EDDY_NOT_FED,
        "You must feed a value for placeholder tensor '%s' with dtype %s and shape %s",
        placeholder->name, eddy_dtype_name(t.dtype),
        eddy_shape_print(t.shape, shape, sizeof shape));
}

static bool is_read(const compile *c, int32_t variable)
{
    for (int32_t id = variable + 1; id <= c->size; id++) {
        const eddy_node *node = c->graph->nodes[id];
        for (int i = 0; c->info[id].live && i < node->n_inputs; i++)
            if (node->inputs[i].node == variable && !by_reference(node->op, i)) return true;
    }
    return false;
}

/* Why the shape of output k is not known now. */
static bool unknown_shape(compile *c, const eddy_node *node, int k)
{
    for (int32_t p = 1; p <= node->id; p++)
        if (c->info[p].needed && !is_folded(c, p) &&       /* fed, it would not be needed */
            (c->graph->nodes[p]->op->flags & EDDY_OP_PLACEHOLDER))
            return eddy__not_fed(c->graph->nodes[p], c->error);
    if (node->op->flags & EDDY_OP_VARIABLE) {
        if (!is_read(c, node->id)) return true;
        return eddy__error_set(c->error, EDDY_UNINITIALIZED,
                               "Attempting to use uninitialized value %s", node->name);
    }
    return eddy__error_set(c->error, EDDY_UNIMPLEMENTED,
                           "%s: the shape of output %d depends on data [node '%s']",
                           node->op->name, k, node->name);
}

/* A kernel that reads only shapes, such as Size, needs them known although nothing computes the
 * elements. Kernels that also read elements have the shapes that they need in their results. */
static bool input_shapes_known(compile *c, const eddy_node *node)
{
    for (int i = 0; i < node->n_inputs; i++)
        if (!eddy__input_is_in(node->op->shape_inputs, i)) return true;
    for (int i = 0; i < node->n_inputs; i++) {
        const eddy_tensor x = node->inputs[i];
        if (!eddy_shape_is_known(eddy__concrete_type(c, x).shape))
            return unknown_shape(c, c->graph->nodes[x.node], x.output);
    }
    return true;
}

bool eddy__check_live(compile *c)
{
    for (int32_t id = 1; id <= c->size; id++) {
        if (!c->info[id].live) continue;
        const eddy_node *node = c->graph->nodes[id];         /* not fed, or it would not be live */
        if ((node->op->flags & EDDY_OP_PLACEHOLDER) && !is_folded(c, id))
            return eddy__not_fed(node, c->error);
    }
    for (int32_t id = 1; id <= c->size; id++) {
        if (!c->info[id].live || is_folded(c, id) || c->info[id].fed) continue;
        const eddy_node *node = c->graph->nodes[id];
        for (int k = 0; k < node->n_outputs; k++)
            if (!eddy_shape_is_known(c->info[id].types[k].shape) && !unknown_shape(c, node, k))
                return false;
        if (!input_shapes_known(c, node)) return false;
    }
    return true;
}

bool eddy__number_variables(compile *c)
{
    int32_t n = 0;
    for (int32_t id = 1; id <= c->size; id++)
        n += c->info[id].live && (c->graph->nodes[id]->op->flags & EDDY_OP_VARIABLE);
    c->plan->variables = eddy__plan_alloc(c, (size_t)n, sizeof *c->plan->variables);
    c->variable_of = eddy__stage_alloc(c, (size_t)c->size + 1 + (size_t)n, sizeof(int32_t));
    if (!c->plan->variables || !c->variable_of) return false;
    c->first_update = c->variable_of + c->size + 1;
    for (int32_t id = 1; id <= c->size; id++) {
        const eddy_node *node = c->graph->nodes[id];
        c->variable_of[id] = -1;
        if (!is_executed(c, id)) continue;
        if (node->op->flags & EDDY_OP_VARIABLE) {
            c->variable_of[id] = c->plan->n_variables;
            c->plan->variables[c->plan->n_variables++] =
                (plan_variable){ .node = node, .state = eddy__session_state(c->session, id) };
        } else if (node->op->flags & EDDY_OP_UPDATES) {
            int32_t *first = &c->first_update[c->variable_of[node->inputs[0].node]];
            if (*first == 0) *first = id;
            /* not if it only reads the value between two updates */
            if (node->op->flags & EDDY_OP_SIDE_EFFECT) c->plan->writes = true;
        }
    }
    return true;
}
