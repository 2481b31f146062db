/* softmax_rows.c -- the exponentials of softmax and the softmax cross entropies, stabilized by
 * subtracting the maximum.
 *
 * A block is a few lanes, few enough to stay in the L1 cache; the largest element of each lane is
 * subtracted before the exponential is taken. Blocks run in parallel. The result of a lane does
 * not depend on the other lanes of its block. */
#include "graph/base/thread_pool.h"
#include "ops/kernels/reduction/reduce_engine.h"
#include "graph/base/cpu.h"
#include "ops/kernels/elementwise/vector_math_f64.h"

#include <tgmath.h>

/* ----------------------------------------------------------------- finishing -- */

/* How the elements of a block are finished. */
typedef enum ending { MINUS_TOP, OVER_SUM, OVER_SUM_LESS_LABELS, LOGARITHM } ending;

#define PIECE    (const eddy_softmax_block *b, const void *labels)
#define TEMPLATE "ops/kernels/reduction/softmax_loops.h"
#include "ops/kernels/for_floats.h"

void eddy__softmax_finish(eddy_dtype d, const eddy_softmax_block *b, const void *labels)
{
    if (labels) EDDY_BEST_FOR_TYPE(over_sum_less, FOR_FLOATS, d)(b, labels);
    else EDDY_BEST_FOR_TYPE(over_sum, FOR_FLOATS, d)(b, NULL);
}

/* One number per lane. */
typedef union lane_values {
    double f64[EDDY_SOFTMAX_LANES];
    float  f32[EDDY_SOFTMAX_LANES];
} lane_values;

EDDY_INLINE void logs_f32_all(int64_t n, float *restrict y, const float *restrict x)
{
    for (int64_t i = 0; i < n; i++) y[i] = eddy__log_f32(x[i]);
}
EDDY_CLONES_OF(logs_f32, (int64_t n, float *restrict y, const float *restrict x), (n, y, x))

EDDY_INLINE void logs_f64_all(int64_t n, double *restrict y, const double *restrict x)
{
    for (int64_t i = 0; i < n; i++) y[i] = eddy__log_f64(x[i]);
}
EDDY_CLONES_OF(logs_f64, (int64_t n, double *restrict y, const double *restrict x), (n, y, x))

void eddy__softmax_logs(eddy_dtype d, const eddy_softmax_block *b, void *log_sum)
{
    const int64_t n = b->many * b->width;
    if (d == EDDY_FLOAT32) EDDY_BEST_OF(logs_f32)(n, log_sum, b->sum);
    else EDDY_BEST_OF(logs_f64)(n, log_sum, b->sum);
}

void eddy__softmax_finish_log(eddy_dtype d, const eddy_softmax_block *b)
{
    lane_values log_sum;
    eddy_softmax_block of_log = *b;
    of_log.sum = &log_sum;
    eddy__softmax_logs(d, b, &log_sum);
    EDDY_BEST_FOR_TYPE(log, FOR_FLOATS, d)(&of_log, NULL);
}

/* -------------------------------------------------------------- exponentials -- */

enum { ELEMENTS = 2048, GRAIN = 1 << 14 };

/* Lanes side by side. */
EDDY_INLINE void exp_columns_all(const eddy_softmax_block *b, float *sum)
{
    const float *x = b->x, *top = b->top;
    float *y = b->y;
    double total[EDDY_SOFTMAX_LANES] = { 0 };
    for (int64_t j = 0; j < b->n; j++, x += b->stride, y += b->stride) {
        EDDY_INDEPENDENT
        for (int64_t c = 0; c < b->width; c++) {
            const float e = eddy__exp_f32(x[c] - top[c]);
            y[c] = e;
            total[c] += (double)e;
        }
    }
    for (int64_t c = 0; c < b->width; c++) sum[c] = (float)total[c];
}
EDDY_CLONES_OF(exp_columns, (const eddy_softmax_block *b, float *sum), (b, sum))

