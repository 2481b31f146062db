/* random_augmentation.c -- random image augmentation: flips, crops, brightness, contrast, hue and
 * saturation; composed of other operations. */
#include "ops/images/images.h"
#include "graph/call_options.h"
#include "ops/short_names.h"

#ifdef EDDY_HEADER
typedef struct eddy_random_flip_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_random_flip_args));
    eddy_tensor x;
    int64_t     seed;
} eddy_random_flip_args;

typedef struct eddy_random_crop_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_random_crop_args));
    eddy_tensor x;
    eddy_dims   size;              /* one entry per dimension */
    int64_t     seed;
} eddy_random_crop_args;

/* The same, with a size given by a tensor. */
typedef struct eddy_random_crop_to_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_random_crop_to_args));
    eddy_tensor x, size;           /* size: an integer for each dimension of x */
    int64_t     seed;
} eddy_random_crop_to_args;

typedef struct eddy_random_delta_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_random_delta_args));
    eddy_tensor x;
    double      max_delta;
    int64_t     seed;
} eddy_random_delta_args;

typedef struct eddy_random_factor_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_random_factor_args));
    eddy_tensor x;
    double      lower, upper;
    int64_t     seed;
} eddy_random_factor_args;
#endif

/* -------------------------------------------------------- flips and crops -- */

/* Each image as it is or as in `flipped`, with equal probability. */
static eddy_tensor by_chance(eddy_tensor x, eddy_tensor flipped, int64_t seed)
{
    if (!eddy_is_valid(flipped)) return flipped;
    const eddy_tensor each = Sum(Cast(x, EDDY_FLOAT32), .axes = EDDY_AXES(-3, -2, -1),
                                 .keepdims = true);       /* only its shape is used */
    return Where(Less(eddy_random_uniform_like(each, .seed = seed), 0.5), flipped, x);
}

/** y = each image, flipped horizontally with probability 1/2.
 *
 *  x     any element type except float16 and bfloat16, [..., height, width, channels]
 *  seed  0: a seed of the op's own
 *
 *  Errors: as for eddy_flip_left_right.
 *  Gradient: dx = dy flipped likewise.  TensorFlow: tf.image.random_flip_left_right. */
eddy_tensor eddy_random_flip_left_right_with(const eddy_random_flip_args *given)
{
    eddy_random_flip_args a = EDDY_TAKE(eddy_random_flip_args, given);
    return by_chance(a.x, eddy_flip_left_right(a.x), a.seed);
}

/** y = each image, flipped vertically with probability 1/2.
 *
 *  x     any element type except float16 and bfloat16, [..., height, width, channels]
 *  seed  0: a seed of the op's own
 *
 *  Errors: as for eddy_flip_up_down.
 *  Gradient: dx = dy flipped likewise.  TensorFlow: tf.image.random_flip_up_down. */
eddy_tensor eddy_random_flip_up_down_with(const eddy_random_flip_args *given)
{
    eddy_random_flip_args a = EDDY_TAKE(eddy_random_flip_args, given);
    return by_chance(a.x, eddy_flip_up_down(a.x), a.seed);
}

/* Checks that the entries of `size` fit the known dimensions of x. */
static bool fits(eddy_tensor x, eddy_dims size)
{
    char text[128];
    const eddy_shape s = eddy_shape_of(x);
    bool good = s.rank > 0 && s.rank == size.count;
    for (int i = 0; good && i < s.rank; i++)
        good = size.at[i] >= 0 && size.at[i] <= INT32_MAX &&
               (s.dim[i] == EDDY_ANY || size.at[i] <= s.dim[i]);
    if (good) return true;
    return eddy_fail(
               x.graph, EDDY_BAD_SHAPE,
               "random_crop: x has shape %s and the number of entries of size is %d; expected one "
               "per dimension of x, from 0 to that dimension",
               eddy_shape_print(s, text, sizeof text), size.count > 0 ? size.count : 0),
           false;
}

