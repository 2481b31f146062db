/* determinant_gradient.c -- the gradient of determinants and its derivative, also where a matrix
 * is singular: the cofactors are polynomials of the elements.
 *
 * A regular matrix has them from its inverse. For others, x = p l d u q with permutations p and q
 * (complete pivoting), triangles l and u with ones on the diagonal, and the diagonal d: cofactors
 * of a product are the product of the cofactors, those of d are products of its elements, and
 * nothing is divided by an element of d. */
#include "ops/arrays/arrays.h"
#include "graph/base/interruptible.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/elementwise/complex_numbers.h"
#include "ops/kernels/libraries/lapack_blocks.h"
#include "ops/linear/linear.h"
#include "ops/linear/determinant_gradient.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

typedef double complex number;

/* The formula, for C's product looks for NaN. */
static inline number times(number a, number b)
{
    return eddy__c128(creal(a) * creal(b) - cimag(a) * cimag(b),
                      creal(a) * cimag(b) + cimag(a) * creal(b));
}

static number number_at(eddy_dtype d, const void *x, int64_t i)
{
    if (d == EDDY_FLOAT32) return (double)((const float *)x)[i];
    if (d == EDDY_FLOAT64) return ((const double *)x)[i];
    if (d == EDDY_COMPLEX64) return ((const float complex *)x)[i];
    return ((const number *)x)[i];
}

static void number_put(eddy_dtype d, void *y, int64_t i, number v)
{
    if (d == EDDY_FLOAT32) ((float *)y)[i] = (float)creal(v);
    else if (d == EDDY_FLOAT64) ((double *)y)[i] = creal(v);
    else if (d == EDDY_COMPLEX64) ((float complex *)y)[i] = (float complex)v;
    else ((number *)y)[i] = v;
}

/* ------------------------------------------------------ complete pivoting -- */

/* The factors of x in one matrix a: row i of it is row rows[i] of x, column j is column
 * columns[j]. */
typedef struct factors {
    int64_t  n;
    number  *a, *d, *before, *after;    /* [n,n]; the others [n] */
    int64_t *rows, *columns;
    double   sign;
    const struct eddy_stop *stop;       /* of the kernel; NULL: none */
} factors;

static void exchange(int64_t n, number *a, int64_t *places, int64_t i, int64_t j, int64_t step,
                     int64_t along)
{
    const int64_t place = places[i];
    places[i] = places[j];
    places[j] = place;
    for (int64_t k = 0; k < n; k++) {
        const number kept = a[i * step + k * along];
        a[i * step + k * along] = a[j * step + k * along];
        a[j * step + k * along] = kept;
    }
}

static double size_of(number x) { return fabs(creal(x)) + fabs(cimag(x)); }

/* Moves the largest element of the rest to its beginning; NaN counts as large. False if all of it
 * is 0. */
static bool pivot(factors *f, int64_t k)
{
    const int64_t n = f->n;
    int64_t row = k, column = k;
    double  most = size_of(f->a[k * n + k]);
    for (int64_t i = k; i < n; i++)
        for (int64_t j = k; j < n; j++)
            if (!(size_of(f->a[i * n + j]) <= most)) {
                most = size_of(f->a[i * n + j]);
                row = i;
                column = j;
            }
    if (row != k) exchange(n, f->a, f->rows, k, row, n, 1);
    if (column != k) exchange(n, f->a, f->columns, k, column, 1, n);
    if ((row != k) != (column != k)) f->sign = -f->sign;
    return most != 0;
}

static void factor(factors *f)
{
    const int64_t n = f->n;
    f->sign = 1;
    for (int64_t i = 0; i < n; i++) f->rows[i] = f->columns[i] = i;
    for (int64_t k = 0; k < n; k++) {
        if (eddy__stopped(f->stop) || !pivot(f, k)) break;
        const number p = f->a[k * n + k];
        for (int64_t i = k + 1; i < n; i++) {
            number *row = f->a + i * n;
            const number by = row[k] = row[k] / p;
            for (int64_t j = k + 1; j < n; j++) row[j] -= times(by, f->a[k * n + j]);
        }
    }
    for (int64_t k = 0; k < n; k++) {
        f->d[k] = f->a[k * n + k];
        for (int64_t j = k + 1; j < n && f->d[k] != 0; j++) f->a[k * n + j] /= f->d[k];
    }
}

