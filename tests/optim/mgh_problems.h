/* mgh_problems.h -- the 35 test functions of More, Garbow and Hillstrom, Testing unconstrained
 * optimization software (1981): sums of squares of residuals, their usual starting points, and the
 * minima that the paper states. */
#ifndef EDDY_TESTS_MGH_PROBLEMS_H
#define EDDY_TESTS_MGH_PROBLEMS_H

#include "eddy.h"

enum { MGH_MOST = 12 };

typedef struct mgh_problem {
    const char   *name;
    eddy_tensor (*residuals)(eddy_tensor x, int n);
    int           n;
    void        (*begin)(int n, double *x);         /* the starting point, if not x */
    double        x[MGH_MOST];
    double        minima[2];        /* of the sum of squares; the second one may be missing, 0 */
    double        lbfgs_leaves;     /* so much above the minimum: it is too flat for values alone */
} mgh_problem;

extern const mgh_problem mgh_problems[];
extern const int         mgh_problem_count;

#endif
