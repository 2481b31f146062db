/* conv_layers.c -- convolution layers with variables of their own. */
#include "layers/internal.h"
#include "graph/call_options.h"
#include "ops/short_names.h"

#include <string.h>

static bool channels_second(const char *data_format)
{
    return data_format && strncmp(data_format, "NC", 2) == 0;
}

/* Entry i of a list with one entry for all of `axes` axes, or one for each; 1 if it is empty. */
static int64_t entry(eddy_dims d, int i)
{
    return d.count < 1 ? 1 : d.at[d.count == 1 ? 0 : i];
}

/* Checks that the window has one size for all axes or one for each, all positive. */
static bool check_window(const eddy_layer *l, eddy_dims size, int axes)
{
    if (eddy_refuse_number(l->graph, l->who, "kernel_size", size)) return false;
    if (size.count != 1 && size.count != axes) {
        eddy_fail(l->graph, EDDY_INVALID_ARGUMENT,
                  "%s: the number of entries of kernel_size is %d; expected 1 or %d "
                  "[scope '%.200s']", l->who, size.count, axes, l->name ? l->name : l->who);
        return false;
    }
    for (int i = 0; i < size.count; i++)
        if (!eddy__layer_check_count(l, "kernel_size", size.at[i])) return false;
    return true;
}

/* The list for one axis: empty or with one entry. For more axes the operation checks the list. */
static bool check_single(const eddy_layer *l, const char *what, eddy_dims d, int axes)
{
    if (eddy_refuse_number(l->graph, l->who, what, d)) return false;
    if (axes > 1 || d.count <= 1) return true;
    eddy_fail(l->graph, EDDY_INVALID_ARGUMENT, "%s: the number of entries of %s is %d; expected "
              "1 [scope '%.200s']", l->who, what, d.count, l->name ? l->name : l->who);
    return false;
}

/* The shape of the kernel: the window followed by two numbers of channels. */
static eddy_shape kernel_shape(eddy_dims size, int axes, int64_t in, int64_t out)
{
    eddy_shape s = { .rank = axes + 2 };
    for (int i = 0; i < axes; i++) s.dim[i] = entry(size, i);
    s.dim[axes] = in;
    s.dim[axes + 1] = out;
    return s;
}

/* y + b for each channel, which may be axis 1. */
static eddy_tensor add_bias(eddy_tensor y, eddy_tensor b, const char *data_format)
{
    const int rank = eddy_shape_of(y).rank;
    if (!channels_second(data_format) || !eddy_is_valid(y)) return BiasAdd(y, b);
    eddy_shape s = { .rank = rank - 1 };
    s.dim[0] = eddy_shape_of(b).dim[0];
    for (int i = 1; i < s.rank; i++) s.dim[i] = 1;
    return Add(y, eddy_reshape(b, s));
}

/* ----------------------------------------------------------- convolutions -- */

typedef struct conv_kind {
    const char *who;
    int         axes;
    bool        transposed;
    eddy_tensor (*build)(const eddy_conv_layer_args *a, eddy_tensor kernel);
} conv_kind;

static eddy_tensor build_1d(const eddy_conv_layer_args *a, eddy_tensor kernel)
{
    return eddy_conv1d(a->x, kernel, .stride = entry(a->strides, 0), .padding = a->padding,
                       .data_format = a->data_format, .dilation = entry(a->dilation_rate, 0));
}

static eddy_tensor build_2d(const eddy_conv_layer_args *a, eddy_tensor kernel)
{
    return eddy_conv2d(a->x, kernel, .strides = a->strides, .padding = a->padding,
                       .dilations = a->dilation_rate, .data_format = a->data_format);
}

static eddy_tensor build_3d(const eddy_conv_layer_args *a, eddy_tensor kernel)
{
    return eddy_conv3d(a->x, kernel, .strides = a->strides, .padding = a->padding,
                       .data_format = a->data_format, .dilations = a->dilation_rate);
}

static eddy_tensor build_transposed(const eddy_conv_layer_args *a, eddy_tensor kernel)
{
    return eddy_conv2d_transpose(a->x, kernel, .strides = a->strides, .padding = a->padding,
                                 .dilations = a->dilation_rate, .data_format = a->data_format);
}

/* Checks that the groups divide the channels of both sides. */
static bool check_groups(const eddy_layer *l, const conv_kind *kind, int64_t groups, int64_t in,
                         int64_t out)
{
    const bool grouped = kind->axes < 3 && !kind->transposed;
    if (groups == 1 || (grouped && groups > 1 && in % groups == 0 && out % groups == 0))
        return true;
    eddy_fail(
        l->graph, EDDY_INVALID_ARGUMENT, "%s: groups is %lld; expected a divisor of the number of "
        "channels, %lld, and of the number of filters, %lld [scope '%.200s']",
        l->who, (long long)groups, (long long)in, (long long)out, l->name ? l->name : l->who);
    return false;
}

static eddy_tensor build_layer(const eddy_layer *l, const eddy_conv_layer_args *a,
                               const conv_kind *kind, int64_t in)
{
    const eddy_layer_weight kernel = {
        .name = "kernel", .init = a->kernel_initializer,
        .shape = kernel_shape(a->kernel_size, kind->axes, kind->transposed ? a->filters : in,
                              kind->transposed ? in : a->filters),
        .otherwise = eddy_glorot_uniform_initializer(), .regularizer = a->kernel_regularizer,
    };
    const eddy_layer_weight bias = {
        .name = "bias", .shape = EDDY_SHAPE(a->filters), .init = a->bias_initializer,
        .regularizer = a->bias_regularizer,
    };
    eddy_tensor y = kind->build(a, eddy__layer_variable(l, kernel));
    if (!a->no_bias) y = add_bias(y, eddy__layer_variable(l, bias), a->data_format);
    return eddy__layer_activate(a->activation, y);
}

