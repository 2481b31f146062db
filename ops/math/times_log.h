/* times_log.h -- a ln x, and 0 where a is 0, for the densities of distributions. */
#ifndef EDDY_OPS_MATH_TIMES_LOG_H
#define EDDY_OPS_MATH_TIMES_LOG_H

#include "ops/short_names.h"

/* a ln x, and 0 where a is 0, for every x. Unlike that of eddy_xlogy, its derivative with respect
 * to a is ln x also at a = 0. */
static inline eddy_tensor eddy__times_log(eddy_tensor a, eddy_tensor x)
{
    const eddy_tensor nothing = LogicalAnd(Equal(a, 0), IsInf(Log(x)));
    return Mul(a, Log(Where(nothing, 1, x)));
}

#endif
