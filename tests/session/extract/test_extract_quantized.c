/* test_extract_quantized.c -- models whose matrices become 8-bit values: the loss of a transformer,
 * bytes in memory, in graph files and in checkpoints, and what stays float32. */
#include "tests/lib/checks.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/golden.h"

#include <math.h>
#include <stdio.h>

Suite *extract_quantized_suite(void);

static eddy_graph   *g;
static eddy_session *s;

static void setup(void)
{
    g = eddy_graph_new(.seed = 1);
    s = eddy_session_new(g);
}
static void teardown(void)
{
    eddy_session_free(s);
    eddy_graph_free(g);
}

static int count_ops(eddy_graph *graph, const char *op)
{
    int n = 0;
    for (int32_t id = 1; id <= eddy_graph_size(graph); id++)
        n += strcmp(eddy_type_of(eddy_node_at(graph, id)), op) == 0;
    return n;
}

/* The output of a model for the input x. */
static eddy_array *run_model(eddy_graph *model, const eddy_array *x)
{
    eddy_session *t = eddy_session_new(model);
    eddy_array   *y = eddy_fetch(t, eddy_collection_at(model, EDDY_MODEL_OUTPUTS, 0),
                                 EDDY_FEED({ eddy_collection_at(model, EDDY_MODEL_INPUTS, 0), x }));
    ck_assert_msg(y, "%s %s", eddy_graph_message(model), eddy_session_message(t));
    eddy_session_free(t);
    return y;
}

/* The largest difference, over the largest magnitude. */
static double distance(const eddy_array *a, const eddy_array *b)
{
    double most = 0, off = 0;
    ck_assert_int_eq(eddy_array_count(a), eddy_array_count(b));
    for (int64_t i = 0; i < eddy_array_count(a); i++) {
        most = fmax(most, fabs(eddy_array_get(a, i)));
        off = fmax(off, fabs(eddy_array_get(a, i) - eddy_array_get(b, i)));
    }
    return off / most;
}

static eddy_array *numbers(eddy_shape shape)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, shape);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, sin((double)(i * i + 1)));
    return a;
}

/* ------------------------------------------------------------- transformer -- */

enum { TEXTS = 8, LENGTH = 24, LETTERS = 32, UNITS = 64, STEPS = 60 };

/* Two blocks over letters, and the loss of guessing the next one. */
static eddy_tensor transformer(eddy_tensor letters, eddy_tensor next)
{
    eddy_tensor h = eddy_embedding_layer(letters, LETTERS, UNITS, "letters");
    h = eddy_position_layer(h, LENGTH, .learned = true, .name = "positions");
    for (int i = 0; i < 2; i++)
        h = eddy_transformer_block(h, 4, i ? "second" : "first", .causal = true, .pre_norm = true);
    return eddy_mean(eddy_sparse_softmax_cross_entropy(next, eddy_dense(h, LETTERS, "next")));
}

/* Letters whose successor follows from the two before in most cases. */
static eddy_array *letters(int from)
{
    eddy_array *a = eddy_array_new(EDDY_INT32, EDDY_SHAPE(TEXTS, LENGTH));
    for (int i = 0; i < TEXTS; i++)
        for (int k = 0; k < LENGTH; k++) {
            const int at = k + from;
            eddy_array_set(a, i * LENGTH + k, (3 * at + i * at / 2 + at * at * (i % 3)) % LETTERS);
        }
    return a;
}

