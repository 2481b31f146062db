/* linear.h -- helpers shared by the operations of linear algebra: shape rules, the loop over the
 * matrices of a batch, products. Private to ops/. */
#ifndef EDDY_OPS_LINEAR_LINEAR_H
#define EDDY_OPS_LINEAR_LINEAR_H

#include "ops/arrays/arrays.h"

/* ------------------------------------------------------------ inferring -- */

/* Checks that input i has rank 2 or more and matrices [...,m,n] whose sizes LAPACK can
 * represent. */
bool eddy__infer_matrices(eddy_infer *c, int i, int64_t *m, int64_t *n);
/* The same with m = n. */
bool eddy__infer_square(eddy_infer *c, int i, int64_t *n);
/* The smaller of m and n; each may be EDDY_ANY. */
int64_t eddy__shorter_side(int64_t m, int64_t n);
/* s with the last two dimensions replaced; s without the last `gone`. */
eddy_shape eddy__shape_matrix(eddy_shape s, int64_t m, int64_t n);
eddy_shape eddy__shape_less(eddy_shape s, int gone);
/* The shape of the solution of a [...,n,n] for b [...,n,k], whose leading dimensions broadcast. */
bool eddy__infer_system(eddy_infer *c, eddy_shape *y);
/* op->infer of operations from [...,n,n] to [...,n,n]. */
bool eddy__infer_square_as_is(eddy_infer *c);

/* ------------------------------------------------------------- matrices -- */

/* The sizes of the matrices in the last two dimensions. */
static inline int64_t eddy__rows_of(eddy_shape s) { return s.dim[s.rank - 2]; }
static inline int64_t eddy__columns_of(eddy_shape s) { return s.dim[s.rank - 1]; }
static inline int64_t eddy__matrices_of(eddy_shape s)
{
    return eddy__shape_product(s, 0, s.rank - 2);
}
/* The index of the matrix of x for matrix i of y, to which x is broadcast. */
static inline int64_t eddy__matrix_at(eddy_shape y, eddy_shape x, int64_t i)
{
    int64_t at = 0, step = 1;
    for (int d = y.rank - 3, e = x.rank - 3; e >= 0; d--, e--) {
        if (x.dim[e] > 1) at += i % y.dim[d] * step;
        i /= y.dim[d];
        step *= x.dim[e];
    }
    return at;
}
/* Matrix i of a contiguous buffer of matrices; row i of a contiguous buffer of vectors. */
void *eddy__matrix_of(const eddy_buffer *b, int64_t i);
void *eddy__vector_of(const eddy_buffer *b, int64_t i);

/* For prepare: requests `bytes` of scratch memory for each worker. */
void eddy__matrix_scratch(eddy_kernel *k, int64_t bytes);
/* Calls fn for matrices 0 to count - 1, on all threads if `flops` per matrix are worth it.
 * Returns the index of the first matrix for which fn returned false, or -1. */
typedef bool eddy_matrix_fn(const eddy_kernel *k, int64_t i, char *scratch);
int64_t eddy__each_matrix(const eddy_kernel *k, int64_t count, double flops, eddy_matrix_fn *fn);
/* The same for a function that may take long and does not look at the stop: a run that must end
 * does not wait for it. It uses no member of k except attributes, inputs, outputs, threads and the
 * stop; its attributes have no pointers; `count` is that of each operand. `failed`, if not NULL,
 * becomes the index. Fails with EDDY_NO_MEMORY. */
void        eddy__long_matrix_scratch(eddy_kernel *k, int64_t bytes, int64_t count, double flops);
eddy_status eddy__each_long_matrix(eddy_kernel *k, int64_t count, double flops, eddy_matrix_fn *fn,
                                   int64_t *failed);

/* The n by n identity matrix; the transpose y [n,m] of x [m,n], with complex elements conjugated
 * on request, incomplete if the run of k must end; whether all of n numbers are finite; n NaNs. */
void eddy__fill_identity(eddy_dtype d, int64_t n, void *y);
void eddy__turn_matrix(const eddy_kernel *k, eddy_dtype d, bool conjugate, int64_t m, int64_t n,
                       const void *x, void *y);
bool eddy__numbers_are_finite(eddy_dtype d, int64_t n, const void *x);
void eddy__fill_nan(eddy_dtype d, int64_t n, void *y);
/* c [m,n] = a b with a [m,depth], of type d, on the threads of k. */
void eddy__matrix_product(const eddy_kernel *k, eddy_dtype d, int64_t m, int64_t n, int64_t depth,
                          const void *a, const void *b, void *c);

/* --------------------------------------------------------------- graphs -- */

/* The lower triangles of matrices, with halved diagonals. */
eddy_tensor eddy__half_triangle(eddy_tensor x);
/* Identity matrices of the shape of x. */
eddy_tensor eddy__identity_like(eddy_tensor x);
/* x y, x' y and x y' with ' the adjoint, for matrices in the last two dimensions. */
eddy_tensor eddy__times(eddy_tensor x, eddy_tensor y);
eddy_tensor eddy__adjoint_times(eddy_tensor x, eddy_tensor y);
eddy_tensor eddy__times_adjoint(eddy_tensor x, eddy_tensor y);
/* (x + x') / 2. */
eddy_tensor eddy__hermitian_part(eddy_tensor x);
/* 1 / (v[j] - v[i]) at [i,j] for vectors v in the last dimension; 0 for equal elements. */
eddy_tensor eddy__inverse_gaps(eddy_tensor v);
/* The vectors, for the gradient of an operation whose output 0 is `values` in order. If dy is
 * computed from that output, a run fails with the message where the derivative of the gradient by
 * the vectors is needed and two values are equal. */
eddy_tensor eddy__vectors_of_distinct(const eddy_rule *r, eddy_tensor vectors, eddy_tensor values,
                                      const char *message);

#endif
