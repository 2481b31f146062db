/* flip_crop_pad.c -- image flips, cropping, padding and resizing to given sizes; composed of
 * other operations. */
#include "ops/images/images.h"
#include "graph/call_options.h"
#include "graph/internal.h"
#include "graph/base/dtype.h"
#include "ops/short_names.h"

#include <math.h>
#include <string.h>

/* --------------------------------------------------------------- flips -- */

/** y = images flipped horizontally.
 *
 *  x  any element type, [..., height, width, channels]
 *
 *  Errors: EDDY_BAD_SHAPE for a rank below 3.
 *  Gradient: dx = dy flipped likewise.  TensorFlow: tf.image.flip_left_right. */
eddy_tensor eddy_flip_left_right(eddy_tensor x)
{
    if (!eddy__is_image("flip_left_right", x)) return eddy_none(x.graph);
    return eddy_reverse(x, EDDY_AXES(-2));
}

/** y = images flipped vertically.
 *
 *  x  any element type, [..., height, width, channels]
 *
 *  Errors: EDDY_BAD_SHAPE for a rank below 3.
 *  Gradient: dx = dy flipped likewise.  TensorFlow: tf.image.flip_up_down. */
eddy_tensor eddy_flip_up_down(eddy_tensor x)
{
    if (!eddy__is_image("flip_up_down", x)) return eddy_none(x.graph);
    return eddy_reverse(x, EDDY_AXES(-3));
}

/** y = images with rows and columns exchanged.  eddy_rot90(x, k, -3, -2) rotates images by quarter
 *  turns.
 *
 *  x  any element type, [..., height, width, channels], rank known
 *
 *  Errors: EDDY_BAD_SHAPE for a rank that is below 3 or unknown.
 *  Gradient: dx = dy transposed likewise.  TensorFlow: tf.image.transpose_image. */
eddy_tensor eddy_transpose_image(eddy_tensor x)
{
    if (!eddy__has_image_rank("transpose_image", x)) return eddy_none(x.graph);
    return eddy_swapaxes(x, -3, -2);
}

/* -------------------------------------------------------- crops and pads -- */

/* Checks images, whose height and width must be known. */
static bool has_size(const char *who, eddy_tensor x, int64_t *height, int64_t *width)
{
    char text[128];
    if (!eddy__has_image_rank(who, x)) return false;
    const eddy_shape s = eddy_shape_of(x);
    *height = s.dim[s.rank - 3];
    *width = s.dim[s.rank - 2];
    if (*height > 0 && *width > 0) return true;
    return eddy_fail(x.graph, EDDY_BAD_SHAPE,
                     "%s: images have shape %s; height and width must be known and positive", who,
                     eddy_shape_print(s, text, sizeof text)),
           false;
}

/* A list for a tensor of this rank with two entries for height and width. */
static eddy_dims height_width(int rank, int64_t height, int64_t width, int64_t others)
{
    eddy_dims d = { .count = rank };
    for (int i = 0; i < rank; i++)
        d.at[i] = i == rank - 3 ? height : i == rank - 2 ? width : others;
    return d;
}

/* Checks that both numbers are in [least, 2^31). */
static bool check_pair(const char *who, eddy_tensor x, int64_t least, int64_t a, int64_t b)
{
    if (a >= least && a <= INT32_MAX && b >= least && b <= INT32_MAX) return true;
    return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT,
                     "%s: %lld and %lld must be at least %lld and fit in int32", who, (long long)a,
                     (long long)b, (long long)least),
           false;
}

static eddy_tensor cropped(eddy_tensor x, int64_t top, int64_t left, int64_t height, int64_t width)
{
    const int rank = eddy_shape_of(x).rank;
    return eddy_slice(x, height_width(rank, top, left, 0), height_width(rank, height, width, -1));
}

/** y = x[..., offset_height : offset_height + height, offset_width : offset_width + width, :].
 *
 *  x  any element type, [..., height, width, channels], rank known
 *  offset_height, offset_width  the upper left corner of the box, not negative
 *  height, width                the size of the box, positive; the box must lie inside x
 *
 *  Errors: EDDY_BAD_SHAPE for an invalid x or box, EDDY_INVALID_ARGUMENT for invalid numbers.
 *  Gradient: dx = zeros like x with dy in the box.  TensorFlow: tf.image.crop_to_bounding_box. */
