/* color.c -- color conversion (RGB, HSV, YUV, YIQ, grayscale) and color adjustments: brightness,
 * contrast, hue, gamma and saturation; composed of other operations. */
#include "ops/images/images.h"
#include "ops/short_names.h"

/* ----------------------------------------------------------------- types -- */

/* Converts integers of one type to those of another, by a power of 2. */
static eddy_tensor scaled(eddy_tensor x, double from, eddy_dtype dtype)
{
    const double to = eddy__image_largest(dtype);
    if (from > to) return Cast(FloorDiv(x, (from + 1) / (to + 1)), dtype);
    return Mul(Cast(x, dtype), (to + 1) / (from + 1));
}

/** y = images converted to another element type, scaled so that the largest value of one type
 *  becomes that of the other.
 *
 *  x      float32 or float64 in [0, 1]; int32, int64 or uint8 in [0, largest value]; any shape
 *  dtype  one of these types
 *
 *  Floating-point numbers become integers by x (largest + 0.5), rounded down; values outside
 *  [0, 1] saturate, as in TensorFlow with `saturate`.
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: that of eddy_cast.  TensorFlow: tf.image.convert_image_dtype. */
eddy_tensor eddy_convert_image_dtype(eddy_tensor x, eddy_dtype dtype)
{
    const char *who = "convert_image_dtype";
    const eddy_tensor none = eddy_none(x.graph);
    if (!eddy_is_valid(x)) return eddy__is_image(who, x), none;
    const eddy_dtype d = eddy_dtype_of(x);
    if (!eddy__is_image_dtype(who, x.graph, d) || !eddy__is_image_dtype(who, x.graph, dtype))
        return none;
    const double from = eddy__image_largest(d), to = eddy__image_largest(dtype);
    if (d == dtype) return Identity(x);
    if (from > 1 && to > 1) return scaled(x, from, dtype);
    if (from > 1) return Mul(Cast(x, dtype), 1 / from);
    return Cast(to > 1 ? Mul(x, to + 0.5) : x, dtype);
}

/* Converts the floating-point result y back to the type of x. */
static eddy_tensor as_before(eddy_tensor y, eddy_tensor x)
{
    return eddy_is_valid(y) ? eddy_convert_image_dtype(y, eddy_dtype_of(x)) : y;
}

/* ---------------------------------------------------- linear combinations -- */

/* The three channels of x in floating point; returns false if it has any other number. */
static bool channels_of(const char *who, eddy_tensor x, eddy_tensor *c)
{
    const eddy_tensor floats = eddy__image_floats(who, x);
    if (!eddy_is_valid(floats) || !eddy__has_channels(who, floats, 3)) return false;
    const eddy_shape s = eddy_shape_of(floats);
    const bool       known = s.rank > 0 && s.dim[s.rank - 1] == 3;
    /* A run refuses other numbers of channels; equal parts there are of 6, too. */
    const eddy_tensor first = known ? eddy_split(floats, 3, -1)
                                    : eddy_split_sizes(floats, (int64_t[]){ 1, 1, 1 }, 3, -1);
    for (int i = 0; i < 3; i++) c[i] = eddy_output(first, i);
    return eddy_is_valid(first);
}

/** y = grayscale images: 0.2989 red + 0.587 green + 0.114 blue.
 *
 *  x  float32, float64, int32, int64 or uint8, [..., 3]; y has its type, [..., 1]
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE unless there are three channels.
 *  Gradient: that of the formula.  TensorFlow: tf.image.rgb_to_grayscale. */
eddy_tensor eddy_rgb_to_grayscale(eddy_tensor x)
{
    eddy_tensor c[3];
    if (!channels_of("rgb_to_grayscale", x, c)) return eddy_none(x.graph);
    const eddy_tensor first = Add(Mul(c[0], 0.2989), Mul(c[1], 0.5870));
    return as_before(Add(first, Mul(c[2], 0.1140)), x);
}

/** y = x with its single channel repeated three times.
 *
 *  x  any element type, [..., 1]; y is [..., 3]
 *
 *  Errors: EDDY_BAD_SHAPE unless there is one channel.
 *  Gradient: dx = the sum of dy over the channels.  TensorFlow: tf.image.grayscale_to_rgb. */
