/* test_training_report.c -- reports of trainings: what their data say, read back by formats/json.h,
 * and event files that are damaged. */
#include "formats/events.h"
#include "formats/json.h"
#include "tests/lib/golden.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

Suite *training_report_suite(void);

static char         folder[64], logs[100], page[100];
static eddy_events *w;
static char        *text;               /* of the page */
static region       memory;

static void setup(void)
{
    snprintf(folder, sizeof folder, "/tmp/eddy-report-%s", "XX" "XX" "XX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(logs, sizeof logs, "%s/logs", folder);
    snprintf(page, sizeof page, "%s/report.html", folder);
    w = eddy_events_new(logs);
    ck_assert_int_eq(eddy_events_status(w), EDDY_OK);
}

static void teardown(void)
{
    char command[200];
    free(text);
    text = NULL;
    eddy__region_free(&memory);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static void close_events(void)
{
    eddy_error e = { 0 };
    ck_assert_msg(eddy_events_close(w, &e) == EDDY_OK, "%s", e.message);
}

static char *whole_file(const char *path, size_t *size)
{
    FILE *from = fopen(path, "rb");
    char *at = malloc(1 << 24);
    ck_assert_ptr_nonnull(from);
    ck_assert_ptr_nonnull(at);
    *size = fread(at, 1, (1 << 24) - 1, from);
    at[*size] = 0;
    fclose(from);
    return at;
}

/* Writes the report and returns its data. */
static const json *report(void)
{
    eddy_error e = { 0 };
    size_t     size, at;
    eddy__region_free(&memory);
    memory = (region){ 0 };
    free(text);
    ck_assert_msg(eddy_events_report(logs, page, "a title", &e) == EDDY_OK, "%s", e.message);
    text = whole_file(page, &size);
    char *begin = strstr(text, "id=\"data\">\n");
    ck_assert_ptr_nonnull(begin);
    begin += strlen("id=\"data\">\n");
    char *end = strstr(begin, "\n</script>");
    ck_assert_ptr_nonnull(end);
    const json *v =
        eddy__json_parse(&memory, (wire_bytes){ (uint8_t *)begin, (size_t)(end - begin) }, &at);
    ck_assert_msg(v != NULL, "damaged JSON at %zu", at);
    return v;
}

static const json *item(const json *list, size_t i)
{
    ck_assert_ptr_nonnull(list);
    ck_assert_uint_lt(i, list->count);
    const json *v = eddy__json_items(list);
    while (i-- > 0) v = v->next;
    return v;
}
static double number_at(const json *list, size_t i) { return item(list, i)->number; }

/* The points of series i of a kind, which has this tag. */
static const json *points(const json *data, const char *kind, size_t i, const char *tag)
{
    const json *s = item(eddy__json_get(data, kind), i);
    ck_assert_str_eq(eddy__json_text(eddy__json_get(s, "tag"), ""), tag);
    return eddy__json_get(s, "points");
}

/* ----------------------------------------------------------------- contents -- */

START_TEST(scalars)
{
    for (int i = 0; i < 5; i++)
        eddy_events_scalar(w, "loss", 10 * i, i == 3 ? (double)NAN : 1.5 / (i + 1));
    eddy_events_scalar(w, "rate", 40, 0.25);
    close_events();
    const json *data = report(), *loss = points(data, "scalars", 0, "loss");
    ck_assert_str_eq(eddy__json_text(eddy__json_get(data, "title"), ""), "a title");
    ck_assert_uint_eq(loss->count, 5);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_double_eq(number_at(item(loss, i), 0), 10. * (double)i);
        if (i == 3) ck_assert_int_eq(item(item(loss, i), 2)->kind, JSON_NULL);
        else ck_assert_double_eq(number_at(item(loss, i), 2), (double)(1.5f / (float)(i + 1)));
    }
    ck_assert_double_eq(number_at(item(points(data, "scalars", 1, "rate"), 0), 2), 0.25);
    const json *run = item(eddy__json_get(data, "runs"), 0);
    ck_assert_str_eq(eddy__json_text(eddy__json_get(run, "name"), ""), ".");
    ck_assert_double_eq(eddy__json_get(run, "steps")->number, 40);
    ck_assert_uint_eq(eddy__json_get(data, "notes")->count, 0);
}
END_TEST

/* Of many points a part is kept, with the largest and the smallest. */
START_TEST(many_points)
{
    enum { MANY = 30000 };
    for (int i = 0; i < MANY; i++)
        eddy_events_scalar(w, "loss", i, i == 12345 ? 99 : i == 777 ? -99 : sin(i));
    for (int i = 0; i < MANY; i++) eddy_events_scalar(w, "rate", i, 0.5);
    close_events();
    const json *data = report(), *loss = points(data, "scalars", 0, "loss");
    ck_assert_uint_eq(points(data, "scalars", 1, "rate")->count, 1001);     /* one of equal ones */
    double      low = 0, high = 0, before = -1;
    ck_assert_uint_le(loss->count, 2001);
    ck_assert_uint_gt(loss->count, 1900);
    for (const json *p = eddy__json_items(loss); p; p = p->next) {
        low = fmin(low, number_at(p, 2));
        high = fmax(high, number_at(p, 2));
        ck_assert_double_ge(number_at(p, 0), before);
        before = number_at(p, 0);
    }
    ck_assert_double_eq(low, -99);
    ck_assert_double_eq(high, 99);
    ck_assert_double_eq(before, MANY - 1);
}
END_TEST

/* The bins of all steps span all values and contain them all. */
START_TEST(histograms)
{
    enum { N = 500 };
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(N));
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < N; i++) eddy_array_set(a, i, (step + 1) * sin(i) + (i == 0 ? -4 : 0));
        eddy_events_histogram(w, "weights", step, a);
    }
    for (int i = 0; i < N; i++) eddy_array_set(a, i, 0);
    eddy_events_histogram(w, "zeros", 0, a);
    eddy_array_free(a);
    close_events();
    const json *data = report(), *list = points(data, "histograms", 0, "weights");
    ck_assert_uint_eq(list->count, 3);
    for (size_t i = 0; i < 3; i++) {
        const json *bins = item(item(list, i), 3);
        double      sum = 0, mean = 0, low = number_at(item(list, i), 1),
               high = number_at(item(list, i), 2);
        ck_assert_double_eq(low, -4);
        ck_assert(high > 2.9 && high <= 3);
        ck_assert_uint_eq(bins->count, 40);
        for (size_t k = 0; k < 40; k++) {
            sum += number_at(bins, k);
            mean += number_at(bins, k) * (low + ((double)k + 0.5) * (high - low) / 40);
        }
        ck_assert_double_lt(fabs(sum - N), 0.5);
        ck_assert_double_lt(fabs(mean / N), 0.1);       /* that of the values is below 0.02 */
    }
    const json *zeros = item(item(points(data, "histograms", 1, "zeros"), 0), 3);
    ck_assert_double_lt(fabs(number_at(zeros, 0) - N), 0.5);
}
END_TEST

