/* dynamic_partition.c -- boolean_mask, dynamic_partition and dynamic_stitch: rows selected by
 * masks or distributed by partition number, and merged again. Composed of eddy_nonzero, gathers
 * and scatters. */
#include "graph/internal.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "ops/arrays/arrays.h"
#include "ops/short_names.h"

#include <string.h>

/* ---------------------------------------------------------- boolean_mask -- */

/* x with the dimensions from `axis` on merged, as many as the mask has. */
static eddy_tensor merged(eddy_tensor x, eddy_tensor mask, int64_t axis)
{
    const eddy_shape m = eddy_shape_of(mask), s = eddy_shape_of(x);
    eddy_shape y = { .rank = 0 };
    if (m.rank == 1) return x;
    if (axis == 0) return eddy_merge_leading(x, mask);
    char one[128], other[128];
    if (m.rank < 0 || s.rank < axis + m.rank)
        return eddy_fail(x.graph, EDDY_BAD_SHAPE,
                         "boolean_mask: a mask of shape %s does not fit %s at axis %lld",
                         eddy_shape_print(m, one, sizeof one),
                         eddy_shape_print(s, other, sizeof other), (long long)axis);
    for (int i = 0; i < s.rank; i++)
        if (i <= axis || i >= axis + m.rank) y.dim[y.rank++] = i == axis ? EDDY_ANY : s.dim[i];
    return eddy_reshape(x, y);
}

/* Checks that the mask has the sizes of the dimensions that it covers. */
static bool mask_fits(eddy_tensor x, eddy_tensor mask, int64_t axis)
{
    const eddy_shape s = eddy_shape_of(x), m = eddy_shape_of(mask);
    char a[128], b[128];
    bool fits = m.rank != 0 && axis >= 0 && axis <= EDDY_MAX_RANK &&
                (s.rank < 0 || m.rank < 0 || axis + m.rank <= s.rank);
    for (int i = 0; fits && s.rank >= 0 && i < m.rank; i++) {
        int64_t d = m.dim[i];
        fits = eddy__dim_unify(&d, s.dim[axis + i]);
    }
    if (!fits)
        eddy_fail(x.graph, EDDY_BAD_SHAPE,
                  "boolean_mask: the mask %s does not match %s at axis %lld",
                  eddy_shape_print(m, a, sizeof a), eddy_shape_print(s, b, sizeof b),
                  (long long)axis);
    return fits;
}

/** y = the rows of x for which the mask is true, in order.
 *
 *  x     any element type; numeric if it is differentiated
 *  mask  bool, or numbers (true if nonzero), rank at least 1; its shape must match the dimensions
 *        of x from `axis` on, which become one dimension of y
 *  axis  >= 0; default: 0
 *  size  the number of rows of y: the first rows selected, then zeros; default: exactly the
 *        rows selected, see eddy_nonzero
 *
 *  The number of rows selected is the sum of the mask.
 *  Errors: EDDY_BAD_DTYPE or EDDY_BAD_SHAPE if the mask does not match.
 *  Gradient: dx = the rows of dy at their positions in x, 0 elsewhere; `mask` has none.
 *  TensorFlow: tf.boolean_mask. */
#ifdef EDDY_HEADER
typedef struct eddy_boolean_mask_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_boolean_mask_args));
    eddy_tensor x;
    eddy_tensor mask;
    int64_t     axis;
    int64_t     size EDDY_DEFAULT(EDDY_OMITTED);
} eddy_boolean_mask_args;
#endif
eddy_tensor eddy_boolean_mask_with(const eddy_boolean_mask_args *given)
{
    eddy_boolean_mask_args a = EDDY_TAKE(eddy_boolean_mask_args, given);
    const eddy_tensor x = a.x, mask = a.mask;
    if (!eddy_is_valid(x) || !eddy_is_valid(mask))
        return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT,
                         "boolean_mask: an input is not a valid tensor");
    if (!mask_fits(x, mask, a.axis)) return eddy_none(x.graph);
    const bool flat = eddy_shape_of(mask).rank == 1;
    const eddy_tensor places = eddy_nonzero(flat ? mask : eddy_reshape(mask, EDDY_SHAPE(EDDY_ANY)),
                                            a.size, .fill = -1);
    return eddy_gather(merged(x, mask, a.axis), eddy_squeeze(places, EDDY_AXES(1)), a.axis,
                       .skip_negative = true);
}