START_TEST(transformer_loss)
{
    const int64_t group = _i == 0 ? EDDY_OMITTED : 32;
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_INT32, EDDY_SHAPE(TEXTS, LENGTH));
    eddy_array   *in = letters(0), *next = letters(1);
    eddy_tensor   loss = eddy_named("loss", transformer(x, eddy_constant(g, next)));
    eddy_tensor   train = eddy_minimize(eddy_adam(g, eddy_scalar(g, 0.003)), loss);
    eddy_quantize_report report;
    eddy_error           e = { 0 };
    runs(s, eddy_initializer(g));
    for (int i = 0; i < STEPS; i++)
        ck_assert_msg(eddy_run(s, EDDY_FEED({ x, in }), EDDY_FETCH(train), NULL) == EDDY_OK, "%s",
                      eddy_session_message(s));
    eddy_graph *wide = eddy_extract(EDDY_LIST(loss), .inputs = EDDY_LIST(x), .freeze = s);
    eddy_graph *model = eddy_extract(EDDY_LIST(loss), .inputs = EDDY_LIST(x), .freeze = s,
                                     .quantize = true, .quantize_group = group,
                                     .quantized = &report, .error = &e);
    ck_assert_msg(wide && model, "%s", e.message);
    ck_assert_str_eq(eddy_name_of(eddy_collection_at(model, EDDY_MODEL_OUTPUTS, 0)), "loss");
    eddy_array *want = run_model(wide, in), *got = run_model(model, in);
    ck_assert_double_lt(eddy_array_item(want), 2.5);            /* it has learned something */
    ck_assert_double_lt(fabs(eddy_array_item(got) / eddy_array_item(want) - 1), 0.01);
    ck_assert_int_eq(count_ops(model, "QuantizedMatMul"), 9);
    ck_assert_int_eq(report.n_quantized, 10);                   /* with the embedding */
    ck_assert_double_le((double)report.bytes / (double)report.bytes_before, _i == 0 ? 0.3 : 0.31);
    char *file = eddy_graph_to_yaml(model), *wide_file = eddy_graph_to_yaml(wide);
    ck_assert_double_le((double)strlen(file) / (double)strlen(wide_file), _i == 0 ? 0.33 : 0.34);
    eddy_graph *read = eddy_graph_load(.text = file, .error = &e);
    ck_assert_msg(read, "%s", e.message);
    eddy_array *again = run_model(read, in);
    ck_assert(eddy_array_equal(again, got));
    eddy_graph_free(read);
    eddy_array_free(again);
    eddy_string_free(file);
    eddy_string_free(wide_file);
    eddy_string_free(report.text);
    eddy_array_free(want);
    eddy_array_free(got);
    eddy_array_free(in);
    eddy_array_free(next);
    eddy_graph_free(wide);
    eddy_graph_free(model);
}
END_TEST

/* -------------------------------------------------------- ways of being read -- */

static eddy_tensor constant(const char *name, eddy_shape shape)
{
    eddy_array *a = numbers(shape);
    eddy_tensor t = eddy_constant(g, a, name);
    eddy_array_free(a);
    return t;
}

static void check_model(eddy_tensor x, eddy_tensor y, eddy_shape fed, int products, int gathers)
{
    eddy_error  e = { 0 };
    eddy_array *in = eddy_array_new(eddy_dtype_of(x), fed);
    for (int64_t i = 0; i < eddy_array_count(in); i++)
        eddy_array_set(in, i, eddy_dtype_of(x) == EDDY_INT32 ? (double)(i * 7 % 40)
                                                             : sin((double)i));
    eddy_graph *wide = eddy_extract(EDDY_LIST(y), .inputs = EDDY_LIST(x));
    eddy_graph *model = eddy_extract(EDDY_LIST(y), .inputs = EDDY_LIST(x), .quantize = true,
                                     .quantize_group = 48, .error = &e);
    ck_assert_msg(wide && model, "%s %s", eddy_graph_message(g), e.message);
    ck_assert_int_eq(count_ops(model, "QuantizedMatMul"), products);
    ck_assert_int_eq(count_ops(model, "GatherV2"), 2 * gathers);
    eddy_array *want = run_model(wide, in), *got = run_model(model, in);
    ck_assert_double_le(distance(want, got), 0.02);
    eddy_array_free(want);
    eddy_array_free(got);
    eddy_array_free(in);
    eddy_graph_free(wide);
    eddy_graph_free(model);
}

/* Transposed, through an identity, in a batch, and a table whose rows are both gathered and
 * multiplied. */
START_TEST(uses)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 36));
    eddy_tensor w = constant("w", EDDY_SHAPE(40, 36)), v = constant("v", EDDY_SHAPE(40, 50));
    eddy_tensor h = eddy_matmul(x, eddy_identity(w), .transpose_b = true);
    check_model(x, eddy_matmul(h, v), EDDY_SHAPE(3, 36), 2, 0);
    eddy_tensor many = eddy_placeholder(g, "many", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 2, 40));
    check_model(many, eddy_matmul(many, v), EDDY_SHAPE(3, 2, 40), 1, 0);
    eddy_tensor at = eddy_placeholder(g, "at", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor rows = eddy_gather(w, at);
    check_model(at, rows, EDDY_SHAPE(5), 0, 1);
    check_model(at, eddy_matmul(rows, w, .transpose_b = true), EDDY_SHAPE(5), 1, 1);
}
END_TEST

/* A number of rows that no group divides: a scale for each row would take more than it saves. */
START_TEST(rows_without_a_group)
{
    eddy_quantize_report report;
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 1009));
    eddy_tensor y = eddy_matmul(x, constant("w", EDDY_SHAPE(1009, 16)));
    eddy_graph *model = eddy_extract(EDDY_LIST(y), .inputs = EDDY_LIST(x), .quantize = true,
                                     .quantize_group = 64, .quantized = &report);
    ck_assert_ptr_nonnull(model);
    ck_assert_int_lt(report.bytes, 1009 * 16 + 100);
    eddy_string_free(report.text);
    eddy_graph_free(model);
}
END_TEST

