/* softmax_cross_entropy.c -- softmax cross entropy with dense or sparse labels, sigmoid cross
 * entropy, and the L2 loss.
 *
 * The softmax cross entropies return the gradient of the loss in addition to the loss, as
 * TensorFlow's do: it is cheap to compute there, and the backward pass only multiplies by it.
 * That second output has a gradient of its own, expressed with softmax, so both can be
 * differentiated any number of times. */
#include "ops/arrays/gradient_terms.h"
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/reduction/reduce_engine.h"
#include "ops/math/elementwise_rows.h"

/* ------------------------------------------------- softmax_cross_entropy -- */

#ifdef EDDY_HEADER
typedef struct eddy_softmax_cross_entropy_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_softmax_cross_entropy_args));
    eddy_tensor labels, logits;
    eddy_dims   axis;           /* of the classes, EDDY_AXES(0); default: the last */
    const char *name;
} eddy_softmax_cross_entropy_args;
#endif

typedef struct xent_attrs {
    int64_t axis;
} xent_attrs;

/* *s = the common shape of both inputs, as far as it is known. */
static bool infer_common(eddy_infer *c, eddy_shape *s)
{
    const eddy_shape a = c->in[0].shape, b = c->in[1].shape;
    char labels[128], logits[128];
    if (!eddy_shape_compatible(a, b))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "labels %s and logits %s differ in shape",
                               eddy_shape_print(a, labels, sizeof labels),
                               eddy_shape_print(b, logits, sizeof logits));
    *s = a.rank < 0 ? b : a;
    for (int i = 0; i < s->rank && b.rank >= 0; i++) eddy__dim_unify(&s->dim[i], b.dim[i]);
    return true;
}

static bool xent_infer(eddy_infer *c)
{
    const xent_attrs *a = c->attrs;
    const eddy_dtype d = c->in[1].dtype;
    eddy_shape s;
    int axis;
    if (!infer_common(c, &s)) return false;
    if (!eddy__infer_axis(c, a->axis, s.rank < 0 ? EDDY_MAX_RANK : s.rank, &axis)) return false;
    return eddy__infer_yield(c, 0, d, s.rank < 0 ? s : eddy__shape_without(s, axis)) &&
           eddy__infer_yield(c, 1, d, s);
}

/* x - t may exceed the largest float; for float64, half of it is computed. */
EDDY_INLINE double loss_term_f32(float l, float x, float top, float log_sum)
{
    return (double)l * ((double)log_sum - ((double)x - (double)top));
}
EDDY_INLINE double loss_term_f64(double l, double x, double top, double log_sum)
{
    return 2 * l * (0.5 * log_sum - (0.5 * x - 0.5 * top));
}

/* Terms that are summed in parallel lanes. */
enum { LOSS_LANES = 16 };
#define TEMPLATE "ops/kernels/reduction/cross_entropy_loops.h"
#include "ops/kernels/for_floats.h"

static void xent_finish(eddy_kernel *k, const eddy_softmax_block *b)
{
    const eddy_dtype d = k->out[0]->type.dtype;
    const ptrdiff_t at = (const char *)b->x - (const char *)k->in[1]->data;
    const void *label = (const char *)k->in[0]->data + at;
    double log_sum[EDDY_SOFTMAX_LANES];
    eddy__softmax_logs(d, b, log_sum);
    EDDY_BEST_FOR_TYPE(loss, FOR_FLOATS, d)(k->out[0]->data, b, label, log_sum);
    eddy__softmax_finish(d, b, label);
}

static eddy_status xent_kernel(eddy_kernel *k)
{
    const xent_attrs *a = k->attrs;
    eddy__softmax_walk(k, k->in[1]->type, a->axis, k->in[1]->data, k->out[1]->data, xent_finish);
    return EDDY_OK;
}

/* With p = softmax(logits) and y[1] = p - labels:
 *   dlogits = dy y[1] + p (ddy - sum ddy p),  dlabels = -dy ln p - ddy. */
