/* open_model.c -- the files of a model: a frozen graph, a SavedModel, or the model.json of
 * TensorFlow.js with its weights. They are told apart by their contents. */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *s, const char *end)
{
    const size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

/* ------------------------------------------------------------ TensorFlow.js -- */

/* Texts are stored one after the other, each after its length. */
static int64_t strings_size(wire_bytes group, int64_t from, int64_t count)
{
    int64_t at = from;
    for (int64_t i = 0; i < count; i++) {
        if (at + 4 > (int64_t)group.size) return -1;
        at += 4 + (int64_t)eddy__number_at(group.at + at, 4);
    }
    return at - from;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const tf_weight *)a)->name, ((const tf_weight *)b)->name);
}

/* Weights of a group follow one another in its files. */
static bool place_weights(tf_reader *r)
{
    int64_t at = 0;
    int     group = -1;
    for (size_t i = 0; i < r->manifest.n_weights; i++) {
        tf_weight *w = &r->manifest.weights[i];
        if (w->group != group) at = 0;
        group = w->group;
        w->offset = at;
        const wire_bytes b = eddy__source_bytes(r->groups[group]);
        const int64_t    count = eddy_shape_is_valid(w->shape) ? eddy_shape_count(w->shape) : -1;
        const char      *stored = w->stored ? w->stored : w->dtype;
        const int        bits = eddy__tf_weight_bits(stored);
        const bool       texts = strcmp(w->dtype, "string") == 0;
        int64_t          size = -1;
        if (bits == 0 && !texts)
            return eddy__tf_error(r, EDDY_UNIMPLEMENTED,
                                  "weight '%.200s' has elements of type %.200s", w->name, stored);
        if (count >= 0 && count <= (int64_t)b.size)
            size = texts ? strings_size(b, at, count) : count * (bits / 8);
        if (size < 0 || size > (int64_t)b.size - at)
            return eddy__tf_error(r, EDDY_CORRUPT,
                                  "weight '%.200s' is not inside the files of its group", w->name);
        at += size;
    }
    if (r->manifest.n_weights)
        qsort(r->manifest.weights, r->manifest.n_weights, sizeof *r->manifest.weights, by_name);
    return true;
}

/* The bytes of the files of a group, one after the other. */
static source *read_group(tf_reader *r, const tf_group *g)
{
    eddy_error e = { 0 };
    source   **parts = eddy__region_take(&r->base.memory, g->n_paths, sizeof *parts);
    source    *all = NULL;
    size_t     n = 0, size = 0;
    for (; parts && n < g->n_paths && e.status == EDDY_OK; n++) {
        const char *path = eddy__name_beside(&r->base.memory, r->base.path, g->paths[n]);
        if (!path) eddy__format_fail(&e, EDDY_NO_MEMORY, "out of memory");
        else if (!eddy__name_is_inside(g->paths[n]))
            eddy__format_fail(&e, EDDY_CORRUPT, "%.200s: the name '%.200s' of a file leaves "
                                     "the folder", r->base.path, g->paths[n]);
        else parts[n] = eddy__source_read(path, r->options.files, r->options.max_bytes, &e);
        size += parts[n] ? eddy__source_bytes(parts[n]).size : 0;
    }
    if (!parts) eddy__format_fail(&e, EDDY_NO_MEMORY, "out of memory");
    if (e.status == EDDY_OK && n == 1) return parts[0];
    if (e.status == EDDY_OK) all = eddy__source_copy(NULL, size, &e);
    uint8_t *to = all ? (uint8_t *)(uintptr_t)eddy__source_bytes(all).at : NULL;
    for (size_t i = 0; i < n; i++) {
        const wire_bytes b = parts[i] ? eddy__source_bytes(parts[i]) : (wire_bytes){ NULL, 0 };
        if (to && b.size) memcpy(to, b.at, b.size), to += b.size;
        eddy__source_release(parts[i]);
    }
    if (!all) eddy__reading_file_error(&r->base, &e);
    return all;
}

static bool open_json(tf_reader *r, wire_bytes b)
{
    size_t      at = 0;
    const char *problem = eddy__tf_parse_json(&r->base.memory, b, r->model, &r->manifest, &at);
    if (problem && r->base.memory.full) return eddy__reading_no_memory(&r->base);
    if (problem) return eddy__tf_error(r, EDDY_CORRUPT, "byte %zu: %s", at, problem);
    r->groups = eddy__region_take(&r->base.memory, r->manifest.n_groups, sizeof *r->groups);
    if (!r->groups) return eddy__reading_no_memory(&r->base);
    for (size_t i = 0; i < r->manifest.n_groups; i++) {
        r->groups[i] = read_group(r, &r->manifest.groups[i]);
        if (!r->groups[i]) return false;
    }
    return place_weights(r);
}

