/* cancel.h -- runs that are stopped, and how long they go on. */
#ifndef EDDY_BENCH_CANCEL_H
#define EDDY_BENCH_CANCEL_H

#include "bench/workloads/workload.h"

/* A kind of run, of tens to hundreds of milliseconds: of what `build` makes of x, or a training
 * step. */
typedef struct work {
    const char  *name;                                  /* NULL behind the last */
    int64_t      dim[6];                                /* of x, float32 in [0, 1); 0 ends them */
    eddy_tensor (*build)(eddy_tensor x);
    void       (*step)(trial *t, int64_t size);         /* in place of build */
    int64_t      size;                                  /* of step */
    int          threads;                               /* 0: those of the command line */
    bool         evaluates;                             /* with eddy_eval */
    bool         every_way;                             /* is stopped in all ways */
} work;

extern const work linear_works[], image_works[], array_works[], training_works[];

/* How a run is stopped. */
typedef enum way { BY_THREAD, BY_DEADLINE, BY_SIGNAL, BY_CLOSE, WAYS } way;

/* Stops a kind of run `times` times at moments spread over its length, on that many threads, and
 * prints a row. False if no run was stopped. */
bool measure(const work *w, way by, int times, int threads);

#endif
