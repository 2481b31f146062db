/* test_tensorflow.c -- reading frozen graphs: names, weights, bindings, shapes, functions, loops,
 * and reports. Real models are compared with TensorFlow.js by scripts/tensorflow_models.sh. */
#include "formats.h"
#include "tests/lib/checks.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/files/tensorflow_writer.h"

#include "build/gen/suites.h"


static const int64_t two[] = { 2 }, any_two[] = { -1, 2 };

/* Adds a node to a graph. */
static void node(message *g, message n) { message_inner(g, TF_GRAPH_NODE, n); }

static void plain(message *g, const char *name, const char *op, const char *inputs)
{
    node(g, tf_node_message(name, op, inputs));
}

static void number_const(message *g, const char *name, float x)
{
    node(g, tf_floats_message(name, 0, NULL, &x));
}

static eddy_tensorflow_model *read_graph(eddy_graph *g, message *m, bool variables)
{
    eddy_error             e = { 0 };
    eddy_tensorflow_model *model = eddy_tensorflow_read(
        g, .data = m->at, .data_size = m->size, .variables = variables, .error = &e);
    ck_assert_msg(model != NULL, "%s", e.message);
    ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
    message_free(m);
    return model;
}

/* The value of output y for x, and dy/dx, both scalars. */
static void evaluate(eddy_graph *g, const eddy_tensorflow_model *m, double x, double *y, double *dy)
{
    const eddy_tensor in = eddy_tensorflow_input(m, "x"), out = eddy_tensorflow_output(m, "y");
    eddy_tensor       d = EDDY_NO_TENSOR;
    eddy_gradients(EDDY_LIST(out), EDDY_LIST(in), &d);
    fits(g);
    eddy_session    *s = eddy_session_new(g);
    eddy_array_room  room;
    const eddy_array *at = eddy_array_number(&room, EDDY_FLOAT32, x);
    *y = eddy_fetch_number(s, out, EDDY_FEED({ in, at }));
    *dy = eddy_fetch_number(s, d, EDDY_FEED({ in, at }));
    ck_assert_msg(eddy_session_status(s) == EDDY_OK, "%s", eddy_session_message(s));
    eddy_session_free(s);
}

/* ------------------------------------------------------------------ graphs -- */

/* Nodes need not be in order; x [?, 2] times w, reshaped by what follows from Shape. */
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

/* ------------------------------------------------------------ control flow -- */

/* y = x < 1 ? x x : 3 x as If, whose functions also use each other's names for values. */
START_TEST(if_function)
{
    message g = { NULL, 0 }, f[2], in = tf_node_message("y", "If", "less,x");
    node(&g, tf_input_message("x", 0, NULL));
    number_const(&g, "one", 1);
    plain(&g, "less", "Less", "x,one");
    tf_add_function(&in, "then_branch", "square");
    tf_add_function(&in, "else_branch", "triple");
    node(&g, in);
    f[0] = tf_function_message("square", "v", "m:z:0");
    message_inner(&f[0], TF_FUNCTION_NODE, tf_node_message("m", "Mul", "v,v"));
    f[1] = tf_function_message("triple", "v", "m:z:0");
    message_inner(&f[1], TF_FUNCTION_NODE, tf_floats_message("three", 0, NULL, (float[]){ 3 }));
    message_inner(&f[1], TF_FUNCTION_NODE, tf_node_message("m", "Mul", "v,three:output:0"));
    tf_add_library(&g, f, 2);
    eddy_graph            *graph = eddy_graph_new();
    eddy_tensorflow_model *m = read_graph(graph, &g, false);
    double                 y, dy;
    evaluate(graph, m, 0.5, &y, &dy);
    ck_assert_double_eq(y, 0.25);
    ck_assert_double_eq(dy, 1);
    evaluate(graph, m, 2, &y, &dy);
    ck_assert_double_eq(y, 6);
    ck_assert_double_eq(dy, 3);
    eddy_tensorflow_free(m);
    eddy_graph_free(graph);
}
END_TEST

