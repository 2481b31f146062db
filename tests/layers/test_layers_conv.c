/* test_layers_conv.c -- convolutions and normalizations with their variables. */
#include "tests/lib/checks.h"
#include "tests/lib/layer_checks.h"

#include <math.h>

Suite *layers_conv_suite(void);

static const eddy_dtype F64 = EDDY_FLOAT64;

static eddy_tensor input(eddy_graph *g, eddy_shape s)
{
    return eddy_placeholder(g, "x", F64, s);
}

static eddy_init filled(eddy_graph *g, eddy_shape s, int a)
{
    return (eddy_init){ .value = layers_filled(g, s, a) };
}

/* --------------------------------------------------------------- convolutions -- */

/* 3x3, stride 2, SAME, with a bias and an activation, against plain loops. */
START_TEST(conv2d_values)
{
    enum { B = 2, H = 5, W = 4, C = 2, F = 3 };
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = input(g, EDDY_SHAPE(EDDY_ANY, H, W, C));
    eddy_tensor y = eddy_conv2d_layer(x, F, EDDY_DIMS(3), .strides = EDDY_DIMS(2),
                                      .padding = "SAME", .activation = eddy_tanh,
                                      .kernel_initializer = filled(g, EDDY_SHAPE(3, 3, C, F), 1),
                                      .bias_initializer = filled(g, EDDY_SHAPE(F), 2));
    eddy_array *in = layers_numbers(EDDY_SHAPE(B, H, W, C), 3);
    eddy_array *w = layers_numbers(EDDY_SHAPE(3, 3, C, F), 1);
    eddy_array *b = layers_numbers(EDDY_SHAPE(F), 2);
    double      want[B * 3 * 2 * F];
    int         n = 0;
    /* Of height 5 and stride 2 one row is missing on each side, of width 4 one at the end. */
    for (int i = 0; i < B * 3 * 2 * F; i++, n++) {
        const int f = i % F, ox = i / F % 2, oy = i / F / 2 % 3, batch = i / F / 6;
        double    z = eddy_array_get(b, f);
        for (int k = 0; k < 9 * C; k++) {
            const int c = k % C, iy = 2 * oy + k / C / 3 - 1, ix = 2 * ox + k / C % 3;
            if (iy < 0 || iy >= H || ix >= W) continue;
            z += eddy_array_get(in, ((batch * H + iy) * W + ix) * C + c) *
                 eddy_array_get(w, k * F + f);
        }
        want[n] = tanh(z);
    }
    layers_fit(y, EDDY_SHAPE(EDDY_ANY, 3, 2, F), "conv2d/Tanh");
    layers_variable(g, "conv2d/kernel", EDDY_SHAPE(3, 3, C, F));
    layers_variable(g, "conv2d/bias", EDDY_SHAPE(F));
    layers_close(y, EDDY_FEED({ x, in }), n, want);
    layers_check(y, x, in);
    eddy_array_free(in);
    eddy_array_free(w);
    eddy_array_free(b);
    eddy_graph_free(g);
}
END_TEST

static const eddy_shape input_shapes[] = {
    { 3, { 2, 6, 4 } }, { 5, { 1, 3, 4, 3, 2 } }, { 4, { 2, 4, 3, 2 } },
    { 4, { 2, 4, 3, 2 } }, { 4, { 2, 4, 3, 2 } }, { 4, { 2, 4, 5, 4 } },
};

