/* pool2d.c -- 2-D max pooling and average pooling of images, channels last. */
#include "graph/base/min_max.h"
#include "ops/arrays/arrays.h"
#include "graph/take.h"
#include "ops/arrays/batching.h"
#include "ops/nets/pool_windows.h"
#include "ops/math/elementwise_rows.h"
#include "ops/nets/expect_shape.h"

#include <string.h>

/* ---------------------------------------------------------------- options -- */

#ifdef EDDY_HEADER
/* Arguments of the pooling operations. */
typedef struct eddy_pool2d_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_pool2d_args));
    eddy_tensor x;
    eddy_dims   ksize;             /* of a window: one entry, height and width, or four */
    eddy_dims   strides;           /* likewise; default ksize */
    const char *padding;           /* "VALID", the default, "SAME" or "EXPLICIT" */
    const char *data_format;       /* "NHWC", the default, or "NCHW" */
    eddy_dims   explicit_paddings; /* above, below, left and right */
    const char *name;
} eddy_pool2d_args;
#endif

/* The entries are those of height and width. */
typedef struct pool_attrs {
    eddy_dims   ksize, strides;
    const char *padding;
} pool_attrs;

static const eddy_attr_field pool_fields[] = EDDY_FIELDS(pool_attrs, ksize, strides, padding);

static bool is_same(const pool_attrs *a) { return a->padding && strcmp(a->padding, "SAME") == 0; }

/* ------------------------------------------------------------------ sizes -- */

/* How many windows begin in a dimension of n. */
static int64_t windows(const pool_attrs *a, int i, int64_t n)
{
    const int64_t k = a->ksize.at[i], s = a->strides.at[i];
    if (is_same(a)) return n / s + (n % s > 0);
    return (n - k) / s + 1;
}

static bool check_pair(eddy_infer *c, const char *what, eddy_dims d)
{
    if (d.count != 2)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "%s has %d entries; expected 2", what,
                               d.count > 0 ? d.count : 0);
    for (int i = 0; i < 2; i++)
        if (d.at[i] < 1 || d.at[i] > INT32_MAX)
            return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                                   "%s has the entry %lld; it must be above 0 and fit in int32",
                                   what, (long long)d.at[i]);
    return true;
}

static bool check_attrs(eddy_infer *c)
{
    const pool_attrs *a = c->attrs;
    if (!check_pair(c, "ksize", a->ksize) || !check_pair(c, "strides", a->strides)) return false;
    if (is_same(a) || (a->padding && strcmp(a->padding, "VALID") == 0)) return true;
    return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "padding is '%.40s'; it must be SAME or VALID",
                           a->padding ? a->padding : "");
}

/* Loops of float32 count the places from the first of a window to its last in 32 bits. */
static bool check_reach(eddy_infer *c, eddy_shape x)
{
    const pool_attrs *a = c->attrs;
    const int64_t     height = x.dim[1], width = x.dim[2];
    if (height == EDDY_ANY || width == EDDY_ANY || c->in[0].dtype == EDDY_FLOAT64) return true;
    const int64_t rows = eddy__min(a->ksize.at[0], height);
    if (width <= INT32_MAX / eddy__max(rows, 1)) return true;
    return eddy_infer_fail(c, EDDY_LIMIT,
                           "a window of %lld rows of x, which has %lld columns, spans 2^31 "
                           "positions or more", (long long)rows, (long long)width);
}

/* *y = the shape of x pooled; *x has rank 4 then. */
static bool infer_pooled(eddy_infer *c, eddy_shape *x, eddy_shape *y)
{
    const pool_attrs *a = c->attrs;
    if (!check_attrs(c)) return false;
    if (x->rank < 0) *x = eddy__shape_open(4);
    *y = *x;
    for (int i = 0; i < 2; i++) {
        const int64_t n = x->dim[1 + i];
        if (n == EDDY_ANY) continue;
        if (!is_same(a) && n < a->ksize.at[i])
            return eddy_infer_fail(
                c, EDDY_BAD_SHAPE,
                "a window of %lld does not fit in dimension %d of x, which is %lld",
                (long long)a->ksize.at[i], 1 + i, (long long)n);
        y->dim[1 + i] = windows(a, i, n);
    }
    return check_reach(c, *x);
}

