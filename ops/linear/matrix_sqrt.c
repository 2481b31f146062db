/* matrix_sqrt.c -- matrix square root, and the Sylvester equation, which its gradient solves.
 *
 * Both use LAPACK's Schur decomposition, in complex128 for all element types: a matrix is z t z'
 * with t triangular, for which both are short recurrences. */
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/libraries/lapack.h"
#include "ops/linear/linear.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <complex.h>
#include <math.h>
#include <string.h>

typedef double complex number;

/* ------------------------------------------------------------- conversion -- */

static void widen(eddy_dtype d, int64_t n, const void *x, number *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = d == EDDY_FLOAT32 ? (double)((const float *)x)[i]
             : d == EDDY_FLOAT64 ? ((const double *)x)[i]
             : d == EDDY_COMPLEX64 ? (number)((const float complex *)x)[i]
                                   : ((const number *)x)[i];
}

static void narrow(eddy_dtype d, int64_t n, const number *x, void *y)
{
    for (int64_t i = 0; i < n; i++) {
        if (d == EDDY_FLOAT32) ((float *)y)[i] = (float)creal(x[i]);
        else if (d == EDDY_FLOAT64) ((double *)y)[i] = creal(x[i]);
        else if (d == EDDY_COMPLEX64) ((float complex *)y)[i] = (float complex)x[i];
        else ((number *)y)[i] = x[i];
    }
}

static bool are_finite(int64_t n, const number *x)
{
    return eddy__numbers_are_finite(EDDY_COMPLEX128, n, x);
}

/* complex128 matrices in the scratch memory of a worker. */
static int64_t bytes_of(int64_t m, int64_t n) { return (m * n * 16 + 63) / 64 * 64; }

/* ------------------------------------------------------------ matrix_sqrt -- */

/* The square root of the triangular t [n,n], column by column (Bjorck and Hammarling 1983):
 * column j begins at t + j n, and the part above the diagonal is also mirrored below it. */
static void triangle_root(int64_t n, number *t)
{
    for (int64_t j = 0; j < n; j++) {
        number *column = t + j * n;
        column[j] = csqrt(column[j]);
        for (int64_t i = j - 1; i >= 0; i--) {
            const number *row = t + i * n;
            number sum = column[i];
            for (int64_t k = i + 1; k < j; k++) sum -= row[k] * column[k];
            const number both = row[i] + column[j];
            column[i] = sum == 0 ? 0 : sum / both;
            t[i * n + j] = column[i];
        }
    }
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j + 1; i < n; i++) t[j * n + i] = 0;
}

/* A real matrix has a real square root unless an eigenvalue is negative; imaginary parts due to
 * rounding are far below this fraction of the largest element. */
static bool is_real(int64_t n, const number *y)
{
    double most = 0, imaginary = 0;
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, fabs(creal(y[i])));
        imaginary = fmax(imaginary, fabs(cimag(y[i])));
    }
    return imaginary <= 1e-6 * most;
}

static bool sqrt_one(const eddy_kernel *k, int64_t i, char *scratch)
{
    const eddy_dtype d = k->in[0]->type.dtype;
    const int64_t    n = eddy__rows_of(k->in[0]->type.shape), bytes = bytes_of(n, n);
    number *t = (number *)(void *)scratch, *z = (number *)(void *)(scratch + bytes);
    number *y = (number *)(void *)(scratch + 2 * bytes);
    widen(d, n * n, eddy__matrix_of(k->in[0], i), t);
    bool good = are_finite(n * n, t) && eddy__lapack_schur(n, t, z, scratch + 3 * bytes);
    if (good) {
        triangle_root(n, t);
        eddy__lapack_between(n, n, false, z, t, z, y);
        good = are_finite(n * n, t) && (eddy_dtype_is_complex(d) || is_real(n * n, t));
    }
    if (good) narrow(d, n * n, t, eddy__matrix_of(k->out[0], i));
    else eddy__fill_nan(d, n * n, eddy__matrix_of(k->out[0], i));
    return true;
}

/* The Schur form, the recurrence and two products. */
static double sqrt_flops_of(eddy_shape x)
{
    const double n = (double)eddy__rows_of(x);
    return (25 + 1.0 / 3 + 4) * n * n * n;
}

static eddy_status sqrt_prepare(eddy_kernel *k)
{
    const eddy_shape x = k->in[0]->type.shape;
    const int64_t    n = k->in[0]->count > 0 ? eddy__rows_of(x) : 0;
    eddy__long_matrix_scratch(k, 3 * bytes_of(n, n) + eddy__lapack_schur_work(n),
                              eddy__matrices_of(x), sqrt_flops_of(x));
    return EDDY_OK;
}

static double sqrt_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs, (void)n_in, (void)out;
    return (double)eddy__matrices_of(in->shape) * sqrt_flops_of(in->shape);
}

static eddy_status sqrt_kernel(eddy_kernel *k)
{
    const eddy_shape x = k->in[0]->type.shape;
    if (k->in[0]->count == 0) return EDDY_OK;
    return eddy__each_long_matrix(k, eddy__matrices_of(x), sqrt_flops_of(x), sqrt_one, NULL);
}

