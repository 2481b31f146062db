/* own_rows.c -- rows of the hunt beside those of the sweep: matrices that are singular or have
 * equal eigenvalues, which the sweep keeps away from, and masks. */
#include "tests/hunt/hunt.h"
#include "tests/lib/rows.h"
#include "ops/linear/linear.h"

#include <math.h>

static eddy_tensor symmetric(eddy_tensor x)
{
    return Mul(0.5, Add(x, eddy_matrix_transpose(x)));
}
/* The derivative of a function of eigenvalues is one of the matrix, also where they are equal. */
static eddy_tensor of_eigenvalues(eddy_tensor x, bool exponential)
{
    const eddy_tensor e = eddy_eigh(symmetric(x));
    const eddy_tensor v = eddy_output(e, 1), f = exponential ? Exp(e) : Square(e);
    return eddy__times_adjoint(Mul(v, ExpandDims(f, -2)), v);
}
static eddy_tensor of_singular_values(eddy_tensor x)
{
    const eddy_tensor s = eddy_svd(x), u = eddy_output(s, 1), v = eddy_output(s, 2);
    return eddy__times_adjoint(Mul(u, ExpandDims(Pow(s, 3), -2)), v);
}
static eddy_tensor both(eddy_tensor a, eddy_tensor b)
{
    const eddy_tensor list[] = { a, b };
    return eddy_identity_n((eddy_list){ 2, list }, 2);
}
/* 0 and minus infinity, or another number, in turn along the last axis. */
static eddy_tensor mask(eddy_tensor x, double hidden)
{
    const eddy_tensor odd = Equal(FloorMod(eddy_row_numbers(eddy_matrix_transpose(x), EDDY_INT32),
                                           2), 1);
    return Where(odd, NumberLike(hidden, x), NumberLike(0, x));
}

BUILD(det, eddy_det(x[0]))
BUILD(slogdet, eddy_slogdet(x[0]))
BUILD(inverse, eddy_inverse(x[0]))
BUILD(solve, eddy_solve(x[0], x[1]))
BUILD(lower, eddy_triangular_solve(x[0], x[1]))
BUILD(upper, eddy_triangular_solve(x[0], x[1], .upper = true, .adjoint = true))
BUILD(cholesky, eddy_cholesky(symmetric(x[0])))
BUILD(logdet, eddy_logdet(symmetric(x[0])))
BUILD(cholesky_solve, eddy_cholesky_solve(eddy_cholesky(symmetric(x[0])), x[1]))
BUILD(lu, eddy_lu(x[0], EDDY_INT32))
BUILD(qr, eddy_qr(x[0]))
BUILD(qr_product, eddy__times(eddy_qr(x[0]), eddy_output(eddy_qr(x[0]), 1)))
BUILD(svd_values, eddy_svd(x[0], .no_uv = true))
BUILD(svd_cube, of_singular_values(x[0]))
BUILD(svd_squares, Sum(Square(eddy_svd(x[0], .no_uv = true))))
BUILD(eigvalsh, eddy_eigvalsh(x[0]))
BUILD(eigvalsh_squares, Sum(Square(eddy_eigvalsh(x[0]))))
BUILD(eigh_square, of_eigenvalues(x[0], false))
BUILD(eigh_exp, of_eigenvalues(x[0], true))
BUILD(matrix_exp, eddy_matrix_exp(x[0]))
BUILD(matrix_sqrt, eddy_matrix_sqrt(x[0]))
BUILD(pinv, eddy_pinv(x[0]))
BUILD(lstsq, eddy_lstsq(x[0], x[1]))
BUILD(lstsq_complete, eddy_lstsq(x[0], x[1], .complete = true))
BUILD(lstsq_ridge, eddy_lstsq(x[0], x[1], .l2_regularizer = 2))
BUILD(sylvester, eddy_sylvester(x[0], x[1], x[0]))
BUILD(power, eddy_matrix_power(x[0], 3))
BUILD(power_back, eddy_matrix_power(x[0], -2))
BUILD(norm_fro, eddy_norm(x[0], "fro", EDDY_AXES(-2, -1)))
BUILD(norm_nuclear, eddy_norm(x[0], "nuc", EDDY_AXES(-2, -1)))
BUILD(norm_spectral, eddy_norm(x[0], "2", EDDY_AXES(-2, -1)))
BUILD(norm_columns, eddy_norm(x[0], "1", EDDY_AXES(-2, -1)))
BUILD(cond, eddy_condition_number(x[0], NULL))

BUILD(softmax_masked, eddy_softmax(Add(x[0], mask(x[0], -INFINITY))))
BUILD(softmax_almost, eddy_softmax(Add(x[0], mask(x[0], -1e9))))
BUILD(log_softmax_masked, Where(Equal(mask(x[0], -1), 0),
                                eddy_log_softmax(Add(x[0], mask(x[0], -INFINITY))),
                                ZerosLike(x[0])))
BUILD(logs_masked, eddy_logsumexp(Add(x[0], mask(x[0], -INFINITY)), EDDY_AXES(-1)))
BUILD(attention_masked, eddy_scaled_dot_product_attention(
          x[0], x[1], x[2], mask(eddy__times_adjoint(x[0], x[1]), -INFINITY)))
BUILD(attention_almost, eddy_scaled_dot_product_attention(
          x[0], x[1], x[2], mask(eddy__times_adjoint(x[0], x[1]), -1e9)))
