/* reading.c -- models, checkpoints and data files of other programs, and pipelines, read without
 * enough memory. */
#include "tests/lib/datasets.h"
#include "tests/formats/onnx_nodes.h"
#include "tests/formats/onnx_values.h"
#include "tests/formats/tensorflow_nodes.h"
#include "tests/lib/files/event_files.h"
#include "tests/lib/files/onnx_cases.h"
#include "tests/lib/files/onnx_odd_models.h"
#include "tests/lib/files/tensorflow_text_graphs.h"
#include "tests/torture/scenario.h"

#include <stdio.h>
#include <string.h>

#define INPUT "tests/input/fixtures/"
#define FORMAT "tests/formats/files/"

/* ------------------------------------------------------------------- models -- */

static void onnx(const char *path, outcome *o)
{
    eddy_error       e = { 0 };
    eddy_graph      *g = eddy_graph_new();
    eddy_onnx_model *m = g ? eddy_onnx_read(g, path, .variables = true, .error = &e) : NULL;
    if (!g) outcome_of_graph(o, g);
    if (g) outcome_of_made(o, &e, m);
    eddy_model_report *r = o->status == EDDY_OK ? eddy_onnx_check(path, .error = &e) : NULL;
    if (r) outcome_of_made(o, &e, r);
    outcome_of_error(o, &e);
    outcome_add(o, (int[]){ eddy_onnx_output_count(m), eddy_model_report_size(r) },
                2 * sizeof(int));
    eddy_model_report_free(r);
    eddy_onnx_free(m);
    eddy_graph_free(g);
}

static void tensorflow(const char *path, outcome *o)
{
    eddy_error             e = { 0 };
    eddy_graph            *g = eddy_graph_new();
    eddy_tensorflow_model *m = g ? eddy_tensorflow_read(g, path, .variables = true, .error = &e)
                                 : NULL;
    if (!g) outcome_of_graph(o, g);
    if (g) outcome_of_made(o, &e, m);
    eddy_model_report *r = o->status == EDDY_OK ? eddy_tensorflow_check(path, .error = &e)
                                                     : NULL;
    if (r) outcome_of_made(o, &e, r);
    outcome_of_error(o, &e);
    outcome_add(o, (int[]){ eddy_tensorflow_output_count(m), eddy_model_report_size(r) },
                2 * sizeof(int));
    eddy_model_report_free(r);
    eddy_tensorflow_free(m);
    eddy_graph_free(g);
}

static void torch(const char *path, outcome *o)
{
    eddy_error e = { 0 };
    outcome_add_checkpoint(o, eddy_torch_checkpoint_open(path, .error = &e), &e);
}

static void keras(const char *path, outcome *o)
{
    eddy_error e = { 0 };
    outcome_add_checkpoint(o, eddy_keras_checkpoint_open(path, .error = &e), &e);
}

/* --------------------------------------------------------------------- data -- */

typedef eddy_array *load_fn(const char *path, const eddy_files *files, eddy_error *error);

static void load(load_fn *f, const char *path, outcome *o)
{
    eddy_error  e = { 0 };
    eddy_array *a = f(path, NULL, &e);
    outcome_of_made(o, &e, a);
    outcome_add_array(o, a);
    eddy_array_free(a);
}
static void idx(const char *path, outcome *o) { load(eddy_idx_load, path, o); }
static void image(const char *path, outcome *o) { load(eddy_image_load, path, o); }
static void wav(const char *path, outcome *o) { load(eddy_wav_load, path, o); }
static void text(const char *path, outcome *o)
{
    load(eddy_bytes_load, path, o);
    load(eddy_characters_load, path, o);
}

static void npz(const char *path, outcome *o)
{
    eddy_error e = { 0 };
    eddy_npz  *z = eddy_npz_open(path, NULL, &e);
    outcome_of_made(o, &e, z);
    for (int i = 0; i < eddy_npz_count(z) && e.status == EDDY_OK; i++) {
        eddy_array *a = eddy_npz_array(z, eddy_npz_name(z, i), &e);
        outcome_of_made(o, &e, a);
        outcome_add_array(o, a);
        eddy_array_free(a);
    }
    eddy_npz_free(z);
}

