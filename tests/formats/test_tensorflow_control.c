/* test_tensorflow_control.c -- reading functions, branches, loops and lists of frozen graphs. */
#include "tests/lib/files/tensorflow_graphs.h"

#include "build/gen/suites.h"

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

Suite *tensorflow_control_suite(void)
{
    Suite *s = suite_create("tensorflow_control");
    TCase *c = tcase_create("control");
    tcase_add_test(c, if_function);
    tcase_add_test(c, while_function);
    tcase_add_test(c, recursion);
    tcase_add_loop_test(c, lists, 0, 2);
    tcase_add_test(c, pushed_and_popped);
    tcase_add_test(c, growing_array);
    tcase_add_test(c, many_calls);
    tcase_add_test(c, frame);
    tcase_add_test(c, switches);
    suite_add_tcase(s, c);
    return s;
}
