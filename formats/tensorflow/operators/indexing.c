/* indexing.c -- slices, gathering and scattering. */
#include "../build.h"
#include "../../../ops/short_names.h"

static bool slice(tf_build *b)
{
    eddy_dims         begin, size;
    const eddy_tensor x = eddy__tf_in(b, 0);
    for (int i = 1; i < 3; i++)
        if (eddy__tf_has(b, i) && !eddy__tf_array_of(b, b->in[i])) {
            const eddy_tensor from = eddy__tf_in(b, 1), n = eddy__tf_in(b, 2);
            return eddy__tf_put(b, 0, eddy_slice_to(x, from, n));
        }
    return eddy__tf_dims_in(b, 1, "the beginning", &begin) &&
           eddy__tf_dims_in(b, 2, "the size", &size) &&
           eddy__tf_put(b, 0, eddy_slice(x, begin, size));
}

static bool is_list(tf_build *b, int i)
{
    int            n;
    const int64_t *at = eddy__tf_partly(b, i, &n);
    for (int k = 0; at && k < n; k++)
        if (at[k] == UNKNOWN_SIZE) at = NULL;
    return at || (eddy__tf_has(b, i) && eddy__tf_array_of(b, b->in[i]));
}

/* Entry k of a vector as a scalar of int32; negative positions count from the end. */
static eddy_tensor position(eddy_tensor list, int k, eddy_tensor size)
{
    const eddy_tensor p = Cast(Reshape(eddy_slice(list, EDDY_DIMS(k), EDDY_DIMS(1)), EDDY_SCALAR),
                               EDDY_INT32);
    return Where(Less(p, 0), Add(p, size), p);
}

/* A slice whose positions are computed: with strides of 1, a box. */
static bool computed_slice(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0), from = eddy__tf_in(b, 1), to = eddy__tf_in(b, 2);
    const int64_t     open_begin = eddy__tf_int(b, "begin_mask", 0),
                  open_end = eddy__tf_int(b, "end_mask", 0),
                  single = eddy__tf_int(b, "shrink_axis_mask", 0);
    int64_t           strides[TF_MAX_LIST];
    const int         n = eddy__tf_list(b, 3, "the strides", strides), rank = eddy_shape_of(x).rank;
    if (n == TF_FAILED) return false;
    if (rank < n || eddy__tf_int(b, "ellipsis_mask", 0) || eddy__tf_int(b, "new_axis_mask", 0))
        return eddy__tf_unbound(b, "the beginning and the end must be constants");
    eddy_tensor begin[EDDY_MAX_RANK], size[EDDY_MAX_RANK];
    eddy_dims   gone = { .count = 0 };
    for (int i = 0; i < rank; i++) {
        const eddy_tensor d = Cast(eddy_size_along(x, i), EDDY_INT32), zero = NumberLike(0, d);
        if (i < n && strides[i] != 1)
            return eddy__tf_unbound(b, "the beginning and the end must be constants");
        const bool one = i < n && (single >> i & 1);
        begin[i] =
            i < n && (one || !(open_begin >> i & 1)) ? Minimum(position(from, i, d), d) : zero;
        if (!one) begin[i] = Maximum(begin[i], 0);
        const eddy_tensor end =
            i < n && !(open_end >> i & 1) ? Minimum(position(to, i, d), d) : d;
        size[i] = one ? NumberLike(1, d) : Maximum(Sub(end, begin[i]), 0);
        if (one) gone.at[gone.count++] = i;
    }
    const eddy_tensor y =
        eddy_slice_to(x, eddy_stack({ rank, begin }, 0), eddy_stack({ rank, size }, 0));
    return eddy__tf_put(b, 0, gone.count ? eddy_squeeze(y, .axes = gone) : y);
}

static bool strided_slice(tf_build *b)
{
    eddy_dims begin, end, strides;
    if (!is_list(b, 1) || !is_list(b, 2)) return computed_slice(b);
    return eddy__tf_dims_in(b, 1, "the beginning", &begin) &&
           eddy__tf_dims_in(b, 2, "the end", &end) &&
           eddy__tf_dims_in(b, 3, "the strides", &strides) &&
           eddy__tf_put(b, 0, eddy_strided_slice(
                                  eddy__tf_in(b, 0), begin, end, strides,
                                  .begin_mask = eddy__tf_int(b, "begin_mask", 0),
                                  .end_mask = eddy__tf_int(b, "end_mask", 0),
                                  .ellipsis_mask = eddy__tf_int(b, "ellipsis_mask", 0),
                                  .new_axis_mask = eddy__tf_int(b, "new_axis_mask", 0),
                                  .shrink_axis_mask = eddy__tf_int(b, "shrink_axis_mask", 0)));
}

static bool gather(tf_build *b)
{
    int64_t           axis = 0;
    const eddy_tensor x = eddy__tf_in(b, 0), at = eddy__tf_in(b, 1);
    if (b->n_in > 2 && !eddy__tf_number_in(b, 2, "the axis", &axis)) return false;
    return eddy__tf_put(b, 0,
                        eddy_gather(x, at, axis, .batch_dims = eddy__tf_int(b, "batch_dims", 0)));
}

