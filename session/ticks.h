/* ticks.h -- a clock that costs next to nothing to look at. */
#ifndef EDDY_TICKS_H
#define EDDY_TICKS_H

#include <stdint.h>
#include <time.h>

static inline int64_t eddy_nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* How long a tick is depends on the machine. */
#if defined(__x86_64__)
static inline int64_t eddy_ticks(void) { return (int64_t)__builtin_ia32_rdtsc(); }
#else
static inline int64_t eddy_ticks(void) { return eddy_nanoseconds(); }
#endif

#endif
