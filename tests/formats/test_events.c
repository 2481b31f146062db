/* test_events.c -- event files, read back by formats/wire.h and, where Python's protobuf is
 * installed, by tests/formats/read_events.py, which shares nothing with Eddy. */
#include "formats/checksum.h"
#include "formats/events.h"
#include "tests/lib/golden.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

Suite *events_suite(void);

static char         folder[64], run[100];
static eddy_graph   *g;
static eddy_session *s;
static eddy_events  *w;

static void setup(void)
{
    snprintf(folder, sizeof folder, "/tmp/eddy-events-%s", "XX" "XX" "XX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(run, sizeof run, "%s/logs/run 1", folder);
    g = eddy_graph_new();
    s = eddy_session_new(g, .profile = true);
    w = eddy_events_new(run);
    ck_assert_int_eq(eddy_events_status(w), EDDY_OK);
}

static void teardown(void)
{
    char command[200];
    eddy_session_free(s);
    eddy_graph_free(g);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

/* Ends the file and returns its bytes. */
static wire_bytes close_and_read(void)
{
    eddy_error e = { 0 };
    char       path[4096];
    snprintf(path, sizeof path, "%s", eddy_events_path(w));
    ck_assert_msg(eddy_events_close(w, &e) == EDDY_OK, "%s", e.message);
    FILE    *from = fopen(path, "rb");
    uint8_t *at = malloc(1 << 22);
    ck_assert_ptr_nonnull(from);
    const size_t n = fread(at, 1, 1 << 22, from);
    fclose(from);
    return (wire_bytes){ at, n };
}

static uint64_t whole(const uint8_t *p, int n)
{
    uint64_t v = 0;
    for (int i = 0; i < n; i++) v |= (uint64_t)p[i] << 8 * i;
    return v;
}

/* The event of the next record, whose checksums are right. */
static bool next_event(wire_bytes *b, wire *event)
{
    if (b->size == 0) return false;
    ck_assert_uint_ge(b->size, 16);
    ck_assert_uint_le(whole(b->at, 8), b->size - 16);
    const size_t n = (size_t)whole(b->at, 8);
    for (int k = 0; k < 2; k++) {
        const wire_bytes part = k ? (wire_bytes){ b->at + 12, n } : (wire_bytes){ b->at, 8 };
        const uint32_t   crc = eddy__file_crc32c(part), sum = (crc >> 15 | crc << 17) + 0xa282ead8u;
        ck_assert_uint_eq(whole(part.at + part.size, 4), sum);
    }
    *event = eddy__wire_of((wire_bytes){ b->at + 12, n });
    *b = (wire_bytes){ b->at + 16 + n, b->size - 16 - n };
    return true;
}

/* Records with the right checksums, a step and a number. */
START_TEST(scalars)
{
    wire       event;
    wire_field f, inner, value;
    eddy_events_scalar(w, "loss", 7, 0.25);
    eddy_events_scalar(w, "nan", 8, NAN);
    const wire_bytes all = close_and_read();
    wire_bytes       left = all;
    ck_assert(next_event(&left, &event));
    bool version = false;
    while (eddy__wire_next(&event, &f))
        version = version || (f.number == 3 && f.bytes.size == 13 &&
                              memcmp(f.bytes.at, "brain.Event:2", 13) == 0);
    ck_assert(next_event(&left, &event));
    ck_assert(version);
    int64_t step = 0;
    float   number_of = 0;
    while (eddy__wire_next(&event, &f)) {
        if (f.number == 2) step = (int64_t)f.value;
        if (f.number != 5) continue;
        wire summary = eddy__wire_enter(&event, &f);
        while (eddy__wire_next(&summary, &inner)) {
            wire v = eddy__wire_enter(&summary, &inner);
            while (eddy__wire_next(&v, &value))
                if (value.number == 2) number_of = eddy__wire_float(value.value);
        }
    }
    ck_assert_int_eq(step, 7);
    ck_assert_float_eq(number_of, 0.25f);
    ck_assert(next_event(&left, &event));
    ck_assert(!next_event(&left, &event));
    free((void *)(uintptr_t)all.at);
}
END_TEST

/* ------------------------------------------------------ an independent reader -- */

/* The output of the Python program; NULL where Python's protobuf is not installed. */
static char *read_by_python(void)
{
    eddy_error e = { 0 };
    char       command[9000];
    snprintf(command, sizeof command, "/usr/bin/python3 tests/formats/read_events.py '%s'",
             eddy_events_path(w));
    ck_assert_msg(eddy_events_close(w, &e) == EDDY_OK, "%s", e.message);
    if (system("/usr/bin/python3 -c 'import google.protobuf' 2>/dev/null") != 0) return NULL;
    FILE *from = popen(command, "r");
    char *text = calloc(1, 1 << 20);
    ck_assert_ptr_nonnull(from);
    ck_assert_uint_gt(fread(text, 1, (1 << 20) - 1, from), 0);
    ck_assert_int_eq(pclose(from), 0);
    return text;
}

static void contains(const char *text, const char *what)
{
    ck_assert_msg(strstr(text, what) != NULL, "no %s in\n%s", what, text);
}

static void write_values(void)
{
    eddy_array *image = eddy_array_new(EDDY_UINT8, EDDY_SHAPE(2, 3, 1));
    eddy_array *two = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(2, 1, 1, 3));
    for (int i = 0; i < 6; i++) eddy_array_set(image, i, 40 * i);
    eddy_array_set(two, 0, 2), eddy_array_set(two, 4, 0.5), eddy_array_set(two, 5, -1);
    eddy_events_histogram(w, "h", 3, EDDY_FLOATS(1, 2, 2, -0.5f, 0, NAN, INFINITY));
    eddy_events_histogram(w, "none", 3, EDDY_FLOATS(NAN));
    eddy_events_image(w, "grey", 4, image, 5);
    eddy_events_image(w, "colors", 4, two, 5);
    eddy_events_text(w, "notes", 5, "**bold** \xc3\xa9");
    eddy_events_hparams(w, (eddy_hparam[]){ { "rate", 0.1, NULL }, { "optimizer", 0, "adam" } }, 2,
                        (const char *[]){ "loss" }, 1);
    eddy_array_free(image);
    eddy_array_free(two);
}

START_TEST(values)
{
    write_values();
    char *text = read_by_python();
    if (!text) return;
    contains(text, "\"file_version\": \"brain.Event:2\"");
    contains(text,
             "\"max\": 2.0, \"min\": -0.5, \"num\": 5.0, \"sum\": 4.5, \"sum_squares\": 9.25");
    contains(text, "\"height\": 2, \"pixels\": [[0, 40, 80], [120, 160, 200]], \"width\": 3");
    contains(text, "\"pixels\": [[255, 0, 0]], \"width\": 1}, \"tag\": \"colors/image/0\"");
    contains(text, "\"pixels\": [[0, 128, 0]], \"width\": 1}, \"tag\": \"colors/image/1\"");
    contains(text, "\"plugin_name\": \"text\"");
    contains(text, "\"string_val\": [\"**bold** \\u00e9\"]");
    contains(text, "{\"name\": \"optimizer\", \"type\": 1}");
    contains(text, "\"metric_infos\": [{\"name\": {\"tag\": \"loss\"}}]");
    contains(text, "{\"key\": \"rate\", \"value\": {\"number_value\": 0.1}}");
    contains(text, "\"tag\": \"_hparams_/session_start_info\"");
    free(text);
}
END_TEST

/* The graph, the times of its nodes, and summaries in every second step. */
START_TEST(graphs_and_runs)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 2)), y, loss;
    EDDY_SCOPE(g, "layer")
    y = eddy_named("y", eddy_matmul(x, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2, 2))));
    EDDY_SCOPE(g, "train") loss = eddy_summary_scalar("loss", eddy_mean(y));
    eddy_summary_histogram("values", y);
    eddy_events_graph(w, g);
    eddy_array *out = NULL;
    for (int64_t step = 0; step < 4; step++)
        ck_assert_int_eq(
            eddy_events_run(w, s, EDDY_FEED({ x, EDDY_SHAPED(EDDY_FLOATS(1, (float)step), 1, 2) }),
                            EDDY_FETCH(loss), &out, .step = step, .every = 2),
            EDDY_OK);
    ck_assert_double_eq(eddy_array_item(out), 4);
    eddy_array_free(out);
    eddy_events_profile(w, "runs", 3, s);
    ck_assert_msg(eddy_events_status(w) == EDDY_OK, "%s", eddy_events_message(w));
    char *text = read_by_python();
    if (!text) return;
    contains(text, "\"input\": [\"x\", \"layer/");
    contains(text, "\"name\": \"layer/y\", \"op\": \"MatMul\"");
    contains(text, "{\"key\": \"_output_shapes\", \"value\": {\"list\": {\"shape\": [{\"dim\": "
                   "[{\"size\": \"-1\"}, {\"size\": \"2\"}]}]}}}");
    contains(text,
             "{\"summary\": {\"value\": [{\"simple_value\": 1.0, \"tag\": \"train/loss\"}]}}");
    contains(text, "{\"step\": \"2\", \"summary\": {\"value\": [{\"simple_value\": 3.0, \"tag\": "
                   "\"train/loss\"}]}}");
    ck_assert_ptr_null(strstr(text, "{\"step\": \"1\""));
    contains(text, "\"tag\": \"values\"");
    contains(text, "\"memory\": [{\"allocator_name\": \"cpu\", \"peak_bytes\": \"8\", "
                   "\"total_bytes\": \"8\"}], \"node_name\": \"layer/y\"");
    free(text);
}
END_TEST

