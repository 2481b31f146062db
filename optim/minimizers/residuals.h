/* residuals.h -- residuals as a function of the variables, with what the steps of least squares
 * need of their Jacobian J: a QR decomposition, or products; not installed. */
#ifndef EDDY_OPTIM_MINIMIZERS_RESIDUALS_H
#define EDDY_OPTIM_MINIMIZERS_RESIDUALS_H

#include "optim/minimizers/objective_derivatives.h"

typedef struct residuals {
    objective  *o;
    bool        by_qr;
    int64_t     n, count;           /* elements of the variables; number of residuals */
    evaluation  trial, linear;
    products    product;            /* QR: J'r" with r" the second derivative along v; CG: J'J v */
    double      loss, *g;           /* half the sum of squares, and J'r */
    double     *square, *side;      /* QR: R [n,n] and Q'r [n] */
    double     *norms;              /* QR: the largest norms of J's columns so far */
} residuals;

/* n elements of variables with known shapes. */
bool eddy__residuals_begin(residuals *r, objective *o, bool by_qr, int64_t n, eddy_list given);
void eddy__residuals_end(residuals *r);
/* The loss at x, which becomes what the types of the variables hold of it. */
bool eddy__residuals_try(residuals *r, double *x, double *loss);
/* The linear model at the point where the variables are. */
bool eddy__residuals_linearize(residuals *r);

#endif