/* x[begin : begin + size] along an axis, where begin is the fraction `at` of the largest one. */
static eddy_tensor crop_axis(eddy_tensor x, int axis, eddy_tensor size, eddy_tensor at)
{
    const eddy_tensor begins = Sub(eddy_size_along(x, axis), Sub(size, 1));
    const eddy_tensor chosen = Mul(eddy_slice(at, EDDY_DIMS(axis), EDDY_DIMS(1)),
                                   Cast(begins, EDDY_FLOAT64));
    const eddy_tensor zero = eddy_number(x.graph, EDDY_INT64, 0);
    const eddy_tensor steps = eddy_range(zero, size, NumberLike(1, zero));
    return Gather(x, Add(steps, Cast(Floor(chosen), EDDY_INT64)), axis);
}

static eddy_tensor crop_begins(eddy_tensor x, int rank, int64_t seed)
{
    return eddy_random_uniform(x.graph, EDDY_SHAPE(rank), .dtype = EDDY_FLOAT64, .seed = seed);
}

/** y = a random box of this size cropped from x, all positions equally likely.
 *
 *  x     any element type, rank at least 1 and known
 *  size  one entry per dimension, at most the size of that dimension
 *  seed  0: a seed of the op's own
 *
 *  For images [height, width, 3], eddy_random_crop(x, EDDY_DIMS(24, 24, 3)).
 *  Errors: EDDY_BAD_SHAPE for an invalid size; at run time, EDDY_OUT_OF_RANGE for an entry above a
 *  dimension that was unknown.
 *  Gradient: dx = zeros like x with dy in the box.  TensorFlow: tf.random_crop. */
eddy_tensor eddy_random_crop_with(const eddy_random_crop_args *given)
{
    eddy_random_crop_args a = EDDY_TAKE(eddy_random_crop_args, given);
    eddy_tensor y = a.x;
    if (!eddy_is_valid(a.x))
        return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT, "random_crop: x is not a valid tensor");
    if (!fits(a.x, a.size)) return eddy_none(a.x.graph);
    const eddy_shape s = eddy_shape_of(a.x);
    const eddy_tensor at = crop_begins(a.x, s.rank, a.seed);
    for (int i = 0; i < s.rank; i++)
        if (s.dim[i] != a.size.at[i])
            y = crop_axis(y, i, eddy_number(a.x.graph, EDDY_INT64, (double)a.size.at[i]), at);
    return Identity(y);
}

/** y = a random box cropped from x, its size given by a tensor, all positions equally likely.
 *
 *  x     any element type, rank at least 1 and known
 *  size  int32 or int64, one entry per dimension, at most the size of that dimension; a run
 *        computes it first if it is not constant
 *  seed  0: a seed of the op's own
 *
 *  Errors: EDDY_BAD_SHAPE for an invalid x; EDDY_INVALID_ARGUMENT for an invalid size; at run
 *  time, EDDY_OUT_OF_RANGE for an entry above a dimension.
 *  Gradient: dx = zeros like x with dy in the box.  TensorFlow: tf.random_crop. */
eddy_tensor eddy_random_crop_to_with(const eddy_random_crop_to_args *given)
{
    eddy_random_crop_to_args a = EDDY_TAKE(eddy_random_crop_to_args, given);
    const char *who = "random_crop_to";
    eddy_tensor y = a.x;
    if (!eddy_is_valid(a.x))
        return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT, "%s: x is not a valid tensor", who);
    const int rank = eddy_shape_of(a.x).rank;
    if (rank < 1)
        return eddy_fail(a.x.graph, EDDY_BAD_SHAPE, "%s: the rank of '%.200s' is 0 or unknown",
                         who, eddy_name_of(a.x));
    if (!eddy__is_size_tensor(who, a.x, a.size, rank)) return eddy_none(a.x.graph);
    const eddy_tensor at = crop_begins(a.x, rank, a.seed);
    for (int i = 0; i < rank; i++)
        y = crop_axis(y, i, Cast(eddy_gather(a.size, eddy_number(a.x.graph, EDDY_INT32, i)),
                                 EDDY_INT64), at);
    return Identity(y);
}

/* ---------------------------------------------------------------- colors -- */

/* A random number in [low, high), of the floating-point type in which colors of x are computed. */
static eddy_tensor number_in(eddy_tensor x, double low, double high, int64_t seed)
{
    const bool wide = eddy_is_valid(x) && eddy_dtype_of(x) == EDDY_FLOAT64;
    const eddy_tensor u = eddy_random_uniform(x.graph, EDDY_SCALAR,
                                              .dtype = wide ? EDDY_FLOAT64 : EDDY_FLOAT32,
                                              .seed = seed);
    return Add(low, Mul(u, high - low));
}

