/* pool.c -- the threads that kernels of all sessions share. */
#include "session/internal.h"

void eddy_parallel(const eddy_kernel *k, int64_t n, int64_t grain, eddy_parallel_fn body, void *arg)
{
    (void)k;
    (void)grain;
    if (n > 0) body(arg, 0, n, 0);
}
