/* test_messages_conv.c -- error messages of convolutions. */
#include "ops/nets/conv2d_fused.h"
#include "tests/lib/golden.h"
#include "build/gen/table.h"

Suite *messages_conv_suite(void);

static eddy_graph *g;
static eddy_tensor x, filter, dy;

static eddy_tensor of(eddy_dtype d, eddy_shape s) { return eddy_placeholder(g, NULL, d, s); }
static eddy_tensor floats(eddy_shape s) { return of(EDDY_FLOAT32, s); }

static void setup(void)
{
    g = eddy_graph_new();
    x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 6, 5, 4));
    filter = eddy_placeholder(g, "filter", EDDY_FLOAT32, EDDY_SHAPE(3, 3, 4, 8));
    dy = eddy_placeholder(g, "dy", EDDY_FLOAT32, EDDY_SHAPE(2, 4, 3, 8));
}

static void teardown(void) { eddy_graph_free(g); }

static void shapes(void)
{
    const int64_t large = (int64_t)1 << 31;
    eddy_conv2d(floats(EDDY_SHAPE(2, 6, 5)), filter), golden_graph(g);
    eddy_conv2d(x, floats(EDDY_SHAPE(3, 4, 8))), golden_graph(g);
    eddy_conv2d(x, of(EDDY_FLOAT64, EDDY_SHAPE(3, 3, 4, 8))), golden_graph(g);
    eddy_conv2d(of(EDDY_INT32, EDDY_SHAPE(2, 6, 5, 4)), of(EDDY_INT32, EDDY_SHAPE(3, 3, 4, 8)));
    golden_graph(g);
    eddy_conv2d(x, floats(EDDY_SHAPE(3, 3, 3, 8))), golden_graph(g);
    eddy_conv2d(x, floats(EDDY_SHAPE(3, 3, 2, 7))), golden_graph(g);
    eddy_conv2d(x, floats(EDDY_SHAPE(3, 0, 4, 8))), golden_graph(g);
    eddy_conv2d(x, floats(EDDY_SHAPE(large, 1, 4, 8))), golden_graph(g);
    eddy_conv2d(x, floats(EDDY_SHAPE(7, 3, 4, 8))), golden_graph(g);
    eddy_conv2d(x, filter, .dilations = EDDY_DIMS(1, 3), .strides = EDDY_DIMS(2)), golden_graph(g);
    eddy_conv2d(x, floats(EDDY_SHAPE(3, 9, 4, 8)), .explicit_paddings = EDDY_DIMS(0, 0, 1, 2));
    golden_graph(g);
    eddy_conv2d(x, filter, .data_format = "NCHW"), golden_graph(g);
    eddy_conv2d(x, filter, .explicit_paddings = EDDY_DIMS(0, INT32_MAX, INT32_MAX, INT32_MAX));
    golden_graph(g);
}

static void options(void)
{
    eddy_conv2d(x, filter, .data_format = "CHWN"), golden_graph(g);
    eddy_conv2d(x, filter, .padding = "same"), golden_graph(g);
    eddy_conv2d(x, filter, .padding = "EXPLICIT"), golden_graph(g);
    eddy_conv2d(x, filter, .explicit_paddings = EDDY_DIMS(1, 1)), golden_graph(g);
    eddy_conv2d(x, filter, .padding = "SAME", .explicit_paddings = EDDY_DIMS(1, 1, 1, 1));
    golden_graph(g);
    eddy_conv2d(x, filter, .explicit_paddings = EDDY_DIMS(1, 1, -1, 1)), golden_graph(g);
    eddy_conv2d(x, filter, .explicit_paddings = EDDY_DIMS(0, 1, 1, 1, 1, 1, 0, 0)), golden_graph(g);
    eddy_conv2d(x, filter, .strides = EDDY_DIMS(0, 1)), golden_graph(g);
    eddy_conv2d(x, filter, .strides = EDDY_DIMS(1, 2, 3)), golden_graph(g);
    eddy_conv2d(x, filter, .strides = EDDY_NO_DIMS), golden_graph(g);
    eddy_conv2d(x, filter, .strides = EDDY_DIMS(2, 1, 1, 1)), golden_graph(g);
    eddy_conv2d(x, filter, .dilations = EDDY_DIMS((int64_t)1 << 31)), golden_graph(g);
    eddy_conv2d(x, filter, .dilations = EDDY_DIMS(1, 1, 1, 2)), golden_graph(g);
    const eddy_conv_attrs empty = { .strides = EDDY_DIMS(1, 1, 1, 1) };
    eddy_apply2(&eddy_op_conv2d, &empty, x, filter), golden_graph(g);
}

static void gradients(void)
{
    eddy_conv2d_backprop_input(x, filter, floats(EDDY_SHAPE(2, 4, 4, 8))), golden_graph(g);
    eddy_conv2d_backprop_filter(x, filter, floats(EDDY_SHAPE(2, 4, 3))), golden_graph(g);
    eddy_conv2d_backprop_filter(x, filter, dy, .padding = "SAME"), golden_graph(g);
    eddy_conv2d_backprop_input(x, filter, of(EDDY_FLOAT64, EDDY_SHAPE(2, 4, 3, 8)));
    golden_graph(g);
    eddy_conv2d_transpose(dy, floats(EDDY_UNKNOWN_SHAPE)), golden_graph(g);
    eddy_conv2d_transpose(dy, floats(EDDY_SHAPE(3, EDDY_ANY, 4, 8))), golden_graph(g);
    eddy_conv2d_transpose(dy, filter, EDDY_SHAPE(6, 5, 4)), golden_graph(g);
    eddy_conv2d_transpose(dy, filter, EDDY_SHAPE(2, 9, 5, 4)), golden_graph(g);
}

/* As a session would, and as no builder does. */
typedef eddy_fused_conv_attrs fused;

static void fused_with(fused f, int n, const eddy_tensor *in)
{
    f.conv.strides = f.conv.dilations = EDDY_DIMS(1, 1, 1, 1);
    f.conv.padding = "VALID";
    f.conv.data_format = "NHWC";
    eddy_apply(&eddy_op_fused_conv2d, &f, n, in, (eddy_apply_args){ 0 });
    golden_graph(g);
}

static void folded(void)
{
    const eddy_tensor in[] = { x, filter, dy, dy };
    fused_with((fused){ .has_bias = 1 }, 2, in);
    fused_with((fused){ .has_bias = 1 }, 3, in);
    fused_with((fused){ .activation = 2 }, 2, in);
    fused_with((fused){ .has_residual = 1 }, 3, (const eddy_tensor[]){ x, filter, x });
}

START_TEST(sentences)
{
    golden_begin("ops/conv");
    shapes();
    options();
    gradients();
    folded();
    golden_end();
}
END_TEST

Suite *messages_conv_suite(void)
{
    Suite *s = suite_create("messages_conv");
    TCase *c = tcase_create("conv");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, sentences);
    suite_add_tcase(s, c);
    return s;
}
