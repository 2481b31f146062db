/* specialise.c -- which part of the graph a run needs, with concrete types.
 *
 * Types are inferred again from the shapes that are fed, so that everything
 * which depends on shapes alone is a constant here and is folded away. */
#include "session/internal.h"
#include "ops/elementwise.h"

#include <string.h>

enum { FOLD_BYTES = 1 << 20, SHAPE_ELEMENTS = 64 };

int eddy_feed_of(const compile *c, eddy_tensor t)
{
    if (!c->info[t.node].fed) return -1;
    for (int i = 0; i < c->plan->n_feeds; i++)
        if (eddy_same(c->plan->feeds[i].tensor, t)) return i;
    return -1;
}

eddy_type eddy_concrete_type(const compile *c, eddy_tensor t)
{
    int feed = eddy_feed_of(c, t);
    return feed >= 0 ? c->plan->feeds[feed].type : c->info[t.node].types[t.output];
}

const eddy_array *eddy_folded_value(const compile *c, eddy_tensor t)
{
    const node_info *n = &c->info[t.node];
    return n->folded && eddy_feed_of(c, t) < 0 ? n->folded[t.output] : NULL;
}

static void mark_needed(compile *c)
{
    for (int i = 0; i < c->plan->n_feeds; i++) c->info[c->plan->feeds[i].tensor.node].fed = true;
    for (int i = 0; i < c->plan->n_fetches; i++) {
        eddy_tensor t = c->plan->fetches[i];
        if (eddy_feed_of(c, t) < 0) c->info[t.node].needed = true;
    }
    for (int32_t id = c->size; id >= 1; id--) {
        if (!c->info[id].needed) continue;
        const eddy_node *node = c->graph->nodes[id];
        for (int i = 0; i < node->n_inputs; i++)
            if (eddy_feed_of(c, node->inputs[i]) < 0 ||
                (i == 0 && (node->op->flags & EDDY_OP_REFERENCE)))
                c->info[node->inputs[i].node].needed = true;
        for (int i = 0; i < node->n_controls; i++)
            if (!(c->info[node->controls[i]].fed &&
                  (c->graph->nodes[node->controls[i]]->op->flags & EDDY_OP_PLACEHOLDER)))
                c->info[node->controls[i]].needed = true;
    }
}

/* What somebody could miss if it were left out of the run: a change, a message,
 * or the error that a placeholder was not fed. */
static void mark_effect(compile *c, const eddy_node *node)
{
    node_info *n = &c->info[node->id];
    n->effect = (node->op->flags & EDDY_OP_SIDE_EFFECT) ||
                ((node->op->flags & EDDY_OP_PLACEHOLDER) && !n->fed);
    for (int i = 0; i < node->n_inputs; i++)
        if (!(i < 32 && (node->op->shape_inputs >> i & 1)) && eddy_feed_of(c, node->inputs[i]) < 0)
            n->effect = n->effect || c->info[node->inputs[i].node].effect;
    for (int i = 0; i < node->n_controls; i++)
        n->effect = n->effect || c->info[node->controls[i]].effect;
}

/* The elements of input t, which decide a shape; fed ones become part of the
 * plan's key. */
static const eddy_array *shape_value(const compile *c, eddy_tensor t)
{
    int feed = eddy_feed_of(c, t);
    if (feed < 0) return eddy_folded_value(c, t);
    c->plan->feeds[feed].keyed = true;
    return c->plan->feeds[feed].value;
}

