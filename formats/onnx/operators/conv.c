/* conv.c -- convolutions: channels are second, filters are [out, in / groups, window...]. */
#include "../build.h"
#include "../window.h"
#include "../../../ops/short_names.h"

/* A filter with its window first: [window..., in / groups, out], or, of a transposed convolution,
 * whose filter is [in, out / groups, window...], [window..., out / groups, in]. */
static eddy_tensor window_first(eddy_tensor w, int axes)
{
    eddy_dims perm = { .count = axes + 2 };
    for (int i = 0; i < axes; i++) perm.at[i] = i + 2;
    perm.at[axes] = 1;
    perm.at[axes + 1] = 0;
    return Transpose(w, perm);
}

static eddy_tensor convolved(eddy_tensor x, eddy_tensor w, const onnx_window *v)
{
    const eddy_tensor f = window_first(w, v->axes);
    const eddy_dims   strides = eddy__onnx_dims(v->stride, v->axes), rates = eddy__onnx_dims(v->dilation, v->axes);
    const eddy_dims   pads = eddy__onnx_window_pads(v);
    if (v->axes == 1)
        return eddy_conv1d(x, f, v->stride[0], .data_format = "NCW", .dilation = v->dilation[0],
                           .explicit_paddings = pads);
    if (v->axes == 2)
        return eddy_conv2d(x, f, strides, .data_format = "NCHW", .dilations = rates, .explicit_paddings = pads);
    return eddy_conv3d(x, f, strides, .data_format = "NCDHW", .dilations = rates, .explicit_paddings = pads);
}

/* [C] as [C, 1, 1 ...]. */
static eddy_tensor along_channels(eddy_tensor bias, int axes)
{
    eddy_shape s = { .rank = axes + 1, .dim = { eddy_shape_of(bias).rank == 1 ? eddy_shape_of(bias).dim[0] : -1 } };
    for (int i = 1; i <= axes; i++) s.dim[i] = 1;
    return Reshape(bias, s);
}

/* x and w have the same type. */
static eddy_tensor conv_of(onnx_build *b, eddy_tensor x, eddy_tensor w)
{
    onnx_window v;
    if (!eddy__onnx_window(b, x, eddy_shape_of(w), &v)) return eddy_none(b->graph);
    return convolved(x, w, &v);
}

static bool conv(onnx_build *b)
{
    eddy_tensor y = conv_of(b, eddy__onnx_in(b, 0), eddy__onnx_in(b, 1));
    if (b->reason) return false;
    if (eddy__onnx_has(b, 2)) y = Add(y, along_channels(eddy__onnx_in(b, 2), eddy__onnx_rank(b, 0) - 2));
    return eddy__onnx_put(b, 0, y);
}

/* Sums of integers are exact in float64 below 2^53. */
static eddy_tensor integer_operand(onnx_build *b, int x, int zero, int axes)
{
    const eddy_tensor t = Cast(eddy__onnx_in(b, x), EDDY_FLOAT64);
    if (!eddy__onnx_has(b, zero)) return t;
    eddy_tensor z = Cast(eddy__onnx_in(b, zero), EDDY_FLOAT64);
    if (eddy_shape_of(z).rank == 1 && eddy_shape_of(z).dim[0] != 1) z = ExpandDims(along_channels(z, axes), -1);
    else z = Reshape(z, EDDY_SCALAR);
    return Sub(t, z);
}

static bool conv_integer(onnx_build *b)
{
    const int axes = eddy__onnx_rank(b, 0) - 2;
    const eddy_tensor y = conv_of(b, integer_operand(b, 0, 2, axes), integer_operand(b, 1, 3, axes));
    return !b->reason && eddy__onnx_put_as(b, 0, Cast(y, EDDY_INT32), ONNX_INT32);
}

/* As QuantizeLinear of the convolution of dequantized values, whose sums are exact. */
static bool qlinear_conv(onnx_build *b)
{
    const int axes = eddy__onnx_rank(b, 0) - 2;
    eddy_tensor y = conv_of(b, integer_operand(b, 0, 2, axes), integer_operand(b, 3, 5, axes));
    if (b->reason) return false;
    eddy_tensor w_scale = Cast(eddy__onnx_in(b, 4), EDDY_FLOAT64);
    if (eddy_shape_of(w_scale).rank == 1) w_scale = along_channels(w_scale, axes);
    if (eddy__onnx_has(b, 8)) y = Add(y, Cast(along_channels(eddy__onnx_in(b, 8), axes), EDDY_FLOAT64));
    const eddy_tensor scale = Mul(Cast(eddy__onnx_in(b, 1), EDDY_FLOAT64), w_scale);
    y = Div(Mul(y, scale), Cast(eddy__onnx_in(b, 6), EDDY_FLOAT64));
    double    least, most;
    const int type = eddy__onnx_type_in(b, 7);
    if (!eddy__onnx_range(type, &least, &most)) return eddy__onnx_invalid(b, "the zero point has a wrong type");
    y = Add(eddy_rint(y), Cast(eddy__onnx_in(b, 7), EDDY_FLOAT64));
    return eddy__onnx_put_as(b, 0, Cast(Minimum(Maximum(y, least), most), eddy__onnx_dtype(type)), type);
}

