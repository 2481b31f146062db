/* pool_nd.c -- max, average and Lp pooling along one to three axes, channels last. */
#include "ops/arrays/arrays.h"
#include "graph/take.h"
#include "ops/short_names.h"
#include "ops/nets/pool_windows.h"
#include "ops/nets/expect_shape.h"
#include "build/gen/table.h"

#include <string.h>

#ifdef EDDY_HEADER
/* Arguments of pooling along one axis and along three. */
typedef struct eddy_pool_nd_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_pool_nd_args));
    eddy_tensor x;
    eddy_dims   ksize;             /* of a window: one entry, one an axis, or one a dimension */
    eddy_dims   strides;           /* likewise; default ksize */
    const char *padding;           /* "VALID", the default, "SAME" or "EXPLICIT" */
    const char *data_format;       /* channels last, the default, or second */
    eddy_dims   dilations;         /* as ksize; default 1 */
    eddy_dims   explicit_paddings; /* what goes before and after, of each axis or dimension */
    bool        count_include_pad; /* means divide by the whole window */
    const char *name;
} eddy_pool_nd_args;
typedef struct eddy_pool_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_pool_args));
    eddy_tensor x;
    eddy_dims   window_shape;      /* an entry an axis: one to three */
    const char *pooling_type;      /* "MAX" or "AVG" */
    eddy_dims   strides;           /* likewise, or one for all; default 1 */
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
    eddy_dims   ksize;             /* an entry an axis: one to three */
    eddy_dims   strides;           /* likewise, or one for all; default ksize */
    const char *data_format;
    const char *name;
} eddy_lp_pool_args;
#endif

/* ------------------------------------------------------------------ shared -- */

static bool forward_infer(eddy_infer *c)
{
    eddy_shape x = c->in[0].shape, y;
    return eddy__window_infer(c, &x, &y) && eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

static eddy_status forward_prepare(eddy_kernel *k)
{
    return eddy__window_prepare(k, k->attrs, k->in[0]->type.shape, k->out[0]->type.shape);
}

/* Of an op whose input 1 has the shape of y. */
static eddy_status back_prepare(eddy_kernel *k)
{
    return eddy__window_prepare(k, k->attrs, k->in[0]->type.shape, k->in[1]->type.shape);
}

/* ------------------------------------------------------------- max_pool3d -- */

static eddy_status max_pool3d_kernel(eddy_kernel *k)
{
    eddy_window_work w = eddy__window_work_of(k);
    w.x = k->in[0]->data;
    w.y = k->out[0]->data;
    eddy__window_max(k, &w);
    return EDDY_OK;
}

static void max_pool3d_gradient(eddy_rule *r)
{
    r->dx[0] = eddy__apply3(&eddy_op_max_pool3d_grad, r->attrs, r->x[0], r->y[0], r->dy[0]);
}

const eddy_op_def eddy_op_max_pool3d = {
    .name = "MaxPool3D", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }),
    .attrs_size = sizeof(eddy_window_attrs), .attrs = eddy__window_fields,
    .flops = eddy__window_flops,
    .infer = forward_infer, .prepare = forward_prepare, .kernel = max_pool3d_kernel,
    .gradient = max_pool3d_gradient, .batch = eddy__window_batch,
};

/* -------------------------------------------------------- max_pool3d_grad -- */

/* Of x, y, which only lends its shape, and dy. */
static bool max_pool3d_grad_infer(eddy_infer *c)
{
    eddy_shape x = c->in[0].shape, y;
    return eddy__window_infer(c, &x, &y) && eddy__expect_shape(c, 1, "y", y) &&
           eddy__expect_shape(c, 2, "dy", y) && eddy__infer_yield(c, 0, c->in[0].dtype, x);
}

static eddy_status max_pool3d_grad_kernel(eddy_kernel *k)
{
    eddy_window_work w = eddy__window_work_of(k);
    w.x = k->in[0]->data;
    w.v = k->in[2]->data;
    w.y = k->out[0]->data;
    eddy__window_back(k, &w);
    return EDDY_OK;
}

/* Linear in dy; and x has no part in it but where its order changes. */
static void max_pool3d_grad_gradient(eddy_rule *r)
{
    r->dx[0] = ZerosLike(r->x[0]);
    r->dx[2] = eddy__apply3(&eddy_op_max_pool3d_grad_grad, r->attrs, r->x[0], r->x[1], r->dy[0]);
}

const eddy_op_def eddy_op_max_pool3d_grad = {
    .name = "MaxPool3DGrad", .min_inputs = 3, .max_inputs = 3, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }, { "y", EDDY_LIKE(0) },
                          { "dy", EDDY_LIKE(0) }),
    .shape_inputs = 1u << 1, .attrs_size = sizeof(eddy_window_attrs), .attrs = eddy__window_fields,
    .flops = eddy__window_flops, .infer = max_pool3d_grad_infer, .prepare = back_prepare,
    .kernel = max_pool3d_grad_kernel, .gradient = max_pool3d_grad_gradient,
    .batch = eddy__window_batch,
};

