/* test_layer_maps.c -- layers that load the weights of PyTorch's and Keras's layers give their
 * outputs, and write the same weights; torch_layers.py made the file. */
#include "tests/lib/checks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

Suite *layer_maps_suite(void);

static const char path[] = "tests/session/checkpoints/torch_layers.safetensors";

typedef eddy_tensor build_fn(eddy_tensor x, const char *name);

static eddy_tensor dense(eddy_tensor x, const char *name) { return eddy_dense(x, 4, name); }
static eddy_tensor conv1(eddy_tensor x, const char *name)
{
    return eddy_conv1d_layer(x, 4, EDDY_DIMS(3), name);
}
static eddy_tensor conv2(eddy_tensor x, const char *name)
{
    return eddy_conv2d_layer(x, 4, EDDY_DIMS(2, 3), name);
}
static eddy_tensor conv3(eddy_tensor x, const char *name)
{
    return eddy_conv3d_layer(x, 3, EDDY_DIMS(2), name);
}
static eddy_tensor deconv(eddy_tensor x, const char *name)
{
    return eddy_conv2d_transpose_layer(x, 4, EDDY_DIMS(2), name, .strides = EDDY_DIMS(2));
}
static eddy_tensor separable(eddy_tensor x, const char *name)
{
    return eddy_separable_conv2d_layer(x, 4, EDDY_DIMS(3), name, .depth_multiplier = 3,
                                       .no_bias = true);
}
static eddy_tensor norm(eddy_tensor x, const char *name)
{
    return eddy_layer_norm_layer(x, name);
}
static eddy_tensor batch(eddy_tensor x, const char *name)
{
    return eddy_batch_norm_layer(x, name);
}
static eddy_tensor vectors(eddy_tensor x, const char *name)
{
    return eddy_embedding_layer(x, 6, 3, name);
}
static eddy_tensor heads(eddy_tensor x, const char *name)
{
    return eddy_multi_head_attention(x, 2, name);
}
static eddy_tensor cross(eddy_tensor x, const char *name)
{
    eddy_tensor two = eddy_slice(x, EDDY_DIMS(0, 0, 0), EDDY_DIMS(2, 2, 8));
    return eddy_multi_head_attention(two, 2, name, .memory = x);
}
/* Columns of x. */
static eddy_tensor columns(eddy_tensor x, int64_t from, int64_t n)
{
    return eddy_slice(x, EDDY_DIMS(0, 0, from), EDDY_DIMS(EDDY_ANY, EDDY_ANY, n));
}
static eddy_tensor wide(eddy_tensor x, const char *name)
{
    return eddy_multi_head_attention(columns(x, 0, 8), 2, name, .memory = columns(x, 8, 5),
                                     .values = columns(x, 13, 3));
}
static eddy_tensor narrow(eddy_tensor x, const char *name)
{
    return eddy_multi_head_attention(columns(x, 0, 8), 2, name, .memory = columns(x, 8, 5));
}
static eddy_tensor apart(eddy_tensor x, const char *name)
{
    return eddy_multi_head_attention(columns(x, 0, 8), 2, name, .memory = columns(x, 8, 8),
                                     .values = columns(x, 16, 8));
}
static eddy_tensor keras_wide(eddy_tensor x, const char *name)
{
    return eddy_multi_head_attention(columns(x, 0, 6), 2, name, .memory = columns(x, 6, 4),
                                     .values = columns(x, 10, 3));
}
static eddy_tensor lstm(eddy_tensor x, const char *name)
{
    return eddy_rnn(x, EDDY_CELL(EDDY_LSTM_CELL, 4), name).outputs;
}
static eddy_tensor gru(eddy_tensor x, const char *name)
{
    return eddy_rnn(x, EDDY_CELL(EDDY_GRU_CELL, 4, .reset_after = true), name).outputs;
}
static eddy_tensor before(eddy_tensor x, const char *name)
{
    return eddy_rnn(x, EDDY_CELL(EDDY_GRU_CELL, 4), name).outputs;
}
static eddy_tensor plain(eddy_tensor x, const char *name)
{
    return eddy_rnn(x, EDDY_CELL(EDDY_BASIC_RNN_CELL, 4), name).outputs;
}
static eddy_tensor stack(eddy_tensor x, const char *name)
{
    const eddy_cell two[] = { EDDY_CELL(EDDY_LSTM_CELL, 4), EDDY_CELL(EDDY_LSTM_CELL, 4) };
    return eddy_stacked_rnn(x, two, 2, name).outputs;
}
static eddy_tensor both(eddy_tensor x, const char *name)
{
    return eddy_bidirectional_rnn(x, EDDY_CELL(EDDY_GRU_CELL, 4, .reset_after = true),
                                  .name = name).outputs;
}
static eddy_tensor projected(eddy_tensor x, const char *name)
{
    eddy_rnn_cell cell = eddy_lstm_cell(x.graph, 4, .num_proj = 2);
    return eddy_dynamic_rnn(cell, x, .name = name);
}

