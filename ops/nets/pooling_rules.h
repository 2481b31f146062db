/* pooling_rules.h -- attributes, shape rule, batching rule and builders that the pooling
 * operations share; their loops are in ops/kernels/pooling/. */
#ifndef EDDY_OPS_NETS_POOLING_RULES_H
#define EDDY_OPS_NETS_POOLING_RULES_H

#include "ops/kernels/pooling/pool_windows.h"
#include "ops/ops.h"

/* The `variant` of a definition.  Those for images have rank 4, no dilations or explicit paddings,
 * and TensorFlow's signs of zeros (eddy__window_of_images); the others have one to three axes. */
enum { EDDY_WINDOWS_OF_BOXES, EDDY_WINDOWS_OF_IMAGES };

/* ------------------------------------------------------------ definitions -- */

/* *y = the shape of x, input 0, pooled; *x then has its rank. */
bool eddy__window_infer(eddy_infer *c, eddy_shape *x, eddy_shape *y);
/* One operation for each element of each window; and the batching rule of an op if all its inputs
 * and outputs have a batch axis in front. */
double eddy__window_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out);
void   eddy__window_batch(eddy_batch *b);

/* --------------------------------------------------------------- builders -- */

/* Whether channels come second; returns false after an error if data_format is not a layout with
 * this many axes. */
bool eddy__window_format(const char *op, eddy_graph *g, const char *data_format, int axes,
                         bool *planes);
/* The entries of the axes, from one entry, one per axis, or one per dimension of x. */
bool eddy__window_entries(const char *op, eddy_graph *g, const char *what, eddy_dims d, int axes,
                          bool planes, eddy_dims *out);
/* The paddings before and after each axis, from two entries per axis or per dimension of x. */
bool eddy__window_paddings(const char *op, eddy_graph *g, eddy_dims d, int axes, bool planes,
                           eddy_dims *out);
/* Applies op to x; channels that come second are moved to the end and back, or made an axis. */
eddy_tensor eddy__window_apply(const eddy_op_def *op, const eddy_window_attrs *a, eddy_tensor x,
                               bool planes, const char *name);
/* Max or average pooling along this many axes, by the operation for images where that suffices;
 * `called` names the builder in messages. */
eddy_tensor eddy__window_pool(bool mean, const char *called, int axes, const eddy_pool_nd_args *p);

#endif
