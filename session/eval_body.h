/* eval_body.h -- eager evaluation of Loop and Case nodes. */
#ifndef EDDY_SESSION_EVAL_BODY_H
#define EDDY_SESSION_EVAL_BODY_H

#include "session/state/internal.h"

/* Runs the node on these inputs, with state_lock held; out[k] are new arrays.
 * taken: see eddy__draws_take. */
bool eddy__eval_body(eddy_session *s, eddy_arena *arena, const eddy_node *node,
                     const eddy_buffer *in, eddy_array **out, uint64_t *taken, eddy_error *error);

#endif