/* ----------------------------------------------------- dynamic_partition -- */

/** y[p] = the rows of x whose partition number is p, in order; eddy_output(y, p) selects one.
 *
 *  x           any element type; its shape begins with that of partitions
 *  partitions  int32 or int64, rank at least 1; rows with a number outside [0, num) are dropped
 *  num         the number of partitions, 1 to 65535
 *  size        the number of rows of each partition: those selected, then zeros; default:
 *              exactly those, see eddy_nonzero
 *
 *  Returns output 0.
 *  Errors: EDDY_INVALID_ARGUMENT if num is out of range, EDDY_BAD_DTYPE for other types of
 *  partitions; as for eddy_boolean_mask, from which each partition is built.
 *  Gradient: dx = the rows of all dy[p] at their positions in x; `partitions` has none.
 *  TensorFlow: DynamicPartition. */
#ifdef EDDY_HEADER
typedef struct eddy_dynamic_partition_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_dynamic_partition_args));
    eddy_tensor x;
    eddy_tensor partitions;
    int64_t     num;
    int64_t     size EDDY_DEFAULT(EDDY_OMITTED);
} eddy_dynamic_partition_args;
#endif
eddy_tensor eddy_dynamic_partition_with(const eddy_dynamic_partition_args *given)
{
    eddy_dynamic_partition_args a = EDDY_TAKE(eddy_dynamic_partition_args, given);
    eddy_graph *g = a.x.graph;
    if (!eddy_is_valid(a.x) || !eddy_is_valid(a.partitions))
        return eddy_fail(g, EDDY_INVALID_ARGUMENT,
                         "dynamic_partition: an input is not a valid tensor");
    if (a.num < 1 || a.num > EDDY_MAX_INPUTS)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT,
                         "dynamic_partition: num is %lld; expected 1 to %d", (long long)a.num,
                         EDDY_MAX_INPUTS);
    const eddy_dtype d = eddy_dtype_of(a.partitions);
    if (!eddy__expect_type(g, "dynamic_partition", "partitions", d, EDDY_TAKES_INDICES))
        return eddy_none(g);
    const size_t bytes = (size_t)a.num * sizeof(eddy_tensor);
    const eddy_allocator *memory = eddy__graph_allocator(g);
    eddy_tensor *part = eddy__allocate(memory, bytes);
    if (!part)
        return eddy_fail(g, EDDY_NO_MEMORY, "%s: out of memory for %d inputs", "dynamic_partition",
                         (int)a.num);
    /* An integer mask, which a session computes at compile time if it can; a difference
     * that wraps around is not 0 either. */
    for (int64_t p = 0; p < a.num; p++) {
        const eddy_tensor other = Abs(Maximum(Minimum(Sub(a.partitions, (double)p), 1), -1));
        part[p] = eddy_boolean_mask(a.x, Sub(1, other), .size = a.size);
    }
    const eddy_tensor y = eddy_identity_n((eddy_list){ (int)a.num, part }, (int)a.num);
    eddy__release(memory, part, bytes);
    return y;
}

/* -------------------------------------------------------- dynamic_stitch -- */

/* One more than the largest of the constant indices, INT64_MAX at most; EDDY_ANY unless all
 * are constants. */
static int64_t rows_named(eddy_list indices)
{
    int64_t rows = 0;
    for (int i = 0; i < indices.count; i++) {
        const eddy_array *v = eddy_constant_value(indices.at[i]);
        if (!v || !eddy_dtype_is_integer(eddy_array_dtype(v))) return EDDY_ANY;
        for (int64_t j = 0; j < eddy_array_count(v); j++)
            if (eddy__array_integer(v, j) >= rows)
                rows = eddy__array_integer(v, j) < INT64_MAX ? eddy__array_integer(v, j) + 1
                                                            : INT64_MAX;
    }
    return rows;
}

