/* losses.h -- labels, options and weights shared by the losses; private to ops/. */
#ifndef EDDY_OPS_FORMULAS_LOSSES_H
#define EDDY_OPS_FORMULAS_LOSSES_H

#include "ops/ops.h"

/* The labels cast to the type of the predictions, which is float32 or float64; their shapes must
 * be compatible. Returns an invalid tensor after reporting an error. */
eddy_tensor eddy__loss_labels(const char *who, eddy_tensor labels, eddy_tensor predictions);

/* The weights with the type and shape of the losses; an invalid tensor if there are none. */
eddy_tensor eddy__loss_weights(const char *who, eddy_tensor weights, eddy_tensor losses);

/* Checks that v is in [least, most]; otherwise reports an error. */
bool eddy__loss_option(eddy_graph *g, const char *who, const char *what, double v, double least,
                       double most);

/* The losses, weighted, reduced and added to the collection. */
eddy_tensor eddy__loss_weigh(const char *who, eddy_tensor losses, eddy_tensor weights,
                             eddy_loss_reduction reduction, const char *collection);

#endif
