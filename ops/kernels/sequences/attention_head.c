/* attention_head.c -- attention kernels for one head: softmax(scale q k' + mask) v and its
 * gradients.
 *
 * In float32, a block of WIDTH rows of q is stored as columns, side by side. Their scores are [t,
 * width], so that softmax runs along whole lines, and all products are those of
 * matmul/small_matmul.h. Scores never leave the cache; nothing is computed after the last column
 * that a causal block sees. Columns beyond the last row of q are zeros, which add nothing to any
 * sum. */
#include "ops/kernels/sequences/attention_head.h"
#include "ops/kernels/matmul/small_matmul.h"
#include "graph/base/cpu.h"
#include "graph/base/stop.h"
#include "ops/kernels/elementwise/vector_math_f64.h"

#include <string.h>

enum { WIDTH = 2 * EDDY_LINE };

/* Rows padded to whole lines: those of the tensor, or a copy if they do not fill whole lines or are
 * too few. */
typedef struct rows {
    const float *at;
    int64_t      step;
} rows;

/* The pieces of the working memory. */
typedef struct pieces {
    int64_t d, e;                    /* in whole lines */
    float  *k_room, *v_room;         /* [t,d], [t,e] */
    float  *q_room, *q_transposed;       /* [width,d], [d,width] */
    float  *y;                       /* [width,e] */
    float  *scores;                  /* [t,width] */
    float  *dk, *dv, *dq;            /* as k, v, q */
    float  *dy_room, *dy_transposed;     /* [width,e], [e,width] */
    float  *slopes;                  /* [t,width] */
    rows    k, v, q, dy;             /* k, v: of the head; q, dy: of a block */
} pieces;

static float *take_rows(float **next, int64_t count, int64_t columns)
{
    float *at = *next;
    if (at) *next += eddy__whole_lines(count * columns);
    return at;
}

static int64_t pieces_size(const eddy_attention_head *h, bool gradient)
{
    const int64_t d = eddy__whole_lines(h->d), e = eddy__whole_lines(h->e);
    const int64_t value = h->t * (d + e + WIDTH) + WIDTH * (2 * d + e);
    return gradient ? value + h->t * (d + e + WIDTH) + WIDTH * (d + 2 * e) : value;
}

static pieces pieces_of(const eddy_attention_head *h, float *next, bool gradient)
{
    const int64_t d = eddy__whole_lines(h->d), e = eddy__whole_lines(h->e);
    pieces p = { .d = d, .e = e };
    p.k_room = take_rows(&next, h->t, d);
    p.v_room = take_rows(&next, h->t, e);
    p.q_room = take_rows(&next, WIDTH, d);
    p.q_transposed = take_rows(&next, d, WIDTH);
    p.y = take_rows(&next, WIDTH, e);
    p.scores = take_rows(&next, h->t, WIDTH);
    if (!gradient) return p;
    p.dk = take_rows(&next, h->t, d);
    p.dv = take_rows(&next, h->t, e);
    p.slopes = take_rows(&next, h->t, WIDTH);
    p.dq = take_rows(&next, WIDTH, d);
    p.dy_room = take_rows(&next, WIDTH, e);
    p.dy_transposed = take_rows(&next, e, WIDTH);
    return p;
}

uint64_t eddy__attention_scratch(eddy_dtype d, const eddy_attention_head *h, bool gradient)
{
    const int64_t count = d == EDDY_FLOAT32 ? pieces_size(h, gradient) : 2 * h->t;
    return (uint64_t)eddy__whole_lines(count) * eddy_dtype_size(d);
}

/* --------------------------------------------------------------- rows moved -- */

/* Rows [all, columns in whole lines], copied from [count, columns] and padded with zeros if
 * necessary. */
static rows bring(int64_t all, int64_t count, int64_t columns, const float *from, int64_t step,
                  float *room)
{
    const int64_t whole = eddy__whole_lines(columns);
    if (count == all && columns == whole) return (rows){ from, step };
    for (int64_t i = 0; i < all; i++)
        for (int64_t j = 0; j < whole; j++)
            room[i * whole + j] = i < count && j < columns ? from[i * step + j] : 0;
    return (rows){ room, whole };
}

