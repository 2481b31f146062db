/* einsum.h -- sums of products of tensors with labeled axes, shared by the files of einsum;
 * private to ops/. */
#ifndef EDDY_OPS_LINEAR_EINSUM_H
#define EDDY_OPS_LINEAR_EINSUM_H

#include "graph/op.h"

/* Labels are small numbers: A to Z, a to z, then the axes of an ellipsis, the last one first. */
enum { EDDY_ELLIPSIS_LABEL = 52, EDDY_LABELS = EDDY_ELLIPSIS_LABEL + EDDY_MAX_RANK };
enum { EDDY_EINSUM_INPUTS = 64 };

typedef struct eddy_axes_of {
    int n;
    int label[EDDY_MAX_RANK];
} eddy_axes_of;

/* Parses the labels of n tensors and, as out[n], of the result; false after recording an error. */
bool eddy__einsum_parse(const char *equation, eddy_list tensors, eddy_axes_of *out);

/* result[labels of out] = the sum over all other labels of the product of the tensors, which have
 * the labels axes[i]; there are 1 to EDDY_EINSUM_INPUTS.  Axes with the same label have the same
 * size, or broadcast if they belong to an ellipsis. */
eddy_tensor eddy__contract(eddy_list tensors, const eddy_axes_of *axes, const eddy_axes_of *out);

#endif
