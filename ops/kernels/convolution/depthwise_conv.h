/* depthwise_conv.h -- depthwise convolution kernels; private to ops/.
 *
 * Channels last, y[n, i, j, c] = sum over taps of x[n, .., .., c] filter[.., .., c]. With a
 * multiplier, the channels of x are first repeated. */
#ifndef EDDY_OPS_KERNELS_CONVOLUTION_DEPTHWISE_CONV_H
#define EDDY_OPS_KERNELS_CONVOLUTION_DEPTHWISE_CONV_H

#include "ops/kernels/convolution/conv.h"

/* The terms of one place along an axis: tap, tap + tap_step, ... meet from, from + from_step,
 * ... of what is read, count of them. */
typedef struct eddy_tap_run {
    int64_t tap, from, count;
} eddy_tap_run;

/* All places of an axis.  Places `space` apart have the same taps but at the border. */
typedef struct eddy_taps {
    int64_t       places, space, tap_step, from_step, read;      /* places that are read */
    eddy_tap_run *at;
} eddy_taps;

/* Axis i (0 height, 1 width) of a convolution, or with `back` of the gradient of its input,
 * into `at`, which has room for all places. */
eddy_taps eddy__taps_of(const eddy_conv_size *s, int i, bool back, eddy_tap_run *at);
/* The outputs [from, to) along axis i that tap t gets something from. */
typedef struct eddy_tap_range {
    int64_t from, to;
} eddy_tap_range;
eddy_tap_range eddy__tap_outputs(const eddy_conv_size *s, int i, int64_t t);

/* y, or with `back` dx from dy: how, in k->state, and the run of it.  `s` is that of the
 * convolution with a group a channel, multiplier = out_c / in_c. */
eddy_status eddy__depthwise_prepare(eddy_kernel *k, eddy_dtype d, const eddy_conv_size *s,
                                    bool back);
void eddy__depthwise_run(const eddy_kernel *k, const void *from, const void *filter, void *to);
/* The gradient of the filter. */
eddy_status eddy__depthwise_filter_prepare(eddy_kernel *k, eddy_dtype d, const eddy_conv_size *s);
void eddy__depthwise_filter_run(const eddy_kernel *k, const void *x, const void *dy, void *dw);

#endif
