/* dynamic_shapes.h -- runs split into stages because shapes depend on data; see dynamic_shapes.c. */
#ifndef EDDY_DYNAMIC_SHAPES_H
#define EDDY_DYNAMIC_SHAPES_H

#include "session/state/internal.h"

/* The stages of runs with these feeds and fetches. Stage i computes cut[end[i - 1]] to
 * cut[end[i]] from the feeds and the results of earlier stages. */
typedef struct stages {
    struct stages *next;
    bool           kept;            /* the session keeps it; otherwise it is freed after the run */
    eddy_arena     arena;           /* owns the arrays below */
    int            n_feeds, n_fetches;
    eddy_tensor   *feeds, *fetches;
    int            n, n_cut;
    eddy_tensor   *cut;
    int           *end;
} stages;

/* Finds the stages of a run whose arguments have been checked; *found is NULL if no node of the
 * graph is dynamic. */
bool eddy__stages_of(eddy_session *s, eddy_feeds feeds, eddy_list fetches, stages **found,
                     eddy_error *error);
void eddy__stages_free(eddy_session *s, stages *t);

#endif
