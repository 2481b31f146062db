/* type_errors.h -- refusing an element type in a call that reports to an eddy_error, and not to a
 * graph as eddy__expect_type does; not installed. */
#ifndef EDDY_TYPE_ERRORS_H
#define EDDY_TYPE_ERRORS_H

#include "graph/op.h"

/* True if element type d is one of `types` (EDDY_TAKES_FLOATS); else false, with the error "who:
 * what is int32; float32 or float64 expected". If who is NULL, `what` names both. */
bool eddy__error_expects(eddy_error *error, const char *who, const char *what, eddy_dtype d,
                         uint32_t types);

#endif