static bool pool_infer(eddy_infer *c)
{
    eddy_shape x = c->in[0].shape, y;
    return infer_pooled(c, &x, &y) && eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

/* ------------------------------------------------------------------ loops -- */

/* How windows lie on x, as k->state. */
static eddy_status prepare(eddy_kernel *k, eddy_shape x, eddy_shape y)
{
    const pool_attrs       *a = k->attrs;
    const eddy_window_attrs w = { .ksize = a->ksize, .strides = a->strides,
                                  .dilations = EDDY_DIMS(1, 1), .padding = a->padding };
    const eddy_status       s = eddy__window_prepare(k, &w, x, y);
    if (s == EDDY_OK) eddy__window_of_images(k, &w, x);
    return s;
}

static eddy_status forward_prepare(eddy_kernel *k)
{
    return prepare(k, k->in[0]->type.shape, k->out[0]->type.shape);
}

/* Of an op whose input 1 has the shape of y. */
static eddy_status back_prepare(eddy_kernel *k)
{
    return prepare(k, k->in[0]->type.shape, k->in[1]->type.shape);
}

/* ------------------------------------------------------ what they share -- */

/* One operation for each element of each window. */
static double pool_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    const pool_attrs *a = attrs;
    const eddy_shape  x = in[0].shape;
    (void)n_in; (void)out;
    return (double)(x.dim[0] * windows(a, 0, x.dim[1]) * windows(a, 1, x.dim[2]) * x.dim[3]) *
           (double)a->ksize.at[0] * (double)a->ksize.at[1];
}

/* The examples and the images of each become one axis, and are parted again. */
static void pool_batch(eddy_batch *b)
{
    eddy_tensor in[3], both = { 0 };
    for (int i = 0; i < b->n_in; i++) {
        const bool lent = eddy__input_is_in(b->node->op->shape_inputs, i);
        in[i] = lent ? eddy_batch_like(b->x[i], b->examples) : eddy_batch_input(b, i);
        both = Sum(in[i], .axes = EDDY_AXES(2, 3, 4));      /* only lends its shape */
        in[i] = eddy_merge_leading(in[i], both);
    }
    const eddy_tensor y = eddy_apply(b->node->op, b->attrs, b->n_in, in, (eddy_apply_args){ 0 });
    b->y[0] = eddy_unflatten_like(y, both, 0, 0);
}

/* Height and width of an option; one entry is both, and of four the others must be 1. */
static bool take_pair(const eddy_op_def *op, const char *what, eddy_dims d, bool planes,
                      eddy_graph *g, eddy_dims *pair)
{
    const int at = d.count == 4 ? (planes ? 2 : 1) : 0;
    if (eddy_refuse_number(g, op->name, what, d)) return false;
    if (d.count != 1 && d.count != 2 && d.count != 4) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s has %d entries; 1, 2 or 4 are expected",
                  op->name, what, d.count > 0 ? d.count : 0);
        return false;
    }
    if (d.count == 4 && (d.at[0] != 1 || d.at[planes ? 1 : 3] != 1)) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s must be 1 in the batch and channel dimensions",
                  op->name, what);
        return false;
    }
    *pair = EDDY_DIMS(d.at[at], d.at[d.count == 1 ? 0 : at + 1]);
    return true;
}

/* Windows of eddy_pool's loops, which reach out as far as they are told. */
static eddy_tensor pooled_padded(const eddy_op_def *op, const eddy_pool2d_args *p,
                                 const pool_attrs *a, bool planes)
{
    eddy_dims around;
    if (!eddy__window_paddings(op->name, p->x.graph, p->explicit_paddings, 2, planes, &around))
        return eddy_none(p->x.graph);
    return eddy_pool_with(
        EDDY_ARGS(eddy_pool_args, .x = p->x, .window_shape = a->ksize, .strides = a->strides,
                  .padding = p->padding, .pooling_type = op == &eddy_op_max_pool ? "MAX" : "AVG",
                  .data_format = p->data_format, .explicit_paddings = around, .name = p->name));
}

static eddy_tensor pooled(const eddy_op_def *op, const eddy_pool2d_args *p)
{
    eddy_graph *g = p->x.graph;
    const bool  planes = p->data_format && strcmp(p->data_format, "NCHW") == 0;
    pool_attrs  a = { .padding = p->padding ? p->padding : "VALID" };
    if (p->data_format && !planes && strcmp(p->data_format, "NHWC") != 0)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: data_format is '%.40s'; it must be NHWC or "
                         "NCHW", op->name, p->data_format);
    if (!take_pair(op, "ksize", p->ksize, planes, g, &a.ksize)) return eddy_none(g);
    const eddy_dims strides = eddy_dims_or(p->strides, a.ksize);
    if (!take_pair(op, "strides", strides, planes, g, &a.strides)) return eddy_none(g);
    if (p->explicit_paddings.count != 0 || strcmp(a.padding, "EXPLICIT") == 0)
        return pooled_padded(op, p, &a, planes);
    if (!planes) return eddy__apply_named(p->name, op, &a, 1, &p->x);
    const eddy_tensor y = eddy_apply1(op, &a, Transpose(p->x, EDDY_DIMS(0, 2, 3, 1)));
    return eddy_transpose(y, EDDY_DIMS(0, 3, 1, 2), .name = p->name);
}

