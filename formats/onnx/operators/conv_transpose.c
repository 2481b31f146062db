/* conv_transpose.c -- transposed convolutions, and images from columns, which is one. */
#include "../build.h"
#include "../window.h"
#include "../../../ops/short_names.h"

/* The elements cut off the whole transposed convolution, before and after, by the attributes; after
 * is negative where zeros are added. */
static bool transposed_cuts(onnx_build *b, const int64_t *in, onnx_window *w)
{
    int n, m;
    const int64_t *shape = eddy__onnx_ints(b, "output_shape", &n);
    const int64_t *extra = eddy__onnx_ints(b, "output_padding", &m);
    const bool     upper = eddy__onnx_is(b, "auto_pad", "SAME_UPPER", false);
    const bool     same = upper || eddy__onnx_is(b, "auto_pad", "SAME_LOWER", false);
    for (int i = 0; i < w->axes; i++) {
        const int64_t add = m > i ? extra[i] : 0,
                      k = (w->size[i] - 1) * w->dilation[i] + 1;
        const bool given = n >= w->axes && shape[n - w->axes + i] >= 0;
        if (given && in[i] < 0)
            return eddy__onnx_missing(b, "output_shape needs known sizes of the input");
        if (given || same) { /* the larger half is at the end, or, of SAME_LOWER, in front */
            const int64_t total = given ? w->stride[i] * (in[i] - 1) + k - shape[n - w->axes + i]
                                        : k - w->stride[i];
            const int64_t half = (total + add) / 2;
            w->before[i] = total + add < 0 ? 0 : upper ? half : total + add - half;
            w->after[i] = total - w->before[i];
        } else w->after[i] -= add;
        if (in[i] >= 0 && w->stride[i] * (in[i] - 1) + k < w->before[i] + w->after[i])
            return eddy__onnx_invalid(b, "the output would have a negative size");
    }
    return true;
}

/* The filter is that of a convolution of the output with groups: [window..., out / groups, in]. */
static eddy_tensor transposed(eddy_tensor x, eddy_tensor f, const onnx_window *w, int64_t channels)
{
    const eddy_shape s = eddy_shape_of(x);
    eddy_shape       y = { .rank = s.rank, .dim = { s.dim[0], channels } };
    for (int i = 0; i < w->axes; i++) {
        const int64_t size = s.dim[2 + i], k = (w->size[i] - 1) * w->dilation[i] + 1;
        y.dim[2 + i] = size < 0 ? EDDY_ANY : w->stride[i] * (size - 1) + k;
    }
    const eddy_dims strides = eddy__onnx_dims(w->stride, w->axes),
                    rates = eddy__onnx_dims(w->dilation, w->axes);
    if (w->axes == 1)
        return eddy_conv1d_transpose(x, f, y, w->stride[0], NULL, "NCW", w->dilation[0]);
    if (w->axes == 2)
        return eddy_conv2d_transpose(x, f, y, strides, .dilations = rates, .data_format = "NCHW");
    return eddy_conv3d_transpose(x, f, y, strides, NULL, "NCDHW", rates);
}

static eddy_tensor cut(eddy_tensor y, const onnx_window *w)
{
    const int rank = w->axes + 2;
    eddy_dims begin = { .count = rank }, end = { .count = rank }, step = { .count = rank };
    eddy_dims none = { .count = rank }, more = { .count = rank };
    int64_t   open = 0;
    bool      any = false;
    for (int i = 0; i < rank; i++) {
        const int64_t after = i < 2 ? 0 : w->after[i - 2];
        step.at[i] = 1;
        begin.at[i] = i < 2 ? 0 : w->before[i - 2];
        end.at[i] = after > 0 ? -after : 0;
        more.at[i] = after < 0 ? -after : 0;
        if (after <= 0) open |= (int64_t)1 << i;
        any = any || after < 0;
    }
    y = eddy_strided_slice(y, begin, end, step, .end_mask = open);
    return any ? eddy_pad(y, none, more) : y;
}

