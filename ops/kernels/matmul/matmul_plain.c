/* matmul_plain.c -- matrix products for types and sizes without tiles of their own: by OpenBLAS,
 * and by loops for one row or column, for integers and for sizes beyond BLAS's int. */
#include "graph/base/cpu.h"
#include "graph/base/dtype.h"
#include "graph/base/min_max.h"
#include "graph/base/stop.h"
#include "ops/kernels/libraries/blas_threads.h"
#include "ops/kernels/matmul/matmul_plain.h"
#include "ops/kernels/matmul/row_product.h"
#include "ops/kernels/matmul/tiny_product.h"
#include "ops/kernels/elementwise/complex_numbers.h"

#include <cblas.h>
#include <limits.h>
#include <string.h>

/* The addresses of a block, and the steps between its elements. */
typedef struct block {
    const void *a, *b;
    void       *y;
    int64_t     m, n, a_row, a_step, b_step, b_column;
} block;

static block block_of(const eddy_product *p)
{
    return (block){ p->a, p->b, p->y, p->m, p->n,
                    .a_row = p->transpose_a ? 1 : p->lda,
                    .a_step = p->transpose_a ? p->lda : 1,
                    .b_step = p->transpose_b ? 1 : p->ldb,
                    .b_column = p->transpose_b ? p->ldb : 1 };
}

#define FOR_PRODUCTS(M, ...)                                                    \
    FOR_FLOATS(M, __VA_ARGS__) FOR_INDICES(M, __VA_ARGS__) FOR_COMPLEX(M, __VA_ARGS__)
#define TEMPLATE "ops/kernels/matmul/matmul_plain_loops.h"
#define TYPES    FOR_PRODUCTS
#include "ops/kernels/for_types.h"

static void by_loop(const eddy_product *p, const block *at)
{
    EDDY_FOR_TYPE(product, FOR_PRODUCTS, p->dtype)(p, at);
}

/* ------------------------------------------------------------------ one row -- */

/* Fills r if the product is one row, or one column, of at least a line, and the matrix has
 * contiguous rows. A part of it is computed as the whole is, however short it is. */
static bool is_row(const eddy_product *p, const block *at, eddy_row_product *r)
{
    enum { LINE = 16 };
    const bool column = at->n == 1 && at->a_row == 1 && p->ldy == 1;
    *r = (eddy_row_product){ p->dtype, at->a, at->b, at->y, p->k, at->n, at->a_step, at->b_step,
                             p->alpha, p->beta };
    if (column) {
        r->vector = at->b, r->step = at->b_step, r->n = at->m;
        r->matrix = at->a, r->ld = at->a_step;
    }
    return (column ? p->m : p->n) >= LINE && (column || (at->m == 1 && at->b_column == 1));
}

static bool by_row(const eddy_product *p, const block *at)
{
    eddy_row_product r;
    if ((p->dtype != EDDY_FLOAT32 && p->dtype != EDDY_FLOAT64) || !is_row(p, at, &r)) return false;
    eddy__row_product(&r);
    return true;
}

bool eddy__product_is_row(const eddy_product *p)
{
    eddy_row_product r;
    const block      whole = block_of(p);
    return is_row(p, &whole, &r);
}

/* ------------------------------------------------------- a column times a row -- */

/* The column a times the row b, whose elements are contiguous. The sum begins with 0, so that it
 * is never -0. alpha is 1: BLAS multiplies the product by it, not a. */
static void outer_f64(const eddy_product *p, const block *at)
{
    const double *a = at->a, *b = at->b;
    double       *row = at->y;
    for (int64_t i = 0; i < at->m; i++, row += p->ldy) {
        const double v = a[i * at->a_row];
        EDDY_INDEPENDENT
        for (int64_t j = 0; j < at->n; j++) row[j] = 0 + v * b[j];
    }
}

/* BLAS writes a few columns at a time of each row, and took 2.2 times as long (OpenBLAS 0.3.21,
 * AVX2, 1000 x 1000). The bits are those of BLAS. */
static bool by_outer(const eddy_product *p, const block *at)
{
    enum { LINE = 16 };
    if (p->dtype != EDDY_FLOAT64 || p->k != 1 || p->alpha != 1 || p->beta != 0 || at->n < LINE ||
        at->b_column != 1)
        return false;
    outer_f64(p, at);
    return true;
}

/* ------------------------------------------------------- many rows of three -- */

/* Neither tiles nor BLAS fill their vectors with rows of three, such as colors and points. This
 * loop takes a fifth of the time with the vectors of every processor. */
