/* test_options.c -- options of calls: an option of 0 is 0, structs of an older header, and numbers
 * in place of lists and tensors. */
#include "tests/lib/element_checks.h"

#include <string.h>

Suite *options_suite(void);

/* ------------------------------------------------------------ zeros -- */

static eddy_tensor one_value(double v) { return eddy_number(g, F64, v); }

START_TEST(zeros_of_elementwise)
{
    const eddy_tensor x = vec(F64, V(-2, 0.3, 3));
    IS(eddy_leaky_relu(x, .alpha = 0), 0, 0.3, 3);
    NEAR(eddy_leaky_relu(x), -0.4, 0.3, 3);
    IS(eddy_hard_tanh(x, .most = 0), -1, 0, 0);
    IS(eddy_hard_shrink(x, .lambda = 0), -2, 0.3, 3);
    IS(eddy_hard_shrink(x), -2, 0, 3);
    IS(eddy_addcmul(x, x, x, .value = 0), -2, 0.3, 3);
    IS(eddy_nan_to_num(vec(F64, V(INFINITY, -INFINITY, 1)), .posinf = 0, .neginf = 0), 0, 0, 1);
    IS(eddy_is_close(one_value(1), one_value(1 + 1e-9), .rtol = 0, .atol = 0), 0);
    IS(eddy_is_close(one_value(1), one_value(1 + 1e-9)), 1);
    ck_assert(!eddy_is_valid(eddy_celu(x, .alpha = 0)));
    ck_assert_ptr_nonnull(strstr(eddy_graph_message(g), "celu: alpha must not be 0"));
}
END_TEST

START_TEST(zeros_of_draws)
{
    IS(eddy_random_normal(g, EDDY_SHAPE(2), .mean = 3, .stddev = 0, .dtype = F64), 3, 3);
    IS(eddy_sign(eddy_random_uniform(g, EDDY_SHAPE(2), .minval = -1, .maxval = 0)), -1, -1);
    ck_assert_int_eq(eddy_graph_seed(g), 87654321);
    eddy_graph *other = eddy_graph_new(.seed = 0);
    ck_assert_int_eq(eddy_graph_seed(other), 0);
    eddy_graph_free(other);
}
END_TEST

START_TEST(zeros_of_formulas)
{
    const eddy_tensor x = vec(F64, V(0, 0)), y = vec(F64, V(1, 3));
    IS(eddy_huber_loss(x, y, .delta = 0), 0);
    IS(eddy_smooth_l1_loss(x, y, .beta = 0), 2);
    IS(eddy_quantile_loss(x, y, .quantile = 0), 2);
    IS(eddy_triplet_margin_loss(eddy_expand_dims(x, 0), eddy_expand_dims(x, 0),
                                eddy_expand_dims(y, 0), .margin = 0), 0);
    IS(eddy_one_hot(eddy_const(g, EDDY_INT32, EDDY_SHAPE(1), (int32_t[]){ 1 }), 2, .on_value = 0),
       0, 0);
    IS(eddy_rms_norm(vec(F64, V(2, 2)), .epsilon = 0), 1, 1);
    ck_assert(eddy_shape_equal(eddy_shape_of(eddy_eye(g, 3, .columns = 0)), EDDY_SHAPE(3, 0)));
}
END_TEST

/* A scale of 0 takes the mean of the rows; one that is left out does not. */
START_TEST(zero_of_attention)
{
    const eddy_tensor q = eddy_reshape(vec(F64, V(4)), EDDY_SHAPE(1, 1));
    const eddy_tensor k = eddy_reshape(vec(F64, V(0, 9)), EDDY_SHAPE(2, 1));
    const eddy_tensor v = eddy_reshape(vec(F64, V(1, 3)), EDDY_SHAPE(2, 1));
    IS(eddy_scaled_dot_product_attention(q, k, v, .scale = 0), 2);
    NEAR(eddy_scaled_dot_product_attention(q, k, v), 3);
}
END_TEST

/* Only boxes with a score above 0; all of them if there is no threshold. */
START_TEST(zero_of_a_threshold)
{
    const eddy_tensor boxes = eddy_reshape(vec(F32, V(0, 0, 1, 1, 5, 5, 6, 6)), EDDY_SHAPE(2, 4));
    const eddy_tensor scores = vec(F32, V(1, -1));
    IS(eddy_non_max_suppression(boxes, scores, 2, .score_threshold = 0), 0, -1);
    IS(eddy_non_max_suppression(boxes, scores, 2), 0, 1);
}
END_TEST

static void is_refused(eddy_tensor t, const char *text)
{
    ck_assert(!eddy_is_valid(t));
    ck_assert_msg(strstr(eddy_graph_message(g), text) != NULL, "%s", eddy_graph_message(g));
    eddy_graph_clear_error(g);
}

