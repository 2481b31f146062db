/* convert.c -- eddy convert: a model or its parameters in another format. */
#include "command/write.h"

#include <string.h>

static text_list   outputs, shapes, only;
static const char *weights = NULL;
static bool        freeze = false, quantize = false;
static eddy_quantize_report quantized;

static const option_row options[] = {
    { "outputs", 0, OPTION_NAMES, "NAMES", &outputs, "only what these tensors need" },
    { "freeze", 0, OPTION_FLAG, NULL, &freeze, "variables become constants" },
    { "quantize", 0, OPTION_FLAG, NULL, &quantize, "the same, and large matrices take 8 bits" },
    { "weights", 'w', OPTION_TEXT, "FILE", &weights, "a checkpoint with the values of variables" },
    { "shape", 's', OPTION_EACH, "INPUT=DIMS", &shapes, "fix unknown dimensions of an input" },
    { "only", 0, OPTION_NAMES, "NAMES", &only, "of a checkpoint or the parameters, these tensors" },
    { NULL, 0, OPTION_END, NULL, NULL, NULL },
};

/* ------------------------------------------------------------------- tensors -- */

/* The tensors of --only, or all, from the checkpoint or the variables of the session. */
typedef struct source {
    const eddy_checkpoint *checkpoint;
    eddy_session          *session;
    const eddy_tensor     *variables;
    eddy_checkpoint_entry *entries;
    int                    count;
} source;

static eddy_array *value_of(void *context, int i, eddy_error *error)
{
    const source *s = context;
    if (s->checkpoint) return eddy_checkpoint_value(s->checkpoint, s->entries[i].name, error);
    eddy_array *a = eddy_variable_value(s->session, s->variables[i]);
    if (!a) {
        error->status = EDDY_UNINITIALIZED;
        snprintf(error->message, sizeof error->message, "the variable has no value");
    }
    return a;
}

static bool wanted(const char *name)
{
    for (int i = 0; i < only.count; i++)
        if (strcmp(only.at[i], name) == 0) return true;
    return only.count == 0;
}

static int write_source(source *s, const char *from, const char *to, file_kind kind)
{
    eddy_error e = { 0 };
    for (int i = 0; i < only.count; i++) {
        int k = 0;
        while (k < s->count && strcmp(s->entries[k].name, only.at[i]) != 0) k++;
        if (k == s->count) return fail(from, "there is no tensor '%s'", only.at[i]);
    }
    eddy_checkpoint *c = eddy_checkpoint_new(s->entries, s->count, value_of, NULL, s, &e);
    const int        status = c ? write_tensors(c, to, kind) : fail_error(to, e.message);
    eddy_checkpoint_free(c);
    return status;
}

static int convert_tensors(const model *m, const char *to, file_kind kind)
{
    if (outputs.count > 0 || shapes.count > 0 || weights)
        return fail(m->path, "the file has tensors only; --%s is for models",
                    outputs.count > 0 ? "outputs" : weights ? "weights" : "shape");
    const int n = eddy_checkpoint_count(m->tensors);
    source    s = { .checkpoint = m->tensors, .entries = room((size_t)n, sizeof *s.entries) };
    for (int i = 0; i < n; i++) {
        const eddy_checkpoint_entry e = eddy_checkpoint_entry_at(m->tensors, i);
        if (wanted(e.name)) s.entries[s.count++] = e;
    }
    return write_source(&s, m->path, to, kind);
}

static int convert_variables(const model *m, const char *to, file_kind kind)
{
    const int    n = eddy_collection_size(m->graph, EDDY_GLOBAL_VARIABLES);
    eddy_tensor *variables = room((size_t)n, sizeof *variables);
    source       s = { .variables = variables, .entries = room((size_t)n, sizeof *s.entries) };
    s.session = model_session(m, weights, false, 0);
    if (!s.session) return TROUBLE;
    for (int i = 0; i < n; i++) {
        const eddy_tensor v = eddy_collection_at(m->graph, EDDY_GLOBAL_VARIABLES, i);
        const eddy_dtype  d = eddy_dtype_of(v);
        if (!wanted(eddy_name_of(v))) continue;
        variables[s.count] = v;
        s.entries[s.count++] = (eddy_checkpoint_entry){ eddy_name_of(v), eddy_dtype_name(d), d,
                                                        eddy_shape_of(v), 0 };
    }
    const int status = write_source(&s, m->path, to, kind);
    eddy_session_free(s.session);
    return status;
}

/* -------------------------------------------------------------------- graphs -- */

