/* pool2d.c -- 2-D max pooling and average pooling of images, channels last. */
#include "graph/call_options.h"
#include "ops/nets/pooling_rules.h"

#ifdef EDDY_HEADER
/* Arguments of the pooling operations. */
typedef struct eddy_pool2d_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_pool2d_args));
    eddy_tensor x;
    eddy_dims   ksize;             /* of a window: one entry, height and width, or four */
    eddy_dims   strides;           /* likewise; default: ksize */
    const char *padding;           /* "VALID" (default), "SAME" or "EXPLICIT" */
    const char *data_format;       /* "NHWC" (default) or "NCHW" */
    eddy_dims   explicit_paddings; /* above, below, left and right */
    const char *name;
} eddy_pool2d_args;
#endif

static eddy_tensor pooled(bool mean, const eddy_pool2d_args *given)
{
    const eddy_pool2d_args p = EDDY_TAKE(eddy_pool2d_args, given);
    const eddy_pool_nd_args a = {
        .x = p.x, .ksize = p.ksize, .strides = p.strides, .padding = p.padding,
        .data_format = p.data_format, .explicit_paddings = p.explicit_paddings, .name = p.name,
    };
    return eddy__window_pool(mean, mean ? "AvgPool" : "MaxPool", 2, &a);
}

/** y = the maxima of the windows of images.
 *
 *  x            float32 or float64 [batch, height, width, channels]
 *  ksize        size of a window: one entry for both, height and width, or one per
 *               dimension of x, where those of batch and channels are 1
 *  strides      distance between windows, likewise; default: ksize
 *  padding      "VALID" (default): windows lie within the image; "SAME": one window per
 *               stride, where the padding that this requires is divided equally between both
 *               ends; or "EXPLICIT"
 *  data_format  "NHWC" (default), as above, or "NCHW", channels second; NCHW
 *               costs two transpositions
 *  explicit_paddings  how far windows may extend above, below, left and right of the image, less
 *               than their size, or TensorFlow's eight; implies "EXPLICIT".  Such windows
 *               are computed by eddy_pool, with EDDY_LIMIT for images of 2^31 positions or more
 *
 *  Padding is ignored.  A NaN is the result if it comes first in its window, and is ignored
 *  elsewhere.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE unless x has rank 4
 *  and, for VALID, a window fits; EDDY_INVALID_ARGUMENT for invalid sizes, strides, padding or
 *  data_format; EDDY_LIMIT if the rows of a window, for float32, have 2^31 positions or more.
 *  Gradient: dx = dy at the first maximum of each window.
 *  TensorFlow: MaxPool (tf.nn.max_pool2d). */
eddy_tensor eddy_max_pool2d_with(const eddy_pool2d_args *given) { return pooled(false, given); }

/** y = the means of the windows of images.
 *
 *  x, ksize, strides, padding, data_format, explicit_paddings  as for eddy_max_pool2d
 *
 *  Padding is ignored: a window that extends beyond x has the mean of its elements inside.
 *  Errors: those of eddy_max_pool2d.
 *  Gradient: dx = the sum over the windows that contain x of dy divided by the size of the window.
 *  TensorFlow: AvgPool (tf.nn.avg_pool2d). */
eddy_tensor eddy_avg_pool2d_with(const eddy_pool2d_args *given) { return pooled(true, given); }
