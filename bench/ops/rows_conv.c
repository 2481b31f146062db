/* rows_conv.c -- convolutions of many kinds, and patches. */
#include "bench/ops/bench_ops.h"
#include "ops/short_names.h"

#define TWO EDDY_DIMS(2)
BUILD(depthwise, eddy_depthwise_conv2d(x[0], x[1], .padding = "SAME"))
BUILD(depthwise_two, eddy_depthwise_conv2d(x[0], x[1], TWO, .explicit_paddings =
                                           EDDY_DIMS(1, 1, 1, 1)))
BUILD(depthwise_planes, eddy_depthwise_conv2d(x[0], x[1], .padding = "SAME",
                                              .data_format = "NCHW"))
BUILD(separable, eddy_separable_conv2d(x[0], x[1], x[2], .padding = "SAME"))
BUILD(line, eddy_conv1d(x[0], x[1], .padding = "SAME"))
BUILD(line_planes, eddy_conv1d(x[0], x[1], .padding = "SAME", .data_format = "NCW"))
BUILD(patches, eddy_extract_image_patches(x[0], EDDY_DIMS(3)))
BUILD(pointwise, eddy_conv2d(x[0], x[1]))
BUILD(stem, eddy_conv2d(x[0], x[1], TWO, .explicit_paddings = EDDY_DIMS(3, 3, 3, 3)))
BUILD(down, eddy_conv2d(x[0], x[1], TWO, .explicit_paddings = EDDY_DIMS(1, 1, 1, 1)))
BUILD(grouped, eddy_conv2d(x[0], x[1], .padding = "SAME"))
BUILD(dilated, eddy_conv2d(x[0], x[1], .padding = "SAME", .dilations = TWO))
BUILD(planes, eddy_conv2d(x[0], x[1], .padding = "SAME", .data_format = "NCHW"))
BUILD(volume, eddy_conv3d(x[0], x[1], .padding = "SAME"))

#define BOTH(called, fn, count, ...) \
    OPS_ROW(called, fn, count, __VA_ARGS__), \
    OPS_GRADIENT(called ", gradient", fn, count, __VA_ARGS__)

static const ops_row rows[] = {
    BOTH("depthwise 3x3, 64", depthwise, 2, S(4, 56, 56, 64), S(3, 3, 64, 1)),
    BOTH("depthwise 3x3, 512", depthwise, 2, S(8, 14, 14, 512), S(3, 3, 512, 1)),
    BOTH("depthwise 3x3, stride 2", depthwise_two, 2, S(4, 56, 56, 128), S(3, 3, 128, 1)),
    BOTH("depthwise 5x5, multiplier 2", depthwise, 2, S(4, 28, 28, 64), S(5, 5, 64, 2)),
    BOTH("depthwise NCHW", depthwise_planes, 2, S(4, 64, 56, 56), S(3, 3, 64, 1)),
    BOTH("separable", separable, 3, S(4, 28, 28, 128), S(3, 3, 128, 1), S(1, 1, 128, 128)),
    BOTH("conv1d", line, 2, S(16, 256, 64), S(5, 64, 64)),
    BOTH("conv1d NCW", line_planes, 2, S(16, 64, 256), S(5, 64, 64)),
    BOTH("patches 3x3", patches, 1, S(8, 28, 28, 32)),
    BOTH("conv 1x1", pointwise, 2, S(4, 28, 28, 128), S(1, 1, 128, 128)),
    BOTH("conv 7x7, stride 2", stem, 2, S(1, 112, 112, 3), S(7, 7, 3, 64)),
    BOTH("conv 3x3, stride 2", down, 2, S(4, 28, 28, 64), S(3, 3, 64, 128)),
    BOTH("conv 3x3, 8 groups", grouped, 2, S(4, 28, 28, 128), S(3, 3, 16, 128)),
    BOTH("conv 3x3, dilated", dilated, 2, S(2, 28, 28, 64), S(3, 3, 64, 64)),
    BOTH("conv NCHW", planes, 2, S(4, 64, 28, 28), S(3, 3, 64, 64)),
    BOTH("conv 3x3, one image", planes, 2, S(1, 256, 7, 7), S(3, 3, 256, 256)),
    BOTH("conv3d", volume, 2, S(1, 16, 28, 28, 32), S(3, 3, 3, 32, 32)),
};

OPS_FAMILY(conv, rows);
