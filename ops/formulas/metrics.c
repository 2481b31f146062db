/* metrics.c -- streaming metrics over many runs: mean, accuracy, precision, recall, mean IoU, AUC
 * and others. Each metric has local variables, a value computed from them, and an update
 * operation that adds the examples of a run. */
#include "graph/internal.h"
#include "graph/call_options.h"
#include "ops/arrays/along_axis.h"
#include "ops/arrays/arrays.h"
#include "ops/short_names.h"

#ifdef EDDY_HEADER
/* Variables of metrics. */
#define EDDY_METRIC_VARIABLES    "metric_variables"

/* Options of the metrics. */
typedef struct eddy_metric_args {
    size_t       size_ EDDY_DEFAULT(sizeof(eddy_metric_args));
    eddy_tensor  labels, predictions;
    eddy_tensor *update;            /* receives the operation that adds a run's examples */
    eddy_tensor  weights;           /* broadcast to the predictions; default: 1 */
    int64_t      num_classes;       /* of eddy_metric_mean_iou */
    int64_t      k;                 /* of eddy_metric_top_k_accuracy */
    const char  *name;              /* of the scope; default: the metric's own */
} eddy_metric_args;

/* Options of eddy_metric_auc. */
typedef struct eddy_metric_auc_args {
    size_t       size_ EDDY_DEFAULT(sizeof(eddy_metric_auc_args));
    eddy_tensor  labels, predictions;
    eddy_tensor *update;
    eddy_tensor  weights;
    int64_t      num_thresholds EDDY_DEFAULT(200);
    bool         precision_recall;  /* that curve; default: the ROC curve */
    const char  *name;
} eddy_metric_auc_args;
#endif

/* ------------------------------------------------------- local variables -- */

/* A copy of a collection of n entries, n at least 1, for eddy__release; NULL after an error. */
static eddy_tensor *entries(eddy_graph *g, const char *key, int n)
{
    eddy_tensor *all = eddy__allocate(eddy__graph_allocator(g), (size_t)n * sizeof *all);
    if (!all) eddy_fail(g, EDDY_NO_MEMORY, "local variables: out of memory");
    else eddy_collection_get(g, key, NULL, all, n);
    return all;
}

/* Moves the last entry of one collection to the end of another. */
static void move_last(eddy_graph *g, const char *from, const char *to)
{
    const int    n = eddy_collection_size(g, from);
    eddy_tensor *all = entries(g, from, n);
    if (!all) return;
    eddy_collection_clear(g, from);
    for (int i = 0; i < n - 1; i++) eddy_collection_add(g, from, all[i]);
    eddy_collection_add(g, to, all[n - 1]);
    eddy__release(eddy__graph_allocator(g), all, (size_t)n * sizeof *all);
}

#ifdef EDDY_HEADER
typedef struct eddy_local_variable_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_local_variable_args));
    eddy_tensor initial_value;
    const char *name;           /* default: "Variable" */
} eddy_local_variable_args;
#endif

/** A local variable: not trained, and not among the global variables.
 *
 *  initial_value  its shape and element type become the variable's
 *  name           default: "Variable"
 *
 *  It is added to EDDY_LOCAL_VARIABLES, and initialized by eddy_local_initializer.
 *  Errors: as for eddy_variable.  TensorFlow: tf.get_local_variable. */
eddy_tensor eddy_local_variable_with(const eddy_local_variable_args *given)
{
    eddy_local_variable_args a = EDDY_TAKE(eddy_local_variable_args, given);
    const eddy_tensor var =
        eddy_variable(a.initial_value.graph, a.initial_value, true, .name = a.name);
    if (!eddy_is_valid(var) || eddy_graph_status(var.graph) != EDDY_OK) return var;
    move_last(var.graph, EDDY_GLOBAL_VARIABLES, EDDY_LOCAL_VARIABLES);
    move_last(var.graph, EDDY_INITIALIZERS, EDDY_LOCAL_INITIALIZERS);
    return var;
}

/** The operation that initializes all local variables, and so resets metrics.
 *
 *  Call it after the last of them is created.  TensorFlow's local_variables_initializer. */
