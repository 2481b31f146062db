/* norms.c -- norms of vectors and matrices, matrix rank, condition number, and least squares
 * (lstsq). */
#include "graph/internal.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "ops/arrays/arrays.h"
#include "ops/linear/linear.h"
#include "ops/short_names.h"
#include "ops/kernels/reduction/reduce_engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ norm -- */

#ifdef EDDY_HEADER
typedef struct eddy_norm_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_norm_args));
    eddy_tensor x;
    const char *ord;              /* default "euclidean" */
    eddy_dims   axes;             /* one for vectors, two for matrices; default: all elements */
    bool        keepdims;
    const char *name;
} eddy_norm_args;
#endif

static bool equals(const char *ord, const char *word) { return strcmp(ord, word) == 0; }

/* x^p for x >= 0, with a gradient of 0 at 0. */
static eddy_tensor safe_power(eddy_tensor x, double p)
{
    const eddy_tensor none = Equal(x, 0);
    return Where(none, ZerosLike(x), Pow(Where(none, OnesLike(x), x), p));
}

/* Parses the order as a number; false if it is not one. */
static bool number_of(const char *ord, double *p)
{
    char *end;
    *p = strtod(ord, &end);
    return *ord && !*end && !isnan(*p);
}

/* The largest magnitude; 0 for no elements. */
static eddy_tensor largest(eddy_tensor sizes, eddy_dims axes)
{
    return Maximum(Max(sizes, axes, .keepdims = true), 0);
}

/* The scale by which magnitudes are divided before powers are taken, so that the sum is near 1:
 * the largest magnitude, or the smallest one if the power is negative. Neither the norm nor its
 * gradient depends on it. */
static eddy_tensor scale_of(eddy_tensor size, double p, eddy_dims axes)
{
    const eddy_tensor most = p > 0 ? Max(size, axes, .keepdims = true)
                                   : Min(size, axes, .keepdims = true);
    const eddy_tensor fits = LogicalAnd(Greater(most, 0), IsFinite(most));
    return eddy_stop_gradient(Where(fits, most, 1));
}

static eddy_tensor vector_norm(eddy_tensor x, double p, eddy_dims axes)
{
    const eddy_tensor size = Abs(x);
    if (p == (double)INFINITY) return largest(size, axes);
    if (p == -(double)INFINITY) return Min(size, axes, .keepdims = true);
    if (p == 0) return Sum(CastLike(NotEqual(size, 0), size), axes, .keepdims = true);
    if (p == 1) return Sum(size, axes, .keepdims = true);
    if (p == 2) return eddy__norm_of(x, axes, true);
    const eddy_tensor scale = scale_of(size, p, axes), part = Div(size, scale);
    /* Powers from 3 on have derivatives to the third order at 0. */
    const bool        safe = p > 0 && p < 3;
    const eddy_tensor power = safe ? safe_power(part, p) : Pow(part, p);
    const eddy_tensor sum = Sum(power, axes, .keepdims = true);
    /* For orders near 0, the outer power alone may overflow: it is applied in two halves. */
    const bool        far = fabs(p) < 1;
    const double      e = far ? 0.5 / p : 1 / p;
    const eddy_tensor root = p > 0 ? safe_power(sum, e) : Pow(sum, e);
    return far ? Mul(Mul(scale, root), root) : Mul(scale, root);
}

/* Sums of magnitudes along one axis, then the maximum or the minimum along the other. */
static eddy_tensor sum_norm(eddy_tensor x, int64_t summed, int64_t chosen, bool most)
{
    const eddy_tensor sums = Sum(Abs(x), EDDY_AXES(summed), .keepdims = true);
    return most ? largest(sums, EDDY_AXES(chosen))
                : Min(sums, EDDY_AXES(chosen), .keepdims = true);
}

