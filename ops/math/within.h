/* within.h -- arguments of functions that vanish far from 0, in gradients. */
#ifndef EDDY_OPS_MATH_WITHIN_H
#define EDDY_OPS_MATH_WITHIN_H

#include "ops/short_names.h"

/* x, or -limit or limit where it is beyond. Of a function that is 0 beyond, such as e^(-x^2), the
 * derivatives are then 0 times a finite number. */
static inline eddy_tensor eddy__within(eddy_tensor x, double limit)
{
    return Maximum(Minimum(x, limit), -limit);
}

#endif
