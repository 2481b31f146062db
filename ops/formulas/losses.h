/* losses.h -- labels, options and weights shared by the losses; private to ops/. */
#ifndef EDDY_OPS_FORMULAS_LOSSES_H
#define EDDY_OPS_FORMULAS_LOSSES_H

#include "ops/ops.h"

/* The labels as numbers of the type of the predictions, which is float32 or float64, and of
 * a shape that may be theirs; otherwise an invalid tensor, and the graph says why. */
eddy_tensor eddy__loss_labels(const char *who, eddy_tensor labels, eddy_tensor predictions);

/* The weights with the type and shape of the losses; without a graph if there are none. */
eddy_tensor eddy__loss_weights(const char *who, eddy_tensor weights, eddy_tensor losses);

/* v is within [least, most]; if not, the graph says so. */
bool eddy__loss_option(eddy_graph *g, const char *who, const char *what, double v, double least,
                       double most);

/* The losses put together, in the collection. */
eddy_tensor eddy__loss_weigh(const char *who, eddy_tensor losses, eddy_tensor weights,
                             eddy_loss_reduction reduction, const char *collection);

#endif
