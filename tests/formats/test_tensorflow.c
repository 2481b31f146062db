/* test_tensorflow.c -- reading frozen graphs: names, weights, bindings, shapes, and reports;
 * test_tensorflow_control.c has functions and loops. Real models are compared with TensorFlow.js by
 * scripts/tensorflow_models.sh. */
#include "tests/lib/files/memory_files.h"
#include "tests/lib/files/tensorflow_graphs.h"

#include "build/gen/suites.h"

/* ------------------------------------------------------------------ graphs -- */

/* Nodes need not be in order; x [?, 2] times w, reshaped to a shape computed from Shape. */
static message dense_graph(void)
{
    const float   w[] = { 1, 2, 3, 4 }, bias[] = { 10, 20 };
    const int64_t four[] = { 2, 2 }, one[] = { 1 };
    message       g = { NULL, 0 };
    plain(&g, "y", "Reshape", "add,sizes");
    plain(&g, "add", "BiasAdd", "product,bias");
    plain(&g, "product", "MatMul", "x,w/read");
    plain(&g, "w/read", "Identity", "w");
    node(&g, tf_floats_message("w", 2, four, w));
    node(&g, tf_floats_message("bias", 1, two, bias));
    node(&g, tf_input_message("x", 2, any_two));
    plain(&g, "shape", "Shape", "x");
    message slice = tf_node_message("rows", "StridedSlice", "shape,zero,one,one");
    tf_add_int(&slice, "shrink_axis_mask", 1);
    node(&g, slice);
    node(&g, tf_ints_message("zero", 1, one, (int32_t[]){ 0 }));
    node(&g, tf_ints_message("one", 1, one, (int32_t[]){ 1 }));
    node(&g, tf_ints_message("two", 0, NULL, (int32_t[]){ 2 }));
    plain(&g, "sizes", "Pack", "rows,two");
    return g;
}

START_TEST(dense)
{
    eddy_graph            *g = eddy_graph_new();
    message                bytes = dense_graph();
    eddy_tensorflow_model *m = read_graph(g, &bytes, true);
    ck_assert_int_eq(eddy_tensorflow_input_count(m), 1);
    ck_assert_str_eq(eddy_tensorflow_input_name(m, 0), "x");
    ck_assert_int_eq(eddy_tensorflow_output_count(m), 1);
    ck_assert_str_eq(eddy_tensorflow_output_name(m, 0), "y");
    ck_assert_ptr_null(eddy_tensorflow_output_name(m, 1));
    ck_assert_int_eq(eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES), 2);
    ck_assert_str_eq(eddy_name_of(eddy_tensorflow_value(m, "w")), "w");
    const eddy_tensor y = eddy_tensorflow_output(m, "y");
    ck_assert_int_eq(eddy_shape_of(y).dim[1], 2);       /* known in spite of the open batch */
    eddy_session *s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    float       x[] = { 1, 1, 0, -1 };
    eddy_array *out = eddy_fetch(s, y, EDDY_FEED({ eddy_tensorflow_input(m, "x"),
                                                   EDDY_VIEW(x, 2, 2) }));
    ck_assert_msg(out != NULL, "%s", eddy_session_message(s));
    const double want[] = { 14, 26, 7, 16 };
    for (int i = 0; i < 4; i++) ck_assert_double_eq(eddy_array_get(out, i), want[i]);
    eddy_array_free(out);
    eddy_session_free(s);
    eddy_tensorflow_free(m);
    eddy_graph_free(g);
}
END_TEST

/* Without a signature, all placeholders are inputs, also those that no output needs. */
START_TEST(several_inputs)
{
    static const char *const names[] = { "x", "b", "e" };
    message                  bytes = { NULL, 0 };
    for (int i = 0; i < 3; i++) node(&bytes, tf_input_message(names[i], 1, two));
    plain(&bytes, "y", "Sub", "x,b");
    plain(&bytes, "z", "Neg", "b");
    eddy_graph            *g = eddy_graph_new();
    eddy_tensorflow_model *m = read_graph(g, &bytes, false);
    ck_assert_int_eq(eddy_tensorflow_input_count(m), 3);
    ck_assert_int_eq(eddy_tensorflow_output_count(m), 2);
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(eddy_tensorflow_input_name(m, i), names[i]);
        ck_assert_str_eq(eddy_name_of(eddy_tensorflow_input(m, names[i])), names[i]);
    }
    ck_assert_str_eq(eddy_tensorflow_output_name(m, 1), "z");
    eddy_tensorflow_free(m);
    eddy_graph_free(g);
}
END_TEST

