/* depthwise_conv.c -- depthwise convolution, and its gradients with respect to the input and to
 * the filter.
 *
 * Channels are innermost and fill the lanes of vectors. The gradient with respect to the input is
 * the same loop nest over other taps; the gradient with respect to the filter is summed in parts
 * that depend only on sizes. */
#include "graph/base/thread_pool.h"
#include "graph/base/cpu.h"
#include "ops/kernels/convolution/depthwise_conv.h"

#include <string.h>

enum { PARTS = 16, GRAIN = 65536 };

typedef struct depthwise_work {
    eddy_taps   axis[2];
    int64_t     c, filter_h, filter_w, filter_size;
    int64_t     from_row, from_col, filter_row, filter_col;      /* from tap to tap */
    /* of planes: results for each of x; columns with all taps of a row, at neighboring elements */
    int64_t        multiplier;
    eddy_tap_range whole;
    const void *from, *filter;       /* of the gradient of the filter: x, dy */
    void       *to;
    /* the gradient of the filter alone */
    int64_t     x_step, x_tap, x_row, dy_row, rows, part_rows, parts;
    int64_t     in_h, out_h, step_h, gap_h, before_h, before_w;
    const eddy_tap_range *ranges;
} depthwise_work;

/* Whether position p and the next three, `space` apart, have the same taps. */
EDDY_INLINE bool same_taps(const eddy_taps *v, int64_t p)
{
    if (p + 3 * v->space >= v->places) return false;
    const eddy_tap_run *a = &v->at[p];
    for (int64_t k = 1; k < 4; k++) {
        const eddy_tap_run *b = &v->at[p + k * v->space];
        if (b->tap != a->tap || b->count != a->count) return false;
    }
    return true;
}

/* A compiler keeps vectors wider than those of the instruction set in memory, which is slower than
 * no vectors at all: each width is compiled for the sets that have it. */
