/* metrics.c -- streaming metrics over many runs: mean, accuracy, precision, recall, mean IoU, AUC
 * and others. Each metric has local variables, a value computed from them, and an update
 * operation that adds the examples of a run. */
#include "graph/internal.h"
#include "graph/take.h"
#include "ops/arrays/along_axis.h"
#include "ops/arrays/arrays.h"
#include "ops/short_names.h"

#ifdef EDDY_HEADER
/* Variables of metrics; and the initialisers of local variables. */
#define EDDY_METRIC_VARIABLES    "metric_variables"
#define EDDY_LOCAL_INITIALIZERS  "local_initializers"

/* Options of the metrics. */
typedef struct eddy_metric_args {
    size_t       size_ EDDY_DEFAULT(sizeof(eddy_metric_args));
    eddy_tensor  labels, predictions;
    eddy_tensor *update;            /* where the operation that takes in a run's examples goes */
    eddy_tensor  weights;           /* broadcast to the predictions; left out: 1 */
    int64_t      num_classes;       /* of eddy_metric_mean_iou */
    int64_t      k;                 /* of eddy_metric_top_k_accuracy */
    const char  *name;              /* of the scope; default the metric's own */
} eddy_metric_args;

/* Options of eddy_metric_auc. */
typedef struct eddy_metric_auc_args {
    size_t       size_ EDDY_DEFAULT(sizeof(eddy_metric_auc_args));
    eddy_tensor  labels, predictions;
    eddy_tensor *update;
    eddy_tensor  weights;
    int64_t      num_thresholds EDDY_DEFAULT(200);
    bool         precision_recall;  /* that curve; default the receiver's */
    const char  *name;
} eddy_metric_auc_args;
#endif

/* ------------------------------------------------------- local variables -- */

/* A copy of a collection of n entries, n at least 1, for eddy__release; NULL after saying so. */
static eddy_tensor *entries(eddy_graph *g, const char *key, int n)
{
    eddy_tensor *all = eddy__allocate(eddy__graph_allocator(g), (size_t)n * sizeof *all);
    if (!all) eddy_fail(g, EDDY_NO_MEMORY, "local variables: out of memory");
    else eddy_collection_get(g, key, NULL, all, n);
    return all;
}

/* The last entry of one collection becomes the last of another. */
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
    const char *name;           /* default "Variable" */
} eddy_local_variable_args;
#endif

/** A variable of a run's own business: not trained, not among the global ones.
 *
 *  initial_value  its shape and element type become the variable's
 *  name           default "Variable"
 *
 *  It joins EDDY_LOCAL_VARIABLES, and eddy_local_initializer gives it its value.
 *  Errors: as eddy_variable.  TensorFlow: tf.get_local_variable. */
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

/** The operation that gives all local variables their first values, and so begins metrics anew.
 *
 *  Call it after the last one is made.  TensorFlow's local_variables_initializer. */
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

/* A total that begins at 0: what it is, and what it is after `more`. */
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

/* The value so far, and the operation that takes in more and has the value after it. */
typedef struct metric {
    eddy_tensor value, update;
} metric;

static eddy_tensor handed(metric m, eddy_tensor *update)
{
    if (update) *update = m.update;
    return m.value;
}

static eddy_tensor single(eddy_tensor x) { return Cast(x, EDDY_FLOAT32); }
static eddy_tensor wide(eddy_tensor x) { return Cast(x, EDDY_FLOAT64); }

/* top / bottom, and 0 while there is nothing. */
static metric ratio(total top, total bottom)
{
    return (metric){ single(DivNoNan(top.now, bottom.now)),
                          single(DivNoNan(top.then, bottom.then)) };
}

static metric root(metric m) { return (metric){ Sqrt(m.value), Sqrt(m.update) }; }

/* What each element counts; of its weight, or 1. */
static eddy_tensor weights_like(eddy_tensor weights, eddy_tensor x)
{
    if (!eddy_is_valid(weights)) return wide(OnesLike(x));
    return eddy_broadcast_like(wide(weights), x);
}

static metric mean_of(eddy_tensor values, eddy_tensor weights)
{
    const eddy_tensor w = weights_like(weights, values);
    const total sum = total_of(Sum(Mul(wide(values), w)), EDDY_SCALAR, "total");
    const total count = total_of(Sum(w), EDDY_SCALAR, "count");
    return ratio(sum, count);
}

/* The labels, if their shape may be that of the predictions; else the graph says why not. */
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

/** The mean of all values of all runs, by weight; values are `predictions`, there are no labels.
 *
 *  predictions  numbers
 *  update       gets the operation that takes in the examples of a run, and that has the
 *               value after it
 *  weights      broadcast to them; left out: 1
 *
 *  As each metric: y is a float32 scalar of what was taken in before this run, 0 before
 *  anything was.  Its local variables, which eddy_local_initializer sets to 0, are float64
 *  sums; they are in EDDY_METRIC_VARIABLES too.
 *  Errors: as the operations it is made of.  TensorFlow: tf.metrics.mean. */
