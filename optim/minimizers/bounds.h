/* bounds.h -- bounds of variables, and the direction of L-BFGS-B within them; not installed. */
#ifndef EDDY_OPTIM_MINIMIZERS_BOUNDS_H
#define EDDY_OPTIM_MINIMIZERS_BOUNDS_H

#include "optim/minimizers/objective.h"

/* All elements of the variables have both, which may be infinite. */
typedef struct bounds {
    bool    given;                  /* false: no bounds, and the functions leave x as it is */
    double *lower, *upper;
} bounds;

/* Evaluates the tensors of both lists; the variables have been read. */
bool eddy__bounds_begin(bounds *b, objective *o, eddy_list lower, eddy_list upper);
/* Moves x to the nearest point within the bounds. */
void eddy__bounds_clamp(const bounds *b, int64_t n, double *x);
/* The largest element of the projected gradient P(x - g) - x; NaN if there is one. */
double eddy__bounds_gradient(const bounds *b, int64_t n, const double *x, const double *g);
/* The largest a for which x + a d is within the bounds. */
double eddy__bounds_longest(const bounds *b, int64_t n, const double *x, const double *d);

/* A change of x, and of the gradient with it. */
typedef struct change {
    double *s, *y;
    double  product;                /* of the two */
    int     slot;                   /* another one for each pair of vectors */
} change;

/* The model of L-BFGS, g'p + p'Bp / 2 with B = theta I - W M W', W = [Y, theta S]: the changes in
 * columns, the oldest first. */
typedef struct bounded_model {
    int64_t  n, k;                  /* elements; twice the number of changes */
    int      slots;
    double   theta;
    double  *sy, *ss;               /* [slots,slots]: products of all changes */
    double  *m, *square, *free_square;      /* [k,k]: M, and room */
    double  *p, *c, *side, *mw;     /* [k] */
    double  *w;                     /* [n,k]: W by rows */
    double  *point;                 /* [n]: the generalized Cauchy point */
    struct bend {
        double  at;                 /* where along the path an element reaches its bound */
        int64_t element;
    }       *bends;                 /* [n], ascending */
    int32_t *pivots;                /* [k] */
} bounded_model;

bool eddy__bounded_model_begin(bounded_model *b, objective *o, int history);
/* d, which leads from x to the minimum of the model within the bounds; returns its product with
 * g. */
double eddy__bounded_direction(bounded_model *b, const bounds *limits, int n_changes,
                               const change *changes, const double *x, const double *g, double *d);

#endif
