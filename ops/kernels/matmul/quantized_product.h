/* quantized_product.h -- the product of float32 rows, quantized to 8 bits on the way, and a matrix
 * of 8-bit weights, on the threads of a kernel. Private to ops/.
 *
 * The inner dimension is divided into groups of equal size, and these into chunks, whose sums of
 * products are exact in int32 and in float32. Each row is quantized group by group:
 *
 *   r = max |x| / 127 over the group, q = x / r rounded to even, in [-127, 127]
 *   y[i][j] = the sum over the chunks, in order, of (r scales[g][j]) (sum of q (w - 128))
 *
 * A group with an infinity or NaN makes the row NaN; one that has no element of 1e-36 or more is
 * zero. */
#ifndef EDDY_OPS_KERNELS_MATMUL_QUANTIZED_PRODUCT_H
#define EDDY_OPS_KERNELS_MATMUL_QUANTIZED_PRODUCT_H

#include "graph/op.h"

/* All matrices are dense: x [m,k], w [k,n], scales [groups,n], y [m,n]; k is a multiple of
 * `groups`, which is at least 1. */
typedef struct eddy_quantized_product {
    int64_t        m, n, k, groups;
    const float   *x, *scales;
    const uint8_t *w;
    float         *y;
    const struct eddy_quantized_tiles *tiles;
    const uint8_t *packed;              /* w as panels; NULL: packed in each run */
} eddy_quantized_product;

/* Sets p->tiles and, if input `w` of k is constant, p->packed. Returns the scratch memory that the
 * product needs. Only in prepare. */
uint64_t eddy__quantized_plan(eddy_quantized_product *p, const eddy_kernel *k, int w);
/* The bits depend on no instruction set and no number of threads. */
void eddy__quantized_run(const eddy_kernel *k, const eddy_quantized_product *p);

#endif
