/* linear_system.h -- what the solvers of linear systems have in common: the operator, the call, and
 * the gradient, which is the solution of another system. */
#ifndef EDDY_CONTROL_LINEAR_SYSTEM_H
#define EDDY_CONTROL_LINEAR_SYSTEM_H

#include "control/solver_parts.h"

enum { EDDY_OPERATOR_MOST = 20 };       /* tensors, whose results are kept with those of M */

/* Options of the closure. */
enum { SYSTEM_N_X, SYSTEM_TOLERANCE, SYSTEM_ITERATIONS, SYSTEM_RESTART };

/* A as a function of vectors. */
typedef struct linear_operator {
    closure            c;
    int                n;               /* tensors of x */
    const eddy_tensor *like;            /* they have these shapes */
    bool               preconditioned;  /* the results of the closure are A x, and then M x */
} linear_operator;

/* The nodes of A v, or of M v, which is v if there is no M; invalid with the error set. */
eddy_tensor eddy__operator_product(const linear_operator *a, eddy_tensor v);
eddy_tensor eddy__operator_precondition(const linear_operator *a, eddy_tensor v);

/* The square root of v'v. */
eddy_tensor eddy__vector_length(eddy_tensor v);

/* A vector x for which the excess of |b - A x|, |b - A x| - limit, is not positive, from x and r =
 * b - A x. x and the excess are stored in y. */
typedef bool linear_iterate(const linear_operator *a, eddy_tensor b, eddy_tensor limit,
                            eddy_tensor x, eddy_tensor r, eddy_tensor *y);

typedef struct linear_method {
    const char     *what, *of_gradient;         /* for messages */
    const char     *scope, *rule_name;
    const char     *failure;                    /* further reasons not to converge */
    bool            symmetric;                  /* so A is */
    linear_iterate *iterate;
    void          (*rule)(eddy_rule *r);        /* eddy__linear_rule with this method */
} linear_method;

typedef struct linear_call {
    eddy_function a, preconditioner;
    eddy_list     b, x0, theta;
    eddy_tensor  *out;
    double        tolerance;
    int64_t       iterations, restart;
    const char   *name;
} linear_call;

/* The number of results, 0 with the error set. */
int  eddy__linear_call(const linear_method *m, linear_call *call);
void eddy__linear_rule(eddy_rule *r, const linear_method *m);

#endif
