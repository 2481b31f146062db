/* test_clip.c -- clipping by value and by norm.
 *
 * Cases called C-01 and so on restate TensorFlow's behavior in small numbers. */
#include "tests/lib/element_checks.h"

Suite *clip_suite(void);

/* ------------------------------------------------------------------ clip -- */

static eddy_tensor matrix(double a, double b, double c, double d, double e, double f)
{
    return shaped(F32, EDDY_SHAPE(2, 3), (double[]){ a, b, c, d, e, f });
}
static eddy_tensor f32(double v) { return num(F32, v); }

START_TEST(C_01_clip_by_value)
{
    IS(eddy_clip_by_value(matrix(-5, 2, 3, 4, 5, 6), f32(-4.4), f32(4.4)),
       -4.4f, 2, 3, 4, 4.4f, 4.4f);
    /* lo above hi gives lo; NaN stays */
    IS(eddy_clip_by_value(vec(F32, V(-9, 0, 9, NAN, INFINITY)), f32(2), f32(1)), 2, 2, 2, NAN, 2);
    IS(eddy_clip_by_value(vec(EDDY_INT32, V(-9, 0, 9)), num(EDDY_INT32, -1), num(EDDY_INT32, 5)),
       -1, 0, 5);
    IS(eddy_clip_by_value(matrix(-5, 2, 3, 4, 5, 6), f32(0), vec(F32, V(1, 2, 3))),
       0, 2, 3, 1, 2, 3);
}
END_TEST

START_TEST(C_03_bounds_too_large)
{
    eddy_tensor x = shaped(F32, EDDY_SHAPE(2, 3, 1), (double[]){ -5, 2, 3, 4, 5, 6 });
    eddy_tensor clip = vec(F32, V(4, 2));
    refused(eddy_clip_by_value(x, Neg(clip), clip), EDDY_BAD_SHAPE, "would broadcast x");
    refused(eddy_clip_by_value(x, f32(1), clip), EDDY_BAD_SHAPE, "would broadcast x");
    refused(eddy_clip_by_value(x, clip, f32(9)), EDDY_BAD_SHAPE, "would broadcast x");
    refused(eddy_clip_by_norm(x, clip), EDDY_BAD_SHAPE, "would broadcast x");
    ck_assert_str_eq(eddy_scope_name(g), "");
}
END_TEST

/* Rows 2 and 6 of [10,2,3]. */
static eddy_tensor sparse(void)
{
    static const double v[] = { -3, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, -1 };
    return eddy_indexed_slices_of(shaped(F32, EDDY_SHAPE(2, 2, 3), v), vec(EDDY_INT32, V(2, 6)),
                                  EDDY_SHAPE(10, 2, 3));
}
static eddy_tensor rows_of(eddy_tensor slices)
{
    eddy_tensor v, i;
    ck_assert(eddy_slices_parts(slices, &v, &i));
    return v;
}

