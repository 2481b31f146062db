/* crop_to.c -- cropping, padding and resizing images to sizes given by tensors; composed of other
 * operations. */
#include "ops/images/images.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "ops/short_names.h"

#include <string.h>

/* ------------------------------------------------------------------ sizes -- */

/* Converts t to an int64 scalar; reports an error if it is not one, or is less than `least`. */
static bool is_side(const char *who, eddy_tensor x, eddy_tensor *t, int64_t least)
{
    const eddy_dtype d = eddy_is_valid(*t) ? eddy_dtype_of(*t) : EDDY_BOOL;
    char text[128];
    if (!eddy__dtype_is_index(d) || eddy_shape_of(*t).rank > 0)
        return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "%s: offsets and sizes must be scalars, "
                         "int32 or int64; one is %s%s", who,
                         eddy_is_valid(*t) ? eddy_dtype_name(d) : "not a valid tensor",
                         eddy_is_valid(*t) ? eddy_shape_print(eddy_shape_of(*t), text, sizeof text)
                                           : ""), false;
    const eddy_array *known = eddy_constant_value(*t);
    const double v = known ? eddy_array_get(known, 0) : (double)least;
    if (v < (double)least || v > INT32_MAX)
        return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT,
                         "%s: %.0f must be at least %lld and fit in int32", who, v,
                         (long long)least),
               false;
    *t = Cast(*t, EDDY_INT64);
    /* Sums of values known only at run time must not wrap around. */
    if (!known) *t = Maximum(Minimum(*t, 0x1p40), -0x1p40);
    return true;
}

static bool are_sides(const char *who, eddy_tensor x, int64_t least, eddy_tensor *a,
                      eddy_tensor *b)
{
    return is_side(who, x, a, least) && is_side(who, x, b, least);
}

/* y; a run fails with this message if one of these int64 scalars is negative. */
static eddy_tensor where_room(const char *message, eddy_tensor y, eddy_list least)
{
    const eddy_tensor all = eddy_stack(least, 0);
    const eddy_tensor good = eddy_assert(eddy_all(GreaterEqual(all, 0)), least, message);
    eddy_control_begin(y.graph, EDDY_LIST(good));
    y = Identity(y);
    eddy_control_end(y.graph);
    return y;
}

/* `size` positions of x along an axis, starting at `first`, both int64 scalars; zeros outside x. */
static eddy_tensor window(eddy_tensor x, int64_t axis, eddy_tensor first, eddy_tensor size)
{
    const eddy_tensor zero = NumberLike(0, size), n = eddy_size_along(x, axis);
    const eddy_tensor at = Add(eddy_range(zero, size, NumberLike(1, size)), first);
    const eddy_tensor inside = LogicalAnd(GreaterEqual(at, 0), Less(at, n));
    return Gather(x, Where(inside, at, -1), axis, .skip_negative = true);
}

static eddy_tensor windows(eddy_tensor x, eddy_tensor top, eddy_tensor left, eddy_tensor height,
                           eddy_tensor width)
{
    return window(window(x, -3, top, height), -2, left, width);
}

/* --------------------------------------------------------- crops and pads -- */

/** y = x[..., offset_height : offset_height + height, offset_width : offset_width + width, :],
 *  where offsets and sizes are tensors.
 *
 *  x       any element type, [..., height, width, channels], rank known
 *  offset_height, offset_width  int32 or int64 scalars, not negative
 *  height, width                int32 or int64 scalars, positive; the box must lie inside x
 *
 *  A run computes sizes first if they are not constant.
 *  Errors: EDDY_BAD_SHAPE for an invalid x, EDDY_INVALID_ARGUMENT for invalid scalars; at run time,
 *  EDDY_CHECK_FAILED for an invalid box.
 *  Gradient: dx = zeros like x with dy in the box.  TensorFlow: tf.image.crop_to_bounding_box. */
eddy_tensor eddy_crop_to_bounding_box_to(eddy_tensor x, eddy_tensor offset_height,
                                         eddy_tensor offset_width, eddy_tensor height,
                                         eddy_tensor width)
{
    const char *who = "crop_to_bounding_box_to";
    if (!eddy__has_image_rank(who, x) || !are_sides(who, x, 0, &offset_height, &offset_width) ||
        !are_sides(who, x, 1, &height, &width))
        return eddy_none(x.graph);
    eddy_scope_begin(x.graph, who);
    const eddy_tensor below = Sub(Sub(eddy_size_along(x, -3), offset_height), height);
    const eddy_tensor right = Sub(Sub(eddy_size_along(x, -2), offset_width), width);
    const eddy_tensor y = windows(x, offset_height, offset_width, height, width);
    const eddy_tensor z = where_room(
        "crop_to_bounding_box_to: the box must have a positive size and lie inside x", y,
        EDDY_LIST(offset_height, offset_width, below, right, Sub(height, 1), Sub(width, 1)));
    eddy_scope_end(x.graph);
    return z;
}

