/* test_layers_basic.c -- initializers, regularizers, shared variables, and the layers without
 * convolutions. */
#include "tests/lib/checks.h"
#include "tests/lib/layer_checks.h"

#include <math.h>
#include <stdlib.h>

Suite *layers_basic_suite(void);

static const eddy_dtype F64 = EDDY_FLOAT64;

static eddy_tensor input(eddy_graph *g, eddy_shape s)
{
    return eddy_placeholder(g, "x", F64, s);
}

/* -------------------------------------------------------------- initializers -- */

/* Mean and variance of 40000 numbers. */
START_TEST(distributions)
{
    const struct { eddy_init init; double mean, variance, least, most; } rows[] = {
        { eddy_zeros_initializer(), 0, 0, 0, 0 },
        { eddy_ones_initializer(), 1, 0, 1, 1 },
        { eddy_constant_initializer(-2.5), -2.5, 0, -2.5, -2.5 },
        { eddy_random_uniform_initializer(-1, 3), 1, 16.0 / 12, -1, 3 },
        { eddy_random_uniform_initializer(2, 2), 2, 0, 2, 2 },
        { eddy_random_normal_initializer(2, 3), 2, 9, -20, 24 },
        { eddy_random_normal_initializer(2, 0), 2, 0, 2, 2 },
        { eddy_truncated_normal_initializer(1, 2), 1, 4 * 0.7737413, -3, 5 },
        { eddy_truncated_normal_initializer(1, 0), 1, 0, 1, 1 },
        { eddy_variance_scaling_initializer(2, "fan_out"), 0, 2.0 / 400, -1, 1 },
        { eddy_variance_scaling_initializer(.distribution = "uniform"), 0, 1.0 / 100, -0.1732051,
          0.1732051 },
        { eddy_variance_scaling_initializer(3, "fan_avg", "untruncated_normal"), 0, 3.0 / 250, -1,
          1 },
        { eddy_glorot_uniform_initializer(), 0, 1.0 / 250, -0.1095446, 0.1095446 },
        { eddy_glorot_normal_initializer(), 0, 1.0 / 250, -1, 1 },
        { eddy_he_uniform_initializer(), 0, 2.0 / 100, -0.2449490, 0.2449490 },
        { eddy_he_normal_initializer(), 0, 2.0 / 100, -1, 1 },
        { eddy_lecun_uniform_initializer(), 0, 1.0 / 100, -0.1732051, 0.1732051 },
        { eddy_lecun_normal_initializer(), 0, 1.0 / 100, -1, 1 },
        { { .build = eddy_init_ones }, 1, 0, 1, 1 },
    };
    enum { N = 40000 };
    eddy_graph *g = eddy_graph_new();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        eddy_array *a = layers_value(
            eddy_initial_value(g, rows[i].init, F64, EDDY_SHAPE(100, 400), 3), EDDY_FEED());
        double sum = 0, squares = 0;
        for (int k = 0; k < N; k++) {
            const double v = eddy_array_get(a, k);
            ck_assert(v >= rows[i].least && v <= rows[i].most);
            sum += v;
            squares += (v - rows[i].mean) * (v - rows[i].mean);
        }
        const double sigma = sqrt(rows[i].variance);
        ck_assert_double_le(fabs(sum / N - rows[i].mean), 4 * sigma / 200);
        ck_assert_double_le(fabs(squares / N - rows[i].variance), 0.04 * rows[i].variance);
        eddy_array_free(a);
    }
    eddy_graph_free(g);
}
END_TEST

