/* import_graph.c -- eddy_import: a part of one graph copied into another. */
#include "graph/call_options.h"
#include "graph/copy.h"
#include "ops/ops.h"
#include "ops/state/constraint.h"

#include <string.h>

#ifdef EDDY_HEADER
typedef struct eddy_import_args {
    size_t       size_ EDDY_DEFAULT(sizeof(eddy_import_args));
    eddy_graph  *graph;           /* receives the nodes */
    eddy_graph  *other;           /* is copied from; may be the same graph */
    const char  *scope;           /* name scope of the copies; default: none */
    eddy_list outputs; /* tensors or operations of `other`; default: its EDDY_MODEL_OUTPUTS */
    eddy_replacements inputs;          /* tensors of `other`, and those of `graph` in their place */
    eddy_tensor *results;         /* receives the copy of each output; default: nothing */
    /* use the variables of `graph` with the same names instead of new ones */
    bool         share_variables;
} eddy_import_args;
#endif

static bool graphs_fit(const eddy_import_args *a)
{
    eddy_graph *g = a->graph;
    if (!eddy__graph_ready(g)) return false;
    if (!eddy__graph_alive(a->other))
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "import: `other` is not a graph");
    else if (!eddy__graph_ready(a->other))
        eddy_fail(g, eddy_graph_status(a->other), "import: `other` has an error: %.700s",
                  eddy_graph_message(a->other));
    return eddy__graph_ready(g);
}

static bool list_fits(const eddy_import_args *a, int count, const void *at, const char *what)
{
    if (count >= 0 && (count == 0 || at)) return true;
    eddy_fail(a->graph, EDDY_INVALID_ARGUMENT, "import: `%s` is not a valid list (count %d)", what,
              count);
    return false;
}

static bool pair_fits(const eddy_import_args *a, int i)
{
    const eddy_replacement  p = a->inputs.at[i];
    const eddy_node *was = p.tensor.graph == a->other ? eddy_node_of(p.tensor) : NULL,
                    *now = p.by.graph == a->graph ? eddy_node_of(p.by) : NULL;
    char             x[100], y[100];
    if (!was || was->n_outputs == 0 || !now || now->n_outputs == 0) {
        eddy_fail(a->graph, EDDY_INVALID_ARGUMENT,
                  "import: input %d is not a tensor of `other` and "
                  "one of the graph that takes its place",
                  i);
        return false;
    }
    const eddy_type from = was->outputs[p.tensor.output], to = now->outputs[p.by.output];
    if (from.dtype == to.dtype && eddy_shape_compatible(from.shape, to.shape)) return true;
    eddy_fail(a->graph, from.dtype != to.dtype ? EDDY_BAD_DTYPE : EDDY_BAD_SHAPE,
              "import: '%.200s' is %s, but '%.200s' in its place is %s", was->name,
              eddy_type_print(from, x, sizeof x), now->name, eddy_type_print(to, y, sizeof y));
    return false;
}

static bool set_inputs(eddy_copy *c, const eddy_import_args *a)
{
    for (int i = 0; i < a->inputs.count; i++) {
        const eddy_replacement p = a->inputs.at[i];
        if (!pair_fits(a, i)) return false;
        if (eddy_is_valid(eddy__copy_image(c, p.tensor))) {
            eddy_fail(a->graph, EDDY_INVALID_ARGUMENT, "import: '%.200s' is given twice",
                      eddy_name_of(p.tensor));
            return false;
        }
        if (!eddy__copy_set_image(c, p.tensor, p.by)) return false;
        c->changed[p.tensor.node] |=
            !eddy_shape_equal(eddy_shape_of(p.tensor), eddy_shape_of(p.by));
    }
    return true;
}

static eddy_tensor variable_named(eddy_graph *g, const char *name)
{
    const eddy_name_entry *e = eddy__names_find(g, name, strlen(name));
    const eddy_node *node = e && e->node > 0 ? g->nodes[e->node] : NULL;
    const bool found = node && strcmp(node->name, name) == 0 &&
                       (node->op->flags & EDDY_OP_VARIABLE);
    return found ? eddy__tensor_at(g, node->id, 0) : eddy_none(g);
}

