/* qr.c -- QR decomposition: an orthogonal and an upper triangular factor. */
#include "ops/arrays/arrays.h"
#include "graph/base/interruptible.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/libraries/lapack_blocks.h"
#include "ops/linear/linear.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

typedef struct qr_attrs {
    bool full_matrices;
} qr_attrs;

static bool qr_infer(eddy_infer *c)
{
    const qr_attrs  *a = c->attrs;
    const eddy_shape s = c->in[0].shape;
    int64_t m, n;
    if (!eddy__infer_matrices(c, 0, &m, &n)) return false;
    const int64_t columns = a->full_matrices ? m : eddy__shorter_side(m, n);
    return eddy__infer_yield(c, 0, c->in[0].dtype, eddy__shape_matrix(s, m, columns)) &&
           eddy__infer_yield(c, 1, c->in[0].dtype, eddy__shape_matrix(s, columns, n));
}

/* The sizes of one matrix and of the scratch memory: a copy of x, the scalar factors of its
 * reflectors, and a work array. */
typedef struct qr_sizes {
    eddy_dtype d;
    int64_t    m, n, columns, reflectors, tau, work, elements;
} qr_sizes;

static qr_sizes sizes_of(const eddy_kernel *k)
{
    const eddy_shape x = k->in[0]->type.shape;
    qr_sizes z = { .d = k->in[0]->type.dtype, .m = eddy__rows_of(x), .n = eddy__columns_of(x) };
    z.columns = eddy__columns_of(k->out[0]->type.shape);
    z.reflectors = eddy__shorter_side(z.m, z.n);
    z.tau = z.m * z.n;
    z.work = z.tau + z.reflectors;
    if (z.m > 0 && z.n > 0) z.elements = eddy__blocks_qr_work(z.n, z.columns);
    return z;
}

static eddy_status qr_prepare(eddy_kernel *k)
{
    const qr_sizes z = k->in[0]->count > 0 ? sizes_of(k) : (qr_sizes){ .m = 0 };
    eddy__matrix_scratch(k, (z.work + z.elements) * (int64_t)eddy_dtype_size(z.d));
    return EDDY_OK;
}

static bool qr_one(const eddy_kernel *k, int64_t i, char *scratch)
{
    const qr_sizes z = sizes_of(k);
    const size_t size = eddy_dtype_size(z.d);
    char *q = eddy__matrix_of(k->out[0], i), *r = eddy__matrix_of(k->out[1], i);
    char *tau = scratch + (size_t)z.tau * size, *work = scratch + (size_t)z.work * size;
    if (z.reflectors == 0) {
        if (z.columns == z.m) eddy__fill_identity(z.d, z.m, q);
        return true;
    }
    eddy__copy_or_stop(k->stop, scratch, eddy__matrix_of(k->in[0], i), (size_t)(z.m * z.n) * size);
    eddy__blocks_qr(k, z.d, z.m, z.n, scratch, tau, work);
    for (int64_t row = 0; row < z.columns; row++) {
        if (row % 64 == 0 && eddy__stopped(k->stop)) return true;
        const size_t at = (size_t)(row * z.n) * size;
        const size_t before = (size_t)(row < z.n ? row : z.n) * size, all = (size_t)z.n * size;
        memset(r + at, 0, before);
        memcpy(r + at + before, scratch + at + before, all - before);
    }
    for (int64_t row = 0; row < z.m; row++) {
        if (row % 64 == 0 && eddy__stopped(k->stop)) return true;
        memcpy(q + (size_t)(row * z.columns) * size, scratch + (size_t)(row * z.n) * size,
               (size_t)z.reflectors * size);
    }
    eddy__blocks_qr_columns(k, z.d, z.m, z.columns, z.reflectors, q, tau, work);
    return true;
}

static double qr_flops_of(eddy_shape x)
{
    const double m = (double)eddy__rows_of(x), n = (double)eddy__columns_of(x);
    const double k = m < n ? m : n;
    return 4 * m * n * k - 4 * k * k * k / 3;
}

static eddy_status qr_kernel(eddy_kernel *k)
{
    const eddy_shape x = k->in[0]->type.shape;
    eddy__each_matrix(k, eddy__matrices_of(x), qr_flops_of(x), qr_one);
    return EDDY_OK;
}

static double qr_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs, (void)n_in, (void)out;
    return (double)eddy__matrices_of(in->shape) * qr_flops_of(in->shape);
}

