/* softmax.c -- softmax and log-softmax along an axis; ops/kernels/reduction/softmax_rows.c
 * computes the exponentials. */
#include "ops/fusion_targets.h"
#include "ops/nets/softmax.h"
#include "graph/call_options.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/reduction/reduce_engine.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

/* The gradient is computed from the logarithm. */
EDDY_FUSION_TARGETS(&eddy_op_exp)

/* ----------------------------------------------------------------- softmax -- */

#ifdef EDDY_HEADER
typedef struct eddy_softmax_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_softmax_args));
    eddy_tensor x;
    eddy_dims   axis;           /* EDDY_AXES(0) is the first; default: the last */
    const char *name;
} eddy_softmax_args;
#endif

static const eddy_attr_field softmax_fields[] = EDDY_FIELDS(eddy_softmax_attrs, axis);

bool eddy__take_axis(eddy_graph *g, const eddy_op_def *op, eddy_dims axis, int64_t *out)
{
    *out = axis.count == 1 ? axis.at[0] : -1;
    if (eddy_refuse_number(g, op->name, "axis", axis)) return false;
    if (axis.count == 0 || axis.count == 1) return true;
    eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: expected one axis, %d given", op->name,
              axis.count > 0 ? axis.count : 0);
    return false;
}

static bool softmax_infer(eddy_infer *c)
{
    const eddy_softmax_attrs *a = c->attrs;
    const eddy_type x = c->in[0];
    int axis;
    return eddy__infer_axis(c, a->axis, x.shape.rank < 0 ? EDDY_MAX_RANK : x.shape.rank, &axis) &&
           eddy__infer_yield(c, 0, x.dtype, x.shape);
}

static eddy_tensor along_axis(const eddy_op_def *op, const eddy_softmax_args *given)
{
    const eddy_softmax_args a = EDDY_TAKE(eddy_softmax_args, given);
    eddy_softmax_attrs attrs;
    if (!eddy__take_axis(a.x.graph, op, a.axis, &attrs.axis))
        return eddy_none(a.x.graph);
    return eddy_apply(op, &attrs, 1, &a.x, (eddy_apply_args){ .name = a.name });
}

static void softmax_divide(eddy_kernel *k, const eddy_softmax_block *b)
{
    eddy__softmax_finish(k->out[0]->type.dtype, b, NULL);
}

static eddy_status softmax_kernel(eddy_kernel *k)
{
    const eddy_softmax_attrs *a = k->attrs;
    eddy__softmax_walk(k, k->in[0]->type, a->axis, k->in[0]->data, k->out[0]->data, softmax_divide);
    return EDDY_OK;
}

static void softmax_gradient(eddy_rule *r)
{
    const eddy_softmax_attrs *a = r->attrs;
    const eddy_tensor y = r->y[0], dy = r->dy[0];
    const eddy_tensor s = eddy_sum(Mul(dy, y), .axes = EDDY_AXES(a->axis), .keepdims = true);
    r->dx[0] = Mul(Sub(dy, s), y);
}

static void softmax_batch(eddy_batch *b)
{
    eddy_softmax_attrs a = *(const eddy_softmax_attrs *)b->attrs;
    a.axis = eddy__batch_axis(a.axis);
    eddy_batch_apply(b, &a);
}

/* Per element: compare, subtract the largest, exp, sum, divide or subtract the logarithm. */
static double softmax_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    return 5 * eddy_flops_per_input(attrs, n_in, in, out);
}

const eddy_op_def eddy_op_softmax = {
    .name = "Softmax", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .flags = EDDY_OP_IN_PLACE,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }),
    .attrs_size = sizeof(eddy_softmax_attrs), .attrs = softmax_fields,
    .flops = softmax_flops,
    .infer = softmax_infer, .kernel = softmax_kernel, .gradient = softmax_gradient,
    .batch = softmax_batch,
};

/** y[j] = e^x[j] / sum_k e^x[k] along `axis`.
 *
 *  x     float32 or float64, rank at least 1
 *  axis  a list of one entry, EDDY_AXES(0), in [-rank, rank); default: the last
 *
 *  The largest x[k] is subtracted first, so that no finite x overflows.  Where x is
 *  -infinity, y is 0; if all x[k] are -infinity, or one is +infinity or NaN, y is NaN.
 *  Errors: EDDY_INVALID_ARGUMENT if x has no such axis.
 *  Gradient: dx = (dy - s) y, s the sum of dy y along the axis.
 *  TensorFlow: Softmax (tf.nn.softmax). */
eddy_tensor eddy_softmax_with(const eddy_softmax_args *given)
{
    return along_axis(&eddy_op_softmax, given);
}

/* ------------------------------------------------------------- log_softmax -- */

static void subtract_log(eddy_kernel *k, const eddy_softmax_block *b)
{
    eddy__softmax_finish_log(k->out[0]->type.dtype, b);
}

static eddy_status log_softmax_kernel(eddy_kernel *k)
{
    const eddy_softmax_attrs *a = k->attrs;
    eddy__softmax_walk(k, k->in[0]->type, a->axis, k->in[0]->data, k->out[0]->data, subtract_log);
    return EDDY_OK;
}

static void log_softmax_gradient(eddy_rule *r)
{
    const eddy_softmax_attrs *a = r->attrs;
    const eddy_tensor y = r->y[0], dy = r->dy[0];
    const eddy_tensor s = eddy_sum(dy, .axes = EDDY_AXES(a->axis), .keepdims = true);
    r->dx[0] = Sub(dy, Mul(s, Exp(y)));
}

const eddy_op_def eddy_op_log_softmax = {
    .name = "LogSoftmax", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }),
    .attrs_size = sizeof(eddy_softmax_attrs), .attrs = softmax_fields,
    .flops = softmax_flops,
    .infer = softmax_infer, .kernel = log_softmax_kernel, .gradient = log_softmax_gradient,
    .batch = softmax_batch,
};

/** y[j] = x[j] - ln sum_k e^x[k] along `axis`, the logarithm of the softmax.
 *
 *  x     float32 or float64, rank at least 1
 *  axis  a list of one entry, EDDY_AXES(0), in [-rank, rank); default: the last
 *
 *  The largest x[k] is subtracted first, so that no finite x overflows.  Where x is
 *  -infinity, so is y; if all x[k] are -infinity, or one is +infinity or NaN, y is NaN.
 *  Errors: EDDY_INVALID_ARGUMENT if x has no such axis.
 *  Gradient: dx = dy - s e^y, s the sum of dy along the axis.
 *  TensorFlow: LogSoftmax (tf.nn.log_softmax). */
eddy_tensor eddy_log_softmax_with(const eddy_softmax_args *given)
{
    return along_axis(&eddy_op_log_softmax, given);
}
