/* explain_numerics.h -- the node that made the infinity or NaN for which a run failed. */
#ifndef EDDY_SESSION_EXPLAIN_NUMERICS_H
#define EDDY_SESSION_EXPLAIN_NUMERICS_H

#include "session/plan_cache.h"

/* If `failed` has just failed because a value is not finite, and has updated no variable: runs the
 * request node by node, and replaces the error by that of the first node that made one. */
void eddy__explain_numerics(const plan_request *request, eddy_plan *failed,
                            const eddy_array *const *values, eddy_error *error);

#endif