static void xent_gradient(eddy_rule *r)
{
    const int64_t axis = ((const xent_attrs *)r->attrs)->axis;
    const eddy_tensor logits = r->x[1], ddy = r->dy[1];
    eddy_tensor to_labels[2] = { 0 }, to_logits[2] = { 0 };
    if (eddy__has_gradient(r->dy[0])) {
        const eddy_tensor dy = eddy_expand_dims(r->dy[0], axis);
        to_labels[0] = Neg(Mul(dy, eddy_log_softmax(logits, .axis = EDDY_AXES(axis))));
        to_logits[0] = Mul(dy, r->y[1]);
    }
    if (eddy__has_gradient(ddy)) {
        const eddy_tensor p = eddy_softmax(logits, .axis = EDDY_AXES(axis));
        const eddy_tensor s = eddy_sum(Mul(ddy, p), .axes = EDDY_AXES(axis), .keepdims = true);
        to_labels[1] = Neg(ddy);
        to_logits[1] = Mul(Sub(ddy, s), p);
    }
    r->dx[0] = eddy__add_terms(to_labels[0], to_labels[1]);
    r->dx[1] = eddy__add_terms(to_logits[0], to_logits[1]);
}

static void xent_batch(eddy_batch *b)
{
    xent_attrs a = *(const xent_attrs *)b->attrs;
    a.axis = eddy__batch_axis(a.axis);
    eddy_batch_apply(b, &a);
}

/* The softmax minus the labels; the sum of their products with the logits. */
static double xent_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    return 8 * eddy_flops_per_input(attrs, n_in, in, out);
}

const eddy_op_def eddy_op_softmax_cross_entropy = {
    .name = "SoftmaxCrossEntropyWithLogits", .min_inputs = 2, .max_inputs = 2, .outputs = 2,
    .inputs = EDDY_INPUTS({ "labels", EDDY_LIKE(1) }, { "logits", EDDY_TAKES_FLOATS }),
    .attrs_size = sizeof(xent_attrs), .attrs = EDDY_ATTRS(xent_attrs, axis),
    .flops = xent_flops,
    .infer = xent_infer, .kernel = xent_kernel, .gradient = xent_gradient, .batch = xent_batch,
};

/** loss = -sum_j labels[j] ln softmax(logits)[j] along `axis`.
 *
 *  labels  float32 or float64, the shape of logits: a distribution over the
 *          classes.  It need not sum to 1, but the gradient assumes that it does
 *  logits  same type and shape, rank at least 1
 *  axis    of the classes, a list of one entry, EDDY_AXES(0), in [-rank, rank);
 *          default: the last
 *
 *  The loss has the shape of logits without the axis.  No finite logits
 *  overflow; a class of label 0 contributes 0 even if its logit is -infinity.
 *  Output 1 of the node is softmax(logits) - labels.
 *  Errors: EDDY_BAD_SHAPE if the shapes differ; EDDY_INVALID_ARGUMENT if there is no such axis.
 *  Gradient: dlogits = dy (softmax(logits) - labels), dlabels = -dy ln
 *  softmax(logits); both differentiable again.
 *  TensorFlow: SoftmaxCrossEntropyWithLogits. */
eddy_tensor eddy_softmax_cross_entropy_with(const eddy_softmax_cross_entropy_args *given)
{
    eddy_softmax_cross_entropy_args a = EDDY_TAKE(eddy_softmax_cross_entropy_args, given);
    const eddy_op_def *op = &eddy_op_softmax_cross_entropy;
    eddy_graph *g = a.logits.graph;
    xent_attrs attrs;
    if (!eddy__take_axis(g, op, a.axis, &attrs.axis)) return eddy_none(g);
    return eddy_apply(op, &attrs, 2, (eddy_tensor[]){ a.labels, a.logits },
                      (eddy_apply_args){ .name = a.name });
}

/* ------------------------------------------ sparse_softmax_cross_entropy -- */

#ifdef EDDY_HEADER
typedef struct eddy_sparse_softmax_cross_entropy_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_sparse_softmax_cross_entropy_args));
    eddy_tensor labels, logits;
    const char *name;
} eddy_sparse_softmax_cross_entropy_args;
#endif

static bool sparse_infer(eddy_infer *c)
{
    const eddy_type labels = c->in[0], logits = c->in[1];
    char a[128], b[128];
    const int rank = logits.shape.rank >= 0 ? logits.shape.rank
                   : labels.shape.rank >= 0 ? labels.shape.rank + 1 : -1;
    if (logits.shape.rank == 0)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "logits is a scalar; expected a dimension of classes");
    if (rank > EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_LIMIT, "logits would have rank %d; the limit is %d", rank,
                               EDDY_MAX_RANK);
    eddy_shape loss = labels.shape, both = logits.shape;
    bool fit = loss.rank < 0 || loss.rank == rank - 1;
    if (loss.rank < 0) loss = eddy__shape_open(rank < 0 ? -1 : rank - 1);
    if (both.rank < 0) both = eddy__shape_open(rank);
    for (int i = 0; fit && i < loss.rank; i++) {
        fit = eddy__dim_unify(&loss.dim[i], both.dim[i]);
        both.dim[i] = loss.dim[i];
    }
    if (!fit)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "labels has shape %s; expected one label per row of logits, %s",
                               eddy_shape_print(labels.shape, a, sizeof a),
                               eddy_shape_print(logits.shape, b, sizeof b));
    return eddy__infer_yield(c, 0, logits.dtype, loss) &&
           eddy__infer_yield(c, 1, logits.dtype, both);
}

