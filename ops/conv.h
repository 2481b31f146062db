/* conv.h -- what the convolutions share; private to ops/. */
#ifndef EDDY_CONV_H
#define EDDY_CONV_H

#include "graph/op.h"

/* TensorFlow's: strides and dilations have an entry a dimension of x, explicit_paddings
 * two; data_format is NHWC or NCHW. */
typedef struct eddy_conv_attrs {
    eddy_dims   strides;
    const char *padding;
    eddy_dims   explicit_paddings, dilations;
    const char *data_format;
} eddy_conv_attrs;
extern const eddy_attr_field eddy_conv_fields[];

/* The axis of the channels of x. */
int eddy_conv_channels(const char *data_format);
/* From the options of a builder. */
eddy_conv_attrs eddy_conv_attrs_of(eddy_dims strides, const char *padding, eddy_dims paddings,
                                   eddy_dims dilations, const char *data_format);

/* Input i of all examples as more images, or with `channels` its axis of them, as more
 * groups; and a result of groups as one of examples, axis `axis` of `like` telling how many
 * channels one has. */
eddy_tensor eddy_conv_as_images(const eddy_batch *b, int i);
eddy_tensor eddy_conv_as_groups(const eddy_batch *b, int i, int channels);
eddy_tensor eddy_conv_of_groups(const eddy_batch *b, eddy_tensor y, eddy_tensor like, int axis,
                                int channels);

/* A convolution in numbers; pairs are those of the height and the width. */
typedef struct eddy_conv_size {
    int64_t batch, in_c, out_c, groups;
    int64_t in[2], out[2], filter[2], step[2], gap[2], before[2];
    bool    planes;                  /* channels come before height and width */
} eddy_conv_size;

/* Input x and filter, of types that infer let through, in numbers. */
eddy_conv_size eddy_conv_size_of(const eddy_conv_attrs *a, eddy_shape x, eddy_shape filter);
/* Attributes, element types, and the shapes of x and the filter fit; *y is that of the
 * result as far as it is known. */
bool eddy_infer_conv(eddy_infer *c, eddy_shape x, eddy_shape filter, eddy_shape *y);
/* Twice the products of a run. */
double eddy_conv_flops(const eddy_conv_attrs *a, eddy_shape x, eddy_shape filter);

/* What is done to a result while it is at hand: y = f(y + bias + residual). */
typedef struct eddy_conv_finish {
    const void *bias, *residual;     /* NULL: none */
    bool        relu;
} eddy_conv_finish;

/* y [batch, out, out_c], or with `back` dx from dy: how, in k->state, and the run of it. */
eddy_status eddy_conv_prepare(eddy_kernel *k, eddy_dtype d, const eddy_conv_size *s, bool back);
void eddy_conv_run(const eddy_kernel *k, const void *x, const void *filter, void *y,
                   eddy_conv_finish finish);
/* The gradient of the filter. */
eddy_status eddy_conv_filter_prepare(eddy_kernel *k, eddy_dtype d, const eddy_conv_size *s);
void eddy_conv_filter_run(const eddy_kernel *k, const void *x, const void *dy, void *dw);

/* How: by direct sums (conv_direct.h), or minimal filtering (conv_winograd.h).  A rule says
 * which; for tests and measurements, another may be asked for from now on, and is taken where
 * it is possible. */
typedef enum eddy_conv_method {
    EDDY_CONV_BY_RULE, EDDY_CONV_DIRECT, EDDY_CONV_WINOGRAD
} eddy_conv_method;
eddy_conv_method eddy_conv_method_of(eddy_dtype d, const eddy_conv_size *s);
void eddy_conv_method_ask(eddy_conv_method m);

#endif
