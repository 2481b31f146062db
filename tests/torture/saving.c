/* saving.c -- graphs, checkpoints and models, written and read back without enough memory. */
#include "tests/torture/scenario.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *begin(int i)
{
    (void)i;
    fixture    *f = calloc(1, sizeof *f);
    eddy_graph *g = f->graph = eddy_graph_new(.seed = 3);
    f->x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 3));
    f->y = eddy_softmax(eddy_dense(eddy_relu(eddy_dense(f->x, 8, "a")), 2, "b"));
    f->train = eddy_minimize(eddy_adam(g, eddy_scalar(g, 0.1)), eddy_mean(eddy_square(f->y)));
    f->init = eddy_initializer(g);
    f->value = numbers_in(EDDY_FLOAT32, EDDY_SHAPE(4, 3), -1, 1);
    f->session = eddy_session_new(g, .threads = 1);
    eddy_run(f->session, EDDY_FEED(), EDDY_FETCH(f->init), NULL);
    return f;
}

/* Adds the bytes of a file, read without the library. */
static void add_file(outcome *o, const char *path)
{
    char    block[4096];
    FILE   *in = o->status == EDDY_OK ? fopen(path, "rb") : NULL;
    size_t  n = 0;
    if (!in) {
        outcome_of(o, EDDY_NO_MEMORY, "no stream");
        return;
    }
    setvbuf(in, NULL, _IONBF, 0);
    while ((n = fread(block, 1, sizeof block, in)) > 0) outcome_add(o, block, n);
    fclose(in);
}

static void graph_file(int i, void *state, outcome *o)
{
    const fixture *f = state;
    const char    *path = scratch("graph.yaml");
    eddy_error     e = { 0 };
    (void)i;
    outcome_of(o, eddy_graph_save(f->graph, path, &e), e.message);
    add_file(o, path);
    if (o->status != EDDY_OK) return;
    eddy_graph *g = eddy_graph_load(path, .error = &e);
    outcome_of_made(o, &e, g);
    if (g) outcome_add(o, &(int){ eddy_graph_size(g) }, sizeof(int));
    eddy_graph_free(g);
}

static int doubled(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_add(x.at[0], x.at[0]);
    return 1;
}

/* Few nodes with something of all that a graph file states: lists, scopes, bodies, elements in
 * base64 and in decimal, and a text that is not UTF-8. */
static void *begin_odd(int i)
{
    (void)i;
    fixture    *f = calloc(1, sizeof *f);
    eddy_graph *g = f->graph = eddy_graph_new();
    eddy_scope_begin(g, "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z/aa/ab/ac/ad/ae/af");
    f->x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 3));
    eddy_scope_end(g);
    eddy_device_begin(g, "\xff:0");
    f->y = eddy_add_n(EDDY_LIST(f->x, f->x, f->x, f->x, f->x, f->x, f->x, f->x, f->x, f->x, f->x));
    eddy_device_end(g);
    eddy_control_begin(g, EDDY_LIST(f->x, f->y));
    eddy_constant(g, EDDY_FLOATS(1, NAN, INFINITY));
    eddy_constant(g, EDDY_BYTES(1, 2));
    eddy_control_end(g);
    f->y = eddy_transpose(f->y, .perm = EDDY_DIMS(1, 0));
    const eddy_function double_it = { .build = doubled };
    eddy_cond(eddy_placeholder(g, "p", EDDY_BOOL, EDDY_SCALAR), double_it, double_it, &f->y,
              EDDY_LIST(f->y));
    eddy_collection_add(g, "two", f->x);
    eddy_collection_add(g, "two", f->y);
    return f;
}

static void odd_graph(int i, void *state, outcome *o)
{
    const fixture *f = state;
    eddy_error     e = { 0 };
    (void)i;
    char       *text = eddy_graph_to_yaml(f->graph);
    eddy_graph *g = text ? eddy_graph_load(.text = text, .error = &e) : NULL;
    if (!text) outcome_of(o, EDDY_NO_MEMORY, "no text");
    outcome_of_error(o, &e);
    if (g) outcome_add(o, &(int){ eddy_graph_size(g) }, sizeof(int));
    if (text) outcome_add_text(o, text);
    eddy_graph_free(g);
    eddy_string_free(text);
}

static void checkpoint(int i, void *state, outcome *o)
{
    const fixture *f = state;
    const char    *path = scratch("all.safetensors");
    (void)i;
    outcome_of_session(o, f->session, eddy_save(f->session, path, EDDY_LIST()));
    add_file(o, path);
    if (o->status == EDDY_OK)
        outcome_of_session(o, f->session, eddy_restore(f->session, path, EDDY_LIST()));
}