static void sparse_finish(eddy_kernel *k, const eddy_softmax_block *b)
{
    const eddy_dtype d = k->out[0]->type.dtype;
    double log_sum[EDDY_SOFTMAX_LANES];
    eddy__softmax_logs(d, b, log_sum);
    eddy__softmax_finish(d, b, NULL);
    EDDY_FOR_TYPE(pick, FOR_FLOATS, d)(k, b, log_sum);
}

static eddy_status sparse_kernel(eddy_kernel *k)
{
    const eddy_type t = k->in[1]->type;
    const int64_t classes = t.shape.dim[t.shape.rank - 1];
    for (int64_t i = 0; i < k->in[0]->count; i++) {
        const int64_t label = eddy__index_at(k->in[0], i);
        if (label < 0 || label >= classes)
            return eddy_kernel_fail(k, EDDY_OUT_OF_RANGE,
                                    "label %lld (element %lld) is not in [0, %lld)",
                                    (long long)label, (long long)i, (long long)classes);
    }
    eddy__softmax_walk(k, t, -1, k->in[1]->data, k->out[1]->data, sparse_finish);
    return EDDY_OK;
}

/* With p = softmax(logits): dlogits = dy y[1] + p (ddy - sum ddy p). */
static void sparse_gradient(eddy_rule *r)
{
    const eddy_tensor dy = r->dy[0], ddy = r->dy[1];
    eddy_tensor first = EDDY_NO_TENSOR, second = EDDY_NO_TENSOR;
    if (eddy__has_gradient(dy)) first = Mul(eddy_expand_dims(dy, -1), r->y[1]);
    if (eddy__has_gradient(ddy)) {
        const eddy_tensor p = eddy_softmax(r->x[1]);
        second = Mul(Sub(ddy, eddy_sum(Mul(ddy, p), .axes = EDDY_AXES(-1), .keepdims = true)), p);
    }
    r->dx[1] = eddy__add_terms(first, second);
}

static double sparse_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs; (void)n_in; (void)out;
    return 5 * (double)eddy_shape_count(in[1].shape);
}

const eddy_op_def eddy_op_sparse_softmax_cross_entropy = {
    .name = "SparseSoftmaxCrossEntropyWithLogits", .min_inputs = 2, .max_inputs = 2, .outputs = 2,
    .inputs = EDDY_INPUTS({ "labels", EDDY_TAKES_INDICES }, { "logits", EDDY_TAKES_FLOATS }),
    .flops = sparse_flops,
    .infer = sparse_infer, .kernel = sparse_kernel, .gradient = sparse_gradient,
    .batch = eddy_batch_as_is,
};

/** loss = -ln softmax(logits)[label] along the last axis.
 *
 *  labels  int32 or int64, the shape of logits without its last dimension; each
 *          is the index of a class, in [0, classes)
 *  logits  float32 or float64, [..., classes]
 *
 *  The loss has the shape of labels.  No finite logits overflow.  Output 1 of the
 *  node is softmax(logits) minus 1 at each label.
 *  Errors: EDDY_BAD_SHAPE if the shapes do not match; at run time, EDDY_OUT_OF_RANGE for a label
 *  that is not a class.
 *  Gradient: dlogits = dy (softmax(logits) - 1 at the label), differentiable again,
 *  unlike TensorFlow's; labels have none.
 *  TensorFlow: SparseSoftmaxCrossEntropyWithLogits. */
eddy_tensor eddy_sparse_softmax_cross_entropy_with(
    const eddy_sparse_softmax_cross_entropy_args *given)
{
    eddy_sparse_softmax_cross_entropy_args a =
        EDDY_TAKE(eddy_sparse_softmax_cross_entropy_args, given);
    return eddy_apply(&eddy_op_sparse_softmax_cross_entropy, NULL, 2,
                      (eddy_tensor[]){ a.labels, a.logits }, (eddy_apply_args){ .name = a.name });
}

/* ------------------------------------------------- sigmoid_cross_entropy -- */