static bool is_delta(const char *who, eddy_tensor x, double most, double limit)
{
    if (most >= 0 && most <= limit) return eddy_is_valid(x) || eddy__is_image(who, x);
    return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "%s: max_delta is %g, which is not in [0, %g]",
                     who, most, limit),
           false;
}

static bool is_interval(const char *who, eddy_tensor x, double lower, double upper)
{
    if (lower >= 0 && upper >= lower && upper <= 1e30) return eddy_is_valid(x) ||
        eddy__is_image(who, x);
    return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT,
                     "%s: [%g, %g) is not an interval of non-negative numbers", who, lower, upper),
           false;
}

/** y = eddy_adjust_brightness(x, d), d uniform in [-max_delta, max_delta), one for all images.
 *
 *  x          as for eddy_adjust_brightness
 *  max_delta  not negative
 *  seed       0: a seed of the op's own
 *
 *  Errors: as for eddy_adjust_brightness; EDDY_INVALID_ARGUMENT for an invalid max_delta.
 *  Gradient: as for eddy_adjust_brightness.  TensorFlow: tf.image.random_brightness. */
eddy_tensor eddy_random_brightness_with(const eddy_random_delta_args *given)
{
    eddy_random_delta_args a = EDDY_TAKE(eddy_random_delta_args, given);
    if (!is_delta("random_brightness", a.x, a.max_delta, 1e30))
        return eddy_none(a.x.graph);
    return eddy_adjust_brightness(a.x, number_in(a.x, -a.max_delta, a.max_delta, a.seed));
}

/** y = eddy_adjust_contrast(x, f), f uniform in [lower, upper), one for all images.
 *
 *  x             as for eddy_adjust_contrast
 *  lower, upper  0 <= lower <= upper
 *  seed          0: a seed of the op's own
 *
 *  Errors: as for eddy_adjust_contrast; EDDY_INVALID_ARGUMENT for invalid bounds.
 *  Gradient: as for eddy_adjust_contrast.  TensorFlow: tf.image.random_contrast. */
eddy_tensor eddy_random_contrast_with(const eddy_random_factor_args *given)
{
    eddy_random_factor_args a = EDDY_TAKE(eddy_random_factor_args, given);
    if (!is_interval("random_contrast", a.x, a.lower, a.upper))
        return eddy_none(a.x.graph);
    return eddy_adjust_contrast(a.x, number_in(a.x, a.lower, a.upper, a.seed));
}

/** y = eddy_adjust_saturation(x, f), f uniform in [lower, upper), one for all images.
 *
 *  x             as for eddy_adjust_saturation
 *  lower, upper  0 <= lower <= upper
 *  seed          0: a seed of the op's own
 *
 *  Errors: as for eddy_adjust_saturation; EDDY_INVALID_ARGUMENT for invalid bounds.
 *  Gradient: as for eddy_adjust_saturation.  TensorFlow: tf.image.random_saturation. */
eddy_tensor eddy_random_saturation_with(const eddy_random_factor_args *given)
{
    eddy_random_factor_args a = EDDY_TAKE(eddy_random_factor_args, given);
    if (!is_interval("random_saturation", a.x, a.lower, a.upper))
        return eddy_none(a.x.graph);
    return eddy_adjust_saturation(a.x, number_in(a.x, a.lower, a.upper, a.seed));
}

/** y = eddy_adjust_hue(x, d), d uniform in [-max_delta, max_delta), one for all images.
 *
 *  x          as for eddy_adjust_hue
 *  max_delta  in [0, 0.5]
 *  seed       0: a seed of the op's own
 *
 *  Errors: as for eddy_adjust_hue; EDDY_INVALID_ARGUMENT for an invalid max_delta.
 *  Gradient: as for eddy_adjust_hue.  TensorFlow: tf.image.random_hue. */
eddy_tensor eddy_random_hue_with(const eddy_random_delta_args *given)
{
    eddy_random_delta_args a = EDDY_TAKE(eddy_random_delta_args, given);
    if (!is_delta("random_hue", a.x, a.max_delta, 0.5)) return eddy_none(a.x.graph);
    return eddy_adjust_hue(a.x, number_in(a.x, -a.max_delta, a.max_delta, a.seed));
}