/* to [count, columns] = from [count, columns in whole lines], each row times its factor;
 * the factors are `next` apart. */
static void scale_rows(int64_t count, int64_t columns, const float *from, const float *factor,
                       int next, float *to, int64_t step)
{
    const int64_t whole = eddy__whole_lines(columns);
    for (int64_t i = 0; i < count; i++, from += whole, to += step, factor += next)
        for (int64_t j = 0; j < columns; j++) to[j] = *factor * from[j];
}

/* -------------------------------------------------------------- exponentials -- */

/* A block of rows of q, and one number for each of them. */
typedef struct block {
    int64_t first, count, see;       /* rows of q; columns that any of them sees */
    float   sum[WIDTH], over_sum[WIDTH], delta[WIDTH];
} block;

/* e^x for x <= 0, or slightly above 0 by rounding. The result is 0 if it would be below the
 * smallest normal number. */
EDDY_INLINE float weight_of(float x)
{
    int32_t k;
    float   y = x < -87.0f ? -87.0f : x;
    y = y > 88.0f ? 88.0f : y;
    const float e = (eddy__exp_parts(y, &k) + 1.0f) * eddy__power_of_2(k);
    return x < -87.0f ? 0.0f : e;
}

/* Replaces scores [n,width] by e^(score - the largest of the column); stores the inverse of their
 * sum in the block, and the logarithm of the sum plus the largest score. */
static eddy_status softmax(int64_t n, void *scores_, const void *const *block_, const void *unused)
{
    (void)unused;
    float *scores = scores_, top[WIDTH], sum[WIDTH];
    block *b = *(block *const *)(const void *)block_;
    for (int c = 0; c < WIDTH; c++) top[c] = -INFINITY;
    for (int c = 0; c < WIDTH; c++) sum[c] = 0;
    for (int64_t j = 0; j < n; j++)
        for (int c = 0; c < WIDTH; c++) {
            const float x = scores[j * WIDTH + c];
            top[c] = x > top[c] ? x : top[c];
        }
    for (int64_t j = 0; j < n; j++)
        EDDY_INDEPENDENT
        for (int c = 0; c < WIDTH; c++) {
            const float w = weight_of(scores[j * WIDTH + c] - top[c]);
            scores[j * WIDTH + c] = w;
            sum[c] += w;
        }
    for (int c = 0; c < WIDTH; c++) b->sum[c] = top[c] + eddy__log_f32(sum[c]);
    for (int c = 0; c < WIDTH; c++) b->over_sum[c] = n > 0 ? 1.0f / sum[c] : 0;
    return EDDY_OK;
}
EDDY_CLONES(softmax)

/* Replaces scores by the probabilities p, and slopes [n,width] by p (slope - delta). */
static eddy_status softmax_slopes(int64_t n, void *scores_, const void *const *others,
                                  const void *block_)
{
    float       *restrict scores = scores_;
    float       *restrict slopes = *(float *const *)(const void *)others;
    const block  b = *(const block *)block_;
    for (int64_t j = 0; j < n; j++)
        EDDY_INDEPENDENT
        for (int c = 0; c < WIDTH; c++) {
            const float w = weight_of(scores[j * WIDTH + c] - b.sum[c]);
            scores[j * WIDTH + c] = w;
            slopes[j * WIDTH + c] = w * (slopes[j * WIDTH + c] - b.delta[c]);
        }
    return EDDY_OK;
}
EDDY_CLONES(softmax_slopes)

/* Beside a larger logarithm of a sum, rounding changes the probabilities. */
#define LARGE_SUM 1024.0f

static bool is_far(const block *b)
{
    for (int64_t c = 0; c < b->count; c++)
        if (!(b->sum[c] > -LARGE_SUM && b->sum[c] < LARGE_SUM)) return true;
    return false;
}

/* The same, without the logarithms of the sums. */
static void softmax_slopes_far(const block *b, float *scores, float *slopes)
{
    block       own = *b;
    const void *at = &own;
    EDDY_BEST(softmax)(b->see, scores, &at, NULL);
    for (int64_t j = 0; j < b->see; j++)
        for (int64_t c = 0; c < WIDTH; c++) {
            scores[j * WIDTH + c] *= own.over_sum[c];
            slopes[j * WIDTH + c] = scores[j * WIDTH + c] * (slopes[j * WIDTH + c] - b->delta[c]);
        }
}

