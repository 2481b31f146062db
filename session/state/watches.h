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

/* Calls the watch, or writes the dump, whose error is returned. */
eddy_status eddy__watch_call(watch *w, const eddy_array *value, int64_t iteration, eddy_error *e);
/* Whether the watched tensor is of this node; in a body, of the node from which it was copied. */
bool eddy__is_watched(const watch *w, const eddy_graph *g, const eddy_node *node);
/* Whether a watched tensor is in the body of a loop or branch. */
bool eddy__watches_bodies(const eddy_session *s);
void eddy__watches_free(eddy_session *s);

#endif
