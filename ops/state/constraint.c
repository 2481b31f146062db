/* constraint.c -- variable constraints: a function that optimizers apply to a variable after
 * each update. */
#include "ops/state/constraint.h"
#include "graph/internal.h"
#include "ops/ops.h"

#ifdef EDDY_HEADER
/* `apply` builds the value that replaces a variable's value, with the same type and shape. A
 * plain struct that may be copied; the object to which `context` points must outlive the last
 * call of eddy_apply_gradients. */
typedef struct eddy_constraint {
    eddy_tensor (*apply)(eddy_tensor value, void *context);
    void         *context;
} eddy_constraint;
#endif

/* Owned by the graph, which frees it. */
typedef struct kept {
    eddy_allocator  allocator;
    int32_t         variable;
    eddy_constraint constraint;
} kept;

static void release(void *object)
{
    kept          *k = object;
    eddy_allocator memory = k->allocator;
    eddy__release(&memory, k, sizeof *k);
}

/* The constraint of a variable among the objects that the graph owns; NULL if none. */
static kept *find(const eddy_graph *g, int32_t variable)
{
    for (int i = 0; i < g->n_owned; i++) {
        kept *k = g->owned[i].object;
        if (g->owned[i].release == release && k->variable == variable) return k;
    }
    return NULL;
}

/** Sets the constraint of a variable, replacing the previous one; the same as .constraint of
 *  eddy_variable.
 *
 *  var         a variable
 *  constraint  .apply NULL removes the constraint
 *
 *  Returns var.  Training steps that are already built do not change; a graph file contains the
 *  operations of a step, not the function.
 *  Errors: EDDY_INVALID_ARGUMENT if var is not a variable; EDDY_NO_MEMORY.
 *  TensorFlow: Variable(constraint=...). */
eddy_tensor eddy_variable_constrain(eddy_tensor var, eddy_constraint constraint)
{
    eddy_graph      *g = var.graph;
    const eddy_node *node = eddy_node_of(var);
    if (!eddy__graph_ready(g)) return eddy_none(eddy__graph_alive(g) ? g : NULL);
    if (!node || !(node->op->flags & EDDY_OP_VARIABLE))
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "variable_constrain: '%.200s' is not a variable",
                         eddy_name_of(var));
    kept *k = find(g, var.node);
    if (!k && !constraint.apply) return var;
    if (!k) {
        k = eddy__allocate_zeroed(eddy__graph_allocator(g), 1, sizeof *k);
        if (!k)
            return eddy_fail(g, EDDY_NO_MEMORY, "out of memory for the constraint of '%.200s'",
                             eddy_name_of(var));
        *k = (kept){ .allocator = *eddy__graph_allocator(g), .variable = var.node };
        if (!eddy_graph_own(g, k, release)) return eddy_none(g);
    }
    k->constraint = constraint;
    return var;
}

/** Returns whether a variable has a constraint, and stores it in *out.
 *
 *  var  any tensor, also an invalid one
 *  out  may be NULL; unchanged if there is no constraint
 *
 *  TensorFlow: Variable.constraint. */
bool eddy_variable_constraint(eddy_tensor var, eddy_constraint *out)
{
    const kept *k = eddy_node_of(var) ? find(var.graph, var.node) : NULL;
    if (!k || !k->constraint.apply) return false;
    if (out) *out = k->constraint;
    return true;
}

bool eddy__copy_constraints(eddy_copy *c)
{
    for (int32_t id = 1; c->has_variables && id <= c->size; id++) {
        const eddy_tensor var = eddy__tensor_at(c->from, id, 0);
        const eddy_node  *copy = c->needed[id] ? eddy_node_of(eddy__copy_image(c, var)) : NULL;
        eddy_constraint   constraint;
        if (copy && (copy->op->flags & EDDY_OP_VARIABLE) &&
            eddy_variable_constraint(var, &constraint))
            eddy_variable_constrain(eddy__copy_image(c, var), constraint);
    }
    return eddy__graph_ready(c->to);
}
