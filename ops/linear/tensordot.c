/* tensordot.c -- tensordot, dot, inner, outer and Kronecker products, matrix powers and the
 * trace; composed of other operations. */
#include "graph/internal.h"
#include "graph/call_options.h"
#include "ops/linear/einsum.h"
#include "ops/linear/linear.h"
#include "ops/short_names.h"

/* ------------------------------------------------------------- tensordot -- */

#ifdef EDDY_HEADER
typedef struct eddy_tensordot_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_tensordot_args));
    eddy_tensor a, b;
    int64_t     axes;             /* number of axes, the last of a and the first of b; or: */
    eddy_dims   a_axes, b_axes;   /* axis a_axes[i] of a with axis b_axes[i] of b */
    const char *name;
} eddy_tensordot_args;
#endif

/* The summed axes, counted from the front; false after recording an error. */
static bool paired_axes(const eddy_tensordot_args *t, eddy_dims *of_a, eddy_dims *of_b)
{
    const int ranks[] = { eddy_shape_of(t->a).rank, eddy_shape_of(t->b).rank };
    const int count = t->a_axes.count > 0 ? t->a_axes.count : 0;
    if (eddy_refuse_number(t->a.graph, "tensordot", "a_axes", t->a_axes) ||
        eddy_refuse_number(t->a.graph, "tensordot", "b_axes", t->b_axes)) return false;
    bool good = count == (t->b_axes.count > 0 ? t->b_axes.count : 0) &&
                (count == 0 || t->axes == 0) && t->axes >= 0 && t->axes <= ranks[0] &&
                t->axes <= ranks[1];
    *of_a = *of_b = (eddy_dims){ .count = count > 0 ? count : (int)(good ? t->axes : 0) };
    for (int i = 0; good && i < of_a->count; i++) {
        of_a->at[i] = count > 0 ? t->a_axes.at[i] : ranks[0] - t->axes + i;
        of_b->at[i] = count > 0 ? t->b_axes.at[i] : i;
        if (of_a->at[i] < 0) of_a->at[i] += ranks[0];
        if (of_b->at[i] < 0) of_b->at[i] += ranks[1];
        good = of_a->at[i] >= 0 && of_b->at[i] >= 0 && of_a->at[i] < ranks[0] &&
               of_b->at[i] < ranks[1];
        for (int j = 0; j < i; j++)
            good = good && of_a->at[j] != of_a->at[i] && of_b->at[j] != of_b->at[i];
    }
    if (!good)
        eddy_fail(t->a.graph, EDDY_INVALID_ARGUMENT,
                  "tensordot: the axes are not valid pairs for ranks %d and %d", ranks[0],
                  ranks[1]);
    return good;
}

/* A label for each axis, the same for both axes of a pair; the result has the unpaired labels. */
static void put_labels(eddy_axes_of axes[3], const eddy_dims *of_a, const eddy_dims *of_b)
{
    const eddy_dims *const gone[] = { of_a, of_b };
    int labels = 0;
    for (int which = 0; which < 2; which++)
        for (int i = 0; i < axes[which].n; i++) {
            bool stays = true;
            for (int j = 0; j < gone[which]->count; j++) stays = stays && gone[which]->at[j] != i;
            axes[which].label[i] = labels;
            if (stays) axes[2].label[axes[2].n++] = labels;
            labels++;
        }
    for (int i = 0; i < of_a->count; i++)
        axes[1].label[of_b->at[i]] = axes[0].label[of_a->at[i]];
}

/** y = the sum of products over pairs of axes; y has the other axes of a, followed by those of b.
 *
 *  a, b    of the same type, any that eddy_matmul takes, of known rank
 *  axes    number of pairs: the last axes of a with the first axes of b, in order; 0: none
 *  a_axes  a list of pairs instead: axis a_axes[i] of a with axis b_axes[i] of b
 *  name    of the name scope of its nodes
 *
 *  Errors: EDDY_INVALID_ARGUMENT for invalid or repeated axes or lists of different lengths,
 *  EDDY_BAD_SHAPE for an unknown rank or sizes that differ, EDDY_LIMIT for a result of more than
 *  8 dimensions.
 *  Gradient: that of the matrix product.  TensorFlow: tf.tensordot. */
