/* rows_sorting.c -- sorting, cumulative extremes, elements along an axis, statistics, bins; see
 * rows.h. */
#include "tests/lib/rows.h"

BUILD(sort_last, eddy_sort(x[0]))
BUILD(sort_first, eddy_sort(x[0], EDDY_AXES(0), .descending = true))
BUILD(sort_places, eddy_argsort(x[0]))
BUILD(nth, eddy_nth_element(x[0], 1, true))
BUILD(quantile, eddy_quantile(x[0], 0.3, EDDY_AXES(1)))
BUILD(median_all, eddy_median(x[0]))
BUILD(median_keep, eddy_median(x[0], .axis = EDDY_AXES(0), .interpolation = EDDY_MIDPOINT,
                               .keepdims = true))
BUILD(top_k, eddy_top_k(x[0], 2))
BUILD(top_k_all, eddy_top_k(x[0], 4))
BUILD(top_places, eddy_output(eddy_top_k(x[0], 3), 1))
BUILD(in_top_k, eddy_in_top_k(x[0], pairs(x[0]), 2))
BUILD(logs, eddy_cumulative_logsumexp(x[0], 1))
BUILD(logs_back, eddy_cumulative_logsumexp(x[0], 0, .reverse = true))
/* The first of each row is -infinity, which has no differences. */
BUILD(logs_exclusive, Exp(eddy_cumulative_logsumexp(x[0], -1, .exclusive = true)))
BUILD(cummax, eddy_cummax(x[0], 1))
BUILD(cummax_back, eddy_cummax(x[0], 0, .reverse = true))
BUILD(cummin, eddy_cummin(x[0], -1))
#define PLACES INTS(EDDY_SHAPE(2, 3), 1, 0, 1, 3, -1, 0)
BUILD(take, eddy_take_along(x[0], PLACES, 1))
BUILD(take_first, eddy_take_along(x[0], INTS(EDDY_SHAPE(1, 3), 1, 0, 1), 0))
BUILD(put, eddy_put_along(x[0], PLACES, x[1], 1))
BUILD(put_first, eddy_put_along(x[0], PLACES, x[1], 0))

BUILD(variance, eddy_reduce_variance(x[0], EDDY_AXES(1)))
BUILD(variance_ddof, eddy_reduce_variance(x[0], EDDY_AXES(0), .keepdims = true, .ddof = 1))
BUILD(deviation, eddy_reduce_std(x[0], EDDY_AXES(1)))
BUILD(euclidean, eddy_euclidean_norm(x[0], EDDY_AXES(1)))
BUILD(normalized, eddy_l2_normalize(x[0], EDDY_AXES(1)))
BUILD(count, eddy_count_nonzero(x[0], EDDY_AXES(1)))
BUILD(fraction, eddy_zero_fraction(x[0]))
BUILD(weighted, eddy_output(eddy_weighted_moments(x[0], EDDY_AXES(1), Square(x[1])), 1))
BUILD(sufficient, eddy_output(eddy_sufficient_statistics(x[0], EDDY_AXES(0), x[1]), 2))
#define BINS INTS(EDDY_SHAPE(5), 2, 0, 7, 2, -1)
BUILD(bins, eddy_bincount(BINS, 4, x[0]))
BUILD(bins_open, eddy_bincount(pairs(x[0]), 3))
BUILD(confusion, eddy_confusion_matrix(BINS, INTS(EDDY_SHAPE(5), 1, 2, 0, 0, 1), 3, x[0]))
#define RANGE Cast(INTS(EDDY_SHAPE(2), -1, 1), eddy_dtype_of(x[0]))
BUILD(histogram, eddy_histogram_fixed_width(x[0], RANGE, 5))
BUILD(buckets, eddy_bucketize(x[0], RANGE))

static const sweep_row rows[] = {
    OP_KEEP("Sort", "", sort_last, 1, KEEP(3, 4), S(3, 4)),
    OP("Sort", "first, descending", sort_first, 1, S(3, 4)),
    OP("Sort", "places", sort_places, 1, S(3, 4)),
    OP_KEEP("Sort", "nth_element", nth, 1, KEEP(4), S(3, 4)),
    OP_KEEP("Sort", "quantile", quantile, 1, KEEP(4), S(3, 4)),
    OP_KEEP("Sort", "median", median_all, 1, KEEP(3, 4), S(3, 4)),
    OP_KEEP("Sort", "median, midpoint", median_keep, 1, KEEP(3, 4), S(4, 3)),
    OP_KEEP("TopKV2", "", top_k, 1, KEEP(4), S(3, 4)),
    OP_KEEP("TopKV2", "all", top_k_all, 1, KEEP(4), S(2, 3, 4)),
    OP_KEEP("TopKV2", "places", top_places, 1, KEEP(4), S(3, 4)),
    OP_KEEP("All", "in_top_k", in_top_k, 1, KEEP(4), S(3, 4)),
    OP("CumulativeLogsumexp", "", logs, 1, S(3, 4)),
    OP("CumulativeLogsumexp", "reverse", logs_back, 1, S(3, 4)),
    OP("CumulativeLogsumexp", "exclusive", logs_exclusive, 1, S(3, 4)),
    OP("Cummax", "", cummax, 1, S(3, 4)),
    OP("Cummax", "reverse", cummax_back, 1, S(3, 4)),
    OP("Cummin", "", cummin, 1, S(3, 4)),
    OP_KEEP("TakeAlong", "", take, 1, KEEP(2), S(2, 4)),
    OP_KEEP("TakeAlong", "first", take_first, 1, KEEP(3), S(2, 3)),
    OP_LIKE("PutAlong", "", put, 2, KEEP(2, 3), S(2, 3), S(2, 4)),
    OP_LIKE("PutAlong", "first", put_first, 2, KEEP(2, 3), S(2, 3), S(4, 3)),

    OP_KEEP("Mean", "variance", variance, 1, KEEP(4), S(3, 4)),
    OP_KEEP("Sum", "variance, ddof", variance_ddof, 1, KEEP(3), S(3, 4)),
    OP_KEEP("Sqrt", "std", deviation, 1, KEEP(4), S(3, 4)),
    OP_KEEP("EuclideanNorm", "", euclidean, 1, KEEP(4), S(3, 4)),
    OP_KEEP("EuclideanNorm", "l2_normalize", normalized, 1, KEEP(4), S(3, 4)),
    OP("NotEqual", "count_nonzero", count, 1, S(3, 4)),
    OP_KEEP("Equal", "zero_fraction", fraction, 1, KEEP(3, 4), S(3, 4)),
    { .op = "Sum", .how = "weighted_moments", .build = weighted, .n = 2,
      .shape = { S(3, 4), S(4) }, .low = { -2, 1 }, .high = { 2, 2 }, .keep = { 4 } },
    OP("Sum", "sufficient_statistics", sufficient, 2, S(3, 4), S(4)),
    OP_KEEP("PutAlong", "bincount", bins, 1, KEEP(5), S(5)),
    OP("RowNumbers", "bincount", bins_open, 1, S(3, 2)),
    OP_KEEP("PutAlong", "confusion_matrix", confusion, 1, KEEP(5), S(5)),
    OP("Floor", "histogram", histogram, 1, S(3, 4)),
    OP("SearchSorted", "bucketize", buckets, 1, S(3, 4)),
};
FAMILY_OF_ROWS(sorting, rows);
