/* test_scans.c -- argmax and argmin, cumulative sums and products, and broadcast_along: values
 * against plain loops, gradients against finite differences and known values. */
#include "tests/lib/reduction_trials.h"

Suite *scans_suite(void);

/* ------------------------------------------------------------- extremes -- */

START_TEST(argmax_against_loops)
{
    trial t = trial_begin((unsigned)_i);
    const eddy_shape s = some_shape(&t, 1, 4);
    const int        axis = pick(&t, s.rank);
    const eddy_dtype d = pick(&t, 6) ? dtypes[pick(&t, 5)] : EDDY_BOOL;
    const bool       least = pick(&t, 2);
    eddy_array *x = some_elements(&t, d, s, eddy_dtype_is_floating(d) && pick(&t, 2));
    const eddy_argmax_args a =
        *EDDY_ARGS(eddy_argmax_args, .x = fed(&t, x), .axis = pick(&t, 2) ? axis : axis - s.rank,
                   .output_type = pick(&t, 2) ? I32 : EDDY_DEFAULT_DTYPE);
    eddy_shape kept = s;
    kept.dim[axis] = 1;
    if (s.dim[axis] > 0) {
        eddy_tensor y = least ? eddy_argmin_with(&a) : eddy_argmax_with(&a);
        ck_assert_int_eq(eddy_dtype_of(y), a.output_type ? I32 : EDDY_INT64);
        eddy_array *want = eddy_array_new(EDDY_INT64, kept);
        for (int64_t i = 0; i < eddy_array_count(want); i++) {
            int64_t at[EDDY_MAX_RANK], best = 0;
            position(kept, i, at);
            double top = eddy_array_get(x, place(s, at));
            for (int64_t j = 1; j < s.dim[axis]; j++) {
                at[axis] = j;
                const double v = eddy_array_get(x, place(s, at));
                if (!isnan(top) && (isnan(v) || (least ? v < top : v > top))) top = v, best = j;
            }
            eddy_array_set(want, i, (double)best);
        }
        check_close(&t, y, want, 0);
        eddy_array_free(want);
    }
    trial_end(&t);
}
END_TEST

START_TEST(argmax_corners)
{
    IS(eddy_argmax(vec(F32, V(1, 3, 3, 2))), 1);                             /* corner */
    IS(eddy_argmin(vec(I32, V(4, 2, 2))), 1);
    IS(eddy_argmax(vec(F32, V(1, NAN, 9, NAN))), 1);
    IS(eddy_argmin(vec(F32, V(-INFINITY, -INFINITY))), 0);
    eddy_tensor x = shaped(F32, EDDY_SHAPE(2, 3), (double[]){ 1, 5, 2, 9, 0, 2 });
    IS(eddy_argmax(x), 1, 0, 0);
    IS(eddy_argmax(x, .axis = -1), 1, 0);
}
END_TEST

/* ----------------------------------------------------------------- scans -- */

static double running(int kind, bool first, double old, double x, double w)
{
    return kind == 0 ? old + x : kind == 1 ? old * x : first ? x : x + w * old;
}

START_TEST(scans_against_loops)
{
    trial t = trial_begin((unsigned)_i);
    const eddy_shape s = some_shape(&t, 1, 4);
    const int        kind = pick(&t, 3), axis = pick(&t, s.rank);
    const int        named = pick(&t, 2) ? axis : axis - s.rank;
    const bool       exclusive = kind < 2 && pick(&t, 2), reverse = pick(&t, 2);
    eddy_array      *x = some_elements(&t, EDDY_FLOAT64, s, false);
    eddy_array      *w = some_elements(&t, EDDY_FLOAT64, s, false);
    /* A value without other readers may be overwritten. */
    const eddy_tensor    in = pick(&t, 2) ? Neg(Neg(fed(&t, x))) : fed(&t, x);
    const eddy_scan_args a = *EDDY_ARGS(eddy_scan_args, .x = in, .axis = named,
                                        .exclusive = exclusive, .reverse = reverse);
    eddy_tensor y;
    if (kind == 2) y = eddy_linear_scan(a.x, fed(&t, w), .axis = named, .reverse = reverse);
    else y = kind == 0 ? eddy_cumsum_with(&a) : eddy_cumprod_with(&a);

    const int64_t n = s.dim[axis];
    eddy_array   *want = eddy_array_new(EDDY_FLOAT64, s);
    for (int64_t i = 0; i < eddy_array_count(x); i++) {
        int64_t at[EDDY_MAX_RANK];
        position(s, i, at);
        if (at[axis] > 0) continue;
        double v = kind == 1;
        for (int64_t j = 0; j < n; j++) {
            at[axis] = reverse ? n - 1 - j : j;
            const int64_t here = place(s, at);
            const double  old = v;
            v = running(kind, j == 0, old, eddy_array_get(x, here), eddy_array_get(w, here));
            eddy_array_set(want, here, exclusive ? old : v);
        }
    }
    check_close(&t, y, want, 1e-13);
    eddy_array_free(want);
    if (kind < 2) eddy_array_free(w);
    trial_end(&t);
}
END_TEST

