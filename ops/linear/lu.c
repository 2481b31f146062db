/* lu.c -- LU decomposition with partial pivoting, and solutions, inverses and matrices computed
 * from it. */
#include "ops/arrays/arrays.h"
#include "graph/internal.h"
#include "graph/base/dtype.h"
#include "graph/base/stop.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/libraries/lapack_blocks.h"
#include "ops/linear/linear.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

typedef struct lu_attrs {
    eddy_dtype output_idx_type;       /* of the row indices */
} lu_attrs;

static bool lu_infer(eddy_infer *c)
{
    lu_attrs  *a = c->attrs;
    eddy_shape p = eddy__shape_less(c->in[0].shape, 1);
    int64_t    n;
    if (!eddy__infer_square(c, 0, &n)) return false;
    if (a->output_idx_type == EDDY_DEFAULT_DTYPE && !c->attrs_fixed)
        a->output_idx_type = EDDY_INT32;
    if (!eddy__infer_expects(c, "output_idx_type", a->output_idx_type, EDDY_TAKES_INDICES))
        return false;
    if (p.rank > 0) p.dim[p.rank - 1] = n;
    return eddy__infer_yield(c, 0, c->in[0].dtype, eddy__shape_matrix(c->in[0].shape, n, n)) &&
           eddy__infer_yield(c, 1, a->output_idx_type, p);
}

/* A transposed copy of the matrix, then the rows exchanged at each step. */
static eddy_status lu_prepare(eddy_kernel *k)
{
    const int64_t n = eddy__rows_of(k->in[0]->type.shape);
    eddy__matrix_scratch(k, n * n * (int64_t)eddy_dtype_size(k->in[0]->type.dtype) +
                         n * (int64_t)sizeof(int32_t));
    return EDDY_OK;
}

/* The index in the matrix of each row of the factors. */
static void place_rows(int64_t n, const int32_t *pivots, eddy_dtype d, void *places)
{
    for (int64_t i = 0; i < n; i++) eddy__whole_put(d, places, i, i);
    for (int64_t i = 0; i < n; i++) {
        const int64_t kept = eddy__whole_at(d, places, i);
        eddy__whole_put(d, places, i, eddy__whole_at(d, places, pivots[i] - 1));
        eddy__whole_put(d, places, pivots[i] - 1, kept);
    }
}

static bool lu_one(const eddy_kernel *k, int64_t i, char *scratch)
{
    const eddy_dtype d = k->in[0]->type.dtype;
    const int64_t    n = eddy__rows_of(k->in[0]->type.shape);
    int32_t *pivots = (int32_t *)(void *)(scratch + (size_t)(n * n) * eddy_dtype_size(d));
    eddy__turn_matrix(k, d, false, n, n, eddy__matrix_of(k->in[0], i), scratch);
    const int bad = eddy__blocks_lu(k, d, n, scratch, pivots);
    if (eddy__stopped(k->stop)) return true;
    eddy__turn_matrix(k, d, false, n, n, scratch, eddy__matrix_of(k->out[0], i));
    place_rows(n, pivots, k->out[1]->type.dtype, eddy__vector_of(k->out[1], i));
    return bad == 0;
}

static double lu_flops_of(eddy_shape x)
{
    const double n = (double)eddy__rows_of(x);
    return 2 * n * n * n / 3;
}

static eddy_status lu_kernel(eddy_kernel *k)
{
    const eddy_shape x = k->in[0]->type.shape;
    if (k->in[0]->count == 0) return EDDY_OK;
    const int64_t bad = eddy__each_matrix(k, eddy__matrices_of(x), lu_flops_of(x), lu_one);
    if (bad < 0) return EDDY_OK;
    return eddy_kernel_fail(k, EDDY_INVALID_ARGUMENT, "Input is not invertible: matrix %lld has a "
                            "pivot of 0", (long long)bad);
}

static double lu_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs, (void)n_in, (void)out;
    return (double)eddy__matrices_of(in->shape) * lu_flops_of(in->shape);
}

/* Undoes the permutation p of the rows. */
static eddy_tensor rows_back(eddy_tensor x, eddy_tensor p)
{
    const eddy_tensor from = eddy_broadcast_like(ExpandDims(eddy_invert_permutation(p), -1), x);
    return eddy_take_along(x, from, -2);
}

/* l'^-1 (the part of l' dl below the diagonal + the upper triangle of du u') u'^-1, with the row
 * permutation undone. */
