/* solve.c -- systems of linear equations (solve, triangular_solve), and the matrix inverse. */
#include "ops/arrays/arrays.h"
#include "graph/base/interruptible.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/libraries/lapack_blocks.h"
#include "ops/linear/linear.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

typedef struct solve_attrs {
    bool upper, adjoint;
} solve_attrs;

static bool solve_infer(eddy_infer *c)
{
    eddy_shape y;
    return eddy__infer_system(c, &y) && eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

/* Copies right-hand side i to y; returns the matrix that belongs to it. */
static char *place_side(const eddy_kernel *k, int64_t i, const char **matrix)
{
    const eddy_shape s = k->out[0]->type.shape;
    const size_t     bytes = (size_t)(eddy__rows_of(s) * eddy__columns_of(s)) *
                             eddy_dtype_size(k->out[0]->type.dtype);
    const char *b = eddy__matrix_of(k->in[1], eddy__matrix_at(s, k->in[1]->type.shape, i));
    char       *y = eddy__matrix_of(k->out[0], i);
    *matrix = eddy__matrix_of(k->in[0], eddy__matrix_at(s, k->in[0]->type.shape, i));
    if (y != b && bytes > 0) eddy__copy_or_stop(k->stop, y, b, bytes);
    return y;
}

static eddy_status not_invertible(eddy_kernel *k, int64_t i)
{
    return eddy_kernel_fail(k, EDDY_INVALID_ARGUMENT, "Input matrix is not invertible: matrix %lld "
                            "has a pivot of 0", (long long)i);
}

/* 2 n n k for a product of that size, half as many for a triangle. */
static double side_flops(eddy_shape y)
{
    const double n = (double)eddy__rows_of(y);
    return n * n * (double)eddy__columns_of(y);
}

/* ------------------------------------------------------ triangular_solve -- */

static bool is_zero(eddy_dtype d, const char *x)
{
    if (d == EDDY_FLOAT32) return *(const float *)(const void *)x == 0;
    if (d == EDDY_FLOAT64) return *(const double *)(const void *)x == 0;
    const eddy_dtype part = eddy_dtype_real(d);
    return is_zero(part, x) && is_zero(part, x + eddy_dtype_size(part));
}

static bool triangular_one(const eddy_kernel *k, int64_t i, char *scratch)
{
    const solve_attrs *a = k->attrs;
    const eddy_dtype   d = k->out[0]->type.dtype;
    const eddy_shape   s = k->out[0]->type.shape;
    const int64_t n = eddy__rows_of(s);
    const char   *matrix;
    char         *y = place_side(k, i, &matrix);
    (void)scratch;
    for (int64_t j = 0; j < n; j++)
        if (is_zero(d, matrix + (size_t)(j * (n + 1)) * eddy_dtype_size(d))) return false;
    eddy__blocks_triangle_solve(k, d, !a->upper, a->adjoint, false, n, eddy__columns_of(s), matrix,
                                y);
    return true;
}

static eddy_status triangular_solve_kernel(eddy_kernel *k)
{
    const eddy_shape s = k->out[0]->type.shape;
    if (k->out[0]->count == 0) return EDDY_OK;
    const int64_t bad = eddy__each_matrix(k, eddy__matrices_of(s), side_flops(s), triangular_one);
    return bad < 0 ? EDDY_OK : not_invertible(k, bad);
}

/* db = op(a)'^-1 dy; da = -db y', or -y db' for the adjoint; only the triangle of it. */
static void triangular_solve_gradient(eddy_rule *r)
{
    const solve_attrs *a = r->attrs;
    const solve_attrs  other = { a->upper, !a->adjoint };
    const eddy_tensor  db = eddy_apply2(r->node->op, &other, r->x[0], r->dy[0]), y = r->y[0];
    const eddy_tensor  da = a->adjoint ? eddy__times_adjoint(y, db) : eddy__times_adjoint(db, y);
    const eddy_tensor  part = a->upper ? eddy_triu(Neg(da), 0) : eddy_tril(Neg(da), 0);
    r->dx[0] = eddy_sum_like(part, r->x[0]);
    r->dx[1] = eddy_sum_like(db, r->x[1]);
}

static double triangular_solve_flops(const void *attrs, int n_in, const eddy_type *in,
                                     const eddy_type *out)
{
    (void)attrs, (void)n_in, (void)in;
    return (double)eddy__matrices_of(out->shape) * side_flops(out->shape);
}

const eddy_op_def eddy_op_triangular_solve = {
    .name = "MatrixTriangularSolve", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "matrix", EDDY_TAKES_WIDE_FLOATS_COMPLEX | EDDY_RANK_FROM(2) },
                          { "rhs", EDDY_LIKE(0) | EDDY_RANK_FROM(2) }),
    .flags = EDDY_OP_LAPACK,
    .attrs_size = sizeof(solve_attrs), .attrs = EDDY_ATTRS(solve_attrs, upper, adjoint),
    .infer = solve_infer, .kernel = triangular_solve_kernel, .gradient = triangular_solve_gradient,
    .batch = eddy__batch_elementwise, .flops = triangular_solve_flops,
};

