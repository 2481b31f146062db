/* cumulative_logsumexp.c -- cumulative log-sum-exp, maximum and minimum (cummax, cummin) along
 * an axis. */
#include "graph/base/thread_pool.h"
#include "ops/arrays/along_axis.h"
#include "graph/call_options.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "graph/base/cpu.h"
#include "ops/kernels/elementwise/vector_math_f64.h"
#include "ops/reduce/scans.h"
#include "ops/short_names.h"
#include "ops/kernels/reduction/reduce_engine.h"
#include "build/gen/table.h"

#include <math.h>

enum { TILE = 64, WORK = 1 << 12 };

/* Up to TILE adjacent lanes, beginning at element `at`, in steps of `step`. */
typedef struct walk {
    const eddy_kernel *k;
    eddy_lanes lanes;
    int64_t    tiles;               /* in each outer position */
    void     (*run)(const struct walk *w, int64_t at, int64_t width, int64_t step);
} walk;

/* Tiles [from, to). */
static void walk_some(void *arg, int64_t from, int64_t to, int worker)
{
    const walk             *w = arg;
    const eddy_scan_attrs *a = w->k->attrs;
    const eddy_lanes        l = w->lanes;
    (void)worker;
    for (int64_t t = from; t < to; t++) {
        const int64_t c = t % w->tiles * TILE, first = a->reverse ? l.n - 1 : 0;
        w->run(w, (t / w->tiles * l.n + first) * l.inner + c,
               l.inner - c < TILE ? l.inner - c : TILE, a->reverse ? -l.inner : l.inner);
    }
}

static eddy_status walk_all(const eddy_kernel *k,
                            void (*run)(const walk *, int64_t, int64_t, int64_t))
{
    const eddy_scan_attrs *a = k->attrs;
    const eddy_lanes l = eddy__lanes_of(k->in[0]->type.shape, a->axis);
    walk w = { k, l, (l.inner + TILE - 1) / TILE, run };
    if (k->out[0]->count == 0) return EDDY_OK;
    const int64_t width = l.inner < TILE ? l.inner : TILE;
    eddy__parallel_or_stop(k, l.outer * w.tiles, WORK / (l.n * width) + 1, walk_some, &w);
    return EDDY_OK;
}

/* --------------------------------------------------- cumulative_logsumexp -- */

/* Adds one element to top + ln sum, where `sum` is the sum of e^(x - top). */
static inline void take_in(double x, double *top, double *sum)
{
    if (x <= *top) {
        *sum += isinf(*top) ? (x == *top) : eddy__exp_f64(x - *top);
    } else {
        *sum = isinf(*top) ? 1 : *sum * eddy__exp_f64(*top - x) + 1;
        *top = x;
    }
}

#define TEMPLATE "ops/kernels/reduction/cumulative_logsumexp_loops.h"
#include "ops/kernels/for_floats.h"

static eddy_status logsumexp_kernel(eddy_kernel *k)
{
    return walk_all(k, EDDY_FOR_TYPE(logsumexp, FOR_FLOATS, k->in[0]->type.dtype));
}

/* With y[j] the log-sum-exp of the elements up to j, dx[j] = e^(x[j] - y[j]) u[j], where u[j] =
 * dy[j] + e^(y[j] - y[j+1]) u[j+1]: no exponent is positive. Exponents that are positive by
 * rounding, the last one, which has no meaning, and infinite y become 0. */
static void logsumexp_gradient(eddy_rule *r)
{
    const eddy_scan_attrs *a = r->attrs;
    const int64_t     back = a->reverse ? 1 : -1;
    const eddy_tensor x = r->x[0];
    const eddy_tensor y = !a->exclusive ? r->y[0]
                        : eddy_cumulative_logsumexp(x, .axis = a->axis, .reverse = a->reverse);
    const eddy_tensor dy = a->exclusive ? eddy_shift(r->dy[0], back, a->axis) : r->dy[0];
    const eddy_tensor m = Where(Equal(y, -(double)INFINITY), 0, y);
    const eddy_tensor to = eddy_shift(m, back, a->axis), same = Equal(m, to);
    const eddy_tensor fall = Minimum(Where(same, 0, Sub(m, to)), 0);
    const eddy_tensor u = eddy_linear_scan(dy, Exp(fall), .axis = a->axis,
                                           .reverse = !a->reverse);
    r->dx[0] = Mul(Exp(Where(Equal(x, m), 0, Sub(x, m))), u);
}

const eddy_op_def eddy_op_cumulative_logsumexp = {
    .name = "CumulativeLogsumexp", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }),
    .attrs_size = sizeof(eddy_scan_attrs), .attrs = eddy__scan_fields,
    .flops = eddy_flops_per_input, .infer = eddy__scan_infer, .kernel = logsumexp_kernel,
    .gradient = logsumexp_gradient, .batch = eddy__scan_batch,
};

