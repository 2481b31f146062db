/* values.c -- scalars, histograms, images, text and hyper-parameters in event files. */
#include "writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Element types of TensorProto. */
enum { DT_FLOAT = 1, DT_STRING = 7 };

message eddy__events_plugin(const char *name, message *content)
{
    message plugin = { 0 }, metadata = { 0 };
    eddy__message_text(&plugin, 1, name);
    if (content) eddy__message_inner(&plugin, 2, content);
    eddy__message_inner(&metadata, 1, &plugin);
    return metadata;
}

void eddy_events_scalar(eddy_events *w, const char *tag, int64_t step, double value)
{
    message inner = { 0 };
    if (!eddy__events_usable(w)) return;
    eddy__message_float(&inner, VALUE_SIMPLE, (float)value);
    eddy__events_value(w, step, tag, VALUE_SIMPLE, &inner, NULL);
}

void eddy_events_performance(eddy_events *w, int64_t step, eddy_session *s,
                             double examples_per_second)
{
    const eddy_memory_info m = eddy_session_memory_info(s);
    const size_t bytes = m.plan_bytes + m.value_bytes + m.run_bytes + m.variable_bytes +
                         m.evaluated_bytes;
    if (examples_per_second > 0)
        eddy_events_scalar(w, "performance/examples_per_second", step, examples_per_second);
    if (s) eddy_events_scalar(w, "performance/memory_MB", step, 1e-6 * (double)bytes);
}

/* ----------------------------------------------------------- histograms -- */

/* Bucket k ends at limit[k]: those of TensorFlow, 774 powers of 1.1 from 1e-12 on and the largest
 * number, in both directions. */
enum { POWERS = 775, BUCKETS = 2 * POWERS + 1 };

typedef struct histogram {
    double limit[BUCKETS], count[BUCKETS];
    double least, most, n, sum, squares;
} histogram;

static void begin_histogram(histogram *h)
{
    double v = 1e-12;
    *h = (histogram){ .least = INFINITY, .most = -INFINITY };
    for (int k = 0; k < POWERS; k++, v *= 1.1) {
        const double limit = k + 1 < POWERS ? v : 1.7976931348623157e308;
        h->limit[POWERS + 1 + k] = limit;
        h->limit[POWERS - 1 - k] = -limit;
    }
}

static void count(histogram *h, double v)
{
    int low = 0, high = BUCKETS - 1;
    while (low < high) {                    /* the first limit above v */
        const int middle = (low + high) / 2;
        if (h->limit[middle] > v) high = middle;
        else low = middle + 1;
    }
    h->count[low]++;
    h->n++;
    h->sum += v;
    h->squares += v * v;
    h->least = v < h->least ? v : h->least;
    h->most = v > h->most ? v : h->most;
}

/* The buckets without the empty ones behind the last one that is not, and of several empty ones in
 * a row only the last. */
static int pack_buckets(histogram *h)
{
    int n = 0, last = BUCKETS - 1;
    while (last > 0 && h->count[last] == 0) last--;
    for (int k = 0; k <= last; k++) {
        if (h->count[k] == 0 && k < last && h->count[k + 1] == 0) continue;
        h->limit[n] = h->limit[k];
        h->count[n++] = h->count[k];
    }
    return n;
}

void eddy_events_histogram(eddy_events *w, const char *tag, int64_t step, const eddy_array *values)
{
    if (!eddy__events_usable(w)) return;
    if (!values || eddy_dtype_is_complex(eddy_array_dtype(values))) {
        eddy__events_fail(w, values ? EDDY_BAD_DTYPE : EDDY_INVALID_ARGUMENT,
                          "events_histogram: %s",
                          values ? "the values are complex" : "no values are given");
        return;
    }
    histogram *h = malloc(sizeof *h);
    message    inner = { .full = !h };
    if (h) {
        begin_histogram(h);
        for (int64_t i = 0; i < eddy_array_count(values); i++) {
            const double v = eddy_array_get(values, i);
            if (isfinite(v)) count(h, v);
        }
        const double summary[] = { h->n > 0 ? h->least : 0, h->n > 0 ? h->most : 0, h->n, h->sum,
                                   h->squares };
        for (uint32_t k = 0; k < 5; k++) eddy__message_double(&inner, k + 1, summary[k]);
        const int n = h->n > 0 ? pack_buckets(h) : 1;
        eddy__message_doubles(&inner, 6, h->limit, (size_t)n);
        eddy__message_doubles(&inner, 7, h->count, (size_t)n);
    }
    eddy__events_value(w, step, tag, VALUE_HISTOGRAM, &inner, NULL);
    free(h);
}

