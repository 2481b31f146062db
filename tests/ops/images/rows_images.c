/* rows_images.c -- resizing, cropping, colors, boxes; see rows.h. */
#include "tests/lib/rows.h"

#define SIZE EDDY_DIMS(5, 3)
#define CORNERS .align_corners = true
#define CENTERS .half_pixel_centers = true
BUILD(nearest, eddy_resize_nearest_neighbor(x[0], SIZE))
BUILD(nearest_corners, eddy_resize_nearest_neighbor(x[0], SIZE, CORNERS))
BUILD(bilinear, eddy_resize_bilinear(x[0], SIZE))
BUILD(bilinear_corners, eddy_resize_bilinear(x[0], SIZE, CORNERS))
BUILD(bilinear_centers, eddy_resize_bilinear(x[0], SIZE, CENTERS))
BUILD(bicubic, eddy_resize_bicubic(x[0], SIZE))
BUILD(bicubic_centers, eddy_resize_bicubic(x[0], SIZE, CENTERS))
BUILD(area, eddy_resize_area(x[0], SIZE))
BUILD(nearest_grad, backwards(nearest_corners(g, x), x[0], x[1]))
BUILD(bilinear_grad, backwards(bilinear_centers(g, x), x[0], x[1]))
BUILD(bicubic_grad, backwards(bicubic(g, x), x[0], x[1]))
BUILD(area_grad, backwards(area(g, x), x[0], x[1]))

/* Sizes that are tensors: those of x, and more or less than them. */
#define SIZE_TO(more, less)                                                     \
    Add(eddy_index(eddy_shape_tensor(x[0], EDDY_INT32), "1:3"), INTS(EDDY_SHAPE(2), more, less))
#define NUMBER_TO(v) eddy_number(g, EDDY_INT64, v)
#define HEIGHT_TO(more) Add(eddy_size_along(x[0], -3), NUMBER_TO(more))
#define WIDTH_TO(more) Add(eddy_size_along(x[0], -2), NUMBER_TO(more))
BUILD(nearest_to, eddy_resize_nearest_neighbor_to(x[0], SIZE_TO(2, -1), CENTERS))
BUILD(bilinear_to, eddy_resize_bilinear_to(x[0], SIZE_TO(2, -1), CORNERS))
BUILD(bicubic_to, eddy_resize_bicubic_to(x[0], SIZE_TO(2, -1)))
BUILD(area_to, eddy_resize_area_to(x[0], SIZE_TO(2, -1)))
BUILD(nearest_to_grad, backwards(nearest_to(g, x), x[0], x[1]))
BUILD(bilinear_to_grad, backwards(bilinear_to(g, x), x[0], x[1]))
BUILD(bicubic_to_grad, backwards(bicubic_to(g, x), x[0], x[1]))
BUILD(area_to_grad, backwards(area_to(g, x), x[0], x[1]))

/* Places stay off the rows and columns of the image. */
#define OWNERS INTS(EDDY_SHAPE(3), 0, 1, 1)
#define BOXES Add(x[1], eddy_cast(eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(3, 4), (const double[]){ \
    0.11, 0.15, 0.85, 0.91, 0.77, 0.1, 0.2, 0.6, -0.3, 0.3, 0.71, 1.2 }), eddy_dtype_of(x[1])))
#define PART EDDY_DIMS(3, 2)
BUILD(crop, eddy_crop_and_resize(x[0], BOXES, OWNERS, PART, .extrapolation_value = 2))
BUILD(crop_one, eddy_crop_and_resize(x[0], BOXES, OWNERS, EDDY_DIMS(1, 2)))
BUILD(crop_nearest, eddy_crop_and_resize(x[0], BOXES, OWNERS, PART, "nearest"))
BUILD(crop_image, backwards(crop(g, x), x[0], x[2]))
#define CROP_TO(height, width, ...)                                             \
    eddy_crop_and_resize_to(x[0], BOXES, OWNERS,                                \
                            Add(Mul(eddy_index(eddy_shape_tensor(x[0], EDDY_INT32), "1:3"), 0), \
                                INTS(EDDY_SHAPE(2), height, width)), __VA_ARGS__)