/* An input of one element of this type. */
static message one_element(const char *name, int type)
{
    message m = tf_node_message(name, "Placeholder", "");
    tf_add_type(&m, "dtype", type);
    tf_add_shape(&m, "shape", 1, (int64_t[]){ 1 });
    return m;
}

/* Positions that are fed are cut off at both ends, as constant ones are. */
START_TEST(computed_slices)
{
    static const int32_t at[][4] = {            /* the beginning, the end; the first, the count */
        { 1, 3, 1, 2 }, { -100, 3, 0, 3 }, { -2, 100, 3, 2 }, { 3, 1, 0, 0 }, { 7, 9, 0, 0 },
        { -100, -100, 0, 0 }, { 0, -1, 0, 4 },
    };
    message bytes = { NULL, 0 };
    node(&bytes, tf_floats_message("x", 1, (int64_t[]){ 5 }, (float[]){ 0, 1, 2, 3, 4 }));
    node(&bytes, one_element("begin", 3));
    node(&bytes, one_element("end", 3));
    node(&bytes, tf_ints_message("one", 1, (int64_t[]){ 1 }, (int32_t[]){ 1 }));
    plain(&bytes, "y", "StridedSlice", "x,begin,end,one");
    eddy_graph            *g = eddy_graph_new();
    eddy_tensorflow_model *m = read_graph(g, &bytes, false);
    eddy_session          *s = eddy_session_new(g);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        eddy_array *y = eddy_fetch(
            s, eddy_tensorflow_output(m, "y"),
            EDDY_FEED({ eddy_tensorflow_input(m, "begin"), EDDY_SHAPED(EDDY_INTS(at[i][0]), 1) },
                      { eddy_tensorflow_input(m, "end"), EDDY_SHAPED(EDDY_INTS(at[i][1]), 1) }));
        ck_assert_msg(y != NULL, "%d: %s", (int)i, eddy_session_message(s));
        ck_assert_int_eq(eddy_array_count(y), at[i][3]);
        if (at[i][3]) ck_assert_double_eq(eddy_array_get(y, 0), at[i][2]);
        eddy_array_free(y);
    }
    eddy_session_free(s);
    eddy_tensorflow_free(m);
    eddy_graph_free(g);
}
END_TEST

START_TEST(positions_of_int64)
{
    message bytes = { NULL, 0 };
    node(&bytes, one_element("z", 9));
    node(&bytes, tf_floats_message("x", 1, (int64_t[]){ 3 }, (float[]){ 5, 7, 6 }));
    node(&bytes, tf_ints_message("k", -1, NULL, (int32_t[]){ 2 }));
    message top = tf_node_message("top", "TopKV2", "x,k");
    tf_add_type(&top, "index_type", 9);
    node(&bytes, top);
    plain(&bytes, "y", "AddV2", "top:1,z");
    eddy_graph            *g = eddy_graph_new();
    eddy_tensorflow_model *m = read_graph(g, &bytes, false);
    ck_assert_int_eq(eddy_dtype_of(eddy_tensorflow_output(m, "y")), EDDY_INT64);
    has_value(eddy_tensorflow_value(m, "top:1"), 2, (const double[]){ 1, 2 });
    eddy_tensorflow_free(m);
    eddy_graph_free(g);
}
END_TEST

