/* test_extremes.c -- values and gradients where sums or differences overflow or underflow although
 * the result is a number: losses, distributions, counts, functions of numbers. */
#include "tests/lib/scaled_cases.h"

Suite *extremes_suite(void);

/* ----------------------------------------------------------------- losses -- */

/* NumPy in float64: 0.25 * 0 + 1e-38 * 6e38, and so on. */
START_TEST(far_logits)
{
    const eddy_tensor labels = vec(F32, V(0.25, 1e-38)), logits = vec(F32, V(3e38, -3e38));
    ARE(eddy_softmax_cross_entropy(labels, logits), 6);
    ARE(eddy_softmax_cross_entropy(Transpose(eddy_stack(EDDY_LIST(labels, labels), 0)),
                                   Transpose(eddy_stack(EDDY_LIST(logits, logits), 0)),
                                   .axis = EDDY_AXES(0)), 6, 6);
    ARE(eddy_softmax_cross_entropy(vec(F64, V(0.25, 1e-308)), vec(F64, V(1.7e308, -1.7e308))),
        3.4);
    IS(eddy_softmax_cross_entropy(vec(F32, V(1, 0)), vec(F32, V(1, -INFINITY))), 0);
    IS(eddy_softmax_cross_entropy(vec(F32, V(0, 1)), logits), INFINITY);
    NEAR(slope(eddy_softmax_cross_entropy(labels, logits), logits), 0.75, 0);
    /* Both logits near each other at the end of the numbers. */
    ARE(eddy_softmax_cross_entropy(vec(F32, V(0.5, 0.5)), vec(F32, V(3e38, 3e38))),
        0.69314718055994531);
    IS(eddy_sigmoid_cross_entropy(vec(F32, V(1, 0, 0.5)), vec(F32, V(3e38, 3e38, -3e38))),
       0, (float)3e38, (float)1.5e38);
}
END_TEST

static eddy_tensor smooth(eddy_tensor x, double beta)
{
    return eddy_smooth_l1_loss(ZerosLike(x), x, .beta = beta, .reduction = EDDY_LOSS_NONE,
                               .collection = "");
}

/* Figures of the formula in float64; PyTorch 1.13 has the first line for its beta of 0. */
START_TEST(betas)
{
    const double big = (float)3e38, some = (float)5e30, small = (float)1e-30;
    const eddy_tensor x = vec(F32, V(0, 1e-30, 1, 3e38, -5e30)), y = smooth(x, 1e-300);
    IS(y, 0, small, 1, big, some);
    IS(slope(y, x), 0, 1, 1, 1, -1);
    IS(smooth(x, 1e-40), 0, small, 1, big, some);
    ARE(smooth(x, 1e-30), 0, 0.5e-30, 1, big, some);
    ARE(smooth(x, 1e32), 0, 0, 0.5e-32, big, 25e60 / 2e32);
    ARE(slope(smooth(x, 1e32), x), 0, 0, 1e-32, 1, -5e-2);
    IS(smooth(x, (double)INFINITY), 0, 0, 0, 0, 0);
    IS(slope(smooth(x, (double)INFINITY), x), 0, 0, 0, 0, 0);
    ARE(smooth(vec(F64, V(1e-310, 1e200)), 1e-300), 5e-321, 1e200);
    ARE(smooth(vec(F64, V(0.5, -3)), 2), 0.0625, 2);
    refused(smooth(x, -1), EDDY_INVALID_ARGUMENT, "beta is -1");
    refused(smooth(x, (double)NAN), EDDY_INVALID_ARGUMENT, "beta is nan");
}
END_TEST

/* Half a square has the second derivative 1 also where there is no error. */
START_TEST(curves_of_no_error)
{
    for (int i = 0; i < 2; i++) {
        const eddy_tensor x = vec(floats[i], V(0, 0.5, -2, 3));
        const eddy_tensor y = eddy_huber_loss(ZerosLike(x), x, .reduction = EDDY_LOSS_NONE,
                                              .collection = "");
        IS(y, 0, 0.125, 1.5, 2.5);
        IS(slope(y, x), 0, 0.5, -1, 1);
        IS(slope(slope(y, x), x), 1, 1, 0, 0);
        IS(slope(slope(smooth(x, 1), x), x), 1, 1, 0, 0);
    }
}
END_TEST

/* ------------------------------------------------- numbers in between, counts -- */

