/* conv_winograd.c -- Winograd convolution (minimal filtering), and the gradient with respect
 * to its input.
 *
 * The filter is transformed once per run. The image is then processed in blocks of tiles that fit
 * the cache of a core: transforms of the inputs, 36 products with the values of the filter, and
 * transforms to the results. */
#include "graph/base/stop.h"
#include "graph/base/thread_pool.h"
#include "graph/kernel.h"
#include "ops/kernels/convolution/conv_winograd.h"
#include "ops/kernels/elementwise/half_casts.h"
#include "graph/base/min_max.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

typedef struct plan {
    const eddy_conv_tiles *tiles;
    const eddy_winograd_tile *wino;
    int64_t  taps;                   /* of the filter */
    eddy_winograd_grid from, to;
    bool     back;
    int64_t  from_c, to_c;           /* in whole vectors */
    bool     shared;                 /* all workers compute one block, and then the next */
    int64_t  block, blocks;          /* tiles of one; how many */
    int64_t  v_step, u_step, m_step; /* from one of the 36 points to the next */
    int64_t  transposed, values, worker; /* floats of the transposed filter, of the values of a
                                      * block, and of each worker besides shared values */
    const float *kept;               /* the transformed filter, if it is constant; NULL */
    void    *direct;                 /* the plan for when a result is not finite */
} plan;

typedef struct run {
    const plan      *p;
    const void      *from;
    void            *to;
    const float     *filter;
    float           *transposed, *workers;
    float           *values;         /* of the shared block, whose tiles are n from `first` on */
    int64_t          first, n;
    float           *new_u;          /* where the filter is transformed in this run */
    const float     *u;
    eddy_conv_finish finish;
    atomic_bool      spoilt;
} run;

/* ----------------------------------------------------------------- tiles -- */

eddy_winograd_grid eddy__winograd_grid_of(const int64_t size[2], int64_t c, int64_t out,
                                  const int64_t first[2], const int64_t covered[2], int64_t batch)
{
    eddy_winograd_grid g = { .c = c, .out = out, .count = batch };
    for (int i = 0; i < 2; i++) {
        g.size[i] = size[i];
        g.first[i] = first[i];
        g.tiles[i] = (covered[i] + out - 1) / out;
        g.count *= g.tiles[i];
    }
    return g;
}

/* The first row and column of a tile; returns its image. */
static int64_t corner(const eddy_winograd_grid *g, int64_t t, int64_t at[2])
{
    const int64_t area = g->tiles[0] * g->tiles[1];
    at[0] = g->first[0] + t % area / g->tiles[1] * g->out;
    at[1] = g->first[1] + t % g->tiles[1] * g->out;
    return t / area;
}

void eddy__winograd_find(const eddy_winograd_grid *g, int side, int64_t t, const void *x,
                         const void *outside, const void **at)
{
    int64_t       first[2];
    const int64_t image = corner(g, t, first), row = g->size[1] * g->c;
    const int64_t top = image * g->size[0] * row + first[0] * row + first[1] * g->c;
    const bool    inside = first[0] >= 0 && first[0] + side <= g->size[0] && first[1] >= 0 &&
                           first[1] + side <= g->size[1];
    const int64_t bytes = g->halves ? sizeof(uint16_t) : sizeof(float);
    for (int64_t i = 0; i < side; i++) {
        const bool in = first[0] + i >= 0 && first[0] + i < g->size[0];
        for (int64_t j = 0; j < side; j++) {
            const int64_t column = first[1] + j;
            at[i * side + j] = inside || (in && column >= 0 && column < g->size[1])
                                   ? (const char *)x + (top + i * row + j * g->c) * bytes
                                   : outside;
        }
    }
}

bool eddy__winograd_spoilt(const float *check, int lanes)
{
    for (int i = 0; i < lanes; i++)
        if (isnan(check[i])) return true;
    return false;
}

/* -------------------------------------------------------------- planning -- */

/* The inputs and products of a block take about this much, which leaves room for the values of the
 * filter in the cache. */
enum { BLOCK_BYTES = 64 << 10, LEAST = 8, MOST = 64 };

/* Pads the values of a point, so that the 36 points begin in different sets of a cache. */
static int64_t padded_stride(int64_t n) { return (n + 15) / 16 * 16 + 16; }

/* The scratch memory for the transformed filter. */
static int64_t filter_floats(const plan *p)
{
    return p->kept ? 0 : EDDY_WINOGRAD_POINTS * p->u_step;
}

/* The values of a large filter are read once for each block, from memory that is slow: blocks are
 * large, and threads divide the points and the channels instead of the tiles. */
enum { LARGE_FILTER = 1 << 20, LARGE_BLOCK = 4 << 20 };

