/* conv_product.h -- convolution as one product of matrices; private to ops/. */
#ifndef EDDY_OPS_KERNELS_CONVOLUTION_CONV_PRODUCT_H
#define EDDY_OPS_KERNELS_CONVOLUTION_CONV_PRODUCT_H

#include "ops/kernels/convolution/conv.h"

/* As eddy__conv_prepare and eddy__conv_run, with the bits of direct sums: each element is one chain
 * of multiply-adds over the taps and channels. Sets *yes if the convolution is such a product and there are
 * tiles for it. */
eddy_status eddy__conv_product_prepare(eddy_kernel *k, eddy_dtype d, const eddy_conv_size *s,
                                       bool *yes);
void eddy__conv_product(const eddy_kernel *k, const void *x, const void *filter, void *y,
                        eddy_conv_finish finish);

#endif
