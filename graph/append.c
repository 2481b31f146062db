/* append.c -- appending a node to a graph: checks the inputs, copies the attributes, infers the
 * output types, chooses the name. Every node is created here. */
#include "graph/internal.h"

#include <string.h>

/* Small fixed buffers serve almost every node; add_n of thousands needs more. */
enum { FEW = 16 };

static bool count_is_valid(const eddy_append_args *a)
{
    return a->n >= a->op->min_inputs && a->n <= EDDY_MAX_INPUTS &&
           (a->op->max_inputs == EDDY_MANY || a->n <= a->op->max_inputs) && (a->n == 0 || a->in);
}

/* Records an error if the inputs are invalid. */
static bool inputs_are_valid(eddy_graph *g, const eddy_append_args *a)
{
    const char *op = a->op->name;
    if (!count_is_valid(a)) {
        int most = a->op->max_inputs == EDDY_MANY ? EDDY_MAX_INPUTS : a->op->max_inputs;
        if (a->op->min_inputs == most)
            eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: the number of inputs is %d; expected %d", op,
                      a->n, most);
        else
            eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: the number of inputs is %d; expected %d to %d",
                      op, a->n, a->op->min_inputs, most);
        return false;
    }
    for (int i = 0; i < a->n; i++) {
        eddy_tensor t = a->in[i];
        if (t.graph && t.graph != g && eddy__graph_alive(t.graph)) {
            eddy_fail(g, EDDY_INVALID_ARGUMENT,
                      "%s: input %d, '%s', is not an element of this graph", op, i,
                      eddy_name_of(t));
            return false;
        }
        const eddy_node *node = eddy_node_of(t);
        if (!node) {
            eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: input %d is not a valid tensor%s", op, i,
                      t.graph == g && t.node == 0 ? " (a missing gradient?)" : "");
            return false;
        }
        if (node->n_outputs == 0) {
            eddy_fail(g, EDDY_INVALID_ARGUMENT,
                      "%s: input %d, '%s', is an operation that has no outputs", op, i, node->name);
            return false;
        }
        if (i == 0 && (a->op->flags & EDDY_OP_REFERENCE) && !(node->op->flags & EDDY_OP_VARIABLE)) {
            eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: '%s' is not a variable", op, node->name);
            return false;
        }
    }
    return true;
}

static bool infer_outputs(eddy_graph *g, const eddy_append_args *a, eddy_node *node, void *attrs,
                          eddy_type *types, const eddy_array **values)
{
    for (int i = 0; i < a->n; i++) {
        const eddy_node *in = g->nodes[a->in[i].node];
        types[i] = in->outputs[a->in[i].output];
        bool wanted = eddy__input_is_in(a->op->value_inputs, i);
        values[i] = wanted ? eddy_constant_value(a->in[i]) : NULL;
    }
    char        buf[EDDY_MAX_NAME];
    const char *name = a->name ? a->name : g->in_rule || !a->op->label ? a->op->name : a->op->label;
    eddy_error  error = { 0 };
    int         n_out = 0;
    /* The name is only wanted for a message; making it costs, so first without. */
    if (eddy__infer_types(a->op, attrs, false, a->n, types, values, &g->arena, &node->outputs,
                          &n_out, "", &error)) {
        node->n_outputs = n_out;
        return true;
    }
    size_t cut = strlen(error.message) >= 10 ? strlen(error.message) - 9 : 0;   /* " [node '']" */
    if (cut > 0 && strcmp(error.message + cut - 1, " [node '']") == 0) error.message[cut - 1] = 0;
    eddy_unique_name(g, name, false, buf, sizeof buf);
    if (buf[0]) eddy_fail(g, error.status, "%.780s [node '%.200s']", error.message, buf);
    else eddy_fail(g, error.status, "%s", error.message);
    return false;
}

static bool room_for_node(eddy_graph *g)
{
    enum { MAX_NODES = 1 << 24 };
    if (g->size >= MAX_NODES) {
        eddy_fail(g, EDDY_LIMIT, "a graph holds at most %d nodes", MAX_NODES);
        return false;
    }
    if (g->size + 1 < g->capacity) return true;
    int32_t bigger = g->capacity ? g->capacity * 2 : 64;
    if (!eddy__grow(&g->allocator, (void **)&g->nodes, (size_t)g->capacity, (size_t)bigger,
                    sizeof *g->nodes)) {
        eddy_fail(g, EDDY_NO_MEMORY, "out of memory for node %d", (int)g->size + 1);
        return false;
    }
    g->capacity = bigger;
    return true;
}

/* Control inputs: those of the call, or those of the open scopes. */
static bool set_controls(eddy_graph *g, const eddy_append_args *a, eddy_node *node)
{
    if (a->n_controls < 0)
        return eddy__controls_for(g, a->n, a->in, &node->controls, &node->n_controls);
    node->controls = eddy__arena_alloc(&g->arena, (size_t)a->n_controls * sizeof *node->controls);
    if (!node->controls) return false;
    if (a->n_controls > 0)
        memcpy(node->controls, a->controls, (size_t)a->n_controls * sizeof *node->controls);
    node->n_controls = a->n_controls;
    return true;
}

