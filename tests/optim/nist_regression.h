/* nist_regression.h -- the problems of NIST's Statistical Reference Datasets for nonlinear
 * regression (StRD, public domain): data, starting values, and results that NIST certifies to 11 digits. */
#ifndef EDDY_TESTS_NIST_REGRESSION_H
#define EDDY_TESTS_NIST_REGRESSION_H

#include "eddy.h"

enum { NIST_PARAMETERS = 9 };

typedef struct nist_problem {
    const char   *name;
    eddy_tensor (*model)(eddy_tensor x, const eddy_tensor *b);
    int           observations, parameters;
    const double *x, *y;                            /* x: 1, 2, 3, ... if NULL */
    int           predictors;                       /* vectors in x; 0 is 1 */
    bool          of_logarithm;                     /* the model is that of log y */
    bool          exact;                            /* residuals are only rounding */
    double        start[2][NIST_PARAMETERS];        /* the first is far from the solution */
    double        b[NIST_PARAMETERS], deviation[NIST_PARAMETERS];
    double        sum_of_squares;
} nist_problem;

extern const nist_problem nist_problems[];
extern const int          nist_problem_count;

#endif
