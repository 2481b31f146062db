/* new_array.h -- arrays for code that writes all elements itself. */
#ifndef EDDY_GRAPH_BASE_NEW_ARRAY_H
#define EDDY_GRAPH_BASE_NEW_ARRAY_H

#include "graph/base/base.h"

/* As eddy_array_new_in, with elements that are not set. a may be NULL. */
eddy_array *eddy__array_unset(const eddy_allocator *a, eddy_dtype d, eddy_shape s);

#endif
