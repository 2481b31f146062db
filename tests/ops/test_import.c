/* test_import.c -- eddy_import: parts of one graph in another, their variables and gradients. */
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"

#include <math.h>

Suite *import_suite(void);

static eddy_graph *g, *other;
static eddy_tensor x, w, b, y;          /* of `other` */

static void setup(void)
{
    g = eddy_graph_new();
    other = eddy_graph_new();
    x = eddy_placeholder(other, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, 2));
    w = eddy_variable(other, .initial_value = matrix(other, 2, 2, (double[]){ 1, 2, -1, 0.5 }),
                      .name = "layer/w");
    b = eddy_variable(other, .initial_value = vector(other, 2, (double[]){ 0.25, -1 }),
                      .name = "layer/b", .not_trainable = true);
    y = eddy_named("layer/y", eddy_tanh(Add(eddy_matmul(x, w), b)));
    fits(other);
}

static void teardown(void)
{
    eddy_graph_free(other);
    eddy_graph_free(g);
}

START_TEST(under_a_scope)
{
    eddy_tensor in = eddy_placeholder(g, "in", EDDY_FLOAT64, EDDY_SHAPE(3, 2)), two[2];
    const eddy_tensor z = eddy_import(g, other, .scope = "teacher",
                                      .inputs = EDDY_REPLACE({ x, in }), .outputs = EDDY_LIST(y, x),
                                      .results = two);
    fits(g);
    ck_assert(eddy_same(z, two[0]) && eddy_same(in, two[1]));
    ck_assert_str_eq(eddy_name_of(z), "teacher/layer/y");
    ck_assert(eddy_shape_equal(eddy_shape_of(z), EDDY_SHAPE(3, 2)));
    ck_assert_int_eq(eddy_collection_size(g, EDDY_GLOBAL_VARIABLES), 2);
    ck_assert_int_eq(eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES), 1);
    ck_assert(!eddy_graph_has(g, "teacher/x"));
    const eddy_tensor again = eddy_import(g, other, .scope = "teacher", .outputs = EDDY_LIST(y));
    ck_assert_str_eq(eddy_name_of(again), "teacher_1/layer/y");
    ck_assert(eddy_graph_has(g, "teacher_1/x"));
    eddy_graph_free(other);
    other = eddy_graph_new();
    eddy_session *s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    eddy_array *got = eddy_fetch(s, z, EDDY_FEED({ in, EDDY_SHAPED(EDDY_DOUBLES(1, 2, 3, 4, 5, 6),
                                                                   3, 2) }));
    ck_assert(got && eddy_array_get(got, 0) == tanh(1 * 1 + 2 * -1 + 0.25));
    eddy_array_free(got);
    eddy_session_free(s);
}
END_TEST

/* The gradient of the imported function, and its gradient, against central differences. */
START_TEST(gradients)
{
    eddy_tensor in = eddy_placeholder(g, "in", EDDY_FLOAT64, EDDY_SHAPE(2, 2)), dx[1], ddx[1];
    eddy_tensor z = eddy_import(g, other, .scope = "f", .outputs = EDDY_LIST(y),
                                .inputs = EDDY_REPLACE({ x, eddy_sin(in) }));
    eddy_tensor f = Sum(eddy_square(z));
    eddy_gradients(EDDY_LIST(f), EDDY_LIST(in), dx);
    const eddy_tensor f2 = Sum(eddy_square(dx[0]));
    eddy_gradients(EDDY_LIST(f2), EDDY_LIST(in), ddx);
    fits(g);
    eddy_session *s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    const double h = 1e-5;
    double       at[4] = { 0.3, -0.7, 1.1, 0.2 };
    const eddy_feed feed = { in, EDDY_VIEW(at, 2, 2) };
    for (int order = 0; order < 2; order++)
        for (int i = 0; i < 4; i++) {
            double side[2];
            eddy_array *d = eddy_fetch(s, order ? ddx[0] : dx[0], ((eddy_feeds){ 1, &feed }));
            for (int k = 0; k < 2; k++) {
                at[i] += k ? -2 * h : h;
                side[k] = eddy_fetch_number(s, order ? f2 : f, ((eddy_feeds){ 1, &feed }));
            }
            at[i] += h;
            ck_assert_double_eq_tol(eddy_array_get(d, i), (side[0] - side[1]) / (2 * h), 1e-7);
            eddy_array_free(d);
        }
    eddy_session_free(s);
}
END_TEST

