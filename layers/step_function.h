/* step_function.h -- the function that beam search and generation call in each step, and checks of
 * it; not installed. */
#ifndef EDDY_LAYERS_STEP_FUNCTION_H
#define EDDY_LAYERS_STEP_FUNCTION_H

#include "autodiff/functions.h"

typedef struct eddy_step {
    const char   *who;              /* "beam_search", for messages */
    const char   *rows;             /* what m is, for messages: "batch" */
    eddy_function f;                /* of the last ids, int32 [m], and of the state, [m, ...] each:
                                     * logits [m, classes] and the next state */
    eddy_list     state;            /* at first, [batch, ...] each */
    eddy_tensor   start;            /* ids, int32 [batch] */
    int64_t       end_token;        /* EDDY_OMITTED: none */
    eddy_dtype    dtype;            /* of the logits; 0: float32 or float64 */
} eddy_step;

/* Checks all of this, and that the state has at most `most` tensors; otherwise reports an error. */
bool eddy__step_check(const eddy_step *s, int most);

/* Builds f of the ids and the state in `in`, with its results in out[EDDY_MAX_RESULTS]; returns the
 * number of classes, or 0 after reporting an error. */
int64_t eddy__step_build(const eddy_step *s, const eddy_tensor *in, eddy_tensor *out);

#endif
