/* same_floats.h -- what the ops on several tensors of one float type check; private to ops/. */
#ifndef EDDY_SAME_FLOATS_H
#define EDDY_SAME_FLOATS_H

#include "graph/op.h"

/* All inputs are float32, or all are float64. */
bool eddy_infer_same_floats(eddy_infer *c);
/* Input i, if there is one, may have this shape; otherwise says so of `what`. */
bool eddy_infer_like(eddy_infer *c, int i, const char *what, eddy_shape want);

#endif
