/* svd.c -- singular value decomposition (SVD), and the pseudo-inverse. */
#include "graph/internal.h"
#include "ops/arrays/gradient_terms.h"
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/libraries/lapack.h"
#include "ops/kernels/libraries/lapack_blocks.h"
#include "ops/linear/linear.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <math.h>
#include <string.h>

/* The parts of a worker's memory: a copy of x, s, u, the transpose of v, and LAPACK's work
 * array. */
typedef struct svd_parts {
    eddy_svd p;
    int64_t  k, s, u, vt, work, bytes;
} svd_parts;

static svd_parts parts_of(eddy_dtype d, bool vectors, bool full, eddy_shape x)
{
    svd_parts z = { .p = { d, vectors, full, eddy__rows_of(x), eddy__columns_of(x) } };
    const int64_t size = (int64_t)eddy_dtype_size(d), m = z.p.m, n = z.p.n;
    z.k = eddy__shorter_side(m, n);
    z.s = (m * n * size + 63) / 64 * 64;
    z.u = z.s + (z.k * size + 63) / 64 * 64;
    z.vt = z.u + (vectors ? m * (full ? m : z.k) * size + 63 : 0) / 64 * 64;
    z.work = z.vt + (vectors ? n * (full ? n : z.k) * size + 63 : 0) / 64 * 64;
    if (z.k > 0) z.bytes = eddy__lapack_svd_work(&z.p);
    return z;
}

static double flops_of(bool vectors, eddy_shape x)
{
    const double m = (double)eddy__rows_of(x), n = (double)eddy__columns_of(x);
    const double k = m < n ? m : n;
    return (vectors ? 14 : 4) * m * n * k;
}

/* The maximum number of singular values with singular vectors: LAPACK counts its memory, 4 k k +
 * 7 k numbers, in an int. */
enum { MOST_VALUES = 23169 };

static bool few_enough(eddy_infer *c, bool vectors, int64_t k)
{
    return !vectors || k <= MOST_VALUES ||
           eddy_infer_fail(c, EDDY_LIMIT,
                           "%lld singular values; the limit with singular vectors is %d",
                           (long long)k, MOST_VALUES);
}

/* ------------------------------------------------------------------- svd -- */

typedef struct svd_attrs {
    bool compute_uv, full_matrices;
} svd_attrs;

/* Without singular vectors their outputs are empty, as in TensorFlow. */
static bool svd_infer(eddy_infer *c)
{
    const svd_attrs *a = c->attrs;
    const eddy_dtype d = c->in[0].dtype;
    int64_t    m, n;
    if (!eddy__infer_matrices(c, 0, &m, &n)) return false;
    const int64_t    k = eddy__shorter_side(m, n);
    if (!few_enough(c, a->compute_uv, k)) return false;
    const eddy_shape x = c->in[0].shape;
    eddy_shape u = EDDY_SHAPE(0), v = u, s = eddy__shape_less(x, 1);
    if (s.rank > 0) s.dim[s.rank - 1] = k;
    if (a->compute_uv) {
        u = eddy__shape_matrix(x, m, a->full_matrices ? m : k);
        v = eddy__shape_matrix(x, n, a->full_matrices ? n : k);
    }
    return eddy__infer_yield(c, 0, d, s) && eddy__infer_yield(c, 1, d, u) &&
           eddy__infer_yield(c, 2, d, v);
}

static svd_parts svd_parts_of(const eddy_kernel *k)
{
    const svd_attrs *a = k->attrs;
    return parts_of(k->in[0]->type.dtype, a->compute_uv, a->full_matrices, k->in[0]->type.shape);
}

static eddy_status svd_prepare(eddy_kernel *k)
{
    const svd_parts z = k->in[0]->count > 0 ? svd_parts_of(k) : (svd_parts){ .k = 0 };
    eddy__long_matrix_scratch(k, z.work + z.bytes, eddy__matrices_of(k->in[0]->type.shape),
                              flops_of(z.p.vectors, k->in[0]->type.shape));
    return EDDY_OK;
}

