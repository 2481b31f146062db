/* rows_arrays.c -- arrays, gathering, random numbers; see rows.h. */
#include "tests/lib/rows.h"

BUILD(broadcast_to, eddy_broadcast_to(x[0], EDDY_SHAPE(2, 3, 4)))
BUILD(broadcast_like, BroadcastLike(x[0], x[1]))
BUILD(sum_like, SumLike(x[0], x[1]))
BUILD(along, BroadcastAlong(x[0], x[1], EDDY_AXES(1), false))
BUILD(along_kept, BroadcastAlong(x[0], x[1], EDDY_AXES(0, 2), true))
BUILD(reshape, Reshape(x[0], EDDY_SHAPE(-1, 2)))
BUILD(reshape_to, eddy_reshape_to(x[0], INTS(EDDY_SHAPE(2), 2, 6)))
BUILD(reshape_like, ReshapeLike(x[0], x[1]))
BUILD(merge_leading, eddy_merge_leading(x[0], x[1]))
BUILD(batch_like, eddy_batch_like(x[0], x[1]))
BUILD(unflatten_like, eddy_unflatten_like(x[0], x[1], 1, 1))
BUILD(expand_dims, ExpandDims(x[0], 1))
BUILD(squeeze, Squeeze(x[0], .axes = EDDY_AXES(1)))
BUILD(transpose, Transpose(x[0]))
BUILD(transpose_perm, Transpose(x[0], EDDY_DIMS(1, 2, 0)))
BUILD(tile, eddy_tile(x[0], EDDY_DIMS(2, 3)))
BUILD(tile_grad, eddy_tile_grad(x[0], x[1], EDDY_DIMS(2, 2)))
BUILD(slice, eddy_slice(x[0], EDDY_DIMS(1, 0), EDDY_DIMS(2, -1)))
BUILD(slice_like, eddy_slice_like(x[0], x[1], EDDY_DIMS(1, 2)))
BUILD(slice_grad, eddy_slice_grad(x[0], x[1], EDDY_DIMS(1, 2)))
#define BEGIN INTS(EDDY_SHAPE(2), 1, 2)
BUILD(slice_at, eddy_slice_at(x[0], BEGIN, x[1]))
BUILD(pad_at, eddy_pad_at(x[0], BEGIN, x[1]))
BUILD(pad, eddy_pad(x[0], EDDY_DIMS(1, 0), EDDY_DIMS(0, 2), .value = 3))
BUILD(concat, eddy_concat((eddy_list){ 3, x }, 1))
BUILD(stack, eddy_stack((eddy_list){ 3, x }, 1))
BUILD(unstack, eddy_unstack(x[0], 1, .num = 4))
BUILD(split, eddy_split(x[0], 2, .axis = 1))
BUILD(split_sizes, eddy_split_sizes(x[0], (const int64_t[]){ 1, 0, -1 }, 3, .axis = 1))
BUILD(split_like, eddy_split_like(x[0], (eddy_list){ 2, x + 1 }, 1))

/* Numbers that follow from the sizes of x. */
#define RANK_2 eddy_set_shape(x[0], EDDY_SHAPE(EDDY_ANY, EDDY_ANY))
#define NUMBER_TO(v) Add(Mul(Cast(eddy_size_along(RANK_2, 1), EDDY_INT64), 0), v)
#define SIZES_TO(...) Add(NUMBER_TO(0), Cast(INTS(EDDY_SHAPE(2), __VA_ARGS__), EDDY_INT64))
BUILD(slice_along, eddy_slice_along(RANK_2, NUMBER_TO(-1), NUMBER_TO(-9), NUMBER_TO(-2), 1))
BUILD(slice_by_one,
      eddy_slice_along(RANK_2, NUMBER_TO(1), NUMBER_TO(-1), eddy_number(g, EDDY_INT64, 1), -1))
BUILD(pad_to, eddy_pad_to(RANK_2, SIZES_TO(1, 0), SIZES_TO(0, 2)))
BUILD(extend_reflect, eddy_extend_to(RANK_2, SIZES_TO(1, 4), SIZES_TO(-1, 2), "reflect"))
BUILD(extend_zeros, eddy_extend_to(RANK_2, SIZES_TO(1, 0), SIZES_TO(-1, 2), "constant"))
BUILD(split_to, eddy_split_to(RANK_2, SIZES_TO(1, -1), 1))
BUILD(top_k_to, eddy_top_k_to(RANK_2, NUMBER_TO(2)))
BUILD(one_hot_to, eddy_one_hot_to(pairs(x[0]), NUMBER_TO(3), Sum(x[0]), Max(x[0]), 0))