/* The symmetric matrix with this lower triangle. */
static eddy_tensor copy_lower(eddy_tensor x)
{
    return Add(eddy_tril(x, 0), eddy_matrix_transpose(eddy_tril(x, -1)));
}

/* (dq + q s) r'^-1 with s the symmetric matrix of the lower triangle of r dr' - dq' q. */
static eddy_tensor square_gradient(eddy_tensor q, eddy_tensor r, eddy_tensor dq, eddy_tensor dr)
{
    const eddy_tensor m = Sub(eddy__times_adjoint(r, dr), eddy__adjoint_times(dq, q));
    const eddy_tensor da = Add(dq, eddy__times(q, copy_lower(m)));
    return eddy_matrix_transpose(
        eddy_triangular_solve(r, eddy_matrix_transpose(da), .upper = true));
}

/* A wide x is [a, b] with a square, and r is [u, v] with b = q v: dv adds q dv to db and b dv' to
 * dq. With e = [1, 0], the parts do not depend on sizes, and a tall x is the case e = 1. */
static void qr_gradient(eddy_rule *r)
{
    const qr_attrs   *a = r->attrs;
    const eddy_shape  s = eddy_shape_of(r->x[0]);
    const eddy_tensor q = r->y[0], y = r->y[1], dq = r->dy[0], dr = r->dy[1];
    const int64_t m = s.rank < 0 ? EDDY_ANY : eddy__rows_of(s);
    const int64_t n = s.rank < 0 ? EDDY_ANY : eddy__columns_of(s);
    if (a->full_matrices && (m < 0 || n < 0 || m > n)) {
        eddy_rule_fail(
            r, EDDY_NO_GRADIENT,
            "Qr with full_matrices requires matrices known to have no more rows than columns");
        return;
    }
    if (n >= 0 && m >= n) {
        r->dx[0] = square_gradient(q, y, dq, dr);
        return;
    }
    const eddy_tensor e = eddy__identity_like(y);
    const eddy_tensor du = eddy__times_adjoint(dr, e), dv = Sub(dr, eddy__times(du, e));
    const eddy_tensor all = Add(dq, eddy__times(q, eddy__times_adjoint(y, dv)));
    const eddy_tensor da = square_gradient(q, eddy__times_adjoint(y, e), all, du);
    r->dx[0] = Add(eddy__times(da, e), eddy__times(q, dv));
}

const eddy_op_def eddy_op_qr = {
    .name = "Qr", .min_inputs = 1, .max_inputs = 1, .outputs = 2, .flags = EDDY_OP_LAPACK,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_WIDE_FLOATS | EDDY_RANK_FROM(2) }),
    .attrs_size = sizeof(qr_attrs), .attrs = EDDY_ATTRS(qr_attrs, full_matrices),
    .infer = qr_infer, .prepare = qr_prepare, .kernel = qr_kernel, .gradient = qr_gradient,
    .batch = eddy_batch_as_is, .flops = qr_flops,
};

#ifdef EDDY_HEADER
typedef struct eddy_qr_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_qr_args));
    eddy_tensor x;
    bool        full_matrices;    /* q [...,m,m] and r [...,m,n] */
    const char *name;
} eddy_qr_args;
#endif

/** y[0] = q with orthonormal columns, and y[1] = r upper triangular, such that q r = x.
 *
 *  x              float32 or float64, [...,m,n]; q is [...,m,k] and r is [...,k,n], with k =
 *                 min(m, n)
 *  full_matrices  k is m
 *
 *  Computed by Householder reflections; the diagonal of r may be negative.  Returns output 0;
 *  eddy_output(y, 1) is r.  For an x with non-finite elements, it is unspecified which elements
 *  of q and r are NaN.
 *  Gradient: dx = (dq + q s) r'^-1 with s the symmetric matrix that has the lower triangle of r
 *  dr' - dq' q (Walter and Lehmann 2018), for wide matrices by their square part;
 *  EDDY_NO_GRADIENT with full_matrices for more rows than columns.  The first k columns of x must
 *  be linearly independent.  TensorFlow: Qr. */
eddy_tensor eddy_qr_with(const eddy_qr_args *given)
{
    eddy_qr_args a = EDDY_TAKE(eddy_qr_args, given);
    return eddy__apply_named(a.name, &eddy_op_qr, &(qr_attrs){ a.full_matrices }, 1, &a.x);
}
