/* cholesky.c -- Cholesky decomposition of positive definite matrices; solutions and
 * log-determinants computed from it. */
#include "ops/arrays/arrays.h"
#include "graph/base/interruptible.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/libraries/lapack_blocks.h"
#include "ops/linear/linear.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

/* LAPACK reads the matrix as its transpose, so that its upper triangle is our lower one. */
static bool factor_one(const eddy_kernel *k, int64_t i, char *scratch)
{
    const eddy_dtype d = k->out[0]->type.dtype;
    const int64_t n = eddy__rows_of(k->out[0]->type.shape);
    const size_t size = eddy_dtype_size(d), row = (size_t)n * size;
    char *y = eddy__matrix_of(k->out[0], i);
    (void)scratch;
    if (y != eddy__matrix_of(k->in[0], i))
        eddy__copy_or_stop(k->stop, y, eddy__matrix_of(k->in[0], i), (size_t)n * row);
    if (eddy__blocks_cholesky(k, d, n, y) != 0) return false;
    for (int64_t j = 0; j < n && !(j % 256 == 0 && eddy__stopped(k->stop)); j++)
        memset(y + (size_t)j * row + (size_t)(j + 1) * size, 0, (size_t)(n - j - 1) * size);
    return true;
}

static double cholesky_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs, (void)n_in, (void)in;
    return (double)eddy_shape_count(out->shape) * (double)eddy__rows_of(out->shape) / 3;
}

static eddy_status cholesky_kernel(eddy_kernel *k)
{
    const eddy_shape s = k->out[0]->type.shape;
    const double     n = (double)eddy__rows_of(s);
    if (k->out[0]->count == 0) return EDDY_OK;
    const int64_t bad = eddy__each_matrix(k, eddy__matrices_of(s), n * n * n / 3, factor_one);
    if (bad < 0) return EDDY_OK;
    return eddy_kernel_fail(k, EDDY_INVALID_ARGUMENT, "Cholesky decomposition was not successful. "
                            "The input might not be valid: matrix %lld is not positive definite",
                            (long long)bad);
}

/* dA is the Hermitian part of L'^-1 F L^-1, with F the lower triangle of L' dL with its diagonal
 * halved. */
static void cholesky_gradient(eddy_rule *r)
{
    const eddy_tensor l = r->y[0];
    const eddy_tensor f = eddy__half_triangle(eddy__adjoint_times(l, r->dy[0]));
    const eddy_tensor left = eddy_triangular_solve(l, f, .adjoint = true);
    const eddy_tensor both = eddy_triangular_solve(l, eddy_adjoint(left), .adjoint = true);
    r->dx[0] = eddy__hermitian_part(both);
}

const eddy_op_def eddy_op_cholesky = {
    .name = "Cholesky", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_WIDE_FLOATS_COMPLEX | EDDY_RANK_FROM(2) }),
    .flags = EDDY_OP_LAPACK | EDDY_OP_IN_PLACE,
    .infer = eddy__infer_square_as_is, .kernel = cholesky_kernel, .gradient = cholesky_gradient,
    .batch = eddy_batch_as_is, .flops = cholesky_flops,
};

/** y = the Cholesky factor of each matrix of x: the lower triangular L with a positive diagonal
 *  and L L' = x.
 *
 *  x  float32, float64, complex64 or complex128, [...,n,n], Hermitian and positive definite; only
 *     the lower triangle is read
 *
 *  ' is the adjoint.  NaN propagates to y.
 *  Errors: EDDY_BAD_SHAPE for non-square matrices; at run time, EDDY_INVALID_ARGUMENT if a matrix
 *  is not positive definite; the message has its index.
 *  Gradient: dx = the Hermitian part of L'^-1 F L^-1, with F the lower triangle of L' dy with its
 *  diagonal halved (Smith 1995, Murray 2016).  TensorFlow: Cholesky. */
eddy_tensor eddy_cholesky(eddy_tensor x) { return eddy_apply1(&eddy_op_cholesky, NULL, x); }

/** y = a^-1 rhs, given the Cholesky factor of a.
 *
 *  chol  [...,n,n], the result of eddy_cholesky for a
 *  rhs   same type as chol, [...,n,k]; the leading dimensions broadcast
 *
 *  Errors: as for eddy_triangular_solve.
 *  Gradient: that of two triangular solves.  TensorFlow: tf.linalg.cholesky_solve. */
eddy_tensor eddy_cholesky_solve(eddy_tensor chol, eddy_tensor rhs)
{
    return eddy_triangular_solve(chol, eddy_triangular_solve(chol, rhs), .adjoint = true);
}

/** y = ln det x, for each matrix of x.
 *
 *  x  float32, float64, complex64 or complex128, [...,n,n], Hermitian and positive definite; y is
 *     [...] of the same type
 *
 *  Computed as 2 sum ln diag L with L the Cholesky factor, which neither overflows nor
 *  underflows.
 *  Errors: as for eddy_cholesky.
 *  Gradient: dx = dy x^-1, computed from L.  TensorFlow: tf.linalg.logdet. */
eddy_tensor eddy_logdet(eddy_tensor x)
{
    const eddy_tensor l = eddy_matrix_diag_part(eddy_cholesky(x));
    return Mul(2, Sum(Log(l), EDDY_AXES(-1)));
}