eddy_tensor eddy_grayscale_to_rgb(eddy_tensor x)
{
    if (!eddy__has_channels("grayscale_to_rgb", x, 1)) return eddy_none(x.graph);
    const eddy_shape  s = eddy_shape_of(x);
    const bool        settled = s.rank > 0 && s.dim[s.rank - 1] == 1;
    const eddy_tensor one = settled ? x : ExpandDims(Squeeze(x, EDDY_AXES(-1)), -1);
    return eddy_concat(EDDY_LIST(one, one, one), -1);
}

/* y[..., j] = the sum over i of x[..., i] m[i][j], where m is 3 by 3. */
static eddy_tensor mapped(const char *who, eddy_tensor x, const double *m)
{
    const eddy_tensor floats = eddy__image_floats(who, x);
    if (!eddy_is_valid(floats) || !eddy__has_channels(who, floats, 3))
        return eddy_none(x.graph);
    const eddy_tensor all = eddy_const(x.graph, EDDY_FLOAT64, EDDY_SHAPE(3, 3), m);
    if (eddy_shape_of(x).rank == 1) return eddy_tensordot(floats, CastLike(all, floats), 1);
    return eddy_batch_matmul(floats, CastLike(all, floats));
}

/** y = x converted from RGB to YIQ: luma and two color differences, as in NTSC television.
 *
 *  x  float32 or float64, [..., 3]; for integers y is float32, computed from x / largest
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE unless there are three channels.
 *  Gradient: that of the matrix product.  TensorFlow: tf.image.rgb_to_yiq. */
eddy_tensor eddy_rgb_to_yiq(eddy_tensor x)
{
    static const double m[] = { 0.299, 0.59590059, 0.2115, 0.587, -0.27455667, -0.52273617,
                                0.114, -0.32134392, 0.31119955 };
    return mapped("rgb_to_yiq", x, m);
}

/** y = x converted from YIQ to RGB: the inverse of eddy_rgb_to_yiq, except for the rounding of
 *  its coefficients.
 *
 *  x  as for eddy_rgb_to_yiq
 *
 *  Errors, Gradient: as for eddy_rgb_to_yiq.  TensorFlow: tf.image.yiq_to_rgb. */
eddy_tensor eddy_yiq_to_rgb(eddy_tensor x)
{
    static const double m[] = { 1, 1, 1, 0.95598634, -0.27201283, -1.10674021, 0.6208248,
                                -0.64720424, 1.70423049 };
    return mapped("yiq_to_rgb", x, m);
}

/** y = x converted from RGB to YUV: luma and two color differences, as in PAL television.
 *
 *  x  as for eddy_rgb_to_yiq
 *
 *  Errors, Gradient: as for eddy_rgb_to_yiq.  TensorFlow: tf.image.rgb_to_yuv. */
eddy_tensor eddy_rgb_to_yuv(eddy_tensor x)
{
    static const double m[] = { 0.299, -0.14714119, 0.61497538, 0.587, -0.28886916, -0.51496512,
                                0.114, 0.43601035, -0.10001026 };
    return mapped("rgb_to_yuv", x, m);
}

/** y = x converted from YUV to RGB: the inverse of eddy_rgb_to_yuv, except for the rounding of
 *  its coefficients.
 *
 *  x  as for eddy_rgb_to_yiq
 *
 *  Errors, Gradient: as for eddy_rgb_to_yiq.  TensorFlow: tf.image.yuv_to_rgb. */
eddy_tensor eddy_yuv_to_rgb(eddy_tensor x)
{
    static const double m[] = { 1, 1, 1, 0, -0.394642334, 2.03206185, 1.13988303, -0.58062185, 0 };
    return mapped("yuv_to_rgb", x, m);
}

/* --------------------------------------------------- hue, saturation, value -- */

/** y = hue, saturation and value of images: the position of the color on the circle from red by
 *  green and blue to red, its distance from gray, and its largest component.
 *
 *  x  float32 or float64 in [0, 1], [..., 3]; y likewise; for integers y is float32, computed from
 *     x / largest
 *
 *  Gray has hue 0, black has saturation 0.
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE unless there are three channels.
 *  Gradient: that of the formula.  TensorFlow: RGBToHSV (tf.image.rgb_to_hsv). */
