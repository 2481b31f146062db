/* run.c -- eddy run: the values of a model's outputs. */
#include "command/machine.h"
#include "command/value.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static text_list     feeds, fetches, saves;
static const char   *labels = NULL, *weights = NULL;
static int64_t       top = 0, repeat = 1, limit = 100;
static image_options images;

static const option_row options[] = {
    { "feed", 'f', OPTION_EACH, "NAME=VALUE", &feeds,
      "[1,2], a number, .npy, F.npz:NAME, .png, .jpg, .wav" },
    { "fetch", 'y', OPTION_NAMES, "NAMES", &fetches, "what is computed; default: the outputs" },
    { "output", 'o', OPTION_EACH, "NAME=FILE", &saves, "write a value to a .npy file" },
    { "weights", 'w', OPTION_TEXT, "FILE", &weights, "a checkpoint with the values of variables" },
    { "top", 0, OPTION_COUNT, "N", &top, "the N largest elements of each row" },
    { "labels", 0, OPTION_TEXT, "FILE", &labels, "names of classes, one on each line" },
    { "limit", 0, OPTION_COUNT, "N", &limit, "print at most so many elements (default 100)" },
    { "repeat", 0, OPTION_COUNT, "N", &repeat, "run so many times, and print the time of a run" },
    { "pixels", 0, OPTION_FLAG, NULL, &images.pixels,
      "images have values from 0 to 255, not to 1" },
    { "mean", 0, OPTION_NAMES, "NUMBERS", &images.mean,
      "subtract these from the channels of images" },
    { "std", 0, OPTION_NAMES, "NUMBERS", &images.deviation, "then divide the channels by these" },
    { NULL, 0, OPTION_END, NULL, NULL, NULL },
};

/* ------------------------------------------------------------------ output -- */

static text_list read_lines(const char *path)
{
    FILE     *f = fopen(path, "r");
    text_list lines = { 0, NULL };
    char     *line = NULL;
    size_t    size = 0;
    int       capacity = 0;
    if (!f) fail(path, "%s", strerror(errno));
    errno = 0;
    for (ssize_t n; f && (n = getline(&line, &size, f)) >= 0;) {
        while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r')) line[--n] = '\0';
        if (lines.count == capacity) {
            const char **at = room((size_t)(capacity = 2 * capacity + 64), sizeof *at);
            if (lines.count > 0) memcpy(at, lines.at, (size_t)lines.count * sizeof *at);
            lines.at = at;
        }
        lines.at[lines.count++] = text("%s", line);
    }
    free(line);
    if (f && lines.count == 0) fail(path, "%s", errno ? strerror(errno) : "the file is empty");
    if (f) fclose(f);
    return lines;
}

static const char *label_of(text_list names, int64_t i)
{
    return i < names.count ? names.at[i] : text("%lld", (long long)i);
}

/* Whether element i is larger than element j. A double does not hold all of int64. */
static bool is_larger(const eddy_array *a, int64_t i, int64_t j)
{
    const int64_t *whole = eddy_array_data(a);
    if (eddy_array_dtype(a) == EDDY_INT64) return whole[i] > whole[j];
    return eddy_array_get(a, i) > eddy_array_get(a, j);
}

/* The number of the largest element of a row that is below `before`, or equal and later; -1. */
static int64_t next_largest(const eddy_array *a, int64_t from, int64_t n, int64_t before)
{
    int64_t best = -1;
    for (int64_t i = 0; i < n; i++) {
        if (isnan(eddy_array_get(a, from + i)) || i == before) continue;
        if (before >= 0 && (is_larger(a, from + i, from + before) ||
                            (i < before && !is_larger(a, from + before, from + i))))
            continue;
        if (best < 0 || is_larger(a, from + i, from + best)) best = i;
    }
    return best;
}

/* Where a row is, as "[2,0]". */
static const char *row_text(eddy_shape s, int64_t row)
{
    const char *at = "]";
    for (int d = s.rank - 2; d >= 0; d--) {
        at = text("%s%lld%s", d > 0 ? "," : "[", (long long)(row % s.dim[d]), at);
        row /= s.dim[d];
    }
    return at;
}

/* Element i, of complex ones the real part. */
static void json_value(const char *key, const eddy_array *a, int64_t i)
{
    const eddy_dtype d = eddy_array_dtype(a);
    if (d == EDDY_INT64) json_integer(key, ((const int64_t *)eddy_array_data(a))[i]);
    else json_element(key, eddy_array_get(a, i), d);
}

