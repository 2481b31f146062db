/* rows_pooling.c -- pooling along one to three axes and to given sizes, normalizations, and 3-D
 * convolutions; see rows.h. */
#include "tests/lib/rows.h"

#define ONE EDDY_DIMS(1)
#define TWO EDDY_DIMS(2)
#define APART .dilations = EDDY_DIMS(2, 1)
#define PADDED .explicit_paddings = EDDY_DIMS(1, 2, 0, 1)
BUILD(max_line, eddy_max_pool1d(x[0], TWO))
BUILD(max_line_planes, eddy_max_pool1d(x[0], EDDY_DIMS(3), TWO, "SAME", "NCW"))
BUILD(max_volume, eddy_max_pool3d(x[0], TWO, ONE, "SAME"))
BUILD(max_apart, eddy_pool(x[0], EDDY_DIMS(3, 2), "MAX", APART, PADDED))
BUILD(max_bins, eddy_adaptive_max_pool(x[0], EDDY_DIMS(2, 3)))
BUILD(avg_line, eddy_avg_pool1d(x[0], EDDY_DIMS(3), TWO, "SAME"))
BUILD(avg_volume, eddy_avg_pool3d(x[0], TWO, .data_format = "NCDHW"))
BUILD(avg_apart, eddy_pool(x[0], EDDY_DIMS(3, 2), "AVG", APART, PADDED))
BUILD(avg_bins, eddy_adaptive_avg_pool(x[0], EDDY_DIMS(3, EDDY_ANY), "NCHW"))
BUILD(max_grad, backwards(max_volume(g, x), x[0], x[1]))
BUILD(max_grad_apart, backwards(max_apart(g, x), x[0], x[1]))
BUILD(max_grad_grad, backwards(backwards(max_volume(g, x), x[0], x[1]), x[1], x[2]))
BUILD(avg_grad, backwards(avg_line(g, x), x[0], x[1]))
BUILD(avg_grad_bins, backwards(avg_bins(g, x), x[0], x[1]))
BUILD(lp, eddy_lp_pool(x[0], 3, TWO))
/* Of a rank that is known. */
static eddy_tensor ranked(eddy_tensor x, eddy_shape s) { return eddy_set_shape(Identity(x), s); }
#define ANY EDDY_ANY
BUILD(global_mean, eddy_global_average_pool(ranked(x[0], EDDY_SHAPE(ANY, ANY, ANY, ANY))))
BUILD(global_max, eddy_global_max_pool(ranked(x[0], EDDY_SHAPE(ANY, ANY, ANY)), "NCW", true))
BUILD(argmax, eddy_max_pool_with_argmax(x[0], TWO, ONE, "SAME"))
BUILD(argmax_of_all, eddy_max_pool_with_argmax(x[0], TWO, .include_batch_in_index = true))
BUILD(avg_of_all, eddy_avg_pool1d(x[0], EDDY_DIMS(3), TWO, "SAME", .count_include_pad = true))
#define LAST4 EDDY_SHAPE(ANY, ANY, 4)
BUILD(group_norm, eddy_group_norm(ranked(x[0], LAST4), 2, x[1], x[2]))
BUILD(group_norm_planes, eddy_group_norm(ranked(x[0], EDDY_SHAPE(ANY, 4, ANY)), 2, x[1], x[2],
                                         .data_format = "NCW"))
BUILD(one_group, eddy_group_norm(ranked(x[0], LAST4), 1, .offset = x[1]))
BUILD(instance_norm, eddy_instance_norm(ranked(x[0], LAST4), x[1], x[2]))
BUILD(rms_norm, eddy_rms_norm(x[0], x[1]))
BUILD(weight_norm, eddy_weight_norm(ranked(x[0], EDDY_SHAPE(ANY, ANY)), x[1], -1))
BUILD(local_response, eddy_local_response_normalization(ranked(x[0], LAST4), 2, 1, 0.5, 0.75))
BUILD(local_response_root, eddy_local_response_normalization(ranked(x[0], LAST4), 1))
#define VOLUME EDDY_SHAPE(ANY, 2, 2, 2, 4)
#define FILTER EDDY_SHAPE(2, 2, 2, 2, 4)
BUILD(conv3d_groups, eddy_conv3d(ranked(x[0], VOLUME), ranked(x[1], FILTER),
                                 .explicit_paddings = EDDY_DIMS(1, 0, 0, 1, 0, 0)))
BUILD(conv3d_back, eddy_conv3d_transpose(ranked(x[0], VOLUME), ranked(x[1], FILTER),
                                         .strides = EDDY_DIMS(2, 1, 1)))
#define IMAGES EDDY_SHAPE(ANY, 4, 5, ANY)
/* So small that it turns no order of the elements of x round. */
static eddy_tensor small_filter(eddy_tensor f)
{
    return ranked(Mul(f, 0.004), EDDY_SHAPE(2, 3, ANY));
}
BUILD(dilation2d, eddy_dilation2d(ranked(x[0], IMAGES), small_filter(x[1]), EDDY_DIMS(2, 1),
                                  .padding = "SAME"))
BUILD(erosion2d, eddy_erosion2d(ranked(x[0], IMAGES), small_filter(x[1]), .rates =
                                EDDY_DIMS(2, 1)))