BUILD(crop_to, CROP_TO(3, 2, .extrapolation_value = 2))
BUILD(crop_to_one, CROP_TO(1, 2, "bilinear"))
BUILD(crop_to_image, backwards(crop_to(g, x), x[0], x[2]))

/* A projective map by which some places are outside. */
static eddy_tensor map_of(eddy_graph *g)
{
    return eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(1, 8), (const float[]){
        0.8f, 0.31f, -0.73f, -0.22f, 0.9f, 0.61f, 0.03f, -0.02f });
}
#define BILINEAR .interpolation = "BILINEAR"
BUILD(seen, eddy_image_transform(x[0], map_of(g), .fill_value = 2))
BUILD(seen_between, eddy_image_transform(x[0], map_of(g), BILINEAR, .size = EDDY_DIMS(4, 5)))
BUILD(seen_mirrored, eddy_image_transform(x[0], map_of(g), BILINEAR, .fill_mode = "REFLECT"))
BUILD(seen_wrapped, eddy_image_transform(x[0], map_of(g), BILINEAR, .fill_mode = "WRAP"))
/* The size of dy is one that no test changes. */
BUILD(seen_large, eddy_image_transform(x[0], map_of(g), BILINEAR, .size = EDDY_DIMS(8, 9)))
BUILD(seen_grad, backwards(seen_large(g, x), x[0], x[1]))

/* Images of known rank, and of known sizes. */
#define RANK_4 eddy_set_shape(x[0], EDDY_SHAPE(EDDY_ANY, EDDY_ANY, EDDY_ANY, EDDY_ANY))
#define KNOWN(t) eddy_set_shape(t, EDDY_SHAPE(EDDY_ANY, 5, 4, 3))
BUILD(flipped, eddy_flip_left_right(x[0]))
BUILD(flopped, eddy_flip_up_down(x[0]))
BUILD(transposed, eddy_transpose_image(RANK_4))
BUILD(box, eddy_crop_to_bounding_box(RANK_4, 1, 0, 2, 3))
BUILD(framed, eddy_pad_to_bounding_box(KNOWN(x[0]), 1, 2, 7, 6))
BUILD(central, eddy_central_crop(KNOWN(x[0]), 0.5))
BUILD(fitted, eddy_resize_with_crop_or_pad(KNOWN(x[0]), 3, 6))
BUILD(images_area, eddy_resize_images(RANK_4, EDDY_DIMS(3, 3), "area"))
BUILD(images_one, eddy_resize_images(eddy_set_shape(x[0], EDDY_SHAPE(5, 4, 3)), EDDY_DIMS(8, 20),
                                     .preserve_aspect_ratio = true))
BUILD(images_pad, eddy_resize_image_with_pad(KNOWN(x[0]), 3, 6, "bicubic"))

BUILD(box_to, eddy_crop_to_bounding_box_to(RANK_4, NUMBER_TO(1), NUMBER_TO(0), HEIGHT_TO(-3),
                                           WIDTH_TO(-1)))
BUILD(framed_to, eddy_pad_to_bounding_box_to(RANK_4, NUMBER_TO(1), NUMBER_TO(2), HEIGHT_TO(2),
                                             WIDTH_TO(2)))
BUILD(fitted_to, eddy_resize_with_crop_or_pad_to(RANK_4, HEIGHT_TO(-2), WIDTH_TO(2)))
BUILD(images_to, eddy_resize_images_to(RANK_4, SIZE_TO(-2, -1), "area"))
BUILD(images_to_one, eddy_resize_images_to(eddy_set_shape(x[0], EDDY_SHAPE(5, 4, 3)),
                                           INTS(EDDY_SHAPE(2), 8, 20),
                                           .preserve_aspect_ratio = true))
BUILD(images_pad_to, eddy_resize_image_with_pad_to(RANK_4, HEIGHT_TO(-2), WIDTH_TO(2), "bicubic"))

