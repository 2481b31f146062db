/* conv1d.c -- 1-D convolution, as a 2-D convolution of images of height 1; and atrous (dilated)
 * convolution under TensorFlow's names. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/ops.h"
#include "graph/op.h"

#include <string.h>

#ifdef EDDY_HEADER
typedef struct eddy_conv1d_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_conv1d_args));
    eddy_tensor x, filter;
    int64_t     stride EDDY_DEFAULT(1);
    const char *padding;           /* "VALID" (default), "SAME", "EXPLICIT" */
    const char *data_format;       /* "NWC" (default), "NCW" */
    int64_t     dilation EDDY_DEFAULT(1);
    eddy_dims   explicit_paddings; /* left, right */
    const char *name;
} eddy_conv1d_args;
typedef struct eddy_conv1d_transpose_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_conv1d_transpose_args));
    eddy_tensor x, filter;
    eddy_shape  output_shape;      /* default: from strides and padding */
    int64_t     stride EDDY_DEFAULT(1);
    const char *padding;
    const char *data_format;
    int64_t     dilation EDDY_DEFAULT(1);
    eddy_dims   explicit_paddings;
    const char *name;
} eddy_conv1d_transpose_args;
typedef struct eddy_atrous_conv2d_transpose_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_atrous_conv2d_transpose_args));
    eddy_tensor x, filter;
    eddy_shape  output_shape;
    int64_t     rate EDDY_DEFAULT(1);
    const char *padding;
    const char *name;
} eddy_atrous_conv2d_transpose_args;
#endif

/* ------------------------------------------------------------ images of height 1 -- */

/* The parameters of a convolution along one axis as those of a convolution of images. */
typedef struct flat {
    int         axis;              /* of the height */
    eddy_tensor x, filter;
    eddy_dims   strides, dilations, paddings;
    const char *format;
} flat;


/* Converts t to rank 4; returns false after reporting an error if it does not have rank 3. */
static bool raise(const char *op, const char *what, eddy_tensor t, int axis, eddy_tensor *to)
{
    const eddy_shape s = eddy_shape_of(t);
    char text[128];
    if (eddy_is_valid(t) && s.rank >= 0 && s.rank != 3) {
        eddy_fail(t.graph, EDDY_BAD_SHAPE, "%s: %s has shape %s; rank 3 expected", op, what,
                  eddy_shape_print(s, text, sizeof text));
        return false;
    }
    if (eddy_is_valid(t) && s.rank < 0)
        t = eddy_set_shape(eddy_identity(t), eddy__shape_open(3));
    *to = eddy_expand_dims(t, axis);
    return true;
}

static bool flatten(const char *op, const eddy_conv1d_args *a, flat *f)
{
    const bool planes = a->data_format && strcmp(a->data_format, "NCW") == 0;
    const eddy_dims p = a->explicit_paddings;
    if (a->data_format && !planes && strcmp(a->data_format, "NWC") != 0) {
        eddy_fail(a->x.graph, EDDY_INVALID_ARGUMENT, "%s: data_format is '%.40s'; it must be NWC "
                  "or NCW", op, a->data_format);
        return false;
    }
    if (eddy_refuse_number(a->x.graph, op, "explicit_paddings", p)) return false;
    if (p.count > 0 && p.count != 2) {
        eddy_fail(
            a->x.graph, EDDY_INVALID_ARGUMENT,
            "%s: the number of entries of explicit_paddings is %d; expected 2, left and right", op,
            p.count);
        return false;
    }
    *f = (flat){
        .axis = planes ? 2 : 1, .strides = EDDY_DIMS(1, a->stride),
        .dilations = EDDY_DIMS(1, a->dilation), .format = planes ? "NCHW" : "NHWC",
    };
    if (p.count == 2) f->paddings = EDDY_DIMS(0, 0, p.at[0], p.at[1]);
    return raise(op, "x", a->x, f->axis, &f->x) && raise(op, "filter", a->filter, 0, &f->filter);
}

/** The convolution along one axis:
 *
 *    y[n, i, o] = sum over d, c of x[n, i*stride + d*dilation, c] filter[d, c, o]
 *
 *  x                  float32 or float64 [batch, width, channels], for NCW
 *                     [batch, channels, width]; y likewise
 *  filter             same type, [width, channels, out channels]; with fewer channels
 *                     than x, groups as in eddy_conv2d
 *  padding            "VALID" (default), "SAME" or "EXPLICIT", as for eddy_conv2d
 *  data_format        "NWC" (default), which is faster; "NCW"
 *  dilation           spacing between the input elements of adjacent filter elements
 *  explicit_paddings  zeros before and after; implies "EXPLICIT"
 *
 *  Errors: those of eddy_conv2d, which computes it on images of height 1; EDDY_BAD_SHAPE unless x
 *  and the filter have rank 3.
 *  Gradient: that of eddy_conv2d.  TensorFlow: nn.conv1d. */