eddy_tensor eddy_local_initializer(eddy_graph *g)
{
    if (!eddy__graph_ready(g)) return eddy_none(eddy__graph_alive(g) ? g : NULL);
    const int    n = eddy_collection_size(g, EDDY_LOCAL_INITIALIZERS);
    eddy_tensor *all = n > 0 ? entries(g, EDDY_LOCAL_INITIALIZERS, n) : NULL;
    if (n > 0 && !all) return eddy_none(g);
    eddy_control_clear(g);
    const eddy_tensor t = eddy_group(g, (eddy_list){ n, all }, "local_init");
    eddy_control_end(g);
    eddy__release(eddy__graph_allocator(g), all, (size_t)n * sizeof *all);
    return t;
}

/* A total that begins at 0: its value, and its value after `more` is added. */
typedef struct total {
    eddy_tensor now, then;
} total;

static total total_of(eddy_tensor more, eddy_shape shape, const char *name)
{
    eddy_graph *g = more.graph;
    eddy_control_clear(g);
    const eddy_tensor var = eddy_local_variable(eddy_zeros(g, EDDY_FLOAT64, shape), name);
    eddy_control_end(g);
    if (eddy_is_valid(var)) eddy_collection_add(g, EDDY_METRIC_VARIABLES, var);
    return (total){ var, eddy_assign_add(var, more) };
}

/* The current value, and the operation that adds examples and returns the value after that. */
typedef struct metric {
    eddy_tensor value, update;
} metric;

/* Stores the update where the caller wants it, and returns the value. */
static eddy_tensor value_and_update(metric m, eddy_tensor *update)
{
    if (update) *update = m.update;
    return m.value;
}

static eddy_tensor to_float32(eddy_tensor x) { return Cast(x, EDDY_FLOAT32); }
static eddy_tensor to_float64(eddy_tensor x) { return Cast(x, EDDY_FLOAT64); }

/* top / bottom, or 0 while bottom is 0. */
static metric ratio(total top, total bottom)
{
    return (metric){ to_float32(DivNoNan(top.now, bottom.now)),
                     to_float32(DivNoNan(top.then, bottom.then)) };
}

static metric root(metric m) { return (metric){ Sqrt(m.value), Sqrt(m.update) }; }

/* The weight of each element; 1 by default. */
static eddy_tensor weights_like(eddy_tensor weights, eddy_tensor x)
{
    if (!eddy_is_valid(weights)) return to_float64(OnesLike(x));
    return eddy_broadcast_like(to_float64(weights), x);
}

static metric mean_of(eddy_tensor values, eddy_tensor weights)
{
    const eddy_tensor w = weights_like(weights, values);
    const total sum = total_of(Sum(Mul(to_float64(values), w)), EDDY_SCALAR, "total");
    const total count = total_of(Sum(w), EDDY_SCALAR, "count");
    return ratio(sum, count);
}

/* The labels, if their shape is compatible with that of the predictions; otherwise reports an
 * error. */
static eddy_tensor labels_of(const char *who, eddy_tensor labels, eddy_tensor predictions)
{
    const eddy_shape l = eddy_shape_of(labels), p = eddy_shape_of(predictions);
    char first[128], second[128];
    if (!eddy_is_valid(labels) || !eddy_is_valid(predictions) || eddy_shape_compatible(l, p))
        return labels;
    return eddy_fail(predictions.graph, EDDY_BAD_SHAPE,
                     "%s: labels %s and predictions %s differ in shape", who,
                     eddy_shape_print(l, first, sizeof first),
                     eddy_shape_print(p, second, sizeof second));
}

static metric mean_in_scope(const eddy_metric_args *a, const char *name, eddy_tensor values)
{
    eddy_scope_begin(values.graph, a->name ? a->name : name);
    const metric m = mean_of(values, a->weights);
    eddy_scope_end(values.graph);
    return m;
}

/* ----------------------------------------------------------------- means -- */

/** The weighted mean of all values of all runs; `predictions` are the values, labels are unused.
 *
 *  predictions  numbers
 *  update       receives the operation that adds the examples of a run and returns the value
 *               after that
 *  weights      broadcast to the predictions; default: 1
 *
 *  As with every metric, y is a float32 scalar computed from the examples added before this run,
 *  0 before any was.  Its local variables, which eddy_local_initializer sets to 0, are float64
 *  sums; they are also in EDDY_METRIC_VARIABLES.
 *  Errors: as for the operations that it is composed of.  TensorFlow: tf.metrics.mean. */
