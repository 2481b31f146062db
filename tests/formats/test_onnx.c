/* test_onnx.c -- reading ONNX models: names, weights, bindings, shapes, functions, loops, files of
 * external data, and graphs that stay as they were after an error. */
#include "formats.h"
#include "tests/lib/checks.h"
#include "tests/lib/files/onnx_writer.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

Suite *onnx_suite(void);

/* ------------------------------------------------------------------- models -- */

/* Reads a model, which must succeed, and frees the message. */
static eddy_onnx_model *read_message(eddy_graph *g, message m, const eddy_model_binding *inputs,
                                     int n)
{
    eddy_error       e = { 0 };
    eddy_onnx_model *model = eddy_onnx_read(g, .data = m.at, .data_size = m.size, .inputs = inputs,
                                            .input_count = n, .error = &e);
    ck_assert_msg(model != NULL, "%s", e.message);
    ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
    message_free(&m);
    return model;
}

/* One node of x, with y as its output. */
static message one_node(message node, int opset, int rank, const int64_t *dims, int type)
{
    message g = { NULL, 0 };
    message_inner(&g, GRAPH_NODE, node);
    message_inner(&g, GRAPH_INPUT, onnx_value_message("x", type, rank, dims));
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y", type, -1, NULL));
    return onnx_model_message(g, opset);
}

static eddy_array *run_one(eddy_graph *g, eddy_onnx_model *m, const eddy_array *x)
{
    eddy_session *s = eddy_session_new(g);
    eddy_array   *y =
        eddy_fetch(s, eddy_onnx_output(m, "y"), EDDY_FEED({ eddy_onnx_input(m, "x"), x }));
    ck_assert_msg(y != NULL, "%s", eddy_session_message(s));
    eddy_session_free(s);
    return y;
}

/* -------------------------------------------------------------------- tests -- */

START_TEST(trains)
{
    eddy_graph      *g = eddy_graph_new();
    eddy_error       e = { 0 };
    eddy_onnx_model *m =
        eddy_onnx_read(g, "data/sine.onnx", .variables = true, .scope = "net", .error = &e);
    ck_assert_msg(m != NULL, "%s", e.message);
    ck_assert_int_eq(eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES), 4);
    ck_assert_str_eq(eddy_name_of(eddy_onnx_value(m, "w1")), "net/w1");
    ck_assert_str_eq(eddy_name_of(eddy_onnx_input(m, "x")), "net/x");
    const eddy_tensor x = eddy_onnx_input(m, "x"), y = eddy_onnx_output(m, "y");
    ck_assert_int_eq(eddy_shape_of(y).dim[0], EDDY_ANY);
    ck_assert_int_eq(eddy_shape_of(y).dim[1], 1);
    const eddy_tensor loss = Mean(Square(Sub(y, Sin(Add(x, 0.5)))));
    const eddy_tensor step = eddy_minimize(eddy_adam(g, eddy_scalar(g, 0.01)), loss);
    float             at[40];
    for (int i = 0; i < 40; i++) at[i] = -3 + 0.15f * (float)i;
    eddy_session *s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    const double before = eddy_fetch_number(s, loss, EDDY_FEED({ x, EDDY_VIEW(at, 40, 1) }));
    for (int i = 0; i < 300; i++)
        ck_assert_int_eq(
            eddy_run(s, EDDY_FEED({ x, EDDY_VIEW(at, 40, 1) }), EDDY_FETCH(step), NULL), EDDY_OK);
    const double after = eddy_fetch_number(s, loss, EDDY_FEED({ x, EDDY_VIEW(at, 40, 1) }));
    ck_assert_msg(after < before / 10, "%g is not far below %g", after, before);
    eddy_session_free(s);
    eddy_onnx_free(m);
    eddy_graph_free(g);
}
END_TEST

/* A node Constant of these numbers. */
static message constant_node(const char *name, int n, const float *x)
{
    message node = onnx_node_message("Constant", "", name), value = { NULL, 0 };
    message_text(&value, 1, "value");
    message_inner(&value, 5, onnx_floats(name, n, x));
    message_number(&value, 20, 4);
    onnx_add_attribute(&node, value);
    return node;
}

/* All weights are Constant nodes; the running mean and variance are not trained, and the single
 * number belongs to a formula. */