/* Doubles x while it is below 10. */
START_TEST(while_function)
{
    message g = { NULL, 0 }, f[2], in = tf_node_message("y", "StatelessWhile", "x");
    node(&g, tf_input_message("x", 0, NULL));
    tf_add_function(&in, "cond", "below");
    tf_add_function(&in, "body", "twice");
    node(&g, in);
    f[0] = tf_function_message("below", "v", "l:z:0");
    message_inner(&f[0], TF_FUNCTION_NODE, tf_floats_message("ten", 0, NULL, (float[]){ 10 }));
    message_inner(&f[0], TF_FUNCTION_NODE, tf_node_message("l", "Less", "v,ten:output:0"));
    f[1] = tf_function_message("twice", "v", "a:z:0");
    message_inner(&f[1], TF_FUNCTION_NODE, tf_node_message("a", "Add", "v,v"));
    tf_add_library(&g, f, 2);
    eddy_graph            *graph = eddy_graph_new();
    eddy_tensorflow_model *m = read_graph(graph, &g, false);
    double                 y, dy;
    evaluate(graph, m, 1.5, &y, &dy);
    ck_assert_double_eq(y, 12);
    ck_assert_double_eq(dy, 8);
    eddy_tensorflow_free(m);
    eddy_graph_free(graph);
}
END_TEST

/* A function that calls itself does not end. */
START_TEST(recursion)
{
    message g = { NULL, 0 }, f, call = tf_node_message("y", "PartitionedCall", "x");
    node(&g, tf_input_message("x", 0, NULL));
    tf_add_function(&call, "f", "f");
    node(&g, call);
    f = tf_function_message("f", "v", "c:output:0");
    call = tf_node_message("c", "PartitionedCall", "v");
    tf_add_function(&call, "f", "f");
    message_inner(&f, TF_FUNCTION_NODE, call);
    tf_add_library(&g, &f, 1);
    eddy_graph *graph = eddy_graph_new();
    eddy_error  e = { 0 };
    ck_assert_ptr_null(eddy_tensorflow_read(graph, .data = g.at, .data_size = g.size, .error = &e));
    ck_assert_int_eq(e.status, EDDY_UNIMPLEMENTED);
    ck_assert_ptr_nonnull(strstr(e.message, "functions are nested too deeply"));
    eddy_graph_free(graph);
    message_free(&g);
}
END_TEST

/* A loop of TensorFlow 2 over lists, as of a recurrent layer: y[i] = x[0] + ... + x[i]. The list of
 * results has no shape before the loop; the second time it has no elements either and grows. */
START_TEST(lists)
{
    const int64_t three[] = { 3 };
    message       g = { NULL, 0 }, f[2], loop = tf_node_message("loop", "While",
                                                                "zero,start,rows,empty");
    node(&g, tf_input_message("x", 1, three));
    node(&g, tf_ints_message("zero", 0, NULL, (int32_t[]){ 0 }));
    node(&g, tf_ints_message("any", 0, NULL, (int32_t[]){ -1 }));
    node(&g, tf_ints_message("three", 0, NULL, (int32_t[]){ 3 }));
    number_const(&g, "start", 0);
    plain(&g, "rows", "TensorListFromTensor", "x,any");
    const bool grows = _i == 1;
    message    reserve = tf_node_message("empty", grows ? "EmptyTensorList" : "TensorListReserve",
                                         "any,three");
    tf_add_type(&reserve, "element_dtype", 1);
    node(&g, reserve);
    tf_add_function(&loop, "cond", "below");
    tf_add_function(&loop, "body", "step");
    node(&g, loop);
    plain(&g, "y", "TensorListStack", "loop:3,any");
    f[0] = tf_function_message("below", "i,sum,in,out", "l:z:0");
    message_inner(&f[0], TF_FUNCTION_NODE, tf_ints_message("n", 0, NULL, (int32_t[]){ 3 }));
    message_inner(&f[0], TF_FUNCTION_NODE, tf_node_message("l", "Less", "i,n:output:0"));
    f[1] = tf_function_message("step", "i,sum,in,out", "next:z:0,add:z:0,in,set:output_handle:0");
    message_inner(&f[1], TF_FUNCTION_NODE, tf_ints_message("one", 0, NULL, (int32_t[]){ 1 }));
    message_inner(&f[1], TF_FUNCTION_NODE, tf_node_message("next", "AddV2", "i,one:output:0"));
    message_inner(&f[1], TF_FUNCTION_NODE, tf_node_message("item", "TensorListGetItem", "in,i"));
    message_inner(&f[1], TF_FUNCTION_NODE, tf_node_message("add", "AddV2", "sum,item:item:0"));
    message_inner(&f[1], TF_FUNCTION_NODE,
                  grows ? tf_node_message("set", "TensorListPushBack", "out,add:z:0")
                        : tf_node_message("set", "TensorListSetItem", "out,i,add:z:0"));
    tf_add_library(&g, f, 2);
    eddy_graph            *graph = eddy_graph_new();
    eddy_tensorflow_model *m = read_graph(graph, &g, false);
    const eddy_tensor      x = eddy_tensorflow_input(m, "x"), y = eddy_tensorflow_output(m, "y");
    eddy_tensor            dx;
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &dx);
    fits(graph);
    float         at[] = { 1, 2, 4 };
    eddy_session *s = eddy_session_new(graph);
    eddy_array   *out[2] = { NULL, NULL };
    ck_assert_msg(eddy_run(s, EDDY_FEED({ x, EDDY_VIEW(at, 3) }), EDDY_FETCH(y, dx), out) ==
                  EDDY_OK, "%s", eddy_session_message(s));
    const double want[] = { 1, 3, 7 };
    for (int i = 0; i < 3; i++) {
        ck_assert_double_eq(eddy_array_get(out[0], i), want[i]);
        ck_assert_double_eq(eddy_array_get(out[1], i), 3 - i);
    }
    eddy_array_free(out[0]);
    eddy_array_free(out[1]);
    eddy_session_free(s);
    eddy_tensorflow_free(m);
    eddy_graph_free(graph);
}
END_TEST

