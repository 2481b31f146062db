/* quantized.c -- quantization to 8, 16 and 4 bits, and products of quantized matrices. */
#include "../build.h"
#include "../../../ops/short_names.h"

#include <string.h>

/* A vector along an axis of a tensor of this rank; a scalar is left. */
static eddy_tensor along(onnx_build *b, eddy_tensor v, int rank)
{
    const eddy_shape s = eddy_shape_of(v);
    if (s.rank != 1) return v;
    if (s.dim[0] == 1 || rank < 1) return Reshape(v, EDDY_SCALAR);
    const int axis = eddy__onnx_axis(b, eddy__onnx_int(b, "axis", 1), rank);
    if (axis < 0) return v;
    eddy_shape to = { .rank = rank };
    for (int i = 0; i < rank; i++) to.dim[i] = i == axis ? s.dim[0] : 1;
    return Reshape(v, to);
}

/* Blocked quantization: each scale is repeated `block` times along the axis. */
static eddy_tensor spread(onnx_build *b, eddy_tensor v, int rank)
{
    const int64_t block = eddy__onnx_int(b, "block_size", 0);
    if (block < 1 || eddy_shape_of(v).rank != rank) return along(b, v, rank);
    const int axis = eddy__onnx_axis(b, eddy__onnx_int(b, "axis", 1), rank);
    if (axis < 0) return v;
    return eddy_repeat(v, eddy_number(b->graph, EDDY_INT32, (double)block), EDDY_AXES(axis));
}

/* round(x / scale) + zero, saturated to the type. */
static eddy_tensor quantized(eddy_tensor x, eddy_tensor scale, eddy_tensor zero, int type)
{
    double least, most;
    eddy__onnx_range(type, &least, &most);
    eddy_tensor y = eddy_rint(Div(x, scale));
    if (eddy_is_valid(zero)) y = Add(y, CastLike(zero, y));
    return Cast(Minimum(Maximum(y, least), most), eddy__onnx_dtype(type));
}

static bool quantize(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const int         rank = eddy__onnx_rank(b, 0);
    int               type = (int)eddy__onnx_int(b, "output_dtype", ONNX_UINT8);
    if (eddy__onnx_has(b, 2)) type = eddy__onnx_type_in(b, 2);
    double least, most;
    if (type == ONNX_UNDEFINED) type = ONNX_UINT8;
    if (!eddy__onnx_range(type, &least, &most))
        return eddy__onnx_missing(b, "quantization to %s is not supported",
                                  eddy__onnx_type_name(type));
    const eddy_tensor zero =
        eddy__onnx_has(b, 2) ? spread(b, eddy__onnx_in(b, 2), rank) : EDDY_NO_TENSOR;
    const eddy_dtype d = eddy_dtype_is_floating(eddy_dtype_of(x)) ? eddy_dtype_of(x) : EDDY_FLOAT32;
    const eddy_tensor y =
        quantized(Cast(x, d), Cast(spread(b, eddy__onnx_in(b, 1), rank), d), zero, type);
    return !b->reason && eddy__onnx_put_as(b, 0, y, type);
}

static bool dequantize(onnx_build *b)
{
    const int         rank = eddy__onnx_rank(b, 0);
    const eddy_tensor scale = spread(b, eddy__onnx_in(b, 1), rank);
    eddy_tensor       y = CastLike(eddy__onnx_in(b, 0), scale);
    if (eddy__onnx_has(b, 2)) y = Sub(y, CastLike(spread(b, eddy__onnx_in(b, 2), rank), scale));
    return !b->reason && eddy__onnx_put_as(b, 0, Mul(y, scale), eddy__onnx_type_in(b, 1));
}

/* To uint8, with the scale and zero point that the range of x asks for. */
static bool dynamic_quantize(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const eddy_tensor least = Minimum(Min(x), 0), most = Maximum(Max(x), 0);
    const eddy_tensor scale = Div(Sub(most, least), 255);
    const eddy_tensor zero = Minimum(Maximum(eddy_rint(Neg(DivNoNan(least, scale))), 0), 255);
    return eddy__onnx_put_as(b, 0, quantized(x, scale, zero, ONNX_UINT8), ONNX_UINT8) &&
        eddy__onnx_put(b, 1, scale) && eddy__onnx_put_as(b, 2, Cast(zero, EDDY_UINT8), ONNX_UINT8);
}

/* Rows of a and columns of b may have scales of their own. */
static eddy_tensor of_rows(eddy_tensor v)
{
    return eddy_shape_of(v).rank == 1 && eddy_shape_of(v).dim[0] != 1 ? ExpandDims(v, 1) : v;
}

static bool qlinear_matmul(onnx_build *b)
{
    const int         type = eddy__onnx_type_in(b, 7);
    double            least, most;
    if (!eddy__onnx_range(type, &least, &most))
        return eddy__onnx_invalid(b, "the zero point has a wrong type");
    const eddy_tensor x = Sub(Cast(eddy__onnx_in(b, 0), EDDY_FLOAT64),
                              of_rows(Cast(eddy__onnx_in(b, 2), EDDY_FLOAT64)));
    const eddy_tensor w =
        Sub(Cast(eddy__onnx_in(b, 3), EDDY_FLOAT64), Cast(eddy__onnx_in(b, 5), EDDY_FLOAT64));
    const eddy_tensor scale = Mul(of_rows(Cast(eddy__onnx_in(b, 1), EDDY_FLOAT64)),
                                  Cast(eddy__onnx_in(b, 4), EDDY_FLOAT64));
    const eddy_tensor y = Mul(MatMul(x, w), scale);
    return eddy__onnx_put_as(
        b, 0, quantized(y, Cast(eddy__onnx_in(b, 6), EDDY_FLOAT64), eddy__onnx_in(b, 7), type),
        type);
}

const onnx_operator eddy__onnx_quantized[] = {
    { "QuantizeLinear", 10, quantize },
    { "DequantizeLinear", 10, dequantize },
    { "DynamicQuantizeLinear", 11, dynamic_quantize },
    { "QLinearMatMul", 10, qlinear_matmul },
    { NULL },
};
