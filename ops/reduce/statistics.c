/* statistics.c -- variance, standard deviation, L2 normalization, counts of nonzeros, weighted
 * moments and sufficient statistics; composed of reductions. */
#include "ops/arrays/arrays.h"
#include "graph/take.h"
#include "ops/short_names.h"
#include "ops/kernels/reduction/reduce_engine.h"
#include "build/gen/table.h"

#include <math.h>

/* How many elements x has along these axes, which fit, for each that is kept; there may be none. */
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
    const eddy_dtype d = eddy_dtype_of(x);
    if (!eddy_is_valid(x) || d == EDDY_FLOAT32 || d == EDDY_FLOAT64 || eddy_dtype_is_complex(d))
        return true;
    return eddy_fail(x.graph, EDDY_BAD_DTYPE,
                     "%s: expected floating-point or complex numbers, not %s", who,
                     eddy_dtype_name(d)),
           false;
}

/* -------------------------------------------------------------- variance -- */

#ifdef EDDY_HEADER
/* Arguments of eddy_reduce_variance and eddy_reduce_std. */
typedef struct eddy_variance_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_variance_args));
    eddy_tensor x;
    eddy_dims   axes;              /* left out: all */
    bool        keepdims;
    int64_t     ddof;              /* taken off the count; default 0 */
} eddy_variance_args;
#endif

/** y = the mean of |x - mean x|^2 over `axes`.
 *
 *  x         float32, float64, complex64 or complex128; y is real
 *  axes      each axis once, in [-rank, rank); left out: all
 *  keepdims  reduced dimensions stay, with size 1
 *  ddof      the sum is divided by n - ddof, or by 0 where that is negative: 1 for a
 *            sample's; of no more elements than that it is NaN or infinite
 *
 *  The mean first, then the squares, so that nothing is lost where the mean is large.
 *  Errors: EDDY_BAD_DTYPE for other element types; else as eddy_mean.
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

/** y = the root of eddy_reduce_variance, with its options.
 *
 *  Errors: as eddy_reduce_variance.
 *  Gradient: of the root; where all elements are equal, NaN.
 *  TensorFlow: tf.math.reduce_std. */
eddy_tensor eddy_reduce_std_with(const eddy_variance_args *given)
{
    eddy_variance_args a = EDDY_TAKE(eddy_variance_args, given);
    return Sqrt(eddy_reduce_variance_with(&a));
}

/* ----------------------------------------------------------- normalizing -- */

#ifdef EDDY_HEADER
typedef struct eddy_l2_normalize_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_l2_normalize_args));
    eddy_tensor x;
    eddy_dims   axes;              /* left out: all */
    double      epsilon EDDY_DEFAULT(1e-12);
} eddy_l2_normalize_args;
#endif

/** y = x / max(|x|, sqrt(epsilon)), |x| the root of the sum of squares over `axes`.
 *
 *  x        float32, float64, complex64 or complex128
 *  axes     of a vector; left out: all elements are one
 *  epsilon  left out: 1e-12
 *
 *  TensorFlow's x / sqrt(max(|x|^2, epsilon)) without the square, which may overflow.
 *  Errors: as eddy_euclidean_norm.
 *  Gradient: that of the formula; where |x|^2 is below epsilon, dy / sqrt(epsilon).
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
    eddy_dims   axes;              /* left out: all */
    bool        keepdims;
    eddy_dtype  dtype;             /* default EDDY_INT64 */
} eddy_count_nonzero_args;
#endif

/** y = how many elements of x over `axes` are not 0; NaN is not.
 *
 *  x               any element type
 *  axes, keepdims  as for eddy_sum
 *  dtype           of y; left out: int64
 *
 *  Errors: as eddy_sum.
 *  Gradient: none.  TensorFlow: tf.math.count_nonzero. */
eddy_tensor eddy_count_nonzero_with(const eddy_count_nonzero_args *given)
{
    eddy_count_nonzero_args a = EDDY_TAKE(eddy_count_nonzero_args, given);
    const bool        is_bool = eddy_dtype_of(a.x) == EDDY_BOOL;
    const eddy_tensor there = is_bool ? a.x : NotEqual(a.x, 0);
    return Sum(Cast(there, a.dtype ? a.dtype : EDDY_INT64), .axes = a.axes,
               .keepdims = a.keepdims);
}

/** y = the part of the elements of x that are 0: a float32 scalar.
 *
 *  x  any element type but bool
 *
 *  Of nothing it is NaN.
 *  Gradient: none.  TensorFlow: tf.nn.zero_fraction. */
eddy_tensor eddy_zero_fraction(eddy_tensor x) { return Mean(Cast(Equal(x, 0), EDDY_FLOAT32)); }

/* --------------------------------------------------------------- moments -- */

#ifdef EDDY_HEADER
typedef struct eddy_weighted_moments_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_weighted_moments_args));
    eddy_tensor x;
    eddy_dims   axes;              /* left out: all */
    eddy_tensor weights;           /* broadcast to x */
    bool        keepdims;
} eddy_weighted_moments_args;
#endif

/** y = the means of x over `axes`, each element counted by its weight; output 1: the variances.
 *
 *  x               float32 or float64
 *  axes, keepdims  as for eddy_sum
 *  weights         of the type of x, broadcast against it
 *
 *  Returns output 0; eddy_output(y, 1) is the mean of the squares of x - mean.
 *  Errors: as eddy_mean.
 *  Gradient: that of the operations it is made of.  TensorFlow: tf.nn.weighted_moments. */
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
    eddy_dims   axes;              /* left out: all */
    eddy_tensor shift;             /* near the mean; left out: 0 */
    bool        keepdims;
} eddy_sufficient_statistics_args;
#endif

/** y = the number of elements over `axes`, output 1 their sum, output 2 that of their squares.
 *
 *  x               float32 or float64
 *  axes, keepdims  as for eddy_sum
 *  shift           of the type of x, broadcast: taken off each element before, so that less
 *                  is lost in the squares; left out: nothing
 *
 *  Returns output 0, a scalar of the type of x.  Sums of several parts may be added up and
 *  given to eddy_normalize_moments.
 *  Errors: as eddy_sum.
 *  Gradient: that of the operations.  TensorFlow: tf.nn.sufficient_statistics. */
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

/** y = the mean, output 1 the variance, from the counts and sums of eddy_sufficient_statistics.
 *
 *  counts        a scalar, or broadcast against the sums
 *  mean_ss       sums of the elements
 *  variance_ss   sums of their squares
 *  shift         what was taken off each element; an invalid tensor, { 0 }: nothing
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
