/* conv_direct_weights.c -- the gradient of a direct convolution with respect to its filter: sums
 * over the pixels of all images.
 *
 * The division of the pixels into parts depends only on sizes. Each part has its own filter in
 * scratch memory, and the filters are added in a fixed order, so the bits do not depend on the
 * number of threads. */
#include "graph/base/stop.h"
#include "graph/base/thread_pool.h"
#include "ops/kernels/convolution/conv_direct.h"
#include "graph/base/min_max.h"

#include <string.h>

enum { PARTS = 8, PART_PIXELS = 512, PART_BYTES = 4 << 20, UNIT_PIXELS = 128 };

typedef struct plan {
    eddy_dtype      dtype;
    const eddy_conv_tiles *tiles;
    eddy_conv_image x, dy;
    eddy_conv_axis  h, w;            /* of x, for the positions of dy */
    int64_t         groups, in_c, out_c, padded;     /* channels of a group */
    bool            inside, exact;   /* x, dy are read in place */
    bool            touch;           /* the taps of a row are one run */
    int64_t         rows, all_rows;  /* of a filter, taps times channels; with unused taps */
    int64_t         filter_w;
    int64_t         images, height, heights, units;  /* a unit: images, or rows of one */
    int64_t         batch, parts, slices, panels;
    uint64_t        part, band, dy_band, worker;     /* bytes */
    double          work;            /* operations */
} plan;

typedef struct run {
    const plan *p;
    const char *x, *dy;
    char       *parts, *workers, *dw;
    const eddy_stop *stop;
} run;

static uint64_t lines(int64_t n, size_t size)
{
    return ((uint64_t)n * size + 63) & ~(uint64_t)63;
}

/* ------------------------------------------------------------- planning -- */

/* Divides the pixels into units of about UNIT_PIXELS, and the units into parts; if there are few
 * parts, also the filter into slices: a row of taps by a panel of channels. */
static void divide_work(plan *p)
{
    const int64_t area = p->dy.h * p->dy.w;
    p->height = eddy__min(p->dy.h, eddy__pieces(UNIT_PIXELS, eddy__max(p->dy.w, 1)));
    const int64_t images = eddy__min(p->batch, UNIT_PIXELS / eddy__max(area, 1));
    p->images = p->height < p->dy.h ? 1 : eddy__max(1, images);
    p->heights = eddy__pieces(p->dy.h, eddy__max(p->height, 1));
    p->units = area > 0 ? eddy__pieces(p->batch, p->images) * p->heights : 0;
    p->part = lines(p->rows * p->padded * p->groups, p->x.size);
    p->parts = eddy__min(eddy__min(PARTS, p->units), p->batch * area / PART_PIXELS);
    p->parts = eddy__max(1, eddy__min(p->parts, (int64_t)(PART_BYTES / (p->part + 1))));
    p->panels = p->groups * eddy__pieces(p->out_c, 2 * p->tiles->lanes);
    p->slices = p->parts == PARTS ? 1 : p->h.taps * p->panels;
}

eddy_status eddy__conv_direct_weights_prepare(eddy_kernel *k, eddy_dtype d, const eddy_conv_size *s)
{
    plan *p = eddy_kernel_state(k, sizeof *p);
    if (!p) return eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for the loops");
    const size_t size = eddy_dtype_size(d);
    *p = (plan){ .dtype = d, .tiles = eddy__conv_tiles_of(d),
                 .x = { NULL, s->in[0], s->in[1], s->in_c, s->planes, size, s->halves },
                 .dy = { NULL, s->out[0], s->out[1], s->out_c, s->planes, size, s->halves },
                 .h = eddy__conv_forward_axis(s, 0), .w = eddy__conv_forward_axis(s, 1),
                 .groups = s->groups, .in_c = s->in_c / s->groups, .out_c = s->out_c / s->groups,
                 .batch = s->batch };
    p->rows = p->h.taps * p->w.taps * p->in_c;
    p->all_rows = s->filter[0] * s->filter[1] * p->in_c;
    p->filter_w = s->filter[1];
    p->padded = eddy__conv_padded(p->tiles, p->out_c);
    p->inside = eddy__conv_inside(&p->x, &p->h, &p->w);
    p->exact = !s->planes && !s->halves && p->padded == p->out_c;
    p->touch = s->groups == 1 && s->gap[1] == 1;
    p->work = 2.0 * (double)p->rows * (double)s->batch * (double)(s->out[0] * s->out[1]) *
              (double)s->out_c;
    divide_work(p);
    const int64_t pixels = p->images * p->height * p->dy.w;
    p->band = p->inside ? 0 : lines(p->images * eddy__conv_band_rows(&p->h, p->height) *
                                    eddy__conv_band_cols(&p->w) * p->x.c, size);
    p->dy_band = p->exact ? 0 : lines(pixels * p->dy.c + 2 * p->tiles->lanes, size);
    p->worker = p->units > 0 ? p->band + p->dy_band : 0;
    k->scratch_size = (uint64_t)p->parts * p->part + (uint64_t)k->threads * p->worker;
    return EDDY_OK;
}