/** y = images of this height and width with x at an offset, and zeros around it; offsets
 *  and sizes are tensors.
 *
 *  x       floating, complex or integer, [..., height, width, channels], rank known
 *  offset_height, offset_width, height, width  as for eddy_crop_to_bounding_box_to; x must fit
 *                                              inside y
 *
 *  Errors: EDDY_BAD_SHAPE for an invalid x, EDDY_INVALID_ARGUMENT for invalid scalars; at run time,
 *  EDDY_CHECK_FAILED if x does not fit.
 *  Gradient: dx = the part of dy that corresponds to x.
 *  TensorFlow: tf.image.pad_to_bounding_box. */
eddy_tensor eddy_pad_to_bounding_box_to(eddy_tensor x, eddy_tensor offset_height,
                                        eddy_tensor offset_width, eddy_tensor height,
                                        eddy_tensor width)
{
    const char *who = "pad_to_bounding_box_to";
    if (!eddy__has_image_rank(who, x) || !are_sides(who, x, 0, &offset_height, &offset_width) ||
        !are_sides(who, x, 1, &height, &width))
        return eddy_none(x.graph);
    eddy_scope_begin(x.graph, who);
    const eddy_tensor below = Sub(Sub(height, eddy_size_along(x, -3)), offset_height);
    const eddy_tensor right = Sub(Sub(width, eddy_size_along(x, -2)), offset_width);
    const eddy_tensor y = windows(x, Neg(offset_height), Neg(offset_width), height, width);
    const eddy_tensor z = where_room(
        "pad_to_bounding_box_to: x must fit inside the target size at its offset", y,
        EDDY_LIST(offset_height, offset_width, below, right, Sub(height, 1), Sub(width, 1)));
    eddy_scope_end(x.graph);
    return z;
}

/* The first position along an axis of a window of this size with the same center as x, rounded
 * toward 0. */
static eddy_tensor middle(eddy_tensor x, int64_t axis, eddy_tensor size)
{
    return eddy_truncatediv(Sub(eddy_size_along(x, axis), size), NumberLike(2, size));
}

/** y = images of this height and width with the same center as x: x is cropped where it is
 *  larger, and padded with zeros where it is smaller.  The sizes are tensors.
 *
 *  x              floating, complex or integer, [..., height, width, channels], rank known
 *  height, width  positive int32 or int64 scalars, as for eddy_crop_to_bounding_box_to
 *
 *  Errors: EDDY_BAD_SHAPE for an invalid x; for a size that is not positive, EDDY_INVALID_ARGUMENT
 *  while building or EDDY_CHECK_FAILED at run time.
 *  Gradient: dx = the part of dy that corresponds to x, and 0 where x was cropped.
 *  TensorFlow: tf.image.resize_image_with_crop_or_pad. */
eddy_tensor eddy_resize_with_crop_or_pad_to(eddy_tensor x, eddy_tensor height, eddy_tensor width)
{
    const char *who = "resize_with_crop_or_pad_to";
    if (!eddy__has_image_rank(who, x) || !are_sides(who, x, 1, &height, &width))
        return eddy_none(x.graph);
    eddy_scope_begin(x.graph, who);
    const eddy_tensor y = windows(x, middle(x, -3, height), middle(x, -2, width), height, width);
    const eddy_tensor z = where_room(
        "resize_with_crop_or_pad_to: the target size must be positive", y,
        EDDY_LIST(Sub(height, 1), Sub(width, 1)));
    eddy_scope_end(x.graph);
    return z;
}

/* --------------------------------------------------------------- resizing -- */

#ifdef EDDY_HEADER
typedef struct eddy_resize_images_to_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_resize_images_to_args));
    eddy_tensor x, size;           /* size: two integers, height and width */
    const char *method;            /* "bilinear" (default), "nearest", "bicubic", "area" */
    bool        align_corners, preserve_aspect_ratio;
} eddy_resize_images_to_args;
#endif

static eddy_tensor resize_by(const eddy_resize_images_to_args *a, eddy_tensor x, eddy_tensor size)
{
    const char *m = a->method ? a->method : "bilinear";
    if (strcmp(m, "bilinear") == 0) return eddy_resize_bilinear_to(x, size, a->align_corners);
    if (strcmp(m, "nearest") == 0)
        return eddy_resize_nearest_neighbor_to(x, size, a->align_corners);
    if (strcmp(m, "bicubic") == 0) return eddy_resize_bicubic_to(x, size, a->align_corners);
    if (strcmp(m, "area") == 0) return eddy_resize_area_to(x, size, a->align_corners);
    return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "resize_images_to: method is '%.40s'; it must "
                     "be bilinear, nearest, bicubic or area", m);
}

/* a / b for integers, rounded to the nearest integer, halves to even. */
static eddy_tensor rounded_ratio(eddy_tensor a, eddy_tensor b)
{
    const eddy_tensor odd = FloorMod(FloorDiv(a, b), 2);
    return FloorDiv(Add(Add(Mul(a, 2), Sub(b, 1)), odd), Mul(b, 2));
}

