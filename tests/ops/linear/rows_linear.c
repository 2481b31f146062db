/* rows_linear.c -- products of tensors and linear algebra; see rows.h.
 *
 * Matrices that must be positive definite, invertible or have distinct values are built from x. */
#include "tests/lib/rows.h"
#include "ops/linear/linear.h"
#include "build/gen/table.h"

/* x x' + 3, and x + 4, for the matrices of x. */
static eddy_tensor positive(eddy_tensor x)
{
    const eddy_tensor y = eddy_batch_matmul(x, x, .adj_y = true);
    return Add(y, Mul(3, eddy__identity_like(y)));
}
static eddy_tensor regular(eddy_tensor x) { return Add(x, Mul(4, eddy__identity_like(x))); }
/* 3, 6, 9, ... on a diagonal of zeros, of the shape of x. */
static eddy_tensor steps(eddy_tensor x)
{
    const eddy_tensor one = eddy__identity_like(x);
    return Mul(3, Mul(one, Cumsum(OnesLike(x), -1)));
}
static eddy_tensor both(eddy_tensor a, eddy_tensor b)
{
    const eddy_tensor list[] = { a, b };
    return eddy_identity_n((eddy_list){ 2, list }, 2);
}
/* The values, and the vectors without the sign that is arbitrary. */
static eddy_tensor eigen(eddy_tensor x)
{
    const eddy_tensor e = eddy_eigh(Add(eddy_batch_matmul(x, x, .adj_y = true), steps(x)));
    const eddy_tensor v = eddy_output(e, 1);
    return both(e, Mul(v, Conj(v)));
}
static eddy_tensor singular(eddy_tensor x, bool full)
{
    const eddy_tensor s = eddy_svd(Add(x, steps(x)), .full_matrices = full);
    const eddy_tensor list[] = { s, Square(eddy_output(s, 1)), Square(eddy_output(s, 2)) };
    return eddy_identity_n((eddy_list){ 3, list }, 3);
}

BUILD(matrix_transpose, eddy_apply1(&eddy_op_matrix_transpose, NULL, x[0]))
BUILD(cholesky, eddy_cholesky(positive(x[0])))
BUILD(cholesky_solve, eddy_cholesky_solve(eddy_cholesky(positive(x[0])), x[1]))
BUILD(logdet, eddy_logdet(positive(x[0])))
BUILD(lower_solve, eddy_triangular_solve(regular(x[0]), x[1]))
BUILD(lower_solve_adjoint, eddy_triangular_solve(regular(x[0]), x[1], .adjoint = true))
BUILD(upper_solve, eddy_triangular_solve(regular(x[0]), x[1], .upper = true))
BUILD(upper_solve_adjoint,
      eddy_triangular_solve(regular(x[0]), x[1], .upper = true, .adjoint = true))
BUILD(solve, eddy_solve(regular(x[0]), x[1]))
BUILD(solve_adjoint, eddy_solve(regular(x[0]), x[1], .adjoint = true))
BUILD(inverse, eddy_inverse(regular(x[0])))
BUILD(inverse_adjoint, eddy_inverse(regular(x[0]), .adjoint = true))
BUILD(det, eddy_det(regular(x[0])))
BUILD(det_slope, eddy_gradient(eddy_det(regular(x[0])), x[0]))
BUILD(slogdet, eddy_slogdet(regular(x[0])))
BUILD(qr, eddy_qr(regular(x[0])))
BUILD(svd, singular(x[0], false))
BUILD(svd_full, singular(eddy_set_shape(x[0], EDDY_SHAPE(EDDY_ANY, 3, 3)), true))
BUILD(svd_values, eddy_svd(Add(x[0], steps(x[0])), .no_uv = true))
BUILD(pinv, eddy_pinv(regular(x[0])))
BUILD(eigh, eigen(x[0]))
BUILD(eigvalsh, eddy_eigvalsh(Add(eddy_batch_matmul(x[0], x[0], .adj_y = true), steps(x[0]))))
static const char *const if_equal = "values are equal";
BUILD(distinct, eddy_apply2(&eddy_op_distinct_values, &if_equal, x[0],
                            Cumsum(eddy_matrix_diag_part(OnesLike(x[0])), -1)))