START_TEST(weights_in_nodes)
{
    static const char *const names[] = { "scale", "bias", "mean", "variance" };
    static const float       x[4][2] = { { 2, 3 }, { 1, 1 }, { 0, 1 }, { 1, 4 } };
    message                  g = { NULL, 0 };
    for (int i = 0; i < 4; i++) message_inner(&g, GRAPH_NODE, constant_node(names[i], 2, x[i]));
    message_inner(&g, GRAPH_NODE, constant_node("three", 1, (float[]){ 3 }));
    message_inner(&g, GRAPH_NODE,
                  onnx_node_message("BatchNormalization", "x,scale,bias,mean,variance", "z"));
    message_inner(&g, GRAPH_NODE, onnx_node_message("Mul", "z,three", "y"));
    message_inner(&g, GRAPH_INPUT, onnx_value_message("x", 1, 2, (int64_t[]){ 1, 2 }));
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y", 1, -1, NULL));
    message          m = onnx_model_message(g, 13);
    eddy_graph      *graph = eddy_graph_new();
    eddy_onnx_model *model =
        eddy_onnx_read(graph, .data = m.at, .data_size = m.size, .variables = true);
    ck_assert_ptr_nonnull(model);
    ck_assert_int_eq(eddy_collection_size(graph, EDDY_TRAINABLE_VARIABLES), 2);
    ck_assert_int_eq(eddy_collection_size(graph, EDDY_GLOBAL_VARIABLES), 4);
    ck_assert_str_eq(eddy_name_of(eddy_onnx_value(model, "variance")), "variance");
    eddy_session *s = eddy_session_new(graph);
    runs(s, eddy_initializer(graph));
    eddy_array *y = eddy_fetch(s, eddy_onnx_output(model, "y"),
                               EDDY_FEED({ eddy_onnx_input(model, "x"),
                                           EDDY_SHAPED(EDDY_FLOATS(1, 3), 1, 2) }));
    ck_assert_msg(y != NULL, "%s", eddy_session_message(s));
    ck_assert_double_eq_tol(eddy_array_get(y, 0), 9, 1e-3);
    ck_assert_double_eq_tol(eddy_array_get(y, 1), 12, 1e-3);
    eddy_array_free(y);
    eddy_session_free(s);
    eddy_onnx_free(model);
    eddy_graph_free(graph);
    message_free(&m);
}
END_TEST

START_TEST(constants_and_names)
{
    eddy_graph      *g = eddy_graph_new();
    eddy_onnx_model *m = eddy_onnx_read(g, "data/sine.onnx");
    ck_assert_int_eq(eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES), 0);
    ck_assert_int_eq(eddy_onnx_input_count(m), 1);
    ck_assert_str_eq(eddy_onnx_input_name(m, 0), "x");
    ck_assert_int_eq(eddy_onnx_output_count(m), 1);
    ck_assert_str_eq(eddy_onnx_output_name(m, 0), "y");
    ck_assert_int_eq(eddy_onnx_element_type(m, "x"), 1);
    ck_assert(eddy_onnx_input_name(m, 1) == NULL && eddy_onnx_output_name(m, -1) == NULL);
    ck_assert(!eddy_is_valid(eddy_onnx_input(m, "y")) &&
              !eddy_is_valid(eddy_onnx_value(m, "none")));
    ck_assert(eddy_same(eddy_onnx_value(m, "y"), eddy_onnx_output(m, "y")));
    ck_assert_int_eq(eddy_onnx_items(m, "y").count, 1);
    const eddy_array *w1 = eddy_constant_value(eddy_onnx_value(m, "w1"));
    const eddy_array *w2 = eddy_constant_value(eddy_onnx_value(m, "w2"));
    ck_assert(w1 != NULL && w2 != NULL);
    /* Views of the file, which has 352 bytes. */
    const intptr_t apart = (char *)eddy_array_data(w2) - (char *)eddy_array_data(w1);
    ck_assert(apart > 0 && apart < 352);
    eddy_onnx_free(m);
    eddy_onnx_free(NULL);
    ck_assert(!eddy_is_valid(eddy_onnx_output(NULL, "y")) && eddy_onnx_input_count(NULL) == 0);
    eddy_graph_free(g);
}
END_TEST