static eddy_tensor glimpse_to(eddy_graph *g, const eddy_tensor *x)
{
    const double at[] = { 0.3, -0.2, -0.9, 0.8 };
    return eddy_extract_glimpse_to(x[0], SIZE_TO(-2, -2), eddy_const(g, EDDY_FLOAT64,
                                   EDDY_SHAPE(2, 2), at), .noise = "zero");
}

static eddy_tensor glimpse(eddy_graph *g, const eddy_tensor *x)
{
    const double at[] = { 0.3, -0.2, -0.9, 0.8 };
    return eddy_extract_glimpse(x[0], EDDY_DIMS(3, 2), eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(2, 2),
                                at), .noise = "zero");
}

/* Each column of pixels has channels in another order, far apart. */
static eddy_tensor apart(eddy_graph *g, eddy_tensor x, const double *v)
{
    return Add(x, Cast(eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(3, 3), v), eddy_dtype_of(x)));
}
#define RGB apart(g, x[0], (const double[]){ 0.2, 1.2, 0.5, 1.2, 0.5, 0.2, 0.5, 0.2, 1.2 })
#define HSV apart(g, x[0], (const double[]){ 0.22, 0.5, 0.7, 0.4, 0.6, 0.5, 0.57, 0.3, 0.9 })
#define RANK_3 eddy_set_shape(x[0], EDDY_SHAPE(EDDY_ANY, EDDY_ANY, 3))
#define NUMBER(v) NumberLike(v, x[0])
BUILD(converted, eddy_convert_image_dtype(x[0], eddy_dtype_of(x[0])))
BUILD(gray, eddy_rgb_to_grayscale(x[0]))
BUILD(colored, eddy_grayscale_to_rgb(eddy_rgb_to_grayscale(x[0])))
BUILD(yiq, eddy_rgb_to_yiq(x[0]))
BUILD(yiq_back, eddy_yiq_to_rgb(x[0]))
BUILD(yuv, eddy_rgb_to_yuv(x[0]))
BUILD(yuv_back, eddy_yuv_to_rgb(x[0]))
BUILD(hsv, eddy_rgb_to_hsv(RGB))
BUILD(hsv_back, eddy_hsv_to_rgb(HSV))
BUILD(brighter, eddy_adjust_brightness(x[0], NUMBER(0.3)))
BUILD(contrast, eddy_adjust_contrast(x[0], x[1]))
BUILD(gamma_, eddy_adjust_gamma(x[0], x[1], NUMBER(1.5)))
BUILD(hue, eddy_adjust_hue(RGB, NUMBER(0.2)))
BUILD(saturation, eddy_adjust_saturation(RGB, NUMBER(0.7)))
BUILD(standard, eddy_per_image_standardization(x[0]))

/* Another number at each run, which leaves differences alone. */
static eddy_tensor by_chance(eddy_tensor x, eddy_tensor drawn)
{
    return Add(Mul(x, 2), Mul(0, Sum(drawn)));
}
#define STILL StopGradient(x[0])
BUILD(random_flip, by_chance(x[0], eddy_random_flip_left_right(STILL)))
BUILD(random_flop, by_chance(x[0], eddy_random_flip_up_down(STILL, .seed = 4)))
BUILD(random_crop, by_chance(x[0], eddy_random_crop(StopGradient(RANK_3), EDDY_DIMS(2, 3, 3))))
BUILD(random_crop_to, by_chance(x[0], eddy_random_crop_to(StopGradient(RANK_3),
                                Sub(eddy_shape_tensor(x[0], EDDY_INT32), 1))))
BUILD(random_brightness, by_chance(x[0], eddy_random_brightness(STILL, 0.2)))
BUILD(random_contrast, by_chance(x[0], eddy_random_contrast(STILL, 0.5, 1.5, 7)))
BUILD(random_saturation, by_chance(x[0], eddy_random_saturation(STILL, 0.5, 1.5)))
BUILD(random_hue, by_chance(x[0], eddy_random_hue(STILL, 0.1)))

