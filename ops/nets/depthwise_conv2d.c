/* depthwise_conv2d.c -- depthwise 2-D convolution, its gradients, and separable convolution. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/fusion_targets.h"
#include "ops/kernels/convolution/depthwise_conv.h"
#include "ops/nets/conv2d.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

#ifdef EDDY_HEADER
typedef struct eddy_separable_conv2d_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_separable_conv2d_args));
    eddy_tensor x, depthwise_filter, pointwise_filter;
    eddy_dims   strides;
    const char *padding;
    eddy_dims   explicit_paddings;
    eddy_dims   dilations;
    const char *data_format;
    const char *name;
} eddy_separable_conv2d_args;
#endif

/* --------------------------------------------------------------- batching -- */

/* Input 1 of all examples, as additional channels. */
static eddy_tensor filters_of(const eddy_batch *b)
{
    const eddy_tensor own = b->node->inputs[1];
    const eddy_tensor count = eddy_batch_like(Sum(own, .axes = EDDY_AXES(0, 1, 3)), b->examples);
    const eddy_tensor f = Transpose(eddy_batch_input(b, 1), EDDY_DIMS(0, 3, 1, 2, 4));
    return Transpose(eddy_merge_leading(f, count), EDDY_DIMS(1, 2, 0, 3));
}

/* All examples as one convolution with more channels; `axis` is the channel axis of the result. */
static void batch_channels(eddy_batch *b, int axis)
{
    const bool filter = axis == 2;
    const eddy_dims front = filter ? EDDY_DIMS(2, 0, 1, 3) : EDDY_DIMS(3, 0, 1, 2);
    const eddy_dims split = filter ? EDDY_DIMS(0, 3, 1, 2, 4) : EDDY_DIMS(0, 4, 1, 2, 3);
    const eddy_dims back = filter ? EDDY_DIMS(0, 2, 3, 1, 4) : EDDY_DIMS(0, 2, 3, 4, 1);
    eddy_tensor in[3];
    for (int i = 0; i < b->n_in; i++)
        in[i] = i == 1 ? filters_of(b) : eddy__conv_as_groups(b, i, 3);
    const eddy_tensor y = eddy_apply(b->node->op, b->attrs, b->n_in, in, (eddy_apply_args){ 0 });
    const eddy_tensor like = Transpose(eddy__batch_result_like(b), split);
    b->y[0] = Transpose(eddy_reshape_like(Transpose(y, front), like), back);
}

static void batch_images(eddy_batch *b)
{
    if (b->batched[1]) batch_channels(b, 3);
    else eddy__conv_batch_images(b);
}

static void batch_filters(eddy_batch *b) { batch_channels(b, 2); }

/* ------------------------------------------------------- depthwise_conv2d -- */

static eddy_status depthwise_prepare(eddy_kernel *k)
{
    const eddy_conv_size s = eddy__conv_size(k);
    return eddy__depthwise_prepare(k, k->in[0]->type.dtype, &s, false);
}

static eddy_status depthwise_kernel(eddy_kernel *k)
{
    eddy__depthwise_run(k, k->in[0]->data, k->in[1]->data, k->out[0]->data);
    return EDDY_OK;
}

static void gradient(eddy_rule *r)
{
    static const eddy_conv_family depthwise = {
        &eddy_op_depthwise, &eddy_op_depthwise_input, &eddy_op_depthwise_filter,
    };
    eddy__conv_gradient(r, &depthwise);
}

const eddy_op_def eddy_op_depthwise = {
    .name = "DepthwiseConv2dNative", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .variant = EDDY_CONV_DEPTHWISE,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS | EDDY_RANK(4) },
                          { "filter", EDDY_LIKE(0) | EDDY_RANK(4) }),
    .attrs_size = sizeof(eddy_conv_attrs), .attrs = eddy__conv_fields,
    .infer = eddy__conv_infer, .prepare = depthwise_prepare, .kernel = depthwise_kernel,
    .gradient = gradient, .batch = batch_images, .flops = eddy__conv_flops,
};

/* ------------------------------------------------------ channels second -- */

/* The shape [batch, height, width, channels] of planes [batch, channels, height, width]. */
static eddy_shape last_of_planes(eddy_shape x)
{
    return x.rank == 4 ? EDDY_SHAPE(x.dim[0], x.dim[2], x.dim[3], x.dim[1]) : x;
}

static bool planes_infer(eddy_infer *c)
{
    eddy_shape y;
    if (!eddy__infer_depthwise(c, last_of_planes(c->in[0].shape), c->in[1].shape, &y)) return false;
    return eddy__infer_yield(c, 0, c->in[0].dtype,
                             EDDY_SHAPE(y.dim[0], y.dim[3], y.dim[1], y.dim[2]));
}

