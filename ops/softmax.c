/* softmax.c -- normalised exponentials along an axis, and their logarithms.
 *
 * The cross entropies need the same walk: some lanes at a time, few enough to
 * stay in the nearest cache, the largest element of each subtracted before the
 * exponential is taken. */
#include "ops/arrays.h"
#include "ops/batch.h"
#include "ops/reduce.h"
#include "ops/rows.h"

/* ---------------------------------------------------------------- the walk -- */

/* y = value for every element of a block; x and y are its element, t and s the
 * top and the sum of its lane, and l is that of `labels`. */
#define ROWS(name, T, value)                                                    \
    static void name(const eddy_softmax_block *b, const void *labels_)          \
    {                                                                           \
        const T *x_ = b->x, *top_ = b->top, *sum_ = b->sum;                     \
        T *y_ = b->y;                                                           \
        (void)labels_; (void)x_; (void)top_; (void)sum_;                        \
        for (int64_t i = 0; i < b->many && b->width == 1; i++) {                \
            const T t = top_[i], s = sum_[i];                                   \
            (void)t; (void)s;                                                   \
            EDDY_INDEPENDENT                                                    \
            for (int64_t at = i * b->n; at < (i + 1) * b->n; at++) {            \
                const T x = x_[at], y = y_[at];                                 \
                (void)x; (void)y;                                               \
                y_[at] = (value);                                               \
            }                                                                   \
        }                                                                       \
        for (int64_t j = 0; j < b->n && b->width > 1; j++)                      \
            EDDY_INDEPENDENT                                                    \
            for (int64_t c = 0; c < b->width; c++) {                            \
                const int64_t at = j * b->stride + c;                           \
                const T t = top_[c], s = sum_[c], x = x_[at], y = y_[at];       \
                (void)t; (void)s; (void)x; (void)y;                             \
                y_[at] = (value);                                               \
            }                                                                   \
    }

ROWS(minus_top_f32, float, x - t)
ROWS(minus_top_f64, double, x - t)
ROWS(over_sum_f32, float, y / s)
ROWS(over_sum_f64, double, y / s)
ROWS(over_sum_less_f32, float, y / s - ((const float *)labels_)[at])
ROWS(over_sum_less_f64, double, y / s - ((const double *)labels_)[at])
ROWS(log_f32, float, x - t - s)
ROWS(log_f64, double, x - t - s)

void eddy_softmax_finish(eddy_dtype d, const eddy_softmax_block *b, const void *labels)
{
    if (labels) (d == EDDY_FLOAT32 ? over_sum_less_f32 : over_sum_less_f64)(b, labels);
    else (d == EDDY_FLOAT32 ? over_sum_f32 : over_sum_f64)(b, NULL);
}

/* One number a lane. */
typedef union lane_values {
    double f64[EDDY_SOFTMAX_LANES];
    float  f32[EDDY_SOFTMAX_LANES];
} lane_values;

typedef struct walk {
    eddy_type           type;
    const eddy_reducer *max, *sum;
    eddy_tile_fn        exponential;
} walk;

/* Fills b->y, b->top and b->sum. */
static void exponentials(const walk *w, const eddy_softmax_block *b, void *top, void *sum)
{
    eddy_reduction p = eddy_reduction_of_block(w->max, b->many, b->n, b->width, b->stride);
    eddy_reduction_run(&p, top, b->x);
    (w->type.dtype == EDDY_FLOAT32 ? minus_top_f32 : minus_top_f64)(b, NULL);

    const bool lines = b->width > 1;
    const int64_t length = lines ? b->width : b->many * b->n;
    char *y = b->y;
    for (int64_t j = 0; j < (lines ? b->n : 1); j++, y += (size_t)b->stride * w->max->size) {
        const void *in = y;
        if (length > 0) w->exponential(length, y, &in, NULL);
    }
    p.reducer = w->sum;
    eddy_reduction_run(&p, sum, b->y);
}