/* --------------------------------------------------- max_pool3d_grad_grad -- */

/* Of x, y, which only lends its shape, and ddx: what stands in ddx at the maxima of x. */
static bool max_pool3d_grad_grad_infer(eddy_infer *c)
{
    eddy_shape x = c->in[0].shape, y;
    return eddy__window_infer(c, &x, &y) && eddy__expect_shape(c, 1, "y", y) &&
           eddy__expect_shape(c, 2, "ddx", x) && eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

static eddy_status max_pool3d_grad_grad_kernel(eddy_kernel *k)
{
    eddy_window_work w = eddy__window_work_of(k);
    w.x = k->in[0]->data;
    w.v = k->in[2]->data;
    w.y = k->out[0]->data;
    eddy__window_pick(k, &w);
    return EDDY_OK;
}

static void max_pool3d_grad_grad_gradient(eddy_rule *r)
{
    r->dx[0] = ZerosLike(r->x[0]);
    r->dx[2] = eddy__apply3(&eddy_op_max_pool3d_grad, r->attrs, r->x[0], r->x[1], r->dy[0]);
}

const eddy_op_def eddy_op_max_pool3d_grad_grad = {
    .name = "MaxPool3DGradGrad", .min_inputs = 3, .max_inputs = 3, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }, { "y", EDDY_LIKE(0) },
                          { "ddx", EDDY_LIKE(0) }),
    .shape_inputs = 1u << 1, .attrs_size = sizeof(eddy_window_attrs), .attrs = eddy__window_fields,
    .flops = eddy__window_flops, .infer = max_pool3d_grad_grad_infer, .prepare = forward_prepare,
    .kernel = max_pool3d_grad_grad_kernel, .gradient = max_pool3d_grad_grad_gradient,
    .batch = eddy__window_batch,
};

/* ------------------------------------------------------------- avg_pool3d -- */

static eddy_status avg_pool3d_kernel(eddy_kernel *k)
{
    eddy_window_work w = eddy__window_work_of(k);
    w.x = k->in[0]->data;
    w.y = k->out[0]->data;
    eddy__window_mean(k, &w);
    return EDDY_OK;
}

static void avg_pool3d_gradient(eddy_rule *r)
{
    const eddy_tensor in[] = { r->x[0], r->dy[0] };
    r->dx[0] = eddy_apply(&eddy_op_avg_pool3d_grad, r->attrs, 2, in, (eddy_apply_args){ 0 });
}

const eddy_op_def eddy_op_avg_pool3d = {
    .name = "AvgPool3D", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }),
    .attrs_size = sizeof(eddy_window_attrs), .attrs = eddy__window_fields,
    .flops = eddy__window_flops,
    .infer = forward_infer, .prepare = forward_prepare, .kernel = avg_pool3d_kernel,
    .gradient = avg_pool3d_gradient, .batch = eddy__window_batch,
};

/* -------------------------------------------------------- avg_pool3d_grad -- */

/* Of x, which only lends its shape, and dy. */
static bool avg_pool3d_grad_infer(eddy_infer *c)
{
    eddy_shape x = c->in[0].shape, y;
    return eddy__window_infer(c, &x, &y) && eddy__expect_shape(c, 1, "dy", y) &&
           eddy__infer_yield(c, 0, c->in[0].dtype, x);
}

static eddy_status avg_pool3d_grad_kernel(eddy_kernel *k)
{
    eddy_window_work w = eddy__window_work_of(k);
    w.v = k->in[1]->data;
    w.y = k->out[0]->data;
    eddy__window_back(k, &w);
    return EDDY_OK;
}

static void avg_pool3d_grad_gradient(eddy_rule *r)
{
    r->dx[1] = eddy_apply1(&eddy_op_avg_pool3d, r->attrs, r->dy[0]);
}

const eddy_op_def eddy_op_avg_pool3d_grad = {
    .name = "AvgPool3DGrad", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }, { "dy", EDDY_LIKE(0) }),
    .shape_inputs = 1u << 0,
    .attrs_size = sizeof(eddy_window_attrs), .attrs = eddy__window_fields,
    .flops = eddy__window_flops,
    .infer = avg_pool3d_grad_infer, .prepare = back_prepare, .kernel = avg_pool3d_grad_kernel,
    .gradient = avg_pool3d_grad_gradient, .batch = eddy__window_batch,
};

/* --------------------------------------------------------------- builders -- */

