/* dilation2d.c -- grayscale dilation and erosion of images (morphology): the maximum over the
 * elements of a filter, each of which corresponds to a slice of the image. */
#include "ops/arrays/arrays.h"
#include "ops/nets/expect_shape.h"
#include "graph/call_options.h"
#include "ops/short_names.h"

#include <math.h>
#include <string.h>

#ifdef EDDY_HEADER
/* Arguments of eddy_dilation2d and eddy_erosion2d. */
typedef struct eddy_dilation2d_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_dilation2d_args));
    eddy_tensor x, filter;
    eddy_dims   strides;           /* of height and width, one for both, or four; default: 1 */
    eddy_dims   rates;             /* likewise */
    const char *padding;           /* "VALID" (default) or "SAME" */
    const char *name;
} eddy_dilation2d_args;
#endif

enum { MOST_TAPS = 1024 };

/* For height and for width. */
typedef struct dilation {
    int64_t taps, step, gap, before, after, out;
} dilation;

/* Entry i of height and width. */
static bool take_entry(eddy_dims d, int i, int64_t *v)
{
    if (d.no_number_) return false;
    if (d.count > 0 && d.count != 1 && d.count != 2 && d.count != 4) return false;
    if (d.count == 4 && (d.at[0] != 1 || d.at[3] != 1)) return false;
    *v = d.count <= 0 ? 1 : d.at[d.count == 1 ? 0 : d.count == 4 ? 1 + i : i];
    return *v >= 1 && *v <= INT32_MAX;
}

/* The windows along an axis of size n; returns false if the filter does not fit. */
static bool settle(dilation *d, int64_t n, bool same)
{
    const int64_t span = (d->taps - 1) * d->gap + 1;
    if (!same) {
        d->out = n < span ? 0 : (n - span) / d->step + 1;
        return d->out > 0;
    }
    d->out = n / d->step + (n % d->step != 0);
    const int64_t all = d->out > 0 ? (d->out - 1) * d->step + span - n : 0;
    d->before = all > 0 ? all / 2 : 0;
    d->after = all > 0 ? all - all / 2 : 0;
    return d->out > 0;
}

static bool take_options(const char *op, const eddy_dilation2d_args *a, dilation *d)
{
    const eddy_shape s = eddy_shape_of(a->x), f = eddy_shape_of(a->filter);
    const bool same = a->padding && strcmp(a->padding, "SAME") == 0;
    char text[2][128];
    if (!eddy__check_floats(op, a->x)) return false;
    bool fits = !a->padding || same || strcmp(a->padding, "VALID") == 0;
    for (int i = 0; i < 2; i++)
        fits = fits && take_entry(a->strides, i, &d[i].step) && take_entry(a->rates, i, &d[i].gap);
    if (!fits) {
        eddy_fail(a->x.graph, EDDY_INVALID_ARGUMENT,
                  "%s: padding must be VALID or SAME; strides and rates must be positive and have "
                  "1 or 2 entries, or 4 with 1 for batch and channels",
                  op);
        return false;
    }
    fits = s.rank == 4 && s.dim[1] >= 0 && s.dim[2] >= 0 && f.rank == 3 && f.dim[0] > 0 &&
           f.dim[1] > 0 && f.dim[0] <= MOST_TAPS / f.dim[1];
    int64_t channels = fits ? s.dim[3] : 0;
    fits = fits && eddy__dim_unify(&channels, f.dim[2]);
    for (int i = 0; i < 2 && fits; i++) {
        d[i].taps = f.dim[i];
        fits = settle(&d[i], s.dim[1 + i], same);
    }
    if (!fits)
        eddy_fail(a->x.graph, EDDY_BAD_SHAPE,
                  "%s: x has shape %s and the filter %s; expected rank 4 and rank 3, equal "
                  "channels, known sizes, and a filter of at most %d positions that fits in x",
                  op, eddy_shape_print(s, text[0], sizeof text[0]),
                  eddy_shape_print(f, text[1], sizeof text[1]), MOST_TAPS);
    return fits;
}

