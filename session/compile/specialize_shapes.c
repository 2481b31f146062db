/* specialize_shapes.c -- shape specialization: selects the part of the graph that a run needs,
 * infers concrete types, and folds constants.
 *
 * Types are inferred again from the shapes of the feeds, so that every value that depends only
 * on shapes becomes a constant and is folded. */
#include "session/compile/program.h"

#include <string.h>

enum { FOLD_BYTES = 1 << 20, SHAPE_ELEMENTS = 64 };

int eddy__feed_of(const compile *c, eddy_tensor t)
{
    if (!c->info[t.node].fed) return -1;
    for (int i = 0; i < c->plan->n_feeds; i++)
        if (eddy_same(c->plan->feeds[i].tensor, t)) return i;
    return -1;
}

static eddy_type *type_at(const compile *c, eddy_tensor t)
{
    int feed = eddy__feed_of(c, t);
    return feed >= 0 ? &c->plan->feeds[feed].type : &c->info[t.node].types[t.output];
}

eddy_type eddy__concrete_type(const compile *c, eddy_tensor t) { return *type_at(c, t); }

const eddy_array *eddy__folded_value(const compile *c, eddy_tensor t)
{
    const node_info *n = &c->info[t.node];
    return n->folded && eddy__feed_of(c, t) < 0 ? n->folded[t.output] : NULL;
}

/* True if shape inference needs the elements of input i. Those of a dynamic op are used if they
 * are constant, but do not become part of the plan's key. */
static bool needs_elements(const eddy_node *node, int i)
{
    return eddy__input_is_in(node->op->value_inputs, i) && !(node->op->flags & EDDY_OP_DYNAMIC);
}

/* Only loops that slice it can read a stack whose length no plan knows. */
static bool may_read(const compile *c, const eddy_node *node, int i)
{
    const eddy_tensor x = node->inputs[i];
    if (!eddy__is_open_stack(c->graph->nodes[x.node], x.output)) return true;
    const eddy_loop_attrs *a = node->attrs;
    const int64_t row = i - (node->op->flags & EDDY_OP_LOOP ? a->counted + a->n_carried : i + 1);
    if (row >= 0 && row < a->n_sliced && a->open) return true;
    return eddy__error_set(c->error, EDDY_UNIMPLEMENTED,
                           "%s cannot read the stack of a loop without an iteration limit "
                           "[node '%.200s']", node->op->name, node->name);
}

static bool mark_input(compile *c, const eddy_node *node, int i)
{
    const node_info *n = &c->info[node->id];
    node_info       *input = &c->info[node->inputs[i].node];
    const bool       elements = eddy__has_body(node)
                                    ? c->bodies[node->id]->takes[i]
                                    : !eddy__input_is_in(node->op->shape_inputs, i);
    const bool       decides_shape = needs_elements(node, i) || (n->decides_shape && elements);
    input->needed = true;
    input->decides_shape = input->decides_shape || decides_shape;
    const bool value = decides_shape || (n->value_needed && elements);
    if (value && !may_read(c, node, i)) return false;
    input->value_needed = input->value_needed || value;
    /* of a node of which only the type is read, another with the same program may be computed */
    return eddy__body_want(c, node->inputs[i], value || (eddy__has_body(node) && elements));
}

/* The value of an argument of a body that is the same constant in all iterations, or NULL. */
static const eddy_array *constant_argument(const compile *c, int arg)
{
    return c->constants && arg < c->plan->n_feeds ? c->constants[arg] : NULL;
}

/* The node has run before this plan, outside of plans. */
static bool has_run(const compile *c, int32_t id)
{
    for (int i = 0; i < c->sizes.count; i++)
        if (c->sizes.at[i].node == id && c->sizes.at[i].output == EDDY_NODE_ITSELF)
            return c->info[id].fed || eddy__acts(c, c->graph->nodes[id]);
    return false;
}

static bool mark_needed(compile *c)
{
    for (int i = 0; i < c->plan->n_feeds; i++)
        if (!constant_argument(c, i)) c->info[c->plan->feeds[i].tensor.node].fed = true;
    for (int i = 0; i < c->plan->n_fetches; i++) {
        eddy_tensor t = c->plan->fetches[i];
        if (eddy__feed_of(c, t) < 0) c->info[t.node].needed = c->info[t.node].value_needed = true;
        if (!eddy__body_want(c, t, true)) return false;
    }
    for (int32_t id = c->size; id >= 1; id--) {
        if (!c->info[id].needed) continue;
        const eddy_node *node = c->graph->nodes[id];
        if (!eddy__body_find_inputs(c, node)) return false;
        for (int i = 0; i < node->n_inputs; i++)
            if ((eddy__feed_of(c, node->inputs[i]) < 0 ||
                 (i == 0 && (node->op->flags & EDDY_OP_REFERENCE))) &&
                !mark_input(c, node, i))
                return false;
        for (int i = 0; i < node->n_controls; i++) {
            node_info *control = &c->info[node->controls[i]];
            if (control->fed &&
                (c->graph->nodes[node->controls[i]]->op->flags & EDDY_OP_PLACEHOLDER))
                continue;
            if (has_run(c, node->controls[i])) continue;
            control->needed = true;
            control->value_needed = control->value_needed || c->info[id].value_needed;
        }
    }
    return true;
}

