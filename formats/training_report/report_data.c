/* report_data.c -- runs, scalars, histograms, images and texts of a report. See report_data.h. */
#include "report_data.h"

#include <math.h>
#include <string.h>

/* Points of a scalar, histograms, bins of each, images and texts that a page has of a series. */
enum { MOST_POINTS = 2000, MOST_HISTOGRAMS = 24, BINS = 40, MOST_IMAGES = 12, MOST_TEXTS = 20 };
/* Bytes of all images of a page. */
static const size_t most_image_bytes = (size_t)48 << 20;

static wire_bytes as_bytes(const char *s)
{
    return (wire_bytes){ (const uint8_t *)s, strlen(s) };
}

/* ------------------------------------------------------------------ series -- */

/* Number i of at most n points that are evenly spaced, the first and the last included. */
static const point *spaced(const series *s, size_t i, size_t n)
{
    return &s->points[n > 1 ? i * (s->count - 1) / (n - 1) : s->count - 1];
}

static void begin_series(page_out *p, const series *s)
{
    eddy__page_open(p, NULL, '{');
    eddy__page_string(p, "tag", s->tag);
    eddy__page_number(p, "run", s->run);
    eddy__page_open(p, "points", '[');
}

static void end_series(page_out *p)
{
    eddy__page_close(p, ']');
    eddy__page_close(p, '}');
}

static void put_scalar(page_out *p, const point *at)
{
    eddy__page_open(p, NULL, '[');
    eddy__page_number(p, NULL, (double)at->step);
    eddy__page_number(p, NULL, at->time);
    eddy__page_number(p, NULL, at->number);
    eddy__page_close(p, ']');
}

/* Of each of equal parts, the least and the most in their order, so that no peak is lost. */
static void put_scalars(page_out *p, const series *s)
{
    const size_t parts = MOST_POINTS / 2;
    if (s->count <= MOST_POINTS) {
        for (size_t i = 0; i < s->count; i++) put_scalar(p, &s->points[i]);
        return;
    }
    for (size_t k = 0; k < parts; k++) {
        const size_t begin = k * s->count / parts, end = (k + 1) * s->count / parts;
        size_t       least = begin, most = begin;
        for (size_t i = begin; i < end; i++) {
            if (s->points[i].number < s->points[least].number) least = i;
            if (!(s->points[i].number <= s->points[most].number)) most = i;
        }
        put_scalar(p, &s->points[least < most ? least : most]);
        if (least != most) put_scalar(p, &s->points[least < most ? most : least]);
    }
    put_scalar(p, &s->points[s->count - 1]);
}

/* -------------------------------------------------------------- histograms -- */

typedef struct histogram {
    double       least, most, n;
    wire_numbers limits, counts;
} histogram;

static histogram histogram_of(wire_bytes b)
{
    wire       w = eddy__wire_of(b);
    histogram  h = { .limits = { .left = w, .field = 6, .as = WIRE_FIXED64 },
                     .counts = { .left = w, .field = 7, .as = WIRE_FIXED64 } };
    for (wire_field f; eddy__wire_next(&w, &f);) {
        if (f.type != WIRE_FIXED64 || f.number > 3) continue;
        *(f.number == 1 ? &h.least : f.number == 2 ? &h.most : &h.n) = eddy__wire_double(f.value);
    }
    return h;
}

/* Adds the counts to equal bins from low to high; within a bucket they are spread evenly. */
static void count_bins(histogram h, double low, double high, double bins[BINS])
{
    uint64_t limit, count;
    double   begin = h.least;
    memset(bins, 0, BINS * sizeof *bins);
    while (eddy__wire_next_number(&h.limits, &limit) && eddy__wire_next_number(&h.counts, &count)) {
        const double n = eddy__wire_double(count);
        const double from = fmax(begin, h.least), to = fmin(eddy__wire_double(limit), h.most);
        begin = eddy__wire_double(limit);
        if (!(n > 0)) continue;
        const double scale = BINS / (high - low);
        const double a = (from - low) * scale, b = fmax((to - low) * scale, a);
        for (int k = (int)fmax(0, fmin(a, BINS - 1)); k < BINS && k <= b; k++) {
            const double part = b > a ? (fmin(b, k + 1) - fmax(a, k)) / (b - a) : 1;
            if (part > 0) bins[k] += part * n;
        }
    }
}

static void put_histograms(page_out *p, const series *s)
{
    const size_t n = s->count < MOST_HISTOGRAMS ? s->count : MOST_HISTOGRAMS;
    double       low = INFINITY, high = -INFINITY, bins[BINS];
    for (size_t i = 0; i < n; i++) {
        const histogram h = histogram_of(spaced(s, i, n)->bytes);
        if (h.n > 0 && isfinite(h.least) && isfinite(h.most))
            low = fmin(low, h.least), high = fmax(high, h.most);
    }
    if (!(low <= high)) low = 0, high = 1;
    if (!(high - low > 0) || !isfinite(high - low)) high = low + fmax(fabs(low), 1);
    for (size_t i = 0; i < n; i++) {
        const point *at = spaced(s, i, n);
        count_bins(histogram_of(at->bytes), low, high, bins);
        eddy__page_open(p, NULL, '[');
        eddy__page_number(p, NULL, (double)at->step);
        eddy__page_number(p, NULL, low);
        eddy__page_number(p, NULL, high);
        eddy__page_open(p, NULL, '[');
        for (int k = 0; k < BINS; k++) eddy__page_number(p, NULL, round(bins[k] * 100) / 100);
        eddy__page_close(p, ']');
        eddy__page_close(p, ']');
    }
}