/* The others are their operations with the variables that they say they make. */
START_TEST(other_convolutions)
{
    eddy_graph      *g = eddy_graph_new();
    const eddy_dims  two = EDDY_DIMS(2);
    eddy_tensor x = eddy_placeholder(g, "x", F64, input_shapes[_i]), y = { 0 }, z = { 0 };
    eddy_array *in = layers_numbers(input_shapes[_i], 1);
    switch (_i) {
    case 0:
        y = eddy_conv1d_layer(x, 6, two, .strides = two, .groups = 2, .padding = "SAME");
        z = eddy_conv1d(x, layers_variable(g, "conv1d/kernel", EDDY_SHAPE(2, 2, 6)), 2, "SAME");
        break;
    case 1:
        y = eddy_conv3d_layer(x, 3, EDDY_DIMS(2, 3, 1), .dilation_rate = EDDY_DIMS(1));
        z = eddy_conv3d(x, layers_variable(g, "conv3d/kernel", EDDY_SHAPE(2, 3, 1, 2, 3)));
        break;
    case 2:
        y = eddy_conv2d_transpose_layer(x, 3, EDDY_DIMS(3), .strides = two, .padding = "SAME");
        z = eddy_conv2d_transpose(
            x, layers_variable(g, "conv2d_transpose/kernel", EDDY_SHAPE(3, 3, 3, 2)),
            .strides = two, .padding = "SAME");
        layers_fit(y, EDDY_SHAPE(2, 8, 6, 3), NULL);
        break;
    case 3:
        y = eddy_depthwise_conv2d_layer(x, .kernel_size = two, .depth_multiplier = 2);
        z = eddy_depthwise_conv2d(
            x, layers_variable(g, "depthwise_conv2d/depthwise_kernel", EDDY_SHAPE(2, 2, 2, 2)));
        break;
    case 4:
        y = eddy_separable_conv2d_layer(x, 5, two, .strides = two);
        z = eddy_separable_conv2d(
            x, layers_variable(g, "separable_conv2d/depthwise_kernel", EDDY_SHAPE(2, 2, 2, 1)),
            layers_variable(g, "separable_conv2d/pointwise_kernel", EDDY_SHAPE(1, 1, 2, 5)),
            .strides = two);
        break;
    default:
        y = eddy_conv2d_layer(x, 3, two, "c", .data_format = "NCHW");
        z = eddy_conv2d(x, layers_variable(g, "c/kernel", EDDY_SHAPE(2, 2, 4, 3)),
                        .data_format = "NCHW");
    }
    layers_close(Sum(Abs(Sub(y, z))), EDDY_FEED({ x, in }), 1, (double[]){ 0 });
    layers_check(y, x, in);
    eddy_array_free(in);
    eddy_graph_free(g);
}
END_TEST

/* A bias of channels that are axis 1, and of those on the last. */
START_TEST(bias_of_channels)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_zeros(g, F64, EDDY_SHAPE(1, 2, 2, 2));
    const eddy_init b = filled(g, EDDY_SHAPE(2), 0);
    eddy_tensor y = eddy_conv2d_layer(x, 2, EDDY_DIMS(1), .data_format = "NCHW",
                                      .bias_initializer = b);
    eddy_tensor z = eddy_conv2d_layer(x, 2, EDDY_DIMS(1), .bias_initializer = b);
    const double p = -5.0 / 8, q = 2.0 / 8;
    layers_close(y, EDDY_FEED(), 8, (double[]){ p, p, p, p, q, q, q, q });
    layers_close(z, EDDY_FEED(), 8, (double[]){ p, q, p, q, p, q, p, q });
    eddy_graph_free(g);
}
END_TEST

/* -------------------------------------------------------------- batch norm -- */

typedef struct statistics { double mean, variance; } statistics;

/* Of channel c, the last axis having n of them. */
static statistics channel(const eddy_array *x, int n, int c)
{
    statistics    s = { 0, 0 };
    const int64_t rows = eddy_array_count(x) / n;
    for (int64_t i = 0; i < rows; i++) s.mean += eddy_array_get(x, i * n + c) / (double)rows;
    for (int64_t i = 0; i < rows; i++) {
        const double d = eddy_array_get(x, i * n + c) - s.mean;
        s.variance += d * d / (double)rows;
    }
    return s;
}

/* Element i of the array that layers_filled makes with a. */
static double element(int i, int a) { return (double)((7 * i + a) % 11 - 5) / 8; }

/* out: nothing, y after training, in training, in use.  Of rank 4 the variance of the moving
 * average is divided by one less. */