typedef struct walk {
    eddy_kernel        *k;
    eddy_type           type;
    const eddy_reducer *max, *sum;
    const char         *x;
    char               *y;
    eddy_lanes          lanes;
    int64_t             step, steps;         /* rows of a block; or columns, and blocks of a row */
    void              (*finish)(eddy_kernel *k, const eddy_softmax_block *b);
} walk;

/* Fills b->y and b->sum.  Lanes of consecutive elements are one loop, so that there is no remainder
 * at the end of each lane. */
static void in_passes(const walk *w, const eddy_softmax_block *b, void *sum)
{
    EDDY_BEST_FOR_TYPE(minus_top, FOR_FLOATS, w->type.dtype)(b, NULL);
    const bool lines = b->stride > 1;
    const int64_t length = lines ? b->width : b->many * b->n;
    char *y = b->y;
    for (int64_t j = 0; j < (lines ? b->n : 1); j++, y += (size_t)b->stride * w->max->size)
        EDDY_BEST_FOR_TYPE(exp_in_place, FOR_FLOATS, w->type.dtype)(length, y);
    const eddy_reduction p = eddy__reduction_of_block(w->sum, b->many, b->n, b->width, b->stride);
    eddy__reduction_run(&p, sum, b->y);
}

/* Fills b->y, b->top and b->sum. */
static void exponentials(const walk *w, const eddy_softmax_block *b, void *top, void *sum)
{
    const eddy_reduction p = eddy__reduction_of_block(w->max, b->many, b->n, b->width, b->stride);
    eddy__reduction_run(&p, top, b->x);
    if (w->type.dtype != EDDY_FLOAT32) in_passes(w, b, sum);
    else if (b->stride > 1) EDDY_BEST_OF(exp_columns)(b, sum);
    else in_passes(w, b, sum);
}

static void run_blocks(void *arg, int64_t from, int64_t to, int worker)
{
    const walk *w = arg;
    const eddy_lanes l = w->lanes;
    lane_values top, sum;
    eddy_softmax_block b = { .top = &top, .sum = &sum, .n = l.n, .stride = l.inner };
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        const int64_t o = l.inner > 1 ? i / w->steps : i * w->step;
        const int64_t c = l.inner > 1 ? i % w->steps * w->step : 0;
        const int64_t left = l.inner > 1 ? l.inner - c : l.outer - o;
        const int64_t n = left < w->step ? left : w->step;
        const size_t at = (size_t)(o * l.n * l.inner + c) * w->max->size;
        b.x = w->x + at;
        b.y = w->y + at;
        b.many = l.inner > 1 ? 1 : n;
        b.width = l.inner > 1 ? n : 1;
        b.lane = o * l.inner + c;
        exponentials(w, &b, &top, &sum);
        w->finish(w->k, &b);
    }
}

void eddy__softmax_walk(eddy_kernel *k, eddy_type t, int64_t axis, const void *x, void *y,
                        void (*finish)(eddy_kernel *k, const eddy_softmax_block *b))
{
    walk w = { .k = k, .type = t, .x = x, .y = y, .lanes = eddy__lanes_of(t.shape, axis),
               .max = eddy__reducer_of(&eddy__fold_max, t.dtype), .finish = finish,
               .sum = eddy__reducer_of(&eddy__fold_sum, t.dtype) };
    const eddy_lanes l = w.lanes;
    const int64_t most = l.inner > 1 ? EDDY_SOFTMAX_LANES : ELEMENTS / (l.n + 1) + 1;
    w.step = most < EDDY_SOFTMAX_LANES ? most : EDDY_SOFTMAX_LANES;
    w.steps = ((l.inner > 1 ? l.inner : l.outer) + w.step - 1) / w.step;
    if (l.outer * l.inner == 0) return;
    eddy__parallel_or_stop(k, l.inner > 1 ? l.outer * w.steps : w.steps,
                           GRAIN / (w.step * (l.n + 1)) + 1, run_blocks, &w);
}
