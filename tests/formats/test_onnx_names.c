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
    char         want[100];
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

Suite *onnx_names_suite(void)
{
    enum { COUNT = sizeof names / sizeof *names };
    Suite *s = suite_create("onnx_names");
    TCase *c = tcase_create("names");
    tcase_add_loop_test(c, scopes, 0, COUNT);
    tcase_add_loop_test(c, inner_scopes, 0, COUNT);
    suite_add_tcase(s, c);
    return s;
}
