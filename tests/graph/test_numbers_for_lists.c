/* test_numbers_for_lists.c -- a plain number in place of a list, eddy_sum(x, 1), of which compilers
 * warn, is refused with a message: it must not be taken for a count. */
#include "tests/lib/element_checks.h"

#include <string.h>

Suite *numbers_for_lists_suite(void);

static intptr_t number;

/* What `.axes = 1` gives to compilers that only warn, and `.axes = 0` to all of them. */
static eddy_dims one(void)
{
    eddy_dims d = { .count = 0 };
    memcpy(&d, &number, sizeof number);
    return d;
}

enum { CALLS = 32 };

static eddy_tensor call(int i)
{
    const eddy_tensor x = eddy_ones(g, F32, EDDY_SHAPE(2, 3)), v = eddy_ones(g, F32, EDDY_SHAPE(4));
    const eddy_tensor image = eddy_ones(g, F32, EDDY_SHAPE(1, 4, 4, 1));
    const eddy_tensor filter = eddy_ones(g, F32, EDDY_SHAPE(1, 1, 1, 1));
    const eddy_tensor ids = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 0, 1 });
    switch (i) {
    case 0:  return eddy_sum(x, one());
    case 1:  return eddy_softmax(x, one());
    case 2:  return eddy_logsumexp(x, one());
    case 3:  return eddy_transpose(x, one());
    case 4:  return eddy_squeeze(x, one());
    case 5:  return eddy_conv2d(image, filter, one());
    case 6:  return eddy_conv2d(image, filter, .dilations = one());
    case 7:  return eddy_conv2d(image, filter, .explicit_paddings = one());
    case 8:  return eddy_max_pool2d(image, one());
    case 9:  return eddy_avg_pool2d(image, EDDY_DIMS(2), one());
    case 10: return eddy_moments(x, one());
    case 11: return eddy_reduce_variance(x, one());
    case 12: return eddy_l2_normalize(x, one());
    case 13: return eddy_cosine_similarity(x, x, one());
    case 14: return eddy_repeat(x, eddy_const(g, EDDY_INT32, EDDY_SCALAR, (int32_t[]){ 2 }), one());
    case 15: return eddy_frame(v, 2, 1, .axis = one());
    case 16: return eddy_quantile(x, 0.5, one());
    case 17: return eddy_sort(x, one());
    case 18: return eddy_fftshift(eddy_fft(Cast(v, EDDY_COMPLEX64)), one());
    case 19: return eddy_tensordot(x, x, .a_axes = one(), .b_axes = one());
    case 20: return eddy_one_hot(ids, 3, .axis = one());
    case 21: return eddy_matrix_diag(v, .k = one());
    case 22: return eddy_dropout(x, 0.5, .noise_shape = one());
    case 23: return eddy_rfft2d(x, one());
    case 24: return eddy_norm(x, .axes = one());
    case 25: return eddy_conv1d_layer(eddy_ones(g, F32, EDDY_SHAPE(2, 8, 3)), 4, EDDY_DIMS(2),
                                      .strides = one());
    case 26: return eddy_conv1d_layer(eddy_ones(g, F32, EDDY_SHAPE(2, 8, 3)), 4, EDDY_DIMS(2),
                                      .dilation_rate = one());
    case 27: return eddy_max_pool_with_argmax(image, EDDY_DIMS(2), .strides = one());
    case 28: return eddy_pool(image, EDDY_DIMS(2, 2), "MAX", .dilations = one());
    case 29: return eddy_pool(image, EDDY_DIMS(2, 2), "MAX", .explicit_paddings = one());
    case 30: return eddy_conv1d(eddy_ones(g, F32, EDDY_SHAPE(2, 8, 3)),
                                eddy_ones(g, F32, EDDY_SHAPE(2, 3, 4)), .explicit_paddings = one());
    default: return eddy_sparse_softmax_cross_entropy_loss(ids, x, .ignore = one());
    }
}

START_TEST(numbers_are_refused)
{
    number = _i / CALLS;
    ck_assert(!eddy_is_valid(call(_i % CALLS)));
    ck_assert_int_ne(eddy_graph_status(g), EDDY_OK);
    ck_assert_uint_gt(strlen(eddy_graph_message(g)), 10);
}
END_TEST

START_TEST(the_sentence_says_what_to_write)
{
    number = _i;
    call(0);
    ck_assert_int_eq(eddy_graph_status(g), EDDY_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(eddy_graph_message(g),
                                 number ? "write EDDY_AXES(1) or EDDY_DIMS(1)"
                                        : "'axes' is 0 and not a list; write EDDY_AXES(0)"));
}
END_TEST

Suite *numbers_for_lists_suite(void)
{
    Suite *s = suite_create("numbers_for_lists");
    TCase *c = tcase_create("numbers_for_lists");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, numbers_are_refused, 0, 2 * CALLS);
    tcase_add_loop_test(c, the_sentence_says_what_to_write, 0, 2);
    suite_add_tcase(s, c);
    return s;
}
