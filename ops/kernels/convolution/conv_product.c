/* conv_product.c -- convolution as one product of matrices: pixels by a filter 1x1, or patches by
 * another filter if rows of the result are short.
 *
 * The product has strips across rows of pixels, blocks along the channels and, with a stride, a
 * compact copy of the pixels that are read. Direct convolution reads each row of pixels by itself,
 * and pixels that lie pages apart compete for the same sets of the L1 cache; the seven pixels of a
 * row make tiles of four and three, which leave multipliers idle. */
#include "ops/kernels/convolution/conv_product.h"

#include "graph/base/cpu.h"
#include "graph/base/thread_pool.h"
#include "ops/kernels/arrays/box_copy.h"
#include "ops/kernels/convolution/conv_direct.h"
#include "ops/kernels/matmul/gemm.h"

#include <string.h>

typedef struct plan {
    eddy_product   product;
    eddy_conv_size size;
    eddy_box       pixels;           /* those that are read */
    uint64_t       copy_at;          /* where their copy begins in scratch memory */
    bool           copies, patches;
} plan;

/* Whether each pixel of the result reads one pixel of x, which is inside. */
static bool by_pixels(const eddy_conv_size *s)
{
    bool yes = true;
    for (int i = 0; i < 2; i++)
        yes = yes && s->filter[i] == 1 && s->before[i] == 0 &&
              (s->out[i] - 1) * s->step[i] < s->in[i];
    return yes;
}

/* Whether copying patches is little work beside the product, and rows are short and of pixels that
 * are apart. Every tap reads some pixel: direct sums leave the others out. */
static bool by_patches(const eddy_conv_size *s)
{
    enum { SHORT = 8, MANY = 64, MOST_BYTES = 8 << 20 };
    bool yes = s->out[1] <= SHORT && s->step[1] > 1 && s->in_c >= MANY && s->out_c >= MANY;
    for (int i = 0; i < 2; i++)
        yes = yes && s->out[i] > 0 && eddy__conv_forward_axis(s, i).taps == s->filter[i];
    return yes && (double)(s->batch * s->out[0] * s->out[1]) * (double)(s->in_c * s->filter[0]) *
                  (double)s->filter[1] * sizeof(float) <= MOST_BYTES;
}

static size_t element(const eddy_conv_size *s)
{
    return s->halves ? sizeof(uint16_t) : sizeof(float);
}

eddy_status eddy__conv_product_prepare(eddy_kernel *k, eddy_dtype d, const eddy_conv_size *s,
                                       bool *yes)
{
    const bool pixels = by_pixels(s), fits = d == EDDY_FLOAT32 && s->groups == 1 && !s->planes;
    eddy_product p = eddy__product_of(d, false, false, s->batch * s->out[0] * s->out[1], s->out_c,
                                      s->in_c * s->filter[0] * s->filter[1]);
    eddy_gemm g;
    *yes = fits && (pixels || by_patches(s)) && eddy__gemm_plan(&g, &p) && !g.dots && !g.transposed;
    if (!*yes) return EDDY_OK;
    p.halves = p.round_b = p.round_bias = s->halves;
    const eddy_gemm *tiles = eddy__product_plan(k, &p, 1);
    plan            *kept = tiles || p.halves ? eddy_kernel_state(k, sizeof *kept) : NULL;
    if (!kept) return eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for the loops");
    kept->product = p;
    kept->product.plan = tiles;
    kept->size = *s;
    kept->patches = !pixels;
    kept->copies = kept->patches || s->step[0] > 1 || s->step[1] > 1;
    if (!kept->copies) return EDDY_OK;
    kept->copy_at = (k->scratch_size + 63) / 64 * 64;
    k->scratch_size = kept->copy_at + (uint64_t)(p.m * p.k) * element(s);
    if (kept->patches) return EDDY_OK;
    eddy__box_add(&kept->pixels, s->batch, s->out[0] * s->out[1] * s->in_c,
                  s->in[0] * s->in[1] * s->in_c);
    eddy__box_add(&kept->pixels, s->out[0], s->out[1] * s->in_c, s->step[0] * s->in[1] * s->in_c);
    eddy__box_add(&kept->pixels, s->out[1], s->in_c, s->step[1] * s->in_c);
    eddy__box_add(&kept->pixels, s->in_c, 1, 1);
    return EDDY_OK;
}

/* ------------------------------------------------------------------- patches -- */

typedef struct copying {
    const eddy_conv_size *size;
    const char           *x;
    char                 *to;
} copying;

/* The pixels that one row of the filter reads for a pixel of the result, from column `left` of a
 * row of x on; NULL: a row outside. */
static void copy_taps(const eddy_conv_size *s, const char *row, int64_t left, char *to)
{
    const size_t pixel = (size_t)s->in_c * element(s);
    for (int64_t t = 0; t < s->filter[1]; t++, to += pixel) {
        const int64_t column = left + t * s->gap[1];
        if (row && column >= 0 && column < s->in[1])
            memcpy(to, row + (size_t)column * pixel, pixel);
        else memset(to, 0, pixel);
    }
}

/* For rows [from, to) of all images of the result. */
static void copy_patches(void *arg, int64_t from, int64_t to, int worker)
{
    const copying        *c = arg;
    const eddy_conv_size *s = c->size;
    const int64_t pixel = s->in_c * (int64_t)element(s);
    const int64_t line = s->filter[1] * pixel, patch = s->filter[0] * line;
    (void)worker;
    for (int64_t i = from; i < to; i++)
        for (int64_t j = 0; j < s->out[1]; j++)
            for (int64_t t = 0; t < s->filter[0]; t++) {
                const int64_t y = i % s->out[0] * s->step[0] - s->before[0] + t * s->gap[0];
                const bool    inside = y >= 0 && y < s->in[0];
                const int64_t at = (i / s->out[0] * s->in[0] + y) * s->in[1] * pixel;
                copy_taps(s, inside ? c->x + at : NULL, j * s->step[1] - s->before[1],
                          c->to + (i * s->out[1] + j) * patch + t * line);
            }
}

/* The loop of Relu. */
static eddy_status relu(int64_t n, void *y_, const void *const *x_, const void *attrs)
{
    const float *x = x_[0];
    float       *y = y_;
    (void)attrs;
    EDDY_INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] = x[i] < 0 ? 0 : x[i];
    return EDDY_OK;
}
EDDY_CLONES(relu)

void eddy__conv_product(const eddy_kernel *k, const void *x, const void *filter, void *y,
                        eddy_conv_finish finish)
{
    const plan  *kept = k->state;
    eddy_product p = kept->product;
    void        *copy = (char *)k->scratch + kept->copy_at;
    copying      c = { &kept->size, x, copy };
    if (kept->patches)
        eddy__parallel_or_stop(k, kept->size.batch * kept->size.out[0], 4, copy_patches, &c);
    else if (kept->copies)
        eddy__box_copy_parallel(k, &kept->pixels, element(&kept->size), copy, x);
    p.a = kept->copies ? copy : x;
    p.b = filter, p.y = y, p.scratch = k->scratch;
    p.bias = finish.bias, p.residual = finish.residual;
    p.activation = finish.relu ? EDDY_BEST(relu) : NULL;
    eddy__product_run(k, &p);
}
