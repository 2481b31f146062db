/* model.c -- graphs from files: their inputs, outputs, names and sessions. */
#include "command/model.h"

#include <stdlib.h>
#include <string.h>

static bool failed(const char *path, const char *message)
{
    fail_error(path, message);
    return false;
}

eddy_list tensors_of(const named *of, int count)
{
    eddy_tensor *at = room((size_t)count, sizeof *at);
    for (int i = 0; i < count; i++) at[i] = of[i].tensor;
    return (eddy_list){ count, at };
}

bool *needed_nodes(eddy_graph *g, const named *of, int count)
{
    const int32_t size = eddy_graph_size(g);
    bool         *marks = room((size_t)size + 1, sizeof *marks);
    for (int i = 0; i < count; i++) marks[of[i].tensor.node] = true;
    for (int32_t id = size; id >= 1; id--) {    /* inputs have smaller ids */
        if (!marks[id]) continue;
        const eddy_node *node = eddy_node_of(eddy_node_at(g, id));
        for (int32_t i = 0; i < node->n_inputs; i++) marks[node->inputs[i].node] = true;
        for (int32_t i = 0; i < node->n_controls; i++) marks[node->controls[i]] = true;
    }
    return marks;
}

/* ------------------------------------------------------ inputs and outputs -- */

static void add(named **list, int *count, const char *name, eddy_tensor t)
{
    (*list)[(*count)++] = (named){ text("%s", name), t };
}

/* "name", or "name:1" for another output than the first. */
static const char *tensor_name(eddy_tensor t)
{
    return t.output == 0 ? eddy_name_of(t) : text("%s:%d", eddy_name_of(t), (int)t.output);
}

static void from_collection(const model *m, const char *key, named **list, int *count)
{
    const int n = eddy_collection_size(m->graph, key);
    *list = room((size_t)n, sizeof **list);
    for (int i = 0; i < n; i++) {
        eddy_tensor t = eddy_collection_at(m->graph, key, i);
        add(list, count, tensor_name(t), t);
    }
}

/* Initializers, and nodes that only group them, are not outputs of the model. */
static bool initializes(eddy_graph *g, const eddy_node *node)
{
    eddy_tensor t = eddy_node_at(g, node->id);
    if (eddy_collection_has(g, EDDY_INITIALIZERS, t) ||
        eddy_collection_has(g, EDDY_LOCAL_INITIALIZERS, t))
        return true;
    for (int32_t i = 0; i < node->n_controls; i++)
        if (!eddy_collection_has(g, EDDY_INITIALIZERS, eddy_node_at(g, node->controls[i])))
            return false;
    return node->n_controls > 0 && node->n_inputs == 0;
}

/* Whether a node is in a scope of eddy_gradients: "gradients/...", "train/gradients_1/...". */
static bool is_of_gradients(const char *name)
{
    static const char scope[] = "gradients";
    for (const char *at = name; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, scope, sizeof scope - 1) != 0) continue;
        const char *end = at + sizeof scope - 1;
        if (*end == '_') end += 1 + strspn(end + 1, "0123456789");
        if (*end == '/') return true;
    }
    return false;
}

/* For a graph that lists none: its placeholders, and tensors that no other node uses. The gradients
 * of a training are parts of its step: a loss that only they use is an output, and they are not. */