/* -------------------------------------------------------------- one unit -- */

/* Some images, or some rows of one, and the addresses of their x and dy. */
typedef struct unit {
    int64_t        image, images, first, height;
    eddy_conv_axis h;                /* with all taps, or one row of them */
    const char    *x, *dy;
    int64_t        x_step[3], dy_step[3];
} unit;

static unit unit_of(const plan *p, int64_t i)
{
    unit u = { .image = i / p->heights * p->images, .first = i % p->heights * p->height,
               .h = p->h };
    u.images = eddy__min(p->images, p->batch - u.image);
    u.height = eddy__min(p->height, p->dy.h - u.first);
    return u;
}

static eddy_conv_image image_of(eddy_conv_image m, const char *data, int64_t i)
{
    m.data = data + eddy__conv_bytes(&m, i * m.h * m.w);
    return m;
}

static void find_x(const run *r, unit *u, char *band)
{
    const plan   *p = r->p;
    const int64_t c = p->x.c;
    const int64_t cols = p->inside ? p->x.w : eddy__conv_band_cols(&p->w);
    const int64_t rows = p->inside ? p->x.h : eddy__conv_band_rows(&u->h, u->height);
    u->x_step[0] = rows * cols * c;
    u->x_step[1] = u->h.step * cols * c;
    u->x_step[2] = p->w.step * c;
    u->x = band;
    for (int64_t n = 0; n < u->images; n++) {
        const eddy_conv_image m = image_of(p->x, r->x, u->image + n);
        const int64_t at = (u->first * u->h.step + u->h.at0) * m.w + p->w.at0;
        if (p->inside && n == 0) u->x = m.data + (size_t)(at * c) * m.size;
        if (p->inside) continue;
        eddy__conv_fill_band(&m, &u->h, &p->w, u->first, u->first + u->height,
                             band + (size_t)(n * u->x_step[0]) * m.size);
    }
}

static void find_dy(const run *r, unit *u, char *band)
{
    const plan   *p = r->p;
    const int64_t c = p->dy.c, pixels = u->height * p->dy.w;
    u->dy_step[0] = p->exact ? p->dy.h * p->dy.w * c : pixels * c;
    u->dy_step[1] = p->dy.w * c;
    u->dy_step[2] = c;
    u->dy = p->exact ? r->dy + (size_t)((u->image * p->dy.h + u->first) * p->dy.w * c) * p->dy.size
                     : band;
    if (p->exact) return;
    for (int64_t n = 0; n < u->images; n++, band += (size_t)(pixels * c) * p->dy.size) {
        const eddy_conv_image m = image_of(p->dy, r->dy, u->image + n);
        const int64_t at = u->first * m.w;
        if (m.planes)
            eddy__conv_move(m.size, pixels, c, true, band, c,
                            m.data + (size_t)at * m.size, m.h * m.w);
        else eddy__conv_copy(&m, band, m.data + eddy__conv_bytes(&m, at), pixels * c);
    }
    memset(band, 0, (size_t)(2 * p->tiles->lanes) * p->dy.size);
}

/* Omits the rows for which this row of taps reads above or below the image. */
static void leave_out(const plan *p, const unit *u, int64_t tap, eddy_conv_patch *s)
{
    const int64_t at = eddy__conv_at(&p->h, tap);
    int64_t first = 0, last = u->height;
    while (first < last && (u->first + first) * p->h.step + at < 0) first++;
    while (first < last && (u->first + last - 1) * p->h.step + at >= p->x.h) last--;
    s->count[1] = last - first;
    s->dy = (const char *)s->dy + (size_t)(first * u->dy_step[1]) * p->x.size;
    s->x = (const char *)s->x + (size_t)(first * u->x_step[1]) * p->x.size;
}

