/* line_search.h -- line search: the step length along a direction; not installed. */
#ifndef EDDY_OPTIM_MINIMIZERS_LINE_SEARCH_H
#define EDDY_OPTIM_MINIMIZERS_LINE_SEARCH_H

#include <stdbool.h>

/* A function of one number, evaluated at a point. */
typedef struct line_point {
    double at, value, slope;
} line_point;

/* Evaluates the function at `at`, which is positive; false if no more evaluations are possible. */
typedef bool (*line_fn)(void *data, double at, line_point *out);

typedef struct line_search {
    line_fn evaluate_at;
    void   *data;
    double  decrease, curvature;    /* of the Wolfe conditions: 0 < decrease < curvature < 1 */
    int     most;                   /* evaluations */
    double  longest;                /* no point beyond it is evaluated; INFINITY: no limit */
} line_search;

typedef enum line_outcome {
    LINE_FOUND,                     /* a point that fulfills both conditions, or the longest step,
                                     * which fulfills the first one and goes on downward */
    LINE_LOWER,                     /* none; the point is lower than the start */
    LINE_NONE,                      /* ... no point is */
    LINE_STOPPED                    /* evaluate_at returned false */
} line_outcome;

/* From `start` (at 0, with a negative slope); the first step is `first`. */
line_outcome eddy__line_search(const line_search *s, line_point start, double first,
                               line_point *found);

#endif
