/* window.c -- see window.h. */
#include "window.h"

#include <string.h>

static bool list(onnx_build *b, const char *name, int count, int64_t otherwise, int64_t *to)
{
    int            n;
    const int64_t *from = eddy__onnx_ints(b, name, &n);
    for (int i = 0; i < count; i++) to[i] = otherwise;
    if (!from || n == 0) return true;
    if (n != count) return eddy__onnx_invalid(b, "%s has %d entries and not %d", name, n, count);
    for (int i = 0; i < count; i++) {
        if (from[i] < (otherwise == 1 ? 1 : 0) || from[i] > 1 << 24)
            return eddy__onnx_missing(b, "%s has the entry %lld", name, (long long)from[i]);
        to[i] = from[i];
    }
    return true;
}

bool eddy__onnx_window_lists(onnx_build *b, int rank, eddy_shape filter, onnx_window *w)
{
    int64_t pads[6];
    *w = (onnx_window){ .axes = rank - 2 };
    if (rank < 3 || rank > 5)
        return eddy__onnx_missing(b, rank < 0 ? "the rank of the input must be known"
                                              : "the rank of the input is not 3, 4 or 5");
    if (!list(b, "kernel_shape", w->axes, 1, w->size) ||
        !list(b, "strides", w->axes, 1, w->stride) ||
        !list(b, "dilations", w->axes, 1, w->dilation) || !list(b, "pads", 2 * w->axes, 0, pads))
        return false;
    if (filter.rank == rank)
        for (int i = 0; i < w->axes; i++) w->size[i] = filter.dim[i + 2];
    for (int i = 0; i < w->axes; i++) {
        if (w->size[i] < 1) return eddy__onnx_missing(b, "the size of the window must be known");
        w->before[i] = pads[i];
        w->after[i] = pads[w->axes + i];
    }
    return true;
}

eddy_tensor eddy__onnx_window_in(onnx_build *b)
{
    int n;
    eddy__onnx_ints(b, "kernel_shape", &n);
    if (n > 0) eddy__onnx_take_rank(b, 0, n + 2);
    else if (eddy__onnx_has(b, 1) && eddy__onnx_rank(b, 1) >= 0)
        eddy__onnx_take_rank(b, 0, eddy__onnx_rank(b, 1));
    return eddy__onnx_in(b, 0);
}

bool eddy__onnx_window(onnx_build *b, eddy_tensor x, eddy_shape filter, onnx_window *w)
{
    const eddy_shape s = eddy_shape_of(x);
    if (!eddy__onnx_window_lists(b, s.rank, filter, w)) return false;
    const bool upper = eddy__onnx_is(b, "auto_pad", "SAME_UPPER", false);
    const bool lower = eddy__onnx_is(b, "auto_pad", "SAME_LOWER", false);
    if (eddy__onnx_is(b, "auto_pad", "VALID", false))
        for (int i = 0; i < w->axes; i++) w->before[i] = w->after[i] = 0;
    for (int i = 0; (upper || lower) && i < w->axes; i++) {
        const int64_t size = s.dim[i + 2], reach = (w->size[i] - 1) * w->dilation[i] + 1;
        if (size < 0 && w->stride[i] != 1 && lower)
            return eddy__onnx_missing(b, "SAME_LOWER with strides needs known sizes");
        if (size < 0 && w->stride[i] != 1) w->padding = "SAME";
        const int64_t out = (size + w->stride[i] - 1) / w->stride[i];
        int64_t total = size < 0 ? reach - 1 : (out - 1) * w->stride[i] + reach - size;
        if (total < 0) total = 0;
        w->before[i] = upper ? total / 2 : total - total / 2;
        w->after[i] = total - w->before[i];
    }
    return true;
}

eddy_dims eddy__onnx_window_pads(const onnx_window *w)
{
    eddy_dims d = { .count = 2 * w->axes };
    for (int i = 0; i < w->axes; i++) {
        d.at[2 * i] = w->before[i];
        d.at[2 * i + 1] = w->after[i];
    }
    return w->padding ? EDDY_OMITTED_DIMS : d;
}

bool eddy__onnx_window_ceil(onnx_build *b, eddy_tensor x, onnx_window *w)
{
    const eddy_shape s = eddy_shape_of(x);
    for (int i = 0; i < w->axes; i++) {
        const int64_t size = s.dim[i + 2], reach = (w->size[i] - 1) * w->dilation[i] + 1;
        /* With so much padding, as many windows fit as with the padding that is needed. */
        if (size < 0 && w->after[i] + w->stride[i] > reach)
            return eddy__onnx_missing(b, "ceil_mode needs known sizes");
        if (size < 0) w->after[i] += w->stride[i] - 1;
        if (size < 0) continue;
        const int64_t room = size + w->before[i] + w->after[i] - reach;
        int64_t last = room <= 0 ? 0 : (room + w->stride[i] - 1) / w->stride[i] * w->stride[i];
        if (last >= size + w->before[i]) last -= w->stride[i];
        /* A window that would begin in the padding behind the elements is left out. */
        const int64_t after = last + reach - size - w->before[i];
        w->after[i] = after > 0 ? after : 0;
    }
    return true;
}

eddy_tensor eddy__onnx_window_first(eddy_tensor filter, int axes)
{
    eddy_dims perm = { .count = axes + 2 };
    for (int i = 0; i < axes; i++) perm.at[i] = i + 2;
    perm.at[axes] = 1;          /* the last axis is 0, which it is already */
    return eddy_transpose(filter, perm);
}

eddy_tensor eddy__onnx_along_channels(eddy_tensor bias, int axes)
{
    eddy_shape s = { .rank = axes + 1,
                     .dim = { eddy_shape_of(bias).rank == 1 ? eddy_shape_of(bias).dim[0] : -1 } };
    for (int i = 1; i <= axes; i++) s.dim[i] = 1;
    return eddy_reshape(bias, s);
}
