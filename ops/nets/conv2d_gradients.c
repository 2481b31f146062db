/* conv2d_gradients.c -- the gradients of 2-D convolution as operations, and transposed
 * convolution. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/nets/conv2d.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

#ifdef EDDY_HEADER
typedef struct eddy_conv2d_backprop_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_conv2d_backprop_args));
    eddy_tensor x, filter, dy;     /* only the shape of the one whose gradient it is */
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

static eddy_tensor backprop(const eddy_op_def *op, const eddy_conv2d_backprop_args *given)
{
    const eddy_conv2d_backprop_args a = EDDY_TAKE(eddy_conv2d_backprop_args, given);
    const eddy_conv_attrs attrs = eddy__conv_attrs_of(a.strides, a.padding, a.explicit_paddings,
                                                      a.dilations, a.data_format);
    const eddy_tensor in[] = { a.x, a.filter, a.dy };
    return eddy__apply_named(a.name, op, &attrs, 3, in);
}

/* ------------------------------------------------------- backprop_input -- */

static eddy_status input_prepare(eddy_kernel *k)
{
    const eddy_dtype d = k->in[1]->type.dtype;
    eddy_conv_size   s = eddy__conv_size(k);
    s.halves = k->in[2]->type.dtype != d;
    return eddy__conv_prepare(k, d, &s, true);
}

static eddy_status input_kernel(eddy_kernel *k)
{
    eddy__conv_run(k, k->in[2]->data, k->in[1]->data, k->out[0]->data, (eddy_conv_finish){ 0 });
    return EDDY_OK;
}

static void input_batch(eddy_batch *b)
{
    const int channels = eddy__conv_channels(((const eddy_conv_attrs *)b->attrs)->data_format);
    if (b->batched[1]) eddy__conv_batch_groups(b, 0, channels, channels);
    else eddy__conv_batch_images(b);
}

const eddy_op_def eddy_op_conv2d_backprop_input = {
    .name = "Conv2DBackpropInput", .min_inputs = 3, .max_inputs = 3, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS | EDDY_RANK(4) },
                          { "filter", EDDY_LIKE(0) | EDDY_RANK(4) }, { "dy", EDDY_LIKE(0) }),
    .shape_inputs = 1u << 0, .attrs_size = sizeof(eddy_conv_attrs), .attrs = eddy__conv_fields,
    .infer = eddy__conv_input_infer, .prepare = input_prepare, .kernel = input_kernel,
    .gradient = eddy__conv2d_gradient, .batch = input_batch, .flops = eddy__conv_flops,
};

/** dx = the gradient of eddy_conv2d(x, filter) with respect to x, given the gradient dy.
 *
 *  x       only its shape is used; it is not computed.  dx has the same shape
 *  filter  as for eddy_conv2d, as are the options
 *  dy      the shape of that convolution
 *
 *  Errors: those of eddy_conv2d; EDDY_BAD_SHAPE if dy has another shape.
 *  Gradient: given the gradient g of dx, that of dy is eddy_conv2d(g, filter), that of filter is
 *  eddy_conv2d_backprop_filter(g, filter, dy); x has none.
 *  TensorFlow: Conv2DBackpropInput, with x in place of its sizes. */
eddy_tensor eddy_conv2d_backprop_input_with(const eddy_conv2d_backprop_args *given)
{
    return backprop(&eddy_op_conv2d_backprop_input, given);
}

/* ------------------------------------------------------ backprop_filter -- */

static eddy_status filter_prepare(eddy_kernel *k)
{
    const eddy_dtype d = k->out[0]->type.dtype;
    eddy_conv_size   s = eddy__conv_size(k);
    s.halves = k->in[0]->type.dtype != d;
    return eddy__conv_filter_prepare(k, d, &s);
}

static eddy_status filter_kernel(eddy_kernel *k)
{
    eddy__conv_filter_run(k, k->in[0]->data, k->in[2]->data, k->out[0]->data);
    return EDDY_OK;
}

static void filter_batch(eddy_batch *b) { eddy__conv_batch_groups(b, 1, 3, 3); }

const eddy_op_def eddy_op_conv2d_backprop_filter = {
    .name = "Conv2DBackpropFilter", .min_inputs = 3, .max_inputs = 3, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS | EDDY_RANK(4) },
                          { "filter", EDDY_LIKE(0) | EDDY_RANK(4) }, { "dy", EDDY_LIKE(0) }),
    .shape_inputs = 1u << 1, .attrs_size = sizeof(eddy_conv_attrs), .attrs = eddy__conv_fields,
    .infer = eddy__conv_filter_infer, .prepare = filter_prepare, .kernel = filter_kernel,
    .gradient = eddy__conv2d_gradient, .batch = filter_batch, .flops = eddy__conv_flops,
};

/** dfilter = the gradient of eddy_conv2d(x, filter) with respect to the filter, given the
 *  gradient dy.
 *
 *  x       as for eddy_conv2d, as are the options
 *  filter  only its shape is used; it is not computed.  dfilter has the same shape
 *  dy      the shape of that convolution
 *
 *  Errors: those of eddy_conv2d; EDDY_BAD_SHAPE if dy has another shape.
 *  Gradient: given the gradient g of dfilter, that of dy is eddy_conv2d(x, g), that of x is
 *  eddy_conv2d_backprop_input(x, g, dy); filter has none.
 *  TensorFlow: Conv2DBackpropFilter, with filter in place of its sizes. */
eddy_tensor eddy_conv2d_backprop_filter_with(const eddy_conv2d_backprop_args *given)
{
    return backprop(&eddy_op_conv2d_backprop_filter, given);
}