/* For a matrix without singular values, with a non-finite element, or without convergence. */
static void svd_of_none(const svd_parts *z, void *s, void *u, void *v)
{
    const eddy_dtype d = z->p.dtype;
    eddy__fill_nan(d, z->k, s);
    if (!z->p.vectors) return;
    if (z->k > 0) {
        eddy__fill_nan(d, z->p.m * (z->p.full ? z->p.m : z->k), u);
        eddy__fill_nan(d, z->p.n * (z->p.full ? z->p.n : z->k), v);
    } else if (z->p.full) {
        eddy__fill_identity(d, z->p.m, u);
        eddy__fill_identity(d, z->p.n, v);
    }
}

static bool svd_one(const eddy_kernel *k, int64_t i, char *scratch)
{
    const svd_parts z = svd_parts_of(k);
    const eddy_dtype d = z.p.dtype;
    const int64_t count = z.p.m * z.p.n;
    const void *x = eddy__matrix_of(k->in[0], i);
    void *s = eddy__vector_of(k->out[0], i);
    void *u = z.p.vectors ? eddy__matrix_of(k->out[1], i) : NULL;
    void *v = z.p.vectors ? eddy__matrix_of(k->out[2], i) : NULL;
    if (z.k == 0 || !eddy__numbers_are_finite(d, count, x)) {
        svd_of_none(&z, s, u, v);
        return true;
    }
    memcpy(scratch, x, (size_t)count * eddy_dtype_size(d));
    if (!eddy__lapack_svd(&z.p, scratch, s, u, scratch + z.vt, scratch + z.work, z.bytes))
        svd_of_none(&z, s, u, v);
    else if (v) eddy__turn_matrix(k, d, false, z.p.full ? z.p.n : z.k, z.p.n, scratch + z.vt, v);
    return true;
}

static eddy_status svd_kernel(eddy_kernel *k)
{
    const svd_attrs *a = k->attrs;
    const eddy_shape x = k->in[0]->type.shape;
    return eddy__each_long_matrix(k, eddy__matrices_of(x), flops_of(a->compute_uv, x), svd_one,
                                  NULL);
}

static double svd_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    const svd_attrs *a = attrs;
    (void)n_in, (void)out;
    return (double)eddy__matrices_of(in->shape) * flops_of(a->compute_uv, in->shape);
}

/* du v' / s without its component in the column space of u. */
static eddy_tensor outward(eddy_tensor u, eddy_tensor du, eddy_tensor inverse)
{
    const eddy_tensor out = Sub(du, eddy__times(u, eddy__adjoint_times(u, du)));
    return Mul(out, inverse);
}

/* With a = u'du - du'u, b = v'dv - dv'v, f[i,j] = 1 / (s[j] - s[i]), 0 for equal values, and g[i,j]
 * = 1 / (s[i] + s[j]): u (f (a + b) + g (a - b)) v' / 2 + (1 - u u') du s^-1 v' + u s^-1 dv'
 * (1 - v v'). Townsend divides a s + s b by s[j]^2 - s[i]^2, which leaves nothing of g for equal
 * values. */
static eddy_tensor vectors_gradient(eddy_tensor s, eddy_tensor u, eddy_tensor v, eddy_tensor du,
                                    eddy_tensor dv)
{
    const eddy_tensor row = ExpandDims(s, -2), column = ExpandDims(s, -1);
    const eddy_tensor in_u = eddy__adjoint_times(u, du), in_v = eddy__adjoint_times(v, dv);
    const eddy_tensor a = Sub(in_u, eddy_matrix_transpose(in_u));
    const eddy_tensor b = Sub(in_v, eddy_matrix_transpose(in_v));
    const eddy_tensor middle = Mul(0.5, Add(Mul(eddy__inverse_gaps(s), Add(a, b)),
                                            Mul(DivNoNan(1, Add(row, column)), Sub(a, b))));
    const eddy_tensor inverse = DivNoNan(1, row);
    return Add(eddy__times_adjoint(Add(eddy__times(u, middle), outward(u, du, inverse)), v),
               eddy__times_adjoint(u, outward(v, dv, inverse)));
}