eddy_tensor eddy_tensordot_with(const eddy_tensordot_args *given)
{
    eddy_tensordot_args t = EDDY_TAKE(eddy_tensordot_args, given);
    eddy_axes_of axes[3] = { { .n = eddy_shape_of(t.a).rank }, { .n = eddy_shape_of(t.b).rank },
                             { .n = 0 } };
    eddy_dims of_a, of_b;
    if (!eddy_is_valid(t.a) || !eddy_is_valid(t.b))
        return eddy_identity(eddy_is_valid(t.a) ? t.b : t.a);
    if (axes[0].n < 0 || axes[1].n < 0)
        return eddy_fail(t.a.graph, EDDY_BAD_SHAPE, "tensordot: a rank is unknown");
    if (!paired_axes(&t, &of_a, &of_b)) return eddy_none(t.a.graph);
    if (axes[0].n + axes[1].n - 2 * of_a.count > EDDY_MAX_RANK)
        return eddy_fail(t.a.graph, EDDY_LIMIT, "tensordot: the result would have rank %d, above "
                         "%d", axes[0].n + axes[1].n - 2 * of_a.count, EDDY_MAX_RANK);
    put_labels(axes, &of_a, &of_b);
    eddy_scope_begin(t.a.graph, t.name ? t.name : "tensordot");
    const eddy_tensor y = eddy__contract(EDDY_LIST(t.a, t.b), axes, &axes[2]);
    eddy_scope_end(t.a.graph);
    return y;
}

/** y[i..., j...] = a[i...] b[j...], every element of a times every element of b.
 *
 *  a, b  of the same type, any that eddy_matmul takes, of known ranks whose sum is at most 8
 *
 *  For vectors, the outer product.
 *  Errors: as for eddy_tensordot.
 *  Gradient: da = dy b summed over the axes of b; db likewise.
 *  TensorFlow: tf.tensordot with axes = 0; NumPy's multiply.outer. */
eddy_tensor eddy_outer(eddy_tensor a, eddy_tensor b) { return eddy_tensordot(a, b); }

/** y = the sum of products over the last axes; y has the other axes of a, followed by those of b.
 *
 *  a, b  of the same type, any that eddy_matmul takes, of known rank above 0
 *
 *  Errors: as for eddy_tensordot.
 *  Gradient: as for eddy_tensordot.  NumPy: inner. */
eddy_tensor eddy_inner(eddy_tensor a, eddy_tensor b)
{
    return eddy_tensordot(a, b, .a_axes = EDDY_AXES(-1), .b_axes = EDDY_AXES(-1));
}

/* Operations built from here to eddy_control_end wait for an eddy_assert_shapes. */
static void hold_shapes(eddy_list xs, const char *shapes)
{
    eddy_control_begin(xs.at[0].graph, EDDY_LIST(eddy_assert_shapes(xs, shapes)));
}

/* The last dimension; EDDY_ANY if there is none or it is unknown. */
static int64_t last_of(eddy_tensor x)
{
    const eddy_shape s = eddy_shape_of(x);
    return s.rank > 0 ? s.dim[s.rank - 1] : EDDY_ANY;
}

/** y = the sum of a[i] b[i], the dot products of vectors along the last axis.
 *
 *  a, b  any numeric type except float16 and bfloat16, the same for both, [...,n]; the leading
 *        dimensions broadcast
 *
 *  Errors: as for eddy_mul and eddy_sum; EDDY_BAD_SHAPE if the lengths of the vectors differ, or
 *  EDDY_CHECK_FAILED at run time if they were unknown while building.
 *  Gradient: da = dy b, db = dy a.  TensorFlow: tf.tensordot of vectors; PyTorch: dot. */
