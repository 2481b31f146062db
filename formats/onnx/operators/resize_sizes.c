/* resize_sizes.c -- the sizes of the axes that are resized: from scales or sizes, which a run may
 * compute. */
#include "resize.h"
#include "../../../ops/short_names.h"

#include <math.h>

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
            list[k] = a                        ? eddy_array_get(a, k)
                      : sizes && sizes[k] >= 0 ? (double)sizes[k]
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

/* The inputs are [X, scales] before operator set 11, then [X, roi, scales, sizes]. */
bool eddy__onnx_resize_sizes(onnx_build *b, const resizing *r, axis_sizes *z, int n)
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