#define SMALL(t) eddy_set_shape(t, EDDY_SHAPE(EDDY_ANY, EDDY_ANY, EDDY_ANY, 2))
BUILD(variation, eddy_total_variation(x[0]))
BUILD(steps, eddy_image_gradients(RANK_4))
BUILD(edges, eddy_sobel_edges(RANK_4))
BUILD(noise, eddy_psnr(x[0], x[1], 4))
BUILD(ssim, eddy_ssim(SMALL(x[0]), SMALL(x[1]), 4, .filter_size = 3))
BUILD(ssim_scales, eddy_ssim_multiscale(SMALL(x[0]), SMALL(Add(x[0], x[1])), 4, .filter_size = 2,
                                        .scales = 2, .k1 = 0.1, .k2 = 0.3,
                                        .power_factors = (const double[]){ 0.4, 0.6 }))
BUILD(best, eddy_non_max_suppression(x[0], x[1], 3, 0.3))
BUILD(best_soft, eddy_non_max_suppression(x[0], x[1], 3, 1, -1, .soft_nms_sigma = 0.5))

#define RESIZED(type, option, fn) OP_KEEP(type, option, fn, 1, KEEP(4, 3), S(2, 3, 4, 2))
#define GRAD(type, fn)                                                          \
    { .op = type, .build = fn, .n = 2, .constant = 1, .keep = { 3, 4, 5 },      \
      .shape = { S(2, 3, 4, 2), S(2, 5, 3, 2) } }

#define GRAD_TO(type, fn)                                                       \
    { .op = type, .how = "a tensor", .build = fn, .n = 2, .constant = 1,        \
      .keep = { 3, 4, 5 }, .shape = { S(2, 3, 4, 2), S(2, 5, 3, 2) } }

#define CROP(type, option, fn, none)                                            \
    { .op = type, .how = option, .build = fn, .n = 2, .constant = none,         \
      .shape = { S(2, 4, 5, 6), S(3, 4) }, .low = { -2, -0.004 }, .high = { 2, 0.004 }, \
      .keep = { 2, 3, 4, 5 } }

#define COLOR(type, option, fn, from, to)                                      \
    { .op = type, .how = option, .build = fn, .n = 1, .shape = { S(4, 3, 3) },  \
      .low = { from }, .high = { to }, .options = SWEEP_REAL, .keep = { 3 } }
#define CHANCE(option, fn)                                                      \
    { .op = "Add", .how = option, .build = fn, .n = 1, .shape = { S(4, 5, 3) }, \
      .low = { 0 }, .high = { 1 }, .options = SWEEP_RANDOM | SWEEP_REAL, .keep = { 3, 4, 5 } }

