/* linear.c -- products of matrices, and other operators of linear algebra. */
#include "../build.h"
#include "../../../ops/short_names.h"

#include <string.h>

/* As numpy.matmul: a vector is a row on the left and a column on the right. */
static eddy_tensor product(onnx_build *b, eddy_tensor x, eddy_tensor y)
{
    const int rx = eddy_shape_of(x).rank, ry = eddy_shape_of(y).rank;
    if (rx == 0 || ry == 0) eddy__onnx_invalid(b, "an operand is a scalar");
    if (rx == 1) x = ExpandDims(x, 0);
    if (ry == 1) y = ExpandDims(y, 1);
    eddy_tensor z = MatMul(x, y);
    if (ry == 1) z = Squeeze(z, EDDY_AXES(-1));
    if (rx == 1) z = Squeeze(z, ry == 1 ? EDDY_AXES(-1) : EDDY_AXES(-2));
    return z;
}

static bool matmul(onnx_build *b)
{
    const eddy_tensor z = product(b, eddy__onnx_in(b, 0), eddy__onnx_in(b, 1));
    return eddy__onnx_put(b, 0, z);
}

/* Zero points are scalars, or one for each row of a and each column of b. */
static eddy_tensor centered(onnx_build *b, int x, int zero)
{
    const eddy_tensor t = eddy__onnx_numbers(b, x, EDDY_INT32);
    if (!eddy__onnx_has(b, zero)) return t;
    eddy_tensor z = Cast(eddy__onnx_in(b, zero), EDDY_INT32);
    if (x == 0 && eddy_shape_of(z).rank == 1 && eddy_shape_of(z).dim[0] != 1) z = ExpandDims(z, 1);
    return Sub(t, z);
}

static bool matmul_integer(onnx_build *b)
{
    const eddy_tensor z = product(b, centered(b, 0, 2), centered(b, 1, 3));
    return eddy__onnx_put_as(b, 0, z, ONNX_INT32);
}

static eddy_tensor scaled(double factor, eddy_tensor x) { return factor == 1 ? x : Mul(factor, x); }

static bool gemm(onnx_build *b)
{
    const bool  whole = eddy_dtype_is_integer(eddy_dtype_of(eddy__onnx_in(b, 0)));
    const double alpha = eddy__onnx_float(b, "alpha", 1), beta = eddy__onnx_float(b, "beta", 1);
    if (whole && (alpha != (double)(int64_t)alpha || beta != (double)(int64_t)beta))
        return eddy__onnx_missing(b, "integers cannot be scaled by fractions");
    eddy_tensor y = MatMul(eddy__onnx_in(b, 0), eddy__onnx_in(b, 1),
                           .transpose_a = eddy__onnx_int(b, "transA", 0) != 0,
                           .transpose_b = eddy__onnx_int(b, "transB", 0) != 0);
    y = scaled(alpha, y);
    if (eddy__onnx_has(b, 2)) y = Add(y, scaled(beta, eddy__onnx_in(b, 2)));
    return eddy__onnx_put(b, 0, y);
}

static bool einsum(onnx_build *b)
{
    eddy_tensor in[ONNX_MAX_LIST];
    if (b->n_in > ONNX_MAX_LIST) return eddy__onnx_missing(b, "%d operands are too many", b->n_in);
    for (int i = 0; i < b->n_in; i++) in[i] = eddy__onnx_in(b, i);
    const char *from = eddy__onnx_text(b, "equation", "");
    char       *s = eddy__region_take(b->memory, strlen(from) + 1, 1);
    size_t      n = 0;
    for (; s && *from; from++)
        if (*from != ' ') s[n++] = *from;
    return eddy__onnx_put(b, 0, eddy_einsum(s, (eddy_list){ b->n_in, in }));
}

static bool det(onnx_build *b) { return eddy__onnx_put(b, 0, eddy_det(eddy__onnx_in(b, 0))); }

const onnx_operator eddy__onnx_linear[] = {
    { "MatMul", 1, matmul }, { "Gemm", 1, gemm }, { "MatMulInteger", 10, matmul_integer },
    { "Einsum", 12, einsum }, { "Det", 11, det }, { NULL },
};
