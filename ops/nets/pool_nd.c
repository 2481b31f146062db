/* pool_nd.c -- max, average and Lp pooling along one to three axes, channels last. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/short_names.h"
#include "ops/nets/pooling_rules.h"

#include <string.h>

#ifdef EDDY_HEADER
/* Arguments of pooling along one axis and along three. */
typedef struct eddy_pool_nd_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_pool_nd_args));
    eddy_tensor x;
    eddy_dims   ksize;             /* of a window: one entry, one per axis, or one per dimension */
    eddy_dims   strides;           /* likewise; default: ksize */
    const char *padding;           /* "VALID" (default), "SAME" or "EXPLICIT" */
    const char *data_format;       /* channels last (default) or second */
    eddy_dims   dilations;         /* as ksize; default: 1 */
    eddy_dims   explicit_paddings; /* before and after, for each axis or dimension */
    bool        count_include_pad; /* means divide by the size of the whole window */
    const char *name;
} eddy_pool_nd_args;
typedef struct eddy_pool_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_pool_args));
    eddy_tensor x;
    eddy_dims   window_shape;      /* one entry per axis: one to three */
    const char *pooling_type;      /* "MAX" or "AVG" */
    eddy_dims   strides;           /* likewise, or one for all; default: 1 */
    const char *padding;
    const char *data_format;
    eddy_dims   dilations;
    eddy_dims   explicit_paddings;
    bool        count_include_pad;
    const char *name;
} eddy_pool_args;
typedef struct eddy_lp_pool_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_lp_pool_args));
    eddy_tensor x;
    double      norm_type;         /* p */
    eddy_dims   ksize;             /* one entry per axis: one to three */
    eddy_dims   strides;           /* likewise, or one for all; default: ksize */
    const char *data_format;
    const char *name;
} eddy_lp_pool_args;
#endif

/** y = the maxima of the windows along one axis.
 *
 *  x                  float32 or float64 [batch, width, channels], for NCW [batch, channels,
 *                     width]; y likewise
 *  ksize              size of a window: one entry, or one per dimension of x, where those of
 *                     batch and channels are 1
 *  strides            distance between windows, likewise; default: ksize
 *  padding            "VALID" (default): windows lie within x; "SAME": one window per stride,
 *                     where the padding that this requires is divided equally between both
 *                     ends; "EXPLICIT"
 *  data_format        "NWC" (default) or "NCW"
 *  dilations          spacing between the elements of a window, as ksize; default: 1
 *  explicit_paddings  how far windows may extend before and after x, or TensorFlow's two
 *                     entries per dimension; implies "EXPLICIT"
 *
 *  Padding is ignored.  A NaN is the result if it comes first in its window, and is ignored
 *  elsewhere; a dilated window that contains no element of x gives -infinity.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE unless x has rank 3 and, except
 *  for SAME, a window fits; EDDY_INVALID_ARGUMENT for invalid options; EDDY_LIMIT for examples
 *  with 2^31 positions or more.
 *  Gradient: dx = dy at the first maximum of each window.
 *  TensorFlow: nn.max_pool1d. */
eddy_tensor eddy_max_pool1d_with(const eddy_pool_nd_args *given)
{
    eddy_pool_nd_args a = EDDY_TAKE(eddy_pool_nd_args, given);
    return eddy__window_pool(false, "max_pool1d", 1, &a);
}

/** y = the means of the windows along one axis.
 *
 *  x, ksize, strides, padding, data_format, dilations, explicit_paddings  as for eddy_max_pool1d
 *  count_include_pad  divide the sum by the size of the whole window
 *
 *  Otherwise padding is ignored: a window that extends beyond x has the mean of its elements
 *  inside, or 0 if there are none.
 *  Errors: those of eddy_max_pool1d.
 *  Gradient: dx = the sum over the windows that contain x of dy divided by the size of the window.
 *  TensorFlow: nn.avg_pool1d. */
eddy_tensor eddy_avg_pool1d_with(const eddy_pool_nd_args *given)
{
    eddy_pool_nd_args a = EDDY_TAKE(eddy_pool_nd_args, given);
    return eddy__window_pool(true, "avg_pool1d", 1, &a);
}

/** y = the maxima of the windows of volumes.
 *
 *  x                  float32 or float64 [batch, depth, height, width, channels], for NCDHW
 *                     [batch, channels, depth, height, width]; y likewise
 *  ksize              size of a window: one entry for all axes, depth, height and width, or one
 *                     per dimension of x, where those of batch and channels are 1
 *  strides, padding, dilations  as for eddy_max_pool1d; strides and dilations accept as many
 *                     entries as ksize
 *  data_format        "NDHWC" (default) or "NCDHW", which costs two transpositions
 *  explicit_paddings  six entries: how far windows may extend before and after x in depth,
 *                     height and width
 *
 *  Errors, gradient: those of eddy_max_pool1d; x has rank 5.
 *  TensorFlow: MaxPool3D (nn.max_pool3d). */
eddy_tensor eddy_max_pool3d_with(const eddy_pool_nd_args *given)
{
    eddy_pool_nd_args a = EDDY_TAKE(eddy_pool_nd_args, given);
    return eddy__window_pool(false, "max_pool3d", 3, &a);
}

