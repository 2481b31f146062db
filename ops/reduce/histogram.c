/* histogram.c -- bincount, histograms, bucketize and the confusion matrix: counts of elements by
 * value, by bin, by pair of classes. */
#include "ops/arrays/along_axis.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "graph/internal.h"
#include "ops/arrays/arrays.h"
#include "ops/short_names.h"

#ifdef EDDY_HEADER
/* Options of eddy_bincount and eddy_confusion_matrix. */
typedef struct eddy_bincount_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_bincount_args));
    eddy_tensor values;
    int64_t     size;              /* number of bins */
    eddy_tensor weights;           /* default: each element counts 1 */
    eddy_dtype  dtype;             /* of y; default int32, or the type of the weights */
} eddy_bincount_args;
#endif

static bool integers(eddy_tensor x, const char *who)
{
    return eddy_is_valid(x) &&
           eddy__expect_type(x.graph, who, "an input", eddy_dtype_of(x), EDDY_TAKES_INDICES);
}

/** y[b] = the number of elements of `values` that equal b, or the sum of their weights.
 *
 *  values   int32 or int64, any shape; elements outside [0, size) are ignored
 *  size     the number of bins; both minlength and maxlength of TensorFlow
 *  weights  any numeric type, same shape as values; default all 1; float32 is summed in float64
 *  dtype    of y; default int32, or the type of the weights
 *
 *  Errors: EDDY_BAD_DTYPE or EDDY_BAD_SHAPE if the arguments do not match; EDDY_INVALID_ARGUMENT
 *  for a negative size.
 *  Gradient: dweights = dy of the bin of each element; `values` has none.
 *  TensorFlow: tf.math.bincount. */
eddy_tensor eddy_bincount_with(const eddy_bincount_args *given)
{
    eddy_bincount_args a = EDDY_TAKE(eddy_bincount_args, given);
    eddy_graph *g = a.values.graph;
    if (a.size < 0)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT,
                         "bincount: size is %lld; it must not be negative", (long long)a.size);
    if (!integers(a.values, "bincount")) return eddy_none(g);
    const bool       weighted = eddy_is_valid(a.weights);
    const eddy_dtype own = weighted ? eddy_dtype_of(a.weights) : EDDY_INT32;
    const eddy_dtype sum = eddy__dtype_is_float(own) ? EDDY_FLOAT64 : own;
    const eddy_tensor values = eddy_reshape(a.values, EDDY_SHAPE(EDDY_ANY));
    const eddy_tensor weights =
        weighted ? Cast(eddy_reshape(a.weights, EDDY_SHAPE(EDDY_ANY)), sum)
                 : Cast(OnesLike(values), sum);
    const eddy_tensor bins = eddy_zeros(g, EDDY_UINT8, EDDY_SHAPE(a.size));
    return Cast(eddy_put_along(weights, values, bins, 0), a.dtype ? a.dtype : own);
}

/** y[i][j] = the number of examples of class i that were predicted as class j, or the sum of
 *  their weights.
 *
 *  labels, predictions  int32 or int64, of the same type and shape; pairs with a class outside
 *                       [0, num_classes) are ignored
 *  num_classes          the number of rows and of columns of y
 *  weights              as for eddy_bincount; { 0 }: all 1
 *
 *  y is int32, or has the type of the weights.
 *  Errors, Gradient: as for eddy_bincount.
 *  TensorFlow: tf.math.confusion_matrix, which fails for classes outside the range. */
eddy_tensor eddy_confusion_matrix(eddy_tensor labels, eddy_tensor predictions,
                                  int64_t num_classes, eddy_tensor weights)
{
    enum { MOST = 1 << 20 };
    if (num_classes < 0 || num_classes > MOST)
        return eddy_fail(labels.graph, EDDY_INVALID_ARGUMENT,
                         "confusion_matrix: num_classes is %lld; expected 0 to 2^20",
                         (long long)num_classes);
    if (!integers(labels, "confusion_matrix") || !integers(predictions, "confusion_matrix"))
        return eddy_none(labels.graph);
    if (!eddy_shape_compatible(eddy_shape_of(labels), eddy_shape_of(predictions)))
        return eddy_fail(labels.graph, EDDY_BAD_SHAPE,
                         "confusion_matrix: the shapes of labels and predictions differ");
    const eddy_tensor row = Cast(labels, EDDY_INT64), column = Cast(predictions, EDDY_INT64);
    const double      n = (double)num_classes;
    const eddy_tensor in = LogicalAnd(
        LogicalAnd(GreaterEqual(row, 0), Less(row, n)),
        LogicalAnd(GreaterEqual(column, 0), Less(column, n)));
    const eddy_tensor pair = Where(in, Add(Mul(row, n), column), -1);
    const eddy_tensor y = eddy_bincount(pair, num_classes * num_classes, weights);
    return eddy_reshape(y, EDDY_SHAPE(num_classes, num_classes));
}

