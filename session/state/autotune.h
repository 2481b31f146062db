/* autotune.h -- online autotuning: chooses the faster of two variants of a plan by measuring
 * runs of both. The variant that seems slower is measured less and less often as long as the
 * choice stays the same. */
#ifndef EDDY_SESSION_STATE_AUTOTUNE_H
#define EDDY_SESSION_STATE_AUTOTUNE_H

#include <stdbool.h>
#include <stdint.h>

/* Variant 1 uses more threads than variant 0. */
typedef struct autotuner {
    bool    best;                   /* the faster variant so far; initially a guess */
    int32_t run, period;            /* number of the next run within the period; its length */
    double  ticks[2];               /* of a run of each variant, smoothed; 0: unknown */
} autotuner;

/* Numbers of runs: in a period; at its end, of the other variant; after a change of variant,
 * that are not measured, because they wake threads and fill caches. */
enum { MIN_PERIOD = 16, MAX_PERIOD = 512, PROBES = 7, WARM_UP = 4 };

/* The variant of the next run. */
static inline bool eddy__autotune_choice(autotuner *t)
{
    if (t->period == 0) t->period = MIN_PERIOD;
    return t->run < t->period - PROBES ? t->best : !t->best;
}

/* Ends a period. Variant 1 must be clearly faster, because other programs may need the
 * threads. */
static inline void eddy__autotune_decide(autotuner *t)
{
    const bool best = t->ticks[1] < 0.95 * t->ticks[0];
    if (best != t->best) t->period = MIN_PERIOD;
    else t->period = t->period < MAX_PERIOD ? t->period * 2 : MAX_PERIOD;
    t->best = best;
    t->run = 0;
}

/* Records the time of a run of the variant that eddy__autotune_choice returned. A run that was
 * interrupted counts at most twice the average. */
static inline void eddy__autotune_record(autotuner *t, int64_t ticks)
{
    const int    probe = t->period - PROBES;
    const bool   warm = t->run >= WARM_UP && (t->run < probe || t->run >= probe + WARM_UP);
    double      *mean = &t->ticks[eddy__autotune_choice(t)];
    const double most = 2 * *mean, measured = (double)ticks;
    if (warm) *mean = *mean > 0 ? *mean + ((measured < most ? measured : most) - *mean) / 4 : measured;
    if (++t->run == t->period) eddy__autotune_decide(t);
}

#endif