/* Marks nodes whose removal would be visible: a change of state, a message, or the error that a
 * placeholder was not fed. */
static void mark_effect(compile *c, const eddy_node *node)
{
    node_info *n = &c->info[node->id];
    n->effect = eddy__acts(c, node) ||
                ((node->op->flags & EDDY_OP_PLACEHOLDER) && !n->fed);
    for (int i = 0; i < node->n_inputs; i++)
        if (!eddy__input_is_in(node->op->shape_inputs, i) && eddy__feed_of(c, node->inputs[i]) < 0)
            n->effect = n->effect || c->info[node->inputs[i].node].effect;
    for (int i = 0; i < node->n_controls; i++)
        n->effect = n->effect || c->info[node->controls[i]].effect;
}

const eddy_array *eddy__shape_value(const compile *c, eddy_tensor t)
{
    int feed = eddy__feed_of(c, t);
    if (feed < 0) return eddy__folded_value(c, t);
    plan_feed *f = &c->plan->feeds[feed];
    f->keyed = f->value != NULL;
    return f->value;
}

/* A shape could not be inferred without the elements of t: remembers the first such tensor. */
static void note_missing_size(compile *c, eddy_tensor t)
{
    if (c->missing_size.node == 0) c->missing_size = t;
}

/* Gives the outputs of a dynamic op their maximum sizes. */
static void set_max_shapes(compile *c, const eddy_node *node)
{
    node_info       *info = &c->info[node->id];
    const eddy_shape s = eddy__concrete_type(c, node->inputs[0]).shape;
    for (int k = 0; eddy_shape_is_known(s) && k < node->n_outputs; k++) {
        eddy_shape *y = &info->types[k].shape;
        info->dynamic = info->dynamic || !eddy_shape_is_known(*y);
        for (int d = 0; d < y->rank; d++)
            if (y->dim[d] < 0) y->dim[d] = eddy_shape_count(s);
    }
}

/* The first operands often have the type of the result. */
static eddy_type *share_type(compile *c, const eddy_node *node)
{
    eddy_type *own = c->info[node->id].types, *y = own;
    for (int i = 0; i < node->n_inputs && i < 2 && y == own; i++)
        y = eddy__share_type(c, own, type_at(c, node->inputs[i]));
    return y;
}

static bool infer(compile *c, const eddy_node *node)
{
    enum { FEW = 8 };
    const int n = node->n_inputs;
    eddy_type          few_types[FEW], *in = few_types;
    const eddy_array  *few_values[FEW] = { NULL }, **value = few_values;
    if (n > FEW) {
        in = eddy__ir_alloc(c, (size_t)n, sizeof *in);
        value = eddy__ir_alloc(c, (size_t)n, sizeof *value);
    }
    if (!in || !value) return false;
    for (int i = 0; i < n; i++) {
        bool reference = i == 0 && (node->op->flags & EDDY_OP_REFERENCE);
        if (c->info[node->inputs[i].node].dynamic)
            return eddy__error_set(c->error, EDDY_INTERNAL, "'%s' reads what has no shape yet",
                                   node->name);
        in[i] = reference ? c->info[node->inputs[i].node].types[0]
                          : eddy__concrete_type(c, node->inputs[i]);
        if (needs_elements(node, i)) value[i] = eddy__shape_value(c, node->inputs[i]);
        else if (eddy__input_is_in(node->op->value_inputs, i))
            value[i] = eddy__folded_value(c, node->inputs[i]);
    }
    node_info *info = &c->info[node->id];
    if (!eddy__infer_node(node, in, value, &c->scratch, &info->types, c->error)) return false;
    if (node->op->flags & EDDY_OP_DYNAMIC) set_max_shapes(c, node);
    else if (node->n_outputs == 1) info->types = share_type(c, node);
    if (info->dynamic && c->plan->embedded) {
        c->varies = true;
        return eddy__error_set(c->error, EDDY_UNIMPLEMENTED,
                               "%s: the shape of output %d depends on data [node '%s']",
                               node->op->name, 0, node->name);
    }
    bool known = true;
    for (int k = 0; k < node->n_outputs; k++)
        known = known && eddy_shape_is_known(info->types[k].shape);
    for (int i = 0; i < n && !known; i++)
        if (needs_elements(node, i) && !value[i]) note_missing_size(c, node->inputs[i]);
    return true;
}

