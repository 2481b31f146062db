/* determinant.c -- determinants (det, slogdet) by LU decomposition with partial pivoting. */
#include "ops/arrays/arrays.h"
#include "graph/base/interruptible.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/elementwise/vector_math_f64.h"
#include "ops/kernels/libraries/lapack_blocks.h"
#include "ops/linear/determinant_gradient.h"
#include "ops/linear/linear.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <complex.h>
#include <math.h>
#include <string.h>

/* A copy of the matrix, and its pivots. */
static eddy_status determinant_prepare(eddy_kernel *k)
{
    const int64_t n = eddy__rows_of(k->in[0]->type.shape);
    eddy__matrix_scratch(k, n * n * (int64_t)eddy_dtype_size(k->in[0]->type.dtype) +
                         n * (int64_t)sizeof(int32_t));
    return EDDY_OK;
}

/* A zero pivot is a 0 on the diagonal of the factor, so that it needs no special case. Returns
 * the number of row exchanges. */
static int64_t factor(const eddy_kernel *k, int64_t i, char *scratch)
{
    const eddy_dtype d = k->in[0]->type.dtype;
    const int64_t n = eddy__rows_of(k->in[0]->type.shape);
    const size_t  bytes = (size_t)(n * n) * eddy_dtype_size(d);
    int32_t *pivots = (int32_t *)(void *)(scratch + bytes);
    int64_t  swaps = 0;
    if (n == 0) return 0;
    eddy__copy_or_stop(k->stop, scratch, eddy__matrix_of(k->in[0], i), bytes);
    eddy__blocks_lu(k, d, n, scratch, pivots);
    for (int64_t j = 0; j < n && !eddy__stopped(k->stop); j++) swaps += pivots[j] != j + 1;
    return swaps;
}

/* Diagonal element j of the factors. */
static double complex diagonal(eddy_dtype d, int64_t n, const void *lu, int64_t j)
{
    const int64_t at = j * (n + 1);
    if (d == EDDY_FLOAT32) return (double)((const float *)lu)[at];
    if (d == EDDY_FLOAT64) return ((const double *)lu)[at];
    if (d == EDDY_COMPLEX64) return ((const float complex *)lu)[at];
    return ((const double complex *)lu)[at];
}

static double factor_flops(eddy_shape x)
{
    const double n = (double)eddy__rows_of(x);
    return n * n * n * 2 / 3;
}

static double determinant_flops(const void *attrs, int n_in, const eddy_type *in,
                                const eddy_type *out)
{
    (void)attrs, (void)n_in, (void)out;
    return (double)eddy__matrices_of(in->shape) * factor_flops(in->shape);
}

static eddy_status run(eddy_kernel *k, eddy_matrix_fn *one)
{
    const eddy_shape x = k->in[0]->type.shape;
    eddy__each_matrix(k, eddy__matrices_of(x), factor_flops(x), one);
    return EDDY_OK;
}

/* ------------------------------------------------------------------- det -- */

static bool det_infer(eddy_infer *c)
{
    int64_t n;
    return eddy__infer_square(c, 0, &n) &&
        eddy__infer_yield(c, 0, c->in[0].dtype, eddy__shape_less(c->in[0].shape, 2));
}

static bool det_one(const eddy_kernel *k, int64_t i, char *scratch)
{
    const eddy_dtype d = k->in[0]->type.dtype;
    const int64_t n = eddy__rows_of(k->in[0]->type.shape);
    double complex y = factor(k, i, scratch) % 2 ? -1 : 1;
    const bool two = eddy_dtype_is_complex(d);
    double real = creal(y);
    for (int64_t j = 0; j < n; j++) {
        if (two) y *= diagonal(d, n, scratch, j);
        else real *= creal(diagonal(d, n, scratch, j));
    }
    if (d == EDDY_FLOAT32) ((float *)k->out[0]->data)[i] = (float)real;
    else if (d == EDDY_FLOAT64) ((double *)k->out[0]->data)[i] = real;
    else if (d == EDDY_COMPLEX64) ((float complex *)k->out[0]->data)[i] = (float complex)y;
    else ((double complex *)k->out[0]->data)[i] = y;
    return true;
}

static eddy_status det_kernel(eddy_kernel *k) { return run(k, det_one); }

