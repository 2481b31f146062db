/* lapack.h -- BLAS and LAPACK routines for linear algebra operations, for one matrix of any
 * element type that has them. Private to ops/.
 *
 * Matrices are dense and row-major. LAPACK reads them as their transposes, and each function here
 * asks for the routine that gives the wanted result without transposing the matrix. Sizes are at
 * most INT_MAX, which the shape rules ensure. */
#ifndef EDDY_OPS_KERNELS_LIBRARIES_LAPACK_H
#define EDDY_OPS_KERNELS_LIBRARIES_LAPACK_H

#include "graph/graph.h"

/* The lower triangle of a [n,n], whose rows are ld elements apart, becomes L with L L' = a; only
 * the lower triangle is read, and the upper one is undefined.  Returns 0, or the number (from 1) of
 * the row at which a is not positive definite. */
int eddy__lapack_cholesky(eddy_dtype d, int64_t n, void *a, int64_t ld);

/* The transpose of a, [m,n], whose columns are ld elements apart, becomes its factors.  Returns 0,
 * or the number (from 1) of the column of the first pivot that is 0. */
int eddy__lapack_lu(eddy_dtype d, int64_t m, int64_t n, void *a, int64_t ld, int32_t *pivots);
/* Exchanges each of the first `count` rows of a matrix of n columns, which are ld elements apart,
 * with the row that its pivot names. */
void eddy__lapack_exchange(eddy_dtype d, int64_t n, void *a, int64_t ld, int64_t count,
                           const int32_t *pivots);
/* The upper triangle of a matrix in column-major order, whose columns are ld elements apart,
 * becomes its inverse. */
void eddy__lapack_triangle_inverse(eddy_dtype d, int64_t n, void *a, int64_t ld);
/* The factors become the inverse; `work` has as many elements as the first function returns. */
int64_t eddy__lapack_inverse_work(eddy_dtype d, int64_t n);
void    eddy__lapack_lu_inverse(eddy_dtype d, int64_t n, void *lu, const int32_t *pivots,
                                void *work, int64_t elements);

/* b [k,n], whose rows are the right-hand sides, becomes the solutions for the matrix with these
 * diagonals, of which those below and above have n - 1 elements; the diagonals are destroyed.
 * False if the matrix is singular. */
bool eddy__lapack_tridiagonal(eddy_dtype d, int64_t n, int64_t k, void *below, void *diagonal,
                              void *above, void *b);

/* Singular value decompositions: float32 and float64. */

/* a [m,n], which is destroyed, is u diag(s) v': u [m,m] or [m,min(m,n)], and v' of [n,n] or
 * [min(m,n),n].  Without vectors u and v are not touched.  False if it did not converge. */
typedef struct eddy_svd {
    eddy_dtype dtype;
    bool       vectors, full;
    int64_t    m, n;
} eddy_svd;
int64_t eddy__lapack_svd_work(const eddy_svd *p);       /* bytes */
bool    eddy__lapack_svd(const eddy_svd *p, void *a, void *s, void *u, void *vt, void *work,
                         int64_t bytes);

/* The eigenvalues of the Hermitian a [n,n], of any of the four types, in ascending order; they are
 * real.  Only the lower triangle is read.  With vectors, row i of a becomes the conjugate of
 * eigenvector i; otherwise a is destroyed.  False if it did not converge. */
int64_t eddy__lapack_eigh_work(eddy_dtype d, bool vectors, int64_t n);       /* bytes */
bool    eddy__lapack_eigh(eddy_dtype d, bool vectors, int64_t n, void *a, void *values, void *work);

/* The eigenvalues of the complex a [n,n], which is destroyed.  With v, row i of v [n,n] becomes the
 * conjugate of eigenvector i, which has norm 1.  False if it did not converge. */
int64_t eddy__lapack_eig_work(eddy_dtype d, bool vectors, int64_t n);        /* bytes */
bool    eddy__lapack_eig(eddy_dtype d, int64_t n, void *a, void *values, void *v, void *work);

/* The Schur decomposition and its uses, for complex128 matrices in column-major order.  a [n,n]
 * becomes the triangle t, and z the unitary matrix with z t z' = a.  False if it did not
 * converge. */
int64_t eddy__lapack_schur_work(int64_t n);                                  /* bytes */
bool    eddy__lapack_schur(int64_t n, void *a, void *z, void *work);
/* c [m,n] becomes l c r', or l' c r if `adjoint`; `room` has as many elements as c. */
void eddy__lapack_between(int64_t m, int64_t n, bool adjoint, const void *l, void *c, const void *r,
                          void *room);
/* c [m,n] becomes the x of a x + x b = c, where a [m,m] and b [n,n] are upper triangular.  False
 * unless the solution is unique. */
bool eddy__lapack_triangles_solve(int64_t m, int64_t n, const void *a, const void *b, void *c);

#endif
