/* linear.c -- matrix_transpose, adjoint, and helpers shared by the operations of linear algebra. */
#include "graph/base/stop.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/matmul/matmul_threads.h"
#include "ops/linear/linear.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { TURNED = 64 };       /* rows of a transposed matrix are written in multiples of these */

/* ------------------------------------------------------ matrix_transpose -- */

/** y[..., i, j] = x[..., j, i]: transposes the matrices in the last two dimensions.
 *
 *  x  any element type, rank at least 2
 *
 *  Errors: EDDY_BAD_SHAPE for a rank below 2.
 *  Gradient: dx = dy transposed.  TensorFlow: tf.linalg.matrix_transpose. */
eddy_tensor eddy_matrix_transpose(eddy_tensor x)
{
    const int rank = eddy_shape_of(x).rank;
    eddy_dims perm = { .count = rank };
    if (rank < 2) return eddy_apply1(&eddy_op_matrix_transpose, NULL, x);
    for (int i = 0; i < rank - 2; i++) perm.at[i] = i;
    perm.at[rank - 2] = rank - 1;
    perm.at[rank - 1] = rank - 2;
    return eddy_transpose(x, perm);
}

/** y[..., i, j] = conj(x[..., j, i]): the adjoints of the matrices in the last two dimensions.
 *
 *  x  any numeric type, rank at least 2
 *
 *  Errors: EDDY_BAD_SHAPE for a rank below 2.
 *  Gradient: dx = dy transposed and conjugated.  TensorFlow: tf.linalg.adjoint. */
eddy_tensor eddy_adjoint(eddy_tensor x) { return eddy_matrix_transpose(Conj(x)); }

static bool matrix_transpose_infer(eddy_infer *c)
{
    const eddy_shape x = c->in[0].shape;
    return eddy__infer_yield(c, 0, c->in[0].dtype,
        x.rank < 0 ? x : eddy__shape_matrix(x, eddy__columns_of(x), eddy__rows_of(x)));
}

static eddy_status matrix_transpose_prepare(eddy_kernel *k)
{
    const eddy_shape x = k->in[0]->type.shape;
    const int64_t m = eddy__rows_of(x), n = eddy__columns_of(x);
    eddy_box *b = eddy__box_state(k);
    if (!b) return EDDY_NO_MEMORY;
    eddy__box_add(b, eddy__matrices_of(x), m * n, m * n);
    eddy__box_add(b, n, m, 1);
    eddy__box_add(b, m, 1, n);
    return EDDY_OK;
}

static void matrix_transpose_gradient(eddy_rule *r) { r->dx[0] = eddy_matrix_transpose(r->dy[0]); }

/* The operation that eddy_matrix_transpose builds if the rank is unknown. */
const eddy_op_def eddy_op_matrix_transpose = {
    .name = "MatrixTranspose", .label = "matrix_transpose", .min_inputs = 1, .max_inputs = 1,
    .outputs = 1, .inputs = EDDY_INPUTS({ "x", EDDY_RANK_FROM(2) }), .flags = EDDY_OP_MOVES,
    .infer = matrix_transpose_infer,
    .prepare = matrix_transpose_prepare,
    .kernel = eddy__box_copy_kernel, .gradient = matrix_transpose_gradient,
    .batch = eddy_batch_as_is,
};

/* --------------------------------------------------------------- tools -- */

eddy_tensor eddy__half_triangle(eddy_tensor x)
{
    return Mul(0.5, Add(eddy_tril(x, 0), eddy_tril(x, -1)));
}

eddy_tensor eddy__identity_like(eddy_tensor x) { return eddy_matrix_band_part(OnesLike(x), 0, 0); }

eddy_tensor eddy__times(eddy_tensor x, eddy_tensor y) { return eddy_batch_matmul(x, y); }

eddy_tensor eddy__adjoint_times(eddy_tensor x, eddy_tensor y)
{
    return eddy_batch_matmul(x, y, .adj_x = true);
}

eddy_tensor eddy__times_adjoint(eddy_tensor x, eddy_tensor y)
{
    return eddy_batch_matmul(x, y, .adj_y = true);
}

eddy_tensor eddy__hermitian_part(eddy_tensor x) { return Mul(0.5, Add(x, eddy_adjoint(x))); }

eddy_tensor eddy__inverse_gaps(eddy_tensor v)
{
    return DivNoNan(1, Sub(ExpandDims(v, -2), ExpandDims(v, -1)));
}

bool eddy__infer_matrices(eddy_infer *c, int i, int64_t *m, int64_t *n)
{
    const eddy_shape s = c->in[i].shape;
    *m = *n = EDDY_ANY;
    if (s.rank < 0) return true;
    *m = eddy__rows_of(s);
    *n = eddy__columns_of(s);
    if (*m > INT_MAX || *n > INT_MAX)
        return eddy_infer_fail(c, EDDY_LIMIT,
                               "a matrix of input %d is %lld by %lld; the limit is %d", i,
                               (long long)*m, (long long)*n, INT_MAX);
    return true;
}

int64_t eddy__shorter_side(int64_t m, int64_t n)
{
    return m == 0 || n == 0 ? 0 : m < 0 || n < 0 ? EDDY_ANY : m < n ? m : n;
}

bool eddy__infer_square(eddy_infer *c, int i, int64_t *n)
{
    int64_t m;
    if (!eddy__infer_matrices(c, i, &m, n)) return false;
    if (!eddy__dim_unify(n, m))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the matrices of input %d are %lld by %lld, "
                               "not square", i, (long long)m, (long long)*n);
    return true;
}

