/* images.c -- resizing, crops and boxes. */
#include "../build.h"
#include "../../../ops/short_names.h"

typedef eddy_tensor (*resizer)(const eddy_resize_args *);
typedef eddy_tensor (*resizer_to)(const eddy_resize_to_args *);

/* Results of the nearest neighbor have the type of x, others float32. */
static bool resize(tf_build *b)
{
    static const resizer f[] = { eddy_resize_bilinear_with, eddy_resize_nearest_neighbor_with,
                                 eddy_resize_bicubic_with, eddy_resize_area_with };
    static const resizer_to f_to[] = { eddy_resize_bilinear_to_with,
                                       eddy_resize_nearest_neighbor_to_with,
                                       eddy_resize_bicubic_to_with, eddy_resize_area_to_with };
    const bool corners = eddy__tf_flag(b, "align_corners"),
               centers = eddy__tf_flag(b, "half_pixel_centers");
    const eddy_tensor x = eddy__tf_in(b, 0);
    if (!eddy__tf_has(b, 1) || eddy__tf_array_of(b, b->in[1])) {
        eddy_dims size;
        if (!eddy__tf_dims_in(b, 1, "the size", &size)) return false;
        return eddy__tf_put(b, 0, f[b->op->variant](&(eddy_resize_args){
                                      eddy_resize_args_DEFAULTS .size_ = sizeof(eddy_resize_args),
                                      .x = x, .size = size, .align_corners = corners,
                                      .half_pixel_centers = centers }));
    }
    return eddy__tf_put(b, 0, f_to[b->op->variant](&(eddy_resize_to_args){
                                  eddy_resize_to_args_DEFAULTS .size_ = sizeof(eddy_resize_to_args),
                                  .x = x, .size = eddy__tf_in(b, 1), .align_corners = corners,
                                  .half_pixel_centers = centers }));
}

static bool crop_and_resize(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0), boxes = eddy__tf_in(b, 1), at = eddy__tf_in(b, 2);
    eddy_dims         size;
    return eddy__tf_dims_in(b, 3, "the size", &size) &&
           eddy__tf_put(b, 0, eddy_crop_and_resize(
                                  x, boxes, at, size, eddy__tf_text(b, "method", "bilinear"),
                                  eddy__tf_float(b, "extrapolation_value", 0)));
}

static bool threshold(tf_build *b, int i, const char *what, double *value)
{
    const eddy_array *a = b->n_in > i ? eddy__tf_need(b, i, what) : NULL;
    if (a && eddy_array_count(a) == 1) *value = eddy_array_item(a);
    return a || b->n_in <= i;
}

/* V2 and V3 yield the boxes that are selected; V4 and V5 may fill up the list with 0. */
static bool suppress(tf_build *b)
{
    const int         v = b->op->variant;
    const eddy_tensor boxes = eddy__tf_in(b, 0), scores = eddy__tf_in(b, 1);
    double            iou = 0.5, score = EDDY_OMITTED, sigma = 0;
    int64_t           most;
    if (!eddy__tf_number_in(b, 2, "the number of boxes", &most) ||
        !threshold(b, 3, "the overlap", &iou) || !threshold(b, 4, "the least score", &score) ||
        !threshold(b, 5, "sigma", &sigma))
        return false;
    const eddy_array *n = eddy_constant_value(scores);
    const int64_t     boxes_n = n ? eddy_array_count(n) : eddy_shape_count(eddy_shape_of(scores));
    if (boxes_n >= 0 && most > boxes_n && !eddy__tf_flag(b, "pad_to_max_output_size"))
        most = boxes_n;
    if (score <= -3e38) score = EDDY_OMITTED;
    const eddy_tensor y = eddy_non_max_suppression(
        boxes, scores, most, iou, .score_threshold = score, .soft_nms_sigma = sigma);
    const eddy_tensor count = eddy_output(y, 2), s = eddy_output(y, 1);
    if (v >= 4 && eddy__tf_flag(b, "pad_to_max_output_size"))
        return eddy__tf_put_as(b, 0, Maximum(y, 0), TF_INT32) &&
               (v == 4 ? eddy__tf_put_as(b, 1, count, TF_INT32)
                       : eddy__tf_put(b, 1, s) && eddy__tf_put_as(b, 2, count, TF_INT32));
    const eddy_tensor zero = Reshape(ZerosLike(count), EDDY_SHAPE(1)),
                      size = Reshape(count, EDDY_SHAPE(1));
    if (!eddy__tf_put_as(b, 0, eddy_slice_to(y, zero, size), TF_INT32)) return false;
    if (v == 4) return eddy__tf_put_as(b, 1, count, TF_INT32);
    return v < 5 || (eddy__tf_put(b, 1, eddy_slice_to(s, zero, size)) &&
                     eddy__tf_put_as(b, 2, count, TF_INT32));
}

static bool adjust(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0), by = eddy__tf_in(b, 1);
    return eddy__tf_put(b, 0, b->op->variant == 0 ? eddy_adjust_contrast(x, by)
                              : b->op->variant == 1 ? eddy_adjust_hue(x, by)
                                                    : eddy_adjust_saturation(x, by));
}

const tf_operator eddy__tf_images[] = {
    { "AdjustContrastv2", adjust },
    { "AdjustHue", adjust, .variant = 1 },
    { "AdjustSaturation", adjust, .variant = 2 },
    { "CropAndResize", crop_and_resize },
    { "HSVToRGB", .one = eddy_hsv_to_rgb },
    { "NonMaxSuppressionV2", suppress, .variant = 2 },
    { "NonMaxSuppressionV3", suppress, .variant = 3 },
    { "NonMaxSuppressionV4", suppress, .variant = 4 },
    { "NonMaxSuppressionV5", suppress, .variant = 5 },
    { "RGBToHSV", .one = eddy_rgb_to_hsv },
    { "ResizeArea", resize, .variant = 3 },
    { "ResizeBicubic", resize, .variant = 2 },
    { "ResizeBilinear", resize },
    { "ResizeNearestNeighbor", resize, .variant = 1 },
    { NULL },
};
