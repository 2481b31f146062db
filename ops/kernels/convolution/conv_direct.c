/* conv_direct.c -- direct 2-D convolution (without im2col), and the gradient with respect to its
 * input.
 *
 * Both are the same loop nest: each element of the result is a sum over filter taps of elements
 * of a source, whose position advances evenly with the position in the result. The gradient with
 * stride s takes s*s such loop nests (walks), one for each remainder of the positions modulo s,
 * with the taps that reach these positions. */
#include "graph/base/stop.h"
#include "graph/kernel.h"
#include "graph/base/cpu.h"
#include "graph/base/thread_pool.h"
#include "ops/kernels/arrays/box_copy.h"
#include "graph/base/min_max.h"
#include "ops/kernels/convolution/conv_direct.h"
#include "ops/kernels/elementwise/half_casts.h"

#include <string.h>

typedef struct walk {
    eddy_conv_axis h, w;
    bool           inside;           /* reads the source, not a copied band */
    int64_t        row;              /* pixels from one row to the next there */
    int64_t        taps, run;        /* of a strip; adjacent taps are one run */
    int64_t       *at;
    int64_t        filter;           /* where its part of the packed filter begins */
} walk;

typedef struct plan {
    const eddy_conv_tiles *tiles;
    eddy_conv_image from, to;
    eddy_dtype      dtype;
    bool            back, gaps;      /* gaps: positions outside all walks, which are zero */
    bool            pairs;           /* the source and the filter are bfloat16; each element of the
                                      * source, and of the packed filter, is a pair of channels */
    int64_t         batch, groups, from_c, to_c;     /* channels of a group */
    int64_t         filter_row;      /* channels of the filter's last axis */
    int64_t         filter_w;
    int64_t         rows, bands;     /* positions of a walk in a band; bands */
    int64_t         shares;          /* of the panels of channels, which threads divide */
    int64_t         space;           /* rows of the result between two positions */
    uint64_t        packed, band, result;            /* bytes: of all, of each worker */
    const char     *kept;            /* the packed filter, if it is constant; NULL */
    double          work;            /* operations */
    int             n;
    walk            walks[];
} plan;

/* The plan, and the operands of one run. */
typedef struct run {
    const plan      *p;
    const char      *from, *filter;
    char            *to, *packed, *workers;
    eddy_conv_finish finish;
    const eddy_stop *stop;      /* of the kernel */
} run;

/* ------------------------------------------------------------- planning -- */

/* Tap t reaches position first + j * step of the input if the position of the output from which it
 * comes is an integer. This repeats with a period in t. */
static eddy_conv_axis backward_axis(const eddy_conv_size *s, int i, int64_t first)
{
    const int64_t step = s->step[i], gap = s->gap[i];
    int64_t a = gap, b = step;
    while (b > 0) {
        const int64_t rest = a % b;
        a = b, b = rest;
    }
    const int64_t period = step / a;
    eddy_conv_axis x = { .places = (s->in[i] - first + step - 1) / step, .step = 1,
                         .at_step = gap / a, .tap_step = -period, .first = first, .space = step };
    for (int64_t t = 0; t < period && t < s->filter[i]; t++) {
        if ((first + s->before[i] - t * gap) % step != 0) continue;
        x.taps = (s->filter[i] - t + period - 1) / period;
        x.tap0 = t + (x.taps - 1) * period;
        x.at0 = (first + s->before[i] - x.tap0 * gap) / step;
    }
    return eddy__conv_trimmed_axis(x, s->out[i]);
}

static int64_t add_walk(plan *p, eddy_conv_axis h, eddy_conv_axis w, int64_t *at, int64_t filter)
{
    walk *k = &p->walks[p->n++];
    const bool touch = p->groups == 1 && w.at_step == 1;
    *k = (walk){ .h = h, .w = w, .inside = eddy__conv_inside(&p->from, &h, &w), .at = at,
                 .filter = filter };
    k->row = k->inside ? p->from.w : eddy__conv_band_cols(&w);
    k->taps = h.taps * (touch ? 1 : w.taps);
    k->run = p->from_c * (touch ? w.taps : 1);
    for (int64_t t = 0; t < k->taps; t++) {
        const int64_t i = touch ? t : t / w.taps, j = touch ? 0 : t % w.taps;
        at[t] = (i * h.at_step * k->row + j * w.at_step) * p->from.c;
    }
    return h.taps * w.taps;
}

