/* conv2d_gradients.c -- the gradients of 2-D convolution as operations, transposed convolution,
 * and the batching rules. */
#include "ops/arrays/arrays.h"
#include "graph/take.h"
#include "ops/arrays/batching.h"
#include "ops/nets/conv2d.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

#ifdef EDDY_HEADER
typedef struct eddy_conv2d_backprop_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_conv2d_backprop_args));
    eddy_tensor x, filter, dy;     /* of the one that is asked for, only the shape counts */
    eddy_dims   strides;           /* all as in the eddy_conv2d whose gradient this is */
    const char *padding;
    eddy_dims   explicit_paddings;
    eddy_dims   dilations;
    const char *data_format;
    const char *name;
} eddy_conv2d_backprop_args;
typedef struct eddy_conv2d_transpose_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_conv2d_transpose_args));
    eddy_tensor x, filter;
    eddy_shape  output_shape;      /* default: from strides and padding */
    eddy_dims   strides;
    const char *padding;
    eddy_dims   explicit_paddings;
    eddy_dims   dilations;
    const char *data_format;
    const char *name;
} eddy_conv2d_transpose_args;
#endif

static eddy_tensor backprop(const eddy_op_def *op, eddy_conv2d_backprop_args a)
{
    const eddy_conv_attrs attrs = eddy__conv_attrs_of(a.strides, a.padding, a.explicit_paddings,
                                                      a.dilations, a.data_format);
    const eddy_tensor in[] = { a.x, a.filter, a.dy };
    return eddy__apply_named(a.name, op, &attrs, 3, in);
}

/* *y = the shape of the convolution of inputs 0 and 1, which input 2 has. */
static bool infer_backprop(eddy_infer *c, eddy_shape *y)
{
    return eddy__infer_conv(c, c->in[0].shape, c->in[1].shape, y) &&
           eddy__infer_conv_dy(c, y, "Size of out_backprop doesn't match computed: "
                                     "actual = %s, computed = %s");
}

/* ------------------------------------------------------- backprop_input -- */

static bool input_infer(eddy_infer *c)
{
    eddy_shape y;
    return infer_backprop(c, &y) && eddy__infer_conv_dx(c, y);
}

static eddy_status input_prepare(eddy_kernel *k)
{
    const eddy_shape     filter = k->in[1]->type.shape, x = k->out[0]->type.shape;
    const eddy_conv_size s = eddy__conv_size_of(k->attrs, x, filter);
    return eddy__conv_prepare(k, k->in[1]->type.dtype, &s, true);
}

static eddy_status input_kernel(eddy_kernel *k)
{
    eddy__conv_run(k, k->in[2]->data, k->in[1]->data, k->out[0]->data, (eddy_conv_finish){ 0 });
    return EDDY_OK;
}

/* It is linear in the filter and in dy. */
static void input_gradient(eddy_rule *r)
{
    r->dx[1] = eddy__apply3(&eddy_op_conv2d_backprop_filter, r->attrs, r->dy[0], r->x[1], r->x[2]);
    r->dx[2] = eddy_apply2(&eddy_op_conv2d, r->attrs, r->dy[0], r->x[1]);
}

static void input_batch(eddy_batch *b)
{
    const int channels = eddy__conv_channels(((const eddy_conv_attrs *)b->attrs)->data_format);
    if (b->batched[1]) eddy__conv_batch_groups(b, 0, channels, channels);
    else eddy__conv_batch_images(b);
}

const eddy_op_def eddy_op_conv2d_backprop_input = {
    .name = "Conv2DBackpropInput", .min_inputs = 3, .max_inputs = 3, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }, { "filter", EDDY_LIKE(0) },
                          { "dy", EDDY_LIKE(0) }),
    .shape_inputs = 1u << 0, .attrs_size = sizeof(eddy_conv_attrs), .attrs = eddy__conv_fields,
    .infer = input_infer, .prepare = input_prepare, .kernel = input_kernel,
    .gradient = input_gradient, .batch = input_batch, .flops = eddy__conv2d_flops,
};

/** dx = the gradient of eddy_conv2d(x, filter) with respect to x, for the gradient dy.
 *
 *  x       only its shape is used; it is not computed.  dx has it
 *  filter  as for eddy_conv2d, and so are the options
 *  dy      of the shape of that convolution
 *
 *  Errors: those of eddy_conv2d; EDDY_BAD_SHAPE if dy has another shape.
 *  Gradient: for g of dx, that of dy is eddy_conv2d(g, filter), that of filter is
 *  eddy_conv2d_backprop_filter(g, filter, dy); x has none.
 *  TensorFlow: Conv2DBackpropInput, with x in place of its sizes. */
eddy_tensor eddy_conv2d_backprop_input_with(const eddy_conv2d_backprop_args *given)
{
    eddy_conv2d_backprop_args a = EDDY_TAKE(eddy_conv2d_backprop_args, given);
    return backprop(&eddy_op_conv2d_backprop_input, a);
}