eddy_tensor eddy_rgb_to_hsv(eddy_tensor x)
{
    eddy_tensor c[3];
    if (!channels_of("rgb_to_hsv", x, c)) return eddy_none(x.graph);
    const eddy_tensor r = c[0], g = c[1], b = c[2];
    const eddy_tensor v = Maximum(Maximum(r, g), b);
    const eddy_tensor range = Sub(v, Minimum(Minimum(r, g), b));
    const eddy_tensor s = Where(Greater(v, 0), DivNoNan(range, v), 0);
    const eddy_tensor sixth = DivNoNan(1.0 / 6, range);
    const eddy_tensor from_g = Add(Mul(sixth, Sub(b, r)), 2.0 / 6);
    const eddy_tensor from_b = Add(Mul(sixth, Sub(r, g)), 4.0 / 6);
    const eddy_tensor from_r = Mul(sixth, Sub(g, b));
    const eddy_tensor h = Where(Equal(r, v), from_r, Where(Equal(g, v), from_g, from_b));
    return eddy_concat(EDDY_LIST(Where(Less(h, 0), Add(h, 1), h), s, v), -1);
}

/* 0 to 1, by the distance of six times the hue from the middle of a color. */
static eddy_tensor clip_to_unit(eddy_tensor x)
{
    return eddy_clip_by_value(x, NumberLike(0, x), NumberLike(1, x));
}

/** y = the RGB colors with these hues, saturations and values.
 *
 *  x  as returned by eddy_rgb_to_hsv
 *
 *  Errors: as for eddy_rgb_to_hsv.
 *  Gradient: that of the formula.  TensorFlow: HSVToRGB (tf.image.hsv_to_rgb). */
eddy_tensor eddy_hsv_to_rgb(eddy_tensor x)
{
    eddy_tensor c[3];
    if (!channels_of("hsv_to_rgb", x, c)) return eddy_none(x.graph);
    const eddy_tensor h = Mul(c[0], 6), s = c[1], v = c[2], gray = Sub(1, s);
    const eddy_tensor r = clip_to_unit(Sub(Abs(Sub(h, 3)), 1));
    const eddy_tensor g = clip_to_unit(Sub(2, Abs(Sub(h, 2))));
    const eddy_tensor b = clip_to_unit(Sub(2, Abs(Sub(h, 4))));
    return eddy_concat(EDDY_LIST(Mul(Add(gray, Mul(s, r)), v), Mul(Add(gray, Mul(s, g)), v),
                                 Mul(Add(gray, Mul(s, b)), v)), -1);
}

/* -------------------------------------------------------------- adjusting -- */

/** y = x + delta.
 *
 *  x      float32 or float64; or int32, int64 or uint8, which are converted to x / largest, where
 *         y has the same type again and saturates; any shape
 *  delta  a real scalar, cast to the floating-point type; in [-1, 1] for images in [0, 1]
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: that of the formula.  TensorFlow: tf.image.adjust_brightness. */
eddy_tensor eddy_adjust_brightness(eddy_tensor x, eddy_tensor delta)
{
    const eddy_tensor floats = eddy__image_floats("adjust_brightness", x);
    if (!eddy_is_valid(floats)) return floats;
    return as_before(Add(floats, CastLike(delta, floats)), x);
}

/** y = (x - mean) factor + mean, where the mean is that of each channel of each image.
 *
 *  x       as for eddy_adjust_brightness, [..., height, width, channels]
 *  factor  a real scalar, cast to the floating-point type
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE for a rank below 3.
 *  Gradient: that of the formula.  TensorFlow: AdjustContrastv2 (tf.image.adjust_contrast). */
eddy_tensor eddy_adjust_contrast(eddy_tensor x, eddy_tensor factor)
{
    const char *who = "adjust_contrast";
    const eddy_tensor floats = eddy__image_floats(who, x);
    if (!eddy_is_valid(floats) || !eddy__is_image(who, x)) return eddy_none(x.graph);
    const eddy_tensor mean = Mean(floats, .axes = EDDY_AXES(-3, -2), .keepdims = true);
    return as_before(Add(Mul(Sub(floats, mean), CastLike(factor, floats)), mean), x);
}