/* ------------------------------------------------------------------- blocks -- */

static block block_at(const eddy_attention_head *h, int64_t first)
{
    block b = { .first = first, .count = h->s - first < WIDTH ? h->s - first : WIDTH, .see = h->t };
    if (h->causal && first + b.count < h->t) b.see = first + b.count;
    return b;
}

/* Adds the mask to the scores of a block, and hides later columns if causal. */
static void add_mask(const eddy_attention_head *h, const block *b, float *scores)
{
    const float *mask = h->mask;
    for (int64_t c = 0; mask && c < b->count; c++)
        for (int64_t j = 0; j < b->see; j++)
            scores[j * WIDTH + c] += mask[(b->first + c) * h->mask_row + j * h->mask_column];
    for (int64_t j = b->first + 1; h->causal && j < b->see; j++)
        for (int64_t c = 0; c < j - b->first && c < WIDTH; c++) scores[j * WIDTH + c] = -INFINITY;
}

/* The number of rows of k that the products of the first half of the columns omit: in a causal
 * block, that half does not see the last rows. */
static int64_t masked_rows(const eddy_attention_head *h, const block *b)
{
    const bool diagonal = h->causal && b->count == WIDTH && b->see == b->first + WIDTH;
    return diagonal ? EDDY_LINE : 0;
}

/* scores [see,width] = rows [see,n] by a block of columns [n,width]. */
static void by_block(const block *b, int64_t unseen_by_half, int64_t n, rows x,
                     const float *columns, float *scores)
{
    const int64_t all = b->see - unseen_by_half;
    eddy__panel_run(&(eddy_panel){ all, WIDTH, n, x.at, x.step, 1, columns, WIDTH, scores, WIDTH,
                                  false });
    eddy__panel_run(&(eddy_panel){ unseen_by_half, EDDY_LINE, n, x.at + all * x.step, x.step, 1,
                                  columns + EDDY_LINE, WIDTH, scores + all * WIDTH + EDDY_LINE,
                                  WIDTH, false });
}

/* A block of rows [count,n] = the transposed scores times rows [see,n]. */
static void to_block(const block *b, int64_t unseen_by_half, int64_t n, const float *scores,
                     rows x, float *to)
{
    const int64_t half = unseen_by_half ? EDDY_LINE : 0;
    eddy__panel_run(&(eddy_panel){ half, n, b->see - unseen_by_half, scores, 1, WIDTH, x.at, x.step,
                                  to, n, false });
    eddy__panel_run(&(eddy_panel){ b->count - half, n, b->see, scores + half, 1, WIDTH, x.at,
                                  x.step, to + half * n, n, false });
}

/* Rows [see,n] += scores by a block of rows [count,n]. */
static void from_block(const block *b, int64_t unseen_by_half, int64_t n, const float *scores,
                       rows x, float *to)
{
    const int64_t all = b->see - unseen_by_half;
    eddy__panel_run(&(eddy_panel){ all, n, b->count, scores, WIDTH, 1, x.at, x.step, to, n, true });
    eddy__panel_run(&(eddy_panel){ unseen_by_half, n, EDDY_LINE, scores + all * WIDTH + EDDY_LINE,
                                  WIDTH, 1, x.at + EDDY_LINE * x.step, x.step, to + all * n, n,
                                  true });
}

/* Loads the rows of q and computes the scores of a block. */
static void make_scores(const eddy_attention_head *h, pieces *p, const block *b)
{
    const float *q = (const float *)h->q.at + b->first * h->q.step;
    p->q = bring(WIDTH, b->count, h->d, q, h->q.step, p->q_room);
    eddy__panel_transpose(WIDTH, p->d, (float)h->scale, p->q.at, p->q.step, p->q_transposed, WIDTH);
    by_block(b, masked_rows(h, b), h->d, p->k, p->q_transposed, p->scores);
    add_mask(h, b, p->scores);
}

