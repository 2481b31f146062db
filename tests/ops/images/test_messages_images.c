/* test_messages_images.c -- error messages of image operations. */
#include "tests/lib/golden.h"
#include "tests/lib/graph_fixture.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

Suite *messages_images_suite(void);

static eddy_tensor input(const char *name, eddy_dtype d, eddy_shape s)
{
    return eddy_placeholder(g, name, d, s);
}

static void resizing(eddy_tensor x, eddy_tensor flags, eddy_tensor rows)
{
    const eddy_dims size = EDDY_DIMS(2, 2);
    eddy_resize_bilinear(x, EDDY_DIMS(2)), golden_graph(g);
    eddy_resize_bilinear(x, EDDY_DIMS(2, 0)), golden_graph(g);
    eddy_resize_area(x, size, .half_pixel_centers = true), golden_graph(g);
    eddy_resize_bicubic(x, size, true, true), golden_graph(g);
    eddy_resize_nearest_neighbor(flags, size), golden_graph(g);
    eddy_resize_nearest_neighbor(rows, size), golden_graph(g);
    eddy_resize_bilinear(input("none", EDDY_FLOAT32, EDDY_SHAPE(1, 0, 2, 3)), size);
    golden_graph(g);
    eddy_resize_images(x, EDDY_DIMS(2)), golden_graph(g);
    eddy_resize_images(x, size, "cubic"), golden_graph(g);
}

/* Sizes that are tensors. */
static void sizing(eddy_tensor x)
{
    const eddy_tensor bad = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 3, -1 });
    const eddy_tensor three = input("three", EDDY_INT32, EDDY_SHAPE(3));
    const eddy_tensor one = eddy_number(g, EDDY_INT32, 1), two = eddy_number(g, EDDY_INT64, -2);
    const eddy_tensor offsets = input("where", EDDY_FLOAT32, EDDY_SHAPE(1, 2));
    eddy_resize_bilinear_to(x, bad), golden_graph(g);
    eddy_resize_bilinear_to(x, three), golden_graph(g);
    eddy_resize_images_to(x, three), golden_graph(g);
    eddy_resize_images_to(x, (eddy_tensor){ .graph = g }), golden_graph(g);
    eddy_resize_images_to(x, input("open_size", EDDY_INT32, EDDY_SHAPE(2)), "cubic");
    golden_graph(g);
    eddy_crop_to_bounding_box_to(x, one, one, one, two), golden_graph(g);
    eddy_crop_to_bounding_box_to(x, one, one, three, one), golden_graph(g);
    eddy_pad_to_bounding_box_to(x, one, (eddy_tensor){ .graph = g }, one, one), golden_graph(g);
    eddy_extract_glimpse_to(x, three, offsets), golden_graph(g);
    eddy_extract_glimpse_to(x, bad, offsets), golden_graph(g);
    eddy_random_crop_to((eddy_tensor){ .graph = g }, one), golden_graph(g);
    eddy_random_crop_to(one, one), golden_graph(g);
    eddy_random_crop_to(x, (eddy_tensor){ .graph = g }), golden_graph(g);
}

/* Errors that only a run can find. */
static void running(eddy_tensor x)
{
    const eddy_tensor open = input("side", EDDY_INT32, EDDY_SCALAR);
    const eddy_tensor y = eddy_resize_with_crop_or_pad_to(x, open, eddy_number(g, EDDY_INT32, 3));
    eddy_session *s = eddy_session_new(g);
    eddy_array *in = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(1, 4, 4, 2)), *out = NULL;
    eddy_array *none = eddy_array_new(EDDY_INT32, EDDY_SCALAR);
    eddy_run(s, EDDY_FEED({ x, in }, { open, none }), EDDY_FETCH(y), &out);
    golden_line(eddy_session_message(s));
    eddy_array_free(in), eddy_array_free(none), eddy_array_free(out);
    eddy_session_free(s);
}

