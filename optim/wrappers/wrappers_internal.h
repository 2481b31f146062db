/* wrappers_internal.h -- declarations shared by the wrappers of optimizers; not installed. */
#ifndef EDDY_OPTIM_WRAPPERS_WRAPPERS_INTERNAL_H
#define EDDY_OPTIM_WRAPPERS_WRAPPERS_INTERNAL_H

#include "optim/internal.h"
#include "optim/wrappers/wrappers.h"

/* The graph of a live optimizer that is an argument of the constructor `what`; otherwise NULL,
 * with the error on g if that is a graph. */
eddy_graph *eddy__inner_graph(eddy_graph *g, const char *what, const eddy_optimizer *inner);

/* A new optimizer around the inner one, whose address is at the beginning of the state. Where
 * `def` has no `create_slots`, `prepare`, `apply_dense` or `finish`, the call is passed on to the inner
 * one; so is `transform`, if the inner optimizer has one, and `apply_sparse`, where `apply_dense` is. */
eddy_optimizer *eddy__outer_new(eddy_graph *g, const eddy_optimizer_def *def, const void *state,
                                const char *name);
/* A `transform` for definitions: passes the pairs on to the only inner optimizer. */
void eddy__inner_transform(eddy_optimizer *o, eddy_gradient_pair *pairs, int count);

/* Whether the optimizer is, or has inside, one with a function of the program (transformed.c), and calls of
 * all these functions with copies of the pairs, whatever they return. */
bool eddy__has_function(const eddy_optimizer *o);
void eddy__call_functions(const eddy_optimizer *o, const eddy_gradient_pair *pairs, int count);

/* Functions for definitions of wrappers around one inner optimizer: they pass the call on. */
void        eddy__inner_slots(eddy_optimizer *inner, eddy_tensor variable);
void        eddy__inner_prepare(eddy_optimizer *inner);
eddy_tensor eddy__inner_dense(eddy_optimizer *inner, eddy_tensor g, eddy_tensor variable);
/* Equal indices must have been summed, except for an outer optimizer that sums them itself. */
eddy_tensor eddy__inner_sparse(const eddy_optimizer *outer, eddy_optimizer *inner, eddy_tensor values,
                               eddy_tensor indices, eddy_tensor variable);
/* The operation of the whole inner step. */
eddy_tensor eddy__inner_finish(eddy_optimizer *inner, eddy_list updates);

/* The nodes that one call built: those with ids above `from` up to `to`. */
typedef struct eddy_id_range {
    int32_t                     from, to;
    const struct eddy_id_range *before;  /* another one, with smaller ids; or NULL */
} eddy_id_range;

/* The value that the last update of `variable` by nodes above `from` has set; the variable
 * itself if there is none. */
eddy_tensor eddy__latest(eddy_tensor variable, int32_t from);
/* The operation `step`, which consists of the nodes in these ranges, if `keep`, a bool scalar,
 * is true. Otherwise all variables that they update get exactly the values from before the run.
 * Later nodes may have updated them further. */
eddy_tensor eddy__keep_if(eddy_optimizer *o, const eddy_id_range *ranges, eddy_tensor step,
                          eddy_tensor keep);
/* The same without executing the updates themselves, for a step whose other nodes have no
 * effect; without `keep` (node 0) the updates are always kept. Invalid if that is impossible:
 * then some unused nodes may have been built. */
eddy_tensor eddy__replay_if(eddy_graph *g, const eddy_id_range *ranges, eddy_tensor keep);

#endif