/* Shape, Gather, Concat and Reshape with an unknown batch: all other dimensions stay known. */
START_TEST(computed_shapes)
{
    const int64_t zero = 0, minus = -1, dims[3] = { -1, 2, 3 };
    message       g = { NULL, 0 };
    message_inner(&g, GRAPH_INITIALIZER, onnx_int64s("zero", 1, &zero));
    message_inner(&g, GRAPH_INITIALIZER, onnx_int64s("minus", 1, &minus));
    message_inner(&g, GRAPH_NODE, onnx_node_message("Shape", "x", "s"));
    message_inner(&g, GRAPH_NODE, onnx_node_message("Gather", "s,zero", "n"));
    message cat = onnx_node_message("Concat", "n,minus", "to");
    onnx_add_attribute(&cat, onnx_int_attribute("axis", 0));
    message_inner(&g, GRAPH_NODE, cat);
    message_inner(&g, GRAPH_NODE, onnx_node_message("Reshape", "x,to", "flat"));
    const int64_t two[2] = { 4, 6 };
    message_inner(&g, GRAPH_INITIALIZER, onnx_int64s("two", 2, two));
    message_inner(&g, GRAPH_NODE, onnx_node_message("Reshape", "x,two", "y"));
    message_inner(&g, GRAPH_INPUT, onnx_value_message("x", 1, 3, dims));
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y", 1, -1, NULL));
    eddy_graph      *graph = eddy_graph_new();
    eddy_onnx_model *m = read_message(graph, onnx_model_message(g, 13), NULL, 0);
    const eddy_shape s = eddy_shape_of(eddy_onnx_value(m, "flat"));
    ck_assert_int_eq(s.rank, 2);
    eddy_session *session = eddy_session_new(graph);
    const float   x[12] = { 1, 2, 3 };
    eddy_array   *y = eddy_fetch(session, eddy_onnx_value(m, "flat"),
                                 EDDY_FEED({ eddy_onnx_input(m, "x"), EDDY_VIEW(x, 2, 2, 3) }));
    ck_assert_msg(y && eddy_shape_equal(eddy_array_shape(y), EDDY_SHAPE(2, 6)), "%s",
                  eddy_session_message(session));
    eddy_array_free(y);
    eddy_session_free(session);
    eddy_onnx_free(m);
    eddy_graph_free(graph);
}
END_TEST

START_TEST(bindings)
{
    const int64_t   dims[1] = { 4 };
    eddy_graph     *g = eddy_graph_new();
    const eddy_tensor c = eddy_floats(g, 1, 2, 3, 4);
    const eddy_model_binding b = { "x", EDDY_LIST(c) };
    eddy_onnx_model        *m =
        read_message(g, one_node(onnx_node_message("Neg", "x", "y"), 13, 1, dims, 1), &b, 1);
    has_value(eddy_onnx_output(m, "y"), 4, (double[]){ -1, -2, -3, -4 });
    eddy_onnx_free(m);
    eddy_graph_free(g);
}
END_TEST

/* 100 + 100 wraps to -56 in int8, which Eddy computes in int32. */
START_TEST(wraps)
{
    const int64_t    dims[1] = { 2 };
    eddy_graph      *g = eddy_graph_new();
    eddy_onnx_model *m =
        read_message(g, one_node(onnx_node_message("Add", "x,x", "y"), 14, 1, dims, 3), NULL, 0);
    eddy_array      *y = run_one(g, m, EDDY_INTS(100, -3));
    ck_assert_int_eq(eddy_array_dtype(y), EDDY_INT32);
    ck_assert_double_eq(eddy_array_get(y, 0), -56);
    ck_assert_double_eq(eddy_array_get(y, 1), -6);
    eddy_array_free(y);
    eddy_onnx_free(m);
    eddy_graph_free(g);
}
END_TEST