static uint64_t band_bytes(const plan *p, int64_t rows)
{
    uint64_t most = 0;
    for (int i = 0; i < p->n; i++) {
        const walk *k = &p->walks[i];
        const uint64_t bytes = (uint64_t)(eddy__conv_band_rows(&k->h, rows) * k->row * p->from.c) *
                               p->from.size;
        if (!k->inside && bytes > most) most = bytes;
    }
    return (most + 63) & ~(uint64_t)63;
}

static uint64_t result_bytes(const plan *p, int64_t rows)
{
    const int64_t all = rows * p->space < p->to.h ? rows * p->space : p->to.h;
    const uint64_t bytes = (uint64_t)(all * p->to.w * p->to.c) * p->to.size;
    return p->to.planes || p->to.halves ? (bytes + 63) & ~(uint64_t)63 : 0;
}

static int64_t panels_of(const plan *p)
{
    return eddy__pieces(p->to_c, 2 * p->tiles->lanes);
}

/* Each band reads the whole filter: a large one is divided rather than the rows. */
static bool shares_panels(const plan *p, int threads)
{
    enum { LARGE = 1 << 20 };
    return threads > 1 && p->n == 1 && !p->gaps && p->groups == 1 && p->result == 0 &&
           p->packed > LARGE && 2 * p->shares <= panels_of(p);
}

/* Bands low enough for the cache of a core, and enough of them for all threads. */
static void cut_bands(plan *p, int threads)
{
    enum { CACHE = 192 << 10 };
    const int64_t all = (p->to.h + p->space - 1) / p->space;
    p->rows = all > 0 ? all : 1;
    while (p->rows > 1 && band_bytes(p, p->rows) + result_bytes(p, p->rows) > CACHE)
        p->rows = (p->rows + 1) / 2;
    p->bands = (all + p->rows - 1) / p->rows;
    p->shares = 1;
    p->result = result_bytes(p, p->rows);
    while (p->batch * p->bands * p->shares < 4 * threads && shares_panels(p, threads))
        p->shares *= 2;
    while (p->shares == 1 && p->rows > 4 && threads > 1 &&
           p->batch * ((all + p->rows - 1) / p->rows) < 4 * threads)
        p->rows = (p->rows + 1) / 2;
    p->bands = (all + p->rows - 1) / p->rows;
    p->band = band_bytes(p, p->rows);
    p->result = result_bytes(p, p->rows);
}

static void plan_walks(plan *p, const eddy_conv_size *s, int64_t *at)
{
    int64_t done = 0;
    const int64_t each = p->groups * p->from_c * eddy__conv_padded(p->tiles, p->to_c);
    if (!p->back)
        done = add_walk(p, eddy__conv_forward_axis(s, 0), eddy__conv_forward_axis(s, 1), at, 0);
    for (int64_t i = 0; p->back && i < s->step[0] && i < s->in[0]; i++)
        for (int64_t j = 0; j < s->step[1] && j < s->in[1]; j++) {
            const eddy_conv_axis h = backward_axis(s, 0, i), w = backward_axis(s, 1, j);
            if (h.taps > 0 && w.taps > 0) done += add_walk(p, h, w, at + done, done * each);
            else p->gaps = true;
        }
    p->packed = ((uint64_t)(done * each) * p->from.size + 63) & ~(uint64_t)63;
}

static bool is_empty(const plan *p) { return p->batch * p->to.h * p->to.w * p->to.c == 0; }

static void pack_filter(const void *how, const void *from, void *to, const eddy_stop *stop);