typedef struct layer_case {
    const char *name;
    build_fn   *build;
    bool        sums_biases;             /* the second bias of the file is not kept */
} layer_case;

static const layer_case torch[] = {
    { "dense", dense, false }, { "conv1", conv1, false },        { "conv2", conv2, false },
    { "conv3", conv3, false }, { "deconv", deconv, false },      { "separable", separable, false },
    { "norm", norm, false },   { "batch", batch, false },        { "vectors", vectors, false },
    { "heads", heads, false }, { "cross", cross, false },        { "lstm", lstm, true },
    { "gru", gru, true },      { "plain", plain, true },         { "stack", stack, true },
    { "both", both, true },    { "projected", projected, true }, { "wide", wide, false },
    { "narrow", narrow, false }, { "apart", apart, false },
};
static const layer_case keras[] = {
    { "lstm", lstm, false }, { "gru", gru, true }, { "before", before, false },
    { "heads", heads, false }, { "wide", keras_wide, false },
};

static eddy_array *value(const eddy_checkpoint *c, const char *name)
{
    eddy_error  e = { 0 };
    eddy_array *a = eddy_checkpoint_value(c, name, &e);
    ck_assert_msg(a != NULL, "%s", e.message);
    return a;
}

/* The layer with the weights of the file has the output of the file. */
static void has_output(eddy_session *s, eddy_tensor y, const eddy_array *wanted)
{
    eddy_array *got = eddy_fetch(s, y);
    ck_assert_msg(got != NULL, "%s", eddy_session_message(s));
    ck_assert(eddy_shape_equal(eddy_array_shape(got), eddy_array_shape(wanted)));
    for (int64_t i = 0; i < eddy_array_count(got); i++)
        ck_assert_msg(fabs(eddy_array_get(got, i) - eddy_array_get(wanted, i)) < 2e-6,
                      "%s: element %d is %g, not %g", eddy_name_of(y), (int)i,
                      eddy_array_get(got, i), eddy_array_get(wanted, i));
    eddy_array_free(got);
}

/* Entry i in the written file is that of the original, or that of a bias that is a sum. */
static void has_original(const eddy_checkpoint *written, int i, const eddy_checkpoint *original,
                         bool sums_biases)
{
    const char *name = eddy_checkpoint_entry_at(written, i).name;
    eddy_array *a = value(written, name), *b = value(original, name);
    ck_assert_int_eq(eddy_array_dtype(a), eddy_array_dtype(b));
    ck_assert_msg(eddy_shape_equal(eddy_array_shape(a), eddy_array_shape(b)), "%s", name);
    for (int64_t k = 0; k < eddy_array_count(a) && !(sums_biases && strstr(name, "bias")); k++)
        ck_assert_msg(fabs(eddy_array_get(a, k) - eddy_array_get(b, k)) < 1e-6, "%s", name);
    eddy_array_free(a);
    eddy_array_free(b);
}

/* Nothing of the layer is left out of the map, except what PyTorch counts. */
static void leaves_nothing(eddy_session *s, const eddy_checkpoint_map *map, const char *name)
{
    eddy_restore_report report;
    const size_t        n = strlen(name);
    ck_assert_int_eq(eddy_restore_checkpoint(s, path, .map = map, .report = &report), EDDY_OK);
    for (int i = 0; i < report.n_left_over; i++) {
        const char *other = report.left_over[i];
        const bool  of_layer = strncmp(other, name, n) == 0 && strchr("./", other[n]);
        ck_assert_msg(!of_layer || strstr(other, "num_batches_tracked"), "%s", other);
    }
    eddy_restore_report_free(&report);
}