static eddy_node *new_node(eddy_graph *g, const eddy_append_args *a)
{
    eddy_node *node = eddy__arena_alloc(&g->arena, sizeof *node);
    if (!node) return NULL;
    *node = (eddy_node){
        .op = a->op, .id = g->size + 1, .n_inputs = a->n, .control_root = eddy__control_root(g),
        .origin = a->origin ? a->origin : g->origin,
        .colocate = a->colocate ? a->colocate : g->colocate,
    };
    const char *device = a->device          ? a->device
                         : g->n_devices > 0 ? g->devices[g->n_devices - 1]
                                            : NULL;
    if (a->device) device = eddy__arena_text(&g->arena, device, strlen(device));
    node->device = device;
    node->gradient = a->gradient ? eddy__arena_text(&g->arena, a->gradient, strlen(a->gradient))
                                 : eddy__override_of(g, a->op);
    node->inputs = eddy__arena_alloc(&g->arena, (size_t)a->n * sizeof *node->inputs);
    if (!node->inputs || (a->device && !device) || (a->gradient && !node->gradient) ||
        !set_controls(g, a, node))
        return NULL;
    if (a->n > 0) memcpy(node->inputs, a->in, (size_t)a->n * sizeof *node->inputs);
    return node;
}

static bool complete(eddy_graph *g, const eddy_append_args *a, eddy_node *node, void *attrs)
{
    eddy_type         few_types[FEW], *types = few_types;
    const eddy_array *few_values[FEW], **values = few_values;
    if (a->n > FEW) {
        types = eddy__arena_alloc(&g->arena, (size_t)a->n * sizeof *types);
        values = eddy__arena_alloc(&g->arena, (size_t)a->n * sizeof *values);
        if (!types || !values) {
            eddy_fail(g, EDDY_NO_MEMORY, "%s: out of memory (inputs: %d)", a->op->name, a->n);
            return false;
        }
    }
    if (!infer_outputs(g, a, node, attrs, types, values)) return false;
    const char *name = a->name ? a->name : g->in_rule || !a->op->label ? a->op->name : a->op->label;
    node->name = eddy__names_make(g, name, node->id);
    return node->name != NULL;
}

static bool note_line(eddy_graph *g, const eddy_node *node)
{
    if (eddy__lines_note(g, node->id)) return true;
    eddy_fail(g, EDDY_NO_MEMORY, "out of memory for node %d", (int)node->id);
    return false;
}

/* The inputs of a, cast; NULL without memory. */
static const eddy_tensor *cast(eddy_graph *g, const eddy_append_args *a, eddy_tensor few[FEW])
{
    eddy_tensor *in = few;
    if (a->n > FEW) in = eddy__arena_alloc(&g->arena, (size_t)a->n * sizeof *in);
    if (!in) {
        eddy_fail(g, EDDY_NO_MEMORY, "%s: out of memory (inputs: %d)", a->op->name, a->n);
        return NULL;
    }
    memcpy(in, a->in, (size_t)a->n * sizeof *in);
    g->cast_inputs(g, a->op, a->n, in);
    return in;
}

static eddy_tensor append(eddy_append_args a)
{
    eddy_tensor few[FEW];
    eddy_graph *g = a.graph;
    /* the first one that still exists can tell of those that do not */
    for (int i = 0; !a.graph && a.in && i < a.n && !eddy__graph_alive(g); i++) g = a.in[i].graph;
    if (!eddy__graph_ready(g)) return eddy_none(eddy__graph_alive(g) ? g : NULL);
    if (!a.op || !a.op->name || !a.op->infer)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT,
                         "apply: the operation has no name or no infer function");
    if (g->finalized)
        return eddy_fail(g, EDDY_FINALIZED, "Graph is finalized and cannot be modified.");
    if (g->cast_inputs && a.casts && !g->in_rule && a.n > 0 && a.in) a.in = cast(g, &a, few);
    const char *called = a.op->name;
    if (g->is_body && !(a.op = eddy__updated_op(g, a.op)))
        return eddy_fail(g, EDDY_NO_MEMORY, "out of memory for a node of %s", called);
    if (!inputs_are_valid(g, &a) || !room_for_node(g)) return eddy_none(g);

    void *attrs = NULL;
    if (a.op->attrs_size > 0) {
        attrs = eddy__attrs_copy(g, a.op, a.attrs);
        if (!attrs) return eddy_none(g);
    }
    eddy_node *node = new_node(g, &a);
    if (!node) eddy_fail(g, EDDY_NO_MEMORY, "out of memory for a node of %s", a.op->name);
    if (!node || !complete(g, &a, node, attrs) || !note_line(g, node)) {
        eddy__attrs_release_arrays(a.op, attrs);
        return eddy_none(g);
    }
    node->attrs = attrs;
    g->nodes[++g->size] = node;
    return eddy__tensor_at(g, node->id, 0);
}

/* The node now owns the graphs among the attributes; without a node they are freed. */
eddy_tensor eddy__append(eddy_append_args a)
{
    eddy_tensor t = append(a);
    if (t.node == 0 && a.op) eddy__attrs_release_graphs(a.op, a.attrs);
    return t;
}

eddy_tensor eddy_apply(const eddy_op_def *op, const void *attrs, int n, const eddy_tensor *in,
                       eddy_apply_args args)
{
    return eddy__append((eddy_append_args){ .graph = args.graph,
                                           .op = op,
                                           .attrs = attrs,
                                           .n = n,
                                           .in = in,
                                           .name = args.name,
                                           .n_controls = -1,
                                           .casts = true });
}

eddy_tensor eddy_apply1(const eddy_op_def *op, const void *attrs, eddy_tensor x)
{
    return eddy_apply(op, attrs, 1, &x, (eddy_apply_args){ 0 });
}

eddy_tensor eddy_apply2(const eddy_op_def *op, const void *attrs, eddy_tensor a, eddy_tensor b)
{
    return eddy_apply(op, attrs, 2, (eddy_tensor[]){ a, b }, (eddy_apply_args){ 0 });
}