void eddy_softmax_walk(eddy_kernel *k, eddy_type t, int64_t axis, const void *x, void *y,
                       void (*finish)(eddy_kernel *k, const eddy_softmax_block *b))
{
    enum { ELEMENTS = 4096 };
    const eddy_lanes l = eddy_lanes_of(t.shape, axis);
    const size_t size = eddy_dtype_size(t.dtype);
    const walk w = { t, eddy_reducer_of(EDDY_FOLD_MAX, t.dtype),
                     eddy_reducer_of(EDDY_FOLD_SUM, t.dtype), eddy_op_exp.tile(&t, &t) };
    lane_values top, sum;
    int64_t most = l.n < ELEMENTS ? ELEMENTS / (l.n + 1) + 1 : 1;
    if (most > EDDY_SOFTMAX_LANES) most = EDDY_SOFTMAX_LANES;

    eddy_softmax_block b = { .top = &top, .sum = &sum, .n = l.n, .stride = l.inner };
    for (int64_t o = 0, step; o < l.outer; o += step) {
        step = l.inner > 1 ? 1 : l.outer - o < most ? l.outer - o : most;
        for (int64_t c = 0; c < l.inner; c += EDDY_SOFTMAX_LANES) {
            const size_t at = (size_t)(o * l.n * l.inner + c) * size;
            b.x = (const char *)x + at;
            b.y = (char *)y + at;
            b.many = step;
            b.width = l.inner - c < EDDY_SOFTMAX_LANES ? l.inner - c : EDDY_SOFTMAX_LANES;
            b.lane = o * l.inner + c;
            exponentials(&w, &b, &top, &sum);
            finish(k, &b);
        }
    }
}

/* ----------------------------------------------------------------- softmax -- */

#ifdef EDDY_HEADER
typedef struct eddy_softmax_args {
    char        unused_;
    eddy_tensor x;
    eddy_dims   axis;           /* EDDY_AXES(0) is the first; left out, the last */
    const char *name;
} eddy_softmax_args;
#endif

typedef struct softmax_attrs {
    int64_t axis;
} softmax_attrs;

static const eddy_attr_field softmax_fields[] = {
    { "axis", EDDY_ATTR_INT, offsetof(softmax_attrs, axis) },
    { NULL, EDDY_ATTR_END, 0 },
};

bool eddy_take_axis(eddy_graph *g, const eddy_op_def *op, eddy_dims axis, int64_t *out)
{
    *out = axis.count == 1 ? axis.at[0] : -1;
    if (axis.count == 0 || axis.count == 1) return true;
    eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: one axis expected, %d given", op->name,
              axis.count > 0 ? axis.count : 0);
    return false;
}

static bool softmax_infer(eddy_infer *c)
{
    const softmax_attrs *a = c->attrs;
    const eddy_type x = c->in[0];
    int axis;
    if (x.dtype != EDDY_FLOAT32 && x.dtype != EDDY_FLOAT64)
        return eddy_infer_fail(c, EDDY_BAD_DTYPE, "float32 or float64 expected, not %s",
                               eddy_dtype_name(x.dtype));
    return eddy_infer_axis(c, a->axis, x.shape.rank < 0 ? EDDY_MAX_RANK : x.shape.rank, &axis) &&
           eddy_infer_yield(c, 0, x.dtype, x.shape);
}

static eddy_tensor along_axis(const eddy_op_def *op, eddy_softmax_args a)
{
    softmax_attrs attrs;
    if (!eddy_take_axis(a.x.graph, op, a.axis, &attrs.axis))
        return (eddy_tensor){ a.x.graph, 0, 0 };
    return eddy_apply(op, &attrs, 1, &a.x, (eddy_apply_args){ .name = a.name });
}

static void softmax_divide(eddy_kernel *k, const eddy_softmax_block *b)
{
    eddy_softmax_finish(k->out[0]->type.dtype, b, NULL);
}

static eddy_status softmax_kernel(eddy_kernel *k)
{
    const softmax_attrs *a = k->attrs;
    eddy_softmax_walk(k, k->in[0]->type, a->axis, k->in[0]->data, k->out[0]->data, softmax_divide);
    return EDDY_OK;
}

static void softmax_gradient(eddy_rule *r)
{
    const softmax_attrs *a = r->attrs;
    const eddy_tensor y = r->y[0], dy = r->dy[0];
    const eddy_tensor s = eddy_sum(Mul(dy, y), .axes = EDDY_AXES(a->axis), .keepdims = true);
    r->dx[0] = Mul(Sub(dy, s), y);
}

