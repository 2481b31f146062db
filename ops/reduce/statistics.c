/* statistics.c -- variance, standard deviation, L2 normalization, nonzero counts and weighted
 * moments; also sufficient statistics. Composed of reductions. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "graph/internal.h"
#include "graph/base/dtype.h"
#include "ops/short_names.h"
#include "ops/kernels/reduction/reduce_engine.h"
#include "build/gen/table.h"

#include <math.h>

/* The number of elements of x along these axes, which are valid, per element of the result; may
 * be 0. */
static eddy_tensor count_of(eddy_tensor x, eddy_dims axes, eddy_dtype d)
{
    eddy_tensor n = axes.count == 0 ? eddy_size(x, EDDY_INT64)
                                    : eddy_number(x.graph, EDDY_INT64, 1);
    for (int i = 0; i < axes.count; i++) n = Mul(n, eddy_size_along(x, axes.at[i]));
    return Cast(n, d);
}

static eddy_tensor squares(eddy_tensor x)
{
    return eddy_dtype_is_complex(eddy_dtype_of(x)) ? Real(Mul(x, Conj(x))) : Square(x);
}

static bool takes(eddy_tensor x, const char *who)
{
    return !eddy_is_valid(x) ||
           eddy__expect_type(x.graph, who, "x", eddy_dtype_of(x), EDDY_TAKES_FLOATS_COMPLEX);
}

/* -------------------------------------------------------------- variance -- */

#ifdef EDDY_HEADER
/* Arguments of eddy_reduce_variance and eddy_reduce_std. */
typedef struct eddy_variance_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_variance_args));
    eddy_tensor x;
    eddy_dims   axes;              /* default all */
    bool        keepdims;
    int64_t     ddof;              /* subtracted from the count; default 0 */
} eddy_variance_args;
#endif

/** y = the mean of |x - mean x|^2 over `axes`.
 *
 *  x         float32, float64, complex64 or complex128; y is real
 *  axes      each in [-rank, rank), without repetition; default all
 *  keepdims  keeps reduced dimensions, with size 1
 *  ddof      the sum is divided by max(n - ddof, 0); 1 for the sample variance; NaN or infinite
 *            for n <= ddof
 *
 *  Computed in two passes, first the mean, then the squares, so that a large mean loses no
 *  accuracy.
 *  Errors: EDDY_BAD_DTYPE for other element types; otherwise as for eddy_mean.
 *  Gradient: dx = 2 dy (x - mean) / (n - ddof).  TensorFlow: tf.math.reduce_variance. */
eddy_tensor eddy_reduce_variance_with(const eddy_variance_args *given)
{
    eddy_variance_args a = EDDY_TAKE(eddy_variance_args, given);
    if (!takes(a.x, "reduce_variance")) return eddy_none(a.x.graph);
    const eddy_tensor mean = Mean(a.x, .axes = a.axes, .keepdims = true);
    const eddy_tensor off = squares(Sub(a.x, mean));
    if (a.ddof == 0) return Mean(off, .axes = a.axes, .keepdims = a.keepdims);
    const eddy_tensor sum = Sum(off, .axes = a.axes, .keepdims = a.keepdims);
    if (!eddy_is_valid(sum)) return sum;
    const eddy_tensor n = count_of(a.x, a.axes, eddy_dtype_of(sum));
    return Div(sum, Maximum(Sub(n, (double)a.ddof), 0));
}

/** y = the standard deviation: the square root of eddy_reduce_variance, with the same options.
 *
 *  Errors: as for eddy_reduce_variance.
 *  Gradient: that of the square root; NaN where all elements are equal.
 *  TensorFlow: tf.math.reduce_std. */
eddy_tensor eddy_reduce_std_with(const eddy_variance_args *given)
{
    eddy_variance_args a = EDDY_TAKE(eddy_variance_args, given);
    return Sqrt(eddy_reduce_variance_with(&a));
}

