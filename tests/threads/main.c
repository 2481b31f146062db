/* main.c -- threads that use one session at the same time; see tests/lib/mixed_runs.h.
 *
 *   threads [RUNS] [THREADS]        defaults: 10000 runs in each of 8 threads */
#include "tests/lib/mixed_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
    const int       runs = argc > 1 ? atoi(argv[1]) : 10000, threads = argc > 2 ? atoi(argv[2]) : 8;
    mixed_counts    c = { 0 };
    char            text[300] = "no graph";
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    const bool good = mixed_runs(threads, runs, &c, text);
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("%d threads, %d runs each, %ld sessions, %.1f s: %ld succeeded, %ld cancelled, "
           "%ld timed out, %ld after the session was closed; %ld updates, %ld saves, %ld cancels\n",
           threads, runs, c.sessions,
           (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9, c.ok,
           c.cancelled, c.timed_out, c.closed, c.updates, c.saves, c.cancels);
    if (!good) printf("%s\n", text);
    return !good;
}
