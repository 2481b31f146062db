/* convolutions.c -- convolutions and their gradients: that of the image is a transposed
 * convolution, that of the filter a convolution in which examples and channels change places. */
#include "conv_windows.h"

#include <string.h>

typedef struct convolution {
    windows w;
    bool    depthwise;
    int64_t groups, own, outputs;       /* own: the channels of a group of x */
} convolution;

/* Input 0 has the shape of x, input 1 that of the filter, for all of them. */
static bool read_convolution(onnx_part *p, convolution *c)
{
    eddy_shape      x, f;
    const eddy_dims strides = eddy__part_dims(p, "strides"),
                    apart = eddy__part_dims(p, "dilations");
    const eddy_dims pads = eddy__part_dims(p, "explicit_paddings");
    if (!eddy__part_known_shape(p, 1, &f)) return false;
    x = eddy__part_type(p, 0).shape;
    *c = (convolution){ .depthwise = p->node->op->name[0] == 'D' };
    c->w.axes = 2;
    c->w.planes = strcmp(eddy__part_text(p, "data_format"), "NCHW") == 0;
    const int     at = c->w.planes ? 2 : 1, channels = c->w.planes ? 1 : 3;
    const int64_t depth = x.rank == 4 ? x.dim[channels] : EDDY_ANY;
    for (int i = 0; i < 2; i++) {
        c->w.in[i] = x.rank == 4 ? x.dim[at + i] : EDDY_ANY;
        c->w.size[i] = f.dim[i];
        c->w.stride[i] = strides.at[at + i];
        c->w.dilation[i] = apart.at[at + i];
    }
    eddy__windows_settle(&c->w, eddy__part_text(p, "padding"), &pads.at[2 * at]);
    if (depth == EDDY_ANY && !c->depthwise)
        return eddy__part_missing(p, "the number of channels of x must be known");
    c->groups = c->depthwise ? f.dim[2] : f.dim[2] > 0 ? depth / f.dim[2] : 1;
    c->own = c->depthwise ? 1 : f.dim[2];
    c->outputs = c->depthwise ? f.dim[2] * f.dim[3] : f.dim[3];
    return true;
}

static bool all_known(onnx_part *p, const convolution *c)
{
    return c->w.known || eddy__part_missing(p, "the height and width of the image must be known");
}

/* The filter with the axes of ONNX: outputs, channels of a group, height, width. */
static const char *filter_of(onnx_part *p, const convolution *c)
{
    static const int64_t order[] = { 3, 2, 0, 1 };
    const int64_t        shape[] = { c->w.size[0], c->w.size[1], 1, c->outputs };
    const char          *f = eddy__part_in(p, 1);
    if (c->depthwise) f = eddy__part_reshape(p, f, eddy__part_ints(p, 4, shape));
    return eddy__part_transpose(p, f, 4, order);
}

static bool conv(onnx_part *p)
{
    convolution c;
    if (!read_convolution(p, &c)) return false;
    const char *const in[] = { eddy__windows_to_onnx(p, &c.w, eddy__part_in(p, 0)),
                               filter_of(p, &c) };
    onnx_call call = eddy__call(p, "Conv", 2, in);
    eddy__windows_call(&call, &c.w);
    eddy__call_int(&call, "group", c.groups);
    return eddy__part_put(p, 0, eddy__windows_from_onnx(p, &c.w, eddy__call_end(&call)));
}

static bool conv_input(onnx_part *p)
{
    convolution c;
    if (!read_convolution(p, &c) || !all_known(p, &c)) return false;
    const char *const in[] = { eddy__windows_to_onnx(p, &c.w, eddy__part_in(p, 2)),
                               filter_of(p, &c) };
    onnx_call call = eddy__call(p, "ConvTranspose", 2, in);
    eddy__windows_call(&call, &c.w);
    eddy__windows_back(&call, &c.w);
    eddy__call_int(&call, "group", c.groups);
    return eddy__part_put(p, 0, eddy__windows_from_onnx(p, &c.w, eddy__call_end(&call)));
}

/* The channels of a group become examples, and the examples channels of each group. */
static const char *examples_as_channels(onnx_part *p, const convolution *c)
{
    static const int64_t plain[] = { 1, 0, 2, 3 }, grouped[] = { 2, 1, 0, 3, 4 };
    const int64_t        split[] = { -1, c->groups, c->own, c->w.in[0], c->w.in[1] };
    const int64_t        joined[] = { c->own, -1, c->w.in[0], c->w.in[1] };
    const char          *x = eddy__windows_to_onnx(p, &c->w, eddy__part_in(p, 0));
    if (c->groups == 1) return eddy__part_transpose(p, x, 4, plain);
    x = eddy__part_binary(p, "Reshape", x, eddy__part_ints(p, 5, split));
    x = eddy__part_transpose(p, x, 5, grouped);
    return eddy__part_binary(p, "Reshape", x, eddy__part_ints(p, 4, joined));
}

static bool conv_filter(onnx_part *p)
{
    static const int64_t swapped[] = { 1, 0, 2, 3 }, back[] = { 2, 3, 0, 1 };
    convolution          c;
    eddy_shape           f;
    if (!read_convolution(p, &c) || !all_known(p, &c) || !eddy__part_known_shape(p, 1, &f))
        return false;
    const char *dy = eddy__windows_to_onnx(p, &c.w, eddy__part_in(p, 2));
    const char *const in[] = { examples_as_channels(p, &c),
                               eddy__part_transpose(p, dy, 4, swapped) };
    onnx_call call = eddy__call(p, "Conv", 2, in);
    eddy__call_ints(&call, "kernel_shape", 2, c.w.out);
    eddy__call_ints(&call, "strides", 2, c.w.dilation);
    eddy__call_ints(&call, "dilations", 2, c.w.stride);
    eddy__call_ints(&call, "pads", 4, c.w.pads);
    eddy__call_int(&call, "group", c.groups);
    /* Rows of x that no window reaches give products of their own. */
    const char *const cut[] = { eddy__call_end(&call),
                                eddy__part_ints(p, 2, (const int64_t[]){ 0, 0 }),
                                eddy__part_ints(p, 2, c.w.size),
                                eddy__part_ints(p, 2, (const int64_t[]){ 2, 3 }) };
    onnx_call slice = eddy__call(p, "Slice", 4, cut);
    const char *y = eddy__part_transpose(p, eddy__call_end(&slice), 4, back);
    if (c.depthwise) y = eddy__part_reshape(p, y, eddy__part_ints(p, 4, f.dim));
    return eddy__part_put(p, 0, y);
}

static const onnx_row rows[] = {
    { "Conv2D", conv },
    { "Conv2DBackpropInput", conv_input },
    { "Conv2DBackpropFilter", conv_filter },
    { "DepthwiseConv2dNative", conv },
    { "DepthwiseConv2dNativeBackpropInput", conv_input },
    { "DepthwiseConv2dNativeBackpropFilter", conv_filter },
};

const onnx_family eddy__write_convolutions = FAMILY_OF(rows);