/* --------------------------------------------------------------- max_pool -- */

static eddy_status max_pool_kernel(eddy_kernel *k)
{
    eddy_window_work w = eddy__window_work_of(k);
    w.x = k->in[0]->data;
    w.y = k->out[0]->data;
    eddy__window_max(k, &w);
    return EDDY_OK;
}

static void max_pool_gradient(eddy_rule *r)
{
    r->dx[0] = eddy__apply3(&eddy_op_max_pool_grad, r->attrs, r->x[0], r->y[0], r->dy[0]);
}

const eddy_op_def eddy_op_max_pool = {
    .name = "MaxPool",
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS | EDDY_RANK(4) }),
    .attrs_size = sizeof(pool_attrs),
    .attrs = pool_fields,
    .flops = pool_flops,
    .infer = pool_infer,
    .prepare = forward_prepare,
    .kernel = max_pool_kernel,
    .gradient = max_pool_gradient,
    .batch = pool_batch,
};

/** y = the maxima of the windows of images.
 *
 *  x            float32 or float64 [batch, height, width, channels]
 *  ksize        of a window: one entry for both, height and width, or one for each
 *               dimension of x, where those of batch and channels are 1
 *  strides      from one window to the next, likewise; default ksize
 *  padding      "VALID", all windows inside; "SAME", one at every stride, the first
 *               and the last reaching out by half of what is missing; or "EXPLICIT";
 *               default "VALID"
 *  data_format  "NHWC", as above, or "NCHW", channels second; default "NHWC".  NCHW
 *               costs two transpositions
 *  explicit_paddings  how far windows may reach out above, below, left and right, less than
 *               their size, or TensorFlow's eight; "EXPLICIT" is understood.  Such windows
 *               are eddy_pool's, and EDDY_LIMIT is for images from 2^31 places
 *
 *  Only elements of x count.  A NaN stays if it comes first in its window, and is passed
 *  over elsewhere.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE unless x has rank 4
 *  and, for VALID, a window fits; EDDY_INVALID_ARGUMENT for sizes, strides, padding or
 *  data_format that are none; EDDY_LIMIT if the rows of a window, of float32, have 2^31
 *  places or more.
 *  Gradient: dx = dy at the maximum of each window, the first one.
 *  TensorFlow: MaxPool (tf.nn.max_pool2d). */
eddy_tensor eddy_max_pool2d_with(const eddy_pool2d_args *given)
{
    eddy_pool2d_args a = EDDY_TAKE(eddy_pool2d_args, given);
    return pooled(&eddy_op_max_pool, &a);
}

/* ---------------------------------------------------------- max_pool_grad -- */

/* Of x, y, which only lends its shape, and dy. */
static bool max_pool_grad_infer(eddy_infer *c)
{
    eddy_shape x = c->in[0].shape, y;
    return infer_pooled(c, &x, &y) && eddy__expect_shape(c, 1, "y", y) &&
           eddy__expect_shape(c, 2, "dy", y) && eddy__infer_yield(c, 0, c->in[0].dtype, x);
}

static eddy_status max_pool_grad_kernel(eddy_kernel *k)
{
    eddy_window_work w = eddy__window_work_of(k);
    w.x = k->in[0]->data;
    w.v = k->in[2]->data;
    w.y = k->out[0]->data;
    eddy__window_back(k, &w);
    return EDDY_OK;
}

/* Linear in dy; and x has no part in it but where its order changes. */
static void max_pool_grad_gradient(eddy_rule *r)
{
    r->dx[0] = ZerosLike(r->x[0]);
    r->dx[2] = eddy__apply3(&eddy_op_max_pool_grad_grad, r->attrs, r->x[0], r->x[1], r->dy[0]);
}

const eddy_op_def eddy_op_max_pool_grad = {
    .name = "MaxPoolGrad", .min_inputs = 3, .max_inputs = 3, .outputs = 1, .shape_inputs = 1u << 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS | EDDY_RANK(4) }, { "y", EDDY_LIKE(0) },
                          { "dy", EDDY_LIKE(0) }),
    .attrs_size = sizeof(pool_attrs), .attrs = pool_fields,
    .flops = pool_flops,
    .infer = max_pool_grad_infer, .prepare = back_prepare, .kernel = max_pool_grad_kernel,
    .gradient = max_pool_grad_gradient, .batch = pool_batch,
};

/* ----------------------------------------------------- max_pool_grad_grad -- */