/** y[j] = ln(e^x[0] + ... + e^x[j]) along `axis`, without overflow.
 *
 *  x          float32 or float64, rank at least 1
 *  axis       in [-rank, rank); default 0
 *  exclusive  covers only the elements before j, so that y[0] = -infinity
 *  reverse    accumulates from the last element to the first
 *
 *  If all elements are -infinity, so is y.
 *  Errors: EDDY_INVALID_ARGUMENT for an invalid axis.
 *  Gradient: dx[j] = the sum of dy[i] e^(x[j] - y[i]) over all i for which y[i] includes x[j].
 *  TensorFlow: CumulativeLogsumexp. */
eddy_tensor eddy_cumulative_logsumexp_with(const eddy_scan_args *given)
{
    return eddy__scan_apply(&eddy_op_cumulative_logsumexp, given);
}

/* ------------------------------------------------------- cumulative extremes -- */

#define TEMPLATE "ops/kernels/reduction/running_extreme_loops.h"
#define TYPES    FOR_NUMBERS
#include "ops/kernels/for_types.h"

typedef void run_fn(const walk *w, int64_t at, int64_t width, int64_t step);

static run_fn *extreme_of(eddy_dtype d, bool largest)
{
    return largest ? EDDY_FOR_TYPE(largest, FOR_NUMBERS, d)
                   : EDDY_FOR_TYPE(smallest, FOR_NUMBERS, d);
}

static bool extreme_infer(eddy_infer *c)
{
    return eddy__infer_with_indices(c, ((const eddy_scan_attrs *)c->attrs)->axis);
}

static void extreme_gradient(eddy_rule *r)
{
    const eddy_scan_attrs *a = r->attrs;
    r->dx[0] = eddy_put_along(r->dy[0], r->y[1], r->x[0], a->axis);
}

enum { LARGEST, SMALLEST };

static eddy_status extreme_kernel(eddy_kernel *k)
{
    return walk_all(k, extreme_of(k->in[0]->type.dtype, k->op->variant == LARGEST));
}

#define RUNNING(type, extreme)                                                  \
    { .name = type, .min_inputs = 1, .max_inputs = 1, .outputs = 2, .variant = extreme, \
      .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_NUMBERS }),                             \
      .attrs_size = sizeof(eddy_scan_attrs), .attrs = eddy__scan_fields,       \
      .flops = eddy_flops_per_input, .infer = extreme_infer, .kernel = extreme_kernel, \
      .gradient = extreme_gradient, .batch = eddy__scan_batch }

const eddy_op_def eddy_op_cummax = RUNNING("Cummax", LARGEST);
const eddy_op_def eddy_op_cummin = RUNNING("Cummin", SMALLEST);

#ifdef EDDY_HEADER
/* Arguments of the cumulative maximum and minimum. */
typedef struct eddy_cummax_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_cummax_args));
    eddy_tensor x;
    int64_t     axis;           /* default 0 */
    bool        reverse;        /* from the last element to the first */
    const char *name;
} eddy_cummax_args;
#endif

static eddy_tensor running(const eddy_op_def *op, const eddy_cummax_args *given)
{
    const eddy_cummax_args a = EDDY_TAKE(eddy_cummax_args, given);
    const eddy_scan_attrs  attrs = { .axis = a.axis, .reverse = a.reverse };
    return eddy__apply_named(a.name, op, &attrs, 1, &a.x);
}

/** y[j] = the largest of x[0], ..., x[j] along `axis`; eddy_output(y, 1) holds its index.
 *
 *  x        float32, float64, int32, int64 or uint8, rank at least 1
 *  axis     in [-rank, rank); default 0
 *  reverse  y[j] = the largest of x[j], ..., x[n - 1]
 *
 *  Returns output 0; output 1 holds the indices, int32; the last one on ties, as in PyTorch.
 *  From the first NaN on, y is NaN.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_INVALID_ARGUMENT for an invalid axis;
 *  EDDY_LIMIT if the indices may not fit in int32.
 *  Gradient: dx[i] = the sum of dy[j] over all j for which y[j] is x[i].
 *  TensorFlow: tf.scan; PyTorch's cummax. */
eddy_tensor eddy_cummax_with(const eddy_cummax_args *given)
{
    return running(&eddy_op_cummax, given);
}

/** y[j] = the smallest of x[0], ..., x[j] along `axis`; eddy_output(y, 1) holds its index.
 *
 *  x, axis, reverse  as for eddy_cummax
 *
 *  Errors, Gradient: as for eddy_cummax.  TensorFlow: tf.scan; PyTorch's cummin. */
eddy_tensor eddy_cummin_with(const eddy_cummax_args *given)
{
    return running(&eddy_op_cummin, given);
}
