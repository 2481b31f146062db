/* log_probs.h -- what the formulas of distributions share.  Private to ops/. */
#ifndef EDDY_LOG_PROBS_H
#define EDDY_LOG_PROBS_H

#include "graph/op.h"

/* All are float32 or float64; false, having said so, if one is not. */
bool eddy_are_floats(const char *who, int n, const eddy_tensor *x);

#endif
