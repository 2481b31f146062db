/* rows_ops.h -- the operations other than loops that read the rows of a stack, which may differ in
 * shape. */
#ifndef EDDY_SESSION_ROWS_OPS_H
#define EDDY_SESSION_ROWS_OPS_H

#include "session/stages/run_nodes.h"

/* The gradient of a loop over rows, or with a limit, contains these on stacks: sums of gradients of
 * a stack, zeros, the number of its rows, and products of all rows, for which they are one
 * matrix. */
bool eddy__reads_rows(const eddy_node *node);
/* Whether its result has rows, where the first input has, or some other one. */
bool eddy__yields_rows(const eddy_node *node, const bool in[2]);

/* Runs such a node of g on inputs of which at least one has rows. */
bool eddy__run_rows(node_run *r, const eddy_graph *g, const eddy_node *node, const node_value *in,
                    node_value *out, uint64_t step);

/* Row i of a stack, retained; false with the error set. */
bool eddy__stack_row(node_run *r, const node_value *v, int64_t i, const char *name,
                     node_value *out);

#endif
