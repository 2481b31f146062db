/* test_corners.c -- results and errors of operations at their limits. */
#include "tests/lib/session_fixture.h"

#include <math.h>

Suite *corners_suite(void);

static eddy_tensor open(eddy_dtype d) { return eddy_placeholder(g, NULL, d, EDDY_UNKNOWN_SHAPE); }

static eddy_status feeds(eddy_tensor t, eddy_tensor x, eddy_shape shape, const double *v)
{
    eddy_array *a = eddy_array_new(eddy_dtype_of(x), shape);
    for (int64_t i = 0; v && i < eddy_array_count(a); i++) eddy_array_set(a, i, v[i]);
    fits(g);
    const eddy_status status = eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(t), NULL);
    eddy_array_free(a);
    return status;
}

static void is_infinite(eddy_tensor t) { ck_assert(eddy_eval_number(t) == (double)INFINITY); }

START_TEST(negative_repeats)
{
    const eddy_tensor x = vector(g, 3, (double[]){ 1, 2, 3 });
    const eddy_tensor n = eddy_placeholder(g, NULL, EDDY_INT32, EDDY_SHAPE(3));
    const eddy_tensor y = eddy_repeat(x, n), sized = eddy_repeat(x, n, .size = 4);
    const double bad[] = { 2, -1, 1 }, good[] = { 2, 0, 1 };
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(feeds(i ? sized : y, n, EDDY_SHAPE(3), good), EDDY_OK);
        ck_assert_int_eq(feeds(i ? sized : y, n, EDDY_SHAPE(3), bad), EDDY_CHECK_FAILED);
        run_fails(s, EDDY_CHECK_FAILED, "repeat: Condition x >= 0 did not hold");
    }
    ck_assert_int_ne(feeds(y, n, EDDY_SHAPE(3), (double[]){ -5, 0, 0 }), EDDY_OK);
}
END_TEST

START_TEST(cropped_blocks)
{
    const eddy_tensor x = open(EDDY_FLOAT32);
    const eddy_tensor y = eddy_batch_to_space_nd(x, EDDY_DIMS(2), EDDY_DIMS(3), EDDY_DIMS(2));
    double v[6] = { 0 };
    ck_assert_int_eq(feeds(y, x, EDDY_SHAPE(2, 3), v), EDDY_OK);
    ck_assert_int_eq(feeds(y, x, EDDY_SHAPE(2, 2), v), EDDY_CHECK_FAILED);
    run_fails(s, EDDY_CHECK_FAILED, "dimension 1 of input 0 is 4, not at least 5");
    eddy_batch_to_space_nd(eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2, 2)), EDDY_DIMS(2),
                           EDDY_DIMS(3), EDDY_DIMS(2));
    fails(g, EDDY_BAD_SHAPE, "crops of 3 and 2 exceed the size 4");
    const eddy_tensor most = eddy_batch_to_space_nd(x, EDDY_DIMS(2), EDDY_DIMS(INT64_MAX),
                                                    EDDY_DIMS(INT64_MAX));
    ck_assert_int_eq(feeds(most, x, EDDY_SHAPE(2, 2), v), EDDY_CHECK_FAILED);
}
END_TEST

START_TEST(vectors_as_long)
{
    const eddy_tensor x = open(EDDY_FLOAT64), three = vector(g, 3, (double[]){ 1, 2, 3 });
    const eddy_tensor y = eddy_dot(x, three), two = real(g, 2);
    double v[] = { 4, 5, 6 };
    ck_assert_int_eq(feeds(y, x, EDDY_SHAPE(3), v), EDDY_OK);
    ck_assert_int_eq(feeds(y, x, EDDY_SHAPE(1), v), EDDY_CHECK_FAILED);
    eddy_dot(vector(g, 1, v), three);
    fails(g, EDDY_BAD_SHAPE, "dot: the number of elements is 1 in a and 3 in b");
    eddy_dot(two, two);
    ck_assert_int_ne(eddy_graph_status(g), EDDY_OK);
    eddy_graph_clear_error(g);
    is_number(eddy_dot(vector(g, 3, v), three), 32);
}
END_TEST