eddy_tensor eddy_dot(eddy_tensor a, eddy_tensor b)
{
    const int64_t m = last_of(a), n = last_of(b);
    const bool    open = m == EDDY_ANY || n == EDDY_ANY;
    if (!eddy_is_valid(a) || !eddy_is_valid(b)) return Mul(a, b);
    if (!open && m != n)
        return eddy_fail(a.graph, EDDY_BAD_SHAPE,
                         "dot: the number of elements is %lld in a and %lld in b; expected equal "
                         "numbers",
                         (long long)m, (long long)n);
    if (!open) return Sum(Mul(a, b), EDDY_AXES(-1));
    hold_shapes(EDDY_LIST(a, b), "..., n; ..., n");
    const eddy_tensor y = Sum(Mul(a, b), EDDY_AXES(-1));
    eddy_control_end(a.graph);
    return y;
}

/** y = the sum of conj(a) b over all elements.
 *
 *  a, b  any numeric type except float16 and bfloat16, the same for both, with equal numbers of
 *        elements
 *
 *  Errors: EDDY_BAD_SHAPE if the numbers of elements differ; otherwise as for eddy_mul.
 *  Gradient: that of the product and the sum.  NumPy: vdot. */
eddy_tensor eddy_vdot(eddy_tensor a, eddy_tensor b)
{
    return Sum(Mul(Conj(a), ReshapeLike(b, a)));
}

#ifdef EDDY_HEADER
typedef struct eddy_matvec_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_matvec_args));
    eddy_tensor a, b;             /* [...,m,n] and [...,n] */
    bool        transpose_a;      /* a is [...,n,m] and used transposed */
    bool        adjoint_a;        /* likewise, and conjugated */
    const char *name;
} eddy_matvec_args;
#endif

/** y = a b, matrices times vectors: [...,m,n] and [...,n] give [...,m].
 *
 *  a, b         of the same type, any that eddy_matmul takes; the leading dimensions broadcast
 *  transpose_a  a is [...,n,m] and used transposed; adjoint_a: likewise, and conjugated
 *
 *  Errors: as for eddy_matmul.
 *  Gradient: da = dy b', db = a' dy.  TensorFlow: tf.linalg.matvec. */
eddy_tensor eddy_matvec_with(const eddy_matvec_args *given)
{
    eddy_matvec_args t = EDDY_TAKE(eddy_matvec_args, given);
    const eddy_tensor a = t.adjoint_a ? eddy_adjoint(t.a)
                        : t.transpose_a ? eddy_matrix_transpose(t.a) : t.a;
    return Squeeze(eddy__times(a, ExpandDims(t.b, -1)), EDDY_AXES(-1), .name = t.name);
}

/* ------------------------------------------------------------------ kron -- */

/* x with an axis of size 1 after, or before, each of its axes. */
static eddy_tensor interleave(eddy_tensor x, int rank, bool behind)
{
    for (int i = 0; i < rank; i++) x = ExpandDims(x, 2 * i + (behind ? 1 : 0));
    return x;
}

/* The last two axes broadcast to these sizes and merged, so that loops are long. */
static eddy_tensor widen(eddy_tensor x, int64_t m, int64_t n)
{
    eddy_shape s = eddy__shape_matrix(eddy_shape_of(x), m, n);
    if (s.rank < 2) return eddy_none(x.graph);          /* there was an error */
    x = eddy_broadcast_to(x, s);
    s.rank--;
    s.dim[s.rank - 1] = m * n;
    return eddy_reshape(x, s);
}

/** y = the Kronecker product of a and b: each element of a is replaced by its product with b.
 *
 *  a, b  any numeric type except float16 and bfloat16, the same for both, of known ranks up to 4;
 *        the one of smaller rank gets leading axes of size 1.  The size of axis i of y is the
 *        product of those of a and b
 *
 *  Errors: EDDY_BAD_SHAPE for an unknown rank, EDDY_LIMIT for one above 4.
 *  Gradient: that of the elementwise product.
 *  TensorFlow: tf.linalg.LinearOperatorKronecker; NumPy's kron. */
