/* rearrange.c -- swapaxes, moveaxis, flatten, rot90, repeat, take_along_axis and put_along_axis:
 * moving, merging and repeating dimensions, and indices along an axis; composed of other
 * operations. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "graph/internal.h"
#include "ops/short_names.h"

/* The rank of x, and an axis of it from the front; returns false after reporting an error. */
static bool axis_of(eddy_tensor x, const char *who, int64_t axis, int *rank, int *at)
{
    *rank = eddy_shape_of(x).rank;
    if (!eddy_is_valid(x))
        return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "%s: input 0 is not a valid tensor", who),
               false;
    if (*rank < 0)
        return eddy_fail(x.graph, EDDY_BAD_SHAPE, "%s: the rank of '%.200s' is unknown", who,
                         eddy_name_of(x)), false;
    if (axis < -*rank || axis >= *rank)
        return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "%s: axis %lld is not in [%d, %d)", who,
                         (long long)axis, -*rank, *rank), false;
    *at = eddy__axis_of(axis, *rank);
    return true;
}

static eddy_tensor none(eddy_tensor x) { return eddy_none(x.graph); }

/** y = x with axes a and b exchanged.
 *
 *  x     any element type, rank known
 *  a, b  in [-rank, rank)
 *
 *  Errors: EDDY_INVALID_ARGUMENT for an axis that x does not have, EDDY_BAD_SHAPE if its
 *  rank is unknown.
 *  Gradient: dx = dy with the axes exchanged.  TensorFlow: Transpose; NumPy's swapaxes. */
eddy_tensor eddy_swapaxes(eddy_tensor x, int64_t a, int64_t b)
{
    int rank, i, j;
    if (!axis_of(x, "swapaxes", a, &rank, &i) || !axis_of(x, "swapaxes", b, &rank, &j))
        return none(x);
    eddy_dims perm = { .count = rank };
    for (int d = 0; d < rank; d++) perm.at[d] = d == i ? j : d == j ? i : d;
    return eddy_transpose(x, perm);
}

/** y = x with axis `source` moved to `destination`; the other axes keep their order.
 *
 *  x                    any element type, rank known
 *  source, destination  in [-rank, rank)
 *
 *  Errors: as for eddy_swapaxes.
 *  Gradient: dx = dy with the axis moved back.  TensorFlow: Transpose; NumPy's moveaxis. */
eddy_tensor eddy_moveaxis(eddy_tensor x, int64_t source, int64_t destination)
{
    int rank, from, to;
    if (!axis_of(x, "moveaxis", source, &rank, &from) ||
        !axis_of(x, "moveaxis", destination, &rank, &to))
        return none(x);
    eddy_dims perm = { .count = rank };
    for (int d = 0, next = 0; d < rank; d++) {
        if (d == to) {
            perm.at[d] = from;
            continue;
        }
        if (next == from) next++;
        perm.at[d] = next++;
    }
    return eddy_transpose(x, perm);
}

/** y = the elements of x in row-major order, [n].
 *
 *  x  any element type and shape
 *
 *  Gradient: dx = dy reshaped to the shape of x.  TensorFlow: Reshape; NumPy's ravel. */
eddy_tensor eddy_ravel(eddy_tensor x) { return eddy_reshape(x, EDDY_SHAPE(EDDY_ANY)); }

/** y = x with all dimensions except the first merged: [n, d].
 *
 *  x  any element type, rank at least 1 and known; at most one dimension is unknown, or
 *     only the first is
 *
 *  Errors: EDDY_BAD_SHAPE for a scalar, an unknown rank, or if d cannot be determined.
 *  Gradient: dx = dy reshaped to the shape of x.  TensorFlow: tf.layers.flatten. */
eddy_tensor eddy_flatten(eddy_tensor x)
{
    const eddy_shape s = eddy_shape_of(x);
    int64_t d = 1;
    for (int i = 1; i < s.rank && d != EDDY_ANY; i++)
        d = s.dim[i] == EDDY_ANY ? EDDY_ANY : d * s.dim[i];
    if (!eddy_is_valid(x) || s.rank < 1 || (d == EDDY_ANY && s.dim[0] == EDDY_ANY)) {
        char text[128];
        return eddy_fail(x.graph, EDDY_BAD_SHAPE, "flatten: the size of a row of %s is unknown",
                         eddy_shape_print(s, text, sizeof text));
    }
    if (d != 0 || s.dim[0] != EDDY_ANY) return eddy_reshape(x, EDDY_SHAPE(s.dim[0], d));
    /* Without elements, the number of rows cannot be inferred. */
    const eddy_tensor rows = eddy_index(eddy_shape_tensor(x, EDDY_INT64), "0:1");
    const eddy_tensor sizes = eddy_concat(EDDY_LIST(rows, eddy_zeros_like(rows)));
    return eddy_set_shape(eddy_reshape_to(x, sizes), EDDY_SHAPE(EDDY_ANY, 0));
}