/* Zeros with `rows` rows like those of data, or with as many rows as the indices require. */
static eddy_tensor rows_like(eddy_tensor data, eddy_tensor indices, int64_t rows)
{
    eddy_shape s = eddy_shape_of(data);
    if (s.rank > 0) s.dim[0] = rows;
    if (rows >= 0 && eddy_shape_is_known(s)) return eddy_zeros(data.graph, eddy_dtype_of(data), s);
    const eddy_tensor named = Add(Maximum(Max(Cast(indices, EDDY_INT64)), -1), 1);
    const eddy_tensor n = rows >= 0 ? eddy_number(data.graph, EDDY_INT64, (double)rows) : named;
    const eddy_tensor rest = eddy_index(eddy_shape_tensor(data, EDDY_INT64), "1:");
    return eddy_fill(eddy_concat(EDDY_LIST(eddy_expand_dims(n, 0), rest)), NumberLike(0, data));
}

/** y[indices[m][i...]] = data[m][i...]: rows merged in the order given by indices.
 *
 *  indices  int32 or int64 tensors of one type, not negative
 *  data     as many tensors, of one element type; the shape of each begins with that of its
 *           indices, and the remaining dimensions are the same for all
 *  size     the number of rows of y; default: one more than the largest index, which a run
 *           computes first if the indices are not constant
 *
 *  Rows that no index names are 0.  If an index is repeated, the last row is kept.
 *  Errors: EDDY_INVALID_ARGUMENT for lists of different lengths or a constant index of
 *  INT64_MAX; as for eddy_concat and eddy_tensor_scatter_update, from which it is built.
 *  Gradient: ddata[m] = dy at indices[m]; indices have none.  TensorFlow: DynamicStitch. */
#ifdef EDDY_HEADER
typedef struct eddy_dynamic_stitch_args {
    size_t    size_ EDDY_DEFAULT(sizeof(eddy_dynamic_stitch_args));
    eddy_list indices;
    eddy_list data;
    int64_t   size EDDY_DEFAULT(EDDY_OMITTED);
} eddy_dynamic_stitch_args;
#endif
eddy_tensor eddy_dynamic_stitch_with(const eddy_dynamic_stitch_args *given)
{
    eddy_dynamic_stitch_args a = EDDY_TAKE(eddy_dynamic_stitch_args, given);
    const int n = a.indices.count;
    eddy_graph *g = n > 0 && a.indices.at ? a.indices.at[0].graph : NULL;
    if (n < 1 || n != a.data.count || n > EDDY_MAX_INPUTS ||
        (a.size < 0 && a.size != EDDY_OMITTED))
        return eddy_fail(
            g, EDDY_INVALID_ARGUMENT,
            "dynamic_stitch: the number of tensors is %d in indices and %d in data, and "
            "size is %lld; expected equal numbers above 0 and no negative size",
            n, a.data.count, (long long)(a.size == EDDY_OMITTED ? 0 : a.size));
    for (int i = 0; i < n; i++)
        if (!a.indices.at || !eddy_is_valid(a.indices.at[i]) || !a.data.at ||
            !eddy_is_valid(a.data.at[i]))
            return eddy_fail(g, EDDY_INVALID_ARGUMENT,
                             "dynamic_stitch: an input is not a valid tensor");
    const int64_t size = a.size == EDDY_OMITTED ? rows_named(a.indices) : a.size;
    if (size == INT64_MAX)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "dynamic_stitch: %lld rows are too many",
                         (long long)size);
    const eddy_allocator *memory = eddy__graph_allocator(g);
    const size_t bytes = 2 * (size_t)n * sizeof(eddy_tensor);
    eddy_tensor *flat = memory ? eddy__allocate(memory, bytes) : NULL;
    if (!flat)
        return eddy_fail(g, EDDY_NO_MEMORY, "%s: out of memory for %d inputs", "dynamic_stitch", n);
    for (int i = 0; i < n; i++) {
        const eddy_tensor at = a.indices.at[i], rows = a.data.at[i];
        const bool is_flat = eddy_shape_of(at).rank == 1;
        flat[i] = is_flat ? at : eddy_reshape(at, EDDY_SHAPE(EDDY_ANY));
        flat[n + i] = is_flat ? rows : eddy_merge_leading(rows, at);
    }
    const eddy_tensor indices = eddy_concat((eddy_list){ n, flat });
    const eddy_tensor data = eddy_concat((eddy_list){ n, flat + n });
    eddy__release(memory, flat, bytes);
    if (!eddy_is_valid(indices) || !eddy_is_valid(data)) return eddy_none(g);
    return eddy_tensor_scatter_update(rows_like(data, indices, size),
                                      eddy_expand_dims(indices, 1), data);
}
