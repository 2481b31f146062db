/* depthwise_conv.h -- depthwise convolution kernels; private to ops/.
 *
 * Channels last, y[n, i, j, c] = sum over taps of x[n, .., .., c] filter[.., .., c]. With a
 * multiplier, the channels of x are first repeated. */
#ifndef EDDY_OPS_KERNELS_CONVOLUTION_DEPTHWISE_CONV_H
#define EDDY_OPS_KERNELS_CONVOLUTION_DEPTHWISE_CONV_H

#include "ops/kernels/convolution/conv.h"

/* The terms of one position along an axis: taps tap, tap + tap_step, ... times positions from,
 * from + from_step, ... of the input, `count` of them. */
typedef struct eddy_tap_run {
    int64_t tap, from, count;
} eddy_tap_run;

/* All positions of an axis.  Positions `space` apart have the same taps, except at the border. */
typedef struct eddy_taps {
    int64_t       places, space, tap_step, from_step, read;      /* read: size of the input */
    eddy_tap_run *at;
} eddy_taps;

/* Axis i (0 height, 1 width) of a convolution, or with `back` of the gradient of its input,
 * stored in `at`, which has room for all positions. */
eddy_taps eddy__taps_of(const eddy_conv_size *s, int i, bool back, eddy_tap_run *at);
/* The range of outputs along axis i to which tap t contributes. */
typedef struct eddy_tap_range {
    int64_t from, to;
} eddy_tap_range;
eddy_tap_range eddy__tap_outputs(const eddy_conv_size *s, int i, int64_t t);

/* Prepares k->state, and computes y, or with `back` dx from dy.  `s` is the size of the
 * convolution with one group per channel, multiplier = out_c / in_c. */
eddy_status eddy__depthwise_prepare(eddy_kernel *k, eddy_dtype d, const eddy_conv_size *s,
                                    bool back);
void eddy__depthwise_run(const eddy_kernel *k, const void *from, const void *filter, void *to);
/* The same y of x where channels come before height and width; the bits are those of channels last,
 * between two transpositions.  Neighboring columns fill the lanes of vectors if the stride of the
 * width is 1; otherwise columns are computed one after the other. */
eddy_status eddy__depthwise_planes_prepare(eddy_kernel *k, eddy_dtype d, const eddy_conv_size *s);
void eddy__depthwise_planes_run(const eddy_kernel *k, const void *x, const void *filter, void *y);
/* The gradient of the filter. */
eddy_status eddy__depthwise_filter_prepare(eddy_kernel *k, eddy_dtype d, const eddy_conv_size *s);
void eddy__depthwise_filter_run(const eddy_kernel *k, const void *x, const void *dy, void *dw);

#endif
