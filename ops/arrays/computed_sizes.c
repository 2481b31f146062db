/* computed_sizes.c -- slices and repetitions whose sizes are tensors. Those that are not boxes are
 * gathers along one axis after the other, at computed positions. */
#include "ops/arrays/arrays.h"
#include "graph/internal.h"
#include "ops/arrays/computed_sizes.h"
#include "ops/short_names.h"

/** Zeros of the shape that dims gives.
 *
 *  dims   int32, int64 or uint8 [rank]; a run computes it first if it is not constant
 *  dtype  of y; 0 is float32
 *
 *  As the model of a _like call it is not computed:
 *  eddy_random_normal_like(eddy_zeros_of(dims, 0)), eddy_broadcast_like(x, eddy_zeros_of(dims, 0)).
 *  Errors: those of eddy_fill.
 *  Gradient: none.  TensorFlow: tf.zeros. */
eddy_tensor eddy_zeros_of(eddy_tensor dims, eddy_dtype dtype)
{
    return eddy_fill(dims, eddy_number(dims.graph, dtype ? dtype : EDDY_FLOAT32, 0));
}

eddy_tensor eddy__size_each_axis(const char *called, const char *what, eddy_tensor t,
                                 eddy_tensor x)
{
    const eddy_shape s = eddy_shape_of(t), xs = eddy_shape_of(x);
    eddy_graph      *g = x.graph ? x.graph : t.graph;
    char             have[100];
    if (!eddy_is_valid(t) || !eddy_is_valid(x) || t.graph != x.graph)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s is not a tensor of this graph", called,
                         eddy_is_valid(x) ? what : "x");
    if (xs.rank < 0)
        return eddy_fail(g, EDDY_BAD_SHAPE, "%s: the rank of '%.200s' is unknown", called,
                         eddy_name_of(x));
    if (!eddy__expect_type(g, called, what, eddy_dtype_of(t), EDDY_TAKES_INDICES))
        return eddy_none(g);
    if (!eddy_shape_compatible(s, EDDY_SHAPE(xs.rank)))
        return eddy_fail(g, EDDY_BAD_SHAPE,
                         "%s: %s has the shape %s; [%d] expected, one element per dimension of x",
                         called, what, eddy_shape_print(s, have, sizeof have), xs.rank);
    return eddy_reshape(Cast(t, EDDY_INT64), EDDY_SHAPE(xs.rank));
}

eddy_tensor eddy__size_number(const char *called, const char *what, eddy_tensor t,
                              eddy_tensor x)
{
    eddy_graph *g = x.graph ? x.graph : t.graph;
    if (!eddy_is_valid(t) || !eddy_is_valid(x) || t.graph != x.graph)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s is not a tensor of this graph", called,
                         eddy_is_valid(x) ? what : "x");
    if (!eddy__expect_type(g, called, what, eddy_dtype_of(t), EDDY_TAKES_INDICES))
        return eddy_none(g);
    return eddy_reshape(Cast(t, EDDY_INT64), EDDY_SCALAR);
}

/* A position that counts from the end if it is negative, from the front. */
static eddy_tensor from_front(eddy_tensor at, eddy_tensor n)
{
    return Where(Less(at, 0), Add(at, n), at);
}

/* t; a run fails if an element is negative or exceeds the number of elements of any tensor. */
static eddy_tensor checked(eddy_tensor t, const char *message)
{
    const double most = (double)((int64_t)1 << 48);
    return eddy_ensure(t, LogicalAnd(GreaterEqual(t, 0), LessEqual(t, most)), message);
}

eddy_tensor eddy__size_entry(eddy_tensor t, int i)
{
    return eddy_reshape(eddy_slice(t, EDDY_DIMS(i), EDDY_DIMS(1)), EDDY_SCALAR);
}

eddy_tensor eddy__size_positions(eddy_tensor n)
{
    return eddy_range(NumberLike(0, n), n, NumberLike(1, n));
}

/** y = the box of x that begins at `begin` and has the size `size`; both are tensors.
 *
 *  x      any dtype and shape of known rank
 *  begin  int32 or int64 [rank]: the first index along each axis
 *  size   int32 or int64 [rank]: the dimensions of y; -1 takes all that follows `begin`. A run
 *         computes it first if it is not constant; runs with another `begin` and equal sizes share
 *         a plan.
 *
 *  Errors: EDDY_BAD_SHAPE or EDDY_BAD_DTYPE if the arguments do not match; at run time,
 *  EDDY_CHECK_FAILED if the box is not inside x.
 *  Gradient: dx = zeros like x with dy in the box.  TensorFlow: Slice. */
eddy_tensor eddy_slice_to(eddy_tensor x, eddy_tensor begin, eddy_tensor size)
{
    begin = eddy__size_each_axis("slice_to", "begin", begin, x);
    size = eddy__size_each_axis("slice_to", "size", size, x);
    if (!eddy_is_valid(begin) || !eddy_is_valid(size)) return eddy_none(x.graph);
    eddy_scope_begin(x.graph, "Slice");
    const eddy_tensor rest = Sub(eddy_shape_tensor(x, EDDY_INT64), begin);
    const eddy_tensor begins = LogicalAnd(GreaterEqual(begin, 0), GreaterEqual(rest, 0));
    const eddy_tensor ends = LogicalAnd(GreaterEqual(size, -1), LessEqual(size, rest));
    const eddy_tensor inside = LogicalAnd(begins, ends);
    const eddy_tensor sizes = eddy_ensure(Where(Equal(size, -1), rest, size), inside,
                                          "slice_to: the box is not within x");
    x = eddy_slice_at(x, begin, eddy_zeros_of(sizes, EDDY_BOOL));
    eddy_scope_end(x.graph);
    return x;
}

