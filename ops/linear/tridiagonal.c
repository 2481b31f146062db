/* tridiagonal.c -- tridiagonal matrices: products and solutions. A matrix is stored as three
 * rows: the superdiagonal (its last element unused), the diagonal, and the subdiagonal (its first
 * element unused). */
#include "graph/base/stop.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/libraries/lapack.h"
#include "ops/linear/linear.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

/* Row i of the three diagonals, and the rows without their unused first or last element. */
static eddy_tensor row_of(eddy_tensor d, int i)
{
    static const char *const rows[] = { "..., 0, :", "..., 1, :", "..., 2, :" };
    return eddy_index(d, rows[i]);
}
static eddy_tensor above(eddy_tensor d) { return eddy_index(d, "..., 0, :-1"); }
static eddy_tensor below(eddy_tensor d) { return eddy_index(d, "..., 2, 1:"); }

/* ---------------------------------------------------- tridiagonal_matmul -- */

/** y = the tridiagonal matrix times rhs.
 *
 *  diagonals  float32, float64, complex64 or complex128, [...,3,n]: the superdiagonal, the
 *             diagonal and the subdiagonal; the last element of the first and the first element
 *             of the last are ignored
 *  rhs        same type, [...,n,k], which is also the shape of y; the leading dimensions
 *             broadcast
 *
 *  Errors: EDDY_BAD_SHAPE if the shapes do not match, EDDY_CHECK_FAILED if this is only known at
 *  run time; otherwise as for eddy_mul.
 *  Gradient: that of the formula.
 *  TensorFlow: tf.linalg.tridiagonal_matmul, diagonals_format "compact". */
eddy_tensor eddy_tridiagonal_matmul(eddy_tensor diagonals, eddy_tensor rhs)
{
    eddy_scope_begin(diagonals.graph, "tridiagonal_matmul");
    const eddy_list   both = EDDY_LIST(diagonals, rhs);
    const eddy_tensor fits = eddy_assert_shapes(both, "..., 3, n; ..., n, k");
    eddy_control_begin(diagonals.graph, EDDY_LIST(fits));
    diagonals = Identity(diagonals);
    eddy_control_end(diagonals.graph);
    const eddy_tensor on = Mul(ExpandDims(row_of(diagonals, 1), -1), rhs);
    const eddy_tensor up = Mul(ExpandDims(above(diagonals), -1), eddy_index(rhs, "..., 1:, :"));
    const eddy_tensor down = Mul(ExpandDims(below(diagonals), -1), eddy_index(rhs, "..., :-1, :"));
    const eddy_tensor none = ZerosLike(eddy_index(on, "..., :1, :"));
    const eddy_tensor y = Add(Add(on, eddy_concat(EDDY_LIST(up, none), -2)),
                              eddy_concat(EDDY_LIST(none, down), -2));
    eddy_scope_end(diagonals.graph);
    return y;
}

/* ----------------------------------------------------- tridiagonal_solve -- */

static bool solve_infer(eddy_infer *c)
{
    const eddy_shape d = c->in[0].shape;
    eddy_shape y = c->in[1].shape;
    int64_t    three, n, rows, k;
    char       text[2][128];
    if (!eddy__infer_matrices(c, 0, &three, &n) ||
        !eddy__infer_matrices(c, 1, &rows, &k))
        return false;
    bool fits = eddy__dim_unify(&three, 3) && eddy__dim_unify(&n, rows);
    if (y.rank < 0) y = d;
    y = eddy__shape_matrix(y, n, k);
    fits = fits && (d.rank < 0 || d.rank == y.rank);
    for (int i = 0; fits && i < d.rank - 2; i++) fits = eddy__dim_unify(&y.dim[i], d.dim[i]);
    if (!fits)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "diagonals have shape %s and right-hand sides "
                               "%s; [...,3,n] and [...,n,k] expected",
                               eddy_shape_print(d, text[0], sizeof text[0]),
                               eddy_shape_print(c->in[1].shape, text[1], sizeof text[1]));
    return eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

static bool solve_one(const eddy_kernel *k, int64_t i, char *scratch)
{
    const eddy_dtype d = k->out[0]->type.dtype;
    const eddy_shape s = k->out[0]->type.shape;
    const int64_t    n = eddy__rows_of(s), columns = eddy__columns_of(s);
    const size_t     size = eddy_dtype_size(d), row = (size_t)n * size;
    char *sides = scratch + 3 * row;
    memcpy(scratch, eddy__matrix_of(k->in[0], i), 3 * row);
    eddy__turn_matrix(k, d, false, n, columns, eddy__matrix_of(k->in[1], i), sides);
    if (eddy__stopped(k->stop)) return true;
    if (!eddy__lapack_tridiagonal(d, n, columns, scratch + 2 * row + size, scratch + row, scratch,
                                  sides))
        return false;
    eddy__turn_matrix(k, d, false, columns, n, sides, eddy__matrix_of(k->out[0], i));
    return true;
}