START_TEST(matrices)
{
    eddy_graph *g = eddy_graph_new();
    const eddy_shape s = EDDY_SHAPE(2, 3);
    const eddy_init  given = { .value = layers_filled(g, s, 1) };
    layers_close(eddy_initial_value(g, eddy_identity_initializer(2), F64, s, 0), EDDY_FEED(), 6,
                 (double[]){ 2, 0, 0, 0, 2, 0 });
    eddy_tensor q = eddy_initial_value(g, eddy_orthogonal_initializer(2), F64, s, 0);
    layers_close(MatMul(q, q, .transpose_b = true), EDDY_FEED(), 4, (double[]){ 4, 0, 0, 4 });
    ck_assert(eddy_same(eddy_initial_value(g, given, F64, s, 0), given.value));
    eddy_initial_value(g, given, F64, EDDY_SHAPE(3, 2), 0);
    fails(g, EDDY_BAD_SHAPE, "the initial value 'Const' is float64[2,3]; expected float64[3,2]");
    eddy_initial_value(g, given, EDDY_FLOAT32, s, 0);
    fails(g, EDDY_BAD_DTYPE, "expected float32[2,3]");
    eddy_initial_value(g, eddy_identity_initializer(1), F64, EDDY_SHAPE(3), 0);
    fails(g, EDDY_BAD_SHAPE, "an identity requires the shape of a matrix, not [3]");
    eddy_initial_value(g, eddy_variance_scaling_initializer(-1), F64, s, 0);
    fails(g, EDDY_INVALID_ARGUMENT, "scale is -1");
    eddy_initial_value(g, eddy_variance_scaling_initializer(.mode = "fan"), F64, s, 0);
    fails(g, EDDY_INVALID_ARGUMENT, "unknown mode 'fan'");
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------- variables of layers -- */

/* Penalties of a kernel and a bias, and the total with a loss. */
START_TEST(penalties)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = input(g, EDDY_SHAPE(EDDY_ANY, 2));
    eddy_tensor y = eddy_dense(x, 2, "d", .kernel_initializer = eddy_constant_initializer(3),
                               .bias_initializer = eddy_constant_initializer(-1),
                               .kernel_regularizer = { .l2 = 0.5 },
                               .bias_regularizer = { .l1 = 0.25 });
    eddy_dense(x, 2, "e", .reuse = "d", .kernel_regularizer = { .l2 = 0.5 });
    eddy_dense(x, 3, "f", .no_bias = true, .kernel_regularizer = { .build = eddy_l2_loss },
               .kernel_initializer = eddy_ones_initializer());
    ck_assert(eddy_is_valid(y));
    ck_assert_int_eq(eddy_collection_size(g, EDDY_REGULARIZATION_LOSSES), 3);
    /* 0.5 4 9 / 2 + 0.25 2 + 6 / 2 */
    layers_close(eddy_get_regularization_loss(g, NULL), EDDY_FEED(), 1, (double[]){ 12.5 });
    layers_close(eddy_get_regularization_loss(g, "d/"), EDDY_FEED(), 1, (double[]){ 9.5 });
    eddy_add_loss(eddy_const(g, F64, EDDY_SCALAR, &(double){ 2 }), NULL);
    layers_close(eddy_get_total_loss(g), EDDY_FEED(), 1, (double[]){ 14.5 });
    eddy_graph_free(g);
}
END_TEST

/* Two towers on the same variables have the gradient of both. */
START_TEST(used_again)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = input(g, EDDY_SHAPE(EDDY_ANY, 3));
    eddy_scope_begin(g, "tower");
    eddy_tensor y = eddy_dense(x, 2, "d", eddy_tanh);
    eddy_scope_end(g);
    eddy_tensor z = eddy_dense(Neg(x), 2, "d", eddy_tanh, .reuse = "tower/d");
    eddy_array *a = layers_numbers(EDDY_SHAPE(4, 3), 2);
    eddy_tensor w = layers_variable(g, "tower/d/kernel", EDDY_SHAPE(3, 2));
    ck_assert_int_eq(eddy_collection_size(g, EDDY_GLOBAL_VARIABLES), 2);
    layers_fit(z, EDDY_SHAPE(EDDY_ANY, 2), "d/Tanh");
    /* With a bias of 0, the layer is odd. */
    eddy_tensor odd = Add(y, z), slope = eddy_gradient(Sum(Square(odd)), w);
    layers_close(Sum(Square(odd)), EDDY_FEED({ x, a }), 1, (double[]){ 0 });
    layers_close(Sum(Square(slope)), EDDY_FEED({ x, a }), 1, (double[]){ 0 });
    layers_check(Mul(y, z), x, a);
    eddy_dense(x, 2, .reuse = "d");
    fails(g, EDDY_NOT_FOUND, "dense: there is no variable 'd/kernel' to reuse");
    eddy_dense(x, 5, .reuse = "tower/d");
    fails(g, EDDY_BAD_SHAPE, "variable 'tower/d/kernel' is float64[3,2]; expected float64[3,5]");
    eddy_array_free(a);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------------------- layers -- */

