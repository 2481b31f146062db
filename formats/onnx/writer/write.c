/* write.c -- the public calls: inputs, variables and outputs of the model. */
#include "writer.h"


#include <stdlib.h>

typedef struct writing {
    onnx_writer           w;
    eddy_onnx_write_args  options;
    eddy_graph           *graph;
    writer_variable     **variables;    /* by id */
    message               head;         /* inputs and outputs */
    message               others;       /* fields of the model: imports, metadata, functions */
    eddy_error            own_error;    /* for a caller without one */
} writing;

static bool invalid(writing *s, const char *what, int i)
{
    return eddy__writer_fail(&s->w, EDDY_INVALID_ARGUMENT, "%s %d is not a tensor of the graph",
                             what, i);
}

static bool begin(writing *s, const eddy_onnx_write_args *given)
{
    s->options = (eddy_onnx_write_args){ eddy_onnx_write_args_DEFAULTS .size_ = sizeof s->options };
    eddy_copy_options(&s->options, given);
    const eddy_onnx_write_args *o = &s->options;
    s->w.error = o->error ? o->error : &s->own_error;
    s->w.path = o->path;
    s->w.session = o->session;
    s->w.operators = o->operators;
    s->w.operator_count = o->operator_count;
    eddy__writer_begin_constants(&s->w.constants);
    *s->w.error = (eddy_error){ 0 };
    if (o->outputs.count < 1 || !o->outputs.at)
        return eddy__writer_fail(&s->w, EDDY_INVALID_ARGUMENT, "there are no outputs");
    if (o->inputs.count < 0 || (o->inputs.count && !o->inputs.at))
        return eddy__writer_fail(&s->w, EDDY_INVALID_ARGUMENT, "the list of inputs is invalid");
    if (o->external_bytes < 0)
        return eddy__writer_fail(&s->w, EDDY_INVALID_ARGUMENT, "external_bytes is negative");
    if (!eddy__writer_check_operators(&s->w)) return false;
    s->graph = o->outputs.at[0].graph;
    for (int i = 0; i < o->outputs.count; i++)
        if (!eddy_node_of(o->outputs.at[i]) || o->outputs.at[i].graph != s->graph)
            return invalid(s, "output", i);
    for (int i = 0; i < o->inputs.count; i++)
        if (!eddy_node_of(o->inputs.at[i]) || o->inputs.at[i].graph != s->graph)
            return invalid(s, "input", i);
    if (eddy_graph_status(s->graph) != EDDY_OK)
        return eddy__writer_fail(&s->w, eddy_graph_status(s->graph), "the graph has an error: %s",
                                 eddy_graph_message(s->graph));
    return true;
}

/* ------------------------------------------------------------------- inputs -- */

static eddy_type type_of(eddy_tensor t)
{
    return (eddy_type){ eddy_dtype_of(t), eddy_shape_of(t) };
}

/* The name of output k of a node: that of the node, with a number unless it is the first. */
static const char *name_of(writing *s, eddy_tensor t)
{
    const char *name = t.output
                           ? eddy__region_print(&s->w.memory, "%s:%d", eddy_name_of(t), t.output)
                           : eddy__region_print(&s->w.memory, "%s", eddy_name_of(t));
    if (!name) eddy__writer_no_memory(&s->w);
    return name ? name : "";
}

static bool add_input(writing *s, eddy_tensor t)
{
    const char *name = name_of(s, t);
    eddy__writer_value_info(&s->head, GRAPH_INPUT, name, type_of(t));
    return eddy__scope_bind(&s->w, t, name);
}

/* The tensors that the caller lists; placeholders follow when it is known which are needed. */
static bool listed_inputs(writing *s)
{
    for (int i = 0; i < s->options.inputs.count; i++) {
        const eddy_tensor t = s->options.inputs.at[i];
        const unsigned    flags = eddy_node_of(t)->op->flags;
        if (t.output >= eddy_outputs_of(t) || (flags & EDDY_OP_VARIABLE))
            return eddy__writer_fail(&s->w, EDDY_INVALID_ARGUMENT,
                                     "input %d is %s [node '%.200s']", i,
                                     flags & EDDY_OP_VARIABLE ? "a variable" : "without a value",
                                     eddy_name_of(t));
        if (eddy__scope_name(s->w.scope, t))
            return eddy__writer_fail(&s->w, EDDY_INVALID_ARGUMENT,
                                     "input %d is listed twice [node '%.200s']", i,
                                     eddy_name_of(t));
        if (!add_input(s, t)) return false;
    }
    return true;
}

