/* rows_pooling.c -- pooling along one to three axes and to given sizes, normalizations, and 3-D
 * convolutions. */
#include "bench/ops/bench_ops.h"
#include "ops/short_names.h"

#define TWO EDDY_DIMS(2)
BUILD(max_line, eddy_max_pool1d(x[0], EDDY_DIMS(3), TWO, .explicit_paddings = EDDY_DIMS(1, 1)))
BUILD(max_line_planes, eddy_max_pool1d(x[0], TWO, .data_format = "NCW"))
BUILD(avg_line, eddy_avg_pool1d(x[0], TWO))
BUILD(max_volume, eddy_max_pool3d(x[0], TWO))
BUILD(max_volume_planes, eddy_max_pool3d(x[0], EDDY_DIMS(3), TWO, .data_format = "NCDHW"))
BUILD(avg_volume, eddy_avg_pool3d(x[0], TWO))
BUILD(stem, eddy_pool(x[0], EDDY_DIMS(3, 3), "MAX", TWO,
                      .explicit_paddings = EDDY_DIMS(1, 1, 1, 1)))
BUILD(apart, eddy_pool(x[0], EDDY_DIMS(3, 3), "MAX", .dilations = TWO))
BUILD(avg_bins, eddy_adaptive_avg_pool(x[0], EDDY_DIMS(7, 7)))
BUILD(max_bins, eddy_adaptive_max_pool(x[0], EDDY_DIMS(7, 7)))
BUILD(avg_bins_planes, eddy_adaptive_avg_pool(x[0], EDDY_DIMS(7, 7), "NCHW"))
BUILD(argmax, eddy_max_pool_with_argmax(x[0], TWO))
BUILD(lp, eddy_lp_pool(x[0], 2, EDDY_DIMS(2, 2)))
BUILD(global_mean, eddy_global_average_pool(x[0]))
BUILD(global_max, eddy_global_max_pool(x[0], "NCHW"))
BUILD(groups, eddy_group_norm(x[0], 8, x[1], x[2]))
BUILD(groups_planes, eddy_group_norm(x[0], 8, x[1], x[2], .data_format = "NCHW"))
BUILD(instances, eddy_instance_norm(x[0], x[1], x[2]))
BUILD(instances_planes, eddy_instance_norm(x[0], x[1], x[2], .data_format = "NCHW"))
BUILD(rms, eddy_rms_norm(x[0], x[1]))
BUILD(weights, eddy_weight_norm(x[0], x[1], 3))
BUILD(local_response, eddy_local_response_normalization(x[0], 2, 1, 0.2, 0.75))
BUILD(volume_groups, eddy_conv3d(x[0], x[1], .explicit_paddings = EDDY_DIMS(1, 1, 1, 1, 1, 1)))
BUILD(volume_back, eddy_conv3d_transpose(x[0], x[1], .strides = TWO))

#define BOTH(called, fn, count, ...) \
    OPS_ROW(called, fn, count, __VA_ARGS__), \
    OPS_GRADIENT(called ", gradient", fn, count, __VA_ARGS__)

static const ops_row rows[] = {
    BOTH("max_pool1d", max_line, 1, S(16, 1024, 64)),
    BOTH("max_pool1d NCW", max_line_planes, 1, S(16, 64, 1024)),
    BOTH("avg_pool1d, 4 channels", avg_line, 1, S(16, 16384, 4)),
    BOTH("max_pool3d", max_volume, 1, S(2, 16, 56, 56, 32)),
    BOTH("max_pool3d NCDHW", max_volume_planes, 1, S(2, 32, 16, 56, 56)),
    BOTH("avg_pool3d", avg_volume, 1, S(2, 16, 56, 56, 32)),
    BOTH("max pool with padding", stem, 1, S(4, 112, 112, 64)),
    BOTH("max pool with gaps", apart, 1, S(4, 56, 56, 64)),
    BOTH("adaptive_avg_pool", avg_bins, 1, S(16, 24, 24, 128)),
    BOTH("adaptive_max_pool", max_bins, 1, S(16, 24, 24, 128)),
    BOTH("adaptive_avg_pool NCHW", avg_bins_planes, 1, S(16, 128, 24, 24)),
    BOTH("max_pool_with_argmax", argmax, 1, S(4, 112, 112, 64)),
    BOTH("lp_pool", lp, 1, S(4, 56, 56, 64)),
    BOTH("global_average_pool", global_mean, 1, S(16, 28, 28, 256)),
    BOTH("global_max_pool NCHW", global_max, 1, S(16, 256, 28, 28)),
    BOTH("group_norm", groups, 3, S(8, 28, 28, 128), S(128), S(128)),
    BOTH("group_norm NCHW", groups_planes, 3, S(8, 128, 28, 28), S(128), S(128)),
    BOTH("instance_norm", instances, 3, S(8, 28, 28, 128), S(128), S(128)),
    BOTH("instance_norm NCHW", instances_planes, 3, S(8, 128, 28, 28), S(128), S(128)),
    BOTH("rms_norm", rms, 2, S(1024, 768), S(768)),
    BOTH("weight_norm", weights, 2, S(3, 3, 128, 256), S(256)),
    BOTH("local_response_normalization", local_response, 1, S(8, 28, 28, 96)),
    BOTH("conv3d, 4 groups", volume_groups, 2, S(1, 8, 28, 28, 32), S(3, 3, 3, 8, 32)),
    BOTH("conv3d_transpose", volume_back, 2, S(1, 8, 14, 14, 32), S(2, 2, 2, 16, 32)),
};

OPS_FAMILY(pooling, rows);
