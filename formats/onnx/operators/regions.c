/* regions.c -- regions of interest, and boxes. */
#include "../build.h"
#include "../../../ops/short_names.h"

/* ---------------------------------------------------------- regions of interest -- */

/* Positions of samples along one axis of each region: [regions, bins, samples]. */
static eddy_tensor positions(onnx_build *b, eddy_tensor rois, int from, int64_t bins,
                             int64_t samples, double scale, bool half)
{
    const double      offset = half ? 0.5 : 0;
    const eddy_tensor start = Sub(
        Mul(eddy_gather(rois, eddy_number(b->graph, EDDY_INT32, from), .axis = 1), scale), offset);
    const eddy_tensor end =
        Sub(Mul(eddy_gather(rois, eddy_number(b->graph, EDDY_INT32, from + 2), .axis = 1), scale),
            offset);
    eddy_tensor       size = Sub(end, start);
    if (!half) size = Maximum(size, 1);
    double *at = eddy__region_take(b->memory, (size_t)(bins * samples), sizeof *at);
    for (int64_t i = 0; at && i < bins * samples; i++)
        at[i] = ((double)(i / samples) + ((double)(i % samples) + 0.5) / (double)samples) /
                (double)bins;
    if (!at) return eddy_none(b->graph);
    const eddy_tensor t =
        CastLike(eddy_const(b->graph, EDDY_FLOAT64, EDDY_SHAPE(1, bins * samples), at), rois);
    return Add(ExpandDims(start, 1), Mul(ExpandDims(size, 1), t));
}

/* The two neighbors of positions along an axis, with weights: 0 if farther than a pixel outside. */
static void neighbors(eddy_tensor x, double size, eddy_tensor at[2], eddy_tensor weight[2])
{
    const eddy_tensor inside = LogicalAnd(GreaterEqual(x, -1), LessEqual(x, size));
    const eddy_tensor p = Minimum(Maximum(x, 0), size - 1), low = Floor(p), part = Sub(p, low);
    at[0] = low;
    at[1] = Minimum(Add(low, 1), size - 1);
    weight[0] = Mul(Sub(1, part), CastLike(inside, p));
    weight[1] = Mul(part, CastLike(inside, p));
}

/* All samples: [regions, height, width, channels], the sum or the largest of the four terms. */
static eddy_tensor samples_of(eddy_tensor rows, eddy_tensor first, eddy_tensor y, eddy_tensor x,
                              int64_t height, int64_t width, bool max)
{
    eddy_tensor ya[2], yw[2], xa[2], xw[2], sum = EDDY_NO_TENSOR;
    neighbors(y, (double)height, ya, yw);
    neighbors(x, (double)width, xa, xw);
    for (int i = 0; i < 4; i++) {
        const eddy_tensor row = Mul(Cast(ya[i / 2], EDDY_INT64), (double)width),
                          column = Cast(xa[i % 2], EDDY_INT64);
        const eddy_tensor at = Add(Add(ExpandDims(row, 2), ExpandDims(column, 1)),
                                   Reshape(first, EDDY_SHAPE(-1, 1, 1)));
        const eddy_tensor w = Mul(ExpandDims(yw[i / 2], 2), ExpandDims(xw[i % 2], 1));
        const eddy_tensor term = Mul(eddy_gather(rows, at), ExpandDims(w, 3));
        sum = i == 0 ? term : max ? Maximum(sum, term) : Add(sum, term);
    }
    return sum;
}

