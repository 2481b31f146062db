/* exact_matrices.h -- linear algebra and attention with numbers of some thousand bits. */
#ifndef EDDY_TESTS_HUNT_EXACT_MATRICES_H
#define EDDY_TESTS_HUNT_EXACT_MATRICES_H

#include "tests/hunt/exact_nodes.h"

enum { EXACT_ELEMENTS = 256 };

/* Small matrices, by rows. */
typedef struct exact_matrix {
    int m, n;
    num x[EXACT_ELEMENTS];
} exact_matrix;
#define AT(a, i, j) ((a).x[(i) * (a).n + (j)])

exact_matrix exact_zeros(int m, int n);
exact_matrix exact_identity(int n);
exact_matrix exact_transposed(exact_matrix a);
exact_matrix exact_plus(exact_matrix a, exact_matrix b);
exact_matrix exact_times(exact_matrix a, exact_matrix b);
exact_matrix exact_scaled(num c, exact_matrix a);

/* p a = l u in one matrix, with partial pivoting if asked; row i of it is row rows[i] of a. Returns
 * the sign of the permutation. */
int          exact_lu(exact_matrix *a, bool pivoting, int *rows);
exact_matrix exact_solution(exact_matrix a, exact_matrix b);
num          exact_determinant(exact_matrix a);
exact_matrix exact_cofactors(exact_matrix a);
/* Of the lower triangle. */
exact_matrix exact_cholesky(exact_matrix a);
/* a = u diag(s) v' with descending s [1,k], by one-sided Jacobi rotations. */
void         exact_singular(exact_matrix a, exact_matrix *u, exact_matrix *s, exact_matrix *v);
/* Of a symmetric matrix: ascending values [1,n], and the vectors as columns. */
void         exact_eigen(exact_matrix a, exact_matrix *values, exact_matrix *vectors);
/* q with orthonormal columns and r with a positive diagonal. */
void         exact_qr(exact_matrix a, exact_matrix *q, exact_matrix *r);
exact_matrix exact_exponential(exact_matrix a);
exact_matrix exact_root(exact_matrix a);
/* Without the singular values of at most limit times the largest. */
exact_matrix exact_pseudo_inverse(exact_matrix a, double limit);
/* a x + x b = c */
exact_matrix exact_sylvester(exact_matrix a, exact_matrix b, exact_matrix c);

/* Operations of linear algebra, and of attention; NULL for another one. */
exact_run *exact_matrix_run(const char *op);
exact_run *exact_attention_run(const char *op);

#endif
