/* rows_linear.c -- products of tensors and linear algebra. */
#include "bench/ops/bench_ops.h"
#include "ops/short_names.h"

/* x x' + n, and x + n, of matrices of n rows. */
static eddy_tensor shifted(eddy_tensor x, double n)
{
    return Add(x, Mul(n, eddy_matrix_band_part(OnesLike(x), 0, 0)));
}
static eddy_tensor positive(eddy_tensor x, double n)
{
    return shifted(MatMul(x, x, .transpose_b = true), n);
}

BUILD(scores, eddy_einsum("bihd,bjhd->bhij", EDDY_LIST(x[0], x[1])))
BUILD(bilinear, eddy_einsum("bi,ijk,bj->bk", EDDY_LIST(x[0], x[1], x[2])))
BUILD(inner, eddy_tensordot(x[0], x[1], 2))
BUILD(kron, eddy_kron(x[0], x[1]))
BUILD(cross, eddy_cross(x[0], x[1]))
BUILD(norm_rows, eddy_norm(x[0], NULL, EDDY_AXES(-1)))
BUILD(cholesky_small, eddy_cholesky(positive(x[0], 16)))
BUILD(cholesky_large, eddy_cholesky(positive(x[0], 512)))
BUILD(triangular, eddy_triangular_solve(shifted(x[0], 512), x[1]))
BUILD(solve_small, eddy_solve(shifted(x[0], 16), x[1]))
BUILD(solve_large, eddy_solve(shifted(x[0], 512), x[1]))
BUILD(inverse_small, eddy_inverse(shifted(x[0], 16)))
BUILD(inverse_large, eddy_inverse(shifted(x[0], 512)))
BUILD(slogdet, eddy_output(eddy_slogdet(shifted(x[0], 32)), 1))
BUILD(qr, Abs(eddy_output(eddy_qr(x[0]), 1)))
BUILD(svd, eddy_svd(x[0]))
BUILD(svd_values, eddy_svd(x[0], .no_uv = true))
BUILD(pinv, eddy_pinv(x[0]))
BUILD(eigh, Abs(eddy_output(eddy_eigh(positive(x[0], 1)), 1)))
BUILD(matrix_exp, eddy_matrix_exp(x[0]))
BUILD(lu, eddy_lu(shifted(x[0], 128), EDDY_INT32))
BUILD(lu_small, eddy_lu(shifted(x[0], 16), EDDY_INT32))
BUILD(det, eddy_det(shifted(x[0], 1)))
BUILD(lstsq, eddy_lstsq(x[0], x[1]))
BUILD(lstsq_any, eddy_lstsq(x[0], x[1], .complete = true))
BUILD(eig_values, eddy_sum(Abs(eddy_eigvals(x[0]))))
BUILD(eigh_values, eddy_eigvalsh(positive(x[0], 1)))
BUILD(eigh_vectors, Abs(eddy_output(eddy_eigh(positive(x[0], 1)), 1)))
BUILD(qr_small, Abs(eddy_output(eddy_qr(x[0]), 1)))
BUILD(rank, eddy_cast(eddy_matrix_rank(x[0]), EDDY_FLOAT32))
BUILD(cholesky_both, eddy_cholesky_solve(eddy_cholesky(positive(x[0], 128)), x[1]))
BUILD(cholesky_128, eddy_cholesky(positive(x[0], 128)))
BUILD(solve_128, eddy_solve(shifted(x[0], 128), x[1]))
BUILD(inverse_128, eddy_inverse(shifted(x[0], 128)))

static const ops_row rows[] = {
    OPS_ROW("einsum bihd,bjhd->bhij", scores, 2, S(8, 128, 8, 64), S(8, 128, 8, 64)),
    OPS_GRADIENT("einsum bi,ijk,bj->bk, gradient", bilinear, 3, S(128, 64), S(64, 64, 32),
                 S(128, 64)),
    OPS_ROW("tensordot 2", inner, 2, S(64, 32, 32), S(32, 32, 128)),
    OPS_ROW("kron", kron, 2, S(32, 32), S(32, 32)),
    OPS_ROW("cross", cross, 2, S(100000, 3), S(100000, 3)),
    OPS_ROW("norm of rows", norm_rows, 1, S(1024, 1024)),
    OPS_ROW("cholesky 1000 x 16", cholesky_small, 1, S(1000, 16, 16)),
    OPS_ROW("cholesky 512", cholesky_large, 1, S(512, 512)),
    OPS_GRADIENT("cholesky 1000 x 16, gradient", cholesky_small, 1, S(1000, 16, 16)),
    OPS_ROW("triangular_solve 512", triangular, 2, S(512, 512), S(512, 64)),
    OPS_ROW("solve 1000 x 16", solve_small, 2, S(1000, 16, 16), S(1000, 16, 4)),
    OPS_ROW("solve 512", solve_large, 2, S(512, 512), S(512, 64)),
    OPS_ROW("inverse 1000 x 16", inverse_small, 1, S(1000, 16, 16)),
    OPS_ROW("inverse 512", inverse_large, 1, S(512, 512)),
    OPS_ROW("slogdet 200 x 32", slogdet, 1, S(200, 32, 32)),
    OPS_ROW("qr 256 x 128", qr, 1, S(256, 128)),
    OPS_ROW("svd 128", svd, 1, S(128, 128)),
    OPS_ROW("svd values 200 x 16", svd_values, 1, S(200, 16, 16)),
    OPS_ROW("pinv 128 x 64", pinv, 1, S(128, 64)),
    OPS_ROW("eigh 128", eigh, 1, S(128, 128)),
    OPS_ROW("matrix_exp 50 x 32", matrix_exp, 1, S(50, 32, 32)),
    OPS_ROW("lu 128", lu, 1, S(128, 128)),
    OPS_ROW("lu 64 x 16", lu_small, 1, S(64, 16, 16)),
    OPS_ROW("det 64 x 16", det, 1, S(64, 16, 16)),
    OPS_ROW("lstsq 256 x 64", lstsq, 2, S(256, 64), S(256, 16)),
    OPS_ROW("lstsq 256 x 64, any rank", lstsq_any, 2, S(256, 64), S(256, 16)),
    OPS_ROW("eigvals 64", eig_values, 1, S(64, 64)),
    OPS_ROW("eigvalsh 128", eigh_values, 1, S(128, 128)),
    OPS_ROW("eigh 64 x 16", eigh_vectors, 1, S(64, 16, 16)),
    OPS_ROW("qr 64 x 16", qr_small, 1, S(64, 16, 16)),
    OPS_ROW("matrix_rank 64 x 16", rank, 1, S(64, 16, 16)),
    OPS_ROW("cholesky_solve 128", cholesky_both, 2, S(128, 128), S(128, 16)),
    OPS_ROW("cholesky 128", cholesky_128, 1, S(128, 128)),
    OPS_ROW("solve 128", solve_128, 2, S(128, 128), S(128, 16)),
    OPS_GRADIENT("solve 128, gradient", solve_128, 2, S(128, 128), S(128, 16)),
    OPS_ROW("inverse 128", inverse_128, 1, S(128, 128)),
    OPS_GRADIENT("svd values 64 x 16, gradient", svd_values, 1, S(64, 16, 16)),
    OPS_GRADIENT("qr 64 x 16, gradient", qr_small, 1, S(64, 16, 16)),
    OPS_GRADIENT("inverse 64 x 16, gradient", inverse_small, 1, S(64, 16, 16)),
};

OPS_FAMILY(linear, rows);
