/* stage_walk.h -- the analysis of a graph for a run in stages. */
#ifndef EDDY_SESSION_STAGE_WALK_H
#define EDDY_SESSION_STAGE_WALK_H

#include "session/stages/run_nodes.h"

/* By node id up to `last`: whether the node is needed; its level, the number of dynamic nodes
 * in sequence before it; a node with a side effect on which it depends. */
typedef struct stage_walk {
    eddy_graph *graph;
    int32_t     last;       /* of its nodes */
    int32_t     levels, outputs;    /* that dynamic nodes have; of all nodes */
    eddy_feeds  feeds;
    eddy_list   sizes;
    uint8_t    *needed, *fed, *given, *crosses, *size;
    uint8_t    *uncompiled;      /* the node runs outside of plans */
    uint8_t    *read;       /* as `crosses`, of such nodes: READ_ROWS, READ_ARRAY */
    bool       *rows;       /* as `crosses`, of such nodes: a stack */
    uint8_t   **takes;      /* of such nodes, by input */
    node_run    scratch;
    int32_t    *first,
        *stage; /* by node id: index of its output 0 in `crosses`; stage, from 1, or 0 */
    int32_t    *level, *effect;     /* effect: a node's id, or 0 */
} stage_walk;

enum { READ_ROWS = 1, READ_ARRAY = 2 };

/* Sets the lists, for a run whose graph, feeds and sizes are set. False with the error set. */
bool eddy__walk_graph(stage_walk *w, eddy_arena *scratch, eddy_list fetches, eddy_error *error);

/* True if the length of the outputs may depend on data. The static shapes of the outputs do not
 * matter: they may have been narrowed, or be open for another reason. */
bool eddy__may_be_dynamic(const eddy_node *node);
/* True if what follows the node can be compiled only after it has run. */
bool eddy__walk_is_dynamic(const stage_walk *w, int32_t id);
bool eddy__walk_is_fed(const stage_walk *w, eddy_tensor t);

static inline bool eddy__walk_has_body(const eddy_node *node)
{
    return node->op->flags & EDDY_OP_BODY;
}
/* Records that memory is out; returns false. */
bool eddy__stages_full(eddy_error *error);
/* n items of zeros; NULL if out of memory. */
void *eddy__stages_zeroed(eddy_arena *a, int64_t n, size_t size);

#endif