eddy_tensor eddy_crop_to_bounding_box(eddy_tensor x, int64_t offset_height, int64_t offset_width,
                                      int64_t height, int64_t width)
{
    const char *who = "crop_to_bounding_box";
    if (!eddy__has_image_rank(who, x) || !check_pair(who, x, 0, offset_height, offset_width) ||
        !check_pair(who, x, 1, height, width))
        return eddy_none(x.graph);
    return cropped(x, offset_height, offset_width, height, width);
}

/** y = images of this height and width with x at an offset, and zeros around it.
 *
 *  x  a type that eddy_pad takes, [..., height, width, channels], height and width known
 *  offset_height, offset_width  the upper left corner of x in y, not negative
 *  height, width                the size of y, positive; x must fit inside y
 *
 *  Errors: EDDY_BAD_SHAPE for an invalid x, EDDY_INVALID_ARGUMENT if x does not fit or for invalid
 *  numbers.
 *  Gradient: dx = the part of dy that corresponds to x.
 *  TensorFlow: tf.image.pad_to_bounding_box. */
eddy_tensor eddy_pad_to_bounding_box(eddy_tensor x, int64_t offset_height, int64_t offset_width,
                                     int64_t height, int64_t width)
{
    const char *who = "pad_to_bounding_box";
    int64_t h, w;
    if (!has_size(who, x, &h, &w) ||
        !check_pair(who, x, 0, offset_height, offset_width) ||
        !check_pair(who, x, 1, height, width))
        return eddy_none(x.graph);
    const int64_t below = height - offset_height - h, right = width - offset_width - w;
    if (below < 0 || right < 0)
        return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT,
                         "%s: a box of %lld by %lld at %lld, %lld does not fit in %lld by %lld",
                         who, (long long)h, (long long)w, (long long)offset_height,
                         (long long)offset_width, (long long)height, (long long)width);
    const int rank = eddy_shape_of(x).rank;
    return eddy_pad(x, height_width(rank, offset_height, offset_width, 0),
                    height_width(rank, below, right, 0));
}

/** y = the center of images: this fraction of their height and of their width.
 *
 *  x         any element type, [..., height, width, channels], height and width known
 *  fraction  in (0, 1]; the part cropped on each side is rounded down
 *
 *  Errors: EDDY_BAD_SHAPE for an invalid x, EDDY_INVALID_ARGUMENT for an invalid fraction.
 *  Gradient: dx = zeros like x with dy in the middle.  TensorFlow: tf.image.central_crop. */
eddy_tensor eddy_central_crop(eddy_tensor x, double fraction)
{
    int64_t h, w;
    if (!has_size("central_crop", x, &h, &w)) return eddy_none(x.graph);
    if (!(fraction > 0 && fraction <= 1))
        return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "central_crop: the fraction %g is not in "
                         "(0, 1]", fraction);
    const int64_t top = (int64_t)(((double)h - (double)h * fraction) / 2);
    const int64_t left = (int64_t)(((double)w - (double)w * fraction) / 2);
    return cropped(x, top, left, h - 2 * top, w - 2 * left);
}

/** y = images of this height and width with the same center as x: x is cropped where it is
 *  larger, and padded with zeros where it is smaller.
 *
 *  x              a type that eddy_pad takes, [..., height, width, channels], height and width
 *                 known
 *  height, width  positive
 *
 *  Errors: EDDY_BAD_SHAPE for an invalid x, EDDY_INVALID_ARGUMENT for invalid sizes.
 *  Gradient: dx = the part of dy that corresponds to x, and 0 where x was cropped.
 *  TensorFlow: tf.image.resize_image_with_crop_or_pad. */
eddy_tensor eddy_resize_with_crop_or_pad(eddy_tensor x, int64_t height, int64_t width)
{
    const char *who = "resize_with_crop_or_pad";
    int64_t h, w;
    if (!has_size(who, x, &h, &w) || !check_pair(who, x, 1, height, width))
        return eddy_none(x.graph);
    const int64_t top = h > height ? (h - height) / 2 : 0, left = w > width ? (w - width) / 2 : 0;
    x = cropped(x, top, left, h < height ? h : height, w < width ? w : width);
    return eddy_pad_to_bounding_box(x, height > h ? (height - h) / 2 : 0,
                                    width > w ? (width - w) / 2 : 0, height, width);
}