/** y = x rotated by `k` quarter turns in the plane of two axes, from the first to the second.
 *
 *  x     any element type, rank known, at least 2
 *  k     the number of quarter turns; negative: in the opposite direction
 *  a, b  two axes: 0 and 1 for matrices, -3 and -2 for images with channels last
 *
 *  Errors: as for eddy_swapaxes; EDDY_INVALID_ARGUMENT if the axes are equal.
 *  Gradient: dx = dy rotated back.  TensorFlow: tf.image.rot90; NumPy's rot90. */
eddy_tensor eddy_rot90(eddy_tensor x, int64_t k, int64_t a, int64_t b)
{
    int rank, i, j;
    if (!axis_of(x, "rot90", a, &rank, &i) || !axis_of(x, "rot90", b, &rank, &j)) return none(x);
    if (i == j)
        return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT,
                         "rot90: both axes are %d; they must differ", i);
    switch ((k % 4 + 4) % 4) {
    case 1:  return eddy_swapaxes(eddy_reverse(x, EDDY_AXES(j)), i, j);
    case 2:  return eddy_reverse(x, EDDY_AXES(i, j));
    case 3:  return eddy_reverse(eddy_swapaxes(x, i, j), EDDY_AXES(j));
    default: return eddy_identity(x);
    }
}

/* ----------------------------------------------------- along an axis, by index -- */

/* The axis counted from the front, for x and indices of the same rank; returns false after
 * reporting an error. */
static bool along(eddy_tensor x, eddy_tensor indices, const char *who, int64_t axis, int *rank,
                  int *at)
{
    const int ranks = eddy_shape_of(indices).rank;
    if (!axis_of(x, who, axis, rank, at)) return false;
    if (!eddy_is_valid(indices) || ranks < 0) return axis_of(indices, who, axis, rank, at);
    if (ranks != *rank)
        eddy_fail(x.graph, EDDY_BAD_SHAPE, "%s: the indices have rank %d, but x has rank %d", who,
                  ranks, *rank);
    return ranks == *rank;
}

/** y[..., i, ...] = x[..., indices[..., i, ...], ...], where each row along `axis` has its own
 *  indices.
 *
 *  x        any element type, rank at least 1 and known
 *  indices  int32 or int64, same shape as x except along `axis`
 *  axis     in [-rank, rank); the last is the fastest
 *
 *  Errors: EDDY_BAD_DTYPE, EDDY_BAD_SHAPE or EDDY_INVALID_ARGUMENT if the arguments do not
 *  match; at run time, EDDY_OUT_OF_RANGE for an index out of range.
 *  Gradient: dx = zeros with dy added at the indices; `indices` has none.
 *  TensorFlow: GatherV2 with batch_dims; NumPy's take_along_axis, PyTorch's gather. */
eddy_tensor eddy_take_along_axis(eddy_tensor x, eddy_tensor indices, int64_t axis)
{
    int rank, at;
    if (!along(x, indices, "take_along_axis", axis, &rank, &at)) return none(x);
    if (at == rank - 1)
        return eddy_gather(x, indices, .axis = at, .batch_dims = at);
    const eddy_tensor y = eddy_gather(eddy_moveaxis(x, at, -1), eddy_moveaxis(indices, at, -1),
                                      .axis = rank - 1, .batch_dims = rank - 1);
    return eddy_moveaxis(y, -1, at);
}

/** y = x with values written or added at the given indices along `axis`.
 *
 *  x        any element type, rank at least 1 and known; numeric if `add` is true
 *  indices  as for eddy_take_along_axis
 *  values   the type of x and the shape of indices
 *  axis     in [-rank, rank); the last is the fastest
 *  add      true: values are added, also at repeated indices; false: they replace elements,
 *           and at repeated indices the last one is kept
 *
 *  Errors: as for eddy_take_along_axis.
 *  Gradient: as for eddy_tensor_scatter_update and eddy_tensor_scatter_add.
 *  TensorFlow: none; NumPy's put_along_axis, PyTorch's scatter and scatter_add. */