/* Two layers against plain loops. */
START_TEST(mlp_values)
{
    enum { B = 3, N = 4, H = 5, M = 2 };
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = input(g, EDDY_SHAPE(EDDY_ANY, N));
    eddy_tensor y = eddy_mlp(x, EDDY_DIMS(H, M), .activation = eddy_tanh, .seed = 5);
    layers_fit(y, EDDY_SHAPE(EDDY_ANY, M), NULL);
    const eddy_tensor w[] = {
        layers_variable(g, "mlp/dense/kernel", EDDY_SHAPE(N, H)),
        layers_variable(g, "mlp/dense/bias", EDDY_SHAPE(H)),
        layers_variable(g, "mlp/dense_1/kernel", EDDY_SHAPE(H, M)),
        layers_variable(g, "mlp/dense_1/bias", EDDY_SHAPE(M)),
    };
    eddy_array *in = layers_numbers(EDDY_SHAPE(B, N), 1), *k0 = layers_value(w[0], EDDY_FEED());
    eddy_array *k1 = layers_value(w[2], EDDY_FEED());
    double      want[B * M] = { 0 };
    for (int b = 0; b < B; b++)
        for (int h = 0; h < H; h++) {
            double z = 0;
            for (int i = 0; i < N; i++)
                z += eddy_array_get(in, b * N + i) * eddy_array_get(k0, i * H + h);
            for (int m = 0; m < M; m++) want[b * M + m] += tanh(z) * eddy_array_get(k1, h * M + m);
        }
    layers_close(y, EDDY_FEED({ x, in }), B * M, want);
    layers_check(y, x, in);
    eddy_array_free(in);
    eddy_array_free(k0);
    eddy_array_free(k1);
    eddy_graph_free(g);
}
END_TEST

START_TEST(mlp_learns_xor)
{
    eddy_graph *g = eddy_graph_new(.seed = 3);
    eddy_tensor x = eddy_const(g, F64, EDDY_SHAPE(4, 2), (double[]){ 0, 0, 0, 1, 1, 0, 1, 1 });
    eddy_tensor y = eddy_const(g, F64, EDDY_SHAPE(4, 1), (double[]){ 0, 1, 1, 0 });
    eddy_tensor logits = eddy_mlp(x, EDDY_DIMS(16, 16, 1), .dropout = 0.1,
                                  .kernel_regularizer = { .l2 = 1e-6 });
    layers_learn(Mean(eddy_sigmoid_cross_entropy(y, logits)), EDDY_FEED(), 200, 0.02, 0.02);
    eddy_graph_free(g);
}
END_TEST

/* Different seeds inside: two layers of one shape do not begin alike. */
START_TEST(seeds_differ)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = input(g, EDDY_SHAPE(EDDY_ANY, 3));
    eddy_mlp(x, EDDY_DIMS(3, 3), .seed = 9);
    eddy_array *a = layers_value(eddy_graph_operation(g, "mlp/dense/kernel"), EDDY_FEED());
    eddy_array *b = layers_value(eddy_graph_operation(g, "mlp/dense_1/kernel"), EDDY_FEED());
    ck_assert(!eddy_array_equal(a, b));
    eddy_array_free(a);
    eddy_array_free(b);
    eddy_graph_free(g);
}
END_TEST

/* Trained, not trained, and by a switch; the fraction dropped. */
START_TEST(dropout)
{
    enum { N = 10000 };
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_ones(g, F64, EDDY_SHAPE(N));
    eddy_tensor when = eddy_placeholder(g, "training", EDDY_BOOL, EDDY_SCALAR);
    eddy_tensor y = eddy_dropout_layer(x, 0.25, .training_when = when);
    ck_assert(eddy_same(eddy_dropout_layer(x, 0.25), x));
    ck_assert(eddy_same(eddy_dropout_layer(x, 0, .training = true), x));
    eddy_tensor always = eddy_dropout_layer(x, 0.25, true);
    for (int i = 0; i < 3; i++) {
        eddy_array *on = eddy_array_of(EDDY_BOOL, i == 1);
        eddy_array *a = layers_value(Sum(i == 2 ? always : y), EDDY_FEED({ when, on }));
        const double sum = eddy_array_item(a);
        if (i == 0) ck_assert_double_eq(sum, N);
        else ck_assert(sum != N && fabs(sum - N) < 4 * sqrt(N / 3.0));
        eddy_array_free(a);
        eddy_array_free(on);
    }
    eddy_graph_free(g);
}
END_TEST