static void csv(const char *path, outcome *o)
{
    eddy_error e = { 0 };
    eddy_csv  *c = eddy_csv_read(path, .error = &e);
    outcome_of_made(o, &e, c);
    for (int i = 0; i < eddy_csv_columns(c); i++) {
        outcome_add_text(o, eddy_csv_name(c, i));
        outcome_add_array(o, eddy_csv_array(c, i));
        for (int k = 0; k < eddy_csv_words(c, i); k++) outcome_add_text(o, eddy_csv_word(c, i, k));
    }
    eddy_csv_free(c);
}

static void lines(const char *path, outcome *o)
{
    const eddy_array *line[1];
    eddy_dataset     *d = eddy_dataset_from_lines(path);
    while (eddy_dataset_next(d, line)) outcome_add_array(o, line[0]);
    outcome_of(o, eddy_dataset_status(d), eddy_dataset_message(d));
    eddy_dataset_free(d);
}

typedef struct file {
    const char *path;
    void      (*read)(const char *path, outcome *o);
} file;

static const file files[] = {
    { "data/sine.onnx", onnx }, { "data/sine.pb", tensorflow },
    { FORMAT "net.pt", torch }, { FORMAT "mixed.pt", torch },
    { FORMAT "keras2.h5", keras }, { FORMAT "net.keras", keras }, { FORMAT "types.h5", keras },
    { FORMAT "expanded.pt", torch }, { FORMAT "module.pt", torch },
    { FORMAT "model.json", tensorflow },
    { INPUT "labels.idx.gz", idx }, { "data/digits-labels.idx1-ubyte", idx },
    { INPUT "stored.npz", npz }, { INPUT "deflated.npz", npz }, { INPUT "versions.npz", npz },
    { INPUT "rgba.png", image }, { INPUT "interlaced.png", image }, { INPUT "palette.png", image },
    { INPUT "deep.png", image }, { INPUT "rgb.jpg", image }, { INPUT "progressive.jpg", image },
    { INPUT "gray.jpg", image }, { INPUT "stereo.wav", wav }, { INPUT "table.csv", csv },
    { INPUT "table.csv", text }, { INPUT "table.csv", lines },
};

/* A file that cannot be read must be refused each time, with the same message. */
static void accept_refusal(outcome *o)
{
    if (o->status == EDDY_OK || o->status == EDDY_NO_MEMORY) return;
    outcome_add_text(o, o->message);
    *o = (outcome){ .hash = o->hash };
}

static int         count_files(void) { return (int)(sizeof files / sizeof *files); }
static const char *name_file(int i) { return files[i].path; }
static void        read_file(int i, void *state, outcome *o)
{
    (void)state;
    files[i].read(files[i].path, o);
    accept_refusal(o);
}

/* Small files of each kind of data, of which all allocations are tried, and a table with long
 * fields and many words. */
static const file data_files[] = {
    { INPUT "labels.idx.gz", idx }, { INPUT "versions.npz", npz }, { INPUT "rgb.jpg", image },
    { INPUT "interlaced.png", image }, { INPUT "stereo.wav", wav }, { INPUT "table.csv", lines },
    { INPUT "table.csv", text }, { FORMAT "types.h5", keras }, { FORMAT "net.keras", keras },
    { FORMAT "mixed.pt", torch }, { FORMAT "net.pt", torch }, { NULL, csv },
};
static int         count_data(void) { return (int)(sizeof data_files / sizeof *data_files); }
static const char *name_data(int i) { return data_files[i].path ? data_files[i].path : "words"; }
static void       *begin_data(int i)
{
    FILE *f = data_files[i].path ? NULL : fopen(scratch("words.csv"), "wb");
    if (!f) return NULL;
    fprintf(f, "word,%0300d\n\"%0900d\",1\n", 7, 7);
    for (int k = 0; k < 70; k++) fprintf(f, "w%d,%d\n", k, k);
    fclose(f);
    return NULL;
}
static void read_data(int i, void *state, outcome *o)
{
    (void)state;
    data_files[i].read(data_files[i].path ? data_files[i].path : scratch("words.csv"), o);
}

/* The test models of ONNX, where they are installed. */
static char **cases(int *count)
{
    static char **names;
    static int    n;
    if (!names) names = names_in(ONNX_CASES "/node", &n);
    if (count) *count = n;
    return names;
}
static int count_cases(void)
{
    int n;
    cases(&n);
    return n;
}
static const char *name_case(int i) { return cases(NULL)[i]; }
static void        read_case(int i, void *state, outcome *o)
{
    char path[1000];
    (void)state;
    snprintf(path, sizeof path, "%s/node/%s/model.onnx", ONNX_CASES, name_case(i));
    onnx(path, o);
    accept_refusal(o);
}