eddy_shape eddy__shape_matrix(eddy_shape s, int64_t m, int64_t n)
{
    if (s.rank < 2) return s;
    s.dim[s.rank - 2] = m;
    s.dim[s.rank - 1] = n;
    return s;
}

eddy_shape eddy__shape_less(eddy_shape s, int gone)
{
    if (s.rank >= gone) s.rank -= gone;
    return s;
}

bool eddy__infer_system(eddy_infer *c, eddy_shape *y)
{
    int64_t n, m, k;
    char    a[128], b[128];
    if (!eddy__infer_square(c, 0, &n) ||
        !eddy__infer_matrices(c, 1, &m, &k))
        return false;
    if (!eddy__dim_unify(&n, m))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the number of rows is %lld in the matrices and "
                               "%lld in the right-hand sides; expected equal numbers",
                               (long long)n, (long long)m);
    *y = EDDY_UNKNOWN_SHAPE;
    if (c->in[0].shape.rank < 0 || c->in[1].shape.rank < 0) return true;
    const eddy_shape s = eddy__shape_less(c->in[0].shape, 2),
                     t = eddy__shape_less(c->in[1].shape, 2);
    if (!eddy_shape_broadcast(s, t, y))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "the leading dimensions %s and %s do not broadcast",
                               eddy_shape_print(s, a, sizeof a), eddy_shape_print(t, b, sizeof b));
    y->rank += 2;
    *y = eddy__shape_matrix(*y, n, k);
    return true;
}

bool eddy__infer_square_as_is(eddy_infer *c)
{
    int64_t n;
    return eddy__infer_square(c, 0, &n) &&
        eddy__infer_yield(c, 0, c->in[0].dtype, eddy__shape_matrix(c->in[0].shape, n, n));
}

void *eddy__matrix_of(const eddy_buffer *b, int64_t i)
{
    const eddy_shape s = b->type.shape;
    return (char *)b->data + i * eddy__rows_of(s) * eddy__columns_of(s) *
                                 (int64_t)eddy_dtype_size(b->type.dtype);
}

void *eddy__vector_of(const eddy_buffer *b, int64_t i)
{
    const eddy_shape s = b->type.shape;
    return (char *)b->data + i * s.dim[s.rank - 1] * (int64_t)eddy_dtype_size(b->type.dtype);
}

void eddy__fill_identity(eddy_dtype d, int64_t n, void *y)
{
    const size_t size = eddy_dtype_size(d);
    memset(y, 0, (size_t)(n * n) * size);
    for (int64_t i = 0; i < n; i++) {
        char *at = (char *)y + (size_t)(i * (n + 1)) * size;
        if (eddy_dtype_real(d) == EDDY_FLOAT32) *(float *)(void *)at = 1;
        else *(double *)(void *)at = 1;
    }
}

static void conjugate_all(eddy_dtype d, int64_t n, void *y)
{
    const size_t size = eddy_dtype_size(d);
    for (int64_t i = 0; i < n; i++) {
        char *imag = (char *)y + (size_t)i * size + size / 2;
        if (d == EDDY_COMPLEX64) *(float *)(void *)imag *= -1;
        else *(double *)(void *)imag *= -1;
    }
}

void eddy__turn_matrix(const eddy_kernel *k, eddy_dtype d, bool conjugate, int64_t m, int64_t n,
                       const void *x, void *y)
{
    const size_t  size = eddy_dtype_size(d);
    const int64_t most = (eddy__turns_per_look(m) + TURNED - 1) / TURNED * TURNED;
    for (int64_t i = 0; i < n && m > 0 && !eddy__stopped(k->stop); i += most) {
        const int64_t rows = n - i < most ? n - i : most;
        char         *to = (char *)y + (size_t)(i * m) * size;
        eddy_box      b = { .rank = 0 };
        eddy__box_add(&b, rows, m, 1);
        eddy__box_add(&b, m, 1, n);
        eddy__box_copy(&b, size, to, (const char *)x + (size_t)i * size);
        if (conjugate && eddy_dtype_is_complex(d)) conjugate_all(d, rows * m, to);
    }
}

bool eddy__numbers_are_finite(eddy_dtype d, int64_t n, const void *x)
{
    const int64_t parts = eddy_dtype_is_complex(d) ? 2 * n : n;
    double bad = 0;                    /* a sum of zeros and NaNs */
    if (eddy_dtype_real(d) == EDDY_FLOAT32)
        for (int64_t i = 0; i < parts; i++) bad += (double)((const float *)x)[i] * 0;
    else
        for (int64_t i = 0; i < parts; i++) bad += ((const double *)x)[i] * 0;
    return bad == 0;
}

void eddy__fill_nan(eddy_dtype d, int64_t n, void *y)
{
    const int64_t parts = eddy_dtype_is_complex(d) ? 2 * n : n;
    for (int64_t i = 0; i < parts; i++) {
        if (eddy_dtype_real(d) == EDDY_FLOAT32) ((float *)y)[i] = NAN;
        else ((double *)y)[i] = (double)NAN;
    }
}

void eddy__matrix_product(const eddy_kernel *k, eddy_dtype d, int64_t m, int64_t n, int64_t depth,
                          const void *a, const void *b, void *c)
{
    eddy_product p = eddy__product_of(d, false, false, m, n, depth);
    p.a = a;
    p.b = b;
    p.y = c;
    eddy__product_run(k, &p);
}