/* Of several rows, each has its place above it. */
static void print_top(const eddy_array *a, text_list names)
{
    const eddy_shape s = eddy_array_shape(a);
    const int64_t    n = s.rank > 0 ? s.dim[s.rank - 1] : 1;
    const int64_t    rows = n > 0 ? eddy_array_count(a) / n : 0;
    for (int64_t row = 0; row < rows; row++) {
        table   t = { .columns = "r l" };
        int64_t at = -1;
        if (as_json) json_open(NULL, '[');
        else if (rows > 1) puts(row_text(s, row));
        for (int64_t k = 0; k < top && (at = next_largest(a, row * n, n, at)) >= 0; k++) {
            const double v = eddy_array_get(a, row * n + at);
            table_row(&t, text("%.6g", v), label_of(names, at));
            if (!as_json) continue;
            json_open(NULL, '{');
            json_text("label", label_of(names, at));
            json_number("class", (double)at);
            json_value("value", a, row * n + at);
            json_close('}');
        }
        if (as_json) json_close(']');
        else table_print(&t, stdout);
    }
}

/* Says if there are more or fewer names than classes, as in a file for another model. */
static void note_names(const named *y, const eddy_array *a, text_list names)
{
    const eddy_shape s = eddy_array_shape(a);
    const int64_t    n = s.rank > 0 ? s.dim[s.rank - 1] : 1;
    if (names.count > 0 && names.count != n)
        note(labels, "the file has %s, but a row of '%s' has %s",
             number_of(names.count, "name"), y->name, number_of(n, "element"));
}

static void print_json(const named *y, const eddy_array *a, text_list names)
{
    json_open(NULL, '{');
    json_text("name", y->name);
    json_text("type", eddy_dtype_name(eddy_array_dtype(a)));
    json_shape("shape", eddy_array_shape(a));
    if (top > 0) {
        json_open("top", '[');
        print_top(a, names);
        json_close(']');
    } else {
        json_open("values", '[');
        const eddy_dtype d = eddy_array_dtype(a);
        for (int64_t i = 0; i < eddy_array_count(a); i++) {
            json_value(NULL, a, i);
            if (eddy_dtype_is_complex(d)) json_element(NULL, eddy_array_get_imag(a, i), d);
        }
        json_close(']');
    }
    json_close('}');
}

static void print_value(const named *y, const eddy_array *a, text_list names)
{
    const int64_t shown = eddy_array_count(a) < limit ? eddy_array_count(a) : limit;
    const size_t  size = 64 * (size_t)(shown + 4);
    printf("%s%s%s %s", bold(stdout), y->name, plain(stdout),
           type_text(eddy_array_dtype(a), eddy_array_shape(a)));
    if (top > 0) {
        putchar('\n');
        print_top(a, names);
    } else printf(" %s\n", eddy_array_print(a, limit, room(size, 1), size));
}

/* A file of --output: "y=y.npy", or "y.npy" if there is one value. */
typedef struct save {
    const char *path;
    int         value;
} save;

/* NULL after a message. */
static save *saves_read(const named *y, int n)
{
    save *list = room((size_t)saves.count, sizeof *list);
    for (int i = 0; i < saves.count; i++) {
        const char *equal = strchr(saves.at[i], '='), *path = equal ? equal + 1 : saves.at[i];
        const char *name = text("%.*s", equal ? (int)(equal - saves.at[i]) : 0, saves.at[i]);
        int         k = 0;
        while (k < n && equal && strcmp(y[k].name, name) != 0) k++;
        if (k == n || (!equal && n != 1)) {
            fail(NULL, "--output takes NAME=FILE, where NAME is fetched, not '%s'", saves.at[i]);
            return NULL;
        }
        const size_t end = strlen(path);
        if (end < 5 || strcmp(path + end - 4, ".npy") != 0) {
            fail(path, "values are written to .npy files");
            return NULL;
        }
        list[i] = (save){ path, k };
    }
    return list;
}