eddy_tensor eddy_kron(eddy_tensor a, eddy_tensor b)
{
    const int m = eddy_shape_of(a).rank, n = eddy_shape_of(b).rank, rank = m > n ? m : n;
    if (!eddy_is_valid(a) || !eddy_is_valid(b)) return eddy_identity(eddy_is_valid(a) ? b : a);
    if (m < 0 || n < 0 || rank > EDDY_MAX_RANK / 2)
        return eddy_fail(a.graph, m < 0 || n < 0 ? EDDY_BAD_SHAPE : EDDY_LIMIT,
                         "kron: the ranks are %d and %d; known ranks up to 4 expected", m, n);
    for (int i = m; i < rank; i++) a = ExpandDims(a, 0);
    for (int i = n; i < rank; i++) b = ExpandDims(b, 0);
    if (!eddy_is_valid(a) || !eddy_is_valid(b)) return eddy_none(a.graph);
    const eddy_shape s = eddy_shape_of(a), t = eddy_shape_of(b);
    eddy_shape y = { .rank = rank };
    for (int i = 0; i < rank; i++)
        y.dim[i] = s.dim[i] < 0 || t.dim[i] < 0 ? EDDY_ANY : s.dim[i] * t.dim[i];
    if (rank == 0) return Mul(a, b);
    const eddy_tensor x = interleave(a, rank, true), z = interleave(b, rank, false);
    if (eddy_shape_is_known(y)) {
        const int64_t p = s.dim[rank - 1], q = t.dim[rank - 1];
        return eddy_reshape(Mul(widen(x, p, q), widen(z, p, q)), y);
    }
    const eddy_tensor sizes = Mul(eddy_shape_tensor(a, EDDY_INT64),
                                  eddy_shape_tensor(b, EDDY_INT64));
    return eddy_set_shape(eddy_reshape_to(Mul(x, z), sizes), y);
}

/* ------------------------------------------------------------- multi_dot -- */

enum { CHAIN = 64 };

/* The product of the matrices from first to last, given the sizes between them: it is split after
 * matrix cut[first][last]. */
typedef struct chain {
    double size[CHAIN + 1], least[CHAIN][CHAIN];
    int    cut[CHAIN][CHAIN];
} chain;

static void order_chain(chain *c, int n)
{
    for (int i = 0; i < n; i++) c->least[i][i] = 0;
    for (int length = 1; length < n; length++)
        for (int i = 0; i + length < n; i++) {
            const int j = i + length;
            c->least[i][j] = -1;
            for (int k = i; k < j; k++) {
                const double cost = c->least[i][k] + c->least[k + 1][j] +
                                    c->size[i] * c->size[k + 1] * c->size[j + 1];
                if (c->least[i][j] >= 0 && cost >= c->least[i][j]) continue;
                c->least[i][j] = cost;
                c->cut[i][j] = k;
            }
        }
}

static eddy_tensor product_of_chain(const chain *c, const eddy_tensor *x, int first, int last)
{
    if (first == last) return x[first];
    const int cut = c->cut[first][last];
    return eddy_matmul(product_of_chain(c, x, first, cut), product_of_chain(c, x, cut + 1, last));
}

/** y = the product of all matrices of the list, in the order that takes the fewest operations.
 *
 *  list  1 to 64 matrices of the same type, any that eddy_matmul takes; the first may be a
 *        vector, used as a row, and the last one may be a vector, used as a column: y lacks that
 *        axis
 *
 *  Sizes that are unknown while building count as 32.
 *  Errors: EDDY_INVALID_ARGUMENT for an empty or too long list; otherwise as for eddy_matmul.
 *  Gradient: that of the matrix products.  NumPy: linalg.multi_dot. */
