/* half_product.h -- products of bfloat16 matrices with the tiles of float32: operands are widened
 * while they are packed, or rounded if they are float32, and results are rounded while they are in
 * the cache. The sums, each one chain along the inner size, are those of the tiles for float32
 * operands. */
#ifndef EDDY_OPS_KERNELS_MATMUL_HALF_PRODUCT_H
#define EDDY_OPS_KERNELS_MATMUL_HALF_PRODUCT_H

#include "ops/kernels/matmul/matmul_threads.h"

size_t eddy__half_scratch(const eddy_product *p);            /* for one worker */
/* Rows [r0, r1) and columns [c0, c1) of y, with the epilogue. */
void eddy__half_block(const eddy_product *p, int64_t r0, int64_t r1, int64_t c0, int64_t c1,
                      float *scratch);
/* The pieces of that many rows, or columns, by which threads divide it. */
int64_t eddy__half_rows(const eddy_product *p);
int64_t eddy__half_columns(void);

#endif