static void svd_gradient(eddy_rule *r)
{
    const svd_attrs *a = r->attrs;
    const eddy_shape x = eddy_shape_of(r->x[0]);
    const bool square = x.rank >= 2 && eddy__rows_of(x) >= 0 &&
                        eddy__rows_of(x) == eddy__columns_of(x);
    const bool values_only = !a->compute_uv ||
                             (!eddy__has_gradient(r->dy[1]) && !eddy__has_gradient(r->dy[2]));
    if (a->compute_uv && a->full_matrices && !square && !values_only) {
        eddy_rule_fail(r, EDDY_NO_GRADIENT,
                       "Svd with full_matrices requires matrices known to be square");
        return;
    }
    const bool        thin = a->compute_uv && (!a->full_matrices || square);
    const eddy_tensor all = thin ? r->y[0] : eddy_svd(r->x[0]);
    const eddy_tensor u = eddy_output(all, 1), v = eddy_output(all, 2);
    const eddy_tensor left = eddy__vectors_of_distinct(
        r, u, all, "svd: a second derivative is not computed where singular values are equal");
    const eddy_tensor ds = eddy__times_adjoint(Mul(left, ExpandDims(r->dy[0], -2)), v);
    r->dx[0] = values_only ? ds
                           : Add(ds, vectors_gradient(all, u, v, r->dy[1], r->dy[2]));
}

/* Without singular vectors, two outputs have no axis of examples. */
static void svd_batch(eddy_batch *b)
{
    const eddy_tensor y = eddy_apply1(b->node->op, b->attrs, b->x[0]);
    const svd_attrs  *a = b->attrs;
    b->y[0] = y;
    for (int i = 1; i < 3; i++)
        b->y[i] = a->compute_uv ? eddy_output(y, i)
                                : eddy_batch_like(eddy__tensor_at(b->graph, b->node->id, i),
                                                  b->examples);
}

const eddy_op_def eddy_op_svd = {
    .name = "Svd", .min_inputs = 1, .max_inputs = 1, .outputs = 3, .flags = EDDY_OP_LAPACK,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_WIDE_FLOATS | EDDY_RANK_FROM(2) }),
    .attrs_size = sizeof(svd_attrs), .attrs = EDDY_ATTRS(svd_attrs, compute_uv, full_matrices),
    .infer = svd_infer, .prepare = svd_prepare, .kernel = svd_kernel, .gradient = svd_gradient,
    .batch = svd_batch, .flops = svd_flops,
};

#ifdef EDDY_HEADER
typedef struct eddy_svd_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_svd_args));
    eddy_tensor x;
    bool        full_matrices;    /* u [...,m,m] and v [...,n,n] */
    bool        no_uv;            /* only the values; u and v are empty */
    const char *name;
} eddy_svd_args;
#endif

/** y[0] = the singular values s of x in descending order, y[1] = u and y[2] = v, such that x = u
 *  diag(s) v'.
 *
 *  x              float32 or float64, [...,m,n]; s is [...,k], u is [...,m,k] and v is [...,n,k],
 *                 with k = min(m, n)
 *  full_matrices  u is [...,m,m] and v is [...,n,n]
 *  no_uv          u and v are [0]; TensorFlow's compute_uv = False
 *
 *  The columns of u and v are orthonormal.  The common sign of a pair of columns is arbitrary,
 *  and so is the basis for equal singular values.  Returns output 0; eddy_output(y, 1) is u.  All
 *  outputs are NaN for a matrix with a non-finite element, or if the algorithm does not converge.
 *  Errors: EDDY_LIMIT for singular vectors with k above 23169.
 *  Gradient: dx = u diag(ds) v' for the singular values, and the rule of Townsend (2016) for the
 *  singular vectors, with 0 where it divides by the difference of equal values or by a value of
 *  0; EDDY_NO_GRADIENT for the vectors with full_matrices unless x is square.  The second
 *  derivative of a nonlinear function of equal singular values fails at run time,
 *  EDDY_CHECK_FAILED.  TensorFlow: Svd. */