/* All or none: the files that were written are removed if a later one fails. */
static int save_values(const save *to, const named *y, eddy_array **values)
{
    int status = SUCCESS, i = 0;
    for (; status == SUCCESS && i < saves.count; i++) {
        eddy_array *a = values[to[i].value];
        eddy_error  e = { 0 };
        if (!a) status = fail(to[i].path, "'%s' has no value", y[to[i].value].name);
        else if (eddy_array_save(a, to[i].path, NULL, &e) != EDDY_OK)
            status = fail_error(to[i].path, e.message);
    }
    for (i -= 2; status != SUCCESS && i >= 0; i--) remove(to[i].path);
    return status;
}

/* The runs of --repeat after the first, which compiles. */
typedef struct run_times {
    double mean, least;             /* in seconds */
} run_times;

static void print_times(const run_times *t)
{
    if (as_json) {
        json_number("runs", (double)(repeat - 1));
        json_number("mean_seconds", t->mean);
        json_number("least_seconds", t->least);
    } else
        note(NULL, "%s after the first: %.3f ms on average, the fastest %.3f ms",
             number_of(repeat - 1, "run"), 1e3 * t->mean, 1e3 * t->least);
}

static int print_values(const named *y, eddy_array **values, int n, text_list names)
{
    if (as_json) json_open(repeat > 1 ? "values" : NULL, '[');
    for (int i = 0; i < n; i++) {
        if (!values[i]) continue;
        if (top > 0) note_names(&y[i], values[i], names);
        if (as_json) print_json(&y[i], values[i], names);
        else if (saves.count == 0 || top > 0) print_value(&y[i], values[i], names);
    }
    if (as_json) json_close(']');
    return SUCCESS;
}

/* ----------------------------------------------------------------- running -- */

static bool compute(eddy_session *s, eddy_feeds given, eddy_list of, eddy_array **values,
                    run_times *t)
{
    *t = (run_times){ 0, INFINITY };
    for (int64_t i = 0; i < repeat; i++) {
        const double from = seconds_now();
        if (eddy_run(s, given, of, values) != EDDY_OK) return false;
        const double took = seconds_now() - from;
        if (i == 0 && repeat > 1) continue;     /* it compiles */
        t->mean += took / (double)(repeat > 1 ? repeat - 1 : 1);
        if (took < t->least) t->least = took;
    }
    return true;
}

static int run_model(model *m, text_list names)
{
    int          n, status = TROUBLE;
    run_times    took;
    const named *y = model_select(m, fetches, &n);
    const save  *to = y ? saves_read(y, n) : NULL;
    eddy_feed   *given = to ? feeds_read(m, feeds, &images) : NULL;
    if (!given) return TROUBLE;
    eddy_array  **values = room((size_t)n, sizeof(eddy_array *));
    eddy_session *s = model_session(m, weights, false, 0);
    if (s && !compute(s, (eddy_feeds){ feeds.count, given }, tensors_of(y, n), values, &took))
        fail(m->path, "%s", eddy_session_message(s));
    else if (s) status = save_values(to, y, values);
    if (status == SUCCESS) {
        if (as_json && repeat > 1) json_open(NULL, '{');
        if (repeat > 1) print_times(&took);
        status = print_values(y, values, n, names);
        if (as_json && repeat > 1) json_close('}');
    }
    for (int i = 0; i < n; i++) eddy_array_free(values[i]);
    eddy_session_free(s);
    feeds_free(given, feeds.count);
    return status;
}

static bool are_numbers(const char *name, text_list list, bool above_zero)
{
    for (int i = 0; i < list.count; i++) {
        char        *end;
        const double v = strtod(list.at[i], &end);
        if (!*end && isfinite(v) && (!above_zero || v > 0)) continue;
        fail(NULL, "--%s takes %s for each channel, not '%s'", name,
             above_zero ? "a number above 0" : "a number", list.at[i]);
        return false;
    }
    return true;
}

static int run(char **operands, int count)
{
    (void)count;
    model m;
    if (repeat == 0) return fail(NULL, "--repeat takes a number of at least 1");
    if (!are_numbers("mean", images.mean, false) || !are_numbers("std", images.deviation, true))
        return TROUBLE;
    const text_list names = labels ? read_lines(labels) : (text_list){ 0, NULL };
    if (labels && names.count == 0) return TROUBLE;
    if (labels && top == 0) top = 5;
    const int status =
        model_open_graph(&m, operands[0], weights != NULL) ? run_model(&m, names) : TROUBLE;
    model_close(&m);
    return status;
}

const command command_run = {
    "run", "MODEL", "Run a model and print or save its outputs", 1, 1, options, run,
};