START_TEST(far_apart)
{
    for (int i = 0; i < 2; i++) {
        const double big = i ? 1.7e308 : 3e38;
        const eddy_tensor x = vec(floats[i], V(big, -big));
        ARE(eddy_quantile(x, 0.25), -0.5 * big);
        ARE(eddy_quantile(x, 0.75), 0.5 * big);
        IS(eddy_median(x), 0);
        ARE(slope(eddy_percentile(x, 75), x), 0.75, 0.25);
        const eddy_tensor a = num(floats[i], big), b = Neg(a);
        ARE(eddy_linspace(b, a, 5), -big, -0.5 * big, 0, 0.5 * big, big);
        ARE(eddy_linspace(a, b, 2), big, -big);
        ARE(slope(eddy_linspace(num(floats[i], -big), a, 5), a), 2.5);
        ARE(slope(eddy_linspace(num(floats[i], -1), a, 5), a), 2.5);
        NEAR(eddy_linspace(num(floats[i], 1), num(floats[i], 2), 3), 1, 1.5, 2);
    }
    IS(eddy_quantile(vec(F32, V(-INFINITY, 5)), 0.25), -INFINITY);
    IS(eddy_quantile(vec(F64, V(1, 5)), 0.25), 2);
}
END_TEST

START_TEST(counts_of_nothing)
{
    double got[ROOM];
    const eddy_tensor none = eddy_zeros(g, F32, EDDY_SHAPE(3, 0));
    const eddy_tensor y = eddy_sufficient_statistics(none, EDDY_AXES(0));
    IS(y, 3);
    ck_assert_int_eq(values(eddy_output(y, 1), got), 0);
    IS(eddy_sufficient_statistics(none, EDDY_AXES(-1)), 0);
    IS(eddy_sufficient_statistics(none), 0);
    IS(eddy_sufficient_statistics(eddy_zeros(g, F32, EDDY_SHAPE(2, 3, 5)), EDDY_AXES(0, 2)), 10);
    IS(eddy_sufficient_statistics(vec(F32, V(1, 2)), EDDY_NO_DIMS), 1);
    /* NumPy: var of nothing, and of no more than ddof. */
    IS(eddy_reduce_variance(none, EDDY_AXES(1), .ddof = 1), NAN, NAN, NAN);
    IS(eddy_reduce_variance(vec(F32, V(2)), .ddof = 3), NAN);
    IS(eddy_reduce_variance(vec(F32, V(1, 2, 3)), .ddof = 1), 1);
}
END_TEST

/* As in TensorFlow a range must end above where it begins. */
START_TEST(ranges_of_bins)
{
    const eddy_tensor x = vec(F32, V(1, 2)), range = eddy_placeholder(g, NULL, F32, EDDY_SHAPE(2));
    refused(eddy_histogram_fixed_width(x, vec(F32, V(1, 1)), 4), EDDY_INVALID_ARGUMENT,
            "histogram_fixed_width: the range from 1 to 1");
    refused(eddy_histogram_fixed_width_bins(x, vec(F32, V(1, NAN)), 4), EDDY_INVALID_ARGUMENT,
            "histogram_fixed_width: the range from 1 to nan");
    const eddy_tensor y = eddy_histogram_fixed_width_bins(x, range, 4);
    const double good[] = { 0, 4 }, bad[] = { 2, 2 };
    double got[ROOM];
    ck_assert_int_eq(values_fed(y, 1, &(feed){ range, good, 2 }, got), 2);
    ck_assert(got[0] == 1 && got[1] == 2);
    eddy_array *none = NULL;
    ck_assert_int_eq(evaluate(y, 1, &(feed){ range, bad, 2 }, &none), EDDY_CHECK_FAILED);
    eddy_array_free(none);
    /* A range wider than any number; the bins are NumPy's in float64. */
    const eddy_tensor far = vec(F32, V(-3e38, -1, 0, 1, 3e38, 1.4e38));
    const eddy_tensor wide = vec(F32, V(-3e38, 3e38)), tiny = vec(F32, V(0, 1e-44));
    IS(eddy_histogram_fixed_width_bins(far, wide, 4), 0, 2, 2, 2, 3, 2);
    IS(eddy_histogram_fixed_width_bins(Mul(1e-44, vec(F32, V(0, 1))), tiny, 4), 0, 3);
}
END_TEST