eddy_tensor eddy_metric_mean_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    return value_and_update(mean_in_scope(&a, "mean", a.predictions), a.update);
}

/** The fraction of the predictions that equal their labels.
 *
 *  labels, predictions  same shape; predictions are cast to the type of the labels
 *
 *  Otherwise like eddy_metric_mean.  TensorFlow: tf.metrics.accuracy. */
eddy_tensor eddy_metric_accuracy_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    const eddy_tensor labels = labels_of("accuracy", a.labels, a.predictions);
    const eddy_tensor right = Equal(labels, CastLike(a.predictions, labels));
    return value_and_update(mean_in_scope(&a, "accuracy", right), a.update);
}

/** The mean of (prediction - label)^2.
 *
 *  Otherwise like eddy_metric_mean.  TensorFlow: tf.metrics.mean_squared_error. */
eddy_tensor eddy_metric_mean_squared_error_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    const eddy_tensor labels = labels_of("mean_squared_error", a.labels, a.predictions);
    const eddy_tensor off = SquaredDifference(a.predictions, CastLike(labels, a.predictions));
    return value_and_update(mean_in_scope(&a, "mean_squared_error", off), a.update);
}

/** The square root of eddy_metric_mean_squared_error.
 *
 *  Otherwise like eddy_metric_mean.  TensorFlow: tf.metrics.root_mean_squared_error. */
eddy_tensor eddy_metric_root_mean_squared_error_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    const eddy_tensor labels = labels_of("root_mean_squared_error", a.labels, a.predictions);
    const eddy_tensor off = SquaredDifference(a.predictions, CastLike(labels, a.predictions));
    return value_and_update(root(mean_in_scope(&a, "root_mean_squared_error", off)), a.update);
}

/** The mean of |prediction - label|.
 *
 *  Otherwise like eddy_metric_mean.  TensorFlow: tf.metrics.mean_absolute_error. */
eddy_tensor eddy_metric_mean_absolute_error_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    const eddy_tensor labels = labels_of("mean_absolute_error", a.labels, a.predictions);
    const eddy_tensor off = Abs(Sub(a.predictions, CastLike(labels, a.predictions)));
    return value_and_update(mean_in_scope(&a, "mean_absolute_error", off), a.update);
}

/** The fraction of the examples whose label is among the k largest predictions: eddy_in_top_k.
 *
 *  labels       int32 or int64 [batch]
 *  predictions  float32 or float64 [batch, classes]
 *  weights      [batch]; default: 1
 *  k            the number of predictions considered
 *
 *  Otherwise like eddy_metric_mean.  Keras: SparseTopKCategoricalAccuracy. */
eddy_tensor eddy_metric_top_k_accuracy_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    const eddy_tensor in = eddy_in_top_k(a.predictions, a.labels, a.k);
    return value_and_update(mean_in_scope(&a, "top_k_accuracy", in), a.update);
}

/* ---------------------------------------------------------------- counts -- */

static eddy_tensor as_bool(eddy_tensor x)
{
    return eddy_dtype_of(x) == EDDY_BOOL ? x : NotEqual(x, 0);
}

/* The weighted number of examples with this label and this prediction. */
static total cases(const eddy_metric_args *a, bool label, bool prediction, const char *name)
{
    const eddy_tensor l = as_bool(labels_of(name, a->labels, a->predictions));
    const eddy_tensor p = as_bool(a->predictions);
    const eddy_tensor is = LogicalAnd(label ? l : LogicalNot(l), prediction ? p : LogicalNot(p));
    const eddy_tensor w = weights_like(a->weights, p);
    return total_of(Sum(Mul(to_float64(is), w)), EDDY_SCALAR, name);
}

static metric count_in_scope(const eddy_metric_args *a, const char *name, bool label,
                             bool prediction)
{
    eddy_scope_begin(a->predictions.graph, a->name ? a->name : name);
    const total n = cases(a, label, prediction, "count");
    eddy_scope_end(a->predictions.graph);
    return (metric){ to_float32(n.now), to_float32(n.then) };
}

/** The weighted number of true examples that were predicted to be true.
 *
 *  labels, predictions  bool, or numbers (false if 0); same shape
 *
 *  Otherwise like eddy_metric_mean.  TensorFlow: tf.metrics.true_positives. */
eddy_tensor eddy_metric_true_positives_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    return value_and_update(count_in_scope(&a, "true_positives", true, true), a.update);
}

