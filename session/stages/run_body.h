/* run_body.h -- Loop and Case nodes whose bodies run node by node. */
#ifndef EDDY_SESSION_RUN_BODY_H
#define EDDY_SESSION_RUN_BODY_H

#include "session/stages/run_nodes.h"

/* Which inputs (takes) the node needs if the marked outputs are wanted; takes has been cleared. A
 * mark is nonzero. False if out of memory, with the error set. */
bool eddy__body_inputs(const node_run *r, eddy_arena *arena, const eddy_node *node, bool quiet,
                       const uint8_t *wanted, uint8_t *takes);

/* A node of several that do the same and run as one. */
typedef struct body_call {
    const eddy_node *node;
    const uint8_t   *wanted;    /* by output */
    node_value      *out;       /* by output; those that are not wanted stay as they are */
} body_call;

/* Runs the nodes on these inputs, of which those that they need are set. Wanted stacks are rows.
 * False with the error set, which names the node and the iteration. */
bool eddy__run_body(node_run *r, int n, const body_call *calls, const node_value *in, bool quiet,
                    uint64_t step);

#endif
