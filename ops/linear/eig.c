/* eig.c -- eigendecomposition of general square matrices (eig, eigvals); the results are
 * complex. */
#include "ops/arrays/gradient_terms.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/libraries/lapack.h"
#include "ops/linear/linear.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

typedef struct eig_attrs {
    bool compute_v;
} eig_attrs;

/* Without eigenvectors the second output is empty, as that of eddy_op_eigh. */
static bool eig_infer(eddy_infer *c)
{
    const eig_attrs *a = c->attrs;
    const eddy_type  x = c->in[0];
    int64_t n;
    if (!eddy__infer_square(c, 0, &n)) return false;
    eddy_shape e = eddy__shape_less(x.shape, 1);
    if (e.rank > 0) e.dim[e.rank - 1] = n;
    return eddy__infer_yield(c, 0, x.dtype, e) &&
           eddy__infer_yield(c, 1, x.dtype,
                             a->compute_v ? eddy__shape_matrix(x.shape, n, n) : EDDY_SHAPE(0));
}

typedef struct eig_sizes {
    eddy_dtype d;
    int64_t    n, v, work, bytes;        /* offsets in scratch memory; work size */
} eig_sizes;

static eig_sizes sizes_of(const eddy_kernel *k)
{
    const eig_attrs *a = k->attrs;
    eig_sizes z = { .d = k->in[0]->type.dtype, .n = eddy__rows_of(k->in[0]->type.shape) };
    z.v = (z.n * z.n * (int64_t)eddy_dtype_size(z.d) + 63) / 64 * 64;
    z.work = a->compute_v ? 2 * z.v : z.v;
    z.bytes = z.n > 0 ? eddy__lapack_eig_work(z.d, a->compute_v, z.n) : 0;
    return z;
}

static bool eig_one(const eddy_kernel *k, int64_t i, char *scratch)
{
    const eig_attrs *a = k->attrs;
    const eig_sizes  z = sizes_of(k);
    const void *x = eddy__matrix_of(k->in[0], i);
    void *values = eddy__vector_of(k->out[0], i), *v = a->compute_v ? scratch + z.v : NULL;
    memcpy(scratch, x, (size_t)(z.n * z.n) * eddy_dtype_size(z.d));
    const bool good = eddy__numbers_are_finite(z.d, z.n * z.n, x) &&
                      eddy__lapack_eig(z.d, z.n, scratch, values, v, scratch + z.work);
    if (!good) eddy__fill_nan(z.d, z.n, values);
    if (!good && v) eddy__fill_nan(z.d, z.n * z.n, v);
    if (v) eddy__turn_matrix(k, z.d, good, z.n, z.n, v, eddy__matrix_of(k->out[1], i));
    return true;
}

static double eig_flops_of(const eig_attrs *a, eddy_shape x)
{
    const double n = (double)eddy__rows_of(x);
    return (a->compute_v ? 25 : 10) * n * n * n;
}

static eddy_status eig_prepare(eddy_kernel *k)
{
    const eddy_shape x = k->in[0]->type.shape;
    const eig_sizes  z = k->in[0]->count > 0 ? sizes_of(k) : (eig_sizes){ .n = 0 };
    eddy__long_matrix_scratch(k, z.work + z.bytes, eddy__matrices_of(x),
                              eig_flops_of(k->attrs, x));
    return EDDY_OK;
}

static eddy_status eig_kernel(eddy_kernel *k)
{
    const eddy_shape x = k->in[0]->type.shape;
    if (k->in[0]->count == 0) return EDDY_OK;
    return eddy__each_long_matrix(k, eddy__matrices_of(x), eig_flops_of(k->attrs, x), eig_one,
                                  NULL);
}

static double eig_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)n_in, (void)out;
    return (double)eddy__matrices_of(in->shape) * eig_flops_of(attrs, in->shape);
}

/* v'^-1 (diag(de) + conj(f) (v' dv - v' v diag(re))) v' with f[i,j] = 1 / (e[j] - e[i]) and re
 * the real parts of the diagonal of v' dv. */
