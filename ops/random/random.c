/* random.c -- random tensors (uniform, normal, truncated normal, integers) and dropout.
 *
 * Element i of a random tensor is a function of only the graph's seed, the operation's seed, the
 * number of earlier runs of the session that executed the operation, and i
 * (ops/kernels/random/philox.h). So values repeat in a new session, differ from run to run, and do
 * not depend on threads or on other computations. */
#include "graph/base/thread_pool.h"
#include "graph/op.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "graph/internal.h"
#include "ops/kernels/elementwise/half_casts.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "ops/random/random.h"
#include "build/gen/table.h"

#include <inttypes.h>
#include <math.h>

#ifdef EDDY_HEADER
/* Random tensors. Every value is a function of the graph's seed, the operation's seed, the number
 * of earlier runs of the session that executed the operation, and the element's index: it does not
 * depend on threads or on runs of something else, it differs from run to run, and it repeats in a
 * new session of the same graph. A checkpoint of all variables contains these numbers (eddy_save).
 * Two operations of the same type, shape and dtype with the same nonzero `seed` give the same
 * sequence of values; with the default, 0, each operation has its own seed. In a function that
 * eddy_vmap maps, each example has its own random numbers. The _like forms take the shape of x at
 * each run: they are for shapes that are unknown when the graph is built. */
#endif

eddy_stream eddy__stream_of(const eddy_kernel *k, int64_t seed, eddy_distribution d)
{
    uint64_t kind = 2 * (uint64_t)d + (seed != 0);
    uint64_t own = (uint64_t)(seed ? seed : k->op_seed);
    return (eddy_stream){ eddy__philox_key((uint64_t)k->graph_seed, own, kind), k->step };
}

/* The output has the shape of the last optional input, if present, otherwise `shape`. */
static bool infer_filled(eddy_infer *c, eddy_dtype dtype, eddy_shape shape)
{
    char text[256];
    if (c->n_in == c->op->max_inputs) shape = c->in[c->n_in - 1].shape;
    else if (!eddy_shape_is_valid(shape))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "%s is not a valid shape",
                               eddy_shape_print(shape, text, sizeof text));
    else if (!eddy_shape_is_known(shape))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "shape %s is not fully known; use the _like form",
                               eddy_shape_print(shape, text, sizeof text));
    c->out[0] = (eddy_type){ dtype, shape };
    return true;
}

static bool infer_real(eddy_infer *c)
{
    const eddy_random_attrs *a = c->attrs;
    if (!eddy__infer_expects(c, "dtype", a->dtype, EDDY_TAKES_WIDE_FLOATS)) return false;
    return infer_filled(c, a->dtype, a->shape);
}

/* The same number of samples for each example. */
static void filled_batch(eddy_batch *b)
{
    const eddy_tensor like = eddy__batch_result_like(b);
    b->y[0] = eddy_apply1(b->node->op, b->attrs, like);
}

/* The default dtype of a _like form. */
static eddy_dtype real_dtype(eddy_dtype asked, eddy_tensor x)
{
    if (asked) return asked;
    return eddy_dtype_of(x) == EDDY_FLOAT64 ? EDDY_FLOAT64 : EDDY_FLOAT32;
}

/* ------------------------------------------------------------- uniform -- */

const eddy_attr_field eddy__uniform_fields[] = {
    { "shape", EDDY_ATTR_SHAPE, offsetof(eddy_random_attrs, shape) },
    { "dtype", EDDY_ATTR_DTYPE, offsetof(eddy_random_attrs, dtype) },
    { "minval", EDDY_ATTR_FLOAT, offsetof(eddy_random_attrs, a) },
    { "maxval", EDDY_ATTR_FLOAT, offsetof(eddy_random_attrs, b) },
    { "seed", EDDY_ATTR_INT, offsetof(eddy_random_attrs, seed) },
    { 0 }
};

