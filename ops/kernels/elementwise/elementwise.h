/* elementwise.h -- the engine that runs all elementwise loops with broadcasting.
 *
 * Dimensions that all operands traverse alike are merged. An operand that is broadcast along the
 * innermost merged dimension is expanded to a tile of about a thousand elements, so that the
 * inner loop of an operation (eddy_tile_fn) sees only contiguous operands. */
#ifndef EDDY_OPS_KERNELS_ELEMENTWISE_ELEMENTWISE_H
#define EDDY_OPS_KERNELS_ELEMENTWISE_ELEMENTWISE_H

#include "graph/op.h"

/* op->infer of elementwise ops, whose inputs have one dtype and shapes that broadcast; the output
 * has that dtype (or bool). */
bool eddy__infer_elementwise(eddy_infer *c);
bool eddy__infer_comparison(eddy_infer *c);
/* Sets out[0].shape to the inputs' shapes broadcast together; reports an error if they do not. */
bool eddy__infer_broadcast_shape(eddy_infer *c);

/* prepare and kernel of every op with EDDY_OP_ELEMENTWISE. */
eddy_status eddy__elementwise_prepare(eddy_kernel *k);
eddy_status eddy__elementwise_kernel(eddy_kernel *k);

/* Reports why an element could not be computed. */
eddy_status eddy__elementwise_fail(eddy_kernel *k, eddy_status s);

/* y = fn(x[0], ...), with operands of shape `in[i]` broadcast to `out`: for
 * kernels of other ops that need one such loop. */
eddy_status eddy__elementwise_apply(eddy_tile_fn fn, const void *attrs, eddy_type out, void *y,
                                    int n, const eddy_type *in, const void *const *x);

/* An operand that is broadcast, element by element of the result: merged
 * dimensions of the result, outermost first, and the operand's step along each.
 * The innermost step is 0 or 1. */
typedef struct eddy_expansion {
    int     rank;
    int64_t dim[EDDY_MAX_RANK], step[EDDY_MAX_RANK];
} eddy_expansion;
eddy_expansion eddy__expansion_of(eddy_shape operand, eddy_shape result);
/* to[0..n) = the operand at elements [at, at + n) of the result, row-major. */
void eddy__expand(const eddy_expansion *e, size_t size, void *to, const void *from, int64_t at,
                  int64_t n);
/* to[0..n) = one element. */
void eddy__spread(void *to, const void *from, size_t size, int64_t n);

#endif
