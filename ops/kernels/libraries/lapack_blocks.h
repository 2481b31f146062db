/* lapack_blocks.h -- factors of large matrices, and solutions of triangular systems, by blocks: on
 * the threads of a kernel, and ended early when its run must end. Private to ops/.
 *
 * Matrices of up to some hundreds of rows are a single call of LAPACK. The bits depend on sizes,
 * never on the number of threads. If the run must end, these functions return early with undefined
 * numbers, among them pivots; the caller looks at the stop before it uses a pivot. */
#ifndef EDDY_OPS_KERNELS_LIBRARIES_LAPACK_BLOCKS_H
#define EDDY_OPS_KERNELS_LIBRARIES_LAPACK_BLOCKS_H

#include "graph/op.h"

/* As eddy__lapack_cholesky and eddy__lapack_lu. */
int eddy__blocks_cholesky(const eddy_kernel *k, eddy_dtype d, int64_t n, void *a);
int eddy__blocks_lu(const eddy_kernel *k, eddy_dtype d, int64_t n, void *a, int32_t *pivots);

/* b [n,columns] becomes t^-1 b with t the triangle of a [n,n], or its adjoint. */
void eddy__blocks_triangle_solve(const eddy_kernel *k, eddy_dtype d, bool lower, bool adjoint,
                                 bool unit, int64_t n, int64_t columns, const void *a, void *b);
/* b [n,columns] becomes the solution of a x = b, or of a' x = b, with the factors of a. */
void eddy__blocks_lu_solve(const eddy_kernel *k, eddy_dtype d, bool adjoint, int64_t n,
                           int64_t columns, const void *lu, const int32_t *pivots, void *b);

/* The factors become the inverse; `work` has as many elements as the first function returns. */
int64_t eddy__blocks_inverse_work(eddy_dtype d, int64_t n);
void    eddy__blocks_lu_inverse(const eddy_kernel *k, eddy_dtype d, int64_t n, void *lu,
                                const int32_t *pivots, void *work, int64_t elements);

/* float32 and float64: a [m,n] becomes the reflectors, with R in its upper triangle; then q [m,c],
 * whose first `count` columns are the reflectors, becomes Q; `count` is the smaller of m and n, at
 * least 1. `work` has as many elements as the first function returns. */
int64_t eddy__blocks_qr_work(int64_t n, int64_t c);
void    eddy__blocks_qr(const eddy_kernel *k, eddy_dtype d, int64_t m, int64_t n, void *a,
                        void *tau, void *work);
void    eddy__blocks_qr_columns(const eddy_kernel *k, eddy_dtype d, int64_t m, int64_t c,
                                int64_t count, void *q, const void *tau, void *work);

#endif
