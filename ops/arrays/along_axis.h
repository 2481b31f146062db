/* along_axis.h -- the axis attribute of operations that work along one axis. */
#ifndef EDDY_OPS_ARRAYS_ALONG_AXIS_H
#define EDDY_OPS_ARRAYS_ALONG_AXIS_H

#include "graph/op.h"
#include "ops/kernels/arrays/radix_sort.h"

/* *at = the axis of input 0 counted from the front, where its rank is known; says so if
 * there is none. */
bool eddy__infer_along(eddy_infer *c, int64_t axis, int *at);
/* Output 0 is like x, output 1 the int32 index along `axis` of each of its elements. */
bool eddy__infer_with_places(eddy_infer *c, int64_t axis);

#endif