static void shards(int i, void *state, outcome *o)
{
    const fixture            *f = state;
    const char               *path = scratch("m.safetensors.index.json");
    const eddy_checkpoint_map torch = eddy_torch_map();
    (void)i;
    unlink(path);
    outcome_of_session(o, f->session, eddy_save_checkpoint(f->session, path, .map = &torch,
                                                           .shard_bytes = 100));
    if (o->status == EDDY_OK)
        outcome_of_session(o, f->session, eddy_restore_checkpoint(f->session, path, .map = &torch));
    if (o->status == EDDY_OK) run_and_add(o, f->session, EDDY_FEED({ f->x, f->value }),
                                          EDDY_FETCH(f->y));
}

/* Layers whose rules turn axes, join and divide entries and add biases, and a complex variable. */
static void *begin_layers(int i)
{
    (void)i;
    fixture    *f = calloc(1, sizeof *f);
    eddy_graph *g = f->graph = eddy_graph_new(.seed = 3);
    const eddy_cell lstm = EDDY_CELL(EDDY_LSTM_CELL, 4),
                    gru = EDDY_CELL(EDDY_GRU_CELL, 4, .reset_after = true);
    f->x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3, 4));
    f->y = eddy_multi_head_attention(eddy_rnn(eddy_rnn(f->x, lstm, "a").outputs, gru, "b").outputs,
                                     2, "c");
    eddy_variable(g, eddy_zeros(g, EDDY_COMPLEX64, EDDY_SHAPE(2)), .name = "z");
    f->init = eddy_initializer(g);
    f->value = numbers_in(EDDY_FLOAT32, EDDY_SHAPE(2, 3, 4), -1, 1);
    f->session = eddy_session_new(g, .threads = 1);
    eddy_run(f->session, EDDY_FEED(), EDDY_FETCH(f->init), NULL);
    return f;
}

static void layers(int i, void *state, outcome *o)
{
    const fixture            *f = state;
    const char               *path = scratch("layers.safetensors");
    const eddy_checkpoint_map map = eddy_torch_map();
    eddy_restore_report       r = { 0 };
    (void)i;
    outcome_of_session(o, f->session, eddy_save_checkpoint(f->session, path, .map = &map));
    add_file(o, path);
    if (o->status == EDDY_OK)
        outcome_of_session(o, f->session, eddy_restore_checkpoint(f->session, path, .map = &map,
                                                                  .report = &r));
    if (o->status == EDDY_OK) outcome_add(o, &r.n_restored, sizeof r.n_restored);
    eddy_restore_report_free(&r);
}

static void *begin_complex(int i)
{
    (void)i;
    fixture    *f = calloc(1, sizeof *f);
    eddy_graph *g = f->graph = eddy_graph_new();
    f->x = eddy_variable(g, eddy_zeros(g, EDDY_COMPLEX128, EDDY_SHAPE(2)), .name = "z");
    f->y = eddy_variable(g, eddy_ones(g, EDDY_FLOAT64, EDDY_SHAPE(2, 2)), .name = "pairs");
    f->init = eddy_initializer(g);
    f->session = eddy_session_new(g, .threads = 1);
    eddy_run(f->session, EDDY_FEED(), EDDY_FETCH(f->init), NULL);
    return f;
}

/* Complex numbers through parts of another type, and from pairs. */
static void complex_numbers(int i, void *state, outcome *o)
{
    const fixture            *f = state;
    const char               *path = scratch("complex.safetensors");
    const eddy_named_variable named = { "pairs", f->x };
    (void)i;
    outcome_of_session(o, f->session, eddy_save_checkpoint(f->session, path, EDDY_LIST(f->x),
                                                           .dtype = EDDY_FLOAT32));
    if (o->status == EDDY_OK)
        outcome_of_session(o, f->session,
                           eddy_restore_checkpoint(f->session, path, EDDY_LIST(f->x)));
    if (o->status == EDDY_OK)
        outcome_of_session(o, f->session, eddy_save(f->session, path, EDDY_LIST(f->y)));
    if (o->status == EDDY_OK)
        outcome_of_session(
            o, f->session,
            eddy_restore_checkpoint(f->session, path, .named = &named, .n_named = 1));
    add_file(o, path);
}

static void *begin_new_sessions(int i)
{
    (void)i;
    fixture    *f = calloc(1, sizeof *f);
    eddy_graph *g = f->graph = eddy_graph_new(.seed = 3);
    f->x = eddy_variable(g, eddy_random_uniform(g, EDDY_SHAPE(2)), .name = "x");
    f->y = eddy_variable(g, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2)), .name = "y");
    f->init = eddy_initializer(g);
    f->value = numbers_in(EDDY_FLOAT32, EDDY_SHAPE(2), -1, 1);
    f->session = eddy_session_new(g, .threads = 1);
    eddy_run(f->session, EDDY_FEED(), EDDY_FETCH(f->init), NULL);
    eddy_save(f->session, scratch("saved.safetensors"), EDDY_LIST());
    return f;
}