eddy_tensor eddy_metric_mean_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    return handed(mean_in_scope(&a, "mean", a.predictions), a.update);
}

/** The part of the predictions that are equal to their labels.
 *
 *  labels, predictions  of one shape; predictions are cast to the type of the labels
 *
 *  As eddy_metric_mean.  TensorFlow: tf.metrics.accuracy. */
eddy_tensor eddy_metric_accuracy_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    const eddy_tensor labels = labels_of("accuracy", a.labels, a.predictions);
    const eddy_tensor right = Equal(labels, CastLike(a.predictions, labels));
    return handed(mean_in_scope(&a, "accuracy", right), a.update);
}

/** The mean of (prediction - label)^2.
 *
 *  As eddy_metric_mean.  TensorFlow: tf.metrics.mean_squared_error. */
eddy_tensor eddy_metric_mean_squared_error_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    const eddy_tensor labels = labels_of("mean_squared_error", a.labels, a.predictions);
    const eddy_tensor off = SquaredDifference(a.predictions, CastLike(labels, a.predictions));
    return handed(mean_in_scope(&a, "mean_squared_error", off), a.update);
}

/** The root of eddy_metric_mean_squared_error.
 *
 *  As eddy_metric_mean.  TensorFlow: tf.metrics.root_mean_squared_error. */
eddy_tensor eddy_metric_root_mean_squared_error_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    const eddy_tensor labels = labels_of("root_mean_squared_error", a.labels, a.predictions);
    const eddy_tensor off = SquaredDifference(a.predictions, CastLike(labels, a.predictions));
    return handed(root(mean_in_scope(&a, "root_mean_squared_error", off)), a.update);
}

/** The mean of |prediction - label|.
 *
 *  As eddy_metric_mean.  TensorFlow: tf.metrics.mean_absolute_error. */
eddy_tensor eddy_metric_mean_absolute_error_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    const eddy_tensor labels = labels_of("mean_absolute_error", a.labels, a.predictions);
    const eddy_tensor off = Abs(Sub(a.predictions, CastLike(labels, a.predictions)));
    return handed(mean_in_scope(&a, "mean_absolute_error", off), a.update);
}

/** The part of the examples whose label is among the k largest predictions: eddy_in_top_k.
 *
 *  labels       int32 or int64 [batch]
 *  predictions  float32 or float64 [batch, classes]
 *  weights      [batch]; left out: 1
 *  k            how many
 *
 *  As eddy_metric_mean.  Keras: SparseTopKCategoricalAccuracy. */
eddy_tensor eddy_metric_top_k_accuracy_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    const eddy_tensor in = eddy_in_top_k(a.predictions, a.labels, a.k);
    return handed(mean_in_scope(&a, "top_k_accuracy", in), a.update);
}

/* ---------------------------------------------------------------- counts -- */

static eddy_tensor as_bool(eddy_tensor x)
{
    return eddy_dtype_of(x) == EDDY_BOOL ? x : NotEqual(x, 0);
}

/* How many, by weight, have this label and this prediction. */
static total cases(const eddy_metric_args *a, bool label, bool prediction, const char *name)
{
    const eddy_tensor l = as_bool(labels_of(name, a->labels, a->predictions));
    const eddy_tensor p = as_bool(a->predictions);
    const eddy_tensor is = LogicalAnd(label ? l : LogicalNot(l), prediction ? p : LogicalNot(p));
    const eddy_tensor w = weights_like(a->weights, p);
    return total_of(Sum(Mul(wide(is), w)), EDDY_SCALAR, name);
}

static metric count_in_scope(const eddy_metric_args *a, const char *name, bool label,
                                  bool prediction)
{
    eddy_scope_begin(a->predictions.graph, a->name ? a->name : name);
    const total n = cases(a, label, prediction, "count");
    eddy_scope_end(a->predictions.graph);
    return (metric){ single(n.now), single(n.then) };
}

/** How many examples are true and were predicted so, by weight.
 *
 *  labels, predictions  bool, or numbers, of which 0 is false; of one shape
 *
 *  As eddy_metric_mean.  TensorFlow: tf.metrics.true_positives. */
eddy_tensor eddy_metric_true_positives_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    return handed(count_in_scope(&a, "true_positives", true, true), a.update);
}

/** How many examples are false and were predicted to be true; as eddy_metric_true_positives.
 *
 *  TensorFlow: tf.metrics.false_positives. */
eddy_tensor eddy_metric_false_positives_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    return handed(count_in_scope(&a, "false_positives", false, true), a.update);
}

/** How many examples are false and were predicted so; as eddy_metric_true_positives.
 *
 *  TensorFlow: tf.metrics.true_negatives. */
eddy_tensor eddy_metric_true_negatives_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    return handed(count_in_scope(&a, "true_negatives", false, false), a.update);
}

/** How many examples are true and were predicted to be false; as eddy_metric_true_positives.
 *
 *  TensorFlow: tf.metrics.false_negatives. */
eddy_tensor eddy_metric_false_negatives_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    return handed(count_in_scope(&a, "false_negatives", true, false), a.update);
}

