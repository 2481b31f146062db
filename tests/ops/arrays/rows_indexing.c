/* rows_indexing.c -- slices, mirroring, indexing by tuples, diagonals, blocks; see rows.h. */
#include "tests/lib/rows.h"

/* The gradient of y, with weights dy, with respect to x. */
static eddy_tensor back(eddy_tensor y, eddy_tensor x, eddy_tensor dy)
{
    eddy_tensor dx = eddy_identity(x);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &dx, .grad_ys = EDDY_LIST(dy));
    return dx;
}

#define STEPS(x) eddy_strided_slice(x, EDDY_DIMS(1, -1), EDDY_DIMS(4, 0), EDDY_DIMS(2, -1))
BUILD(strided, STEPS(x[0]))
BUILD(strided_masks, eddy_index(x[0], "newaxis, ..., ::-1, 1:, newaxis"))
BUILD(strided_places, eddy_index(x[0], "-1, :, 1"))
BUILD(strided_view, eddy_index(x[0], "1:3"))
BUILD(strided_grad, back(STEPS(x[1]), x[1], x[0]))
BUILD(strided_place_grad, back(eddy_index(x[1], "-1, ..., newaxis"), x[1], x[0]))
BUILD(mirror, eddy_mirror_pad(x[0], EDDY_DIMS(1, 2), EDDY_DIMS(2, 0)))
BUILD(mirror_symmetric, eddy_mirror_pad(x[0], EDDY_DIMS(0, 3, 0), EDDY_DIMS(0, 1, 0),
                                        .symmetric = true))
#define MIRRORED(x) eddy_mirror_pad(x, EDDY_DIMS(1, 2), EDDY_DIMS(2, 0), .symmetric = true)
BUILD(mirror_grad, back(MIRRORED(x[1]), x[1], x[0]))
BUILD(reverse, eddy_reverse(x[0], EDDY_AXES(0, -1)))
BUILD(reverse_all, eddy_reverse(x[0], (eddy_dims){ 0 }))
#define LENGTHS INTS(EDDY_SHAPE(3), 2, 0, 3)
BUILD(sequence, eddy_reverse_sequence(x[0], LENGTHS, 0, 1))
/* As many lengths, 0 or 1, as x has rows. */
BUILD(sequence_open, eddy_reverse_sequence(x[0], pairs(x[0]), 1, 0))
BUILD(roll, eddy_roll(x[0], 1, 1))
BUILD(roll_back, eddy_roll(x[0], -5, -2))

#define TUPLES INTS(EDDY_SHAPE(3, 2), 1, 0, 0, 2, 1, 0)
#define ROWS_2 INTS(EDDY_SHAPE(2, 1), 2, 0)
#define BATCHES INTS(EDDY_SHAPE(2, 2, 1), 1, 2, 0, 1)
#define DIFFERENT INTS(EDDY_SHAPE(3, 2), 1, 0, 0, 2, 1, 1)
BUILD(gather_nd, eddy_gather_nd(x[0], TUPLES))
BUILD(gather_nd_rows, eddy_gather_nd(x[0], ROWS_2))
BUILD(gather_nd_batch, eddy_gather_nd(x[0], BATCHES, .batch_dims = 1))
BUILD(scatter_nd, eddy_scatter_nd_like(TUPLES, x[0], x[1], 0))
BUILD(scatter_nd_batch, eddy_scatter_nd_like(BATCHES, x[0], x[1], 1))
BUILD(put, eddy_tensor_scatter_update(x[0], DIFFERENT, x[1]))
BUILD(put_batch, eddy_tensor_scatter_update(x[0], BATCHES, x[1], .batch_dims = 1))
BUILD(put_add, eddy_tensor_scatter_add(x[0], TUPLES, x[1]))
BUILD(put_sub, eddy_tensor_scatter_sub(x[0], ROWS_2, x[1]))
BUILD(put_min, eddy_tensor_scatter_min(x[0], TUPLES, x[1]))
BUILD(put_max, eddy_tensor_scatter_max(x[0], ROWS_2, x[1]))