static bool list_placeholders(writing *s)
{
    const writer_scope *scope = s->w.scope;
    for (int32_t id = 1; id <= scope->size; id++) {
        const eddy_tensor t = eddy_node_at(s->graph, id);
        if (!scope->live[id] || eddy__scope_name(scope, t)) continue;
        if (!(eddy_node_of(t)->op->flags & EDDY_OP_PLACEHOLDER)) continue;
        if (s->options.inputs.count && !s->w.reporting)
            return eddy__writer_fail(&s->w, EDDY_NOT_FED,
                                     "the outputs need '%.200s', which is not among the inputs",
                                     eddy_name_of(t));
        if (!add_input(s, t)) return false;
    }
    return true;
}

/* ---------------------------------------------------------------- variables -- */

static bool add_variable(writing *s, int32_t id)
{
    writer_variable  *v = eddy__region_take(&s->w.memory, 1, sizeof *v);
    const eddy_tensor t = eddy_node_at(s->graph, id);
    if (!v) return eddy__writer_no_memory(&s->w);
    *v = (writer_variable){ .node = eddy_node_of(t) };
    s->variables[id] = v;
    return true;
}

/* NULL if the variable has none. A fetch tells that from a lack of memory. */
static eddy_array *value_of(writing *s, eddy_tensor variable)
{
    eddy_session *from = s->w.session;
    eddy_array   *value = from ? eddy_variable_value(from, variable) : NULL;
    if (value || !from) return value;
    value = eddy_fetch(from, variable);
    if (!value && eddy_session_status(from) == EDDY_NO_MEMORY) eddy__writer_no_memory(&s->w);
    return value;
}

/* The values of the variables that are read, and inputs for those that the run updates. */
static bool write_variables(writing *s)
{
    for (int32_t id = 1; id <= s->w.scope->size && !s->w.failed; id++) {
        writer_variable *v = s->variables[id];
        if (!v || !s->w.scope->live[id]) continue;
        const eddy_tensor t = eddy_node_at(s->graph, id);
        eddy_array *value = value_of(s, t);
        if (!value && (s->w.failed || !s->w.reporting)) continue;
        const char *name = name_of(s, t);
        const bool  required = v->first_update && s->options.no_initial_values;
        v->before = v->now = value && !required ? eddy__writer_constant(&s->w, name, value) : name;
        if (v->first_update && value)
            eddy__writer_value_info(
                &s->head, GRAPH_INPUT, name,
                (eddy_type){ eddy_array_dtype(value), eddy_array_shape(value) });
        eddy_array_free(value);
    }
    return !s->w.failed;
}

static void pair(message *m, const char *key, const char *value)
{
    message e = { 0 };
    eddy__message_text(&e, 1, key);
    eddy__message_text(&e, 2, value);
    eddy__message_inner(m, MODEL_METADATA, &e);
}

/* ------------------------------------------------------------------ outputs -- */

static void add_output(writing *s, const char *value, const char *name, eddy_type t)
{
    eddy__writer_identity(&s->w.scope->nodes, value, name);
    eddy__writer_value_info(&s->head, GRAPH_OUTPUT, name, t);
}

/* Whether the model has a value of this name already: an input, a variable. */
static bool is_bound(const writing *s, eddy_tensor t)
{
    const eddy_node *node = eddy_node_of(t);
    if (node->op->flags & (EDDY_OP_VARIABLE | EDDY_OP_PLACEHOLDER)) return true;
    for (int i = 0; i < s->options.inputs.count; i++)
        if (eddy_same(s->options.inputs.at[i], t)) return true;
    return false;
}

