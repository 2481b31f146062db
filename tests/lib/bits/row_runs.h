/* row_runs.h -- a row of the sweep and its first gradients, of one element type, and hashes of what
 * is computed. */
#ifndef EDDY_TESTS_LIB_ROW_RUNS_H
#define EDDY_TESTS_LIB_ROW_RUNS_H

#include "graph/op.h"
#include "tests/lib/bits/same_bits.h"
#include "tests/lib/sweep_rows.h"

enum { ROW_NODES = 4096 };

typedef struct row_run {
    const sweep_row *row;
    eddy_dtype       dtype;
    bool             large;
    char             title[120];
    trial            t;              /* its feeds are the inputs */
    fetches          results;        /* the outputs and the gradients */
} row_run;

/* A row with inputs drawn by its seed. `large`: the sizes that the row leaves open are such that
 * vectors have several parts and a rest. False if the row does not take the type or has no such
 * sizes; row_run_end frees it in any case. */
bool row_run_begin(row_run *r, int row, eddy_dtype d, bool large);
void row_run_end(row_run *r);

/* The hashes of a node's operation with the values of its inputs, and of those of its outputs. A node
 * whose inputs have the same values must have the same outputs, whatever computed the inputs. */
typedef struct node_bits {
    const eddy_node *node;
    uint32_t         in, out;
} node_bits;

/* Of the nodes that have values, in a run without passes; how many. -1 if a run of large sizes fails,
 * which may make a matrix singular. */
int      row_run_nodes(const row_run *r, node_bits out[ROW_NODES]);
/* The hash of all results in a run with all passes. */
uint32_t row_run_results(const row_run *r);

#endif
