/* restoring.h -- the state of a call that restores. */
#ifndef EDDY_SESSION_CHECKPOINTS_RESTORING_H
#define EDDY_SESSION_CHECKPOINTS_RESTORING_H

#include "session/checkpoints/internal.h"

typedef struct restoring {
    const eddy_restore_checkpoint_args *args;
    eddy_session       *session;
    eddy_checkpoint    *opened;          /* by this call */
    const eddy_checkpoint *file;         /* that, or the one that was given */
    checkpoint_targets  targets;
    eddy_arena          texts;
    bool               *used;            /* by item of the file */
    bool               *missing;         /* by variable */
    uint64_t           *draws;           /* counts by source; NULL: they stay */
    int                 n_missing;
    int                 problems;        /* of variables */
    eddy_status         first;
    int                 shown;           /* of them in the list */
    char                list[800];
    size_t              length;
    eddy_error          error;           /* that ends the call */
} restoring;

/* Fills the report, whose texts are its own (restore_report.c). */
void eddy__restore_report_fill(restoring *r, eddy_restore_report *out);

#endif
