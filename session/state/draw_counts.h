/* draw_counts.h -- how many runs of a session have executed each operation that draws.
 *
 * An operation draws if it may give another value in each run: random numbers, host scalars,
 * prints. Its kernel gets the number of earlier runs that executed it, so that a run of something
 * else changes nothing. All instructions of a run with the same source of draws get the same
 * number. A source is such a node of the session's graph; or all Loop and Case nodes that have a
 * body in common, at any depth: a loop, and the loops of its gradient, which run it again. Bodies
 * are known by their seed, from which their random numbers follow. */
#ifndef EDDY_SESSION_STATE_DRAW_COUNTS_H
#define EDDY_SESSION_STATE_DRAW_COUNTS_H

#include <pthread.h>
#include "graph/base/text.h"
#include "graph/internal.h"

/* A node of the graph that draws, or that has a body. */
typedef struct draw_node {
    int32_t  node, source;      /* source: the number of the first entry with the same source */
    uint64_t count;             /* of that entry: runs that have executed the source */
} draw_node;

typedef struct draw_body {
    int64_t seed;
    int32_t source;
} draw_body;

typedef struct draw_table {
    pthread_mutex_t lock;       /* protects the rest; no other lock is taken under it */
    draw_node      *nodes;      /* by node id */
    draw_body      *bodies;     /* by seed */
    int32_t         n, capacity, n_bodies, bodies_capacity;
    int32_t         seen;       /* nodes of the graph that were examined */
    /* Sessions that share the runs of one training: the n-th run of this one counts as run
     * first + n * stride. */
    uint64_t        first, stride;
} draw_table;

/* A source in a plan, and the number of earlier runs that the current run uses. */
typedef struct plan_draw {
    struct plan_draw *next;
    int32_t           source;
    uint64_t          count;
} plan_draw;

/* In a list of counts by source: the run has not executed it yet. */
#define EDDY_NOT_DRAWN UINT64_MAX

struct eddy_session;
struct eddy_plan;

/* True if kernels of the operation use the number of earlier runs. */
static inline bool eddy__op_draws(const eddy_op_def *op)
{
    const unsigned others = EDDY_OP_VARIABLE | EDDY_OP_REFERENCE | EDDY_OP_ALIAS;
    return (op->flags & EDDY_OP_STATEFUL) && !(op->flags & others);
}

/* Examines nodes that were appended since the last call, with the session's lock held; false if out
 * of memory. */
bool eddy__draws_update(struct eddy_session *s, eddy_error *error);
/* The number of the node's source; -1 if it has none. */
int32_t eddy__draws_source(struct eddy_session *s, int32_t node);
/* Counts a run that executes the source, and returns the number of earlier ones. taken: the numbers
 * that the same run has taken before, by source, or NULL. */
uint64_t eddy__draws_take(struct eddy_session *s, int32_t source, uint64_t *taken);
/* The same for a node that is run by itself; 0 if it has no source. */
uint64_t eddy__draws_of(struct eddy_session *s, int32_t node, uint64_t *taken);
/* The same for all sources of a plan, at once. */
void eddy__draws_begin(struct eddy_plan *p, uint64_t *taken);
void eddy__draws_free(struct eddy_session *s);

/* Counts as text in a checkpoint, `dropout=12 rnn/while=3`: the names of nodes, which contain
 * neither blanks nor equals signs, in the order of the graph; sources that no run has executed are
 * left out. parse ignores nodes that the graph does not have, and changes only counts[0..n), which
 * are those of the table's entries; set takes them over. */
void eddy__draws_print(struct eddy_session *s, eddy_text *t);
bool eddy__draws_parse(struct eddy_session *s, const char *path, const char *text,
                       uint64_t *counts, eddy_error *error);
void eddy__draws_set(struct eddy_session *s, const uint64_t *counts);

/* Lists for `taken`: makes it longer, for all sources known now; false if out of memory. */
bool eddy__draws_room(struct eddy_session *s, uint64_t **taken, int32_t *n, eddy_error *error);

#endif