static void guess(model *m, bool want_inputs, bool want_outputs)
{
    const int32_t size = eddy_graph_size(m->graph);
    const bool    trains = eddy_collection_size(m->graph, EDDY_TRAIN_OP) > 0;
    bool         *used = room((size_t)size + 1, sizeof *used);
    if (want_inputs) m->inputs = room((size_t)size, sizeof *m->inputs);
    if (want_outputs) m->outputs = room((size_t)size, sizeof *m->outputs);
    for (int32_t id = size; id >= 1; id--) {
        const eddy_node *node = eddy_node_of(eddy_node_at(m->graph, id));
        if (trains && is_of_gradients(node->name)) {
            used[id] = true;
            continue;
        }
        for (int32_t i = 0; i < node->n_inputs; i++) used[node->inputs[i].node] = true;
        for (int32_t i = 0; i < node->n_controls; i++) used[node->controls[i]] = true;
    }
    for (int32_t id = 1; id <= size; id++) {
        const eddy_tensor t = eddy_node_at(m->graph, id);
        const eddy_node  *node = eddy_node_of(t);
        const bool        placeholder = node->op->flags & EDDY_OP_PLACEHOLDER;
        if (node->traced || strcmp(node->op->name, "Argument") == 0) continue;
        if (want_inputs && placeholder) add(&m->inputs, &m->n_inputs, node->name, t);
        if (want_outputs && !used[id] && !placeholder && !(node->op->flags & EDDY_OP_VARIABLE) &&
            !initializes(m->graph, node))
            add(&m->outputs, &m->n_outputs, node->name, t);
    }
}

static bool open_yaml(model *m)
{
    eddy_error e = { 0 };
    m->graph = eddy_graph_load(m->path, .error = &e);
    if (!m->graph) return failed(m->path, e.message);
    from_collection(m, EDDY_MODEL_INPUTS, &m->inputs, &m->n_inputs);
    from_collection(m, EDDY_MODEL_OUTPUTS, &m->outputs, &m->n_outputs);
    guess(m, m->n_inputs == 0, m->n_outputs == 0);
    return true;
}

/* A sequence is several tensors: "name:0", "name:1". */
static void add_onnx(const model *m, named **list, int *count, const char *name)
{
    const eddy_list items = eddy_onnx_items(m->onnx, name);
    named          *longer = room((size_t)(*count + items.count), sizeof *longer);
    for (int i = 0; i < *count; i++) longer[i] = (*list)[i];
    *list = longer;
    for (int i = 0; i < items.count; i++)
        add(list, count, items.count == 1 ? name : text("%s:%d", name, i), items.at[i]);
}

static bool open_onnx(model *m, bool variables)
{
    eddy_error e = { 0 };
    m->graph = eddy_graph_new();
    m->onnx = eddy_onnx_read(m->graph, m->path, .variables = variables, .error = &e);
    if (!m->onnx) return failed(m->path, e.message);
    for (int i = 0; i < eddy_onnx_input_count(m->onnx); i++)
        add_onnx(m, &m->inputs, &m->n_inputs, eddy_onnx_input_name(m->onnx, i));
    for (int i = 0; i < eddy_onnx_output_count(m->onnx); i++)
        add_onnx(m, &m->outputs, &m->n_outputs, eddy_onnx_output_name(m->onnx, i));
    return true;
}

static bool open_tensorflow(model *m, bool variables)
{
    eddy_error e = { 0 };
    m->graph = eddy_graph_new();
    m->tensorflow = eddy_tensorflow_read(m->graph, m->path, .variables = variables, .error = &e);
    if (!m->tensorflow) return failed(m->path, e.message);
    const eddy_tensorflow_model *t = m->tensorflow;
    m->inputs = room((size_t)eddy_tensorflow_input_count(t), sizeof *m->inputs);
    m->outputs = room((size_t)eddy_tensorflow_output_count(t), sizeof *m->outputs);
    for (int i = 0; i < eddy_tensorflow_input_count(t); i++) {
        const char *name = eddy_tensorflow_input_name(t, i);
        add(&m->inputs, &m->n_inputs, name, eddy_tensorflow_input(t, name));
    }
    for (int i = 0; i < eddy_tensorflow_output_count(t); i++) {
        const char *name = eddy_tensorflow_output_name(t, i);
        add(&m->outputs, &m->n_outputs, name, eddy_tensorflow_output(t, name));
    }
    return true;
}

