/* along_axis.h -- the axis attribute of operations that work along one axis. */
#ifndef EDDY_OPS_ARRAYS_ALONG_AXIS_H
#define EDDY_OPS_ARRAYS_ALONG_AXIS_H

#include "graph/op.h"
#include "ops/kernels/arrays/sort_words.h"

/* *at = the axis of input 0 counted from the front, if its rank is known; reports an error if
 * there is no such axis. */
bool eddy__infer_along(eddy_infer *c, int64_t axis, int *at);
/* Output 0 has the type and shape of x; output 1, int32, has its shape. */
bool eddy__infer_with_indices(eddy_infer *c, int64_t axis);

#endif
