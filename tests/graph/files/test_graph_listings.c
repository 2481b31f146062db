/* test_graph_listings.c -- graphs as lists of their nodes, and as drawings for Graphviz. */
#include "build/gen/suites.h"
#include "tests/lib/plain_ops.h"

#include <check.h>
#include <string.h>

START_TEST(listing)
{
    eddy_graph *g = plain_graph(NULL, NULL);
    char       *text = eddy_graph_to_text(g);
    ck_assert_str_eq(text,
                     "1 x = Source() dtype=float32 shape=[?,3] -> float32[?,3]\n"
                     "2 layer1/w = Value() value=float32[] 0.1 -> float32[]\n"
                     "3 layer1/Pair = Pair(x:0) -> float32[?,3], float32[7,3] @/cpu:0\n"
                     "4 y = Same(x:0, layer1/Pair:1, layer1/w:0) -> float32[?,3]\n"
                     "5 layer1/Sink = Sink(y:0)\n");
    eddy_string_free(text);
    eddy_graph_free(g);
    g = eddy_graph_new();
    eddy_tensor x = plain_make_source(g, "x", EDDY_SCALAR);
    eddy_control_begin(g, EDDY_LIST(x));
    int64_t many[20] = { 5, 6 };
    eddy_apply(&plain_all,
               &(all_attrs){ .f = 0.5,
                             .s = "a\"b\n",
                             .d = EDDY_INT64,
                             .dims = EDDY_DIMS(1, 2),
                             .ints = { 20, many } },
               0, NULL, (eddy_apply_args){ g, NULL });
    eddy_control_end(g);
    text = eddy_graph_to_text(g);
    ck_assert_ptr_nonnull(strstr(
        text, "2 all = All of them() i=0 f=0.5 b=false s=\"a\\\"b\\n\" d=int64 shape=[] dims=[1,2] "
              "ints=[5,6,0,0,0,0,0,0,0,0,0,0,0,0,0,0,...] array=none the graph={0 nodes} ^x -> "
              "int32?\n"));
    eddy_string_free(text);
    eddy_graph_free(g);
}
END_TEST

static int count(const char *text, const char *what)
{
    int n = 0;
    for (const char *s = text; (s = strstr(s, what)) != NULL; s += strlen(what)) n++;
    return n;
}

START_TEST(graphviz)
{
    eddy_graph *g = plain_graph(NULL, NULL);
    eddy_scope_begin(g, "layer1/");
    eddy_scope_begin(g, "inner");
    eddy_control_begin(g, EDDY_LIST(eddy_graph_operation(g, "x")));
    plain_make_source(g, "z", EDDY_SCALAR);
    char *text = eddy_graph_to_dot(g);
    ck_assert_int_eq(count(text, "subgraph"), 2);
    ck_assert_int_eq(count(text, "{"), count(text, "}"));
    ck_assert_int_eq(count(text, "[label="), 6);
    ck_assert_int_eq(count(text, "style=dashed"), 1);
    ck_assert_int_eq(count(text, "taillabel=\"1\""), 1);
    ck_assert_ptr_nonnull(
        strstr(text, "n6 [label=\"z\\nSource\\nfloat32[]\", shape=parallelogram"));
    ck_assert_ptr_nonnull(strstr(text, "label=\"inner\""));
    eddy_string_free(text);
    eddy_graph_free(g);
}
END_TEST

Suite *graph_listings_suite(void)
{
    Suite *s = suite_create("graph_listings");
    TCase *t = tcase_create("listings");
    tcase_add_test(t, listing);
    tcase_add_test(t, graphviz);
    suite_add_tcase(s, t);
    return s;
}
