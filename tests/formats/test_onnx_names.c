/* test_onnx_names.c -- the names of the nodes that are built for a node of an ONNX model. */
#include "formats.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/files/onnx_odd_models.h"

#include <check.h>

Suite *onnx_names_suite(void);

static const struct {
    const char *name, *built;
} names[] = {
    { "", "Tanh/Tanh" },
    { "a/b", "a/b/Tanh" },
    /* eddy_onnx_write gives names like these. */
    { "Tanh:Tanh5", "Tanh" },
    { "a/Tanh:Tanh5", "a/Tanh" },
    { "a/b/Tanh:Tanh0", "a/b/Tanh" },
    { "a b/Tanh:Tanh5", "a_b/Tanh" },
    { "a/hidden:Tanh5", "a/hidden" },
    { "hidden:Tanh5", "hidden" },
    { "a/b c:Tanh5", "a/b_c" },
    { "a/:Tanh5", "a/Tanh" },
    { ":Tanh5", "unnamed/Tanh" },
    { "_/Tanh:Tanh5", "unnamed/Tanh" },
    { "/Tanh:Tanh5", "Tanh" },
    /* These only look like them. */
    { "a/Tanh:Sinh5", "a/Tanh_Sinh5/Tanh" },
    { "a/Tanh:Tanh", "a/Tanh_Tanh/Tanh" },
    { "a/Tanh:Tanh5b", "a/Tanh_Tanh5b/Tanh" },
    { "a/Tanh:", "a/Tanh_/Tanh" },
};

/* Reads the model into the scope; NULL for none. */
static void read_into(const char *scope, const char *name, const char *built)
{
    char         want[4100];
    memory_files files;
    eddy_error   e = { 0 };
    memory_files_init(&files);
    message m = onnx_named_model(name);
    memory_files_put(&files, "m.onnx", m.at, m.size);
    message_free(&m);

    eddy_graph *g = eddy_graph_new();
    eddy_onnx_model *model = eddy_onnx_read(g, "m.onnx", .scope = scope, .files = &files.table,
                                            .error = &e);
    ck_assert_msg(model != NULL, "%s", e.message);
    snprintf(want, sizeof want, "%s%s%s", scope ? scope : "", scope ? "/" : "", built);
    eddy_tensor y = { 0 };
    for (int32_t id = 1; id <= eddy_graph_size(g); id++)
        if (strcmp(eddy_type_of(eddy_node_at(g, id)), "Tanh") == 0) y = eddy_node_at(g, id);
    ck_assert_str_eq(eddy_name_of(y), want);
    eddy_onnx_free(model);
    eddy_graph_free(g);
    memory_files_free(&files);
}

START_TEST(scopes) { read_into(NULL, names[_i].name, names[_i].built); }
END_TEST
START_TEST(inner_scopes) { read_into("outer", names[_i].name, names[_i].built); }
END_TEST

START_TEST(long_scopes)
{
    for (int i = 0; i < 2; i++) {
        char scope[4000] = "";
        memset(scope, 'x', i ? sizeof scope - 1 : 2000);
        read_into(scope, "hidden:Tanh5", i ? "Tanh" : "hidden");
    }
}
END_TEST

/* A constant is named for its value, and a sequence has no node. */
START_TEST(nothing_to_name)
{
    static const char *const ops[] = { "Constant", "Tanh", "SequenceConstruct" };
    static const char *const inputs[] = { "", "x", "x" }, *const outputs[] = { "k", "y", "s" };
    static const char *const own[] = { "a/constant", "a/hidden", "a/sequence" };
    const int64_t one = 1;
    memory_files files;
    eddy_error   e = { 0 };
    message      g = { 0 };
    for (int i = 0; i < 3; i++) {
        char    name[40];
        message node = onnx_node_message(ops[i], inputs[i], outputs[i]);
        snprintf(name, sizeof name, "%s:%s%d", own[i], ops[i], i);
        message_text(&node, 3, name);
        if (i == 0) onnx_add_attribute(&node, onnx_ints_attribute("value_ints", 1, &one));
        message_inner(&g, GRAPH_NODE, node);
    }
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y", 1, -1, NULL));
    message_inner(&g, GRAPH_INPUT, onnx_value_message("x", 1, 1, (int64_t[]){ 2 }));
    message m = onnx_model_message(g, 17);
    memory_files_init(&files);
    memory_files_put(&files, "m.onnx", m.at, m.size);
    message_free(&m);
    eddy_graph      *read = eddy_graph_new();
    eddy_onnx_model *model = eddy_onnx_read(read, "m.onnx", .files = &files.table, .error = &e);
    ck_assert_msg(model != NULL, "%s", e.message);
    for (int32_t id = 1; id <= eddy_graph_size(read); id++)
        for (int i = 0; i < 3; i += 2)
            ck_assert_str_ne(eddy_name_of(eddy_node_at(read, id)), own[i]);
    ck_assert_str_eq(eddy_type_of(eddy_graph_operation(read, own[1])), "Tanh");
    eddy_onnx_free(model);
    eddy_graph_free(read);
    memory_files_free(&files);
}
END_TEST

/* Each of these becomes one node of ONNX, and eddy_gelu several, which are in the same scope. */
START_TEST(written)
{
    static const char *const kept[] = { "layer/hidden", "layer/Tanh", "layer/Tanh_1",
                                        "layer/scaled", "y" };
    memory_files  files;
    eddy_error    e = { 0 };
    eddy_graph   *g = eddy_graph_new(), *again = eddy_graph_new();
    eddy_tensor   y = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(3));
    eddy_scope_begin(g, "layer");
    y = eddy_named("hidden", eddy_tanh(y));
    y = eddy_gelu(eddy_tanh(eddy_tanh(y)));
    y = eddy_named("scaled", eddy_mul(y, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(3))));
    eddy_scope_end(g);
    y = eddy_named("y", eddy_sigmoid(y));
    memory_files_init(&files);
    ck_assert_int_eq(eddy_onnx_write(EDDY_LIST(y), "m.onnx", .files = &files.table, .error = &e),
                     EDDY_OK);
    eddy_onnx_model *model = eddy_onnx_read(again, "m.onnx", .files = &files.table, .error = &e);
    ck_assert_msg(model != NULL, "%s", e.message);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        ck_assert_str_eq(eddy_type_of(eddy_graph_operation(again, kept[i])),
                         eddy_type_of(eddy_graph_operation(g, kept[i])));
    ck_assert(eddy_is_valid(eddy_graph_operation(again, "layer/Erf")));
    eddy_onnx_free(model);
    eddy_graph_free(again);
    eddy_graph_free(g);
    memory_files_free(&files);
}
END_TEST

Suite *onnx_names_suite(void)
{
    enum { COUNT = sizeof names / sizeof *names };
    Suite *s = suite_create("onnx_names");
    TCase *c = tcase_create("names");
    tcase_add_loop_test(c, scopes, 0, COUNT);
    tcase_add_loop_test(c, inner_scopes, 0, COUNT);
    tcase_add_test(c, long_scopes);
    tcase_add_test(c, nothing_to_name);
    tcase_add_test(c, written);
    suite_add_tcase(s, c);
    return s;
}
