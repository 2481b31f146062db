/* images.c -- convolutions and their derivatives, pooling, resizing. */
#include "bench/cancel/cancel.h"

static eddy_tensor random_of(eddy_graph *g, eddy_shape s) { return eddy_random_normal(g, s); }
static eddy_tensor wide(eddy_tensor x) { return eddy_cast(x, EDDY_FLOAT64); }

static eddy_tensor convolution(eddy_tensor x)
{
    return eddy_conv2d(x, random_of(x.graph, EDDY_SHAPE(7, 7, 64, 128)));
}
static eddy_tensor convolution3(eddy_tensor x)
{
    return eddy_conv2d(x, random_of(x.graph, EDDY_SHAPE(3, 3, 64, 128)));
}
static eddy_tensor convolution64(eddy_tensor x)
{
    return eddy_conv2d(wide(x), wide(random_of(x.graph, EDDY_SHAPE(5, 5, 64, 128))));
}
static eddy_tensor volumes(eddy_tensor x)
{
    return eddy_conv3d(x, random_of(x.graph, EDDY_SHAPE(3, 3, 3, 32, 64)));
}
static eddy_tensor depthwise(eddy_tensor x)
{
    return eddy_depthwise_conv2d(x, random_of(x.graph, EDDY_SHAPE(7, 7, 64, 1)));
}
static eddy_tensor by_input(eddy_tensor x)
{
    const eddy_tensor w = random_of(x.graph, EDDY_SHAPE(7, 7, 64, 128));
    return eddy_conv2d_backprop_input(x, w, random_of(x.graph, EDDY_SHAPE(6, 58, 58, 128)));
}
static eddy_tensor by_filter(eddy_tensor x)
{
    const eddy_tensor w = random_of(x.graph, EDDY_SHAPE(7, 7, 64, 128));
    return eddy_conv2d_backprop_filter(x, w, random_of(x.graph, EDDY_SHAPE(6, 58, 58, 128)));
}
/* Of both operands. */
static eddy_tensor slopes(eddy_tensor x)
{
    const eddy_tensor w = random_of(x.graph, EDDY_SHAPE(3, 3, 64, 64));
    eddy_tensor       d[2];
    eddy_gradients(EDDY_LIST(eddy_square(eddy_conv2d(x, w))), EDDY_LIST(x, w), d);
    return eddy_add(eddy_sum(d[0]), eddy_sum(d[1]));
}
static eddy_tensor pool(eddy_tensor x) { return eddy_max_pool2d(x, EDDY_DIMS(5), EDDY_DIMS(1)); }
static eddy_tensor resize(eddy_tensor x)
{
    return eddy_resize_bicubic(x, EDDY_DIMS(200, 200));
}

const work image_works[] = {
    { "conv2d 7x7", { 6, 64, 64, 64 }, .build = convolution },
    { "conv2d 3x3", { 32, 64, 64, 64 }, .build = convolution3, .every_way = true },
    { "conv2d, 2 threads", { 32, 64, 64, 64 }, .build = convolution3, .threads = 2 },
    { "conv2d f64", { 6, 64, 64, 64 }, .build = convolution64 },
    { "conv3d", { 4, 32, 32, 32, 32 }, .build = volumes },
    { "depthwise", { 32, 96, 96, 64 }, .build = depthwise },
    { "conv2d input", { 6, 64, 64, 64 }, .build = by_input },
    { "conv2d filter", { 6, 64, 64, 64 }, .build = by_filter },
    { "conv2d, gradient", { 16, 64, 64, 64 }, .build = slopes },
    { "pool", { 32, 128, 128, 32 }, .build = pool },
    { "resize", { 32, 100, 100, 32 }, .build = resize },
    { .name = NULL },
};
