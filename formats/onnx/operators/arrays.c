/* arrays.c -- joining, splitting, slicing, padding and rearranging. */
#include "../build.h"
#include "../../../ops/short_names.h"

#include <string.h>

static bool concat(onnx_build *b)
{
    eddy_tensor *in = eddy__region_take(b->memory, (size_t)b->n_in, sizeof *in);
    for (int i = 0; in && i < b->n_in; i++) in[i] = eddy__onnx_in(b, i);
    if (!in || b->n_in == 0) return eddy__onnx_invalid(b, "there are no inputs");
    const int64_t axis = eddy__onnx_int(b, "axis", b->version < 4 ? 1 : 0);
    return eddy__onnx_put(b, 0, eddy_concat((eddy_list){ b->n_in, in }, axis));
}

/* Equal parts of a size that only a run tells, the last one smaller if need be. */
static bool computed_equal_parts(onnx_build *b, eddy_tensor x, int axis)
{
    const eddy_tensor n = Cast(eddy_size_along(x, axis), EDDY_INT64);
    const eddy_tensor part = FloorDiv(Add(n, (double)(b->n_out - 1)), (double)b->n_out);
    for (int i = 0; i < b->n_out; i++) {
        const eddy_tensor from = Mul(part, (double)i), to = Minimum(Add(from, part), n);
        const eddy_tensor one = NumberLike(1, n);
        const eddy_tensor ends[] = { ExpandDims(from, 0), ExpandDims(to, 0), ExpandDims(one, 0) };
        eddy__onnx_put(b, i, eddy_slice_along(x, ends[0], ends[1], ends[2], axis));
    }
    return true;
}

/* Equal parts, the last one smaller if need be. */
static int equal_parts(onnx_build *b, int64_t size, int64_t n, int64_t list[ONNX_MAX_LIST])
{
    if (n < 1 || n > ONNX_MAX_LIST)
        return eddy__onnx_missing(b, "the number of parts, %lld, is out of range", (long long)n),
               ONNX_FAILED;
    const int64_t part = (size + n - 1) / n;
    for (int64_t i = 0; i < n; i++) {
        const int64_t left = size - i * part;
        list[i] = left < 0 ? 0 : left < part ? left : part;
    }
    return (int)n;
}

static bool computed_split(onnx_build *b, eddy_tensor x, int axis)
{
    const eddy_shape s = eddy_shape_of(eddy__onnx_in(b, 1));
    if (s.rank != 1 || s.dim[0] < 0)
        return eddy__onnx_unbound(b, "the number of parts must be known");
    if (s.dim[0] < b->n_out)
        return eddy__onnx_invalid(b, "the parts are fewer than the outputs");
    const eddy_tensor y = eddy_split_to(x, eddy__onnx_in(b, 1), axis);
    for (int i = 0; i < b->n_out; i++) eddy__onnx_put(b, i, eddy_output(y, i));
    return true;
}

static bool split(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const int axis = eddy__onnx_axis(b, eddy__onnx_int(b, "axis", 0), eddy__onnx_rank(b, 0));
    int64_t           list[ONNX_MAX_LIST];
    if (axis >= 0 && eddy__onnx_is_computed(b, 1)) return computed_split(b, x, axis);
    if (axis >= 0 && eddy_shape_of(x).dim[axis] < 0 && !eddy__onnx_has(b, 1) &&
        !eddy__onnx_attr(b, "split") && b->n_out > 0)
        return computed_equal_parts(b, x, axis);
    int               n = axis < 0 ? ONNX_FAILED : eddy__onnx_list(b, 1, "split", list);
    if (n == ONNX_ABSENT) n = equal_parts(b, eddy_shape_of(x).dim[axis], b->n_out, list);
    if (n == ONNX_FAILED) return false;
    if (n < 1 || n < b->n_out) return eddy__onnx_invalid(b, "the parts are fewer than the outputs");
    const eddy_tensor y = eddy_split_sizes(x, list, n, axis);
    for (int i = 0; i < b->n_out; i++) eddy__onnx_put(b, i, eddy_output(y, i));
    return true;
}

/* -------------------------------------------------------------------- slices -- */

typedef struct slices {
    int64_t start[ONNX_MAX_LIST], end[ONNX_MAX_LIST], axis[ONNX_MAX_LIST], step[ONNX_MAX_LIST];
    int     n;
} slices;

