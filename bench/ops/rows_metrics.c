/* rows_metrics.c -- metrics: updating them with a batch of examples. */
#include "bench/ops/bench_ops.h"
#include "ops/short_names.h"

#define AT(x) eddy_cast(x, EDDY_INT32)

/* The operation that takes in labels x[0] and predictions x[1]. */
#define METRIC(name, formula)                                                   \
    static eddy_tensor name(eddy_graph *g, const eddy_tensor *x)                \
    {                                                                           \
        eddy_tensor update;                                                     \
        (void)g;                                                                \
        formula;                                                                \
        return update;                                                          \
    }
#define TAKE .update = &update
METRIC(mean, eddy_metric_mean({ 0 }, x[0], TAKE))
METRIC(accuracy, eddy_metric_accuracy(AT(x[0]), AT(x[1]), TAKE))
METRIC(top_k, eddy_metric_top_k_accuracy(AT(x[0]), x[1], TAKE, .k = 5))
METRIC(squared, eddy_metric_root_mean_squared_error(x[0], x[1], TAKE))
METRIC(absolute, eddy_metric_mean_absolute_error(x[0], x[1], TAKE))
METRIC(precision, eddy_metric_precision(AT(x[0]), AT(x[1]), TAKE))
METRIC(recall, eddy_metric_recall(AT(x[0]), AT(x[1]), TAKE))
METRIC(recall_by_weight, eddy_metric_recall(AT(x[0]), AT(x[1]), TAKE, .weights = x[2]))
METRIC(mean_iou, eddy_metric_mean_iou(AT(x[0]), AT(x[1]), TAKE, .num_classes = 20))
METRIC(auc, eddy_metric_auc(AT(x[0]), x[1], TAKE))
BUILD(confusion, eddy_cast(eddy_confusion_matrix(AT(x[0]), AT(x[1]), 100, EDDY_NO_TENSOR),
                           EDDY_FLOAT32))

#define MANY S(100000)
/* Labels and predictions below `top`. */
#define PAIRS(called, fn, label, top)                                           \
    { .name = called, .build = fn, .n = 2, .shape = { MANY, MANY }, .low = { 0, 0 }, \
      .high = { label, top }, .updates = true }

static const ops_row rows[] = {
    { .name = "metric mean", .build = mean, .n = 1, .shape = { MANY }, .updates = true },
    PAIRS("metric accuracy", accuracy, 10, 10),
    { .name = "metric top_k_accuracy", .build = top_k, .n = 2, .shape = { S(256), S(256, 1000) },
      .low = { 0, -1 }, .high = { 1000, 1 }, .updates = true },
    PAIRS("metric root_mean_squared_error", squared, 1, 1),
    PAIRS("metric mean_absolute_error", absolute, 1, 1),
    PAIRS("metric precision", precision, 2, 2),
    PAIRS("metric recall", recall, 2, 2),
    { .name = "metric recall, weights", .build = recall_by_weight, .n = 3,
      .shape = { MANY, MANY, MANY }, .high = { 2, 2, 1 }, .updates = true },
    PAIRS("metric mean_iou", mean_iou, 20, 20),
    PAIRS("metric auc", auc, 2, 1),
    { .name = "confusion_matrix", .build = confusion, .n = 2, .shape = { MANY, MANY },
      .high = { 100, 100 } },
};
OPS_FAMILY(metrics, rows);
