/* rotate_translate.c -- rotating and translating images: projective transforms built from angles
 * and shifts, and the composition of two; composed of other operations. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/images/images.h"
#include "ops/short_names.h"

/* The transform of args with another `by`. */
static eddy_tensor transform(eddy_image_transform_args args, eddy_tensor transforms)
{
    args.by = transforms;
    return eddy_image_transform_with(&args);
}

/* [n,8] from eight vectors of n numbers. */
static eddy_tensor projections_of(eddy_tensor a, eddy_tensor b, eddy_tensor c, eddy_tensor d,
                                  eddy_tensor e, eddy_tensor f)
{
    const eddy_tensor zero = ZerosLike(a);
    return eddy_stack(EDDY_LIST(a, b, c, d, e, f, zero, zero), 1);
}

/* Checks that the parameters of the transforms are float32 with a valid shape. */
static bool check_parameters(const char *who, const char *what, eddy_tensor t, eddy_shape want)
{
    char have[128], text[128];
    if (!eddy_is_valid(t))
        return eddy_fail(t.graph, EDDY_INVALID_ARGUMENT, "%s: %s is not a valid tensor", who, what),
               false;
    if (eddy_dtype_of(t) == EDDY_FLOAT32 && eddy_shape_compatible(eddy_shape_of(t), want))
        return true;
    return eddy_fail(t.graph, EDDY_BAD_SHAPE, "%s: %s are %s%s; float32%s expected", who, what,
                     eddy_dtype_name(eddy_dtype_of(t)),
                     eddy_shape_print(eddy_shape_of(t), have, sizeof have),
                     eddy_shape_print(want, text, sizeof text)), false;
}

/** y = the images x, rotated counterclockwise about their center.
 *
 *  x   as for eddy_image_transform
 *  by  angles, float32 [batch] in radians, or [1] for all
 *  interpolation, fill_mode, fill_value, size  as for eddy_image_transform
 *
 *  Errors, Gradient: as for eddy_image_transform; also EDDY_BAD_SHAPE for angles of another type.
 *  TensorFlow: tfa.image.rotate. */
eddy_tensor eddy_image_rotate_with(const eddy_image_transform_args *given)
{
    eddy_image_transform_args a = EDDY_TAKE(eddy_image_transform_args, given);
    const char *who = "image_rotate";
    if (!eddy__is_image(who, a.x) || !check_parameters(who, "angles", a.by, EDDY_SHAPE(EDDY_ANY)))
        return eddy_none(a.x.graph);
    const eddy_tensor h = Sub(Cast(eddy_size_along(a.x, 1), EDDY_FLOAT32), 1);
    const eddy_tensor w = Sub(Cast(eddy_size_along(a.x, 2), EDDY_FLOAT32), 1);
    const eddy_tensor c = Cos(a.by), s = Sin(a.by);
    const eddy_tensor right = Mul(Sub(w, Sub(Mul(c, w), Mul(s, h))), 0.5);
    const eddy_tensor down = Mul(Sub(h, Add(Mul(s, w), Mul(c, h))), 0.5);
    return transform(a, projections_of(c, Neg(s), right, s, c, down));
}

/** y = the images x, shifted to the right and down.
 *
 *  x   as for eddy_image_transform
 *  by  float32 [batch, 2] or [1, 2]: the number of pixels to the right, and down
 *  interpolation, fill_mode, fill_value, size  as for eddy_image_transform
 *
 *  Errors, Gradient: as for eddy_image_transform; also EDDY_BAD_SHAPE for shifts of another type.
 *  TensorFlow: tfa.image.translate. */
eddy_tensor eddy_image_translate_with(const eddy_image_transform_args *given)
{
    eddy_image_transform_args a = EDDY_TAKE(eddy_image_transform_args, given);
    if (!check_parameters("image_translate", "shifts", a.by, EDDY_SHAPE(EDDY_ANY, 2)))
        return eddy_none(a.x.graph);
    const eddy_tensor right = Neg(eddy_index(a.by, ":, 0")), down = Neg(eddy_index(a.by, ":, 1"));
    const eddy_tensor one = OnesLike(right), zero = ZerosLike(right);
    return transform(a, projections_of(one, zero, right, zero, one, down));
}

/* The transforms as matrices, with their last element, 1. */
static eddy_tensor matrices(eddy_tensor transforms)
{
    const eddy_tensor one = OnesLike(eddy_index(transforms, ":, :1"));
    return eddy_reshape(eddy_concat(EDDY_LIST(transforms, one), 1), EDDY_SHAPE(EDDY_ANY, 3, 3));
}

/** y = the composed transforms [n,8], which apply first transforms and then second.
 *
 *  first, second  float32 [n,8], or [1,8], as for eddy_image_transform
 *
 *  Errors: EDDY_BAD_SHAPE for other shapes.
 *  Gradient: that of the matrix product.  TensorFlow: tfa.image.compose_transforms. */
eddy_tensor eddy_compose_transforms(eddy_tensor first, eddy_tensor second)
{
    const char      *who = "compose_transforms";
    const eddy_shape want = EDDY_SHAPE(EDDY_ANY, 8);
    if (!check_parameters(who, "transforms", first, want) ||
        !check_parameters(who, "transforms", second, want))
        return eddy_none(first.graph);
    const eddy_tensor all = eddy_reshape(MatMul(matrices(first), matrices(second)),
                                         EDDY_SHAPE(EDDY_ANY, 9));
    return Div(eddy_index(all, ":, :8"), eddy_index(all, ":, 8:"));
}