/* The norms of the singular values, with the axes restored. */
static eddy_tensor singular_norm(eddy_tensor x, const char *ord, eddy_dims axes)
{
    const int rank = eddy_shape_of(x).rank;
    eddy_dims perm = { .count = rank };
    const bool last = axes.at[0] == -2 && axes.at[1] == -1;
    if (!last && rank < 0)
        return eddy_fail(x.graph, EDDY_BAD_SHAPE, "norm: '%.40s' requires a known rank",
                         ord);
    for (int i = 0, n = 0; !last && i < rank; i++)
        if (i != eddy__axis_of(axes.at[0], rank) && i != eddy__axis_of(axes.at[1], rank))
            perm.at[n++] = i;
    if (!last && rank >= 2) {
        perm.at[rank - 2] = eddy__axis_of(axes.at[0], rank);
        perm.at[rank - 1] = eddy__axis_of(axes.at[1], rank);
        x = eddy_transpose(x, perm);
    }
    const eddy_tensor s = eddy_svd(x, .no_uv = true);
    eddy_tensor       y = equals(ord, "nuc") ? Sum(s, EDDY_AXES(-1))
                          : equals(ord, "2") ? Max(s, EDDY_AXES(-1))
                                             : Min(s, EDDY_AXES(-1));
    if (last) return ExpandDims(ExpandDims(y, -1), -1);
    const int a = eddy__axis_of(axes.at[0], rank), b = eddy__axis_of(axes.at[1], rank);
    return ExpandDims(ExpandDims(y, a < b ? a : b), a < b ? b : a);
}

/* An unknown norm gives an invalid tensor. */
static eddy_tensor matrix_norm(eddy_tensor x, const char *ord, eddy_dims axes)
{
    const int64_t rows = axes.at[0], columns = axes.at[1];
    if (equals(ord, "1") || equals(ord, "-1")) return sum_norm(x, rows, columns, equals(ord, "1"));
    if (equals(ord, "inf") || equals(ord, "-inf"))
        return sum_norm(x, columns, rows, equals(ord, "inf"));
    if (equals(ord, "2") || equals(ord, "-2") || equals(ord, "nuc"))
        return singular_norm(x, ord, axes);
    return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "norm: '%.40s' is not a matrix norm",
                     ord);
}

/* Checks, as far as the rank is known, that x has both axes and that they differ; records an
 * error otherwise. */
static bool are_two_axes(eddy_tensor x, eddy_dims axes)
{
    const int rank = eddy_shape_of(x).rank;
    int64_t   at[2];
    for (int i = 0; i < 2; i++) {
        at[i] = axes.at[i];
        if (rank >= 0 && (at[i] < -rank || at[i] >= rank)) {
            eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "norm: axis %lld is not in [-%d, %d)",
                      (long long)at[i], rank, rank);
            return false;
        }
        if (rank >= 0 && at[i] < 0) at[i] += rank;
    }
    if (at[0] == at[1])
        eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "norm: axes %lld and %lld are the same",
                  (long long)axes.at[0], (long long)axes.at[1]);
    return at[0] != at[1];
}

static eddy_tensor norm_of(const eddy_norm_args *a, const char *ord)
{
    double p;
    if (a->axes.count < 0 || a->axes.count > 2)
        return eddy_fail(a->x.graph, EDDY_INVALID_ARGUMENT, "norm: %d axes given; expected 1 or 2",
                         a->axes.count < 0 ? 0 : a->axes.count);
    if (a->axes.count == 2 && !are_two_axes(a->x, a->axes)) return eddy_none(a->x.graph);
    if (equals(ord, "euclidean") || equals(ord, "fro")) return eddy__norm_of(a->x, a->axes, true);
    if (a->axes.count == 2) return matrix_norm(a->x, ord, a->axes);
    if (!number_of(ord, &p))
        return eddy_fail(a->x.graph, EDDY_INVALID_ARGUMENT, "norm: '%.40s' is not a vector norm",
                         ord);
    return vector_norm(a->x, p, a->axes);
}