/* y, which waits for a check that first < last. */
static eddy_tensor where_less(eddy_tensor first, eddy_tensor last, eddy_tensor y)
{
    const eddy_tensor good = eddy_assert_less(first, last, .message = "histogram_fixed_width:");
    eddy_control_begin(y.graph, EDDY_LIST(good));
    y = Identity(y);
    eddy_control_end(y.graph);
    return y;
}

/** y = the bin of each value, among `nbins` equal bins over the range; values outside it are in
 *  the first or last bin.
 *
 *  values       float32 or float64, any shape
 *  value_range  same type as values, [2]: the lower bound of the first bin and the upper bound of
 *               the last
 *  nbins        at least 1
 *
 *  y is int32, and -1 for NaN.
 *  Errors: EDDY_INVALID_ARGUMENT for an invalid nbins, or if the upper bound is not above the
 *  lower one; if the range is only known at run time, EDDY_CHECK_FAILED.
 *  Gradient: none.  TensorFlow: tf.histogram_fixed_width_bins. */
eddy_tensor eddy_histogram_fixed_width_bins(eddy_tensor values, eddy_tensor value_range,
                                            int64_t nbins)
{
    if (nbins < 1 || nbins > INT32_MAX)
        return eddy_fail(
            values.graph, EDDY_INVALID_ARGUMENT,
            "histogram_fixed_width: nbins is %lld; it must be positive and fit in int32",
            (long long)nbins);
    const eddy_tensor first = eddy_index(value_range, "0"), last = eddy_index(value_range, "1");
    const eddy_array *known = eddy_constant_value(value_range);
    /* Halves, because the width of the range may overflow. */
    const eddy_tensor half = Where(IsFinite(Sub(last, first)), OnesLike(first), 0.5);
    const eddy_tensor start = Mul(half, first), wide = Sub(Mul(half, last), start);
    eddy_tensor part = Div(Sub(Mul(half, values), start), wide);
    if (known && eddy_array_count(known) == 2) {
        const double from = eddy_array_get(known, 0), to = eddy_array_get(known, 1);
        if (!(from < to))
            return eddy_fail(values.graph, EDDY_INVALID_ARGUMENT,
                             "histogram_fixed_width: the range from %g to %g is empty", from, to);
    } else {
        part = where_less(first, last, part);
    }
    const eddy_tensor bin = Floor(Mul(part, (double)nbins));
    const eddy_tensor inside = Maximum(Minimum(bin, (double)nbins), 0);
    const eddy_tensor number = Cast(Where(IsNan(inside), -1, inside), EDDY_INT64);
    return Cast(Minimum(number, (double)(nbins - 1)), EDDY_INT32);
}

/** y[b] = the number of values in bin b of `nbins` equal bins over the range.
 *
 *  values, value_range, nbins  as for eddy_histogram_fixed_width_bins; NaN is in no bin
 *
 *  y is int32.
 *  Errors: as for eddy_histogram_fixed_width_bins.
 *  Gradient: none.  TensorFlow: tf.histogram_fixed_width. */
eddy_tensor eddy_histogram_fixed_width(eddy_tensor values, eddy_tensor value_range, int64_t nbins)
{
    return eddy_bincount(eddy_histogram_fixed_width_bins(values, value_range, nbins), nbins);
}

/** y = the bucket of each value: the number of boundaries that are <= the value.
 *
 *  values      float32, float64, int32 or int64, any shape
 *  boundaries  any of these types, [n], in ascending order
 *
 *  y is int32.  If the types differ, both are compared as float64.
 *  Errors: EDDY_BAD_DTYPE or EDDY_BAD_SHAPE if the arguments do not match.
 *  Gradient: none.  TensorFlow: Bucketize. */
eddy_tensor eddy_bucketize(eddy_tensor values, eddy_tensor boundaries)
{
    const bool        same = eddy_dtype_of(values) == eddy_dtype_of(boundaries);
    const eddy_tensor flat = eddy_reshape(values, EDDY_SHAPE(EDDY_ANY));
    const eddy_tensor bucket =
        eddy_searchsorted(same ? boundaries : Cast(boundaries, EDDY_FLOAT64),
                          same ? flat : Cast(flat, EDDY_FLOAT64), .right = true);
    return eddy_reshape_like(bucket, values);
}
