/* objective_derivatives.h -- derivatives of an objective as vectors of float64: a loss with its
 * gradient, and products of a second derivative or a Jacobian with a direction; not installed. */
#ifndef EDDY_OPTIM_MINIMIZERS_OBJECTIVE_DERIVATIVES_H
#define EDDY_OPTIM_MINIMIZERS_OBJECTIVE_DERIVATIVES_H

#include "optim/minimizers/objective.h"

/* An evaluation of the loss, a scalar, and of its gradient by each variable: those that are given,
 * or new nodes. */
bool eddy__loss_begin(objective *o, evaluation *e, eddy_tensor loss, eddy_list gradients);
/* The loss and its gradient where the variables are x, which becomes what their types hold. */
bool eddy__loss_at(objective *o, evaluation *e, double *x, double *loss, double *gradient);

/* A linear function of a direction, one tensor for each variable, which is fed. */
typedef struct products {
    objective    *o;
    evaluation    e;
    eddy_tensor  *direction;            /* placeholders */
    eddy_array  **fed;                  /* their values */
} products;

/* The placeholders; the variables have known shapes, or have been read. */
bool eddy__products_begin(products *p, objective *o);
/* The function's values, one tensor for each variable, must outlive it. */
bool eddy__products_of(products *p, eddy_tensor *values);
/* y = the function of x. `data` is the products. */
bool eddy__products_run(void *data, const double *x, double *y);
void eddy__products_end(products *p);

#endif
