/* run_events.h -- the events of a session: what ran when, on which thread. session/profile/trace.c
 * writes them. */
#ifndef EDDY_SESSION_STATE_TRACE_H
#define EDDY_SESSION_STATE_TRACE_H

#include "session/state/internal.h"

typedef enum trace_kind { TRACE_RUN, TRACE_WAIT, TRACE_NODE, TRACE_ITERATION } trace_kind;

typedef struct trace_event {
    int64_t            begin, end;      /* ticks */
    pthread_t          thread;
    const eddy_node   *node;            /* of a node or an iteration */
    const eddy_op_def *op;              /* of a node: what it is called */
    const char        *label;           /* ... instead; or NULL */
    int64_t            number;          /* of an iteration; of a node: bytes in use, or -1 */
    trace_kind         kind;
} trace_event;

typedef struct trace trace;

enum { MOST_EVENTS = 1 << 20 };

static inline bool eddy__traces(const eddy_session *s) { return s->options.trace; }
/* Records an event that ends now or ended at `end`; the thread is set. */
void eddy__trace_add(eddy_session *s, trace_event e);
/* eddy__trace_instruction is in internal.h; a part of a parallel instruction has the number -1. */
void eddy__trace_free(eddy_session *s);

#endif