START_TEST(deviations_beyond_float32)
{
    const eddy_shape s = EDDY_SHAPE(4);
    const char *text = "too large for float32";
    refused(eddy_random_normal(g, s, .stddev = 1e300), EDDY_INVALID_ARGUMENT, text);
    refused(eddy_random_normal(g, s, .mean = -1e39), EDDY_INVALID_ARGUMENT, text);
    refused(eddy_truncated_normal(g, s, .stddev = 1e39), EDDY_INVALID_ARGUMENT, text);
    refused(eddy_random_normal_like(vec(F32, V(1)), .mean = 1e39), EDDY_INVALID_ARGUMENT, text);
    const eddy_tensor seed = vec(EDDY_INT64, V(1, 2));
    refused(eddy_stateless_random_normal(s, seed, .stddev = 1e39), EDDY_INVALID_ARGUMENT, text);
    NEAR(eddy_truncated_normal(g, EDDY_SHAPE(1), .mean = 1e300, .stddev = 1, .dtype = F64), 1e300);
    IS(eddy_random_normal(g, EDDY_SHAPE(2), .mean = 2, .stddev = 1e-300), 2, 2);
}
END_TEST

/* As in TensorFlow 1.15 a box that overlaps too much is dropped, also where overlaps lower
 * scores; a box that overlaps less keeps exp(-o^2 / (2 sigma)) of its score.  The boxes overlap the
 * first by 3/4, 1/2 and 0. */
START_TEST(soft_suppression)
{
    const double v[] = { 0, 0, 1, 1, 0, 0, 1, 0.75, 0, 0, 1, 0.5, 0, 2, 1, 3 };
    const eddy_tensor boxes = shaped(F64, EDDY_SHAPE(4, 4), v);
    const eddy_tensor scores = vec(F64, V(0.9, 0.8, 0.7, 0.1));
    const eddy_tensor y = eddy_non_max_suppression(boxes, scores, 4, 0.6, .soft_nms_sigma = 0.5);
    IS(y, 0, 2, 3, -1);
    NEAR(eddy_output(y, 1), 0.9, 0.7 * exp(-0.25), 0.1, 0);
    const eddy_tensor all = eddy_non_max_suppression(boxes, scores, 4, 1, .soft_nms_sigma = 0.5);
    IS(eddy_output(all, 2), 4);
    IS(eddy_non_max_suppression(boxes, scores, 4, 0.6), 0, 2, 3, -1);
}
END_TEST

/* TensorFlow divides by 0, too, and the variance of one by at least 1. */
START_TEST(normalizing_nothing)
{
    const eddy_tensor scale = vec(F32, V(1, 1)), offset = vec(F32, V(0, 0));
    const eddy_tensor none = eddy_zeros(g, F32, EDDY_SHAPE(0, 2));
    const eddy_tensor y = eddy_fused_batch_norm(none, scale, offset, .is_training = true);
    double got[ROOM];
    ck_assert_int_eq(values(y, got), 0);
    IS(eddy_output(y, 1), NAN, NAN);
    IS(eddy_output(y, 2), NAN, NAN);
    const eddy_tensor one = shaped(F32, EDDY_SHAPE(1, 2), (double[]){ 3, -4 });
    const eddy_tensor z = eddy_fused_batch_norm(one, scale, offset, .is_training = true);
    IS(eddy_output(z, 1), 3, -4);
    IS(eddy_output(z, 2), 0, 0);
}
END_TEST

/* -------------------------------------------------------- functions of numbers -- */

typedef struct far_case {
    const char *name;
    unary_fn    f;
    double      y[8], dy[8];         /* at big, -big, infinity, -infinity, NaN, 0, tiny, -tiny */
} far_case;

#define BIG  3e38
#define TINY 1e-38                   /* a number of fewer bits in float32 */
#define LN2  0.69314718055994531
#define INF_ ((double)INFINITY)
#define NAN_ ((double)NAN)

/* NumPy's and SciPy's in float64, rounded to float32; the gradients are closed forms. */
static const far_case far_cases[] = {
    { "softplus", eddy_softplus, { BIG, 0, INF_, 0, NAN_, LN2, LN2, LN2 },
      { 1, 0, 1, 0, NAN_, 0.5, 0.5, 0.5 } },
    { "log_sigmoid", eddy_log_sigmoid, { 0, -BIG, 0, -INF_, NAN_, -LN2, -LN2, -LN2 },
      { 0, 1, 0, 1, NAN_, 0.5, 0.5, 0.5 } },
    { "log1p", eddy_log1p, { 88.596753, NAN_, INF_, NAN_, NAN_, 0, TINY, -TINY },
      { 3.3333333e-39, -3.3333333e-39, 0, 0, NAN_, 1, 1, 1 } },
    { "expm1", eddy_expm1, { INF_, -1, INF_, -1, NAN_, 0, TINY, -TINY },
      { INF_, 0, INF_, 0, NAN_, 1, 1, 1 } },
    { "erfc", eddy_erfc, { 0, 2, 0, 2, NAN_, 1, 1, 1 },
      { 0, 0, 0, 0, NAN_, -1.1283791671, -1.1283791671, -1.1283791671 } },
    { "asinh", eddy_asinh, { 89.289900, -89.289900, INF_, -INF_, NAN_, 0, TINY, -TINY },
      { 3.3333333e-39, 3.3333333e-39, 0, 0, NAN_, 1, 1, 1 } },
};
enum { FAR_CASES = sizeof far_cases / sizeof *far_cases };

