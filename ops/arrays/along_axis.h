/* along_axis.h -- the axis attribute of operations that work along one axis. */
#ifndef EDDY_OPS_ARRAYS_ALONG_AXIS_H
#define EDDY_OPS_ARRAYS_ALONG_AXIS_H

#include "graph/op.h"
#include "ops/kernels/arrays/sort_words.h"

/* Output 0 has the type and shape of x; output 1, int32, has its shape. */
bool eddy__infer_with_indices(eddy_infer *c, int64_t axis);

#endif