static bool roi_align(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0), rois = eddy__onnx_in(b, 1);
    const eddy_shape  s = eddy_shape_of(x);
    const int64_t     height = eddy__onnx_int(b, "output_height", 1),
                  width = eddy__onnx_int(b, "output_width", 1);
    const int64_t     n = eddy__onnx_int(b, "sampling_ratio", 0);
    const double      scale = eddy__onnx_float(b, "spatial_scale", 1);
    const bool        half = b->version >= 16 && !eddy__onnx_is(b, "coordinate_transformation_mode",
                                                                "output_half_pixel", false);
    const bool max = eddy__onnx_is(b, "mode", "max", false);
    if (n < 1)
        return eddy__onnx_missing(
            b,
            "sampling_ratio 0 is not supported: each region would have its own number of samples");
    if (s.rank != 4 || s.dim[1] < 0 || s.dim[2] < 1 || s.dim[3] < 1)
        return eddy__onnx_missing(b, "only the batch may be unknown");
    if (height < 1 || width < 1 || height > (1 << 16) / n || width > (1 << 16) / n)
        return eddy__onnx_invalid(b, "the sizes of the output are invalid");
    const eddy_tensor y = positions(b, rois, 1, height, n, scale, half),
                      at = positions(b, rois, 0, width, n, scale, half);
    const eddy_tensor rows = Reshape(Transpose(x, EDDY_DIMS(0, 2, 3, 1)), EDDY_SHAPE(-1, s.dim[1]));
    const eddy_tensor first =
        Mul(Cast(eddy__onnx_in(b, 2), EDDY_INT64), (double)(s.dim[2] * s.dim[3]));
    eddy_tensor z = samples_of(rows, first, y, at, s.dim[2], s.dim[3], max);
    z = Reshape(z, EDDY_SHAPE(-1, height, n, width, n, s.dim[1]));
    z = max ? Max(z, EDDY_AXES(2, 4)) : Mean(z, EDDY_AXES(2, 4));
    return eddy__onnx_put(b, 0, Transpose(z, EDDY_DIMS(0, 3, 1, 2)));
}

/* ---------------------------------------------------------------------- boxes -- */

static double option(onnx_build *b, int i, double otherwise, const char *what)
{
    if (!eddy__onnx_has(b, i)) return otherwise;
    const eddy_array *a = eddy__onnx_need(b, i, what);
    return a ? eddy_array_item(a) : otherwise;
}

/* Center and size as two corners. */
static eddy_tensor corners(onnx_build *b, eddy_tensor boxes)
{
    eddy_tensor part[4];
    for (int i = 0; i < 4; i++)
        part[i] = eddy_gather(boxes, eddy_number(b->graph, EDDY_INT32, i), .axis = 2);
    const eddy_tensor w = Mul(part[2], 0.5), h = Mul(part[3], 0.5);
    const eddy_tensor all[4] = { Sub(part[1], h), Sub(part[0], w), Add(part[1], h),
                                 Add(part[0], w) };
    return eddy_stack({ 4, all }, -1);
}

/* Rows of batch, class and box. */
static bool non_max_suppression(onnx_build *b)
{
    eddy_tensor       boxes = eddy__onnx_in(b, 0);
    const eddy_tensor scores = eddy__onnx_in(b, 1);
    const int64_t     n = eddy_shape_of(scores).rank == 3 ? eddy_shape_of(scores).dim[2] : -1;
    double            most = option(b, 2, 0, "the number of boxes"),
           iou = option(b, 3, 0, "the threshold of overlap");
    const bool   any = eddy__onnx_has(b, 4);
    const double score = option(b, 4, 0, "the threshold of scores");
    if (b->reason) return false;
    if (!(most >= 0)) most = 0;
    if (n < 0 && most > 4096) return eddy__onnx_missing(b, "the number of boxes must be known");
    if (n >= 0 && most > (double)n) most = (double)n;
    if (eddy__onnx_int(b, "center_point_box", 0)) boxes = corners(b, boxes);
    const eddy_tensor each = eddy_broadcast_along(
        boxes, Add(ExpandDims(boxes, 1), ExpandDims(ZerosLike(scores), 3)), EDDY_AXES(1), false);
    const eddy_tensor chosen =
        any ? eddy_non_max_suppression(each, scores, (int64_t)most, iou, score)
            : eddy_non_max_suppression(each, scores, (int64_t)most, iou);
    const eddy_tensor at = eddy_nonzero(GreaterEqual(chosen, 0));
    const eddy_tensor box = Cast(eddy_gather_nd(chosen, at), EDDY_INT64);
    const eddy_tensor pair = eddy_slice(at, EDDY_DIMS(0, 0), EDDY_DIMS(-1, 2));
    return eddy__onnx_put_as(b, 0, eddy_concat(EDDY_LIST(pair, ExpandDims(box, 1)), 1), ONNX_INT64);
}

const onnx_operator eddy__onnx_regions[] = {
    { "RoiAlign", 10, roi_align }, { "NonMaxSuppression", 10, non_max_suppression }, { NULL },
};