/* Any node can be an input or an output. */
START_TEST(bindings)
{
    eddy_graph       *g = eddy_graph_new();
    message           bytes = dense_graph();
    eddy_error        e = { 0 };
    const char       *outputs[] = { "product:0" };
    const float       v[] = { 1, 0, 0, 1 };
    const eddy_tensor x = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(2, 2), v);
    const eddy_model_binding in[] = { { "x", EDDY_LIST(x) } };
    const eddy_model_binding wrong[] = { { "nothing", EDDY_LIST(x) } };
    const eddy_model_binding two_tensors[] = { { "x", EDDY_LIST(x, x) } };
    eddy_tensorflow_model *m = eddy_tensorflow_read(
        g, .data = bytes.at, .data_size = bytes.size, .inputs = in, .input_count = 1,
        .outputs = outputs, .output_count = 1, .scope = "net", .error = &e);
    ck_assert_msg(m != NULL, "%s", e.message);
    has_value(eddy_tensorflow_output(m, "product"), 4, (const double[]){ 1, 2, 3, 4 });
    eddy_tensorflow_free(m);
    ck_assert_ptr_null(eddy_tensorflow_read(g, .data = bytes.at, .data_size = bytes.size,
                                            .inputs = wrong, .input_count = 1, .error = &e));
    ck_assert_int_eq(e.status, EDDY_INVALID_ARGUMENT);
    ck_assert_str_eq(e.message, "TensorFlow model: there is no node 'nothing'");
    ck_assert_ptr_null(eddy_tensorflow_read(g, .data = bytes.at, .data_size = bytes.size,
                                            .inputs = two_tensors, .input_count = 1, .error = &e));
    ck_assert_int_eq(e.status, EDDY_INVALID_ARGUMENT);
    ck_assert_str_eq(e.message, "TensorFlow model: input 'x' cannot be 2 tensors");
    outputs[0] = "nothing:3";
    ck_assert_ptr_null(eddy_tensorflow_read(g, .data = bytes.at, .data_size = bytes.size,
                                            .outputs = outputs, .output_count = 1, .error = &e));
    ck_assert_int_eq(e.status, EDDY_INVALID_ARGUMENT);
    message_free(&bytes);
    eddy_graph_free(g);
}
END_TEST

START_TEST(reports)
{
    message g = { NULL, 0 };
    node(&g, tf_input_message("x", 1, two));
    plain(&g, "a", "Relu", "x");
    plain(&g, "b", "DecodeJpeg", "a");
    plain(&g, "c", "Neg", "b");
    eddy_error         e = { 0 };
    eddy_model_report *r =
        eddy_tensorflow_check(.data = g.at, .data_size = g.size, .error = &e);
    ck_assert_msg(r != NULL, "%s", e.message);
    ck_assert_int_eq(eddy_model_report_size(r), 4);
    const eddy_model_entry *b = eddy_model_report_at(r, 2), *c = b + 1;
    ck_assert_int_eq(eddy_model_report_at(r, 1)->support, EDDY_MODEL_NATIVE);
    ck_assert_int_eq(b->support, EDDY_MODEL_MISSING);
    ck_assert_str_eq(b->place, "node 'b'");
    ck_assert_str_eq(b->reason, "operator DecodeJpeg is not known");
    ck_assert_int_eq(c->support, EDDY_MODEL_UNKNOWN);
    ck_assert_ptr_null(eddy_model_report_at(r, 4));
    eddy_model_report_free(r);
    eddy_graph *graph = eddy_graph_new();
    ck_assert_ptr_null(eddy_tensorflow_read(graph, .data = g.at, .data_size = g.size, .error = &e));
    ck_assert_int_eq(e.status, EDDY_UNIMPLEMENTED);
    ck_assert_str_eq(e.message, "TensorFlow model: node 'b' (DecodeJpeg): operator DecodeJpeg is "
                                "not known");
    ck_assert_int_eq(eddy_graph_size(graph), 0);
    eddy_graph_free(graph);
    message_free(&g);
}
END_TEST

/* A node that depends on itself, and one whose input is missing. */
START_TEST(cycles)
{
    eddy_error e = { 0 };
    for (int k = 0; k < 2; k++) {
        message     g = { NULL, 0 };
        eddy_graph *graph = eddy_graph_new();
        plain(&g, "a", "Relu", k ? "gone" : "b");
        plain(&g, "b", "Relu", "a");
        plain(&g, "y", "Neg", "b");
        ck_assert_ptr_null(eddy_tensorflow_read(graph, .data = g.at, .data_size = g.size,
                                                .error = &e));
        ck_assert_str_eq(e.message, k ? "TensorFlow model: node 'a' (Relu): input 'gone' is not "
                                        "defined"
                                      : "TensorFlow model: node 'b' depends on itself");
        eddy_graph_free(graph);
        message_free(&g);
    }
}
END_TEST

