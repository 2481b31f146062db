/* resize_terms.c -- interpolation weights of each resizing method along an axis: nearest, linear,
 * cubic and area.
 *
 * Positions are computed in float32, as TensorFlow does, wherever rounding decides which
 * elements, or which weight of a table, are used; elsewhere in float64. */
#include "ops/kernels/images/resize.h"

#include <math.h>
#include <string.h>

/* The steps of TensorFlow's table of cubic weights. */
enum { STEPS = 1024 };

eddy_resize_attrs eddy__resize_to_shape(const eddy_resize_attrs *a, eddy_shape made)
{
    eddy_resize_attrs sized = *a;
    sized.size = EDDY_DIMS(made.dim[1], made.dim[2]);
    return sized;
}

/* One axis: `in` positions become `out`. */
typedef struct axis_of {
    int64_t in, out;
    bool    corners, centers;
} axis_of;

static axis_of axis_from(const eddy_resize_attrs *a, int i, int64_t in)
{
    return (axis_of){ in, a->size.at[i], a->align_corners, a->half_pixel_centers };
}

static double scale_of(const axis_of *a)
{
    return a->corners && a->out > 1 ? (double)(a->in - 1) / (double)(a->out - 1)
                                    : (double)a->in / (double)a->out;
}

static float narrow_scale_of(const axis_of *a)
{
    return a->corners && a->out > 1 ? (float)(a->in - 1) / (float)(a->out - 1)
                                    : (float)a->in / (float)a->out;
}

static int64_t bound(int64_t i, int64_t n) { return i < 0 ? 0 : i < n ? i : n - 1; }

static void add(eddy_terms *t, int64_t *count, int64_t at, double weight)
{
    t->at[*count] = (int32_t)at;
    t->wide[(*count)++] = weight;
}

/* ------------------------------------------------------------ the methods -- */

static void nearest(const axis_of *a, int64_t i, eddy_terms *t, int64_t *count)
{
    const float at = ((float)i + (a->centers ? 0.5f : 0.0f)) * narrow_scale_of(a);
    add(t, count, bound((int64_t)(a->corners ? roundf(at) : floorf(at)), a->in), 1);
}

static void bilinear(const axis_of *a, int64_t i, eddy_terms *t, int64_t *count)
{
    const double half = a->centers ? 0.5 : 0, at = ((double)i + half) * scale_of(a) - half;
    const double low = floor(at);
    add(t, count, bound((int64_t)low, a->in), 1 - (at - low));
    add(t, count, bound((int64_t)ceil(at), a->in), at - low);
}

/* The weight at distance x, below 2, in cubic interpolation with the slopes -a (y[1] - y[-1]);
 * Keys, "Cubic convolution interpolation for digital image processing", 1981. */