#ifdef EDDY_HEADER
typedef struct eddy_triangular_solve_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_triangular_solve_args));
    eddy_tensor matrix, rhs;      /* [...,n,n] and [...,n,k] */
    bool        upper;            /* the matrix is upper triangular; default: lower */
    bool        adjoint;          /* solve with its adjoint */
    const char *name;
} eddy_triangular_solve_args;
#endif

/** y = matrix^-1 rhs for triangular matrices.
 *
 *  matrix   float32, float64, complex64 or complex128, [...,n,n]; only the lower triangle is read
 *  rhs      same type, [...,n,k]; the leading dimensions broadcast
 *  upper    reads only the upper triangle instead; TensorFlow's lower = False
 *  adjoint  y = matrix'^-1 rhs with ' the adjoint
 *
 *  Errors: EDDY_BAD_SHAPE if the shapes do not match; at run time, EDDY_INVALID_ARGUMENT if a
 *  diagonal has a 0; the message has the index of the matrix.
 *  Gradient: drhs = matrix'^-1 dy, dmatrix = the triangle of -drhs y'.
 *  TensorFlow: MatrixTriangularSolve. */
eddy_tensor eddy_triangular_solve_with(const eddy_triangular_solve_args *given)
{
    eddy_triangular_solve_args a = EDDY_TAKE(eddy_triangular_solve_args, given);
    return eddy__apply_named(a.name, &eddy_op_triangular_solve,
                             &(solve_attrs){ a.upper, a.adjoint }, 2,
                             (eddy_tensor[]){ a.matrix, a.rhs });
}

/* ----------------------------------------------------------------- solve -- */

/* A copy of the matrix, and its pivots. */
static eddy_status solve_prepare(eddy_kernel *k)
{
    const int64_t n = eddy__rows_of(k->in[0]->type.shape);
    eddy__matrix_scratch(k, n * n * (int64_t)eddy_dtype_size(k->in[0]->type.dtype) +
                         n * (int64_t)sizeof(int32_t));
    return EDDY_OK;
}

static bool solve_one(const eddy_kernel *k, int64_t i, char *scratch)
{
    const solve_attrs *a = k->attrs;
    const eddy_dtype   d = k->out[0]->type.dtype;
    const eddy_shape   s = k->out[0]->type.shape;
    const int64_t n = eddy__rows_of(s), bytes = n * n * (int64_t)eddy_dtype_size(d);
    const char   *matrix;
    char         *y = place_side(k, i, &matrix);
    int32_t      *pivots = (int32_t *)(void *)(scratch + bytes);
    eddy__copy_or_stop(k->stop, scratch, matrix, (size_t)bytes);
    if (eddy__blocks_lu(k, d, n, scratch, pivots) != 0) return false;
    if (eddy__stopped(k->stop)) return true;
    eddy__blocks_lu_solve(k, d, a->adjoint, n, eddy__columns_of(s), scratch, pivots, y);
    return true;
}

