/* mixed_precision.h -- training in mixed precision: products and what is between them in a 16-bit
 * type, variables and sensitive operations in float32. */
#ifndef EDDY_OPTIM_MIXED_PRECISION_H
#define EDDY_OPTIM_MIXED_PRECISION_H

#include "../graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* From now on, operations that are built on g compute in `dtype`, EDDY_BFLOAT16 or EDDY_FLOAT16,
 * where that is safe: the library casts their float32 inputs. EDDY_FLOAT32 ends it.
 *
 * - Products, convolutions except transposed ones, attention and recurrent operations always do.
 * - Sums, products and quotients of elements, activations, normalizations, pooling, softmax, and
 *   what joins or selects elements, do if one of the inputs is of the 16-bit type already.
 * - Exponentials, powers, sums, means, losses and all other operations compute in float32; a
 *   16-bit input is cast to it. Those that only move elements keep the type that they get.
 *
 * Variables, and those that layers create, remain float32, and so do their gradients and slots. A
 * gradient has the type of its tensor. Inputs of another type are left alone, and so are nodes
 * that were built before, gradient rules, the updates of optimizers and graphs that are copied or
 * read. Gradients in float16 need a loss scale (eddy_loss_scale); those in bfloat16 do not.
 *
 * Errors: EDDY_BAD_DTYPE for another dtype. TensorFlow: the lists of auto_mixed_precision
 * (tf.train.experimental.enable_mixed_precision_graph_rewrite), applied while the graph is built:
 * an operation cannot look at those that read it. */
EDDY_API void eddy_mixed_precision(eddy_graph *g, eddy_dtype dtype);

#ifdef __cplusplus
}
#endif

#endif
