/* test_messages_pool_nd.c -- error messages of pooling along one to three axes, normalizations,
 * noise and 3-D convolutions. */
#include "tests/lib/golden.h"
#include "build/gen/table.h"
#include "ops/nets/pooling_rules.h"

Suite *messages_pool_nd_suite(void);

static eddy_graph *g;
static eddy_tensor line, image, volume;

static eddy_tensor floats(eddy_shape s) { return eddy_placeholder(g, NULL, EDDY_FLOAT32, s); }

static void setup(void)
{
    g = eddy_graph_new();
    line = floats(EDDY_SHAPE(2, 9, 4));
    image = floats(EDDY_SHAPE(2, 6, 5, 4));
    volume = floats(EDDY_SHAPE(2, 3, 6, 5, 4));
}

static void teardown(void) { eddy_graph_free(g); }

static void options(void)
{
    const eddy_dims two = EDDY_DIMS(2);
    eddy_max_pool1d(line, two, .data_format = "NHWC"), golden_graph(g);
    eddy_max_pool3d(volume, EDDY_DIMS(2, 2)), golden_graph(g);
    eddy_avg_pool3d(volume, EDDY_DIMS(2, 2, 2, 2, 2)), golden_graph(g);
    eddy_avg_pool1d(line, EDDY_DIMS(0)), golden_graph(g);
    eddy_avg_pool1d(line, two, .padding = "FULL"), golden_graph(g);
    eddy_avg_pool1d(line, two, .explicit_paddings = EDDY_DIMS(1)), golden_graph(g);
    eddy_avg_pool1d(line, two, .explicit_paddings = EDDY_DIMS(1, 2)), golden_graph(g);
    eddy_avg_pool1d(line, two, .padding = "ADAPTIVE"), golden_graph(g);
    eddy_max_pool2d(image, two, .padding = "EXPLICIT"), golden_graph(g);
    eddy_max_pool2d(image, two, .padding = "SAME", .explicit_paddings = EDDY_DIMS(1, 1, 1, 1));
    golden_graph(g);
    eddy_max_pool2d(image, two, .explicit_paddings = EDDY_DIMS(1, 1)), golden_graph(g);
    eddy_avg_pool2d(image, two, .explicit_paddings = EDDY_DIMS(1, 1, 2, 1)), golden_graph(g);
    eddy_max_pool_with_argmax(image, two, .explicit_paddings = EDDY_DIMS(0, 0, 1, 1, 1, 1, 0, 1));
    golden_graph(g);
    eddy_pool(line, EDDY_DIMS(2), "MIN"), golden_graph(g);
    eddy_pool(line, EDDY_DIMS(1, 1, 1, 1), "MAX"), golden_graph(g);
    eddy_lp_pool(image, 0, EDDY_DIMS(2, 2)), golden_graph(g);
    eddy_lp_pool(image, 2, EDDY_NO_DIMS), golden_graph(g);
    eddy_lp_pool(image, 2, EDDY_DIMS(1, 1, 1, 1)), golden_graph(g);
    eddy_adaptive_avg_pool(line, EDDY_NO_DIMS), golden_graph(g);
    eddy_adaptive_max_pool(line, EDDY_DIMS(0)), golden_graph(g);
    eddy_global_max_pool(image, "NCW"), golden_graph(g);
    eddy_max_pool_with_argmax(image, EDDY_DIMS(1, 2, 2, 3)), golden_graph(g);
}

static void shapes(void)
{
    const eddy_dims two = EDDY_DIMS(2);
    eddy_max_pool1d(image, two), golden_graph(g);
    eddy_max_pool3d(volume, EDDY_DIMS(4)), golden_graph(g);
    eddy_max_pool1d(eddy_cast(line, EDDY_INT32), two), golden_graph(g);
    eddy_adaptive_avg_pool(floats(EDDY_SHAPE(2, 0, 3)), two), golden_graph(g);
    eddy_max_pool1d(floats(EDDY_SHAPE(2, (int64_t)1 << 32, 3)), two), golden_graph(g);
    eddy_global_average_pool(floats(EDDY_SHAPE(2, 3))), golden_graph(g);
}

/* As no builder makes them. */
static void definitions(void)
{
    eddy_window_attrs a = { .padding = "VALID" };
    eddy_apply1(&eddy_op_max_pool3d, &a, line), golden_graph(g);
    a.ksize = a.strides = EDDY_DIMS(3);
    eddy_apply1(&eddy_op_max_pool3d, &a, line), golden_graph(g);
    a.dilations = EDDY_DIMS(1);
    eddy_apply2(&eddy_op_avg_pool3d_grad, &a, line, line), golden_graph(g);
    eddy_apply2(&eddy_op_avg_pool3d_grad, &a, line, eddy_cast(line, EDDY_FLOAT64));
    golden_graph(g);
}

