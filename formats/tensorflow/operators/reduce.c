/* reduce.c -- reductions, sorting and scans. */
#include "../build.h"
#include "../../../ops/short_names.h"

#include <string.h>

static bool reduce(tf_build *b)
{
    static const eddy_reduce_fn f[] = { eddy_sum_with, eddy_mean_with, eddy_max_with, eddy_min_with,
                                 eddy_prod_with, eddy_all_with, eddy_any_with,
                                 eddy_euclidean_norm_with };
    eddy_dims axes;
    if (eddy__tf_is_computed(b, 1) && eddy_shape_of(eddy__tf_in(b, 0)).rank >= 0)
        return eddy__tf_put(b, 0, eddy_reduce_to(f[b->op->variant], eddy__tf_in(b, 0),
                                                 eddy__tf_in(b, 1),
                                                 eddy__tf_flag(b, "keep_dims")));
    if (!eddy__tf_dims_in(b, 1, "the axes", &axes)) return false;
    const eddy_reduce_args args = { eddy_reduce_args_DEFAULTS .size_ = sizeof args,
                                    .x = eddy__tf_in(b, 0), .axes = axes,
                                    .keepdims = eddy__tf_flag(b, "keep_dims") };
    return eddy__tf_put(b, 0, f[b->op->variant](&args));
}

static bool arg(tf_build *b)
{
    int64_t axis = 0;
    if (b->n_in > 1 && !eddy__tf_number_in(b, 1, "the axis", &axis)) return false;
    const eddy_dtype d =
        eddy__tf_type(b, "output_type", TF_INT64) == TF_INT32 ? EDDY_INT32 : EDDY_INT64;
    const eddy_tensor x = eddy__tf_in(b, 0);
    return eddy__tf_put_as(b, 0, b->op->variant ? eddy_argmin(x, axis, d) : eddy_argmax(x, axis, d),
                           eddy__tf_type_of(d));
}

/* The positions, of the type that the node names. */
static bool put_positions(tf_build *b, eddy_tensor at)
{
    const eddy_dtype d =
        eddy__tf_type(b, "index_type", TF_INT32) == TF_INT64 ? EDDY_INT64 : EDDY_INT32;
    return eddy__tf_put_as(b, 1, Cast(at, d), eddy__tf_type_of(d));
}

static bool top_k(tf_build *b)
{
    int64_t k = eddy__tf_int(b, "k", 0);
    const eddy_tensor x = eddy__tf_in(b, 0);
    const bool        computed = b->op->variant == 2 && eddy__tf_is_computed(b, 1);
    if (b->op->variant == 2 && !computed && !eddy__tf_number_in(b, 1, "the number", &k))
        return false;
    const eddy_tensor y = computed ? eddy_top_k_to(x, eddy__tf_in(b, 1)) : eddy_top_k(x, k);
    return eddy__tf_put(b, 0, y) && put_positions(b, eddy_output(y, 1));
}

static bool in_top_k(tf_build *b)
{
    int64_t k = eddy__tf_int(b, "k", 0);
    const eddy_tensor x = eddy__tf_in(b, 0), at = eddy__tf_in(b, 1);
    if (b->op->variant == 2 && !eddy__tf_number_in(b, 2, "the number", &k)) return false;
    return eddy__tf_put(b, 0, eddy_in_top_k(x, at, k));
}

static bool scan(tf_build *b)
{
    int64_t    axis;
    const bool exclusive = eddy__tf_flag(b, "exclusive"), reverse = eddy__tf_flag(b, "reverse");
    if (!eddy__tf_number_in(b, 1, "the axis", &axis)) return false;
    const eddy_tensor x = eddy__tf_in(b, 0);
    return eddy__tf_put(b, 0, b->op->variant ? eddy_cumprod(x, axis, exclusive, reverse)
                                             : eddy_cumsum(x, axis, exclusive, reverse));
}

static bool segment(tf_build *b)
{
    int64_t           n;
    const eddy_tensor x = eddy__tf_in(b, 0), ids = eddy__tf_in(b, 1);
    const bool        known = eddy__tf_has(b, 2) && eddy__tf_array_of(b, b->in[2]);
    if (known && !eddy__tf_number_in(b, 2, "the number of segments", &n)) return false;
    const eddy_tensor m = known ? eddy_none(b->graph) : eddy__tf_in(b, 2);
    switch (b->op->variant) {
    case 0: return eddy__tf_put(b, 0, known ? eddy_unsorted_segment_sum(x, ids, n)
                                            : eddy_unsorted_segment_sum_to(x, ids, m));
    case 1: return eddy__tf_put(b, 0, known ? eddy_unsorted_segment_max(x, ids, n)
                                            : eddy_unsorted_segment_max_to(x, ids, m));
    case 2: return eddy__tf_put(b, 0, known ? eddy_unsorted_segment_min(x, ids, n)
                                            : eddy_unsorted_segment_min_to(x, ids, m));
    default: return eddy__tf_put(b, 0, known ? eddy_unsorted_segment_prod(x, ids, n)
                                             : eddy_unsorted_segment_prod_to(x, ids, m));
    }
}

static bool bincount(tf_build *b)
{
    int64_t           n;
    const eddy_tensor x = eddy__tf_in(b, 0);
    if (!eddy__tf_number_in(b, 1, "the size", &n)) return false;
    const eddy_tensor w = eddy__tf_in(b, 2);
    const bool        none = eddy_shape_count(eddy_shape_of(w)) == 0;
    return eddy__tf_put_as(b, 0, eddy_bincount(x, n, none ? eddy_none(b->graph) : w,
                                               eddy_dtype_of(w)),
                           eddy__tf_type_in(b, 2));
}

static bool bounds(tf_build *b)
{
    const eddy_tensor s = eddy__tf_in(b, 0), v = eddy__tf_in(b, 1);
    const eddy_dtype  d =
        eddy__tf_type(b, "out_type", TF_INT32) == TF_INT64 ? EDDY_INT64 : EDDY_INT32;
    return eddy__tf_put_as(b, 0, eddy_searchsorted(s, v, b->op->variant == 1, d),
                           eddy__tf_type_of(d));
}

const tf_operator eddy__tf_reduce[] = {
    { "All", reduce, .variant = 5 },
    { "Any", reduce, .variant = 6 },
    { "ArgMax", arg },
    { "ArgMin", arg, .variant = 1 },
    { "Bincount", bincount },
    { "Cumprod", scan, .variant = 1 },
    { "Cumsum", scan },
    { "EuclideanNorm", reduce, .variant = 7 },
    { "InTopK", in_top_k },
    { "InTopKV2", in_top_k, .variant = 2 },
    { "LowerBound", bounds },
    { "Max", reduce, .variant = 2 },
    { "Mean", reduce, .variant = 1 },
    { "Min", reduce, .variant = 3 },
    { "Prod", reduce, .variant = 4 },
    { "SegmentMax", .two = eddy_segment_max },
    { "SegmentMean", .two = eddy_segment_mean },
    { "SegmentMin", .two = eddy_segment_min },
    { "SegmentProd", .two = eddy_segment_prod },
    { "SegmentSum", .two = eddy_segment_sum },
    { "Sum", reduce },
    { "TopK", top_k },
    { "TopKV2", top_k, .variant = 2 },
    { "UnsortedSegmentMax", segment, .variant = 1 },
    { "UnsortedSegmentMin", segment, .variant = 2 },
    { "UnsortedSegmentProd", segment, .variant = 3 },
    { "UnsortedSegmentSum", segment },
    { "UpperBound", bounds, .variant = 1 },
    { NULL },
};