/* Each operator, in a file of its own: two scenarios run at a time. */
static const char *numbered_path(const char *end, int i)
{
    static char name[40];
    snprintf(name, sizeof name, "%d%s", i, end);
    return name;
}
static int         count_onnx_nodes(void) { return (int)(sizeof onnx_rows / sizeof *onnx_rows); }
static const char *name_onnx_node(int i) { return onnx_rows[i].op; }
static void       *begin_onnx_node(int i)
{
    const onnx_row *r = &onnx_rows[i];
    const node_case c = node_case_of(r->op, r->opset, r->inputs, r->attributes, r->outputs);
    message         m = onnx_node_model(&c);
    scratch_put(numbered_path(".onnx", i), m.at, m.size);
    message_free(&m);
    return NULL;
}
static void read_onnx_node(int i, void *state, outcome *o)
{
    (void)state;
    onnx(scratch(numbered_path(".onnx", i)), o);
    accept_refusal(o);
}

/* Several nodes, in forms that are unusual, or wrong. */
enum { ONNX_VALUES = sizeof onnx_values / sizeof *onnx_values,
       ONNX_REFUSED = sizeof onnx_refused / sizeof *onnx_refused };
static const onnx_text *onnx_text_at(int i)
{
    return i < ONNX_VALUES ? &onnx_values[i] : &onnx_refused[i - ONNX_VALUES];
}
static int         count_onnx_texts(void) { return ONNX_VALUES + ONNX_REFUSED; }
static const char *name_onnx_text(int i) { return onnx_text_at(i)->nodes; }
static void       *begin_onnx_text(int i)
{
    const onnx_text *t = onnx_text_at(i);
    message          m = onnx_model_message(onnx_text_graph(t->inputs, t->nodes, 1), t->opset);
    scratch_put(numbered_path(".text.onnx", i), m.at, m.size);
    message_free(&m);
    return NULL;
}
static void read_onnx_text(int i, void *state, outcome *o)
{
    (void)state;
    onnx(scratch(numbered_path(".text.onnx", i)), o);
    accept_refusal(o);
}

/* Models that are more than their nodes: a function, a sparse tensor, a file of external data,
 * or a name that Eddy gave; and inputs that are bound to three tensors, one or none. */
enum { FUNCTION, SPARSE, CONSTANT, EXTERNAL, NAMED, THREE, ONE, NONE, ONNX_MODELS };

static message external_tensor(void)
{
    message t = onnx_tensor_message("y0", 1, 1, (int64_t[]){ 2 }, NULL, 0), entry = { NULL, 0 };
    message_text(&entry, 1, "location");
    message_text(&entry, 2, "external.bin");
    message_inner(&t, 13, entry);
    message_number(&t, 14, 1);
    return t;
}

static message onnx_model_at(int i)
{
    static const onnx_function_text f = { "F", "a,e", "b", "Neg a>b alpha=$slope", "slope", 0.5 };
    if (i == SPARSE || i == CONSTANT) {
        message sparse = onnx_sparse_message(onnx_int64s("", 2, (int64_t[]){ 1, 5 }), 3);
        return i == SPARSE ? onnx_sparse_model(sparse) : onnx_sparse_constant(sparse);
    }
    if (i == EXTERNAL) return onnx_tensor_model(external_tensor());
    if (i == NAMED) return onnx_named_model("a/Tanh:Tanh5");
    if (i != FUNCTION) return onnx_typed_model(i == THREE ? 4 : 9);
    message m = onnx_model_message(onnx_text_graph("?f[2]", "local:F x0>y0", 1), 13);
    message_inner(&m, 25, onnx_text_function(&f, 13));
    return m;
}