/* ----------------------------------------------------------------- transposed -- */

/* The size along each axis, from output_shape or from the padding; -1 if it is not known. */
static bool transposed_sizes(onnx_build *b, const onnx_window *v, const int64_t *in, onnx_window *w, int64_t *out)
{
    int n, m;
    const int64_t *shape = eddy__onnx_ints(b, "output_shape", &n);
    const int64_t *extra = eddy__onnx_ints(b, "output_padding", &m);
    const bool same = eddy__onnx_is(b, "auto_pad", "SAME_UPPER", false) || eddy__onnx_is(b, "auto_pad", "SAME_LOWER", false);
    *w = *v;
    for (int i = 0; i < v->axes; i++) {
        const int64_t add = m > i && extra ? extra[i] : 0, k = (v->size[i] - 1) * v->dilation[i] + 1;
        const int64_t given = n >= v->axes && shape ? shape[n - v->axes + i] : -1;
        if (in[i] < 0) return eddy__onnx_missing(b, "the sizes of the input must be known");
        out[i] = given >= 0 ? given : in[i] * v->stride[i];
        const int64_t total = v->stride[i] * (in[i] - 1) + add + k - out[i];
        if (given >= 0 || same) {       /* the larger half is at the end, or, of SAME_LOWER, in front */
            const bool lower = eddy__onnx_is(b, "auto_pad", "SAME_UPPER", false);
            w->before[i] = lower ? total / 2 : total - total / 2;
            w->after[i] = total - w->before[i];
            if (total < 0) w->before[i] = 0, w->after[i] = total;
        } else out[i] = v->stride[i] * (in[i] - 1) + add + k - v->before[i] - v->after[i];
        if (out[i] < 0) return eddy__onnx_invalid(b, "the output would have a negative size");
    }
    return true;
}

/* The filter as for a convolution of the output with groups: [window..., out / groups, in]. */
static eddy_tensor transposed(eddy_tensor x, eddy_tensor f, const onnx_window *w, const int64_t *full,
                              int64_t channels)
{
    const eddy_shape s = eddy_shape_of(x);
    eddy_shape       y = { .rank = s.rank, .dim = { s.dim[0], channels } };
    for (int i = 0; i < w->axes; i++) y.dim[2 + i] = full[i];
    const eddy_dims strides = eddy__onnx_dims(w->stride, w->axes), rates = eddy__onnx_dims(w->dilation, w->axes);
    if (w->axes == 1)
        return eddy_conv1d_transpose(x, f, y, w->stride[0], NULL, "NCW", w->dilation[0]);
    if (w->axes == 2) return eddy_conv2d_transpose(x, f, y, strides, .dilations = rates, .data_format = "NCHW");
    return eddy_conv3d_transpose(x, f, y, strides, NULL, "NCDHW", rates);
}

/* The whole transposed convolution, of which the pads are cut off, or which is padded with zeros
 * where they are negative. */
static eddy_tensor cut(eddy_tensor y, const onnx_window *w, const int64_t *out)
{
    eddy_dims begin = { .count = w->axes + 2 }, size = { .count = w->axes + 2, .at = { -1, -1 } };
    eddy_dims none = { .count = w->axes + 2 }, more = { .count = w->axes + 2 };
    bool      any = false;
    for (int i = 0; i < w->axes; i++) {
        const int64_t full = eddy_shape_of(y).dim[i + 2], left = full - w->before[i];
        begin.at[i + 2] = w->before[i];
        size.at[i + 2] = left < out[i] ? left : out[i];
        more.at[i + 2] = out[i] - size.at[i + 2];
        any = any || more.at[i + 2] > 0;
    }
    y = eddy_slice(y, begin, size);
    return any ? eddy_pad(y, none, more) : y;
}

static bool conv_transpose(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0), w = eddy__onnx_in(b, 1);
    const eddy_shape  sx = eddy_shape_of(x), sw = eddy_shape_of(w);
    const int64_t     groups = eddy__onnx_int(b, "group", 1);
    onnx_window       v, c;
    int64_t           out[3], full[3];
    if (!eddy__onnx_window_lists(b, sx.rank, sw, &v) || !transposed_sizes(b, &v, sx.dim + 2, &c, out)) return false;
    if (groups < 1 || sw.dim[1] < 0 || sw.dim[1] > INT32_MAX || groups > INT32_MAX)
        return eddy__onnx_invalid(b, "the groups are invalid");
    for (int i = 0; i < v.axes; i++)
        full[i] = v.stride[i] * (sx.dim[i + 2] - 1) + (v.size[i] - 1) * v.dilation[i] + 1;
    eddy_tensor y = transposed(x, window_first(w, v.axes), &c, full, sw.dim[1] * groups);
    if (eddy_graph_status(b->graph) != EDDY_OK) return false;
    y = cut(y, &c, out);
    if (eddy__onnx_has(b, 2)) y = Add(y, along_channels(eddy__onnx_in(b, 2), v.axes));
    return eddy__onnx_put(b, 0, y);
}

const onnx_operator eddy__onnx_conv[] = {
    { "Conv", 1, conv }, { "ConvInteger", 10, conv_integer }, { "QLinearConv", 10, qlinear_conv },
    { "ConvTranspose", 1, conv_transpose }, { NULL },
};
