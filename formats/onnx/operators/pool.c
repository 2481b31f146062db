/* pool.c -- pooling: channels are second. */
#include "../build.h"
#include "../window.h"
#include "../../../ops/short_names.h"

#include <math.h>

static const char *layout(int axes) { return axes == 1 ? "NCW" : axes == 2 ? "NCHW" : "NCDHW"; }

/* The window, with the padding beyond the end that ceil_mode adds. */
static bool pool_window(onnx_build *b, eddy_tensor x, onnx_window *w)
{
    return eddy__onnx_window(b, x, EDDY_UNKNOWN_SHAPE, w) &&
        (!eddy__onnx_int(b, "ceil_mode", 0) || eddy__onnx_window_ceil(b, x, w));
}

static eddy_tensor pooled(eddy_tensor x, const onnx_window *w, const char *type, bool all)
{
    return eddy_pool(x, eddy__onnx_dims(w->size, w->axes), type,
                     eddy__onnx_dims(w->stride, w->axes), .data_format = layout(w->axes),
                     .dilations = eddy__onnx_dims(w->dilation, w->axes),
                     .padding = w->padding, .explicit_paddings = eddy__onnx_window_pads(w),
                     .count_include_pad = all);
}

/* Eddy pads less than a window; more is done beforehand. */
static eddy_tensor padded_wide(eddy_tensor x, onnx_window *w, double value)
{
    eddy_dims before = { .count = w->axes + 2 }, after = { .count = w->axes + 2 };
    bool      any = false;
    for (int i = 0; i < w->axes; i++)
        if (w->before[i] >= w->size[i] || w->after[i] >= w->size[i]) any = true;
    if (!any) return x;
    for (int i = 0; i < w->axes; i++) {
        before.at[i + 2] = w->before[i];
        after.at[i + 2] = w->after[i];
        w->before[i] = w->after[i] = 0;
    }
    return eddy_pad(x, before, after, value);
}

/* Where ceil_mode counts padding, only that which the file names counts. */
static eddy_tensor average_of_named(eddy_tensor x, const onnx_window *w, const onnx_window *named)
{
    eddy_dims before = { .count = w->axes + 2 }, after = { .count = w->axes + 2 };
    onnx_window rest = *w;
    for (int i = 0; i < w->axes; i++) {
        before.at[i + 2] = named->before[i];
        after.at[i + 2] = named->after[i] < w->after[i] ? named->after[i] : w->after[i];
        rest.before[i] = 0;
        rest.after[i] = w->after[i] - after.at[i + 2];
    }
    return pooled(eddy_pad(x, before, after), &rest, "AVG", false);
}

static bool average_pool(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_window_in(b);
    const bool        all = eddy__onnx_int(b, "count_include_pad", 0),
               ceil = eddy__onnx_int(b, "ceil_mode", 0);
    onnx_window named, w;
    if (!eddy__onnx_window(b, x, EDDY_UNKNOWN_SHAPE, &named)) return false;
    w = named;
    if (ceil && !eddy__onnx_window_ceil(b, x, &w)) return false;
    return eddy__onnx_put(b, 0, all && ceil ? average_of_named(x, &w, &named)
                                            : pooled(x, &w, "AVG", all));
}

/* The positions of maxima, counted in the whole tensor, from those in an example with channels
 * last; with column-major order within an example if asked. */
static eddy_tensor positions(onnx_build *b, eddy_tensor x, const onnx_window *w, eddy_tensor *y)
{
    const eddy_shape s = eddy_shape_of(x);
    if (w->axes > 2 || s.dim[1] < 0 || s.dim[2] < 0 || (w->axes == 2 && s.dim[3] < 0)) {
        eddy__onnx_missing(b, "positions of maxima need rank 3 or 4 and known sizes");
        return x;
    }
    for (int i = 0; i < w->axes; i++)
        if (w->dilation[i] != 1)
            return eddy__onnx_missing(b,
                                      "positions of maxima in dilated windows are not supported"),
                   x;
    const int64_t height = w->axes == 2 ? s.dim[2] : 1, width = s.dim[w->axes + 1],
                  channels = s.dim[1];
    const eddy_tensor image = Transpose(w->axes == 2 ? x : ExpandDims(x, 2), EDDY_DIMS(0, 2, 3, 1));
    eddy_dims         pads = { .count = 4 }, size = EDDY_DIMS(1, w->size[0]),
              step = EDDY_DIMS(1, w->stride[0]);
    for (int i = 0; i < w->axes; i++) {
        pads.at[2 * (i + 2 - w->axes)] = w->before[i];
        pads.at[2 * (i + 2 - w->axes) + 1] = w->after[i];
    }
    if (w->axes == 2) size = eddy__onnx_dims(w->size, 2), step = eddy__onnx_dims(w->stride, 2);
    const eddy_tensor max = eddy_max_pool_with_argmax(image, size, step, .explicit_paddings = pads);
    eddy_tensor at = Transpose(eddy_output(max, 1), EDDY_DIMS(0, 3, 1, 2));
    *y = Transpose(max, EDDY_DIMS(0, 3, 1, 2));
    const eddy_tensor channel = eddy_cumsum(OnesLike(at), 1, .exclusive = true);
    const eddy_tensor example = eddy_cumsum(OnesLike(at), 0, .exclusive = true);
    at = FloorDiv(at, (double)channels);        /* row width + column */
    if (eddy__onnx_int(b, "storage_order", 0))
        at = Add(Mul(FloorMod(at, (double)width), (double)height), FloorDiv(at, (double)width));
    at = Add(at, Mul(Add(channel, Mul(example, (double)channels)), (double)(height * width)));
    if (w->axes == 1) *y = Squeeze(*y, EDDY_AXES(2)), at = Squeeze(at, EDDY_AXES(2));
    return at;
}

