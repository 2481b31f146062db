/* test_variable_shapes.c -- a variable's storage, its static shape and the shape that a plan was
 * compiled for remain consistent, whatever a file, a callback or another thread does. */
#include "tests/lib/checks.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

Suite *variable_shapes_suite(void);

static eddy_graph   *g;
static eddy_session *s;

static void setup(void)
{
    g = eddy_graph_new();
    s = NULL;
}

static void teardown(void)
{
    eddy_session_free(s);
    eddy_graph_free(g);
}

static eddy_array *zeros(int64_t n) { return eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(n)); }

/* Runs `t` with x fed with n zeros. */
static eddy_status run_fed(eddy_tensor t, eddy_tensor x, int64_t n)
{
    eddy_array *a = zeros(n);
    eddy_status status = eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(t), NULL);
    eddy_array_free(a);
    return status;
}

/* A vector of any length, and a variable that begins as it and keeps its type open. */
static eddy_tensor open_variable(eddy_tensor *x)
{
    *x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    return eddy_variable(g, *x, .no_validate_shape = true, .name = "v");
}

/* The graph that the text is; NULL if it is refused. */
static eddy_graph *read_text(const char *text)
{
    memory_files files;
    memory_files_init(&files);
    memory_files_put(&files, "f", text, strlen(text));
    eddy_graph *read = eddy_graph_load("f", .files = &files.table);
    memory_files_free(&files);
    return read;
}

/* The text with `given` in place of `taken`, where it occurs for the `which`th time or,
 * if that is negative, everywhere; NULL if there is no such place.  For free. */
static char *replaced(const char *text, const char *taken, const char *given, int which)
{
    char  *made = NULL;
    size_t size = 0;
    int    n = 0, done = 0;
    FILE  *out = open_memstream(&made, &size);
    ck_assert_ptr_nonnull(out);
    for (const char *at = text, *next; *at; at = next) {
        const char *found = strstr(at, taken);
        const bool  here = found && (which < 0 || n++ == which);
        next = found ? found + strlen(taken) : at + strlen(at);
        fprintf(out, "%.*s%s", (int)((here ? found : next) - at), at, here ? given : "");
        done += here;
    }
    fclose(out);
    if (done > 0) return made;
    free(made);
    return NULL;
}

/* The graph through a file in which every assign takes any shape. */
static void reload_free(void)
{
    char *yaml = eddy_graph_to_yaml(g);
    ck_assert_ptr_nonnull(yaml);
    char *text = replaced(yaml, "validate_shape: true", "validate_shape: false", -1);
    eddy_string_free(yaml);
    eddy_graph_free(g);
    g = text ? read_text(text) : NULL;
    ck_assert_ptr_nonnull(g);
    free(text);
    s = eddy_session_new(g);
}

/* ---------------------------------------------------- one shape for all three -- */

START_TEST(a_file_cannot_overrun_a_variable)
{
    eddy_tensor v = eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(3)), .name = "v");
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE);
    eddy_named("grow", eddy_assign(v, x));
    reload_free();
    const eddy_tensor grow = eddy_graph_operation(g, "grow");
    x = eddy_graph_tensor(g, "x:0");
    ck_assert_int_eq(run_fed(grow, x, 1000), EDDY_BAD_SHAPE);
    ck_assert_str_eq(eddy_session_message(s),
                     "Assign(float32[3], float32[1000]): output 0 has shape [1000], which is not "
                     "compatible with its static shape [3] [node 'grow']");
    ck_assert_int_eq(run_fed(grow, x, 3), EDDY_OK);
    eddy_array *a = zeros(1000);
    ck_assert_int_eq(eddy_eval_set_in(s, x, a), EDDY_OK);
    ck_assert_ptr_null(eddy_eval_in(s, grow));
    ck_assert_int_eq(eddy_session_status(s), EDDY_BAD_SHAPE);
    eddy_array_free(a);
}
END_TEST

START_TEST(a_narrowed_variable_is_not_overrun)
{
    eddy_tensor x, v = open_variable(&x), init = eddy_initializer(g);
    eddy_set_shape(v, EDDY_SHAPE(3));
    s = eddy_session_new(g);
    ck_assert_int_eq(run_fed(init, x, 1000), EDDY_BAD_SHAPE);
    ck_assert_int_eq(run_fed(init, x, 3), EDDY_OK);
}
END_TEST