/* c becomes l'^-1 c u'^-1 with ' the transpose. */
static void outward(const factors *f, number *c)
{
    const int64_t n = f->n;
    for (int64_t k = n - 1; k >= 0; k--)
        for (int64_t i = 0; i < k; i++)
            for (int64_t j = 0; j < n; j++) c[i * n + j] -= times(f->a[k * n + i], c[k * n + j]);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = n - 1; j >= 0; j--)
            for (int64_t k = j + 1; k < n; k++)
                c[i * n + j] -= times(f->a[j * n + k], c[i * n + k]);
}

/* c becomes l^-1 c u^-1. */
static void inward(const factors *f, number *c)
{
    const int64_t n = f->n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < i; k++)
            for (int64_t j = 0; j < n; j++) c[i * n + j] -= times(f->a[i * n + k], c[k * n + j]);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++)
            for (int64_t j = k + 1; j < n; j++)
                c[i * n + j] -= times(c[i * n + k], f->a[k * n + j]);
}

/* before[j] = the product of the d before j, except for d[left]; after[j] likewise. */
static void products(const factors *f, int64_t left)
{
    number p = 1;
    for (int64_t j = 0; j < f->n; j++) {
        f->before[j] = p;
        if (j != left) p = times(p, f->d[j]);
    }
    p = 1;
    for (int64_t j = f->n - 1; j >= 0; j--) {
        f->after[j] = p;
        if (j != left) p = times(p, f->d[j]);
    }
}

/* c = the cofactors of d. */
static void first(const factors *f, number *c)
{
    memset(c, 0, (size_t)(f->n * f->n) * sizeof *c);
    products(f, -1);
    for (int64_t i = 0; i < f->n; i++) c[i * f->n + i] = times(f->before[i], f->after[i]);
}

/* c = the derivative of the cofactors of d along m: the sum over j of m[j,j] times the product of
 * the d except for i and j at [i,i], and -m[j,i] times that product at [i,j]. */
static void second(const factors *f, const number *m, number *c)
{
    const int64_t n = f->n;
    for (int64_t i = 0; i < n; i++) {
        number sum = 0;
        products(f, i);
        for (int64_t j = 0; j < n; j++) {
            const number p = times(f->before[j], f->after[j]);
            if (j != i) sum += times(p, m[j * n + j]);
            if (j != i) c[i * n + j] = -times(p, m[j * n + i]);
        }
        c[i * n + i] = sum;
    }
}

/* ------------------------------------------------------------------ kernel -- */

static int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

typedef struct scratch_layout {
    int64_t c, m, vectors, places, bytes;       /* offsets in scratch memory, and its size */
    int64_t work;                               /* elements, for an inverse */
} scratch_layout;

static scratch_layout layout_of(const eddy_kernel *k)
{
    const eddy_dtype d = k->in[0]->type.dtype;
    const int64_t n = eddy__rows_of(k->in[0]->type.shape), matrix = rounded(n * n * 16);
    scratch_layout z = { .c = matrix, .m = 2 * matrix, .vectors = 3 * matrix };
    z.places = z.vectors + rounded(3 * n * 16);
    z.work = n > 0 ? eddy__blocks_inverse_work(d, n) : 0;
    const int64_t own = z.places + 2 * n * (int64_t)sizeof(int64_t);
    const int64_t inverse = z.m + rounded(n * 4) + z.work * (int64_t)eddy_dtype_size(d);
    z.bytes = own > inverse ? own : inverse;
    return z;
}

static eddy_status minors_prepare(eddy_kernel *k)
{
    eddy__matrix_scratch(k, k->in[0]->count > 0 ? layout_of(k).bytes : 0);
    return EDDY_OK;
}

/* y = the determinant in the element type times w and the transposed inverse; false for a pivot
 * of 0, or a determinant that overflows or underflows. */