static bool max_pool(onnx_build *b)
{
    const eddy_tensor given = eddy__onnx_window_in(b);
    const bool        whole = eddy_dtype_is_integer(eddy_dtype_of(given));
    eddy_tensor       x = whole ? Cast(given, EDDY_FLOAT32) : given, y = x;
    onnx_window       w;
    if (!pool_window(b, x, &w)) return false;
    if (eddy__onnx_wants(b, 1)) {
        const eddy_tensor at = positions(b, x, &w, &y);
        eddy__onnx_put_as(b, 1, at, ONNX_INT64);
    } else {
        x = padded_wide(x, &w, -HUGE_VAL);
        y = pooled(x, &w, "MAX", false);
    }
    return eddy__onnx_put(b, 0, CastLike(y, given));
}

/* The p-norm of each window: sums of |x|^p as means times the number of elements. */
static bool lp_pool(onnx_build *b)
{
    const double p =
        b->version < 2 ? eddy__onnx_float(b, "p", 2) : (double)eddy__onnx_int(b, "p", 2);
    eddy_tensor       x = eddy__onnx_window_in(b);
    onnx_window       w;
    double            count = 1;
    if (!pool_window(b, x, &w)) return false;
    for (int i = 0; i < w.axes; i++) count *= (double)w.size[i];
    const eddy_tensor powers = p == 2 ? Square(x) : Pow(Abs(x), p);
    const eddy_tensor sums = Mul(pooled(powers, &w, "AVG", true), count);
    return eddy__onnx_put(b, 0, p == 2 ? Sqrt(sums) : Pow(sums, 1 / p));
}

/* -------------------------------------------------------------------- global -- */

static eddy_dims all_axes(int rank)
{
    eddy_dims d = { .count = rank - 2 };
    for (int i = 2; i < rank; i++) d.at[i - 2] = i;
    return rank > 2 ? d : EDDY_NO_DIMS;
}

/* The rank of input 0; -1 with a reason. */
static int known_rank(onnx_build *b)
{
    const int rank = eddy__onnx_rank(b, 0);
    if (rank < 0) eddy__onnx_missing(b, "the rank of the input must be known");
    return rank;
}

static bool global_average(onnx_build *b)
{
    const eddy_dims axes = all_axes(known_rank(b));
    return eddy__onnx_put(b, 0, Mean(eddy__onnx_in(b, 0), axes, .keepdims = true));
}

static bool global_max(onnx_build *b)
{
    const eddy_dims axes = all_axes(known_rank(b));
    return eddy__onnx_put(b, 0, Max(eddy__onnx_in(b, 0), axes, .keepdims = true));
}

static bool global_lp(onnx_build *b)
{
    const double p =
        b->version < 2 ? eddy__onnx_float(b, "p", 2) : (double)eddy__onnx_int(b, "p", 2);
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const eddy_tensor sums = Sum(Pow(Abs(x), p), all_axes(known_rank(b)), .keepdims = true);
    return eddy__onnx_put(b, 0, Pow(sums, 1 / p));
}

/* ------------------------------------------------------------------ unpooling -- */

/* Values at positions in a tensor of zeros. The positions count in the smallest output. */
static bool max_unpool(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const eddy_shape  s = eddy_shape_of(x);
    onnx_window       w;
    int64_t           asked[ONNX_MAX_LIST];
    if (!eddy__onnx_window_lists(b, s.rank, EDDY_UNKNOWN_SHAPE, &w)) return false;
    if (!eddy_shape_is_known(s))
        return eddy__onnx_missing(b, "the sizes of the input must be known");
    eddy_shape y = s, out;
    for (int i = 0; i < w.axes; i++)
        y.dim[i + 2] = (s.dim[i + 2] - 1) * w.stride[i] - w.before[i] - w.after[i] + w.size[i];
    const int n = eddy__onnx_list(b, 2, NULL, asked);
    if (n == ONNX_FAILED) return false;
    out = n == s.rank ? eddy_shape_of_dims(asked, (size_t)n) : y;
    const eddy_tensor flat = Reshape(eddy__onnx_in(b, 1), EDDY_SHAPE(-1, 1));
    const eddy_tensor z = eddy_scatter_nd(flat, eddy_ravel(x), EDDY_SHAPE(eddy_shape_count(y)));
    eddy_dims none = { .count = s.rank }, more = { .count = s.rank };
    for (int i = 0; i < s.rank; i++) {
        more.at[i] = out.dim[i] - y.dim[i];
        if (more.at[i] < 0) return eddy__onnx_missing(b, "the output is smaller than its windows");
    }
    return eddy__onnx_put(b, 0, eddy_pad(Reshape(z, y), none, more));
}

const onnx_operator eddy__onnx_pool[] = {
    { "AveragePool", 1, average_pool }, { "MaxPool", 1, max_pool }, { "LpPool", 1, lp_pool },
    { "GlobalAveragePool", 1, global_average }, { "GlobalMaxPool", 1, global_max },
    { "GlobalLpPool", 1, global_lp }, { "MaxUnpool", 9, max_unpool }, { NULL },
};
