/* truth.h -- derivatives of a graph from differences of numbers of some thousand bits. */
#ifndef EDDY_TESTS_HUNT_TRUTH_H
#define EDDY_TESTS_HUNT_TRUTH_H

#include "tests/hunt/exact_graph.h"

enum { TRUTH_INPUTS = 4, TRUTH_OUTPUTS = 8 };

/* One element of one input. */
typedef struct element {
    int     input;
    int64_t at;
} element;

typedef enum truth_kind {
    TRUTH_NUMBER,
    TRUTH_KINK,           /* the derivatives of the two sides differ */
    TRUTH_INFINITE,       /* the differences grow without bound */
    TRUTH_NONE            /* not a number, or beyond MPFR's range */
} truth_kind;

/* A derivative. */
typedef struct truth {
    truth_kind kind;
    mpfr_t     y;         /* from the right side */
    mpfr_t     left;
    mpfr_t     scale;     /* the largest absolute term of the sum over outputs */
    mpfr_t     noise;     /* how large a 0 may seem */
} truth;

typedef struct truths truths;

/* Of the weighted sum of the outputs of a graph at a point; element i of output k has the weight
 * truth_weight(i + k). */
truths *truths_new(exact_graph *e, int n, eddy_array *const *point, int outputs, bool wide);
void    truths_free(truths *t);
/* By element k order - 1 times, and once by j; order 0 is the value. Only from the right side:
 * its kind is a number or none. */
truth   truth_of(truths *t, int order, element j, element k);
/* From both sides and with a smaller step. */
truth   truth_checked(truths *t, int order, element j, element k);
void    truth_free(truth *t);

double  truth_weight(int64_t i);

#endif