/* ------------------------------------------------------ backprop_filter -- */

static bool filter_infer(eddy_infer *c)
{
    eddy_shape y, filter = c->in[1].shape;
    const eddy_conv_attrs *a = c->attrs;
    if (!infer_backprop(c, &y)) return false;
    if (filter.rank < 0) filter = eddy__shape_open(4);
    eddy__dim_unify(&filter.dim[3], y.dim[eddy__conv_channels(a->data_format)]);
    return eddy__infer_yield(c, 0, c->in[0].dtype, filter);
}

static eddy_status filter_prepare(eddy_kernel *k)
{
    const eddy_shape     filter = k->out[0]->type.shape, x = k->in[0]->type.shape;
    const eddy_conv_size s = eddy__conv_size_of(k->attrs, x, filter);
    return eddy__conv_filter_prepare(k, k->in[0]->type.dtype, &s);
}

static eddy_status filter_kernel(eddy_kernel *k)
{
    eddy__conv_filter_run(k, k->in[0]->data, k->in[2]->data, k->out[0]->data);
    return EDDY_OK;
}

/* It is linear in x and in dy. */
static void filter_gradient(eddy_rule *r)
{
    r->dx[0] = eddy__apply3(&eddy_op_conv2d_backprop_input, r->attrs, r->x[0], r->dy[0], r->x[2]);
    r->dx[2] = eddy_apply2(&eddy_op_conv2d, r->attrs, r->x[0], r->dy[0]);
}

static void filter_batch(eddy_batch *b) { eddy__conv_batch_groups(b, 1, 3, 3); }

const eddy_op_def eddy_op_conv2d_backprop_filter = {
    .name = "Conv2DBackpropFilter", .min_inputs = 3, .max_inputs = 3, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }, { "filter", EDDY_LIKE(0) },
                          { "dy", EDDY_LIKE(0) }),
    .shape_inputs = 1u << 1, .attrs_size = sizeof(eddy_conv_attrs), .attrs = eddy__conv_fields,
    .infer = filter_infer, .prepare = filter_prepare, .kernel = filter_kernel,
    .gradient = filter_gradient, .batch = filter_batch, .flops = eddy__conv2d_flops,
};

/** dfilter = the gradient of eddy_conv2d(x, filter) with respect to the filter, for the
 *  gradient dy.
 *
 *  x       as for eddy_conv2d, and so are the options
 *  filter  only its shape is used; it is not computed.  dfilter has it
 *  dy      of the shape of that convolution
 *
 *  Errors: those of eddy_conv2d; EDDY_BAD_SHAPE if dy has another shape.
 *  Gradient: for g of dfilter, that of dy is eddy_conv2d(x, g), that of x is
 *  eddy_conv2d_backprop_input(x, g, dy); filter has none.
 *  TensorFlow: Conv2DBackpropFilter, with filter in place of its sizes. */
eddy_tensor eddy_conv2d_backprop_filter_with(const eddy_conv2d_backprop_args *given)
{
    eddy_conv2d_backprop_args a = EDDY_TAKE(eddy_conv2d_backprop_args, given);
    return backprop(&eddy_op_conv2d_backprop_filter, a);
}

/* ----------------------------------------------------- conv2d_transpose -- */

/* Height (i = 0) or width (1) of the smallest image that has x for its convolution. */
static int64_t transposed(const eddy_conv_attrs *a, int i, int64_t x, int64_t filter)
{
    const int     at = (eddy__conv_channels(a->data_format) == 1 ? 2 : 1) + i;
    const int64_t step = a->strides.at[at], span = (filter - 1) * a->dilations.at[at] + 1;
    if (x < 0 || filter < 0 || step > INT32_MAX || x > INT32_MAX) return EDDY_ANY;
    if (strcmp(a->padding, "SAME") == 0) return x * step;
    const int64_t *all = a->explicit_paddings.at;
    const int64_t  zeros = a->explicit_paddings.count == 8 ? all[2 * at] + all[2 * at + 1] : 0;
    return (x > 0 ? (x - 1) * step : 0) + span - zeros;
}

static eddy_shape transposed_shape(const eddy_conv_attrs *a, eddy_shape x, eddy_shape filter)
{
    const int  channels = eddy__conv_channels(a->data_format), h = channels == 1 ? 2 : 1;
    eddy_shape y = eddy__shape_open(4);
    if (x.rank != 4 || filter.rank != 4 || a->strides.count != 4 || a->dilations.count != 4)
        return y;
    y.dim[channels] = filter.dim[2];
    for (int i = 0; i < 2; i++) y.dim[h + i] = transposed(a, i, x.dim[h + i], filter.dim[i]);
    return y;
}

