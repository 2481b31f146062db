/* test_onnx_quantized.c -- MatMulNBits against loops over its packed weights. */
#include "formats.h"
#include "tests/lib/checks.h"
#include "tests/lib/files/onnx_writer.h"

#include <math.h>

Suite *onnx_quantized_suite(void);

enum { ROWS = 3, K = 64, N = 5, MOST_BYTES = 512 };

/* Weights of so many bits in blocks of 16 or 32, with or without zero points. */
typedef struct packing {
    int  bits, block;
    bool zeros, quantizes;
} packing;

static const packing packings[] = {
    { 8, 32, false, false }, { 4, 16, false, false }, { 4, 32, true, false },
    { 4, 16, true, true },   { 8, 16, false, true },
};

static int weight_byte(int i) { return (37 * i + 11 * (i / 7)) % 256; }
static int zero_byte(int i) { return (0x79 + 0x31 * i) % 256; }
static float scale(int i) { return 0.01f + (float)(i % 7) / 100; }
static float element(int i) { return (float)sin(i + 1); }

static int part_of(int byte, int bits, int i)
{
    return bits == 8 ? byte : byte >> (i % 2 * 4) & 15;
}

/* The weight in row i of column j, as the operator defines it. */
static double weight(packing p, int i, int j)
{
    const int blocks = K / p.block, block = i / p.block, per = 8 / p.bits;
    const int zeros = (blocks * p.bits + 7) / 8;
    const int q = part_of(weight_byte((j * K + i) / per), p.bits, i);
    const int zero = p.zeros ? part_of(zero_byte(j * zeros + block / per), p.bits, block)
                             : 1 << (p.bits - 1);
    return (q - zero) * (double)scale(j * blocks + block);
}

static message node_of(packing p)
{
    message node = onnx_node_message("MatMulNBits",
                                     p.zeros ? "x,B,scales,zeros" : "x,B,scales", "y");
    message_text(&node, 7, "com.microsoft");
    onnx_add_attribute(&node, onnx_int_attribute("K", K));
    onnx_add_attribute(&node, onnx_int_attribute("N", N));
    onnx_add_attribute(&node, onnx_int_attribute("bits", p.bits));
    onnx_add_attribute(&node, onnx_int_attribute("block_size", p.block));
    if (p.quantizes) onnx_add_attribute(&node, onnx_int_attribute("accuracy_level", 4));
    return node;
}

/* The model of one node; `bytes` are in B. */
static message model_of(packing p, message node, int bytes)
{
    message   m = { NULL, 0 };
    uint8_t   packed[MOST_BYTES], zeros[MOST_BYTES];
    float     scales[MOST_BYTES];
    const int blocks = K / p.block, z = N * ((blocks * p.bits + 7) / 8);
    for (int i = 0; i < bytes; i++) packed[i] = (uint8_t)weight_byte(i);
    for (int i = 0; i < z; i++) zeros[i] = (uint8_t)zero_byte(i);
    for (int i = 0; i < N * blocks; i++) scales[i] = scale(i);
    message_inner(&m, GRAPH_NODE, node);
    message_inner(&m, GRAPH_INITIALIZER,
                  onnx_tensor_message("B", 2, 1, (int64_t[]){ bytes }, packed, (size_t)bytes));
    message_inner(&m, GRAPH_INITIALIZER, onnx_floats("scales", N * blocks, scales));
    if (p.zeros)
        message_inner(&m, GRAPH_INITIALIZER,
                      onnx_tensor_message("zeros", 2, 1, (int64_t[]){ z }, zeros, (size_t)z));
    message_inner(&m, GRAPH_INPUT, onnx_value_message("x", 1, 2, (int64_t[]){ ROWS, K }));
    message_inner(&m, GRAPH_OUTPUT, onnx_value_message("y", 1, -1, NULL));
    return onnx_model_message(m, 17);
}

START_TEST(packed_weights)
{
    const packing    p = packings[_i];
    message          all = model_of(p, node_of(p), N * K * p.bits / 8);
    eddy_error       e = { 0 };
    eddy_graph      *g = eddy_graph_new();
    eddy_onnx_model *model = eddy_onnx_read(g, .data = all.at, .data_size = all.size, .error = &e);
    ck_assert_msg(model != NULL, "%s", e.message);
    float x[ROWS * K];
    for (int i = 0; i < ROWS * K; i++) x[i] = element(i);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *y = eddy_fetch(s, eddy_onnx_output(model, "y"),
                                 EDDY_FEED({ eddy_onnx_input(model, "x"), EDDY_VIEW(x, ROWS, K) }));
    ck_assert_msg(y != NULL, "%s", eddy_session_message(s));
    for (int r = 0; r < ROWS; r++)
        for (int j = 0; j < N; j++) {
            double want = 0, size = 0;
            for (int i = 0; i < K; i++) {
                want += (double)x[r * K + i] * weight(p, i, j);
                size += fabs((double)x[r * K + i] * weight(p, i, j));
            }
            ck_assert_double_eq_tol(eddy_array_get(y, r * N + j), want,
                                    (p.quantizes ? 4e-3 : 1e-6) * size);
        }
    message_free(&all);
    eddy_array_free(y);
    eddy_session_free(s);
    eddy_onnx_free(model);
    eddy_graph_free(g);
}
END_TEST