static int add_product(eddy_list x, eddy_tensor *y, void *w)
{
    y[0] = eddy_tanh(eddy_matmul(x.at[0], *(eddy_tensor *)w));
    return 1;
}

/* The report names what stays, and why. */
START_TEST(what_stays)
{
    eddy_error           e = { 0 };
    eddy_quantize_report report;
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(4, 32));
    eddy_tensor image = eddy_reshape(x, EDDY_SHAPE(4, 4, 8, 1));
    eddy_tensor filter = constant("filter", EDDY_SHAPE(3, 3, 1, 128));
    eddy_tensor looped = constant("looped", EDDY_SHAPE(32, 32)), state[1];
    const eddy_function f = { .build = add_product, .context = &looped };
    eddy_loop(f, EDDY_LIST(x), EDDY_LIST(x), state);
    eddy_array *broken = numbers(EDDY_SHAPE(32, 40));
    eddy_array_set(broken, 7, NAN);
    eddy_tensor y = eddy_matmul(x, eddy_constant(g, broken, "broken"));
    eddy_tensor used = constant("used", EDDY_SHAPE(32, 33));
    eddy_tensor both = constant("both", EDDY_SHAPE(32, 34));
    eddy_tensor small = eddy_matmul(x, constant("small", EDDY_SHAPE(32, 3)));
    eddy_tensor fits_in = eddy_matmul(x, used), twice = eddy_matmul(x, both);
    eddy_tensor all[] = { y, small, fits_in, Add(twice, Sum(both)), eddy_conv2d(image, filter),
                          constant("given", EDDY_SHAPE(32, 35)), state[0] };
    eddy_graph *model = eddy_extract((eddy_list){ 7, all }, .quantize = true, .quantized = &report,
                                     .error = &e);
    ck_assert_msg(model, "%s %s", eddy_graph_message(g), e.message);
    ck_assert_int_eq(report.n_quantized, 1);
    ck_assert_int_eq(report.n_left, 5);
    golden_begin("session/extract_quantized");
    golden_line(report.text);
    golden_end();
    eddy_string_free(report.text);
    eddy_array_free(broken);
    eddy_graph_free(model);
}
END_TEST

/* ------------------------------------------------------------- checkpoints -- */

/* Variables of 8-bit values take a byte for each weight in a checkpoint, and another session
 * computes the same with them. */
START_TEST(checkpoint)
{
    enum { K = 64, N = 96 };
    static memory_files files;
    memory_files_init(&files);
    eddy_graph  *own = eddy_graph_new(.files = &files.table);
    eddy_array  *rows = numbers(EDDY_SHAPE(3, K)), *matrix_of = numbers(EDDY_SHAPE(K, N));
    eddy_tensor  both = eddy_quantize(eddy_constant(own, matrix_of));
    eddy_tensor  values = eddy_variable(own, both, .name = "values");
    eddy_tensor  scales = eddy_variable(own, eddy_output(both, 1), .name = "scales");
    eddy_tensor  y = eddy_quantized_matmul(eddy_constant(own, rows), values, scales);
    eddy_session *first = eddy_session_new(own), *second = eddy_session_new(own);
    runs(first, eddy_initializer(own));
    ck_assert_int_eq(eddy_save(first, "model", (eddy_list){ 0 }), EDDY_OK);
    const size_t size = memory_files_get(&files, "model")->size;
    ck_assert_uint_ge(size, K * N + 4 * N);
    ck_assert_uint_lt(size, K * N + 4 * N + 2000);
    ck_assert_int_eq(eddy_restore(second, "model", (eddy_list){ 0 }), EDDY_OK);
    eddy_array *want = eddy_fetch(first, y), *got = eddy_fetch(second, y);
    ck_assert_msg(want && got, "%s", eddy_session_message(second));
    ck_assert(eddy_array_equal(want, got));
    eddy_array_free(want);
    eddy_array_free(got);
    eddy_array_free(rows);
    eddy_array_free(matrix_of);
    eddy_session_free(first);
    eddy_session_free(second);
    eddy_graph_free(own);
    memory_files_free(&files);
}
END_TEST

Suite *extract_quantized_suite(void)
{
    Suite *suite = suite_create("extract_quantized");
    TCase *t = tcase_create("extract_quantized"), *many = tcase_create("groups");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_checked_fixture(many, setup, teardown);
    tcase_set_tags(many, "many");
    tcase_add_loop_test(t, transformer_loss, 0, 1);
    tcase_add_loop_test(many, transformer_loss, 1, 2);
    tcase_add_test(t, uses);
    tcase_add_test(t, rows_without_a_group);
    tcase_add_test(t, what_stays);
    tcase_add_test(t, checkpoint);
    suite_add_tcase(suite, t);
    suite_add_tcase(suite, many);
    return suite;
}
