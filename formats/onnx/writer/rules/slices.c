/* slices.c -- joining, splitting, slicing and padding. */
#include "../rules.h"

static bool concat(onnx_part *p)
{
    const char *in[256];
    const int   n = p->node->n_inputs;
    int         rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    if (n > 256) return eddy__part_missing(p, "more than 256 tensors are joined");
    for (int i = 0; i < n; i++) in[i] = eddy__part_in(p, i);
    return eddy__part_put(p, 0, eddy__part_concat(p, eddy__part_axis(p, rank), n, in));
}

static bool pack(onnx_part *p)
{
    const char *in[256];
    const int   n = p->node->n_inputs;
    int         rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    if (n > 256) return eddy__part_missing(p, "more than 256 tensors are joined");
    const int64_t axis = eddy__part_axis(p, rank + 1);
    for (int i = 0; i < n; i++) in[i] = eddy__part_unsqueeze(p, eddy__part_in(p, i), 1, &axis);
    return eddy__part_put(p, 0, eddy__part_concat(p, axis, n, in));
}

static bool unpack(onnx_part *p)
{
    int rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    const int64_t axis = eddy__part_axis(p, rank);
    for (int k = 0; k < p->node->n_outputs; k++) {
        const char *const in[] = { eddy__part_in(p, 0), eddy__part_number(p, EDDY_INT64, k) };
        onnx_call c = eddy__call(p, "Gather", 2, in);
        eddy__call_int(&c, "axis", axis);
        eddy__part_put(p, k, eddy__call_end(&c));
    }
    return true;
}

/* The sizes of the parts are this vector. */
static bool split_by(onnx_part *p, int64_t axis, const char *sizes)
{
    const char *const in[] = { eddy__part_in(p, 0), sizes };
    onnx_call c = eddy__call(p, "Split", 2, in);
    eddy__call_int(&c, "axis", axis);
    eddy__call_outputs(&c, p->node->n_outputs, p->out);
    return true;
}

static bool split(onnx_part *p)
{
    int rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    const char *const in[] = { eddy__part_in(p, 0) };
    onnx_call c = eddy__call(p, "Split", 1, in);
    eddy__call_int(&c, "axis", eddy__part_axis(p, rank));
    eddy__call_outputs(&c, p->node->n_outputs, p->out);
    return true;
}

static bool split_v(onnx_part *p)
{
    const eddy_ints sizes = eddy__part_int_list(p, "sizes");
    int64_t         known[256];
    int             rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    const int axis = (int)eddy__part_axis(p, rank);
    if (sizes.count > 256) return eddy__part_missing(p, "there are more than 256 parts");
    for (int i = 0; i < sizes.count; i++) {
        const eddy_shape s = p->node->outputs[i].shape;
        known[i] = sizes.at[i] >= 0 ? sizes.at[i] : s.rank > axis ? s.dim[axis] : -1;
        if (known[i] < 0) return eddy__part_missing(p, "the size of part %d must be known", i);
    }
    return split_by(p, axis, eddy__part_ints(p, (int)sizes.count, known));
}

static bool split_like(onnx_part *p)
{
    const char *sizes[256];
    int         rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    const int axis = (int)eddy__part_axis(p, rank), n = p->node->n_inputs - 1;
    if (n > 256) return eddy__part_missing(p, "there are more than 256 parts");
    for (int i = 0; i < n; i++) {
        const eddy_shape s = eddy__part_type(p, i + 1).shape;
        const bool       known = s.rank > axis && s.dim[axis] != EDDY_ANY;
        sizes[i] = eddy__part_size(p, known ? "" : eddy__part_in(p, i + 1), s, axis);
    }
    return split_by(p, axis, eddy__part_concat(p, 0, n, sizes));
}

/* ------------------------------------------------------------------- slices -- */

static const char *slice_of(onnx_part *p, const char *x, const char *start, const char *end,
                            const char *axes, const char *steps)
{
    const char *const in[] = { x, start, end, axes, steps };
    onnx_call c = eddy__call(p, "Slice", 5, in);
    return eddy__call_end(&c);
}