/* --------------------------------------------------------------- resizing -- */

#ifdef EDDY_HEADER
typedef struct eddy_resize_images_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_resize_images_args));
    eddy_tensor x;
    eddy_dims   size;              /* height and width */
    const char *method;            /* "bilinear" (default), "nearest", "bicubic", "area" */
    bool        align_corners, preserve_aspect_ratio;
} eddy_resize_images_args;
#endif

static eddy_tensor resize_by(const eddy_resize_images_args *a, eddy_tensor x, eddy_dims size)
{
    const char *m = a->method ? a->method : "bilinear";
    if (strcmp(m, "bilinear") == 0) return eddy_resize_bilinear(x, size, a->align_corners);
    if (strcmp(m, "nearest") == 0) return eddy_resize_nearest_neighbor(x, size, a->align_corners);
    if (strcmp(m, "bicubic") == 0) return eddy_resize_bicubic(x, size, a->align_corners);
    if (strcmp(m, "area") == 0) return eddy_resize_area(x, size, a->align_corners);
    return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "resize_images: method is '%.40s'; it must be "
                     "bilinear, nearest, bicubic or area", m);
}

/** y = one image or several, resized.
 *
 *  x                      as required by the method, [height, width, channels] or
 *                         [batch, height, width, channels]
 *  size                   height and width of y
 *  method                 "bilinear" (default), "nearest", "bicubic" or "area":
 *                         eddy_resize_bilinear, ...
 *  align_corners          as for the method
 *  preserve_aspect_ratio  y is the largest image that fits in the size and has the aspect ratio
 *                         of x, whose height and width must be known
 *
 *  Images that already have the size are returned unchanged, with their own type.
 *  Errors: EDDY_BAD_SHAPE for an invalid x; those of the method.
 *  Gradient: that of the method.  TensorFlow: tf.image.resize_images. */
eddy_tensor eddy_resize_images_with(const eddy_resize_images_args *given)
{
    eddy_resize_images_args a = EDDY_TAKE(eddy_resize_images_args, given);
    const char *who = "resize_images";
    const eddy_tensor none = eddy_none(a.x.graph);
    if (!eddy__has_image_rank(who, a.x)) return none;
    const eddy_shape s = eddy_shape_of(a.x);
    int64_t h = s.dim[s.rank - 3], w = s.dim[s.rank - 2];
    if (s.rank > 4 || a.size.count != 2) {
        char text[128];
        return eddy_fail(a.x.graph, EDDY_BAD_SHAPE, "%s: images have shape %s and the number "
                         "of entries of size is %d; rank 3 or 4 and 2 entries expected", who,
                         eddy_shape_print(s, text, sizeof text), a.size.count);
    }
    if (a.preserve_aspect_ratio) {
        if (!has_size(who, a.x, &h, &w) ||
            !check_pair(who, a.x, 1, a.size.at[0], a.size.at[1]))
            return none;
        /* In float32, like TensorFlow: a half may round the other way. */
        const float scale = fminf((float)a.size.at[0] / (float)h, (float)a.size.at[1] / (float)w);
        a.size = EDDY_DIMS((int64_t)rintf(scale * (float)h), (int64_t)rintf(scale * (float)w));
    }
    if (h > 0 && h == a.size.at[0] && w == a.size.at[1]) return Identity(a.x);
    if (s.rank == 4) return resize_by(&a, a.x, a.size);
    return Squeeze(resize_by(&a, ExpandDims(a.x, 0), a.size), EDDY_AXES(0));
}

/** y = images resized to fit in this size with their aspect ratio preserved, centered, with zeros
 *  around them.
 *
 *  x              as for eddy_resize_images, height and width known
 *  height, width  positive
 *  method         as for eddy_resize_images; NULL: "bilinear"
 *
 *  Errors: as for eddy_resize_images and eddy_pad_to_bounding_box.
 *  Gradient: that of the method.  TensorFlow: tf.image.resize_image_with_pad. */