/* Sessions that have not run: one restores its first values, the other saves some that were set. */
static void new_sessions(int i, void *state, outcome *o)
{
    const fixture *f = state;
    eddy_session  *s = eddy_session_new(f->graph, .threads = 1);
    (void)i;
    if (s) outcome_of_session(o, s, eddy_restore(s, scratch("saved.safetensors"), EDDY_LIST()));
    eddy_session_free(s);
    s = o->status == EDDY_OK ? eddy_session_new(f->graph, .threads = 1) : NULL;
    if (!s) outcome_of(o, EDDY_NO_MEMORY, "no session");
    if (s) outcome_of_session(o, s, eddy_variable_set(s, f->x, f->value));
    if (o->status == EDDY_OK) outcome_of_session(o, s, eddy_variable_set(s, f->y, f->value));
    if (o->status == EDDY_OK)
        outcome_of_session(o, s, eddy_save(s, scratch("again.safetensors"), EDDY_LIST()));
    add_file(o, scratch("again.safetensors"));
    eddy_session_free(s);
}

/* An array without memory of its own, of pairs. */
static eddy_array *pairs(void *context, int i, eddy_error *error)
{
    static const double    numbers[] = { 1, 2, 3, 4 };
    static eddy_array_room room;
    (void)context, (void)i, (void)error;
    return (eddy_array *)(uintptr_t)eddy_array_view(&room, EDDY_FLOAT64, EDDY_SHAPE(2, 2), numbers);
}

static void nothing(void *context) { (void)context; }

static void callers(int i, void *state, outcome *o)
{
    const fixture              *f = state;
    const eddy_checkpoint_entry z = { "z", "F64", EDDY_FLOAT64, EDDY_SHAPE(2, 2), 32 };
    eddy_error                  e = { 0 };
    (void)i;
    eddy_checkpoint *empty = eddy_checkpoint_new(.error = &e);
    outcome_of_error(o, &e);
    eddy_checkpoint *c =
        o->status == EDDY_OK ? eddy_checkpoint_new(&z, 1, pairs, nothing, .error = &e) : NULL;
    outcome_of_error(o, &e);
    if (c)
        outcome_of_session(o, f->session,
                           eddy_restore_checkpoint(f->session, .checkpoint = c, .partial = true));
    eddy_checkpoint_free(c);
    eddy_checkpoint_free(empty);
}

static void kept(int i, void *state, outcome *o)
{
    const fixture       *f = state;
    const char          *folder = scratch(".");
    eddy_kept_checkpoint k;
    eddy_error           e = { 0 };
    (void)i;
    unlink(scratch("checkpoints.txt"));
    for (int step = 1; step < 4 && o->status == EDDY_OK; step++)
        outcome_of_session(o, f->session, eddy_keep_checkpoint(f->session, folder, step, 2, step));
    if (o->status == EDDY_OK) outcome_of(o, eddy_best_checkpoint(folder, NULL, &k, &e), e.message);
    if (o->status == EDDY_OK) outcome_add(o, &k.step, sizeof k.step);
    if (o->status == EDDY_OK)
        outcome_of(o, eddy_latest_checkpoint(folder, NULL, &k, &e), e.message);
    if (o->status == EDDY_OK) outcome_add(o, &k.step, sizeof k.step);
    if (o->status == EDDY_OK && truncate(k.path, 20) == 0)
        outcome_of_session(o, f->session,
                           eddy_restore_latest(f->session, folder, .restored = &k));
    if (o->status == EDDY_OK) outcome_add(o, &k.step, sizeof k.step);
}

static void entries(int i, void *state, outcome *o)
{
    eddy_error e = { 0 };
    (void)i, (void)state;
    eddy_checkpoint *c = eddy_checkpoint_open("data/fine_tune.safetensors", .error = &e);
    for (int k = 0; k < eddy_checkpoint_count(c) && e.status == EDDY_OK; k++) {
        eddy_array *a = eddy_checkpoint_value(c, eddy_checkpoint_entry_at(c, k).name, &e);
        outcome_of_made(o, &e, a);
        if (a) outcome_add(o, eddy_array_data(a), 16);
        eddy_array_free(a);
    }
    outcome_of_error(o, &e);
    eddy_checkpoint_free(c);
}

