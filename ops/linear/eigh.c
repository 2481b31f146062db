/* eigh.c -- eigendecomposition of symmetric and Hermitian matrices (eigh, eigvalsh). */
#include "ops/arrays/gradient_terms.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/libraries/lapack.h"
#include "ops/linear/linear.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

typedef struct eigh_attrs {
    bool compute_v;
} eigh_attrs;

/* The maximum number of rows with eigenvectors: LAPACK counts its memory, 2 n n + 6 n + 1
 * numbers, in an int. */
enum { MOST_ROWS = 32766 };

/* Without eigenvectors the second output is empty, as in TensorFlow. */
static bool eigh_infer(eddy_infer *c)
{
    const eigh_attrs *a = c->attrs;
    const eddy_shape  s = c->in[0].shape;
    int64_t    n;
    if (!eddy__infer_square(c, 0, &n)) return false;
    if (a->compute_v && n > MOST_ROWS)
        return eddy_infer_fail(c, EDDY_LIMIT,
                               "the matrix has %lld rows; the limit with eigenvectors is %d",
                               (long long)n, MOST_ROWS);
    eddy_shape e = eddy__shape_less(s, 1);
    if (e.rank > 0) e.dim[e.rank - 1] = n;
    return eddy__infer_yield(c, 0, c->in[0].dtype, e) &&
           eddy__infer_yield(c, 1, c->in[0].dtype,
                             a->compute_v ? eddy__shape_matrix(s, n, n) : EDDY_SHAPE(0));
}

typedef struct eigh_sizes {
    eddy_dtype d;
    int64_t    n, values, work, bytes;      /* offsets in scratch memory; work size */
} eigh_sizes;

static eigh_sizes sizes_of(const eddy_kernel *k)
{
    const eigh_attrs *a = k->attrs;
    eigh_sizes z = { .d = k->in[0]->type.dtype, .n = eddy__rows_of(k->in[0]->type.shape) };
    const int64_t size = (int64_t)eddy_dtype_size(z.d);
    z.values = (z.n * z.n * size + 63) / 64 * 64;
    z.work = z.values + (z.n * size + 63) / 64 * 64;
    z.bytes = z.n > 0 ? eddy__lapack_eigh_work(z.d, a->compute_v, z.n) : 0;
    return z;
}

/* Converts real values to elements of type d. */
static void store_values(eddy_dtype d, int64_t n, const void *values, void *y)
{
    const size_t size = eddy_dtype_size(d), part = eddy_dtype_size(eddy_dtype_real(d));
    for (int64_t j = 0; j < n; j++) {
        memset((char *)y + (size_t)j * size, 0, size);
        memcpy((char *)y + (size_t)j * size, (const char *)values + (size_t)j * part, part);
    }
}

static bool eigh_one(const eddy_kernel *k, int64_t i, char *scratch)
{
    const eigh_attrs *a = k->attrs;
    const eigh_sizes  z = sizes_of(k);
    const void *x = eddy__matrix_of(k->in[0], i);
    void *values = eddy__vector_of(k->out[0], i);
    void *v = a->compute_v ? eddy__matrix_of(k->out[1], i) : NULL;
    memcpy(scratch, x, (size_t)(z.n * z.n) * eddy_dtype_size(z.d));
    if (!eddy__numbers_are_finite(z.d, z.n * z.n, x) ||
        !eddy__lapack_eigh(z.d, a->compute_v, z.n, scratch, scratch + z.values, scratch + z.work)) {
        eddy__fill_nan(z.d, z.n, values);
        if (v) eddy__fill_nan(z.d, z.n * z.n, v);
        return true;
    }
    store_values(z.d, z.n, scratch + z.values, values);
    if (v) eddy__turn_matrix(k, z.d, true, z.n, z.n, scratch, v);
    return true;
}

static double eigh_flops_of(const eigh_attrs *a, eddy_shape x)
{
    const double n = (double)eddy__rows_of(x);
    return (a->compute_v ? 9 : 4.0 / 3) * n * n * n;
}

static eddy_status eigh_prepare(eddy_kernel *k)
{
    const eddy_shape x = k->in[0]->type.shape;
    const eigh_sizes z = k->in[0]->count > 0 ? sizes_of(k) : (eigh_sizes){ .n = 0 };
    eddy__long_matrix_scratch(k, z.work + z.bytes, eddy__matrices_of(x),
                              eigh_flops_of(k->attrs, x));
    return EDDY_OK;
}

static eddy_status eigh_kernel(eddy_kernel *k)
{
    const eddy_shape x = k->in[0]->type.shape;
    if (k->in[0]->count == 0) return EDDY_OK;
    return eddy__each_long_matrix(k, eddy__matrices_of(x), eigh_flops_of(k->attrs, x), eigh_one,
                                  NULL);
}

