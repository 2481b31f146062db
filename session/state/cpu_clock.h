/* cpu_clock.h -- a clock with almost no overhead (CPU ticks). */
#ifndef EDDY_SESSION_STATE_CPU_CLOCK_H
#define EDDY_SESSION_STATE_CPU_CLOCK_H

#include "graph/base/stop.h"

/* How long a tick is depends on the machine. */
#if defined(__x86_64__)
static inline int64_t eddy__ticks(void) { return (int64_t)__builtin_ia32_rdtsc(); }
#else
static inline int64_t eddy__ticks(void) { return eddy__monotonic_nanoseconds(); }
#endif

#endif