/* A node that only prints its input equals that input where nothing has side effects. */
static bool passes_on(const compile *c, const eddy_node *node)
{
    if (!c->quiet || !(node->op->flags & EDDY_OP_SIDE_EFFECT) || eddy__acts(c, node)) return false;
    if (node->n_outputs != 1 || node->n_inputs < 1) return false;
    const eddy_type x = eddy__concrete_type(c, node->inputs[0]), y = c->info[node->id].types[0];
    return x.dtype == y.dtype && eddy_shape_equal(x.shape, y.shape);
}

static bool is_alias(const compile *c, const eddy_node *node)
{
    if ((node->op->flags & EDDY_OP_ALIAS) || passes_on(c, node)) return true;
    if (!(node->op->flags & EDDY_OP_ALIAS_IF_EQUAL) || node->n_outputs != 1) return false;
    const int64_t count = eddy_shape_count(c->info[node->id].types[0].shape);
    return count >= 0 &&
           count == eddy_shape_count(eddy__concrete_type(c, node->inputs[0]).shape);
}

/* True if the variable's value fits its static shape, which may have been narrowed since. Frees
 * memory that was allocated for a value to come and does not fit. */
static bool value_fits(const eddy_node *node, eddy_state *state, eddy_error *error)
{
    if (!state->value) return true;
    const eddy_type held = { eddy_array_dtype(state->value), eddy_array_shape(state->value) };
    if (state->initialized) return eddy__value_fits(node, held, error);
    if (eddy_shape_compatible(node->outputs[0].shape, held.shape)) return true;
    eddy_array_free(state->value);
    state->value = NULL;
    return true;
}

/* A variable has its static type, or the shape of the value it holds. */
static bool variable_type(compile *c, const eddy_node *node)
{
    node_info *info = &c->info[node->id];
    info->types = eddy__ir_alloc(c, 1, sizeof *info->types);
    if (!info->types) return false;
    info->types[0] = node->outputs[0];
    eddy_state *state = eddy__session_state(c->session, node->id);
    if (!state)
        return eddy__error_set(c->error, EDDY_NO_MEMORY, "out of memory for the variable '%s'",
                               node->name);
    if (!value_fits(node, state, c->error)) return false;
    if (!eddy_shape_is_known(info->types[0].shape) && state->value)
        info->types[0].shape = eddy_array_shape(state->value);
    return true;
}

/* -------------------------------------------------------------- folding -- */

/* The elements of an operand if they are known at compile time. Those of feeds are used only to
 * determine shapes. */
static const eddy_array *known_value(const compile *c, const eddy_node *node, int i)
{
    return c->info[node->id].decides_shape ? eddy__shape_value(c, node->inputs[i])
                                           : eddy__folded_value(c, node->inputs[i]);
}

/* True if folding the node would make fed elements part of the plan's key. Of what is reduced, such
 * as lengths of which the largest is a size, only the result should be: a stage computes it. */
static bool reads_fed_elements(const compile *c, const eddy_node *node)
{
    for (int i = 0; i < node->n_inputs; i++) {
        const eddy_tensor t = node->inputs[i];
        if (eddy__input_is_in(node->op->shape_inputs, i)) continue;
        if (eddy__feed_of(c, t) >= 0 || c->info[t.node].fed_elements) return true;
    }
    return false;
}

static bool is_foldable(const compile *c, const eddy_node *node)
{
    enum {
        NEVER = EDDY_OP_STATEFUL | EDDY_OP_SIDE_EFFECT | EDDY_OP_VARIABLE | EDDY_OP_PLACEHOLDER
    };
    const node_info *info = &c->info[node->id];
    uint64_t bytes = 0;
    bool     small = true;
    if ((node->op->flags & NEVER) || info->effect || !info->value_needed || node->n_outputs == 0)
        return false;
    if (node->op->fold && reads_fed_elements(c, node)) return false;
    if (info->dynamic || (!info->alias && !eddy__kernel_of(node->op))) return false;
    for (int k = 0; k < node->n_outputs; k++) {
        int64_t count = eddy_shape_count(info->types[k].shape);
        if (count < 0) return false;
        bytes += (uint64_t)count * eddy_dtype_size(info->types[k].dtype);
        small = small && count <= SHAPE_ELEMENTS && eddy_dtype_is_integer(info->types[k].dtype);
    }
    const bool without = (c->without & EDDY_PASS_FOLD) != 0;
    if (!small && (bytes > FOLD_BYTES || without)) return false;
    for (int i = 0; i < node->n_inputs; i++) {
        const eddy_tensor t = node->inputs[i];
        if (eddy__input_is_in(node->op->shape_inputs, i)) {
            if (!eddy_shape_is_known(eddy__concrete_type(c, t).shape)) return false;
        } else if (!(small ? known_value(c, node, i) : eddy__folded_value(c, t))) return false;
    }
    return true;
}

