/* computed_axes.h -- axes that are the elements of a tensor. */
#ifndef EDDY_OPS_ARRAYS_COMPUTED_AXES_H
#define EDDY_OPS_ARRAYS_COMPUTED_AXES_H

#include "graph/op.h"

/* Checks the arguments of `called`: a tensor of known rank, and axes as a vector of int64; records
 * an error and returns an invalid tensor if they do not match. */
eddy_tensor eddy__axes_checked(const char *called, eddy_tensor x, eddy_tensor axes);
/* The number of axes, -1 if only a run tells; and the axes themselves if they are constant. */
int         eddy__axes_count(eddy_tensor axes);
bool        eddy__axes_constant(eddy_tensor axes, eddy_dims *list);
/* int64 [rank]: 1 for each dimension that the axes name, else 0. A run fails with a message of
 * `called` for an axis out of range or named twice. */
eddy_tensor eddy__axes_marked(const char *called, eddy_tensor axes, int rank);
/* The entries of a vector that are not marked; n is the number of marked ones, or -1. */
eddy_tensor eddy__axes_unmarked(eddy_tensor list, eddy_tensor marked, int n);

#endif
