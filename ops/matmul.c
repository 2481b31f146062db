/* matmul.c -- the matrix product (OpenBLAS), and adding a bias. */
#include "ops/rows.h"

#include <cblas.h>
#include <limits.h>
#include <string.h>

#ifdef EDDY_HEADER
typedef struct eddy_matmul_args {
    char        unused_;
    eddy_tensor a, b;             /* [m,k] and [k,n], or transposed as said below */
    bool        transpose_a;
    bool        transpose_b;
    const char *name;
} eddy_matmul_args;
#endif

typedef struct matmul_attrs {
    bool transpose_a, transpose_b;
} matmul_attrs;
static const eddy_attr_field matmul_fields[] = {
    { "transpose_a", EDDY_ATTR_BOOL, offsetof(matmul_attrs, transpose_a) },
    { "transpose_b", EDDY_ATTR_BOOL, offsetof(matmul_attrs, transpose_b) },
    { 0 },
};

static bool matmul_infer(eddy_infer *c)
{
    const matmul_attrs *t = c->attrs;
    eddy_shape a = c->in[0].shape, b = c->in[1].shape;
    eddy_dtype d = c->in[0].dtype;
    if (d != c->in[1].dtype)
        return eddy_infer_fail(c, EDDY_BAD_DTYPE, "element types %s and %s differ; cast one",
                               eddy_dtype_name(d), eddy_dtype_name(c->in[1].dtype));
    if (d != EDDY_FLOAT32 && d != EDDY_FLOAT64 && d != EDDY_INT32 && d != EDDY_INT64)
        return eddy_infer_fail(c, EDDY_BAD_DTYPE, "not defined for %s", eddy_dtype_name(d));
    if ((a.rank >= 0 && a.rank != 2) || (b.rank >= 0 && b.rank != 2))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "both inputs must be matrices");
    int64_t m = a.rank < 0 ? EDDY_ANY : a.dim[t->transpose_a],
            k = a.rank < 0 ? EDDY_ANY : a.dim[!t->transpose_a];
    int64_t l = b.rank < 0 ? EDDY_ANY : b.dim[t->transpose_b],
            n = b.rank < 0 ? EDDY_ANY : b.dim[!t->transpose_b];
    if (k >= 0 && l >= 0 && k != l)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "inner sizes %lld and %lld differ", (long long)k,
                               (long long)l);
    c->out[0] = (eddy_type){ d, EDDY_SHAPE(m, n) };
    return true;
}

/* BLAS counts in int; beyond it, and for integers, a plain blocked loop. */
#define PLAIN_PRODUCT(fn, T)                                                    \
    static void fn(T *y, const T *a, const T *b, int64_t m, int64_t n, int64_t k, \
                   int64_t ai, int64_t ak, int64_t bk, int64_t bj)              \
    {                                                                           \
        for (int64_t i = 0; i < m; i++) {                                       \
            T *row = y + i * n;                                                 \
            for (int64_t j = 0; j < n; j++) row[j] = 0;                         \
            for (int64_t p = 0; p < k; p++) {                                   \
                T v = a[i * ai + p * ak];                                       \
                for (int64_t j = 0; j < n; j++) row[j] += v * b[p * bk + j * bj]; \
            }                                                                   \
        }                                                                       \
    }
PLAIN_PRODUCT(product_i32, int32_t)
PLAIN_PRODUCT(product_i64, int64_t)
PLAIN_PRODUCT(product_f32, float)
PLAIN_PRODUCT(product_f64, double)

static eddy_status matmul_kernel(eddy_kernel *k)
{
    const matmul_attrs *t = k->attrs;
    const int64_t *da = k->in[0]->type.shape.dim, *db = k->in[1]->type.shape.dim;
    int64_t m = da[t->transpose_a], inner = da[!t->transpose_a], n = db[!t->transpose_b];
    eddy_buffer *y = k->out[0];
    eddy_dtype   d = y->type.dtype;
    if (y->count == 0) return EDDY_OK;
    if (inner == 0) {
        memset(y->data, 0, (size_t)y->count * eddy_dtype_size(d));
        return EDDY_OK;
    }
    CBLAS_TRANSPOSE ta = t->transpose_a ? CblasTrans : CblasNoTrans,
                    tb = t->transpose_b ? CblasTrans : CblasNoTrans;
    bool blas = m <= INT_MAX && n <= INT_MAX && inner <= INT_MAX;
    int64_t ai = t->transpose_a ? 1 : inner, ak = t->transpose_a ? m : 1;
    int64_t bk = t->transpose_b ? 1 : n, bj = t->transpose_b ? inner : 1;
    const void *a = k->in[0]->data, *b = k->in[1]->data;
    if (d == EDDY_FLOAT32 && blas)
        cblas_sgemm(CblasRowMajor, ta, tb, (int)m, (int)n, (int)inner, 1, a, (int)da[1], b,
                    (int)db[1], 0, y->data, (int)n);
    else if (d == EDDY_FLOAT64 && blas)
        cblas_dgemm(CblasRowMajor, ta, tb, (int)m, (int)n, (int)inner, 1, a, (int)da[1], b,
                    (int)db[1], 0, y->data, (int)n);
    else if (d == EDDY_FLOAT32) product_f32(y->data, a, b, m, n, inner, ai, ak, bk, bj);
    else if (d == EDDY_FLOAT64) product_f64(y->data, a, b, m, n, inner, ai, ak, bk, bj);
    else if (d == EDDY_INT32) product_i32(y->data, a, b, m, n, inner, ai, ak, bk, bj);
    else product_i64(y->data, a, b, m, n, inner, ai, ak, bk, bj);
    return EDDY_OK;
}