/* Of several walks, whose axes do not fit a layout, the filter is packed in each run. */
static const char *keep_filter(const eddy_kernel *k, const plan *p)
{
    const eddy_conv_axis *h = &p->walks[0].h, *w = &p->walks[0].w;
    const eddy_packing    form = {
        .layout = { (int64_t)(intptr_t)pack_filter, (int64_t)p->from.size, p->tiles->lanes,
                    p->pairs, p->back, p->groups, p->from_c, p->to_c, p->filter_w, h->taps, h->tap0,
                    h->tap_step, w->taps, w->tap0, w->tap_step },
        .bytes = p->packed, .pack = pack_filter, .how = p,
    };
    return p->n == 1 && !is_empty(p) ? eddy__kernel_packed(k, 1, &form) : NULL;
}

eddy_status eddy__conv_direct_prepare(eddy_kernel *k, eddy_dtype d, const eddy_conv_size *s,
                                      bool back, bool keep)
{
    const int64_t taps = s->filter[0] * s->filter[1];
    const int64_t rows = eddy__min(s->step[0], s->filter[0]);
    const int64_t columns = eddy__min(s->step[1], s->filter[1]), walks = back ? rows * columns : 1;
    const bool    pairs = d == EDDY_BFLOAT16;
    const size_t  size = pairs ? sizeof(float) : eddy_dtype_size(d);
    const eddy_conv_image x = { NULL, s->in[0], s->in[1], s->in_c, s->planes, size, s->halves },
                          y = { NULL, s->out[0], s->out[1], s->out_c, s->planes, size, s->halves };
    plan *p = eddy_kernel_state(k, sizeof *p + (uint64_t)walks * sizeof(walk) +
                                (uint64_t)taps * sizeof(int64_t));
    if (!p) return eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for the loops");
    *p = (plan){ .tiles = eddy__conv_tiles_of(d), .from = back ? y : x, .to = back ? x : y,
                 .dtype = pairs ? EDDY_FLOAT32 : d, .back = back, .pairs = pairs,
                 .batch = s->batch, .groups = s->groups, .filter_row = s->out_c,
                 .filter_w = s->filter[1], .space = back ? s->step[0] : 1 };
    if (pairs) p->from.c /= 2;
    p->from_c = p->from.c / s->groups;
    p->to_c = p->to.c / s->groups;
    p->work = 2.0 * (double)taps * (double)p->from_c * (double)s->batch *
              (double)(s->out[0] * s->out[1]) * (double)(back ? s->in_c : s->out_c);
    plan_walks(p, s, (int64_t *)(void *)(p->walks + walks));
    cut_bands(p, k->threads);
    if (keep) p->kept = keep_filter(k, p);
    if (p->kept) p->packed = 0;
    if (!is_empty(p))
        k->scratch_size = p->packed + (uint64_t)k->threads * (p->band + p->result);
    return EDDY_OK;
}

/* ----------------------------------------------------------- the filter -- */

/* One tap of the filter in bfloat16, [from_c, n] pairs of channels. */
static void pack_pairs(const plan *p, const uint16_t *filter, int64_t n, int64_t width,
                       uint32_t *to)
{
    if (p->back) {                  /* pairs are neighbors in the filter's last axis */
        eddy__conv_move(sizeof *to, p->from_c, n, true, to, width, filter, p->filter_row / 2);
        return;
    }
    for (int64_t k = 0; k < p->from_c; k++, filter += 2 * p->filter_row)
        for (int64_t j = 0; j < n; j++)
            to[k * width + j] = (uint32_t)filter[j] | (uint32_t)filter[p->filter_row + j] << 16;
}

/* The filter for one walk, group and panel, [taps, from_c, width], padded with zeros. */
static void pack_panel(const run *r, const walk *k, int64_t group, int64_t from)
{
    const plan   *p = r->p;
    const size_t  size = p->from.size;
    const int64_t width = eddy__conv_panel(p->tiles, p->to_c, from), taps = k->h.taps * k->w.taps;
    const int64_t from_c = p->pairs ? 2 * p->from_c : p->from_c;
    const int64_t n = eddy__min(width, p->to_c - from), in_c = p->back ? p->to_c : from_c;
    const int64_t padded = eddy__conv_padded(p->tiles, p->to_c);
    const int64_t at = k->filter + taps * p->from_c * (group * padded + from);
    char *to = r->packed + (size_t)at * size;
    if (n < width) memset(to, 0, (size_t)(taps * p->from_c * width) * size);
    for (int64_t t = 0; t < taps; t++, to += (size_t)(p->from_c * width) * size) {
        const int64_t i = k->h.tap0 + t / k->w.taps * k->h.tap_step,
                      j = k->w.tap0 + t % k->w.taps * k->w.tap_step;
        const int64_t tap = (i * p->filter_w + j) * in_c * p->filter_row;
        const int64_t place = p->back ? tap + from * p->filter_row + group * from_c
                                      : tap + group * p->to_c + from;
        if (p->pairs)
            pack_pairs(p, (const uint16_t *)(const void *)r->filter + place, n, width,
                       (uint32_t *)(void *)to);
        else
            eddy__conv_move(size, p->from_c, n, p->back, to, width,
                            r->filter + (size_t)place * size, p->filter_row);
    }
}