BUILD(gather, Gather(x[0], INTS(EDDY_SHAPE(3), 2, 0, 2)))
BUILD(gather_many, Gather(x[0], INTS(EDDY_SHAPE(2, 3), 2, 0, -1, 3, 0, 0), .skip_negative = true))
BUILD(gather_axis, Gather(x[0], INTS(EDDY_SHAPE(3), 2, 0, 2), .axis = 1))
BUILD(gather_grad, eddy_gather_grad(x[0], INTS(EDDY_SHAPE(3), 2, 0, 2), x[1], .axis = 1))
BUILD(indexed_slices, eddy_indexed_slices(x[0], pairs(x[0]), x[1]))
BUILD(inplace_add, eddy_inplace_add(x[0], pairs(x[1]), x[1]))
BUILD(sum_duplicates, eddy_slices_sum_duplicates(x[0], pairs(x[0])))
BUILD(first_positions, eddy_first_positions(pairs(x[0])))
/* 0, 0, 1, 1, ... as many as x has rows; and -1, 0, 1, -1, ... */
static eddy_tensor by_two(eddy_tensor x) { return FloorDiv(eddy_row_numbers(x, EDDY_INT32), 2); }
static eddy_tensor some_ids(eddy_tensor x)
{
    return Sub(FloorMod(eddy_row_numbers(x, EDDY_INT64), 3), 1);
}
#define GAPS INTS(EDDY_SHAPE(4), 1, 1, 1, 3)
#define ALL_OF_3 INTS(EDDY_SHAPE(5), 2, 0, -1, 1, 0)
#define IDS_2_3 INTS(EDDY_SHAPE(2, 3), 2, 0, -1, 3, 0, 0)
BUILD(segment_sum, eddy_segment_sum(x[0], by_two(x[0])))
BUILD(segment_sum_gaps, eddy_segment_sum(x[0], GAPS))
BUILD(segment_mean, eddy_segment_mean(x[0], by_two(x[0])))
BUILD(segment_mean_gaps, eddy_segment_mean(x[0], GAPS))
BUILD(segment_prod, eddy_segment_prod(x[0], by_two(x[0])))
BUILD(segment_prod_gaps, eddy_segment_prod(x[0], GAPS))
BUILD(segment_min, eddy_segment_min(x[0], by_two(x[0])))
BUILD(segment_max, eddy_segment_max(x[0], by_two(x[0])))
BUILD(segment_max_gaps, eddy_segment_max(x[0], GAPS))
BUILD(unsorted_sum, eddy_unsorted_segment_sum(x[0], some_ids(x[0]), 3))
BUILD(unsorted_sum_many, eddy_unsorted_segment_sum(x[0], IDS_2_3, 4))
BUILD(unsorted_prod, eddy_unsorted_segment_prod(x[0], some_ids(x[0]), 3))
BUILD(unsorted_prod_many, eddy_unsorted_segment_prod(x[0], IDS_2_3, 4))
BUILD(unsorted_min, eddy_unsorted_segment_min(x[0], ALL_OF_3, 3))
BUILD(unsorted_max, eddy_unsorted_segment_max(x[0], ALL_OF_3, 3))
BUILD(unsorted_mean, eddy_unsorted_segment_mean(x[0], some_ids(x[0]), 3))
BUILD(unsorted_sqrt_n, eddy_unsorted_segment_sqrt_n(x[0], IDS_2_3, 4))
BUILD(one_hot, OneHot(pairs(x[0]), 4, .dtype = eddy_dtype_of(x[0])))
BUILD(shape_of, eddy_shape_tensor(x[0], EDDY_INT64))
BUILD(size_of, eddy_size(x[0], EDDY_INT32))
BUILD(row_numbers, eddy_row_numbers(x[0], EDDY_INT64))
BUILD(range, eddy_range(eddy_number(g, EDDY_FLOAT64, 1), eddy_number(g, EDDY_FLOAT64, 2),
                        eddy_number(g, EDDY_FLOAT64, 0.25)))

BUILD(uniform, eddy_random_uniform_like(x[0]))
BUILD(integers, eddy_random_uniform_int(g, EDDY_SHAPE(3, 4), 2, 9))
BUILD(normal, eddy_random_normal_like(x[0]))
BUILD(truncated, eddy_truncated_normal_like(x[0]))
BUILD(shuffle, eddy_random_shuffle(x[0]))
BUILD(orthogonal, eddy_init_orthogonal(g, EDDY_FLOAT64, EDDY_SHAPE(2, 3), 5))

