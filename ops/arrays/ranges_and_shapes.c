/* ranges_and_shapes.c -- linspace, logspace, meshgrid, eye, sequence_mask and related operations:
 * arrays made from a few numbers, and arithmetic on shapes; composed of other operations. */
#include "graph/internal.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "ops/arrays/arrays.h"
#include "ops/short_names.h"

#include <math.h>

/* Values are computed in float64, in which integers up to this one are exact. */
static const int64_t exact = (int64_t)1 << 53;

/* ---------------------------------------------------------- evenly spaced -- */

/* Whether the difference of two numbers may overflow; true if a number is unknown. */
static bool may_be_far(eddy_tensor start, eddy_tensor stop)
{
    const eddy_array *a = eddy_constant_value(start), *b = eddy_constant_value(stop);
    const double      most = eddy__dtype_largest(eddy_dtype_of(start));
    if (eddy_dtype_is_complex(eddy_dtype_of(start))) return false;
    if (!a || !b || eddy_array_count(a) != 1 || eddy_array_count(b) != 1) return true;
    return !(fabs(eddy_array_get(b, 0) / 2 - eddy_array_get(a, 0) / 2) < most / 2);
}

/** y = num evenly spaced numbers from start to stop, both included.
 *
 *  start, stop  float32, float64 or complex, of one type and one shape; y has that shape with a
 *               new first dimension
 *  num          at least 1; if 1, y is start
 *
 *  Errors: EDDY_INVALID_ARGUMENT if num is below 1; EDDY_BAD_DTYPE or EDDY_BAD_SHAPE if start
 *  and stop do not match.
 *  Gradient: that of start (1 - t) + stop t.  TensorFlow: LinSpace. */
eddy_tensor eddy_linspace(eddy_tensor start, eddy_tensor stop, int64_t num)
{
    const int rank = eddy_shape_of(start).rank;
    const eddy_dtype d = eddy_dtype_of(start);
    if (!eddy_is_valid(start) || !eddy_is_valid(stop))
        return eddy_fail(start.graph, EDDY_INVALID_ARGUMENT,
                         "linspace: an input is not a valid tensor");
    if (num < 1 || rank < 0 || rank == EDDY_MAX_RANK || !eddy_dtype_is_differentiable(d))
        return eddy_fail(start.graph, EDDY_INVALID_ARGUMENT,
                         "linspace: num is %lld and start is %s of rank %d; num must be positive "
                         "and start float32 or float64",
                         (long long)num, eddy_dtype_name(d), rank);
    const eddy_tensor first = eddy_expand_dims(start, 0), last = eddy_expand_dims(stop, 0);
    if (num == 1) return first;
    eddy_shape column = { .rank = rank + 1, .dim = { -1 } };
    for (int i = 1; i <= rank; i++) column.dim[i] = 1;
    const eddy_tensor zero = eddy_number(start.graph, EDDY_INT64, 0);
    const eddy_tensor most = NumberLike((double)(num - 1), zero), one = NumberLike(1, zero);
    const eddy_tensor i = eddy_range(zero, most, one);
    const eddy_tensor at = eddy_reshape(Cast(i, d), column), range = Sub(last, first);
    const eddy_tensor step = Div(range, (double)(num - 1));
    eddy_tensor before = Add(first, Mul(step, at));
    if (may_be_far(start, stop)) {
        const eddy_tensor t = Div(at, (double)(num - 1));
        const eddy_tensor sum = Add(Mul(first, Sub(1, t)), Mul(last, t));
        before = Where(IsFinite(range), before, sum);
    }
    return eddy_concat(EDDY_LIST(before, last));
}

/** y = base to the power of num evenly spaced exponents from start to stop, as in eddy_linspace.
 *
 *  start, stop  as for eddy_linspace
 *  num          at least 1
 *  base         positive; NumPy's default is 10
 *
 *  Errors, Gradient: as for eddy_linspace and eddy_pow.
 *  TensorFlow: tf.experimental.numpy.logspace. */
