/* run_nodes.h -- nodes of bodies run one by one, with the shapes that their inputs turn out to
 * have.
 *
 * A plan knows all shapes before it runs. Where a loop variable changes its shape, or where an
 * iteration computes sizes, only the run tells them, so no plan can be made for all iterations; and
 * a plan for each shape would often run once. So the nodes of such a body run as those of eddy_eval
 * do: each infers its types, gets memory and runs its kernel. Values are freed after their last
 * reader. Results thus never depend on what a session has run before. */
#ifndef EDDY_SESSION_RUN_NODES_H
#define EDDY_SESSION_RUN_NODES_H

#include "graph/base/limited_memory.h"
#include "graph/body.h"
#include "session/stages/node_values.h"
#include "session/profile/node_times.h"

/* The data that the nodes of a run share. */
typedef struct node_run {
    eddy_session  *session;
    eddy_allocator allocator;       /* of values */
    eddy_limited_memory memory;          /* its context, unless it is the session's */
    eddy_plan      plan;            /* the kernels' allocator, arena and error */
    eddy_error    *error;
    node_place     place;           /* of the nodes that run */
} node_run;

/* For a run whose values do not outlive it, which keeps the session's limit; or for others. */
void eddy__node_run_begin(node_run *r, eddy_session *s, bool limited, eddy_stop stop,
                          eddy_error *error);
void eddy__node_run_end(node_run *r);
/* Out of memory for `what`: or over the limit. Returns false. */
bool eddy__node_run_full(const node_run *r, const char *what);

enum { NODE_TYPE = 1, NODE_VALUE = 2 };

/* The nodes of a body that its results need, and the values of a run of them. */
typedef struct node_list {
    const eddy_graph *body;
    bool              quiet;        /* nothing has side effects */
    bool              watched;      /* watches see its values; */
    int64_t           iteration;    /* in this iteration, or -1 */
    int32_t           outputs;
    int32_t          *first;        /* by id: the number of output 0 */
    uint8_t          *needs;        /* by id: NODE_TYPE, NODE_VALUE or 0 */
    uint8_t          *wanted;       /* by output: the same */
    uint8_t         **takes;        /* by id of a Loop or Case: by input, whether it is needed */
    int32_t          *leader;       /* by id: the first node that does the same (eddy__may_share) */
    bool             *rows;         /* by output: the static graph says that it may be rows */
    int32_t          *uses, *left;  /* by output: readers, and those to come */
    node_value       *values;       /* by output */
    int               n_roots;
    eddy_tensor      *roots;
} node_list;

/* The nodes that n roots need, which are values, except the last n_effects. Memory is from the
 * arena. False with the error set. */
bool eddy__nodes_begin(node_list *l, const node_run *r, eddy_arena *arena, const eddy_graph *body,
                       bool quiet, int n, const eddy_tensor *roots);
static inline node_value *eddy__nodes_value(const node_list *l, eddy_tensor t)
{
    return &l->values[l->first[t.node] + t.output];
}
/* Runs the nodes. The caller has set the values of the arguments that are needed, retained. Then
 * the values of the roots are set, until eddy__nodes_clear. */
bool eddy__nodes_run(node_list *l, node_run *r, uint64_t step);
void eddy__nodes_clear(node_list *l, const eddy_stop *stop);

#endif