BUILD(matrix_exp, eddy_matrix_exp(x[0]))
BUILD(matrix_sqrt, eddy_matrix_sqrt(regular(x[0])))
BUILD(sylvester, eddy_sylvester(regular(x[0]), regular(x[1]), x[2]))
#define FACTORS eddy_lu(regular(x[0]), EDDY_INT32)
BUILD(lu_solve, eddy_lu_solve(FACTORS, eddy_output(FACTORS, 1), x[1]))
BUILD(lu_inverse, eddy_lu_matrix_inverse(FACTORS, eddy_output(FACTORS, 1)))
BUILD(three_times, eddy_tridiagonal_matmul(x[0], x[1]))
/* With a large diagonal. */
#define DOMINANT Add(x[0], CastLike(INTS(EDDY_SHAPE(3, 1), 0, 6, 0), x[0]))
BUILD(three_solve, eddy_tridiagonal_solve(DOMINANT, x[1]))
BUILD(normalized, eddy_normalize(x[0], .axes = EDDY_AXES(-1)))
BUILD(normalized_1, eddy_normalize(x[0], "1"))

/* Products of tensors; an unknown rank is made known where the equation does not say it. */
static eddy_tensor of_rank(eddy_tensor x, int rank)
{
    const int64_t open[] = { -1, -1, -1, -1 };
    return eddy_set_shape(x, eddy_shape_of_dims(open, (size_t)rank));
}
#define EINSUM(name, equation, count) \
    BUILD(name, eddy_einsum(equation, ((eddy_list){ count, x })))
EINSUM(ein_product, "bij,bjk->bik", 2)
EINSUM(ein_turned, "bij,bkj->kib", 2)
EINSUM(ein_two_sums, "abc,bcd->da", 2)
EINSUM(ein_rows, "abc,cd->abd", 2)
EINSUM(ein_free, "ij,bjk->bik", 2)
EINSUM(ein_merged, "abi,bicd->bacd", 2)
EINSUM(ein_trace, "ii", 1)
EINSUM(ein_diagonal, "iji->ji", 1)
EINSUM(ein_sum, "ijk->k", 1)
EINSUM(ein_three, "ij,kj,kl->il", 3)
EINSUM(ein_outer, "i,j", 2)
EINSUM(ein_dots, "bi,bi->b", 2)
EINSUM(ein_elements, "bi,ij,b->bij", 3)
BUILD(ein_ellipsis, eddy_einsum("...ij,jk...->...ik",
                                EDDY_LIST(of_rank(x[0], 3), of_rank(x[1], 3))))
BUILD(tensordot, eddy_tensordot(of_rank(x[0], 3), of_rank(x[1], 3), 2))
BUILD(tensordot_lists, eddy_tensordot(of_rank(x[0], 3), of_rank(x[1], 3),
                                      .a_axes = EDDY_AXES(0, -1), .b_axes = EDDY_AXES(2, 0)))
BUILD(same_size, eddy_apply2(&eddy_op_same_size, ((int64_t[]){ 2, 0 }), x[0], x[1]))
BUILD(outer, eddy_outer(of_rank(x[0], 2), of_rank(x[1], 1)))
BUILD(inner, eddy_inner(of_rank(x[0], 3), of_rank(x[1], 2)))
BUILD(dot, eddy_dot(x[0], x[1]))
BUILD(vdot, eddy_vdot(x[0], x[1]))
BUILD(matvec, eddy_matvec(x[0], x[1]))
BUILD(matvec_adjoint, eddy_matvec(x[0], x[1], .adjoint_a = true))
BUILD(kron, eddy_kron(of_rank(x[0], 2), of_rank(x[1], 1)))
BUILD(multi_dot, eddy_multi_dot((eddy_list){ 3, (eddy_tensor[]){
          of_rank(x[0], 2), of_rank(x[1], 2), of_rank(x[2], 1) } }))
