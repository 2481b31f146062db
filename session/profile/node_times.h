/* node_times.h -- the time of nodes that run one by one (session/stages/run_nodes.h), for profiles. */
#ifndef EDDY_SESSION_PROFILE_NODE_TIMES_H
#define EDDY_SESSION_PROFILE_NODE_TIMES_H

#include "session/state/cpu_clock.h"
#include "session/state/internal.h"

/* Where a node runs: in the body of a Loop or Case, or NULL; and in which part of it, which is a
 * branch if it is not negative. */
enum { PART_BODY = -1, PART_CONDITION = -2 };
typedef struct node_place {
    const eddy_node *in;
    int32_t          part;
} node_place;

/* The time of a node so far; of a Loop, also its iterations. */
typedef struct node_time {
    const eddy_node *node;
    node_place       place;
    int64_t          ticks, calls, iterations;
} node_time;

/* Open addressing by node. */
typedef struct node_times node_times;

/* Whether the session counts. */
static inline bool eddy__times_nodes(const eddy_session *s) { return s->options.profile; }
/* Adds a call of the node, of a session that counts. */
void eddy__node_times_add(eddy_session *s, const eddy_node *node, node_place place, int64_t ticks,
                          int64_t iterations);
void eddy__node_times_free(eddy_session *s);

#endif