static eddy_tensor pooled(const eddy_op_def *op, const char *called, int axes,
                          const eddy_pool_nd_args *p)
{
    eddy_graph       *g = p->x.graph;
    const eddy_dims   strides = eddy_dims_or(p->strides, p->ksize);
    const eddy_dims   gaps = eddy_dims_or(p->dilations, EDDY_DIMS(1));
    const char       *padding = p->explicit_paddings.count > 0 ? "EXPLICIT" : "VALID";
    eddy_window_attrs a = { .padding = p->padding ? p->padding : padding,
                            .count_include_pad = p->count_include_pad };
    bool planes;
    if (p->padding && strcmp(p->padding, "ADAPTIVE") == 0)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: padding is 'ADAPTIVE'; it must be SAME, "
                         "VALID or EXPLICIT", called);
    if (!eddy__window_format(called, g, p->data_format, axes, &planes) ||
        !eddy__window_entries(called, g, "ksize", p->ksize, axes, planes, &a.ksize) ||
        !eddy__window_entries(called, g, "strides", strides, axes, planes, &a.strides) ||
        !eddy__window_entries(called, g, "dilations", gaps, axes, planes, &a.dilations) ||
        !eddy__window_paddings(called, g, p->explicit_paddings, axes, planes, &a.paddings))
        return eddy_none(g);
    return eddy__window_apply(op, &a, p->x, planes, p->name);
}

/** y = the maxima of the windows along one axis.
 *
 *  x                  float32 or float64 [batch, width, channels], for NCW [batch, channels,
 *                     width]; y likewise
 *  ksize              of a window: one entry, or one for each dimension of x, where those of
 *                     batch and channels are 1
 *  strides            from one window to the next, likewise; default ksize
 *  padding            "VALID", all windows inside, the default; "SAME", one at every stride, the
 *                     first and the last reaching out by half of what is missing; "EXPLICIT"
 *  data_format        "NWC", the default, or "NCW"
 *  dilations          steps between neighbouring elements of a window, as ksize; default 1
 *  explicit_paddings  places that windows may reach out before and after x, or TensorFlow's two
 *                     for each dimension; "EXPLICIT" is understood
 *
 *  Only elements of x count.  A NaN stays if it comes first in its window, and is passed over
 *  elsewhere; a window with gaps that meets nothing has -infinity.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE unless x has rank 3 and, but
 *  for SAME, a window fits; EDDY_INVALID_ARGUMENT for options that are none; EDDY_LIMIT from 2^31
 *  places an example.
 *  Gradient: dx = dy at the maximum of each window, the first one.
 *  TensorFlow: nn.max_pool1d. */
eddy_tensor eddy_max_pool1d_with(const eddy_pool_nd_args *given)
{
    eddy_pool_nd_args a = EDDY_TAKE(eddy_pool_nd_args, given);
    return pooled(&eddy_op_max_pool3d, "max_pool1d", 1, &a);
}

/** y = the means of the windows along one axis.
 *
 *  x, ksize, strides, padding, data_format, dilations, explicit_paddings  as of eddy_max_pool1d
 *  count_include_pad  the sum is divided by the size of the whole window
 *
 *  Else only elements of x count: a window that reaches out has the mean of what is inside, 0
 *  if that is nothing.
 *  Errors: those of eddy_max_pool1d.
 *  Gradient: dx = dy over the size of the window, for each window that x is in.
 *  TensorFlow: nn.avg_pool1d. */
eddy_tensor eddy_avg_pool1d_with(const eddy_pool_nd_args *given)
{
    eddy_pool_nd_args a = EDDY_TAKE(eddy_pool_nd_args, given);
    return pooled(&eddy_op_avg_pool3d, "avg_pool1d", 1, &a);
}

/** y = the maxima of the windows of volumes.
 *
 *  x                  float32 or float64 [batch, depth, height, width, channels], for NCDHW
 *                     [batch, channels, depth, height, width]; y likewise
 *  ksize              of a window: one entry for all axes, depth, height and width, or one for
 *                     each dimension of x, where those of batch and channels are 1
 *  strides, padding, dilations  as of eddy_max_pool1d; strides and dilations have as many
 *                     entries as ksize may have
 *  data_format        "NDHWC", the default, or "NCDHW", which costs two transpositions
 *  explicit_paddings  six entries: places before and after x in depth, height and width
 *
 *  Errors, gradient: those of eddy_max_pool1d; x has rank 5.
 *  TensorFlow: MaxPool3D (nn.max_pool3d). */
eddy_tensor eddy_max_pool3d_with(const eddy_pool_nd_args *given)
{
    eddy_pool_nd_args a = EDDY_TAKE(eddy_pool_nd_args, given);
    return pooled(&eddy_op_max_pool3d, "max_pool3d", 3, &a);
}

/** y = the means of the windows of volumes.
 *
 *  x, ksize, strides, padding, data_format, dilations, explicit_paddings  as of eddy_max_pool3d
 *  count_include_pad  as of eddy_avg_pool1d
 *
 *  Errors, gradient: those of eddy_avg_pool1d; x has rank 5.
 *  TensorFlow: AvgPool3D (nn.avg_pool3d). */
