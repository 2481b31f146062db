/* test_images_odd.c -- image builders with meaningless handles, types, shapes and sizes: the result
 * is an error, or a tensor that runs or fails to run, but never a crash. */
#include "tests/lib/checks.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

Suite *images_odd_suite(void);

enum { ODD = 28, BOXES = 6, SCORES = 8, OWNERS = 19 };

static eddy_graph *g, *other;
static eddy_tensor odd[ODD];
static int         n_odd;

static void add(eddy_tensor t) { odd[n_odd++] = t; }

static eddy_tensor zeroed(eddy_dtype d, eddy_shape shape)
{
    eddy_array *a = eddy_array_new(d, shape);
    eddy_tensor t = eddy_constant(g, a, NULL);
    eddy_array_free(a);
    return t;
}

static void begin(void)
{
    static const int64_t shapes[][5] = {      /* the rank first */
        { 3, 4, 5, 3 }, { 4, 2, 4, 5, 3 }, { 4, 1, 1, 1, 1 }, { 4, 0, 4, 4, 3 }, { 4, 1, 0, 4, 3 },
        { 4, 1, 4, 4, 0 }, { 2, 3, 4 }, { 2, 0, 4 }, { 1, 3 }, { 0 },
    };
    g = eddy_graph_new();
    other = eddy_graph_new();
    n_odd = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        add(zeroed(EDDY_FLOAT32, eddy_shape_of_dims(shapes[i] + 1, (size_t)shapes[i][0])));
    for (int d = EDDY_FLOAT32 + 1; d < EDDY_DTYPES; d++)
        add(zeroed((eddy_dtype)d, EDDY_SHAPE(1, 2, 2, 3)));
    add(zeroed(EDDY_INT32, EDDY_SHAPE(3)));
    add(eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(3), (float[]){ NAN, INFINITY, -1e30f }));
    add(eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE));
    add(eddy_placeholder(g, NULL, EDDY_UINT8, EDDY_SHAPE(EDDY_ANY, EDDY_ANY, 3)));
    add(eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_SHAPE(1, 1 << 24, 1 << 20, 1)));
    fits(g);
    add((eddy_tensor)EDDY_ZERO_TENSOR);
    add((eddy_tensor){ .graph = g });
    add((eddy_tensor){ .graph = g, .node = INT32_MAX });
    add(eddy_scalar(other, 1));
    ck_assert_int_eq(n_odd, ODD);
}

static void end(void)
{
    eddy_graph_free(g);
    eddy_graph_free(other);
}

/* Checks the result of a call: a tensor that is run, or an error. */
static void settle(eddy_tensor y)
{
    if (eddy_is_valid(y) && eddy_graph_status(y.graph) == EDDY_OK && y.graph == g) {
        eddy_session *s = eddy_session_new(g);
        eddy_array_free(eddy_fetch(s, y));
        eddy_session_free(s);
    }
    eddy_graph_clear_error(g);
    eddy_graph_clear_error(other);
}

static const int64_t numbers[] = { INT64_MIN, -1, 0, 1, 3, 1 << 24, INT32_MAX, INT64_MAX };
static const double  reals[] = { -INFINITY, -1, 0, 0.3, 1e300, INFINITY, NAN };
#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

START_TEST(of_one_tensor)
{
    static eddy_tensor (*const unaries[])(eddy_tensor) = {
        eddy_flip_left_right, eddy_flip_up_down, eddy_transpose_image, eddy_rgb_to_grayscale,
        eddy_grayscale_to_rgb, eddy_rgb_to_hsv, eddy_hsv_to_rgb, eddy_rgb_to_yiq, eddy_yiq_to_rgb,
        eddy_rgb_to_yuv, eddy_yuv_to_rgb, eddy_per_image_standardization, eddy_total_variation,
        eddy_image_gradients, eddy_sobel_edges,
    };
    for (int i = 0; i < COUNT(unaries); i++) settle(unaries[i](odd[_i]));
    for (int d = -1; d < EDDY_DTYPES + 1; d++)
        settle(eddy_convert_image_dtype(odd[_i], (eddy_dtype)d));
    settle(eddy_random_flip_left_right(odd[_i]));
    settle(eddy_random_flip_up_down(odd[_i], INT64_MIN));
}
END_TEST

