/* conv_family.c -- shape, gradient and batching rules shared by the operations of 2-D convolution
 * and of depthwise convolution. */
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/nets/conv2d.h"
#include "ops/short_names.h"

#include <string.h>

/* ----------------------------------------------------------------- shapes -- */

eddy_shape eddy__conv_grouped(eddy_shape filter)
{
    if (filter.rank != 4) return filter;
    const int64_t c = filter.dim[2], m = filter.dim[3];
    const bool    known = c != EDDY_ANY && m != EDDY_ANY;
    const bool    fits = known && (m == 0 || c <= ((int64_t)1 << 48) / m);
    return EDDY_SHAPE(filter.dim[0], filter.dim[1], 1, fits ? c * m : EDDY_ANY);
}

static bool is_depthwise(const eddy_op_def *op) { return op->variant == EDDY_CONV_DEPTHWISE; }

bool eddy__infer_depthwise(eddy_infer *c, eddy_shape x, eddy_shape filter, eddy_shape *y)
{
    const eddy_conv_attrs *a = c->attrs;
    if (a->data_format && strcmp(a->data_format, "NCHW") == 0)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "only channels last is supported; transpose");
    if (x.rank == 4 && filter.rank == 4 && x.dim[3] != EDDY_ANY && filter.dim[2] != EDDY_ANY &&
        x.dim[3] != filter.dim[2])
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "the number of channels is %lld in x and %lld in "
                               "the filter; expected equal numbers",
                               (long long)x.dim[3], (long long)filter.dim[2]);
    return eddy__infer_conv(c, x, eddy__conv_grouped(filter), y);
}

/* *y = the shape of the convolution of inputs 0 and 1. */
static bool infer_result(eddy_infer *c, eddy_shape *y)
{
    const eddy_shape x = c->in[0].shape, filter = c->in[1].shape;
    return is_depthwise(c->op) ? eddy__infer_depthwise(c, x, filter, y)
                               : eddy__infer_conv(c, x, filter, y);
}

/* The same, where input 2 must have that shape, which may then be known further. */
static bool infer_backprop(eddy_infer *c, eddy_shape *y)
{
    const eddy_shape dy = c->in[2].shape;
    char text[2][128];
    if (!infer_result(c, y)) return false;
    if (!eddy_shape_compatible(dy, *y))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, is_depthwise(c->op)
                               ? "dy has shape %s; expected %s"
                               : "Size of out_backprop doesn't match computed: "
                                 "actual = %s, computed = %s",
                               eddy_shape_print(dy, text[0], sizeof text[0]),
                               eddy_shape_print(*y, text[1], sizeof text[1]));
    for (int i = 0; i < 4 && dy.rank == 4; i++) eddy__dim_unify(&y->dim[i], dy.dim[i]);
    return true;
}

bool eddy__conv_infer(eddy_infer *c)
{
    eddy_shape y;
    return infer_result(c, &y) && eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

bool eddy__conv_input_infer(eddy_infer *c)
{
    eddy_shape y, x = c->in[0].shape;
    if (!infer_backprop(c, &y)) return false;
    if (x.rank < 0) x = eddy__shape_open(4);
    eddy__dim_unify(&x.dim[0], y.dim[0]);
    return eddy__infer_yield(c, 0, c->in[1].dtype, x);
}

bool eddy__conv_filter_infer(eddy_infer *c)
{
    const eddy_conv_attrs *a = c->attrs;
    const eddy_shape       x = c->in[0].shape;
    eddy_shape y, filter = c->in[1].shape;
    if (!infer_backprop(c, &y)) return false;
    if (filter.rank < 0) filter = eddy__shape_open(4);
    if (!is_depthwise(c->op))
        eddy__dim_unify(&filter.dim[3], y.dim[eddy__conv_channels(a->data_format)]);
    else if (x.rank == 4) eddy__dim_unify(&filter.dim[2], x.dim[3]);
    return eddy__infer_yield(c, 0, c->in[0].dtype, filter);
}

/* ------------------------------------------------------------------ sizes -- */

eddy_conv_size eddy__conv_size(const eddy_kernel *k)
{
    const eddy_shape x = k->in[0]->type.shape, filter = k->in[1]->type.shape;
    return eddy__conv_size_of(k->attrs, x,
                              is_depthwise(k->op) ? eddy__conv_grouped(filter) : filter);
}

double eddy__conv_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    eddy_shape filter = in[1].shape;
    (void)n_in, (void)out;
    const double elements = (double)eddy_shape_count(filter);
    filter.dim[2] = 1;           /* the number of positions does not depend on it */
    const eddy_conv_size s = eddy__conv_size_of(attrs, in[0].shape, filter);
    return 2.0 * elements * (double)s.batch * (double)(s.out[0] * s.out[1]);
}