/** The number of false examples predicted to be true; otherwise like eddy_metric_true_positives.
 *
 *  TensorFlow: tf.metrics.false_positives. */
eddy_tensor eddy_metric_false_positives_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    return value_and_update(count_in_scope(&a, "false_positives", false, true), a.update);
}

/** The number of false examples predicted to be false; otherwise like eddy_metric_true_positives.
 *
 *  TensorFlow: tf.metrics.true_negatives. */
eddy_tensor eddy_metric_true_negatives_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    return value_and_update(count_in_scope(&a, "true_negatives", false, false), a.update);
}

/** The number of true examples predicted to be false; otherwise like eddy_metric_true_positives.
 *
 *  TensorFlow: tf.metrics.false_negatives. */
eddy_tensor eddy_metric_false_negatives_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    return value_and_update(count_in_scope(&a, "false_negatives", true, false), a.update);
}

/* The fraction of true positives among these and the other count. */
static metric part_of_true(const eddy_metric_args *a, const char *name, bool label)
{
    eddy_scope_begin(a->predictions.graph, a->name ? a->name : name);
    const total hit = cases(a, true, true, "true_positives");
    const total other = cases(a, label, !label, label ? "false_negatives" : "false_positives");
    const total all = { Add(hit.now, other.now), Add(hit.then, other.then) };
    const metric m = ratio(hit, all);
    eddy_scope_end(a->predictions.graph);
    return m;
}

/** Precision: the fraction of the examples predicted to be true that are true; otherwise like
 *  eddy_metric_true_positives.
 *
 *  TensorFlow: tf.metrics.precision. */
eddy_tensor eddy_metric_precision_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    return value_and_update(part_of_true(&a, "precision", false), a.update);
}

/** Recall: the fraction of the true examples that were predicted to be true; otherwise like
 *  eddy_metric_true_positives.
 *
 *  TensorFlow: tf.metrics.recall. */
eddy_tensor eddy_metric_recall_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    return value_and_update(part_of_true(&a, "recall", true), a.update);
}

/* ------------------------------------------------------ classes and curves -- */

/* The mean intersection over union of the classes that occur. */
static eddy_tensor mean_iou(eddy_tensor matrix)
{
    const eddy_tensor rows = Sum(matrix, EDDY_AXES(1)), columns = Sum(matrix, EDDY_AXES(0));
    const eddy_tensor hits = eddy_diag_part(matrix), all = Sub(Add(rows, columns), hits);
    const eddy_tensor occur = to_float64(NotEqual(all, 0));
    return to_float32(DivNoNan(Sum(DivNoNan(hits, all)), Sum(occur)));
}

/** Mean intersection over union: the mean over classes of the number of examples that have the
 *  class and were predicted to have it, divided by the number with either; only over classes that
 *  occur.
 *
 *  labels, predictions  int32 or int64 of one type and shape
 *  num_classes          the number of classes
 *  weights              same shape as the labels; default: 1
 *
 *  Otherwise like eddy_metric_mean; the variable is the confusion matrix.
 *  Errors: as for eddy_confusion_matrix.  TensorFlow: tf.metrics.mean_iou. */
eddy_tensor eddy_metric_mean_iou_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    const int64_t n = a.num_classes;
    eddy_scope_begin(a.labels.graph, a.name ? a.name : "mean_iou");
    const eddy_tensor weights = eddy_is_valid(a.weights) ? to_float64(a.weights) : a.weights;
    const eddy_tensor more = eddy_confusion_matrix(a.labels, a.predictions, n, weights);
    metric m = { more, more };
    if (eddy_is_valid(more)) {
        const total all = total_of(to_float64(more), EDDY_SHAPE(n, n), "total_confusion_matrix");
        m = (metric){ mean_iou(all.now), mean_iou(all.then) };
    }
    eddy_scope_end(a.labels.graph);
    return value_and_update(m, a.update);
}

/* The sum of the trapezoids below points with descending x. */
static eddy_tensor area(eddy_tensor x, eddy_tensor y)
{
    const eddy_tensor step = Sub(eddy_index(x, ":-1"), eddy_index(x, "1:"));
    return to_float32(Sum(Mul(step, Mul(Add(eddy_index(y, ":-1"), eddy_index(y, "1:")), 0.5))));
}

