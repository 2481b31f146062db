/* test_onnx_models.c -- whole ONNX models in unusual forms: functions, operator sets, and what goes
 * beyond a limit. */
#include "build/gen/suites.h"
#include "formats.h"
#include "tests/lib/files/onnx_odd_models.h"

#include <stdlib.h>
#include <string.h>

static const message empty = { NULL, 0 };

/* ---------------------------------------------------------------- functions -- */

static const struct {
    onnx_function_text functions[2];
    const char   *inputs, *nodes;
    double        want[2];
    const char   *says;
} function_rows[] = {
    { { { "F", "a", "b", "LeakyRelu a>b alpha=$slope", "slope", 0.5 } },
      "?f[2]", "local:F x0>y0", { 2, -1 }, NULL },
    { { { "F", "a", "b", "LeakyRelu a>b alpha=$slope", "slope", 0.5 } },
      "?f[2]", "local:F x0>y0 slope=0.25", { 2, -0.5 }, NULL },
    { { { "F", "a", "b", "local:G a>b of_g=$of_f", NULL, 0 },
        { "G", "a", "b", "LeakyRelu a>b alpha=$of_g", NULL, 0 } },
      "?f[2]", "local:F x0>y0 of_f=0.25", { 2, -0.5 }, NULL },
    { { { "F", "a,k", "b", "If k>b then_branch=%leaky else_branch=%leaky", NULL, 0 } },
      "?f[2];b 1", "local:F x0,x1>y0 slope=0.5", { 2, -1 }, NULL },
    { { { "Neg", "a", "b", "Add a,a>b", NULL, 0 } },
      "?f[2]", "Neg x0>a;local:Neg a>y0", { -4, 4 }, NULL },
    { { { "F", "a,e", "b", "Clip a,e>b", NULL, 0 } }, "?f[2]", "local:F x0>y0", { 2, -2 }, NULL },
    { { { "F", "a,e,h", "b", "Clip a,e,h>b", NULL, 0 } },
      "?f[2];f -1", "local:F x0,x1>y0", { 2, -1 }, NULL },
    { { { "F", "a", "b,c", "Neg a>b;Neg b>c", NULL, 0 } },
      "?f[2]", "local:F x0>y0", { -2, 2 }, NULL },
    { { { "F", "a", "a", "", NULL, 0 } }, "?f[2]", "local:F x0>y0", { 2, -2 }, NULL },
    { { { "F", "a", "b", "Neg a>c", NULL, 0 } }, "?f[2]", "local:F x0>y0", { 0 },
      "node 0 (F): the function does not define 'b'" },
    { { { "F", "a", "b", "Nonsense a>b", NULL, 0 } }, "?f[2]", "local:F x0>y0", { 0 },
      "node 0 function node 0 (Nonsense): operator Nonsense is not known" },
    { { { "F", "a", "b", "local:F a>b", NULL, 0 } }, "?f[2]", "local:F x0>y0", { 0 },
      "(F): functions are nested too deeply" },
    { { { "F", "a", "b", "Constant >k value=@b_1;If k>b then_branch=%call else_branch=%call",
          NULL, 0 } },
      "?f[2]", "=k b_1;If k>y0 then_branch=%call_x0 else_branch=%call_x0", { 0 },
      "(If): graphs are nested too deeply" },
};

static message model_of(int row)
{
    message m = onnx_model_message(onnx_text_graph(function_rows[row].inputs,
                                                   function_rows[row].nodes, 1), 13);
    for (int i = 0; i < 2; i++)
        if (function_rows[row].functions[i].name)
            message_inner(&m, 25, onnx_text_function(&function_rows[row].functions[i], 13));
    return m;
}

START_TEST(functions)
{
    onnx_expect(model_of(_i), 2, function_rows[_i].want, function_rows[_i].says);
}
END_TEST

/* A report has the nodes of a function, and the call only if there are none. */
START_TEST(reports)
{
    static const struct { const char *op; int nodes;
    } want[] = {
        { "LeakyRelu", 1 }, { "LeakyRelu", 1 }, { "LeakyRelu", 1 }, { "LeakyRelu", 2 },
        { "Neg", 2 },       { "Clip", 1 },      { "Clip", 1 },      { "Neg", 2 },
        { "F", 1 },
    };
    for (int i = 0; i < (int)(sizeof want / sizeof *want); i++) {
        eddy_error         e = { 0 };
        message            m = model_of(i);
        eddy_model_report *r = eddy_onnx_check(.data = m.at, .data_size = m.size, .error = &e);
        ck_assert_msg(r != NULL, "%s", e.message);
        ck_assert_int_eq(eddy_model_report_size(r), want[i].nodes);
        ck_assert_str_eq(eddy_model_report_at(r, 0)->op, want[i].op);
        eddy_model_report_free(r);
        message_free(&m);
    }
}
END_TEST