/* A constant of int8 takes a byte for each element in the graph. */
START_TEST(constant_of_int8)
{
    enum { SIZE = 64 };
    static int8_t w[SIZE * SIZE];
    float         x[SIZE];
    message       m = { NULL, 0 };
    for (int i = 0; i < SIZE * SIZE; i++) w[i] = (int8_t)(weight_byte(i) - 128);
    for (int i = 0; i < SIZE; i++) x[i] = element(i);
    message_inner(&m, GRAPH_NODE, onnx_node_message("DequantizeLinear", "w,scale", "v"));
    message_inner(&m, GRAPH_NODE, onnx_node_message("MatMul", "x,v", "y"));
    message_inner(&m, GRAPH_INITIALIZER,
                  onnx_tensor_message("w", 3, 2, (int64_t[]){ SIZE, SIZE }, w, sizeof w));
    message_inner(&m, GRAPH_INITIALIZER,
                  onnx_tensor_message("scale", 1, 0, NULL, &(float){ 0.5f }, sizeof(float)));
    message_inner(&m, GRAPH_INPUT, onnx_value_message("x", 1, 2, (int64_t[]){ 1, SIZE }));
    message_inner(&m, GRAPH_OUTPUT, onnx_value_message("y", 1, -1, NULL));
    message          all = onnx_model_message(m, 17);
    eddy_error       e = { 0 };
    eddy_graph      *g = eddy_graph_new();
    eddy_onnx_model *model = eddy_onnx_read(g, .data = all.at, .data_size = all.size, .error = &e);
    ck_assert_msg(model != NULL, "%s", e.message);
    char *text = eddy_graph_to_yaml(g);
    ck_assert_uint_lt(strlen(text), 2 * SIZE * SIZE);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *y = eddy_fetch(s, eddy_onnx_output(model, "y"),
                                 EDDY_FEED({ eddy_onnx_input(model, "x"), EDDY_VIEW(x, 1, SIZE) }));
    ck_assert_msg(y != NULL, "%s", eddy_session_message(s));
    for (int j = 0; j < SIZE; j++) {
        double want = 0;
        for (int i = 0; i < SIZE; i++) want += 0.5 * (double)x[i] * w[i * SIZE + j];
        ck_assert_double_eq_tol(eddy_array_get(y, j), want, 1e-3);
    }
    message_free(&all);
    eddy_string_free(text);
    eddy_array_free(y);
    eddy_session_free(s);
    eddy_onnx_free(model);
    eddy_graph_free(g);
}
END_TEST

/* The model is refused, and the reason says why. */
static void refused(packing p, message node, int bytes, const char *why)
{
    message     all = model_of(p, node, bytes);
    eddy_error  e = { 0 };
    eddy_graph *g = eddy_graph_new();
    ck_assert_ptr_null(eddy_onnx_read(g, .data = all.at, .data_size = all.size, .error = &e));
    ck_assert_msg(strstr(e.message, why) != NULL, "'%s' does not say '%s'", e.message, why);
    message_free(&all);
    eddy_graph_free(g);
}

static message node_with(const char *attribute, int64_t value)
{
    static const char *const names[] = { "K", "N", "bits", "block_size" };
    static const int64_t     values[] = { K, N, 8, 32 };
    message node = onnx_node_message("MatMulNBits", "x,B,scales", "y");
    message_text(&node, 7, "com.microsoft");
    for (int i = 0; i < 4; i++)
        onnx_add_attribute(&node, onnx_int_attribute(
            names[i], strcmp(names[i], attribute) == 0 ? value : values[i]));
    return node;
}

START_TEST(refusals)
{
    const packing p = { 8, 32, false, false }, wide = { 8, 32, true, false };
    refused(p, node_with("bits", 2), N * K, "weights of 2 bits are not supported");
    refused(p, node_with("block_size", 48), N * K, "a K that is no multiple of block_size");
    refused(p, node_with("block_size", 3), N * K, "K, N or block_size is wrong");
    refused(p, node_with("K", -1), N * K, "K, N or block_size is wrong");
    refused(p, node_with("", 0), N * K - 1, "B has not the 320 bytes");
    refused(wide, node_of(wide), N * K, "weights of more than 8 bits");
}
END_TEST

Suite *onnx_quantized_suite(void)
{
    Suite *suite = suite_create("onnx_quantized");
    TCase *t = tcase_create("onnx_quantized");
    tcase_add_loop_test(t, packed_weights, 0, sizeof packings / sizeof *packings);
    tcase_add_test(t, constant_of_int8);
    tcase_add_test(t, refusals);
    suite_add_tcase(suite, t);
    return suite;
}
