/* pools.c -- pooling and its gradients: a maximum comes with its place, to which the gradient is
 * added; a mean is a convolution with ones, and its gradient the transposed one. */
#include "conv_windows.h"

#include <string.h>

static bool read_windows(onnx_part *p, windows *w)
{
    const eddy_shape x = eddy__part_type(p, 0).shape;
    const eddy_dims  size = eddy__part_dims(p, "ksize"), stride = eddy__part_dims(p, "strides");
    const eddy_dims  apart = eddy__part_dims(p, "dilations"), pads = eddy__part_dims(p, "paddings");
    const char      *padding = eddy__part_text(p, "padding");
    *w = (windows){ .axes = size.count };
    if (strcmp(padding, "ADAPTIVE") == 0)
        return eddy__part_missing(p, "windows of different sizes have no operator");
    if (w->axes < 1 || w->axes > WINDOW_AXES || x.rank != w->axes + 2)
        return eddy__part_missing(p, "the rank of input 0 must be known");
    for (int i = 0; i < w->axes; i++) {
        w->in[i] = x.dim[1 + i];
        w->size[i] = size.at[i];
        w->stride[i] = stride.at[i];
        w->dilation[i] = apart.count > 0 ? apart.at[i] : 1;
    }
    eddy__windows_settle(w, pads.count > 0 ? "EXPLICIT" : padding, pads.at);
    return true;
}

static bool all_known(onnx_part *p, const windows *w)
{
    return w->known || eddy__part_missing(p, "the sizes of the pooled axes must be known");
}

static bool not_dilated(onnx_part *p, const windows *w)
{
    for (int i = 0; i < w->axes; i++)
        if (w->dilation[i] != 1)
            return eddy__part_missing(p, "dilations of means are of operator set 19");
    return true;
}

/* The maxima and their places, in ONNX's layout. */
static void maxima(onnx_part *p, const windows *w, int n, const char *out[2])
{
    const char *x = eddy__windows_to_onnx(p, w, eddy__part_in(p, 0));
    onnx_call   c = eddy__call(p, "MaxPool", 1, &x);
    eddy__windows_call(&c, w);
    eddy__call_outputs(&c, n, out);
}

static bool max_pool(onnx_part *p)
{
    windows     w;
    const char *y[2];
    if (!read_windows(p, &w)) return false;
    maxima(p, &w, 1, y);
    return eddy__part_put(p, 0, eddy__windows_from_onnx(p, &w, y[0]));
}

static bool max_pool_grad(onnx_part *p)
{
    windows          w;
    const char      *y[2], *flat = eddy__part_one(p, -1);
    const eddy_dtype d = eddy__part_dtype(p, 0);
    if (!read_windows(p, &w)) return false;
    maxima(p, &w, 2, y);
    const char *x = eddy__windows_to_onnx(p, &w, eddy__part_in(p, 0));
    const char *dy = eddy__windows_to_onnx(p, &w, eddy__part_in(p, 2));
    const char *shape = eddy__part_unary(p, "Shape", x);
    const char *zeros = eddy__part_reshape(p, eddy__part_filled(p, d, 0, shape), flat);
    const char *const in[] = { zeros, eddy__part_binary(p, "Reshape", y[1], flat),
                               eddy__part_binary(p, "Reshape", dy, flat) };
    onnx_call c = eddy__call(p, "ScatterElements", 3, in);
    eddy__call_text(&c, "reduction", "add");
    const char *dx = eddy__part_reshape(p, eddy__call_end(&c), shape);
    return eddy__part_put(p, 0, eddy__windows_from_onnx(p, &w, dx));
}

static bool max_pool_grad_grad(onnx_part *p)
{
    windows     w;
    const char *y[2], *flat = eddy__part_one(p, -1);
    if (!read_windows(p, &w)) return false;
    maxima(p, &w, 2, y);
    const char *ddx = eddy__windows_to_onnx(p, &w, eddy__part_in(p, 2));
    const char *at =
        eddy__part_binary(p, "Gather", eddy__part_binary(p, "Reshape", ddx, flat), y[1]);
    return eddy__part_put(p, 0, eddy__windows_from_onnx(p, &w, at));
}

/* Places count channels last, within an example or within all. */
static bool max_pool_with_argmax(onnx_part *p)
{
    windows          w;
    const char      *y[2];
    const eddy_shape x = eddy__part_type(p, 0).shape;
    if (!read_windows(p, &w) || !all_known(p, &w)) return false;
    const int64_t channels = x.dim[w.axes + 1];
    double        area = 1;
    if (channels == EDDY_ANY) return eddy__part_missing(p, "the number of channels must be known");
    for (int i = 0; i < w.axes; i++) area *= (double)w.in[i];
    maxima(p, &w, 2, y);
    const char *at = eddy__part_formula(
        p, EDDY_INT64,
        eddy__part_bool(p, "include_batch_in_index")
            ? "u=Div(a, b); Add(Add(Mul(Mod(a, b), c), Mod(u, c)), Mul(Div(u, c), Mul(b, c)))"
            : "u=Div(a, b); Add(Mul(Mod(a, b), c), Mod(u, c))",
        y[1], eddy__part_number(p, EDDY_INT64, area),
        eddy__part_number(p, EDDY_INT64, (double)channels));
    at = eddy__part_cast(p, at, EDDY_INT64, p->node->outputs[1].dtype);
    eddy__part_put(p, 0, eddy__windows_from_onnx(p, &w, y[0]));
    return eddy__part_put(p, 1, eddy__windows_from_onnx(p, &w, at));
}

