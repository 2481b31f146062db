/* lstm_sequence.c -- LSTM over a whole sequence: the recurrence, forward and backward through
 * time.
 *
 * In float32, u is packed once, for all steps, into panels that hold all four gates of EDDY_LINE
 * states, so that the products of a step end where its gates can be computed; for the backward
 * pass, it is packed into panels of its transpose. The threads share the panels of a step: each
 * thread keeps its own panels in its cache from step to step. */
#include "graph/base/thread_pool.h"
#include "ops/kernels/sequences/lstm_sequence.h"

#include "ops/kernels/matmul/small_matmul.h"
#include "ops/kernels/sequences/lstm.h"
#include "graph/base/min_max.h"

#include <string.h>

/* DZ: the distance of the rows of dz of a panel, which is not a power of two. */
enum { ALL = 4 * EDDY_LINE, BACK = 2 * EDDY_LINE, DZ = 4 * BACK + EDDY_LINE };

/* A sequence in progress; `t` is the step. */
typedef struct recurrence {
    const eddy_lstm_sequence *s;
    eddy_tile_fn gates;
    const eddy_gemm_tiles *tiles;    /* those of the moment at which the run begins */
    int64_t      t, wide;            /* rows of dz are `wide` apart, not a power of two */
    int64_t      part;               /* columns of a part of a panel */
    float       *panels, *rooms;     /* of u; of each worker */
    float       *rows[2], *dc;       /* operands of the products of even and of odd steps */
    int64_t      strip;              /* the elements of a strip of rows; 0: they are not packed */
    int64_t      room;               /* the elements of a worker's room */
} recurrence;

/* The elements of r.rows[0], for any tiles. */
static int64_t rows_size(const eddy_lstm_sequence *s, bool gradient)
{
    const int64_t packed = eddy__panel_most_packed(s->batch, gradient ? 4 * s->h : s->h);
    const int64_t apart = gradient ? s->batch * (4 * s->h + EDDY_LINE) : 0;
    return packed > apart ? packed : apart;
}

uint64_t eddy__lstm_scratch(eddy_dtype d, const eddy_lstm_sequence *s, bool gradient, int threads)
{
    if (d == EDDY_FLOAT64)
        return (uint64_t)(s->batch * (4 * s->h + s->h)) * sizeof(double);
    int64_t n = gradient ? eddy__pieces(s->h, BACK) * 4 * s->h * BACK + s->batch * s->h
                         : eddy__pieces(s->h, EDDY_LINE) * s->h * ALL;
    n += 2 * rows_size(s, gradient);
    n += EDDY_LINE * 4 + threads * s->batch * (gradient ? BACK + DZ : ALL);
    return (uint64_t)n * sizeof(float);
}

static int64_t grain(int64_t batch, int64_t h, int64_t columns)
{
    return 1 + (int64_t)(2e6 / (2.0 * (double)batch * (double)h * (double)columns + 1));
}

/* Of panels to be packed: an element takes as long as many operations. */
static int64_t packed_at_once(int64_t h, int64_t columns)
{
    return 1 + (1 << 15) / (h * columns + 1);
}

/* Row t of a sequence of [batch,n], and the state before step t. */
static float *step(const void *x, const eddy_lstm_sequence *s, int64_t t, int64_t n)
{
    return x ? (float *)(uintptr_t)x + t * s->batch * n : NULL;
}

static const float *before(const void *first, const void *all, const eddy_lstm_sequence *s,
                           int64_t t)
{
    return t == 0 ? first : step(all, s, t - 1, s->h);
}

/* Element (p, j) of a panel with `rows` rows. */
static float *in_panel(const recurrence *r, float *panel, int64_t rows, int64_t p, int64_t j)
{
    return panel + (j / r->part * rows + p) * r->part + j % r->part;
}

/* ---------------------------------------------------------------- forwards -- */

