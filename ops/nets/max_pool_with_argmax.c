/* max_pool_with_argmax.c -- 2-D max pooling that also returns the indices of the maxima
 * (argmax). */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/short_names.h"
#include "ops/nets/pooling_rules.h"
#include "build/gen/table.h"

#ifdef EDDY_HEADER
typedef struct eddy_max_pool_with_argmax_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_max_pool_with_argmax_args));
    eddy_tensor x;
    eddy_dims   ksize;                   /* of a window: one entry, height and width, or four */
    eddy_dims   strides;                 /* likewise; default: ksize */
    const char *padding;                 /* "VALID" (default), "SAME" or "EXPLICIT" */
    bool        include_batch_in_index;
    eddy_dims   explicit_paddings;       /* above, below, left and right */
    const char *name;
} eddy_max_pool_with_argmax_args;
#endif

typedef struct argmax_attrs {
    eddy_window_attrs windows;
    bool              include_batch_in_index;
} argmax_attrs;

static const eddy_attr_field argmax_fields[] = {
    { "ksize", EDDY_ATTR_DIMS, offsetof(argmax_attrs, windows.ksize) },
    { "strides", EDDY_ATTR_DIMS, offsetof(argmax_attrs, windows.strides) },
    { "dilations", EDDY_ATTR_DIMS, offsetof(argmax_attrs, windows.dilations) },
    { "paddings", EDDY_ATTR_DIMS, offsetof(argmax_attrs, windows.paddings) },
    { "padding", EDDY_ATTR_STRING, offsetof(argmax_attrs, windows.padding) },
    { "include_batch_in_index", EDDY_ATTR_BOOL, offsetof(argmax_attrs, include_batch_in_index) },
    { 0 },
};

static bool argmax_infer(eddy_infer *c)
{
    eddy_shape x = c->in[0].shape, y;
    return eddy__window_infer(c, &x, &y) && eddy__infer_yield(c, 0, c->in[0].dtype, y) &&
           eddy__infer_yield(c, 1, EDDY_INT64, y);
}

static eddy_status argmax_prepare(eddy_kernel *k)
{
    const argmax_attrs *a = k->attrs;
    return eddy__window_prepare(k, &a->windows, k->in[0]->type.shape, k->out[0]->type.shape);
}

static eddy_status argmax_kernel(eddy_kernel *k)
{
    const argmax_attrs *a = k->attrs;
    eddy_window_work    w = eddy__window_work_of(k, k->in[0], NULL);
    w.where = k->out[1]->data;
    w.all = a->include_batch_in_index;
    eddy__window_pick(k, &w);
    return EDDY_OK;
}

static void argmax_gradient(eddy_rule *r)
{
    const argmax_attrs *a = r->attrs;
    r->dx[0] = eddy__apply3(&eddy_op_max_pool3d_grad, &a->windows, r->x[0], r->y[0], r->dy[0]);
}

/* Indices are relative to one example of the map: the offset of the example is subtracted. */
static void argmax_batch(eddy_batch *b)
{
    const argmax_attrs *a = b->attrs;
    eddy__window_batch(b);
    if (a->include_batch_in_index)
        b->y[1] = FloorMod(b->y[1], eddy_size(b->node->inputs[0], EDDY_INT64));
}

const eddy_op_def eddy_op_max_pool_with_argmax = {
    .name = "MaxPoolWithArgmax", .min_inputs = 1, .max_inputs = 1, .outputs = 2,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }),
    .attrs_size = sizeof(argmax_attrs), .attrs = argmax_fields,
    .flops = eddy__window_flops,
    .infer = argmax_infer, .prepare = argmax_prepare, .kernel = argmax_kernel,
    .gradient = argmax_gradient, .batch = argmax_batch,
};

/** y = the maxima of the windows of images; eddy_output(y, 1): their indices.
 *
 *  x                       float32 or float64 [batch, height, width, channels]
 *  ksize                   size of a window: one entry for both, height and width, or one per
 *                          dimension of x, where those of batch and channels are 1
 *  strides                 distance between windows, likewise; default: ksize
 *  padding                 "VALID" (default), "SAME" or "EXPLICIT"; see eddy_max_pool2d
 *  include_batch_in_index  true: indices count the elements of all of x; false: those of each
 *                          image; padding is not counted
 *  explicit_paddings       as for eddy_max_pool2d
 *
 *  Returns output 0; output 1, int64 of the same shape, is the index (h width + w) channels + c.
 *  The first of equal elements is chosen.  A NaN is the result if it comes first in its window,
 *  and is ignored elsewhere.
 *  Errors: those of eddy_max_pool2d; EDDY_LIMIT for images with 2^31 positions or more.
 *  Gradient: dx = dy at the maxima; output 1 has none.
 *  TensorFlow: MaxPoolWithArgmax (nn.max_pool_with_argmax). */
eddy_tensor eddy_max_pool_with_argmax_with(const eddy_max_pool_with_argmax_args *given)
{
    eddy_max_pool_with_argmax_args p = EDDY_TAKE(eddy_max_pool_with_argmax_args, given);
    const char     *op = "max_pool_with_argmax";
    eddy_graph     *g = p.x.graph;
    const eddy_dims strides = eddy_dims_or(p.strides, p.ksize);
    const char     *padding = p.explicit_paddings.count > 0 ? "EXPLICIT" : "VALID";
    argmax_attrs    a = {
        .windows = { .padding = p.padding ? p.padding : padding, .dilations = EDDY_DIMS(1, 1) },
        .include_batch_in_index = p.include_batch_in_index,
    };
    if (!eddy__window_entries(op, g, "ksize", p.ksize, 2, false, &a.windows.ksize) ||
        !eddy__window_entries(op, g, "strides", strides, 2, false, &a.windows.strides) ||
        !eddy__window_paddings(op, g, p.explicit_paddings, 2, false, &a.windows.paddings))
        return eddy_none(g);
    return eddy__apply_named(p.name, &eddy_op_max_pool_with_argmax, &a, 1, &p.x);
}
