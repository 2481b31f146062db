/* rows_images.c -- resizing, cropping, colors, and comparison of images. */
#include "bench/ops/bench_ops.h"
#include "ops/short_names.h"

#define UP EDDY_DIMS(128, 128)
#define DOWN EDDY_DIMS(24, 24)
#define CENTERS .half_pixel_centers = true
BUILD(nearest, eddy_resize_nearest_neighbor(x[0], UP))
BUILD(bilinear, eddy_resize_bilinear(x[0], UP, CENTERS))
BUILD(bilinear_down, eddy_resize_bilinear(x[0], DOWN, CENTERS))
BUILD(bicubic, eddy_resize_bicubic(x[0], UP, .align_corners = true))
BUILD(bicubic_down, eddy_resize_bicubic(x[0], DOWN, .align_corners = true))
BUILD(area, eddy_resize_area(x[0], EDDY_DIMS(16, 16)))
BUILD(crop, eddy_crop_and_resize(x[0], x[1], FloorMod(eddy_row_numbers(x[1], EDDY_INT32), 4),
                                 EDDY_DIMS(14, 14)))
BUILD(flip, eddy_flip_left_right(x[0]))
BUILD(gray, eddy_rgb_to_grayscale(x[0]))
BUILD(yuv, eddy_rgb_to_yuv(x[0]))
BUILD(hsv, eddy_rgb_to_hsv(x[0]))
BUILD(hsv_back, eddy_hsv_to_rgb(x[0]))
BUILD(saturation, eddy_adjust_saturation(x[0], eddy_scalar(g, 0.7)))
BUILD(contrast, eddy_adjust_contrast(x[0], eddy_scalar(g, 0.7)))
BUILD(standard, eddy_per_image_standardization(x[0]))
BUILD(variation, eddy_total_variation(x[0]))
BUILD(edges, eddy_sobel_edges(x[0]))
BUILD(psnr, eddy_psnr(x[0], x[1], 1))
BUILD(ssim, eddy_ssim(x[0], x[1], 1))

/* Squared, so that the gradient differs between runs. */
#define SQUARE(fn) BUILD(fn##_squared, Square(fn(g, x)))
SQUARE(nearest)
SQUARE(bilinear)
SQUARE(bilinear_down)
SQUARE(bicubic)
SQUARE(bicubic_down)
SQUARE(area)
SQUARE(crop)

#define BOTH(called, fn, count, ...) \
    OPS_ROW(called, fn, count, __VA_ARGS__), \
    OPS_GRADIENT(called ", gradient", fn##_squared, count, __VA_ARGS__)
#define COLORS(called, fn)                                                     \
    { .name = called, .build = fn, .n = 1, .shape = { S(4, 128, 128, 3) },      \
      .low = { 0 }, .high = { 1 } }

static const ops_row rows[] = {
    BOTH("resize nearest", nearest, 1, S(8, 64, 64, 3)),
    BOTH("resize nearest, 32", nearest, 1, S(2, 64, 64, 32)),
    BOTH("resize bilinear", bilinear, 1, S(8, 64, 64, 3)),
    BOTH("resize bilinear, 1", bilinear, 1, S(8, 64, 64, 1)),
    BOTH("resize bilinear, 32", bilinear, 1, S(2, 64, 64, 32)),
    BOTH("resize bilinear down", bilinear_down, 1, S(8, 64, 64, 3)),
    BOTH("resize bilinear down, 32", bilinear_down, 1, S(8, 64, 64, 32)),
    BOTH("resize bicubic", bicubic, 1, S(8, 43, 43, 3)),
    BOTH("resize bicubic, 32", bicubic, 1, S(2, 43, 43, 32)),
    BOTH("resize bicubic down", bicubic_down, 1, S(8, 70, 70, 3)),
    BOTH("resize area", area, 1, S(8, 64, 64, 3)),
    BOTH("resize area, 32", area, 1, S(8, 64, 64, 32)),
    { .name = "crop_and_resize", .build = crop, .n = 2, .shape = { S(4, 64, 64, 32), S(64, 4) },
      .low = { -1, 0.1 }, .high = { 1, 0.9 } },
    { .name = "crop_and_resize, gradient", .build = crop_squared, .n = 2, .gradient = true,
      .shape = { S(4, 64, 64, 32), S(64, 4) }, .low = { -1, 0.1 }, .high = { 1, 0.9 } },
    OPS_ROW("flip_left_right", flip, 1, S(8, 64, 64, 3)),
    COLORS("rgb_to_grayscale", gray),
    COLORS("rgb_to_yuv", yuv),
    COLORS("rgb_to_hsv", hsv),
    COLORS("hsv_to_rgb", hsv_back),
    COLORS("adjust_saturation", saturation),
    COLORS("adjust_contrast", contrast),
    COLORS("per_image_standardization", standard),
    COLORS("total_variation", variation),
    COLORS("sobel_edges", edges),
    OPS_ROW("psnr", psnr, 2, S(4, 128, 128, 3), S(4, 128, 128, 3)),
    { .name = "ssim", .build = ssim, .n = 2, .shape = { S(2, 64, 64, 3), S(2, 64, 64, 3) },
      .low = { 0.5, 0.5 }, .high = { 1, 1 } },
    { .name = "ssim, gradient", .build = ssim, .n = 2, .gradient = true,
      .shape = { S(2, 64, 64, 3), S(2, 64, 64, 3) }, .low = { 0.5, 0.5 }, .high = { 1, 1 } },
};

OPS_FAMILY(images, rows);
