/* test_onnx_damaged.c -- ONNX models with wrong bytes, and the messages of all errors. Whatever the
 * file, reading either succeeds or leaves the graph as it was. */
#include "formats.h"
#include "tests/lib/golden.h"
#include "tests/lib/onnx_cases.h"
#include "tests/lib/onnx_writer.h"

#include <stdlib.h>

Suite *onnx_damaged_suite(void);

static void read_bytes(const uint8_t *data, size_t size)
{
    eddy_error        e = { 0 };
    eddy_graph       *g = eddy_graph_new();
    eddy_onnx_report *r = eddy_onnx_check(.data = data, .data_size = size, .error = &e);
    ck_assert((r != NULL) == (e.status == EDDY_OK));
    eddy_onnx_report_free(r);
    eddy_onnx_model *m = eddy_onnx_read(g, .data = data, .data_size = size, .error = &e);
    ck_assert((m != NULL) == (e.status == EDDY_OK));
    ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
    if (!m) ck_assert_int_eq(eddy_graph_size(g), 0);
    eddy_onnx_free(m);
    eddy_graph_free(g);
}

/* One byte changed at a time, or the end cut off: `rounds` times, each place drawn anew. */
static void damage(const char *path, int rounds, uint32_t seed)
{
    FILE *f = fopen(path, "rb");
    if (!f) return;
    uint8_t      *bytes = malloc(1 << 20), *copy = malloc(1 << 20);
    const size_t  size = fread(bytes, 1, 1 << 20, f);
    fclose(f);
    for (int i = 0; i < rounds && size; i++) {
        memcpy(copy, bytes, size);
        seed = seed * 1664525 + 1013904223;
        const size_t at = (seed >> 8) % size;
        if (i % 8 == 7) read_bytes(copy, at);
        else {
            copy[at] = (uint8_t)(i % 2 ? copy[at] ^ 1u << (seed & 7) : seed >> 3);
            read_bytes(copy, size);
        }
    }
    free(bytes);
    free(copy);
}

START_TEST(changed_bytes) { damage("data/sine.onnx", 2000, 1); }
END_TEST

START_TEST(changed_cases)
{
    int    count;
    char **names = names_in(ONNX_CASES "/node", &count);
    for (int i = 0; i < count; i++) {
        char path[1000];
        snprintf(path, sizeof path, "%s/node/%s/model.onnx", ONNX_CASES, names[i]);
        damage(path, 20, (uint32_t)i);
    }
    free_names(names);
}
END_TEST

/* ------------------------------------------------------------------ messages -- */

static void refused(message m)
{
    eddy_error  e = { 0 };
    eddy_graph *g = eddy_graph_new();
    eddy_onnx_model *model = eddy_onnx_read(g, .data = m.at, .data_size = m.size, .error = &e);
    ck_assert_msg(!model, "the model was read");
    ck_assert(eddy_graph_size(g) == 0 && eddy_graph_status(g) == EDDY_OK);
    golden_error(&e);
    eddy_graph_free(g);
    message_free(&m);
}

/* One node of x [2, 3] and of k, an int64 [1], neither of which is constant. */
static void refused_node(message node, int opset)
{
    message g = { NULL, 0 };
    message_inner(&g, GRAPH_NODE, node);
    message_inner(&g, GRAPH_INPUT, onnx_value_message("x", 1, 2, (int64_t[]){ 2, 3 }));
    message_inner(&g, GRAPH_INPUT, onnx_value_message("k", 7, 1, (int64_t[]){ 1 }));
    message_inner(&g, GRAPH_INPUT, onnx_value_message("open", 1, -1, NULL));
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y", 1, -1, NULL));
    refused(onnx_model_message(g, opset));
}

static message node_with(const char *op, const char *inputs, message attribute)
{
    message n = onnx_node_message(op, inputs, "y");
    onnx_add_attribute(&n, attribute);
    return n;
}

