/* mixed_runs.h -- threads that use one session at the same time in every way that is allowed: runs
 * with feeds of several shapes, updates, callables, evaluations of variables, saving, cancelling,
 * timeouts and closing. */
#ifndef EDDY_TESTS_LIB_MIXED_RUNS_H
#define EDDY_TESTS_LIB_MIXED_RUNS_H

#include <eddy/eddy.h>

typedef struct mixed_counts {
    long ok, cancelled, timed_out, closed;      /* runs by status */
    long updates, saves, cancels, sessions;
} mixed_counts;

/* Each of `threads` makes `runs` runs and checks the result of each; most are of one session, and
 * the last tenth of a dozen that are closed during runs. False after a wrong result, with a text. */
bool mixed_runs(int threads, int runs, mixed_counts *counts, char text[300]);

#endif