/* The size of a result: known dimensions, else zeros of that shape, which are not computed. */
static bool scatter_nd(tf_build *b)
{
    const eddy_tensor at = eddy__tf_in(b, 0), x = eddy__tf_in(b, 1);
    if (is_list(b, 2)) {
        eddy_dims d;
        return eddy__tf_dims_in(b, 2, "the shape", &d) &&
               eddy__tf_put_as(b, 0, eddy_scatter_nd(at, x, eddy_shape_of_dims(
                                     d.at, d.count < 0 ? 0 : (size_t)d.count)),
                               eddy__tf_type_in(b, 1));
    }
    const eddy_tensor like = eddy_zeros_of(eddy__tf_in(b, 2), eddy_dtype_of(x));
    return eddy__tf_put_as(b, 0, eddy_scatter_nd_like(at, x, like, 0), eddy__tf_type_in(b, 1));
}

static bool tensor_scatter(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0), at = eddy__tf_in(b, 1), u = eddy__tf_in(b, 2);
    switch (b->op->variant) {
    case 0: return eddy__tf_put(b, 0, eddy_tensor_scatter_update(x, at, u));
    case 1: return eddy__tf_put(b, 0, eddy_tensor_scatter_add(x, at, u));
    case 2: return eddy__tf_put(b, 0, eddy_tensor_scatter_sub(x, at, u));
    case 3: return eddy__tf_put(b, 0, eddy_tensor_scatter_min(x, at, u));
    default: return eddy__tf_put(b, 0, eddy_tensor_scatter_max(x, at, u));
    }
}

/* SparseToDense: default_value everywhere, and values at indices. */
static bool sparse_to_dense(tf_build *b)
{
    eddy_tensor       at = eddy__tf_in(b, 0), values = eddy__tf_in(b, 2);
    const eddy_tensor dims = eddy__tf_in(b, 1), other = eddy__tf_in(b, 3);
    const int         rank = eddy_shape_of(at).rank;
    if (rank < 0) return eddy__tf_missing(b, "the rank of the indices is not known");
    if (rank < 2) at = Reshape(at, EDDY_SHAPE(-1, 1));
    if (eddy_shape_of(values).rank == 0)
        values =
            eddy_fill(Reshape(Cast(eddy_size_along(at, 0), EDDY_INT32), EDDY_SHAPE(1)), values);
    return eddy__tf_put_as(b, 0, eddy_tensor_scatter_update(eddy_fill(dims, other), at, values),
                           eddy__tf_type_in(b, 2));
}

static bool where(tf_build *b) { return eddy__tf_put(b, 0, eddy_nonzero(eddy__tf_in(b, 0))); }

static bool unique(tf_build *b)
{
    const eddy_dtype d =
        eddy__tf_type(b, "out_idx", TF_INT32) == TF_INT64 ? EDDY_INT64 : EDDY_INT32;
    const eddy_tensor y = eddy_unique(eddy__tf_in(b, 0), .out_idx = d);
    return eddy__tf_put(b, 0, y) && eddy__tf_put_as(b, 1, eddy_output(y, 1), eddy__tf_type_of(d));
}

static bool gather_nd(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0), at = eddy__tf_in(b, 1);
    return eddy__tf_put(b, 0,
                        eddy_gather_nd(x, at, .batch_dims = eddy__tf_int(b, "batch_dims", 0)));
}

static bool partition(tf_build *b)
{
    const int64_t     n = eddy__tf_int(b, "num_partitions", 1);
    const eddy_tensor x = eddy__tf_in(b, 0), at = eddy__tf_in(b, 1);
    const eddy_tensor y = eddy_dynamic_partition(x, at, n);
    for (int i = 0; i < (int)n && eddy_graph_status(b->graph) == EDDY_OK; i++)
        if (!eddy__tf_put(b, i, eddy_output(y, i))) return false;
    return true;
}

static bool stitch(tf_build *b)
{
    const int    n = b->n_in / 2;
    eddy_tensor *x = eddy__region_take(b->memory, (size_t)b->n_in, sizeof *x);
    for (int i = 0; x && i < 2 * n; i++) x[i] = eddy__tf_in(b, i);
    return x && eddy__tf_put_as(b, 0, eddy_dynamic_stitch({ n, x }, { n, x + n }),
                                eddy__tf_type_in(b, n));
}

const tf_operator eddy__tf_indexing[] = {
    { "DynamicPartition", partition },
    { "DynamicStitch", stitch },
    { "Gather", gather },
    { "GatherNd", gather_nd },
    { "GatherV2", gather },
    { "ParallelDynamicStitch", stitch },
    { "ScatterNd", scatter_nd },
    { "Slice", slice },
    { "SparseToDense", sparse_to_dense },
    { "StridedSlice", strided_slice },
    { "TensorScatterAdd", tensor_scatter, .variant = 1 },
    { "TensorScatterMax", tensor_scatter, .variant = 4 },
    { "TensorScatterMin", tensor_scatter, .variant = 3 },
    { "TensorScatterSub", tensor_scatter, .variant = 2 },
    { "TensorScatterUpdate", tensor_scatter },
    { "Unique", unique },
    { "Where", where },
    { NULL },
};