START_TEST(a_value_of_another_shape_is_not_read)
{
    eddy_tensor x, v = open_variable(&x), sum = eddy_sum(v), init = eddy_initializer(g);
    s = eddy_session_new(g);
    ck_assert_int_eq(run_fed(init, x, 2), EDDY_OK);
    eddy_set_shape(v, EDDY_SHAPE(3000));
    ck_assert_ptr_null(eddy_fetch(s, sum));
    ck_assert_int_eq(eddy_session_status(s), EDDY_BAD_SHAPE);
    eddy_array *a = zeros(3000);
    ck_assert_int_eq(eddy_variable_set(s, v, a), EDDY_OK);
    eddy_array *y = eddy_fetch(s, sum);
    ck_assert_ptr_nonnull(y);
    eddy_array_free(y);
    eddy_array_free(a);
}
END_TEST

/* Room that was made before there was a value gives way to the shape. */
START_TEST(a_variable_may_be_narrowed_before_it_has_a_value)
{
    eddy_tensor x, v = open_variable(&x), ready = eddy_is_initialized(v);
    eddy_tensor init = eddy_initializer(g);
    s = eddy_session_new(g);
    eddy_array *no = eddy_fetch(s, ready);
    ck_assert(no && eddy_array_item(no) == 0);
    eddy_set_shape(v, EDDY_SHAPE(3));
    ck_assert_int_eq(run_fed(init, x, 3), EDDY_OK);
    eddy_array_free(no);
    no = eddy_fetch(s, ready);
    ck_assert(no && eddy_array_item(no) == 1);
    eddy_array_free(no);
}
END_TEST

START_TEST(a_variable_becomes_itself_in_another_shape)
{
    const float six[] = { 1, 2, 3, 4, 5, 6 };
    eddy_tensor start = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(6), six);
    eddy_tensor v = eddy_variable(g, start, .no_validate_shape = true, .name = "v");
    eddy_named("again", eddy_assign(v, eddy_reshape(v, EDDY_SHAPE(2, 3))));
    eddy_named("init", eddy_initializer(g));
    reload_free();
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_graph_operation(g, "init")), NULL),
                     EDDY_OK);
    eddy_array *y = eddy_fetch(s, eddy_graph_operation(g, "again"));
    ck_assert_msg(y != NULL, "%s", eddy_session_message(s));
    ck_assert(eddy_shape_equal(eddy_array_shape(y), EDDY_SHAPE(2, 3)));
    for (int i = 0; i < 6; i++) ck_assert(eddy_array_get(y, i) == six[i]);
    eddy_array_free(y);
}
END_TEST

/* Runs the graph below as read from a damaged file. */
static void run_damaged(const char *text)
{
    eddy_graph *read = read_text(text);
    if (!read) return;
    eddy_session *runs = eddy_session_new(read);
    const char *const names[] = { "init", "sum", "grow", "sum", "again", "sum" };
    for (int64_t n = 1; n <= 1000; n *= 10)
        for (int i = 0; i < 6; i++) {
            const eddy_tensor x = eddy_graph_tensor(read, "x:0");
            eddy_array *a = zeros(n), *out = NULL;
            eddy_run(runs, EDDY_FEED({ x, a }), EDDY_FETCH(eddy_graph_operation(read, names[i])),
                     &out);
            eddy_array_free(out);
            eddy_array_free(a);
            eddy_graph_clear_error(read);
        }
    eddy_session_free(runs);
    eddy_graph_free(read);
}

/* Every attribute and every output that contains a shape, one at a time. */
START_TEST(damaged_shapes_are_refused_or_run)
{
    static const char *const change[][2] = {
        { "validate_shape: true", "validate_shape: false" }, { "[3]", "[?]" }, { "[3]", "[4]" },
        { "[3]", "[3000]" }, { "[?]", "[3]" }, { "[?]", "[1]" }, { "float32[3]", "float32?" },
        { "float32?", "float32[3]" }, { "\"?\"", "\"[3]\"" }, { "\"[3]\"", "\"?\"" },
        { "float32[]", "float32[3]" },
    };
    const int rows = (int)(sizeof change / sizeof *change);
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor v = eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(3)), .name = "v");
    eddy_tensor w = eddy_variable(g, x, .no_validate_shape = true, .name = "w");
    eddy_named("grow", eddy_group(g, EDDY_LIST(eddy_assign(v, x), eddy_assign(w, x)), NULL));
    eddy_named("again", eddy_group(g, EDDY_LIST(eddy_assign(v, w), eddy_assign(w, Neg(w))), NULL));
    eddy_named("sum", Add(eddy_sum(v), eddy_sum(w)));
    eddy_named("init", eddy_initializer(g));
    fits(g);
    char *whole = eddy_graph_to_yaml(g);
    run_damaged(whole);
    for (int free_shapes = 0; free_shapes < 2; free_shapes++) {
        char *text = replaced(whole, change[0][0], change[0][free_shapes], -1), *bad;
        for (int i = 0; i < rows; i++)
            for (int k = 0; (bad = replaced(text, change[i][0], change[i][1], k)); k++) {
                run_damaged(bad);
                free(bad);
            }
        free(text);
    }
    eddy_string_free(whole);
}
END_TEST