/* Adds the contribution of the unit to row `tap` of the taps, for one panel. */
static void add_panel(const plan *p, const unit *u, int64_t tap, int64_t panel, char *dw)
{
    const size_t  size = p->x.size;
    const int64_t group = panel / (p->panels / p->groups),
                  from = panel % (p->panels / p->groups) * 2 * p->tiles->lanes;
    const int64_t width = eddy__conv_panel(p->tiles, p->out_c, from);
    const int64_t cols = p->inside ? p->x.w : eddy__conv_band_cols(&p->w);
    const int64_t row = u->h.taps == 1 ? 0 : tap * u->h.at_step * cols * p->x.c;
    const int64_t runs = p->touch ? 1 : p->w.taps;
    eddy_conv_patch s = { .x = u->x + (size_t)(row + group * p->in_c) * size,
                          .dy = u->dy + (size_t)(group * p->out_c + from) * size,
                          .count = { u->images, 0, p->dy.w },
                          .channels = (int)eddy__min(width, p->out_c - from) };
    memcpy(s.x_step, u->x_step, sizeof s.x_step);
    memcpy(s.dy_step, u->dy_step, sizeof s.dy_step);
    s.run = p->touch ? p->in_c * p->w.taps : p->in_c;
    dw += (size_t)(p->rows * (group * p->padded + from) + tap * p->w.taps * p->in_c * width) * size;
    leave_out(p, u, tap, &s);
    if (s.count[1] == 0) return;
    for (int64_t t = 0; t < runs; t++, dw += (size_t)(s.run * width) * size) {
        s.dw = dw;
        p->tiles->patch(&s);
        s.x = (const char *)s.x + (size_t)(p->w.at_step * p->x.c) * size;
    }
}

/* -------------------------------------------------------------- all units -- */

static void clear(const plan *p, int64_t tap, int64_t taps, int64_t panel, char *dw)
{
    const int64_t group = panel / (p->panels / p->groups),
                  from = panel % (p->panels / p->groups) * 2 * p->tiles->lanes;
    const int64_t width = eddy__conv_panel(p->tiles, p->out_c, from), row = p->w.taps * p->in_c;
    const int64_t at = p->rows * (group * p->padded + from) + tap * row * width;
    memset(dw + (size_t)at * p->x.size, 0, (size_t)(taps * row * width) * p->x.size);
}

/* Adds one part of the pixels to its filter, or to a slice of it. */
static void add_part(const run *r, int64_t part, int64_t slice, char *scratch)
{
    const plan   *p = r->p;
    const bool    all = p->slices == 1;
    const int64_t panel = all ? 0 : slice % p->panels, panels = all ? p->panels : panel + 1;
    const int64_t tap = all ? 0 : slice / p->panels, taps = all ? p->h.taps : tap + 1;
    char         *dw = r->parts + (size_t)part * p->part;
    const int64_t last = p->units * (part + 1) / p->parts;
    for (int64_t j = panel; j < panels; j++) clear(p, tap, taps - tap, j, dw);
    for (int64_t i = p->units * part / p->parts; i < last && !eddy__stopped(r->stop); i++) {
        unit u = unit_of(p, i);
        u.h.at0 += tap * u.h.at_step;
        u.h.taps = taps - tap;
        find_x(r, &u, scratch);
        find_dy(r, &u, scratch + p->band);
        for (int64_t j = panel; j < panels && !eddy__stopped(r->stop); j++)
            for (int64_t t = tap; t < taps; t++) add_panel(p, &u, t, j, dw);
    }
}

static void add_some(void *arg, int64_t from, int64_t to, int worker)
{
    const run *r = arg;
    char *scratch = r->workers + (size_t)worker * r->p->worker;
    for (int64_t i = from; i < to; i++)
        add_part(r, i / r->p->slices, i % r->p->slices, scratch);
}

/* The position of row i of the whole filter in that of a part; -1 for a tap that reads nothing. */
static int64_t row_in_part(const plan *p, int64_t i)
{
    const int64_t tap = i / p->in_c, h = tap / p->filter_w - p->h.tap0,
                  w = tap % p->filter_w - p->w.tap0;
    if (h < 0 || h >= p->h.taps || w < 0 || w >= p->w.taps) return -1;
    return (h * p->w.taps + w) * p->in_c + i % p->in_c;
}

#define TEMPLATE "ops/kernels/convolution/conv_collect_loops.h"
#include "ops/kernels/for_floats.h"

static void collect_some(void *arg, int64_t from, int64_t to, int worker)
{
    (void)worker;
    const run *r = arg;
    EDDY_FOR_TYPE(collect, FOR_FLOATS, r->p->dtype)(r->p, r->parts, r->dw, from, to);
}

void eddy__conv_direct_weights(const eddy_kernel *k, const void *x, const void *dy, void *dw)
{
    const plan   *p = k->state;
    const int64_t items = p->parts * p->slices;
    if (p->all_rows * p->dy.c == 0) return;
    char *workers = (char *)k->scratch + (size_t)p->parts * p->part;
    run r = { p, x, dy, k->scratch, workers, dw, k->stop };
    /* Pieces of about 20 microseconds: a million multiply-adds, or adding 64 KiB. */
    const double grain = 1e6 / (p->work / (double)items + 1) + 1;
    const double row = (double)(p->parts * p->dy.c) * (double)p->x.size;
    eddy__parallel_or_stop(k, items, (int64_t)grain, add_some, &r);
    eddy__parallel_or_stop(k, p->all_rows, (int64_t)(65536 / row) + 1, collect_some, &r);
}