START_TEST(of_numbers)
{
    const eddy_tensor x = odd[_i];
    for (int i = 0; i < COUNT(reals); i++) {
        settle(eddy_central_crop(x, reals[i]));
        settle(eddy_random_brightness(x, reals[i]));
        settle(eddy_random_contrast(x, reals[i], 1));
        settle(eddy_random_saturation(x, 0, reals[i]));
        settle(eddy_random_hue(x, reals[i]));
        settle(eddy_psnr(x, x, reals[i]));
        settle(eddy_ssim(x, x, reals[i], .filter_size = 1));
        settle(eddy_ssim_multiscale(x, x, 1, .filter_sigma = reals[i], .k1 = reals[i]));
    }
    for (int i = 0; i < COUNT(numbers); i++) {
        const int64_t n = numbers[i];
        settle(eddy_crop_to_bounding_box(x, n, 0, 1, 1));
        settle(eddy_crop_to_bounding_box(x, 0, 1, n, n));
        settle(eddy_random_crop(x, EDDY_DIMS(n, n, n)));
        settle(eddy_ssim(x, x, 1, .filter_size = (int)n));
        if (n > 1000) continue;                     /* more is refused by what is built */
        settle(eddy_pad_to_bounding_box(x, 0, 0, n, 9));
        settle(eddy_resize_with_crop_or_pad(x, 7, n));
        settle(eddy_resize_image_with_pad(x, n, 2, NULL));
    }
}
END_TEST

/* Sizes and offsets that are tensors. */
START_TEST(of_tensors)
{
    const eddy_tensor x = odd[_i];
    for (int i = 0; i < ODD; i++) {
        const eddy_tensor t = odd[i], one = eddy_number(g, EDDY_INT32, 1);
        settle(eddy_resize_nearest_neighbor_to(x, t));
        settle(eddy_resize_area_to(x, t, .half_pixel_centers = true));
        settle(eddy_resize_images_to(x, t, .preserve_aspect_ratio = true));
        settle(eddy_crop_and_resize_to(x, odd[BOXES], odd[OWNERS], t));
        settle(eddy_random_crop_to(x, t));
        settle(eddy_extract_glimpse_to(x, t, t));
        settle(eddy_crop_to_bounding_box_to(x, t, one, one, t));
        settle(eddy_pad_to_bounding_box_to(x, one, t, t, one));
    }
    for (int i = 0; i < COUNT(numbers); i++) {
        const int64_t n = numbers[i];
        const eddy_tensor t = eddy_const(g, EDDY_INT64, EDDY_SCALAR, &n);
        const eddy_tensor two = eddy_const(g, EDDY_INT64, EDDY_SHAPE(2), (int64_t[]){ n, 1 });
        settle(eddy_crop_to_bounding_box_to(x, t, t, t, t));
        settle(eddy_resize_bicubic_to(x, n < 1000 ? two : t));
        if (n > 1000) continue;                     /* more is refused by what is built */
        settle(eddy_resize_with_crop_or_pad_to(x, t, t));
        settle(eddy_resize_image_with_pad_to(x, t, t, "area"));
        settle(eddy_resize_images_to(x, two, .preserve_aspect_ratio = true));
    }
}
END_TEST

START_TEST(of_sizes)
{
    const eddy_tensor x = odd[_i];
    for (int i = 0; i < COUNT(numbers); i++) {
        const int64_t n = numbers[i];
        if (n == 1 << 24) continue;                 /* allowed */
        settle(eddy_resize_nearest_neighbor(x, EDDY_DIMS(n, 2)));
        settle(eddy_resize_bilinear(x, EDDY_DIMS(1, n)));
        settle(eddy_resize_bicubic(x, EDDY_DIMS(n, n), true));
        settle(eddy_resize_area(x, EDDY_DIMS(n, 3)));
        settle(eddy_resize_images(x, EDDY_DIMS(n, n), .preserve_aspect_ratio = true));
        settle(eddy_crop_and_resize(x, odd[BOXES], odd[OWNERS], EDDY_DIMS(n, 1)));
        settle(eddy_extract_glimpse(x, EDDY_DIMS(1, n == INT32_MAX ? 9 : n), odd[BOXES]));
        if (n != INT32_MAX) settle(eddy_non_max_suppression(x, odd[SCORES], n));
    }
    settle(eddy_resize_area(x, EDDY_DIMS(1 << 24, 1 << 24)));
    settle(eddy_resize_images(x, (eddy_dims){ .count = -1 }));
}
END_TEST