BUILD(diagonal, eddy_matrix_diag(x[0]))
BUILD(diagonal_above, eddy_matrix_diag(x[0], EDDY_DIMS(1), .num_rows = 5, .padding_value = 2))
BUILD(diagonal_band, eddy_matrix_diag(x[0], EDDY_DIMS(-1, 1), .align = "LEFT_RIGHT"))
BUILD(diagonal_part, eddy_matrix_diag_part(x[0]))
BUILD(diagonal_parts, eddy_matrix_diag_part(x[0], EDDY_DIMS(-2, 1)))
BUILD(diagonal_set, eddy_matrix_set_diag(x[0], x[1]))
BUILD(diagonals_set, eddy_matrix_set_diag(x[0], x[1], EDDY_DIMS(-1, 2), .align = "RIGHT_RIGHT"))
BUILD(band_part, eddy_matrix_band_part(x[0], 1, 0))
BUILD(upper, eddy_triu(x[0], 1))

BUILD(to_depth, eddy_space_to_depth(x[0], 2))
BUILD(to_depth_planes, eddy_space_to_depth(x[0], 2, .data_format = "NCHW"))
BUILD(to_space, eddy_depth_to_space(x[0], 2))
BUILD(to_space_planes, eddy_depth_to_space(x[0], 2, .data_format = "NCHW"))
BUILD(to_batch, eddy_space_to_batch_nd(x[0], EDDY_DIMS(2, 3), (eddy_dims){ 0 }, (eddy_dims){ 0 }))
BUILD(from_batch, eddy_batch_to_space_nd(x[0], EDDY_DIMS(2, 3), (eddy_dims){ 0 }, (eddy_dims){ 0 }))

BUILD(nonzero, eddy_nonzero(x[0], 5, .fill = -1))
BUILD(unique, eddy_unique(x[0], 6))
BUILD(unique_small, eddy_unique(x[0], 3))
BUILD(first_equal, eddy_first_equal(x[0], 1))
BUILD(search, eddy_searchsorted(eddy_sort(x[0]), x[1], .right = true))
BUILD(inverse, eddy_invert_permutation(eddy_row_numbers(x[0], EDDY_INT32)))