static double solve_flops_of(eddy_shape y)
{
    return (double)eddy__rows_of(y) * (3 + 5 * (double)eddy__columns_of(y));
}

/* Each operation waits for memory or for the one before it, and takes as long as many of a
 * product. */
static double solve_time_of(eddy_shape y) { return 16 * solve_flops_of(y); }

/* Copies of the diagonals, which LAPACK overwrites, and the transposed right-hand sides. */
static eddy_status solve_prepare(eddy_kernel *k)
{
    const eddy_shape y = k->out[0]->type.shape;
    const int64_t    size = (int64_t)eddy_dtype_size(k->out[0]->type.dtype);
    eddy__long_matrix_scratch(k, eddy__rows_of(y) * (3 + eddy__columns_of(y)) * size,
                              eddy__matrices_of(y), solve_time_of(y));
    return EDDY_OK;
}

static double solve_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs, (void)n_in, (void)in;
    return (double)eddy__matrices_of(out->shape) * solve_flops_of(out->shape);
}

static eddy_status solve_kernel(eddy_kernel *k)
{
    const eddy_shape y = k->out[0]->type.shape;
    if (k->out[0]->count == 0) return EDDY_OK;
    int64_t           bad;
    const eddy_status status =
        eddy__each_long_matrix(k, eddy__matrices_of(y), solve_time_of(y), solve_one, &bad);
    if (status != EDDY_OK || bad < 0) return status;
    return eddy_kernel_fail(k, EDDY_INVALID_ARGUMENT, "Input is not invertible: matrix %lld has a "
                            "pivot of 0", (long long)bad);
}

/* The diagonals of the adjoint matrix. */
static eddy_tensor adjoint_diagonals(eddy_tensor d)
{
    const eddy_tensor none = ZerosLike(eddy_index(d, "..., 1, :1"));
    const eddy_tensor up = eddy_concat(EDDY_LIST(below(d), none), -1);
    const eddy_tensor down = eddy_concat(EDDY_LIST(none, above(d)), -1);
    return Conj(eddy_stack(EDDY_LIST(up, row_of(d, 1), down), -2));
}

/* db solves the adjoint system for dy; the gradient of the diagonals is the diagonals of -db y'. */
static void solve_gradient(eddy_rule *r)
{
    const eddy_tensor db = eddy_tridiagonal_solve(adjoint_diagonals(r->x[0]), r->dy[0]),
                      y = Conj(r->y[0]);
    const eddy_tensor on = Sum(Mul(db, y), EDDY_AXES(-1));
    const eddy_tensor none = ZerosLike(eddy_index(on, "..., :1"));
    const eddy_tensor up = Sum(Mul(eddy_index(db, "..., :-1, :"), eddy_index(y, "..., 1:, :")),
                               EDDY_AXES(-1));
    const eddy_tensor down = Sum(Mul(eddy_index(db, "..., 1:, :"), eddy_index(y, "..., :-1, :")),
                                 EDDY_AXES(-1));
    r->dx[0] = Neg(eddy_stack(EDDY_LIST(eddy_concat(EDDY_LIST(up, none), -1), on,
                                        eddy_concat(EDDY_LIST(none, down), -1)), -2));
    r->dx[1] = db;
}

const eddy_op_def eddy_op_tridiagonal_solve = {
    .name = "TridiagonalSolve", .label = "tridiagonal_solve", .min_inputs = 2, .max_inputs = 2,
    .outputs = 1, .flags = EDDY_OP_LAPACK, .infer = solve_infer, .prepare = solve_prepare,
    .inputs = EDDY_INPUTS({ "diagonals", EDDY_TAKES_WIDE_FLOATS_COMPLEX | EDDY_RANK_FROM(2) },
                          { "rhs", EDDY_LIKE(0) | EDDY_RANK_FROM(2) }),
    .kernel = solve_kernel, .gradient = solve_gradient, .batch = eddy_batch_as_is,
    .flops = solve_flops,
};

/** y = the solution of the tridiagonal system for rhs, with partial pivoting.
 *
 *  diagonals  as for eddy_tridiagonal_matmul
 *  rhs        same type, [...,n,k], which is also the shape of y; the leading dimensions must be
 *             equal
 *
 *  Takes time proportional to the number of elements of rhs.
 *  Errors: EDDY_BAD_SHAPE if the shapes do not match; at run time, EDDY_INVALID_ARGUMENT if a
 *  pivot is exactly 0; the message has the index of the matrix.
 *  Gradient: drhs solves the adjoint system for dy; ddiagonals are the diagonals of -drhs y'.
 *  TensorFlow: TridiagonalSolve (tf.linalg.tridiagonal_solve), diagonals_format "compact". */
eddy_tensor eddy_tridiagonal_solve(eddy_tensor diagonals, eddy_tensor rhs)
{
    return eddy_apply2(&eddy_op_tridiagonal_solve, NULL, diagonals, rhs);
}
