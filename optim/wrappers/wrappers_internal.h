/* wrappers_internal.h -- declarations shared by the wrappers of optimizers; not installed. */
#ifndef EDDY_OPTIM_WRAPPERS_WRAPPERS_INTERNAL_H
#define EDDY_OPTIM_WRAPPERS_WRAPPERS_INTERNAL_H

#include "optim/internal.h"
#include "optim/wrappers/wrappers.h"

/* The graph of a live optimizer handed to a constructor called `what`; NULL, with the error
 * on g if that is a graph, else. */
eddy_graph *eddy__inner_graph(eddy_graph *g, const char *what, const eddy_optimizer *inner);

/* A new optimizer around the one whose address the state begins with; without a `transform`
 * of its own it gets one that passes the gradients on, if the one inside looks at them. */
eddy_optimizer *eddy__outer_new(eddy_graph *g, const eddy_optimizer_def *def, const void *state,
                                const char *name);
/* As a definition's `transform`: passes the pairs on to the one optimizer inside. */
void eddy__inner_transform(eddy_optimizer *o, eddy_gradient_pair *pairs, int count);

/* As functions of a definition, of an optimizer around the one inner: pass the call on. */
void        eddy__inner_slots(eddy_optimizer *inner, eddy_tensor variable);
void        eddy__inner_prepare(eddy_optimizer *inner);
eddy_tensor eddy__inner_dense(eddy_optimizer *inner, eddy_tensor g, eddy_tensor variable);
/* Equal indices must have been summed, but for an outer one that says it sums them. */
eddy_tensor eddy__inner_sparse(const eddy_optimizer *outer, eddy_optimizer *inner, eddy_tensor values,
                               eddy_tensor indices, eddy_tensor variable);
/* The operation of the whole inner step. */
eddy_tensor eddy__inner_finish(eddy_optimizer *inner, eddy_list updates);

/* The nodes with ids above `from` up to `to`: those that one call made. */
typedef struct eddy_id_range {
    int32_t                     from, to;
    const struct eddy_id_range *before;  /* another one, with smaller ids; or NULL */
} eddy_id_range;

/* What the last update of `variable` that is among the nodes above `from` has made of it;
 * the variable itself if there is none. */
eddy_tensor eddy__latest(eddy_tensor variable, int32_t from);
/* The operation `step`, the nodes of which are those of these ranges, if `keep`, a bool scalar,
 * is true; if not, all variables that they update are, to the bit, what they were before the
 * run.  Nodes made since may have updated them further. */
eddy_tensor eddy__keep_if(eddy_optimizer *o, const eddy_id_range *ranges, eddy_tensor step,
                          eddy_tensor keep);
/* The same, whatever the rest of the step is, without the updates themselves; with no `keep`
 * (node 0) in any case.  Invalid where that cannot be: then some nodes may have been built
 * that nothing uses. */
eddy_tensor eddy__replay_if(eddy_graph *g, const eddy_id_range *ranges, eddy_tensor keep);

#endif
