/* finite_step.h -- a step that is undone unless all of its gradients are finite; not installed. */
#ifndef EDDY_OPTIM_WRAPPERS_FINITE_STEP_H
#define EDDY_OPTIM_WRAPPERS_FINITE_STEP_H

#include "optim/wrappers/wrappers_internal.h"

typedef struct eddy_finite_step {
    eddy_tensor          finite;  /* all gradients so far are finite; no node: no gradient yet */
    const eddy_id_range *ranges;  /* id ranges of the updates so far, in the graph's arena */
} eddy_finite_step;

void eddy__finite_begin(eddy_finite_step *s, eddy_graph *g);
/* Counts a gradient; returns whether it is finite itself, a bool scalar. */
eddy_tensor eddy__finite_watch(eddy_finite_step *s, eddy_tensor gradient);
/* Records that the nodes above `from` are updates; returns `update`. */
eddy_tensor eddy__finite_note(eddy_optimizer *o, eddy_finite_step *s, int32_t from,
                              eddy_tensor update);
/* The whole step: finishes the inner optimizer, and undoes all updates unless `finite` is true. */
eddy_tensor eddy__finite_finish(eddy_optimizer *o, eddy_finite_step *s, eddy_optimizer *inner,
                                eddy_list updates);

#endif
