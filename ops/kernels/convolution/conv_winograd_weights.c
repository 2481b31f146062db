/* conv_winograd_weights.c -- the gradient of a Winograd convolution with respect to its filter.
 *
 * The 36 values of x and of dy are computed for a chunk of tiles at a time, as many as fit the
 * caches of the cores, and 36 products of them are added to sums that are transformed at the end.
 * The sum of an element is one chain of additions over a part of the tiles. There are a few parts,
 * which limits rounding errors, and their sums are added in a fixed order: the size of the chunks
 * does not change the bits. */
#include "graph/base/thread_pool.h"
#include "ops/kernels/convolution/conv_winograd.h"
#include "graph/base/min_max.h"

#include <stdatomic.h>
#include <string.h>

typedef struct plan {
    const eddy_conv_tiles *tiles;
    const eddy_winograd_tile *wino;
    eddy_winograd_grid x, dy;
    int64_t  x_c, dy_c;              /* in whole vectors */
    int64_t  part, chunk, panels;    /* tiles of one; panels of channels of dy */
    int64_t  v_step, z_step, m_step; /* from one of the 36 points to the next, in x, dy, the sums */
    int64_t  zeros;
    void    *direct;                 /* the plan for when a result is not finite */
} plan;

typedef struct run {
    const plan  *p;
    const void  *x, *dy;
    float       *v, *z, *m, *apart, *zeros, *dw;     /* apart: the sums of parts after the first */
    int64_t      first, n;           /* the tiles of the chunk */
    atomic_bool  spoilt;
} run;

/* CHUNK_BYTES: of the values of x and dy, for each worker.  LEAST: the number of tiles that are
 * worth reading and writing the sums. */
enum { CHUNK_BYTES = 512 << 10, LEAST = 64, PARTS = 4 };

/* Pads the values of a point, so that the 36 points begin in different sets of a cache. */
static int64_t padded_stride(int64_t n) { return (n + 15) / 16 * 16 + 16; }

eddy_status eddy__conv_winograd_weights_prepare(eddy_kernel *k, const eddy_conv_size *s)
{
    const eddy_status fits = eddy__conv_direct_weights_prepare(k, EDDY_FLOAT32, s);
    void *direct = k->state;
    if (fits != EDDY_OK) return fits;
    plan *p = eddy_kernel_state(k, sizeof *p);
    if (!p) return eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for the loops");
    const int64_t none[2] = { 0, 0 }, before[2] = { -s->before[0], -s->before[1] };
    *p = (plan){ .tiles = eddy__conv_tiles_of(EDDY_FLOAT32), .direct = direct };
    p->wino = eddy__winograd_tile_of(p->tiles, s->filter[0]);
    p->x = eddy__winograd_grid_of(s->in, s->in_c, p->wino->out, before, s->out, s->batch);
    p->dy = eddy__winograd_grid_of(s->out, s->out_c, p->wino->out, none, s->out, s->batch);
    p->x.halves = p->dy.halves = s->halves;
    p->x_c = eddy__conv_padded(p->tiles, s->in_c);
    p->dy_c = eddy__conv_padded(p->tiles, s->out_c);
    p->panels = eddy__pieces(s->out_c, 2 * p->tiles->lanes);
    const int64_t tile = EDDY_WINOGRAD_POINTS * (p->x_c + p->dy_c) * (int64_t)sizeof(float);
    p->part = eddy__max(1, eddy__pieces(p->x.count, PARTS * LEAST)) * LEAST;
    p->chunk = eddy__max(LEAST, k->threads * (int64_t)CHUNK_BYTES / tile);
    p->chunk = eddy__min(p->x.count, eddy__pieces(p->part, eddy__pieces(p->part, p->chunk)));
    p->v_step = padded_stride(p->chunk * p->x_c);
    p->z_step = padded_stride(p->chunk * p->dy_c);
    p->m_step = padded_stride(s->in_c * p->dy_c);
    p->zeros = padded_stride(eddy__max(p->x_c, p->dy_c));
    const int64_t all = EDDY_WINOGRAD_POINTS * (p->v_step + p->z_step + 2 * p->m_step) + p->zeros;
    if ((uint64_t)all * sizeof(float) > k->scratch_size)
        k->scratch_size = (uint64_t)all * sizeof(float);
    return EDDY_OK;
}

static void transform_some(void *arg, int64_t from, int64_t to, int worker)
{
    (void)worker;
    const run   *r = arg;
    const plan  *p = r->p;
    const void  *at[EDDY_WINOGRAD_POINTS];
    for (int64_t t = from; t < to; t++) {
        eddy__winograd_find(&p->x, EDDY_WINOGRAD_IN, r->first + t, r->x, r->zeros, at);
        (p->x.halves ? p->wino->input_half : p->wino->input)(at, p->x.c, r->v + t * p->x_c,
                                                             p->v_step);
        eddy__winograd_find(&p->dy, p->wino->out, r->first + t, r->dy, r->zeros, at);
        (p->x.halves ? p->wino->slope_half : p->wino->slope)(at, p->dy.c, r->z + t * p->dy_c,
                                                             p->z_step);
    }
}

