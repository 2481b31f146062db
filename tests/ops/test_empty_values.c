/* test_empty_values.c -- what operations give for tensors without elements, as TensorFlow does. */
#include "tests/lib/element_checks.h"

Suite *empty_values_suite(void);

static eddy_tensor none(int64_t rows, int64_t columns)
{
    return eddy_zeros(g, F64, EDDY_SHAPE(rows, columns));
}

START_TEST(reductions)
{
    const eddy_tensor x = none(2, 0);
    const eddy_dims   last = EDDY_AXES(1);
    IS(Sum(x, last), 0, 0);
    IS(Prod(x, last), 1, 1);
    IS(Mean(x, last), NAN, NAN);
    IS(Max(x, last), -INFINITY, -INFINITY);
    IS(Min(x, last), INFINITY, INFINITY);
    IS(eddy_logsumexp(x, last), -INFINITY, -INFINITY);
    IS(eddy_reduce_variance(x, last), NAN, NAN);
    IS(eddy_norm(x, .axes = last), 0, 0);
    IS(Cast(eddy_all(Equal(x, x), last), F64), 1, 1);
    IS(Cast(eddy_any(Equal(x, x), last), F64), 0, 0);
    IS(eddy_l2_loss(x), 0);
}
END_TEST

START_TEST(products)
{
    IS(MatMul(none(2, 0), none(0, 1)), 0, 0);
    IS(eddy_det(none(0, 0)), 1);
    const eddy_tensor image = eddy_zeros(g, F64, EDDY_SHAPE(0, 3, 3, 1));
    const eddy_tensor filter = eddy_ones(g, F64, EDDY_SHAPE(1, 2, 1, 1));
    IS(slope(eddy_conv2d(image, filter), filter), 0, 0);
}
END_TEST

/* A batch without examples changes nothing: losses and their gradients are 0, not NaN. */
START_TEST(batches)
{
    const eddy_tensor w = vec(F64, V(1, 2)), x = none(0, 2);
    const eddy_tensor loss = eddy_mean_squared_error(x, Mul(x, w));
    IS(loss, 0);
    IS(slope(loss, w), 0, 0);
    const eddy_tensor norm = eddy_fused_batch_norm(x, w, w, .is_training = true);
    IS(slope(norm, w), 0, 0);
    IS(eddy_output(norm, 1), NAN, NAN);
    IS(slope(eddy_layer_norm(x, w, w), w), 0, 0);
    const eddy_tensor loss_of_rows = eddy_softmax_cross_entropy(x, Mul(x, w));
    IS(Sum(loss_of_rows), 0);
    IS(slope(loss_of_rows, w), 0, 0);
}
END_TEST

Suite *empty_values_suite(void)
{
    Suite *s = suite_create("empty_values");
    TCase *c = tcase_create("values");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, reductions);
    tcase_add_test(c, products);
    tcase_add_test(c, batches);
    suite_add_tcase(s, c);
    return s;
}