static bool infer(compile *c, const eddy_node *node)
{
    enum { FEW = 8 };
    int n = node->n_inputs, n_out = 0;
    eddy_type          few_types[FEW], *in = few_types;
    const eddy_array  *few_values[FEW] = { NULL }, **value = few_values;
    if (n > FEW) {
        in = eddy_plan_alloc(c, (size_t)n, sizeof *in);
        value = eddy_plan_alloc(c, (size_t)n, sizeof *value);
    }
    if (!in || !value) return false;
    for (int i = 0; i < n; i++) {
        bool reference = i == 0 && (node->op->flags & EDDY_OP_REFERENCE);
        in[i] = reference ? c->info[node->inputs[i].node].types[0]
                          : eddy_concrete_type(c, node->inputs[i]);
        if (i < 32 && (node->op->value_inputs >> i & 1)) value[i] = shape_value(c, node->inputs[i]);
    }
    node_info *info = &c->info[node->id];
    if (!eddy_infer_types(node->op, (void *)(uintptr_t)node->attrs, true, n, in, value,
                          &c->plan->arena, &info->types, &n_out, node->name, c->error))
        return false;
    if (n_out != node->n_outputs)
        return eddy_error_set(c->error, EDDY_INTERNAL,
                              "%s has %d outputs now and had %d [node '%s']", node->op->name, n_out,
                              (int)node->n_outputs, node->name);
    return true;
}

/* A variable has its static type, or the shape of the value it holds. */
static bool variable_type(compile *c, const eddy_node *node)
{
    node_info *info = &c->info[node->id];
    info->types = eddy_plan_alloc(c, 1, sizeof *info->types);
    if (!info->types) return false;
    info->types[0] = node->outputs[0];
    eddy_state *state = eddy_session_state(c->session, node->id);
    if (!state)
        return eddy_error_set(c->error, EDDY_NO_MEMORY, "out of memory for the variable '%s'",
                              node->name);
    if (!eddy_shape_is_known(info->types[0].shape) && state->value)
        info->types[0].shape = eddy_array_shape(state->value);
    return true;
}

/* -------------------------------------------------------------- folding -- */

static bool is_foldable(const compile *c, const eddy_node *node)
{
    enum {
        NEVER = EDDY_OP_STATEFUL | EDDY_OP_SIDE_EFFECT | EDDY_OP_VARIABLE | EDDY_OP_PLACEHOLDER
    };
    const node_info *info = &c->info[node->id];
    size_t bytes = 0;
    bool   small = true;
    if ((node->op->flags & NEVER) || info->effect || node->n_outputs == 0) return false;
    for (int k = 0; k < node->n_outputs; k++) {
        int64_t count = eddy_shape_count(info->types[k].shape);
        if (count < 0) return false;
        bytes += (size_t)count * eddy_dtype_size(info->types[k].dtype);
        small = small && count <= SHAPE_ELEMENTS && eddy_dtype_is_integer(info->types[k].dtype);
    }
    for (int i = 0; i < node->n_inputs; i++) {
        bool type_only = i < 32 && (node->op->shape_inputs >> i & 1);
        if (!type_only && !eddy_folded_value(c, node->inputs[i])) return false;
        if (type_only && !eddy_shape_is_known(eddy_concrete_type(c, node->inputs[i]).shape))
            return false;
    }
    return small || (bytes <= FOLD_BYTES && !c->session->options.no_folding);
}

static void set_buffer(eddy_buffer *b, eddy_type t, void *data)
{
    *b = (eddy_buffer){ .data = data, .count = eddy_shape_count(t.shape), .type = t };
}

/* An alias of a constant: the same elements under another shape. */
static eddy_array *reshaped(const compile *c, const eddy_array *a, eddy_shape s)
{
    eddy_array *copy = eddy_array_new_in(&c->session->allocator, eddy_array_dtype(a), s);
    if (copy && eddy_array_bytes(a) > 0)
        memcpy(eddy_array_data(copy), eddy_array_data(a), eddy_array_bytes(a));
    return copy;
}