/* The largest sides with the aspect ratio of x that fit in these. */
static eddy_tensor in_proportion(eddy_tensor x, eddy_tensor size)
{
    const eddy_tensor h = eddy_size_along(x, -3), w = eddy_size_along(x, -2);
    const eddy_tensor wide = Minimum(Cast(size, EDDY_INT64), INT32_MAX);
    const eddy_tensor height = eddy_index(wide, "0"), width = eddy_index(wide, "1");
    return eddy_stack(EDDY_LIST(Minimum(height, rounded_ratio(Mul(width, h), Maximum(w, 1))),
                                Minimum(width, rounded_ratio(Mul(height, w), Maximum(h, 1)))), 0);
}

static eddy_tensor resize_any(const eddy_resize_images_to_args *a, eddy_tensor size)
{
    if (eddy_shape_of(a->x).rank == 4) return resize_by(a, a->x, size);
    return Squeeze(resize_by(a, ExpandDims(a->x, 0), size), EDDY_AXES(0));
}

/** y = one image or several, resized to a size given by a tensor.
 *
 *  x                      as required by the method, [height, width, channels] or
 *                         [batch, height, width, channels]
 *  size                   int32 or int64 [2], as for eddy_resize_nearest_neighbor_to
 *  method                 "bilinear" (default), "nearest", "bicubic" or "area"
 *  align_corners          as for the method
 *  preserve_aspect_ratio  y is the largest image that fits in the size and has the aspect ratio
 *                         of x
 *
 *  The type of y is that of the method, even if the images already have the size.
 *  Errors: EDDY_BAD_SHAPE for an invalid x; those of the method.
 *  Gradient: that of the method.  TensorFlow: tf.image.resize_images. */
eddy_tensor eddy_resize_images_to_with(const eddy_resize_images_to_args *given)
{
    eddy_resize_images_to_args a = EDDY_TAKE(eddy_resize_images_to_args, given);
    const char *who = "resize_images_to";
    const eddy_tensor none = eddy_none(a.x.graph);
    char text[2][256];
    if (!eddy__has_image_rank(who, a.x)) return none;
    const eddy_shape s = eddy_shape_of(a.x), two = eddy_shape_of(a.size);
    if (!eddy_is_valid(a.size) || s.rank > 4 || !eddy_shape_compatible(two, EDDY_SHAPE(2)))
        return eddy_fail(a.x.graph, EDDY_BAD_SHAPE, "%s: images %s and a size of shape %s; rank 3 "
                         "or 4 and [2] expected", who,
                         eddy_shape_print(s, text[0], sizeof text[0]),
                         eddy_is_valid(a.size) ? eddy_shape_print(two, text[1], sizeof text[1])
                                               : "none");
    eddy_scope_begin(a.x.graph, who);
    const eddy_tensor y = resize_any(&a, a.preserve_aspect_ratio ? in_proportion(a.x, a.size)
                                                                 : a.size);
    eddy_scope_end(a.x.graph);
    return y;
}

/** y = images resized to fit in this size with their aspect ratio preserved, centered, with zeros
 *  around them.  The sizes are tensors.
 *
 *  x              as for eddy_resize_images_to
 *  height, width  positive int32 or int64 scalars, as for eddy_crop_to_bounding_box_to
 *  method         as for eddy_resize_images_to; NULL: "bilinear"
 *
 *  Errors: as for eddy_resize_images_to and eddy_pad_to_bounding_box_to.
 *  Gradient: that of the method.  TensorFlow: tf.image.resize_image_with_pad. */
eddy_tensor eddy_resize_image_with_pad_to(eddy_tensor x, eddy_tensor height, eddy_tensor width,
                                          const char *method)
{
    const char *who = "resize_image_with_pad_to";
    if (!eddy__has_image_rank(who, x) || !are_sides(who, x, 1, &height, &width))
        return eddy_none(x.graph);
    eddy_scope_begin(x.graph, who);
    const eddy_tensor h = Maximum(eddy_size_along(x, -3), 1);
    const eddy_tensor w = Maximum(eddy_size_along(x, -2), 1);
    const eddy_tensor spare = Sub(Mul(h, width), Mul(w, height));
    const eddy_tensor size = eddy_stack(
        EDDY_LIST(Minimum(height, FloorDiv(Mul(h, width), w)),
                  Minimum(width, FloorDiv(Mul(w, height), h))), 0);
    const eddy_tensor top = FloorDiv(Maximum(Neg(spare), 0), Mul(w, 2));
    const eddy_tensor left = FloorDiv(Maximum(spare, 0), Mul(h, 2));
    const eddy_tensor y = windows(eddy_resize_images_to(x, size, method), Neg(top), Neg(left),
                                  height, width);
    eddy_scope_end(x.graph);
    return y;
}
