/* saving.c -- graphs, checkpoints and models, written and read back without enough memory. */
#include "tests/torture/scenario.h"

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
    outcome_of_error(o, &e);
    if (g) outcome_add(o, &(int){ eddy_graph_size(g) }, sizeof(int));
    eddy_graph_free(g);
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

/* Layers whose rules turn axes, join and divide entries and add biases. */
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
    if (o->status == EDDY_OK)
        outcome_of_session(o, f->session, eddy_restore_checkpoint(f->session, path, .map = &map,
                                                                  .report = &r));
    if (o->status == EDDY_OK) outcome_add(o, &r.n_restored, sizeof r.n_restored);
    eddy_restore_report_free(&r);
    if (o->status == EDDY_OK) run_and_add(o, f->session, EDDY_FEED({ f->x, f->value }),
                                          EDDY_FETCH(f->y));
}

static void kept(int i, void *state, outcome *o)
{
    const fixture       *f = state;
    const char          *folder = scratch(".");
    eddy_kept_checkpoint k;
    eddy_error           e = { 0 };
    (void)i;
    for (int step = 1; step < 4 && o->status == EDDY_OK; step++)
        outcome_of_session(o, f->session, eddy_keep_checkpoint(f->session, folder, step, 2, step));
    if (o->status == EDDY_OK)
        outcome_of(o, eddy_latest_checkpoint(folder, NULL, &k, &e), e.message);
    if (o->status == EDDY_OK) outcome_add(o, &k.step, sizeof k.step);
    if (o->status == EDDY_OK) outcome_of(o, eddy_best_checkpoint(folder, NULL, &k, &e), e.message);
    if (o->status == EDDY_OK) outcome_add(o, &k.step, sizeof k.step);
}

static void entries(int i, void *state, outcome *o)
{
    eddy_error e = { 0 };
    (void)i, (void)state;
    eddy_checkpoint *c = eddy_checkpoint_open("data/fine_tune.safetensors", .error = &e);
    for (int k = 0; k < eddy_checkpoint_count(c) && e.status == EDDY_OK; k++) {
        eddy_array *a = eddy_checkpoint_value(c, eddy_checkpoint_entry_at(c, k).name, &e);
        if (a) outcome_add(o, eddy_array_data(a), 16);
        eddy_array_free(a);
    }
    outcome_of_error(o, &e);
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
    outcome_of_error(o, &e);
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
    { .kind = "graph file", .begin = begin, .act = graph_file, .end = fixture_end },
    { .kind = "checkpoint", .begin = begin, .act = checkpoint, .end = fixture_end },
    { .kind = "checkpoint in several files", .begin = begin, .act = shards, .end = fixture_end },
    { .kind = "layers of PyTorch", .begin = begin_layers, .act = layers, .end = fixture_end },
    { .kind = "kept checkpoints", .begin = begin, .act = kept, .end = fixture_end },
    { .kind = "entries of a checkpoint", .act = entries },
    { .kind = "ONNX writer", .begin = begin, .act = onnx, .end = fixture_end },
    { .kind = "npy", .begin = begin, .act = npy, .end = fixture_end },
    { .kind = "checkpoint with a dataset",
      .begin = begin,
      .act = with_dataset,
      .end = fixture_end },
    { .kind = NULL },
};