static void forward_f32(const eddy_attention_head *h, float *scratch)
{
    pieces p = pieces_of(h, scratch, false);
    const eddy_tile_fn  normalize = EDDY_BEST(softmax);
    p.k = bring(h->t, h->t, h->d, h->k.at, h->k.step, p.k_room);
    p.v = bring(h->t, h->t, h->e, h->v.at, h->v.step, p.v_room);
    for (int64_t first = 0; first < h->s && !eddy__stopped(h->stop); first += WIDTH) {
        block b = block_at(h, first);
        const void *at = &b;
        make_scores(h, &p, &b);
        normalize(b.see, p.scores, &at, NULL);
        to_block(&b, masked_rows(h, &b), p.e, p.scores, p.v, p.y);
        for (int64_t c = 0; c < b.count; c++)
            ((float *)h->sum.to)[(first + c) * h->sum.step] = b.sum[c];
        scale_rows(b.count, h->e, p.y, b.over_sum, 1, (float *)h->y.to + first * h->y.step,
                   h->y.step);
    }
}

/* Loads the gradient of a block, and computes for each row the number that is subtracted from the
 * slopes of its scores. */
static void bring_gradient(const eddy_attention_head *h, pieces *p, block *b)
{
    const float *y = (const float *)h->y.at + b->first * h->y.step;
    const float *dy = (const float *)h->y.dy_at + b->first * h->y.step;
    const float *sum = h->sum.at, *dsum = h->sum.dy_at;
    p->dy = bring(WIDTH, b->count, h->e, dy, h->y.step, p->dy_room);
    eddy__panel_transpose(WIDTH, p->e, 1, p->dy.at, p->dy.step, p->dy_transposed, WIDTH);
    for (int64_t c = 0; c < WIDTH; c++) b->sum[c] = b->delta[c] = 0;
    for (int64_t c = 0; c < b->count; c++, y += h->y.step, dy += h->y.step) {
        float lines[EDDY_LINE] = { 0 }, all = 0;
        int64_t j = 0;
        for (; j + EDDY_LINE <= h->e; j += EDDY_LINE)
            for (int i = 0; i < EDDY_LINE; i++) lines[i] += y[j + i] * dy[j + i];
        for (; j < h->e; j++) all += y[j] * dy[j];
        for (int i = 0; i < EDDY_LINE; i++) all += lines[i];
        b->delta[c] = all - dsum[(b->first + c) * h->sum.step];
        b->sum[c] = sum[(b->first + c) * h->sum.step];
    }
}

static void backward_block(const eddy_attention_head *h, pieces *p, block *b, eddy_tile_fn slopes)
{
    const float   scale = (float)h->scale;
    const int64_t part = masked_rows(h, b);
    const void   *of_slopes = p->slopes;
    make_scores(h, p, b);
    bring_gradient(h, p, b);
    by_block(b, part, h->e, p->v, p->dy_transposed, p->slopes);
    if (is_far(b)) softmax_slopes_far(b, p->scores, p->slopes);
    else slopes(b->see, p->scores, &of_slopes, b);
    from_block(b, part, p->e, p->scores, p->dy, p->dv);
    from_block(b, part, p->d, p->slopes, p->q, p->dk);
    to_block(b, part, p->d, p->slopes, p->k, p->dq);
    scale_rows(b->count, h->d, p->dq, &scale, 0, (float *)h->q.dx_to + b->first * h->q.step,
               h->q.step);
}

static void backward_f32(const eddy_attention_head *h, float *scratch)
{
    pieces p = pieces_of(h, scratch, true);
    const float        scale = (float)h->scale, one = 1;
    const eddy_tile_fn slopes = EDDY_BEST(softmax_slopes);
    p.k = bring(h->t, h->t, h->d, h->k.at, h->k.step, p.k_room);
    p.v = bring(h->t, h->t, h->e, h->v.at, h->v.step, p.v_room);
    memset(p.dk, 0, (size_t)(h->t * p.d) * sizeof *p.dk);
    memset(p.dv, 0, (size_t)(h->t * p.e) * sizeof *p.dv);
    for (int64_t first = 0; first < h->s && !eddy__stopped(h->stop); first += WIDTH) {
        block b = block_at(h, first);
        backward_block(h, &p, &b, slopes);
    }
    scale_rows(h->t, h->d, p.dk, &scale, 0, h->k.dx_to, h->k.step);
    scale_rows(h->t, h->e, p.dv, &one, 0, h->v.dx_to, h->v.step);
}