/* A list that is used as a stack: x and 2x are pushed, 2x is popped and pushed twice. */
START_TEST(pushed_and_popped)
{
    const int64_t pair[] = { 2 };
    message       g = { NULL, 0 };
    node(&g, tf_input_message("x", 1, pair));
    node(&g, tf_ints_message("any", 0, NULL, (int32_t[]){ -1 }));
    message empty = tf_node_message("empty", "EmptyTensorList", "any,any");
    tf_add_type(&empty, "element_dtype", 1);
    node(&g, empty);
    plain(&g, "twice", "AddV2", "x,x");
    plain(&g, "a", "TensorListPushBack", "empty,x");
    plain(&g, "b", "TensorListPushBack", "a,twice");
    plain(&g, "c", "TensorListPopBack", "b,any");
    plain(&g, "d", "TensorListPushBack", "c,c:1");
    plain(&g, "e", "TensorListPushBack", "d,c:1");
    plain(&g, "n", "TensorListLength", "e");
    plain(&g, "y", "TensorListStack", "e,any");
    eddy_graph            *graph = eddy_graph_new();
    eddy_tensorflow_model *m = read_graph(graph, &g, false);
    const double           want[] = { 1, -3, 2, -6, 2, -6 };
    eddy_session          *s = eddy_session_new(graph);
    eddy_array            *y = eddy_fetch(s, eddy_tensorflow_output(m, "y"),
                                          EDDY_FEED({ eddy_tensorflow_input(m, "x"),
                                                      EDDY_VIEW(((float[]){ 1, -3 }), 2) }));
    ck_assert_msg(y != NULL, "%s", eddy_session_message(s));
    ck_assert(eddy_shape_equal(eddy_array_shape(y), EDDY_SHAPE(3, 2)));
    for (int i = 0; i < 6; i++) ck_assert_double_eq(eddy_array_get(y, i), want[i]);
    ck_assert_double_eq(eddy_fetch_number(s, eddy_tensorflow_output(m, "n")), 3);
    eddy_array_free(y);
    eddy_session_free(s);
    eddy_tensorflow_free(m);
    eddy_graph_free(graph);
}
END_TEST

