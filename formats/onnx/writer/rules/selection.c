/* selection.c -- elements by their values, and by indices that are checked. */
#include "../rules.h"

/* ---------------------------------------------------------- by their values -- */

/* The attribute `size` gives the first axis so many rows: the first ones of x, and then others that
 * have this value. found is the number of rows of x. */
static const char *sized(onnx_part *p, const char *x, int rank, const char *found, eddy_dtype d,
                         double others)
{
    const int64_t size = eddy__part_int(p, "size"), zeros[2] = { 0, 0 };
    if (size == 0) return x;
    const char *const rows[] = { x, eddy__part_one(p, 0), eddy__part_one(p, size) };
    onnx_call         c = eddy__call(p, "Slice", 3, rows);
    x = eddy__call_end(&c);
    const char *const pads[] = {
        eddy__part_ints(p, rank, zeros),
        eddy__part_formula(p, EDDY_INT64, "Max(Sub(a, b), c)", eddy__part_one(p, size), found,
                           eddy__part_one(p, 0)),
        eddy__part_ints(p, 1, zeros)
    };
    const char *const in[] = { x, eddy__part_concat(p, 0, rank + 1, pads),
                               eddy__part_number(p, d, others) };
    c = eddy__call(p, "Pad", 3, in);
    return eddy__call_end(&c);
}

static const char *scalar(onnx_part *p, const char *one, eddy_dtype d)
{
    return eddy__part_cast(p, eddy__part_binary(p, "Squeeze", one, eddy__part_one(p, 0)),
                           EDDY_INT64, d);
}

static bool has_batch(onnx_part *p)
{
    if (eddy__part_int(p, "batch_dims") == 0) return false;
    eddy__part_missing(p, "there are several examples");
    return true;
}

static bool nonzero(onnx_part *p)
{
    const int64_t    swap[] = { 1, 0 };
    const eddy_dtype d = eddy__part_dtype(p, 0), as = d == EDDY_UINT8 ? EDDY_INT32 : d;
    int              rank;
    if (has_batch(p) || !eddy__part_known_rank(p, 0, &rank)) return false;
    if (rank == 0) return eddy__part_missing(p, "its input is a scalar");
    const char *x = eddy__part_cast(p, eddy__part_in(p, 0), d, as);
    if (d != EDDY_BOOL) x = eddy__part_formula(p, as, "Not(Equal(a, 0))", x);
    const char *places = eddy__part_transpose(p, eddy__part_unary(p, "NonZero", x), 2, swap);
    onnx_call   c = eddy__call(p, "Shape", 1, &places);
    eddy__call_int(&c, "end", 1);
    const char *found = eddy__call_end(&c);
    eddy__part_put(p, 0, sized(p, places, 2, found, EDDY_INT64, eddy__part_float(p, "fill")));
    return eddy__part_put(p, 1, scalar(p, found, EDDY_INT64));
}

/* ONNX Runtime's Unique takes no smaller integers. */
static bool unique(onnx_part *p)
{
    const eddy_dtype d = eddy__part_dtype(p, 0), index = eddy__part_dtype_attr(p, "out_idx");
    const eddy_dtype as = eddy_dtype_is_floating(d) ? d : EDDY_INT64;
    const int64_t    size = eddy__part_int(p, "size");
    const char      *out[4], *x = eddy__part_cast(p, eddy__part_in(p, 0), d, as);
    if (has_batch(p)) return false;
    onnx_call c = eddy__call(p, "Unique", 1, &x);
    eddy__call_int(&c, "sorted", 0);
    eddy__call_outputs(&c, 4, out);
    const char *found = eddy__part_unary(p, "Shape", out[0]), *at = out[2];
    if (size > 0)
        at = eddy__part_formula(p, EDDY_INT64, "Where(Less(a, b), a, -1)", at,
                                eddy__part_number(p, EDDY_INT64, (double)size));
    eddy__part_put(p, 0, eddy__part_cast(p, sized(p, out[0], 1, found, as, 0), as, d));
    eddy__part_put(p, 1, eddy__part_cast(p, at, EDDY_INT64, index));
    eddy__part_put(p, 2, eddy__part_cast(p, sized(p, out[3], 1, found, EDDY_INT64, 0), EDDY_INT64,
                                         index));
    return eddy__part_put(p, 3, scalar(p, found, index));
}

/* --------------------------------------------------------- by their indices -- */

/* ONNX has the operation for the first two axes. ONNX Runtime copies no sequence of length 0; one
 * of length 1 is the same. */
static bool reverse_sequence(onnx_part *p)
{
    int     rank, n = 2;
    int64_t order[EDDY_MAX_RANK], back[EDDY_MAX_RANK];
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    const int64_t along = eddy__part_int(p, "seq_axis"), of = eddy__part_int(p, "batch_axis");
    order[0] = of < 0 ? of + rank : of;
    order[1] = along < 0 ? along + rank : along;
    for (int i = 0; i < rank; i++)
        if (i != order[0] && i != order[1]) order[n++] = i;
    for (int i = 0; i < rank; i++) back[order[i]] = i;
    const char *lengths = eddy__part_cast(p, eddy__part_in(p, 1), eddy__part_dtype(p, 1),
                                          EDDY_INT64);
    const char *const in[] = { eddy__part_transpose(p, eddy__part_in(p, 0), rank, order),
                               eddy__part_formula(p, EDDY_INT64, "Max(a, 1)", lengths) };
    onnx_call c = eddy__call(p, "ReverseSequence", 2, in);
    eddy__call_int(&c, "batch_axis", 0);
    eddy__call_int(&c, "time_axis", 1);
    return eddy__part_put(p, 0, eddy__part_transpose(p, eddy__call_end(&c), rank, back));
}

/* Where an index is refused, one that no tensor has, so that what reads or writes there fails. */
static const char *checked(onnx_part *p, const char *indices, eddy_dtype d, const char *refused)
{
    return eddy__part_formula(p, d, "Where(a, 2147483647, b)", refused, indices);
}

static bool array_read(onnx_part *p)
{
    const eddy_dtype d = eddy__part_dtype(p, 0);
    const char      *at = eddy__part_in(p, 0);
    return eddy__part_put(p, 0, checked(p, at, d, eddy__part_formula(p, d, "Less(a, 0)", at)));
}

static bool array_write(onnx_part *p)
{
    const eddy_dtype  d = eddy__part_dtype(p, 1);
    const char *const written = eddy__part_in(p, 0), *const at = eddy__part_in(p, 1);
    const char *const before[] = { written, at };
    onnx_call         c = eddy__call(p, "GatherElements", 2, before);
    eddy__call_int(&c, "axis", -1);
    const char *const in[] = {
        written, at, eddy__part_filled(p, EDDY_BOOL, 1, eddy__part_unary(p, "Shape", at))
    };
    const char *const twice = eddy__call_end(&c);
    c = eddy__call(p, "ScatterElements", 3, in);
    eddy__call_int(&c, "axis", -1);
    eddy__part_put(p, 0, eddy__call_end(&c));
    return eddy__part_put(
        p, 1, checked(p, at, d, eddy__part_formula(p, d, "Or(Less(a, 0), b)", at, twice)));
}

static const onnx_row rows[] = {
    { "Where", nonzero },
    { "UniqueWithCounts", unique },
    { "ReverseSequence", reverse_sequence },
    { "TensorArrayRead", array_read },
    { "TensorArrayWrite", array_write },
};

const onnx_family eddy__write_selection = FAMILY_OF(rows);
