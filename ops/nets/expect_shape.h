/* expect_shape.h -- a shape check shared by operations on several tensors; private to ops/. */
#ifndef EDDY_OPS_NETS_EXPECT_SHAPE_H
#define EDDY_OPS_NETS_EXPECT_SHAPE_H

#include "graph/op.h"

/* True if input i is absent or may have the shape `want`; otherwise an error that names the input
 * as `what`. */
bool eddy__expect_shape(eddy_infer *c, int i, const char *what, eddy_shape want);

#endif