/* Adds the product of a chunk to the sums of its part, and these, once complete, to those of the
 * first part. */
static void multiply(const run *r, eddy_conv_patch *s, int64_t sums, int64_t n)
{
    const plan *p = r->p;
    float      *all = r->m + sums, *own = r->first < p->part ? all : r->apart + sums;
    const bool  whole = (r->first + r->n) % p->part == 0 || r->first + r->n == p->x.count;
    if (r->first % p->part == 0) memset(own, 0, (size_t)n * sizeof(float));
    s->dw = own;
    p->tiles->patch(s);
    if (!whole || own == all) return;
    for (int64_t i = 0; i < n; i++) all[i] += own[i];
}

/* Item i is one of the 36 points and a panel. */
static void multiply_some(void *arg, int64_t from, int64_t to, int worker)
{
    (void)worker;
    const run  *r = arg;
    const plan *p = r->p;
    for (int64_t i = from; i < to; i++) {
        const int64_t at = i / p->panels, c = i % p->panels * 2 * p->tiles->lanes;
        const int64_t width = eddy__conv_panel(p->tiles, p->dy.c, c);
        eddy_conv_patch s = { .x = r->v + at * p->v_step, .dy = r->z + at * p->z_step + c,
                              .count = { 1, 1, r->n }, .x_step = { 0, 0, p->x_c },
                              .dy_step = { 0, 0, p->dy_c }, .run = p->x.c,
                              .channels = (int)width };
        multiply(r, &s, at * p->m_step + p->x.c * c, p->x.c * width);
    }
}

/* Transforms the sums to rows of the filter [taps, x.c, dy.c]. */
static void collect_some(void *arg, int64_t from, int64_t to, int worker)
{
    (void)worker;
    run          *r = arg;
    const plan   *p = r->p;
    const int64_t n = p->x.c, m = p->dy.c, all = p->wino->side * p->wino->side;
    float         check[16] = { 0 }, *taps[EDDY_WINOGRAD_TAPS_MOST * EDDY_WINOGRAD_TAPS_MOST];
    for (int64_t i = from; i < to; i++)
        for (int64_t c = 0, width; c < m; c += width) {
            width = eddy__conv_panel(p->tiles, m, c);
            for (int64_t t = 0; t < all; t++) taps[t] = r->dw + (t * n + i) * m + c;
            p->wino->taps(r->m + n * c + i * width, p->m_step, eddy__min(width, m - c), taps,
                          check);
        }
    if (eddy__winograd_spoilt(check, p->tiles->lanes))
        atomic_store_explicit(&r->spoilt, true, memory_order_relaxed);
}

void eddy__conv_winograd_weights(const eddy_kernel *k, const void *x, const void *dy, void *dw)
{
    const plan *p = k->state;
    run r = { .p = p, .x = x, .dy = dy, .v = k->scratch, .dw = dw };
    r.z = r.v + EDDY_WINOGRAD_POINTS * p->v_step;
    r.m = r.z + EDDY_WINOGRAD_POINTS * p->z_step;
    r.apart = r.m + EDDY_WINOGRAD_POINTS * p->m_step;
    r.zeros = r.apart + EDDY_WINOGRAD_POINTS * p->m_step;
    memset(r.zeros, 0, (size_t)p->zeros * sizeof(float));
    if (p->x.c * p->dy.c == 0) return;
    if (p->x.count == 0)
        memset(r.m, 0, (size_t)(EDDY_WINOGRAD_POINTS * p->m_step) * sizeof(float));
    /* Pieces of about 20 microseconds: 256 KiB of values, or a million operations. */
    const int64_t tile = EDDY_WINOGRAD_POINTS * (p->x_c + p->dy_c);
    const int64_t row = EDDY_WINOGRAD_POINTS * p->dy_c;
    for (; r.first < p->x.count; r.first += r.n) {
        r.n = eddy__min(p->x.count - r.first, eddy__min(p->chunk, p->part - r.first % p->part));
        const int64_t product = 4 * r.n * p->x.c * p->tiles->lanes;
        eddy__parallel_or_stop(k, r.n, 65536 / tile + 1, transform_some, &r);
        eddy__parallel_or_stop(k, EDDY_WINOGRAD_POINTS * p->panels, 1000000 / product + 1,
                               multiply_some, &r);
    }
    eddy__parallel_or_stop(k, p->x.c, 65536 / (4 * row) + 1, collect_some, &r);
    if (!atomic_load_explicit(&r.spoilt, memory_order_relaxed)) return;
    eddy_kernel direct = *k;
    direct.state = p->direct;
    eddy__conv_direct_weights(&direct, x, dy, dw);
}
