/* krylov.h -- an orthonormal basis that grows by a vector in each iteration of a loop: the rows of
 * V [m + 1, n], which are 0 where there is none yet. */
#ifndef EDDY_CONTROL_KRYLOV_H
#define EDDY_CONTROL_KRYLOV_H

#include "control/internal.h"

/* The matrix with its row i, an int32 scalar, replaced. */
eddy_tensor eddy__krylov_put(eddy_tensor matrix, eddy_tensor i, eddy_tensor row);
/* [m, n] with v as its first row, else 0. */
eddy_tensor eddy__krylov_begin(int64_t m, eddy_tensor v);
/* x [m] with 0 from element `count`, an int32 scalar, on. */
eddy_tensor eddy__krylov_first(eddy_tensor x, int64_t m, eddy_tensor count);
/* The part of w that is orthogonal to the rows of V, by classical Gram-Schmidt, made twice if the
 * first time cancels (Daniel, Gragg, Kaufman and Stewart 1976); V w to `along`, if it is not NULL. */
eddy_tensor eddy__krylov_rest(eddy_tensor v, eddy_tensor w, eddy_tensor *along);

#endif
