/* reduction_trials.h -- random axes and elements, and a comparison, for tests of reductions and
 * scans. */
#ifndef EDDY_TESTS_REDUCTION_TRIALS_H
#define EDDY_TESTS_REDUCTION_TRIALS_H

#include "tests/lib/element_checks.h"
#include "tests/lib/finite_differences.h"

static const eddy_dtype I32 = EDDY_INT32;
static const eddy_dims  no_axes = { .count = -1 };

/* Half of all axes, in any order, some counted from the end. */
static inline eddy_dims some_axes(trial *t, int rank, unsigned *mask)
{
    eddy_dims axes = no_axes;
    *mask = 0;
    for (int i = 0; i < rank; i++) {
        const int axis = pick(t, rank);
        if (*mask >> axis & 1) continue;
        if (axes.count < 0) axes.count = 0;
        *mask |= 1u << axis;
        axes.at[axes.count++] = pick(t, 2) ? axis : axis - rank;
    }
    if (pick(t, 4)) return axes;
    *mask = (1u << rank) - 1;
    return EDDY_OMITTED_DIMS;
}

static inline eddy_array *some_elements(trial *t, eddy_dtype d, eddy_shape s, bool nans)
{
    eddy_array *x = eddy_array_new(d, s);
    for (int64_t i = 0; i < eddy_array_count(x); i++) {
        double v = pick(t, 9) - 4;
        if (d == EDDY_BOOL) v = pick(t, 5) > 0;
        if (d == EDDY_UINT8) v = pick(t, 256);
        if (eddy_dtype_is_floating(d)) v += pick(t, 4) * 0.25;
        if (nans && pick(t, 40) == 0) v = NAN;
        eddy_array_set(x, i, v);
    }
    return x;
}

static const eddy_dtype dtypes[] = {
    EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32, EDDY_INT64, EDDY_UINT8,
};

static inline void check_close(trial *t, eddy_tensor y, const eddy_array *want, double tolerance)
{
    eddy_array *a = value(t, y);
    ck_assert_int_eq(eddy_array_count(a), eddy_array_count(want));
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        ck_assert_msg(close_to(eddy_array_get(a, i), eddy_array_get(want, i), tolerance),
                      "%s: element %d is %.17g, not %.17g", eddy_type_of(y), (int)i,
                      eddy_array_get(a, i), eddy_array_get(want, i));
    eddy_array_free(a);
}

#endif
