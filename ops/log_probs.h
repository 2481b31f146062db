/* log_probs.h -- what the formulas of distributions share.  Private to ops/. */
#ifndef EDDY_LOG_PROBS_H
#define EDDY_LOG_PROBS_H

#include "graph/op.h"
#include "ops/math.h"

/* All are float32 or float64; false, having said so, if one is not. */
bool eddy_are_floats(const char *who, int n, const eddy_tensor *x);

/* a ln x, and 0 for an a of 0 whatever ln x is; eddy_xlogy, but that its slope along a is ln x
 * at 0, too. */
static inline eddy_tensor eddy_times_log(eddy_tensor a, eddy_tensor x)
{
    const eddy_tensor nothing = LogicalAnd(Equal(a, 0), IsInf(Log(x)));
    return Mul(a, Log(Where(nothing, 1, x)));
}

#endif