/* ------------------------------------------------------ threads and callbacks -- */

static eddy_tensor  sum_of_v;
static pthread_t    reader_thread;
static bool         armed;

static void *reader(void *unused)
{
    (void)unused;
    for (int i = 0; i < 20; i++) eddy_array_free(eddy_fetch(s, sum_of_v));
    return NULL;
}

/* Starts a reader while the run that changes the variable's shape is under way. */
static void start_reader(void *user, const char *line)
{
    (void)user, (void)line;
    if (!armed) return;
    armed = false;
    ck_assert_int_eq(pthread_create(&reader_thread, NULL, reader, NULL), 0);
    const struct timespec while_it_waits = { .tv_nsec = 50000000 };
    nanosleep(&while_it_waits, NULL);
}

START_TEST(a_shape_may_change_while_a_reader_waits)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor v = eddy_variable(g, eddy_print(x, .write = start_reader),
                                  .no_validate_shape = true, .name = "v");
    eddy_tensor init = eddy_initializer(g);
    sum_of_v = eddy_sum(v);
    s = eddy_session_new(g);
    ck_assert_int_eq(run_fed(init, x, 200000), EDDY_OK);
    eddy_array_free(eddy_fetch(s, sum_of_v));
    armed = true;
    ck_assert_int_eq(run_fed(init, x, 1), EDDY_OK);
    pthread_join(reader_thread, NULL);
    ck_assert_int_eq(eddy_session_status(s), EDDY_OK);
}
END_TEST

/* One thread changes the shape, another reads: whole values, never two halves. */
START_TEST(shapes_change_between_runs)
{
    eddy_tensor x, v = open_variable(&x), init = eddy_initializer(g);
    eddy_array *some[2] = { zeros(1), zeros(5000) };
    sum_of_v = eddy_sum(v);
    s = eddy_session_new(g);
    ck_assert_int_eq(run_fed(init, x, 7), EDDY_OK);
    ck_assert_int_eq(pthread_create(&reader_thread, NULL, reader, NULL), 0);
    for (int i = 0; i < 40; i++) ck_assert_int_eq(eddy_variable_set(s, v, some[i % 2]), EDDY_OK);
    pthread_join(reader_thread, NULL);
    ck_assert_int_eq(eddy_session_status(s), EDDY_OK);
    eddy_array_free(some[0]);
    eddy_array_free(some[1]);
}
END_TEST

static eddy_callable *calls;
static eddy_tensor    the_variable;

/* Every call that would wait for the run that it is made from. */
static void use_the_session(void *user, const char *line)
{
    (void)user, (void)line;
    eddy_array *one = eddy_array_of(EDDY_FLOAT32, 1);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(sum_of_v), NULL), EDDY_INVALID_ARGUMENT);
    golden_line(eddy_session_message(s));
    ck_assert_int_eq(eddy_callable_run(calls, NULL, NULL), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(eddy_variable_set(s, the_variable, one), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(eddy_save(s, "/nowhere/x", EDDY_LIST()), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(eddy_restore(s, "/nowhere/x", EDDY_LIST()), EDDY_INVALID_ARGUMENT);
    ck_assert_ptr_null(eddy_variable_value(s, the_variable));
    ck_assert_ptr_null(eddy_callable_new(s, EDDY_LIST(), EDDY_LIST(sum_of_v)));
    ck_assert_ptr_null(eddy_eval_in(s, sum_of_v));
    ck_assert_int_gt(eddy_session_plan_info(s).instructions, 0);
    eddy_callable_free(calls);
    eddy_session_free(s);
    eddy_array_free(one);
}

START_TEST(a_callback_cannot_use_its_session)
{
    eddy_tensor v = eddy_variable(g, eddy_scalar(g, 2), .name = "v");
    the_variable = v;
    sum_of_v = eddy_sum(v);
    eddy_tensor loud = eddy_print(Mul(v, 3), .write = use_the_session);
    eddy_tensor init = eddy_initializer(g);
    s = eddy_session_new(g);
    calls = eddy_callable_new(s, EDDY_LIST(), EDDY_LIST(sum_of_v));
    golden_begin("session/variable_shapes");
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(init), NULL), EDDY_OK);
    eddy_array *y = eddy_fetch(s, loud);
    ck_assert(y && eddy_array_item(y) == 6);
    eddy_array_free(y);
    ck_assert_int_eq(eddy_callable_run(calls, NULL, NULL), EDDY_OK);
    golden_end();
}
END_TEST