static void pack_some(void *arg, int64_t from, int64_t to, int worker)
{
    (void)worker;
    const run    *r = arg;
    const int64_t panels = panels_of(r->p);
    for (int64_t i = from; i < to; i++) {
        const int64_t rest = i % (r->p->groups * panels);
        pack_panel(r, &r->p->walks[i / (r->p->groups * panels)], rest / panels,
                   rest % panels * 2 * r->p->tiles->lanes);
    }
}

static void pack_filter(const void *how, const void *from, void *to, const eddy_stop *stop)
{
    const plan   *p = how;
    const int64_t panels = p->n * p->groups * panels_of(p);
    run           r = { .p = p, .filter = from, .packed = to };
    for (int64_t i = 0; i < panels && !eddy__stopped(stop); i++) pack_some(&r, i, i + 1, 0);
}

/* ----------------------------------------------------------- the strips -- */

#define TEMPLATE "ops/kernels/convolution/conv_finish_loops.h"
#include "ops/kernels/for_floats.h"

void eddy__conv_finish_strip(const eddy_conv_finish *f, eddy_dtype d, const eddy_conv_strip *s,
                             int64_t y, int64_t channel)
{
    if (!f->bias && !f->residual && !f->relu) return;
    EDDY_FOR_TYPE(finish, FOR_FLOATS, d)(f, s, y, channel);
}

/* The strip of position i along the height, without the taps above and below the image; `from`
 * holds the pixels that are read for the positions from `first` on. */
static void set_strip(const plan *p, const walk *k, eddy_conv_strip *s, const char *from, int64_t i,
                      int64_t first, const char *filter, int64_t width)
{
    const eddy_conv_axis *h = &k->h;
    const int64_t row = i * h->step, each = k->taps / h->taps;
    int64_t t = 0, last = h->taps;
    while (t < last && row + eddy__conv_at(h, t) < 0) t++;
    while (t < last && row + eddy__conv_at(h, last - 1) >= p->from.h) last--;
    s->x = from + (size_t)((i - first) * h->step * k->row * p->from.c) * p->from.size;
    s->w = filter + (size_t)(t * each * k->run * width) * p->from.size;
    s->at = k->at + t * each;
    s->taps = (last - t) * each;
}

/* Computes positions [first, last) of a walk. `from` points to the pixels that are read for them,
 * and `to` to row `row0` of an image of the result, which begins at element `image`. */
static void run_walk(const run *r, const walk *k, const char *from, char *to, int64_t first,
                     int64_t last, int64_t row0, int64_t image, int64_t share)
{
    const plan   *p = r->p;
    const size_t  size = p->from.size;
    const int64_t taps = k->h.taps * k->w.taps, padded = eddy__conv_padded(p->tiles, p->to_c);
    const char   *filter = p->kept ? p->kept : r->packed;
    eddy_conv_strip s = { .run = k->run, .pixels = k->w.places,
                          .x_step = k->w.step * p->from.c, .y_step = k->w.space * p->to.c };
    const int64_t wide = 2 * p->tiles->lanes, panels = panels_of(p);
    const int64_t c0 = panels * share / p->shares * wide,
                  c1 = eddy__min(panels * (share + 1) / p->shares * wide, p->to_c);
    for (int64_t g = 0; g < p->groups; g++)
        for (int64_t c = c0; c < c1; c += s.channels) {
            const int64_t width = eddy__conv_panel(p->tiles, p->to_c, c);
            const int64_t w = k->filter + taps * p->from_c * (g * padded + c);
            s.channels = (int)eddy__min(width, p->to_c - c);
            for (int64_t i = first; i < last && !eddy__stopped(r->stop); i++) {
                const int64_t row = k->h.first + i * k->h.space;
                const int64_t y = (row * p->to.w + k->w.first) * p->to.c + g * p->to_c + c;
                set_strip(p, k, &s, from + (size_t)(g * p->from_c) * size, i, first,
                          filter + (size_t)w * size, width);
                s.y = to + (size_t)(y - row0 * p->to.w * p->to.c) * size;
                p->tiles->strip(&s);
                eddy__conv_finish_strip(&r->finish, p->dtype, &s, image + y, g * p->to_c + c);
            }
        }
}