static bool logistic_infer(eddy_infer *c)
{
    eddy_shape s;
    return eddy__infer_elementwise(c) && infer_common(c, &s) &&
           eddy__infer_yield(c, 0, c->in[1].dtype, s);
}

/* a are the labels, b the logits. */
DECLARE_FLOATS(TILE_BINARY, logistic, ((b > 0 ? b : 0) - b * a) +
                                      EDDY_REAL_MATH(log1p_exp, -fabs(b)))
ROW_PICK(logistic, FLOATS)

/* 1 - sigmoid(x) is computed as sigmoid(-x), which avoids cancellation where it is small. */
static void logistic_gradient(eddy_rule *r)
{
    const eddy_tensor z = r->x[0], x = r->x[1], dy = r->dy[0];
    r->dx[0] = Neg(Mul(dy, x));
    const eddy_tensor right = Sub(Sub(1, z), Sigmoid(Neg(x))), left = Sub(Sigmoid(x), z);
    r->dx[1] = Mul(dy, Where(GreaterEqual(x, 0), right, left));
}

static double logistic_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    return 8 * eddy_flops_per_output(attrs, n_in, in, out);
}

const eddy_op_def eddy_op_sigmoid_cross_entropy = {
    .name = "SigmoidCrossEntropyWithLogits", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "labels", EDDY_LIKE(1) }, { "logits", EDDY_TAKES_FLOATS }),
    .flags = EDDY_OP_ELEMENTWISE,
    .flops = logistic_flops,
    .infer = logistic_infer, .tile = logistic_tile, .gradient = logistic_gradient,
    .batch = eddy_batch_as_is,
};

/** loss = max(x, 0) - x z + ln(1 + e^-|x|), for each logit x with its label z.
 *
 *  labels  float32 or float64, any shape: probabilities, in [0, 1]
 *  logits  same type and shape
 *
 *  It equals -z ln sigmoid(x) - (1 - z) ln(1 - sigmoid(x)), without overflow or cancellation
 *  for any finite x.
 *  Errors: EDDY_BAD_SHAPE if the shapes differ, even if they broadcast.
 *  Gradient: dlogits = dy (sigmoid(x) - z), at 0 dy (0.5 - z); dlabels = -dy x.
 *  TensorFlow: tf.nn.sigmoid_cross_entropy_with_logits. */
eddy_tensor eddy_sigmoid_cross_entropy(eddy_tensor labels, eddy_tensor logits)
{
    return eddy_apply2(&eddy_op_sigmoid_cross_entropy, NULL, labels, logits);
}

/* ---------------------------------------------------------------- l2_loss -- */

static bool l2_infer(eddy_infer *c)
{
    return eddy__infer_yield(c, 0, c->in[0].dtype, EDDY_SCALAR);
}

static eddy_status l2_kernel(eddy_kernel *k)
{
    const eddy_type t = k->in[0]->type;
    const unsigned all = eddy__axes_mask((eddy_dims){ .count = 0 }, t.shape.rank);
    const eddy_reducer *squares = eddy__reducer_of(&eddy__fold_squares, t.dtype);
    const eddy_reduction p = eddy__reduction_of(squares, t.shape, all);
    void *y = k->out[0]->data;
    eddy__reduction_run(&p, y, k->in[0]->data);
    eddy__float_put(t.dtype, y, 0, 0.5 * eddy__float_at(t.dtype, y, 0));
    return EDDY_OK;
}

static void l2_gradient(eddy_rule *r)
{
    r->dx[0] = Mul(r->dy[0], r->x[0]);
}

static void l2_batch(eddy_batch *b)
{
    eddy_dims all = { .count = 0 };
    if (eddy__batch_axes(b, 0, &all)) b->y[0] = Mul(Sum(Square(b->x[0]), all), 0.5);
}

static double l2_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    return 2 * eddy_flops_per_input(attrs, n_in, in, out);
}

const eddy_op_def eddy_op_l2_loss = {
    .name = "L2Loss", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }),
    .flops = l2_flops,
    .infer = l2_infer, .kernel = l2_kernel, .gradient = l2_gradient, .batch = l2_batch,
};

/** y = sum x^2 / 2 over all elements.
 *
 *  x  float32 or float64, any shape; float32 is summed in float64
 *
 *  Gradient: dx = dy x.  TensorFlow: L2Loss. */
eddy_tensor eddy_l2_loss(eddy_tensor x)
{
    return eddy_apply1(&eddy_op_l2_loss, NULL, x);
}