/* A node that has a name is named in the place of the nodes of its branches. */
START_TEST(named_node)
{
    message g = onnx_text_graph("?b", "", 1), node = onnx_node_message("If", "x0", "y0");
    message_text(&node, 3, "choose");
    for (int i = 0; i < 2; i++) {
        message body = empty;
        message_inner(&body, GRAPH_NODE, onnx_node_message("Nonsense", "", "a"));
        message_inner(&body, GRAPH_OUTPUT, onnx_value_message("a", 1, -1, NULL));
        onnx_add_attribute(&node, onnx_graph_attribute(i ? "else_branch" : "then_branch", body));
    }
    message_inner(&g, GRAPH_NODE, node);
    onnx_expect(onnx_model_message(g, 13), 0, NULL,
                "node 'choose' then_branch node 0 (Nonsense): operator Nonsense is not known");
}
END_TEST

/* Each function calls the next one twice: few bytes that ask for 2^24 nodes. */
START_TEST(doubling_functions)
{
    message m = onnx_model_message(onnx_text_graph("", "local:F0 >", 0), 13);
    for (int i = 0; i < 24; i++) {
        char name[8], nodes[40];
        snprintf(name, sizeof name, "F%d", i);
        snprintf(nodes, sizeof nodes, "local:F%d >;local:F%d >", i + 1, i + 1);
        const onnx_function_text t = { name, "", "", i < 23 ? nodes : "", NULL, 0 };
        message_inner(&m, 25, onnx_text_function(&t, 13));
    }
    onnx_expect(m, 0, NULL, "ONNX model: too many nodes");
}
END_TEST

/* The end of a function is cut off, in each place. */
START_TEST(damaged_functions)
{
    message whole = onnx_text_function(&function_rows[0].functions[0], 13);
    for (size_t n = 0; n <= whole.size; n++) {
        message m = onnx_model_message(onnx_text_graph("?f[2]", "Neg x0>y0", 1), 13);
        message_bytes(&m, 25, whole.at, n);
        eddy_error       e = { 0 };
        eddy_graph      *g = eddy_graph_new();
        eddy_onnx_model *model = eddy_onnx_read(g, .data = m.at, .data_size = m.size, .error = &e);
        ck_assert_msg(model || strstr(e.message, "is damaged"), "%s", e.message);
        ck_assert(model || n < whole.size);
        eddy_onnx_free(model);
        eddy_graph_free(g);
        message_free(&m);
    }
    message_free(&whole);
}
END_TEST