/* zeta(s, 1) is 1 as soon as 2^-s is nothing beside it. */
START_TEST(huge_orders)
{
    const double orders[] = { 101, 1023, 1e6 + 1, 9007199254740991.0, 1e300, (double)INFINITY };
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        is_number(eddy_zeta(real(g, orders[i]), real(g, 1)), 1);
    is_number(eddy_zeta(real(g, 1e6 + 1), real(g, 2)), 0);
    is_infinite(eddy_zeta(real(g, 1e6 + 1), real(g, 0.5)));
    is_number(eddy_zeta(real(g, 1e6 + 1), real(g, -0.5)), 0);
    is_number(eddy_zeta(real(g, 3), real(g, 1e200)), 0);
    /* The largest of the terms settles the sign where two have left the range of numbers. */
    is_infinite(eddy_zeta(real(g, 1e5 + 1), real(g, -0.9)));
    is_infinite(Neg(eddy_zeta(real(g, 1e5 + 1), real(g, -1.1))));
    is_infinite(eddy_zeta(real(g, 1e5), real(g, -1.1)));
}
END_TEST

START_TEST(singular_matrices)
{
    static const char *const orders[] = { "2", "fro", "nuc", "1", "-1", "inf", "-inf", NULL };
    const eddy_tensor bad = matrix(g, 2, 2, (double[]){ 1, 2, 2, 4 });
    const eddy_tensor zero = eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(2, 2));
    const eddy_tensor good = matrix(g, 2, 2, (double[]){ 1, 2, 3, 4 });
    for (int i = 0; orders[i]; i++) {
        is_infinite(eddy_condition_number(zero, orders[i]));
        if (i > 0) is_infinite(eddy_condition_number(bad, orders[i]));
    }
    ck_assert(eddy_eval_number(eddy_condition_number(bad, "2")) > 1e15);
    /* NumPy 1.24's linalg.cond */
    ck_assert(fabs(eddy_eval_number(eddy_condition_number(good, "1")) - 21) < 1e-12);
    ck_assert(fabs(eddy_eval_number(eddy_condition_number(good, "-inf")) - 6) < 1e-12);
    const eddy_tensor slope = eddy_gradient(eddy_condition_number(bad, "fro"), bad);
    ck_assert(eddy_eval_number(eddy_all(IsFinite(slope))) == 1);
}
END_TEST

START_TEST(powers_of_squares)
{
    const eddy_tensor wide = eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(2, 3)), x = open(EDDY_FLOAT64);
    double v[6] = { 0 };
    for (int n = 0; n < 2; n++) {
        eddy_matrix_power(wide, n);
        fails(g, EDDY_BAD_SHAPE, "matrix_power: x has shape [2,3]; square matrices expected");
        const eddy_tensor y = eddy_matrix_power(x, n);
        ck_assert_int_eq(feeds(y, x, EDDY_SHAPE(2, 2), v), EDDY_OK);
        ck_assert_int_eq(feeds(y, x, EDDY_SHAPE(2, 3), v), EDDY_CHECK_FAILED);
    }
    eddy_matrix_power(vector(g, 3, v), 1),
        fails(g, EDDY_BAD_SHAPE, "x has shape [3]; square matrices expected");
}
END_TEST

START_TEST(norms_of_nothing)
{
    const eddy_tensor x = eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(2, 0));
    const eddy_tensor row = eddy_index(x, "0");
    has_value(eddy_norm(x, "inf", EDDY_AXES(1)), 2, (double[]){ 0, 0 });
    is_infinite(eddy_norm(row, "-inf"));
    is_infinite(eddy_norm(row, "-1"));
    is_number(eddy_norm(x, "1", EDDY_AXES(0, 1)), 0);
    is_infinite(eddy_norm(x, "-1", EDDY_AXES(0, 1)));
    is_number(eddy_norm(x, "inf", EDDY_AXES(0, 1)), 0);
    is_number(eddy_norm(vector(g, 2, (double[]){ -3, 2 }), "inf"), 3);
}
END_TEST

/* A number beside integers is one of them. */
START_TEST(numbers_beside_integers)
{
    const eddy_tensor n = eddy_number(g, EDDY_INT32, 7), b = eddy_number(g, EDDY_UINT8, 7);
    Mul(0.2, n),
        fails(g, EDDY_BAD_DTYPE, "the number 0.2 cannot be combined with 'Const' of type int32");
    Add(n, 3e9), fails(g, EDDY_BAD_DTYPE, "the number 3e+09 cannot be combined with");
    Sub(b, -1),
        fails(g, EDDY_BAD_DTYPE, "the number -1 cannot be combined with 'Const_1' of type uint8");
    Maximum(n, (double)NAN), fails(g, EDDY_BAD_DTYPE, "of type int32");
    is_number(Mul(2, n), 14);
    is_number(Mul(0.5, Cast(n, EDDY_FLOAT32)), 3.5);
}
END_TEST