eddy_tensor eddy_logspace(eddy_tensor start, eddy_tensor stop, int64_t num, double base)
{
    return Pow(base, eddy_linspace(start, stop, num));
}

/** y = the tensors of `list` on a grid: output i is list[i], repeated along all other axes.
 *
 *  list  1 to 8 vectors (or scalars, treated as vectors of length 1), of any element types
 *  xy    true: Cartesian indexing, where the first varies along axis 1 and the second along
 *        axis 0, NumPy's default "xy"; false: each along its own axis, "ij"
 *
 *  Returns output 0; eddy_output(y, i) is another.
 *  Errors: EDDY_INVALID_ARGUMENT for an invalid number of tensors, EDDY_BAD_SHAPE for rank above 1.
 *  Gradient: dx[i] = the sum of dy[i] over the other axes.  TensorFlow: tf.meshgrid. */
eddy_tensor eddy_meshgrid(eddy_list list, bool xy)
{
    eddy_tensor x[EDDY_MAX_RANK], like = { 0 };
    const int   n = list.at ? list.count : 0;
    eddy_graph *g = n > 0 && list.at ? list.at[0].graph : NULL;
    if (n < 1 || n > EDDY_MAX_RANK)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT,
                         "meshgrid: the number of tensors is %d; expected "
                         "1 to %d",
                         n, EDDY_MAX_RANK);
    for (int i = 0; i < n; i++) {
        const int axis = xy && n > 1 && i < 2 ? 1 - i : i;
        eddy_shape s = { .rank = n };
        if (eddy_is_valid(list.at[i]) && eddy_shape_of(list.at[i]).rank > 1)
            return eddy_fail(g, EDDY_BAD_SHAPE, "meshgrid: tensor %d has rank %d; rank 0 or 1 "
                             "expected", i, eddy_shape_of(list.at[i]).rank);
        for (int d = 0; d < n; d++) s.dim[d] = d == axis ? EDDY_ANY : 1;
        x[i] = eddy_reshape(list.at[i], s);
        /* Only its shape is used; it is never computed. */
        const eddy_tensor one = Cast(OnesLike(x[i]), EDDY_FLOAT32);
        like = i == 0 ? one : Add(like, one);
    }
    for (int i = 0; i < n; i++) x[i] = eddy_broadcast_like(x[i], like);
    return eddy_identity_n((eddy_list){ n, x }, n);
}

static bool are_lengths(eddy_tensor lengths)
{
    return eddy_is_valid(lengths) &&
           eddy__expect_type(lengths.graph, "sequence_mask", "lengths", eddy_dtype_of(lengths),
                             EDDY_TAKES_INDICES);
}

/** y[..., j] = (j < lengths[...]): a mask for sequences of these lengths.
 *
 *  lengths  int32 or int64, rank below 8
 *  maxlen   the length of the mask, at most the largest value of the type of lengths, or 2^53;
 *           0: the largest of lengths, which a run computes first if lengths is not constant
 *  dtype    of y: 0 is bool; other types get 1 and 0
 *
 *  Errors: EDDY_INVALID_ARGUMENT for an invalid maxlen, EDDY_BAD_DTYPE for other types of
 *  lengths, EDDY_LIMIT for rank 8.
 *  Gradient: none.  TensorFlow: tf.sequence_mask. */
eddy_tensor eddy_sequence_mask(eddy_tensor lengths, int64_t maxlen, eddy_dtype dtype)
{
    const bool is_int32 = eddy_dtype_of(lengths) == EDDY_INT32;
    if (!are_lengths(lengths)) return eddy_none(lengths.graph);
    if (maxlen < 0 || maxlen > (is_int32 ? INT32_MAX : exact))
        return eddy_fail(lengths.graph, EDDY_INVALID_ARGUMENT,
                         "sequence_mask: maxlen is %lld; it must not be negative",
                         (long long)maxlen);
    const eddy_tensor most = maxlen > 0 ? NumberLike((double)maxlen, lengths)
                                        : Maximum(eddy_max(lengths), NumberLike(0, lengths));
    return eddy_sequence_mask_to(lengths, most, dtype);
}

