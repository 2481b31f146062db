/* quantized.c -- quantization to 8, 16 and 4 bits, and products of quantized matrices. */
#include "../reader.h"
#include "../../../ops/short_names.h"

#include <string.h>

eddy_tensor eddy__onnx_numbers(onnx_build *b, int i, eddy_dtype d)
{
    enum { LEAST = 64 };
    const bool        is_int8 = eddy__onnx_type_in(b, i) == ONNX_INT8;
    const eddy_array *a = is_int8 ? eddy__onnx_array_of(b, eddy__onnx_value_in(b, i)) : NULL;
    if (!a || eddy_array_count(a) < LEAST) return Cast(eddy__onnx_in(b, i), d);
    eddy_array *stored = eddy_array_new(EDDY_UINT8, eddy_array_shape(a));
    if (!stored) return eddy__reading_no_memory(&b->reader->base), eddy_none(b->graph);
    for (int64_t k = 0; k < eddy_array_count(a); k++)
        ((uint8_t *)eddy_array_data(stored))[k] = (uint8_t)(eddy_array_get(a, k) + 128);
    return Sub(Cast(eddy_constant_adopt(b->graph, stored), d), 128);
}

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
    return eddy__onnx_put_as(b, 0, y, type);
}

static bool dequantize(onnx_build *b)
{
    const int         rank = eddy__onnx_rank(b, 0);
    const eddy_tensor scale = spread(b, eddy__onnx_in(b, 1), rank);
    eddy_tensor       y = eddy__onnx_numbers(b, 0, eddy_dtype_of(scale));
    if (eddy__onnx_has(b, 2)) y = Sub(y, CastLike(spread(b, eddy__onnx_in(b, 2), rank), scale));
    return eddy__onnx_put_as(b, 0, Mul(y, scale), eddy__onnx_type_in(b, 1));
}

/* To uint8, with the scale and zero point that the range of x asks for. */
static bool dynamic_quantize(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const eddy_tensor least = Minimum(Min(x), 0), most = Maximum(Max(x), 0);
    const eddy_tensor scale = Div(Sub(most, least), 255);
    const eddy_tensor zero = Minimum(Maximum(eddy_rint(Neg(DivNoNan(least, scale))), 0), 255);
    eddy__onnx_put(b, 1, scale);
    eddy__onnx_put_as(b, 2, Cast(zero, EDDY_UINT8), ONNX_UINT8);
    return eddy__onnx_put_as(b, 0, quantized(x, scale, zero, ONNX_UINT8), ONNX_UINT8);
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
        Sub(eddy__onnx_numbers(b, 3, EDDY_FLOAT64), Cast(eddy__onnx_in(b, 5), EDDY_FLOAT64));
    const eddy_tensor scale = Mul(of_rows(Cast(eddy__onnx_in(b, 1), EDDY_FLOAT64)),
                                  Cast(eddy__onnx_in(b, 4), EDDY_FLOAT64));
    const eddy_tensor y = Mul(MatMul(x, w), scale);
    return eddy__onnx_put_as(
        b, 0, quantized(y, Cast(eddy__onnx_in(b, 6), EDDY_FLOAT64), eddy__onnx_in(b, 7), type),
        type);
}

/* -------------------------------------------------------------- MatMulNBits -- */

/* The packed weights of a MatMulNBits, [n, blocks, block bits / 8]. */
typedef struct packed {
    int64_t        k, n, bits, block, blocks;
    const uint8_t *at, *zeros;          /* zeros: a row for each column, or NULL */
} packed;

/* Element i of a row of numbers of 4 or 8 bits, the lower half of a byte first. */
static int packed_at(const uint8_t *row, int64_t bits, int64_t i)
{
    return bits == 8 ? row[i] : row[i / 2] >> (i % 2 ? 4 : 0) & 15;
}

static int zero_at(const packed *w, int64_t column, int64_t block)
{
    if (!w->zeros) return 1 << (w->bits - 1);
    return packed_at(w->zeros + column * ((w->blocks * w->bits + 7) / 8), w->bits, block);
}

