/* test_onnx_inputs.c -- inputs of ONNX models: their types, tensors that are bound to them, and
 * calls that name them. */
#include "build/gen/suites.h"
#include "formats.h"
#include "tests/lib/files/onnx_odd_models.h"

#include <string.h>

static const message empty = { NULL, 0 };

static message vector_input(const char *name, int type, int n)
{
    return onnx_value_message(name, type, 1, &(int64_t){ n });
}

/* -------------------------------------------------------------------- inputs -- */

START_TEST(input_types)
{
    static const struct { uint32_t field; const char *says;
    } rows[] = {
        { 1, NULL },
        { 4, "input 'x' is a sequence: bind it to tensors" },
        { 5, "input 'x' is no tensor: bind it to tensors" },
        { 8, "input 'x' is no tensor: bind it to tensors" },
        { 9, "input 'x' is an optional value: bind it to tensors" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        message          m = onnx_typed_model(rows[i].field);
        eddy_error       e = { 0 };
        eddy_graph      *g = eddy_graph_new();
        eddy_onnx_model *model = eddy_onnx_read(g, .data = m.at, .data_size = m.size, .error = &e);
        if (rows[i].says) ck_assert_msg(!model && strstr(e.message, rows[i].says), "%s", e.message);
        else ck_assert_int_eq(eddy_shape_of(eddy_onnx_input(model, "x")).rank, EDDY_UNKNOWN_RANK);
        eddy_onnx_free(model);
        eddy_graph_free(g);
        message_free(&m);
    }
}
END_TEST

/* x is a tensor, float[2] or another type; w is a weight among the inputs. */
static message bound_model(int type)
{
    message g = empty;
    message_inner(&g, GRAPH_INPUT, vector_input("x", type, 2));
    message_inner(&g, GRAPH_INPUT, vector_input("w", 1, 2));
    message_inner(&g, GRAPH_INITIALIZER, onnx_floats("w", 2, (float[]){ 10, 20 }));
    message_inner(&g, GRAPH_NODE, onnx_node_message("Identity", "x", "y"));
    message_inner(&g, GRAPH_NODE, onnx_node_message("Neg", "w", "z"));
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y", type, -1, NULL));
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("z", 1, -1, NULL));
    return onnx_model_message(g, 13);
}

static eddy_onnx_model *bind(eddy_graph *g, message m, const eddy_model_binding *b, int n,
                             eddy_error *e)
{
    eddy_onnx_model *model = eddy_onnx_read(g, .data = m.at, .data_size = m.size, .inputs = b,
                                            .input_count = n, .error = e);
    message_free(&m);
    return model;
}