/* Loads, runs, saves, compares, loads what was saved, and runs again. */
static void try_layer(const layer_case *l, eddy_checkpoint_map map, const char *scope)
{
    char             in[64], out[64], name[64];
    eddy_error       e = { 0 };
    eddy_checkpoint *c = eddy_checkpoint_open(path, .error = &e);
    ck_assert_msg(c != NULL, "%s", e.message);
    snprintf(in, sizeof in, "in.%s%s", scope, l->name);
    snprintf(out, sizeof out, "out.%s%s", scope, l->name);
    snprintf(name, sizeof name, "%s%s", scope[0] ? "keras/" : "", l->name);
    eddy_array   *x = value(c, in), *wanted = value(c, out);
    eddy_graph   *g = eddy_graph_new();
    if (scope[0]) eddy_scope_begin(g, "keras");
    eddy_tensor   y = l->build(eddy_constant(g, x), l->name);
    if (scope[0]) eddy_scope_end(g);
    eddy_session *s = eddy_session_new(g);
    fits(g);
    ck_assert_msg(eddy_restore_checkpoint(s, path, .map = &map) == EDDY_OK, "%s",
                  eddy_session_message(s));
    has_output(s, y, wanted);

    char file[64];
    snprintf(file, sizeof file, "/tmp/eddy_layer_maps_%ld", (long)getpid());
    ck_assert_msg(eddy_save_checkpoint(s, file, .map = &map) == EDDY_OK, "%s",
                  eddy_session_message(s));
    eddy_checkpoint *written = eddy_checkpoint_open(file, .error = &e);
    ck_assert_msg(written != NULL, "%s", e.message);
    ck_assert_int_gt(eddy_checkpoint_count(written), 0);
    for (int i = 0; i < eddy_checkpoint_count(written); i++)
        has_original(written, i, c, l->sums_biases);
    eddy_session *again = eddy_session_new(g);
    leaves_nothing(again, &map, name);
    ck_assert_int_eq(eddy_restore_checkpoint(again, file, .map = &map), EDDY_OK);
    has_output(again, y, wanted);
    remove(file);
    eddy_checkpoint_free(written);
    eddy_checkpoint_free(c);
    eddy_session_free(again);
    eddy_session_free(s);
    eddy_array_free(x);
    eddy_array_free(wanted);
    eddy_graph_free(g);
}

START_TEST(layers_of_torch) { try_layer(&torch[_i], eddy_torch_map(), ""); }
END_TEST

START_TEST(layers_of_keras)
{
    eddy_checkpoint_map map = eddy_keras_map();
    map.heads = 2;
    try_layer(&keras[_i], map, "keras.");
}
END_TEST

/* Layers of a program that are called like the parts of attention keep their names. */
START_TEST(other_layers)
{
    static const char *const names[] = { "query", "keys", "values" };
    char             file[64], name[32];
    eddy_error       e = { 0 };
    eddy_graph      *g = eddy_graph_new();
    const eddy_checkpoint_map map = _i ? eddy_keras_map() : eddy_torch_map();
    for (int i = 0; i < 3; i++)
        eddy_dense(eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(1, 2)), 2, names[i]);
    eddy_session *s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    snprintf(file, sizeof file, "/tmp/eddy_layer_maps_%ld", (long)getpid());
    ck_assert_int_eq(eddy_save_checkpoint(s, file, .map = &map), EDDY_OK);
    eddy_checkpoint *c = eddy_checkpoint_open(file, .error = &e);
    ck_assert_msg(c != NULL, "%s", e.message);
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, _i ? "%s/kernel" : "%s.weight", names[i]);
        ck_assert_msg(eddy_checkpoint_find(c, name) >= 0, "%s", name);
    }
    remove(file);
    eddy_checkpoint_free(c);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

Suite *layer_maps_suite(void)
{
    Suite *s = suite_create("layer_maps");
    TCase *c = tcase_create("layer_maps");
    tcase_add_loop_test(c, layers_of_torch, 0, sizeof torch / sizeof *torch);
    tcase_add_loop_test(c, layers_of_keras, 0, sizeof keras / sizeof *keras);
    tcase_add_loop_test(c, other_layers, 0, 2);
    suite_add_tcase(s, c);
    return s;
}
