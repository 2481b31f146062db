/* sparse.h -- Jacobians and Hessians with few elements that are not zero, as compressed rows. */
#ifndef EDDY_AUTODIFF_SPARSE_SPARSE_H
#define EDDY_AUTODIFF_SPARSE_SPARSE_H

#include "../../graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A matrix by compressed rows: those elements of row i that may differ from zero are numbers
 * row_splits[i] to row_splits[i + 1] - 1, in ascending order of their columns. All three are
 * tensors of the graph. */
typedef struct eddy_sparse_matrix {
    eddy_tensor values;            /* [entries], of the type of x */
    eddy_tensor column;            /* int64 [entries], constant */
    eddy_tensor row_splits;        /* int64 [rows + 1], constant */
    int64_t     rows, columns, entries;
    int64_t     colors;            /* products with a vector that a run computes */
} eddy_sparse_matrix;

/* dy/dx as a matrix with a row for each element of y and a column for each element of x.
 *
 *   eddy_sparse_matrix j;
 *   eddy_sparse_jacobian(y, x, &j);
 *   eddy_run(s, EDDY_FEED(), EDDY_FETCH(j.values, j.column, j.row_splits), out);
 *
 * Which elements may differ from zero is found from the operations between x and y: elementwise
 * ones and those that move, select or sum elements are followed element by element, a matrix
 * product by rows and columns; any other operation counts as if each element of its results
 * depended on all elements of its inputs. Indices must be constants, else they count in the same
 * way. Columns that have no row in common are computed together, by one Jacobian-vector product; or
 * rows that have no column in common, by one vector-Jacobian product, if that takes fewer (Curtis,
 * Powell and Reid, 1974). So a band of width w takes w products, whatever its length. The values
 * may be differentiated.
 *
 * y, x  real floating-point types; all sizes between x and y must be known while building
 *
 * An element that does not depend on x has no entries. Errors: EDDY_BAD_DTYPE for other types,
 * EDDY_BAD_SHAPE for unknown sizes, EDDY_INVALID_ARGUMENT if out is NULL, EDDY_LIMIT for rank 8 or
 * more than 2^28 elements in a pattern, EDDY_NO_MEMORY. On an error the tensors in out are invalid.
 * Returns the graph's status. */
EDDY_API eddy_status eddy_sparse_jacobian(eddy_tensor y, eddy_tensor x, eddy_sparse_matrix *out);

/* The Hessian of the sum of y with respect to x, with a row and a column for each element of x, and
 * both triangles.
 *
 * Elements interact in the operations that are not linear in them: in a product of two tensors that
 * both depend on x, or any other operation except sums, differences and those that move elements.
 * As for eddy_sparse_jacobian, with one Hessian-vector product for each color of a star coloring of
 * the symmetric pattern (Coleman and More, 1984; Gebremedhin, Manne and Pothen, 2005). Of a
 * function that is linear in x it has no entries. */
EDDY_API eddy_status eddy_sparse_hessian(eddy_tensor y, eddy_tensor x, eddy_sparse_matrix *out);

#ifdef __cplusplus
}
#endif
#endif