/* --------------------------------------------------------------- images -- */

static uint8_t level_of(const eddy_array *a, int64_t i)
{
    const double v = eddy_array_get(a, i);
    if (eddy_array_dtype(a) == EDDY_UINT8) return (uint8_t)v;
    return v >= 1 ? 255 : v > 0 ? (uint8_t)(v * 255 + 0.5) : 0;
}

static void put_image(eddy_events *w, const char *tag, int64_t step, const eddy_array *images,
                      int64_t number, bool several)
{
    const eddy_shape s = eddy_array_shape(images);
    const int64_t    height = s.dim[s.rank - 3], width = s.dim[s.rank - 2];
    const int        channels = (int)s.dim[s.rank - 1];
    const int64_t    n = height * width * channels;
    uint8_t         *pixels = malloc(n > 0 ? (size_t)n : 1);
    message          inner = { .full = !pixels }, png = { 0 };
    char             name[1200];
    for (int64_t i = 0; pixels && i < n; i++) pixels[i] = level_of(images, number * n + i);
    if (pixels) eddy__png_put(&png, pixels, height, width, channels);
    eddy__message_number(&inner, 1, height);
    eddy__message_number(&inner, 2, width);
    eddy__message_number(&inner, 3, channels);
    eddy__message_inner(&inner, 4, &png);
    if (several)
        snprintf(name, sizeof name, "%.1000s/image/%lld", tag ? tag : "", (long long)number);
    else snprintf(name, sizeof name, "%.1000s/image", tag ? tag : "");
    eddy__events_value(w, step, name, VALUE_IMAGE, &inner, NULL);
    free(pixels);
}

void eddy_events_image(eddy_events *w, const char *tag, int64_t step, const eddy_array *images,
                       int most)
{
    char             shape[100];
    const eddy_shape s = eddy_array_shape(images);
    if (!eddy__events_usable(w)) return;
    const eddy_dtype d = images ? eddy_array_dtype(images) : EDDY_BOOL;
    const int64_t    channels = s.rank >= 3 ? s.dim[s.rank - 1] : 0;
    if (!images || (s.rank != 3 && s.rank != 4) ||
        (channels != 1 && channels != 3 && channels != 4) || eddy_array_count(images) == 0) {
        eddy__events_fail(w, EDDY_BAD_SHAPE,
                          "events_image: the shape is %s; expected [n,height,width,channels] or "
                          "[height,width,channels] with 1, 3 or 4 channels",
                          images ? eddy_shape_print(s, shape, sizeof shape) : "that of no array");
        return;
    }
    if (d != EDDY_UINT8 && !eddy_dtype_is_floating(d)) {
        eddy__events_fail(w, EDDY_BAD_DTYPE,
                          "events_image: the elements are %s; expected uint8 or floats",
                          eddy_dtype_name(d));
        return;
    }
    const int64_t n = s.rank == 4 ? s.dim[0] : 1;
    for (int64_t i = 0; i < n && i < most; i++)
        put_image(w, tag, step, images, i, s.rank == 4 && most > 1);
}

/* ----------------------------------------------------------------- text -- */

void eddy_events_text(eddy_events *w, const char *tag, int64_t step, const char *text)
{
    message tensor = { 0 }, shape = { 0 }, content = { 0 };
    if (!eddy__events_usable(w)) return;
    eddy__message_number(&tensor, 1, DT_STRING);
    eddy__message_inner(&tensor, 2, &shape);
    eddy__message_text(&tensor, 8, text ? text : "");
    message metadata = eddy__events_plugin("text", &content);
    eddy__events_value(w, step, tag, VALUE_TENSOR, &tensor, &metadata);
}

/* --------------------------------------------------------------- tables -- */

/* A cell of Markdown's table: a bar would end it. */
static void put_cell(FILE *to, const char *name, int64_t number)
{
    if (!name) fprintf(to, " %lld |", (long long)number);
    else fputc(' ', to);
    for (const char *c = name; c && *c; c++) fputc(*c == '|' || *c == '\n' ? '/' : *c, to);
    if (name) fputs(" |", to);
}

static void print_table(FILE *to, const eddy_array *values, const char *const *row_names,
                        const char *const *column_names)
{
    const eddy_shape s = eddy_array_shape(values);
    fputs("| |", to);
    for (int64_t k = 0; k < s.dim[1]; k++) put_cell(to, column_names ? column_names[k] : NULL, k);
    fputs("\n|---|", to);
    for (int64_t k = 0; k < s.dim[1]; k++) fputs("---:|", to);
    for (int64_t i = 0; i < s.dim[0]; i++) {
        fputs("\n|", to);
        put_cell(to, row_names ? row_names[i] : NULL, i);
        for (int64_t k = 0; k < s.dim[1]; k++)
            fprintf(to, " %.6g |", eddy_array_get(values, i * s.dim[1] + k));
    }
    fputc('\n', to);
}

