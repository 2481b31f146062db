/* deform_conv.c -- convolutions whose windows are sampled at computed offsets. */
#include "../build.h"
#include "../window.h"
#include "../../../ops/short_names.h"

#include <math.h>

/* Values at positions y, x [batch, points], 0 outside, of rows [batch, height width, channels]. */
static eddy_tensor bilinear(eddy_tensor rows, eddy_tensor y, eddy_tensor x, int64_t height,
                            int64_t width)
{
    const eddy_tensor top = Floor(y), left = Floor(x);
    eddy_tensor       sum = EDDY_NO_TENSOR;
    for (int i = 0; i < 4; i++) {
        const eddy_tensor py = Add(top, (double)(i / 2)), px = Add(left, (double)(i % 2));
        const eddy_tensor w = Mul(Sub(1, Abs(Sub(y, py))), Sub(1, Abs(Sub(x, px))));
        const eddy_tensor inside =
            LogicalAnd(LogicalAnd(GreaterEqual(py, 0), LessEqual(py, (double)(height - 1))),
                       LogicalAnd(GreaterEqual(px, 0), LessEqual(px, (double)(width - 1))));
        const eddy_tensor at =
            Add(Mul(Minimum(Maximum(py, 0), (double)(height - 1)), (double)width),
                Minimum(Maximum(px, 0), (double)(width - 1)));
        const eddy_tensor term =
            Mul(eddy_gather(rows, Cast(at, EDDY_INT64), .axis = 1, .batch_dims = 1),
                ExpandDims(Mul(w, CastLike(inside, w)), 2));
        sum = i ? Add(sum, term) : term;
    }
    return sum;
}

/* Where the window of each output begins, plus the position within the window: [1, k, out]. */
static eddy_tensor grid_of(onnx_build *b, const onnx_window *v, int axis, int64_t out_height,
                           int64_t out_width, eddy_dtype d)
{
    const int64_t k = v->size[0] * v->size[1], out = out_height * out_width;
    double       *at = eddy__onnx_computed(b, (int64_t)fmin((double)k * (double)out, 1e15));
    if (!at) return eddy_none(b->graph);
    for (int64_t i = 0; i < k * out; i++) {
        const int64_t window = i / out, point = i % out;
        const int64_t p = axis ? point % out_width : point / out_width;
        const int64_t q = axis ? window % v->size[1] : window / v->size[1];
        at[i] = (double)(p * v->stride[axis] - v->before[axis] + q * v->dilation[axis]);
    }
    return Cast(eddy_const(b->graph, EDDY_FLOAT64, EDDY_SHAPE(1, k, out), at), d);
}

/* The samples of one group of offsets, [batch, channels, k, out], times the mask. */
static eddy_tensor samples(onnx_build *b, const onnx_window *v, int64_t group, eddy_tensor x,
                           eddy_shape out)
{
    const eddy_shape  s = eddy_shape_of(x);
    const int64_t     k = v->size[0] * v->size[1], points = out.dim[2] * out.dim[3], n = s.dim[0];
    const eddy_tensor offset = eddy_slice(eddy__onnx_in(b, 2), EDDY_DIMS(0, group * 2 * k, 0, 0),
                                          EDDY_DIMS(-1, 2 * k, -1, -1));
    const eddy_tensor pairs = Reshape(offset, EDDY_SHAPE(n, k, 2, points));
    eddy_tensor       p[2];
    for (int i = 0; i < 2; i++) {
        const eddy_tensor move =
            eddy_gather(pairs, eddy_number(b->graph, EDDY_INT32, i), .axis = 2);
        p[i] = Reshape(Add(move, grid_of(b, v, i, out.dim[2], out.dim[3], eddy_dtype_of(x))),
                       EDDY_SHAPE(n, k * points));
    }
    const eddy_tensor rows =
        eddy_matrix_transpose(Reshape(x, EDDY_SHAPE(n, s.dim[1], s.dim[2] * s.dim[3])));
    eddy_tensor y = bilinear(rows, p[0], p[1], s.dim[2], s.dim[3]);
    if (eddy__onnx_has(b, 4)) {
        const eddy_tensor mask = eddy_slice(eddy__onnx_in(b, 4), EDDY_DIMS(0, group * k, 0, 0),
                                            EDDY_DIMS(-1, k, -1, -1));
        y = Mul(y, Reshape(mask, EDDY_SHAPE(n, k * points, 1)));
    }
    return Reshape(eddy_matrix_transpose(y), EDDY_SHAPE(n, s.dim[1], k, points));
}

/* A convolution whose window is sampled at computed offsets: the samples as columns, times the
 * filter of each group. */
static bool deform_conv(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0), w = eddy__onnx_in(b, 1);
    const eddy_shape  s = eddy_shape_of(x), f = eddy_shape_of(w),
                     o = eddy_shape_of(eddy__onnx_in(b, 2));
    const int64_t groups = eddy__onnx_int(b, "group", 1),
                  offsets = eddy__onnx_int(b, "offset_group", 1);
    onnx_window       v;
    eddy_tensor       part[ONNX_MAX_LIST];
    if (s.rank != 4 || f.rank != 4 || o.rank != 4 || !eddy_shape_is_known(f))
        return eddy__onnx_missing(b, "the inputs do not have rank 4, or the filter is not known");
    if (s.dim[1] < 1 || s.dim[2] < 1 || s.dim[3] < 1 || o.dim[2] < 1 || o.dim[3] < 1)
        return eddy__onnx_missing(b, "only the batch may be unknown");
    if (!eddy__onnx_window_lists(b, 4, f, &v)) return false;
    if (groups < 1 || offsets < 1 || offsets > ONNX_MAX_LIST || groups > ONNX_MAX_LIST ||
        s.dim[1] % offsets || s.dim[1] % groups || f.dim[0] % groups)
        return eddy__onnx_invalid(b, "the groups do not divide the channels");
    const int64_t k = v.size[0] * v.size[1], points = o.dim[2] * o.dim[3], own = s.dim[1] / offsets,
                  in = s.dim[1] / groups;
    for (int64_t i = 0; i < offsets; i++)
        part[i] = samples(
            b, &v, i, eddy_slice(x, EDDY_DIMS(0, i * own, 0, 0), EDDY_DIMS(-1, own, -1, -1)), o);
    const eddy_tensor columns = Reshape(eddy_concat({ (int)offsets, part }, 1),
                                        EDDY_SHAPE(s.dim[0], groups, in * k, points));
    const eddy_tensor filters = Reshape(w, EDDY_SHAPE(groups, f.dim[0] / groups, in * k));
    eddy_tensor       y =
        Reshape(MatMul(filters, columns), EDDY_SHAPE(s.dim[0], f.dim[0], o.dim[2], o.dim[3]));
    if (eddy__onnx_has(b, 3)) y = Add(y, eddy__onnx_along_channels(eddy__onnx_in(b, 3), 2));
    return eddy__onnx_put(b, 0, y);
}

const onnx_operator eddy__onnx_deform_conv[] = {
    { "DeformConv", 19, deform_conv }, { NULL },
};