bool eddy__infer_uniform(eddy_infer *c)
{
    const eddy_random_attrs *a = c->attrs;
    if (!isfinite(a->a) || !isfinite(a->b))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "minval %g or maxval %g is not finite",
                               a->a, a->b);
    double low = a->a, high = a->b, largest = eddy__dtype_largest(a->dtype);
    if (fabs(low) > largest || fabs(high) > largest || high - low > largest)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "minval %g, maxval %g or their difference "
                               "is too large for %s", low, high, eddy_dtype_name(a->dtype));
    if (eddy__float_rounded(a->dtype, low) >= eddy__float_rounded(a->dtype, high))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "maxval %.9g is not above minval %.9g",
                               high, low);
    return infer_real(c);
}

/* Elements are filled in parallel, in pieces of this size. */
enum { PIECE = 4096 };

typedef struct filling {
    const eddy_buffer  *y;
    const eddy_random_attrs *attrs;
    eddy_stream         stream;
    bool                truncated;
} filling;

/* Pieces [from, to): where they begin, and their number of elements. */
static int64_t piece_at(const filling *f, int64_t from, int64_t to, int64_t *count)
{
    const int64_t end = to * PIECE < f->y->count ? to * PIECE : f->y->count;
    *count = end - from * PIECE;
    return from * PIECE;
}

static void fill(const eddy_kernel *k, filling *f, eddy_parallel_fn body)
{
    eddy__parallel_or_stop(k, (f->y->count + PIECE - 1) / PIECE, 4, body, f);
}

static void fill_uniform(void *arg, int64_t from, int64_t to, int worker)
{
    const filling *f = arg;
    int64_t n;
    const int64_t at = piece_at(f, from, to, &n);
    const eddy_interval in = { f->attrs->a, f->attrs->b };
    (void)worker;
    if (f->attrs->dtype == EDDY_FLOAT32)
        eddy__fill_uniform_f32(f->stream, at, n, in, (float *)f->y->data + at);
    else eddy__fill_uniform_f64(f->stream, at, n, in, (double *)f->y->data + at);
}

void eddy__fill_uniform(const eddy_kernel *k, eddy_stream s)
{
    filling f = { k->out[0], k->attrs, s, false };
    fill(k, &f, fill_uniform);
}

static eddy_status uniform_kernel(eddy_kernel *k)
{
    const eddy_random_attrs *a = k->attrs;
    eddy__fill_uniform(k, eddy__stream_of(k, a->seed, EDDY_UNIFORM));
    return EDDY_OK;
}

const eddy_op_def eddy_op_random_uniform = {
    .name = "RandomUniform", .label = "random_uniform", .min_inputs = 0, .max_inputs = 1,
    .outputs = 1, .flags = EDDY_OP_STATEFUL, .shape_inputs = 1,
    .attrs_size = sizeof(eddy_random_attrs), .attrs = eddy__uniform_fields,
    .flops = eddy_flops_per_output,
    .infer = eddy__infer_uniform, .kernel = uniform_kernel, .gradient = eddy_not_differentiable,
    .batch = filled_batch };

/* ------------------------------------------------------------ integers -- */

typedef struct integer_attrs {
    eddy_shape shape;
    eddy_dtype dtype;
    int64_t    minval, maxval, seed;
} integer_attrs;

static bool integer_infer(eddy_infer *c)
{
    const integer_attrs *a = c->attrs;
    const int64_t high = eddy__dtype_highest(a->dtype);
    if (!eddy__infer_expects(c, "dtype", a->dtype, EDDY_TAKES_INTEGERS)) return false;
    if (a->minval >= a->maxval)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "maxval %" PRId64 " is not above minval %"
                               PRId64, a->maxval, a->minval);
    if (a->minval < eddy__dtype_lowest(a->dtype) || a->maxval - 1 > high)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "[%" PRId64 ", %" PRId64 ") is not within "
                               "%s", a->minval, a->maxval, eddy_dtype_name(a->dtype));
    return infer_filled(c, a->dtype, a->shape);
}