static eddy_tensor floats(int n, const float *v)
{
    return eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(n), v);
}

/* Ignored labels do not count, whatever the values of their row; no loss is below 0, and a common
 * part of errors takes no digits from their differences. */
START_TEST(losses_at_the_ends)
{
    const eddy_tensor logits = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(2, 3),
                                          (float[]){ -INFINITY, 1, 2, -INFINITY, 3, 4 });
    const eddy_tensor labels = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 2, -1 });
    const eddy_tensor ignored = eddy_sparse_softmax_cross_entropy_loss(labels, logits,
                                                                       .ignore = EDDY_DIMS(-1));
    ck_assert_double_eq_tol(eddy_eval_number(ignored), 0.31326169, 1e-6);
    const float       errors[] = { -1e-4f, 1e-4f, -2e38f, 1 };
    const double      want[] = { 5e-9, 5e-9, 2e38, 0.43378083 };
    for (int i = 0; i < 4; i++) {
        const eddy_tensor e = floats(1, &errors[i]), none = ZerosLike(e);
        const double      loss = eddy_eval_number(eddy_log_cosh_loss(none, e));
        ck_assert_double_eq_tol(loss / want[i], 1, 1e-5);
    }
    const eddy_tensor far = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(1, 3),
                                       (float[]){ 20000, 20000.5f, 20001 });
    const eddy_tensor near = Sub(far, 20000);
    ck_assert_double_eq_tol(
        eddy_eval_number(eddy_mean_pairwise_squared_error(ZerosLike(far), far)),
        eddy_eval_number(eddy_mean_pairwise_squared_error(ZerosLike(near), near)), 1e-6);
    const eddy_tensor sure = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(1, 2), (float[]){ 200, 120 });
    const eddy_tensor well = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(1, 2), (float[]){ 1, 0 });
    const eddy_tensor focal = eddy_focal_loss(well, sure, .gamma = 0.5);
    ck_assert(isfinite(eddy_eval_number(Sum(eddy_gradient(focal, sure)))));
    fits(g);
}
END_TEST

START_TEST(orders_at_the_ends)
{
    const float some[] = { 1, INFINITY, INFINITY }, one[] = { -INFINITY, 0, 1 };
    const float large[] = { 3e38f, 3e38f }, x[] = { 1, INFINITY, 2 };
    is_infinite(eddy_median(floats(3, some)));
    is_infinite(Neg(eddy_quantile(floats(3, one), .q = 0)));
    const eddy_tensor middle = eddy_quantile(floats(2, large), 0.5,
                                             .interpolation = EDDY_MIDPOINT);
    ck_assert_double_eq_tol(eddy_eval_number(middle), 3e38, 1e32);
    const eddy_tensor v = floats(3, x), y = eddy_cumulative_logsumexp(v);
    const eddy_tensor d = eddy_gradient(Sum(y), v);
    has_value(Cast(d, EDDY_FLOAT64), 3, (double[]){ 1, 2, 0 });
    const eddy_tensor bins = eddy_histogram_fixed_width(floats(3, (float[]){ 0, 0.5f, 1 }),
                                                        floats(2, (float[]){ 0, 1 }), 16777220);
    ck_assert_double_eq(eddy_eval_number(Sum(bins)), 3);
    fits(g);
}
END_TEST

/* Nothing is broadcast behind one's back. */
START_TEST(metrics_of_other_shapes)
{
    const eddy_tensor v = vector(g, 4, (double[]){ 0, 1, 1, 0 }), column = ExpandDims(v, 1);
    eddy_metric_accuracy(column, v);
    fails(g, EDDY_BAD_SHAPE, "labels [4,1] and predictions [4] differ in shape");
    eddy_metric_mean_squared_error(column, v);
    fails(g, EDDY_BAD_SHAPE, "labels [4,1] and predictions [4] differ in shape");
    eddy_metric_true_positives(column, v);
    fails(g, EDDY_BAD_SHAPE, "labels [4,1] and predictions [4] differ in shape");
}
END_TEST

/* Means and spreads of draws where a difference of logarithms has no digits left. Tolerances are
 * in proportion to the standard error. */