/* Runs the node's kernel on constants, in a one-instruction plan of its own. */
static bool compute(compile *c, const eddy_node *node, eddy_array **out)
{
    node_info   *info = &c->info[node->id];
    eddy_plan   *p = c->plan;
    instruction *i = eddy_plan_alloc(c, 1, sizeof *i);
    int          n = node->n_inputs, m = node->n_outputs;
    eddy_buffer *b = eddy_plan_alloc(c, (size_t)(n + m), sizeof *b),
                **at = eddy_plan_alloc(c, (size_t)(n + m), sizeof *at);
    if (!i || !b || !at) return false;
    for (int k = 0; k < n; k++) {
        const eddy_array *v = eddy_folded_value(c, node->inputs[k]);
        set_buffer(&b[k], eddy_concrete_type(c, node->inputs[k]), eddy_array_data(v));
        at[k] = &b[k];
    }
    for (int k = 0; k < m; k++) {
        set_buffer(&b[n + k], info->types[k], eddy_array_data(out[k]));
        at[n + k] = &b[n + k];
    }
    i->plan = p;
    i->node = node;
    i->kernel = (eddy_kernel){ .op = node->op,
                               .attrs = node->attrs,
                               .in = at,
                               .out = at + n,
                               .n_in = n,
                               .n_out = m,
                               .graph_seed = c->graph->seed,
                               .op_seed = node->id,
                               .impl = i };
    eddy_status (*prepare)(eddy_kernel *) =
        node->op->flags & EDDY_OP_ELEMENTWISE ? eddy_elementwise_prepare : node->op->prepare;
    eddy_status s = prepare ? prepare(&i->kernel) : EDDY_OK;
    void *scratch = NULL;
    if (s == EDDY_OK && i->kernel.scratch_size > 0) {
        scratch = eddy_allocate(&c->session->allocator, i->kernel.scratch_size);
        i->kernel.scratch = scratch;
        if (!scratch) s = eddy_kernel_fail(&i->kernel, EDDY_NO_MEMORY, "out of memory");
    }
    if (s == EDDY_OK) s = eddy_kernel_of(node->op)(&i->kernel);
    eddy_release(&c->session->allocator, scratch, i->kernel.scratch_size);
    if (s != EDDY_OK) *c->error = p->error;
    return s == EDDY_OK;
}

static bool fold(compile *c, const eddy_node *node)
{
    node_info   *info = &c->info[node->id];
    eddy_array **out = eddy_plan_alloc(c, (size_t)node->n_outputs, sizeof *out);
    if (!out) return false;
    const eddy_array *constant = eddy_constant_value(eddy_tensor_at(c->graph, node->id, 0));
    for (int k = 0; k < node->n_outputs; k++) {
        if (constant) out[k] = eddy_array_retain((eddy_array *)(uintptr_t)constant);
        else if (node->op->flags & EDDY_OP_ALIAS)
            out[k] = reshaped(c, eddy_folded_value(c, node->inputs[0]), info->types[k].shape);
        else
            out[k] = eddy_array_new_in(&c->session->allocator, info->types[k].dtype,
                                       info->types[k].shape);
        if (!out[k])
            return eddy_error_set(c->error, EDDY_NO_MEMORY, "out of memory for folding '%s'",
                                  node->name);
        if (!eddy_plan_keep(c, out[k])) return false;
    }
    if (!constant && !(node->op->flags & EDDY_OP_ALIAS)) {
        if (!compute(c, node, out)) return false;
        c->plan->info.folded++;
    }
    info->folded = out;
    return true;
}

static bool specialise_node(compile *c, const eddy_node *node)
{
    mark_effect(c, node);
    bool ok = node->op->flags & EDDY_OP_VARIABLE ? variable_type(c, node) : infer(c, node);
    if (!ok) return false;
    bool constant = (node->op->flags & EDDY_OP_CONSTANT) != 0;
    return constant || is_foldable(c, node) ? fold(c, node) : true;
}

bool eddy_specialise(compile *c)
{
    mark_needed(c);
    for (int32_t id = 1; id <= c->size; id++) {
        if (!c->info[id].needed) continue;
        c->plan->info.nodes++;
        if (!specialise_node(c, c->graph->nodes[id])) return false;
    }
    return true;
}