static int         count_onnx_models(void) { return ONNX_MODELS; }
static const char *name_onnx_model(int i)
{
    static const char *const names[] = { "function", "sparse", "constant", "external", "named",
                                         "three", "one", "none" };
    return names[i];
}
static void *begin_onnx_model(int i)
{
    message m = onnx_model_at(i), bytes = { NULL, 0 };
    message_bytes(&bytes, 1, "123456", 6);      /* eight bytes */
    scratch_put(numbered_path(".model.onnx", i), m.at, m.size);
    if (i == EXTERNAL) scratch_put("external.bin", bytes.at, bytes.size);
    message_free(&bytes);
    message_free(&m);
    return NULL;
}
static void read_onnx_model(int i, void *state, outcome *o)
{
    const char *path = scratch(numbered_path(".model.onnx", i));
    (void)state;
    if (i < THREE) {
        onnx(path, o);
        return;
    }
    eddy_error        e = { 0 };
    eddy_graph       *g = eddy_graph_new();
    const eddy_tensor c = eddy_scalar(g, 3), list[] = { c, c, c };
    const eddy_model_binding b = { "x", { i == THREE ? 3 : i == ONE, list } };
    if (outcome_of_graph(o, g)) {
        eddy_onnx_model *m = eddy_onnx_read(g, path, .inputs = &b, .input_count = 1, .error = &e);
        outcome_of_error(o, &e);
        outcome_add(o, &(int){ eddy_onnx_items(m, "x").count }, sizeof(int));
        eddy_onnx_free(m);
    }
    eddy_graph_free(g);
}

static int count_tensorflow_nodes(void)
{
    int n = 0;
    while (tensorflow_row(n)) n++;
    return n;
}
static const char *name_tensorflow_node(int i) { return tensorflow_row(i)->op; }
static void       *begin_tensorflow_node(int i)
{
    const row      *r = tensorflow_row(i);
    const node_case c = node_case_of(r->op, 0, r->inputs, r->attributes, 1);
    message         m = tf_node_model(&c);
    scratch_put(numbered_path(".pb", i), m.at, m.size);
    message_free(&m);
    return NULL;
}
static void read_tensorflow_node(int i, void *state, outcome *o)
{
    (void)state;
    tensorflow(scratch(numbered_path(".pb", i)), o);
    accept_refusal(o);
}

static int         count_tensorflow_graphs(void) { return TEXT_GRAPHS; }
static const char *name_tensorflow_graph(int i) { return text_graphs[i].name; }
static void       *begin_tensorflow_graph(int i)
{
    const text_graph g = text_graph_of(text_graphs[i].text);
    message          m = text_graph_message(&g);
    scratch_put(numbered_path(".graph.pb", i), m.at, m.size);
    message_free(&m);
    return NULL;
}
static void read_tensorflow_graph(int i, void *state, outcome *o)
{
    (void)state;
    tensorflow(scratch(numbered_path(".graph.pb", i)), o);
    accept_refusal(o);
}

/* -------------------------------------------------------------- event files -- */

/* A scalar as a tensor, times of a node, and a damaged record. */
static void put_other_events(void)
{
    const float number = 1.5f;
    message     bytes = { NULL, 0 };
    for (int i = 0; i < 3; i++) {
        message inner = { NULL, 0 }, value = { NULL, 0 }, summary = { NULL, 0 },
                event = { NULL, 0 };
        message_bytes(&inner, i == 0 ? 4 : 2, &number, i == 0 ? sizeof number : 0);
        if (i == 0) {                           /* tag and tensor */
            message_text(&value, 1, "tensor");
            message_inner(&value, 8, inner);
            message_inner(&summary, 1, value);
            message_inner(&event, 5, summary);
        } else {                                /* a node, in a device, in a step */
            message_inner(&value, 1, inner);
            message_inner(&summary, 1, value);
            message_inner(&event, 2, summary);
            message_text(&event, 1, "run");
            summary = event;
            event = (message){ NULL, 0 };
            message_inner(&event, 8, summary);
        }
        put_event(&bytes, &event);
        message_free(&event);
    }
    bytes.at[bytes.size - 1] ^= 1;
    scratch_put("events/tfevents", bytes.at, bytes.size);
    message_free(&bytes);
}