/* `count` elements of x from `first` on, along one axis. */
static eddy_tensor slice_box(eddy_tensor x, eddy_tensor first, eddy_tensor count, int axis)
{
    int64_t   at[EDDY_MAX_RANK] = { 0 };
    const int rank = eddy_shape_of(x).rank;
    at[axis] = 1;
    const eddy_tensor there = eddy_const(x.graph, EDDY_INT64, EDDY_SHAPE(rank), at);
    const eddy_tensor size = Where(Greater(there, 0), count, eddy_shape_tensor(x, EDDY_INT64));
    eddy_shape s = eddy_shape_of(x);
    s.dim[axis] = EDDY_ANY;
    return eddy_ensure_shape(eddy_slice_at(x, Mul(there, first), eddy_zeros_of(size, EDDY_BOOL)),
                             s);
}

static bool is_one(eddy_tensor t)
{
    const eddy_array *v = eddy_constant_value(t);
    return v && eddy_array_count(v) == 1 && eddy_array_get(v, 0) == 1;
}

/** y = x[..., begin:end:stride, ...] along one axis; the three numbers are tensors.
 *
 *  x                   any dtype, a shape of known rank
 *  begin, end, stride  int32 or int64, one number each; as in eddy_strided_slice, negative
 *                      positions count from the end, and those beyond the ends are cut off there.
 *                      A run computes them first if they are not constant; runs with another
 *                      `begin` and the same size of y share a plan
 *  axis                in [-rank, rank)
 *
 *  Errors: EDDY_BAD_SHAPE, EDDY_BAD_DTYPE or EDDY_INVALID_ARGUMENT if the arguments do not match;
 *  at run time, EDDY_CHECK_FAILED for a stride of 0.
 *  Gradient: dx = dy at the positions taken, 0 elsewhere.  TensorFlow: StridedSlice. */
eddy_tensor eddy_slice_along(eddy_tensor x, eddy_tensor begin, eddy_tensor end, eddy_tensor stride,
                             int64_t axis)
{
    const bool one = is_one(stride);
    begin = eddy__size_number("slice_along", "begin", begin, x);
    end = eddy__size_number("slice_along", "end", end, x);
    stride = eddy__size_number("slice_along", "stride", stride, x);
    if (!eddy_is_valid(begin) || !eddy_is_valid(end) || !eddy_is_valid(stride))
        return eddy_none(x.graph);
    const int  rank = eddy_shape_of(x).rank;
    const bool by_one = one && axis >= -rank && axis < rank;
    eddy_scope_begin(x.graph, "Slice");
    stride = eddy_ensure(stride, NotEqual(stride, 0), "slice_along: the stride is 0");
    const eddy_tensor n = Cast(eddy_size_along(x, axis), EDDY_INT64), sign = Sign(stride);
    const eddy_tensor least = Minimum(sign, 0), most = Add(n, least);
    const eddy_tensor first = eddy_clip_by_value(from_front(begin, n), least, most);
    const eddy_tensor way = Sub(eddy_clip_by_value(from_front(end, n), least, most), first);
    const eddy_tensor count =
        Where(Greater(Mul(way, sign), 0), Add(FloorDiv(Sub(way, sign), stride), 1), 0);
    if (by_one)
        x = slice_box(x, first, count, (int)(axis < 0 ? axis + rank : axis));
    else
        x = eddy_gather(x, Add(first, Mul(eddy__size_positions(count), stride)), .axis = axis);
    eddy_scope_end(x.graph);
    return x;
}

/** y = x repeated multiples[i] times along dimension i, where `multiples` is a tensor.
 *
 *  x          any dtype and shape of known rank
 *  multiples  int32 or int64 [rank], in [0, 2^48]; a run computes it first if it is not constant
 *
 *  Errors: EDDY_BAD_SHAPE or EDDY_BAD_DTYPE if the arguments do not match; at run time,
 *  EDDY_CHECK_FAILED for a number out of range, EDDY_LIMIT or EDDY_BAD_SHAPE if y would be too
 *  large.
 *  Gradient: dx = the sum of dy over the copies.  TensorFlow: Tile. */
eddy_tensor eddy_tile_to(eddy_tensor x, eddy_tensor multiples)
{
    multiples = eddy__size_each_axis("tile_to", "multiples", multiples, x);
    if (!eddy_is_valid(multiples)) return eddy_none(x.graph);
    eddy_scope_begin(x.graph, "Tile");
    multiples = checked(multiples, "tile_to: multiples has a number out of range");
    for (int i = 0, rank = eddy_shape_of(x).rank; i < rank; i++) {
        const eddy_tensor n = Cast(eddy_size_along(x, i), EDDY_INT64);
        const eddy_tensor all = eddy__size_positions(Mul(n, eddy__size_entry(multiples, i)));
        x = eddy_gather(x, eddy_floormod(all, Maximum(n, 1)), .axis = i);
    }
    eddy_scope_end(x.graph);
    return x;
}
