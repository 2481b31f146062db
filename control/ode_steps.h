/* ode_steps.h -- steps of Runge-Kutta methods for lists of tensors. */
#ifndef EDDY_CONTROL_ODE_STEPS_H
#define EDDY_CONTROL_ODE_STEPS_H

#include "control/solver_parts.h"

/* A differential equation and how to solve it. */
typedef struct ode {
    const char     *what;
    closure         c;                  /* of t and y */
    int             n;                  /* tensors of y */
    eddy_tensor    *constants;          /* the captured tensors, without a gradient; or NULL */
    eddy_ode_method method;
    bool            unrolled;           /* the steps are differentiated */
    double          rtol, atol;
    int64_t         max_steps, steps;
    double          first_step;
    eddy_recompute  recompute;          /* of the loop of steps */
    int64_t         segment;
} ode;

/* y at the times t from y0 at t[0]: out[k] has the rows. False with the error set. */
bool eddy__ode_solve(const ode *o, const eddy_tensor *y0, eddy_tensor t, eddy_tensor *out);

/* Calls f, which becomes o->c, and solves; with the gradient by the adjoint equation unless the
 * steps are differentiated. */
bool eddy__ode_trace_and_solve(ode *o, const eddy_function *f, const eddy_tensor *y0, eddy_tensor t,
                               eddy_tensor *out);

/* k = f(t, y); with `constant`, captured tensors count as constants. */
bool eddy__ode_slope(const ode *o, eddy_tensor t, const eddy_tensor *y, bool constant,
                     eddy_tensor *k);

/* A step of length h from y, where the slope is k, to `next`; stores the slope there in k_next, and
 * the estimated error of each tensor. */
bool eddy__dopri5_step(const ode *o, eddy_tensor t, eddy_tensor h, const eddy_tensor *y,
                       const eddy_tensor *k, bool constant, eddy_tensor *next, eddy_tensor *k_next,
                       eddy_tensor *error);
bool eddy__rk4_step(const ode *o, eddy_tensor t, eddy_tensor h, const eddy_tensor *y,
                    eddy_tensor *next);

/* The root of the mean square of error / (atol + rtol max(|y|, |next|)) over all elements. */
eddy_tensor eddy__ode_error(const ode *o, const eddy_tensor *error, const eddy_tensor *y,
                            const eddy_tensor *next);
/* The length of the first step from y, where the slope is k, in the direction of `sign`. */
eddy_tensor eddy__ode_first_step(const ode *o, eddy_tensor t, eddy_tensor sign,
                                 const eddy_tensor *y, const eddy_tensor *k);

#endif
