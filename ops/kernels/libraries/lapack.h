/* lapack.h -- BLAS and LAPACK routines for linear algebra operations, for one matrix of any
 * element type that has them. Private to ops/.
 *
 * Matrices are dense and row-major. LAPACK reads them as their transposes, and each function here
 * asks for the routine that gives the wanted result without transposing the matrix. Sizes are at
 * most INT_MAX, which the shape rules ensure. */
#ifndef EDDY_OPS_KERNELS_LIBRARIES_LAPACK_H
#define EDDY_OPS_KERNELS_LIBRARIES_LAPACK_H

#include "graph/graph.h"

/* The lower triangle of a [n,n] becomes L with L L' what it was; only the lower triangle
 * is read, and the upper one is garbage.  0, or the row from 1 on where a is not positive. */
int eddy__lapack_cholesky(eddy_dtype d, int64_t n, void *a);

/* b [n,k] becomes t^-1 b with t the triangle of a [n,n], or its adjoint. */
void eddy__lapack_triangle_solve(eddy_dtype d, bool lower, bool adjoint, bool unit, int64_t n,
                                 int64_t k, const void *a, void *b);

/* a [n,n] becomes its factors.  0, or the row from 1 on of the first pivot that is 0. */
int eddy__lapack_lu(eddy_dtype d, int64_t n, void *a, int32_t *pivots);
/* b [n,k] becomes the solution of a x = b, or of a' x = b, with the factors of a. */
void eddy__lapack_lu_solve(eddy_dtype d, bool adjoint, int64_t n, int64_t k, const void *lu,
                           const int32_t *pivots, void *b);
/* The factors become the inverse; `work` has as many elements as this says. */
int64_t eddy__lapack_inverse_work(eddy_dtype d, int64_t n);
void    eddy__lapack_lu_inverse(eddy_dtype d, int64_t n, void *lu, const int32_t *pivots,
                                void *work, int64_t elements);

/* b [k,n], each row a side, becomes the solutions for the matrix with this diagonal, with n - 1
 * places below and above it; all are destroyed.  False if it has no inverse. */
bool eddy__lapack_tridiagonal(eddy_dtype d, int64_t n, int64_t k, void *below, void *diagonal,
                              void *above, void *b);

/* Of float32 and float64 from here on. */

/* a [m,n] becomes the reflectors, with R in its upper triangle; then q [m,c], the first
 * min(m, n) columns of which are the reflectors, becomes Q.  n is the number of them. */
int64_t eddy__lapack_qr_work(eddy_dtype d, int64_t m, int64_t n, int64_t c);
void    eddy__lapack_qr(eddy_dtype d, int64_t m, int64_t n, void *a, void *tau, void *work,
                        int64_t elements);
void    eddy__lapack_qr_columns(eddy_dtype d, int64_t m, int64_t c, int64_t reflectors, void *q,
                                const void *tau, void *work, int64_t elements);

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

/* The eigenvalues of the hermitian a [n,n] in ascending order, real ones; only the lower
 * triangle is read.  With vectors, row i of a becomes the conjugate of vector i; otherwise
 * a is destroyed.  Complex types too.  False if it did not converge. */
int64_t eddy__lapack_eigh_work(eddy_dtype d, bool vectors, int64_t n);       /* bytes */
bool    eddy__lapack_eigh(eddy_dtype d, bool vectors, int64_t n, void *a, void *values, void *work);

/* The eigenvalues of the complex a [n,n], which is destroyed.  With v, row i of v [n,n] becomes
 * the conjugate of vector i, which has the length 1.  False if it did not converge. */
int64_t eddy__lapack_eig_work(eddy_dtype d, bool vectors, int64_t n);        /* bytes */
bool    eddy__lapack_eig(eddy_dtype d, int64_t n, void *a, void *values, void *v, void *work);

/* Of complex128, and as LAPACK reads matrices: by columns.  a [n,n] becomes the triangle t, and
 * z what has z t z' = a.  False if it did not converge. */
int64_t eddy__lapack_schur_work(int64_t n);                                  /* bytes */
bool    eddy__lapack_schur(int64_t n, void *a, void *z, void *work);
/* c [m,n] becomes l c r', or l' c r; `room` has as many elements. */
void eddy__lapack_between(int64_t m, int64_t n, bool adjoint, const void *l, void *c, const void *r,
                          void *room);
/* c [m,n] becomes the x of a x + x b = c, a [m,m] and b [n,n] being upper triangles.  False if
 * there is not one solution. */
bool eddy__lapack_triangles_solve(int64_t m, int64_t n, const void *a, const void *b, void *c);

/* c [m,n] = alpha a b + beta c, and y += alpha x for n elements. */
void eddy__lapack_product(eddy_dtype d, int64_t m, int64_t n, int64_t k, double alpha,
                          const void *a, const void *b, double beta, void *c);
void eddy__lapack_add(eddy_dtype d, int64_t n, double alpha, const void *x, void *y);

#endif
