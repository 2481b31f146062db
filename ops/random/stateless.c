/* stateless.c -- stateless random tensors, functions of a seed that is itself a tensor. */
#include "ops/random/random.h"
#include "graph/call_options.h"
#include "ops/arrays/arrays.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#ifdef EDDY_HEADER
/* Equal seeds give equal values, in every run, session and graph. The seed is a tensor of two
 * integers that may be computed or fed, for example from the number of a training step. Two
 * operations of one kind with the same seed draw the same values; give each its own seed. Unlike
 * eddy_random_uniform(g, shape), these calls take no graph: it is that of the seed. */
#endif

static bool seeded_uniform_infer(eddy_infer *c)
{
    return eddy__infer_seed(c, 0) && eddy__infer_uniform(c);
}

static bool seeded_normal_infer(eddy_infer *c)
{
    return eddy__infer_seed(c, 0) && eddy__infer_normal(c);
}

static eddy_status seeded_uniform_kernel(eddy_kernel *k)
{
    eddy__fill_uniform(k, eddy__stream_for(k, 0, 0, EDDY_UNIFORM));
    return EDDY_OK;
}

static eddy_status seeded_normal_kernel(eddy_kernel *k)
{
    eddy__fill_normal(k, eddy__stream_for(k, 0, 0, EDDY_NORMAL), false);
    return EDDY_OK;
}

static eddy_status seeded_truncated_kernel(eddy_kernel *k)
{
    eddy__fill_normal(k, eddy__stream_for(k, 0, 0, EDDY_TRUNCATED), true);
    return EDDY_OK;
}

const eddy_op_def eddy_op_stateless_random_uniform = {
    .name = "StatelessRandomUniform", .min_inputs = 1, .max_inputs = 2, .outputs = 1,
    .shape_inputs = 2, .attrs_size = sizeof(eddy_random_attrs), .attrs = eddy__uniform_fields,
    .flops = eddy_flops_per_output, .infer = seeded_uniform_infer,
    .kernel = seeded_uniform_kernel, .gradient = eddy_not_differentiable };

const eddy_op_def eddy_op_stateless_random_normal = {
    .name = "StatelessRandomNormal", .min_inputs = 1, .max_inputs = 2, .outputs = 1,
    .shape_inputs = 2, .attrs_size = sizeof(eddy_random_attrs), .attrs = eddy__normal_fields,
    .flops = eddy_flops_per_output, .infer = seeded_normal_infer,
    .kernel = seeded_normal_kernel, .gradient = eddy_not_differentiable };

const eddy_op_def eddy_op_stateless_truncated_normal = {
    .name = "StatelessTruncatedNormal", .min_inputs = 1, .max_inputs = 2, .outputs = 1,
    .shape_inputs = 2, .attrs_size = sizeof(eddy_random_attrs), .attrs = eddy__normal_fields,
    .flops = eddy_flops_per_output, .infer = seeded_normal_infer,
    .kernel = seeded_truncated_kernel, .gradient = eddy_not_differentiable };

#ifdef EDDY_HEADER
typedef struct eddy_stateless_uniform_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_stateless_uniform_args));
    eddy_shape  shape;       /* fully known */
    eddy_tensor seed;        /* two integers */
    double      minval;      /* default 0 */
    double      maxval EDDY_DEFAULT(1);
    eddy_dtype  dtype;       /* default float32 */
    const char *name;
} eddy_stateless_uniform_args;

typedef struct eddy_stateless_uniform_like_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_stateless_uniform_like_args));
    eddy_tensor x, seed;
    double      minval;
    double      maxval EDDY_DEFAULT(1);
    eddy_dtype  dtype;       /* default float64 if x is, else float32 */
    const char *name;
} eddy_stateless_uniform_like_args;

typedef struct eddy_stateless_normal_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_stateless_normal_args));
    eddy_shape  shape;       /* fully known */
    eddy_tensor seed;        /* two integers */
    double      mean;        /* default 0 */
    double      stddev EDDY_DEFAULT(1);
    eddy_dtype  dtype;       /* default float32 */
    const char *name;
} eddy_stateless_normal_args;

typedef struct eddy_stateless_normal_like_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_stateless_normal_like_args));
    eddy_tensor x, seed;
    double      mean;
    double      stddev EDDY_DEFAULT(1);
    eddy_dtype  dtype;       /* default float64 if x is, else float32 */
    const char *name;
} eddy_stateless_normal_like_args;
#endif

