/* apply_gradients.c -- apply_gradients: builds the training operation from pairs of gradient and
 * variable. */
#include "optim/internal.h"
#include "graph/call_options.h"
#include "ops/ops.h"

#include <string.h>

/* "[a, b]", cut to size; returns buf. */
static char *print_names(const eddy_gradient_pair *pairs, int count, char *buf, size_t size)
{
    size_t n = 1;
    memcpy(buf, "[", 2);
    for (int i = 0; i < count && n + 1 < size; i++) {
        int more = snprintf(buf + n, size - n, "%s%s", i ? ", " : "",
                            eddy_name_of(pairs[i].variable));
        n += more > 0 ? (size_t)more : 0;
    }
    if (n + 4 < size) memcpy(buf + n, "]", 2);
    else if (size > 5) memcpy(buf + size - 5, "...]", 5);
    return buf;
}

/* --------------------------------------------------------------- arguments -- */

/* Their dense shape does not matter, that of a row does. */
static bool slices_fit(eddy_gradient_pair p)
{
    eddy_tensor values;
    char        a[128], b[128];
    eddy_slices_parts(p.gradient, &values, NULL);
    eddy_shape var = eddy_shape_of(p.variable), rows = eddy_shape_of(values);
    if (var.rank > 0) var.dim[0] = EDDY_ANY;
    if (eddy_variable_constraint(p.variable, NULL))
        eddy_fail(p.variable.graph, EDDY_INVALID_ARGUMENT,
                  "Cannot use a constraint function on a sparse variable. ('%s')",
                  eddy_name_of(p.variable));
    else if (var.rank == 0 || !eddy_shape_compatible(var, rows))
        eddy_fail(p.variable.graph, EDDY_BAD_SHAPE,
                  "var and grad must match in all dimensions except the first: '%s' %s, %s",
                  eddy_name_of(p.variable),
                  eddy_shape_print(eddy_shape_of(p.variable), a, sizeof a),
                  eddy_shape_print(rows, b, sizeof b));
    else return true;
    return false;
}

static bool pair_fits(const eddy_optimizer *o, eddy_gradient_pair p, int i)
{
    eddy_graph *const g = o->graph;
    char a[128], b[128];
    if (!eddy_is_valid(p.variable) || p.variable.graph != g)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "Trying to optimize unsupported type: pair %d has no variable of this graph", i);
    else if (p.gradient.node == 0) return true;
    else if (!eddy_is_valid(p.gradient) || p.gradient.graph != g)
        eddy_fail(g, EDDY_BAD_DTYPE,
                  "Gradient must be convertible to a Tensor or IndexedSlices, or None: "
                  "pair %d has no tensor of this graph", i);
    else if (!eddy__is_variable(p.variable))
        eddy_fail(g, EDDY_UNIMPLEMENTED, "Trying to update a Tensor '%s', not a variable",
                  eddy_name_of(p.variable));
    else if (eddy_dtype_of(p.gradient) != eddy_dtype_of(p.variable))
        eddy_fail(g, EDDY_BAD_DTYPE,
                  "apply_gradients: the gradient of '%s' is %s; %s expected",
                  eddy_name_of(p.variable), eddy_dtype_name(eddy_dtype_of(p.gradient)),
                  eddy_dtype_name(eddy_dtype_of(p.variable)));
    else if (eddy_dtype_is_complex(eddy_dtype_of(p.variable))
                 ? !o->def.takes_complex : !eddy_dtype_is_floating(eddy_dtype_of(p.variable)))
        eddy_fail(g, EDDY_BAD_DTYPE, "'%s' is %s, which %s does not support",
                  eddy_name_of(p.variable), eddy_dtype_name(eddy_dtype_of(p.variable)), o->name);
    else if (eddy_slices_parts(p.gradient, NULL, NULL)) return slices_fit(p);
    else if (!eddy_shape_compatible(eddy_shape_of(p.gradient), eddy_shape_of(p.variable)))
        eddy_fail(g, EDDY_BAD_SHAPE, "var and grad do not have the same shape: '%s' %s, %s",
                  eddy_name_of(p.variable),
                  eddy_shape_print(eddy_shape_of(p.variable), a, sizeof a),
                  eddy_shape_print(eddy_shape_of(p.gradient), b, sizeof b));
    else return true;
    return false;
}

static bool pairs_fit(const eddy_optimizer *o, const eddy_gradient_pair *pairs, int count)
{
    eddy_graph *const g = o->graph;
    char text[600];
    int  used = 0;
    if (!pairs || count <= 0) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "No variables provided.");
        return false;
    }
    for (int i = 0; i < count; i++) {
        if (!pair_fits(o, pairs[i], i)) return false;
        used += pairs[i].gradient.node != 0;
    }
    if (used == 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "No gradients provided for any variable: %s.",
                  print_names(pairs, count, text, sizeof text));
    return used > 0;
}

