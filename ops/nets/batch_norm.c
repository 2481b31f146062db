/* batch_norm.c -- batch normalization: each channel (the last axis) is normalized to mean 0 and
 * variance 1 over all other axes, or by given statistics; and moments.
 *
 * Each pass reads memory once. The statistics are computed in blocks that stay in the L1 cache,
 * first the mean and then the squared deviations from it, and merged in float64. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "graph/base/half.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/elementwise/half_casts.h"
#include "ops/nets/normalization.h"
#include "ops/math/elementwise_rows.h"

#include <string.h>

/* Elements processed together in the inner loops; elements of a block in the L1 cache. */
enum { WIDE = 128, AT_ONCE = 4096 };
/* The number of elements that is worth another thread. */
enum { GRAIN = 65536 };

/* How many rows of d columns are processed as one wide row. */
static inline int64_t side_by_side(int64_t d) { return 2 * d <= WIDE ? WIDE / d : 1; }

/* Merges the mean of m more elements, and their sum of squares about it, into those of n. */
EDDY_INLINE void merge_statistics(int64_t d, double n, double *restrict mean,
                                  double *restrict squares, double m, const double *more_mean,
                                  const double *more_squares)
{
    const double part = m / (n + m);
    for (int64_t c = 0; c < d; c++) {
        const double off = more_mean[c] - mean[c];
        squares[c] += more_squares[c] + off * off * n * part;
        mean[c] += off * part;
    }
}

/* Rows of bfloat16, `stride` apart, one after the other in float32. */
static __attribute__((noinline)) void widen_rows(const uint16_t *x, int64_t rows, int64_t width,
                                                 int64_t stride, float *to)
{
    const eddy_tile_fn widen = eddy__half_to_f32(EDDY_BFLOAT16);
    const bool         whole = stride == width;
    const int64_t      size = whole ? rows * width : width;
    for (int64_t r = 0; r < (whole ? 1 : rows); r++)
        widen(size, to + r * width, (const void *[]){ x + r * stride }, NULL);
}

#define TEMPLATE "ops/kernels/normalization/batch_norm_loops.h"
#include "ops/kernels/for_floats.h"

/* Of bfloat16, which are converted in registers. */
EDDY_TARGET_AVX2 static void apply_halves(const eddy_norm_work *w, int64_t from, int64_t to)
{
    apply_some_f32(w, from, to, true);
}

/* Memory for the partial results of the blocks, followed by three numbers per column. */
static eddy_status columns_prepare(eddy_kernel *k)
{
    eddy_norm_work w = eddy__norm_work_of(k);
    const int64_t  blocks = eddy__norm_blocks(&w, GRAIN);
    k->scratch_size = (uint64_t)((blocks * 2 + 3) * w.width) * sizeof(double);
    return EDDY_OK;
}

/* factor[i] = the memory after the partial results. */
static void set_factors(eddy_norm_work *w, int64_t blocks)
{
    for (int i = 0; i < 3; i++) w->factor[i] = w->part + (blocks * 2 + i) * w->width;
}

static void apply(const eddy_kernel *k, eddy_norm_work *w, eddy_dtype d)
{
    w->loop = w->halves ? apply_halves : EDDY_BEST_FOR_TYPE(columns_apply, FOR_FLOATS, d);
    eddy__norm_run(k, w, w->rows, GRAIN / 2 / w->width);
}

/* Work structures point to constant data, results included. */
static inline void set_number(eddy_dtype t, const void *v, int64_t c, double x)
{
    eddy__float_put(t, (void *)(uintptr_t)v, c, x);
}

/* ------------------------------------------------------ fused_batch_norm -- */

#ifdef EDDY_HEADER
typedef struct eddy_fused_batch_norm_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_fused_batch_norm_args));
    eddy_tensor x, scale, offset;
    eddy_tensor mean, variance;    /* required unless is_training */
    double      epsilon EDDY_DEFAULT(1e-3);
    bool        is_training;
    const char *data_format;       /* "NHWC" (default) or "NCHW" */
    const char *name;
} eddy_fused_batch_norm_args;

typedef struct eddy_batch_normalization_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_batch_normalization_args));
    eddy_tensor x, mean, variance;
    eddy_tensor offset, scale;     /* default: none */
    double      variance_epsilon;
} eddy_batch_normalization_args;

typedef struct eddy_moments_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_moments_args));
    eddy_tensor x;
    eddy_dims   axes;              /* default: all */
    bool        keepdims;
} eddy_moments_args;
#endif