static void share_work(plan *p, int64_t tile)
{
    p->block = eddy__max(eddy__min(MOST, LARGE_BLOCK / tile), LEAST);
    p->blocks = (p->to.count + p->block - 1) / p->block;
    p->block = p->blocks > 0 ? (p->to.count + p->blocks - 1) / p->blocks : 1;
}

/* A tile of the result in float32, before it is rounded. */
static int64_t tile_floats(const plan *p)
{
    return p->to.halves ? padded_stride(p->to.out * p->to.out * p->to.c) : 0;
}

static void divide_work(plan *p, int threads)
{
    const int64_t tile = EDDY_WINOGRAD_POINTS * (p->from_c + p->to_c) * (int64_t)sizeof(float);
    p->shared = EDDY_WINOGRAD_POINTS * p->from_c * p->to_c * (int64_t)sizeof(float) > LARGE_FILTER;
    p->block = eddy__min(MOST, BLOCK_BYTES / tile > LEAST ? BLOCK_BYTES / tile : LEAST);
    while (threads > 1 && p->block > LEAST && p->to.count < 2 * p->block * threads) p->block /= 2;
    p->block = eddy__min(p->block, p->to.count > 0 ? p->to.count : 1);
    p->blocks = (p->to.count + p->block - 1) / p->block;
    if (p->shared) share_work(p, tile);
    p->v_step = padded_stride(p->block * p->from_c);
    p->m_step = padded_stride(p->block * p->to_c);
    p->u_step = padded_stride(p->from.c * p->to_c);
    p->transposed = p->back ? padded_stride(p->taps * p->from.c * p->to.c) : 0;
    p->values = EDDY_WINOGRAD_POINTS * (p->v_step + p->m_step);
    /* Room for zeros, for results outside the image, and for the check. */
    p->worker = (p->shared ? 0 : p->values) + padded_stride(p->from_c) + padded_stride(p->to_c) +
                2 * p->tiles->lanes + tile_floats(p);
}

static void transform_filter(const void *how, const void *from, void *to, const eddy_stop *stop);

/* For gradients, a filter is reversed first, in each run. */
static const float *keep_filter(const eddy_kernel *k, const plan *p)
{
    const eddy_packing form = {
        .layout = { (int64_t)(intptr_t)transform_filter, p->tiles->lanes, p->taps, p->from.c,
                    p->to.c },
        .bytes = (uint64_t)(EDDY_WINOGRAD_POINTS * p->u_step) * sizeof(float),
        .pack = transform_filter, .how = p,
    };
    return p->back || p->to.count * p->to.c == 0 ? NULL : eddy__kernel_packed(k, 1, &form);
}

eddy_status eddy__conv_winograd_prepare(eddy_kernel *k, const eddy_conv_size *s, bool back)
{
    const eddy_status fits = eddy__conv_direct_prepare(k, EDDY_FLOAT32, s, back, false);
    void *direct = k->state;
    if (fits != EDDY_OK) return fits;
    plan *p = eddy_kernel_state(k, sizeof *p);
    if (!p) return eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for the loops");
    const int64_t none[2] = { 0, 0 }, last = s->filter[0] - 1;
    const int64_t before[2] = { back ? s->before[0] - last : -s->before[0],
                                back ? s->before[1] - last : -s->before[1] };
    const int64_t *in = back ? s->out : s->in, *out = back ? s->in : s->out;
    *p = (plan){ .tiles = eddy__conv_tiles_of(EDDY_FLOAT32), .back = back, .direct = direct };
    p->wino = eddy__winograd_tile_of(p->tiles, s->filter[0]);
    p->taps = s->filter[0] * s->filter[1];
    p->from =
        eddy__winograd_grid_of(in, back ? s->out_c : s->in_c, p->wino->out, before, out, s->batch);
    p->to = eddy__winograd_grid_of(out, back ? s->in_c : s->out_c, p->wino->out, none, out,
                                   s->batch);
    p->from.halves = p->to.halves = s->halves;
    p->from_c = eddy__conv_padded(p->tiles, p->from.c);
    p->to_c = eddy__conv_padded(p->tiles, p->to.c);
    divide_work(p, k->threads);
    p->kept = keep_filter(k, p);
    const int64_t all = p->transposed + filter_floats(p) + (p->shared ? p->values : 0) +
                        k->threads * p->worker;
    if ((uint64_t)all * sizeof(float) > k->scratch_size)
        k->scratch_size = (uint64_t)all * sizeof(float);
    return EDDY_OK;
}

/* ------------------------------------------------------------ the filter -- */

/* The filter of the gradient: taps in reverse order, channels exchanged. */
static void turn_some(void *arg, int64_t from, int64_t to, int worker)
{
    (void)worker;
    const run    *r = arg;
    const int64_t n = r->p->from.c, m = r->p->to.c;
    for (int64_t t = from; t < to; t++)
        eddy__conv_move(sizeof(float), n, m, true, r->transposed + t * n * m, m,
                        r->filter + (r->p->taps - 1 - t) * n * m, n);
}