BUILD(matrix_cube, eddy_matrix_power(x[0], 3))
BUILD(matrix_power_back, eddy_matrix_power(regular(x[0]), -2))
BUILD(trace, eddy_trace(x[0]))
BUILD(cross, eddy_cross(x[0], x[1]))
BUILD(norm, eddy_norm(x[0]))
BUILD(norm_1, eddy_norm(x[0], "1", EDDY_AXES(-1), .keepdims = true))
BUILD(norm_inf, eddy_norm(x[0], "inf", EDDY_AXES(1)))
BUILD(norm_3, eddy_norm(x[0], "3", EDDY_AXES(0)))
BUILD(norm_fro, eddy_norm(x[0], "fro", EDDY_AXES(-2, -1)))
/* Columns whose sums are far apart. */
BUILD(norm_columns, eddy_norm(Add(x[0], Mul(5, Cumsum(OnesLike(x[0]), -1))), "1",
                              EDDY_AXES(-2, -1)))
BUILD(norm_nuclear, eddy_norm(Add(x[0], steps(x[0])), "nuc", EDDY_AXES(-2, -1)))
BUILD(norm_spectral, eddy_norm(of_rank(Add(x[0], steps(x[0])), 3), "2", EDDY_AXES(2, 1),
                               .keepdims = true))
BUILD(cond, eddy_condition_number(Add(x[0], steps(x[0])), NULL))
BUILD(cond_fro, eddy_condition_number(regular(x[0]), "fro"))
BUILD(lstsq, eddy_lstsq(eddy_set_shape(regular(x[0]), EDDY_SHAPE(EDDY_ANY, 4, 3)), x[1]))
BUILD(lstsq_wide, eddy_lstsq(eddy_set_shape(regular(x[0]), EDDY_SHAPE(EDDY_ANY, 3, 4)), x[1]))
BUILD(lstsq_ridge, eddy_lstsq(x[0], x[1], .l2_regularizer = 2))
BUILD(lstsq_complete, eddy_lstsq(regular(x[0]), x[1], .complete = true))

#define WITHIN(type, option, fn, count, limit, ...)                             \
    { .op = type, .how = option, .build = fn, .n = count, .shape = { __VA_ARGS__ }, \
      .low = { -(limit), -(limit), -(limit) }, .high = { limit, limit, limit } }

