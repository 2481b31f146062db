/* rows_sorting.c -- sorting, top-k, cumulative operations, statistics, bins. */
#include "bench/ops/bench_ops.h"
#include "ops/short_names.h"

#define AT(x) eddy_cast(x, EDDY_INT32)
#define REAL(x) eddy_cast(x, EDDY_FLOAT32)

BUILD(sort_last, eddy_sort(x[0]))
BUILD(sort_first, eddy_sort(x[0], EDDY_AXES(0)))
BUILD(sort_down, REAL(eddy_argsort(x[0], .descending = true)))
BUILD(sort_whole, REAL(eddy_sort(AT(x[0]))))
BUILD(top_k, eddy_top_k(x[0], 10))
BUILD(top_k_many, eddy_top_k(x[0], 1000))
BUILD(median, eddy_median(x[0], .axis = EDDY_AXES(1)))
BUILD(in_top_k, REAL(eddy_in_top_k(x[0], AT(x[1]), 5)))
BUILD(logs, eddy_cumulative_logsumexp(x[0], 1))
BUILD(cummax, eddy_cummax(x[0], 1))
BUILD(cummax_first, eddy_cummax(x[0], 0))
BUILD(variance, eddy_reduce_variance(x[0], EDDY_AXES(1)))
BUILD(std_all, eddy_reduce_std(x[0], .ddof = 1))
BUILD(normalize, eddy_l2_normalize(x[0], EDDY_AXES(1)))
BUILD(nonzero_count, REAL(eddy_count_nonzero(x[0], EDDY_AXES(1))))
BUILD(bincount, REAL(eddy_bincount(AT(x[0]), 1000)))
BUILD(bincount_weights, eddy_bincount(AT(x[0]), 1000, x[1]))
BUILD(buckets, REAL(eddy_bucketize(x[0], eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(3),
                                                   (float[]){ -0.5f, 0, 0.5f }))))
BUILD(histogram, REAL(eddy_histogram_fixed_width(x[0], eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(2),
                                                                 (float[]){ -1, 1 }), 100)))

static const ops_row rows[] = {
    OPS_ROW("sort", sort_last, 1, S(1000, 1000)),
    OPS_ROW("sort one long row", sort_last, 1, S(1000000)),
    OPS_ROW("sort short rows", sort_last, 1, S(50000, 20)),
    OPS_ROW("sort first axis", sort_first, 1, S(1000, 1000)),
    { .name = "sort int32", .build = sort_whole, .n = 1, .shape = { S(1000, 1000) }, .low = { 0 },
      .high = { 5000 }, .random = true },
    { .name = "argsort descending", .build = sort_down, .n = 1, .shape = { S(1000, 1000) } },
    OPS_GRADIENT("sort, gradient", sort_last, 1, S(1000, 1000)),
    OPS_ROW("top_k 10", top_k, 1, S(100, 10000)),
    OPS_ROW("top_k 1000", top_k_many, 1, S(100, 10000)),
    OPS_GRADIENT("top_k 10, gradient", top_k, 1, S(100, 10000)),
    OPS_ROW("median", median, 1, S(1000, 999)),
    { .name = "in_top_k", .build = in_top_k, .n = 2, .shape = { S(1000, 1000), S(1000) },
      .low = { -1, 0 }, .high = { 1, 1000 } },
    OPS_ROW("cumulative_logsumexp", logs, 1, S(1000, 1000)),
    OPS_GRADIENT("cumulative_logsumexp, gradient", logs, 1, S(1000, 1000)),
    OPS_ROW("cummax", cummax, 1, S(1000, 1000)),
    OPS_ROW("cummax first axis", cummax_first, 1, S(1000, 1000)),
    OPS_GRADIENT("cummax, gradient", cummax, 1, S(1000, 1000)),
    OPS_ROW("variance", variance, 1, S(1000, 1000)),
    OPS_GRADIENT("variance, gradient", variance, 1, S(1000, 1000)),
    OPS_ROW("std of all", std_all, 1, S(1000, 1000)),
    OPS_ROW("l2_normalize", normalize, 1, S(1000, 1000)),
    OPS_ROW("count_nonzero", nonzero_count, 1, S(1000, 1000)),
    { .name = "bincount", .build = bincount, .n = 1, .shape = { S(1000000) }, .low = { 0 },
      .high = { 1000 } },
    { .name = "bincount, weights", .build = bincount_weights, .n = 2,
      .shape = { S(1000000), S(1000000) }, .low = { 0, -1 }, .high = { 1000, 1 } },
    OPS_ROW("bucketize", buckets, 1, S(1000000)),
    { .name = "histogram", .build = histogram, .n = 1, .shape = { S(1000000) }, .random = true },
};
OPS_FAMILY(sorting, rows);