START_TEST(images_and_tables)
{
    static const char *const names[] = { "cat", "d|g" };
    eddy_array *a = eddy_array_new(EDDY_UINT8, EDDY_SHAPE(2, 3, 1));
    eddy_array *m = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(2, 2), (int32_t[]){ 5, 1, 0, 7 });
    eddy_events_image(w, "input", 4, a, 1);
    eddy_events_text(w, "note", 4, "a line");
    eddy_events_table(w, "confusion", 4, m, names, NULL);
    eddy_array_free(a);
    eddy_array_free(m);
    close_events();
    const json *data = report(), *image = item(points(data, "images", 0, "input/image"), 0);
    ck_assert_int_eq(strncmp(eddy__json_text(item(image, 1), ""), "iVBORw0KGgo", 11), 0); /* PNG */
    ck_assert_str_eq(eddy__json_text(item(item(points(data, "texts", 0, "note"), 0), 1), ""),
                     "a line");
    ck_assert_str_eq(eddy__json_text(item(item(points(data, "texts", 1, "confusion"), 0), 1), ""),
                     "| | 0 | 1 |\n|---|---:|---:|\n| cat | 5 | 1 |\n| d/g | 0 | 7 |\n");
}
END_TEST

START_TEST(graph_and_times)
{
    eddy_graph  *g = eddy_graph_new();
    eddy_tensor  x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 3));
    eddy_tensor  y = eddy_sum(eddy_square(x));
    eddy_session *s = eddy_session_new(g, .profile = true);
    eddy_array  *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(2, 3)), *out[1] = { NULL };
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(y), out), EDDY_OK);
    eddy_events_graph(w, g);
    eddy_events_profile(w, "run", 1, s);
    eddy_events_hparams(w, (eddy_hparam[]){ { "rate", 0.5, NULL }, { "rule", 0, "adam" } }, 2, NULL,
                        0);
    close_events();
    eddy_array_free(a);
    eddy_array_free(out[0]);
    eddy_session_free(s);
    eddy_graph_free(g);
    const json *data = report(), *run = item(eddy__json_get(data, "runs"), 0);
    const json *nodes = eddy__json_get(run, "graph"), *pairs = eddy__json_get(run, "hparams");
    ck_assert_str_eq(eddy__json_text(item(item(nodes, 0), 0), ""), "x");
    ck_assert_str_eq(eddy__json_text(item(item(nodes, 0), 2), ""), "[?,3]");
    ck_assert_str_eq(eddy__json_text(item(item(nodes, 1), 0), ""), "Square");
    ck_assert_str_eq(eddy__json_text(item(item(nodes, 1), 3), ""), "x");
    ck_assert_str_eq(eddy__json_text(item(item(nodes, 2), 2), ""), "[]");
    ck_assert_double_eq(number_at(item(pairs, 0), 1), 0.5);
    ck_assert_str_eq(eddy__json_text(item(item(pairs, 1), 1), ""), "adam");
    const json *times = item(points(data, "profiles", 0, "run"), 0);
    ck_assert_double_gt(number_at(times, 0), 0);
    ck_assert_uint_ge(times->count, 2);
}
END_TEST