static double element(eddy_dtype d, const eddy_norm_work *w, int64_t i)
{
    return w->halves ? (double)eddy__f32_of_bf16(((const uint16_t *)w->x)[i])
                     : eddy__float_at(d, w->x, i);
}

/* rstd, the mean and the variance of a column whose deviations have squares beyond the largest
 * number of the element type; elements of float64 are taken times 2^-768. */
static double far_rstd(const eddy_kernel *k, const eddy_norm_work *w, int64_t c, double *mean,
                       double *variance)
{
    const eddy_dtype d = eddy__norm_type(k);
    const double     s = d == EDDY_FLOAT64 ? 0x1p-768 : 1, n = (double)w->rows;
    double           sum = 0, squares = 0, off = 0;
    for (int64_t i = 0; i < w->rows && isfinite(sum); i++)
        sum += element(d, w, i * w->width + c) * s;
    const double m = isfinite(sum) ? sum / n : (double)NAN;
    for (int64_t i = 0; i < w->rows && isfinite(m); i++) {
        const double from_m = element(d, w, i * w->width + c) * s - m;
        off += from_m;
        squares += from_m * from_m;
    }
    squares = fmax(0, squares / n - off / n * (off / n)) + (m - m);    /* NaN stays */
    *mean = (m + off / n) / s;
    *variance = squares / s / s;
    return isinf(*variance) ? s / sqrt(squares) : 1 / sqrt(*variance + w->epsilon);
}

/* From the partial results of the blocks, in order: mean, variance, rstd and the factors of y. */
static void finish_statistics(eddy_kernel *k, const eddy_norm_work *w, int64_t blocks,
                              eddy_dtype t)
{
    const double  n = (double)w->rows;
    const int64_t d = w->width;
    double *mean = w->part, *squares = mean + d;
    for (int64_t b = 1; b < blocks; b++) {
        const int64_t had = b * w->block, left = w->rows - had;
        const double *more = w->part + b * 2 * d;
        merge_statistics(d, (double)had, mean, squares, (double)(left < w->block ? left : w->block),
                         more, more + d);
    }
    for (int64_t c = 0; c < d; c++) {
        double variance = w->rows > 0 ? squares[c] / n : (double)NAN;
        double rstd = 1 / sqrt(variance + w->epsilon);
        if (!(rstd > 0)) rstd = far_rstd(k, w, c, &mean[c], &variance);
        set_number(t, w->mean, c, w->rows > 0 ? mean[c] : (double)NAN);
        set_number(t, k->out[2]->data, c, variance * (w->rows > 1 ? n / (n - 1) : 1));
        set_number(t, w->rstd, c, rstd);
        set_number(t, w->factor[0], c, eddy__float_at(t, w->scale, c) * rstd);
    }
}

static eddy_status fused_batch_norm_kernel(eddy_kernel *k)
{
    const eddy_dtype d = eddy__norm_type(k);
    eddy_norm_work   w = eddy__norm_work_of(k);
    const int64_t    blocks = eddy__norm_blocks(&w, GRAIN);
    if (w.width == 0) return EDDY_OK;
    set_factors(&w, blocks);
    w.loop = EDDY_FOR_TYPE(columns_statistics, FOR_FLOATS, d);
    eddy__norm_run(k, &w, blocks, 1);
    finish_statistics(k, &w, blocks, d);
    w.factor[1] = w.offset;
    apply(k, &w, d);
    return EDDY_OK;
}

/* Per element: two additions, two subtractions, two products. */
static double fused_batch_norm_flops(const void *attrs, int n_in, const eddy_type *in,
                                     const eddy_type *out)
{
    return 6 * eddy_flops_per_input(attrs, n_in, in, out);
}

const eddy_op_def eddy_op_fused_batch_norm = {
    .name = "FusedBatchNormV3", .min_inputs = 3, .max_inputs = 3, .outputs = 4,
    .variant = EDDY_NORM_COLUMNS, .inputs = EDDY_NORM_INPUTS,
    .attrs_size = sizeof(eddy_norm_attrs), .attrs = eddy__norm_fields,
    .flops = fused_batch_norm_flops, .infer = eddy__norm_infer, .prepare = columns_prepare,
    .kernel = fused_batch_norm_kernel, .gradient = eddy__norm_gradient, .batch = eddy__norm_batch,
};

/* Moves the channel axis from the second position to the last, or back. */
static eddy_tensor move_channels(eddy_tensor x, bool back)
{
    const int rank = eddy_shape_of(x).rank;
    eddy_dims perm = { .count = rank > 1 ? rank : 4 };
    for (int i = 0; i < perm.count; i++) {
        const int last = perm.count - 1;
        perm.at[i] = i == 0 ? 0 : back ? (i == 1 ? last : i - 1) : (i == last ? 1 : i + 1);
    }
    return Transpose(x, perm);
}

