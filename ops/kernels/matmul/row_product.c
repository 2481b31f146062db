/* row_product.c -- a vector times a matrix whose rows are contiguous.
 *
 * The matrix is read once, four of its rows at a time. If its rows are a multiple of a page apart,
 * BLAS takes 1.7 to 4 times as long: it reads more of them at a time than a set of the L1 cache can
 * hold. */
#include "ops/kernels/matmul/row_product.h"

#include "graph/base/cpu.h"
#include "graph/kernel.h"

#define TEMPLATE "ops/kernels/matmul/row_product_loops.h"
#define TYPES    FOR_FLOATS
#include "ops/kernels/for_types.h"

void eddy__row_product(const eddy_row_product *r)
{
    if (r->dtype == EDDY_FLOAT64) EDDY_BEST_OF(row_product_f64)(r);
    else EDDY_BEST_OF(row_product_f32)(r);
}
