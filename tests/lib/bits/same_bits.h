/* same_bits.h -- checks that the options of a session and a graph file do not change the values of
 * a graph by a single bit. */
#ifndef EDDY_TESTS_LIB_SAME_BITS_H
#define EDDY_TESTS_LIB_SAME_BITS_H

#include "tests/lib/array_trial.h"

enum { FETCHES = 32 };

/* Tensors of a trial's graph, and its name in failures. */
typedef struct fetches {
    const char *title;
    int         n;
    eddy_tensor at[FETCHES];
} fetches;

/* Adds x unless it is invalid. */
void keep_fetch(fetches *f, eddy_tensor x);
/* Their values from a new session of g, the trial's graph or a copy of it. */
void run_fetches(const trial *t, const fetches *f, eddy_graph *g, eddy_session_args options,
                 eddy_array **out);
void free_arrays(int n, eddy_array **a);

/* Each option of a session leaves the values alone; the graph written, read and
 * written again gives the same bytes, and what was read the same values. */
void check_same_bits(const trial *t, const fetches *f);

#endif