/* The default dtype of a _like form, and of the others. */
static eddy_dtype dtype_for(eddy_dtype asked, const eddy_tensor *x)
{
    if (asked) return asked;
    return x && eddy_dtype_of(*x) == EDDY_FLOAT64 ? EDDY_FLOAT64 : EDDY_FLOAT32;
}

/** Random numbers, uniformly distributed in [minval, maxval), as a function of `seed`.
 *
 *  shape  of the result; must be fully known
 *  seed   int32 or int64, two elements; it may change from run to run.  y is in its graph
 *  dtype  float32 (default) or float64
 *
 *  The stateless form of eddy_random_uniform; otherwise as described there.
 *  Errors: EDDY_INVALID_ARGUMENT if the seed is not two integers; otherwise as for
 *  eddy_random_uniform.
 *  Gradient: none.  TensorFlow: stateless_random_uniform, StatelessRandomUniform. */
eddy_tensor eddy_stateless_random_uniform_with(const eddy_stateless_uniform_args *given)
{
    eddy_stateless_uniform_args a = EDDY_TAKE(eddy_stateless_uniform_args, given);
    const eddy_random_attrs attrs = { a.shape, dtype_for(a.dtype, NULL), a.minval,
                                      a.maxval, 0 };
    return eddy__apply_named(a.name, &eddy_op_stateless_random_uniform, &attrs, 1, &a.seed);
}

/** Like eddy_stateless_random_uniform, with the shape of x, whose values are not used. */
eddy_tensor eddy_stateless_random_uniform_like_with(const eddy_stateless_uniform_like_args *given)
{
    eddy_stateless_uniform_like_args a = EDDY_TAKE(eddy_stateless_uniform_like_args, given);
    const eddy_random_attrs attrs = { eddy_shape_unknown(), dtype_for(a.dtype, &a.x), a.minval,
                                      a.maxval, 0 };
    return eddy__apply_named(a.name, &eddy_op_stateless_random_uniform, &attrs, 2,
                             (eddy_tensor[]){ a.seed, a.x });
}

static eddy_tensor normal(const eddy_op_def *op, const eddy_stateless_normal_args *given)
{
    const eddy_stateless_normal_args a = EDDY_TAKE(eddy_stateless_normal_args, given);
    const eddy_random_attrs attrs = { a.shape, dtype_for(a.dtype, NULL), a.mean, a.stddev, 0 };
    return eddy__apply_named(a.name, op, &attrs, 1, &a.seed);
}

static eddy_tensor normal_like(const eddy_op_def *op, const eddy_stateless_normal_like_args *given)
{
    const eddy_stateless_normal_like_args a = EDDY_TAKE(eddy_stateless_normal_like_args, given);
    const eddy_random_attrs attrs = { eddy_shape_unknown(), dtype_for(a.dtype, &a.x), a.mean,
                                      a.stddev, 0 };
    return eddy__apply_named(a.name, op, &attrs, 2, (eddy_tensor[]){ a.seed, a.x });
}

/** Normally distributed random numbers, mean + stddev z, as a function of `seed`.
 *
 *  shape  of the result; must be fully known
 *  seed   int32 or int64, two elements; it may change from run to run.  y is in its graph
 *  dtype  float32 (default) or float64
 *
 *  Errors: EDDY_INVALID_ARGUMENT if the seed is not two integers; otherwise as for
 *  eddy_random_normal.
 *  Gradient: none.  TensorFlow: stateless_random_normal, StatelessRandomNormal. */
eddy_tensor eddy_stateless_random_normal_with(const eddy_stateless_normal_args *given)
{
    return normal(&eddy_op_stateless_random_normal, given);
}

/** Like eddy_stateless_random_normal, with the shape of x, whose values are not used. */
eddy_tensor eddy_stateless_random_normal_like_with(const eddy_stateless_normal_like_args *given)
{
    return normal_like(&eddy_op_stateless_random_normal, given);
}

/** Normally distributed random numbers, truncated at two standard deviations from the mean as
 *  those of eddy_truncated_normal, as a function of `seed`.
 *
 *  Arguments and errors are as for eddy_stateless_random_normal.
 *  Gradient: none.  TensorFlow: stateless_truncated_normal, StatelessTruncatedNormal. */
eddy_tensor eddy_stateless_truncated_normal_with(const eddy_stateless_normal_args *given)
{
    return normal(&eddy_op_stateless_truncated_normal, given);
}

/** Like eddy_stateless_truncated_normal, with the shape of x, whose values are not used. */
eddy_tensor eddy_stateless_truncated_normal_like_with(const eddy_stateless_normal_like_args *given)
{
    return normal_like(&eddy_op_stateless_truncated_normal, given);
}
