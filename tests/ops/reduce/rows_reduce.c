/* rows_reduce.c -- reductions and scans; see rows.h. */
#include "tests/lib/rows.h"

BUILD(sum_axis, Sum(x[0], AXES(1)))
BUILD(sum_all, Sum(x[0]))
BUILD(sum_keep, Sum(x[0], AXES(0, 2), .keepdims = true))
BUILD(mean_axis, Mean(x[0], AXES(1)))
BUILD(mean_keep, Mean(x[0], AXES(0, 2), .keepdims = true))
BUILD(max_axis, Max(x[0], AXES(1)))
BUILD(max_keep, Max(x[0], AXES(0, -1), .keepdims = true))
BUILD(min_axis, Min(x[0], AXES(1)))
BUILD(prod_axis, Prod(x[0], AXES(1)))
BUILD(prod_all, Prod(x[0]))
BUILD(any_axis, eddy_any(Greater(x[0], 0), AXES(1)))
BUILD(all_axis, eddy_all(Greater(x[0], 0), AXES(0)))
BUILD(argmax, eddy_argmax(x[0], 1))
BUILD(argmin, eddy_argmin(x[0], -1, .output_type = EDDY_INT32))
BUILD(cumsum, Cumsum(x[0], 1))
BUILD(cumsum_back, Cumsum(x[0], 0, .exclusive = true, .reverse = true))
BUILD(cumprod, Cumprod(x[0], 1))
BUILD(cumprod_exclusive, Cumprod(x[0], 0, .exclusive = true))
BUILD(cumprod_back, Cumprod(x[0], 0, .exclusive = true, .reverse = true))
BUILD(linear_scan, eddy_linear_scan(x[0], x[1], .axis = 1))
BUILD(linear_scan_back, eddy_linear_scan(x[0], x[1], .axis = 0, .reverse = true))
BUILD(shift, eddy_shift(x[0], 1, 1))
BUILD(shift_back, eddy_shift(x[0], -2, 0))

/* Axes that follow from the sizes of x. */
#define COMPUTED(shape, ...) \
    Add(Mul(eddy_size_along(RANK_3, 1), 0), Cast(INTS(shape, __VA_ARGS__), EDDY_INT64))
#define RANK_3 eddy_set_shape(x[0], EDDY_SHAPE(EDDY_ANY, EDDY_ANY, EDDY_ANY))
BUILD(sum_to, eddy_reduce_to(eddy_sum_with, RANK_3, COMPUTED(EDDY_SHAPE(2), -1, 0), false))
BUILD(mean_to, eddy_reduce_to(eddy_mean_with, RANK_3, COMPUTED(EDDY_SHAPE(1), 1), true))
BUILD(squeeze_to, eddy_squeeze_to(RANK_3, COMPUTED(EDDY_SHAPE(1), 1)))
BUILD(expand_to, eddy_expand_dims_to(RANK_3, COMPUTED(EDDY_SHAPE(2), 1, -1)))

static const sweep_row rows[] = {
    OP("Sum", "axis", sum_axis, 1, S(3, 4)),
    OP("Sum", "all", sum_all, 1, S(3, 4)),
    OP("Sum", "keepdims", sum_keep, 1, S(2, 3, 4)),
    OP("Mean", "axis", mean_axis, 1, S(3, 4)),
    OP("Mean", "keepdims", mean_keep, 1, S(2, 3, 4)),
    OP("Max", "axis", max_axis, 1, S(3, 4)),
    OP("Max", "keepdims", max_keep, 1, S(2, 3, 4)),
    OP("Min", "axis", min_axis, 1, S(3, 4)),
    OP("Prod", "axis", prod_axis, 1, S(3, 4)),
    OP("Prod", "all", prod_all, 1, S(2, 3)),
    OP("Any", "axis", any_axis, 1, S(3, 4)),
    OP("All", "axis", all_axis, 1, S(3, 4)),
    OP_KEEP("ArgMax", "axis", argmax, 1, KEEP(4), S(3, 4)),
    OP_KEEP("ArgMin", "last", argmin, 1, KEEP(4), S(3, 4)),
    OP("Cumsum", "axis", cumsum, 1, S(3, 4)),
    OP("Cumsum", "exclusive, reverse", cumsum_back, 1, S(3, 4)),
    OP("Cumprod", "axis", cumprod, 1, S(3, 4)),
    OP("Cumprod", "exclusive", cumprod_exclusive, 1, S(3, 4)),
    OP("Cumprod", "exclusive, reverse", cumprod_back, 1, S(3, 4)),
    OP("LinearScan", "axis", linear_scan, 2, S(3, 4), S(3, 4)),
    OP("LinearScan", "reverse", linear_scan_back, 2, S(3, 4), S(3, 4)),
    OP("Shift", "1", shift, 1, S(3, 4)),
    OP("Shift", "-2", shift_back, 1, S(3, 4)),
    OP("ReshapeTo", "reduce_to, sum", sum_to, 1, S(2, 3, 4)),
    OP("Mean", "reduce_to, keepdims", mean_to, 1, S(2, 3, 4)),
    OP("ReshapeTo", "squeeze_to", squeeze_to, 1, S(3, 1, 4)),
    OP("ReshapeTo", "expand_dims_to", expand_to, 1, S(2, 3, 4)),
};
FAMILY_OF_ROWS(reduce, rows);
