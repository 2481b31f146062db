/* conv_product.c -- convolution 1x1 as one product of matrices: pixels by filter.
 *
 * The product has strips across rows of pixels, blocks along the channels and, with a stride, a
 * compact copy of the pixels that are read. Direct convolution reads each row of pixels by itself,
 * and pixels that lie pages apart compete for the same sets of the L1 cache. */
#include "ops/kernels/convolution/conv_product.h"

#include "graph/base/cpu.h"
#include "ops/kernels/arrays/box_copy.h"
#include "ops/kernels/matmul/gemm.h"

typedef struct plan {
    eddy_product product;
    eddy_box     pixels;             /* those that are read */
    uint64_t     copy_at;            /* where their copy begins in scratch memory */
    bool         copies;
} plan;

/* Whether each pixel of the result reads one pixel of x, which is inside. */
static bool is_product(eddy_dtype d, const eddy_conv_size *s)
{
    bool yes = d == EDDY_FLOAT32 && s->groups == 1 && !s->planes;
    for (int i = 0; i < 2; i++)
        yes = yes && s->filter[i] == 1 && s->before[i] == 0 &&
              (s->out[i] - 1) * s->step[i] < s->in[i];
    return yes;
}

eddy_status eddy__conv_product_prepare(eddy_kernel *k, eddy_dtype d, const eddy_conv_size *s,
                                       bool *yes)
{
    const eddy_product p = eddy__product_of(d, false, false, s->batch * s->out[0] * s->out[1],
                                            s->out_c, s->in_c);
    eddy_gemm g;
    *yes = is_product(d, s) && eddy__gemm_plan(&g, &p) && !g.dots && !g.transposed;
    if (!*yes) return EDDY_OK;
    const eddy_gemm *tiles = eddy__product_plan(k, &p, 1);
    plan            *kept = tiles ? eddy_kernel_state(k, sizeof *kept) : NULL;
    if (!kept) return eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for the loops");
    kept->product = p;
    kept->product.plan = tiles;
    kept->copies = s->step[0] > 1 || s->step[1] > 1;
    if (!kept->copies) return EDDY_OK;
    eddy__box_add(&kept->pixels, s->batch, s->out[0] * s->out[1] * s->in_c,
                  s->in[0] * s->in[1] * s->in_c);
    eddy__box_add(&kept->pixels, s->out[0], s->out[1] * s->in_c, s->step[0] * s->in[1] * s->in_c);
    eddy__box_add(&kept->pixels, s->out[1], s->in_c, s->step[1] * s->in_c);
    eddy__box_add(&kept->pixels, s->in_c, 1, 1);
    kept->copy_at = (k->scratch_size + 63) / 64 * 64;
    k->scratch_size = kept->copy_at + (uint64_t)(p.m * p.k) * sizeof(float);
    return EDDY_OK;
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
    if (kept->copies) eddy__box_copy_parallel(k, &kept->pixels, sizeof(float), copy, x);
    p.a = kept->copies ? copy : x;
    p.b = filter, p.y = y, p.scratch = k->scratch;
    p.bias = finish.bias, p.residual = finish.residual;
    p.activation = finish.relu ? EDDY_BEST(relu) : NULL;
    eddy__product_run(k, &p);
}
