/* pool.c -- the operations of max and average pooling, each for images and for one to three axes
 * with dilations and explicit paddings, and the builder that chooses between the two. */
#include "ops/arrays/arrays.h"
#include "ops/short_names.h"
#include "ops/nets/pooling_rules.h"
#include "ops/nets/expect_shape.h"
#include "build/gen/table.h"

/* Members common to the definitions of each kind: `variant`, input x, the attributes. */
enum { boxes = EDDY_WINDOWS_OF_BOXES, boxes_x = EDDY_TAKES_FLOATS };
enum { images = EDDY_WINDOWS_OF_IMAGES, images_x = EDDY_TAKES_FLOATS | EDDY_RANK(4) };

static const eddy_attr_field boxes_fields[] =
    EDDY_FIELDS(eddy_window_attrs, ksize, strides, dilations, paddings, padding, count_include_pad);
static const eddy_attr_field images_fields[] =
    EDDY_FIELDS(eddy_window_attrs, ksize, strides, padding);

/* An operation with n inputs, declared by the last rows, and the functions of `what`. */
#define POOL_OP(type, kind, what, infer_fn, n, lent, ...)                       \
    { .name = type, .min_inputs = n, .max_inputs = n, .outputs = 1, .variant = kind, \
      .inputs = EDDY_INPUTS(__VA_ARGS__), .shape_inputs = lent,                 \
      .attrs_size = sizeof(eddy_window_attrs), .attrs = kind##_fields,          \
      .flops = eddy__window_flops, .infer = infer_fn, .prepare = prepare,       \
      .kernel = what##_kernel, .gradient = what##_gradient, .batch = eddy__window_batch }

/* ------------------------------------------------------------------ shared -- */

/* The definition, of two, that has the kind of r's. */
static const eddy_op_def *alike(const eddy_rule *r, const eddy_op_def *of_boxes,
                                const eddy_op_def *of_images)
{
    return r->node->op->variant == images ? of_images : of_boxes;
}

/* Checks that input 1, if there is one, has the shape of y. */
static eddy_status prepare(eddy_kernel *k)
{
    const eddy_shape  x = k->in[0]->type.shape;
    const eddy_shape  y = k->n_in > 1 ? k->in[1]->type.shape : k->out[0]->type.shape;
    const eddy_status s = eddy__window_prepare(k, k->attrs, x, y);
    if (s == EDDY_OK && k->op->variant == images) eddy__window_of_images(k, k->attrs, x);
    return s;
}

static bool pool_infer(eddy_infer *c)
{
    eddy_shape x = c->in[0].shape, y;
    return eddy__window_infer(c, &x, &y) && eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

/* --------------------------------------------------------------- max_pool -- */

static eddy_status max_pool_kernel(eddy_kernel *k)
{
    const eddy_window_work w = eddy__window_work_of(k, k->in[0], NULL);
    eddy__window_max(k, &w);
    return EDDY_OK;
}

static void max_pool_gradient(eddy_rule *r)
{
    const eddy_op_def *grad = alike(r, &eddy_op_max_pool3d_grad, &eddy_op_max_pool_grad);
    r->dx[0] = eddy__apply3(grad, r->attrs, r->x[0], r->y[0], r->dy[0]);
}

const eddy_op_def eddy_op_max_pool =
    POOL_OP("MaxPool", images, max_pool, pool_infer, 1, 0, { "x", images_x });
const eddy_op_def eddy_op_max_pool3d =
    POOL_OP("MaxPool3D", boxes, max_pool, pool_infer, 1, 0, { "x", boxes_x });

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
    const eddy_op_def *pick = alike(r, &eddy_op_max_pool3d_grad_grad, &eddy_op_max_pool_grad_grad);
    r->dx[0] = ZerosLike(r->x[0]);
    r->dx[2] = eddy__apply3(pick, r->attrs, r->x[0], r->x[1], r->dy[0]);
}

const eddy_op_def eddy_op_max_pool_grad =
    POOL_OP("MaxPoolGrad", images, max_pool_grad, max_pool_grad_infer, 3, 1u << 1,
            { "x", images_x }, { "y", EDDY_LIKE(0) }, { "dy", EDDY_LIKE(0) });
const eddy_op_def eddy_op_max_pool3d_grad =
    POOL_OP("MaxPool3DGrad", boxes, max_pool_grad, max_pool_grad_infer, 3, 1u << 1,
            { "x", boxes_x }, { "y", EDDY_LIKE(0) }, { "dy", EDDY_LIKE(0) });

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
    const eddy_op_def *grad = alike(r, &eddy_op_max_pool3d_grad, &eddy_op_max_pool_grad);
    r->dx[0] = ZerosLike(r->x[0]);
    r->dx[2] = eddy__apply3(grad, r->attrs, r->x[0], r->x[1], r->dy[0]);
}