eddy_tensor eddy_svd_with(const eddy_svd_args *given)
{
    eddy_svd_args a = EDDY_TAKE(eddy_svd_args, given);
    return eddy__apply_named(a.name, &eddy_op_svd, &(svd_attrs){ !a.no_uv, a.full_matrices }, 1,
                             &a.x);
}

/* ------------------------------------------------------------------ pinv -- */

typedef struct pinv_attrs {
    double rcond;
} pinv_attrs;

static bool pinv_infer(eddy_infer *c)
{
    const pinv_attrs *a = c->attrs;
    int64_t m, n;
    if (!eddy__infer_matrices(c, 0, &m, &n)) return false;
    if (!(a->rcond >= 0))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "rcond is %g; it must not be negative",
                               a->rcond);
    return few_enough(c, true, eddy__shorter_side(m, n)) &&
        eddy__infer_yield(c, 0, c->in[0].dtype, eddy__shape_matrix(c->in[0].shape, n, m));
}

static svd_parts pinv_parts_of(const eddy_kernel *k)
{
    return parts_of(k->in[0]->type.dtype, true, false, k->in[0]->type.shape);
}

static eddy_status pinv_prepare(eddy_kernel *k)
{
    const svd_parts z = k->in[0]->count > 0 ? pinv_parts_of(k) : (svd_parts){ .k = 0 };
    const int64_t   size = (int64_t)eddy_dtype_size(z.p.dtype);
    eddy__long_matrix_scratch(k, z.work + z.bytes + (z.p.n + z.p.m) * z.k * size,
                              eddy__matrices_of(k->in[0]->type.shape),
                              flops_of(true, k->in[0]->type.shape));
    return EDDY_OK;
}

/* Row j of x [k,n] over s[j], or 0 if s[j] counts as 0. */
static void divide_rows(const svd_parts *z, double rcond, const void *s, void *x)
{
    const eddy_dtype d = z->p.dtype;
    const double epsilon = eddy__dtype_epsilon(d);
    const double     largest = eddy__float_at(d, s, 0),
                 size = (double)(z->p.m > z->p.n ? z->p.m : z->p.n);
    const double limit = largest * (rcond != 0 || signbit(rcond) ? rcond : 10 * size * epsilon);
    for (int64_t j = 0; j < z->k; j++) {
        const double value = eddy__float_at(d, s, j), factor = value > limit ? 1 / value : 0;
        for (int64_t i = 0; i < z->p.n; i++) {
            if (d == EDDY_FLOAT32) ((float *)x)[j * z->p.n + i] *= (float)factor;
            else ((double *)x)[j * z->p.n + i] *= factor;
        }
    }
}

/* y [n,m] = v diag(1/s) u'. */
static bool pinv_one(const eddy_kernel *k, int64_t i, char *scratch)
{
    const pinv_attrs *a = k->attrs;
    const svd_parts  z = pinv_parts_of(k);
    const eddy_dtype d = z.p.dtype;
    const int64_t m = z.p.m, n = z.p.n, size = (int64_t)eddy_dtype_size(d);
    const void *x = eddy__matrix_of(k->in[0], i);
    void *y = eddy__matrix_of(k->out[0], i);
    char *v = scratch + z.work + z.bytes, *ut = v + n * z.k * size;
    if (z.k == 0) return true;
    memcpy(scratch, x, (size_t)(m * n * size));
    if (!eddy__numbers_are_finite(d, m * n, x) ||
        !eddy__lapack_svd(&z.p, scratch, scratch + z.s, scratch + z.u, scratch + z.vt,
                          scratch + z.work, z.bytes)) {
        eddy__fill_nan(d, m * n, y);
        return true;
    }
    divide_rows(&z, a->rcond, scratch + z.s, scratch + z.vt);
    eddy__turn_matrix(k, d, false, z.k, n, scratch + z.vt, v);
    eddy__turn_matrix(k, d, false, m, z.k, scratch + z.u, ut);
    eddy__matrix_product(k, d, n, m, z.k, v, ut, y);
    return true;
}

