/* autotune.h -- online choice between two methods of running a plan, by measured time: both
 * are tried in turn, less and less often as long as the answer stays the same. */
#ifndef EDDY_SESSION_STATE_AUTOTUNE_H
#define EDDY_SESSION_STATE_AUTOTUNE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct autotuner {
    bool     set;                   /* the faster way so far; at first what is thought so */
    int32_t  at, period;            /* the run's number among those of the period */
    double   each[2];               /* ticks of a run, smoothed; 0: not known */
} autotuner;

/* Runs: of a period, of its last ones that go the other way, of those that a change costs. */
enum { LEAST_PERIOD = 16, MOST_PERIOD = 512, TRIED = 7, CHANGE = 4 };

/* The way of the coming run: what is thought to be faster, but for the last of a period.
 *  The first after a change wake threads and fill caches. */
static inline bool eddy__autotune_choice(autotuner *t)
{
    if (t->period == 0) t->period = LEAST_PERIOD;
    return t->at < t->period - TRIED ? t->set : !t->set;
}

/* The way with threads must be clearly faster: others may want them. */
static inline void eddy__autotune_decide(autotuner *t)
{
    const bool set = t->each[1] < 0.95 * t->each[0];
    t->period = set != t->set ? LEAST_PERIOD : t->period < MOST_PERIOD ? t->period * 2
                                                                       : MOST_PERIOD;
    t->set = set;
    t->at = 0;
}

/* A run of the way that was last said has taken so many ticks. */
static inline void eddy__autotune_record(autotuner *t, int64_t ticks)
{
    const int    other = t->period - TRIED;
    const bool   first = t->at < CHANGE || (t->at >= other && t->at < other + CHANGE);
    double      *each = &t->each[eddy__autotune_choice(t)];
    const double most = 2 * *each, took = (double)ticks;     /* an interruption is no answer */
    if (!first) *each = *each > 0 ? *each + ((took < most ? took : most) - *each) / 4 : took;
    if (++t->at == t->period) eddy__autotune_decide(t);
}

#endif
