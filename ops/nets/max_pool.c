/* max_pool.c -- max pooling along one, two and three axes: the operations, their gradients and the
 * builders. The loops are in ops/kernels/pooling/. */
#include "build/gen/table.h"
#include "graph/call_options.h"
#include "ops/arrays/arrays.h"
#include "ops/nets/expect_shape.h"
#include "ops/nets/pooling_rules.h"
#include "ops/short_names.h"

/* --------------------------------------------------------------- max_pool -- */

static eddy_status max_pool_kernel(eddy_kernel *k)
{
    const eddy_window_work w = eddy__window_work_of(k, k->in[0], NULL);
    eddy__window_max(k, &w);
    return EDDY_OK;
}

static void max_pool_gradient(eddy_rule *r)
{
    const eddy_op_def *grad =
        eddy__window_alike(r, &eddy_op_max_pool3d_grad, &eddy_op_max_pool_grad);
    r->dx[0] = eddy__apply3(grad, r->attrs, r->x[0], r->y[0], r->dy[0]);
}

const eddy_op_def eddy_op_max_pool =
    EDDY_WINDOW_OP("MaxPool", IMAGES, max_pool, eddy__window_op_infer, 1, 0,
                   { "x", EDDY_IMAGES_X });
const eddy_op_def eddy_op_max_pool3d =
    EDDY_WINDOW_OP("MaxPool3D", BOXES, max_pool, eddy__window_op_infer, 1, 0,
                   { "x", EDDY_BOXES_X });

/* ---------------------------------------------------------- max_pool_grad -- */

/* Inputs: x, y, of which only the shape is used, and dy. */
static bool max_pool_grad_infer(eddy_infer *c)
{
    eddy_shape x = c->in[0].shape, y;
    return eddy__window_infer(c, &x, &y) && eddy__expect_shape(c, 1, "y", y) &&
           eddy__expect_shape(c, 2, "dy", y) && eddy__infer_yield(c, 0, c->in[0].dtype, x);
}

static eddy_status max_pool_grad_kernel(eddy_kernel *k)
{
    const eddy_window_work w = eddy__window_work_of(k, k->in[0], k->in[2]);
    eddy__window_back(k, &w);
    return EDDY_OK;
}

/* Linear in dy; x has no gradient, as it matters only where its order changes. */
static void max_pool_grad_gradient(eddy_rule *r)
{
    const eddy_op_def *pick =
        eddy__window_alike(r, &eddy_op_max_pool3d_grad_grad, &eddy_op_max_pool_grad_grad);
    r->dx[0] = ZerosLike(r->x[0]);
    r->dx[2] = eddy__apply3(pick, r->attrs, r->x[0], r->x[1], r->dy[0]);
}

const eddy_op_def eddy_op_max_pool_grad =
    EDDY_WINDOW_OP("MaxPoolGrad", IMAGES, max_pool_grad, max_pool_grad_infer, 3, 1u << 1,
                   { "x", EDDY_IMAGES_X }, { "y", EDDY_LIKE(0) }, { "dy", EDDY_LIKE(0) });
const eddy_op_def eddy_op_max_pool3d_grad =
    EDDY_WINDOW_OP("MaxPool3DGrad", BOXES, max_pool_grad, max_pool_grad_infer, 3, 1u << 1,
                   { "x", EDDY_BOXES_X }, { "y", EDDY_LIKE(0) }, { "dy", EDDY_LIKE(0) });

/* ----------------------------------------------------- max_pool_grad_grad -- */

/* Inputs: x, y, of which only the shape is used, and ddx: yields ddx at the maxima of x. */
static bool max_pool_grad_grad_infer(eddy_infer *c)
{
    eddy_shape x = c->in[0].shape, y;
    return eddy__window_infer(c, &x, &y) && eddy__expect_shape(c, 1, "y", y) &&
           eddy__expect_shape(c, 2, "ddx", x) && eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

static eddy_status max_pool_grad_grad_kernel(eddy_kernel *k)
{
    const eddy_window_work w = eddy__window_work_of(k, k->in[0], k->in[2]);
    eddy__window_pick(k, &w);
    return EDDY_OK;
}

static void max_pool_grad_grad_gradient(eddy_rule *r)
{
    const eddy_op_def *grad =
        eddy__window_alike(r, &eddy_op_max_pool3d_grad, &eddy_op_max_pool_grad);
    r->dx[0] = ZerosLike(r->x[0]);
    r->dx[2] = eddy__apply3(grad, r->attrs, r->x[0], r->x[1], r->dy[0]);
}

const eddy_op_def eddy_op_max_pool_grad_grad =
    EDDY_WINDOW_OP("MaxPoolGradGrad", IMAGES, max_pool_grad_grad, max_pool_grad_grad_infer, 3,
                   1u << 1, { "x", EDDY_IMAGES_X }, { "y", EDDY_LIKE(0) }, { "ddx", EDDY_LIKE(0) });
const eddy_op_def eddy_op_max_pool3d_grad_grad =
    EDDY_WINDOW_OP("MaxPool3DGradGrad", BOXES, max_pool_grad_grad, max_pool_grad_grad_infer, 3,
                   1u << 1, { "x", EDDY_BOXES_X }, { "y", EDDY_LIKE(0) }, { "ddx", EDDY_LIKE(0) });

/* --------------------------------------------------------------- builders -- */

static eddy_tensor pooled(const char *called, int axes, const eddy_pool_nd_args *given)
{
    const eddy_pool_nd_args a = EDDY_TAKE(eddy_pool_nd_args, given);
    return eddy__window_pool(&eddy_op_max_pool3d, &eddy_op_max_pool, called, axes, &a);
}

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
    return pooled("max_pool1d", 1, given);
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
 *  dilations    spacing between the elements of a window, as ksize; default: 1
 *  explicit_paddings  how far windows may extend above, below, left and right of the image, less
 *               than their size, or TensorFlow's eight; implies "EXPLICIT"
 *
 *  Padding is ignored.  A NaN is the result if it comes first in its window, and is ignored
 *  elsewhere; a dilated window that contains no element of x gives -infinity.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE unless x has rank 4
 *  and, except for SAME, a window fits; EDDY_INVALID_ARGUMENT for invalid options; EDDY_LIMIT if
 *  the rows of a window, for float32, have 2^31 positions or more, with dilations or explicit
 *  paddings if an image has.
 *  Gradient: dx = dy at the first maximum of each window.
 *  TensorFlow: MaxPool (tf.nn.max_pool2d). */
eddy_tensor eddy_max_pool2d_with(const eddy_pool_nd_args *given)
{
    return pooled("MaxPool", 2, given);
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
    return pooled("max_pool3d", 3, given);
}
