/* stop.h -- whether a run must end early: it was cancelled, its session was closed, or its time is
 * over. Once true, it stays true for that run. */
#ifndef EDDY_GRAPH_BASE_STOP_H
#define EDDY_GRAPH_BASE_STOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

typedef struct eddy_stop {
    const atomic_uint *requests;    /* of the session; NULL: nothing stops the run */
    unsigned           begun;       /* their number when the run began */
    int64_t            deadline;    /* nanoseconds of CLOCK_MONOTONIC; 0: none */
    int64_t            timeout;     /* that the deadline follows from, in nanoseconds */
} eddy_stop;

static inline int64_t eddy__monotonic_nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline bool eddy__stop_requested(const eddy_stop *s)
{
    return atomic_load_explicit(s->requests, memory_order_relaxed) != s->begun;
}

static inline bool eddy__stopped(const eddy_stop *s)
{
    return s && s->requests &&
           (eddy__stop_requested(s) ||
            (s->deadline > 0 && eddy__monotonic_nanoseconds() >= s->deadline));
}

/* The number of turns of a loop between two checks for cancellation, if each has n elements. */
static inline int64_t eddy__turns_per_look(int64_t n) { return 1 + (1 << 16) / (n > 0 ? n : 1); }

/* For loops whose turns take nanoseconds: checks in one of 4096. */
static inline bool eddy__stopped_at(const eddy_stop *s, int64_t turn)
{
    return turn % 4096 == 0 && eddy__stopped(s);
}

#endif
