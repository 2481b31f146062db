/* expect_shape.h -- type checks shared by operations on several tensors of one float type;
 * private to ops/. */
#ifndef EDDY_OPS_NETS_EXPECT_SHAPE_H
#define EDDY_OPS_NETS_EXPECT_SHAPE_H

#include "graph/op.h"

/* Input i, if there is one, may have this shape; otherwise says so of `what`. */
bool eddy__expect_shape(eddy_infer *c, int i, const char *what, eddy_shape want);

#endif
