/* blas_threads.h -- control of the threads of OpenBLAS during a run, and what its kernels can. */
#ifndef EDDY_OPS_KERNELS_LIBRARIES_BLAS_THREADS_H
#define EDDY_OPS_KERNELS_LIBRARIES_BLAS_THREADS_H

#include <stdbool.h>

/* Around each call of BLAS or LAPACK that needs working memory. An OpenBLAS that is built without
 * threads may give two threads that call it at once the same memory, so there a second call waits
 * until the first has ended. No effect with any other BLAS. */
void eddy__blas_enter(void);
void eddy__blas_leave(void);

/* Between the two calls, OpenBLAS uses only the calling thread, because the pool divides
 * products.  The first begin of all threads sets this, the last end restores the previous
 * number of threads, unless another was set in the meantime.  No effect with any other
 * BLAS. */
void eddy__blas_begin(void);
void eddy__blas_end(void);

/* True if the kernels that OpenBLAS uses, which follow OPENBLAS_CORETYPE, compute small products
 * without copying the operands. */
bool eddy__blas_has_small_products(void);

#endif
