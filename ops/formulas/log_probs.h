/* log_probs.h -- helpers shared by the formulas of probability distributions. Private to ops/. */
#ifndef EDDY_OPS_FORMULAS_LOG_PROBS_H
#define EDDY_OPS_FORMULAS_LOG_PROBS_H

#include "graph/op.h"
#include "ops/short_names.h"
#include "ops/math/times_log.h"

/* Checks that all are float32 or float64; returns false after reporting an error. */
bool eddy__are_floats(const char *who, int n, const eddy_tensor *x);

#endif