START_TEST(draws_of_large_numbers)
{
    const eddy_shape  many = EDDY_SHAPE(_i ? 20000 : 500);
    const double      wide = _i ? 1 : sqrt(20000. / 500);
    const double      rate = 1e17, trials = 1e16;
    const eddy_tensor zeros = eddy_zeros(g, EDDY_FLOAT64, many);
    const eddy_tensor k = eddy_random_poisson(Add(zeros, rate), .seed = 3);
    const eddy_tensor off = Div(Sub(k, rate), sqrt(rate));
    ck_assert_double_eq_tol(eddy_eval_number(Mean(off)), 0, 0.03 * wide);
    ck_assert_double_eq_tol(eddy_eval_number(Mean(Square(off))), 1, 0.05 * wide);
    const eddy_tensor b = eddy_random_binomial(Add(zeros, trials), Add(zeros, 100 / trials),
                                               .seed = 4);
    ck_assert_double_eq_tol(eddy_eval_number(Mean(b)), 100, 0.3 * wide);
    ck_assert_double_eq_tol(eddy_eval_number(Mean(Square(Sub(b, 100)))), 100, 5 * wide);
    const eddy_tensor alpha = eddy_const(g, EDDY_FLOAT32, EDDY_SCALAR, (float[]){ 1e6f });
    const eddy_tensor drawn = eddy_random_gamma(Add(eddy_zeros(g, EDDY_FLOAT32, many), alpha),
                                                .seed = 5);
    ck_assert_double_eq_tol(eddy_eval_number(eddy_gradient(Mean(drawn), alpha)), 1, 0.01 * wide);
    fits(g);
}
END_TEST

/* A parameter of 1 makes a power of x constant, but not its slope along the parameter: ln x. */
START_TEST(densities_at_one)
{
    const double      xs[] = { 0.3, 2, 5 };
    const eddy_tensor x = vector(g, 3, xs), a = vector(g, 3, (double[]){ 1, 1, 1 });
    const eddy_tensor one = OnesLike(x), dense = eddy_gamma_log_prob(x, a, one);
    eddy_array *d = eddy_fetch(s, eddy_gradient(Sum(dense), a));
    for (int i = 0; i < 3; i++)          /* ln x - digamma(1) */
        ck_assert_double_eq_tol(eddy_array_get(d, i), log(xs[i]) + 0.57721566490153286, 1e-12);
    eddy_array_free(d);
    const eddy_tensor b = vector(g, 1, (double[]){ 1 }), at = vector(g, 1, (double[]){ 1 });
    const eddy_tensor edge = eddy_beta_log_prob(at, vector(g, 1, (double[]){ 2 }), b);
    ck_assert_double_eq_tol(number(s, eddy_gradient(Sum(edge), at)), 1, 1e-12);
    const eddy_tensor k = vector(g, 1, (double[]){ 0 });
    const eddy_tensor p = eddy_poisson_log_prob(k, vector(g, 1, (double[]){ 2 }));
    ck_assert_double_eq_tol(number(s, eddy_gradient(Sum(p), k)), 1.2703628454614782, 1e-12);
    const eddy_tensor z = vector(g, 1, (double[]){ 1e-9 }), five = vector(g, 1, (double[]){ 5 });
    const eddy_tensor t = eddy_student_t_cdf(z, five, ZerosLike(z), OnesLike(z));
    ck_assert_double_eq_tol(number(s, eddy_gradient(Sum(t), z)), 0.37960668982249443, 1e-9);
    fits(g);
}
END_TEST

Suite *corners_suite(void)
{
    Suite *suite = suite_create("corners");
    TCase *c = tcase_create("corners"), *many = tcase_create("many draws");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_checked_fixture(many, setup, teardown);
    tcase_set_tags(many, "many");
    tcase_add_test(c, negative_repeats);
    tcase_add_test(c, cropped_blocks);
    tcase_add_test(c, vectors_as_long);
    tcase_add_test(c, huge_orders);
    tcase_add_test(c, singular_matrices);
    tcase_add_test(c, powers_of_squares);
    tcase_add_test(c, norms_of_nothing);
    tcase_add_test(c, numbers_beside_integers);
    tcase_add_test(c, losses_at_the_ends);
    tcase_add_test(c, orders_at_the_ends);
    tcase_add_test(c, metrics_of_other_shapes);
    tcase_add_loop_test(c, draws_of_large_numbers, 0, 1);
    tcase_add_loop_test(many, draws_of_large_numbers, 1, 2);
    tcase_add_test(c, densities_at_one);
    suite_add_tcase(suite, c);
    suite_add_tcase(suite, many);
    return suite;
}
