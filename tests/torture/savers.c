/* savers.c -- see savers.h. */
#include "tests/torture/savers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = SAVED_ELEMENTS, VARIABLES = SAVED_VARIABLES };

typedef saved_model model;

static const char *const names[] = { "v0", "v1", "v2", NULL };

const char *path_in(const char *folder, const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

void *saved_model_begin(const eddy_files *files, const char *folder)
{
    model *m = calloc(1, sizeof *m);
    m->files = files;
    snprintf(m->folder, sizeof m->folder, "%s", folder);
    m->graph = eddy_graph_new(.files = files);
    for (int i = 0; i < VARIABLES; i++)
        m->v[i] = eddy_variable(m->graph, eddy_zeros(m->graph, EDDY_FLOAT32, EDDY_SHAPE(ELEMENTS)),
                                .name = names[i]);
    m->y = eddy_add_n(((eddy_list){ VARIABLES, m->v }), "y");
    m->session = eddy_session_new(m->graph, .threads = 1);
    m->dataset = eddy_dataset_from_arrays((const eddy_array *[]){ EDDY_INTS(1, 2, 3) }, 1);
    return m;
}

void saved_model_end(void *state)
{
    model *m = state;
    eddy_dataset_free(m->dataset);
    eddy_session_free(m->session);
    eddy_graph_free(m->graph);
    free(m);
}

static eddy_array *filled(int version)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(ELEMENTS));
    for (int i = 0; i < ELEMENTS; i++) eddy_array_set(a, i, version);
    return a;
}

void saved_model_set(const model *m, int version)
{
    for (int i = 0; i < eddy_collection_size(m->graph, EDDY_GLOBAL_VARIABLES); i++) {
        const eddy_tensor v = eddy_collection_at(m->graph, EDDY_GLOBAL_VARIABLES, i);
        eddy_array       *a = eddy_array_new(EDDY_FLOAT32, eddy_shape_of(v));
        for (int64_t k = 0; k < eddy_array_count(a); k++) eddy_array_set(a, k, version);
        eddy_variable_set(m->session, v, a);
        eddy_array_free(a);
    }
}

/* The number of which the array consists; -1 if it has others. */
static int version_of(const eddy_array *a)
{
    const double v = a && eddy_array_count(a) == ELEMENTS ? eddy_array_item(a) : -1;
    for (int64_t i = 0; a && i < eddy_array_count(a); i++)
        if (eddy_array_get(a, i) != v) return -1;
    return (int)v;
}

int no_version(const eddy_error *e, eddy_status *status)
{
    *status = e->status == EDDY_NOT_FOUND ? EDDY_OK : e->status;
    return e->status == EDDY_NOT_FOUND ? 0 : -1;
}

/* -------------------------------------------------------------- checkpoints -- */

int checkpoint_version(const eddy_files *files, const char *path, const char *const *variables,
                       eddy_status *status)
{
    eddy_error       e = { 0 };
    eddy_checkpoint *c = eddy_checkpoint_open(path, files, .error = &e);
    int              version = -1;
    for (int i = 0; c && variables[i]; i++) {
        eddy_array *a = eddy_checkpoint_value(c, variables[i], &e);
        const int   v = version_of(a);
        version = i == 0 || v == version ? v : -1;
        eddy_array_free(a);
    }
    eddy_checkpoint_free(c);
    if (!c) return no_version(&e, status);
    *status = e.status;
    return e.status == EDDY_OK ? version : -1;
}

static int load_from(const eddy_files *files, const char *path, eddy_status *status)
{
    return checkpoint_version(files, path, names, status);
}

static eddy_status save_checkpoint(void *state, int version)
{
    const model *m = state;
    saved_model_set(m, version);
    return eddy_save(m->session, path_in(m->folder, "c"), EDDY_LIST());
}
static int load_checkpoint(const eddy_files *files, const char *folder, eddy_status *status)
{
    return load_from(files, path_in(folder, "c"), status);
}

static eddy_status save_shards(void *state, int version)
{
    const model *m = state;
    saved_model_set(m, version);
    return eddy_save_checkpoint(m->session, path_in(m->folder, "s.safetensors.index.json"),
                                .shard_bytes = 4 * ELEMENTS);
}
static int load_shards(const eddy_files *files, const char *folder, eddy_status *status)
{
    return load_from(files, path_in(folder, "s.safetensors.index.json"), status);
}

static eddy_status save_kept(void *state, int version)
{
    const model *m = state;
    saved_model_set(m, version);
    return eddy_keep_checkpoint(m->session, m->folder, version, 1);
}
static int load_kept(const eddy_files *files, const char *folder, eddy_status *status)
{
    eddy_kept_checkpoint k;
    eddy_error           e = { 0 };
    if (eddy_latest_checkpoint(folder, files, &k, &e) != EDDY_OK) return no_version(&e, status);
    *status = EDDY_OK;
    if (k.step < 0) return 0;
    const int v = load_from(files, k.path, status);
    return v == k.step ? v : -1;
}