bool eddy__product_of_triples(const eddy_product *p)
{
    enum { MANY = 64 };
    return p->dtype == EDDY_FLOAT32 && !p->pairs && !p->transpose_a && !p->transpose_b &&
           p->m >= MANY && p->n == 3 && p->k == 3 && p->lda == 3 && p->ldb == 3 && p->ldy == 3 &&
           p->alpha == 1 && p->beta == 0;
}

static void triples(int64_t m, const float *a, const float *b, float *y)
{
    const float b00 = b[0], b01 = b[1], b02 = b[2], b10 = b[3], b11 = b[4], b12 = b[5],
                b20 = b[6], b21 = b[7], b22 = b[8];
    EDDY_INDEPENDENT
    for (int64_t i = 0; i < m; i++) {
        const float u = a[3 * i], v = a[3 * i + 1], w = a[3 * i + 2];
        y[3 * i] = u * b00 + v * b10 + w * b20;
        y[3 * i + 1] = u * b01 + v * b11 + w * b21;
        y[3 * i + 2] = u * b02 + v * b12 + w * b22;
    }
}

static bool by_triples(const eddy_product *p, const block *at)
{
    if (!eddy__product_of_triples(p) || at->n != 3) return false;
    triples(at->m, at->a, at->b, at->y);
    return true;
}

/* --------------------------------------------------------------------- BLAS -- */

/* Types that BLAS has, and sizes within int. */
static bool blas_can(const eddy_product *p, const block *at)
{
    return (eddy__dtype_is_float(p->dtype) || eddy_dtype_is_complex(p->dtype)) && p->k > 0 &&
           at->m <= INT_MAX && at->n <= INT_MAX && p->k <= INT_MAX && p->lda <= INT_MAX &&
           p->ldb <= INT_MAX && p->ldy <= INT_MAX;
}

static void by_gemm(const eddy_product *p, const block *at)
{
    const CBLAS_TRANSPOSE ta = p->transpose_a ? CblasTrans : CblasNoTrans;
    const CBLAS_TRANSPOSE tb = p->transpose_b ? CblasTrans : CblasNoTrans;
    const float  alpha_c64[2] = { (float)p->alpha, 0 }, beta_c64[2] = { (float)p->beta, 0 };
    const double alpha_c128[2] = { p->alpha, 0 }, beta_c128[2] = { p->beta, 0 };
    const int m = (int)at->m, n = (int)at->n, k = (int)p->k;
    const int lda = (int)p->lda, ldb = (int)p->ldb, ldy = (int)p->ldy;
    if (p->dtype == EDDY_FLOAT32)
        cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, (float)p->alpha, at->a, lda, at->b, ldb,
                    (float)p->beta, at->y, ldy);
    else if (p->dtype == EDDY_FLOAT64)
        cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, p->alpha, at->a, lda, at->b, ldb, p->beta,
                    at->y, ldy);
    else if (p->dtype == EDDY_COMPLEX64)
        cblas_cgemm(CblasRowMajor, ta, tb, m, n, k, alpha_c64, at->a, lda, at->b, ldb, beta_c64,
                    at->y, ldy);
    else
        cblas_zgemm(CblasRowMajor, ta, tb, m, n, k, alpha_c128, at->a, lda, at->b, ldb, beta_c128,
                    at->y, ldy);
}

/* A matrix as it is stored, and a vector by which it, or its transpose, is multiplied. */
typedef struct by_vector {
    const void *matrix, *x;
    void       *y;
    bool        transposed;
    int         rows, columns, ld, x_step, y_step;
} by_vector;

static void call_gemv(const eddy_product *p, const by_vector *v)
{
    const CBLAS_TRANSPOSE t = v->transposed ? CblasTrans : CblasNoTrans;
    const float  alpha_c64[2] = { (float)p->alpha, 0 }, beta_c64[2] = { (float)p->beta, 0 };
    const double alpha_c128[2] = { p->alpha, 0 }, beta_c128[2] = { p->beta, 0 };
    if (p->dtype == EDDY_FLOAT32)
        cblas_sgemv(CblasRowMajor, t, v->rows, v->columns, (float)p->alpha, v->matrix, v->ld, v->x,
                    v->x_step, (float)p->beta, v->y, v->y_step);
    else if (p->dtype == EDDY_FLOAT64)
        cblas_dgemv(CblasRowMajor, t, v->rows, v->columns, p->alpha, v->matrix, v->ld, v->x,
                    v->x_step, p->beta, v->y, v->y_step);
    else if (p->dtype == EDDY_COMPLEX64)
        cblas_cgemv(CblasRowMajor, t, v->rows, v->columns, alpha_c64, v->matrix, v->ld, v->x,
                    v->x_step, beta_c64, v->y, v->y_step);
    else
        cblas_zgemv(CblasRowMajor, t, v->rows, v->columns, alpha_c128, v->matrix, v->ld, v->x,
                    v->x_step, beta_c128, v->y, v->y_step);
}