/* -------------------------------------------------------- images and texts -- */

static void put_images(page_out *p, const series *s, size_t *left)
{
    const size_t n = s->count < MOST_IMAGES ? s->count : MOST_IMAGES;
    for (size_t i = 0; i < n; i++) {
        const point *at = spaced(s, i, n);
        wire         w = eddy__wire_of(at->bytes);
        wire_bytes   png = { 0 };
        for (wire_field f; eddy__wire_next(&w, &f);)
            if (f.number == 4 && f.type == WIRE_BYTES) png = f.bytes;
        if (png.size == 0 || png.size > *left) continue;
        *left -= png.size;
        eddy__page_open(p, NULL, '[');
        eddy__page_number(p, NULL, (double)at->step);
        eddy__page_base64(p, NULL, png);
        eddy__page_close(p, ']');
    }
}

static void put_texts(page_out *p, const series *s)
{
    const size_t n = s->count < MOST_TEXTS ? s->count : MOST_TEXTS;
    for (size_t i = 0; i < n; i++) {
        eddy__page_open(p, NULL, '[');
        eddy__page_number(p, NULL, (double)spaced(s, i, n)->step);
        eddy__page_string(p, NULL, spaced(s, i, n)->bytes);
        eddy__page_close(p, ']');
    }
}

/* -------------------------------------------------------------------- runs -- */

/* The hyper-parameters: entries of a map from names to values of JSON's kinds. */
static void put_hparams(page_out *p, wire_bytes info)
{
    wire w = eddy__wire_of(info);
    eddy__page_open(p, "hparams", '[');
    for (wire_field entry; eddy__wire_next(&w, &entry);) {
        if (entry.number != 1 || entry.type != WIRE_BYTES) continue;
        wire       e = eddy__wire_of(entry.bytes);
        wire_bytes name = { 0 }, value = { 0 };
        for (wire_field f; eddy__wire_next(&e, &f);)
            if (f.type == WIRE_BYTES) *(f.number == 1 ? &name : &value) = f.bytes;
        e = eddy__wire_of(value);
        eddy__page_open(p, NULL, '[');
        eddy__page_string(p, NULL, name);
        wire_field f;
        if (!eddy__wire_next(&e, &f)) eddy__page_string(p, NULL, as_bytes(""));
        else if (f.type == WIRE_FIXED64) eddy__page_number(p, NULL, eddy__wire_double(f.value));
        else if (f.type == WIRE_BYTES) eddy__page_string(p, NULL, f.bytes);
        else eddy__page_string(p, NULL, as_bytes(f.value ? "true" : "false"));
        eddy__page_close(p, ']');
    }
    eddy__page_close(p, ']');
}

static void put_runs(page_out *p, const runs *r)
{
    eddy__page_open(p, "runs", '[');
    for (int i = 0; i < r->count; i++) {
        const run *at = &r->at[i];
        eddy__page_open(p, NULL, '{');
        eddy__page_string(p, "name", as_bytes(at->name));
        eddy__page_number(p, "begin", at->begin);
        eddy__page_number(p, "end", at->end);
        eddy__page_number(p, "steps", (double)at->last_step);
        put_hparams(p, at->hparams);
        if (at->graph.size) eddy__report_graph(p, "graph", at->graph);
        eddy__page_close(p, '}');
    }
    eddy__page_close(p, ']');
}

bool eddy__report_data(page_out *p, const runs *r, const char *title)
{
    static const char *const keys[] = { "scalars", "histograms", "images", "texts", "profiles" };
    size_t left = most_image_bytes;
    bool   ok = true;
    p->first = true;
    eddy__page_open(p, NULL, '{');
    eddy__page_string(p, "title", as_bytes(title));
    eddy__page_open(p, "notes", '[');
    for (int i = 0; i < r->n_notes; i++) eddy__page_string(p, NULL, as_bytes(r->notes[i]));
    eddy__page_close(p, ']');
    put_runs(p, r);
    for (series_kind k = SERIES_SCALAR; k <= SERIES_PROFILE; k++) {
        eddy__page_open(p, keys[k], '[');
        for (const series *s = r->first; s; s = s->next) {
            if (s->kind != k) continue;
            begin_series(p, s);
            if (k == SERIES_SCALAR) put_scalars(p, s);
            else if (k == SERIES_HISTOGRAM) put_histograms(p, s);
            else if (k == SERIES_IMAGE) put_images(p, s, &left);
            else if (k == SERIES_TEXT) put_texts(p, s);
            else if (!eddy__report_profile(p, NULL, s->points[s->count - 1].bytes)) ok = false;
            end_series(p);
        }
        eddy__page_close(p, ']');
    }
    eddy__page_close(p, '}');
    return ok;
}