static void check_batch_norm(const eddy_array *in, eddy_array *const *out,
                             eddy_array *const *moving, bool four)
{
    enum { C = 3 };
    const double n = (double)eddy_array_count(in) / C;
    for (int i = 0; i < eddy_array_count(in); i++) {
        const statistics batch = channel(in, C, i % C);
        const double m = batch.mean * (1 - 0.5625);
        const double v = 0.5625 + batch.variance * (four ? n / (n - 1) : 1) * (1 - 0.5625);
        const double gamma = element(i % C, 2), beta = element(i % C, 1);
        const double xi = eddy_array_get(in, i);
        const double now = (xi - batch.mean) / sqrt(batch.variance + 1e-3) * gamma + beta;
        const double later = (xi - m) / sqrt(v + 1e-3) * gamma + beta;
        ck_assert_double_eq_tol(eddy_array_get(moving[0], i % C), m, 1e-12);
        ck_assert_double_eq_tol(eddy_array_get(moving[1], i % C), v, 1e-12);
        ck_assert_double_eq_tol(eddy_array_get(out[1], i), later, 1e-12);
        ck_assert_double_eq_tol(eddy_array_get(out[2], i), now, 1e-12);
        ck_assert_double_eq_tol(eddy_array_get(out[3], i), later, 1e-12);
    }
}

/* Values in training, in use, and by a switch; the moving averages after two steps.  Of
 * rank 4 the fused operation is taken, of which the variance is divided by one less. */
START_TEST(batch_norm_values)
{
    enum { C = 3 };
    const bool       four = _i == 1;
    const eddy_shape s = four ? EDDY_SHAPE(2, 2, 3, C) : EDDY_SHAPE(6, C);
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = input(g, s), when = eddy_placeholder(g, "training", EDDY_BOOL, EDDY_SCALAR);
    eddy_tensor y = eddy_batch_norm_layer(x, .training_when = when, .momentum = 0.75,
                                          .beta_initializer = filled(g, EDDY_SHAPE(C), 1),
                                          .gamma_initializer = filled(g, EDDY_SHAPE(C), 2));
    eddy_tensor updates = eddy_update_ops(g, NULL);
    const char *const name = "batch_normalization";
    eddy_tensor trained = eddy_batch_norm_layer(x, .training = true, .reuse = name);
    eddy_tensor used = eddy_batch_norm_layer(x, .reuse = name);
    eddy_tensor mean = layers_variable(g, "batch_normalization/moving_mean", EDDY_SHAPE(C));
    eddy_tensor variance = layers_variable(g, "batch_normalization/moving_variance", EDDY_SHAPE(C));
    eddy_array *in = layers_numbers(s, 4), *out[5] = { NULL };
    eddy_array *yes = eddy_array_of(EDDY_BOOL, 1), *no = eddy_array_of(EDDY_BOOL, 0);
    ck_assert_int_eq(eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES), 2);
    ck_assert_int_eq(eddy_collection_size(g, EDDY_GLOBAL_VARIABLES), 4);
    ck_assert_int_eq(eddy_collection_size(g, EDDY_UPDATE_OPS), 4);
    eddy_session *session = eddy_session_new(g);
    runs(session, eddy_initializer(g));
    for (int step = 0; step < 3; step++)            /* the last one does not train */
        ck_assert_int_eq(eddy_run(session, EDDY_FEED({ x, in }, { when, step < 2 ? yes : no }),
                                  EDDY_FETCH(updates, y, trained, used), out), EDDY_OK);
    eddy_array *moving[2] = { eddy_fetch(session, mean), eddy_fetch(session, variance) };
    check_batch_norm(in, out, moving, four);
    for (int i = 0; i < 5; i++) eddy_array_free(out[i]);
    eddy_array_free(moving[0]);
    eddy_array_free(moving[1]);
    eddy_array_free(in);
    eddy_array_free(yes);
    eddy_array_free(no);
    eddy_session_free(session);
    eddy_graph_free(g);
}
END_TEST