static bool slice(onnx_part *p)
{
    const eddy_dims begin = eddy__part_dims(p, "begin"), size = eddy__part_dims(p, "size");
    int64_t         start[EDDY_MAX_RANK], end[EDDY_MAX_RANK];
    int             rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    if (rank == 0) return eddy__part_put(p, 0, eddy__part_in(p, 0));
    for (int i = 0; i < rank; i++) {
        start[i] = begin.count > 0 ? begin.at[i] : 0;
        end[i] = size.count > 0 && size.at[i] >= 0 ? start[i] + size.at[i] : INT64_MAX;
    }
    return eddy__part_put(p, 0, slice_of(p, eddy__part_in(p, 0), eddy__part_ints(p, rank, start),
                                         eddy__part_ints(p, rank, end), "", ""));
}

/* The box of input 0 with the shape of another input. */
static bool box_at(onnx_part *p, const char *start, int like)
{
    const char *end = eddy__part_binary(p, "Add", start, eddy__part_shape(p, like));
    return eddy__part_put(p, 0, slice_of(p, eddy__part_in(p, 0), start, end, "", ""));
}

static bool slice_like(onnx_part *p)
{
    const eddy_dims begin = eddy__part_dims(p, "begin");
    int64_t         zeros[EDDY_MAX_RANK] = { 0 };
    int             rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    if (rank == 0) return eddy__part_put(p, 0, eddy__part_in(p, 0));
    return box_at(p, eddy__part_ints(p, rank, begin.count > 0 ? begin.at : zeros), 1);
}

static const char *begin_of(onnx_part *p)
{
    return eddy__part_cast(p, eddy__part_in(p, 1), eddy__part_type(p, 1).dtype, EDDY_INT64);
}

static bool slice_at(onnx_part *p)
{
    return eddy__part_type(p, 0).shape.rank == 0 ? eddy__part_put(p, 0, eddy__part_in(p, 0))
                                                 : box_at(p, begin_of(p), 2);
}

static bool pad_by(onnx_part *p, const char *x, const char *pads, double value)
{
    const char *const in[] = { x, pads, eddy__part_number(p, p->node->outputs[0].dtype, value) };
    onnx_call c = eddy__call(p, "Pad", 3, in);
    return eddy__part_put(p, 0, eddy__call_end(&c));
}

/* Input 0 padded to the shape of another input. */
static bool pad_before(onnx_part *p, const char *before, int like)
{
    const char *size = eddy__part_shape(p, 0), *whole = eddy__part_shape(p, like);
    const char *after = eddy__part_formula(p, EDDY_INT64, "Sub(Sub(a, b), c)", whole, size, before);
    const char *const parts[] = { before, after };
    return pad_by(p, eddy__part_in(p, 0), eddy__part_concat(p, 0, 2, parts), 0);
}

static bool slice_grad(onnx_part *p)
{
    const eddy_dims  begin = eddy__part_dims(p, "begin");
    const eddy_shape dy = eddy__part_type(p, 0).shape, y = eddy__part_type(p, 1).shape;
    int64_t          pads[2 * EDDY_MAX_RANK];
    int              rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    bool known = y.rank == rank;
    if (rank == 0) return eddy__part_put(p, 0, eddy__part_in(p, 0));
    for (int i = 0; i < rank; i++) {
        pads[i] = begin.count > 0 ? begin.at[i] : 0;
        known = known && y.dim[i] != EDDY_ANY && dy.dim[i] != EDDY_ANY;
        if (known) pads[rank + i] = y.dim[i] - pads[i] - dy.dim[i];
    }
    if (known) return pad_by(p, eddy__part_in(p, 0), eddy__part_ints(p, 2 * rank, pads), 0);
    return pad_before(p, eddy__part_ints(p, rank, pads), 1);
}

static bool pad_at(onnx_part *p)
{
    return eddy__part_type(p, 0).shape.rank == 0 ? eddy__part_put(p, 0, eddy__part_in(p, 0))
                                                 : pad_before(p, begin_of(p), 2);
}

static bool pad(onnx_part *p)
{
    const eddy_dims before = eddy__part_dims(p, "before"), after = eddy__part_dims(p, "after");
    int64_t         pads[2 * EDDY_MAX_RANK];
    int             rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    if (rank == 0) return eddy__part_put(p, 0, eddy__part_in(p, 0));
    for (int i = 0; i < rank; i++) {
        pads[i] = before.count > 0 ? before.at[i] : 0;
        pads[rank + i] = after.count > 0 ? after.at[i] : 0;
    }
    return pad_by(p, eddy__part_in(p, 0), eddy__part_ints(p, 2 * rank, pads),
                  eddy__part_float(p, "value"));
}