static eddy_status integer_kernel(eddy_kernel *k)
{
    const integer_attrs *a = k->attrs;
    const eddy_buffer   *y = k->out[0];
    eddy_stream          s = eddy__stream_of(k, a->seed, EDDY_INTEGER);
    uint64_t             range = (uint64_t)a->maxval - (uint64_t)a->minval;
    EDDY_FOR_TYPE(eddy__fill_integer, FOR_INTEGERS, a->dtype)(s, 0, y->count, a->minval, range,
                                                              y->data);
    return EDDY_OK;
}

const eddy_op_def eddy_op_random_uniform_int = {
    .name = "RandomUniformInt", .label = "random_uniform", .min_inputs = 0, .max_inputs = 1,
    .outputs = 1, .flags = EDDY_OP_STATEFUL, .shape_inputs = 1,
    .attrs_size = sizeof(integer_attrs),
    .attrs = EDDY_ATTRS(integer_attrs, shape, dtype, minval, maxval, seed),
    .flops = eddy_flops_per_output,
    .infer = integer_infer, .kernel = integer_kernel, .gradient = eddy_not_differentiable,
    .batch = filled_batch };

#ifdef EDDY_HEADER
typedef struct eddy_random_uniform_int_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_random_uniform_int_args));
    eddy_graph *graph;
    eddy_shape  shape;       /* fully known */
    int64_t     minval, maxval;
    eddy_dtype  dtype;       /* int32, int64 or uint8; default int32 */
    int64_t     seed;
    const char *name;
} eddy_random_uniform_int_args;
#endif

/** Random integers, uniformly distributed in [minval, maxval).
 *
 *  graph, shape  of the result; the shape must be fully known
 *  minval        the smallest value
 *  maxval        one above the largest value; at most one above the largest value of dtype (for
 *                int64, its largest value)
 *  dtype         int32 (default), int64 or uint8
 *
 *  eddy_random_uniform_int(g, EDDY_SHAPE(100), 1, 7) rolls a hundred dice.  The probabilities of
 *  two values differ by a relative error below 2^-32 (2^-64 for int64).
 *  Errors: EDDY_INVALID_ARGUMENT if minval >= maxval or a bound does not fit in dtype;
 *  EDDY_BAD_SHAPE for an invalid or unknown shape; EDDY_BAD_DTYPE for other element types.
 *  Gradient: none.  TensorFlow: RandomUniformInt. */
eddy_tensor eddy_random_uniform_int_with(const eddy_random_uniform_int_args *given)
{
    eddy_random_uniform_int_args a = EDDY_TAKE(eddy_random_uniform_int_args, given);
    integer_attrs attrs = { a.shape, a.dtype ? a.dtype : EDDY_INT32, a.minval, a.maxval, a.seed };
    return eddy_apply(&eddy_op_random_uniform_int, &attrs, 0, NULL,
                      (eddy_apply_args){ .graph = a.graph, .name = a.name });
}

/* ---------------------------------------------- builders of uniform samples -- */

/* For an integer dtype with bounds given as doubles. */
static bool whole_bound(double v, int64_t *out)
{
    if (!(v >= -0x1p63 && v < 0x1p63) || v != floor(v)) return false;
    *out = (int64_t)v;
    return true;
}

static eddy_tensor uniform(eddy_graph *g, const eddy_tensor *like, eddy_random_attrs a,
                           const char *name)
{
    eddy_apply_args how = { .graph = g, .name = name };
    const bool whole = eddy_dtype_is_integer(a.dtype);
    if (a.b == EDDY_OMITTED) a.b = whole ? 0 : 1;
    if (whole) {
        integer_attrs b = { .shape = a.shape, .dtype = a.dtype, .seed = a.seed };
        if (!whole_bound(a.a, &b.minval) || !whole_bound(a.b, &b.maxval))
            return eddy_fail(g, EDDY_INVALID_ARGUMENT,
                             "RandomUniformInt: minval %g and maxval %g must be 64-bit integers",
                             a.a, a.b);
        return eddy_apply(&eddy_op_random_uniform_int, &b, like != NULL, like, how);
    }
    return eddy_apply(&eddy_op_random_uniform, &a, like != NULL, like, how);
}