static eddy_status planes_prepare(eddy_kernel *k)
{
    const eddy_conv_size s = eddy__conv_size_of(k->attrs, last_of_planes(k->in[0]->type.shape),
                                                eddy__conv_grouped(k->in[1]->type.shape));
    return eddy__depthwise_planes_prepare(k, k->in[0]->type.dtype, &s);
}

static eddy_status planes_kernel(eddy_kernel *k)
{
    eddy__depthwise_planes_run(k, k->in[0]->data, k->in[1]->data, k->out[0]->data);
    return EDDY_OK;
}

static double planes_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    const eddy_type last[] = { { in[0].dtype, last_of_planes(in[0].shape) }, in[1] };
    return eddy__conv_flops(attrs, n_in, last, out);
}

/* A vmap is expanded before a session creates this node; otherwise it loops over the examples. */
static void planes_batch(eddy_batch *b) { (void)b; }

/* A depthwise convolution of channels last, whose attributes it has, between the two transpositions
 * that NCHW costs; sessions create it where the strides of the width are 1. */
const eddy_op_def eddy_op_depthwise_planes = {
    .name = "_DepthwisePlanes", .label = "DepthwisePlanes", .min_inputs = 2, .max_inputs = 2,
    .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS | EDDY_RANK(4) },
                          { "filter", EDDY_LIKE(0) | EDDY_RANK(4) }),
    .attrs_size = sizeof(eddy_conv_attrs), .attrs = eddy__conv_fields,
    .infer = planes_infer, .prepare = planes_prepare, .kernel = planes_kernel,
    .batch = planes_batch, .flops = planes_flops,
};

EDDY_FUSION_TARGETS(&eddy_op_depthwise_planes)

static bool is_planes(const char *data_format)
{
    return data_format && strcmp(data_format, "NCHW") == 0;
}

/* An option with one entry per dimension, or two, in the order of NHWC. */
static eddy_dims channels_last(eddy_dims d)
{
    if (d.count == 4) return EDDY_DIMS(d.at[0], d.at[2], d.at[3], d.at[1]);
    if (d.count == 8)
        return EDDY_DIMS(d.at[0], d.at[1], d.at[4], d.at[5], d.at[6], d.at[7], d.at[2], d.at[3]);
    return d;
}

/** The 2-D convolution of each channel of images with its own filters:
 *
 *    y[n, i, j, c*m + q] = sum over di, dj of
 *                          x[n, i*stride + di*dilation, j*stride + dj*dilation, c]
 *                          filter[di, dj, c, q]
 *
 *  x                  float32 or float64 [batch, height, width, channels], for NCHW
 *                     [batch, channels, height, width]; y likewise, with channels * m channels
 *  filter             same type, [height, width, channels, m], where m is the multiplier
 *  strides, padding, explicit_paddings, dilations, data_format  as for eddy_conv2d; NCHW
 *                     costs two transpositions in gradients and with strides
 *
 *  Errors: EDDY_BAD_SHAPE if ranks or channels do not match or a window is larger than the
 *  image, EDDY_BAD_DTYPE, EDDY_INVALID_ARGUMENT for invalid options.
 *  Gradient: that of eddy_conv2d, for each channel separately.
 *  TensorFlow: DepthwiseConv2dNative, nn.depthwise_conv2d. */
eddy_tensor eddy_depthwise_conv2d_with(const eddy_conv2d_args *given)
{
    eddy_conv2d_args a = EDDY_TAKE(eddy_conv2d_args, given);
    const bool planes = is_planes(a.data_format);
    eddy_conv_attrs attrs = eddy__conv_attrs_of(a.strides, a.padding, a.explicit_paddings,
                                                a.dilations, a.data_format);
    if (!planes) {
        const eddy_tensor in[] = { a.x, a.filter };
        return eddy__apply_named(a.name, &eddy_op_depthwise, &attrs, 2, in);
    }
    attrs.strides = channels_last(attrs.strides);
    attrs.dilations = channels_last(attrs.dilations);
    attrs.explicit_paddings = channels_last(attrs.explicit_paddings);
    attrs.data_format = "NHWC";
    const eddy_tensor x = Transpose(a.x, EDDY_DIMS(0, 2, 3, 1));
    const eddy_tensor y = eddy_apply2(&eddy_op_depthwise, &attrs, x, a.filter);
    return eddy_transpose(y, EDDY_DIMS(0, 3, 1, 2), .name = a.name);
}

/* -------------------------------------------------- gradient of the input -- */

static eddy_status input_prepare(eddy_kernel *k)
{
    const eddy_conv_size s = eddy__conv_size(k);
    return eddy__depthwise_prepare(k, k->in[1]->type.dtype, &s, true);
}

