/* matmul_plain_loops.h -- the plain product of matrices of one element type, T: a template of
 * ops/kernels/for_types.h. */

/* Row by row, each a sum of rows of b. */
static void NAME(product)(const eddy_product *p, const block *at)
{
    const T *a = at->a, *b = at->b, alpha = (T)p->alpha, beta = (T)p->beta;
    T       *row = at->y;
    for (int64_t i = 0; i < at->m; i++, row += p->ldy) {
        for (int64_t j = 0; j < at->n; j++) row[j] = p->beta == 0 ? 0 : beta * row[j];
        for (int64_t q = 0; q < p->k; q++) {
            const T x = a[i * at->a_row + q * at->a_step];
            const T v = p->alpha == 1 ? x : alpha * x;
            for (int64_t j = 0; j < at->n; j++)
                row[j] += v * b[q * at->b_step + j * at->b_column];
        }
    }
}