/* y y = x, so that dx solves y' dx + dx y' = dy. */
static void sqrt_gradient(eddy_rule *r)
{
    const eddy_tensor y = eddy_adjoint(r->y[0]);
    r->dx[0] = eddy_sylvester(y, y, r->dy[0]);
}

const eddy_op_def eddy_op_matrix_sqrt = {
    .name = "MatrixSquareRoot", .label = "matrix_square_root", .min_inputs = 1, .max_inputs = 1,
    .outputs = 1, .flags = EDDY_OP_LAPACK,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_WIDE_FLOATS_COMPLEX | EDDY_RANK_FROM(2) }),
    .infer = eddy__infer_square_as_is, .prepare = sqrt_prepare, .kernel = sqrt_kernel,
    .gradient = sqrt_gradient, .batch = eddy_batch_as_is,
    .flops = sqrt_flops,
};

/** y = the principal square root of each matrix of x: y y = x, and no eigenvalue of y has a
 *  negative real part.
 *
 *  x  float32, float64, complex64 or complex128, [...,n,n]; y has its type and shape
 *
 *  Computed from the Schur form (Bjorck and Hammarling 1983), in double precision.  NaN for a
 *  matrix that has a non-finite element or no principal square root, and for a real matrix with a
 *  negative eigenvalue, whose square root is not real: cast x to a complex type in that case.
 *  Imaginary parts below 1e-6 times the largest element count as rounding errors.
 *  Errors: EDDY_BAD_SHAPE for non-square matrices.
 *  Gradient: the solution dx of y' dx + dx y' = dy with ' the adjoint (eddy_sylvester); fails at
 *  run time unless the solution is unique, for example for a singular matrix.
 *  TensorFlow: MatrixSquareRoot (tf.linalg.sqrtm). */
eddy_tensor eddy_matrix_sqrt(eddy_tensor x) { return eddy_apply1(&eddy_op_matrix_sqrt, NULL, x); }

/* -------------------------------------------------------------- sylvester -- */

static bool sylvester_infer(eddy_infer *c)
{
    int64_t    m, n, rows, columns;
    eddy_shape s = c->in[2].shape;
    char       text[3][128];
    if (!eddy__infer_square(c, 0, &m) ||
        !eddy__infer_square(c, 1, &n) ||
        !eddy__infer_matrices(c, 2, &rows, &columns))
        return false;
    bool fits = eddy__dim_unify(&m, rows) && eddy__dim_unify(&n, columns);
    s = eddy__shape_matrix(s, m, n);
    for (int k = 0; k < 2; k++) {
        const eddy_shape x = c->in[k].shape;
        if (x.rank < 0) continue;
        if (s.rank < 0) s = eddy__shape_matrix(x, m, n);
        fits = fits && x.rank == s.rank;
        for (int i = 0; fits && i < s.rank - 2; i++) fits = eddy__dim_unify(&s.dim[i], x.dim[i]);
    }
    if (!fits)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "a has shape %s, b %s and c %s; [...,m,m], "
                               "[...,n,n] and [...,m,n] expected",
                               eddy_shape_print(c->in[0].shape, text[0], sizeof text[0]),
                               eddy_shape_print(c->in[1].shape, text[1], sizeof text[1]),
                               eddy_shape_print(c->in[2].shape, text[2], sizeof text[2]));
    return eddy__infer_yield(c, 0, c->in[2].dtype, s);
}

/* The matrices of a worker: the triangular forms of a and b, the transformations to them, c, and
 * scratch memory. */
typedef struct equation {
    int64_t m, n;
    number *a, *za, *b, *zb, *c, *room;
    char   *work;
} equation;

static int64_t equation_in(eddy_shape c, char *scratch, equation *e)
{
    const int64_t m = eddy__rows_of(c), n = eddy__columns_of(c), most = m > n ? m : n;
    number **at[] = { &e->a, &e->za, &e->b, &e->zb, &e->c, &e->room };
    const int64_t size[] = { bytes_of(m, m), bytes_of(m, m), bytes_of(n, n), bytes_of(n, n),
                             bytes_of(m, n), bytes_of(m, n) };
    int64_t bytes = 0;
    for (int i = 0; i < 6; bytes += size[i++])
        if (scratch) *at[i] = (number *)(void *)(scratch + bytes);
    e->m = m;
    e->n = n;
    e->work = scratch ? scratch + bytes : NULL;
    return bytes + eddy__lapack_schur_work(most);
}

