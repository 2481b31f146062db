/* test_messages_quantized.c -- error messages of products with 8-bit weights. */
#include "tests/lib/golden.h"

Suite *messages_quantized_suite(void);

START_TEST(of_quantized)
{
    eddy_graph *g = eddy_graph_new();
    golden_begin("ops/quantized");
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 6));
    const eddy_tensor q = eddy_placeholder(g, "q", EDDY_UINT8, EDDY_SHAPE(6, 4));
    const eddy_tensor scales = eddy_floats(g, 1, 2, 3, 4);
    const eddy_tensor w = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(6, 4));
    eddy_quantize(q), golden_graph(g);
    eddy_quantize(x), golden_graph(g);
    eddy_quantize(scales), golden_graph(g);
    eddy_quantize(w, .group = 4), golden_graph(g);
    eddy_quantize(w, .group = 0), golden_graph(g);
    eddy_dequantize(w, scales), golden_graph(g);
    eddy_dequantize(q, q), golden_graph(g);
    eddy_dequantize(q, eddy_floats(g, 1, 2, 3)), golden_graph(g);
    eddy_dequantize(q, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(4, 4))), golden_graph(g);
    eddy_quantized_matmul(q, q, scales), golden_graph(g);
    eddy_quantized_matmul(scales, q, scales), golden_graph(g);
    eddy_quantized_matmul(x, w, scales), golden_graph(g);
    eddy_quantized_matmul(w, q, scales), golden_graph(g);
    eddy_quantized_matmul(x, q, eddy_floats(g, 1)), golden_graph(g);
    eddy_quantized_matmul(x, q, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(4, 4))), golden_graph(g);
    eddy_quantized_matmul(x, q, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(0, 4))), golden_graph(g);
    eddy_quantized_matmul(x, q, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(1, 1, 4))), golden_graph(g);
    golden_end();
    eddy_graph_free(g);
}
END_TEST

Suite *messages_quantized_suite(void)
{
    Suite *suite = suite_create("messages_quantized");
    TCase *t = tcase_create("messages");
    tcase_add_test(t, of_quantized);
    suite_add_tcase(suite, t);
    return suite;
}