static bool conv_transpose(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_window_in(b), w = eddy__onnx_in(b, 1);
    const eddy_shape  sx = eddy_shape_of(x), sw = eddy_shape_of(w);
    const int64_t     groups = eddy__onnx_int(b, "group", 1);
    onnx_window       v;
    if (!eddy__onnx_window_lists(b, sx.rank, sw, &v) || !transposed_cuts(b, sx.dim + 2, &v))
        return false;
    if (groups < 1 || sw.dim[1] < 0 || sw.dim[1] > INT32_MAX || groups > INT32_MAX)
        return eddy__onnx_invalid(b, "the groups are invalid");
    eddy_tensor y = transposed(x, eddy__onnx_window_first(w, v.axes), &v, sw.dim[1] * groups);
    if (eddy_graph_status(b->graph) != EDDY_OK) return false;
    y = cut(y, &v);
    if (eddy__onnx_has(b, 2)) y = Add(y, eddy__onnx_along_channels(eddy__onnx_in(b, 2), v.axes));
    return eddy__onnx_put(b, 0, y);
}

/* The sum of overlapping windows, which are columns [batch, channels k, windows]: the gradient of
 * taking patches, a transposed convolution of each channel with unit filters. */
static bool col2im(onnx_build *b)
{
    int64_t          image[ONNX_MAX_LIST], window[ONNX_MAX_LIST];
    const int n = eddy__onnx_list(b, 1, NULL, image), m = eddy__onnx_list(b, 2, NULL, window);
    eddy_tensor      x = eddy__onnx_in(b, 0);
    const eddy_shape s = eddy_shape_of(x);
    onnx_window      v;
    if (n == ONNX_FAILED || m == ONNX_FAILED) return false;
    if (n != 2 || m != 2 || s.rank != 3 || s.dim[1] < 1 || s.dim[2] < 1)
        return eddy__onnx_missing(b,
                                  "the image does not have two dimensions, or a size is not known");
    eddy_shape filter = { .rank = 4, .dim = { 1, 1, window[0], window[1] } };
    if (window[0] < 1 || window[1] < 1 || window[0] > 1 << 12 || window[1] > 1 << 12 ||
        !eddy__onnx_window_lists(b, 4, filter, &v))
        return eddy__onnx_invalid(b, "the window is invalid");
    const int64_t k = window[0] * window[1], channels = s.dim[1] / k;
    int64_t       full[2], rows[2];
    for (int i = 0; i < 2; i++) {
        full[i] = image[i] + v.before[i] + v.after[i];
        rows[i] = (full[i] - (v.size[i] - 1) * v.dilation[i] - 1) / v.stride[i] + 1;
        if (image[i] < 1 || full[i] < (v.size[i] - 1) * v.dilation[i] + 1)
            return eddy__onnx_invalid(b, "the image is smaller than a window");
    }
    if (channels * k != s.dim[1] || rows[0] * rows[1] != s.dim[2])
        return eddy__onnx_invalid(b, "the columns do not have the sizes of the windows");
    x = Reshape(
        Transpose(Reshape(x, EDDY_SHAPE(s.dim[0], channels, k, s.dim[2])), EDDY_DIMS(1, 0, 3, 2)),
        EDDY_SHAPE(-1, rows[0], rows[1], k));
    const eddy_tensor unit = Reshape(eddy_eye(b->graph, k, .dtype = eddy_dtype_of(x)),
                                     EDDY_SHAPE(window[0], window[1], 1, k));
    eddy_tensor       y = eddy_conv2d_transpose(x, unit, EDDY_SHAPE(EDDY_ANY, full[0], full[1], 1),
                                                eddy__onnx_dims(v.stride, 2),
                                                .dilations = eddy__onnx_dims(v.dilation, 2));
    y = eddy_slice(y, EDDY_DIMS(0, v.before[0], v.before[1], 0),
                   EDDY_DIMS(-1, image[0], image[1], 1));
    y = Transpose(Reshape(y, EDDY_SHAPE(channels, -1, image[0], image[1])), EDDY_DIMS(1, 0, 2, 3));
    return eddy__onnx_put(b, 0, y);
}

const onnx_operator eddy__onnx_conv_transpose[] = {
    { "ConvTranspose", 1, conv_transpose }, { "Col2Im", 18, col2im }, { NULL },
};
