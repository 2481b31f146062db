/* resize.c -- Resize and Upsample: each axis is resized by itself, as a sum of gathered rows with
 * weights. Both are formulas of the sizes, which a run may compute. */
#include "../build.h"
#include "../../../ops/short_names.h"

#include <math.h>
#include <string.h>

typedef enum mode { NEAREST, LINEAR, CUBIC } mode;

typedef struct resizing {
    mode        mode;
    char        coordinate[40], nearest[24];
    double      a, extrapolation;       /* a: of the cubic kernel */
    bool        exclude, antialias, crops;
} resizing;

/* An axis and its numbers, which are scalars of float64. */
typedef struct axis_sizes {
    int         axis;
    eddy_tensor size, out, scale;
    eddy_tensor length;                 /* of the output before rounding */
    eddy_tensor roi[2];                 /* of tf_crop_and_resize */
    double      known_scale;            /* NAN if only a run tells it */
} axis_sizes;

/* ------------------------------------------------------------------- one axis -- */

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

static eddy_tensor resized(onnx_build *b, const resizing *r, const axis_sizes *z, eddy_tensor x)
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

/* -------------------------------------------------------------------- options -- */

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

/* A list of numbers, one for each of so many axes: an attribute or an input. */
typedef struct numbers {
    eddy_tensor    t;                   /* float64; invalid for an attribute */
    const double  *list;                /* the elements that are known, NAN for others */
} numbers;

static bool read_numbers(onnx_build *b, int i, const char *attr, int count, numbers *n)
{
    int     n_list = count, n_known;
    double *list = eddy__region_take(b->memory, (size_t)count + 1, sizeof *list);
    if (!list) return eddy__onnx_missing(b, "out of memory");
    for (int k = 0; k < count; k++) list[k] = NAN;
    *n = (numbers){ .list = attr ? eddy__onnx_floats(b, attr, &n_list) : NULL };
    if (!n->list && !eddy__onnx_has(b, i))
        return eddy__onnx_invalid(b, "input %d is missing", i);
    if (!n->list) {
        n->list = list;
        n->t = Cast(eddy__onnx_in(b, i), EDDY_FLOAT64);
        const eddy_array *a = eddy__onnx_array_of(b, eddy__onnx_value_in(b, i));
        const int64_t    *sizes = a ? NULL : eddy__onnx_partly(b, i, &n_known);
        const eddy_shape  s = eddy_shape_of(n->t);
        if (a) n_list = (int)eddy_array_count(a);
        else if (s.rank == 1 && s.dim[0] >= 0) n_list = (int)s.dim[0];
        for (int k = 0; k < count && k < n_list; k++)
            list[k] = a                                       ? eddy_array_get(a, k)
                      : sizes && k < n_known && sizes[k] >= 0 ? (double)sizes[k]
                                                              : NAN;
    }
    return n_list == count || eddy__onnx_invalid(b, "the number of sizes or scales is %d, not %d",
                                                 n_list, count);
}

static eddy_tensor number(onnx_build *b, double v)
{
    return eddy_number(b->graph, EDDY_FLOAT64, v);
}

static eddy_tensor number_at(onnx_build *b, const numbers *n, int k)
{
    if (!isnan(n->list[k])) return number(b, n->list[k]);
    return Reshape(eddy_slice(n->t, EDDY_DIMS(k), EDDY_DIMS(1)), EDDY_SCALAR);
}

/* -------------------------------------------------------------- sizes of axes -- */

/* The size of axis z->axis; NAN if only a run tells it. */
static double size_of(onnx_build *b, axis_sizes *z)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const int64_t     size = eddy_shape_of(x).dim[z->axis];
    z->size = size < 0 ? Cast(eddy_size_along(x, z->axis), EDDY_FLOAT64) : number(b, (double)size);
    return size < 0 ? NAN : (double)size;
}