/* Integers of 16 bits, which are decoded. */
static void *begin_small_integers(int i)
{
    static const char header[] =
        "{\"x\":{\"dtype\":\"I16\",\"shape\":[2],\"data_offsets\":[0,4]}}   ";
    const uint64_t length = sizeof header - 1;
    FILE          *f = fopen(scratch("integers.safetensors"), "wb");
    (void)i;
    if (!f) return NULL;
    fwrite(&length, 1, sizeof length, f);
    fwrite(header, 1, sizeof header - 1, f);
    fwrite("\1\0\xff\xff", 1, 4, f);
    fclose(f);
    return NULL;
}

static void small_integers(int i, void *state, outcome *o)
{
    eddy_error e = { 0 };
    (void)i, (void)state;
    eddy_checkpoint *c = eddy_checkpoint_open(scratch("integers.safetensors"), .error = &e);
    eddy_array      *a = c ? eddy_checkpoint_value(c, "x", &e) : NULL;
    outcome_of_made(o, &e, a);
    outcome_add_array(o, a);
    eddy_array_free(a);
    eddy_checkpoint_free(c);
}

static void onnx(int i, void *state, outcome *o)
{
    const fixture *f = state;
    const char    *path = scratch("m.onnx");
    eddy_error     e = { 0 };
    (void)i;
    outcome_of(o, eddy_onnx_write(EDDY_LIST(f->train, f->y), path, .session = f->session,
                                  .external_bytes = 64, .error = &e), e.message);
    add_file(o, path);
    if (o->status != EDDY_OK) return;
    eddy_model_report *r =
        eddy_onnx_write_check(EDDY_LIST(f->y), .session = f->session, .error = &e);
    outcome_of_error(o, &e);
    outcome_add(o, &(int){ eddy_model_report_size(r) }, sizeof(int));
    eddy_model_report_free(r);
}

static void npy(int i, void *state, outcome *o)
{
    const fixture *f = state;
    const char    *path = scratch("a.npy");
    eddy_error     e = { 0 };
    (void)i;
    outcome_of(o, eddy_array_save(f->value, path, NULL, &e), e.message);
    if (o->status != EDDY_OK) return;
    eddy_array *a = eddy_array_load(path, NULL, &e);
    outcome_of_made(o, &e, a);
    outcome_add_array(o, a);
    eddy_array_free(a);
}

static void with_dataset(int i, void *state, outcome *o)
{
    const fixture *f = state;
    const char    *path = scratch("d.safetensors");
    eddy_error     e = { 0 };
    (void)i;
    eddy_dataset *d = eddy_dataset_from_arrays((const eddy_array *[]){ f->value }, 1);
    d = eddy_dataset_batch(eddy_dataset_shuffle(d, .seed = 4), 2);
    eddy_dataset_next(d, NULL);
    outcome_of(o, eddy_dataset_status(d), eddy_dataset_message(d));
    if (o->status == EDDY_OK)
        outcome_of(o, eddy_save_with_dataset(f->session, path, d, &e), e.message);
    add_file(o, path);
    if (o->status == EDDY_OK)
        outcome_of(o, eddy_restore_with_dataset(f->session, path, d, &e), e.message);
    eddy_dataset_free(d);
}

const scenarios saving[] = {
    { .kind = "graph file", .begin = begin_odd, .act = graph_file, .end = fixture_end },
    { .kind = "odd graph", .begin = begin_odd, .act = odd_graph, .end = fixture_end,
      .every_item = true },
    { .kind = "checkpoint", .begin = begin, .act = checkpoint, .end = fixture_end,
      .every_item = true },
    { .kind = "checkpoint in several files", .begin = begin, .act = shards, .end = fixture_end },
    { .kind = "layers of PyTorch", .begin = begin_layers, .act = layers, .end = fixture_end,
      .every_item = true },
    { .kind = "complex numbers in checkpoints",
      .begin = begin_complex,
      .act = complex_numbers, .every_item = true,
      .end = fixture_end },
    { .kind = "checkpoint of new sessions",
      .begin = begin_new_sessions,
      .act = new_sessions,
      .end = fixture_end },
    { .kind = "checkpoint of a caller",
      .begin = begin_complex,
      .act = callers,
      .end = fixture_end },
    { .kind = "kept checkpoints", .begin = begin, .act = kept, .end = fixture_end },
    { .kind = "entries of a checkpoint", .act = entries },
    { .kind = "small integers", .begin = begin_small_integers, .act = small_integers },
    { .kind = "ONNX writer", .begin = begin, .act = onnx, .end = fixture_end },
    { .kind = "npy", .begin = begin, .act = npy, .end = fixture_end },
    { .kind = "checkpoint with a dataset",
      .begin = begin,
      .act = with_dataset,
      .end = fixture_end },
    { .kind = NULL },
};