START_TEST(embedding)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor ids = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2, 2), (int32_t[]){ 4, 0, 1, 4 });
    const eddy_init init = { .value = layers_filled(g, EDDY_SHAPE(5, 3), 1) };
    eddy_tensor y = eddy_embedding_layer(ids, 5, 3, .embeddings_initializer = init, .dtype = F64,
                                         .embeddings_regularizer = { .l2 = 1 });
    eddy_array *table = layers_numbers(EDDY_SHAPE(5, 3), 1);
    double      want[12];
    for (int i = 0; i < 12; i++)
        want[i] = eddy_array_get(table, (int64_t[]){ 4, 0, 1, 4 }[i / 3] * 3 + i % 3);
    layers_fit(y, EDDY_SHAPE(2, 2, 3), NULL);
    layers_close(y, EDDY_FEED(), 12, want);
    layers_variable(g, "embedding/embeddings", EDDY_SHAPE(5, 3));
    layers_learn(Mean(Square(Sub(y, 1))), EDDY_FEED(), 200, 0.05, 1e-3);
    eddy_array_free(table);
    eddy_graph_free(g);
}
END_TEST

/* Same shapes: x + y; other numbers of channels, and smaller images. */
START_TEST(residual)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = input(g, EDDY_SHAPE(EDDY_ANY, 5, 4, 2));
    eddy_tensor same = eddy_residual(x, Mul(x, 2));
    eddy_tensor half = eddy_conv2d_layer(x, 3, EDDY_DIMS(3), .strides = EDDY_DIMS(2),
                                         .padding = "SAME", .activation = eddy_tanh);
    eddy_tensor y = eddy_residual(x, half, "r");
    eddy_array *in = layers_numbers(EDDY_SHAPE(2, 5, 4, 2), 2);
    ck_assert_int_eq(eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES), 3);
    layers_fit(y, EDDY_SHAPE(EDDY_ANY, 3, 2, 3), NULL);
    layers_variable(g, "r/shortcut/kernel", EDDY_SHAPE(1, 1, 2, 3));
    layers_check(y, x, in);
    layers_close(Sum(Sub(same, Mul(x, 3))), EDDY_FEED({ x, in }), 1, (double[]){ 0 });
    eddy_tensor rows = eddy_mean(x, EDDY_AXES(1, 2));
    layers_fit(eddy_residual(rows, eddy_dense(rows, 7)), EDDY_SHAPE(EDDY_ANY, 7), NULL);
    eddy_residual(x, eddy_slice(half, (eddy_dims){ 0 }, EDDY_DIMS(-1, 1, 2, -1)));
    fits(g);
    eddy_residual(rows, x);
    fails(g, EDDY_BAD_SHAPE, "residual: a shortcut from shape [?,2] to [?,5,4,2] is not possible");
    eddy_array_free(in);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------------- odd inputs -- */

