/* conv2d.h -- attributes and shape rules shared by the convolutions. */
#ifndef EDDY_OPS_NETS_CONV2D_H
#define EDDY_OPS_NETS_CONV2D_H

#include "graph/op.h"
#include "ops/kernels/convolution/conv.h"

/* TensorFlow's: strides and dilations have an entry a dimension of x, explicit_paddings
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
/* From the options of a builder. */
eddy_conv_attrs eddy__conv_attrs_of(eddy_dims strides, const char *padding, eddy_dims paddings,
                                    eddy_dims dilations, const char *data_format);

/* Input i of all examples as more images, or with `channels` its axis of them, as more groups. */
eddy_tensor eddy__conv_as_images(const eddy_batch *b, int i);
eddy_tensor eddy__conv_as_groups(const eddy_batch *b, int i, int channels);
/* Batching rules: all examples as images, if the filter is the same for all; or as groups, where the
 * channels of the result, at `axis`, are as many as axis `own` of the node's input `like` has. */
void eddy__conv_batch_images(eddy_batch *b);
void eddy__conv_batch_groups(eddy_batch *b, int like, int own, int axis);

/* Input x and filter, of types that infer let through, in numbers. */
eddy_conv_size eddy__conv_size_of(const eddy_conv_attrs *a, eddy_shape x, eddy_shape filter);
/* Attributes, element types, and the shapes of x and the filter fit; *y is that of the
 * result as far as it is known. */
bool eddy__infer_conv(eddy_infer *c, eddy_shape x, eddy_shape filter, eddy_shape *y);
/* Of a gradient op: dy, input 2, has the shape *y of the convolution, of which more may then be
 * known; if not, `unlike` takes both shapes. */
bool eddy__infer_conv_dy(eddy_infer *c, eddy_shape *y, const char *unlike);
/* dx has the shape of x, input 0, and the batch of the convolution y. */
bool eddy__infer_conv_dx(eddy_infer *c, eddy_shape y);
/* Twice the products of a run; and as op->flops. */
double eddy__conv_flops(const eddy_conv_attrs *a, eddy_shape x, eddy_shape filter);
double eddy__conv2d_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out);

#endif