/* The pixels that a walk reads for positions [first, last), in the image or in a copied band. */
static const char *source_of(const walk *k, const eddy_conv_image *m, int64_t first, int64_t last,
                             char *band)
{
    const int64_t at = (first * k->h.step + k->h.at0) * m->w + k->w.at0;
    if (k->inside) return m->data + (size_t)(at * m->c) * m->size;
    eddy__conv_fill_band(m, &k->h, &k->w, first, last, band);
    return band;
}

/* One band of one image of the result, or a share of its channels. */
static void run_band(const run *r, int64_t image, int64_t band, int64_t share, char *scratch)
{
    const plan     *p = r->p;
    const int64_t   area = p->to.h * p->to.w, first = band * p->rows;
    const int64_t   row0 = first * p->space, rows = eddy__min(p->rows * p->space, p->to.h - row0);
    eddy_conv_image m = p->from;
    m.data = r->from + eddy__conv_bytes(&m, image * m.h * m.w);
    char *to = r->to + eddy__conv_bytes(&p->to, image * area + (p->to.planes ? 0 : row0 * p->to.w));
    char *y = p->result > 0 ? scratch + p->band : to;
    if (p->gaps) memset(y, 0, (size_t)(rows * p->to.w * p->to.c) * m.size);
    for (int i = 0; i < p->n; i++) {
        const walk   *k = &p->walks[i];
        const int64_t last = eddy__min(first + p->rows, k->h.places);
        if (first < last)
            run_walk(r, k, source_of(k, &m, first, last, scratch), y, first, last, row0,
                     image * area * p->to.c, share);
    }
    if (p->to.planes)
        eddy__conv_move(m.size, p->to.c, rows * p->to.w, true,
                        to + (size_t)(row0 * p->to.w) * m.size, area, y, p->to.c);
    if (p->to.halves)
        eddy__f32_to_half(EDDY_BFLOAT16)(rows * p->to.w * p->to.c, to, (const void *[]){ y }, NULL);
}

static void run_some(void *arg, int64_t from, int64_t to, int worker)
{
    const run *r = arg;
    char *scratch = r->workers + (uint64_t)worker * (r->p->band + r->p->result);
    for (int64_t i = from; i < to; i++) {
        const int64_t of_image = r->p->bands * r->p->shares, rest = i % of_image;
        run_band(r, i / of_image, rest / r->p->shares, rest % r->p->shares, scratch);
    }
}

void eddy__conv_direct(const eddy_kernel *k, const void *x, const void *filter, void *y,
                       eddy_conv_finish finish)
{
    const plan   *p = k->state;
    const int64_t items = p->batch * p->bands * p->shares, panels = p->n * p->groups * panels_of(p);
    if (is_empty(p)) return;
    run r = { p, x, filter, y, k->scratch, (char *)k->scratch + p->packed, finish, k->stop };
    /* Pieces of about 20 microseconds: a million multiply-adds, or packing 64 KiB. */
    const double grain = 1e6 / (p->work / (double)items + 1) + 1;
    if (p->packed > 0)
        eddy__parallel_or_stop(k, panels,
                               (int64_t)((double)panels * 65536 / (double)(p->packed + 1)) + 1,
                               pack_some, &r);
    eddy__parallel_or_stop(k, items, (int64_t)grain, run_some, &r);
}
