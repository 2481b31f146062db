/* half_loops.h -- loops over bfloat16 that keep nothing in float32 in memory. */
#ifndef EDDY_OPS_KERNELS_ELEMENTWISE_HALF_LOOPS_H
#define EDDY_OPS_KERNELS_ELEMENTWISE_HALF_LOOPS_H

#include "graph/op.h"

/* The loops of Relu, ReluGrad and Add with AVX2, with the bits of those of float32 between casts. */
eddy_tile_fn eddy__half_relu(void);
eddy_tile_fn eddy__half_relu_grad(void);
eddy_tile_fn eddy__half_add(void);

#endif
