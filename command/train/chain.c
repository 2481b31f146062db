/* chain.c -- layers in sequence. */
#include "command/train/building.h"

#include <string.h>

bool name_add(building *b, const config *at, const char *name, eddy_tensor t)
{
    for (int i = 0; i < b->n_names; i++)
        if (strcmp(b->names[i].name, name) == 0)
            return config_fail(at, "'%s' is the name of something else", name);
    if (b->n_names == MOST_NAMES) return config_fail(at, "more than %d names", MOST_NAMES);
    b->names[b->n_names++] = (named){ name, t };
    return true;
}

const char *path_of(const char *folder, const char *path)
{
    return *path == '/' || !*folder ? path : text("%s/%s", folder, path);
}

/* The file of a model, of which one output is computed from x. */
static bool import(building *b, const config *at, const config *options, eddy_tensor *y)
{
    static const char *const known[] = { "path", "input", "output", "weights", NULL };
    const char *path = NULL, *input = NULL, *output = NULL;
    model       m;
    if (options->kind == CONFIG_TEXT) path = options->text;
    else if (!config_check(options, "file", known) ||
             !config_text(config_get(options, "path"), &path) ||
             !config_text(config_get(options, "input"), &input) ||
             !config_text(config_get(options, "output"), &output))
        return false;
    const config *weights = config_get(options, "weights");
    if (weights && b->n_weights == MOST_NAMES)
        return config_fail(weights, "more than %d files of weights", MOST_NAMES);
    if (weights) b->weights[b->n_weights++] = weights;
    if (!path) return config_fail(options, "file needs a path");
    bool fine = model_open_graph(&m, path_of(b->folder, path), true);
    if (fine && !input && m.n_inputs != 1)
        fine = config_fail(at, "%s has %s; 'input:' names the one that is fed", path,
                           number_of(m.n_inputs, "input"));
    if (fine && !output && m.n_outputs != 1)
        fine = config_fail(at, "%s has %s; 'output:' names the one that is used", path,
                           number_of(m.n_outputs, "output"));
    const eddy_tensor from = !fine ? EDDY_NO_TENSOR
                             : input ? model_find(&m, input) : m.inputs[0].tensor;
    const eddy_tensor to = !fine ? EDDY_NO_TENSOR
                           : output ? model_find(&m, output) : m.outputs[0].tensor;
    fine = fine && eddy_is_valid(from) && eddy_is_valid(to);
    if (fine) {
        const eddy_replacement by = { from, b->x };
        eddy_import(b->graph, m.graph, .inputs = { 1, &by }, .outputs = { 1, &to }, .results = y);
        fine = graph_is_fine(b, at);
    }
    model_close(&m);
    return fine;
}

bool weights_restore(const building *b, eddy_session *s)
{
    for (int i = 0; i < b->n_weights; i++) {
        const char *path = NULL;
        if (!config_text(b->weights[i], &path)) return false;
        path = path_of(b->folder, path);
        const file_kind  kind = kind_of(path);
        eddy_checkpoint *c = kind == KIND_UNKNOWN ? NULL
                             : kind_has_graph(kind) ? NULL : tensors_open(path, kind);
        if (!c && kind != KIND_UNKNOWN && kind_has_graph(kind))
            return config_fail(b->weights[i], "%s is a model; a checkpoint is needed", path);
        const bool fine =
            c && eddy_restore_checkpoint(s, .checkpoint = c, .partial = true) == EDDY_OK;
        if (c && !fine) config_fail(b->weights[i], "%s", eddy_session_message(s));
        eddy_checkpoint_free(c);
        if (!fine) return false;
    }
    return true;
}

int layer_key(const config *c) { return c->count > 1 && strcmp(c->keys[0]->text, "as") == 0; }

/* A layer is a name, {NAME: OPTIONS}, or that with {as: WORD}, which later layers can refer to. */
static bool layer(building *b, const config *c)
{
    const config *as = config_get(c, "as"), *options;
    config        alone = *c;
    if (as && c->count == 2) {
        const int i = layer_key(c);
        alone.count = 1;
        alone.keys = &c->keys[i];
        alone.at = &c->at[i];
    }
    if (as && c->count == 1) return config_fail(c, "'as' names a layer, which is missing");
    if (alone.kind == CONFIG_MAP && alone.count == 1 && strcmp(alone.keys[0]->text, "file") == 0) {
        if (!import(b, alone.keys[0], alone.at[0], &b->x)) return false;
    } else {
        const call *k = call_find(&alone, ROLE_LAYER, &options);
        eddy_tensor y = EDDY_NO_TENSOR;
        if (!k || !call_make(b, k, ROLE_LAYER, alone.count > 0 ? alone.keys[0] : c, options, &y))
            return false;
        b->x = y;
    }
    const char *name = NULL;
    return !as || (config_text(as, &name) && name_add(b, as, name, b->x));
}

/* y may be &b->x. */
bool chain_make(building *b, const config *layers, eddy_tensor *y)
{
    const eddy_tensor x = b->x;
    bool              fine = true;
    if (layers->kind != CONFIG_LIST)
        return config_fail(layers, "expected a list of layers, each with '- ' in front");
    for (int i = 0; fine && i < layers->count; i++) fine = layer(b, layers->at[i]);
    const eddy_tensor result = b->x;
    b->x = x;
    *y = result;
    return fine;
}
