/* same_floats.h -- type checks shared by operations on several tensors of one float type;
 * private to ops/. */
#ifndef EDDY_OPS_NETS_SAME_FLOATS_H
#define EDDY_OPS_NETS_SAME_FLOATS_H

#include "graph/op.h"

/* Input i, if there is one, may have this shape; otherwise says so of `what`. */
bool eddy__infer_like(eddy_infer *c, int i, const char *what, eddy_shape want);
/* Argument x of the builder `op` is of a float type; otherwise says so on the graph. */
bool eddy__check_floats(const char *op, eddy_tensor x);

#endif