static const sweep_row rows[] = {
    OP("MatrixTranspose", "", matrix_transpose, 1, S(2, 3, 4)),
    WITHIN("Cholesky", "", cholesky, 1, 1, S(2, 3, 4)),
    WITHIN("Cholesky", "cholesky_solve", cholesky_solve, 2, 1, S(2, 3, 4), S(3, 5)),
    WITHIN("Cholesky", "logdet", logdet, 1, 1, S(2, 3, 4)),
    WITHIN("MatrixTriangularSolve", "", lower_solve, 2, 1, S(2, 3, 3), S(2, 3, 4)),
    WITHIN("MatrixTriangularSolve", "adjoint", lower_solve_adjoint, 2, 1, S(3, 3), S(2, 3, 4)),
    WITHIN("MatrixTriangularSolve", "upper", upper_solve, 2, 1, S(2, 3, 3), S(3, 4)),
    WITHIN("MatrixTriangularSolve", "upper, adjoint", upper_solve_adjoint, 2, 1, S(3, 3), S(3, 4)),
    WITHIN("MatrixSolve", "", solve, 2, 1, S(2, 3, 3), S(4, 1, 3, 5)),
    WITHIN("MatrixSolve", "adjoint", solve_adjoint, 2, 1, S(3, 3), S(3, 4)),
    WITHIN("MatrixInverse", "", inverse, 1, 1, S(2, 3, 3)),
    WITHIN("MatrixInverse", "adjoint", inverse_adjoint, 1, 1, S(3, 3)),
    WITHIN("MatrixDeterminant", "", det, 1, 0.75, S(2, 3, 3)),
    WITHIN("MatrixDeterminantGrad", "", det_slope, 1, 0.75, S(2, 3, 3)),
    WITHIN("LogMatrixDeterminant", "", slogdet, 1, 1, S(2, 3, 3)),
    WITHIN("Qr", "tall", qr, 1, 1, S(2, 4, 3)),
    WITHIN("Qr", "wide", qr, 1, 1, S(2, 3, 5)),
    WITHIN("Qr", "square", qr, 1, 1, S(3, 3)),
    WITHIN("Svd", "tall", svd, 1, 0.75, S(2, 4, 3)),
    WITHIN("Svd", "wide", svd, 1, 0.75, S(3, 5)),
    { .op = "Svd", .how = "full", .build = svd_full, .n = 1, .shape = { S(2, 3, 3) },
      .low = { -0.75 }, .high = { 0.75 }, .keep = { 3 } },
    WITHIN("Svd", "values", svd_values, 1, 0.75, S(2, 3, 4)),
    WITHIN("MatrixPseudoInverse", "tall", pinv, 1, 1, S(2, 4, 3)),
    WITHIN("MatrixPseudoInverse", "wide", pinv, 1, 1, S(3, 4)),
    WITHIN("SelfAdjointEigV2", "", eigh, 1, 0.75, S(2, 3, 3)),
    WITHIN("SelfAdjointEigV2", "values", eigvalsh, 1, 0.75, S(3, 3)),
    WITHIN("DistinctValues", "", distinct, 1, 0.75, S(3, 3)),
    WITHIN("MatrixExponential", "", matrix_exp, 1, 0.75, S(2, 3, 3)),
    WITHIN("MatrixSquareRoot", "", matrix_sqrt, 1, 0.75, S(2, 3, 3)),
    WITHIN("Sylvester", "", sylvester, 3, 0.75, S(2, 3, 3), S(2, 4, 4), S(2, 3, 4)),
    WITHIN("MatrixTriangularSolve", "lu_solve", lu_solve, 2, 1, S(2, 3, 3), S(2, 3, 4)),
    WITHIN("MatrixTriangularSolve", "lu_matrix_inverse", lu_inverse, 1, 1, S(2, 3, 3)),
    OP_KEEP("Add", "tridiagonal_matmul", three_times, 2, KEEP(3), S(2, 3, 4), S(2, 4, 5)),
    OP_KEEP("TridiagonalSolve", "", three_solve, 2, KEEP(3), S(2, 3, 4), S(2, 4, 5)),
    OP("BatchMatMulV2", "einsum bij,bjk->bik", ein_product, 2, S(2, 3, 4), S(2, 4, 5)),
    OP("BatchMatMulV2", "einsum bij,bkj->kib", ein_turned, 2, S(2, 3, 4), S(2, 5, 4)),
    OP("MatMul", "einsum abc,bcd->da", ein_two_sums, 2, S(2, 3, 4), S(3, 4, 5)),
    OP("BatchMatMulV2", "einsum abc,cd->abd", ein_rows, 2, S(2, 3, 4), S(4, 5)),
    OP("BatchMatMulV2", "einsum ij,bjk->bik", ein_free, 2, S(3, 4), S(2, 4, 5)),
    OP("BatchMatMulV2", "einsum abi,bicd->bacd", ein_merged, 2, S(2, 3, 4), S(3, 4, 2, 5)),
    OP("MatrixDiagPartV3", "einsum ii", ein_trace, 1, S(3, 3)),
    OP("MatrixDiagPartV3", "einsum iji->ji", ein_diagonal, 1, S(3, 4, 3)),
    OP("Sum", "einsum ijk->k", ein_sum, 1, S(2, 3, 4)),
    OP_KEEP("MatMul", "einsum ij,kj,kl->il", ein_three, 3, KEEP(3, 4), S(2, 3), S(4, 3), S(4, 5)),
    OP("Mul", "einsum i,j", ein_outer, 2, S(3), S(4)),
    OP_LIKE("SameSize", "", same_size, 2, KEEP(0), S(2, 3, 4), S(4, 5)),
    OP("Sum", "einsum bi,bi->b", ein_dots, 2, S(2, 3), S(2, 3)),
    OP("Mul", "einsum bi,ij,b->bij", ein_elements, 3, S(2, 3), S(3, 4), S(2)),
    OP("BatchMatMulV2", "einsum, ellipsis", ein_ellipsis, 2, S(5, 3, 4), S(4, 2, 5)),
    OP("MatMul", "tensordot", tensordot, 2, S(2, 3, 4), S(3, 4, 5)),
    OP("MatMul", "tensordot, lists", tensordot_lists, 2, S(2, 3, 4), S(4, 5, 2)),
    OP("Mul", "outer", outer, 2, S(2, 3), S(4)),
    OP("BatchMatMulV2", "inner", inner, 2, S(2, 3, 4), S(5, 4)),
    OP("Mul", "dot", dot, 2, S(3, 4), S(4)),
    OP("Mul", "vdot", vdot, 2, S(3, 4), S(4, 3)),
    OP("BatchMatMulV2", "matvec", matvec, 2, S(2, 3, 4), S(2, 4)),
    OP("BatchMatMulV2", "matvec, adjoint", matvec_adjoint, 2, S(2, 4, 3), S(2, 4)),
    OP("Mul", "kron", kron, 2, S(2, 3), S(4)),
    OP("MatMul", "multi_dot", multi_dot, 3, S(2, 3), S(3, 4), S(4)),
    WITHIN("BatchMatMulV2", "matrix_power", matrix_cube, 1, 1, S(2, 3, 3)),
    WITHIN("MatrixInverse", "matrix_power", matrix_power_back, 1, 1, S(3, 3)),
    OP("MatrixDiagPartV3", "trace", trace, 1, S(2, 3, 4)),
    OP_KEEP("Cross", "", cross, 2, KEEP(3), S(2, 3), S(2, 3)),
    OP("EuclideanNorm", "norm", norm, 1, S(3, 4)),
    OP("Abs", "norm 1", norm_1, 1, S(3, 4)),
    OP_KEEP("Max", "norm inf", norm_inf, 1, KEEP(4), S(3, 4)),
    OP("Pow", "norm 3", norm_3, 1, S(3, 4)),
    OP("EuclideanNorm", "norm fro", norm_fro, 1, S(2, 3, 4)),
    { .op = "IdentityN", .how = "normalize", .build = normalized, .n = 1, .shape = { S(2, 3, 4) },
      .low = { 0.5 }, .high = { 2 } },
    { .op = "IdentityN", .how = "normalize by 1", .build = normalized_1, .n = 1,
      .shape = { S(3, 4) }, .low = { 0.5 }, .high = { 2 } },
    OP_KEEP("Max", "norm 1 of matrices", norm_columns, 1, KEEP(4), S(2, 3, 4)),
    WITHIN("Svd", "norm nuc", norm_nuclear, 1, 0.75, S(2, 3, 4)),
    { .op = "Svd", .how = "norm 2", .build = norm_spectral, .n = 1, .shape = { S(2, 3, 4) },
      .low = { -0.75 }, .high = { 0.75 }, .keep = { 3, 4 } },
    { .op = "Svd", .how = "cond", .build = cond, .n = 1, .shape = { S(2, 3, 4) },
      .low = { -0.75 }, .high = { 0.75 }, .keep = { 3, 4 } },
    WITHIN("MatrixInverse", "cond fro", cond_fro, 1, 1, S(2, 3, 3)),
    { .op = "Cholesky", .how = "lstsq", .build = lstsq, .n = 2, .shape = { S(2, 4, 3), S(4, 5) },
      .low = { -1, -1 }, .high = { 1, 1 }, .keep = { 3, 4 } },
    { .op = "Cholesky", .how = "lstsq, wide", .build = lstsq_wide, .n = 2,
      .shape = { S(2, 3, 4), S(3, 5) }, .low = { -1, -1 }, .high = { 1, 1 }, .keep = { 3, 4 } },
    WITHIN("Cholesky", "lstsq, regularized", lstsq_ridge, 2, 1, S(2, 4, 3), S(4, 5)),
    WITHIN("MatrixPseudoInverse", "lstsq", lstsq_complete, 2, 1, S(4, 3), S(4, 5)),
};

static const sweep_exempt exempts[] = {
    { "QuantizedMatMul", "rounds x, and takes no float64: test_quantized_matmul.c" },
};
FAMILY(linear, rows, exempts);
