/* gradient_terms.h -- for gradient rules of operations with several outputs, of which some have no
 * gradient; private to ops/. */
#ifndef EDDY_OPS_ARRAYS_GRADIENT_TERMS_H
#define EDDY_OPS_ARRAYS_GRADIENT_TERMS_H

#include "graph/op.h"

/* True if the gradient dy of an output exists: where there is none, the sweep supplies zeros. */
bool eddy__has_gradient(eddy_tensor dy);
/* a + b, where either may be missing. */
eddy_tensor eddy__add_terms(eddy_tensor a, eddy_tensor b);

#endif