/* An array of TensorFlow 1 that grows by what is written: x at 2, and x + x at 0. */
START_TEST(growing_array)
{
    message g = { NULL, 0 };
    node(&g, tf_input_message("x", 0, NULL));
    for (int i = 0; i < 3; i++) {
        char name[8] = { 'n', (char)('0' + i), 0 };
        node(&g, tf_ints_message(name, 0, NULL, (int32_t[]){ i }));
    }
    message array = tf_node_message("array", "TensorArrayV3", "n0");
    tf_add_type(&array, "dtype", 1);
    tf_add_flag(&array, "dynamic_size", true);
    node(&g, array);
    plain(&g, "twice", "AddV2", "x,x");
    plain(&g, "a", "TensorArrayWriteV3", "array,n2,x,array:1");
    plain(&g, "b", "TensorArrayWriteV3", "array,n0,twice,a");
    plain(&g, "n", "TensorArraySizeV3", "array,b");
    plain(&g, "order", "Pack", "n2,n0");
    plain(&g, "y", "TensorArrayGatherV3", "array,order,b");
    eddy_graph            *graph = eddy_graph_new();
    eddy_tensorflow_model *m = read_graph(graph, &g, false);
    eddy_session          *s = eddy_session_new(graph);
    eddy_array            *y = eddy_fetch(s, eddy_tensorflow_output(m, "y"),
                                          EDDY_FEED({ eddy_tensorflow_input(m, "x"),
                                                      EDDY_NUMBER(EDDY_FLOAT32, 5) }));
    ck_assert_msg(y != NULL, "%s", eddy_session_message(s));
    ck_assert_double_eq(eddy_array_get(y, 0), 5);
    ck_assert_double_eq(eddy_array_get(y, 1), 10);
    ck_assert_double_eq(eddy_fetch_number(s, eddy_tensorflow_output(m, "n")), 3);
    eddy_array_free(y);
    eddy_session_free(s);
    eddy_tensorflow_free(m);
    eddy_graph_free(graph);
}
END_TEST

/* Thirty functions, each of which calls the next one twice, are 2^30 calls. */
START_TEST(many_calls)
{
    message     g = { NULL, 0 }, f[30], call = tf_node_message("y", "PartitionedCall", "x");
    char        name[8], next[8];
    eddy_error  e = { 0 };
    eddy_graph *graph = eddy_graph_new();
    node(&g, tf_input_message("x", 0, NULL));
    tf_add_function(&call, "f", "f0");
    node(&g, call);
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof name, "f%d", i);
        snprintf(next, sizeof next, "f%d", i + 1);
        f[i] = tf_function_message(name, "v", "b:output:0");
        message a = tf_node_message("a", i < 29 ? "PartitionedCall" : "Identity", "v");
        message b = tf_node_message("b", i < 29 ? "PartitionedCall" : "Identity", "a:output:0");
        tf_add_function(&a, "f", next);
        tf_add_function(&b, "f", next);
        message_inner(&f[i], TF_FUNCTION_NODE, a);
        message_inner(&f[i], TF_FUNCTION_NODE, b);
    }
    tf_add_library(&g, f, 30);
    ck_assert_ptr_null(eddy_tensorflow_read(graph, .data = g.at, .data_size = g.size, .error = &e));
    ck_assert_int_eq(e.status, EDDY_LIMIT);
    eddy_graph_free(graph);
    message_free(&g);
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
    ck_assert_ptr_null(eddy_tensorflow_read(g, "data/sine.pb", .output_count = 2));
    ck_assert_ptr_null(eddy_tensorflow_read_with(NULL));
    ck_assert_ptr_null(eddy_torch_checkpoint_open(.error = &e));
    ck_assert_int_eq(e.status, EDDY_INVALID_ARGUMENT);
    ck_assert_ptr_null(eddy_tensorflow_checkpoint_open_with(NULL));
    ck_assert_int_eq(eddy_tensorflow_input_count(NULL), 0);
    ck_assert(!eddy_is_valid(eddy_tensorflow_output(NULL, "y")));
    ck_assert(!eddy_is_valid(eddy_tensorflow_value(NULL, "y")));
    eddy_tensorflow_free(NULL);
    eddy_model_report_free(NULL);
    eddy_graph_free(g);
}
END_TEST

static void enter(message *g, const char *name, const char *from, bool constant)
{
    message n = tf_node_message(name, "Enter", from);
    tf_add_text(&n, "frame_name", "loop");
    tf_add_flag(&n, "is_constant", constant);
    node(g, n);
}

/* The loop of TensorFlow 1: i = 0, v = x; while i < 3: v = v w, i = i + 1. w is a weight that is
 * also used behind the loop: y = v + w. */