/* What is not known is left out. */
START_TEST(performance)
{
    const eddy_tensor v = eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(250)));
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL), EDDY_OK);
    const eddy_memory_info m = eddy_session_memory_info(s);
    const double all = (double)(m.plan_bytes + m.value_bytes + m.run_bytes + m.variable_bytes +
                                m.evaluated_bytes);
    ck_assert(eddy_is_valid(v) && m.variable_bytes >= 1000 && all < 1e6);
    eddy_events_performance(w, 1, s, 125.5);
    eddy_events_performance(w, 2, NULL, 250.5);
    eddy_events_performance(w, 3, NULL, NAN);
    eddy_events_performance(w, 4, NULL, -1);
    eddy_events_performance(NULL, 5, s, 1);
    char *text = read_by_python(), *at;
    if (!text) return;
    contains(text, "{\"step\": \"1\", \"summary\": {\"value\": [{\"simple_value\": 125.5, \"tag\": "
                   "\"performance/examples_per_second\"}]}}");
    contains(text, "{\"step\": \"2\", \"summary\": {\"value\": [{\"simple_value\": 250.5, \"tag\": "
                   "\"performance/examples_per_second\"}]}}");
    contains(text, "\"performance/memory_MB\"");
    at = strstr(text, "\"performance/memory_MB\"");
    while (strncmp(at, "\"simple_value\": ", 16) != 0) at--;
    ck_assert_double_eq_tol(strtod(at + 16, NULL), 1e-6 * all, 2.5e-7 * all * 1e-6);
    ck_assert_ptr_null(strstr(text, "\"step\": \"3\""));
    ck_assert_ptr_null(strstr(text, "\"step\": \"4\""));
    free(text);
}
END_TEST