/* Before the search: so that the initial values are not needed. */
static bool share_variables(eddy_copy *c)
{
    for (int32_t id = 1; id <= c->size; id++) {
        const eddy_node *node = c->from->nodes[id];
        if (!(node->op->flags & EDDY_OP_VARIABLE)) continue;
        const eddy_tensor there = variable_named(c->to, node->name);
        if (there.node == 0 || eddy_dtype_of(there) != node->outputs[0].dtype ||
            !eddy_shape_compatible(eddy_shape_of(there), node->outputs[0].shape))
            continue;
        if (!eddy__copy_set_image(c, eddy__tensor_at(c->from, id, 0), there)) return false;
    }
    return true;
}

/* A variable that is still needed was not found, or does not fit. */
static bool all_are_shared(const eddy_copy *c)
{
    char want[100], have[100];
    for (int32_t id = 1; id <= c->size; id++) {
        const eddy_node *node = c->from->nodes[id];
        if (!c->needed[id] || !(node->op->flags & EDDY_OP_VARIABLE)) continue;
        const eddy_tensor there = variable_named(c->to, node->name);
        if (there.node == 0) {
            eddy_fail(c->to, EDDY_NOT_FOUND, "import: there is no variable '%.200s' to share",
                      node->name);
            return false;
        }
        const eddy_type is = { eddy_dtype_of(there), eddy_shape_of(there) };
        eddy_fail(c->to, is.dtype != node->outputs[0].dtype ? EDDY_BAD_DTYPE : EDDY_BAD_SHAPE,
                  "import: the variable '%.200s' is %s, but the one to share is %s", node->name,
                  eddy_type_print(node->outputs[0], want, sizeof want),
                  eddy_type_print(is, have, sizeof have));
        return false;
    }
    return true;
}

static bool inputs_are_used(const eddy_copy *c, const eddy_import_args *a)
{
    for (int i = 0; i < a->inputs.count; i++) {
        const eddy_tensor t = a->inputs.at[i].tensor;
        bool used = false;
        for (int k = 0; k < a->outputs.count; k++) used |= eddy_same(a->outputs.at[k], t);
        if (used || eddy__copy_reads(c, t)) continue;
        eddy_fail(c->to, EDDY_INVALID_ARGUMENT, "import: no output depends on the input '%.200s'",
                  eddy_name_of(t));
        return false;
    }
    return true;
}

static bool stays(const char *key)
{
    return strcmp(key, EDDY_MODEL_INPUTS) == 0 || strcmp(key, EDDY_MODEL_OUTPUTS) == 0 ||
           strcmp(key, EDDY_GLOBAL_STEP) == 0;
}

static bool copy_part(eddy_copy *c, const eddy_import_args *a)
{
    if (!set_inputs(c, a) || !eddy__copy_effects(c)) return false;
    if (a->share_variables && !share_variables(c)) return false;
    for (int i = 0; i < a->outputs.count; i++) eddy__copy_need(c, a->outputs.at[i]);
    eddy__copy_find(c);
    if ((a->share_variables && !all_are_shared(c)) || !inputs_are_used(c, a)) return false;
    if (a->scope && *a->scope) eddy_scope_begin(a->graph, a->scope);
    const bool ok = eddy__copy_nodes(c);
    if (a->scope && *a->scope) eddy_scope_end(a->graph);
    return ok && eddy__copy_collections(c, stays) && eddy__copy_constraints(c);
}

static eddy_tensor import(const eddy_import_args *a)
{
    eddy_graph *g = a->graph;
    eddy_tensor first = eddy_none(g);
    eddy_copy   c;
    for (int i = 0; i < a->outputs.count; i++)
        if (a->outputs.at[i].graph != a->other || !eddy_is_valid(a->outputs.at[i]))
            return eddy_fail(g, EDDY_INVALID_ARGUMENT,
                             "import: output %d is not a tensor of `other`", i);
    const bool ok = eddy__copy_begin(&c, a->other, g) && copy_part(&c, a);
    for (int i = 0; ok && i < a->outputs.count; i++) {
        const eddy_tensor image = eddy__copy_image(&c, a->outputs.at[i]);
        if (a->results) a->results[i] = image;
        if (i == 0) first = image;
    }
    eddy__copy_end(&c);
    return first;
}

