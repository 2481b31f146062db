/* test_messages_layers.c -- error messages of layers. */
#include "layers/batch_moments.h"
#include "tests/lib/golden.h"
#include "tests/lib/graph_fixture.h"
#include "tests/lib/files/memory_files.h"

Suite *messages_layers_suite(void);

/* Mistakes of which C compilers only warn: .activation = "relu". */
static void texts(eddy_tensor x)
{
    const char     *name = "relu", *normal = "he_normal";
    eddy_activation activation;
    eddy_init       init = { .build = NULL };
    memcpy(&activation, &name, sizeof activation);
    memcpy(&init.build, &normal, sizeof init.build);
    eddy_dense(x, 4, .activation = activation), golden_graph(g);
    eddy_dense(x, 4, .kernel_initializer = init), golden_graph(g);
}

START_TEST(basic)
{
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    const eddy_tensor i = eddy_placeholder(g, "i", EDDY_INT32, EDDY_SHAPE(2, 3));
    const eddy_tensor images = eddy_placeholder(g, "images", EDDY_FLOAT32,
                                                EDDY_SHAPE(EDDY_ANY, 4, 4, 3));
    const eddy_tensor open = eddy_placeholder(g, "open", EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE);
    const eddy_tensor x3 = eddy_placeholder(g, "x3", EDDY_FLOAT32, EDDY_SHAPE(2, 3, 4));
    const eddy_tensor open3 = eddy_placeholder(g, "open3", EDDY_FLOAT32,
                                               EDDY_SHAPE(2, EDDY_ANY, 4));
    eddy_graph       *other = eddy_graph_new();
    const eddy_tensor foreign = eddy_zeros(other, EDDY_FLOAT32, EDDY_SHAPE(2, 3, 4));
    const eddy_init   value = { .value = x };
    eddy_dense(x, 4);
    golden_begin("layers/layers");
    eddy_initial_value(g, value, EDDY_FLOAT32, EDDY_SHAPE(3), 0), golden_graph(g);
    eddy_initial_value(g, eddy_identity_initializer(1), EDDY_FLOAT32, EDDY_SHAPE(3), 0);
    golden_graph(g);
    eddy_init_variance_scaling(g, EDDY_SHAPE(3), .mode = "fan"), golden_graph(g);
    eddy_init_variance_scaling(g, EDDY_SHAPE(3), -2), golden_graph(g);
    eddy_dense(x, 4, "d", .reuse = "e"), golden_graph(g);
    eddy_dense(x, 5, "d", .reuse = "dense"), golden_graph(g);
    eddy_mlp(x), golden_graph(g);
    eddy_residual(x, open), golden_graph(g);
    eddy_conv2d_layer(x, 4, EDDY_DIMS(3)), golden_graph(g);
    eddy_conv2d_layer(images, 4), golden_graph(g);
    eddy_conv1d_layer(x3, 4, EDDY_DIMS(3), .strides = EDDY_DIMS(1, 2)), golden_graph(g);
    eddy_multi_head_attention(x3, 2, .memory = foreign), golden_graph(g);
    eddy_multi_head_attention(x3, 2, .values = x3), golden_graph(g);
    eddy_multi_head_attention(x3, 2, .memory = x3, .values = foreign), golden_graph(g);
    eddy_multi_head_attention(x3, 2, .memory = x3,
                              .values = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2, 9, 4)));
    golden_graph(g);
    eddy_position_layer(open3, .learned = true), golden_graph(g);
    eddy_conv2d_layer(images, 4, EDDY_DIMS(3), .groups = 2), golden_graph(g);
    eddy_batch_norm_layer(images, .axis = 2), golden_graph(g);
    eddy_batch_norm_layer(images, .momentum = 2), golden_graph(g);
    ck_assert(!eddy_is_valid(eddy_batch_norm_layer_by(NULL, NULL, NULL)));
    eddy_batch_norm_layer_by(NULL, NULL, EDDY_ARGS(eddy_batch_norm_layer_args, images));
    golden_graph(g);
    eddy_layer_norm_layer(open), golden_graph(g);
    eddy_embedding_layer(i, 3, 4, .dtype = EDDY_INT32), golden_graph(g);
    texts(x);
    golden_end();
    eddy_graph_free(other);
}
END_TEST

START_TEST(sequences)
{
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3, 4));
    const eddy_cell   gru = EDDY_CELL(EDDY_GRU_CELL, 2);
    golden_begin("layers/layers_of_sequences");
    eddy_multi_head_attention(x, 3), golden_graph(g);
    eddy_sinusoidal_positions(g, 3, 4, EDDY_INT32), golden_graph(g);
    eddy_sinusoidal_positions(g, INT64_MAX / 2, 4, 0), golden_graph(g);
    eddy_position_layer(x, 2), golden_graph(g);
    eddy_rnn(eddy_slice(x, EDDY_DIMS(0, 0, 0), EDDY_DIMS(2, 0, 4)), gru), golden_graph(g);
    eddy_rnn(x), golden_graph(g);
    eddy_rnn(x, { .kind = EDDY_LSTM_CELL, .units = 2 }), golden_graph(g);
    eddy_stacked_rnn(x), golden_graph(g);
    golden_end();
}
END_TEST

/* Only what layers say themselves: all else is said elsewhere. */
static void keep_own(eddy_error *e)
{
    const bool own = strncmp(e->message, "rnn: ", 5) == 0 ||
                     strncmp(e->message, "update_ops: ", 12) == 0;
    if (!own) *e = (eddy_error){ 0 };
}

static void rnn_without_memory(failing_allocator *f, eddy_error *e)
{
    eddy_graph *h = eddy_graph_new(&f->table);
    if (h) {
        eddy_tensor x = eddy_placeholder(h, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3, 4));
        eddy_rnn(x, EDDY_CELL(EDDY_BASIC_RNN_CELL, 2));
        eddy_batch_norm_layer(x, .training = true);
        eddy_update_ops(h, NULL);
        e->status = eddy_graph_status(h);
        snprintf(e->message, sizeof e->message, "%s", eddy_graph_message(h));
    }
    keep_own(e);
    eddy_graph_free(h);
}

START_TEST(no_memory)
{
    golden_begin("layers/layers_memory");
    golden_no_memory(rnn_without_memory);
    golden_end();
}
END_TEST

Suite *messages_layers_suite(void)
{
    Suite *suite = suite_create("messages_layers");
    TCase *c = tcase_create("layers");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, basic);
    tcase_add_test(c, sequences);
    tcase_add_test(c, no_memory);
    suite_add_tcase(suite, c);
    return suite;
}