START_TEST(of_two_tensors)
{
    for (int i = 0; i < ODD; i++) {
        const eddy_tensor a = odd[_i], b = odd[i];
        settle(eddy_adjust_brightness(a, b));
        settle(eddy_adjust_contrast(a, b));
        settle(eddy_adjust_saturation(a, b));
        settle(eddy_adjust_hue(a, b));
        settle(eddy_adjust_gamma(a, b, b));
        settle(eddy_psnr(a, b, 1));
        settle(eddy_ssim(a, b, 1, .filter_size = 2));
        settle(eddy_ssim_multiscale(a, b, 1, .scales = 1, .power_factors = (const double[]){ 1 }));
        settle(eddy_non_max_suppression(a, b, 2, .soft_nms_sigma = 1));
        settle(eddy_crop_and_resize(odd[1], a, b, EDDY_DIMS(2, 2)));
        settle(eddy_extract_glimpse(a, EDDY_DIMS(2, 2), b));
        settle(eddy_crop_and_resize(a, b, b, EDDY_DIMS(2, 2), "nearest"));
    }
}
END_TEST

/* -------------------------------------------------------------------- memory -- */

/* Memory of libc, and the largest block that was asked for. */
static size_t largest;
static void *allocate(void *context, size_t size)
{
    (void)context;
    if (size > largest) largest = size;
    return malloc(size);
}
static void release(void *context, void *p, size_t size)
{
    (void)context, (void)size;
    free(p);
}

/* Images without channels need no weights, however large they are. */
START_TEST(resized_without_channels)
{
    const eddy_allocator watched = { allocate, release, NULL };
    const eddy_dims      size = EDDY_DIMS(1 << 18, 1 << 18);
    eddy_graph          *own = eddy_graph_new(.allocator = &watched);
    const eddy_tensor    x = eddy_placeholder(own, "x", EDDY_FLOAT32, EDDY_SHAPE(1, 4, 4, 0));
    const eddy_tensor    y[] = { eddy_resize_bilinear(x, size), eddy_resize_bicubic(x, size),
                                 eddy_resize_area(x, size),
                                 eddy_resize_nearest_neighbor(x, size) };
    eddy_array          *none = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(1, 4, 4, 0));
    for (int i = 0; i < COUNT(y); i++) {
        eddy_session *s = eddy_session_new(own);
        const eddy_tensor both[] = { y[i], eddy_gradient(Sum(y[i]), x) };
        eddy_array       *out[2] = { NULL };
        largest = 0;
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, none }), (eddy_list){ 2, both }, out), EDDY_OK);
        ck_assert_int_eq(eddy_array_count(out[0]) + eddy_array_count(out[1]), 0);
        ck_assert_msg(largest < 1 << 20, "%d asks for %zu bytes", i, largest);
        eddy_array_free(out[0]);
        eddy_array_free(out[1]);
        eddy_session_free(s);
    }
    eddy_array_free(none);
    eddy_graph_free(own);
}
END_TEST

Suite *images_odd_suite(void)
{
    Suite *suite = suite_create("images_odd");
    TCase *c = tcase_create("odd");
    tcase_add_checked_fixture(c, begin, end);
    tcase_add_loop_test(c, of_one_tensor, 0, ODD);
    tcase_add_loop_test(c, of_numbers, 0, ODD);
    tcase_add_loop_test(c, of_tensors, 0, ODD);
    tcase_add_loop_test(c, of_sizes, 0, ODD);
    tcase_add_loop_test(c, of_two_tensors, 0, ODD);
    tcase_add_test(c, resized_without_channels);
    suite_add_tcase(suite, c);
    return suite;
}