static bool step_fits(eddy_graph *g, eddy_tensor step)
{
    char text[128];
    if (step.node == 0) return true;
    if (!eddy__is_variable(step) || step.graph != g)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "apply_gradients: global_step is not a variable of this graph");
    else if (eddy_shape_of(step).rank > 0)
        eddy_fail(g, EDDY_BAD_SHAPE,
                  "apply_gradients: global_step '%s' has shape %s; expected a scalar",
                  eddy_name_of(step), eddy_shape_print(eddy_shape_of(step), text, sizeof text));
    return eddy__graph_ready(g);
}

/* ---------------------------------------------------------------- updates -- */

/* Creates slots without the control inputs of open scopes. */
static void create_slots(eddy_optimizer *o, const eddy_gradient_pair *pairs, int count)
{
    if (!o->def.create_slots) return;
    eddy_control_clear(o->graph);
    for (int i = 0; i < count; i++)
        if (pairs[i].gradient.node != 0) o->def.create_slots(o, pairs[i].variable);
    eddy_control_end(o->graph);
}

/* A gradient of partly unknown shape must have the variable's shape, or the run fails: it is
 * not broadcast. */
eddy_tensor eddy__shaped(eddy_tensor gradient, eddy_tensor variable)
{
    return eddy_shape_is_known(eddy_shape_of(gradient)) ? gradient
                                                        : eddy_reshape_like(gradient, variable);
}

/* Rows of partly unknown shape likewise, each that of the variable's that it changes. */
static eddy_tensor shaped_rows(eddy_tensor values, eddy_tensor indices, eddy_tensor variable)
{
    eddy_shape row = eddy_shape_of(values);
    if (row.rank > 0) row.dim[0] = 0;
    if (eddy_shape_is_known(row)) return values;
    return eddy_reshape_like(values, eddy_gather(variable, indices));
}

eddy_tensor eddy__constrained(eddy_tensor value, eddy_tensor variable)
{
    eddy_constraint c;
    eddy_graph     *g = variable.graph;
    if (!eddy_is_valid(value) || !eddy_variable_constraint(variable, &c)) return value;
    value = c.apply(value, c.context);
    if (eddy__graph_ready(g) && (!eddy_is_valid(value) || value.graph != g))
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "the constraint of '%s' does not return a tensor of this graph",
                  eddy_name_of(variable));
    return value;
}

/* variable <- constraint(variable), after the update. */
static eddy_tensor constrain(eddy_optimizer *o, eddy_tensor updated, eddy_tensor variable)
{
    const eddy_node *node = eddy_node_of(updated);
    if (!node || !eddy_variable_constraint(variable, NULL)) return updated;
    const bool yields = (node->op->flags & EDDY_OP_UPDATES) != 0 && node->n_outputs == 1 &&
                        eddy_same(node->inputs[0], variable);
    eddy_control_begin(o->graph, EDDY_LIST(updated));
    eddy_tensor value = yields ? updated : eddy_read(variable);
    updated = eddy_assign(variable, eddy__constrained(value, variable));
    eddy_control_end(o->graph);
    return updated;
}

static eddy_tensor update_rows(eddy_optimizer *o, eddy_tensor values, eddy_tensor indices,
                               eddy_gradient_pair p)
{
    values = shaped_rows(values, indices, p.variable);
    o->skip_negative = eddy_slices_skip_negative(p.gradient);
    if (!o->def.apply_sparse || !o->def.sums_duplicates) {
        values = o->skip_negative ? eddy_slices_sum_duplicates(values, indices)
                                  : eddy_slices_sum_duplicates_of(values, indices, p.variable);
        indices = eddy_output(values, 1);
    }
    if (!o->def.apply_sparse)
        return o->def.apply_dense(o, eddy_indexed_slices(values, indices, p.variable), p.variable);
    return o->def.apply_sparse(o, values, indices, p.variable);
}

static eddy_tensor update(eddy_optimizer *o, eddy_gradient_pair p)
{
    eddy_tensor values, indices;
    if (eddy_slices_parts(p.gradient, &values, &indices))
        return update_rows(o, values, indices, p);
    /* one that is called by another optimizer leaves it to that one */
    o->constrains = o->def.apply_dense == eddy__step_all;
    eddy_tensor updated = o->def.apply_dense(o, eddy__shaped(p.gradient, p.variable), p.variable);
    const bool  done = o->constrains;
    o->constrains = false;
    return done ? updated : constrain(o, updated, p.variable);
}