static bool slice_lists(onnx_build *b, slices *s)
{
    const bool old = b->version < 10;
    const int  rank = eddy__onnx_rank(b, 0);
    s->n = eddy__onnx_list(b, old ? -1 : 1, old ? "starts" : NULL, s->start);
    const int ends =
        s->n < 0 ? s->n : eddy__onnx_list(b, old ? -1 : 2, old ? "ends" : NULL, s->end);
    int axes =
        ends < 0 ? ends : eddy__onnx_axes(b, old ? -1 : 3, old ? "axes" : NULL, rank, s->axis);
    int       steps = ends < 0 || old ? ONNX_ABSENT : eddy__onnx_list(b, 4, NULL, s->step);
    for (int i = 0; axes == ONNX_ABSENT && i < s->n; i++) s->axis[i] = i;
    for (int i = 0; steps == ONNX_ABSENT && i < s->n; i++) s->step[i] = 1;
    if (axes == ONNX_ABSENT) axes = s->n;
    if (steps == ONNX_ABSENT) steps = s->n;
    if (ends == ONNX_FAILED || axes == ONNX_FAILED || steps == ONNX_FAILED) return false;
    if (s->n < 0 || ends != s->n || axes != s->n || steps != s->n || s->n > rank)
        return eddy__onnx_invalid(b, "the lists of starts, ends, axes and steps do not match");
    return true;
}

static int64_t bounded(int64_t v)
{
    return v > INT32_MAX ? INT32_MAX : v < -INT32_MAX ? -INT32_MAX : v;
}

/* Entry i of a list that is an input; `otherwise` without the input. */
static eddy_tensor entry_of(onnx_build *b, int input, int i, int64_t otherwise)
{
    if (!eddy__onnx_has(b, input)) return eddy__onnx_int64s(b, &otherwise, 1);
    return eddy_slice(Cast(eddy__onnx_in(b, input), EDDY_INT64), EDDY_DIMS(i), EDDY_DIMS(1));
}

/* A list of an input, for each axis: `otherwise` where no axis is named. */
static eddy_tensor for_each_axis(onnx_build *b, int input, int64_t otherwise, eddy_tensor axes,
                                 int rank)
{
    const eddy_tensor fill = eddy_fill(eddy__onnx_int64s(b, &(int64_t){ rank }, 1),
                                       Reshape(eddy__onnx_int64s(b, &otherwise, 1), EDDY_SCALAR));
    if (!eddy__onnx_has(b, input)) return fill;
    return eddy_tensor_scatter_update(fill, ExpandDims(axes, -1),
                                      Cast(eddy__onnx_in(b, input), EDDY_INT64));
}

/* Axes that are computed, too: all are sliced, those that are not named from end to end. */
static bool slice_computed_axes(onnx_build *b, int rank)
{
    eddy_tensor       x = eddy__onnx_in(b, 0);
    const eddy_tensor axes = eddy__onnx_axes_in(b, 3, rank);
    const eddy_tensor from = for_each_axis(b, 1, 0, axes, rank),
                      to = for_each_axis(b, 2, INT64_MAX, axes, rank),
                      step = for_each_axis(b, 4, 1, axes, rank);
    for (int i = 0; i < rank; i++) {
        const eddy_dims at = EDDY_DIMS(i), one = EDDY_DIMS(1);
        x = eddy_slice_along(x, eddy_slice(from, at, one), eddy_slice(to, at, one),
                             eddy_slice(step, at, one), i);
    }
    return eddy__onnx_put(b, 0, x);
}

/* A vector, if it is there, of n elements as far as is known. */
static bool has_length(onnx_build *b, int input, int n)
{
    return !eddy__onnx_has(b, input) ||
           eddy_shape_compatible(eddy_shape_of(eddy__onnx_in(b, input)), EDDY_SHAPE(n));
}

