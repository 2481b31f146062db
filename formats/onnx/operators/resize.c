/* resize.c -- Resize and Upsample: each axis is resized by itself, as a sum of gathered rows with
 * weights, which are computed while the graph is built. */
#include "../build.h"
#include "../../../ops/short_names.h"

#include <math.h>
#include <string.h>

typedef enum mode { NEAREST, LINEAR, CUBIC } mode;

typedef struct resizing {
    mode        mode;
    char        coordinate[40], nearest[24];
    double      a, extrapolation;       /* of the cubic kernel */
    bool        exclude, antialias;
    double      roi[2];                 /* of this axis */
} resizing;

/* The rows and weights of each output: taps of them. */
typedef struct taps {
    int      count;
    int64_t *at;                        /* [count][outputs] */
    double  *weight;
    bool    *outside;                   /* of tf_crop_and_resize */
    bool     any_outside;
} taps;

/* Where output i lies in the input; `length` is the size of the output before rounding. */
static double source_of(const resizing *r, double i, double size, double out, double length,
                        double scale)
{
    const char *c = r->coordinate;
    if (strcmp(c, "asymmetric") == 0) return i / scale;
    if (strcmp(c, "align_corners") == 0) return length == 1 ? 0 : i * (size - 1) / (length - 1);
    if (strcmp(c, "pytorch_half_pixel") == 0) return length > 1 ? (i + 0.5) / scale - 0.5 : 0;
    if (strcmp(c, "tf_half_pixel_for_nn") == 0) return (i + 0.5) / scale;
    if (strcmp(c, "tf_crop_and_resize") == 0) {
        if (out <= 1) return 0.5 * (r->roi[0] + r->roi[1]) * (size - 1);
        return r->roi[0] * (size - 1) + i * (r->roi[1] - r->roi[0]) * (size - 1) / (out - 1);
    }
    if (strcmp(c, "half_pixel_symmetric") == 0) {
        const double adjust = out / length, center = size / 2;
        return center * (1 - adjust) + (i + 0.5) / scale - 0.5;
    }
    return (i + 0.5) / scale - 0.5;
}

static double nearest_of(const resizing *r, double x)
{
    if (strcmp(r->nearest, "floor") == 0) return floor(x);
    if (strcmp(r->nearest, "ceil") == 0) return ceil(x);
    if (strcmp(r->nearest, "round_prefer_ceil") == 0) return floor(x + 0.5);
    return ceil(x - 0.5);
}