static bool reverse(onnx_part *p)
{
    eddy_dims axes = eddy__part_dims(p, "axes");
    int64_t   start[EDDY_MAX_RANK], end[EDDY_MAX_RANK];
    int       rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    if (axes.count == 0)
        for (int i = 0; i < rank; i++) axes.at[axes.count++] = i;
    if (axes.count <= 0) return eddy__part_put(p, 0, eddy__part_in(p, 0));
    for (int i = 0; i < axes.count; i++) {
        start[i] = -1;
        end[i] = INT64_MIN;
    }
    const char *steps = eddy__part_ints(p, axes.count, start);
    return eddy__part_put(p, 0, slice_of(p, eddy__part_in(p, 0), steps,
                                         eddy__part_ints(p, axes.count, end),
                                         eddy__part_ints(p, axes.count, axes.at), steps));
}

/* -------------------------------------------------------------- strided slices -- */

/* The entries as lists of ONNX's Slice, and how the result is reshaped: which axes of the slice are
 * single elements, and which axes of the result are new. */
typedef struct strided {
    int64_t start[EDDY_MAX_RANK], end[EDDY_MAX_RANK], step[EDDY_MAX_RANK];
    int64_t gone[EDDY_MAX_RANK], fresh[EDDY_MAX_RANK];
    int     n, n_gone, n_fresh;
} strided;

static bool is_set(const onnx_part *p, const char *mask, int i)
{
    return eddy__part_int(p, mask) >> i & 1;
}

static int64_t clamp(int64_t v, int64_t least, int64_t most)
{
    return v < least ? least : v > most ? most : v;
}

/* Entry i, of a dimension of this size. */
static void add_range(const onnx_part *p, strided *s, int i, int64_t dim)
{
    const eddy_dims steps = eddy__part_dims(p, "strides");
    const int64_t step = steps.count > 0 ? steps.at[i] : 1, big = dim == EDDY_ANY ? INT64_MAX : dim;
    int64_t       from = eddy__part_dims(p, "begin").at[i], to = eddy__part_dims(p, "end").at[i];
    if (dim != EDDY_ANY) {
        const int64_t least = step > 0 ? 0 : -1, most = step > 0 ? dim : dim - 1;
        from = clamp(from < 0 ? from + dim : from, least, most);
        to = clamp(to < 0 ? to + dim : to, least, most);
    }
    if (is_set(p, "begin_mask", i)) from = step > 0 ? 0 : dim == EDDY_ANY ? INT64_MAX : dim - 1;
    if (is_set(p, "end_mask", i)) to = step > 0 ? big : dim == EDDY_ANY ? INT64_MIN : -1;
    if (dim != EDDY_ANY && (step > 0 ? to <= from : to >= from)) from = to = 0;
    else if (dim != EDDY_ANY && to < 0) to = INT64_MIN;     /* a step below the first element */
    s->start[s->n] = from;
    s->end[s->n] = to;
    s->step[s->n++] = step;
}

static void add_whole(strided *s)
{
    s->start[s->n] = 0;
    s->end[s->n] = INT64_MAX;
    s->step[s->n++] = 1;
}

static bool read_entries(onnx_part *p, eddy_shape x, strided *s)
{
    const eddy_dims begin = eddy__part_dims(p, "begin");
    int             y = 0, named = 0;
    *s = (strided){ .n = 0 };
    for (int i = 0; i < begin.count; i++)
        named += !is_set(p, "ellipsis_mask", i) && !is_set(p, "new_axis_mask", i);
    for (int i = 0; i < begin.count; i++) {
        if (is_set(p, "ellipsis_mask", i)) {
            for (int k = x.rank - named; k > 0; k--, y++) add_whole(s);
        } else if (is_set(p, "new_axis_mask", i)) {
            s->fresh[s->n_fresh++] = y++;
        } else if (is_set(p, "shrink_axis_mask", i)) {
            const int64_t at = begin.at[i];
            s->gone[s->n_gone++] = s->n;
            s->start[s->n] = at;
            s->end[s->n] = at == -1 ? INT64_MAX : at + 1;
            s->step[s->n++] = 1;
        } else {
            add_range(p, s, i, x.dim[s->n]);
            y++;
        }
    }
    while (s->n < x.rank) add_whole(s);
    return true;
}