START_TEST(C_05_clip_by_value_of_slices)
{
    eddy_tensor x = sparse();
    IS(rows_of(eddy_clip_by_value(x, f32(-2), f32(2))), -2, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, -1);
    IS(rows_of(eddy_clip_by_value(x, f32(1), f32(2))), 1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 1);
    IS(rows_of(eddy_clip_by_value(x, f32(-2), f32(-1))),
       -2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    eddy_tensor y = eddy_clip_by_norm(x, f32(sqrt(30) / 2));
    near("clip_by_norm", 1e-6, rows_of(y), V(-1.5, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, -0.5));
}
END_TEST

/* corner: at the bounds the gradient passes */
START_TEST(C_07_clip_by_value_gradient)
{
    eddy_tensor x = vec(F32, V(1, 2, 3, 4));
    IS(slope(eddy_clip_by_value(x, f32(0.5), f32(3.5)), x), 1, 1, 1, 0);
    IS(slope(eddy_clip_by_value(x, f32(2), f32(3)), x), 0, 1, 1, 0);
}
END_TEST

START_TEST(C_09_clip_by_norm_of_zeros)
{
    IS(eddy_clip_by_norm(matrix(0, 0, 0, 0, 0, 0), f32(6)), 0, 0, 0, 0, 0, 0);
    eddy_tensor x = vec(F32, V(0, 0, 0));
    IS(slope(eddy_clip_by_norm(x, f32(1)), x), 1, 1, 1);
    IS(eddy_clip_by_norm(vec(F32, V(1, INFINITY)), f32(1)), 0, NAN);
    IS(eddy_clip_by_norm(x, f32(0)), NAN, NAN, NAN);
}
END_TEST

START_TEST(C_11_clip_by_norm)
{
    eddy_tensor x = matrix(-3, 0, 0, 4, 0, 3);
    NEAR(eddy_clip_by_norm(x, f32(4), .axes = EDDY_AXES(1)), -3, 0, 0, 3.2, 0, 2.4);
    NEAR(eddy_clip_by_norm(x, f32(4), .axes = EDDY_AXES(-1)), -3, 0, 0, 3.2, 0, 2.4);
    NEAR(eddy_clip_by_norm(x, f32(6), .axes = EDDY_AXES(1)), -3, 0, 0, 4, 0, 3);
    NEAR(eddy_clip_by_norm(matrix(-3, 0, 0, 4, 0, 0), f32(4)), -2.4, 0, 0, 3.2, 0, 0);
    refused(eddy_clip_by_norm(x, f32(4), .axes = EDDY_AXES(2)), EDDY_INVALID_ARGUMENT, "axis");
}
END_TEST

START_TEST(C_13_clip_by_global_norm)
{
    eddy_tensor xs[] = { matrix(-2, 0, 0, 4, 0, 0), { .graph = g }, vec(F32, V(1, -2)) }, out[3];
    eddy_tensor norm = eddy_clip_by_global_norm(((eddy_list){ 3, xs }), f32(4), out);
    IS(norm, 5);
    NEAR(out[0], -1.6, 0, 0, 3.2, 0, 0);
    NEAR(out[2], 0.8, -1.6);
    ck_assert(!eddy_is_valid(out[1]));
    IS(eddy_global_norm((eddy_list){ 3, xs }), 5);
    /* A norm that is given is trusted; results may replace the list. */
    norm = eddy_clip_by_global_norm(((eddy_list){ 3, xs }), f32(4), xs, .use_norm = f32(8));
    IS(norm, 8);
    NEAR(xs[0], -1, 0, 0, 2, 0, 0);
    NEAR(xs[2], 0.5, -1);
}
END_TEST

START_TEST(C_15_clip_by_global_norm_of_slices)
{
    eddy_tensor x0 = matrix(-2, 0, 0, 4, 0, 0), rows = vec(F32, V(1, -2));
    eddy_tensor x1 = eddy_indexed_slices_of(rows, vec(EDDY_INT32, V(3, 4)), EDDY_SHAPE(10));
    eddy_tensor out[2];
    IS(eddy_clip_by_global_norm(EDDY_LIST(x0, x1), f32(4), out), 5);
    NEAR(out[0], -1.6, 0, 0, 3.2, 0, 0);
    NEAR(rows_of(out[1]), 0.8, -1.6);
    NEAR(out[1], 0, 0, 0, 0.8, -1.6, 0, 0, 0, 0, 0);
}
END_TEST

START_TEST(C_17_clip_by_global_norm_unclipped)
{
    eddy_tensor out[2], zero = matrix(0, 0, 0, 0, 0, 0);
    eddy_tensor x0 = matrix(-2, 0, 0, 4, 0, 0), x1 = vec(F32, V(1, -2));
    IS(eddy_clip_by_global_norm(EDDY_LIST(x0, x1), f32(6), out), 5);
    NEAR(out[0], -2, 0, 0, 4, 0, 0);
    NEAR(out[1], 1, -2);
    IS(eddy_clip_by_global_norm(EDDY_LIST(zero, zero), f32(6), out), 0);
    IS(out[0], 0, 0, 0, 0, 0, 0);
    /* A norm that is not a number leaves none. */
    eddy_tensor infinite = vec(F32, V(1, INFINITY));
    IS(eddy_clip_by_global_norm(EDDY_LIST(infinite, vec(F32, V(1))), f32(6), out), INFINITY);
    IS(out[0], NAN, NAN);
    IS(out[1], NAN);
    /* Nothing but none. */
    eddy_list none = EDDY_LIST({ .graph = g }, { .graph = g });
    refused(eddy_clip_by_global_norm(none, f32(6), out), EDDY_INVALID_ARGUMENT,
            "no tensor is given");
    refused(eddy_global_norm(none), EDDY_INVALID_ARGUMENT, "no tensor is given");
    refused(eddy_clip_by_global_norm(EDDY_LIST(zero), f32(6), NULL), EDDY_INVALID_ARGUMENT, "out");
    ck_assert(!eddy_is_valid(eddy_global_norm(EDDY_LIST())));
    ck_assert_str_eq(eddy_scope_name(g), "");
}
END_TEST

START_TEST(C_19_clip_by_average_norm)
{
    eddy_tensor x = matrix(-3, 0, 0, 4, 0, 0), zero = matrix(0, 0, 0, 0, 0, 0);
    NEAR(eddy_clip_by_average_norm(x, f32(0.8)), -2.88, 0, 0, 3.84, 0, 0);
    NEAR(eddy_clip_by_norm(x, f32(0.8 * 6)), -2.88, 0, 0, 3.84, 0, 0);
    NEAR(eddy_clip_by_average_norm(x, f32(0.9)), -3, 0, 0, 4, 0, 0);
    IS(eddy_clip_by_average_norm(zero, f32(0.9)), 0, 0, 0, 0, 0, 0);
    NEAR(slope(eddy_clip_by_average_norm(zero, f32(0.5)), zero), 1, 1, 1, 1, 1, 1);
}
END_TEST

/* ----------------------------------------------------------------- suite -- */

Suite *clip_suite(void)
{
    Suite *s = suite_create("clip");
    TCase *c = tcase_create("all");
    tcase_add_checked_fixture(c, setup, teardown);
    suite_add_tcase(s, c);
    tcase_add_test(c, C_01_clip_by_value);
    tcase_add_test(c, C_03_bounds_too_large);
    tcase_add_test(c, C_05_clip_by_value_of_slices);
    tcase_add_test(c, C_07_clip_by_value_gradient);
    tcase_add_test(c, C_09_clip_by_norm_of_zeros);
    tcase_add_test(c, C_11_clip_by_norm);
    tcase_add_test(c, C_13_clip_by_global_norm);
    tcase_add_test(c, C_15_clip_by_global_norm_of_slices);
    tcase_add_test(c, C_17_clip_by_global_norm_unclipped);
    tcase_add_test(c, C_19_clip_by_average_norm);
    return s;
}