/* Replaces the graph by one with only the nodes that the outputs need. */
static bool extract(model *m, eddy_session *s)
{
    eddy_error   e = { 0 };
    const int    n = m->n_outputs;
    eddy_tensor *new_outputs = room((size_t)n, sizeof *new_outputs);
    eddy_graph  *g = eddy_extract(tensors_of(m->outputs, n), .freeze = s, .error = &e,
                                  .new_outputs = new_outputs, .quantize = quantize,
                                  .quantized = &quantized);
    if (!g) {
        fail(m->path, "%s", e.message);
        return false;
    }
    if (quantized.text && !as_json) printf("%s", quantized.text);
    named *outputs_ = room((size_t)n, sizeof *outputs_);
    for (int i = 0; i < n; i++) outputs_[i] = (named){ m->outputs[i].name, new_outputs[i] };
    const char *path = m->path;
    model_close(m);
    *m = (model){ .path = path, .graph = g, .outputs = outputs_, .n_outputs = n };
    m->inputs = room((size_t)eddy_collection_size(g, EDDY_MODEL_INPUTS), sizeof *m->inputs);
    for (int i = 0; i < eddy_collection_size(g, EDDY_MODEL_INPUTS); i++) {
        const eddy_tensor t = eddy_collection_at(g, EDDY_MODEL_INPUTS, i);
        m->inputs[m->n_inputs++] = (named){ eddy_name_of(t), t };
    }
    return true;
}

static int convert_graph(model *m, const char *to, file_kind kind)
{
    if (weights && !freeze && kind == KIND_YAML)
        return fail(to, "a graph has no values of variables; add --freeze, or write .safetensors");
    if (outputs.count > 0 && !(m->outputs = model_select(m, outputs, &m->n_outputs)))
        return TROUBLE;
    if (!model_fix_shapes(m, shapes, 0)) return TROUBLE;
    if (!kind_has_graph(kind)) return convert_variables(m, to, kind);
    outputs_name(m, m->outputs, m->n_outputs);
    inputs_name(m);
    if (eddy_graph_status(m->graph) != EDDY_OK)
        return fail(m->path, "%s", eddy_graph_message(m->graph));
    if (kind == KIND_ONNX && !freeze) return write_onnx(m, m->outputs, m->n_outputs, to, weights);
    eddy_session *s = !freeze ? NULL
                      : model_session(m, weights, false, 0);
    const bool    fine = (!freeze || s) && extract(m, s);
    eddy_session_free(s);
    if (!fine) return TROUBLE;
    return kind == KIND_ONNX ? write_onnx(m, m->outputs, m->n_outputs, to, NULL)
                             : write_yaml(m, m->outputs, m->n_outputs, to);
}

static void print_json(const char *path)
{
    json_open(NULL, '{');
    json_text("file", path);
    if (quantized.text) {
        json_integer("quantized", quantized.n_quantized);
        json_integer("left", quantized.n_left);
        json_integer("bytes", quantized.bytes);
        json_integer("bytes_before", quantized.bytes_before);
        json_open("report", '[');
        for (const char *at = quantized.text, *end; (end = strchr(at, '\n')) != NULL; at = end + 1)
            json_text(NULL, text("%.*s", (int)(end - at), at));
        json_close(']');
    }
    json_close('}');
}

static int run(char **operands, int count)
{
    (void)count;
    model           m;
    const file_kind kind = kind_to_write(operands[1]);
    int             status = TROUBLE;
    freeze |= quantize;
    if (kind == KIND_UNKNOWN) return TROUBLE;
    if (only.count > 0 && kind_has_graph(kind))
        return fail(operands[1], "--only chooses tensors; --outputs chooses a part of a model");
    if (freeze && !kind_has_graph(kind))
        return fail(operands[1], "--%s is for models, in .yaml or .onnx",
                    quantize ? "quantize" : "freeze");
    if (!model_open(&m, operands[0], true)) {
    } else if (!m.graph && kind_has_graph(kind))
        fail(operands[1], "%s is a %s: it has tensors and no graph to write", operands[0],
             kind_name(m.kind));
    else if (m.graph) status = convert_graph(&m, operands[1], kind);
    else status = convert_tensors(&m, operands[1], kind);
    if (status == SUCCESS && as_json) print_json(operands[1]);
    eddy_string_free(quantized.text);
    model_close(&m);
    return status;
}

const command command_convert = {
    "convert", "MODEL FILE", "Write a model or its parameters in another format", 2, 2,
    options,   run,
};