static eddy_status pinv_kernel(eddy_kernel *k)
{
    const eddy_shape x = k->in[0]->type.shape;
    if (k->out[0]->count == 0) return EDDY_OK;
    return eddy__each_long_matrix(k, eddy__matrices_of(x), flops_of(true, x), pinv_one, NULL);
}

static double pinv_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs, (void)n_in, (void)out;
    return (double)eddy__matrices_of(in->shape) * flops_of(true, in->shape);
}

/* -y' dy y' + (1 - x y) dy' y y' + y' y dy' (1 - y x): Golub and Pereyra. */
static void pinv_gradient(eddy_rule *r)
{
    const eddy_tensor x = r->x[0], y = r->y[0], dy = r->dy[0];
    const eddy_tensor first = eddy__adjoint_times(y, eddy__times_adjoint(dy, y));
    const eddy_tensor left = eddy__times(eddy__adjoint_times(dy, y), eddy_matrix_transpose(y));
    const eddy_tensor right = eddy__times(eddy_matrix_transpose(y), eddy__times_adjoint(y, dy));
    r->dx[0] = Sub(Add(Sub(left, eddy__times(x, eddy__times(y, left))),
                       Sub(right, eddy__times(eddy__times(right, y), x))), first);
}

const eddy_op_def eddy_op_pinv = {
    .name = "MatrixPseudoInverse", .label = "pinv", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_WIDE_FLOATS | EDDY_RANK_FROM(2) }),
    .flags = EDDY_OP_LAPACK,
    .attrs_size = sizeof(pinv_attrs), .attrs = EDDY_ATTRS(pinv_attrs, rcond),
    .infer = pinv_infer, .prepare = pinv_prepare, .kernel = pinv_kernel,
    .gradient = pinv_gradient, .batch = eddy_batch_as_is, .flops = pinv_flops,
};

#ifdef EDDY_HEADER
typedef struct eddy_pinv_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_pinv_args));
    eddy_tensor x;
    double      rcond EDDY_DEFAULT(EDDY_OMITTED); /* default 10 max(m, n) epsilon */
    const char *name;
} eddy_pinv_args;
#endif

/** y = the Moore-Penrose pseudo-inverse of each matrix of x.
 *
 *  x      float32 or float64, [...,m,n]; y is [...,n,m]
 *  rcond  singular values of at most rcond times the largest count as 0; default 10 max(m, n)
 *         epsilon, with epsilon that of the element type
 *
 *  NaN for a matrix with a non-finite element.
 *  Errors: EDDY_INVALID_ARGUMENT for a negative rcond, EDDY_LIMIT if both m and n are above
 *  23169.
 *  Gradient: dx = -y' dy y' + (1 - x y) dy' y y' + y' y dy' (1 - y x) (Golub and Pereyra 1973),
 *  valid where the rank is constant.  TensorFlow: tf.linalg.pinv. */
eddy_tensor eddy_pinv_with(const eddy_pinv_args *given)
{
    eddy_pinv_args a = EDDY_TAKE(eddy_pinv_args, given);
    return eddy__apply_named(a.name, &eddy_op_pinv,
                             &(pinv_attrs){ eddy__attribute_number(a.rcond) }, 1, &a.x);
}