/* ----------------------------------------------------------- normalization -- */

#ifdef EDDY_HEADER
typedef struct eddy_l2_normalize_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_l2_normalize_args));
    eddy_tensor x;
    eddy_dims   axes;              /* default all */
    double      epsilon EDDY_DEFAULT(1e-12);
} eddy_l2_normalize_args;
#endif

/** y = x / max(|x|, sqrt(epsilon)), with |x| the square root of the sum of squares over `axes`.
 *
 *  x     float32, float64, complex64 or complex128
 *  axes  the axes of each vector; default all
 *
 *  Equals TensorFlow's x / sqrt(max(|x|^2, epsilon)), but avoids the square, which may overflow.
 *  Errors: as for eddy_euclidean_norm.
 *  Gradient: that of the formula; dy / sqrt(epsilon) where |x|^2 < epsilon.
 *  TensorFlow: tf.nn.l2_normalize. */
eddy_tensor eddy_l2_normalize_with(const eddy_l2_normalize_args *given)
{
    eddy_l2_normalize_args a = EDDY_TAKE(eddy_l2_normalize_args, given);
    if (!takes(a.x, "l2_normalize")) return eddy_none(a.x.graph);
    const double epsilon = sqrt(a.epsilon > 0 ? a.epsilon : 0);
    const eddy_tensor length = Maximum(eddy__norm_of(a.x, a.axes, true), epsilon);
    return Div(a.x, CastLike(length, a.x));
}

/* ---------------------------------------------------------------- counts -- */

#ifdef EDDY_HEADER
typedef struct eddy_count_nonzero_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_count_nonzero_args));
    eddy_tensor x;
    eddy_dims   axes;              /* default all */
    bool        keepdims;
    eddy_dtype  dtype;             /* default EDDY_INT64 */
} eddy_count_nonzero_args;
#endif

/** y = the number of nonzero elements of x over `axes`; NaN counts as nonzero.
 *
 *  x               any element type
 *  axes, keepdims  as for eddy_sum
 *  dtype           of y; default int64
 *
 *  Errors: as for eddy_sum.
 *  Gradient: none.  TensorFlow: tf.math.count_nonzero. */
eddy_tensor eddy_count_nonzero_with(const eddy_count_nonzero_args *given)
{
    eddy_count_nonzero_args a = EDDY_TAKE(eddy_count_nonzero_args, given);
    const bool        is_bool = eddy_dtype_of(a.x) == EDDY_BOOL;
    const eddy_tensor there = is_bool ? a.x : NotEqual(a.x, 0);
    return Sum(Cast(there, a.dtype ? a.dtype : EDDY_INT64), .axes = a.axes,
               .keepdims = a.keepdims);
}

/** y = the fraction of the elements of x that are 0, a float32 scalar.
 *
 *  x  any element type except bool
 *
 *  y is NaN if x has no elements.
 *  Gradient: none.  TensorFlow: tf.nn.zero_fraction. */
eddy_tensor eddy_zero_fraction(eddy_tensor x) { return Mean(Cast(Equal(x, 0), EDDY_FLOAT32)); }

/* --------------------------------------------------------------- moments -- */

#ifdef EDDY_HEADER
typedef struct eddy_weighted_moments_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_weighted_moments_args));
    eddy_tensor x;
    eddy_dims   axes;              /* default all */
    eddy_tensor weights;           /* broadcast to x */
    bool        keepdims;
} eddy_weighted_moments_args;
#endif

/** y = the weighted mean of x over `axes`; output 1 is the weighted variance.
 *
 *  x               float32 or float64
 *  axes, keepdims  as for eddy_sum
 *  weights         same type as x; the shapes broadcast
 *
 *  Returns output 0; eddy_output(y, 1) is the weighted mean of (x - mean)^2.
 *  Errors: as for eddy_mean.
 *  Gradient: that of the operations it is composed of.  TensorFlow: tf.nn.weighted_moments. */
