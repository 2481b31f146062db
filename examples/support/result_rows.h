/* result_rows.h -- a line for each small program of seeds.c:
 *
 *   <row> <what> got=<values> want=<values> ok
 *
 * `wrong` counts those that are not ok. */
#ifndef EDDY_EXAMPLES_RESULT_ROWS_H
#define EDDY_EXAMPLES_RESULT_ROWS_H

#include <eddy/eddy.h>

#include <math.h>

#define NONE NAN                     /* a gradient that is not there */
#define WANT(...) ((const double[]){ __VA_ARGS__ })
enum { MOST = 16 };

extern int wrong;

void row(const char *id, const char *what, int n, const double *got, const double *want);
void row_near(const char *id, const char *what, int n, const double *got, const double *want,
              double tolerance);
void row_text(const char *id, const char *what, const char *got, const char *want);
/* Prints the error of a graph, once. */
void complain(const char *message);

/* A session with its variables initialized; both freed. */
eddy_session *begin(eddy_graph *g);
void          end(eddy_session *s, eddy_graph *g);
void          step(eddy_session *s, eddy_tensor train);
/* All elements of all tensors, one after the other; how many. */
int           values(eddy_session *s, eddy_list tensors, double *out);
/* A row with the values of these tensors; frees the graph. */
void          row_of(const char *id, const char *what, eddy_graph *g, eddy_list tensors,
                     const double *want);

/* The rows of tapes (T, tapes.c) and of gradient functions (F, functions.c). */
void tape_rows(void);
void function_rows(void);

#endif
