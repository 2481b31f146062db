/* checks.h -- code shared by the tests of graphs, gradients and sessions: checks, and a small
 * network. */
#ifndef EDDY_TESTS_LIB_CHECKS_H
#define EDDY_TESTS_LIB_CHECKS_H

#include "../../eddy.h"
#include "graph/op.h"
#include "ops/short_names.h"

#include <check.h>
#include <string.h>

/* `fits`: the graph has no error. `fails`: it has this error, and its message contains this text;
 * the error is then cleared. */
void fits(const eddy_graph *g);
void fails(eddy_graph *g, eddy_status status, const char *says);
/* The same of a session's last failed call. */
void run_fails(const eddy_session *s, eddy_status status, const char *says);

/* Runs t, which must succeed. */
void runs(eddy_session *s, eddy_tensor t);
/* t has these n values; `number` is element 0. */
void   has(eddy_session *s, eddy_tensor t, int n, const double *want);
double number(eddy_session *s, eddy_tensor t);
/* The value of a tensor in a session made for it. */
void has_value(eddy_tensor t, int n, const double *want);
void is_number(eddy_tensor t, double want);

eddy_tensor vector(eddy_graph *g, int64_t n, const double *x);                 /* float64 */
eddy_tensor matrix(eddy_graph *g, int64_t rows, int64_t columns, const double *x);
eddy_tensor real(eddy_graph *g, double x);                                     /* float64 scalar */

/* Two layers, a mean squared error and a step of gradient descent. */
typedef struct network {
    eddy_tensor x, w1, b1, w2, b2, loss, train, init;
} network;
network network_build(eddy_graph *g);
/* Feeds of x: rows of fixed numbers. */
eddy_array *network_batch(int64_t rows);

#endif