#ifdef EDDY_HEADER
typedef struct eddy_random_uniform_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_random_uniform_args));
    eddy_graph *graph;
    eddy_shape  shape;       /* fully known */
    double      minval;      /* default 0 */
    double      maxval EDDY_DEFAULT(EDDY_OMITTED);   /* default 1; required for integers */
    eddy_dtype  dtype;       /* default float32 */
    int64_t     seed;
    const char *name;
} eddy_random_uniform_args;

typedef struct eddy_random_uniform_like_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_random_uniform_like_args));
    eddy_tensor x;
    double      minval;
    double      maxval EDDY_DEFAULT(EDDY_OMITTED);   /* default 1; required for integers */
    eddy_dtype  dtype;       /* default float64 if x is, else float32 */
    int64_t     seed;
    const char *name;
} eddy_random_uniform_like_args;
#endif

/** Random numbers, uniformly distributed in [minval, maxval).
 *
 *  graph, shape  of the result; the shape must be fully known
 *  minval        default 0
 *  maxval        default 1
 *  dtype         float32 (default) or float64; for int32, int64 and uint8, the bounds must be
 *                integers, maxval is required, and the result is that of eddy_random_uniform_int
 *  seed          default 0: the operation's own
 *
 *  Computed as minval + u (maxval - minval), with u a multiple of 2^-24 (float64: 2^-53) in
 *  [0,1); never maxval itself, regardless of rounding.
 *  Errors: EDDY_INVALID_ARGUMENT if a bound is not finite or too large for dtype, or if minval >=
 *  maxval; EDDY_BAD_SHAPE for an invalid or unknown shape; EDDY_BAD_DTYPE for other element
 *  types.
 *  Gradient: none.  TensorFlow: random_uniform, RandomUniform. */
eddy_tensor eddy_random_uniform_with(const eddy_random_uniform_args *given)
{
    eddy_random_uniform_args a = EDDY_TAKE(eddy_random_uniform_args, given);
    eddy_random_attrs attrs = { a.shape, a.dtype ? a.dtype : EDDY_FLOAT32, a.minval, a.maxval,
                                a.seed };
    return uniform(a.graph, NULL, attrs, a.name);
}

/** Random numbers, uniformly distributed in [minval, maxval), with the shape of x.
 *
 *  x      any tensor; only its shape is used
 *  dtype  default float64 if x is, else float32
 *
 *  Otherwise as for eddy_random_uniform. */
eddy_tensor eddy_random_uniform_like_with(const eddy_random_uniform_like_args *given)
{
    eddy_random_uniform_like_args a = EDDY_TAKE(eddy_random_uniform_like_args, given);
    eddy_random_attrs attrs = { eddy_shape_unknown(), real_dtype(a.dtype, a.x), a.minval, a.maxval,
                                a.seed };
    return uniform(a.x.graph, &a.x, attrs, a.name);
}

/* -------------------------------------------------------------- normal -- */

const eddy_attr_field eddy__normal_fields[] = {
    { "shape", EDDY_ATTR_SHAPE, offsetof(eddy_random_attrs, shape) },
    { "dtype", EDDY_ATTR_DTYPE, offsetof(eddy_random_attrs, dtype) },
    { "mean", EDDY_ATTR_FLOAT, offsetof(eddy_random_attrs, a) },
    { "stddev", EDDY_ATTR_FLOAT, offsetof(eddy_random_attrs, b) },
    { "seed", EDDY_ATTR_INT, offsetof(eddy_random_attrs, seed) },
    { 0 }
};

