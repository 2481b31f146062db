/* new_array.h -- arrays of runs, which write all elements themselves. */
#ifndef EDDY_GRAPH_BASE_NEW_ARRAY_H
#define EDDY_GRAPH_BASE_NEW_ARRAY_H

#include "graph/base/base.h"
#include "graph/base/stop.h"

/* As eddy_array_new_in, with elements that are not set. a may be NULL. */
eddy_array *eddy__array_unset(const eddy_allocator *a, eddy_dtype d, eddy_shape s);
/* As eddy_array_free; of a stopped run, large elements are released late (interruptible.h). */
void        eddy__array_free_late(eddy_array *a, const eddy_stop *stop);

#endif
