/* exact_graph.h -- a graph evaluated in numbers of some thousand bits.
 *
 * Elementwise operations are computed by exact.h. The matrix of a linear operation, the order of a
 * selecting one (maxima, sorting) and the groups of elements that a norm or a softmax takes
 * together are found by running the operation alone on unit vectors, ranks and ones, so that their
 * axes and windows need not be known here. What is no floating-point number (conditions, indices)
 * and what does not depend on the inputs has the values of a run in Eddy: the branch of a
 * condition is that of the point, also beside it. */
#ifndef EDDY_TESTS_HUNT_EXACT_GRAPH_H
#define EDDY_TESTS_HUNT_EXACT_GRAPH_H

#include "tests/hunt/exact.h"
#include "eddy.h"

typedef struct exact_graph exact_graph;

/* Of the outputs as functions of the placeholders `in`; NULL with the name of an operation that is
 * not known in *missing. */
exact_graph *exact_graph_new(eddy_graph *g, eddy_list in, eddy_list out, const char **missing);
/* How many operations it evaluates. */
int          exact_graph_operations(const exact_graph *e);
void         exact_graph_free(exact_graph *e);
/* Whether output k depends on the inputs. */
bool         exact_graph_depends(const exact_graph *e, int k);
/* Runs the graph in Eddy at a point, one array an input; false if that fails. */
bool         exact_graph_at(exact_graph *e, eddy_array *const *point);
/* Evaluates it at other numbers, those of input i at x[i]. */
void         exact_graph_run(exact_graph *e, const num *const *x);
/* Elements of output k of the last evaluation. */
const num   *exact_graph_output(const exact_graph *e, int k, int64_t *count);

#endif
