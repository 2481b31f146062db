/* test_messages_extract.c -- error messages of eddy_extract. */
#include "graph/body.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"

#include <stdlib.h>

Suite *messages_extract_suite(void);

static eddy_graph  *g;
static eddy_session *s;
static eddy_tensor  x, label, v, y;

static void setup(void)
{
    g = eddy_graph_new();
    s = eddy_session_new(g);
    x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(4, 2));
    label = eddy_placeholder(g, "label", EDDY_FLOAT32, EDDY_SHAPE(4));
    v = eddy_variable(g, .initial_value = eddy_scalar(g, 3), .name = "v");
    y = eddy_named("y", Add(eddy_sum(Mul(x, v), .axes = EDDY_AXES(1)), label));
}

static void teardown(void)
{
    eddy_session_free(s);
    eddy_graph_free(g);
}

/* eddy_extract with these options fails with the next line. */
static void says(eddy_extract_args a)
{
    eddy_error e = { 0 };
    const eddy_list all = EDDY_LIST(y);
    if (a.outputs.count == 0 && !a.outputs.at) a.outputs = all;
    a.error = &e;
    ck_assert_ptr_null(eddy_extract_with(&a));
    golden_error(&e);
}
#define SAYS(...) says(*EDDY_ARGS(eddy_extract_args, __VA_ARGS__))

static eddy_tensor inside;
static int body(eddy_list in, eddy_tensor *out, void *context)
{
    (void)context;
    inside = out[0] = eddy_named("inside", eddy_exp(in.at[0]));
    return 1;
}

static void lists(void)
{
    eddy_graph *other = eddy_graph_new();
    const eddy_tensor foreign = eddy_scalar(other, 1);
    SAYS(.outputs = { -1, &y });
    SAYS(.outputs = { 0, &y });
    SAYS(.outputs = EDDY_LIST(EDDY_NO_TENSOR));
    SAYS(.outputs = EDDY_LIST(y, foreign));
    SAYS(.inputs = EDDY_LIST(foreign));
    SAYS(.inputs = { 1, NULL });
    SAYS(.keep = EDDY_LIST(foreign));
    SAYS(.values = { 1, NULL });
    SAYS(.values = EDDY_FEED({ foreign, EDDY_FLOATS(1) }));
    SAYS(.values = EDDY_FEED({ x, NULL }));
    SAYS(.replace = { -2, NULL });
    SAYS(.replace = EDDY_REPLACE({ foreign, x }));
    SAYS(.replace = EDDY_REPLACE({ x, foreign }));
    SAYS(.freeze = s, .replace = EDDY_REPLACE({ x, EDDY_NO_TENSOR }));
    SAYS(.freeze = s, .replace = EDDY_REPLACE({ x, foreign }));
    SAYS(.freeze = (eddy_session *)(void *)g);
    SAYS(.allocator = &(eddy_allocator){ 0 });
    SAYS(.quantize = true, .quantize_group = 0);
    eddy_fail(other, EDDY_BAD_SHAPE, "an earlier error");
    SAYS(.outputs = EDDY_LIST(foreign));
    eddy_graph_free(other);
}

static void types(void)
{
    SAYS(.values = EDDY_FEED({ label, EDDY_INTS(1, 2, 3, 4) }));
    SAYS(.values = EDDY_FEED({ label, EDDY_FLOATS(1, 2, 3) }));
    SAYS(.replace = EDDY_REPLACE({ label, eddy_cast(label, EDDY_FLOAT64) }));
    SAYS(.replace = EDDY_REPLACE({ label, x }));
    SAYS(.replace = EDDY_REPLACE({ label, label }));
    SAYS(.inputs = EDDY_LIST(x), .values = EDDY_FEED({ x, EDDY_VIEW((float[8]){ 0 }, 4, 2) }));
    SAYS(.inputs = EDDY_LIST(x), .replace = EDDY_REPLACE({ x, eddy_zeros(g, EDDY_FLOAT32,
                                                                          EDDY_SHAPE(4, 2)) }));
    SAYS(.replace = EDDY_REPLACE({ label, eddy_sum(x, .axes = EDDY_AXES(1)) },
                                 { x, eddy_exp(x) }));
}

static void names(void)
{
    SAYS(.input_names = "a", .inputs = EDDY_LIST(x, label));
    SAYS(.input_names = "a, b, c", .inputs = EDDY_LIST(x, label));
    SAYS(.input_names = "a, _b", .inputs = EDDY_LIST(x, label));
    SAYS(.output_names = "label");
}

