/* pool_windows.h -- attributes, shape rule, batching rule and builders that the pooling
 * operations share; their loops are ops/kernels/pooling/pool_windows.h. */
#ifndef EDDY_OPS_NETS_POOL_WINDOWS_H
#define EDDY_OPS_NETS_POOL_WINDOWS_H

#include "ops/kernels/pooling/pool_windows.h"

extern const eddy_attr_field eddy__window_fields[];

/* ------------------------------------------------------------ definitions -- */

/* *y = the shape of x, input 0, pooled; *x has its rank then. */
bool eddy__window_infer(eddy_infer *c, eddy_shape *x, eddy_shape *y);
/* One operation for each element of each window; and the rule of an op whose inputs and output
 * all have examples in front. */
double eddy__window_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out);
void   eddy__window_batch(eddy_batch *b);

/* --------------------------------------------------------------- builders -- */

/* Whether channels come second; false after an error if data_format names no layout of this
 * many axes. */
bool eddy__window_format(const char *op, eddy_graph *g, const char *data_format, int axes,
                         bool *planes);
/* The entries of the axes: of one, of one for each, or of one for each dimension of x. */
bool eddy__window_entries(const char *op, eddy_graph *g, const char *what, eddy_dims d, int axes,
                          bool planes, eddy_dims *out);
/* Of each axis what goes before and after, of each, or of each dimension of x. */
bool eddy__window_paddings(const char *op, eddy_graph *g, eddy_dims d, int axes, bool planes,
                           eddy_dims *out);
/* op on x; where channels come second, they are moved to the end and back, or made an axis. */
eddy_tensor eddy__window_apply(const eddy_op_def *op, const eddy_window_attrs *a, eddy_tensor x,
                               bool planes, const char *name);

#endif