static const sweep_row rows[] = {
    OP_KEEP("MaxPool3D", "1-D", max_line, 1, KEEP(5), S(2, 5, 3)),
    OP("MaxPool3D", "1-D SAME NCW", max_line_planes, 1, S(2, 3, 4)),
    OP("MaxPool3D", "3-D SAME", max_volume, 1, S(2, 3, 2, 3, 2)),
    OP_KEEP("MaxPool3D", "dilations, paddings", max_apart, 1, KEEP(4, 5), S(2, 5, 4, 3)),
    OP_KEEP("MaxPool3D", "adaptive", max_bins, 1, KEEP(4, 5), S(2, 4, 5, 3)),
    OP("AvgPool3D", "1-D SAME", avg_line, 1, S(2, 5, 3)),
    OP_KEEP("AvgPool3D", "3-D NCDHW", avg_volume, 1, KEEP(3, 4, 5), S(1, 2, 3, 4, 5)),
    OP_KEEP("AvgPool3D", "dilations, paddings", avg_apart, 1, KEEP(4, 5), S(2, 5, 4, 3)),
    OP_KEEP("AvgPool3D", "adaptive", avg_bins, 1, KEEP(4), S(2, 3, 4, 5)),
    { .op = "MaxPool3DGrad", .build = max_grad, .n = 2,
      .shape = { S(2, 3, 2, 3, 2), S(2, 3, 2, 3, 2) } },
    OP_KEEP("MaxPool3DGrad", "dilations, paddings", max_grad_apart, 2, KEEP(3, 4, 5),
            S(2, 5, 4, 3), S(2, 4, 4, 3)),
    { .op = "MaxPool3DGradGrad", .build = max_grad_grad, .n = 3, .constant = 2,
      .shape = { S(1, 3, 2, 3, 2), S(1, 3, 2, 3, 2), S(1, 3, 2, 3, 2) } },
    { .op = "AvgPool3DGrad", .build = avg_grad, .n = 2, .constant = 1,
      .shape = { S(2, 5, 4), S(2, 3, 4) }, .keep = { 3, 5 } },
    { .op = "AvgPool3DGrad", .how = "adaptive", .build = avg_grad_bins, .n = 2, .constant = 1,
      .shape = { S(2, 2, 4, 5), S(2, 2, 3, 5) }, .keep = { 3, 4 } },
    { .op = "AvgPool3D", .how = "lp_pool", .build = lp, .n = 1, .shape = { S(2, 5, 3) },
      .low = { 0.5 }, .high = { 2 }, .keep = { 5 } },
    OP("Mean", "global_average_pool", global_mean, 1, S(2, 4, 5, 3)),
    OP("Max", "global_max_pool", global_max, 1, S(2, 4, 5)),
    OP("MaxPoolWithArgmax", "SAME", argmax, 1, S(2, 4, 5, 3)),
    OP_KEEP("MaxPoolWithArgmax", "include_batch", argmax_of_all, 1, KEEP(4, 5), S(2, 4, 5, 3)),
    OP("AvgPool3D", "count_include_pad", avg_of_all, 1, S(2, 5, 3)),
    OP_REAL("Rsqrt", "group_norm", group_norm, 3, KEEP(4, 5), S(3, 5, 4), S(4), S(4)),
    OP_REAL("Rsqrt", "group_norm NCW", group_norm_planes, 3, KEEP(4, 5), S(2, 4, 5), S(4), S(4)),
    OP_REAL("Rsqrt", "group_norm, one", one_group, 2, KEEP(4), S(3, 5, 4), S(4)),
    OP_REAL("Rsqrt", "instance_norm", instance_norm, 3, KEEP(4, 5), S(3, 5, 4), S(4), S(4)),
    OP_REAL("Rsqrt", "rms_norm", rms_norm, 2, KEEP(0), S(3, 4), S(4)),
    { .op = "EuclideanNorm", .how = "weight_norm", .build = weight_norm, .n = 2,
      .shape = { S(3, 4), S(4) }, .options = SWEEP_REAL, .keep = { 3 } },
    OP_KEEP("AvgPool3D", "LRN", local_response, 1, KEEP(4), S(2, 3, 4)),
    OP_KEEP("AvgPool3D", "LRN, beta 0.5", local_response_root, 1, KEEP(4), S(2, 3, 4)),
    OP_KEEP("Conv2D", "conv3d, groups", conv3d_groups, 2, KEEP(2, 4), S(5, 2, 2, 2, 4),
            S(2, 2, 2, 2, 4)),
    OP_KEEP("Conv2DBackpropInput", "conv3d_transpose", conv3d_back, 2, KEEP(2, 4),
            S(1, 2, 2, 2, 4), S(2, 2, 2, 2, 4)),
    OP_KEEP("Maximum", "dilation2d", dilation2d, 2, KEEP(2, 3, 4, 5), S(1, 4, 5, 6), S(2, 3, 6)),
    OP_KEEP("Maximum", "erosion2d", erosion2d, 2, KEEP(2, 3, 4, 5), S(1, 4, 5, 6), S(2, 3, 6)),
};

FAMILY_OF_ROWS(pooling, rows);