eddy_tensor eddy_weighted_moments_with(const eddy_weighted_moments_args *given)
{
    eddy_weighted_moments_args a = EDDY_TAKE(eddy_weighted_moments_args, given);
    const eddy_tensor w = eddy_broadcast_like(a.weights, a.x);
    const eddy_tensor sum = Sum(w, .axes = a.axes, .keepdims = true);
    const eddy_tensor mean = Div(Sum(Mul(w, a.x), .axes = a.axes, .keepdims = true), sum);
    const eddy_tensor off = Mul(w, SquaredDifference(a.x, mean));
    const eddy_tensor variance = Div(Sum(off, .axes = a.axes, .keepdims = true), sum);
    if (!eddy_is_valid(variance)) return variance;
    const eddy_tensor like = Sum(a.x, .axes = a.axes, .keepdims = a.keepdims);
    const eddy_tensor list[] = { ReshapeLike(mean, like), ReshapeLike(variance, like) };
    return eddy_identity_n((eddy_list){ 2, list }, 2);
}

#ifdef EDDY_HEADER
typedef struct eddy_sufficient_statistics_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_sufficient_statistics_args));
    eddy_tensor x;
    eddy_dims   axes;              /* default all */
    eddy_tensor shift;             /* near the mean; default 0 */
    bool        keepdims;
} eddy_sufficient_statistics_args;
#endif

/** y = the number of elements over `axes`; output 1 is their sum, output 2 the sum of their
 *  squares.
 *
 *  x               float32 or float64
 *  axes, keepdims  as for eddy_sum
 *  shift           same type as x, broadcast to x; subtracted from each element first, so that
 *                  the squares lose less accuracy; default none
 *
 *  Returns output 0, a scalar of the type of x.  The results for several parts of the data may be
 *  added and passed to eddy_normalize_moments.
 *  Errors: as for eddy_sum.
 *  Gradient: that of the operations it is composed of.  TensorFlow: tf.nn.sufficient_statistics. */
eddy_tensor eddy_sufficient_statistics_with(const eddy_sufficient_statistics_args *given)
{
    eddy_sufficient_statistics_args a = EDDY_TAKE(eddy_sufficient_statistics_args, given);
    const eddy_tensor x = eddy_is_valid(a.shift) ? Sub(a.x, a.shift) : a.x;
    const eddy_tensor sum = Sum(x, .axes = a.axes, .keepdims = a.keepdims);
    const eddy_tensor square = Sum(Square(x), .axes = a.axes, .keepdims = a.keepdims);
    if (!eddy_is_valid(square)) return square;
    const eddy_tensor list[] = { count_of(a.x, a.axes, eddy_dtype_of(a.x)), sum, square };
    return eddy_identity_n((eddy_list){ 3, list }, 3);
}

/** y = the mean, and output 1 the variance, from the results of eddy_sufficient_statistics.
 *
 *  counts        a scalar, or a shape that broadcasts with the sums
 *  mean_ss       the sums of the elements
 *  variance_ss   the sums of their squares
 *  shift         the shift that was subtracted from each element; { 0 }: none
 *
 *  Gradient: that of the formula.  TensorFlow: tf.nn.normalize_moments. */
eddy_tensor eddy_normalize_moments(eddy_tensor counts, eddy_tensor mean_ss,
                                   eddy_tensor variance_ss, eddy_tensor shift)
{
    const eddy_tensor divisor = Reciprocal(counts), shifted = Mul(mean_ss, divisor);
    const eddy_tensor variance = Sub(Mul(variance_ss, divisor), Square(shifted));
    if (!eddy_is_valid(variance)) return variance;
    const eddy_tensor mean = eddy_is_valid(shift) ? Add(shifted, shift) : Identity(shifted);
    const eddy_tensor list[] = { mean, variance };
    return eddy_identity_n((eddy_list){ 2, list }, 2);
}