/* Gradients through the statistics, of rank 2, 3, 4 and with channels second. */
START_TEST(batch_norm_gradients)
{
    const eddy_shape shape[] = { { 2, { EDDY_ANY, 3 } }, { 3, { EDDY_ANY, 2, 3 } },
                                 { 4, { EDDY_ANY, 2, 2, 3 } }, { 4, { EDDY_ANY, 2, 2, 3 } } };
    eddy_shape s = shape[_i];
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = input(g, s);
    eddy_tensor y = eddy_batch_norm_layer(x, .training = true, .axis = _i == 3 ? 1 : -1,
                                          .no_scale = _i == 1, .no_center = _i == 2);
    s.dim[0] = 4;
    eddy_array *in = layers_numbers(s, 3);
    layers_fit(y, shape[_i], NULL);
    layers_variable(g, "batch_normalization/moving_mean", EDDY_SHAPE(_i == 3 ? 2 : 3));
    layers_check(Mul(y, y), x, in);
    eddy_array_free(in);
    eddy_graph_free(g);
}
END_TEST

/* ---------------------------------------------------------------- layer norm -- */

START_TEST(layer_norm)
{
    enum { R = 4, N = 3 };
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = input(g, EDDY_SHAPE(EDDY_ANY, N));
    eddy_tensor y = eddy_layer_norm_layer(x, .epsilon = 0.01,
                                          .gamma_initializer = filled(g, EDDY_SHAPE(N), 2),
                                          .beta_initializer = filled(g, EDDY_SHAPE(N), 1));
    eddy_array *in = layers_numbers(EDDY_SHAPE(R, N), 3);
    double      want[R * N];
    for (int i = 0; i < R; i++) {
        eddy_array *row = eddy_array_borrow(F64, EDDY_SHAPE(N),
                                            (double *)eddy_array_data(in) + i * N);
        const statistics s = channel(row, 1, 0);
        for (int j = 0; j < N; j++)
            want[i * N + j] = (eddy_array_get(row, j) - s.mean) / sqrt(s.variance + 0.01) *
                              element(j, 2) + element(j, 1);
        eddy_array_free(row);
    }
    layers_close(y, EDDY_FEED({ x, in }), R * N, want);
    layers_variable(g, "layer_norm/gamma", EDDY_SHAPE(N));
    layers_check(y, x, in);
    eddy_array_free(in);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------------------ learning -- */

/* Is the bright bar across or upright?  The batch norm's averages serve afterwards. */
START_TEST(bars)
{
    enum { N = 16, SIDE = 4 };
    eddy_graph *g = eddy_graph_new(.seed = 5);
    eddy_array *pixels = eddy_array_new(F64, EDDY_SHAPE(N, SIDE, SIDE, 1));
    int32_t     truth[N];
    for (int i = 0; i < N; i++) {
        truth[i] = i % 2;
        for (int k = 0; k < SIDE * SIDE; k++) {
            const int at = truth[i] ? k / SIDE : k % SIDE;
            eddy_array_set(pixels, i * SIDE * SIDE + k, at == i / 2 % SIDE ? 1 + i / 8 : 0);
        }
    }
    eddy_tensor x = input(g, EDDY_SHAPE(EDDY_ANY, SIDE, SIDE, 1));
    eddy_tensor labels = eddy_const(g, EDDY_INT32, EDDY_SHAPE(N), truth);
    eddy_tensor h = eddy_conv2d_layer(x, 4, EDDY_DIMS(3), .padding = "SAME", .no_bias = true);
    h = eddy_relu(eddy_batch_norm_layer(h, .training = true, .momentum = 0.8));
    h = eddy_flatten(eddy_max_pool2d(h, EDDY_DIMS(2)));
    eddy_tensor logits = eddy_dense(h, 2, "logits");
    layers_learn(Mean(eddy_sparse_softmax_cross_entropy(labels, logits)),
                 EDDY_FEED({ x, pixels }), 60, 0.05, 0.05);
    eddy_array_free(pixels);
    eddy_graph_free(g);
}
END_TEST

Suite *layers_conv_suite(void)
{
    Suite *suite = suite_create("layers_conv");
    TCase *t = tcase_create("layers");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, conv2d_values);
    tcase_add_loop_test(t, other_convolutions, 0, 6);
    tcase_add_test(t, bias_of_channels);
    tcase_add_loop_test(t, batch_norm_values, 0, 2);
    tcase_add_loop_test(t, batch_norm_gradients, 0, 4);
    tcase_add_test(t, layer_norm);
    tcase_add_test(t, bars);
    suite_add_tcase(suite, t);
    return suite;
}