/* Both names of ONNX's own domain are one. */
START_TEST(imports)
{
    static const struct { const char *domain; int version; const char *says;
    } rows[] = {
        { "ai.onnx", 20, NULL },
        { "ai.onnx", 13, "operator Gelu is not in operator set 13" },
        { "", 20, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        message m = empty, other = empty, own = empty;
        message_text(&other, 1, "local");
        message_number(&other, 2, 1);
        message_inner(&m, 8, other);
        message_text(&own, 1, rows[i].domain);
        message_number(&own, 2, (uint64_t)rows[i].version);
        message_inner(&m, 8, own);
        message_inner(&m, 7, onnx_text_graph("?f[2]", "Gelu x0>a;Mul x0,a>b;Sub b,b>y0", 1));
        onnx_expect(m, 2, (double[]){ 0, 0 }, rows[i].says);
    }
}
END_TEST

/* -------------------------------------------------------------------- limits -- */

/* A sequence of n items from one node; the file is larger than what it builds. */
static message long_sequence(int n, const char *nodes)
{
    message g = onnx_text_graph("?f[2]", "", 1), construct = empty;
    for (int i = 0; i < n; i++) message_text(&construct, 1, "x0");
    message_text(&construct, 2, "s");
    message_text(&construct, 4, "SequenceConstruct");
    message_inner(&g, GRAPH_NODE, construct);
    onnx_text_nodes(&g, GRAPH_NODE, nodes);
    return onnx_model_message(g, 17);
}

START_TEST(long_sequences)
{
    onnx_expect(long_sequence(65536, "SequenceInsert s,x0>y0"), 0, NULL,
           "node 1 (SequenceInsert): the sequence is too long");
    onnx_expect(long_sequence(65535, "SequenceInsert s,x0>t;SequenceLength t>y0"), 1,
           (double[]){ 65536 }, NULL);
    onnx_expect(long_sequence(65537, "SequenceMap s>y0 body=%neg"), 0, NULL,
           "node 1 (SequenceMap): the body does not have the inputs and outputs of the node");
}
END_TEST

START_TEST(many_grams)
{
    for (int n = 4096; n < 4098; n++) {
        message g = onnx_text_graph("?f[2]", "", 1),
                node = onnx_node_message("TfIdfVectorizer", "x0", "y0");
        int64_t *pool = calloc((size_t)n, sizeof *pool), zero = 0;
        for (int i = 0; i < n; i++) pool[i] = i == 0 ? 2 : 9;
        onnx_add_attribute(&node, onnx_ints_attribute("pool_int64s", n, pool));
        onnx_add_attribute(&node, onnx_ints_attribute("ngram_indexes", 1, &zero));
        onnx_add_attribute(&node, onnx_ints_attribute("ngram_counts", 1, &zero));
        free(pool);
        message_inner(&g, GRAPH_NODE, node);
        onnx_expect(onnx_model_message(g, 9), 0, NULL, n == 4096 ? "an n-gram has no index"
                                                            : "the n-grams are too many");
    }
}
END_TEST

/* A loop without iterations has no rows, of the shape that its body declares. */
START_TEST(empty_stacks)
{
    static const int64_t ones[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    for (int rank = 7; rank < 9; rank++) {
        message g = onnx_text_graph("l 0;b 1", "", 1), body = empty,
                node = onnx_node_message("Loop", "x0,x1", "y0");
        message_inner(&body, GRAPH_INPUT, onnx_value_message("i", 7, 0, NULL));
        message_inner(&body, GRAPH_INPUT, onnx_value_message("c", 9, 0, NULL));
        message_inner(&body, GRAPH_OUTPUT, onnx_value_message("c", 9, 0, NULL));
        message_inner(&body, GRAPH_OUTPUT, onnx_value_message("i", 1, rank, ones));
        onnx_add_attribute(&node, onnx_graph_attribute("body", body));
        message_inner(&g, GRAPH_NODE, node);
        onnx_expect(onnx_model_message(g, 13), 0, NULL,
               rank == 8 ? "a loop without iterations stacks values of unknown shape" : NULL);
    }
}
END_TEST

/* Elements of more constants than are computed while a model is read are left to the run. */
START_TEST(many_constants)
{
    message g = onnx_text_graph("?f[2]", "=from l_0;=to l_60000;=step l_1;=first l[1]_0", 1);
    char    nodes[200], last[8] = "x0";
    for (int i = 0; i < 20; i++) {
        snprintf(nodes, sizeof nodes,
                 "Range from,to,step>r%d;Mod r%d,step>m%d;Gather %s,m%d>g%d;Gather g%d,first>h%d;"
                 "Concat h%d,x0>i%d axis=0", i, i, i, last, i, i, i, i, i, i);
        onnx_text_nodes(&g, GRAPH_NODE, nodes);
        snprintf(last, sizeof last, "i%d", i);
    }
    snprintf(nodes, sizeof nodes, "Identity %s>y0", last);
    onnx_text_nodes(&g, GRAPH_NODE, nodes);
    onnx_expect(onnx_model_message(g, 13), 3, (double[]){ 2, 2, -2 }, NULL);
}
END_TEST

START_TEST(huge_data)
{
    eddy_error  e = { 0 };
    eddy_graph *g = eddy_graph_new();
    ck_assert(!eddy_onnx_read(g, .data = "", .data_size = SIZE_MAX, .error = &e));
    ck_assert_int_eq(e.status, EDDY_NO_MEMORY);
    ck_assert_msg(strstr(e.message, "out of memory for a file of 18446744073709551615 bytes") ||
                      sizeof(size_t) < 8, "%s", e.message);
    ck_assert(!eddy_onnx_read(g, .data = "", .data_size = 0, .error = &e));
    ck_assert_str_eq(e.message, "ONNX model: this is not an ONNX model: it has no graph");
    eddy_graph_free(g);
}
END_TEST

Suite *onnx_models_suite(void)
{
    Suite *s = suite_create("onnx_models");
    TCase *t = tcase_create("models");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, functions, 0, (int)(sizeof function_rows / sizeof *function_rows));
    tcase_add_test(t, reports);
    tcase_add_test(t, named_node);
    tcase_add_test(t, doubling_functions);
    tcase_add_test(t, damaged_functions);
    tcase_add_test(t, imports);
    tcase_add_test(t, long_sequences);
    tcase_add_test(t, many_grams);
    tcase_add_test(t, empty_stacks);
    tcase_add_test(t, many_constants);
    tcase_add_test(t, huge_data);
    suite_add_tcase(s, t);
    return s;
}