static bool by_inverse(const eddy_kernel *k, int64_t i, char *scratch)
{
    const scratch_layout z = layout_of(k);
    const eddy_dtype d = k->in[0]->type.dtype;
    const int64_t n = eddy__rows_of(k->in[0]->type.shape);
    char    *lu = scratch, *work = scratch + z.m + rounded(n * 4);
    int32_t *pivots = (int32_t *)(void *)(scratch + z.m);
    number   y = 1, w;
    eddy__copy_or_stop(k->stop, lu, eddy__matrix_of(k->in[0], i),
                       (size_t)(n * n) * eddy_dtype_size(d));
    if (eddy__blocks_lu(k, d, n, lu, pivots) != 0) return false;
    if (eddy__stopped(k->stop)) return true;
    for (int64_t j = 0; j < n; j++) {
        y = times(y, number_at(d, lu, j * (n + 1)));
        if (pivots[j] != j + 1) y = -y;
    }
    number_put(d, scratch + z.c, 0, y);
    y = number_at(d, scratch + z.c, 0);
    if (!(size_of(y) > 0) || !isfinite(size_of(y))) return false;
    number_put(d, scratch + z.c, 0, times(number_at(d, k->in[1]->data, i), y));
    w = number_at(d, scratch + z.c, 0);
    eddy__blocks_lu_inverse(k, d, n, lu, pivots, work, z.work);
    void *out = eddy__matrix_of(k->out[0], i);
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b < n; b++)
            number_put(d, out, a * n + b, times(w, number_at(d, lu, b * n + a)));
    return true;
}

static bool minors_one(const eddy_kernel *k, int64_t i, char *scratch)
{
    const scratch_layout z = layout_of(k);
    const eddy_dtype d = k->in[0]->type.dtype;
    const int64_t n = eddy__rows_of(k->in[0]->type.shape);
    if (n == 0 || (k->n_in == 2 && by_inverse(k, i, scratch))) return true;
    number *c = (number *)(void *)(scratch + z.c), *m = (number *)(void *)(scratch + z.m);
    number *vectors = (number *)(void *)(scratch + z.vectors);
    int64_t *places = (int64_t *)(void *)(scratch + z.places);
    factors f = { .n = n, .a = (number *)(void *)scratch, .d = vectors, .before = vectors + n,
                  .after = vectors + 2 * n, .rows = places, .columns = places + n,
                  .stop = k->stop };
    const void *x = eddy__matrix_of(k->in[0], i);
    for (int64_t e = 0; e < n * n; e++) f.a[e] = number_at(d, x, e);
    factor(&f);
    if (eddy__stopped(k->stop)) return true;
    if (k->n_in == 2) first(&f, c);
    else {
        const void *h = eddy__matrix_of(k->in[2], i);
        for (int64_t a = 0; a < n; a++)
            for (int64_t b = 0; b < n; b++)
                m[a * n + b] = number_at(d, h, f.rows[a] * n + f.columns[b]);
        inward(&f, m);
        second(&f, m, c);
    }
    outward(&f, c);
    const number w = f.sign * number_at(d, k->in[1]->data, i);
    void *out = eddy__matrix_of(k->out[0], i);
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b < n; b++)
            number_put(d, out, f.rows[a] * n + f.columns[b], times(w, c[a * n + b]));
    return true;
}

static double minors_flops_of(int n_in, eddy_shape x)
{
    const double n = (double)eddy__rows_of(x);
    return n * n * n * (n_in == 2 ? 2 : 12);
}

static eddy_status minors_kernel(eddy_kernel *k)
{
    const eddy_shape x = k->in[0]->type.shape;
    if (k->out[0]->count == 0) return EDDY_OK;
    eddy__each_matrix(k, eddy__matrices_of(x), minors_flops_of(k->n_in, x), minors_one);
    return EDDY_OK;
}

static double minors_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs, (void)out;
    return (double)eddy__matrices_of(in->shape) * minors_flops_of(n_in, in->shape);
}

