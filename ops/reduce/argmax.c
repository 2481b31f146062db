/* argmax.c -- argmax and argmin: the index of the largest or smallest element along an axis.
 *
 * Two passes, both of which vectorize: the extreme value of each lane, then its first index. */
#include "graph/base/stop.h"
#include "graph/base/thread_pool.h"
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "graph/base/cpu.h"
#include "graph/base/dtype.h"
#include "graph/internal.h"
#include "ops/kernels/reduction/reduce_engine.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#ifdef EDDY_HEADER
typedef struct eddy_argmax_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_argmax_args));
    eddy_tensor x;
    int64_t     axis;           /* default 0 */
    eddy_dtype  output_type;    /* EDDY_INT32 or EDDY_INT64 (default) */
    const char *name;
} eddy_argmax_args;
#endif

typedef struct argmax_attrs {
    int64_t    axis;
    eddy_dtype output_type;
} argmax_attrs;

static bool argmax_infer(eddy_infer *c)
{
    const argmax_attrs *a = c->attrs;
    const eddy_type x = c->in[0];
    eddy_shape y = EDDY_UNKNOWN_SHAPE;
    char text[100];
    int axis;
    if (!eddy__infer_expects(c, "output_type", a->output_type, EDDY_TAKES_INDICES)) return false;
    if (!eddy__infer_axis(c, a->axis, x.shape.rank < 0 ? EDDY_MAX_RANK : x.shape.rank, &axis))
        return false;
    if (x.shape.rank >= 0) {
        const int64_t n = x.shape.dim[axis];
        if (n == 0)
            return eddy_infer_fail(c, EDDY_BAD_SHAPE, "Reduction axis %d is empty in shape %s",
                                   axis, eddy_shape_print(x.shape, text, sizeof text));
        if (n > INT32_MAX && a->output_type == EDDY_INT32)
            return eddy_infer_fail(c, EDDY_LIMIT,
                                   "axis %d has %lld elements, too many for int32; use int64",
                                   axis, (long long)n);
        y = eddy__shape_without(x.shape, axis);
    }
    return eddy__infer_yield(c, 0, a->output_type, y);
}

/* The number of elements compared before a branch. */
enum { SCAN = 16 };
#define TEMPLATE "ops/kernels/reduction/argmax_loops.h"
#define TYPES    FOR_NUMBERS
#include "ops/kernels/for_types.h"

typedef void first_fn(int64_t *index, const void *x, const void *best, int64_t many, int64_t n,
                      int64_t width, int64_t stride);

static void store_indices(eddy_buffer *y, int64_t at, const int64_t *index, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        eddy__index_put(y, at + i, index[i]);
    }
}

enum { TILE = 256 };

typedef union elements {
    double  f64[TILE];
    float   f32[TILE];
    int64_t i64[TILE];
    int32_t i32[TILE];
    uint8_t u8[TILE];
} elements;

typedef struct search {
    eddy_buffer        *y;
    const char         *x;
    const eddy_reducer *reducer;
    first_fn           *first;
    eddy_lanes          lanes;
    const eddy_stop    *stop;
} search;

/* Outer positions [from, to). */
static void find_some(void *arg, int64_t from, int64_t to, int worker)
{
    const search *s = arg;
    const eddy_reducer *r = s->reducer;
    const eddy_lanes l = s->lanes;
    int64_t index[TILE], at = from * l.inner;
    elements best;
    (void)worker;
    for (int64_t o = from, many; o < to; o += many) {
        many = l.inner > 1 ? 1 : to - o < TILE ? to - o : TILE;
        for (int64_t c = 0, w; c < l.inner && !eddy__stopped(s->stop); c += w, at += many * w) {
            w = l.inner - c < TILE ? l.inner - c : TILE;
            const char *x = s->x + (size_t)(o * l.n * l.inner + c) * r->size;
            const eddy_reduction p = eddy__reduction_of_block(r, many, l.n, w, l.inner);
            eddy__reduction_run(&p, &best, x);
            s->first(index, x, &best, many, l.n, w, l.inner);
            store_indices(s->y, at, index, many * w);
        }
    }
}

