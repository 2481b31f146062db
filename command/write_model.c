/* write_model.c -- writing models: YAML and ONNX. */
#include "command/write.h"

#include <string.h>

file_kind kind_to_write(const char *path)
{
    static const struct { const char *ending; file_kind kind; } endings[] = {
        { ".yaml", KIND_YAML }, { ".yml", KIND_YAML }, { ".onnx", KIND_ONNX },
        { ".safetensors", KIND_SAFETENSORS }, { ".npz", KIND_NPZ }, { ".npy", KIND_NPY },
    };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot, endings[i].ending) == 0) return endings[i].kind;
    fail(path, "a file to write ends in .yaml, .onnx, .safetensors, .npz or .npy");
    return KIND_UNKNOWN;
}

void outputs_name(const model *m, named *outputs, int count)
{
    for (int i = 0; i < count; i++) {
        named     *out = &outputs[i];
        const bool value = eddy_node_of(out->tensor)->n_outputs > 0;
        if (!value ||
            (out->tensor.output == 0 && strcmp(eddy_name_of(out->tensor), out->name) == 0) ||
            strchr(out->name, ':') || eddy_graph_has(m->graph, out->name))
            continue;
        out->tensor = eddy_named(text("%s/", out->name), eddy_identity(out->tensor));
    }
}

/* Whether a node may have this name. */
static bool is_node_name(const char *name)
{
    const char *const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.";
    const size_t      n = strlen(name);
    return n > 0 && strchr(letters, name[0]) && name[n - 1] != '/' &&
           strspn(name, text("%s_-/", letters)) == n;
}

void inputs_name(const model *m)
{
    for (int i = 0; m->kind == KIND_TENSORFLOW && i < m->n_inputs; i++) {
        const named *in = &m->inputs[i];
        bool         again = false;
        for (int j = 0; j < i; j++) again |= eddy_same(m->inputs[j].tensor, in->tensor);
        if (!again && is_node_name(in->name) && !eddy_graph_has(m->graph, in->name) &&
            strcmp(eddy_node_of(in->tensor)->op->name, "Placeholder") == 0)
            eddy_named(text("%s/", in->name), in->tensor);
    }
}

int write_onnx(const model *m, const named *outputs, int count, const char *path,
               const char *weights)
{
    eddy_error    e = { 0 };
    eddy_session *s = model_session(m, weights, false, 0);
    if (!s) return TROUBLE;
    const eddy_status status =
        eddy_onnx_write(tensors_of(outputs, count), path, .session = s, .error = &e);
    eddy_session_free(s);
    return status == EDDY_OK ? SUCCESS : fail_error(path, e.message);
}

static void list(eddy_graph *g, const char *key, const named *of, int count)
{
    eddy_collection_clear(g, key);
    for (int i = 0; i < count; i++) eddy_collection_add(g, key, of[i].tensor);
}

int write_yaml(const model *m, const named *outputs, int count, const char *path)
{
    eddy_error e = { 0 };
    list(m->graph, EDDY_MODEL_INPUTS, m->inputs, m->n_inputs);
    list(m->graph, EDDY_MODEL_OUTPUTS, outputs, count);
    return eddy_graph_save(m->graph, path, &e) == EDDY_OK ? SUCCESS : fail_error(path, e.message);
}