/** y = gain x^gamma.
 *
 *  x            as for eddy_adjust_brightness, not negative
 *  gamma, gain  real scalars, cast to the floating-point type; gamma is not negative
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_INVALID_ARGUMENT for a negative constant gamma.
 *  Gradient: that of the formula.  TensorFlow: tf.image.adjust_gamma. */
eddy_tensor eddy_adjust_gamma(eddy_tensor x, eddy_tensor gamma, eddy_tensor gain)
{
    const eddy_tensor floats = eddy__image_floats("adjust_gamma", x);
    const eddy_array *v = eddy_is_valid(gamma) ? eddy_constant_value(gamma) : NULL;
    if (!eddy_is_valid(floats)) return floats;
    if (v && eddy_array_count(v) == 1 && eddy_array_get(v, 0) < 0)
        return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "adjust_gamma: gamma is %g; it must not "
                         "be negative", eddy_array_get(v, 0));
    return as_before(Mul(CastLike(gain, floats), Pow(floats, CastLike(gamma, floats))), x);
}

/** y = x with its hue rotated by delta, a fraction of the circle.
 *
 *  x      as for eddy_adjust_brightness, in [0, 1], [..., 3]
 *  delta  a real scalar, cast to the floating-point type; in [-1, 1]
 *
 *  Errors: as for eddy_rgb_to_hsv.
 *  Gradient: that of the formula.  TensorFlow: AdjustHue (tf.image.adjust_hue). */
eddy_tensor eddy_adjust_hue(eddy_tensor x, eddy_tensor delta)
{
    eddy_tensor c[3];
    const eddy_tensor hsv = eddy_rgb_to_hsv(x);
    if (!eddy_is_valid(hsv) || !channels_of("adjust_hue", hsv, c)) return hsv;
    const eddy_tensor h = FloorMod(Add(c[0], CastLike(delta, c[0])), 1);
    return as_before(eddy_hsv_to_rgb(eddy_concat(EDDY_LIST(h, c[1], c[2]), -1)), x);
}

/** y = x with its saturation multiplied by factor, clipped to 1.
 *
 *  x       as for eddy_adjust_hue
 *  factor  a real scalar, cast to the floating-point type
 *
 *  Errors: as for eddy_rgb_to_hsv.
 *  Gradient: that of the formula.
 *  TensorFlow: AdjustSaturation (tf.image.adjust_saturation). */
eddy_tensor eddy_adjust_saturation(eddy_tensor x, eddy_tensor factor)
{
    eddy_tensor c[3];
    const eddy_tensor hsv = eddy_rgb_to_hsv(x);
    if (!eddy_is_valid(hsv) || !channels_of("adjust_saturation", hsv, c)) return hsv;
    const eddy_tensor s = clip_to_unit(Mul(c[1], CastLike(factor, c[1])));
    return as_before(eddy_hsv_to_rgb(eddy_concat(EDDY_LIST(c[0], s, c[2]), -1)), x);
}

/** y = each image normalized to mean 0 and variance 1: (x - mean) / deviation, over all its
 *  elements; the deviation is at least 1 / sqrt(number of elements).
 *
 *  x  float32, float64, int32, int64 or uint8, [..., height, width, channels]; y is float64 if x
 *     is, otherwise float32
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE for a rank below 3.
 *  Gradient: that of the formula.  TensorFlow: tf.image.per_image_standardization. */
eddy_tensor eddy_per_image_standardization(eddy_tensor x)
{
    const char *who = "per_image_standardization";
    if (!eddy__is_image(who, x) || !eddy__is_image_dtype(who, x.graph, eddy_dtype_of(x)))
        return eddy_none(x.graph);
    if (eddy_dtype_of(x) != EDDY_FLOAT64) x = Cast(x, EDDY_FLOAT32);
    const eddy_tensor m = eddy_moments(x, .axes = EDDY_AXES(-3, -2, -1), .keepdims = true);
    const eddy_tensor area = Mul(eddy_size_along(x, -3), eddy_size_along(x, -2));
    const eddy_tensor count = CastLike(Mul(area, eddy_size_along(x, -1)), x);
    const eddy_tensor least = Reciprocal(count);
    return Mul(Sub(x, m), Rsqrt(Maximum(eddy_output(m, 1), least)));
}