const eddy_op_def eddy_op_max_pool_grad_grad =
    POOL_OP("MaxPoolGradGrad", images, max_pool_grad_grad, max_pool_grad_grad_infer, 3, 1u << 1,
            { "x", images_x }, { "y", EDDY_LIKE(0) }, { "ddx", EDDY_LIKE(0) });
const eddy_op_def eddy_op_max_pool3d_grad_grad =
    POOL_OP("MaxPool3DGradGrad", boxes, max_pool_grad_grad, max_pool_grad_grad_infer, 3, 1u << 1,
            { "x", boxes_x }, { "y", EDDY_LIKE(0) }, { "ddx", EDDY_LIKE(0) });

/* --------------------------------------------------------------- avg_pool -- */

static eddy_status avg_pool_kernel(eddy_kernel *k)
{
    const eddy_window_work w = eddy__window_work_of(k, k->in[0], NULL);
    eddy__window_mean(k, &w);
    return EDDY_OK;
}

static void avg_pool_gradient(eddy_rule *r)
{
    const eddy_op_def *grad = alike(r, &eddy_op_avg_pool3d_grad, &eddy_op_avg_pool_grad);
    r->dx[0] = eddy_apply2(grad, r->attrs, r->x[0], r->dy[0]);
}

const eddy_op_def eddy_op_avg_pool =
    POOL_OP("AvgPool", images, avg_pool, pool_infer, 1, 0, { "x", images_x });
const eddy_op_def eddy_op_avg_pool3d =
    POOL_OP("AvgPool3D", boxes, avg_pool, pool_infer, 1, 0, { "x", boxes_x });

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
    r->dx[1] = eddy_apply1(alike(r, &eddy_op_avg_pool3d, &eddy_op_avg_pool), r->attrs, r->dy[0]);
}

const eddy_op_def eddy_op_avg_pool_grad =
    POOL_OP("AvgPoolGrad", images, avg_pool_grad, avg_pool_grad_infer, 2, 1u << 0,
            { "x", images_x }, { "dy", EDDY_LIKE(0) });
const eddy_op_def eddy_op_avg_pool3d_grad =
    POOL_OP("AvgPool3DGrad", boxes, avg_pool_grad, avg_pool_grad_infer, 2, 1u << 0,
            { "x", boxes_x }, { "dy", EDDY_LIKE(0) });

/* ------------------------------------------------------------------ tools -- */

eddy_tensor eddy__window_pool(bool mean, const char *called, int axes, const eddy_pool_nd_args *p)
{
    eddy_graph       *g = p->x.graph;
    const eddy_dims   strides = eddy_dims_or(p->strides, p->ksize);
    const eddy_dims   gaps = eddy_dims_or(p->dilations, EDDY_DIMS(1));
    const char       *padding = p->explicit_paddings.count > 0 ? "EXPLICIT" : "VALID";
    eddy_window_attrs a = { .padding = p->padding ? p->padding : padding,
                            .count_include_pad = p->count_include_pad };
    bool planes;
    if (eddy__window_padding_is(&a, "ADAPTIVE"))
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: padding is 'ADAPTIVE'; it must be SAME, "
                         "VALID or EXPLICIT", called);
    if (!eddy__window_format(called, g, p->data_format, axes, &planes) ||
        !eddy__window_entries(called, g, "ksize", p->ksize, axes, planes, &a.ksize) ||
        !eddy__window_entries(called, g, "strides", strides, axes, planes, &a.strides) ||
        !eddy__window_entries(called, g, "dilations", gaps, axes, planes, &a.dilations) ||
        !eddy__window_paddings(called, g, p->explicit_paddings, axes, planes, &a.paddings))
        return eddy_none(g);
    const eddy_op_def *op = mean ? &eddy_op_avg_pool3d : &eddy_op_max_pool3d;
    if (axes == 2 && p->dilations.count == 0 && p->explicit_paddings.count == 0 &&
        !p->count_include_pad && !eddy__window_padding_is(&a, "EXPLICIT"))
        op = mean ? &eddy_op_avg_pool : &eddy_op_max_pool;
    return eddy__window_apply(op, &a, p->x, planes, p->name);
}