/** The transposed convolution: the gradient of eddy_conv2d with respect to its input, used to
 *  make larger images of smaller ones.
 *
 *  x             float32 or float64 [batch, height, width, channels], for NCHW [batch,
 *                channels, height, width]
 *  filter        of the same type [height, width, out channels, channels]
 *  output_shape  of y: batch (or EDDY_ANY), height, width, out channels, in the order of
 *                data_format.  Left out: with "SAME" x times the stride, else the
 *                smallest that comes from; the sizes are then known
 *  strides, padding, explicit_paddings, dilations, data_format  of the convolution that makes
 *                x of y; see eddy_conv2d
 *
 *  Errors: those of eddy_conv2d; EDDY_BAD_SHAPE if the convolution of such a y does not have
 *  the shape of x, or no output_shape is given and the sizes are open.
 *  Gradient: that of eddy_conv2d_backprop_input.  TensorFlow: nn.conv2d_transpose. */
eddy_tensor eddy_conv2d_transpose_with(const eddy_conv2d_transpose_args *given)
{
    eddy_conv2d_transpose_args a = EDDY_TAKE(eddy_conv2d_transpose_args, given);
    const eddy_conv_attrs attrs = eddy__conv_attrs_of(a.strides, a.padding, a.explicit_paddings,
                                                      a.dilations, a.data_format);
    eddy_shape s = a.output_shape;
    if (s.rank == 0) s = transposed_shape(&attrs, eddy_shape_of(a.x), eddy_shape_of(a.filter));
    eddy_shape image = s.rank == 4 ? eddy__shape_without(s, 0) : EDDY_UNKNOWN_SHAPE;
    char text[128];
    if (!eddy_is_valid(a.x)) return a.x;
    if (s.rank != 4 || !eddy_shape_is_valid(image) || !eddy_shape_is_known(image))
        return eddy_fail(a.x.graph, EDDY_BAD_SHAPE,
                         "Conv2DBackpropInput: the image shape %s must have rank 4 and be known, "
                         "except for the batch; give output_shape",
                         eddy_shape_print(s, text, sizeof text));
    const eddy_tensor zero = eddy_number_like(0, a.x);
    const eddy_tensor like = s.dim[0] == EDDY_ANY
                                 ? eddy_batch_like(eddy_broadcast_to(zero, image), a.x)
                                 : eddy_broadcast_to(zero, s);
    const eddy_tensor in[] = { like, a.filter, a.x };
    return eddy__apply_named(a.name, &eddy_op_conv2d_backprop_input, &attrs, 3, in);
}

/* ---------------------------------------------------------------- tools -- */

/* [examples, n] for an input whose axis `axis` has n entries; it only lends its shape. */
static eddy_tensor count_like(const eddy_batch *b, eddy_tensor own, int axis)
{
    eddy_dims others = { .count = 0 };
    for (int i = 0; i < 4; i++)
        if (i != axis) others.at[others.count++] = i;
    return eddy_batch_like(Sum(own, .axes = others), b->examples);
}

eddy_tensor eddy__conv_as_images(const eddy_batch *b, int i)
{
    return eddy_merge_leading(eddy_batch_input(b, i), count_like(b, b->node->inputs[i], 0));
}

eddy_tensor eddy__conv_as_groups(const eddy_batch *b, int i, int channels)
{
    const eddy_dims front = channels == 1 ? EDDY_DIMS(0, 2, 1, 3, 4) : EDDY_DIMS(0, 4, 1, 2, 3);
    const eddy_dims back = channels == 1 ? EDDY_DIMS(1, 0, 2, 3) : EDDY_DIMS(1, 2, 3, 0);
    const eddy_tensor x = Transpose(eddy_batch_input(b, i), front);
    return Transpose(eddy_merge_leading(x, count_like(b, b->node->inputs[i], channels)), back);
}

void eddy__conv_batch_images(eddy_batch *b)
{
    eddy_tensor in[3];
    for (int i = 0; i < b->n_in; i++) in[i] = i == 1 ? b->x[1] : eddy__conv_as_images(b, i);
    const eddy_tensor y = eddy_apply(b->node->op, b->attrs, b->n_in, in, (eddy_apply_args){ 0 });
    b->y[0] = eddy_reshape_like(y, eddy__batch_result_like(b));
}

void eddy__conv_batch_groups(eddy_batch *b, int like, int own, int axis)
{
    const int channels = eddy__conv_channels(((const eddy_conv_attrs *)b->attrs)->data_format);
    const eddy_dims front = axis == 1 ? EDDY_DIMS(1, 0, 2, 3) : EDDY_DIMS(3, 0, 1, 2);
    const eddy_dims back = axis == 1 ? EDDY_DIMS(0, 2, 1, 3, 4) : EDDY_DIMS(0, 2, 3, 4, 1);
    eddy_tensor in[3];
    for (int i = 0; i < b->n_in; i++) in[i] = eddy__conv_as_groups(b, i, i == 1 ? 3 : channels);
    const eddy_tensor y = eddy_apply(b->node->op, b->attrs, b->n_in, in, (eddy_apply_args){ 0 });
    const eddy_tensor count = count_like(b, b->node->inputs[like], own);
    b->y[0] = Transpose(eddy_unflatten_like(Transpose(y, front), count, 0, 0), back);
}