/** Like eddy_sequence_mask, with the length of the mask given by a tensor.
 *
 *  maxlen  scalar of the type of lengths; a run computes it first if it is not constant
 *
 *  Errors: those of eddy_sequence_mask; at run time, EDDY_INVALID_ARGUMENT for a negative maxlen.
 *  Gradient: none.  TensorFlow: tf.sequence_mask. */
eddy_tensor eddy_sequence_mask_to(eddy_tensor lengths, eddy_tensor maxlen, eddy_dtype dtype)
{
    if (!eddy_is_valid(lengths))
        return eddy_fail(maxlen.graph, EDDY_INVALID_ARGUMENT,
                         "sequence_mask: lengths is not a valid tensor");
    if (!are_lengths(lengths)) return eddy_none(lengths.graph);
    const eddy_tensor zero = NumberLike(0, lengths), one = NumberLike(1, lengths);
    const eddy_tensor y = Less(eddy_range(zero, maxlen, one), eddy_expand_dims(lengths, -1));
    return dtype && dtype != EDDY_BOOL ? eddy_cast(y, dtype) : y;
}

/* -------------------------------------------------------------- diagonals -- */

#ifdef EDDY_HEADER
typedef struct eddy_eye_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_eye_args));
    eddy_graph *graph;
    int64_t     rows;
    int64_t     columns EDDY_DEFAULT(EDDY_OMITTED); /* default: rows */
    eddy_dtype  dtype;      /* 0 is float32 */
} eddy_eye_args;
#endif

/** y = the identity matrix [rows, columns], ones on the main diagonal.
 *
 *  rows     at least 0
 *  columns  at least 0; default: rows
 *  dtype    0 is float32
 *
 *  Errors: EDDY_INVALID_ARGUMENT for a negative number, also for EDDY_ANY: if the size is known
 *  only at run time, use eddy_matrix_diag(eddy_ones_like(v)) of a vector v of that length.
 *  Gradient: none; y is constant.  TensorFlow: tf.eye. */
eddy_tensor eddy_eye_with(const eddy_eye_args *given)
{
    eddy_eye_args a = EDDY_TAKE(eddy_eye_args, given);
    eddy_graph   *g = a.graph;
    const int64_t rows = a.rows, wide = a.columns == EDDY_OMITTED ? rows : a.columns;
    const int64_t n = rows < wide ? rows : wide;
    if (rows < 0 || wide < 0)
        return eddy_fail(
            g, EDDY_INVALID_ARGUMENT,
            "eye: rows is %lld and columns is %lld; expected 0 or more. For a size that "
            "is known only in a run, write eddy_matrix_diag(eddy_ones_like(v)), where v is a "
            "vector of that length",
            (long long)rows, (long long)wide);
    if (n == 0) return eddy_zeros(g, a.dtype, EDDY_SHAPE(rows, wide));
    return eddy_matrix_diag(eddy_ones(g, a.dtype, EDDY_SHAPE(n)), .num_rows = rows,
                            .num_cols = wide);
}

/* The shape of x, repeated twice. */
static eddy_tensor twice(eddy_tensor x)
{
    const eddy_tensor s = eddy_shape_tensor(x, EDDY_INT64);
    return eddy_concat(EDDY_LIST(s, s));
}

/** y[i..., j...] = x[i...] where i = j, else 0: x on the diagonal of a tensor of twice its rank.
 *
 *  x  any element type, rank 1 to 4
 *
 *  Errors: EDDY_BAD_SHAPE for any other rank, or an unknown one.
 *  Gradient: dx = the diagonal of dy.  TensorFlow: Diag. */