static void transforming(eddy_tensor x, eddy_tensor flags)
{
    const eddy_tensor maps = input("maps", EDDY_FLOAT32, EDDY_SHAPE(1, 8));
    const eddy_tensor angles = input("angles", EDDY_FLOAT32, EDDY_SHAPE(3, 2));
    const eddy_node  *n = eddy_node_of(eddy_image_transform(x, maps));
    eddy_image_transform(flags, maps), golden_graph(g);
    eddy_image_transform(x, angles), golden_graph(g);
    eddy_image_transform(x, Cast(maps, EDDY_FLOAT64)), golden_graph(g);
    eddy_image_transform(x, maps, .interpolation = "CUBIC"), golden_graph(g);
    eddy_image_transform(x, maps, .fill_mode = "MIRROR"), golden_graph(g);
    eddy_image_transform(x, maps, .size = EDDY_DIMS(2, 0)), golden_graph(g);
    eddy_image_transform(x, maps, .size = EDDY_DIMS(2)), golden_graph(g);
    eddy_image_transform(Cast(x, EDDY_UINT8), maps, .fill_value = 256), golden_graph(g);
    eddy_image_rotate(x, angles), golden_graph(g);
    eddy_image_rotate(x, (eddy_tensor){ .graph = g }), golden_graph(g);
    eddy_image_translate(x, maps), golden_graph(g);
    eddy_compose_transforms(maps, angles), golden_graph(g);
    eddy_apply(&eddy_op_image_transform_grad, n->attrs, 3, (eddy_tensor[]){ flags, maps, x },
               (eddy_apply_args){ 0 });
    golden_graph(g);
    eddy_apply(&eddy_op_image_transform_grad, n->attrs, 3,
               (eddy_tensor[]){ input("dy", EDDY_FLOAT32, EDDY_SHAPE(7, 7, 7, 7)), maps, x },
               (eddy_apply_args){ 0 });
    golden_graph(g);
}

static void gradients(eddy_tensor x, eddy_tensor dy)
{
    const eddy_tensor y = eddy_resize_bilinear(x, EDDY_DIMS(2, 2));
    const eddy_node *n = eddy_node_of(y);
    eddy_apply2(&eddy_op_resize_bilinear_grad, n->attrs, x, dy), golden_graph(g);
    eddy_apply2(&eddy_op_resize_bilinear_grad, n->attrs, x, Cast(y, EDDY_FLOAT64));
    golden_graph(g);
}

static void cropping(eddy_tensor x, eddy_tensor flags)
{
    const eddy_tensor boxes = input("boxes", EDDY_FLOAT32, EDDY_SHAPE(5, 4));
    const eddy_tensor owner = input("owner", EDDY_INT32, EDDY_SHAPE(5));
    const eddy_tensor wide = input("wide", EDDY_FLOAT64, EDDY_SHAPE(5, 4));
    const eddy_dims size = EDDY_DIMS(2, 2);
    eddy_crop_and_resize(x, boxes, owner, size, "cubic"), golden_graph(g);
    eddy_crop_and_resize(x, boxes, owner, EDDY_DIMS(2)), golden_graph(g);
    eddy_crop_and_resize(x, wide, owner, size), golden_graph(g);
    eddy_crop_and_resize(x, boxes, input("few", EDDY_INT32, EDDY_SHAPE(4)), size);
    golden_graph(g);
    eddy_crop_and_resize(flags, boxes, owner, size), golden_graph(g);
    eddy_crop_and_resize(boxes, boxes, owner, size), golden_graph(g);
    const eddy_node *n = eddy_node_of(eddy_crop_and_resize(x, boxes, owner, size));
    const eddy_tensor in[] = { x, x, boxes, owner };
    eddy_apply(&eddy_op_crop_and_resize_grad_image, n->attrs, 4, in, (eddy_apply_args){ 0 });
    golden_graph(g);
}