/* Each allocation of the graph fails once. Then the call fails with that error. */
START_TEST(memory_fails)
{
    bool ok = false;
    for (int at = 1; !ok && at < 10000; at++) {
        failing_allocator a;
        failing_allocator_init(&a);
        a.at = at;
        a.persistent = true;
        eddy_error  e = { 0 };
        eddy_graph *g = eddy_graph_new(.allocator = &a.table);
        if (!g) continue;
        eddy_tensorflow_model *m =
            eddy_tensorflow_read(g, "data/sine.pb", .variables = true, .error = &e);
        ok = m != NULL;
        ck_assert_msg(ok ? e.status == EDDY_OK : e.status == EDDY_NO_MEMORY, "allocation %d: %s",
                      at, e.message);
        eddy_tensorflow_free(m);
        eddy_graph_free(g);
        ck_assert_int_eq(a.live, 0);
    }
    ck_assert(ok);
}
END_TEST

/* Inputs and outputs by number and by name: "x" and "x:0" are the same value. */
START_TEST(names)
{
    message bytes = { NULL, 0 }, fed = tf_node_message("fed", "PlaceholderV2", ""),
            list = tf_node_message("list", "EmptyTensorList", "any,any");
    node(&bytes, tf_input_message("x", 1, two));
    tf_add_type(&fed, "dtype", 1);
    tf_add_shape(&fed, "shape", 1, two);
    node(&bytes, fed);
    node(&bytes, tf_ints_message("any", 0, NULL, (int32_t[]){ -1 }));
    plain(&bytes, "idle", "NoOp", "");
    tf_add_type(&list, "element_dtype", 1);
    node(&bytes, list);
    plain(&bytes, "sum", "AddV2", "x,fed");
    plain(&bytes, "top", "TensorListPushBack", "list,sum");
    plain(&bytes, "y", "TensorListLength", "top");
    eddy_graph            *g = eddy_graph_new();
    eddy_tensorflow_model *m = read_graph(g, &bytes, false);
    ck_assert(eddy_tensorflow_input_count(m) == 2 && eddy_tensorflow_output_count(m) == 1);
    ck_assert_str_eq(eddy_tensorflow_input_name(m, 1), "fed");
    ck_assert_ptr_null(eddy_tensorflow_input_name(m, 2));
    ck_assert_ptr_null(eddy_tensorflow_input_name(m, -1));
    ck_assert_ptr_null(eddy_tensorflow_input_name(NULL, 0));
    ck_assert_ptr_null(eddy_tensorflow_output_name(m, 1));
    ck_assert_ptr_null(eddy_tensorflow_output_name(m, -1));
    ck_assert_ptr_null(eddy_tensorflow_output_name(NULL, 0));
    const eddy_tensor x = eddy_tensorflow_input(m, "x");
    ck_assert(eddy_is_valid(x) && x.node == eddy_tensorflow_input(m, "x:0").node);
    ck_assert_int_eq(x.node, eddy_tensorflow_value(m, "x:0").node);
    static const char *const none[] = { "z", "idle", "fee", "fed:1", "fed:2", "xx", ":0", "" };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        ck_assert_msg(!eddy_is_valid(eddy_tensorflow_input(m, none[i])), "%s", none[i]);
        ck_assert_msg(!eddy_is_valid(eddy_tensorflow_value(m, none[i])), "%s", none[i]);
    }
    ck_assert(!eddy_is_valid(eddy_tensorflow_input(m, NULL)));
    ck_assert(!eddy_is_valid(eddy_tensorflow_input(NULL, "x")));
    ck_assert(!eddy_is_valid(eddy_tensorflow_output(m, NULL)));
    ck_assert(eddy_is_valid(eddy_tensorflow_output(m, "y:0")));
    ck_assert(!eddy_is_valid(eddy_tensorflow_value(m, NULL)));
    ck_assert(!eddy_is_valid(eddy_tensorflow_value(m, "top")));         /* a list */
    eddy_tensorflow_free(m);
    eddy_graph_free(g);
}
END_TEST