START_TEST(bindings)
{
    eddy_graph       *g = eddy_graph_new(), *h = eddy_graph_new();
    eddy_error        e = { 0 };
    const eddy_tensor two = eddy_floats(g, 3, 4), other = eddy_floats(h, 3, 4),
                      half = eddy_cast(two, EDDY_FLOAT16),
                      stored = eddy_const(g, EDDY_FLOAT16, EDDY_SHAPE(2),
                                          (uint16_t[]){ 0x4200, 0x4400 }),
                      whole = eddy_ints(g, 3, 4),
                      three = eddy_floats(g, 1, 2, 3);
    const char *const unfit = "input 'x' is float[2]; the tensor given for it is not";
    const struct { int type, n; eddy_model_binding b; const char *says;
    } rows[] = {
        { 1, 1, { "x", EDDY_LIST(two) }, NULL },
        { 1, 1, { "w", EDDY_LIST(two) }, NULL },
        { 10, 1, { "x", EDDY_LIST(half) }, NULL },
        { 10, 1, { "x", EDDY_LIST(stored) }, NULL },
        { 10, 1, { "x", EDDY_LIST(two) }, NULL },
        { 10, 1, { "x", EDDY_LIST(whole) }, "input 'x' is float16[2]; the tensor given" },
        { 1, 1, { "x", EDDY_LIST(half) }, unfit },
        { 1, 1, { "x", EDDY_LIST(whole) }, unfit },
        { 1, 1, { "x", EDDY_LIST(three) }, unfit },
        { 1, 1, { "x", EDDY_LIST(EDDY_NO_TENSOR) }, unfit },
        { 8, 1, { "x", EDDY_LIST(two) }, "input 'x' is string[2]; the tensor given" },
        { 1, 1, { "x", { 0, NULL } }, "input 'x' cannot be 0 tensors" },
        { 1, 1, { "x", { -1, NULL } }, "input 'x' cannot be -1 tensors" },
        { 1, 1, { "x", { 1, NULL } }, "input 'x' cannot be 1 tensors" },
        { 1, 1, { "x", EDDY_LIST(two, two) }, "input 'x' cannot be 2 tensors" },
        { 1, 1, { NULL, EDDY_LIST(two) }, "there is no input ''" },
        { 1, -1, { "x", EDDY_LIST(two) }, "the bindings are missing" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        eddy_onnx_model *m = bind(g, bound_model(rows[i].type), &rows[i].b, rows[i].n, &e);
        if (rows[i].says)
            ck_assert_msg(!m && strstr(e.message, rows[i].says), "%d: %s", (int)i, e.message);
        else {
            ck_assert_msg(m != NULL, "%s", e.message);
            eddy_session *s = eddy_session_new(g);
            const bool    weight = rows[i].b.name[0] == 'w';
            eddy_array   *y = eddy_fetch(s, eddy_onnx_output(m, weight ? "z" : "y"));
            ck_assert_msg(y != NULL, "%s", eddy_session_message(s));
            ck_assert_double_eq(eddy_array_get(y, 1), weight ? -4 : 4);
            ck_assert_int_eq(eddy_onnx_input_count(m), weight ? 2 : 1);
            eddy_array_free(y);
            eddy_session_free(s);
        }
        eddy_onnx_free(m);
        ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
    }
    /* A tensor of another graph is found in the build that follows the trial. */
    const eddy_model_binding b = { "x", EDDY_LIST(other) };
    ck_assert(!bind(g, bound_model(1), &b, 1, &e) && strstr(e.message, unfit));
    eddy_graph_free(h);
    eddy_graph_free(g);
}
END_TEST

/* Sequences and optional values are bound to as many tensors as there are. */
START_TEST(bound_sequences)
{
    eddy_graph       *g = eddy_graph_new();
    eddy_error        e = { 0 };
    const eddy_tensor two = eddy_floats(g, 3, 4), whole = eddy_ints(g, 3, 4);
    const eddy_model_binding good = { "x", EDDY_LIST(two, two, two) },
                             bad = { "x", EDDY_LIST(two, whole) }, none = { "x", { 0, NULL } };
    eddy_onnx_model *m = bind(g, onnx_typed_model(4), &good, 1, &e);
    ck_assert_msg(m != NULL, "%s", e.message);
    ck_assert_double_eq(eddy_array_item(eddy_constant_value(eddy_onnx_output(m, "y"))), 3);
    ck_assert_int_eq(eddy_onnx_items(m, "x").count, 3);
    ck_assert(eddy_same(eddy_onnx_items(m, "x").at[1], two));
    ck_assert(!eddy_is_valid(eddy_onnx_input(m, "x")));
    eddy_onnx_free(m);
    ck_assert(!bind(g, onnx_typed_model(4), &bad, 1, &e));
    ck_assert_msg(strstr(e.message, "input 'x' is float?; the tensor given for it is not"), "%s",
                  e.message);
    m = bind(g, onnx_typed_model(ONNX_OPTIONAL_SEQUENCE), &good, 1, &e);
    ck_assert_msg(m != NULL, "%s", e.message);
    ck_assert(eddy_onnx_items(m, "x").count == 3 && eddy_onnx_items(m, "y").count == 3);
    eddy_onnx_free(m);
    m = bind(g, onnx_typed_model(9), &none, 1, &e);
    ck_assert_msg(m != NULL, "%s", e.message);
    ck_assert(eddy_onnx_items(m, "x").count == 0 && eddy_onnx_items(m, "y").count == 0);
    eddy_onnx_free(m);
    eddy_graph_free(g);
}
END_TEST

/* Calls with names and numbers that do not exist. */
START_TEST(ports)
{
    eddy_graph      *g = eddy_graph_new();
    eddy_error       e = { 0 };
    eddy_onnx_model *m = bind(g, bound_model(1), NULL, 0, &e);
    ck_assert_msg(m != NULL, "%s", e.message);
    ck_assert(eddy_onnx_input_count(m) == 1 && eddy_onnx_output_count(m) == 2);
    ck_assert(eddy_onnx_input_count(NULL) == 0 && eddy_onnx_output_count(NULL) == 0);
    ck_assert_str_eq(eddy_onnx_input_name(m, 0), "x");
    ck_assert_str_eq(eddy_onnx_output_name(m, 1), "z");
    ck_assert(!eddy_onnx_input_name(m, 1) && !eddy_onnx_input_name(m, -1));
    ck_assert(!eddy_onnx_output_name(m, 2) && !eddy_onnx_output_name(m, -1));
    ck_assert(!eddy_onnx_input_name(NULL, 0) && !eddy_onnx_output_name(NULL, 0));
    ck_assert(!eddy_is_valid(eddy_onnx_input(m, NULL)) && !eddy_is_valid(eddy_onnx_input(m, "y")));
    ck_assert(!eddy_is_valid(eddy_onnx_output(m, NULL)));
    ck_assert(!eddy_is_valid(eddy_onnx_output(m, "x")));
    ck_assert(!eddy_is_valid(eddy_onnx_input(NULL, "x")));
    ck_assert(!eddy_is_valid(eddy_onnx_output(NULL, "y")));
    ck_assert(!eddy_is_valid(eddy_onnx_value(m, NULL)) && !eddy_is_valid(eddy_onnx_value(m, "no")));
    ck_assert(!eddy_is_valid(eddy_onnx_value(NULL, "x")) && eddy_is_valid(eddy_onnx_value(m, "x")));
    ck_assert(eddy_onnx_items(m, "no").count == 0 && eddy_onnx_items(NULL, "x").count == 0);
    ck_assert(eddy_onnx_element_type(m, "x") == 1 && eddy_onnx_element_type(m, "no") == 0);
    eddy_onnx_free(m);
    eddy_onnx_free(NULL);
    eddy_graph_free(g);
}
END_TEST

Suite *onnx_inputs_suite(void)
{
    Suite *s = suite_create("onnx_inputs");
    TCase *t = tcase_create("models");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, input_types);
    tcase_add_test(t, bindings);
    tcase_add_test(t, bound_sequences);
    tcase_add_test(t, ports);
    suite_add_tcase(s, t);
    return s;
}
