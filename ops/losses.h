/* losses.h -- what the losses share: their labels, options and weights; private to ops/. */
#ifndef EDDY_LOSSES_H
#define EDDY_LOSSES_H

#include "ops/ops.h"

/* The labels as numbers of the type of the predictions, which is float32 or float64, and of
 * a shape that may be theirs; otherwise an invalid tensor, and the graph says why. */
eddy_tensor eddy_loss_labels(const char *who, eddy_tensor labels, eddy_tensor predictions);

/* The weights with the type and shape of the losses; without a graph if there are none. */
eddy_tensor eddy_loss_weights(const char *who, eddy_tensor weights, eddy_tensor losses);

/* v is within [least, most]; if not, the graph says so. */
bool eddy_loss_option(eddy_graph *g, const char *who, const char *what, double v, double least,
                      double most);

/* The losses put together, in the collection. */
eddy_tensor eddy_loss_weigh(const char *who, eddy_tensor losses, eddy_tensor weights,
                            eddy_loss_reduction reduction, const char *collection);

#endif