static void normalizations(void)
{
    const eddy_tensor whole = eddy_cast(image, EDDY_INT32), v = floats(EDDY_SHAPE(5));
    const eddy_tensor open = floats(EDDY_UNKNOWN_SHAPE), odd = floats(EDDY_SHAPE(2, 3, EDDY_ANY));
    eddy_group_norm(whole, 2), golden_graph(g);
    eddy_group_norm(image, 3), golden_graph(g);
    eddy_group_norm(image, 2, v), golden_graph(g);
    eddy_group_norm(image, 2, .offset = v), golden_graph(g);
    eddy_group_norm(image, 2, .epsilon = -1), golden_graph(g);
    eddy_group_norm(image, 2, .data_format = "NCW"), golden_graph(g);
    eddy_group_norm(open, 2), golden_graph(g);
    eddy_group_norm(odd, 2), golden_graph(g);
    eddy_instance_norm(floats(EDDY_SHAPE(2, 3))), golden_graph(g);
    eddy_rms_norm(floats(EDDY_SCALAR)), golden_graph(g);
    eddy_weight_norm(image, v, 4), golden_graph(g);
    eddy_weight_norm(image, v, 1), golden_graph(g);
    eddy_weight_norm(image, (eddy_tensor){ .graph = g }, 1), golden_graph(g);
    eddy_local_response_normalization(whole), golden_graph(g);
    eddy_local_response_normalization(open), golden_graph(g);
    eddy_local_response_normalization(image, -1), golden_graph(g);
}

static void noise(void)
{
    eddy_spatial_dropout(floats(EDDY_SHAPE(2, 3)), 0.5), golden_graph(g);
    eddy_spatial_dropout(image, 0.5, "NCW"), golden_graph(g);
    eddy_spatial_dropout(image, 1), golden_graph(g);
    eddy_alpha_dropout(image, -1), golden_graph(g);
    eddy_alpha_dropout(image, 0.5, EDDY_DIMS(3)), golden_graph(g);
    eddy_gaussian_noise(eddy_cast(image, EDDY_BOOL), 1), golden_graph(g);
    eddy_gaussian_noise(image, -1), golden_graph(g);
    eddy_gaussian_dropout(image, 2), golden_graph(g);
}

static void morphology(void)
{
    const eddy_tensor filter = floats(EDDY_SHAPE(3, 3, 4));
    eddy_dilation2d(image, filter, .strides = EDDY_DIMS(1, 2, 3)), golden_graph(g);
    eddy_erosion2d(image, filter, .padding = "FULL"), golden_graph(g);
    eddy_dilation2d(image, floats(EDDY_SHAPE(3, 3, 5))), golden_graph(g);
    eddy_erosion2d(image, filter, .rates = EDDY_DIMS(3)), golden_graph(g);
    eddy_dilation2d(image, (eddy_tensor){ .graph = g }), golden_graph(g);
    eddy_dilation2d(Cast(image, EDDY_INT32), Cast(filter, EDDY_INT32)), golden_graph(g);
}

static void volumes(void)
{
    const eddy_tensor v = floats(EDDY_SHAPE(2, 3, 6, 5, 4)), w = floats(EDDY_SHAPE(3, 3, 3, 3, 8));
    const eddy_tensor f = floats(EDDY_SHAPE(3, 3, 3, 8, 4));
    eddy_conv3d(v, w), golden_graph(g);
    eddy_conv3d(v, f, .explicit_paddings = EDDY_DIMS(1, 1)), golden_graph(g);
    eddy_conv3d_transpose(v, f, EDDY_SHAPE(2, 3)), golden_graph(g);
    eddy_conv3d_transpose(v, f, EDDY_SHAPE(2, 8, 8, 7, 8)), golden_graph(g);
    eddy_conv3d_transpose(v, w), golden_graph(g);
    eddy_conv3d(v, (eddy_tensor){ .graph = g }), golden_graph(g);
    eddy_conv3d_transpose(v, (eddy_tensor){ .graph = g }), golden_graph(g);
}

START_TEST(sentences)
{
    golden_begin("ops/pool_nd");
    options();
    shapes();
    definitions();
    normalizations();
    noise();
    volumes();
    morphology();
    golden_end();
}
END_TEST

Suite *messages_pool_nd_suite(void)
{
    Suite *s = suite_create("messages_pool_nd");
    TCase *c = tcase_create("pool_nd");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, sentences);
    suite_add_tcase(s, c);
    return s;
}