static eddy_tensor convolve(const eddy_conv_layer_args *a, const conv_kind *kind)
{
    const eddy_tensor none = eddy_none(a->x.graph);
    const int channels = channels_second(a->data_format) ? 1 : kind->axes + 1;
    eddy_layer l = { .who = kind->who, .name = a->name, .reuse = a->reuse,
                     .not_trainable = a->not_trainable, .seed = a->seed };
    if (!eddy__layer_check_input(&l, a->x) ||
        !eddy__layer_check_rank(&l, a->x, kind->axes + 2, channels) ||
        !eddy__layer_check_count(&l, "filters", a->filters) ||
        !check_window(&l, a->kernel_size, kind->axes) ||
        !check_single(&l, "strides", a->strides, kind->axes) ||
        !check_single(&l, "dilation_rate", a->dilation_rate, kind->axes))
        return none;
    const int64_t in = eddy_shape_of(a->x).dim[channels], groups = a->groups;
    if (!check_groups(&l, kind, groups, in, a->filters)) return none;
    eddy__layer_begin(&l);
    return eddy__layer_end(&l, build_layer(&l, a, kind, in / groups));
}

eddy_tensor eddy_conv1d_layer_with(const eddy_conv_layer_args *given)
{
    eddy_conv_layer_args a = EDDY_TAKE(eddy_conv_layer_args, given);
    return convolve(&a, &(conv_kind){ "conv1d", 1, false, build_1d });
}

eddy_tensor eddy_conv2d_layer_with(const eddy_conv_layer_args *given)
{
    eddy_conv_layer_args a = EDDY_TAKE(eddy_conv_layer_args, given);
    return convolve(&a, &(conv_kind){ "conv2d", 2, false, build_2d });
}

eddy_tensor eddy_conv3d_layer_with(const eddy_conv_layer_args *given)
{
    eddy_conv_layer_args a = EDDY_TAKE(eddy_conv_layer_args, given);
    return convolve(&a, &(conv_kind){ "conv3d", 3, false, build_3d });
}

eddy_tensor eddy_conv2d_transpose_layer_with(const eddy_conv_layer_args *given)
{
    eddy_conv_layer_args a = EDDY_TAKE(eddy_conv_layer_args, given);
    return convolve(&a, &(conv_kind){ "conv2d_transpose", 2, true, build_transposed });
}

/* -------------------------------------------------------------- depthwise -- */

static eddy_tensor build_depthwise(const eddy_layer *l, const eddy_depthwise_layer_args *a,
                                   int64_t in, int64_t multiplier)
{
    const eddy_layer_weight depth = {
        .name = "depthwise_kernel", .shape = kernel_shape(a->kernel_size, 2, in, multiplier),
        .init = a->depthwise_initializer, .otherwise = eddy_glorot_uniform_initializer(),
        .regularizer = a->depthwise_regularizer,
    };
    const eddy_layer_weight point = {
        .name = "pointwise_kernel", .shape = EDDY_SHAPE(1, 1, in * multiplier, a->filters),
        .init = a->pointwise_initializer, .otherwise = eddy_glorot_uniform_initializer(),
        .regularizer = a->pointwise_regularizer, .part = 1,
    };
    const eddy_layer_weight bias = {
        .name = "bias", .shape = EDDY_SHAPE(a->filters ? a->filters : in * multiplier),
        .init = a->bias_initializer, .regularizer = a->bias_regularizer,
    };
    eddy_tensor y = eddy_depthwise_conv2d(a->x, eddy__layer_variable(l, depth),
                                          .strides = a->strides, .padding = a->padding,
                                          .dilations = a->dilation_rate,
                                          .data_format = a->data_format);
    if (a->filters)
        y = eddy_conv2d(y, eddy__layer_variable(l, point), .data_format = a->data_format);
    if (!a->no_bias) y = add_bias(y, eddy__layer_variable(l, bias), a->data_format);
    return eddy__layer_activate(a->activation, y);
}

static eddy_tensor convolve_depthwise(const eddy_depthwise_layer_args *a, const char *who)
{
    const eddy_tensor none = eddy_none(a->x.graph);
    const int         channels = channels_second(a->data_format) ? 1 : 3;
    const int64_t     multiplier = a->depth_multiplier;
    eddy_layer l = { .who = who, .name = a->name, .reuse = a->reuse,
                     .not_trainable = a->not_trainable, .seed = a->seed };
    if (!eddy__layer_check_input(&l, a->x) || !eddy__layer_check_rank(&l, a->x, 4, channels) ||
        !check_window(&l, a->kernel_size, 2) ||
        !eddy__layer_check_count(&l, "depth_multiplier", multiplier))
        return none;
    const int64_t in = eddy_shape_of(a->x).dim[channels];
    eddy__layer_begin(&l);
    return eddy__layer_end(&l, build_depthwise(&l, a, in, multiplier));
}

eddy_tensor eddy_depthwise_conv2d_layer_with(const eddy_depthwise_layer_args *given)
{
    eddy_depthwise_layer_args a = EDDY_TAKE(eddy_depthwise_layer_args, given);
    a.filters = 0;
    return convolve_depthwise(&a, "depthwise_conv2d");
}

eddy_tensor eddy_separable_conv2d_layer_with(const eddy_depthwise_layer_args *given)
{
    eddy_depthwise_layer_args a = EDDY_TAKE(eddy_depthwise_layer_args, given);
    eddy_layer l = { .who = "separable_conv2d", .name = a.name };
    if (!eddy__layer_check_input(&l, a.x) || !eddy__layer_check_count(&l, "filters", a.filters))
        return eddy_none(a.x.graph);
    return convolve_depthwise(&a, l.who);
}
