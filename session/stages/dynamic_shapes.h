/* dynamic_shapes.h -- runs split into stages because shapes depend on data. */
#ifndef EDDY_DYNAMIC_SHAPES_H
#define EDDY_DYNAMIC_SHAPES_H

#include "session/state/internal.h"

/* The use of a tensor that a stage computes. FED: fed to the plans of later stages. ASKED: read by
 * nodes of its stage that run outside of plans. RUN: an output of such nodes that plans read. ROWS:
 * one that only such nodes read, as rows. */
typedef enum cut_use { CUT_FED, CUT_ASKED, CUT_RUN, CUT_ROWS } cut_use;

/* Loop or Case nodes that run outside of plans, and as one if they do the same. */
typedef struct stage_run {
    int              first, n;      /* of stages.members */
} stage_run;

/* The stages of runs with these feeds and fetches. Stage i computes cut[end[i - 1]] to
 * cut[end[i]] from the feeds and the results of earlier stages: those before planned[i] by a plan,
 * the others by runs[run_end[i - 1]] to runs[run_end[i]], after it. */
typedef struct stages {
    struct stages *next;
    bool           kept;            /* the session keeps it; otherwise it is freed after the run */
    eddy_arena     arena;           /* owns the arrays below */
    int            n_feeds, n_fetches, n_sizes;
    eddy_tensor   *feeds, *fetches;
    eddy_tensor   *sizes;           /* tensors whose elements decide shapes */
    int            n, n_cut;
    eddy_tensor   *cut;
    uint8_t       *use;             /* by cut: a cut_use */
    int           *end, *planned, *run_end;
    int            n_members;
    int32_t       *members;         /* node ids */
    stage_run     *runs;
    bool           acts;            /* some of these runs have side effects */
} stages;

/* Finds the stages of a run whose arguments have been checked; *found is NULL or has no stages if
 * one plan suffices. */
bool eddy__stages_of(eddy_session *s, eddy_feeds feeds, eddy_list fetches, const eddy_stop *stop,
                     stages **found, eddy_error *error);
/* The stages of a run for which a plan could not be compiled without the elements of `size`: those
 * of *found, which may be NULL, and one that computes it. They replace *found. False if `size` is
 * already among the sizes, with the error as it is, or with another error. */
bool eddy__stages_add_size(eddy_session *s, eddy_feeds feeds, eddy_list fetches,
                           const eddy_stop *stop, stages **found, eddy_tensor size,
                           eddy_error *error);
/* Frees the stages of a run that has ended, if the session does not keep them. */
void eddy__stages_release(eddy_session *s, stages *t);
void eddy__stages_free(eddy_session *s, stages *t);

#endif