/* LAPACK reads all matrices as their transposes, which satisfy b x + x a = c. */
static bool sylvester_one(const eddy_kernel *k, int64_t i, char *scratch)
{
    const eddy_dtype d = k->out[0]->type.dtype;
    equation e;
    equation_in(k->out[0]->type.shape, scratch, &e);
    widen(d, e.m * e.m, eddy__matrix_of(k->in[0], i), e.a);
    widen(d, e.n * e.n, eddy__matrix_of(k->in[1], i), e.b);
    widen(d, e.m * e.n, eddy__matrix_of(k->in[2], i), e.c);
    if (!are_finite(e.m * e.m, e.a) || !are_finite(e.n * e.n, e.b) ||
        !are_finite(e.m * e.n, e.c) || !eddy__lapack_schur(e.m, e.a, e.za, e.work) ||
        !eddy__lapack_schur(e.n, e.b, e.zb, e.work)) {
        eddy__fill_nan(d, e.m * e.n, eddy__matrix_of(k->out[0], i));
        return true;
    }
    eddy__lapack_between(e.n, e.m, true, e.zb, e.c, e.za, e.room);
    if (!eddy__lapack_triangles_solve(e.n, e.m, e.b, e.a, e.c)) return false;
    eddy__lapack_between(e.n, e.m, false, e.zb, e.c, e.za, e.room);
    narrow(d, e.m * e.n, e.c, eddy__matrix_of(k->out[0], i));
    return true;
}

/* Two Schur forms, the recurrence and four products. */
static double sylvester_flops_of(eddy_shape c)
{
    const double m = (double)eddy__rows_of(c), n = (double)eddy__columns_of(c);
    return 25 * (m * m * m + n * n * n) + 5 * m * n * (m + n);
}

static eddy_status sylvester_prepare(eddy_kernel *k)
{
    equation         e;
    const eddy_shape c = k->out[0]->type.shape;
    eddy__long_matrix_scratch(k, k->out[0]->count > 0 ? equation_in(c, NULL, &e) : 0,
                              eddy__matrices_of(c), sylvester_flops_of(c));
    return EDDY_OK;
}

static double sylvester_flops(const void *attrs, int n_in, const eddy_type *in,
                              const eddy_type *out)
{
    (void)attrs, (void)n_in, (void)in;
    return (double)eddy__matrices_of(out->shape) * sylvester_flops_of(out->shape);
}

static eddy_status sylvester_kernel(eddy_kernel *k)
{
    const eddy_shape c = k->out[0]->type.shape;
    if (k->out[0]->count == 0) return EDDY_OK;
    int64_t           bad;
    const eddy_status status = eddy__each_long_matrix(
        k, eddy__matrices_of(c), sylvester_flops_of(c), sylvester_one, &bad);
    if (status != EDDY_OK || bad < 0) return status;
    return eddy_kernel_fail(
        k, EDDY_INVALID_ARGUMENT,
        "equation %lld has no unique solution: an eigenvalue of a and one of b add up to 0",
        (long long)bad);
}

/* dc solves a' dc + dc b' = dx; da = -dc x' and db = -x' dc. */
static void sylvester_gradient(eddy_rule *r)
{
    const eddy_tensor dc = eddy_sylvester(eddy_adjoint(r->x[0]), eddy_adjoint(r->x[1]), r->dy[0]);
    r->dx[0] = Neg(eddy__times_adjoint(dc, r->y[0]));
    r->dx[1] = Neg(eddy__adjoint_times(r->y[0], dc));
    r->dx[2] = dc;
}

const eddy_op_def eddy_op_sylvester = {
    .name = "Sylvester", .label = "sylvester", .min_inputs = 3, .max_inputs = 3, .outputs = 1,
    .inputs = EDDY_INPUTS({ "a", EDDY_TAKES_WIDE_FLOATS_COMPLEX | EDDY_RANK_FROM(2) },
                          { "b", EDDY_LIKE(0) | EDDY_RANK_FROM(2) },
                          { "c", EDDY_LIKE(0) | EDDY_RANK_FROM(2) }),
    .flags = EDDY_OP_LAPACK, .infer = sylvester_infer, .prepare = sylvester_prepare,
    .kernel = sylvester_kernel, .gradient = sylvester_gradient, .batch = eddy_batch_as_is,
    .flops = sylvester_flops,
};

/** x = the solution of the Sylvester equation a x + x b = c, for each triple of matrices.
 *
 *  a  float32, float64, complex64 or complex128, [...,m,m]
 *  b  same type, [...,n,n]
 *  c  same type, [...,m,n], which is also the shape of x; the leading dimensions must be equal
 *
 *  Computed from the Schur forms of a and b (Bartels and Stewart 1972), in double precision.  NaN
 *  if a matrix has a non-finite element.
 *  Errors: EDDY_BAD_SHAPE for other shapes; at run time, EDDY_INVALID_ARGUMENT if an eigenvalue
 *  of a and one of b add up to 0, because the solution is not unique then.
 *  Gradient: dc solves a' dc + dc b' = dx, da = -dc x', db = -x' dc with ' the adjoint.
 *  SciPy: linalg.solve_sylvester. */
eddy_tensor eddy_sylvester(eddy_tensor a, eddy_tensor b, eddy_tensor c)
{
    return eddy_apply(&eddy_op_sylvester, NULL, 3, (eddy_tensor[]){ a, b, c },
                      (eddy_apply_args){ 0 });
}