eddy_tensor eddy_resize_image_with_pad(eddy_tensor x, int64_t height, int64_t width,
                                       const char *method)
{
    const char *who = "resize_image_with_pad";
    int64_t h, w;
    if (!has_size(who, x, &h, &w) || !check_pair(who, x, 1, height, width) ||
        !check_pair(who, x, 1, h, w))
        return eddy_none(x.graph);
    const int64_t   spare = h * width - w * height;      /* in width if positive, else in height */
    const eddy_dims size = spare >= 0 ? EDDY_DIMS(height, w * height / h)
                                      : EDDY_DIMS(h * width / w, width);
    const int64_t   top = spare >= 0 ? 0 : -spare / (2 * w);
    const int64_t   left = spare >= 0 ? spare / (2 * h) : 0;
    return eddy_pad_to_bounding_box(eddy_resize_images(x, size, method), top, left, height, width);
}

/* ----------------------------------------------------------------- tools -- */

bool eddy__is_image(const char *who, eddy_tensor x)
{
    char text[128];
    const eddy_shape s = eddy_is_valid(x) ? eddy_shape_of(x) : EDDY_UNKNOWN_SHAPE;
    if (!eddy_is_valid(x))
        return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "%s: images is not a valid tensor",
                         who), false;
    if (s.rank < 0 || s.rank > 2) return true;
    return eddy_fail(x.graph, EDDY_BAD_SHAPE, "%s: images have shape %s; [..., height, width, "
                     "channels] expected", who, eddy_shape_print(s, text, sizeof text)), false;
}

bool eddy__has_image_rank(const char *who, eddy_tensor x)
{
    if (!eddy__is_image(who, x)) return false;
    return eddy_shape_of(x).rank > 2 ||
        (eddy_fail(x.graph, EDDY_BAD_SHAPE, "%s: the rank of '%.200s' is unknown", who,
                   eddy_name_of(x)), false);
}

bool eddy__has_channels(const char *who, eddy_tensor x, int64_t channels)
{
    char text[128];
    const eddy_shape s = eddy_is_valid(x) ? eddy_shape_of(x) : EDDY_SCALAR;
    const int64_t last = s.rank > 0 ? s.dim[s.rank - 1] : EDDY_ANY;
    if (!eddy_is_valid(x)) return eddy__is_image(who, x);
    if (s.rank != 0 && (last == EDDY_ANY || last == channels)) return true;
    return eddy_fail(x.graph, EDDY_BAD_SHAPE, "%s: images have shape %s; [..., %lld] expected",
                     who, eddy_shape_print(s, text, sizeof text), (long long)channels), false;
}

bool eddy__is_size_tensor(const char *who, eddy_tensor x, eddy_tensor size, int64_t n)
{
    const bool valid = eddy_is_valid(size);
    const eddy_type t = { valid ? eddy_dtype_of(size) : EDDY_BOOL, eddy_shape_of(size) };
    const eddy_array *known = valid ? eddy_constant_value(size) : NULL;
    char text[256];
    if (!eddy__dtype_is_index(t.dtype) ||
        !eddy_shape_compatible(t.shape, EDDY_SHAPE(n)))
        return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "%s: the size is %s; int32 or int64 of "
                         "shape [%lld] expected", who,
                         valid ? eddy_type_print(t, text, sizeof text) : "not a valid tensor",
                         (long long)n), false;
    for (int64_t i = 0; known && i < n; i++)
        if (eddy_array_get(known, i) < 0 || eddy_array_get(known, i) > INT32_MAX)
            return eddy_fail(
                       x.graph, EDDY_INVALID_ARGUMENT,
                       "%s: size has the entry %.0f, which is negative or does not fit in int32",
                       who, eddy_array_get(known, i)),
                   false;
    return true;
}

bool eddy__is_image_dtype(const char *who, eddy_graph *g, eddy_dtype d)
{
    return eddy__expect_type(g, who, "an image", d, EDDY_TAKES_WIDE_NUMBERS);
}

double eddy__image_largest(eddy_dtype d)
{
    return eddy_dtype_is_integer(d) ? (double)eddy__dtype_highest(d) : 1;
}

eddy_tensor eddy__image_floats(const char *who, eddy_tensor x)
{
    if (!eddy_is_valid(x)) return eddy__is_image(who, x), x;
    const eddy_dtype d = eddy_dtype_of(x);
    if (!eddy__is_image_dtype(who, x.graph, d)) return eddy_none(x.graph);
    return eddy_convert_image_dtype(x, d == EDDY_FLOAT64 ? d : EDDY_FLOAT32);
}