static eddy_status find(eddy_kernel *k)
{
    const eddy_fold *fold = k->op->fold;
    enum { WORK = 1 << 15 };
    const argmax_attrs *a = k->attrs;
    const eddy_type t = k->in[0]->type;
    const eddy_dtype d = eddy__dtype_as_number(t.dtype);
    search s = { k->out[0], k->in[0]->data, eddy__reducer_of(fold, d),
                 EDDY_BEST_FOR_TYPE(first, FOR_NUMBERS, d),
                 eddy__lanes_of(t.shape, a->axis), k->stop };
    const eddy_lanes l = s.lanes;
    eddy__parallel_or_stop(k, l.outer, WORK / (l.n * l.inner + 1) + 1, find_some, &s);
    return EDDY_OK;
}

static eddy_tensor arg(const eddy_op_def *op, const eddy_argmax_args *given)
{
    const eddy_argmax_args a = EDDY_TAKE(eddy_argmax_args, given);
    const argmax_attrs attrs = { a.axis, a.output_type ? a.output_type : EDDY_INT64 };
    return eddy_apply(op, &attrs, 1, &a.x, (eddy_apply_args){ .name = a.name });
}

static void argmax_batch(eddy_batch *b)
{
    argmax_attrs a = *(const argmax_attrs *)b->attrs;
    a.axis = eddy__batch_axis(a.axis);
    eddy_batch_apply(b, &a);
}

#define ARG(type, fold_)                                                         \
    { .name = type, .min_inputs = 1, .max_inputs = 1, .outputs = 1, .fold = fold_, \
      .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_ORDERED }),                             \
      .attrs_size = sizeof(argmax_attrs), .attrs = EDDY_ATTRS(argmax_attrs, axis, output_type), \
      .flops = eddy_flops_per_input, .infer = argmax_infer, .kernel = find,     \
      .gradient = eddy_not_differentiable, .batch = argmax_batch }

const eddy_op_def eddy_op_argmax = ARG("ArgMax", &eddy__fold_max);

/** y = the index along `axis` of the largest element of x.
 *
 *  x            float32, float64, int32, int64, uint8 or bool, rank at least 1
 *  axis         in [-rank, rank); default 0
 *  output_type  EDDY_INT32 or EDDY_INT64; default EDDY_INT64
 *
 *  y has the shape of x without the axis.  Ties go to the lowest index; NaN counts as the largest
 *  value, and the first NaN is taken.
 *  Errors: EDDY_INVALID_ARGUMENT for an invalid axis; EDDY_BAD_SHAPE if the axis is empty;
 *  EDDY_BAD_DTYPE for other element types; EDDY_LIMIT if the indices may not fit in int32.
 *  Gradient: none.  TensorFlow: ArgMax (tf.argmax). */
eddy_tensor eddy_argmax_with(const eddy_argmax_args *given)
{
    return arg(&eddy_op_argmax, given);
}

const eddy_op_def eddy_op_argmin = ARG("ArgMin", &eddy__fold_min);

/** y = the index along `axis` of the smallest element of x.
 *
 *  x            float32, float64, int32, int64, uint8 or bool, rank at least 1
 *  axis         in [-rank, rank); default 0
 *  output_type  EDDY_INT32 or EDDY_INT64; default EDDY_INT64
 *
 *  y has the shape of x without the axis.  Ties go to the lowest index; NaN counts as the
 *  smallest value, and the first NaN is taken.
 *  Errors: EDDY_INVALID_ARGUMENT for an invalid axis; EDDY_BAD_SHAPE if the axis is empty;
 *  EDDY_BAD_DTYPE for other element types; EDDY_LIMIT if the indices may not fit in int32.
 *  Gradient: none.  TensorFlow: ArgMin (tf.argmin). */
eddy_tensor eddy_argmin_with(const eddy_argmax_args *given)
{
    return arg(&eddy_op_argmin, given);
}