/** y = the means of the windows of volumes.
 *
 *  x, ksize, strides, padding, data_format, dilations, explicit_paddings  as for eddy_max_pool3d
 *  count_include_pad  as for eddy_avg_pool1d
 *
 *  Errors, gradient: those of eddy_avg_pool1d; x has rank 5.
 *  TensorFlow: AvgPool3D (nn.avg_pool3d). */
eddy_tensor eddy_avg_pool3d_with(const eddy_pool_nd_args *given)
{
    eddy_pool_nd_args a = EDDY_TAKE(eddy_pool_nd_args, given);
    return eddy__window_pool(true, "avg_pool3d", 3, &a);
}

/** y = the maxima or means of windows along one, two or three axes, as many as window_shape has
 *  entries.
 *
 *  x                  float32 or float64 [batch, axes..., channels], or with channels second
 *  window_shape       one entry per axis
 *  pooling_type       "MAX" or "AVG"
 *  strides            one entry for all axes, or one per axis; default: 1
 *  padding            "VALID" (default), "SAME" or "EXPLICIT"; see eddy_max_pool1d
 *  data_format        "NWC", "NHWC" or "NDHWC" (default); "NCW", "NCHW" or "NCDHW"
 *  dilations          as strides; default: 1
 *  explicit_paddings  for each axis, how far windows may extend before and after x
 *  count_include_pad  means divide by the size of the whole window
 *
 *  Otherwise padding is ignored, also by dilated windows; TensorFlow pads those with zeros.
 *  Errors, gradient: those of eddy_max_pool1d and eddy_avg_pool1d; EDDY_INVALID_ARGUMENT for
 *  any other pooling_type.  TensorFlow: nn.pool. */
eddy_tensor eddy_pool_with(const eddy_pool_args *given)
{
    eddy_pool_args a = EDDY_TAKE(eddy_pool_args, given);
    const int  axes = a.window_shape.count;
    const bool mean = a.pooling_type && strcmp(a.pooling_type, "AVG") == 0;
    if (eddy_refuse_number(a.x.graph, "pool", "window_shape", a.window_shape) ||
        eddy_refuse_number(a.x.graph, "pool", "dilations", a.dilations) ||
        eddy_refuse_number(a.x.graph, "pool", "explicit_paddings", a.explicit_paddings))
        return eddy_none(a.x.graph);
    if (!mean && (!a.pooling_type || strcmp(a.pooling_type, "MAX") != 0))
        return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT, "pool: pooling_type is '%.40s'; it must "
                         "be MAX or AVG", a.pooling_type ? a.pooling_type : "");
    if (axes < 1 || axes > EDDY_WINDOW_AXES)
        return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT, "pool: the number of entries of "
                         "window_shape is %d; expected 1 to 3", axes > 0 ? axes : 0);
    const eddy_pool_nd_args p =
        *EDDY_ARGS(eddy_pool_nd_args, .x = a.x, .ksize = a.window_shape, .padding = a.padding,
                   .data_format = a.data_format, .strides = eddy_dims_or(a.strides, EDDY_DIMS(1)),
                   .dilations = a.dilations, .explicit_paddings = a.explicit_paddings,
                   .count_include_pad = a.count_include_pad, .name = a.name);
    return eddy__window_pool(mean, "pool", axes, &p);
}

/** y = the p-norms of the windows along one, two or three axes, (sum of x^p)^(1/p).
 *
 *  x            float32 or float64 [batch, axes..., channels], or with channels second
 *  norm_type    p, must be positive
 *  ksize        size of a window, one entry per axis
 *  strides      one entry for all axes, or one per axis; default: ksize
 *  data_format  as for eddy_pool
 *
 *  Windows lie within x.  No absolute values are taken: for an odd p, the powers of x have its
 *  sign, and the root of a negative sum is NaN unless p = 1.
 *  Errors: those of eddy_pool; EDDY_INVALID_ARGUMENT for a norm_type that is not positive.
 *  Gradient: that of the operations that it is composed of.  PyTorch: nn.functional.lp_pool2d. */
eddy_tensor eddy_lp_pool_with(const eddy_lp_pool_args *given)
{
    eddy_lp_pool_args a = EDDY_TAKE(eddy_lp_pool_args, given);
    double elements = 1;
    if (eddy_refuse_number(a.x.graph, "lp_pool", "ksize", a.ksize)) return eddy_none(a.x.graph);
    if (!(a.norm_type > 0) || a.norm_type > 1e300)
        return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT, "lp_pool: norm_type is %g; it must be "
                         "positive and finite", a.norm_type);
    if (a.ksize.count < 1 || a.ksize.count > EDDY_WINDOW_AXES)
        return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT,
                         "lp_pool: the number of entries of ksize is %d; expected 1 to 3",
                         a.ksize.count > 0 ? a.ksize.count : 0);
    for (int i = 0; i < a.ksize.count; i++) elements *= (double)a.ksize.at[i];
    const bool        square = a.norm_type == 2, same = a.norm_type == 1;
    const eddy_tensor power = square ? Square(a.x) : same ? a.x : Pow(a.x, a.norm_type);
    const eddy_dims   strides = eddy_dims_or(a.strides, a.ksize);
    const eddy_tensor sum = Mul(eddy_pool(power, a.ksize, "AVG", strides, .data_format =
                                          a.data_format), elements);
    const eddy_tensor y = square ? Sqrt(sum) : same ? sum : Pow(sum, 1 / a.norm_type);
    return a.name ? eddy_named(a.name, y) : y;
}
