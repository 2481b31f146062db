/* dynamic_shapes.h -- runs split into stages because shapes depend on data; see dynamic_shapes.c. */
#ifndef EDDY_DYNAMIC_SHAPES_H
#define EDDY_DYNAMIC_SHAPES_H

#include "session/state/internal.h"

/* Of runs with these feeds and fetches: stage i computes cut[end[i - 1]] to cut[end[i]],
 * fed with what the stages before it computed. */
typedef struct stages {
    struct stages *next;
    bool           kept;            /* by the session: not to be freed after the run */
    eddy_arena     arena;           /* of everything below */
    int            n_feeds, n_fetches;
    eddy_tensor   *feeds, *fetches;
    int            n, n_cut;
    eddy_tensor   *cut;
    int           *end;
} stages;

/* The stages of a run whose arguments are checked; *found is NULL if nothing in the
 * graph is dynamic. */
bool eddy__stages_of(eddy_session *s, eddy_feeds feeds, eddy_list fetches, stages **found,
                     eddy_error *error);
void eddy__stages_free(eddy_session *s, stages *t);

#endif
