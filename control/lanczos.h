/* lanczos.h -- what the two files of eddy_lanczos share. */
#ifndef EDDY_CONTROL_LANCZOS_H
#define EDDY_CONTROL_LANCZOS_H

#include "control/linear_system.h"

/* Options of the closure, after the first one. */
enum { LANCZOS_TOLERANCE = 1, LANCZOS_SMALLEST };

/* The rows of `vectors` [k, n] as tensors with the shapes of `like` after an axis of k. */
void eddy__lanczos_parted(eddy_tensor vectors, int64_t k, int n, const eddy_tensor *like,
                          eddy_tensor *y);

/* The gradient; in the rule r->x are v0, the captured tensors and the closure. */
void eddy__lanczos_rule(eddy_rule *r);

#endif
