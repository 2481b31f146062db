/* damped_step.h -- the steps of Levenberg-Marquardt and of Newton's method; not installed. */
#ifndef EDDY_OPTIM_MINIMIZERS_DAMPED_STEP_H
#define EDDY_OPTIM_MINIMIZERS_DAMPED_STEP_H

#include <stdbool.h>
#include <stdint.h>

/* The p that minimizes |R p + q|^2 + |W p|^2, with R [n,n] upper triangular by rows, W the diagonal
 * matrix of w, and q a vector. `room` has n (n + 2) elements. Where R and W are both 0, p is. */
void eddy__damped_step(int64_t n, const double *r, const double *q, const double *w, double *p,
                       double *room);

/* x = (R'R + W'W)^-1 x, with `room` as eddy__damped_step has left it. */
void eddy__damped_solve(int64_t n, const double *room, double *x);

/* (R'R)^-1 of R [n,n] to `inverse`; `room` has n n elements. Infinite or NaN for a singular R. */
void eddy__inverse_of_square(int64_t n, const double *r, double *inverse, double *room);

/* y = A x for vectors of n elements; false on an error. */
typedef bool product_fn(void *data, const double *x, double *y);

/* The p for which (A + c) p is close to -g: conjugate gradients until the residual is `tolerance`
 * times |g|, or for `most` iterations. They end at the edge of the region |p| <= radius, and go
 * there along a direction of negative curvature; if the radius is INFINITY, they end before it.
 * Returns false on an error of the product. `rest` [n] becomes the residual, -g - (A + c) p; `room`
 * has 2 n elements. */
bool eddy__conjugate_step(int64_t n, product_fn *product, void *data, const double *g, double c,
                          double radius, double tolerance, int64_t most, double *p, double *rest,
                          double *room);

#endif
