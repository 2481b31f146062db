/* sampling.c -- GridSample: sums of gathered pixels times weights, for each neighbor of each
 * position. */
#include "../build.h"
#include "../../../ops/short_names.h"

#include <string.h>

typedef enum padding { ZEROS, BORDER, REFLECTION } padding;

typedef struct sampler {
    padding     padding;
    bool        align;
    int         axes;                   /* 2 or 3 */
    int64_t     size[3];                /* of the input */
    eddy_tensor rows;                   /* [batch, positions of the input, channels] */
} sampler;

/* ------------------------------------------------------------------ positions -- */

/* x mirrored into [least, most] as often as it takes. */
static eddy_tensor reflected(eddy_tensor x, double least, double most)
{
    const double      range = most - least;
    if (range <= 0) return Mul(x, 0);
    const eddy_tensor t = Abs(Sub(x, least)), n = Floor(Div(t, range)), r = Sub(t, Mul(n, range));
    const eddy_tensor odd = Greater(FloorMod(n, 2), 0.5);
    return Where(odd, Sub(most, r), Add(least, r));
}

static eddy_tensor reflected_along(const sampler *s, eddy_tensor x, int axis)
{
    const double size = (double)s->size[axis];
    return s->align ? reflected(x, 0, size - 1) : reflected(x, -0.5, size - 0.5);
}

/* From [-1, 1] to pixels. */
static eddy_tensor denormalized(const sampler *s, eddy_tensor x, int axis)
{
    const double size = (double)s->size[axis];
    x = s->align ? Mul(Add(x, 1), (size - 1) / 2) : Sub(Mul(Add(x, 1), size / 2), 0.5);
    if (s->padding == REFLECTION) x = reflected_along(s, x, axis);
    if (s->padding == BORDER) x = Minimum(Maximum(x, 0), size - 1);
    return x;
}

/* ------------------------------------------------------------------- sampling -- */

/* The pixels at whole positions p [batch, points]; *weight is 0 outside. */
static eddy_tensor pixels(const sampler *s, const eddy_tensor *p, eddy_tensor *weight)
{
    eddy_tensor flat = EDDY_NO_TENSOR;
    for (int i = 0; i < s->axes; i++) {
        const double most = (double)(s->size[i] - 1);
        eddy_tensor  x = p[i];
        if (s->padding == REFLECTION) x = reflected_along(s, x, i);
        if (s->padding == ZEROS) {
            const eddy_tensor inside = LogicalAnd(GreaterEqual(x, 0), LessEqual(x, most));
            *weight = Mul(*weight, CastLike(inside, *weight));
        }
        const eddy_tensor at = Cast(Minimum(Maximum(eddy_rint(x), 0), most), EDDY_INT64);
        flat = i ? Add(Mul(flat, (double)s->size[i]), at) : at;
    }
    return eddy_gather(s->rows, flat, .axis = 1, .batch_dims = 1);
}

static eddy_tensor weighted(const sampler *s, const eddy_tensor *p, eddy_tensor weight)
{
    const eddy_tensor value = pixels(s, p, &weight);
    return Mul(value, ExpandDims(weight, -1));
}

/* The weight of the cubic kernel with a = -0.75 at a distance d. */
static eddy_tensor cubic(eddy_tensor d)
{
    const double      a = -0.75;
    d = Abs(d);
    const eddy_tensor near = Add(Mul(Mul(Sub(Mul(a + 2, d), a + 3), d), d), 1);
    const eddy_tensor far = Sub(Mul(Add(Mul(Sub(Mul(a, d), 5 * a), d), 8 * a), d), 4 * a);
    return Where(LessEqual(d, 1), near, Where(Less(d, 2), far, ZerosLike(d)));
}

