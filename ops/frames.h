/* frames.h -- what signals share; private to ops/. */
#ifndef EDDY_FRAMES_H
#define EDDY_FRAMES_H

#include "graph/graph.h"

/* x with n places along the last axis, of which the size is known: cut, or zeros behind it. */
eddy_tensor eddy_fit_last(eddy_tensor x, int64_t n);

#endif