static void eig_gradient(eddy_rule *r)
{
    const eig_attrs  *a = r->attrs;
    const eddy_tensor both = a->compute_v ? r->y[0] : eddy_eig(r->x[0]);
    const eddy_tensor v = eddy_output(both, 1);
    eddy_tensor inner = eddy_matrix_diag(r->dy[0]);
    if (a->compute_v && eddy__has_gradient(r->dy[1])) {
        const eddy_tensor turn = eddy__adjoint_times(v, r->dy[1]);
        const eddy_tensor length = CastLike(Real(eddy_matrix_diag_part(turn)), turn);
        const eddy_tensor along = Mul(eddy__adjoint_times(v, v), ExpandDims(length, -2));
        inner = Add(inner, Mul(Conj(eddy__inverse_gaps(both)), Sub(turn, along)));
    }
    r->dx[0] = eddy_solve(v, eddy__times_adjoint(inner, v), .adjoint = true);
}

/* Without eigenvectors, one output has no axis of examples. */
static void eig_batch(eddy_batch *b)
{
    const eddy_tensor empty = { .graph = b->graph, .node = b->node->id, .output = 1 };
    const eig_attrs  *a = b->attrs;
    b->y[0] = eddy_apply1(b->node->op, a, b->x[0]);
    b->y[1] = a->compute_v ? eddy_output(b->y[0], 1) : eddy_batch_like(empty, b->examples);
}

const eddy_op_def eddy_op_eig = {
    .name = "Eig", .min_inputs = 1, .max_inputs = 1, .outputs = 2, .flags = EDDY_OP_LAPACK,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_COMPLEX | EDDY_RANK_FROM(2) }),
    .attrs_size = sizeof(eig_attrs), .attrs = EDDY_ATTRS(eig_attrs, compute_v),
    .infer = eig_infer, .prepare = eig_prepare, .kernel = eig_kernel,
    .gradient = eig_gradient, .batch = eig_batch, .flops = eig_flops,
};

/* Converts real to complex numbers. */
static eddy_tensor of_complex(eddy_tensor x)
{
    const eddy_dtype d = eddy_dtype_of(x);
    if (d == EDDY_FLOAT32) return Cast(x, EDDY_COMPLEX64);
    return d == EDDY_FLOAT64 ? Cast(x, EDDY_COMPLEX128) : x;
}

/** y[0] = the eigenvalues e of x, in no particular order; y[1] = v, with the eigenvectors as
 *  columns.
 *
 *  x  float32, float64, complex64 or complex128, [...,n,n]; e is [...,n] and v is [...,n,n], of
 *     the complex type of the same precision
 *
 *  x v = v diag(e).  Each eigenvector has norm 1 and an arbitrary phase.  Returns output 0;
 *  eddy_output(y, 1) is v.  Both outputs are NaN for a matrix with a non-finite element, or if
 *  the algorithm does not converge.  For Hermitian matrices, eddy_eigh is faster and more
 *  accurate.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE for a rank below 2 or
 *  non-square matrices.
 *  Gradient: dx = v'^-1 (diag(de) + conj(f) (v' dv - v' v diag(re))) v' with ' the adjoint,
 *  f[i,j] = 1 / (e[j] - e[i]), 0 for equal eigenvalues, and re the real parts of the diagonal of
 *  v' dv; correct for functions that do not depend on the phases.  Fails at run time unless there
 *  are n independent eigenvectors.  TensorFlow: Eig. */
eddy_tensor eddy_eig(eddy_tensor x)
{
    return eddy_apply1(&eddy_op_eig, &(eig_attrs){ true }, of_complex(x));
}

/** y = the eigenvalues of x, in no particular order: complex, [...,n].
 *
 *  x  as for eddy_eig
 *
 *  Errors: as for eddy_eig.
 *  Gradient: dx = v'^-1 diag(dy) v' with v the eigenvectors.  TensorFlow: tf.linalg.eigvals. */
eddy_tensor eddy_eigvals(eddy_tensor x)
{
    return eddy_apply1(&eddy_op_eig, &(eig_attrs){ false }, of_complex(x));
}
