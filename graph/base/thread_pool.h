/* thread_pool.h -- the thread pool shared by the kernels of all sessions; not installed. */
#ifndef EDDY_GRAPH_BASE_THREAD_POOL_H
#define EDDY_GRAPH_BASE_THREAD_POOL_H

#include "graph/op.h"

/* Maximum number of threads of one run, including the caller. */
enum { EDDY_MOST_THREADS = 256 };

/* eddy_parallel for n items, one at a time, if the caller knows that help pays. */
void eddy__side_by_side(const eddy_kernel *k, int64_t n, eddy_parallel_fn body, void *arg);

/* eddy_parallel, except that pieces are left out once the run must end (k->stop). The kernel then
 * returns as if they had run: its results are not used. If it reads them itself, that must be
 * safe for any values, so counts and positions are computed by eddy_parallel. */
void eddy__parallel_or_stop(const eddy_kernel *k, int64_t n, int64_t grain, eddy_parallel_fn body,
                            void *arg);

/* The number of workers that exist; for tests. */
int eddy__workers(void);

/* The number of cores that this process may use, from 1 to EDDY_MOST_THREADS. */
int eddy__cores(void);

#endif