static double system_flops(eddy_shape y)
{
    const double n = (double)eddy__rows_of(y);
    return n * n * n * 2 / 3 + 2 * side_flops(y);
}

static eddy_status solve_kernel(eddy_kernel *k)
{
    const eddy_shape s = k->out[0]->type.shape;
    if (k->out[0]->count == 0) return EDDY_OK;
    const int64_t bad = eddy__each_matrix(k, eddy__matrices_of(s), system_flops(s), solve_one);
    return bad < 0 ? EDDY_OK : not_invertible(k, bad);
}

static void solve_gradient(eddy_rule *r)
{
    const solve_attrs *a = r->attrs;
    const solve_attrs  other = { .adjoint = !a->adjoint };
    const eddy_tensor  db = eddy_apply2(r->node->op, &other, r->x[0], r->dy[0]), y = r->y[0];
    const eddy_tensor  da = a->adjoint ? eddy__times_adjoint(y, db) : eddy__times_adjoint(db, y);
    r->dx[0] = eddy_sum_like(Neg(da), r->x[0]);
    r->dx[1] = eddy_sum_like(db, r->x[1]);
}

static double solve_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs, (void)n_in, (void)in;
    return (double)eddy__matrices_of(out->shape) * system_flops(out->shape);
}

const eddy_op_def eddy_op_solve = {
    .name = "MatrixSolve", .min_inputs = 2, .max_inputs = 2, .outputs = 1, .flags = EDDY_OP_LAPACK,
    .inputs = EDDY_INPUTS({ "matrix", EDDY_TAKES_WIDE_FLOATS_COMPLEX | EDDY_RANK_FROM(2) },
                          { "rhs", EDDY_LIKE(0) | EDDY_RANK_FROM(2) }),
    .attrs_size = sizeof(solve_attrs), .attrs = EDDY_ATTRS(solve_attrs, adjoint),
    .infer = solve_infer, .prepare = solve_prepare, .kernel = solve_kernel,
    .gradient = solve_gradient, .batch = eddy__batch_elementwise, .flops = solve_flops,
};

#ifdef EDDY_HEADER
typedef struct eddy_solve_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_solve_args));
    eddy_tensor matrix, rhs;      /* [...,n,n] and [...,n,k] */
    bool        adjoint;          /* solve with the adjoint of the matrix */
    const char *name;
} eddy_solve_args;
#endif

/** y = matrix^-1 rhs, by LU decomposition with partial pivoting.
 *
 *  matrix   float32, float64, complex64 or complex128, [...,n,n]
 *  rhs      same type, [...,n,k]; the leading dimensions broadcast
 *  adjoint  y = matrix'^-1 rhs with ' the adjoint
 *
 *  Errors: EDDY_BAD_SHAPE if the shapes do not match; at run time, EDDY_INVALID_ARGUMENT if a
 *  pivot is exactly 0; the message has the index of the matrix.  NaN in a matrix or a right-hand
 *  side propagates to y.
 *  Gradient: drhs = matrix'^-1 dy, dmatrix = -drhs y'.  TensorFlow: MatrixSolve. */
eddy_tensor eddy_solve_with(const eddy_solve_args *given)
{
    eddy_solve_args a = EDDY_TAKE(eddy_solve_args, given);
    return eddy__apply_named(a.name, &eddy_op_solve, &(solve_attrs){ .adjoint = a.adjoint }, 2,
                             (eddy_tensor[]){ a.matrix, a.rhs });
}

/* --------------------------------------------------------------- inverse -- */

static int64_t pivot_bytes(int64_t n) { return (n * (int64_t)sizeof(int32_t) + 63) / 64 * 64; }

static int64_t inverse_elements(const eddy_kernel *k)
{
    const int64_t n = eddy__rows_of(k->in[0]->type.shape);
    return eddy__blocks_inverse_work(k->in[0]->type.dtype, n > 0 ? n : 1);
}