eddy_tensor eddy_diag(eddy_tensor x)
{
    const eddy_shape s = eddy_shape_of(x);
    char text[128];
    if (!eddy_is_valid(x) || s.rank < 1 || s.rank > EDDY_MAX_RANK / 2)
        return eddy_fail(x.graph, EDDY_BAD_SHAPE, "diag: x has shape %s; rank 1 to %d expected",
                         eddy_shape_print(s, text, sizeof text), EDDY_MAX_RANK / 2);
    if (s.rank == 1) return eddy_matrix_diag(x);
    const eddy_tensor y = eddy_matrix_diag(eddy_reshape(x, EDDY_SHAPE(EDDY_ANY)));
    eddy_shape both = { .rank = 2 * s.rank };
    for (int i = 0; i < both.rank; i++) both.dim[i] = s.dim[i % s.rank];
    return eddy_shape_is_known(s) ? eddy_reshape(y, both) : eddy_reshape_to(y, twice(x));
}

/** y[i...] = x[i..., i...]: the diagonal of a tensor whose shape is a shape repeated twice.
 *
 *  x  any element type, rank 2, 4, 6 or 8; the two halves of its dimensions are equal
 *
 *  Errors: EDDY_BAD_SHAPE for any other rank or an unknown one, or halves that differ.
 *  Gradient: dx = dy on the diagonal, 0 elsewhere.  TensorFlow: DiagPart. */
eddy_tensor eddy_diag_part(eddy_tensor x)
{
    const eddy_shape s = eddy_shape_of(x);
    const int half = s.rank / 2;
    eddy_shape part = { .rank = half };
    char text[128];
    bool fits = eddy_is_valid(x) && s.rank > 0 && s.rank % 2 == 0;
    for (int i = 0; fits && i < half; i++) {
        part.dim[i] = s.dim[i];
        fits = eddy__dim_unify(&part.dim[i], s.dim[half + i]);
    }
    if (!fits || (half > 1 && !eddy_shape_is_known(part)))
        return eddy_fail(x.graph, EDDY_BAD_SHAPE,
                         "diag_part: x has shape %s; expected a known shape repeated twice",
                         eddy_shape_print(s, text, sizeof text));
    if (half == 1) return eddy_matrix_diag_part(x);
    const int64_t n = eddy_shape_count(part);
    return eddy_reshape(eddy_matrix_diag_part(eddy_reshape(x, EDDY_SHAPE(n, n))), part);
}

/* ----------------------------------------------------------------- shapes -- */

/** Whether shapes a and b broadcast; if so, *out is the resulting shape.
 *
 *  a, b  any; the result has unknown dimensions or rank where they depend on unknown ones
 *
 *  TensorFlow: tf.broadcast_static_shape. */
bool eddy_broadcast_static_shape(eddy_shape a, eddy_shape b, eddy_shape *out)
{
    if (!out || a.rank > EDDY_MAX_RANK || b.rank > EDDY_MAX_RANK) return false;
    *out = EDDY_UNKNOWN_SHAPE;
    if (a.rank < 0 || b.rank < 0) return true;
    out->rank = a.rank > b.rank ? a.rank : b.rank;
    for (int i = 1; i <= out->rank; i++) {
        const int64_t m = i <= a.rank ? a.dim[a.rank - i] : 1;
        const int64_t n = i <= b.rank ? b.dim[b.rank - i] : 1;
        const bool    open = m == EDDY_ANY || n == EDDY_ANY;
        if (!open && m != n && m != 1 && n != 1) return false;
        out->dim[out->rank - i] = m == 1 ? n : n == 1 || !open ? m
                                : m == EDDY_ANY && n == EDDY_ANY ? EDDY_ANY
                                : m == EDDY_ANY ? n : m;
    }
    return true;
}

/* A shape vector with ones prepended until it has `rank` entries. */
static eddy_tensor widened(eddy_tensor shape, int64_t rank)
{
    const int64_t more = rank - eddy_shape_of(shape).dim[0];
    if (more == 0) return shape;
    const eddy_tensor ones = eddy_ones(shape.graph, eddy_dtype_of(shape), EDDY_SHAPE(more));
    return eddy_concat(EDDY_LIST(ones, shape));
}