bool eddy__infer_normal(eddy_infer *c)
{
    const eddy_random_attrs *a = c->attrs;
    if (!isfinite(a->a))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "mean is %g; it must be finite", a->a);
    if (!isfinite(a->b) || a->b < 0)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "stddev is %g; it must be finite and not "
                               "negative", a->b);
    if (fabs(a->a) > eddy__dtype_largest(a->dtype) || a->b > eddy__dtype_largest(a->dtype))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "mean %g or stddev %g is too large for "
                               "%s", a->a, a->b, eddy_dtype_name(a->dtype));
    return infer_real(c);
}

static void fill_normal(void *arg, int64_t from, int64_t to, int worker)
{
    const filling *f = arg;
    int64_t n;
    const int64_t at = piece_at(f, from, to, &n);
    const eddy_gaussian d = { f->attrs->a, f->attrs->b, f->truncated };
    (void)worker;
    if (f->attrs->dtype == EDDY_FLOAT32)
        eddy__fill_normal_f32(f->stream, at, n, d, (float *)f->y->data + at);
    else eddy__fill_normal_f64(f->stream, at, n, d, (double *)f->y->data + at);
}

void eddy__fill_normal(const eddy_kernel *k, eddy_stream s, bool truncated)
{
    filling f = { k->out[0], k->attrs, s, truncated };
    fill(k, &f, fill_normal);
}

static eddy_status normal_kernel(eddy_kernel *k)
{
    const eddy_random_attrs *a = k->attrs;
    eddy__fill_normal(k, eddy__stream_of(k, a->seed, EDDY_NORMAL), false);
    return EDDY_OK;
}

const eddy_op_def eddy_op_random_standard_normal = {
    .name = "RandomStandardNormal", .label = "random_normal", .min_inputs = 0, .max_inputs = 1,
    .outputs = 1, .flags = EDDY_OP_STATEFUL, .shape_inputs = 1,
    .attrs_size = sizeof(eddy_random_attrs), .attrs = eddy__normal_fields,
    .flops = eddy_flops_per_output,
    .infer = eddy__infer_normal, .kernel = normal_kernel, .gradient = eddy_not_differentiable,
    .batch = filled_batch };

#ifdef EDDY_HEADER
typedef struct eddy_random_normal_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_random_normal_args));
    eddy_graph *graph;
    eddy_shape  shape;       /* fully known */
    double      mean;        /* default 0 */
    double      stddev EDDY_DEFAULT(1);
    eddy_dtype  dtype;       /* default float32 */
    int64_t     seed;
    const char *name;
} eddy_random_normal_args;

typedef struct eddy_random_normal_like_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_random_normal_like_args));
    eddy_tensor x;
    double      mean;
    double      stddev EDDY_DEFAULT(1);
    eddy_dtype  dtype;       /* default float64 if x is, else float32 */
    int64_t     seed;
    const char *name;
} eddy_random_normal_like_args;
#endif

static eddy_random_attrs normal_attrs(const eddy_random_normal_args *a)
{
    return (eddy_random_attrs){ a->shape, a->dtype ? a->dtype : EDDY_FLOAT32, a->mean,
                                a->stddev, a->seed };
}
static eddy_random_attrs normal_like_attrs(const eddy_random_normal_like_args *a)
{
    return (eddy_random_attrs){ eddy_shape_unknown(), real_dtype(a->dtype, a->x), a->mean,
                                a->stddev, a->seed };
}

/** Normally distributed random numbers, mean + stddev z.
 *
 *  graph, shape  of the result; the shape must be fully known
 *  stddev        must not be negative
 *  dtype         float32 (default) or float64
 *  seed          default 0: the operation's own
 *
 *  z is computed by the Box-Muller method, in double precision, from 64 random bits per number
 *  (float32: 32); the largest |z| is 8.6 (6.7).  Equal seeds give equal bits on every machine.
 *  Errors: EDDY_INVALID_ARGUMENT if mean or stddev is not finite or too large for dtype, or if
 *  stddev is negative; EDDY_BAD_SHAPE for an invalid or unknown shape; EDDY_BAD_DTYPE for other
 *  element types.
 *  Gradient: none.  TensorFlow: random_normal, RandomStandardNormal. */