/* The weight at a distance. */
static double kernel(const resizing *r, double d)
{
    const double a = r->a;
    d = fabs(d);
    if (r->mode == LINEAR) return d < 1 ? 1 - d : 0;
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/* The taps of output i, whose position is x, in column i. With antialiasing the kernel is as wide
 * as the distance of two outputs. */
static void fill(const resizing *r, taps *t, int64_t i, int64_t outputs, double x, int64_t size,
                 double scale)
{
    const double narrow = r->antialias && scale < 1 ? scale : 1;
    const double start = r->mode == NEAREST ? nearest_of(r, x) : floor(x) - t->count / 2 + 1;
    double       sum = 0;
    for (int k = 0; k < t->count; k++) {
        const double at = start + k;
        double       w = r->mode == NEAREST ? 1 : kernel(r, (at - x) * narrow);
        if (r->exclude && (at < 0 || at > (double)(size - 1))) w = 0;
        t->at[k * outputs + i] = at < 0 ? 0 : at > (double)(size - 1) ? size - 1 : (int64_t)at;
        t->weight[k * outputs + i] = w;
        sum += w;
    }
    for (int k = 0; k < t->count && sum != 0; k++) t->weight[k * outputs + i] /= sum;
}

static bool taps_of(onnx_build *b, const resizing *r, int64_t size, int64_t out, double scale,
                    double length, taps *t)
{
    const int    radius = r->mode == CUBIC ? 2 : 1;
    const double narrow = r->antialias && scale < 1 ? scale : 1;
    *t = (taps){ .count = r->mode == NEAREST ? 1 : 2 * (int)ceil(radius / narrow) };
    if (t->count > 4096 || out > ONNX_MAX_COMPUTED / t->count)
        return eddy__onnx_missing(b, "the scale is too small or too large");
    t->at = eddy__region_take(b->memory, (size_t)(t->count * out), sizeof *t->at);
    t->weight = eddy__region_take(b->memory, (size_t)(t->count * out), sizeof *t->weight);
    t->outside = eddy__region_take(b->memory, (size_t)out, sizeof *t->outside);
    if (!t->at || !t->weight || !t->outside) return eddy__onnx_missing(b, "out of memory");
    for (int64_t i = 0; i < out; i++) {
        const double x = source_of(r, (double)i, (double)size, (double)out, length, scale);
        fill(r, t, i, out, x, size, scale);
        t->outside[i] =
            strcmp(r->coordinate, "tf_crop_and_resize") == 0 && (x < 0 || x > (double)(size - 1));
        t->any_outside = t->any_outside || t->outside[i];
    }
    return true;
}

/* A constant along one axis. */
static eddy_tensor along(eddy_graph *g, eddy_dtype d, const void *data, int64_t n, int axis,
                         int rank)
{
    eddy_shape s = { .rank = rank };
    for (int i = 0; i < rank; i++) s.dim[i] = i == axis ? n : 1;
    return eddy_const(g, d, s, data);
}

static eddy_tensor resized(onnx_build *b, const resizing *r, eddy_tensor x, int axis, int64_t out,
                           double scale, double length)
{
    const int rank = eddy_shape_of(x).rank;
    taps      t;
    if (!taps_of(b, r, eddy_shape_of(x).dim[axis], out, scale, length, &t)) return x;
    const bool  whole = !eddy_dtype_is_floating(eddy_dtype_of(x));
    eddy_tensor y = EDDY_NO_TENSOR;
    for (int k = 0; k < t.count; k++) {
        eddy_tensor row =
            eddy_gather(x, eddy__onnx_int64s(b, t.at + k * out, (int)out), .axis = axis);
        if (r->mode == NEAREST) return row;
        row = Mul(whole ? Cast(row, EDDY_FLOAT32) : row,
                  Cast(along(b->graph, EDDY_FLOAT64, t.weight + k * out, out, axis, rank),
                       whole ? EDDY_FLOAT32 : eddy_dtype_of(x)));
        y = k ? Add(y, row) : row;
    }
    if (t.any_outside)
        y = Where(along(b->graph, EDDY_BOOL, t.outside, out, axis, rank),
                  NumberLike(r->extrapolation, y), y);
    return CastLike(y, x);
}

/* ------------------------------------------------------------------- options -- */

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
}

typedef struct sizes {
    double  scale[EDDY_MAX_RANK], length[EDDY_MAX_RANK];
    int64_t out[EDDY_MAX_RANK];
    bool    done[EDDY_MAX_RANK];        /* the axis is resized */
} sizes;

/* One number for each of the axes. */
static const eddy_array *numbers(onnx_build *b, int i, int count, const char *what)
{
    const eddy_array *a = eddy__onnx_need(b, i, what);
    if (a && eddy_array_count(a) != count)
        return eddy__onnx_invalid(b, "%s must be %d numbers", what, count), NULL;
    return a;
}

static bool from_scale(onnx_build *b, sizes *z, int axis, double scale)
{
    const int64_t size = eddy_shape_of(eddy__onnx_in(b, 0)).dim[axis];
    if (scale == 1) return true;
    if (size < 0) return eddy__onnx_missing(b, "the size of axis %d must be known", axis);
    if (!(scale > 0 && scale < 1e6)) return eddy__onnx_invalid(b, "a scale is not positive");
    z->scale[axis] = scale;
    z->length[axis] = (double)size * scale;
    z->out[axis] = (int64_t)floor((double)size * scale + 1e-9 * (double)size);
    z->done[axis] = true;
    return true;
}