/* A summary of each pair: the norm of the gradient, and how much a step changes the variable. */
START_TEST(training_summary)
{
    eddy_graph  *g = eddy_graph_new();
    eddy_tensor  v = eddy_variable(g, .initial_value = eddy_floats(g, 3, 4), .name = "v");
    eddy_optimizer    *o = eddy_gradient_descent(g, eddy_scalar(g, 0.125));
    eddy_gradient_pair p[1];
    const int    n = eddy_compute_gradients(o, eddy_sum(eddy_square(v)), p, 1);
    eddy_tensor  train = eddy_apply_gradients(o, p, n);
    eddy_summary_training(train, p, n);
    eddy_session *s = eddy_session_new(g);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL), EDDY_OK);
    for (int i = 1; i <= 2; i++)
        ck_assert_int_eq(eddy_events_run(w, s, EDDY_FEED(), EDDY_FETCH(train), NULL, .step = i),
                         EDDY_OK);
    close_events();
    eddy_session_free(s);
    eddy_graph_free(g);
    const json *data = report(), *norm = points(data, "scalars", 0, "gradient_norm/v");
    const json *ratio = points(data, "scalars", 1, "update_ratio/v");
    for (size_t i = 0; i < 2; i++) { /* v shrinks by a quarter in each step */
        ck_assert_double_lt(fabs(number_at(item(norm, i), 2) - 10 * pow(0.75, (double)i)), 1e-5);
        ck_assert_double_lt(fabs(number_at(item(ratio, i), 2) - 0.25), 1e-6);
    }
}
END_TEST

