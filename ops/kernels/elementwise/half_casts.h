/* half_casts.h -- inner loops that convert between float32 and the 16-bit types. */
#ifndef EDDY_OPS_KERNELS_ELEMENTWISE_HALF_CASTS_H
#define EDDY_OPS_KERNELS_ELEMENTWISE_HALF_CASTS_H

#include "graph/op.h"

/* True for float16 and bfloat16. */
bool eddy__dtype_is_half(eddy_dtype d);
/* y[0..n) of float32 = x[0] of the 16-bit type `half`, exactly; and the other direction, rounded
 * once, ties to even. */
eddy_tile_fn eddy__half_to_f32(eddy_dtype half);
eddy_tile_fn eddy__f32_to_half(eddy_dtype half);
/* y = the float32 of the bfloat16 of x. */
eddy_tile_fn eddy__f32_rounded_to_bfloat16(void);

#endif