/* The part of the true positives among these and others. */
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

/** Of the examples predicted to be true, the part that are; as eddy_metric_true_positives.
 *
 *  TensorFlow: tf.metrics.precision. */
eddy_tensor eddy_metric_precision_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    return handed(part_of_true(&a, "precision", false), a.update);
}

/** Of the examples that are true, the part predicted so; as eddy_metric_true_positives.
 *
 *  TensorFlow: tf.metrics.recall. */
eddy_tensor eddy_metric_recall_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    return handed(part_of_true(&a, "recall", true), a.update);
}

/* ------------------------------------------------------ classes and curves -- */

/* Of the classes that occur, the mean of their intersection over their union. */
static eddy_tensor mean_iou(eddy_tensor matrix)
{
    const eddy_tensor rows = Sum(matrix, EDDY_AXES(1)), columns = Sum(matrix, EDDY_AXES(0));
    const eddy_tensor hits = eddy_diag_part(matrix), all = Sub(Add(rows, columns), hits);
    const eddy_tensor occur = wide(NotEqual(all, 0));
    return single(DivNoNan(Sum(DivNoNan(hits, all)), Sum(occur)));
}

/** Mean intersection over union: the mean over classes of the number of examples that are of the
 *  class and predicted as it, divided by the number that are either; over classes that occur.
 *
 *  labels, predictions  int32 or int64 of one type and shape
 *  num_classes          how many classes there are
 *  weights              of the shape of the labels; left out: 1
 *
 *  As eddy_metric_mean; the variable is the confusion matrix.
 *  Errors: as eddy_confusion_matrix.  TensorFlow: tf.metrics.mean_iou. */
eddy_tensor eddy_metric_mean_iou_with(const eddy_metric_args *given)
{
    eddy_metric_args a = EDDY_TAKE(eddy_metric_args, given);
    const int64_t n = a.num_classes;
    eddy_scope_begin(a.labels.graph, a.name ? a.name : "mean_iou");
    const eddy_tensor weights = eddy_is_valid(a.weights) ? wide(a.weights) : a.weights;
    const eddy_tensor more = eddy_confusion_matrix(a.labels, a.predictions, n, weights);
    metric m = { more, more };
    if (eddy_is_valid(more)) {
        const total all = total_of(wide(more), EDDY_SHAPE(n, n), "total_confusion_matrix");
        m = (metric){ mean_iou(all.now), mean_iou(all.then) };
    }
    eddy_scope_end(a.labels.graph);
    return handed(m, a.update);
}

/* The sum of trapezoids under points of descending x. */
static eddy_tensor area(eddy_tensor x, eddy_tensor y)
{
    const eddy_tensor step = Sub(eddy_index(x, ":-1"), eddy_index(x, "1:"));
    return single(Sum(Mul(step, Mul(Add(eddy_index(y, ":-1"), eddy_index(y, "1:")), 0.5))));
}

/* By threshold: predicted true and is, is true, predicted true, all; the last two of false. */
static eddy_tensor area_of(bool precision_recall, eddy_tensor tp, eddy_tensor fp, eddy_tensor p,
                           eddy_tensor n)
{
    const double      e = 1e-6;
    const eddy_tensor recall = Div(Add(tp, e), Add(p, e));
    if (precision_recall) return area(recall, Div(Add(tp, e), Add(Add(tp, fp), e)));
    return area(Div(fp, Add(n, e)), recall);
}

/* Evenly spread from just below 0 to just above 1. */
static eddy_tensor thresholds(eddy_graph *g, int64_t n)
{
    const eddy_tensor i = eddy_range(eddy_number(g, EDDY_FLOAT64, 0),
                                     eddy_number(g, EDDY_FLOAT64, (double)n),
                                     eddy_number(g, EDDY_FLOAT64, 1));
    const eddy_tensor at = Div(i, (double)(n - 1));
    return Where(Less(at, 0.5 / (double)n), -1e-7, Where(Greater(at, 1 - 0.5 / (double)n), 1 + 1e-7,
                                                         at));
}

/* By weight, of false examples [0] and of true ones [1]: all, and those above each of n
 * thresholds.  An example is counted once, by how many thresholds it is above. */
static eddy_tensor counts_above(const eddy_metric_auc_args *a, int64_t n)
{
    const eddy_shape  flat = EDDY_SHAPE(EDDY_ANY);
    const eddy_tensor x = eddy_reshape(wide(a->predictions), flat);
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

/** The area under the curve of rates, by trapezoids between thresholds of the prediction.
 *
 *  labels            bool, or numbers of which 0 is false
 *  predictions       float32 or float64 in [0, 1], of their shape
 *  weights           broadcast to them; left out: 1
 *  num_thresholds    at least 2; left out: 200
 *  precision_recall  of precision over recall; left out: of true over false positives
 *
 *  As eddy_metric_mean.  An example counts as predicted true where it is above the threshold.
 *  Errors: EDDY_INVALID_ARGUMENT for another number of thresholds.
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
        return handed((metric){ none, none }, a.update);
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
    return handed(y, a.update);
}
