/* within.h -- arguments of functions that vanish far from 0, in gradients. */
#ifndef EDDY_OPS_MATH_WITHIN_H
#define EDDY_OPS_MATH_WITHIN_H

#include "ops/short_names.h"

/* x, or -limit or limit where it is beyond. Of a function that is 0 beyond, such as e^(-x^2), the
 * derivatives are then 0 times a finite number. NaN stays NaN, in derivatives too, which is why this
 * is not made of Minimum and Maximum. */
static inline eddy_tensor eddy__within(eddy_tensor x, double limit)
{
    const eddy_tensor low = Where(Less(x, -limit), -limit, x);
    return Where(Greater(x, limit), limit, low);
}

#endif
