/* conv_method.c -- choice of the convolution algorithm: direct sums, or Winograd's minimal
 * filtering where it applies and is faster. */
#include "ops/kernels/convolution/conv_product.h"
#include "ops/kernels/convolution/conv_winograd.h"

#include <stdatomic.h>

static atomic_int asked = EDDY_CONV_BY_RULE;

void eddy__conv_method_ask(eddy_conv_method m)
{
    atomic_store_explicit(&asked, (int)m, memory_order_relaxed);
}

/* Whether minimal filtering is implemented for this convolution. */
static bool possible(eddy_dtype d, const eddy_conv_size *s)
{
    bool yes = d == EDDY_FLOAT32 && s->groups == 1 && !s->planes && s->in_c > 0 && s->out_c > 0;
    for (int i = 0; i < 2; i++) yes = yes && s->step[i] == 1 && s->gap[i] == 1;
    return yes && s->filter[0] == s->filter[1] && (s->filter[0] == 3 || s->filter[0] == 5);
}

/* Costs in units of the time that direct sums take for one tap of one pixel. A tile costs 58 +
 * 389 / c, with c the smaller number of channels: 36 for its products, and the rest for its
 * transforms, whose cost does not depend on the number of products. The filter costs 216, and up to
 * three times as much if its values do not stay in the cache (at most 700 with AVX2 and 256 or 512
 * channels). Measured with AVX-512, with 4 to 512 channels, images of
 * 1 to 32 pixels a side and batches of 1 to 64; accurate to a tenth where the two methods are
 * close. Tiles of four pixels do not fit images of 5 or 6, and tiles of two, for 5x5, do not fit
 * images of 3 or 5; a few tiles do not repay the transform of the filter. AVX2 and vectors of 16
 * bytes gain no less. */
static bool faster(const eddy_conv_size *s)
{
    const double c = (double)(s->in_c < s->out_c ? s->in_c : s->out_c);
    const double megabytes = 1e-6 * 4 * EDDY_WINOGRAD_POINTS * (double)s->in_c * (double)s->out_c;
    const int64_t out = EDDY_WINOGRAD_IN + 1 - s->filter[0], taps = s->filter[0] * s->filter[1];
    double tiles = (double)s->batch, pixels = (double)s->batch;
    for (int i = 0; i < 2; i++) {
        tiles *= (double)((s->out[i] + out - 1) / out);
        pixels *= (double)s->out[i];
    }
    const double tile = 58 + 389 / c, filter = 216 * (1 + (megabytes < 8 ? megabytes / 4 : 2));
    return tiles * tile + filter < 0.95 * (double)taps * pixels;
}

eddy_conv_method eddy__conv_method_of(eddy_dtype d, const eddy_conv_size *s)
{
    const int want = atomic_load_explicit(&asked, memory_order_relaxed);
    if (want == EDDY_CONV_DIRECT || !possible(d, s)) return EDDY_CONV_DIRECT;
    return want == EDDY_CONV_WINOGRAD || faster(s) ? EDDY_CONV_WINOGRAD : EDDY_CONV_DIRECT;
}

/* ----------------------------------------------------------------- plans -- */

/* A method, and its plan; direct sums may be a product of matrices. */
typedef struct plan {
    eddy_conv_method method;
    bool             product;
    void            *state;
} plan;

static eddy_status keep_method(eddy_kernel *k, eddy_status s, eddy_conv_method m, bool product)
{
    void *state = k->state;
    if (s != EDDY_OK) return s;
    plan *p = eddy_kernel_state(k, sizeof *p);
    if (!p) return eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for the loops");
    *p = (plan){ m, product, state };
    return EDDY_OK;
}

static eddy_kernel inner(const eddy_kernel *k)
{
    const plan *p = k->state;
    eddy_kernel own = *k;
    own.state = p->state;
    return own;
}

static bool by_winograd(const eddy_kernel *k)
{
    return ((const plan *)k->state)->method == EDDY_CONV_WINOGRAD;
}

/* Whether the copy of an image that a worker may need, with zeros around and between its pixels, is
 * so large that sizes would overflow 64 bits. */
static bool is_too_wide(eddy_dtype d, const eddy_conv_size *s)
{
    double bytes = (double)eddy_dtype_size(d) * (double)(s->in_c + s->out_c);
    for (int i = 0; i < 2; i++) {
        const double reach = (double)s->in[i] + (double)s->out[i] * (double)s->step[i],
                     taps = (double)s->filter[i] * (double)s->gap[i];
        bytes *= reach + (taps < reach ? taps : reach);
    }
    return bytes > 0x1p50;
}

eddy_status eddy__conv_prepare(eddy_kernel *k, eddy_dtype d, const eddy_conv_size *s, bool back)
{
    if (is_too_wide(d, s))
        return eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for the loops");
    const eddy_conv_method m = eddy__conv_method_of(d, s);
    eddy_status status = EDDY_OK;
    bool        product = false;
    if (!back && m == EDDY_CONV_DIRECT &&
        atomic_load_explicit(&asked, memory_order_relaxed) == EDDY_CONV_BY_RULE)
        status = eddy__conv_product_prepare(k, d, s, &product);
    if (m == EDDY_CONV_WINOGRAD) status = eddy__conv_winograd_prepare(k, s, back);
    else if (!product) status = eddy__conv_direct_prepare(k, d, s, back, true);
    return keep_method(k, status, m, product);
}

void eddy__conv_run(const eddy_kernel *k, const void *x, const void *filter, void *y,
                    eddy_conv_finish finish)
{
    const eddy_kernel own = inner(k);
    if (by_winograd(k)) eddy__conv_winograd(&own, x, filter, y, finish);
    else if (((const plan *)k->state)->product) eddy__conv_product(&own, x, filter, y, finish);
    else eddy__conv_direct(&own, x, filter, y, finish);
}

eddy_status eddy__conv_filter_prepare(eddy_kernel *k, eddy_dtype d, const eddy_conv_size *s)
{
    if (is_too_wide(d, s))
        return eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for the loops");
    const eddy_conv_method m = eddy__conv_method_of(d, s);
    return keep_method(k, m == EDDY_CONV_WINOGRAD ? eddy__conv_winograd_weights_prepare(k, s)
                                                  : eddy__conv_direct_weights_prepare(k, d, s),
                       m, false);
}

void eddy__conv_filter_run(const eddy_kernel *k, const void *x, const void *dy, void *dw)
{
    const eddy_kernel own = inner(k);
    if (by_winograd(k)) eddy__conv_winograd_weights(&own, x, dy, dw);
    else eddy__conv_direct_weights(&own, x, dy, dw);
}