static void *fail_and_ask(void *tensor)
{
    for (int i = 0; i < 100; i++) {
        eddy_array_free(eddy_fetch(s, *(const eddy_tensor *)tensor));
        ck_assert_int_eq(eddy_session_status(s), EDDY_NOT_FED);
        ck_assert_ptr_nonnull(strstr(eddy_session_message(s), "You must feed a value"));
        (void)eddy_session_plan_info(s).plans;
    }
    return NULL;
}

START_TEST(a_message_is_whole_in_every_thread)
{
    pthread_t   threads[2];
    eddy_tensor y = eddy_exp(eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SCALAR));
    s = eddy_session_new(g);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, fail_and_ask, &y), 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}
END_TEST

/* ------------------------------------------------------- values and types only -- */

START_TEST(what_only_lends_its_shape_is_not_computed)
{
    const int32_t ones[2] = { 1, 1 }, none[2] = { 0, 0 };
    eddy_tensor one = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), ones);
    eddy_tensor bad = Div(one, eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), none));
    s = eddy_session_new(g);
    eddy_array *y = eddy_fetch(s, eddy_zeros_like(bad));
    ck_assert_msg(y != NULL, "%s", eddy_session_message(s));
    eddy_array_free(y);
    ck_assert_ptr_null(eddy_fetch(s, bad));
}
END_TEST

START_TEST(shapes_follow_from_fed_integers)
{
    eddy_tensor n = eddy_placeholder(g, "n", EDDY_INT32, EDDY_SCALAR);
    eddy_tensor y = eddy_range(eddy_number(g, EDDY_INT32, 0), Add(Mul(n, 2), 1),
                               eddy_number(g, EDDY_INT32, 1));
    s = eddy_session_new(g);
    for (int i = 3; i > 0; i--) {
        eddy_array *a = eddy_array_of(EDDY_INT32, i), *out = NULL;
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ n, a }), EDDY_FETCH(y), &out), EDDY_OK);
        ck_assert_int_eq(eddy_array_count(out), 2 * i + 1);
        ck_assert(eddy_array_get(out, 2 * i) == 2 * i);
        eddy_array_free(out);
        eddy_array_free(a);
    }
}
END_TEST

Suite *variable_shapes_suite(void)
{
    const TTest *const tests[] = {
        a_file_cannot_overrun_a_variable, a_narrowed_variable_is_not_overrun,
        a_value_of_another_shape_is_not_read, a_variable_may_be_narrowed_before_it_has_a_value,
        a_variable_becomes_itself_in_another_shape, damaged_shapes_are_refused_or_run,
        a_callback_cannot_use_its_session,
        what_only_lends_its_shape_is_not_computed, shapes_follow_from_fed_integers,
    };
    Suite *suite = suite_create("variable_shapes");
    TCase *c = tcase_create("variable_shapes"), *threads = tcase_create("threads");
    tcase_add_checked_fixture(c, setup, teardown);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(c, tests[i]);
    suite_add_tcase(suite, c);
    tcase_set_tags(threads, "threads");
    tcase_add_checked_fixture(threads, setup, teardown);
    tcase_add_test(threads, a_shape_may_change_while_a_reader_waits);
    tcase_add_test(threads, shapes_change_between_runs);
    tcase_add_test(threads, a_message_is_whole_in_every_thread);
    suite_add_tcase(suite, threads);
    return suite;
}