static const sweep_row rows[] = {
    OP_KEEP("BroadcastTo", "", broadcast_to, 1, KEEP(3), S(3, 1)),
    OP_LIKE("BroadcastLike", "", broadcast_like, 2, KEEP(0), S(3, 1), S(2, 3, 4)),
    OP_LIKE("SumLike", "", sum_like, 2, KEEP(0), S(2, 3, 4), S(3, 1)),
    OP_LIKE("BroadcastAlong", "", along, 2, KEEP(0), S(3), S(3, 4)),
    OP_LIKE("BroadcastAlong", "keepdims", along_kept, 2, KEEP(0), S(1, 3, 1), S(2, 3, 4)),
    OP_KEEP("Reshape", "", reshape, 1, KEEP(4), S(3, 4)),
    OP_KEEP("GatherV2", "slice_along", slice_along, 1, KEEP(4, 3), S(3, 4)),
    OP_KEEP("GatherV2", "extend_to, reflect", extend_reflect, 1, KEEP(4, 3), S(3, 4)),
    OP_KEEP("GatherV2", "extend_to, constant", extend_zeros, 1, KEEP(4, 3), S(3, 4)),
    OP_KEEP("SplitLike", "split_to", split_to, 1, KEEP(4), S(3, 4)),
    OP_KEEP("IdentityN", "top_k_to", top_k_to, 1, KEEP(4), S(3, 4)),
    OP("SelectV2", "one_hot_to", one_hot_to, 1, S(3, 4)),
    OP_KEEP("ReshapeTo", "", reshape_to, 1, KEEP(3, 4), S(3, 4)),
    OP_LIKE("ReshapeLike", "", reshape_like, 2, KEEP(2, 3, 4, 6), S(3, 4), S(2, 6)),
    OP_LIKE("MergeLeading", "", merge_leading, 2, KEEP(0), S(2, 3, 4), S(2, 3)),
    OP_LIKE("BatchLike", "", batch_like, 2, KEEP(0), S(3, 4), S(2, 3)),
    OP_LIKE("UnflattenLike", "", unflatten_like, 2, KEEP(2, 3, 6), S(4, 6), S(5, 2, 3)),
    OP("ExpandDims", "", expand_dims, 1, S(3, 4)),
    OP("Squeeze", "", squeeze, 1, S(3, 1, 4)),
    OP("Transpose", "", transpose, 1, S(3, 4)),
    OP("Transpose", "perm", transpose_perm, 1, S(2, 3, 4)),
    OP("Tile", "", tile, 1, S(3, 4)),
    OP_LIKE("TileGrad", "", tile_grad, 2, KEEP(2, 3, 4, 6), S(6, 4), S(3, 2)),
    OP_KEEP("Slice", "", slice, 1, KEEP(3), S(3, 4)),
    OP_LIKE("SliceAt", "", slice_at, 2, KEEP(4, 5), S(4, 5), S(2, 3)),
    OP_LIKE("PadAt", "", pad_at, 2, KEEP(4, 5), S(2, 3), S(4, 5)),
    OP_KEEP("SliceAt", "slice_along by 1", slice_by_one, 1, KEEP(4, 3), S(3, 4)),
    OP_KEEP("PadAt", "pad_to", pad_to, 1, KEEP(4, 3), S(3, 4)),
    OP_LIKE("SliceLike", "", slice_like, 2, KEEP(4, 5), S(4, 5), S(2, 3)),
    OP_LIKE("SliceGrad", "", slice_grad, 2, KEEP(4, 5), S(2, 3), S(4, 5)),
    OP("PadV2", "", pad, 1, S(3, 4)),
    OP("ConcatV2", "", concat, 3, S(2, 3), S(2, 4), S(2, 1)),
    OP("Pack", "", stack, 3, S(3, 4), S(3, 4), S(3, 4)),
    OP_KEEP("Unpack", "", unstack, 1, KEEP(4), S(3, 4)),
    OP_KEEP("Split", "", split, 1, KEEP(4), S(3, 4)),
    OP_KEEP("SplitV", "", split_sizes, 1, KEEP(4), S(3, 4)),
    OP_LIKE("SplitLike", "", split_like, 3, KEEP(3, 4, 7), S(2, 7), S(2, 3), S(2, 4)),

    OP_KEEP("GatherV2", "", gather, 1, KEEP(4), S(4, 2)),
    OP_KEEP("GatherV2", "skip_negative", gather_many, 1, KEEP(4), S(4, 2)),
    OP_KEEP("GatherV2", "axis", gather_axis, 1, KEEP(4), S(2, 4)),
    OP_LIKE("GatherGrad", "", gather_grad, 2, KEEP(3, 4), S(2, 3), S(2, 4)),
    OP_LIKE("IndexedSlices", "", indexed_slices, 2, KEEP(4), S(3, 2), S(4, 2)),
    OP_KEEP("InplaceAdd", "", inplace_add, 2, KEEP(4), S(4, 2), S(3, 2)),
    OP("SumDuplicates", "", sum_duplicates, 1, S(3, 4)),
    OP("FirstPositions", "", first_positions, 1, S(3, 4)),
    OP("SegmentSum", "", segment_sum, 1, S(5, 3)),
    OP_KEEP("SegmentSum", "gaps", segment_sum_gaps, 1, KEEP(4), S(4, 3)),
    OP("SegmentMean", "", segment_mean, 1, S(5, 3)),
    OP_KEEP("SegmentMean", "gaps", segment_mean_gaps, 1, KEEP(4), S(4)),
    OP("SegmentProd", "", segment_prod, 1, S(5, 3)),
    OP_KEEP("SegmentProd", "gaps", segment_prod_gaps, 1, KEEP(4), S(4, 3)),
    OP("SegmentMin", "", segment_min, 1, S(5, 3)),
    OP("SegmentMax", "", segment_max, 1, S(5, 3)),
    OP_KEEP("SegmentMax", "gaps", segment_max_gaps, 1, KEEP(4), S(4, 2, 3)),
    OP("UnsortedSegmentSum", "", unsorted_sum, 1, S(4, 2)),
    OP_KEEP("UnsortedSegmentSum", "ids of rank 2", unsorted_sum_many, 1, KEEP(2, 3), S(2, 3, 4)),
    OP("UnsortedSegmentProd", "", unsorted_prod, 1, S(5, 3)),
    OP_KEEP("UnsortedSegmentProd", "ids of rank 2", unsorted_prod_many, 1, KEEP(2, 3), S(2, 3)),
    OP_KEEP("UnsortedSegmentMin", "", unsorted_min, 1, KEEP(5), S(5, 3)),
    OP_KEEP("UnsortedSegmentMax", "", unsorted_max, 1, KEEP(5), S(5, 3)),
    OP("UnsortedSegmentSum", "mean", unsorted_mean, 1, S(5, 3)),
    OP_KEEP("UnsortedSegmentSum", "sqrt_n", unsorted_sqrt_n, 1, KEEP(2, 3), S(2, 3, 4)),
    OP("OneHot", "", one_hot, 1, S(3, 4)),
    OP("Shape", "", shape_of, 1, S(3, 4)),
    OP("Size", "", size_of, 1, S(3, 4)),
    OP("RowNumbers", "", row_numbers, 1, S(3, 4)),
    OP("Range", "", range, 1, S(3, 4)),

#define RANDOM(type, fn, how_more)                                              \
    { .op = type, .build = fn, .n = 1, .shape = { S(3, 4) },                    \
      .options = SWEEP_RANDOM | (how_more) }
    RANDOM("RandomUniform", uniform, 0),
    RANDOM("RandomUniformInt", integers, 0),
    RANDOM("RandomStandardNormal", normal, 0),
    RANDOM("TruncatedNormal", truncated, 0),
    RANDOM("RandomShuffle", shuffle, SWEEP_REFUSES),
    RANDOM("RandomOrthogonal", orthogonal, 0),
};

#define STATE "works on a variable's state"
static const sweep_exempt exempts[] = {
    { "Placeholder", "is every row's input" },
    { "NoOp", "has no value" },
    { "Assert", "has no value" },
    { "Print", "writes to the error stream" },
    { "Variable", STATE },
    { "Assign", STATE },
    { "AssignAdd", STATE },
    { "AssignSub", STATE },
    { "ScatterUpdate", STATE },
    { "ScatterAdd", STATE },
    { "ScatterSub", STATE },
    { "ReadVariable", STATE },
    { "IsVariableInitialized", STATE },
    { "InitializedValue", STATE },
};
FAMILY(arrays, rows, exempts);