START_TEST(far_values)
{
    const far_case *c = &far_cases[_i];
    const eddy_tensor x = vec(F32, V(BIG, -BIG, INF_, -INF_, NAN_, 0, TINY, -TINY)), y = c->f(x);
    relatively(c->name, 2e-6, y, 8, c->y);
    relatively(c->name, 2e-6, slope(y, x), 8, c->dy);
}
END_TEST

/* Sums of exponentials; logits at the ends of the numbers give what the largest does. */
START_TEST(far_sums)
{
    for (int i = 0; i < 2; i++) {
        const double big = i ? 1.7e308 : (double)(float)3e38;
        const eddy_tensor x = vec(floats[i], V(big, -big)), y = eddy_logsumexp(x);
        IS(y, big);
        IS(slope(y, x), 1, 0);
        IS(eddy_cumulative_logsumexp(x, 0), big, big);
        IS(slope(eddy_cumulative_logsumexp(x, 0), x), 2, 0);
        IS(eddy_log_softmax(x), 0, -INFINITY);
        IS(Softmax(x), 1, 0);
        IS(eddy_categorical_entropy(x), 0);
        IS(slope(eddy_categorical_entropy(x), x), 0, 0);
        IS(eddy_logaddexp(x, Neg(x)), big, big);
        IS(slope(eddy_logaddexp(x, Neg(x)), x), 1, -1);
        IS(eddy_reduce_variance(vec(F32, V(3e38, 3e38))), 0);
        IS(Mean(vec(F32, V(3e38, 3e38))), (float)3e38);
    }
    IS(eddy_logsumexp(vec(F32, V(-INFINITY, -INFINITY))), -INFINITY);
    IS(eddy_logaddexp(vec(F32, V(-INFINITY)), vec(F32, V(-INFINITY))), -INFINITY);
}
END_TEST

START_TEST(far_pairs)
{
    const eddy_tensor a = vec(F32, V(3e20, 0, 3e-20, 0)), b = vec(F32, V(1e20, 0, 1e-20, NAN));
    const eddy_tensor y = eddy_xdivy(a, b), h = eddy_hypot(a, vec(F32, V(4e20, 0, 4e-20, 1)));
    IS(y, 3, 0, 3, 0);
    ARE(slope(y, b), -3e-20, 0, -3e20, 0);
    ARE(slope(Xlogy(a, b), b), 3, 0, 3, 0);
    ARE(h, 5e20, 0, 5e-20, 1);
    ARE(slope(h, a), 0.6, 0, 0.6, 0);
    ARE(slope(slope(Sum(eddy_xdivy(a, b)), b), b), 6e-40, 0, INFINITY, 0);
}
END_TEST

/* The gradient of the angle of (4 s, 3 s) is (0.16, -0.12) / s, at all sizes; at 0, 0 NaN. */
START_TEST(angles)
{
    const scaled_case *c = &scales[_i];
    const double s = c->s;
    const eddy_tensor y = num(c->d, 3 * s), x = num(c->d, 4 * s), a = eddy_atan2(y, x);
    ARE(slope(a, y), 0.16 / s);
    ARE(slope(a, x), -0.12 / s);
    if (s == 1) ARE(slope(slope(a, y), x), -0.0112);
    const eddy_tensor zero = num(c->d, 0);
    IS(slope(eddy_atan2(zero, num(c->d, 0)), zero), NAN);
}
END_TEST

/* The third derivative of a square is 0, the fourth one of a cube too; that of 0^0 stays NaN. */
START_TEST(powers_of_zero)
{
    for (int i = 0; i < 2; i++) {
        const eddy_tensor x = vec(floats[i], V(0, -3)), b = num(floats[i], 2);
        const eddy_tensor first = slope(Pow(x, b), x), second = slope(first, x);
        IS(first, 0, -6);
        IS(second, 2, 2);
        IS(slope(second, x), 0, 0);
        IS(slope(slope(slope(second, x), x), x), 0, 0);
        IS(slope(slope(slope(slope(Pow(x, 3), x), x), x), x), 0, 0);
        IS(slope(slope(slope(Pow(x, vec(floats[i], V(1, 2))), x), x), x), 0, 0);
        const eddy_tensor e = num(floats[i], 1), two = num(floats[i], 2);
        NEAR(slope(slope(Pow(two, e), two), e), 1 + log(2));
        IS(slope(Pow(x, num(floats[i], 0)), x), NAN, 0);
    }
}
END_TEST