/** y = the norm of the vectors, or matrices, along `axes`.
 *
 *  x         float32, float64, complex64 or complex128; y has the corresponding real type
 *  ord       for all elements or along one axis: "euclidean" (default), "fro" or "2": the square
 *            root of the sum of |x|^2; "1": the sum of |x|; "inf" and "-inf": the largest and the
 *            smallest |x|; "0": the number of nonzero elements; any other number p: (the sum of
 *            |x|^p)^(1/p).  Along two axes, those of the rows and the columns: "euclidean" or
 *            "fro": as above; "1" and "-1": the largest and the smallest column sum of |x|; "inf"
 *            and "-inf": the largest and the smallest row sum; "2", "-2" and "nuc": the largest,
 *            the smallest and the sum of the singular values
 *  axes      one or two; default: x is one vector
 *  keepdims  keeps the axes, with size 1
 *
 *  For no elements, the largest magnitude is 0 and the smallest infinity.  Elements are scaled by
 *  the largest magnitude before powers are taken, and float32 is squared in float64, so that no
 *  intermediate value overflows or underflows.
 *
 *  Errors: EDDY_INVALID_ARGUMENT for an unknown order, another number of axes, and invalid or
 *  equal axes; otherwise as for eddy_svd.
 *  Gradient: that of the formula, with 0 for a root at 0, where TensorFlow's gradient is NaN.
 *  TensorFlow: tf.norm. */
eddy_tensor eddy_norm_with(const eddy_norm_args *given)
{
    eddy_norm_args a = EDDY_TAKE(eddy_norm_args, given);
    if (!eddy_is_valid(a.x)) return eddy_identity(a.x);
    eddy_scope_begin(a.x.graph, a.name ? a.name : "norm");
    eddy_tensor y = norm_of(&a, a.ord ? a.ord : "euclidean");
    if (eddy_is_valid(y) && !a.keepdims) {
        if (a.axes.count > 0) y = Squeeze(y, a.axes);
        else y = eddy_reshape(y, EDDY_SCALAR);
    }
    eddy_scope_end(a.x.graph);
    return y;
}

/* ------------------------------------------------------------------ rank -- */

#ifdef EDDY_HEADER
typedef struct eddy_matrix_rank_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_matrix_rank_args));
    eddy_tensor x;
    /* default max(m, n) epsilon times the largest singular value */
    double      tol EDDY_DEFAULT(EDDY_OMITTED);
    const char *name;
} eddy_matrix_rank_args;
#endif

/** y = the rank of each matrix of x: the number of singular values above `tol`.
 *
 *  x    float32 or float64, [...,m,n]; y is int32 [...]
 *  tol  default max(m, n) epsilon times the largest singular value, with epsilon that of the type
 *
 *  Errors: as for eddy_svd.
 *  Gradient: none.  TensorFlow: tf.linalg.matrix_rank. */
eddy_tensor eddy_matrix_rank_with(const eddy_matrix_rank_args *given)
{
    eddy_matrix_rank_args a = EDDY_TAKE(eddy_matrix_rank_args, given);
    const double epsilon = eddy__dtype_epsilon(eddy_dtype_of(a.x));
    const eddy_tensor s = eddy_svd(a.x, .no_uv = true);
    if (!eddy_is_valid(s)) return s;
    const eddy_tensor rows = Sum(OnesLike(a.x), EDDY_AXES(-2)), columns = Sum(OnesLike(a.x),
                                                                             EDDY_AXES(-1));
    const eddy_tensor size = Maximum(Max(rows, EDDY_AXES(-1), .keepdims = true),
                                     Max(columns, EDDY_AXES(-1), .keepdims = true));
    const eddy_tensor limit = a.tol != EDDY_OMITTED ? NumberLike(a.tol, s)
        : Mul(Mul(epsilon, size), Max(s, EDDY_AXES(-1), .keepdims = true));
    return Sum(Cast(Greater(s, limit), EDDY_INT32), EDDY_AXES(-1), .name = a.name);
}

/* The norm of x times that of the inverse of z. */
static eddy_tensor norm_of_both(eddy_tensor x, eddy_tensor z, const char *ord)
{
    const eddy_dims matrices = EDDY_AXES(-2, -1);
    return Mul(eddy_norm(x, ord, matrices), eddy_norm(eddy_inverse(z), ord, matrices));
}

/* The same, and infinity for a singular matrix. */
static eddy_tensor cond_by_inverse(eddy_tensor x, const char *ord)
{
    const eddy_tensor none = Equal(eddy_slogdet(x), 0);
    const eddy_tensor some = Where(ExpandDims(ExpandDims(none, -1), -1), eddy__identity_like(x), x);
    return Where(none, (double)INFINITY, norm_of_both(x, some, ord));
}

