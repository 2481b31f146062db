/* lbfgs.h -- L-BFGS, limited-memory BFGS, an optimizer that runs a graph repeatedly from C. */
#ifndef EDDY_OPTIM_MINIMIZERS_LBFGS_H
#define EDDY_OPTIM_MINIMIZERS_LBFGS_H

#include "../optim.h"
#include "../../session/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The reason why a minimization ended. */
typedef enum eddy_lbfgs_end {
    EDDY_LBFGS_FAILED = 0,        /* an error; see status and message */
    EDDY_LBFGS_GRADIENT,          /* no element of the gradient is above gradient_tolerance */
    EDDY_LBFGS_LOSS,              /* an iteration decreased the loss by too little */
    EDDY_LBFGS_ITERATIONS,        /* max_iterations are reached */
    EDDY_LBFGS_EVALUATIONS,       /* max_evaluations are reached */
    EDDY_LBFGS_LINE_SEARCH,       /* no lower point along the gradient: rounding, or a kink */
    EDDY_LBFGS_CALLBACK           /* the callback returned false */
} eddy_lbfgs_end;

typedef struct eddy_lbfgs_report {
    eddy_lbfgs_end end;
    int            iterations, evaluations;
    double         loss;          /* at the final values of the variables, */
    double         gradient;      /* ... and the largest element of its gradient */
    char           message[1012];  /* why it ended, as text */
} eddy_lbfgs_report;

typedef struct eddy_minimize_lbfgs_args {
    size_t        size_ EDDY_DEFAULT(sizeof(eddy_minimize_lbfgs_args));
    eddy_session *session;        /* its variables are changed; they must be initialized */
    eddy_tensor   loss;           /* a floating scalar */
    eddy_list     var_list;       /* float32 or float64; default: the trainable variables */
    eddy_feeds    feeds;          /* of every evaluation */
    eddy_list     gradients;      /* of the loss with respect to var_list, all valid; default:
                                   * each call builds them */
    int           history EDDY_DEFAULT(10); /* number of stored pairs of changes */
    int           max_iterations EDDY_DEFAULT(1000);
    /* of loss and gradient; one more may be needed to go back to the lowest point */
    int           max_evaluations EDDY_DEFAULT(15000);
    double        gradient_tolerance EDDY_DEFAULT(1e-5);
    double        loss_tolerance EDDY_DEFAULT(2.2e-9);  /* relative to max(1, |loss|) */
    /* After each iteration; false ends it.  It may run the session. */
    bool        (*callback)(void *data, int iteration, double loss);
    void         *data;
    eddy_lbfgs_report *report;    /* filled in, also on errors; may be NULL */
} eddy_minimize_lbfgs_args;

/* Minimizes the loss from the current values of the variables, to a local minimum: for smooth
 * losses on the same data at each evaluation, where it takes far fewer evaluations than an
 * optimizer takes steps.
 *
 *   d = -H g,  x <- x + a d
 *
 * with H from the last `history` changes of x and of the gradient g (Nocedal 1980; Liu and
 * Nocedal 1989), and a by a line search that satisfies the strong Wolfe conditions with 1e-4 and
 * 0.9 (Nocedal and Wright 2006, section 3.5). The vectors are float64 for all types of
 * variables; they take 8 (2 history + 5) bytes per element, and last only for this call: another
 * call begins without the earlier changes, so a minimization in two parts is not one in one part.
 *
 *   eddy_lbfgs_report r;
 *   eddy_minimize_lbfgs(session, loss, .feeds = EDDY_FEED({ x, points }), .report = &r);
 *
 * The variables are left at the point with the lowest loss; on errors, at the result of the last
 * iteration, as far as they can be set. Other variables are unchanged; a training operation of
 * the graph is not run. Losses whose gradient is above 1e150 are not supported: products of it
 * overflow. Returns EDDY_OK for every end without an error. Errors: EDDY_INVALID_ARGUMENT for no
 * session, tensors of other graphs, no variables, no gradient, numbers out of range;
 * EDDY_BAD_SHAPE if the loss is not a scalar; EDDY_BAD_DTYPE; EDDY_NO_MEMORY; errors of evaluating
 * the loss (EDDY_NOT_FED, EDDY_UNINITIALIZED, ...); and EDDY_INVALID_ARGUMENT if the loss or its
 * gradient is not finite at the start. */
EDDY_API eddy_status eddy_minimize_lbfgs_with(const eddy_minimize_lbfgs_args *given);
#define eddy_minimize_lbfgs(...) \
    eddy_minimize_lbfgs_with(EDDY_ARGS(eddy_minimize_lbfgs_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