eddy_tensor eddy_random_normal_with(const eddy_random_normal_args *given)
{
    eddy_random_normal_args a = EDDY_TAKE(eddy_random_normal_args, given);
    eddy_random_attrs attrs = normal_attrs(&a);
    return eddy_apply(&eddy_op_random_standard_normal, &attrs, 0, NULL,
                      (eddy_apply_args){ .graph = a.graph, .name = a.name });
}

/** Normally distributed random numbers, with the shape of x.
 *
 *  x      any tensor; only its shape is used
 *  dtype  default float64 if x is, else float32
 *
 *  Otherwise as for eddy_random_normal. */
eddy_tensor eddy_random_normal_like_with(const eddy_random_normal_like_args *given)
{
    eddy_random_normal_like_args a = EDDY_TAKE(eddy_random_normal_like_args, given);
    eddy_random_attrs attrs = normal_like_attrs(&a);
    return eddy_apply(&eddy_op_random_standard_normal, &attrs, 1, &a.x,
                      (eddy_apply_args){ .name = a.name });
}

static eddy_status truncated_kernel(eddy_kernel *k)
{
    const eddy_random_attrs *a = k->attrs;
    eddy__fill_normal(k, eddy__stream_of(k, a->seed, EDDY_TRUNCATED), true);
    return EDDY_OK;
}

const eddy_op_def eddy_op_truncated_normal = {
    .name = "TruncatedNormal", .label = "truncated_normal", .min_inputs = 0, .max_inputs = 1,
    .outputs = 1, .flags = EDDY_OP_STATEFUL, .shape_inputs = 1,
    .attrs_size = sizeof(eddy_random_attrs), .attrs = eddy__normal_fields,
    .flops = eddy_flops_per_output,
    .infer = eddy__infer_normal, .kernel = truncated_kernel, .gradient = eddy_not_differentiable,
    .batch = filled_batch };

/** Normally distributed random numbers, truncated at two standard deviations from the mean.
 *
 *  mean + stddev z, where a z with |z| >= 2 is discarded and drawn again, so that the standard
 *  deviation of the result is 0.8796 stddev.  Arguments and errors are as for eddy_random_normal.
 *  Gradient: none.  TensorFlow: truncated_normal, TruncatedNormal. */
eddy_tensor eddy_truncated_normal_with(const eddy_random_normal_args *given)
{
    eddy_random_normal_args a = EDDY_TAKE(eddy_random_normal_args, given);
    eddy_random_attrs attrs = normal_attrs(&a);
    return eddy_apply(&eddy_op_truncated_normal, &attrs, 0, NULL,
                      (eddy_apply_args){ .graph = a.graph, .name = a.name });
}

/** Truncated normal random numbers, with the shape of x.
 *
 *  x      any tensor; only its shape is used
 *  dtype  default float64 if x is, else float32
 *
 *  Otherwise as for eddy_truncated_normal. */
eddy_tensor eddy_truncated_normal_like_with(const eddy_random_normal_like_args *given)
{
    eddy_random_normal_like_args a = EDDY_TAKE(eddy_random_normal_like_args, given);
    eddy_random_attrs attrs = normal_like_attrs(&a);
    return eddy_apply(&eddy_op_truncated_normal, &attrs, 1, &a.x,
                      (eddy_apply_args){ .name = a.name });
}

/* ------------------------------------------------------------- dropout -- */

#ifdef EDDY_HEADER
typedef struct eddy_dropout_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_dropout_args));
    eddy_tensor x;
    double      rate;        /* the fraction dropped, in [0,1) */
    eddy_dims   noise_shape; /* default x's shape */
    int64_t     seed;
    const char *name;
} eddy_dropout_args;
#endif