/* Calls without what they need. */
START_TEST(wrong_calls)
{
    eddy_error  e = { 0 };
    eddy_graph *g = eddy_graph_new();
    ck_assert_ptr_null(eddy_tensorflow_read(NULL, "data/sine.pb", .error = &e));
    ck_assert_int_eq(e.status, EDDY_INVALID_ARGUMENT);
    ck_assert_ptr_null(eddy_tensorflow_read(g, .error = &e));
    ck_assert_int_eq(e.status, EDDY_INVALID_ARGUMENT);
    ck_assert_ptr_null(eddy_tensorflow_read(g, .data = "", .data_size = 0, .error = &e));
    ck_assert_int_eq(e.status, EDDY_CORRUPT);       /* a download that was cut off */
    ck_assert_ptr_null(eddy_tensorflow_read(g, "none.pb", .error = &e));
    ck_assert_int_eq(e.status, EDDY_NOT_FOUND);
    ck_assert_ptr_null(eddy_tensorflow_read(g, .data = "\0", .data_size = 2, .error = &e));
    ck_assert_int_eq(e.status, EDDY_CORRUPT);
    ck_assert_str_eq(e.message,
                     "TensorFlow model: this is no graph of TensorFlow: byte 1 is damaged");
    ck_assert_ptr_null(eddy_tensorflow_read(g, .data = "{", .data_size = 1, .error = &e));
    ck_assert_int_eq(e.status, EDDY_CORRUPT);
    ck_assert_str_eq(e.message, "TensorFlow model: byte 1: this is not valid JSON");
    static const char missing[] = "data/sine.pb: the bindings or outputs are missing";
    ck_assert_ptr_null(eddy_tensorflow_read(g, "data/sine.pb", .output_count = 2, .error = &e));
    ck_assert_str_eq(e.message, missing);
    ck_assert_ptr_null(eddy_tensorflow_read(g, "data/sine.pb", .output_count = -1, .error = &e));
    ck_assert_str_eq(e.message, missing);
    ck_assert_ptr_null(eddy_tensorflow_read(g, "data/sine.pb", .input_count = 2, .error = &e));
    ck_assert_str_eq(e.message, missing);
    ck_assert_ptr_null(eddy_tensorflow_read(g, "data/sine.pb", .input_count = -1, .error = &e));
    ck_assert_str_eq(e.message, missing);
    ck_assert_ptr_null(eddy_tensorflow_read_with(NULL));
    ck_assert_ptr_null(eddy_torch_checkpoint_open(.error = &e));
    ck_assert_int_eq(e.status, EDDY_INVALID_ARGUMENT);
    ck_assert_ptr_null(eddy_tensorflow_checkpoint_open_with(NULL));
    ck_assert_int_eq(eddy_tensorflow_input_count(NULL), 0);
    ck_assert_int_eq(eddy_tensorflow_output_count(NULL), 0);
    ck_assert(!eddy_is_valid(eddy_tensorflow_output(NULL, "y")));
    ck_assert(!eddy_is_valid(eddy_tensorflow_value(NULL, "y")));
    eddy_tensorflow_free(NULL);
    eddy_model_report_free(NULL);
    eddy_graph_free(g);
}
END_TEST

Suite *tensorflow_suite(void)
{
    Suite *s = suite_create("tensorflow");
    TCase *graphs = tcase_create("graphs");
    tcase_add_test(graphs, dense);
    tcase_add_test(graphs, several_inputs);
    tcase_add_test(graphs, bindings);
    tcase_add_test(graphs, computed_slices);
    tcase_add_test(graphs, positions_of_int64);
    tcase_add_test(graphs, names);
    tcase_add_test(graphs, reports);
    tcase_add_test(graphs, cycles);
    tcase_add_test(graphs, memory_fails);
    tcase_add_test(graphs, wrong_calls);
    suite_add_tcase(s, graphs);
    return s;
}