/* -------------------------------------------------------------------- rules -- */

static bool minors_infer(eddy_infer *c)
{
    eddy_shape x = c->in[0].shape, of_w, h = c->n_in == 3 ? c->in[2].shape : x;
    int64_t    n;
    char       a[128], b[128];
    if (!eddy__infer_square(c, 0, &n)) return false;
    of_w = x.rank < 0 ? x : eddy__shape_less(x, 2);
    if (!eddy_shape_compatible(of_w, c->in[1].shape) || !eddy_shape_compatible(x, h))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "w is %s for determinants of x %s",
                               eddy_shape_print(c->in[1].shape, a, sizeof a),
                               eddy_shape_print(x, b, sizeof b));
    return eddy__infer_yield(c, 0, c->in[0].dtype, x);
}

/* x broadcast along two more dimensions; the sum along the last two. */
static eddy_tensor spread(eddy_tensor x) { return ExpandDims(ExpandDims(x, -1), -1); }
static eddy_tensor total(eddy_tensor x) { return Sum(x, EDDY_AXES(-2, -1)); }

static eddy_tensor along(eddy_tensor x, eddy_tensor w, eddy_tensor h)
{
    return eddy_apply(&eddy_op_determinant_gradient, NULL, 3, (eddy_tensor[]){ x, w, h },
                      (eddy_apply_args){ 0 });
}

eddy_tensor eddy__determinant_gradient(eddy_tensor x, eddy_tensor w)
{
    return eddy_apply2(&eddy_op_determinant_gradient, NULL, x, w);
}

/* The second derivative of the cofactors along h and c, by the inverse. With p = x^-1 h and q =
 * x^-1 c: det x ((tr p tr q - tr pq) 1 - q tr p - p tr q + p q + q p) x^-1, transposed. */
static eddy_tensor by_solutions(eddy_tensor x, eddy_tensor h, eddy_tensor c)
{
    const eddy_tensor p = eddy_solve(x, h), q = eddy_solve(x, c);
    const eddy_tensor tp = eddy_trace(p), tq = eddy_trace(q);
    const eddy_tensor pq = eddy__times(p, q), qp = eddy__times(q, p);
    const eddy_tensor one = Mul(spread(Sub(Mul(tp, tq), eddy_trace(pq))), eddy__identity_like(x));
    const eddy_tensor mixed = Add(Mul(spread(tp), q), Mul(spread(tq), p));
    const eddy_tensor sum = Sub(Add(one, Add(pq, qp)), mixed);
    const eddy_tensor y = eddy__times(sum, eddy_inverse(x));
    return Mul(spread(eddy_det(x)), eddy_matrix_transpose(y));
}

/* Derivatives of a polynomial are symmetric: that of the cofactors along h, times c, is that
 * along c, times h. */
static void minors_gradient(eddy_rule *r)
{
    const eddy_tensor x = Conj(r->x[0]), w = Conj(r->x[1]), c = r->dy[0];
    const bool        more = r->n_in == 3;
    const eddy_tensor h = more ? Conj(r->x[2]) : c, one = OnesLike(w);
    const eddy_tensor unit = more ? along(x, one, h) : eddy__determinant_gradient(x, one);
    r->dx[1] = total(Mul(c, unit));
    if (more) r->dx[2] = along(x, w, c);
    r->dx[0] = more ? Mul(spread(w), by_solutions(x, h, c)) : along(x, w, c);
}

const eddy_op_def eddy_op_determinant_gradient = {
    .name = "MatrixDeterminantGrad", .label = "DeterminantGradient", .min_inputs = 2,
    .max_inputs = 3, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_WIDE_FLOATS_COMPLEX | EDDY_RANK_FROM(2) },
                          { "w", EDDY_LIKE(0) }, { "h", EDDY_LIKE(0) | EDDY_RANK_FROM(2) }),
    .flags = EDDY_OP_LAPACK,
    .infer = minors_infer, .prepare = minors_prepare, .kernel = minors_kernel,
    .gradient = minors_gradient, .batch = eddy_batch_as_is, .flops = minors_flops,
};