static void cuts(void)
{
    const eddy_function f = { .build = body };
    eddy_tensor         rows[1], open = eddy_placeholder(g, "open", EDDY_FLOAT32, EDDY_SHAPE(3));
    SAYS(.inputs = EDDY_LIST(x));
    SAYS(.inputs = EDDY_LIST(x, label, open));
    SAYS(.inputs = EDDY_LIST(x, x, label));
    eddy_map_fn(f, EDDY_LIST(x), rows);
    SAYS(.outputs = EDDY_LIST(inside));
    SAYS(.outputs = EDDY_LIST(rows[0]), .inputs = EDDY_LIST(inside));
    SAYS(.outputs = EDDY_LIST(y, eddy_exp(open)), .open_batch = true);
    SAYS(.outputs = EDDY_LIST(Add(x, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(4, 2)))),
         .open_batch = true);
}

static void variables(void)
{
    eddy_graph   *other = eddy_graph_new();
    eddy_session *t = eddy_session_new(other);
    const eddy_tensor update = eddy_assign_add(v, eddy_scalar(g, 1));
    SAYS(.freeze = t);
    SAYS(.freeze = s);
    SAYS(.outputs = EDDY_LIST(update), .freeze = s);
    runs(s, eddy_initializer(g));
    SAYS(.outputs = EDDY_LIST(update), .freeze = s);
    SAYS(.outputs = EDDY_LIST(update), .without_effects = true);
    eddy_session_close(s);
    SAYS(.freeze = s);
    eddy_session_free(t);
    eddy_graph_free(other);
}

/* Addresses that malloc has not given out. */
static void *allocate_apart(void *context, size_t size)
{
    char *p = malloc(size + 64);
    (void)context;
    return p ? p + 64 : NULL;
}
static void release_apart(void *context, void *p, size_t size)
{
    (void)context, (void)size;
    free((char *)p - 64);
}

/* A graph whose body has been freed; the copy must not get its address. */
static void bodies(void)
{
    const eddy_function f = { .build = body };
    eddy_tensor         rows[1];
    eddy_map_fn(f, EDDY_LIST(label), rows);
    eddy_graph_free(eddy__body_of(eddy_node_of(rows[0])));
    const eddy_allocator apart = { allocate_apart, release_apart, NULL };
    SAYS(.outputs = EDDY_LIST(rows[0]), .allocator = &apart);
}

static eddy_tensor sum;
static void without_memory(failing_allocator *f, eddy_error *e)
{
    eddy_graph *model = eddy_extract(EDDY_LIST(sum), .allocator = &f->table, .freeze = s,
                                     .values = EDDY_FEED({ label, EDDY_FLOATS(1, 2, 3, 4) }),
                                     .open_batch = true, .error = e);
    eddy_graph_free(model);
}

static eddy_tensor product;
static void quantized_without_memory(failing_allocator *f, eddy_error *e)
{
    eddy_graph *model = eddy_extract(EDDY_LIST(product), .allocator = &f->table, .quantize = true,
                                     .error = e);
    eddy_graph_free(model);
}

START_TEST(messages)
{
    golden_begin("session/extract");
    lists();
    types();
    names();
    cuts();
    bodies();
    variables();
    golden_end();
}
END_TEST

START_TEST(memory)
{
    golden_begin("session/extract_memory");
    runs(s, eddy_initializer(g));
    sum = Add(eddy_sum(Mul(x, v), .axes = EDDY_AXES(1)), eddy_exp(label));
    golden_no_memory(without_memory);
    golden_end();
}
END_TEST

START_TEST(quantized_memory)
{
    golden_begin("session/extract_quantized_memory");
    eddy_array *ones = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(32, 32));
    for (int64_t i = 0; i < eddy_array_count(ones); i++) eddy_array_set(ones, i, 1);
    product = eddy_matmul(eddy_placeholder(g, "in", EDDY_FLOAT32, EDDY_SHAPE(1, 32)),
                          eddy_constant(g, ones, "w"));
    golden_no_memory(quantized_without_memory);
    eddy_array_free(ones);
    golden_end();
}
END_TEST

Suite *messages_extract_suite(void)
{
    Suite *suite = suite_create("messages_extract");
    TCase *c = tcase_create("messages");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, messages);
    tcase_add_test(c, memory);
    tcase_add_test(c, quantized_memory);
    suite_add_tcase(suite, c);
    return suite;
}