/* Bounds or steps that are computed: one axis after the other. */
static bool computed_slice(onnx_build *b)
{
    int64_t     axis[ONNX_MAX_LIST];
    const int   rank = eddy__onnx_rank(b, 0);
    eddy_tensor x = eddy__onnx_in(b, 0);
    const eddy_shape s = eddy_shape_of(eddy__onnx_in(b, 1));
    const int        n = s.rank == 1 ? (int)s.dim[0] : -1;
    if (eddy__onnx_is_computed(b, 3)) return slice_computed_axes(b, rank);
    const int axes = eddy__onnx_axes(b, 3, NULL, rank, axis);
    if (axes == ONNX_FAILED) return false;
    if (n < 0 || n > rank) return eddy__onnx_unbound(b, "the number of starts must be known");
    if ((axes != ONNX_ABSENT && axes != n) || !has_length(b, 2, n) || !has_length(b, 4, n))
        return eddy__onnx_invalid(b, "the lists of starts, ends, axes and steps do not match");
    for (int i = 0; i < n; i++)
        x = eddy_slice_along(x, entry_of(b, 1, i, 0), entry_of(b, 2, i, 0), entry_of(b, 4, i, 1),
                             axes == ONNX_ABSENT ? i : axis[i]);
    return eddy__onnx_put(b, 0, x);
}

static bool slice(onnx_build *b)
{
    slices    s = { 0 };
    const int rank = eddy__onnx_rank(b, 0);
    if (rank < 0) return eddy__onnx_missing(b, "the rank of the input must be known");
    if (!slice_lists(b, &s)) {
        if (b->support != EDDY_MODEL_BOUND) return false;
        b->reason = NULL;
        return computed_slice(b);
    }
    eddy_dims begin = { .count = rank }, end = { .count = rank }, step = { .count = rank };
    int64_t   all = (1 << rank) - 1;
    for (int i = 0; i < rank; i++) step.at[i] = 1;
    for (int i = 0; i < s.n; i++) {
        const int64_t k = s.axis[i];
        begin.at[k] = bounded(s.start[i]);
        end.at[k] = bounded(s.end[i]);
        step.at[k] = bounded(s.step[i]);
        all &= ~((int64_t)1 << k);
    }
    const eddy_tensor x = eddy__onnx_in(b, 0);
    if (rank == 0) return eddy__onnx_put(b, 0, Identity(x));
    return eddy__onnx_put(
        b, 0, eddy_strided_slice(x, begin, end, step, .begin_mask = all, .end_mask = all));
}

/* ------------------------------------------------------------------- padding -- */

/* Removes what negative pads ask for. */
static eddy_tensor cropped(eddy_tensor x, int rank, int64_t *before, int64_t *after)
{
    eddy_dims begin = { .count = rank }, end = { .count = rank };
    int64_t   open = 0;
    bool      any = false;
    for (int i = 0; i < rank; i++) {
        begin.at[i] = before[i] < 0 ? -before[i] : 0;
        end.at[i] = after[i] < 0 ? after[i] : 0;
        if (after[i] >= 0) open |= 1 << i;
        any = any || before[i] < 0 || after[i] < 0;
        before[i] = before[i] < 0 ? 0 : before[i];
        after[i] = after[i] < 0 ? 0 : after[i];
    }
    eddy_dims ones = { .count = rank };
    for (int i = 0; i < rank; i++) ones.at[i] = 1;
    return any ? eddy_strided_slice(x, begin, end, ones, .end_mask = open) : x;
}

/* `count` copies of the slice at one end of an axis. */
static eddy_tensor copies(eddy_tensor x, int axis, int rank, bool first, int64_t count)
{
    eddy_dims begin = { .count = rank }, end = { .count = rank }, step = { .count = rank };
    eddy_dims times = { .count = rank };
    for (int i = 0; i < rank; i++) step.at[i] = times.at[i] = 1;
    const int64_t mask = (1 << rank) - 1 - (1 << axis);
    begin.at[axis] = first ? 0 : -1;
    end.at[axis] = 1;
    times.at[axis] = count;
    x = eddy_strided_slice(x, begin, end, step, .begin_mask = mask,
                           .end_mask = first ? mask : (1 << rank) - 1);
    return eddy_tile(x, times);
}

static eddy_tensor edge_padded(eddy_tensor x, int rank, const int64_t *before, const int64_t *after)
{
    for (int i = 0; i < rank; i++) {
        if (before[i]) x = eddy_concat(EDDY_LIST(copies(x, i, rank, true, before[i]), x), i);
        if (after[i]) x = eddy_concat(EDDY_LIST(x, copies(x, i, rank, false, after[i])), i);
    }
    return x;
}

