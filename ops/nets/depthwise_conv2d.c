/* depthwise_conv2d.c -- depthwise 2-D convolution, its gradients, and separable convolution. */
#include "ops/arrays/arrays.h"
#include "graph/take.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/convolution/depthwise_conv.h"
#include "ops/nets/conv2d.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

#ifdef EDDY_HEADER
typedef struct eddy_depthwise_conv2d_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_depthwise_conv2d_args));
    eddy_tensor x, filter;
    eddy_dims   strides;           /* of height and width, or one for both; default 1 */
    const char *padding;           /* "VALID" (the default), "SAME", "EXPLICIT" */
    eddy_dims   explicit_paddings; /* top, bottom, left, right */
    eddy_dims   dilations;         /* as strides; default 1 */
    const char *data_format;       /* "NHWC" (the default), "NCHW" */
    const char *name;
} eddy_depthwise_conv2d_args;
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

/* ----------------------------------------------------------------- shapes -- */

/* The filter [height, width, channels, multiplier] as one of a convolution with a group a
 * channel. */
static eddy_shape grouped(eddy_shape filter)
{
    if (filter.rank != 4) return filter;
    const int64_t c = filter.dim[2], m = filter.dim[3];
    const bool    known = c != EDDY_ANY && m != EDDY_ANY;
    const bool    fits = known && (m == 0 || c <= ((int64_t)1 << 48) / m);
    return EDDY_SHAPE(filter.dim[0], filter.dim[1], 1, fits ? c * m : EDDY_ANY);
}

static bool infer_depthwise(eddy_infer *c, eddy_shape *y)
{
    const eddy_conv_attrs *a = c->attrs;
    const eddy_shape x = c->in[0].shape, filter = c->in[1].shape;
    if (a->data_format && strcmp(a->data_format, "NCHW") == 0)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "only channels last is supported; transpose");
    if (x.rank == 4 && filter.rank == 4 && x.dim[3] != EDDY_ANY && filter.dim[2] != EDDY_ANY &&
        x.dim[3] != filter.dim[2])
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "x has %lld channels, but the filter has %lld",
                               (long long)x.dim[3], (long long)filter.dim[2]);
    return eddy__infer_conv(c, x, grouped(filter), y);
}

static eddy_conv_size size_of(const eddy_conv_attrs *a, eddy_shape x, eddy_shape filter)
{
    return eddy__conv_size_of(a, x, grouped(filter));
}

static double depthwise_flops(const void *attrs, int n_in, const eddy_type *in,
                              const eddy_type *out)
{
    (void)n_in, (void)out;
    return eddy__conv_flops(attrs, in[0].shape, grouped(in[1].shape));
}

/* *y = the shape of the convolution of inputs 0 and 1, which input 2 has. */
static bool infer_backprop(eddy_infer *c, eddy_shape *y)
{
    return infer_depthwise(c, y) && eddy__infer_conv_dy(c, y, "dy has shape %s; expected %s");
}

/* --------------------------------------------------------------- batching -- */

/* Input 1 of all examples, with more channels. */
static eddy_tensor filters_of(const eddy_batch *b)
{
    const eddy_tensor own = b->node->inputs[1];
    const eddy_tensor count = eddy_batch_like(Sum(own, .axes = EDDY_AXES(0, 1, 3)), b->examples);
    const eddy_tensor f = Transpose(eddy_batch_input(b, 1), EDDY_DIMS(0, 3, 1, 2, 4));
    return Transpose(eddy_merge_leading(f, count), EDDY_DIMS(1, 2, 0, 3));
}

/* All examples as one convolution of more channels; `axis` is that of the result's. */
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

static bool depthwise_infer(eddy_infer *c)
{
    eddy_shape y;
    return infer_depthwise(c, &y) && eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

static eddy_status depthwise_prepare(eddy_kernel *k)
{
    const eddy_type      x = k->in[0]->type;
    const eddy_conv_size s = size_of(k->attrs, x.shape, k->in[1]->type.shape);
    return eddy__depthwise_prepare(k, x.dtype, &s, false);
}

static eddy_status depthwise_kernel(eddy_kernel *k)
{
    eddy__depthwise_run(k, k->in[0]->data, k->in[1]->data, k->out[0]->data);
    return EDDY_OK;
}

static void depthwise_gradient(eddy_rule *r)
{
    r->dx[0] = eddy__apply3(&eddy_op_depthwise_input, r->attrs, r->x[0], r->x[1], r->dy[0]);
    r->dx[1] = eddy__apply3(&eddy_op_depthwise_filter, r->attrs, r->x[0], r->x[1], r->dy[0]);
}

const eddy_op_def eddy_op_depthwise = {
    .name = "DepthwiseConv2dNative", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }, { "filter", EDDY_LIKE(0) }),
    .attrs_size = sizeof(eddy_conv_attrs), .attrs = eddy__conv_fields,
    .infer = depthwise_infer, .prepare = depthwise_prepare, .kernel = depthwise_kernel,
    .gradient = depthwise_gradient, .batch = batch_images, .flops = depthwise_flops,
};