static void pack(void *r_, int64_t from, int64_t to, int worker)
{
    const recurrence *r = r_;
    const float      *u = r->s->u, *h0 = r->s->h0;
    const int64_t     h = r->s->h;
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        const int64_t wide = eddy__min(EDDY_LINE, h - i * EDDY_LINE);
        float        *at = r->panels + i * h * ALL;     /* part by part, and row by row */
        for (int64_t first = 0; first < ALL; first += r->part)
            for (int64_t p = 0; p < h; p++)
                for (int64_t j = first; j < first + r->part; j += EDDY_LINE, at += EDDY_LINE) {
                    const float *x = u + p * 4 * h + j / EDDY_LINE * h + i * EDDY_LINE;
                    if (wide == EDDY_LINE) memcpy(at, x, EDDY_LINE * sizeof *at);
                    else for (int64_t c = 0; c < EDDY_LINE; c++) at[c] = c < wide ? x[c] : 0;
                }
        if (r->strip)
            eddy__panel_pack(r->tiles, r->rows[1], r->strip, i * EDDY_LINE, h0 + i * EDDY_LINE, h,
                             r->s->batch, wide);
    }
}

/* Computes some panels of a step: the product, and the gates of its columns. */
static void forward_panels(void *r_, int64_t from, int64_t to, int worker)
{
    const recurrence         *r = r_;
    const eddy_lstm_sequence *s = r->s;
    const int64_t h = s->h, t = r->t;
    float        *z = r->rooms + worker * r->room;
    for (int64_t i = from; i < to; i++) {
        const int64_t at = i * EDDY_LINE;
        const int64_t columns = eddy__min(EDDY_LINE, h - at);
        float        *now = step(s->hs, s, t, h) + at;
        eddy__panel_run_parts(r->tiles, &(eddy_panel){
            .m = s->batch, .n = ALL, .k = h, .a_row = h, .a_column = 1,
            .a = r->strip ? r->rows[(t + 1) & 1] : before(s->h0, s->hs, s, t),
            .b = r->panels + i * h * ALL, .b_row = r->part, .c = z, .c_row = ALL },
            h * r->part, r->strip);
        r->gates(0, NULL, NULL, &(eddy_lstm_block){
            .rows = s->batch, .columns = columns, .row = h,
            .gate = h, .other_row = ALL, .other_gate = EDDY_LINE,
            .z = step(s->xw, s, t, 4 * h) + at, .z_more = z,
            .c_before = before(s->c0, s->cs, s, t) + at, .act = step(s->act, s, t, 4 * h) + at,
            .c = step(s->cs, s, t, h) + at, .h = now,
        });
        if (r->strip)
            eddy__panel_pack(r->tiles, r->rows[t & 1], r->strip, at, now, h, s->batch, columns);
    }
}

static void forward_f32(eddy_kernel *k, const eddy_lstm_sequence *s)
{
    const int64_t          panels = eddy__pieces(s->h, EDDY_LINE);
    const eddy_gemm_tiles *tiles = eddy__gemm_tiles_used();
    recurrence r = { .s = s, .gates = eddy__lstm_forward(EDDY_FLOAT32), .panels = k->scratch,
                     .tiles = tiles, .room = s->batch * ALL, .part = eddy__panel_columns(tiles),
                     .strip = eddy__panel_strip(tiles, s->batch, s->h) };
    r.rows[0] = r.panels + panels * s->h * ALL;
    r.rows[1] = r.rows[0] + rows_size(s, false);
    r.rooms = r.rows[1] + rows_size(s, false);
    eddy__parallel_or_stop(k, panels, packed_at_once(s->h, ALL), pack, &r);
    for (r.t = 0; r.t < s->steps; r.t++)
        eddy__parallel_or_stop(k, panels, grain(s->batch, s->h, ALL), forward_panels, &r);
}

/* --------------------------------------------------------------- backwards -- */

static void pack_back(void *r_, int64_t from, int64_t to, int worker)
{
    const recurrence *r = r_;
    const int64_t     h = r->s->h;
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        const float *u = (const float *)r->s->u + i * BACK * 4 * h;
        float       *panel = r->panels + i * 4 * h * BACK;
        if (i * BACK + BACK <= h) {
            for (int64_t j = 0; j < BACK; j += r->part)
                eddy__panel_transpose(r->part, 4 * h, 1, u + j * 4 * h, 4 * h,
                                      in_panel(r, panel, 4 * h, 0, j), r->part);
            continue;
        }
        for (int64_t p = 0; p < 4 * h; p++)
            for (int64_t j = 0; j < BACK; j++)
                *in_panel(r, panel, 4 * h, p, j) = i * BACK + j < h ? u[j * 4 * h + p] : 0;
    }
}

