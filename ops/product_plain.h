/* product_plain.h -- products by BLAS, and by loops for what BLAS does not do. */
#ifndef EDDY_PRODUCT_PLAIN_H
#define EDDY_PRODUCT_PLAIN_H

#include "ops/product.h"

/* Rows [i0, i1) and columns [j0, j1) of the product, with what follows. */
void eddy_product_plain(const eddy_product *p, int64_t i0, int64_t i1, int64_t j0, int64_t j1);

#endif
