/* optimizer_formulas.h -- the formulas of the optimizers of tf.train, written again for one element
 * in float64. */
#ifndef EDDY_TESTS_LIB_OPTIMIZER_FORMULAS_H
#define EDDY_TESTS_LIB_OPTIMIZER_FORMULAS_H

#include "tests/lib/checks.h"

enum { OPTIMIZER_SLOTS = 3 };

typedef struct optimizer_case {
    const char     *name;
    eddy_optimizer *(*make)(eddy_graph *g);
    /* x[0] is the element, x[k] that of slot k - 1; `step` counts from 1 */
    void          (*step)(double g, double *x, int step);
    const char     *slots[OPTIMIZER_SLOTS];
    double          initial[OPTIMIZER_SLOTS];
    bool            everywhere;     /* rows that are not named move as with a gradient of 0 */
    bool            counts;         /* wants a global_step */
} optimizer_case;

extern const optimizer_case optimizer_cases[];
extern const int            optimizer_case_count;

/* v0 = [1,2], v1 = [3,4], or as said, with gradients of constants. */
typedef struct two_variables {
    eddy_tensor        v0, v1;
    eddy_gradient_pair pairs[2];
} two_variables;
two_variables two_of(eddy_graph *g, const double *v0, const double *v1, const double *g0,
                     const double *g1);

/* [1,2] and [3,4] with the gradients 0.1 and 0.01. */
two_variables constants(eddy_graph *g);

eddy_tensor pair_of(eddy_graph *g, double a, double b);
eddy_tensor index_of(eddy_graph *g, int64_t n, const int32_t *x);
eddy_tensor variable_of(eddy_tensor initial_value, const char *name);

/* A session in which all variables have their initial values. */
eddy_session *started(eddy_graph *g);
/* t has these n values to within a tolerance, relative above 1. */
void near(eddy_session *s, eddy_tensor t, int n, const double *want, double tolerance);
void near_pair(eddy_session *s, eddy_tensor t, double a, double b, double tolerance);
/* t is [a, b] to within 1e-6. */
void has_pair(eddy_session *s, eddy_tensor t, double a, double b);

#endif