/* For each threshold: true and false positives; p and n are all true and all false examples. */
static eddy_tensor area_of(bool precision_recall, eddy_tensor tp, eddy_tensor fp, eddy_tensor p,
                           eddy_tensor n)
{
    const double      e = 1e-6;
    const eddy_tensor recall = Div(Add(tp, e), Add(p, e));
    if (precision_recall) return area(recall, Div(Add(tp, e), Add(Add(tp, fp), e)));
    return area(Div(fp, Add(n, e)), recall);
}

/* Evenly spaced from just below 0 to just above 1. */
static eddy_tensor thresholds(eddy_graph *g, int64_t n)
{
    const eddy_tensor i = eddy_range(eddy_number(g, EDDY_FLOAT64, 0),
                                     eddy_number(g, EDDY_FLOAT64, (double)n),
                                     eddy_number(g, EDDY_FLOAT64, 1));
    const eddy_tensor at = Div(i, (double)(n - 1));
    return Where(Less(at, 0.5 / (double)n), -1e-7, Where(Greater(at, 1 - 0.5 / (double)n), 1 + 1e-7,
                                                         at));
}

/* The weights of false examples [0] and of true ones [1]: the total, and those above each of n
 * thresholds.  An example is counted once, by the number of thresholds that it exceeds. */
static eddy_tensor counts_above(const eddy_metric_auc_args *a, int64_t n)
{
    const eddy_shape  flat = EDDY_SHAPE(EDDY_ANY);
    const eddy_tensor x = eddy_reshape(to_float64(a->predictions), flat);
    const eddy_tensor labels = labels_of("auc", a->labels, a->predictions);
    const eddy_tensor is = eddy_reshape(as_bool(labels), flat);
    const eddy_tensor w = eddy_reshape(weights_like(a->weights, a->predictions), flat);
    const eddy_tensor passed = eddy_searchsorted(thresholds(x.graph, n), x,
                                                 .out_type = EDDY_INT64);
    const eddy_tensor bin = Where(eddy_is_nan(x), 0, passed);
    const eddy_tensor sums = eddy_bincount(Add(bin, Mul(Cast(is, EDDY_INT64), (double)(n + 1))),
                                           2 * (n + 1), w);
    return eddy_cumsum(eddy_reshape(sums, EDDY_SHAPE(2, n + 1)), 1, .reverse = true);
}

/** The area under a curve, computed with trapezoids between thresholds of the prediction.
 *
 *  labels            bool, or numbers (false if 0)
 *  predictions       float32 or float64 in [0, 1], same shape
 *  weights           broadcast to them; default: 1
 *  num_thresholds    at least 2
 *  precision_recall  precision over recall; default: the ROC curve, true over false positive rate
 *
 *  Otherwise like eddy_metric_mean.  An example is predicted true if it exceeds the threshold.
 *  Errors: EDDY_INVALID_ARGUMENT for an invalid number of thresholds.
 *  TensorFlow: tf.metrics.auc with summation_method 'trapezoidal'. */
eddy_tensor eddy_metric_auc_with(const eddy_metric_auc_args *given)
{
    eddy_metric_auc_args a = EDDY_TAKE(eddy_metric_auc_args, given);
    eddy_graph   *g = a.predictions.graph;
    const int64_t n = a.num_thresholds;
    if (n < 2 || n > INT32_MAX) {
        const eddy_tensor none =
            eddy_fail(g, EDDY_INVALID_ARGUMENT, "auc: num_thresholds is %lld; expected 2 or more",
                      (long long)n);
        return value_and_update((metric){ none, none }, a.update);
    }
    eddy_scope_begin(g, a.name ? a.name : "auc");
    const eddy_tensor counts = counts_above(&a, n);
    const total tp = total_of(eddy_index(counts, "1, 1:"), EDDY_SHAPE(n), "true_positives");
    const total fp = total_of(eddy_index(counts, "0, 1:"), EDDY_SHAPE(n), "false_positives");
    const total p = total_of(eddy_index(counts, "1, 0"), EDDY_SCALAR, "positives");
    const total m = total_of(eddy_index(counts, "0, 0"), EDDY_SCALAR, "negatives");
    const metric y = { area_of(a.precision_recall, tp.now, fp.now, p.now, m.now),
                            area_of(a.precision_recall, tp.then, fp.then, p.then, m.then) };
    eddy_scope_end(g);
    return value_and_update(y, a.update);
}