#ifdef EDDY_HEADER
typedef struct eddy_put_along_axis_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_put_along_axis_args));
    eddy_tensor x;
    eddy_tensor indices;
    eddy_tensor values;
    int64_t     axis;
    bool        add;
} eddy_put_along_axis_args;
#endif
eddy_tensor eddy_put_along_axis_with(const eddy_put_along_axis_args *given)
{
    eddy_put_along_axis_args a = EDDY_TAKE(eddy_put_along_axis_args, given);
    int rank, at;
    if (!along(a.x, a.indices, "put_along_axis", a.axis, &rank, &at)) return none(a.x);
    const bool last = at == rank - 1;
    const eddy_tensor x = last ? a.x : eddy_moveaxis(a.x, at, -1);
    const eddy_tensor values = last ? a.values : eddy_moveaxis(a.values, at, -1);
    const eddy_tensor indices = last ? a.indices : eddy_moveaxis(a.indices, at, -1);
    const eddy_tensor_scatter_args put =
        *EDDY_ARGS(eddy_tensor_scatter_args, .tensor = x, .indices = eddy_expand_dims(indices, -1),
                   .updates = values, .batch_dims = rank - 1);
    const eddy_tensor y = a.add ? eddy_tensor_scatter_add_with(&put)
                                : eddy_tensor_scatter_update_with(&put);
    return last ? y : eddy_moveaxis(y, -1, at);
}

/* ---------------------------------------------------------------- repeat -- */

/* Repeats every element along axis `at` n times. */
static eddy_tensor repeat_each(eddy_tensor x, int64_t n, int at)
{
    eddy_shape s = eddy_shape_of(x);
    eddy_dims  multiples = { .count = s.rank + 1 };
    int open = 0;
    for (int i = 0; i <= s.rank; i++) multiples.at[i] = i == at + 1 ? n : 1;
    for (int i = 0; i < s.rank; i++) open += s.dim[i] == EDDY_ANY;
    const eddy_tensor y = eddy_tile(eddy_expand_dims(x, at + 1), multiples);
    if (s.dim[at] != EDDY_ANY) s.dim[at] *= n;
    if (open == 0 || (open == 1 && n > 0)) return eddy_reshape(y, s);
    int64_t times[EDDY_MAX_RANK];
    for (int i = 0; i < s.rank; i++) times[i] = i == at ? n : 1;
    return eddy_reshape_to(y, Mul(eddy_shape_tensor(x, EDDY_INT64),
                                  eddy_const(x.graph, EDDY_INT64, EDDY_SHAPE(s.rank), times)));
}

/* Checks that repeats is int32 or int64, a vector or a constant scalar, and not known to be
 * negative. */
static bool repeats_fit(eddy_tensor repeats)
{
    const eddy_array *known = eddy_constant_value(repeats);
    const eddy_dtype  d = eddy_dtype_of(repeats);
    const int         rank = eddy_shape_of(repeats).rank;
    eddy_graph       *g = repeats.graph;
    if (!eddy_is_valid(repeats))
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: input 0 is not a valid tensor", "repeat"),
               false;
    if (!eddy__expect_type(g, "repeat", "repeats", d, EDDY_TAKES_INDICES))
        return false;
    if (rank != 1 && (rank != 0 || !known))
        return eddy_fail(g, EDDY_BAD_SHAPE,
                         "repeat: repeats must be a constant scalar or a vector"), false;
    for (int64_t i = 0; known && i < eddy_array_count(known); i++)
        if (eddy__array_integer(known, i) < 0)
            return eddy_fail(g, EDDY_INVALID_ARGUMENT, "repeat: repeats[%lld] = %lld is negative",
                             (long long)i, (long long)eddy__array_integer(known, i)), false;
    return true;
}

