/* loop_spec.h -- the arguments shared by the calls of control.h that build a loop. */
#ifndef EDDY_CONTROL_LOOP_SPEC_H
#define EDDY_CONTROL_LOOP_SPEC_H

#include "control/control.h"

typedef struct loop_spec {
    const char          *what, *scope;
    const eddy_function *cond, *body;
    eddy_list            carried, rows;
    const eddy_shape    *invariants;
    int64_t              trips;
    bool                 reverse, no_back_prop;
    int                  n_stacked;     /* results after the carried ones; -1: any number */
    bool                 stack_carried; /* the carried results are stacked too */
    bool                 only_stacks;   /* the results are the stacks alone */
    eddy_recompute       recompute;
    int64_t              segment;
    /* Loops that are built from others. */
    eddy_tensor          count;         /* int64 scalar: maximum iterations; or invalid */
    int64_t              length;        /* of the rows, where their shapes may not show it; or 0 */
    bool                 segmented;     /* see graph/body.h */
    eddy_tensor         *ran;           /* gets the number of iterations; or NULL */
} loop_spec;

/* One node Loop, without segments. Returns the number of results, which it stores in `out`: those
 * that are carried and those that are stacked; 0 with the error set. */
int eddy__loop_build(eddy_graph *g, const loop_spec *s, eddy_tensor *out);

/* The same as loops of loops, if the options ask for it (segments.c). */
int eddy__segments_build(eddy_graph *g, const loop_spec *s, eddy_tensor *out);

#endif
