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

/* A definition with n inputs, x first, of which those in the set `shapes` are used only for their
 * shapes: its kernel and gradient begin with `what`, its attributes are those of `kind`. The last
 * arguments declare the inputs. */
#define EDDY_WINDOW_OP(type, kind, what, infer_fn, n, shapes, ...)                     \
    { .name = type, .min_inputs = n, .max_inputs = n, .outputs = 1,                    \
      .variant = EDDY_WINDOWS_OF_##kind, .inputs = EDDY_INPUTS(__VA_ARGS__),           \
      .shape_inputs = shapes, .attrs_size = sizeof(eddy_window_attrs),                 \
      .attrs = eddy__window_fields[EDDY_WINDOWS_OF_##kind], .flops = eddy__window_flops, \
      .infer = infer_fn, .prepare = eddy__window_op_prepare, .kernel = what##_kernel,  \
      .gradient = what##_gradient, .batch = eddy__window_batch }

/* The types and ranks that each kind accepts for x. */
enum { EDDY_BOXES_X = EDDY_TAKES_FLOATS, EDDY_IMAGES_X = EDDY_TAKES_FLOATS | EDDY_RANK(4) };
/* The attributes of each variant. */
extern const eddy_attr_field eddy__window_fields[2][7];

/* Infers an operation whose only input is x. */
bool        eddy__window_op_infer(eddy_infer *c);
/* Arranges the windows; input 1, if there is one, has the shape of y. */
eddy_status eddy__window_op_prepare(eddy_kernel *k);
/* Of two definitions, the one of the same kind as the rule's node. */
const eddy_op_def *eddy__window_alike(const eddy_rule *r, const eddy_op_def *of_boxes,
                                      const eddy_op_def *of_images);

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
/* Pooling along this many axes by one of two operations: the one for images where it suffices, else
 * the one for boxes; `called` names the builder in messages. */
eddy_tensor eddy__window_pool(const eddy_op_def *of_boxes, const eddy_op_def *of_images,
                              const char *called, int axes, const eddy_pool_nd_args *p);

#endif
