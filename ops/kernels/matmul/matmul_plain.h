/* matmul_plain.h -- matrix products by BLAS, and by loops for types and sizes that BLAS does not
 * support. */
#ifndef EDDY_OPS_KERNELS_MATMUL_MATMUL_PLAIN_H
#define EDDY_OPS_KERNELS_MATMUL_MATMUL_PLAIN_H

#include "ops/kernels/matmul/matmul_threads.h"

/* Rows [i0, i1) and columns [j0, j1) of the product, with the epilogue. */
void eddy__product_plain(const eddy_product *p, int64_t i0, int64_t i1, int64_t j0, int64_t j1);
/* Whether p has many rows of three float32, for which eddy__product_plain has a loop. */
bool eddy__product_of_triples(const eddy_product *p);
/* Whether p is a vector times a matrix whose rows are contiguous. For float32 and float64, the
 * elements of the result have the same bits in pieces of any size. */
bool eddy__product_is_row(const eddy_product *p);

#endif
