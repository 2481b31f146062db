/* huber.h -- Huber's function of a difference, for losses; private to ops/. */
#ifndef EDDY_OPS_MATH_HUBER_H
#define EDDY_OPS_MATH_HUBER_H

#include "graph/op.h"

/* factor m (|e| - m / 2) with e = a - b and m the smaller of |e| and delta. */
eddy_tensor eddy__huber(eddy_tensor a, eddy_tensor b, double delta, double factor);

#endif