static bool is_planes(const char *data_format)
{
    return data_format && strcmp(data_format, "NCHW") == 0;
}

/* An option with an entry a dimension, or two, in the order of NHWC. */
static eddy_dims channels_last(eddy_dims d)
{
    if (d.count == 4) return EDDY_DIMS(d.at[0], d.at[2], d.at[3], d.at[1]);
    if (d.count == 8)
        return EDDY_DIMS(d.at[0], d.at[1], d.at[4], d.at[5], d.at[6], d.at[7], d.at[2], d.at[3]);
    return d;
}

/** The 2-D convolution of each channel of images with filters of its own:
 *
 *    y[n, i, j, c*m + q] = sum over di, dj of
 *                          x[n, i*stride + di*dilation, j*stride + dj*dilation, c]
 *                          filter[di, dj, c, q]
 *
 *  x                  float32 or float64 [batch, height, width, channels], for NCHW
 *                     [batch, channels, height, width]; y likewise with channels * m of them
 *  filter             of the same type [height, width, channels, m], m the multiplier
 *  strides, padding, explicit_paddings, dilations, data_format  as for eddy_conv2d; NCHW
 *                     costs two transpositions
 *
 *  Errors: EDDY_BAD_SHAPE if ranks or channels do not fit or a window is larger than the
 *  image, EDDY_BAD_DTYPE, EDDY_INVALID_ARGUMENT for other options.
 *  Gradient: that of eddy_conv2d, each channel by itself.
 *  TensorFlow: DepthwiseConv2dNative, nn.depthwise_conv2d. */
eddy_tensor eddy_depthwise_conv2d_with(const eddy_depthwise_conv2d_args *given)
{
    eddy_depthwise_conv2d_args a = EDDY_TAKE(eddy_depthwise_conv2d_args, given);
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

/* Of x, which only lends its shape, filter and dy. */
static bool input_infer(eddy_infer *c)
{
    eddy_shape y;
    return infer_backprop(c, &y) && eddy__infer_conv_dx(c, y);
}

static eddy_status input_prepare(eddy_kernel *k)
{
    const eddy_conv_size s = size_of(k->attrs, k->out[0]->type.shape, k->in[1]->type.shape);
    return eddy__depthwise_prepare(k, k->in[1]->type.dtype, &s, true);
}

static eddy_status input_kernel(eddy_kernel *k)
{
    eddy__depthwise_run(k, k->in[2]->data, k->in[1]->data, k->out[0]->data);
    return EDDY_OK;
}

static void input_gradient(eddy_rule *r)
{
    r->dx[1] = eddy__apply3(&eddy_op_depthwise_filter, r->attrs, r->dy[0], r->x[1], r->x[2]);
    r->dx[2] = eddy_apply2(&eddy_op_depthwise, r->attrs, r->dy[0], r->x[1]);
}

const eddy_op_def eddy_op_depthwise_input = {
    .name = "DepthwiseConv2dNativeBackpropInput", .min_inputs = 3, .max_inputs = 3, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }, { "filter", EDDY_LIKE(0) },
                          { "dy", EDDY_LIKE(0) }),
    .shape_inputs = 1u << 0, .attrs_size = sizeof(eddy_conv_attrs), .attrs = eddy__conv_fields,
    .infer = input_infer, .prepare = input_prepare, .kernel = input_kernel,
    .gradient = input_gradient, .batch = batch_images, .flops = depthwise_flops,
};

/* ------------------------------------------------- gradient of the filter -- */