void eddy_events_table(eddy_events *w, const char *tag, int64_t step, const eddy_array *values,
                       const char *const *row_names, const char *const *column_names)
{
    char  *text = NULL, shape[100];
    size_t size = 0;
    if (!eddy__events_usable(w)) return;
    if (!values || eddy_array_shape(values).rank != 2) {
        eddy__events_fail(w, EDDY_BAD_SHAPE,
                          "events_table: the shape is %s; expected [rows,columns]",
                          values ? eddy_shape_print(eddy_array_shape(values), shape, sizeof shape)
                                 : "that of no array");
        return;
    }
    if (eddy_dtype_is_complex(eddy_array_dtype(values))) {
        eddy__events_fail(w, EDDY_BAD_DTYPE, "events_table: the values are complex");
        return;
    }
    FILE *to = open_memstream(&text, &size);
    if (to) print_table(to, values, row_names, column_names);
    if (!to || fclose(to) != 0)
        eddy__events_fail(w, EDDY_NO_MEMORY, "events_table: out of memory for the table");
    else eddy_events_text(w, tag, step, text);
    free(text);
}

/* ----------------------------------------------------- hyper-parameters -- */

/* A value of the plugin has its content in the metadata, and a tensor of one zero. */
static void put_plugin_data(eddy_events *w, const char *tag, uint32_t field, message *inner)
{
    message data = { 0 }, tensor = { 0 }, shape = { 0 }, dim = { 0 };
    eddy__message_number(&data, 1, 0);
    eddy__message_inner(&data, field, inner);
    message metadata = eddy__events_plugin("hparams", &data);
    eddy__message_number(&tensor, 1, DT_FLOAT);
    eddy__message_number(&dim, 1, 1);
    eddy__message_inner(&shape, 2, &dim);
    eddy__message_inner(&tensor, 2, &shape);
    eddy__message_float(&tensor, 5, 0);
    eddy__events_value(w, 0, tag, VALUE_TENSOR, &tensor, &metadata);
}

enum { INFO_STRING = 1, INFO_NUMBER = 3 };      /* DataType */

static void put_experiment(eddy_events *w, const eddy_hparam *at, int n, const char *const *metrics,
                           int n_metrics)
{
    message experiment = { 0 };
    for (int i = 0; i < n; i++) {
        message info = { 0 };
        eddy__message_text(&info, 1, at[i].name);
        eddy__message_number(&info, 4, at[i].text ? INFO_STRING : INFO_NUMBER);
        eddy__message_inner(&experiment, 4, &info);
    }
    for (int i = 0; i < n_metrics; i++) {
        message name = { 0 }, info = { 0 };
        eddy__message_text(&name, 2, metrics[i]);
        eddy__message_inner(&info, 1, &name);
        eddy__message_inner(&experiment, 5, &info);
    }
    put_plugin_data(w, "_hparams_/experiment", 2, &experiment);
}

static void put_session(eddy_events *w, const eddy_hparam *at, int n)
{
    message start = { 0 };
    for (int i = 0; i < n; i++) {
        message value = { 0 }, entry = { 0 };
        if (at[i].text) eddy__message_text(&value, 3, at[i].text);
        else eddy__message_double(&value, 2, at[i].number);
        eddy__message_text(&entry, 1, at[i].name);
        eddy__message_inner(&entry, 2, &value);
        eddy__message_inner(&start, 1, &entry);
    }
    put_plugin_data(w, "_hparams_/session_start_info", 3, &start);
}

void eddy_events_hparams(eddy_events *w, const eddy_hparam *at, int n, const char *const *metrics,
                         int n_metrics)
{
    if (!eddy__events_usable(w)) return;
    bool valid = n >= 0 && n_metrics >= 0 && (n == 0 || at) && (n_metrics == 0 || metrics);
    for (int i = 0; valid && i < n; i++) valid = at[i].name != NULL;
    for (int i = 0; valid && i < n_metrics; i++) valid = metrics[i] != NULL;
    if (!valid) {
        eddy__events_fail(w, EDDY_INVALID_ARGUMENT, "events_hparams: a list or a name is missing");
        return;
    }
    put_experiment(w, at, n, metrics, n_metrics);
    put_session(w, at, n);
}