/* Sums over `taps` neighbors along each axis: 1 nearest, 2 linear, 4 cubic. */
static eddy_tensor sampled(const sampler *s, const eddy_tensor *p, int taps)
{
    eddy_tensor at[3][4], weight[3][4], y = EDDY_NO_TENSOR;
    int         count = 1;
    for (int i = 0; i < s->axes; i++) {
        const eddy_tensor first = taps == 1 ? eddy_rint(p[i]) : Floor(p[i]);
        for (int k = 0; k < taps; k++) {
            at[i][k] = taps == 1 ? first : Add(first, (double)(k - taps / 2 + 1));
            const eddy_tensor d = Sub(p[i], at[i][k]);
            weight[i][k] = taps == 1 ? OnesLike(d) : taps == 2 ? Sub(1, Abs(d)) : cubic(d);
        }
        count *= taps;
    }
    for (int n = 0; n < count; n++) {
        eddy_tensor q[3], w = EDDY_NO_TENSOR;
        for (int i = 0, rest = n; i < s->axes; i++, rest /= taps) {
            q[i] = at[i][rest % taps];
            w = i ? Mul(w, weight[i][rest % taps]) : weight[i][rest % taps];
        }
        const eddy_tensor term = weighted(s, q, w);
        y = n ? Add(y, term) : term;
    }
    return y;
}

/* x [batch, channels, sizes...] as rows of channels; false with a reason. */
static bool sampler_of(onnx_build *b, eddy_tensor x, sampler *s)
{
    const eddy_shape shape = eddy_shape_of(x);
    int64_t          count = 1;
    s->axes = shape.rank - 2;
    if (s->axes != 2 && s->axes != 3)
        return eddy__onnx_missing(b, "the rank of the input is not 4 or 5");
    for (int i = 0; i < s->axes; i++) {
        s->size[i] = shape.dim[i + 2];
        if (s->size[i] < 1 || s->size[i] > 1 << 24)
            return eddy__onnx_missing(b, "the sizes of the input must be known and at most 2^24");
        count *= s->size[i];
    }
    if (shape.dim[0] < 0 && shape.dim[1] < 0)
        return eddy__onnx_missing(b, "the channels must be known");
    s->rows = eddy_matrix_transpose(Reshape(x, EDDY_SHAPE(shape.dim[0], shape.dim[1], count)));
    return true;
}

static bool grid_sample(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0), grid = eddy__onnx_in(b, 1);
    const eddy_shape  sx = eddy_shape_of(x), sg = eddy_shape_of(grid);
    const bool nearest = eddy__onnx_is(b, "mode", "nearest", false);
    const bool        is_cubic =
        eddy__onnx_is(b, "mode", "bicubic", false) || eddy__onnx_is(b, "mode", "cubic", false);
    sampler s = { .align = eddy__onnx_int(b, "align_corners", 0) != 0,
                  .padding = eddy__onnx_is(b, "padding_mode", "border", false)       ? BORDER
                             : eddy__onnx_is(b, "padding_mode", "reflection", false) ? REFLECTION
                                                                                     : ZEROS };
    if (!sampler_of(b, x, &s)) return false;
    if (sg.rank != sx.rank)
        return eddy__onnx_invalid(b, "the grid does not have the rank of the input");
    int64_t points = 1;
    for (int i = 1; i < sg.rank - 1; i++)
        points = sg.dim[i] < 0 || points < 0 ? -1 : points * sg.dim[i];
    if (points < 0 || sx.dim[1] < 0)
        return eddy__onnx_missing(b, "the sizes of the grid and the channels must be known");
    eddy_tensor p[3];
    for (int i = 0; i < s.axes; i++) {          /* the last coordinate is along the last axis */
        const eddy_tensor at = eddy_gather(grid, eddy_number(b->graph, EDDY_INT32, s.axes - 1 - i),
                                           .axis = sg.rank - 1);
        p[i] = denormalized(&s, Reshape(CastLike(at, x), EDDY_SHAPE(sg.dim[0], points)), i);
    }
    const eddy_tensor y = eddy_matrix_transpose(sampled(&s, p, nearest ? 1 : is_cubic ? 4 : 2));
    eddy_shape        out = { .rank = sx.rank, .dim = { sx.dim[0], sx.dim[1] } };
    for (int i = 0; i < s.axes; i++) out.dim[i + 2] = sg.dim[i + 1];
    return eddy__onnx_put(b, 0, Reshape(y, out));
}

const onnx_operator eddy__onnx_sampling[] = {
    { "GridSample", 16, grid_sample }, { NULL },
};
