/* expect_shape.h -- a shape check shared by operations on several tensors; private to ops/. */
#ifndef EDDY_OPS_NETS_EXPECT_SHAPE_H
#define EDDY_OPS_NETS_EXPECT_SHAPE_H

#include "graph/op.h"

/* Returns true if input i is absent or its shape is compatible with `want`; otherwise reports an
 * error that names the input `what`. */
bool eddy__expect_shape(eddy_infer *c, int i, const char *what, eddy_shape want);
/* Checks that argument x of the builder `op` is float32 or float64; otherwise reports an error. */
bool eddy__check_floats(const char *op, eddy_tensor x);

#endif
