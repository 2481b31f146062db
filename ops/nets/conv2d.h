/* conv2d.h -- attributes and shape rules shared by the convolutions. */
#ifndef EDDY_OPS_NETS_CONV2D_H
#define EDDY_OPS_NETS_CONV2D_H

#include "graph/op.h"
#include "ops/kernels/convolution/conv.h"

/* In TensorFlow's form: strides and dilations have one entry per dimension of x, explicit_paddings
 * two; data_format is NHWC or NCHW. */
typedef struct eddy_conv_attrs {
    eddy_dims   strides;
    const char *padding;
    eddy_dims   explicit_paddings, dilations;
    const char *data_format;
} eddy_conv_attrs;
extern const eddy_attr_field eddy__conv_fields[];

/* The axis of the channels of x. */
int eddy__conv_channels(const char *data_format);
/* Converts the options of a builder. */
eddy_conv_attrs eddy__conv_attrs_of(eddy_dims strides, const char *padding, eddy_dims paddings,
                                    eddy_dims dilations, const char *data_format);

/* Input i with all examples as additional images, or, along its axis `channels`, as groups. */
eddy_tensor eddy__conv_as_images(const eddy_batch *b, int i);
eddy_tensor eddy__conv_as_groups(const eddy_batch *b, int i, int channels);
/* Batching rules: all examples as images, if they share the filter; or as groups. Then axis `axis`
 * of the result has the channels of all examples; each example has as many as axis `own` of the
 * node's input `like`. */
void eddy__conv_batch_images(eddy_batch *b);
void eddy__conv_batch_groups(eddy_batch *b, int like, int own, int axis);

/* The sizes of x and filter, of types that infer has accepted. */
eddy_conv_size eddy__conv_size_of(const eddy_conv_attrs *a, eddy_shape x, eddy_shape filter);
/* Checks that attributes, element types, and the shapes of x and the filter match; *y is the shape
 * of the result as far as it is known. */
bool eddy__infer_conv(eddy_infer *c, eddy_shape x, eddy_shape filter, eddy_shape *y);

/* ----------------------------------------------------------------- family -- */

/* A convolution, and its gradients with respect to its input and its filter; these have inputs x,
 * filter and dy.  Those of depthwise convolution have this `variant`. */
typedef struct eddy_conv_family {
    const eddy_op_def *conv, *input, *filter;
} eddy_conv_family;
enum { EDDY_CONV_DEPTHWISE = 1 };

/* The filter [height, width, channels, multiplier] of a depthwise convolution as one of a
 * convolution with one group per channel. */
eddy_shape eddy__conv_grouped(eddy_shape filter);
/* Checks that types and attributes of a depthwise convolution match: x is [batch, height, width,
 * channels], as y is. */
bool eddy__infer_depthwise(eddy_infer *c, eddy_shape x, eddy_shape filter, eddy_shape *y);
/* op->infer of the three. */
bool eddy__conv_infer(eddy_infer *c);
bool eddy__conv_input_infer(eddy_infer *c);
bool eddy__conv_filter_infer(eddy_infer *c);
/* The sizes of inputs 0 and 1 of any of them; and op->flops, twice the number of products. */
eddy_conv_size eddy__conv_size(const eddy_kernel *k);
double eddy__conv_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out);
/* op->gradient of all three; and that of conv2d. */
void eddy__conv_gradient(eddy_rule *r, const eddy_conv_family *of);
void eddy__conv2d_gradient(eddy_rule *r);

#endif