bool model_open(model *m, const char *path, bool variables)
{
    *m = (model){ .path = path, .kind = kind_of(path) };
    switch (m->kind) {
    case KIND_UNKNOWN:
    case KIND_COUNT:       return false;
    case KIND_YAML:        return open_yaml(m);
    case KIND_ONNX:        return open_onnx(m, variables);
    case KIND_TENSORFLOW:  return open_tensorflow(m, variables);
    case KIND_SAFETENSORS:
    case KIND_TORCH:
    case KIND_BUNDLE:
    case KIND_KERAS:
    case KIND_NPZ:
    case KIND_NPY:         break;
    }
    m->tensors = tensors_open(path, m->kind);
    return m->tensors != NULL;
}

bool model_open_graph(model *m, const char *path, bool variables)
{
    if (!model_open(m, path, variables)) return false;
    if (!m->graph) fail(path, "the file has tensors only; a model with a graph is needed");
    return m->graph != NULL;
}

void model_close(model *m)
{
    eddy_onnx_free(m->onnx);
    eddy_tensorflow_free(m->tensorflow);
    eddy_checkpoint_free(m->tensors);
    eddy_graph_free(m->graph);
    *m = (model){ 0 };
}

/* ------------------------------------------------------------------- names -- */

eddy_tensor model_find(const model *m, const char *name)
{
    for (int i = 0; i < m->n_outputs; i++)
        if (strcmp(m->outputs[i].name, name) == 0) return m->outputs[i].tensor;
    for (int i = 0; i < m->n_inputs; i++)
        if (strcmp(m->inputs[i].name, name) == 0) return m->inputs[i].tensor;
    eddy_tensor t = m->onnx ? eddy_onnx_value(m->onnx, name)
                    : m->tensorflow ? eddy_tensorflow_value(m->tensorflow, name) : EDDY_NO_TENSOR;
    if (eddy_is_valid(t)) return t;
    if (eddy_graph_has(m->graph, name))
        return strchr(name, ':') ? eddy_graph_tensor(m->graph, name)
                                 : eddy_graph_operation(m->graph, name);
    fail(m->path, "nothing is named '%s'; 'eddy show --nodes %s' lists the names", name, m->path);
    return EDDY_NO_TENSOR;
}

named *model_select(const model *m, text_list names, int *count)
{
    named *list = room((size_t)names.count, sizeof *list);
    *count = names.count > 0 ? names.count : m->n_outputs;
    if (names.count == 0) return m->outputs;
    for (int i = 0; i < names.count; i++) {
        list[i] = (named){ names.at[i], model_find(m, names.at[i]) };
        if (!eddy_is_valid(list[i].tensor)) return NULL;
    }
    return list;
}

/* ---------------------------------------------------------------- sessions -- */

static bool restore(eddy_session *s, const char *weights)
{
    const file_kind  kind = kind_of(weights);
    eddy_checkpoint *c = kind == KIND_UNKNOWN || kind_has_graph(kind) ? NULL
                                                                      : tensors_open(weights, kind);
    if (kind_has_graph(kind)) fail(weights, "the file is a model; a checkpoint is needed");
    const bool       fine = c && eddy_restore_checkpoint(s, .checkpoint = c) == EDDY_OK;
    if (c && !fine) fail_error(weights, eddy_session_message(s));
    eddy_checkpoint_free(c);
    return fine;
}

eddy_session *model_session(const model *m, const char *weights, bool profile, int threads)
{
    eddy_session *s = eddy_session_new(m->graph, .profile = profile, .threads = threads);
    const bool    variables = eddy_collection_size(m->graph, EDDY_GLOBAL_VARIABLES) > 0;
    bool          fine = s != NULL;
    if (!fine) fail(m->path, "out of memory");
    if (fine && variables &&
        eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(m->graph)), NULL) != EDDY_OK)
        fine = failed(m->path, eddy_session_message(s));
    if (fine && weights) fine = restore(s, weights);
    if (fine) return s;
    eddy_session_free(s);
    return NULL;
}