static eddy_tensor dilated(const char *op, const eddy_dilation2d_args *a, eddy_tensor x,
                           eddy_tensor filter)
{
    const eddy_tensor none = eddy_none(a->x.graph);
    dilation    d[2] = { { 0 } };
    eddy_tensor y = none;
    if (!take_options(op, a, d)) return none;
    if (d[0].before + d[0].after + d[1].before + d[1].after > 0)
        x = eddy_pad(x, EDDY_DIMS(0, d[0].before, d[1].before, 0),
                     EDDY_DIMS(0, d[0].after, d[1].after, 0), -INFINITY);
    for (int64_t t = 0; t < d[0].taps * d[1].taps && eddy_is_valid(x); t++) {
        const int64_t tap[] = { t / d[1].taps, t % d[1].taps };
        eddy_dims from = EDDY_DIMS(0, 0, 0), to = from;
        for (int i = 0; i < 2; i++) {
            from.at[1 + i] = tap[i] * d[i].gap;
            to.at[1 + i] = from.at[1 + i] + (d[i].out - 1) * d[i].step + 1;
        }
        const eddy_tensor at = eddy_strided_slice(filter, EDDY_DIMS(tap[0], tap[1]),
                                                  EDDY_DIMS(tap[0] + 1, tap[1] + 1),
                                                  .shrink_axis_mask = 3);
        const eddy_tensor part = Add(eddy_strided_slice(
            x, from, to, EDDY_DIMS(1, d[0].step, d[1].step), .end_mask = 1), at);
        y = t > 0 ? Maximum(y, part) : part;
    }
    return y;
}

static eddy_tensor missing(const char *op, const eddy_dilation2d_args *a)
{
    return eddy_fail(a->x.graph, EDDY_INVALID_ARGUMENT, "%s: the filter is not a valid tensor", op);
}

static eddy_tensor named(eddy_tensor y, const char *name)
{
    return name && eddy_is_valid(y) ? eddy_named(name, y) : y;
}

/** y[n, i, j, c] = the maximum over di, dj of
 *                   x[n, i*stride + di*rate, j*stride + dj*rate, c] + filter[di, dj, c]
 *
 *  x        float32 or float64 [batch, height, width, channels]; height and width must be known
 *  filter   same type, [height, width, channels], of known sizes, at most 1024 positions
 *  strides  of height and width, one for both, or one per dimension of x; default: 1
 *  rates    spacing between the input elements of adjacent filter elements; likewise
 *  padding  "VALID" (default) or "SAME"; padding is ignored in the maximum
 *
 *  The cost is one slice of x per filter position.  NaN if any term is NaN.
 *  Errors: EDDY_BAD_SHAPE unless shapes match and are known as required; EDDY_INVALID_ARGUMENT for
 *  invalid options; EDDY_BAD_DTYPE.
 *  Gradient: dx and dfilter = dy at the maximum; in case of a tie, at the first filter position.
 *  TensorFlow: Dilation2D (nn.dilation2d). */
eddy_tensor eddy_dilation2d_with(const eddy_dilation2d_args *given)
{
    eddy_dilation2d_args a = EDDY_TAKE(eddy_dilation2d_args, given);
    if (!eddy_is_valid(a.x)) return eddy_identity(a.x);      /* reports or propagates the error */
    if (!eddy_is_valid(a.filter)) return missing("dilation2d", &a);
    return named(dilated("dilation2d", &a, a.x, a.filter), a.name);
}

/** y[n, i, j, c] = the minimum over di, dj of
 *                   x[n, i*stride + di*rate, j*stride + dj*rate, c] - reversed[di, dj, c],
 *  where `reversed` is the filter with height and width reversed.
 *
 *  x, filter, strides, rates, padding  as for eddy_dilation2d
 *
 *  It equals -eddy_dilation2d(-x, reversed).
 *  Errors, gradient: those of eddy_dilation2d.  TensorFlow: nn.erosion2d. */
eddy_tensor eddy_erosion2d_with(const eddy_dilation2d_args *given)
{
    eddy_dilation2d_args a = EDDY_TAKE(eddy_dilation2d_args, given);
    if (!eddy_is_valid(a.x)) return eddy_identity(a.x);
    if (!eddy_is_valid(a.filter)) return missing("erosion2d", &a);
    if (eddy_shape_of(a.filter).rank != 3) return dilated("erosion2d", &a, a.x, a.filter);
    const eddy_tensor reversed = eddy_reverse(a.filter, EDDY_AXES(0, 1));
    return named(Neg(dilated("erosion2d", &a, Neg(a.x), reversed)), a.name);
}
