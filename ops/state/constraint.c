/* constraint.c -- variable constraints: a function that optimizers apply to a variable after
 * each update. */
#include "graph/internal.h"
#include "ops/ops.h"

#ifdef EDDY_HEADER
/* `apply` builds, from a variable's value, the one that it gets instead, of its type and
 * shape.  A plain struct, copied freely; what `context` points to must outlive the last
 * call of eddy_apply_gradients. */
typedef struct eddy_constraint {
    eddy_tensor (*apply)(eddy_tensor value, void *context);
    void         *context;
} eddy_constraint;
#endif

/* Belongs to the graph, which frees it. */
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

/* The constraint of a variable among what the graph owns; NULL. */
static kept *find(const eddy_graph *g, int32_t variable)
{
    for (int i = 0; i < g->n_owned; i++) {
        kept *k = g->owned[i].object;
        if (g->owned[i].release == release && k->variable == variable) return k;
    }
    return NULL;
}

/** Sets the constraint of a variable, replacing its old one: the same as .constraint of
 *  eddy_variable.
 *
 *  var         a variable
 *  constraint  .apply NULL: none from now on
 *
 *  Returns var. Train steps that are built already stay as they are, and a graph file
 *  keeps what a step was built of, not the function.
 *  Errors: INVALID_ARGUMENT if var is no variable; NO_MEMORY. TensorFlow's
 *  Variable(constraint=...). */
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

/** Whether a variable has a constraint; if so, *out is it.
 *
 *  var  any tensor, invalid ones too
 *  out  may be NULL; left alone if the answer is no
 *
 *  TensorFlow's Variable.constraint. */
bool eddy_variable_constraint(eddy_tensor var, eddy_constraint *out)
{
    const kept *k = eddy_node_of(var) ? find(var.graph, var.node) : NULL;
    if (!k || !k->constraint.apply) return false;
    if (out) *out = k->constraint;
    return true;
}