/* Of x, y, which only lends its shape, and ddx: what stands in ddx at the maxima of x. */
static bool max_pool_grad_grad_infer(eddy_infer *c)
{
    eddy_shape x = c->in[0].shape, y;
    return infer_pooled(c, &x, &y) && eddy__expect_shape(c, 1, "y", y) &&
           eddy__expect_shape(c, 2, "ddx", x) && eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

static eddy_status max_pool_grad_grad_kernel(eddy_kernel *k)
{
    eddy_window_work w = eddy__window_work_of(k);
    w.x = k->in[0]->data;
    w.v = k->in[2]->data;
    w.y = k->out[0]->data;
    eddy__window_pick(k, &w);
    return EDDY_OK;
}

static void max_pool_grad_grad_gradient(eddy_rule *r)
{
    r->dx[0] = ZerosLike(r->x[0]);
    r->dx[2] = eddy__apply3(&eddy_op_max_pool_grad, r->attrs, r->x[0], r->x[1], r->dy[0]);
}

const eddy_op_def eddy_op_max_pool_grad_grad = {
    .name = "MaxPoolGradGrad",
    .min_inputs = 3,
    .max_inputs = 3,
    .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS | EDDY_RANK(4) }, { "y", EDDY_LIKE(0) },
                          { "ddx", EDDY_LIKE(0) }),
    .shape_inputs = 1u << 1,
    .attrs_size = sizeof(pool_attrs),
    .attrs = pool_fields,
    .flops = pool_flops,
    .infer = max_pool_grad_grad_infer,
    .prepare = forward_prepare,
    .kernel = max_pool_grad_grad_kernel,
    .gradient = max_pool_grad_grad_gradient,
    .batch = pool_batch,
};

/* --------------------------------------------------------------- avg_pool -- */

static eddy_status avg_pool_kernel(eddy_kernel *k)
{
    eddy_window_work w = eddy__window_work_of(k);
    w.x = k->in[0]->data;
    w.y = k->out[0]->data;
    eddy__window_mean(k, &w);
    return EDDY_OK;
}

static void avg_pool_gradient(eddy_rule *r)
{
    const eddy_tensor in[] = { r->x[0], r->dy[0] };
    r->dx[0] = eddy_apply(&eddy_op_avg_pool_grad, r->attrs, 2, in, (eddy_apply_args){ 0 });
}

const eddy_op_def eddy_op_avg_pool = {
    .name = "AvgPool",
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS | EDDY_RANK(4) }),
    .attrs_size = sizeof(pool_attrs),
    .attrs = pool_fields,
    .flops = pool_flops,
    .infer = pool_infer,
    .prepare = forward_prepare,
    .kernel = avg_pool_kernel,
    .gradient = avg_pool_gradient,
    .batch = pool_batch,
};

/** y = the means of the windows of images.
 *
 *  x, ksize, strides, padding, data_format, explicit_paddings  as of eddy_max_pool2d
 *
 *  Only elements of x count: a window that reaches out has the mean of what is inside.
 *  Errors: those of eddy_max_pool2d.
 *  Gradient: dx = dy over the size of the window, for each window that x is in.
 *  TensorFlow: AvgPool (tf.nn.avg_pool2d). */
eddy_tensor eddy_avg_pool2d_with(const eddy_pool2d_args *given)
{
    eddy_pool2d_args a = EDDY_TAKE(eddy_pool2d_args, given);
    return pooled(&eddy_op_avg_pool, &a);
}

/* ---------------------------------------------------------- avg_pool_grad -- */

/* Of x, which only lends its shape, and dy. */
static bool avg_pool_grad_infer(eddy_infer *c)
{
    eddy_shape x = c->in[0].shape, y;
    return infer_pooled(c, &x, &y) && eddy__expect_shape(c, 1, "dy", y) &&
           eddy__infer_yield(c, 0, c->in[0].dtype, x);
}

static eddy_status avg_pool_grad_kernel(eddy_kernel *k)
{
    eddy_window_work w = eddy__window_work_of(k);
    w.v = k->in[1]->data;
    w.y = k->out[0]->data;
    eddy__window_back(k, &w);
    return EDDY_OK;
}

static void avg_pool_grad_gradient(eddy_rule *r)
{
    r->dx[1] = eddy_apply(&eddy_op_avg_pool, r->attrs, 1, r->dy, (eddy_apply_args){ 0 });
}

const eddy_op_def eddy_op_avg_pool_grad = {
    .name = "AvgPoolGrad", .min_inputs = 2, .max_inputs = 2, .outputs = 1, .shape_inputs = 1u << 0,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS | EDDY_RANK(4) }, { "dy", EDDY_LIKE(0) }),
    .attrs_size = sizeof(pool_attrs), .attrs = pool_fields,
    .flops = pool_flops,
    .infer = avg_pool_grad_infer, .prepare = back_prepare, .kernel = avg_pool_grad_kernel,
    .gradient = avg_pool_grad_gradient, .batch = pool_batch,
};
