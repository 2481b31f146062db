/* watches.h -- the watches of a session (session/watch.h). */
#ifndef EDDY_SESSION_STATE_WATCHES_H
#define EDDY_SESSION_STATE_WATCHES_H

#include "session/state/internal.h"
#include "session/watch.h"

typedef struct watch {
    struct watch *next;
    int           number;
    eddy_tensor   tensor;
    bool        (*condition)(void *user, const eddy_watched *seen);
    void        (*callback)(void *user, const eddy_watched *seen);
    void         *user;
    char         *folder;       /* of a dump; NULL: none */
    int64_t       every;
    atomic_llong  runs;         /* that have computed the tensor */
} watch;

/* The operation of the node that calls a watch, which is its attributes: from the tensor to
 * nothing. Only the compiler builds it. */
extern const eddy_op_def eddy_op_watch;

void eddy__watches_free(eddy_session *s);

#endif
