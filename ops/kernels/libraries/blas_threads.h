/* blas_threads.h -- control of the threads of OpenBLAS during a run. */
#ifndef EDDY_OPS_KERNELS_LIBRARIES_BLAS_THREADS_H
#define EDDY_OPS_KERNELS_LIBRARIES_BLAS_THREADS_H

/* Between the two, OpenBLAS uses the calling thread alone: it is the pool that cuts
 * products.  The first begin of all threads sets that, the last end restores what
 * was set before, unless somebody has set another number meanwhile.  Nothing
 * happens with another BLAS. */
void eddy__blas_begin(void);
void eddy__blas_end(void);

#endif
