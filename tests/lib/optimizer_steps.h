/* optimizer_steps.h -- twenty steps of an optimizer on a small matrix, compared with a reference
 * that the test writes as plain loops in float64.
 *
 * The gradients are fed: sines of the element and the step, but for one element, whose
 * gradient is always 0.  A sparse gradient names row 2 twice, another row that changes from
 * step to step, and never row 3; the reference gets it as the dense gradient that it is. */
#ifndef EDDY_TESTS_LIB_OPTIMIZER_STEPS_H
#define EDDY_TESTS_LIB_OPTIMIZER_STEPS_H

#include "../../eddy.h"
#include "ops/short_names.h"

#include <check.h>
#include <math.h>
#include <string.h>

enum { STEPS_ROWS = 4, STEPS_COLUMNS = 3, STEPS_ELEMENTS = 12, STEPS_SLOTS = 4, STEPS = 20 };

typedef enum steps_kind { STEPS_DENSE, STEPS_SPARSE, STEPS_LAZY } steps_kind;

/* The state of a reference: zeros before step 1, with space for a matrix of the rows. */
typedef struct steps_memory {
    double slot[STEPS_SLOTS][STEPS_ROWS * STEPS_ROWS];
    double scalar;
} steps_memory;

/* Step t of a reference, from 1, on the elements i for which touched[i]: all, or those of the
 * rows that a sparse gradient names. */
typedef void (*steps_reference)(int t, const bool *touched, const double *g, double *x,
                                steps_memory *m);

typedef struct steps_case {
    const char     *name;
    eddy_optimizer *(*make)(eddy_graph *g, bool lazy);
    steps_reference reference;
    bool            has_lazy;        /* rows only, if asked for */
    bool            is_lazy;         /* rows only, always */
    double          float32;         /* tolerance of float32 */
    double          float64;         /* default 1e-12 */
} steps_case;

/* The start, and the gradient of step t. */
void steps_begin(double *x);
void steps_gradient(int t, double *g);
/* Gradients of step t in another array. */
void steps_feed(int t, eddy_array *to);
/* x after `steps` steps; with a message of graph or session the test fails. */
void steps_run(const steps_case *c, eddy_dtype dtype, steps_kind kind, int steps, double *x);
/* The case against its reference: every kind that it has, float64 and float32. */
void steps_check(const steps_case *c);
/* The values of x at elements 0, 1, 6, 7, 11 after 1, 7 and 20 dense steps in float64. */
void steps_figures(const steps_case *c, const double want[3][5], double tolerance);

#endif