/* ----------------------------------------------------- conv2d_transpose -- */

/* Height (i = 0) or width (1) of the smallest image whose convolution has the size of x. */
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

/* The shape that is asked for, with the default of each size that is not. */
static eddy_shape transposed_shape(const eddy_conv_attrs *a, eddy_shape asked, eddy_shape x,
                                   eddy_shape filter)
{
    const int  channels = eddy__conv_channels(a->data_format), h = channels == 1 ? 2 : 1;
    eddy_shape y = asked.rank == 0 ? eddy__shape_open(4) : asked;
    if (y.rank != 4 || x.rank != 4 || filter.rank != 4 || a->strides.count != 4 ||
        a->dilations.count != 4)
        return y;
    if (asked.rank == 0) y.dim[channels] = filter.dim[2];
    for (int i = 0; i < 2; i++)
        if (y.dim[h + i] == EDDY_ANY)
            y.dim[h + i] = transposed(a, i, x.dim[h + i], filter.dim[i]);
    return y;
}

/* Whether only a run tells the size of x, and thereby that of y. */
static bool is_image_computed(const eddy_conv_attrs *a, eddy_tensor x, eddy_tensor filter,
                              eddy_shape y)
{
    const int channels = eddy__conv_channels(a->data_format), h = channels == 1 ? 2 : 1;
    return eddy_shape_of(x).rank == 4 && y.rank == 4 && y.dim[channels] >= 0 &&
           (y.dim[h] == EDDY_ANY || y.dim[h + 1] == EDDY_ANY) &&
           eddy_shape_is_known(eddy_shape_of(filter)) && a->strides.count == 4 &&
           a->dilations.count == 4;
}

/* An image of zeros of the size of y, where only a run tells that of x; y is transposed_shape. */
static eddy_tensor computed_image(const eddy_conv_attrs *a, eddy_tensor x, eddy_shape filter,
                                  eddy_shape y)
{
    const int   h = eddy__conv_channels(a->data_format) == 1 ? 2 : 1;
    eddy_tensor size[4];
    for (int i = 0; i < 4; i++) {
        const int     k = i - h;
        const int64_t one = k == 0 || k == 1 ? transposed(a, k, 1, filter.dim[k]) : 0;
        const eddy_tensor n = Cast(eddy_size_along(x, i), EDDY_INT64);
        if (i > 0 && y.dim[i] != EDDY_ANY) size[i] = NumberLike((double)y.dim[i], n);
        else if (i == 0) size[i] = n;
        else if (strcmp(a->padding, "SAME") == 0) size[i] = Mul(n, (double)one);
        else size[i] = Add(Mul(Maximum(Sub(n, 1), 0), (double)a->strides.at[i]), (double)one);
    }
    const eddy_tensor sizes = eddy_stack((eddy_list){ 4, size }, 0);
    return eddy_set_shape(eddy_fill(sizes, eddy_number_like(0, x)), y);
}

/** The transposed convolution: the gradient of eddy_conv2d with respect to its input, used for
 *  upsampling.
 *
 *  x             float32 or float64 [batch, height, width, channels], for NCHW [batch,
 *                channels, height, width]
 *  filter        same type, [height, width, out channels, channels]
 *  output_shape  of y: batch, height, width, out channels, in the order of data_format; all except
 *                the channels may be EDDY_ANY.  Default of a height or width: with "SAME" the size
 *                of x times the stride, otherwise the smallest whose convolution has that size
 *  strides, padding, explicit_paddings, dilations, data_format  those of the convolution that maps
 *                y to x; see eddy_conv2d
 *
 *  Errors: those of eddy_conv2d; EDDY_BAD_SHAPE if the convolution of such a y does not have
 *  the shape of x, or if a size that is not given cannot be known, as the rank of x or a size of
 *  the filter is unknown.
 *  Gradient: that of eddy_conv2d_backprop_input.  TensorFlow: nn.conv2d_transpose. */
eddy_tensor eddy_conv2d_transpose_with(const eddy_conv2d_transpose_args *given)
{
    eddy_conv2d_transpose_args a = EDDY_TAKE(eddy_conv2d_transpose_args, given);
    const eddy_conv_attrs attrs = eddy__conv_attrs_of(a.strides, a.padding, a.explicit_paddings,
                                                      a.dilations, a.data_format);
    const eddy_shape s = transposed_shape(&attrs, a.output_shape, eddy_shape_of(a.x),
                                          eddy_shape_of(a.filter));
    const eddy_shape image = s.rank == 4 ? eddy__shape_without(s, 0) : EDDY_UNKNOWN_SHAPE;
    char text[128];
    if (!eddy_is_valid(a.x)) return a.x;
    const bool computed = is_image_computed(&attrs, a.x, a.filter, s);
    if (!computed && (s.rank != 4 || !eddy_shape_is_valid(image) || !eddy_shape_is_known(image)))
        return eddy_fail(a.x.graph, EDDY_BAD_SHAPE,
                         "Conv2DBackpropInput: the image shape %s must have rank 4 and be known, "
                         "except for the batch; give output_shape",
                         eddy_shape_print(s, text, sizeof text));
    const eddy_tensor zero = eddy_number_like(0, a.x);
    const eddy_tensor like = computed ? computed_image(&attrs, a.x, eddy_shape_of(a.filter), s)
                             : s.dim[0] == EDDY_ANY
                                 ? eddy_batch_like(eddy_broadcast_to(zero, image), a.x)
                                 : eddy_broadcast_to(zero, s);
    const eddy_tensor in[] = { like, a.filter, a.x };
    return eddy__apply_named(a.name, &eddy_op_conv2d_backprop_input, &attrs, 3, in);
}
