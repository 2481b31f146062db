/* test_messages_conv_depthwise.c -- error messages of depthwise and 1-D convolutions, and of
 * patches. */
#include "tests/lib/golden.h"
#include "ops/nets/conv2d.h"
#include "build/gen/table.h"

Suite *messages_conv_depthwise_suite(void);

static eddy_graph *g;
static eddy_tensor x, filter;

static eddy_tensor floats(eddy_shape s) { return eddy_placeholder(g, NULL, EDDY_FLOAT32, s); }

static void setup(void)
{
    g = eddy_graph_new();
    x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 6, 5, 4));
    filter = eddy_placeholder(g, "filter", EDDY_FLOAT32, EDDY_SHAPE(3, 3, 4, 2));
}

static void teardown(void) { eddy_graph_free(g); }

/* As no builder makes it. */
static void planes(void)
{
    const eddy_dims none = { 0 };
    const eddy_conv_attrs a = eddy__conv_attrs_of(none, NULL, none, none, "NCHW");
    eddy_apply2(&eddy_op_depthwise, &a, x, filter), golden_graph(g);
    const struct { eddy_conv_attrs conv; eddy_dims ksizes; } p = { a, EDDY_DIMS(1, 2, 2, 1) };
    eddy_apply1(&eddy_op_patches, &p, x), golden_graph(g);
}

static void depthwise(void)
{
    const eddy_tensor small = floats(EDDY_SHAPE(2, 4, 3, 7));
    const eddy_dims none = { 0 };
    const eddy_conv_attrs a = eddy__conv_attrs_of(none, NULL, none, none, NULL);
    eddy_depthwise_conv2d(x, floats(EDDY_SHAPE(3, 3, 5, 1))), golden_graph(g);
    eddy_depthwise_conv2d(x, filter, .padding = "FULL"), golden_graph(g);
    eddy_apply(&eddy_op_depthwise_input, &a, 3, (eddy_tensor[]){ x, filter, small },
               (eddy_apply_args){ 0 });
    golden_graph(g);
    eddy_separable_conv2d(x, filter, floats(EDDY_SHAPE(3, 1, 8, 6))), golden_graph(g);
    eddy_separable_conv2d(x, filter, floats(EDDY_SHAPE(1, 1, 1, 6))), golden_graph(g);
}

static void one_axis(void)
{
    const eddy_tensor line = floats(EDDY_SHAPE(2, 9, 4)), w = floats(EDDY_SHAPE(3, 4, 8));
    eddy_conv1d(x, w), golden_graph(g);
    eddy_conv1d(line, filter), golden_graph(g);
    eddy_conv1d(line, w, .data_format = "NHWC"), golden_graph(g);
    eddy_conv1d(line, w, .explicit_paddings = EDDY_DIMS(1)), golden_graph(g);
    eddy_conv1d_transpose(line, w, EDDY_SHAPE(2, 9)), golden_graph(g);
}

static void volumes(void)
{
    const eddy_tensor v = floats(EDDY_SHAPE(2, 3, 6, 5, 4)), w = floats(EDDY_SHAPE(3, 3, 3, 4, 8));
    eddy_conv3d(v, w, .data_format = "NHWC"), golden_graph(g);
    eddy_conv3d(v, w, .strides = EDDY_DIMS(0)), golden_graph(g);
    eddy_conv3d(v, w, .strides = EDDY_DIMS(1, 2)), golden_graph(g);
    eddy_conv3d(x, w), golden_graph(g);
    eddy_conv3d(floats(EDDY_SHAPE(2, EDDY_ANY, 6, 5, 4)), w), golden_graph(g);
    eddy_conv3d(v, w, .dilations = EDDY_DIMS(2)), golden_graph(g);
}

static void patches(void)
{
    const struct { eddy_conv_attrs conv; eddy_dims ksizes; } a = {
        eddy__conv_attrs_of(EDDY_DIMS(1), NULL, EDDY_NO_DIMS, EDDY_DIMS(1), NULL),
        EDDY_DIMS(1, 2, 2, 1),
    };
    const int64_t large = (int64_t)1 << 30;
    eddy_extract_image_patches(x, EDDY_DIMS(0, 2)), golden_graph(g);
    eddy_extract_image_patches(x, EDDY_DIMS(7, 2)), golden_graph(g);
    eddy_extract_image_patches(x, EDDY_DIMS(large, large), .padding = "SAME"), golden_graph(g);
    eddy_apply2(&eddy_op_patches_grad, &a, x, x), golden_graph(g);
}

START_TEST(sentences)
{
    golden_begin("ops/conv_depthwise");
    depthwise();
    one_axis();
    volumes();
    patches();
    planes();
    golden_end();
}
END_TEST

Suite *messages_conv_depthwise_suite(void)
{
    Suite *s = suite_create("messages_conv_depthwise");
    TCase *c = tcase_create("conv_more");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, sentences);
    suite_add_tcase(s, c);
    return s;
}
