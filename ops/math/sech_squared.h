/* sech_squared.h -- the slope of complex tangents far from 0. */
#ifndef EDDY_OPS_MATH_SECH_SQUARED_H
#define EDDY_OPS_MATH_SECH_SQUARED_H

#include "graph/op.h"
#include "ops/short_names.h"

/* 1 / cosh^2 x, in which nothing overflows. */
static inline eddy_tensor eddy__sech_squared(eddy_tensor x)
{
    const eddy_tensor z = Mul(2, x);
    return Mul(4, Mul(Sigmoid(z), Sigmoid(Neg(z))));
}

#endif
