/* einsum.h -- sums of products of tensors with labelled axes, shared by the files of einsum;
 * private to ops/. */
#ifndef EDDY_OPS_LINEAR_EINSUM_H
#define EDDY_OPS_LINEAR_EINSUM_H

#include "graph/op.h"

/* Labels are small numbers: A to Z and a to z in this order, then the axes that an
 * ellipsis stands for, the last of them first. */
enum { EDDY_ELLIPSIS_LABEL = 52, EDDY_LABELS = EDDY_ELLIPSIS_LABEL + EDDY_MAX_RANK };
enum { EDDY_EINSUM_INPUTS = 64 };

typedef struct eddy_axes_of {
    int n;
    int label[EDDY_MAX_RANK];
} eddy_axes_of;

/* The labels of n tensors and, as out[n], of the result; false after recording an error. */
bool eddy__einsum_parse(const char *equation, eddy_list tensors, eddy_axes_of *out);

/* result[labels of out] = the sum over all other labels of the product of the tensors, which
 * have the labels axes[i]; there are 1 to EDDY_EINSUM_INPUTS.  Sizes of one label are
 * equal, or of an ellipsis broadcast. */
eddy_tensor eddy__contract(eddy_list tensors, const eddy_axes_of *axes, const eddy_axes_of *out);

#endif
