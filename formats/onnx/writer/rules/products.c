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

static const onnx_row rows[] = {
    { "MatMul", matmul },
    { "BatchMatMulV2", matmul },
    { "MatrixDeterminant", .formula = "Det(a)" },
};

const onnx_family eddy__write_products = FAMILY_OF(rows);