/* keep_aspect_ratio_policy: one scale for all axes, the smallest or the largest. */
static bool from_sizes(onnx_build *b, sizes *z, const eddy_array *want, const int64_t *axes, int n)
{
    const eddy_shape s = eddy_shape_of(eddy__onnx_in(b, 0));
    const bool       least = eddy__onnx_is(b, "keep_aspect_ratio_policy", "not_larger", false);
    const bool       most = eddy__onnx_is(b, "keep_aspect_ratio_policy", "not_smaller", false);
    double           common = least ? HUGE_VAL : 0;
    for (int i = 0; i < n; i++) {
        const double in = (double)s.dim[axes[i]], scale = eddy_array_get(want, i) / in;
        if ((least || most) && in < 1)
            return eddy__onnx_missing(b, "the sizes of the input must be known");
        common = least ? fmin(common, scale) : fmax(common, scale);
    }
    for (int i = 0; i < n; i++) {
        const int     axis = (int)axes[i];
        const int64_t size = s.dim[axis];
        z->out[axis] = least || most ? (int64_t)floor(common * (double)size + 0.5)
                                     : eddy__element_integer(want, i);
        if (z->out[axis] == size) continue;
        if (size < 0) return eddy__onnx_missing(b, "the size of axis %d must be known", axis);
        if (size == 0 || z->out[axis] < 0) return eddy__onnx_invalid(b, "a size is not positive");
        z->scale[axis] = least || most ? common : (double)z->out[axis] / (double)size;
        z->length[axis] = (double)z->out[axis];
        z->done[axis] = true;
    }
    return true;
}

/* Where the inputs are: [X, scales] before operator set 11, then [X, roi, scales, sizes]. */
static bool find_sizes(onnx_build *b, sizes *z, int64_t *axes, int *n)
{
    const int rank = eddy__onnx_rank(b, 0);
    *n = b->version < 18 ? ONNX_ABSENT : eddy__onnx_axes(b, -1, "axes", rank, axes);
    if (*n == ONNX_FAILED) return false;
    for (int i = 0; *n == ONNX_ABSENT && i < rank; i++) axes[i] = i;
    if (*n == ONNX_ABSENT) *n = rank;
    const int  at = b->version < 11 ? 1 : 2;
    onnx_value *scales = eddy__onnx_value_in(b, at);
    const bool by_sizes = b->version >= 11 && eddy__onnx_has(b, 3);
    if (!by_sizes ||
        (scales && eddy__onnx_array_of(b, scales) && eddy_array_count(scales->array))) {
        int           count;
        const double *list = b->version < 9 ? eddy__onnx_floats(b, "scales", &count) : NULL;
        if (list && count != *n) return eddy__onnx_invalid(b, "there are %d scales", count);
        const eddy_array *a = list ? NULL : numbers(b, at, *n, "scales");
        if (!list && !a) return false;
        for (int i = 0; i < *n; i++)
            if (!from_scale(b, z, (int)axes[i], list ? list[i] : eddy_array_get(a, i)))
                return false;
        return true;
    }
    const eddy_array *want = numbers(b, 3, *n, "sizes");
    return want && from_sizes(b, z, want, axes, *n);
}

static bool resize(onnx_build *b)
{
    sizes       z = { .scale = { 0 } };
    resizing    r;
    int64_t     axes[ONNX_MAX_LIST];
    int         n;
    eddy_tensor x = eddy__onnx_in(b, 0);
    if (eddy__onnx_rank(b, 0) < 0)
        return eddy__onnx_missing(b, "the rank of the input must be known");
    options(b, &r);
    if (!find_sizes(b, &z, axes, &n)) return false;
    const bool        crops = strcmp(r.coordinate, "tf_crop_and_resize") == 0;
    const eddy_array *roi = crops ? numbers(b, 1, 2 * n, "roi") : NULL;
    if (crops && !roi) return false;
    for (int i = 0; i < n && !b->reason; i++) {
        const int axis = (int)axes[i];
        if (crops) {
            r.roi[0] = eddy_array_get(roi, i);
            r.roi[1] = eddy_array_get(roi, n + i);
            if (!z.done[axis] && r.roi[0] == 0 && r.roi[1] == 1) continue;
            if (!z.done[axis]) {
                z.out[axis] = eddy_shape_of(x).dim[axis];
                if (z.out[axis] < 0)
                    return eddy__onnx_missing(b, "the size of axis %d must be known", axis);
                z.scale[axis] = 1;
                z.length[axis] = (double)z.out[axis];
            }
        } else if (!z.done[axis]) continue;
        x = resized(b, &r, x, axis, z.out[axis], z.scale[axis], z.length[axis]);
    }
    return !b->reason && eddy__onnx_put(b, 0, Identity(x));
}

const onnx_operator eddy__onnx_resize[] = {
    { "Resize", 10, resize }, { "Upsample", 7, resize }, { NULL },
};