static void lu_gradient(eddy_rule *r)
{
    const eddy_tensor lu = r->y[0], dlu = r->dy[0];
    const eddy_tensor l = Add(eddy_tril(lu, -1), eddy__identity_like(lu)), u = eddy_triu(lu, 0);
    const eddy_tensor below = eddy_tril(eddy__adjoint_times(l, eddy_tril(dlu, -1)), -1);
    const eddy_tensor above = eddy_triu(eddy__times_adjoint(eddy_triu(dlu, 0), u), 0);
    const eddy_tensor left = eddy_triangular_solve(l, Add(below, above), .adjoint = true);
    const eddy_tensor both = eddy_adjoint(eddy_triangular_solve(u, eddy_adjoint(left),
                                                                .upper = true));
    r->dx[0] = rows_back(both, r->y[1]);
}

const eddy_op_def eddy_op_lu = {
    .name = "Lu", .min_inputs = 1, .max_inputs = 1, .outputs = 2, .flags = EDDY_OP_LAPACK,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_WIDE_FLOATS_COMPLEX | EDDY_RANK_FROM(2) }),
    .attrs_size = sizeof(lu_attrs), .attrs = EDDY_ATTRS(lu_attrs, output_idx_type),
    .infer = lu_infer, .prepare = lu_prepare, .kernel = lu_kernel, .gradient = lu_gradient,
    .batch = eddy_batch_as_is, .flops = lu_flops,
};

/** y[0] = l and u in one matrix, y[1] = p, with x[p] = l u, for each matrix of x.
 *
 *  x                float32, float64, complex64 or complex128, [...,n,n]
 *  output_idx_type  of p: int32 or int64; 0: int32
 *
 *  u is the upper triangle with the diagonal; l is the part below the diagonal, with ones on its
 *  own diagonal.  Row i of l u is row p[i] of x.  Returns output 0; eddy_output(y, 1) is p,
 *  [...,n].
 *  Errors: EDDY_BAD_SHAPE for non-square matrices; at run time, EDDY_INVALID_ARGUMENT for a
 *  singular matrix.
 *  Gradient: dx = l'^-1 (tril(l' dl, -1) + triu(du u')) u'^-1 with ' the adjoint, with the row
 *  permutation undone.
 *  TensorFlow: Lu. */
eddy_tensor eddy_lu(eddy_tensor x, eddy_dtype output_idx_type)
{
    return eddy_apply1(&eddy_op_lu, &(lu_attrs){ output_idx_type }, x);
}

/** y = the matrix with the given LU decomposition: x if lu = eddy_lu(x) and p is its output 1.
 *
 *  lu  [...,n,n]
 *  p   int32 or int64 [...,n], each a permutation
 *
 *  Errors: as for eddy_matmul, eddy_invert_permutation and eddy_take_along.
 *  Gradient: that of the formula.  TensorFlow: tf.linalg.lu_reconstruct. */
eddy_tensor eddy_lu_reconstruct(eddy_tensor lu, eddy_tensor p)
{
    const eddy_tensor l = Add(eddy_tril(lu, -1), eddy__identity_like(lu));
    return rows_back(eddy__times(l, eddy_triu(lu, 0)), p);
}

/** x = the solution of a x = rhs, given lu and p from eddy_lu(a).
 *
 *  lu   [...,n,n]
 *  p    int32 or int64 [...,n], each a permutation
 *  rhs  same type as lu, [...,n,k]; its leading dimensions are those of lu, possibly preceded by
 *       others
 *
 *  Errors: as for eddy_take_along and eddy_triangular_solve.
 *  Gradient: that of the formula.  TensorFlow: tf.linalg.lu_solve. */
eddy_tensor eddy_lu_solve(eddy_tensor lu, eddy_tensor p, eddy_tensor rhs)
{
    const eddy_tensor from = eddy_broadcast_like(ExpandDims(p, -1), rhs);
    const eddy_tensor l = Add(eddy_tril(lu, -1), eddy__identity_like(lu));
    const eddy_tensor y = eddy_triangular_solve(l, eddy_take_along(rhs, from, -2));
    return eddy_triangular_solve(lu, y, .upper = true);
}

/** y = the inverse of the matrix with the given LU decomposition.
 *
 *  lu, p  as for eddy_lu_solve
 *
 *  Errors and gradient: as for eddy_lu_solve.  TensorFlow: tf.linalg.lu_matrix_inverse. */
eddy_tensor eddy_lu_matrix_inverse(eddy_tensor lu, eddy_tensor p)
{
    return eddy_lu_solve(lu, p, eddy__identity_like(lu));
}