/* An alias of a constant: the same elements under another shape. */
static eddy_array *reshaped(const compile *c, const eddy_array *a, eddy_shape s)
{
    eddy_array *copy = eddy_array_new_in(&c->session->allocator, eddy_array_dtype(a), s);
    if (copy && eddy_array_bytes(a) > 0)
        memcpy(eddy_array_data(copy), eddy_array_data(a), eddy_array_bytes(a));
    return copy;
}

/* Runs the node's kernel on constants. */
static bool compute(compile *c, const eddy_node *node, eddy_array **out)
{
    int          n = node->n_inputs, m = node->n_outputs;
    eddy_buffer *b = eddy__ir_alloc(c, (size_t)(n + m), sizeof *b);
    if (!b) return false;
    for (int k = 0; k < n; k++) {
        const bool type_only = eddy__input_is_in(node->op->shape_inputs, k);
        b[k] = eddy__buffer_of(eddy__concrete_type(c, node->inputs[k]),
                               eddy_array_data(type_only ? NULL : known_value(c, node, k)));
    }
    for (int k = 0; k < m; k++)
        b[n + k] = eddy__buffer_of(c->info[node->id].types[k], eddy_array_data(out[k]));
    return eddy__run_single_op(c->plan, c->graph, node, b, 0, c->error);
}

/* A kernel has failed. True if the node is of a body, which may be a branch that does not run: then
 * the run says so if it executes the node. */
static bool fails_in_run(compile *c)
{
    const eddy_status s = c->error->status;
    if (!c->plan->embedded || s == EDDY_NO_MEMORY || s == EDDY_CANCELLED || s == EDDY_TIMED_OUT)
        return false;
    *c->error = c->plan->error = (eddy_error){ 0 };
    return true;
}

static bool fold(compile *c, const eddy_node *node)
{
    node_info   *info = &c->info[node->id];
    eddy_array **out = eddy__ir_alloc(c, (size_t)node->n_outputs, sizeof *out);
    if (!out) return false;
    const eddy_array *constant = eddy_constant_value(eddy__tensor_at(c->graph, node->id, 0));
    for (int k = 0; k < node->n_outputs; k++) {
        if (constant) out[k] = eddy_array_retain((eddy_array *)(uintptr_t)constant);
        else if (info->alias)
            out[k] = reshaped(c, known_value(c, node, 0), info->types[k].shape);
        else
            out[k] = eddy_array_new_in(&c->session->allocator, info->types[k].dtype,
                                       info->types[k].shape);
        if (!out[k])
            return eddy__error_set(c->error, EDDY_NO_MEMORY, "out of memory while folding '%s'",
                                   node->name);
        if (!eddy__plan_keep(c, out[k])) return false;
    }
    if (!constant && !info->alias) {
        if (!compute(c, node, out)) return fails_in_run(c);
        c->plan->info.folded++;
    }
    info->folded = out;
    info->fed_elements = reads_fed_elements(c, node);
    return true;
}

/* Arguments are the first nodes of a body. */
static bool set_constant(compile *c, const eddy_node *node)
{
    node_info        *info = &c->info[node->id];
    const eddy_array *value = constant_argument(c, node->id - 1);
    info->types = eddy__ir_alloc(c, 1, sizeof *info->types);
    info->folded = eddy__ir_alloc(c, 1, sizeof *info->folded);
    if (!info->types || !info->folded) return false;
    info->types[0] = c->plan->feeds[node->id - 1].type;
    info->folded[0] = eddy_array_retain((eddy_array *)(uintptr_t)value);
    return eddy__plan_keep(c, info->folded[0]);
}

static bool specialize_node(compile *c, const eddy_node *node)
{
    if (constant_argument(c, node->id - 1)) return set_constant(c, node);
    mark_effect(c, node);
    bool ok = node->op->flags & EDDY_OP_VARIABLE ? variable_type(c, node)
              : eddy__has_body(node)              ? eddy__body_compile(c, node)
                                                  : infer(c, node);
    if (!ok) return false;
    c->info[node->id].alias = is_alias(c, node);
    bool constant = (node->op->flags & EDDY_OP_CONSTANT) != 0;
    return constant || is_foldable(c, node) ? fold(c, node) : true;
}

bool eddy__specialize_shapes(compile *c)
{
    if (!mark_needed(c)) return false;
    for (int32_t id = 1; id <= c->size; id++) {
        if (!c->info[id].needed) continue;
        c->plan->info.nodes++;
        if (!specialize_node(c, c->graph->nodes[id])) return false;
    }
    return true;
}
