/* bfloat16_pairs.h -- whether products and convolutions of bfloat16 operands are computed by
 * instructions that multiply pairs of elements and sum in float32 (AVX-512 BF16). The kernels then
 * take bfloat16 operands and yield float32. On processors without them, products widen operands
 * while they pack them, convolutions and normalizations while they read them, and all yield bfloat16. */
#ifndef EDDY_OPS_KERNELS_BFLOAT16_PAIRS_H
#define EDDY_OPS_KERNELS_BFLOAT16_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

/* For an [m,k] matrix times a [k,n] matrix, whose pairs are neighbors along k. */
bool eddy__product_has_pairs(int64_t m, int64_t n, int64_t k);
/* Whether the same product widens its operands itself. */
bool eddy__product_widens(int64_t m, int64_t n, int64_t k);
/* For a convolution, or its gradient with respect to the input, that sums over so many channels. */
bool eddy__conv_has_pairs(int64_t channels);
/* Whether convolutions, batch normalization and their gradients widen their input themselves, and
 * round their result. */
bool eddy__kernels_widen(void);

#endif
