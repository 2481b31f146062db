/* objective.h -- tensors of a graph as functions of its variables, whose elements form one vector
 * of float64; for minimizers that run a graph; not installed. */
#ifndef EDDY_OPTIM_MINIMIZERS_OBJECTIVE_H
#define EDDY_OPTIM_MINIMIZERS_OBJECTIVE_H

#include "optim/optim.h"
#include "session/state/internal.h"

/* Tensors that are computed together. */
typedef struct evaluation {
    int            n;
    eddy_tensor   *fetches;
    eddy_callable *call;
    eddy_array   **out;             /* by fetch, of the last evaluation */
} evaluation;

typedef struct objective {
    const char        *who;         /* begins each message */
    eddy_session      *session;
    eddy_graph        *graph;
    eddy_arena         arena;
    eddy_error         error;
    int                n_variables;
    eddy_tensor       *variables;
    eddy_array       **values;      /* by variable */
    int64_t            n;           /* elements of all variables */
    eddy_feeds         given;
    const eddy_array **feeds;
} objective;

bool eddy__objective_fail(objective *o, eddy_status s, const char *what);
/* n zeroed elements, at least one, which live as long as the objective; NULL with the error. */
void *eddy__objective_alloc(objective *o, int64_t n, size_t size);
/* A list that is left out has neither elements nor a count. */
bool eddy__objective_list(objective *o, const char *what, eddy_list given);
/* Whether t, which messages call `what`, is float32 or float64; false with the error. */
bool eddy__objective_takes(objective *o, const char *what, eddy_tensor t);

/* Checks the session, a floating tensor of the graph, which messages call `what`, and the
 * variables; without any, the trainable ones. o->who is set, everything else zero. */
bool eddy__objective_begin(objective *o, eddy_session *s, eddy_tensor t, const char *what,
                           eddy_list variables, eddy_feeds feeds);
/* An evaluation of n tensors, which must outlive it. `more`, one tensor for each variable or none,
 * is fed besides. */
bool eddy__objective_evaluation(objective *o, evaluation *e, int n, eddy_tensor *fetches,
                                eddy_list more);
/* Reads the values of the variables. An evaluation has shown that they are those of the session. */
bool eddy__objective_read(objective *o);
void eddy__objective_end(objective *o);
void eddy__evaluation_end(evaluation *e);

/* The elements of the variables as they were read. */
void eddy__objective_start(const objective *o, double *x);
/* Sets the variables to the elements of `x`, which becomes what their types hold of it. */
bool eddy__objective_set(objective *o, double *x);
/* Computes e->out, with the arrays for the tensors that are fed besides. */
bool eddy__objective_run(objective *o, evaluation *e, const eddy_array *const *more);
/* The elements of out[from] and the following, one array for each variable, as one vector. */
bool eddy__objective_gather(objective *o, const evaluation *e, int from, double *to);

/* ---------------------------------------------------------------- vectors -- */

double eddy__vector_dot(const double *a, const double *b, int64_t n);
/* The square root of the product with itself. */
double eddy__vector_norm(const double *a, int64_t n);
/* y += c x. */
void   eddy__vector_add(double *y, double c, const double *x, int64_t n);
/* The largest |a[i]|; NaN if there is one. */
double eddy__vector_largest(const double *a, int64_t n);

#endif