START_TEST(entropies_of_certainty)
{
    const eddy_tensor x = vec(F64, V(-INFINITY, INFINITY, 800, NAN)), y = eddy_bernoulli_entropy(x);
    IS(y, 0, 0, 0, NAN);
    IS(slope(y, x), 0, 0, 0, NAN);
    IS(slope(slope(y, x), x), 0, 0, 0, NAN);
}
END_TEST

/* Windows of 3 s, 4 s. */
START_TEST(windows)
{
    const scaled_case *c = &scales[_i];
    const double cube = cbrt(27 + 64);
    const eddy_tensor x = shaped(c->d, EDDY_SHAPE(1, 2, 1), (double[]){ 3 * c->s, 4 * c->s });
    const eddy_tensor  two = eddy_lp_pool(x, 2, EDDY_DIMS(2)),
                      odd = eddy_lp_pool(x, 3, EDDY_DIMS(2));
    ARE(two, 5 * c->s);
    ARE(slope(two, x), 0.6, 0.8);
    ARE(odd, cube * c->s);
    ARE(slope(odd, x), 9 / (cube * cube), 16 / (cube * cube));
}
END_TEST

START_TEST(windows_of_corners)
{
    const eddy_tensor x = shaped(F32, EDDY_SHAPE(1, 4, 1), (double[]){ 0, 0, INFINITY, 1 });
    IS(eddy_lp_pool(x, 2, EDDY_DIMS(2)), 0, INFINITY);
    IS(eddy_lp_pool(eddy_zeros(g, F32, EDDY_SHAPE(1, 2, 1)), 2, EDDY_DIMS(2)), 0);
    IS(eddy_lp_pool(shaped(F32, EDDY_SHAPE(1, 2, 1), (double[]){ NAN, 1 }), 2, EDDY_DIMS(2)), NAN);
}
END_TEST

/* Along an empty direction nothing changes. */
START_TEST(tangents_of_nothing)
{
    static const eddy_shape unknown = { 2, { EDDY_ANY, EDDY_ANY } };
    for (int i = 0; i < 2; i++) {
        const eddy_tensor x = i ? eddy_placeholder(g, NULL, F64, unknown)
                                : eddy_zeros(g, F64, EDDY_SHAPE(2, 0));
        const eddy_tensor y[] = { Mean(x, EDDY_AXES(1)), Max(x, EDDY_AXES(1)),
                                  Min(x, EDDY_AXES(1)) };
        for (int k = 0; k < 3; k++) {
            eddy_tensor out = eddy_none(g);
            eddy_array *none = eddy_array_new(F64, EDDY_SHAPE(2, 0)), *got = NULL;
            eddy_jvp(EDDY_LIST(y[k]), EDDY_LIST(x), EDDY_LIST(ZerosLike(x)), &out);
            eddy_session *s = eddy_session_new(g);
            ck_assert_int_eq(eddy_run(s, i ? EDDY_FEED({ x, none }) : EDDY_FEED(),
                                      EDDY_FETCH(out), &got), EDDY_OK);
            for (int j = 0; j < 2; j++) ck_assert_double_eq(eddy_array_get(got, j), 0);
            eddy_array_free(got), eddy_array_free(none), eddy_session_free(s);
        }
    }
}
END_TEST

Suite *extremes_suite(void)
{
    Suite *suite = suite_create("extremes");
    TCase *c = tcase_create("extremes");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, far_logits);
    tcase_add_test(c, betas);
    tcase_add_test(c, curves_of_no_error);
    tcase_add_test(c, far_apart);
    tcase_add_test(c, counts_of_nothing);
    tcase_add_test(c, ranges_of_bins);
    tcase_add_test(c, deviations_beyond_float32);
    tcase_add_test(c, soft_suppression);
    tcase_add_loop_test(c, angles, 0, SCALES);
    tcase_add_test(c, powers_of_zero);
    tcase_add_test(c, entropies_of_certainty);
    tcase_add_loop_test(c, windows, 0, SCALES);
    tcase_add_test(c, windows_of_corners);
    tcase_add_test(c, tangents_of_nothing);
    tcase_add_test(c, normalizing_nothing);
    tcase_add_loop_test(c, far_values, 0, FAR_CASES);
    tcase_add_test(c, far_sums);
    tcase_add_test(c, far_pairs);
    suite_add_tcase(suite, c);
    return suite;
}