/* OpenBLAS 0.3.21 reads behind x for a complex result of 2, 6, 10, ... elements, the last of which
 * is therefore computed by itself. */
static void by_gemv(const eddy_product *p, const by_vector *v)
{
    const int64_t size = (int64_t)eddy_dtype_size(p->dtype), first = v->columns - 1;
    by_vector     part = *v;
    if (eddy_dtype_is_complex(p->dtype) && v->transposed && v->columns % 4 == 2) {
        part.columns = (int)first;
        call_gemv(p, &part);
        part.columns = 1;
        part.matrix = (const char *)v->matrix + first * size;
        part.y = (char *)v->y + first * v->y_step * size;
    }
    call_gemv(p, &part);
}

static void clear(void *y, int64_t n, int64_t step, size_t size)
{
    if (step == (int64_t)size) memset(y, 0, (size_t)n * size);
    else
        for (int64_t i = 0; i < n; i++) memset((char *)y + i * step, 0, size);
}

/* The product column by column, or row by row, each a matrix times a vector. */
static void by_vectors(const eddy_product *p, const block *at, bool by_columns)
{
    const int64_t size = (int64_t)eddy_dtype_size(p->dtype);
    const int64_t count = by_columns ? at->n : at->m;
    const int     m = (int)at->m, n = (int)at->n, k = (int)p->k;
    by_vector     v = { .matrix = at->b, .x = at->a, .y = at->y, .transposed = !p->transpose_b,
                        .rows = p->transpose_b ? n : k, .columns = p->transpose_b ? k : n,
                        .ld = (int)p->ldb, .x_step = (int)at->a_step, .y_step = 1 };
    if (by_columns)
        v = (by_vector){ .matrix = at->a, .x = at->b, .y = at->y, .transposed = p->transpose_a,
                         .rows = p->transpose_a ? k : m, .columns = p->transpose_a ? m : k,
                         .ld = (int)p->lda, .x_step = (int)at->b_step, .y_step = (int)p->ldy };
    for (int64_t i = 0; i < count; i++) {
        /* Some versions of OpenBLAS multiplied a NaN in y by 0 (issues 746 and 929). */
        if (p->beta == 0) clear(v.y, by_columns ? m : n, v.y_step * size, (size_t)size);
        by_gemv(p, &v);
        v.x = (const char *)v.x + (by_columns ? at->b_column : at->a_row) * size;
        v.y = (char *)v.y + (by_columns ? 1 : p->ldy) * size;
    }
}

/* True if multiplying by each of a few rows or columns in turn takes less time. The product of
 * matrices copies its operands: with one column of 500 elements it took 138 us, dgemv 23 (OpenBLAS
 * 0.3.21, AVX2); with two of 1000, 543 and 210. For AVX-512, OpenBLAS does not copy up to MOST
 * multiplications and took 25 us for two columns of 500, dgemv 48; for three of 1000, 790 and
 * 315. */
static bool is_for_vectors(const eddy_product *p, const block *at)
{
    enum { FEW = 3 };
    static const double MOST = 1e6;
    const int64_t fewest = eddy__min(at->m, at->n);
#ifdef __i386__
    /* There, cgemv of OpenBLAS 0.3.21 reads behind the matrix. */
    if (eddy_dtype_is_complex(p->dtype)) return false;
#endif
    return fewest == 1 ||
        (fewest <= FEW && (!eddy__blas_has_small_products() ||
                           (double)at->m * (double)at->n * (double)p->k > MOST));
}

static bool by_blas(const eddy_product *p, const block *at)
{
    if (!blas_can(p, at)) return false;
    eddy__blas_enter();
    if (is_for_vectors(p, at)) by_vectors(p, at, at->n <= at->m);
    else by_gemm(p, at);
    eddy__blas_leave();
    return true;
}

/* ------------------------------------------------------------------- blocks -- */

/* A call of BLAS cannot be interrupted, so a run that must end waits for it. Larger products are
 * computed in blocks of at most so many operations, a few milliseconds, whose sizes follow from
 * those of the product. */
static const double BLOCK = 72e6;

/* Operations, those for reading and writing the matrices included, which count where there are few
 * rows or columns. Loops of integers are some twenty times slower than BLAS. */