/* One count for each element along `at`: a vector of length 1 is broadcast. */
static eddy_tensor for_each(eddy_tensor repeats, eddy_tensor x, int at)
{
    const eddy_shape s = eddy_shape_of(x);
    const int64_t    n = eddy_shape_of(repeats).dim[0], d = s.dim[at];
    if (n != EDDY_ANY && n != 1 && d != EDDY_ANY && n != d)
        return eddy_fail(x.graph, EDDY_BAD_SHAPE,
                         "repeat: the number of repeats is %lld; expected %lld, one per element "
                         "along the axis", (long long)n, (long long)d);
    if (d != EDDY_ANY) return n == d ? repeats : eddy_broadcast_to(repeats, EDDY_SHAPE(d));
    /* Only its shape is used; it is never computed. */
    eddy_dims others = { .count = 0 };
    for (int i = 0; i < s.rank; i++)
        if (i != at) others.at[others.count++] = i;
    const eddy_tensor like = Cast(OnesLike(x), EDDY_FLOAT32);
    return eddy_broadcast_like(repeats, others.count > 0 ? eddy_sum(like, others) : like);
}

/** y = x with element i along `axis` repeated repeats[i] times.
 *
 *  x        any element type; rank at least 1 and known, or a vector if axis is omitted
 *  repeats  int32 or int64, >= 0: a constant scalar, used for all elements, or a vector with
 *           one entry per element or of length 1
 *  axis     EDDY_AXES(a); default: x is flattened to a vector
 *  size     if repeats is a vector: the number of elements of y along `axis`, the first ones,
 *           then zeros; default: exactly the sum of repeats, which a run computes first if
 *           they are not constant
 *
 *  Errors: EDDY_BAD_DTYPE, EDDY_BAD_SHAPE or EDDY_INVALID_ARGUMENT for invalid arguments;
 *  at run time, EDDY_CHECK_FAILED for a negative count.
 *  Gradient: dx = the sum of dy over the copies; `repeats` has none.
 *  TensorFlow: tf.repeat. */
#ifdef EDDY_HEADER
typedef struct eddy_repeat_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_repeat_args));
    eddy_tensor x;
    eddy_tensor repeats;
    eddy_dims   axis;
    int64_t     size EDDY_DEFAULT(EDDY_OMITTED);
} eddy_repeat_args;
#endif
eddy_tensor eddy_repeat_with(const eddy_repeat_args *given)
{
    eddy_repeat_args a = EDDY_TAKE(eddy_repeat_args, given);
    const eddy_array *known = eddy_constant_value(a.repeats);
    const eddy_tensor x = a.axis.count > 0 ? a.x : eddy_ravel(a.x);
    int rank, at;
    if (eddy_refuse_number(x.graph, "repeat", "axis", a.axis)) return none(x);
    if (!axis_of(x, "repeat", a.axis.count > 0 ? a.axis.at[0] : 0, &rank, &at) ||
        !repeats_fit(a.repeats))
        return none(x);
    if (eddy_shape_of(a.repeats).rank == 0) {
        const int64_t n = eddy__array_integer(known, 0);
        if (rank == EDDY_MAX_RANK)
            return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT,
                             "repeat: cannot repeat %lld times in rank %d, the limit", (long long)n,
                             rank);
        return repeat_each(x, n, at);
    }
    const eddy_tensor repeats = for_each(a.repeats, x, at);
    if (!eddy_is_valid(repeats)) return none(x);
    const eddy_tensor ends = eddy_cumsum(Cast(repeats, EDDY_INT64), 0);
    const eddy_tensor zero = NumberLike(0, ends), one = NumberLike(1, ends);
    if (a.size < 0 && a.size != EDDY_OMITTED)
        return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT,
                         "repeat: size is %lld; it must not be negative", (long long)a.size);
    const eddy_tensor n = a.size == EDDY_OMITTED ? Sum(Cast(repeats, EDDY_INT64))
                                                 : NumberLike((double)a.size, ends);
    const eddy_tensor from = eddy_searchsorted(ends, eddy_range(zero, n, one), .right = true,
                                               .out_type = EDDY_INT64);
    const eddy_tensor all = eddy_size(repeats, EDDY_INT64);
    const eddy_tensor places = Where(Less(from, all), from, -1);
    if (known) return eddy_gather(x, places, at, .skip_negative = true);
    const eddy_tensor check = eddy_assert_non_negative(a.repeats, .message = "repeat:");
    eddy_control_begin(x.graph, EDDY_LIST(check));
    const eddy_tensor y = eddy_gather(x, places, at, .skip_negative = true);
    eddy_control_end(x.graph);
    return y;
}