static const sweep_row rows[] = {
    RESIZED("ResizeNearestNeighbor", "", nearest),
    RESIZED("ResizeNearestNeighbor", "corners", nearest_corners),
    RESIZED("ResizeBilinear", "", bilinear),
    RESIZED("ResizeBilinear", "corners", bilinear_corners),
    RESIZED("ResizeBilinear", "centers", bilinear_centers),
    RESIZED("ResizeBicubic", "", bicubic),
    RESIZED("ResizeBicubic", "centers", bicubic_centers),
    RESIZED("ResizeArea", "", area),
    GRAD("ResizeNearestNeighborGrad", nearest_grad),
    GRAD("ResizeBilinearGrad", bilinear_grad),
    GRAD("ResizeBicubicGrad", bicubic_grad),
    GRAD("ResizeAreaGrad", area_grad),
    RESIZED("ResizeNearestNeighbor", "a tensor", nearest_to),
    RESIZED("ResizeBilinear", "a tensor", bilinear_to),
    RESIZED("ResizeBicubic", "a tensor", bicubic_to),
    RESIZED("ResizeArea", "a tensor", area_to),
    GRAD_TO("ResizeNearestNeighborGrad", nearest_to_grad),
    GRAD_TO("ResizeBilinearGrad", bilinear_to_grad),
    GRAD_TO("ResizeBicubicGrad", bicubic_to_grad),
    GRAD_TO("ResizeAreaGrad", area_to_grad),
    OP("ImageProjectiveTransformV3", "", seen, 1, S(2, 5, 4, 3)),
    OP("ImageProjectiveTransformV3", "bilinear", seen_between, 1, S(2, 5, 4, 3)),
    OP("ImageProjectiveTransformV3", "reflect", seen_mirrored, 1, S(2, 5, 4, 3)),
    OP("ImageProjectiveTransformV3", "wrap", seen_wrapped, 1, S(2, 5, 4, 3)),
    { .op = "ImageProjectiveTransformGrad", .build = seen_grad, .n = 2, .constant = 1,
      .shape = { S(2, 3, 4, 1), S(2, 8, 9, 1) } },
    CROP("CropAndResize", "", crop, 0),
    CROP("CropAndResize", "one row", crop_one, 0),
    CROP("CropAndResize", "nearest", crop_nearest, 2),
    CROP("CropAndResize", "a tensor", crop_to, 0),
    CROP("CropAndResize", "a tensor, one row", crop_to_one, 0),
    { .op = "CropAndResizeGradImage", .how = "a tensor", .build = crop_to_image, .n = 3,
      .constant = 1, .shape = { S(2, 4, 5, 1), S(3, 4), S(3, 3, 2, 1) },
      .low = { -2, -0.004, -2 }, .high = { 2, 0.004, 2 }, .keep = { 2, 3, 4, 5 } },
    { .op = "CropAndResizeGradImage", .build = crop_image, .n = 3, .constant = 1,
      .shape = { S(2, 4, 5, 1), S(3, 4), S(3, 3, 2, 1) }, .low = { -2, -0.004, -2 },
      .high = { 2, 0.004, 2 }, .keep = { 2, 3, 4, 5 } },

    OP("ReverseV2", "flip_left_right", flipped, 1, S(2, 4, 5, 3)),
    OP("ReverseV2", "flip_up_down", flopped, 1, S(4, 5, 3)),
    OP("Transpose", "transpose_image", transposed, 1, S(2, 4, 5, 3)),
    OP_KEEP("Slice", "crop_to_bounding_box", box, 1, KEEP(5, 4), S(2, 5, 4, 3)),
    OP_KEEP("PadV2", "pad_to_bounding_box", framed, 1, KEEP(5, 4, 3), S(2, 5, 4, 3)),
    OP_KEEP("Slice", "central_crop", central, 1, KEEP(5, 4, 3), S(2, 5, 4, 3)),
    OP_KEEP("PadV2", "resize_with_crop_or_pad", fitted, 1, KEEP(5, 4, 3), S(2, 5, 4, 3)),
    OP_KEEP("ResizeArea", "resize_images", images_area, 1, KEEP(5, 4), S(2, 5, 4, 3)),
    OP_KEEP("ResizeBilinear", "resize_images, one", images_one, 1, KEEP(5, 4, 3), S(5, 4, 3)),
    OP_KEEP("ResizeBicubic", "resize_image_with_pad", images_pad, 1, KEEP(5, 4, 3), S(2, 5, 4, 3)),
    OP_KEEP("Identity", "crop_to_bounding_box_to", box_to, 1, KEEP(5, 4), S(2, 5, 4, 3)),
    OP_KEEP("Identity", "pad_to_bounding_box_to", framed_to, 1, KEEP(5, 4), S(2, 5, 4, 3)),
    OP_KEEP("Identity", "resize_with_crop_or_pad_to", fitted_to, 1, KEEP(5, 4), S(2, 5, 4, 3)),
    OP_KEEP("ResizeArea", "resize_images_to", images_to, 1, KEEP(5, 4), S(2, 5, 4, 3)),
    OP_KEEP("ResizeBilinear", "resize_images_to, one", images_to_one, 1, KEEP(5, 4, 3),
            S(5, 4, 3)),
    OP_KEEP("ResizeBicubic", "resize_image_with_pad_to", images_pad_to, 1, KEEP(5, 4, 3),
            S(2, 5, 4, 3)),
    OP_KEEP("GatherV2", "extract_glimpse_to", glimpse_to, 1, KEEP(2, 5, 4), S(2, 5, 4, 3)),
    OP_KEEP("GatherV2", "extract_glimpse", glimpse, 1, KEEP(2, 5, 4), S(2, 5, 4, 3)),

    OP_REAL("Identity", "convert_image_dtype", converted, 1, KEEP(0), S(3, 4)),
    COLOR("Mul", "rgb_to_grayscale", gray, -2, 2),
    COLOR("ConcatV2", "grayscale_to_rgb", colored, -2, 2),
    COLOR("BatchMatMulV2", "rgb_to_yiq", yiq, -2, 2),
    COLOR("BatchMatMulV2", "yiq_to_rgb", yiq_back, -2, 2),
    COLOR("BatchMatMulV2", "rgb_to_yuv", yuv, -2, 2),
    COLOR("BatchMatMulV2", "yuv_to_rgb", yuv_back, -2, 2),
    COLOR("DivNoNan", "rgb_to_hsv", hsv, 0, 0.05),
    COLOR("Minimum", "hsv_to_rgb", hsv_back, 0, 0.05),
    OP_REAL("Add", "adjust_brightness", brighter, 1, KEEP(0), S(4, 2, 3)),
    OP_REAL("Mean", "adjust_contrast", contrast, 2, KEEP(0), S(4, 2, 3), S(1)),
    { .op = "Pow", .how = "adjust_gamma", .build = gamma_, .n = 2, .shape = { S(4, 2, 3), S(1) },
      .low = { 0.5, 1.5 }, .high = { 1, 2 }, .options = SWEEP_REAL },
    COLOR("FloorMod", "adjust_hue", hue, 0, 0.05),
    COLOR("Minimum", "adjust_saturation", saturation, 0, 0.05),
    OP_REAL("Rsqrt", "per_image_standardization", standard, 1, KEEP(4, 3), S(2, 4, 3, 3)),

    CHANCE("random_flip_left_right", random_flip),
    CHANCE("random_flip_up_down", random_flop),
    CHANCE("random_crop", random_crop),
    CHANCE("random_crop_to", random_crop_to),
    CHANCE("random_brightness", random_brightness),
    CHANCE("random_contrast", random_contrast),
    CHANCE("random_saturation", random_saturation),
    CHANCE("random_hue", random_hue),

    OP_REAL("Abs", "total_variation", variation, 1, KEEP(0), S(2, 5, 4, 3)),
    OP_KEEP("StridedSlice", "image_gradients", steps, 1, KEEP(5, 4), S(2, 5, 4, 3)),
    OP_KEEP("MirrorPad", "sobel_edges", edges, 1, KEEP(5, 4), S(2, 5, 4, 3)),
    { .op = "Log", .how = "psnr", .build = noise, .n = 2, .shape = { S(2, 3, 4, 5), S(1, 3, 4, 5) },
      .low = { -2, 1 }, .high = { 0, 2 }, .options = SWEEP_REAL, .keep = { 3, 4, 5 } },
    { .op = "DepthwiseConv2dNative", .how = "ssim", .build = ssim, .n = 2, .keep = { 5, 4, 2 },
      .shape = { S(1, 5, 4, 2), S(1, 5, 4, 2) }, .low = { 0.5, 0.5 }, .high = { 2, 2 } },
    { .op = "AvgPool", .how = "ssim_multiscale", .build = ssim_scales, .n = 2, .keep = { 5, 4, 2 },
      .shape = { S(1, 5, 4, 2), S(1, 5, 4, 2) }, .low = { 0.5, 0.1 }, .high = { 2, 0.3 } },
    OP_KEEP("NonMaxSuppressionV5", "", best, 2, KEEP(4), S(6, 4), S(6)),
    OP_KEEP("NonMaxSuppressionV5", "soft", best_soft, 2, KEEP(4), S(2, 6, 4), S(2, 6)),
};
FAMILY_OF_ROWS(images, rows);