/* dh of the columns of panel i from the dz of step t. */
static void product_back(const recurrence *r, int64_t i, int64_t t, float *dh)
{
    const int64_t h = r->s->h;
    eddy__panel_run_parts(r->tiles, &(eddy_panel){
        .m = r->s->batch, .n = BACK, .k = 4 * h, .a = r->rows[t & 1], .a_row = r->wide,
        .a_column = 1, .b = r->panels + i * 4 * h * BACK, .b_row = r->part, .c = dh,
        .c_row = BACK },
        4 * h * r->part, r->strip);
}

/* Computes some panels of a step: the gradient from the next step, then that of the gates. */
static void backward_panels(void *r_, int64_t from, int64_t to, int worker)
{
    const recurrence         *r = r_;
    const eddy_lstm_sequence *s = r->s;
    const int64_t h = s->h, t = r->t;
    const bool    last = t == s->steps - 1;
    float        *dh = r->rooms + worker * r->room;
    for (int64_t i = from; i < to; i++) {
        const int64_t at = i * BACK;
        const float  *dcs = step(s->dcs, s, t, h), *dact = step(s->dact, s, t, 4 * h);
        float        *dz = r->strip ? dh + s->batch * BACK : r->rows[t & 1] + at;
        if (!last) product_back(r, i, t + 1, dh);
        r->gates(0, NULL, NULL, &(eddy_lstm_block){
            .rows = s->batch, .columns = h - at < BACK ? h - at : BACK, .row = h, .gate = h,
            .other_row = r->strip ? DZ : r->wide, .other_gate = r->strip ? BACK : h,
            .other_h = BACK,
            .act = step(s->act, s, t, 4 * h) + at, .c = step(s->cs, s, t, h) + at,
            .c_before = before(s->c0, s->cs, s, t) + at, .dh = step(s->dhs, s, t, h) + at,
            .dh_more = last ? NULL : dh, .dc = dcs ? dcs + at : NULL,
            .dc_more = last ? NULL : r->dc + at, .dact = dact ? dact + at : NULL,
            .dz = step(s->dz, s, t, 4 * h) + at, .dz_more = dz,
            .dc_before = t == 0 ? (float *)s->dc0 + at : r->dc + at,
        });
        for (int g = 0; r->strip && g < 4; g++)
            eddy__panel_pack(r->tiles, r->rows[t & 1], r->strip, g * h + at, dz + g * BACK, DZ,
                             s->batch, eddy__min(BACK, h - at));
    }
}

static void first_state(void *r_, int64_t from, int64_t to, int worker)
{
    const recurrence *r = r_;
    const int64_t     h = r->s->h;
    float            *dh = r->rooms + worker * r->room, *dh0 = r->s->dh0;
    for (int64_t i = from; i < to; i++) {
        const int64_t at = i * BACK, columns = h - at < BACK ? h - at : BACK;
        product_back(r, i, 0, dh);
        for (int64_t b = 0; b < r->s->batch; b++)
            memcpy(dh0 + b * h + at, dh + b * BACK, (size_t)columns * sizeof *dh);
    }
}

static void backward_f32(eddy_kernel *k, const eddy_lstm_sequence *s)
{
    const int64_t panels = eddy__pieces(s->h, BACK), each = grain(s->batch, 4 * s->h, BACK);
    const eddy_gemm_tiles *tiles = eddy__gemm_tiles_used();
    recurrence r = { .s = s, .gates = eddy__lstm_backward(EDDY_FLOAT32), .panels = k->scratch,
                     .wide = 4 * s->h + EDDY_LINE, .room = s->batch * (BACK + DZ),
                     .tiles = tiles, .part = eddy__panel_columns(tiles),
                     .strip = eddy__panel_strip(tiles, s->batch, 4 * s->h) };
    const int64_t rows = rows_size(s, true);
    r.rows[0] = r.panels + panels * 4 * s->h * BACK;
    r.rows[1] = r.rows[0] + rows;
    r.dc = r.rows[1] + rows;
    r.rooms = r.dc + eddy__whole_lines(s->batch * s->h);
    eddy__parallel_or_stop(k, panels, packed_at_once(4 * s->h, BACK), pack_back, &r);
    for (r.t = s->steps - 1; r.t >= 0; r.t--)
        eddy__parallel_or_stop(k, panels, each, backward_panels, &r);
    eddy__parallel_or_stop(k, panels, each, first_state, &r);
}

