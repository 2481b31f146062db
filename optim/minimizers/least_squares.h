/* least_squares.h -- nonlinear least squares, by a method that runs a graph repeatedly from C. */
#ifndef EDDY_OPTIM_MINIMIZERS_LEAST_SQUARES_H
#define EDDY_OPTIM_MINIMIZERS_LEAST_SQUARES_H

#include "../optim.h"
#include "../../session/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the step of an iteration is computed. */
typedef enum eddy_least_squares_method {
    EDDY_LEAST_SQUARES_AUTO = 0,  /* QR up to 300 elements of the variables */
    EDDY_LEAST_SQUARES_QR,        /* from the Jacobian, by its QR decomposition: accurate */
    /* by conjugate gradients, from products with the Jacobian, which is never formed: for many
     * variables */
    EDDY_LEAST_SQUARES_CG
} eddy_least_squares_method;

/* The reason why a fit ended. */
typedef enum eddy_least_squares_end {
    EDDY_LEAST_SQUARES_FAILED = 0,      /* an error; see status and message */
    EDDY_LEAST_SQUARES_GRADIENT,        /* no element of the gradient is above gradient_tolerance */
    EDDY_LEAST_SQUARES_LOSS,            /* an iteration decreased the loss by too little */
    EDDY_LEAST_SQUARES_STEP,            /* the step was too short */
    EDDY_LEAST_SQUARES_ITERATIONS,      /* max_iterations are reached */
    EDDY_LEAST_SQUARES_EVALUATIONS,     /* max_evaluations are reached */
    EDDY_LEAST_SQUARES_CALLBACK         /* the callback returned false */
} eddy_least_squares_end;

typedef struct eddy_least_squares_report {
    eddy_least_squares_end end;
    int     iterations;           /* steps that decreased the loss */
    int     evaluations;          /* of the residuals */
    int64_t residuals, parameters;
    double  loss;                 /* half the sum of squares, at the final values, */
    double  gradient;             /* ... and the largest element of its gradient */
    char    message[1012];        /* why it ended, as text */
} eddy_least_squares_report;

typedef struct eddy_least_squares_args {
    size_t        size_ EDDY_DEFAULT(sizeof(eddy_least_squares_args));
    eddy_session *session;        /* its variables are changed; they must be initialized */
    eddy_list     residuals;      /* float32 or float64, of any shapes */
    eddy_list     var_list;       /* float32 or float64, of known shapes; default: the trainable
                                   * variables */
    eddy_feeds    feeds;          /* of every evaluation */
    eddy_least_squares_method method;
    double        damping EDDY_DEFAULT(1e-3);   /* of the first step, relative to the Jacobian */
    int           max_iterations EDDY_DEFAULT(200);
    int           max_evaluations EDDY_DEFAULT(1000);
    double        gradient_tolerance EDDY_DEFAULT(1e-8);
    double        loss_tolerance EDDY_DEFAULT(1e-8);    /* relative to the loss */
    double        step_tolerance EDDY_DEFAULT(1e-8);    /* relative to the variables */
    /* After each iteration; false ends it.  It may run the session. */
    bool        (*callback)(void *data, int iteration, double loss);
    void         *data;
    /* QR: float64 [n,n], the covariance of the variables' n elements in the order of var_list,
     * s^2 (J'J)^-1 with s^2 = 2 loss / (m - n) of m residuals; infinite or NaN if the Jacobian J
     * has dependent columns or m is not above n. The caller frees it. */
    eddy_array  **covariance;
    eddy_least_squares_report *report;  /* filled in, also on errors; may be NULL */
} eddy_least_squares_args;

/* Minimizes half the sum of squares of all residuals, from the current values of the variables, to
 * a local minimum.
 *
 *   eddy_least_squares_report r;
 *   eddy_least_squares(session, EDDY_LIST(eddy_sub(model, y)), .feeds = EDDY_FEED({ x, times },
 *                      { y, measured }), .report = &r);
 *
 * Levenberg-Marquardt: a step p solves (J'J + c D^2) p = -J'r, with J the Jacobian of the residuals
 * r; D are the largest norms so far of J's columns (More 1978), and c grows or falls with the
 * quotient of the decrease of the loss and the one that the linear model predicted (Nielsen 1999).
 * QR follows the curve on which the residuals change evenly instead of its tangent, p - b/2 with
 * (J'J + c D^2) b = J'r", where r" is the second derivative of r along p: geodesic acceleration
 * (Transtrum and Sethna 2012), which makes long valleys shorter. CG has D = 1 and solves only as
 * precisely as the step deserves (a truncated Gauss-Newton method). All of this is float64 for all
 * types of variables. The graph gets the nodes of the derivatives in each call. QR takes 8 bytes
 * for each pair of a residual and an element of the variables.
 *
 * The variables are left at the point with the lowest loss; on errors, at the result of the last
 * iteration, as far as they can be set. Returns EDDY_OK for every end without an error. Errors:
 * EDDY_INVALID_ARGUMENT for no session, no residuals, tensors of other graphs, no variables,
 * numbers out of range, a covariance with CG, or residuals that are not finite at the start;
 * EDDY_BAD_SHAPE for a variable of unknown shape; EDDY_BAD_DTYPE; EDDY_NO_MEMORY; EDDY_NO_GRADIENT;
 * errors of evaluating the residuals (EDDY_NOT_FED, EDDY_UNINITIALIZED, ...).
 * scipy.optimize.least_squares with method="lm". */
EDDY_API eddy_status eddy_least_squares_with(const eddy_least_squares_args *given);
#define eddy_least_squares(...) \
    eddy_least_squares_with(EDDY_ARGS(eddy_least_squares_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