static bool avg_pool(onnx_part *p)
{
    windows w;
    if (!read_windows(p, &w) || !not_dilated(p, &w)) return false;
    const char *x = eddy__windows_to_onnx(p, &w, eddy__part_in(p, 0));
    onnx_call   c = eddy__call(p, "AveragePool", 1, &x);
    eddy__windows_call(&c, &w);
    eddy__call_int(&c, "count_include_pad", eddy__part_bool(p, "count_include_pad"));
    return eddy__part_put(p, 0, eddy__windows_from_onnx(p, &w, eddy__call_end(&c)));
}

/* One over the number of elements of x in the windows along axis i. */
static const char *shares(onnx_part *p, const windows *w, int i, eddy_dtype d, bool whole)
{
    eddy_shape s = { .rank = w->axes };
    for (int k = 0; k < w->axes; k++) s.dim[k] = k == i ? w->out[k] : 1;
    eddy_array *a = eddy_array_new(d, s);
    for (int64_t o = 0; a && o < w->out[i]; o++) {
        const int64_t first = o * w->stride[i] - w->pads[i];
        const int64_t from = first < 0 ? 0 : first;
        const int64_t to = first + w->size[i] < w->in[i] ? first + w->size[i] : w->in[i];
        const int64_t n = whole ? w->size[i] : to > from ? to - from : 0;
        eddy_array_set(a, o, n > 0 ? 1 / (double)n : 0);
    }
    if (!a) return eddy__part_missing(p, "out of memory"), "";
    const char *name = eddy__part_array(p, a);
    eddy_array_free(a);
    return name;
}

static bool avg_pool_grad(onnx_part *p)
{
    windows          w;
    const eddy_dtype d = eddy__part_dtype(p, 0);
    const eddy_shape x = eddy__part_type(p, 0).shape;
    if (!read_windows(p, &w) || !all_known(p, &w) || !not_dilated(p, &w)) return false;
    if (x.dim[w.axes + 1] == EDDY_ANY)
        return eddy__part_missing(p, "the number of channels must be known");
    const char *dy = eddy__windows_to_onnx(p, &w, eddy__part_in(p, 1));
    for (int i = 0; i < w.axes; i++)
        dy = eddy__part_binary(p, "Mul", dy,
                               shares(p, &w, i, d, eddy__part_bool(p, "count_include_pad")));
    int64_t     shape[2 + WINDOW_AXES] = { -1, 1 }, ones[2 + WINDOW_AXES] = { 1, 1 };
    for (int i = 0; i < w.axes; i++) {
        shape[2 + i] = w.out[i];
        ones[2 + i] = w.size[i];
    }
    const char *const in[] = {      /* each plane is an example of one channel */
        eddy__part_binary(p, "Reshape", dy, eddy__part_ints(p, 2 + w.axes, shape)),
        eddy__part_filled(p, d, 1, eddy__part_ints(p, 2 + w.axes, ones))
    };
    onnx_call c = eddy__call(p, "ConvTranspose", 2, in);
    eddy__windows_call(&c, &w);
    eddy__windows_back(&c, &w);
    shape[1] = x.dim[w.axes + 1];
    for (int i = 0; i < w.axes; i++) shape[2 + i] = w.in[i];
    const char *dx = eddy__part_binary(p, "Reshape", eddy__call_end(&c),
                                       eddy__part_ints(p, 2 + w.axes, shape));
    return eddy__part_put(p, 0, eddy__windows_from_onnx(p, &w, dx));
}

static const onnx_row rows[] = {
    { "MaxPool", max_pool },
    { "MaxPoolGrad", max_pool_grad },
    { "MaxPoolGradGrad", max_pool_grad_grad },
    { "MaxPool3D", max_pool },
    { "MaxPool3DGrad", max_pool_grad },
    { "MaxPool3DGradGrad", max_pool_grad_grad },
    { "MaxPoolWithArgmax", max_pool_with_argmax },
    { "AvgPool", avg_pool },
    { "AvgPoolGrad", avg_pool_grad },
    { "AvgPool3D", avg_pool },
    { "AvgPool3DGrad", avg_pool_grad },
};

const onnx_family eddy__write_pools = FAMILY_OF(rows);