/* Both use the same variables; a graph may be imported into itself. */
START_TEST(shared)
{
    const eddy_tensor in = eddy_exp(x);
    const int32_t     before = eddy_graph_size(other);
    const eddy_tensor z = eddy_import(other, other, .scope = "again", .share_variables = true,
                                      .inputs = EDDY_REPLACE({ x, in }), .outputs = EDDY_LIST(y));
    fits(other);
    ck_assert_int_eq(eddy_graph_size(other), before + 3);
    ck_assert_int_eq(eddy_collection_size(other, EDDY_GLOBAL_VARIABLES), 2);
    ck_assert(eddy_same(eddy_input(eddy_input(eddy_input(z, 0), 0), 1), w));
    const eddy_tensor own = eddy_import(other, other, .scope = "own", .outputs = EDDY_LIST(y));
    ck_assert_int_eq(eddy_collection_size(other, EDDY_GLOBAL_VARIABLES), 4);
    ck_assert_str_eq(eddy_name_of(own), "own/layer/y");
}
END_TEST

/* A model from eddy_extract has its outputs in a collection. */
START_TEST(of_a_model)
{
    eddy_graph *model = eddy_extract(EDDY_LIST(y), .inputs = EDDY_LIST(x));
    const eddy_tensor z = eddy_import(g, model, .scope = "m");
    fits(g);
    ck_assert_str_eq(eddy_name_of(z), "m/layer/y");
    ck_assert_int_eq(eddy_collection_size(g, EDDY_MODEL_OUTPUTS), 0);
    eddy_graph_free(model);
}
END_TEST

static void says(eddy_import_args a)
{
    if (!a.other) a.other = other;
    const eddy_list all = EDDY_LIST(y);
    if (a.outputs.count == 0) a.outputs = all;
    a.graph = g;
    ck_assert(!eddy_is_valid(eddy_import_with(&a)));
    golden_graph(g);
}
#define SAYS(...) says(*EDDY_ARGS(eddy_import_args, __VA_ARGS__))

START_TEST(messages)
{
    golden_begin("ops/import");
    const eddy_tensor in = eddy_placeholder(g, "in", EDDY_FLOAT64, EDDY_SHAPE(3, 2));
    const eddy_tensor wide = eddy_placeholder(g, "wide", EDDY_FLOAT64, EDDY_SHAPE(3, 5));
    SAYS(.other = (eddy_graph *)(void *)&g);
    SAYS(.outputs = { -1, NULL });
    SAYS(.inputs = { 1, NULL });
    SAYS(.outputs = EDDY_LIST(in));
    SAYS(.inputs = EDDY_REPLACE({ in, in }));
    SAYS(.inputs = EDDY_REPLACE({ x, x }));
    SAYS(.inputs = EDDY_REPLACE({ x, wide }));
    SAYS(.inputs = EDDY_REPLACE({ x, eddy_cast(in, EDDY_FLOAT32) }));
    SAYS(.inputs = EDDY_REPLACE({ eddy_exp(x), in }));
    SAYS(.inputs = EDDY_REPLACE({ x, in }, { x, in }));
    SAYS(.share_variables = true);
    eddy_variable(g, .initial_value = eddy_number(g, EDDY_FLOAT64, 1), .name = "layer/w");
    SAYS(.share_variables = true);
    ck_assert(!eddy_is_valid(eddy_import(g, other)));
    golden_graph(g);
    eddy_fail(other, EDDY_BAD_SHAPE, "an earlier error");
    SAYS(.inputs = EDDY_REPLACE({ x, in }));
    eddy_graph_clear_error(other);
    eddy_graph_finalize(g);
    SAYS(.inputs = EDDY_REPLACE({ x, in }));
    golden_end();
}
END_TEST

static void without_memory(failing_allocator *f, eddy_error *e)
{
    eddy_graph *into = eddy_graph_new(.allocator = &f->table);
    if (!into) {
        e->status = EDDY_NO_MEMORY;
        return;
    }
    eddy_import(into, other, .scope = "m");
    e->status = eddy_graph_status(into);
    snprintf(e->message, sizeof e->message, "%s", eddy_graph_message(into));
    eddy_graph_free(into);
}

START_TEST(memory)
{
    golden_begin("ops/import_memory");
    eddy_collection_add(other, EDDY_MODEL_OUTPUTS, y);
    golden_no_memory(without_memory);
    golden_end();
}
END_TEST

Suite *import_suite(void)
{
    Suite *suite = suite_create("import");
    TCase *c = tcase_create("import");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, under_a_scope);
    tcase_add_test(c, gradients);
    tcase_add_test(c, shared);
    tcase_add_test(c, of_a_model);
    tcase_add_test(c, messages);
    tcase_add_test(c, memory);
    suite_add_tcase(suite, c);
    return suite;
}
