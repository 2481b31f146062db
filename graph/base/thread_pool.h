/* thread_pool.h -- the thread pool shared by the kernels of all sessions; not installed. */
#ifndef EDDY_GRAPH_BASE_THREAD_POOL_H
#define EDDY_GRAPH_BASE_THREAD_POOL_H

#include "graph/op.h"

/* Most threads of one run: the caller and the pool's. */
enum { EDDY_MOST_THREADS = 256 };

/* eddy_parallel of n items, one at a time, whose caller knows that help pays. */
void eddy__side_by_side(const eddy_kernel *k, int64_t n, eddy_parallel_fn body, void *arg);

/* The cores that this process may use, at least 1 and at most EDDY_MOST_THREADS. */
int eddy__cores(void);

#endif