/* Builds the updates of all variables that have a gradient. Returns their number. last[id] is
 * one more than the index in `out` of the variable's last update, for which the next one waits. */
static int update_all(eddy_optimizer *o, const eddy_gradient_pair *pairs, int count,
                      eddy_tensor *out, int32_t *last)
{
    char scope[EDDY_MAX_NAME + 16];
    int  n = 0;
    for (int i = 0; i < count; i++) {
        if (pairs[i].gradient.node == 0) continue;
        int32_t *before = &last[pairs[i].variable.node];
        snprintf(scope, sizeof scope, "update_%s", eddy_name_of(pairs[i].variable));
        eddy_scope_begin(o->graph, scope);
        eddy_control_begin(o->graph, (eddy_list){ *before > 0, &out[*before - (*before > 0)] });
        out[n] = update(o, pairs[i]);
        eddy_control_end(o->graph);
        eddy_scope_end(o->graph);
        *before = n + 1;
        if (!eddy_is_valid(out[n++]))
            eddy_fail(o->graph, EDDY_INVALID_ARGUMENT, "%s: no update is returned for '%s'",
                      o->name, eddy_name_of(pairs[i].variable));
    }
    return n;
}

/* The operation named `scope`: all updates, followed by the increment of the step. */
static eddy_tensor finish(eddy_optimizer *o, eddy_list updates, eddy_tensor step, const char *scope)
{
    eddy_graph *g = o->graph;
    const bool  counts = step.node != 0;
    eddy_tensor done = o->def.finish ? o->def.finish(o, updates) : eddy_none(g);
    if (o->def.finish) updates = (eddy_list){ 1, &done };
    eddy_tensor all = eddy_group(g, updates, counts ? "update" : scope);
    if (!counts) return all;
    eddy_tensor one = eddy_number(g, eddy_dtype_of(step), 1);
    eddy_control_begin(g, EDDY_LIST(all));
    eddy_tensor counted = eddy_assign_add(step, one);
    eddy_control_end(g);
    return eddy_group(g, EDDY_LIST(counted), scope);
}

/* Builds the updates with a copy of the pairs that may be modified, and memory for the updates
 * and an index for each variable. */
static eddy_tensor apply_in(eddy_optimizer *o, const eddy_apply_gradients_args *a,
                            eddy_gradient_pair *pairs, eddy_tensor *updates, int32_t *last)
{
    eddy_graph *g = o->graph;
    create_slots(o, a->pairs, a->count);
    eddy_scope_begin(g, a->name && *a->name ? a->name : o->name);
    const char *scope = eddy_scope_name(g);
    if (o->def.prepare) o->def.prepare(o);
    if (o->def.transform && eddy__graph_ready(g)) o->def.transform(o, pairs, a->count);
    const int n = update_all(o, pairs, a->count, updates, last);
    eddy_tensor train = eddy_none(g);
    if (eddy__graph_ready(g)) train = finish(o, (eddy_list){ n, updates }, a->global_step, scope);
    eddy_scope_end(g);
    return train;
}

static eddy_tensor apply(eddy_optimizer *o, const eddy_apply_gradients_args *a)
{
    const eddy_allocator *memory = eddy__graph_allocator(o->graph);
    const size_t          bytes = (size_t)a->count * sizeof(eddy_tensor);
    const size_t          ids = (size_t)eddy_graph_size(o->graph) + 1;
    const size_t          of_pairs = (size_t)a->count * sizeof *a->pairs;
    eddy_tensor          *updates = eddy__allocate(memory, bytes), train = eddy_none(o->graph);
    int32_t              *last = eddy__allocate_zeroed(memory, ids, sizeof *last);
    eddy_gradient_pair   *pairs = eddy__allocate(memory, of_pairs);
    if (pairs) memcpy(pairs, a->pairs, of_pairs);
    if (updates && last && pairs) train = apply_in(o, a, pairs, updates, last);
    else eddy_fail(o->graph, EDDY_NO_MEMORY, "%s: out of memory (updates: %d)", o->name, a->count);
    eddy__release(memory, updates, bytes);
    eddy__release(memory, last, ids * sizeof *last);
    eddy__release(memory, pairs, of_pairs);
    return train;
}