/* A mark does not change the plan, and has a gradient. */
START_TEST(marks)
{
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(3));
    const eddy_tensor y = eddy_summary_histogram("h", eddy_square(x));
    eddy_array       *dx = eddy_fetch(s, eddy_gradient(eddy_sum(y), x),
                                      EDDY_FEED({ x, EDDY_DOUBLES(1, 2, 3) }));
    for (int i = 0; i < 3; i++) ck_assert_double_eq(eddy_array_get(dx, i), 2 * (i + 1));
    eddy_array_free(dx);
    ck_assert_int_eq(eddy_collection_size(g, EDDY_SUMMARIES), 1);
    eddy_events_close(w, NULL);
}
END_TEST

/* ----------------------------------------------------------------- errors -- */

/* The name of the file is FILE in the golden line. */
static void closes_with(eddy_events *of)
{
    char        path[4096], line[1100];
    eddy_error  e = { 0 };
    snprintf(path, sizeof path, "%s", eddy_events_path(of));
    ck_assert_int_ne(eddy_events_close(of, &e), EDDY_OK);
    const char *at = *path ? strstr(e.message, path) : NULL;
    if (at)
        snprintf(line, sizeof line, "%.*sFILE%s", (int)(at - e.message), e.message,
                 at + strlen(path));
    golden_line(at ? line : e.message);
}