static void *begin_events(int i)
{
    static const eddy_hparam rate = { "rate", 0.5, NULL };
    static bool              written;
    (void)i;
    if (written) return NULL;
    written = true;
    eddy_graph  *g = eddy_graph_new();
    eddy_array  *a = numbers_in(EDDY_FLOAT32, EDDY_SHAPE(2, 3), 0, 1);
    eddy_events *w = eddy_events_new(scratch("events"));
    eddy_sum(eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3)));
    for (int k = 0; k < 20; k++) eddy_events_scalar(w, "loss", k, k);
    eddy_events_histogram(w, "x", 1, a);
    eddy_events_text(w, "t", 1, "text");
    eddy_events_graph(w, g);
    eddy_events_hparams(w, &rate, 1, NULL, 0);
    eddy_events_close(w, NULL);
    eddy_events_close(eddy_events_new(scratch("events/sub")), NULL);
    put_other_events();
    eddy_array_free(a);
    eddy_graph_free(g);
    return NULL;
}

static void report(int i, void *state, outcome *o)
{
    eddy_error e = { 0 };
    (void)i, (void)state;
    outcome_of(o, eddy_events_report(scratch("events"), scratch("report.html"), .error = &e),
               e.message);
}

/* ---------------------------------------------------------------- pipelines -- */

enum { RECORDS = 60 };

static void read_pipeline(int i, void *state, outcome *o)
{
    const eddy_array *record[EDDY_MAX_COMPONENTS];
    (void)state;
    eddy_dataset *d = pipeline(i, NULL);
    for (int n = 0; n < RECORDS && eddy_dataset_status(d) == EDDY_OK; n++)
        if (eddy_dataset_next(d, record)) {
            const uint64_t h = record_hash(d, record);
            outcome_add(o, &h, sizeof h);
        }
    if (eddy_dataset_status(d) == EDDY_OK) {
        const char *position = eddy_dataset_position(d);
        if (!position) outcome_of(o, EDDY_NO_MEMORY, "no position");
        outcome_add_text(o, position);
    }
    outcome_of(o, eddy_dataset_status(d), eddy_dataset_message(d));
    eddy_dataset_free(d);
}

static int count_pipelines(void)
{
    int n = 0;
    for (eddy_dataset *d; (d = pipeline(n, NULL)); n++) eddy_dataset_free(d);
    return n;
}
static const char *name_pipeline(int i)
{
    static char name[12];
    snprintf(name, sizeof name, "%d", i);
    return name;
}

static void map_graph(int i, void *state, outcome *o)
{
    const eddy_array *record[2];
    (void)i, (void)state;
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2));
    eddy_tensor   y = eddy_placeholder(g, "y", EDDY_INT32, EDDY_SCALAR);
    eddy_tensor   z = eddy_exp(eddy_add(x, eddy_cast(y, EDDY_FLOAT32)));
    if (outcome_of_graph(o, g)) {
        eddy_dataset *d = eddy_dataset_map_graph(numbered(5, NULL), g, EDDY_LIST(x, y),
                                                 EDDY_LIST(z));
        while (eddy_dataset_next(d, record)) outcome_add_array(o, record[0]);
        outcome_of(o, eddy_dataset_status(d), eddy_dataset_message(d));
        eddy_dataset_free(d);
    }
    eddy_graph_free(g);
}

const scenarios reading[] = {
    { .kind = "file", .count = count_files, .name = name_file, .act = read_file },
    { .kind = "data file", .count = count_data, .name = name_data,
      .begin = begin_data, .act = read_data },
    { .kind = "ONNX case", .count = count_cases, .name = name_case, .act = read_case },
    { .kind = "ONNX node", .count = count_onnx_nodes, .name = name_onnx_node,
      .begin = begin_onnx_node, .act = read_onnx_node },
    { .kind = "ONNX text", .count = count_onnx_texts, .name = name_onnx_text,
      .begin = begin_onnx_text, .act = read_onnx_text },
    { .kind = "ONNX model", .count = count_onnx_models, .name = name_onnx_model,
      .begin = begin_onnx_model, .act = read_onnx_model },
    { .kind = "TensorFlow node", .count = count_tensorflow_nodes, .name = name_tensorflow_node,
      .begin = begin_tensorflow_node, .act = read_tensorflow_node },
    { .kind = "TensorFlow graph", .count = count_tensorflow_graphs, .name = name_tensorflow_graph,
      .begin = begin_tensorflow_graph, .act = read_tensorflow_graph },
    { .kind = "report of event files", .begin = begin_events, .act = report },
    { .kind = "pipeline", .count = count_pipelines, .name = name_pipeline, .act = read_pipeline },
    { .kind = "pipeline with a graph", .act = map_graph },
    { .kind = NULL },
};
