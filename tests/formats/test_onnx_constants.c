/* test_onnx_constants.c -- ONNX nodes whose results are known while the model is read. */
#include "formats.h"
#include "tests/lib/files/onnx_writer.h"

#include <check.h>
#include <string.h>

Suite *onnx_constants_suite(void);

static message integer(const char *name, int type, int64_t value)
{
    static const size_t size[] = { [2] = 1, [3] = 1, [5] = 2, [6] = 4, [7] = 8, [12] = 4 };
    return onnx_tensor_message(name, type, 1, (int64_t[]){ 1 }, &value, size[type]);
}

/* op(a, b) of constants of one type, as a value of the type `result`. */
static double computed(const char *op, int type, int64_t a, int64_t b, int result)
{
    message node = onnx_node_message(op, result == type ? "a,b" : "a", "y"), m = { NULL, 0 };
    if (result != type) onnx_add_attribute(&node, onnx_int_attribute("to", result));
    message_inner(&m, GRAPH_NODE, node);
    message_inner(&m, GRAPH_INITIALIZER, integer("a", type, a));
    message_inner(&m, GRAPH_INITIALIZER, integer("b", type, b));
    message_inner(&m, GRAPH_OUTPUT, onnx_value_message("y", result, -1, NULL));
    message          all = onnx_model_message(m, 17);
    eddy_error       e = { 0 };
    eddy_graph      *g = eddy_graph_new();
    eddy_onnx_model *model = eddy_onnx_read(g, .data = all.at, .data_size = all.size, .error = &e);
    ck_assert_msg(model != NULL, "%s", e.message);
    eddy_session *s = eddy_session_new(g);
    const double  y = eddy_fetch_number(s, eddy_onnx_output(model, "y"));
    ck_assert_int_eq(eddy_onnx_element_type(model, "y"), result);
    eddy_session_free(s);
    eddy_onnx_free(model);
    eddy_graph_free(g);
    message_free(&all);
    return y;
}

/* Integers: 2 uint8, 3 int8, 5 int16, 6 int32, 7 int64, 12 uint32. */
START_TEST(integers_wrap)
{
    ck_assert_double_eq(computed("Add", 3, 100, 100, 3), -56);
    ck_assert_double_eq(computed("Mul", 3, 100, 3, 3), 44);
    ck_assert_double_eq(computed("Add", 2, 200, 100, 2), 44);
    ck_assert_double_eq(computed("Sub", 2, 100, 200, 2), 156);
    ck_assert_double_eq(computed("Mul", 5, 300, 300, 5), 24464);
    ck_assert_double_eq(computed("Add", 12, 4000000000, 4000000000, 12), 3705032704);
    ck_assert_double_eq(computed("Add", 6, INT32_MAX, 1, 6), INT32_MIN);
    ck_assert_double_eq(computed("Cast", 7, 300, 0, 3), 44);
    ck_assert_double_eq(computed("Cast", 7, 300, 0, 2), 44);
    ck_assert_double_eq(computed("Cast", 7, -1, 0, 12), 4294967295);
    ck_assert_double_eq(computed("Cast", 7, (1ll << 40) + 5, 0, 6), 5);
}
END_TEST