/* A file that may not grow. */
static void write_fails(void)
{
    struct rlimit was;
    getrlimit(RLIMIT_FSIZE, &was);
    signal(SIGXFSZ, SIG_IGN);
    eddy_events *full = eddy_events_new(run);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 100, was.rlim_max });
    for (int i = 0; i < 5; i++) eddy_events_scalar(full, "x", i, 1);
    setrlimit(RLIMIT_FSIZE, &was);
    ck_assert_int_eq(eddy_events_status(full), EDDY_IO);
    closes_with(full);
}

START_TEST(refused)
{
    golden_begin("formats/events");
    closes_with(NULL);
    closes_with(eddy_events_new(NULL));
    closes_with(eddy_events_new("x", .suffix = "a/b"));
    char *long_name = malloc(4000);
    memset(long_name, 'a', 3999);
    long_name[3999] = 0;
    closes_with(eddy_events_new(long_name));
    free(long_name);
    closes_with(eddy_events_new("/dev/null/logs"));
    closes_with(eddy_events_new("/proc/self"));
    write_fails();
    eddy_events_close(w, NULL);
    const eddy_array *pair = EDDY_VIEW(((float _Complex[]){ 1 }), 1);
    eddy_events *other = eddy_events_new(run);
    eddy_events_histogram(other, "h", 0, NULL);
    eddy_events_histogram(other, "h", 0, pair);      /* after the first error nothing counts */
    closes_with(other);
    eddy_events_histogram(other = eddy_events_new(run), "h", 0, pair), closes_with(other);
    eddy_events_image(other = eddy_events_new(run), "i", 0, EDDY_FLOATS(1), 1), closes_with(other);
    eddy_events_image(other = eddy_events_new(run), "i", 0, NULL, 1), closes_with(other);
    eddy_events_image(other = eddy_events_new(run), "i", 0, EDDY_SHAPED(EDDY_INTS(1), 1, 1, 1), 1);
    closes_with(other);
    eddy_events_graph(other = eddy_events_new(run), g), closes_with(other);
    eddy_events_hparams(other = eddy_events_new(run), NULL, 2, NULL, 0), closes_with(other);
    eddy_session *plain = eddy_session_new(g);
    eddy_scalar(g, 1);
    eddy_events_profile(other = eddy_events_new(run), "t", 0, plain), closes_with(other);
    eddy_session_free(plain);
    eddy_summary_scalar("s", eddy_floats(g, 1, 2)), golden_graph(g);
    eddy_summary_image("s", eddy_floats(g, 1, 2), 1), golden_graph(g);
    eddy_events_scalar(NULL, "x", 0, 1);
    ck_assert_int_eq(eddy_events_status(NULL), EDDY_NO_MEMORY);
    ck_assert_str_eq(eddy_events_path(NULL), "");
    golden_end();
}
END_TEST

Suite *events_suite(void)
{
    Suite *suite = suite_create("events");
    TCase *t = tcase_create("events");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, scalars);
    tcase_add_test(t, values);
    tcase_add_test(t, graphs_and_runs);
    tcase_add_test(t, performance);
    tcase_add_test(t, marks);
    tcase_add_test(t, refused);
    suite_add_tcase(suite, t);
    return suite;
}