static void of_files(void)
{
    eddy_error  e = { 0 };
    eddy_graph *g = eddy_graph_new();
    ck_assert(!eddy_onnx_read(g, "tests/none.onnx", .error = &e));
    golden_error(&e);
    ck_assert(!eddy_onnx_read(g, "tests", .error = &e));
    golden_error(&e);
    ck_assert(!eddy_onnx_read(g, "data/sine.onnx", .max_bytes = 100, .error = &e));
    golden_error(&e);
    ck_assert(!eddy_onnx_read(g, .error = &e));
    golden_error(&e);
    ck_assert(!eddy_onnx_read(NULL, "data/sine.onnx", .error = &e));
    golden_error(&e);
    const eddy_tensor       c = eddy_scalar(g, 1);
    const eddy_onnx_binding none = { "z", EDDY_LIST(c) }, wrong = { "x", EDDY_LIST(c) },
                            two = { "x", EDDY_LIST(c, c) };
    ck_assert(!eddy_onnx_read(g, "data/sine.onnx", .inputs = &none, .input_count = 1, .error = &e));
    golden_error(&e);
    ck_assert(
        !eddy_onnx_read(g, "data/sine.onnx", .inputs = &wrong, .input_count = 1, .error = &e));
    golden_error(&e);
    ck_assert(!eddy_onnx_read(g, "data/sine.onnx", .inputs = &two, .input_count = 1, .error = &e));
    golden_error(&e);
    ck_assert(!eddy_onnx_read(g, "data/sine.onnx", .input_count = 1, .error = &e));
    golden_error(&e);
    eddy_reshape(c, EDDY_SHAPE(2));
    ck_assert(!eddy_onnx_read(g, "data/sine.onnx", .error = &e));
    golden_error(&e);
    eddy_graph_clear_error(g);
    eddy_graph_finalize(g);
    ck_assert(!eddy_onnx_read(g, "data/sine.onnx", .error = &e));
    golden_error(&e);
    eddy_graph_free(g);
}

static void of_models(void)
{
    message m = { NULL, 0 };
    message_text(&m, 7, "\x0b");
    refused(m);
    m = (message){ NULL, 0 };
    message_number(&m, 1, 8);
    refused(m);
    message g = { NULL, 0 };
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y", 1, -1, NULL));
    refused(onnx_model_message(g, 13));
    const float x = 1;
    static const struct { int type, rank; int64_t dims[9]; size_t size;
    } weights[] = {
        { 1, 1, { 2 }, 4 },  { 1, 1, { -2 }, 4 },        { 1, 9, { 1, 1, 1, 1, 1, 1, 1, 1, 1 }, 4 },
        { 99, 1, { 1 }, 4 }, { 1, 1, { INT64_MAX }, 4 },
    };
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) {
        g = (message){ NULL, 0 };
        message_inner(&g, GRAPH_INITIALIZER,
                      onnx_tensor_message("w", weights[i].type, weights[i].rank, weights[i].dims,
                                          &x, weights[i].size));
        refused(onnx_model_message(g, 13));
    }
    const uint64_t large = UINT64_MAX;
    g = (message){ NULL, 0 };
    message_inner(&g, GRAPH_INITIALIZER,
                  onnx_tensor_message("w", 13, 1, (int64_t[]){ 1 }, &large, 8));
    refused(onnx_model_message(g, 13));
}

static void of_nodes(void)
{
    refused_node(onnx_node_message("Nonsense", "x", "y"), 13);
    message other = onnx_node_message("Gelu", "x", "y");
    message_text(&other, 7, "com.example");
    message_text(&other, 3, "first");
    refused_node(other, 13);
    refused_node(onnx_node_message("Neg", "z", "y"), 13);
    refused_node(onnx_node_message("MatMul", "x,x", "y"), 13);
    refused_node(onnx_node_message("Neg", "", "y"), 13);
    refused_node(onnx_node_message("Squeeze", "x,k", "y"), 13);
    refused_node(node_with("Softmax", "x", onnx_int_attribute("axis", 5)), 13);
    refused_node(onnx_node_message("Softmax", "open", "y"), 13);
    refused_node(node_with("Cast", "x", onnx_int_attribute("to", 8)), 13);
    refused_node(node_with("Cast", "x", onnx_int_attribute("to", 17)), 19);
    refused_node(onnx_node_message("Relu", "x", "y,z"), 13);
    refused_node(onnx_node_message("MaxPool", "x", "y"), 13);
    refused_node(onnx_node_message("If", "x", "y"), 13);
    refused_node(onnx_node_message("Loop", "k,,x", "y"), 13);
    refused_node(onnx_node_message("SequenceAt", "x,k", "y"), 13);
    refused_node(onnx_node_message("Split", "x", ""), 13);
    refused_node(onnx_node_message("Constant", "", "y"), 13);
}

START_TEST(messages)
{
    golden_begin("formats/onnx");
    of_files();
    of_models();
    of_nodes();
    golden_end();
}
END_TEST

Suite *onnx_damaged_suite(void)
{
    Suite *s = suite_create("onnx_damaged");
    TCase *t = tcase_create("bytes"), *slow = tcase_create("cases"),
          *words = tcase_create("messages");
    tcase_set_timeout(t, 120);
    tcase_set_timeout(slow, 1200);
    tcase_set_tags(slow, "slow");
    tcase_add_test(t, changed_bytes);
    tcase_add_test(slow, changed_cases);
    tcase_add_test(words, messages);
    suite_add_tcase(s, t);
    suite_add_tcase(s, slow);
    suite_add_tcase(s, words);
    return s;
}