static void det_gradient(eddy_rule *r)
{
    r->dx[0] = eddy__determinant_gradient(Conj(r->x[0]), r->dy[0]);
}

const eddy_op_def eddy_op_det = {
    .name = "MatrixDeterminant", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_WIDE_FLOATS_COMPLEX | EDDY_RANK_FROM(2) }),
    .flags = EDDY_OP_LAPACK,
    .infer = det_infer, .prepare = determinant_prepare, .kernel = det_kernel,
    .gradient = det_gradient, .batch = eddy_batch_as_is, .flops = determinant_flops,
};

/** y = det x, the determinant of each matrix of x.
 *
 *  x  float32, float64, complex64 or complex128, [...,n,n]; y is [...] of the same type
 *
 *  1 for n = 0, and exactly 0 if a pivot is 0.  It overflows easily; eddy_slogdet does not.
 *  Errors: EDDY_BAD_SHAPE for non-square matrices.
 *  Gradient: dx = dy times the conjugate cofactors of x, which are y x'^-1 for a regular matrix;
 *  also for singular ones, as are second derivatives.  A third derivative fails at run time for a
 *  singular matrix.
 *  TensorFlow: MatrixDeterminant. */
eddy_tensor eddy_det(eddy_tensor x) { return eddy_apply1(&eddy_op_det, NULL, x); }

/* --------------------------------------------------------------- slogdet -- */

static bool slogdet_infer(eddy_infer *c)
{
    int64_t n;
    if (!eddy__infer_square(c, 0, &n)) return false;
    const eddy_shape s = eddy__shape_less(c->in[0].shape, 2);
    return eddy__infer_yield(c, 0, c->in[0].dtype, s) && eddy__infer_yield(c, 1, c->in[0].dtype, s);
}

static bool slogdet_one(const eddy_kernel *k, int64_t i, char *scratch)
{
    const eddy_dtype d = k->in[0]->type.dtype;
    const int64_t n = eddy__rows_of(k->in[0]->type.shape);
    double sign = factor(k, i, scratch) % 2 ? -1 : 1, log_abs = 0;
    for (int64_t j = 0; j < n; j++) {
        const double x = creal(diagonal(d, n, scratch, j));
        sign *= x > 0 ? 1 : x < 0 ? -1 : x;             /* 0 and NaN are kept */
        log_abs += eddy__log_f64(fabs(x));
    }
    if (d == EDDY_FLOAT32) {
        ((float *)k->out[0]->data)[i] = (float)sign;
        ((float *)k->out[1]->data)[i] = (float)log_abs;
    } else {
        ((double *)k->out[0]->data)[i] = sign;
        ((double *)k->out[1]->data)[i] = log_abs;
    }
    return true;
}

static eddy_status slogdet_kernel(eddy_kernel *k) { return run(k, slogdet_one); }

static void slogdet_gradient(eddy_rule *r)
{
    const eddy_tensor dy = ExpandDims(ExpandDims(r->dy[1], -1), -1);
    r->dx[0] = Mul(dy, eddy_inverse(r->x[0], .adjoint = true));
}

const eddy_op_def eddy_op_slogdet = {
    .name = "LogMatrixDeterminant", .min_inputs = 1, .max_inputs = 1, .outputs = 2,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_WIDE_FLOATS | EDDY_RANK_FROM(2) }),
    .flags = EDDY_OP_LAPACK,
    .infer = slogdet_infer, .prepare = determinant_prepare, .kernel = slogdet_kernel,
    .gradient = slogdet_gradient, .batch = eddy_batch_as_is, .flops = determinant_flops,
};

/** y[0] = the sign of det x and y[1] = ln |det x|, for each matrix of x.
 *
 *  x  float32 or float64, [...,n,n]; both outputs are [...] of the same type
 *
 *  Returns output 0; eddy_output(y, 1) is the logarithm.  For a singular matrix they are 0 and
 *  -infinity; for n = 0, 1 and 0.
 *  Errors: EDDY_BAD_SHAPE for non-square matrices.
 *  Gradient: dx = dy[1] x'^-1 with ' the transpose, and none for the sign; fails at run time for
 *  a singular matrix.  TensorFlow: LogMatrixDeterminant. */
eddy_tensor eddy_slogdet(eddy_tensor x) { return eddy_apply1(&eddy_op_slogdet, NULL, x); }
