/* rows_conv.c -- convolutions along one axis, depthwise convolutions, and patches; see rows.h. */
#include "tests/lib/rows.h"
#include "build/gen/table.h"

#define STRIDED .strides = EDDY_DIMS(2, 1), .padding = "SAME"
#define DILATED .dilations = EDDY_DIMS(1, 2)
#define PADDED .explicit_paddings = EDDY_DIMS(2, 1, 0, 1), .strides = EDDY_DIMS(1, 2)
BUILD(depthwise, eddy_depthwise_conv2d(x[0], x[1], STRIDED))
BUILD(depthwise_dilated, eddy_depthwise_conv2d(x[0], x[1], DILATED))
BUILD(depthwise_planes, eddy_depthwise_conv2d(x[0], x[1], PADDED, .data_format = "NCHW"))
BUILD(depthwise_input, backwards(depthwise(g, x), x[0], x[2]))
BUILD(depthwise_filter, backwards(depthwise(g, x), x[1], x[2]))
BUILD(patches, eddy_extract_image_patches(x[0], EDDY_DIMS(3, 2), EDDY_DIMS(2, 1),
                                          .padding = "SAME"))
BUILD(patches_apart, eddy_extract_image_patches(x[0], EDDY_DIMS(2), .rates = EDDY_DIMS(1, 2)))
BUILD(patches_grad, backwards(patches(g, x), x[0], x[1]))
#undef STRIDED
#undef DILATED
#undef PADDED

static const sweep_row rows[] = {
    OP_KEEP("DepthwiseConv2dNative", "strides", depthwise, 2, KEEP(2, 3), S(1, 5, 4, 2),
            S(3, 3, 2, 2)),
    OP_KEEP("DepthwiseConv2dNative", "dilations", depthwise_dilated, 2, KEEP(2, 3, 4, 5),
            S(1, 4, 5, 3), S(2, 2, 3, 1)),
    OP_KEEP("DepthwiseConv2dNative", "NCHW", depthwise_planes, 2, KEEP(2, 3, 4), S(1, 2, 3, 4),
            S(3, 2, 2, 1)),
    { .op = "DepthwiseConv2dNativeBackpropInput", .build = depthwise_input, .n = 3, .constant = 1,
      .shape = { S(1, 5, 4, 2), S(3, 2, 2, 2), S(1, 3, 4, 4) }, .keep = { 2, 3, 4, 5 } },
    { .op = "DepthwiseConv2dNativeBackpropFilter", .build = depthwise_filter, .n = 3,
      .constant = 2, .shape = { S(1, 5, 4, 2), S(3, 2, 2, 2), S(1, 3, 4, 4) },
      .keep = { 2, 3, 4, 5 } },
    OP_KEEP("ExtractImagePatches", "", patches, 1, KEEP(4, 5), S(2, 5, 4, 2)),
    OP_KEEP("ExtractImagePatches", "rates", patches_apart, 1, KEEP(4, 5), S(1, 4, 5, 2)),
    { .op = "ExtractImagePatchesGrad", .build = patches_grad, .n = 2, .constant = 1,
      .shape = { S(1, 5, 4, 1), S(1, 3, 4, 6) }, .keep = { 3, 4, 5, 6 } },
};

FAMILY_OF_ROWS(conv, rows);
