/* test_tensorflow_limits.c -- the limits of the reader of TensorFlow: nodes, work, elements of
 * constants, values of loops, results of functions, and Switches before a Merge. */
#include "build/gen/suites.h"
#include "tests/lib/files/tensorflow_graphs.h"

#include <stdlib.h>

/* Reads the graph, which is freed: NULL, or why it is refused. */
static const char *refusal(message *m, eddy_status *status)
{
    static eddy_error      e;
    eddy_graph            *g = eddy_graph_new();
    e = (eddy_error){ 0 };
    eddy_tensorflow_model *model = eddy_tensorflow_read(
        g, .data = m->at, .data_size = m->size, .outputs = (const char *const[]){ "y" },
        .output_count = 1, .error = &e);
    ck_assert(model || eddy_graph_size(g) == 0);
    *status = e.status;
    eddy_tensorflow_free(model);
    eddy_graph_free(g);
    message_free(m);
    return model ? NULL : e.message;
}

static void refuses(message *m, eddy_status wanted, const char *text)
{
    eddy_status status;
    const char *says = refusal(m, &status);
    ck_assert_msg(says && strstr(says, text), "%s", says);
    ck_assert_int_eq(status, wanted);
}

static void reads(message *m)
{
    eddy_status status;
    const char *says = refusal(m, &status);
    ck_assert_msg(!says, "%s", says);
}

static void call(message *g, uint32_t field, const char *name, const char *input,
                 const char *function)
{
    message m = tf_node_message(name, "PartitionedCall", input);
    tf_add_function(&m, "f", function);
    message_inner(g, field, m);
}

/* ---------------------------------------------------------------- the nodes -- */

enum { MOST_NODES = 1 << 20 };

START_TEST(nodes_of_a_graph)
{
    const size_t n = MOST_NODES + 1;
    message      m = { calloc(n, 2), 2 * n };
    for (size_t i = 0; i < n; i++) m.at[2 * i] = 1 << 3 | 2;        /* a node without fields */
    refuses(&m, EDDY_LIMIT, "a graph has more than 1048576 nodes");
}
END_TEST

/* Chains of functions, each of which calls the next one twice: 2^n calls of the last one, which has
 * `nodes` nodes. */
static message doubling(int n, int nodes)
{
    message g = { NULL, 0 }, f[32];
    char    name[16], next[16];
    node(&g, tf_input_message("x", 0, NULL));
    call(&g, TF_GRAPH_NODE, "y", "x", "f0");
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "f%d", i);
        snprintf(next, sizeof next, "f%d", i + 1);
        f[i] = tf_function_message(name, "v", "b:output:0");
        call(&f[i], TF_FUNCTION_NODE, "a", "v", next);
        call(&f[i], TF_FUNCTION_NODE, "b", "a:output:0", next);
    }
    snprintf(name, sizeof name, "f%d", n);
    snprintf(next, sizeof next, "n%d:output:0", nodes - 1);
    f[n] = tf_function_message(name, "v", next);
    for (int i = 0; i < nodes; i++) {
        snprintf(name, sizeof name, "n%d", i);
        snprintf(next, sizeof next, i ? "n%d:output:0" : "v", i - 1);
        message_inner(&f[n], TF_FUNCTION_NODE, tf_node_message(name, "Identity", next));
    }
    tf_add_library(&g, f, n + 1);
    return g;
}

START_TEST(nodes_of_calls)
{
    message m = doubling(10, 1100);
    refuses(&m, EDDY_LIMIT, "too many nodes");
}
END_TEST

/* The limit of the work holds for each build: a graph that takes more than half of it is read. */
START_TEST(work)
{
    message m = doubling(14, 1);
    reads(&m);
    m = doubling(16, 1);
    refuses(&m, EDDY_LIMIT, "the graph takes too much work to read");
}
END_TEST

/* y, which joins constants that leave out all elements. The number of its second one may be 0. */
static message left_out(int type, uint64_t first, uint64_t second)
{
    message g = { NULL, 0 };
    node(&g, tf_constant_message("a", type, first, 5, NULL, 0));
    if (second > 0) node(&g, tf_constant_message("b", type, second, 5, NULL, 0));
    plain(&g, "i", "Identity", "a");
    if (second > 0) plain(&g, "j", "Identity", "b");
    node(&g, tf_ints_message("axis", 0, NULL, (int32_t[]){ 0 }));
    message y = tf_node_message("y", "ConcatV2", second > 0 ? "i,j,axis" : "i,i,axis");
    message_inner(&g, TF_GRAPH_NODE, y);
    return g;
}