/* ------------------------------------------------------------------ float64 -- */

static double inner(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void add_row(int64_t n, double factor, const double *x, double *y)
{
    for (int64_t i = 0; i < n; i++) y[i] += factor * x[i];
}

/* The scores of row i, as many as it sees. */
static int64_t scores_f64(const eddy_attention_head *h, int64_t i, double *score)
{
    const double *q = (const double *)h->q.at + i * h->q.step, *k = h->k.at, *mask = h->mask;
    const int64_t see = h->causal && i + 1 < h->t ? i + 1 : h->t;
    for (int64_t j = 0; j < see; j++) {
        score[j] = h->scale * inner(h->d, q, k + j * h->k.step);
        if (mask) score[j] += mask[i * h->mask_row + j * h->mask_column];
    }
    return see;
}

/* Replaces scores by their exponentials, divided by that of the largest; returns their sum. */
static double exponentials_f64(int64_t n, double *score, double *top)
{
    double sum = 0;
    *top = -INFINITY;
    for (int64_t j = 0; j < n; j++) *top = score[j] > *top ? score[j] : *top;
    for (int64_t j = 0; j < n; j++) sum += score[j] = eddy__exp_f64(score[j] - *top);
    return sum;
}

static void forward_f64(const eddy_attention_head *h, double *score)
{
    for (int64_t i = 0; i < h->s && !eddy__stopped(h->stop); i++) {
        const int64_t see = scores_f64(h, i, score);
        double *y = (double *)h->y.to + i * h->y.step, top;
        const double sum = exponentials_f64(see, score, &top);
        for (int64_t j = 0; j < h->e; j++) y[j] = 0;
        for (int64_t j = 0; j < see; j++)
            add_row(h->e, score[j] / sum, (const double *)h->v.at + j * h->v.step, y);
        ((double *)h->sum.to)[i * h->sum.step] = top + eddy__log_f64(sum);
    }
}

static void clear_f64(int64_t count, int64_t columns, void *at, int64_t step)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < columns; j++) ((double *)at)[i * step + j] = 0;
}

static void backward_f64(const eddy_attention_head *h, double *score)
{
    clear_f64(h->s, h->d, h->q.dx_to, h->q.step);
    clear_f64(h->t, h->d, h->k.dx_to, h->k.step);
    clear_f64(h->t, h->e, h->v.dx_to, h->v.step);
    for (int64_t i = 0; i < h->s && !eddy__stopped(h->stop); i++) {
        const int64_t see = scores_f64(h, i, score), at = i * h->q.step;
        const double *q = (const double *)h->q.at + at, *y = (const double *)h->y.at;
        const double *dy = (const double *)h->y.dy_at + i * h->y.step;
        double        top;
        const double  sum = exponentials_f64(see, score, &top);
        const double  delta = inner(h->e, y + i * h->y.step, dy)
                           - ((const double *)h->sum.dy_at)[i * h->sum.step];
        for (int64_t j = 0; j < see; j++) {
            const int64_t k = j * h->k.step, v = j * h->v.step;
            const double  p = score[j] / sum;
            const double  slope = p * (inner(h->e, dy, (const double *)h->v.at + v) - delta);
            add_row(h->d, h->scale * slope, (const double *)h->k.at + k, (double *)h->q.dx_to + at);
            add_row(h->d, h->scale * slope, q, (double *)h->k.dx_to + k);
            add_row(h->e, p, dy, (double *)h->v.dx_to + v);
        }
    }
}

/* -------------------------------------------------------------------- either -- */

void eddy__attention_forward(eddy_dtype d, const eddy_attention_head *h, void *scratch)
{
    if (d == EDDY_FLOAT32) forward_f32(h, scratch);
    else forward_f64(h, scratch);
}

void eddy__attention_backward(eddy_dtype d, const eddy_attention_head *h, void *scratch)
{
    if (d == EDDY_FLOAT32) backward_f32(h, scratch);
    else backward_f64(h, scratch);
}