/* The axes along which the mask has one element and x may have more; false if noise_shape is not
 * compatible with x. */
static bool shared_axes(eddy_shape x, eddy_dims noise, eddy_dims *axes)
{
    int rank = noise.count > 0 ? noise.count : 0;
    *axes = (eddy_dims){ 0 };
    if (noise.no_number_) return false;
    if (noise.count == 0) return true;
    if (x.rank < 0 || rank > x.rank) return false;
    for (int i = 0; i < x.rank; i++) {
        int     at = i - (x.rank - rank);
        int64_t n = at < 0 ? 1 : noise.at[at];
        if (n == 1 && x.dim[i] != 1) axes->at[axes->count++] = i;
        else if (n != x.dim[i] && n != EDDY_ANY) return false;
    }
    return true;
}

/** y = x/(1 - rate) where a random mask keeps x, and 0 where it drops x.
 *
 *  x            float32 or float64; any shape
 *  rate         the probability of dropping an element, in [0,1); with 0 the result is x itself
 *  noise_shape  the shape of the mask: for each axis of x either its size (or EDDY_ANY), or 1 for
 *               one decision for the whole axis; missing leading axes count as 1; default: the
 *               shape of x
 *  seed         default 0: the operation's own
 *
 *  An element is kept if a uniform random number in [0,1) is at least rate; the expected value of
 *  y is x.  A dropped infinity or NaN becomes 0.
 *  Errors: EDDY_INVALID_ARGUMENT if rate is out of range; EDDY_BAD_SHAPE if noise_shape is not
 *  compatible with x; EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy/(1 - rate) where the mask keeps x, and 0 elsewhere.
 *  TensorFlow: nn.dropout. */
eddy_tensor eddy_dropout_with(const eddy_dropout_args *given)
{
    eddy_dropout_args a = EDDY_TAKE(eddy_dropout_args, given);
    eddy_graph *g = a.x.graph;
    eddy_dtype  dtype = eddy_dtype_of(a.x);
    eddy_dims   axes;
    char        noise[256], text[256];
    if (!eddy_is_valid(a.x)) return eddy_identity(a.x);      /* records or propagates an error */
    if (!eddy__expect_type(g, "dropout", "x", dtype, EDDY_TAKES_FLOATS)) return eddy_none(g);
    if (eddy__dtype_is_half(dtype)) {
        a.x = eddy_cast(a.x, EDDY_FLOAT32);
        return eddy_cast(eddy_dropout_with(&a), dtype);
    }
    if (!(a.rate >= 0 && a.rate < 1))
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "dropout: rate %g is not in [0,1)", a.rate);
    if (!shared_axes(eddy_shape_of(a.x), a.noise_shape, &axes)) {
        const int rank = a.noise_shape.count < 0 ? 0 : a.noise_shape.count;
        eddy_shape_print(eddy_shape_of_dims(a.noise_shape.at, (size_t)rank), noise, sizeof noise);
        eddy_shape_print(eddy_shape_of(a.x), text, sizeof text);
        return eddy_fail(g, EDDY_BAD_SHAPE, "dropout: noise_shape %s does not match x, %s; each "
                         "dimension must be 1 or that of x", noise, text);
    }
    if (a.rate == 0) return a.x;
    eddy_scope_begin(g, a.name ? a.name : "dropout");
    eddy_tensor like = axes.count > 0 ? eddy_sum(a.x, .axes = axes, .keepdims = true) : a.x;
    eddy_tensor u = eddy_random_uniform_like(like, .dtype = dtype, .seed = a.seed);
    eddy_tensor kept = GreaterEqual(u, a.rate), y;
    const double scale = 1 / (1 - a.rate);
    if (axes.count > 0) y = MulNoNan(a.x, Mul(CastLike(kept, a.x), scale));   /* a small factor */
    else y = Where(kept, Mul(a.x, scale), 0);
    eddy_scope_end(g);
    return y;
}