static eddy_status inverse_prepare(eddy_kernel *k)
{
    const int64_t n = eddy__rows_of(k->in[0]->type.shape);
    const int64_t size = (int64_t)eddy_dtype_size(k->in[0]->type.dtype);
    eddy__matrix_scratch(k, pivot_bytes(n) + inverse_elements(k) * size);
    return EDDY_OK;
}

static bool inverse_one(const eddy_kernel *k, int64_t i, char *scratch)
{
    const eddy_dtype d = k->out[0]->type.dtype;
    const int64_t n = eddy__rows_of(k->out[0]->type.shape);
    const void *x = eddy__matrix_of(k->in[0], i);
    void       *y = eddy__matrix_of(k->out[0], i);
    int32_t    *pivots = (int32_t *)(void *)scratch;
    if (x != y) eddy__copy_or_stop(k->stop, y, x, (size_t)(n * n) * eddy_dtype_size(d));
    if (eddy__blocks_lu(k, d, n, y, pivots) != 0) return false;
    if (eddy__stopped(k->stop)) return true;
    eddy__blocks_lu_inverse(k, d, n, y, pivots, scratch + pivot_bytes(n), inverse_elements(k));
    return true;
}

static double inverse_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs, (void)n_in, (void)in;
    return 2 * (double)eddy_shape_count(out->shape) * (double)eddy__rows_of(out->shape);
}

static eddy_status inverse_kernel(eddy_kernel *k)
{
    const eddy_shape s = k->out[0]->type.shape;
    const double     n = (double)eddy__rows_of(s);
    if (k->out[0]->count == 0) return EDDY_OK;
    const int64_t bad = eddy__each_matrix(k, eddy__matrices_of(s), 2 * n * n * n, inverse_one);
    if (bad < 0) return EDDY_OK;
    return eddy_kernel_fail(k, EDDY_INVALID_ARGUMENT, "Input is not invertible: matrix %lld has a "
                            "pivot of 0", (long long)bad);
}

static void inverse_gradient(eddy_rule *r)
{
    const eddy_tensor y = r->y[0];
    r->dx[0] = Neg(eddy__adjoint_times(y, eddy__times_adjoint(r->dy[0], y)));
}

const eddy_op_def eddy_op_inverse = {
    .name = "MatrixInverse", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_WIDE_FLOATS_COMPLEX | EDDY_RANK_FROM(2) }),
    .flags = EDDY_OP_LAPACK | EDDY_OP_IN_PLACE,
    .infer = eddy__infer_square_as_is, .prepare = inverse_prepare,
    .kernel = inverse_kernel, .gradient = inverse_gradient, .batch = eddy_batch_as_is,
    .flops = inverse_flops,
};

#ifdef EDDY_HEADER
typedef struct eddy_inverse_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_inverse_args));
    eddy_tensor x;
    bool        adjoint;          /* the adjoint of the inverse */
    const char *name;
} eddy_inverse_args;
#endif

/** y = x^-1 for each matrix of x, by LU decomposition with partial pivoting.
 *
 *  x        float32, float64, complex64 or complex128, [...,n,n]
 *  adjoint  y = x'^-1 with ' the adjoint
 *
 *  To multiply by an inverse, eddy_solve is faster and more accurate.
 *  Errors: EDDY_BAD_SHAPE for non-square matrices; at run time, EDDY_INVALID_ARGUMENT if a pivot
 *  is exactly 0; the message has the index of the matrix.
 *  Gradient: dx = -y' dy y'.  TensorFlow: MatrixInverse. */
eddy_tensor eddy_inverse_with(const eddy_inverse_args *given)
{
    eddy_inverse_args a = EDDY_TAKE(eddy_inverse_args, given);
    const eddy_tensor y = eddy__apply_named(a.name, &eddy_op_inverse, NULL, 1, &a.x);
    return a.adjoint ? eddy_adjoint(y) : y;
}