/* Each folder with event files is a run, whatever its files are called. */
START_TEST(several_runs)
{
    char        name[200];
    eddy_events_scalar(w, "loss", 1, 1);
    close_events();
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s/run %d", logs, i % 2);
        w = eddy_events_new(name);
        eddy_events_scalar(w, "loss", i, i);
        close_events();
    }
    const json *data = report(), *runs = eddy__json_get(data, "runs");
    ck_assert_uint_eq(runs->count, 3);
    ck_assert_uint_eq(eddy__json_get(data, "scalars")->count, 3);
    size_t all = 0;
    for (size_t i = 0; i < 3; i++) all += points(data, "scalars", i, "loss")->count;
    ck_assert_uint_eq(all, 4);
}
END_TEST

/* A run that is resumed from a checkpoint writes the steps after it again, in another file: those
 * of the first try are left out of that series. Steps that go back within a file are kept. */
START_TEST(resumed_run)
{
    for (int i = 0; i < 6; i++) eddy_events_scalar(w, "loss", i, 100 + i);
    eddy_events_scalar(w, "once", 5, 1);
    close_events();
    w = eddy_events_new(logs);
    for (int i = 3; i < 5; i++) eddy_events_scalar(w, "loss", i, 200 + i);
    eddy_events_scalar(w, "rate", 9, 1);
    eddy_events_scalar(w, "rate", 8, 2);
    close_events();
    const double steps[] = { 0, 1, 2, 3, 4 }, values[] = { 100, 101, 102, 203, 204 };
    const json  *data = report(), *loss = points(data, "scalars", 0, "loss");
    ck_assert_uint_eq(loss->count, 5);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_double_eq(number_at(item(loss, i), 0), steps[i]);
        ck_assert_double_eq(number_at(item(loss, i), 2), values[i]);
    }
    ck_assert_uint_eq(points(data, "scalars", 1, "once")->count, 1);
    ck_assert_uint_eq(points(data, "scalars", 2, "rate")->count, 2);
}
END_TEST

/* ------------------------------------------------------------------ folders -- */

static void put_file(const char *name)
{
    FILE *f = fopen(name, "wb");
    ck_assert_ptr_nonnull(f);
    fclose(f);
}

static size_t runs_of_report(void) { return eddy__json_get(report(), "runs")->count; }

static const char *name_of(const json *runs, size_t i)
{
    return eddy__json_text(eddy__json_get(item(runs, i), "name"), "");
}

/* Other files, links, and folders that are too deep, are left out. */
START_TEST(what_is_no_event_file)
{
    char path[400], link[500];
    eddy_events_scalar(w, "loss", 1, 1);
    close_events();
    snprintf(path, sizeof path, "%s/notes.txt", logs);
    put_file(path);
    snprintf(link, sizeof link, "%s/tfevents.link", logs);
    ck_assert_int_eq(symlink(path, link), 0);
    size_t n = (size_t)snprintf(path, sizeof path, "%s", logs);
    for (int depth = 1; depth <= 17; depth++) {
        n += (size_t)snprintf(path + n, sizeof path - n, "/%d", depth);
        ck_assert_int_eq(mkdir(path, 0777), 0);
        snprintf(link, sizeof link, "%s/tfevents", path);
        put_file(link);
    }
    const json *runs = eddy__json_get(report(), "runs");
    ck_assert_uint_eq(runs->count, 17);         /* the folder itself and 16 below it */
    ck_assert_str_eq(name_of(runs, 0), "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16");
    ck_assert_str_eq(name_of(runs, 15), "1");
    ck_assert_str_eq(name_of(runs, 16), ".");
}
END_TEST

/* Below the folder of event files is one that the user may not read. */
START_TEST(unreadable_folder)
{
    const uid_t me = geteuid();
    char        inner[200];
    eddy_events_scalar(w, "loss", 1, 1);
    close_events();
    snprintf(inner, sizeof inner, "%s/inner", logs);
    ck_assert_int_eq(mkdir(inner, 0), 0);
    ck_assert(chmod(folder, 0777) == 0 && chmod(logs, 0755) == 0);
    if (me == 0) ck_assert_int_eq(seteuid(65534), 0);
    const size_t n = runs_of_report();
    if (me == 0) ck_assert_int_eq(seteuid(me), 0);
    ck_assert_uint_eq(n, 1);
}
END_TEST

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);