/* Transforms rows of a filter [taps, from.c, to.c]. */
static void transform_some(void *arg, int64_t from, int64_t to, int worker)
{
    (void)worker;
    const run    *r = arg;
    const plan   *p = r->p;
    const int64_t n = p->from.c, m = p->to.c;
    const void   *taps[EDDY_WINOGRAD_TAPS_MOST * EDDY_WINOGRAD_TAPS_MOST];
    const float  *w = p->back ? r->transposed : r->filter;
    for (int64_t i = from; i < to; i++)
        for (int64_t c = 0, width; c < m; c += width) {
            width = eddy__conv_panel(p->tiles, m, c);
            for (int64_t t = 0; t < p->taps; t++) taps[t] = w + (t * n + i) * m + c;
            p->wino->filter(taps, eddy__min(width, m - c), r->new_u + n * c + i * width, p->u_step);
        }
}

static void transform_filter(const void *how, const void *from, void *to, const eddy_stop *stop)
{
    const plan *p = how;
    run         r = { .p = p, .filter = from, .new_u = to };
    for (int64_t i = 0; i < p->from.c && !eddy__stopped(stop); i++) transform_some(&r, i, i + 1, 0);
}

/* ------------------------------------------------------------ the blocks -- */

/* The memory of a worker. */
typedef struct room {
    float *v, *m, *zeros, *outside, *check, *tile;
} room;

static room room_of(const run *r, int worker)
{
    const plan *p = r->p;
    float      *at = r->workers + worker * p->worker;
    room        w = { .v = p->shared ? r->values : at };
    w.m = w.v + EDDY_WINOGRAD_POINTS * p->v_step;
    w.zeros = p->shared ? at : at + p->values;
    w.outside = w.zeros + padded_stride(p->from_c);
    w.check = w.outside + padded_stride(p->to_c);
    w.tile = w.check + 2 * p->tiles->lanes;
    return w;
}

/* Of tiles [from, to) of a block, which begins at tile `first`. */
static void inputs(const run *r, const room *w, int64_t first, int64_t from, int64_t to)
{
    const plan *p = r->p;
    const void *x[EDDY_WINOGRAD_POINTS];
    void (*input)(const void *const *, int64_t, float *, int64_t) =
        p->from.halves ? p->wino->input_half : p->wino->input;
    memset(w->zeros, 0, (size_t)p->from_c * sizeof(float));
    for (int64_t t = from; t < to; t++) {
        eddy__winograd_find(&p->from, EDDY_WINOGRAD_IN, first + t, r->from, w->zeros, x);
        input(x, p->from.c, w->v + t * p->from_c, p->v_step);
    }
}

static int64_t panels_of(const plan *p)
{
    return eddy__pieces(p->to_c, 2 * p->tiles->lanes);
}

/* The products of the tiles of a block at points and panels of channels [from, to). */
static void multiply(const run *r, const room *w, int64_t tiles, int64_t from, int64_t to)
{
    const plan   *p = r->p;
    const int64_t zero = 0, panels = panels_of(p);
    eddy_conv_strip s = { .at = &zero, .taps = 1, .run = p->from.c, .pixels = tiles,
                          .x_step = p->from_c, .y_step = p->to_c };
    for (int64_t j = from; j < to; j++) {
        const int64_t i = j / panels, c = j % panels * 2 * p->tiles->lanes;
        s.channels = (int)eddy__conv_panel(p->tiles, p->to.c, c);
        s.x = w->v + i * p->v_step;
        s.w = r->u + i * p->u_step + p->from.c * c;
        s.y = w->m + i * p->m_step + c;
        p->tiles->strip(&s);
    }
}

/* Bias, sum and relu of the pixels of a tile that are inside the image; with `tile` they are there,
 * and are rounded to the image. */
static void finish_tile(const run *r, int64_t t, float *tile)
{
    const plan   *p = r->p;
    const int64_t w = p->to.size[1], c = p->to.c;
    int64_t       at[2];
    const int64_t image = corner(&p->to, t, at), pixels = eddy__min(p->to.out, w - at[1]);
    const eddy_tile_fn narrow = tile ? eddy__f32_to_half(EDDY_BFLOAT16) : NULL;
    for (int64_t i = at[0]; i < eddy__min(at[0] + p->to.out, p->to.size[0]); i++) {
        const int64_t y = ((image * p->to.size[0] + i) * w + at[1]) * c;
        float *row = tile ? tile + (i - at[0]) * p->to.out * c : (float *)r->to + y;
        const eddy_conv_strip s = { .y = row, .pixels = pixels, .y_step = c, .channels = (int)c };
        eddy__conv_finish_strip(&r->finish, EDDY_FLOAT32, &s, y, 0);
        if (tile) narrow(pixels * c, (uint16_t *)r->to + y, (const void *[]){ row }, NULL);
    }
}