/* Every layer with x and one of its sizes n. */
static void build_all(eddy_tensor x, int64_t n)
{
    const eddy_dims d = EDDY_DIMS(n);
    const eddy_cell cell = EDDY_CELL((eddy_cell_kind)(1 + (uint64_t)n % 3), n);
    eddy_dense(x, n), eddy_mlp(x, EDDY_DIMS(2, n)), eddy_residual(x, x);
    eddy_conv1d_layer(x, n, EDDY_DIMS(1)), eddy_conv1d_layer(x, 2, d);
    eddy_conv2d_layer(x, n, EDDY_DIMS(1)), eddy_conv2d_layer(x, 2, d, .data_format = "NCHW");
    eddy_conv2d_layer(x, 2, EDDY_DIMS(1), .groups = n);
    eddy_conv2d_layer(x, 2, EDDY_DIMS(1), .strides = d, .dilation_rate = d);
    eddy_conv2d_layer(x, 2, (eddy_dims){ .count = (int)n });
    eddy_conv3d_layer(x, n, EDDY_DIMS(1)), eddy_conv2d_transpose_layer(x, n, EDDY_DIMS(2));
    eddy_depthwise_conv2d_layer(x, .kernel_size = EDDY_DIMS(1), .depth_multiplier = n);
    eddy_separable_conv2d_layer(x, n, EDDY_DIMS(1), .data_format = "X");
    eddy_batch_norm_layer(x, .axis = n, .training = true), eddy_batch_norm_layer(x);
    eddy_batch_norm_layer(x, .training_when = x), eddy_layer_norm_layer(x, .epsilon = (double)n);
    eddy_dropout_layer(x, (double)n, .training = true), eddy_embedding_layer(x, n, n);
    eddy_multi_head_attention(x, n), eddy_multi_head_attention(x, 2, .units = n, .memory = x);
    eddy_multi_head_attention(x, 2, .mask = x, .lengths = x);
    eddy_position_layer(x, n, .learned = true);
    if (n < 1000) eddy_position_layer(x, n), eddy_sinusoidal_positions(x.graph, n, n, EDDY_FLOAT32);
    eddy_transformer_block(x, 1, .hidden = n), eddy_transformer_block(x, n, .memory = x);
    eddy_rnn(x, cell), eddy_bidirectional_rnn(x, cell), eddy_stacked_rnn(x, &cell, 1);
    eddy_rnn(x, cell, .initial_h = x, .sequence_length = x);
    eddy_stacked_rnn(x, NULL, (int)n), eddy_update_ops(x.graph, "x");
}

/* Whatever is refused, nothing breaks and every scope is closed again. */
START_TEST(odd_inputs)
{
    static const int64_t sizes[] = { INT64_MIN, -1, 0, 1, 3, INT32_MAX, INT64_MAX / 2 + 1,
                                     INT64_MAX };
    static const eddy_shape shapes[] = {
        { 0 }, { 1, { 4 } }, { 2, { 2, 0 } }, { 2, { EDDY_ANY, 4 } }, { 3, { 2, 3, 4 } },
        { 3, { EDDY_ANY, EDDY_ANY, 4 } }, { 4, { 2, 3, 3, 2 } }, { 4, { 0, EDDY_ANY, 3, 0 } },
        { 5, { 1, 2, 2, 2, 1 } }, { 3, { 1, 0, 1 } }, { 8, { 1, 1, 1, 1, 1, 1, 1, 1 } },
        { EDDY_UNKNOWN_RANK, { 0 } },
    };
    eddy_graph *g = eddy_graph_new(), *other = eddy_graph_new();
    const eddy_tensor far = eddy_scalar(other, 1);
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int d = EDDY_FLOAT32; d <= EDDY_INT32; d += 1 + (k > 4)) {
            build_all(eddy_placeholder(g, "x", (eddy_dtype)d, shapes[k]), sizes[_i]);
            eddy_graph_clear_error(g);
            ck_assert_str_eq(eddy_scope_name(g), "");
        }
    build_all(EDDY_NO_TENSOR, sizes[_i]);
    build_all((eddy_tensor){ .graph = g }, sizes[_i]);
    build_all((eddy_tensor){ .graph = g, .node = 1 << 30, .output = 7 }, sizes[_i]);
    eddy_graph_clear_error(g);
    eddy_tensor x = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2, 3, 4));
    eddy_multi_head_attention(x, 2, .memory = far), eddy_rnn(x, EDDY_CELL(EDDY_LSTM_CELL, 2),
                                                             .initial_h = far);
    ck_assert_int_ne(eddy_graph_status(g), EDDY_OK);
    eddy_graph_free(other);
    build_all(far, 2);
    eddy_graph_finalize(g);
    build_all(x, 2);
    ck_assert_str_eq(eddy_scope_name(g), "");
    eddy_graph_free(g);
}
END_TEST

Suite *layers_basic_suite(void)
{
    Suite *suite = suite_create("layers_basic");
    TCase *t = tcase_create("layers");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, distributions);
    tcase_add_test(t, matrices);
    tcase_add_test(t, penalties);
    tcase_add_test(t, used_again);
    tcase_add_test(t, mlp_values);
    tcase_add_test(t, mlp_learns_xor);
    tcase_add_test(t, seeds_differ);
    tcase_add_test(t, dropout);
    tcase_add_test(t, embedding);
    tcase_add_test(t, residual);
    tcase_add_loop_test(t, odd_inputs, 0, 8);
    suite_add_tcase(suite, t);
    return suite;
}