/* Constants may leave out 32 MiB of elements, all together. */
START_TEST(elements_left_out)
{
    enum { FLOAT = 1, COMPLEX64 = 8, MOST = 1 << 25 };
    static const struct { int type; uint64_t first, second; bool read; } rows[] = {
        { FLOAT, MOST / 4, 0, true },      { FLOAT, MOST / 4 + 1, 0, false },
        { COMPLEX64, MOST / 8, 0, true },  { COMPLEX64, MOST / 8 + 1, 0, false },
        { FLOAT, MOST / 8, MOST / 8, true }, { FLOAT, MOST / 8, MOST / 8 + 1, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        message m = left_out(rows[i].type, rows[i].first, rows[i].second);
        if (rows[i].read) reads(&m);
        else refuses(&m, EDDY_LIMIT, "all constants together may leave out 32 MiB");
    }
}
END_TEST

/* A list of many numbers where Eddy takes eight. */
START_TEST(numbers_of_attributes)
{
    static int64_t axes[300];
    message        g = { NULL, 0 }, squeeze = tf_node_message("y", "Squeeze", "x");
    node(&g, tf_input_message("x", 2, (int64_t[]){ 1, 2 }));
    tf_add_ints(&squeeze, "axis", 300, axes);
    node(&g, squeeze);
    refuses(&g, EDDY_INVALID_ARGUMENT, "axes");
}
END_TEST

/* ------------------------------------------------------------- control flow -- */

/* A loop of version 2 over x and n - 1 times another node, with the number x as its condition. */
static void add_loop(message *g, const char *other, int n)
{
    char    names[400] = "x", args[400] = "a0", name[16];
    message f[2], loop;
    for (int i = 1; i < n; i++) {
        strcat(strcat(names, ","), other);
        snprintf(name, sizeof name, ",a%d", i);
        strcat(args, name);
    }
    loop = tf_node_message("y", "While", names);
    tf_add_function(&loop, "cond", "c");
    tf_add_function(&loop, "body", "b");
    node(g, loop);
    f[0] = tf_function_message("c", args, "a0");
    f[1] = tf_function_message("b", args, args);
    tf_add_library(g, f, 2);
}

static message loop_of(int n)
{
    message g = { NULL, 0 };
    node(&g, tf_input_message("x", 0, NULL));
    add_loop(&g, "x", n);
    return g;
}

START_TEST(values_of_loops)
{
    message m = loop_of(64);
    reads(&m);
    m = loop_of(65);
    refuses(&m, EDDY_UNIMPLEMENTED, "function 'b' has more than 64 results");
}
END_TEST

/* A list is two tensors. */
START_TEST(lists_of_loops)
{
    message g = { NULL, 0 }, list = tf_node_message("l", "TensorListReserve", "k,k");
    node(&g, tf_input_message("x", 0, NULL));
    node(&g, tf_ints_message("k", 0, NULL, (int32_t[]){ 2 }));
    tf_add_type(&list, "element_dtype", 1);
    node(&g, list);
    add_loop(&g, "l", 40);
    refuses(&g, EDDY_UNIMPLEMENTED, "there are more than 64 tensors");
}
END_TEST

/* A loop of n values of version 1, the first of which decides. */
static message frames_of(int n)
{
    message g = { NULL, 0 };
    char    enter[16], merge[16], taken[16], next[16], in[40];
    node(&g, tf_input_message("x", 0, NULL));
    plain(&g, "zero", "Abs", "x");
    plain(&g, "less", "Less", "m0,zero");
    plain(&g, "cond", "LoopCond", "less");
    for (int i = 0; i < n; i++) {
        snprintf(enter, sizeof enter, "e%d", i);
        snprintf(merge, sizeof merge, "m%d", i);
        snprintf(taken, sizeof taken, "s%d", i);
        snprintf(next, sizeof next, "n%d", i);
        plain(&g, enter, "Enter", "x");
        snprintf(in, sizeof in, "%s,%s", enter, next);
        plain(&g, merge, "Merge", in);
        snprintf(in, sizeof in, "%s,cond", merge);
        plain(&g, taken, "Switch", in);
        snprintf(in, sizeof in, "%s:1", taken);
        plain(&g, next, "NextIteration", in);
    }
    plain(&g, "y", "Exit", "s0");
    return g;
}

START_TEST(frames)
{
    message m = frames_of(64);
    reads(&m);
    m = frames_of(65);
    refuses(&m, EDDY_UNIMPLEMENTED, "the loop has more than 64 variables");
}
END_TEST

/* A Merge of the sum of n Switches and of one other; `side` is the input that is the sum. */
static message switches(int n, int side)
{
    message g = { NULL, 0 }, p = tf_node_message("p", "Placeholder", "");
    char    name[16], *names = calloc((size_t)n + 1, 12);
    tf_add_type(&p, "dtype", 10);
    tf_add_shape(&p, "shape", 0, NULL);
    node(&g, p);
    node(&g, tf_input_message("x", 0, NULL));
    plain(&g, "s", "Switch", "x,p");
    for (int i = 0, at = 0; i < n; i++) {
        snprintf(name, sizeof name, "t%d", i);
        plain(&g, name, "Switch", "x,p");
        at += snprintf(names + at, 12, "%s%s:1", i ? "," : "", name);
    }
    plain(&g, "sum", "AddN", names);
    plain(&g, "y", "Merge", side ? "s,sum" : "sum,s");
    free(names);
    return g;
}

START_TEST(joined_branches)
{
    message m = switches(40, 1);
    reads(&m);
    m = switches(40, 0);
    reads(&m);
    m = switches(4097, 0);
    refuses(&m, EDDY_UNIMPLEMENTED, "it joins too many branches");
    m = switches(4097, 1);
    refuses(&m, EDDY_UNIMPLEMENTED, "it joins too many branches");
}
END_TEST

Suite *tensorflow_limits_suite(void)
{
    Suite *s = suite_create("tensorflow_limits");
    TCase *t = tcase_create("limits");
    tcase_set_timeout(t, 300);
    TCase *many = tcase_create("many nodes");
    tcase_set_timeout(many, 300);
    tcase_set_tags(many, "many");
    tcase_add_test(many, nodes_of_calls);
    tcase_add_test(t, nodes_of_a_graph);
    tcase_add_test(t, work);
    tcase_add_test(t, elements_left_out);
    tcase_add_test(t, numbers_of_attributes);
    tcase_add_test(t, values_of_loops);
    tcase_add_test(t, lists_of_loops);
    tcase_add_test(t, frames);
    tcase_add_test(t, joined_branches);
    suite_add_tcase(s, t);
    suite_add_tcase(s, many);
    return s;
}