/* The four cases of y = op(a) op(b), without a transpose of their own. */
static void matmul_gradient(eddy_rule *r)
{
    const matmul_attrs *t = r->attrs;
    eddy_tensor a = r->x[0], b = r->x[1], dy = r->dy[0];
    if (!t->transpose_a && !t->transpose_b) {
        r->dx[0] = MatMul(dy, b, .transpose_b = true);
        r->dx[1] = MatMul(a, dy, .transpose_a = true);
    } else if (!t->transpose_a) {
        r->dx[0] = MatMul(dy, b);
        r->dx[1] = MatMul(dy, a, .transpose_a = true);
    } else if (!t->transpose_b) {
        r->dx[0] = MatMul(b, dy, .transpose_b = true);
        r->dx[1] = MatMul(a, dy);
    } else {
        r->dx[0] = MatMul(b, dy, .transpose_a = true, .transpose_b = true);
        r->dx[1] = MatMul(dy, a, .transpose_a = true, .transpose_b = true);
    }
}

const eddy_op_def eddy_op_matmul = {
    .name = "MatMul", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .attrs_size = sizeof(matmul_attrs), .attrs = matmul_fields,
    .infer = matmul_infer, .kernel = matmul_kernel, .gradient = matmul_gradient,
};

/** y = a b, the product of the matrices a [m,k] and b [k,n], giving [m,n].
 *
 *  a, b         float32, float64, int32 or int64, both the same
 *  transpose_a  a is [k,m] and used transposed; transpose_b likewise
 *
 *  k = 0 gives zeros. Errors: BAD_DTYPE, BAD_SHAPE. Gradient: da = dy b',
 *  db = a' dy. TensorFlow's MatMul. */
eddy_tensor eddy_matmul_with(eddy_matmul_args args)
{
    return eddy_apply(&eddy_op_matmul, &(matmul_attrs){ args.transpose_a, args.transpose_b }, 2,
                      (eddy_tensor[]){ args.a, args.b }, (eddy_apply_args){ .name = args.name });
}

/* ------------------------------------------------------------- bias_add -- */

static bool bias_add_infer(eddy_infer *c)
{
    eddy_shape x = c->in[0].shape, b = c->in[1].shape;
    if (b.rank >= 0 && b.rank != 1)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the bias must be a vector");
    if (x.rank == 0)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "x must have at least one dimension");
    if (x.rank > 0 && b.rank == 1 && x.dim[x.rank - 1] >= 0 && b.dim[0] >= 0 &&
        x.dim[x.rank - 1] != b.dim[0])
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "x has %lld channels, the bias %lld",
                               (long long)x.dim[x.rank - 1], (long long)b.dim[0]);
    if (!eddy_infer_elementwise(c)) return false;
    c->out[0].shape = x;
    return true;
}
DECLARE_NUMBERS(TILE_BINARY, bias_add, a + b)
ROW_PICK(bias_add, NUMBERS)
static void bias_add_gradient(eddy_rule *r)
{
    r->dx[0] = r->dy[0];
    r->dx[1] = r->dy[0];                 /* the sweep sums it over the rows */
}
ROW_DEF(bias_add, "BiasAdd", NULL, 2, bias_add_gradient, bias_add_infer, 0)

/** y[..., c] = x[..., c] + b[c].
 *
 *  x  numeric, rank >= 1, channels last; b  vector of as many entries
 *
 *  Errors: BAD_SHAPE, BAD_DTYPE. Gradient: dx = dy, db = dy summed over all
 *  axes but the last. TensorFlow's BiasAdd. */
eddy_tensor eddy_bias_add(eddy_tensor x, eddy_tensor b)
{
    return eddy_apply2(&eddy_op_bias_add, NULL, x, b);
}
