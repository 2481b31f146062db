/* array_trial.h -- one random test of array operations: a graph, a session, feeds of random shapes,
 * and checks of the results. */
#ifndef EDDY_TESTS_LIB_ARRAY_TRIAL_H
#define EDDY_TESTS_LIB_ARRAY_TRIAL_H

#include "../../eddy.h"
#include "ops/short_names.h"

#include <check.h>
#include <string.h>

enum { TRIAL_FEEDS = 64 };

typedef struct trial {
    eddy_graph   *graph;
    eddy_session *session;
    uint64_t      random;
    int           n;
    eddy_tensor   tensor[TRIAL_FEEDS];
    eddy_array   *array[TRIAL_FEEDS];
} trial;

/* The seed determines all random numbers, and how the session compiles. */
trial trial_begin(unsigned seed);
void  trial_end(trial *t);
/* Gives the variables their initial values. */
void  initialize(trial *t);

int        pick(trial *t, int n);                       /* in [0, n) */
int        some_size(trial *t);                         /* 0 and 1 among them */
eddy_shape some_shape(trial *t, int least_rank, int most_rank);
/* Small whole numbers, so that sums and products of them are exact. */
eddy_array *filled(trial *t, eddy_dtype d, eddy_shape s);
/* A placeholder that every run feeds with a; its static shape is drawn at random. The trial takes
 * ownership of a, which may still be changed. */
eddy_tensor fed(trial *t, eddy_array *a);

/* Row-major place of a position, and back. */
int64_t place(eddy_shape s, const int64_t *at);
void    position(eddy_shape s, int64_t i, int64_t *at);

/* The value of y, the caller's to free; fails the test if there is none. */
eddy_array *value(trial *t, eddy_tensor y);
void check_run_fails(trial *t, eddy_tensor y, eddy_status status, const char *says);

/* y[at] is x[source(how, at)], bit for bit, or 0 where that is -1. */
typedef int64_t source_fn(const void *how, const int64_t *at);
void check_elements(trial *t, eddy_tensor y, eddy_shape want, const eddy_array *x,
                    source_fn *source, const void *how);
/* y has these numbers; the element type is not checked. check_array also checks the type. */
void check_values(trial *t, eddy_tensor y, eddy_shape want, const double *v);
void check_numbers(trial *t, eddy_tensor y, const eddy_array *want);
void check_array(trial *t, eddy_tensor y, const eddy_array *want);

/* The derivative of sum(w y^2), with some w, along a random direction of the
 * fed tensors x is its central difference, and so is that of the derivative's
 * own square.  Both are exact for linear y.  Nothing unless y and x are float64. */
void check_gradient(trial *t, eddy_tensor y, int n, const eddy_tensor *x);

/* The gradient of y, with weights dy, with respect to x. */
eddy_tensor gradient_with(eddy_tensor y, eddy_tensor dy, eddy_tensor x);

#endif