static eddy_tensor wrap_padded(onnx_build *b, eddy_tensor x, int rank, const int64_t *before,
                               const int64_t *after)
{
    for (int i = 0; i < rank; i++) {
        const int64_t size = eddy_shape_of(x).dim[i];
        const int64_t all = bounded(size) + bounded(before[i]) + bounded(after[i]);
        if (before[i] == 0 && after[i] == 0) continue;
        if (size <= 0) return eddy__onnx_missing(b, "the dimension must be known"), x;
        int64_t *at = eddy__onnx_computed(b, all);
        if (!at) return x;
        for (int64_t k = 0; k < all; k++) at[k] = ((k - before[i]) % size + size) % size;
        x = eddy_gather(x, eddy__onnx_int64s(b, at, (int)all), .axis = i);
    }
    return x;
}

/* Pads of any type, of a value that may be computed. */
static eddy_tensor constant_padded(onnx_build *b, eddy_tensor x, eddy_dims before, eddy_dims after)
{
    if (b->version < 11) return eddy_pad(x, before, after, eddy__onnx_float(b, "value", 0));
    if (!eddy__onnx_has(b, 2)) return eddy_pad(x, before, after);
    const eddy_array *value = eddy__onnx_array_of(b, eddy__onnx_value_in(b, 2));
    if (value && eddy_array_count(value) == 1)
        return eddy_pad(x, before, after, eddy_array_get(value, 0));
    const eddy_tensor inside = eddy_pad(Cast(OnesLike(x), EDDY_BOOL), before, after);
    return Where(inside, eddy_pad(x, before, after), Reshape(eddy__onnx_in(b, 2), EDDY_SCALAR));
}

/* Half of the pads, for each axis. */
static eddy_tensor half(onnx_build *b, eddy_tensor pads, int which, int rank)
{
    const eddy_tensor part = eddy_index(Reshape(pads, EDDY_SHAPE(2, -1)), which ? "1" : "0");
    if (!eddy__onnx_has(b, 3)) return part;
    const eddy_tensor fill = eddy_fill(eddy__onnx_int64s(b, &(int64_t){ rank }, 1),
                                       eddy_number(b->graph, EDDY_INT64, 0));
    return eddy_tensor_scatter_update(fill, ExpandDims(eddy__onnx_axes_in(b, 3, rank), -1), part);
}

/* Pads or axes that are computed. */
static bool computed_pad(onnx_build *b, int rank)
{
    const char *mode = eddy__onnx_text(b, "mode", "constant");
    if (rank < 0) return eddy__onnx_missing(b, "the rank of the input must be known");
    const eddy_tensor x = eddy__onnx_in(b, 0), pads = Cast(eddy__onnx_in(b, 1), EDDY_INT64);
    const eddy_tensor before = half(b, pads, 0, rank), after = half(b, pads, 1, rank);
    eddy_tensor       y = eddy_extend_to(x, before, after, mode);
    if (eddy__onnx_has(b, 2) && mode[0] == 'c') {
        const eddy_tensor inside =
            eddy_extend_to(Cast(OnesLike(x), EDDY_BOOL), before, after, mode);
        y = Where(inside, y, Reshape(eddy__onnx_in(b, 2), EDDY_SCALAR));
    }
    return eddy__onnx_put(b, 0, y);
}

static bool pad(onnx_build *b)
{
    const bool computed = b->version >= 11 && (eddy__onnx_is_computed(b, 1) ||
                                               eddy__onnx_is_computed(b, 3));
    if (computed) return computed_pad(b, eddy__onnx_rank(b, 0));
    int64_t     list[ONNX_MAX_LIST], axes[ONNX_MAX_LIST], pads[2][EDDY_MAX_RANK] = { { 0 } };
    const int   rank = eddy__onnx_rank(b, 0);
    const int   n =
        eddy__onnx_list(b, b->version < 11 ? -1 : 1, b->version < 2 ? "paddings" : "pads", list);
    const int   m = b->version < 18 ? ONNX_ABSENT : eddy__onnx_axes(b, 3, NULL, rank, axes);
    if (n == ONNX_FAILED || m == ONNX_FAILED) return false;
    if (rank < 0) return eddy__onnx_missing(b, "the rank of the input must be known");
    const int count = m == ONNX_ABSENT ? rank : m;
    if (n != 2 * count) return eddy__onnx_invalid(b, "the number of pads is not twice the rank");
    for (int i = 0; i < count; i++) {
        const int64_t k = m == ONNX_ABSENT ? i : axes[i];
        pads[0][k] = list[i];
        pads[1][k] = list[count + i];
    }
    eddy_tensor x = cropped(eddy__onnx_in(b, 0), rank, pads[0], pads[1]);
    const eddy_dims before = eddy__onnx_dims(pads[0], rank), after = eddy__onnx_dims(pads[1], rank);
    if (rank == 0) x = Identity(x);
    else if (eddy__onnx_is(b, "mode", "reflect", false)) x = eddy_mirror_pad(x, before, after);
    else if (eddy__onnx_is(b, "mode", "edge", false)) x = edge_padded(x, rank, pads[0], pads[1]);
    else if (eddy__onnx_is(b, "mode", "wrap", false)) x = wrap_padded(b, x, rank, pads[0], pads[1]);
    else x = constant_padded(b, x, before, after);
    return eddy__onnx_put(b, 0, x);
}

