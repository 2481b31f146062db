/* minimizers.h -- methods that minimize a function of a graph's variables and run the graph
 * repeatedly from C: L-BFGS, also with bounds, and Newton's method with conjugate gradients for any
 * smooth loss; Levenberg-Marquardt for sums of squares. Equations are solved inside the graph, by
 * control/solvers.h. */
#ifndef EDDY_OPTIM_MINIMIZERS_MINIMIZERS_H
#define EDDY_OPTIM_MINIMIZERS_MINIMIZERS_H

#include "../optim.h"
#include "../../session/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ L-BFGS -- */

/* The reason why a minimization ended. */
typedef enum eddy_lbfgs_end {
    EDDY_LBFGS_FAILED = 0,        /* an error; see status and message */
    EDDY_LBFGS_GRADIENT,          /* no element of the gradient, or with bounds of the projected
                                   * gradient, is above gradient_tolerance */
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
    double         gradient;      /* ... and the largest element of its (projected) gradient */
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
    /* One floating tensor for each variable, a scalar or one number for each element; an element
     * without a bound has -INFINITY or INFINITY. They are evaluated once, with `feeds`, and rounded
     * to the type of the variable. Default: no bounds. */
    eddy_list     lower, upper;
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
 *   eddy_minimize_lbfgs(session, loss, EDDY_LIST(w), .lower = EDDY_LIST(eddy_scalar(g, 0)));
 *
 * With bounds, variables outside are first moved to them, and d leads to the minimum of a
 * quadratic model: the first minimum along the projected gradient decides which elements stay at a
 * bound, and the others are then free (L-BFGS-B: Byrd, Lu, Nocedal and Zhu 1995; Morales and
 * Nocedal 2011). The projected gradient is P(x - g) - x, where P moves each element to the nearest
 * point within its bounds. They take another 8 (2 history + 5) bytes per element.
 *
 * The variables are left at the point with the lowest loss; on errors, at the result of the last
 * iteration, as far as they can be set. Other variables are unchanged; a training operation of
 * the graph is not run. Losses whose gradient is above 1e150 are not supported: products of it
 * overflow. Returns EDDY_OK for every end without an error. Errors: EDDY_INVALID_ARGUMENT for no
 * session, tensors of other graphs, no variables, no gradient, numbers out of range;
 * EDDY_BAD_SHAPE if the loss is not a scalar, or a bound does not fit its variable; EDDY_BAD_DTYPE;
 * EDDY_NO_MEMORY; errors of evaluating the loss (EDDY_NOT_FED, EDDY_UNINITIALIZED, ...); and
 * EDDY_INVALID_ARGUMENT if a bound is NaN or a lower one above the upper one, or if the loss or its
 * gradient is not finite at the start. scipy.optimize.minimize with method="L-BFGS-B". */
EDDY_API eddy_status eddy_minimize_lbfgs_with(const eddy_minimize_lbfgs_args *given);
#define eddy_minimize_lbfgs(...) \
    eddy_minimize_lbfgs_with(EDDY_ARGS(eddy_minimize_lbfgs_args, __VA_ARGS__))

/* --------------------------------------------------------------- Newton-CG -- */

/* The reason why a minimization ended. */
typedef enum eddy_newton_cg_end {
    EDDY_NEWTON_CG_FAILED = 0,    /* an error; see status and message */
    EDDY_NEWTON_CG_GRADIENT,      /* no element of the gradient is above gradient_tolerance */
    EDDY_NEWTON_CG_LOSS,          /* an iteration decreased the loss by too little */
    EDDY_NEWTON_CG_RADIUS,        /* no step in the smallest region decreases the loss: rounding */
    EDDY_NEWTON_CG_ITERATIONS,    /* max_iterations are reached */
    EDDY_NEWTON_CG_EVALUATIONS,   /* max_evaluations are reached */
    EDDY_NEWTON_CG_CALLBACK       /* the callback returned false */
} eddy_newton_cg_end;

typedef struct eddy_newton_cg_report {
    eddy_newton_cg_end end;
    int     iterations;           /* steps that decreased the loss */
    int     evaluations;          /* of the loss and its gradient */
    int     products;             /* of the Hessian and a vector */
    double  loss;                 /* at the final values of the variables, */
    double  gradient;             /* ... and the largest element of its gradient */
    char    message[1012];        /* why it ended, as text */
} eddy_newton_cg_report;

typedef struct eddy_newton_cg_args {
    size_t        size_ EDDY_DEFAULT(sizeof(eddy_newton_cg_args));
    eddy_session *session;        /* its variables are changed; they must be initialized */
    eddy_tensor   loss;           /* a floating scalar with two derivatives */
    eddy_list     var_list;       /* float32 or float64; default: the trainable variables */
    eddy_feeds    feeds;          /* of every evaluation */
    double        radius EDDY_DEFAULT(1);       /* norm of the longest first step */
    int           max_iterations EDDY_DEFAULT(1000);
    int           max_evaluations EDDY_DEFAULT(15000);
    int           max_products EDDY_DEFAULT(500);       /* in one iteration */
    double        gradient_tolerance EDDY_DEFAULT(1e-5);
    double        loss_tolerance EDDY_DEFAULT(2.2e-9);  /* relative to max(1, |loss|) */
    /* After each iteration; false ends it.  It may run the session. */
    bool        (*callback)(void *data, int iteration, double loss);
    void         *data;
    eddy_newton_cg_report *report;      /* filled in, also on errors; may be NULL */
} eddy_newton_cg_args;

/* Minimizes the loss from the current values of the variables, to a local minimum.
 *
 *   eddy_newton_cg_report r;
 *   eddy_newton_cg(session, loss, .feeds = EDDY_FEED({ x, points }), .report = &r);
 *
 * A step p minimizes the quadratic model g'p + p'Hp/2 of gradient and Hessian within the region
 * |p| <= radius, by conjugate gradients that end at the edge of the region, along a direction of
 * negative curvature, or when they are as precise as the step deserves (Steihaug 1983; Toint 1981;
 * Nocedal and Wright 2006, algorithm 7.2; Conn, Gould and Toint, Trust-region methods, 2000). They
 * need products H v, each of which costs a few evaluations of the loss; H is never formed. The
 * radius follows the quotient of the decrease of the loss and the one that the model predicted.
 * Compared with L-BFGS there are fewer iterations, which cost more: it gains where the curvature
 * differs much between directions, and near the minimum, where convergence is faster than linear.
 * It leaves saddle points along negative curvature, except from a point whose gradient is 0.
 *
 * The vectors are float64 for all types of variables. The graph gets the nodes of the derivatives
 * in each call. The variables are left at the point with the lowest loss; on errors, at the result
 * of the last iteration, as far as they can be set. Returns EDDY_OK for every end without an error.
 * Errors: as eddy_minimize_lbfgs; EDDY_NO_GRADIENT if an operation has no second derivative.
 * scipy.optimize.minimize with method="trust-ncg". */
EDDY_API eddy_status eddy_newton_cg_with(const eddy_newton_cg_args *given);
#define eddy_newton_cg(...) eddy_newton_cg_with(EDDY_ARGS(eddy_newton_cg_args, __VA_ARGS__))

/* ----------------------------------------------------------- least squares -- */

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
    EDDY_LEAST_SQUARES_GRADIENT,        /* no element of the (projected) gradient is above
                                         * gradient_tolerance */
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
    double  gradient;             /* ... and the largest element of its (projected) gradient */
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
     * has dependent columns or m is not above n. It ignores bounds. The caller frees it. */
    eddy_array  **covariance;
    eddy_least_squares_report *report;  /* filled in, also on errors; may be NULL */
    eddy_list     lower, upper;   /* bounds of the variables, as in eddy_minimize_lbfgs */
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
 * precisely as the step deserves (a truncated Gauss-Newton method). With bounds, elements that
 * descent would move out of theirs are held, and the end of a step is moved to the nearest point
 * within (Bertsekas 1982; Kanzow, Yamashita and Fukushima 2004). All of this is float64 for all
 * types of variables. The graph gets the nodes of the derivatives in each call. QR takes 8 bytes
 * for each pair of a residual and an element of the variables.
 *
 * The variables are left at the point with the lowest loss; on errors, at the result of the last
 * iteration, as far as they can be set. Returns EDDY_OK for every end without an error. Errors:
 * EDDY_INVALID_ARGUMENT for no session, no residuals, tensors of other graphs, no variables,
 * numbers out of range, a covariance with CG, or residuals that are not finite at the start;
 * EDDY_BAD_SHAPE for a variable of unknown shape; EDDY_BAD_DTYPE; EDDY_NO_MEMORY; EDDY_NO_GRADIENT;
 * errors of evaluating the residuals (EDDY_NOT_FED, EDDY_UNINITIALIZED, ...).
 * scipy.optimize.least_squares. */
EDDY_API eddy_status eddy_least_squares_with(const eddy_least_squares_args *given);
#define eddy_least_squares(...) \
    eddy_least_squares_with(EDDY_ARGS(eddy_least_squares_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
