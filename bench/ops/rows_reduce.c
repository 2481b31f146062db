/* rows_reduce.c -- sums, cumulative sums, softmax, norms, argmax. */
#include "bench/ops/bench_ops.h"
#include "ops/short_names.h"

#define REAL(x) eddy_cast(x, EDDY_FLOAT32)
#define LAST EDDY_AXES(-1)
#define FIRST EDDY_AXES(0)

static eddy_tensor clipped(eddy_graph *g, const eddy_tensor *x)
{
    eddy_tensor out[2];
    eddy_clip_by_global_norm(EDDY_LIST(x[0], x[1]), eddy_scalar(g, 5), out);
    return eddy_concat(EDDY_LIST(out[0], out[1]), 0);
}

BUILD(sum_all, eddy_sum(x[0]))
BUILD(sum_last, eddy_sum(x[0], LAST))
BUILD(sum_first, eddy_sum(x[0], FIRST))
BUILD(sum_middle, eddy_sum(x[0], EDDY_AXES(1)))
BUILD(sum_outer, eddy_sum(x[0], EDDY_AXES(0, 2)))
BUILD(mean_last, eddy_mean(x[0], LAST))
BUILD(max_last, eddy_max(x[0], LAST))
BUILD(max_first, eddy_max(x[0], FIRST))
BUILD(min_all, eddy_min(x[0]))
BUILD(prod_last, eddy_prod(x[0], LAST))
BUILD(any_last, REAL(eddy_any(Greater(x[0], 0.9), LAST)))
BUILD(all_first, REAL(eddy_all(Less(x[0], 0.9), FIRST)))
BUILD(log_sum, eddy_logsumexp(x[0], LAST))
BUILD(argmax_last, REAL(eddy_argmax(x[0], -1)))
BUILD(argmax_first, REAL(eddy_argmax(x[0], 0)))
BUILD(argmin_last, REAL(eddy_argmin(x[0], -1)))
BUILD(length, eddy_euclidean_norm(x[0], LAST))
BUILD(half_square, eddy_l2_loss(x[0]))
BUILD(moments, eddy_output(eddy_moments(x[0], FIRST), 1))
BUILD(weighted, eddy_output(eddy_weighted_moments(x[0], FIRST, x[1]), 1))
BUILD(added, eddy_add_n(EDDY_LIST(x[0], x[1], x[2], x[3]), NULL))
BUILD(cumsum_last, eddy_cumsum(x[0], -1))
BUILD(cumsum_first, eddy_cumsum(x[0], 0))
BUILD(cumsum_back, eddy_cumsum(x[0], -1, .exclusive = true, .reverse = true))
BUILD(cumprod_last, eddy_cumprod(x[0], -1))
BUILD(cummin_last, eddy_cummin(x[0], -1))
BUILD(scan, eddy_linear_scan(x[0], x[1], 1))
BUILD(soft, eddy_softmax(x[0]))
BUILD(soft_first, eddy_softmax(x[0], FIRST))
BUILD(soft_squared, Square(eddy_softmax(x[0])))
BUILD(log_soft, eddy_log_softmax(x[0]))
BUILD(log_soft_times, Mul(eddy_log_softmax(x[0]), x[0]))
BUILD(nth, eddy_nth_element(x[0], 100, false))
BUILD(quantile, eddy_quantile(x[0], 0.3, LAST))
BUILD(shifted, eddy_shift(x[0], 3, 1))
BUILD(norm_inf, eddy_norm(x[0], "inf", LAST))
BUILD(norm_3, eddy_norm(x[0], "3", LAST))
BUILD(zeros_part, eddy_zero_fraction(eddy_relu(x[0])))

#define LARGE S(1000, 1000)

static const ops_row rows[] = {
    OPS_ROW("sum", sum_all, 1, LARGE),
    OPS_ROW("sum last axis", sum_last, 1, LARGE),
    OPS_ROW("sum first axis", sum_first, 1, LARGE),
    OPS_ROW("sum middle axis", sum_middle, 1, S(100, 100, 100)),
    OPS_ROW("sum outer axes", sum_outer, 1, S(100, 100, 100)),
    OPS_ROW("sum short rows", sum_last, 1, S(100000, 10)),
    OPS_ROW("mean last axis", mean_last, 1, LARGE),
    OPS_ROW("max last axis", max_last, 1, LARGE),
    OPS_ROW("max first axis", max_first, 1, LARGE),
    OPS_GRADIENT("max last axis, gradient", max_last, 1, LARGE),
    OPS_ROW("min of all", min_all, 1, LARGE),
    { .name = "prod last axis", .build = prod_last, .n = 1, .shape = { LARGE }, .low = { 0.98 },
      .high = { 1.02 } },
    { .name = "prod last axis, gradient", .build = prod_last, .n = 1, .shape = { LARGE },
      .low = { 0.98 }, .high = { 1.02 }, .gradient = true },
    OPS_ROW("any last axis", any_last, 1, LARGE),
    OPS_ROW("all first axis", all_first, 1, LARGE),
    OPS_ROW("logsumexp", log_sum, 1, LARGE),
    OPS_GRADIENT("logsumexp, gradient", log_sum, 1, LARGE),
    OPS_ROW("argmax last axis", argmax_last, 1, LARGE),
    OPS_ROW("argmax first axis", argmax_first, 1, LARGE),
    OPS_ROW("argmin last axis", argmin_last, 1, LARGE),
    OPS_ROW("euclidean_norm", length, 1, LARGE),
    OPS_ROW("l2_loss", half_square, 1, LARGE),
    OPS_ROW("moments", moments, 1, LARGE),
    { .name = "weighted_moments", .build = weighted, .n = 2, .shape = { LARGE, LARGE },
      .low = { -1, 0 }, .high = { 1, 1 } },
    OPS_ROW("add_n", added, 4, LARGE, LARGE, LARGE, LARGE),
    OPS_ROW("clip_by_global_norm", clipped, 2, LARGE, LARGE),
    OPS_ROW("cumsum last axis", cumsum_last, 1, LARGE),
    OPS_ROW("cumsum first axis", cumsum_first, 1, LARGE),
    OPS_ROW("cumsum exclusive, reverse", cumsum_back, 1, LARGE),
    { .name = "cumprod", .build = cumprod_last, .n = 1, .shape = { LARGE }, .low = { 0.98 },
      .high = { 1.02 } },
    OPS_ROW("cummin", cummin_last, 1, LARGE),
    OPS_ROW("linear_scan", scan, 2, S(1000, 100), S(1000, 100)),
    OPS_ROW("softmax", soft, 1, LARGE),
    OPS_ROW("softmax first axis", soft_first, 1, LARGE),
    OPS_ROW("softmax short rows", soft, 1, S(100000, 10)),
    OPS_GRADIENT("softmax, gradient", soft_squared, 1, LARGE),
    OPS_ROW("log_softmax", log_soft, 1, LARGE),
    OPS_GRADIENT("log_softmax, gradient", log_soft_times, 1, LARGE),
    OPS_ROW("nth_element", nth, 1, LARGE),
    OPS_ROW("quantile", quantile, 1, LARGE),
    OPS_ROW("shift", shifted, 1, LARGE),
    OPS_ROW("norm inf of rows", norm_inf, 1, LARGE),
    OPS_ROW("norm 3 of rows", norm_3, 1, LARGE),
    OPS_ROW("zero_fraction", zeros_part, 1, LARGE),
};
OPS_FAMILY(reduce, rows);
