/* finite_step.h -- a step that is undone unless all of its gradients are finite; not installed. */
#ifndef EDDY_OPTIM_WRAPPERS_FINITE_STEP_H
#define EDDY_OPTIM_WRAPPERS_FINITE_STEP_H

#include "optim/wrappers/wrappers_internal.h"

/* Whether a gradient of which this process has a part is finite, in the graph's arena. */
typedef struct eddy_finite_part {
    eddy_tensor              variable, fine;
    struct eddy_finite_part *next;
} eddy_finite_part;

typedef struct eddy_finite_step {
    eddy_tensor          finite;  /* all gradients so far are finite; no node: no gradient yet */
    eddy_finite_part    *parts;   /* those that other processes must know of */
    int                  n_parts;
    const eddy_id_range *ranges;  /* id ranges of the updates so far, in the graph's arena */
} eddy_finite_step;

void eddy__finite_begin(eddy_finite_step *s, eddy_graph *g);
/* Counts a gradient of v; returns whether it is finite itself, here, a bool scalar. */
eddy_tensor eddy__finite_watch(const eddy_optimizer *o, eddy_finite_step *s, eddy_tensor gradient,
                               eddy_tensor v);
/* Records that the nodes above `from` are updates; returns `update`. */
eddy_tensor eddy__finite_note(eddy_optimizer *o, eddy_finite_step *s, int32_t from,
                              eddy_tensor update);
/* The whole step: finishes the inner optimizer, and undoes all updates unless `finite` is true, which
 * then says that all gradients are, also those of other processes. */
eddy_tensor eddy__finite_finish(eddy_optimizer *o, eddy_finite_step *s, eddy_optimizer *inner,
                                eddy_list updates);

#endif