/** y = the shape that results when shapes a and b are broadcast.
 *
 *  a, b  int32 or int64 vectors of one type and known lengths, as eddy_shape_tensor returns
 *
 *  Incompatible dimensions are not detected here, but where y is used.
 *  Errors: EDDY_BAD_SHAPE unless both are vectors of known lengths.
 *  Gradient: none.  TensorFlow: BroadcastArgs, tf.broadcast_dynamic_shape. */
eddy_tensor eddy_broadcast_dynamic_shape(eddy_tensor a, eddy_tensor b)
{
    const eddy_shape s = eddy_shape_of(a), t = eddy_shape_of(b);
    char text[2][128];
    if (!eddy_is_valid(a) || s.rank != 1 || t.rank != 1 || s.dim[0] < 0 || t.dim[0] < 0)
        return eddy_fail(a.graph, EDDY_BAD_SHAPE,
                         "broadcast_dynamic_shape: a has shape %s and b %s; two vectors of known "
                         "lengths expected", eddy_shape_print(s, text[0], sizeof text[0]),
                         eddy_shape_print(t, text[1], sizeof text[1]));
    const int64_t rank = s.dim[0] > t.dim[0] ? s.dim[0] : t.dim[0];
    const eddy_tensor x = widened(a, rank), y = widened(b, rank);
    /* 1 where x is 1, else 0, by integer operations, which a session computes at compile time. */
    const eddy_tensor is_one = Sub(1, Minimum(Abs(Sub(x, 1)), 1));
    return Add(x, Mul(is_one, Sub(y, x)));
}

/** y = the index tuples of flat indices into an array of the shape `dims`: [rank, ...].
 *
 *  indices  int32 or int64, rank below 8
 *  dims     fully known, rank at least 1, at most 2^53 elements
 *
 *  An index out of range gives a tuple out of range.
 *  Errors: EDDY_INVALID_ARGUMENT for invalid dims; EDDY_BAD_DTYPE for other types of indices.
 *  Gradient: none.  TensorFlow: UnravelIndex. */
eddy_tensor eddy_unravel_index(eddy_tensor indices, eddy_shape dims)
{
    eddy_tensor place[EDDY_MAX_RANK];
    int64_t     step = 1;
    bool        counts = eddy_is_valid(indices) && dims.rank > 0 && eddy_shape_is_known(dims);
    for (int i = 0; counts && i < dims.rank; i++)
        counts = dims.dim[i] > 0 && !__builtin_mul_overflow(step, dims.dim[i], &step) &&
                 step <= exact;
    if (!counts)
        return eddy_fail(indices.graph, EDDY_INVALID_ARGUMENT,
                         "unravel_index: the shape must be known and have 1 to 2^53 elements");
    const eddy_dtype d = eddy_dtype_of(indices);
    if (!eddy__expect_type(indices.graph, "unravel_index", "indices", d, EDDY_TAKES_INDICES))
        return eddy_none(indices.graph);
    const bool        wide = d == EDDY_INT32 && step > INT32_MAX;
    const eddy_tensor flat = wide ? Cast(indices, EDDY_INT64) : indices;
    step = 1;
    for (int i = dims.rank - 1; i >= 0; i--) {
        const eddy_tensor above = FloorDiv(flat, (double)step);
        const eddy_tensor at = i > 0 ? FloorMod(above, (double)dims.dim[i]) : above;
        place[i] = wide ? Cast(at, d) : at;
        step *= dims.dim[i];
    }
    return eddy_stack((eddy_list){ dims.rank, place });
}

/** y = the tensors of `list` stacked along a new first dimension: eddy_stack.
 *
 *  Errors, Gradient: as for eddy_stack.  TensorFlow: ParallelConcat, tf.parallel_stack. */
eddy_tensor eddy_parallel_stack(eddy_list list) { return eddy_stack(list); }

/** y = x, which the caller guarantees to be constant: eddy_identity.
 *
 *  Gradient: dx = dy.  TensorFlow: GuaranteeConst. */
eddy_tensor eddy_guarantee_const(eddy_tensor x) { return eddy_identity(x); }