/** y = the condition number of each matrix of x: its norm times that of its inverse.
 *
 *  x    float32 or float64, [...,m,n]; y is [...]
 *  ord  NULL or "2": the largest singular value divided by the smallest; "-2": the reciprocal;
 *       for square matrices also "fro", "nuc", "1", "-1", "inf", "-inf", as for eddy_norm
 *
 *  Infinity for a singular matrix; with the order "-2", 0 for a singular matrix and NaN for a
 *  zero matrix.
 *  Errors: as for eddy_svd, eddy_norm and eddy_slogdet.
 *  Gradient: that of the formula.  NumPy: linalg.cond. */
eddy_tensor eddy_condition_number(eddy_tensor x, const char *ord)
{
    if (ord && !equals(ord, "2") && !equals(ord, "-2"))
        return eddy_dtype_is_complex(eddy_dtype_of(x)) ? norm_of_both(x, x, ord)
                                                       : cond_by_inverse(x, ord);
    const eddy_tensor s = eddy_svd(x, .no_uv = true);
    const eddy_tensor most = Max(s, EDDY_AXES(-1)), least = Min(s, EDDY_AXES(-1));
    if (ord && equals(ord, "-2")) return Div(least, most);
    return Where(Equal(most, 0), (double)INFINITY, Div(most, least));
}

/* ----------------------------------------------------------------- lstsq -- */

#ifdef EDDY_HEADER
typedef struct eddy_lstsq_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_lstsq_args));
    eddy_tensor matrix, rhs;      /* [...,m,n] and [...,m,k] */
    double      l2_regularizer;
    bool        complete;         /* for any rank, by singular values; ignores l2_regularizer */
    const char *name;
} eddy_lstsq_args;
#endif

/** y = the x that minimizes |matrix x - rhs|^2 + l2_regularizer |x|^2; if there are several, the
 *  one with the smallest |x|.
 *
 *  matrix          float32 or float64, [...,m,n], of full rank
 *  rhs             same type, [...,m,k]; the leading dimensions broadcast; y is [...,n,k]
 *  l2_regularizer  must not be negative
 *  complete        accepts matrices of any rank and ignores l2_regularizer; slower and more
 *                  accurate; TensorFlow's fast = False
 *
 *  Computed from the Cholesky factor of matrix' matrix, or of matrix matrix' for fewer rows than
 *  columns, which squares the condition number; if sizes are unknown while building and there is
 *  no regularizer, computed as with `complete`.
 *  Errors: EDDY_INVALID_ARGUMENT for a negative regularizer and, at run time, for a matrix
 *  without full rank; otherwise as for eddy_matmul.
 *  Gradient: that of the formula.  TensorFlow: MatrixSolveLs. */
eddy_tensor eddy_lstsq_with(const eddy_lstsq_args *given)
{
    eddy_lstsq_args a = EDDY_TAKE(eddy_lstsq_args, given);
    const eddy_shape s = eddy_shape_of(a.matrix);
    const int64_t m = s.rank < 2 ? EDDY_ANY : eddy__rows_of(s);
    const int64_t n = s.rank < 2 ? EDDY_ANY : eddy__columns_of(s);
    const eddy_tensor x = a.matrix;
    if (!(a.l2_regularizer >= 0))
        return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "lstsq: l2_regularizer = %g is negative",
                         a.l2_regularizer);
    if (a.complete || (a.l2_regularizer == 0 && (m < 0 || n < 0)))
        return eddy__times(eddy_pinv(x), a.rhs);
    const bool tall = m < 0 || n < 0 || m >= n;
    const eddy_tensor product = tall ? eddy__adjoint_times(x, x) : eddy__times_adjoint(x, x);
    const eddy_tensor ridge = Mul(a.l2_regularizer, eddy__identity_like(product));
    const eddy_tensor l = eddy_cholesky(a.l2_regularizer > 0 ? Add(product, ridge) : product);
    if (tall) return eddy_cholesky_solve(l, eddy__adjoint_times(x, a.rhs));
    return eddy__adjoint_times(x, eddy_cholesky_solve(l, a.rhs));
}