/* The entries of x. */
static const char *part_of(onnx_part *p, const char *x, const strided *s)
{
    int64_t axes[EDDY_MAX_RANK];
    for (int i = 0; i < s->n; i++) axes[i] = i;
    return s->n == 0 ? x
                     : slice_of(p, x, eddy__part_ints(p, s->n, s->start),
                                eddy__part_ints(p, s->n, s->end), eddy__part_ints(p, s->n, axes),
                                eddy__part_ints(p, s->n, s->step));
}

static bool strided_slice(onnx_part *p)
{
    strided s;
    int     rank;
    if (!eddy__part_known_rank(p, 0, &rank) || !read_entries(p, eddy__part_type(p, 0).shape, &s))
        return false;
    const char *y = part_of(p, eddy__part_in(p, 0), &s);
    if (s.n_gone > 0) y = eddy__part_binary(p, "Squeeze", y, eddy__part_ints(p, s.n_gone, s.gone));
    return eddy__part_put(p, 0, eddy__part_unsqueeze(p, y, s.n_fresh, s.fresh));
}

/* dy at the places of a slice with steps of 1: padding. Other steps are a map of elements. */
static bool strided_slice_grad(onnx_part *p)
{
    const eddy_shape x = eddy__part_type(p, 1).shape;
    strided          s;
    int              rank;
    if (!eddy__part_known_rank(p, 1, &rank) || !read_entries(p, x, &s)) return false;
    for (int i = 0; i < s.n; i++)
        if (s.step[i] != 1 || (x.dim[i] == EDDY_ANY && (s.start[i] < 0 || s.start[i] == INT64_MAX)))
            return eddy__part_moved(p);
    const char *dy = eddy__part_in(p, 0);
    if (s.n_fresh > 0)
        dy = eddy__part_binary(p, "Squeeze", dy, eddy__part_ints(p, s.n_fresh, s.fresh));
    dy = eddy__part_unsqueeze(p, dy, s.n_gone, s.gone);
    for (int i = 0; i < s.n; i++)
        if (s.start[i] < 0) s.start[i] += x.dim[i];
    if (s.n == 0) return eddy__part_put(p, 0, dy);
    const char *before = eddy__part_ints(p, s.n, s.start);
    const char *after = eddy__part_formula(p, EDDY_INT64, "Sub(Sub(a, Shape(b)), c)",
                                           eddy__part_shape(p, 1), dy, before);
    const char *const parts[] = { before, after };
    return pad_by(p, dy, eddy__part_concat(p, 0, 2, parts), 0);
}

/* The numbers of the elements, sliced, say where the value goes. */
static bool strided_slice_assign(onnx_part *p)
{
    const eddy_shape var = eddy__part_type(p, 0).shape;
    strided          s;
    int              rank;
    if (!eddy__part_known_rank(p, 0, &rank) || !read_entries(p, var, &s)) return false;
    const char *to = eddy__part_in(p, 0), *shape = eddy__part_shape_of(p, to, var);
    const char *flat = eddy__part_one(p, -1), *none = eddy__part_number(p, EDDY_INT64, 0);
    const char *const range[] = { none, eddy__part_unary(p, "Size", to),
                                  eddy__part_number(p, EDDY_INT64, 1) };
    onnx_call   c = eddy__call(p, "Range", 3, range);
    const char *numbers = eddy__part_reshape(p, eddy__call_end(&c), shape);
    const char *const in[] = { eddy__part_reshape(p, to, flat),
                               eddy__part_reshape(p, part_of(p, numbers, &s), flat),
                               eddy__part_reshape(p, eddy__part_in(p, 1), flat) };
    c = eddy__call(p, "ScatterElements", 3, in);
    return eddy__part_put(p, 0, eddy__part_reshape(p, eddy__call_end(&c), shape));
}

static const onnx_row rows[] = {
    { "ConcatV2", concat },
    { "Pack", pack },
    { "Unpack", unpack },
    { "Split", split },
    { "SplitV", split_v },
    { "SplitLike", split_like },
    { "Slice", slice },
    { "SliceLike", slice_like },
    { "SliceGrad", slice_grad },
    { "SliceAt", slice_at },
    { "PadAt", pad_at },
    { "PadV2", pad },
    { "ReverseV2", reverse },
    { "StridedSlice", strided_slice },
    { "StridedSliceGrad", strided_slice_grad },
    { "StridedSliceAssign", strided_slice_assign },
};

const onnx_family eddy__write_slices = FAMILY_OF(rows);