static void parts(eddy_tensor x, eddy_tensor rows)
{
    const eddy_tensor open = input("open", EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE);
    const eddy_tensor no_size = input("no_size", EDDY_FLOAT32, EDDY_SHAPE(2, EDDY_ANY, 3, 1));
    eddy_flip_left_right((eddy_tensor){ .graph = g }), golden_graph(g);
    eddy_flip_up_down(rows), golden_graph(g);
    eddy_transpose_image(open), golden_graph(g);
    eddy_central_crop(no_size, 0.5), golden_graph(g);
    eddy_central_crop(x, 1.5), golden_graph(g);
    eddy_crop_to_bounding_box(x, -1, 0, 2, 2), golden_graph(g);
    eddy_pad_to_bounding_box(x, 1, 0, 4, 5), golden_graph(g);
    const eddy_tensor offsets = input("offsets", EDDY_FLOAT32, EDDY_SHAPE(1, 2));
    eddy_extract_glimpse(x, EDDY_DIMS(2), offsets), golden_graph(g);
    eddy_extract_glimpse(x, EDDY_DIMS(2, 2), (eddy_tensor){ .graph = g }), golden_graph(g);
    eddy_extract_glimpse(x, EDDY_DIMS(2, 2), x), golden_graph(g);
    eddy_extract_glimpse(x, EDDY_DIMS(2, 2), offsets, .noise = "gaussian"), golden_graph(g);
    eddy_random_crop((eddy_tensor){ .graph = g }, EDDY_DIMS(1)), golden_graph(g);
    eddy_random_crop(x, EDDY_DIMS(2, 2)), golden_graph(g);
}

static void colors(eddy_tensor x, eddy_tensor flags)
{
    const eddy_tensor half = eddy_scalar(g, 0.5);
    eddy_rgb_to_hsv(x), golden_graph(g);
    eddy_rgb_to_grayscale(flags), golden_graph(g);
    eddy_adjust_gamma(x, eddy_scalar(g, -1), half), golden_graph(g);
    eddy_random_brightness(x, -1), golden_graph(g);
    eddy_random_hue(x, 0.75), golden_graph(g);
    eddy_random_contrast(x, 2, 1), golden_graph(g);
}

static void quality(eddy_tensor x, eddy_tensor rows)
{
    const eddy_tensor one = input("one", EDDY_FLOAT32, EDDY_SHAPE(4, 5, 1));
    eddy_image_gradients(one), golden_graph(g);
    eddy_sobel_edges(one), golden_graph(g);
    eddy_psnr(x, x, 0), golden_graph(g);
    eddy_psnr(x, Cast(x, EDDY_FLOAT64), 1), golden_graph(g);
    eddy_ssim(one, one, 1), golden_graph(g);
    eddy_ssim(x, x, 1, .filter_size = -1), golden_graph(g);
    eddy_ssim_multiscale(x, x, 1, .power_factors = (const double[]){ 1 }), golden_graph(g);
    eddy_total_variation(rows), golden_graph(g);
    eddy_total_variation(input("bytes", EDDY_UINT8, EDDY_SHAPE(4, 5, 3))), golden_graph(g);
    eddy_psnr(x, (eddy_tensor){ .graph = g }, 1), golden_graph(g);
    eddy_psnr(x, one, 1), golden_graph(g);
}

static void boxes(void)
{
    const eddy_tensor b = input("b", EDDY_FLOAT32, EDDY_SHAPE(6, 4));
    const eddy_tensor scores = input("scores", EDDY_FLOAT32, EDDY_SHAPE(6));
    const eddy_tensor many = input("many", EDDY_FLOAT32, EDDY_SHAPE((int64_t)1 << 32));
    eddy_non_max_suppression(b, scores, -1), golden_graph(g);
    eddy_non_max_suppression(b, scores, 1, 2), golden_graph(g);
    eddy_non_max_suppression(b, Cast(scores, EDDY_FLOAT64), 1), golden_graph(g);
    eddy_non_max_suppression(scores, scores, 1), golden_graph(g);
    eddy_non_max_suppression(input("some", EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE), many, 1);
    golden_graph(g);
}

START_TEST(images)
{
    const eddy_tensor x = input("x", EDDY_FLOAT32, EDDY_SHAPE(1, 4, 4, 2));
    const eddy_tensor flags = input("flags", EDDY_BOOL, EDDY_SHAPE(1, 4, 4, 3));
    const eddy_tensor rows = input("rows", EDDY_FLOAT32, EDDY_SHAPE(4, 4));
    golden_begin("ops/images");
    resizing(x, flags, rows);
    gradients(x, rows);
    cropping(x, flags);
    transforming(x, flags);
    parts(x, rows);
    colors(x, flags);
    quality(x, rows);
    boxes();
    sizing(x);
    running(x);
    golden_end();
}
END_TEST

Suite *messages_images_suite(void)
{
    Suite *suite = suite_create("messages_images");
    TCase *c = tcase_create("images");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, images);
    suite_add_tcase(suite, c);
    return suite;
}
