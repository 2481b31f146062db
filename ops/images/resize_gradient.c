/* resize_gradient.c -- gradients of image resizing: products with the transposed matrices. They
 * are linear, so the gradient of a gradient is the resizing itself. */
#include "ops/arrays/arrays.h"
#include "ops/kernels/images/resize.h"
#include "build/gen/table.h"

/* Inputs: x, of which only the shape is used, dy, and the size if it is a tensor. */
static bool infer(eddy_infer *c)
{
    const eddy_shape dy = c->in[1].shape;
    eddy_shape x, y;
    char text[2][128];
    if (!eddy__infer_resize(c, &x, &y)) return false;
    if (!eddy_shape_compatible(dy, y))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "dy has shape %s; expected %s",
                               eddy_shape_print(dy, text[0], sizeof text[0]),
                               eddy_shape_print(y, text[1], sizeof text[1]));
    if (dy.rank == 4) eddy__dim_unify(&x.dim[0], dy.dim[0]);
    if (dy.rank == 4) eddy__dim_unify(&x.dim[3], dy.dim[3]);
    return eddy__infer_yield(c, 0, c->in[0].dtype, x);
}

static eddy_status prepare(eddy_kernel *k)
{
    return eddy__resample_prepare(k, k->out[0]->type.shape, true);
}

static eddy_status kernel(eddy_kernel *k) { return eddy__resample_run(k, 1); }

static void gradient(eddy_rule *r)
{
    const eddy_op_def *op = eddy__resize_op(r->node->op->variant);
    const eddy_tensor in[] = { r->dy[0], r->n_in > 2 ? r->x[2] : r->dy[0] };
    r->dx[1] = eddy_apply(op, r->attrs, r->n_in - 1, in, (eddy_apply_args){ 0 });
}

static double nearest_flops(const void *attrs, int n_in, const eddy_type *in,
                            const eddy_type *out)
{
    (void)attrs, (void)n_in, (void)out;
    return (double)eddy_shape_count(in[1].shape);
}

#define RESIZE_GRAD(type, method, flops_fn)                                     \
    { .name = type, .min_inputs = 2, .max_inputs = 3, .outputs = 1, .variant = method, \
      .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS | EDDY_RANK(4) }, { "dy", EDDY_LIKE(0) }, \
                            { "size", EDDY_ANY_TYPE }),                         \
      .shape_inputs = 1u << 0, .value_inputs = 1u << 2,                         \
      .attrs_size = sizeof(eddy_resize_attrs), .attrs = eddy__resize_fields,    \
      .infer = infer, .prepare = prepare, .kernel = kernel, .gradient = gradient, \
      .batch = eddy__resize_batch, .flops = flops_fn }

const eddy_op_def eddy_op_resize_nearest_grad =
    RESIZE_GRAD("ResizeNearestNeighborGrad", EDDY_RESIZE_NEAREST, nearest_flops);
const eddy_op_def eddy_op_resize_bilinear_grad =
    RESIZE_GRAD("ResizeBilinearGrad", EDDY_RESIZE_BILINEAR, eddy__resize_bilinear_flops);
const eddy_op_def eddy_op_resize_bicubic_grad =
    RESIZE_GRAD("ResizeBicubicGrad", EDDY_RESIZE_BICUBIC, eddy__resize_bicubic_flops);
const eddy_op_def eddy_op_resize_area_grad =
    RESIZE_GRAD("ResizeAreaGrad", EDDY_RESIZE_AREA, eddy__resize_area_flops);