static eddy_status input_kernel(eddy_kernel *k)
{
    eddy__depthwise_run(k, k->in[2]->data, k->in[1]->data, k->out[0]->data);
    return EDDY_OK;
}

const eddy_op_def eddy_op_depthwise_input = {
    .name = "DepthwiseConv2dNativeBackpropInput", .min_inputs = 3, .max_inputs = 3, .outputs = 1,
    .variant = EDDY_CONV_DEPTHWISE,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS | EDDY_RANK(4) },
                          { "filter", EDDY_LIKE(0) | EDDY_RANK(4) }, { "dy", EDDY_LIKE(0) }),
    .shape_inputs = 1u << 0, .attrs_size = sizeof(eddy_conv_attrs), .attrs = eddy__conv_fields,
    .infer = eddy__conv_input_infer, .prepare = input_prepare, .kernel = input_kernel,
    .gradient = gradient, .batch = batch_images, .flops = eddy__conv_flops,
};

/* ------------------------------------------------- gradient of the filter -- */

static eddy_status filter_prepare(eddy_kernel *k)
{
    const eddy_conv_size s = eddy__conv_size(k);
    return eddy__depthwise_filter_prepare(k, k->in[0]->type.dtype, &s);
}

static eddy_status filter_kernel(eddy_kernel *k)
{
    eddy__depthwise_filter_run(k, k->in[0]->data, k->in[2]->data, k->out[0]->data);
    return EDDY_OK;
}

const eddy_op_def eddy_op_depthwise_filter = {
    .name = "DepthwiseConv2dNativeBackpropFilter", .min_inputs = 3, .max_inputs = 3, .outputs = 1,
    .variant = EDDY_CONV_DEPTHWISE,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS | EDDY_RANK(4) },
                          { "filter", EDDY_LIKE(0) | EDDY_RANK(4) }, { "dy", EDDY_LIKE(0) }),
    .shape_inputs = 1u << 1, .attrs_size = sizeof(eddy_conv_attrs), .attrs = eddy__conv_fields,
    .infer = eddy__conv_filter_infer, .prepare = filter_prepare, .kernel = filter_kernel,
    .gradient = gradient, .batch = batch_filters, .flops = eddy__conv_flops,
};

/* ------------------------------------------------------- separable_conv2d -- */

/** y = eddy_conv2d(eddy_depthwise_conv2d(x, depthwise_filter), pointwise_filter): each channel
 *  is convolved separately, and channels are then combined at each pixel.
 *
 *  x                 as for eddy_depthwise_conv2d
 *  depthwise_filter  [height, width, channels, m]
 *  pointwise_filter  [1, 1, channels * m, out channels]
 *  strides, padding, explicit_paddings, dilations, data_format  of the depthwise convolution
 *
 *  Errors: those of eddy_depthwise_conv2d and eddy_conv2d; EDDY_BAD_SHAPE unless the pointwise
 *  filter has height and width 1.
 *  Gradient: that of the two operations.  TensorFlow: nn.separable_conv2d. */
eddy_tensor eddy_separable_conv2d_with(const eddy_separable_conv2d_args *given)
{
    eddy_separable_conv2d_args a = EDDY_TAKE(eddy_separable_conv2d_args, given);
    const eddy_shape p = eddy_shape_of(a.pointwise_filter);
    const eddy_shape d = eddy__conv_grouped(eddy_shape_of(a.depthwise_filter));
    char text[128];
    if (eddy_is_valid(a.pointwise_filter) && p.rank == 4 &&
        ((p.dim[0] != 1 && p.dim[0] != EDDY_ANY) || (p.dim[1] != 1 && p.dim[1] != EDDY_ANY)))
        return eddy_fail(a.x.graph, EDDY_BAD_SHAPE, "separable_conv2d: the pointwise filter has "
                         "shape %s; height and width 1 expected",
                         eddy_shape_print(p, text, sizeof text));
    if (eddy_is_valid(a.pointwise_filter) && p.rank == 4 && d.rank == 4 && p.dim[2] != EDDY_ANY &&
        d.dim[3] != EDDY_ANY && p.dim[2] != d.dim[3])
        return eddy_fail(a.x.graph, EDDY_BAD_SHAPE, "separable_conv2d: the pointwise filter has "
                         "shape %s; expected %lld in dimension 2, the channels",
                         eddy_shape_print(p, text, sizeof text), (long long)d.dim[3]);
    const eddy_tensor y = eddy_depthwise_conv2d_with(EDDY_ARGS(
        eddy_conv2d_args, .x = a.x, .filter = a.depthwise_filter, .strides = a.strides,
        .padding = a.padding, .explicit_paddings = a.explicit_paddings, .dilations = a.dilations,
        .data_format = a.data_format));
    return eddy_conv2d(y, a.pointwise_filter, .data_format = a.data_format, .name = a.name);
}
