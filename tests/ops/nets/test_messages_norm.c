/* test_messages_norm.c -- error messages of normalizations and pooling. */
#include "tests/lib/golden.h"
#include "tests/lib/graph_fixture.h"
#include "build/gen/table.h"
#include "ops/nets/pooling_rules.h"

Suite *messages_norm_suite(void);

static eddy_tensor of(eddy_dtype d, eddy_shape s) { return eddy_placeholder(g, "x", d, s); }
static eddy_tensor floats(eddy_shape s) { return of(EDDY_FLOAT32, s); }

static void forward(void)
{
    const eddy_tensor x = floats(EDDY_SHAPE(5, 3)), v = floats(EDDY_SHAPE(3));
    eddy_layer_norm(x, v, v, .epsilon = -1), golden_graph(g);
    eddy_layer_norm(of(EDDY_INT32, EDDY_SHAPE(5, 3)), v, v), golden_graph(g);
    eddy_layer_norm(x, of(EDDY_FLOAT64, EDDY_SHAPE(3)), v), golden_graph(g);
    eddy_layer_norm(of(EDDY_BFLOAT16, EDDY_SHAPE(5, 3)), v, of(EDDY_BFLOAT16, EDDY_SHAPE(3))),
        golden_graph(g);
    eddy_layer_norm(floats(EDDY_SCALAR), v, v), golden_graph(g);
    eddy_layer_norm(x, x, v), golden_graph(g);
    eddy_layer_norm(x, v, floats(EDDY_SHAPE(4))), golden_graph(g);
    eddy_fused_batch_norm(x, v, floats(EDDY_SHAPE(4)), .is_training = true), golden_graph(g);
    eddy_fused_batch_norm(x, v, v), golden_graph(g);
    eddy_fused_batch_norm(x, v, v, .is_training = true, .data_format = "NCW"), golden_graph(g);
    eddy_fused_batch_norm(floats(EDDY_SCALAR), v, v, .is_training = true, .data_format = "NCHW");
    golden_graph(g);
}

static void backward(void)
{
    const eddy_tensor x = floats(EDDY_SHAPE(5, 3)), v = floats(EDDY_SHAPE(3));
    const eddy_tensor rows = floats(EDDY_SHAPE(5, 1)), other = floats(EDDY_SHAPE(4, 3));
    const eddy_apply_args none = { 0 };
    eddy_apply(&eddy_op_layer_norm_grad, NULL, 5, (eddy_tensor[]){ other, x, v, rows, rows }, none);
    golden_graph(g);
    eddy_apply(&eddy_op_layer_norm_grad, NULL, 5, (eddy_tensor[]){ x, x, v, v, rows }, none);
    golden_graph(g);
    eddy_apply(&eddy_op_fused_batch_norm_grad, NULL, 5, (eddy_tensor[]){ x, x, v, v, rows }, none);
    golden_graph(g);
}

START_TEST(normalizing)
{
    golden_begin("ops/norm");
    forward();
    backward();
    golden_end();
}
END_TEST

static void raw_pool(const eddy_op_def *op, eddy_window_attrs a, int n, const eddy_tensor *in)
{
    eddy_apply(op, &a, n, in, (eddy_apply_args){ 0 }), golden_graph(g);
}

static void pools(void)
{
    const eddy_tensor x = floats(EDDY_SHAPE(2, 4, 5, 3));
    const eddy_dims   two = EDDY_DIMS(2);
    eddy_max_pool2d(x), golden_graph(g);
    eddy_max_pool2d(x, EDDY_DIMS(1, 2, 3)), golden_graph(g);
    eddy_max_pool2d(x, EDDY_DIMS(2, 2, 2, 1)), golden_graph(g);
    eddy_max_pool2d(x, EDDY_DIMS(0)), golden_graph(g);
    eddy_avg_pool2d(x, two, .strides = EDDY_DIMS(1, -1)), golden_graph(g);
    eddy_avg_pool2d(x, two, .strides = EDDY_DIMS((int64_t)1 << 31)), golden_graph(g);
    eddy_avg_pool2d(x, two, .padding = "FULL"), golden_graph(g);
    eddy_avg_pool2d(x, two, .data_format = "CHWN"), golden_graph(g);
    eddy_avg_pool2d(x, EDDY_DIMS(5)), golden_graph(g);
    eddy_max_pool2d(floats(EDDY_SHAPE(1, 4, (int64_t)1 << 30, 1)), two), golden_graph(g);
    eddy_avg_pool2d(floats(EDDY_SHAPE(4, 5, 3)), two), golden_graph(g);
    eddy_max_pool2d(of(EDDY_INT32, EDDY_SHAPE(2, 4, 5, 3)), two), golden_graph(g);
}

static void pool_gradients(void)
{
    const eddy_tensor x = floats(EDDY_SHAPE(2, 4, 4, 3)), y = floats(EDDY_SHAPE(2, 2, 2, 3));
    const eddy_tensor wide = of(EDDY_FLOAT64, EDDY_SHAPE(2, 2, 2, 3));
    eddy_window_attrs a = { .ksize = EDDY_DIMS(2, 2), .strides = EDDY_DIMS(2, 2),
                            .padding = "SAME" };
    raw_pool(&eddy_op_max_pool_grad, a, 3, (eddy_tensor[]){ x, x, y });
    raw_pool(&eddy_op_max_pool_grad, a, 3, (eddy_tensor[]){ x, y, wide });
    raw_pool(&eddy_op_max_pool_grad_grad, a, 3, (eddy_tensor[]){ x, y, y });
    raw_pool(&eddy_op_avg_pool_grad, a, 2, (eddy_tensor[]){ x, x });
    a.ksize = EDDY_DIMS(2);
    raw_pool(&eddy_op_max_pool, a, 1, &x);
    a.ksize = EDDY_DIMS(2, 2), a.padding = NULL;
    raw_pool(&eddy_op_max_pool, a, 1, &x);
}

START_TEST(pooling)
{
    golden_begin("ops/norm_pooling");
    pools();
    pool_gradients();
    golden_end();
}
END_TEST

Suite *messages_norm_suite(void)
{
    Suite *s = suite_create("messages_norm");
    TCase *t = tcase_create("messages_norm");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, normalizing);
    tcase_add_test(t, pooling);
    suite_add_tcase(s, t);
    return s;
}