/* With given statistics, which have no gradient, as in TensorFlow. */
static eddy_tensor with_statistics(const eddy_fused_batch_norm_args *a, eddy_tensor x,
                                   double epsilon)
{
    if (!a->mean.graph || !a->variance.graph)
        return eddy_fail(a->x.graph, EDDY_INVALID_ARGUMENT, "FusedBatchNormV3: mean and variance "
                         "must be given unless is_training");
    return eddy_batch_normalization(x, StopGradient(a->mean), StopGradient(a->variance), a->offset,
                                    a->scale, epsilon);
}

static eddy_tensor trained(const eddy_fused_batch_norm_args *a, eddy_tensor x, double epsilon,
                           const char *name)
{
    return eddy__apply_named(name, &eddy_op_fused_batch_norm, &(eddy_norm_attrs){ epsilon }, 3,
                             (eddy_tensor[]){ x, a->scale, a->offset });
}

/** y = (x - mean) rstd scale + offset, where mean and variance of each channel are taken over all
 *  other axes, or given, and rstd = 1 / sqrt(variance + epsilon).
 *
 *  x            float32 or float64 [..., channels], rank at least 1; y has its type and shape
 *  scale        same type, [channels]
 *  offset       same type, [channels]
 *  mean         same type, [channels]; required unless is_training, and otherwise ignored
 *  variance     likewise
 *  epsilon      not negative
 *  is_training  compute the statistics from x
 *  data_format  "NHWC" (default), channels last, or "NCHW", channels second;
 *               NCHW costs two transpositions
 *
 *  Outputs 1 and 2 of the node are mean and variance: those given, or those of x, where
 *  the variance is then divided by the count minus one, for a running average.
 *  Both are NaN if there are no elements.
 *  Errors: EDDY_BAD_DTYPE for other or unequal element types; EDDY_BAD_SHAPE if
 *  the shapes do not match; EDDY_INVALID_ARGUMENT for a negative epsilon, any other
 *  data_format, or missing statistics.
 *  Gradient: of x, scale and offset.  In training dx = rstd scale (dy - mean(dy) -
 *  z mean(dy z)) with z = (x - mean) rstd, plus the gradient through the outputs mean and
 *  variance, which TensorFlow omits; given statistics have none.
 *  TensorFlow: FusedBatchNormV3 (tf.compat.v1.nn.fused_batch_norm, whose is_training is
 *  true by default). */
eddy_tensor eddy_fused_batch_norm_with(const eddy_fused_batch_norm_args *given)
{
    eddy_fused_batch_norm_args a = EDDY_TAKE(eddy_fused_batch_norm_args, given);
    const double epsilon = a.epsilon;
    const bool   second = a.data_format && strcmp(a.data_format, "NCHW") == 0;
    if (a.data_format && !second && strcmp(a.data_format, "NHWC") != 0)
        return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT, "FusedBatchNormV3: data_format is "
                         "'%.40s'; it must be NHWC or NCHW", a.data_format);
    if (a.is_training && !second) return trained(&a, a.x, epsilon, a.name);
    if (!eddy_is_valid(a.x)) return eddy_identity(a.x);      /* reports or propagates the error */
    eddy_scope_begin(a.x.graph, a.name ? a.name : "FusedBatchNormV3");
    const eddy_tensor x = second ? move_channels(a.x, false) : a.x;
    const eddy_tensor y = a.is_training ? trained(&a, x, epsilon, NULL)
                                        : with_statistics(&a, x, epsilon);
    const eddy_tensor list[] = { second ? move_channels(y, true) : y,
                                 a.is_training ? eddy_output(y, 1) : StopGradient(a.mean),
                                 a.is_training ? eddy_output(y, 2) : StopGradient(a.variance) };
    const eddy_tensor all = eddy_is_valid(list[0]) ? eddy_identity_n((eddy_list){ 3, list }, 3)
                                                   : list[0];
    eddy_scope_end(a.x.graph);
    return all;
}

/* ------------------------------------------------- fused_batch_norm_grad -- */

