/* half_relu.h -- relu and its gradient of bfloat16 without conversion to float32. */
#ifndef EDDY_OPS_KERNELS_ELEMENTWISE_HALF_RELU_H
#define EDDY_OPS_KERNELS_ELEMENTWISE_HALF_RELU_H

#include "graph/op.h"

/* The loops of Relu and ReluGrad with AVX2, with the bits of those of float32 between casts. */
eddy_tile_fn eddy__half_relu(void);
eddy_tile_fn eddy__half_relu_grad(void);

#endif
