/* row_product.h -- a vector times a matrix whose rows are contiguous, in float32 and float64. */
#ifndef EDDY_OPS_KERNELS_MATMUL_ROW_PRODUCT_H
#define EDDY_OPS_KERNELS_MATMUL_ROW_PRODUCT_H

#include "graph/array.h"

/* y = alpha times the vector times the matrix of k rows and n columns, plus beta y. */
typedef struct eddy_row_product {
    eddy_dtype  dtype;
    const void *vector, *matrix;
    void       *y;
    int64_t     k, n, step, ld;         /* from one element, and from one row, to the next */
    double      alpha, beta;
} eddy_row_product;

/* Each element has the same bits with any columns beside it, and with any instruction set. */
void eddy__row_product(const eddy_row_product *r);

#endif