static bool from_scale(onnx_build *b, axis_sizes *z, const numbers *scales, int k)
{
    const double scale = scales->list[k], size = size_of(b, z);
    if (!isnan(scale) && !(scale > 0 && scale < 1e6))
        return eddy__onnx_invalid(b, "a scale is not positive");
    z->known_scale = scale;
    z->scale = number_at(b, scales, k);
    z->length = Mul(z->size, z->scale);
    z->out = isnan(size * scale) ? Floor(Add(z->length, Mul(z->size, 1e-9)))
                                 : number(b, floor(size * scale + 1e-9 * size));
    return true;
}

/* keep_aspect_ratio_policy: one scale for all axes, the smallest or the largest. */
static bool from_common_scale(onnx_build *b, axis_sizes *z, int n, const numbers *want, bool least)
{
    double      known = least ? HUGE_VAL : 0;
    eddy_tensor common = EDDY_NO_TENSOR;
    for (int k = 0; k < n; k++) {
        const double      scale = want->list[k] / size_of(b, &z[k]);
        const eddy_tensor one = Div(number_at(b, want, k), z[k].size);
        known = isnan(known) || isnan(scale) ? NAN
                : least                      ? fmin(known, scale)
                                             : fmax(known, scale);
        common = k == 0 ? one : least ? Minimum(common, one) : Maximum(common, one);
    }
    if (n > 0 && !isnan(known) && !(known > 0 && known < 1e6))
        return eddy__onnx_invalid(b, "a size is not positive");
    for (int k = 0; k < n; k++) {
        z[k].known_scale = known;
        z[k].scale = isnan(known) ? common : number(b, known);
        z[k].length = z[k].out = isnan(known) ? Floor(Add(Mul(common, z[k].size), 0.5))
                                              : number(b, floor(known * size_of(b, &z[k]) + 0.5));
    }
    return true;
}

static bool from_size(onnx_build *b, axis_sizes *z, const numbers *want, int k)
{
    const double out = want->list[k], size = size_of(b, z);
    if (out < 0 || (size == 0 && out != 0)) return eddy__onnx_invalid(b, "a size is not positive");
    z->length = z->out = number_at(b, want, k);
    z->known_scale = out == size ? 1 : out / size;
    z->scale = Div(z->out, z->size);
    return true;
}

/* Where the inputs are: [X, scales] before operator set 11, then [X, roi, scales, sizes]. */
static bool find_sizes(onnx_build *b, const resizing *r, axis_sizes *z, int n)
{
    const int   at = b->version < 11 ? 1 : 2;
    const bool  has_sizes = b->version >= 11 && eddy__onnx_has(b, 3);
    const bool  has_scales = eddy__onnx_has(b, at) &&
                            eddy_shape_count(eddy_shape_of(eddy__onnx_in(b, at))) != 0;
    const bool  least = eddy__onnx_is(b, "keep_aspect_ratio_policy", "not_larger", false);
    const bool  most = eddy__onnx_is(b, "keep_aspect_ratio_policy", "not_smaller", false);
    const bool  by_size = has_sizes && !has_scales;
    numbers     given, roi;
    if (!read_numbers(b, by_size ? 3 : at, b->version < 9 ? "scales" : NULL, n, &given) ||
        (r->crops && !read_numbers(b, 1, NULL, 2 * n, &roi)))
        return false;
    if (by_size && (least || most)) return from_common_scale(b, z, n, &given, least);
    for (int k = 0; k < n; k++)
        if (!(by_size ? from_size : from_scale)(b, &z[k], &given, k)) return false;
    for (int k = 0; r->crops && k < n; k++) {
        z[k].roi[0] = number_at(b, &roi, k);
        z[k].roi[1] = number_at(b, &roi, n + k);
        if (roi.list[k] != 0 || roi.list[n + k] != 1) z[k].known_scale = NAN;
    }
    return true;
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
    if (!find_sizes(b, &r, z, n)) return false;
    for (int k = 0; k < n && !b->reason; k++)
        if (z[k].known_scale != 1) x = resized(b, &r, &z[k], x);
    return !b->reason && eddy__onnx_put(b, 0, Identity(x));
}

const onnx_operator eddy__onnx_resize[] = {
    { "Resize", 10, resize }, { "Upsample", 7, resize }, { NULL },
};