static bool write_outputs(writing *s)
{
    int n = 0;
    for (int i = 0; i < s->options.outputs.count; i++) {
        const eddy_tensor t = s->options.outputs.at[i];
        const eddy_type   type = type_of(t);
        bool again = false;
        for (int k = 0; k < i; k++) again = again || eddy_same(s->options.outputs.at[k], t);
        if (again || eddy_outputs_of(t) == 0) continue;         /* a training step has no value */
        const writer_variable *v = s->variables[t.node];
        const char *value = v ? v->before : eddy__scope_name(s->w.scope, t), *name = name_of(s, t);
        if (is_bound(s, t)) name = eddy__region_print(&s->w.memory, "%s:output", name);
        if (!name) return eddy__writer_no_memory(&s->w);
        if (!value)
            return eddy__writer_fail(&s->w, EDDY_UNINITIALIZED,
                                     "the session has no value for variable '%.200s'",
                                     eddy_name_of(t));
        add_output(s, value, name, type);
        n++;
    }
    for (int32_t id = 1; id <= s->w.scope->size; id++) {
        const writer_variable *v = s->variables[id];
        if (!v || !v->first_update || !v->now) continue;
        const char *name = eddy__region_print(&s->w.memory, "%s:next", v->node->name);
        if (!name) return eddy__writer_no_memory(&s->w);
        add_output(s, v->now, name, v->node->outputs[0]);
        pair(&s->others, v->node->name, name);
        n++;
    }
    if (n == 0)
        return eddy__writer_fail(&s->w, EDDY_INVALID_ARGUMENT,
                                 "no output has a value, and no variable is updated");
    return !s->w.failed;
}

/* ---------------------------------------------------------------- the model -- */

static bool compose(writing *s)
{
    onnx_writer *w = &s->w;
    const eddy_list outputs = s->options.outputs;
    if (!eddy__scope_begin(w, s->graph, "") || !listed_inputs(s)) return false;
    writer_scope *scope = w->scope;
    s->variables = eddy__region_take(&w->memory, (size_t)scope->size + 1, sizeof *s->variables);
    if (!s->variables) return eddy__writer_no_memory(w);
    for (int32_t id = 1; id <= scope->size; id++)
        if ((eddy_node_of(eddy_node_at(s->graph, id))->op->flags & EDDY_OP_VARIABLE) &&
            !add_variable(s, id))
            return false;
    scope->variables = s->variables;
    if (!eddy__scope_mark(w, outputs.count, outputs.at) || !list_placeholders(s) ||
        !write_variables(s))
        return false;
    if (!eddy__scope_write_marked(w)) return false;
    eddy__writer_put_imports(w, MODEL_IMPORT, &s->others);
    if (!write_outputs(s)) return false;
    eddy__writer_put_functions(w, &s->others);
    return true;
}

static void finish(writing *s)
{
    while (s->w.scope) eddy__scope_end(&s->w);
    eddy__message_free(&s->head);
    eddy__message_free(&s->others);
    eddy__writer_free_constants(&s->w.constants);
    eddy__writer_free_functions(&s->w);
    free(s->w.entries.at);
    eddy__region_free(&s->w.memory);
}

static bool save(writing *s)
{
    message *nodes = &s->w.scope->nodes;
    eddy__message_text(nodes, GRAPH_NAME, "eddy");
    eddy__message_append(nodes, s->head.at, s->head.size);
    nodes->full = nodes->full || s->head.full;
    if (!s->w.path)
        return eddy__writer_fail(&s->w, EDDY_INVALID_ARGUMENT, "no path is given");
    return eddy__writer_save(&s->w, nodes, &s->others, s->options.files,
                             s->options.external_bytes);
}

eddy_status eddy_onnx_write_with(const eddy_onnx_write_args *given)
{
    writing           s = { 0 };
    const bool        ok = begin(&s, given) && compose(&s) && save(&s);
    const eddy_status status = ok ? EDDY_OK : s.w.error->status;
    finish(&s);
    return status;
}

eddy_model_report *eddy_onnx_write_check_with(const eddy_onnx_write_args *given)
{
    writing           s = { 0 };
    eddy_model_report *report = NULL;
    const bool         ok = begin(&s, given);
    s.w.reporting = true;
    if (ok && compose(&s)) {
        while (s.w.scope) eddy__scope_end(&s.w);
        report = eddy__report_new(&s.w.memory, &s.w.entries);
        if (!report) eddy__writer_no_memory(&s.w);
    }
    finish(&s);
    return report;
}