/* Weights of types that Eddy lacks: float16 1 and -2, int4 pairs 7 and -8, float8e4m3fn 1.5. */
START_TEST(widened_weights)
{
    static const struct { int type; uint8_t bytes[4]; size_t size; double want[2];
    } cases[] = {
        { 10, { 0x00, 0x3c, 0x00, 0xc0 }, 4, { 1, -2 } },
        { 22, { 0x87 }, 1, { 7, -8 } },
        { 17, { 0x3c, 0xbc }, 2, { 1.5, -1.5 } },
        { 19, { 0x3e, 0xc0 }, 2, { 1.5, -2 } },
        { 16, { 0x80, 0x3f, 0x00, 0xc0 }, 4, { 1, -2 } },
        { 4, { 0xff, 0xff, 1, 0 }, 4, { 65535, 1 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t two = 2;
        message       g = { NULL, 0 };
        message_inner(
            &g, GRAPH_INITIALIZER,
            onnx_tensor_message("w", cases[i].type, 1, &two, cases[i].bytes, cases[i].size));
        message cast = onnx_node_message("Cast", "w", "y");
        onnx_add_attribute(&cast, onnx_int_attribute("to", 11));
        message_inner(&g, GRAPH_NODE, cast);
        message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y", 11, -1, NULL));
        eddy_graph      *graph = eddy_graph_new();
        eddy_onnx_model *m = read_message(graph, onnx_model_message(g, 21), NULL, 0);
        has_value(eddy_onnx_output(m, "y"), 2, cases[i].want);
        eddy_onnx_free(m);
        eddy_graph_free(graph);
    }
}
END_TEST

/* A function of the file with an attribute: Scale(x) = alpha-leaky relu of x + x. */
START_TEST(functions)
{
    message f = { NULL, 0 }, import = { NULL, 0 }, ref = { NULL, 0 };
    message_text(&f, 1, "Twice");
    message_text(&f, 4, "a");
    message_text(&f, 5, "b");
    message_text(&f, 6, "slope");
    message_inner(&f, 7, onnx_node_message("Add", "a,a", "c"));
    message leaky = onnx_node_message("LeakyRelu", "c", "b");
    message_text(&ref, 1, "alpha");
    message_text(&ref, 21, "slope");
    message_number(&ref, 20, 1);
    onnx_add_attribute(&leaky, ref);
    message_inner(&f, 7, leaky);
    message_text(&import, 1, "");
    message_number(&import, 2, 16);
    message_inner(&f, 9, import);
    message_text(&f, 10, "local");

    message call = onnx_node_message("Twice", "x", "y");
    message_text(&call, 7, "local");
    onnx_add_attribute(&call, onnx_float_attribute("slope", 0.5f));
    message m = one_node(call, 16, 1, &(int64_t){ 2 }, 1);
    message_inner(&m, 25, f);
    eddy_graph      *g = eddy_graph_new();
    eddy_onnx_model *model = read_message(g, m, NULL, 0);
    eddy_array      *y = run_one(g, model, EDDY_FLOATS(3, -3));
    ck_assert_double_eq(eddy_array_get(y, 0), 6);
    ck_assert_double_eq(eddy_array_get(y, 1), -3);
    eddy_array_free(y);
    eddy_onnx_free(model);
    eddy_graph_free(g);
}
END_TEST

/* -------------------------------------------------------------- control flow -- */

/* The body x' = x * 2, cond = x' < 100, with x' stacked. */
static message doubling(void)
{
    const float two = 2, limit = 100;
    message     b = { NULL, 0 };
    message_inner(&b, GRAPH_INITIALIZER, onnx_tensor_message("two", 1, 0, NULL, &two, 4));
    message_inner(&b, GRAPH_INITIALIZER, onnx_tensor_message("limit", 1, 0, NULL, &limit, 4));
    message_inner(&b, GRAPH_NODE, onnx_node_message("Mul", "v,two", "next"));
    message_inner(&b, GRAPH_NODE, onnx_node_message("Less", "next,limit", "go"));
    message_inner(&b, GRAPH_NODE, onnx_node_message("Identity", "next", "row"));
    message_inner(&b, GRAPH_INPUT, onnx_value_message("i", 7, 0, NULL));
    message_inner(&b, GRAPH_INPUT, onnx_value_message("c", 9, 0, NULL));
    message_inner(&b, GRAPH_INPUT, onnx_value_message("v", 1, 0, NULL));
    message_inner(&b, GRAPH_OUTPUT, onnx_value_message("go", 9, 0, NULL));
    message_inner(&b, GRAPH_OUTPUT, onnx_value_message("next", 1, 0, NULL));
    message_inner(&b, GRAPH_OUTPUT, onnx_value_message("row", 1, 0, NULL));
    return b;
}

/* A loop whose condition depends on data, with a stack: as many rows as iterations. Its gradient is
 * 2 to the number of iterations. */
START_TEST(open_loop)
{
    message loop = onnx_node_message("Loop", ",,x", "y,rows");
    onnx_add_attribute(&loop, onnx_graph_attribute("body", doubling()));
    message m = one_node(loop, 13, 0, NULL, 1);
    eddy_graph      *g = eddy_graph_new();
    eddy_onnx_model *model = read_message(g, m, NULL, 0);
    const eddy_tensor x = eddy_onnx_input(model, "x"), y = eddy_onnx_output(model, "y");
    const eddy_tensor dx = eddy_gradient(y, x);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *out[3] = { NULL, NULL, NULL };
    ck_assert_msg(eddy_run(s, EDDY_FEED({ x, EDDY_NUMBER(EDDY_FLOAT32, 3) }),
                           EDDY_FETCH(y, eddy_onnx_value(model, "rows"), dx), out) == EDDY_OK,
                  "%s", eddy_session_message(s));
    ck_assert_double_eq(eddy_array_item(out[0]), 192);
    ck_assert_int_eq(eddy_array_count(out[1]), 6);
    ck_assert_double_eq(eddy_array_get(out[1], 4), 96);
    ck_assert_double_eq(eddy_array_item(out[2]), 64);
    for (int i = 0; i < 3; i++) eddy_array_free(out[i]);
    eddy_session_free(s);
    eddy_onnx_free(model);
    eddy_graph_free(g);
}
END_TEST

/* A branch chosen in the run. */
START_TEST(branches)
{
    message yes = { NULL, 0 }, no = { NULL, 0 }, node = onnx_node_message("If", "c", "y"),
            g = { NULL, 0 };
    message_inner(&yes, GRAPH_NODE, onnx_node_message("Neg", "x", "a"));
    message_inner(&yes, GRAPH_OUTPUT, onnx_value_message("a", 1, 0, NULL));
    message_inner(&no, GRAPH_NODE, onnx_node_message("Exp", "x", "a"));
    message_inner(&no, GRAPH_OUTPUT, onnx_value_message("a", 1, 0, NULL));
    onnx_add_attribute(&node, onnx_graph_attribute("then_branch", yes));
    onnx_add_attribute(&node, onnx_graph_attribute("else_branch", no));
    message_inner(&g, GRAPH_NODE, node);
    message_inner(&g, GRAPH_INPUT, onnx_value_message("c", 9, 0, NULL));
    message_inner(&g, GRAPH_INPUT, onnx_value_message("x", 1, 0, NULL));
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y", 1, 0, NULL));
    eddy_graph      *graph = eddy_graph_new();
    eddy_onnx_model *m = read_message(graph, onnx_model_message(g, 13), NULL, 0);
    const eddy_tensor c = eddy_onnx_input(m, "c"), x = eddy_onnx_input(m, "x"),
                      y = eddy_onnx_output(m, "y");
    eddy_session *s = eddy_session_new(graph);
    ck_assert_double_eq(
        eddy_fetch_number(
            s, y, EDDY_FEED({ c, EDDY_NUMBER(EDDY_BOOL, 1) }, { x, EDDY_NUMBER(EDDY_FLOAT32, 3) })),
        -3);
    ck_assert_double_eq(
        eddy_fetch_number(
            s, y, EDDY_FEED({ c, EDDY_NUMBER(EDDY_BOOL, 0) }, { x, EDDY_NUMBER(EDDY_FLOAT32, 0) })),
        1);
    eddy_session_free(s);
    eddy_onnx_free(m);
    eddy_graph_free(graph);
}
END_TEST

/* A weight that a branch is the first to use has the gradient of all uses. */
START_TEST(weight_in_branch_first)
{
    message yes = { NULL, 0 }, no = { NULL, 0 }, node = onnx_node_message("If", "c", "z"),
            g = { NULL, 0 };
    message_inner(&yes, GRAPH_NODE, onnx_node_message("Mul", "x,w", "a"));
    message_inner(&yes, GRAPH_OUTPUT, onnx_value_message("a", 1, -1, NULL));
    message_inner(&no, GRAPH_NODE, onnx_node_message("Add", "x,w", "a"));
    message_inner(&no, GRAPH_OUTPUT, onnx_value_message("a", 1, -1, NULL));
    onnx_add_attribute(&node, onnx_graph_attribute("then_branch", yes));
    onnx_add_attribute(&node, onnx_graph_attribute("else_branch", no));
    message_inner(&g, GRAPH_NODE, node);
    message_inner(&g, GRAPH_NODE, onnx_node_message("Add", "z,w", "y"));
    message_inner(&g, GRAPH_INITIALIZER, onnx_floats("w", 2, (float[]){ 5, 7 }));
    message_inner(&g, GRAPH_INPUT, onnx_value_message("c", 9, 0, NULL));
    message_inner(&g, GRAPH_INPUT, onnx_value_message("x", 1, 0, NULL));
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y", 1, -1, NULL));
    message m = onnx_model_message(g, 13);
    for (int variables = 0; variables < 2; variables++) {
        eddy_graph      *graph = eddy_graph_new();
        eddy_error       e = { 0 };
        eddy_onnx_model *model = eddy_onnx_read(graph, .data = m.at, .data_size = m.size,
                                                .variables = variables, .error = &e);
        ck_assert_msg(model != NULL, "%s", e.message);
        ck_assert_int_eq(eddy_collection_size(graph, EDDY_TRAINABLE_VARIABLES), variables);
        const eddy_tensor c = eddy_onnx_input(model, "c"), x = eddy_onnx_input(model, "x"),
                          y = eddy_onnx_output(model, "y"),
                          dw = eddy_gradient(y, eddy_onnx_value(model, "w"));
        eddy_session *s = eddy_session_new(graph);
        if (variables) runs(s, eddy_initializer(graph));
        for (int is = 0; is < 2; is++) {
            eddy_array *out[2] = { NULL, NULL };
            ck_assert_msg(eddy_run(s, EDDY_FEED({ x, EDDY_NUMBER(EDDY_FLOAT32, 3) },
                                                { c, EDDY_NUMBER(EDDY_BOOL, is) }),
                                   EDDY_FETCH(y, dw), out) == EDDY_OK,
                          "%s", eddy_session_message(s));
            ck_assert_double_eq(eddy_array_get(out[0], 1), is ? 28 : 17);
            ck_assert_double_eq(eddy_array_get(out[1], 1), is ? 4 : 2);
            eddy_array_free(out[0]);
            eddy_array_free(out[1]);
        }
        eddy_session_free(s);
        eddy_onnx_free(model);
        eddy_graph_free(graph);
    }
    message_free(&m);
}
END_TEST

/* ------------------------------------------------------------- external data -- */

static message external_weight(const char *location, const char *offset)
{
    message t = onnx_tensor_message("w", 1, 1, &(int64_t){ 2 }, NULL, 0), place = { NULL, 0 },
            at = { NULL, 0 };
    message_text(&place, 1, "location");
    message_text(&place, 2, location);
    message_text(&at, 1, "offset");
    message_text(&at, 2, offset);
    message_inner(&t, 13, place);
    message_inner(&t, 13, at);
    message_number(&t, 14, 1);
    return t;
}

static eddy_onnx_model *read_external(eddy_graph *g, const char *folder, const char *location,
                                      const char *offset, eddy_error *e)
{
    char    path[200];
    message graph = { NULL, 0 };
    message_inner(&graph, GRAPH_INITIALIZER, external_weight(location, offset));
    message_inner(&graph, GRAPH_NODE, onnx_node_message("Neg", "w", "y"));
    message_inner(&graph, GRAPH_OUTPUT, onnx_value_message("y", 1, -1, NULL));
    message m = onnx_model_message(graph, 13);
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    FILE *f = fopen(path, "wb");
    fwrite(m.at, 1, m.size, f);
    fclose(f);
    message_free(&m);
    return eddy_onnx_read(g, path, .error = e);
}

START_TEST(external_data)
{
    char folder[64], path[200];
    snprintf(folder, sizeof folder, "/tmp/eddy-onnx-%s", "XX" "XX" "XX");
    ck_assert(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/weights.bin", folder);
    const float x[4] = { 5, 6, 7, 8 };
    FILE       *f = fopen(path, "wb");
    fwrite(x, 1, sizeof x, f);
    fclose(f);
    eddy_graph      *g = eddy_graph_new();
    eddy_error       e = { 0 };
    eddy_onnx_model *m = read_external(g, folder, "weights.bin", "8", &e);
    ck_assert_msg(m != NULL, "%s", e.message);
    has_value(eddy_onnx_output(m, "y"), 2, (double[]){ -7, -8 });   /* to the end of the file */
    eddy_onnx_free(m);
    const int32_t nodes = eddy_graph_size(g);
    static const struct { const char *location, *offset; eddy_status status;
    } bad[] = {
        { "../weights.bin", "0", EDDY_INVALID_ARGUMENT },
        { "/etc/passwd", "0", EDDY_INVALID_ARGUMENT },
        { "a/../../b", "0", EDDY_INVALID_ARGUMENT },
        { "", "0", EDDY_INVALID_ARGUMENT },
        { "none.bin", "0", EDDY_NOT_FOUND },
        { "weights.bin", "9999999", EDDY_CORRUPT },
        { "weights.bin", "-4", EDDY_CORRUPT },
        { "weights.bin", "4", EDDY_CORRUPT },
        { "weights.bin", "four", EDDY_CORRUPT },
        { "weights.bin", "0x", EDDY_CORRUPT },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        m = read_external(g, folder, bad[i].location, bad[i].offset, &e);
        ck_assert_msg(m == NULL && e.status == bad[i].status, "%s: %s", bad[i].location, e.message);
    }
    ck_assert(eddy_graph_size(g) == nodes && eddy_graph_status(g) == EDDY_OK);
    eddy_graph_free(g);
    unlink(path);
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    unlink(path);
    rmdir(folder);
}
END_TEST

/* -------------------------------------------------------------------- report -- */

START_TEST(report)
{
    message g = { NULL, 0 };
    message_inner(&g, GRAPH_NODE, onnx_node_message("Neg", "x", "a"));
    message_inner(&g, GRAPH_NODE, onnx_node_message("Nonsense", "a", "b"));
    message_inner(&g, GRAPH_NODE, onnx_node_message("Exp", "b", "c"));
    message_inner(&g, GRAPH_NODE, onnx_node_message("ReduceSumSquare", "a", "d"));
    message_inner(&g, GRAPH_NODE, onnx_node_message("NonMaxSuppression", "a,a,k", "y"));
    message_inner(&g, GRAPH_INPUT, onnx_value_message("x", 1, 1, &(int64_t){ 3 }));
    message_inner(&g, GRAPH_INPUT, onnx_value_message("k", 7, 1, &(int64_t){ 1 }));
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y", 1, -1, NULL));
    message           m = onnx_model_message(g, 13);
    eddy_error        e = { 0 };
    eddy_model_report *r = eddy_onnx_check(.data = m.at, .data_size = m.size, .error = &e);
    ck_assert_msg(r != NULL, "%s", e.message);
    const eddy_model_support want[5] = { EDDY_MODEL_NATIVE, EDDY_MODEL_MISSING, EDDY_MODEL_UNKNOWN,
                                        EDDY_MODEL_COMPOSED, EDDY_MODEL_BOUND };
    ck_assert_int_eq(eddy_model_report_size(r), 5);
    for (int i = 0; i < 5; i++) {
        const eddy_model_entry *entry = eddy_model_report_at(r, i);
        ck_assert_msg(entry->support == want[i], "node %d is %d: %s", i, (int)entry->support,
                      entry->reason);
        ck_assert_int_eq(entry->reason[0] != 0, want[i] > EDDY_MODEL_COMPOSED);
        ck_assert(entry->offset > 0 && (size_t)entry->offset < m.size);
    }
    ck_assert(eddy_model_report_at(r, 5) == NULL && eddy_model_report_at(NULL, 0) == NULL);
    eddy_model_report_free(r);
    eddy_model_report_free(NULL);
    message_free(&m);
}
END_TEST

Suite *onnx_suite(void)
{
    Suite *s = suite_create("onnx");
    TCase *t = tcase_create("models");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, trains);
    tcase_add_test(t, weights_in_nodes);
    tcase_add_test(t, constants_and_names);
    tcase_add_test(t, computed_shapes);
    tcase_add_test(t, bindings);
    tcase_add_test(t, wraps);
    tcase_add_test(t, widened_weights);
    tcase_add_test(t, functions);
    tcase_add_test(t, open_loop);
    tcase_add_test(t, branches);
    tcase_add_test(t, weight_in_branch_first);
    tcase_add_test(t, external_data);
    tcase_add_test(t, report);
    suite_add_tcase(s, t);
    return s;
}