START_TEST(zeros_that_make_no_sense)
{
    const eddy_tensor x = vec(F32, V(1, 2, 3, 4));
    const eddy_tensor line = eddy_reshape(x, EDDY_SHAPE(1, 4, 1));
    is_refused(eddy_hann_window(g, 0), "a length of 0 is not in");
    is_refused(eddy_stft(x, 2, 1, .fft_length = 0), "fft_length is 0");
    is_refused(eddy_dct(x, .n = 0), "the number of elements is 0; expected 1 to");
    is_refused(eddy_linear_to_mel_weight_matrix(g, .num_mel_bins = 0), "num_mel_bins is 0");
    is_refused(eddy_nonzero(x, .size = 0), "nonzero: size is 0");
    is_refused(eddy_matrix_diag(x, .num_rows = 0), "num_rows is 0");
    is_refused(eddy_unstack(x, .num = 0), "unstack: num is 0");
    is_refused(eddy_conv1d(line, eddy_ones(g, F32, EDDY_SHAPE(1, 1, 1)), .stride = 0), "strides");
    is_refused(eddy_print(x, .summarize = 0), "summarize is 0");
    is_refused(eddy_conv2d_layer(eddy_ones(g, F32, EDDY_SHAPE(1, 4, 4, 1)), 2, EDDY_DIMS(2),
                                 .groups = 0), "groups is 0; expected a divisor");
}
END_TEST

/* ------------------------------------------------ older and other headers -- */

/* As eddy_random_normal_args was before it had a spread, an element type, a seed and a name. */
typedef struct older_args {
    size_t      size_;
    eddy_graph *graph;
    eddy_shape  shape;
    double      mean;
} older_args;

START_TEST(older_struct)
{
    const older_args a = { sizeof a, g, EDDY_SHAPE(1000), 5 };
    const eddy_tensor x =
        eddy_random_normal_with((const eddy_random_normal_args *)(const void *)&a);
    double v[1000], sum = 0, squares = 0;
    ck_assert_int_eq(values(eddy_reshape(eddy_stack(EDDY_LIST(Mean(x), Mean(Square(x)))),
                                         EDDY_SHAPE(2)), v), 2);
    sum = v[0], squares = v[1];
    ck_assert_double_le(fabs(sum - 5), 0.2);
    ck_assert_double_le(fabs(squares - sum * sum - 1), 0.2);
}
END_TEST

START_TEST(sizes)
{
    eddy_graph *other = eddy_graph_new_with(NULL);
    ck_assert_int_eq(eddy_graph_seed(other), 87654321);
    eddy_graph_free(other);
    eddy_graph_args a = *EDDY_ARGS(eddy_graph_args, .seed = 7);
    for (size_t size = 0; size < 8; size++) {           /* too short for anything: all defaults */
        a.size_ = size;
        other = eddy_graph_new_with(&a);
        ck_assert_int_eq(eddy_graph_seed(other), 87654321);
        eddy_graph_free(other);
    }
    a.size_ = SIZE_MAX / 2;                             /* of a newer header */
    other = eddy_graph_new_with(&a);
    ck_assert_int_eq(eddy_graph_seed(other), 7);
    eddy_graph_free(other);
}
END_TEST

/* ------------------------------------------- numbers for hyper-parameters -- */

/* What `.beta1 = 0` and eddy_adam(g, 1) are where compilers only warn. */
static eddy_tensor number(intptr_t n)
{
    eddy_tensor t = EDDY_NO_TENSOR;
    memcpy(&t, &n, sizeof n);
    return t;
}

START_TEST(numbers_for_tensors)
{
    const eddy_tensor loss = eddy_square(eddy_variable(g, eddy_scalar(g, 1)));
    for (intptr_t n = 0; n < 3; n++) {
        eddy_optimizer *o = eddy_adam(g, number(n));
        ck_assert_ptr_null(o);
        ck_assert_ptr_nonnull(
            strstr(eddy_graph_message(g), "learning_rate is not a tensor; write"));
        eddy_minimize(o, loss);
        eddy_graph_clear_error(g);
        ck_assert_ptr_null(eddy_adam(g, .beta1 = number(n)));
        ck_assert_ptr_nonnull(strstr(eddy_graph_message(g), "beta1 is not a tensor; write"));
        eddy_graph_clear_error(g);
    }
    ck_assert_ptr_nonnull(eddy_adam(g));
}
END_TEST

Suite *options_suite(void)
{
    Suite *s = suite_create("options");
    TCase *c = tcase_create("options");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, zeros_of_elementwise);
    tcase_add_test(c, zeros_of_draws);
    tcase_add_test(c, zeros_of_formulas);
    tcase_add_test(c, zero_of_attention);
    tcase_add_test(c, zero_of_a_threshold);
    tcase_add_test(c, zeros_that_make_no_sense);
    tcase_add_test(c, older_struct);
    tcase_add_test(c, sizes);
    tcase_add_test(c, numbers_for_tensors);
    suite_add_tcase(s, c);
    return s;
}
