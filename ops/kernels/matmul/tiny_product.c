/* tiny_product.c -- products of float64 with few multiplications. */
#include "ops/kernels/matmul/tiny_product.h"

#include "graph/base/cpu.h"
#include "graph/kernel.h"

enum { LANES = 4, ROWS = 4, VECTORS = 2 };
typedef double four __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)),
                                   may_alias));

/* Rows of y from row i on, by columns of whole vectors from column j on. */
EDDY_INLINE void tile(const eddy_tiny_product *t, int64_t i, int rows, int64_t j, int vectors)
{
    const double *a = t->a + i * t->a_row, *b = t->b + j;
    double       *y = t->y + i * t->ldy + j;
    four          sum[ROWS][VECTORS];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vectors; v++) {
            if (t->beta == 0) sum[r][v] = (four){ 0 };
            else sum[r][v] = t->beta * *(const four *)(y + r * t->ldy + v * LANES);
        }
    for (int64_t q = 0; q < t->k; q++, a += t->a_step, b += t->b_step)
        for (int r = 0; r < rows; r++) {
            const double x = t->alpha * a[r * t->a_row];
            for (int v = 0; v < vectors; v++) sum[r][v] += x * *(const four *)(b + v * LANES);
        }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vectors; v++) *(four *)(y + r * t->ldy + v * LANES) = sum[r][v];
}

/* The same for one column. */
EDDY_INLINE void column(const eddy_tiny_product *t, int64_t i, int rows, int64_t j)
{
    const double *a = t->a + i * t->a_row, *b = t->b + j;
    double       *y = t->y + i * t->ldy + j, sum[ROWS];
    for (int r = 0; r < rows; r++) sum[r] = t->beta == 0 ? 0 : t->beta * y[r * t->ldy];
    for (int64_t q = 0; q < t->k; q++, a += t->a_step, b += t->b_step)
        for (int r = 0; r < rows; r++) sum[r] += t->alpha * a[r * t->a_row] * *b;
    for (int r = 0; r < rows; r++) y[r * t->ldy] = sum[r];
}

/* Without beta, the last columns may be computed twice. */
EDDY_INLINE void strip(const eddy_tiny_product *t, int64_t i, int rows)
{
    int64_t j = 0;
    for (; j + VECTORS * LANES <= t->n; j += VECTORS * LANES) tile(t, i, rows, j, VECTORS);
    for (; j + LANES <= t->n; j += LANES) tile(t, i, rows, j, 1);
    if (j < t->n && t->n >= LANES && t->beta == 0) tile(t, i, rows, t->n - LANES, 1);
    else for (; j < t->n; j++) column(t, i, rows, j);
}

EDDY_INLINE void run_all(const eddy_tiny_product *t)
{
    int64_t i = 0;
    for (; i + ROWS <= t->m; i += ROWS) strip(t, i, ROWS);
    if (i + 2 <= t->m) strip(t, i, 2), i += 2;
    if (i < t->m) strip(t, i, 1);
}
EDDY_CLONES_TO_AVX2_OF(run, (const eddy_tiny_product *t), (t))

void eddy__tiny_product(const eddy_tiny_product *t)
{
    double            b[EDDY_TINY_OPERAND];
    eddy_tiny_product straight = *t;
    if (t->b_column != 1) {
        for (int64_t q = 0; q < t->k; q++)
            for (int64_t j = 0; j < t->n; j++)
                b[q * t->n + j] = t->b[q * t->b_step + j * t->b_column];
        straight.b = b, straight.b_step = t->n, straight.b_column = 1;
    }
    EDDY_BEST_OF(run)(&straight);
}
