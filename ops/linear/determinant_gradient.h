/* determinant_gradient.h -- the gradient of determinants. Private to ops/. */
#ifndef EDDY_OPS_LINEAR_DETERMINANT_GRADIENT_H
#define EDDY_OPS_LINEAR_DETERMINANT_GRADIENT_H

#include "graph/op.h"

/* w times the cofactors of x [...,n,n], for w [...]: the gradient of the determinants, without a
 * conjugate for complex numbers; also for singular matrices. The operation has a third input h
 * [...,n,n] for the derivative of the cofactors along h. */
eddy_tensor eddy__determinant_gradient(eddy_tensor x, eddy_tensor w);

#endif