/* -------------------------------------------------------------- gradients -- */

/* Each of the three is linear in both of its operands. */
void eddy__conv_gradient(eddy_rule *r, const eddy_conv_family *of)
{
    const eddy_op_def *op = r->node->op;
    const eddy_tensor *x = r->x, dy = r->dy[0];
    if (op == of->conv) {
        r->dx[0] = eddy__apply3(of->input, r->attrs, x[0], x[1], dy);
        r->dx[1] = eddy__apply3(of->filter, r->attrs, x[0], x[1], dy);
    } else if (op == of->input) {
        r->dx[1] = eddy__apply3(of->filter, r->attrs, dy, x[1], x[2]);
        r->dx[2] = eddy_apply2(of->conv, r->attrs, dy, x[1]);
    } else {
        r->dx[0] = eddy__apply3(of->input, r->attrs, x[0], dy, x[2]);
        r->dx[2] = eddy_apply2(of->conv, r->attrs, x[0], dy);
    }
}

/* ------------------------------------------------------------------ tools -- */

/* [examples, n] for an input whose axis `axis` has n entries; only its shape is used. */
static eddy_tensor count_like(const eddy_batch *b, eddy_tensor own, int axis)
{
    eddy_dims others = { .count = 0 };
    for (int i = 0; i < 4; i++)
        if (i != axis) others.at[others.count++] = i;
    return eddy_batch_like(Sum(own, .axes = others), b->examples);
}

eddy_tensor eddy__conv_as_images(const eddy_batch *b, int i)
{
    return eddy_merge_leading(eddy_batch_input(b, i), count_like(b, b->node->inputs[i], 0));
}

eddy_tensor eddy__conv_as_groups(const eddy_batch *b, int i, int channels)
{
    const eddy_dims front = channels == 1 ? EDDY_DIMS(0, 2, 1, 3, 4) : EDDY_DIMS(0, 4, 1, 2, 3);
    const eddy_dims back = channels == 1 ? EDDY_DIMS(1, 0, 2, 3) : EDDY_DIMS(1, 2, 3, 0);
    const eddy_tensor x = Transpose(eddy_batch_input(b, i), front);
    return Transpose(eddy_merge_leading(x, count_like(b, b->node->inputs[i], channels)), back);
}

void eddy__conv_batch_images(eddy_batch *b)
{
    eddy_tensor in[3];
    for (int i = 0; i < b->n_in; i++) in[i] = i == 1 ? b->x[1] : eddy__conv_as_images(b, i);
    const eddy_tensor y = eddy_apply(b->node->op, b->attrs, b->n_in, in, (eddy_apply_args){ 0 });
    b->y[0] = eddy_reshape_like(y, eddy__batch_result_like(b));
}

void eddy__conv_batch_groups(eddy_batch *b, int like, int own, int axis)
{
    const int channels = eddy__conv_channels(((const eddy_conv_attrs *)b->attrs)->data_format);
    const eddy_dims front = axis == 1 ? EDDY_DIMS(1, 0, 2, 3) : EDDY_DIMS(3, 0, 1, 2);
    const eddy_dims back = axis == 1 ? EDDY_DIMS(0, 2, 1, 3, 4) : EDDY_DIMS(0, 2, 3, 4, 1);
    eddy_tensor in[3];
    for (int i = 0; i < b->n_in; i++) in[i] = eddy__conv_as_groups(b, i, i == 1 ? 3 : channels);
    const eddy_tensor y = eddy_apply(b->node->op, b->attrs, b->n_in, in, (eddy_apply_args){ 0 });
    const eddy_tensor count = count_like(b, b->node->inputs[like], own);
    b->y[0] = Transpose(eddy_unflatten_like(Transpose(y, front), count, 0, 0), back);
}
