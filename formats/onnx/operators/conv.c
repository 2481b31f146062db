/* conv.c -- convolutions: channels are second, filters are [out, in / groups, window...]. */
#include "../build.h"
#include "../window.h"
#include "../../../ops/short_names.h"

static eddy_tensor convolved(eddy_tensor x, eddy_tensor w, const onnx_window *v)
{
    const eddy_tensor f = eddy__onnx_window_first(w, v->axes);
    const eddy_dims   strides = eddy__onnx_dims(v->stride, v->axes),
                    rates = eddy__onnx_dims(v->dilation, v->axes);
    const eddy_dims   pads = eddy__onnx_window_pads(v);
    if (v->axes == 1)
        return eddy_conv1d(x, f, v->stride[0], .data_format = "NCW", .dilation = v->dilation[0],
                           .padding = v->padding, .explicit_paddings = pads);
    if (v->axes == 2)
        return eddy_conv2d(x, f, strides, .data_format = "NCHW", .dilations = rates,
                           .padding = v->padding, .explicit_paddings = pads);
    return eddy_conv3d(x, f, strides, .data_format = "NCDHW", .dilations = rates,
                       .padding = v->padding, .explicit_paddings = pads);
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
    eddy_tensor y = conv_of(b, eddy__onnx_window_in(b), eddy__onnx_in(b, 1));
    if (b->reason) return false;
    if (eddy__onnx_has(b, 2))
        y = Add(y, eddy__onnx_along_channels(eddy__onnx_in(b, 2), eddy__onnx_rank(b, 0) - 2));
    return eddy__onnx_put(b, 0, y);
}

/* Sums of integers are exact in float64 below 2^53. */
static eddy_tensor integer_operand(onnx_build *b, int x, int zero, int axes)
{
    const eddy_tensor t = eddy__onnx_numbers(b, x, EDDY_FLOAT64);
    if (!eddy__onnx_has(b, zero)) return t;
    eddy_tensor z = Cast(eddy__onnx_in(b, zero), EDDY_FLOAT64);
    if (eddy_shape_of(z).rank == 1 && eddy_shape_of(z).dim[0] != 1)
        z = ExpandDims(eddy__onnx_along_channels(z, axes), -1);
    else z = Reshape(z, EDDY_SCALAR);
    return Sub(t, z);
}

static bool conv_integer(onnx_build *b)
{
    const int axes = eddy__onnx_rank(b, 0) - 2;
    const eddy_tensor y =
        conv_of(b, integer_operand(b, 0, 2, axes), integer_operand(b, 1, 3, axes));
    return eddy__onnx_put_as(b, 0, Cast(y, EDDY_INT32), ONNX_INT32);
}

/* As QuantizeLinear of the convolution of dequantized values, whose sums are exact. */
static bool qlinear_conv(onnx_build *b)
{
    const int axes = eddy__onnx_rank(b, 0) - 2;
    eddy_tensor y = conv_of(b, integer_operand(b, 0, 2, axes), integer_operand(b, 3, 5, axes));
    if (b->reason) return false;
    eddy_tensor w_scale = Cast(eddy__onnx_in(b, 4), EDDY_FLOAT64);
    if (eddy_shape_of(w_scale).rank == 1) w_scale = eddy__onnx_along_channels(w_scale, axes);
    if (eddy__onnx_has(b, 8))
        y = Add(y, Cast(eddy__onnx_along_channels(eddy__onnx_in(b, 8), axes), EDDY_FLOAT64));
    const eddy_tensor scale = Mul(Cast(eddy__onnx_in(b, 1), EDDY_FLOAT64), w_scale);
    y = Div(Mul(y, scale), Cast(eddy__onnx_in(b, 6), EDDY_FLOAT64));
    double    least, most;
    const int type = eddy__onnx_type_in(b, 7);
    if (!eddy__onnx_range(type, &least, &most))
        return eddy__onnx_invalid(b, "the zero point has a wrong type");
    y = Add(eddy_rint(y), Cast(eddy__onnx_in(b, 7), EDDY_FLOAT64));
    return eddy__onnx_put_as(b, 0, Cast(Minimum(Maximum(y, least), most), eddy__onnx_dtype(type)),
                             type);
}

const onnx_operator eddy__onnx_conv[] = {
    { "Conv", 1, conv },
    { "ConvInteger", 10, conv_integer },
    { "QLinearConv", 10, qlinear_conv },
    { NULL },
};