#define JOINED(name, kind)    name##_##kind
#define OF_KIND(name, kind)   JOINED(name, kind)
#define LANES_OF(T, bytes) T __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias))
#define PIECE (const depthwise_work *w, int64_t from, int64_t to)
#define LOOPS_FOR(kind, set, target)                                             \
    EDDY_CLONE_OF(depthwise_rows_##kind, set, target, PIECE, (w, from, to))      \
    EDDY_CLONE_OF(depthwise_planes_##kind, set, target, PIECE, (w, from, to))    \
    EDDY_CLONE_OF(depthwise_part_##kind, set, target, PIECE, (w, from, to))

#define T float
#define KIND f32
#define LANES 1
#include "ops/kernels/convolution/depthwise_conv_loops.h"
#define KIND f32x4
#define LANES 4
#include "ops/kernels/convolution/depthwise_conv_loops.h"
#define KIND f32x8
#define LANES 8
#include "ops/kernels/convolution/depthwise_conv_loops.h"
#define KIND f32x16
#define LANES 16
#include "ops/kernels/convolution/depthwise_conv_loops.h"
#undef T
#define T double
#define KIND f64
#define LANES 1
#include "ops/kernels/convolution/depthwise_conv_loops.h"
#define KIND f64x2
#define LANES 2
#include "ops/kernels/convolution/depthwise_conv_loops.h"
#define KIND f64x4
#define LANES 4
#include "ops/kernels/convolution/depthwise_conv_loops.h"
#define KIND f64x8
#define LANES 8
#include "ops/kernels/convolution/depthwise_conv_loops.h"
#undef T

LOOPS_FOR(f32, _base, )
LOOPS_FOR(f64, _base, )
LOOPS_FOR(f32x4, _base, )
LOOPS_FOR(f64x2, _base, )
#if defined(__x86_64__)
LOOPS_FOR(f32x4, _avx2, EDDY_TARGET_AVX2)
LOOPS_FOR(f64x2, _avx2, EDDY_TARGET_AVX2)
LOOPS_FOR(f32x8, _avx2, EDDY_TARGET_AVX2)
LOOPS_FOR(f64x4, _avx2, EDDY_TARGET_AVX2)
LOOPS_FOR(f32x16, _avx512, EDDY_TARGET_AVX512)
LOOPS_FOR(f64x8, _avx512, EDDY_TARGET_AVX512)
#endif

typedef void depthwise_loop(const depthwise_work *w, int64_t from, int64_t to);

typedef struct depthwise_kind {
    eddy_instructions needs;
    int               lanes;
    depthwise_loop   *rows, *planes, *part;
} depthwise_kind;

#define KIND_OF(needs, lanes, kind)                                              \
    { needs, lanes, depthwise_rows_##kind, depthwise_planes_##kind, depthwise_part_##kind }

/* The fastest first. */
static const depthwise_kind kinds_f32[] = {
#if defined(__x86_64__)
    KIND_OF(EDDY_AVX512, 16, f32x16_avx512),
    KIND_OF(EDDY_AVX2, 8, f32x8_avx2),
    KIND_OF(EDDY_AVX2, 4, f32x4_avx2),
#endif
    KIND_OF(EDDY_BASELINE, 4, f32x4_base),
    KIND_OF(EDDY_BASELINE, 1, f32_base),
};
static const depthwise_kind kinds_f64[] = {
#if defined(__x86_64__)
    KIND_OF(EDDY_AVX512, 8, f64x8_avx512),
    KIND_OF(EDDY_AVX2, 4, f64x4_avx2),
    KIND_OF(EDDY_AVX2, 2, f64x2_avx2),
#endif
    KIND_OF(EDDY_BASELINE, 2, f64x2_base),
    KIND_OF(EDDY_BASELINE, 1, f64_base),
};

static const depthwise_kind *kind_of(eddy_dtype d, int64_t c)
{
    const depthwise_kind *kind = d == EDDY_FLOAT32 ? kinds_f32 : kinds_f64;
    while (kind->lanes > 1 && (kind->needs > eddy__instructions_used() || kind->lanes > c)) kind++;
    return kind;
}

/* ------------------------------------------------------------- the state -- */

typedef struct depthwise_state {
    eddy_conv_size  size;
    eddy_dtype      dtype;
    bool            back;
    int64_t         multiplier;
    depthwise_work  work;
    depthwise_loop *loop;
    eddy_tap_range *ranges;
    eddy_tap_run    runs[];
} depthwise_state;

static int64_t images_of(const eddy_conv_size *s) { return s->batch * s->in[0] * s->in[1]; }

/* Whether there is no input or no output. */
static bool is_empty(const eddy_conv_size *s)
{
    return s->out_c == 0 || s->batch == 0 || s->out[0] == 0 || s->out[1] == 0;
}

static depthwise_state *state_of(eddy_kernel *k, eddy_dtype d, const eddy_conv_size *s,
                                 int64_t runs)
{
    depthwise_state *p = eddy_kernel_state(k, sizeof *p + (uint64_t)runs * sizeof *p->runs);
    if (!p) return NULL;
    *p = (depthwise_state){ .size = *s, .dtype = d,
                            .multiplier = s->in_c > 0 ? s->out_c / s->in_c : 1 };
    p->work.c = s->out_c;
    p->work.filter_h = s->filter[0];
    p->work.filter_w = s->filter[1];
    p->work.filter_size = s->filter[0] * s->filter[1] * s->out_c;
    return p;
}

eddy_status eddy__depthwise_prepare(eddy_kernel *k, eddy_dtype d, const eddy_conv_size *s,
                                    bool back)
{
    const int64_t   *places = back ? s->in : s->out;
    depthwise_state *p = state_of(k, d, s, is_empty(s) ? 0 : places[0] + places[1]);
    if (!p) return EDDY_NO_MEMORY;
    p->back = back;
    if (is_empty(s)) return EDDY_OK;
    depthwise_work *w = &p->work;
    for (int i = 0; i < 2; i++)
        w->axis[i] = eddy__taps_of(s, i, back, p->runs + (i > 0 ? places[0] : 0));
    w->from_row = w->axis[0].from_step * w->axis[1].read * w->c;
    w->from_col = w->axis[1].from_step * w->c;
    w->filter_row = w->axis[0].tap_step * w->filter_w * w->c;
    w->filter_col = w->axis[1].tap_step * w->c;
    p->loop = kind_of(d, w->c)->rows;
    if (p->multiplier > 1)
        k->scratch_size = (uint64_t)(images_of(s) * s->out_c) * eddy_dtype_size(d);
    return EDDY_OK;
}

/* ------------------------------------------------------------ multipliers -- */

typedef struct widening {
    const void *from;
    void       *to;
    int64_t     multiplier;
    size_t      size;
} widening;

/* Repeats each element `multiplier` times. */
static void widen_piece(void *arg, int64_t from, int64_t to, int worker)
{
    const widening *w = arg;
    const int64_t   m = w->multiplier;
    (void)worker;
    for (int64_t i = from; i < to; i++)
        for (int64_t j = 0; j < m; j++) {
            if (w->size == 4) ((float *)w->to)[i * m + j] = ((const float *)w->from)[i];
            else ((double *)w->to)[i * m + j] = ((const double *)w->from)[i];
        }
}

/* The sums of `multiplier` elements each. */
static void narrow_piece(void *arg, int64_t from, int64_t to, int worker)
{
    const widening *w = arg;
    const int64_t   m = w->multiplier;
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        double sum = 0;
        float  sum_f32 = 0;
        for (int64_t j = 0; j < m && w->size == 4; j++)
            sum_f32 += ((const float *)w->from)[i * m + j];
        for (int64_t j = 0; j < m && w->size == 8; j++)
            sum += ((const double *)w->from)[i * m + j];
        if (w->size == 4) ((float *)w->to)[i] = sum_f32;
        else ((double *)w->to)[i] = sum;
    }
}

static void rearrange(const eddy_kernel *k, const depthwise_state *p, eddy_parallel_fn body,
                      const void *from, void *to)
{
    widening w = { from, to, p->multiplier, eddy_dtype_size(p->dtype) };
    eddy__parallel_or_stop(k, images_of(&p->size) * p->size.in_c, GRAIN, body, &w);
}

/* ---------------------------------------------------------------- running -- */

typedef struct depthwise_piece {
    const depthwise_work *work;
    depthwise_loop       *loop;
} depthwise_piece;

static void run_piece(void *arg, int64_t from, int64_t to, int worker)
{
    const depthwise_piece *p = arg;
    (void)worker;
    p->loop(p->work, from, to);
}

void eddy__depthwise_run(const eddy_kernel *k, const void *from, const void *filter, void *to)
{
    const depthwise_state *p = k->state;
    if (is_empty(&p->size)) {
        memset(to, 0, (size_t)k->out[0]->count * eddy_dtype_size(p->dtype));
        return;
    }
    depthwise_work w = p->work;
    const bool     wide = p->multiplier > 1;
    if (wide && !p->back) rearrange(k, p, widen_piece, from, k->scratch);
    w.from = wide && !p->back ? k->scratch : from;
    w.filter = filter;
    w.to = wide && p->back ? k->scratch : to;
    const int64_t   work = w.axis[1].places * w.c * w.filter_h * w.filter_w;
    depthwise_piece piece = { &w, p->loop };
    eddy__parallel_or_stop(k, p->size.batch * w.axis[0].places, GRAIN * 2 / (work + 1) + 1,
                           run_piece, &piece);
    if (wide && p->back) rearrange(k, p, narrow_piece, k->scratch, to);
}

/* ----------------------------------------------------------------- planes -- */

/* The columns that have all taps; none unless the columns of x for neighbors are neighbors. */
static eddy_tap_range whole_columns(const eddy_conv_size *s, const eddy_taps *v)
{
    eddy_tap_range r = { 0, 0 };
    if (s->step[1] != 1) return r;
    while (r.from < v->places && v->at[r.from].count < s->filter[1]) r.from++;
    for (r.to = r.from; r.to < v->places && v->at[r.to].count == s->filter[1];) r.to++;
    return r;
}

eddy_status eddy__depthwise_planes_prepare(eddy_kernel *k, eddy_dtype d, const eddy_conv_size *s)
{
    depthwise_state *p = state_of(k, d, s, is_empty(s) ? 0 : s->out[0] + s->out[1]);
    if (!p) return EDDY_NO_MEMORY;
    if (is_empty(s)) return EDDY_OK;
    depthwise_work *w = &p->work;
    for (int i = 0; i < 2; i++)
        w->axis[i] = eddy__taps_of(s, i, false, p->runs + (i > 0 ? s->out[0] : 0));
    w->multiplier = p->multiplier;
    w->from_row = s->gap[0] * s->in[1];
    w->from_col = s->gap[1];
    w->filter_row = w->filter_w * w->c;
    w->filter_col = w->c;
    w->whole = whole_columns(s, &w->axis[1]);
    const depthwise_kind *kind = kind_of(d, w->whole.to - w->whole.from);
    p->loop = kind->planes;
    return EDDY_OK;
}

void eddy__depthwise_planes_run(const eddy_kernel *k, const void *x, const void *filter, void *y)
{
    const depthwise_state *p = k->state;
    const eddy_conv_size  *s = &p->size;
    depthwise_work         w = p->work;
    if (is_empty(s)) return;             /* no result, since each output has a window */
    w.from = x;
    w.filter = filter;
    w.to = y;
    const int64_t   work = s->out[0] * s->out[1] * w.filter_h * w.filter_w;
    depthwise_piece piece = { &w, p->loop };
    eddy__parallel_or_stop(k, s->batch * w.c, GRAIN * 2 / (work + 1) + 1, run_piece, &piece);
}

/* ------------------------------------------------- gradient of the filter -- */

static void filter_work(depthwise_work *w, const eddy_conv_size *s)
{
    w->x_step = s->step[1] * w->c;
    w->x_tap = s->gap[1] * w->c;
    w->x_row = s->in[1] * w->c;
    w->dy_row = s->out[1] * w->c;
    w->in_h = s->in[0];
    w->out_h = s->out[0];
    w->step_h = s->step[0];
    w->gap_h = s->gap[0];
    w->before_h = s->before[0];
    w->before_w = s->before[1];
    w->rows = s->batch * s->out[0];
    w->part_rows = (w->rows + PARTS - 1) / PARTS;
    w->parts = (w->rows + w->part_rows - 1) / w->part_rows;
}

eddy_status eddy__depthwise_filter_prepare(eddy_kernel *k, eddy_dtype d, const eddy_conv_size *s)
{
    depthwise_state *p = state_of(k, d, s, is_empty(s) ? 0 : s->filter[1]);
    if (!p) return EDDY_NO_MEMORY;
    if (is_empty(s)) return EDDY_OK;
    depthwise_work *w = &p->work;
    filter_work(w, s);
    p->ranges = (eddy_tap_range *)(void *)p->runs;
    for (int64_t t = 0; t < s->filter[1]; t++) p->ranges[t] = eddy__tap_outputs(s, 1, t);
    w->ranges = p->ranges;
    p->loop = kind_of(d, w->c)->part;
    const int64_t wide = p->multiplier > 1 ? images_of(s) * w->c : 0;
    k->scratch_size = (uint64_t)(wide + w->parts * w->filter_size) * eddy_dtype_size(d);
    return EDDY_OK;
}

static void add_parts(const depthwise_state *p, const void *parts, void *dw)
{
    const int64_t n = p->work.filter_size;
    for (int64_t part = 0; part < p->work.parts; part++)
        for (int64_t i = 0; i < n; i++) {
            const bool more = part > 0;
            if (p->dtype == EDDY_FLOAT32)
                ((float *)dw)[i] = (more ? ((float *)dw)[i] : 0) +
                                   ((const float *)parts)[part * n + i];
            else
                ((double *)dw)[i] = (more ? ((double *)dw)[i] : 0) +
                                    ((const double *)parts)[part * n + i];
        }
}

void eddy__depthwise_filter_run(const eddy_kernel *k, const void *x, const void *dy, void *dw)
{
    const depthwise_state *p = k->state;
    const size_t           size = eddy_dtype_size(p->dtype);
    if (is_empty(&p->size)) {
        memset(dw, 0, (size_t)k->out[0]->count * size);
        return;
    }
    depthwise_work w = p->work;
    char          *parts = k->scratch;
    w.from = x;
    w.filter = dy;
    if (p->multiplier > 1) {
        w.from = parts;
        rearrange(k, p, widen_piece, x, parts);
        parts += (size_t)(images_of(&p->size) * w.c) * size;
    }
    w.to = parts;
    depthwise_piece piece = { &w, p->loop };
    eddy__parallel_or_stop(k, w.parts, 1, run_piece, &piece);
    add_parts(p, parts, dw);
}