static eddy_status save_with_dataset(void *state, int version)
{
    const model *m = state;
    saved_model_set(m, version);
    eddy_dataset_next(m->dataset, NULL);
    eddy_error e = { 0 };
    return eddy_save_with_dataset(m->session, path_in(m->folder, "d"), m->dataset, &e);
}
static int load_with_dataset(const eddy_files *files, const char *folder, eddy_status *status)
{
    return load_from(files, path_in(folder, "d"), status);
}

/* --------------------------------------------------------- graphs and models -- */

static eddy_status save_graph(void *state, int version)
{
    const model *m = state;
    char         name[20];
    eddy_graph  *g = eddy_graph_new(.files = m->files);
    for (int i = 0; i < version; i++) eddy_scalar(g, i);
    snprintf(name, sizeof name, "version%d", version);
    eddy_array *a = filled(version);
    eddy_constant(g, a, name);
    eddy_array_free(a);
    const eddy_status s = eddy_graph_save(g, path_in(m->folder, "g.yaml"), NULL);
    eddy_graph_free(g);
    return s;
}
static int load_graph(const eddy_files *files, const char *folder, eddy_status *status)
{
    eddy_error  e = { 0 };
    char        name[20];
    eddy_graph *g = eddy_graph_load(path_in(folder, "g.yaml"), .files = files, .error = &e);
    if (!g) return no_version(&e, status);
    const int version = eddy_graph_size(g) - 1;
    snprintf(name, sizeof name, "version%d:0", version);
    const bool fits = eddy_graph_has(g, name);
    eddy_graph_free(g);
    *status = EDDY_OK;
    return fits ? version : -1;
}

static eddy_status write_model(const model *m, int version, const char *name, int64_t external)
{
    saved_model_set(m, version);
    return eddy_onnx_write(EDDY_LIST(m->y), path_in(m->folder, name), .session = m->session,
                           .external_bytes = external, .files = m->files);
}

/* The weights of the model must have one version, and their sum fit. */
static int model_version(eddy_graph *g, const eddy_onnx_model *m)
{
    eddy_session *s = eddy_session_new(g, .threads = 1);
    eddy_array   *y = eddy_fetch(s, eddy_onnx_output(m, eddy_onnx_output_name(m, 0)));
    const int     sum = version_of(y);
    eddy_array_free(y);
    eddy_session_free(s);
    return sum > 0 && sum % VARIABLES == 0 ? sum / VARIABLES : -1;
}

static int load_model(const eddy_files *files, const char *path, eddy_status *status)
{
    eddy_error       e = { 0 };
    eddy_graph      *g = eddy_graph_new();
    eddy_onnx_model *m = eddy_onnx_read(g, path, .files = files, .error = &e);
    if (!m && e.status == EDDY_IO) {            /* is there a file? */
        eddy_error none = { 0 };
        eddy_array_free(eddy_array_load(path, files, &none));
        if (none.status == EDDY_NOT_FOUND) e.status = EDDY_NOT_FOUND;
    }
    const int version = m ? model_version(g, m) : no_version(&e, status);
    eddy_onnx_free(m);
    eddy_graph_free(g);
    if (m) *status = EDDY_OK;
    return version;
}

static eddy_status save_onnx(void *state, int version)
{
    return write_model(state, version, "m.onnx", 0);
}
static int load_onnx(const eddy_files *files, const char *folder, eddy_status *status)
{
    return load_model(files, path_in(folder, "m.onnx"), status);
}
static eddy_status save_external(void *state, int version)
{
    return write_model(state, version, "e.onnx", 64);
}
static int load_external(const eddy_files *files, const char *folder, eddy_status *status)
{
    return load_model(files, path_in(folder, "e.onnx"), status);
}

/* ------------------------------------------------------------------- arrays -- */

static eddy_status save_array(void *state, int version)
{
    const model *m = state;
    eddy_array  *a = filled(version);
    const eddy_status s = eddy_array_save(a, path_in(m->folder, "a.npy"), m->files, NULL);
    eddy_array_free(a);
    return s;
}
static int load_array(const eddy_files *files, const char *folder, eddy_status *status)
{
    eddy_error  e = { 0 };
    eddy_array *a = eddy_array_load(path_in(folder, "a.npy"), files, &e);
    if (!a) return no_version(&e, status);
    const int version = version_of(a);
    eddy_array_free(a);
    *status = EDDY_OK;
    return version;
}

#define ROW(name, what) { name, saved_model_begin, save_##what, load_##what, saved_model_end }

const saver savers[] = {
    ROW("checkpoint", checkpoint),
    ROW("checkpoint of several files", shards),
    ROW("kept checkpoints", kept),
    ROW("checkpoint with a dataset", with_dataset),
    ROW("graph", graph),
    ROW("ONNX model", onnx),
    ROW("ONNX model with a second file", external),
    ROW("npy array", array),
    { .name = NULL },
};