/* Of x, filter, which only lends its shape, and dy. */
static bool filter_infer(eddy_infer *c)
{
    eddy_shape y, filter = c->in[1].shape;
    if (!infer_backprop(c, &y)) return false;
    if (filter.rank < 0) filter = eddy__shape_open(4);
    if (c->in[0].shape.rank == 4) eddy__dim_unify(&filter.dim[2], c->in[0].shape.dim[3]);
    return eddy__infer_yield(c, 0, c->in[0].dtype, filter);
}

static eddy_status filter_prepare(eddy_kernel *k)
{
    const eddy_conv_size s = size_of(k->attrs, k->in[0]->type.shape, k->out[0]->type.shape);
    return eddy__depthwise_filter_prepare(k, k->in[0]->type.dtype, &s);
}

static eddy_status filter_kernel(eddy_kernel *k)
{
    eddy__depthwise_filter_run(k, k->in[0]->data, k->in[2]->data, k->out[0]->data);
    return EDDY_OK;
}

static void filter_gradient(eddy_rule *r)
{
    r->dx[0] = eddy__apply3(&eddy_op_depthwise_input, r->attrs, r->x[0], r->dy[0], r->x[2]);
    r->dx[2] = eddy_apply2(&eddy_op_depthwise, r->attrs, r->x[0], r->dy[0]);
}

const eddy_op_def eddy_op_depthwise_filter = {
    .name = "DepthwiseConv2dNativeBackpropFilter", .min_inputs = 3, .max_inputs = 3, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }, { "filter", EDDY_LIKE(0) },
                          { "dy", EDDY_LIKE(0) }),
    .shape_inputs = 1u << 1, .attrs_size = sizeof(eddy_conv_attrs), .attrs = eddy__conv_fields,
    .infer = filter_infer, .prepare = filter_prepare, .kernel = filter_kernel,
    .gradient = filter_gradient, .batch = batch_filters, .flops = depthwise_flops,
};

/* ------------------------------------------------------- separable_conv2d -- */

/** y = eddy_conv2d(eddy_depthwise_conv2d(x, depthwise_filter), pointwise_filter): each channel
 *  is convolved separately, and channels are then combined at each pixel.
 *
 *  x                 as for eddy_depthwise_conv2d
 *  depthwise_filter  [height, width, channels, m]
 *  pointwise_filter  [1, 1, channels * m, out channels]
 *  strides, padding, explicit_paddings, dilations, data_format  of the first of the two
 *
 *  Errors: those of eddy_depthwise_conv2d and eddy_conv2d; EDDY_BAD_SHAPE unless the pointwise
 *  filter has height and width 1.
 *  Gradient: that of the two.  TensorFlow: nn.separable_conv2d. */
eddy_tensor eddy_separable_conv2d_with(const eddy_separable_conv2d_args *given)
{
    eddy_separable_conv2d_args a = EDDY_TAKE(eddy_separable_conv2d_args, given);
    const eddy_shape p = eddy_shape_of(a.pointwise_filter);
    const eddy_shape d = grouped(eddy_shape_of(a.depthwise_filter));
    char text[128];
    if (eddy_is_valid(a.pointwise_filter) && p.rank == 4 &&
        ((p.dim[0] != 1 && p.dim[0] != EDDY_ANY) || (p.dim[1] != 1 && p.dim[1] != EDDY_ANY)))
        return eddy_fail(a.x.graph, EDDY_BAD_SHAPE, "separable_conv2d: the pointwise filter has "
                         "shape %s; height and width 1 are expected",
                         eddy_shape_print(p, text, sizeof text));
    if (eddy_is_valid(a.pointwise_filter) && p.rank == 4 && d.rank == 4 && p.dim[2] != EDDY_ANY &&
        d.dim[3] != EDDY_ANY && p.dim[2] != d.dim[3])
        return eddy_fail(a.x.graph, EDDY_BAD_SHAPE, "separable_conv2d: the pointwise filter has "
                         "shape %s; %lld channels are expected",
                         eddy_shape_print(p, text, sizeof text), (long long)d.dim[3]);
    const eddy_tensor y = eddy_depthwise_conv2d_with(EDDY_ARGS(
        eddy_depthwise_conv2d_args, .x = a.x, .filter = a.depthwise_filter, .strides = a.strides,
        .padding = a.padding, .explicit_paddings = a.explicit_paddings, .dilations = a.dilations,
        .data_format = a.data_format));
    return eddy_conv2d(y, a.pointwise_filter, .data_format = a.data_format, .name = a.name);
}
