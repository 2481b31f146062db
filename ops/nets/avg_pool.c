/* avg_pool.c -- average pooling along one, two and three axes: the operations, their gradients and
 * the builders. The loops are in ops/kernels/pooling/. */
#include "build/gen/table.h"
#include "graph/call_options.h"
#include "ops/arrays/arrays.h"
#include "ops/nets/expect_shape.h"
#include "ops/nets/pooling_rules.h"

#ifdef EDDY_HEADER
/* Arguments of max and average pooling along one, two and three axes. */
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
#endif

/* --------------------------------------------------------------- avg_pool -- */

static eddy_status avg_pool_kernel(eddy_kernel *k)
{
    const eddy_window_work w = eddy__window_work_of(k, k->in[0], NULL);
    eddy__window_mean(k, &w);
    return EDDY_OK;
}

static void avg_pool_gradient(eddy_rule *r)
{
    const eddy_op_def *grad =
        eddy__window_alike(r, &eddy_op_avg_pool3d_grad, &eddy_op_avg_pool_grad);
    r->dx[0] = eddy_apply2(grad, r->attrs, r->x[0], r->dy[0]);
}

const eddy_op_def eddy_op_avg_pool =
    EDDY_WINDOW_OP("AvgPool", IMAGES, avg_pool, eddy__window_op_infer, 1, 0,
                   { "x", EDDY_IMAGES_X });
const eddy_op_def eddy_op_avg_pool3d =
    EDDY_WINDOW_OP("AvgPool3D", BOXES, avg_pool, eddy__window_op_infer, 1, 0,
                   { "x", EDDY_BOXES_X });

/* ---------------------------------------------------------- avg_pool_grad -- */

/* Inputs: x, of which only the shape is used, and dy. */
static bool avg_pool_grad_infer(eddy_infer *c)
{
    eddy_shape x = c->in[0].shape, y;
    return eddy__window_infer(c, &x, &y) && eddy__expect_shape(c, 1, "dy", y) &&
           eddy__infer_yield(c, 0, c->in[0].dtype, x);
}

static eddy_status avg_pool_grad_kernel(eddy_kernel *k)
{
    const eddy_window_work w = eddy__window_work_of(k, NULL, k->in[1]);
    eddy__window_back(k, &w);
    return EDDY_OK;
}

static void avg_pool_grad_gradient(eddy_rule *r)
{
    const eddy_op_def *op = eddy__window_alike(r, &eddy_op_avg_pool3d, &eddy_op_avg_pool);
    r->dx[1] = eddy_apply1(op, r->attrs, r->dy[0]);
}

const eddy_op_def eddy_op_avg_pool_grad =
    EDDY_WINDOW_OP("AvgPoolGrad", IMAGES, avg_pool_grad, avg_pool_grad_infer, 2, 1u << 0,
                   { "x", EDDY_IMAGES_X }, { "dy", EDDY_LIKE(0) });
const eddy_op_def eddy_op_avg_pool3d_grad =
    EDDY_WINDOW_OP("AvgPool3DGrad", BOXES, avg_pool_grad, avg_pool_grad_infer, 2, 1u << 0,
                   { "x", EDDY_BOXES_X }, { "dy", EDDY_LIKE(0) });

/* --------------------------------------------------------------- builders -- */

static eddy_tensor pooled(const char *called, int axes, const eddy_pool_nd_args *given)
{
    const eddy_pool_nd_args a = EDDY_TAKE(eddy_pool_nd_args, given);
    return eddy__window_pool(&eddy_op_avg_pool3d, &eddy_op_avg_pool, called, axes, &a);
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
    return pooled("avg_pool1d", 1, given);
}

/** y = the means of the windows of images.
 *
 *  x, ksize, strides, padding, data_format, dilations, explicit_paddings  as for eddy_max_pool2d
 *  count_include_pad  as for eddy_avg_pool1d
 *
 *  Otherwise padding is ignored, as in eddy_avg_pool1d.
 *  Errors: those of eddy_max_pool2d.
 *  Gradient: dx = the sum over the windows that contain x of dy divided by the size of the window.
 *  TensorFlow: AvgPool (tf.nn.avg_pool2d). */
eddy_tensor eddy_avg_pool2d_with(const eddy_pool_nd_args *given)
{
    return pooled("AvgPool", 2, given);
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
    return pooled("avg_pool3d", 3, given);
}