BUILD(attention_causal, eddy_scaled_dot_product_attention(x[0], x[1], x[2], .causal = true))
BUILD(attention_of_softmax, eddy__times(eddy_softmax(eddy__times_adjoint(x[0], x[1])), x[2]))
BUILD(unit_rows, both(eddy_normalize(x[0], .axes = EDDY_AXES(-1)),
                      eddy_l2_normalize(x[0], EDDY_AXES(-1))))

/* Of matrices; low is 0. The others are hunted as those of the sweep. */
#define VECTORS(type, option, fn, count, ...)                                   \
    { .op = type, .how = option, .build = fn, .n = count, .shape = { __VA_ARGS__ }, \
      .low = { -1, -1, -1 }, .high = { 1, 1, 1 } }
#define SQUARE S(3, 3)
static const sweep_row rows[] = {
    OP("MatrixDeterminant", "matrices", det, 1, SQUARE),
    OP("LogMatrixDeterminant", "matrices", slogdet, 1, SQUARE),
    OP("MatrixInverse", "matrices", inverse, 1, SQUARE),
    OP("MatrixSolve", "matrices", solve, 2, SQUARE, S(3, 2)),
    OP("MatrixTriangularSolve", "matrices", lower, 2, SQUARE, S(3, 2)),
    OP("MatrixTriangularSolve", "upper matrices", upper, 2, SQUARE, S(3, 2)),
    OP("Cholesky", "matrices", cholesky, 1, SQUARE),
    OP("Cholesky", "logdet of matrices", logdet, 1, SQUARE),
    OP("Cholesky", "solve with matrices", cholesky_solve, 2, SQUARE, S(3, 2)),
    OP("Lu", "matrices", lu, 1, SQUARE),
    OP("Qr", "matrices", qr, 1, SQUARE),
    OP("Qr", "tall matrices", qr, 1, S(4, 3)),
    OP("Qr", "wide matrices", qr, 1, S(2, 3)),
    OP("Qr", "q r", qr_product, 1, SQUARE),
    OP("Svd", "values of matrices", svd_values, 1, SQUARE),
    OP("Svd", "values of tall matrices", svd_values, 1, S(4, 3)),
    OP("Svd", "squares of values", svd_squares, 1, S(3, 4)),
    OP("Svd", "u s^3 v'", svd_cube, 1, SQUARE),
    OP("SelfAdjointEigV2", "values of matrices", eigvalsh, 1, SQUARE),
    OP("SelfAdjointEigV2", "squares of values", eigvalsh_squares, 1, SQUARE),
    OP("SelfAdjointEigV2", "v e^2 v'", eigh_square, 1, SQUARE),
    OP("SelfAdjointEigV2", "v exp(e) v'", eigh_exp, 1, SQUARE),
    OP("MatrixExponential", "matrices", matrix_exp, 1, SQUARE),
    OP("MatrixSquareRoot", "matrices", matrix_sqrt, 1, SQUARE),
    OP("MatrixPseudoInverse", "matrices", pinv, 1, SQUARE),
    OP("MatrixPseudoInverse", "tall matrices", pinv, 1, S(4, 3)),
    OP("MatrixPseudoInverse", "wide matrices", pinv, 1, S(3, 4)),
    OP("Cholesky", "lstsq of matrices", lstsq, 2, S(4, 3), S(4, 2)),
    OP("MatrixPseudoInverse", "lstsq of matrices", lstsq_complete, 2, S(4, 3), S(4, 2)),
    OP("Cholesky", "lstsq of matrices, regularized", lstsq_ridge, 2, S(4, 3), S(4, 2)),
    OP("Sylvester", "matrices", sylvester, 2, SQUARE, SQUARE),
    OP("BatchMatMulV2", "powers of matrices", power, 1, SQUARE),
    OP("MatrixInverse", "powers of matrices", power_back, 1, SQUARE),
    OP("EuclideanNorm", "matrices", norm_fro, 1, SQUARE),
    OP("Svd", "norm nuc of matrices", norm_nuclear, 1, SQUARE),
    OP("Svd", "norm 2 of matrices", norm_spectral, 1, SQUARE),
    OP("Max", "norm 1 of matrices at equal columns", norm_columns, 1, SQUARE),
    OP("Svd", "cond of matrices", cond, 1, SQUARE),
    VECTORS("Softmax", "masked", softmax_masked, 1, S(2, 4)),
    VECTORS("Softmax", "masked by -1e9", softmax_almost, 1, S(2, 4)),
    VECTORS("LogSoftmax", "masked", log_softmax_masked, 1, S(2, 4)),
    VECTORS("Log", "logsumexp, masked", logs_masked, 1, S(2, 4)),
    VECTORS("ScaledDotProductAttention", "masked by -inf", attention_masked, 3, S(2, 3), S(3, 3),
            S(3, 2)),
    VECTORS("ScaledDotProductAttention", "masked by -1e9", attention_almost, 3, S(2, 3), S(3, 3),
            S(3, 2)),
    VECTORS("ScaledDotProductAttention", "causal, small", attention_causal, 3, S(2, 3), S(3, 3),
            S(3, 2)),
    VECTORS("Softmax", "attention", attention_of_softmax, 3, S(2, 3), S(3, 3), S(3, 2)),
    VECTORS("IdentityN", "unit rows", unit_rows, 1, S(2, 3)),
};
enum { OWN = sizeof rows / sizeof *rows };

int hunt_count(void) { return sweep_count() + OWN; }
const sweep_row *hunt_row_at(int i)
{
    return i < sweep_count() ? sweep_row_at(i) : &rows[i - sweep_count()];
}
bool hunt_is_own(const sweep_row *r) { return r >= rows && r < rows + OWN; }
bool hunt_of_matrices(const sweep_row *r) { return hunt_is_own(r) && !r->low[0]; }