static void softmax_batch(eddy_batch *b)
{
    softmax_attrs a = *(const softmax_attrs *)b->attrs;
    a.axis = eddy_batch_axis(a.axis);
    eddy_batch_apply(b, &a);
}

/* Of each element: compared, less the largest, exp, summed up, divided or less the log. */
static double softmax_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    return 5 * eddy_flops_per_input(attrs, n_in, in, out);
}

const eddy_op_def eddy_op_softmax = {
    .name = "Softmax", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .flags = EDDY_OP_IN_PLACE,
    .attrs_size = sizeof(softmax_attrs), .attrs = softmax_fields,
    .flops = softmax_flops,
    .infer = softmax_infer, .kernel = softmax_kernel, .gradient = softmax_gradient,
    .batch = softmax_batch,
};

/** y[j] = e^x[j] / sum_k e^x[k] along `axis`.
 *
 *  x     float32 or float64, rank 1 at least
 *  axis  as a list of one, EDDY_AXES(0), in [-rank, rank); left out: the last
 *
 *  The largest x[k] is subtracted first, so that no finite x overflows.  Where x
 *  is -infinity, y is 0; where all of a lane are, or one is +infinity or NaN, NaN.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_INVALID_ARGUMENT if x
 *  has no such axis.
 *  Gradient: dx = (dy - s) y, s the sum of dy y along the axis.
 *  TensorFlow: Softmax (tf.nn.softmax). */
eddy_tensor eddy_softmax_with(eddy_softmax_args a)
{
    return along_axis(&eddy_op_softmax, a);
}

/* ------------------------------------------------------------- log_softmax -- */

static void subtract_log(eddy_kernel *k, const eddy_softmax_block *b)
{
    lane_values log_sum;
    const bool single = k->out[0]->type.dtype == EDDY_FLOAT32;
    for (int64_t i = 0; i < b->many * b->width; i++) {
        if (single) log_sum.f32[i] = log(((const float *)b->sum)[i]);
        else log_sum.f64[i] = log(((const double *)b->sum)[i]);
    }
    eddy_softmax_block of_log = *b;
    of_log.sum = &log_sum;
    (single ? log_f32 : log_f64)(&of_log, NULL);
}

static eddy_status log_softmax_kernel(eddy_kernel *k)
{
    const softmax_attrs *a = k->attrs;
    eddy_softmax_walk(k, k->in[0]->type, a->axis, k->in[0]->data, k->out[0]->data, subtract_log);
    return EDDY_OK;
}

static void log_softmax_gradient(eddy_rule *r)
{
    const softmax_attrs *a = r->attrs;
    const eddy_tensor y = r->y[0], dy = r->dy[0];
    const eddy_tensor s = eddy_sum(dy, .axes = EDDY_AXES(a->axis), .keepdims = true);
    r->dx[0] = Sub(dy, Mul(s, Exp(y)));
}

const eddy_op_def eddy_op_log_softmax = {
    .name = "LogSoftmax", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .attrs_size = sizeof(softmax_attrs), .attrs = softmax_fields,
    .flops = softmax_flops,
    .infer = softmax_infer, .kernel = log_softmax_kernel, .gradient = log_softmax_gradient,
    .batch = softmax_batch,
};

/** y[j] = x[j] - ln sum_k e^x[k] along `axis`, the logarithm of the softmax.
 *
 *  x     float32 or float64, rank 1 at least
 *  axis  as a list of one, EDDY_AXES(0), in [-rank, rank); left out: the last
 *
 *  The largest x[k] is subtracted first, so that no finite x overflows.  Where x
 *  is -infinity, so is y; where all of a lane are, or one is +infinity or NaN, NaN.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_INVALID_ARGUMENT if x
 *  has no such axis.
 *  Gradient: dx = dy - s e^y, s the sum of dy along the axis.
 *  TensorFlow: LogSoftmax (tf.nn.log_softmax). */
eddy_tensor eddy_log_softmax_with(eddy_softmax_args a)
{
    return along_axis(&eddy_op_log_softmax, a);
}