eddy_tensor eddy_avg_pool3d_with(const eddy_pool_nd_args *given)
{
    eddy_pool_nd_args a = EDDY_TAKE(eddy_pool_nd_args, given);
    return pooled(&eddy_op_avg_pool3d, "avg_pool3d", 3, &a);
}

/* Images whose windows have neither gaps nor paddings of their own. */
static eddy_tensor pooled_images(const eddy_pool_nd_args *p, bool mean)
{
    const eddy_pool2d_args a =
        *EDDY_ARGS(eddy_pool2d_args, .x = p->x, .ksize = p->ksize, .strides = p->strides,
                   .padding = p->padding, .data_format = p->data_format, .name = p->name);
    return mean ? eddy_avg_pool2d_with(&a) : eddy_max_pool2d_with(&a);
}

/** y = the maxima or means of windows along one, two or three axes, as many as window_shape has
 *  entries.
 *
 *  x                  float32 or float64 [batch, axes..., channels], or with channels second
 *  window_shape       an entry an axis
 *  pooling_type       "MAX" or "AVG"
 *  strides            one entry for all axes, or one an axis; default 1
 *  padding            "VALID", the default, "SAME" or "EXPLICIT"; see eddy_max_pool1d
 *  data_format        "NWC", "NHWC" or "NDHWC", the default; "NCW", "NCHW" or "NCDHW"
 *  dilations          as strides; default 1
 *  explicit_paddings  of each axis the places before and after x
 *  count_include_pad  means divide by the size of the whole window
 *
 *  Else padding never counts, also where windows have gaps; TensorFlow takes zeros in there.
 *  Errors, gradient: those of eddy_max_pool1d and eddy_avg_pool1d; EDDY_INVALID_ARGUMENT for
 *  another pooling_type.  TensorFlow: nn.pool. */
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
        return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT,
                         "pool: window_shape has %d entries; 1 to "
                         "3 are expected",
                         axes > 0 ? axes : 0);
    const eddy_pool_nd_args p =
        *EDDY_ARGS(eddy_pool_nd_args, .x = a.x, .ksize = a.window_shape, .padding = a.padding,
                   .data_format = a.data_format, .strides = eddy_dims_or(a.strides, EDDY_DIMS(1)),
                   .dilations = a.dilations, .explicit_paddings = a.explicit_paddings,
                   .count_include_pad = a.count_include_pad, .name = a.name);
    const bool own = a.padding && strcmp(a.padding, "EXPLICIT") == 0;
    if (axes == 2 && a.dilations.count == 0 && a.explicit_paddings.count == 0 && !own &&
        !a.count_include_pad)
        return pooled_images(&p, mean);
    return pooled(mean ? &eddy_op_avg_pool3d : &eddy_op_max_pool3d, "pool", axes, &p);
}

/** y = the p-norms of the windows along one, two or three axes, (sum of x^p)^(1/p).
 *
 *  x            float32 or float64 [batch, axes..., channels], or with channels second
 *  norm_type    p, above 0
 *  ksize        of a window, an entry an axis
 *  strides      one entry for all axes, or one an axis; default ksize
 *  data_format  as of eddy_pool
 *
 *  All windows are inside.  For an odd p x is taken with its sign, and the sum as it is: a sum
 *  below 0 has a root only for p = 1.
 *  Errors: those of eddy_pool; EDDY_INVALID_ARGUMENT for a norm_type that is not above 0.
 *  Gradient: that of what it is made of.  PyTorch: nn.functional.lp_pool2d. */
eddy_tensor eddy_lp_pool_with(const eddy_lp_pool_args *given)
{
    eddy_lp_pool_args a = EDDY_TAKE(eddy_lp_pool_args, given);
    double elements = 1;
    if (!(a.norm_type > 0) || a.norm_type > 1e300)
        return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT, "lp_pool: norm_type is %g; it must be "
                         "above 0 and finite", a.norm_type);
    for (int i = 0; i < a.ksize.count && i < EDDY_MAX_RANK; i++) elements *= (double)a.ksize.at[i];
    const bool        square = a.norm_type == 2, same = a.norm_type == 1;
    const eddy_tensor power = square ? Square(a.x) : same ? a.x : Pow(a.x, a.norm_type);
    const eddy_dims   strides = eddy_dims_or(a.strides, a.ksize);
    const eddy_tensor sum = Mul(eddy_pool(power, a.ksize, "AVG", strides, .data_format =
                                          a.data_format), elements);
    const eddy_tensor y = square ? Sqrt(sum) : same ? sum : Pow(sum, 1 / a.norm_type);
    return a.name ? eddy_named(a.name, y) : y;
}
