/* averages_internal.h -- declarations shared by the kinds of averages; not installed. */
#ifndef EDDY_OPTIM_WRAPPERS_AVERAGES_INTERNAL_H
#define EDDY_OPTIM_WRAPPERS_AVERAGES_INTERNAL_H

#include "optim/internal.h"
#include "optim/wrappers/averages.h"

typedef struct eddy_shadow {
    eddy_tensor of, shadow;
} eddy_shadow;

/* How one kind of averages is computed. */
typedef struct eddy_averages_kind {
    const char *name;             /* the default one */
    /* Called before the updates of one call: builds the nodes that they share. */
    void        (*prepare)(eddy_averages *a);
    /* The operation that updates s.shadow with `value`, the current value of s.of. */
    eddy_tensor (*update)(eddy_averages *a, eddy_shadow s, eddy_tensor value);
    /* Called after the updates: returns the operation that runs all of them; optional. */
    eddy_tensor (*finish)(eddy_averages *a, eddy_list updates);
} eddy_averages_kind;

/* The objects are live under EDDY_LIVE_OPTIMIZER, because no function accepts both kinds of
 * handles. */
struct eddy_averages {
    eddy_allocator            allocator;
    eddy_graph               *graph;
    const eddy_averages_kind *kind;
    const char               *name;
    eddy_shadow              *shadows;
    int                       count, capacity;
    /* of exponential averages; `decay` is that of the current call after prepare */
    eddy_tensor               decay_given, num_updates, decay;
    bool                      zero_debias;
    /* of stochastic averages; variables, and the tensors that prepare built from them */
    int64_t                   start, every;
    eddy_tensor               runs, taken, counts, first, next;
};

/* A new object, zero except for the first members; NULL with the error set. */
eddy_averages *eddy__averages_new(eddy_graph *g, const eddy_averages_kind *kind, const char *name);

#endif
