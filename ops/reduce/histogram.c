/* histogram.c -- bincount, histograms, bucketize and the confusion matrix: counts of elements by
 * value, by bin, by pair of classes. */
#include "ops/arrays/along_axis.h"
#include "graph/take.h"
#include "ops/arrays/arrays.h"
#include "ops/short_names.h"

#ifdef EDDY_HEADER
/* Options of eddy_bincount and eddy_confusion_matrix. */
typedef struct eddy_bincount_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_bincount_args));
    eddy_tensor values;
    int64_t     size;              /* how many bins */
    eddy_tensor weights;           /* left out: each element counts 1 */
    eddy_dtype  dtype;             /* of y; default int32, or that of the weights */
} eddy_bincount_args;
#endif

static bool integers(eddy_tensor x, const char *who)
{
    const eddy_dtype d = eddy_dtype_of(x);
    if (eddy_is_valid(x) && d != EDDY_INT32 && d != EDDY_INT64)
        eddy_fail(x.graph, EDDY_BAD_DTYPE, "%s: expected int32 or int64, not %s", who,
                  eddy_dtype_name(d));
    return eddy_is_valid(x) && (d == EDDY_INT32 || d == EDDY_INT64);
}

/** y[b] = how many elements of `values` are b, or the sum of their weights.
 *
 *  values   int32 or int64, any shape; elements outside [0, size) are left out
 *  size     how many bins y has; TensorFlow's minlength and maxlength both
 *  weights  numbers, of the shape of values; left out: all 1.  float32 is summed in float64
 *  dtype    of y; left out: int32, or that of the weights
 *
 *  Errors: EDDY_BAD_DTYPE or EDDY_BAD_SHAPE if they do not fit; EDDY_INVALID_ARGUMENT for a
 *  size below 0.
 *  Gradient: dweights = dy of their bins; `values` has none.  TensorFlow: tf.math.bincount. */
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
    const eddy_dtype sum = own == EDDY_FLOAT32 ? EDDY_FLOAT64 : own;
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
 *  labels, predictions  int32 or int64, of one type and shape; a pair with a number outside
 *                       [0, num_classes) is left out
 *  num_classes          the rows and the columns of y
 *  weights              as for eddy_bincount; { 0 }: all 1
 *
 *  y is int32, or of the type of the weights.
 *  Errors, Gradient: as eddy_bincount.  TensorFlow: tf.math.confusion_matrix, which fails for
 *  numbers outside. */
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
                         "confusion_matrix: labels and predictions differ in shape");
    const eddy_tensor row = Cast(labels, EDDY_INT64), column = Cast(predictions, EDDY_INT64);
    const double      n = (double)num_classes;
    const eddy_tensor in = LogicalAnd(
        LogicalAnd(GreaterEqual(row, 0), Less(row, n)),
        LogicalAnd(GreaterEqual(column, 0), Less(column, n)));
    const eddy_tensor pair = Where(in, Add(Mul(row, n), column), -1);
    const eddy_tensor y = eddy_bincount(pair, num_classes * num_classes, weights);
    return eddy_reshape(y, EDDY_SHAPE(num_classes, num_classes));
}

/* y, in a run in which first < last. */
static eddy_tensor where_less(eddy_tensor first, eddy_tensor last, eddy_tensor y)
{
    const eddy_tensor good = eddy_assert_less(first, last, .message = "histogram_fixed_width:");
    eddy_control_begin(y.graph, EDDY_LIST(good));
    y = Identity(y);
    eddy_control_end(y.graph);
    return y;
}

/** y = for each value its bin of `nbins` equal ones over the range; beyond it the first or last.
 *
 *  values       float32 or float64, any shape
 *  value_range  of their type, [2]: where the first bin begins and the last one ends
 *  nbins        at least 1
 *
 *  y is int32; of a NaN it is -1.
 *  Errors: EDDY_INVALID_ARGUMENT for another nbins, or for a range that does not end above
 *  where it begins, of which a run may be what finds out: EDDY_CHECK_FAILED.
 *  Gradient: none.  TensorFlow: tf.histogram_fixed_width_bins. */
eddy_tensor eddy_histogram_fixed_width_bins(eddy_tensor values, eddy_tensor value_range,
                                            int64_t nbins)
{
    if (nbins < 1 || nbins > INT32_MAX)
        return eddy_fail(
            values.graph, EDDY_INVALID_ARGUMENT,
            "histogram_fixed_width: nbins is %lld; it must be above 0 and fit in int32",
            (long long)nbins);
    const eddy_tensor first = eddy_index(value_range, "0"), last = eddy_index(value_range, "1");
    const eddy_array *known = eddy_constant_value(value_range);
    /* Halves of a range that is wider than any number. */
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

/** y[b] = how many values are in bin b of `nbins` equal ones over the range.
 *
 *  values, value_range, nbins  as for eddy_histogram_fixed_width_bins; a NaN is in no bin
 *
 *  y is int32.
 *  Errors: as eddy_histogram_fixed_width_bins.
 *  Gradient: none.  TensorFlow: tf.histogram_fixed_width. */
eddy_tensor eddy_histogram_fixed_width(eddy_tensor values, eddy_tensor value_range, int64_t nbins)
{
    return eddy_bincount(eddy_histogram_fixed_width_bins(values, value_range, nbins), nbins);
}

/** y = for each value how many of the boundaries are not above it: the number of its bucket.
 *
 *  values      float32, float64, int32 or int64, any shape
 *  boundaries  any of these types, [n], ascending
 *
 *  y is int32.  If the types differ, both are compared as float64.
 *  Errors: EDDY_BAD_DTYPE or EDDY_BAD_SHAPE if they do not fit.
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