static const uint8_t *bytes_in(onnx_build *b, int i, const char *what, int64_t count)
{
    const eddy_array *a = eddy__onnx_need(b, i, what);
    if (!a) return NULL;
    if (eddy_array_dtype(a) == EDDY_UINT8 && eddy_array_count(a) == count)
        return eddy_array_data((eddy_array *)(uintptr_t)a);
    eddy__onnx_invalid(b, "%s has not the %lld bytes that K, N and block_size ask for", what,
                       (long long)count);
    return NULL;
}

static bool find_packed(onnx_build *b, packed *w)
{
    *w = (packed){ .k = eddy__onnx_int(b, "K", 0), .n = eddy__onnx_int(b, "N", 0),
                   .bits = eddy__onnx_int(b, "bits", 4),
                   .block = eddy__onnx_int(b, "block_size", 0) };
    if (w->bits != 4 && w->bits != 8)
        return eddy__onnx_missing(b, "weights of %lld bits are not supported", (long long)w->bits);
    if (eddy__onnx_has(b, 4)) return eddy__onnx_missing(b, "an order of groups is not supported");
    if (w->k < 1 || w->n < 1 || w->block < 2 || w->block % 2 != 0 || w->k > INT32_MAX ||
        w->n > INT32_MAX)
        return eddy__onnx_invalid(b, "K, N or block_size is wrong");
    if (w->k % w->block != 0)
        return eddy__onnx_missing(b, "a K that is no multiple of block_size is not supported");
    w->blocks = w->k / w->block;
    w->at = bytes_in(b, 1, "B", w->n * w->k * w->bits / 8);
    if (eddy__onnx_has(b, 3))
        w->zeros = bytes_in(b, 3, "zero_points", w->n * ((w->blocks * w->bits + 7) / 8));
    return !b->reason;
}

/* The weights as Eddy stores them, [k, n] with 128 added; NULL if out of memory. */
static eddy_array *unpacked(onnx_build *b, const packed *w)
{
    eddy_array *a = eddy_array_new(EDDY_UINT8, EDDY_SHAPE(w->k, w->n));
    if (!a) return eddy__reading_no_memory(&b->reader->base), NULL;
    uint8_t *to = eddy_array_data(a);
    for (int64_t j = 0; j < w->n; j++) {
        const uint8_t *row = w->at + j * w->k * w->bits / 8;
        for (int64_t i = 0; i < w->k; i++) {
            const int v = packed_at(row, w->bits, i) - zero_at(w, j, i / w->block) + 128;
            if (v < 0 || v > 255)
                eddy__onnx_missing(b, "weights of more than 8 bits, with their zero points, are "
                                   "not supported");
            to[i * w->n + j] = (uint8_t)v;
        }
    }
    return a;
}

/* With accuracy_level 4, activations are quantized to 8 bits, too; else they are not. */
static bool matmul_n_bits(onnx_build *b)
{
    packed w;
    if (!find_packed(b, &w)) return false;
    eddy_array *a = unpacked(b, &w);
    if (!a || b->reason) {
        eddy_array_free(a);
        return false;
    }
    const eddy_tensor x = eddy__onnx_in(b, 0), values = eddy_constant_adopt(b->graph, a);
    const eddy_tensor scales = eddy_transpose(
        Reshape(Cast(eddy__onnx_in(b, 2), EDDY_FLOAT32), EDDY_SHAPE(w.n, w.blocks)),
        EDDY_DIMS(1, 0));
    eddy_tensor y = eddy__onnx_int(b, "accuracy_level", 0) == 4
                        ? CastLike(eddy_quantized_matmul(Cast(x, EDDY_FLOAT32), values, scales), x)
                        : MatMul(x, CastLike(eddy_dequantize(values, scales), x));
    if (eddy__onnx_has(b, 5)) y = Add(y, eddy__onnx_in(b, 5));
    return eddy__onnx_put(b, 0, y);
}

const onnx_operator eddy__onnx_quantized[] = {
    { "QuantizeLinear", 10, quantize },
    { "DequantizeLinear", 10, dequantize },
    { "DynamicQuantizeLinear", 11, dynamic_quantize },
    { "QLinearMatMul", 10, qlinear_matmul },
    { "MatMulNBits", 1, matmul_n_bits, .domain = "com.microsoft" },
    { NULL },
};