eddy_tensor eddy_conv1d_with(const eddy_conv1d_args *given)
{
    eddy_conv1d_args a = EDDY_TAKE(eddy_conv1d_args, given);
    flat f;
    if (!flatten("conv1d", &a, &f)) return eddy_none(a.x.graph);
    const eddy_tensor y = eddy_conv2d(f.x, f.filter, f.strides, a.padding, f.paddings, f.dilations,
                                      f.format);
    return eddy_squeeze(y, .axes = EDDY_AXES(f.axis), .name = a.name);
}

/** The transposed convolution along one axis: the gradient of eddy_conv1d with respect to its
 *  input.
 *
 *  x             float32 or float64 [batch, width, channels], for NCW [batch, channels, width]
 *  filter        same type, [width, out channels, channels]
 *  output_shape  of y: batch (or EDDY_ANY), width, out channels, in the order of data_format.
 *                Default: with "SAME" the width of x times the stride, otherwise the smallest
 *                width whose convolution has the width of x
 *  stride, padding, data_format, dilation, explicit_paddings  those of the convolution that maps
 *                y to x; see eddy_conv1d
 *
 *  Errors: those of eddy_conv2d_transpose; EDDY_BAD_SHAPE unless x and the filter have rank 3
 *  and output_shape, if given, has three dimensions.
 *  Gradient: that of eddy_conv2d_transpose.  TensorFlow: nn.conv1d_transpose. */
eddy_tensor eddy_conv1d_transpose_with(const eddy_conv1d_transpose_args *given)
{
    eddy_conv1d_transpose_args a = EDDY_TAKE(eddy_conv1d_transpose_args, given);
    const eddy_conv1d_args same = {
        .x = a.x, .filter = a.filter, .stride = a.stride, .padding = a.padding,
        .data_format = a.data_format, .dilation = a.dilation,
        .explicit_paddings = a.explicit_paddings,
    };
    const eddy_tensor none = eddy_none(a.x.graph);
    const eddy_shape  s = a.output_shape;
    flat f;
    char text[128];
    if (s.rank != 0 && s.rank != 3)
        return eddy_fail(a.x.graph, EDDY_BAD_SHAPE, "conv1d_transpose: output_shape is %s; three "
                         "dimensions expected", eddy_shape_print(s, text, sizeof text));
    if (!flatten("conv1d_transpose", &same, &f)) return none;
    const eddy_tensor y = eddy_conv2d_transpose(
        f.x, f.filter, s.rank == 3 ? eddy__shape_with(s, f.axis, 1) : s, f.strides, a.padding,
        f.paddings, f.dilations, f.format);
    return eddy_squeeze(y, .axes = EDDY_AXES(f.axis), .name = a.name);
}

/* ------------------------------------------------------------------ atrous -- */

/** y = eddy_conv2d(x, filter, .dilations = EDDY_DIMS(rate), .padding = padding): a convolution
 *  with gaps of `rate` - 1 positions between adjacent elements of the filter.
 *
 *  x        float32 or float64 [batch, height, width, channels]
 *  filter   same type, [height, width, channels, out channels]
 *  rate     at least 1
 *  padding  "VALID" or "SAME"; NULL is "VALID"
 *
 *  Errors, gradient: those of eddy_conv2d.  TensorFlow: nn.atrous_conv2d. */
eddy_tensor eddy_atrous_conv2d(eddy_tensor x, eddy_tensor filter, int64_t rate,
                               const char *padding)
{
    return eddy_conv2d(x, filter, .dilations = EDDY_DIMS(rate), .padding = padding);
}

/** The gradient of eddy_atrous_conv2d with respect to its input, like eddy_conv2d_transpose.
 *
 *  x             float32 or float64 [batch, height, width, channels]
 *  filter        same type, [height, width, out channels, channels]
 *  output_shape  of y; see eddy_conv2d_transpose
 *  padding       "VALID" (default) or "SAME"
 *
 *  Errors, gradient: those of eddy_conv2d_transpose.  TensorFlow: nn.atrous_conv2d_transpose. */
eddy_tensor eddy_atrous_conv2d_transpose_with(const eddy_atrous_conv2d_transpose_args *given)
{
    eddy_atrous_conv2d_transpose_args a = EDDY_TAKE(eddy_atrous_conv2d_transpose_args, given);
    return eddy_conv2d_transpose(a.x, a.filter, a.output_shape, .padding = a.padding,
                                 .dilations = EDDY_DIMS(a.rate), .name = a.name);
}
