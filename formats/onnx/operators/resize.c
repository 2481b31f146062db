/* resize.c -- Resize and Upsample: each axis is resized by itself. */
#include "resize.h"
#include "../../../ops/short_names.h"

#include <stdio.h>
#include <string.h>

static void options(onnx_build *b, resizing *r)
{
    const bool old = b->version < 11;
    *r = (resizing){ .a = eddy__onnx_float(b, "cubic_coeff_a", -0.75),
                     .extrapolation = eddy__onnx_float(b, "extrapolation_value", 0),
                     .exclude = eddy__onnx_int(b, "exclude_outside", 0) != 0,
                     .antialias = eddy__onnx_int(b, "antialias", 0) != 0 };
    r->mode =
        eddy__onnx_is(b, "mode", "cubic", false) ? CUBIC
        : eddy__onnx_is(b, "mode", "linear", false) || eddy__onnx_is(b, "mode", "bilinear", false)
            ? LINEAR
            : NEAREST;
    snprintf(r->coordinate, sizeof r->coordinate, "%s",
             old ? "asymmetric"
                 : eddy__onnx_text(b, "coordinate_transformation_mode", "half_pixel"));
    snprintf(r->nearest, sizeof r->nearest, "%s",
             old ? "floor" : eddy__onnx_text(b, "nearest_mode", "round_prefer_floor"));
    r->crops = strcmp(r->coordinate, "tf_crop_and_resize") == 0;
}

static bool resize(onnx_build *b)
{
    resizing    r;
    int64_t     axes[ONNX_MAX_LIST];
    axis_sizes  z[EDDY_MAX_RANK];
    const int   rank = eddy__onnx_rank(b, 0);
    eddy_tensor x = eddy__onnx_in(b, 0);
    if (rank < 0) return eddy__onnx_missing(b, "the rank of the input must be known");
    int n = b->version < 18 ? ONNX_ABSENT : eddy__onnx_axes(b, -1, "axes", rank, axes);
    if (n == ONNX_FAILED) return false;
    for (int i = 0; n == ONNX_ABSENT && i < rank; i++) axes[i] = i;
    if (n == ONNX_ABSENT) n = rank;
    if (n > rank) return eddy__onnx_invalid(b, "axes are too many");
    for (int k = 0; k < n; k++) z[k] = (axis_sizes){ .axis = (int)axes[k] };
    options(b, &r);
    if (!eddy__onnx_resize_sizes(b, &r, z, n)) return false;
    for (int k = 0; k < n && !b->reason; k++)
        if (z[k].known_scale != 1) x = eddy__onnx_resized(b, &r, &z[k], x);
    return eddy__onnx_put(b, 0, Identity(x));
}

const onnx_operator eddy__onnx_resize[] = {
    { "Resize", 10, resize }, { "Upsample", 7, resize }, { NULL },
};