/* ---------------------------------------------------------------- protobuf -- */

static bool open_protobuf(tf_reader *r, wire_bytes b)
{
    const uint8_t *at = NULL;
    if (!eddy__tf_parse(&r->base.memory, b, r->model, &at))
        return r->base.memory.full ? eddy__reading_no_memory(&r->base)
            : eddy__tf_error(r, EDDY_CORRUPT,
                             "this is no graph of TensorFlow: byte %lld is damaged",
                             at ? (long long)(at - b.at) : 0LL);
    if (r->model->main.n_nodes == 0)
        return eddy__tf_error(r, EDDY_CORRUPT, "this is no graph of TensorFlow: it has no nodes");
    return true;
}

static const tf_signature *signature_of(tf_reader *r)
{
    const tf_file *m = r->model;
    const char    *name = r->options.signature ? r->options.signature : "serving_default";
    for (size_t i = 0; i < m->n_signatures; i++)
        if (strcmp(m->signatures[i].name, name) == 0) return &m->signatures[i];
    if (r->options.signature)
        eddy__tf_error(r, EDDY_NOT_FOUND, "there is no signature '%.200s'", name);
    else
        for (size_t i = 0; i < m->n_signatures; i++)
            if (strncmp(m->signatures[i].name, "__saved_model", 13) != 0) return &m->signatures[i];
    return NULL;
}

/* The variables are in a checkpoint beside the graph; one without variables has none. */
static bool open_variables(tf_reader *r)
{
    eddy_error e = { 0 };
    if (!r->model->saved_model) return true;
    const char *path = eddy__name_beside(&r->base.memory, r->base.path, "variables/variables");
    if (!path) return eddy__reading_no_memory(&r->base);
    r->checkpoint = eddy_tensorflow_checkpoint_open(path, .files = r->options.files,
                                                    .max_bytes = r->options.max_bytes, .error = &e);
    if (!r->checkpoint && e.status != EDDY_NOT_FOUND) return eddy__reading_file_error(&r->base, &e);
    return true;
}

bool eddy__tf_open(tf_reader *r, const eddy_tensorflow_args *given)
{
    r->options = (eddy_tensorflow_args){ eddy_tensorflow_args_DEFAULTS .size_ = sizeof r->options };
    eddy_copy_options(&r->options, given);
    const eddy_tensorflow_args *o = &r->options;
    if (!eddy__reading_begin(&r->base, o->error, o->path, o->data, "TensorFlow model"))
        return false;
    if (o->input_count < 0 || (o->input_count && !o->inputs) || o->output_count < 0 ||
        (o->output_count && !o->outputs))
        return eddy__tf_error(r, EDDY_INVALID_ARGUMENT, "the bindings or outputs are missing");
    if (!o->data && !ends_with(r->base.path, ".pb") && !ends_with(r->base.path, ".json"))
        r->base.path = eddy__region_print(
            &r->base.memory,
            ends_with(r->base.path, "/") ? "%ssaved_model.pb" : "%s/saved_model.pb", r->base.path);
    if (!r->base.path) {
        r->base.path = "";
        return eddy__reading_no_memory(&r->base);
    }
    r->model = eddy__region_take(&r->base.memory, 1, sizeof *r->model);
    if (!r->model) return eddy__reading_no_memory(&r->base);
    if (!eddy__reading_open(&r->base, o->data, o->data_size, o->files, o->max_bytes)) return false;
    const wire_bytes b = eddy__source_bytes(r->base.file);
    size_t           first = 0;
    while (first < b.size && b.at[first] && strchr(" \t\r\n", b.at[first])) first++;
    const bool is_json = first < b.size && b.at[first] == '{';
    if (!(is_json ? open_json(r, b) : open_protobuf(r, b))) return false;
    r->signature = signature_of(r);
    return !r->base.failed && open_variables(r);
}

void eddy__tf_close(tf_reader *r)
{
    for (size_t i = 0; r->groups && i < r->manifest.n_groups; i++)
        eddy__source_release(r->groups[i]);
    eddy_checkpoint_free(r->checkpoint);
    eddy__reading_close(&r->base);
    *r = (tf_reader){ 0 };
}
