/* layer_checks.h -- code shared by the tests of layers: inputs of fixed numbers, and checks that
 * apply to every layer: its gradients, its graph file, and training. */
#ifndef EDDY_TESTS_LIB_LAYER_CHECKS_H
#define EDDY_TESTS_LIB_LAYER_CHECKS_H

#include "../../eddy.h"
#include "ops/short_names.h"

#include <check.h>

/* A float64 array whose element k is ((7 k + a) % 11 - 5) / 8, and a tensor of it. */
eddy_array *layers_numbers(eddy_shape s, int a);
eddy_tensor layers_filled(eddy_graph *g, eddy_shape s, int a);

/* The graph has no error, and t this shape and name. */
void layers_fit(eddy_tensor t, eddy_shape s, const char *name);

/* The variable "name" of the graph, of this shape. */
eddy_tensor layers_variable(eddy_graph *g, const char *name, eddy_shape s);

/* t in a new session in which all variables are initialized. */
eddy_array *layers_value(eddy_tensor t, eddy_feeds feeds);

/* The elements of t are `want` to 1e-12. */
void layers_close(eddy_tensor t, eddy_feeds feeds, int n, const double *want);

/* The gradients of y by x and by all trainable variables, to the second order, are those of
 * differences, x being fed with an array; and the graph written and read again gives y the
 * same bits. */
void layers_check(eddy_tensor y, eddy_tensor x, eddy_array *fed);

/* Adam lowers the loss below `bound` in this number of steps; the updates run with each step. */
void layers_learn(eddy_tensor loss, eddy_feeds feeds, int steps, double rate, double bound);

#endif