static double eigh_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)n_in, (void)out;
    return (double)eddy__matrices_of(in->shape) * eigh_flops_of(attrs, in->shape);
}

/* v (diag(de) + f v' dv) v' with f[i,j] = 1 / (e[j] - e[i]); because only the lower triangle of x
 * is read, the upper one is added to it. */
static void eigh_gradient(eddy_rule *r)
{
    const eigh_attrs *a = r->attrs;
    const bool        values_only = !a->compute_v || !eddy__has_gradient(r->dy[1]);
    const eddy_tensor both = a->compute_v ? r->y[0] : eddy_eigh(r->x[0]);
    const eddy_tensor v = eddy_output(both, 1);
    const eddy_tensor u = eddy__vectors_of_distinct(
        r, v, both, "eigh: a second derivative is not computed where eigenvalues are equal");
    eddy_tensor da = eddy__times_adjoint(Mul(u, ExpandDims(r->dy[0], -2)), u);
    if (!values_only) {
        const eddy_tensor turn = Mul(eddy__inverse_gaps(both), eddy__adjoint_times(v, r->dy[1]));
        da = Add(da, eddy__times_adjoint(eddy__times(v, turn), v));
    }
    r->dx[0] = eddy__half_triangle(Add(da, eddy_adjoint(da)));
}

/* Without eigenvectors, one output has no axis of examples. */
static void eigh_batch(eddy_batch *b)
{
    const eddy_tensor empty = { .graph = b->graph, .node = b->node->id, .output = 1 };
    const eigh_attrs *a = b->attrs;
    b->y[0] = eddy_apply1(b->node->op, a, b->x[0]);
    b->y[1] = a->compute_v ? eddy_output(b->y[0], 1) : eddy_batch_like(empty, b->examples);
}

const eddy_op_def eddy_op_eigh = {
    .name = "SelfAdjointEigV2", .min_inputs = 1, .max_inputs = 1, .outputs = 2,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_WIDE_FLOATS_COMPLEX | EDDY_RANK_FROM(2) }),
    .flags = EDDY_OP_LAPACK,
    .attrs_size = sizeof(eigh_attrs), .attrs = EDDY_ATTRS(eigh_attrs, compute_v),
    .infer = eigh_infer, .prepare = eigh_prepare, .kernel = eigh_kernel,
    .gradient = eigh_gradient, .batch = eigh_batch, .flops = eigh_flops,
};

/** y[0] = the eigenvalues e of x in ascending order; y[1] = v, with the eigenvectors as columns.
 *
 *  x  float32, float64, complex64 or complex128, [...,n,n], Hermitian; only the lower triangle is
 *     read; e is [...,n] and v is [...,n,n], of the same type
 *
 *  x v = v diag(e) and v' v = 1 with ' the adjoint.  The sign, or complex phase, of an
 *  eigenvector is arbitrary, and so is the basis for equal eigenvalues.  Returns output 0;
 *  eddy_output(y, 1) is v.  Both outputs are NaN for a matrix with a non-finite element, or if
 *  the algorithm does not converge.
 *  Errors: EDDY_BAD_SHAPE for non-square matrices; EDDY_LIMIT for an n above 32766.
 *  Gradient: dx = v (diag(de) + f v' dv) v' with f[i,j] = 1 / (e[j] - e[i]), 0 for equal
 *  eigenvalues (Giles 2008), accumulated in the lower triangle.  The second derivative of a
 *  nonlinear function of equal eigenvalues fails at run time, EDDY_CHECK_FAILED: it would need the
 *  derivative of that function.  TensorFlow: SelfAdjointEigV2. */
eddy_tensor eddy_eigh(eddy_tensor x)
{
    return eddy_apply1(&eddy_op_eigh, &(eigh_attrs){ true }, x);
}

/** y = the eigenvalues of x in ascending order.
 *
 *  x  float32, float64, complex64 or complex128, [...,n,n], Hermitian; only the lower triangle is
 *     read; y is [...,n] of the same type
 *
 *  NaN for a matrix with a non-finite element.
 *  Errors: as for eddy_eigh.
 *  Gradient: dx = v diag(dy) v' with v the eigenvectors, accumulated in the lower triangle; also
 *  correct for equal eigenvalues; the second derivative as for eddy_eigh.
 *  TensorFlow: tf.linalg.eigvalsh. */
eddy_tensor eddy_eigvalsh(eddy_tensor x)
{
    return eddy_apply1(&eddy_op_eigh, &(eigh_attrs){ false }, x);
}