static const sweep_row rows[] = {
    OP("StridedSlice", "", strided, 1, S(4, 3)),
    OP("StridedSlice", "masks", strided_masks, 1, S(3, 4)),
    OP_KEEP("StridedSlice", "places", strided_places, 1, KEEP(3, 4), S(3, 4, 4)),
    OP("StridedSlice", "view", strided_view, 1, S(5, 3)),
    OP_LIKE("StridedSliceGrad", "", strided_grad, 2, KEEP(2, 3, 5), S(2, 2), S(5, 3)),
    OP_LIKE("StridedSliceGrad", "place", strided_place_grad, 2, KEEP(5), S(3, 1), S(5, 3)),
    OP_KEEP("MirrorPad", "", mirror, 1, KEEP(3, 4), S(3, 4)),
    OP_KEEP("MirrorPad", "symmetric", mirror_symmetric, 1, KEEP(3), S(2, 3, 2)),
    OP_LIKE("MirrorPadGrad", "", mirror_grad, 2, KEEP(3, 4, 6), S(6, 6), S(3, 4)),
    OP("ReverseV2", "", reverse, 1, S(3, 2, 4)),
    OP("ReverseV2", "all", reverse_all, 1, S(3, 4)),
    OP_KEEP("ReverseSequence", "", sequence, 1, KEEP(3, 4), S(4, 3, 2)),
    OP_KEEP("ReverseSequence", "any number", sequence_open, 1, KEEP(4), S(3, 4, 2)),
    OP("Roll", "", roll, 1, S(3, 4)),
    OP("Roll", "back", roll_back, 1, S(3, 4)),

    OP_KEEP("GatherNd", "", gather_nd, 1, KEEP(2, 3), S(2, 3, 4)),
    OP_KEEP("GatherNd", "rows", gather_nd_rows, 1, KEEP(3), S(3, 4)),
    OP_KEEP("GatherNd", "batch_dims", gather_nd_batch, 1, KEEP(2, 3), S(2, 3, 4)),
    OP_LIKE("ScatterNdLike", "", scatter_nd, 2, KEEP(2, 3), S(3, 4), S(2, 3, 4)),
    OP_LIKE("ScatterNdLike", "batch_dims", scatter_nd_batch, 2, KEEP(2, 3), S(2, 2, 4),
            S(2, 3, 4)),
    OP_KEEP("TensorScatterUpdate", "", put, 2, KEEP(2, 3), S(2, 3, 4), S(3, 4)),
    OP_KEEP("TensorScatterUpdate", "batch_dims", put_batch, 2, KEEP(2, 3), S(2, 3), S(2, 2)),
    OP_KEEP("TensorScatterAdd", "", put_add, 2, KEEP(2, 3), S(2, 3, 4), S(3, 4)),
    OP_KEEP("TensorScatterSub", "", put_sub, 2, KEEP(2, 3), S(3, 4), S(2, 4)),
    OP_KEEP("TensorScatterMin", "", put_min, 2, KEEP(2, 3), S(2, 3, 4), S(3, 4)),
    OP_KEEP("TensorScatterMax", "", put_max, 2, KEEP(2, 3), S(3, 4), S(2, 4)),

    OP("MatrixDiagV3", "", diagonal, 1, S(2, 3)),
    OP_KEEP("MatrixDiagV3", "above", diagonal_above, 1, KEEP(4), S(2, 4)),
    OP_KEEP("MatrixDiagV3", "band", diagonal_band, 1, KEEP(3, 4), S(2, 3, 4)),
    OP("MatrixDiagPartV3", "", diagonal_part, 1, S(2, 3, 4)),
    OP_KEEP("MatrixDiagPartV3", "band", diagonal_parts, 1, KEEP(3, 4), S(2, 3, 4)),
    OP_KEEP("MatrixSetDiagV3", "", diagonal_set, 2, KEEP(3, 4), S(2, 3, 4), S(2, 3)),
    OP_KEEP("MatrixSetDiagV3", "band", diagonals_set, 2, KEEP(2, 3, 4), S(2, 3, 4), S(2, 4, 3)),
    OP("MatrixBandPart", "", band_part, 1, S(2, 3, 4)),
    OP("MatrixBandPart", "upper", upper, 1, S(4, 3)),

    OP_KEEP("SpaceToDepth", "", to_depth, 1, KEEP(2, 4), S(3, 2, 4, 1)),
    OP_KEEP("SpaceToDepth", "NCHW", to_depth_planes, 1, KEEP(2, 4), S(3, 2, 4)),
    OP_KEEP("DepthToSpace", "", to_space, 1, KEEP(4), S(2, 3, 4)),
    OP_KEEP("DepthToSpace", "NCHW", to_space_planes, 1, KEEP(4), S(2, 4, 3, 1)),
    OP_KEEP("SpaceToBatchND", "", to_batch, 1, KEEP(2, 3), S(4, 2, 3, 2)),
    OP_KEEP("BatchToSpaceND", "", from_batch, 1, KEEP(6), S(6, 2, 1, 3)),

    OP("Where", "", nonzero, 1, S(3, 4)),
    OP("UniqueWithCounts", "", unique, 1, S(5)),
    OP("FirstEqual", "", first_equal, 1, S(3, 5)),
    OP("UniqueWithCounts", "no room", unique_small, 1, S(5)),
    OP("SearchSorted", "", search, 2, S(2, 5), S(2, 3)),
    OP("InvertPermutation", "", inverse, 1, S(3, 4)),
};
FAMILY_OF_ROWS(indexing, rows);
