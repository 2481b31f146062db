/* matmul_plain.c -- matrix products for types and sizes without tiles of their own: by OpenBLAS,
 * and by a loop for integers and for sizes beyond BLAS's int. */
#include "ops/kernels/matmul/matmul_plain.h"
#include "ops/kernels/elementwise/complex_numbers.h"

#include <cblas.h>
#include <limits.h>

/* Where a block starts, and the steps between its elements. */
typedef struct block {
    const void *a, *b;
    void       *y;
    int64_t     m, n, a_row, a_step, b_step, b_column;
} block;

#define FOR_PRODUCTS(M, ...)                                                    \
    FOR_FLOATS(M, __VA_ARGS__) FOR_INDICES(M, __VA_ARGS__) FOR_COMPLEX(M, __VA_ARGS__)
#define TEMPLATE "ops/kernels/matmul/matmul_plain_loops.h"
#define TYPES    FOR_PRODUCTS
#include "ops/kernels/for_types.h"

static void by_loop(const eddy_product *p, const block *at)
{
    EDDY_FOR_TYPE(product, FOR_PRODUCTS, p->dtype)(p, at);
}

/* False for what BLAS does not have: its sizes are int. */
static bool by_blas(const eddy_product *p, const block *at)
{
    const CBLAS_TRANSPOSE ta = p->transpose_a ? CblasTrans : CblasNoTrans;
    const CBLAS_TRANSPOSE tb = p->transpose_b ? CblasTrans : CblasNoTrans;
    const float  alpha_c64[2] = { (float)p->alpha, 0 }, beta_c64[2] = { (float)p->beta, 0 };
    const double alpha_c128[2] = { p->alpha, 0 }, beta_c128[2] = { p->beta, 0 };
    if (at->m > INT_MAX || at->n > INT_MAX || p->k > INT_MAX || p->lda > INT_MAX ||
        p->ldb > INT_MAX || p->ldy > INT_MAX || p->k == 0)
        return false;
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
    else if (p->dtype == EDDY_COMPLEX128)
        cblas_zgemm(CblasRowMajor, ta, tb, m, n, k, alpha_c128, at->a, lda, at->b, ldb, beta_c128,
                    at->y, ldy);
    else return false;
    return true;
}

void eddy__product_plain(const eddy_product *p, int64_t i0, int64_t i1, int64_t j0, int64_t j1)
{
    const int64_t size = (int64_t)eddy_dtype_size(p->dtype);
    block at = {
        .m = i1 - i0, .n = j1 - j0,
        .a_row = p->transpose_a ? 1 : p->lda, .a_step = p->transpose_a ? p->lda : 1,
        .b_step = p->transpose_b ? 1 : p->ldb, .b_column = p->transpose_b ? p->ldb : 1,
    };
    at.a = (const char *)p->a + i0 * at.a_row * size;
    at.b = (const char *)p->b + j0 * at.b_column * size;
    at.y = (char *)p->y + (i0 * p->ldy + j0) * size;
    if (!by_blas(p, &at)) by_loop(p, &at);
    eddy__product_finish(p, i0, i1, j0, j1);
}
