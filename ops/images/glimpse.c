/* glimpse.c -- extract_glimpse: a window of each image around a given point; composed of other
 * operations. */
#include "ops/images/images.h"
#include "graph/call_options.h"
#include "ops/short_names.h"

#include <string.h>

#ifdef EDDY_HEADER
typedef struct eddy_extract_glimpse_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_extract_glimpse_args));
    eddy_tensor x;
    eddy_dims   size;              /* height and width */
    eddy_tensor offsets;
    bool        from_corner, in_pixels;
    const char *noise;             /* "uniform" (default), "zero" */
    int64_t     seed;
} eddy_extract_glimpse_args;

/* The same, with a size given by a tensor. */
typedef struct eddy_extract_glimpse_to_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_extract_glimpse_to_args));
    eddy_tensor x, size, offsets;  /* size: two integers */
    bool        from_corner, in_pixels;
    const char *noise;
    int64_t     seed;
} eddy_extract_glimpse_to_args;
#endif

/* The rows (axis 0) or columns of each image that its glimpse covers, -1 outside. */
static eddy_tensor covered_indices(const eddy_extract_glimpse_to_args *a, int axis)
{
    const eddy_tensor size = Cast(eddy_index(a->size, axis ? "1" : "0"), EDDY_INT64);
    const eddy_tensor n = eddy_size_along(a->x, 1 + axis), zero = NumberLike(0, n);
    eddy_tensor at = eddy_index(a->offsets, axis ? ":, 1" : ":, 0");
    if (!a->in_pixels) at = Mul(at, CastLike(n, at));
    if (!a->from_corner) at = Mul(Add(at, CastLike(n, at)), 0.5);
    const eddy_tensor first = Cast(Sub(at, Mul(CastLike(size, at), 0.5)), EDDY_INT64);
    const eddy_tensor steps = eddy_range(zero, size, NumberLike(1, zero));
    const eddy_tensor all = Add(ExpandDims(first, 1), steps);
    return Where(LogicalAnd(GreaterEqual(all, 0), Less(all, n)), all, -1);
}

static bool fits(const char *who, eddy_tensor x, eddy_tensor offsets, const char *noise)
{
    const eddy_shape s = eddy_shape_of(x), at = eddy_shape_of(offsets);
    char text[2][128];
    if (!eddy_is_valid(offsets))
        return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "%s: offsets is not a valid tensor", who),
               false;
    if ((s.rank >= 0 && s.rank != 4) || !eddy_shape_compatible(at, EDDY_SHAPE(EDDY_ANY, 2)))
        return eddy_fail(x.graph, EDDY_BAD_SHAPE, "%s: images have shape %s and offsets %s; rank "
                         "4 and [batch,2] expected", who,
                         eddy_shape_print(s, text[0], sizeof text[0]),
                         eddy_shape_print(at, text[1], sizeof text[1])), false;
    if (strcmp(noise, "uniform") == 0 || strcmp(noise, "zero") == 0) return true;
    return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "%s: noise is '%.40s'; it must be uniform or "
                     "zero", who, noise), false;
}

static eddy_tensor glimpse(const eddy_extract_glimpse_to_args *a, const char *noise)
{
    const eddy_tensor rows = covered_indices(a, 0), columns = covered_indices(a, 1);
    const eddy_tensor some = Gather(a->x, rows, 1, .skip_negative = true, .batch_dims = 1);
    const eddy_tensor y = Gather(some, columns, 2, .skip_negative = true, .batch_dims = 1);
    if (strcmp(noise, "zero") == 0 || !eddy_is_valid(y)) return y;
    const eddy_tensor inside = LogicalAnd(ExpandDims(GreaterEqual(rows, 0), 2),
                                          ExpandDims(GreaterEqual(columns, 0), 1));
    const eddy_dims   all = EDDY_AXES(1, 2, 3);
    const eddy_tensor image = StopGradient(a->x), least = Min(image, .axes = all, .keepdims = true);
    const eddy_tensor range = Sub(Max(image, .axes = all, .keepdims = true), least);
    const eddy_tensor drawn = eddy_random_uniform_like(y, .seed = a->seed);
    return Where(ExpandDims(inside, 3), y, Add(least, Mul(drawn, range)));
}

/** y = a window of each image around its own offset.
 *
 *  x            float32 or float64 [batch, height, width, channels]; with "zero" other types, too
 *  size         height and width of y
 *  offsets      float32 or float64 [batch, 2], y and x of the center of the window, relative to the
 *               center of the image, in units of half its height and width
 *  from_corner  offsets are relative to the upper left corner, in units of height and width
 *  in_pixels    offsets are in pixels from the corner, or in half pixels from the center
 *  noise        fills the window outside the image: "uniform" (default), random numbers in [0, 1),
 *               or "zero"
 *  seed         of the random numbers; 0: a seed of the op's own
 *
 *  The beginning of a window is rounded toward 0.
 *  Errors: EDDY_INVALID_ARGUMENT for an invalid size or noise; those of the operations that it is
 *  composed of.
 *  Gradient: dx = dy at the pixels that a window covers; offsets have none.  TensorFlow:
 *  ExtractGlimpse (tf.image.extract_glimpse), without a gradient. */
eddy_tensor eddy_extract_glimpse_with(const eddy_extract_glimpse_args *given)
{
    eddy_extract_glimpse_args a = EDDY_TAKE(eddy_extract_glimpse_args, given);
    const char *who = "extract_glimpse", *noise = a.noise ? a.noise : "uniform";
    if (!eddy__is_image(who, a.x)) return eddy_none(a.x.graph);
    if (!fits(who, a.x, a.offsets, noise)) return eddy_none(a.x.graph);
    for (int i = 0; i < 2; i++)
        if (a.size.count != 2 || a.size.at[i] < 1 || a.size.at[i] > INT32_MAX)
            return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT,
                             "%s: size must be a height and a width that are positive and fit in "
                             "int32", who);
    const eddy_tensor size = eddy_const(a.x.graph, EDDY_INT64, EDDY_SHAPE(2), a.size.at);
    const eddy_extract_glimpse_to_args to = {
        .x = a.x, .size = size, .offsets = a.offsets, .from_corner = a.from_corner,
        .in_pixels = a.in_pixels, .seed = a.seed,
    };
    return glimpse(&to, noise);
}

/** y = a window of each image around its own offset, with a size given by a tensor.
 *
 *  size    int32 or int64 [2], height and width of y; a run computes it first if it is not
 *          constant; if an entry is 0, y is empty
 *  others  as for eddy_extract_glimpse
 *
 *  Errors: EDDY_INVALID_ARGUMENT for an invalid size or noise; those of eddy_range for a negative
 *  size; those of the operations that it is composed of.
 *  Gradient: as for eddy_extract_glimpse.
 *  TensorFlow: ExtractGlimpse (tf.image.extract_glimpse). */
eddy_tensor eddy_extract_glimpse_to_with(const eddy_extract_glimpse_to_args *given)
{
    eddy_extract_glimpse_to_args a = EDDY_TAKE(eddy_extract_glimpse_to_args, given);
    const char *who = "extract_glimpse_to", *noise = a.noise ? a.noise : "uniform";
    if (!eddy__is_image(who, a.x) || !fits(who, a.x, a.offsets, noise) ||
        !eddy__is_size_tensor(who, a.x, a.size, 2))
        return eddy_none(a.x.graph);
    return glimpse(&a, noise);
}
