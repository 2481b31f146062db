/* tiny_product.h -- products of float64 with so few multiplications that a call of BLAS costs more. */
#ifndef EDDY_OPS_KERNELS_MATMUL_TINY_PRODUCT_H
#define EDDY_OPS_KERNELS_MATMUL_TINY_PRODUCT_H

#include <stdint.h>

/* y [m,n] = alpha a [m,k] b [k,n] + beta y. Element (i,q) of a is a[i * a_row + q * a_step], element
 * (q,j) of b is b[q * b_step + j * b_column]. */
typedef struct eddy_tiny_product {
    const double *a, *b;
    double       *y;
    int64_t       m, n, k, a_row, a_step, b_step, b_column, ldy;
    double        alpha, beta;
} eddy_tiny_product;

/* The most elements of b. */
enum { EDDY_TINY_OPERAND = 1024 };

/* Each element is the sum of its products in their order, with any instruction set. */
void eddy__tiny_product(const eddy_tiny_product *t);

#endif