static double cost(eddy_dtype d, double m, double n, double k)
{
    const double each = eddy_dtype_is_complex(d) ? 4 : eddy_dtype_is_floating(d) ? 1 : 20;
    return each * (2 * m * n * k + 32 * (m * n + m * k + n * k));
}

/* Halves the largest side until a block is small enough. */
static void block_sizes(eddy_dtype d, int64_t *m, int64_t *n, int64_t *k)
{
    enum { STEP = 16 };
    while (cost(d, (double)*m, (double)*n, (double)*k) > BLOCK) {
        int64_t *most = *m > *n ? m : n;
        if (*k > *most) most = k;
        if (*most <= STEP) return;
        *most = (*most / 2 + STEP - 1) / STEP * STEP;
    }
}

/* The same for a product that is a row, in blocks of whole rows of the matrix, which are read in
 * the order of memory. */
static void row_sizes(const eddy_product *p, int64_t *m, int64_t *n, int64_t *k)
{
    const double rows = BLOCK / cost(p->dtype, (double)*m, (double)*n, 1);
    if (rows < 4) block_sizes(p->dtype, m, n, k);
    else if (rows < (double)*k) *k = (int64_t)rows;
}

/* Products with few multiplications: a call of BLAS would take longer. Parts of a row have the bits
 * of by_row. */
static bool by_tiny(const eddy_product *p, const block *at)
{
    enum { MOST = 5 * 5 * 5, MOST_OF_ROWS = 16 * 16 * 16, LANES = 4 };
    const bool    by_rows = p->dtype == EDDY_FLOAT64 && at->n >= LANES &&
                            p->k <= EDDY_TINY_OPERAND / at->n;
    const int64_t most = by_rows ? MOST_OF_ROWS : MOST, k = p->k;
    if (at->m > most || at->n > most || k > most || at->m * at->n * k > most) return false;
    if (by_rows)
        eddy__tiny_product(&(eddy_tiny_product){
            at->a, at->b, at->y, at->m, at->n, k, at->a_row, at->a_step, at->b_step, at->b_column,
            p->ldy, p->alpha, p->beta });
    else by_loop(p, at);
    return true;
}

static void compute(const eddy_product *p, const block *at)
{
    if (!by_outer(p, at) && !by_row(p, at) && !by_triples(p, at) && !by_blas(p, at))
        by_loop(p, at);
}

/* Adds up the inner dimension, `depth` at a time; false if the run must end. */
static bool add_blocks(const eddy_product *whole, block at, int64_t depth)
{
    const int64_t size = (int64_t)eddy_dtype_size(whole->dtype);
    eddy_product  p = *whole;
    for (int64_t q = 0; q < whole->k; q += depth) {
        if (q > 0 && eddy__stopped(whole->stop)) return false;
        p.k = eddy__min(depth, whole->k - q);
        p.beta = q > 0 ? 1 : whole->beta;
        compute(&p, &at);
        at.a = (const char *)at.a + depth * at.a_step * size;
        at.b = (const char *)at.b + depth * at.b_step * size;
    }
    return true;
}

/* The block of rows [i, i + m) and columns [j, j + n) of p. */
static block part_of(const eddy_product *p, int64_t i, int64_t m, int64_t j, int64_t n)
{
    const int64_t size = (int64_t)eddy_dtype_size(p->dtype);
    block         at = block_of(p);
    at.m = m, at.n = n;
    at.a = (const char *)p->a + i * at.a_row * size;
    at.b = (const char *)p->b + j * at.b_column * size;
    at.y = (char *)p->y + (i * p->ldy + j) * size;
    return at;
}

void eddy__product_plain(const eddy_product *p, int64_t i0, int64_t i1, int64_t j0, int64_t j1)
{
    const block whole = part_of(p, i0, i1 - i0, j0, j1 - j0);
    int64_t     rows = whole.m, columns = whole.n, depth = p->k;
    if (by_tiny(p, &whole)) {
        eddy__product_finish(p, i0, i1, j0, j1);
        return;
    }
    if (eddy__product_is_row(p)) row_sizes(p, &rows, &columns, &depth);
    else block_sizes(p->dtype, &rows, &columns, &depth);
    for (int64_t i = i0; i < i1; i += rows)
        for (int64_t j = j0; j < j1; j += columns) {
            const block at = part_of(p, i, eddy__min(rows, i1 - i), j, eddy__min(columns, j1 - j));
            if (eddy__stopped(p->stop)) return;
            if (depth >= p->k) compute(p, &at);
            else if (!add_blocks(p, at, depth)) return;
            eddy__product_finish(p, i, i + at.m, j, j + at.n);
        }
}