/** Copies the nodes that the outputs need from another graph, under a name scope, with other
 *  tensors in the place of some; returns the copy of the first output.
 *
 *    eddy_tensor y = eddy_import(g, teacher, .scope = "teacher",
 *                                .inputs = EDDY_REPLACE({ eddy_graph_tensor(teacher, "x:0"), x }),
 *                                .outputs = EDDY_LIST(eddy_graph_tensor(teacher, "y:0")));
 *
 *  inputs           a pair has equal element types and compatible shapes; shapes of what depends
 *                   on it are inferred again.  Placeholders that are not replaced are copied
 *  outputs          an output that is an input is the tensor in its place
 *  results          room for as many tensors as there are outputs; all invalid after an error
 *  share_variables  each variable that the outputs need must be in `graph`, with its element type
 *                   and a compatible shape
 *
 *  New variables have the initial values, collections and constraints of those of `other`, and no
 *  values: initialize or restore them.  Other collections are copied too, as far as their tensors
 *  are, except EDDY_MODEL_INPUTS, EDDY_MODEL_OUTPUTS and EDDY_GLOBAL_STEP.  Control edges to nodes
 *  with side effects are kept with those nodes; open control blocks of `graph` do not apply.
 *  Nodes keep the names of their registered gradients, which must be registered in `graph` before
 *  they are needed.  Random operations draw with the seed of `graph`, as if they had been built
 *  there.  `other` is not changed and may be freed afterwards; functions and contexts of the user's
 *  operations are shared.
 *
 *  Errors: INVALID_ARGUMENT if there is no such graph or output, for tensors of other graphs, and
 *  for an input that no output needs or that is given twice; BAD_DTYPE and BAD_SHAPE for pairs,
 *  and for shared variables; NOT_FOUND if there is no variable to share; the error of `other`, if
 *  it has one; those of the operations; NO_MEMORY.
 *  TensorFlow: import_graph_def, import_meta_graph. */
eddy_tensor eddy_import_with(const eddy_import_args *given)
{
    eddy_import_args a = EDDY_TAKE(eddy_import_args, given);
    const bool valid = graphs_fit(&a) && list_fits(&a, a.outputs.count, a.outputs.at, "outputs") &&
                       list_fits(&a, a.inputs.count, a.inputs.at, "inputs");
    for (int i = 0; a.results && a.outputs.at && i < a.outputs.count; i++)
        a.results[i] = eddy_none(eddy__graph_alive(a.graph) ? a.graph : NULL);
    if (!valid) return eddy_none(eddy__graph_alive(a.graph) ? a.graph : NULL);
    if (a.outputs.count > 0) return import(&a);
    const int    n = eddy_collection_size(a.other, EDDY_MODEL_OUTPUTS);
    const size_t bytes = (size_t)n * sizeof(eddy_tensor);
    if (n == 0)
        return eddy_fail(a.graph, EDDY_INVALID_ARGUMENT, "import: no outputs are given, and the "
                         "graph has no collection '%s'", EDDY_MODEL_OUTPUTS);
    eddy_tensor *all = eddy__allocate(eddy__graph_allocator(a.graph), bytes);
    if (!all) return eddy_fail(a.graph, EDDY_NO_MEMORY, "import: out of memory");
    eddy_collection_get(a.other, EDDY_MODEL_OUTPUTS, NULL, all, n);
    a.outputs = (eddy_list){ n, all };
    for (int i = 0; a.results && i < n; i++) a.results[i] = eddy_none(a.graph);
    const eddy_tensor y = import(&a);
    eddy__release(eddy__graph_allocator(a.graph), all, bytes);
    return y;
}
