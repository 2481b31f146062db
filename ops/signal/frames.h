/* frames.h -- helpers shared by signal operations; private to ops/. */
#ifndef EDDY_OPS_SIGNAL_FRAMES_H
#define EDDY_OPS_SIGNAL_FRAMES_H

#include "graph/graph.h"

/* x with n positions along the last axis, whose size is known: truncated or padded with zeros. */
eddy_tensor eddy__fit_last(eddy_tensor x, int64_t n);

#endif
