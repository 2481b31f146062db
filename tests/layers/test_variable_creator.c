/* test_variable_creator.c -- functions that create the variables of layers. */
#include "build/gen/suites.h"
#include "layers/variable_creator.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/golden.h"

#include "ops/short_names.h"

typedef struct creating {
    int         calls;
    int         wrong;               /* 1: another shape, 2: no tensor */
    const char *names[4];
} creating;

/* Twice the variable. */
static eddy_tensor twice(void *context, const eddy_variable_request *r)
{
    creating *c = context;
    c->names[c->calls++ % 4] = r->name;
    if (c->wrong == 1) return eddy_zeros(r->graph, r->dtype, EDDY_SHAPE(1));
    if (c->wrong == 2) return EDDY_NO_TENSOR;
    return Mul(eddy_create_variable(r), 2);
}

/* Layers have doubled variables between begin and end, the innermost function counts, and others
 * have plain ones. */
START_TEST(values)
{
    creating    inner = { 0 }, outer = { 0 };
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(1, 3)), y[3];
    const eddy_init ones = eddy_ones_initializer();
    eddy_variable_creator_begin(g, twice, &outer);
    eddy_variable_creator_begin(g, twice, &inner);
    y[0] = eddy_dense(x, 1, "both", .kernel_initializer = ones, .bias_initializer = ones);
    eddy_variable_creator_end(g);
    y[1] = eddy_dense(x, 1, "kernel", .kernel_initializer = ones, .no_bias = true);
    eddy_variable_creator_end(g);
    y[2] = eddy_dense(x, 1, "plain", .kernel_initializer = ones, .bias_initializer = ones);
    ck_assert_int_eq(inner.calls, 2);
    ck_assert_str_eq(inner.names[0], "kernel");
    ck_assert_str_eq(inner.names[1], "bias");
    ck_assert_int_eq(outer.calls, 1);
    ck_assert(eddy_graph_has(g, "both/kernel:0"));
    eddy_session *s = eddy_session_new(g);
    eddy_array   *out[3] = { NULL };
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL), EDDY_OK);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), (eddy_list){ 3, y }, out), EDDY_OK);
    const double want[] = { 8, 6, 4 };
    for (int i = 0; i < 3; i++) {
        ck_assert_double_eq(eddy_array_item(out[i]), want[i]);
        eddy_array_free(out[i]);
    }
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* A variable times a layer. */
static eddy_tensor scaled(void *context, const eddy_variable_request *r)
{
    creating         *c = context;
    const eddy_tensor one = eddy_ones(r->graph, r->dtype, EDDY_SHAPE(1, 1));
    c->names[c->calls++ % 4] = r->name;
    return Mul(eddy_create_variable(r), Sum(eddy_dense(one, 1, "scale", .no_bias = true)));
}

/* A function may build layers, which ask the outer function for their variables. */
START_TEST(layers_of_creators)
{
    creating    inner = { 0 }, outer = { 0 };
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(1, 3));
    eddy_variable_creator_begin(g, twice, &outer);
    eddy_variable_creator_begin(g, scaled, &inner);
    ck_assert(eddy_is_valid(eddy_dense(x, 1, "line", .no_bias = true)));
    ck_assert_int_eq(inner.calls, 1);
    ck_assert_int_eq(outer.calls, 1);
    eddy_variable_creator_end(g);
    eddy_dense(x, 1, "other", .no_bias = true);
    ck_assert_int_eq(outer.calls, 2);
    eddy_variable_creator_end(g);
    ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
    eddy_graph_free(g);
}
END_TEST

static void without_memory(failing_allocator *f, eddy_error *e)
{
    const long at = f->at;
    f->at = 0;
    eddy_graph *g = eddy_graph_new(.allocator = &f->table);
    creating    c = { 0 };
    f->at = f->calls + at;
    for (int i = 0; i < 2000; i++) eddy_variable_creator_begin(g, twice, &c);
    e->status = eddy_graph_status(g);
    snprintf(e->message, sizeof e->message, "%s", eddy_graph_message(g));
    eddy_graph_free(g);
}

START_TEST(messages)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(1, 3));
    creating    c = { 0 };
    golden_begin("layers/variable_creator");
    eddy_variable_creator_begin(g, NULL, NULL), golden_graph(g);
    eddy_variable_creator_end(g), golden_graph(g);
    eddy_variable_creator_begin(NULL, twice, NULL);
    eddy_variable_creator_end(NULL);
    ck_assert(!eddy_is_valid(eddy_create_variable(NULL)));
    eddy_variable_creator_begin(g, twice, &c);
    for (c.wrong = 1; c.wrong <= 2; c.wrong++) eddy_dense(x, 2, "line"), golden_graph(g);
    eddy_variable_creator_end(g);
    eddy_variable_creator_end(g), golden_graph(g);
    golden_no_memory(without_memory);
    golden_end();
    eddy_graph_free(g);
}
END_TEST

Suite *variable_creator_suite(void)
{
    Suite *s = suite_create("variable_creator");
    TCase *c = tcase_create("creator");
    tcase_add_test(c, values);
    tcase_add_test(c, layers_of_creators);
    tcase_add_test(c, messages);
    suite_add_tcase(s, c);
    return s;
}
