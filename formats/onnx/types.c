/* types.c -- the element types of ONNX and those in which Eddy computes. */
#include "build.h"

#include <string.h>

/* compute: the type of arithmetic; stored: of placeholders and weights; bits: of integers. */
static const struct {
    const char *name;
    eddy_dtype  compute, stored;
    int         bits;
    bool        is_signed;
} types[ONNX_TYPES] = {
    [ONNX_UNDEFINED] = { "undefined", 0, 0, 0, false },
    [ONNX_FLOAT] = { "float", EDDY_FLOAT32, EDDY_FLOAT32, 0, true },
    [ONNX_UINT8] = { "uint8", EDDY_UINT8, EDDY_UINT8, 8, false },
    [ONNX_INT8] = { "int8", EDDY_INT32, EDDY_INT32, 8, true },
    [ONNX_UINT16] = { "uint16", EDDY_INT32, EDDY_INT32, 16, false },
    [ONNX_INT16] = { "int16", EDDY_INT32, EDDY_INT32, 16, true },
    [ONNX_INT32] = { "int32", EDDY_INT32, EDDY_INT32, 32, true },
    [ONNX_INT64] = { "int64", EDDY_INT64, EDDY_INT64, 64, true },
    [ONNX_STRING] = { "string", 0, 0, 0, false },
    [ONNX_BOOL] = { "bool", EDDY_BOOL, EDDY_BOOL, 0, false },
    [ONNX_FLOAT16] = { "float16", EDDY_FLOAT32, EDDY_FLOAT16, 0, true },
    [ONNX_DOUBLE] = { "double", EDDY_FLOAT64, EDDY_FLOAT64, 0, true },
    [ONNX_UINT32] = { "uint32", EDDY_INT64, EDDY_INT64, 32, false },
    [ONNX_UINT64] = { "uint64", EDDY_INT64, EDDY_INT64, 64, false },
    [ONNX_COMPLEX64] = { "complex64", EDDY_COMPLEX64, EDDY_COMPLEX64, 0, true },
    [ONNX_COMPLEX128] = { "complex128", EDDY_COMPLEX128, EDDY_COMPLEX128, 0, true },
    [ONNX_BFLOAT16] = { "bfloat16", EDDY_FLOAT32, EDDY_BFLOAT16, 0, true },
    [ONNX_FLOAT8E4M3FN] = { "float8e4m3fn", EDDY_FLOAT32, EDDY_FLOAT32, 0, true },
    [ONNX_FLOAT8E4M3FNUZ] = { "float8e4m3fnuz", EDDY_FLOAT32, EDDY_FLOAT32, 0, true },
    [ONNX_FLOAT8E5M2] = { "float8e5m2", EDDY_FLOAT32, EDDY_FLOAT32, 0, true },
    [ONNX_FLOAT8E5M2FNUZ] = { "float8e5m2fnuz", EDDY_FLOAT32, EDDY_FLOAT32, 0, true },
    [ONNX_UINT4] = { "uint4", EDDY_INT32, EDDY_INT32, 4, false },
    [ONNX_INT4] = { "int4", EDDY_INT32, EDDY_INT32, 4, true },
};

static bool known(int type) { return type > 0 && type < ONNX_TYPES; }

eddy_dtype eddy__onnx_dtype(int type)
{
    return known(type) ? types[type].compute : EDDY_DEFAULT_DTYPE;
}

eddy_dtype eddy__onnx_stored(int type)
{
    return known(type) ? types[type].stored : EDDY_DEFAULT_DTYPE;
}

const char *eddy__onnx_type_name(int type) { return known(type) ? types[type].name : "unknown"; }

bool eddy__onnx_is_float(int type) { return eddy_dtype_is_floating(eddy__onnx_dtype(type)); }

int eddy__onnx_type_of(eddy_dtype d)
{
    static const int of[EDDY_DTYPES] = {
        [EDDY_FLOAT32] = ONNX_FLOAT, [EDDY_FLOAT64] = ONNX_DOUBLE, [EDDY_INT32] = ONNX_INT32,
        [EDDY_INT64] = ONNX_INT64, [EDDY_UINT8] = ONNX_UINT8, [EDDY_BOOL] = ONNX_BOOL,
        [EDDY_FLOAT16] = ONNX_FLOAT16, [EDDY_BFLOAT16] = ONNX_BFLOAT16,
        [EDDY_COMPLEX64] = ONNX_COMPLEX64, [EDDY_COMPLEX128] = ONNX_COMPLEX128,
    };
    return of[d];
}

bool eddy__onnx_range(int type, double *least, double *most)
{
    if (!known(type) || types[type].bits == 0) return false;
    const int    bits = types[type].bits;
    const double size = (double)(1ull << (bits - 1));
    *least = types[type].is_signed ? -size : 0;
    *most = types[type].is_signed ? size - 1 : 2 * size - 1;
    return true;
}

/* ((x + 2^(bits-1)) mod 2^bits) - 2^(bits-1) for a signed type of fewer bits than Eddy's. */
static eddy_tensor wrap(eddy_tensor x, int bits, bool is_signed)
{
    const eddy_tensor mask = eddy_number_like((double)(1ull << bits) - 1, x);
    if (!is_signed) return eddy_bitwise_and(x, mask);
    const eddy_tensor half = eddy_number_like((double)(1ull << (bits - 1)), x);
    return eddy_sub(eddy_bitwise_and(eddy_add(x, half), mask), half);
}

eddy_tensor eddy__onnx_narrow(eddy_tensor x, int type)
{
    if (!known(type)) return x;
    const eddy_dtype compute = types[type].compute, stored = types[type].stored;
    if (stored != compute) return eddy_cast(eddy_cast(x, stored), compute);
    if (types[type].bits == 0 || types[type].bits >= (int)(8 * eddy_dtype_size(compute))) return x;
    return wrap(x, types[type].bits, types[type].is_signed);
}
