/* times_log.h -- a ln x, with 0 for an a of 0, as the densities of distributions need it. */
#ifndef EDDY_OPS_MATH_TIMES_LOG_H
#define EDDY_OPS_MATH_TIMES_LOG_H

#include "ops/short_names.h"

/* a ln x, and 0 for an a of 0 whatever ln x is; eddy_xlogy, but that its slope along a is ln x
 * at 0, too. */
static inline eddy_tensor eddy__times_log(eddy_tensor a, eddy_tensor x)
{
    const eddy_tensor nothing = LogicalAnd(Equal(a, 0), IsInf(Log(x)));
    return Mul(a, Log(Where(nothing, 1, x)));
}

#endif
