/* pool.h -- the threads that kernels of all sessions share, and what a run does
 * about the threads of the BLAS. */
#ifndef EDDY_POOL_H
#define EDDY_POOL_H

#include "graph/op.h"

/* Most threads of one run: the caller and the pool's. */
enum { EDDY_MOST_THREADS = 256 };

/* eddy_parallel of n items, one at a time, whose caller knows that help pays. */
void eddy_side_by_side(const eddy_kernel *k, int64_t n, eddy_parallel_fn body, void *arg);

/* The cores that this process may use, at least 1 and at most EDDY_MOST_THREADS. */
int eddy_cores(void);

/* Between the two, OpenBLAS uses the calling thread alone: it is the pool that cuts
 * products.  The first begin of all threads sets that, the last end restores what
 * was set before, unless somebody has set another number meanwhile.  Nothing
 * happens with another BLAS. */
void eddy_blas_begin(void);
void eddy_blas_end(void);

#endif
