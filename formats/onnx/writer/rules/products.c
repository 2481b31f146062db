/* products.c -- products of matrices. */
#include "../rules.h"

static const char *operand(onnx_part *p, int i, int rank, bool transposed)
{
    int64_t order[EDDY_MAX_RANK];
    for (int k = 0; k < rank; k++) order[k] = k;
    if (transposed) {
        order[rank - 2] = rank - 1;
        order[rank - 1] = rank - 2;
    }
    return eddy__part_transpose(p, eddy__part_in(p, i), rank, order);
}

static bool matmul(onnx_part *p)
{
    int a, b;
    if (!eddy__part_known_rank(p, 0, &a) || !eddy__part_known_rank(p, 1, &b)) return false;
    return eddy__part_put(
        p, 0, eddy__part_binary(p, "MatMul", operand(p, 0, a, eddy__part_bool(p, "transpose_a")),
                                operand(p, 1, b, eddy__part_bool(p, "transpose_b"))));
}

/* The largest magnitude along the last axis. */
static const char *largest(onnx_part *p, const char *x)
{
    const char *of[] = { eddy__part_unary(p, "Abs", x) };
    onnx_call   c = eddy__call(p, "ReduceMax", 1, of);
    eddy__call_ints(&c, "axes", 1, (const int64_t[]){ -1 });
    return eddy__call_end(&c);
}

/* The integers that are multiplied, as float32, which holds the sums of groups of up to 1024 rows
 * exactly and rounds those of larger ones: x is [..., groups, 1, size]
 * and the weights are [groups, size, n]. */
static bool quantized_matmul(onnx_part *p)
{
    const eddy_dtype d = EDDY_FLOAT32;
    eddy_shape       w, s;
    int              rank;
    int64_t          split[EDDY_MAX_RANK + 2] = { 0 };
    if (!eddy__part_known_rank(p, 0, &rank) || !eddy__part_known_shape(p, 1, &w) ||
        !eddy__part_known_shape(p, 2, &s))
        return false;
    const int64_t groups = s.rank == 1 ? 1 : s.dim[0], size = w.dim[0] / groups, n = w.dim[1];
    const int64_t weights[] = { groups, size, n }, scales[] = { groups, 1, n }, sum[] = { -3, -2 };
    split[rank - 1] = groups, split[rank] = 1, split[rank + 1] = size;
    const char *x = eddy__part_cast(p, eddy__part_in(p, 0), eddy__part_dtype(p, 0), d);
    x = eddy__part_binary(p, "Reshape", x, eddy__part_ints(p, rank + 2, split));
    const char *most = largest(p, x);
    const char *q = eddy__part_formula(p, d, "Round(Mul(a, Where(Less(b, 1e-36), 0, Div(127, b))))",
                                       x, most);
    const char *v = eddy__part_formula(p, d, "Sub(float(a), 128)", eddy__part_in(p, 1));
    v = eddy__part_binary(p, "Reshape", v, eddy__part_ints(p, 3, weights));
    const char *r = eddy__part_binary(p, "Reshape", eddy__part_in(p, 2),
                                      eddy__part_ints(p, 3, scales));
    const char *y = eddy__part_formula(p, d, "ReduceSum[keepdims=0](Mul(MatMul(a, b), "
                                       "Mul(Div(c, 127), d)), e)", q, v, most, r,
                                       eddy__part_ints(p, 2, sum));
    return eddy__part_put(p, 0, eddy__part_cast(p, y, d, eddy__part_dtype(p, 0)));
}

static const onnx_row rows[] = {
    { "MatMul", matmul },
    { "BatchMatMulV2", matmul },
    { "QuantizedMatMul", quantized_matmul },
    { "MatrixDeterminant", .formula = "Det(a)" },
};

const onnx_family eddy__write_products = FAMILY_OF(rows);
