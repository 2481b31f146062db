/* resize_axis.c -- resizing along one axis: a sum of gathered rows with weights. */
#include "resize.h"
#include "../../../ops/short_names.h"

#include <math.h>
#include <string.h>

static eddy_tensor cropped(const axis_sizes *z, eddy_tensor i)
{
    const eddy_tensor last = Sub(z->size, 1);
    const eddy_tensor first = Mul(z->roi[0], last), end = Mul(z->roi[1], last);
    const eddy_tensor step = Div(Sub(end, first), Maximum(Sub(z->out, 1), 1));
    return Where(LessEqual(z->out, 1), Mul(Add(first, end), 0.5), Add(first, Mul(i, step)));
}

/* Where the outputs i lie in the input. */
static eddy_tensor source_of(const resizing *r, const axis_sizes *z, eddy_tensor i)
{
    const char *c = r->coordinate;
    if (r->crops) return cropped(z, i);
    if (strcmp(c, "asymmetric") == 0) return Div(i, z->scale);
    if (strcmp(c, "align_corners") == 0)
        return DivNoNan(Mul(i, Sub(z->size, 1)), Sub(z->length, 1));
    const eddy_tensor half = Div(Add(i, 0.5), z->scale);
    if (strcmp(c, "tf_half_pixel_for_nn") == 0) return half;
    const eddy_tensor x = Sub(half, 0.5);
    if (strcmp(c, "pytorch_half_pixel") == 0)
        return Where(Greater(z->length, 1), x, ZerosLike(x));
    if (strcmp(c, "half_pixel_symmetric") != 0) return x;
    return Add(x, Mul(Div(z->size, 2), Sub(1, Div(z->out, z->length))));
}

static eddy_tensor nearest_of(const resizing *r, eddy_tensor x)
{
    if (strcmp(r->nearest, "floor") == 0) return Floor(x);
    if (strcmp(r->nearest, "ceil") == 0) return Ceil(x);
    if (strcmp(r->nearest, "round_prefer_ceil") == 0) return Floor(Add(x, 0.5));
    return Ceil(Sub(x, 0.5));
}

/* The weights at distances. */
static eddy_tensor kernel(const resizing *r, eddy_tensor distance)
{
    const double      a = r->a;
    const eddy_tensor d = Abs(distance);
    if (r->mode == LINEAR) return Maximum(Sub(1, d), 0);
    const eddy_tensor near = Add(Mul(Mul(Sub(Mul(d, a + 2), a + 3), d), d), 1);
    const eddy_tensor far = Sub(Mul(Add(Mul(Sub(Mul(d, a), 5 * a), d), 8 * a), d), 4 * a);
    return Where(LessEqual(d, 1), near, Where(Less(d, 2), far, ZerosLike(d)));
}

/* A vector along one axis. */
static eddy_tensor along(eddy_tensor v, int axis, int rank)
{
    eddy_shape s = { .rank = rank };
    for (int i = 0; i < rank; i++) s.dim[i] = i == axis ? EDDY_ANY : 1;
    return Reshape(v, s);
}

/* Rows of x at these places, or at the first or last place. */
static eddy_tensor rows_at(eddy_tensor x, eddy_tensor at, const axis_sizes *z)
{
    const eddy_tensor inside = Maximum(Minimum(at, Sub(z->size, 1)), 0);
    return eddy_gather(x, Cast(inside, EDDY_INT64), .axis = z->axis);
}

enum { MOST_TAPS = 4096 };

/* The number of rows for each output; with antialiasing the kernel is as wide as the distance of
 * two outputs. 0 with a reason. */
static int count_taps(onnx_build *b, const resizing *r, const axis_sizes *z)
{
    const int    radius = r->mode == CUBIC ? 2 : 1;
    const double scale = r->antialias ? z->known_scale : 1;
    if (isnan(scale)) return eddy__onnx_unbound(b, "the scale must be known for antialias");
    if (scale < 2.0 * radius / MOST_TAPS) return eddy__onnx_missing(b, "the scale is too small");
    return 2 * (int)ceil(radius / fmin(scale, 1));
}

/* x at the places `at` between its rows. */
static eddy_tensor between_rows(onnx_build *b, const resizing *r, const axis_sizes *z,
                                eddy_tensor x, eddy_tensor at)
{
    const bool        narrow = r->antialias && z->known_scale < 1;
    const int         count = count_taps(b, r, z), rank = eddy_shape_of(x).rank;
    const eddy_tensor start = Sub(Floor(at), count / 2 - 1), last = Sub(z->size, 1);
    eddy_tensor       sum = EDDY_NO_TENSOR, weights = EDDY_NO_TENSOR;
    for (int k = 0; k < count; k++) {
        const eddy_tensor place = Add(start, k), d = Sub(place, at);
        eddy_tensor       w = kernel(r, narrow ? Mul(d, z->known_scale) : d);
        if (r->exclude)
            w = Where(LogicalOr(Less(place, 0), Greater(place, last)), ZerosLike(w), w);
        const eddy_tensor row =
            Mul(rows_at(x, place, z), along(Cast(w, eddy_dtype_of(x)), z->axis, rank));
        sum = k ? Add(sum, row) : row;
        weights = k ? Add(weights, w) : w;
    }
    if (!count || (!r->exclude && !narrow)) return sum;         /* they add up to 1 */
    return DivNoNan(sum, along(Cast(weights, eddy_dtype_of(x)), z->axis, rank));
}

eddy_tensor eddy__onnx_resized(onnx_build *b, const resizing *r, const axis_sizes *z,
                               eddy_tensor x)
{
    const eddy_tensor none = eddy_number(b->graph, EDDY_INT64, 0);
    const eddy_tensor i = eddy_range(none, Cast(z->out, EDDY_INT64), NumberLike(1, none));
    const eddy_tensor at = source_of(r, z, Cast(i, EDDY_FLOAT64));
    const bool        whole = !eddy_dtype_is_floating(eddy_dtype_of(x));
    eddy_tensor       y = r->mode == NEAREST
                              ? rows_at(x, nearest_of(r, at), z)
                              : between_rows(b, r, z, whole ? Cast(x, EDDY_FLOAT32) : x, at);
    if (r->crops) {
        const eddy_tensor outside = LogicalOr(Less(at, 0), Greater(at, Sub(z->size, 1)));
        y = Where(along(outside, z->axis, eddy_shape_of(x).rank), NumberLike(r->extrapolation, y),
                  y);
    }
    return CastLike(y, x);
}