static double cubic(double x, double a)
{
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

/* With half-pixel centers, pixels outside have no weight, and the other weights are scaled to add
 * up to 1. */
static void bicubic(const axis_of *a, int64_t i, eddy_terms *t, int64_t *count)
{
    const float half = a->centers ? 0.5f : 0.0f;
    const float at = ((float)i + half) * narrow_scale_of(a) - half;
    const int64_t low = (int64_t)floorf(at), first = *count;
    const double delta = (double)lrintf((at - floorf(at)) * STEPS) / STEPS;
    double sum = 0;
    for (int64_t j = -1; j < 3; j++) {
        const int64_t place = bound(low + j, a->in);
        double weight = cubic(fabs((double)j - delta), a->centers ? -0.5 : -0.75);
        if (a->centers && place != low + j) weight = 0;
        sum += weight;
        add(t, count, place, weight);
    }
    for (int64_t j = first; a->centers && sum != 0 && j < *count; j++) t->wide[j] /= sum;
}

/* The share of each element in the interval that belongs to position i. */
static void area(const axis_of *a, int64_t i, eddy_terms *t, int64_t *count)
{
    const double scale = scale_of(a), from = (double)i * scale, to = from + scale;
    const int64_t end = (int64_t)ceil(to);
    if (scale == 0) {                   /* one element with its corners aligned */
        add(t, count, 0, 1);
        return;
    }
    for (int64_t j = (int64_t)floor(from); j < end; j++) {
        const double left = fmax(from, (double)j), right = fmin(to, (double)j + 1);
        if (right > left) add(t, count, bound(j, a->in), (right - left) / scale);
    }
}

/* ------------------------------------------------------------------ tables -- */

static int64_t most_terms(eddy_resize_method m, const axis_of *a)
{
    switch (m) {
    case EDDY_RESIZE_NEAREST:  return a->out;
    case EDDY_RESIZE_BILINEAR: return 2 * a->out;
    case EDDY_RESIZE_BICUBIC:  return 4 * a->out;
    case EDDY_RESIZE_AREA:     break;
    }
    return 2 * (a->in + a->out) + 2;    /* an aligned corner may extend one interval */
}

uint64_t eddy__terms_bytes(eddy_resize_method m, const eddy_resize_attrs *a, int i, int64_t in)
{
    const axis_of axis = axis_from(a, i, in);
    const int64_t places = axis.out > in ? axis.out : in, most = most_terms(m, &axis);
    return (uint64_t)(places + 1) * sizeof(int64_t) +
           (uint64_t)most * (sizeof(double) + sizeof(float) + sizeof(int32_t));
}

/* Empty terms, with room for `most` of them. */
static eddy_terms terms_in(void *memory, int64_t n, int64_t read, int64_t most)
{
    eddy_terms t = { .n = n, .read = read, .first = memory };
    t.wide = (double *)(void *)(t.first + n + 1);
    t.narrow = (float *)(void *)(t.wide + most);
    t.at = (int32_t *)(void *)(t.narrow + most);
    return t;
}

static eddy_terms forward(eddy_resize_method m, const axis_of *a, int64_t most, void *memory)
{
    static void (*const fill[])(const axis_of *, int64_t, eddy_terms *, int64_t *) = {
        nearest, bilinear, bicubic, area
    };
    eddy_terms t = terms_in(memory, a->out, a->in, most);
    int64_t count = 0;
    for (int64_t i = 0; i < a->out; i++) {
        t.first[i] = count;
        fill[m](a, i, &t, &count);
    }
    t.first[a->out] = count;
    t.mix = m == EDDY_RESIZE_BILINEAR;
    return t;
}

/* The transposed terms: those of each position of the input, in the order of the positions of the
 * result. */
static eddy_terms transposed(const eddy_terms *t, int64_t most, void *memory)
{
    eddy_terms y = terms_in(memory, t->read, t->n, most);
    memset(y.first, 0, (size_t)(y.n + 1) * sizeof *y.first);
    for (int64_t i = 0; i < t->first[t->n]; i++) y.first[t->at[i]]++;
    for (int64_t i = 0, sum = 0; i <= y.n; i++) {
        const int64_t here = y.first[i];
        y.first[i] = sum;
        sum += here;
    }
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t j = t->first[i]; j < t->first[i + 1]; j++) {
            const int64_t to = y.first[t->at[j]]++;
            y.at[to] = (int32_t)i;
            y.wide[to] = t->wide[j];
        }
    memmove(y.first + 1, y.first, (size_t)y.n * sizeof *y.first);
    y.first[0] = 0;
    return y;
}

eddy_terms eddy__terms_of(eddy_resize_method m, const eddy_resize_attrs *a, int i, int64_t in,
                          bool back, void *memory)
{
    const axis_of axis = axis_from(a, i, in);
    const int64_t most = most_terms(m, &axis);
    eddy_terms t = forward(m, &axis, most, memory);
    if (back) t = transposed(&t, most, (char *)memory + eddy__terms_bytes(m, a, i, in));
    t.each = t.n > 0 ? t.first[1] : 0;
    for (int64_t p = 0; p < t.n; p++)
        if (t.first[p + 1] - t.first[p] != t.each) t.each = -1;
    for (int64_t j = 0; j < t.first[t.n]; j++) t.narrow[j] = (float)t.wide[j];
    return t;
}