/* The linker puts this in the place of opendir: such folders vanish before they are opened. */
DIR *__wrap_opendir(const char *path)
{
    if (strstr(path, "/vanishes")) rmdir(path);
    return __real_opendir(path);
}

START_TEST(vanished_folder)
{
    char inner[200];
    eddy_events_scalar(w, "loss", 1, 1);
    close_events();
    snprintf(inner, sizeof inner, "%s/vanishes", logs);
    ck_assert_int_eq(mkdir(inner, 0777), 0);
    ck_assert_uint_eq(runs_of_report(), 1);
    ck_assert_int_ne(access(inner, F_OK), 0);
}
END_TEST

/* A file whose path is longer than the system's limit is left out. */
START_TEST(long_path)
{
    char name[256], here[4096];
    eddy_events_scalar(w, "loss", 1, 1);
    close_events();
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    memset(name, 'n', 250);
    name[250] = 0;
    ck_assert_int_eq(chdir(logs), 0);
    for (int i = 0; i < 16; i++) ck_assert(mkdir(name, 0777) == 0 && chdir(name) == 0);
    for (int i = 0; i < 2; i++) {
        memcpy(name, "tfevents", 8);
        name[i ? 9 : 250] = 0;
        put_file(name);
    }
    ck_assert_int_eq(chdir(here), 0);
    ck_assert_uint_eq(runs_of_report(), 2);
}
END_TEST

/* ------------------------------------------------------------------- damage -- */

/* Names and texts cannot end the script, and bytes that are not UTF-8 are replaced. */
START_TEST(hostile_text)
{
    eddy_events_scalar(w, "</script><b>\"\\", 1, 1);
    eddy_events_text(w, "t", 1, "\xff\xc3\x28\xed\xa0\x80 \xe2\x82\xac\x01<!--");
    close_events();
    const json *data = report();
    points(data, "scalars", 0, "</script><b>\"\\");
    ck_assert_str_eq(
        eddy__json_text(item(item(points(data, "texts", 0, "t"), 0), 1), ""),
        "\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd \xe2\x82\xac\x01<!--");
    ck_assert_ptr_null(strstr(text, "<b>"));
    ck_assert_ptr_null(strstr(text, "<!--"));
}
END_TEST

/* A file that is cut anywhere shows the records before the cut. A flipped bit is noted, and the
 * records before it are shown. */
START_TEST(cut_and_flipped)
{
    char   path[4096];
    size_t size, all;
    for (int i = 0; i < 4; i++) eddy_events_scalar(w, "loss", i, i);
    snprintf(path, sizeof path, "%s", eddy_events_path(w));
    close_events();
    char *bytes = whole_file(path, &size);
    all = 0;
    for (size_t cut = 0; cut <= size; cut++) {
        FILE *to = fopen(path, "wb");
        fwrite(bytes, 1, cut, to);
        fclose(to);
        const json *data = report(), *list = eddy__json_get(data, "scalars");
        const size_t n = list->count ? points(data, "scalars", 0, "loss")->count : 0;
        ck_assert_uint_ge(n, all);
        all = n;
        ck_assert_uint_eq(eddy__json_get(data, "notes")->count, 0);
    }
    ck_assert_uint_eq(all, 4);
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 16;
        FILE *to = fopen(path, "wb");
        fwrite(bytes, 1, size, to);
        fclose(to);
        bytes[i] ^= 16;
        const json *data = report(), *list = eddy__json_get(data, "scalars");
        ck_assert_uint_eq(eddy__json_get(data, "notes")->count, 1);
        ck_assert_uint_lt(list->count ? points(data, "scalars", 0, "loss")->count : 0, 4);
    }
    free(bytes);
}
END_TEST