eddy_tensor eddy_apply_gradients_with(const eddy_apply_gradients_args *given)
{
    eddy_apply_gradients_args a = EDDY_TAKE(eddy_apply_gradients_args, given);
    eddy_graph *g = eddy__optimizer_ready(a.optimizer);
    if (!g) {
        g = eddy_optimizer_graph(a.optimizer);
        if (!g && a.pairs && a.count > 0) g = a.pairs[0].variable.graph;
        return eddy_fail(g, EDDY_INVALID_ARGUMENT,
                         "apply_gradients: the optimizer is NULL or not valid");
    }
    if (!pairs_fit(a.optimizer, a.pairs, a.count) || !step_fits(g, a.global_step) ||
        !eddy__parts_fit(a.optimizer, a.pairs, a.count))
        return eddy_none(g);
    /* updates are computed in the type of the variable, also in mixed precision */
    void (*cast)(eddy_graph *, const eddy_op_def *, int, eddy_tensor *) = g->cast_inputs;
    g->cast_inputs = NULL;
    eddy_tensor train = apply(a.optimizer, &a);
    g->cast_inputs = cast;
    if (!eddy__graph_ready(g)) return eddy_none(g);
    if (!eddy_collection_has(g, EDDY_TRAIN_OP, train)) eddy_collection_add(g, EDDY_TRAIN_OP, train);
    return train;
}

/* ------------------------------------------------------- updates of layers -- */

/* The variable of an update and what it subtracts. */
static bool pair_of_update(eddy_tensor update, eddy_gradient_pair *p)
{
    *p = (eddy_gradient_pair){ eddy_input(update, 1), eddy_input(update, 0) };
    if (strcmp(eddy_type_of(update), "AssignSub") == 0) return true;
    eddy_fail(update.graph, EDDY_INVALID_ARGUMENT,
              "apply_update_ops: '%s' is %s; only updates that subtract (AssignSub) are steps "
              "of an optimizer", eddy_name_of(update), eddy_type_of(update));
    return false;
}

eddy_tensor eddy_apply_update_ops(eddy_optimizer *o, const char *scope)
{
    eddy_graph *g = eddy__optimizer_ready(o);
    if (!g) return eddy_none(eddy_optimizer_graph(o));
    const int           n = eddy_collection_get(g, EDDY_UPDATE_OPS, scope, NULL, 0);
    if (n == 0) return eddy_group(g, EDDY_LIST(), "update_ops");
    const size_t        bytes = (size_t)n * (sizeof(eddy_gradient_pair) + sizeof(eddy_tensor));
    eddy_gradient_pair *pairs = eddy__allocate(eddy__graph_allocator(g), bytes);
    if (!pairs) return eddy_fail(g, EDDY_NO_MEMORY, "apply_update_ops: out of memory");
    eddy_tensor *updates = (eddy_tensor *)(pairs + n);
    bool         fits = true;
    eddy_collection_get(g, EDDY_UPDATE_OPS, scope, updates, n);
    for (int i = 0; fits && i < n; i++) fits = pair_of_update(updates[i], &pairs[i]);
    eddy_tensor all = eddy_none(g);
    if (fits) all = eddy_apply_gradients(o, pairs, n, .name = "update_ops");
    eddy__release(eddy__graph_allocator(g), pairs, bytes);
    return all;
}

/* --------------------------------------------------------------- minimize -- */

static bool none_has_gradient(const eddy_pairs *p)
{
    for (int i = 0; i < p->count; i++)
        if (p->at[i].gradient.node != 0) return false;
    return true;
}

eddy_tensor eddy_minimize_with(const eddy_minimize_args *given)
{
    eddy_minimize_args a = EDDY_TAKE(eddy_minimize_args, given);
    char        text[500];
    eddy_pairs  p;
    eddy_graph *g = eddy__optimizer_ready(a.optimizer);
    if (!g) {
        g = eddy_optimizer_graph(a.optimizer);
        if (!g) g = a.loss.graph;
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "minimize: the optimizer is NULL or not valid");
    }
    const eddy_compute_gradients_args c = {
        .optimizer = a.optimizer, .loss = a.loss, .var_list = a.var_list,
        .gate_gradients = a.gate_gradients, .aggregation_method = a.aggregation_method,
        .colocate_gradients_with_ops = a.colocate_gradients_with_ops,
        .grad_loss = a.grad_loss, .loss_function = a.loss_function,
    };
    eddy_tensor train = eddy_none(g);
    if (eddy__pairs_compute(g, &c, &p) && none_has_gradient(&p))
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "No gradients provided for any variable, check your graph for ops that "
                  "do not support gradients, between variables %s and loss %s.",
                  print_names(p.at, p.count, text, sizeof text), eddy_name_of(p.loss));
    if (eddy__graph_ready(g))
        train = eddy_apply_gradients(a.optimizer, p.at, p.count, a.global_step, a.name);
    eddy__pairs_release(g, &p);
    return train;
}