static void outputs(run *r, const room *w, int64_t first, int64_t from, int64_t to)
{
    const plan *p = r->p;
    const void *y[EDDY_WINOGRAD_OUT_MOST * EDDY_WINOGRAD_OUT_MOST];
    float      *tile = p->to.halves ? w->tile : NULL;
    memset(w->check, 0, (size_t)p->tiles->lanes * sizeof(float));
    for (int i = 0; i < p->to.out * p->to.out && tile; i++) y[i] = tile + i * p->to.c;
    for (int64_t t = from; t < to; t++) {
        if (!tile) eddy__winograd_find(&p->to, p->wino->out, first + t, r->to, w->outside, y);
        p->wino->output(w->m + t * p->to_c, p->m_step, p->to.c, (float *const *)(void *)y,
                        w->check);
        if (tile || r->finish.bias || r->finish.residual || r->finish.relu)
            finish_tile(r, first + t, tile);
    }
    if (eddy__winograd_spoilt(w->check, p->tiles->lanes))
        atomic_store_explicit(&r->spoilt, true, memory_order_relaxed);
}

/* Blocks [from, to). */
static void run_some(void *arg, int64_t from, int64_t to, int worker)
{
    run          *r = arg;
    const plan   *p = r->p;
    const room    w = room_of(r, worker);
    const int64_t products = EDDY_WINOGRAD_POINTS * panels_of(p);
    for (int64_t i = from; i < to; i++) {
        const int64_t first = i * p->block, n = eddy__min(p->block, p->to.count - first);
        inputs(r, &w, first, 0, n);
        multiply(r, &w, n, 0, products);
        outputs(r, &w, first, 0, n);
    }
}

/* Parts of the shared block. */
static void some_inputs(void *arg, int64_t from, int64_t to, int worker)
{
    const run *r = arg;
    const room w = room_of(r, worker);
    inputs(r, &w, r->first, from, to);
}

static void some_products(void *arg, int64_t from, int64_t to, int worker)
{
    const run *r = arg;
    const room w = room_of(r, worker);
    multiply(r, &w, r->n, from, to);
}

static void some_outputs(void *arg, int64_t from, int64_t to, int worker)
{
    run       *r = arg;
    const room w = room_of(r, worker);
    outputs(r, &w, r->first, from, to);
}

/* Pieces of about 20 microseconds, as in eddy__conv_winograd. */
static void run_shared(const eddy_kernel *k, run *r)
{
    const plan   *p = r->p;
    const int64_t products = EDDY_WINOGRAD_POINTS * panels_of(p);
    for (r->first = 0; r->first < p->to.count; r->first += p->block) {
        r->n = eddy__min(p->block, p->to.count - r->first);
        const int64_t each = 2 * r->n * p->from_c * 2 * p->tiles->lanes;
        eddy__parallel_or_stop(k, r->n, 1000000 / (500 * p->from_c) + 1, some_inputs, r);
        eddy__parallel_or_stop(k, products, 1000000 / each + 1, some_products, r);
        eddy__parallel_or_stop(k, r->n, 1000000 / (500 * p->to_c) + 1, some_outputs, r);
        if (eddy__stopped(k->stop)) return;
    }
}

void eddy__conv_winograd(const eddy_kernel *k, const void *x, const void *filter, void *y,
                         eddy_conv_finish finish)
{
    const plan *p = k->state;
    float *scratch = k->scratch;
    run r = { .p = p, .from = x, .filter = filter, .to = y, .transposed = scratch,
              .new_u = scratch + p->transposed, .finish = finish };
    r.u = p->kept ? p->kept : r.new_u;
    r.values = r.new_u + filter_floats(p);
    r.workers = r.values + (p->shared ? p->values : 0);
    if (p->to.count * p->to.c == 0) return;
    /* Pieces of about 20 microseconds: a million operations, or 64 KiB of values of the filter. */
    const int64_t row = EDDY_WINOGRAD_POINTS * p->to_c;
    const int64_t block = 2 * p->block * row * p->from_c;
    if (p->back)
        eddy__parallel_or_stop(k, p->taps, 65536 / (4 * p->from.c * p->to.c) + 1, turn_some, &r);
    if (!p->kept)
        eddy__parallel_or_stop(k, p->from.c, 65536 / (4 * row) + 1, transform_some, &r);
    if (p->shared) run_shared(k, &r);
    else eddy__parallel_or_stop(k, p->blocks, 1000000 / block + 1, run_some, &r);
    if (!atomic_load_explicit(&r.spoilt, memory_order_relaxed)) return;
    eddy_kernel direct = *k;
    direct.state = p->direct;
    eddy__conv_direct(&direct, x, filter, y, finish);
}