START_TEST(scans_in_numbers)
{
    eddy_tensor x = vec(I32, V(1, 2, 3, 4));
    IS(eddy_cumsum(x), 1, 3, 6, 10);
    IS(eddy_cumsum(x, .exclusive = true), 0, 1, 3, 6);
    IS(eddy_cumsum(x, .reverse = true), 10, 9, 7, 4);
    IS(eddy_cumsum(x, .exclusive = true, .reverse = true), 9, 7, 4, 0);
    IS(eddy_cumprod(x), 1, 2, 6, 24);
    IS(eddy_cumprod(x, .exclusive = true, .reverse = true), 24, 12, 4, 1);
    IS(eddy_cumsum(vec(EDDY_UINT8, V(200, 100))), 200, 44);
    IS(eddy_shift(x, 1, 0), 0, 1, 2, 3);
    IS(eddy_shift(x, -3, 0), 4, 0, 0, 0);
    IS(eddy_shift(x, INT64_MAX, 0), 0, 0, 0, 0);
    IS(eddy_shift(shaped(I32, EDDY_SHAPE(2, 2), (double[]){ 1, 2, 3, 4 }), 1, -1), 0, 1, 0, 3);
    /* Rewards 1, 2, 4 discounted by a half; the weight of the last has no effect. */
    eddy_tensor w = vec(F64, V(0.5, 0.5, NAN));
    IS(eddy_linear_scan(vec(F64, V(1, 2, 4)), w, .reverse = true), 3, 4, 4);
}
END_TEST

START_TEST(scan_gradients)
{
    trial t = trial_begin((unsigned)_i);
    eddy_shape s = { .rank = 1 + pick(&t, 3) };
    for (int i = 0; i < s.rank; i++) s.dim[i] = 1 + pick(&t, 4);
    const int  axis = pick(&t, s.rank);
    const bool exclusive = pick(&t, 2), back = pick(&t, 2);
    eddy_tensor x[2] = { fed_numbers(&t, s, -1, 1), fed_numbers(&t, s, -1, 1) }, y;
    const eddy_scan_args a = *EDDY_ARGS(eddy_scan_args, .x = x[0], .axis = axis,
                                        .exclusive = exclusive, .reverse = back);
    switch (_i % 4) {
    case 0: y = Square(eddy_cumsum_with(&a)); break;
    case 1: y = eddy_cumprod_with(&a); break;
    case 2: y = eddy_shift(Square(x[0]), pick(&t, 5) - 2, axis); break;
    default: y = eddy_linear_scan(x[0], x[1], .axis = axis, .reverse = back); break;
    }
    check_slopes(&t, y, _i % 4 == 3 ? 2 : 1, x, 3);
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------- broadcast_along -- */

START_TEST(broadcast_along_undoes)
{
    trial t = trial_begin((unsigned)_i);
    unsigned mask;
    const eddy_shape s = some_shape(&t, 0, 5);
    const eddy_dims  axes = some_axes(&t, s.rank, &mask);
    const bool       keepdims = pick(&t, 2);
    eddy_shape kept = s, small = { .rank = 0 };
    for (int i = 0; i < s.rank; i++) {
        if (mask >> i & 1) kept.dim[i] = 1;
        if (keepdims || !(mask >> i & 1)) small.dim[small.rank++] = kept.dim[i];
    }
    eddy_array *x = some_elements(&t, EDDY_FLOAT64, small, false);
    eddy_tensor ref = fed(&t, some_elements(&t, EDDY_BOOL, s, false));
    eddy_tensor a = fed(&t, x), y = eddy_broadcast_along(a, ref, axes, keepdims);
    eddy_array *want = eddy_array_new(EDDY_FLOAT64, s);
    for (int64_t i = 0; i < eddy_array_count(want); i++) {
        int64_t at[EDDY_MAX_RANK];
        position(s, i, at);
        for (int k = 0; k < s.rank; k++)
            if (mask >> k & 1) at[k] = 0;
        eddy_array_set(want, i, eddy_array_get(x, place(kept, at)));
    }
    check_close(&t, y, want, 0);
    eddy_array_free(want);
    check_gradient(&t, y, 1, &a);
    trial_end(&t);
}
END_TEST

Suite *scans_suite(void)
{
    Suite *suite = suite_create("scans");
    TCase *c = tcase_create("scans");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, argmax_against_loops, 0, 200);
    tcase_add_test(c, argmax_corners);
    tcase_add_loop_test(c, scans_against_loops, 0, 200);
    tcase_add_test(c, scans_in_numbers);
    tcase_add_loop_test(c, broadcast_along_undoes, 0, 200);
    tcase_add_loop_test(c, scan_gradients, 0, 120);
    suite_add_tcase(suite, c);
    return suite;
}
