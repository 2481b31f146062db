/* computed_sizes.h -- helpers of operations whose sizes are tensors. */
#ifndef EDDY_OPS_ARRAYS_COMPUTED_SIZES_H
#define EDDY_OPS_ARRAYS_COMPUTED_SIZES_H

#include "graph/op.h"

/* Checks an argument of `called` with an element for each axis of x, and converts it to int64. */
eddy_tensor eddy__size_each_axis(const char *called, const char *what, eddy_tensor t,
                                 eddy_tensor x);
/* Checks an argument that is one number, and converts it to an int64 scalar. */
eddy_tensor eddy__size_number(const char *called, const char *what, eddy_tensor t, eddy_tensor x);
/* Element i of a vector as a scalar, and 0 .. n-1. */
eddy_tensor eddy__size_entry(eddy_tensor t, int i);
eddy_tensor eddy__size_positions(eddy_tensor n);

#endif