/* --------------------------------------------------------------- rearranging -- */

/* Eddy's order of channels is that of the blocks; CRD has the channels of the result first. */
static bool depth_to_space(onnx_build *b)
{
    const int64_t block = eddy__onnx_int(b, "blocksize", 0), area = block * block;
    eddy_tensor   x = eddy__onnx_in(b, 0);
    const int64_t channels = eddy_shape_of(x).rank == 4 ? eddy_shape_of(x).dim[1] : -1;
    if (!eddy__onnx_is(b, "mode", "CRD", false))
        return eddy__onnx_put(b, 0, eddy_depth_to_space(x, block, "NCHW"));
    if (channels < 0) return eddy__onnx_missing(b, "the number of channels must be known");
    if (block < 1 || block > channels)
        return eddy__onnx_invalid(b, "the number of channels is below that of a block");
    int64_t *from = eddy__onnx_computed(b, channels);
    if (!from) return false;
    for (int64_t i = 0, n = channels / area; n && i < channels; i++) from[i] = i % n * area + i / n;
    x = eddy_gather(x, eddy__onnx_int64s(b, from, (int)channels), .axis = 1);
    return eddy__onnx_put(b, 0, eddy_depth_to_space(x, block, "NCHW"));
}

static bool space_to_depth(onnx_build *b)
{
    const int64_t block = eddy__onnx_int(b, "blocksize", 0);
    return eddy__onnx_put(b, 0, eddy_space_to_depth(eddy__onnx_in(b, 0), block, "NCHW"));
}

/* Where column - row is at least, or at most, a computed number. */
static bool computed_trilu(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const eddy_tensor k = Reshape(Cast(eddy__onnx_in(b, 1), EDDY_INT64), EDDY_SCALAR);
    const eddy_tensor zero = ZerosLike(k), one = OnesLike(k);
    eddy_tensor at[2];
    for (int i = 0; i < 2; i++)
        at[i] = eddy_range(zero, Cast(eddy_size_along(x, i - 2), EDDY_INT64), one);
    const eddy_tensor way = Sub(at[1], ExpandDims(at[0], 1));
    const eddy_tensor stays =
        eddy__onnx_int(b, "upper", 1) ? GreaterEqual(way, k) : LessEqual(way, k);
    return eddy__onnx_put(b, 0, Where(stays, x, ZerosLike(x)));
}

static bool trilu(onnx_build *b)
{
    int64_t   k[ONNX_MAX_LIST] = { 0 };
    if (eddy__onnx_is_computed(b, 1)) return computed_trilu(b);
    const int n = eddy__onnx_list(b, 1, NULL, k);
    if (n == ONNX_FAILED) return false;
    const eddy_tensor x = eddy__onnx_in(b, 0);
    return eddy__onnx_put(b, 0,
                          eddy__onnx_int(b, "upper", 1) ? eddy_triu(x, k[0]) : eddy_tril(x, k[0]));
}

static bool reverse_sequence(onnx_build *b)
{
    const int64_t time = eddy__onnx_int(b, "time_axis", 0),
                  batch = eddy__onnx_int(b, "batch_axis", 1);
    return eddy__onnx_put(
        b, 0, eddy_reverse_sequence(eddy__onnx_in(b, 0), eddy__onnx_in(b, 1), time, batch));
}

/* ------------------------------------------------------------------- padding -- */

const onnx_operator eddy__onnx_arrays[] = {
    { "Concat", 1, concat }, { "Split", 1, split }, { "Slice", 1, slice }, { "Pad", 1, pad },
    { "DepthToSpace", 1, depth_to_space }, { "SpaceToDepth", 1, space_to_depth },
    { "Trilu", 14, trilu }, { "ReverseSequence", 10, reverse_sequence }, { NULL },
};