START_TEST(frame)
{
    message g = { NULL, 0 };
    node(&g, tf_input_message("x", 0, NULL));
    number_const(&g, "zero", 0);
    number_const(&g, "three", 3);
    number_const(&g, "one", 1);
    node(&g, tf_floats_message("w", 1, (int64_t[]){ 1 }, (float[]){ 2 }));
    plain(&g, "w/value", "Squeeze", "w");
    enter(&g, "i/enter", "zero", false);
    enter(&g, "v/enter", "x", false);
    enter(&g, "w/enter", "w/value", true);
    plain(&g, "i/merge", "Merge", "i/enter,i/next");
    plain(&g, "v/merge", "Merge", "v/enter,v/next");
    plain(&g, "less", "Less", "i/merge,three");
    plain(&g, "cond", "LoopCond", "less");
    plain(&g, "i/switch", "Switch", "i/merge,cond");
    plain(&g, "v/switch", "Switch", "v/merge,cond");
    plain(&g, "i/add", "Add", "i/switch:1,one");
    plain(&g, "v/mul", "Mul", "v/switch:1,w/enter");
    plain(&g, "i/next", "NextIteration", "i/add");
    plain(&g, "v/next", "NextIteration", "v/mul");
    plain(&g, "v/exit", "Exit", "v/switch");
    plain(&g, "y", "Add", "v/exit,w/value");
    eddy_graph            *graph = eddy_graph_new();
    eddy_tensorflow_model *m = read_graph(graph, &g, false);
    double                 y, dy;
    evaluate(graph, m, 5, &y, &dy);
    ck_assert_double_eq(y, 42);
    ck_assert_double_eq(dy, 8);
    eddy_tensorflow_free(m);
    eddy_graph_free(graph);
}
END_TEST

/* tf.cond of TensorFlow 1: a constant in a branch hangs on it by a control input only, and one
 * branch contains another tf.cond. y = x < 0 ? -1 : (x < 2 ? x x : 5 x). */
START_TEST(switches)
{
    message g = { NULL, 0 };
    node(&g, tf_input_message("x", 0, NULL));
    number_const(&g, "zero", 0);
    number_const(&g, "two", 2);
    plain(&g, "p", "Less", "x,zero");
    plain(&g, "pivot", "Switch", "p,p");
    plain(&g, "pivot/true", "Identity", "pivot:1");
    message minus = tf_floats_message("minus", 0, NULL, (float[]){ -1 });
    message_text(&minus, 3, "^pivot/true");
    node(&g, minus);
    plain(&g, "x/switch", "Switch", "x,p");
    plain(&g, "q", "Less", "x/switch,two");
    plain(&g, "x/inner", "Switch", "x/switch,q");
    plain(&g, "square", "Mul", "x/inner:1,x/inner:1");
    plain(&g, "five", "Mul", "x/inner,five/const");
    number_const(&g, "five/const", 5);
    plain(&g, "inner", "Merge", "five,square");
    plain(&g, "y", "Merge", "inner,minus");
    eddy_graph            *graph = eddy_graph_new();
    eddy_tensorflow_model *m = read_graph(graph, &g, false);
    const double           at[] = { -3, 1.5, 3 }, want[] = { -1, 2.25, 15 }, slope[] = { 0, 3, 5 };
    for (int i = 0; i < 3; i++) {
        double y, dy;
        evaluate(graph, m, at[i], &y, &dy);
        ck_assert_double_eq(y, want[i]);
        ck_assert_double_eq(dy, slope[i]);
    }
    eddy_tensorflow_free(m);
    eddy_graph_free(graph);
}
END_TEST

Suite *tensorflow_suite(void)
{
    Suite *s = suite_create("tensorflow");
    TCase *graphs = tcase_create("graphs"), *control = tcase_create("control");
    tcase_add_test(graphs, dense);
    tcase_add_test(graphs, several_inputs);
    tcase_add_test(graphs, bindings);
    tcase_add_test(graphs, computed_slices);
    tcase_add_test(graphs, positions_of_int64);
    tcase_add_test(graphs, reports);
    tcase_add_test(graphs, cycles);
    tcase_add_test(control, if_function);
    tcase_add_test(control, while_function);
    tcase_add_test(control, recursion);
    tcase_add_loop_test(control, lists, 0, 2);
    tcase_add_test(control, pushed_and_popped);
    tcase_add_test(control, growing_array);
    tcase_add_test(control, many_calls);
    tcase_add_test(graphs, memory_fails);
    tcase_add_test(graphs, wrong_calls);
    tcase_add_test(control, frame);
    tcase_add_test(control, switches);
    suite_add_tcase(s, graphs);
    suite_add_tcase(s, control);
    return s;
}
