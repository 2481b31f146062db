/* program_types.c -- the types of the outputs of Loop and Case nodes. */
#include "session/compile/program.h"

/* That of rows of a carried value, which nobody computes. */
static bool stack_type(compile *c, const eddy_node *node, int64_t k, eddy_type *t)
{
    const eddy_loop_attrs *a = node->attrs;
    const int64_t out = a->outs.at[2 * (a->conditional + a->n_carried + k)];
    const eddy_program *p = c->bodies[node->id]->program;
    *t = eddy__concrete_type(c, node->inputs[a->counted + out - 2]);
    if (t->shape.rank == EDDY_MAX_RANK)
        return eddy__error_set(c->error, EDDY_LIMIT, "%s: %s [node '%.200s']", node->op->name,
                               "a stack would have too many dimensions", node->name);
    for (int d = t->shape.rank++; d > 0; d--) t->shape.dim[d] = t->shape.dim[d - 1];
    t->shape.dim[0] = p->open ? 0 : p->most;
    return true;
}

bool eddy__body_set_types(compile *c, const eddy_node *node)
{
    const body_use *u = c->bodies[node->id];
    eddy_type      *types = eddy__plan_alloc(c, (size_t)node->n_outputs + 1, sizeof *types);
    if (!types) return false;
    for (int k = 0; k < node->n_outputs; k++) {
        const eddy_loop_attrs *a = node->op->flags & EDDY_OP_LOOP ? node->attrs : NULL;
        types[k] = u->output[k] >= 0 ? u->program->outputs[u->output[k]]
                                     : (eddy_type){ node->outputs[k].dtype, EDDY_SHAPE(0) };
        if (u->output[k] < 0 && u->outs[k] && a && k >= a->n_carried &&
            k < a->n_carried + a->n_stacked && !stack_type(c, node, k - a->n_carried, &types[k]))
            return false;
    }
    c->info[node->id].types = types;
    return true;
}