/* What is random is no constant, whatever it is computed from, and no size of a window. */
START_TEST(random_numbers)
{
    static const struct { const char *op, *inputs;
    } rows[] = {
        { "RandomUniform", "" }, { "RandomNormal", "" }, { "RandomUniformLike", "z" },
        { "Bernoulli", "z" },    { "Dropout", "z" },     { "Multinomial", "z" },
        { "Identity", "z" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *op = rows[i].op;
        message     node = onnx_node_message(op, rows[i].inputs, "r"), m = { NULL, 0 },
                cast = onnx_node_message("Cast", "r", "c");
        if (!*rows[i].inputs)
            onnx_add_attribute(&node, onnx_ints_attribute("shape", 1, (int64_t[]){ 1 }));
        onnx_add_attribute(&cast, onnx_int_attribute("to", 7));
        message_inner(&m, GRAPH_NODE, node);
        message_inner(&m, GRAPH_NODE, cast);
        message_inner(&m, GRAPH_NODE, onnx_node_message("BlackmanWindow", "c", "y"));
        message_inner(&m, GRAPH_INITIALIZER,
                      onnx_tensor_message("z", 1, 2, (int64_t[]){ 1, 1 }, (float[]){ 1 }, 4));
        message_inner(&m, GRAPH_OUTPUT, onnx_value_message("y", 1, -1, NULL));
        message          all = onnx_model_message(m, 17);
        eddy_error       e = { 0 };
        eddy_graph      *g = eddy_graph_new();
        eddy_onnx_model *model =
            eddy_onnx_read(g, .data = all.at, .data_size = all.size, .error = &e);
        ck_assert_msg((model != NULL) == (strcmp(op, "Identity") == 0), "%s: %s", op, e.message);
        ck_assert_msg(model || strstr(e.message, "must be a constant"), "%s: %s", op, e.message);
        eddy_onnx_free(model);
        eddy_graph_free(g);
        message_free(&all);
    }
}
END_TEST

/* A tensor of many strings, which no node reads, takes as much memory as its strings. */
START_TEST(many_strings)
{
    enum { STRINGS = 100000 };
    message t = { NULL, 0 }, m = { NULL, 0 };
    message_number(&t, 1, STRINGS);
    message_number(&t, 2, 8);
    message_text(&t, 8, "names");
    for (int i = 0; i < STRINGS; i++) message_text(&t, 6, "");
    message_inner(&m, GRAPH_INITIALIZER, t);
    message_inner(&m, GRAPH_INITIALIZER, integer("y", 7, 5));
    message_inner(&m, GRAPH_OUTPUT, onnx_value_message("y", 7, -1, NULL));
    message          all = onnx_model_message(m, 17);
    eddy_error       e = { 0 };
    eddy_graph      *g = eddy_graph_new();
    eddy_onnx_model *model = eddy_onnx_read(g, .data = all.at, .data_size = all.size, .error = &e);
    ck_assert_msg(model != NULL, "%s", e.message);
    eddy_onnx_free(model);
    eddy_graph_free(g);
    message_free(&all);
}
END_TEST

/* An output that cannot be a tensor is found before the caller's graph has new nodes. */
START_TEST(outputs_of_strings)
{
    message m = { NULL, 0 }, t = { NULL, 0 };
    message_number(&t, 1, 1);
    message_number(&t, 2, 8);
    message_text(&t, 6, "word");
    message_text(&t, 8, "y");
    message_inner(&m, GRAPH_NODE, onnx_node_message("Neg", "x", "z"));
    message_inner(&m, GRAPH_INITIALIZER, t);
    message_inner(&m, GRAPH_INPUT, onnx_value_message("x", 1, 0, NULL));
    message_inner(&m, GRAPH_OUTPUT, onnx_value_message("y", 8, -1, NULL));
    message     all = onnx_model_message(m, 17);
    eddy_error  e = { 0 };
    eddy_graph *g = eddy_graph_new();
    ck_assert_ptr_null(eddy_onnx_read(g, .data = all.at, .data_size = all.size, .error = &e));
    ck_assert_str_eq(e.message, "ONNX model: an output: strings are not supported");
    ck_assert_int_eq(eddy_graph_size(g), 0);
    eddy_graph_free(g);
    message_free(&all);
}
END_TEST

Suite *onnx_constants_suite(void)
{
    Suite *s = suite_create("onnx_constants");
    TCase *t = tcase_create("constants");
    tcase_add_test(t, random_numbers);
    tcase_add_test(t, integers_wrap);
    tcase_add_test(t, many_strings);
    tcase_add_test(t, outputs_of_strings);
    suite_add_tcase(s, t);
    return s;
}
