/* window.h -- the windows of convolutions and pools: sizes, strides, dilations and padding. */
#ifndef EDDY_FORMATS_ONNX_WINDOW_H
#define EDDY_FORMATS_ONNX_WINDOW_H

#include "build.h"

typedef struct onnx_window {
    int     axes;                       /* 1 to 3 */
    int64_t size[3], stride[3], dilation[3];
    int64_t before[3], after[3];        /* padding */
    const char *padding;                /* "SAME" if only a run tells the padding, else NULL */
} onnx_window;

/* Input 0, whose rank is that of the filter, or two more than kernel_shape has entries, if nothing
 * else is known of it. */
eddy_tensor eddy__onnx_window_in(onnx_build *b);
/* Reads the attributes for an input of this rank; the size is that of the filter
 * [out, in, window...], or kernel_shape. False with a reason. */
bool eddy__onnx_window_lists(onnx_build *b, int rank, eddy_shape filter, onnx_window *w);
/* The same, with the padding that auto_pad asks for. */
bool eddy__onnx_window(onnx_build *b, eddy_tensor x, eddy_shape filter, onnx_window *w);
/* before and after of each axis, as Eddy takes them; none with w->padding. */
eddy_dims eddy__onnx_window_pads(const onnx_window *w);
/* Adds to `after` what windows that begin within the input or the padding in front need beyond the
 * end (ceil_mode), or what they may need at most. */
bool eddy__onnx_window_ceil(onnx_build *b, eddy_tensor x, onnx_window *w);

/* A filter [out, in / groups, window...] as [window..., in / groups, out]; of a transposed
 * convolution, [in, out / groups, window...] as [window..., out / groups, in]. */
eddy_tensor eddy__onnx_window_first(eddy_tensor filter, int axes);
/* [channels] as [channels, 1, 1 ...], with so many ones. */
eddy_tensor eddy__onnx_along_channels(eddy_tensor bias, int axes);

#endif
