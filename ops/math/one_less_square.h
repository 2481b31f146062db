/* one_less_square.h -- 1 - x^2, in the gradients of inverse functions. */
#ifndef EDDY_OPS_MATH_ONE_LESS_SQUARE_H
#define EDDY_OPS_MATH_ONE_LESS_SQUARE_H

#include "graph/op.h"
#include "ops/short_names.h"

/* (1 - x) (1 + x), which loses no digits near 1, with the derivative of 1 - x^2: that of the
 * product is a difference of two numbers near 1, which loses all digits near 0. */
static inline eddy_tensor eddy__one_less_square(eddy_tensor x)
{
    const eddy_tensor product = Mul(Sub(1, x), Add(1, x));
    return eddy_grad_pass_through(product, Sub(1, Square(x)));
}

#endif