/* From the sums of the blocks: dscale, doffset and the factors of dx. */
static void finish_products(eddy_kernel *k, const eddy_norm_work *w, int64_t blocks,
                            eddy_dtype t)
{
    const double  n = (double)w->rows;
    const int64_t d = w->width;
    for (int64_t c = 0; c < d; c++) {
        double sum = 0, product = 0;
        for (int64_t b = 0; b < blocks; b++) {
            sum += w->part[b * 2 * d + c];
            product += w->part[b * 2 * d + d + c];
        }
        const double rstd = eddy__float_at(t, w->rstd, c);
        const double g = rstd * eddy__float_at(t, w->scale, c);
        set_number(t, k->out[1]->data, c, n > 0 ? product * rstd : 0);
        set_number(t, k->out[2]->data, c, sum);
        set_number(t, w->factor[0], c, g);
        set_number(t, w->factor[1], c, g * rstd * rstd * product / n);
        set_number(t, w->factor[2], c, g * sum / n);
    }
}

static eddy_status fused_batch_norm_grad_kernel(eddy_kernel *k)
{
    const eddy_dtype d = eddy__norm_type(k);
    eddy_norm_work   w = eddy__norm_work_of(k);
    const int64_t    blocks = eddy__norm_blocks(&w, GRAIN);
    if (w.width == 0) return EDDY_OK;
    set_factors(&w, blocks);
    w.loop = EDDY_FOR_TYPE(columns_products, FOR_FLOATS, d);
    eddy__norm_run(k, &w, blocks, 1);
    finish_products(k, &w, blocks, d);
    apply(k, &w, d);
    return EDDY_OK;
}

static double fused_batch_norm_grad_flops(const void *attrs, int n_in, const eddy_type *in,
                                          const eddy_type *out)
{
    return 9 * eddy_flops_per_input(attrs, n_in, in, out);
}

const eddy_op_def eddy_op_fused_batch_norm_grad = {
    .name = "FusedBatchNormGradV3", .min_inputs = 5, .max_inputs = 5, .outputs = 3,
    .variant = EDDY_NORM_COLUMNS, .inputs = EDDY_NORM_GRAD_INPUTS,
    .flops = fused_batch_norm_grad_flops, .infer = eddy__norm_grad_infer,
    .prepare = columns_prepare, .kernel = fused_batch_norm_grad_kernel,
    .gradient = eddy__norm_grad_gradient, .batch = eddy__norm_grad_batch,
};

/* ------------------------------------------------------- given statistics -- */

/** y = x g + (offset - mean g), with g = scale / sqrt(variance + variance_epsilon).
 *
 *  x                 float32 or float64, any shape; y has its type
 *  mean, variance    same type, shapes that broadcast with x
 *  offset, scale     likewise; either may be omitted
 *  variance_epsilon  default: 0
 *
 *  Errors: EDDY_BAD_DTYPE, EDDY_BAD_SHAPE, as for the operations that it is composed of.
 *  Gradient: that of the operations that it is composed of, for all five inputs.
 *  TensorFlow: tf.nn.batch_normalization. */
eddy_tensor eddy_batch_normalization_with(const eddy_batch_normalization_args *given)
{
    eddy_batch_normalization_args a = EDDY_TAKE(eddy_batch_normalization_args, given);
    eddy_tensor g = Rsqrt(Add(a.variance, a.variance_epsilon));
    if (a.scale.graph) g = Mul(g, a.scale);
    const eddy_tensor shift = a.offset.graph ? Sub(a.offset, Mul(a.mean, g)) : Neg(Mul(a.mean, g));
    return Add(Mul(a.x, g), shift);
}

/** y = the mean of x along `axes`; output 1 of the node is the variance.
 *
 *  x         float32 or float64, any shape
 *  axes      each once, in [-rank, rank); default: all; EDDY_NO_DIMS: none
 *  keepdims  keep the reduced axes, with size 1
 *
 *  The variance is the mean of the squares of x - mean, that is, divided by the count.
 *  Errors: as for eddy_mean.
 *  Gradient: that of the operations that it is composed of, to any order; TensorFlow's treats
 *  the mean as constant in the variance, and so is wrong from the second order on.
 *  TensorFlow: tf.nn.moments. */
eddy_tensor eddy_moments_with(const eddy_moments_args *given)
{
    eddy_moments_args a = EDDY_TAKE(eddy_moments_args, given);
    const eddy_tensor mean = Mean(a.x, .axes = a.axes, .keepdims = true);
    const eddy_tensor squares = SquaredDifference(a.x, mean);
    const eddy_tensor variance = Mean(squares, .axes = a.axes, .keepdims = a.keepdims);
    if (!eddy_is_valid(variance)) return variance;
    const eddy_tensor list[] = { a.keepdims ? mean : ReshapeLike(mean, variance), variance };
    return eddy_identity_n((eddy_list){ 2, list }, 2);
}
