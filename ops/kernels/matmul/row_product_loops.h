/* row_product_loops.h -- a vector times a matrix of elements T: a template of
 * ops/kernels/for_types.h. */

/* row += the sum of v[i] times row i of b. */
EDDY_INLINE void NAME(add_rows)(const T *v, int rows, const T *b, int64_t ld, int64_t n, T *row)
{
    EDDY_INDEPENDENT
    for (int64_t j = 0; j < n; j++) {
        T sum = row[j];
        for (int i = 0; i < rows; i++) sum += v[i] * b[i * ld + j];
        row[j] = sum;
    }
}

EDDY_INLINE void LOOP(row_product)(const eddy_row_product *r)
{
    enum { ROWS = 4 };
    const T *x = r->vector, *b = r->matrix, beta = (T)r->beta;
    T       *row = r->y, v[ROWS];
    for (int64_t j = 0; j < r->n; j++) row[j] = r->beta == 0 ? 0 : beta * row[j];
    for (int64_t q = 0; q < r->k; q += ROWS, b += ROWS * r->ld) {
        const int rows = r->k - q < ROWS ? (int)(r->k - q) : ROWS;
        for (int i = 0; i < rows; i++) v[i] = (T)r->alpha * x[(q + i) * r->step];
        if (rows == ROWS) NAME(add_rows)(v, ROWS, b, r->ld, r->n, row);
        else NAME(add_rows)(v, rows, b, r->ld, r->n, row);
    }
}

EDDY_CLONES_TO_AVX2_OF(NAME(row_product), (const eddy_row_product *r), (r))