/* ------------------------------------------------------------------ float64 -- */

/* y [m,n] = a [m,k] b, where rows of b are b_row and columns b_column elements apart. */
static void product_f64(int64_t m, int64_t n, int64_t k, const double *a, const double *b,
                        int64_t b_row, int64_t b_column, double *y)
{
    for (int64_t i = 0; i < m; i++, a += k, y += n) {
        for (int64_t j = 0; j < n; j++) y[j] = 0;
        for (int64_t p = 0; p < k; p++)
            for (int64_t j = 0; j < n; j++) y[j] += a[p] * b[p * b_row + j * b_column];
    }
}

static double *step_f64(const void *x, const eddy_lstm_sequence *s, int64_t t, int64_t n)
{
    return x ? (double *)(uintptr_t)x + t * s->batch * n : NULL;
}

static void forward_f64(eddy_kernel *k, const eddy_lstm_sequence *s)
{
    const int64_t h = s->h;
    double       *z = k->scratch;
    for (int64_t t = 0; t < s->steps; t++) {
        const double *h_before = t ? step_f64(s->hs, s, t - 1, h) : s->h0;
        product_f64(s->batch, 4 * h, h, h_before, s->u, 4 * h, 1, z);
        eddy__lstm_forward(EDDY_FLOAT64)(0, NULL, NULL, &(eddy_lstm_block){
            .rows = s->batch, .columns = h, .row = h, .gate = h, .other_row = 4 * h,
            .other_gate = h, .z = step_f64(s->xw, s, t, 4 * h), .z_more = z,
            .c_before = t ? step_f64(s->cs, s, t - 1, h) : s->c0,
            .act = step_f64(s->act, s, t, 4 * h), .c = step_f64(s->cs, s, t, h),
            .h = step_f64(s->hs, s, t, h),
        });
    }
}

static void backward_f64(eddy_kernel *k, const eddy_lstm_sequence *s)
{
    const int64_t h = s->h;
    double       *dh = k->scratch, *dc = s->dc0;
    for (int64_t t = s->steps - 1; t >= 0; t--) {
        const bool last = t == s->steps - 1;
        double    *dz = step_f64(s->dz, s, t, 4 * h);
        eddy__lstm_backward(EDDY_FLOAT64)(0, NULL, NULL, &(eddy_lstm_block){
            .rows = s->batch, .columns = h, .row = h, .gate = h, .other_h = h,
            .act = step_f64(s->act, s, t, 4 * h), .c = step_f64(s->cs, s, t, h),
            .c_before = t ? step_f64(s->cs, s, t - 1, h) : s->c0,
            .dh = step_f64(s->dhs, s, t, h), .dh_more = last ? NULL : dh,
            .dc = step_f64(s->dcs, s, t, h), .dc_more = last ? NULL : dc,
            .dact = step_f64(s->dact, s, t, 4 * h), .dz = dz, .dc_before = dc,
        });
        product_f64(s->batch, h, 4 * h, dz, s->u, 1, 4 * h, t ? dh : s->dh0);
    }
}

/* -------------------------------------------------------------------- either -- */

void eddy__lstm_run(eddy_kernel *k, const eddy_lstm_sequence *s)
{
    if (s->batch * s->h == 0) return;
    if (k->in[0]->type.dtype == EDDY_FLOAT32) forward_f32(k, s);
    else forward_f64(k, s);
}

void eddy__lstm_run_back(eddy_kernel *k, const eddy_lstm_sequence *s)
{
    const size_t bytes = (size_t)(s->batch * s->h) * eddy_dtype_size(k->in[0]->type.dtype);
    if (bytes == 0) return;
    if (s->steps == 0) {
        memset(s->dh0, 0, bytes);
        memset(s->dc0, 0, bytes);
    } else if (k->in[0]->type.dtype == EDDY_FLOAT32) {
        backward_f32(k, s);
    } else {
        backward_f64(k, s);
    }
}
