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

/* Rows of the last columns from j on, which are less than a vector. */
static void edge(const eddy_tiny_product *t, int64_t i, int rows, int64_t j)
{
    for (int64_t r = i; r < i + rows; r++)
        for (int64_t c = j; c < t->n; c++) {
            double *y = t->y + r * t->ldy + c, sum = t->beta == 0 ? 0 : t->beta * *y;
            for (int64_t q = 0; q < t->k; q++)
                sum += t->alpha * t->a[r * t->a_row + q * t->a_step] * t->b[q * t->b_step + c];
            *y = sum;
        }
}

/* Without beta, the last columns may be computed twice. */
EDDY_INLINE void strip(const eddy_tiny_product *t, int64_t i, int rows, int vectors)
{
    int64_t j = 0;
    for (; vectors > 1 && j + vectors * LANES <= t->n; j += vectors * LANES)
        tile(t, i, rows, j, vectors);
    for (; j < t->n; j += LANES) {
        if (j + LANES > t->n && (t->n < LANES || t->beta != 0)) {
            edge(t, i, rows, j);
            return;
        }
        if (j + LANES > t->n) j = t->n - LANES;
        tile(t, i, rows, j, 1);
    }
}

/* By tiles of so many rows and vectors. */
EDDY_INLINE void run(const eddy_tiny_product *t, int rows, int vectors)
{
    int64_t i = 0;
    for (; i + rows <= t->m; i += rows) strip(t, i, rows, vectors);
    for (; i < t->m; i++) strip(t, i, 1, vectors);
}

/* Tiles that fit into the registers. */
static void run_small(const eddy_tiny_product *t) { run(t, 2, 1); }
#if defined(__x86_64__)
EDDY_TARGET_AVX2 static void run_avx2(const eddy_tiny_product *t) { run(t, ROWS, VECTORS); }
static bool has_avx2(void) { return eddy__instructions_used() != EDDY_BASELINE; }
#else
static void run_avx2(const eddy_tiny_product *t) { run_small(t); }
static bool has_avx2(void) { return false; }
#endif

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
    if (has_avx2()) run_avx2(&straight);
    else run_small(&straight);
}