eddy_tensor eddy_multi_dot(eddy_list list)
{
    const int   n = list.at ? list.count : 0;
    eddy_tensor x[CHAIN];
    chain       c;
    if (n < 1 || n > CHAIN)
        return eddy_fail(n < 1 ? NULL : list.at[0].graph, EDDY_INVALID_ARGUMENT,
                         "multi_dot: %d matrices given; expected 1 to 64", n);
    const bool row = eddy_shape_of(list.at[0]).rank == 1;
    const bool column = n > 1 && eddy_shape_of(list.at[n - 1]).rank == 1;
    for (int i = 0; i < n; i++) x[i] = list.at[i];
    if (n == 1) return eddy_identity(x[0]);
    if (row) x[0] = ExpandDims(x[0], 0);
    if (column) x[n - 1] = ExpandDims(x[n - 1], 1);
    for (int i = 0; i <= n; i++) {
        const eddy_shape s = eddy_shape_of(x[i < n ? i : n - 1]);
        const int64_t    size = s.rank == 2 ? s.dim[i < n ? 0 : 1] : EDDY_ANY;
        c.size[i] = size < 0 ? 32 : (double)size;
    }
    order_chain(&c, n);
    eddy_tensor y = product_of_chain(&c, x, 0, n - 1);
    if (column) y = Squeeze(y, EDDY_AXES(1));
    return row ? Squeeze(y, EDDY_AXES(0)) : y;
}

/* ---------------------------------------------------------- matrix_power -- */

/* The identity matrix or x itself, after a check that the matrices are square at run time. */
static eddy_tensor zeroth_or_first(eddy_tensor x, int64_t n)
{
    hold_shapes(EDDY_LIST(x), "..., n, n");
    const eddy_tensor y = n == 0 ? eddy__identity_like(x) : eddy_identity(x);
    eddy_control_end(x.graph);
    return y;
}

/** y = x^n, the n-th power of each matrix of x.
 *
 *  x  any type that eddy_matmul takes, [...,m,m]
 *  n  0 gives the identity matrix, a negative n powers of the inverse
 *
 *  Computed by repeated squaring.
 *  Errors: EDDY_BAD_SHAPE for non-square matrices, or EDDY_CHECK_FAILED at run time if their
 *  sizes were unknown while building; otherwise as for eddy_matmul and, for negative n,
 *  eddy_inverse.
 *  Gradient: that of the matrix products.  NumPy: linalg.matrix_power. */
eddy_tensor eddy_matrix_power(eddy_tensor x, int64_t n)
{
    const eddy_shape s = eddy_shape_of(x);
    uint64_t    left = n < 0 ? -(uint64_t)n : (uint64_t)n;
    char        text[128];
    if (!eddy_is_valid(x)) return eddy_identity(x);
    if (s.rank >= 0 && (s.rank < 2 || (eddy__rows_of(s) != eddy__columns_of(s) &&
                                       eddy__rows_of(s) >= 0 && eddy__columns_of(s) >= 0)))
        return eddy_fail(x.graph, EDDY_BAD_SHAPE,
                         "matrix_power: x has shape %s; square matrices expected",
                         eddy_shape_print(s, text, sizeof text));
    if (left < 2 && n >= 0) return zeroth_or_first(x, n);
    eddy_tensor square = n < 0 ? eddy_inverse(x) : x, y = eddy_none(x.graph);
    for (; left > 0; left >>= 1) {
        if (left & 1) y = eddy_is_valid(y) ? eddy__times(y, square) : square;
        if (left > 1) square = eddy__times(square, square);
    }
    return y;
}

/** y = the trace of each matrix of x: the sum of the diagonal.
 *
 *  x  any numeric type except float16 and bfloat16, [...,m,n]
 *
 *  Errors: as for eddy_matrix_diag_part.
 *  Gradient: dx = dy on the diagonal, 0 elsewhere.  TensorFlow: tf.linalg.trace. */
eddy_tensor eddy_trace(eddy_tensor x) { return Sum(eddy_matrix_diag_part(x), EDDY_AXES(-1)); }
