/* linear.c -- products of matrices, decompositions, and Fourier transforms. */
#include "../build.h"
#include "../../../ops/short_names.h"

static bool matmul(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0), y = eddy__tf_in(b, 1);
    return eddy__tf_put(b, 0, eddy_matmul(x, y, eddy__tf_flag(b, "transpose_a"),
                                          eddy__tf_flag(b, "transpose_b")));
}

static bool batch_matmul(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0), y = eddy__tf_in(b, 1);
    return eddy__tf_put(b, 0, eddy_batch_matmul(x, y, eddy__tf_flag(b, "adj_x"),
                                                eddy__tf_flag(b, "adj_y")));
}

static bool einsum(tf_build *b)
{
    eddy_tensor *x = eddy__region_take(b->memory, (size_t)b->n_in, sizeof *x);
    for (int i = 0; x && i < b->n_in; i++) x[i] = eddy__tf_in(b, i);
    return x && eddy__tf_put(b, 0, eddy_einsum(eddy__tf_text(b, "equation", ""), { b->n_in, x }));
}

static bool outputs(tf_build *b, eddy_tensor y, int n)
{
    for (int i = 0; i < n && eddy_graph_status(b->graph) == EDDY_OK; i++)
        if (!eddy__tf_put(b, i, eddy_output(y, i))) return false;
    return true;
}

static bool qr(tf_build *b)
{
    return outputs(b, eddy_qr(eddy__tf_in(b, 0), eddy__tf_flag(b, "full_matrices")), 2);
}

static bool svd(tf_build *b)
{
    const tf_attr *uv = eddy__tf_attr_of(b->node, "compute_uv");
    return outputs(b, eddy_svd(eddy__tf_in(b, 0), eddy__tf_flag(b, "full_matrices"), uv && !uv->i),
                   3);
}

static bool eigen(tf_build *b) { return outputs(b, eddy_eigh(eddy__tf_in(b, 0)), 2); }

static bool log_det(tf_build *b) { return outputs(b, eddy_slogdet(eddy__tf_in(b, 0)), 2); }

static bool inverse(tf_build *b)
{
    return eddy__tf_put(b, 0, eddy_inverse(eddy__tf_in(b, 0), eddy__tf_flag(b, "adjoint")));
}

static bool solve(tf_build *b)
{
    const eddy_tensor a = eddy__tf_in(b, 0), y = eddy__tf_in(b, 1);
    const tf_attr    *lower = eddy__tf_attr_of(b->node, "lower");
    if (b->op->variant)
        return eddy__tf_put(b, 0, eddy_triangular_solve(a, y, .upper = lower && !lower->i,
                                                        .adjoint = eddy__tf_flag(b, "adjoint")));
    return eddy__tf_put(b, 0, eddy_solve(a, y, eddy__tf_flag(b, "adjoint")));
}

const tf_operator eddy__tf_linear[] = {
    { "BatchMatMul", batch_matmul },
    { "BatchMatMulV2", batch_matmul },
    { "BatchMatMulV3", batch_matmul },
    { "Cholesky", .one = eddy_cholesky },
    { "Cross", .two = eddy_cross },
    { "Einsum", einsum },
    { "LogMatrixDeterminant", log_det },
    { "MatMul", matmul },
    { "MatrixDeterminant", .one = eddy_det },
    { "MatrixInverse", inverse },
    { "MatrixSolve", solve },
    { "MatrixTriangularSolve", solve, .variant = 1 },
    { "Qr", qr },
    { "SelfAdjointEigV2", eigen },
    { "Svd", svd },
    { NULL },
};