START_TEST(messages)
{
    eddy_error e = { 0 };
    char       empty[100], line[400];
    golden_begin("formats/training_report");
    eddy_events_table(w, "t", 1, NULL, NULL, NULL);
    ck_assert_int_eq(eddy_events_close(w, &e), EDDY_BAD_SHAPE);
    golden_error(&e);
    w = eddy_events_new(logs);
    eddy_array *a = eddy_array_new(EDDY_COMPLEX64, EDDY_SHAPE(1, 1)),
               *row = eddy_array_of(EDDY_INT32, 1);
    eddy_events_table(w, "t", 1, a, NULL, NULL);
    ck_assert_int_eq(eddy_events_close(w, &e), EDDY_BAD_DTYPE);
    golden_error(&e);
    w = eddy_events_new(logs);
    eddy_events_table(w, "t", 1, row, NULL, NULL);
    ck_assert_int_eq(eddy_events_close(w, &e), EDDY_BAD_SHAPE);
    golden_error(&e);
    eddy_array_free(a);
    eddy_array_free(row);
    ck_assert_int_eq(eddy_events_report_with(NULL), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(eddy_events_report(.error = &e), EDDY_INVALID_ARGUMENT);
    golden_error(&e);
    ck_assert_int_eq(eddy_events_report(logs, .error = &e), EDDY_INVALID_ARGUMENT);
    golden_error(&e);
    ck_assert_int_eq(eddy_events_report("/dev/null/logs", page, .error = &e), EDDY_IO);
    golden_error(&e);
    ck_assert_int_eq(eddy_events_report("/no/such/logs", page, .error = &e), EDDY_NOT_FOUND);
    golden_error(&e);
    snprintf(empty, sizeof empty, "%s/empty", folder);
    ck_assert_int_eq(mkdir(empty, 0777), 0);
    ck_assert_int_eq(eddy_events_report(empty, page, .error = &e), EDDY_NOT_FOUND);
    snprintf(line, sizeof line, "%.*s FOLDER", (int)(strstr(e.message, " in ") + 3 - e.message),
             e.message);
    golden_line(line);
    e = (eddy_error){ 0 };
    ck_assert_int_eq(eddy_events_report("", page, .error = &e), EDDY_INVALID_ARGUMENT);
    golden_error(&e);
    ck_assert_int_eq(eddy_events_report(logs, "", .error = &e), EDDY_INVALID_ARGUMENT);
    golden_error(&e);
    for (int i = 0; i <= 4096; i++) {
        snprintf(line, sizeof line, "%s/tfevents.%d", empty, i);
        put_file(line);
    }
    ck_assert_int_eq(eddy_events_report(empty, page, .error = &e), EDDY_LIMIT);
    snprintf(line, sizeof line, "report: FOLDER%s", strstr(e.message, " has "));
    golden_line(line);
    e = (eddy_error){ 0 };
    ck_assert_int_eq(eddy_events_report(logs, "/dev/null/report.html", .error = &e), EDDY_IO);
    golden_error(&e);
    golden_end();
}
END_TEST

Suite *training_report_suite(void)
{
    Suite *suite = suite_create("training_report");
    TCase *c = tcase_create("report");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, scalars);
    tcase_add_test(c, many_points);
    tcase_add_test(c, histograms);
    tcase_add_test(c, images_and_tables);
    tcase_add_test(c, graph_and_times);
    tcase_add_test(c, training_summary);
    tcase_add_test(c, several_runs);
    tcase_add_test(c, resumed_run);
    tcase_add_test(c, what_is_no_event_file);
    tcase_add_test(c, unreadable_folder);
    tcase_add_test(c, vanished_folder);
    tcase_add_test(c, long_path);
    tcase_add_test(c, hostile_text);
    tcase_add_test(c, cut_and_flipped);
    tcase_add_test(c, messages);
    suite_add_tcase(suite, c);
    return suite;
}
