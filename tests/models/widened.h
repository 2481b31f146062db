/* widened.h -- a graph in float64, to tell how large the rounding errors of float32 are. */
#ifndef EDDY_TESTS_MODELS_WIDENED_H
#define EDDY_TESTS_MODELS_WIDENED_H

#include <eddy/formats.h>
#include <eddy/graph/op.h>

/* A new graph with the nodes of g, float64 in place of float32; copies[id] is output 0 of the copy
 * of node id. If `rounded`, the result of each operation is rounded to float32: no evaluation in
 * float32 that rounds as often has smaller errors. Loops and branches are not copied: the program
 * ends. */
eddy_graph *widened(eddy_graph *g, bool rounded, eddy_tensor *copies);

/* The elements as float64, in a new array. */
eddy_array *widened_array(const eddy_array *a);

#endif
